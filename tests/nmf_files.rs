//! `assay nmf` and `assay measure --format nmf` from outside, on the bundled example: answers, errors, and no
//! partial files.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::common::{
    estimates,
    nmf_desk::Desk,
    program::{assay, json, refusal},
};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/examples/nmf")
}

fn product() -> String {
    example().join("US_Person_PL_PROD").display().to_string()
}

const RELEASE: [&str; 2] = ["--release", "pl94-persons-us"];

/// Runs an estimate into a file and reads it.
fn estimated(folder: &Path, nmf: &str, name: &str, options: &[&str]) -> String {
    let out = folder.join(name).display().to_string();
    assay(&[&["nmf", "estimate", nmf, "--out", &out][..], &RELEASE, options].concat()).assert().success();
    fs::read_to_string(out).unwrap()
}

/// Estimates and variances of rows, by subject.
fn rows_of(text: &str) -> BTreeMap<String, (f64, f64)> {
    let about = if text.starts_with("area") { &["area", "query", "cell"][..] } else { &UNIT };
    let row = |row: &estimates::Row| (row.key(about), (row.number("estimate"), row.number("variance")));
    estimates::rows(text).iter().map(row).collect()
}

const UNIT: [&str; 5] = ["level", "geocode", "geoid", "query", "cell"];

/// A copy of the example that may be damaged.
fn copied(folder: &Path) -> PathBuf {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            let target = to.join(entry.file_name());
            if entry.path().is_dir() {
                copy(&entry.path(), &target)
            } else {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
    let to = folder.join("US_Person_PL_PROD");
    copy(&example().join("US_Person_PL_PROD"), &to);
    to
}

/// The only Parquet file in a folder of the product.
fn file(product: &Path, folder: &str) -> PathBuf {
    let entries = fs::read_dir(product.join(folder)).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|path| path.extension().is_some_and(|end| end == "parquet")).unwrap()
}

#[test]
fn a_folder_that_fits_is_certified() {
    let report = json(&[&["nmf", "check", &product()][..], &RELEASE].concat());
    let levels = report["levels"].as_array().unwrap();
    assert_eq!(levels.iter().map(|level| level["name"].as_str().unwrap()).collect::<Vec<_>>()[..2], ["US", "State"]);
    assert!(levels.iter().any(|level| level["measured"].as_u64() < level["units"].as_u64()), "bypassed units");
    assert_eq!(report["parts"], serde_json::json!(["009", "044", "144"]));
    let blocks: u64 = report["paths"].as_array().unwrap().iter().map(|path| path["blocks"].as_u64().unwrap()).sum();
    assert_eq!(blocks, levels.last().unwrap()["units"].as_u64().unwrap());
    // Every pair of paths of the release spends at most as much as its worst pair.
    let all = json(&["epsilon", "--release", "pl94-persons-us", "--delta", "1e-10", "--digits", "8"]);
    let (own, most) = (report["epsilon"]["upper"].as_f64().unwrap(), all["epsilon"]["upper"].as_f64().unwrap());
    assert!(own > 10.0 && own <= most * 1.000_000_1, "{own} {most}");
}

#[test]
fn estimates_add_up_and_keep_what_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let totals = example().join("state-totals.csv").display().to_string();
    let levels = ["--level", "US", "State", "County", "Tract", "Block_Group", "Block"];
    let queries = ["--queries", "all"];
    let options = [&["--state-totals", &totals][..], &levels, &queries].concat();
    let with = rows_of(&estimated(folder.path(), &product(), "with.csv", &options));
    let none = [&["--constraints", "none"][..], &levels, &queries].concat();
    let without = rows_of(&estimated(folder.path(), &product(), "without.csv", &none));
    assert_eq!(with.len(), without.len());
    // Exact totals add information about everything, so they never increase a variance.
    assert!(with.iter().all(|(key, (_, variance))| *variance <= without[key].1 * (1.0 + 1e-9)));
    let sum = |rows: &BTreeMap<String, (f64, f64)>, start: &str, end: &str| {
        let of = rows.iter().filter(|(key, _)| key.starts_with(start) && key.ends_with(end));
        of.map(|(_, (estimate, _))| estimate).sum::<f64>()
    };
    for (state, total) in fs::read_to_string(&totals).unwrap().lines().skip(1).map(|line| line.split_once(',').unwrap())
    {
        let parts = ["State,0", "State,1"].map(|part| sum(&with, &format!("{part}{state}"), "total,0"));
        assert!((parts[0] + parts[1] - total.parse::<f64>().unwrap()).abs() < 1e-6, "{state}: {parts:?}");
    }
    let nation = with["US,,,total,0"];
    assert!(nation.1 == 0.0 && without["US,,,total,0"].1 > 0.0);
    for rows in [&with, &without] {
        let nation = rows["US,,,total,0"].0;
        for level in ["State,", "County,", "Tract,", "Block_Group,", "Block,"] {
            for end in ["total,0", "hhinstlevels,0"] {
                let whole = rows[&format!("US,,,{end}")].0;
                assert!((sum(rows, level, end) - whole).abs() < 1e-5, "{level} {end}");
            }
        }
        let detailed: f64 = (0..2016).map(|cell| rows[&format!("US,,,detailed,{cell}")].0).sum();
        assert!((detailed - nation).abs() < 1e-6);
    }
}

