//! One error type for the library: every variant states what was wrong, where, and what would be right.

mod visible;

use std::{fmt, path::PathBuf};

pub use visible::{shown, visible, visible_lines};

/// The result of every function of this library that can refuse its input.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a request was refused.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text that is not an exact number.
    #[error("{text:?} is not a number: {why}")]
    Number {
        /// The text as it was given, clipped.
        text: String,
        /// The expected form.
        why: String,
    },
    /// A quantity outside of the accepted range.
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
    /// A malformed text.
    #[error("{what} {text:?}: expected {expected}")]
    Malformed {
        /// The name of the text.
        what: String,
        /// The text as it was given, clipped.
        text: String,
        /// The form that is accepted, with an example.
        expected: String,
    },
    /// Inputs that contradict each other, such as two options, two files, or lists of different lengths.
    #[error("{why}")]
    Conflict {
        /// The inputs, and the remedy.
        why: String,
    },
    /// A missing input.
    #[error("{why}")]
    Missing {
        /// The input, and where to give it.
        why: String,
    },
    /// A valid input of a kind that this request does not accept.
    #[error("{why}")]
    Unsuitable {
        /// The input, and the accepted kinds.
        why: String,
    },
    /// A search without a result: no noise that was tried keeps a promise. It is an answer, and says what was tried.
    #[error("{why}")]
    NotFound {
        /// What was searched for, and what was tried.
        why: String,
    },
    /// A quantity so close to a boundary that no attempted precision decides on which side it lies.
    #[error("{what} = {value} is too close to a boundary to decide: {apart}")]
    Undecided {
        /// The name of the quantity.
        what: String,
        /// Its value.
        value: String,
        /// The required distance from the boundary.
        apart: String,
    },
    /// A delta at which no epsilon is finite.
    #[error(
        "no epsilon is finite at delta = {delta}: outputs that only one of two neighbors can have are accounted for with probability {mass}{}",
        if mass == "1" { "" } else { "; a delta above that probability has an epsilon" }
    )]
    InfiniteLoss {
        /// The probability of such outputs, rounded.
        mass: String,
        /// The delta.
        delta: String,
    },
    /// A state that no input can cause.
    #[error("{what}: this is a fault of the program, please report it")]
    Fault {
        /// The state.
        what: String,
    },
    /// An intermediate number outside of the range of doubles.
    #[error(
        "an intermediate number is {value}: the requested quantities are beyond the range in which contours are searched, \
         about 1e-300 to 1e300"
    )]
    NotFinite {
        /// The number, infinite or not a number.
        value: f64,
    },
    /// A quantity that has no finite bound where one is needed.
    #[error("{what} has no finite bound: request fewer digits, or quantities closer to one")]
    Unbounded {
        /// The name of the quantity.
        what: &'static str,
    },
    /// Two proven bounds that exclude each other.
    #[error("two bounds of {what} contradict each other: this is a fault of the program, please report the request")]
    Contradiction {
        /// The name of the quantity.
        what: &'static str,
    },
    /// A composition without any mechanism.
    #[error("nothing to account for: the composition has no mechanism; name at least one count, level or release")]
    EmptyComposition,
    /// A privacy target that the largest noise does not meet, nor any that was tried.
    #[error(
        "epsilon {epsilon} at delta {delta} is out of reach: the largest noise, up to sigma2 = 1e12, does not have it, and no smaller \
         one was found that has; request a larger epsilon or delta"
    )]
    OutOfReach {
        /// The target epsilon.
        epsilon: String,
        /// The delta.
        delta: String,
    },
    /// A request that was withdrawn while it was computed.
    #[error("stopped: the request was withdrawn before it was answered")]
    Stopped,
    /// A request whose time was over before anything was proven.
    #[error(
        "nothing was proven within the limit of effort; request fewer digits, or account for fewer groups of noise"
    )]
    OutOfTime,
    /// A lattice of losses whose period has too many nodes.
    #[error(
        "the losses lie on a lattice of step {step} whose period has too many nodes ({needed}, limit {budget}); \
         variances with a larger common divisor of 1/sigma2 can be swept"
    )]
    Unsweepable {
        /// The lattice step in nats, approximately.
        step: String,
        /// The number of nodes that the sweep needs.
        needed: String,
        /// The limit.
        budget: String,
    },
    /// Enumerations of losses that are too large, or would take too long.
    #[error("{what} would take {needed}; the limit is {most}")]
    TooLong {
        /// The enumeration.
        what: &'static str,
        /// Its cost.
        needed: String,
        /// The limit.
        most: String,
    },
    /// Queries of which no count changes.
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
        /// The reason.
        why: String,
    },
    /// A tail or a knot of a sum with continuous noise.
    #[error(
        "the losses lie on no lattice, because some noise is continuous; request delta, epsilon or the trade-off function instead"
    )]
    NoLattice,
    /// Public data that are not bundled.
    #[error("{what} needs data that were not given: {needed}")]
    NeedsData {
        /// The requested item.
        what: String,
        /// The data, and how to give them.
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
    /// A data file that violates a rule of its format.
    #[error("{file}{at}: {why}", file = visible(named(file)), at = place(*line, *column))]
    DataFile {
        /// The file, or the name of a bundled one.
        file: String,
        /// The line, counted from one; zero if the rule concerns the whole file.
        line: usize,
        /// The column, counted from one; zero if only the line is known.
        column: usize,
        /// The violated rule and how to satisfy it.
        why: String,
    },
    /// A quote that is not closed on its line, in a file whose cells may not hold line breaks.
    #[error(
        "{}{at}: the quote that opens here is not closed on its line: close it; a line break inside quotes can hide rows, and \
         has to be allowed",
        visible(file),
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
        /// All of them, in the order of the file.
        errors: Vec<Error>,
    },
    /// Input files that violate rules of their schema.
    #[error("the input breaks rules of its schema, so nothing was done\n{report}")]
    Input {
        /// Every violation. It may quote confidential records: it is for the curator only.
        report: String,
    },
    /// A sum that exceeds 64 bits.
    #[error(
        "count {position} is {count}: with noise added it leaves the range of 64-bit integers; counts up to 9e18 in absolute \
         value have room for any noise"
    )]
    Overflow {
        /// The index of the count, counted from zero.
        position: usize,
        /// The count before noise. The noise is not included.
        count: i64,
    },
    /// A number that is no answer of randomized response.
    #[error("count {position} is {count}: the {answers} answers are the numbers from 0 to {}", answers - 1)]
    NoAnswer {
        /// The index of the number, counted from zero.
        position: usize,
        /// The number.
        count: i64,
        /// The number of answers.
        answers: u64,
    },
    /// An operating system without random numbers.
    #[error("the operating system gives no random numbers: {why}")]
    Randomness {
        /// The message of the system.
        why: String,
    },
    /// A draw of noise that cannot be begun or repeated: its budget is spent, it is incomplete, or its inputs changed.
    #[error("{}: {why}", shown(path))]
    Draw {
        /// The log or the key of the draw.
        path: PathBuf,
        /// The fault and the remedy.
        why: String,
    },
    /// A cluster that did not count, or returned a wrong result.
    #[error("the cluster {address}: {why} (no noise was drawn, and nothing is spent)")]
    Cluster {
        /// Its address.
        address: String,
        /// The fault and the remedy.
        why: String,
    },
    /// Counting that failed.
    #[error("the records could not be counted: {why}")]
    Engine {
        /// The reason.
        why: String,
    },
    /// A file that exists and must not be overwritten.
    #[error("{}: is there already, and is not overwritten", shown(path))]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file that could not be read or written.
    #[error("{path}: {why}", path = visible(named(&path.to_string_lossy())))]
    File {
        /// The file.
        path: PathBuf,
        /// The message of the system.
        why: String,
    },
}

