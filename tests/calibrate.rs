//! Calibrated noise meets its target, and less noise does not.

use dp_assay::{
    account::{Account, Composition, Counts, Rho, crossing},
    numeric::Certainty,
    release::Release,
};
use rug::Rational;
use serde_json::Value;

use crate::common::{
    numbers::number,
    program::{assay, found_nothing, json, refusal},
};

fn exact(value: &Value) -> Rational {
    number(&value.to_string())
}

const MATCH: [&str; 5] = ["calibrate", "--delta", "1e-11", "--match", "zcdp"];

fn matched<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    [&MATCH, rest].concat()
}

#[test]
fn every_level_of_the_paper_is_least_on_its_grid() {
    let release = Release::find("su-su-wang-2025").unwrap();
    let answer = json(&matched(&["--release", "su-su-wang-2025"]));
    let levels = answer["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 8);
    let delta = number("1e-11");
    for row in levels {
        let level = release.level(row["name"].as_str().unwrap()).unwrap();
        let epsilon = |sigma2: &Rational| {
            let counts = Counts::discrete_gaussian(sigma2.clone(), 10, 1).unwrap();
            Composition::new([counts]).unwrap().epsilon(&delta, 12).unwrap().value
        };
        // The usual conversion, in doubles: far from both sides on a grid of two decimals.
        let rho = level.rho.to_f64();
        let target = rho + 2.0 * (rho * 11.0 * std::f64::consts::LN_10).sqrt();
        let (found, before) = (exact(&row["calibrated_sigma2"]), exact(&row["not_enough_sigma2"]));
        assert_eq!(Rational::from(&found - &before), number("0.01"));
        assert!(epsilon(&found).upper().to_f64() <= target && epsilon(&before).lower().to_f64() > target, "{row}");
        let own = level.queries[0].sigma2().unwrap();
        let percent: Rational = (1 - Rational::from(&found / own)) * 100_u32;
        assert_eq!(percent.to_string(), row["reduction_percent_exact"].as_str().unwrap());
    }
}

#[test]
fn one_factor_for_all_levels_lowers_the_noise_by_what_both_terms_allow() {
    let answer =
        json(&["calibrate", "--release", "su-su-wang-2025", "--delta", "1e-10", "--match", "zcdp", "--scale-all"]);
    let (factor, before) = (exact(&answer["factor"]), exact(&answer["factor_before"]));
    assert_eq!(Rational::from(&factor - &before), number("0.0001"));
    let whole = Release::find("su-su-wang-2025").unwrap().composition(&[] as &[&str], None).unwrap();
    let delta = number("1e-10");
    let rho = whole.rho().to_f64();
    let target = rho + 2.0 * (rho * 10.0 * std::f64::consts::LN_10).sqrt();
    let epsilon = |factor: &Rational| whole.with_noise_times(factor).unwrap().epsilon(&delta, 10).unwrap().value;
    assert!(epsilon(&factor).upper().to_f64() <= target && epsilon(&before).lower().to_f64() > target);
    assert_eq!(answer["levels"].as_array().unwrap().len(), 8);
}

#[test]
fn the_worst_of_all_paths_decides_for_a_release_that_has_them() {
    // Two levels, one of which may be bypassed: its budget then goes to the other, and one of the paths is the worst.
    let text = r#"
name = "two"
title = "Two levels"
source = "made up for a test"
neighbors = "add-remove"
rho = "2"
sigma2_times_rho = "1/2"
[[level]]
name = "A"
proportion = "1/4"
[[level.query]]
name = "q"
proportion = "1"
[[level]]
name = "B"
proportion = "3/4"
[[level.query]]
name = "q"
proportion = "1/9"
times = 9
[paths]
note = "both"
droppable = ["B"]
"#;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.toml");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let answer = json(&["calibrate", "--release", file, "--delta", "1e-6", "--epsilon", "8", "--scale-all"]);
    let (factor, before) = (exact(&answer["factor"]), exact(&answer["factor_before"]));
    let (paths, target) = (Release::find(file).unwrap().path_compositions().unwrap(), number("8"));
    let largest = |factor: &Rational| {
        let delta = |path: &Composition| path.with_noise_times(factor).unwrap().delta(&target, 12).unwrap().value;
        paths.iter().map(delta).reduce(|a, b| a.max(&b)).unwrap()
    };
    assert_eq!(largest(&factor).at_most(&number("1e-6")), Certainty::Yes);
    assert_eq!(largest(&before).at_most(&number("1e-6")), Certainty::No);
}

