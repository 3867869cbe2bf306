//! Error messages: an unknown name is reported as unknown, with the nearest known one; a number out of range is reported with the range.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::common::program::refusal;

/// A file in a folder, and its path for the command line.
fn put(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("a file");
    path.to_str().expect("UTF-8").to_string()
}

const BUNDLED: &str = "pl94-persons-us, pl94-persons-pr, pl94-units-us, pl94-units-pr, dhc-persons-us, dhc-persons-pr, dhc-units-us, dhc-units-pr, \
                       dhc-demo-persons-us, dhc-demo-persons-pr, dhc-demo-units-us, dhc-demo-units-pr, ddhca-us, ddhca-pr, ddhcb-us, ddhcb-pr, \
                       sdhc-us, sdhc-pr, demo-2010-persons-us, demo-2010-households-us, su-su-wang-2025";
const LEVELS: &str = "The release pl94-persons-us has US, State, County, Tract, Block_Group, Block";
const QUERIES: &str = "Attributes and recodes may be joined by *; there are total, detailed, hhgq, votingage, hispanic, cenrace, hhinstlevels";
const REGIONS: &str = "There are USA, STATE, COUNTY, TRACT, PLACE, AIANNH, PR-STATE, PR-COUNTY, PR-TRACT, PR-PLACE";

/// The exact message for an unknown name; only the first line, because clap adds its own.
fn says(args: &[&str], expected: &str) {
    let said = refusal(args);
    let said = said.trim_end();
    let (said, kind) = match said.strip_prefix("assay: ") {
        Some(own) => (own, "assay: "),
        None => (said.lines().next().unwrap_or_default().trim_start_matches("error: "), "error: "),
    };
    assert_eq!(said, expected, "{args:?} ({kind})");
}

