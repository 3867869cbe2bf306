//! `assay measure` and `assay estimate` from outside: files are written once and completely; errors; damaged files.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use dp_assay::{
    noise::Streams,
    spine::{
        blocks::Blocks,
        bypass::Privacy,
        hierarchy::Tree,
        plan::SpinePlan,
        spine_files::{self, SavedSpine},
    },
    topdown::{
        estimates_file,
        histograms::Histograms,
        level_variances,
        measure::MeasurementPlan,
        measurement_files::{self, Manifest},
    },
};

use rug::Rational;

use crate::common::spines::Numbers;

/// A release of which only the budget is known.
const BUDGET_ONLY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/budget-only.toml");

const RELEASE: &str = r#"name = "two attributes"
title = "t"
source = "made up for a test"
neighbors = "bounded"
rho = "2"
sigma2_times_rho = "1"
[[attribute]]
name = "age"
values = ["child", "adult"]
[[attribute]]
name = "race"
size = 3
[[recode]]
name = "some"
attribute = "race"
groups = [["0"], ["1", "2"]]
"#;

fn release_text() -> String {
    let mut text = RELEASE.to_string();
    for level in ["US", "State", "County", "Tract", "Group", "Block"] {
        text += &format!("[[level]]\nname = \"{level}\"\nproportion = \"1/6\"\n");
        for (query, share) in [("total", "1/4"), ("age * some", "1/4"), ("detailed", "1/2")] {
            text += &format!("[[level.query]]\nname = \"{query}\"\nproportion = \"{share}\"\n");
        }
    }
    text
}

const COUNTS: &str = "block,race,note,age,count\n440010301001001,0,a,adult,7\n440010301001000,2,b,child,5\n440010301001000,2,c,adult,1\n";

fn put(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
}

fn assay(folder: &Path, args: &[&str]) -> Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_assay"));
    command.current_dir(folder).args(args).output().unwrap()
}

fn measure(folder: &Path, more: &[&str]) -> Output {
    measure_into(folder, "out", more)
}

fn measure_into(folder: &Path, out: &str, more: &[&str]) -> Output {
    let args = ["measure", "--spine", "spine", "--counts", "counts.csv", "--release", "release.toml", "--out", out];
    assay(folder, &[&args, more].concat())
}

fn refused(output: &Output) -> String {
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    message
}

