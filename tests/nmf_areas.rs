//! Weighted areas, exact totals of areas, recodes of one's own and several levels of confidence, compared with dense algebra on the covariances of
//! all blocks, each of which is an area of its own.

use std::fs;

use serde_json::Value;

use crate::common::{
    estimates::{self, Row},
    nmf_desk::{Desk, example},
    program::json,
};

/// Estimates of counts with their covariances, as `--covariance` writes them.
struct Dense {
    names: Vec<(String, String)>,
    estimates: Vec<f64>,
    matrix: Vec<Vec<f64>>,
}

impl Dense {
    fn read(text: &str) -> Dense {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let mut dense = Dense { names: Vec::new(), estimates: Vec::new(), matrix: Vec::new() };
        for record in reader.records().map(Result::unwrap) {
            dense.names.push((record[0].to_string(), record[1].to_string()));
            dense.estimates.push(record[2].parse().unwrap());
            dense.matrix.push(record.iter().skip(3).map(|cell| cell.parse().unwrap()).collect());
        }
        dense
    }

    fn place(&self, area: &str, variable: &str) -> usize {
        self.names
            .iter()
            .position(|(own, of)| own == area && of == variable)
            .unwrap_or_else(|| panic!("{area} {variable}"))
    }

    /// Estimate and covariances of sums of these counts with these weights.
    fn sums(&self, weights: &[Vec<(usize, f64)>]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let estimate = |own: &Vec<(usize, f64)>| own.iter().map(|(at, weight)| weight * self.estimates[*at]).sum();
        let covariance = |a: &Vec<(usize, f64)>, b: &Vec<(usize, f64)>| {
            a.iter().map(|(at, own)| b.iter().map(|(to, other)| own * other * self.matrix[*at][*to]).sum::<f64>()).sum()
        };
        let matrix = weights.iter().map(|a| weights.iter().map(|b| covariance(a, b)).collect()).collect();
        (weights.iter().map(estimate).collect(), matrix)
    }

    /// Conditioned on the exact values of two counts, by the inverse of their two by two covariances.
    fn given(&self, [first, second]: [(usize, f64); 2]) -> Dense {
        let m = &self.matrix;
        let [a, b] = [first.0, second.0];
        let determinant = m[a][a] * m[b][b] - m[a][b] * m[b][a];
        let solve =
            |u: f64, v: f64| [(m[b][b] * u - m[a][b] * v) / determinant, (m[a][a] * v - m[b][a] * u) / determinant];
        let step = solve(first.1 - self.estimates[a], second.1 - self.estimates[b]);
        let estimates =
            (0..self.estimates.len()).map(|at| self.estimates[at] + m[at][a] * step[0] + m[at][b] * step[1]);
        let row = |at: usize| {
            let own = solve(m[at][a], m[at][b]);
            (0..m.len()).map(|to| m[at][to] - own[0] * m[a][to] - own[1] * m[b][to]).collect()
        };
        Dense { names: self.names.clone(), estimates: estimates.collect(), matrix: (0..m.len()).map(row).collect() }
    }
}

fn near(found: f64, expected: f64, scale: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-7 * scale.max(1e-3), "{what}: {found} for {expected}");
}

fn blocks() -> Vec<String> {
    let text = fs::read_to_string(example("blocks.csv")).unwrap();
    text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_string()).collect()
}

/// A file with every block as an area of its own, and other lines.
fn with_every_block(more: &str) -> String {
    let own: String = blocks().iter().map(|block| format!("b{block},{block},1\n")).collect();
    format!("area,block,weight\n{own}{more}")
}

const TOTAL: &str = "total";

/// A weight of a block as text and as a number: fractions, decimals, all and nothing of it.
fn weight_of(at: usize) -> (&'static str, f64) {
    [("1/3", 1.0 / 3.0), ("0.25", 0.25), ("1", 1.0), ("0", 0.0), ("9e-1", 0.9)][at % 5]
}