#[test]
fn an_unknown_name_is_reported_with_the_nearest_known_one() {
    let nmf = concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples/nmf");
    let product = format!("{nmf}/US_Person_PL_PROD");
    let safetab = concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples/safetab");
    let config = format!("{safetab}/config.json");
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out.csv").to_str().expect("UTF-8").to_string();
    let delta = ["--delta", "1e-9"];
    let gaussian = ["--discrete-gaussian", "5"];
    let pl94 = ["--release", "pl94-persons-us"];
    let estimate = [&["nmf", "estimate", nmf, "--out", &out][..], &pl94].concat();
    let single = [&["risk", "single", "--prior", "1/2"][..], &pl94].concat();
    let tune = ["tune", "--config", &config, "--spec", safetab];
    let cases: &[(&[&str], &[&str], String)] = &[
                // Releases, and everything that is given by a name or a path.
        (&["epsilon", "--release", "pl94-person-us"], &delta, "--release: unknown release \"pl94-person-us\", did you mean \"pl94-persons-us\"?".into()),
        (&["compare", "--release", "PL94-persons-us"], &delta, "--release: unknown release \"PL94-persons-us\", did you mean \"pl94-persons-us\"?".into()),
        (&["report", "--release", "zzz"], &["--out", &out.replace(".csv", ".html")], format!("--release: unknown release \"zzz\": there is no file of this name, and bundled are {BUNDLED}")),
        (&["schema", "dhc-person-us"], &[], "unknown release \"dhc-person-us\", did you mean \"dhc-persons-us\"?".into()),
        (&["ledger", "us-2020-person"], &delta, "unknown ledger \"us-2020-person\", did you mean \"us-2020-persons\"? There is no file of this name, and bundled are us-2020-persons".into()),
        // Levels.
        (&["epsilon", "--level", "Sate"], &[&pl94[..], &delta].concat(), format!("--level: unknown level \"Sate\", did you mean \"State\"? {LEVELS}")),
        (&["epsilon", "--level", "Moon"], &[&pl94[..], &delta].concat(), format!("--level: unknown level \"Moon\": {}", LEVELS.replacen('T', "t", 1))),
        (&single, &["--level", "Blok", "--query", "total"], format!("--level: unknown level \"Blok\", did you mean \"Block\"? {LEVELS}")),
        (&estimate, &["--level", "Stat"], format!("--level: unknown level \"Stat\", did you mean \"State\"? {LEVELS}")),
        (&estimate, &["--tabulation", "Contry"], "--tabulation: unknown tabulation \"Contry\", did you mean \"County\"? There are State, County, Tract, Block_Group, Block".into()),
        // Queries.
        (&estimate, &["--level", "State", "--queries", "hisp"], format!("unknown query \"hisp\", did you mean \"hispanic\"? {QUERIES}")),
        (&estimate, &["--level", "State", "--queries", "zzz"], format!("unknown query \"zzz\": {}", QUERIES.replacen('A', "a", 1))),
        (&single, &["--level", "US", "--query", "detaild"], "--query: unknown query \"detaild\", did you mean \"detailed\"? The level US has cenrace, hispanic, votingage, hhinstlevels, hhgq, hispanic * cenrace, votingage * cenrace, votingage * hispanic, votingage * hispanic * cenrace, detailed".into()),
        // States.
        (&estimate, &["--level", "State", "--states", "25"], format!("{product}: unknown state \"25\": the folder has 09, 44")),
        (&estimate, &["--level", "State", "--states", "99"], format!("{product}: unknown state \"99\": no state has this code, and the folder has 09, 44")),
        // Kinds of regions.
        (&tune, &["--set", "county,2=0.1"], format!("--set: unknown region type \"county\", did you mean \"COUNTY\"? {REGIONS}")),
        // Papers, their figures and their values.
        (&["verify", "census-2021"], &[], "unknown paper \"census-2021\", did you mean \"census-2020\"? There is no file of this name, and the published values are bundled of su-su-wang-2025, census-2020, kazan-reiter-2023, safetab-2021, safetab-p-2024, spines-2024, sieve-quadrature-2026".into()),
        (&["figures", "su-su-wang-2025/figre-7"], &[], "unknown figure \"figre-7\", did you mean \"figure-7\"?".into()),
                // The next number is another figure, so it is not suggested.
        (&["figures", "spines-2024/figure-9"], &[], "unknown figure \"figure-9\": spines-2024 has".into()),
        (&["figures", "su-su-wang/figure-7"], &[], "unknown paper \"su-su-wang\", did you mean \"su-su-wang-2025\"? Figures are drawn of su-su-wang-2025, kazan-reiter-2023, safetab-2021, safetab-p-2024, spines-2024, sieve-quadrature-2026".into()),
        (&["prove", "--row", "census-2020/pl94-person-us-rho"], &["--out", &out.replace(".csv", ".json")], "--row: unknown value \"pl94-person-us-rho\", did you mean \"pl94-persons-us-rho\"?".into()),
                // Names from a short list of arguments, checked by clap.
        (&["epsilon", "--neighbors", "bouned"], &[&gaussian[..], &delta].concat(), "invalid value 'bouned' for '--neighbors <RELATION>'".into()),
        (&["epsilon", "--format", "jsn"], &[&gaussian[..], &delta].concat(), "invalid value 'jsn' for '--format <table|csv|json|md|latex>'".into()),
        (&["calibrate", "--match", "zcpd"], &[&gaussian[..], &delta].concat(), "invalid value 'zcpd' for '--match <MATCH>'".into()),
        (&["epsilon", "--discrete-gausian", "5"], &delta, "unexpected argument '--discrete-gausian' found".into()),
        (&["epsilom"], &delta, "unrecognized subcommand 'epsilom'".into()),
        // Laws of samples, examples that the law allows, and empty names of files.
        (&["epsilon", "--noise-multiplier", "1", "--steps", "3"], &delta, "--noise-multiplier: needs --sample-rate Q, or --batch-size B with --records N".into()),
        (&["epsilon", "--noise-multiplier", "1", "--sample-rate", "0.1"], &delta, "--noise-multiplier: needs --steps T or --epochs E".into()),
        (&["epsilon", "--noise-multiplier", "1", "--batch-size", "61", "--records", "60", "--steps", "3"], &delta, "--batch-size: batch size = 61 is out of range: at most the 60 records".into()),
        (&["epsilon", "--noise-multiplier", "1", "--sample-rate", "0", "--steps", "3"], &delta, "--sample-rate: sample rate = 0 is out of range: a number above 0".into()),
        (&["epsilon", "--noise-multiplier", "1", "--sample-rate", "0.1", "--steps", "1e10"], &delta, "--steps: steps = 10000000000 is out of range: a whole number from 1 to 1000000000".into()),
        (&["epsilon", "--sampled", "0.1:foo:1"], &delta, "--sampled 0.1:foo:1: unknown law of samples \"foo\": there are gaussian, discrete-gaussian, discrete-laplace, truncated-gaussian, truncated-laplace, randomized-response, table".into()),
        (&["epsilon", "--approximate", "1"], &delta, "--approximate 1: approximate \"1\": expected EPSILON:DELTA, as in 1:1e-9".into()),
        (&["epsilon", "--truncated-laplace", "1"], &delta, "--truncated-laplace 1: truncated-laplace \"1\": expected EPSILON:BOUND, as in 1:5".into()),
        (&["epsilon", "--table", ""], &delta, "--table \"\": \"\": no such file".into()),
        (&["audit", "--draws", ""], &["--law", "discrete-gaussian:5"], "--draws: \"\": no such file".into()),
    ];
    for (command, rest, expected) in cases {
        let args = [*command, *rest].concat();
        match expected.strip_suffix(" has") {
            // A list that grows with the program.
            Some(_) => {
                assert!(refusal(&args).starts_with(&format!("assay: {expected} ")), "{args:?}: {}", refusal(&args))
            }
            None => says(&args, expected),
        }
    }
}

