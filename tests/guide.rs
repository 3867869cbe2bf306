//! README and the guide are correct: every command in them runs, every listing is what the program prints, every link leads somewhere, and
//! every quoted timing was measured.

#![cfg(unix)]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::common::{
    listing::{Block, blocks, without_comment},
    verified::verified,
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README and every chapter of the guide, by their path from the root.
fn documents() -> Vec<String> {
    let chapters = fs::read_dir(root().join("docs/guide")).unwrap();
    let mut names: Vec<String> =
        chapters.map(|entry| format!("docs/guide/{}", entry.unwrap().file_name().to_str().unwrap())).collect();
    names.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "RELEASING.md"].map(String::from));
    names.sort();
    names
}

fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The folder of Rhode Island's public files, if available.
fn facts() -> Option<PathBuf> {
    let folder = Path::new(&std::env::var_os("ASSAY_FACTS")?).join("geography/rhode-island");
    folder.is_dir().then_some(folder)
}

/// The reason why a block is not run here, if there is one.
fn skipped(block: &Block) -> Option<&str> {
    match block.note.as_str() {
        "needs facts" if facts().is_none() => Some("ASSAY_FACTS does not name the folder of public data"),
        note => note.strip_prefix("not run: "),
    }
}

/// The bundled data: links to all of it, except copies of the records that commands draw from, because a log of the draws stays beside
/// them.
fn copy_or_link(from: &Path, to: &Path) {
    const COPIED: [&str; 5] = ["data", "examples", "safetab", "safetab-aldria", "safetab-h"];
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        let is_copied = COPIED.iter().any(|copied| name == *copied);
        match (entry.is_dir(), from.file_name().is_some_and(|name| name.to_string_lossy().starts_with("safetab"))) {
            (true, false) if is_copied => copy_or_link(&entry, &to.join(name)),
            (false, true) => fs::copy(&entry, to.join(name)).map(drop).unwrap(),
            (true, _) | (false, false) => symlink(&entry, to.join(name)).unwrap(),
        }
    }
}

/// A folder in which the commands of a document run, with the bundled data beside them.
fn workplace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_or_link(&root().join("data"), &folder.path().join("data"));
    if let Some(facts) = facts() {
        for file in fs::read_dir(facts).unwrap().map(Result::unwrap) {
            symlink(file.path(), folder.path().join(file.file_name())).unwrap();
        }
    }
    folder
}

fn run(command: &str, folder: &Path) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("assay");
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .env_remove("ASSAY_FACTS")
        .output()
        .unwrap()
}

/// The outcome of a command.
struct Ran {
    is_done: bool,
    /// What is printed, with the message of a refusal.
    shown: String,
    errors: String,
}

fn ran(command: &str, folder: &Path) -> Ran {
    // It takes a minute, and another test needs its answer as well.
    if command == "assay verify" {
        return Ran { is_done: true, shown: verified().summary.clone(), errors: String::new() };
    }
    let output = run(command, folder);
    let [out, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let is_done = output.status.success();
    Ran { is_done, shown: if is_done { out } else { format!("{out}{errors}") }, errors }
}

/// Whether a line is as shown; `...` at its end matches anything.
fn is_line(shown: &str, printed: &str) -> bool {
    shown.strip_suffix(" ...").map_or(shown == printed, |start| printed.starts_with(start.trim_end()))
}

/// Whether lines are as shown; a line `...` matches any lines.
fn matches(shown: &[String], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == "..." => (0..=printed.len()).any(|skip| matches(rest, &printed[skip..])),
        Some((first, rest)) => printed.first().is_some_and(|line| is_line(first, line)) && matches(rest, &printed[1..]),
    }
}

/// Runs the commands of a document in order, and compares their output with the listings.
///
/// `cat FILE` of a file that does not exist yet shows an input: it is written as shown.
fn check(name: &str) {
    let folder = workplace();
    for block in blocks(&text(name)) {
        if let Some(reason) = skipped(&block) {
            eprintln!("{name}, line {}: not run: {reason}", block.line);
            continue;
        }
        for command in &block.commands {
            let line = without_comment(&command.text);
            if let Some(file) = line.strip_prefix("cat ")
                && !folder.path().join(file).exists()
            {
                fs::write(folder.path().join(file), command.printed.join("\n") + "\n").unwrap();
                continue;
            }
            if !block.is_listing && !line.starts_with("assay ") {
                // A script or a tool; its existence is checked below.
                continue;
            }
            let Ran { is_done, shown, errors } = ran(line, folder.path());
            let printed: Vec<&str> = shown.lines().collect();
            if block.is_listing {
                assert!(
                    matches(&command.printed, &printed),
                    "{name}, line {}: `{line}` prints\n{shown}\nand not\n{}",
                    command.line,
                    command.printed.join("\n")
                );
            } else {
                assert!(is_done, "{name}, line {}: `{line}` fails: {errors}", command.line);
            }
        }
    }
}

