//! What reads bytes of each format, for the fuzzer and for the tests that read its corpus: whatever the bytes are, there is an
//! answer or an error. Where a format is a folder, its files stand in one input, with lines of `%%` between them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use dp_assay::{
    account::{Composition, Counts},
    certificate::Claim,
    csv_reader::{CsvTable, Reading},
    noise::{Sampler, Streams, TableOptions, TableSink, TableSource},
    numeric::rational,
    release::{Release, ledger::LedgerFile, query_targets, schema::Schema},
    replication::published,
    safetab::{
        groups::{FILES, Specification},
        schema::{Geography, HouseholdConfig, SafeTabConfig, ValidationReport, check_persons},
        tuning::plan::TuningPlan,
    },
    spine::{
        blocks::Blocks,
        own::Hierarchy,
        plan::{OwnPlan, SpinePlan},
        spine_files::SavedSpine,
    },
    topdown::{
        histograms::Histograms,
        measurement_files,
        nmf::{
            answers::{Areas, read_lines},
            tables::Published,
            totals::GivenTotals,
            truth::Truth,
        },
    },
};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What reads the bytes.
pub type Format = fn(&[u8], &Bench);

/// All formats by their names.
pub const FORMATS: [(&str, Format); 25] = [
    ("number", number),
    ("counts", counts),
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
];

/// A format with a folder for its files, and what the other files say.
pub struct Bench {
    format: Format,
    folder: tempfile::TempDir,
    safetab: (SafeTabConfig, Specification, Geography),
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
        let saved = SavedSpine::read(&root.join("fuzz/seeds/spine-folder")).expect("the spine of the seeds");
        let schema = Release::find("pl94-units-us").expect("bundled").schema.expect("it has attributes");
        Some(Bench { format: *format, folder, safetab: (config, specification, geography), spine: (saved, schema) })
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
    for parse in [str::parse::<Counts>, Counts::parse_gaussian, Counts::parse_discrete_laplace] {
        if let Ok(counts) = parse(text) {
            let composition = Composition::new([counts]).expect("counts that were read compose");
            assert!(**composition.rho() > 0);
        }
    }
}

fn release(data: &[u8], _: &Bench) {
    if let Some(release) = text(data).and_then(|text| Release::parse(text, "release.toml").ok()) {
        // A release that was read has an account, whatever it says.
        let _ = release.composition(&[] as &[&str], None);
    }
}

fn ledger(data: &[u8], _: &Bench) {
    if let Some(ledger) = text(data).and_then(|text| LedgerFile::parse(text, "ledger.toml").ok()) {
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
    let _ = Blocks::read(&bench.file("blocks.csv", data));
}

fn spine(data: &[u8], bench: &Bench) {
    let _ = SavedSpine::read(bench.files(&["levels.csv", "units.csv", "blocks.csv", "spine.toml"], data));
}

fn histograms(data: &[u8], bench: &Bench) {
    let (saved, schema) = &bench.spine;
    let _ = Histograms::read(&bench.file("counts.csv", data), saved, schema, "count", Reading::default());
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
    let mut report = ValidationReport::keeping(4);
    let _ = Geography::read(&bench.file("GRF-C.txt", data), config, &mut report);
    let _ = report.into_result();
}

fn specification(data: &[u8], bench: &Bench) {
    let (config, _, _) = &bench.safetab;
    let mut report = ValidationReport::keeping(4);
    let _ = Specification::read(bench.files(&FILES, data), config, &mut report);
    let _ = report.into_result();
}

fn persons(data: &[u8], bench: &Bench) {
    let (config, specification, geography) = &bench.safetab;
    let mut report = ValidationReport::keeping(4);
    check_persons(&bench.file("person-records.txt", data), config, specification, geography, &mut report, |_| ());
    let _ = report.into_result();
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
    let _ = published::papers(&[bench.file("published.toml", data).display().to_string()]);
}

fn own_plan(data: &[u8], bench: &Bench) {
    let _ = OwnPlan::read(&bench.file("plan.toml", data));
}

fn hierarchy(data: &[u8], bench: &Bench) {
    let levels = ["country", "region", "district", "parish"].map(String::from);
    let _ = Hierarchy::read(&bench.file("hierarchy.csv", data), &levels);
}

fn areas(data: &[u8], bench: &Bench) {
    let path = bench.file("areas.csv", data);
    let _ = (Areas::read(&path), Published::read(&path));
}

fn truth(data: &[u8], bench: &Bench) {
    let _ = Truth::read(&bench.file("truth.csv", data), &bench.spine.1, "count", Reading::default());
}

fn lines(data: &[u8], bench: &Bench) {
    let _ = text(data).map(|text| read_lines(text, "lines.csv", &bench.spine.1).is_ok());
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
        }
    }
}

fn state_totals(data: &[u8], bench: &Bench) {
    let _ = GivenTotals::read(&bench.file("totals.csv", data));
}
