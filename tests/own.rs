//! A mechanism of the user, from a file to a table in a paper: the steps of a new user, as processes.

use std::{fs, path::Path};

use dp_assay::{
    account::{Account, Composition, Counts},
    numeric::rational::parse,
};
use rug::Rational;
use serde_json::Value;

use crate::common::program::{assay, found_nothing, json, refusal};

fn text(args: &[&str]) -> String {
    String::from_utf8(assay(args).assert().success().get_output().stdout.clone()).expect("UTF-8")
}

fn exact(value: &Value) -> Rational {
    parse(&value.to_string()).unwrap_or_else(|error| panic!("{value}: {error}"))
}

fn put(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_string()
}

/// Three laws, two shifts, plain numbers, and no budget.
const OWN: &str = "name = 'own'\ntitle = 't'\nsource = 's'\nneighbors = 'add-remove'\n\
                   [[level]]\nname = 'State'\n[[level.query]]\nname = 'total'\nsigma2 = 2.5\ntimes = 3\nsensitivity = 2\n\
                   [[level.query]]\nname = 'age'\nlaw = 'discrete-laplace'\nepsilon = 0.1\ncells = 4\n\
                   [[level]]\nname = 'County'\n[[level.query]]\nname = 'total'\nlaw = 'gaussian'\nsigma2 = 7\n";

#[test]
fn noise_in_a_file_is_the_noise_of_the_command_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = put(folder.path(), "own.toml", OWN);
    let by_file = json(&["epsilon", "--release", &own, "--delta", "1e-8"]);
    let given = ["--discrete-gaussian", "2.5x3@2", "--discrete-laplace", "0.1x4", "--gaussian", "7"];
    let by_hand = json(&[&["epsilon"], &given[..], &["--delta", "1e-8"]].concat());
    assert_eq!(by_file["rho_exact"], by_hand["rho_exact"]);
    assert_eq!(by_file["epsilon"], by_hand["epsilon"]);
    for (from, to, says) in [
        ("sigma2 = 2.5", "sigma2 = inf", "line 9, column 10"),
        ("sigma2 = 2.5", "sigma2 = -1", "line 9, column 10: sigma2 of the query \"total\" must be above 0"),
        ("sigma2 = 2.5", "sigma = 2.5", "line 9"),
        ("sensitivity = 2", "sensitivity = 0", "line 11, column 15"),
        ("'discrete-laplace'", "'laplac'", "\"discrete-laplace\""),
        ("epsilon = 0.1", "epsilon = 0.1\nproportion = 1", "line 16, column 14"),
    ] {
        let broken = put(folder.path(), "broken.toml", &OWN.replacen(from, to, 1));
        let message = refusal(&["epsilon", "--release", &broken, "--delta", "1e-8"]);
        assert!(message.contains(says) && message.contains("broken.toml"), "{to}: {message}");
    }
}

#[test]
fn a_bundled_release_and_a_template_are_files_to_start_from() {
    let folder = tempfile::tempdir().expect("a folder");
    let shown = text(&["releases", "--show", "dhc-units-us"]);
    let copy = put(folder.path(), "copy.toml", &shown);
    let level = ["--level", "State", "--delta", "1e-9"];
    let of = |release: &str| json(&[&["epsilon", "--release", release], &level[..]].concat());
    assert_eq!(of(&copy)["epsilon"], of("dhc-units-us")["epsilon"]);
    let template = put(folder.path(), "new.toml", &text(&["releases", "--new"]));
    let answer = json(&["epsilon", "--release", &template, "--delta", "1e-9", "--queries"]);
    assert_eq!(answer["queries"].as_array().expect("queries").len(), 4);
    // It names every field that a query may have.
    let text = fs::read_to_string(&template).expect("text");
    for field in ["proportion", "rho", "law", "sigma2", "epsilon", "times", "cells", "sensitivity", "[[recode]]"] {
        assert!(text.contains(field), "{field}");
    }
    assert!(refusal(&["releases", "--show", "nosuch"]).contains("bundled are"));
}

