//! A request of the page: the options of a command, in JSON. Error messages are those of that command.

use anyhow::{Context, Result, anyhow, bail};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use dp_assay::{account::Stop, law::ENTRIES};
use serde_json::{Map, Value};

use crate::cli::report::words::command_line;

/// The requests, and the options of the command for each.
const QUESTIONS: &[(&str, &[&str], &[&str])] = &[
    ("epsilon", &["epsilon"], &["delta", "queries", "digits"]),
    ("drawing", &["epsilon"], &["delta", "digits"]),
    ("risk", &["calibrate"], &["advantage", "alpha", "beta", "posterior", "prior", "scale-all", "decimals", "digits"]),
    ("accuracy", &["allocate"], &["margin", "delta", "decimals"]),
    ("single", &["risk", "single"], &["rho", "query", "prior", "digits"]),
    ("margins", &["errors"], &["delta", "match", "place", "query", "count", "before", "digits"]),
    ("places", &["spine"], &["search"]),
    ("tune", &["tune"], TUNING),
    ("plan", &["tune"], &["sizes", "delta", "digits"]),
    ("config", &["tune"], &["set", "delta"]),
    ("budget", &["risk", "bound"], &["before", "budget", "keep-total", "delta", "prior", "digits"]),
    ("allocate", &["allocate"], &["epsilon", "delta", "decimals"]),
    ("columns", &["epsilon"], &["delta", "digits"]),
    ("bound", &["risk", "bound"], &["prior", "delta", "digits"]),
    (
        "calibrate",
        &["calibrate"],
        &[
            "delta",
            "epsilon",
            "match",
            "match-curve",
            "decimals",
            "per-level",
            "scale-all",
            "queries",
            "crossings",
            "digits",
        ],
    ),
];

/// Options of one level of population groups.
const TUNING: &[&str] = &[
    "rho",
    "epsilon",
    "moe",
    "mechanism",
    "decimals",
    "gamma",
    "stability",
    "race-codes",
    "suppress",
    "target-error",
    "sizes",
    "delta",
    "digits",
];

/// Options that describe the mechanism: among them counts of each law, under its name.
fn of_subject() -> Vec<&'static str> {
    let relation = ["neighbors", "counts-as-given", "group", "repeat"];
    ["release", "level"].into_iter().chain(of_laws()).chain(relation).collect()
}

/// The options of laws that need no file.
pub fn of_laws() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().filter(|entry| !entry.is_file()).map(|entry| entry.option)
}

/// A valid request.
pub struct Question {
    /// Its name.
    pub name: &'static str,
    /// The command with the same answer.
    pub command: &'static [&'static str],
    /// The view that sends it, and the number of its earlier requests.
    pub view: String,
    pub step: u64,
    /// Whether the next step is likely to follow: numbers that the page does not show may be left out.
    pub is_moving: bool,
    /// A file of the request: its name and its text.
    pub file: Option<(String, String)>,
    /// Set when the client no longer waits for the answer.
    pub stop: Stop,
    words: Vec<String>,
    own: Vec<String>,
    subject: String,
}

impl Question {
    /// Whether there is a request of this name.
    pub fn known(name: &str) -> Option<&'static str> {
        QUESTIONS.iter().map(|(known, _, _)| *known).find(|known| *known == name)
    }

    /// Reads `{"options": {...}, "view": "...", "step": 1, "moving": false, "file": {"name": "...", "text": "..."}}`.
    pub fn read(name: &str, body: &[u8]) -> Result<Question> {
        let request = object(body)?;
        let (name, command, own) =
            QUESTIONS.iter().find(|(known, _, _)| *known == name).with_context(|| format!("no question {name:?}"))?;
        let options = match request.get("options") {
            Some(Value::Object(options)) => options.clone(),
            None => Map::new(),
            Some(_) => bail!("options: expected an object"),
        };
        let of_subject = of_subject();
        if let Some(strange) =
            options.keys().find(|key| !of_subject.contains(&key.as_str()) && !own.contains(&key.as_str()))
        {
            bail!("options: {name} has no option {strange:?}");
        }
        let file = request.get("file").map(file).transpose()?;
        let of_file: Vec<String> = file.iter().map(|(file, _)| format!("--{name}={file}")).collect();
        // In a fixed order, so that the same subject has the same key.
        let in_order = |known: &[&str]| -> Result<Vec<String>> {
            let words = known.iter().filter_map(|name| Some((name, options.get(*name)?)));
            Ok(words.map(|(name, value)| words_of(name, value)).collect::<Result<Vec<_>>>()?.concat())
        };
        let (subject, own) = (in_order(&of_subject)?, in_order(own)?);
        let text = |key: &str| request.get(key).and_then(Value::as_str).unwrap_or_default();
        Ok(Question {
            name,
            command,
            view: text("view").chars().take(100).collect(),
            step: request.get("step").and_then(Value::as_u64).unwrap_or(u64::MAX),
            is_moving: request.get("moving").and_then(Value::as_bool).unwrap_or(false),
            stop: Stop::new(),
            subject: subject.join("\n"),
            words: [of_file, subject, own.clone()].concat(),
            own,
            file,
        })
    }

    /// The options as the command reads them.
    pub fn args<T: clap::Args>(&self) -> Result<T> {
        read_args(&self.words)
    }

    /// The options with additional ones, as the command reads them.
    pub fn args_with<T: clap::Args>(&self, more: &[String]) -> Result<T> {
        read_args(&[&self.words, more].concat())
    }

    /// The mechanism, as a key.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The cached part of the work. A newer request that needs it too does not stop it: the points of a
    /// drawing, for example, serve every delta.
    pub fn lasting(&self) -> Option<&str> {
        (self.name == "drawing").then_some(&self.subject)
    }

    /// The command line that gives the same answer.
    pub fn command_line(&self) -> String {
        self.command_line_of(&self.words)
    }

    /// The command line with other options.
    pub fn command_line_of(&self, options: &[String]) -> String {
        let words = ["assay"].iter().chain(self.command).map(ToString::to_string);
        let all: Vec<String> = words.chain(options.iter().cloned()).chain(["--json".to_string()]).collect();
        command_line(&all)
    }

    /// The options as words without those of the mechanism.
    pub fn own_words(&self) -> &[String] {
        &self.own
    }

    /// The value of an option that is not about the mechanism, as it was given.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.own.iter().find_map(|word| word.strip_prefix("--")?.strip_prefix(name)?.strip_prefix('='))
    }

    /// The options as words.
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

