//! Options of a plan besides the defaults of production: Puerto Rico, a GRF-C, and others.

use std::{fs, path::Path};

use dp_assay::spine::{
    blocks::{Blocks, EntityKind},
    optimize::{self, Entities, SpineSettings},
};

use crate::common::in_folder::{done, refusal};

fn put(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
}

fn rows(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.records().map(|record| record.unwrap().iter().map(String::from).collect()).collect()
}

/// Blocks of a state: two counties with two tracts each, in places, and an American Indian area across both counties.
fn blocks(state: &str) -> String {
    let mut text = "block,place,aian,mcd\n".to_string();
    for (county, tract) in [("001", "000100"), ("001", "000200"), ("003", "000100"), ("003", "000200")] {
        for block in 0..8 {
            let (group, number) = (1 + block / 4, block % 4);
            let area = if tract == "000200" && block < 2 { "0100" } else { "9999" };
            let place = if block % 2 == 0 { "10000" } else { "99999" };
            text += &format!("{state}{county}{tract}{group}00{number},{place},{area},99999\n");
        }
    }
    text
}

/// The units of a level, as GEOIDs.
fn units(folder: &Path, spine: &str, level: &str) -> Vec<String> {
    let all = rows(&folder.join(spine).join("units.csv"));
    all.into_iter().filter(|row| row[0] == level).map(|row| row[7].clone()).collect()
}

#[test]
fn a_grf_c_is_read_as_a_file_of_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = blocks("44");
    let mut grf = "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE|COUSUBFP|AREALAND\n".to_string();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let (block, place, aian, mcd) = (cells[0], cells[1], cells[2], cells[3]);
        let parts = [&block[..2], &block[2..5], &block[5..11], &block[11..]];
        grf += &format!("{}|{place}|{aian}|{mcd}|1000\n", parts.join("|"));
    }
    put(at, "blocks.csv", &text);
    put(at, "GRF-C.txt", &grf);
    put(at, "plan.toml", "settings = \"redistricting-persons\"\nrelease = \"pl94-persons-us\"\n");
    for (file, out) in [("blocks.csv", "one"), ("GRF-C.txt", "two")] {
        done(at, &["spine", "--blocks", file, "--plan", "plan.toml", "--out", out]);
    }
    for file in ["units.csv", "blocks.csv", "entities.csv", "paths.csv"] {
        let read = |out: &str| fs::read(at.join(out).join(file)).unwrap();
        assert_eq!(read("one"), read("two"), "{file}");
    }
    // The same as a file of entities beside blocks.
    put(
        at,
        "bare.csv",
        &text.lines().map(|line| line.split(',').next().unwrap().to_string() + "\n").collect::<String>(),
    );
    let entities = |kind: &str, column: &str| {
        format!("[[entities]]\nkind = \"{kind}\"\nfile = \"GRF-C.txt\"\ncolumn = \"{column}\"\n")
    };
    let plan = fs::read_to_string(at.join("plan.toml")).unwrap();
    let named = [entities("place", "PLACEFP"), entities("aian", "AIANNHCE"), entities("mcd", "COUSUBFP")].concat();
    put(at, "three.toml", &format!("{plan}{named}"));
    done(at, &["spine", "--blocks", "bare.csv", "--plan", "three.toml", "--out", "three"]);
    assert_eq!(fs::read(at.join("one/units.csv")).unwrap(), fs::read(at.join("three/units.csv")).unwrap());
    put(at, "GRF-C.txt", &grf.replacen("|000100|", "|100|", 1));
    let err = refusal(at, &["spine", "--blocks", "GRF-C.txt", "--plan", "plan.toml", "--out", "four"]);
    assert!(err.contains("TABTRACTCE") && err.contains("line 2") && !at.join("four").exists(), "{err}");
}