#[test]
fn a_matched_curve_holds_at_every_delta_and_for_no_smaller_noise() {
    let (from, to) = ("1e-12", "1e-4");
    let range = format!("{from}..{to}");
    let answer = json(&[
        "calibrate",
        "--discrete-gaussian",
        "4.9995x10",
        "--match-curve",
        &range,
        "--decimals",
        "3",
        "--digits",
        "8",
    ]);
    let row = &answer["levels"][0];
    let rho = Rho::new(Rational::from(10) / (number("4.9995") * 2_u32)).unwrap();
    let at = |sigma2: &Value| {
        let counts = Counts::discrete_gaussian(exact(sigma2), 10, 1).unwrap();
        Composition::new([counts]).unwrap()
    };
    let kept = at(&row["calibrated_sigma2"]);
    for k in 0..=80_i32 {
        let delta = Rational::from_f64(10_f64.powf(-12.0 + f64::from(k) / 10.0)).unwrap();
        let bound = dp_assay::account::conversions::zcdp_epsilon(&rho, &delta.clone().try_into().unwrap(), 15);
        assert!(kept.epsilon(&delta, 9).unwrap().value.lower() <= bound.upper(), "{delta}");
    }
    let less = at(&row["not_enough_sigma2"]);
    assert_eq!(crossing::within_everywhere(&less, &rho, &number(from), &number(to)).unwrap(), Certainty::No);
    // A match at the smallest delta only needs no more noise.
    let point =
        json(&["calibrate", "--discrete-gaussian", "4.9995x10", "--delta", from, "--match", "zcdp", "--decimals", "3"]);
    assert!(exact(&point["levels"][0]["calibrated_sigma2"]) <= exact(&row["calibrated_sigma2"]));
}

#[test]
fn crossings_are_reported_for_every_level() {
    let answer = json(&matched(&["--release", "su-su-wang-2025", "--crossings"]));
    for row in answer["levels"].as_array().unwrap() {
        let curve = row["curve"].as_array().unwrap();
        assert_eq!(curve[0]["calibrated_is"], "at least as private");
        assert_eq!(curve.last().unwrap()["calibrated_is"], "less private");
        assert!(curve.len() % 2 == 1 && curve[1]["calibrated_is"] == "crossing");
    }
}

#[test]
fn all_bundled_releases_with_an_account_can_be_calibrated_level_by_level() {
    for release in Release::bundled().unwrap() {
        let args = matched(&["--release", &release.name]);
        if release.budget_only {
            assert!(refusal(&args).contains("budget only"), "{}", release.name);
            continue;
        }
        for row in json(&args)["levels"].as_array().unwrap() {
            let reduction = exact(&row["reduction_percent"]);
            // zCDP is far from bounded losses: geometric noise, which has no sigma2, could be smaller than a half.
            let most = if row["sigma2"].is_null() { 70 } else { 60 };
            assert!(reduction > 5 && reduction < most, "{}: {row}", release.name);
        }
    }
}