#[test]
fn the_schema_of_a_release_has_all_values() {
    let answer = json(&["schema", "pl94-persons-us"]);
    let parts = answer["schema"].as_array().expect("parts");
    let sizes: Vec<usize> = (parts.iter())
        .filter(|part| part["kind"] == "attribute")
        .map(|part| part["values"].as_array().expect("values").len())
        .collect();
    assert_eq!(sizes.iter().product::<usize>() as u64, answer["cells"].as_u64().expect("cells"));
    let detailed = answer["queries"].as_array().expect("queries").iter().find(|query| query["name"] == "detailed");
    assert_eq!(detailed.expect("a query of all attributes")["counts"], answer["cells"]);
    assert!(text(&["schema", "pl94-persons-us"]).lines().all(|line| line.chars().count() <= 160));
    assert!(text(&["schema", "ddhca-us"]).contains("names no attributes"));
    assert!(refusal(&["schema", "nosuch"]).contains("nosuch"));
}

#[test]
fn each_query_has_its_share_and_its_own_epsilon() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = put(folder.path(), "own.toml", OWN);
    let answer = json(&["epsilon", "--release", &own, "--discrete-gaussian", "5x2", "--delta", "1e-8", "--queries"]);
    let rows = answer["queries"].as_array().expect("queries");
    assert_eq!(rows.len(), 4);
    let fraction = |value: &Value| parse(value.as_str().expect("a text")).expect("a fraction");
    let sum = rows.iter().map(|row| fraction(&row["rho_exact"])).fold(Rational::new(), |sum, rho| sum + rho);
    assert_eq!(sum, fraction(&answer["rho_exact"]));
    for (row, counts) in rows.iter().zip([
        "2.5x3@2".parse::<Counts>().expect("counts"),
        Counts::parse_discrete_laplace("0.1x4").expect("counts"),
        Counts::parse_gaussian("7").expect("counts"),
        "5x2".parse().expect("counts"),
    ]) {
        let alone = Composition::new([counts]).expect("counts").epsilon("1e-8", 12).expect("epsilon").value;
        assert_eq!(row["epsilon"], serde_json::from_str::<Value>(&alone.to_json().to_string()).expect("JSON"), "{row}");
    }
    let calibrated = json(&["calibrate", "--release", &own, "--delta", "1e-8", "--match", "zcdp", "--queries"]);
    let rows = calibrated["queries"].as_array().expect("queries");
    let factor = |row: &Value| exact(&row["calibrated_sigma2"]) / exact(&row["sigma2"]);
    let levels = calibrated["levels"].as_array().expect("levels");
    assert_eq!(factor(&rows[0]), exact(&levels[0]["calibrated_sigma2"]) / exact(&levels[0]["sigma2"]));
    // The parameter of discrete Laplace noise is divided by the factor that multiplies sigma2.
    let laplace = parse(rows[1]["calibrated_exact"].as_str().expect("text")).expect("a fraction");
    assert_eq!(laplace * factor(&rows[0]), parse("0.1").expect("a number"));
}

#[test]
fn repeated_releases_are_composed() {
    let twice = json(&["epsilon", "--discrete-gaussian", "5x10", "--repeat", "3", "--delta", "1e-8"]);
    let thirty = json(&["epsilon", "--discrete-gaussian", "5x30", "--delta", "1e-8"]);
    assert_eq!(twice["epsilon"], thirty["epsilon"]);
    assert!(
        text(&["epsilon", "--discrete-gaussian", "5", "--repeat", "3", "--delta", "1e-8"]).contains("released 3 times")
    );
    for k in ["0", "18446744073709551615"] {
        assert!(
            refusal(&["delta", "--discrete-gaussian", "5x2", "--repeat", k, "--epsilon", "1"]).contains("--repeat")
        );
    }
}

