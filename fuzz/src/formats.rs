//! What reads bytes of each format, for the fuzzer and for the tests that read its corpus: whatever the bytes are, there is an
//! answer or an error. Where a format is a folder, its files stand in one input, with lines of `%%` between them.
//!
//! Of records more is asked: those that are read and those that are refused are all that are there, counted by code that shares nothing with
//! the readers ([`rows_there`], [`lines_there`]). Where one wrong record refuses the file, all are read or none.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use dp_assay::{
    account::{Composition, Counts, Delta},
    certificate::Claim,
    csv_reader::{CsvTable, Reading},
    draws::UnfinishedDraw,
    law::{Law, NoiseTable, Pair, PerturbationTable},
    ledger::LedgerFile,
    noise::{Sampler, Streams, TableOptions, TableSink, TableSource},
    numeric::rational,
    release::{Release, query_targets, schema::Schema},
    replication::published,
    safetab::{
        country::{CountrySpecification, groupings::Grouping},
        groups::{FILES, Specification},
        schema::{
            Geography, HouseholdConfig, IterationLevel, PublishedTotals, RegionType, Rule, SafeTabConfig, SummaryOrder,
            TotalsCheck, ValidationReport, check_households, check_persons,
        },
        tabulate::{CefUnits, EditedFiles, Job, ProgramInputs, PublicJob},
        tuning::plan::TuningPlan,
    },
    spine::{
        blocks::{Blocks, EntityKind},
        own::Hierarchy,
        plan::{OwnPlan, SpinePlan},
        spine_files::SavedSpine,
    },
    topdown::{
        histograms::Histograms,
        measurement_files,
        nmf::{
            answers::{Areas, read_lines},
            rows,
            tables::{self, Published},
            totals::GivenTotals,
            truth::Truth,
        },
    },
};
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What reads the bytes.
pub type Format = fn(&[u8], &Bench);

/// All formats by their names.
pub const FORMATS: [(&str, Format); 40] = [
    ("number", number),
    ("counts", counts),
    ("table", noise_table),
    ("pair", pair),
    ("p-table", perturbation_table),
    ("release", release),
    ("ledger", ledger),
    ("wishes", wishes),
    ("tuning", tuning),
    ("spine-plan", spine_plan),
    ("blocks", blocks),
    ("spine", spine),
    ("histograms", histograms),
    ("measurements", measurements),
    ("config", config),
    ("geography", geography),
    ("specification", specification),
    ("persons", persons),
    ("household-config", household_config),
    ("certificate", certificate),
    ("published", published_values),
    ("own-plan", own_plan),
    ("hierarchy", hierarchy),
    ("areas", areas),
    ("truth", truth),
    ("lines", lines),
    ("totals", state_totals),
    ("csv", csv),
    ("entities", entities),
    ("households", households),
    ("edited", edited),
    ("group-totals", group_totals),
    ("record-parquet", record_parquet),
    ("noise-parquet", noise_parquet),
    ("nmf-rows", nmf_rows),
    ("estimates", estimates),
    ("published-csv", published_csv),
    ("country", country),
    ("country-areas", country_areas),
    ("country-persons", country_persons),
];

/// Bundled files that are inputs of a format, too, and how many of their lines: what is longer takes longer and finds no more.
const BUNDLED: [(&str, &str, usize); 15] = [
    ("release", "data/releases/su-su-wang-2025.toml", 1000),
    ("release", "data/releases/ddhca-us.toml", 1000),
    ("ledger", "data/ledgers/us-2020-persons.toml", 1000),
    ("tuning", "data/examples/safetab-plan.toml", 1000),
    ("config", "data/examples/safetab/config.json", 1000),
    ("geography", "data/examples/safetab/GRF-C.txt", 1000),
    ("persons", "data/examples/safetab/person-records.txt", 40),
    ("published", "data/published/spines-2024.toml", 1000),
    ("group-totals", "data/examples/safetab-h/pop-group-totals.txt", 1000),
    ("areas", "data/examples/nmf/BlockAssign_ST44_RI_INCPLACE_CDP.txt", 1000),
    ("blocks", "data/examples/nmf/blocks.csv", 1000),
    ("totals", "data/examples/nmf/state-totals.csv", 1000),
    ("country", "data/examples/safetab-aldria/specification.toml", 1000),
    ("country-areas", "data/examples/safetab-aldria/hamlets.csv", 1000),
    ("country-persons", "data/examples/safetab-aldria/persons.csv", 40),
];

