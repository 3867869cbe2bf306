//! Tails of the evidence from several counts whose noise takes few values: a sum over the outputs of all counts but
//! one.
//!
//! With L = sum of rho_i (2 X_i + 1), X_i the noise of count i, and the counts in the order of their rho,
//!
//! P[L >= z] = sum over x_2, ..., x_k of P[X_2 = x_2] ... P[X_k = x_k] P[X_1 >= t],
//! t = ceil((z - rho_1 - sum over i >= 2 of rho_i (2 x_i + 1)) / (2 rho_1)).
//!
//! Truncation: outputs of a count beyond its reach are left out. The error is at most the sum of the tails there.

use rug::{Integer, Rational};

use super::{exp, plus_at_most};
use crate::{loss::theta, numeric::Enclosure};

/// Limit on the number of outputs summed over.
const MOST_OUTPUTS: f64 = 100_000.0;
/// Limit on the number of noise masses of the count with the smallest rho.
const MOST_MASSES: f64 = 20_000.0;

/// The masses of the noise of one count from -reach to reach.
struct Masses {
    rho: Rational,
    reach: i64,
    /// Indexed by the absolute value.
    masses: Vec<Enclosure>,
}

/// The distance from 0 up to which masses exceed 2^-share.
fn reach_of(rho: &Rational, share: u32) -> f64 {
    (f64::from(share) * std::f64::consts::LN_2 / rho.to_f64()).sqrt().ceil() + 1.0
}

/// The number of outputs within reach: of all counts but the one with the smallest rho, and of that one.
fn outputs(sorted: &[&Rational], share: u32) -> (f64, f64) {
    let of = |rho: &Rational| 2.0 * reach_of(rho, share) + 1.0;
    (sorted[1..].iter().map(|rho| of(rho)).product(), of(sorted[0]))
}

/// Tails below about 2^-MOST_SHARE may be wider than requested.
const MOST_SHARE: u32 = 1_000_000;

/// About -log2 of P[L >= z] where the noise is wide, by ln E[exp(s L)] <= R (s + s^2) for R = sum of rho_i: a first guess, never a bound.
fn size_of_tail(rhos: &[Rational], z: &Rational) -> f64 {
    let rho: f64 = rhos.iter().map(Rational::to_f64).sum();
    (z.to_f64() - rho).max(0.0).powi(2) / (4.0 * rho * std::f64::consts::LN_2)
}

/// P[L >= z] to a relative width of 10^-digits; `None` if there are too many outputs. Tails below 2^-MOST_SHARE may be wider.
pub(super) fn upper_tail(rhos: &[Rational], z: &Rational, digits: u32) -> Option<Enclosure> {
    let mut sorted: Vec<&Rational> = rhos.iter().collect();
    sorted.sort_unstable();
    let size = size_of_tail(rhos, z);
    // A reach that the tail needs and that has too many outputs is not approached in steps.
    let (others, own) = outputs(&sorted, size.min(f64::from(MOST_SHARE)) as u32);
    if others > MOST_OUTPUTS || own > MOST_MASSES {
        return None;
    }
    let mut share = 20 + 4 * digits + size.min(f64::from(MOST_SHARE)) as u32;
    loop {
        let (others, own) = outputs(&sorted, share);
        if others > MOST_OUTPUTS || own > MOST_MASSES {
            return None;
        }
        let value = tail_within(&sorted, z, share, digits);
        if value.is_tight(digits) || share > 2 * MOST_SHARE {
            return Some(value);
        }
        // Refine until the truncation error is small against the tail itself.
        let size = value.lower().get_exp().map_or(share, |exponent| exponent.unsigned_abs());
        share = share.saturating_add(size.min(4 * share)).max(share + 40);
    }
}

fn tail_within(sorted: &[&Rational], z: &Rational, share: u32, digits: u32) -> Enclosure {
    // All terms are positive, so their sum keeps the relative width of the widest: no more bits for smaller tails. Each operation adds
    // at most 2^(1 - bits), and there are fewer than 2^20 in a row.
    let bits = 4 * digits + 60;
    let all: Vec<Masses> = sorted.iter().map(|rho| Masses::new(rho, share, bits)).collect();
    // P[X_1 >= t] for t from -reach to reach + 1, summed from the far end.
    let first = &all[0];
    let mut tails = vec![Enclosure::double(0.0, bits)];
    for x in (-first.reach..=first.reach).rev() {
        let next = tails[tails.len() - 1].add(&first.masses[x.unsigned_abs() as usize]);
        tails.push(next);
    }
    let mut sum = Sum { all: &all, tails: &tails, total: Enclosure::double(0.0, bits) };
    let rest = Rational::from(z - sorted[0]);
    sum.add(all.len() - 1, &rest, &Enclosure::double(1.0, bits));
    let left_out = all.iter().fold(Enclosure::double(0.0, 64), |sum, own| sum.add(&own.beyond()));
    plus_at_most(&sum.total, &left_out).clamp(0.0, 1.0)
}

