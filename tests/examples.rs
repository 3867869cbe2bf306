//! The example programs run and print what their documentation states.

use std::{path::PathBuf, process::Command};

/// The executable of an example, which `cargo test` builds beside `assay`.
fn example(name: &str) -> PathBuf {
    let program = assert_cmd::cargo::cargo_bin!("assay");
    let path = program.parent().unwrap().join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(path.exists(), "{name} is not built: run `cargo test`, or `cargo build --examples` before this test alone");
    path
}

fn printed(name: &str, args: &[&str]) -> String {
    let output = Command::new(example(name)).args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn account_prints_proven_ends() {
    let text = printed("account", &[]);
    // The first two sentences, each with two ends in brackets.
    let in_brackets = text.split(['[', ']']).skip(1).step_by(2).take(2);
    let ends: Vec<f64> = in_brackets.flat_map(|ends| ends.split(", ")).map(|end| end.parse().unwrap()).collect();
    let [epsilon, most_epsilon, delta, most_delta] = ends[..] else { panic!("{text}") };
    assert!(epsilon < most_epsilon && (epsilon - 12.104_429_998_8).abs() < 1e-8, "{text}");
    assert!(0.0 < delta && delta <= most_delta && most_delta < 1.0, "{text}");
}

#[test]
fn levels_prints_what_the_program_prints() {
    let text = printed("levels", &[]);
    for shown in ["State", "10.12541704", "11.0661", "all composed", "21.26720184", "22.8801"] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(printed("levels", &["pl94-units-us", "1e-6"]).contains("Block_Group"));
}

#[test]
fn calibrate_finds_the_least_noise_and_draws_it() {
    let text = printed("calibrate", &[]);
    let (first, second) = text.split_once('\n').unwrap();
    let sigma2 = first.split_whitespace().nth(2).unwrap();
    let answer = |sigma2: &str| {
        let program = assert_cmd::cargo::cargo_bin!("assay");
        let args = ["delta", "--discrete-gaussian", &format!("{sigma2}x10"), "--epsilon", "4", "--json"];
        let output = Command::new(program).args(args).output().unwrap().stdout;
        let delta: serde_json::Value = serde_json::from_slice(&output).unwrap();
        delta["delta"]["upper"].to_string().parse::<f64>().unwrap()
    };
    assert!(
        answer(sigma2) <= 1e-9 && answer(&format!("{:.2}", sigma2.parse::<f64>().unwrap() - 0.01)) > 1e-9,
        "{text}"
    );
    assert_eq!(second.split(',').count(), 10, "{text}");
}

/// The epsilon of a training run and the least noise for a target are those of the command line.
#[test]
fn training_prints_what_the_program_prints() {
    let text = printed("training", &[]);
    let answered = |args: &[&str]| {
        let program = assert_cmd::cargo::cargo_bin!("assay");
        let output = Command::new(program).args(args).arg("--json").output().unwrap().stdout;
        serde_json::from_slice::<serde_json::Value>(&output).unwrap()
    };
    let run = answered(&["epsilon", "--sampled", "1/100:gaussian:1.21x2000", "--delta", "1e-5", "--digits", "10"]);
    let shown = text.split_whitespace().nth(2).unwrap();
    let [lower, upper] = ["lower", "upper"].map(|end| run["epsilon"][end].to_string().parse::<f64>().unwrap());
    let epsilon: f64 = shown.parse().unwrap();
    assert!((epsilon - lower).abs() < 1e-8 && (epsilon - upper).abs() < 1e-8, "{text}");
    let sigma2 = text.split("sigma2 = ").nth(1).unwrap().split_whitespace().next().unwrap();
    let kept = |sigma2: f64| {
        let sampled = format!("1/100:gaussian:{sigma2:.3}x2000");
        let delta = answered(&["delta", "--sampled", &sampled, "--epsilon", "2"]);
        delta["delta"]["upper"].to_string().parse::<f64>().unwrap() <= 1e-5
    };
    let sigma2: f64 = sigma2.parse().unwrap();
    assert!(kept(sigma2) && !kept(sigma2 - 0.001), "{text}");
}