#[test]
fn areas_are_units_where_they_are_units_and_both_parts_of_a_state_are_one() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, options: &[&str]| rows_of(&estimated(folder.path(), &product(), name, options));
    let counties = run("counties.csv", &["--tabulation", "County", "--queries", "hhinstlevels", "total"]);
    let towns = example().join("towns.csv").display().to_string();
    let towns = run("towns.csv", &["--areas", &towns, "--queries", "hhinstlevels", "total"]);
    // Millbridge is the county 44003, which both parts of the state contain.
    for cell in ["hhinstlevels,0", "hhinstlevels,1", "hhinstlevels,2", "total,0"] {
        let (town, county) = (towns[&format!("Millbridge,{cell}")], counties[&format!("44003,{cell}")]);
        assert!((town.0 - county.0).abs() < 1e-9 && (town.1 - county.1).abs() < 1e-9 * county.1, "{cell}");
    }
    let truth: f64 = fs::read_to_string(example().join("counts.csv"))
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("44003"))
        .map(|line| line.rsplit(',').next().unwrap().parse::<f64>().unwrap())
        .sum();
    let (estimate, variance) = towns["Millbridge,total,0"];
    assert!((estimate - truth).abs() < 4.0 * variance.sqrt(), "{estimate} for {truth}, variance {variance}");
}

#[test]
fn the_bureaus_form_and_parquet_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let bureau = estimated(folder.path(), &product(), "bureau.csv", &["--format", "bureau"]);
    assert!(bureau.starts_with("geocode|query|estimate|std_dev|query_description\n"));
    let lines: Vec<Vec<&str>> = bureau.lines().skip(1).map(|line| line.split('|').collect()).collect();
    assert_eq!(lines.len() % 298, 0, "298 lines of five tables for each area");
    let get = |geocode: &str, query: &str| -> f64 {
        let line = lines.iter().find(|line| line[0] == geocode && line[1] == query).unwrap();
        line[2].parse().unwrap()
    };
    for geocode in ["44", "09", "44003", "44001000200"] {
        // One race and two or more; Hispanic or not; the seven types of group quarters.
        assert!((get(geocode, "P0010002") + get(geocode, "P0010009") - get(geocode, "P0010001")).abs() < 1e-6);
        assert!((get(geocode, "P0020002") + get(geocode, "P0020003") - get(geocode, "P0010001")).abs() < 1e-6);
        let types: f64 = ["P0050003", "P0050004", "P0050005", "P0050006", "P0050008", "P0050009", "P0050010"]
            .iter()
            .map(|query| get(geocode, query))
            .sum();
        assert!((types - get(geocode, "P0050001")).abs() < 1e-6);
        assert!(get(geocode, "P0030001") < get(geocode, "P0010001"));
    }
    let path = |name: &str| folder.path().join(name).display().to_string();
    let same = json(&["nmf", "compare", &path("bureau.csv"), &path("bureau.csv")]);
    assert_eq!((same["rows"].as_u64(), same["z_beyond_margin"].as_u64()), (Some(lines.len() as u64), Some(0)));
    estimated(folder.path(), &product(), "none.csv", &["--format", "bureau", "--constraints", "none"]);
    let other = json(&["nmf", "compare", &path("none.csv"), &path("bureau.csv")]);
    assert!(other["z_mean_square"].as_f64().unwrap() < 1.0 && other["only_first"] == 0 && other["only_second"] == 0);
    assay(&[&["nmf", "estimate", &product(), "--out", &path("t.parquet"), "--level", "Tract"][..], &RELEASE].concat())
        .assert()
        .success();
    let bytes = fs::read(path("t.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let message = refusal(&["nmf", "compare", &path("bureau.csv"), &example().join("towns.csv").display().to_string()]);
    assert!(message.contains("unknown column \"query\""), "{message}");
}

#[test]
fn a_repeated_draw_is_the_bundled_example() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let own = |name: &str| example().join(name).display().to_string();
    let (blocks, plan, counts, spine, out) =
        (own("blocks.csv"), own("plan.toml"), own("counts.csv"), path("spine"), path("product"));
    assay(&["spine", "--blocks", &blocks, "--plan", &plan, "--out", &spine]).assert().success();
    let draw = ["measure", "--spine", &spine, "--counts", &counts, "--format", "nmf", "--out", &out];
    let drawn = json(&[&draw[..], &RELEASE, &["--insecure-seed", "2020"]].concat());
    let drawn_file = file(Path::new(&out), "Block.parquet/DPQuery/State=044");
    let bundled = file(&example().join("US_Person_PL_PROD"), "Block.parquet/DPQuery/State=044");
    assert!(fs::read(drawn_file).unwrap() == fs::read(bundled).unwrap());
    // The files certify what was announced before the draw, as an upper bound: without the places of the records it is not known that the
    // nation's total never changes.
    let checked = json(&[&["nmf", "check", &out][..], &RELEASE].concat());
    let [lower, upper] = ["lower", "upper"].map(|end| drawn["epsilon"][end].as_f64().unwrap());
    assert!(lower <= upper && upper < checked["epsilon"]["lower"].as_f64().unwrap(), "{drawn} {checked}");
    assert_eq!(checked["epsilon_is"], "at most");
    let counted: u64 = checked["levels"].as_array().unwrap().iter().map(|l| l["noisy_counts"].as_u64().unwrap()).sum();
    assert_eq!(drawn["noisy_counts"].as_u64(), Some(counted));
}

