//! Machines with few resources, endless inputs, and huge numbers: fewer threads or an error with status 2, never a panic.

use std::{fs, os::unix::process::CommandExt, path::Path, process::Command, time::Instant};

use crate::common::in_folder;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
const EPSILON: &str = "epsilon --discrete-gaussian 5x10 --delta 1e-10";

/// The status of a shell that runs this text, and its messages; `None` if a signal ended it.
fn shell(text: &str) -> (Option<i32>, String) {
    let output = Command::new("sh").args(["-c", text]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), in_folder::flat(&said))
}

#[test]
fn threads_are_as_many_as_can_be_had() {
    let with = |threads: &str| shell(&format!("RAYON_NUM_THREADS={threads} {ASSAY} {EPSILON}"));
    let (status, plain) = with("");
    assert!(status == Some(0) && plain.contains("epsilon"), "{plain}");
    assert_eq!(with("0"), (status, plain.clone()));
    assert_eq!(with("1"), (status, plain.clone()));
    let (status, many) = with("99999999999");
    assert!(status == Some(0) && many.contains("threads in place of 99999999999"), "{many}");
    for wrong in ["abc", "-1", "1.5"] {
        let (status, said) = with(wrong);
        assert!(status == Some(2) && said.contains("1, 2, 3"), "{said}");
    }
}

#[test]
fn little_memory_is_no_panic() {
    for (kilobytes, threads) in [(1_000_000, 64), (300_000, 16), (150_000, 4), (30_000, 1)] {
        for command in
            [EPSILON, "sample --discrete-gaussian 5 --count 3 --insecure-seed 1", "risk single --rho 0.1 --prior 1/2"]
        {
            let (status, said) =
                shell(&format!("ulimit -v {kilobytes}; RAYON_NUM_THREADS={threads} exec {ASSAY} {command}"));
            // Without memory for the program itself, the system does not start it.
            assert!(status != Some(101) && !said.contains("panicked"), "{kilobytes} {threads}: {status:?} {said}");
            assert!(kilobytes < 300_000 || status == Some(0), "{kilobytes} {threads}: {status:?} {said}");
        }
    }
}

/// A limit of processes does not apply to the superuser, so another user has to run it; without permission for that the test checks
/// nothing.
#[test]
fn one_process_is_enough() {
    for command in [EPSILON, "sample --discrete-gaussian 5 --count 3 --insecure-seed 1"] {
        let mut limited = Command::new("bash");
        limited.args(["-c", &format!("ulimit -u 1; exec {ASSAY} {command}")]).uid(65_534).gid(65_534);
        let Ok(output) = limited.output() else { return };
        if matches!(output.status.code(), Some(126 | 127)) {
            // The program is in a folder that only its owner may enter.
            return;
        }
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(0) && !said.contains("panicked"), "{:?} {said}", output.status);
    }
}

#[test]
fn inputs_without_an_end_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let put = |name: &str, text: &str| fs::write(at.join(name), text).unwrap();
    put("units.csv", "region,place\nN,a\nN,b\n");
    put("plan.toml", "release = \"pl94-persons-us\"\n");
    let began = Instant::now();
    for words in [
        "epsilon --release /dev/zero --delta 1e-10",
        "ledger /dev/zero --delta 1e-10",
        "noise /dev/zero --column count --discrete-gaussian 5 --out out.csv",
        "allocate /dev/zero --epsilon 1 --delta 1e-10",
        "errors --discrete-gaussian 5 --counts /dev/zero --column x",
        "verify /dev/zero",
        "spine --hierarchy /dev/zero --plan plan.toml --out spine",
        "spine --hierarchy units.csv --plan /dev/zero --out spine",
        "tune --plan /dev/zero",
    ] {
        let said = in_folder::refusal(at, &words.split(' ').collect::<Vec<_>>());
        assert!(said.contains("/dev/zero") || said.contains("64 MB"), "{words}: {said}");
    }
    for words in [
        "epsilon --release . --delta 1e-10",
        "ledger . --delta 1e-10",
        "errors --discrete-gaussian 5 --counts . --column x",
    ] {
        let said = in_folder::refusal(at, &words.split(' ').collect::<Vec<_>>());
        assert!(said.contains("folder") || said.contains("irectory"), "{words}: {said}");
    }
    assert!(began.elapsed().as_secs() < 120);
    assert!(!Path::new(at).join("out.csv").exists());
}

#[test]
fn numbers_far_too_large_are_answered_or_refused() {
    let huge = "9".repeat(400);
    let long = format!("0.{}", "3".repeat(2000));
    for words in [
        "sample --discrete-gaussian 1e18 --count 2 --insecure-seed 1".to_string(),
        "sample --discrete-gaussian 1e-6 --count 2 --insecure-seed 1".to_string(),
        format!("sample --discrete-gaussian {huge} --count 2"),
        format!("sample --discrete-laplace {huge} --count 2 --insecure-seed 1"),
        "errors --discrete-gaussian 1e18 --count 5".to_string(),
        format!("errors --discrete-gaussian 5 --count {huge}"),
        "errors --discrete-gaussian 5 --count 18446744073709551615".to_string(),
        format!("risk single --rho {long} --prior 1/2"),
        format!("risk single --rho 1/10 --prior {long}"),
        format!("risk single --rho {huge} --prior 1/2"),
        "risk single --rho 500000 --prior 1/2 --noisy 1000000000000000".to_string(),
        "risk single --rho 1e-17,500000 --prior 1/2 --noisy=-1000000000000000,1000000000000000".to_string(),
        format!("risk single --rho 1/10 --prior 1/2 --noisy {huge}"),
    ] {
        let split: Vec<&str> = words.split(' ').collect();
        let output = Command::new(ASSAY).args(&split).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let short: String = words.chars().take(80).collect();
        assert!(
            matches!(output.status.code(), Some(0 | 2)) && !said.contains("panicked"),
            "{short}: {:?} {said}",
            output.status
        );
    }
}
