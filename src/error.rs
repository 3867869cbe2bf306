//! One error type for the library: every variant says what was wrong, where, and what would be right.

use std::path::PathBuf;

/// The result of everything in this library that can be refused.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a question was refused.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text that is not an exact number.
    #[error("{text:?} is not a number: {why}")]
    Number {
        /// The text as it was given, clipped.
        text: String,
        /// What would be right.
        why: String,
    },
    /// A quantity outside the range in which the question has an answer.
    #[error("{what} = {value} is out of range: {expected}")]
    OutOfRange {
        /// The name of the quantity.
        what: String,
        /// Its value.
        value: String,
        /// The range that is accepted.
        expected: String,
    },
    /// An intermediate number that left the range of doubles.
    #[error(
        "an intermediate number is {value}: the quantities asked for are beyond the range in which contours are searched, \
         about 1e-300 to 1e300"
    )]
    NotFinite {
        /// The number, infinite or not a number.
        value: f64,
    },
    /// A quantity that has no finite bound where one is needed.
    #[error("{what} has no finite bound: ask for fewer digits, or for quantities closer to one")]
    Unbounded {
        /// The name of the quantity.
        what: &'static str,
    },
    /// Two proven bounds that exclude each other.
    #[error("two bounds of {what} contradict each other: this is a fault of the program, please report the question")]
    Contradiction {
        /// The name of the quantity.
        what: &'static str,
    },
    /// A composition without any mechanism.
    #[error("nothing to account for: the composition has no mechanism; name at least one count, level or release")]
    EmptyComposition,
    /// A promise that no noise keeps.
    #[error(
        "epsilon {epsilon} at delta {delta} is out of reach: no noise up to sigma2 = 1e12 has it; ask for a larger epsilon or \
         delta"
    )]
    OutOfReach {
        /// The promised epsilon.
        epsilon: String,
        /// The delta.
        delta: String,
    },
    /// A question that was withdrawn while it was worked on.
    #[error("stopped: the question was withdrawn before it was answered")]
    Stopped,
    /// A question that is beyond reach: its time was over before anything was proven.
    #[error("nothing was proven in the time that an answer may take; fewer digits or fewer groups of noise take less")]
    OutOfTime,
    /// A lattice of losses whose period is too long to sweep.
    #[error(
        "the losses lie on a lattice of step {step} whose period holds too much to sweep ({needed} against a budget of {budget}); \
         variances with a larger common divisor of 1/sigma2 can be swept"
    )]
    Unsweepable {
        /// The lattice step in nats, approximately.
        step: String,
        /// What the sweep would need.
        needed: String,
        /// What it may use.
        budget: String,
    },
    /// Lists of losses that do not fit, or would take too long to go through.
    #[error("{what} would take {needed}, and may take {most}")]
    TooLong {
        /// What would be listed.
        what: &'static str,
        /// What it would take.
        needed: String,
        /// What it may take.
        most: String,
    },
    /// Queries of which no count moves.
    #[error(
        "under {relation} neighbors no count of {queries} moves (moves = 0): a changed record reveals nothing, epsilon is 0, and there is \
         nothing to account for"
    )]
    NothingMoves {
        /// The relation.
        relation: &'static str,
        /// The queries.
        queries: String,
    },
    /// An answer without a certificate, so far.
    #[error("no certificate proves this yet: {why}")]
    Unprovable {
        /// What is in the way.
        why: String,
    },
    /// A tail or a knot of a sum with continuous noise.
    #[error(
        "the losses lie on no lattice, because some noise is continuous; ask for delta, epsilon or the trade-off function instead"
    )]
    NoLattice,
    /// A release or ledger that is neither bundled nor a file.
    #[error(
        "no {kind} named {name:?}{near}: bundled are {known}; or give the path of a TOML file of the same form",
        near = did_you_mean(name, known.split(", "))
    )]
    UnknownName {
        /// What was looked for.
        kind: &'static str,
        /// The name as it was given.
        name: String,
        /// The bundled names.
        known: String,
    },
    /// A paper whose published values are not bundled.
    #[error(
        "no paper named {name:?}{near}: the published values of {known} are bundled; or give the path of a TOML file of the same \
         form",
        near = did_you_mean(name, known.split(", "))
    )]
    UnknownPaper {
        /// The name as it was given.
        name: String,
        /// The bundled papers.
        known: String,
    },
    /// A figure that is not drawn.
    #[error("no figure named {name:?}{near}: there are {known}", near = did_you_mean(name, known.split(", ")))]
    UnknownFigure {
        /// The name as it was given.
        name: String,
        /// The figures, as PAPER/FIGURE.
        known: String,
    },
    /// Public data that is not bundled.
    #[error("{what} needs data that were not given: {needed}")]
    NeedsData {
        /// What was asked for.
        what: String,
        /// Which data, and how to say where it is.
        needed: String,
    },
    /// A release of which only the budget is known.
    #[error(
        "the release {release} is bundled for its budget only: how one record changes its counts is not public, so it has \
         no exact account; its rho is in `assay releases`"
    )]
    BudgetOnly {
        /// The release.
        release: String,
    },
    /// A geolevel that the release does not have.
    #[error(
        "the release {release} has no level {level:?}{near}: it has {known}",
        near = did_you_mean(level, known.split(", "))
    )]
    UnknownLevel {
        /// The level as it was given.
        level: String,
        /// The release.
        release: String,
        /// Its levels.
        known: String,
    },
    /// A query that names no attribute or recode of the schema.
    #[error(
        "unknown query {part:?}{near}: total, detailed, or attributes and recodes joined by *; the schema has {known}",
        near = did_you_mean(part, known.split(", "))
    )]
    UnknownQuery {
        /// What of its name is not known.
        part: String,
        /// The attributes and recodes.
        known: String,
    },
    /// A data file that breaks a rule of its form.
    #[error("{file}{at}: {why}", at = place(*line, *column))]
    DataFile {
        /// The file, or the name of a bundled one.
        file: String,
        /// The line, counted from one; zero where the rule concerns the file as a whole.
        line: usize,
        /// The column, counted from one; zero where only the line is known.
        column: usize,
        /// The rule that was broken and what would be right.
        why: String,
    },
    /// A quote that is not closed on its line, in a file whose cells may not hold line breaks.
    #[error(
        "{file}{at}: the quote that opens here is not closed on its line: close it; a line break inside quotes can hide rows, and \
         has to be allowed",
        at = place(*line, *column)
    )]
    OpenQuote {
        /// The file.
        file: String,
        /// The line, counted from one.
        line: usize,
        /// The column, counted from one.
        column: usize,
    },
    /// Several faults of a file, found in one run.
    #[error("{}", all_of(errors))]
    Several {
        /// Each of them, in the order of the file.
        errors: Vec<Error>,
    },
    /// Input files that break rules of their schema.
    #[error("the input breaks rules of its schema, so nothing was done\n{report}")]
    Input {
        /// Every broken rule. It may quote confidential records: it is for the curator only.
        report: String,
    },
    /// A sum that does not fit into 64 bits.
    #[error(
        "count {position} is {count}: with noise added it leaves the range of 64-bit integers; counts up to 9e18 in absolute \
         value have room for any noise"
    )]
    Overflow {
        /// Which count of those given, counted from zero.
        position: usize,
        /// The count before noise. The noise is not named.
        count: i64,
    },
    /// An operating system without random numbers.
    #[error("the operating system gives no random numbers: {why}")]
    Randomness {
        /// What the system said.
        why: String,
    },
    /// A draw of noise that cannot be begun or repeated: its budget is spent, it is not complete, or its inputs changed.
    #[error("{path}: {why}")]
    Draw {
        /// The log or the key of the draw.
        path: PathBuf,
        /// What was wrong, and what would be right.
        why: String,
    },
    /// A cluster that did not count, or not what it was asked.
    #[error("the cluster {address}: {why} (no noise was drawn, and nothing is spent)")]
    Cluster {
        /// Its address.
        address: String,
        /// What was wrong, and what would be right.
        why: String,
    },
    /// Counting that failed.
    #[error("the records could not be counted: {why}")]
    Engine {
        /// Why.
        why: String,
    },
    /// A file that is there and must not be: it is not overwritten.
    #[error("{path}: is there already, and is not overwritten")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file that could not be read or written.
    #[error("{path}: {why}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
}

