//! `assay explore`: which requests are answered, and that every answer is that of the command with `--json`. The page itself is tested in a
//! browser by `scripts/tests/test-explore`.
#![cfg(feature = "explore")]

#[path = "explore/exports.rs"]
mod exports;
#[path = "explore/server.rs"]
mod server;

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use server::Server;

use crate::common::program::{assay, json, refusal};

#[test]
fn the_page_is_whole_and_allows_nothing_else() {
    let server = Server::start(&[]);
    let page = server.get("");
    assert_eq!(page.status, 200);
    for (header, part) in [
        ("content-security-policy", "default-src 'none'; script-src 'self'; style-src 'self';"),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("content-type", "text/html"),
    ] {
        assert!(page.header(header).starts_with(part), "{header}: {}", page.header(header));
    }
    assert!(
        !page.header("content-security-policy").contains("unsafe")
            && page.header("access-control-allow-origin").is_empty()
    );
    // Everything that the page and its scripts refer to exists, and all of it is local.
    let mut names: Vec<String> = named(&page.body, "\"").collect();
    for name in names.clone() {
        names.extend(named(&server.get(&name).body, "\"./"));
    }
    names.sort();
    names.dedup();
    assert!(names.len() >= 10, "{names:?}");
    for name in names {
        let file = server.get(&name);
        assert_eq!(file.status, 200, "{name}");
        assert!(!file.body.contains("https:") && !file.body.contains("@import"), "{name}");
        let strange = file.body.replace("http://www.w3.org/2000/svg", "");
        assert!(!strange.contains("http:"), "{name}");
    }
}

/// The files of the page that follow `before` in a text.
fn named<'t>(text: &'t str, before: &'t str) -> impl Iterator<Item = String> + 't {
    let ends = [".js", ".css", ".svg"];
    let name = move |rest: &str| {
        rest.split('"').next().filter(|name| ends.iter().any(|end| name.ends_with(end))).map(String::from)
    };
    text.split(before).skip(1).filter_map(name).filter(|name| !name.contains(['/', ' ', '`', '$']))
}

#[test]
fn requests_without_permission_are_refused_before_any_answer() {
    let server = Server::start(&[]);
    let host = server.host();
    let path = format!("/{}/", server.token);
    let get =
        |path: &str, headers: &str| server.raw(&format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n"));
    let own = format!("Host: {host}\r\n");
    assert_eq!(get(&path, &own).status, 200);
    assert_eq!(get(&path, &format!("Host: localhost:{}\r\n", server.port)).status, 200);
    for headers in [
        "Host: evil.example\r\n".to_string(),
        format!("Host: evil.example:{}\r\n", server.port),
        "Host: 127.0.0.1\r\n".to_string(),
        format!("{own}Host: evil.example\r\n"),
        format!("{own}Origin: http://evil.example\r\n"),
        format!("{own}Origin: null\r\n"),
        format!("{own}Origin: https://{host}\r\n"),
        format!("{own}Sec-Fetch-Site: cross-site\r\n"),
        String::new(),
    ] {
        let reply = get(&path, &headers);
        assert!((400..404).contains(&reply.status), "{headers:?}: {}", reply.status);
        assert!(!reply.body.contains(&server.token) && !reply.body.contains("<html"), "{headers:?}");
    }
    let wrong = format!("/{}/", "0".repeat(server.token.len()));
    let shorter = format!("/{}/", &server.token[1..]);
    let bare = format!("/{}", server.token);
    for path in ["/", "/index.html", "/api/start", "/?token=x", &wrong, &shorter, &bare, "//"] {
        let reply = get(path, &own);
        assert_eq!(reply.status, 403, "{path}");
        assert!(reply.body.contains("token") && !reply.body.contains(&server.token), "{path}");
    }
    // 127.0.0.2 is also this machine, but not this socket.
    assert!(TcpStream::connect(("127.0.0.2", server.port)).is_err());
}

#[test]
fn paths_lead_to_no_file() {
    let server = Server::start(&[]);
    for path in [
        "../Cargo.toml",
        "..%2fCargo.toml",
        "%2e%2e/Cargo.toml",
        "....//Cargo.toml",
        "/etc/passwd",
        "style.css/",
        "style.css%00",
        "STYLE.CSS",
        "api",
        "api/",
        "api/../style.css",
        "api/rm",
        "page/style.css",
        "\u{fffd}",
    ] {
        let reply = server.get(path);
        assert!(matches!(reply.status, 400 | 404), "{path}: {}", reply.status);
        assert!(!reply.body.contains("[package]") && !reply.body.contains("root:"), "{path}");
    }
    for release in ["Cargo.toml", "./Cargo.toml", "/etc/passwd", "data/releases/su-su-wang-2025.toml", "../x.toml", ""]
    {
        let (status, answer) = server.ask("epsilon", json!({ "release": release, "delta": "1e-10" }));
        assert_eq!(status, 400, "{release}");
        let error = answer["error"].as_str().expect("an error");
        assert!(error.starts_with("--release: unknown release"), "{error}");
    }
}

#[test]
fn invalid_requests_are_refused_and_the_next_one_is_answered() {
    let server = Server::start(&[]);
    let path = format!("/{}/api/epsilon", server.token);
    let post = |path: &str, headers: &str, body: &[u8]| {
        let head = format!("POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n", server.host());
        server.raw_bytes(&[head.as_bytes(), body].concat())
    };
    let with = |kind: &str, body: &[u8]| {
        post(&path, &format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len()), body)
    };
    let json = "application/json";
    assert_eq!(server.get("api/epsilon").status, 405);
    assert_eq!(post(&format!("/{}/style.css", server.token), "Content-Length: 0\r\n", b"").status, 405);
    assert_eq!(with("text/plain", b"{}").status, 415);
    assert_eq!(with("application/x-www-form-urlencoded", b"a=b").status, 415);
    for body in [&b"{"[..], b"", b"[]", b"null", b"\xff\xfe", br#"{"options": 3}"#, br#"{"options": {"delta": {}}}"#] {
        let reply = with(json, body);
        assert_eq!(reply.status, 400, "{}", String::from_utf8_lossy(body));
        assert!(reply.body.contains("\"error\""), "{}", reply.body);
    }
    let deep = "[".repeat(100_000);
    assert_eq!(with(json, deep.as_bytes()).status, 400);
    // A body that is too long, and one whose declared length is too long but never arrives.
    assert_eq!(with(json, &vec![b' '; (1 << 20) + 1]).status, 413);
    let chunked = format!("Content-Type: {json}\r\nTransfer-Encoding: chunked\r\n");
    let chunks: Vec<u8> = [b"10000\r\n".to_vec(), vec![b' '; 0x10000], b"\r\n".to_vec()].concat().repeat(20);
    assert_eq!(post(&path, &chunked, &chunks).status, 413);
    assert_eq!(post(&path, &format!("X: {}\r\n", "x".repeat(40_000)), b"").status, 431);
    assert_eq!(post(&path, &"X: y\r\n".repeat(200), b"").status, 431);
    for (options, part) in [
        (json!({ "delta": "0", "release": "su-su-wang-2025" }), "--delta"),
        (json!({ "delta": "1e-10" }), "nothing to account for"),
        (json!({ "release": "su-su-wang-2025" }), "--delta"),
        (json!({ "release": "su-su-wang-2025", "delta": "1e-10", "level": "Moon" }), "Moon"),
        (json!({ "discrete-gaussian": "x", "delta": "1e-10" }), "--discrete-gaussian"),
        (json!({ "discrete-gaussian": "5", "delta": "1e-10", "svg": "/tmp/x.svg" }), "no option"),
        (json!({ "discrete-gaussian": "5", "delta": "1e-10", "digits": 250 }), "--digits"),
    ] {
        let (status, answer) = server.ask("epsilon", options.clone());
        assert_eq!(status, 400, "{options}");
        assert!(answer["error"].as_str().expect("an error").contains(part), "{options}: {answer}");
    }
    assert_eq!(server.ask("epsilon", json!({ "discrete-gaussian": "5", "delta": "1e-10" })).0, 200);
}

