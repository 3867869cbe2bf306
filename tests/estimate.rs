//! Least squares over spines against dense matrices, in exact fractions; whole counts from the top down.

use dp_assay::{
    release::{Neighbors, schema::Schema},
    spine::{
        blocks::Blocks,
        bypass::{Privacy, Spine},
        hierarchy::Tree,
    },
    topdown::{
        estimate::{least_squares_approx, top_down},
        histograms::{Entry, Histograms},
        measure::MeasurementPlan,
        variance::Variances,
    },
};
use rug::Rational;

use crate::common::spines::{Numbers, dense_solve, numbered, release, small_tree};

/// Exact precisions of all units, some of them zero above the blocks.
fn precisions(tree: &Tree, numbers: &mut Numbers) -> Vec<Vec<Rational>> {
    let last = tree.levels() - 1;
    let mut draw = |level: usize| {
        if level < last && numbers.below(4) == 0 { 0 } else { 1 + numbers.below(9) }
    };
    (0..=last)
        .map(|level| (0..tree.units(level)).map(|_| Rational::from((draw(level), 1 + level as u64))).collect())
        .collect()
}

/// The precision matrix of all blocks: the sum of w 1 1' over the units.
fn precision_matrix(tree: &Tree, precisions: &[Vec<Rational>]) -> Vec<Vec<Rational>> {
    let blocks = tree.order().len();
    let mut matrix = vec![vec![Rational::new(); blocks]; blocks];
    for (level, precisions) in precisions.iter().enumerate() {
        for (unit, w) in precisions.iter().enumerate() {
            for row in tree.blocks(level, unit) {
                tree.blocks(level, unit).for_each(|column| matrix[row][column] += w);
            }
        }
    }
    matrix
}

#[test]
fn variances_are_those_of_dense_matrices_exactly_and_estimates_nearly() {
    let mut numbers = Numbers(31);
    for _ in 0..40 {
        let tree = small_tree(&mut numbers, 7);
        let precisions = precisions(&tree, &mut numbers);
        let matrix = precision_matrix(&tree, &precisions);
        let blocks = tree.order().len();
        let positive = |level: usize, unit: u32| Some(precisions[level][unit as usize].clone()).filter(|w| *w > 0);
        let variances = Variances::new(&tree, |_, unit| unit as u32, positive).unwrap();
        let dense = |inside: &[u32]| {
            let query: Vec<Rational> =
                (0..blocks as u32).map(|place| Rational::from(u32::from(inside.contains(&place)))).collect();
            let solved = dense_solve(&matrix, &query);
            query.iter().zip(&solved).fold(Rational::new(), |sum, (q, x)| sum + Rational::from(q * x))
        };
        for level in 0..tree.levels() {
            for unit in 0..tree.units(level) {
                let places: Vec<u32> = tree.blocks(level, unit).map(|place| place as u32).collect();
                let truth = dense(&places);
                assert_eq!(*variances.unit(level, unit), truth, "level {level}, unit {unit}");
                assert_eq!(variances.blocks(&tree, &places), truth);
            }
            let counted: u64 = variances.of_level(level).iter().map(|(_, units)| units).sum();
            assert_eq!(counted, tree.units(level) as u64);
        }
        for bits in 1..1_u32 << blocks {
            let places: Vec<u32> = (0..blocks as u32).filter(|place| bits >> place & 1 == 1).collect();
            if bits % 5 == 1 {
                assert_eq!(variances.blocks(&tree, &places), dense(&places), "{places:?}");
            }
        }
        // The estimates: the normal equations.
        let measured: Vec<Vec<f64>> =
            precisions.iter().map(|level| level.iter().map(|_| numbers.below(1000) as f64 - 200.0).collect()).collect();
        let mut right = vec![Rational::new(); blocks];
        for (level, precisions) in precisions.iter().enumerate() {
            for (unit, w) in precisions.iter().enumerate() {
                let z = Rational::from(measured[level][unit] as i64);
                tree.blocks(level, unit).for_each(|place| right[place] += Rational::from(w * &z));
            }
        }
        let solved = dense_solve(&matrix, &right);
        let doubles = |level: usize, unit: usize| precisions[level][unit].to_f64();
        let estimates = least_squares_approx(&tree, 1, doubles, &measured).unwrap();
        for (level, estimates) in estimates.iter().enumerate() {
            for (unit, estimate) in estimates.iter().enumerate() {
                let truth: f64 = tree.blocks(level, unit).map(|place| solved[place].to_f64()).sum();
                assert!((estimate - truth).abs() < 1e-8, "{level} {unit}: {estimate} {truth}");
            }
        }
    }
}

