//! Allocations, errors of counts and simulated regressions from the command line.

use dp_assay::{
    account::{Account, Composition, Counts},
    numeric::{Certainty, rational::parse},
};
use rug::Rational;
use serde_json::Value;

use crate::common::program::{found_nothing, json, refusal};

/// A release of which only the budget is known.
const BUDGET_ONLY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/budget-only.toml");

fn exact(value: &Value) -> Rational {
    parse(&value.to_string()).unwrap()
}

fn double(value: &Value) -> f64 {
    value.to_string().parse().unwrap()
}

fn file(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    (folder, path.to_str().unwrap().to_string())
}

#[test]
fn eighty_queries_are_allocated_and_meet_the_target() {
    let query =
        |k: u32| format!("[[query]]\nname = \"q{k}\"\ncount = {}\nweight = \"{}/7\"\n", 1 + k % 3, 1 + (k * k) % 97);
    let text: String = (0..80).map(query).collect();
    let (_folder, path) = file("targets.toml", &text);
    let answer = json(&["allocate", &path, "--epsilon", "12", "--delta", "1e-10", "--decimals", "3"]);
    let queries = answer["queries"].as_array().unwrap();
    assert_eq!(queries.len(), 80);
    let counts = queries.iter().map(|query| {
        let count = query["count"].as_u64().unwrap();
        Counts::discrete_gaussian(exact(&query["sigma2"]), count, 1).unwrap()
    });
    let delta = Composition::new(counts).unwrap().delta(parse("12").unwrap(), 6).unwrap().value;
    assert_eq!(delta.at_most(&parse("1e-10").unwrap()), Certainty::Yes);
    let percent = double(&answer["at_most_percent_above_optimum"]);
    assert!((0.0..10.0).contains(&percent), "{percent}");
    assert!(
        double(&answer["weighted_squared_error"]["upper"]) < double(&answer["zcdp_weighted_squared_error"]["lower"])
    );
}

#[test]
fn errors_of_a_count_are_those_of_enumeration() {
    let answer = json(&["errors", "--discrete-gaussian", "5", "--discrete-gaussian", "4.25", "--count", "3"]);
    let own = &answer["noise"][0];
    let weight = |x: i32| (-f64::from(x * x) / 10.0).exp();
    let total: f64 = (-60..=60).map(weight).sum();
    let mean = |error: &dyn Fn(i32) -> f64| (-60..=60).map(|x| weight(x) / total * error(x)).sum::<f64>();
    let cut = |x: i32| f64::from((3 + x).max(0) - 3);
    for (key, truth) in [
        ("mean_squared_error", mean(&|x| f64::from(x * x))),
        ("mean_absolute_error", mean(&|x| f64::from(x.abs()))),
        ("cut_mean_squared_error", mean(&|x| cut(x).powi(2))),
        ("cut_mean_absolute_error", mean(&|x| cut(x).abs())),
        ("cut_bias", mean(&cut)),
    ] {
        let (lower, upper) = (double(&own[key]["lower"]), double(&own[key]["upper"]));
        assert!((lower / truth - 1.0).abs() < 1e-11 && (upper / truth - 1.0).abs() < 1e-11, "{key} {truth} {own}");
        assert!(lower <= upper);
    }
    for (key, inside) in [
        ("margin_95", &(|x: i32, m: i32| x.abs() <= m) as &dyn Fn(i32, i32) -> bool),
        ("cut_margin_95", &|x, m| ((3 + x).max(0) - 3).abs() <= m),
    ] {
        let share = |m: i32| mean(&|x| f64::from(u8::from(inside(x, m))));
        let margin = own[key].as_i64().unwrap() as i32;
        assert!(share(margin) >= 0.95 && share(margin - 1) < 0.95, "{key} {margin}");
    }
    let reduction = double(&answer["noise"][1]["reduction_percent"]["mean_squared_error"]["lower"]);
    assert!((reduction - 15.0).abs() < 1e-6);
}

