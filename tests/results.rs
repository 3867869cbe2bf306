//! What stands in results/ is what the program writes: a part of it is written again and compared byte by byte.

use std::{fs, path::Path};

#[path = "common/program.rs"]
mod program;

use dp_assay::replication::{
    figures::{self, Sources},
    published,
};
use program::{assay, json, refusal};

fn committed() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/results"))
}

#[test]
fn figures_are_written_again_byte_by_byte() {
    let folder = tempfile::tempdir().unwrap();
    let mut names =
        ["figure-10", "table-1", "table-2", "table-3"].map(|name| format!("su-su-wang-2025/{name}")).to_vec();
    names.extend(["safetab-2021/table-1", "safetab-p-2024"].map(String::from));
    for item in figures::find(&names).unwrap() {
        let files = item.write(&Sources::default(), folder.path()).unwrap();
        for (file, kept) in files.iter().zip(item.files(committed())) {
            assert_eq!(fs::read(file).unwrap(), fs::read(&kept).unwrap(), "{} is not what is written", kept.display());
        }
    }
}

#[test]
fn every_figure_of_the_list_is_kept_with_its_numbers() {
    for item in figures::items() {
        for kept in item.files(committed()) {
            let text = fs::read_to_string(&kept).unwrap_or_else(|error| panic!("{}: {error}", kept.display()));
            assert!(text.lines().count() > 2, "{}", kept.display());
        }
    }
}

#[test]
fn the_command_writes_both_files_and_names_what_it_skips() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let answer = json(&["figures", "su-su-wang-2025/table-3", "--out", out]);
    assert_eq!(answer["figures"][0]["files"].as_array().map(Vec::len), Some(2));
    assert!(folder.path().join("su-su-wang-2025/table-3.svg").exists());
    // Asked for by name, data that are missing are an error; an unknown figure always is.
    for (name, said) in
        [("su-su-wang-2025/figure-6", "ASSAY_FACTS"), ("su-su-wang-2025/figure-1", "figure-2"), ("x", "figure-2")]
    {
        let message = refusal(&["figures", name, "--out", out]);
        assert!(message.contains(said), "{message}");
    }
    assert_eq!(fs::read_dir(folder.path().join("su-su-wang-2025")).unwrap().count(), 2);
    let list = assay(&["figures", "--list"]).assert().success();
    assert!(String::from_utf8_lossy(&list.get_output().stdout).contains("su-su-wang-2025/figure-15"));
}

/// With the block counts of Rhode Island, where they are at hand.
#[test]
fn errors_of_real_counts_are_written_again_where_the_data_is_at_hand() {
    let Some(facts) = std::env::var_os("ASSAY_FACTS") else {
        eprintln!("skipped: ASSAY_FACTS does not name the folder of public data");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let names = ["figure-6", "figure-8"].map(|name| format!("su-su-wang-2025/{name}"));
    for item in figures::find(&names).unwrap() {
        let files = item.write(&Sources { facts: Some(facts.clone().into()) }, folder.path()).unwrap();
        for (file, kept) in files.iter().zip(item.files(committed())) {
            assert_eq!(fs::read(file).unwrap(), fs::read(&kept).unwrap(), "{}", kept.display());
        }
    }
}

#[test]
fn block_files_that_break_their_form_are_refused_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ri_2010_block.csv");
    let header = "GEOID,pop\n";
    for (text, said) in [
        ("GEOID,people\n440010301001000,1\n", "no column pop"),
        (header, "no block"),
        ("GEOID,pop\n44001,3\n", "line 2"),
        ("GEOID,pop\n440010301001000,3\n440010301001001,-1\n", "line 3"),
        ("GEOID,pop\n440010301001000\n", "line 2"),
    ] {
        fs::write(&file, text).unwrap();
        let names = ["su-su-wang-2025/figure-6".to_string()];
        let error = figures::find(&names).unwrap()[0].draw(&Sources { facts: Some(folder.path().into()) }).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn the_summary_fits_a_screen_and_the_report_is_written_again_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let verified = assay(&["verify", "--out", folder.path().to_str().unwrap()]).assert().success();
    let summary = String::from_utf8_lossy(&verified.get_output().stdout).into_owned();
    assert!(summary.lines().count() <= 24 && summary.lines().all(|line| line.len() <= 100), "{summary}");
    let papers = published::papers(&[]).unwrap();
    let count = |paper: &str, column: usize| -> usize {
        let line = summary.lines().find(|line| line.starts_with(paper)).unwrap_or_else(|| panic!("{paper}: {summary}"));
        line.split_whitespace().nth(column).and_then(|cell| cell.parse().ok()).unwrap_or_else(|| panic!("{line}"))
    };
    for paper in &papers {
        assert_eq!(count(&paper.paper, 1), paper.values.len());
        assert_eq!((2..7).map(|column| count(&paper.paper, column)).sum::<usize>(), paper.values.len());
        // A value with a recorded erratum does not agree.
        let errata = paper.values.iter().filter(|value| value.erratum.is_some()).count();
        assert_eq!((3..6).map(|column| count(&paper.paper, column)).sum::<usize>(), errata);
    }
    assert_eq!(count("all", 1), papers.iter().map(|paper| paper.values.len()).sum::<usize>());
    assert_eq!(count("all", 7), 0);

    let report = fs::read_to_string(folder.path().join("REPORT.md")).unwrap();
    let kept = fs::read_to_string(committed().join("REPORT.md")).unwrap();
    for (line, (new, old)) in report.lines().zip(kept.lines()).enumerate() {
        assert_eq!(new, old, "results/REPORT.md, line {}, is not what `assay verify --out results` writes", line + 1);
    }
    assert_eq!(report.len(), kept.len());
    assert!(kept.contains("### The pipeline of Section A.6") && !kept.contains("Not explained."));
}

#[test]
fn nodes_that_the_rule_cannot_take_are_refused() {
    for nodes in ["0", "1", "4", "1000000"] {
        let message = refusal(&["verify", "su-su-wang-2025", "--nodes", nodes]);
        assert!(message.contains("--nodes") && message.contains("multiple of four"), "{message}");
    }
}