#[test]
fn slow_clients_are_let_go_and_others_are_answered_meanwhile() {
    let server = Server::start(&[]);
    let mut slow: Vec<TcpStream> = (0..20).map(|_| server.connect()).collect();
    for (k, stream) in slow.iter_mut().enumerate() {
        let length = "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
        let request = match k % 3 {
            0 => String::new(),
            1 => format!("GET /{}/ HTTP/1.1\r\nHost: ", server.token),
            _ => format!("POST /{}/api/epsilon HTTP/1.1\r\nHost: {}\r\n{length}", server.token, server.host()),
        };
        stream.write_all(request.as_bytes()).expect("sent");
    }
    let began = Instant::now();
    assert_eq!(server.get("style.css").status, 200);
    assert!(began.elapsed() < Duration::from_secs(5));
    for stream in &mut slow {
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        let mut rest = Vec::new();
        let end = stream.read_to_end(&mut rest);
        let is_closed =
            end.as_ref().is_ok() || end.as_ref().is_err_and(|error| error.kind() == ErrorKind::ConnectionReset);
        assert!(is_closed, "{end:?}");
    }
}

/// An answer of the page against the output of its command line: they agree except for the provenance.
fn agrees(server: &Server, question: &str, options: Value) -> Value {
    let (status, reply) = server.ask(question, options.clone());
    assert_eq!(status, 200, "{question} {options}: {reply}");
    let line = reply["command"].as_str().expect("a command line");
    let words = shell_words(line);
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let printed = assay(&words).current_dir(server.folder()).assert().success().get_output().stdout.clone();
    let mut printed: Value = serde_json::from_slice(&printed).expect("JSON");
    printed.as_object_mut().expect("an object").remove("provenance").expect("a provenance");
    // What releases of one deployment give together takes longer than a slider moves.
    printed.as_object_mut().expect("an object").remove("together");
    assert_eq!(reply["answer"], printed, "{line}");
    let as_text: Value = serde_json::from_str(reply["json"].as_str().expect("text")).expect("JSON");
    assert_eq!(as_text, printed);
    if !words.contains(&"--crossings") {
        let format: Vec<&str> =
            words.iter().filter(|word| **word != "--json").copied().chain(["--format", "csv"]).collect();
        let csv = assay(&format).current_dir(server.folder()).assert().success().get_output().stdout.clone();
        assert_eq!(reply["csv"].as_str().expect("CSV"), String::from_utf8(csv).expect("UTF-8"), "{line}");
    }
    assert!(reply["said"][0].as_str().is_some_and(|said| !said.is_empty()) && reply["assumed"][0].is_string());
    reply
}

