//! The spine against brute force: distances, block groups, path sums, Theorem 2, and errors.

use std::{fs, path::Path};

use dp_assay::spine::{
    blocks::{Blocks, EntityColumn, EntityKind},
    bypass::{Privacy, Spine},
    hierarchy::Tree,
    optimize::{self, Entities, SpineSettings},
    osed,
};
use rug::Rational;

use crate::common::numbers::Numbers;

fn write(folder: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

/// The least number of nonzero coefficients in {-1, 0, 1} for which the units of a tree sum to the entity, by exhaustive search.
fn brute_force(tree: &Tree, inside: &[bool]) -> u32 {
    let units: Vec<Vec<usize>> = (0..tree.levels())
        .flat_map(|level| (0..tree.units(level)).map(move |unit| (level, unit)))
        .map(|(level, unit)| tree.blocks(level, unit).collect())
        .collect();
    let mut best = u32::MAX;
    for code in 0..3_u32.pow(units.len() as u32) {
        let (mut rest, mut sums, mut used) = (code, vec![0_i32; inside.len()], 0);
        for places in &units {
            let coefficient = (rest % 3) as i32 - 1;
            rest /= 3;
            used += coefficient.unsigned_abs();
            places.iter().for_each(|place| sums[*place] += coefficient);
        }
        if sums.iter().zip(inside).all(|(sum, inside)| *sum == i32::from(*inside)) {
            best = best.min(used);
        }
    }
    best
}

#[test]
fn distances_are_the_fewest_units_that_make_the_entity() {
    let mut numbers = Numbers(1);
    for _ in 0..12 {
        // Few enough blocks and units for an exhaustive search: one state, one county, up to two tracts and groups each.
        let geoids: Vec<u64> = loop {
            let mut geoids: Vec<u64> = (0..5)
                .map(|_| 440_010_000_000_000 + numbers.below(2) * 10_000 + numbers.below(2) * 1000 + numbers.below(4))
                .collect();
            geoids.sort_unstable();
            geoids.dedup();
            let tree = Tree::census(&Blocks::from_geoids(geoids.clone()).unwrap());
            if (0..6).map(|level| tree.units(level)).sum::<usize>() <= 12 {
                break geoids;
            }
        };
        let blocks = Blocks::from_geoids(geoids.clone()).unwrap();
        let tree = Tree::census(&blocks);
        for bits in 1..1_u32 << geoids.len() {
            // One entity and its complement.
            let codes: Vec<u32> = (0..geoids.len()).map(|row| if bits >> row & 1 == 1 { 1 } else { 2 }).collect();
            let column = EntityColumn { codes: codes.clone(), names: vec!["".into(), "in".into(), "out".into()] };
            if numbers.below(8) > 0 {
                continue;
            }
            let inside: Vec<bool> = codes.iter().map(|code| *code == 1).collect();
            assert_eq!(osed::distances(&tree, &column)[1], brute_force(&tree, &inside), "{geoids:?} {bits:b}");
        }
    }
}

/// A small nation of two states with random AIAN areas, group quarters, divisions and places.
fn strewn(folder: &Path, seed: u64, tracts: u64) -> Blocks {
    let mut numbers = Numbers(seed);
    let mut text = "place,block,mcd,aian,gq,sd_unified,note\n".to_string();
    for state in [44_u64, 6] {
        for tract in 0..tracts {
            for block in 0..1 + numbers.below(40) {
                let geoid =
                    state * 10_u64.pow(13) + (1 + tract % 3) * 10_u64.pow(10) + tract * 10_000 + block * 37 + 1000;
                let aian = [9999, 9999, 9999, 2415, 8500][numbers.below(5) as usize];
                let (place, mcd, gq) = (numbers.below(4), numbers.below(3), numbers.below(9) / 8);
                text += &format!("{place:05},{geoid:015},{mcd:05},{aian},{gq:07},{:05},x\n", tract % 4);
            }
        }
    }
    Blocks::read(&write(folder, "blocks.csv", &text)).unwrap()
}

#[test]
fn block_groups_keep_to_one_combination_and_to_their_size() {
    let folder = tempfile::tempdir().unwrap();
    let blocks = strewn(folder.path(), 2, 7);
    for (name, tract_groups) in [("redistricting-persons", true), ("redistricting-units", false), ("dhc", false)] {
        let settings = SpineSettings::production(name).unwrap();
        let entities = Entities::of_blocks(&blocks, &settings);
        let tree = optimize::optimized(&blocks, &entities, &settings, tract_groups);
        assert_eq!(tree.levels(), settings.levels() + usize::from(tract_groups));
        let mut rows = tree.order().to_vec();
        rows.sort_unstable();
        assert!(rows.iter().enumerate().all(|(at, row)| at as u32 == *row), "every block once");
        let tract_level = tree.levels() - 3;
        for tract in 0..tree.units(tract_level) {
            let n = tree.blocks(tract_level, tract).len();
            let most = (n as f64).sqrt() as usize + 12 + 1;
            let geoid = |place: usize| blocks.geoids()[tree.order()[place] as usize];
            let first = geoid(tree.blocks(tract_level, tract).start) / 10_000;
            assert!(tree.blocks(tract_level, tract).all(|place| geoid(place) / 10_000 == first), "one tract");
            for group in tree.children(tract_level, tract) {
                let places = tree.blocks(tract_level + 1, group);
                assert!(!places.is_empty() && places.len() <= most, "{} blocks of {n}", places.len());
                let kinds: &[&str] = match name {
                    "redistricting-persons" => &["aian", "gq", "area"],
                    "redistricting-units" => &["aian", "area"],
                    _ => &["sd_unified", "block-group", "aian", "area"],
                };
                for (kind, column) in entities.columns.iter().filter(|(kind, _)| kinds.contains(&kind.as_str())) {
                    let codes = places.clone().map(|place| column.codes[tree.order()[place] as usize]);
                    let codes: std::collections::HashSet<u32> = codes.collect();
                    assert_eq!(codes.len(), 1, "{name}: {kind}");
                }
            }
        }
        // TDSA (8500) are not on the spine.
        let aian = &entities.columns.iter().find(|(kind, _)| kind == "aian").unwrap().1;
        assert!(aian.codes.iter().all(|code| *code == 0 || aian.names[*code as usize] == "2415"));
    }
}

#[test]
fn tract_groups_never_make_the_distances_worse() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 3..8 {
        let blocks = strewn(folder.path(), seed, 30);
        let settings = SpineSettings::production("redistricting-persons").unwrap();
        let entities = Entities::of_blocks(&blocks, &settings);
        let sorted = |tree: &Tree| {
            let columns: Vec<&EntityColumn> = entities.columns.iter().map(|(_, column)| column).collect();
            let mut all: Vec<u32> = osed::all_distances(tree, &columns).concat();
            all.sort_unstable_by(|a, b| b.cmp(a));
            all
        };
        let plain = optimize::optimized(&blocks, &entities, &settings, false);
        let grouped = optimize::optimized(&blocks, &entities, &settings, true);
        assert!(sorted(&grouped) <= sorted(&plain), "seed {seed}");
        assert!(grouped.units(3) < plain.units(3), "some tracts are merged");
        for county in 0..grouped.units(2) {
            let tracts: usize = grouped.children(2, county).map(|group| grouped.children(3, group).len()).sum();
            for group in grouped.children(2, county) {
                assert!(grouped.children(3, group).len() <= tracts.isqrt() + 12);
            }
        }
    }
}

