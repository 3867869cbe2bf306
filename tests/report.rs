//! `assay report`: one page that loads nothing, with the numbers of the other commands.

use std::{fs, path::Path};

use serde_json::Value;

use crate::common::program::{assay, json, refusal};

/// A release of which only the budget is known.
const BUDGET_ONLY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/budget-only.toml");

/// The page for these arguments, and the output of the command, in one line.
fn page(folder: &Path, args: &[&str]) -> (String, String) {
    let out = folder.join("report.html");
    let out = out.to_str().expect("UTF-8");
    let printed = assay(&[&["report"], args, &["--out", out]].concat()).assert().success().get_output().stdout.clone();
    (fs::read_to_string(out).expect("a page"), words(&String::from_utf8(printed).expect("UTF-8")))
}

/// Text without its line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Elements without an end tag.
const VOID: [&str; 1] = ["meta"];

/// The pieces of the page: `<...>` and the text between, with entities unchanged.
fn pieces(html: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = html;
    while !rest.is_empty() {
        let end = match rest.strip_prefix('<') {
            Some(_) => rest.find('>').expect("a tag ends") + 1,
            None => rest.find('<').unwrap_or(rest.len()),
        };
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Checks that every element ends where it should, and that attributes are quoted; returns the names of all elements and all ids.
fn well_formed(html: &str) -> (Vec<String>, Vec<String>) {
    let body = html.strip_prefix("<!DOCTYPE html>").expect("a document type");
    let (mut open, mut names, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for piece in pieces(body) {
        if let Some(name) = piece.strip_prefix("</") {
            assert_eq!(open.pop(), Some(name.trim_end_matches('>')), "{piece}");
        } else if let Some(tag) = piece.strip_prefix('<') {
            let tag = tag.trim_end_matches('>');
            let name = tag.split([' ', '/']).next().expect("a name");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric()) && !name.is_empty(), "{piece}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{piece}");
            if let Some((_, id)) = tag.split_once(" id=\"") {
                ids.push(id.split('"').next().expect("an id").to_string());
            }
            names.push(name.to_string());
            if !tag.ends_with('/') && !VOID.contains(&name) {
                open.push(name);
            }
        } else {
            let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"];
            let text = known.iter().fold(piece.to_string(), |text, entity| text.replace(entity, ""));
            assert!(!text.contains('&'), "{piece}");
        }
    }
    assert!(open.is_empty(), "{open:?}");
    let mut distinct = ids.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), ids.len(), "an id twice: {ids:?}");
    (names, ids)
}

/// Requirements of every page: it is well-formed, runs nothing, loads nothing, and labels its parts.
fn check(html: &str) {
    let (names, ids) = well_formed(html);
    for forbidden in
        ["script", "link", "img", "iframe", "object", "embed", "form", "base", "audio", "video", "image", "use"]
    {
        assert!(!names.iter().any(|name| name == forbidden), "{forbidden}");
    }
    for forbidden in ["http:", "https:", "url(", "@import", "javascript:", " on", "src="] {
        let tags: String = pieces(html).into_iter().filter(|piece| piece.starts_with('<')).collect();
        assert!(!tags.contains(forbidden), "{forbidden}");
    }
    let style = html.split("<style>").nth(1).and_then(|rest| rest.split("</style>").next()).expect("a style");
    assert!(!style.contains("url(") && !style.contains("@import") && style.contains("prefers-color-scheme: dark"));
    assert!(style.contains("@media print"));
    assert!(
        html.contains(
            "Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
        )
    );
    let count = |name: &str| names.iter().filter(|known| *known == name).count();
    assert_eq!((count("main"), count("h1"), count("style")), (1, 1, 1));
    assert_eq!(count("table"), count("caption"));
    assert_eq!(count("th"), html.matches("<th scope=").count());
    assert_eq!((count("figure"), count("svg")), (count("figcaption"), count("figcaption")));
    assert_eq!(count("figure"), html.matches("<svg role=\"img\" aria-labelledby=\"chart-").count());
    for label in html.split("aria-labelledby=\"").skip(1).chain(html.split("href=\"#").skip(1)) {
        let label = label.split('"').next().expect("an id");
        assert!(ids.iter().any(|id| id == label), "nothing is called {label}");
    }
}

