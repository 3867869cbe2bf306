//! The contract of the command line: keys, exit statuses, messages, and numbers that agree with each other.

use serde_json::Value;

use crate::common::program::{assay, json, refusal};

/// A release of which only the budget is known.
const BUDGET_ONLY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/budget-only.toml");

fn text(args: &[&str]) -> String {
    let output = assay(args).assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("UTF-8")
}

/// Both ends as doubles.
fn ends(value: &Value) -> (f64, f64) {
    let end = |key: &str| value[key].to_string().parse().unwrap_or_else(|_| panic!("{key} of {value}"));
    (end("lower"), end("upper"))
}

const LEVEL: [&str; 2] = ["--discrete-gaussian", "5x10"];
const RELEASE: [&str; 2] = ["--release", "su-su-wang-2025"];

fn with<'a>(command: &'a str, subject: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    [&[command], subject, rest].concat()
}

#[test]
fn epsilon_has_its_keys_and_encloses_the_checked_truth() {
    let answer = json(&with("epsilon", &LEVEL, &["--delta", "1e-11"]));
    let (lower, upper) = ends(&answer["epsilon"]);
    assert!(lower <= 10.124_830_934_480_99 && 10.124_830_934_480_98 <= upper && upper - lower < 1.1e-11);
    assert_eq!(answer["rho"].to_string(), "1");
    assert_eq!(answer["delta"].to_string(), "1e-11");
    assert_eq!(answer["status"], "met");
    let (zcdp, gdp) = (ends(&answer["zcdp_epsilon"]), ends(&answer["gdp_epsilon"]));
    assert!(zcdp.0 > upper && (gdp.0 - lower).abs() < 0.01);
    assert!(answer["method"].as_str().is_some_and(|method| method.contains("contour")));
}

#[test]
fn more_digits_nest_and_are_printed_in_full() {
    let answer = json(&with("epsilon", &LEVEL, &["--delta", "1e-11", "--digits", "40"]));
    let lower = answer["epsilon"]["lower"].to_string();
    assert!(lower.starts_with("10.1248309344809891771925") && lower.len() > 40, "{lower}");
}

#[test]
fn a_release_is_answered_level_by_level_and_in_total() {
    let answer = json(&with("epsilon", &RELEASE, &["--delta", "1e-11"]));
    let levels = answer["levels"].as_array().expect("levels");
    assert_eq!(levels.len(), 8);
    let total = ends(&answer["epsilon"]);
    assert!(levels.iter().all(|level| ends(&level["epsilon"]).1 < total.0));
    let state = json(&with("epsilon", &RELEASE, &["--level", "State", "--delta", "1e-11"]));
    assert_eq!(state["epsilon"], levels[1]["epsilon"]);
    let table = text(&with("epsilon", &RELEASE, &["--delta", "1e-11"]));
    for shown in ["State", "10.1254170441", "11.0661", "all composed", "add-remove"] {
        assert!(table.contains(shown), "{table}");
    }
}

#[test]
fn delta_and_epsilon_are_inverse() {
    let delta = json(&with("delta", &LEVEL, &["--epsilon", "10"]))["delta"].clone();
    let (lower, upper) = ends(&delta);
    let back = |delta: f64| ends(&json(&with("epsilon", &LEVEL, &["--delta", &format!("{delta:e}")]))["epsilon"]);
    assert!(back(upper * 1.000_001).1 < 10.0 && back(lower * 0.999_999).0 > 10.0);
}

#[test]
fn curves_have_arrays_of_the_requested_length_and_agree_with_csv() {
    let range = ["--from", "0", "--to", "10", "--points", "5"];
    let answer = json(&with("curve", &LEVEL, &range));
    for key in ["epsilon", "delta_lower", "delta_upper", "zcdp_delta"] {
        assert_eq!(answer[key].as_array().map(Vec::len), Some(5), "{key}");
    }
    let csv = text(&[with("curve", &LEVEL, &range), vec!["--csv"]].concat());
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "epsilon,delta_lower,delta_upper,zcdp_delta,status");
    assert_eq!(answer["status"].as_array().map(Vec::len), Some(5));
    assert_eq!(lines.len(), 6);
    let first: Vec<&str> = lines[1].split(',').collect();
    assert_eq!(first[1], answer["delta_lower"][0].to_string());
    // Total variation at epsilon 0, where zCDP gives only 1.
    assert!(first[1].starts_with("0.5197669475367") && first[3] == "1");
}

