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
    noise::{DiscreteGaussian, Sampler, Source, Streams},
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

/// The number of groups of each query: the total, a recode, and all cells.
const GROUPS: [usize; 3] = [1, 2, CELLS];
const CELLS: usize = 6;

/// The group of a cell in a query.
fn group_of(query: usize, cell: usize) -> usize {
    [0, usize::from(cell >= 2), cell][query]
}

/// The true count of a cell of a unit: 0 to 40 people in each cell of a leaf.
fn in_cell(tree: &Tree, level: usize, unit: usize, cell: usize) -> f64 {
    let leaves = if level == 2 { unit..unit + 1 } else { tree.blocks(level, unit) };
    leaves.map(|leaf| ((leaf * 31 + cell * 17) % 41) as f64).sum()
}

/// Noisy counts of all units: each query with the noise of its sampler.
fn drawn(tree: &Tree, samplers: &[Sampler], variances: &Arc<[f32]>, source: &mut Source) -> Drawn {
    let mut noise = [0_i64; CELLS];
    let levels = (0..3).map(|level| {
        let unit = |unit: usize| {
            let mut counts = Vec::with_capacity(GROUPS.iter().sum());
            for (query, groups) in GROUPS.into_iter().enumerate() {
                let mut own = vec![0.0; groups];
                (0..CELLS).for_each(|cell| own[group_of(query, cell)] += in_cell(tree, level, unit, cell));
                samplers[query].fill(&mut noise[..groups], source);
                counts.extend(own.iter().zip(&noise).map(|(count, noise)| count + *noise as f64));
            }
            UnitCounts { unit, variances: variances.clone(), counts }
        };
        (0..tree.units(level)).map(unit).collect()
    });
    Drawn(levels.collect())
}

/// The errors of the estimates of one query.
#[derive(Default)]
struct Errors {
    /// The number of errors within the margin.
    covered: u32,
    all: u32,
    /// The sum of the errors in standard deviations.
    sum: f64,
}

impl Errors {
    fn add(&mut self, score: f64) {
        self.covered += u32::from(score.abs() <= 1.959_963_984_540_054);
        self.all += 1;
        self.sum += score;
    }

    /// The worst case is full correlation of the seven units of a release: the standard error is at most that of the trials alone.
    fn check(&self, name: &str) {
        let (share, bias) = (f64::from(self.covered) / f64::from(self.all), self.sum / f64::from(self.all));
        let error = (0.05_f64 * 0.95 / TRIALS as f64).sqrt();
        assert!((share - 0.95).abs() < 4.0 * error, "{name}: {share} of the margins hold the truth");
        assert!(bias.abs() < 4.0 / (TRIALS as f64).sqrt(), "{name}: a bias of {bias} standard deviations");
    }
}

const TRIALS: usize = 3000;

/// A nation of two states, one with three counties: each query is drawn with exact discrete Gaussian noise, 3000 times.
#[test]
fn margins_of_simulated_releases_cover_the_truth_with_the_stated_probability() {
    let tree = Tree::from_parts(vec![vec![0, 2], vec![0, 1, 4]], (0..4).collect());
    let sizes = [3, 2];
    let recode = vec![Part::Groups(vec![0, 1, 1]), Part::Total];
    let (total, detailed) = (vec![Part::Total, Part::Total], vec![Part::Whole, Part::Whole]);
    let queries = vec![vec![total.clone(), recode, detailed.clone()]; 3];
    let problem = Problem::new(&sizes, &queries, &[], &[Part::Total, Part::Total]).unwrap();
    let mut shapes = Shapes::default();
    let whole = shapes.shape(&problem, &problem.all_free());
    let shapes: Vec<Vec<Arc<Shape>>> = (0..3).map(|level| vec![whole.clone(); tree.units(level)]).collect();
    let laws = ["1/2", "3", "5/2"].map(|sigma2| DiscreteGaussian::new(number(sigma2)).unwrap());
    let variances: Arc<[f32]> = laws.iter().map(|law| law.variance(12).approximate() as f32).collect();
    let samplers: Vec<Sampler> = laws.iter().map(|law| law.sampler().unwrap()).collect();
    let mut streams = Streams::with_insecure_seed(18);
    let mut errors = [Errors::default(), Errors::default()];
    let answers = [SectorQuery::new(&problem.basis, &total), SectorQuery::new(&problem.basis, &detailed)];
    let classes = answers.each_ref().map(|query| query.classes(&problem.basis));
    for _ in 0..TRIALS {
        let drawn = drawn(&tree, &samplers, &variances, &mut streams.take());
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
                        let cells = if which == 0 { 0..CELLS } else { cell..cell + 1 };
                        let true_count: f64 = cells.map(|cell| in_cell(&tree, level, unit, cell)).sum();
                        errors[which].add((estimate - true_count) / deviation);
                    }
                }
                Ok(())
            },
        )
        .unwrap();
    }
    errors[0].check("the total");
    errors[1].check("the cells");
}