#[test]
fn a_target_that_is_met_already_gives_an_honest_reduction() {
    // epsilon = 10.1248309 at 1e-11 is that of sigma2 = 5: a tighter target needs more noise.
    let row = |epsilon: &str, decimals: &str| {
        let args = [
            "calibrate",
            "--discrete-gaussian",
            "5x10",
            "--delta",
            "1e-11",
            "--epsilon",
            epsilon,
            "--decimals",
            decimals,
        ];
        json(&args)["levels"][0].clone()
    };
    assert!(exact(&row("9", "2")["reduction_percent"]) < 0);
    assert_eq!(exact(&row("10.12483094", "2")["reduction_percent"]), 0);
    assert_eq!(exact(&row("10.12483094", "0")["calibrated_sigma2"]), 5);
    let fine = row("10.12483094", "12");
    let step: Rational = exact(&fine["calibrated_sigma2"]) - exact(&fine["not_enough_sigma2"]);
    assert_eq!(step, number("1e-12"));
    // The target is so large that the least noise of the grid suffices: no smaller point is named.
    assert!(row("1e9", "6")["not_enough_sigma2"].is_null());
}

#[test]
fn invalid_calibrations_are_refused_with_the_argument() {
    let gaussian = ["--discrete-gaussian", "5x10"];
    for (rest, says) in [
        (&["--delta", "1e-11", "--epsilon", "-1"][..], "--epsilon"),
        (&["--delta", "0", "--epsilon", "1"], "--delta"),
        (&["--epsilon", "1"], "--delta"),
        (&["--delta", "1e-11", "--match", "gdp"], "zcdp"),
        (&["--delta", "1e-11", "--match", "published"], "no epsilon was published"),
        (&["--delta", "1e-11", "--match", "published", "--scale-all"], "--match"),
        (&["--delta", "1e-11", "--match", "pure"], "unbounded"),
        (&["--delta", "1e-11", "--match", "zcdp", "--epsilon", "1"], "cannot be used with"),
        (&["--delta", "1e-11", "--match", "zcdp", "--decimals", "13"], "--decimals"),
        (&["--delta", "1e-11", "--match", "zcdp", "--per-level", "--scale-all"], "cannot be used with"),
        (&["--match-curve", "1e-5..1e-12"], "FROM < TO"),
        (&["--match-curve", "1e-5"], "FROM..TO"),
        (&["--match-curve", "0..1e-5"], "--match-curve"),
        (&["--match-curve", "x..1e-5"], "--match-curve"),
    ] {
        let message = refusal(&[&["calibrate"], &gaussian[..], rest].concat());
        assert!(message.contains(says), "{rest:?}: {message}");
    }
    assert!(refusal(&["calibrate", "--delta", "1e-5", "--epsilon", "1"]).contains("--release"));
}

/// A search that finds no noise is an answer: exit status 1, and `found`: null.
#[test]
fn a_target_that_no_noise_meets_is_an_answer() {
    for (rest, says) in [
        (&["--delta", "1e-11", "--epsilon", "1e-9"][..], "out of reach"),
        (&["--delta", "1e-11", "--epsilon", "0"], "out of reach"),
        (&["--advantage", "1e-30"], "is enough for this target: the advantage"),
    ] {
        let words = [&["calibrate", "--discrete-gaussian", "5x10"], rest].concat();
        let message = found_nothing(&words);
        assert!(message.contains(says), "{rest:?}: {message}");
        let output = assay(&[&words[..], &["--json"]].concat()).assert().code(1).get_output().stdout.clone();
        let answer: Value = serde_json::from_slice(&output).unwrap();
        assert!(answer["found"].is_null() && answer["proven"] == false, "{answer}");
        assert!(answer["reason"].as_str().unwrap().contains(says), "{answer}");
    }
}

