//! Published values of the user: a file in the format of the papers' files is recomputed and judged, or refused with the place of the fault.

use std::{
    fs,
    path::{Path, PathBuf},
};

use dp_assay::replication::published::{self, Unit};
use serde_json::Value;

use crate::common::program::{assay, json, refusal};

const HEAD: &str = "paper = 'own'\ntitle = 'A report'\n";

/// A value with this printed text, unit and computation.
fn value(id: &str, printed: &str, unit: &str, compute: &str) -> String {
    format!(
        "[[value]]\nid = '{id}'\nplace = 'Table 1'\nprinted = {printed}\nunit = '{unit}'\ncompute = {{ {compute} }}\n"
    )
}

fn written(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> String {
    let file: PathBuf = folder.join(name);
    fs::write(&file, text).unwrap();
    file.display().to_string()
}

fn rows(answer: &Value) -> &Vec<Value> {
    answer["papers"][0]["rows"].as_array().expect("rows")
}

#[test]
fn the_template_runs_as_it_is_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml").display().to_string();
    assay(&["verify", "--new", &file]).assert().success();
    let answer = json(&["verify", &file]);
    let verdicts: Vec<&str> = rows(&answer).iter().map(|row| row["verdict"].as_str().unwrap()).collect();
    let (last, others) = verdicts.split_last().unwrap();
    assert_eq!((*last, others.last()), ("differs", Some(&"not-printed")));
    assert!(
        others[..others.len() - 1].iter().all(|verdict| *verdict == "agrees") && others.len() == 11,
        "{verdicts:?}"
    );
    assert_eq!(answer["papers"][0]["values"], 11, "what is not printed is not counted");
    // The last has an erratum and a computation that gives the printed value.
    assert!(rows(&answer)[11]["erratum"].is_string() && rows(&answer)[11]["printed_by"]["lower"].is_number());
    fs::write(&file, "precious").unwrap();
    assert!(refusal(&["verify", "--new", &file]).contains("is there already"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    assert!(refusal(&["verify", "--new", folder.path().to_str().unwrap()]).contains("--new"));
    assert!(refusal(&["verify", "--new", "x", "--json"]).contains("--new"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Every verdict that a file can have, and the exit status that follows.
#[test]
fn the_exit_status_is_that_of_the_worst_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let epsilon = "kind = 'epsilon', discrete-gaussian = '5x10', delta = 1e-11";
    let below = "kind = 'below-zcdp', discrete-gaussian = '5x10', deltas = [1e-5, 1e-11]";
    for (printed, unit, compute, verdict, status) in [
        ("'10.12'", "nats", epsilon, "agrees", 0),
        ("10.1248", "nats", epsilon, "agrees", 0),
        ("10.13", "nats", epsilon, "differs", 1),
        ("10.13", "bound", epsilon, "agrees", 0),
        ("10.12", "bound", epsilon, "holds-to-digits", 1),
        ("10.120", "bound", epsilon, "disproved", 1),
        ("10.12", "least", epsilon, "agrees", 0),
        ("10.13", "least", epsilon, "disproved", 1),
        ("10.12484", "rounded-up", epsilon, "agrees", 0),
        ("10.13", "rounded-up", epsilon, "differs", 1),
        ("1", "sum", "kind = 'rho', discrete-gaussian = '5x10'", "agrees", 0),
        ("'2/2'", "sum", "kind = 'rho', discrete-gaussian = '5x10'", "agrees", 0),
        ("1", "least", "kind = 'rho', discrete-gaussian = '5x10'", "agrees", 0),
        ("1.0001", "sum", "kind = 'rho', discrete-gaussian = '5x10'", "differs", 1),
        ("true", "claim", below, "agrees", 0),
        ("50.0", "percent", "kind = 'correct-decision', discrete-gaussian = '1e18', prior = 0.5", "agrees", 0),
        ("43.83", "percent", "kind = 'risk', of = 'posterior', rho = 0.099, prior = 0.5, noisy = 0", "differs", 1),
        ("47.53", "percent", "kind = 'risk', of = 'posterior', rho = 0.099, prior = 0.5, noisy = 0", "agrees", 0),
    ] {
        let file = written(folder.path(), "own.toml", HEAD.to_string() + &value("a", printed, unit, compute));
        let output = assay(&["verify", &file, "--json"]).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        assert_eq!(rows(&answer)[0]["verdict"], verdict, "{printed} {unit} {compute}: {answer}");
        assert_eq!(output.status.code(), Some(status), "{printed} {unit} {compute}");
        // A recorded erratum explains any disagreement.
        let explained = fs::read_to_string(&file).unwrap() + "erratum = 'a slip'\n";
        assay(&["verify", &written(folder.path(), "own.toml", explained)]).assert().code(0);
    }
}

/// A row of each verdict, and two rows of one fault, which is counted once.
#[test]
fn a_file_can_have_every_verdict_and_faults_are_counted_apart() {
    let folder = tempfile::tempdir().unwrap();
    let counts = "discrete-gaussian = '5x10', delta = 1e-11";
    let epsilon = format!("kind = 'epsilon', {counts}");
    let zcdp = format!("{{ kind = 'zcdp-epsilon', {counts} }}");
    let shifted = "kind = 'pure-epsilon', discrete-laplace = '1x1@2'";
    let rows_of_file = [
        ("10.12", "nats", epsilon.as_str(), String::new(), "agrees"),
        ("11.07", "nats", &epsilon, format!("readings = [{{ as = 'zCDP', compute = {zcdp} }}]"), "agrees-as-read"),
        ("10.12", "bound", &epsilon, "erratum = 'rounded'".to_string(), "holds-to-digits"),
        ("10.21", "nats", &epsilon, "erratum = 'a slip'\nfault-kind = 'misprint'".to_string(), "misprint"),
        (
            "1",
            "bound",
            shifted,
            "erratum = 'a change of at most 1 is meant'\nfault-kind = 'hypothesis-missing'".to_string(),
            "hypothesis-missing",
        ),
        (
            "11.07",
            "nats",
            &epsilon,
            format!("erratum = 'of zCDP'\nfault-kind = 'not-of-the-stated-model'\nprinted_by = {zcdp}"),
            "not-of-the-stated-model",
        ),
        // The computation that is named for the figure does not give it.
        (
            "11.17",
            "nats",
            &epsilon,
            format!("erratum = 'of zCDP'\nfault-kind = 'not-of-the-stated-model'\nprinted_by = {zcdp}"),
            "differs",
        ),
        ("10.33", "nats", &epsilon, "erratum = 'no'\nfault = 'wrong-noise'".to_string(), "differs"),
        ("9.5", "bound", &epsilon, "erratum = 'no'\nfault = 'wrong-noise'".to_string(), "disproved"),
        ("9.5", "bound", &epsilon, "erratum = 'no'\nchosen = 'the ten counts'".to_string(), "differs"),
        ("0.9", "bound", "kind = 'epsilon', pure = '1', delta = 1e-6", "erratum = 'open'".to_string(), "undecided"),
        ("0.9", "probability", "kind = 'risk', of = 'needs-data', needed = 'counts'", String::new(), "needs-data"),
        ("10.12", "nats", &epsilon, "circular = true".to_string(), "circular"),
        ("not printed", "nats", &epsilon, String::new(), "not-printed"),
    ];
    let text: String = (rows_of_file.iter().enumerate())
        .map(|(k, (printed, unit, compute, more, _))| {
            value(&format!("v{k}"), &format!("'{printed}'"), unit, compute) + more + "\n"
        })
        .collect();
    let file = written(folder.path(), "own.toml", HEAD.to_string() + &text);
    let output = assay(&["verify", &file, "--json"]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let found: Vec<&str> = rows(&answer).iter().map(|row| row["verdict"].as_str().unwrap()).collect();
    assert_eq!(found, rows_of_file.map(|row| row.4), "{answer}");
    assert_eq!(output.status.code(), Some(0), "each has its reason");
    // Eight values have a fault; the two of one key are one fault, and a disproved one.
    let faults = answer["papers"][0]["faults"].as_array().unwrap();
    assert_eq!((faults.len(), &answer["distinct_faults"]), (7, &7.into()), "{faults:?}");
    let shared = faults.iter().find(|fault| fault["fault"] == "wrong-noise").unwrap();
    assert_eq!((&shared["verdict"], shared["values"].as_array().map(Vec::len)), (&"disproved".into(), Some(2)));
    let table = String::from_utf8(assay(&["verify", &file]).output().unwrap().stdout).unwrap().replace("\n  ", " ");
    for said in
        ["It holds to 4 digits.", "Chosen for this test, and not by the text: the ten counts.", "1 disproved: 1 fault"]
    {
        assert!(table.contains(said), "{said}: {table}");
    }
    for (more, said) in [
        ("fault-kind = 'misprint'\n", "fault-kind: needs an erratum"),
        ("erratum = 'x'\nfault-kind = 'missprint'\n", "did you mean \"misprint\"?"),
        ("erratum = 'x'\nfault-kind = 'not-of-the-stated-model'\n", "needs printed_by"),
        ("fault = ''\n", "fault: must not be empty"),
    ] {
        let file = written(folder.path(), "bad.toml", HEAD.to_string() + &value("a", "1", "nats", &epsilon) + more);
        let message = refusal(&["verify", &file]);
        assert!(message.contains(said) && message.contains("bad.toml, line"), "{message}");
    }
}

/// A reader of a paper runs its rows with inputs of his own; what its methods are not made for is refused with the range.
#[test]
fn rows_of_the_papers_run_with_other_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let head = HEAD.to_string() + "settings = 'safetab-2021'\n";
    let coverage = |budget: &str| {
        format!("kind = 'safetab', of = 'coverage', mechanism = 'discrete-gaussian', count = 'step2', {budget}")
    };
    let text = head.clone()
        + &value("rounded", "95", "least-percent", &coverage("budget = '0.534'"))
        + &value("formula", "95", "least-percent", &coverage("target = 6"))
        + &value("by-hand", "95", "least-percent", &coverage("budget = '8/15'"))
        + &value("spine", "true", "claim", "kind = 'spine', of = 'theorem-2', children = 2, shares = 2")
        + &value(
            "own",
            "1.62e-108",
            "bound",
            "kind = 'own', method = { name = 'residual-integral', sigma2 = '5', copies = 10 }",
        );
    let file = written(folder.path(), "rerun.toml", text);
    let output = assay(&["verify", &file, "--json"]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let found: Vec<&str> = rows(&answer).iter().map(|row| row["verdict"].as_str().unwrap()).collect();
    // The floor of 5.9975 is 5, and that of 6.0012 is 6.
    assert_eq!(found, ["disproved", "agrees", "agrees", "agrees", "agrees"], "{answer}");
    let percent = |row: usize| rows(&answer)[row]["computed"]["upper"].as_f64().unwrap();
    assert!((percent(0) - 92.8998).abs() < 1e-4 && (percent(1) - 96.7024).abs() < 1e-4, "{answer}");
    assert_eq!(rows(&answer)[1]["computed"]["lower"], rows(&answer)[2]["computed"]["lower"]);
    for (compute, said) in [
        (coverage("budget = '0'"), "budget: 0 is out of range: this claim takes "),
        (coverage("budget = '1', target = 6"), "give the budget of a coverage, or the target"),
        (coverage("target = 100000"), "target: 100000 is out of range"),
        ("kind = 'safetab', of = 'lemma-13', ratios = ['1'], most = 5".to_string(), "ratios: 1 is out of range"),
        (
            "kind = 'safetab', of = 'lemma-holds', order = '1/2', epsilon = '1'".to_string(),
            "order: 0.5 is out of range",
        ),
        ("kind = 'spine', of = 'race-combinations', races = 64".to_string(), "races: 64 is out of range"),
        ("kind = 'spine', of = 'theorem-2', children = 4000000, shares = 2".to_string(), "children: 4000000 is out of"),
    ] {
        let file = written(folder.path(), "bad.toml", head.clone() + &value("a", "95", "least-percent", &compute));
        let message = refusal(&["verify", &file]);
        assert!(message.contains(said) && message.contains("bad.toml, line"), "{compute}: {message}");
    }
}

/// A value that agrees only with another interpretation is counted separately, and numbers computed beside a value do not judge it.
#[test]
fn readings_are_judged_and_numbers_beside_a_value_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let counts = "discrete-gaussian = '5x10'";
    let zcdp = format!("{{ as = 'the zCDP epsilon', compute = {{ kind = 'zcdp-epsilon', {counts}, delta = 1e-11 }} }}");
    let own = |printed: &str, more: &str| {
        HEAD.to_string() + &value("a", printed, "nats", &format!("kind = 'epsilon', {counts}, delta = 1e-11")) + more
    };
    for (printed, more, verdict, status) in [
        ("'11.07'", format!("readings = [{zcdp}]\n"), "agrees-as-read", 0),
        ("'10.12'", format!("readings = [{zcdp}]\n"), "agrees", 0),
        ("'10.50'", format!("readings = [{zcdp}]\n"), "differs", 1),
        ("'11.07'", format!("beside = [{zcdp}]\n"), "differs", 1),
    ] {
        let file = written(folder.path(), "own.toml", own(printed, &more));
        let output = assay(&["verify", &file, "--json"]).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        assert_eq!((&rows(&answer)[0]["verdict"], output.status.code()), (&verdict.into(), Some(status)), "{answer}");
        let key = if more.starts_with("beside") { "beside" } else { "readings" };
        assert_eq!(rows(&answer)[0][key][0]["as"], "the zCDP epsilon");
        assert!(rows(&answer)[0][key][0]["computed"]["lower"].as_f64().unwrap() > 11.0);
        let table = String::from_utf8(assay(&["verify", &file]).output().unwrap().stdout).unwrap();
        assert!(table.contains("the zCDP epsilon") && table.contains("11.065"), "{table}");
    }
    for (more, said) in [
        ("readings = [{ as = '', compute = { kind = 'rho', rho = 1 } }]\n", "as: must not be empty"),
        ("readings = [{ compute = { kind = 'rho', rho = 1 } }]\n", "readings: as is missing"),
        ("beside = [{ as = 'x', compute = { kind = 'epsilom', rho = 1 } }]\n", "did you mean \"epsilon\"?"),
    ] {
        let file = written(folder.path(), "own.toml", own("'10.12'", more));
        let message = refusal(&["verify", &file]);
        assert!(message.contains(said) && message.contains("own.toml, line"), "{message}");
    }
}

/// `verify` computes the same as the commands.
#[test]
fn every_kind_agrees_with_its_command() {
    let folder = tempfile::tempdir().unwrap();
    let counts = "discrete-gaussian = ['5x10', '3x2@2'], neighbors = 'bounded', group = 2, repeat = 3";
    let subject = "--discrete-gaussian 5x10 --discrete-gaussian 3x2@2 --neighbors bounded --group 2 --repeat 3";
    let words: Vec<&str> = subject.split(' ').collect();
    let ask = |command: &[&str], more: &[&str]| json(&[command, &words, more].concat());
    let compare = ask(&["compare"], &["--delta", "1e-10"]);
    let accountant = |name: &str| {
        let all = compare["accountants"].as_array().unwrap();
        all.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}"))["epsilon"].clone()
    };
    let bound = ask(&["risk", "bound"], &["--prior", "1/3", "--delta", "1e-10"]);
    let delta = ask(&["delta"], &["--epsilon", "70"]);
    let cases = [
        ("kind = 'epsilon', delta = 1e-10", accountant("exact")),
        ("kind = 'zcdp-epsilon', delta = 1e-10", accountant("zCDP (Bun-Steinke)")),
        ("kind = 'optimal-order-epsilon', delta = 1e-10", accountant("zCDP (best order)")),
        ("kind = 'renyi-epsilon', delta = 1e-10", accountant("RDP")),
        ("kind = 'gdp-epsilon', delta = 1e-10", accountant("GDP")),
        ("kind = 'delta', epsilon = 70", delta["delta"].clone()),
        ("kind = 'zcdp-delta', epsilon = 70", delta["zcdp_delta"].clone()),
        ("kind = 'gdp-delta', epsilon = 70", delta["gdp_delta"].clone()),
        ("kind = 'correct-decision', prior = '1/3'", bound["correct_decision_upper"].clone()),
        ("kind = 'advantage'", bound["advantage"].clone()),
        ("kind = 'posterior', prior = '1/3', delta = 1e-10", bound["posterior_events"].clone()),
    ];
    let values: Vec<String> = (cases.iter().enumerate())
        .map(|(id, (compute, _))| value(&id.to_string(), "1", "bound", &format!("{compute}, {counts}")))
        .collect();
    let file = written(folder.path(), "own.toml", HEAD.to_string() + &values.concat());
    let output = assay(&["verify", &file, "--json"]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(rows(&answer).len(), cases.len());
    for (row, (compute, expected)) in rows(&answer).iter().zip(&cases) {
        assert_eq!(row["computed"], *expected, "{compute}");
    }
}

#[test]
fn a_release_is_found_beside_the_file_and_papers_and_files_are_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let release = assay(&["releases", "--new"]).output().unwrap().stdout;
    let release = written(folder.path(), "mine.toml", release);
    let compute = "kind = 'rho', release = '../mine.toml', level = 'State', query = 'total'";
    // One count of variance proxy 4.5.
    let first = written(&inner, "own.toml", HEAD.to_string() + &value("a", "'1/9'", "sum", compute));
    let second = HEAD.replace("own", "second")
        + &value("a", "'26.34'", "nats", "kind = 'zcdp-epsilon', release = 'dhc-persons-us', delta = 1e-10");
    let second = written(folder.path(), "second.toml", second);
    let out = folder.path().join("out");
    let answer = json(&["verify", &second, "sieve-quadrature-2026", &first, &first, "--out", out.to_str().unwrap()]);
    let papers: Vec<&str> =
        answer["papers"].as_array().unwrap().iter().map(|paper| paper["paper"].as_str().unwrap()).collect();
    assert_eq!(papers, ["sieve-quadrature-2026", "second", "own"]);
    assert!(fs::read_to_string(out.join("REPORT.md")).unwrap().contains("A report"));
    // The answer names the file that was read.
    let inputs = answer["provenance"]["inputs"].as_array().unwrap();
    for name in [&first, &second, &inner.join("../mine.toml").display().to_string(), "dhc-persons-us"] {
        let input = inputs.iter().find(|input| input["name"] == *name).unwrap_or_else(|| panic!("{name}: {inputs:?}"));
        assert_eq!(input["sha256"].as_str().map(str::len), Some(64), "{name}");
    }
    // Two files with one key, and a file with the key of a requested paper.
    let twin = written(folder.path(), "twin.toml", fs::read(&second).unwrap());
    assert!(refusal(&["verify", &second, &twin]).contains("second.toml as well"));
    let table = assay(&["verify", &second, "--format", "csv"]).assert().success();
    assert!(
        String::from_utf8_lossy(&table.get_output().stdout)
            .starts_with("paper,id,place,published,computed_lower,computed_upper,verdict")
    );
    fs::remove_file(release).unwrap();
    assert!(refusal(&["verify", &first]).contains("mine.toml: no such file"));
}

/// A part of a file and its replacement, with the place and a part of the message that follow.
const VIOLATIONS: &[(&str, &str, &str, &str)] = &[
    ("paper = 'own'", "paper = ''", "line 1, column 9", "paper: must not be empty"),
    ("paper = 'own'", "paper = 5", "line 1, column 9", "expected a string"),
    ("title = 'A report'\n", "", "line 1", "missing field `title`"),
    ("title =", "titel =", "line 2, column 1", "did you mean \"title\"?"),
    ("title = 'A report'", "title = 'A", "line 2", "own.toml"),
    ("id = 'a'", "id = ''", "line 4, column 6", "id: must not be empty"),
    ("place = 'Table 1'\n", "", "line 3", "value: place is missing, as in place = \"Table 1\""),
    ("place =", "palce =", "line 3", "place is missing (in place of \"palce\")"),
    (
        "place = 'Table 1'",
        "place = 'Table 1'\nplaces = 1",
        "line 6, column 1",
        "unknown field \"places\", did you mean",
    ),
    ("'10.12'", "'ten'", "line 6, column 11", "printed: \"ten\" is not a number"),
    ("'10.12'", "'10,12'", "line 6, column 11", "says decimal = \"comma\""),
    ("'10.12'", "'10.2-10.1'", "line 6, column 11", "from the smaller to the larger"),
    ("'10.12'", "'14 %'", "line 6, column 11", "is a percentage, and what is computed is neither"),
    ("'10.12'", "'about < 5'", "line 6, column 11", "printed: "),
    ("'10.12'", "'1/2'", "line 6, column 11", "printed: a fraction has no last digit"),
    ("'10.12'", "[10.12]", "line 6, column 11", "printed: must be the number as it is printed"),
    ("'10.12'", "nan", "line 6, column 11", "printed: "),
    ("'10.12'", "'1e999999999'", "line 6, column 11", "printed: "),
    ("'nats'", "'nat'", "line 7, column 8", "did you mean \"nats\"?"),
    ("'nats'", "'probability'", "line 7, column 8", "what is computed is an epsilon"),
    ("'nats'", "'sum'", "line 7, column 8", "what is computed is an epsilon"),
    ("'nats'", "'claim'", "line 7, column 8", "what is computed is an epsilon"),
    ("'epsilon'", "'epsilom'", "line 8, column 20", "did you mean \"epsilon\"?"),
    ("'epsilon'", "'laplace'", "line 8, column 20", "there are epsilon, delta"),
    (
        "kind = 'epsilon', discrete-gaussian = '5x10', delta = 1e-11",
        "kind = 'safetab', of = 'levels'",
        "line 8, column 11",
        "takes the settings of a paper: settings = \"safetab-2021\"",
    ),
    ("title = 'A report'", "title = 'A'\nsettings = 'safetab'", "line 3, column 12", "did you mean \"safetab-2021\""),
    ("kind = 'epsilon', ", "", "line 8, column 11", "kind is missing, as in kind = \"epsilon\""),
    ("delta =", "dleta =", "line 8, column 11", "delta is missing (in place of \"dleta\")"),
    ("delta = 1e-11", "delta = 0", "line 8, column 67", "delta: delta = 0 is out of range"),
    ("delta = 1e-11", "delta = 1e-11, levl = 'x'", "line 8, column 74", "did you mean \"level\"?"),
    ("delta = 1e-11", "delta = 1e-11, level = 'US'", "line 8", "levels and queries are those of a release"),
    ("delta = 1e-11", "delta = 1e-11, rho = 1", "line 8, column 74", "unknown field \"rho\""),
    ("'5x10'", "'5y10'", "line 8, column 51", "discrete-gaussian: "),
    ("'5x10'", "[]", "line 8, column 51", "discrete-gaussian: must not be an empty list"),
    ("'5x10'", "'5x10', neighbors = 'next'", "line 8, column 71", "expected add-remove (one record more or less"),
    ("'5x10'", "'5x10', group = 0", "line 8", "group must be a whole number, at least 1"),
    ("discrete-gaussian = '5x10', ", "", "line 8, column 11", "no release and no counts are named: name a release"),
    (
        "discrete-gaussian = '5x10'",
        "release = 'pl94-person-us'",
        "line 8, column 41",
        "did you mean \"pl94-persons-us\"?",
    ),
    ("discrete-gaussian = '5x10'", "release = 'no/such.toml'", "line 8, column 41", "no such file"),
    ("discrete-gaussian = '5x10'", "release = '/dev/zero'", "line 8, column 41", "is no file"),
    ("discrete-gaussian = '5x10'", "release = 'pl94-persons-us', level = 'Sate'", "line 8", "did you mean \"State\"?"),
    (
        "discrete-gaussian = '5x10'",
        "release = 'pl94-persons-us', query = 'detaild'",
        "line 8",
        "did you mean \"detailed\"?",
    ),
    ("discrete-gaussian = '5x10'", "release = 'pl94-persons-us', levels = ['US', 'US']", "line 8", "named twice"),
    ("compute = {", "compute = 5 #", "line 8, column 11", "compute must be a table"),
    ("compute = {", "erratum = 5\ncompute = {", "line 8, column 11", "erratum: must be a text in quotes"),
    (
        "compute = {",
        "printed_by = { kind = 'rho' }\ncompute = {",
        "line 8, column 14",
        "printed_by of kind \"rho\": no release and no counts are named",
    ),
    // Errors found by the computation have the line of their value.
    ("kind = 'epsilon'", "kind = 'epsilon', group = 9999999", "line 3", "the value \"a\": shift"),
];

#[test]
fn violations_of_the_format_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let good = HEAD.to_string()
        + &value("a", "'10.12'", "nats", "kind = 'epsilon', discrete-gaussian = '5x10', delta = 1e-11");
    let refused = |text: &str| refusal(&["verify", &written(folder.path(), "own.toml", text)]);
    assay(&["verify", &written(folder.path(), "own.toml", &good)]).assert().success();
    for (from, to, line, said) in VIOLATIONS {
        assert!(good.contains(from), "{from}");
        let message = refused(&good.replacen(from, to, 1));
        assert!(message.contains(line) && message.contains(said) && message.contains("own.toml"), "{to}: {message}");
    }
    let twice = refused(&(good.clone() + good.strip_prefix(HEAD).unwrap()));
    assert!(twice.contains("line 10, column 6") && twice.contains("\"a\" occurs twice"), "{twice}");
    let rho = "kind = 'rho', rho = 1, release = 'pl94-persons-us'";
    assert!(refused(&(HEAD.to_string() + &value("a", "1", "rho", rho))).contains("rho excludes release"));
}

#[test]
fn other_files_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |bytes: &[u8]| refusal(&["verify", &written(folder.path(), "own.toml", bytes)]);
    assert!(refused(b"").contains("missing field `paper`"));
    assert!(refused(b"hello, world\n").contains("line 1"));
    assert!(refused(b"\xff\xfe\x00").contains("not UTF-8"));
    assert!(refused(HEAD.as_bytes()).contains("at least one value"));
    assert!(refused(format!("{HEAD}value = []\n").as_bytes()).contains("at least one value"));
    assert!(refused(format!("{HEAD}value = 5\n").as_bytes()).contains("line 3"));
    let nested = format!("{HEAD}[[value]]\nid = 'a'\nplace = ''\nprinted = {}\n", "[".repeat(100_000));
    assert!(refused(nested.as_bytes()).contains("own.toml"));
    assert!(refused(&vec![b' '; 17 << 20]).contains("larger than"));
    assert!(refusal(&["verify", folder.path().to_str().unwrap()]).contains("is a folder"));
    assert!(refusal(&["verify", "no-such.toml"]).contains("no such file"));
    assert!(refusal(&["verify", "nosuch"]).contains("there is no file of this name"));
    #[cfg(unix)]
    assert!(refusal(&["verify", "/dev/zero"]).contains("larger than"));
}

/// Numbers of any size are evaluated or refused, within a time limit.
#[test]
fn huge_numbers_neither_panic_nor_hang() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("'{}'", "9".repeat(90_000));
    for (printed, compute) in [
        ("'1e99999'", "kind = 'epsilon', discrete-gaussian = '5x10', delta = 1e-10"),
        ("'-1e-99999'", "kind = 'epsilon', discrete-gaussian = '5x10', delta = '1e-99999'"),
        (long.as_str(), "kind = 'epsilon', discrete-gaussian = '5x10', delta = 1e-10"),
        ("1", "kind = 'epsilon', discrete-gaussian = '5x1000000000000@1000000', delta = 1e-10"),
        ("1", "kind = 'zcdp-delta', rho = '1e-9000', epsilon = 1e15"),
        ("1", "kind = 'zcdp-delta', rho = '1e99999', epsilon = 1e15"),
        ("1", "kind = 'gdp-epsilon', rho = '1e99999', delta = '1e-99999'"),
        ("1", "kind = 'gdp-epsilon', rho = '1e-99999', delta = '1e-99999'"),
        ("1", "kind = 'optimal-order-epsilon', rho = '1e99999', delta = '1e-99999'"),
        ("1", "kind = 'optimal-order-epsilon', rho = '1e-99999', delta = '1e-99999'"),
        ("1", "kind = 'delta', discrete-gaussian = '1e18', epsilon = 1e15"),
        ("1", "kind = 'posterior', discrete-gaussian = '5x10', prior = '1e-99999', delta = '1e-99999'"),
        ("1", "kind = 'matched-sigma2', discrete-gaussian = '1e18', delta = 1e-10"),
        ("1", "kind = 'risk', of = 'posterior', rho = 1e5, prior = 0.5, noisy = 9223372036854775807"),
        ("1", "kind = 'risk', of = 'two-levels', rhos = [0.1, 0.2], others = 1000000000000, noisy = [1, 2, 3]"),
        ("1", "kind = 'paths', release = 'dhc-persons-us', value = { name = 'delta', pair = [0, 99], epsilon = 1 }"),
    ] {
        let text = HEAD.to_string() + &value("a", printed, "bound", compute);
        let file = written(folder.path(), "own.toml", text);
        let output = assay(&["verify", &file]).timeout(std::time::Duration::from_secs(60)).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0..=2)) && !errors.contains("panicked"), "{compute}: {errors}");
        assert_eq!(output.status.code() == Some(2), errors.contains("own.toml, line "), "{compute}: {errors}");
    }
}