/// Every size of a curve is the mechanism with that shift; other options and ranges are refused.
#[test]
fn curves_over_the_shift_are_those_of_each_shift() {
    let at = ["--delta", "1e-6", "--digits", "10"];
    let of = |words: &[&str]| json(&[words, &at].concat());
    let noise = ["--discrete-gaussian", "5x3@2", "--discrete-laplace", "1/3x4"];
    let curve = of(&[&["curve", "--over", "shift", "--from", "3", "--to", "5"][..], &noise].concat());
    assert_eq!(curve["shift"], serde_json::json!([3, 4, 5]));
    for (k, shift) in (3..=5).enumerate() {
        let (gaussian, laplace) = (format!("5x3@{}", 2 * shift), format!("1/3x4@{shift}"));
        let alone = of(&["epsilon", "--discrete-gaussian", &gaussian, "--discrete-laplace", &laplace]);
        assert_eq!(curve["epsilon_lower"][k], alone["epsilon"]["lower"], "{shift}");
        assert_eq!(curve["epsilon_upper"][k], alone["epsilon"]["upper"], "{shift}");
    }
    let base = ["curve", "--over", "shift", "--pure", "1"];
    for (words, expected) in [
        (&[][..], "needs --delta"),
        (&["--delta", "1e-6", "--from", "0"], "positive whole number"),
        (&["--delta", "1e-6", "--from", "9", "--to", "3"], "from the smaller to the larger"),
        (&["--delta", "1e-6", "--to", "1001"], "shift = 1001"),
        (&["--delta", "1e-6", "--points", "3"], "a point for each whole number"),
    ] {
        let said = refusal(&[&base[..], words].concat());
        assert!(said.contains(expected), "{words:?}: {said}");
    }
    assert!(refusal(&["curve", "--pure", "1", "--delta", "1e-6"]).contains("--over shift"));
}

#[test]
fn tradeoff_takes_points_or_levels() {
    let answer = json(&with("tradeoff", &LEVEL, &["--points", "5"]));
    assert_eq!(answer["alpha"].to_string().replace(char::is_whitespace, ""), "[0,0.25,0.5,0.75,1]");
    assert_eq!((answer["beta_lower"][0].to_string(), answer["beta_upper"][4].to_string()), ("1".into(), "0".into()));
    let one = json(&with("tradeoff", &LEVEL, &["--alpha", "0.05"]));
    let beta: f64 = one["beta_lower"][0].to_string().parse().expect("a number");
    assert!((beta - 0.591_341_984_308).abs() < 1e-11);
}

#[test]
fn compare_orders_the_accountants() {
    let answer = json(&with("compare", &RELEASE, &["--delta", "1e-10"]));
    let epsilon = |name: &str| {
        let list = answer["accountants"].as_array().expect("a list");
        let row = list.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name}"));
        row["epsilon"].as_object().map(|_| ends(&row["epsilon"]).1)
    };
    let exact = epsilon("exact").expect("finite");
    let optimal = epsilon("zCDP (best order)").expect("finite");
    assert!((exact - 20.3247).abs() < 5e-5);
    assert!(exact < epsilon("RDP").expect("finite") && epsilon("RDP").expect("finite") <= optimal);
    assert!(optimal < epsilon("zCDP (Bun-Steinke)").expect("finite"));
    assert!(epsilon("pure DP").is_none() && epsilon("GDP").is_some());
}

#[test]
fn explain_gives_every_error_bound() {
    let answer = json(&with("explain", &RELEASE, &["--delta", "1e-10"]));
    for key in ["alias_error_upper", "truncation_error_upper", "rounding_error_upper"] {
        let bound: f64 = answer[key].to_string().parse().expect("a number");
        assert!(bound < 1e-20, "{key} = {bound}");
    }
    assert_eq!(answer["lattice_step"].to_string(), "0.00073");
    assert_eq!(answer["groups"], 7);
    assert!(text(&with("explain", &RELEASE, &["--delta", "1e-10"])).contains("side lobes survived the sieve"));
    // The contour of a reduced sum is not printed as that of the original: these two groups are merged into one.
    let near = ["--discrete-gaussian", "1000000000x999@2", "--discrete-gaussian", "100000000000001/100000x458"];
    let near = text(&with("explain", &near, &["--delta", "1e-12"]));
    let near = near.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        near.contains("two groups of nearly the same step taken as one") && !near.contains("integral of M(s)"),
        "{near}"
    );
}

#[test]
fn releases_are_listed() {
    let answer = json(&["releases"]);
    let names: Vec<&str> =
        answer["releases"].as_array().expect("a list").iter().filter_map(|release| release["name"].as_str()).collect();
    assert!(names.contains(&"su-su-wang-2025"));
    assert!(text(&["releases"]).contains("levels: US, State"));
}

