//! Inputs that are joined with noisy measurement files: columns of other types and codecs, labels of cells, codes of areas, block
//! assignment files, and tables whose keys match nothing.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use serde_json::Value;

use crate::common::{
    estimates::{self, Row},
    nmf_rows::{self, Stored},
    program::{assay, json, refusal},
};

const AXES: [&str; 4] = ["hhgq", "votingage", "hispanic", "cenrace"];
const ESTIMATE: [&str; 3] = ["estimate", "--release", "pl94-persons-us"];

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/examples/nmf")
}

fn says(message: &str, words: &[&str]) {
    let flat = message.split_whitespace().collect::<Vec<_>>().join(" ");
    words.iter().for_each(|word| assert!(flat.contains(word), "{word}: {flat}"));
}

/// A folder for input and output files.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Desk {
        Desk(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        fs::write(self.at(name), text).unwrap();
        self.at(name)
    }

    fn words<'a>(&self, out: &'a str, nmf: &'a str, options: &[&'a str]) -> Vec<&'a str> {
        [&ESTIMATE[..], &["--nmf", nmf, "--out", out], options].concat()
    }

    fn estimate(&self, options: &[&str]) -> (Value, Vec<Row>) {
        let (out, nmf) = (self.at("out.csv"), example().display().to_string());
        let said = json(&self.words(&out, &nmf, options));
        (said, estimates::rows(&fs::read_to_string(&out).unwrap()))
    }

    fn refused(&self, options: &[&str]) -> String {
        let (out, nmf) = (self.at("no.csv"), example().display().to_string());
        let message = refusal(&self.words(&out, &nmf, options));
        assert!(!Path::new(&out).exists(), "{message}");
        message
    }
}

fn numbers(rows: &[Row], about: &[&str]) -> BTreeMap<String, (f64, f64)> {
    rows.iter().map(|row| (row.key(about), (row.number("estimate"), row.number("variance")))).collect()
}

#[test]
fn cells_are_in_the_order_that_is_written_and_carry_labels() {
    let desk = Desk::new();
    let (stored, written) = ("votingage * hispanic", "hispanic*votingage");
    let options = ["--level", "Tract", "--queries", stored, written, "hhinstlevels", "total"];
    let (_, rows) = desk.estimate(&options);
    let of = |query: &str| -> Vec<&Row> { rows.iter().filter(|row| row.get("query") == query).collect() };
    let labels =
        |query: &str| of(query).iter().take(4).map(|row| row.key(&["hispanic", "votingage"])).collect::<Vec<_>>();
    assert_eq!(
        labels(written),
        ["not-hispanic,below-18", "not-hispanic,18-and-over", "hispanic,below-18", "hispanic,18-and-over"]
    );
    assert_eq!(
        labels(stored),
        ["not-hispanic,below-18", "hispanic,below-18", "not-hispanic,18-and-over", "hispanic,18-and-over"]
    );
    let about = ["geocode", "hispanic", "votingage"];
    let by_labels = |query: &str| -> BTreeMap<String, (f64, f64)> {
        of(query).iter().map(|row| (row.key(&about), (row.number("estimate"), row.number("variance")))).collect()
    };
    assert_eq!(by_labels(stored), by_labels(written));
    let levels: Vec<&str> = of("hhinstlevels").iter().take(3).map(|row| row.get("hhinstlevels")).collect();
    let groups =
        ["household", "correctional+juvenile+nursing+other-institutional", "college+military+other-noninstitutional"];
    assert_eq!(levels, groups);
    assert!(of("total").iter().all(|row| row.key(&["hispanic", "votingage", "hhinstlevels"]) == ",,"));
    // Whole counts and true counts have the same cells.
    let truth = example().join("counts.csv").display().to_string();
    let whole = [&["--level", "County", "--truth", &truth, "--queries", stored, written][..], &["--whole"]].concat();
    let (said, _) = desk.estimate_whole(&whole);
    let errors = said["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 2);
    assert_eq!(errors[0]["mean_absolute_error"], errors[1]["mean_absolute_error"], "{said}");
    assert!(errors[0]["mean_absolute_error"].as_f64().unwrap() < 10.0, "{said}");
    // Parquet has the same columns.
    let (out, nmf) = (desk.at("out.parquet"), example().display().to_string());
    assay(&desk.words(&out, &nmf, &options)).assert().success();
    let reader = parquet::file::reader::SerializedFileReader::new(fs::File::open(&out).unwrap()).unwrap();
    let schema = parquet::file::reader::FileReader::metadata(&reader).file_metadata().schema_descr_ptr();
    let columns: Vec<&str> = schema.columns().iter().map(|column| column.name()).collect();
    let expected = ["level", "geocode", "geoid", "part", "query", "cell", "votingage", "hispanic", "hhinstlevels"];
    assert_eq!(columns[..9], expected);
}

impl Desk {
    /// Whole counts have no estimates.
    fn estimate_whole(&self, options: &[&str]) -> (Value, String) {
        let (out, nmf) = (self.at("whole.csv"), example().display().to_string());
        (json(&self.words(&out, &nmf, options)), fs::read_to_string(&out).unwrap())
    }
}

#[test]
fn a_row_says_which_part_of_its_state_it_is() {
    let (_, rows) = Desk::new().estimate(&["--level", "US", "State", "Tract"]);
    let mut parts: Vec<String> = (rows.iter().filter(|row| row.get("level") != "Tract"))
        .map(|row| row.key(&["geocode", "geoid", "part"]))
        .collect();
    parts.sort_unstable();
    assert_eq!(parts, [",,", "009,09,", "044,44,non-AIAN", "144,44,AIAN"]);
    assert!(rows.iter().all(|row| (row.get("part") == "AIAN") == row.get("geocode").starts_with('1')));
}

/// The example with its block level rewritten in another form.
fn rewritten(desk: &Desk, name: &str, stored: &Stored, codec: Compression) -> String {
    fn copy(from: &Path, to: &Path, each: &dyn Fn(&Path, &Path)) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            let target = to.join(entry.file_name());
            match entry.path().is_dir() {
                true => copy(&entry.path(), &target, each),
                false => each(&entry.path(), &target),
            }
        }
    }
    let to = Path::new(&desk.at(name)).join("US_Person_PL_PROD");
    copy(&example().join("US_Person_PL_PROD"), &to, &|from, to| match from
        .extension()
        .is_some_and(|end| end == "parquet")
    {
        true => nmf_rows::write_as(to, &AXES, &nmf_rows::read(from, &AXES), stored, codec),
        false => drop(fs::copy(from, to).unwrap()),
    });
    to.display().to_string()
}