impl Masses {
    fn new(rho: &Rational, share: u32, bits: u32) -> Masses {
        let reach = reach_of(rho, share) as i64;
        let sigma2 = Rational::from(1) / Rational::from(rho * 2_u32);
        let inverse = theta::gaussian_sum(&sigma2, bits).recip();
        let mass = |x: i64| exp(&-(Rational::from(x).square() * rho), bits).mul(&inverse);
        Masses { rho: rho.clone(), reach, masses: (0..=reach).map(mass).collect() }
    }

    /// P[|X| > reach]: masses fall by at least a factor exp(-2 rho reach) per step, and the normalizing sum is at least
    /// 1.
    fn beyond(&self) -> Enclosure {
        let first = exp(&-(Rational::from(self.reach + 1).square() * &self.rho), 64);
        let ratio = exp(&-(Rational::from(2 * self.reach) * &self.rho), 64);
        let one = Enclosure::double(1.0, 64);
        first.mul(&Enclosure::double(2.0, 64)).div(&one.sub(&ratio))
    }
}

struct Sum<'a> {
    all: &'a [Masses],
    /// P[reach_1 >= X_1 > reach_1 - n] by n.
    tails: &'a [Enclosure],
    total: Enclosure,
}

impl Sum<'_> {
    /// Adds the contribution of the counts up to `count`, where the counts after it have the mass `weight` and leave
    /// `rest` of z - rho_1.
    fn add(&mut self, count: usize, rest: &Rational, weight: &Enclosure) {
        let own = &self.all[count];
        if count == 0 {
            // X_1 >= t for t = ceil(rest / (2 rho_1)): the number of masses from the far end.
            let t = Rational::from(rest / &own.rho) / 2_u32;
            let many = Integer::from(own.reach + 1) - t.ceil().into_numer_denom().0;
            let last = self.tails.len() - 1;
            let many = if many < 0 { 0 } else { many.to_usize().map_or(last, |many| many.min(last)) };
            if many > 0 {
                self.total = self.total.add(&weight.mul(&self.tails[many]));
            }
            return;
        }
        for x in -own.reach..=own.reach {
            let rest = rest - Rational::from(&own.rho * (2 * x + 1));
            let weight = weight.mul(&own.masses[x.unsigned_abs() as usize]);
            self.add(count - 1, &rest, &weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{loss::testing::sum, numeric::rational::parse};

    /// The tail from the contour integral.
    fn by_contour(rhos: &[Rational], z: &Rational, digits: u32) -> Enclosure {
        let sigma2s: Vec<String> = rhos.iter().map(|rho| Rational::from(rho * 2_u32).recip().to_string()).collect();
        sum(&sigma2s).evaluator().upper_tail(z, digits).unwrap().value
    }

    #[test]
    fn sums_over_outputs_agree_with_the_contour() {
        for (rhos, z) in [
            ("1/2,1/4", "3/4"),
            ("1/2,1/4", "5.4"),
            ("1/10,1/5,1/2", "1"),
            ("1/10,1/5,1/2", "7.1"),
            ("1/20,1/20", "0.4"),
            ("1,2,3", "20"),
        ] {
            let rhos: Vec<Rational> = rhos.split(',').map(|rho| parse(rho).unwrap()).collect();
            // A point between those of the lattice, and one of it.
            for z in [parse(z).unwrap(), rhos.iter().sum::<Rational>() + 2_u32 * rhos[0].clone()] {
                let (own, contour) = (upper_tail(&rhos, &z, 20).unwrap(), by_contour(&rhos, &z, 20));
                assert!(own.is_tight(20) && own.overlaps(&contour), "{rhos:?} {z}: {own:?} {contour:?}");
            }
        }
    }

    #[test]
    fn one_large_rho_is_summed_and_many_small_ones_are_not() {
        let rhos = |text: &str| text.split(',').map(|rho| parse(rho).unwrap()).collect::<Vec<_>>();
        let z = parse("13.8").unwrap();
        let value = upper_tail(&rhos("0.926,1156/5,464/5"), &z, 12).unwrap();
        // With probability above 1 - exp(-92.8) the noise of the last two is zero, and then L is positive.
        assert!(*value.lower() > 0.999_999 && value.is_tight(12));
        let far = upper_tail(&rhos("1000,1000"), &parse("12000").unwrap(), 12).unwrap();
        assert!(far.is_tight(12) && *far.upper() < 1e-300);
        // Many outputs and a tail of thousands of bits: 12 digits agree with 30, and lie below the bound exp(-(z - R)^2 / (4 R)).
        let (small, z) = (rhos("1/50,1/70"), parse("27.6").unwrap());
        let (short, long) = (upper_tail(&small, &z, 12).unwrap(), upper_tail(&small, &z, 30).unwrap());
        assert!(short.is_tight(12) && long.is_tight(30) && short.overlaps(&long), "{short:?} {long:?}");
        let bound = exp(&-((&z - parse("6/175").unwrap()).square() / parse("24/175").unwrap()), 64);
        assert!(short.upper() < bound.lower(), "{short:?}");
        // 10^-13785.
        let farther = upper_tail(&rhos("1/1000,1/2000"), &parse("13.8").unwrap(), 12).unwrap();
        assert!(farther.is_tight(12), "{farther:?}");
        assert!(upper_tail(&rhos("0.00001,0.00002,0.00003"), &z, 12).is_none());
    }
}