#[test]
fn puerto_ricos_spines_have_no_nation() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    put(at, "blocks.csv", &blocks("72").replace("0100,", "9999,"));
    for (settings, release, levels) in [
        ("redistricting-units", "pl94-units-pr", 5),
        ("redistricting-persons", "pl94-persons-pr", 5),
        ("dhc", "dhc-persons-pr", 7),
    ] {
        put(at, "plan.toml", &format!("settings = \"{settings}\"\nrelease = \"{release}\"\n"));
        done(at, &["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", release, "--delta", "1e-10"]);
        let names: Vec<Vec<String>> = rows(&at.join(release).join("levels.csv"));
        assert_eq!((names.len(), names[0][0].as_str()), (levels, "State"), "{release}");
        assert_eq!(units(at, release, "State"), ["72"]);
        assert_eq!(units(at, release, "County"), ["72001", "72003"]);
    }
    // Drawn, written in the Bureau's layout, certified and estimated.
    let counts: String = blocks("72").lines().skip(1).map(|line| format!("{},occupied,7\n", &line[..15])).collect();
    put(at, "counts.csv", &format!("block,h1,count\n{counts}"));
    let release = ["--release", "pl94-units-pr"];
    let measure = ["measure", "--spine", "pl94-units-pr", "--counts", "counts.csv", "--out", "PR_Unit_PL_PROD"];
    done(at, &[&measure[..], &release, &["--files", "nmf", "--insecure-seed", "3"]].concat());
    done(at, &[&["nmf", "check", "PR_Unit_PL_PROD"][..], &release].concat());
    let estimate = ["nmf", "estimate", ".", "--out", "out.csv", "--level", "State", "County"];
    done(at, &[&estimate[..], &release].concat());
    let found = rows(&at.join("out.csv"));
    assert_eq!(found.iter().map(|row| row[2].as_str()).collect::<Vec<_>>(), ["72", "72001", "72003"]);
    // Two states need a nation.
    let two = blocks("72") + &blocks("44").lines().skip(1).map(|line| format!("{line}\n")).collect::<String>();
    put(at, "two.csv", &two);
    put(at, "own.toml", &done(at, &["releases", "--show", "dhc-persons-pr"]));
    put(at, "plan.toml", "settings = \"dhc\"\nrelease = \"own.toml\"\n");
    let err = refusal(at, &["spine", "--blocks", "two.csv", "--plan", "plan.toml", "--out", "no"]);
    assert!(err.contains("no nation above the states") && !at.join("no").exists(), "{err}");
}