/// `--format` is the format of the answer, `--files` that of the files; `--format nmf` and `bureau` also name file formats.
#[test]
fn answers_and_files_have_forms_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let own = |name: &str| example().join(name).display().to_string();
    let (blocks, plan, counts, spine) = (own("blocks.csv"), own("plan.toml"), path("counts.csv"), path("spine"));
    // A draw keeps a log beside the records.
    fs::copy(own("counts.csv"), &counts).unwrap();
    assay(&["spine", "--blocks", &blocks, "--plan", &plan, "--out", &spine]).assert().success();
    let printed = |args: &[&str]| {
        let output = assay(&[args, &RELEASE].concat()).assert().success().get_output().stdout.clone();
        String::from_utf8(output).unwrap()
    };
    let (product, drawn, out) = (product(), path("drawn"), path("out.csv"));
    let measure = |out: &str, more: &[&str]| {
        // Each draw from the same records counts the earlier ones as spent.
        printed(&[&["measure", "--spine", &spine, "--counts", &counts, "--out", out, "--discard"], more].concat())
    };
    let estimate =
        |more: &[&str]| printed(&[&["nmf", "estimate", &product, "--truth", &counts, "--out", &out], more].concat());
    let rehearse = |more: &[&str]| {
        let both = ["estimate", "--spine", &spine, "--measurements", &drawn, "--out", &path(&format!("e{}", more[1]))];
        printed(&[&both[..], more].concat())
    };
    measure(&drawn, &[]);
    assert!(Path::new(&drawn).join("measurements.json").exists());
    for (form, sign) in [("csv", ","), ("md", "| ---: |"), ("latex", "\\begin{tabular}"), ("json", "{")] {
        let name = path(form);
        let forms = [measure(&name, &["--format", form]), estimate(&["--format", form]), rehearse(&["--format", form])];
        for text in forms {
            assert!(text.contains(sign) && text.lines().count() > 1, "{form}: {text}");
            assert!(form != "json" || serde_json::from_str::<serde_json::Value>(&text).unwrap().is_object());
            let rows = csv::Reader::from_reader(text.as_bytes()).into_records();
            assert!(form != "csv" || rows.filter(|row| row.is_ok()).count() == text.lines().count() - 1, "{text}");
        }
        assert!(!Path::new(&name).join("nmf.json").exists(), "{form} is the form of the answer");
    }
    let as_files = path("files");
    assert!(measure(&as_files, &["--files", "nmf", "--format", "md"]).contains("| ---: |"));
    assert!(file(Path::new(&as_files), "Block.parquet/DPQuery/State=044").exists());
    estimate(&["--files", "bureau", "--format", "csv"]);
    assert!(fs::read_to_string(&out).unwrap().starts_with("geocode|query|"));
    let both = ["--files", "csv", "--format", "bureau"];
    let refused = refusal(&[&["nmf", "estimate", &product, "--out", &out][..], &RELEASE, &both].concat());
    assert!(refused.contains("--files"), "{refused}");
    let both = ["--json", "--format", "md"];
    let refused = refusal(&[&["nmf", "estimate", &product, "--out", &out][..], &RELEASE, &both].concat());
    assert!(refused.contains("--json"), "{refused}");
}

