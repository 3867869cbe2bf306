//! The groups of `assay --help`, and an example for every command: one table for help and manual pages.

use clap::{
    Arg, ArgAction, Command,
    builder::{ArgPredicate, styling::Styles},
};

use super::wrap::wrapped;

/// Help is no wider, even on the widest terminal.
pub const WIDEST: usize = 110;

/// The width of help: that of the terminal, or of `COLUMNS`, or 100.
fn width() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let named = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    terminal.or_else(named).filter(|width| *width > 0).unwrap_or(100).clamp(40, WIDEST)
}

/// Commands that belong together.
pub struct Group {
    /// The heading.
    title: &'static str,
    /// The command whose example is shown for the whole group.
    shown: &'static str,
    /// In reading order.
    pub entries: &'static [Entry],
}

/// A command and its examples.
pub struct Entry {
    /// The command, or a command and its subcommand: `epsilon`, `risk single`.
    pub path: &'static str,
    /// The arguments of an example, and what a shell does with its output.
    arguments: &'static str,
    /// The same for a mechanism or files of the user's own, if the first is for a published release.
    own: Option<&'static str>,
}

impl Entry {
    /// Its command lines.
    pub fn examples(&self) -> impl Iterator<Item = String> {
        let line = |arguments| format!("assay {} {arguments}", self.path).trim_end().to_string();
        std::iter::once(self.arguments).chain(self.own).map(line)
    }
}

const fn entry(path: &'static str, arguments: &'static str) -> Entry {
    Entry { path, arguments, own: None }
}

const fn with_own(path: &'static str, arguments: &'static str, own: &'static str) -> Entry {
    Entry { path, arguments, own: Some(own) }
}