/// The words of a command line, split like by a shell.
fn shell_words(line: &str) -> Vec<String> {
    let script = format!("for word in {line}; do printf '%s\\n' \"$word\"; done");
    let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(String::from).collect()
}

#[test]
fn answers_are_those_of_the_commands() {
    let server = Server::start(&[]);
    let release = "su-su-wang-2025";
    for delta in ["1e-10", "2e-5"] {
        agrees(&server, "epsilon", json!({ "release": release, "delta": delta, "digits": 12 }));
    }
    let own = json!({ "discrete-gaussian": ["5x10", "40/3x7@2"], "discrete-laplace": ["0.1x3"], "delta": "1e-9", "group": 2, "neighbors": "bounded" });
    let reply = agrees(&server, "epsilon", own);
    assert!(reply["said"][0].as_str().expect("words").starts_with("What is published has an epsilon of "));
    let levels = json!({ "release": release, "level": ["Tract Subset", "State"], "delta": "1e-11", "digits": 20, "queries": true });
    agrees(&server, "epsilon", levels);
    let reply = agrees(&server, "bound", json!({ "release": release, "prior": "1/2", "delta": "1e-10" }));
    assert!(reply["said"][0].as_str().expect("words").contains("right at most 91.2 % of the time"), "{reply}");
    agrees(&server, "bound", json!({ "discrete-gaussian": "5", "prior": "1/864", "delta": "1e-3", "digits": 8 }));
    // When a slider moves, unchanged settings are kept, and the numbers are those of the command.
    for (prior, delta, digits) in [("1/3", "1e-10", 12), ("1/3", "1e-9", 12), ("0.7", "1e-9", 12), ("0.7", "1e-9", 7)] {
        agrees(&server, "bound", json!({ "release": release, "prior": prior, "delta": delta, "digits": digits }));
    }
    let reply = agrees(
        &server,
        "calibrate",
        json!({ "release": release, "delta": "1e-11", "match": "zcdp", "crossings": true }),
    );
    assert!(reply["charts"][0]["svg"].as_str().expect("a drawing").starts_with("<svg role=\"img\""));
    agrees(
        &server,
        "calibrate",
        json!({ "release": release, "delta": "1e-10", "epsilon": "15", "scale-all": true, "decimals": 3 }),
    );
    agrees(
        &server,
        "calibrate",
        json!({ "discrete-gaussian": "50x3", "delta": "1e-10", "match": "zcdp", "queries": true }),
    );
    // While a slider moves, only GDP's epsilon and the second enclosure are omitted.
    let options = json!({ "release": release, "delta": "1e-10", "digits": 6 });
    let body = json!({ "options": options, "moving": true });
    let (_, mut rest) = server.ask("epsilon", options.clone());
    let (_, moving) = server.post("epsilon", &body);
    let remove = |line: &mut Value| {
        let line = line.as_object_mut().expect("an object");
        assert!(line.remove("gdp_epsilon").is_some() && line.remove("second_enclosure").is_some());
    };
    remove(&mut rest["answer"]);
    rest["answer"]["levels"].as_array_mut().expect("levels").iter_mut().for_each(remove);
    assert_eq!(moving["answer"], rest["answer"]);
}

/// The noise that a target of risk needs is that of the command.
#[test]
fn noise_follows_from_a_target_of_risk() {
    let server = Server::start(&[]);
    let release = "su-su-wang-2025";
    for target in [
        json!({ "posterior": "0.6", "prior": "1/2" }),
        json!({ "advantage": "0.3" }),
        json!({ "alpha": "0.05", "beta": "0.8" }),
    ] {
        let mut options = target.clone();
        options["discrete-gaussian"] = json!(["5x10", "40/3x7@2"]);
        options["scale-all"] = json!(true);
        options["digits"] = json!(8);
        let reply = agrees(&server, "risk", options);
        let said = reply["said"][0].as_str().expect("words");
        assert!(said.starts_with("So that ") && said.contains("all noise has to be scaled by"), "{said}");
        assert!(reply["charts"][0]["svg"].as_str().expect("a drawing").starts_with("<svg"));
    }
    let reply = agrees(
        &server,
        "risk",
        json!({ "release": release, "posterior": "0.95", "prior": "1/2", "scale-all": true, "digits": 6 }),
    );
    assert!(
        reply["said"][0].as_str().expect("words").contains("right at most 95 times in 100, all noise may be scaled")
    );
    let (status, answer) = server.ask("risk", json!({ "discrete-gaussian": "5", "posterior": "0.4", "prior": "1/2" }));
    assert!(status == 400 && text(&answer["error"]).contains("above 0.5"), "{answer}");
    assert_eq!(server.ask("risk", json!({ "discrete-gaussian": "5" })).0, 400);
}

