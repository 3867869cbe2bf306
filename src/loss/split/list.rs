//! The losses of the coarse groups at one tilt: all of them outlined in doubles, and made when they matter.

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
    /// Every sum of one loss of each group.
    pub(super) sums: Vec<Outlined>,
}

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

/// A loss of the coarse groups, and what is stored of its mass under P and under Q.
#[derive(Debug)]
pub(super) struct Loss {
    pub(super) outlined: Outlined,
    pub(super) atom: Atom,
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
        let Coarse { ln_mgf, missing, .. } = list;
        Ok(List { ln_mgf, missing, of_groups, sums, c, cut, bits })
    }

    /// A loss with its masses.
    pub(super) fn loss(&self, outlined: Outlined) -> Loss {
        let (mut place, mut atom) = (outlined.place, Atom::none(self.bits));
        for single in self.of_groups.iter().rev() {
            atom = atom.and(&single[place % single.len()]);
            place /= single.len();
        }
        Loss { outlined, atom }
    }
}

/// At least ln of a number that is not negative.
fn ln_above(value: &Enclosure) -> f64 {
    Float::with_val_round(64, value.upper().ln_ref(), Round::Up).0.to_f64_round(Round::Up)
}