/// All commands. One that is missing here fails a test below.
pub const GROUPS: &[Group] = &[
    Group {
        title: "Account for a release or a mechanism",
        shown: "epsilon",
        entries: &[
            with_own("epsilon", "--release su-su-wang-2025 --delta 1e-11", "--discrete-gaussian 5x10 --delta 1e-9"),
            with_own(
                "delta",
                "--discrete-gaussian 5x10 --epsilon 10",
                "--noise-multiplier 1 --sample-rate 0.01 --steps 1000 --epsilon 2",
            ),
            entry("curve", "--discrete-gaussian 5x10 --from 0 --to 12 --points 25 --csv"),
            entry("tradeoff", "--discrete-gaussian 5x10 --alpha 0.05"),
            with_own("compare", "--release su-su-wang-2025 --delta 1e-10", "--discrete-gaussian 5x10 --delta 1e-9"),
            with_own("explain", "--release su-su-wang-2025 --delta 1e-10", "--discrete-gaussian 5x10 --delta 1e-9"),
            with_own(
                "prove",
                "--release su-su-wang-2025 --delta 1e-10 --out certificate.json",
                "--discrete-gaussian 5x10 --delta 1e-9 --out certificate.json",
            ),
            with_own(
                "ledger",
                "us-2020-persons --delta 1e-10 --digits 8",
                "own.toml --add release.toml --promise 2 --delta 1e-6",
            ),
            with_own(
                "calibrate",
                "--release su-su-wang-2025 --delta 1e-11 --match zcdp",
                "--discrete-gaussian 5x10 --posterior 0.6 --prior 1/2",
            ),
            entry("allocate", "queries.toml --epsilon 4 --delta 1e-9"),
            with_own(
                "report",
                "--release su-su-wang-2025 --out report.html",
                "--discrete-gaussian 5x10 --delta 1e-9 --nist sheet.html",
            ),
            with_own(
                "memo",
                "--release su-su-wang-2025 --out memo",
                "--discrete-gaussian 5x10 --delta 1e-9 --out memo",
            ),
            #[cfg(feature = "explore")]
            entry("explore", "--release su-su-wang-2025"),
        ],
    },
    Group {
        title: "Noise",
        shown: "noise",
        entries: &[
            entry("noise", "counts.csv --column count --discrete-gaussian 5 --out noisy.csv"),
            entry("sample", "--discrete-gaussian 456.62 --count 10"),
            entry("audit", "--draws draws.txt --law discrete-gaussian:5"),
            entry("errors", "--discrete-gaussian 456.62 --discrete-gaussian 343.27 --count 50"),
            entry("simulate", "counts.csv --y earnings --categories a,b,c --discrete-gaussian 5 --trials 1000"),
        ],
    },
    Group {
        title: "Releases and mechanisms",
        shown: "spine",
        entries: &[
            entry("laws", ""),
            entry("releases", "--new"),
            entry("schema", "pl94-persons-us"),
            entry("spine", "--blocks blocks.csv --plan plan.toml --out spine --delta 1e-10"),
            entry("measure", "--spine spine --counts counts.csv --release pl94-persons-us --out measurements"),
            entry("estimate", "--spine spine --measurements measurements --release pl94-persons-us --out estimates"),
            entry("nmf", "check US_Person_PL_PROD --release pl94-persons-us"),
            entry("nmf check", "US_Person_PL_PROD --release pl94-persons-us"),
            entry(
                "nmf estimate",
                "US_Person_PL_PROD --release pl94-persons-us --variables P1_001N --tabulation County --out counties.csv",
            ),
            entry("nmf audit", "US_Person_PL_PROD --release pl94-persons-us"),
            entry("nmf codes", "P5"),
            entry("nmf compare", "estimates.csv others.csv"),
            entry(
                "tabulate",
                "--config config.json --spec spec --persons persons.txt --geography GRF-C.txt --out release",
            ),
            entry("tune", "--rho 0.159"),
            entry(
                "rehearse",
                "--config config.json --spec spec --geography GRF-C.txt --made-up 100000 --trials 10 --out rehearsal",
            ),
        ],
    },
    Group {
        title: "Risk",
        shown: "risk",
        entries: &[
            with_own(
                "risk",
                "bound --release su-su-wang-2025 --prior 1/2",
                "bound --discrete-gaussian 5x10 --prior 1/2",
            ),
            entry("risk single", "--rho 0.099 --prior 1/2"),
            entry("risk hierarchical", "--rho 0.099,0.246 --others 27 --prior 1/2 --truth 1,1,0"),
            with_own("risk bound", "--release su-su-wang-2025 --prior 1/2", "--discrete-gaussian 5x10 --prior 1/2"),
            with_own(
                "risk curve",
                "--release su-su-wang-2025 --level State --prior 0.01",
                "--discrete-gaussian 5x10 --prior 0.01",
            ),
            entry("risk postprocess", "--rho 0.099 --others 27 --prior 1/2 --published 10"),
            entry("risk sampler", "--rho 0.099,0.246 --others 27 --prior 1/2 --noisy 2,1,-1 --as-printed"),
        ],
    },
    Group {
        title: "Evidence",
        shown: "verify",
        entries: &[
            entry("verify", "su-su-wang-2025"),
            entry("deployments", "google-mobility"),
            entry("figures", "su-su-wang-2025/figure-7 --out figures"),
        ],
    },
    Group {
        title: "This program",
        shown: "help",
        entries: &[
            entry("completions", "bash > ~/.local/share/bash-completion/completions/assay"),
            entry("man", "--out ~/.local/share/man/man1"),
            entry("help", "epsilon"),
        ],
    },
];

impl Group {
    /// The example of the whole group.
    pub fn example(&self) -> String {
        self.entries
            .iter()
            .filter(|entry| entry.path == self.shown)
            .flat_map(Entry::examples)
            .next()
            .unwrap_or_default()
    }
}

/// The commands of all groups.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    GROUPS.iter().flat_map(|group| group.entries)
}

/// A command line with its help in groups and an example under the help of every command.
pub fn with_groups(program: Command) -> Command {
    let mut program = with_required_first(with_json_strings(program));
    let groups = groups(&program);
    // clap makes `help` itself, at the end.
    for entry in entries().filter(|entry| entry.path != "help") {
        program = with_example(program, entry.path, entry);
    }
    const END: &str = "`assay help COMMAND` lists a command's options and an example. The guide: docs/guide/README.md, beside the source.";
    let end = wrapped(END, width()).join("\n");
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\n{header}Options:{header:#}\n{{options}}\n\n{end}\n",
        header = Styles::styled().get_header()
    ))
}