#[test]
fn codecs_and_decimals_change_nothing_and_other_types_are_refused() {
    let desk = Desk::new();
    let options = ["--level", "County", "--queries", "total", "hhgq"];
    let (_, rows) = desk.estimate(&options);
    let known = numbers(&rows, &["geocode", "query", "cell"]);
    let codecs = [
        ("zstd", Compression::ZSTD(ZstdLevel::default())),
        ("gzip", Compression::GZIP(GzipLevel::default())),
        ("brotli", Compression::BROTLI(BrotliLevel::default())),
        ("lz4", Compression::LZ4_RAW),
    ];
    let plain = codecs.into_iter().map(|(name, codec)| (name, Stored::Plain, codec));
    let decimals = ("decimals", Stored::Wide("(DECIMAL(18,2))", 100), Compression::SNAPPY);
    for (name, stored, codec) in plain.chain([decimals]) {
        let (out, nmf) = (desk.at("read.csv"), rewritten(&desk, name, &stored, codec));
        json(&desk.words(&out, &nmf, &options));
        let read = estimates::rows(&fs::read_to_string(&out).unwrap());
        assert_eq!(numbers(&read, &["geocode", "query", "cell"]), known, "{name}");
    }
    for (name, logical, factor, words) in [
        ("cents", "(DECIMAL(18,2))", 1, ["column value", "no whole number"]),
        ("times", "(TIMESTAMP(MILLIS,true))", 1, ["column value", "holds timestamps"]),
        ("clock", "(TIME(MICROS,true))", 1, ["column value", "holds times of day"]),
    ] {
        let nmf = rewritten(&desk, name, &Stored::Wide(logical, factor), Compression::SNAPPY);
        says(&refusal(&desk.words(&desk.at("no.csv"), &nmf, &options)), &words);
    }
    // Names whose bytes are not UTF-8.
    let nmf = rewritten(&desk, "bytes", &Stored::Plain, Compression::UNCOMPRESSED);
    let place = Path::new(&nmf).join("Tract.parquet/DPQuery/State=044");
    let file = fs::read_dir(place).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&file).unwrap();
    for at in 0..bytes.len() - 9 {
        if &bytes[at..at + 9] == b"total_dpq" {
            bytes[at + 8] = 0xff;
        }
    }
    fs::write(&file, bytes).unwrap();
    says(&refusal(&desk.words(&desk.at("no.csv"), &nmf, &options)), &["total_dp\\xff", "not UTF-8", "Tract.parquet"]);
}

