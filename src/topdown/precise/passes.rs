//! The two passes over a tree in long floating-point numbers, as in [`belief`](crate::topdown::gls::belief); units with
//! equal subtrees share their matrices.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use rug::Float;

use super::{
    BITS, DETERMINED, PRIOR,
    algebra::{Square, add, subtract},
    areas::{AreaPart, Areas},
    below::{Below, Matrices, Vectors},
    is_exact, kept, long, shown,
    space::Space,
};
use crate::{
    error::{Error, Result},
    numeric::parallel,
    spine::hierarchy::Tree,
    topdown::gls::{areas::LeafShare, basis::Part, problem::undetermined},
};

/// Limit on the number of stored numbers: half a gigabyte.
const MOST_NUMBERS: usize = 1 << 22;

/// Noisy counts on a tree.
pub trait Source: Sync {
    /// The kind of noise of a unit of a level; `None` if it has no counts.
    fn kind(&self, level: usize, unit: usize) -> Option<usize>;

    /// The variances of the queries of a level under a kind of noise.
    fn variances(&self, level: usize, kind: usize) -> &[Float];

    /// The counts of all queries of a unit.
    fn counts(&self, level: usize, unit: usize) -> Vec<f64>;

    /// The name of a unit.
    fn name(&self, level: usize, unit: usize) -> String;
}

/// The data and the answers of an estimation.
pub struct Survey<'a> {
    /// The units.
    pub tree: &'a Tree,
    /// The queries of each level.
    pub levels: &'a [Vec<Vec<Part>>],
    /// The queries to answer.
    pub answers: &'a [Vec<Part>],
    /// The counts.
    pub source: &'a dyn Source,
    space: Space,
    /// The largest variance of noise, where leaves have a prior.
    prior: Option<Float>,
}

/// The number of numbers of all units of a tree.
fn numbers(space: &Space, tree: &Tree) -> usize {
    let units: usize = (0..tree.levels()).map(|level| tree.units(level)).sum();
    units.saturating_mul(space.numbers())
}

/// Whether a survey of these queries is small enough.
pub fn fits(sizes: &[usize], tree: &Tree, levels: &[Vec<Vec<Part>>], answers: &[Vec<Part>]) -> bool {
    numbers(&Space::new(sizes, levels, answers), tree) <= MOST_NUMBERS
}

/// The estimates and variances of the counts of each answer.
pub type Answered = Vec<(Vec<f64>, Vec<f64>)>;

/// Equal subtrees.
struct Class {
    /// The covariance of the estimate from the subtree alone; `None` if the subtree does not determine it.
    own: Option<Matrices>,
    below: Option<Below>,
}

/// All units, including the leaves, after the pass upwards.
struct Risen {
    classes: Vec<Class>,
    class_of: Vec<Vec<usize>>,
    x: Vec<Vec<Option<Vectors>>>,
    areas: Vec<(u32, AreaPart)>,
}