#[test]
fn every_kind_and_unit_is_in_the_guide_and_in_the_help() {
    let guide =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/published-values.md")).unwrap();
    let help = String::from_utf8(assay(&["verify", "--help"]).output().unwrap().stdout).unwrap();
    let help: Vec<&str> = help.split(|c: char| c.is_whitespace() || ",.()".contains(c)).collect();
    let units = Unit::ALL.iter().map(|(name, _)| *name);
    for name in published::kinds().chain(units) {
        assert!(guide.contains(&format!("`{name}`")), "the guide lacks {name}");
        assert!(help.contains(&name), "the help lacks {name}");
    }
}

/// Printed forms, each with its verdict for a value known to be 10.12483...
#[test]
fn printed_forms_are_read_as_printed() {
    let folder = tempfile::tempdir().unwrap();
    let epsilon = "kind = 'epsilon', discrete-gaussian = '5x10', delta = 1e-11";
    let decision = "kind = 'correct-decision', discrete-gaussian = '5x10', prior = 0.5";
    for (printed, unit, compute, verdict) in [
        ("< 11", "nats", epsilon, "agrees"),
        ("< 10", "nats", epsilon, "holds-to-digits"),
        ("< 10.0", "nats", epsilon, "disproved"),
        ("<= 10.12", "nats", epsilon, "holds-to-digits"),
        ("<= 10.120", "nats", epsilon, "disproved"),
        ("> 10.12", "least", epsilon, "agrees"),
        ("about 10", "nats", epsilon, "agrees"),
        ("~9.1", "nats", epsilon, "differs"),
        ("11", "about", epsilon, "agrees"),
        ("10.1-10.2", "nats", epsilon, "agrees"),
        ("10.2 to 10.3", "nats", epsilon, "differs"),
        ("10.1 +- 0.1", "nats", epsilon, "agrees"),
        ("1.01 x 10^1", "nats", epsilon, "agrees"),
        ("10.12", "truncated", epsilon, "agrees"),
        ("10.13", "truncated", epsilon, "differs"),
        ("10.13", "rounded-up-at-digit", epsilon, "agrees"),
        ("10.12", "rounded-up-at-digit", epsilon, "differs"),
        ("10.12...", "nats", epsilon, "agrees"),
        ("10.13 (rounded up)", "nats", epsilon, "agrees"),
        ("76.0 %", "probability", decision, "agrees"),
        ("76.0 %", "percent", decision, "agrees"),
        ("75-77 %", "probability", decision, "agrees"),
        ("< 80 %", "bound", decision, "agrees"),
        ("not printed", "nats", epsilon, "not-printed"),
    ] {
        let text = HEAD.to_string() + &value("a", &format!("'{printed}'"), unit, compute);
        let output = assay(&["verify", &written(folder.path(), "own.toml", text), "--json"]).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{printed} {unit}"));
        assert_eq!(rows(&answer)[0]["verdict"], verdict, "{printed} {unit}: {answer}");
        let is_wrong = ["differs", "disproved", "holds-to-digits"].contains(&verdict);
        assert_eq!(output.status.code(), Some(i32::from(is_wrong)), "{printed} {unit}");
        assert_eq!(rows(&answer)[0]["difference"].is_null(), !is_wrong, "{printed} {unit}");
    }
}