#[test]
fn a_block_assignment_file_is_read_as_it_is() {
    let desk = Desk::new();
    let towns = fs::read_to_string(example().join("towns.csv")).unwrap();
    let mill: Vec<&str> = towns.lines().filter_map(|line| line.strip_prefix("Millbridge,")).collect();
    let mut text = "\u{feff}BLOCKID|PLACEFP\n".to_string();
    mill.iter().for_each(|block| text += &format!("{block}|49960\n"));
    // Uninhabited blocks of these tracts, one of them a place of its own, blocks of no place, and a tract of water in the county.
    text += "440030001009001|49960\n440030001009002|49960\n440010001009003|11111\n440010001001001|\n440039900000001|49960\n";
    let places = desk.put("BlockAssign_ST44_RI_INCPLACE_CDP.txt", &text);
    let (said, rows) = desk.estimate(&["--areas", &places]);
    assert_eq!((&said["empty_blocks"], &said["unassigned_blocks"]), (&Value::from(4), &Value::from(1)));
    let notes = said["notes"].to_string();
    says(
        &notes,
        &["4 blocks of areas have no housing units or group quarters", "1 block of the file is assigned to no area"],
    );
    let towns = example().join("towns.csv").display().to_string();
    let (_, known) = desk.estimate(&["--areas", &towns, "--queries", "total"]);
    let known = numbers(&known, &["area"])["Millbridge"];
    let found = numbers(&rows, &["area"]);
    assert_eq!(found["4449960"], known);
    assert_eq!((found["4411111"], found.len()), ((0.0, 0.0), 2));
    // With `--work` and with true counts, the same.
    let truth = example().join("counts.csv").display().to_string();
    let work = desk.at("work");
    let (parts, again) = desk.estimate(&["--areas", &places, "--work", &work, "--truth", &truth]);
    assert_eq!((numbers(&again, &["area"]), &parts["notes"]), (found, &said["notes"]));
    // All unexplained keys are named at once.
    let lost: String = (1..=25).map(|block| format!("44001090100{block:04}|1\n")).collect();
    let lost = desk.put("lost.txt", format!("BLOCKID|PLACEFP\n440010001001001|1\n{lost}"));
    let message = desk.refused(&["--areas", &lost]);
    says(
        &message,
        &[
            "lost.txt: 25 blocks of areas missing from the files",
            "440010901000001 (line 3, area \"441\")",
            "and 5 more",
        ],
    );
}

#[test]
fn areas_that_are_not_understood_are_refused() {
    let desk = Desk::new();
    for (text, words) in [
        (&b"area,block,share\nA,440030001001001,1\n"[..], ["line 1, column 3", "share"]),
        (b"area,block,weight\nA,440030001001001,1.5\n", ["line 2, column 3", "from 0 to 1"]),
        (b"area,block\n,440030001001001\n", ["line 2, column 1", "is empty"]),
        (b"area,block\n\xc5s,440030001001001\n\xd8s,440010001001001\n", ["line 2, column 1", "UTF-8"]),
        (b"area,block\nA,90010001001001\n", ["line 2, column 2", "090010001001001 is likely"]),
    ] {
        let file = desk.put("areas.csv", text);
        says(&desk.refused(&["--areas", &file]), &words);
    }
    let nhgis = desk.put("nhgis.csv", "area,GEOID10\nA,G44000300001001001\nA,1000000US440030001001002\n");
    let plain = desk.put("plain.csv", "area,block\nA,440030001001001\nA,440030001001002\n");
    let of = |file: &str| numbers(&desk.estimate(&["--areas", file]).1, &["area"]);
    assert_eq!(of(&nhgis), of(&plain));
}

#[test]
fn published_counts_that_belong_to_nothing_are_counted_or_refused() {
    let desk = Desk::new();
    let svg = desk.at("tracts.svg");
    let chart = |file: &str| desk.estimate(&["--tabulation", "Tract", "--svg", &svg, "--published", file]).0;
    let refused = |text: &str, words: &[&str]| {
        let file = desk.put("published.csv", text);
        says(&desk.refused(&["--tabulation", "Tract", "--svg", &svg, "--published", &file]), words);
    };
    // The forms of data.census.gov and of NHGIS.
    let forms = "GEOID,NAME,count\n1400000US44001000100,one,562\nG4400010000200,two,1097\n09001000200,three,335\n";
    let said = chart(&desk.put("forms.csv", forms));
    assert_eq!(said["notes"], serde_json::json!([]));
    let drawn = fs::read_to_string(&svg).unwrap();
    assert!(drawn.contains("published"));
    let few = desk.put("few.csv", "geoid,count\n44001000100,562\n44001000200,1097\n44999000100,1\n");
    says(&chart(&few)["notes"].to_string(), &["1 of 3 published counts belong to no unit or area", "44999000100"]);
    fs::remove_file(&svg).unwrap();
    refused("geoid,count\n9001000100,560\n", &["published.csv, line 2", "09001000100 is likely"]);
    refused("geoid,count\n44001000100,562\n44,1\n45,2\n", &["2 of 3 published counts", "44, 45"]);
    refused("geoid,count,weight\n44001000100,562,1\n", &["line 1, column 3", "weight"]);
    refused("geoid,count\n\u{20},562\n", &["line 2", "no code"]);
    assert!(!Path::new(&svg).exists(), "no chart of what was refused");
}