#[test]
fn errors_of_a_column_are_the_mean_over_its_counts() {
    let (_folder, path) = file("counts.csv", "id,n\na,0\nb,3\nc,3\nd,900\n");
    let of = |args: &[&str]| {
        let answer = json(&[&["errors", "--discrete-gaussian", "5"], args].concat());
        double(&answer["noise"][0]["cut_mean_squared_error"]["lower"])
    };
    let mean = of(&["--counts", &path, "--column", "n"]);
    let single = |y: &str| of(&["--count", y]);
    assert!((mean - (single("0") + 2.0 * single("3") + single("900")) / 4.0).abs() < 1e-9);
    let (_folder, bad) = file("bad.csv", "id,n\na,0\nb,-3\n");
    let message = refusal(&["errors", "--discrete-gaussian", "5", "--counts", &bad, "--column", "n"]);
    assert!(message.contains("line 3") && !message.contains("-3"), "{message}");
    assert!(
        refusal(&["errors", "--discrete-gaussian", "5", "--counts", &path, "--column", "m"])
            .contains("the header has id, n")
    );
    let (_folder, empty) = file("empty.csv", "id,n\n");
    assert!(
        refusal(&["errors", "--discrete-gaussian", "5", "--counts", &empty, "--column", "n"]).contains("no counts")
    );
}

#[test]
fn a_regression_is_simulated_and_reproduced_from_its_seed() {
    let rows: String =
        (1..60).map(|k| format!("{},{},{k},5,{},9,{}\n", 20_000 + 700 * k, 3 * k, 100 - k, 40 + 2 * k)).collect();
    let (_folder, path) = file("acs.csv", &format!("earnings,a,b,c,d,e,f\n{rows}"));
    let base = ["simulate", &path, "--y", "earnings", "--categories", "a,b,c,d,e,f", "--insecure-seed", "7"];
    let more = ["--discrete-gaussian", "68.49", "--discrete-gaussian", "0.01", "--trials", "20"];
    let args = [&base[..], &more].concat();
    let answer = json(&args);
    assert_eq!(answer, json(&args));
    assert_eq!(answer["noise"][0]["slopes_approximate"].as_array().unwrap().len(), 20);
    let error = |k: usize| double(&answer["noise"][k]["mean_absolute_error_approximate"]);
    assert!(error(0) > 0.0 && error(1) == 0.0, "noise of sigma2 = 0.01 is 0 but once in 10^21");
    for (change, says) in [
        (["--y", "nosuch", "--categories", "a,b"], "unknown column \"nosuch\""),
        (["--y", "earnings", "--categories", "a"], "two columns"),
        (["--y", "earnings", "--categories", "a,a"], "twice"),
        (["--y", "earnings", "--categories", "a,z"], "unknown column \"z\""),
    ] {
        let args = [&["simulate", &path][..], &change, &["--discrete-gaussian", "1"]].concat();
        assert!(refusal(&args).contains(says), "{change:?}");
    }
    let (_folder, bad) = file("bad.csv", "y,a,b\n1,2,3\nx,2,3\n");
    let args = ["simulate", &bad, "--y", "y", "--categories", "a,b", "--discrete-gaussian", "1"];
    assert!(refusal(&args).contains("line 3"), "{}", refusal(&args));
}

/// Where delta rises from the first point of the grid on, that point is the best.
#[test]
fn the_first_noise_of_a_grid_is_tried() {
    let target = |most: &str| format!("[[query]]\nname = \"a\"\nleast_sigma2 = \"0.38\"\nmost_sigma2 = \"{most}\"\n");
    for most in ["0.38", "0.40"] {
        let (_folder, path) = file("targets.toml", &target(most));
        let answer = json(&["allocate", &path, "--epsilon", "4", "--delta", "0.0035"]);
        assert_eq!(answer["queries"][0]["sigma2"].to_string(), "0.38", "{answer}");
    }
}

