//! Edited person and unit files of fixed width (CEF) with a whole GRF-C: the same truth as from simple files, the geography reduced to
//! blocks that hold a unit, and every broken rule with its file and line.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::common::program::{assay, json, refusal};

const EXAMPLE: &str = "data/examples/safetab";
const HOUSEHOLDS: &str = "data/examples/safetab-h";
/// The 75 columns of a GRF-C, in their order.
const GRF_C: &str = "TABBLKST TABBLKCOU TABTRACTCE TABBLK TABBLKSUFX1 TABBLKSUFX2 TABBLKGRPCE POPDEC HOUSING CURSTATE CURCOUNTY CURTRACTCE \
    CURBLKGRPCE REGIONCE DIVISIONCE STATENS COUNTYNS COUNTYFS COUSUBFP COUSUBNS SUBMCDFP SUBMCDNS ESTATEFP ESTATENS CONCITFP CONCITNS \
    PLACEFP PLACENS PLACEFS AIANNHFP AIANNHCE AIANNHNS AIHHTLI TRIBALSUBFP TRIBALSUBCE TRIBALSUBNS TTRACTCE TBLKGRPCE ANRCFP ANRCNS UACE \
    UATYP UR CD116FP CDCURFP VTDST SLDUST SLDLST ZCTA5CE SDELMLEA SDSECLEA SDUNILEA UGACE PUMA LWBLKTYP INTPTLAT INTPTLON AREALAND \
    AREAWATER AREAWATERINLD AREAWATERCSTL AREAWATERGRLK AREAWATERTSEA CSAFP CBSAFP METDIVFP PCICBSA CNECTAFP NECTAFP NECTADIVFP PCINECTA ACT \
    MEMI NMEMI OIDTABBLK";

fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|row| row.split('|').map(str::to_string).collect()).collect()
}

/// Writes text at a place of a line, numbers right-aligned.
fn put(line: &mut [u8], from: usize, width: usize, text: &str) {
    line[from..from + width].copy_from_slice(format!("{text:>width$}").as_bytes());
}

/// A line of a unit file.
fn unit(id: usize, kind: &str, oid: &str, hhrace: &str, tenure: &str, hht: &str) -> String {
    let mut line = vec![b' '; 76];
    put(&mut line, 0, 1, kind);
    put(&mut line, 1, 9, &id.to_string());
    put(&mut line, 27, 2, hhrace);
    put(&mut line, 29, 1, tenure);
    put(&mut line, 37, 22, oid);
    put(&mut line, 59, 1, hht);
    String::from_utf8(line).unwrap()
}

/// A line of a person file, from the fields of the simple form: sex, age, race codes and ethnicity.
fn person(id: usize, kind: &str, (sex, age): (&str, &str), codes: &[String], cenrace: &str, relation: &str) -> String {
    let mut line = vec![b' '; 91];
    put(&mut line, 0, 1, kind);
    put(&mut line, 1, 9, &id.to_string());
    put(&mut line, 22, 1, sex);
    put(&mut line, 23, 3, age.trim_start_matches('0'));
    if age.trim_start_matches('0').is_empty() {
        put(&mut line, 23, 3, "0");
    }
    put(&mut line, 42, 4, &codes[8]);
    for (place, code) in codes[..8].iter().enumerate() {
        put(&mut line, 48 + 4 * place, 4, if code == "Null" { "" } else { code });
    }
    put(&mut line, 81, 2, cenrace);
    put(&mut line, 85, 2, relation);
    String::from_utf8(line).unwrap()
}

/// The example as edited files, with blocks that hold no unit.
struct World {
    folder: TempDir,
    /// GEOIDs of blocks with a unit.
    inhabited: BTreeSet<String>,
}

impl World {
    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Writes the GRF-C of the example; the identifiers of its blocks.
    fn write_geography(&self) -> BTreeMap<String, String> {
        let columns: Vec<&str> = GRF_C.split_whitespace().collect();
        assert_eq!(columns.len(), 75);
        let mut oids = BTreeMap::new();
        let mut text = columns.join("|") + "\n";
        for (number, block) in rows(&Path::new(EXAMPLE).join("GRF-C.txt")).iter().enumerate() {
            let oid = (2_070_850_000_000_u64 + number as u64).to_string();
            let cell = |column: &&str| match *column {
                "TABBLKST" => block[0].clone(),
                "TABBLKCOU" => block[1].clone(),
                "TABTRACTCE" => block[2].clone(),
                "TABBLK" => block[3].clone(),
                "PLACEFP" => block[4].clone(),
                "AIANNHCE" => block[5].clone(),
                "LWBLKTYP" => "L".to_string(),
                "AREALAND" => "1000".to_string(),
                "OIDTABBLK" => oid.clone(),
                _ => String::new(),
            };
            text += &(columns.iter().map(cell).collect::<Vec<String>>().join("|") + "\n");
            oids.insert(block[..4].concat(), oid);
        }
        self.write("GRF-C.txt", &text);
        oids
    }

