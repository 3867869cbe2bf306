//! Which queries a design determines is known before noise is drawn, and what it determines is estimated.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use dp_assay::{
    release::{Release, schema::Schema},
    spine::{
        bypass::{Privacy, Spine},
        geoids::Geoids,
        own::UnitIds,
        spine_files::SavedSpine,
    },
    topdown::{
        determined::{Design, totals::TotalVariances},
        estimates_file::Estimates,
        measure::MeasurementPlan,
        nmf::answers::{Answer, Subject},
        spine_survey::{Asked, SpineAreas, SpineSurvey},
    },
};
use rug::Rational;
use serde_json::Value;

use crate::common::{
    in_folder::{done, refusal},
    spines::{Numbers, numbered, small_tree},
};

const UNITS: &str = "region,district,municipality\nNorth,Fjord,Sund\nNorth,Fjord,Vik\nNorth,Highland,Sund\nNorth,Highland,Dal\n\
                     South,Coast,Haven\nSouth,Coast,Marsh\nSouth,Capital,Capital\n";

/// A release of three attributes with these queries of country, region, district and municipality.
fn release(queries: [&[&str]; 4]) -> String {
    let mut text = "name = \"norda\"\ntitle = \"t\"\nsource = \"made up for a test\"\nneighbors = \"add-remove\"\nrho = \"1/2\"\n\
                    attribute = [{ name = \"sex\", size = 2 }, { name = \"age\", size = 3 }, { name = \"citizenship\", size = 2 }]\n\
                    recode = [{ name = \"adult\", attribute = \"age\", groups = [[\"0\"], [\"1\", \"2\"]] },\n\
                    { name = \"old\", attribute = \"age\", groups = [[\"0\", \"1\"], [\"2\"]] }]\n"
        .to_string();
    for (level, queries) in ["country", "region", "district", "municipality"].iter().zip(queries) {
        text += &format!("[[level]]\nname = \"{level}\"\nproportion = \"1/4\"\n");
        for query in queries {
            text += &format!("[[level.query]]\nname = \"{query}\"\nproportion = \"1/{}\"\n", queries.len());
        }
    }
    text
}

/// A folder with units, counts and a spine for these queries; with the answer of `assay spine`.
fn folder(queries: [&[&str]; 4]) -> (tempfile::TempDir, Value) {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    put("units.csv", UNITS);
    put("release.toml", &release(queries));
    put("plan.toml", "release = \"release.toml\"\n");
    let mut counts = "region,district,municipality,sex,age,citizenship,count\n".to_string();
    for (row, unit) in UNITS.lines().skip(1).enumerate() {
        for cell in 0..12 {
            let count = 11 * row * row + 17 * cell;
            counts += &format!("{unit},{},{},{},{count}\n", cell / 6, cell / 2 % 3, cell % 2);
        }
    }
    put("counts.csv", &counts);
    let spine = ["spine", "--hierarchy", "units.csv", "--plan", "plan.toml", "--out", "spine", "--json"];
    let said = serde_json::from_str(&done(folder.path(), &spine)).unwrap();
    (folder, said)
}

const MEASURE: [&str; 9] =
    ["measure", "--spine", "spine", "--counts", "counts.csv", "--release", "release.toml", "--out", "noisy"];

/// The files of draws that a refusal must not leave.
fn was_drawn(folder: &Path) -> bool {
    ["noisy", "noisy.log", "counts.csv.draws"].iter().any(|name| folder.join(name).exists())
}