fn folder_of_page() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The cells of a page, row by row, for rows that begin with a name.
fn rows(html: &str) -> Vec<Vec<String>> {
    let cell = |cell: &str| {
        cell.rsplit('>').next().unwrap_or_default().replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    };
    let cells = |row: &str| -> Vec<String> {
        row.split("</tr>").next().unwrap_or_default().split("</t").map(cell).filter(|text| !text.is_empty()).collect()
    };
    html.split("<th scope=\"row\">").skip(1).map(|row| cells(&format!(">{row}"))).collect()
}

/// What a command prints.
fn printed<S: AsRef<str>>(args: &[S]) -> String {
    let words: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
    String::from_utf8(assay(&words).assert().success().get_output().stdout.clone()).expect("UTF-8")
}

/// The cells of the row with this name in a table that a command printed.
fn printed_row(printed: &str, name: &str) -> Vec<String> {
    let row = printed
        .lines()
        .find(|line| line.starts_with(&format!("{name}  ")))
        .unwrap_or_else(|| panic!("{name}: {printed}"));
    row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(String::from).collect()
}

/// The lines of an answer: the levels, and last the whole, under its name.
fn lines(answer: &Value, total: &str) -> Vec<(String, Value)> {
    let levels = answer["levels"].as_array().cloned().unwrap_or_default();
    let named = |level: &Value| (level["name"].as_str().expect("a name").to_string(), level.clone());
    levels.iter().map(named).chain([(total.to_string(), answer.clone())]).collect()
}

/// Compares the numbers of a page with `epsilon`, `risk bound` and `calibrate`.
fn agrees(subject: &[&str], options: [&str; 3], total: &str) -> (String, String) {
    let [delta, prior, digits] = options;
    let words = |command: &[&'static str], more: &[&'static str]| -> Vec<String> {
        let words = [command, subject, &["--delta", delta, "--digits", digits], more].concat();
        words.into_iter().map(String::from).collect()
    };
    let ask = |owned: Vec<String>| json(&owned.iter().map(String::as_str).collect::<Vec<_>>());
    let folder = tempfile::tempdir().expect("a folder");
    let (html, said) =
        page(folder.path(), &[subject, &["--delta", delta, "--prior", prior, "--digits", digits]].concat());
    check(&html);
    let rows = rows(&html);
    let cells = |name: &str, width: usize| -> Vec<String> {
        let found = rows.iter().find(|row| row[0] == name && row.len() == width);
        found.unwrap_or_else(|| panic!("{name} with {width} cells: {rows:?}")).clone()
    };
    let (epsilon, table) = (ask(words(&["epsilon"], &[])), printed(&words(&["epsilon"], &[])));
    for (name, line) in lines(&epsilon, total) {
        let printed = printed_row(&table, &name);
        // Both ends instead of one number. The tables of rho and sigma2 may be as wide; that of epsilon comes first.
        let own = rows.iter().find(|row| row[0] == name && row.len() == printed.len() + 1).expect("a row of epsilon");
        assert_eq!([&own[2], &own[3]], [&line["epsilon"]["lower"].to_string(), &line["epsilon"]["upper"].to_string()]);
        assert_eq!((&own[1], &own[4..]), (&printed[1], &printed[3..]), "{name}");
    }
    let mut risk = words(&["risk", "bound"], &[]);
    risk.extend(["--prior", prior].map(String::from));
    let table = printed(&risk);
    for (name, line) in lines(&ask(risk), total) {
        let own = cells(&name, 8);
        let printed = printed_row(&table, &name);
        assert_eq!(
            [&own[1], &own[2], &own[4], &own[5]],
            [&printed[1], &printed[2], &printed[4], &printed[5]],
            "{name}"
        );
        let upper: f64 = line["correct_decision_upper"]["upper"].to_string().parse().expect("a number");
        let hundred: f64 = own[3].parse().expect("a number");
        assert!(hundred >= 100.0 * upper - 1e-9 && hundred < 100.0 * upper + 0.1 + 1e-9, "{name}: {hundred} {upper}");
        let posterior: f64 = line["posterior_events"]["upper"].to_string().parse().expect("a number");
        assert!((own[6].parse::<f64>().expect("a number") - posterior).abs() < 1e-11, "{name}");
    }
    (html, said)
}