#[test]
fn verify_explains_every_row() {
    let answer = json(&["verify", "su-su-wang-2025", "--nodes", "40001"]);
    let rows = answer["papers"][0]["rows"].as_array().expect("rows");
    assert!(rows.len() >= 42);
    for row in rows {
        let undisputed = ["agrees", "needs-data", "circular", "not-printed"];
        let differs = !undisputed.contains(&row["verdict"].as_str().expect("a verdict"));
        assert!(!differs || row["erratum"].is_string(), "{row}");
    }
    let verdict = |id: &str| rows.iter().find(|row| row["id"] == id).map(|row| row["verdict"].clone());
    assert_eq!(verdict("table-1-block-ours"), Some("agrees".into()));
    assert_eq!(verdict("section-3.3-reduction"), Some("agrees-as-read".into()));
    assert_eq!(verdict("section-3.2-mse-state"), Some("differs".into()));
    assert_eq!(verdict("section-3.4-state-mae"), Some("needs-data".into()));
    // The rule of Section A.6 and the contour, both terms.
    let own = &answer["papers"][0]["pipeline"];
    for term in ["first_term", "second_term"] {
        let (value, contour) = (ends(&own[term]["value"]), ends(&own[term]["contour"]));
        assert!(value.0 <= contour.1 && contour.0 <= value.1, "{own}");
    }
    assert_eq!(own["nodes"], 40001);
    let production = json(&["verify", "census-2020"]);
    let rows = production["papers"][0]["rows"].as_array().expect("rows");
    assert!(rows.len() >= 62);
    let undisputed = ["agrees", "circular", "not-printed"];
    let is_explained =
        |row: &Value| undisputed.iter().any(|verdict| row["verdict"] == *verdict) || row["erratum"].is_string();
    assert!(rows.iter().all(is_explained), "{rows:?}");
    assert!(refusal(&["verify", "nosuch"]).contains("su-su-wang-2025"));
}

#[test]
fn neighbors_and_groups_change_what_is_accounted() {
    let rho = |rest: &[&str]| json(&with("epsilon", &LEVEL, &[&["--delta", "1e-5"], rest].concat()))["rho"].to_string();
    assert_eq!(rho(&[]), "1");
    assert_eq!(rho(&["--neighbors", "bounded"]), "2");
    assert_eq!(rho(&["--group", "3"]), "9");
    assert_eq!(rho(&["--discrete-gaussian", "5x10@2"]), "5");
}

#[test]
fn the_worst_pair_of_paths_is_named_and_is_the_published_one() {
    // arXiv 2606.29835 prints 7.556920840059e-2 for the maximum over 946 pairs, 7.556920835794e-2 for the pair (13, 13).
    let answer =
        json(&["delta", "--release", "dhc-persons-us", "--epsilon", "8.6713966458383198610", "--digits", "10"]);
    let (lower, upper) = ends(&answer["delta"]);
    assert!(lower <= 7.556_920_840_059e-2 && 7.556_920_840_059e-2 <= upper && upper - lower < 1e-11, "{answer}");
    assert!(answer["worst_pair"].as_str().is_some_and(|pair| pair.contains("of 946 pairs")));
}

#[test]
fn paths_count_alone_when_a_record_is_added_and_in_the_tradeoff_function() {
    let answer = json(&["delta", "--release", "pl94-units-us", "--epsilon", "0.5", "--neighbors", "add-remove"]);
    assert!(answer["worst_pair"].as_str().is_some_and(|pair| pair.contains("the worst of 16 block paths")), "{answer}");
    // The largest delta supports the trade-off function: f(alpha) >= 1 - delta - exp(epsilon) alpha, and touches it.
    let delta = ends(&json(&["delta", "--release", "pl94-units-us", "--epsilon", "0.5"])["delta"]);
    for (alpha, near) in [("0.05", false), ("0.004", false), ("0.02", true)] {
        let answer = json(&["tradeoff", "--release", "pl94-units-us", "--alpha", alpha, "--digits", "6"]);
        let beta = answer["beta_lower"][0].to_string().parse::<f64>().unwrap();
        let upper = answer["beta_upper"][0].to_string().parse::<f64>().unwrap();
        let line = 1.0 - delta.1 - 0.5_f64.exp() * alpha.parse::<f64>().unwrap();
        assert!(beta <= upper && upper - beta < 1e-5 && upper >= line, "{alpha}: {beta} {upper} {line}");
        assert!(!near || upper - line < 0.01, "{alpha}: {beta} {upper} {line}");
    }
}