/// Units with equal subtrees share a computation: the fractions are the same without sharing.
#[test]
fn like_subtrees_have_the_variances_of_their_own() {
    let geoids = (0..54_u64)
        .map(|k| 10_u64.pow(13) + k % 2 * 10_u64.pow(10) + k / 2 % 3 * 10_000 + 1000 + k / 6 % 3 * 1000 + k / 18);
    // Two counties of three tracts of three groups of three blocks, from which some blocks are removed.
    for missing in [vec![], vec![5], vec![0, 1, 7, 8, 30, 31, 32]] {
        let kept: Vec<u64> =
            geoids.clone().enumerate().filter(|(k, _)| !missing.contains(k)).map(|(_, geoid)| geoid).collect();
        let tree = Tree::census(&Blocks::from_geoids(kept).unwrap());
        let share = |level: usize| Rational::from([3, 1, 4, 1, 5, 9][level]);
        let shared = Variances::new(&tree, |_, _| 0, |level, _| Some(share(level))).unwrap();
        let apart = Variances::new(&tree, |_, unit| unit as u32, |level, _| Some(share(level))).unwrap();
        for level in 0..tree.levels() {
            for unit in 0..tree.units(level) {
                assert_eq!(shared.unit(level, unit), apart.unit(level, unit));
            }
        }
        let places: Vec<u32> = (0..tree.order().len() as u32).filter(|place| place % 3 != 1).collect();
        assert_eq!(shared.blocks(&tree, &places), apart.blocks(&tree, &places));
        assert!(!missing.is_empty() || shared.of_level(5).len() == 1);
    }
}

#[test]
fn one_block_without_a_measurement_gets_what_is_left_and_two_are_refused() {
    let geoids = [1000, 1001, 1002].map(|block| 440_010_301_000_000 + block).to_vec();
    let tree = Tree::census(&Blocks::from_geoids(geoids).unwrap());
    // The block group (level 4) has variance 2, blocks 1, 1 and none.
    let measured = vec![vec![0.0], vec![0.0], vec![0.0], vec![0.0], vec![10.0], vec![3.0, 4.0, 99.0]];
    let precision = |open: usize| {
        move |level: usize, unit: usize| match level {
            4 => 0.5,
            5 if unit < 3 - open => 1.0,
            _ => 0.0,
        }
    };
    let estimates = least_squares_approx(&tree, 1, precision(1), &measured).unwrap();
    assert_eq!((&estimates[5], &estimates[0]), (&vec![3.0, 4.0, 3.0], &vec![10.0]));
    let exact = |open: usize| {
        let value = precision(open);
        Variances::new(
            &tree,
            |_, unit| unit as u32,
            move |level, unit| Some(value(level, unit as usize)).filter(|w| *w > 0.0),
        )
    };
    let variances = exact(1).unwrap();
    assert_eq!([0, 1, 2].map(|unit| *variances.unit(5, unit)), [1.0, 1.0, 4.0]);
    assert_eq!(*variances.unit(4, 0), 2.0);
    // Variances of the sum of a measured and the unmeasured block, and of all.
    assert_eq!(variances.blocks(&tree, &[0, 2]), 3.0);
    assert_eq!(variances.blocks(&tree, &[0, 1, 2]), 2.0);
    assert_eq!(variances.blocks(&tree, &[]), 0.0);
    for wrong in [least_squares_approx(&tree, 1, precision(2), &measured).err(), exact(2).err()] {
        assert!(wrong.unwrap().to_string().contains("level 5"));
    }
    assert!(least_squares_approx(&tree, 1, |level, _| f64::from(u8::from(level == 5)), &measured[1..]).is_err());
    assert!(least_squares_approx(&tree, 1, |_, _| 0.0, &measured).is_err());
}

