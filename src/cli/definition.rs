//! The command line of the program as a whole, for the files that read it: set once, when the program starts.

use std::sync::OnceLock;

use clap::Command;

use super::help;

static DEFINITION: OnceLock<fn() -> Command> = OnceLock::new();

/// Sets the function that makes the commands and their options.
pub fn set(definition: fn() -> Command) {
    // A second one is the same.
    let _ = DEFINITION.set(definition);
}

/// The command line, its help in groups and an example under the help of every command.
pub fn command() -> Command {
    help::with_groups(DEFINITION.get().map_or_else(|| Command::new("assay"), |definition| definition()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Arg, Command, CommandFactory};

    /// The names in a field of an argument: clap shows its requirements and conflicts only in its debug format.
    fn names(arg: &Arg, field: &str) -> BTreeSet<String> {
        let debug = format!("{arg:?}");
        let (_, list) = debug.split_once(&format!(" {field}: [")).unwrap();
        let (list, _) = list.split_once(']').unwrap();
        list.split('"').skip(1).step_by(2).map(str::to_string).collect()
    }

    fn members(command: &Command, name: &str) -> Vec<String> {
        let group = command.get_groups().find(|group| group.get_id() == name);
        group.map_or_else(|| vec![name.to_string()], |group| group.get_args().map(ToString::to_string).collect())
    }

    /// The arguments that an argument names as conflicts, and the other members of exclusive groups.
    fn named(command: &Command, arg: &Arg) -> BTreeSet<String> {
        let own = arg.get_id().to_string();
        let named = names(arg, "conflicts").into_iter().chain(names(arg, "overrides"));
        let mut all: BTreeSet<String> = named.flat_map(|name| members(command, &name)).collect();
        for group in command.get_groups().filter(|group| !(*group).clone().is_multiple()) {
            let args: Vec<String> = group.get_args().map(ToString::to_string).collect();
            if args.contains(&own) {
                all.extend(args.into_iter().filter(|other| *other != own));
            }
        }
        all
    }

    fn conflict(command: &Command, a: &Arg, b: &Arg) -> bool {
        named(command, a).contains(b.get_id().as_str()) || named(command, b).contains(a.get_id().as_str())
    }

    /// The arguments that clap accepts without one that they require, each with the one that is given instead.
    fn dropped(command: &Command, path: &str, found: &mut Vec<String>) {
        let path = format!("{path} {}", command.get_name());
        for arg in command.get_arguments() {
            for required in names(arg, "requires") {
                let Some(required) = command.get_arguments().find(|other| *other.get_id() == *required) else {
                    continue;
                };
                for other in command.get_arguments().filter(|other| other.get_id() != arg.get_id()) {
                    if conflict(command, required, other) && !conflict(command, arg, other) {
                        found.push(format!(
                            "{path}: --{} without --{} beside --{}",
                            arg.get_id(),
                            required.get_id(),
                            other.get_id()
                        ));
                    }
                }
            }
        }
        command.get_subcommands().for_each(|inner| dropped(inner, &path, found));
    }

    /// clap drops a requirement if the required argument conflicts with one that is given: the option that needs it would then
    /// do nothing. So whatever conflicts with a required argument conflicts with the requiring one, too.
    #[test]
    fn no_requirement_is_dropped() {
        super::set(<crate::cli::Cli<crate::Applications> as CommandFactory>::command);
        let mut command = super::command();
        command.build();
        let mut found = Vec::new();
        dropped(&command, "", &mut found);
        assert!(found.is_empty(), "{found:#?}");
        // The test sees the fault that it is about.
        let flags = |names: [&'static str; 3]| names.map(|name| Arg::new(name).long(name));
        let [a, b, c] = flags(["needs", "needed", "other"]);
        let faulty = Command::new("faulty").args([a.requires("needed"), b.conflicts_with("other"), c]);
        assert!(faulty.clone().try_get_matches_from(["faulty", "--needs", "1", "--other", "1"]).is_ok());
        dropped(&faulty, "", &mut found);
        assert_eq!(found, [" faulty: --needs without --needed beside --other"]);
    }
}
