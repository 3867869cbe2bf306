//! `assay prove --rocq` writes the files of proofs/rocq that its check compiles, or gives the reason why not and writes nothing.

use std::{fs, path::Path};

use crate::common::program::{json, refusal};

#[test]
fn the_compiled_files_are_what_the_program_writes() {
    let folder = tempfile::tempdir().unwrap();
    let state = ["--release", "su-su-wang-2025", "--level", "State", "--delta", "1e-11"];
    let one = ["--discrete-gaussian", "50000/10001", "--epsilon", "1"];
    let release = ["--release", "su-su-wang-2025", "--delta", "1e-10"];
    for (name, subject) in [("OneCount.v", &one[..]), ("State.v", &state), ("Release.v", &release)] {
        let file = folder.path().join(name);
        let out = folder.path().join("claim.json");
        let mut args = vec!["prove", "--out", out.to_str().unwrap(), "--rocq", file.to_str().unwrap()];
        args.extend(subject);
        assert_eq!(json(&args)["rocq"]["file"], file.to_str().unwrap());
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs/rocq").join(name);
        assert_eq!(fs::read_to_string(&file).unwrap(), fs::read_to_string(kept).unwrap(), "{name}");
    }
}

#[test]
fn claims_without_a_formal_proof_are_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("claim.json");
    for (name, subject, why) in [
        ("Laplace.v", &["--discrete-laplace", "0.3x10", "--epsilon", "1"][..], "discrete Gaussian noise, not yet"),
        ("Fine.v", &["--discrete-gaussian", "5000000", "--delta", "1/100"], "too fine"),
        ("two-words.v", &["--discrete-gaussian", "5", "--epsilon", "1"], "letters, digits and _"),
        ("Text.txt", &["--discrete-gaussian", "5", "--epsilon", "1"], "give a name in .v"),
    ] {
        let file = folder.path().join(name);
        let mut args = vec!["prove", "--out", out.to_str().unwrap(), "--rocq", file.to_str().unwrap()];
        args.extend(subject);
        let message = refusal(&args);
        assert!(message.contains(why), "{name}: {message}");
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "{name} left something");
    }
}