/// Inputs of a format: the seeds of the fuzzer, what it found that is worth keeping, and bundled files.
#[allow(dead_code, reason = "the fuzzer is given folders")]
pub fn inputs(name: &str, root: &Path) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in ["seeds", "kept"] {
        // Not every format has files of its own.
        let Ok(entries) = fs::read_dir(root.join("fuzz").join(folder).join(name)) else { continue };
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    files.sort();
    let mut inputs: Vec<Vec<u8>> = files.iter().map(|path| fs::read(path).expect("a readable file")).collect();
    for (_, path, lines) in BUNDLED.iter().filter(|(format, ..)| *format == name) {
        let text = fs::read_to_string(root.join(path)).expect("bundled");
        inputs.push(text.split_inclusive('\n').take(*lines).collect::<String>().into_bytes());
    }
    inputs
}

/// A format with a folder for its files, and what the other files say.
pub struct Bench {
    format: Format,
    folder: tempfile::TempDir,
    root: PathBuf,
    safetab: (SafeTabConfig, Specification, Geography),
    homes: HouseholdConfig,
    spine: (SavedSpine, Schema),
}

impl Bench {
    /// For a format by its name; `root` is the folder of the project. `None` if there is no such format.
    pub fn new(name: &str, root: &Path) -> Option<Bench> {
        let (_, format) = FORMATS.iter().find(|(format, _)| *format == name)?;
        let folder = tempfile::tempdir().expect("a folder");
        let mut report = ValidationReport::new();
        let example = root.join("data/examples/safetab");
        let config = SafeTabConfig::read(&example.join("config.json"), &mut report).expect("the example");
        let specification = Specification::read(&example, &config, &mut report).expect("the example");
        let geography = Geography::read(&example.join("GRF-C.txt"), &config, &mut report).expect("the example");
        let homes =
            HouseholdConfig::read(&root.join("data/examples/safetab-h/config.json"), &mut report).expect("the example");
        let saved = SavedSpine::read(&root.join("fuzz/seeds/spine-folder")).expect("the spine of the seeds");
        let schema = Release::find("pl94-units-us").expect("bundled").schema.expect("it has attributes");
        let (root, safetab) = (root.to_path_buf(), (config, specification, geography));
        Some(Bench { format: *format, folder, root, safetab, homes, spine: (saved, schema) })
    }

    /// Reads the bytes.
    pub fn read(&self, data: &[u8]) {
        (self.format)(data, self);
    }

    /// A file with these bytes.
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        path
    }

    /// A folder of files: the parts of the input between lines of `%%`; a part that is not there is no file.
    fn files(&self, names: &[&str], data: &[u8]) -> &Path {
        let mut rest = Some(data);
        for name in names {
            let path = self.folder.path().join(name);
            let _ = fs::remove_file(&path);
            let Some(all) = rest else { continue };
            let end = all.windows(4).position(|window| window == b"\n%%\n");
            fs::write(&path, end.map_or(all, |end| &all[..end + 1])).expect("written");
            rest = end.map(|end| &all[end + 4..]);
        }
        self.folder.path()
    }
}

fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

/// The rows below the header of a CSV whose quotes are right. `None` where it is compressed, which readers unpack.
fn rows_there(data: &[u8]) -> Option<usize> {
    if data.starts_with(b"\x1f\x8b") {
        return None;
    }
    let data = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    let (mut rows, mut in_quotes, mut first, mut row) = (0, false, Vec::new(), Vec::new());
    for byte in data.iter().copied().chain(*b"\n") {
        in_quotes ^= byte == b'"';
        if in_quotes || (byte != b'\n' && byte != b'\r') {
            row.push(byte);
        } else if !row.is_empty() {
            rows += 1;
            let row = std::mem::take(&mut row);
            if rows == 1 {
                first = row;
            }
        }
    }
    // A line for Excel, before the header.
    let first: Vec<u8> = first.iter().filter(|byte| **byte != b'"').map(u8::to_ascii_lowercase).collect();
    Some(rows - 1 - usize::from(first.starts_with(b"sep=") && first.len() == 5))
}

