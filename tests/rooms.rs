//! The order of the rooms and of their files: a room imports only from rooms below it, and files do not import each other in a circle.
//!
//! The source is read, not compiled: every `use`, and every path that begins at a module. An import of a name that a module only passes on with
//! `pub use` is one of the file that has it. Code for tests is left out.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The rooms from the bottom up. A room imports only from those before it.
const ORDER: [&str; 26] = [
    "numeric",
    "io",
    "document",
    "law",
    "loss",
    "noise",
    "audit",
    "draws",
    "account",
    "release",
    "risk",
    "prelude",
    "spine",
    "topdown",
    "safetab",
    "ledger",
    "certificate",
    "chart",
    "replication",
    "deployments",
    "memo",
    "sheet",
    "cli",
    "explore",
    "python",
    "main",
];

/// The crates by the names that paths have here, and their first files.
const CRATES: [(&str, &str); 4] = [
    ("core", "crates/core/src/lib.rs"),
    ("lib", "src/lib.rs"),
    ("main", "src/main.rs"),
    ("python", "python/src/lib.rs"),
];

#[test]
fn no_room_imports_a_higher_one() {
    let source = Source::of_repository();
    let back: Vec<String> = source
        .imports()
        .iter()
        .flat_map(|(from, to)| to.iter().map(move |to| (from, to)))
        .filter(|(from, to)| height(from).zip(height(to)).is_some_and(|(from, to)| from < to))
        .map(|(from, to)| format!("{from} imports {to}"))
        .collect();
    assert!(back.is_empty(), "{} arrows to a higher room:\n{}", back.len(), back.join("\n"));
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let imports = Source::of_repository().imports();
    let circles = circles(&imports);
    let within = |file: &String, circle: &[String]| {
        let to: Vec<&str> = imports[file].iter().filter(|to| circle.contains(to)).map(String::as_str).collect();
        format!("  {file} imports {}", to.join(", "))
    };
    let listed: Vec<String> = circles
        .iter()
        .map(|circle| circle.iter().map(|file| within(file, circle)).collect::<Vec<_>>().join("\n"))
        .collect();
    assert!(circles.is_empty(), "{} circles:\n{}", circles.len(), listed.join("\n\n"));
}

#[test]
fn every_room_has_its_height() {
    let source = Source::of_repository();
    let imports = source.imports();
    let unknown: BTreeSet<&str> = imports.keys().map(|file| room(file)).filter(|room| !ORDER.contains(room)).collect();
    assert!(unknown.is_subset(&BTreeSet::from(["error", "lib", "proofs"])), "no height for {unknown:?}");
    let arrows: usize = imports.values().map(BTreeSet::len).sum();
    assert!(imports.len() > 500 && arrows > 2000, "{} files with {arrows} imports were read", imports.len());
}

#[test]
fn every_table_of_files_lists_all_of_its_files() {
    let source = Source::of_repository();
    let mut wrong = Vec::new();
    let mut rooms = BTreeSet::new();
    for (path, module) in source.modules.iter().filter(|(path, _)| path[0] != "python") {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&module.file)).unwrap();
        let declared = declared_files(&text);
        match listed_files(&text) {
            Some(listed) => {
                wrong.extend(declared.difference(&listed).map(|name| format!("{}: no row for {name}", module.file)));
                rooms.extend(path.get(1).filter(|_| path.len() == 2));
            }
            None if path.len() == 2 && module.file.ends_with("/mod.rs") => {
                wrong.push(format!("{}: no table of its files", module.file));
            }
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rooms.len() > 20, "{rooms:?}");
    // A table that lacks a row is found.
    let text = "//! | file | content |\n//! | --- | --- |\n//! | [`mod@a`], `b` | `c` |\n\nmod a;\npub(crate) mod c;\n#[cfg(test)]\nmod tests;\n";
    let lacking: Vec<String> = declared_files(text).difference(&listed_files(text).unwrap()).cloned().collect();
    assert_eq!(lacking, ["c"]);
}