/// Region Alone has one district with one municipality: both carry no share, so that the queries of a municipality are not
/// measured there.
#[test]
fn a_query_that_a_level_measures_in_vain_is_refused_before_noise_is_drawn() {
    let units = format!("{UNITS}Alone,Island,Isle\n");
    let (folder, _) = folder([&["sex"], &["sex"], &["sex"], &["sex", "age"]]);
    fs::write(folder.path().join("units.csv"), units).unwrap();
    fs::remove_dir_all(folder.path().join("spine")).unwrap();
    let spine = ["spine", "--hierarchy", "units.csv", "--plan", "plan.toml", "--out", "spine", "--json"];
    let said: Value = serde_json::from_str(&done(folder.path(), &spine)).unwrap();
    let open = said["undetermined"].as_array().unwrap();
    let own = open.iter().find(|open| open["level"] == "municipality" && open["query"] == "age").unwrap();
    // Isle, and Capital, whose district measures sex alone.
    assert_eq!((&own["units"], &own["first"]), (&2.into(), &"South/Capital/Capital".into()), "{own}");
    let refused = refusal(folder.path(), &MEASURE);
    assert!(
        refused.contains("--release") && refused.contains("do not determine \"age\" of 2 units of municipality"),
        "{refused}"
    );
    assert!(!was_drawn(folder.path()));
    // What it names as needed is enough, for every request.
    for open in open {
        let mut queries: [Vec<&str>; 4] = [vec!["sex"], vec!["sex"], vec!["sex"], vec!["sex", "age"]];
        let levels = ["country", "region", "district", "municipality"];
        for level in open["determined_by_measuring_at"].as_array().unwrap() {
            let at = levels.iter().position(|name| level == name).unwrap();
            queries[at].push(open["query"].as_str().unwrap());
        }
        fs::write(folder.path().join("release.toml"), release([0, 1, 2, 3].map(|level| &queries[level][..]))).unwrap();
        fs::remove_dir_all(folder.path().join("spine")).unwrap();
        let said: Value = serde_json::from_str(&done(folder.path(), &spine)).unwrap();
        let still = |other: &&Value| (&other["level"], &other["query"]) == (&open["level"], &open["query"]);
        assert!(!said["undetermined"].as_array().is_some_and(|all| all.iter().any(|other| still(&other))), "{open}");
    }
}

/// Two recodes of age at the two lowest levels: neither determines the other, and both together not single ages.
#[test]
fn queries_that_other_levels_measure_are_named_where_they_cannot_be_estimated() {
    let (folder, said) =
        folder([&["detailed"], &["detailed"], &["sex * adult", "citizenship"], &["sex * old", "citizenship"]]);
    let open = |said: &Value| {
        let all = said["undetermined"].as_array().cloned().unwrap_or_default();
        let of = |open: &Value| {
            let word = |key: &str| open[key].as_str().unwrap_or_default().to_string();
            (word("level"), word("query"), open["units"].as_u64().unwrap_or(0))
        };
        all.iter().map(of).collect::<Vec<_>>()
    };
    let owned = |level: &str, query: &str, units| (level.to_string(), query.to_string(), units);
    let expected = [
        owned("district", "detailed", 4),
        owned("municipality", "detailed", 7),
        owned("municipality", "sex * adult", 6),
    ];
    assert_eq!(open(&said), expected);
    let measured = done(folder.path(), &[&MEASURE[..], &["--insecure-seed", "2", "--json"]].concat());
    let measured: Value = serde_json::from_str(&measured).unwrap();
    assert_eq!(open(&measured), expected);
    let text = done(folder.path(), &["spine", "--hierarchy", "units.csv", "--plan", "plan.toml", "--out", "again"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("No estimate: the noisy counts do not determine \"detailed\" of 4 units of district"),
        "{text}"
    );
}

const ESTIMATE: [&str; 7] = ["estimate", "--spine", "spine", "--measurements", "noisy", "--release", "release.toml"];

/// A design without single cells below the regions: marginals of what the lower levels keep are estimated everywhere, totals
/// are the same in both files, and what is not determined is refused by name.
#[test]
fn a_natural_design_is_estimated_as_far_as_it_goes() {
    let low = ["sex * age", "citizenship"];
    let (folder, _) = folder([&["detailed"], &["detailed"], &low, &low]);
    done(folder.path(), &[&MEASURE[..], &["--insecure-seed", "2"]].concat());
    let all = ["--level", "country", "region", "district", "municipality"];
    let asks = |out, queries| [&ESTIMATE[..], &["--out", out, "--json", "--queries", queries], &all].concat();
    let said: Value = serde_json::from_str(&done(folder.path(), &asks("best", "total"))).unwrap();
    assert_eq!((&said["records"], &said["left_out"]), (&Value::Null, &serde_json::json!([])));
    assert!(!folder.path().join("best/counts.csv").exists());
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    // Level, unit and estimate of each unit, to three digits.
    let rows = |text: &str, at: usize| -> Vec<(String, String, String)> {
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0].to_string(), cells[1].to_string(), format!("{:.3}", cells[at].parse::<f64>().unwrap()))
        };
        let mut rows: Vec<_> = text.lines().skip(1).map(row).collect();
        rows.sort_unstable();
        rows
    };
    let (totals, estimates) = (rows(&read("best/totals.csv"), 3), rows(&read("best/estimates.csv"), 5));
    assert!(totals.len() == 14 && totals == estimates, "{totals:?} {estimates:?}");
    done(folder.path(), &asks("marginals", "sex * age"));
    done(folder.path(), &asks("others", "citizenship"));
    let words: Vec<&str> = asks("cells", "sex * citizenship").into_iter().filter(|word| *word != "--json").collect();
    let refused = refusal(folder.path(), &words);
    let needed = "--queries: the noisy counts do not determine \"sex * citizenship\" of 4 units of district";
    assert!(refused.contains(needed) && !folder.path().join("cells").exists(), "{refused}");
    // A sum over an area is refused where it is estimated, and nothing is written.
    fs::write(folder.path().join("areas.csv"), "area,district,municipality\nTwo,Fjord,Sund\nTwo,Coast,Haven\n")
        .unwrap();
    let area = [&ESTIMATE[..], &["--out", "area", "--areas", "areas.csv", "--queries", "sex * citizenship"]].concat();
    let refused = refusal(folder.path(), &area);
    let needed = "--queries: the noisy counts do not determine \"sex * citizenship\" of the area \"Two\"";
    assert!(refused.contains(needed) && !folder.path().join("area").exists(), "{refused}");
    done(
        folder.path(),
        &[&ESTIMATE[..], &["--out", "area", "--areas", "areas.csv", "--queries", "age * sex"]].concat(),
    );
    // Regions keep all attributes together.
    done(
        folder.path(),
        &[&ESTIMATE[..], &["--out", "regions", "--queries", "sex * citizenship", "--level", "region"]].concat(),
    );
}

