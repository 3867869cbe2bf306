//! The tilted masses of one term of each law, from which those of a group are convolved.
//!
//! Weights that are proportional to the masses have lower bounds each, and their total an upper bound, so each quotient is a lower bound on a mass.
//! The sum of a group of fine noise is Gaussian up to a factor close to 1, and needs no convolution.

use std::f64::consts::LN_2;

use rug::{Float, Integer, Rational, float::Round, integer::Order, ops::MulAssignRound};

use super::{
    super::{fine, law::Group, theta},
    masses::{Fineness, TiltedMasses},
};
use crate::{
    error::{Error, Result},
    law::Finite,
    numeric::enclosure::Enclosure,
};

/// The law of the loss of all copies of a group, tilted by c. Refused for a continuous law.
pub(super) fn of_group(group: &Group, c: &Rational, fineness: Fineness) -> Result<TiltedMasses> {
    if let Some(ln_off) = off_if_fine(group, fineness.cut) {
        return Ok(of_fine_group(group, c, fineness, ln_off).trimmed(fineness.cut + 2));
    }
    let single = match (group.law.finite(group.shift), group.law.discrete_sigma2()) {
        (Some(of_one), _) => finite(&of_one, c, fineness.words),
        (None, Some(sigma2)) => gaussian(sigma2, group.shift, c, fineness.words),
        (None, None) => return Err(Error::NoLattice),
    };
    // Mass that is cut from one copy is lost by all of them.
    let shares = group.copies.ilog2() + 3;
    let each = Fineness { cut: fineness.cut + shares, ..fineness };
    Ok(single.raised(group.copies, each).trimmed(fineness.cut + 2))
}

/// Upper bound on ln of the relative error of the masses of a fine group, if that is far below the cut.
pub(super) fn off_if_fine(group: &Group, cut: u32) -> Option<f64> {
    fine::ln_off(group).filter(|ln_off| *ln_off < -f64::from(cut + 6) * LN_2)
}

/// All copies of a fine group at once: see [`fine`].
fn of_fine_group(group: &Group, c: &Rational, fineness: Fineness, ln_off: f64) -> TiltedMasses {
    let words = fineness.words;
    let precision = 64 * words as u32 + 63;
    let v = Rational::from(group.law.parameter() * group.copies);
    let m = Rational::from(c * group.shift) * group.copies;
    let center = m.clone().round().into_numer_denom().0;
    let d = Rational::from(&center - &m);
    let off = Enclosure::double(ln_off, 64).exp();
    let one = Enclosure::double(1.0, precision);
    // exp(-d^2 / (2 v)) / sqrt(2 pi v) (1 - 3 e), and from there outward.
    let twice = Enclosure::rational(&Rational::from(&v * 2_u32), precision);
    let largest = Enclosure::rational(&(-d.clone().square() / &v / 2_u32), precision)
        .exp()
        .div(&twice.mul(&Enclosure::pi(precision)).sqrt())
        .mul(&one.sub(&off.mul(&Enclosure::double(3.0, 64))))
        .lower()
        .clone();
    // Beyond k a Gaussian has 2 exp(-k^2 / (2 v)): this cut is part of the truncated mass.
    let reach = (2.0 * v.to_f64() * f64::from(fineness.cut + 8) * LN_2).sqrt() as usize + 2;
    let side = |d: &Rational| {
        let mut slope = Slope::new(&v, d, precision, Round::Down);
        slope.value.clone_from(&largest);
        let mut masses = Vec::with_capacity((2 * reach + 1) * words);
        for _ in 0..reach {
            slope.advance();
            push(&mut masses, &slope.value, words);
        }
        masses
    };
    let mut digits: Vec<u64> = reversed(&side(&-d.clone()), words).collect();
    push(&mut digits, &largest, words);
    digits.extend(side(&d));
    let exact = group.rho() * (c.clone().square() + c);
    let zero = Enclosure::double(0.0, 64);
    let step = group.weight();
    TiltedMasses {
        origin: group.rho() + Rational::from(&step * &center),
        step,
        first: -(reach as i64),
        listed: None,
        ln_mgf: Enclosure::rational(&exact, precision + 64).add(&off.negate().hull(&zero)),
        words,
        digits,
    }
}

