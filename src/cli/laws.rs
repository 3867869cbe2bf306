//! `assay laws`, and the options of all mechanisms: one for every row of the table of laws, and `--law` for all of them.

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches, error::ErrorKind};
use dp_assay::{
    account::training::Run,
    document::fields::Fields,
    law::{ENTRIES, Entry},
};
use serde_json::json;

use super::{exit::Exit, page::FormArgs};

/// The option for any law.
const LAW: &str = "law";

/// Lists the mechanisms that can be accounted for: the text of each and what it means
#[derive(clap::Args)]
#[command(long_about = about())]
pub struct Args {
    #[command(flatten)]
    form: FormArgs,
}

/// The help of `assay help laws`, which lists them as well.
fn about() -> String {
    let how = "Lists the mechanisms that can be accounted for: the text of each and what it means\n\nEach is an option of its own, as in --discrete-gaussian 5x10, \
               and a name after --law, as in --law discrete-gaussian:5x10. COUNT is the number of counts that one record changes, each by at most SHIFT; @=SHIFT: by \
               exactly that. Options are repeatable: all that is given is composed.";
    let lines = ENTRIES.iter().map(|entry| format!("\n\n{}\n    COUNT {}", usage(entry), entry.about));
    let training = "\n\nA training run with DP-SGD, in place of --dp-sgd:".to_string();
    let options = TRAINING.iter().map(|(name, value, about)| format!("\n\n--{name} {value}\n    {about}"));
    std::iter::once(how.to_string()).chain(lines).chain([training]).chain(options).collect()
}

pub fn run(args: &Args) -> Result<Exit> {
    let mut page = args.form.page();
    let law = |entry: &Entry| {
        let law = Fields::new().with("law", entry.option).with("text", entry.text);
        law.cell("option", usage(entry)).shown("about", "COUNT of", entry.about)
    };
    let laws: Vec<Fields> = ENTRIES.iter().map(law).collect();
    page.object(json!({ "laws": laws }));
    page.rows(&laws);
    page.done()
}

/// An option with its text: `--laplace SCALE[xCOUNT][@SHIFT]`.
fn usage(entry: &Entry) -> String {
    format!("--{} {}", entry.option, entry.text)
}

/// The ids of all these options.
pub fn ids() -> impl Iterator<Item = &'static str> {
    std::iter::once(LAW).chain(TRAINING.map(|(name, ..)| name)).chain(ENTRIES.iter().map(|entry| entry.option))
}

/// The options of a training run: name, value and help.
const TRAINING: [(&str, &str, &str); 6] = [
    ("noise-multiplier", "S", "DP-SGD: noise of S clipping norms a step; `assay help laws` has the options beside it"),
    ("sample-rate", "Q", "The probability with which each record is in the sample of a step"),
    ("batch-size", "B", "In place of --sample-rate: B of --records N in a batch on average, Q = B / N"),
    ("records", "N", "The number of records, which is public"),
    ("steps", "T", "The number of steps"),
    (
        "epochs",
        "E",
        "In place of --steps: passes over the records, each ceil(N / B) steps of batches; by a rate ceil(E / Q) steps in all",
    ),
];

/// The mechanisms that were given, in the order of the table.
pub struct Laws {
    /// Each with its row.
    pub given: Vec<OneLaw>,
    /// The conditions under which they are what was meant, in sentences.
    pub conditions: Vec<String>,
}

/// One of them.
pub struct OneLaw {
    /// Its row in the table of laws.
    pub entry: &'static Entry,
    /// Its text.
    pub text: String,
    /// The option as it was given.
    pub shown: String,
}

impl OneLaw {
    fn new(entry: &'static Entry, text: &str, before: &str) -> Self {
        let shown = format!("--{before}{}", if text.is_empty() { "\"\"" } else { text });
        OneLaw { entry, text: text.to_string(), shown }
    }
}