/// A folder with a spine of four blocks, counts and a release.
fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "release.toml", &release_text());
    put(folder.path(), "plan.toml", "settings = \"redistricting-units\"\nrelease = \"release.toml\"\n");
    put(
        folder.path(),
        "blocks.csv",
        "block\n440010301001000\n440010301001001\n440010301002000\n440030301001000\n440030302001000\n",
    );
    put(folder.path(), "counts.csv", COUNTS);
    let args = ["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "spine"];
    let output = assay(folder.path(), &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

#[test]
fn the_program_writes_a_whole_folder_once_and_says_what_it_spent() {
    let folder = prepared();
    let output = measure(folder.path(), &["--json", "--insecure-seed", "9"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!(number(&json["epsilon"]["lower"]) <= number(&json["epsilon"]["upper"]));
    // Below rho + 2 sqrt(rho ln(1 / delta)) = 15.57, above half of it.
    assert!((8.0..15.58).contains(&number(&json["epsilon"]["upper"])), "{}", json["epsilon"]);
    assert_eq!((&json["rho"], &json["insecure_seed"]), (&serde_json::json!(2), &serde_json::json!(9)));
    assert_eq!(json["confidential"]["blocks_without_counts"], 3);
    assert_eq!(json["worst_paths"].as_array().unwrap().len(), 2);
    let out = folder.path().join("out");
    let manifest: Manifest = serde_json::from_str(&fs::read_to_string(out.join("measurements.json")).unwrap()).unwrap();
    assert_eq!(manifest.privacy["epsilon"], json["epsilon"]);
    // Read back: each count is close to the truth, and each unit that carries a share has its row.
    let saved = SavedSpine::read(&folder.path().join("spine")).unwrap();
    let carries = |level: usize| (0..saved.spine.tree.units(level)).any(|unit| saved.spine.carried(level, unit) > 0);
    let files = 3 * (0..6).filter(|level| carries(*level)).count();
    assert!(files >= 9 && manifest.files.len() == files, "{files}");
    let mut rows = [0; 6];
    let noisy = measurement_files::read(&out, |described, unit, sigma2, counts| {
        assert!(saved.spine.carried(described.level, unit) > 0 && counts.len() == described.counts);
        let spread = sigma2.to_f64().sqrt();
        assert!(counts.iter().all(|count| (*count as f64) < 13.0 + 40.0 * spread));
        rows[described.level] += 1;
        Ok(())
    });
    assert_eq!(noisy.unwrap().insecure_seed, Some(9));
    for (level, rows) in rows.iter().enumerate() {
        let carry = (0..saved.spine.tree.units(level)).filter(|unit| saved.spine.carried(level, *unit) > 0).count();
        assert_eq!(*rows, 3 * carry);
    }
    let text = fs::read_to_string(out.join(&manifest.files[1].file)).unwrap();
    assert!(
        text.starts_with("unit (insecure seed 9),geoid,sigma2,child * 0,child * 1+2,adult * 0,adult * 1+2\n"),
        "{text}"
    );
    // The same seed gives the same bytes; a release is never overwritten.
    assert!(refused(&measure(folder.path(), &[])).contains("never overwritten"));
    let again = measure_into(folder.path(), "again", &["--insecure-seed", "9"]);
    assert!(again.status.success() && String::from_utf8_lossy(&again.stdout).contains("INSECURE"));
    for file in &manifest.files {
        assert_eq!(
            fs::read(out.join(&file.file)).unwrap(),
            fs::read(folder.path().join("again").join(&file.file)).unwrap()
        );
    }
    let csv = measure_into(folder.path(), "third", &["--csv"]);
    assert_eq!(String::from_utf8_lossy(&csv.stdout).lines().count(), files + 1);
    assert_eq!(
        fs::read_dir(folder.path())
            .unwrap()
            .filter(|entry| { entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".assay") })
            .count(),
        0
    );
}

#[test]
fn estimates_are_written_in_the_form_that_is_read_and_add_up() {
    let folder = prepared();
    assert!(measure(folder.path(), &["--insecure-seed", "4"]).status.success());
    let estimate = |more: &[&str]| {
        let args =
            ["estimate", "--spine", "spine", "--measurements", "out", "--release", "release.toml", "--out", "best"];
        assay(folder.path(), &[&args, more].concat())
    };
    let output = estimate(&["--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    // Recodes are used like all other queries.
    assert_eq!(json["left_out"], serde_json::json!([]));
    let totals = fs::read_to_string(folder.path().join("best/totals.csv")).unwrap();
    let root: i64 = totals.lines().nth(1).unwrap().rsplit(',').next().unwrap().parse().unwrap();
    assert_eq!(json["records"], root);
    // 13 records, and a variance below that of the nation's own answer, 24.
    assert!((root - 13).abs() < 60 && json["levels"][0]["variance_of_total"]["upper"].as_f64().unwrap() < 24.0);
    let blocks: i64 = totals
        .lines()
        .filter(|line| line.starts_with("Block,"))
        .map(|line| line.rsplit(',').next().unwrap().parse::<i64>().unwrap())
        .sum();
    assert_eq!(blocks, root);
    assert!(refused(&estimate(&[])).contains("holds files"));
    fs::rename(folder.path().join("best/counts.csv"), folder.path().join("counts.csv")).unwrap();
    fs::rename(folder.path().join("out"), folder.path().join("first")).unwrap();
    let again = measure(folder.path(), &["--discard", "--json"]);
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    let json: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(json["confidential"]["records"], root);
    // Noisy counts of another release, or incomplete ones.
    fs::remove_dir_all(folder.path().join("best")).unwrap();
    let manifest = folder.path().join("out/measurements.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let parsed: Manifest = serde_json::from_str(&text).unwrap();
    let first = folder.path().join("out").join(&parsed.files[0].file);
    let rows = fs::read_to_string(&first).unwrap();
    for (path, from, to, says) in [
        (&manifest, text.clone(), text.replacen("\"total\"", "\"detailed\"", 1), "other noise"),
        (&manifest, text.clone(), text.replacen("\"units\": 1", "\"units\": 2", 1), "measurements.json says 2"),
        (&manifest, text.clone(), text.replacen("\"level\": 0", "\"level\": 9", 1), "not of this spine"),
        (&manifest, text.clone(), text.replacen("\"counts\": 1", "\"counts\": 99999999999", 1), "at most 16777216"),
        (&manifest, text.clone(), "{}".to_string(), "measurements.json, line 1"),
        (&first, rows.clone(), rows.replacen("0,,", "0,,1", 1), "other noise"),
        (&first, rows.clone(), rows.replacen("0,", "7,", 1), "not of this spine"),
        (&first, rows.clone(), rows.trim_end().to_string() + "1x\n", "is no noisy count"),
        (&first, rows.clone(), format!("{}{}\n", rows, rows.lines().nth(1).unwrap()), "twice"),
    ] {
        assert_ne!(from, to, "{says}");
        fs::write(path, to).unwrap();
        let message = refused(&estimate(&[]));
        assert!(message.contains(says), "{says}: {message}");
        fs::write(path, from).unwrap();
    }
    assert!(!folder.path().join("best").exists() && estimate(&[]).status.success());
}

#[test]
fn bad_counts_are_refused_with_their_place_and_nothing_is_written() {
    let folder = prepared();
    for (from, to, says) in [
        ("440010301001001,0", "440010301001001,3", "line 2, column 2: the cell is no value of \"race\""),
        ("440010301001001,0,a,adult,7", "440010301001001,0,a,adult,-7", "line 2, column 5"),
        (",7\n", ",1e3\n", "no whole number"),
        (",7\n", ",9999999999999999\n", "line 2, column 5"),
        (",7\n", ",999999999999999\n440010301001001,1,a,adult,2\n", "more than 1000000000000000"),
        ("440010301001001", "440010301001009", "line 2, column 1: the block 440010301001009 is not on the spine"),
        ("440010301001001", "44001030100100", "15 digits"),
        (
            "2,c,adult",
            "2,c,child",
            "line 4, column 1: this cell of the block 440010301001000 occurs twice: first in line 3",
        ),
        ("age,count", "ages,count", "unknown column \"age\""),
        // Counts in place of a header: none of them is quoted.
        (
            "block,race,note,age,count",
            "block,race,note,age,31415",
            "the first line holds numbers, and a header with names is needed",
        ),
        ("age,count", "age,counts", "unknown column \"count\""),
        (",7\n", "\n", "cells where the header has"),
    ] {
        assert!(COUNTS.contains(from), "{from}");
        put(folder.path(), "counts.csv", &COUNTS.replacen(from, to, 1));
        let message = refused(&measure(folder.path(), &[]));
        assert!(message.contains(says) && message.contains("counts.csv"), "{to}: {message}");
    }
    assert_nothing_drawn(folder.path());
}

/// Nothing was drawn, so there is no log.
fn assert_nothing_drawn(folder: &Path) {
    assert!(["out", "out.log", "out.key", ".out.part"].iter().all(|name| !folder.join(name).exists()));
}

#[test]
fn bad_releases_are_refused_with_their_place_and_nothing_is_written() {
    let folder = prepared();
    let release = release_text();
    for (from, to, says) in [
        ("\"age * some\"", "\"age * sum\"", "some"),
        ("\"age * some\"", "\"race * some\"", "each attribute once"),
        ("\"age * some\"", "\"total \"", "occurs twice in a level"),
        ("rho = \"2\"", "rho = \"3\"", ""),
        ("[\"1\", \"2\"]", "[\"1\"]", "line 14, column 8: the value \"2\" of \"race\" is in no group"),
        ("[\"1\", \"2\"]", "[\"1\", \"0\"]", "no other group has"),
        ("attribute = \"race\"", "attribute = \"sex\"", "line 15"),
        ("name = \"race\"", "name = \"age\"", "occurs twice"),
        ("name = \"race\"", "name = \"total\"", "line 11"),
        ("size = 3", "size = 99999999", "line 11"),
        ("size = 3", "size = 0", "line 11"),
        ("size = 3", "size = 3\nvalues = [\"1\"]", "either values or a size"),
        ("name = \"State\"\nproportion = \"1/6\"", "name = \"State\"\nproportion = \"1/3\"", "add up"),
        ("name = \"total\"\nproportion = \"1/4\"", "name = \"total\"\nproportion = \"1/8\"\ntimes = 2", "2 times"),
    ] {
        assert!(release.contains(from), "{from}");
        put(folder.path(), "other.toml", &release.replacen(from, to, 1));
        let args = ["measure", "--spine", "spine", "--counts", "counts.csv", "--release", "other.toml", "--out"];
        if says.is_empty() {
            // Another budget with the same shares is also a release of this spine.
            let args = [&args[..], &["other", "--insecure-seed", "1"]].concat();
            assert!(assay(folder.path(), &args).status.success());
            continue;
        }
        let output = assay(folder.path(), &[&args[..], &["out"]].concat());
        let message = refused(&output);
        assert!(message.contains(says), "{to}: {message}");
    }
    assert_nothing_drawn(folder.path());
}

#[test]
fn inputs_that_do_not_fit_the_spine_are_refused_and_nothing_is_written() {
    let folder = prepared();
    for (args, says) in [
        (vec!["--release", "dhc-persons-us"], "do not have the shares of the 8 levels"),
        (vec!["--release", BUDGET_ONLY], "budget-only"),
        (vec!["--delta", "2"], "--delta"),
        (vec!["--spine", "nowhere"], "levels.csv"),
        (vec!["--counts", "nowhere.csv"], "nowhere.csv"),
        (vec!["--column", "nothing"], "unknown column \"nothing\""),
    ] {
        let mut all =
            vec!["measure", "--spine", "spine", "--counts", "counts.csv", "--release", "release.toml", "--out", "out"];
        for pair in args.chunks(2) {
            if let Some(at) = all.iter().position(|arg| *arg == pair[0]) {
                all[at + 1] = pair[1];
            } else {
                all.extend(pair);
            }
        }
        let message = refused(&assay(folder.path(), &all));
        assert!(message.contains(says), "{args:?}: {message}");
    }
    assert_nothing_drawn(folder.path());
}

/// A saved spine is checked when it is read: overlapping or missing children (as a cycle would need), other shares, duplicate blocks.
#[test]
fn a_spine_that_was_tampered_with_is_refused() {
    let folder = prepared();
    let spine = folder.path().join("spine");
    let intact = SavedSpine::read(&spine).unwrap();
    assert_eq!(intact.ids.geoids().len(), 5);
    let file = |name: &str| -> PathBuf { spine.join(name) };
    let units = fs::read_to_string(file("units.csv")).unwrap();
    let lines: Vec<&str> = units.lines().collect();
    // The second state part does not exist: the county line for a child that another has.
    let county = lines.iter().position(|line| line.starts_with("County,1,")).unwrap();
    let cells: Vec<&str> = lines[county].split(',').collect();
    let with = |at: usize, value: &str| {
        let mut changed = cells.clone();
        changed[at] = value;
        units.replace(lines[county], &changed.join(","))
    };
    let row = format!("line {}", county + 1);
    for (name, text, says) in [
        ("units.csv", with(2, "0"), row.as_str()),
        ("units.csv", with(3, "0"), row.as_str()),
        ("units.csv", with(3, "4294967295"), ""),
        ("units.csv", with(1, "7"), "listed in order"),
        ("units.csv", with(0, "Block"), "is expected"),
        ("units.csv", with(5, "9"), "no whole number from 0 to 4"),
        ("units.csv", with(6, "1/5"), "carry"),
        ("units.csv", units.replace(lines[county], ""), ""),
        ("units.csv", lines[..2].join("\n"), "units of \"State\""),
        ("units.csv", lines[0].to_string(), ""),
        ("units.csv", String::new(), "is empty"),
        ("levels.csv", "level,proportion\nUS,1/2\nBlock,1/3\n".into(), "exactly 1"),
        ("levels.csv", "level,proportion\nUS,1/2\nBlock,half\n".into(), "line 3, column 2"),
        ("levels.csv", "level,proportion\n".into(), "levels"),
        ("blocks.csv", "unit,block,levels_carried\n0,440010301001000,1\n".into(), "the file has 1"),
        ("blocks.csv", "unit,block,levels_carried\n1,440010301001000,1\n".into(), "listed in order"),
    ] {
        let before = fs::read_to_string(file(name)).unwrap();
        fs::write(file(name), text).unwrap();
        let message = SavedSpine::read(&spine).expect_err(says).to_string();
        assert!(message.contains(says) && message.contains(name), "{says}: {message}");
        fs::write(file(name), before).unwrap();
    }
    let blocks = fs::read_to_string(file("blocks.csv")).unwrap();
    for (from, to, says) in [
        ("440010301001001", "440010301001000", "occurs twice"),
        ("440010301001001", "44001030100100", "15 digits"),
        ("1,440010301001001,1", "1,440010301001001,0", "exactly 1"),
        ("1,440010301001001,1", "1,440010301001001,2", "from 0 to 1"),
    ] {
        assert!(blocks.contains(from), "{from} in {blocks}");
        fs::write(file("blocks.csv"), blocks.replacen(from, to, 1)).unwrap();
        let message = SavedSpine::read(&spine).expect_err(says).to_string();
        assert!(message.contains(says), "{says}: {message}");
    }
    fs::write(file("blocks.csv"), &blocks).unwrap();
    let again = SavedSpine::read(&spine).unwrap();
    assert!(again.spine.tree == intact.spine.tree && again.ids.geoids() == intact.ids.geoids());
}

/// A spine is read back as it was built, unit by unit.
#[test]
fn a_spine_is_read_back_as_it_was_built() {
    let geoids = (0..40_u64)
        .map(|k| 440_010_000_000_000 + k % 3 * 10_000 + k % 7 * 1000 + k / 7 % 6)
        .collect::<std::collections::BTreeSet<_>>();
    let folder = tempfile::tempdir().unwrap();
    let list: String = geoids.iter().map(|geoid| format!("{geoid:015}\n")).collect();
    put(folder.path(), "blocks.csv", &format!("block\n{list}"));
    put(folder.path(), "release.toml", &release_text());
    put(folder.path(), "plan.toml", "settings = \"redistricting-units\"\nrelease = \"release.toml\"\n");
    // A release is named relative to the folder of the file that names it, as everywhere.
    assert!(SpinePlan::read(&folder.path().join("plan.toml")).is_ok());
    let text = format!("settings = \"redistricting-units\"\nrelease = {:?}\n", folder.path().join("release.toml"));
    put(folder.path(), "plan.toml", &text);
    let plan = SpinePlan::read(&folder.path().join("plan.toml")).unwrap();
    let built = plan.build(Blocks::read(&folder.path().join("blocks.csv")).unwrap()).unwrap();
    let variances = level_variances::of_entities_approx(&built).unwrap();
    spine_files::write(&built, &variances, &folder.path().join("spine")).unwrap();
    let saved = SavedSpine::read(&folder.path().join("spine")).unwrap();
    assert_eq!((&saved.names, &saved.spine.tree), (&built.names, &built.spine.tree));
    assert_eq!(saved.spine.paths().unwrap(), built.spine.paths().unwrap());
    let tree: &Tree = &saved.spine.tree;
    for level in 0..tree.levels() {
        for unit in 0..tree.units(level) {
            assert_eq!(saved.spine.share(level, unit), built.spine.share(level, unit));
        }
    }
    assert!(
        saved
            .ids
            .geoids()
            .iter()
            .zip(tree.order())
            .all(|(geoid, row)| built.blocks().unwrap().geoids()[*row as usize] == *geoid)
    );
}

/// A spine for pure differential privacy is marked so in its files, is measured with Laplace noise only, and is refused if the release or
/// the epsilon does not fit it.
#[test]
fn a_spine_for_pure_privacy_is_measured_with_laplace_noise() {
    let folder = prepared();
    let levels: String = ["US", "State", "County", "Tract", "Group", "Block"]
        .map(|level| format!("[[level]]\nname = \"{level}\"\nproportion = \"1/6\"\n"))
        .concat();
    put(folder.path(), "pure.toml", &format!("settings = \"redistricting-units\"\nprivacy = \"pure\"\n{levels}"));
    let args = ["spine", "--blocks", "blocks.csv", "--plan", "pure.toml", "--out", "pure"];
    assert!(assay(folder.path(), &args).status.success());
    let run = |spine: &str, out: &str, more: &[&str]| {
        let args = ["measure", "--spine", spine, "--counts", "counts.csv", "--release", "release.toml", "--out", out];
        assay(folder.path(), &[&args, more].concat())
    };
    let message = refused(&run("pure", "out", &[]));
    assert!(message.contains("spine.toml: privacy = \"pure\"") && message.contains("--epsilon"), "{message}");
    let message = refused(&run("spine", "out", &["--epsilon", "3"]));
    assert!(message.contains("spine.toml: privacy = \"zcdp\""), "{message}");
    assert!(refused(&run("pure", "out", &["--epsilon", "-1"])).contains("epsilon"));
    assert!(!folder.path().join("out").exists(), "nothing is written");

    let output = run("pure", "out", &["--epsilon", "24", "--json", "--insecure-seed", "3"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    // The sum of the parameters that are drawn from, for both records of a change.
    assert_eq!(json["pure_epsilon"].as_f64(), Some(24.0));
    assert!(json["epsilon"]["lower"].as_f64().unwrap() <= 24.0);
    let saved = SavedSpine::read(&folder.path().join("pure")).unwrap();
    assert_eq!(saved.privacy, Privacy::Pure { cutoff: 150 });
    let manifest = measurement_files::read(&folder.path().join("out"), |file, unit, epsilon, _| {
        let share = Rational::from((if file.query == "detailed" { 2 } else { 1 }, 4));
        let expected = share * saved.spine.share(file.level, unit) * 24_u32 / 2_u32;
        assert_eq!((file.law.as_str(), epsilon), ("discrete Laplace", &expected));
        Ok(())
    });
    assert_eq!(manifest.unwrap().privacy["pure_epsilon"], json["pure_epsilon"]);

    let estimate = |out: &str, more: &[&str]| {
        let args = ["estimate", "--spine", "pure", "--measurements", "out", "--release", "release.toml", "--out", out];
        assay(folder.path(), &[&args, more].concat())
    };
    assert!(refused(&estimate("estimated", &[])).contains("--epsilon"));
    assert!(refused(&estimate("estimated", &["--epsilon", "23"])).contains("has other noise"));
    assert!(estimate("estimated", &["--epsilon", "24"]).status.success());

    for (text, says) in [
        ("privacy = \"none\"\n", "line 1, column 11"),
        ("privacy = \"pure\"\n", "bypass_cutoff"),
        ("privacy = \"zcdp\"\nbypass_cutoff = 5\n", "bypass_cutoff"),
        ("", "privacy"),
    ] {
        put(folder.path(), "pure/spine.toml", text);
        let message = refused(&run("pure", "again", &["--epsilon", "24"]));
        assert!(message.contains(says) && message.contains("spine.toml"), "{text}: {message}");
    }
}

/// Files with random damage, in bytes and in lines: they are read or refused, and a spine that is read can be drawn and estimated; nothing
/// panics.
#[test]
fn damaged_files_are_read_or_refused() {
    let folder = prepared();
    assert!(measure(folder.path(), &["--insecure-seed", "1"]).status.success());
    let path = |name: &str| folder.path().join(name);
    let mut numbers = Numbers(97);
    let names = [
        "spine/levels.csv",
        "spine/units.csv",
        "spine/blocks.csv",
        "counts.csv",
        "release.toml",
        "out/measurements.json",
    ];
    let (mut read, mut refused) = (0, 0);
    for round in 0..600 {
        let name = names[round % names.len()];
        let intact = fs::read(path(name)).unwrap();
        let mut bytes = intact.clone();
        for _ in 0..1 + numbers.below(3) {
            let at = numbers.below(bytes.len() as u64) as usize;
            let end = (at + numbers.below(20) as usize).min(bytes.len());
            match numbers.below(5) {
                0 => bytes[at] = b"0123456789,/\"\n-\xff"[numbers.below(16) as usize],
                1 => drop(bytes.drain(at..end)),
                2 => bytes.splice(at..at, b"9".iter().copied()).for_each(drop),
                3 => bytes.extend_from_within(at..end),
                _ => bytes.truncate(at + 1),
            }
            if bytes.is_empty() {
                bytes.push(b'\n');
            }
        }
        fs::write(path(name), &bytes).unwrap();
        let tried = (|| -> dp_assay::Result<()> {
            let release = dp_assay::release::Release::find(path("release.toml").to_str().unwrap())?;
            let saved = SavedSpine::read(&path("spine"))?;
            let mechanism = MeasurementPlan::of_release(&saved.spine, &release)?;
            let schema = release.schema.clone().unwrap_or_default();
            let histograms = Histograms::read(&path("counts.csv"), &saved, &schema, "count", Default::default())?;
            mechanism.measure(&histograms, &mut Streams::with_insecure_seed(1), |_| Ok(()), |_, _, ()| Ok(()))?;
            estimates_file::Estimates::read(&mechanism, &saved, &schema, &path("out")).map(drop)
        })();
        match tried {
            Ok(()) => read += 1,
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
        fs::write(path(name), intact).unwrap();
    }
    assert!(read > 5 && refused > 300, "{read} {refused}");
}

fn answer(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The events of the log beside a folder.
fn events(folder: &Path, out: &str) -> Vec<serde_json::Value> {
    let log = fs::read_to_string(folder.join(format!("{out}.log"))).unwrap();
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// One budget per draw: a release that was removed is not drawn again without a flag, and the second draw is marked as such.
#[test]
fn a_second_draw_is_a_second_budget() {
    let folder = prepared();
    let first = answer(&measure(folder.path(), &["--json"]));
    assert_eq!((&first["draw"], &first["earlier_draws"]), (&serde_json::json!(1), &serde_json::json!(0)));
    let logged = events(folder.path(), "out");
    assert_eq!(logged.iter().map(|event| event["event"].as_str().unwrap()).collect::<Vec<_>>(), ["intent", "released"]);
    assert_eq!(logged[0]["intent"]["budget"], serde_json::json!([["rho", "2"]]));
    assert!(!folder.path().join("out.key").exists());
    fs::rename(folder.path().join("out"), folder.path().join("kept")).unwrap();
    let message = refused(&measure(folder.path(), &[]));
    assert!(message.contains("its budget is spent") && message.contains("--discard"), "{message}");
    assert!(refused(&measure(folder.path(), &["--resume"])).contains("nothing to resume"));
    let second = answer(&measure(folder.path(), &["--discard", "--json"]));
    assert_eq!((&second["draw"], &second["earlier_draws"]), (&serde_json::json!(2), &serde_json::json!(1)));
    let manifest = fs::read_to_string(folder.path().join("out/measurements.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["draw"], 2);
    for key in ["earlier_draws", "earlier_budgets_exact", "earlier_draws_into_other_folders", "all_draws"] {
        assert!(!manifest[key].is_null() && manifest[key] == second[key], "{key}: {manifest}");
    }
    // The noise differs, with a key from the operating system. A single count could be equal by chance; those of all units are not.
    let noise = |of: &str| {
        let levels = fs::read_dir(folder.path().join(of)).unwrap().map(|level| level.unwrap().path());
        let totals: Vec<PathBuf> =
            levels.map(|level| level.join("0-total.csv")).filter(|file| file.is_file()).collect();
        assert!(totals.len() > 2, "{totals:?}");
        let mut read: Vec<(PathBuf, Vec<u8>)> = totals
            .iter()
            .map(|file| (file.strip_prefix(folder.path().join(of)).unwrap().into(), fs::read(file).unwrap()))
            .collect();
        read.sort();
        read
    };
    assert_ne!(noise("kept"), noise("out"));
}

/// Budgets about a changed record say nothing about an added one, so draws of both are not added up.
#[test]
fn budgets_of_different_relations_are_not_added() {
    let folder = prepared();
    let bounded = release_text();
    // The same noise by the same rho: an added record moves each count once, a changed one twice.
    let added = bounded.replace("neighbors = \"bounded\"", "neighbors = \"add-remove\"");
    let added = added.replace("sigma2_times_rho = \"1\"", "sigma2_times_rho = \"1/2\"");
    assert!(added.contains("add-remove") && added.contains("1/2\"\n[[attribute]]"));
    let draw = |release: &str, out: &str, more: &[&str]| {
        put(folder.path(), "release.toml", release);
        let output = measure(folder.path(), &[&["--discard", "--json"][..], more].concat());
        let said = answer(&output);
        fs::rename(folder.path().join("out"), folder.path().join(out)).unwrap();
        said
    };
    draw(&bounded, "first", &[]);
    let second = draw(&bounded, "second", &[]);
    assert_eq!(second["all_draws"]["rho_exact"], "4");
    let third = draw(&added, "third", &[]);
    assert!(third["all_draws"].is_null(), "{third}");
    assert_eq!(third["draws_of_this_unit"]["rho_exact"], "2");
    let others = serde_json::json!([{ "draws": 2, "unit": "rho", "neighbors": "bounded", "together_exact": "4", "earlier_budgets_by_part": false }]);
    assert_eq!(third["earlier_budgets_of_other_units"], others);
    let manifest = fs::read_to_string(folder.path().join("third/measurements.json")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&manifest).unwrap()["earlier_budgets_of_other_units"], others);
}

/// A draw whose run ended before its release was complete: the same noise again, but only for the same inputs.
#[test]
fn an_unfinished_draw_is_resumed_with_the_same_noise_for_the_same_inputs_only() {
    let folder = prepared();
    let at = |name: &str| folder.path().join(name);
    // The log of a draw that was begun, and its key, just before the release is complete.
    let seed = ["--insecure-seed", "6"];
    answer(&measure(folder.path(), &[&seed[..], &["--json"]].concat()));
    fs::rename(at("out"), at("whole")).unwrap();
    let begun = fs::read_to_string(at("out.log")).unwrap().lines().next().unwrap().to_string() + "\n";
    // The key of an interrupted run: files are limited to a kilobyte.
    fs::remove_file(at("out.log")).unwrap();
    let stopped = std::process::Command::new("bash")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "bash", env!("CARGO_BIN_EXE_assay"), "measure"])
        .args(["--spine", "spine", "--counts", "counts.csv", "--release", "release.toml", "--out", "out"])
        .args(seed)
        .current_dir(folder.path())
        .output()
        .unwrap();
    refused(&stopped);
    let intent =
        |text: &str| serde_json::from_str::<serde_json::Value>(text.lines().next().unwrap()).unwrap()["intent"].clone();
    assert_eq!(intent(&fs::read_to_string(at("out.log")).unwrap()), intent(&begun));
    assert!(at("out.key").exists() && !at("out").exists() && !at(".out.part").exists());

    assert!(refused(&measure(folder.path(), &seed)).contains("draw 1 was begun"));
    let resume = |more: &[&str]| measure(folder.path(), &[&seed[..], &["--resume"], more].concat());
    // The same noise on other counts, or in another order, would reveal the difference.
    put(folder.path(), "counts.csv", &COUNTS.replace("adult,7", "adult,8"));
    assert!(refused(&resume(&[])).contains("the same noise on other counts"));
    put(folder.path(), "counts.csv", COUNTS);
    assert!(refused(&resume(&["--files", "nmf"])).contains("another layout"));
    put(folder.path(), "release.toml", &release_text().replace("rho = \"2\"", "rho = \"3\""));
    assert!(refused(&resume(&[])).contains("another release"));
    put(folder.path(), "release.toml", &release_text());
    let resumed = answer(&resume(&["--json"]));
    assert_eq!((&resumed["draw"], &resumed["earlier_draws"]), (&serde_json::json!(1), &serde_json::json!(0)));
    for file in said_files(&at("whole/measurements.json")) {
        assert_eq!(fs::read(at("whole").join(&file)).unwrap(), fs::read(at("out").join(&file)).unwrap(), "{file}");
    }
    let kinds: Vec<String> =
        events(folder.path(), "out").iter().map(|event| event["event"].as_str().unwrap().to_string()).collect();
    assert_eq!(kinds, ["intent", "resumed", "released"]);
    assert!(!at("out.key").exists());

    // A draw that lacks only the end of its log is completed, and not repeated.
    fs::write(at("out.log"), &begun).unwrap();
    fs::write(at("out.key"), "").unwrap();
    assert_eq!(answer(&resume(&["--json"]))["status"], "was complete");
    assert!(!at("out.key").exists());
}

/// A draw that 0.2.0 began before its jobs were in the library: its log, its key and the log beside the counts.
#[test]
fn a_draw_that_an_earlier_program_began_is_resumed_or_refused_with_the_reason() {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/earlier/draw-0.2.0");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for entry in fs::read_dir(&from).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    fs::create_dir(at("spine")).unwrap();
    for entry in fs::read_dir(from.join("spine")).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), at("spine").join(entry.file_name())).unwrap();
    }
    // The log beside the counts names the log of the release by its whole path.
    let beside = fs::read_to_string(at("draws-of-counts.txt")).unwrap();
    let place = fs::canonicalize(at("out.log")).unwrap().display().to_string();
    put(folder.path(), "counts.csv.draws", &beside.replace("OUT.log", &place));
    let begun = events(folder.path(), "out");
    assert_eq!((begun.len(), &begun[0]["event"]), (1, &serde_json::json!("intent")));
    assert!(refused(&measure(folder.path(), &[])).contains("draw 1 was begun"));
    let resumed = measure(folder.path(), &["--resume", "--json"]);
    if env!("CARGO_PKG_VERSION") != "0.2.0" {
        assert!(refused(&resumed).contains("version 0.2.0"));
        return;
    }
    let said = answer(&resumed);
    assert_eq!((&said["draw"], &said["earlier_draws"]), (&serde_json::json!(1), &serde_json::json!(0)));
    // The same noise, and no second line beside the counts.
    let levels = ["0-us", "1-state", "2-county", "3-tract", "4-group", "5-block"];
    let totals = levels.iter().filter_map(|level| fs::read_to_string(at("out").join(level).join("0-total.csv")).ok());
    assert_eq!(totals.collect::<String>(), fs::read_to_string(from.join("noisy-totals.txt")).unwrap());
    assert_eq!(fs::read_to_string(at("counts.csv.draws")).unwrap().lines().count(), 1);
    assert!(!at("out.key").exists());
}

/// A release from a pipe is read once: another one is refused where the draw is resumed.
#[cfg(unix)]
#[test]
fn a_release_from_a_pipe_is_identified_by_its_text() {
    let folder = prepared();
    let draw = |text: &str, limit: &str, more: &str| {
        let line = format!(
            "trap '' XFSZ; ulimit -f {limit}; exec \"$0\" measure --spine spine --counts counts.csv --release <(cat) --out out \
             --insecure-seed 6 {more}"
        );
        let mut child = std::process::Command::new("bash")
            .args(["-c", &line, env!("CARGO_BIN_EXE_assay")])
            .current_dir(folder.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    refused(&draw(&release_text(), "1", ""));
    // The same budget, differently divided among the queries.
    let other = release_text().replacen("proportion = \"1/2\"", "proportion = \"2/5\"", 1);
    let other = other.replacen("proportion = \"1/4\"", "proportion = \"7/20\"", 1);
    let why = refused(&draw(&other, "unlimited", "--resume"));
    assert!(why.contains("another release"), "{why}");
    assert!(draw(&release_text(), "unlimited", "--resume").status.success());
}

fn said_files(manifest: &Path) -> Vec<String> {
    let manifest: Manifest = serde_json::from_str(&fs::read_to_string(manifest).unwrap()).unwrap();
    manifest.files.into_iter().map(|file| file.file).collect()
}

/// A country of three people with the query `total` at two levels, under bounded neighbors: the country's total never changes, and a town's
/// only where there is another one. So two towns have two counts with sigma2 = 2, which is epsilon 4.9174 at 1e-6 (the worst path in full has 7.3274),
/// and one town has none. Without the attributes nothing says that a query has one count: the worst path in full, as an upper bound.
#[test]
fn a_total_changes_only_where_a_record_leaves_its_unit() {
    let folder = tempfile::tempdir().unwrap();
    let head = "name = \"three\"\ntitle = \"t\"\nsource = \"s\"\nneighbors = \"bounded\"\nrho = 1\n";
    let sex = "[[attribute]]\nname = \"sex\"\nvalues = [\"f\", \"m\"]\n";
    let level = |name: &str| {
        format!(
            "[[level]]\nname = \"{name}\"\nproportion = \"1/2\"\nquery = [{{ name = \"total\", proportion = 1 }}]\n"
        )
    };
    let levels = [level("country"), level("town")].concat();
    put(folder.path(), "known.toml", &[head, sex, &levels].concat());
    put(folder.path(), "unknown.toml", &[head, &levels].concat());
    put(folder.path(), "counts.csv", "town,sex,count\nA,f,2\nA,m,1\n");
    let json = |args: &[&str]| -> serde_json::Value {
        let output = assay(folder.path(), &[args, &["--json"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    for (release, towns, lower, upper) in
        [("known", "A\nB\n", 4.917_397, 4.917_398), ("known", "A\n", 0.0, 0.0), ("unknown", "A\nB\n", 0.0, 7.327_356)]
    {
        put(folder.path(), "towns.csv", &format!("town\n{towns}"));
        put(folder.path(), "plan.toml", &format!("release = \"{release}.toml\"\n"));
        let name = format!("{release}-{}", towns.len());
        let (spine, out) = (format!("spine-{name}"), format!("out-{name}"));
        let of_spine = ["spine", "--hierarchy", "towns.csv", "--plan", "plan.toml", "--delta", "1e-6", "--out"];
        let mut found = vec![json(&[&of_spine[..], &[&spine]].concat())];
        if release == "known" {
            let of_measure = ["measure", "--counts", "counts.csv", "--release", "known.toml", "--delta", "1e-6"];
            let more = ["--insecure-seed", "4", "--spine", &spine, "--out", &out];
            found.push(json(&[&of_measure[..], &more].concat()));
        }
        for found in found {
            let ends = ["lower", "upper"].map(|end| found["epsilon"][end].as_f64().unwrap_or_default());
            assert_eq!(found["epsilon"]["lower"].is_null(), release == "unknown");
            assert!(lower <= ends[0] && ends[0] <= ends[1] && ends[1] <= upper + 1e-6, "{name}: {ends:?}");
            assert_eq!(found["worst_paths"].as_array().unwrap().len(), if upper == 0.0 { 0 } else { 2 });
        }
    }
    let spine = ["spine", "--hierarchy", "towns.csv", "--plan", "plan.toml", "--delta", "1e-6", "--out", "again"];
    let text = String::from_utf8(assay(folder.path(), &spine).stdout).unwrap().replace("\n  ", " ");
    assert!(
        text.contains("epsilon at most 7.3273559 at delta 1e-6") && text.contains("an upper bound: the release does"),
        "{text}"
    );
}

/// Where a total may not change, the account is an upper bound: the next smaller noise is not said to be proven too small.
#[test]
fn calibrated_noise_of_a_total_is_enough_and_nothing_is_said_of_less() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name = \"one\"\ntitle = \"t\"\nsource = \"s\"\nneighbors = \"bounded\"\n[[level]]\nname = \"all\"\n\
                [[level.query]]\nname = \"total\"\nsigma2 = 4\n";
    put(folder.path(), "one.toml", text);
    for more in [&[][..], &["--scale-all"]] {
        let args = ["calibrate", "--release", "one.toml", "--epsilon", "3", "--delta", "1e-6"];
        let output = assay(folder.path(), &[&args, more].concat());
        let text = String::from_utf8(output.stdout).unwrap().replace("\n  ", " ");
        assert!(text.contains("by this account, which is an upper bound: a query with a single cell"), "{text}");
        assert!(text.contains("proven to be enough") && !text.contains("proven not to be"), "{text}");
    }
}