/// Noise without a sigma2 is scaled by a factor: its parameters are divided by it.
#[test]
fn discrete_laplace_noise_takes_a_factor() {
    let row = &json(&["calibrate", "--discrete-laplace", "1x3", "--delta", "1e-5", "--epsilon", "1"])["levels"][0];
    assert!(row["sigma2"].is_null() && row["calibrated_sigma2"].is_null());
    let epsilon = |factor: Rational| {
        let counts = Counts::discrete_laplace(factor.recip(), 3, 1).unwrap();
        Composition::new([counts]).unwrap().epsilon(number("1e-5"), 12).unwrap().value
    };
    let factor = exact(&row["factor"]);
    assert!(*epsilon(factor.clone()).upper() <= 1 && *epsilon(factor - number("0.0001")).lower() > 1);
    // A thousand small losses: pure DP adds them, so most of the noise is unnecessary.
    let many = ["calibrate", "--discrete-laplace", "0.01x1000", "--delta", "1e-10", "--match", "pure", "--scale-all"];
    let answer = json(&many);
    assert_eq!(answer["compared_with"]["name"], "pure DP");
    assert_eq!(answer["target_epsilon"]["upper"].to_string(), "10");
    assert!(exact(&answer["factor"]) < number("0.4"));
}

/// The curves of `--svg` are in the JSON: less noise has a larger delta, and the zCDP curve is above the original noise.
#[test]
fn the_profiles_that_are_drawn_are_given_as_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("noise.svg");
    let words = matched(&["--release", "su-su-wang-2025", "--level", "State", "--svg", path.to_str().unwrap()]);
    let answer = json(&words);
    let profiles = &answer["levels"][0]["profiles_approx"];
    let points = |of: &str| -> Vec<(f64, f64)> {
        let number = |value: &Value| value.to_string().parse::<f64>().unwrap();
        profiles[of]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| (number(&point["epsilon"]), number(&point["delta"])))
            .collect()
    };
    let [before, after, zcdp] = ["before", "after", "zcdp"].map(points);
    assert!(before.len() > 50 && before.len() == after.len());
    assert!(before.iter().zip(&after).all(|(before, after)| before.0 == after.0 && before.1 <= after.1));
    let state = Release::find("su-su-wang-2025").unwrap().composition(&["State"], None).unwrap();
    for (epsilon, delta) in before.iter().skip(1).step_by(20) {
        let exact = state.delta(Rational::from_f64(*epsilon).unwrap(), 6).unwrap().value.approximate();
        assert!((delta / exact - 1.0).abs() < 1e-3, "{epsilon}: {delta} {exact}");
        let conversion = zcdp.iter().find(|point| point.0 >= *epsilon).unwrap();
        assert!(conversion.1 >= *delta, "{epsilon}");
    }
    assert!(
        json(&matched(&["--release", "su-su-wang-2025", "--level", "State"]))["levels"][0]["profiles_approx"].is_null()
    );
}

