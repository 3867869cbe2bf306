//! Answers as command lines, release files and notebook cells; and the release of a table of the user's own.

use std::fs;

use serde_json::{Value, json};

use super::{Server, rows, shell_words, text};
use crate::common::program::{assay, json};

/// The command lines, the release file and the cell of an answer; the file is written to the folder of the server.
fn exported(server: &Server, reply: &Value, kind: &str) -> Vec<(String, String)> {
    let of_kind = |one: &&Value| one["kind"] == kind;
    let all = reply["exports"].as_array().expect("exports").iter().filter(of_kind);
    all.map(|one| {
        if kind == "release" {
            fs::write(server.folder().join(text(&one["name"])), text(&one["text"])).expect("written");
        }
        (text(&one["text"]), one["note"].as_str().unwrap_or_default().to_string())
    })
    .collect()
}

/// The upper end of a number.
fn upper(value: &Value) -> f64 {
    value["upper"].to_string().parse().expect("a number")
}

/// The output of a command line of the page, without its provenance.
fn printed(server: &Server, line: &str) -> Value {
    let words = shell_words(line);
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let output = assay(&words).current_dir(server.folder()).assert().success().get_output().stdout.clone();
    let mut printed: Value = serde_json::from_slice(&output).expect("JSON");
    printed.as_object_mut().expect("an object").remove("provenance").expect("a provenance");
    printed
}

/// The release file of every view gives the same numbers, and the cell names the same mechanism.
#[test]
fn every_view_is_exported_as_a_release_file_and_a_cell() {
    let server = Server::start(&[]);
    let release = "su-su-wang-2025";
    let own = json!(["5x3", "40/3x2@2"]);
    for (question, key, options, cell) in [
        (
            "epsilon",
            "epsilon",
            json!({ "release": release, "delta": "1e-10" }),
            "Release(\"su-su-wang-2025\")\nrelease.epsilon(\"1e-10\", digits=12)",
        ),
        (
            "epsilon",
            "epsilon",
            json!({ "release": release, "level": ["State", "US"], "neighbors": "bounded", "group": 2, "delta": "2e-7", "digits": 8 }),
            "levels=[\"State\",\"US\"], neighbors=\"bounded\", group=2)\nrelease.epsilon(\"2e-7\", digits=8)",
        ),
        (
            "epsilon",
            "epsilon",
            json!({ "release": release, "level": ["State"], "discrete-gaussian": own, "discrete-laplace": ["1/10"], "delta": "1e-9" }),
            "Release.from_toml(\"\"\"",
        ),
        (
            "epsilon",
            "epsilon",
            json!({ "discrete-gaussian": own, "neighbors": "bounded", "counts-as-given": true, "delta": "1e-9" }),
            "from_toml",
        ),
        ("epsilon", "epsilon", json!({ "sampled": ["0.01:gaussian:1x50"], "delta": "1e-5", "digits": 6 }), "from_toml"),
        (
            "bound",
            "correct_decision_upper",
            json!({ "release": release, "prior": "1/3", "delta": "1e-10", "digits": 8 }),
            "release.risk(\"1/3\", delta=\"1e-10\", digits=8)",
        ),
        (
            "risk",
            "factor",
            json!({ "discrete-gaussian": own, "advantage": "0.3", "scale-all": true, "digits": 8 }),
            "release.calibrate(advantage=\"0.3\", grid=\"factor\", digits=8)[\"factor\"]",
        ),
        (
            "calibrate",
            "levels",
            json!({ "release": release, "level": ["US", "State"], "delta": "1e-11", "digits": 8 }),
            "level.calibrate(\"1e-11\", digits=8)",
        ),
    ] {
        let (status, reply) = server.ask(question, options.clone());
        assert_eq!(status, 200, "{options}: {reply}");
        let commands = exported(&server, &reply, "command");
        assert_eq!(commands[0].0.trim_end(), text(&reply["command"]), "{options}");
        let [(_, line)] = &exported(&server, &reply, "release")[..] else { panic!("a release: {reply}") };
        assert!(line.contains("--release=") && line.contains(".toml"), "{line}");
        // The counts given are a level of the file under the same name.
        assert_eq!(printed(&server, line)[key], reply["answer"][key], "{line}");
        let [(python, _)] = &exported(&server, &reply, "cell")[..] else { panic!("a cell: {reply}") };
        assert!(python.starts_with("from dp_assay import Release\n") && python.contains(cell), "{python}");
    }
}

