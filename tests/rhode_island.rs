//! The real blocks of Rhode Island with all kinds of entities, under all named settings of production. Skipped unless ASSAY_FACTS names the
//! folder of public data.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use dp_assay::{
    account::Account,
    error::Error,
    noise::{Sampler, Streams},
    release::Release,
    replication::figures::{self, Sources},
    spine::{
        blocks::Blocks,
        bypass::{self, Privacy, Spine},
        optimize::SpineSettings,
        plan::{BuiltSpine, SpinePlan},
        spine_files::{self, SavedSpine},
    },
    topdown::{
        estimate::{least_squares_approx, top_down},
        level_variances,
        variance::Variances,
    },
};
use rug::Rational;

const FILES: [(&str, &str, &str); 6] = [
    ("aian", "AIANNH", "AIANNHCE"),
    ("mcd", "MCD", "COUSUBFP"),
    ("place", "INCPLACE_CDP", "PLACEFP"),
    ("sd_unified", "SDUNI", "DISTRICT"),
    ("sd_secondary", "SDSEC", "DISTRICT"),
    ("sd_elementary", "SDELM", "DISTRICT"),
];

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("ASSAY_FACTS").map(|facts| Path::new(&facts).join("geography/rhode-island"));
    let found = folder.filter(|folder| folder.join("BlockAssign_ST44_RI_AIANNH.txt").is_file());
    if found.is_none() {
        eprintln!("skipped: ASSAY_FACTS does not name the folder of public data");
    }
    found
}

fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("BlockAssign_ST44_RI_{name}.txt"))
}

/// The spine of a production setting with its release and all entities.
fn built(folder: &Path, settings: &str, release: &str, blocks: &Path) -> BuiltSpine {
    let mut text = format!("settings = \"{settings}\"\nrelease = \"{release}\"\n");
    for (kind, name, column) in FILES {
        text += &format!("[[entities]]\nkind = \"{kind}\"\nfile = {:?}\ncolumn = \"{column}\"\n", file(folder, name));
    }
    let plan = tempfile::NamedTempFile::new().unwrap();
    fs::write(plan.path(), text).unwrap();
    SpinePlan::read(plan.path()).unwrap().build(Blocks::read(blocks).unwrap()).unwrap()
}

const PRODUCTION: [(&str, &str); 4] = [
    ("redistricting-persons", "pl94-persons-us"),
    ("redistricting-units", "pl94-units-us"),
    ("dhc", "dhc-persons-us"),
    ("dhc", "dhc-units-us"),
];

#[test]
fn every_production_setting_builds_whole_spines_whose_worst_pair_spends_the_budget() {
    let Some(folder) = folder() else { return };
    for (settings, release_name) in PRODUCTION {
        let built = built(&folder, settings, release_name, &file(&folder, "AIANNH"));
        let (spine, tree) = (&built.spine, &built.spine.tree);
        assert!(built.mismatches.iter().all(|m| m.without_entity.is_empty() && m.unknown.is_empty()));
        // The counts of the block assignment files.
        assert_eq!(built.blocks().unwrap().geoids().len(), 25_649);
        let mut rows = tree.order().to_vec();
        rows.sort_unstable();
        assert!(rows.iter().enumerate().all(|(at, row)| at == *row as usize));
        let county = |row: &u32| built.blocks().unwrap().geoids()[*row as usize] / 10_u64.pow(10) % 1000;
        let counted = [1, 3, 5, 7, 9].map(|code| tree.order().iter().filter(|row| county(row) == code).count());
        assert_eq!(counted, [1074, 4278, 2539, 13_417, 4341]);
        let tract = tree.levels() - 3;
        for unit in 0..tree.units(tract) {
            let most = SpineSettings::production(settings).unwrap().most(tree.blocks(tract, unit).len()) + 1;
            assert!(tree.children(tract, unit).all(|group| tree.children(tract + 1, group).len() <= most),);
        }
        // The AIAN area is on the spine: it consists of one unit.
        let (kind, column) = built.entities.columns.iter().find(|(kind, _)| kind == "aian").unwrap();
        assert_eq!((column.names[1].as_str(), column.codes.iter().filter(|code| **code > 0).count()), ("2415", 25));
        let at = built.entities.columns.iter().position(|(other, _)| other == kind).unwrap();
        assert!(built.before[at][1] > 1 && built.after[at][1] == 1);
        let paths = spine.paths().unwrap();
        assert_eq!(paths.iter().map(|path| path.blocks).sum::<u64>(), 25_649);
        let release = built.release.as_ref().unwrap();
        assert_eq!(bypass::worst_path(release).unwrap().rho(), Release::find(release_name).unwrap().rho);
        let distances = built.distances();
        let sums = distances.iter().fold((0, 0), |(a, b), (before, after)| (a + before, b + after));
        println!(
            "{settings} ({release_name}): {:?} units, {:?} bypassed, {} paths, {} entities, {} units before and {} after",
            (0..tree.levels()).map(|level| tree.units(level)).collect::<Vec<_>>(),
            spine.bypassed,
            paths.len(),
            distances.len(),
            sums.0,
            sums.1
        );
    }
}