/// Gives every command that has `--json` the form in which numbers are strings, which implies `--json`.
fn with_json_strings(command: Command) -> Command {
    let command = command.mut_subcommands(with_json_strings);
    let has = |id: &str| command.get_arguments().any(|argument| argument.get_id() == id);
    if !has("json") {
        return command;
    }
    let strings = Arg::new("json_strings")
        .long("json-strings")
        .help("The same, with every number as a string of its digits")
        .action(ArgAction::SetTrue);
    let strings = if has("csv") { strings.conflicts_with("csv") } else { strings };
    let implied = |json: Arg| json.default_value_if("json_strings", ArgPredicate::IsPresent, Some("true"));
    command.mut_arg("json", implied).arg(strings)
}

/// Lists required options before the others, which keep their order.
fn with_required_first(command: Command) -> Command {
    let command = command.mut_subcommands(with_required_first);
    let is_first = |argument: &&Arg| argument.is_required_set();
    let (first, others): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(|argument| !argument.is_positional()).partition(is_first);
    let order: Vec<clap::Id> = first.into_iter().chain(others).map(|argument| argument.get_id().clone()).collect();
    command.mut_args(|argument| match order.iter().position(|id| id == argument.get_id()) {
        Some(place) => argument.display_order(place),
        None => argument,
    })
}

/// `path` is the remaining path of the entry below `command`.
fn with_example(command: Command, path: &str, entry: &Entry) -> Command {
    match path.split_once(' ') {
        Some((first, rest)) => command.mut_subcommand(first, |sub| with_example(sub, rest, entry)),
        None => command.mut_subcommand(path, |sub| {
            let examples: Vec<String> = entry.examples().map(|example| broken(&example, 2)).collect();
            let title = if examples.len() == 1 { "Example" } else { "Examples" };
            let header = Styles::styled().get_header().to_owned();
            with_narrow_usage(sub, entry.path)
                .after_help(format!("{header}{title}:{header:#}\n  {}", examples.join("\n  ")))
        }),
    }
}

/// Breaks the line of the usage if the terminal is narrower; clap breaks all other lines.
fn with_narrow_usage(command: Command, path: &str) -> Command {
    const HEADING: &str = "Usage: ";
    let usage = command.clone().bin_name(format!("assay {path}")).render_usage().to_string();
    if usage.chars().count() <= width() {
        return command;
    }
    let lines = wrapped(usage.trim_start_matches(HEADING), width() - HEADING.len() - 2);
    command.override_usage(lines.join(&format!("\n{}", " ".repeat(HEADING.len() + 2))))
}

/// A command line that is at most as wide as the terminal: a line ending in `\` continues on the next one.
fn broken(example: &str, indent: usize) -> String {
    wrapped(example, width() - indent - 6).join(&format!(" \\\n{}", " ".repeat(6)))
}

/// A heading for each group, a line for each of its commands, and one example.
fn groups(program: &Command) -> String {
    const NAME: usize = 13;
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let about = |name: &str| {
        let known = program.find_subcommand(name).and_then(Command::get_about);
        known.map_or_else(|| "The help of a command".to_string(), ToString::to_string)
    };
    let mut text = String::new();
    for group in GROUPS {
        text += &format!("\n{header}{}:{header:#}\n", group.title);
        for entry in group.entries.iter().filter(|entry| !entry.path.contains(' ')) {
            let about = wrapped(&about(entry.path), width() - NAME - 2);
            let about = about.join(&format!("\n{}", " ".repeat(NAME + 2)));
            text += &format!("  {literal}{:<NAME$}{literal:#}{about}\n", entry.path);
        }
        text += &format!("  Example: {}\n", broken(&group.example(), 11));
    }
    text
}