/// Noise for margins of error, margins of a place, and answers that no file or cell can give.
#[test]
fn exports_of_accuracy_and_of_files_of_the_user() {
    let server = Server::start(&[]);
    let release = "su-su-wang-2025";
    let (_, reply) = server.ask(
        "accuracy",
        json!({ "release": release, "level": ["State", "County"], "margin": ["County=3"], "delta": "1e-9" }),
    );
    let [(_, line)] = &exported(&server, &reply, "release")[..] else { panic!("a release: {reply}") };
    let [needed, spent] = [&reply["answer"], &printed(&server, line)].map(|answer| upper(&answer["epsilon"]));
    assert!((needed - spent).abs() < 1e-6 * needed, "{line}");
    assert!(exported(&server, &reply, "cell")[0].0.contains("release.epsilon(\"1e-9\", digits=8)"), "{reply}");
    let town =
        json!({ "release": release, "delta": "1e-10", "place": "US", "query": "each of ten", "count": 7, "digits": 8 });
    let (_, reply) = server.ask("margins", town);
    let cell = &exported(&server, &reply, "cell")[0].0;
    assert!(cell.contains(".errors(7, digits=8) for sigma2 in (\"5000/73\", "), "{cell}");
    // What no file can say has a reason; a moving slider has no files.
    let given = json!({ "release": release, "discrete-gaussian": ["5"], "neighbors": "bounded", "counts-as-given": true, "delta": "1e-9" });
    let (_, reply) = server.ask("epsilon", given);
    assert!(reply["exports"][1]["note"].as_str().expect("a reason").contains("counts as given"), "{reply}");
    let (_, reply) = server
        .post("epsilon", &json!({ "options": { "release": release, "delta": "1e-9", "digits": 6 }, "moving": true }));
    assert_eq!(reply["exports"].as_array().expect("exports").len(), 1);
    // A file of the user that has the name of a bundled release is not that release.
    let toml = "name = \"su-su-wang-2025\"\ntitle = \"t\"\nsource = \"s\"\nneighbors = \"add-remove\"\n[[level]]\nname = \"a\"\n\
                [[level.query]]\nname = \"q\"\nsigma2 = 7\n";
    assert_eq!(server.post("release", &json!({ "name": "mine.toml", "text": toml })).0, 200);
    let (_, reply) = server.ask("epsilon", json!({ "release": "mine.toml", "delta": "1e-9" }));
    assert!(exported(&server, &reply, "cell")[0].0.contains("sigma2 = 7"), "{reply}");
}

/// A table of the user's own: names and sizes of columns, and queries.
fn own_table(changes: Value) -> Value {
    let query = |level: &str, columns: &[&str], law: &str, by_share: bool, amount: &str| json!({ "level": level, "columns": columns, "law": law, "by_share": by_share, "amount": amount });
    let mut form = json!({
        "name": "it's mine", "neighbors": "add-remove", "rho": "0.5", "levels": ["nation", "region"],
        "columns": [{ "name": "sex", "size": "2" }, { "name": "year of \"birth\"", "size": "120" }],
        "queries": [
            query("nation", &[], "discrete-gaussian", true, "1"),
            query("nation", &["sex"], "discrete-laplace", false, "1/10"),
            query("region", &["sex", "year of \"birth\""], "discrete-gaussian", true, "3"),
            query("region", &[], "discrete-laplace", true, "1"),
        ],
    });
    let object = form.as_object_mut().expect("an object");
    object.extend(changes.as_object().expect("an object").clone());
    form
}

fn ask_table(server: &Server, form: &Value) -> (u16, Value) {
    let file = json!({ "name": "columns", "text": form.to_string() });
    server.post("columns", &json!({ "options": { "delta": "1e-10", "digits": 12 }, "file": file }))
}