/// The epsilon that margins of error need is that of the command.
#[test]
fn epsilon_follows_from_margins_of_error() {
    let server = Server::start(&[]);
    let release = "su-su-wang-2025";
    for relation in [None, Some("bounded")] {
        let mut options =
            json!({ "release": release, "level": ["State", "County"], "margin": ["County=3"], "delta": "1e-9" });
        if let Some(relation) = relation {
            options["neighbors"] = json!(relation);
        }
        let (status, reply) = server.ask("accuracy", options);
        assert_eq!(status, 200, "{reply}");
        let file = server.folder().join(text(&reply["file"]["name"]));
        fs::write(&file, text(&reply["file"]["text"])).expect("written");
        let words = shell_words(&text(&reply["command"]));
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let printed = assay(&words).current_dir(server.folder()).assert().success().get_output().stdout.clone();
        let mut printed: Value = serde_json::from_slice(&printed).expect("JSON");
        printed.as_object_mut().expect("an object").remove("provenance").expect("a provenance");
        // The noise, and with it every number; how the counts were given is another matter.
        for key in ["epsilon", "queries", "rho", "correct_decision"] {
            assert_eq!(reply["answer"][key], printed[key], "{key}");
        }
        for query in reply["answer"]["queries"].as_array().expect("queries") {
            let most = if text(&query["name"]).starts_with("County") { 3 } else { 10 };
            assert_eq!(query["margin_95"].as_i64(), Some(most), "{query}");
        }
    }
    for (options, part) in [
        (json!({ "release": release, "margin": ["Moon=3"], "delta": "1e-9" }), "Moon"),
        (json!({ "release": release, "margin": ["State"], "delta": "1e-9" }), "LEVEL=MARGIN"),
        (json!({ "release": release, "margin": ["State=-1"], "delta": "1e-9" }), "expected a whole number"),
        (json!({ "release": "demo-2010-households-us", "delta": "1e-9" }), "--release"),
    ] {
        let (status, answer) = server.ask("accuracy", options.clone());
        assert!(status == 400 && text(&answer["error"]).contains(part), "{options}: {answer}");
    }
}