#[test]
fn options_of_production_change_what_they_are_about() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    put(at, "blocks.csv", &blocks("44"));
    let spine = |name: &str, options: &str| {
        let plan =
            format!("settings = \"redistricting-units\"\nrelease = \"pl94-units-us\"\nbypass = false\n{options}\n");
        put(at, "plan.toml", &plan);
        done(at, &["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", name]);
    };
    spine("plain", "");
    spine("groups", "target_orig_bgs = true");
    // A block group of the spine lies in one of the census; without the option it may take blocks of two.
    assert!(units(at, "groups", "Block_Group").iter().all(|geoid| geoid.len() == 12));
    assert!(units(at, "plain", "Block_Group").iter().any(|geoid| geoid.len() < 12));
    // The area lies in two counties: two units, or one with the option.
    spine("areas", "redefine_counties = \"everywhere\"");
    let of = |name: &str| units(at, name, "County");
    assert_eq!(of("plain"), ["44001", "44003", "44001", "44003"]);
    assert_eq!(of("areas"), ["44001", "44003", "44"]);
    // The blocks outside of places or areas of a state, as an entity.
    spine("outside", "count_outside = true");
    let entities = |name: &str| rows(&at.join(name).join("entities.csv"));
    let outside: Vec<Vec<String>> = entities("outside").into_iter().filter(|row| row[1] == "44:outside").collect();
    assert_eq!(entities("outside").len(), entities("plain").len() + outside.len());
    // 4 of 32 blocks are in the American Indian area. Rhode Island uses its divisions, which contain none of the blocks. Places count only
    // inside the area, and 2 blocks there are in one.
    let blocks: Vec<(&str, &str)> = outside.iter().map(|row| (row[0].as_str(), row[3].as_str())).collect();
    assert_eq!(blocks, [("aian", "28"), ("area", "30")]);
    assert!(outside.iter().all(|row| row[5].parse::<u32>().unwrap() > 0));
    assert_eq!(fs::read(at.join("plain/units.csv")).unwrap(), fs::read(at.join("outside/units.csv")).unwrap());
    put(at, "plan.toml", "settings = \"dhc\"\nrelease = \"dhc-persons-us\"\nredefine_counties = \"somewhere\"\n");
    let err = refusal(at, &["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "no"]);
    assert!(err.contains("nowhere") && err.contains("line 3"), "{err}");
}

/// Two places of two tracts each: block groups follow them, unless places that consist of two units are omitted.
#[test]
fn tract_groups_omit_places_of_two_units() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "block,place,mcd\n".to_string();
    for tract in 1..=4 {
        for block in 0..3 {
            text += &format!("06001000{tract}00100{block},{},\n", if tract <= 2 { 11111 } else { 22222 });
        }
    }
    put(folder.path(), "blocks.csv", &text);
    let blocks = Blocks::read(&folder.path().join("blocks.csv")).unwrap();
    let groups = |threshold: u32| {
        let mut settings = SpineSettings::production("redistricting-units").unwrap();
        settings.entity_threshold = threshold;
        let entities = Entities::of_blocks(&blocks, &settings);
        let tree = optimize::optimized(&blocks, &entities, &settings, true);
        let group = |unit: usize| tree.children(3, unit).len();
        (0..tree.units(3)).map(group).collect::<Vec<_>>()
    };
    assert_eq!(groups(0), [2, 2]);
    assert_eq!(groups(1), [2, 2]);
    assert_eq!(groups(2), [4]);
}

fn file_of(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    file
}

fn four_blocks() -> Blocks {
    Blocks::from_geoids((0..4).map(|block| 90_010_101_001_000 + block).collect()).unwrap()
}

#[test]
fn entities_of_other_blocks_are_refused() {
    let attach = |text: &str| {
        let read = four_blocks().attach(EntityKind::Mcd, file_of(text).path(), None, "COUSUBFP");
        read.map(|found| (found.without_entity.len(), found.unknown.len())).map_err(|why| why.to_string())
    };
    let row = |block: u64| format!("{:015},08070\n", 90_010_101_001_000 + block);
    let text =
        |blocks: &[u64]| format!("BLOCKID,COUSUBFP\n{}", blocks.iter().map(|block| row(*block)).collect::<String>());
    // Planning regions instead of counties: no block in common.
    let none = attach(&text(&[1_890_000_000_000, 1_890_000_000_001])).unwrap_err();
    assert!(none.contains("0 of the 4 blocks") && none.contains("first are 091900101001000"), "{none}");
    let few = attach(&text(&[0, 70, 71])).unwrap_err();
    assert!(few.contains("1 of the 4 blocks") && few.contains("other 2 blocks"), "{few}");
    assert!(attach(&text(&[])).unwrap_err().contains("no block"));
    // The file of a larger region, and one that lists only blocks in an entity.
    assert_eq!(attach(&text(&[0, 1, 2, 3, 70, 71, 72, 73, 74])), Ok((0, 5)));
    assert_eq!(attach(&text(&[0])), Ok((3, 0)));
}

