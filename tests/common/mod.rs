//! The reference for certified answers: the law of the privacy loss by enumeration.
//!
//! It uses nothing of the library except interval arithmetic: no lattice, no theta function, no contour, no convolution.

// Each test file uses only a part.
#![allow(dead_code)]

pub mod estimates;
pub mod facts;
pub mod in_folder;
pub mod listing;
pub mod nmf_desk;
pub mod nmf_rows;
pub mod numbers;
pub mod parquet_records;
pub mod program;
pub mod small_dhc;
pub mod spines;
pub mod tiny_nmf;
pub mod verified;

use std::{collections::BTreeMap, sync::mpsc, thread, time::Duration};

use dp_assay::{
    account::{Composition, Counts},
    numeric::Enclosure,
};
pub use numbers::number;
use rug::{Float, Rational};

/// Bits of the intervals computed here.
pub const BITS: u32 = 320;

/// An exact number as an interval.
pub fn exact(value: &Rational) -> Enclosure {
    Enclosure::rational(value, BITS)
}

/// The counts of a composition from its text: groups as on the command line, separated by blanks. Those with other than discrete Gaussian noise begin
/// with the name of their option, as in `5x10 discrete-laplace:1/2x3 sampled:0.01:gaussian:1`.
pub fn counts(text: &str) -> Vec<Counts> {
    let group = |group: &str| match group.split_once(':') {
        Some((key, rest)) => Counts::read(key, rest, false),
        None => group.parse(),
    };
    text.split_whitespace().map(|text| group(text).unwrap_or_else(|error| panic!("{text}: {error}"))).collect()
}

/// A composition from its text.
pub fn composition(text: &str) -> Composition {
    Composition::new(counts(text)).unwrap()
}

/// The exact value of an end of an enclosure.
pub fn end(float: &Float) -> Rational {
    float.to_rational().unwrap()
}

/// The result if it arrives in time. A computation that hangs fails only its own test.
pub fn within<T: Send + 'static>(seconds: u64, ask: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || send.send(ask()));
    receive.recv_timeout(Duration::from_secs(seconds)).ok()
}

/// The masses of N_Z(0, sigma2) at -reach..=reach by definition, and an upper bound on the mass beyond them.
pub struct Masses {
    /// P[X = x] for x from -reach.
    pub at: BTreeMap<i64, Enclosure>,
    /// Upper bound on P[|X| > reach].
    pub beyond: Enclosure,
}

/// The sum over x > reach of exp(-x^2 / (2 sigma2)) is at most its first term / (1 - exp(-(reach + 1) / sigma2)), because
/// (r + j)^2 >= r^2 + 2 r j.
fn tail(sigma2: &Rational, reach: i64) -> Enclosure {
    let next = Rational::from(reach + 1);
    let first = exact(&(-next.clone().square() / Rational::from(sigma2 * 2_u32))).exp();
    first.div(&exact(&(-next / sigma2)).exp_m1().negate())
}

impl Masses {
    /// All masses down to about 2^-200.
    pub fn new(sigma2: &Rational) -> Self {
        Masses::within(sigma2, (17.0 * sigma2.to_f64().sqrt()).ceil() as i64 + 1)
    }

    fn within(sigma2: &Rational, reach: i64) -> Self {
        let weight = |x: i64| exact(&(-Rational::from(x).square() / Rational::from(sigma2 * 2_u32))).exp();
        let rest = tail(sigma2, reach).mul(&exact(&Rational::from(2)));
        let all = (-reach..=reach).fold(upper_only(&rest), |sum, x| sum.add(&weight(x)));
        Masses { at: (-reach..=reach).map(|x| (x, weight(x).div(&all))).collect(), beyond: rest.div(&all) }
    }

    /// P[X >= x].
    pub fn upper_tail(&self, x: i64) -> Enclosure {
        self.at.range(x..).fold(upper_only(&self.beyond), |sum, (_, mass)| sum.add(mass))
    }
}

/// [0, upper end]: the contribution of a bound to a sum.
fn upper_only(bound: &Enclosure) -> Enclosure {
    bound.hull(&exact(&Rational::new()))
}

/// The law of L = ln dP/dQ under P, for the product pair of a composition: every loss with its mass.
pub struct Losses {
    masses: BTreeMap<Rational, Enclosure>,
    /// Upper bound on the mass, under P and under Q, of the outcomes that are not enumerated.
    beyond: Enclosure,
}

impl Losses {
    /// Enumerates all outcomes of a composition, one count after the other. For a handful of counts.
    pub fn new(text: &str) -> Self {
        let mut all =
            Losses { masses: [(Rational::new(), exact(&Rational::from(1)))].into(), beyond: exact(&Rational::new()) };
        for group in counts(text) {
            let single = Losses::single(&group);
            for _ in 0..group.count {
                all = all.and(&single);
            }
        }
        all
    }

