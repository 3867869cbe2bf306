//! The call of this process: the form of its answer, and the provenance of its output.
//!
//! Everything is read from the command line of the process, each time anew: nothing is kept.

use std::{env, ffi::OsString, path::Path};

use anyhow::{Context, Result};
use clap::{ArgMatches, Command};
use dp_assay::{
    account::Counts,
    law::Entry,
    ledger::{LedgerFile, description_of},
    provenance::{Input, Provenance},
    release::input::public_input as recorded,
};

use super::definition;

/// How the content of an input is recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is hashed.
    Public,
    /// It is hashed: a file, after whose name a count and a shift may stand.
    Counted,
    /// A file that follows the name of a law, as in `table:noise.csvx10`, is hashed; other laws have none.
    OfLaw,
    /// The same after the rate of a sample, as in `0.01:table:noise.csvx10`.
    OnSample,
    /// A ledger: it is hashed, and so is everything that its account reads.
    Ledger,
    /// A release that may be added to a ledger: the file that describes it is hashed.
    Candidate,
    /// It is only named.
    Confidential,
    /// It is only named: hashing it would read it twice.
    Large,
}

/// The arguments that name inputs, by their ids.
const INPUTS: &[(&str, Kind)] = &[
    ("add", Kind::Candidate),
    ("area_totals", Kind::Public),
    ("areas", Kind::Public),
    ("blocks", Kind::Public),
    ("certificates", Kind::Public),
    ("check", Kind::Candidate),
    ("config", Kind::Public),
    ("counts", Kind::Confidential),
    ("draws", Kind::Large),
    ("entries", Kind::Public),
    ("file", Kind::Public),
    ("first", Kind::Public),
    ("folder", Kind::Large),
    ("geography", Kind::Public),
    ("hierarchy", Kind::Public),
    ("households", Kind::Confidential),
    ("input", Kind::Confidential),
    ("law", Kind::OfLaw),
    ("ledger", Kind::Ledger),
    ("measurements", Kind::Public),
    ("nmf", Kind::Large),
    ("p-table", Kind::Counted),
    ("pair", Kind::Counted),
    ("persons", Kind::Confidential),
    ("place_names", Kind::Public),
    ("plan", Kind::Public),
    ("published", Kind::Public),
    ("published_counts", Kind::Public),
    ("recodes", Kind::Public),
    ("release", Kind::Public),
    ("sampled", Kind::OnSample),
    ("second", Kind::Public),
    ("spec", Kind::Public),
    ("spine", Kind::Public),
    ("state_totals", Kind::Public),
    ("table", Kind::Counted),
    ("targets", Kind::Public),
    ("totals", Kind::Public),
    ("truth", Kind::Confidential),
    ("units", Kind::Confidential),
    ("verify_output", Kind::Public),
    ("with", Kind::Public),
    ("without", Kind::Public),
];

/// The words after the program, and their meaning.
struct Invocation {
    words: Vec<OsString>,
    /// The whole command and its arguments; `None` if the words are no command line.
    meant: Option<(Command, ArgMatches)>,
}

impl Invocation {
    fn of_process() -> Invocation {
        let words: Vec<OsString> = env::args_os().skip(1).collect();
        let mut command = definition::command();
        let matches = command.try_get_matches_from_mut(std::iter::once(OsString::from("assay")).chain(words.clone()));
        let meant = matches.ok().map(|matches| innermost(command, matches));
        Invocation { words, meant }
    }

    fn command_line(&self) -> Vec<String> {
        let words = self.words.iter().map(|word| word.to_string_lossy().into_owned());
        std::iter::once("assay".to_string()).chain(words).collect()
    }