fn shares(parts: &[u32]) -> Vec<Rational> {
    let whole: u32 = parts.iter().sum();
    parts.iter().map(|part| Rational::from((*part, whole))).collect()
}

#[test]
fn every_path_sums_to_one_and_only_children_give_their_share_up() {
    let folder = tempfile::tempdir().unwrap();
    let blocks = strewn(folder.path(), 9, 12);
    let settings = SpineSettings::production("redistricting-persons").unwrap();
    let entities = Entities::of_blocks(&blocks, &settings);
    let tree = optimize::optimized(&blocks, &entities, &settings, false);
    for privacy in [Privacy::Concentrated, Privacy::Pure { cutoff: 150 }, Privacy::Pure { cutoff: 3 }] {
        for parts in [[1, 1, 1, 1, 1, 1], [104, 1440, 447, 687, 1256, 165], [1, 2, 4, 8, 16, 32]] {
            let spine = Spine::new(tree.clone(), shares(&parts), privacy).unwrap();
            // Path by path through the tree, in exact fractions.
            let mut sums = vec![spine.share(0, 0)];
            for level in 1..spine.tree.levels() {
                let mut below = Vec::new();
                for (unit, sum) in sums.iter().enumerate() {
                    let children = spine.tree.children(level - 1, unit);
                    below.extend(children.map(|child| Rational::from(sum + &spine.share(level, child))));
                }
                sums = below;
            }
            assert!(sums.len() == blocks.geoids().len() && sums.iter().all(|sum| *sum == 1));
            assert_eq!(spine.paths().unwrap().iter().map(|path| path.blocks).sum::<u64>(), sums.len() as u64);
            for level in 1..spine.tree.levels() - 1 {
                for unit in 0..spine.tree.units(level) {
                    let children = spine.tree.children(level, unit);
                    // After one pass no only child keeps a share that its parent could take.
                    assert!(children.len() > 1 || spine.carried(level + 1, children.start) == 0, "level {level}");
                }
            }
        }
    }
    let wrong = Spine::new(tree.clone(), vec![Rational::from((1, 7)); 6], Privacy::Concentrated).unwrap_err();
    assert!(wrong.to_string().contains("6/7") && wrong.to_string().contains("exactly 1"), "{wrong}");
    assert!(Spine::new(tree.clone(), shares(&[1, 1, 1, 1, 1]), Privacy::Concentrated).is_err());
    assert!(Spine::new(tree, shares(&[1, 1, 1, 0, 1, 1]), Privacy::Concentrated).is_err());
}