impl<'a> Survey<'a> {
    /// Gives each leaf a weak prior: the largest variance of the noise is the scale of its variance. Answers that the counts
    /// do not determine then have infinite variances.
    pub fn with_prior(mut self, largest: Float) -> Survey<'a> {
        self.prior = Some(largest);
        self
    }

    /// Refuses a survey that is too large.
    pub fn new(
        sizes: &[usize],
        tree: &'a Tree,
        levels: &'a [Vec<Vec<Part>>],
        answers: &'a [Vec<Part>],
        source: &'a dyn Source,
    ) -> Result<Survey<'a>> {
        let space = Space::new(sizes, levels, answers);
        let numbers = numbers(&space, tree);
        if numbers > MOST_NUMBERS {
            let expected = format!(
                "at most {MOST_NUMBERS}, because their variances are too far apart for doubles, or the lowest level does not determine \
                 the requested queries: noise of more alike sizes, these queries at the lowest level as well, fewer units, or queries \
                 with fewer counts"
            );
            return Err(Error::out_of_range("the number of cells of all units together", numbers, &expected));
        }
        Ok(Survey { tree, levels, answers, source, space, prior: None })
    }

    /// Passes on the estimates of the units of the requested levels, from above, and then those of areas of leaves.
    pub fn run(
        &self,
        is_asked: &dyn Fn(usize) -> bool,
        areas: &BTreeMap<usize, Vec<LeafShare>>,
        take: &mut dyn FnMut(Subject, Answered) -> Result<()>,
    ) -> Result<()> {
        let risen = self.up(areas)?;
        self.down(&risen, is_asked, take)
    }

    fn sectors(&self) -> usize {
        self.space.sectors.len()
    }

    fn zeros(&self) -> Vectors {
        self.space.sectors.iter().map(|sector| vec![long(0.0); sector.rows * sector.columns]).collect()
    }

    /// The information of a kind of noise.
    fn information(&self, level: usize, kind: usize) -> Vec<Square> {
        let variances: Vec<Float> = self.source.variances(level, kind).iter().map(kept).collect();
        let of = |sector| {
            let sector: &super::space::Sector = sector;
            let mut sum = Square::zero(sector.rows);
            for (parts, variance) in self.levels[level].iter().zip(&variances) {
                self.space.add_information(sector, parts, variance, &mut sum);
            }
            sum
        };
        self.space.sectors.iter().map(of).collect()
    }

    fn right_side(&self, level: usize, unit: usize, kind: usize) -> Vectors {
        let (counts, mut to) = (self.source.counts(level, unit), self.zeros());
        let mut start = 0;
        for (parts, variance) in self.levels[level].iter().zip(self.source.variances(level, kind)) {
            let end = start + self.space.counts(parts);
            for (sector, to) in self.space.sectors.iter().zip(&mut to) {
                self.space.add_right_side(sector, parts, &kept(variance), &counts[start..end], to);
            }
            start = end;
        }
        to
    }

    fn apply(&self, matrices: &[Square], x: &[Vec<Float>]) -> Vectors {
        let of =
            |((matrix, x), sector): ((&Square, &Vec<Float>), &super::space::Sector)| matrix.apply(x, sector.columns);
        matrices.iter().zip(x).zip(&self.space.sectors).map(of).collect()
    }

    fn up(&self, in_area: &BTreeMap<usize, Vec<LeafShare>>) -> Result<Risen> {
        let levels = self.tree.levels();
        let mut risen = Risen {
            classes: Vec::new(),
            class_of: vec![Vec::new(); levels],
            x: vec![Vec::new(); levels],
            areas: Vec::new(),
        };
        let mut areas = Areas::of_leaves(&self.space, in_area);
        for level in (0..levels).rev() {
            let own = self.classes(level, &mut risen)?;
            let x = parallel::map_indices(own.len(), |unit| self.estimate(level, unit, own[unit], &risen));
            if level + 1 < levels {
                let child = |child: usize| {
                    let class: &Class = &risen.classes[risen.class_of[level + 1][child]];
                    Some((class.own.as_ref()?.as_slice(), risen.x[level + 1][child].as_ref()?))
                };
                let below = |unit: usize| risen.classes[own[unit]].below.as_ref();
                areas = areas.joined(&self.space, self.tree, level, &child, &below);
            }
            risen.class_of[level] = own;
            risen.x[level] = x;
        }
        risen.areas = areas.of_root();
        Ok(risen)
    }

    /// The class of each unit of a level; new classes are created.
    fn classes(&self, level: usize, risen: &mut Risen) -> Result<Vec<usize>> {
        let is_leaf = level + 1 == self.tree.levels();
        let mut known: HashMap<(Option<usize>, Vec<usize>), usize> = HashMap::new();
        let mut found = Vec::with_capacity(self.tree.units(level));
        for unit in 0..self.tree.units(level) {
            let mut children = Vec::new();
            if !is_leaf {
                let range = self.tree.children(level, unit);
                let mut open = range.clone().filter(|child| risen.x[level + 1][*child].is_none());
                if let (Some(first), Some(second)) = (open.next(), open.next()) {
                    let name = |child| self.source.name(level + 1, child);
                    let why = "has no noisy counts, nor have its parts: it cannot be separated from";
                    return Err(Error::missing(format!("{} {why} {}", name(second), name(first))));
                }
                children.extend(range.map(|child| risen.class_of[level + 1][child]));
                children.sort_unstable();
            }
            let key = (self.source.kind(level, unit), children);
            let class = match known.get(&key) {
                Some(class) => *class,
                None => {
                    let class = self.class(level, unit, key.0, &key.1, &risen.classes)?;
                    risen.classes.push(class);
                    known.insert(key, risen.classes.len() - 1);
                    risen.classes.len() - 1
                }
            };
            found.push(class);
        }
        Ok(found)
    }

    fn class(
        &self,
        level: usize,
        unit: usize,
        kind: Option<usize>,
        children: &[usize],
        classes: &[Class],
    ) -> Result<Class> {
        let refused = || undetermined(&self.source.name(level, unit));
        let inverses = |matrices: &[Square]| {
            let all: Option<Vec<Square>> = matrices.iter().map(Square::inverse).collect();
            all.map(Arc::new).ok_or_else(refused)
        };
        let mut information = kind.map(|kind| self.information(level, kind));
        if let Some(largest) = self.prior.as_ref().filter(|_| children.is_empty()) {
            let precision = Float::with_val(BITS, largest.recip_ref()) >> PRIOR;
            let own = |sector: &super::space::Sector| Square::identity(sector.rows).scaled(&precision);
            let prior: Vec<Square> = self.space.sectors.iter().map(own).collect();
            information = Some(match information {
                Some(own) => own.into_iter().zip(&prior).map(|(own, prior)| own.plus(1, prior)).collect(),
                None => prior,
            });
        }
        let mut below = None;
        if !children.is_empty() {
            let mut sum: Vec<Square> = self.space.sectors.iter().map(|sector| Square::zero(sector.rows)).collect();
            for own in children.iter().filter_map(|child| classes[*child].own.as_ref()) {
                sum = sum.into_iter().zip(own.iter()).map(|(sum, own)| sum.plus(1, own)).collect();
            }
            let all = children.iter().all(|child| classes[*child].own.is_some());
            let inverse = if all { Some(inverses(&sum)?) } else { None };
            below = Some(Below { covariance: Arc::new(sum), inverse });
        }
        let own = match (below.as_ref().and_then(|below| below.inverse.as_ref()), information, &below) {
            (Some(inverse), Some(information), _) => {
                let sum: Vec<Square> =
                    information.into_iter().zip(inverse.iter()).map(|(own, more)| own.plus(1, more)).collect();
                Some(inverses(&sum)?)
            }
            (Some(_), None, Some(below)) => Some(below.covariance.clone()),
            (None, Some(information), _) => Some(inverses(&information)?),
            _ => None,
        };
        Ok(Class { own, below })
    }

    /// The sum of the estimates of the children that have one.
    fn sum_below(&self, level: usize, unit: usize, x: &[Vec<Option<Vectors>>]) -> Vectors {
        let mut sum = self.zeros();
        for child in self.tree.children(level, unit) {
            if let Some(child) = &x[level + 1][child] {
                sum.iter_mut().zip(child).for_each(|(sum, child)| add(sum, child));
            }
        }
        sum
    }

    fn estimate(&self, level: usize, unit: usize, class: usize, risen: &Risen) -> Option<Vectors> {
        let class = &risen.classes[class];
        let own = class.own.as_ref()?;
        let inverse = class.below.as_ref().and_then(|below| below.inverse.as_ref());
        let measured = self.source.kind(level, unit).map(|kind| self.right_side(level, unit, kind));
        match (inverse, measured) {
            // A leaf with a prior alone has the estimate 0.
            (None, measured) => Some(self.apply(own, &measured.unwrap_or_else(|| self.zeros()))),
            (Some(_), None) => Some(self.sum_below(level, unit, &risen.x)),
            (Some(inverse), Some(mut right)) => {
                let weighted = self.apply(inverse, &self.sum_below(level, unit, &risen.x));
                right.iter_mut().zip(&weighted).for_each(|(right, more)| add(right, more));
                Some(self.apply(own, &right))
            }
        }
    }

    fn down(
        &self,
        risen: &Risen,
        is_asked: &dyn Fn(usize) -> bool,
        take: &mut dyn FnMut(Subject, Answered) -> Result<()>,
    ) -> Result<()> {
        let no_counts = || Error::missing("the spine has no noisy counts: counts of its units are needed");
        let root = &risen.classes[risen.class_of[0][0]];
        let (Some(covariance), Some(x)) = (&root.own, &risen.x[0][0]) else { return Err(no_counts()) };
        for (area, part) in &risen.areas {
            let (x, covariance) = part.of_final(&self.space, x, covariance);
            take(Subject::Area(*area), self.answered(&x, &self.variances(&covariance)))?;
        }
        // The final estimates of a level, and the number of the covariance of each.
        let mut finals: Vec<Matrices> = vec![covariance.clone()];
        let mut level_x = vec![x.clone()];
        let mut level_final = vec![0];
        for level in 0..self.tree.levels() {
            self.hand_on(level, (&level_x, &level_final), &finals, is_asked, take)?;
            if level + 1 < self.tree.levels() {
                (level_x, level_final) = self.children(level, (&level_x, &level_final), risen, &mut finals);
            }
        }
        Ok(())
    }

    /// The answers for the units of a level.
    fn hand_on(
        &self,
        level: usize,
        (x, number): (&[Vectors], &[usize]),
        finals: &[Matrices],
        is_asked: &dyn Fn(usize) -> bool,
        take: &mut dyn FnMut(Subject, Answered) -> Result<()>,
    ) -> Result<()> {
        parallel::try_map_indices(x.len(), |unit| self.check_exact(level, unit, &x[unit]))?;
        if !is_asked(level) {
            return Ok(());
        }
        let mut of_final: HashMap<usize, Vec<Vec<f64>>> = HashMap::new();
        for (unit, (x, number)) in x.iter().zip(number).enumerate() {
            let variances = of_final.entry(*number).or_insert_with(|| self.variances(&finals[*number]));
            take(Subject::Unit(level, unit), self.answered(x, variances))?;
        }
        Ok(())
    }

    fn variances(&self, covariances: &[Square]) -> Vec<Vec<f64>> {
        let most = self.prior.as_ref().map(|largest| Float::with_val(BITS, largest << DETERMINED));
        let shown = |variance: &Float| match &most {
            Some(most) if variance > most => f64::INFINITY,
            _ => shown(variance),
        };
        let of = |parts: &Vec<Part>| self.space.variances(parts, covariances).iter().map(shown).collect();
        parallel::map(self.answers, of)
    }

    fn answered(&self, x: &[Vec<Float>], variances: &[Vec<f64>]) -> Answered {
        let estimates = |parts: &Vec<Part>| self.space.answer(parts, x).iter().map(Float::to_f64).collect();
        let all = parallel::map(self.answers, estimates);
        all.into_iter().zip(variances.iter().cloned()).collect()
    }

    /// Refuses counts that are treated as exact and contradict each other: estimates would not reproduce them. Sectors
    /// without a part in the answers are not checked.
    fn check_exact(&self, level: usize, unit: usize, x: &[Vec<Float>]) -> Result<()> {
        let Some(kind) = self.source.kind(level, unit) else { return Ok(()) };
        let variances = self.source.variances(level, kind);
        if !variances.iter().any(is_exact) {
            return Ok(());
        }
        let counts = self.source.counts(level, unit);
        let mut start = 0;
        for (parts, variance) in self.levels[level].iter().zip(variances) {
            let own = &counts[start..start + self.space.counts(parts)];
            start += own.len();
            if !is_exact(variance) || !self.space.holds(parts) {
                continue;
            }
            let kept = self.space.answer(parts, x);
            if let Some((count, kept)) =
                own.iter().zip(&kept).find(|(own, kept)| Float::with_val(BITS, *kept - **own).abs() > 1e-6)
            {
                return Err(Error::conflict(format!(
                    "a count of {} is {count}, and {:.3} by other counts: the noise of both is far too small for that, so they are not of one \
                     measurement",
                    self.source.name(level, unit),
                    kept.to_f64()
                )));
            }
        }
        Ok(())
    }

    /// The final estimates of the children of all units of a level.
    fn children(
        &self,
        level: usize,
        (x, number): (&[Vectors], &[usize]),
        risen: &Risen,
        finals: &mut Vec<Matrices>,
    ) -> (Vec<Vectors>, Vec<usize>) {
        let mut known: HashMap<(usize, usize, usize), usize> = HashMap::new();
        let mut numbers = Vec::with_capacity(self.tree.units(level + 1));
        for (unit, number) in number.iter().enumerate() {
            let parent = risen.class_of[level][unit];
            for child in self.tree.children(level, unit) {
                let class = risen.class_of[level + 1][child];
                numbers.push(*known.entry((*number, parent, class)).or_insert_with(|| {
                    let last = finals[*number].clone();
                    finals.push(self.final_covariance(&last, &risen.classes[parent], &risen.classes[class]));
                    finals.len() - 1
                }));
            }
        }
        let families = parallel::map_indices(x.len(), |unit| self.family(level, unit, &x[unit], risen));
        (families.into_iter().flatten().collect(), numbers)
    }

    fn final_covariance(&self, last: &Matrices, parent: &Class, child: &Class) -> Matrices {
        let sum = |below: &Below| {
            let both = below.covariance.iter().zip(last.iter());
            Arc::new(both.map(|(below, last)| below.clone().plus(1, last)).collect())
        };
        match (&child.own, &parent.below) {
            (Some(own), Some(Below { covariance, inverse: Some(inverse) })) => {
                let one = |sector: usize| {
                    let gain = own[sector].times(&inverse[sector]);
                    let rest = covariance[sector].clone().plus(-1, &last[sector]);
                    own[sector].clone().plus(-1, &gain.times(&rest).times(&gain.transposed()))
                };
                Arc::new((0..self.sectors()).map(one).collect())
            }
            (Some(own), _) => own.clone(),
            (None, Some(below)) => sum(below),
            (None, None) => last.clone(),
        }
    }

    fn family(&self, level: usize, unit: usize, last: &[Vec<Float>], risen: &Risen) -> Vec<Vectors> {
        let mut step = last.to_vec();
        let below = self.sum_below(level, unit, &risen.x);
        step.iter_mut().zip(&below).for_each(|(step, below)| subtract(step, below));
        let class = &risen.classes[risen.class_of[level][unit]];
        let inverse = class.below.as_ref().and_then(|below| below.inverse.as_ref());
        let weighted = inverse.map(|inverse| self.apply(inverse, &step));
        let one = |child: usize| match (
            &risen.x[level + 1][child],
            &risen.classes[risen.class_of[level + 1][child]].own,
            &weighted,
        ) {
            (Some(x), Some(own), Some(weighted)) => {
                let mut last = self.apply(own, weighted);
                last.iter_mut().zip(x).for_each(|(last, x)| add(last, x));
                last
            }
            (Some(x), _, _) => x.clone(),
            (None, _, _) => step.clone(),
        };
        self.tree.children(level, unit).map(one).collect()
    }
}

/// The subject of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A unit of a level.
    Unit(usize, usize),
    /// An area.
    Area(u32),
}
