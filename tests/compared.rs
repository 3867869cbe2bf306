//! Every gain is relative to the published figure, or to the smallest standard account; the probabilities that zCDP allows an adversary
//! follow from rho.

use std::fs;

use dp_assay::{
    account::{Composition, Counts, Rho, conversions},
    release::Release,
};
use rug::Rational;
use serde_json::Value;

use crate::common::{
    numbers::number,
    program::{assay, json, refusal},
};

/// The output of the program.
fn text(args: &[&str]) -> String {
    let output = assay(args).assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("UTF-8")
}

fn middle(value: &Value) -> f64 {
    let end = |name: &str| value[name].to_string().parse::<f64>().unwrap();
    (end("lower") + end("upper")) / 2.0
}

/// P.L. 94-171: the gain relative to the certificate's conversion, and the spare noise.
#[test]
fn the_gains_of_the_redistricting_data_are_against_what_was_published() {
    for (release, printed, gain, spare) in
        [("pl94-persons-us", "17.14", "3.94", "6.65"), ("pl94-units-us", "2.47", "4.49", "8.35")]
    {
        let answer = json(&["epsilon", "--release", release, "--delta", "1e-10"]);
        let compared = &answer["compared_with"];
        assert_eq!(
            (compared["name"].as_str(), compared["printed"].as_str()),
            (Some("zCDP (best order)"), Some(printed))
        );
        assert!(compared["source"].as_str().unwrap().contains("signed certificate"), "{compared}");
        let below = 100.0 * (1.0 - middle(&answer["epsilon"]) / middle(&compared["epsilon"]));
        assert_eq!(format!("{below:.2}"), gain, "{release}");
        assert!(middle(&answer["zcdp_epsilon"]) > middle(&compared["epsilon"]));
        for matched in [&["--match", "published"][..], &[]] {
            let scale = ["calibrate", "--release", release, "--delta", "1e-10", "--scale-all"];
            let scale = json(&[&scale[..], matched].concat());
            let reduction: f64 = scale["reduction_percent"].to_string().parse().unwrap();
            assert_eq!(format!("{reduction:.2}"), spare, "{release}");
            assert_eq!(scale["compared_with"], *compared);
        }
    }
    // At another delta nothing was published, nor for a level that the certificate lacks.
    let other = json(&["epsilon", "--release", "pl94-units-us", "--delta", "1e-9"]);
    assert!(other["compared_with"]["printed"].is_null() && other["compared_with"]["source"].is_null());
    let per_level = json(&["epsilon", "--release", "pl94-units-us", "--delta", "1e-10"]);
    for level in per_level["levels"].as_array().unwrap() {
        let printed = level["compared_with"]["printed"].as_str();
        assert_eq!(printed, (level["name"] == "Block").then_some("0.82"), "{level}");
    }
    let scale = ["calibrate", "--release", "pl94-units-us", "--delta", "1e-9", "--match", "published", "--scale-all"];
    assert!(refusal(&scale).contains("no epsilon was published at delta = 1e-9, but at delta = 1e-10"));
    let by_level = refusal(&["calibrate", "--release", "pl94-units-us", "--delta", "1e-10", "--match", "published"]);
    assert!(by_level.contains("no epsilon was published for this account"), "{by_level}");
}

/// Every figure stated by a bundled release is the one that `verify` judges, to its printed digits; or the release gives the reason.
#[test]
fn published_figures_are_those_of_their_conversions() {
    let mut figures = 0;
    for release in Release::bundled().unwrap() {
        for published in &release.published {
            let figure = &published.figure;
            let composition = release.composition(&published.levels, None).unwrap();
            let delta = figure.delta.clone().unwrap();
            let value = figure.by.epsilon(&composition, &delta, 12).unwrap().unwrap();
            let is_of_the_run = release.name == "su-su-wang-2025" && published.levels.is_empty();
            assert_eq!(figure.agrees(&value), !is_of_the_run, "{}: {}", release.name, figure.printed);
            figures += 1;
        }
    }
    assert_eq!(figures, 27);
    let named = |name: &str| Release::find(name).unwrap().published.is_empty();
    assert!(
        ["dhc-persons-us", "dhc-units-pr", "ddhca-us", "ddhcb-pr", "sdhc-us", "dhc-demo-units-us"]
            .iter()
            .all(|name| named(name))
    );
}

