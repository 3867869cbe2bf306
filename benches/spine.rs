//! The timings of the guide for spines: `cargo bench --bench spine`. Rhode Island if its files are available (in the folder that
//! ASSAY_FACTS names, or ../shared/facts beside the package), and a synthetic nation of eight million blocks.

use std::{
    hint::black_box,
    path::{Path, PathBuf},
    time::Instant,
};

use dp_assay::{
    noise::{Sampler, Streams},
    spine::{
        blocks::{Blocks, EntityKind},
        bypass::{Privacy, Spine},
        hierarchy::Tree,
        optimize::{Entities, SpineSettings, optimized},
        osed::all_distances,
    },
    topdown::{
        estimate::{least_squares_approx, top_down},
        level_variances::on_spine,
    },
};
use rug::Rational;

fn main() {
    let folder = std::env::var_os("ASSAY_FACTS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/facts"), PathBuf::from);
    rhode_island(&folder.join("geography/rhode-island"));
    nation();
}

fn rhode_island(folder: &Path) {
    let file = |name: &str| folder.join(format!("BlockAssign_ST44_RI_{name}.txt"));
    if !file("AIANNH").exists() {
        println!("Rhode Island: skipped, its files are not there");
        return;
    }
    let start = Instant::now();
    let mut blocks = Blocks::read(&file("AIANNH")).expect("blocks");
    for (kind, name, column) in [
        (EntityKind::Aian, "AIANNH", "AIANNHCE"),
        (EntityKind::Mcd, "MCD", "COUSUBFP"),
        (EntityKind::Place, "INCPLACE_CDP", "PLACEFP"),
        (EntityKind::Unified, "SDUNI", "DISTRICT"),
        (EntityKind::Secondary, "SDSEC", "DISTRICT"),
        (EntityKind::Elementary, "SDELM", "DISTRICT"),
    ] {
        blocks.attach(kind, &file(name), None, column).expect("entities");
    }
    println!(
        "Rhode Island, {} blocks and six files read: {:.3} s",
        blocks.geoids().len(),
        start.elapsed().as_secs_f64()
    );
    for name in ["redistricting-persons", "dhc"] {
        let _ = spine(name, &blocks);
    }
}

/// 80 thousand tracts of 100 blocks each in 50 states of 64 counties, in block groups of ten.
fn nation() {
    let geoid = |block: u64| {
        let (tract, in_tract) = (block / 100, block % 100);
        let (county, in_county) = (tract / 25, tract % 25);
        let (state, in_state) = (county / 64, county % 64);
        (state + 1) * 10_u64.pow(13)
            + (in_state + 1) * 10_u64.pow(10)
            + in_county * 10_000
            + in_tract / 10 * 1000
            + in_tract % 10
    };
    let start = Instant::now();
    let blocks = Blocks::from_geoids((0..8_000_000).map(geoid).collect()).expect("a nation");
    println!("a nation of {} blocks made: {:.3} s", blocks.geoids().len(), start.elapsed().as_secs_f64());
    for name in ["redistricting-persons", "dhc"] {
        let spine = spine(name, &blocks);
        least_squares(&spine);
    }
}

/// Weighted least squares of a total, from noisy totals of all units that carry a share, drawn in advance.
fn least_squares(spine: &Spine) {
    let tree = &spine.tree;
    let start = Instant::now();
    let sampler = Sampler::discrete_gaussian(Rational::from(50)).expect("a sampler");
    let mut streams = Streams::with_insecure_seed(1);
    let noisy = |level: usize| {
        let mut noise = vec![0; tree.units(level)];
        streams.fill(&sampler, &mut noise);
        noise.into_iter().enumerate().map(|(unit, x)| (x + 40 * tree.blocks(level, unit).len() as i64) as f64).collect()
    };
    let measured: Vec<Vec<f64>> = (0..tree.levels()).map(noisy).collect();
    let drawn = start.elapsed();
    let precision = |level: usize, unit: usize| spine.carried(level, unit) as f64;
    let estimates = black_box(least_squares_approx(tree, 1, precision, &measured).expect("estimates"));
    let estimated = start.elapsed();
    let counts = black_box(top_down(tree, 1, &estimates));
    let whole = start.elapsed();
    assert_eq!(counts[0][0], counts[tree.levels() - 1].iter().sum::<i64>());
    black_box(on_spine(spine, Privacy::Concentrated).expect("variances"));
    println!(
        "    a total: noise on all units {:.3} s, least squares {:.3} s, integers from the top down {:.3} s, certified variances of all units {:.3} s",
        drawn.as_secs_f64(),
        (estimated - drawn).as_secs_f64(),
        (whole - estimated).as_secs_f64(),
        (start.elapsed() - whole).as_secs_f64()
    );
}

fn spine(name: &str, blocks: &Blocks) -> Spine {
    let settings = SpineSettings::production(name).expect("settings");
    let start = Instant::now();
    let entities = Entities::of_blocks(blocks, &settings);
    let tree = optimized(blocks, &entities, &settings, false);
    let built = start.elapsed();
    let columns: Vec<_> = entities.columns.iter().map(|(_, column)| column).collect();
    black_box((all_distances(&Tree::census(blocks), &columns), all_distances(&tree, &columns)));
    let measured = start.elapsed();
    let share = Rational::from((1, settings.levels() as u32));
    let spine = Spine::new(tree, vec![share; settings.levels()], Privacy::Concentrated).expect("a spine");
    black_box(spine.paths().expect("paths"));
    let whole = start.elapsed();
    println!(
        "  {name}: built and optimized {:.3} s, distances before and after {:.3} s, bypassed and checked {:.3} s",
        built.as_secs_f64(),
        (measured - built).as_secs_f64(),
        (whole - measured).as_secs_f64()
    );
    spine
}