/// The lines below the header of a file in the form of SafeTab, which knows no quotes.
fn lines_there(data: &[u8]) -> Option<usize> {
    if data.starts_with(b"\x1f\x8b") {
        return None;
    }
    let lines = data.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut lines = lines.skip(1);
    Some(lines.by_ref().filter(|line| !line.is_empty()).count())
}

/// All records of a CSV are read, or none.
fn all_read(data: &[u8], read: usize) {
    assert!(rows_there(data).is_none_or(|there| there == read), "{read} of {:?} are read", rows_there(data));
}

/// The records of a file that was checked row by row: each is read, or its line is in the report.
fn each_read_or_refused(there: impl FnOnce() -> Option<usize>, read: u64, report: ValidationReport) {
    // Then the file was not read to its end.
    let ends = [Rule::Unreadable, Rule::Headings, Rule::Encoding];
    if report.iter().any(|found| ends.contains(&found.rule) || (found.rule == Rule::LongLine && found.line <= 1)) {
        return;
    }
    let lines: BTreeSet<u64> = report.iter().map(|found| found.line).filter(|line| *line > 0).collect();
    let (both, there) = (read as usize + lines.len(), there());
    assert!(there.is_none_or(|there| there == both), "{read} read, {} refused, {there:?} there", lines.len());
}

/// Keeps every place where a rule is broken.
fn keeping_all() -> ValidationReport {
    ValidationReport::keeping(1 << 20)
}

/// The tables of an array in TOML.
fn tables_of(table: &toml::Table, name: &str) -> Vec<toml::Table> {
    let array = table.get(name).and_then(toml::Value::as_array);
    array.into_iter().flatten().filter_map(|value| value.as_table().cloned()).collect()
}

/// What is shown reads as the same number, unless it is longer than what is read.
fn number(data: &[u8], _: &Bench) {
    const LONGEST: usize = 100_000;
    if let Some(number) = text(data).and_then(|text| rational::parse(text).ok()) {
        let shown = rational::display(&number);
        assert!(shown.len() > LONGEST || rational::parse(&shown).expect("what is shown is a number") == number);
    }
}

fn counts(data: &[u8], _: &Bench) {
    let Some(text) = text(data) else { return };
    for key in Law::keys() {
        if let Ok(counts) = Counts::parse(key, text) {
            let composition = Composition::new([counts]).expect("counts that were read compose");
            assert!(**composition.rho() > 0);
        }
    }
}

fn pair(data: &[u8], bench: &Bench) {
    let path = bench.file("pair.csv", data);
    if let Ok(pair) = Pair::read(&path, false) {
        let counts = Counts::new(Law::Pair(std::sync::Arc::new(pair)), 1, 1).expect("a pair that was read is counted");
        assert!(counts.rho() >= 0);
    }
    let _ = Pair::read(&path, true);
}

fn perturbation_table(data: &[u8], bench: &Bench) {
    let path = bench.file("cells.csv", data);
    let _ = PerturbationTable::read(&path, false);
    let _ = PerturbationTable::read(&path, true);
}

fn noise_table(data: &[u8], bench: &Bench) {
    let path = bench.file("noise.csv", data);
    if let Ok(table) = NoiseTable::read(&path, false) {
        assert!(table.masses().all(|(_, mass)| *mass > 0));
        let none = rational::parse("0").expect("a number");
        assert_eq!(table.masses().fold(none, |sum, (_, mass)| sum + mass), 1);
    }
    let _ = NoiseTable::read(&path, true);
}