/// Appends a number of at most one in units of 2^(1 - 64 words), rounded down.
fn push(digits: &mut Vec<u64>, value: &Float, words: usize) {
    let start = digits.len();
    digits.resize(start + words, 0);
    if let Some((significand, exponent)) = value.to_integer_exp() {
        // Of a number that is not negative the shift rounds down.
        let units = significand << (exponent + 64 * words as i32 - 1);
        units.write_digits(&mut digits[start..], Order::Lsf);
    }
}

/// The masses in the other order.
fn reversed(digits: &[u64], words: usize) -> impl Iterator<Item = u64> {
    digits.chunks(words).rev().flatten().copied()
}

/// Bounds from one side for exp(-(2 d k + k^2) / (2 sigma2)), k = 0, 1, ...: each is the last one times a ratio that
/// falls by the factor exp(-1 / sigma2) from step to step. All factors are positive, so rounding every one of them to
/// one side rounds the result to that side.
struct Slope {
    value: Float,
    ratio: Float,
    fall: Float,
    round: Round,
}

impl Slope {
    fn new(sigma2: &Rational, d: &Rational, precision: u32, round: Round) -> Self {
        let exp = |x: &Rational| {
            let value = Enclosure::rational(x, precision).exp();
            if round == Round::Down { value.lower().clone() } else { value.upper().clone() }
        };
        let first = -(Rational::from(d * 2_u32) + 1_u32) / Rational::from(sigma2 * 2_u32);
        Slope {
            value: Float::with_val(precision, 1),
            ratio: exp(&first),
            fall: exp(&-Rational::from(sigma2.recip_ref())),
            round,
        }
    }

    fn advance(&mut self) {
        self.value.mul_assign_round(&self.ratio, self.round);
        self.ratio.mul_assign_round(&self.fall, self.round);
    }
}

/// One discrete Gaussian term. Its loss is (shift^2 / 2 + shift x) / sigma2, so the tilted mass at x is proportional to
/// exp(-(x - m)^2 / (2 sigma2)) with m = c shift, and with T(m) the sum of these over all integers
///
/// ln E[exp(c L)] = rho (c + c^2) + ln T(m) - ln T(0),    rho = shift^2 / (2 sigma2).
fn gaussian(sigma2: &Rational, shift: u64, c: &Rational, words: usize) -> TiltedMasses {
    let bits = 64 * words as u32 - 1;
    let precision = bits + 64;
    let m = Rational::from(c * shift);
    let center = m.clone().round().into_numer_denom().0;
    let d = Rational::from(&center - &m);
    // From the center x0 outward, relative to its own weight: (x0 + k - m)^2 - (x0 - m)^2 = 2 d k + k^2 with |d| <= 1/2, and
    // 2 (-d) k + k^2 to the other side.
    let smallest = Float::with_val(64, 1) >> (bits + 2);
    let (mut lower_total, mut upper_total) = (Float::with_val(precision, 1), Float::with_val(precision, 1));
    let mut side = |d: &Rational| {
        let mut low = Slope::new(sigma2, d, precision, Round::Down);
        let mut high = Slope::new(sigma2, d, precision, Round::Up);
        let mut weights: Vec<u64> = Vec::new();
        loop {
            low.advance();
            high.advance();
            if high.value < smallest && high.ratio < 1 {
                // The ratios of successive terms fall, so the remaining ones sum to at most value / (1 - ratio).
                let room = Float::with_val_round(precision, 1 - &high.ratio, Round::Down).0;
                let rest = Float::with_val_round(precision, &high.value / &room, Round::Up).0;
                upper_total = Float::with_val_round(precision, &upper_total + &rest, Round::Up).0;
                return weights;
            }
            lower_total = Float::with_val_round(precision, &lower_total + &low.value, Round::Down).0;
            upper_total = Float::with_val_round(precision, &upper_total + &high.value, Round::Up).0;
            push(&mut weights, &low.value, words);
        }
    };
    let (right, left) = (side(&d), side(&-d.clone()));
    // Places count from x0, which is an integer of any size: the origin is the loss there.
    let first = -((left.len() / words) as i64);
    let mut weights: Vec<u64> = reversed(&left, words).collect();
    push(&mut weights, &Float::with_val(precision, 1), words);
    weights.extend(right);
    let digits = TiltedMasses::scaled(weights, &upper_total, words);
    let twice = Rational::from(sigma2 * 2_u32);
    let rho = Rational::from(Integer::from(shift).square()) / &twice;
    let exact = &rho * (c.clone().square() + c) - d.square() / &twice;
    let total = Enclosure::new(lower_total, upper_total);
    let ln_ratio = total.ln().sub(&theta::gaussian_sum(sigma2, precision).ln());
    let step = Rational::from(shift) / sigma2;
    TiltedMasses {
        origin: rho + Rational::from(&step * &center),
        step,
        first,
        listed: None,
        ln_mgf: Enclosure::rational(&exact, precision + 64).add(&ln_ratio),
        words,
        digits,
    }
}