#[test]
fn integers_from_the_top_down_are_whole_non_negative_and_add_up() {
    let mut numbers = Numbers(53);
    for cells in [1, 3] {
        for _ in 0..30 {
            let tree = small_tree(&mut numbers, 9);
            let estimates: Vec<Vec<f64>> = (0..tree.levels())
                .map(|level| {
                    (0..tree.units(level) * cells).map(|_| numbers.below(4000) as f64 / 100.0 - 12.0).collect()
                })
                .collect();
            let counts = top_down(&tree, cells, &estimates);
            let total: f64 = estimates[0].iter().sum();
            assert_eq!(counts[0].iter().sum::<i64>(), total.max(0.0).round() as i64);
            for level in 0..tree.levels() {
                assert!(counts[level].iter().all(|count| *count >= 0));
                for unit in 0..if level + 1 < tree.levels() { tree.units(level) } else { 0 } {
                    for cell in 0..cells {
                        let sum: i64 =
                            tree.children(level, unit).map(|child| counts[level + 1][child * cells + cell]).sum();
                        assert_eq!(sum, counts[level][unit * cells + cell]);
                    }
                }
            }
            // Consistent values stay unchanged.
            let whole: Vec<Vec<f64>> =
                counts.iter().map(|level| level.iter().map(|count| *count as f64).collect()).collect();
            assert_eq!(top_down(&tree, cells, &whole), counts);
        }
    }
}

/// Theorem 2 on trees of six levels, for all units and random sets of blocks, exactly: a bypass allowed by the rule increases no variance.
/// With Gaussian noise the unit's own variance increases for two children or more, and does not change for one.
#[test]
fn theorem_2_holds_on_deep_trees_and_zcdp_bypasses_only_children() {
    let mut numbers = Numbers(59);
    let (mut pays, mut costs) = (0, 0);
    for _ in 0..60 {
        let tree = small_tree(&mut numbers, 10);
        let shares: Vec<u64> = (0..6).map(|_| 1 + numbers.below(30)).collect();
        let of = |power: i32, bypassed: Option<(usize, usize)>| {
            let precision = |level: usize, unit: u32| {
                let mut share = Rational::from(shares[level]);
                if let Some((at, parent)) = bypassed {
                    if (level, unit as usize) == (at, parent) {
                        return None;
                    }
                    if level == at + 1 && tree.children(at, parent).contains(&(unit as usize)) {
                        share += shares[at];
                    }
                }
                Some(if power == 2 { share.square() } else { share })
            };
            Variances::new(&tree, |_, unit| unit as u32, precision).unwrap()
        };
        let sets: Vec<Vec<u32>> =
            (0..6).map(|_| (0..tree.order().len() as u32).filter(|_| numbers.below(2) == 0).collect()).collect();
        for level in 1..5 {
            let unit = numbers.below(tree.units(level) as u64) as usize;
            let c = tree.children(level, unit).len() as u64;
            // gamma[l + 1] >= (c - 1) gamma[l] / 2.
            let allowed = 2 * shares[level + 1] >= (c - 1) * shares[level];
            let (before, after) = (of(2, None), of(2, Some((level, unit))));
            let all = (0..6).flat_map(|l| (0..tree.units(l)).map(move |u| (l, u)));
            if allowed {
                pays += 1;
                assert!(all.clone().all(|(l, u)| after.unit(l, u) <= before.unit(l, u)));
                assert!(sets.iter().all(|set| after.blocks(&tree, set) <= before.blocks(&tree, set)));
            }
            let (before, after) = (of(1, None), of(1, Some((level, unit))));
            if c == 1 {
                assert!(all.clone().all(|(l, u)| after.unit(l, u) == before.unit(l, u)));
            } else {
                costs += 1;
                assert!(after.unit(level, unit) > before.unit(level, unit));
            }
        }
    }
    assert!(pays > 20 && costs > 20, "{pays} {costs}");
}