#[test]
fn releases_stand_side_by_side() {
    let names = ["su-su-wang-2025", "pl94-units-us"];
    let both = ["compare", "--release", names[0], "--release", names[1], "--delta", "1e-9", "--digits", "8"];
    let answer = json(&both);
    for (column, name) in answer["releases"].as_array().expect("releases").iter().zip(names) {
        let alone = json(&["compare", "--release", name, "--delta", "1e-9", "--digits", "8"]);
        assert_eq!(column["release"], name);
        assert_eq!(column["accountants"], alone["accountants"]);
        let levels = if name == names[0] { 8 } else { 6 };
        assert_eq!(column["levels"].as_array().expect("levels").len(), levels);
    }
    let printed = text(&both);
    // The levels of both, each once, and a note on the relations that differ.
    assert_eq!(printed.lines().filter(|line| line.starts_with("State ")).count(), 1);
    assert!(printed.contains("Block_Group") && printed.contains("neighbor relations differ"), "{printed}");
    let message = refusal(&["epsilon", "--release", names[0], "--release", names[1], "--delta", "1e-9"]);
    assert!(message.contains("compare") && message.contains(names[1]), "{message}");
}

#[test]
fn an_answer_has_every_form() {
    let subject = ["--release", "su-su-wang-2025", "--level", "State", "--delta", "1e-9"];
    let formed = |command: &[&str], form: &str| text(&[command, &subject[..], &["--format", form]].concat());
    let plain = text(&[&["epsilon"], &subject[..]].concat());
    assert_eq!(formed(&["epsilon"], "table"), plain);
    let value: Value = serde_json::from_str(&formed(&["epsilon"], "json")).expect("JSON");
    assert_eq!(value["epsilon"], json(&[&["epsilon"], &subject[..]].concat())["epsilon"]);
    let csv = formed(&["epsilon"], "csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let at = |name: &str| header.iter().position(|known| known == name).unwrap_or_else(|| panic!("{name}: {csv}"));
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0][at("epsilon_upper")], value["epsilon"]["upper"].to_string());
    for command in [
        &["epsilon", "--queries"][..],
        &["compare"],
        &["calibrate", "--match", "zcdp", "--queries"],
        &["explain"],
        &["risk", "bound", "--prior", "1/2"],
    ] {
        let md = formed(command, "md");
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        let table: Vec<&str> = md.lines().filter(|line| line.starts_with('|')).collect();
        assert!(command[0] == "explain" || table.len() > 2, "{md}");
        assert!(table.iter().zip(table.iter().skip(1)).take(2).all(|(a, b)| bars(a) == bars(b)), "{md}");
        let latex = formed(command, "latex");
        let begun = latex.matches("\\begin{tabular}").count();
        assert_eq!(begun, latex.matches("\\end{tabular}").count());
        assert!(command[0] == "explain" || begun > 0, "{latex}");
        let cells = latex.lines().filter(|line| line.ends_with(" \\\\"));
        assert!(cells.clone().all(|line| !line.replace("\\%", "").contains('%')), "{latex}");
        assert!(formed(command, "csv").lines().count() > 1);
    }
    assert!(refusal(&[&["epsilon"], &subject[..], &["--format", "xml"]].concat()).contains("latex"));
    assert!(refusal(&[&["epsilon", "--json"], &subject[..], &["--format", "md"]].concat()).contains("--json"));
}

