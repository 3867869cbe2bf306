//! Damaged or unusual files through every reader of CSV. A reader accepts only what it reads exactly, reports the place of anything else,
//! and loses no row. `tests/hostile` has such files with a table of commands and outcomes.

use std::{
    fmt::Debug,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use dp_assay::{
    csv_reader::{CsvTable, Reading},
    law::{NoiseTable, Pair, PerturbationTable},
    release::{Release, schema::Schema},
    safetab::published,
    spine::{
        blocks::{Blocks, EntityKind},
        own::Hierarchy,
        spine_files::SavedSpine,
    },
    topdown::{
        histograms::Histograms,
        nmf::{
            answers::Areas,
            tables::{self, Published},
            totals::GivenTotals,
            truth::Truth,
        },
        spine_survey::SpineAreas,
    },
};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use rug::Rational;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile")
}

#[test]
fn every_file_of_the_corpus_has_the_outcome_of_the_table() {
    let table = fs::read_to_string(corpus().join("cases.txt")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    for (number, case) in table.lines().filter(|line| !line.starts_with('#')).enumerate() {
        let parts: Vec<&str> = case.split(" | ").collect();
        let [file, command, status, said] = parts[..] else { panic!("{case}") };
        seen.push(file);
        let input = corpus().join(file);
        // The input keeps its suffix, so that a compressed input is written uncompressed.
        let end = if file.ends_with(".parquet") { "parquet" } else { "csv" };
        let output = folder.path().join(format!("{number}.{end}"));
        let args = command.split(' ').map(|word| match word {
            "FILE" => input.to_str().unwrap(),
            "OUT" => output.to_str().unwrap(),
            word => word,
        });
        let outcome = Command::new(ASSAY).args(args).output().unwrap();
        let text = String::from_utf8(if status == "0" { outcome.stdout } else { outcome.stderr }).unwrap();
        assert_eq!(outcome.status.code().map(|code| code.to_string()).as_deref(), Some(status), "{case}: {text}");
        assert!(text.contains(said), "{case}: {text}");
        assert_eq!(output.exists(), status == "0" && command.contains("OUT"), "{case}");
        // Noise that is practically zero changes no byte except quotes and blanks around counts.
        if output.exists() && !file.contains("gzip") {
            let plain =
                |path: &Path| fs::read(path).unwrap().iter().copied().filter(|byte| *byte != b' ').collect::<Vec<_>>();
            assert_eq!(plain(&input), plain(&output), "{case}");
        }
    }
    for entry in fs::read_dir(corpus()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "cases.txt" || seen.contains(&name.as_str()), "{name} is in no case");
    }
}

/// The contents of a file as text for comparison, or the reason for refusing it.
type Read = fn(&Path) -> Result<String, String>;

