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
    /// A name that is not known.
    #[error("{}", unknown(kind, name, has, known.iter().map(String::as_str)))]
    Unknown {
        /// The kind of thing that is named.
        kind: &'static str,
        /// The name as it was given.
        name: String,
        /// The words before the list of known names, such as `the release r has`.
        has: String,
        /// The known names.
        known: Vec<String>,
    },
    /// A text that does not have its form.
    #[error("{what} {text:?}: expected {expected}")]
    Malformed {
        /// The name of the text.
        what: String,
        /// The text as it was given, clipped.
        text: String,
        /// The form that is accepted, with an example.
        expected: String,
    },
    /// Inputs that do not go together, such as two options, two files, or lists of different lengths.
    #[error("{why}")]
    Conflict {
        /// Which, and what would be right.
        why: String,
    },
    /// An input that is needed and not there.
    #[error("{why}")]
    Missing {
        /// Which, and where it would be given.
        why: String,
    },
    /// An input that is understood and of a kind that this request does not take.
    #[error("{why}")]
    Unsuitable {
        /// Which, and what is taken.
        why: String,
    },
    /// A quantity so close to a boundary that no precision that is tried decides on which side it lies.
    #[error("{what} = {value} is too close to a boundary to decide: {apart}")]
    Undecided {
        /// The name of the quantity.
        what: String,
        /// Its value.
        value: String,
        /// How far from which boundary it has to be.
        apart: String,
    },
    /// A state that no input can lead to.
    #[error("{what}: this is a fault of the program, please report it")]
    Fault {
        /// Which.
        what: String,
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

    /// Refuses a number outside of a range. `expected` states the range in numbers; all else has a variant of its own.
    pub(crate) fn out_of_range(what: &str, value: impl ToString, expected: &str) -> Self {
        Error::OutOfRange { what: what.to_string(), value: value.to_string(), expected: expected.to_string() }
    }

    /// Whether it ends a computation whatever else may be tried: two enclosures that exclude each other, or a wish to stop.
    pub(crate) fn is_fatal(&self) -> bool {
        matches!(self, Error::Contradiction { .. } | Error::Stopped)
    }

    /// Refuses a name that is not among the known; `has` are the words before their list.
    pub(crate) fn unknown<K: ToString>(
        kind: &'static str,
        name: &str,
        has: &str,
        known: impl IntoIterator<Item = K>,
    ) -> Self {
        let known = known.into_iter().map(|known| known.to_string()).collect();
        Error::Unknown { kind, name: name.to_string(), has: has.to_string(), known }
    }

    pub(crate) fn malformed(what: &str, text: impl ToString, expected: &str) -> Self {
        Error::Malformed { what: what.to_string(), text: clip(&text.to_string()), expected: expected.to_string() }
    }

    pub(crate) fn conflict(why: impl Into<String>) -> Self {
        Error::Conflict { why: why.into() }
    }

    pub(crate) fn missing(why: impl Into<String>) -> Self {
        Error::Missing { why: why.into() }
    }

    pub(crate) fn unsuitable(why: impl Into<String>) -> Self {
        Error::Unsuitable { why: why.into() }
    }

    pub(crate) fn undecided(what: &str, value: impl ToString, apart: &str) -> Self {
        Error::Undecided { what: what.to_string(), value: value.to_string(), apart: apart.to_string() }
    }

    pub(crate) fn fault(what: impl Into<String>) -> Self {
        Error::Fault { what: what.into() }
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

/// The message about a name that is not known: the nearest known names, and after `has` the list of all, unless it is long and some are
/// near.
///
/// `unknown level "Sate", did you mean "State"? The release r has US, State, County`
pub fn unknown<'a>(kind: &str, name: &str, has: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    // More names than that are listed only where none is near, and then up to the other number.
    const FEW: usize = 12;
    const MOST: usize = 20;
    let known: Vec<&str> = known.into_iter().collect();
    let near = nearest(name, &known);
    let shown = clip(name);
    // Names of files and columns may hold anything: quoted where a list would not be read alike.
    let is_plain = |letter: char| letter.is_alphanumeric() || " -_./*+<>=()'".contains(letter);
    let listed = |name: &&str| {
        if !name.is_empty() && name.chars().all(is_plain) { clip(name) } else { format!("{:?}", clip(name)) }
    };
    let list = || match known.len() {
        0 => "none".to_string(),
        many => {
            let first = known.iter().take(MOST).map(listed).collect::<Vec<_>>().join(", ");
            if many > MOST { format!("{first}, and {} more", many - MOST) } else { first }
        }
    };
    match near.as_slice() {
        [] => format!("unknown {kind} {shown:?}: {has} {}", list()),
        near => {
            let quoted: Vec<String> = near.iter().map(|near| format!("{near:?}")).collect();
            let meant = match quoted.split_last() {
                Some((last, [])) => last.clone(),
                Some((last, others)) => format!("{} or {last}", others.join(", ")),
                None => String::new(),
            };
            let mut letters = has.chars();
            let has: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
            let all = if known.len() > FEW { String::new() } else { format!(" {has} {}", list()) };
            format!("unknown {kind} {shown:?}, did you mean {meant}?{all}")
        }
    }
}

/// The known names nearest to one that is not, three at most: the same but for capitals, those that begin with it, and those at a small
/// edit distance.
pub(crate) fn nearest<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    const MOST: usize = 3;
    let lower = name.to_lowercase();
    let rank = |known: &'a str| -> Option<(usize, usize, &'a str)> {
        let other = known.to_lowercase();
        let distance = strsim::damerau_levenshtein(&lower, &other);
        // Letters that are wrong, missing or too many: one in three, of a short name one.
        let most = (lower.chars().count() / 3).max(1);
        let kind = match () {
            () if distance == 0 => 0,
            // Another code is another thing.
            () if lower.bytes().all(|byte| byte.is_ascii_digit()) => return None,
            () if is_next_number(&lower, &other) => return None,
            () if lower.len() >= 3 && other.starts_with(&lower) => 1,
            () if distance <= most && distance < lower.chars().count() => 2,
            () => return None,
        };
        Some((kind, distance, known))
    };
    // A list of columns may be long, and so may be a name.
    if name.len() > 200 {
        return Vec::new();
    }
    let mut ranked: Vec<_> = known.iter().filter(|known| known.len() <= 200).filter_map(|known| rank(known)).collect();
    ranked.sort_unstable();
    ranked.dedup();
    let Some(first) = ranked.first().map(|(kind, distance, _)| (*kind, *distance)) else { return Vec::new() };
    // What begins with the name is as near whatever its length; of the others the nearest.
    let is_near = |(kind, distance): (usize, usize)| kind == first.0 && (kind == 1 || distance == first.1);
    ranked
        .into_iter()
        .filter(|(kind, distance, _)| is_near((*kind, *distance)))
        .map(|(_, _, near)| near)
        .take(MOST)
        .collect()
}