#[test]
fn weighted_areas_are_exact_combinations_of_their_blocks() {
    let desk = Desk::new();
    let mixed: String =
        blocks().iter().enumerate().map(|(at, block)| format!("mixed,{block},{}\n", weight_of(at).0)).collect();
    let tenth: String = blocks().iter().map(|block| format!("tenth,{block},0.1\n")).collect();
    let areas = desk.file("areas.csv", &with_every_block(&format!("{mixed}{tenth}nothing,{},0\n", blocks()[0])));
    let matrix = desk.path("matrix.csv").display().to_string();
    let options = [
        "--areas",
        &areas,
        "--queries",
        "total",
        "votingage",
        "--covariance",
        &matrix,
        "--difference",
        "mixed,tenth",
        "--share",
        "mixed/tenth",
    ];
    let answer = json(&desk.words("out.csv", &options).iter().map(String::as_str).collect::<Vec<_>>());
    // Every block has 1, a weight from 0 to 1, and a tenth.
    assert_eq!(
        answer["weights"],
        serde_json::json!({ "blocks_below_one": 0, "blocks_above_one": 30, "in_margins": false })
    );
    assert!(answer["notes"].to_string().contains("margins do not have their error"), "{}", answer["notes"]);
    let dense = Dense::read(&fs::read_to_string(&matrix).unwrap());
    let rows = estimates::rows(&fs::read_to_string(desk.path("out.csv")).unwrap());
    for variable in [TOTAL, "votingage: below-18", "votingage: 18-and-over"] {
        let place = |block: &String| dense.place(&format!("b{block}"), variable);
        let mixed = blocks().iter().enumerate().map(|(at, block)| (place(block), weight_of(at).1)).collect();
        let tenth = blocks().iter().map(|block| (place(block), 0.1)).collect();
        let (estimates, covariances) = dense.sums(&[mixed, tenth]);
        let places = ["mixed", "tenth"].map(|area| dense.place(area, variable));
        for (at, own) in places.iter().enumerate() {
            near(dense.estimates[*own], estimates[at], covariances[at][at].sqrt(), variable);
            for (to, other) in places.iter().enumerate() {
                near(dense.matrix[*own][*other], covariances[at][to], covariances[at][at], variable);
            }
        }
        let label = variable.strip_prefix("votingage: ").unwrap_or_default();
        for (area, own) in [("mixed", 0), ("tenth", 1)] {
            let query = if label.is_empty() { "total" } else { "votingage" };
            let is_own =
                |row: &&Row| row.get("area") == area && row.get("query") == query && row.get("votingage") == label;
            let row = rows.iter().find(is_own).unwrap();
            near(row.number("estimate"), estimates[own], covariances[own][own].sqrt(), variable);
            near(row.number("variance"), covariances[own][own], covariances[own][own], variable);
        }
        let compared = answer["differences"].as_array().unwrap().iter().find(|own| own["within"] == variable).unwrap();
        let variance = covariances[0][0] + covariances[1][1] - 2.0 * covariances[0][1];
        near(number(&compared["std_dev"]), variance.sqrt(), variance.sqrt(), variable);
    }
    let nothing: Vec<&Row> = rows.iter().filter(|row| row.get("area") == "nothing").collect();
    assert!(
        nothing.len() == 3 && nothing.iter().all(|row| row.number("estimate") == 0.0 && row.number("variance") == 0.0)
    );
}

fn number(value: &Value) -> f64 {
    value.to_string().parse().unwrap()
}