struct Reader {
    name: &'static str,
    rows: &'static [&'static [&'static str]],
    read: Read,
    /// Whether its input is confidential.
    confidential: bool,
    /// Whether other columns are unchanged.
    others: bool,
}

fn shown<T: Debug>(read: Result<T, impl ToString>) -> Result<String, String> {
    read.map(|read| format!("{read:?}")).map_err(|why| why.to_string())
}

fn schema() -> Schema {
    Release::find("pl94-units-us").unwrap().schema.unwrap()
}

fn spine() -> SavedSpine {
    SavedSpine::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/spine-folder")).unwrap()
}

fn program(args: &[&str]) -> Result<String, String> {
    let outcome = Command::new(ASSAY).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    match outcome.status.code() {
        Some(0) => Ok(text(outcome.stdout)),
        Some(2) => Err(text(outcome.stderr)),
        other => panic!("{args:?}: {other:?}: {}", text(outcome.stderr)),
    }
}

fn of_aldria(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/examples/safetab-aldria").join(name)
}

/// A check of a country's areas and records.
fn country(areas: &Path, persons: &Path) -> Result<String, String> {
    let [spec, areas, persons] =
        [&of_aldria("specification.toml"), areas, persons].map(|path| path.to_str().unwrap().to_string());
    program(&["tabulate", "--check", "--spec", &spec, "--geography", &areas, "--persons", &persons])
}

fn noise(path: &Path) -> Result<String, String> {
    let out = path.with_extension("noisy.csv");
    let _ = fs::remove_file(&out);
    let name = path.to_str().unwrap();
    let said =
        program(&["noise", name, "--column", "count", "--discrete-laplace", "100", "--out", out.to_str().unwrap()]);
    assert_eq!(said.is_ok(), out.exists());
    said
}

fn attached(path: &Path) -> dp_assay::Result<String> {
    let mut blocks = Blocks::from_geoids(vec![440_010_301_001_000, 440_010_301_001_001, 440_010_301_001_002])?;
    let mismatch = blocks.attach(EntityKind::Mcd, path, None, "COUSUBFP")?;
    Ok(format!("{blocks:?} {mismatch:?}"))
}

/// A table of three columns, read by the shared reader.
fn cells(path: &Path) -> dp_assay::Result<Vec<Vec<String>>> {
    let mut table = CsvTable::read(path, Reading::default())?;
    let mut rows = Vec::new();
    while table.next()? {
        rows.push((0..2).map(|at| table.text(at).map(String::from)).collect::<dp_assay::Result<_>>()?);
    }
    Ok(rows)
}

const READERS: [Reader; 22] = [
    Reader {
        name: "the shared reader",
        rows: &[&["a", "b"], &["x", "1"], &["y", "2"]],
        read: |path| shown(cells(path)),
        confidential: true,
        others: true,
    },
    Reader {
        name: "a table of masses",
        rows: &[&["value", "mass"], &["-1", "1/4"], &["0", "0.5"], &["1", "25e-2"]],
        read: |path| {
            shown(
                NoiseTable::read(path, false)
                    .map(|table| table.masses().map(|(x, p)| format!("{x} {p}")).collect::<Vec<_>>()),
            )
        },
        confidential: true,
        others: true,
    },
    Reader {
        name: "a pair of hypotheses",
        rows: &[&["p", "q"], &["1/2", "1/4"], &["0.5", "75e-2"]],
        read: |path| shown(Pair::read(path, false).map(|pair| vec![format!("{pair:?}")])),
        confidential: true,
        others: true,
    },
    Reader {
        name: "a perturbation table",
        rows: &[&["i", "j", "p"], &["0", "0", "1"], &["1", "0", "1/2"], &["1", "1", "0.5"]],
        read: |path| shown(PerturbationTable::read(path, false).map(|table| vec![format!("{table:?}")])),
        confidential: true,
        others: true,
    },
    Reader {
        name: "the areas of a country",
        rows: &[
            &["hamlet", "province", "shire", "diocese"],
            &["01a", "Nord", "N-1", "St. Bors"],
            &["02b", "Nord", "N-2", "St. Bors"],
        ],
        read: |path| {
            let persons = path.with_file_name("persons.csv");
            fs::write(&persons, "hamlet,tongue_1,tongue_2,calling,sex,age\n01a,ald,,1,w,31\n").unwrap();
            country(path, &persons)
        },
        confidential: false,
        others: true,
    },
    Reader {
        name: "the records of a country",
        rows: &[
            &["hamlet", "tongue_1", "tongue_2", "calling", "sex", "age"],
            &["01a", "ald", "ves", "1", "w", "31"],
            &["02b", "ald-N", "Σ", "2", "x", "0"],
        ],
        read: |path| country(&of_aldria("hamlets.csv"), path),
        confidential: true,
        others: true,
    },
    Reader {
        name: "noise",
        rows: &[&["count", "place"], &["5", "x"], &["6000", "y"]],
        read: noise,
        confidential: true,
        others: true,
    },
    Reader {
        name: "errors --counts",
        rows: &[&["count", "place"], &["5", "x"], &["6000", "y"]],
        read: |path| {
            let name = path.to_str().unwrap();
            program(&["errors", "--counts", name, "--column", "count", "--discrete-gaussian", "5"])
        },
        confidential: true,
        others: true,
    },
    Reader {
        name: "simulate",
        rows: &[&["y", "a", "b"], &["1.5", "20", "30"], &["2", "9", "40"], &["2.5", "5", "45"]],
        read: |path| {
            let name = path.to_str().unwrap();
            let options = ["--discrete-gaussian", "1", "--insecure-seed", "1", "--trials", "1"];
            program(&[&["simulate", name, "--y", "y", "--categories", "a,b"][..], &options].concat())
        },
        confidential: true,
        others: true,
    },
    Reader {
        name: "spine --blocks",
        rows: &[&["block", "mcd"], &["440010301001000", "00001"], &["440010301001001", "00002"]],
        read: |path| shown(Blocks::read(path)),
        confidential: false,
        others: true,
    },
    Reader {
        name: "entities of a plan",
        rows: &[
            &["BLOCKID", "COUSUBFP"],
            &["440010301001000", "00001"],
            &["440010301001001", "00002"],
            &["440010301001002", "00002"],
        ],
        read: |path| shown(attached(path)),
        confidential: false,
        others: true,
    },
    Reader {
        name: "spine --hierarchy",
        rows: &[&["region", "town"], &["north", "Aa"], &["south", "Oe"]],
        read: |path| {
            let levels = ["country", "region", "town"].map(String::from);
            let read = Hierarchy::read(path, &levels);
            read.map(|read| format!("{:?}", [0, 1, 2].map(|level| read.tree.units(level))))
                .map_err(|why| why.to_string())
        },
        confidential: false,
        others: true,
    },
    Reader {
        name: "--areas",
        rows: &[&["area", "block"], &["Aa", "440010301001000"], &["Oe", "440010301001001"]],
        read: |path| shown(Areas::read(path).map(|areas| (areas.names, areas.states))),
        confidential: false,
        others: false,
    },
    Reader {
        name: "--areas with weights",
        rows: &[&["area", "block", "weight"], &["Aa", "440010301001000", "1/3"], &["Oe", "440010301001001", "0.25"]],
        read: |path| {
            let blocks = |areas: &Areas| [0, 1].map(|area| areas.blocks_of(area).collect::<Vec<_>>());
            shown(Areas::read(path).map(|areas| (blocks(&areas), areas.names, areas.weights)))
        },
        confidential: false,
        others: false,
    },
    Reader {
        name: "--area-totals",
        rows: &[&["area", "total"], &["Aa", "620"], &["Oe", "1485"]],
        read: |path| {
            let file = tempfile::NamedTempFile::new().map_err(|why| why.to_string())?;
            fs::write(file.path(), "area,block\nAa,440010301001000\nOe,440010301001001\n")
                .map_err(|why| why.to_string())?;
            let read = Areas::read(file.path()).and_then(|areas| areas.with_totals(path));
            shown(read.map(|areas| areas.totals().collect::<Vec<_>>()))
        },
        confidential: false,
        others: false,
    },
    Reader {
        name: "--truth",
        rows: &[&["block", "h1", "count"], &["440010301001000", "occupied", "5"], &["440010301001001", "vacant", "6"]],
        read: |path| {
            shown(
                Truth::read(path, &schema(), "count", Reading::default())
                    .map(|read| read.histogram([440_010_301_001_000, 440_010_301_001_001].into_iter())),
            )
        },
        confidential: true,
        others: true,
    },
    Reader {
        name: "--published-counts",
        rows: &[
            &["region_type", "geoid", "level", "group", "variable", "count"],
            &["COUNTY", "09001", "2", "1003", "T02001_003N", "40"],
            &["STATE", "09", "1", "1002", "T02001_003N", "7"],
        ],
        read: |path| {
            let release = Release::find("ddhca-us").map_err(|why| why.to_string())?;
            let read = published::rows(path, &release, &Rational::from((19, 20)));
            shown(read.map(|rows| rows.iter().map(|row| format!("{row:?}")).collect::<Vec<_>>()))
        },
        confidential: false,
        others: false,
    },
    Reader {
        name: "--state-totals",
        rows: &[&["state", "total"], &["44", "1097379"], &["09", "3605944"]],
        read: |path| shown(GivenTotals::read(path).map(|read| read.totals())),
        confidential: false,
        others: false,
    },
    Reader {
        name: "--published",
        rows: &[&["geoid", "count"], &["44001000100", "562"], &["44001000200", "1097"]],
        read: |path| {
            let counts = |read: Published| (read.lines(), ["44001000100", "44001000200"].map(|name| read.count(name)));
            shown(Published::read(path).map(counts))
        },
        confidential: false,
        others: false,
    },
    Reader {
        name: "nmf compare",
        rows: &[
            &["geocode", "query", "estimate", "std_dev"],
            &["044", "total", "2623.5", "1.25"],
            &["009", "total", "894.5", "0.5"],
        ],
        read: |path| shown(tables::compare(path, path)),
        confidential: false,
        others: true,
    },
    Reader {
        name: "measure --counts",
        rows: &[&["block", "h1", "count"], &["440010301001000", "occupied", "5"], &["440030101001000", "vacant", "6"]],
        read: |path| shown(Histograms::read(path, &spine(), &schema(), "count", Reading::default())),
        confidential: true,
        others: true,
    },
    Reader {
        name: "--areas on a spine",
        rows: &[&["area", "block"], &["Aa", "440010301001000"], &["Oe", "440030101001000"]],
        read: |path| shown(SpineAreas::read(path, &spine())),
        confidential: false,
        others: false,
    },
];

fn joined(rows: &[Vec<String>], separator: &str, end: &str) -> Vec<u8> {
    rows.iter().map(|row| row.join(separator) + end).collect::<String>().into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// Files with the same contents in another form.
fn same(rows: &[Vec<String>]) -> Vec<(&'static str, Vec<u8>)> {
    let plain = joined(rows, ",", "\n");
    let quoted: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| format!("\"{cell}\"")).collect()).collect();
    vec![
        ("a byte order mark", [b"\xef\xbb\xbf", &plain[..]].concat()),
        ("CRLF", joined(rows, ",", "\r\n")),
        ("CR", joined(rows, ",", "\r")),
        ("semicolons", joined(rows, ";", "\n")),
        ("tabs", joined(rows, "\t", "\r\n")),
        ("bars", joined(rows, "|", "\n")),
        ("a line for Excel", [b"sep=;\r\n", &joined(rows, ";", "\r\n")[..]].concat()),
        ("quotes", joined(&quoted, ",", "\n")),
        ("blank lines", [b"\n\n", &joined(rows, ",", "\n\n")[..]].concat()),
        ("no last line end", plain[..plain.len() - 1].to_vec()),
        ("blanks", joined(rows, " , ", "\n")),
        ("gzip", gzip(&plain)),
    ]
}

