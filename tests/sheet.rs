//! `assay report --nist` and `--registry`: every point is answered or named, numbers are those of the other commands, and the registry's own
//! reader agrees with an entry and finds wrong figures in it.

use std::{fs, path::Path};

use dp_assay::{
    account::Delta,
    deployments::{
        Verdict,
        registry::{self, Entry},
    },
    sheet::Point,
};
use serde_json::Value;

use crate::common::program::{assay, json, refusal, unanswered};

/// The sheet, in the form that the name has.
fn sheet(folder: &Path, name: &str, args: &[&str]) -> (String, String) {
    let file = folder.join(name);
    let option = if name.ends_with("yaml") { "--registry" } else { "--nist" };
    let all = [&["report"], args, &[option, file.to_str().unwrap()]].concat();
    let printed = assay(&all).assert().success().get_output().stdout.clone();
    (fs::read_to_string(file).unwrap(), String::from_utf8(printed).unwrap())
}

#[test]
fn every_point_is_answered_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let counts = ["--discrete-gaussian", "5x10", "--discrete-laplace", "1/2@2", "--delta", "1e-9"];
    let (markdown, said) = sheet(folder.path(), "sheet.md", &counts);
    let of = json(&[&["epsilon"][..], &counts, &["--digits", "12"]].concat());
    let upper = of["epsilon"]["upper"].as_f64().unwrap();
    let after = markdown.split("describes is (").nth(1).unwrap();
    let printed: f64 = after.split(',').next().unwrap().parse().unwrap();
    assert!(printed >= upper && printed < upper * (1.0 + 1e-6), "{printed} {upper}");
    assert!(said.contains(&format!("at most {printed}")), "{said}");
    for heading in [
        "The guarantee",
        "Privacy parameters",
        "Unit of privacy and neighbors",
        "Comparison with other guarantees",
        "Other data releases",
        "Mechanisms and sensitivity",
        "Composition",
        "Post-processing",
        "Utility and accuracy",
        "Bias",
        "Query model",
        "Threat model",
        "Implementation",
        "Data security and access control",
        "Data collection exposure",
        "To be completed by the curator",
        "Provenance",
    ] {
        assert!(markdown.contains(&format!("\n## {heading}\n")), "{heading}");
    }
    for point in Point::ALL {
        assert!(
            markdown.contains(&point.sentence()) && markdown.contains(&format!("| {} | |", point.name())),
            "{point:?}"
        );
    }
    // N_Z(0, 5): P[abs(X) <= 4] is 0.955, and P[abs(X) <= 3] 0.882; its standard deviation is sqrt(5) to ten digits.
    assert!(markdown.contains("| discrete Gaussian 5x10@1 | 2.23607 | 4 |"), "{markdown}");
    assert!(markdown.contains("| discrete Laplace noise | epsilon = 0.5 | 1 | 2 |"), "{markdown}");
    let (html, _) = sheet(folder.path(), "sheet.html", &counts);
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("Content-Security-Policy"));
    for part in ["<script", "src=", "href=\"http", "url("] {
        assert!(!html.contains(part), "{part}");
    }
    for point in Point::ALL {
        assert!(html.contains(point.missing()), "{point:?}");
    }
}

#[test]
fn continuous_and_local_noise_have_their_remarks() {
    let folder = tempfile::tempdir().unwrap();
    let (continuous, _) = sheet(folder.path(), "a.md", &["--gaussian", "5x3", "--delta", "1e-6"]);
    assert!(continuous.contains("Floating point cannot draw it"), "{continuous}");
    let (local, _) = sheet(folder.path(), "b.md", &["--randomized-response", "1", "--delta", "1e-6"]);
    assert!(local.contains("local model") && local.contains("| pure DP | epsilon = 1 |"), "{local}");
    // Rho is an upper bound on Poisson samples, and not printed as the mechanism's own.
    let (sampled, _) = sheet(folder.path(), "c.md", &["--sampled", "0.01:gaussian:1x10", "--delta", "1e-5"]);
    assert!(sampled.contains("| zero-concentrated DP | not given |"), "{sampled}");
}

/// Every sentence about a record names the unit of the account: a group of records, and several releases.
#[test]
fn a_group_and_repetitions_are_named_wherever_a_record_is() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--discrete-gaussian", "4x3", "--group", "2", "--repeat", "3", "--delta", "1e-6"];
    let (sheet_of_group, _) = sheet(folder.path(), "g.md", &args);
    for said in [
        "describes, released 3 times with noise of its own each time, is (18.174261",
        "one has up to 2 records that the other has not",
        "The unit of privacy is a group of up to 2 records",
        "the presence of a group of up to 2 records in the data",
        "each answered 3 times as declared",
    ] {
        assert!(sheet_of_group.contains(said), "{said}: {sheet_of_group}");
    }
    let (entry, _) = sheet(folder.path(), "g.yaml", &args);
    assert!(entry.contains("privacy_unit: \"A group of up to 2 records") && entry.contains("of 3 releases"), "{entry}");
    let page = folder.path().join("g.html");
    let mut said = assay(&[&["report"][..], &args, &["--out", page.to_str().unwrap()]].concat());
    let said = String::from_utf8(said.assert().success().get_output().stdout.clone()).unwrap();
    let words: Vec<&str> = said.split_whitespace().collect();
    assert!(words.join(" ").contains("in 3 releases whether a given set of up to 2 records is in the data"), "{said}");
    for text in [&sheet_of_group, &entry, &said] {
        assert!(
            !text.contains("is one record") && !text.contains("about one record") && !text.contains("given person"),
            "{text}"
        );
    }
    // Of one record, once, the sentence is about one record.
    let (one, _) = sheet(folder.path(), "one.md", &["--discrete-gaussian", "4x3", "--delta", "1e-6"]);
    assert!(
        one.contains("The unit of privacy is one record. Neighbors: add-remove (one record more or less)"),
        "{one}"
    );
}

