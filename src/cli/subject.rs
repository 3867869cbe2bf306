//! The mechanism to account for: the arguments that all accounting commands share.

use std::ffi::OsStr;

use anyhow::{Context, Result, bail};
use clap::{
    Arg, Args, Command,
    builder::{PossibleValue, TypedValueParser},
    error::{ContextKind, ContextValue, ErrorKind},
};
use dp_assay::{
    Error,
    account::{Account, Answer, Counts, sought::Question},
    document::fields::Fields,
    law::{FileOptions, Law},
    loss::infinite::InfiniteLoss,
    release::{Neighbors, Release, subject},
};
use rug::Rational;
use serde_json::json;

pub use dp_assay::release::subject::Resolved;

use super::{
    laws::{self, Laws, OneLaw},
    page::{Form, FormArgs, MOST_SHOWN, Page},
};

/// The option of perturbation tables.
const P_TABLE: &str = "p-table";

/// The mechanism to account for; several parts are composed.
#[derive(Args)]
pub struct Subject {
    /// A bundled release (`assay releases` lists them) or a TOML file of the same form
    #[arg(long, value_name = "NAME|FILE")]
    release: Vec<String>,
    /// Only this geolevel of the release (repeatable) [default: all levels composed]
    #[arg(long, value_name = "NAME", requires = "release")]
    level: Vec<String>,
    #[command(flatten)]
    laws: Laws,
    /// Divide the masses of each table, row or column of a file by their sum
    #[arg(long)]
    normalize: bool,
    /// The last N rows of a perturbation table are repeated for larger counts [default: 1, and 250 where keys have 750 rows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), hide = true)]
    period: Option<u64>,
    /// Neighbor relation: add-remove (also unbounded, add-delete) or bounded, one record changed (also replace-one, change-one, substitution) [default: the release's, or add-remove]
    #[arg(long, value_name = "RELATION", value_parser = Relation, hide_possible_values = true)]
    neighbors: Option<Neighbors>,
    /// With bounded neighbors: single counts are those that differ, not counted twice
    #[arg(long)]
    counts_as_given: bool,
    /// Groups of up to K people, by the worst way to share out their changes [default: 1]
    #[arg(long, value_name = "K", default_value_t = 1, hide_default_value = true, value_parser = clap::value_parser!(u64).range(1..))]
    group: u64,
    /// K independent releases: each count is counted K times [default: 1]
    #[arg(long, value_name = "K", default_value_t = 1, hide_default_value = true, value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,
}

/// The ids of all arguments of a mechanism, for those that stand in its place.
pub fn ids() -> Vec<&'static str> {
    let others = ["release", "level", "normalize", "period", "neighbors", "counts_as_given", "group", "repeat"];
    others.into_iter().chain(laws::ids()).collect()
}

/// The precision and the form of answers.
#[derive(Args)]
pub struct Format {
    /// Enclosures of relative width at most 10^-D [default: 12]
    #[arg(long, value_name = "D", default_value_t = 12, hide_default_value = true, value_parser = clap::value_parser!(u32).range(1..=250))]
    pub digits: u32,
    #[command(flatten)]
    form: FormArgs,
}

impl Format {
    /// An empty page of the requested form.
    pub fn page(&self) -> Page {
        self.form.page().with_digits(self.digits)
    }

    /// An empty page of the requested form, if a command has `--csv` as well.
    pub fn page_or_csv(&self, csv: bool) -> Page {
        Page::new(self.form.form_or_csv(csv)).with_digits(self.digits)
    }

    /// Whether a form was requested.
    pub fn is_given(&self) -> bool {
        self.form.is_given()
    }

    /// The requested form.
    pub fn form(&self) -> Form {
        self.form.form()
    }

    /// The number of digits of an answer in a table.
    pub fn shown(&self) -> usize {
        self.digits.min(MOST_SHOWN) as usize
    }
}

/// Reads a neighbor relation by any of its names. Unlike an enumeration of values it suggests no similar name: "unbounded" is
/// the opposite of "bounded".
#[derive(Clone, Copy)]
pub struct Relation;

