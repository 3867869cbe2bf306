//! Finds the folder with the files that the library compiles in, and the commit that it is built from.
//!
//! The files are in folders of the repository. In a package from a registry they are in its folder `packed`, which in the repository has
//! links to them; a checkout is read without these links, as not every system has links.
//!
//! The commit is found in this order: the environment variable `ASSAY_COMMIT`, for who builds from an archive; in a release build of a git checkout the
//! commit, with `-modified` after it where files that are compiled in differ from it; in a package from a registry the commit that
//! cargo noted when it was packed; else `unknown`. A development build does not ask git: every commit would compile everything anew.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The files and folders that are compiled in, of a checkout or of a package.
const SOURCES: [&str; 9] =
    ["src", "crates", "data", "packed", "proofs/check.py", "proofs/check.html", "build.rs", "Cargo.toml", "Cargo.lock"];

fn main() {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let checkout = checkout(&package);
    let files = checkout.clone().unwrap_or_else(|| package.join("packed"));
    println!("cargo::rustc-env=ASSAY_FILES={}", files.display());
    let root = checkout.unwrap_or(package);
    println!("cargo::rerun-if-env-changed=ASSAY_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let given = env::var("ASSAY_COMMIT").ok().filter(|commit| is_name(commit));
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if given.is_none() && is_release {
        for path in watched(&root) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let found = given.or_else(|| if is_release { commit(&root) } else { None });
    println!("cargo::rustc-env=ASSAY_COMMIT={}", found.as_deref().unwrap_or("unknown"));
}

/// The repository of which this package is the folder `crates/core`; none for a package alone.
fn checkout(package: &Path) -> Option<PathBuf> {
    let root = package.ancestors().nth(2)?;
    (root.join("crates/core") == package && root.join("data/releases").is_dir()).then(|| root.to_path_buf())
}

/// Words that a commit or a tag is made of: nothing that could end a line.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+/".contains(c))
}

/// The commit of the sources in a folder.
pub(crate) fn commit(root: &Path) -> Option<String> {
    from_git(root).or_else(|| from_package(root))
}

/// The commit of the checkout whose root is this folder; none in a folder that merely lies inside of another checkout.
fn from_git(root: &Path) -> Option<String> {
    let top = PathBuf::from(git(root, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    let commit = git(root, &["rev-parse", "HEAD"]).filter(|commit| is_name(commit))?;
    let there = SOURCES.into_iter().filter(|name| root.join(name).exists());
    let asked: Vec<&str> = ["status", "--porcelain", "--"].into_iter().chain(there).collect();
    let is_modified = !git(root, &asked)?.is_empty();
    Some(if is_modified { format!("{commit}-modified") } else { commit })
}

/// The commit that cargo writes into a package.
fn from_package(root: &Path) -> Option<String> {
    let text = std::fs::read_to_string(root.join(".cargo_vcs_info.json")).ok()?;
    let (_, after) = text.split_once("\"sha1\"")?;
    let commit = after.split('"').nth(1)?;
    commit.chars().all(|c| c.is_ascii_hexdigit()).then(|| commit.to_string()).filter(|commit| is_name(commit))
}

/// The files and folders that change with the commit, or with what differs from it. Only those that are there: cargo would build
/// anew each time for one that is not.
fn watched(root: &Path) -> Vec<PathBuf> {
    let git_files = ["HEAD", "logs/HEAD"];
    let from_git = git_files.into_iter().filter_map(|name| git(root, &["rev-parse", "--git-path", name]));
    let packed = [".cargo_vcs_info.json"].into_iter().map(String::from);
    let all = from_git.chain(packed).chain(SOURCES.map(String::from)).map(|name| root.join(name));
    all.filter(|path| path.exists()).collect()
}

/// What git says; none where it fails or is not installed.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(root).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}