#[cfg(test)]
#[path = "../../tests/common/listing.rs"]
mod listing;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::{super::Cli as Generic, *};

    type Cli = Generic<crate::Applications>;

    fn whole_program() -> Command {
        with_groups(Cli::command())
    }

    /// `command`, and below it every subcommand with its path.
    fn paths(command: &Command, path: &str) -> Vec<String> {
        command
            .get_subcommands()
            .flat_map(|sub| {
                let name = format!("{path} {}", sub.get_name()).trim().to_string();
                [vec![name.clone()], paths(sub, &name)].concat()
            })
            .collect()
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut known = paths(&Cli::command(), "");
        known.push("help".to_string());
        let listed: Vec<&str> = entries().map(|entry| entry.path).collect();
        assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "listed twice");
        assert_eq!(
            listed.into_iter().collect::<BTreeSet<_>>(),
            known.iter().map(String::as_str).collect(),
            "commands and the table of their groups differ"
        );
    }

    #[test]
    fn every_example_is_a_command_line_of_its_command() {
        for entry in entries().filter(|entry| entry.path != "help") {
            for example in entry.examples() {
                let words: Vec<&str> =
                    example.split_whitespace().take_while(|word| ![">", "2>", "|"].contains(word)).collect();
                if let Err(error) = whole_program().try_get_matches_from(&words) {
                    panic!("{example}: {error}");
                }
            }
        }
    }

    /// Also of the commands that take too long for a test to run them.
    #[test]
    fn every_command_of_the_guide_is_understood() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let chapters = std::fs::read_dir(root.join("docs/guide")).expect("the guide");
        let mut files: Vec<_> = chapters.map(|entry| entry.expect("a chapter").path()).collect();
        files.extend(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
        let mut understood = 0;
        for file in files {
            let document = std::fs::read_to_string(&file).expect("UTF-8");
            for block in listing::blocks(&document) {
                for command in block.commands {
                    let line = listing::without_comment(&command.text);
                    let words: Vec<&str> =
                        line.split_whitespace().take_while(|word| ![">", "2>", "|"].contains(word)).collect();
                    if words[0] != "assay" {
                        continue;
                    }
                    if let Err(error) = whole_program().try_get_matches_from(&words) {
                        panic!("{}, line {}: {error}", file.display(), command.line);
                    }
                    understood += 1;
                }
            }
        }
        assert!(understood > 40, "only {understood} commands were found");
    }

    /// A command that accounts for counts has an example with counts of the user's own.
    #[test]
    fn every_accounting_command_has_an_example_of_a_mechanism_of_ones_own() {
        let program = whole_program();
        for entry in entries() {
            let names: Vec<&str> = entry.path.split(' ').collect();
            let Some(found) = names.iter().try_fold(&program, |at, name| at.find_subcommand(name)) else { continue };
            let has = |id: &str| found.get_arguments().any(|argument| argument.get_id() == id);
            if has("discrete-gaussian") && has("release") {
                let is_own =
                    |example: String| example.contains("--discrete-gaussian") && !example.contains("--release");
                assert!(entry.examples().any(is_own), "{}", entry.path);
            }
        }
    }

    #[test]
    fn options_that_are_required_come_first() {
        let mut program = whole_program();
        program.build();
        fn check(command: &Command, seen: &mut usize) {
            let mut options: Vec<&Arg> = command.get_arguments().filter(|argument| !argument.is_positional()).collect();
            options.sort_by_key(|argument| argument.get_display_order());
            let first_other = options.iter().position(|argument| !argument.is_required_set()).unwrap_or(options.len());
            assert!(
                options[first_other..].iter().all(|argument| !argument.is_required_set()),
                "{}",
                command.get_name()
            );
            *seen += first_other;
            command.get_subcommands().for_each(|sub| check(sub, seen));
        }
        let mut seen = 0;
        check(&program, &mut seen);
        assert!(seen > 10, "only {seen} required options were found");
        let help = whole_program().find_subcommand_mut("epsilon").expect("a command").render_help().to_string();
        assert!(help.find("--delta <DELTA>") < help.find("--release <NAME|FILE>"), "{help}");
    }

    #[test]
    fn every_group_shows_an_example_of_its_own() {
        assert!(GROUPS.iter().all(|group| !group.example().is_empty()));
    }

    #[test]
    fn the_definitions_are_consistent() {
        whole_program().debug_assert();
    }
}