/// Commands without a release, or with a list: their tables have the other formats, too.
#[test]
fn every_table_has_every_form() {
    let counts = "town,y,a,b\n1,2.5,10,20\n2,3.5,30,20\n3,4,10,15\n";
    let folder = tempfile::tempdir().expect("a folder");
    let counts = put(folder.path(), "counts.csv", counts);
    let out = folder.path().join("figures");
    let out = out.to_str().expect("UTF-8");
    let product = concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples/nmf/US_Person_PL_PROD");
    let simulate = ["simulate", &counts, "--y", "y", "--categories", "a,b", "--discrete-gaussian", "5"];
    let own = |name: &str| format!("{}/data/examples/safetab/{name}", env!("CARGO_MANIFEST_DIR"));
    let [config, spec, persons, geography] = ["config.json", "", "person-records.txt", "GRF-C.txt"].map(own);
    let tune = ["tune", "--config", &config, "--spec", &spec];
    let inputs = ["--config", &config, "--spec", &spec, "--persons", &persons, "--geography", &geography];
    let tabulate = [&["tabulate", "--dry-run"], &inputs[..]].concat();
    for command in [
        &["releases"][..],
        &["schema", "dhc-units-us"],
        &["errors", "--discrete-gaussian", "5", "--count", "3"],
        &["delta", "--discrete-gaussian", "5", "--epsilon", "1"],
        &["curve", "--discrete-gaussian", "5", "--points", "3"],
        &["tradeoff", "--discrete-gaussian", "5", "--points", "3"],
        &["tune", "--rho", "0.159"],
        &["risk", "single", "--rho", "0.099", "--prior", "1/2"],
        &["risk", "hierarchical", "--rho", "0.099,0.246", "--others", "2", "--prior", "1/2", "--truth", "1,1,0"],
        &["nmf", "check", product, "--release", "pl94-persons-us", "--digits", "4"],
        &["verify", "spines-2024"],
        &["figures", "spines-2024", "--list", "--out", out],
        &[&simulate[..], &["--insecure-seed", "1"]].concat(),
        &tabulate,
        &tune,
    ] {
        let formed = |form: &str| text(&[command, &["--format", form]].concat());
        assert!(formed("latex").contains("\\begin{tabular}"), "{command:?}");
        assert!(formed("md").lines().any(|line| line.starts_with("| ---")), "{command:?}");
        let csv = formed("csv");
        let rows: Vec<csv::StringRecord> = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(csv.as_bytes())
            .into_records()
            .map(|row| row.expect("as wide as the header"))
            .collect();
        assert!(rows.len() > 1, "{command:?}: {csv}");
        assert!(serde_json::from_str::<Value>(&formed("json")).expect("JSON").is_object(), "{command:?}");
    }
}

#[test]
fn curves_are_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("deep")).expect("a folder");
    for command in [
        &["curve", "--discrete-gaussian", "5x10", "--to", "12", "--points", "7"][..],
        &["curve", "--discrete-gaussian", "5", "--from", "3", "--to", "3", "--points", "1"],
        &["tradeoff", "--discrete-gaussian", "5x10", "--points", "5"],
        &["tradeoff", "--discrete-gaussian", "5x10", "--alpha", "0.05"],
        &["calibrate", "--discrete-gaussian", "5x10", "--delta", "1e-10", "--match", "zcdp"],
        &["calibrate", "--release", "su-su-wang-2025", "--scale-all", "--delta", "1e-10", "--epsilon", "20"],
        &["compare", "--release", "su-su-wang-2025", "--level", "US", "--delta", "1e-10"],
        &["compare", "--discrete-laplace", "1", "--delta", "1e-10"],
        &[
            "compare",
            "--release",
            "su-su-wang-2025",
            "--release",
            "pl94-persons-us",
            "--level",
            "US",
            "--delta",
            "1e-10",
        ],
        &["risk", "bound", "--discrete-gaussian", "5x10", "--prior", "1/2"],
        &["risk", "hierarchical", "--rho", "1,1", "--others", "2", "--prior", "1/2", "--truth", "1,1,0"],
    ] {
        let path = folder.path().join("deep/curve.svg");
        let svg = path.to_str().expect("UTF-8");
        let printed = text(command);
        // A curve beside its drawing has no table.
        let beside = text(&[command, &["--svg", svg]].concat());
        match ["curve", "tradeoff"].contains(&command[0]) && !command.contains(&"--alpha") {
            true => assert!(
                beside.contains("are drawn in") && beside.lines().count() < printed.lines().count() + 2,
                "{beside}"
            ),
            false => assert_eq!(beside, printed),
        }
        let drawn = fs::read_to_string(&path).expect("an SVG");
        assert!(
            drawn.contains("<svg") && drawn.trim_end().ends_with("</svg>") && drawn.contains("exact"),
            "{command:?}"
        );
        let beside = fs::read_to_string(folder.path().join("deep/curve.svg.provenance.json")).expect("a provenance");
        assert!(beside.contains("\"assay\"") && beside.contains("--svg"), "{beside}");
        fs::remove_file(&path).expect("removed");
        let taken = folder.path().to_str().expect("UTF-8");
        assert!(refusal(&[command, &["--svg", taken]].concat()).contains("--svg"));
    }
}