fn release(data: &[u8], _: &Bench) {
    if let Some(release) = text(data).and_then(|text| Release::parse(text, "release.toml").ok()) {
        let whole: toml::Table = text(data).and_then(|text| text.parse().ok()).expect("it was read");
        let there = tables_of(&whole, "level");
        assert_eq!(release.levels.len(), there.len(), "every level is read");
        for (level, there) in release.levels.iter().zip(&there) {
            assert_eq!(level.queries.len(), tables_of(there, "query").len(), "every query is read");
        }
        // A release that was read has an account, whatever it says.
        let _ = release.composition(&[] as &[&str], None);
    }
}

fn ledger(data: &[u8], _: &Bench) {
    if let Some(ledger) = text(data).and_then(|text| LedgerFile::parse(text, "ledger.toml").ok()) {
        let whole: toml::Table = text(data).and_then(|text| text.parse().ok()).expect("it was read");
        let there = tables_of(&whole, "population");
        assert_eq!(ledger.populations.len(), there.len(), "every population is read");
        let of = |there: &toml::Table| there.get("releases").and_then(toml::Value::as_array).map_or(0, Vec::len);
        let there: usize = there.iter().map(of).sum::<usize>() + tables_of(&whole, "entry").len();
        let read: usize = ledger.populations.iter().map(|population| population.entries.len()).sum();
        assert_eq!(read, there, "every entry is read");
        for population in &ledger.populations {
            let _ = population.ledger();
        }
    }
}

fn wishes(data: &[u8], _: &Bench) {
    let _ = text(data).map(|text| query_targets::parse(text, "wishes.toml").is_ok());
}

fn tuning(data: &[u8], _: &Bench) {
    let _ = text(data).map(|text| TuningPlan::parse(text, "plan.toml").is_ok());
}

fn spine_plan(data: &[u8], bench: &Bench) {
    let _ = SpinePlan::read(&bench.file("plan.toml", data));
}

fn blocks(data: &[u8], bench: &Bench) {
    if let Ok(blocks) = Blocks::read(&bench.file("blocks.csv", data)) {
        all_read(data, blocks.geoids().len());
    }
}

fn spine(data: &[u8], bench: &Bench) {
    let _ = SavedSpine::read(bench.files(&["levels.csv", "units.csv", "blocks.csv", "spine.toml"], data));
}

fn histograms(data: &[u8], bench: &Bench) {
    let (saved, schema) = &bench.spine;
    let read = Histograms::read(&bench.file("counts.csv", data), saved, schema, "count", Reading::default());
    if let Ok(histograms) = read {
        all_read(data, histograms.lines());
    }
}

fn measurements(data: &[u8], bench: &Bench) {
    let folder = bench.files(&["measurements.json", "a.csv"], data);
    let _ = measurement_files::read(folder, |_, _, _, _| Ok(()));
}

fn config(data: &[u8], bench: &Bench) {
    let mut report = ValidationReport::keeping(4);
    let _ = SafeTabConfig::read(&bench.file("config.json", data), &mut report);
    let _ = report.into_result();
}

fn geography(data: &[u8], bench: &Bench) {
    let (config, _, _) = &bench.safetab;
    let mut report = keeping_all();
    let read = Geography::read(&bench.file("GRF-C.txt", data), config, &mut report);
    if let Some(read) = read {
        each_read_or_refused(|| lines_there(data), read.len() as u64, report);
    }
}

fn specification(data: &[u8], bench: &Bench) {
    let (config, _, _) = &bench.safetab;
    let mut report = ValidationReport::keeping(4);
    let _ = Specification::read(bench.files(&FILES, data), config, &mut report);
    let _ = report.into_result();
}

fn persons(data: &[u8], bench: &Bench) {
    let (config, specification, geography) = &bench.safetab;
    let mut report = keeping_all();
    let path = bench.file("person-records.txt", data);
    let read = check_persons(&path, config, specification, geography, &mut report, |_| ());
    each_read_or_refused(|| lines_there(data), read.records, report);
}

fn households(data: &[u8], bench: &Bench) {
    let (_, specification, geography) = &bench.safetab;
    let mut report = keeping_all();
    let path = bench.file("household-records.txt", data);
    let read = check_households(&path, &bench.homes, specification, geography, &mut report, |_| ());
    each_read_or_refused(|| lines_there(data), read.records, report);
}

