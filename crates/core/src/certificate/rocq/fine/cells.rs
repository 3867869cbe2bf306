//! The tables of counts whose losses are put on a lattice that is too coarse for them, in the integers of `proofs/rocq/Certificate.v`.

use rug::{Integer, Rational};

use super::{
    super::rows::{BITS, TOP},
    fixed::Fixed,
};

/// Deviations of the noise on each side of the outputs that are summed one by one.
pub(super) const REACH: f64 = 6.2;
/// Outputs and shifts are below this.
const LARGEST: f64 = 1e15;
/// Squarings of exponentials of at most one step.
const FEW_SQUARINGS: u32 = 16;

/// How losses are put on the lattice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Each output is split into the two ends of its cell: for upper ends.
    Split,
    /// Each loss is rounded to the nearest point, under the law of one neighbor, masses rounded down.
    Near,
    /// The same under the law of the other neighbor, masses rounded up.
    Far,
}

/// Equal discrete Gaussian counts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counts {
    pub(super) sigma2: Rational,
    pub(super) shift: u64,
    pub(super) copies: u64,
}

/// The lattice of a certificate: an index k stands for the loss k step; the gain is that of a loss k spacing, tilted by exp(-tilt loss).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lattice {
    pub(super) step: Rational,
    pub(super) spacing: Rational,
    pub(super) tilt: Rational,
    pub(super) fixed: Fixed,
}

impl Lattice {
    /// The tilt of one index.
    pub(super) fn slope(&self) -> Rational {
        Rational::from(&self.tilt * &self.spacing)
    }

    /// The norms are in multiples of this exponent.
    pub(super) fn norm_unit(&self) -> Rational {
        self.slope() * &self.tilt / 2_u32
    }
}

/// The table of a group, with the hints from which Rocq computes it again.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cells {
    kind: Kind,
    pub(super) counts: Counts,
    /// The tilted masses of an output are divided by exp(norm times the norm unit).
    pub(super) norm: Integer,
    /// Outputs first, first + 1, ... are in the table.
    first: i64,
    outputs: usize,
    /// The first place of the table.
    pub(super) left: i64,
    /// The outputs from -reach to reach are summed for the normalizing sum.
    reach: i64,
    /// Bounds of tilted masses by place, and of all others together; in units of 2^-30.
    pub(super) table: Vec<u64>,
    pub(super) tail: u64,
}

/// One group on its lattice.
struct Maker<'a> {
    kind: Kind,
    counts: &'a Counts,
    lattice: &'a Lattice,
    norm: Integer,
    reach: i64,
}

impl Cells {
    /// The table, unless its sum is above 2, or its numbers are too large or too small for their bits.
    pub(super) fn new(kind: Kind, counts: &Counts, lattice: &Lattice) -> Option<Cells> {
        let deviation = counts.sigma2.to_f64().sqrt();
        let half = REACH * deviation + 1.0;
        let mut maker = Maker { kind, counts, lattice, norm: Integer::new(), reach: half.ceil() as i64 };
        let effective = Rational::from(&lattice.slope() / &lattice.step).to_f64();
        let middle = maker.mean() as f64 - effective * counts.shift as f64;
        if !(middle.abs() + half < LARGEST && (counts.shift as f64) < LARGEST) {
            return None;
        }
        let (first, last) = ((middle - half).floor() as i64, (middle + half).ceil() as i64);
        // The largest exponent that is needed becomes zero.
        let least = (first..=last).map(|x| maker.exponent(x, &Rational::from(maker.place(x)))).min()?;
        maker.norm = (-least / lattice.norm_unit()).ceil().numer().clone();
        let atoms: Vec<(i64, Integer)> = match kind {
            Kind::Near => maker.atoms_down(first..=last)?,
            Kind::Split | Kind::Far => maker.atoms_up(first..=last)?,
        };
        let (left, right) = (atoms.iter().map(|&(y, _)| y).min()?, atoms.iter().map(|&(y, _)| y).max()?);
        let mut table = vec![0_u64; usize::try_from(right - left).ok()? + 1];
        for (y, mass) in &atoms {
            let entry = &mut table[(y - left) as usize];
            *entry = entry.checked_add(mass.to_u64()?)?;
        }
        let tail = match kind {
            Kind::Near => 0,
            Kind::Split | Kind::Far => {
                let z = maker.mass_down();
                let (right, left) = (maker.end_up(last + 1, last + 2, &z)?, maker.end_up(first - 1, first - 2, &z)?);
                (right + left).to_u64()?
            }
        };
        let sum = table.iter().chain([&tail]).try_fold(0_u64, |sum, &mass| sum.checked_add(mass))?;
        let (norm, reach) = (maker.norm, maker.reach);
        let outputs = (last - first + 1) as usize;
        (sum <= TOP).then(|| Cells { kind, counts: counts.clone(), norm, first, outputs, left, reach, table, tail })
    }

    /// The group for Rocq.
    pub(super) fn text(&self, step: &Rational) -> String {
        let Cells { kind, counts, norm, first, outputs, left, reach, table, .. } = self;
        let Counts { sigma2, shift, copies } = counts;
        format!(
            "CellGroup {kind:?} {} {} {shift} {copies} {} {} ({norm}) ({first}) {outputs} ({left}) {} {reach}",
            sigma2.numer(),
            sigma2.denom(),
            step.numer(),
            step.denom(),
            table.len(),
        )
    }
}