/// The promises of risk: the least noise keeps each, and the next smaller does not, by the commands that give the same numbers.
#[test]
fn noise_is_calibrated_to_what_an_adversary_learns() {
    let noise = |sigma2: &Value| format!("{}x10", exact(sigma2));
    let of = |options: &[&str], key: &str, read: &dyn Fn(&str) -> Rational, keeps: &dyn Fn(&Rational) -> bool| {
        let answer = json(&[&["calibrate", "--discrete-gaussian", "5x10"], options].concat());
        assert!(answer["delta"].is_null() && answer["goal"]["measure"] == key);
        let row = &answer["levels"][0];
        let (least, before) = (noise(&row["calibrated_sigma2"]), noise(&row["not_enough_sigma2"]));
        assert!(keeps(&read(&least)) && !keeps(&read(&before)), "{options:?}: {row}");
        let shown = exact(&row[key]["upper"]);
        assert!((shown - read(&least)).abs() < number("1e-9"), "{options:?}: {row}");
    };
    let at = |text: &str, question: &[&str], pointer: &str| {
        exact(json(&[question, &["--discrete-gaussian", text]].concat()).pointer(pointer).unwrap())
    };
    let bound =
        |text: &str, prior: &str, key: &str| at(text, &["risk", "bound", "--prior", prior, "--delta", "1e-9"], key);
    of(&["--advantage", "0.1"], "advantage", &|text| bound(text, "1/2", "/advantage/upper"), &|value| {
        *value <= number("0.1")
    });
    of(
        &["--posterior", "0.6", "--prior", "1/2"],
        "correct_decision",
        &|text| bound(text, "1/2", "/correct_decision_upper/upper"),
        &|value| *value <= number("0.6"),
    );
    of(
        &["--posterior", "0.92", "--prior", "0.9"],
        "correct_decision",
        &|text| bound(text, "0.9", "/correct_decision_upper/upper"),
        &|value| *value <= number("0.92"),
    );
    of(
        &["--alpha", "0.05", "--beta", "0.8"],
        "beta",
        &|text| at(text, &["tradeoff", "--alpha", "0.05"], "/beta_lower/0"),
        &|value| *value >= number("0.8"),
    );
    let answer =
        json(&["calibrate", "--discrete-gaussian", "5x10", "--posterior", "0.9", "--prior", "0.1", "--delta", "1e-9"]);
    let row = &answer["levels"][0];
    let posterior = |sigma2: &Value| bound(&noise(sigma2), "0.1", "/posterior_events/upper");
    assert!(
        posterior(&row["calibrated_sigma2"]) <= number("0.9") && posterior(&row["not_enough_sigma2"]) > number("0.9")
    );
    // Levels that keep a promise each may break it together.
    let whole = json(&["calibrate", "--release", "su-su-wang-2025", "--posterior", "0.6", "--prior", "1/2"]);
    assert_eq!(whole["all_composed"]["keeps_target"], false);
    let whole = json(&["calibrate", "--release", "su-su-wang-2025", "--alpha", "0.05", "--beta", "0.5", "--scale-all"]);
    assert!(
        exact(&whole["beta"]["lower"]) >= number("0.5") && exact(&whole["factor_before"]) < exact(&whole["factor"])
    );
}

#[test]
fn promises_of_risk_that_no_noise_or_every_noise_keeps_are_refused() {
    for (rest, says) in [
        (&["--advantage", "0"][..], "above 0"),
        (&["--advantage", "1"], "below 1"),
        (&["--advantage", "x"], "--advantage"),
        (&["--advantage", "0.1", "--delta", "1e-9"], "cannot be used with"),
        (&["--advantage", "0.1", "--epsilon", "1"], "cannot be used with"),
        (&["--advantage", "0.1", "--queries"], "cannot be used with"),
        (&["--alpha", "0.1"], "--beta"),
        (&["--alpha", "0.5", "--beta", "0.5"], "sum below 1"),
        (&["--alpha", "0.1", "--beta", "-1"], "beta"),
        (&["--alpha", "1e-301", "--beta", "0.5"], "1e-300"),
        (&["--alpha", "0.5", "--beta", "1e-400"], "1e-300"),
        (&["--posterior", "0.6"], "--prior"),
        (&["--posterior", "0.6", "--prior", "0.7"], "above 0.7"),
        (&["--posterior", "0.05", "--prior", "0.1", "--delta", "1e-9"], "above the prior"),
        (&["--posterior", "0.6", "--prior", "2"], "the prior"),
        (&["--prior", "1/2", "--delta", "1e-9"], "--posterior"),
    ] {
        let message = refusal(&[&["calibrate", "--discrete-gaussian", "5x10"], rest].concat());
        assert!(message.contains(says), "{rest:?}: {message}");
    }
}