    /// From the simple records of persons or of households; each record has its own unit. For households also a child for each, a person in
    /// group quarters, and a vacant unit, none of which is a household.
    fn new(of_households: bool) -> World {
        let world = World { folder: tempfile::tempdir().unwrap(), inhabited: BTreeSet::new() };
        let oids = world.write_geography();
        let (mut units, mut persons): (BTreeMap<String, String>, BTreeMap<String, String>) = Default::default();
        let (file, first) = match of_households {
            false => (format!("{EXAMPLE}/person-records.txt"), 3),
            true => (format!("{HOUSEHOLDS}/household-records.txt"), 0),
        };
        let mut inhabited = BTreeSet::new();
        // Every third block is uninhabited: its records are also omitted from the simple file.
        let left_out: BTreeSet<&String> = oids.keys().step_by(3).collect();
        let mut simple = fs::read_to_string(&file).unwrap().lines().next().unwrap().to_string() + "\n";
        for (id, row) in (100..).zip(rows(Path::new(&file))) {
            let block = row[first..first + 4].concat();
            if left_out.contains(&block) {
                continue;
            }
            simple += &(row.join("|") + "\n");
            inhabited.insert(block.clone());
            let (units, persons) =
                (units.entry(row[first].clone()).or_default(), persons.entry(row[first].clone()).or_default());
            let oid = &oids[&block];
            if of_households {
                // Of the Bureau's seven types, 6 and 7 are women who live without a family.
                let hht = match row[14].as_str() {
                    "4" if id % 2 == 0 => "6",
                    "5" if id % 2 == 0 => "7",
                    other => other,
                };
                *units += &(unit(id, "2", oid, &row[4], &row[15], hht) + "\n");
                *persons += &(person(id, "3", ("1", "040"), &row[5..14], "01", "20") + "\n");
                *persons += &(person(id, "3", ("2", "004"), &row[5..14], "01", "25") + "\n");
                *units += &(unit(id + 5000, "4", oid, "", "0", "0") + "\n");
                *persons += &(person(id + 5000, "5", ("2", "030"), &row[5..14], "01", "37") + "\n");
                *units += &(unit(id + 9000, "2", oid, "", "0", "0") + "\n");
            } else {
                let (kind, relation) = if row[2] == "True" { ("2", "20") } else { ("4", "38") };
                *units += &(unit(id, kind, oid, "", "0", "0") + "\n");
                let of = if kind == "2" { "3" } else { "5" };
                *persons += &(person(id, of, (&row[1], &row[0]), &row[8..17], &row[7], relation) + "\n");
            }
        }
        world.write("simple.txt", &simple);
        for (state, text) in units {
            world.write(&format!("CEF20_UNIT_{state}.txt"), &text);
        }
        for (state, text) in persons {
            world.write(&format!("CEF20_PER_{state}.txt"), &text);
        }
        World { inhabited, ..world }
    }

    /// The arguments of a command on these records, edited or simple.
    fn args(&self, command: &str, of_households: bool, edited: bool, more: &[&str]) -> Vec<String> {
        let (config, records) = if of_households { (HOUSEHOLDS, "--households") } else { (EXAMPLE, "--persons") };
        let folder = self.folder.path().display().to_string();
        let mut all = vec![command.to_string(), "--config".to_string(), format!("{config}/config.json")];
        all.extend(["--spec".to_string(), EXAMPLE.to_string(), "--geography".to_string(), self.path("GRF-C.txt")]);
        match edited {
            true => all.extend([records.to_string(), folder.clone(), "--units".to_string(), folder]),
            false => all.extend([records.to_string(), self.path("simple.txt")]),
        }
        if of_households {
            all.extend(["--totals".to_string(), format!("{HOUSEHOLDS}/pop-group-totals.txt")]);
        }
        all.into_iter().chain(more.iter().map(|word| word.to_string())).collect()
    }

    fn refusal(&self, of_households: bool) -> String {
        let args = self.args("tabulate", of_households, true, &["--check"]);
        refusal(&args.iter().map(String::as_str).collect::<Vec<&str>>())
    }
}

