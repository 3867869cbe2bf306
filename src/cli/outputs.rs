//! Names of outputs, checked before a command begins: the extension of a file must be of a kind that the command writes, and the folder for
//! it must exist.

use std::path::Path;

use anyhow::{Result, bail};
use clap::ValueHint;

use super::invocation;

/// The kind of path that an option names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// A file of one of these kinds.
    File(&'static [Kind]),
    /// A folder of files.
    Folder,
    /// A file of one of these kinds or a folder, depending on other options.
    FileOrFolder(&'static [Kind]),
}

/// A kind of file that some command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Csv,
    /// CSV, compressed.
    Gzip,
    Html,
    Json,
    Markdown,
    Parquet,
    Python,
    Rocq,
    Svg,
    Toml,
    Yaml,
}

impl Kind {
    /// Its name, and its extensions, the usual one first.
    fn words(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Kind::Csv => ("CSV", &["csv", "txt"]),
            Kind::Gzip => ("gzip", &["gz"]),
            Kind::Html => ("HTML", &["html", "htm"]),
            Kind::Json => ("JSON", &["json"]),
            Kind::Markdown => ("Markdown", &["md"]),
            Kind::Parquet => ("Parquet", &["parquet"]),
            Kind::Python => ("Python", &["py"]),
            Kind::Rocq => ("Rocq", &["v"]),
            Kind::Svg => ("SVG", &["svg"]),
            Kind::Toml => ("TOML", &["toml"]),
            Kind::Yaml => ("YAML", &["yaml", "yml"]),
        }
    }
}

/// The options that name outputs: the command (any if empty), the id of the option, and the kind of path.
const OUTPUTS: &[(&str, &str, Written)] = &[
    ("", "svg", Written::File(&[Kind::Svg])),
    ("", "csv", Written::File(&[Kind::Csv])),
    ("allocate", "out", Written::File(&[Kind::Toml])),
    ("audit", "out", Written::File(&[Kind::Csv])),
    ("calibrate", "out", Written::File(&[Kind::Toml])),
    ("calibrate", "table_out", Written::File(&[Kind::Csv])),
    ("deployments", "out", Written::Folder),
    ("estimate", "covariance", Written::File(&[Kind::Csv])),
    ("estimate", "out", Written::FileOrFolder(&[Kind::Csv, Kind::Parquet])),
    ("figures", "out", Written::Folder),
    ("ledger", "new", Written::File(&[Kind::Toml])),
    ("man", "out", Written::Folder),
    ("measure", "out", Written::Folder),
    ("memo", "out", Written::Folder),
    ("noise", "out", Written::File(&[Kind::Csv, Kind::Parquet, Kind::Gzip])),
    ("prove", "checker", Written::File(&[Kind::Python])),
    ("prove", "out", Written::File(&[Kind::Json])),
    ("prove", "rocq", Written::File(&[Kind::Rocq])),
    ("rehearse", "out", Written::Folder),
    ("report", "nist", Written::File(&[Kind::Html, Kind::Markdown])),
    ("report", "out", Written::File(&[Kind::Html])),
    ("report", "registry", Written::File(&[Kind::Yaml])),
    ("spine", "out", Written::Folder),
    ("tabulate", "new", Written::File(&[Kind::Toml])),
    ("tabulate", "out", Written::Folder),
    ("tune", "out", Written::File(&[Kind::Json, Kind::Toml])),
    ("verify", "new", Written::File(&[Kind::Toml])),
    ("verify", "out", Written::Folder),
];

/// Extensions of files besides those of [`Kind`].
const OTHER_KINDS: &[&str] = &[
    "doc", "docx", "eps", "feather", "geojson", "gif", "gz", "jpeg", "jpg", "kml", "md", "ods", "pdf", "png", "pptx",
    "ps", "rds", "shp", "tex", "tiff", "tsv", "webp", "xls", "xlsx", "xml", "yaml", "yml", "zip",
];

/// Refuses extensions that the command of this process does not write, and files in folders that do not exist.
pub fn check() -> Result<()> {
    let Some((command, matches)) = invocation::meant() else { return Ok(()) };
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        let is_path = argument.get_value_hint() == ValueHint::AnyPath && argument.get_action().takes_values();
        let Some(written) = written(command.get_name(), id).filter(|_| is_path) else { continue };
        let option = argument.get_long().map_or_else(|| id.to_string(), |long| format!("--{long}"));
        for path in matches.get_raw(id).into_iter().flatten().map(Path::new) {
            check_one(&option, path, written)?;
        }
    }
    Ok(())
}

fn written(command: &str, id: &str) -> Option<Written> {
    let found = OUTPUTS.iter().find(|(of, known, _)| (of.is_empty() || *of == command) && *known == id);
    found.map(|(_, _, written)| *written)
}

fn check_one(option: &str, path: &Path, written: Written) -> Result<()> {
    match written {
        Written::File(kinds) => check_file(option, path, kinds),
        Written::Folder => check_folder(option, path),
        Written::FileOrFolder(_) if path.is_dir() => Ok(()),
        Written::FileOrFolder(kinds) => match kind_of(path) {
            Some(_) => check_file(option, path, kinds),
            None => Ok(()),
        },
    }
}

