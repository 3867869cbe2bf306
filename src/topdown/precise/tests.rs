//! Random trees with noise of very different sizes, against dense normal equations in 1200 bits.

use std::collections::{BTreeMap, HashMap};

use rug::Float;

use super::{
    EXACT, Need, is_exact, need,
    survey::{Answered, Source, Subject, Survey},
};
use crate::{
    error::Result,
    numbers::Numbers,
    spine::hierarchy::Tree,
    topdown::gls::{areas::LeafShare, basis::Part},
};

const ORACLE: u32 = 1200;

/// A random problem.
struct Case {
    sizes: [usize; 2],
    tree: Tree,
    levels: Vec<Vec<Vec<Part>>>,
    /// By level: the variances of its queries.
    variances: Vec<Vec<Float>>,
    /// By level and unit.
    counts: Vec<Vec<Option<Vec<f64>>>>,
    in_area: BTreeMap<usize, Vec<LeafShare>>,
}

impl Source for Case {
    fn kind(&self, level: usize, unit: usize) -> Option<usize> {
        self.counts[level][unit].as_ref().map(|_| 0)
    }

    fn variances(&self, level: usize, _: usize) -> &[Float] {
        &self.variances[level]
    }

    fn counts(&self, level: usize, unit: usize) -> Vec<f64> {
        self.counts[level][unit].clone().unwrap_or_default()
    }

    fn name(&self, level: usize, unit: usize) -> String {
        format!("unit {unit} of level {level}")
    }
}

fn count_of(sizes: [usize; 2], parts: &[Part], cell: usize) -> usize {
    let values = [cell / sizes[1], cell % sizes[1]];
    parts
        .iter()
        .zip(sizes)
        .zip(values)
        .fold(0, |count, ((part, size), value)| count * part.groups(size) + part.group_of(value))
}

fn counts_in(sizes: [usize; 2], parts: &[Part]) -> usize {
    parts.iter().zip(sizes).map(|(part, size)| part.groups(size)).product()
}

/// The possible queries besides the one for every cell.
fn queries(nested: bool) -> ([usize; 2], Vec<Vec<Part>>) {
    if nested {
        let fine = Part::Groups(vec![0, 1, 2, 3, 3]);
        let halves = Part::Groups(vec![0, 0, 1, 1, 1]);
        return ([5, 2], vec![vec![halves, Part::Whole], vec![fine, Part::Total], vec![Part::Total, Part::Whole]]);
    }
    let (recode, other) = (Part::Groups(vec![0, 1, 1, 0]), Part::Groups(vec![0, 0, 1]));
    let all = vec![
        vec![Part::Total, Part::Total],
        vec![recode.clone(), Part::Total],
        vec![recode.clone(), Part::Whole],
        vec![recode, other],
        vec![Part::Whole, Part::Total],
    ];
    ([4, 3], all)
}

fn whole() -> Vec<Part> {
    vec![Part::Whole, Part::Whole]
}