#[test]
fn estimates_of_measurements_are_near_the_truth() {
    let mut numbers = Numbers(61);
    let tree = small_tree(&mut numbers, 12);
    let schema = Schema::default();
    let spine = Spine::new(tree, vec![Rational::from((1, 6)); 6], Privacy::Pure { cutoff: 150 }).unwrap();
    let queries: Vec<Vec<(String, Rational)>> =
        (0..6).map(|_| vec![("total".to_string(), Rational::from(1))]).collect();
    let epsilon = Rational::from(6000);
    let mechanism = MeasurementPlan::pure(&spine, &schema, Neighbors::AddRemove, &epsilon, &queries).unwrap();
    let blocks = spine.tree.order().len() as u32;
    let entries = (0..blocks).map(|place| Entry { place, cell: 0, count: u64::from(7 * place + 3) }).collect();
    let histograms = Histograms::new(entries).unwrap();
    let mut noisy: Vec<Vec<Vec<f64>>> = (0..6).map(|level| vec![vec![f64::NAN; spine.tree.units(level)]]).collect();
    let mut streams = dp_assay::noise::Streams::with_insecure_seed(5);
    let each = |measured: dp_assay::topdown::measure::NoisyCounts| Ok((measured.units.to_vec(), measured.values));
    mechanism
        .measure(&histograms, &mut streams, each, |level, query, (units, values)| {
            units.iter().zip(values).for_each(|(unit, value)| noisy[level][query][*unit as usize] = value as f64);
            Ok(())
        })
        .unwrap();
    // Such noise has almost no variance compared with 2 / epsilon^2 of continuous noise; for sigma2 near 20 it has nearly all.
    assert!(*mechanism.least_ratio(15).unwrap().upper() < 1e-100);
    let release = release(&mut numbers, true);
    let shares: Vec<Rational> = release.levels.iter().map(|level| Rational::from(&level.rho / &release.rho)).collect();
    let other = Spine::new(spine.tree.clone(), shares, Privacy::Concentrated).unwrap();
    let gaussian = MeasurementPlan::of_release(&other, &release).unwrap();
    let ratio = gaussian.least_ratio(15).unwrap();
    let laws = gaussian.levels().iter().flatten().flat_map(|query| (1..=6).filter_map(|carried| query.law(carried)));
    let smallest = laws.map(numbered).min().unwrap();
    // It is that of the smallest sigma2, because the ratio increases with sigma2.
    let own = dp_assay::noise::DiscreteGaussian::new(smallest.clone()).unwrap().variance(15);
    assert!((own.approximate() / smallest.to_f64() - ratio.approximate()).abs() < 1e-12);
    // At epsilon = 1000 per level the noise is zero except with probability exp(-1000).
    let measured: Vec<Vec<f64>> = noisy.into_iter().map(|mut level| level.swap_remove(0)).collect();
    let precision = |level: usize, unit: usize| spine.carried(level, unit) as f64;
    for (level, estimates) in least_squares_approx(&spine.tree, 1, precision, &measured).unwrap().iter().enumerate() {
        for (unit, estimate) in estimates.iter().enumerate() {
            let truth: u64 = spine.tree.blocks(level, unit).map(|place| 7 * place as u64 + 3).sum();
            assert!((estimate - truth as f64).abs() < 1e-6);
        }
    }
}