#[test]
fn damaged_folders_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let nmf = copied(folder.path());
    let shown = nmf.display().to_string();
    let out = folder.path().join("out.csv");
    let refused = |options: &[&str]| {
        let out = out.display().to_string();
        let message = refusal(&[&["nmf", "estimate", &shown, "--out", &out][..], &RELEASE, options].concat());
        assert!(
            !Path::new(&out).exists() && fs::read_dir(folder.path()).unwrap().count() == 1,
            "half written: {message}"
        );
        message
    };
    let says = |message: String, words: &[&str]| {
        words.iter().for_each(|word| assert!(message.contains(word), "{word}: {message}"))
    };
    says(refused(&["--queries", "nosuch"]), &["nosuch", "hhgq"]);
    says(refused(&["--level", "Moon"]), &["Moon", "Tract"]);
    says(refused(&["--states", "45"]), &["45", "44"]);
    says(refused(&["--tabulation", "Prim"]), &["--tabulation", "County"]);
    // Options that do not go together say why, and what would be right.
    says(
        refused(&["--level", "State", "--difference", "44,25"]),
        &["--level State", "--difference is of areas", "--tabulation State"],
    );
    says(refused(&["--level", "State", "--rank", "total"]), &["--rank is of areas", "in place of --level"]);
    says(refused(&["--level", "State", "--tabulation", "County"]), &["--tabulation County", "give one of both"]);
    says(refused(&["--level", "State", "--areas", "nosuch.csv"]), &["--level", "--areas", "leave out --level"]);
    says(refused(&["--queries", "P1_001N"]), &["P1_001N is a census variable", "--variables P1_001N"]);
    says(refused(&["--queries", "nosuch", "PCT12"]), &["nosuch"]);
    let block = file(&nmf, "Block.parquet/DPQuery/State=044");
    let whole = fs::read(&block).unwrap();
    // Truncated, empty, and not Parquet.
    for bytes in [&whole[..whole.len() / 2], &whole[..4], b"", b"geocode,value\n"] {
        fs::write(&block, bytes).unwrap();
        says(refused(&[]), &["part-00000-block"]);
    }
    fs::write(&block, &whole).unwrap();
    // The same rows twice.
    let again = block.with_file_name("part-00001-block.snappy.parquet");
    fs::write(&again, &whole).unwrap();
    says(refused(&[]), &["twice", "row group 0", "geocode 044"]);
    fs::remove_file(&again).unwrap();
    // The rows of another part, and of another level.
    let other = fs::read(file(&nmf, "Block.parquet/DPQuery/State=009")).unwrap();
    fs::write(&block, other).unwrap();
    says(refused(&[]), &["geocode 009", "another part"]);
    fs::write(&block, fs::read(file(&nmf, "Tract.parquet/DPQuery/State=044")).unwrap()).unwrap();
    says(refused(&[]), &["geocode 044", "Constraint"]);
    // A level without counts whose share no unit above carries; a level without constraints has no units.
    fs::remove_file(&block).unwrap();
    says(refused(&[]), &["of the budget is found", "Block has no noisy counts", "Block.parquet/DPQuery/State=044"]);
    // Without counts, sibling blocks cannot be separated.
    says(refused(&["--incomplete"]), &["Block", "cannot be separated"]);
    fs::write(&block, &whole).unwrap();
    let tracts = file(&nmf, "Tract.parquet/Constraint/State=044");
    let kept = fs::read(&tracts).unwrap();
    fs::remove_file(&tracts).unwrap();
    says(refused(&[]), &["Tract", "044"]);
    // Tracts of another part, so blocks have no parents.
    fs::write(&tracts, fs::read(file(&nmf, "Tract.parquet/Constraint/State=009")).unwrap()).unwrap();
    says(refused(&[]), &["geocode", "009"]);
    fs::write(&tracts, kept).unwrap();
    // Contradictory totals, and areas of blocks that do not exist.
    let table = folder.path().join("US_Person_PL_PROD/totals.csv");
    fs::write(&table, "state,total\n44,1\n09,1\n").unwrap();
    says(refused(&["--state-totals", table.to_str().unwrap()]), &["the exact total of the nation"]);
    fs::write(&table, "area,block\nx,440010001001001\nx,440010901009999\n").unwrap();
    says(refused(&["--areas", table.to_str().unwrap()]), &["440010901009999 (line 3, area \"x\")"]);
    fs::write(&table, "area,block\nx,440010001001001\nx,440010001001001\n").unwrap();
    says(refused(&["--areas", table.to_str().unwrap()]), &["twice"]);
    fs::remove_file(&table).unwrap();
    // Another release has other variances.
    let release = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/releases/pl94-persons-us.toml");
    let text = fs::read_to_string(release).unwrap().replace("rho = \"293764/114921\"", "rho = \"3\"");
    let changed = nmf.join("release.toml");
    fs::write(&changed, text).unwrap();
    let out = out.display().to_string();
    for command in [&["nmf", "estimate", &shown, "--out", &out][..], &["nmf", "check", &shown]] {
        says(refusal(&[command, &["--release", changed.to_str().unwrap()]].concat()), &["variance", "the release has"]);
    }
}