const OWN: &str = r#"
name = "vaccinations"
title = "Vaccinations by municipality"
source = "made up for a test"
neighbors = "add-remove"
[[level]]
name = "Nation"
[[level.query]]
name = "total"
sigma2 = 40
[[level]]
name = "Municipality"
[[level.query]]
name = "by age"
law = "discrete-laplace"
epsilon = 0.25
cells = 2
"#;

/// For a release of the user nothing is called published, and no source is named.
#[test]
fn nothing_is_published_for_a_release_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.toml");
    fs::write(&file, OWN).unwrap();
    let own = file.to_str().unwrap();
    let page = folder.path().join("own.html");
    let figures = folder.path().join("figures");
    let mut said = vec![
        text(&["epsilon", "--release", own, "--delta", "1e-8"]),
        text(&["calibrate", "--release", own, "--delta", "1e-8"]),
        text(&["risk", "bound", "--release", own, "--prior", "1/2"]),
        text(&["report", "--release", own, "--delta", "1e-8", "--out", page.to_str().unwrap()]),
        // Beside the epsilon stand those of published deployments, by their publishers.
        fs::read_to_string(&page).unwrap().replace(">U.S. Census Bureau</td>", "></td>"),
    ];
    text(&["figures", "su-su-wang-2025/figure-3", "--release", own, "--out", figures.to_str().unwrap()]);
    said.push(fs::read_to_string(figures.join("su-su-wang-2025/figure-3.svg")).unwrap());
    for text in said {
        let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in ["Bureau", "(ours)", "was published", "published figure", "published as", "as published"] {
            let at = plain.find(words);
            assert!(at.is_none(), "{words}: {}", &plain[at.unwrap_or(0).saturating_sub(80)..]);
        }
    }
    // Pure noise is compared with pure DP, and the whole with the smallest account.
    let answer = json(&["epsilon", "--release", own, "--delta", "1e-8"]);
    assert_eq!(answer["levels"][1]["compared_with"]["name"], "pure DP");
    assert_ne!(answer["compared_with"]["name"], "pure DP");
    for refused in [&["--per-level"][..], &["--scale-all"]] {
        let words = [&["calibrate", "--release", own, "--delta", "1e-8", "--match", "published"], refused].concat();
        assert!(refusal(&words).contains("no epsilon was published"));
    }
    // Allocations and scaled noise are not the published mechanism either.
    let folder = folder.path().join("allocated.toml");
    let release = Release::find("dhc-demo-persons-us").unwrap();
    assert!(!release.published.is_empty());
    let sigma2 = vec![Rational::from(7); release.levels.iter().map(|level| level.queries.len()).sum()];
    release.with_sigma2(&sigma2, release.neighbors, ["a", "b", "c"]).unwrap().write(&folder).unwrap();
    let words = ["calibrate", "--release", folder.to_str().unwrap(), "--delta", "1e-10", "--match", "published"];
    assert!(refusal(&words).contains("no epsilon was published"));
}

