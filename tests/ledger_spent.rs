//! What a ledger has spent, in other requests: the least noise that fits beside it, the risk of everything, a report, and entries that were never published.

use std::fs;

use dp_assay::{numeric::rational::parse, rug::Rational};
use serde_json::Value;

use crate::{
    common::program::{assay, json, refusal},
    ledger::{Bench, DELTA, ends, entry, epsilon, overlap, release},
};

fn number(value: &Value) -> Rational {
    parse(value.to_string().trim_matches('"')).unwrap_or_else(|_| panic!("{value}"))
}

fn candidate(bench: &Bench, release: &str, promise: &str, more: &[&str]) -> (i32, Value) {
    let release = bench.at(release);
    let words = [&["--check", &release, "--promise", promise][..], &DELTA, more].concat();
    let (status, answer) = bench.checked(&words);
    (status, answer["candidates"][0].clone())
}

/// The epsilon of the counts of a ledger with a number in place of that of the candidate, by the command line.
#[test]
fn the_least_noise_of_a_candidate_fits_and_the_next_does_not() {
    let bench = Bench::new("add-remove", &entry("weekly", ""));
    bench.put("loud.toml", &release("loud", "add-remove", "sigma2 = 1\ncells = 2"));
    bench.put("laplace.toml", &release("laplace", "add-remove", "law = 'discrete-laplace'\nepsilon = 2"));
    for (name, option, times) in [("loud", "--discrete-gaussian", "x2"), ("laplace", "--discrete-laplace", "")] {
        let (status, found) = candidate(&bench, &format!("{name}.toml"), "1", &[]);
        let least = &found["least_noise"];
        assert_eq!((status, &found["fits"], &least["proven"]), (1, &false.into(), &true.into()), "{found}");
        let with = |number: &Value| epsilon(&["--discrete-gaussian", "200x3", option, &format!("{number}{times}")]);
        let (fits, not) = (with(&least["found"]), with(&least["not_enough"]));
        assert!(ends(&fits).1 <= 1.0 && ends(&not).0 > 1.0, "{found} {fits} {not}");
        let apart = (number(&least["found"]) - number(&least["not_enough"])).abs();
        assert_eq!(apart, if name == "loud" { Rational::from((1, 100)) } else { Rational::from((1, 10_000)) });
        // The file with that number is added.
        let text = bench.read(&format!("{name}.toml"));
        let present = if name == "loud" { "sigma2 = 1" } else { "epsilon = 2" };
        let with =
            |number: &Value| text.replace(present, &format!("{}{number}", present.trim_end_matches(char::is_numeric)));
        bench.put("not.toml", &with(&least["not_enough"]));
        bench.put("fits.toml", &with(&least["found"]));
        assert_eq!(candidate(&bench, "not.toml", "1", &[]).0, 1);
        assert_eq!(candidate(&bench, "fits.toml", "1", &[]).0, 0);
    }
    // By the sum of rho more noise is needed, and the search is of the same decision.
    let (_, exact) = candidate(&bench, "loud.toml", "1", &[]);
    let (_, by_rho) = candidate(&bench, "loud.toml", "1", &["--adaptive"]);
    let of = |found: &Value| number(&found["least_noise"]["found"]);
    assert!(of(&by_rho) > of(&exact), "{by_rho} {exact}");
    bench.put(
        "rho.toml",
        &release("rho", "add-remove", &format!("sigma2 = {}\ncells = 2", by_rho["least_noise"]["found"])),
    );
    assert_eq!(candidate(&bench, "rho.toml", "1", &["--adaptive"]).0, 0);
    bench.put(
        "rho.toml",
        &release("rho", "add-remove", &format!("sigma2 = {}\ncells = 2", by_rho["least_noise"]["not_enough"])),
    );
    assert_eq!(candidate(&bench, "rho.toml", "1", &["--adaptive"]).0, 1);
    // What was spent breaks the promise, whatever the candidate: proven. Two laws have no single number.
    let (_, spent) = candidate(&bench, "loud.toml", "2/5", &[]);
    assert!(spent["least_noise"]["found"].is_null() && spent["least_noise"]["proven"] == true, "{spent}");
    assert!(candidate(&bench, "still.toml", "1", &[]).1["least_noise"].is_null());
}

