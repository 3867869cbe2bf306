//! The DHC's persons: 42 x 2 x 116 x 2 x 63 cells, recodes over one and over several attributes, measured and read.

use std::{fs, path::Path, process::Command};

use dp_assay::release::Release;

fn done(folder: &Path, words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_assay")).current_dir(folder).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A man of 37 in a prison (relgq 20), not Hispanic, of the sixth combination of races: which count of each query he is in, by the
/// groups of the run's own code, attributes in the order of the histogram.
#[test]
fn a_record_is_in_the_count_of_each_query_that_the_run_says() {
    for name in ["dhc-persons-us", "dhc-persons-pr"] {
        let release = Release::find(name).unwrap();
        let schema = release.schema.clone().unwrap();
        assert_eq!(schema.cells(), 1_227_744);
        let cell = schema.cell([20, 0, 37, 0, 5].into_iter()) as usize;
        // relgq: 18-32 is the third of 4 groups; 18-22 the third of the groups of constraints; 18-23 the nineteenth of 25.
        // age: 18-64 is the second of 3; 37 the tenth of 10; 35-39 is group 20 of 38 and 22 of 40.
        let expected = [
            ("age_18_64_116 * relgq_4_groups", 12, 2 * 3 + 1),
            ("age_18_64_116 * sex", 6, 1),
            ("age_38_groups * sex", 76, 20),
            ("hispanic * sex", 4, 0),
            ("sex * relgq_4_groups", 8, 2 * 2),
            ("gq_constr_groups * age_10_groups", 60, 2 * 10 + 9),
            ("popSehsdTargetsRelship", 19, 18),
            (
                "hispanic * sex * age_40_groups * relship_and_eight_level_GQ * cenrace",
                252_000,
                ((18 * 2 * 40 + 22) * 2) * 63 + 5,
            ),
            ("relgq * age_40_groups * hispanic * cenrace * sex", 423_360, ((20 * 2 * 40 + 22) * 2) * 63 + 5),
            ("detailed", 1_227_744, cell as u32),
        ];
        for level in &release.levels {
            let names: Vec<&str> = level.queries.iter().map(|query| query.name.as_str()).collect();
            assert_eq!(names, expected.map(|(name, ..)| name), "{name} {}", level.name);
        }
        for (query, counts, at) in expected {
            let group = schema.group(query).unwrap();
            assert_eq!((group.counts(), group.cell_of[cell]), (counts, at), "{name} {query}");
        }
    }
}

/// Drawn in the Bureau's layout, read back, and certified; least squares over all cells is refused before it takes the memory.
#[test]
fn it_is_measured_and_certified_and_its_size_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let put = |name: &str, text: &str| fs::write(at.join(name), text).unwrap();
    put("blocks.csv", "block\n440010001001000\n440030001001000\n");
    put("plan.toml", "settings = \"dhc\"\nrelease = \"dhc-persons-us\"\n");
    put("counts.csv", "block,relgq,sex,age,hispanic,cenrace,count\n440010001001000,20,male,37,not-hispanic,5,900000\n");
    done(at, &["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "spine"]);
    let release = ["--release", "dhc-persons-us"];
    let measure = ["measure", "--spine", "spine", "--counts", "counts.csv", "--files", "nmf", "--out", "US_DHCP_PROD"];
    done(at, &[&measure[..], &release, &["--insecure-seed", "2"]].concat());
    let said = done(at, &[&["nmf", "check", "US_DHCP_PROD"][..], &release].concat());
    assert!(said.contains("1903289") && said.contains("epsilon"), "{said}");
    let estimate = ["estimate", "--nmf", ".", "--out", "out.csv", "--constraints", "none"];
    let words = [&estimate[..], &release].concat();
    let output = Command::new(env!("CARGO_BIN_EXE_assay")).current_dir(at).args(&words).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!output.status.success() && message.contains("recodes"), "{message}");
    assert!(!at.join("out.csv").exists());
}