/// Under bounded neighbors every count is counted twice and the title says so, unless the counts are given for that relation.
#[test]
fn the_neighbor_relation_of_counts_is_stated_and_can_be_given() {
    let laplace = ["epsilon", "--discrete-laplace", "0.5@2", "--delta", "1e-6", "--digits", "6"];
    let of = |more: &[&'static str]| [&laplace[..], more].concat();
    for name in ["bounded", "replace-one", "replace", "change-one", "substitution"] {
        let twice = json(&of(&["--neighbors", name]));
        assert_eq!((&twice["neighbors"], &twice["times_each_count"]), (&"bounded".into(), &2.into()));
        assert_eq!(twice["rho"].to_string(), "1");
    }
    for name in ["add-remove", "unbounded", "add-delete"] {
        let once = json(&of(&["--neighbors", name]));
        assert_eq!((&once["neighbors"], &once["times_each_count"]), (&"add-remove".into(), &1.into()));
    }
    let shown = text(&of(&["--neighbors", "bounded"]));
    assert!(
        shown.replace("\n  ", " ").starts_with(
            "discrete Laplace 0.5x1@2, twice under bounded neighbors: a record leaves one count and enters another\n"
        ),
        "{shown}"
    );
    let given = json(&of(&["--neighbors", "bounded", "--counts-as-given"]));
    assert_eq!((given["rho"].to_string(), &given["times_each_count"]), ("0.5".to_string(), &1.into()));
    assert!(given["epsilon"]["upper"].as_f64().unwrap() < 1.0, "a loss of one nat at most: {given}");
    let alone = refusal(&["epsilon", "--release", "su-su-wang-2025", "--counts-as-given", "--delta", "1e-6"]);
    assert!(alone.contains("--counts-as-given") && alone.contains("one by one"), "{alone}");
    let message = refusal(&of(&["--counts-as-given"]));
    assert!(message.contains("--counts-as-given") && message.contains("bounded"), "{message}");
    // No name is proposed in place of another: the nearest in letters is the opposite relation.
    for wrong in ["unbound", "boundd", "replaced", "both"] {
        let message = refusal(&of(&["--neighbors", wrong]));
        assert!(!message.contains("similar") && !message.contains("did you mean"), "{message}");
        assert!(message.contains("unbounded, add-delete") && message.contains("replace-one"), "{message}");
    }
    let units = text(&["epsilon", "--release", "pl94-units-us", "--level", "US", "--delta", "1e-6", "--digits", "6"]);
    assert!(
        units
            .replace("\n  ", " ")
            .contains("For a query with a single cell, which no record leaves, this is an upper bound"),
        "{units}"
    );
}

/// Every command treats a query that does not move alike: it is left out by name, and costs nothing.
#[test]
fn a_query_that_does_not_move_is_left_out_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let (own, twice) = (folder.path().join("own.toml"), folder.path().join("twice.toml"));
    let form = "name = 'h'\ntitle = 't'\nsource = 's'\nneighbors = 'replace-one'\n[[level]]\nname = 'US'\n[[level.query]]\n\
                name = 'total'\nsigma2 = 10\nmoves = 0\n[[level]]\nname = 'State'\n[[level.query]]\nname = 'total'\nsigma2 = 10\n\
                [[level]]\nname = 'Block'\n[[level.query]]\nname = 'total'\nsigma2 = 20\n";
    std::fs::write(&own, form).unwrap();
    std::fs::write(&twice, form.replace("moves = 0\n", "")).unwrap();
    let (own, twice) = (own.to_str().unwrap(), twice.to_str().unwrap());
    let out = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (certificate, page) = (out("c.json"), out("r.html"));
    let commands: [&[&str]; 9] = [
        &["epsilon", "--delta", "1e-6"],
        &["delta", "--epsilon", "1"],
        &["curve", "--points", "2", "--to", "2"],
        &["tradeoff", "--points", "2"],
        &["explain", "--delta", "1e-6"],
        &["compare", "--delta", "1e-6"],
        &["risk", "bound", "--prior", "1/2", "--delta", "1e-6"],
        &["prove", "--delta", "1e-6", "--out", &certificate],
        &["report", "--delta", "1e-6", "--out", &page],
    ];
    for command in commands {
        let answer = |release: &str| json(&[command, &["--release", release]].concat());
        let (own, twice) = (answer(own), answer(twice));
        assert_eq!(own["unmoved_queries"], serde_json::json!(["US / total"]), "{command:?}: {own}");
        assert_eq!((&own["times_each_count"], &twice["times_each_count"]), (&2.into(), &2.into()), "{command:?}");
        assert!(twice.get("unmoved_queries").is_none(), "{command:?}");
    }
    let rho = |release: &str| json(&["epsilon", "--delta", "1e-6", "--release", release])["rho"].to_string();
    assert_eq!((rho(own), rho(twice)), ("0.15".to_string(), "0.25".to_string()));
    let shown = text(&["epsilon", "--release", own, "--delta", "1e-6"]).replace("\n  ", " ");
    assert!(shown.contains("without \"US / total\", which does not move under bounded neighbors"), "{shown}");
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("Every count of the release is counted twice"), "the report says it");
    let nothing = refusal(&["epsilon", "--release", own, "--level", "US", "--delta", "1e-6"]);
    assert!(nothing.contains("--level") && nothing.contains("epsilon is 0"), "{nothing}");
    assert!(refusal(&["allocate", "--release", own, "--epsilon", "1", "--delta", "1e-6"]).contains("moves = 0"));
    let added = json(&["epsilon", "--release", own, "--neighbors", "add-delete", "--delta", "1e-6"]);
    assert_eq!((added["rho"].to_string(), &added["times_each_count"]), ("0.125".to_string(), &1.into()));
    assert!(added.get("unmoved_queries").is_none());
    let ledger = folder.path().join("ledger.toml");
    let form = "name='l'\ntitle='t'\nsource='s'\nrule='r'\n[[population]]\nname='p'\nneighbors='substitution'\n\
                releases=['own.toml', 'su-su-wang-2025']\n";
    std::fs::write(&ledger, form).unwrap();
    let answer = json(&["ledger", ledger.to_str().unwrap(), "--delta", "1e-6", "--digits", "6"]);
    let releases = &answer["populations"][0]["releases"];
    assert_eq!((releases[0]["rho"].to_string(), &releases[0]["times_each_count"]), ("0.15".to_string(), &2.into()));
    assert_eq!(releases[1]["rho"].to_string(), "7.3");
}