/// The variance of the weighted least-squares total of the first `count` leaves of a parent with `c` leaves: by elimination with the dense
/// precision matrix.
fn variance(parent: f64, leaves: &[f64], query: &[f64]) -> f64 {
    let n = leaves.len();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let mut row: Vec<f64> = (0..n).map(|j| parent + if i == j { leaves[i] } else { 0.0 }).collect();
            row.push(query[i]);
            row
        })
        .collect();
    for i in 0..n {
        let pivot = rows[i].clone();
        for (j, row) in rows.iter_mut().enumerate() {
            if j != i {
                let factor = row[i] / pivot[i];
                row.iter_mut().zip(&pivot).for_each(|(to, from)| *to -= factor * from);
            }
        }
    }
    (0..n).map(|i| query[i] * rows[i][n] / rows[i][i]).sum()
}

#[test]
fn theorem_2_and_remark_1_hold_against_dense_matrices() {
    let mut numbers = Numbers(11);
    for _ in 0..400 {
        let c = 1 + numbers.below(6) as usize;
        let (parent, child) = (1.0 + numbers.below(50) as f64, 1.0 + numbers.below(50) as f64);
        let allowed = child >= (c as f64 - 1.0) * parent / 2.0;
        let ones = vec![1.0; c];
        let before = |power: i32, query: &[f64]| variance(parent.powi(power), &vec![child.powi(power); c], query);
        let after = |power: i32, query: &[f64]| variance(0.0, &vec![(parent + child).powi(power); c], query);
        // Laplace: precision is proportional to the square of the share. The total decides (Remark 1); if it allows the bypass, no query
        // gets worse.
        let formula = c as f64 / (c as f64 * parent.powi(2) + child.powi(2));
        assert!((before(2, &ones) / formula - 1.0).abs() < 1e-9);
        let tie = (child - (c as f64 - 1.0) * parent / 2.0).abs() < 1e-9;
        assert!(tie || allowed == (after(2, &ones) < before(2, &ones)), "{parent} {child} {c}");
        let query: Vec<f64> = (0..c).map(|_| numbers.below(7) as f64 - 3.0).collect();
        assert!(!allowed || after(2, &query) <= before(2, &query) * (1.0 + 1e-9) + 1e-12);
        // Gaussian: precision is proportional to the share. The parent's total gets worse unless it has one child; then nothing changes.
        let (old, new) = (before(1, &ones), after(1, &ones));
        assert!(if c == 1 { (new / old - 1.0).abs() < 1e-9 } else { new > old }, "{parent} {child} {c}");
    }
}