/// The same for the least noise of what was published.
fn spares(subject: &[&str], delta: &str, html: &str) {
    let calibrate = [&["calibrate"], subject, &["--delta", delta]].concat();
    let rows = rows(html);
    let levels = json(&calibrate)["levels"].clone();
    let published = |level: &&Value| !level["compared_with"]["printed"].is_null();
    let levels: Vec<&Value> = levels.as_array().expect("levels").iter().filter(published).collect();
    assert!(!levels.is_empty(), "{subject:?}");
    let table = printed(&calibrate);
    for level in levels {
        let name = level["name"].as_str().expect("a name");
        let own =
            rows.iter().rfind(|row| row[0] == name && row.len() == 7).unwrap_or_else(|| panic!("{name}: {rows:?}"));
        assert_eq!(own[2], level["calibrated_sigma2"].to_string(), "{name}");
        assert_eq!(own[6], level["compared_with"]["name"].as_str().expect("a name"));
        assert_eq!(own[..6], printed_row(&table, name)[..6]);
    }
}

#[test]
fn a_release_with_levels() {
    let subject = ["--release", "su-su-wang-2025"];
    let (html, said) = agrees(&subject, ["1e-11", "1/2", "12"], "all composed");
    spares(&subject, "1e-11", &html);
    for shown in
        ["is right at most 91.2 % of the time", "right at most 53 % (Block) to 76 % (State) of the time", "add-remove"]
    {
        assert!(html.contains(shown) && (said.contains("right at most 91.2")), "{shown}: {said}");
    }
    // A figure of the whole was published at 1e-10 alone.
    assert!(!html.contains("All noise can be scaled by"));
    let (html, _) = page(tempfile::tempdir().expect("a folder").path(), &subject);
    let answer = json(&["calibrate", "--release", "su-su-wang-2025", "--delta", "1e-10", "--scale-all"]);
    assert!(html.contains(&format!("All noise can be scaled by {} (", answer["factor"])), "{}", answer["factor"]);
    // Program, inputs and command line are at the end.
    let (name, sha256) = ("su-su-wang-2025", &answer["provenance"]["inputs"][0]["sha256"]);
    assert!(html.contains(&format!("Input {name}")) && html.contains(sha256.as_str().expect("a hash")));
    assert!(html.contains("assay report --release su-su-wang-2025 --out "));
}

#[test]
fn a_release_whose_worst_pair_of_block_paths_decides() {
    let subject = ["--release", "pl94-persons-us"];
    let (html, _) = agrees(&subject, ["1e-10", "1/10", "8"], "all composed");
    assert!(html.contains("the worst of 136 pairs of block paths") && html.contains("which of two records is"));
    assert!(html.contains("they would be right 90 % of the time"));
    assert!(html.contains("The published figure is 17.14, by zCDP (best order); without rounding it is 17.1436."));
    assert!(html.contains("lower by 3.94 %"));
}

#[test]
fn counts_of_ones_own() {
    let subject = ["--discrete-gaussian", "5x10", "--discrete-gaussian", "40/3x7@2", "--group", "2"];
    let (html, _) = agrees(&subject, ["1e-9", "0.3", "20"], "composition");
    assert!(html.contains("groups of 2"));
    assert!(!html.contains("All noise can be scaled by"));
    // A required epsilon takes the place of a published one.
    let required = ["--discrete-gaussian", "5x10", "--discrete-gaussian", "7x2", "--delta", "1e-9"];
    let (html, _) = page(folder_of_page().path(), &[&required[..], &["--epsilon", "12"]].concat());
    let calibrated = json(&[&["calibrate", "--epsilon", "12"], &required[..]].concat());
    let row = rows(&html).into_iter().rfind(|row| row[0] == "composition" && row.len() == 7).expect("a row");
    assert_eq!(row[2], calibrated["levels"][0]["calibrated_sigma2"].to_string());
    assert!(html.contains("others are scaled by the same factor"));
    // Nothing was published of noise that is no release's.
    let folder = tempfile::tempdir().expect("a folder");
    let (html, said) = page(folder.path(), &["--discrete-laplace", "1x3", "--delta", "1e-6"]);
    check(&html);
    assert!(said.contains("It has no published epsilon") && !html.contains("id=\"chart-spared\""), "{said}");
    let (html, said) =
        page(folder.path(), &["--release", "su-su-wang-2025", "--level", "State", "--discrete-laplace", "0.1"]);
    check(&html);
    assert!(html.contains("counts given") && said.contains("State"), "{said}");
}

