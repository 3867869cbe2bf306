//! The files in results/ are the output of the program: a part of them is written again and compared byte by byte.

use std::{fs, path::Path};

use dp_assay::replication::{
    figures::{self, Sources},
    printed::Stated,
    published,
};

use crate::common::{
    program::{assay, json, refusal},
    verified::{Verified, verified},
};

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
            // Only the name is printed, because the files are long.
            assert!(fs::read(file).unwrap() == fs::read(&kept).unwrap(), "{} is not what is written", kept.display());
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
    // If requested by name, missing data are an error; an unknown figure always is.
    for (name, said) in [
        ("su-su-wang-2025/figure-6", "ASSAY_FACTS"),
        ("su-su-wang-2025/figure-1", "figure-2"),
        ("x", "su-su-wang-2025"),
    ] {
        let message = refusal(&["figures", name, "--out", out]);
        assert!(message.contains(said), "{message}");
    }
    assert_eq!(fs::read_dir(folder.path().join("su-su-wang-2025")).unwrap().count(), 2);
    let list = assay(&["figures", "--list"]).assert().success();
    assert!(String::from_utf8_lossy(&list.get_output().stdout).contains("su-su-wang-2025/figure-15"));
}

/// With the block counts of Rhode Island, if available.
#[test]
fn errors_of_real_counts_are_written_again_where_the_data_is_at_hand() {
    let Some(facts) = std::env::var_os("ASSAY_FACTS") else {
        eprintln!("skipped: ASSAY_FACTS does not name the folder of public data");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let names = ["figure-6", "figure-8"].map(|name| format!("su-su-wang-2025/{name}"));
    for item in figures::find(&names).unwrap() {
        let files =
            item.write(&Sources { facts: Some(facts.clone().into()), ..Sources::default() }, folder.path()).unwrap();
        for (file, kept) in files.iter().zip(item.files(committed())) {
            assert_eq!(fs::read(file).unwrap(), fs::read(&kept).unwrap(), "{}", kept.display());
        }
    }
}

/// Figures for the user's release and parameters: other titles and numbers, but the same certified ones.
#[test]
fn figures_are_drawn_for_ones_own_release_and_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("own");
    let out = out.to_str().unwrap();
    let counts = folder.path().join("utah.csv");
    fs::write(&counts, "GEOID,adults,children\n490010301001000,3,0\n490010301001001,40,7\n490030301001001,0,0\n")
        .unwrap();
    let counts = counts.to_str().unwrap();
    let draw = |figure: &str, rest: &[&str]| -> [String; 2] {
        assay(&[&["figures", figure, "--out", out], rest].concat()).assert().success();
        ["csv", "svg"].map(|kind| fs::read_to_string(format!("{out}/{figure}.{kind}")).unwrap())
    };
    let two = ["--release", "pl94-persons-us", "--level", "State", "--level", "Tract"];
    let [csv, svg] =
        draw("su-su-wang-2025/figure-2", &[&two[..], &["--from", "1", "--to", "9", "--points", "3"]].concat());
    assert_eq!(csv.lines().count(), 7, "{csv}");
    assert!(csv.contains("State,,1,") || csv.contains(",9,"), "{csv}");
    assert!(svg.contains("pl94-persons-us") && !svg.contains("2020 DHC"), "{svg}");
    // The same certified number as by the account.
    let answer = json(&["delta", "--release", "pl94-persons-us", "--level", "State", "--epsilon", "9"]);
    let row = csv.lines().find(|line| line.starts_with("State") && line.contains(",9,")).unwrap();
    let upper: f64 = row.split(',').nth(4).unwrap().parse().unwrap();
    assert!((upper / answer["delta"]["upper"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{row}");
    for figure in ["figure-3", "figure-5", "table-1"] {
        let [_, svg] = draw(&format!("su-su-wang-2025/{figure}"), &[&two[..], &["--delta", "1e-6"]].concat());
        assert!(svg.contains("10⁻⁶"), "{figure}");
    }
    let [csv, svg] =
        draw("su-su-wang-2025/figure-7", &["--level", "US", "--level", "Block", "--delta", "1e-8", "--points", "4"]);
    assert!(csv.lines().count() == 5 && svg.contains("US, Block"), "{csv}");
    let [csv, svg] = draw("su-su-wang-2025/figure-8", &["--counts", counts, "--columns", "adults,children"]);
    assert!(csv.contains("adults,3,43,") && svg.contains("utah.csv") && !svg.contains("Rhode Island"), "{csv}");
    let [csv, _] = draw("su-su-wang-2025/figure-6", &["--counts", counts, "--columns", "adults", "--sigma2", "50,40"]);
    assert!(csv.contains("MSE,cut at zero,County,2,"), "{csv}");
    let own = ["--rho", "0.3,0.5", "--prior", "1/3"];
    let [csv, _] = draw("kazan-reiter-2023/figure-1", &[&own[..], &["--from=-2", "--to", "2"]].concat());
    assert!(csv.lines().count() == 11 && csv.contains("posterior,p = 1/3,-2,"), "{csv}");
    let [_, svg] = draw("kazan-reiter-2023/figure-4", &[&own[..], &["--others", "5"]].concat());
    assert!(svg.contains("prior 1/3"));
}

#[test]
fn figures_of_ones_own_are_refused_where_nothing_can_be_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("own");
    let refused = |rest: &[&str]| refusal(&[&["figures", "--out", out.to_str().unwrap()], rest].concat());
    let counts = folder.path().join("utah.csv");
    fs::write(&counts, "GEOID,adults\n490010301001000,3\n").unwrap();
    let counts = counts.to_str().unwrap();
    let figure = "su-su-wang-2025/figure-2";
    assert!(refusal(&["figures", figure, "--release", "pl94-persons-us"]).contains("--out"));
    assert!(refused(&["--release", "pl94-persons-us"]).contains("name the figure"));
    for (arguments, said) in [
        (&[figure, "--prior", "1/2"][..], "prior"),
        (&["safetab-2021/table-1", "--points", "5"], "it takes margin"),
        (&["safetab-p-2024/table-7", "--margin", "3,11", "--rho", "0.1"], "1 rho for 2 margins"),
        (&[figure, "--release", "pl94-persons-us", "--level", "Sate"], "did you mean"),
        (&[figure, "--release", "ddhca-us"], "worst mix of groups"),
        (&[figure, "--release", "su-su-wang-2025", "--points", "1"], "points"),
        (&[figure, "--from", "3", "--to", "2"], "must be smaller than"),
        (&["su-su-wang-2025/figure-14", "--from", "0"], "more than 0"),
        (&["su-su-wang-2025/figure-8", "--counts", "/no/such.csv"], "no/such.csv"),
        (&["su-su-wang-2025/figure-6", "--counts", counts, "--columns", "adults", "--sigma2", "5"], "sigma2"),
        (&["su-su-wang-2025/figure-6", "--counts", counts], "unknown column"),
        (&["su-su-wang-2025/figure-11", "--sigma2", "0"], "sigma2"),
        (&["sieve-quadrature-2026/profile", "--release", "su-su-wang-2025"], "block paths"),
        (&["kazan-reiter-2023/figure-2", "--prior", "2"], "prior"),
        (&["kazan-reiter-2023/figure-5", "--from", "0.5"], "whole number"),
        (&["kazan-reiter-2023/figure-5", "--rho", "0.1"], "level"),
    ] {
        let message = refused(arguments);
        assert!(message.contains(said), "{arguments:?}: {message}");
    }
    assert!(!out.exists());
}

#[test]
fn block_files_that_break_their_form_are_refused_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ri_2010_block.csv");
    let header = "GEOID,pop\n";
    for (text, said) in [
        ("GEOID,people\n440010301001000,1\n", "unknown column"),
        (header, "no block"),
        ("GEOID,pop\n44001,3\n", "line 2"),
        ("GEOID,pop\n440010301001000,3\n440010301001001,-1\n", "line 3"),
        ("GEOID,pop\n440010301001000\n", "line 2"),
    ] {
        fs::write(&file, text).unwrap();
        let names = ["su-su-wang-2025/figure-6".to_string()];
        let error = figures::find(&names).unwrap()[0]
            .draw(&Sources { facts: Some(folder.path().into()), ..Sources::default() })
            .unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn the_summary_fits_a_screen_and_the_report_is_written_again_to_the_byte() {
    let Verified { summary, report } = verified();
    assert!(summary.lines().count() <= 24 && summary.lines().all(|line| line.len() <= 100), "{summary}");
    let papers = published::papers(&[]).unwrap();
    let count = |paper: &str, column: usize| -> usize {
        let line = summary.lines().find(|line| line.starts_with(paper)).unwrap_or_else(|| panic!("{paper}: {summary}"));
        line.split_whitespace().nth(column).and_then(|cell| cell.parse().ok()).unwrap_or_else(|| panic!("{line}"))
    };
    let is_printed = |value: &&published::Published| value.stated != Stated::NotPrinted;
    for paper in &papers {
        let printed = paper.values.iter().filter(is_printed).count();
        assert_eq!(count(&paper.paper, 1), printed);
        assert_eq!((2..10).map(|column| count(&paper.paper, column)).sum::<usize>(), printed);
        assert_eq!(count(&paper.paper, 9), paper.values.iter().filter(|value| value.remarks.is_circular).count());
        // A value with a recorded erratum does not agree; one that agrees as read, or rounded, may do without.
        let errata = paper.values.iter().filter(|value| value.remarks.erratum.is_some()).count();
        let [as_read, wrong] =
            [(3..4), (4..8)].map(|columns| columns.map(|column| count(&paper.paper, column)).sum::<usize>());
        assert!(wrong <= errata && errata <= wrong + as_read, "{}: {wrong} wrong, {errata} errata", paper.paper);
    }
    let all = count("all", 1);
    assert_eq!(all, papers.iter().map(|paper| paper.values.iter().filter(is_printed).count()).sum::<usize>());
    let not_printed = papers.iter().map(|paper| paper.values.len()).sum::<usize>() - all;
    assert!(not_printed > 0 && summary.contains(&format!("\n{not_printed} more are computed that no document prints")));
    assert!(!summary.contains("without an explanation"));
    // README has the same numbers.
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap().replace('\n', " ");
    let faults = summary.lines().find_map(|line| line.trim().split_once(" disproved: ").map(|(_, rest)| rest));
    let faults = faults.and_then(|rest| rest.split(' ').next()).expect("the distinct faults of what is disproved");
    let [circular, disproved] = [9, 7].map(|column| count("all", column));
    for said in [
        format!("recomputes {all} printed values"),
        format!("{circular} of them the source of a bundled release"),
        format!("disproves {disproved} of them"),
        format!("which show {faults} distinct faults"),
        format!("{} agree.", count("all", 2) + count("all", 3)),
    ] {
        assert!(readme.contains(&said), "README: {said}");
    }

    let kept = fs::read_to_string(committed().join("REPORT.md")).unwrap();
    for (line, (new, old)) in report.lines().zip(kept.lines()).enumerate() {
        assert_eq!(new, old, "results/REPORT.md, line {}, is not what scripts/reproduce writes", line + 1);
    }
    assert_eq!(report.len(), kept.len());
    assert!(kept.contains("### The pipeline of Section A.6") && !kept.contains("Not explained."));
    // The numbers that the texts refer to are beside them.
    for said in ["Read as ", "Beside it, ", "That computation gives ", "What was computed: ", "SHA-256 `"] {
        assert!(kept.contains(said), "{said}");
    }
}

#[test]
fn nodes_that_the_rule_cannot_take_are_refused() {
    for nodes in ["0", "1", "4", "1000000"] {
        let message = refusal(&["verify", "su-su-wang-2025", "--nodes", nodes]);
        assert!(message.contains("--nodes") && message.contains("multiple of four"), "{message}");
    }
}

/// The rows of a figure with these options: other numbers than in results/, in the same columns.
fn drawn(name: &str, options: &[&str]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let words: Vec<&str> = ["figures", name, "--out", out].into_iter().chain(options.iter().copied()).collect();
    json(&words);
    let rows = fs::read_to_string(folder.path().join(format!("{name}.csv"))).unwrap();
    let kept = fs::read_to_string(committed().join(format!("{name}.csv"))).unwrap();
    assert_eq!(rows.lines().next(), kept.lines().next(), "{name}");
    assert_ne!(rows, kept, "{name}");
    rows.lines().skip(1).map(|line| line.split(',').map(String::from).collect()).collect()
}

#[test]
fn safetab_is_drawn_for_parameters_of_ones_own() {
    let margins = drawn("safetab-2021/margins", &["--from", "1", "--to", "2", "--points", "3"]);
    assert_eq!(margins.iter().map(|row| row[1].as_str()).collect::<Vec<_>>(), ["1", "1.5", "2", "1", "1.5", "2"]);
    // A smaller delta has a larger epsilon, except under pure differential privacy.
    let kept = fs::read_to_string(committed().join("safetab-2021/table-2.csv")).unwrap();
    for (own, kept) in drawn("safetab-2021/table-2", &["--delta", "1e-12"]).iter().zip(kept.lines().skip(1)) {
        let kept: f64 = kept.rsplit(',').next().unwrap().parse().unwrap();
        let own_upper: f64 = own.last().unwrap().parse().unwrap();
        assert!(if own.join(",").contains("pure DP") { own_upper == kept } else { own_upper > kept }, "{own:?} {kept}");
    }
    // The paper's own margins have the paper's formula, coverage and least budget.
    let kept = fs::read_to_string(committed().join("safetab-2021/table-1.csv")).unwrap();
    let kept: Vec<Vec<&str>> = kept.lines().skip(1).map(|line| line.rsplit(',').collect()).collect();
    let budgets = drawn("safetab-2021/table-1", &["--margin", "6,11,50,3"]);
    assert_eq!(budgets.len(), 8);
    for own in budgets.iter().filter(|row| row[2] != "3") {
        let same = kept.iter().find(|row| row[6] == own[2] && row[7] == own[1]).expect("a margin of the paper");
        assert_eq!(same[..5], own.iter().rev().take(5).map(String::as_str).collect::<Vec<_>>()[..], "{own:?}");
        // The paper's budget is the formula's to two decimals, truncated or rounded; the user's is rounded up.
        let [printed, rounded] = [same[5], own[3].as_str()].map(|text| text.parse::<f64>().unwrap());
        assert!((0.0..0.011).contains(&(rounded - printed + 1e-9)), "{own:?} {same:?}");
    }
    // A budget of the user has the margin of the least budget.
    let rows = drawn("safetab-p-2024/table-7", &["--rho", "0.02,0.159"]);
    for row in &rows {
        let [rho, least] = [2, 5].map(|column| row[column].parse::<f64>().unwrap());
        assert!(least <= rho && row[1] == row[8], "{row:?}");
    }
    let both = drawn("safetab-p-2024/table-7", &["--rho", "0.159", "--margin", "11"]);
    let kept = fs::read_to_string(committed().join("safetab-p-2024/table-7.csv")).unwrap();
    let county = kept.lines().find(|line| line.starts_with("\"County, Detailed")).expect("a level");
    assert!(county.ends_with(&both[0][2..].join(",")), "{county} {both:?}");
    // Budgets for wider margins are smaller, and so is the epsilon of each analysis.
    let wide = drawn("safetab-2021/table-2", &["--margin", "20,50"]);
    assert!(wide.iter().all(|row| row.last().unwrap().parse::<f64>().unwrap() < 11.0), "{wide:?}");
    // The threshold is 21, so the sizes are 21 to 63.
    let sizes = drawn("safetab-p-2024/figure-1", &["--rho", "0.159", "--from", "1", "--to", "3"]);
    assert_eq!((sizes.len(), sizes[0][2].as_str(), sizes[42][3].as_str()), (43, "21", "3"));
    assert_eq!(drawn("safetab-p-2024/figure-2", &["--rho", "0.159", "--points", "4"]).len(), 4);
}

/// A folder with a file of five blocks, and its name.
fn five_blocks() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let blocks = folder.path().join("blocks.csv");
    let text =
        "block,place\n440010301001000,1\n440010301001001,1\n440010301001002,2\n440010302001000,1\n440030101001000,3\n";
    fs::write(&blocks, text).unwrap();
    let name = blocks.to_str().unwrap().to_string();
    (folder, name)
}

#[test]
fn spines_are_drawn_for_blocks_of_ones_own() {
    let (_folder, blocks) = five_blocks();
    let blocks = blocks.as_str();
    // Each cell of each block counts once in every query group of the nation, and of its own block.
    let matrix = drawn("spines-2024/figure-2", &["--copies", "3"]);
    assert_eq!(matrix.len(), 2 * 4 * 3 * 4);
    assert!(matrix.iter().filter(|row| row[0] == "US" && row[1] == "second").count() == 12, "{matrix:?}");
    let units = drawn("spines-2024/figure-2", &["--release", "pl94-units-us", "--level", "State", "--level", "Block"]);
    let of = |unit: &str| units.iter().filter(|row| row[0] == unit).collect::<Vec<_>>();
    assert!(of("State").len() == 2 * of("Block 1").len() && of("Block 1").iter().all(|row| row[3] == "1"), "{units:?}");
    let remark = drawn("spines-2024/remark-1", &["--to", "12"]);
    assert_eq!(remark.len(), 2 * 3 * 12);
    assert!(drawn("spines-2024/figure-1", &["--counts", blocks]).iter().any(|row| row[1] == "Block" && row[3] == "5"));
    let section = drawn("spines-2024/section-4", &["--counts", blocks]);
    assert!(section.iter().any(|row| row[3] == "3"), "place 1 has three blocks: {section:?}");
}

#[test]
fn figures_refuse_parameters_that_do_not_fit() {
    let (folder, blocks) = five_blocks();
    let (out, blocks) = (folder.path().to_str().unwrap(), blocks.as_str());
    for (name, options) in [
        ("safetab-2021/table-2", vec!["--delta", "1e-12", "--delta", "1e-9"]),
        ("safetab-2021/margins", vec!["--from", "0"]),
        ("safetab-2021/table-1", vec!["--delta", "1e-9"]),
        ("safetab-p-2024/figure-1", vec!["--from=-1"]),
        ("safetab-p-2024/figure-2", vec!["--to", "1e6"]),
        ("spines-2024/figure-2", vec!["--copies", "0"]),
        ("spines-2024/figure-2", vec!["--level", "US"]),
        ("spines-2024/figure-2", vec!["--release", "su-su-wang-2025"]),
        ("spines-2024/figure-2", vec!["--release", "dhc-persons-us"]),
        ("spines-2024/figure-2", vec!["--release", "pl94-units-us", "--copies", "50"]),
        ("spines-2024/remark-1", vec!["--from", "0"]),
        ("spines-2024/section-4", vec!["--counts", blocks, "--columns", "place"]),
    ] {
        let words: Vec<&str> = ["figures", name, "--out", out].into_iter().chain(options).collect();
        assert!(!refusal(&words).is_empty());
    }
}

/// The comparison with census-bluedown: both programs gave the same numbers, ratios are those of the times beside them, and the guide shows
/// them.
#[test]
fn the_other_estimator_gave_the_same_numbers_and_the_guide_has_its_times() {
    let mut table = csv::Reader::from_path(committed().join("peers-estimate.csv")).unwrap();
    let guide = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guide/evidence.md")).unwrap();
    let (mut times, mut differences) = (0, 0);
    for record in table.records() {
        let record = record.unwrap();
        let cell = |column: usize| record[column].parse::<f64>();
        let (what, unit) = (&record[0], &record[1]);
        if let (Ok(theirs), Ok(ours), Ok(ratio)) = (cell(2), cell(3), cell(4)) {
            // Three digits of each.
            assert!((ratio * ours / theirs - 1.0).abs() < 0.012, "{record:?}");
            let row = format!("| {what} | {theirs:.0} | {} | {ratio:.0} |\n", &record[3]);
            assert!(guide.contains(&row), "the guide has no {row}");
            times += 1;
        } else {
            let most = if unit == "persons" { 1e-4 } else { 1e-6 };
            assert!(cell(5).unwrap() <= most, "{record:?}");
            differences += 1;
        }
    }
    assert_eq!((times, differences), (4, 3));
}

/// No level is dropped, and the description of a figure matches its content.
#[test]
fn the_description_of_a_users_figure_matches_it() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let draw = |name: &str, rest: &[&str]| -> (String, String, String) {
        let answer = json(&[&["figures", name, "--out", out], rest].concat());
        let read = |kind: &str| fs::read_to_string(format!("{out}/{name}.{kind}")).unwrap();
        (answer["figures"][0]["about"].as_str().unwrap().to_string(), read("csv"), read("svg"))
    };
    let two = ["--level", "State", "--level", "Block"];
    let (about, csv, svg) = draw("su-su-wang-2025/figure-13", &[&two[..], &["--points", "4"]].concat());
    assert!(about.contains("State and Block of the 2020 DHC") && !about.contains("County"), "{about}");
    assert!(["\nState,", "\nBlock,"].iter().all(|level| csv.contains(level)) && !csv.contains("\nCounty,"), "{csv}");
    assert!(svg.contains("State: ") && svg.contains("Block: ") && svg.contains("less noise"));
    let own = ["--release", "pl94-units-us", "--points", "3"];
    let (about, ..) = draw("su-su-wang-2025/figure-2", &own);
    assert!(about.contains("each of the 6 geolevels") && about.contains("pl94-units-us"), "{about}");
    let deltas = ["--delta", "1e-6", "--delta", "1e-7", "--delta", "1e-8", "--level", "US"];
    let (about, ..) = draw("su-su-wang-2025/figure-3", &deltas);
    assert!(about.contains("US of the 2020 DHC") && about.ends_with("δ = 10⁻⁶, 10⁻⁷, 10⁻⁸"), "{about}");
    let (about, ..) = draw("su-su-wang-2025/figure-11", &["--copies", "500", "--sigma2", "50", "--points", "3"]);
    assert!(about.contains("500 counts"), "{about}");
    // A single point is marked, on an axis from which it can be read.
    let (_, _, svg) = draw("su-su-wang-2025/table-2", &["--sigma2", "3", "--copies", "4"]);
    let panel = svg.split("number of counts").nth(1).unwrap();
    assert!(panel.matches("<polygon").count() >= 2, "{panel}");
    // A density is a curve, not a polygon through its values at integers.
    let (_, _, svg) = draw("su-su-wang-2025/figure-10", &["--sigma2", "0.01"]);
    let longest =
        svg.split("points=\"").map(|points| points.split('"').next().unwrap().split(' ').count()).max().unwrap();
    assert!(longest > 100, "{longest}");
    // A figure for one parameter is refused for two.
    for (name, rest, said) in [
        ("su-su-wang-2025/figure-5", &["--delta", "1e-6", "--delta", "1e-7"][..], "delta is given 2 times"),
        ("su-su-wang-2025/figure-11", &["--copies", "5,9"], "copies is given 2 times"),
        ("su-su-wang-2025/figure-2", &["--level", "US", "--level", "US"], "is named twice"),
    ] {
        let message = refusal(&[&["figures", name, "--out", out], rest].concat());
        assert!(message.contains(said), "{message}");
    }
}