#[test]
fn codes_that_lost_their_zeros_are_refused_with_the_likely_code() {
    let attach = |heading: &str, codes: [&str; 4]| {
        let rows = codes.iter().enumerate().map(|(at, code)| format!("{:015},{code}\n", 90_010_101_001_000 + at));
        let text = format!("BLOCKID,{heading}\n{}", rows.collect::<String>());
        let read = four_blocks().attach(EntityKind::Mcd, file_of(&text).path(), None, heading);
        read.map(|_| ()).map_err(|why| why.to_string())
    };
    let lost = attach("COUSUBFP", ["8070", "8070", "8070", "99999"]).unwrap_err();
    assert!(lost.contains("line 2, column 2") && lost.contains("it is 08070"), "{lost}");
    assert!(attach("COUSUBFP20", ["08070", "123456", "08070", ""]).unwrap_err().contains("line 3, column 2"));
    let mixed = attach("town", ["14860", "8070", "18500", ""]).unwrap_err();
    assert!(mixed.contains("line 3, column 2") && mixed.contains("it is 08070"), "{mixed}");
    let mixed = attach("town", ["8070", "9120", "18500", ""]).unwrap_err();
    assert!(mixed.contains("line 2, column 2"), "{mixed}");
    // Codes of the user.
    assert_eq!(attach("town", ["1", "2", "12", ""]), Ok(()));
    assert_eq!(attach("COUSUBFP", ["08070", "00000", "99999", ""]), Ok(()));
}

#[test]
fn blocks_of_states_that_do_not_exist_are_refused() {
    let read = |state: &str| Blocks::read(file_of(&format!("GEOID10\n{state}0010101001000\n")).path());
    for state in ["00", "03", "52", "57", "99"] {
        let said = read(state).unwrap_err().to_string();
        assert!(said.contains("line 2, column 1") && said.contains("does not exist"), "{said}");
    }
    assert!(["01", "11", "56", "72", "78"].iter().all(|state| read(state).is_ok()));
}

#[test]
fn a_release_is_about_its_own_states() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (state, release, about) in [
        ("72", "pl94-persons-us", "pl94-persons-pr is about Puerto Rico"),
        ("78", "pl94-persons-us", "states and the District of Columbia"),
        ("44", "pl94-persons-pr", "blocks of Puerto Rico"),
    ] {
        put(at, "blocks.csv", &blocks(state).replace("0100,", "9999,"));
        put(at, "plan.toml", &format!("settings = \"redistricting-persons\"\nrelease = \"{release}\"\n"));
        let err = refusal(at, &["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "out"]);
        assert!(err.contains(about) && !at.join("out").exists(), "{err}");
    }
}

/// A path in a file is relative to that file, even if the working directory has a file of that name.
#[test]
fn paths_in_files_are_relative_to_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::create_dir(at.join("within")).unwrap();
    put(at, "blocks.csv", &blocks("44"));
    let own = done(at, &["releases", "--show", "pl94-persons-us"]).replace("\"pl94-persons-us\"", "\"mine\"");
    put(&at.join("within"), "mine.toml", &own);
    put(&at.join("within"), "plan.toml", "settings = \"redistricting-persons\"\nrelease = \"mine.toml\"\n");
    let spine = ["spine", "--blocks", "blocks.csv", "--plan", "within/plan.toml", "--out"];
    done(at, &[&spine[..], &["out"]].concat());
    let about = fs::read_to_string(at.join("out/provenance.json")).unwrap();
    assert!(about.contains("within/mine.toml"), "{about}");
    let ledger = "name = \"l\"\ntitle = \"t\"\nsource = \"s\"\nrule = \"all\"\n[[population]]\nname = \"persons\"\n\
         neighbors = \"bounded\"\nreleases = [\"mine.toml\", \"pl94-persons-us\"]\n";
    put(&at.join("within"), "ledger.toml", ledger);
    let said = done(at, &["ledger", "within/ledger.toml", "--delta", "1e-10"]);
    assert!(said.contains("mine"), "{said}");
    // The working directory has the file, the folder of the plan does not.
    fs::rename(at.join("within/mine.toml"), at.join("mine.toml")).unwrap();
    let err = refusal(at, &[&spine[..], &["other"]].concat());
    assert!(err.contains("within/mine.toml") && err.contains("relative to the folder of that file"), "{err}");
}