fn words(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

/// Every file below a folder except the page, which names its command.
fn files(folder: &Path, below: &str) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder.join(below)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(folder).unwrap().to_path_buf();
        match path.is_dir() {
            true => found.extend(files(folder, name.to_str().unwrap())),
            false if name.ends_with("rehearsal.html") => {}
            false => drop(found.insert(name, fs::read_to_string(path).unwrap())),
        }
    }
    found
}

#[test]
fn edited_files_have_the_truth_of_the_simple_ones() {
    for of_households in [false, true] {
        let world = World::new(of_households);
        let run = |out: &str, edited: bool, more: &[&str]| {
            let out = world.path(out);
            let more = [&["--trials", "2", "--insecure-seed", "3", "--out", &out], more].concat();
            let args = world.args("rehearse", of_households, edited, &more);
            let answer = json(&words(&args));
            assert!(answer["records"].as_u64().unwrap() > 100 && answer["holds"] == true);
            files(Path::new(&out), "")
        };
        let simple = run("simple", false, &[]);
        assert!(run("all", true, &["--all-blocks"]) == simple, "households: {of_households}");
        // If reduced, there is no group of a tract without a unit, and the other groups have the same truth.
        let cut = run("cut", true, &[]);
        let name = Path::new(if of_households { "truth/t3/T03001/us.csv" } else { "truth/t1/us.csv" });
        let tracts = |files: &BTreeMap<PathBuf, String>| -> BTreeSet<String> {
            let rows = files[name].lines().filter(|row| row.contains("|TRACT|"));
            rows.map(|row| row.split('|').next().unwrap().to_string()).collect()
        };
        let inhabited: BTreeSet<&str> = world.inhabited.iter().map(|block| &block[..11]).collect();
        assert!(tracts(&cut).iter().all(|tract| inhabited.contains(tract.as_str())), "{:?}", tracts(&cut));
    }
}

#[test]
fn the_certificate_says_that_the_geography_is_cut() {
    let world = World::new(false);
    let dry = |more: &[&str]| json(&words(&world.args("tabulate", false, true, &[&["--dry-run"], more].concat())));
    let groups = |answer: &serde_json::Value| -> u64 {
        let levels = answer["passes"].as_array().unwrap().iter().flat_map(|pass| pass["levels"].as_array().unwrap());
        levels.map(|level| level["regions"].as_u64().unwrap() * level["iterations"].as_u64().unwrap()).sum()
    };
    let (cut, whole) = (dry(&[]), dry(&["--all-blocks"]));
    assert!(cut["blocks"].as_str().unwrap().contains("cut to blocks that hold a unit"), "{}", cut["blocks"]);
    assert!(whole["blocks"].as_str().unwrap().contains("all blocks"));
    assert!(groups(&cut) <= groups(&whole));
    // The same groups as those of a GRF-C that has only these blocks.
    let text = world.text("GRF-C.txt");
    let kept = text.lines().filter(|row| {
        let block = row.split('|').take(4).collect::<Vec<&str>>().concat();
        row.starts_with("TABBLKST") || world.inhabited.contains(&block)
    });
    world.write("GRF-C.txt", &kept.map(|row| format!("{row}\n")).collect::<String>());
    let own = json(&words(&world.args("tabulate", false, false, &["--dry-run"])));
    assert_eq!(groups(&own), groups(&cut));
    let checked = words(&world.args("tabulate", false, true, &["--check"])).join(" ");
    assert!(checked.contains("--units"));
    let output = assay(&words(&world.args("tabulate", false, true, &["--check"]))).assert().success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    assert!(text.contains("No rule is broken in"), "{text}");
}

