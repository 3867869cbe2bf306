//! `assay tune`: margins cover, budgets are least, plans add up; and published values about SafeTab are judged.

use assert_cmd::Command;
use dp_assay::{
    numeric::rational::parse,
    replication::{
        published,
        verdict::{self, Verdict},
        verify,
    },
    rug::Rational,
};
use serde_json::Value;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples/safetab-plan.toml");

fn assay(args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("assay"));
    command.args(args);
    command
}

fn answer(args: &[&str]) -> Value {
    let output = assay(&[args, &["--json"]].concat()).assert().success();
    serde_json::from_slice(&output.get_output().stdout).expect("one JSON object")
}

fn refused(args: &[&str]) -> String {
    let output = assay(args).assert().code(2);
    let output = output.get_output();
    assert!(output.stdout.is_empty(), "{args:?} printed an answer");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_level_has_the_keys_of_the_contract_and_exact_numbers() {
    let args = ["tune", "--rho", "0.159", "--gamma", "1/10", "--stability", "9", "--suppress", "0.9999"];
    let level = answer(&args);
    for (key, value) in [
        ("moe_total_only", 10),
        ("moe_stage2", 11),
        ("moe_stage2_formula", 10),
        ("suppression_threshold", 21),
        ("stability", 9),
    ] {
        assert_eq!(level[key], value, "{key}");
    }
    // 9 / (2 rho) = 1500/53 for a total only; divided by 1/10 and 9/10 for the stages.
    for (key, top) in [("total_only", 1500.0), ("stage1", 15_000.0), ("stage2", 5000.0 / 3.0)] {
        let sigma2 = level[format!("sigma2_{key}")].as_f64().unwrap();
        assert!((sigma2 * 53.0 / top - 1.0).abs() < 1e-12, "{key}");
    }
    let zero = &level["suppression_probability_of_zero"];
    assert!(zero["lower"].as_f64().unwrap() >= 0.9999 && zero["upper"].as_f64().unwrap() < 0.99994);
    assert!(level["coverage_stage2_formula"]["upper"].as_f64().unwrap() < 0.95);
    let epsilon = level["epsilon"]["upper"].as_f64().unwrap();
    assert!(epsilon < level["zcdp_epsilon_optimal"]["lower"].as_f64().unwrap());
    assert_eq!(level["tables"].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_margin_gives_a_budget_that_gives_the_margin() {
    for (mechanism, key) in [("discrete-gaussian", "rho"), ("geometric", "pure_epsilon")] {
        let found = answer(&["tune", "--moe", "11", "--mechanism", mechanism, "--decimals", "4"]);
        let text = |value: &Value| value.to_string();
        let flag = if key == "rho" { "--rho" } else { "--epsilon" };
        let at = answer(&["tune", flag, &text(&found[key])]);
        let before = answer(&["tune", flag, &text(&found[format!("{key}_before")])]);
        assert_eq!((&at["moe_stage2"], &before["moe_stage2"]), (&Value::from(11), &Value::from(12)), "{mechanism}");
    }
}

#[test]
fn race_codes_are_the_stability_and_neighbors_double_the_budget() {
    let few = answer(&["tune", "--rho", "0.159", "--race-codes", "3"]);
    assert_eq!(few["stability"], 4);
    // An upper bound has no lower end.
    let unbounded = answer(&["tune", "--rho", "0.159"]);
    assert!(unbounded["epsilon"]["lower"].is_null() && unbounded["epsilon_is"] == "at most");
    let one = unbounded["epsilon"]["upper"].as_f64().unwrap();
    let two = answer(&["tune", "--rho", "0.159", "--neighbors", "bounded"])["epsilon"]["upper"].as_f64().unwrap();
    assert!(two > one);
}

#[test]
fn the_example_plan_adds_up() {
    let plan = answer(&["tune", "--plan", EXAMPLE, "--digits", "8"]);
    let levels = plan["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 11);
    assert_eq!(plan["total"]["rho"].to_string(), "4.944");
    let sum: f64 = levels.iter().map(|level| level["rho"].as_f64().unwrap()).sum();
    assert!((sum - 4.944).abs() < 1e-12);
    // The same as for the release: the exact epsilon of the groups in two stages.
    let release = answer(&["epsilon", "--release", "ddhca-us", "--delta", "1e-10", "--digits", "8"]);
    let ends = |value: &Value| (value["lower"].as_f64().unwrap(), value["upper"].as_f64().unwrap());
    let (own, other) = (ends(&plan["total"]["epsilon_two_stage"]), ends(&release["epsilon"]));
    assert!(own.0 <= other.1 && other.0 <= own.1, "{own:?} {other:?}");
    let output = assay(&["tune", "--plan", EXAMPLE, "--csv", "--digits", "8"]).assert().success();
    let csv = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let columns: Vec<usize> =
        csv::Reader::from_reader(csv.as_bytes()).records().map(|row| row.unwrap().len()).collect();
    assert_eq!(columns, vec![23; 11]);
}

/// An empty group is suppressed only if stage 1 gives it its total alone: P[Y < 20] = 0.87683 at sigma2 = 283.02, and then with
/// probability 0.99994. The expected numbers and the probability of a plan include both; without thresholds they are unknown.
#[test]
fn suppression_in_a_plan_includes_stage_1() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    let path = file.to_str().unwrap();
    let plan = |thresholds: &str| {
        let level = "[[level]]\nname = \"County\"\nrho = \"0.159\"\ngroups = [[0, 100000]]\nsuppress";
        std::fs::write(&file, format!("title = \"one\"\nsuppress = \"0.9999\"\n{level}ed = true\n{thresholds}"))
            .unwrap();
    };
    let within = |value: &Value, truth: f64, error: f64| {
        let ends = [&value["lower"], &value["upper"]].map(|end| end.as_f64().unwrap());
        assert!(ends[0] <= ends[1] && ends.iter().all(|end| (end - truth).abs() < error), "{value}");
    };
    plan("thresholds = [20, 60, 120]\n");
    let level = answer(&["tune", "--plan", path])["levels"][0].clone();
    within(&level["suppression_probability_of_zero"], 0.999_938_25, 1e-8);
    within(&level["suppression_probability_of_zero_in_two_stages"], 0.876_776, 1e-6);
    within(&level["suppression"][0]["probability_in_two_stages"], 0.876_776, 1e-6);
    within(&level["expected_suppressed"], 87_677.6, 0.1);
    let text = |path: &str| {
        let output = assay(&["tune", "--plan", path]).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let shown = text(path);
    assert!(shown.contains("87677.6") && shown.contains("0.876776"), "{shown}");
    plan("");
    let level = answer(&["tune", "--plan", path])["levels"][0].clone();
    assert!(
        level["suppression_probability_of_zero_in_two_stages"].is_null() && level.get("expected_suppressed").is_none()
    );
    assert!(text(path).contains("at most 0.99993826"), "{}", text(path));
}

/// The bundled release is as private as its worst mix of groups, which the answer names. Its epsilon is 14.841069, as `tune --config`
/// certifies for the Bureau's configuration and specification, and not that of a record without detailed-only groups.
#[test]
fn the_bundled_release_is_that_of_its_worst_mix_of_groups() {
    let of = |level: &str| {
        answer(&["epsilon", "--release", "ddhca-us", "--level", level, "--delta", "1e-10", "--digits", "8"])
    };
    let level = of("USA level 2");
    let ends = |value: &Value| (value["lower"].as_f64().unwrap(), value["upper"].as_f64().unwrap());
    let (lower, upper) = ends(&level["epsilon"]);
    assert!(lower <= 14.841_069_5 && 14.841_068_5 <= upper && upper - lower < 1e-6, "{lower} {upper}");
    let pair = level["worst_pair"].as_str().unwrap();
    assert!(pair.contains("of 9 groups detailed-only") && pair.ends_with("the worst of 10 mixes of groups"), "{pair}");
    assert_eq!(level["rho"].to_string(), "2.134");
    // A level of which no group is detailed-only has one mix.
    assert!(of("COUNTY level 2").get("worst_pair").is_none());
    let mut output = assay(&[
        "epsilon",
        "--release",
        "ddhca-pr",
        "--level",
        "PR-STATE level 2",
        "--delta",
        "1e-10",
        "--digits",
        "8",
    ]);
    let shown = String::from_utf8(output.assert().success().get_output().stdout.clone()).unwrap().replace("\n  ", " ");
    assert!(shown.contains("The whole is that of") && shown.contains("of 9 groups detailed-only"), "{shown}");
}

#[test]
fn invalid_requests_are_refused_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    std::fs::write(&file, b"title = \"\xff\"").unwrap();
    let plan = file.to_str().unwrap();
    let missing = folder.path().join("none.toml");
    for (args, says) in [
        (&["tune"][..], "--rho"),
        (&["tune", "--rho", "0"], "rho"),
        (&["tune", "--rho", "-1"], "rho"),
        (&["tune", "--rho", "x"], "--rho"),
        (&["tune", "--rho", "NaN"], "--rho"),
        (&["tune", "--rho", "1e-40"], "sigma2"),
        (&["tune", "--rho", "1e40"], "sigma2"),
        (&["tune", "--rho", "1", "--moe", "3"], "--moe"),
        (&["tune", "--rho", "1", "--gamma", "1"], "gamma"),
        (&["tune", "--rho", "1", "--gamma", "0"], "gamma"),
        (&["tune", "--rho", "1", "--stability", "0"], "stability"),
        (&["tune", "--rho", "1", "--race-codes", "9"], "--race-codes"),
        (&["tune", "--rho", "1", "--suppress", "1"], "suppression"),
        (&["tune", "--rho", "1", "--target-error", "0"], "target error"),
        (&["tune", "--rho", "1", "--delta", "0"], "--delta"),
        (&["tune", "--rho", "1", "--decimals", "3"], "--moe"),
        (&["tune", "--rho", "1", "--sizes", "1,x"], "--sizes"),
        (&["tune", "--moe", "-1"], "--moe"),
        (&["tune", "--moe", "1e30"], "--moe"),
        (&["tune", "--moe", "5", "--decimals", "99"], "decimals"),
        (&["tune", "--epsilon", "1e-30"], "epsilon"),
        (&["tune", "--plan", missing.to_str().unwrap()], "none.toml"),
        (&["tune", "--plan", folder.path().to_str().unwrap()], "--plan"),
        (&["tune", "--plan", plan], "plan.toml"),
        (&["tune", "--plan", EXAMPLE, "--gamma", "1/5"], "--gamma"),
    ] {
        let message = refused(args);
        assert!(message.contains(says) && !message.contains("panicked"), "{args:?}: {message}");
    }
    std::fs::write(&file, "title = \"t\"\n[[level]]\nname = \"a\"\nrho = \"0.1\"\nmoe = 3\n").unwrap();
    assert!(refused(&["tune", "--plan", plan]).contains("plan.toml, line 2, column 1"));
}

/// Sums too wide for convolution and biases too wide for summation are omitted; everything else is computed.
#[test]
fn the_widest_noise_has_an_answer() {
    for args in [&["tune", "--rho", "1e-14"], &["tune", "--epsilon", "1e-4"], &["tune", "--rho", "1000000"]] {
        let level = answer(args);
        assert!(level["moe_stage2"].is_u64(), "{args:?}");
    }
}

#[test]
fn every_published_value_about_safetab_is_judged_and_what_differs_is_explained() {
    let names = ["safetab-2021", "safetab-p-2024"].map(String::from);
    for paper in published::papers(&names).expect("the papers") {
        for row in verify::verify(&paper).expect("rows") {
            let id = &row.published.id;
            assert!(!row.is_unexplained(), "{id}: {}", row.computed.shown(8));
            assert!(
                row.verdict != Verdict::Agrees || row.published.remarks.erratum.is_none(),
                "{id} agrees, and has an erratum"
            );
            assert!(row.verdict != Verdict::Undecided, "{id}");
            // Two numbers are about unpublished data, and no other row may claim so.
            let unpublished = ["section-1-operations", "section-2.4-preset"].contains(&id.as_str());
            assert_eq!(row.verdict == Verdict::NeedsData, unpublished, "{id}");
            // If a computation is named for the printed text, it gives that text.
            if let Some(verdict::Computed::Value(value)) = &row.printed_by {
                let verdict = row.published.stated.judge(value);
                assert_eq!(verdict, Verdict::Agrees, "{id}: {}", value.shown(8));
            }
        }
    }
}

/// The largest is at least that of each part, and the requested digits are reached.
#[test]
fn the_total_is_more_than_any_level() {
    let plan = answer(&["tune", "--plan", EXAMPLE, "--digits", "8"]);
    let total = plan["total"]["epsilon"]["upper"].as_f64().unwrap();
    for level in plan["levels"].as_array().unwrap() {
        assert!(level["epsilon"]["upper"].as_f64().unwrap() < total);
    }
    assert!(plan["total"]["epsilon"]["lower"].is_null() && total > 0.0);
}

/// The keys at which two configurations with the same keys differ.
fn different_keys(one: &std::path::Path, other: &std::path::Path) -> Vec<String> {
    let [old, new] = [one, other].map(|path| serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap());
    let (old, new) = (old.as_object().unwrap(), new.as_object().unwrap());
    assert!(old.keys().eq(new.keys()));
    old.keys().filter(|key| old[*key] != new[*key]).cloned().collect()
}

#[test]
fn a_configuration_is_read_changed_and_written() {
    let example = |name: &str| format!("{}/data/examples/{name}", env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("changed.json");
    let spec = example("safetab");
    for (kind, name, algorithm, count, before) in [
        ("safetab", "safetab/config.json", "SafeTab-P", "moe_stage2", "29/4"),
        ("safetab-h", "safetab-h/config.json", "SafeTab-H", "moe_t3", "29/2"),
    ] {
        let config = example(name);
        let tune =
            |config: &str, more: &[&str]| answer(&[&["tune", "--config", config, "--spec", &spec], more].concat());
        // The least budget for a margin has that margin, and one step less does not. For persons a plain budget is tested, because one with
        // many decimals takes minutes.
        let change = if kind == "safetab" { "TRACT,2=0.25" } else { "TRACT,2=moe:7" };
        let set = ["--set", change, "--out", out.to_str().unwrap()];
        let changed = tune(&config, &set);
        assert_eq!(changed["algorithm"], algorithm);
        let tract = |account: &Value| {
            let levels = account["passes"][0]["levels"].as_array().unwrap();
            levels.iter().find(|level| level["region_type"] == "TRACT" && level["level"] == 2).unwrap().clone()
        };
        assert_eq!(tract(&changed)[count], if kind == "safetab" { 9 } else { 7 });
        let tables: u32 = if kind == "safetab" { 1 } else { 2 };
        let rho = |account: &Value| parse(&account["passes"][0]["rho"].to_string()).unwrap();
        let own = parse(&tract(&changed)["rho"].to_string()).unwrap();
        assert_eq!(rho(&changed), parse(before).unwrap() + &own - Rational::from((1, 2)) * tables);
        // The account of persons takes seconds; for households the program is the same.
        if kind == "safetab-h" {
            let answer = |mut object: Value| {
                // The command lines differ.
                object.as_object_mut().unwrap().remove("provenance").unwrap();
                object
            };
            assert_eq!(answer(changed.clone()), answer(tune(out.to_str().unwrap(), &[])));
        }
        let budget =
            parse(&tract(&changed)["rho"].to_string()).unwrap() / Rational::from(tables) - parse("0.000001").unwrap();
        let less = format!("TRACT,2={}", budget.to_f64());
        if kind == "safetab-h" {
            assert!(tract(&tune(&config, &["--set", &less]))[count].as_i64() > Some(7), "{less}");
        }
        let differ = different_keys(std::path::Path::new(&config), &out);
        assert!(
            differ.len() == tables as usize && differ.iter().all(|key| key.ends_with("level_2_tract")),
            "{differ:?}"
        );
        // A change that breaks a rule leaves the existing file.
        let written = std::fs::read(&out).unwrap();
        for wrong in ["USA,1=-1", "USA,1=1/3", "USA=1", "T7:USA,1=1", "USA,1=1e12"] {
            let more = ["tune", "--config", &config, "--spec", &spec, "--set", wrong, "--out", out.to_str().unwrap()];
            assert!(!refused(&more).contains("panicked"), "{wrong}");
        }
        assert_eq!(std::fs::read(&out).unwrap(), written);
    }
    assert!(refused(&["tune", "--config", &example("safetab/config.json")]).contains("--spec"));
}

/// Nobody is in nine groups of level 1 of the nation: by enumeration of all sets of up to eight of the 14 race codes and every ethnicity it is
/// five, whose noise is that of nine. So its epsilon is that of five counts and not of nine (4.4922), and somebody has it.
#[test]
fn the_epsilon_of_a_configuration_is_that_of_somebody() {
    let data = |name: &str| format!("{}/data/examples/safetab/{name}", env!("CARGO_MANIFEST_DIR"));
    let (config, spec) = (data("config.json"), data(""));
    let account = answer(&["tune", "--config", &config, "--spec", &spec]);
    let level = &account["passes"][0]["levels"][0];
    assert_eq!((&level["stability"], &level["epsilon_is"]), (&Value::from(9), &Value::from("exact")));
    // One or two of the five publish their total only, or three and no other.
    let upper = |only: &str, others: &str| {
        let counts = [format!("18x{only}"), format!("180x{others}"), format!("20x{others}")];
        let counts = counts.iter().flat_map(|count| ["--discrete-gaussian", count]);
        let args: Vec<&str> = ["epsilon", "--delta", "1e-10"].into_iter().chain(counts).collect();
        answer(&args)["epsilon"]["upper"].as_f64().unwrap()
    };
    let largest = upper("1", "4").max(upper("2", "3"));
    let ends = ["lower", "upper"].map(|end| level["epsilon"][end].as_f64().unwrap());
    assert!(ends[0] <= ends[1] && ends.iter().all(|end| (end - largest).abs() < 1e-7), "{ends:?} {largest}");
    assert_eq!(level["example"][0].as_array().map(Vec::len), Some(5), "{level}");
}
