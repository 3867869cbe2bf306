//! Comparison of two curves over a range of delta: the exact account of some noise, and the bound that zero-concentrated differential
//! privacy gives for a rho, which may be that of other noise.
//!
//! The account is within the bound at delta if its epsilon is at most the published one, E(delta) = rho + 2 sqrt(rho ln(1 / delta)). E is a
//! decreasing bijection from (0, 1] to [rho, infinity), so this is equivalent to d(E) <= z(E), with d the privacy profile of the account
//! and z(E) = exp(-(E - rho)^2 / (4 rho)). A statement about a range holds for every delta in it, not only at the points that were
//! evaluated: between points d is bounded as a convex function of exp(E), and ln z as a concave function of E.

use std::sync::atomic::{AtomicBool, Ordering};

use rug::Rational;

use super::{conversions, profile::Account};
use crate::{
    error::{Error, Result},
    loss::{
        evaluator::Evaluator,
        parameter::{Delta, Epsilon, Rho},
    },
    numeric::{Certainty, Enclosure, parallel, precision, rational},
};

/// A range of delta with one verdict.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The least and the greatest published epsilon of the range, exactly.
    pub epsilons: (Rational, Rational),
    /// The least and the greatest delta of the range: those of the published epsilons.
    pub deltas: (Enclosure, Enclosure),
    /// Yes: the account is within the bound at every delta of the range. No: at none of them. Undecided: the curves are too close to
    /// decide, or cross here.
    pub within: Certainty,
}

/// Checks the ends of a range in delta: 0 < from < to <= 1.
fn check_range(from: &Rational, to: &Rational) -> Result<()> {
    if *from <= 0 || from >= to || *to > 1 {
        let shown = format!("{}..{}", rational::display(from), rational::display(to));
        return Err(Error::out_of_range("the range of delta", shown, "FROM..TO with 0 < FROM < TO <= 1"));
    }
    Ok(())
}

/// The ranges of `from <= delta <= to`, the largest delta first, on which the account is within the bound that rho gives, or is not.
/// Crossings are bracketed to a relative 10^-9 of their epsilon. An error unless 0 < from < to <= 1, and where some losses are infinite: then rho gives no bound.
pub fn stretches(account: &impl Account, rho: &Rho, from: &Rational, to: &Rational) -> Result<Vec<Stretch>> {
    account.rho_of_all()?;
    let comparison = Comparison { account: account.evaluator(), rho, witness: None, found: AtomicBool::new(false) };
    comparison.run(from, to)
}

/// Whether the account is within the bound at every delta of the range. One delta at which it is not proves No. An error unless 0 < from <
/// to <= 1, and where some losses are infinite.
pub fn within_everywhere(account: &impl Account, rho: &Rho, from: &Rational, to: &Rational) -> Result<Certainty> {
    check_range(from, to)?;
    account.rho_of_all()?;
    let witness = Some((end(&published(rho, to), true)?, end(&published(rho, from), false)?));
    let comparison = Comparison { account: account.evaluator(), rho, witness, found: AtomicBool::new(false) };
    let stretches = comparison.run(from, to)?;
    Ok(if comparison.found.load(Ordering::Relaxed) {
        Certainty::No
    } else if stretches.iter().all(|stretch| stretch.within == Certainty::Yes) {
        Certainty::Yes
    } else {
        Certainty::Undecided
    })
}

/// The published epsilon for 0 < delta <= 1; rho at delta = 1.
fn published(rho: &Rho, delta: &Rational) -> Enclosure {
    Delta::try_from(delta).map_or_else(
        |_| Enclosure::rational(rho, precision::bits(30, 32)),
        |delta| conversions::zcdp_epsilon(rho, &delta, 30),
    )
}

fn end(value: &Enclosure, upper: bool) -> Result<Rational> {
    let end = if upper { value.upper_rational() } else { value.lower_rational() };
    end.ok_or(Error::Unbounded { what: "the published epsilon" })
}

/// Relative width in epsilon below which a range is not divided further.
const FINEST: f64 = 1e-9;
/// Bits of the bounds between points.
const BITS: u32 = 128;
const DIGITS: u32 = 13;
/// The number of initial ranges.
const PARTS: u32 = 12;

/// Both curves at one epsilon.
#[derive(Clone)]
struct Point {
    epsilon: Rational,
    account: Enclosure,
    published: Enclosure,
}

struct Comparison<'a> {
    account: Evaluator,
    rho: &'a Rho,
    /// Epsilons whose delta certainly lies in the range, if one point outside the bound ends the search.
    witness: Option<(Rational, Rational)>,
    found: AtomicBool,
}