impl TypedValueParser for Relation {
    type Value = Neighbors;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Neighbors, clap::Error> {
        value.to_string_lossy().parse().map_err(|_| {
            let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
            let shown = value.to_string_lossy().into_owned();
            let names = Neighbors::ALL.iter().flat_map(|relation| relation.names()).map(String::from).collect();
            error.insert(ContextKind::InvalidArg, ContextValue::String(arg.map_or(String::new(), ToString::to_string)));
            error.insert(ContextKind::InvalidValue, ContextValue::String(shown));
            error.insert(ContextKind::ValidValue, ContextValue::Strings(names));
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |relation: Neighbors| {
            let help = format!("{} (also {})", relation.meaning(), relation.synonyms().join(", "));
            PossibleValue::new(relation.name()).help(help).aliases(relation.synonyms())
        };
        Some(Box::new(Neighbors::ALL.into_iter().map(value)))
    }
}

/// A sentence for each line, the whole last, that is the worst of several block paths or mixes of groups: it names the worst one.
pub fn decided<'l>(lines: impl Iterator<Item = (&'l str, Option<&'l str>)>) -> Vec<String> {
    let lines: Vec<(&str, Option<&str>)> = lines.collect();
    let sentence = |(at, (name, ways)): (usize, &(&str, Option<&str>))| {
        let name = if at + 1 == lines.len() { "The whole" } else { name };
        ways.map(|ways| format!("{name} is that of {ways}."))
    };
    lines.iter().enumerate().filter_map(sentence).collect()
}

/// The relation of an answer, and how often each count is counted.
pub fn of_relation(subject: &Resolved) -> Fields {
    Fields::new()
        .with("neighbors", subject.neighbors.name())
        .with("times_each_count", subject.taken)
        // Whom the account is about, where that is not one record in one release.
        .with_some("group", (subject.group != 1).then_some(subject.group))
        .with_some("repeat", (subject.repeat != 1).then_some(subject.repeat))
        .with_any("unmoved_queries", &subject.unmoved)
        // Then a lower end is that of the account, and not of the mechanism.
        .with("may_be_more_private", subject.may_be_more_private())
        .with_any("conditions", subject.conditions())
}

/// The title of an answer, and the conditions under which it holds, after an empty line.
pub fn heading(subject: &Resolved, conditions: &str) -> String {
    format!("{}\n{} neighbors{conditions}\n\n", subject.title, subject.neighbors.name())
}

/// Why the mechanism may be more private than the account, as a sentence.
pub fn more_private_note(subject: &Resolved) -> Option<String> {
    let why = subject.may_be_more_private()?;
    Some(format!("These are the numbers of the account. The mechanism is at least as private, and may be more: {why}."))
}

/// The probability of an infinite loss, if there is one.
pub fn of_infinite_loss(infinite: Option<InfiniteLoss>, digits: u32) -> Fields {
    Fields::new().with_some("infinite_loss_mass", infinite.map(|infinite| infinite.mass(digits)))
}

/// Sentences about outputs of infinite loss, and about mechanisms of bounded range; none where there are none.
pub fn law_notes(subject: &Resolved) -> Vec<String> {
    let sentence = |infinite: InfiniteLoss| {
        let mass = infinite.mass(12).shown(7);
        let infinite = || subject.queries.iter().map(|query| &query.counts.law).filter(|law| law.has_infinite_loss());
        if infinite().all(|law| matches!(law, Law::Approximate { .. })) {
            return format!(
                "The guarantee allows outputs that only one of two neighbors can have, with probability {mass}. rho, and every account based on it, covers the other outputs only, at delta minus that probability."
            );
        }
        format!(
            "With probability {mass} an output occurs that only one of two neighbors can have: delta is never smaller. rho, and every account based on it, covers the other outputs only, at delta minus that probability."
        )
    };
    let range = "Mechanisms of bounded range are accounted for by the pair that dominates all of them: an upper bound, adaptive compositions included.";
    let has_range = subject.total.counts().iter().any(|counts| counts.law.key() == "exponential");
    let of_range = has_range.then(|| range.to_string());
    let mut of_rows: Vec<String> = Vec::new();
    for counts in subject.total.counts() {
        if let Law::Perturbation(table) = &counts.law
            && counts.law.key() == P_TABLE
            && !of_rows.contains(&table.about_rows())
        {
            of_rows.push(table.about_rows());
        }
    }
    subject.whole.infinite_loss().map(sentence).into_iter().chain(of_range).chain(of_rows).collect()
}

/// The answer for each direction, where the pair of neighbors is not symmetric.
pub fn of_directions(directions: Option<&[Answer; 2]>) -> Fields {
    let both = directions.map(|[remove, add]| json!({ "remove": remove.value, "add": add.value }));
    Fields::new().with_some("directions", both)
}

/// The name of the whole of a subject.
pub fn whole_name(subject: &Resolved) -> &'static str {
    if subject.levels.is_empty() { "composition" } else { "all composed" }
}