#[test]
fn estimates_of_the_old_form_of_the_command_are_the_same_bytes() {
    let desk = Desk::new();
    let options = ["--variables", "P1_001N,P2_002N", "--tabulation", "County", "--covariance", "cov.csv", "--json"];
    let run = |words: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let words = [words, &["--release", desk.release, "--out", "out.csv"], &options].concat();
        let said = assay(&words).current_dir(folder.path()).assert().success().get_output().stdout.clone();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let said = String::from_utf8(said).unwrap() + &read("out.csv.provenance.json");
        // The command line, word by word.
        let said: String = said.split_whitespace().filter(|word| !["\"--nmf\",", "\"nmf\","].contains(word)).collect();
        [said, read("out.csv"), read("cov.csv")]
    };
    assert_eq!(run(&["estimate", "--nmf", &desk.nmf]), run(&["nmf", "estimate", &desk.nmf]));
    // An error begins with the option that names the folder, if there is one.
    let refused = |words: &[&str]| refusal(&[words, &RELEASE, &["--out", "out.csv"]].concat());
    let (old, new) = (refused(&["estimate", "--nmf", "nosuch"]), refused(&["nmf", "estimate", "nosuch"]));
    assert_eq!(old.replacen("--nmf: ", "", 1), new);
}

#[test]
fn a_rehearsal_says_how_large_the_errors_are() {
    let folder = tempfile::tempdir().unwrap();
    let (out, truth) = (folder.path().join("out.csv"), example().join("counts.csv"));
    let (out, truth) = (out.display().to_string(), truth.display().to_string());
    let options = ["nmf", "estimate", &product(), "--out", &out, "--truth", &truth, "--queries", "all"];
    let levels = ["--level", "US", "State", "County", "Tract", "Block_Group", "Block"];
    let answer = json(&[&options[..], &RELEASE, &levels].concat());
    let rows = answer["errors"].as_array().unwrap();
    assert_eq!(rows.len(), 6 * 11);
    let row = |level: &str, query: &str| {
        rows.iter().find(|row| row["level"] == level && row["query"] == query).unwrap().clone()
    };
    // The exact total of the nation is the true value, and tens of thousands of margins cover as often as stated.
    let nation = row("US", "total");
    assert!(nation["mean_absolute_error"].as_f64().unwrap() < 1e-6 && nation["coverage_95"].is_null(), "{nation}");
    for level in ["Tract", "Block_Group", "Block"] {
        let detailed = row(level, "detailed");
        let coverage = detailed["coverage_95"].as_f64().unwrap();
        assert!((coverage - 0.95).abs() < 0.015, "{level}: {coverage}");
        let (error, deviation) = (&detailed["mean_absolute_error"], &detailed["mean_std_dev"]);
        // For normal errors the mean absolute error is sqrt(2 / pi) = 0.798 standard deviations.
        let ratio = error.as_f64().unwrap() / deviation.as_f64().unwrap();
        assert!((ratio - 0.798).abs() < 0.03, "{level}: {ratio}");
    }
    assert!(rows.iter().all(|row| row["wrong_exact"] == 0));
    let message =
        refusal(&[&["measure", "--spine", "x", "--counts", "y", "--format", "z", "--out", "w"][..], &RELEASE].concat());
    assert!(message.contains("nmf"), "{message}");
}