#[test]
fn targets_that_make_no_sense_are_refused() {
    let promise = ["--epsilon", "5", "--delta", "1e-8"];
    for (text, says) in [
        ("[[query]]\nname = \"a\"\nweight = \"0\"\n", "line 3, column 10"),
        ("[[query]]\nname = \"a\"\nweight = \"-2\"\n", "above 0"),
        ("[[query]]\nname = \"a\"\nmost_squared_error = \"1/2\"\n", "less noise"),
        ("[[query]\n", "line 1"),
        ("", "query"),
    ] {
        let (_folder, path) = file("targets.toml", text);
        let message = refusal(&[&["allocate", &path], &promise[..]].concat());
        assert!(message.contains(says), "{text}: {message}");
    }
    let (_folder, path) = file("targets.toml", "[[query]]\nname = \"a\"\nmost_sigma2 = \"1\"\ncount = 1000\n");
    let message = found_nothing(&[&["allocate", &path], &promise[..]].concat());
    assert!(message.contains("no noise was found that keeps epsilon = 5"), "{message}");
    assert!(refusal(&["allocate", "no/such/file", "--epsilon", "5", "--delta", "1e-8"]).contains("no/such/file"));
    assert!(refusal(&["allocate", "--release", BUDGET_ONLY, "--epsilon", "5", "--delta", "1e-8"]).contains("budget"));
    assert!(refusal(&["allocate", "--epsilon", "5", "--delta", "1e-8"]).contains("--release"));
    assert!(refusal(&["errors", "--discrete-gaussian", "1e9", "--count", "1"]).contains("1e8"));
    assert!(refusal(&["errors", "--discrete-gaussian", "-1", "--count", "1"]).contains("sigma2"));
}

#[test]
fn a_lattice_too_fine_for_doubles_is_accounted_for_on_the_line() {
    // 80 variances without a common divisor: the lattice step is below 10^-300.
    let composition = |move_by: u32| {
        let sigma2 = |k: u32| Rational::from((30_011 + 1009 * k + move_by, 1000));
        let counts = (0..80).map(|k| Counts::discrete_gaussian(sigma2(k), 1, 1).unwrap());
        Composition::new(counts).unwrap()
    };
    assert!(composition(0).loss().step().is_some_and(|step| step.to_f64() < 1e-150));
    let delta = |move_by: u32| composition(move_by).delta(parse("6").unwrap(), 6).unwrap().value;
    let (near, far) = (delta(0), delta(10));
    assert!(near.is_tight(5) && far.is_tight(5), "{near:?}");
    // An increase of one percent in every variance changes rho little and reduces delta.
    assert!(far.upper() < near.lower() && far.approximate() > 0.98 * near.approximate());
}

