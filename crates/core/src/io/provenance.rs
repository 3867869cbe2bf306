//! The provenance of an answer or a file: the program with its version and commit, the command line, the requested digits,
//! and the inputs with their SHA-256.
//!
//! A confidential input is named and not hashed. A hash of true counts would be published beside their noisy values, and would confirm
//! a correct guess of the counts: no noise protects against that.

use std::{
    fs,
    io::{self, Read},
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    error::Result,
    io::files::{file_error, write_text},
};

/// The version of this library and program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit from which it was built, with `-modified` after it if the sources differ; `unknown` in development builds and in builds from
/// an archive.
pub const COMMIT: &str = env!("ASSAY_COMMIT");
/// Both as the program prints them.
pub const VERSION_AND_COMMIT: &str = concat!(env!("CARGO_PKG_VERSION"), " (commit ", env!("ASSAY_COMMIT"), ")");

/// An input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name, as given: a path, or the name of a bundled input.
    pub name: String,
    /// The record of its content.
    pub content: Content,
}

impl Input {
    /// A confidential input: named and not hashed.
    pub fn confidential(name: &Path) -> Input {
        Input { name: name.to_string_lossy().into_owned(), content: Content::Confidential }
    }

    /// An input that is named and not hashed, because hashing would read it twice.
    pub fn not_hashed(name: &Path) -> Input {
        Input { name: name.to_string_lossy().into_owned(), content: Content::NotHashed }
    }

    /// A public input: the SHA-256 of a file or folder. A pipe is read once, and not here.
    pub fn public(path: &Path) -> Result<Input> {
        let content = match path.is_file() || path.is_dir() {
            true => Content::Sha256(sha256(path)?),
            false => Content::NotHashed,
        };
        Ok(Input { name: path.to_string_lossy().into_owned(), content })
    }

    /// Its SHA-256, if it is hashed.
    pub fn sha256(&self) -> Option<&str> {
        match &self.content {
            Content::Sha256(sha256) => Some(sha256),
            Content::Confidential | Content::NotHashed => None,
        }
    }
}

/// The record of an input's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Its SHA-256, in 64 hexadecimal digits.
    Sha256(String),
    /// None: it is confidential.
    Confidential,
    /// None: it is a stream, or too large a folder to be read twice.
    NotHashed,
}

/// The provenance of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The words of the command line, the program first.
    pub command_line: Vec<String>,
    /// The requested relative width, 10^-digits; `None` if nothing is certified to a width.
    pub digits: Option<u32>,
    /// The inputs.
    pub inputs: Vec<Input>,
    /// The seed of the noise, if anyone who knows it can subtract the noise.
    pub insecure_seed: Option<u64>,
    /// The time of the answer, if it is to be recorded.
    pub date: Option<String>,
    /// The reason why noisy counts that do not fit each other were used nevertheless.
    pub misfit: Option<String>,
}