#[test]
fn all_entity_kinds_come_closer_where_block_groups_follow_them() {
    let Some(folder) = folder() else { return };
    let total = |column: &[u32]| column.iter().sum::<u32>();
    for (settings, release, closer) in [
        ("redistricting-persons", "pl94-persons-us", vec!["aian", "area"]),
        ("dhc", "dhc-persons-us", vec!["sd_unified", "sd_secondary", "sd_elementary", "aian", "area"]),
    ] {
        let built = built(&folder, settings, release, &file(&folder, "AIANNH"));
        for kind in closer {
            let at = built.entities.columns.iter().position(|(known, _)| known == kind).unwrap();
            let (before, after) = (total(&built.before[at]), total(&built.after[at]));
            println!("{settings}, {kind}: {before} units on the census spine, {after} on the optimized one");
            assert!(after <= before, "{settings} {kind}: {before} {after}");
        }
    }
}

/// The block counts are of 2010, the entities of the 2018 prototype: blocks on one side only are counted and listed.
#[test]
fn another_vintage_is_counted_and_listed_on_both_sides() {
    let Some(folder) = folder() else { return };
    let built = built(&folder, "redistricting-persons", "pl94-persons-us", &folder.join("ri_2010_block.csv"));
    assert_eq!(built.blocks().unwrap().geoids().len(), 25_181);
    for mismatch in &built.mismatches {
        assert_eq!((mismatch.without_entity.len(), mismatch.unknown.len()), (25_181 - 20_710, 25_649 - 20_710));
    }
    let out = tempfile::tempdir().unwrap();
    let variances = level_variances::of_entities_approx(&built).unwrap();
    spine_files::write(&built, &variances, out.path()).unwrap();
    let listed = fs::read_to_string(out.path().join("mismatches.csv")).unwrap();
    assert_eq!(listed.lines().count(), 1 + 6 * (25_181 + 25_649 - 2 * 20_710));
    // The whole spine can be read back.
    let saved = SavedSpine::read(out.path()).unwrap();
    assert_eq!((saved.spine.tree, saved.ids.geoids().len()), (built.spine.tree, 25_181));
}

/// The people of each block, in the order of the blocks.
fn people(file: &Path, geoids: &[u64]) -> Vec<i64> {
    let mut people = vec![0_i64; 25_181];
    let mut reader = csv::Reader::from_path(file).unwrap();
    for record in reader.records().map(Result::unwrap) {
        people[geoids.binary_search(&record[0].parse().unwrap()).unwrap()] = record[4].parse().unwrap();
    }
    assert_eq!(people.iter().sum::<i64>(), 1_052_567);
    people
}

/// A noisy total of every unit that has a share of the budget, with rho = 1: sigma2 = 1 / share.
fn measured(spine: &Spine, truth: impl Fn(usize, usize) -> i64) -> Vec<Vec<f64>> {
    let mut streams = Streams::with_insecure_seed(44);
    (0..spine.tree.levels())
        .map(|level| {
            let mut samplers: HashMap<Rational, Sampler> = HashMap::new();
            let mut source = streams.take();
            (0..spine.tree.units(level))
                .map(|unit| {
                    let share = spine.share(level, unit);
                    if share == 0 {
                        return f64::NAN;
                    }
                    let sampler = samplers
                        .entry(share.clone())
                        .or_insert_with(|| Sampler::discrete_gaussian(share.recip()).unwrap());
                    (truth(level, unit) + sampler.sample(&mut source)) as f64
                })
                .collect()
        })
        .collect()
}