fn case(seed: u64) -> Case {
    let mut numbers = Numbers(seed);
    let (sizes, asked) = queries(seed % 2 == 1);
    let (mut starts, mut units): (Vec<Vec<u32>>, usize) = (Vec::new(), 1);
    for _ in 0..2 {
        let mut ends = vec![0];
        (0..units).for_each(|_| ends.push(ends[ends.len() - 1] + 1 + numbers.below(2) as u32));
        units = ends[ends.len() - 1] as usize;
        starts.push(ends);
    }
    let tree = Tree::from_parts(starts, (0..units as u32).collect());
    let mut levels = Vec::new();
    for _ in 0..3 {
        let mut own: Vec<Vec<Part>> = asked.iter().filter(|_| numbers.below(2) == 1).cloned().collect();
        own.push(whole());
        levels.push(own);
    }
    // The variances of discrete Gaussians with sigma2 from 0.01 to 10^6, and some in between.
    let sizes_of_noise = [3.9e-22, 2.2e-16, 1.3e-7, 1e-3, 1.7, 60.5, 1e6];
    let variance = |numbers: &mut Numbers| Float::with_val(200, sizes_of_noise[numbers.below(7) as usize]);
    let variances: Vec<Vec<Float>> =
        levels.iter().map(|own| own.iter().map(|_| variance(&mut numbers)).collect()).collect();
    let cells = sizes[0] * sizes[1];
    let truth: Vec<Vec<i64>> = (0..units).map(|_| (0..cells).map(|_| numbers.below(90) as i64).collect()).collect();
    let mut counts = vec![Vec::new(); 3];
    for level in 0..3 {
        for unit in 0..tree.units(level) {
            let below = if level == 2 { unit..unit + 1 } else { tree.blocks(level, unit) };
            let mut own = Vec::new();
            for (parts, variance) in levels[level].iter().zip(&variances[level]) {
                let mut sums = vec![0_i64; counts_in(sizes, parts)];
                for leaf in below.clone() {
                    (0..cells).for_each(|cell| sums[count_of(sizes, parts, cell)] += truth[leaf][cell]);
                }
                let reach = variance.to_f64().sqrt() * 2.0;
                own.extend(sums.into_iter().map(|sum| {
                    let noise = (reach * (numbers.below(2001) as f64 / 1000.0 - 1.0)).round();
                    sum as f64 + noise
                }));
            }
            // A unit of the middle level may have no counts.
            counts[level].push((level != 1 || numbers.below(3) > 0).then_some(own));
        }
    }
    let share = |leaf: usize| vec![LeafShare { area: 7, weight: [1.0, 1.0, 0.3][leaf % 3] }];
    let in_area = (0..units).filter(|_| numbers.below(2) == 1).map(|leaf| (leaf, share(leaf))).collect();
    Case { sizes, tree, levels, variances, counts, in_area }
}

/// The estimates of all cells of all leaves and their covariances.
struct Dense {
    cells: usize,
    estimates: Vec<Float>,
    covariances: Vec<Vec<Float>>,
}

fn dense(case: &Case) -> Dense {
    let cells = case.sizes[0] * case.sizes[1];
    let size = case.tree.units(2) * cells;
    let zero = || Float::with_val(ORACLE, 0);
    let mut rows: Vec<Vec<Float>> = (0..size)
        .map(|row| (0..=2 * size).map(|column| if column == size + 1 + row { zero() + 1 } else { zero() }).collect())
        .collect();
    for level in 0..3 {
        for (unit, counts) in case.counts[level].iter().enumerate() {
            let Some(counts) = counts else { continue };
            let below = if level == 2 { unit..unit + 1 } else { case.tree.blocks(level, unit) };
            let mut start = 0;
            for (parts, variance) in case.levels[level].iter().zip(&case.variances[level]) {
                let weight = Float::with_val(ORACLE, variance).recip();
                for count in 0..counts_in(case.sizes, parts) {
                    let of_leaf = |leaf: usize| {
                        let own = (0..cells).filter(move |cell| count_of(case.sizes, parts, *cell) == count);
                        own.map(move |cell| leaf * cells + cell)
                    };
                    let places: Vec<usize> = below.clone().flat_map(of_leaf).collect();
                    for row in &places {
                        places.iter().for_each(|column| rows[*row][*column] += &weight);
                        rows[*row][size] += Float::with_val(ORACLE, &weight * counts[start + count]);
                    }
                }
                start += counts_in(case.sizes, parts);
            }
        }
    }
    for pivot in 0..size {
        let scale = Float::with_val(ORACLE, rows[pivot][pivot].recip_ref());
        rows[pivot].iter_mut().for_each(|entry| *entry *= &scale);
        let own = rows[pivot].clone();
        for row in (0..size).filter(|row| *row != pivot) {
            let factor = rows[row][pivot].clone();
            if !factor.is_zero() {
                let entries = rows[row].iter_mut().zip(&own).filter(|(_, own)| !own.is_zero());
                entries.for_each(|(entry, own)| *entry -= Float::with_val(ORACLE, &factor * own));
            }
        }
    }
    let estimates = rows.iter().map(|row| row[size].clone()).collect();
    Dense { cells, estimates, covariances: rows.into_iter().map(|row| row[size + 1..].to_vec()).collect() }
}