/// A ledger is an account for one record; and one that is only an upper bound proves no absence.
#[test]
fn beside_a_guarantee_nothing_is_proven_not_to_keep_the_promise() {
    let bench = Bench::new("add-remove", &entry("boxed", ""));
    bench.put("boxed.toml", &release("boxed", "add-remove", "law = 'pure'\nepsilon = 1"));
    bench.put("loud.toml", &release("loud", "add-remove", "sigma2 = 1\ncells = 2"));
    let ledger = bench.at("l.toml");
    let sought = |epsilon: &'static str| -> Vec<&str> {
        vec!["calibrate", "--discrete-gaussian", "?", "--ledger", &ledger, "--delta", "1e-6", "--epsilon", epsilon]
    };
    let said = |epsilon: &'static str| {
        let text = String::from_utf8(assay(&sought(epsilon)).output().unwrap().stdout).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let found = said("3");
    assert!(found.contains("4.74 is proven to keep the target, and 4.73 does not keep it by this account"), "{found}");
    let spent = said("1/2");
    assert!(spent.contains("by this account") && !spent.contains("proven"), "{spent}");
    let (_, answer) = candidate(&bench, "loud.toml", "1/2", &[]);
    let least = &answer["least_noise"];
    assert!(
        least["found"].is_null() && least["proven"] == false && least["may_be_more_private"].is_string(),
        "{answer}"
    );
    let message = refusal(&[&sought("3")[..], &["--group", "2"]].concat());
    assert!(message.contains("an account for one record"), "{message}");
}

#[test]
fn calibrate_finds_a_number_beside_what_a_ledger_has_spent() {
    let bench = Bench::new("add-remove", &entry("weekly", ""));
    let ledger = bench.at("l.toml");
    let answer =
        json(&["calibrate", "--discrete-gaussian", "?x2", "--ledger", &ledger, "--epsilon", "1", "--delta", "1e-6"]);
    let with =
        |number: &Value| epsilon(&["--discrete-gaussian", "200x3", "--discrete-gaussian", &format!("{number}x2")]);
    assert!(ends(&with(&answer["found"])).1 <= 1.0 && ends(&with(&answer["not_enough"])).0 > 1.0, "{answer}");
    assert!(overlap(&answer["epsilon"], &with(&answer["found"])), "{answer}");
    // By its own counts alone much less would do.
    let alone = json(&["calibrate", "--discrete-gaussian", "?x2", "--epsilon", "1", "--delta", "1e-6"]);
    assert!(number(&alone["found"]) < number(&answer["found"]));
    // The promise of the ledger is the target, and a spent one has no number.
    let text = bench.read("l.toml");
    let promised = |epsilon: &str, adaptive: bool| {
        let line = format!("promise = {{ epsilon = {epsilon}, delta = 1e-6, adaptive = {adaptive} }}\n[[population]]");
        bench.put("l.toml", &text.replacen("[[population]]", &line, 1));
    };
    promised("1", false);
    let own = json(&["calibrate", "--discrete-gaussian", "?x2", "--ledger", &ledger]);
    assert_eq!(own["found"], answer["found"]);
    assert!(
        refusal(&["calibrate", "--discrete-gaussian", "?x2", "--ledger", &ledger, "--delta", "1e-5"])
            .contains("--delta 1e-5")
    );
    assert!(refusal(&["calibrate", "--discrete-gaussian", "4x2", "--ledger", &ledger]).contains("--check"));
    assert!(
        refusal(&["calibrate", "--discrete-gaussian", "?", "--ledger", &ledger, "--neighbors", "bounded"])
            .contains("add-remove")
    );
    promised("0.4", false);
    let output = assay(&["calibrate", "--discrete-gaussian", "?x2", "--ledger", &ledger, "--json"]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.code() == Some(1) && answer["found"].is_null() && answer["proven"] == true, "{answer}");
    promised("1", true);
    // Where noise may be chosen by earlier results the sum of rho decides: it needs more.
    let adaptive = json(&["calibrate", "--discrete-gaussian", "?x2", "--ledger", &ledger]);
    let by_rho = |number: &Value| {
        let of = format!("{number}x2");
        let answer = json(&["epsilon", "--discrete-gaussian", "200x3", "--discrete-gaussian", &of, "--delta", "1e-6"]);
        assert_eq!(answer["compared_with"]["name"], "zCDP (best order)");
        answer["compared_with"]["epsilon"].clone()
    };
    assert!(ends(&by_rho(&adaptive["found"])).1 <= 1.0 && ends(&by_rho(&adaptive["not_enough"])).0 > 1.0, "{adaptive}");
    assert!(number(&adaptive["found"]) > number(&own["found"]));
    // A changed record leaves and enters: the counts of the ledger and of the mechanism twice.
    let bench = Bench::new("bounded", &entry("weekly", ""));
    let answer = json(&[
        "calibrate",
        "--discrete-gaussian",
        "?x2",
        "--ledger",
        &bench.at("l.toml"),
        "--epsilon",
        "2",
        "--delta",
        "1e-6",
    ]);
    let with = epsilon(&["--discrete-gaussian", "200x6", "--discrete-gaussian", &format!("{}x4", answer["found"])]);
    assert!(overlap(&answer["epsilon"], &with) && answer["neighbors"] == "bounded", "{answer} {with}");
}