/// One test for each document, so that they run in parallel.
macro_rules! documents {
    ($($test:ident: $name:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            check($name);
        })*

        const CHECKED: &[&str] = &[$($name),*];
    };
}

documents! {
    readme: "README.md",
    architecture: "ARCHITECTURE.md",
    contributing: "CONTRIBUTING.md",
    index: "docs/guide/README.md",
    releasing: "RELEASING.md",
    accounting: "docs/guide/accounting.md",
    assumptions: "docs/guide/assumptions.md",
    audit: "docs/guide/audit.md",
    attacks: "docs/guide/attacks.md",
    calibrating: "docs/guide/calibrating.md",
    cell_keys: "docs/guide/cell-keys.md",
    certificates: "docs/guide/certificates.md",
    command_line: "docs/guide/command-line.md",
    deployments: "docs/guide/deployments.md",
    evidence: "docs/guide/evidence.md",
    explore: "docs/guide/explore.md",
    glossary: "docs/guide/glossary.md",
    install: "docs/guide/install.md",
    library: "docs/guide/library.md",
    noise: "docs/guide/noise.md",
    other_noise: "docs/guide/other-noise.md",
    published_values: "docs/guide/published-values.md",
    python: "docs/guide/python.md",
    r: "docs/guide/r.md",
    noisy_areas: "docs/guide/noisy-areas.md",
    noisy_estimates: "docs/guide/noisy-estimates.md",
    noisy_measurements: "docs/guide/noisy-measurements.md",
    releases_and_ledgers: "docs/guide/releases-and-ledgers.md",
    report: "docs/guide/report.md",
    risk: "docs/guide/risk.md",
    safetab: "docs/guide/safetab.md",
    safetab_elsewhere: "docs/guide/safetab-elsewhere.md",
    speed: "docs/guide/speed.md",
    spines_and_topdown: "docs/guide/spines-and-topdown.md",
}

#[test]
fn no_chapter_is_left_out() {
    let known: BTreeSet<String> = CHECKED.iter().map(ToString::to_string).collect();
    assert_eq!(known, documents().into_iter().collect(), "tests/guide.rs checks other documents than there are");
    let index = text("docs/guide/README.md");
    let lib = text("src/lib.rs");
    for name in documents() {
        if let Some(chapter) = name.strip_prefix("docs/guide/").filter(|chapter| *chapter != "README.md") {
            assert!(index.contains(&format!("({chapter})")), "the index does not name {chapter}");
        }
        let has_code = text(&name).lines().any(|line| line.starts_with("```rust"));
        assert!(!has_code || lib.contains(&format!("../{name}")), "the code of {name} is not run with the doctests");
    }
}

#[test]
fn every_command_is_in_the_guide() {
    let help = String::from_utf8(run("assay --help", root()).stdout).unwrap();
    let (commands, _) = help.split_once("Options:").unwrap();
    let table = text("docs/guide/accounting.md");
    let is_command = |word: &&str| !word.starts_with("Example:") && *word != "help";
    // An indented line continues the line above.
    let own = commands.lines().filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    let names: Vec<&str> = own.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 20, "{names:?}");
    let names = names.into_iter();
    for name in names.filter(is_command) {
        assert!(table.contains(&format!("`assay {name}")), "the table of all commands lacks {name}");
    }
}

#[test]
fn readme_is_a_short_front_door() {
    let lines = text("README.md").lines().count();
    assert!(lines <= 180, "README.md has {lines} lines");
}

/// The anchor of a heading on the usual hosting sites.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-').collect::<String>().replace(' ', "-")
}

#[test]
fn every_link_leads_somewhere() {
    for name in documents() {
        let document = text(&name);
        let place = root().join(&name);
        for target in document.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.starts_with("http") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { place.clone() } else { place.parent().unwrap().join(file) };
            assert!(path.exists(), "{name}: the link to {target} leads nowhere");
            if !heading.is_empty() {
                let linked = fs::read_to_string(&path).unwrap();
                let mut headings = linked.lines().filter(|line| line.starts_with('#'));
                let found = headings.any(|line| anchor(line.trim_start_matches('#')) == heading);
                assert!(found, "{name}: no heading for {target}");
            }
        }
    }
}

#[test]
fn every_script_and_example_that_is_named_exists() {
    let manifest = text("Cargo.toml");
    for name in documents() {
        for block in blocks(&text(&name)) {
            for command in &block.commands {
                let words: Vec<&str> = without_comment(&command.text).split_whitespace().collect();
                let script = words.iter().find(|word| word.starts_with("scripts/"));
                assert!(script.is_none_or(|script| root().join(script).is_file()), "{name}: {script:?}");
                for (option, folder) in [("--example", "examples"), ("--bench", "benches"), ("--test", "tests")] {
                    let Some(at) = words.iter().position(|word| *word == option) else { continue };
                    let target = words[at + 1];
                    let file = root().join(folder).join(format!("{target}.rs"));
                    let main = root().join(folder).join(target).join("main.rs");
                    let is_named = manifest.contains(&format!("name = \"{target}\""));
                    assert!(file.is_file() || main.is_file() || is_named, "{name}: {option} {target}");
                }
            }
        }
    }
}