/// Files that are refused, and a part of the message.
fn damaged(rows: &[Vec<String>], confidential: bool) -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let plain = joined(rows, ",", "\n");
    let changed = |row: usize, cell: usize, text: &dyn Fn(&str) -> String| {
        let mut rows = rows.to_vec();
        rows[row][cell] = text(&rows[row][cell]);
        joined(&rows, ",", "\n")
    };
    let (last, unclosed) = (rows[0].len() - 1, if confidential { "not closed on its line" } else { "never closed" });
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(plain.iter().flat_map(|byte| [*byte, 0])).collect();
    let mut twice = rows.to_vec();
    twice.iter_mut().for_each(|row| row.push(row[0].clone()));
    vec![
        ("an open quote at the end of a row", changed(1, last, &|text| format!("\"{text}")), unclosed),
        ("an open quote at the end of the file", changed(rows.len() - 1, last, &|text| format!("\"{text}")), unclosed),
        ("inches in quotes", changed(1, last, &|text| format!("\"{text}\"\"")), unclosed),
        ("an open quote in the header", changed(0, last, &|text| format!("\"{text}")), unclosed),
        ("text after a quote", changed(1, 0, &|text| format!("\"{text}\"x")), "follows a closing quote"),
        ("a bare quote", changed(1, 0, &|text| format!("{text}\"")), "not in quotes"),
        ("a missing cell", [&plain[..], rows[1][0].as_bytes(), b"\n"].concat(), "the row has 1 cells"),
        ("a surplus cell", changed(1, last, &|text| format!("{text},1")), "the row has more than"),
        ("a heading twice", joined(&twice, ",", "\n"), "a second column named"),
        ("NUL", changed(1, 0, &|text| format!("{text}\0")), "a NUL byte"),
        ("mixed line ends", [&plain[..], b"x\r"].concat(), "carriage return"),
        ("two separators", changed(0, 0, &|text| format!("{text};")), "either may separate"),
        ("a heading in Latin-1", [b"\xc5", &plain[..]].concat(), "not in UTF-8"),
        ("UTF-16", utf16, "is UTF-16"),
        ("zip", [b"PK\x03\x04", &plain[..]].concat(), "zip archive or an Excel"),
        ("Parquet", [b"PAR1", &plain[..]].concat(), "is Parquet"),
        ("zstd", [b"\x28\xb5\x2f\xfd", &plain[..]].concat(), "zstd"),
        ("nothing", Vec::new(), "is empty"),
        ("gzip that is cut", gzip(&plain)[..20].to_vec(), "gzip file"),
        ("an unknown heading", [b"x", &plain[..]].concat(), "he header has"),
    ]
}