/// Whether two names differ in the number at their ends alone, as figures do: the one is not meant by the other.
fn is_next_number(name: &str, other: &str) -> bool {
    let parts = |text: &str| {
        let stem = text.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        (text[..stem].to_string(), text[stem..].to_string())
    };
    let ((stem, number), (other, other_number)) = (parts(name), parts(other));
    let is_short = |number: &str| (1..=2).contains(&number.len());
    let is_apart = stem.ends_with(|letter: char| !letter.is_alphanumeric());
    stem == other && is_apart && number != other_number && is_short(&number) && is_short(&other_number)
}

/// Long text is quoted only by its beginning.
pub(crate) fn clip(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST { text.to_string() } else { text.chars().take(MOST).chain("...".chars()).collect() }
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
        let near = |name: &str| nearest(name, &known);
        assert_eq!(near("pl94-person-us"), ["pl94-persons-us"]);
        assert_eq!(near("DHC-persons-us"), ["dhc-persons-us"]);
        assert_eq!(near("pl94"), ["pl94-units-us", "pl94-persons-us"]);
        assert_eq!(near("nosuch"), [""; 0]);
        assert_eq!(near(""), [""; 0]);
        // Another number is another figure; a year may be wrong.
        assert_eq!(nearest("figure-9", &["figure-8", "figure-10"]), [""; 0]);
        assert_eq!(nearest("census-2021", &["census-2020"]), ["census-2020"]);
        assert_eq!(nearest("GEOID1", &["GEOID10"]), ["GEOID10"]);
        assert_eq!(nearest("99", &["09", "44"]), [""; 0]);
        assert_eq!(nearest("hisp", &["votingage", "hispanic"]), ["hispanic"]);
    }

    #[test]
    fn a_name_that_is_not_known_is_said_with_those_that_are() {
        let level = |name: &str| Error::unknown("level", name, "the release r has", ["US", "State"]).to_string();
        assert_eq!(level("Sate"), "unknown level \"Sate\", did you mean \"State\"? The release r has US, State");
        assert_eq!(level("Moon"), "unknown level \"Moon\": the release r has US, State");
        assert_eq!(unknown("level", "x", "it has", []), "unknown level \"x\": it has none");
        let many: Vec<String> = (0..100).map(|k| format!("column {k}x")).collect();
        let many = || many.iter().map(String::as_str);
        assert_eq!(
            unknown("column", "colum 7x", "there are", many()),
            "unknown column \"colum 7x\", did you mean \"column 7x\"?"
        );
        assert!(unknown("column", "y", "there are", many()).ends_with(", column 19x, and 80 more"));
        assert!(unknown("column", &"y".repeat(1000), "there are", many()).len() < 900);
    }
}