impl Maker<'_> {
    /// The mean of the noise.
    fn mean(&self) -> i64 {
        if self.kind == Kind::Far { self.counts.shift as i64 } else { 0 }
    }

    /// Minus the loss of an output in steps, not rounded: m (2 x - m) / (2 sigma2 step).
    fn exact_place(&self, x: i64) -> Rational {
        let shift = Integer::from(self.counts.shift);
        let top = (Integer::from(2 * x) - &shift) * shift;
        Rational::from(top) / (Rational::from(&self.counts.sigma2 * &self.lattice.step) * 2_u32)
    }

    /// The place of an output: the lower end of its cell, or the nearest point.
    fn place(&self, x: i64) -> Integer {
        let exact = self.exact_place(x);
        let shifted = if self.kind == Kind::Split { exact } else { exact + Rational::from((1, 2)) };
        shifted.floor().numer().clone()
    }

    /// The tilted weight of output `x` at place `y` is exp(-exponent).
    fn exponent(&self, x: i64, y: &Rational) -> Rational {
        let square = Integer::from(x - self.mean()).square();
        let noise = Rational::from(square) / Rational::from(&self.counts.sigma2 * 2_u32);
        noise + self.lattice.norm_unit() * &self.norm + self.lattice.slope() * y
    }

    /// Of an envelope of the weights: at a place that is not rounded, one step lower.
    fn envelope(&self, x: i64) -> Rational {
        self.exponent(x, &(self.exact_place(x) - 1_u32))
    }

    /// x^2 / (2 sigma2).
    fn square(&self, x: i64) -> Rational {
        Rational::from(Integer::from(x).square()) / Rational::from(&self.counts.sigma2 * 2_u32)
    }

    /// A lower bound on the normalizing sum.
    fn mass_down(&self) -> Integer {
        (-self.reach..=self.reach).map(|x| self.lattice.fixed.exp_down(&self.square(x))).sum()
    }

    /// An upper bound on the normalizing sum: beyond the reach the weights fall no slower than a geometric series.
    fn mass_up(&self) -> Option<Integer> {
        let fixed = self.lattice.fixed;
        let inside: Integer = (-self.reach..=self.reach).map(|x| fixed.exp_up(&self.square(x))).sum();
        let beyond = self.reach + 1;
        let fall = fixed.exp_up(&(self.square(beyond + 1) - self.square(beyond)));
        let rest = fixed.one() - fall;
        (rest > 0).then(|| inside + ((fixed.exp_up(&self.square(beyond)) << fixed.bits) / rest + 1_u32) * 2_u32)
    }

    /// An upper bound on the tilted masses of the outputs from `x` on, away from the window: `next` follows `x`.
    fn end_up(&self, x: i64, next: i64, z: &Integer) -> Option<Integer> {
        let fixed = self.lattice.fixed;
        let (first, second) = (self.envelope(x), self.envelope(next));
        if first < 0 || second < first {
            return None;
        }
        let rest = fixed.one() - fixed.exp_up(&(second - &first));
        (rest > 0).then(|| (fixed.exp_up(&first) << (fixed.bits + BITS)) / (rest * z) + 1_u32)
    }

    fn atoms_up(&self, outputs: std::ops::RangeInclusive<i64>) -> Option<Vec<(i64, Integer)>> {
        let (fixed, step) = (self.lattice.fixed, &self.lattice.step);
        let few = Fixed { squarings: FEW_SQUARINGS, ..fixed };
        let z = self.mass_down();
        let (keep_up, keep_down, fall) = (few.exp_up(step), few.exp_down(step), fixed.exp_up(&self.lattice.slope()));
        let cell = (fixed.one() - keep_up) * &z;
        if z <= 0 || cell <= 0 {
            return None;
        }
        let mut atoms = Vec::new();
        for x in outputs {
            let place = self.place(x);
            let (y, weight) = (place.to_i64()?, fixed.exp_up(&self.exponent(x, &Rational::from(&place))));
            if self.kind == Kind::Far {
                atoms.push((y, (weight << BITS) / &z + 1_u32));
                continue;
            }
            let gap = (Rational::from(&place + 1_u32) - self.exact_place(x)) * step;
            let (lower, upper) = (fixed.one() - few.exp_down(&gap), few.exp_up(&gap) - &keep_down);
            let falling = fixed.scale_up(Integer::from(&weight * &fall));
            atoms.push((y, ((weight * lower) << BITS) / &cell + 1_u32));
            atoms.push((y + 1, ((falling * upper) << BITS) / &cell + 1_u32));
        }
        Some(atoms)
    }

    fn atoms_down(&self, outputs: std::ops::RangeInclusive<i64>) -> Option<Vec<(i64, Integer)>> {
        let z = self.mass_up()?;
        let atom = |x: i64| {
            let place = self.place(x);
            let weight = self.lattice.fixed.exp_down_signed(&self.exponent(x, &Rational::from(&place)));
            Some((place.to_i64()?, (weight << BITS) / &z))
        };
        outputs.map(atom).collect()
    }
}