#[test]
fn own_columns_are_the_same_number_in_three_forms() {
    let server = Server::start(&[]);
    for relation in ["add-remove", "bounded"] {
        let (status, reply) = ask_table(&server, &own_table(json!({ "neighbors": relation })));
        assert_eq!(status, 200, "{reply}");
        let [(toml, line)] = &exported(&server, &reply, "release")[..] else { panic!("a release: {reply}") };
        assert!(line.starts_with("assay epsilon --release=it-s-mine.toml"), "{line}");
        assert_eq!((text(&reply["command"]), &printed(&server, line)), (line.clone(), &reply["answer"]));
        let [(alone, _)] = &exported(&server, &reply, "alone")[..] else { panic!("a command: {reply}") };
        assert!(!alone.contains("--release") && alone.contains("--discrete-laplace=0.1"), "{alone}");
        assert_eq!(printed(&server, alone.trim_end())["epsilon"], reply["answer"]["epsilon"], "{alone}");
        let [(cell, _)] = &exported(&server, &reply, "cell")[..] else { panic!("a cell: {reply}") };
        assert!(
            cell.contains("Release.from_toml(") && cell.contains("release.epsilon(\"1e-10\", digits=12)"),
            "{cell}"
        );
        assert!(toml.contains(&format!("neighbors = \"{relation}\"")) && toml.contains("size = 120"), "{toml}");
        // Names and sizes, and no other number of the table: the shares are exact.
        let sigma2 = if relation == "bounded" { "\"10/3\"" } else { "\"5/3\"" };
        assert!(toml.contains(&format!("sigma2 = {sigma2}")), "{toml}");
        let cells = rows(&reply, 0);
        assert_eq!(cells.iter().map(|row| row[1].as_str()).collect::<Vec<_>>(), ["1", "2", "240", "1"]);
        // The variance of discrete Laplace noise: 2 q / (1 - q)^2 with q = exp(-epsilon).
        let q = (-0.1_f64).exp();
        let shown: f64 = cells[1][4].parse().expect("a number");
        assert!((shown - (2.0 * q).sqrt() / (1.0 - q)).abs() < 1e-5, "{cells:?}");
        let sigma2 = if relation == "bounded" { "10" } else { "5" };
        let errors = json(&["errors", "--discrete-gaussian", sigma2, "--count", "0"]);
        assert_eq!(cells[0][5], errors["noise"][0]["margin_95"].to_string(), "{cells:?}");
    }
}

#[test]
fn own_columns_that_are_wrong_are_named() {
    let server = Server::start(&[]);
    let column = |name: &str, size: &str| {
        json!({ "columns": [{ "name": name, "size": size }], "queries": [
        { "level": "nation", "columns": [], "law": "discrete-gaussian", "by_share": true, "amount": "1" }] })
    };
    for (changes, part) in [
        (json!({ "rho": "0" }), "the budget rho that queries share"),
        (json!({ "rho": "x" }), "--spend"),
        (json!({ "neighbors": "near" }), "--relation"),
        (json!({ "name": "" }), "--called"),
        (json!({ "queries": [] }), "no query"),
        (json!({ "levels": ["nation", "nation"] }), "twice"),
        (json!({ "levels": ["region"] }), "nation"),
        (json!({ "columns": [] }), "unknown column"),
        (column("sex", ""), "the column \"sex\": the size"),
        (column("sex", "2.5"), "a whole number of values"),
        (column("sex", "0"), "1 or more values"),
        (column("total", "2"), "have a meaning in queries"),
        (column("a\u{1}b", "2"), "printable"),
        (json!({ "more": 1 }), "more"),
    ] {
        let (status, reply) = ask_table(&server, &own_table(changes.clone()));
        let error = reply["error"].as_str().unwrap_or_default();
        assert!(status == 400 && error.contains(part), "{changes}: {reply}");
    }
    // Sizes beyond a histogram are accounted for; only then is the file without one.
    let (status, reply) = ask_table(&server, &own_table(column("code", "1000000000000")));
    assert!(status == 200 && !text(&reply["file"]["text"]).contains("[[attribute]]"), "{reply}");
    assert!(reply["notes"].to_string().contains("too many cells"), "{reply}");
}