impl Dense {
    fn sum(&self, leaves: &[(usize, f64)], cells: &[usize]) -> (Float, Float) {
        let places: Vec<(usize, f64)> = leaves
            .iter()
            .flat_map(|(leaf, weight)| cells.iter().map(move |cell| (leaf * self.cells + cell, *weight)))
            .collect();
        let mut sums = (Float::with_val(ORACLE, 0), Float::with_val(ORACLE, 0));
        for (row, own) in &places {
            sums.0 += Float::with_val(ORACLE, &self.estimates[*row] * own);
            for (column, other) in &places {
                sums.1 += Float::with_val(ORACLE, &self.covariances[*row][*column] * own) * other;
            }
        }
        sums
    }
}

/// Compares answers with dense ones. Returns the number of answers, and of those without error.
fn assert_alike(
    case: &Case,
    exact: &Dense,
    answers: &[Vec<Part>],
    leaves: &[(usize, f64)],
    answered: &Answered,
) -> (usize, usize) {
    let mut seen = (0, 0);
    for (parts, (estimates, variances)) in answers.iter().zip(answered) {
        for (count, (estimate, variance)) in estimates.iter().zip(variances).enumerate() {
            let cells: Vec<usize> =
                (0..exact.cells).filter(|cell| count_of(case.sizes, parts, *cell) == count).collect();
            let (expected, expected_variance) = exact.sum(leaves, &cells);
            let deviation = Float::with_val(ORACLE, expected_variance.sqrt_ref()).to_f64();
            let error = (Float::with_val(ORACLE, *estimate) - &expected).abs().to_f64();
            // A double differs from the exact value by up to half of its last digit; treating noise as zero moves an
            // answer by less than that noise.
            let allowed = 1e-6 * deviation + 1.2e-16 * expected.to_f64().abs() + 1e-9 * EXACT.sqrt();
            assert!(
                error <= allowed,
                "{parts:?} {count}: {estimate} for {expected}, off by {error:e} of {deviation:e}"
            );
            let expected_variance = expected_variance.to_f64();
            let near = (variance - expected_variance).abs() <= 1e-6 * expected_variance;
            assert!(
                near || (*variance == 0.0 && expected_variance < 100.0 * EXACT),
                "{parts:?} {count}: {variance:e} for {expected_variance:e}"
            );
            seen = (seen.0 + 1, seen.1 + usize::from(*variance == 0.0));
        }
    }
    seen
}

#[test]
fn noise_of_very_different_sizes_agrees_with_dense_algebra() {
    let (mut units, mut areas, mut exact_answers, mut all_answers) = (0, 0, 0, 0);
    for seed in 0..14 {
        let case = case(seed);
        let exact = dense(&case);
        let (_, mut answers) = queries(seed % 2 == 1);
        answers.push(whole());
        let survey = Survey::new(&case.sizes, &case.tree, &case.levels, &answers, &case).unwrap();
        for nothing in [BTreeMap::new(), case.in_area.clone()] {
            survey
                .run(&|_| nothing.is_empty(), &nothing, &mut |subject, answered| {
                    let leaves: Vec<(usize, f64)> = match subject {
                        Subject::Unit(2, unit) => vec![(unit, 1.0)],
                        Subject::Unit(level, unit) => case.tree.blocks(level, unit).map(|leaf| (leaf, 1.0)).collect(),
                        Subject::Area(_) => case.in_area.iter().map(|(leaf, own)| (*leaf, own[0].weight)).collect(),
                    };
                    *(if nothing.is_empty() { &mut units } else { &mut areas }) += 1;
                    let seen = assert_alike(&case, &exact, &answers, &leaves, &answered);
                    (all_answers, exact_answers) = (all_answers + seen.0, exact_answers + seen.1);
                    Ok(())
                })
                .unwrap();
        }
    }
    assert!(
        units > 60 && areas > 8 && exact_answers > 50 && all_answers > 2 * exact_answers,
        "{units} {areas} {exact_answers} {all_answers}"
    );
}