#[test]
fn the_same_command_line_writes_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let args = ["--release", "su-su-wang-2025", "--level", "County", "--level", "Block"];
    let (first, _) = page(folder.path(), &args);
    assert_eq!(first, page(folder.path(), &args).0);
    let names: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("a file").file_name()).collect();
    assert_eq!(names, ["report.html"]);
}

const HOSTILE: &str = r#"
name = "own"
title = "<script>alert(1)</script> & \"quotes\" </title></style>"
source = "a test"
neighbors = "add-remove"
[[level]]
name = "</td><script>alert('2')</script> & Co"
[[level.query]]
name = "q"
sigma2 = "5"
[[level]]
name = "<img src=x onerror=alert(3)>"
[[level.query]]
name = "q"
sigma2 = "7"
"#;

#[test]
fn names_are_shown_as_text_with_any_content() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("R&D <b> it's.toml");
    fs::write(&file, HOSTILE).expect("written");
    let (html, _) = page(folder.path(), &["--release", file.to_str().expect("UTF-8")]);
    check(&html);
    assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("<b>"));
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; ") && html.contains("R&amp;D &lt;b&gt;"));
    assert!(rows(&html).iter().any(|row| row[0] == "</td><script>alert('2')</script> & Co"));
}

#[test]
fn errors_are_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("report.html");
    let path = out.to_str().expect("UTF-8");
    let with = |args: &[&'static str]| refusal(&[&["report", "--out", path], args].concat());
    let counts = ["--discrete-gaussian", "5"];
    let and = |more: &[&'static str]| with(&[&counts, more].concat());
    assert!(with(&[]).contains("--release"));
    assert!(and(&["--delta", "0"]).contains("--delta"));
    assert!(and(&["--delta", "2"]).contains("--delta"));
    assert!(and(&["--prior", "1"]).contains("--prior"));
    assert!(and(&["--prior", "x"]).contains("--prior"));
    assert!(and(&["--digits", "0"]).contains("--digits"));
    assert!(with(&["--release", "nosuch"]).contains("--release"));
    assert!(with(&["--release", "su-su-wang-2025", "--level", "Moon"]).contains("--level"));
    assert!(with(&["--release", BUDGET_ONLY]).contains("--release"));
    assert!(!out.exists());
    let taken = folder.path().to_str().expect("UTF-8");
    assert!(refusal(&["report", "--discrete-gaussian", "5", "--out", taken]).contains("--out"));
    assert!(refusal(&["report", "--discrete-gaussian", "5", "--out", "/dev/null"]).contains("--out"));
    assert!(refusal(&["report", "--discrete-gaussian", "5"]).contains("--out"));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn extreme_answers_have_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    for args in [
        &["--discrete-gaussian", "1e6", "--delta", "0.1"][..],
        &["--discrete-gaussian", "0.02x2", "--delta", "1e-60", "--prior", "1/1000000"],
        &["--gaussian", "5x3", "--prior", "0.999"],
        &["--discrete-laplace", "20", "--delta", "1e-300"],
    ] {
        let (html, said) = page(folder.path(), args);
        check(&html);
        assert!(!html.contains("NaN") && !html.contains("inf<"), "{args:?}");
        assert!(said.contains("% of the time"), "{said}");
    }
}

/// The audit of a folder is a section of the page, and its verdict the exit status.
#[test]
fn the_audit_of_a_folder_is_a_section() {
    let folder = tempfile::tempdir().unwrap();
    let release = crate::common::tiny_nmf::release(folder.path()).name;
    assert_eq!(release, "tiny-audit");
    let release = folder.path().join("tiny-audit.toml").display().to_string();
    let product = folder.path().join("US_TINY");
    let tiny = crate::common::tiny_nmf::Tiny::usual();
    tiny.write_constraints(&product);
    let mut noise = crate::common::tiny_nmf::Noise::new(11);
    tiny.write_counts(&product, |unit, query, _| noise.draw(unit, query));
    let nmf = product.display().to_string();
    let args = ["--release", &release, "--nmf", &nmf, "--digits", "4"];
    let (html, printed) = page(folder.path(), &args);
    check(&html);
    assert!(html.contains("Was the noise drawn as it was declared?") && html.contains("id=\"noise\""));
    assert!(html.contains("id=\"chart-noise\"") || html.contains("chart-noise"));
    assert!(printed.contains("is consistent with the declared laws"), "{printed}");
    assert!(!html.contains("whether the noise was drawn as it was declared."));
    assert!(rows(&html).iter().any(|row| row.get(1).is_some_and(|query| query == "least squares")));
    // Without a folder there is no such section.
    let (plain, _) = page(folder.path(), &args[..2]);
    assert!(!plain.contains("id=\"noise\"") && plain.contains("whether the noise was drawn as it was declared."));
    tiny.write_counts(&product, |unit, query, _| 3 * noise.draw(unit, query));
    let out = folder.path().join("report.html").display().to_string();
    let answer =
        assay(&[&["report", "--json", "--out", &out], &args[..]].concat()).assert().code(1).get_output().clone();
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(answer["audit"]["verdict"], "deviates");
    assert!(refusal(&["report", "--discrete-gaussian", "5", "--nmf", &nmf, "--out", &out]).contains("--release"));
}

/// A report of every kind of mechanism: a section that does not apply is left out and named, and no section takes the page down.
#[test]
fn every_mechanism_has_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let table = file("noise.csv", "value,mass\n-2,1/20\n-1,1/5\n0,1/2\n1,1/5\n2,1/20\n");
    let pair = file("pair.csv", "p,q\n1/2,1/4\n1/4,1/2\n1/4,1/4\n");
    let cells = file("cells.csv", "i,j,p\n0,0,1\n1,0,1/2\n1,2,1/2\n2,0,1/4\n2,2,1/2\n2,4,1/4\n");
    let (table, pair, cells) = (format!("{table}x3"), format!("{pair}x2"), format!("{cells}x4"));
    let spared = "Left out: How much noise could be spared? It has no published epsilon";
    let private = "Left out: How private? No epsilon is finite at delta = 1e-10";
    let accurate = "Left out: How accurate are the noisy counts?";
    for (args, left_out, said) in [
        (&["--table", &table, "--delta", "0.97"][..], &[spared][..], "is within 2 of the true one"),
        (&["--table", &table], &[private, "Left out: How does that compare"], "is right at most 85.4 %"),
        (&["--pair", &pair, "--delta", "0.1"], &[accurate, spared], "is right at most"),
        (&["--p-table", &cells], &[private], "is within 2 of the true one"),
        (&["--unknown-key", "discrete-laplace:1/2:4"], &[private, accurate], "% of the time"),
        (&["--sampled", "0.01:gaussian:1x100", "--delta", "1e-5"], &[accurate, spared], "published deployments"),
        (&["--approximate", "1:1e-6", "--delta", "1e-6"], &[accurate, spared], "published deployments"),
        (&["--pure", "1x3", "--group", "2"], &["The epsilon is that of a group of records"], "groups of 2"),
        (&["--laplace", "3"], &[spared], "is within 8.9872 of the true one"),
        (
            &["--gaussian", "4", "--epsilon", "6"],
            &[],
            "of the noise (sigma2, its variance proxy) could be spared at the required epsilon",
        ),
        (
            &["--gaussian", "4", "--epsilon", "1"],
            &[],
            "more noise (sigma2, its variance proxy) would be needed for the required epsilon",
        ),
        // An account that is an upper bound does not prove that more noise is needed.
        (
            &["--pure", "1", "--epsilon", "1/2"],
            &[],
            "100 % more noise is enough by this account, an upper bound, for the required epsilon of the whole",
        ),
        (
            &["--laplace", "3", "--epsilon", "1/2"],
            &[],
            "% of all noise could be spared at the required epsilon for the whole",
        ),
    ] {
        let (html, printed) = page(folder.path(), args);
        check(&html);
        assert!(printed.contains(said), "{args:?}: {printed}");
        assert_eq!(printed.matches("Left out:").count(), html.matches("<p>Left out:").count(), "{args:?}");
        for sentence in left_out {
            assert!(printed.contains(sentence), "{args:?}: {sentence}: {printed}");
        }
        let out = folder.path().join("report.html").display().to_string();
        let answer = json(&[&["report", "--out", &out], args].concat());
        let named = answer["left_out"].as_array().map_or(0, Vec::len);
        assert_eq!(named, printed.matches("Left out:").count(), "{args:?}: {answer}");
    }
}