/// Real counts, exact noise, least squares: consistent at every unit, with the error variance of (3.4).
#[test]
fn least_squares_over_real_counts_errs_as_its_variance_says() {
    let Some(folder) = folder() else { return };
    let built = built(&folder, "redistricting-persons", "pl94-persons-us", &folder.join("ri_2010_block.csv"));
    let (spine, tree) = (&built.spine, &built.spine.tree);
    let people = people(&folder.join("ri_2010_block.csv"), built.blocks().unwrap().geoids());
    let truth = |level: usize, unit: usize| -> i64 {
        tree.blocks(level, unit).map(|place| people[tree.order()[place] as usize]).sum()
    };
    let share = |level: usize, unit: usize| spine.share(level, unit);
    let measured = measured(spine, truth);
    let precision = |level: usize, unit: usize| share(level, unit).to_f64();
    let estimates = least_squares_approx(tree, 1, precision, &measured).unwrap();
    let kind = |level: usize, unit: usize| spine.carried(level, unit) as u32;
    let variances = Variances::new(tree, kind, |level, carried| {
        let run =
            spine.proportions[level..level + carried as usize].iter().fold(Rational::new(), |sum, share| sum + share);
        (carried > 0).then(|| run.to_f64())
    })
    .unwrap();
    let by_level = level_variances::on_spine(spine, Privacy::Concentrated).unwrap();
    for level in 0..tree.levels() {
        let mut squares = 0.0;
        for unit in 0..tree.units(level) {
            if level + 1 < tree.levels() {
                let below: f64 = tree.children(level, unit).map(|child| estimates[level + 1][child]).sum();
                assert!((below - estimates[level][unit]).abs() < 1e-6);
            }
            let error = estimates[level][unit] - truth(level, unit) as f64;
            squares += error * error / variances.unit(level, unit);
        }
        let mean = squares / tree.units(level) as f64;
        println!("{}: mean squared error over variance {mean:.3}", built.names[level]);
        // Errors of one level are nearly independent; 6 deviations of a mean of squares. The seed is fixed.
        let allowed = 6.0 * (2.0 / tree.units(level) as f64).sqrt();
        assert!((mean - 1.0).abs() < allowed.max(0.05), "level {level}: {mean}");
        // The mean variance is enclosed.
        let exact: f64 =
            (0..tree.units(level)).map(|unit| *variances.unit(level, unit)).sum::<f64>() / tree.units(level) as f64;
        let (lower, upper) = by_level[level].mean.doubles();
        assert!(lower * (1.0 - 1e-9) <= exact && exact <= upper * (1.0 + 1e-9));
    }
    // A set of blocks that is a unit has the unit's variance; the area of a division has that of its blocks.
    let places: Vec<u32> = tree.blocks(2, 1).map(|place| place as u32).collect();
    assert!((variances.blocks(tree, &places) / variances.unit(2, 1) - 1.0).abs() < 1e-9);
    let counts = top_down(tree, 1, &estimates);
    for level in 0..tree.levels() - 1 {
        for unit in 0..tree.units(level) {
            assert_eq!(
                tree.children(level, unit).map(|child| counts[level + 1][child]).sum::<i64>(),
                counts[level][unit]
            );
        }
    }
    let worst =
        |level: usize| (0..tree.units(level)).map(|unit| (counts[level][unit] - truth(level, unit)).abs()).max();
    println!("integers are off by at most {:?} in tracts and {:?} in blocks", worst(3), worst(5));
    assert!(counts[5].iter().all(|count| *count >= 0));
}

/// The figures in results/ are those that are drawn, byte by byte.
#[test]
fn the_figures_are_written_again() {
    let results = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/results"));
    let out = tempfile::tempdir().unwrap();
    let facts = folder().and_then(|_| std::env::var_os("ASSAY_FACTS")).map(PathBuf::from);
    let mut written = 0;
    for item in figures::find(&["spines-2024".to_string()]).unwrap() {
        match item.write(&Sources { facts: facts.clone(), ..Sources::default() }, out.path()) {
            Ok(files) => {
                for (file, kept) in files.iter().zip(item.files(results)) {
                    assert_eq!(fs::read(file).unwrap(), fs::read(&kept).unwrap(), "{}", kept.display());
                }
                written += 1;
            }
            Err(error) => assert!(facts.is_none() && matches!(error, Error::NeedsData { .. }), "{error}"),
        }
    }
    assert_eq!(written, if facts.is_some() { 4 } else { 2 });
}
