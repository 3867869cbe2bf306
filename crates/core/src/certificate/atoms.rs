//! Enumeration: for units of few groups, or with bounded losses, the outcomes that a checker sums one by one.
//!
//! A checker enumerates all sums of the losses of half of the groups, and of the other half, and goes through pairs of both in order. The
//! truncated mass is the complement of the sums, under P and, times exp(epsilon), under Q: so the ranges only have to be wide enough.

use std::collections::BTreeSet;

use rug::{Integer, Rational};

use super::{
    claim::{Paths, Unit, step_of},
    hints::{Hints, Proof},
};
use crate::loss::law::{Group, Law};

/// Products of two masses that a checker may have to compute; it refuses more than two million.
const MOST_PRODUCTS: f64 = 1.5e6;
/// The largest reach of the noise of all counts of a group.
const MOST_REACH: f64 = 2e5;
/// The most bits of a checker.
const MOST_BITS: f64 = 4096.0;
/// The checkers know losses of tables to about this error, as a logarithm.
const LN_ERROR_OF_LOSSES: f64 = -62.0;

/// One half of the groups, as a checker enumerates them: the number of sums, about, their common measure, and their span in steps.
#[derive(Clone)]
struct Half {
    len: f64,
    measure: Integer,
    span: f64,
}

/// The number of sums that some counts with one table can have, at most: that of choices of k losses with repetition, and that of points of m whole
/// numbers, as many as losses have different sizes, at most so far from zero.
struct Sums {
    losses: u32,
    sizes: u32,
}

impl Sums {
    fn of_group(group: &Group) -> Option<Sums> {
        let places = group.law.finite(group.shift)?.places?;
        let sizes: BTreeSet<Integer> = places.iter().map(|place| place.clone().abs()).collect();
        Some(Sums { losses: u32::try_from(places.len()).ok()?, sizes: u32::try_from(sizes.len()).ok()? })
    }

    fn many(&self, counts: u32) -> f64 {
        let choose = |n: u32, r: u32| Integer::from(n).binomial(r);
        let points = (0..=self.sizes.min(counts)).map(|j| (choose(self.sizes, j) * choose(counts, j)) << j);
        choose(counts + self.losses.saturating_sub(1), counts).min(points.sum()).to_f64()
    }
}

/// A table in both halves: half of its counts each. The products of masses; `None` if they are too many.
fn table_in_halves(group: &Group, halves: &mut [Half], before: f64) -> Option<f64> {
    let (sums, counts) = (Sums::of_group(group)?, u32::try_from(group.copies).ok()?);
    let mut products = before;
    let few = counts / 2;
    for (half, counts) in halves.iter_mut().zip([counts - few, few]) {
        for each in 0..counts {
            products += f64::from(sums.losses) * sums.many(each);
            if products > MOST_PRODUCTS {
                return None;
            }
        }
        products += half.len * sums.many(counts);
        half.len *= sums.many(counts);
    }
    (products <= MOST_PRODUCTS).then_some(products)
}

/// Hints for bounds of delta(epsilon) of one unit that are off by at most exp(ln_error); `None` if it has too many outcomes.
pub(super) fn hints(paths: &Paths, unit: &Unit, epsilon: &Rational, ln_error: f64, named: bool) -> Option<Hints> {
    let (step, epsilon) = (step_of(paths.of_unit(unit)), epsilon.to_f64());
    let many = paths.of_unit(unit).count() as f64;
    // A share of the error for each tail, half as large as needed; under Q it counts exp(epsilon) times.
    let depth = libm::log(16.0 * many) - ln_error;
    let bits_needed = (depth + epsilon) / std::f64::consts::LN_2 + 40.0;
    let mut halves = vec![Half { len: 1.0, measure: Integer::new(), span: 0.0 }; 2];
    let (mut kept, mut products) = (Vec::new(), 0.0);
    for group in paths.of_unit(unit) {
        if matches!(group.law, Law::Table(_)) {
            if ln_error < LN_ERROR_OF_LOSSES + libm::log(group.copies as f64) {
                return None;
            }
            halves.sort_by(|a, b| a.len.total_cmp(&b.len));
            products = table_in_halves(group, &mut halves, products)?;
            kept.push(None);
            continue;
        }
        let moved = (group.copies * group.shift) as f64;
        let (first, last, reach) = match group.law.sigma2() {
            None => (-moved, 0.0, moved),
            Some(sigma2) => {
                let sigma2 = sigma2.to_f64();
                let wide = |depth: f64| (2.0 * group.copies as f64 * sigma2 * depth).sqrt().ceil() + 1.0;
                let (under_p, under_q) = (wide(depth), wide(depth + epsilon));
                let reach = (1.4 * sigma2 * (bits_needed + 64.0)).sqrt() * group.copies as f64;
                ((-moved - under_q).min(-under_p), under_p.max(under_q - moved), reach)
            }
        };
        // Written without `<`, so that NaN does not pass.
        if !(reach < MOST_REACH && first > -1e6 && last < 1e6) {
            return None;
        }
        halves.sort_by(|a, b| a.len.total_cmp(&b.len));
        let width = last - first + 1.0;
        products += halves[0].len * width;
        if products > MOST_PRODUCTS {
            return None;
        }
        let steps = (group.weight() / &step).into_numer_denom().0;
        let half = &mut halves[0];
        half.span += (width - 1.0) * steps.to_f64();
        half.measure.gcd_mut(&steps);
        half.len = (half.len * width).min(half.span / half.measure.to_f64() + 1.0);
        kept.push(Some((first as i64, last as i64)));
    }
    let bits = bits_needed + libm::log2(products + MOST_REACH);
    if bits > MOST_BITS {
        return None;
    }
    Some(Hints {
        units: named.then(|| vec![unit.clone()]),
        proof: Proof::Atoms { kept },
        bits: ((bits / 16.0).ceil() * 16.0).clamp(64.0, MOST_BITS) as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{numeric::rational, release::subject::Subject};

    fn paths(singles: &[&str]) -> Paths {
        let singles = singles.iter().map(|text| text.parse().unwrap()).collect();
        Paths::of_whole(&Subject { singles, ..Subject::default() }.resolve().unwrap().whole).unwrap()
    }

    #[test]
    fn few_groups_are_listed_and_many_are_not() {
        let epsilon = rational::parse("8").unwrap();
        let few = hints(&paths(&["5.00001x10", "37.123457x60"]), &vec![0], &epsilon, -50.0, false).unwrap();
        let Proof::Atoms { kept } = &few.proof else { panic!("atoms") };
        let kept: Vec<(i64, i64)> = kept.iter().copied().flatten().collect();
        // Ten counts moved by one, of standard deviation 7.1, and sixty, of 47: more than ten deviations.
        assert!(kept[0].0 < -80 && kept[0].1 > 70 && kept[1].0 < -530 && kept[1].1 > 470, "{kept:?}");
        assert!(few.bits >= 144 && few.units.is_none(), "{}", few.bits);
        let many = paths(&["5.00001x10", "37.123457x60", "11.7x9", "13.3x9", "900.1x9", "401.3x9"]);
        assert!(hints(&many, &vec![0], &epsilon, -50.0, false).is_none());
        assert!(hints(&paths(&["1e11"]), &vec![0], &epsilon, -50.0, false).is_none());
    }
}