/// In a rehearsal the true count of a weighted area is the weighted sum of true counts, so most margins contain it. Without the counts of the nation
/// an area in two states has independent parts.
#[test]
fn weighted_areas_are_rehearsed_and_cross_states() {
    let desk = Desk::new();
    let mixed: String =
        blocks().iter().enumerate().map(|(at, block)| format!("mixed,{block},{}\n", weight_of(at).0)).collect();
    let areas = desk.file("areas.csv", &format!("area,block,weight\n{mixed}"));
    let options = ["--areas", &areas, "--truth", &example("counts.csv"), "--states", "09,44", "--queries", "votingage"];
    let answer = json(&desk.words("out.csv", &options).iter().map(String::as_str).collect::<Vec<_>>());
    let errors = &answer["errors"].as_array().unwrap()[0];
    let counts = fs::read_to_string(example("counts.csv")).unwrap();
    let truth: f64 = estimates::rows(&counts)
        .iter()
        .map(|row| {
            weight_of(blocks().iter().position(|block| *block == row.get("block")).unwrap()).1 * row.number("count")
        })
        .sum();
    let estimate: f64 = estimates::rows(&fs::read_to_string(desk.path("out.csv")).unwrap())
        .iter()
        .map(|row| row.number("estimate"))
        .sum();
    near(number(&errors["bias"]) * 2.0, estimate - truth, 1.0, "the mean error of two counts");
    let both = |states: &str| {
        let areas = desk.file(
            "one.csv",
            &format!(
                "area,block,weight\n{}",
                mixed
                    .lines()
                    .filter(|line| line[6..].starts_with(states))
                    .map(|line| format!("{line}\n"))
                    .collect::<String>()
            ),
        );
        desk.rows("one-out.csv", &["--areas", &areas, "--states", "09,44"])[0].number("variance")
    };
    let whole = desk.rows("whole.csv", &["--areas", &areas, "--states", "09,44"])[0].number("variance");
    near(whole, both("09") + both("44"), whole, "the variance of independent parts");
    // Saved work has the same rows.
    let work = desk.path("work").display().to_string();
    let saved = desk.run("saved.csv", &["--areas", &areas, "--work", &work]);
    assert_eq!(saved, desk.run("direct.csv", &["--areas", &areas]));
}

#[test]
fn exact_totals_of_areas_are_conditions_on_the_joint_law() {
    let desk = Desk::new();
    let towns = fs::read_to_string(example("towns.csv")).unwrap();
    let more: String = towns.lines().skip(1).map(|line| format!("{line},1\n")).collect();
    let first: String = blocks().iter().take(8).map(|block| format!("first,{block},1\n")).collect();
    let tenth: String = blocks().iter().map(|block| format!("tenth,{block},0.1\n")).collect();
    let areas = desk.file("areas.csv", &with_every_block(&format!("{more}{first}{tenth}")));
    let free = desk.path("free.csv").display().to_string();
    let base = ["--areas", &areas, "--queries", "total", "votingage"];
    desk.run("free-out.csv", &[&base[..], &["--covariance", &free]].concat());
    let free = Dense::read(&fs::read_to_string(&free).unwrap());
    // A total that the noisy counts do not exclude.
    let of_first = free.estimates[free.place("first", TOTAL)].round();
    let expected = free.given([(free.place("Millbridge", TOTAL), 620.0), (free.place("first", TOTAL), of_first)]);
    let totals = desk.file("totals.csv", &format!("area,total\nMillbridge,620\nfirst,{of_first}\n"));
    let matrix = desk.path("matrix.csv").display().to_string();
    let rows = desk.rows("out.csv", &[&base[..], &["--area-totals", &totals, "--covariance", &matrix]].concat());
    let found = Dense::read(&fs::read_to_string(&matrix).unwrap());
    assert_eq!(found.names, expected.names);
    let scale = |at: usize| free.matrix[at][at].sqrt();
    for at in 0..found.names.len() {
        near(found.estimates[at], expected.estimates[at], scale(at), &format!("{:?}", found.names[at]));
        for to in 0..found.names.len() {
            let what = format!("{:?} {:?}", found.names[at], found.names[to]);
            near(found.matrix[at][to], expected.matrix[at][to], scale(at) * scale(to), &what);
        }
        let (area, variable) = &found.names[at];
        let label = variable.strip_prefix("votingage: ").unwrap_or_default();
        let row = rows.iter().find(|row| row.get("area") == area && row.get("votingage") == label).unwrap();
        near(row.number("estimate"), expected.estimates[at], scale(at), area);
        near(row.number("variance"), expected.matrix[at][at], free.matrix[at][at], area);
        assert!(row.number("variance") <= free.matrix[at][at] * (1.0 + 1e-9));
    }
    for (area, total) in [("Millbridge", 620.0), ("first", of_first)] {
        let row = rows.iter().find(|row| row.get("area") == area && row.get("query") == "total").unwrap();
        assert!((row.number("estimate") - total).abs() < 1e-9 && row.number("margin_95") == 0.0, "{area}");
    }
    // Two areas of the same blocks have the same total.
    let again = desk.file("again.csv", "area,total\nMillbridge,620\nMillbridge 2,619\n");
    let second = more.lines().filter_map(|line| line.strip_prefix("Millbridge,")?.strip_suffix(",1"));
    let second: String = second.map(|block| format!("Millbridge 2,{block}\n")).collect();
    let twice = desk.file("twice.csv", &format!("{towns}{second}"));
    let why = desk.refused(&["--areas", &twice, "--area-totals", &again]);
    assert!(why.contains("again.csv, line 3") && why.contains("contradict each other"), "{why}");
    let again = desk.file("again.csv", "area,total\nMillbridge,620\nMillbridge 2,620\n");
    desk.run("same.csv", &["--areas", &twice, "--area-totals", &again]);
}