/// A decimal comma, if the file declares it; plain numbers of TOML still have a point. Truncation is not rounding.
#[test]
fn decimal_commas_and_truncation_are_understood() {
    let folder = tempfile::tempdir().unwrap();
    let epsilon = "kind = 'epsilon', discrete-gaussian = '5x10', delta = 1e-11";
    let comma = HEAD.to_string() + "decimal = 'comma'\n";
    for printed in ["'10,12'", "10.12", "'10,1-10,2'"] {
        let file = written(folder.path(), "own.toml", comma.clone() + &value("a", printed, "nats", epsilon));
        assay(&["verify", &file]).assert().success();
    }
    let file = written(folder.path(), "own.toml", comma.clone() + &value("a", "'10.12'", "nats", epsilon));
    assert!(refusal(&["verify", &file]).contains("has a decimal point"));
    let file = written(
        folder.path(),
        "own.toml",
        HEAD.to_string() + "decimal = 'komma'\n" + &value("a", "1", "nats", epsilon),
    );
    assert!(refusal(&["verify", &file]).contains("expected \"point\" or \"comma\""));
    // Truncation is not rounding; the answer says so with the size of the difference.
    let file = written(
        folder.path(),
        "own.toml",
        HEAD.to_string() + &value("a", "'10.1248309'", "nats", epsilon) + &value("b", "'10.124'", "nats", epsilon),
    );
    let table = String::from_utf8(assay(&["verify", &file]).output().unwrap().stdout).unwrap();
    assert!(table.contains("Printed less computed: -0.000831, -0.831 units of the last printed"), "{table}");
    assert!(table.replace("\n  ", " ").contains("cut off after the printed digits is what is printed"), "{table}");
    assert!(table.contains("2 values: 1 agrees, 1 differs; 1 without an explanation"), "{table}");
}