#[test]
fn a_ledger_composes_releases_and_says_what_it_converts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger.toml");
    let form = "name='l'\ntitle='t'\nsource='s'\nrule='all compose'\n[[population]]\nname='people'\nneighbors='bounded'\n\
                releases=['pl94-units-us', 'su-su-wang-2025', 'budget.toml']\n";
    std::fs::copy(BUDGET_ONLY, folder.path().join("budget.toml")).unwrap();
    std::fs::write(&file, form).unwrap();
    let path = file.to_str().unwrap();
    let answer = json(&["ledger", path, "--delta", "1e-6", "--digits", "6"]);
    let people = &answer["populations"][0];
    let alone: Vec<f64> = (0..2).map(|k| ends(&people["releases"][k]["epsilon"]).1).collect();
    let (lower, _) = ends(&people["composed"]["epsilon"]);
    assert!(alone.iter().all(|epsilon| *epsilon < lower) && lower < alone.iter().sum::<f64>(), "{answer}");
    assert_eq!(people["releases"][1]["converted"], true);
    assert_eq!(people["releases"][1]["rho"].to_string(), "7.3");
    assert!(people["releases"][2]["epsilon"].is_null());
    assert_eq!(people["composed"]["not_covered"][0], "budget-only");
    let shown = text(&["ledger", path, "--delta", "1e-6", "--digits", "6"]);
    assert!(shown.contains("all but budget-only composed") && shown.contains("all compose"), "{shown}");
    assert!(refusal(&["ledger", path, "--delta", "2"]).contains("--delta"));
    assert!(refusal(&["ledger", "nosuch", "--delta", "1e-6"]).contains("us-2020-persons"));
    // Noise of bounded loss is compared with pure DP: one nat for a change of one record, which leaves a count and enters another.
    let laplace = "name='lap'\ntitle='t'\nsource='s'\nneighbors='bounded'\n[[level]]\nname='A'\n[[level.query]]\nname='q'\n\
                   law='discrete-laplace'\nepsilon='1/2'\n";
    std::fs::write(folder.path().join("lap.toml"), laplace).unwrap();
    std::fs::write(&file, form.replace("'pl94-units-us'", "'lap.toml'").replace("'budget.toml'", "'pl94-units-us'"))
        .unwrap();
    let answer = json(&["ledger", path, "--delta", "1e-6", "--digits", "6"]);
    let people = &answer["populations"][0];
    let compared = |at: usize| people["releases"][at]["compared_with"]["name"].as_str().unwrap();
    assert_eq!([0, 1, 2].map(compared), ["pure DP", "zCDP (best order)", "zCDP (best order)"]);
    assert_eq!(ends(&people["releases"][0]["compared_with"]["epsilon"]), (1.0, 1.0));
    assert_eq!(people["composed"]["compared_with"]["name"], "zCDP (best order)");
    std::fs::write(&file, form.replace("'bounded'", "'add-remove'")).unwrap();
    assert!(refusal(&["ledger", path, "--delta", "1e-6"]).contains("line 8"));
}

#[test]
fn a_release_without_a_lattice_to_sweep_is_certified_on_the_line() {
    let levels = ["US", "State", "County", "Tract", "Block_Group", "Block"].map(|level| ["--level", level]).concat();
    let args =
        [&["explain", "--release", "pl94-persons-us", "--delta", "1e-10", "--digits", "8"], &levels[..]].concat();
    let answer = json(&args);
    let (lower, upper) = ends(&answer["epsilon"]);
    assert!(lower <= 16.465_155_38 && 16.465_155_38 <= upper && upper - lower < 2e-7, "{answer}");
    assert_eq!((answer["kernel"].as_str(), answer["groups"].to_string().as_str()), (Some("line"), "33"));
    assert!(answer["lattice_refused"].as_str().is_some_and(|why| why.contains("period")));
}