/// The time now, as 2026-11-26 19:53:04 UTC.
pub fn now() -> String {
    date_of(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

/// The date of a second since 1970 in the Gregorian calendar.
fn date_of(seconds: u64) -> String {
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    // Days since 0000-03-01: years begin in March, so that a leap day is their last. An era has 400 years and 146,097 days.
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let (date, month) = (of_year - (153 * march + 2) / 5 + 1, if march < 10 { march + 3 } else { march - 9 });
    let year = 400 * era + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{date:02} {hour:02}:{minute:02}:{second:02} UTC")
}

impl Provenance {
    /// One JSON object.
    pub fn to_json(&self) -> Value {
        let inputs = self.inputs.iter().map(|input| match &input.content {
            Content::Sha256(sha256) => json!({ "name": input.name, "sha256": sha256 }),
            Content::Confidential => json!({ "name": input.name, "sha256": null, "confidential": true }),
            Content::NotHashed => json!({ "name": input.name, "sha256": null }),
        });
        let mut object = json!({
            "program": "assay",
            "version": VERSION,
            "commit": COMMIT,
            "command_line": self.command_line,
            "digits": self.digits,
            "inputs": inputs.collect::<Value>(),
        });
        if let Some(seed) = self.insecure_seed {
            object["insecure_seed"] = json!(seed);
        }
        if let Some(date) = &self.date {
            object["date"] = json!(date);
        }
        if let Some(misfit) = &self.misfit {
            object["misfit"] = json!(misfit);
        }
        object
    }

    /// The JSON object as the text of a file.
    pub fn to_text(&self) -> String {
        format!("{:#}\n", self.to_json())
    }

    /// Writes it into a folder, as `provenance.json`.
    pub fn write_into(&self, folder: &Path) -> Result<()> {
        write_text(&folder.join("provenance.json"), &self.to_text())
    }

    /// Writes it beside a file, as `FILE.provenance.json`.
    pub fn write_beside(&self, file: &Path) -> Result<()> {
        let mut name = file.as_os_str().to_owned();
        name.push(".provenance.json");
        write_text(Path::new(&name), &self.to_text())
    }
}

/// The words of a command line, quoted for a shell.
pub fn command_line(words: &[String]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:@%+".contains(c);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The SHA-256 of a file; for a folder that of a list with a line for each file in it, by name: its own SHA-256, two blanks, and its
/// path in the folder, as `sha256sum` prints them.
pub fn sha256(path: &Path) -> Result<String> {
    if !path.is_dir() {
        return sha256_of_file(path);
    }
    let mut files = Vec::new();
    list(path, "", &mut files)?;
    files.sort();
    let mut hasher = Sha256::new();
    for name in files {
        hasher.update(format!("{}  {name}\n", sha256_of_file(&path.join(&name))?));
    }
    Ok(hex(&hasher.finalize()))
}

/// The SHA-256 of a text.
pub fn sha256_of_text(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// The files in a folder, by their relative paths.
fn list(folder: &Path, prefix: &str, files: &mut Vec<String>) -> Result<()> {
    let wrong = |why: io::Error| file_error(folder, why);
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.push(name);
        }
    }
    Ok(())
}

fn sha256_of_file(path: &Path) -> Result<String> {
    let wrong = |why: io::Error| file_error(path, why);
    let mut file = crate::io::reading::open(path)?;
    // Reading would consume a pipe, and a device may have no end.
    if !file.metadata().map_err(wrong)?.is_file() {
        return Err(file_error(
            path,
            "is a device or a pipe: its content is named by its SHA-256, so it has to be a file",
        ));
    }
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut piece).map_err(wrong)?;
        if read == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(&piece[..read]);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        // FIPS 180-4, the examples "abc" and the empty message.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256_of_text("abc"), abc);
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("b")).unwrap();
        fs::write(folder.path().join("b/two"), "").unwrap();
        fs::write(folder.path().join("one"), "abc").unwrap();
        assert_eq!(sha256(&folder.path().join("one")).unwrap(), abc);
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let listed = sha256_of_text(&format!("{empty}  b/two\n{abc}  one\n"));
        assert_eq!(sha256(folder.path()).unwrap(), listed);
        assert!(sha256(&folder.path().join("none")).is_err());
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(date_of(seconds), date);
        }
    }

    #[test]
    fn a_confidential_input_is_named_and_not_hashed() {
        let input = |name: &str, content| Input { name: name.to_string(), content };
        let sha256 = "0".repeat(64);
        let provenance = Provenance {
            command_line: ["assay", "noise", "counts.csv"].map(String::from).to_vec(),
            digits: None,
            inputs: vec![input("counts.csv", Content::Confidential), input("r", Content::Sha256(sha256.clone()))],
            insecure_seed: Some(3),
            date: None,
            misfit: None,
        };
        let json = provenance.to_json();
        assert_eq!(json["inputs"][0], json!({ "name": "counts.csv", "sha256": null, "confidential": true }));
        assert_eq!(json["inputs"][1]["sha256"], json!(sha256));
        assert_eq!((&json["version"], &json["digits"]), (&json!(VERSION), &Value::Null));
        assert_eq!(json["insecure_seed"], 3);
        let folder = tempfile::tempdir().unwrap();
        provenance.write_beside(&folder.path().join("noisy.csv")).unwrap();
        let text = fs::read_to_string(folder.path().join("noisy.csv.provenance.json")).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json);
    }
}
