//! Every option of every command does something: beside an example in `tests/options.toml` it changes an output, or is refused.
//!
//! The options are those of the definition of the command line, as the completions for a shell list them: a new option without an example fails.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use toml::{Table, Value};

const EXAMPLES: &str = include_str!("options.toml");
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// An outcome: exit status, standard output, standard error, and the files in the folder.
#[derive(PartialEq)]
struct Outcome {
    status: Option<i32>,
    texts: BTreeMap<String, Vec<u8>>,
}

/// A command beside which options are tried.
struct Example {
    command: String,
    words: Vec<String>,
    folder: PathBuf,
    takes: Vec<Vec<String>>,
    refuses: Vec<Vec<String>>,
}

/// A run of a command with an option, or without.
fn run(folder: &Path, words: &[String]) -> Outcome {
    let own = tempfile::tempdir().unwrap();
    copy(folder, own.path());
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    // The examples run side by side: one thread each.
    command.env("RAYON_NUM_THREADS", "1").env_remove("ASSAY_FACTS");
    let output = command.current_dir(own.path()).args(words).stdin(Stdio::null()).output().unwrap();
    let mut texts = BTreeMap::from([("stdout".to_string(), output.stdout), ("stderr".to_string(), output.stderr)]);
    read(own.path(), "", &mut texts);
    Outcome { status: output.status.code(), texts }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &place),
            false => drop(fs::copy(&path, &place).unwrap()),
        }
    }
}

fn read(folder: &Path, prefix: &str, texts: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}/{}", path.file_name().unwrap().to_string_lossy());
        match path.is_dir() {
            true => read(&path, &name, texts),
            false => drop(texts.insert(name, fs::read(&path).unwrap())),
        }
    }
}

/// A text without the option itself, which provenance and messages repeat.
fn without(text: &[u8], option: &[String]) -> String {
    let is_mark = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',');
    let flat = |text: &str| text.split(is_mark).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let text = format!("{} ", flat(&String::from_utf8_lossy(text)));
    let text = text.replace(&format!(" {} ", flat(&option.join(" "))), " ");
    // The digits in provenance.
    let mut kept = String::new();
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        if word == "digits" && words.peek() == Some(&":") {
            words.nth(1);
        } else {
            kept += word;
            kept.push(' ');
        }
    }
    kept
}

/// Whether an option changes nothing but its own mention.
fn is_same(base: &Outcome, with: &Outcome, option: &[String]) -> bool {
    base.status == with.status
        && base.texts.keys().eq(with.texts.keys())
        // A log of draws has keys of its own.
        && base.texts.iter().filter(|(name, _)| !name.ends_with(".log")).all(|(name, text)| {
            let other = &with.texts[name];
            text == other || without(text, option) == without(other, option)
        })
}

/// The words of a line: between blanks, or in single quotes.
fn words(text: &str) -> Vec<String> {
    let text = text.replace("{root}", ROOT);
    let quoted = text.split('\'').enumerate();
    quoted
        .flat_map(|(at, piece)| match at % 2 {
            0 => piece.split_whitespace().map(str::to_string).collect(),
            _ => vec![piece.to_string()],
        })
        .collect()
}

fn strings(table: &Table, key: &str) -> Vec<String> {
    let list = table.get(key).and_then(Value::as_array);
    list.into_iter().flatten().map(|value| value.as_str().unwrap().to_string()).collect()
}

/// The words without the option and its value, if it is among them.
fn without_option(words: &[String], option: &str) -> Vec<String> {
    let Some(at) = words.iter().position(|word| word == option) else { return words.to_vec() };
    let is_value = |word: &&String| !word.starts_with("--");
    let values = words[at + 1..].iter().take(1).take_while(is_value).count();
    [&words[..at], &words[at + 1 + values..]].concat()
}