/// A total with a wrong digit is as far from the noisy counts as the covariances say; totals of an area and of areas inside it
/// exclude each other.
#[test]
fn exact_totals_of_areas_are_residuals_of_the_fit() {
    let desk = Desk::new();
    let towns = example("towns.csv");
    let base = ["--areas", &towns, "--queries", "total"];
    let free = desk.path("free.csv").display().to_string();
    desk.run("free-out.csv", &[&base[..], &["--covariance", &free]].concat());
    let free = Dense::read(&fs::read_to_string(&free).unwrap());
    let at = free.place("Millbridge", TOTAL);
    let deviations = |total: f64| (total - free.estimates[at]) / free.matrix[at][at].sqrt();
    let with = |total: i64| desk.file("t.csv", &format!("area,total\nMillbridge,{total}\n"));
    let far = desk.file("far.csv", "area,total\nMillbridge,1620\n");
    let why = desk.refused(&[&base[..], &["--area-totals", &far]].concat());
    for said in ["far.csv, line 2", "\"Millbridge\"", &format!("{:.1} standard deviations", deviations(1620.0))] {
        assert!(why.contains(said), "{said}: {why}");
    }
    // The bound is 2 exp(-z^2 / 2) times the number of tests; a total within 5 deviations is taken, one beyond 10 is not.
    for (total, is_taken) in [(615, true), (624, true), (609, false), (630, false)] {
        assert_eq!(deviations(total as f64).abs() < 6.0, is_taken, "{total}");
        let totals = with(total);
        let options = [&base[..], &["--area-totals", &totals]].concat();
        match is_taken {
            true => drop(desk.run("taken.csv", &options)),
            false => assert!(desk.refused(&options).contains("standard deviations")),
        }
    }
    let options = [&base[..], &["--area-totals", &far, "--despite-misfit"]].concat();
    assert!(desk.run("despite.csv", &options).contains("misfit: p below"));
    let words = desk.words("despite.csv", &options);
    let fit = &json(&words.iter().map(String::as_str).collect::<Vec<_>>())["fit"];
    let largest = &fit["largest"];
    assert_eq!(
        (&fit["fits"], &largest["level"], &largest["geocode"]),
        (&false.into(), &"area".into(), &"Millbridge".into())
    );
    assert!((largest["z"].as_f64().unwrap() + deviations(1620.0)).abs() < 0.1, "{largest}");
    // Parts of an area whose totals exceed its own, though no least squares forbid it.
    let more = "Part,440030001001001\nOther,440030001001002\n";
    let nested = desk.file("nested.csv", &(fs::read_to_string(&towns).unwrap() + more));
    for (totals, says) in [
        ("area,total\nPart,5\nMillbridge,0\n", ["line 3", "\"Part\" inside it has 5"]),
        ("area,total\nPart,400\nMillbridge,620\nOther,300\n", ["line 3", "\"Part\", \"Other\" inside it have 700"]),
    ] {
        let totals = desk.file("t.csv", totals);
        let why = desk.refused(&["--areas", &nested, "--area-totals", &totals]);
        says.iter()
            .for_each(|said| assert!(why.contains(said) && why.contains("contradict each other"), "{said}: {why}"));
    }
}