/// A folder with blocks, a spine of six levels, counts, and a release that measures one query at each level.
fn bureau_folder(levels: [(&str, &str); 6]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let blocks: Vec<String> = (0..16)
        .map(|at| format!("4400{}0001{:02}{}00{}", 1 + at / 8 * 2, 1 + at / 4 % 2, 1 + at / 2 % 2, at % 2))
        .collect();
    let mut text =
        "name = \"made\"\ntitle = \"t\"\nsource = \"made up for a test\"\nneighbors = \"add-remove\"\nrho = \"2\"\n\
                    attribute = [{ name = \"age\", size = 2 }, { name = \"race\", size = 3 }]\n\
                    recode = [{ name = \"some\", attribute = \"race\", groups = [[\"0\"], [\"1\", \"2\"]] }]\n"
            .to_string();
    for (level, query) in levels {
        text += &format!(
            "[[level]]\nname = \"{level}\"\nproportion = \"1/6\"\n[[level.query]]\nname = \"{query}\"\nproportion = \"1\"\n"
        );
    }
    put("release.toml", &text);
    put("plan.toml", "settings = \"redistricting-units\"\nrelease = \"release.toml\"\n");
    put("blocks.csv", &format!("block\n{}\n", blocks.join("\n")));
    put("counts.csv", &format!("block,age,race,count\n{},0,1,7\n{},1,2,30\n", blocks[0], blocks[9]));
    done(folder.path(), &["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "spine"]);
    folder
}

/// Files in the Bureau's layout are estimated from the lowest level: what it does not determine is named with the draw.
#[test]
fn what_the_bureaus_layout_does_not_determine_is_named_with_the_draw() {
    let folder = bureau_folder([
        ("US", "detailed"),
        ("State", "detailed"),
        ("County", "detailed"),
        ("Tract", "age"),
        ("Block_Group", "age"),
        ("Block", "age"),
    ]);
    let files: Vec<&str> = MEASURE.iter().map(|word| if *word == "noisy" { "nmf" } else { word }).collect();
    let said = done(folder.path(), &[&files[..], &["--files", "nmf", "--insecure-seed", "3", "--json"]].concat());
    let answer: Value = serde_json::from_str(&said).unwrap();
    let of_files: Vec<&Value> =
        answer["undetermined"].as_array().unwrap().iter().filter(|open| open["files"] == "nmf").collect();
    assert!(of_files.len() == 1 && of_files[0]["query"] == "detailed", "{answer}");
    let nmf = ["nmf", "estimate", "nmf", "--release", "release.toml", "--level", "County", "--out", "nmf.csv"];
    let refused = refusal(folder.path(), &[&nmf[..], &["--queries", "detailed"]].concat());
    assert!(refused.contains("Block"), "{refused}");
    done(folder.path(), &[&nmf[..], &["--queries", "age"]].concat());
}

/// The variances of estimates follow from the design alone: from the files of `measure`, and from noisy measurement files
/// of levels of which some do not measure single cells.
#[test]
fn noisy_measurement_files_of_levels_without_cells_have_the_same_variances() {
    let folder = bureau_folder([
        ("US", "detailed"),
        ("State", "detailed"),
        ("County", "age"),
        ("Tract", "some"),
        ("Block_Group", "detailed"),
        ("Block", "detailed"),
    ]);
    done(folder.path(), &[&MEASURE[..], &["--insecure-seed", "2"]].concat());
    let files: Vec<&str> = MEASURE.iter().map(|word| if *word == "noisy" { "nmf" } else { word }).collect();
    done(folder.path(), &[&files[..], &["--files", "nmf", "--insecure-seed", "3"]].concat());
    let asks = ["--queries", "some * age", "--level", "State", "County", "Tract", "Block"];
    done(folder.path(), &[&ESTIMATE[..], &asks, &["--out", "best"]].concat());
    let nmf = ["nmf", "estimate", "nmf", "--release", "release.toml", "--out", "nmf.csv"];
    done(folder.path(), &[&nmf[..], &asks].concat());
    let variances = |name: &str| -> Vec<f64> {
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        let at = text.lines().next().unwrap().split(',').position(|name| name == "variance").unwrap();
        let mut all: Vec<f64> =
            text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect();
        all.sort_unstable_by(f64::total_cmp);
        all
    };
    let (own, other) = (variances("best/estimates.csv"), variances("nmf.csv"));
    assert_eq!((own.len(), other.len()), (4 * (1 + 2 + 4 + 16), 4 * (1 + 2 + 4 + 16)));
    assert!(own.iter().zip(&other).all(|(own, other)| (own / other - 1.0).abs() < 1e-6), "{own:?} {other:?}");
}

/// The names of the queries over a (2 values), b (3 values) and two recodes of b.
const QUERIES: [&str; 9] = ["total", "a", "b", "low", "high", "a * low", "high * a", "detailed", "b * a"];

/// A random design: a release of six levels, each with up to three queries; every cell is measured by few levels or none.
fn drawn_release(numbers: &mut Numbers) -> Release {
    let mut text =
        "name = \"drawn\"\ntitle = \"t\"\nsource = \"made up for a test\"\nneighbors = \"add-remove\"\nrho = \"1/8\"\n\
                    attribute = [{ name = \"a\", size = 2 }, { name = \"b\", size = 3 }]\n\
                    recode = [{ name = \"low\", attribute = \"b\", groups = [[\"0\"], [\"1\", \"2\"]] },\n\
                    { name = \"high\", attribute = \"b\", groups = [[\"0\", \"1\"], [\"2\"]] }]\n"
            .to_string();
    let shares: Vec<u64> = (0..6).map(|_| 1 + numbers.below(3)).collect();
    for (level, share) in shares.iter().enumerate() {
        text += &format!("[[level]]\nname = \"L{level}\"\nproportion = \"{share}/{}\"\n", shares.iter().sum::<u64>());
        let mut names: Vec<&str> = (0..=numbers.below(3)).map(|_| QUERIES[numbers.below(8) as usize]).collect();
        names.sort_unstable();
        names.dedup();
        for name in &names {
            text += &format!("[[level.query]]\nname = \"{name}\"\nproportion = \"1/{}\"\n", names.len());
        }
    }
    Release::parse(&text, "drawn.toml").unwrap()
}

/// The normal equations of all cells of all blocks, and the noisy counts that they are of.
struct Dense {
    matrix: Vec<Vec<Rational>>,
    right: Vec<Rational>,
    noisy: Vec<Vec<Vec<f64>>>,
}

/// Counts of up to 30 in each cell, with noise of a few.
fn dense(plan: &MeasurementPlan, cells: usize, numbers: &mut Numbers) -> Dense {
    let (spine, tree) = (plan.spine(), &plan.spine().tree);
    let n = tree.order().len() * cells;
    let truth: Vec<i64> = (0..n).map(|_| numbers.below(30) as i64).collect();
    let mut dense = Dense { matrix: vec![vec![Rational::new(); n]; n], right: vec![Rational::new(); n], noisy: vec![] };
    for (level, queries) in plan.levels().iter().enumerate() {
        let mut of_level = Vec::new();
        for query in queries {
            let counts = query.group.counts();
            let mut values = vec![f64::NAN; tree.units(level) * counts];
            for unit in 0..tree.units(level) {
                let Some(law) = query.law(spine.carried(level, unit)) else { continue };
                let w = numbered(law).recip();
                for count in 0..counts {
                    let own: Vec<usize> = (tree.blocks(level, unit))
                        .flat_map(|place| (0..cells).map(move |cell| place * cells + cell))
                        .filter(|at| query.group.cell_of[at % cells] as usize == count)
                        .collect();
                    let value = own.iter().map(|at| truth[*at]).sum::<i64>() + numbers.below(9) as i64 - 4;
                    values[unit * counts + count] = value as f64;
                    for at in &own {
                        dense.right[*at] += Rational::from(&w * value);
                        own.iter().for_each(|other| dense.matrix[*at][*other] += &w);
                    }
                }
            }
            of_level.push(values);
        }
        dense.noisy.push(of_level);
    }
    dense
}

/// A sum of cells of blocks in the dense problem: its estimate and its variance; `None` if it is not determined.
type Solved = Option<(Rational, Rational)>;

impl Dense {
    /// Solves N x = q for each q, by elimination with exchanges of rows: x'b is the estimate of q and x'q its variance.
    fn solved(&self, sums: &[Vec<Rational>]) -> Vec<Solved> {
        let n = self.right.len();
        let mut rows: Vec<Vec<Rational>> = self.matrix.clone();
        for (at, row) in rows.iter_mut().enumerate() {
            row.extend(sums.iter().map(|sum| sum[at].clone()));
        }
        let mut pivots = Vec::new();
        for column in 0..n {
            let Some(found) = (pivots.len()..n).find(|row| rows[*row][column] != 0) else { continue };
            rows.swap(pivots.len(), found);
            let scale = rows[pivots.len()][column].clone();
            rows[pivots.len()].iter_mut().skip(column).filter(|entry| **entry != 0).for_each(|entry| *entry /= &scale);
            let pivot = rows[pivots.len()].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(at, row)| *at != pivots.len() && row[column] != 0) {
                let factor = row[column].clone();
                let entries = row.iter_mut().zip(&pivot).skip(column).filter(|(_, pivot)| **pivot != 0);
                entries.for_each(|(entry, pivot)| *entry -= Rational::from(&factor * pivot));
            }
            pivots.push(column);
        }
        let of = |(k, sum): (usize, &Vec<Rational>)| {
            let is_determined = rows[pivots.len()..].iter().all(|row| row[n + k] == 0);
            let product = |with: &[Rational]| {
                let terms =
                    pivots.iter().enumerate().map(|(row, column)| Rational::from(&rows[row][n + k] * &with[*column]));
                terms.fold(Rational::new(), |all, term| all + term)
            };
            is_determined.then(|| (product(&self.right), product(sum)))
        };
        sums.iter().enumerate().map(of).collect()
    }
}

fn assert_near(answer: &Answer, count: usize, (estimate, variance): &(Rational, Rational), what: &str) {
    let (estimate, variance) = (estimate.to_f64(), variance.to_f64());
    let (own, own_variance) = (answer.estimates[count], answer.variances[count]);
    assert!((own - estimate).abs() < 3e-6 * variance.sqrt() + 1e-9, "{what}: {own} {estimate} +- {}", variance.sqrt());
    assert!((own_variance / variance - 1.0).abs() < 1e-6, "{what}: {own_variance} {variance}");
}

/// 200 random designs: which requests are determined, every estimate, every variance, the certified variances of totals, and
/// sums over areas, against dense least squares in exact fractions.
#[test]
fn random_designs_agree_with_dense_least_squares_in_exact_fractions() {
    let folder = tempfile::tempdir().unwrap();
    let found: Vec<[usize; 3]> = std::thread::scope(|scope| {
        let part = |part: u64| {
            let path = folder.path().join(format!("areas-{part}.csv"));
            (0..50).map(|round| compare(1000 * part + round, &path)).collect::<Vec<_>>()
        };
        let parts: Vec<_> = (0..4).map(|number| scope.spawn(move || part(number))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    let sum = |at: usize| found.iter().map(|own| own[at]).sum::<usize>();
    let [open, answered, areas] = [sum(0), sum(1), sum(2)];
    assert!(found.len() == 200 && open > 100 && answered > 1000 && areas > 60, "{open} {answered} {areas}");
}

/// Compares a random design; the numbers of open requests, of compared counts and of compared areas.
fn compare(seed: u64, path: &Path) -> [usize; 3] {
    let mut numbers = Numbers(seed);
    let tree = small_tree(&mut numbers, 4);
    let release = drawn_release(&mut numbers);
    let schema = release.schema.clone().unwrap();
    let shares: Vec<Rational> = release.levels.iter().map(|level| Rational::from(&level.rho / &release.rho)).collect();
    let spine = Spine::new(tree, shares, Privacy::Concentrated).unwrap();
    let names: Vec<String> = release.levels.iter().map(|level| level.name.clone()).collect();
    let blocks: Vec<u64> = (0..spine.tree.order().len() as u64).map(|place| 440_010_301_001_000 + place).collect();
    let ids = UnitIds::Census(Geoids::of_tree(&spine.tree, &names, blocks.clone()));
    let saved = SavedSpine { names, spine, ids, privacy: Privacy::Concentrated, folder: PathBuf::new() };
    let (plan, tree) = (MeasurementPlan::of_release(&saved.spine, &release).unwrap(), &saved.spine.tree);
    let (cells, n) = (schema.cells(), blocks.len() * schema.cells());
    let dense = dense(&plan, cells, &mut numbers);
    // All counts of the requests, as sums of cells.
    let queries: Vec<&str> = (0..3).map(|_| QUERIES[numbers.below(9) as usize]).chain(["total"]).collect();
    let levels = [numbers.below(6) as usize, 5];
    let mut requests: Vec<(usize, String)> = Vec::new();
    for (level, query) in levels.iter().flat_map(|level| queries.iter().map(move |query| (*level, query.to_string()))) {
        if !requests.contains(&(level, query.clone())) {
            requests.push((level, query));
        }
    }
    let area: Vec<bool> = blocks.iter().map(|_| numbers.below(2) == 0).collect();
    let sum_of = |inside: &dyn Fn(usize) -> bool, query: &str, count: usize| -> Vec<Rational> {
        let group = schema.group(query).unwrap();
        let cell = |at: usize| inside(at / cells) && group.cell_of[at % cells] as usize == count;
        (0..n).map(|at| Rational::from(u32::from(cell(at)))).collect()
    };
    let counts = |query: &str| schema.group(query).unwrap().counts();
    let (mut sums, mut keys) = (Vec::new(), Vec::new());
    for (level, query) in &requests {
        for unit in 0..tree.units(*level) {
            let inside = |place: usize| tree.blocks(*level, unit).contains(&place);
            for count in 0..counts(query) {
                sums.push(sum_of(&inside, query, count));
                keys.push((*level, query.clone(), unit, count));
            }
        }
    }
    let area_query = requests[0].1.clone();
    (0..counts(&area_query)).for_each(|count| sums.push(sum_of(&|place| area[place], &area_query, count)));
    let mut solved = dense.solved(&sums);
    let of_area = solved.split_off(keys.len());
    let truth: HashMap<_, Solved> = keys.into_iter().zip(solved).collect();
    // The rank.
    let open = Design::of_plan(&plan, &schema).undetermined(&requests).unwrap();
    for (level, query) in &requests {
        let is_open =
            |unit: usize| (0..counts(query)).any(|count| truth[&(*level, query.clone(), unit, count)].is_none());
        let units = (0..tree.units(*level)).filter(|unit| is_open(*unit)).count();
        let found = open.iter().find(|open| (open.level, &open.query) == (*level, query));
        assert_eq!(found.map_or(0, |open| open.units), units, "{seed}: {query} at {level}");
    }
    // The estimates.
    let mut compared = 0;
    for (level, query) in
        requests.iter().filter(|(level, query)| !open.iter().any(|own| (own.level, &own.query) == (*level, query)))
    {
        let asked = Asked { queries: vec![query.clone()], levels: vec![*level], ..Asked::default() };
        let survey = SpineSurvey::new(&plan, &saved, &schema, &dense.noisy, &asked).unwrap();
        let run = survey.run(&mut |subject, answers| {
            let Subject::Unit { code, .. } = subject else { panic!("an area") };
            let unit: usize = code.parse().unwrap();
            // The answer has the order of the name: `b * a` has b outside.
            let order = |count: usize| match query.as_str() {
                "b * a" => count % 2 * 3 + count / 2,
                "high * a" => count % 2 * 2 + count / 2,
                _ => count,
            };
            for count in 0..counts(query) {
                let truth = truth[&(*level, query.clone(), unit, order(count))].as_ref().unwrap();
                assert_near(&answers[0], count, truth, &format!("{seed}: {query} {count} of {unit} at {level}"));
                compared += 1;
            }
            Ok(())
        });
        run.unwrap();
    }
    // The certified variances of totals, exactly, and the totals beside whole counts.
    let totals = TotalVariances::<Rational>::new(&plan, &schema).unwrap();
    let estimates = Estimates::of_noisy(&plan, &saved, &schema, dense.noisy.clone(), None).unwrap();
    for unit in 0..tree.units(5) {
        let (estimate, variance) = truth[&(5, "total".to_string(), unit, 0)].as_ref().unwrap();
        assert_eq!(totals.unit(5, unit), variance, "{seed}");
        assert!((estimates.totals_approx[5][unit] - estimate.to_f64()).abs() < 1e-5, "{seed}");
    }
    let cells_open = Design::of_plan(&plan, &schema).undetermined(&[(5, "detailed".to_string())]).unwrap();
    assert_eq!(estimates.whole.counts().is_some(), cells_open.is_empty(), "{seed}");
    [open.len(), compared, compare_area(path, (&plan, &saved, &schema), &dense.noisy, (&area, &area_query), &of_area)]
}

/// Compares the sum over an area of some of the blocks, if it has any.
fn compare_area(
    path: &Path,
    (plan, saved, schema): (&MeasurementPlan, &SavedSpine, &Schema),
    noisy: &Vec<Vec<Vec<f64>>>,
    (area, query): (&[bool], &str),
    truth: &[Solved],
) -> usize {
    let own = area.iter().enumerate().filter(|(_, inside)| **inside);
    let rows: String = own.map(|(place, _)| format!("A,{}\n", 440_010_301_001_000 + place as u64)).collect();
    if rows.is_empty() || ["b * a", "high * a"].contains(&query) {
        return 0;
    }
    fs::write(path, format!("area,block\n{rows}")).unwrap();
    let areas = Some(SpineAreas::read(path, saved).unwrap());
    let asked = Asked { queries: vec![query.to_string()], areas, ..Asked::default() };
    let survey = SpineSurvey::new(plan, saved, schema, noisy, &asked).unwrap();
    let mut compared = 0;
    let run = survey.run(&mut |_, answers| {
        for (count, truth) in truth.iter().enumerate() {
            assert_near(&answers[0], count, truth.as_ref().expect("an answer"), "an area");
        }
        compared = 1;
        Ok(())
    });
    match truth.iter().all(Option::is_some) {
        true => run.unwrap(),
        false => assert!(run.unwrap_err().to_string().contains("do not determine")),
    }
    compared
}