    fn provenance(&self) -> Result<Provenance> {
        let command_line = self.command_line();
        let Some((command, matches)) = &self.meant else {
            return Ok(Provenance {
                command_line,
                digits: None,
                inputs: Vec::new(),
                insecure_seed: None,
                date: None,
                misfit: None,
            });
        };
        let digits = has(command, "digits").then(|| matches.get_one::<u32>("digits").copied()).flatten();
        let mut inputs = Vec::new();
        // Beside --power, --draws is a number; beside a prior, --published and --truth are counts.
        let is_no_input = |id: &str| match id {
            "draws" => has(command, "power") && matches.get_flag("power"),
            "published" | "truth" => has(command, "prior"),
            // A ledger to start from is written, and none is read.
            "ledger" => has(command, "new") && matches.contains_id("new"),
            _ => false,
        };
        for (id, kind) in INPUTS.iter().filter(|(id, _)| names_something(command, id) && !is_no_input(id)) {
            for name in matches.get_raw(id).into_iter().flatten() {
                for input in inputs_of(&name.to_string_lossy(), *kind)? {
                    if !inputs.contains(&input) {
                        inputs.push(input);
                    }
                }
            }
        }
        let insecure_seed =
            has(command, "insecure_seed").then(|| matches.get_one::<u64>("insecure_seed").copied()).flatten();
        Ok(Provenance { command_line, digits, inputs, insecure_seed, date: None, misfit: None })
    }
}

/// The command and its parent command, as typed: `assay risk bound`. It includes no names of files.
pub fn command_name() -> String {
    let words = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let is_name = |word: &String| word.bytes().all(|byte| byte.is_ascii_lowercase());
    let names: Vec<String> = words.take(2).take_while(is_name).collect();
    match names.as_slice() {
        [group, own] if ["risk", "nmf"].contains(&group.as_str()) => format!("assay {group} {own}"),
        [name, ..] => format!("assay {name}"),
        [] => "assay".to_string(),
    }
}

/// The command of this process and its arguments; `None` if the words are no command line.
pub fn meant() -> Option<(Command, ArgMatches)> {
    Invocation::of_process().meant
}

/// Whether an argument of this id names an input.
#[cfg(test)]
pub fn is_input(id: &str) -> bool {
    INPUTS.iter().any(|(known, _)| *known == id)
}

/// The words of the command line, the program by its name.
pub fn words() -> Vec<String> {
    Invocation::of_process().command_line()
}

/// The provenance of the answer of this process; its inputs are hashed in their present state.
pub fn provenance() -> Result<Provenance> {
    Invocation::of_process().provenance()
}

/// Whether numbers are to be written as strings.
pub fn wants_strings() -> bool {
    given(&["--json-strings"])
}

/// Whether the answer, and therefore an error, is to be JSON: also if the command line is invalid.
pub fn wants_json() -> bool {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let format = |pair: &[OsString]| pair[0] == "--format" && pair[1] == "json";
    given(&["--json", "--json-strings", "--format=json"]) || words.windows(2).any(format)
}

/// Whether one of these words occurs before `--`.
fn given(options: &[&str]) -> bool {
    env::args_os().skip(1).take_while(|word| word != "--").any(|word| options.iter().any(|known| word == *known))
}

fn has(command: &Command, id: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_id() == id)
}

/// Whether an argument of this id has a value: `--check` of other commands is a flag.
fn names_something(command: &Command, id: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_id() == id && argument.get_action().takes_values())
}

/// The subcommand that runs, with its arguments.
fn innermost(command: Command, matches: ArgMatches) -> (Command, ArgMatches) {
    let Some((name, below)) = matches.subcommand() else { return (command, matches) };
    match command.find_subcommand(name) {
        Some(sub) => innermost(sub.clone(), below.clone()),
        None => (command, matches),
    }
}

/// An input that another input names.
pub fn public_input(name: &str) -> Result<Input> {
    public(name)
}

fn public(name: &str) -> Result<Input> {
    recorded(name).context("the provenance of the answer")
}

/// The input that an argument names, and those that it names itself.
fn inputs_of(name: &str, kind: Kind) -> Result<Vec<Input>> {
    // A table that is designed has no file.
    if kind == Kind::Counted && name.starts_with('?') && !Path::new(name).exists() {
        return Ok(Vec::new());
    }
    let mut names = vec![name.to_string()];
    match kind {
        Kind::Ledger => names.extend(LedgerFile::find(name)?.read_beside(name)),
        Kind::Candidate => names = vec![description_of(name)],
        _ => return Ok(input(name, kind)?.into_iter().collect()),
    }
    names.iter().map(|name| public(name)).collect()
}