/// The written release has the calibrated noise, of counts and of levels.
#[test]
fn calibrated_noise_is_written_as_a_release() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calibrated.toml");
    let file = path.to_str().unwrap();
    let epsilon = |answer: &Value| exact(&answer["epsilon"]["upper"]);
    let at = ["--delta", "1e-9", "--epsilon", "3"];
    for (subject, more) in [
        (&["--discrete-gaussian", "5x10", "--discrete-laplace", "0.5x3@2"][..], &["--scale-all"][..]),
        (&["--discrete-gaussian", "5x10", "--neighbors", "bounded"], &[]),
        (&["--discrete-gaussian", "5x10", "--neighbors", "bounded", "--counts-as-given"], &[]),
        (&["--release", "su-su-wang-2025"], &["--scale-all"]),
        (&["--release", "su-su-wang-2025", "--level", "State", "--discrete-gaussian", "9"], &["--scale-all"]),
        (&["--release", "pl94-units-us"], &["--scale-all", "--decimals", "2"]),
    ] {
        let answer = json(&[&["calibrate", "--out", file], subject, more, &at].concat());
        let reached = if more.is_empty() { epsilon(&answer["levels"][0]) } else { epsilon(&answer) };
        let read = json(&["epsilon", "--release", file, "--delta", "1e-9"]);
        assert!((epsilon(&read) - reached).abs() < number("1e-10"), "{subject:?}");
    }
    // Each level alone.
    let answer = json(&[&["calibrate", "--out", file, "--release", "su-su-wang-2025"], &at[..]].concat());
    let read = json(&["epsilon", "--release", file, "--delta", "1e-9"]);
    for (level, own) in answer["levels"].as_array().unwrap().iter().zip(read["levels"].as_array().unwrap()) {
        assert!(level["name"] == own["name"] && (epsilon(level) - epsilon(own)).abs() < number("1e-10"));
    }
    let message = refusal(&[
        "calibrate",
        "--out",
        file,
        "--release",
        "su-su-wang-2025",
        "--discrete-gaussian",
        "5",
        "--counts-as-given",
        "--neighbors",
        "bounded",
        "--delta",
        "1e-9",
        "--epsilon",
        "3",
        "--scale-all",
    ]);
    assert!(message.contains("--out"), "{message}");
}

/// The curve of risk: its ends, its order, and its refusals.
#[test]
fn the_risk_curve_falls_to_the_prior() {
    let question = ["risk", "curve", "--release", "su-su-wang-2025", "--level", "State", "--prior", "0.01"];
    let answer = json(&[&question[..], &["--points", "13", "--digits", "8"]].concat());
    let column = |key: &str| -> Vec<Rational> { answer[key].as_array().unwrap().iter().map(exact).collect() };
    let (alpha, posterior, relative) = (column("alpha"), column("posterior_upper"), column("relative_risk_upper"));
    assert!(alpha.len() == 13 && alpha[0] == number("1e-6") && alpha[12] == 1);
    assert!(
        posterior.windows(2).all(|pair| pair[0] > pair[1])
            && (posterior[12].clone() - number("0.01")).abs() < number("1e-9")
    );
    for (posterior, relative) in posterior.iter().zip(&relative) {
        assert!((posterior / number("0.01") - relative).abs() < number("1e-6"));
    }
    for (rest, says) in [
        (&["--prior", "0"][..], "--prior"),
        (&["--prior", "0.1", "--alpha", "0"], "alpha"),
        (&["--prior", "0.1", "--alpha", "1.5"], "alpha"),
        (&["--prior", "0.1", "--from", "1"], "--from"),
        (&["--prior", "0.1", "--from", "1e-301"], "--from"),
    ] {
        let message = refusal(&[&["risk", "curve", "--gaussian", "1"], rest].concat());
        assert!(message.contains(says), "{rest:?}: {message}");
    }
}

/// A question mark is the number that the JSON answer names; the account with it, and with its neighbor on the grid, are on both sides of the target.
#[test]
fn a_question_mark_is_found_and_proven_from_both_sides() {
    for (option, text, beside, sought) in [
        ("--discrete-gaussian", "?x10", &["--discrete-laplace", "1/10x3"][..], "sigma2"),
        ("--discrete-gaussian", "50x?@2", &["--neighbors", "bounded"], "count"),
        ("--truncated-laplace", "1/2:?", &[], "bound"),
        ("--unknown-key", "discrete-laplace:1:?x3", &[], "threshold"),
        ("--gaussian", "40@?", &["--group", "2"], "shift"),
    ] {
        let question = [&["calibrate", option, text, "--epsilon", "4", "--delta", "1e-8"], beside].concat();
        let answer = json(&question);
        assert_eq!((answer["sought"].as_str(), answer["mode"].as_str()), (Some(sought), Some("sought")));
        let delta = |value: &Value| {
            let text = text.replace('?', &value.to_string());
            json(&[&["delta", option, &text, "--epsilon", "4"], beside].concat())["delta"].clone()
        };
        let (kept, broken) = (delta(&answer["value"]), delta(&answer["not_enough"]));
        assert!(exact(&kept["upper"]) <= number("1e-8"), "{text}: {kept}");
        assert!(exact(&broken["lower"]) > number("1e-8"), "{text}: {broken}");
        assert_eq!(answer["text_with_value"], text.replace('?', &answer["value"].to_string()));
    }
    let risk = json(&["calibrate", "--discrete-gaussian", "?x10", "--advantage", "0.1", "--decimals", "0"]);
    assert!(exact(&risk["advantage"]["upper"]) <= number("0.1") && exact(&risk["value"]).is_integer());
}

