//! No output allows a check of a guess of a confidential file: it has no hash of the file, neither as text nor as bytes. Files with true
//! counts are readable by their owner only.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::common::program::{assay, refusal};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/examples").join(name)
}

/// The files of a folder and of its subfolders, including hidden ones.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_of(&path) } else { vec![path] }).collect()
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// The SHA-256 of a file as text and as bytes, and the inputs of the hashes of `confidential`: every form in which a hash could be stored.
fn forms(path: &Path) -> Vec<Vec<u8>> {
    let hex = dp_assay::provenance::sha256(path).unwrap();
    let bytes: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect();
    let list = |bytes: &[u8]| bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(",").into_bytes();
    let of_hex = dp_assay::provenance::sha256_of_text(&hex);
    vec![hex.to_uppercase().into_bytes(), list(&bytes), bytes, hex.into_bytes(), of_hex.into_bytes()]
}

/// Every command that reads a confidential file. A word with @ is a file in the folder of the test, one with % is an example.
const COMMANDS: [&str; 9] = [
    "noise @table.csv --column a --discrete-gaussian 5 --out @out/noisy.csv",
    "errors --counts @table.csv --column a --discrete-gaussian 5",
    "simulate @table.csv --y y --categories a,b --discrete-gaussian 5 --svg @out/errors.svg",
    "measure --spine @spine --counts @counts.csv --release pl94-persons-us --out @out/measured",
    "measure --spine @spine --counts @counts.csv --release pl94-persons-us --files nmf --out @out/files --discard",
    "estimate --spine @spine --measurements @out/measured --release pl94-persons-us --truth @counts.csv --out @out/own",
    "nmf estimate %nmf --release pl94-persons-us --truth @counts.csv --work @out/work --out @out/estimates.csv",
    "tabulate --config %safetab/config.json --spec %safetab --persons @persons.txt --geography %safetab/GRF-C.txt --out @out/release",
    "tabulate --config %safetab-h/config.json --spec %safetab --households @homes.txt --totals %safetab-h/pop-group-totals.txt \
     --geography %safetab/GRF-C.txt --out @out/release-h",
];

fn words(command: &str, folder: &Path) -> Vec<String> {
    let word = |word: &str| match word.split_at(1) {
        ("@", name) => folder.join(name).display().to_string(),
        ("%", name) => example(name).display().to_string(),
        _ => word.to_string(),
    };
    command.split_whitespace().map(word).collect()
}

#[test]
fn no_command_keeps_a_hash_of_a_confidential_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    for (name, from) in [
        ("counts.csv", "nmf/counts.csv"),
        ("persons.txt", "safetab/person-records.txt"),
        ("homes.txt", "safetab-h/household-records.txt"),
    ] {
        fs::copy(example(from), at(name)).unwrap();
    }
    fs::write(at("table.csv"), "y,a,b\n1.5,20,30\n2,9,40\n2.5,5,45\n").unwrap();
    fs::create_dir(at("out")).unwrap();
    let spine = words("spine --blocks %nmf/blocks.csv --plan %nmf/plan.toml --out @spine", folder.path());
    assay(&spine.iter().map(String::as_str).collect::<Vec<_>>()).assert().success();
    let secret: Vec<Vec<u8>> = ["counts.csv", "persons.txt", "homes.txt", "table.csv"]
        .iter()
        .flat_map(|name| forms(Path::new(&at(name))))
        .collect();
    for command in COMMANDS {
        let words = words(command, folder.path());
        let command: Vec<&str> = words.iter().map(String::as_str).collect();
        for more in [&[][..], &["--json"]] {
            if more.len() == 1 && command.contains(&"--out") {
                continue;
            }
            let said = assay(&command).args(more).assert().success().get_output().clone();
            for form in &secret {
                assert!(!holds(&said.stdout, form) && !holds(&said.stderr, form), "{command:?}");
            }
        }
        // Also beside the records.
        for file in files_of(folder.path()) {
            let bytes = fs::read(&file).unwrap();
            assert!(secret.iter().all(|form| !holds(&bytes, form)), "{command:?}: {}", file.display());
        }
    }
    // The searched files exist, and the search finds a hash of a public input where one is stored.
    let certificate = fs::read(at("out/release/certificate.json")).unwrap();
    assert!(forms(&example("safetab/config.json")).iter().any(|form| holds(&certificate, form)));
    for draws in ["counts.csv.draws", "persons.txt.draws", "homes.txt.draws"] {
        assert!(Path::new(&at(draws)).is_file(), "{draws}");
    }
    let work = files_of(Path::new(&at("out/work")));
    assert!(work.len() > 4 && work.iter().any(|path| path.ends_with("truth.key")), "{work:?}");
    #[cfg(unix)]
    for file in work.iter().chain(&[PathBuf::from(at("counts.csv.draws"))]) {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn saved_work_of_a_rehearsal_goes_with_its_true_counts_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let truth = fs::read_to_string(example("nmf/counts.csv")).unwrap();
    fs::write(at("truth.csv"), &truth).unwrap();
    let (nmf, out, work) = (example("nmf").display().to_string(), at("out.csv"), at("work"));
    let given = |truth: &str| {
        let words = [
            "estimate",
            "--nmf",
            &nmf,
            "--release",
            "pl94-persons-us",
            "--out",
            &out,
            "--work",
            &work,
            "--truth",
            truth,
        ];
        words.map(String::from)
    };
    let run = |truth: &str, more: &[&str]| {
        let words = given(truth);
        let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
        String::from_utf8(assay(&words).assert().success().get_output().stdout.clone()).unwrap()
    };
    let first = run(&at("truth.csv"), &[]);
    // The same counts under another name give the same result.
    fs::write(at("copy.csv"), &truth).unwrap();
    assert_eq!(run(&at("copy.csv"), &["--combine"]), first);
    // One more count: the saved work has other true counts beside its estimates.
    let (start, last) = truth.trim_end().rsplit_once(',').unwrap();
    fs::write(at("other.csv"), format!("{start},{}\n", last.parse::<u64>().unwrap() + 1)).unwrap();
    let words = given(&at("other.csv"));
    let message = refusal(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(message.contains("other.csv: is not the file with which this work was begun"), "{message}");
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&work).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o700);
    }
    // Without true counts nothing is confidential, and there is no key.
    let open = at("open");
    assay(&["nmf", "estimate", &nmf, "--release", "pl94-persons-us", "--out", &out, "--work", &open])
        .assert()
        .success();
    assert!(files_of(Path::new(&open)).iter().all(|path| !path.ends_with("truth.key")));
}