#[test]
fn the_adversarys_knowledge_is_drawn_and_written_as_csv() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("risk.svg");
    let svg = path.to_str().expect("UTF-8");
    let levels = ["--rho", "0.099,0.246", "--others", "27", "--prior", "1/2", "--noisy", "2,1,-1"];
    let post = ["--rho", "0.099", "--others", "27", "--prior", "1/2"];
    for (command, header, said) in [
        (&["risk", "single", "--rho", "0.099", "--prior", "1/2", "--noisy=-5..5"][..], "noisy,", "posterior"),
        (&[&["risk", "hierarchical"], &levels[..]].concat(), "x2,", "posterior probability of X2"),
        (&[&["risk", "sampler", "--as-printed"], &levels[..]].concat(), "x2,", "sampler"),
        (&[&["risk", "postprocess", "--published", "3"], &post[..]].concat(), "value,", "if the target counts"),
        (&[&["risk", "postprocess", "--published", "1..4"], &post[..]].concat(), "published,", "post-processed"),
    ] {
        assert!(text(&[command, &["--csv"]].concat()).starts_with(header), "{command:?}");
        text(&[command, &["--svg", svg]].concat());
        let drawn = fs::read_to_string(&path).expect("an SVG");
        assert!(drawn.contains(said) && drawn.trim_end().ends_with("</svg>"), "{command:?}");
        fs::remove_file(&path).expect("removed");
    }
    let file = folder.path().join("drawn.csv");
    let csv = file.to_str().expect("UTF-8");
    for command in [
        &["curve", "--discrete-gaussian", "5x10", "--points", "5"][..],
        &["risk", "single", "--rho", "0.099", "--prior", "1/2", "--noisy=-5..5"],
    ] {
        let printed = text(&[command, &["--csv"]].concat());
        let shown = text(&[command, &["--csv", csv]].concat());
        assert!(!shown.starts_with(printed.lines().next().expect("a header")), "the answer is read beside its file");
        assert_eq!(fs::read_to_string(&file).expect("CSV"), printed, "{command:?}");
        assert!(folder.path().join("drawn.csv.provenance.json").exists());
        fs::remove_file(&file).expect("removed");
    }
    // The points of the curves are drawn, and they are the rows.
    let least =
        ["calibrate", "--release", "su-su-wang-2025", "--level", "State", "--delta", "1e-10", "--match", "zcdp"];
    let answer = json(&[&least[..], &["--csv", csv]].concat());
    let rows = fs::read_to_string(&file).expect("CSV");
    let mut rows = rows.lines();
    assert_eq!(rows.next(), Some("name,epsilon,delta_before_approx,delta_after_approx,zcdp_delta_approx"));
    let points = answer["levels"][0]["profiles_approx"]["after"].as_array().expect("points");
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(',').collect()).collect();
    assert_eq!(rows.len(), points.len());
    for (row, point) in rows.iter().zip(points) {
        assert_eq!((row[0], row[3].parse::<f64>().ok()), ("composition", point["delta"].as_f64()));
    }
    assert!(refusal(&[&least[..], &["--csv", "--json"]].concat()).contains("--csv without a file"));
    for flag in [&["--csv"][..], &["--csv", csv], &["--svg", svg]] {
        let single = ["risk", "single", "--rho", "1", "--prior", "1/2", "--noisy", "2"];
        assert!(refusal(&[&single, flag].concat()).contains("give a range"));
    }
    assert!(!path.exists());
}

/// The sampler with the constraint has the exact posterior as its limit, except with (3.7) as printed; without the constraint it has
/// another one.
#[test]
fn the_sampler_converges_to_the_posterior_unless_it_is_as_printed() {
    let levels = ["risk", "sampler", "--rho", "0.099,0.246", "--others", "27", "--prior", "1/2", "--noisy", "2,1,-1"];
    let kept = json(&levels);
    let printed = json(&[&levels[..], &["--as-printed", "--draws", "20000", "--insecure-seed", "7"]].concat());
    let middle = |value: &Value| (value["lower"].as_f64().unwrap() + value["upper"].as_f64().unwrap()) / 2.0;
    assert!((middle(&kept["limit"]) - middle(&kept["posterior"])).abs() < 1e-9);
    assert!((middle(&printed["limit"]) - 0.577_528_883_839).abs() < 1e-9);
    assert!((printed["share_approximate"].as_f64().unwrap() - middle(&printed["limit"])).abs() < 0.02);
    assert_eq!(printed["insecure_seed"], 7);
    assert!(refusal(&[&levels[..], &["--draws", "5"]].concat()).contains("--insecure-seed"));
    assert!(refusal(&[&levels[..7], &["--prior", "1/2", "--noisy", "2,1"]].concat()).contains("X1,X2,Y1"));
}