/// One term of finitely many losses. Its tilted masses relative to the largest are lower bounds each, their total has an upper bound, and
/// E[exp(c L)] is exp(c largest - least) times the ratio of that total to the one at c = 0.
fn finite(one: &Finite, c: &Rational, words: usize) -> TiltedMasses {
    let precision = 64 * words as u32 + 63;
    let (weights, _) = one.tilted(c, precision);
    // Below one by an exact power of two: the weight of many answers of randomized response may be large.
    let exponent = weights.iter().filter_map(|weight| weight.upper().get_exp()).max().unwrap_or(0).max(0);
    let weights: Vec<Enclosure> =
        weights.into_iter().map(|weight| weight.times_power_of_two(-i64::from(exponent))).collect();
    let mut upper_total = Float::new(precision);
    let mut units: Vec<u64> = Vec::with_capacity(weights.len() * words);
    // Ascending losses are the masses from the last one.
    for weight in weights.iter().rev() {
        upper_total = Float::with_val_round(precision, &upper_total + weight.upper(), Round::Up).0;
        push(&mut units, weight.lower(), words);
    }
    let listed = one.places.as_ref().map(|_| (0..weights.len()).rev().map(|k| -one.steps(k)).collect());
    TiltedMasses {
        origin: one.largest.clone(),
        step: one.step.clone(),
        first: if listed.is_some() { 0 } else { 1 - weights.len() as i64 },
        listed,
        ln_mgf: one.ln_mgf(c, precision),
        digits: TiltedMasses::scaled(units, &upper_total, words),
        words,
    }
}

#[cfg(test)]
mod tests {
    use rug::integer::Order;

    use super::*;
    use crate::{
        loss::{sum::LossSum, testing::group},
        numeric::rational::parse,
    };

    const GROUPS: [&str; 5] = ["5x7", "0.02x4@3", "0.31@2", "discrete-laplace:0.3x3@4", "discrete-laplace:2x5"];

    const FINE: Fineness = Fineness { words: 3, cut: 150 };

    #[test]
    fn stored_masses_fall_short_by_the_truncated_mass_at_most() {
        for group in GROUPS.map(group) {
            for c in ["-7/2", "-1", "0", "1/3", "12"] {
                let masses = of_group(&group, &parse(c).unwrap(), FINE).unwrap();
                let missing = masses.missing();
                assert!(missing >= 0 && missing < Float::with_val(64, 1) >> 149, "{group:?} {c}: {missing}");
            }
        }
    }

    #[test]
    fn the_moment_generating_function_is_that_of_the_contour() {
        for group in GROUPS.map(group) {
            let sum = LossSum::new([group.clone()]).unwrap();
            for c in ["-7/2", "-1", "0", "1/3", "12"] {
                let c = parse(c).unwrap();
                let masses = of_group(&group, &c, FINE).unwrap();
                let other = sum.ln_mgf(&c, 160);
                assert!(masses.ln_mgf.overlaps(&other), "{group:?} {c}: {:?} {other:?}", masses.ln_mgf);
                let width = Float::with_val(64, masses.ln_mgf.upper() - masses.ln_mgf.lower());
                assert!(width < Float::with_val(64, 1) >> 150, "{group:?} {c}: {width}");
            }
        }
    }