impl Comparison<'_> {
    fn run(&self, from: &Rational, to: &Rational) -> Result<Vec<Stretch>> {
        check_range(from, to)?;
        // Rounded outward, so that every delta of the range is covered; at delta = 1 the published epsilon is rho.
        let (first, last) = (end(&published(self.rho, to), false)?, end(&published(self.rho, from), true)?);
        let mut epsilons: Vec<Rational> =
            (0..=PARTS).map(|k| &first + (Rational::from(&last - &first) * k) / PARTS).collect();
        if let Some((least, most)) = &self.witness {
            epsilons.extend([least.clone(), most.clone()].into_iter().filter(|e| first < *e && *e < last));
            epsilons.sort();
        }
        let points = parallel::try_map(&epsilons, |epsilon| self.point(epsilon.clone()))?;
        let parts = parallel::try_map_indices(points.len().saturating_sub(1), |k| {
            let mut out = Vec::new();
            self.divide(k.checked_sub(1).map(|before| &points[before]), &points[k], &points[k + 1], &mut out)?;
            Ok(out)
        })?;
        let mut merged: Vec<Stretch> = Vec::new();
        for stretch in parts.into_iter().flatten() {
            match merged.last_mut().filter(|last| last.within == stretch.within) {
                Some(last) => {
                    last.epsilons.1 = stretch.epsilons.1;
                    last.deltas.0 = stretch.deltas.0;
                }
                None => merged.push(stretch),
            }
        }
        Ok(merged)
    }

    fn point(&self, epsilon: Rational) -> Result<Point> {
        let account = self.account.hockey_stick(&epsilon, DIGITS)?.value;
        let published = conversions::zcdp_delta(self.rho, &Epsilon::try_from(&epsilon)?, 25);
        let point = Point { epsilon, account, published };
        if let Some((least, most)) = &self.witness
            && *least <= point.epsilon
            && point.epsilon <= *most
            && point.account.lower() > point.published.upper()
        {
            self.found.store(true, Ordering::Relaxed);
        }
        Ok(point)
    }

    /// Decides the range from a to b, or divides it; `before` is a point left of a, if known.
    fn divide(&self, before: Option<&Point>, a: &Point, b: &Point, out: &mut Vec<Stretch>) -> Result<()> {
        let within = if self.all_within(a, b) {
            Certainty::Yes
        } else if self.none_within(before, a, b) {
            Certainty::No
        } else {
            Certainty::Undecided
        };
        let width = Rational::from(&b.epsilon - &a.epsilon).to_f64();
        let settled = within != Certainty::Undecided || width <= FINEST * b.epsilon.to_f64();
        if settled || self.found.load(Ordering::Relaxed) {
            let deltas = (b.published.clone(), a.published.clone());
            out.push(Stretch { epsilons: (a.epsilon.clone(), b.epsilon.clone()), deltas, within });
            return Ok(());
        }
        let middle = self.point(Rational::from(&a.epsilon + &b.epsilon) / 2_u32)?;
        self.divide(before, a, &middle, out)?;
        self.divide(Some(a), &middle, b, out)
    }

    /// Proves d <= z on all of [a, b].
    ///
    /// With H = E_b - E_a, t = (E - E_a) / H and w = (exp(t H) - 1) / (exp(H) - 1): convexity in exp(E) gives
    /// d <= f = d_a (1 - w) + d_b w, and concavity of ln z gives z >= g = z_a^(1 - t) z_b^t. w is convex in t and
    /// d_a >= d_b, so f is concave; g is convex. f - g is concave and lies below its tangent at t = 1/2, which is at
    /// most (f - g)(1/2) + |(f - g)'(1/2)| / 2. All bounds of d enter by their upper ends, those of z by their lower.
    fn all_within(&self, a: &Point, b: &Point) -> bool {
        if a.account.upper() <= b.published.lower() {
            return true;
        }
        let point = |value: &rug::Float| Enclosure::new(value.clone(), value.clone());
        let (da, db) = (point(a.account.upper()), point(b.account.upper()));
        if da.lower() < db.lower() || *b.published.lower() <= 0 {
            return false;
        }
        let (za, zb) = (point(a.published.lower()), point(b.published.lower()));
        let span = Enclosure::rational(&Rational::from(&b.epsilon - &a.epsilon), BITS);
        let half = Enclosure::double(0.5, BITS);
        let whole = span.exp_m1();
        let weight = span.mul(&half).exp_m1().div(&whole);
        let slope = span.mul(&span.mul(&half).exp()).div(&whole);
        let f = da.sub(&da.sub(&db).mul(&weight));
        let ratio = zb.div(&za).ln();
        let g = za.mul(&ratio.mul(&half).exp());
        let value = f.sub(&g);
        let tangent = da.sub(&db).mul(&slope).negate().sub(&g.mul(&ratio));
        let size = tangent.max(&tangent.clone().negate());
        *value.add(&size.mul(&half)).upper() <= 0
    }

    /// Proves d > z on all of [a, b].
    ///
    /// d decreases, so d_b > z_a suffices. Otherwise let o be the point before a. d is convex in x = exp(E), so beyond x_a it lies above
    /// the chord through o and a: d >= d_a (1 + r) - d_o r with r = (x - x_a) / (x_a - x_o), concave in E. ln z is concave, so z <= z_a
    /// exp(-(E_a - rho) (E - E_a) / (2 rho)), convex in E. The difference of both bounds is concave: if it is positive at both ends, it is
    /// positive between them. d enters by its lower end at a and by its upper end at o.
    fn none_within(&self, before: Option<&Point>, a: &Point, b: &Point) -> bool {
        if b.account.lower() > a.published.upper() {
            return true;
        }
        let Some(o) = before else { return false };
        if a.account.lower() <= a.published.upper() || a.epsilon < **self.rho {
            return false;
        }
        let real = |value: &Rational| Enclosure::rational(value, BITS);
        let span = real(&Rational::from(&b.epsilon - &a.epsilon));
        // (exp(E_b) - exp(E_a)) / (exp(E_a) - exp(E_o)) = (exp(E_b - E_a) - 1) / (1 - exp(E_o - E_a)).
        let back = real(&Rational::from(&o.epsilon - &a.epsilon)).exp_m1().negate();
        let r = span.exp_m1().div(&back);
        let chord = a.account.add(&r.mul(&a.account.sub(&o.account)));
        let rate = Rational::from(&a.epsilon - &**self.rho) / Rational::from(&**self.rho * 2_u32);
        let tangent = a.published.mul(&real(&rate).mul(&span).negate().exp());
        chord.lower() > tangent.upper()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{account::Composition, numbers::number};

    #[test]
    fn noise_matched_at_one_delta_is_within_above_it_and_not_far_below() {
        // County and State of the 2020 release, lowered. On the lattice of State's losses the curves cross three times.
        for (rho, lowered, crossings) in [("0.31025", "13.29x10", 1), ("1.0001", "4.25x10", 3)] {
            let (rho, lowered): (Rho, _) =
                (rho.parse().unwrap(), Composition::new([lowered.parse().unwrap()]).unwrap());
            let found = stretches(&lowered, &rho, &number("1e-40"), &number("1")).unwrap();
            assert_eq!(found.len(), 2 * crossings + 1);
            assert!(*found[0].deltas.1.upper() >= 1 && *found[2 * crossings].deltas.0.lower() <= number("1e-40"));
            for (k, stretch) in found.iter().enumerate() {
                let expected = [Certainty::Yes, Certainty::Undecided, Certainty::No, Certainty::Undecided][k % 4];
                assert_eq!(stretch.within, expected);
                let (low, high) = &stretch.epsilons;
                let width = Rational::from(high - low);
                if stretch.within == Certainty::Undecided {
                    assert!(width < 2e-8);
                    continue;
                }
                // Compared with the profile at points that the proof did not choose.
                for k in 0..=60_u32 {
                    let epsilon = low + Rational::from(&width * k) / 60_u32;
                    let exact = lowered.delta(&epsilon, 15).unwrap().value;
                    let bound = conversions::zcdp_delta(&rho, &epsilon.clone().try_into().unwrap(), 20);
                    assert_eq!(exact.upper() <= bound.lower(), stretch.within == Certainty::Yes, "{epsilon}");
                }
            }
        }
    }

    #[test]
    fn the_noise_itself_is_within_everywhere_and_much_less_is_nowhere() {
        let rho: Rho = "1".parse().unwrap();
        let own = Composition::new(["5x10".parse().unwrap()]).unwrap();
        let (from, to) = (number("1e-30"), number("0.9"));
        assert_eq!(within_everywhere(&own, &rho, &from, &to).unwrap(), Certainty::Yes);
        let less = Composition::new(["1x10".parse().unwrap()]).unwrap();
        assert_eq!(within_everywhere(&less, &rho, &from, &to).unwrap(), Certainty::No);
        let found = stretches(&less, &rho, &from, &number("1e-3")).unwrap();
        assert!(found.iter().all(|stretch| stretch.within == Certainty::No), "{found:?}");
        for (from, to) in [("0", "0.5"), ("1e-3", "1e-3"), ("0.5", "0.1"), ("0.5", "1.5")] {
            assert!(stretches(&own, &rho, &number(from), &number(to)).is_err(), "{from} {to}");
        }
    }
}