/// A lower end is said to be necessary only of a mechanism that is declared itself.
#[test]
fn no_epsilon_is_said_to_be_too_small_where_the_mechanism_may_have_it() {
    let folder = tempfile::tempdir().unwrap();
    let release = folder.path().join("total.toml");
    let total = "name = \"t\"\ntitle = \"t\"\nsource = \"s\"\nneighbors = \"bounded\"\n[[level]]\nname = \"all\"\n[[level.query]]\nname = \"total\"\nsigma2 = 4\n";
    fs::write(&release, total).unwrap();
    let mechanisms = [
        (&["--pure", "1"][..], false),
        (&["--approximate", "1:1e-9"], false),
        (&["--pure", "1", "--discrete-gaussian", "4"], false),
        (&["--exponential", "1"], false),
        (&["--release", release.to_str().unwrap()], false),
        (&["--discrete-gaussian", "4", "--neighbors", "bounded"], true),
        (&["--discrete-gaussian", "4"], true),
        (&["--randomized-response", "1:4"], true),
    ];
    for (args, is_known) in mechanisms {
        let (text, _) = sheet(folder.path(), "a.md", &[args, &["--delta", "1e-6"]].concat());
        assert_eq!(text.contains("no epsilon below"), is_known, "{args:?}: {text}");
        assert_eq!(text.contains("may be more private"), !is_known, "{args:?}: {text}");
        let (entry, _) = sheet(folder.path(), "a.yaml", &[args, &["--delta", "1e-6"]].concat());
        assert_eq!(entry.contains("may be more private"), !is_known, "{args:?}: {entry}");
    }
}

/// Sentences on the noise are about every query of the sheet.
#[test]
fn noise_is_symmetric_and_of_one_size_only_where_every_law_is() {
    let folder = tempfile::tempdir().unwrap();
    for (args, is_symmetric, is_of_one_size) in [
        (&["--discrete-gaussian", "4", "--laplace", "2"][..], true, true),
        (&["--sampled", "0.01:gaussian:1x100"], false, false),
        (&["--pure", "1", "--discrete-gaussian", "4"], false, false),
        (&["--randomized-response", "1:4"], false, false),
    ] {
        let (text, _) = sheet(folder.path(), "a.md", &[args, &["--delta", "1e-6"]].concat());
        assert_eq!(text.contains("The noise is symmetric about 0"), is_symmetric, "{args:?}");
        assert_eq!(text.contains("The noise has the same size in a large group"), is_of_one_size, "{args:?}");
    }
}