/// The page has the list of laws from the program, and each of them has the answers of the command.
#[test]
fn every_law_has_the_answers_of_the_commands() {
    let server = Server::start(&[]);
    let start: Value = serde_json::from_str(&server.get("api/start").body).expect("JSON");
    let laws = start["laws"].as_array().expect("laws");
    let names = |law: &Value| -> Vec<String> {
        law["parameters"].as_array().expect("parameters").iter().map(|one| text(&one["name"])).collect()
    };
    let known: Vec<(String, Vec<String>)> = laws.iter().map(|law| (text(&law["key"]), names(law))).collect();
    for (key, parameters) in [
        ("discrete-gaussian", &["sigma2"][..]),
        ("discrete-laplace", &["epsilon"]),
        ("gaussian", &["sigma2"]),
        ("truncated-laplace", &["epsilon", "bound"]),
        ("truncated-gaussian", &["sigma2", "bound"]),
        ("randomized-response", &["epsilon", "answers"]),
        ("pure", &["epsilon"]),
        ("approximate", &["epsilon", "delta"]),
    ] {
        assert!(known.iter().any(|(own, names)| own == key && names == parameters), "{key}: {known:?}");
    }
    for law in laws {
        // The first values of the page, as it writes them.
        let first: Vec<String> =
            law["parameters"].as_array().expect("parameters").iter().map(|one| text(&one["first"])).collect();
        let (key, counts) = (text(&law["key"]), format!("{}x3", first.join(":")));
        // Of random rounding many outputs are possible for one neighbor only.
        let delta = if key == "random-rounding" { "3/4" } else { "1e-3" };
        agrees(&server, "epsilon", json!({ (key.as_str()): [counts], "delta": delta }));
        agrees(&server, "bound", json!({ (key.as_str()): [counts], "delta": "1e-3", "prior": "1/3", "digits": 8 }));
        assert!(!text(&law["name"]).is_empty(), "{law}");
    }
    let both = json!({ "discrete-gaussian": ["5x10"], "approximate": ["1/2:1e-12x2", "1:1e-11"], "truncated-laplace": ["1/2:60x2@3"],
        "delta": "1e-9", "neighbors": "bounded" });
    let reply = agrees(&server, "epsilon", both);
    assert!(reply["answer"]["infinite_loss_mass"].is_object(), "{reply}");
    // A delta below the probability of an infinite loss, and parameters that are missing, too many or out of range.
    for (options, part) in [
        (json!({ "approximate": ["1:1e-3"], "delta": "1e-4" }), "no epsilon is finite at delta"),
        (json!({ "approximate": ["1"], "delta": "1e-3" }), "--approximate 1: "),
        (json!({ "pure": ["1:2"], "delta": "1e-3" }), "--pure 1:2: "),
        (json!({ "truncated-laplace": ["1:3@1001"], "delta": "1e-3" }), "--truncated-laplace 1:3@1001: "),
        (json!({ "truncated-laplace": ["1:3@9"], "delta": "1e-3" }), "with probability 1"),
        (json!({ "law nosuch": ["1"], "delta": "1e-3" }), "no option \"law nosuch\""),
    ] {
        let (status, answer) = server.ask("epsilon", options.clone());
        assert!(status == 400 && text(&answer["error"]).contains(part), "{options}: {answer}");
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_string()
}

#[test]
fn one_count_and_its_errors() {
    let server = Server::start(&[]);
    let release = "su-su-wang-2025";
    let options = json!({ "release": release, "level": ["Block"], "query": "each of ten", "prior": "1/10" });
    let reply = agrees(&server, "single", options);
    assert!(reply["said"][0].as_str().expect("words").contains("Block, each of ten"));
    let options = json!({ "discrete-gaussian": "5", "level": ["Block"], "query": "each of ten", "prior": "1/10" });
    assert_eq!(server.ask("single", options).0, 400);
    agrees(&server, "single", json!({ "rho": "0.099,0.246", "prior": "1/2", "digits": 8 }));
    let options = json!({ "release": release, "place": "County", "query": "each of ten", "count": "50", "delta": "1e-10", "match": "zcdp" });
    let reply = agrees(&server, "margins", options);
    let noise = &reply["answer"]["noise"];
    let county = &json(&[
        "calibrate",
        "--release",
        release,
        "--level",
        "County",
        "--delta",
        "1e-10",
        "--match",
        "zcdp",
    ])["levels"][0];
    assert_eq!(noise[1]["sigma2"], county["calibrated_sigma2"]);
    let row = rows(&reply, 1).into_iter().find(|row| row[0].starts_with("County, ")).expect("a row");
    assert_eq!([&row[2], &row[4]], [&noise[0]["margin_95"].to_string(), &noise[1]["margin_95"].to_string()]);
    let laplace = json!({ "discrete-laplace": "1x3", "delta": "1e-10", "match": "zcdp" });
    assert_eq!(server.ask("margins", laplace).0, 400);
}

/// The rows of a table of an answer.
fn rows(reply: &Value, table: usize) -> Vec<Vec<String>> {
    serde_json::from_value(reply["tables"][table]["rows"].clone()).expect("rows of text")
}

/// The answer about changed budgets, compared with the output of the command for the file that comes with it.
fn moved(server: &Server, options: Value) -> Value {
    let (status, reply) = server.ask("budget", options);
    assert_eq!(status, 200, "{reply}");
    let file = server.folder().join(reply["file"]["name"].as_str().expect("a name"));
    fs::write(&file, reply["file"]["text"].as_str().expect("a text")).expect("written");
    let words = shell_words(reply["command"].as_str().expect("a command line"));
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let printed = assay(&words).current_dir(server.folder()).assert().success().get_output().stdout.clone();
    let mut printed: Value = serde_json::from_slice(&printed).expect("JSON");
    // Values that the view does not show are not computed.
    let mut forget = |line: &mut Value| {
        for key in [
            "posterior_upper",
            "posterior_exceeded",
            "posterior_exceeded_by",
            "posterior_exceeded_is_least",
            "provenance",
        ] {
            line.as_object_mut().expect("an object").remove(key);
        }
    };
    printed["levels"].as_array_mut().expect("levels").iter_mut().for_each(&mut forget);
    forget(&mut printed);
    assert_eq!(reply["answer"], printed);
    reply
}

/// Epsilon, the adversary's probability and the optimum follow the budgets on every block path.
#[test]
fn moved_budgets_are_those_of_the_worst_block_path() {
    let server = Server::start(&[]);
    let release = "pl94-persons-us";
    let base = json!({ "release": release, "delta": "1e-10", "prior": "1/2", "digits": 8 });
    let same = moved(&server, base.clone());
    let own = json(&["risk", "bound", "--release", release, "--delta", "1e-10", "--prior", "1/2", "--digits", "8"]);
    assert_eq!((&same["answer"]["epsilon"], &same["answer"]["worst_pair"]), (&own["epsilon"], &own["worst_pair"]));
    let mut more = base;
    more["budget"] = json!(["State=2", "Block=1/3"]);
    more["keep-total"] = json!(true);
    let reply = moved(&server, more);
    assert!(reply["answer"]["worst_pair"].as_str().expect("a pair").contains("the worst of 136 pairs"), "{reply}");
    assert!(reply["file"]["text"].as_str().expect("a release").contains("[paths]"));
    assert!(reply["notes"][0].as_str().expect("a note").contains("136 pairs of block paths"), "{reply}");
    let (_, best) = server.ask("allocate", json!({ "release": release, "epsilon": "16.5", "delta": "1e-10" }));
    let words = ["allocate", "--release", release, "--epsilon", "16.5", "--delta", "1e-10"];
    let mut printed = json(&words);
    printed.as_object_mut().expect("an object").remove("provenance");
    assert_eq!(best["answer"], printed);
    let file = server.folder().join("best.toml");
    fs::write(&file, best["file"]["text"].as_str().expect("a text")).expect("written");
    let again = json(&["epsilon", "--release", file.to_str().expect("UTF-8"), "--delta", "1e-10", "--digits", "8"]);
    assert_eq!(again["epsilon"], best["answer"]["worst_pair_epsilon"]);
    assert!(best["said"][2].as_str().expect("words").contains("On the worst block path"), "{best}");
}

#[test]
fn moved_budgets_are_files_that_the_commands_read() {
    let server = Server::start(&[]);
    let release = "su-su-wang-2025";
    let moved = |options: Value| moved(&server, options);
    let base = json!({ "release": release, "delta": "1e-10", "prior": "1/2" });
    let with = |more: Value| {
        let mut all = base.clone();
        all.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        all
    };
    let same = moved(base.clone());
    let own = json(&["risk", "bound", "--release", release, "--delta", "1e-10", "--prior", "1/2"]);
    assert_eq!(same["answer"]["epsilon"], own["epsilon"], "nothing is moved");
    let kept = moved(with(json!({ "budget": ["State=1.5", "Block=1/2"], "keep-total": true })));
    let more = moved(with(json!({ "budget": ["State=1.5"] })));
    let epsilon = |reply: &Value| reply["answer"]["epsilon"]["upper"].to_string().parse::<f64>().expect("a number");
    assert!(epsilon(&more) > epsilon(&same) + 0.5);
    let rho = |reply: &Value| rows(reply, 0).last().expect("the whole")[2].parse::<f64>().expect("a number");
    assert!((rho(&kept) - rho(&same)).abs() < 1e-3 && rho(&kept) <= rho(&same), "{} {}", rho(&kept), rho(&same));
    for (options, part) in [
        (with(json!({ "budget": ["Moon=2"] })), "Moon"),
        (with(json!({ "budget": ["State"] })), "--budget"),
        (with(json!({ "budget": ["State=0"] })), "above 0"),
        (with(json!({ "budget": ["State=x"] })), "--budget"),
        (with(json!({ "prior": "1" })), "--prior"),
        (with(json!({ "discrete-gaussian": "5" })), "--discrete-gaussian"),
    ] {
        let (status, answer) = server.ask("budget", options);
        assert!(status == 400 && answer["error"].as_str().expect("an error").contains(part), "{answer}");
    }
    // The command writes the optimum and can read it as a release.
    let options = json!({ "release": release, "epsilon": "20", "delta": "1e-10" });
    let (_, best) = server.ask("allocate", options);
    let mut printed = json(&["allocate", "--release", release, "--epsilon", "20", "--delta", "1e-10"]);
    printed.as_object_mut().expect("an object").remove("provenance");
    assert_eq!(best["answer"], printed);
    let out = server.folder().join("out.toml");
    let path = out.to_str().expect("UTF-8");
    assay(&["allocate", "--release", release, "--epsilon", "20", "--delta", "1e-10", "--out", path]).assert().success();
    assert_eq!(fs::read_to_string(&out).expect("a release"), best["file"]["text"].as_str().expect("a text"));
    let (status, _) = server.post("release", &json!({ "name": "best.toml", "text": best["file"]["text"] }));
    assert_eq!(status, 200);
}

const BLOCKS: &str = "block,mcd\n\
    440010301001000,1\n\
    440010301001001,1\n\
    440010301001002,2\n\
    440010301002000,2\n\
    440010302001000,1\n\
    440010302001001,2\n\
    440030101001000,3\n\
    440030101001001,3\n\
    440030101002000,3\n\
    440030101002001,1\n\
";

#[test]
fn places_are_rows_of_the_files_of_a_spine() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_string();
    fs::write(file("blocks.csv"), BLOCKS).expect("written");
    fs::write(file("plan.toml"), "settings = \"redistricting-units\"\nrelease = \"pl94-units-us\"\n").expect("written");
    let spine = file("spine");
    assay(&["spine", "--blocks", &file("blocks.csv"), "--plan", &file("plan.toml"), "--out", &spine])
        .assert()
        .success();
    let server = Server::start(&["--spine", &spine]);
    let search = |text: &str| {
        let (status, reply) = server.ask("places", json!({ "search": text }));
        assert_eq!(status, 200, "{reply}");
        rows(&reply, 0)
    };
    let entities = fs::read_to_string(folder.path().join("spine/entities.csv")).expect("entities");
    let lines: Vec<Vec<String>> =
        entities.lines().skip(1).map(|line| line.split(',').map(String::from).collect()).collect();
    assert_eq!(search(""), lines);
    let places: Vec<Vec<String>> = lines.into_iter().filter(|line| line[1].contains("44003")).collect();
    assert_eq!(places.len(), 2);
    assert_eq!(search("aReA 44003"), places);
    // A single place is described in words, and each listed place is drawn.
    let (_, one) = server.ask("places", json!({ "search": &places[0][1] }));
    let said = one["said"][0].as_str().expect("words");
    assert!(said.contains(&format!("a variance of {}", places[0][6])), "{said}");
    let drawn = |reply: &Value| reply["charts"][0]["svg"].as_str().map_or(0, |svg| svg.matches("<polygon").count());
    let (_, both) = server.ask("places", json!({ "search": "aReA 44003" }));
    assert_eq!((drawn(&one), drawn(&both)), (1 + 1, 2 + 1), "a mark for each place and one in the legend");
    assert!(search("no such place").is_empty());
    let start: Value = serde_json::from_str(&server.get("api/start").body).expect("JSON");
    assert_eq!(start["has_places"], true);
    let bare = Server::start(&[]);
    let (status, reply) = bare.ask("places", json!({ "search": "1" }));
    assert!(status == 400 && reply["error"].as_str().expect("an error").contains("--spine"), "{reply}");
    assert!(refusal(&["explore", "--no-open", "--spine", folder.path().to_str().expect("UTF-8")]).contains("--spine"));
    assert!(refusal(&["explore", "--no-open", "--spine", "nosuch"]).contains("--spine"));
}