#[test]
fn a_figure_in_a_file_is_compared_with_and_a_malformed_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.toml");
    let own = file.to_str().unwrap();
    let with = |field: &str| {
        let (head, tail) = OWN.split_once("[[level]]").unwrap();
        fs::write(&file, format!("{head}{field}\n[[level]]{tail}")).unwrap();
    };
    with(r#"published = { epsilon = "1.7", delta = 1e-8, by = "best-order", source = "the agency's web site" }"#);
    let answer = json(&["epsilon", "--release", own, "--delta", "1e-8"]);
    assert_eq!(
        (&answer["compared_with"]["printed"], &answer["compared_with"]["name"]),
        (&"1.7".into(), &"zCDP (best order)".into())
    );
    // The answer states that the printed digits are not those of the conversion.
    let shown =
        text(&["epsilon", "--release", own, "--delta", "1e-8"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("was published as 1.7 at delta = 1e-8: the agency's web site. The conversion gives"),
        "{shown}"
    );
    // Other neighbors, groups, repetitions and levels were not published.
    for other in [&["--neighbors", "bounded"][..], &["--group", "2"], &["--repeat", "2"], &["--level", "Nation"]] {
        let answer = json(&[&["epsilon", "--release", own, "--delta", "1e-8"], other].concat());
        assert!(answer["compared_with"]["printed"].is_null(), "{other:?}");
    }
    for (field, says) in [
        (r#"published = { epsilon = "x", delta = 1e-8, by = "zcdp", source = "s" }"#, "is not a number"),
        (r#"published = { epsilon = "1", by = "zcdp", source = "s" }"#, "needs the delta"),
        (r#"published = { epsilon = "1", delta = 1e-8, by = "us", source = "s" }"#, "best-order"),
        (r#"published = { epsilon = "1", delta = 1e-8, by = "zcdp" }"#, "source"),
        ("published = 3", "a table, or a list of tables"),
    ] {
        with(field);
        let message = refusal(&["epsilon", "--release", own, "--delta", "1e-8"]);
        assert!(message.contains(says) && message.contains("line 6"), "{field}: {message}");
    }
}

/// Calibrated levels composed; increased noise is called more.
#[test]
fn calibrated_levels_are_shown_together() {
    let words = ["calibrate", "--release", "su-su-wang-2025", "--delta", "1e-10", "--match", "zcdp"];
    let answer = json(&words);
    let all = &answer["all_composed"];
    assert!((middle(&all["epsilon"]) - 22.738_530_968).abs() < 1e-8, "{all}");
    assert!((middle(&all["target_epsilon"]) - 21.985_141_77).abs() < 1e-7 && all["keeps_target"] == false);
    let shown = text(&words);
    assert!(shown.contains("WARNING") && shown.contains("\nall composed") && shown.contains("change"), "{shown}");
    // The composition is the same as by hand.
    let levels = answer["levels"].as_array().unwrap();
    let counts = levels
        .iter()
        .map(|level| Counts::discrete_gaussian(number(&level["calibrated_sigma2"].to_string()), 10, 1).unwrap());
    let by_hand = dp_assay::account::Account::epsilon(&Composition::new(counts).unwrap(), "1e-10", 12).unwrap().value;
    assert!((by_hand.approximate() - middle(&all["epsilon"])).abs() < 1e-9);
    let keeps = json(&["calibrate", "--release", "su-su-wang-2025", "--delta", "1e-10", "--epsilon", "0.5"]);
    assert_eq!(keeps["all_composed"]["keeps_target"], false);
    let more = text(&["calibrate", "--discrete-gaussian", "5x10", "--delta", "1e-11", "--epsilon", "5", "--scale-all"]);
    assert!(more.contains("% more noise) is proven") && !more.contains("-% "), "{more}");
    assert!(!more.contains("less noise"), "{more}");
    let more = text(&["calibrate", "--discrete-gaussian", "5x10", "--delta", "1e-11", "--epsilon", "5"]);
    assert!(more.contains(" +") && !more.contains("lower by"), "{more}");
    let errors = |sigma2: [&str; 2]| {
        text(&["errors", "--count", "3", "--discrete-gaussian", sigma2[0], "--discrete-gaussian", sigma2[1]])
    };
    let (more, less) = (errors(["5", "10"]), errors(["10", "5"]));
    assert!(more.contains("instead of 5: MSE higher by 100 %") && !more.contains("by -"), "{more}");
    assert!(less.contains("instead of 10: MSE lower by 50 %") && !less.contains("by -"), "{less}");
}

/// An account that is practically exact is a target like any other.
#[test]
fn a_target_that_is_met_to_its_last_digit_is_decided() {
    let words = ["calibrate", "--discrete-laplace", "0.25x2", "--delta", "1e-8", "--match", "rdp", "--scale-all"];
    let answer = json(&words);
    // Middles of two touching enclosures, as doubles.
    assert!(middle(&answer["epsilon"]) <= middle(&answer["target_epsilon"]) * (1.0 + 1e-12));
    assert_eq!(answer["factor"].to_string(), "1");
}

/// With paths, each level's noise is scaled by its own factor on every path.
#[test]
fn calibrated_levels_are_composed_on_the_worst_path() {
    let words = ["calibrate", "--release", "pl94-units-us", "--delta", "1e-10", "--match", "zcdp"];
    let all = json(&words)["all_composed"].clone();
    let own = json(&["epsilon", "--release", "pl94-units-us", "--delta", "1e-10"]);
    // Less noise on every level.
    assert!(middle(&all["epsilon"]) > middle(&own["epsilon"]));
    assert!((middle(&all["target_epsilon"]) - middle(&own["zcdp_epsilon"])).abs() < 1e-11);
}

#[test]
fn no_bound_is_shown_below_what_it_bounds() {
    let shown = text(&["compare", "--discrete-laplace", "0.5@2", "--neighbors", "bounded", "--delta", "1e-6"]);
    assert!(!shown.contains("-0.00 %") && shown.contains("zCDP (best order)"), "{shown}");
    let value = |name: &str| {
        let row = shown.lines().find(|line| line.starts_with(name)).unwrap();
        row[name.len()..].split_whitespace().next().unwrap().parse::<f64>().unwrap()
    };
    assert!(value("RDP") >= value("exact") && value("pure DP") == 2.0);
    let shown = text(&["epsilon", "--discrete-laplace", "0.5", "--delta", "0"]);
    assert!(shown.contains("composition") && shown.contains(" 0.5 "), "{shown}");
    let answer = json(&["epsilon", "--discrete-laplace", "0.5x3@2", "--delta", "0"]);
    assert_eq!((answer["epsilon"]["upper"].to_string(), answer["delta"].to_string()), ("3".into(), "0".into()));
    assert!(refusal(&["epsilon", "--discrete-gaussian", "5", "--delta", "0"]).contains("unbounded"));
    let shown = text(&["explain", "--discrete-gaussian", "5", "--delta", "1e-6"]);
    assert!(shown.contains("1 count in 1 group of equal noise"), "{shown}");
    let shown = text(&["epsilon", "--discrete-gaussian", "5", "--delta", "1e-6", "--digits", "60"]);
    assert!(shown.contains("--json has all 60"), "{shown}");
    assert!(!text(&["epsilon", "--discrete-gaussian", "5", "--delta", "1e-6"]).contains("--json has all"));
}

/// For noise with a bounded loss, the chart and the sentences refer to pure DP.
#[test]
fn pure_noise_is_reported_beside_pure_dp() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("laplace.html");
    let shown = text(&["report", "--discrete-laplace", "0.5x3@2", "--out", page.to_str().unwrap()]);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("By pure DP, the smallest standard account, it would be 3. "), "{shown}");
    assert!(
        shown.contains("The exact epsilon is the same to 0.01 %") && shown.contains("Pure DP (epsilon = 3) alone"),
        "{shown}"
    );
    let html = fs::read_to_string(page).unwrap();
    assert!(html.contains("The exact curve ends at the largest loss") && !html.contains("zCDP (Bun-Steinke)"));
}

/// sup over events of P - Q for a few counts with small noise, by enumeration, in doubles.
fn total_variation(sigma2: &[f64], shifts: &[i64]) -> f64 {
    const REACH: i64 = 40;
    let masses = |sigma2: f64| -> Vec<f64> {
        let weights: Vec<f64> = (-REACH..=REACH).map(|x| (-((x * x) as f64) / (2.0 * sigma2)).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    };
    let mut pairs = vec![(1.0, 1.0)];
    for (sigma2, shift) in sigma2.iter().zip(shifts) {
        let own = masses(*sigma2);
        let at = |x: i64| if x.abs() <= REACH { own[(x + REACH) as usize] } else { 0.0 };
        let both: Vec<(f64, f64)> = (-REACH..=REACH + shift).map(|x| (at(x), at(x - shift))).collect();
        let larger = |(p, q): (f64, f64)| both.iter().map(move |(a, b)| (p * a, q * b));
        pairs = pairs.into_iter().flat_map(larger).filter(|(p, q)| p + q > 1e-18).collect();
    }
    pairs.iter().map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0
}

#[test]
fn the_total_variation_that_rho_allows_is_never_exceeded() {
    // A small generator with a fixed seed.
    let mut state = 20_261_126_u64;
    let mut next = move |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut closest = f64::INFINITY;
    for _ in 0..300 {
        let groups = 1 + next(3) as usize;
        let sigma2: Vec<Rational> = (0..groups).map(|_| Rational::from((5 + next(900), 50))).collect();
        let shifts: Vec<i64> = (0..groups).map(|_| 1 + next(2) as i64).collect();
        let parts = sigma2
            .iter()
            .zip(&shifts)
            .map(|(sigma2, shift)| Rational::from(shift * shift) / (sigma2 * Rational::from(2)));
        let rho = Rho::new(parts.fold(Rational::new(), |sum, part| sum + part)).unwrap();
        let bound = conversions::zcdp_total_variation(&rho, 15);
        let doubles: Vec<f64> = sigma2.iter().map(Rational::to_f64).collect();
        let truth = total_variation(&doubles, &shifts);
        let at = bound.lower().to_f64();
        assert!(truth <= at + 1e-12, "{sigma2:?} {shifts:?}: {truth} {at}");
        closest = closest.min(at / truth);
        let (r, t) = (rho.to_f64(), bound.approximate());
        assert!(
            (t * ((1.0 + t) / (1.0 - t)).ln() - r).abs() < 1e-9 * (1.0 + r) && bound.is_tight(14),
            "{r}: {bound:?}"
        );
        // The bound from one direction alone is larger.
        let one_way = conversions::kl_total_variation(&rho, 15).approximate();
        let formula = (r / 2.0).sqrt().min((1.0 - (-r).exp()).sqrt());
        assert!((one_way - formula).abs() < 1e-12 && t < one_way);
    }
    // No event whose divergences are at most rho in both directions has a larger difference, and some event has this one.
    let divergence = |p: f64, q: f64| p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln();
    for rho in ["0.01", "0.5", "1", "2.5562256", "3.65"] {
        let r = number(rho).to_f64();
        let t = conversions::zcdp_total_variation(&rho.parse().unwrap(), 15).approximate();
        let grid = || (1..1000).map(|k| f64::from(k) / 1000.0);
        let of =
            |p: f64| grid().filter(move |q| divergence(p, *q).max(divergence(*q, p)) <= r).map(move |q| (p - q).abs());
        let largest = grid().flat_map(of).fold(0.0, f64::max);
        assert!(largest <= t + 1e-9 && largest > t - 0.004, "{rho}: {largest} {t}");
    }
    // Published budgets by hand: how often an adversary with prior 1/2 is right at most, by rho alone.
    for (rho, right) in [("0.5", 0.7396), ("1", 0.8240), ("2.5562256", 0.9461), ("3.65", 0.9784)] {
        let t = conversions::zcdp_total_variation(&rho.parse().unwrap(), 15).approximate();
        assert!((f64::midpoint(1.0, t) - right).abs() < 6e-5, "{rho}: {t}");
    }
    assert!(closest < 1.3, "a bound that is nowhere near says little: {closest}");
    for (rho, least, most) in [("1e-40", 7.0e-21, 7.1e-21), ("1e12", 1.0, 1.0)] {
        let bound = conversions::zcdp_total_variation(&rho.parse().unwrap(), 20);
        assert!(bound.lower().to_f64() >= least - 1e-30 && *bound.upper() <= most, "{rho}: {bound}");
    }
    // The table of what an adversary can achieve, and the single pair beside it.
    let answer = json(&["risk", "bound", "--release", "su-su-wang-2025", "--level", "State", "--prior", "1/2"]);
    let allowed = &answer["zcdp"];
    assert!(middle(&allowed["correct_decision_upper"]) < 0.8241 && middle(&allowed["correct_decision_upper"]) > 0.8239);
    assert!(middle(&allowed["correct_decision_by_epsilon"]) > 0.9999);
    assert!(middle(&answer["correct_decision_upper"]) < middle(&allowed["correct_decision_upper"]));
    let pure = json(&["risk", "bound", "--discrete-laplace", "0.5", "--prior", "1/2"]);
    let correct = 0.5_f64.exp() / (1.0 + 0.5_f64.exp());
    assert!((middle(&pure["pure"]["correct_decision_upper"]) - correct).abs() < 1e-12);
}