/// The message, so that a program whose `main` returns an error ends with its words.
impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl Error {
    /// One error for all, if there are any; a single one stays as it is.
    #[doc(hidden)]
    pub fn of_all(mut errors: Vec<Error>) -> Result<()> {
        match errors.len() {
            0 => Ok(()),
            1 => Err(errors.remove(0)),
            _ => Err(Error::Several { errors }),
        }
    }

    /// Refuses a number outside of a range. `expected` states the range in numbers; other refusals have variants of their own.
    #[doc(hidden)]
    pub fn out_of_range(what: &str, value: impl ToString, expected: &str) -> Self {
        Error::OutOfRange { what: what.to_string(), value: value.to_string(), expected: expected.to_string() }
    }

    /// Whether it ends a computation, so that no other engine is tried: two enclosures that exclude each other, or a request to stop.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Error::Contradiction { .. } | Error::Stopped)
    }

    /// Refuses a name that is not among the known; `has` are the words before their list.
    #[doc(hidden)]
    pub fn unknown<K: ToString>(kind: &'static str, name: &str, has: &str, known: impl IntoIterator<Item = K>) -> Self {
        let known = known.into_iter().map(|known| known.to_string()).collect();
        Error::Unknown { kind, name: name.to_string(), has: has.to_string(), known }
    }

    #[doc(hidden)]
    pub fn malformed(what: &str, text: impl ToString, expected: &str) -> Self {
        Error::Malformed { what: what.to_string(), text: clip(&text.to_string()), expected: expected.to_string() }
    }

    #[doc(hidden)]
    pub fn conflict(why: impl Into<String>) -> Self {
        Error::Conflict { why: why.into() }
    }

    #[doc(hidden)]
    pub fn missing(why: impl Into<String>) -> Self {
        Error::Missing { why: why.into() }
    }

    #[doc(hidden)]
    pub fn unsuitable(why: impl Into<String>) -> Self {
        Error::Unsuitable { why: why.into() }
    }

    #[doc(hidden)]
    pub fn undecided(what: &str, value: impl ToString, apart: &str) -> Self {
        Error::Undecided { what: what.to_string(), value: value.to_string(), apart: apart.to_string() }
    }

    #[doc(hidden)]
    pub fn fault(what: impl Into<String>) -> Self {
        Error::Fault { what: what.into() }
    }

    /// What one way found where another serves as well: `None` if it failed. A contradiction, or a stop, is not repaired by another way, and stays an error.
    pub(crate) fn unless_fatal<T>(found: Result<T>) -> Result<Option<T>> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_fatal() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Whether a valid request cannot be computed; bounds that need no computation remain.
    #[doc(hidden)]
    pub fn is_beyond_reach(&self) -> bool {
        matches!(self, Error::Unsweepable { .. } | Error::TooLong { .. } | Error::NotFinite { .. } | Error::OutOfTime)
    }
}

