//! A small product with the attributes, recodes and constraints of the DHC, compared with dense least squares over all its cells.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
};

use dp_assay::release::Release;

use crate::common::{
    estimates::{Row, rows},
    in_folder::{done, refused},
    small_dhc::{CELLS, FACILITIES, MARGINALS, Measured, QUERIES, TOTAL, UNITS, Unit, count_of, product, release},
};

/// Whether constraints make a cell of a block zero.
fn is_zero(block: usize, cell: usize) -> bool {
    let (relgq, age) = (cell / (2 * 7 * 3), cell / 3 % 7);
    let structural =
        [(0, [0, 1]), (1, [0, 1]), (4, [5, 6])].iter().any(|(own, ages)| *own == relgq && ages.contains(&age));
    structural || (relgq >= 3 && FACILITIES[block][relgq - 3] == 0)
}

/// The estimates of all free cells of all leaves (the units of the lowest level), and their covariance.
struct Dense {
    place: HashMap<(usize, usize), usize>,
    x: Vec<f64>,
    covariance: Vec<Vec<f64>>,
}

fn dense(measured: &[Measured], leaves: &[Unit], with_zeros: bool) -> Dense {
    let mut place = HashMap::new();
    for (leaf, (_, blocks)) in leaves.iter().enumerate() {
        let is_zero = |cell: usize| blocks.clone().all(|block| is_zero(block, cell));
        for cell in (0..CELLS).filter(|cell| !with_zeros || !is_zero(*cell)) {
            place.insert((leaf, cell), place.len());
        }
    }
    let n = place.len();
    let (mut normal, mut right) = (vec![vec![0.0; n]; n], vec![0.0; n]);
    // Units below the leaves are missing.
    let is_there = |own: &&Measured| own.blocks.len() >= leaves[0].1.len();
    for own in measured.iter().filter(is_there) {
        let weight = f64::from(own.variance).recip();
        let mut of_count: Vec<Vec<usize>> = vec![Vec::new(); own.counts.len()];
        for leaf in leaves_in(leaves, &own.blocks) {
            for cell in 0..CELLS {
                of_count[own.count_of[cell]].extend(place.get(&(leaf, cell)));
            }
        }
        for (places, value) in of_count.iter().zip(&own.counts) {
            for row in places {
                right[*row] += weight * f64::from(*value);
                places.iter().for_each(|column| normal[*row][*column] += weight);
            }
        }
    }
    let mut covariance = inverse(&normal);
    let apply = |matrix: &[Vec<f64>], x: &[f64]| -> Vec<f64> {
        matrix.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    };
    let mut x = apply(&covariance, &right);
    for _ in 0..2 {
        let rest: Vec<f64> = apply(&normal, &x).iter().zip(&right).map(|(a, b)| b - a).collect();
        x.iter_mut().zip(apply(&covariance, &rest)).for_each(|(x, step)| *x += step);
    }
    if with_zeros {
        // The exact total: an answer without noise.
        let column: Vec<f64> = covariance.iter().map(|row| row.iter().sum()).collect();
        let (variance, has): (f64, f64) = (column.iter().sum(), x.iter().sum());
        x.iter_mut().zip(&column).for_each(|(x, c)| *x += c * (TOTAL - has) / variance);
        for (row, c) in covariance.iter_mut().zip(&column) {
            row.iter_mut().zip(&column).for_each(|(entry, d)| *entry -= c * d / variance);
        }
    }
    Dense { place, x, covariance }
}

/// The leaves among some blocks.
fn leaves_in<'a>(leaves: &'a [Unit], blocks: &'a std::ops::Range<usize>) -> impl Iterator<Item = usize> + 'a {
    let inside = |(_, (_, own)): &(usize, &Unit)| blocks.start <= own.start && own.end <= blocks.end;
    leaves.iter().enumerate().filter(inside).map(|(leaf, _)| leaf)
}