/// The extension of a file name in small letters; numbers, as in `run.2026`, are no extension.
fn kind_of(path: &Path) -> Option<String> {
    let end = path.extension()?.to_string_lossy().to_lowercase();
    end.starts_with(|first: char| first.is_alphabetic()).then_some(end)
}

/// Refuses an extension of another kind than those that are written, and a folder that does not exist.
pub fn check_file(option: &str, path: &Path, kinds: &[Kind]) -> Result<()> {
    let shown = dp_assay::error::shown(path);
    // Standard output.
    if path == Path::new("-") {
        return Ok(());
    }
    let ends = || kinds.iter().flat_map(|kind| kind.words().1);
    if let Some(end) = kind_of(path)
        && !ends().any(|known| *known == end)
    {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.words().0).collect();
        let usual: Vec<String> = kinds.iter().map(|kind| format!(".{}", kind.words().1[0])).collect();
        let remedy = remedy(path, &end, kinds);
        bail!(
            "{option} {shown}: {} is written here, and not .{end}: give a name in {}{remedy}",
            names.join(" or "),
            usual.join(" or ")
        );
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            bail!("{option} {shown}: there is no folder {}: create it first", dp_assay::error::shown(folder))
        }
        _ => Ok(()),
    }
}

/// How to make a file of the named kind from the one that is written, if another program does that well.
fn remedy(path: &Path, end: &str, kinds: &[Kind]) -> String {
    let from = |kind: &str| path.with_extension(kind).display().to_string();
    match end {
        "pdf" | "png" | "ps" | "eps" if kinds.contains(&Kind::Svg) => {
            format!("; then `rsvg-convert -f {end} {} -o {}`", from("svg"), dp_assay::error::shown(path))
        }
        "pdf" if kinds.contains(&Kind::Html) => "; a browser prints it as PDF".to_string(),
        _ => String::new(),
    }
}

/// Refuses a folder name that is the name of a file.
pub fn check_folder(option: &str, path: &Path) -> Result<()> {
    let shown = dp_assay::error::shown(path);
    if path.is_dir() {
        return Ok(());
    }
    if path.exists() {
        bail!("{option} {shown}: is a file: give the name of a folder");
    }
    let all = [Kind::Csv, Kind::Html, Kind::Json, Kind::Parquet, Kind::Python, Kind::Rocq, Kind::Svg, Kind::Toml];
    let known = |end: &str| OTHER_KINDS.contains(&end) || all.iter().any(|kind| kind.words().1.contains(&end));
    match kind_of(path).filter(|end| known(end)) {
        Some(end) => {
            bail!("{option} {shown}: a folder of files is written here, and not .{end}: give the name of a folder")
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::definition;

    /// Paths that are neither inputs nor outputs.
    const OTHERS: &[&str] = &["cluster_token", "facts", "shared", "state", "work"];

    fn check_command(command: &clap::Command) {
        for argument in command.get_arguments() {
            let id = argument.get_id().as_str();
            let is_path = argument.get_value_hint() == ValueHint::AnyPath && argument.get_action().takes_values();
            let is_known =
                invocation::is_input(id) || OTHERS.contains(&id) || written(command.get_name(), id).is_some();
            assert!(!is_path || is_known, "{} --{id}: which kinds of files does it write?", command.get_name());
        }
        command.get_subcommands().for_each(check_command);
    }

    #[test]
    fn every_path_is_an_input_or_has_kinds_that_may_be_written() {
        definition::set(<crate::cli::Cli<crate::Applications> as clap::CommandFactory>::command);
        check_command(&definition::command());
    }

    #[test]
    fn names_say_what_is_written_or_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let refused = |name: &str, written| check_one("--out", &at(name), written).unwrap_err().to_string();
        let svg = Written::File(&[Kind::Svg]);
        for right in ["a.svg", "a.SVG", "a", "run.2026"] {
            assert!(check_one("--svg", &at(right), svg).is_ok(), "{right}");
        }
        assert!(check_one("--svg", Path::new("-"), svg).is_ok() && check_one("--svg", Path::new("a.svg"), svg).is_ok());
        for (name, said) in [
            ("a.pdf", "rsvg-convert -f pdf"),
            ("a.PNG", "give a name in .svg"),
            ("a.xlsx", "SVG is written here, and not .xlsx"),
            ("a.geojson", "not .geojson"),
            ("none/a.svg", "there is no folder"),
        ] {
            assert!(refused(name, svg).contains(said), "{name}: {}", refused(name, svg));
        }
        assert!(refused("a.pdf", Written::File(&[Kind::Html])).contains("a browser prints it"));
        assert!(refused("memo.pdf", Written::Folder).contains("a folder of files"));
        assert!(check_one("--out", &at("v1.2"), Written::Folder).is_ok());
        let both = Written::FileOrFolder(&[Kind::Csv, Kind::Parquet]);
        assert!(refused("a.xlsx", both).contains(".csv or .parquet") && check_one("--out", &at("new"), both).is_ok());
        std::fs::write(at("there"), "").unwrap();
        assert!(refused("there", Written::Folder).contains("is a file"));
    }
}
