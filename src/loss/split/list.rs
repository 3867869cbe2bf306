//! The losses of the coarse groups at one tilt: all of them outlined in doubles, and made when they matter. Where many questions need
//! many of them, the masses above and below some of them are summed once.

use std::sync::OnceLock;

use rug::{Float, Rational, float::Round};

use crate::{
    error::Result,
    loss::{
        atoms::coarse::{Atom, Coarse},
        sum::LossSum,
    },
    numeric::Enclosure,
};

/// The losses of the coarse groups at one tilt.
#[derive(Debug)]
pub(super) struct List {
    pub(super) c: Rational,
    pub(super) cut: u32,
    pub(super) bits: u32,
    pub(super) ln_mgf: Enclosure,
    pub(super) missing: Float,
    pub(super) of_groups: Vec<Vec<Atom>>,
    /// Every sum of one loss of each group, in increasing order as doubles know it.
    pub(super) sums: Vec<Outlined>,
    /// At least the size of each.
    pub(super) size: f64,
    totals: OnceLock<Totals>,
}

/// What the masses are together, by blocks of losses.
#[derive(Debug)]
struct Totals {
    /// Under P and under Q from each block on, and after the last.
    above: Vec<(Enclosure, Enclosure)>,
    /// Under P before each block, and before the end.
    below: Vec<Enclosure>,
}

/// So many losses are a block.
const BLOCK: usize = 64;
/// Totals serve where one of so many losses is asked for.
const MANY: usize = 3;

/// A loss of the coarse groups, in doubles: there may be very many, of which few matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlined {
    /// Which of the losses of each group, the last group's changing first.
    pub(super) place: usize,
    pub(super) approx: f64,
    /// The sizes of its terms, together: `approx` is off by less than 10^-15 of it.
    pub(super) size: f64,
    /// At least ln of its mass.
    pub(super) ln_p: f64,
}

impl List {
    /// The list of a sum tilted by c, in so many bits, where all that is left out has a tilted mass of at most 2^-cut or so.
    pub(super) fn new(coarse: &LossSum, c: Rational, cut: u32, bits: u32) -> Result<Self> {
        let list = Coarse::new(coarse, &c, cut)?;
        let of_groups = list.of_groups(&c, bits);
        let mut sums = vec![Outlined { place: 0, approx: 0.0, size: 0.0, ln_p: 0.0 }];
        for single in &of_groups {
            let outlined: Vec<(f64, f64)> = single.iter().map(|atom| (atom.loss.to_f64(), ln_above(&atom.p))).collect();
            let and = |sum: Outlined, k: usize| Outlined {
                place: sum.place * single.len() + k,
                approx: sum.approx + outlined[k].0,
                size: sum.size + outlined[k].0.abs(),
                ln_p: sum.ln_p + outlined[k].1,
            };
            sums = sums.into_iter().flat_map(|sum| (0..single.len()).map(move |k| and(sum, k))).collect();
        }
        sums.sort_by(|a, b| a.approx.total_cmp(&b.approx));
        let size = sums.iter().map(|sum| sum.size).fold(0.0, f64::max);
        let Coarse { ln_mgf, missing, .. } = list;
        Ok(List { ln_mgf, missing, of_groups, sums, size, totals: OnceLock::new(), c, cut, bits })
    }

    /// Whether the masses of so many losses are told by totals: where all are not many more. A matter of the question alone, so that answers are
    /// the same whatever else is asked.
    pub(super) fn has_totals(&self, losses: usize) -> bool {
        losses * MANY >= self.sums.len()
    }

    /// The masses under P and under Q of the losses from a place on.
    pub(super) fn above(&self, place: usize) -> (Enclosure, Enclosure) {
        let (block, totals) = (place.div_ceil(BLOCK), self.totals.get_or_init(|| self.sum_up()));
        let block = block.min(totals.above.len() - 1);
        let end = (block * BLOCK).min(self.sums.len());
        self.sums[place..end].iter().fold(totals.above[block].clone(), |sum, outlined| self.and(sum, outlined))
    }

    /// The mass under P of the losses before a place.
    pub(super) fn below(&self, place: usize) -> Enclosure {
        let (block, totals) = (place / BLOCK, self.totals.get_or_init(|| self.sum_up()));
        let first = totals.below[block].clone();
        self.sums[block * BLOCK..place].iter().fold(first, |sum, outlined| sum.add(&self.masses(outlined).0))
    }

    fn and(&self, (p, q): (Enclosure, Enclosure), outlined: &Outlined) -> (Enclosure, Enclosure) {
        let (more_p, more_q) = self.masses(outlined);
        (p.add(&more_p), q.add(&more_q))
    }

    fn sum_up(&self) -> Totals {
        let zero = || (Enclosure::double(0.0, self.bits), Enclosure::double(0.0, self.bits));
        let blocks: Vec<(Enclosure, Enclosure)> = self
            .sums
            .chunks(BLOCK)
            .map(|block| block.iter().fold(zero(), |sum, outlined| self.and(sum, outlined)))
            .collect();
        let mut above = vec![zero()];
        for (p, q) in blocks.iter().rev() {
            let (after_p, after_q) = &above[above.len() - 1];
            above.push((after_p.add(p), after_q.add(q)));
        }
        above.reverse();
        let mut below = vec![zero().0];
        for (p, _) in &blocks {
            below.push(below[below.len() - 1].add(p));
        }
        Totals { above, below }
    }

    /// What is stored of the mass of a loss under P and under Q.
    pub(super) fn masses(&self, outlined: &Outlined) -> (Enclosure, Enclosure) {
        let mut atoms = self.terms(outlined);
        let first = atoms.next().map(|atom| (atom.p.clone(), atom.q.clone()));
        let first = first.unwrap_or_else(|| (Enclosure::double(1.0, self.bits), Enclosure::double(1.0, self.bits)));
        atoms.fold(first, |(p, q), atom| (p.mul(&atom.p), q.mul(&atom.q)))
    }

    /// The same with the loss.
    pub(super) fn atom(&self, outlined: &Outlined) -> Atom {
        self.terms(outlined).fold(Atom::none(self.bits), |sum, atom| sum.and(atom))
    }

    /// Its loss of each group.
    fn terms(&self, outlined: &Outlined) -> impl Iterator<Item = &Atom> {
        let mut place = outlined.place;
        self.of_groups.iter().rev().map(move |single| {
            let own = &single[place % single.len()];
            place /= single.len();
            own
        })
    }
}

/// At least ln of a number that is not negative.
fn ln_above(value: &Enclosure) -> f64 {
    Float::with_val_round(64, value.upper().ln_ref(), Round::Up).0.to_f64_round(Round::Up)
}
