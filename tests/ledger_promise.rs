//! The promise of a ledger, which every addition keeps and the log binds, and candidates that are checked without entering them.

use std::fs;

use serde_json::Value;

use crate::{
    common::program::{assay, json},
    ledger::{Bench, DELTA, ends, entry, epsilon, overlap, release},
};

/// A promise as it stands in a ledger.
fn promise(epsilon: &str, adaptive: bool) -> String {
    format!("promise = {{ epsilon = '{epsilon}', delta = 1e-6, adaptive = {adaptive} }}\n")
}

fn with_promise(bench: &Bench, promise: &str) {
    let text = bench.read("l.toml");
    let without: String =
        text.split_inclusive('\n').filter(|line| !line.starts_with("promise")).collect::<Vec<_>>().concat();
    bench.put("l.toml", &without.replacen("[[population]]", &format!("{promise}[[population]]"), 1));
}

/// Adds a release under the promise of the ledger: the status, the answer and the error.
fn add(bench: &Bench, release: &str, more: &[&str]) -> (i32, Value, String) {
    let (ledger, release) = (bench.at("l.toml"), bench.at(release));
    let words = [&["ledger", &ledger, "--add", &release, "--json", "--digits", "6"][..], more].concat();
    let output = assay(&words).output().unwrap();
    let answer = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code().unwrap(), answer, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What would follow if a release were added.
fn checked(bench: &Bench, release: &str) -> Value {
    let output = assay(&["ledger", &bench.at("l.toml"), "--check", &bench.at(release), "--json"]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["candidates"][0].clone()
}

fn text_of(words: &[&str]) -> String {
    let output = assay(words).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_addition_keeps_the_promise_of_the_ledger() {
    let bench = Bench::new("add-remove", "");
    with_promise(&bench, &promise("0.75", false));
    for _ in 0..2 {
        let (status, answer, error) = add(&bench, "weekly.toml", &[]);
        assert_eq!(
            (status, answer["promise"].to_string().as_str(), &answer["adaptive"]),
            (0, "0.75", &false.into()),
            "{error}"
        );
    }
    let before = (bench.read("l.toml"), bench.read("l.toml.log"));
    let (status, answer, _) = add(&bench, "weekly.toml", &[]);
    assert!(status == 1 && ends(&answer["after"]["epsilon"]).1 > 0.75, "{answer}");
    // What is given beside it is the same, or refused.
    for (more, said) in [
        (&["--promise", "0.8"][..], "epsilon is 0.75 in the promise of the ledger"),
        (&["--delta", "1e-5"], "delta is 1e-6 in the promise of the ledger"),
        (&["--adaptive"], "adaptive is false in the promise of the ledger"),
    ] {
        let (status, _, error) = add(&bench, "weekly.toml", more);
        assert!(status == 2 && error.contains(said), "{more:?}: {error}");
    }
    assert_eq!(add(&bench, "weekly.toml", &["--promise", "3/4", "--delta", "0.000001"]).0, 1);
    assert_eq!((bench.read("l.toml"), bench.read("l.toml.log")), before);
    // Each population keeps it, and it is the default delta of the account.
    let account = json(&["ledger", &bench.at("l.toml"), "--digits", "8"]);
    assert!(overlap(&account["populations"][0]["composed"]["epsilon"], &epsilon(&["--discrete-gaussian", "200x6"])));
    let shown = &bench.shown()["promise"];
    assert_eq!((shown["epsilon"].to_string().as_str(), &shown["adaptive"]), ("0.75", &false.into()), "{shown}");
    let said = text_of(&["ledger", &bench.at("l.toml"), "--show"]);
    assert!(
        said.contains(
            "epsilon at most 0.75 at delta = 1e-6; adaptive = false. This holds for noise that is fixed before"
        ),
        "{said}"
    );
}

/// What the log was written under: another promise needs a reason, and no reason changes the basis.
#[test]
fn the_log_binds_the_promise_of_the_ledger() {
    let bench = Bench::new("add-remove", "");
    with_promise(&bench, &promise("0.9", false));
    assert_eq!(add(&bench, "weekly.toml", &[]).0, 0);
    for (other, said) in [
        (promise("0.8", false), "was epsilon 0.9 at delta = 1e-6 in line 1"),
        (promise("9", false), "was epsilon 0.9 at delta = 1e-6 in line 1"),
        (promise("0.9", true), "adaptive cannot become true later"),
        (String::new(), "the promise is gone that line 1"),
    ] {
        with_promise(&bench, &other);
        let message = bench.refused(&["--show"]);
        assert!(message.contains(said), "{other}: {message}");
    }
    // A reason changes the numbers, for all lines before it, and not the basis.
    let reason = ["--because", "the board decided on 1 May"];
    for other in [promise("9", true), String::new()] {
        with_promise(&bench, &other);
        assert_eq!(add(&bench, "weekly.toml", &reason).0, 2, "{other}");
    }
    with_promise(&bench, &promise("9", false));
    assert_eq!(add(&bench, "weekly.toml", &[]).0, 2);
    assert_eq!(add(&bench, "weekly.toml", &reason).0, 0);
    assert_eq!(add(&bench, "weekly.toml", &[]).0, 0);
    let said = text_of(&["ledger", &bench.at("l.toml"), "--show"]);
    assert!(said.contains("The reason of line 2: the board decided on 1 May"), "{said}");
    let log = &bench.shown()["log"];
    assert_eq!(
        (&log[0]["because"], &log[1]["because"], &log[1]["adaptive"]),
        (&Value::Null, &reason[1].into(), &false.into())
    );
    // A reason is about an addition.
    assert!(bench.refused(&["--check", "x", "--because", "y"]).contains("--because"));
    assert!(bench.refused(&["--because", "y"]).contains("--add"));
    // An option that would do nothing is refused.
    for more in [
        &["--check", "x", "--name", "y"][..],
        &["--check", "x", "--never-drawn"],
        &["--withdraw", "x", "--because", "y", "--promise", "9"],
    ] {
        assert!(bench.refused(more).contains("cannot be used with"), "{more:?}");
    }
}

/// The sum of rho decides, pure guarantees with rho = epsilon^2 / 2, or where all are pure the sum of their epsilons; a ledger that began otherwise cannot have it.
#[test]
fn an_adaptive_promise_is_decided_by_the_sum_of_rho() {
    let bench = Bench::new("add-remove", "");
    with_promise(&bench, &promise("4", true));
    let (status, answer, error) = add(&bench, "pure.toml", &[]);
    assert_eq!((status, &answer["after"]["by"], &answer["adaptive"]), (0, &"pure".into(), &true.into()), "{error}");
    assert_eq!(ends(&answer["after"]["epsilon"]).1, 0.5);
    // 1/2 * (1/2)^2.
    assert_eq!(answer["after"]["rho"].to_string(), "0.125");
    // Beside noise without a bound it counts by its rho, and is not lost.
    let (_, answer, _) = add(&bench, "gaussian.toml", &[]);
    assert_eq!(answer["after"]["by"], "rho");
    assert_eq!(answer["after"]["rho"].to_string(), "0.1375");
    // The exact composition of the same is far below.
    let composed = epsilon(&["--pure", "1/2", "--gaussian", "40"]);
    assert!(ends(&answer["after"]["epsilon"]).0 > ends(&composed).1 + 0.5, "{answer} {composed}");
    assert!(add(&bench, "approximate.toml", &[]).2.contains("only one of two neighbors can have"));
    let said = text_of(&["ledger", &bench.at("l.toml"), "--show"]);
    assert!(said.contains("adaptive = true. The promise holds also where the noise of a release"), "{said}");
    // Accounts of the whole are of noise that was fixed before: the promise alone holds for noise that follows from results.
    let whole = json(&["risk", "bound", "--ledger", &bench.at("l.toml"), "--prior", "1/2", "--delta", "1e-6"]);
    let said = whole["conditions"].to_string();
    assert!(said.contains("fixed before any result was seen") && said.contains("epsilon at most 4"), "{whole}");
    let page = text_of(&["ledger", &bench.at("l.toml"), "--delta", "1e-6"]);
    assert!(page.contains("the promise of the ledger holds: epsilon at most 4"), "{page}");
    with_promise(&bench, &promise("4", false));
    assert!(bench.refused(&["--show"]).contains("adaptive cannot become false later"));
    // Lines that were added without a promise of the ledger, by the exact composition.
    let bench = Bench::new("add-remove", "");
    assert_eq!(bench.added("weekly.toml", "9", &[]).0, 0);
    with_promise(&bench, &promise("9", true));
    assert!(bench.refused(&["--show"]).contains("line 1 of the log was added by the exact composition"));
    with_promise(&bench, &promise("9", false));
    assert_eq!(add(&bench, "weekly.toml", &[]).0, 0);
    // A promise that is none.
    for (wrong, said) in [
        ("promise = { epsilon = 1 }\n", "missing field `delta`"),
        ("promise = { epsilon = 1, delta = 2 }\n", "line 5, column 34: delta = 2 is out of range"),
        ("promise = { epsilon = -1, delta = 1e-9 }\n", "epsilon = -1 is out of range"),
        ("promise = { epsilon = 1, delta = 1e-9, adaptiv = true }\n", "adaptive"),
    ] {
        with_promise(&bench, wrong);
        let message = bench.refused(&["--show"]);
        assert!(message.contains(said), "{wrong}: {message}");
    }
}

/// Four pure guarantees of 1/2 keep a promise of 2, which the sum of their rho does not, and a fifth does not.
#[test]
fn pure_guarantees_add_up_in_an_adaptive_ledger() {
    let bench = Bench::new("add-remove", "");
    with_promise(&bench, &promise("2", true));
    for _ in 0..4 {
        assert_eq!(add(&bench, "pure.toml", &[]).0, 0);
    }
    let candidate = checked(&bench, "pure.toml");
    assert_eq!((&candidate["fits"], &candidate["by"]), (&false.into(), &"pure".into()), "{candidate}");
    assert_eq!(ends(&candidate["epsilon"]).1, 2.5);
    assert_eq!(add(&bench, "pure.toml", &[]).0, 1);
}

/// `calibrate --ledger` beside an adaptive promise: what it finds is accepted, and what it refuses is not.
#[test]
fn a_number_is_sought_by_the_sums_of_an_adaptive_ledger() {
    let bench = Bench::new("add-remove", "");
    with_promise(&bench, &promise("4", true));
    let sought = |what: &[&str]| json(&[&["calibrate", "--ledger", &bench.at("l.toml")][..], what].concat());
    let of_number = |found: &Value| found["found"].as_f64().unwrap_or_else(|| panic!("{found}"));
    // Nothing was entered: pure guarantees of 4, and no more.
    let found = sought(&["--pure", "?"]);
    assert_eq!((of_number(&found), &found["proven"]), (4.0, &false.into()), "{found}");
    assert_eq!(add(&bench, "pure.toml", &[]).0, 0);
    assert_eq!(of_number(&sought(&["--pure", "?"])), 3.5);
    // Beside Gaussian noise rho decides: rho + 1/8 within that of the promise.
    let found = sought(&["--gaussian", "?x1"]);
    let (sigma2, reached) = (of_number(&found), ends(&found["epsilon"]));
    assert!(reached.1 <= 4.0 && reached.0 > 3.99, "{found}");
    for (sigma2, fits) in [(sigma2, true), (sigma2 * 0.99, false)] {
        bench.put("sought.toml", &bench.read("gaussian.toml").replace("40", &format!("{sigma2}")));
        assert_eq!(checked(&bench, "sought.toml")["fits"], fits, "{sigma2}");
    }
}

/// What an addition would do, of several candidates side by side; nothing is written.
#[test]
fn candidates_are_checked_and_not_entered() {
    let bench = Bench::new("add-remove", &entry("weekly", ""));
    with_promise(&bench, &promise("0.75", false));
    bench.put("loud.toml", &release("loud", "add-remove", "sigma2 = 1"));
    let before = (bench.read("l.toml"), bench.files());
    let (one, other) = (bench.at("weekly.toml"), bench.at("loud.toml"));
    let (status, answer) = bench.checked(&["--check", &one, "--check", &other]);
    let [first, second] = answer["candidates"].as_array().unwrap().as_slice() else { panic!("{answer}") };
    assert_eq!((status, &first["fits"], &second["fits"]), (1, &true.into(), &false.into()), "{answer}");
    assert_eq!((&first["name"], &second["name"]), (&"weekly (2)".into(), &"loud".into()));
    assert!(overlap(&first["epsilon"], &epsilon(&["--discrete-gaussian", "200x6"])), "{answer}");
    // Each alone beside the ledger.
    assert!(
        overlap(&second["epsilon"], &epsilon(&["--discrete-gaussian", "200x3", "--discrete-gaussian", "1"])),
        "{answer}"
    );
    assert!(overlap(&answer["before"]["epsilon"], &epsilon(&["--discrete-gaussian", "200x3"])));
    assert_eq!(bench.checked(&["--check", &one]).0, 0);
    assert_eq!(bench.checked(&["--check", &one, "--times", "3"]).0, 1);
    // The same decision as that of the addition, which writes.
    assert_eq!((bench.read("l.toml"), bench.files()), before);
    assert_eq!((add(&bench, "weekly.toml", &[]).0, add(&bench, "loud.toml", &[]).0), (0, 1));
    // Without a promise of the ledger it has to be given.
    let bare = Bench::new("add-remove", "");
    assert!(bare.refused(&["--check", &one, "--delta", "1e-6"]).contains("--promise"));
    assert!(bare.refused(&["--check", &one, "--promise", "1"]).contains("--delta"));
    let (status, answer) = bare.checked(&[&["--check", &one, "--promise", "1"][..], &DELTA].concat());
    assert!(status == 0 && answer["before"].is_null(), "{answer}");
    assert_eq!(bare.files(), ["l.toml"]);
    // A bundled ledger is checked as well.
    let given = bare.at("given.toml");
    let homes = ["--population", "households and housing units", "--promise", "1", "--delta", "1e-6", "--digits", "4"];
    let output = assay(&[&["ledger", "us-2020-persons", "--check", &given][..], &homes].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A pure guarantee at its own epsilon is within its promise at every delta, also where the certified end is wider than its last digit.
#[test]
fn a_pure_guarantee_keeps_its_own_epsilon_at_every_delta() {
    let bench = Bench::new("add-remove", "");
    let at_first = bench.read("l.toml");
    for (law, own) in [
        ("law = 'pure'\nepsilon = '1/3'", "1/3"),
        ("law = 'pure'\nepsilon = 1", "1"),
        ("law = 'discrete-laplace'\nepsilon = '1/7'", "1/7"),
        ("law = 'laplace'\nscale = 3", "1/3"),
    ] {
        bench.put("own.toml", &release("own", "add-remove", law));
        for delta in ["1e-9", "1e-15", "1e-30", "1e-300"] {
            bench.put("l.toml", &at_first);
            let _ = fs::remove_file(bench.at("l.toml.log"));
            let words =
                ["ledger", &bench.at("l.toml"), "--add", &bench.at("own.toml"), "--promise", own, "--delta", delta];
            let output = assay(&words).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{law} {delta}: {}", String::from_utf8_lossy(&output.stdout));
            // A promise below it is not kept.
            bench.put("l.toml", &at_first);
            fs::remove_file(bench.at("l.toml.log")).unwrap();
            let less = if own == "1" { "0.99" } else { "0.14" };
            let words =
                ["ledger", &bench.at("l.toml"), "--add", &bench.at("own.toml"), "--promise", less, "--delta", delta];
            assert_eq!(assay(&words).output().unwrap().status.code(), Some(1), "{law} {delta}");
        }
    }
}

/// A sum of pure epsilons is an exact number: at the promise itself it is within it, and printed as it is.
#[test]
fn pure_epsilons_that_add_up_to_the_promise_are_within_it() {
    for adaptive in [true, false] {
        let bench = Bench::new("add-remove", "");
        with_promise(&bench, &promise("0.6", adaptive));
        bench.put("third.toml", &release("third", "add-remove", "law = 'pure'\nepsilon = 0.2"));
        for sum in ["0.2", "0.4", "0.6"] {
            let candidate = text_of(&["ledger", &bench.at("l.toml"), "--check", &bench.at("third.toml")]);
            // The exact composition is a little below the sum.
            let shown = if adaptive { format!("{sum} kept") } else { " kept".to_string() };
            assert!(candidate.contains(&shown), "{adaptive}: {candidate}");
            let (status, answer, error) = add(&bench, "third.toml", &[]);
            assert_eq!((status, &answer["added"]), (0, &true.into()), "{adaptive} {sum}: {error}");
        }
        let (status, answer, _) = add(&bench, "third.toml", &[]);
        assert_eq!((status, &answer["added"]), (1, &false.into()), "{adaptive}");
    }
    let bench = Bench::new("add-remove", "");
    with_promise(&bench, &promise("0.6", true));
    bench.put("two.toml", &release("two", "add-remove", "law = 'pure'\nepsilon = 0.4"));
    assert_eq!(add(&bench, "two.toml", &[]).0, 0);
    let found = json(&["calibrate", "--pure", "?", "--ledger", &bench.at("l.toml")]);
    assert_eq!(found["found"].to_string(), "0.2", "{found}");
}

/// Beside a target of one's own the promise of the ledger does not hold of noise that breaks it.
#[test]
fn a_target_of_ones_own_does_not_keep_the_promise() {
    for adaptive in [true, false] {
        let bench = Bench::new("add-remove", "");
        with_promise(&bench, &promise("9", adaptive));
        assert_eq!(add(&bench, "gaussian.toml", &[]).0, 0);
        let ledger = bench.at("l.toml");
        let calibrate = ["calibrate", "--ledger", &ledger, "--discrete-gaussian", "?x2"];
        for (target, is_kept) in
            [(["--epsilon", "20", "--delta", "1e-6"], false), (["--epsilon", "1", "--delta", "1e-6"], true)]
        {
            let words = [&calibrate[..], &target].concat();
            let (answer, said) = (json(&words), text_of(&words));
            assert_eq!(answer["keeps_promise"], is_kept, "{answer}");
            assert_eq!(said.contains("is broken") && said.contains("refuses to add it"), !is_kept, "{said}");
            assert_eq!(said.contains("the promise of the ledger holds"), is_kept && adaptive, "{said}");
        }
    }
}