    fn single(group: &Counts) -> Self {
        let shift = group.shift as i64;
        // The window contains the bulk of both laws: N_Z(0, sigma2) and the same moved by the shift.
        let reach = (17.0 * sigma2_of(group).to_f64().sqrt()).ceil() as i64 + 1 + shift;
        let masses = Masses::within(sigma2_of(group), reach);
        let both_laws = Masses::within(sigma2_of(group), reach - shift).beyond;
        let loss = |x: i64| {
            // ln of exp(-x^2 / (2 sigma2)) / exp(-(x - shift)^2 / (2 sigma2))
            Rational::from((x - shift) * (x - shift) - x * x) / Rational::from(sigma2_of(group) * 2_u32)
        };
        Losses { masses: masses.at.into_iter().map(|(x, mass)| (loss(x), mass)).collect(), beyond: both_laws }
    }

    fn and(&self, other: &Self) -> Self {
        let mut masses: BTreeMap<Rational, Enclosure> = BTreeMap::new();
        for (l, p) in &self.masses {
            for (m, q) in &other.masses {
                let mass = p.mul(q);
                masses.entry(Rational::from(l + m)).and_modify(|sum| *sum = sum.add(&mass)).or_insert(mass);
            }
        }
        Losses { masses, beyond: self.beyond.add(&other.beyond) }
    }

    /// All losses that are enumerated, in order.
    pub fn values(&self) -> impl Iterator<Item = &Rational> {
        self.masses.keys()
    }

    /// E[g(L)] for a g with values in [0, 1] on all losses.
    pub fn mean_of(&self, g: impl Fn(&Rational) -> Enclosure) -> Enclosure {
        self.mean(|loss| Some(g(loss)))
    }

    /// E[g(L)] for a g with values in [0, 1] that `g` encloses; `None` means zero.
    fn mean(&self, g: impl Fn(&Rational) -> Option<Enclosure>) -> Enclosure {
        let terms = self.masses.iter().filter_map(|(l, mass)| Some(mass.mul(&g(l)?)));
        terms.fold(upper_only(&self.beyond), |sum, term| sum.add(&term))
    }

    /// delta(epsilon) = E_P[(1 - exp(epsilon - L))_+].
    pub fn delta(&self, epsilon: &Rational) -> Enclosure {
        self.mean(|l| (l > epsilon).then(|| exact(&Rational::from(epsilon - l)).exp_m1().negate()))
    }

    /// P[L >= z].
    pub fn upper_tail(&self, z: &Rational) -> Enclosure {
        self.mean(|l| (l >= z).then(|| exact(&Rational::from(1))))
    }

    /// Q[L >= z]: every outcome has exp(-L) times the mass under Q that it has under P.
    pub fn upper_tail_under_q(&self, z: &Rational) -> Enclosure {
        let terms = self.masses.iter().filter(|(l, _)| *l >= z);
        terms.fold(upper_only(&self.beyond), |sum, (l, mass)| sum.add(&mass.mul(&exact(&-l.clone()).exp())))
    }

    /// P[L <= z].
    pub fn lower_tail(&self, z: &Rational) -> Enclosure {
        self.mean(|l| (l <= z).then(|| exact(&Rational::from(1))))
    }
}

/// The law of X_1 + X_2 by Theorem A.8 of Su, Su & Wang: P[X_1 + X_2 = y] is exp(-y^2 / (4 sigma2)) times one coefficient for even y and
/// another for odd y.
///
/// With x^2 + (y - x)^2 = 2 (x - y/2)^2 + y^2 / 2 the coefficients are the sum over i of exp(-(i - mu)^2 / sigma2), for mu = 0 and 1/2,
/// divided by (sum over i of exp(-i^2 / (2 sigma2)))^2. The text of the paper exchanges the widths sigma and sqrt(2) sigma of the two sums,
/// which does not sum to one.
pub fn two_fold(sigma2: &Rational) -> Masses {
    let reach = (25.0 * sigma2.to_f64().sqrt()).ceil() as i64 + 2;
    let sum = |mu: &Rational, width2: &Rational| {
        let weight = |i: i64| exact(&(-(Rational::from(i) - mu).square() / width2)).exp();
        // Beyond the reach the terms are smaller than those for a center at most one closer.
        let rest = tail(&Rational::from(width2 / 2), reach - 1).mul(&exact(&Rational::from(2)));
        (-reach..=reach).fold(upper_only(&rest), |sum, i| sum.add(&weight(i)))
    };
    let (zero, half, wide) = (Rational::new(), Rational::from((1, 2)), Rational::from(sigma2 * 2_u32));
    let norm = sum(&zero, &wide);
    let norm = norm.mul(&norm);
    let (even, odd) = (sum(&zero, sigma2).div(&norm), sum(&half, sigma2).div(&norm));
    let mass = |y: i64| {
        let coefficient = if y % 2 == 0 { &even } else { &odd };
        exact(&(-Rational::from(y).square() / Rational::from(sigma2 * 4_u32))).exp().mul(coefficient)
    };
    // The sum is sub-Gaussian with variance proxy 2 sigma2 (Canonne, Kamath & Steinke, Corollary 17), on each side.
    let exponent = -Rational::from(reach + 1).square() / Rational::from(sigma2 * 4_u32);
    let beyond = exact(&exponent).exp().mul(&exact(&Rational::from(2)));
    Masses { at: (-reach..=reach).map(|y| (y, mass(y))).collect(), beyond }
}

/// The variance proxy of counts with discrete Gaussian noise.
#[allow(dead_code)]
pub fn sigma2_of(counts: &Counts) -> &Rational {
    counts.law.parameter()
}
