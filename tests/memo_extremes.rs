//! Memos of extreme noise, changes, priors and probabilities: each proves its own check, and no sentence says nothing.

use std::{fs, path::Path, process::Command};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::common::program::assay;

/// Writes a memo and checks it with the hash above its signature; its Statement, and the number of its certificates. `None` where the request has no memo.
fn written(args: &[&str]) -> Option<(String, usize)> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("memo");
    let run = assay(&[&["memo", "--json"], args, &["--out", out.to_str().unwrap()]].concat()).output().unwrap();
    if !out.exists() {
        // Bad input is named, and nothing else ends without a memo.
        assert_eq!(run.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&run.stderr));
        return None;
    }
    let answer: Value = serde_json::from_slice(&run.stdout).unwrap();
    let statement = fs::read_to_string(out.join("statement.txt")).unwrap();
    for wrong in [
        " of at most 1.\n",
        " of at most 1:",
        " of at most 1 ",
        " above 1 ",
        " above 1.\n",
        " 1.0000",
        ": at most 100 times",
    ] {
        assert!(!statement.contains(wrong), "{args:?}: {wrong:?} in {statement}");
    }
    check(&out, args);
    Some((statement, answer["certificates"].as_u64().unwrap() as usize))
}

/// Everything in the folder is as it was signed, proven, and borne.
fn check(out: &Path, args: &[&str]) {
    let sums = fs::read(out.join("SHA256SUMS")).unwrap();
    let hash: String = Sha256::digest(sums).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut run = Command::new("python3");
    match run.current_dir(out).args(["-I", "check.py", "--quiet", "--signed", &hash]).output() {
        Ok(run) => assert!(run.status.success(), "{args:?}: {}", String::from_utf8_lossy(&run.stdout)),
        Err(error) => eprintln!("skipped: there is no python3 ({error})"),
    }
}

/// Exponents beyond those of the checkers, lattices of few points with a small contour, and numbers that round up to 1.
#[test]
fn a_memo_of_extremes_proves_its_own_check() {
    let cases: [(&[&str], usize, &str); 15] = [
        // ln((1 - p) / p) is hundreds of standard deviations of the loss away.
        (&["--discrete-gaussian", "10000", "--delta", "1e-9", "--prior", "1/10"], 4, "probability of at most 0.9"),
        (&["--discrete-gaussian", "1000", "--delta", "1e-9", "--prior", "0.001"], 4, "probability of at most 0.999"),
        (&["--discrete-gaussian", "200", "--delta", "1e-9", "--prior", "1e-6"], 4, "probability of at most 0.999999"),
        (&["--discrete-gaussian", "1e5", "--delta", "1e-9", "--prior", "0.3"], 4, "probability of at most 0.7"),
        (&["--discrete-gaussian", "1x5@5", "--delta", "1e-9"], 2, "probability of at most 0.99"),
        (&["--discrete-gaussian", "1/5x20", "--delta", "1e-9"], 2, "probability of at most 0.999"),
        (
            &["--discrete-gaussian", "1x10@10", "--delta", "1e-9"],
            2,
            "No probability of a correct decision below 1 is proven in 36 digits",
        ),
        (
            &["--discrete-gaussian", "1/10x100", "--delta", "1e-9"],
            2,
            "No probability of a correct decision below 1 is proven in 36 digits",
        ),
        // The best decision is right with a probability of 1 - 2e-18.
        (&["--pure", "40", "--delta", "1e-6", "--alpha", "0.05"], 4, "probability of at most 0.99999999999999999"),
        (
            &["--discrete-laplace", "30x5", "--delta", "1e-6"],
            2,
            "No probability of a correct decision below 1 is proven",
        ),
        (&["--discrete-gaussian", "1x20", "--group", "5", "--delta", "1e-6"], 2, "probability of at most 0.99"),
        (&["--gaussian", "1/5x20", "--neighbors", "bounded", "--delta", "1e-6"], 2, "probability of at most 0.99"),
        (&["--approximate", "40:1e-9", "--delta", "1e-6"], 2, "probability of at most 0.99"),
        (
            &["--discrete-gaussian", "5x10", "--group", "3", "--delta", "1e-9", "--prior", "1/10"],
            4,
            "probability of at most 0.99999999999999",
        ),
        // Outputs whose posterior is within 1e-21 of 1.
        (
            &["--discrete-gaussian", "5x10@2", "--repeat", "4", "--delta", "1e-9", "--prior", "0.2", "--of", "outputs"],
            4,
            "posterior probability above 0.99999999999999999999",
        ),
    ];
    for (args, certificates, said) in cases {
        let (statement, found) = written(args).unwrap_or_else(|| panic!("{args:?} has a memo"));
        assert_eq!(found, certificates, "{args:?}: {statement}");
        assert!(statement.contains(said), "{args:?}: {statement}");
    }
}

/// A generator of numbers for requests: the same ones in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % most as u64) as usize
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

#[test]
fn random_memos_of_extremes_prove_their_own_check() {
    let mut draw = Draw(78);
    let mut memos = 0;
    for _ in 0..30 {
        let law =
            draw.of(&["--discrete-gaussian", "--discrete-gaussian", "--discrete-laplace", "--gaussian", "--pure"]);
        let number = match law {
            "--pure" | "--discrete-laplace" => draw.of(&["1e-3", "1/7", "1", "8", "30", "60"]),
            _ => draw.of(&["1/10", "1/3", "1", "7", "200", "10000", "1e6"]),
        };
        let count = draw.of(&["", "x3", "x20"]);
        let shift = if law == "--pure" { "" } else { draw.of(&["", "@2", "@5"]) };
        let mechanism = format!("{number}{count}{shift}");
        let delta = draw.of(&["0.3", "1e-3", "1e-9", "1e-20"]);
        let mut args = vec![law, &mechanism, "--delta", delta];
        if draw.below(2) == 0 {
            args.extend(["--prior", draw.of(&["1e-6", "0.01", "0.3", "0.5", "0.99"])]);
            args.extend(if draw.below(3) == 0 { vec!["--of", "outputs"] } else { vec![] });
        }
        if draw.below(3) == 0 {
            args.extend(["--alpha", draw.of(&["1e-6", "0.05", "0.9"])]);
        }
        if draw.below(4) == 0 {
            args.extend(["--neighbors", "bounded"]);
        }
        memos += usize::from(written(&args).is_some());
    }
    assert!(memos > 20, "{memos} memos");
}