impl Error {
    /// One error of all, if there is any: itself where it is alone.
    pub(crate) fn of_all(mut errors: Vec<Error>) -> Result<()> {
        match errors.len() {
            0 => Ok(()),
            1 => Err(errors.remove(0)),
            _ => Err(Error::Several { errors }),
        }
    }

    pub(crate) fn out_of_range(what: &str, value: impl ToString, expected: &str) -> Self {
        Error::OutOfRange { what: what.to_string(), value: value.to_string(), expected: expected.to_string() }
    }

    /// Whether it ends a computation whatever else may be tried: two enclosures that exclude each other, or a wish to stop.
    pub(crate) fn is_fatal(&self) -> bool {
        matches!(self, Error::Contradiction { .. } | Error::Stopped)
    }

    /// Whether a question was understood, and its answer cannot be computed: what is known without computing it remains.
    pub(crate) fn is_beyond_reach(&self) -> bool {
        matches!(self, Error::Unsweepable { .. } | Error::TooLong { .. } | Error::NotFinite { .. } | Error::OutOfTime)
    }
}

/// What cannot fail needs no error.
impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

/// A question after a name that is not known, where a known one is close: empty, or ` (did you mean "..."?)`.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    // As close as the parser of command lines asks of options, and no less in capitals.
    const CLOSE: f64 = 0.8;
    let lower = name.to_lowercase();
    let scored = known.into_iter().map(|known| (strsim::jaro_winkler(&lower, &known.to_lowercase()), known));
    let best = scored.filter(|(score, _)| *score > CLOSE).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(String::new, |(_, known)| format!(" (did you mean {known:?}?)"))
}

/// Errors in lines below their number; of very many the first.
fn all_of(errors: &[Error]) -> String {
    const MOST: usize = 200;
    let lines = errors.iter().take(MOST).map(|error| format!("\n  {error}"));
    let more = errors.len().saturating_sub(MOST);
    let more = if more == 0 { String::new() } else { format!("\n  and {more} more") };
    format!("{} faults:{}{more}", errors.len(), lines.collect::<String>())
}

fn place(line: usize, column: usize) -> String {
    match (line, column) {
        (0, _) => String::new(),
        (line, 0) => format!(", line {line}"),
        (line, column) => format!(", line {line}, column {column}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_offered_and_a_far_one_is_not() {
        let known = ["pl94-persons-us", "pl94-units-us", "dhc-persons-us"];
        let offered = |name: &str| did_you_mean(name, known);
        assert_eq!(offered("pl94-person-us"), " (did you mean \"pl94-persons-us\"?)");
        assert_eq!(offered("DHC-persons-us"), " (did you mean \"dhc-persons-us\"?)");
        assert_eq!((offered("nosuch"), offered("")), (String::new(), String::new()));
        let error = Error::UnknownLevel { level: "Sate".into(), release: "r".into(), known: "US, State".into() };
        assert_eq!(
            error.to_string(),
            "the release r has no level \"Sate\" (did you mean \"State\"?): it has US, State"
        );
    }
}