/// Post-processed errors are those of the library, and the outcomes are complete.
#[test]
fn post_processed_counts_are_answered_outcome_by_outcome() {
    let post = ["risk", "postprocess", "--rho", "0.5", "--others", "3", "--prior", "1/4"];
    let answer = json(&[&post[..], &["--published", "4"]].concat());
    let outcomes = answer["outcomes"].as_array().expect("outcomes");
    assert_eq!(outcomes.len(), 5);
    let total: f64 = outcomes.iter().map(|outcome| outcome["probability"]["lower"].as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9, "{total}");
    let range = json(&[&post[..], &["--published", "4..5"]].concat());
    assert_eq!(range["marginal_lower"][0], answer["marginal_posterior"]["lower"]);
    for (argument, said) in
        [("--published=-1", "--published"), ("--published=5..4", "from the smaller"), ("--published=x", "--published")]
    {
        assert!(refusal(&[&post[..], &[argument]].concat()).contains(said), "{argument}");
    }
    assert!(refusal(&[&post[..], &["--published", "3", "--upper", "0"]].concat()).contains("--upper"));
}

const TARGETS: &str = "[[query]]\nname = 'State / total'\nweight = 100\n[[query]]\nname = 'County / total'\nweight = 10\n\
                       most_margin = 5\n[[query]]\nname = 'County / age'\ncount = 3\nsensitivity = 2\n";

#[test]
fn an_allocation_is_a_release_that_meets_its_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let targets = put(folder.path(), "targets.toml", TARGETS);
    let path = folder.path().join("allocated.toml");
    let out = path.to_str().expect("UTF-8");
    for (subject, relation, levels) in [
        (&[targets.as_str()][..], "add-remove", 2),
        (&[&targets, "--neighbors", "bounded"], "bounded", 2),
        (&["--release", "su-su-wang-2025", "--level", "State", "--level", "Block"], "add-remove", 2),
        (&["--release", "su-su-wang-2025", "--level", "US", "--neighbors", "bounded"], "bounded", 1),
    ] {
        let promise = ["--epsilon", "6", "--delta", "1e-9", "--out", out];
        let answer = json(&[&["allocate"], subject, &promise[..]].concat());
        assert_eq!(answer["neighbors"], relation);
        let read = json(&["epsilon", "--release", out, "--delta", "1e-9", "--queries", "--digits", "8"]);
        assert_eq!(read["neighbors"], relation);
        let upper = exact(&read["epsilon"]["upper"]);
        assert!(upper <= 6 + Rational::from((1, 1_000_000)) && upper > Rational::from((59, 10)), "{read}");
        let found = answer["queries"].as_array().expect("queries");
        for (query, read) in found.iter().zip(read["queries"].as_array().expect("queries")) {
            assert_eq!((&query["sigma2"], &query["count"]), (&read["sigma2"], &read["counts"]), "{query} {read}");
            let margin = query["margin_95"].as_u64().expect("a margin");
            let errors = json(&["errors", "--discrete-gaussian", &query["sigma2"].to_string(), "--count", "1000"]);
            assert_eq!(errors["noise"][0]["margin_95"].as_u64(), Some(margin));
        }
        let beside = fs::read_to_string(folder.path().join("allocated.toml.provenance.json")).expect("a provenance");
        assert!(beside.contains("allocate") && beside.contains("sha256"), "{beside}");
        let release = fs::read_to_string(&path).expect("a release");
        assert_eq!(release.matches("[[level]]").count(), levels);
    }
}

