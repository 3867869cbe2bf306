//! An answer elsewhere: as a command line, as a release file, and as a cell of a Python notebook.

use dp_assay::release::{Release, bundled_text, subject::Subject};
use serde_json::{Value, json};

use super::ask::Question;
use crate::cli::report::words::command_line;

/// A text that gives the same numbers elsewhere, or the reason why there is none.
pub struct Export {
    kind: &'static str,
    title: String,
    /// The name of its file, and its text.
    file: Option<(String, String)>,
    note: Option<String>,
}

impl Export {
    /// A command line.
    pub fn command(line: &str, title: &str) -> Export {
        let file = Some(("assay-command.txt".to_string(), format!("{line}\n")));
        Export { kind: "command", title: title.to_string(), file, note: None }
    }

    /// A release, and the command that reads its file.
    pub fn release(release: &Release, command: &str) -> Export {
        let file = Some((file_name(&release.name), release.to_toml()));
        Export { kind: "release", title: "A release file".to_string(), file, note: Some(command.to_string()) }
    }

    /// A cell of a notebook: an expression about `release`, which is the given one.
    pub fn cell(release: &str, expression: &str) -> Export {
        Export::script(&format!("from dp_assay import Release\n\nrelease = {release}\n{expression}\n"))
    }

    /// A cell of a notebook.
    pub fn script(text: &str) -> Export {
        let (title, file) =
            ("A notebook cell (Python)".to_string(), ("assay-cell.ipynb".to_string(), text.to_string()));
        Export { kind: "cell", title, file: Some(file), note: None }
    }

    /// A further command line, with the same epsilon and no file.
    pub fn alone(line: &str) -> Export {
        let title = "The same epsilon on the command line, without a file";
        Export { kind: "alone", ..Export::command(line, title) }
    }

    fn none(why: String) -> Export {
        Export { kind: "none", title: "A release file and a notebook cell".to_string(), file: None, note: Some(why) }
    }

    /// The export as the page reads it.
    pub fn json(&self) -> Value {
        let (name, text) = self.file.as_ref().map(|(name, text)| (name, text)).unzip();
        json!({ "kind": self.kind, "title": self.title, "name": name, "text": text, "note": self.note })
    }
}

/// The subject of a request as a release file, and a notebook cell with the same answer, which is that of an expression about `release`.
/// None while a slider moves.
pub fn of_subject(question: &Question, subject: &Subject, expression: &str) -> Vec<Export> {
    if question.is_moving {
        return Vec::new();
    }
    if subject.repeat != 1 {
        return vec![Export::none("Several repetitions are an option of the command line.".to_string())];
    }
    let release = match subject.as_release() {
        Ok(release) => release,
        Err(why) => return vec![Export::none(format!("There is none: {why}."))],
    };
    let name = format!("--release={}", file_name(&release.name));
    let group = (subject.group != 1).then(|| format!("--group={}", subject.group));
    let line = line_of(question, [name].into_iter().chain(group).chain(question.own_words().iter().cloned()));
    let original = subject.release.as_ref().filter(|release| subject.singles.is_empty() && is_bundled(release));
    let group = (subject.group != 1).then(|| format!("group={}", subject.group));
    let account = match original {
        Some(release) => {
            let levels = (!subject.levels.is_empty()).then(|| format!("levels={}", json!(subject.levels)));
            let neighbors = subject.neighbors.map(|neighbors| format!("neighbors={}", text(neighbors.name())));
            let options = [levels, neighbors, group].into_iter().flatten().map(|option| format!(", {option}"));
            format!("Release({}{})", text(&release.name), options.collect::<String>())
        }
        None => from_toml(&release, group.as_deref()),
    };
    vec![Export::release(&release, &line), Export::cell(&account, expression)]
}

/// Whether it is the bundled release of its name: a file of the user may have the same name.
fn is_bundled(release: &Release) -> bool {
    let bundled = bundled_text(&release.name).and_then(|text| Release::parse(text, &release.name).ok());
    release.sha256.is_some() && bundled.is_some_and(|bundled| bundled.sha256 == release.sha256)
}

/// A command line of a request with these options.
fn line_of(question: &Question, options: impl Iterator<Item = String>) -> String {
    question.command_line_of(&options.collect::<Vec<_>>())
}

/// The command that computes epsilon of a release file, with further options.
pub fn epsilon_line(release: &Release, options: &[String]) -> String {
    let first = ["assay".to_string(), "epsilon".to_string(), format!("--release={}", file_name(&release.name))];
    command_line(&[&first, options].concat())
}

/// A release in Python from the text of its file, with another option.
pub fn from_toml(release: &Release, option: Option<&str>) -> String {
    // A backslash or three quotes would end or change the text.
    let toml = release.to_toml().replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"");
    format!("Release.from_toml(\"\"\"\\\n{toml}\"\"\"{})", option.map_or(String::new(), |option| format!(", {option}")))
}

/// A text in Python: all escapes of JSON are among those of Python.
pub fn text(text: &str) -> String {
    json!(text).to_string()
}

/// The name of the file of a release: letters, digits, `.`, `-` and `_`, without a `.` or `-` at the beginning.
pub fn file_name(name: &str) -> String {
    const LONGEST: usize = 60;
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '-' };
    let name = name.strip_suffix(".toml").unwrap_or(name);
    let stem: String = name.chars().map(plain).take(LONGEST).collect();
    let stem = stem.trim_matches(['.', '-']);
    format!("{}.toml", if stem.is_empty() { "release" } else { stem })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain() {
        for (name, file) in [
            ("my table", "my-table.toml"),
            ("own.toml", "own.toml"),
            ("../../etc/passwd", "etc-passwd.toml"),
            ("--x", "x.toml"),
            ("'; rm -rf ~", "rm--rf.toml"),
            ("日本", "release.toml"),
            ("", "release.toml"),
        ] {
            let found = file_name(name);
            assert!(!found.starts_with(['.', '-']) && !found.contains('/'), "{found}");
            assert_eq!(found, file, "{name}");
        }
    }

    #[test]
    fn a_text_stays_a_text_in_python() {
        let text = "name = 'a \"\"\" \\ b'\ntitle = 't'\nsource = 's'\nneighbors = 'add-remove'\n[[level]]\nname = 'l'\n\
                    [[level.query]]\nname = 'q'\nsigma2 = 5\n";
        let python = from_toml(&Release::parse(text, "f").unwrap(), Some("group=2"));
        let inner =
            python.strip_prefix("Release.from_toml(\"\"\"\\\n").unwrap().strip_suffix("\"\"\", group=2)").unwrap();
        assert!(!inner.contains("\"\"\"") && inner.contains("\\\\"), "{python}");
    }
}