#[test]
fn laplace_and_continuous_noise_are_read_and_compared() {
    let answer = json(&["compare", "--discrete-laplace", "0.1x10", "--delta", "1e-5"]);
    let list = answer["accountants"].as_array().expect("a list");
    let pure = list.iter().find(|row| row["name"] == "pure DP").expect("a row");
    assert_eq!(ends(&pure["epsilon"]), (1.0, 1.0));
    let continuous = json(&["delta", "--gaussian", "5x10", "--epsilon", "10"]);
    let (exact, gdp) = (ends(&continuous["delta"]), ends(&continuous["gdp_delta"]));
    assert!(exact.0 <= gdp.1 && gdp.0 <= exact.1, "{continuous}");
    assert!(refusal(&["epsilon", "--discrete-laplace", "0", "--delta", "1e-5"]).contains("--discrete-laplace"));
    assert!(refusal(&["epsilon", "--discrete-laplace", "0.1@2000", "--delta", "1e-5"]).contains("shift"));
    assert!(refusal(&["epsilon", "--gaussian", "-1", "--delta", "1e-5"]).contains("--gaussian"));
}

#[test]
fn a_release_of_ones_own_is_read_and_its_faults_are_placed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("own.toml");
    let good = "name = \"own\"\ntitle = \"t\"\nsource = \"s\"\nneighbors = \"bounded\"\nrho = \"1/2\"\nsigma2_times_rho = \"1\"\n[[level]]\nname = \"A\"\nproportion = \"1\"\n[[level.query]]\nname = \"q\"\nproportion = \"1\"\n";
    std::fs::write(&path, good).expect("written");
    let file = path.to_str().expect("UTF-8");
    let answer = json(&["epsilon", "--release", file, "--delta", "1e-6"]);
    assert_eq!(answer["rho"].to_string(), "0.5");
    for (from, to, says) in [
        ("proportion = \"1\"\n[[", "proportion = \"0.9\"\n[[", "line 5"),
        ("title", "titel", "line 2"),
        ("source = \"s\"\n", "", "missing field `source`"),
        ("[[level]]\nname = \"A\"", "[[level]]\nname = \"A\"\nname = \"B\"", "line 9"),
    ] {
        std::fs::write(&path, good.replacen(from, to, 1)).expect("written");
        let message = refusal(&["epsilon", "--release", file, "--delta", "1e-6"]);
        assert!(message.contains(says) && message.contains("own.toml"), "{message}");
    }
    std::fs::write(&path, [0xff, 0xfe, 0x00]).expect("written");
    refusal(&["epsilon", "--release", file, "--delta", "1e-6"]);
    refusal(&["epsilon", "--release", folder.path().to_str().expect("UTF-8"), "--delta", "1e-6"]);
}