/// The folder of an example: its files, and what the commands before it wrote.
fn set_up(example: &Table, files: &Table, folder: &Path) {
    for name in strings(example, "files") {
        let text = files.get(&name).and_then(Value::as_str).unwrap_or_else(|| panic!("[files] lacks {name}"));
        fs::write(folder.join(name), text).unwrap();
    }
    for name in strings(example, "folders") {
        fs::create_dir(folder.join(name)).unwrap();
    }
    for (name, source) in example.get("copies").and_then(Value::as_table).into_iter().flatten() {
        let source = Path::new(ROOT).join(source.as_str().unwrap());
        match source.is_dir() {
            true => copy(&source, &folder.join(name)),
            false => drop(fs::copy(&source, folder.join(name)).unwrap()),
        }
    }
    for name in strings(example, "without") {
        fs::remove_dir_all(folder.join(name)).unwrap();
    }
    for line in strings(example, "before") {
        let output = Command::new(env!("CARGO_BIN_EXE_assay")).current_dir(folder).args(words(&line)).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The examples, each with its folder.
fn examples(all: &Table, folder: &Path) -> Vec<Example> {
    let (points, files) = (all["points"].as_table().unwrap(), all["files"].as_table().unwrap());
    let tables: Vec<&Table> =
        all["example"].as_array().unwrap().iter().map(|value| value.as_table().unwrap()).collect();
    let in_order = in_threads(tables.len(), |at| {
        let (table, folder) = (tables[at], folder.join(at.to_string()));
        fs::create_dir(&folder).unwrap();
        set_up(table, files, &folder);
        let options = |key: &str| strings(table, key).iter().map(|line| words(line)).collect::<Vec<_>>();
        strings(table, "commands")
            .into_iter()
            .map(move |command| {
                let point = points.get(&command).and_then(Value::as_str).unwrap_or_default();
                let own = words(&table["words"].as_str().unwrap().replace("{point}", point));
                let words = [words(&command), own].concat();
                let folder = folder.clone();
                Example { command, words, folder, takes: options("takes"), refuses: options("refuses") }
            })
            .collect::<Vec<_>>()
    });
    in_order.into_iter().flatten().collect()
}

/// The results of `count` tasks, on all processors.
fn in_threads<T: Send>(count: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    let result = task(at);
                    done.lock().unwrap().push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// What is wrong beside an example.
fn faults(example: &Example) -> Vec<String> {
    let base = run(&example.folder, &example.words);
    let said = |outcome: &Outcome| String::from_utf8_lossy(&outcome.texts["stderr"]).into_owned();
    let mut found = Vec::new();
    for (option, is_taken) in
        example.takes.iter().map(|option| (option, true)).chain(example.refuses.iter().map(|option| (option, false)))
    {
        // A value of the example's own makes way, unless the option adds to it.
        let is_added = ["--discrete-gaussian", "--law"].contains(&option[0].as_str());
        let kept = if is_added { example.words.clone() } else { without_option(&example.words, &option[0]) };
        let line = [&kept[..], option].concat();
        // An option of the example itself is compared with the words without it.
        let is_own = kept.len() < example.words.len() && example.words.windows(option.len()).any(|own| own == option);
        let without_it = is_own.then(|| run(&example.folder, &kept));
        let (base, with) = (without_it.as_ref().unwrap_or(&base), run(&example.folder, &line));
        let shown = line.join(" ");
        match (is_taken, with.status) {
            (true, Some(0 | 1)) if is_same(base, &with, option) => found.push(format!("changes nothing: {shown}")),
            (true, Some(0 | 1)) | (false, Some(2)) => {}
            // There is no number to show, which is an answer.
            (false, Some(1)) if said(&with).contains("no epsilon is finite") => {}
            (true, _) => found.push(format!("is refused: {shown}: {}", said(&with))),
            (false, _) => found.push(format!("is not refused: {shown}")),
        }
    }
    found
}

/// The options of every command, from the definition of the command line.
fn defined() -> BTreeSet<(String, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_assay")).args(["completions", "bash"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut found = BTreeSet::new();
    let mut command = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(path) = line.strip_suffix(')').filter(|path| path.starts_with("assay__subcmd__")) {
            command = path.split("__subcmd__").skip(1).map(str::to_string).collect();
        } else if let Some(list) = line.strip_prefix("opts=\"")
            && !command.is_empty()
            && !command.contains(&"help".to_string())
        {
            let options = list.trim_end_matches('"').split(' ').filter(|word| word.starts_with("--"));
            let own = options.filter(|option| !["--help", "--version"].contains(option));
            found.extend(own.map(|option| (command.join(" "), option.to_string())));
        }
    }
    found
}

#[test]
fn every_option_changes_an_output_or_is_refused() {
    let all: Table = EXAMPLES.parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let examples = examples(&all, folder.path());
    let wrong: Vec<String> = in_threads(examples.len(), |at| faults(&examples[at])).into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} options:\n{}", wrong.len(), wrong.join("\n"));
    // Every option has an example in which it takes effect, or a reason why none is here.
    let elsewhere: BTreeSet<(String, String)> = (all["elsewhere"].as_table().unwrap().iter())
        .flat_map(|(command, options)| {
            options.as_table().unwrap().keys().map(|option| (command.clone(), option.clone()))
        })
        .collect();
    let shown = |example: &Example| {
        let command = example.command.clone();
        example.takes.iter().map(move |option| (command.clone(), option[0].clone())).collect::<Vec<_>>()
    };
    let shown: BTreeSet<_> = examples.iter().flat_map(shown).collect();
    let defined = defined();
    assert!(defined.len() > 700, "{}", defined.len());
    let lacking: Vec<_> =
        defined.iter().filter(|option| !shown.contains(option) && !elsewhere.contains(option)).collect();
    assert!(lacking.is_empty(), "options without an example in tests/options.toml: {lacking:?}");
    let unknown: Vec<_> =
        elsewhere.iter().filter(|option| !defined.contains(option) || shown.contains(option)).collect();
    assert!(unknown.is_empty(), "no such options, or they have an example: {unknown:?}");
}

#[test]
fn an_option_that_does_nothing_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let example = |takes: &str, refuses: &str| Example {
        command: "laws".to_string(),
        words: words("laws"),
        folder: folder.path().to_path_buf(),
        takes: vec![words(takes)],
        refuses: vec![words(refuses)],
    };
    // The default form is no change, and another form is not refused.
    let found = faults(&example("--format table", "--format md"));
    assert_eq!(found, ["changes nothing: laws --format table", "is not refused: laws --format md"]);
    assert_eq!(without(b"a \"--digits\", \"9\"\n b", &words("--digits 9")).trim(), "a b");
    assert_eq!(without(b"{ \"digits\": 9, \"a\" }", &words("--digits 9")).trim(), "{ a }");
}