/// A country's own specification.
fn country(data: &[u8], _: &Bench) {
    if let Some(Ok(country)) = text(data).map(|text| CountrySpecification::parse(text, "country.toml")) {
        let known = |grouping: &Grouping| grouping.stability as usize <= grouping.groups.len();
        assert!(!country.groupings.is_empty() && country.groupings.iter().all(known));
    }
}

/// A check of a country's records with these areas and persons.
fn check_country(bench: &Bench, areas: PathBuf, persons: PathBuf) -> dp_assay::Result<u64> {
    let specification = bench.root.join("data/examples/safetab-aldria/specification.toml");
    let job = Job {
        public: PublicJob {
            config: specification.clone(),
            specification,
            geography: areas,
            program: ProgramInputs::Country,
            edited: None,
            delta: Delta::try_from("1e-10").expect("a delta"),
        },
        records: persons,
        out: bench.folder.path().join("out"),
        insecure_seed: None,
        unfinished: UnfinishedDraw::Refuse,
        cluster: None,
    };
    job.check(&mut |_| ())
}

fn country_areas(data: &[u8], bench: &Bench) {
    let persons = bench.root.join("data/examples/safetab-aldria/persons.csv");
    let _ = check_country(bench, bench.file("areas.csv", data), persons);
}

fn country_persons(data: &[u8], bench: &Bench) {
    let areas = bench.root.join("data/examples/safetab-aldria/hamlets.csv");
    if let Ok(records) = check_country(bench, areas, bench.file("persons.csv", data)) {
        all_read(data, records as usize);
    }
}

/// Edited files of fixed width: persons, and their units.
fn edited(data: &[u8], bench: &Bench) {
    let folder = bench.files(&["CEF20_PER_01.txt", "CEF20_UNIT_01.txt"], data);
    let example = bench.root.join("data/examples/safetab");
    let job = Job {
        public: PublicJob {
            config: example.join("config.json"),
            specification: example,
            geography: bench.root.join("fuzz/seeds/edited-geography.txt"),
            program: ProgramInputs::Persons { order: SummaryOrder::default() },
            edited: Some(EditedFiles {
                persons: folder.join("CEF20_PER_01.txt"),
                units: CefUnits { path: folder.join("CEF20_UNIT_01.txt"), all_blocks: false },
            }),
            delta: Delta::try_from("1e-10").expect("a delta"),
        },
        records: folder.join("CEF20_PER_01.txt"),
        out: folder.join("out"),
        insecure_seed: Some(1),
        unfinished: UnfinishedDraw::Refuse,
        cluster: None,
    };
    if let Ok(read) = job.check(&mut |_| ()) {
        let persons = fs::read(folder.join("CEF20_PER_01.txt")).expect("it was read");
        let lines = persons.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let there = lines.filter(|line| !line.is_empty()).count();
        assert!(persons.starts_with(b"\x1f\x8b") || there as u64 == read, "{read} of {there} are read");
    }
}

fn group_totals(data: &[u8], bench: &Bench) {
    let (_, specification, geography) = &bench.safetab;
    let mut report = keeping_all();
    let path = bench.file("pop-group-totals.txt", data);
    let scope = bench.homes.scope();
    let read = PublishedTotals::read(&path, scope, specification, geography, TotalsCheck::AsGiven, &mut report);
    let Some(read) = read else { return };
    // A group that is given twice is reported, and stays.
    if report.iter().any(|found| found.rule == Rule::Duplicate) {
        return;
    }
    let groups =
        RegionType::ALL.iter().flat_map(|kind| IterationLevel::ALL.map(|level| read.groups(*kind, level).len()));
    let left = &read.left_out;
    let left_out = left.other_states + left.other_areas + left.without_units + left.not_tabulated;
    each_read_or_refused(|| lines_there(data), groups.sum::<usize>() as u64 + left_out, report);
}