/// Margins by hand, and the place of the epsilon among deployments by their own numbers.
/// A printed figure below the exact epsilon is not one that the data are more private than.
#[test]
fn a_published_figure_that_is_too_small_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.toml");
    for (figure, said) in [
        ("1.0", "The printed number is too small: the data are less private than it says."),
        ("2.76", "is lower by 17.34 %: the data are more private than that figure says."),
    ] {
        let text = format!(
            "name = 'own'\ntitle = 't'\nsource = 's'\nneighbors = 'add-remove'\n[[published]]\nepsilon = '{figure}'\ndelta = 1e-6\nby = 'zcdp'\nsource = 'doc'\n\
             [[level]]\nname = 'l'\n[[level.query]]\nname = 'q'\nsigma2 = 4\n"
        );
        fs::write(&file, text).unwrap();
        let (_, printed) = page(folder.path(), &["--release", file.to_str().unwrap(), "--delta", "1e-6"]);
        assert!(printed.contains(said), "{figure}: {printed}");
    }
}

#[test]
fn margins_and_the_yardstick_are_certified_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("report.html").display().to_string();
    let answer = json(&["report", "--out", &out, "--discrete-laplace", "1/2x3", "--gaussian", "4", "--delta", "1e-5"]);
    let margins = answer["margins"].as_array().expect("margins");
    // P[|X| <= m] = 1 - 2 q^(m + 1) / (1 + q), q = exp(-1/2): 0.9388 at 5, and 0.9629 at 6.
    let [laplace, gaussian] = &margins[..] else { panic!("{margins:?}") };
    assert_eq!(
        (laplace["margin_95"]["lower"].to_string(), laplace["margin_95"]["upper"].to_string()),
        ("6".into(), "6".into())
    );
    let end = |name: &str| gaussian["margin_95"][name].to_string().parse::<f64>().expect("a number");
    assert!(end("lower") <= 3.919_927_969_080_108 && end("upper") >= 3.919_927_969_080_108 && end("upper") < 3.92);
    let yardstick = &answer["yardstick"];
    let own: f64 = answer["epsilon"]["upper"].to_string().parse().expect("a number");
    let deployments = yardstick["deployments"].as_array().expect("deployments");
    let number = |value: &Value| value.to_string().parse::<f64>().ok();
    let most = |one: &Value| number(&one["printed"]).or(number(&one["epsilon"]["upper"])).expect("a bound");
    let smaller = deployments.iter().filter(|one| most(one) < own).count();
    assert_eq!(number(&yardstick["smaller"]), Some(smaller as f64));
    assert_eq!(number(&yardstick["larger"]), Some((deployments.len() - smaller) as f64));
    let judged = json(&["deployments", "census-2020-sdhc", "--delta", "1e-5"]);
    let of_page = deployments.iter().find(|one| one["name"] == "census-2020-sdhc").expect("persons");
    // Its account counts totals twice that a replaced record leaves where they are: an upper bound on both pages.
    let (a, b) = (number(&of_page["epsilon"]["upper"]), number(&judged["deployments"][0]["epsilon"]["upper"]));
    assert!((a.expect("a number") - b.expect("a number")).abs() < 1e-2, "{a:?} {b:?}");
    assert!(of_page["exact"] == false && judged["deployments"][0]["exact"] == false);
    let (html, said) = page(folder.path(), &["--discrete-laplace", "1/2x3", "--gaussian", "4", "--delta", "1e-5"]);
    check(&html);
    assert!(said.contains("smallest margin is 3.91993 (") && said.contains("the largest 6 ("), "{said}");
    let of_page = |html: &str| rows(html).into_iter().find(|row| row[0] == "this page").expect("the page")[1].clone();
    assert!(!of_page(&html).contains("&lt;=") && html.contains("id=\"chart-yardstick\""));
    assert!(said.contains("with a smaller epsilon at delta"), "{said}");
    // A guarantee has an upper bound alone, and so has its place.
    let (html, said) = page(folder.path(), &["--pure", "1", "--delta", "1e-5"]);
    assert!(
        of_page(&html).starts_with("&lt;= 0.9999") || of_page(&html).starts_with("<= 0.9999"),
        "{}",
        of_page(&html)
    );
    assert!(said.contains("with a smaller epsilon than the upper bound of this page at delta"), "{said}");
    // What an adversary is right at most is not rounded to what they may not exceed.
    let (_, said) = page(folder.path(), &["--pure", "1", "--prior", "0.001"]);
    assert!(said.contains("right 99.9 % of the time") && !said.contains("right at most 100 %"), "{said}");
}