#[test]
fn hostile_numbers_are_answered_or_refused_by_name() {
    let epsilon = |noise: &str, delta: &str| -> Vec<String> {
        ["epsilon", "--discrete-gaussian", noise, "--delta", delta].map(String::from).to_vec()
    };
    for (noise, delta, names) in [
        ("0", "1e-5", "sigma2"),
        ("-5", "1e-5", "sigma2"),
        ("NaN", "1e-5", "NaN"),
        ("inf", "1e-5", "inf"),
        ("1e-9", "1e-5", "sigma2"),
        ("1e19", "1e-5", "sigma2"),
        ("5x0", "1e-5", "count"),
        ("5x-1", "1e-5", "COUNT"),
        ("5x1.5", "1e-5", "COUNT"),
        ("5@0", "1e-5", "shift"),
        ("", "1e-5", "--discrete-gaussian"),
        ("5", "0", "--delta"),
        ("5", "1", "--delta"),
        ("5", "2", "--delta"),
        ("5", "-1e-5", "--delta"),
        ("5", "1e-999999999", "--delta"),
        ("5", "x", "--delta"),
    ] {
        let args = epsilon(noise, delta);
        let message = refusal(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(message.contains(names), "{noise} {delta}: {message}");
    }
    for (noise, delta) in [("0.001", "1e-5"), ("1e12", "1e-9"), ("5x1000000000", "1e-5"), ("5x10", "1e-300")] {
        let args = epsilon(noise, delta);
        let answer = json(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let (lower, upper) = ends(&answer["epsilon"]);
        assert!(lower > 0.0 && upper - lower <= 2e-12 * upper, "{noise} {delta}");
    }
    for epsilon in ["0", "1e4"] {
        let delta = json(&with("delta", &LEVEL, &["--epsilon", epsilon]))["delta"].clone();
        assert!(delta["lower"].is_number() && delta["lower"] != delta["upper"]);
    }
    assert!(refusal(&with("delta", &LEVEL, &["--epsilon", "-1"])).contains("--epsilon"));
    assert!(refusal(&["epsilon", "--delta", "1e-5"]).contains("nothing to account for"));
    assert!(refusal(&["epsilon", "--release", "nosuch", "--delta", "1e-5"]).contains("su-su-wang-2025"));
    assert!(refusal(&["epsilon", "--release", BUDGET_ONLY, "--delta", "1e-5"]).contains("budget only"));
    assert!(refusal(&with("epsilon", &RELEASE, &["--level", "Moon", "--delta", "1e-5"])).contains("State"));
    assert!(refusal(&with("curve", &LEVEL, &["--from", "3", "--to", "1"])).contains("--from"));
    assert!(refusal(&with("tradeoff", &LEVEL, &["--alpha", "1.5"])).contains("alpha"));
    refusal(&with("epsilon", &LEVEL, &["--delta", "1e-5", "--digits", "0"]));
    refusal(&with("epsilon", &LEVEL, &["--delta", "1e-5", "--digits", "100000"]));
    refusal(&with("epsilon", &LEVEL, &["--delta", "1e-5", "--group", "0"]));
    refusal(&with("curve", &LEVEL, &["--points", "0"]));
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    use std::{
        io::Read,
        process::{Command, Stdio},
    };
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("assay"))
        .args(with("curve", &LEVEL, &["--points", "3000"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut first = [0_u8; 16];
    child.stdout.as_mut().expect("a pipe").read_exact(&mut first).expect("some output");
    drop(child.stdout.take());
    let mut errors = String::new();
    child.stderr.as_mut().expect("a pipe").read_to_string(&mut errors).expect("readable");
    assert!(child.wait().expect("ended").success() && errors.is_empty(), "{errors}");
}

#[test]
fn the_address_of_a_cluster_is_checked_and_holds_no_secret() {
    let files = ["--config", "c.json", "--spec", "s", "--persons", "p.txt", "--geography", "g.txt"];
    let refused = |more: &[&str], why: &str| {
        let message = refusal(&with("tabulate", &files, more));
        assert!(message.contains(why) && !message.contains("hunter2"), "{more:?}: {message}");
    };
    let shared = ["--out", "o", "--shared", "s", "--cluster"];
    refused(&[&shared[..], &["spark://a:7077"]].concat(), "--cluster");
    refused(&[&shared[..], &["sc://a:15002/;token=hunter2"]].concat(), "no token in the address");
    refused(&[&shared[..], &["sc://a:99999"]].concat(), "a port from 1 to 65535");
    refused(&["--out", "o", "--cluster", "sc://a"], "--shared");
    refused(&["--out", "o", "--shared", "s"], "--cluster");
    refused(&["--out", "o", "--cluster-plain"], "--cluster");
    refused(&["--check", "--cluster", "sc://a", "--shared", "s"], "--check");
    refused(&[&shared[..], &["sc://a", "--cluster-limit", "0"]].concat(), "--cluster-limit");
    refused(&[&shared[..], &["sc://a", "--cluster-token", "none"]].concat(), "none");
}

#[test]
fn help_is_in_groups_with_an_example_each_and_every_command_has_one() {
    let help = text(&["--help"]);
    for group in ["Account for", "Noise:", "Releases and mechanisms:", "Risk:", "Evidence:"] {
        let (_, after) = help.split_once(group).unwrap_or_else(|| panic!("no group {group} in {help}"));
        let section = after.split("\n\n").next().expect("its commands");
        assert!(section.contains("Example: assay "), "{group}: {section}");
    }
    for command in ["epsilon", "ledger", "sample", "tune", "completions", "help"] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}: {help}");
    }
    for args in
        [&["help", "calibrate"][..], &["tradeoff", "--help"], &["risk", "single", "-h"], &["help", "risk", "bound"]]
    {
        let help = text(args);
        assert!(help.contains("Example:\n  assay ") || help.contains("Examples:\n  assay "), "{args:?}");
    }
}

#[test]
fn completions_are_written_for_every_shell() {
    for (shell, mark) in [
        ("bash", "complete -F _assay"),
        ("zsh", "#compdef assay"),
        ("fish", "complete -c assay"),
        ("elvish", "edit:completion:arg-completer[assay]"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = text(&["completions", shell]);
        assert!(script.contains(mark) && script.contains("hierarchical"), "{shell}");
    }
    assert!(refusal(&["completions", "csh"]).contains("powershell"));
}

#[test]
fn manual_pages_are_printed_and_written() {
    let page = text(&["man"]);
    assert!(page.contains(".TH assay 1") && page.contains(".SH EXAMPLES\n.nf\nassay epsilon"), "{page}");
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("man/man1");
    text(&["man", "--out", out.to_str().expect("UTF-8")]);
    for (name, example) in [
        ("assay.1", "assay noise counts.csv"),
        ("assay-epsilon.1", "assay epsilon \\-\\-release su\\-su\\-wang\\-2025"),
        ("assay-risk-single.1", "assay risk single \\-\\-rho 0.099"),
    ] {
        let page = std::fs::read_to_string(out.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains(example) && page.contains(".SH SYNOPSIS"), "{name}: {page}");
    }
    assert!(!out.join("assay-help.1").exists());
    // There is a file in place of the folder.
    assert!(refusal(&["man", "--out", out.join("assay.1").to_str().expect("UTF-8")]).contains("assay.1"));
}

/// Sentences of one kind of mechanism are not printed about another.
#[test]
fn sentences_are_about_the_law_and_the_number_at_hand() {
    let said = |line: &str| {
        let args: Vec<&str> = line.split(' ').collect();
        let output = assay(&args).assert().success().get_output().stdout.clone();
        String::from_utf8(output).expect("UTF-8").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (line, yes, no) in [
        ("explain --discrete-gaussian 100 --delta 0.5", "because delta(0) is at most 0.5.", "at least 0.5"),
        ("explain --discrete-gaussian 5 --delta 1e-6", "and at least 1e-6 at the lower", "delta(0)"),
        ("explain --sampled 0.01:gaussian:1x100 --delta 1e-5", "100 steps in 1 group", "counts"),
        ("explain --unknown-key discrete-laplace:1/2:40 --delta 1e-4", "2 terms in 2 groups", "counts in"),
        ("explain --pure 1x3 --delta 1e-5", "3 terms in 1 group", "counts"),
        ("explain --discrete-laplace 1/2x3 --delta 1e-5", "3 counts in 1 group", "3 terms"),
        (
            "epsilon --pure 1x3 --delta 1e-5",
            "certified for the worst mechanism with these guarantees:",
            "certified: the truth",
        ),
        ("epsilon --exponential 1 --delta 0.1", "certified for the worst mechanism", "for this account"),
        // Two mechanisms of range 1 have at most delta(0.5) = 0.152453, and two steps of a 1-DP mechanism at most a total variation of 1 - 1/e.
        ("epsilon --exponential 1x2 --delta 0.15246", "certified for this account:", "the worst mechanism"),
        ("epsilon --pure 1 --group 2 --delta 0.5", "certified for this account:", "the worst mechanism"),
        ("compare --pure 1 --group 2 --delta 0.5", "the profile of this account", "the worst mechanism"),
        (
            "risk bound --pure 1 --prior 1/2",
            "outputs with and without the record is at most this.",
            "without the record.\n",
        ),
        ("risk bound --pure 1 --prior 1/2 --group 2", "if the records are there", "a record changes"),
        ("risk bound --pure 1 --prior 1/2 --neighbors bounded", "under one of both possibilities", "is there"),
        ("epsilon --law pure:1x3 --delta 1e-5", "certified for the worst mechanism with these guarantees:", "law"),
        ("epsilon --discrete-gaussian 4 --delta 1e-5", "certified: the truth differs", "the worst mechanism"),
        ("compare --gaussian 4 --delta 1e-6", "GDP 2.254084651 +0.00 % yes", "approximation"),
        ("compare --discrete-gaussian 4 --delta 1e-6", "an approximation for integers", "the same profile"),
        ("compare --pure 1 --delta 1e-6", "pure DP", "GDP"),
        ("compare --exponential 1 --delta 1e-6", "pure DP", "GDP"),
        ("compare --laplace 2 --delta 1e-6", "pure DP", "GDP"),
        ("compare --pure 1 --discrete-gaussian 4 --delta 1e-6", "RDP", "GDP"),
        ("delta --gaussian 4 --epsilon 1", "the same law", "an approximation"),
        ("delta --pure 2 --epsilon 1", "a bound", "continuous Gaussian"),
    ] {
        let text = said(line);
        assert!(text.contains(yes) && !text.contains(no), "{line}: {text}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("r.html");
    let report = said(&format!("report --discrete-gaussian 4 --delta 1e-6 --prior 0.0001 --out {}", page.display()));
    assert!(report.contains("they would be right 99.99 % of the time"), "{report}");
    let boxed = folder.path().join("boxed.html");
    said(&format!("report --pure 1 --delta 1e-6 --out {}", boxed.display()));
    let html = std::fs::read_to_string(&boxed).expect("a page");
    assert!(
        html.contains("The mechanism may be more private") && !html.contains("some adversary attains it"),
        "{}",
        boxed.display()
    );
}