/// The modules that a file declares as files of their own, without those for tests.
fn declared_files(text: &str) -> BTreeSet<String> {
    let lines: Vec<&str> = text.lines().collect();
    let name = |(at, line): (usize, &&str)| {
        let is_test = at > 0 && lines[at - 1].starts_with("#[cfg(test");
        let (before, rest) = line.strip_suffix(';')?.split_once("mod ").filter(|_| !is_test)?;
        (before.is_empty() || before.starts_with("pub")).then(|| rest.to_string())
    };
    lines.iter().enumerate().filter_map(name).collect()
}

/// The names in the first column of the table of files at the head of a file; none without such a table.
fn listed_files(text: &str) -> Option<BTreeSet<String>> {
    let (_, table) = text.split_once("//! | file |")?;
    let rows = table.lines().skip(1).map_while(|line| line.strip_prefix("//! |"));
    let first = rows.filter_map(|row| row.split('|').next().map(str::to_string));
    let names = first.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_string).collect::<Vec<_>>());
    Some(names.map(|name| name.trim_start_matches("mod@").to_string()).collect())
}

#[test]
fn circles_and_passed_names_are_found() {
    let files = [
        ("src/lib.rs", "mod a; mod b; pub mod c; mod d; pub use dp_assay_core::low;"),
        ("src/a.rs", "use crate::b::{Passed, deep::X as Y}; /* crate::c::Z */ pub fn h() {}"),
        ("src/b/mod.rs", "mod deep; mod other; pub use other::Passed; #[cfg(test)] mod tests { use crate::c; }"),
        ("src/b/deep.rs", "pub struct X; fn f() -> &'static str { super::other::g(); \"crate::c::Z\" }"),
        ("src/b/other.rs", "pub struct Passed; pub fn g() { crate::a::h() }"),
        ("src/c.rs", "use crate::a::*; pub struct Z;"),
        ("crates/core/src/lib.rs", "pub mod low;"),
        ("crates/core/src/low.rs", "pub struct Low;"),
        ("src/d.rs", "use crate::low::Low;"),
    ];
    let source = Source::new(files.map(|(name, text)| (name.to_string(), text.to_string())).into());
    let imports = source.imports();
    let of = |file: &str| imports[file].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(of("src/a.rs"), ["src/b/deep.rs", "src/b/other.rs"]);
    assert_eq!(of("src/c.rs"), ["src/a.rs"]);
    assert_eq!(of("src/d.rs"), ["crates/core/src/low.rs"]);
    assert_eq!(circles(&imports), [["src/a.rs", "src/b/deep.rs", "src/b/other.rs"]]);
}

/// The height of the room of a file; none for files that belong to no room, such as the errors that all share.
fn height(file: &str) -> Option<usize> {
    ORDER.iter().position(|room| *room == self::room(file))
}

fn room(file: &str) -> &str {
    match file.strip_prefix("crates/core/").unwrap_or(file).strip_prefix("src/") {
        Some(below) => below.split(['/', '.']).next().unwrap_or_default(),
        None => "python",
    }
}

/// Groups of files of which each imports, over others, every other one.
fn circles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    // Files that import nothing that may be in a circle are in none.
    let mut open: BTreeMap<&str, BTreeSet<&str>> =
        imports.iter().map(|(file, to)| (file.as_str(), to.iter().map(String::as_str).collect())).collect();
    loop {
        let done: BTreeSet<&str> = open.iter().filter(|(_, to)| to.is_empty()).map(|(file, _)| *file).collect();
        if done.is_empty() {
            break;
        }
        open.retain(|file, _| !done.contains(file));
        open.values_mut().for_each(|to| to.retain(|file| !done.contains(file)));
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> = open.keys().map(|file| (*file, reach(&open, file))).collect();
    let mutual = |file: &&str| -> Vec<String> {
        let back = |other: &&&str| reached.get(**other).is_some_and(|back| back.contains(file));
        reached[file].iter().filter(back).map(ToString::to_string).collect()
    };
    let found: BTreeSet<Vec<String>> =
        open.keys().filter(|file| reached[**file].contains(**file)).map(mutual).collect();
    found.into_iter().collect()
}

