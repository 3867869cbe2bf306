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

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every executable file of `scripts/` and its folders, by its path from the project's folder.
fn scripts() -> Vec<String> {
    let (mut folders, mut found) = (vec![root().join("scripts")], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if fs::metadata(&path).unwrap().permissions().mode() & 0o111 != 0 {
                found.push(path.strip_prefix(root()).unwrap().to_str().unwrap().to_string());
            }
        }
    }
    found
}

#[test]
fn help_of_every_script_is_help_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    // Without cargo, and without programs that install or build: a script that begins its work fails.
    for program in ["bash", "sed", "dirname", "python3"] {
        let Some(path) = found(program) else { continue };
        symlink(fs::canonicalize(path).unwrap(), folder.path().join(program)).unwrap();
    }
    let mut asked = 0;
    for path in scripts().iter().map(|name| root().join(name)) {
        let is_python = fs::read_to_string(&path).unwrap().starts_with("#!/usr/bin/env python3");
        if is_python && !folder.path().join("python3").exists() {
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
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let chapter = text.split("## What scripts need").nth(1).expect("the chapter").split("\n## ").next().unwrap();
    let table = chapter.split("\n| script |").nth(1).expect("the table");
    let named: Vec<&str> = table.split('`').filter(|part| part.starts_with("scripts/")).collect();
    for name in scripts() {
        assert!(named.contains(&name.as_str()), "{name} is not in the table");
    }
    for name in named {
        assert!(root().join(name).is_file(), "there is no {name}");
    }
}

/// `scripts/check-entries` with the program, in a folder.
fn check_entries(folder: &Path, args: &[&str]) -> (bool, String) {
    let mut command = Command::new(root().join("scripts/check-entries"));
    command
        .args(args)
        .current_dir(folder)
        .env("ASSAY", assert_cmd::cargo::cargo_bin!("assay"))
        .env_remove("ASSAY_FACTS");
    let outcome = command.output().unwrap();
    let said = [outcome.stdout, outcome.stderr].concat();
    (outcome.status.success(), String::from_utf8(said).unwrap())
}

/// The six faults of which the registry keeps an example, each in a made-up entry, and a printed figure that another one excludes.
#[test]
fn entries_with_faults_are_refused_and_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let good = crate::deployments::ENTRY;
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("good entry.yaml", good);
    let (is_good, said) = check_entries(folder.path(), &["good entry.yaml"]);
    assert!(is_good && said.contains("good entry.yaml: no fault found"), "{said}");
    for (right, wrong, part) in [
        ("intended_use: A test", "intended_use: >\n      A test", "folded text (>)"),
        ("status: Draft", "status: Draft\nsurprise: yes", "unknown field \"surprise\""),
        ("'2024-05-01'", "'5/1/2024'", "YYYY-MM-DD"),
        ("'2024-05-01'", "2024-05-01", "must be in quotes"),
        ("status: Draft\n", "", "the field status is missing"),
        ("tier: 3", "tier: 0", "must be 1, 2 or 3"),
        ("rho: 0.0834", "rho: 0.0934", "entry-contradicts-itself"),
    ] {
        assert!(good.contains(right), "{right}");
        write("bad.yaml", &good.replacen(right, wrong, 1));
        let (is_good, said) = check_entries(folder.path(), &["good entry.yaml", "bad.yaml"]);
        assert!(!is_good && said.contains("bad.yaml: refused") && said.contains(part), "{wrong}: {said}");
        assert!(said.contains("good entry.yaml: no fault found") && said.ends_with("2 checked, 1 refused\n"), "{said}");
    }
    assert_eq!(check_entries(folder.path(), &[]), (true, "no entry to check\n".to_string()));
    assert!(!check_entries(folder.path(), &["none.yaml"]).0);
}

/// Of a clone only what was changed since a commit is checked, and what was deleted is not.
#[test]
fn only_entries_that_changed_since_a_commit_are_checked() {
    if found("git").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"];
        let outcome = Command::new("git").args(author).args(args).current_dir(folder.path()).output().unwrap();
        assert!(outcome.status.success(), "{args:?}: {}", String::from_utf8_lossy(&outcome.stderr));
    };
    let write = |name: &str, text: &str| fs::write(folder.path().join("deployments").join(name), text).unwrap();
    fs::create_dir(folder.path().join("deployments")).unwrap();
    let good = crate::deployments::ENTRY;
    let bad = good.replace("tier: 3", "tier: 0");
    git(&["init", "-q"]);
    write("old.yaml", &bad);
    write("deleted.yaml", &bad);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    write("new one.yaml", good);
    write("notes.txt", "no entry");
    fs::remove_file(folder.path().join("deployments/deleted.yaml")).unwrap();
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "second"]);
    let (is_good, said) = check_entries(folder.path(), &["--changed", "HEAD~1"]);
    assert!(is_good && said == "deployments/new one.yaml: no fault found\n1 checked, 0 refused\n", "{said}");
    write("new one.yaml", &bad);
    let (is_good, said) = check_entries(folder.path(), &["--changed", "HEAD~1", "deployments"]);
    assert!(!is_good && said.contains("deployments/new one.yaml: refused"), "{said}");
    assert!(check_entries(folder.path(), &["--changed", "HEAD~1", "elsewhere"]).1.contains("no entry"));
    assert!(
        !check_entries(folder.path(), &["--changed", "nosuch"]).0 && !check_entries(folder.path(), &["--changed"]).0
    );
}

/// The hook and the action run this script.
#[test]
fn the_hook_and_the_action_run_the_check_of_entries() {
    let hook = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    assert!(hook.contains("entry: scripts/check-entries\n") && hook.contains("language: script\n"), "{hook}");
    let action = fs::read_to_string(root().join("action.yml")).unwrap();
    assert!(
        action.contains("scripts/check-entries\" --changed \"$BASE\" \"$FOLDER\"")
            && action.contains("using: composite")
    );
    // What a caller gives reaches the shell as an environment variable, and never as text of the script.
    let runs = action.split("run: |\n").skip(1);
    let lines = runs.flat_map(|rest| rest.lines().take_while(|line| line.starts_with("        ")));
    let lines: Vec<&str> = lines.collect();
    assert!(lines.len() > 3 && lines.iter().all(|line| !line.contains("${{")), "{lines:?}");
}