#[test]
fn every_reader_reads_what_is_right_and_refuses_what_is_not() {
    let folder = tempfile::tempdir().unwrap();
    for reader in &READERS {
        let rows: Vec<Vec<String>> =
            reader.rows.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect();
        let read = |bytes: &[u8]| {
            let path = folder.path().join("in.csv");
            fs::write(&path, bytes).unwrap();
            (reader.read)(&path)
        };
        let right = read(&joined(&rows, ",", "\n")).unwrap();
        for (what, bytes) in same(&rows) {
            assert_eq!(read(&bytes).as_ref(), Ok(&right), "{}: {what}", reader.name);
        }
        for (what, bytes, why) in damaged(&rows, reader.confidential) {
            // The shared reader alone, and a hierarchy that may omit its first level, need no heading.
            if what == "an unknown heading" && ["the shared reader"].contains(&reader.name) {
                continue;
            }
            let said = read(&bytes).expect_err(&format!("{}: {what}", reader.name));
            assert!(said.contains(why), "{}: {what}: {said}", reader.name);
        }
        if reader.others {
            let with = |cell: &str| {
                let add = |(at, row): (usize, &Vec<String>)| {
                    let cell = if at == 0 { "other" } else { cell };
                    row.iter().map(String::as_str).chain([cell]).collect::<Vec<_>>().join(",") + "\n"
                };
                rows.iter().enumerate().map(add).collect::<String>()
            };
            assert_eq!(read(with("\"x, y\"").as_bytes()).as_ref(), Ok(&right), "{}", reader.name);
            // Unread fields need not be UTF-8.
            let latin: Vec<u8> = with("~").bytes().map(|byte| if byte == b'~' { 0xc5 } else { byte }).collect();
            assert_eq!(read(&latin).as_ref(), Ok(&right), "{}", reader.name);
            let broken = read(with("\"x\ny\"").as_bytes());
            assert_eq!(broken.is_ok(), !reader.confidential, "{}: {broken:?}", reader.name);
        }
    }
}