#[test]
fn hostile_files_are_refused_with_their_place_and_vintages_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |text: &str| Blocks::read(&write(folder.path(), "b.csv", text)).unwrap_err().to_string();
    for (text, says) in [
        (
            "block\n440010301001000\n440010301001001\n440010301001000\n",
            "line 4, column 1: the block 440010301001000 occurs",
        ),
        ("block\n44001030100100\n", "line 2, column 1: \"44001030100100\" is no GEOID"),
        ("block\n9001030100100\n", "15 digits"),
        ("block\n90010301001000\n", "090010301001000 is likely"),
        ("block\n1400000US44001030100\n", "15 digits"),
        ("aian,block\n9999,4400103010010001\n", "line 2, column 2"),
        ("block\n44001030100100x\n", "15 digits"),
        ("unit\n440010301001000\n", "no column block"),
        ("block\n", "no block"),
        ("", "is empty"),
        ("block,aian\n440010301001000\n", "line 2"),
        ("block,aian\n440010301001000,24 15\n", "line 2, column 2"),
        ("block,aian\n440010301001000,123456789\n", "8 letters"),
    ] {
        let message = refused(text);
        assert!(message.contains(says) && message.contains("b.csv"), "{text:?}: {message}");
    }
    assert!(Blocks::read(&folder.path().join("none.csv")).is_err());
    let forms = "block\n440010301001000\n1000000US440010301001001\nG44000100301001002\n";
    let forms = Blocks::read(&write(folder.path(), "b.csv", forms)).unwrap();
    assert_eq!(forms.geoids(), [440010301001000, 440010301001001, 440010301001002]);
    let mut blocks =
        Blocks::read(&write(folder.path(), "b.csv", "block\n440010301001002\n440010301001001\n440010301001000\n"))
            .unwrap();
    let file = write(folder.path(), "mcd.txt", "BLOCKID|COUSUBFP\n440010301001000|05140\n440010301001007|05140\n");
    let mismatch = blocks.attach(EntityKind::Mcd, &file, None, "COUSUBFP").unwrap();
    assert_eq!(mismatch.without_entity, [440010301001001, 440010301001002]);
    assert_eq!(mismatch.unknown, [440010301001007]);
    assert_eq!(blocks.column(EntityKind::Mcd).unwrap().codes, [1, 0, 0]);
    assert!(blocks.attach(EntityKind::Mcd, &file, None, "COUSUBFP").is_err());
    assert!(blocks.attach(EntityKind::Place, &file, None, "PLACEFP").unwrap_err().to_string().contains("PLACEFP"));
    let twice = write(folder.path(), "t.txt", "BLOCKID|P\n440010301001007|1\n440010301001007|1\n");
    assert!(blocks.attach(EntityKind::Place, &twice, None, "P").unwrap_err().to_string().contains("line 3"));
    assert!(SpineSettings::production("moon").unwrap_err().to_string().contains("dhc"));
    assert!(Blocks::from_geoids(vec![]).is_err() && Blocks::from_geoids(vec![1, 1]).is_err());
}

const PLAN: &str = "settings = \"redistricting-units\"\n[[level]]\nname = \"US\"\nproportion = \"1/6\"\n[[level]]\nname = \"State\"\nproportion = \"1/6\"\n[[level]]\nname = \"County\"\nproportion = \"1/6\"\n[[level]]\nname = \"Tract\"\nproportion = \"1/6\"\n[[level]]\nname = \"Group\"\nproportion = \"1/6\"\n[[level]]\nname = \"Block\"\nproportion = \"1/6\"\n";