/// An infallible operation needs no error.
impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

/// The message about an unknown name: the most similar known names, and after `has` the list of all, unless it is long and some are
/// similar.
///
/// `unknown level "Sate", did you mean "State"? The release r has US, State, County`
pub fn unknown<'a>(kind: &str, name: &str, has: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    message_of_unknown(kind, name, has, &known)
}

fn message_of_unknown(kind: &str, name: &str, has: &str, known: &[&str]) -> String {
    // Longer lists are shown only if no name is similar, and then up to the second number.
    const FEW: usize = 12;
    const MOST: usize = 20;
    let near = nearest(name, known);
    let shown = clip(name);
    // Names of files and columns may contain anything: quoted if a list would be ambiguous.
    let is_plain = |letter: char| letter.is_alphanumeric() || " -_./*+<>=()'".contains(letter);
    let listed = |name: &&str| {
        if !name.is_empty() && name.chars().all(is_plain) { clip(name) } else { format!("{:?}", clip(name)) }
    };
    let list = || match known.len() {
        0 => "none".to_string(),
        many => {
            // A single name more takes no more room than the words for it.
            let shown = if many <= MOST + 1 { many } else { MOST };
            let first = known.iter().take(shown).map(listed).collect::<Vec<_>>().join(", ");
            if many > shown { format!("{first}, and {} more", many - shown) } else { first }
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

/// The known names most similar to an unknown one: those that differ only in capitals, at most eight that begin with it, or at most three at a small edit
/// distance.
pub(crate) fn nearest<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    const MOST: usize = 3;
    const MOST_THAT_BEGIN: usize = 8;
    let lower = name.to_lowercase();
    let rank = |known: &'a str| -> Option<(usize, usize, &'a str)> {
        let other = known.to_lowercase();
        let distance = strsim::damerau_levenshtein(&lower, &other);
        // Wrong, missing or extra letters: one in three, of a short name one.
        let most = (lower.chars().count() / 3).max(1);
        let kind = match () {
            () if distance == 0 => 0,
            // Another code means another thing.
            () if lower.bytes().all(|byte| byte.is_ascii_digit()) => return None,
            () if is_next_number(&lower, &other) => return None,
            () if lower.len() >= 3 && other.starts_with(&lower) => 1,
            () if distance <= most && distance < lower.chars().count() => 2,
            () => return None,
        };
        Some((kind, distance, known))
    };
    // A list of columns may be long, and so may a name.
    if name.len() > 200 {
        return Vec::new();
    }
    let mut ranked: Vec<_> = known.iter().filter(|known| known.len() <= 200).filter_map(|known| rank(known)).collect();
    ranked.sort_unstable();
    ranked.dedup();
    let Some(first) = ranked.first().map(|(kind, distance, _)| (*kind, *distance)) else { return Vec::new() };
    // Names that begin with the given one are equally similar at any length; of the others the most similar.
    let is_near = |(kind, distance): (usize, usize)| kind == first.0 && (kind == 1 || distance == first.1);
    ranked
        .into_iter()
        .filter(|(kind, distance, _)| is_near((*kind, *distance)))
        .map(|(_, _, near)| near)
        // Of the names that begin with it none is likelier than another: all are named.
        .take(if first.0 == 1 { MOST_THAT_BEGIN } else { MOST })
        .collect()
}

/// Whether two names differ only in the number at their ends, as those of figures do: then one is not a misspelling of the other.
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

/// Long text is quoted only from its beginning.
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

/// The name of a file; an empty one in quotes, where nothing would stand.
fn named(file: &str) -> &str {
    if file.is_empty() { "\"\"" } else { file }
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

    /// A contour that requests share may fail where another way serves, but a contradiction on it is a fault of the program that no other way repairs.
    #[test]
    fn a_contradiction_is_not_repaired_by_another_way() {
        assert!(matches!(Error::unless_fatal(Ok(1)), Ok(Some(1))));
        for failed in [Error::OutOfTime, Error::NoLattice] {
            assert!(matches!(Error::unless_fatal::<u8>(Err(failed)), Ok(None)));
        }
        let fatal = || Error::unless_fatal::<u8>(Err(Error::Contradiction { what: "it" }));
        assert!(matches!(fatal(), Err(Error::Contradiction { .. })));
        assert!(matches!(Error::unless_fatal::<u8>(Err(Error::Stopped)), Err(Error::Stopped)));
    }

    #[test]
    fn a_near_name_is_offered_and_a_far_one_is_not() {
        let known = ["pl94-persons-us", "pl94-units-us", "dhc-persons-us"];
        let near = |name: &str| nearest(name, &known);
        assert_eq!(near("pl94-person-us"), ["pl94-persons-us"]);
        assert_eq!(near("DHC-persons-us"), ["dhc-persons-us"]);
        assert_eq!(near("pl94"), ["pl94-units-us", "pl94-persons-us"]);
        assert_eq!(near("nosuch"), [""; 0]);
        assert_eq!(near(""), [""; 0]);
        // Another number means another figure; a year may be a typing error.
        assert_eq!(nearest("figure-9", &["figure-8", "figure-10"]), [""; 0]);
        assert_eq!(nearest("census-2021", &["census-2020"]), ["census-2020"]);
        assert_eq!(nearest("GEOID1", &["GEOID10"]), ["GEOID10"]);
        assert_eq!(nearest("99", &["09", "44"]), [""; 0]);
        assert_eq!(nearest("hisp", &["votingage", "hispanic"]), ["hispanic"]);
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_known_ones() {
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
        assert!(unknown("column", "y", "there are", many().take(21)).ends_with(", column 20x"));
        assert!(unknown("column", "y", "there are", many().take(22)).ends_with(", column 19x, and 2 more"));
        assert!(unknown("column", &"y".repeat(1000), "there are", many()).len() < 900);
    }
}
