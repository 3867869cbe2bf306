//! `--help` of every script prints help and does nothing else.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

/// The path of a program, as the shell finds it; of Python that of the interpreter itself, which a shim may start.
fn found(program: &str) -> Option<PathBuf> {
    if program == "python3" {
        let said = Command::new(program).args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
        return Some(PathBuf::from(String::from_utf8(said.stdout).ok()?.trim())).filter(|path| path.is_file());
    }
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(program)).find(|path| path.is_file())
}

#[test]
fn help_of_every_script_is_help_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    // Without cargo, and without programs that install or build: a script that begins its work fails.
    for program in ["bash", "sed", "dirname", "python3"] {
        let Some(path) = found(program) else { continue };
        symlink(fs::canonicalize(path).unwrap(), folder.path().join(program)).unwrap();
    }
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut asked = 0;
    for entry in fs::read_dir(&scripts).unwrap() {
        let path = entry.unwrap().path();
        let is_script = path.is_file() && fs::metadata(&path).unwrap().permissions().mode() & 0o111 != 0;
        let is_python = is_script && fs::read_to_string(&path).unwrap().starts_with("#!/usr/bin/env python3");
        if !is_script || (is_python && !folder.path().join("python3").exists()) {
            continue;
        }
        let outcome =
            Command::new(&path).arg("--help").env("PATH", folder.path()).env("PYTHONDONTWRITEBYTECODE", "1").output();
        let outcome = outcome.unwrap();
        let (said, wrong) = (String::from_utf8(outcome.stdout).unwrap(), String::from_utf8(outcome.stderr).unwrap());
        assert!(outcome.status.success() && wrong.is_empty(), "{}: {wrong}", path.display());
        assert!(said.len() > 60, "{}: {said}", path.display());
        asked += 1;
    }
    assert!(asked > 10, "{asked} scripts");
}

/// The table in CONTRIBUTING.md has every script, and no other.
#[test]
fn every_script_is_in_the_table_of_what_scripts_need() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let table = text.split("## What scripts need").nth(1).expect("the chapter").split("\n## ").next().unwrap();
    let named: Vec<&str> = table.split('`').filter_map(|part| part.strip_prefix("scripts/")).collect();
    for entry in fs::read_dir(root.join("scripts")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        let is_script = path.is_file() && fs::metadata(&path).unwrap().permissions().mode() & 0o111 != 0;
        assert!(!is_script || named.contains(&name.as_str()), "scripts/{name} is not in the table");
    }
    for name in named {
        assert!(root.join("scripts").join(name).is_file(), "there is no scripts/{name}");
    }
}