#[test]
fn totals_and_true_counts_that_belong_to_nothing_are_refused() {
    let desk = Desk::new();
    let totals = |text: &str, words: &[&str]| {
        let file = desk.put("totals.csv", text);
        says(&desk.refused(&["--state-totals", &file]), words);
    };
    totals("state,total\n44,2624\n72,10\n", &["totals.csv, line 3", "72 is no part of nmf.json"]);
    totals("state,total\n03,10\n", &["totals.csv, line 2, column 1", "no state 03"]);
    totals("state,total,weight\n44,2624,1\n", &["line 1, column 3", "weight"]);
    // Exact totals that contradict the noisy counts.
    totals("state,total\n44,2724\n09,795\n", &["do not fit each other", "exact total"]);
    let counts = fs::read_to_string(example().join("counts.csv")).unwrap();
    let moved: String = counts.replace("\n44", "\n45").replace("\n09", "\n10");
    let file = desk.put("moved.csv", &moved);
    says(&desk.refused(&["--truth", &file]), &["moved.csv", "blocks of the true counts", "states that are not read"]);
    // Blocks of other tracts: most, and a few.
    let other: String =
        counts.replace("\n44001", "\n44005").replace("\n44003", "\n44007").replace("\n09001", "\n09003");
    let file = desk.put("other.csv", &other);
    says(&desk.refused(&["--truth", &file]), &["other.csv", "blocks with true counts are not in the files"]);
    let heading = counts.lines().next().unwrap();
    let line = counts.lines().nth(1).unwrap();
    let (_, rest) = line.split_once(',').unwrap();
    let file = desk.put("few.csv", format!("{counts}440019999001001,{rest}\n"));
    assert!(heading.starts_with("block"), "{heading}");
    let (said, _) = desk.estimate(&["--truth", &file]);
    says(&said["notes"].to_string(), &["blocks with true counts are not in the files", "440019999001001"]);
}

#[test]
fn the_bureaus_tree_of_part_files_is_compared_as_it_is() {
    let desk = Desk::new();
    let (out, nmf) = (desk.at("all.csv"), example().display().to_string());
    assay(&desk.words(&out, &nmf, &["--files", "bureau"])).assert().success();
    let text = fs::read_to_string(&out).unwrap();
    let mut units: BTreeMap<&str, String> = BTreeMap::new();
    let heading = text.lines().next().unwrap();
    for line in text.lines().skip(1) {
        let geoid = line.split('|').next().unwrap();
        *units.entry(geoid).or_insert_with(|| format!("{heading}\n")) += &format!("{line}\n");
    }
    for (geoid, rows) in &units {
        let level = match geoid.len() {
            2 => "State".to_string(),
            5 => format!("County/State={}", &geoid[..2]),
            _ => format!("Tract/State={}/County={}", &geoid[..2], &geoid[2..5]),
        };
        let place = desk.0.path().join(format!("us/{level}/{geoid}"));
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("part-00000-1f.csv"), rows).unwrap();
        fs::write(place.join("_SUCCESS"), "").unwrap();
        fs::write(place.join(".part-00000-1f.csv.crc"), "x").unwrap();
    }
    let same = json(&["nmf", "compare", &out, &desk.at("us")]);
    assert_eq!((&same["rows"], &same["only_second"]), (&Value::from(text.lines().count() - 1), &Value::from(0)));
    assert_eq!(json(&["nmf", "compare", &desk.at("us"), &out])["rows"], same["rows"]);
    fs::write(desk.0.path().join("us/State/44/part-00001-1f.csv"), &units["44"]).unwrap();
    says(&refusal(&["nmf", "compare", &out, &desk.at("us")]), &["part-00001-1f.csv, line 2", "occurs twice"]);
    fs::write(desk.0.path().join("us/State/44/part-00001-1f.csv"), "geocode|query|estimate|std_dev\n44|P|x|1\n")
        .unwrap();
    says(&refusal(&["nmf", "compare", &out, &desk.at("us")]), &["part-00001-1f.csv, line 2", "no number"]);
    fs::write(desk.0.path().join("us/State/44/part-00001-1f.csv"), "").unwrap();
    refusal(&["nmf", "compare", &out, &desk.at("us")]);
    let empty = desk.at("empty");
    fs::create_dir(&empty).unwrap();
    says(&refusal(&["nmf", "compare", &out, &empty]), &["no file of estimates in the folder"]);
    let other = desk.put("other.csv", "geocode,query,estimate,std_dev\nx,y,1,1\n");
    says(&refusal(&["nmf", "compare", &other, &out]), &["other.csv: no row of the same area, query and cell"]);
}