#[test]
fn safetab_is_tuned_as_by_the_command() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/examples");
    let spec = data.join("safetab");
    let spec = spec.to_str().expect("UTF-8");
    let server = Server::start(&["--spec", spec]);
    let reply = agrees(&server, "tune", json!({ "rho": "0.159", "sizes": "5,17", "digits": 8 }));
    assert!(reply["said"][0].as_str().expect("words").contains("off by at most 11 in 95"), "{reply}");
    agrees(
        &server,
        "tune",
        json!({ "moe": "11", "gamma": "1/5", "race-codes": "3", "neighbors": "bounded", "digits": 6 }),
    );
    assert_eq!(server.ask("tune", json!({ "rho": "1", "moe": "3" })).0, 400);
    assert_eq!(server.ask("tune", json!({ "rho": "0.159", "config": "/etc/passwd" })).0, 400);
    let with_file = |question: &str, options: Value, text: &str| {
        let name = if question == "plan" { "plan.toml" } else { "config.json" };
        fs::write(server.folder().join(name), text).expect("written");
        let (status, reply) =
            server.post(question, &json!({ "options": options, "file": { "name": name, "text": text } }));
        if status == 200 {
            let words = shell_words(reply["command"].as_str().expect("a command line"));
            let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
            let printed = assay(&words).current_dir(server.folder()).assert().success().get_output().stdout.clone();
            let mut printed: Value = serde_json::from_slice(&printed).expect("JSON");
            printed.as_object_mut().expect("an object").remove("provenance");
            assert_eq!(reply["answer"], printed);
        }
        (status, reply)
    };
    let plan = "title = \"t\"\n[[level]]\nname = \"Nation\"\nrho = \"0.5\"\n[[level]]\nname = \"County\"\nmoe = 11\n";
    let (status, reply) = with_file("plan", json!({ "digits": 6 }), plan);
    assert_eq!((status, rows(&reply, 0).len()), (200, 3), "{reply}");
    let (status, reply) = with_file("plan", json!({}), &plan.replace("0.5", "x"));
    assert!(status == 400 && reply["error"].as_str().expect("an error").contains("plan.toml, line 4"), "{reply}");
    assert_eq!(server.ask("plan", json!({})).0, 400);
    let config = fs::read_to_string(data.join("safetab/config.json")).expect("an example");
    let (status, reply) = with_file("config", json!({ "delta": "1e-10", "set": ["USA,1=0.5"] }), &config);
    assert_eq!(status, 200, "{reply}");
    let changed = reply["file"]["text"].as_str().expect("a text");
    assert_ne!(changed, config);
    let (status, again) = with_file("config", json!({ "delta": "1e-10" }), changed);
    assert_eq!((status, &again["answer"]), (200, &reply["answer"]));
    let (status, reply) = with_file("config", json!({}), "{\"x\": 1}");
    assert!(status == 400 && reply["error"].as_str().expect("an error").contains("config.json"), "{reply}");
    let bare = Server::start(&[]);
    let (status, reply) = bare.post("config", &json!({ "file": { "name": "config.json", "text": config } }));
    assert!(status == 400 && reply["error"].as_str().expect("an error").contains("--spec"), "{reply}");
    assert!(refusal(&["explore", "--no-open", "--spec", "nosuch"]).contains("--spec"));
    assert!(refusal(&["explore", "--no-open", "--plan", "nosuch.toml"]).contains("--plan"));
    let plan = data.join("safetab-plan.toml");
    let begun = Server::start(&["--plan", plan.to_str().expect("UTF-8")]);
    let start: Value = serde_json::from_str(&begun.get("api/start").body).expect("JSON");
    assert_eq!(start["plan"]["text"], fs::read_to_string(plan).expect("an example"));
}