/// The inverse by Cholesky factorization: L, its inverse, and their product.
fn inverse(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let mut lower = vec![vec![0.0; n]; n];
    for row in 0..n {
        for column in 0..=row {
            let (own, other) = (&lower[row][..column], &lower[column][..column]);
            let rest = matrix[row][column] - own.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
            lower[row][column] = if row == column { rest.sqrt() } else { rest / lower[column][column] };
        }
    }
    // The columns of the inverse of L, each from its diagonal on.
    let mut columns = vec![vec![0.0; n]; n];
    for (at, column) in columns.iter_mut().enumerate() {
        for row in at..n {
            let sum: f64 = lower[row][at..row].iter().zip(&column[at..row]).map(|(a, b)| a * b).sum();
            column[row] = (f64::from(u8::from(row == at)) - sum) / lower[row][row];
        }
    }
    let dot = |a: usize, b: usize| columns[a].iter().zip(&columns[b]).skip(a.max(b)).map(|(a, b)| a * b).sum::<f64>();
    (0..n).map(|a| (0..n).map(|b| dot(a, b)).collect()).collect()
}

/// The index of a cell in the order of the attributes, from its index in the order of the query's name.
fn stored_cell(name: &str, cell: usize) -> usize {
    let schema = Release::parse(&release(), "release.toml").unwrap().schema.unwrap();
    let of_part = |part: &str| {
        let whole = schema.attributes.iter().position(|attribute| attribute.name == part);
        let recode = schema.recodes.iter().find(|recode| recode.name == part);
        let size = |at: usize| schema.attributes[at].values.len();
        whole.map(|at| (at, size(at))).or(recode.map(|recode| (recode.attribute, recode.groups.len())))
    };
    let Some(parts) = name.split('*').map(|part| of_part(part.trim())).collect::<Option<Vec<_>>>() else { return cell };
    let (mut rest, mut values) = (cell, Vec::new());
    for (attribute, size) in parts.into_iter().rev() {
        values.push((attribute, size, rest % size));
        rest /= size;
    }
    values.sort_unstable();
    values.into_iter().fold(0, |stored, (_, size, value)| stored * size + value)
}

/// Estimates and variances by level, code, query and cell.
fn estimates(
    folder: &Path,
    constraints: &str,
    queries: &[&str],
) -> BTreeMap<(String, String, String, usize), (f64, f64)> {
    let estimate =
        ["nmf", "estimate", "product", "--release", "release.toml", "--constraints", constraints, "--despite-misfit"];
    // All available levels.
    let there = ["US", "State", "County", "Block"];
    let there = there.iter().filter(|level| folder.join(format!("product/{level}.parquet")).is_dir()).copied();
    let levels: Vec<&str> = ["--out", "out.csv", "--level"].into_iter().chain(there).chain(["--queries"]).collect();
    done(folder, &[&estimate[..], &levels, queries].concat());
    let text = fs::read_to_string(folder.join("out.csv")).unwrap();
    let row = |row: &Row| {
        let [level, code, query] = ["level", "geocode", "query"].map(|name| row.get(name).to_string());
        let cell = stored_cell(&query, row.cell());
        ((level, code, query, cell), (row.number("estimate"), row.number("variance")))
    };
    rows(&text).iter().map(row).collect()
}

type Found = BTreeMap<(String, String, String, usize), (f64, f64)>;