fn reach<'a>(imports: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = imports.get(from).into_iter().flatten().copied().collect();
    while let Some(file) = open.pop() {
        if reached.insert(file) {
            open.extend(imports.get(file).into_iter().flatten());
        }
    }
    reached
}

/// A module: the file that it stands in, what it defines, and what it imports.
#[derive(Default)]
struct Module {
    file: String,
    items: BTreeSet<String>,
    children: BTreeSet<String>,
    /// The path that a name stands for here; `*` for all names of a module.
    uses: Vec<(String, Vec<String>)>,
    paths: Vec<Vec<String>>,
}

/// All modules by their paths: `lib::numeric::root`.
struct Source {
    modules: BTreeMap<Vec<String>, Module>,
}

impl Source {
    fn of_repository() -> Source {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = BTreeMap::new();
        let mut open: Vec<PathBuf> = CRATES.iter().map(|(_, file)| root.join(file)).collect();
        open.iter_mut().for_each(|path| _ = path.pop());
        open.dedup();
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).expect("the folder of a room can be read") {
                let path = entry.expect("so can its entries").path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|kind| kind == "rs") {
                    let name = path
                        .strip_prefix(root)
                        .expect("it is below the repository")
                        .to_string_lossy()
                        .replace('\\', "/");
                    files.insert(name, fs::read_to_string(&path).expect("source is text"));
                }
            }
        }
        Source::new(files)
    }

    fn new(files: BTreeMap<String, String>) -> Source {
        let mut source = Source { modules: BTreeMap::new() };
        for (crate_name, root) in CRATES {
            if files.contains_key(root) {
                source.read(&files, root, vec![crate_name.to_string()]);
            }
        }
        source
    }

    /// Reads one file as a module, and the files of the modules that it declares.
    fn read(&mut self, files: &BTreeMap<String, String>, file: &str, path: Vec<String>) {
        let words = words(&files[file]);
        let mut reader = Reader { words: &words, at: 0, file, files_of_children: Vec::new() };
        reader.module(self, path);
        let stem = file.strip_suffix(".rs").unwrap_or(file);
        let is_folder = ["lib", "main", "mod"].iter().any(|name| stem.ends_with(&format!("/{name}")));
        let folder = if is_folder { stem.rsplit_once('/').map_or("", |(folder, _)| folder) } else { stem };
        for child in reader.files_of_children {
            let name = child.last().cloned().unwrap_or_default();
            let found = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")]
                .into_iter()
                .find(|file| files.contains_key(file));
            if let Some(found) = found {
                self.read(files, &found, child);
            }
        }
    }

    /// Which files each file imports.
    fn imports(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, module) in &self.modules {
            let to = imports.entry(module.file.clone()).or_default();
            let used = module
                .uses
                .iter()
                .map(|(name, of)| if name == "*" { [of.as_slice(), &["*".to_string()]].concat() } else { of.clone() });
            for named in used.chain(module.paths.iter().cloned()) {
                to.extend(
                    self.resolve(path, &named, Way::default(), &mut BTreeSet::new())
                        .filter(|file| *file != module.file),
                );
            }
        }
        imports
    }

    /// The file that has what a path names in a module.
    fn resolve(
        &self,
        within: &[String],
        named: &[String],
        way: Way,
        seen: &mut BTreeSet<Vec<String>>,
    ) -> Option<String> {
        let module = self.modules.get(within)?;
        let (first, rest) = named.split_first()?;
        if way.steps > 20 || !seen.insert([within, &["/".to_string()], named].concat()) {
            return None;
        }
        let mut into = |base: &[String]| {
            if rest.is_empty() {
                self.modules.get(base).map(|module| module.file.clone())
            } else {
                self.resolve(base, rest, Way { is_below: true, ..way }, seen)
            }
        };
        match first.as_str() {
            "crate" => into(&within[..1]),
            "dp_assay" => into(&["lib".to_string()]),
            "dp_assay_core" => into(&["core".to_string()]),
            "self" => into(within),
            "super" => into(&within[..within.len() - 1]),
            "*" => Some(module.file.clone()),
            _ if module.children.contains(first) => into(&[within, std::slice::from_ref(first)].concat()),
            _ if module.items.contains(first) => Some(module.file.clone()),
            _ => {
                let passed = module.uses.iter().find_map(|(name, of)| match name == first {
                    true if of.len() > 1 || of.first() != Some(first) => self.resolve(
                        within,
                        &[of.as_slice(), rest].concat(),
                        Way { steps: way.steps + 1, is_below: false, ..way },
                        seen,
                    ),
                    false if name == "*" && (way.is_below || !way.is_guess) => self.resolve(
                        within,
                        &[of.as_slice(), named].concat(),
                        Way { steps: way.steps + 1, is_below: false, is_guess: true },
                        seen,
                    ),
                    _ => None,
                });
                // An item made by a macro is not seen.
                passed.or_else(|| (way.is_below && !way.is_guess).then(|| module.file.clone()))
            }
        }
    }
}