/// Options as a command reads them.
pub fn read_args<T: clap::Args>(words: &[String]) -> Result<T> {
    let command = T::augment_args(clap::Command::new("assay").no_binary_name(true).disable_help_flag(true));
    let matches = command.try_get_matches_from(words).map_err(in_words)?;
    T::from_arg_matches(&matches).map_err(in_words)
}

/// A file as its name and its text.
fn file(value: &Value) -> Result<(String, String)> {
    let text =
        |key: &str| value.get(key).and_then(Value::as_str).with_context(|| format!("file: {key}: expected a text"));
    let (name, content) = (text("name")?, text("text")?);
    Ok((checked_name(name)?.to_string(), content.to_string()))
}

/// A name that can be displayed and written as a word.
pub fn checked_name(name: &str) -> Result<&str> {
    const LONGEST: usize = 200;
    if name.is_empty() || name.len() > LONGEST || name.chars().any(is_unprintable) {
        bail!("name: expected 1 to {LONGEST} printable characters");
    }
    Ok(name)
}

/// Whether a character is a control, or changes the order or the lines in which others are shown.
fn is_unprintable(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A body that is one JSON object.
pub fn object(body: &[u8]) -> Result<Map<String, Value>> {
    match serde_json::from_slice(body).context("the body is no JSON")? {
        Value::Object(object) => Ok(object),
        _ => bail!("the body is no JSON object"),
    }
}

/// An option as words: `--name=value` for each value, so that no value looks like an option; `--name` for true.
fn words_of(name: &str, value: &Value) -> Result<Vec<String>> {
    const LONGEST: usize = 10_000;
    // More digits take long, and are of no use on a page.
    const MOST_DIGITS: u64 = 60;
    if name == "digits" && !value.as_u64().is_some_and(|digits| (1..=MOST_DIGITS).contains(&digits)) {
        bail!("--digits: {value} is out of range: a whole number from 1 to {MOST_DIGITS}");
    }
    let word = |value: &Value| match value {
        Value::String(text) if text.len() <= LONGEST => Ok(format!("--{name}={text}")),
        Value::Number(number) => Ok(format!("--{name}={number}")),
        other => {
            Err(anyhow!("--{name}: expected a text or a number of at most {LONGEST} characters, found {}", kind(other)))
        }
    };
    match value {
        Value::Null | Value::Bool(false) => Ok(Vec::new()),
        Value::Bool(true) => Ok(vec![format!("--{name}")]),
        Value::Array(values) if values.len() <= 1000 => values.iter().map(word).collect(),
        value => Ok(vec![word(value)?]),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a longer text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The error of the command-line parser in the words of this program: the option first, then what would be right.
fn in_words(error: clap::Error) -> anyhow::Error {
    let context = |kind| error.get(kind);
    let texts = |kind| match context(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    };
    // "--count <COUNT>" without the placeholder of its value.
    let option = |text: &String| text.split([' ', '=']).next().unwrap_or_default().to_string();
    let options = |kind| texts(kind).iter().map(option).collect::<Vec<_>>().join(", ");
    let named = options(ContextKind::InvalidArg);
    let value = texts(ContextKind::InvalidValue).join(", ");
    let why = match error.kind() {
        ErrorKind::InvalidValue if value.is_empty() => format!("{named}: must not be empty"),
        ErrorKind::InvalidValue => {
            let known = texts(ContextKind::ValidValue).join(", ");
            format!("{named}: {value:?} is none of {known}")
        }
        ErrorKind::ValueValidation => {
            let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            format!("{named}: {}", of_value(&value, &source))
        }
        ErrorKind::MissingRequiredArgument => format!("{named}: is missing"),
        ErrorKind::ArgumentConflict => {
            format!("{named}: cannot be combined with {}", options(ContextKind::PriorArg))
        }
        ErrorKind::UnknownArgument => format!("{named}: there is no such option"),
        _ => {
            let text = error.render().to_string();
            let first = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
            first.split_whitespace().collect::<Vec<_>>().join(" ")
        }
    };
    anyhow::Error::msg(why)
}

/// The reason why a value of an option is refused; `source` is the error of its reader.
fn of_value(value: &str, source: &str) -> String {
    let range = source.split_once(" is not in ").and_then(|(_, range)| range.split_once(".."));
    if let Some((least, most)) = range {
        let most = most.trim_start_matches('=');
        let range = if most.is_empty() { format!("{least} or more") } else { format!("{least} to {most}") };
        return format!("{value:?} is out of range: expected a whole number, {range}");
    }
    // The standard library's messages about whole numbers.
    let is_no_integer = ["invalid digit", "empty string", "number too"].iter().any(|said| source.contains(said));
    match is_no_integer || source.is_empty() {
        true => format!("{value:?} is not a whole number in the range of this option: expected 0, 1, 2, ..."),
        false => source.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::{calibrate, epsilon};

    fn read(name: &str, options: Value) -> Result<Question> {
        Question::read(name, json!({ "options": options, "view": "v", "step": 3 }).to_string().as_bytes())
    }

    #[test]
    fn options_are_words_of_the_command_line() {
        let options =
            json!({ "delta": "1e-10", "level": ["State", "it's"], "queries": true, "release": "r", "digits": 6 });
        let question = read("epsilon", options).unwrap();
        let line =
            "assay epsilon --release=r --level=State '--level=it'\\''s' --delta=1e-10 --queries --digits=6 --json";
        assert_eq!((question.command_line().as_str(), question.step), (line, 3));
        assert!(question.args::<epsilon::Args>().is_ok());
        let again = read("epsilon", json!({ "release": "r", "level": ["State", "it's"], "delta": "0.5" })).unwrap();
        assert_eq!(question.subject(), again.subject());
    }

    #[test]
    fn a_name_shows_as_it_is() {
        for name in ["", "a\n", "a\u{202e}b", "\u{2066}a", "a\u{2028}", &"a".repeat(201)] {
            assert!(checked_name(name).is_err(), "{name:?}");
        }
        for name in ["age", "Übung 3", "年龄", "می\u{200c}خواهم"] {
            assert_eq!(checked_name(name).unwrap(), name);
        }
    }

    /// The command line has an option for each law.
    #[test]
    fn each_law_is_an_option() {
        for option in of_laws() {
            let question = read("epsilon", json!({ option: ["1"], "delta": "1e-3" })).unwrap();
            assert!(
                question.args::<epsilon::Args>().is_ok() && question.subject() == format!("--{option}=1"),
                "{option}"
            );
        }
    }

    #[test]
    fn unknown_requests_and_options_are_refused_by_name() {
        let refused = |name, options| format!("{:#}", read(name, options).err().expect("refused"));
        assert!(refused("epsilon", json!({ "svg": "/tmp/x" })).contains("no option \"svg\""));
        assert!(refused("epsilon", json!({ "delta": {} })).contains("--delta"));
        assert!(refused("epsilon", json!({ "digits": 200 })).contains("--digits"));
        assert!(refused("epsilon", json!([])).contains("object"));
        assert!(refused("rm", json!({})).contains("no question"));
        let missing = read("epsilon", json!({})).unwrap().args::<epsilon::Args>().err().expect("refused").to_string();
        assert!(missing.contains("--delta") && !missing.contains("Usage"), "{missing}");
        // No message of the parser or of the standard library.
        for (options, said) in [
            (json!({ "delta": "0.1", "group": "x" }), "--group: \"x\" is not a whole number"),
            (json!({ "delta": "0.1", "group": "0" }), "--group: \"0\" is out of range: expected a whole number, 1"),
            (
                json!({ "delta": "0.1", "neighbors": "near" }),
                "--neighbors: \"near\" is none of add-remove, unbounded, add-delete, bounded, replace-one",
            ),
            (json!({}), "--delta: is missing"),
        ] {
            let message = read("epsilon", options).unwrap().args::<epsilon::Args>().err().expect("refused").to_string();
            assert!(message.starts_with(said), "{message}");
            assert!(!message.contains("invalid") && !message.contains('<'), "{message}");
        }
        // A value that looks like an option is a value.
        let hidden = read("epsilon", json!({ "delta": "--queries" })).unwrap();
        assert!(hidden.args::<epsilon::Args>().is_ok() && hidden.command_line().contains("--delta=--queries"));
        let both = read("calibrate", json!({ "delta": "0.1", "match": "zcdp", "epsilon": "1" })).unwrap();
        assert!(both.args::<calibrate::Args>().err().expect("refused").to_string().contains("--epsilon"));
    }
}