/// A release of which a record's fourteen groups can be of two kinds: fifteen mixes.
const MIXED: &str = r#"
title = "Groups of two kinds"
source = "made up"
neighbors = "add-remove"
rho = 1
sigma2_times_rho = 7
[[mix]]
name = "all"
levels = ["all"]
groups = 14
kind = "detailed-only"
most = 14
[[level]]
name = "all"
rho = 1
[[level.query]]
name = "stage 1"
proportion = "1/10"
cells = 14
[[level.query]]
name = "stage 2"
proportion = "9/10"
cells = 14
[[level.query]]
name = "detailed-only"
kind = "detailed-only"
proportion = 1
cells = 14
"#;

/// Two of them have more mixes than are composed: every number of the whole is between that of one mix and a bound for all.
#[test]
fn a_ledger_with_too_many_mixes_has_bounds_and_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a", "b"] {
        fs::write(folder.path().join(format!("{name}.toml")), format!("name = \"{name}\"{MIXED}")).expect("written");
    }
    let ledger = folder.path().join("office.toml");
    let population = "[[population]]\nname = 'people'\nneighbors = 'add-remove'\nreleases = ['a.toml', 'b.toml']\n";
    let text = format!("name = 'office'\ntitle = 'Two'\nsource = 'made up'\nrule = 'They compose.'\n{population}");
    fs::write(&ledger, text).expect("written");
    let ledger = ledger.display().to_string();
    let risk = json(&["risk", "bound", "--ledger", &ledger, "--prior", "1/2", "--delta", "1e-6"]);
    let ends = |value: &Value| ["lower", "upper"].map(|end| value[end].to_string().parse::<f64>().expect("a number"));
    let [lower, upper] = ends(&risk["correct_decision_upper"]);
    // Of continuous noise of rho = 2 it is Phi(1) = 0.8413.
    assert!(lower > 0.8412 && lower < upper && upper < 0.8420, "{risk}");
    assert!(risk["status"] == "wider" && risk["guess"] == 0.5, "{risk}");
    let args = ["--ledger", &ledger, "--delta", "1e-6", "--unit", "household"];
    let (html, said) = page(folder.path(), &args);
    check(&html);
    assert!(said.contains("has an epsilon of at most 11.00") && said.contains("right at most 84.2 %"), "{said}");
    assert!(
        said.contains("published deployments about a household or a housing unit and all that is released"),
        "{said}"
    );
    assert!(said.contains("Left out: How much noise could be spared?"), "{said}");
    assert!(html.contains("the upper end bounds every mix") && html.contains("a / discrete Gaussian"), "{html}");
}