/// The number of rows in the footer of a Parquet file, which was read before.
fn rows_of_parquet(path: &Path) -> Option<usize> {
    let reader = SerializedFileReader::new(fs::File::open(path).ok()?).ok()?;
    let groups = reader.metadata().row_groups().iter();
    groups.map(|group| usize::try_from(group.num_rows()).ok()).sum()
}

fn record_parquet(data: &[u8], bench: &Bench) {
    let (config, specification, geography) = &bench.safetab;
    let mut report = keeping_all();
    let path = bench.file("person-records.parquet", data);
    let read = check_persons(&path, config, specification, geography, &mut report, |_| ());
    each_read_or_refused(|| rows_of_parquet(&path), read.records, report);
}

fn noise_parquet(data: &[u8], bench: &Bench) {
    let path = bench.file("table.parquet", data);
    let out = bench.folder.path().join("noisy.parquet");
    let _ = fs::remove_file(&out);
    let sampler = Sampler::discrete_laplace(1.into()).expect("an epsilon");
    let done = Streams::with_insecure_seed(1).add_noise_to_columns(
        &sampler,
        TableSource::File(&path),
        &["count".to_string()],
        TableSink::New(&out),
        TableOptions::default(),
        &mut |_, _| {},
    );
    assert_eq!(done.is_ok(), out.exists(), "a table is written whole or not at all");
    if let Ok(done) = done {
        assert_eq!(Some(done.rows as usize), rows_of_parquet(&path), "every row has noise");
        assert_eq!(Some(done.rows as usize), rows_of_parquet(&out), "every row is written");
    }
}

fn nmf_rows(data: &[u8], bench: &Bench) {
    let path = bench.file("part.parquet", data);
    let axes = ["hhgq", "votingage", "hispanic", "cenrace"].map(String::from);
    let mut read = 0;
    let done = rows::read(&path, &axes, |_| {
        read += 1;
        Ok(())
    });
    assert!(done.is_err() || rows_of_parquet(&path) == Some(read), "{read} rows are read");
}

/// A file against itself.
fn estimates(data: &[u8], bench: &Bench) {
    let path = bench.file("estimates.csv", data);
    if let Ok(found) = tables::compare(&path, &path) {
        all_read(data, found.rows);
        assert_eq!(found.alone, (0, 0), "a file has the rows of itself");
    }
}

fn published_csv(data: &[u8], bench: &Bench) {
    let papers = published::papers(&[bench.file("published.csv", data).display().to_string()]);
    // What stands before the table begins with #.
    let lines = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data).split_inclusive(|byte| *byte == b'\n');
    let is_head = |line: &&[u8]| line.starts_with(b"#") || line.trim_ascii().is_empty();
    let table: Vec<u8> = lines.skip_while(is_head).flatten().copied().collect();
    if let Ok(papers) = papers {
        all_read(&table, papers[0].values.len());
    }
}

/// The blocks of the file are those of the spine and others.
fn entities(data: &[u8], bench: &Bench) {
    let spine = vec![440_010_301_001_000, 440_010_301_001_001, 440_010_302_001_000, 440_030_101_001_000];
    let mut blocks = Blocks::from_geoids(spine).expect("blocks");
    let read = blocks.attach(EntityKind::Mcd, &bench.file("entities.csv", data), None, "COUSUBFP");
    if let Ok(mismatch) = read {
        all_read(data, 4 - mismatch.without_entity.len() + mismatch.unknown.len());
    }
}

fn household_config(data: &[u8], _: &Bench) {
    let mut report = ValidationReport::keeping(4);
    let _ = text(data).map(|text| HouseholdConfig::from_text(text, "config.json", &mut report));
    let _ = report.into_result();
}