#[test]
fn a_question_mark_without_an_answer_is_refused() {
    for (rest, says) in [
        (&["--discrete-gaussian", "?x10", "--delta", "1e-8"][..], "give --epsilon"),
        (
            &["--discrete-gaussian", "?x10", "--discrete-laplace", "?", "--delta", "1e-8", "--epsilon", "1"],
            "one number is sought",
        ),
        (&["--discrete-gaussian", "?x10", "--delta", "1e-8", "--epsilon", "1", "--queries"], "--queries"),
        (&["--discrete-gaussian", "?x10", "--delta", "1e-8", "--match", "zcdp"], "--match"),
        (
            &[
                "--discrete-gaussian",
                "?",
                "--release",
                "su-su-wang-2025",
                "--release",
                "pl94-units-us",
                "--delta",
                "1e-8",
                "--epsilon",
                "9",
            ],
            "one release",
        ),
        (&["--discrete-gaussian", "?x?", "--delta", "1e-8", "--epsilon", "1"], "one question mark"),
        (&["--discrete-gaussian", "5x?", "--delta", "1e-8", "--epsilon", "1", "--decimals", "1"], "--decimals"),
        (&["--table", "nowherex?", "--delta", "1e-8", "--epsilon", "1"], "nowhere"),
    ] {
        let message = refusal(&[&["calibrate"], rest].concat());
        assert!(message.contains(says), "{rest:?}: {message}");
    }
}

/// One count is too many, which is proven; with a bound of 1 no noise was found, which is not.
#[test]
fn where_no_number_is_found_the_answer_says_whether_there_is_none() {
    for (law, rest, is_proven) in [
        ("--discrete-gaussian", ["1x?", "--delta", "1e-8", "--epsilon", "1/100"], true),
        ("--truncated-laplace", ["?:1", "--delta", "1/20", "--epsilon", "3/2"], false),
    ] {
        let request = [&["calibrate", law], &rest[..]].concat();
        let output = assay(&[&request[..], &["--json"]].concat()).output().expect("a program");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(output.status.code(), Some(1), "{answer}");
        assert!(answer["found"].is_null() && answer["proven"] == is_proven, "{answer}");
    }
}

/// Numbers with which a target is just reached: the next ones are proven to miss it.
#[test]
fn a_guarantee_that_just_reaches_its_target_is_found() {
    for (rest, found) in [
        (&["--approximate", "?:1e-3", "--epsilon", "0.9", "--delta", "1e-3"][..], "0.9"),
        (&["--approximate", "0.9:?x2", "--pure", "1/7", "--epsilon", "2", "--delta", "0.0199"], "0.01"),
        // Guarantees of which nothing follows for two records, as (490, 1e-4), are passed over.
        (&["--approximate", "?:1e-4", "--epsilon", "3", "--delta", "1e-3", "--group", "2"], "1.5002"),
    ] {
        let answer = json(&[&["calibrate"], rest].concat());
        assert_eq!((answer["found"].to_string(), &answer["proven"]), (found.to_string(), &true.into()), "{answer}");
    }
}
