//! One certificate of a file: groups on a lattice, a tilt and a period, and the bound that its walk gives.

use rug::{Integer, Rational};

use super::{
    super::rows::{BITS, TOP, in_window, on_circle},
    cells::{Cells, Counts, Kind, Lattice},
};

/// A certificate without its claim.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Side {
    lattice: Lattice,
    groups: Vec<Cells>,
    period: usize,
}

/// A mean gain from below, with the hints of its window.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Below {
    pub(super) value: Rational,
    /// The steps before the first index where the first row begins.
    pub(super) before: usize,
    /// By how much the window moves down with each count of a group.
    pub(super) moves: Vec<i64>,
}

impl Side {
    /// The tables; nothing if the numbers get too large, or too small.
    pub(super) fn new(kind: Kind, counts: &[Counts], lattice: Lattice, period: usize) -> Option<Side> {
        let groups = counts.iter().map(|counts| Cells::new(kind, counts, &lattice)).collect::<Option<_>>()?;
        Some(Side { lattice, groups, period })
    }

    /// The index of the smallest loss that is at least epsilon.
    fn first_index(&self, epsilon: &Rational) -> Integer {
        Rational::from(epsilon / &self.lattice.spacing).ceil().numer().clone()
    }

    /// exp(-this) times the entry at index 0 is the bound.
    fn last_exponent(&self, first: &Integer) -> Rational {
        let norm: Integer = self.groups.iter().map(|group| Integer::from(&group.norm * group.counts.copies)).sum();
        self.lattice.slope() * first - self.lattice.norm_unit() * norm
    }

    /// The loss of the first index less epsilon.
    fn excess(&self, epsilon: &Rational, first: &Integer) -> Rational {
        Rational::from(&self.lattice.spacing * first) - epsilon
    }

    /// The bound of an entry of the last row.
    fn bound(&self, factor: Integer, entry: u64) -> Rational {
        Rational::from(factor * entry) >> (self.lattice.fixed.bits + BITS)
    }

    /// An upper bound on the mean gain at this epsilon.
    pub(super) fn upper(&self, epsilon: &Rational) -> Option<Rational> {
        let (first, period) = (self.first_index(epsilon), Integer::from(self.period));
        let mut row = self.first_row(epsilon, &first)?;
        let place = |index: Integer| index.modulo(&period).to_usize().unwrap_or_default();
        for group in self.groups.iter().rev() {
            for _ in 0..group.counts.copies {
                row = on_circle(&row, &group.table, group.tail, |i| place(-Integer::from(group.left + i as i64)));
                if row.iter().any(|&entry| entry > TOP) {
                    return None;
                }
            }
        }
        let factor = self.lattice.fixed.exp_up_signed(&self.last_exponent(&first))?;
        Some(self.bound(factor, row[place(-first)]))
    }

    /// The gain (1 - exp(epsilon - loss)) exp(-tilt (loss - first loss)) from the first index on, with the aliases a period later.
    fn first_row(&self, epsilon: &Rational, first: &Integer) -> Option<Vec<u64>> {
        let Lattice { spacing, fixed, .. } = &self.lattice;
        let slope = self.lattice.slope();
        let (fall, keep) = (fixed.exp_up(&slope), fixed.exp_down(spacing));
        let alias = fixed.scale_up(fixed.exp_up(&(slope * Integer::from(self.period))) << BITS);
        let (mut e, mut f) = (fixed.one(), fixed.exp_down(&self.excess(epsilon, first)));
        let entry = |_| {
            let gain = fixed.scale_up((fixed.one() - &f) * &e);
            let entry = fixed.scale_up(gain << BITS) + &alias;
            e = fixed.scale_up(Integer::from(&e * &fall));
            f = fixed.scale_down(Integer::from(&f * &keep));
            entry.to_u64().filter(|&entry| entry <= TOP)
        };
        (0..self.period).map(entry).collect()
    }

    /// A lower bound on the mean gain at this epsilon, in a window that moves with the walk.
    pub(super) fn lower(&self, epsilon: &Rational) -> Option<Below> {
        let first = self.first_index(epsilon);
        let before = self.period / 2;
        let mut row = self.first_row_down(epsilon, &first, before)?;
        let moves = self.moves(first.to_f64());
        let mut start = Integer::from(&first - before);
        for (group, &down) in self.groups.iter().zip(&moves).rev() {
            for _ in 0..group.counts.copies {
                row = in_window(&row, &group.table, |i| Some(-(down + group.left + i as i64)));
                start -= down;
            }
        }
        let entry = (-start).to_usize().and_then(|at| row.get(at).copied()).unwrap_or_default();
        let factor = self.lattice.fixed.exp_down_signed(&self.last_exponent(&first));
        Some(Below { value: self.bound(factor, entry), before, moves })
    }

    /// The window follows the mean of the tilted walk, which ends at index 0: each count moves it in proportion to its rho.
    fn moves(&self, first: f64) -> Vec<i64> {
        let rho = |group: &Cells| (group.counts.shift as f64).powi(2) / (2.0 * group.counts.sigma2.to_f64());
        let total: f64 = self.groups.iter().map(|group| group.counts.copies as f64 * rho(group)).sum();
        self.groups.iter().map(|group| (first * rho(group) / total).round() as i64).collect()
    }

    fn first_row_down(&self, epsilon: &Rational, first: &Integer, before: usize) -> Option<Vec<u64>> {
        let Lattice { spacing, fixed, .. } = &self.lattice;
        let (fall, keep) = (fixed.exp_down(&self.lattice.slope()), fixed.exp_up(spacing));
        let (mut e, mut f) = (fixed.one(), fixed.exp_up(&self.excess(epsilon, first)));
        let entry = |_| {
            let gain = fixed.scale_down((fixed.one() - &f).max(Integer::new()) * &e);
            let entry = fixed.scale_down(gain << BITS);
            e = fixed.scale_down(Integer::from(&e * &fall));
            f = fixed.scale_up(Integer::from(&f * &keep));
            entry.to_u64()
        };
        std::iter::repeat_n(Some(0), before).chain((before..self.period).map(entry)).collect()
    }

    /// The certificate for Rocq, with this name; epsilon and delta as its fields.
    pub(super) fn definition(&self, name: &str, epsilon: &Rational, [epsilon_text, delta_text]: [&str; 2]) -> String {
        let Lattice { step, spacing, tilt, fixed } = &self.lattice;
        let groups: Vec<String> = self.groups.iter().map(|group| group.text(step)).collect();
        let pair = |value: &Rational| format!("({}) ({})", value.numer(), value.denom());
        format!(
            "Definition {name} : certificate := Certificate\n  [{}]%Z\n  {epsilon_text} (* epsilon *)\n  {delta_text} (* delta *)\n  \
             {} (* step of the lattice of losses *)\n  {} (* tilt *)\n  {} ({}) {} {} (* period, first index, bits, squarings *).\n\n",
            groups.join(";\n   "),
            pair(spacing),
            pair(tilt),
            self.period,
            self.first_index(epsilon),
            fixed.bits,
            fixed.squarings,
        )
    }
}