#[test]
fn the_risk_of_a_ledger_is_that_of_all_its_releases() {
    let bench = Bench::new("add-remove", &(entry("weekly", "times = 2") + &entry("coarse", "")));
    let ledger = bench.at("l.toml");
    let counts = ["--discrete-gaussian", "200x6", "--discrete-laplace", "0.3"];
    let common = ["--prior", "1/2", "--digits", "8"];
    let bound = |words: &[&str]| json(&[&["risk", "bound", "--delta", "1e-6"][..], &common, words].concat());
    let (own, same) = (bound(&["--ledger", &ledger]), bound(&counts));
    for key in ["correct_decision_upper", "posterior_events", "posterior_upper", "advantage", "epsilon"] {
        assert!(overlap(&own[key], &same[key]), "{key}: {own} {same}");
    }
    // Each release alone is a part.
    let names: Vec<&Value> = own["levels"].as_array().unwrap().iter().map(|level| &level["name"]).collect();
    assert_eq!(names, ["weekly, 2 times", "coarse"]);
    let curve = |words: &[&str]| json(&[&["risk", "curve", "--alpha", "0.05"][..], &common, words].concat());
    let (own, same) = (curve(&["--ledger", &ledger]), curve(&counts));
    for key in ["power_lower", "power_upper", "posterior_upper"] {
        let value = |answer: &Value| answer[key][0].to_string().parse::<f64>().unwrap();
        assert!((value(&own) - value(&same)).abs() < 1e-6, "{key}: {own} {same}");
    }
    // A changed record: the counts may be fewer, so that no adversary is said to attain the number.
    let changed = Bench::new("bounded", &entry("weekly", ""));
    let output = assay(&["risk", "bound", "--ledger", &changed.at("l.toml"), "--prior", "1/2"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("no adversary decides correctly with a larger probability"), "{said}");
    // A mechanism or a ledger, one account, and a population.
    let both = ["risk", "bound", "--prior", "1/2", "--ledger", &ledger];
    assert!(refusal(&[&both[..], &["--pure", "1"]].concat()).contains("leave out"));
    assert!(refusal(&[&both[..], &["--group", "2"]].concat()).contains("leave out"));
    assert!(refusal(&[&both[..], &["--population", "q"]].concat()).contains("unknown population"));
    fs::copy("tests/common/budget-only.toml", bench.at("budget.toml")).unwrap();
    bench.put("l.toml", &(bench.read("l.toml") + &entry("budget", "")));
    assert!(refusal(&both).contains("only the budget is known"));
    bench.put("l.toml", bench.read("l.toml").split("[[entry]]").next().unwrap());
    assert!(refusal(&both).contains("nothing was entered"));
}

/// The report names the section that does not apply, and has all others.
#[test]
fn a_report_of_a_ledger_leaves_out_the_noise_that_could_be_spared() {
    let bench = Bench::new("add-remove", &(entry("weekly", "times = 2") + &entry("coarse", "")));
    let (ledger, page) = (bench.at("l.toml"), bench.at("l.html"));
    let words = ["report", "--ledger", &ledger, "--delta", "1e-6", "--digits", "8", "--out", &page];
    let answer = json(&words);
    assert!(overlap(&answer["epsilon"], &epsilon(&["--discrete-gaussian", "200x6", "--discrete-laplace", "0.3"])));
    assert_eq!(answer["left_out"][0]["section"], "How much noise could be spared?");
    let html = fs::read_to_string(&page).unwrap();
    assert!(
        html.contains("Left out: How much noise could be spared?") && html.contains("The releases alone are between")
    );
    assert!(html.contains("is right at most") && !html.contains("could be spared at"), "{html}");
    assert!(refusal(&["report", "--ledger", &ledger, "--nist", &bench.at("n.html")]).contains("--nist"));
}

/// What an entry spent stays if it was never published, and leaves the account only if no noise was drawn; the reason is in the log.
#[test]
fn an_entry_that_was_never_published_stays_unless_nothing_was_drawn() {
    let bench = Bench::new("add-remove", &entry("coarse", ""));
    for _ in 0..3 {
        assert_eq!(bench.added("weekly.toml", "9", &[]).0, 0);
    }
    let text = bench.read("l.toml");
    let of = |counts: &[&str]| epsilon(&[&["--discrete-laplace", "0.3"][..], counts].concat());
    let composed = || bench.account()["populations"][0]["composed"]["epsilon"].clone();
    let file = bench.at("l.toml");
    let withdraw = |name: &str, more: &[&str]| {
        let reason = ["--because", "the board said no", "--json"];
        let words = [&["ledger", &file, "--withdraw", name][..], &reason, more].concat();
        let output = assay(&words).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(withdraw("weekly", &[]).0, 0);
    assert!(overlap(&composed(), &of(&["--discrete-gaussian", "200x9"])));
    assert_eq!(withdraw("weekly (2)", &["--never-drawn"]).0, 0);
    assert!(overlap(&composed(), &of(&["--discrete-gaussian", "200x6"])));
    // The ledger has the same text, and the log two lines more.
    assert_eq!(bench.read("l.toml"), text);
    let shown = bench.shown();
    assert_eq!((shown["log"].as_array().unwrap().len(), &shown["pending"]), (5, &0.into()));
    assert_eq!(shown["populations"][0]["never_drawn"][0]["withdrawn"], "the board said no");
    assert_eq!(shown["populations"][0]["entries"][1]["withdrawn"], "the board said no");
    for (name, more, said) in [
        ("weekly", &["--never-drawn"][..], "was withdrawn before"),
        ("weekly (2)", &[], "was withdrawn before"),
        ("coarse", &[], "was written by hand"),
        ("weekle", &[], "did you mean"),
    ] {
        let (status, error) = withdraw(name, more);
        assert!(status == 2 && error.contains(said), "{name}: {error}");
    }
    assert!(refusal(&["ledger", &bench.at("l.toml"), "--withdraw", "weekly (3)"]).contains("--because"));
    // Additions go on, under names of their own, and an interrupted one is completed.
    assert_eq!(bench.added("weekly.toml", "9", &[]).1["name"], "weekly (4)");
    let (ledger, log) = (bench.read("l.toml"), bench.read("l.toml.log"));
    let all = bench.account()["populations"].clone();
    bench.put("l.toml", &text);
    assert_eq!((&bench.shown()["pending"], &bench.account()["populations"]), (&1.into(), &all));
    assert_eq!(bench.added("gaussian.toml", "9", &[]).0, 0);
    assert!(bench.read("l.toml").starts_with(ledger.trim_end()) && bench.read("l.toml.log").starts_with(&log));
    let said = String::from_utf8(assay(&["ledger", &bench.at("l.toml"), "--show"]).output().unwrap().stdout).unwrap();
    assert!(said.contains("was never published: the board said no."), "{said}");
}