#[test]
fn a_unit_without_counts_gets_the_remainder_and_two_are_refused() {
    let tree = || Tree::from_parts(vec![vec![0, 3]], vec![0, 1, 2]);
    let run = |known: [bool; 3]| -> Result<HashMap<(usize, usize), (f64, f64)>> {
        let count = |there: bool, count: f64| there.then(|| vec![count]);
        let case = Case {
            sizes: [1, 1],
            tree: tree(),
            levels: vec![vec![whole()]; 2],
            variances: vec![vec![Float::with_val(200, 1e-16)], vec![Float::with_val(200, 4.0)]],
            counts: vec![
                vec![Some(vec![100.0])],
                vec![count(known[0], 20.0), count(known[1], 30.0), count(known[2], 41.0)],
            ],
            in_area: BTreeMap::new(),
        };
        let answers = [whole()];
        let survey = Survey::new(&case.sizes, &case.tree, &case.levels, &answers, &case)?;
        let mut found = HashMap::new();
        survey.run(&|_| true, &BTreeMap::new(), &mut |subject, answered| {
            if let Subject::Unit(level, unit) = subject {
                found.insert((level, unit), (answered[0].0[0], answered[0].1[0]));
            }
            Ok(())
        })?;
        Ok(found)
    };
    // The parent is known: the missing nine are shared out.
    let all = run([true; 3]).unwrap();
    assert_eq!(all[&(1, 0)].0, 23.0);
    let left = run([true, false, true]).unwrap();
    assert_eq!((left[&(1, 1)].0, left[&(1, 1)].1), (39.0, 8.0 + 1e-16));
    assert!(run([false, false, true]).unwrap_err().to_string().contains("cannot be separated"));
}

#[test]
fn counts_without_noise_that_contradict_each_other_are_refused() {
    let case = Case {
        sizes: [2, 1],
        tree: Tree::from_parts(vec![vec![0, 1]], vec![0]),
        levels: vec![vec![whole()]; 2],
        variances: vec![vec![Float::with_val(200, 1e-30)]; 2],
        counts: vec![vec![Some(vec![5.0, 6.0])], vec![Some(vec![5.0, 7.0])]],
        in_area: BTreeMap::new(),
    };
    let answers = [whole()];
    let survey = Survey::new(&case.sizes, &case.tree, &case.levels, &answers, &case).unwrap();
    let why = survey.run(&|_| true, &BTreeMap::new(), &mut |_, _| Ok(())).unwrap_err().to_string();
    assert!(why.contains("unit 0 of level 0") && why.contains("noise of both is far too small"), "{why}");
}

#[test]
fn long_numbers_are_used_where_doubles_lose_too_much() {
    let need_of =
        |variances: &[f64]| need(variances.iter().map(|own| Float::with_val(64, *own)).collect::<Vec<_>>().iter());
    assert_eq!(need_of(&[1.0, 9e3]), Need::No);
    assert_eq!(need_of(&[1.0, 2e4, 3.0]), Need::Better);
    assert_eq!(need_of(&[1.0, 2e8]), Need::Must);
    assert_eq!(need_of(&[1e-13]), Need::Must);
    assert!(is_exact(&Float::with_val(64, 4e-22)) && !is_exact(&Float::with_val(64, 2e-16)));
}
