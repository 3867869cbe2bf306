//! The losses of the coarse groups at one tilt: all of them outlined in doubles, and computed when they matter. Where many requests need many of
//! them, the masses above and below some of them are summed once.

use std::sync::Mutex;

use rug::{Float, Rational};

use crate::{
    error::Result,
    loss::{
        atoms::coarse::{Atom, Coarse},
        memo::lock,
        sum::LossSum,
    },
    numeric::Enclosure,
};

/// The losses of the coarse groups at one tilt.
#[derive(Debug)]
pub(super) struct List {
    pub(super) c: Rational,
    pub(super) bits: u32,
    pub(super) ln_mgf: Enclosure,
    pub(super) missing: Float,
    pub(super) of_groups: Vec<Vec<Atom>>,
    /// Every sum of one loss of each group, in increasing order as far as doubles resolve.
    pub(super) sums: Vec<Outlined>,
    /// Upper bound on the size of each.
    pub(super) size: f64,
    /// The masses of the largest losses under P and under Q, and of the smallest under P: of no block, of one, of two, ... Each
    /// continues the one before: no memo.
    above: Mutex<Vec<(Enclosure, Enclosure)>>,
    below: Mutex<Vec<Enclosure>>,
}

/// The number of losses of a block.
const BLOCK: usize = 16;

/// A loss of the coarse groups, in doubles: there may be very many, of which few matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlined {
    /// The index of the loss of each group, the last group's changing first.
    pub(super) place: usize,
    pub(super) approx: f64,
    /// The total size of its terms: the error of `approx` is less than 10^-15 of it.
    pub(super) size: f64,
    /// Upper bound on ln of its mass.
    pub(super) ln_p: f64,
}

impl List {
    /// The list of a sum tilted by c, in this number of bits, with a truncated tilted mass of about 2^-cut.
    pub(super) fn new(coarse: &LossSum, c: Rational, cut: u32, bits: u32) -> Result<Self> {
        let list = Coarse::new(coarse, &c, cut)?;
        let of_groups = list.of_groups(&c, bits);
        let mut sums = vec![Outlined { place: 0, approx: 0.0, size: 0.0, ln_p: 0.0 }];
        for single in &of_groups {
            let outlined: Vec<(f64, f64)> = single.iter().map(|atom| (atom.loss.to_f64(), atom.p.ln_above())).collect();
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
        let zero = || Enclosure::double(0.0, bits);
        let (above, below) = (Mutex::new(vec![(zero(), zero())]), Mutex::new(vec![zero()]));
        Ok(List { ln_mgf, missing, of_groups, sums, size, above, below, c, bits })
    }

    /// The masses under P and under Q of the losses from a place on. Those of whole blocks are summed once, in a fixed order.
    pub(super) fn above(&self, place: usize) -> (Enclosure, Enclosure) {
        let (count, end) = (self.sums.len() - place, self.sums.len());
        let blocks = count / BLOCK;
        let and = |(p, q): (Enclosure, Enclosure), outlined: &Outlined| {
            let (more_p, more_q) = self.masses(outlined);
            (p.add(&more_p), q.add(&more_q))
        };
        let mut known = lock(&self.above);
        while known.len() <= blocks {
            let (done, last) = (known.len() * BLOCK, known[known.len() - 1].clone());
            known.push(self.sums[end - done..end - done + BLOCK].iter().rev().fold(last, and));
        }
        self.sums[place..end - blocks * BLOCK].iter().rev().fold(known[blocks].clone(), and)
    }

    /// The mass under P of the losses before a place.
    pub(super) fn below(&self, place: usize) -> Enclosure {
        let blocks = place / BLOCK;
        let and = |sum: Enclosure, outlined: &Outlined| sum.add(&self.masses(outlined).0);
        let mut known = lock(&self.below);
        while known.len() <= blocks {
            let (done, last) = (known.len() * BLOCK, known[known.len() - 1].clone());
            known.push(self.sums[done - BLOCK..done].iter().fold(last, and));
        }
        self.sums[blocks * BLOCK..place].iter().fold(known[blocks].clone(), and)
    }

    /// The stored mass of a loss under P and under Q.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{split::tests::split, testing::sum};

    /// Total masses above and below a place are the sums over the losses there.
    #[test]
    fn totals_are_the_sums_over_the_losses() {
        let sum = sum(&["1/39x9@3", "1/5x30", "40x2", "40000"]);
        let split = split(&sum);
        let list = List::new(&split.coarse, Rational::from((1, 8)), 60, 150).unwrap();
        let zero = Enclosure::double(0.0, list.bits);
        assert!(list.sums.len() > 200);
        for place in [0, 1, 15, 16, 17, 63, 64, 191, list.sums.len() - 1, list.sums.len()] {
            let (below, above) = list.sums.split_at(place);
            let of = |losses: &[Outlined], of: fn(&Atom) -> &Enclosure| {
                losses.iter().fold(zero.clone(), |sum, loss| sum.add(of(&list.atom(loss))))
            };
            let (p, q) = list.above(place);
            for (by_totals, truth) in [
                (p, of(above, |atom| &atom.p)),
                (q, of(above, |atom| &atom.q)),
                (list.below(place), of(below, |atom| &atom.p)),
            ] {
                assert!(by_totals.overlaps(&truth), "{place}: {by_totals} {truth}");
                assert!(by_totals.is_tight(30) || *by_totals.upper() == 0, "{place}: {by_totals}");
            }
        }
    }
}
