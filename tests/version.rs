//! All files that name the version, its date, the authors' description or the toolchain agree. RELEASING.md lists them.

use std::{fs, path::Path};

use serde_json::Value;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn text(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The rest of the first line that begins so, without quotes.
fn after<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    Some(text.lines().find_map(|line| line.strip_prefix(start))?.trim().trim_matches('"'))
}

/// The version and the date of the newest entry: `## [0.2.0] - 2026-11-27`.
fn newest_entry(changelog: &str) -> Option<(String, String)> {
    let (version, date) = after(changelog, "## [")?.split_once("] - ")?;
    Some((version.to_string(), date.to_string()))
}

/// A day of the calendar, `YYYY-MM-DD`.
fn is_day(date: &str) -> bool {
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let is_number = |part: &str, digits: usize| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
    if !(is_number(year, 4) && is_number(month, 2) && is_number(day, 2)) {
        return false;
    }
    let (year, month, day): (u32, u32, u32) = (year.parse().unwrap(), month.parse().unwrap(), day.parse().unwrap());
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn codemeta() -> Value {
    serde_json::from_str(&text("codemeta.json")).unwrap()
}

#[test]
fn every_file_names_the_same_version() {
    let codemeta = codemeta();
    let (newest, _) = newest_entry(&text("CHANGELOG.md")).expect("an entry with a version and a date");
    let named = [
        ("python/Cargo.toml", after(&text("python/Cargo.toml"), "version = ").map(String::from)),
        ("crates/core/Cargo.toml", after(&text("crates/core/Cargo.toml"), "version = ").map(String::from)),
        ("Cargo.toml, dp-assay-core", between(&text("Cargo.toml"), "dp-assay-core = { version = \"=", "\"")),
        ("r/DESCRIPTION", after(&text("r/DESCRIPTION"), "Version: ").map(String::from)),
        ("CITATION.cff", after(&text("CITATION.cff"), "version: ").map(String::from)),
        ("packaging/conda/recipe.yaml", after(&text("packaging/conda/recipe.yaml"), "  version: ").map(String::from)),
        ("codemeta.json, version", codemeta["version"].as_str().map(String::from)),
        ("codemeta.json, softwareVersion", codemeta["softwareVersion"].as_str().map(String::from)),
        ("CHANGELOG.md", Some(newest)),
        ("docs/guide/evidence.md", between(&text("docs/guide/evidence.md"), "version = {", "}")),
    ];
    for (file, version) in named {
        assert_eq!(version.as_deref(), Some(VERSION), "{file} names another version than Cargo.toml");
    }
}

/// The text between two others.
fn between(text: &str, before: &str, behind: &str) -> Option<String> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(behind).map(|(inner, _)| inner.to_string())
}

#[test]
fn every_file_names_the_same_day() {
    let (codemeta, (_, day)) = (codemeta(), newest_entry(&text("CHANGELOG.md")).unwrap());
    assert!(is_day(&day), "CHANGELOG.md: {day} is no day");
    assert_eq!(after(&text("CITATION.cff"), "date-released: "), Some(&day[..]), "CITATION.cff");
    for key in ["datePublished", "dateModified"] {
        assert_eq!(codemeta[key].as_str(), Some(&day[..]), "codemeta.json, {key}");
    }
    for wrong in ["Unreleased", "2026-02-29", "2026-13-01", "2026-11-31", "2026-1-1", "1-1-2026", "2026-11-00"] {
        assert!(!is_day(wrong), "{wrong}");
    }
    assert!(is_day("2024-02-29") && is_day("2026-12-31"));
}

/// The two files of metadata describe the same work.
#[test]
fn both_citations_agree() {
    let (codemeta, citation) = (codemeta(), text("CITATION.cff"));
    let listed = |key: &str| -> Vec<String> {
        let from = citation.split_once(&format!("{key}:\n")).unwrap_or_else(|| panic!("{key}")).1;
        from.lines()
            .map_while(|line| line.strip_prefix("  - "))
            .map(|item| item.trim_start_matches("name: ").trim_matches('"').to_string())
            .collect()
    };
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_string()).collect()
    };
    assert_eq!(strings(&codemeta["keywords"]), listed("keywords"));
    assert_eq!(listed("authors"), [codemeta["author"][0]["name"].as_str().unwrap()]);
    let licences = strings(&codemeta["license"]);
    let names: Vec<&str> = licences.iter().map(|address| address.rsplit('/').next().unwrap()).collect();
    assert_eq!(names, listed("license"));
    assert_eq!(env!("CARGO_PKG_LICENSE"), names.join(" OR "));
    let title = after(&citation, "title: ").unwrap();
    assert!(title.starts_with(codemeta["name"].as_str().unwrap()), "{title}");
}

/// The image and the workflows build with one toolchain, and with the oldest that is allowed.
#[test]
fn image_and_workflows_use_one_toolchain() {
    let image = text("Dockerfile")
        .lines()
        .find_map(|line| line.strip_prefix("FROM rust:").map(|rest| rest.split('-').next().unwrap().to_string()))
        .unwrap();
    let oldest = env!("CARGO_PKG_RUST_VERSION");
    for file in [".github/workflows/test.yml", ".github/workflows/release.yml"] {
        let workflow = text(file);
        let installed: Vec<&str> = workflow
            .lines()
            .filter_map(|line| line.split_once("rustup toolchain install "))
            .map(|(_, rest)| rest.split([' ', '-']).next().unwrap())
            .collect();
        assert!(!installed.is_empty(), "{file}");
        for version in installed {
            assert!(
                version == format!("{image}.0") || version == format!("{oldest}.0"),
                "{file}: Rust {version}, and the image has {image}"
            );
        }
    }
    assert!(text(".github/workflows/test.yml").contains(&format!("cargo +{oldest}.0 build")));
}