/// How a name was come to: over how many `use`, whether the last step went into a module, and whether a `*` stood on the way.
#[derive(Clone, Copy, Default)]
struct Way {
    steps: usize,
    is_below: bool,
    is_guess: bool,
}

/// Reads modules from the words of a file.
struct Reader<'a> {
    words: &'a [String],
    at: usize,
    file: &'a str,
    files_of_children: Vec<Vec<String>>,
}

impl Reader<'_> {
    fn word(&self, ahead: usize) -> &str {
        self.words.get(self.at + ahead).map_or("", String::as_str)
    }

    /// All of a module up to its closing brace or the end of the file.
    fn module(&mut self, source: &mut Source, path: Vec<String>) {
        let mut module = Module { file: self.file.to_string(), ..Module::default() };
        let mut depth = 0;
        while self.at < self.words.len() {
            match (self.word(0), self.word(1)) {
                ("}", _) if depth == 0 => break,
                ("{", _) => depth += 1,
                ("}", _) => depth -= 1,
                ("#", "[") if self.is_test() => {
                    self.skip_item();
                    continue;
                }
                ("mod", name) if is_name(name) && [";", "{"].contains(&self.word(2)) => {
                    let child = [path.as_slice(), &[name.to_string()]].concat();
                    module.children.insert(name.to_string());
                    if self.word(2) == ";" {
                        self.files_of_children.push(child);
                    } else {
                        self.at += 3;
                        self.module(source, child);
                    }
                }
                // To whom something is visible is no import.
                ("pub", "(") => self.at += self.words[self.at..].iter().position(|word| word == ")").unwrap_or(0),
                ("use", _) => {
                    self.at += 1;
                    self.tree(&[], &mut module.uses);
                }
                ("fn" | "struct" | "enum" | "trait" | "type" | "const" | "static", name)
                    if depth == 0 && is_name(name) =>
                {
                    module.items.insert(name.to_string());
                }
                (first, "::") if is_name(first) && !(self.at > 0 && self.words[self.at - 1] == "::") => {
                    let mut named = vec![first.to_string()];
                    while self.word(1) == "::" && is_name(self.word(2)) {
                        self.at += 2;
                        named.push(self.word(0).to_string());
                    }
                    module.paths.push(named);
                }
                _ => {}
            }
            self.at += 1;
        }
        source.modules.insert(path, module);
    }

    /// One tree of a `use`: its names and what they stand for.
    fn tree(&mut self, before: &[String], uses: &mut Vec<(String, Vec<String>)>) {
        let mut path = before.to_vec();
        loop {
            match self.word(0).to_string().as_str() {
                "::" => {}
                "*" => uses.push(("*".to_string(), path.clone())),
                "{" => loop {
                    self.at += 1;
                    match self.word(0) {
                        "}" => return,
                        "," => {}
                        _ => {
                            self.tree(&path, uses);
                            if self.word(1) == "}" {
                                self.at += 1;
                                return;
                            }
                        }
                    }
                },
                "self" if !path.is_empty() => {}
                name => path.push(name.to_string()),
            }
            match self.word(1) {
                "as" => {
                    uses.push((self.word(2).to_string(), path));
                    self.at += 2;
                    return;
                }
                "::" | "{" | "*" if self.word(0) != "*" => self.at += 1,
                next if is_name(next) && self.word(0) == "::" => self.at += 1,
                _ => break,
            }
        }
        if self.word(0) != "*" {
            uses.push((path.last().cloned().unwrap_or_default(), path));
        }
    }

    /// Whether an attribute says that its item is for tests only.
    fn is_test(&self) -> bool {
        let words: Vec<&str> =
            self.words[self.at..].iter().take_while(|word| *word != "]").map(String::as_str).collect();
        words.contains(&"cfg") && words.contains(&"test") && !words.contains(&"not")
    }

    /// Goes behind an item with its attributes: behind the first semicolon or brace that closes it.
    fn skip_item(&mut self) {
        let mut depth = 0;
        while self.at < self.words.len() {
            match self.word(0) {
                "{" | "[" | "(" => depth += 1,
                "}" | "]" | ")" => depth -= 1,
                _ => {}
            }
            let ends = depth == 0
                && (self.word(0) == ";" || self.word(0) == "}" && self.word(1) != ";" && self.word(1) != ",");
            self.at += 1;
            if ends {
                return;
            }
        }
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The words of Rust source: names, `::` and single signs; without comments, strings and characters.
fn words(text: &str) -> Vec<String> {
    let signs: Vec<char> = text.chars().collect();
    let (mut words, mut at) = (Vec::new(), 0);
    let is = |at: usize, sign: char| signs.get(at) == Some(&sign);
    while at < signs.len() {
        let sign = signs[at];
        if sign == '/' && is(at + 1, '/') {
            at += signs[at..].iter().position(|sign| *sign == '\n').unwrap_or(signs.len() - at);
        } else if sign == '/' && is(at + 1, '*') {
            at = (at + 2..signs.len()).find(|end| is(*end, '*') && is(end + 1, '/')).map_or(signs.len(), |end| end + 2);
        } else if sign == '"' {
            at = behind_string(&signs, at + 1);
        } else if sign == '\'' {
            at = behind_character(&signs, at);
        } else if sign.is_alphanumeric() || sign == '_' {
            let length = signs[at..].iter().take_while(|sign| sign.is_alphanumeric() || **sign == '_').count();
            let word: String = signs[at..at + length].iter().collect();
            at += length;
            let fences = signs[at..].iter().take_while(|sign| **sign == '#').count();
            if ["r", "br"].contains(&word.as_str()) && is(at + fences, '"') {
                let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', fences)).collect();
                at += fences + 1;
                at += signs[at..]
                    .windows(close.len())
                    .position(|part| part == close)
                    .map_or(signs.len() - at, |end| end + close.len());
            } else {
                words.push(word);
            }
        } else if sign == ':' && is(at + 1, ':') {
            words.push("::".to_string());
            at += 2;
        } else {
            if !sign.is_whitespace() {
                words.push(sign.to_string());
            }
            at += 1;
        }
    }
    words
}

fn behind_string(signs: &[char], mut at: usize) -> usize {
    while at < signs.len() && signs[at] != '"' {
        at += if signs[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Behind a character such as `'a'` or `'\n'`; behind the quote of a lifetime.
fn behind_character(signs: &[char], at: usize) -> usize {
    if signs.get(at + 1) == Some(&'\\') {
        return (at + 3..signs.len()).find(|end| signs[*end] == '\'').map_or(signs.len(), |end| end + 1);
    }
    if signs.get(at + 2) == Some(&'\'') { at + 3 } else { at + 1 }
}