/// Compares estimates of units of some levels, the last of which has the leaves, with dense ones.
fn assert_like(found: &Found, dense: &Dense, (release, names): (&Release, &[&str]), levels: &[(&str, &[Unit])]) {
    let leaves = levels[levels.len() - 1].1;
    let (mut compared, mut worst) = (0, (0.0_f64, 0.0_f64));
    for (level, units) in levels {
        for (code, blocks) in *units {
            for name in names {
                let count_of = count_of(release, name);
                for count in 0..=*count_of.iter().max().unwrap() {
                    let cells = (0..CELLS).filter(|cell| count_of[*cell] == count);
                    let places: Vec<usize> = cells
                        .flat_map(|cell| leaves_in(leaves, blocks).map(move |leaf| (leaf, cell)))
                        .filter_map(|key| dense.place.get(&key).copied())
                        .collect();
                    let estimate: f64 = places.iter().map(|place| dense.x[*place]).sum();
                    let terms = places.iter().flat_map(|row| places.iter().map(|other| dense.covariance[*row][*other]));
                    let variance: f64 = terms.sum();
                    let key = (level.to_string(), (*code).to_string(), (*name).to_string(), count);
                    let (own, own_variance) = found[&key];
                    if variance < 1e-7 {
                        assert!(own_variance == 0.0 && (own - estimate).abs() < 1e-7, "{key:?}: {own} {own_variance}");
                    } else {
                        worst.0 = worst.0.max((own - estimate).abs() / variance.sqrt());
                        worst.1 = worst.1.max((own_variance / variance - 1.0).abs());
                    }
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} counts, at most {:.1e} deviations, {:.1e} of a variance", worst.0, worst.1);
    assert!(compared == found.len() && worst.0 < 1e-9 && worst.1 < 1e-9, "{worst:?}");
}

/// Estimates from a folder that only has some levels.
#[test]
fn a_folder_that_ends_above_blocks_is_estimated_from_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("release.toml"), release()).unwrap();
    let release = Release::find(at.join("release.toml").to_str().unwrap()).unwrap();
    let measured = product(&at.join("product"), &release);
    fs::remove_dir_all(at.join("product/Block.parquet")).unwrap();
    let all: Vec<&str> = QUERIES.iter().chain(&MARGINALS).copied().collect();
    for (constraints, with_zeros) in [("none", false), ("all", true)] {
        let found = estimates(at, constraints, &all);
        assert_like(&found, &dense(&measured, UNITS[2].1, with_zeros), (&release, &all), &UNITS[..3]);
    }
    let words = ["nmf", "estimate", "product", "--release", "release.toml", "--out", "all.csv", "--despite-misfit"];
    assert!(done(at, &words).contains("Not in the folder, and without a part in this: Block"));
    let text = fs::read_to_string(at.join("all.csv")).unwrap();
    assert!(text.lines().any(|line| line.starts_with("County,044100031,44003,,total,0,")), "{text}");
    fs::write(at.join("areas.csv"), "area,block\nx,440010001001001\n").unwrap();
    fs::write(at.join("truth.csv"), "block,relgq,sex,age,cenrace,count\n").unwrap();
    for (options, expected) in [
        (["--level", "Block"], "the level Block needs Block.parquet, and the folder has US, State, County"),
        (["--areas", "areas.csv"], "needs Block.parquet, and the folder has US, State, County"),
        (["--truth", "truth.csv"], "needs Block.parquet"),
    ] {
        refused(at, &[&words[..], &options].concat(), expected);
    }
}

#[test]
fn estimates_are_those_of_dense_least_squares_over_all_cells() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("release.toml"), release()).unwrap();
    let release = Release::find(at.join("release.toml").to_str().unwrap()).unwrap();
    let measured = product(&at.join("product"), &release);
    let all: Vec<&str> = QUERIES.iter().chain(&MARGINALS).copied().collect();
    for (constraints, with_zeros) in [("none", false), ("all", true)] {
        let found = estimates(at, constraints, &all);
        assert_like(&found, &dense(&measured, UNITS[3].1, with_zeros), (&release, &all), &UNITS);
        // A single query is answered from its own sectors: the same result.
        for name in ["total", "sex * cenrace", "gq_constr_groups * age_groups"] {
            for (key, (own, variance)) in estimates(at, constraints, &[name]) {
                let (both, both_variance) = found[&key];
                let tolerance = if both_variance == 0.0 { 1e-7 } else { 1e-9 * both_variance.sqrt() };
                assert!((own - both).abs() < tolerance, "{key:?}: {own} for {both}");
                assert!((variance - both_variance).abs() <= 1e-9 * both_variance, "{key:?}");
            }
        }
    }
}