fn assay(folder: &Path, plan: &str, more: &[&str]) -> std::process::Output {
    write(folder, "plan.toml", plan);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_assay"));
    command.current_dir(folder).args(["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "out"]);
    command.args(more).output().unwrap()
}

#[test]
fn bad_plans_are_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    strewn(folder.path(), 21, 6);
    for (from, to, says) in [
        ("\"1/6\"", "\"1/7\"", "exactly 1"),
        ("\"1/6\"", "\"-1/6\"", "above 0"),
        ("\"1/6\"", "\"six\"", "not a number"),
        ("redistricting-units", "dhc", "8 levels"),
        ("redistricting-units", "moon", "redistricting-persons"),
        ("settings", "setting", "line 1"),
        ("-units\"\n", "-units\"\nprivacy = \"none\"\n", "line 2"),
        ("-units\"\n", "-units\"\nrelease = \"pl94-units-us\"\n", "not both"),
        (
            "-units\"\n",
            "-units\"\nprivacy = \"pure\"\nrelease = \"pl94-units-us\"\n",
            "line 2, column 11: privacy = \"pure\" does not fit the release \"pl94-units-us\"",
        ),
    ] {
        let output = assay(folder.path(), &PLAN.replacen(from, to, 1), &["--json"]);
        // With --json errors are JSON.
        let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
        let message = error["error"].as_str().unwrap();
        assert_eq!(output.status.code(), Some(2), "{to}: {message}");
        assert!(message.contains(says) && message.contains("plan.toml"), "{to}: {message}");
        assert!(!folder.path().join("out").exists(), "nothing is written");
    }
    let output = assay(folder.path(), PLAN, &["--json", "--delta", "1e-10"]);
    assert!(output.status.code() == Some(2) && String::from_utf8_lossy(&output.stderr).contains("no release"));
}

#[test]
fn the_program_answers_with_the_keys_of_its_contract() {
    let folder = tempfile::tempdir().unwrap();
    strewn(folder.path(), 21, 6);
    let files = format!("{PLAN}[[entities]]\nkind = \"sd_secondary\"\nfile = \"sd.txt\"\ncolumn = \"D\"\n");
    // One block of the spine, and one of another state.
    let first = Blocks::read(&folder.path().join("blocks.csv")).unwrap().geoids()[0];
    write(folder.path(), "sd.txt", &format!("BLOCKID|D\n110010301001000|1\n{first:015}|1\n"));
    let output = assay(folder.path(), &files, &["--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let blocks = json["blocks"].as_u64().unwrap();
    assert_eq!(json["levels"][5]["units"].as_u64(), Some(blocks));
    assert!(json["levels"][3]["max_fanout"].is_u64() && json["levels"][3]["bypassed"].is_u64());
    for key in ["entities", "mean_before", "mean_after", "max_before", "max_after"] {
        assert!(json["osed"][key].is_number(), "{key}");
    }
    let on_paths: u64 = json["paths"].as_array().unwrap().iter().map(|path| path["blocks"].as_u64().unwrap()).sum();
    assert_eq!(on_paths, blocks);
    assert_eq!(json["mismatches"][0]["unknown_blocks"], 1);
    assert_eq!(json["mismatches"][0]["blocks_without_entity"].as_u64(), Some(blocks - 1));
    let listed = fs::read_to_string(folder.path().join("out/mismatches.csv")).unwrap();
    assert_eq!(listed.lines().count() as u64, blocks + 1);
    assert!(listed.contains("sd_secondary,110010301001000,blocks"));
    let assigned = fs::read_to_string(folder.path().join("out/blocks.csv")).unwrap();
    assert_eq!(assigned.lines().count() as u64, blocks + 1);
    // Variances are certified, and decrease from a unit's own answer to the estimate.
    for level in json["levels"].as_array().unwrap() {
        let end = |key: &str, end: &str| level[key][end].as_f64().unwrap();
        assert!(end("variance", "lower") <= end("variance", "upper"));
        assert!(
            end("variance_least", "upper") <= end("variance", "upper")
                && end("variance", "lower") <= end("variance_most", "upper")
        );
        assert!(
            level["measured"].as_u64().unwrap() == 0
                || end("variance_least", "upper") <= end("variance_alone", "upper")
        );
    }
    assert_eq!(json["variance_unit"], "1 / rho");
    for picture in ["osed", "fanout", "variance"] {
        let text = |kind: &str| fs::read_to_string(folder.path().join(format!("out/{picture}.{kind}"))).unwrap();
        assert!(text("svg").contains("</svg>") && text("csv").lines().count() > 1, "{picture}");
    }
    let entities = fs::read_to_string(folder.path().join("out/entities.csv")).unwrap();
    assert!(entities.starts_with("kind,entity,geoid,blocks,osed_before,osed_after,variance_approx,margin_95_approx\n"));
}

#[test]
fn the_program_answers_in_every_format_and_for_a_release() {
    let folder = tempfile::tempdir().unwrap();
    strewn(folder.path(), 21, 6);
    let pure = PLAN.replacen("-units\"\n", "-units\"\nprivacy = \"pure\"\n", 1);
    let csv = assay(folder.path(), &pure, &["--csv"]);
    let text = String::from_utf8(csv.stdout).unwrap();
    assert!(
        csv.status.success() && text.starts_with("level,units,max_fanout,bypassed,") && text.lines().count() == 7,
        "{text}"
    );
    let markdown = String::from_utf8(assay(folder.path(), &pure, &["--format", "md"]).stdout).unwrap();
    assert!(
        markdown.starts_with("| level | units |") && markdown.lines().filter(|line| line.starts_with('|')).count() == 8
    );
    let json = assay(folder.path(), &pure, &["--json"]).stdout;
    assert!(String::from_utf8(json).unwrap().contains("8 / epsilon^2"));
    // A release: its own levels, and the exact epsilon of the paths that occur.
    let plan = "settings = \"redistricting-persons\"\nrelease = \"pl94-persons-us\"\n";
    let output = assay(folder.path(), plan, &["--json", "--delta", "1e-10"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let ends = ["lower", "upper"].map(|end| json["epsilon"][end].as_f64().unwrap());
    // Below the bound by zCDP, and the worst path is among those of the spine.
    assert!(ends[0] <= ends[1] && ends[1] < 17.15 && ends[0] > 15.0, "{ends:?}");
    assert!(json["worst_paths"].as_array().unwrap().len() == 2);
}