#[test]
fn keys_that_are_not_in_utf_8_or_blank_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = |bytes: &[u8]| {
        let path = folder.path().join("in.csv");
        fs::write(&path, bytes).unwrap();
        path
    };
    // Two towns became one when both names were read as U+FFFD.
    let path = file(b"area,block\n\xc5s,440030001001001\n\xd8s,440010001001001\n");
    let said = Areas::read(&path).unwrap_err().to_string();
    assert!(said.contains("line 2, column 1") && said.contains("UTF-8"), "{said}");
    let said = Areas::read(&file(b"area,block\nA,440030001001001\n,440010001001001\n")).unwrap_err().to_string();
    assert!(said.contains("line 3, column 1") && said.contains("empty"), "{said}");
    let said = Published::read(&file(b"area,count\n\xc5s,5\n")).unwrap_err().to_string();
    assert!(said.contains("line 2, column 1") && said.contains("UTF-8"), "{said}");
}

#[test]
fn a_table_is_compressed_where_its_name_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.csv.gz"), folder.path().join("out.csv.gz"));
    let text = b"count;place\r\n5;\"x; y\"\r\n";
    fs::write(&input, gzip(text)).unwrap();
    let (from, to) = (input.to_str().unwrap(), output.to_str().unwrap());
    program(&["noise", from, "--column", "count", "--discrete-laplace", "100", "--out", to]).unwrap();
    let (packed, mut plain) = (fs::read(&output).unwrap(), Vec::new());
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&packed[..]), &mut plain).unwrap();
    assert_eq!(plain, text);
    // A gzip header without name and time: flags, then four bytes of time.
    assert_eq!(packed[3..8], [0; 5]);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("counts.csv"), "count,place\n5,x\n").unwrap();
    let shell = |command: &str| {
        let outcome =
            Command::new("bash").arg("-c").arg(command).env("ASSAY", ASSAY).current_dir(&folder).output().unwrap();
        (outcome.status.code(), String::from_utf8(outcome.stdout).unwrap(), String::from_utf8(outcome.stderr).unwrap())
    };
    let (status, out, err) = shell("$ASSAY errors --counts <(cat counts.csv) --column count --discrete-gaussian 5");
    assert!(status == Some(0) && out.contains("1 true count "), "{err}");
    let noise = "$ASSAY noise /dev/stdin --column count --discrete-laplace 100 --out out.csv";
    let (status, out, err) = shell(&format!("cat counts.csv | {noise}"));
    assert!(status == Some(0) && out.contains("1 count "), "{err}");
}