#[test]
fn targets_whose_largest_noise_misses_are_refused_with_its_epsilon() {
    let folder = tempfile::tempdir().expect("a folder");
    let targets = put(folder.path(), "tight.toml", "[[query]]\nname = 'q'\ncount = 10\nmost_sigma2 = 5\n");
    let message = found_nothing(&["allocate", &targets, "--epsilon", "2", "--delta", "1e-11"]);
    let needed =
        message.split("allow has epsilon = ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a number");
    // Ten counts of sigma2 = 5: the epsilon in the first listing of the guide, rounded up.
    assert_eq!(needed, "10.124831");
    let enough = json(&["allocate", &targets, "--epsilon", needed, "--delta", "1e-11"]);
    assert_eq!(enough["queries"][0]["sigma2"].to_string(), "5");
    found_nothing(&["allocate", &targets, "--epsilon", "10.12", "--delta", "1e-11"]);
    assert!(
        refusal(&["allocate", &targets, "--level", "State", "--epsilon", "2", "--delta", "1e-9"]).contains("--level")
    );
    let unknown = ["allocate", "--release", "su-su-wang-2025", "--level", "Moon", "--epsilon", "2", "--delta", "1e-9"];
    assert!(refusal(&unknown).contains("--level"));
}

/// Plain and quoted numbers mean the same in every file that the program reads.
#[test]
fn plain_numbers_are_read_everywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = |quote: &str| {
        format!(
            "title = 't'\ngamma = {quote}0.1{quote}\nsuppress = {quote}0.999{quote}\n[[level]]\nname = 'a'\nrho = {quote}0.159{quote}\nstability = 9\n"
        )
    };
    let answers = ["", "'"].map(|quote| {
        let path = put(folder.path(), "plan.toml", &plan(quote));
        let mut answer = json(&["tune", "--plan", &path]);
        // The typed text is part of the answer, and the same here.
        answer.as_object_mut().expect("an object").retain(|key, _| key != "provenance");
        answer
    });
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0]["levels"][0]["rho"].to_string(), "0.159");
}

/// Every command that writes a file chooses the format by the file name, or refuses the name.
#[test]
fn file_names_determine_the_format_or_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let counts = put(folder.path(), "towns.csv", "town,y,a,b\n1,2.5,10,20\n2,3.5,30,20\n3,4,10,15\n");
    let at = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_string();
    let given = ["--discrete-gaussian", "5x10"];
    let before = fs::read_dir(folder.path()).expect("a folder").count();
    for (command, option, name, said) in [
        (&["tradeoff"][..], "--svg", "t.pdf", "rsvg-convert -f pdf"),
        (&["curve"], "--svg", "t.png", "SVG is written here, and not .png"),
        (&["curve"], "--csv", "t.xlsx", "CSV is written here, and not .xlsx"),
        (&["compare", "--delta", "1e-9"], "--svg", "t.geojson", "not .geojson"),
        (&["calibrate", "--delta", "1e-9", "--match", "zcdp"], "--svg", "t.jpg", "not .jpg"),
        (&["risk", "bound", "--prior", "1/2"], "--svg", "t.pdf", "not .pdf"),
        (&["report", "--delta", "1e-9"], "--out", "t.pdf", "a browser prints it as PDF"),
        (&["report", "--delta", "1e-9"], "--out", "none/t.html", "there is no folder"),
        (&["prove", "--delta", "1e-9"], "--out", "t.pdf", "JSON is written here"),
        (&["curve"], "--svg", "none/t.svg", "there is no folder"),
    ] {
        let message = refusal(&[command, &given, &[option, &at(name)]].concat());
        assert!(message.contains(said), "{command:?}: {message}");
    }
    for (words, said) in [
        (&["verify", "spines-2024", "--out", &at("memo.pdf")][..], "a folder of files is written here"),
        (&["figures", "su-su-wang-2025/table-3", "--out", &at("figures.svg")], "a folder of files is written here"),
        (&["verify", "--new", &at("new.xlsx")], "TOML is written here"),
        (&["noise", &counts, "--column", "a", "--discrete-gaussian", "5", "--out", &at("t.xlsx")], "CSV or Parquet"),
        (
            &[
                "simulate",
                &counts,
                "--y",
                "y",
                "--categories",
                "a,b",
                "--discrete-gaussian",
                "5",
                "--svg",
                &at("t.pdf"),
            ],
            "SVG is written here",
        ),
    ] {
        let message = refusal(words);
        assert!(message.contains(said), "{words:?}: {message}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), before, "nothing was written");
}