/// The judge of the registry's entries, at a delta.
fn judged(text: &str, delta: &str) -> registry::JudgedEntry {
    let entry = Entry::parse("entry.yaml", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    registry::judge(entry, &delta.parse::<Delta>().unwrap(), 12).unwrap()
}

#[test]
fn the_registry_reads_an_entry_and_agrees() {
    let folder = tempfile::tempdir().unwrap();
    for (args, delta, variant) in [
        (&["--release", "su-su-wang-2025"][..], "1e-10", "Approximate DP"),
        (&["--release", "pl94-units-pr"], "1e-10", "Approximate DP"),
        (&["--release", "demo-2010-households-us"], "1e-9", "Pure DP"),
        (&["--discrete-gaussian", "40/3x7@2", "--neighbors", "bounded"], "1e-5", "Approximate DP"),
        (&["--discrete-laplace", "1/3x2@3"], "1e-5", "Pure DP"),
        (&["--gaussian", "1000/3x10"], "1/30000", "Approximate DP"),
    ] {
        let (text, _) = sheet(folder.path(), "entry.yaml", &[args, &["--delta", delta]].concat());
        assert!(text.contains(&format!("variant_name: \"{variant}\"")), "{text}");
        let found = judged(&text, delta);
        let wrong: Vec<_> = found.findings.iter().filter(|finding| finding.verdict != Verdict::Agrees).collect();
        assert!(wrong.is_empty() && found.verdict == Verdict::Agrees, "{args:?}: {wrong:?}\n{text}");
        // The parameter is the certified one, rounded up.
        let of = json(&[&["epsilon"][..], args, &["--delta", delta]].concat());
        let exact = match variant {
            "Pure DP" => json(&[&["epsilon"][..], args, &["--delta", "0"]].concat())["epsilon"]["upper"].as_f64(),
            _ => of["epsilon"]["upper"].as_f64(),
        };
        let printed: f64 = found.printed.epsilon.as_ref().unwrap().parse().unwrap();
        assert!(
            printed >= exact.unwrap() * (1.0 - 1e-12) && printed < exact.unwrap() * (1.0 + 1e-6),
            "{args:?}: {printed}"
        );
        let file = folder.path().join("entry.yaml");
        let answer = json(&["deployments", "--from", file.to_str().unwrap()]);
        assert_eq!(answer["deployments"][0]["verdict"], "agrees");
    }
    // What remains for the curator is said.
    let (text, _) = sheet(folder.path(), "entry.yaml", &["--approximate", "1:1e-9x3", "--delta", "1e-5"]);
    assert!(text.contains("To be completed: the intended use.") && text.contains("# deployment_model"));
    assert!(!judged(&text, "1e-5").verdict.is_wrong());
}

#[test]
fn a_wrong_figure_in_an_entry_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--release", "su-su-wang-2025", "--level", "State", "--level", "County", "--delta", "1e-10"];
    let (text, _) = sheet(folder.path(), "entry.yaml", &args);
    assert_eq!(judged(&text, "1e-10").verdict, Verdict::Agrees);
    let line = |start: &str| text.lines().find(|line| line.trim_start().starts_with(start)).unwrap().to_string();
    let mut planted = 0;
    for start in ["epsilon: ", "delta: ", "- Total: ", "- State: ", "- County: ", "- State / "] {
        let whole = line(start);
        // The last number of the line, or of a calculation its result.
        let digits = whole.rsplit([' ', '=']).next().unwrap();
        let value: f64 = digits.parse().unwrap();
        let wrong = whole.replacen(digits, &format!("{:.6e}", value * 3.7), 1);
        let wrong = if start.starts_with('-') {
            wrong.replace(&format!("{:.6e}", value * 3.7), &(value * 3.7).to_string())
        } else {
            wrong
        };
        let found = judged(&text.replacen(&whole, &wrong, 1), "1e-10");
        assert!(found.verdict.is_wrong(), "{wrong}: {:?}", found.findings);
        planted += 1;
    }
    assert_eq!(planted, 6);
}

#[test]
fn names_with_any_content_stay_text() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.toml");
    let release = "name = \"a: b # c\"\ntitle = \"\\\"quoted\\\" \\u0007 {x} & <b>\\n- item: 5\"\nsource = \"|\\n  key: *a\"\nneighbors = \"add-remove\"\n\
                   [[level]]\nname = \"- x: |\\nurl_slug: y\"\n[[level.query]]\nname = \"<i>\"\nsigma2 = \"5\"\n[[level]]\nname = \"\\u2028b\"\n[[level.query]]\nname = \"q\"\nsigma2 = \"7\"\n";
    fs::write(&file, release).unwrap();
    let args = ["--release", file.to_str().unwrap(), "--delta", "1e-6"];
    let (text, _) = sheet(folder.path(), "entry.yaml", &args);
    assert_eq!(judged(&text, "1e-6").verdict, Verdict::Agrees, "{text}");
    let (html, _) = sheet(folder.path(), "sheet.html", &args);
    assert!(!html.contains("<b>") && !html.contains("<i>") && html.contains("&lt;i&gt;"));
}

#[test]
fn sheets_alone_need_no_page_and_bad_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let counts = ["report", "--discrete-gaussian", "5x10"];
    let (page, nist, entry) = (at("page.html"), at("sheet.md"), at("entry.yaml"));
    let answer: Value = json(&[&counts[..], &["--nist", &nist, "--registry", &entry]].concat());
    assert_eq!((&answer["nist"], &answer["registry"]), (&nist.as_str().into(), &entry.as_str().into()));
    assert_eq!(answer["to_complete"].as_array().unwrap().len(), Point::ALL.len());
    assert!(answer["epsilon"]["upper"].is_number() && answer["correct_decision_upper"]["upper"].is_number());
    let both = json(&[&counts[..], &["--out", &page, "--nist", &nist]].concat());
    assert!(both["out"] == page.as_str() && both["nist"] == nist.as_str() && both["compared_with"].is_object());
    let before = fs::read_dir(folder.path()).unwrap().count();
    for (args, said) in [
        (vec!["--nist", &at("sheet.pdf")], "a browser prints it"),
        (vec!["--registry", &at("entry.json")], "YAML is written here"),
        (vec!["--registry", folder.path().to_str().unwrap()], "--registry"),
        (vec!["--nist", &at("none/sheet.md")], "there is no folder"),
        (vec![], "--out"),
    ] {
        let message = refusal(&[&counts[..], &args].concat());
        assert!(message.contains(said), "{args:?}: {message}");
    }
    let infinite = ["report", "--approximate", "1:1e-5", "--delta", "1e-6", "--registry", &at("other.yaml")];
    unanswered(&infinite, "no epsilon is finite");
    let message = refusal(&["report", "--discrete-gaussian", "1e-6x9", "--registry", &at("other.yaml")]);
    assert!(message.contains("at most 1000000"), "{message}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before);
}