#[test]
fn an_unknown_name_in_a_file_is_reported_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| put(folder.path(), name, text);
    let out = folder.path().join("out.csv").to_str().expect("UTF-8").to_string();
    let counts = file("counts.csv", "count,place\n5,a\n");
    let noise = ["--discrete-gaussian", "5"];
    let column = |command: &[&str], name: &str, near: &str| {
        let expected =
            format!("{counts}, line 1: unknown column {name:?}, did you mean {near:?}? The header has count, place");
        says(&[command, &noise].concat(), &expected);
    };
    column(&["noise", &counts, "--column", "counts", "--out", &out], "counts", "count");
    column(&["errors", "--counts", &counts, "--column", "cuont"], "cuont", "count");
    column(&["simulate", &counts, "--y", "plac", "--categories", "a,b"], "plac", "place");
    let release = |from: &str, to: &str, expected: &str| {
        let text = concat!(
            "name = \"own\"\ntitle = \"Own\"\nsource = \"Own\"\nneighbors = \"add-remove\"\n",
            "[[attribute]]\nname = \"age\"\nvalues = [\"a\", \"b\"]\n",
            "[[level]]\nname = \"US\"\n[[level.query]]\nname = \"age\"\nsigma2 = 5\n"
        );
        let path = file("own.toml", &text.replacen(from, to, 1));
        says(&["schema", &path], &format!("{path}, {expected}"));
    };
    release("title", "titel", "line 2, column 1: unknown field \"titel\", did you mean \"title\"?");
    release("sigma2", "sigm2", "line 12, column 1: unknown field \"sigm2\", did you mean \"sigma2\"?");
    let allocation = file("queries.toml", "[[query]]\nname = \"a\"\nmost_margn = 3\n");
    let said = refusal(&["allocate", &allocation, "--epsilon", "1", "--delta", "1e-9"]);
    assert!(
        said.starts_with(&format!(
            "assay: {allocation}, line 3, column 1: unknown field \"most_margn\", did you mean \"most_margin\"?"
        )),
        "{said}"
    );
    let plan = file("plan.toml", "settings = \"dhd\"\nrelease = \"pl94-persons-us\"\n");
    let blocks = file("blocks.csv", "BLOCKID\n440030001001001\n");
    let spine = folder.path().join("spine").to_str().expect("UTF-8").to_string();
    let said = refusal(&["spine", "--blocks", &blocks, "--plan", &plan, "--out", &spine]);
    assert!(said.contains("unknown spine \"dhd\", did you mean \"dhc\"?"), "{said}");
}

/// An error of a value that is not about its range names its kind: a conflict, a missing part, a format, or an unsupported kind.
#[test]
fn only_numbers_are_out_of_range() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("UTF-8");
    let delta = ["--delta", "1e-9"];
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples/safetab/config.json");
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples/safetab");
    for (args, expected) in [
        (
            &["figures", "su-su-wang-2025/figure-7", "--prior", "1/2", "--out", out][..],
            "su-su-wang-2025/figure-7 does not take prior: it takes release, level, delta, from and to, points",
        ),
        (
            &["figures", "su-su-wang-2025/figure-7", "--from", "5", "--to", "1", "--out", out],
            "from = 5 must be smaller than to = 1",
        ),
        (
            &["epsilon", "--release", "pl94-persons-us", "--level", "US", "--level", "US", "--delta", "1e-9"],
            "--level: the level \"US\" is named twice: name each once, it is counted once",
        ),
        (
            &["epsilon", "--discrete-gaussian", "5@-2", "--delta", "1e-9"],
            "--discrete-gaussian 5@-2: SHIFT \"-2\": expected a positive whole number; the sign does not matter: use 2",
        ),
        (
            &["epsilon", "--discrete-gaussian", "5@1,2", "--delta", "1e-9"],
            "--discrete-gaussian 5@1,2: SHIFT \"1,2\": expected a positive whole number; repeat the option, once for each number",
        ),
        (
            &["epsilon", "--discrete-gaussian", "5x1.5", "--delta", "1e-9"],
            "--discrete-gaussian 5x1.5: COUNT \"1.5\": expected a positive whole number; as in 5x10@1",
        ),
        (
            &["calibrate", "--discrete-gaussian", "5", "--match", "published", delta[0], delta[1]],
            "composition: --match: no epsilon was published for this account: match zcdp, best-order or pure",
        ),
        (
            &["calibrate", "--discrete-gaussian", "5", "--match", "pure", delta[0], delta[1]],
            "composition: --match: \"pure\" has no finite epsilon here, because the loss of Gaussian noise is unbounded",
        ),
        (
            &["prove", "--row", "census-2020", "--out", "c.json"],
            "--row: the row \"census-2020\": expected PAPER/ID, a paper or a file of published values, and the id of one of them",
        ),
        (
            &["tune", "--config", config, "--spec", spec, "--set", "COUNTY=1"],
            "--set: the change of a budget \"COUNTY=1\": expected TYPE,LEVEL=BUDGET or TYPE,LEVEL=moe:M, such as COUNTY,2=0.159 or T3:COUNTY,2=moe:11",
        ),
        (
            &["risk", "single", "--rho", "0.1,0.2", "--prior", "1/2", "--noisy", "1,2,3"],
            "3 noisy counts for 2 rho: give one for each rho",
        ),
        (
            &["risk", "hierarchical", "--rho", "0.099,0.246", "--others", "2,3", "--prior", "1/2", "--truth", "1,1,0"],
            "2 numbers of other groups for 2 levels: give 1, one for each level but the last",
        ),
    ] {
        let said = refusal(args);
        let said = said.trim_end().strip_prefix("assay: ").unwrap_or(&said);
        assert!(said.ends_with(expected), "{args:?}: {said}");
        assert!(!said.contains("out of range"), "{said}");
    }
}