/// A certificate is sealed by its hash: what is read here has been sealed again, so that its claim is reached.
fn certificate(data: &[u8], bench: &Bench) {
    let path = bench.file("certificate.json", data);
    let _ = Claim::read(&path);
    let Ok(mut whole) = serde_json::from_slice::<Value>(data) else { return };
    whole.sort_all_objects();
    let Some(fields) = whole.as_object_mut() else { return };
    fields.remove("sha256");
    let text = |value: &Value| {
        let mut sorted = value.clone();
        sorted.sort_all_objects();
        format!("{sorted}\n")
    };
    let seal = Sha256::digest(text(&whole).as_bytes());
    whole["sha256"] = Value::String(seal.iter().map(|byte| format!("{byte:02x}")).collect());
    if let Ok(claim) = Claim::read(&bench.file("certificate.json", text(&whole).as_bytes())) {
        assert!(!claim.paths.units().is_empty(), "a claim is about something");
    }
}

fn published_values(data: &[u8], bench: &Bench) {
    let papers = published::papers(&[bench.file("published.toml", data).display().to_string()]);
    if let Ok(papers) = papers {
        let whole: toml::Table = text(data).and_then(|text| text.parse().ok()).expect("it was read");
        assert_eq!(papers[0].values.len(), tables_of(&whole, "value").len(), "every value is read");
    }
}

fn own_plan(data: &[u8], bench: &Bench) {
    let _ = OwnPlan::read(&bench.file("plan.toml", data));
}

fn hierarchy(data: &[u8], bench: &Bench) {
    let levels = ["country", "region", "district", "parish"].map(String::from);
    if let Ok(hierarchy) = Hierarchy::read(&bench.file("hierarchy.csv", data), &levels) {
        all_read(data, hierarchy.tree.units(3));
    }
}

fn areas(data: &[u8], bench: &Bench) {
    let path = bench.file("areas.csv", data);
    if let Ok(areas) = Areas::read(&path) {
        let assigned: usize = areas.of_block.values().map(Vec::len).sum();
        all_read(data, assigned + areas.unassigned as usize);
    }
    if let Ok(published) = Published::read(&path) {
        all_read(data, published.lines());
    }
}

fn truth(data: &[u8], bench: &Bench) {
    if let Ok(truth) = Truth::read(&bench.file("truth.csv", data), &bench.spine.1, "count", Reading::default()) {
        all_read(data, truth.lines());
    }
}

fn lines(data: &[u8], bench: &Bench) {
    if let Some(Ok(lines)) = text(data).map(|text| read_lines(text, "lines.csv", &bench.spine.1)) {
        all_read(data, lines.len());
    }
}

/// All rows that are read get noise, and a table that is refused is not written.
fn csv(data: &[u8], bench: &Bench) {
    let path = bench.file("table.csv", data);
    let out = bench.folder.path().join("noisy.csv");
    for line_breaks in [false, true] {
        let _ = fs::remove_file(&out);
        let reading = Reading { line_breaks, ..Reading::default() };
        let read = || -> dp_assay::Result<(u64, Vec<String>)> {
            let mut table = CsvTable::read(&path, reading)?;
            let (mut rows, headings) = (0, table.headings().to_vec());
            while table.next()? {
                rows += 1;
            }
            Ok((rows, headings))
        };
        let read = read();
        let column = read.as_ref().map_or_else(|_| "count".to_string(), |(_, headings)| headings[0].clone());
        let sampler = Sampler::discrete_laplace(1.into()).expect("an epsilon");
        let done = Streams::with_insecure_seed(1).add_noise_to_columns(
            &sampler,
            TableSource::File(&path),
            &[column],
            TableSink::New(&out),
            TableOptions { line_breaks, ..TableOptions::default() },
            &mut |_, _| {},
        );
        assert_eq!(done.is_ok(), out.exists(), "a table is written whole or not at all");
        if let Ok(done) = done {
            assert_eq!(done.rows, read.expect("what has noise is well formed").0, "every row has noise");
            all_read(data, done.rows as usize);
        }
    }
}

fn state_totals(data: &[u8], bench: &Bench) {
    let path = bench.file("totals.csv", data);
    if let Ok(totals) = GivenTotals::read(&path) {
        all_read(data, totals.of_state.len());
    }
    let areas = Areas::read(&bench.root.join("data/examples/nmf/towns.csv")).expect("the bundled towns");
    if let Ok(areas) = areas.with_totals(&path) {
        all_read(data, areas.totals().count());
    }
}