/// Corrupted bytes anywhere in a file, more of them near its end: the file is read or refused by name, without a panic or output.
#[test]
fn damaged_bytes_are_errors_or_other_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let axes = ["hhgq", "votingage", "hispanic", "cenrace"].map(String::from);
    let (mut read, mut refused, mut caught) = (0, 0, 0);
    let mut given_up = None;
    // The reader's own panics would be printed, although they are caught.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for (level, kind) in [("Tract", "DPQuery/State=009"), ("Block", "Constraint/State=144"), ("US", "DPQuery")] {
        let whole = fs::read(file(&example().join("US_Person_PL_PROD"), &format!("{level}.parquet/{kind}"))).unwrap();
        let path = folder.path().join("damaged.parquet");
        let footer = whole.len().saturating_sub(2500);
        for at in (0..whole.len()).filter(|at| at % 29 == 0 || (*at > footer && at % 5 == 0)) {
            for mask in [0xff, 0x10] {
                let mut bytes = whole.clone();
                bytes[at] ^= mask;
                fs::write(&path, &bytes).unwrap();
                let mut values = 0;
                let outcome = dp_assay::topdown::nmf::rows::read(&path, &axes, |row| {
                    values += row.values.len();
                    Ok(())
                });
                match outcome {
                    Ok(()) => read += 1,
                    Err(why) => {
                        let why = why.to_string();
                        assert!(why.contains("damaged.parquet"), "{why}");
                        refused += 1;
                        if why.contains("gave up") {
                            caught += 1;
                            given_up.get_or_insert((bytes, why));
                        }
                    }
                }
            }
        }
    }
    std::panic::set_hook(hook);
    println!("{read} read, {refused} refused, {caught} of these because the reader gave up");
    assert!(read > 100 && refused > 100, "{read} {refused} {caught}");
    // From outside, on a file that makes the reader give up, if there is one.
    if let Some((bytes, why)) = given_up {
        let nmf = copied(folder.path());
        fs::write(file(&nmf, "Tract.parquet/DPQuery/State=009"), bytes).unwrap();
        let out = folder.path().join("out.csv").display().to_string();
        let shown = nmf.display().to_string();
        let message = refusal(&[&["nmf", "estimate", &shown, "--out", &out][..], &RELEASE].concat());
        assert!(message.contains("Tract.parquet") && !Path::new(&out).exists(), "{message} {why}");
    }
}

#[test]
fn a_chart_shows_the_lowest_units_and_what_was_published() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (svg, published) = (at("tracts.svg"), at("published.csv"));
    fs::write(&published, "geoid,count\n09001000100,560\n44001000200,1097\n").unwrap();
    let nmf = example().display().to_string();
    let options = ["--tabulation", "County", "Tract", "--svg", &svg, "--published", &published];
    estimated(folder.path(), &nmf, "out.csv", &options);
    let text = fs::read_to_string(&svg).unwrap();
    // Tracts, without the counties above them.
    assert!(text.contains("44003000200") && text.contains("published") && !text.contains(">\n44003\n"), "{text}");
    assert!(fs::read_to_string(at("tracts.svg.provenance.json")).unwrap().contains("--published"));
    estimated(folder.path(), &nmf, "units.csv", &["--level", "State", "County", "--svg", &svg]);
    let text = fs::read_to_string(&svg).unwrap();
    assert!(text.contains("044100031") && !text.contains("published"));
    let refused = |more: &[&str]| {
        let out = at("no.csv");
        refusal(&[&["nmf", "estimate", &nmf, "--out", &out][..], &RELEASE, more].concat())
    };
    assert!(refused(&["--published", &published]).contains("--svg"));
    fs::write(&published, "geoid,count\n09,2\n1400000US09,3\n").unwrap();
    assert!(refused(&["--svg", &svg, "--published", &published]).contains("occurs twice"));
}