/// The Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => all.extend(sources(&path)),
            false if path.extension().is_some_and(|end| end == "rs") => all.push(path),
            false => {}
        }
    }
    all
}

/// The text inside the bracket that opens at a position.
fn bracketed(text: &str) -> &str {
    let mut depth = 0;
    let mut in_quotes = false;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '"' if before != '\\' => in_quotes = !in_quotes,
            '(' | '[' | '{' if !in_quotes => depth += 1,
            ')' | ']' | '}' if !in_quotes => {
                depth -= 1;
                if depth == 0 {
                    return &text[..=at];
                }
            }
            _ => {}
        }
        before = letter;
    }
    text
}

/// The last text in quotes.
fn last_quoted(text: &str) -> Option<&str> {
    let end = text.rfind('"')?;
    let begin = text[..end].rfind('"')?;
    Some(&text[begin + 1..end])
}

/// The expected value in an error message: the last argument, or the last `expected` or `allowed` before it.
fn expected_at(source: &str, at: usize) -> Option<&str> {
    let call = bracketed(&source[at..]);
    let last = call.trim_end_matches(')').trim_end().trim_end_matches(',').trim_end();
    let name = ["$expected", "expected", "allowed"].into_iter().find(|name| last.ends_with(name));
    match name {
        None => last_quoted(call),
        // A macro, or a function of the caller.
        Some("$expected") => Some("at least"),
        Some(name) => {
            let before = &source[..at];
            let declared = [format!("let {name} ="), format!(", {name}) ="), format!(" {name}: &str")];
            let begin = declared.iter().filter_map(|declared| before.rfind(declared.as_str())).max()?;
            let statement = &before[begin..];
            match statement.starts_with(&declared[2]) {
                true => Some("at least"),
                false => statement.split_inclusive(';').next(),
            }
        }
    }
}

/// Whether a text states a range in numbers.
fn states_a_range(words: &str) -> bool {
    const WORDS: [&str; 14] = [
        "at least",
        "at most",
        "above",
        "below",
        "between",
        "more than",
        "less than",
        "or more",
        "within",
        "exactly",
        "up to",
        "smaller",
        "larger",
        "from",
    ];
    WORDS.iter().any(|word| words.contains(word)) || words.chars().any(|letter| letter.is_ascii_digit())
}

/// `X = V is out of range: ...` is only for numbers: every use in the library states the range.
#[test]
fn out_of_range_is_used_only_with_a_range() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for path in ["src", "crates"].into_iter().flat_map(|folder| sources(&root.join(folder))) {
        let source = fs::read_to_string(&path).expect("UTF-8");
        for (at, call) in source.match_indices("Error::out_of_range(") {
            let open = at + call.len() - 1;
            let line = source[..at].lines().count();
            let expected = expected_at(&source, open)
                .unwrap_or_else(|| panic!("{}, line {line}: no range was found", path.display()));
            assert!(states_a_range(expected), "{}, line {line}: {expected:?} states no range", path.display());
            seen += 1;
        }
        // Only the function checked above, and the code that names its option, make the error.
        for (at, _) in source.match_indices("Error::OutOfRange {") {
            let braces = bracketed(&source[at + "Error::OutOfRange ".len()..]);
            let is_pattern = braces.contains("..") || braces == "{ what, value, expected }";
            let is_renamed = braces.contains("what: ") && braces.contains(", value, expected");
            let is_own = path.ends_with("src/error.rs");
            assert!(is_pattern || is_renamed || is_own, "{}: {braces}", path.display());
        }
    }
    assert!(seen > 100, "only {seen} refusals were found");
    assert!(!states_a_range("one that it takes") && states_a_range("1 or 2"));
}