impl clap::Args for Laws {
    fn augment_args(command: Command) -> Command {
        let option = |name: &'static str| Arg::new(name).long(name).action(ArgAction::Append).allow_hyphen_values(true);
        let law = option(LAW)
            .value_name("LAW:PARAMETERS[xCOUNT][@SHIFT]")
            .help("COUNT mechanisms of LAW, each changed by at most SHIFT; @=SHIFT: by exactly that (repeatable)")
            .long_help("COUNT mechanisms of LAW, each changed by at most SHIFT (repeatable): `assay help laws`");
        let of = |entry: &'static Entry| {
            let about = format!("COUNT {} (repeatable)", entry.about);
            let argument = option(entry.option).value_name(entry.text).help(about);
            argument.hide_short_help(true).hide_long_help(true)
        };
        let training = |(name, value, about): (&'static str, &'static str, &'static str)| {
            let others = match name {
                "noise-multiplier" => &[][..],
                "records" => &["batch-size"],
                "batch-size" => &["records", "noise-multiplier"],
                _ => &["noise-multiplier"],
            };
            let instead: &[&str] = match name {
                "sample-rate" => &["batch-size", "records"],
                "steps" => &["epochs"],
                _ => &[],
            };
            let argument = Arg::new(name).long(name).value_name(value).help(about).allow_hyphen_values(true);
            let is_beside = name != "noise-multiplier";
            let argument = argument.hide_short_help(is_beside).hide_long_help(is_beside);
            argument.requires_all(others.iter().copied()).conflicts_with_all(instead.iter().copied())
        };
        command.arg(law).args(TRAINING.map(training)).args(ENTRIES.iter().map(of))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Laws::augment_args(command)
    }
}

impl FromArgMatches for Laws {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let texts = |name: &str| matches.get_many::<String>(name).into_iter().flatten();
        let mut given: Vec<OneLaw> = Vec::new();
        let mut by_name = Vec::new();
        for text in texts(LAW) {
            let refused = |error| clap::Error::raw(ErrorKind::InvalidValue, format!("--{LAW} {text}: {error}\n"));
            let (entry, own) = Entry::of_text(text).map_err(refused)?;
            by_name.push(OneLaw::new(entry, own, &format!("{LAW} {}:", entry.option)));
        }
        let mut conditions = Vec::new();
        if let Some((training, condition)) = training(matches)? {
            by_name.push(training);
            conditions.extend(condition);
        }
        for entry in &ENTRIES {
            let own = texts(entry.option).map(|text| OneLaw::new(entry, text, &format!("{} ", entry.option)));
            given.extend(own);
            let (of_entry, others): (Vec<_>, Vec<_>) =
                by_name.into_iter().partition(|one| one.entry.option == entry.option);
            given.extend(of_entry);
            by_name = others;
        }
        Ok(Laws { given, conditions })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Laws::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The training run of the options, if one is given, and the condition under which it is what was meant.
fn training(matches: &ArgMatches) -> std::result::Result<Option<(OneLaw, Option<String>)>, clap::Error> {
    let given = |name: &str| matches.get_one::<String>(name).cloned();
    let Some(noise_multiplier) = given("noise-multiplier") else { return Ok(None) };
    let refused = |why: String| clap::Error::raw(ErrorKind::MissingRequiredArgument, format!("{why}\n"));
    let (sample, length) = (["sample-rate", "batch-size", "records"].map(given), ["steps", "epochs"].map(given));
    if sample.iter().all(Option::is_none) {
        return Err(refused("--noise-multiplier: needs --sample-rate Q, or --batch-size B with --records N".into()));
    }
    if length.iter().all(Option::is_none) {
        return Err(refused("--noise-multiplier: needs --steps T or --epochs E".into()));
    }
    // An error begins with the name of what it is about: "batch size = 61 is out of range".
    let in_option = |error: dp_assay::Error| {
        let said = error.to_string();
        let about = TRAINING.iter().find(|(name, ..)| said.starts_with(&name.replace('-', " ")));
        refused(format!("--{}: {said}", about.map_or("noise-multiplier", |(name, ..)| name)))
    };
    let run = Run::of_parts(noise_multiplier, sample, length).map_err(in_option)?;
    let (text, condition) = (run.text().map_err(in_option)?, run.condition().map_err(in_option)?);
    let entry = Entry::named(Entry::TRAINING).ok_or_else(|| refused("--noise-multiplier: no such law".into()))?;
    Ok(Some((OneLaw { entry, text, shown: "--noise-multiplier".to_string() }, condition)))
}