/// The allocation for a risk keeps it, by the bound on the written release, and the optimum for the sufficient point is not far.
#[test]
fn budgets_are_divided_for_a_risk() {
    let folder = tempfile::tempdir().unwrap();
    let (queries, out) = (folder.path().join("queries.toml"), folder.path().join("out.toml"));
    std::fs::write(&queries, "[[query]]\nname = 'a'\nweight = 9\n[[query]]\nname = 'b'\ncount = 4\n").unwrap();
    let (queries, out) = (queries.to_str().unwrap(), out.to_str().unwrap());
    for (target, key, prior, most) in [
        (&["--advantage", "0.3"][..], "/advantage/upper", "1/2", "0.3"),
        (&["--posterior", "0.7", "--prior", "1/2"], "/correct_decision_upper/upper", "1/2", "0.7"),
        (&["--posterior", "0.82", "--prior", "0.8"], "/correct_decision_upper/upper", "0.8", "0.82"),
        (&["--posterior", "0.9", "--prior", "0.1", "--delta", "1e-9"], "/posterior_events/upper", "0.1", "0.9"),
    ] {
        let answer = json(&[&["allocate", queries, "--out", out], target].concat());
        let bound = json(&["risk", "bound", "--release", out, "--prior", prior, "--delta", "1e-9"]);
        let (value, most) = (parse(&bound.pointer(key).unwrap().to_string()).unwrap(), parse(most).unwrap());
        assert!(value <= most && value > most.clone() * parse("0.9999").unwrap(), "{target:?}: {value}");
        let above = parse(&answer["at_most_percent_above_optimum"].to_string()).unwrap();
        assert!(above > 0 && above < 100, "{target:?}: {above}");
    }
    let answer = json(&["allocate", queries, "--alpha", "0.05", "--beta", "0.6", "--out", out]);
    let beta = &json(&["tradeoff", "--release", out, "--alpha", "0.05"])["beta_lower"][0];
    let beta = parse(&beta.to_string()).unwrap();
    assert!(beta >= parse("0.6").unwrap() && beta < parse("0.602").unwrap(), "{beta}");
    assert!(answer["at_most_percent_above_optimum"].is_null() && answer["goal"]["measure"] == "beta");
}

/// Accuracy first: the noise is the largest that the margins allow, and its epsilon is that of the written release.
#[test]
fn the_epsilon_of_accuracy_targets_is_certified() {
    let folder = tempfile::tempdir().unwrap();
    let (queries, out) = (folder.path().join("tables.toml"), folder.path().join("out.toml"));
    let text =
        "[[query]]\nname = 'S / a'\nmost_margin = 2\n[[query]]\nname = 'C / b'\ncount = 3\nmost_squared_error = 20\n";
    std::fs::write(&queries, text).unwrap();
    let (queries, out) = (queries.to_str().unwrap(), out.to_str().unwrap());
    let answer = json(&["allocate", queries, "--accuracy", "--delta", "1e-9", "--out", out]);
    let read = json(&["epsilon", "--release", out, "--delta", "1e-9", "--digits", "8"]);
    assert_eq!(answer["epsilon"], read["epsilon"]);
    let margins: Vec<i64> =
        answer["queries"].as_array().unwrap().iter().map(|query| query["margin_95"].as_i64().unwrap()).collect();
    assert_eq!(margins[0], 2);
    // Two more units of the grid on which the target is read have a larger margin.
    let sigma2 = parse(&answer["queries"][0]["sigma2"].to_string()).unwrap() + parse("0.002").unwrap();
    let noise = dp_assay::noise::DiscreteGaussian::new(sigma2).unwrap();
    assert!(noise.quantile(&parse("0.975").unwrap()).unwrap() > 2);
    let whole = json(&["risk", "bound", "--release", out, "--prior", "1/2"]);
    let bound = parse(&whole.pointer("/correct_decision_upper/upper").unwrap().to_string()).unwrap();
    assert!((parse(&answer["correct_decision"]["upper"].to_string()).unwrap() - bound).abs() < parse("1e-7").unwrap());
    std::fs::write(folder.path().join("none.toml"), "[[query]]\nname = 'a'\n").unwrap();
    let none = folder.path().join("none.toml");
    for (words, says) in [
        (&["allocate", none.to_str().unwrap(), "--accuracy", "--delta", "1e-9"][..], "no accuracy target"),
        (&["allocate", queries, "--accuracy"], "--delta"),
        (&["allocate", queries, "--accuracy", "--delta", "1e-9", "--epsilon", "1"], "cannot be used with"),
        (&["allocate", queries, "--epsilon", "1"], "--delta"),
        (&["allocate", queries, "--posterior", "0.4", "--prior", "1/2"], "above 0.5"),
        (&["allocate", "--release", "pl94-units-us", "--advantage", "0.3"], "block paths"),
    ] {
        let message = refusal(words);
        assert!(message.contains(says), "{words:?}: {message}");
    }
}