/// All faults of a file are reported in one run, each with its place.
#[test]
fn all_bad_values_are_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let epsilon = "kind = 'epsilon', discrete-gaussian = '5x10', delta = 1e-11";
    let text = HEAD.to_string()
        + &value("a", "'ten'", "nats", epsilon)
        + &value("b", "'10.12'", "nat", "kind = 'epsilom'")
        + &value("a", "'10.12'", "nats", epsilon)
        + "[[value]]\nid = 'c'\n"
        + &value("d", "'10.12'", "nats", "kind = 'epsilon', discrete-gaussian = '5x10', delta = 2");
    let message = refusal(&["verify", &written(folder.path(), "own.toml", text)]);
    for said in [
        "9 faults:",
        "line 6, column 11: printed: \"ten\" is not a number",
        "line 13, column 8: unit: unknown unit \"nat\", did you mean",
        "line 14, column 20: compute: unknown kind \"epsilom\", did you mean",
        "line 16, column 6: the id \"a\" occurs twice",
        "line 21",
        "printed is missing",
        "unit is missing",
        "compute is missing",
        "delta: delta = 2 is out of range",
    ] {
        assert!(message.contains(said), "{said}: {message}");
    }
}

#[test]
fn values_may_be_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let table = "# title = 'A table'\n# a remark\nid,place,printed,unit,kind,discrete-gaussian,delta,prior,circular,note\n\
                 one,Table 1,10.12,nats,epsilon,5x10,1e-11,,,\n\
                 two,\"Table 1, row \"\"b\"\"\",\"< 11\",nats,epsilon,5x10,1e-11,,,a note\n\
                 three,Table 2,1.5,sum,rho,1/2 | 1,,,true,\n\
                 \n\
                 four,Table 3,76.0 %,probability,correct-decision,5x10,,0.5,,\n";
    let file = written(folder.path(), "memo.csv", table);
    let answer = json(&["verify", &file]);
    assert_eq!((&answer["papers"][0]["paper"], &answer["papers"][0]["title"]), (&"memo".into(), &"A table".into()));
    let verdicts: Vec<&str> = rows(&answer).iter().map(|row| row["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["agrees", "agrees", "circular", "agrees"]);
    assert_eq!(rows(&answer)[1]["place"], "Table 1, row \"b\"");
    // The same as TOML.
    let toml = HEAD.to_string()
        + &value("one", "10.12", "nats", "kind = 'epsilon', discrete-gaussian = '5x10', delta = 1e-11");
    let same = json(&["verify", &written(folder.path(), "own.toml", toml)]);
    assert_eq!(
        (&rows(&answer)[0]["computed"], &rows(&answer)[0]["compute"]),
        (&rows(&same)[0]["computed"], &rows(&same)[0]["compute"])
    );
    // As a spreadsheet writes it in a locale with decimal comma.
    let german = "\u{feff}# decimal = 'comma'\r\nid;place;printed;unit;kind;discrete-gaussian;delta\r\na;T;10,12;nats;epsilon;5x10;1e-11\r\n";
    assay(&["verify", &written(folder.path(), "german.csv", german)]).assert().success();
    let risk = "id,place,printed,unit,kind,of,rho,prior,noisy\na,T,47.53,percent,risk,posterior,0.099,0.5,0\n";
    assay(&["verify", &written(folder.path(), "risk.csv", risk)]).assert().success();
    let bad = "id,place,printed,unit,kind,discrete-gaussian,dleta\na,T,ten,nats,epsilon,5x10,1e-11\nb,T,10.12,nats,epsilon\nc,,1,nats,rho,5x10,\n";
    let message = refusal(&["verify", &written(folder.path(), "bad.csv", bad)]);
    assert!(message.contains("bad.csv, line 3, column 1: the row has 5 cells, and the header 7"), "{message}");
    let message = refusal(&["verify", &written(folder.path(), "bad.csv", bad.replace("b,T,10.12,nats,epsilon\n", ""))]);
    for said in [
        "line 2, column 5: printed: \"ten\"",
        "delta is missing (in place of \"dleta\")",
        "line 3",
        "place is missing",
        "does not fit",
    ] {
        assert!(message.contains(said), "{said}: {message}");
    }
    for (text, said) in [
        ("", "has no"),
        ("# title = 5\nid,printed\n", "line 1, column 11"),
        ("id,id\n", "occurs twice"),
        ("id,,printed\n", "a column without a name"),
        ("id,place\na,\"b\n", "line 2, column 3: a quote that does not end on its line"),
        ("id,place\na,b\"c\n", "line 2, column 4: a quote inside a cell"),
        ("id,place\na,\"b\"c\n", "text after the end of a quote"),
        ("id,place\n", "at least one value"),
        ("nothing\n", "is no CSV header"),
    ] {
        let message = refusal(&["verify", &written(folder.path(), "bad.csv", text)]);
        assert!(message.contains(said), "{text:?}: {message}");
    }
}

/// A report can be signed: it names what was verified, the command, the program, the inputs and the date.
#[test]
fn a_report_says_what_was_verified_and_how() {
    let folder = tempfile::tempdir().unwrap();
    let release = written(folder.path(), "ag.toml", assay(&["releases", "--new"]).output().unwrap().stdout);
    let text = HEAD.to_string()
        + &value(
            "a",
            "'9.99'",
            "nats",
            "kind = 'epsilon', release = 'ag.toml', level = 'State', query = 'total', delta = 1e-9",
        )
        + &value(
            "b",
            "'10.12'",
            "nats",
            "kind = 'epsilon', discrete-gaussian = '5x10', delta = 1e-11, neighbors = 'bounded'",
        );
    let file = written(folder.path(), "agency.toml", &text);
    let run = |more: &[&str]| {
        assay(&[&["verify", "agency.toml"], more].concat()).current_dir(folder.path()).output().unwrap()
    };
    run(&["--out", "my memo"]);
    let read = |name: &str| fs::read_to_string(folder.path().join("my memo").join(name)).unwrap();
    let report = read("REPORT.md");
    let sha256 = |path: &str| dp_assay::provenance::sha256(Path::new(path)).unwrap();
    for said in [
        "| command | `assay verify agency.toml --out 'my memo'` |",
        concat!("| program | assay ", env!("CARGO_PKG_VERSION"), ", commit "),
        "| date | 20",
        &format!("| input | `agency.toml`, SHA-256 `{}` |", sha256(&file)),
        &format!("`ag.toml`, SHA-256 `{}` |", sha256(&release)),
        "epsilon; delta = 1e-9; my-release; State; queries = total; ",
        "epsilon; delta = 1e-11; own_counts = discrete Gaussian 5x10@1; bounded; counts = 20",
        "Printed less computed: ",
    ] {
        assert!(report.contains(said), "{said}: {report}");
    }
    let answer: Value = serde_json::from_str(&read("REPORT.json")).unwrap();
    assert_eq!(rows(&answer)[1]["compute"]["neighbors"], "bounded");
    assert_eq!(answer["provenance"]["command_line"][2], "agency.toml");
    assert!(answer["provenance"]["date"].as_str().unwrap().ends_with(" UTC"));
    let csv = read("REPORT.csv");
    let header = csv.lines().next().unwrap();
    for column in
        ["compute_kind", "compute_delta", "compute_release", "compute_level", "compute_neighbors", "compute_counts"]
    {
        assert!(header.split(',').any(|known| known == column), "{column}: {header}");
    }
    assert!(read("REPORT.csv.provenance.json").contains("\"date\""));
    // With `--reproducible` the bytes are always the same: the report only, without commit and date.
    let stable = |name: &str| {
        run(&["--out", name, "--reproducible"]);
        assert_eq!(fs::read_dir(folder.path().join(name)).unwrap().count(), 1);
        fs::read_to_string(folder.path().join(name).join("REPORT.md")).unwrap().replace(name, "")
    };
    let (one, other) = (stable("first-run"), stable("second-run"));
    assert!(one == other && !one.contains("| date |") && !one.contains("commit"), "{one}");
    assert!(String::from_utf8_lossy(&run(&["--reproducible"]).stderr).contains("--out"));
}

/// A mechanism with a guarantee may spend less: the worst one disproves no printed bound. The hull of two directions is no upper end.
#[test]
fn a_bound_from_one_side_disproves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let verdicts = |cases: &[(&str, &str, &str)]| {
        let values: String = (cases.iter().enumerate())
            .map(|(place, (printed, unit, compute))| {
                value(&format!("v{place}"), &format!("'{printed}'"), unit, compute)
            })
            .collect();
        let file = written(folder.path(), "bounds.toml", format!("{HEAD}{values}"));
        let output = assay(&["verify", &file, "--json"]).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let words = rows(&answer).iter().map(|row| row["verdict"].as_str().unwrap().to_string()).collect::<Vec<_>>();
        (words, answer)
    };
    let epsilon = "kind = 'epsilon', pure = '1', delta = 1e-6";
    let sampled = "kind = 'tradeoff', sampled = '0.5:gaussian:0.1x1', alpha = '0.3'";
    let (found, answer) = verdicts(&[
        ("0.9", "bound", epsilon),
        ("1", "bound", epsilon),
        ("1.1", "nats", epsilon),
        ("1.0", "nats", epsilon),
        ("0.9", "nats", epsilon),
        ("1.1", "least", epsilon),
        ("0.6", "bound", "kind = 'correct-decision', exponential = '1x2', prior = '1/2'"),
        ("0.65", "bound", "kind = 'correct-decision', approximate = '1:1e-7', prior = '1/2'"),
        // By Neyman and Pearson the least error of either direction is 0.352086, and the hull of both 0.256923.
        ("0.3515", "least", sampled),
        ("0.3525", "least", sampled),
        ("0.71", "least", sampled),
        // Randomized response is a mechanism, and has its epsilon.
        ("0.9", "bound", "kind = 'epsilon', randomized-response = '1:2', delta = 1e-6"),
    ]);
    let expected = [
        "undecided",
        "agrees",
        "differs",
        "agrees",
        "undecided",
        "disproved",
        "undecided",
        "undecided",
        "agrees",
        "disproved",
        "disproved",
        "disproved",
    ];
    assert_eq!(found, expected);
    let computed = &rows(&answer)[0]["computed"];
    assert_eq!(computed["lower"].as_f64(), Some(0.0));
    assert!(computed["upper"].as_f64().is_some_and(|upper| (0.999..=1.0).contains(&upper)), "{computed}");
    let is: Vec<&str> = [0, 8, 11].iter().map(|at| rows(&answer)[*at]["computed_is"].as_str().unwrap()).collect();
    assert_eq!(is, ["at-most", "exact", "exact"]);
}