/// The input that an argument names; `None` for a law that has no file.
fn input(name: &str, kind: Kind) -> Result<Option<Input>> {
    let counted = |text: &str| public(&Counts::named_file(text).unwrap_or_else(|_| text.to_string()));
    // After the rate of a sample, the same as without it.
    let on_sample = |text: &str| text.split_once(':').map(|(_, law)| law.to_string()).unwrap_or_default();
    let own = match kind {
        Kind::OnSample => on_sample(name),
        _ => name.strip_prefix("sampled:").map_or_else(|| name.to_string(), on_sample),
    };
    let of_law = || own.split_once(':').filter(|(law, _)| Entry::named(law).is_some_and(Entry::is_file));
    Ok(match kind {
        Kind::Confidential => Some(Input::confidential(Path::new(name))),
        Kind::Large => Some(Input::not_hashed(Path::new(name))),
        Kind::Public | Kind::Ledger | Kind::Candidate => Some(public(name)?),
        Kind::Counted => Some(counted(name)?),
        Kind::OfLaw | Kind::OnSample => of_law().map(|(_, text)| counted(text)).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use clap::ValueHint;
    use dp_assay::provenance::Content;

    use super::*;

    /// Arguments that name outputs, working folders, folders of public data that are not read as a whole, or a secret.
    const OTHERS: &[&str] = &[
        "checker",
        "cluster_token",
        "covariance",
        "csv",
        "new",
        "nist",
        "out",
        "facts",
        "registry",
        "rocq",
        "shared",
        "state",
        "svg",
        "table_out",
        "work",
    ];

    fn check(command: &Command) {
        for argument in command.get_arguments() {
            let id = argument.get_id().as_str();
            let is_path = argument.get_value_hint() == ValueHint::AnyPath && argument.get_action().takes_values();
            let is_known = INPUTS.iter().any(|(known, _)| *known == id) || OTHERS.contains(&id);
            assert!(!is_path || is_known, "{} --{id}: is it an input, and confidential?", command.get_name());
        }
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn every_argument_that_names_a_file_is_an_input_or_an_output() {
        definition::set(<crate::cli::Cli<crate::Applications> as clap::CommandFactory>::command);
        check(&definition::command());
        assert!(INPUTS.windows(2).all(|pair| pair[0].0 < pair[1].0), "sorted, each once");
    }

    #[test]
    fn a_file_is_hashed_whatever_count_and_shift_follow_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("noise.csv").display().to_string();
        std::fs::write(&path, "value,mass\n0,1\n").unwrap();
        let plain = input(&path, Kind::Counted).unwrap().unwrap();
        assert!(matches!(plain.content, Content::Sha256(_)));
        for end in ["x10", "@2", "x3@2", "x3@=2", "x?", "@?", "x?@1"] {
            assert_eq!(input(&format!("{path}{end}"), Kind::Counted).unwrap(), Some(plain.clone()), "{end}");
            assert_eq!(input(&format!("table:{path}{end}"), Kind::OfLaw).unwrap(), Some(plain.clone()), "{end}");
        }
        let on_sample = format!("0.1:table:{path}x10");
        assert_eq!(input(&on_sample, Kind::OnSample).unwrap(), Some(plain.clone()));
        assert_eq!(input(&format!("sampled:{on_sample}"), Kind::OfLaw).unwrap(), Some(plain.clone()));
        assert_eq!(input("0.1:gaussian:1x10", Kind::OnSample).unwrap(), None);
        assert_eq!(input("discrete-gaussian:5x10", Kind::OfLaw).unwrap(), None);
        // A file whose own name ends like a count.
        let other = format!("{path}x10");
        std::fs::write(&other, "value,mass\n1,1\n").unwrap();
        std::fs::remove_file(&path).unwrap();
        let other = input(&other, Kind::Counted).unwrap().unwrap();
        assert!(other.name.ends_with("noise.csvx10") && other.content != plain.content);
        assert_eq!(input(&path, Kind::Counted).unwrap().unwrap().content, Content::NotHashed);
    }

    #[test]
    fn bundled_inputs_are_hashed_as_they_stand_in_the_data() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let file = root.join("data/releases/su-su-wang-2025.toml").display().to_string();
        let hashed = |name: &str| input(name, Kind::Public).unwrap().unwrap().content;
        assert_eq!(hashed("su-su-wang-2025"), hashed(&file));
        assert!(matches!(hashed("su-su-wang-2025"), Content::Sha256(_)));
        assert_eq!(hashed("nosuch"), Content::NotHashed);
        assert_eq!(input(&file, Kind::Confidential).unwrap().unwrap().content, Content::Confidential);
    }
}