/// Exact totals that no whole counts of blocks have, whatever the noisy counts say: each is refused with the totals and the numbers.
#[test]
fn exact_totals_that_no_whole_counts_have_are_refused() {
    let desk = Desk::new();
    let sets: [(&str, &[&str]); 8] = [
        ("A", &["440030001001001", "440030001002001"]),
        ("B", &["440030001001002", "440030001002001"]),
        ("C", &["440030001001001", "440030001001002", "440030001002001"]),
        ("X", &["440030001001001", "440030001001002"]),
        ("Y", &["440030001001002", "440030001002001"]),
        ("Z", &["440030001001001", "440030001002001"]),
        ("Empty", &["440030001001999"]),
        ("Home", &["440030001001001"]),
    ];
    let lines = sets.iter().flat_map(|(area, own)| own.iter().map(move |block| format!("{area},{block}\n")));
    let every = blocks().into_iter().filter(|block| block.starts_with("44")).map(|block| format!("All,{block}\n"));
    let areas =
        desk.file("areas.csv", &format!("area,block\n{}{}", lines.collect::<String>(), every.collect::<String>()));
    let of_state = desk.file("of-state.csv", "state,total\n44,2624\n");
    let refused = |totals: &[(&str, i64)], options: &[&str], says: &[&str]| {
        let lines: String = totals.iter().map(|(area, total)| format!("{area},{total}\n")).collect();
        let totals = desk.file("t.csv", &format!("area,total\n{lines}"));
        let base = ["--areas", &areas, "--queries", "total", "--despite-misfit", "--area-totals", &totals];
        let why = desk.refused(&[&base[..], options].concat());
        says.iter().chain(&["contradict each other"]).for_each(|said| assert!(why.contains(said), "{said}: {why}"));
    };
    // A sum of areas that is smaller than the area that they cover.
    refused(
        &[("A", 300), ("B", 300), ("C", 700)],
        &[],
        &["t.csv, line 2", "\"A\" + \"B\" have 600", "\"C\" has 700", "no block is in the second more often"],
    );
    // A part that is larger than the whole; areas that together are larger; two areas of the same blocks that differ.
    refused(&[("A", 300), ("Home", 301)], &[], &["line 2", "is given as 300", "\"Home\" inside it has 301"]);
    refused(&[("Z", 280), ("A", 281)], &[], &["is given as 280", "\"A\" inside it has 281"]);
    // Each block is in two of the three areas, so that their sum is even.
    refused(
        &[("X", 200), ("Y", 250), ("Z", 261)],
        &[],
        &["line 2", "\"X\" + \"Y\" + \"Z\" is 711", "each block a multiple of 2 times"],
    );
    // Nobody can live in a block that the files lack.
    refused(&[("Empty", 1)], &[], &["line 2", "\"Empty\"", "is given as 1, and is at most 0"]);
    // The exact total of the state.
    let exact = ["--state-totals", of_state.as_str()];
    refused(&[("C", 2625)], &exact, &["the state 44 has 2624", "\"C\" has 2625"]);
    refused(
        &[("Y", 1500), ("Home", 1500)],
        &exact,
        &["line 2", "the state 44 has 2624", "\"Y\" + \"Home\" have 3000", "no block is in the second more often"],
    );
    refused(&[("All", 2623)], &exact, &["\"All\"", "2623", "2624", "the state 44"]);
}