#[test]
fn every_broken_rule_is_reported_with_its_file_and_line() {
    for of_households in [false, true] {
        let world = World::new(of_households);
        let spoil = |name: &str, change: &dyn Fn(&mut Vec<String>), expected: &[&str]| {
            let text = world.text(name);
            let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
            change(&mut lines);
            world.write(name, &lines.iter().map(|line| format!("{line}\n")).collect::<String>());
            let message = world.refusal(of_households);
            world.write(name, &text);
            for part in expected {
                assert!(message.contains(part), "{name}, {part}: {message}");
            }
        };
        let (per, unit) = ("CEF20_PER_01.txt", "CEF20_UNIT_01.txt");
        spoil(
            per,
            &|lines| lines[2].truncate(90),
            &[per, "wrong length of a line", "line 3, ", "91 characters", "has 90"],
        );
        spoil(
            unit,
            &|lines| lines[1].push(' '),
            &[unit, "wrong length of a line", "line 2, ", "76 characters", "has 77"],
        );
        spoil(
            per,
            &|lines| lines[0].replace_range(1..10, "999999999"),
            &[per, "MAFID: unknown unit", "line 1, column 2"],
        );
        spoil(unit, &|lines| lines.push(lines[0].clone()), &[unit, "MAFID: given twice", "every unit once"]);
        spoil(unit, &|lines| lines[3].replace_range(57..59, "xx"), &[unit, "OIDTB", "line 4, column 38"]);
        spoil(
            unit,
            &|lines| lines[3].replace_range(37..59, &format!("{:>22}", 7)),
            &[unit, "OIDTB: unknown block", "line 4"],
        );
        spoil(unit, &|lines| lines[0].replace_range(0..1, "3"), &[unit, "RTYPE", "line 1, column 1", "group quarters"]);
        spoil(unit, &|lines| lines[0].replace_range(59..60, "8"), &[unit, "HHT", "0 to 7"]);
        // For households, line 1 is a householder; codes are checked only if a record is made from a line.
        spoil(
            per,
            &|lines| lines[0].replace_range(48..52, "8999"),
            &[per, "QRACE1: unknown code", "line 1, column 49"],
        );
        spoil(
            per,
            &|lines| lines[0].replace_range(52..60, "    1010"),
            &[per, "QRACE3: code after a Null", "column 57"],
        );
        spoil(per, &|lines| lines[1].replace_range(85..87, "39"), &[per, "RELSHIP", "line 2, column 86", "20 to 38"]);
        spoil(per, &|lines| lines[1].replace_range(0..1, "2"), &[per, "RTYPE", "line 2, column 1"]);
        if of_households {
            spoil(per, &|lines| lines[1].replace_range(85..87, "20"), &[per, "one person with RELSHIP 20"]);
            spoil(per, &|lines| lines[0].replace_range(85..87, "21"), &[unit, "householder", "1 units without one"]);
            spoil(unit, &|lines| lines[0].replace_range(29..30, "0"), &[per, "TEN", "1 to 4"]);
            spoil(unit, &|lines| lines[0].replace_range(27..29, "  "), &[per, "HHRACE", "01 to 63"]);
        } else {
            spoil(per, &|lines| lines[0].replace_range(23..26, "116"), &[per, "QAGE", "line 1, column 24"]);
            spoil(per, &|lines| lines[0].replace_range(22..23, "3"), &[per, "QSEX", "line 1, column 23"]);
        }
        // A GRF-C without ids of blocks, and a state without units.
        let text = world.text("GRF-C.txt");
        world.write("GRF-C.txt", &text.replace("OIDTABBLK", "OIDOTHER"));
        assert!(world.refusal(of_households).contains("the heading OIDTABBLK has to be there"));
        world.write("GRF-C.txt", &text);
        fs::remove_file(world.path(unit)).unwrap();
        let message = world.refusal(of_households);
        assert!(
            message.contains("a unit file of each state of the person files: 01, 02") && message.contains("CEF20_UNIT"),
            "{message}"
        );
    }
}

#[test]
fn a_release_from_edited_files_is_that_of_the_simple_ones() {
    for of_households in [false, true] {
        let world = World::new(of_households);
        let run = |out: &str, edited: bool, more: &[&str]| {
            let out = world.path(out);
            let args = world.args(
                "tabulate",
                of_households,
                edited,
                &[&["--insecure-seed", "3", "--out", &out], more].concat(),
            );
            let answer = json(&words(&args));
            (answer, files(Path::new(&out), ""))
        };
        let tables = |files: BTreeMap<PathBuf, String>| -> BTreeMap<PathBuf, String> {
            files
                .into_iter()
                .filter(|(name, _)| {
                    name.starts_with("t1") || name.starts_with("t2") || name.starts_with("t3") || name.starts_with("t4")
                })
                .collect()
        };
        let (_, simple) = run("simple", false, &[]);
        let (certificate, all) = run("all", true, &["--all-blocks"]);
        assert!(tables(simple) == tables(all) && certificate["blocks"].as_str().unwrap().contains("all blocks"));
        let (certificate, _) = run("cut", true, &[]);
        assert!(certificate["blocks"].as_str().unwrap().contains("cut to blocks"));
        // No record is left beside the release.
        let left = fs::read_dir(world.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(left.into_iter().all(|name| !name.to_string_lossy().contains(".part")));
    }
}