impl Subject {
    /// Reads the release and the counts and composes them.
    pub fn resolve(&self) -> Result<Resolved> {
        self.resolve_with(self.one_release()?, &Release::find)
    }

    /// The release, of which there is one at most.
    fn one_release(&self) -> Result<Option<&str>> {
        if let [first, second, ..] = &self.release[..] {
            bail!(
                "--release {second}: one release is accounted for at a time, and {first} was given before; `assay compare` shows \
                 several side by side, and `assay ledger` composes those about the same people"
            );
        }
        Ok(self.release_name())
    }

    /// The subject, with `find` to look up releases.
    #[cfg(feature = "explore")]
    pub fn resolve_by(&self, find: &dyn Fn(&str) -> dp_assay::Result<Release>) -> Result<Resolved> {
        self.resolve_with(self.release_name(), find)
    }

    /// The mechanism, not yet composed, with `find` to look up its release.
    #[cfg(feature = "explore")]
    pub fn described_with(&self, find: &dyn Fn(&str) -> dp_assay::Result<Release>) -> Result<subject::Subject> {
        self.described_by(self.release_name(), find)
    }

    /// The name or file of the release, as given.
    pub fn release_name(&self) -> Option<&str> {
        self.release.first().map(String::as_str)
    }

    /// Whether a release or counts are given.
    pub fn is_given(&self) -> bool {
        !self.release.is_empty() || !self.laws.given.is_empty()
    }

    /// Whether nothing is said of a mechanism, nor of whom it is about.
    pub fn is_bare(&self) -> bool {
        let is_once = self.group == 1 && self.repeat == 1 && self.neighbors.is_none();
        !self.is_given() && is_once && !self.counts_as_given && !self.normalize && self.period.is_none()
    }

    /// A subject for each release, under its name; with counts alone, these without a name.
    pub fn resolve_each(&self) -> Result<Vec<(String, Resolved)>> {
        if self.release.is_empty() {
            return Ok(vec![(String::new(), self.resolve_with(None, &Release::find)?)]);
        }
        self.release.iter().map(|name| Ok((name.clone(), self.resolve_with(Some(name), &Release::find)?))).collect()
    }

    /// The mechanism to account for, not yet composed.
    pub fn described(&self) -> Result<subject::Subject> {
        self.described_by(self.release_name(), &Release::find)
    }

    fn resolve_with(
        &self,
        release: Option<&str>,
        find: &dyn Fn(&str) -> dp_assay::Result<Release>,
    ) -> Result<Resolved> {
        let resolved = self.described_by(release, find)?.resolve().map_err(|error| self.flagged(error))?;
        Ok(resolved.under(&self.laws.conditions))
    }

    /// The conditions under which the mechanism is what was meant, in sentences.
    pub fn conditions(&self) -> &[String] {
        &self.laws.conditions
    }

    fn described_by(
        &self,
        release: Option<&str>,
        find: &dyn Fn(&str) -> dp_assay::Result<Release>,
    ) -> Result<subject::Subject> {
        let singles = self.singles()?;
        let release = release.map(find).transpose().context("--release")?;
        if release.is_none() && singles.is_empty() {
            bail!(
                "nothing to account for: give --release NAME, or counts as in --discrete-gaussian SIGMA2[xCOUNT][@SHIFT]"
            );
        }
        Ok(self.subject_of(release, singles))
    }

    /// The argument that an error of the library is about.
    fn flagged(&self, error: Error) -> anyhow::Error {
        let flag = match &error {
            Error::Unknown { kind: "level", .. } => Some("--level"),
            Error::NothingMoves { .. } if !self.level.is_empty() => Some("--level"),
            Error::BudgetOnly { .. } => Some(if self.level.is_empty() { "--release" } else { "--level" }),
            Error::Conflict { why } if why.starts_with(subject::AS_GIVEN) => Some("--counts-as-given"),
            Error::Conflict { .. } if !self.level.is_empty() => Some("--level"),
            Error::Malformed { what, .. } if what == "neighbors" && self.counts_as_given => Some("--counts-as-given"),
            Error::Malformed { what, .. } if what == "neighbors" => Some("--neighbors"),
            Error::OutOfRange { what, .. } if what == "shift" && self.group != 1 => Some("--group"),
            Error::OutOfRange { what, .. } if what == "count" && self.repeat != 1 => Some("--repeat"),
            _ => None,
        };
        match flag {
            Some(flag) => anyhow::Error::new(error).context(flag),
            None => error.into(),
        }
    }