/// Verdicts on rows of a file beside the release `r`, whose lone total a replaced record does not move.
fn verdicts_beside_a_total(cases: &[(&str, &str, &str)]) -> Vec<(String, Value)> {
    let folder = tempfile::tempdir().unwrap();
    let query = |name: &str, cells: u32| format!("[[level.query]]\nname = '{name}'\nsigma2 = 4\ncells = {cells}\n");
    let head = "name = 'r'\ntitle = 'R'\nsource = 's'\nneighbors = 'bounded'\n[[level]]\nname = 'all'\n";
    written(folder.path(), "r.toml", format!("{head}{}{}", query("total", 1), query("sex", 2)));
    let values: String = (cases.iter().enumerate())
        .map(|(place, (printed, unit, compute))| value(&format!("v{place}"), &format!("'{printed}'"), unit, compute))
        .collect();
    let file = written(folder.path(), "own.toml", format!("{HEAD}{values}"));
    let output = assay(&["verify", &file, "--json"]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    rows(&answer).iter().map(|row| (row["verdict"].as_str().unwrap().to_string(), row.clone())).collect()
}

/// Without the total rho is 1/2, epsilon by Bun & Steinke 1/2 + 2 sqrt(ln(1e6) / 2) = 5.757, by the best order 5.22, of Gaussian noise 4.89, and delta at 4
/// e^-(3.5^2 / 2) = 2.19e-3. The account has 3/4, 7.19, 6.61 and more, all of which is an upper bound.
#[test]
fn a_bound_of_rho_disproves_nothing() {
    let of = |kind: &str| format!("kind = '{kind}', release = 'r.toml'");
    let cases = [
        ("<= 0.5", "bound", of("rho")),
        ("at most 0.75", "bound", of("rho")),
        ("0.9", "rho", of("rho")),
        ("at most 5.76", "bound", of("zcdp-epsilon") + ", delta = 1e-6"),
        ("5.757", "nats", of("zcdp-epsilon") + ", delta = 1e-6"),
        ("at most 5.23", "bound", of("optimal-order-epsilon") + ", delta = 1e-6"),
        ("at most 5.23", "bound", of("gdp-epsilon") + ", delta = 1e-6"),
        ("at most 3e-3", "bound", of("zcdp-delta") + ", epsilon = 4"),
        // Of randomized response D_a / a is at most epsilon tanh(epsilon / 2) = 0.462117, and epsilon^2 / 2 = 1/2 is a bound.
        ("<= 0.463", "bound", "kind = 'rho', randomized-response = '1'".to_string()),
        ("<= 0.45", "bound", "kind = 'rho', randomized-response = '1'".to_string()),
        ("<= 0.5", "bound", "kind = 'rho', randomized-response = '1'".to_string()),
        ("<= 0.1225", "bound", "kind = 'rho', discrete-laplace = '1/2'".to_string()),
        // rho is at least the mean loss, epsilon tanh(epsilon / 2) = 0.122459 for one count that moves by one; a guarantee may have none.
        ("<= 0.05", "bound", "kind = 'rho', discrete-laplace = '1/2'".to_string()),
        ("<= 0.05", "bound", "kind = 'rho', pure = '1/2'".to_string()),
        ("<= 1.4", "bound", "kind = 'rho', discrete-gaussian = '5x10'".to_string()),
        ("<= 0.9", "bound", "kind = 'rho', discrete-gaussian = '5x10'".to_string()),
        ("<= 0.9", "bound", "kind = 'rho', discrete-gaussian = '5x10', pure = '1'".to_string()),
        ("<= 1.4", "bound", "kind = 'rho', discrete-gaussian = '5x10', pure = '1'".to_string()),
    ];
    let cases: Vec<(&str, &str, &str)> = cases.iter().map(|(a, b, c)| (*a, *b, c.as_str())).collect();
    let found = verdicts_beside_a_total(&cases);
    let expected = [
        "undecided",
        "agrees",
        "differs",
        "undecided",
        "undecided",
        "undecided",
        "undecided",
        "undecided",
        "undecided",
        "disproved",
        "agrees",
        "undecided",
        "disproved",
        "undecided",
        "agrees",
        "disproved",
        "disproved",
        "undecided",
    ];
    let words: Vec<&str> = found.iter().map(|(verdict, _)| verdict.as_str()).collect();
    assert_eq!(words, expected);
}

/// A reduction of a bound from a bound is that of the account alone: the pair p = 1e-3, q = p / e on one event is 1-DP with rho 0.03379 and epsilon 0.9990
/// at 1e-6, and reduces by 28.66 %, where the account has 82.6 %.
#[test]
fn a_reduction_of_a_guarantee_is_that_of_its_account() {
    let pure = "kind = 'epsilon-reduction', pure = '1', delta = 1e-6";
    let response = "kind = 'epsilon-reduction', randomized-response = '1', delta = 1e-6";
    let gaussian = "kind = 'epsilon-reduction', discrete-gaussian = '4x3', delta = 1e-6";
    let found = verdicts_beside_a_total(&[
        ("28.66", "percent", pure),
        ("82.628", "percent", pure),
        ("101", "percent", pure),
        ("40", "percent", "kind = 'epsilon-reduction', exponential = '1', delta = '1e-6'"),
        ("40", "percent", "kind = 'epsilon-reduction', discrete-gaussian = '4x3', pure = '1', delta = '1e-6'"),
        ("8", "percent", "kind = 'overall-reduction', release = 'r.toml', delta = 1e-6"),
        // Of a mechanism that is known rho alone is a bound: its reduction is at most the number.
        ("40", "percent", response),
        ("90", "percent", response),
        ("40", "percent", gaussian),
    ]);
    let words: Vec<&str> = found.iter().map(|(verdict, _)| verdict.as_str()).collect();
    assert_eq!(
        words,
        ["undecided", "agrees", "differs", "undecided", "undecided", "undecided", "undecided", "differs", "differs"]
    );
    let is = |at: usize| found[at].1["computed_is"].as_str().unwrap();
    assert_eq!([is(0), is(6), is(8)], ["account", "at-most", "exact"]);
    assert!(found[0].1["computed"]["lower"].as_f64().is_some_and(|lower| (lower - 82.628).abs() < 1e-3));
}

/// What stands beside a guarantee is released in any case: 2.27579 at 1e-6 for one count of discrete Gaussian noise of sigma2 4.
#[test]
fn what_stands_beside_a_guarantee_is_a_lower_end() {
    let both = "pure = '1', discrete-gaussian = '4'";
    let [epsilon, delta, right] = [
        format!("kind = 'epsilon', {both}, delta = 1e-6"),
        format!("kind = 'delta', {both}, epsilon = 1"),
        format!("kind = 'correct-decision', {both}, prior = '1/2'"),
    ];
    let found = verdicts_beside_a_total(&[
        ("at most 2.0", "bound", &epsilon),
        ("at most 2.3", "bound", &epsilon),
        ("at most 3.228", "bound", &epsilon),
        ("at most 1e-9", "bound", &delta),
        ("at most 0.55", "bound", &right),
        ("at most 2.0", "bound", "kind = 'epsilon', exponential = '1', discrete-gaussian = '4', delta = 1e-6"),
        ("at least 0.98", "least", &format!("kind = 'tradeoff', {both}, alpha = '0.05'")),
    ]);
    let words: Vec<&str> = found.iter().map(|(verdict, _)| verdict.as_str()).collect();
    assert_eq!(words, ["disproved", "undecided", "agrees", "disproved", "disproved", "disproved", "disproved"]);
    let computed = &found[0].1["computed"];
    let [lower, upper] = ["lower", "upper"].map(|end| computed[end].as_f64().unwrap());
    // All digits of the upper end: 3.2274315, and not 3.23.
    assert!((lower - 2.27579).abs() < 1e-4 && (3.2274..3.227432).contains(&upper), "{computed}");
}