#[test]
fn all_pairs_of_block_paths() {
    let server = Server::start(&["--release", "pl94-persons-us"]);
    let reply = agrees(&server, "epsilon", json!({ "release": "pl94-persons-us", "delta": "1e-10", "digits": 6 }));
    assert!(reply["notes"][0].as_str().expect("a note").contains("the worst of 136 pairs"));
    for prior in ["1/10", "1/2"] {
        agrees(
            &server,
            "bound",
            json!({ "release": "pl94-persons-us", "delta": "1e-10", "prior": prior, "digits": 6 }),
        );
    }
    let start: Value = serde_json::from_str(&server.get("api/start").body).expect("JSON");
    assert_eq!(start["first"], "pl94-persons-us");
    let names = |releases: &Value| -> Vec<String> {
        releases.as_array().expect("releases").iter().map(|release| release["name"].to_string()).collect()
    };
    assert_eq!(names(&start["releases"]), names(&json(&["releases"])["releases"]));
}

/// The processor time of a process in seconds.
#[cfg(target_os = "linux")]
fn processor_seconds(process: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("of this machine");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    let ticks = |field: usize| fields[field].parse::<f64>().expect("a number");
    // Hundredths of a second on all systems.
    (ticks(11) + ticks(12)) / 100.0
}

/// Noise whose calibration takes minutes: an outdated request ends at its next point, measured in processor time.
#[cfg(target_os = "linux")]
#[test]
fn outdated_requests_are_stopped() {
    use std::time::Duration;

    let server = Server::start(&[]);
    let used = || processor_seconds(server.process());
    let body = |step: u64, level: &str, options: Value| {
        let mut options = options;
        options["release"] = json!("pl94-persons-us");
        options["delta"] = json!("1e-10");
        if !level.is_empty() {
            options["level"] = json!([level]);
        }
        json!({ "options": options, "view": "v", "step": step })
    };
    // Crossings of all levels and of the whole, at forty digits.
    let slow = || json!({ "match-curve": "1e-40..1e-3", "scale-all": true, "decimals": 12, "digits": 40 });
    let quick = || json!({ "match": "zcdp", "digits": 6 });
    let wait_until_it_works = |before: f64| {
        let began = std::time::Instant::now();
        while used() < before + 0.3 {
            assert!(began.elapsed() < Duration::from_secs(60), "nothing is worked on");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    // The current point takes a second or two on a busy machine, the remaining ones take minutes.
    let rests = || {
        let began = std::time::Instant::now();
        loop {
            let before = used();
            std::thread::sleep(Duration::from_secs(1));
            let is_idle = used() - before < 0.1;
            if is_idle || began.elapsed() > Duration::from_secs(20) {
                return is_idle;
            }
        }
    };
    // Replaced by a newer request of the same view.
    std::thread::scope(|scope| {
        let before = used();
        let first = scope.spawn(|| server.post("calibrate", &body(1, "", slow())));
        wait_until_it_works(before);
        let (status, _) = server.post("calibrate", &body(2, "US", quick()));
        assert_eq!(status, 200);
        let (status, reply) = first.join().expect("an answer");
        assert_eq!((status, reply["error"].as_str()), (409, Some("a newer request replaced it")));
    });
    assert!(rests(), "it goes on");
    // The client has disconnected.
    let before = used();
    let connection = server.post_and_keep("calibrate", &body(3, "", slow()));
    wait_until_it_works(before);
    drop(connection);
    assert!(rests(), "it goes on for nobody");
    let (status, _) = server.post("calibrate", &body(4, "US", quick()));
    assert_eq!(status, 200);
}

#[test]
fn drawings_are_of_the_subject_and_mark_delta() {
    let server = Server::start(&[]);
    let draw = |options: Value| {
        let (status, reply) = server.ask("drawing", options);
        assert_eq!(status, 200, "{reply}");
        reply
    };
    let (near, far) = (
        draw(json!({ "discrete-gaussian": "5x10", "delta": "1e-5" })),
        draw(json!({ "discrete-gaussian": "5x10", "delta": "1e-15" })),
    );
    assert_eq!(near["csv"], far["csv"], "the points stay where they are");
    assert_eq!(near["charts"][1], far["charts"][1]);
    let svg = |reply: &Value| reply["charts"][0]["svg"].as_str().expect("a drawing").to_string();
    assert!(svg(&near).contains("delta = 1e-5") && svg(&far).contains("delta = 1e-15"));
    assert_ne!(near["csv"], draw(json!({ "discrete-gaussian": "6x10", "delta": "1e-5" }))["csv"]);
}

const OWN: &str = r#"
name = "own"
title = "<b>Mine</b>"
source = "a test"
neighbors = "add-remove"
[[level]]
name = "It's & <level>"
[[level.query]]
name = "q"
sigma2 = "5"
[[level]]
name = "other"
[[level.query]]
name = "q"
sigma2 = "70/3"
"#;

#[test]
fn files_of_the_user_are_read_from_what_is_dropped_and_refused_at_their_line() {
    let server = Server::start(&[]);
    let keep = |name: &str, text: &str| server.post("release", &json!({ "name": name, "text": text }));
    fs::write(server.folder().join("own.toml"), OWN).expect("written");
    let (status, about) = keep("own.toml", OWN);
    assert_eq!((status, &about["title"]), (200, &json!("<b>Mine</b>")), "{about}");
    assert_eq!(about["levels"][0]["name"], "It's & <level>");
    agrees(&server, "epsilon", json!({ "release": "own.toml", "delta": "1e-10" }));
    agrees(
        &server,
        "bound",
        json!({ "release": "own.toml", "level": ["It's & <level>"], "delta": "1e-10", "prior": "0.5" }),
    );
    // Another text with the same name is another release, also for remembered results.
    let noisier = OWN.replace("\"5\"", "\"50\"");
    fs::write(server.folder().join("own.toml"), &noisier).expect("written");
    assert_eq!(keep("own.toml", &noisier).0, 200);
    agrees(&server, "epsilon", json!({ "release": "own.toml", "delta": "1e-10" }));
    for (text, parts) in [
        (OWN.replace("sigma2 = \"5\"", "sigma2 = \"-5\""), ["own.toml", "line 10"]),
        (OWN.replace("neighbors = ", "neighbours = "), ["own.toml", "line 5"]),
        ("name = ".to_string(), ["own.toml", "line 1"]),
        (String::new(), ["own.toml", "name"]),
    ] {
        let (status, answer) = keep("own.toml", &text);
        let error = answer["error"].as_str().expect("an error");
        assert_eq!(status, 400);
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
    agrees(&server, "epsilon", json!({ "release": "own.toml", "delta": "1e-10" }));
    assert_eq!(keep("su-su-wang-2025", OWN).0, 400);
    assert_eq!(keep("", OWN).0, 400);
    assert_eq!(keep("a\nb", OWN).0, 400);
    assert_eq!(server.post("release", &json!({ "name": "x" })).0, 400);
    let start: Value = serde_json::from_str(&server.get("api/start").body).expect("JSON");
    assert_eq!(start["releases"][0]["name"], "own.toml");
}

#[test]
fn a_file_can_be_begun_with_and_what_is_wrong_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.toml");
    fs::write(&file, OWN).expect("written");
    let path = file.to_str().expect("UTF-8");
    let server = Server::start(&["--release", path]);
    agrees(&server, "epsilon", json!({ "release": path, "delta": "1e-10" }));
    assert!(refusal(&["explore", "--no-open", "--release", "nosuch"]).contains("--release"));
    let taken = server.port.to_string();
    assert!(refusal(&["explore", "--no-open", "--port", &taken]).contains("--port"));
    assert!(refusal(&["explore", "--no-open", "--port", "70000"]).contains("--port"));
    fs::write(&file, OWN.replace("\"5\"", "\"x\"")).expect("written");
    assert!(refusal(&["explore", "--no-open", "--release", path]).contains("line 10"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it() {
    let mut server = Server::start(&["--port", "0"]);
    assert_eq!(server.get("").status, 200);
    assert_eq!(server.interrupt(), Some(130));
    assert!(TcpStream::connect(("127.0.0.1", server.port)).is_err());
}