/// An independent reader of CSV with commas: a state machine over characters. It returns the rows, or `None` if the text breaks a rule of
/// the reader.
fn oracle(text: &str, line_breaks: bool) -> Option<Vec<Vec<String>>> {
    #[derive(PartialEq)]
    enum At {
        Start,
        Bare,
        Quoted,
        Closed,
    }
    let (mut rows, mut row, mut cell, mut at) = (Vec::new(), Vec::new(), String::new(), At::Start);
    for char in text.chars() {
        match (&at, char) {
            (At::Quoted, '"') => at = At::Closed,
            (At::Quoted, '\n') if !line_breaks => return None,
            (At::Quoted, char) => cell.push(char),
            (At::Closed, '"') => {
                cell.push('"');
                at = At::Quoted;
            }
            (At::Start, '"') => at = At::Quoted,
            (_, ',') => {
                row.push(std::mem::take(&mut cell));
                at = At::Start;
            }
            (_, '\n') => {
                let is_blank = at == At::Start && row.is_empty();
                if !is_blank {
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                at = At::Start;
            }
            (At::Closed, _) | (At::Bare, '"') => return None,
            (_, char) => {
                cell.push(char);
                at = At::Bare;
            }
        }
    }
    if at == At::Quoted {
        return None;
    }
    if at != At::Start || !row.is_empty() {
        row.push(cell);
        rows.push(row);
    }
    let width = rows.first()?.len();
    let names: Vec<&str> = rows[0].iter().map(|name| name.trim()).collect();
    let twice = |at: usize| !names[at].is_empty() && names[..at].contains(&names[at]);
    (rows.iter().all(|row| row.len() == width) && !(0..width).any(twice)).then_some(rows)
}

fn read_text(text: &str, line_breaks: bool) -> Result<Vec<Vec<String>>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.csv");
    fs::write(&path, text).unwrap();
    let reading = Reading { line_breaks, ..Reading::default() };
    let mut table = CsvTable::read(&path, reading).map_err(|why| why.to_string())?;
    let mut rows = vec![table.headings().to_vec()];
    while table.next().map_err(|why| why.to_string())? {
        rows.push((0..rows[0].len()).map(|at| table.text(at).unwrap().to_string()).collect());
    }
    Ok(rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
        /// Either the rows that are read are all rows of the file, or the file is refused.
    #[test]
    fn the_records_read_are_the_records_there(text in "[a,\"\n ]{0,40}", line_breaks: bool) {
        let trimmed = |rows: Vec<Vec<String>>| -> Vec<Vec<String>> {
            rows.into_iter().map(|row| row.into_iter().map(|cell| cell.trim().to_string()).collect()).collect()
        };
        let expected = oracle(&text, line_breaks).map(trimmed);
        let read = read_text(&text, line_breaks);
        prop_assert_eq!(read.as_ref().ok(), expected.as_ref(), "{:?}: {:?}", text, read);
    }

        /// Noise is added to every count: the output has as many rows, and with noise that is never zero no count of the input.
    #[test]
    fn no_count_comes_out_as_it_went_in(
        cells in proptest::collection::vec(("[a\" ]{0,4}|\"[a, ]{0,3}\"", 1_000_000_i64..2_000_000), 1..12),
        damage in 0_usize..200,
        byte in proptest::sample::select(vec![b'"', b'\n', b',', b'x', b'\r', 0]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in.csv"), folder.path().join("out.csv"));
        let rows: String = cells.iter().map(|(text, count)| format!("{text},{count}\n")).collect();
        let mut bytes = format!("place,count\n{rows}").into_bytes();
        let header = "place,count\n".len();
                // A missing line end joins two rows and cannot be detected.
        let place = header + damage % (bytes.len() - header - 1);
        let place = if bytes[place] == b'\n' { place + 1 } else { place };
        bytes[place] = byte;
        fs::write(&input, &bytes).unwrap();
        let sampler = dp_assay::noise::Sampler::discrete_gaussian(rug::Rational::from(1_000_000_000_000_000_000_u64)).unwrap();
        let mut streams = dp_assay::noise::Streams::from_system().unwrap();
        let done = streams.add_noise_to_columns(
            &sampler,
            dp_assay::noise::TableSource::File(&input),
            &["count".to_string()],
            dp_assay::noise::TableSink::New(&output),
            Default::default(),
            &mut |_, _| {},
        );
        match done {
            Err(_) => prop_assert!(!output.exists()),
            Ok(done) => {
                let written = fs::read_to_string(&output).unwrap();
                prop_assert!(done.rows as usize + 1 >= cells.len(), "{}", written);
                                // sigma is 10^9: the probability that a count is unchanged is below 1e-9 a row, and below 1e-3 in all cases.
                let numbers: Vec<&str> = written.split(|char: char| !char.is_ascii_digit()).collect();
                for (_, count) in &cells {
                    let given = String::from_utf8_lossy(&bytes);
                    prop_assert!(!numbers.contains(&count.to_string().as_str()), "{count} in {written:?} of {given:?}");
                }
            }
        }
    }
}