    /// Untilted at c = 0, a mass tilted by c is mass exp(c l) / M(c).
    #[test]
    fn tilted_masses_follow_their_definition() {
        let bits = 300;
        let mut met = 0;
        for group in GROUPS.map(group) {
            let c = parse("3/4").unwrap();
            let plain = of_group(&group, &Rational::new(), FINE).unwrap();
            let tilted = of_group(&group, &c, FINE).unwrap();
            let list = |masses: &TiltedMasses| -> Vec<(Rational, Enclosure)> {
                let missing = masses.missing();
                let (units, exponent) = masses.units();
                let enclosed = |(k, words): (i64, &[u64])| {
                    let loss = Rational::from(&masses.step * k) + &masses.origin;
                    let stored = Float::with_val(bits, Integer::from_digits(words, Order::Lsf)) >> exponent as u32;
                    (loss, Enclosure::new(stored.clone(), Float::with_val_round(bits, &stored + &missing, Round::Up).0))
                };
                (masses.first..).zip(units).map(enclosed).collect()
            };
            let others = list(&plain);
            for (loss, mass) in list(&tilted) {
                let Some((_, plain)) = others.iter().find(|(other, _)| *other == loss) else { continue };
                let exponent = Enclosure::rational(&Rational::from(&c * &loss), bits).sub(&tilted.ln_mgf);
                assert!(plain.mul(&exponent.exp()).overlaps(&mass), "{group:?} at {loss}");
                met += 1;
            }
        }
        assert!(met >= 40, "{met}");
    }

    /// The masses of fine groups in closed form are those of the convolution of their terms: both are lower bounds that fall short by no more than
    /// the truncated mass.
    #[test]
    fn fine_groups_need_no_convolution() {
        let fineness = Fineness { words: 3, cut: 100 };
        for (text, c) in
            [("9", "0"), ("10.5x7", "0.3"), ("100/7x20@3", "-1/2"), ("1000.25x5@2", "4.7"), ("40x300", "-0.999")]
        {
            let (group, c) = (group(text), parse(c).unwrap());
            let ln_off = off_if_fine(&group, fineness.cut).unwrap();
            let direct = of_fine_group(&group, &c, fineness, ln_off);
            let single = gaussian(group.law.parameter(), group.shift, &c, fineness.words);
            let convolved = single.raised(group.copies, Fineness { cut: 120, ..fineness });
            assert!(direct.ln_mgf.overlaps(&convolved.ln_mgf), "{group:?}");
            assert!(direct.missing() < Float::with_val(64, 1) >> 100_u32 && direct.missing() > 0, "{group:?}");
            let total = Float::with_val(64, direct.missing() + convolved.missing());
            let masses = |masses: &TiltedMasses| {
                let (units, exponent) = masses.units();
                let value =
                    |words: &[u64]| Float::with_val(300, Integer::from_digits(words, Order::Lsf)) >> exponent as u32;
                let losses = (masses.first..).map(|k| Rational::from(&masses.step * k) + &masses.origin);
                losses.zip(units.map(value)).collect::<std::collections::BTreeMap<_, _>>()
            };
            let (own, others) = (masses(&direct), masses(&convolved));
            let mut met = 0;
            for (loss, mass) in own {
                let Some(other) = others.get(&loss) else { continue };
                assert!(Float::with_val(64, &mass - other).abs() <= total, "{group:?} at {loss}: {mass} {other}");
                met += u32::from(mass > 1e-20);
            }
            assert!(met >= 40, "{group:?}: {met}");
        }
    }

    #[test]
    fn merging_is_a_convolution_on_the_common_lattice() {
        let c = parse("1/4").unwrap();
        let [a, b] = ["5x2", "10@3"].map(|text| of_group(&group(text), &c, FINE).unwrap());
        let merged = a.merged(&b, FINE).unwrap();
        assert_eq!(merged.step, parse("1/10").unwrap());
        assert_eq!(merged.origin, Rational::from(&a.origin + &b.origin));
        assert!(merged.missing() < Float::with_val(64, 1) >> 145);
        assert!(merged.len() < 4 * (a.len() + b.len()));
    }
}