/// `--confidence` is about comparisons of queries, too; options that would do nothing are refused.
#[test]
fn comparisons_of_queries_have_the_confidence_that_is_requested() {
    let desk = Desk::new();
    let towns = example("towns.csv");
    let base = ["--areas", &towns, "--queries", "total"];
    let compared = ["--difference", "Millbridge,Old Harbor", "--rank", "total", "--confidence", "99,80"];
    let words = desk.words("out.csv", &[&base[..], &compared].concat());
    let said = json(&words.iter().map(String::as_str).collect::<Vec<_>>());
    for (key, of) in [("moe", "differences"), ("rank_first", "ranks")] {
        let first = said[of][0].to_string();
        assert!(first.contains(&format!("\"{key}_99\"")) && first.contains(&format!("\"{key}_80\"")), "{first}");
        assert!(!first.contains("_95\""), "{first}");
    }
    // The margins of the file are those of every estimate of queries.
    assert!(said.get("margins").is_none() && said.get("variables").is_none(), "{said}");
    for (more, named) in [
        (&["--confidence", "99"][..], "--difference"),
        (&["--rank", "total", "--confidence", "90,90"], "90 % is named twice"),
        (&["--wide"], "--wide"),
        (&["--non-negative"], "--non-negative"),
        (&["--names", &towns], "--names"),
    ] {
        let why = desk.refused(&[&base[..], more].concat());
        assert!(why.contains(named), "{more:?}: {why}");
    }
}

/// Rows have the order of the file, as the covariances have it: also of areas that lie in several states.
#[test]
fn rows_of_areas_are_in_the_order_of_the_file() {
    let desk = Desk::new();
    let blocks = ["440030001001001", "090010001001001", "440010002001001"];
    let file = format!("area,block\nboth,{}\nboth,{}\nhere,{}\nthere,{}\n", blocks[0], blocks[1], blocks[2], blocks[1]);
    let areas = desk.file("areas.csv", &file);
    let matrix = desk.path("matrix.csv").display().to_string();
    let work = desk.path("work").display().to_string();
    for more in [&["--covariance", &matrix][..], &["--states", "09,44"], &["--work", &work]] {
        let rows = desk.rows("out.csv", &[&["--areas", &areas][..], more].concat());
        assert_eq!(rows.iter().map(|row| row.get("area")).collect::<Vec<_>>(), ["both", "here", "there"], "{more:?}");
    }
}

#[test]
fn exact_totals_of_areas_that_cannot_be_used_are_refused() {
    let desk = Desk::new();
    let towns = example("towns.csv");
    let totals = desk.file("totals.csv", "area,total\nMillbridge,620\n");
    let other = desk.file("other.csv", "area,total\nMilbridge,620\n");
    let across = desk.file("across.csv", "area,block\nx,440010001001001\nx,090010001001001\n");
    let of_across = desk.file("of-across.csv", "area,total\nx,10\n");
    let work = desk.path("work").display().to_string();
    for (options, says) in [
        (&["--tabulation", "County", "--area-totals", &totals][..], &["--area"][..]),
        (&["--areas", &towns, "--area-totals", &totals, "--constraints", "none"], &["--area-totals"]),
        (&["--areas", &towns, "--area-totals", &totals, "--work", &work], &["--work"]),
        (
            &["--areas", &towns, "--area-totals", &other],
            &["--area-totals", "other.csv, line 2, column 1", "Millbridge"],
        ),
        (
            &["--areas", &across, "--area-totals", &of_across, "--states", "09,44"],
            &["of-across.csv, line 2", "several states"],
        ),
    ] {
        let why = desk.refused(options);
        says.iter().for_each(|word| assert!(why.contains(word), "{options:?} {word}: {why}"));
    }
}

#[test]
fn whole_counts_stand_beside_the_margins_of_the_unbiased_estimates() {
    let desk = Desk::new();
    let totals = example("state-totals.csv");
    let work = desk.path("work").display().to_string();
    let queries = ["--queries", "total", "detailed", "votingage * hispanic"];
    for more in [
        &["--level", "US", "State", "County", "Tract"][..],
        &["--level", "Tract", "Block", "--state-totals", &totals],
        &["--level", "County", "--states", "44"],
        &["--level", "Block_Group", "--work", &work],
    ] {
        let base: Vec<&str> =
            queries.iter().chain(more).copied().filter(|word| *word != "--work" && *word != work).collect();
        let own = ["level", "geocode", "query", "cell"];
        let margins: std::collections::BTreeMap<String, f64> =
            desk.rows("estimates.csv", &base).iter().map(|row| (row.key(&own), row.number("margin_95"))).collect();
        let whole = desk.rows("whole.csv", &[&queries[..], more, &["--whole"]].concat());
        assert!(whole.len() > 20, "{more:?}");
        for row in whole {
            let (found, expected) = (row.number("margin_95_of_unbiased_estimate"), margins[&row.key(&own)]);
            near(found, expected, expected, &row.key(&own));
            assert!(row.get("margin_95").is_empty());
        }
    }
}