    /// The files with the masses of the given laws, each once.
    pub fn files(&self) -> Result<Vec<String>> {
        let mut files: Vec<String> = Vec::new();
        for one in self.laws.given.iter().filter(|one| one.entry.is_file()) {
            let file = Counts::named_file(&one.text)?;
            if !files.contains(&file) {
                files.push(file);
            }
        }
        Ok(files)
    }

    /// The counts that were given one by one.
    fn singles(&self) -> Result<Vec<Counts>> {
        self.singles_but(None)
    }

    /// The same without this text of an option.
    fn singles_but(&self, left_out: Option<&str>) -> Result<Vec<Counts>> {
        if self.normalize && self.laws.given.iter().all(|one| !one.entry.is_file()) {
            bail!("--normalize: it is about the files of --table, --p-table and --pair, of which none is given");
        }
        if self.period.is_some() && self.laws.given.iter().all(|one| one.entry.option != P_TABLE) {
            bail!("--period: it is about the rows of --{P_TABLE}, which is not given");
        }
        let read = |one: &OneLaw| {
            let counts = Counts::read(one.entry.option, &one.text, self.file_options()).map_err(anyhow::Error::from);
            // Exports of other programs are rounded, so that their probabilities add up to nearly one.
            let is_rounded =
                |error: &anyhow::Error| !self.normalize && error.to_string().contains("must add up to exactly 1");
            match counts {
                Err(error) if is_rounded(&error) => {
                    bail!("{}: {error}; --normalize divides them by their sum", one.shown)
                }
                Err(error) if self.period.is_none() && error.to_string().contains("needs a period") => {
                    bail!("{}: {error}; --period N gives it", one.shown)
                }
                counts => counts.with_context(|| one.shown.clone()),
            }
        };
        self.laws.given.iter().filter(|one| left_out != Some(&one.text)).map(read).collect()
    }

    /// How the files of laws are understood.
    fn file_options(&self) -> FileOptions {
        FileOptions { normalize: self.normalize, period: self.period }
    }

    /// The mechanism of which a number is sought, and all others, if there is a question mark.
    pub fn question(&self) -> Result<Option<(Question, subject::Subject)>> {
        let mut questions = Vec::new();
        for one in &self.laws.given {
            let question = Question::of_text(one.entry.option, &one.text, self.file_options());
            questions.extend(question.with_context(|| one.shown.clone())?);
        }
        let Some(question) = questions.pop() else { return Ok(None) };
        if let Some(other) = questions.pop() {
            let (one, other) = (question.text(), other.text());
            bail!("one number is sought at a time, and both {other} and {one} have a question mark");
        }
        let others = self.described_but(question.text())?;
        Ok(Some((question, others)))
    }

    /// The text of the perturbation table that is designed: it begins with a question mark in place of a file.
    pub fn designed_text(&self) -> Option<String> {
        let is_designed = |one: &&OneLaw| one.entry.option == P_TABLE && one.text.starts_with('?');
        self.laws.given.iter().find(is_designed).map(|one| one.text.clone())
    }

    /// The mechanism with these counts in place of one text of an option.
    pub fn described_beside(&self, left_out: &str, counts: Counts) -> Result<subject::Subject> {
        let mut subject = self.described_but(left_out)?;
        subject.singles.push(counts);
        Ok(subject)
    }

    /// The mechanism with a number in place of the question mark.
    pub fn described_as(&self, question: &Question, value: &Rational) -> Result<subject::Subject> {
        let mut subject = self.described_but(question.text())?;
        subject.singles.push(question.counts(value)?);
        Ok(subject)
    }

    /// The mechanism without one text of an option; there may be nothing else.
    fn described_but(&self, left_out: &str) -> Result<subject::Subject> {
        let release = self.one_release()?.map(Release::find).transpose().context("--release")?;
        Ok(self.subject_of(release, self.singles_but(Some(left_out))?))
    }

    fn subject_of(&self, release: Option<Release>, singles: Vec<Counts>) -> subject::Subject {
        let (levels, neighbors, counts_as_given) = (self.level.clone(), self.neighbors, self.counts_as_given);
        let (group, repeat) = (self.group, self.repeat);
        subject::Subject { release, levels, singles, neighbors, counts_as_given, group, repeat }
    }
}
