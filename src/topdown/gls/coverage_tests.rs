//! Margins over thousands of simulated releases: they cover the truth with the stated probability, and estimates are
//! unbiased.

use std::sync::Arc;

use super::{
    areas::AreaSums,
    basis::Part,
    pass::{Measurements, Pass, UnitCounts},
    problem::{Problem, Shape, Shapes},
    query::SectorQuery,
};
use crate::{
    error::Result,
    noise::{DiscreteGaussian, Streams},
    numbers::number,
    spine::hierarchy::Tree,
};

struct Drawn(Vec<Vec<UnitCounts>>);

impl Measurements for Drawn {
    fn read(&self, level: usize, take: &mut dyn FnMut(Vec<UnitCounts>) -> Result<()>) -> Result<()> {
        take(self.0[level].clone())
    }

    fn name(&self, level: usize, unit: usize) -> String {
        format!("unit {unit} of level {level}")
    }
}

/// A nation of two states, one with three counties: each query is drawn with exact discrete Gaussian noise, 3000 times.
#[test]
fn margins_of_simulated_releases_cover_the_truth_with_the_stated_probability() {
    const TRIALS: usize = 3000;
    let tree = Tree::from_parts(vec![vec![0, 2], vec![0, 1, 4]], (0..4).collect());
    let sizes = [3, 2];
    let recode = vec![Part::Groups(vec![0, 1, 1]), Part::Total];
    let (total, detailed) = (vec![Part::Total, Part::Total], vec![Part::Whole, Part::Whole]);
    let queries = vec![vec![total.clone(), recode, detailed.clone()]; 3];
    let problem = Problem::new(&sizes, &queries, &[], &[Part::Total, Part::Total]).unwrap();
    let mut shapes = Shapes::default();
    let whole = shapes.of(&problem, &problem.all_free());
    let shapes: Vec<Vec<Arc<Shape>>> = (0..3).map(|level| vec![whole.clone(); tree.units(level)]).collect();
    // 0 to 40 people in a cell.
    let truth = |leaf: usize, cell: usize| ((leaf * 31 + cell * 17) % 41) as f64;
    let in_cell = |level: usize, unit: usize, cell: usize| -> f64 {
        let leaves = if level == 2 { unit..unit + 1 } else { tree.blocks(level, unit) };
        leaves.map(|leaf| truth(leaf, cell)).sum()
    };
    let group_of = |query: usize, cell: usize| [0, usize::from(cell >= 2), cell][query];
    let laws: Vec<(DiscreteGaussian, f32)> = ["1/2", "3", "5/2"]
        .iter()
        .map(|sigma2| {
            let law = DiscreteGaussian::new(number(sigma2)).unwrap();
            let variance = law.variance(12).approximate() as f32;
            (law, variance)
        })
        .collect();
    let variances: Arc<[f32]> = laws.iter().map(|(_, variance)| *variance).collect();
    let mut streams = Streams::with_insecure_seed(18);
    let samplers: Vec<_> = laws.iter().map(|(law, _)| law.sampler().unwrap()).collect();
    let (mut covered, mut asked, mut sums) = ([0_u32; 2], [0_u32; 2], [0.0_f64; 2]);
    let answers = [SectorQuery::new(&problem.basis, &total), SectorQuery::new(&problem.basis, &detailed)];
    let classes = answers.each_ref().map(|query| query.classes(&problem.basis));
    for _ in 0..TRIALS {
        let mut source = streams.take();
        let mut noise = [0_i64; 6];
        let drawn = (0..3).map(|level| {
            let unit = |unit: usize| {
                let mut counts = Vec::with_capacity(9);
                for (query, groups) in [1, 2, 6].into_iter().enumerate() {
                    let mut own = vec![0.0; groups];
                    (0..6).for_each(|cell| own[group_of(query, cell)] += in_cell(level, unit, cell));
                    samplers[query].fill(&mut noise[..groups], &mut source);
                    counts.extend(own.iter().zip(&noise).map(|(count, noise)| count + *noise as f64));
                }
                UnitCounts { unit, variances: variances.clone(), counts }
            };
            (0..tree.units(level)).map(unit).collect()
        });
        let drawn = Drawn(drawn.collect());
        let pass = Pass { problem: &problem, tree: &tree, first: 0, shapes: &shapes, measurements: &drawn };
        let risen = pass.up(2, &mut AreaSums::default()).unwrap();
        let root = risen.root().unwrap().clone();
        pass.down(
            &risen,
            root,
            true,
            |level, unit, belief| Ok((level, unit, belief.clone())),
            |(level, unit, belief)| {
                let x = problem.expand(&belief.shape, &belief.x);
                for (which, query) in answers.iter().enumerate() {
                    for (cell, estimate) in query.answer(&x).into_iter().enumerate() {
                        let (class_of, classes) = &classes[which];
                        let class = &classes[class_of[cell] as usize];
                        let deviation = problem.variance(class, &belief.shape, &belief.covariance).sqrt();
                        let cells = if which == 0 { 0..6 } else { cell..cell + 1 };
                        let true_count: f64 = cells.map(|cell| in_cell(level, unit, cell)).sum();
                        let score = (estimate - true_count) / deviation;
                        covered[which] += u32::from(score.abs() <= 1.959_963_984_540_054);
                        asked[which] += 1;
                        sums[which] += score;
                    }
                }
                Ok(())
            },
        )
        .unwrap();
    }
    for which in 0..2 {
        // The worst case is full correlation of the seven units of a release: the standard error is at most that of the
        // trials alone.
        let (share, bias) =
            (f64::from(covered[which]) / f64::from(asked[which]), sums[which] / f64::from(asked[which]));
        let error = (0.05_f64 * 0.95 / TRIALS as f64).sqrt();
        assert!((share - 0.95).abs() < 4.0 * error, "query {which}: {share} of the margins hold the truth");
        assert!(bias.abs() < 4.0 / (TRIALS as f64).sqrt(), "query {which}: a bias of {bias} standard deviations");
    }
}