#[test]
fn recodes_of_a_file_are_groups_of_their_attribute() {
    let desk = Desk::new();
    let recode = "[[recode]]\nname = \"origin\"\nattribute = \"hispanic\"\ngroups = [[\"hispanic\"], [\"not-hispanic\"]]\n\n\
                  [[recode]]\nname = \"quarters\"\nattribute = \"hhgq\"\ngroups = [[\"household\"], [\"correctional\", \"juvenile\", \"nursing\", \
                  \"other-institutional\", \"college\", \"military\", \"other-noninstitutional\"]]\n";
    let file = desk.file("recodes.toml", recode);
    let own =
        desk.rows("own.csv", &["--recodes", &file, "--queries", "origin * votingage", "quarters", "--level", "County"]);
    let plain = desk.rows("plain.csv", &["--queries", "hispanic * votingage", "hhgq", "--level", "County"]);
    let label = |row: &Row, name: &str| [row.key(&["geocode", "votingage"]), row.get(name).to_string()].join(",");
    for row in own.iter().filter(|row| row.get("query") == "origin * votingage") {
        let same = plain
            .iter()
            .find(|other| !other.get("hispanic").is_empty() && label(other, "hispanic") == label(row, "origin"));
        let same = same.unwrap();
        near(row.number("estimate"), same.number("estimate"), 1.0, "a recode with all values");
        near(row.number("variance"), same.number("variance"), 1.0, "a recode with all values");
    }
    for row in own.iter().filter(|row| row.get("query") == "quarters") {
        let is_own = |other: &&Row| {
            other.get("query") == "hhgq"
                && other.get("geocode") == row.get("geocode")
                && row.get("quarters").split('+').any(|one| one == other.get("hhgq"))
        };
        let sum: f64 = plain.iter().filter(is_own).map(|other| other.number("estimate")).sum();
        near(row.number("estimate"), sum, 1.0, "a group of values");
    }
    let wrong = desk.file("wrong.toml", &recode.replace("\"nursing\"", "\"nursery\""));
    let why = desk.refused(&["--recodes", &wrong, "--queries", "quarters"]);
    assert!(why.contains("--recodes") && why.contains("line 9") && why.contains("nursery"), "{why}");
    assert!(desk.refused(&["--recodes", &file]).contains("no query is named"));
    assert!(desk.refused(&["--recodes", &file, "--queries", "origins"]).contains("origin"));
}

/// The comparisons have the margins of every requested level.
#[test]
fn comparisons_have_every_level_of_confidence() {
    let desk = Desk::new();
    let base = ["--variables", "P1_001N", "P2_002N", "--tabulation", "County", "--confidence", "90,99"];
    let options = ["--difference", "44001,44003", "--share", "P2_002N/P1_001N", "--rank", "P2_002N"];
    let words = desk.words("out.csv", &[&base[..], &options[..]].concat());
    let answer = json(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let quantiles = [("90", 1.644_853_626_951), ("99", 2.575_829_303_549)];
    for (percent, z) in quantiles {
        for own in answer["differences"].as_array().unwrap() {
            let expected = z * number(&own["std_dev"]);
            near(number(&own[format!("moe_{percent}")]), expected, expected, percent);
        }
        for own in answer["shares"].as_array().unwrap() {
            let expected = z * number(&own["std_dev_delta"]);
            near(number(&own[format!("moe_{percent}_delta")]), expected, 1.0, percent);
            assert_eq!(own[format!("fieller_{percent}")].as_array().unwrap().len(), 2);
        }
        for own in answer["ranks"].as_array().unwrap() {
            let [first, last] = ["first", "last"].map(|end| number(&own[format!("rank_{end}_{percent}")]));
            assert!(first <= number(&own["rank"]) && number(&own["rank"]) <= last);
        }
    }
    assert!(answer["differences"][0].get("moe_95").is_none());
}