/// A quoted time, such as `1.2 ms` or `0.81 s`, in nanoseconds, and its number of significant digits.
fn quoted(cell: &str) -> Option<(f64, usize)> {
    let (number, unit) = cell.trim().split_once(' ')?;
    let scale = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)].iter().find(|(name, _)| *name == unit)?.1;
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    Some((number.parse::<f64>().ok()? * scale, digits.trim_start_matches('0').len()))
}

#[test]
fn every_quoted_speed_was_measured() {
    // date, commit, machine, bench, unit, median, low, high
    let mut measured = Vec::new();
    let mut reader = csv::Reader::from_path(root().join("results/bench.csv")).unwrap();
    for record in reader.records().map(Result::unwrap) {
        assert_eq!((record.len(), &record[4]), (8, "ns"), "{record:?}");
        let [median, low, high]: [f64; 3] = [5, 6, 7].map(|column| record[column].parse().unwrap());
        assert!(low <= median && median <= high, "{record:?}");
        measured.push((record[3].to_string(), median));
    }
    let mut quotes = 0;
    for name in documents() {
        // A table row whose last cell names the benchmark in backquotes.
        for line in text(&name).lines().filter(|line| line.starts_with("| ") && line.ends_with("` |")) {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let bench = cells[cells.len() - 1].trim_matches('`');
            let Some((time, digits)) = quoted(cells[cells.len() - 2]) else { continue };
            let last = measured.iter().rev().find(|(known, _)| known == bench);
            let (_, median) = last.unwrap_or_else(|| panic!("{name}: results/bench.csv has no {bench}"));
            let half_unit = 0.5 * 10_f64.powi(median.log10().floor() as i32 + 1 - digits as i32);
            assert!((time - median).abs() <= 1.001 * half_unit, "{name} quotes {time} ns for {bench}: {median} ns");
            quotes += 1;
        }
    }
    assert!(quotes > 0);
    // README has one of them on its first screen, with its source.
    let readme = text("README.md");
    let first = readme.split("## Install").next().unwrap();
    let rest = first.split_once("the epsilon of 80 counts, certified to 12 digits, takes ").unwrap().1;
    let (time, rest) = rest.split_once(" (").unwrap();
    assert!(rest.starts_with("[measured](results/bench.csv)"), "{rest}");
    let (_, median) = measured.iter().rev().find(|(known, _)| known == "80 counts/epsilon, 12 digits").unwrap();
    let (time, digits) = quoted(time).unwrap();
    assert!(digits >= 2 && (time - median).abs() <= 0.05 * 1e6, "README: {time} ns, measured {median} ns");
}

/// The table of a page written by scripts: its headings and its rows, without code marks.
fn marked_table(page: &str, name: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let (_, rest) = page.split_once(&format!("<!-- table: {name} -->\n")).unwrap();
    let (table, _) = rest.split_once("<!-- end of table -->").unwrap();
    let cells = |line: &str| -> Vec<String> {
        let inner = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")).unwrap();
        inner.split(" | ").map(|cell| cell.trim().replace('`', "")).collect()
    };
    let mut lines = table.lines().map(cells);
    (lines.next().unwrap(), lines.skip(1).collect())
}

/// Measurements that scripts wrote into the chapter on speed are also in results/.
#[test]
fn every_table_of_speeds_is_that_of_the_results() {
    let page = text("docs/guide/speed.md");
    for name in ["goals", "reach", "scale", "scale-state"] {
        let (headings, rows) = marked_table(&page, name);
        let mut kept = csv::Reader::from_path(root().join(format!("results/{name}.csv"))).unwrap();
        let columns: Vec<String> = kept.headers().unwrap().iter().map(String::from).collect();
        assert_eq!(headings, columns[..headings.len()], "{name}");
        let kept: Vec<Vec<String>> = kept
            .records()
            .map(|row| row.unwrap().iter().take(headings.len()).map(|cell| cell.replace('`', "")).collect())
            .collect();
        assert_eq!(rows, kept, "{name}");
    }
}

#[test]
fn every_file_that_is_named_exists() {
    for name in documents() {
        for word in text(&name).split('`').skip(1).step_by(2) {
            let is_path = ["src/", "crates/", "tests/", "data/", "examples/", "scripts/", "benches/"]
                .iter()
                .any(|folder| word.starts_with(folder));
            let is_general =
                word.contains(char::is_whitespace) || word.chars().any(char::is_uppercase) || word.contains('*');
            assert!(!is_path || is_general || root().join(word).exists(), "{name}: there is no {word}");
        }
    }
}
