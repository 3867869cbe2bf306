//! A bound for every mix of groups at once, where all noise is Gaussian, discrete or not.
//!
//! Where a release has several mixes, a record has one in each release, and nobody knows which: there are far too many combinations to compose each. All of them are close to
//! continuous Gaussian noise of the same rho, and this file bounds by how much any of them is less private.
//!
//! Let X be one combination, of counts with noise N_Z(0, s_i) that are moved by m_i, and rho_X = sum of m_i^2 / (2 s_i). At a real c > 0, with the moments M_X of its loss and M_G
//! of the loss of continuous noise of the same rho, both profiles are integrals along Re s = c (ARCHITECTURE, (3), the whole line), which converge absolutely. So
//!
//! ```text
//! delta_X(eps) <= delta_G(eps; rho_X) + exp(-c eps) / pi  integral over t > 0 of |M_X - M_G|(c + i t) / (|c + i t| |1 + c + i t|)
//! ```
//!
//! With u_i = t m_i / s_i, q_i = exp(-2 pi^2 s_i), psi_i(u) = sum over k of exp(-s_i (u - 2 pi k)^2 / 2) and G = exp(rho_X (c + c^2)), two bounds of the numerator follow from (2):
//!
//! - *near*: G exp(-rho_X t^2) (product of (1 + a_i) - 1), a_i = |theta_i(s) / theta_i(0) - 1| <= 2 sum over k of q_i^(k^2) (exp(2 pi k s_i u_i) + 1), because |cos(x + i y)| <= exp(|y|);
//! - *far*: G (product of psi_i(u_i) / psi_i(0) + exp(-rho_X t^2)), by Poisson summation, as in (6).
//!
//! The logarithms of both products are sums over the counts. So the largest over all combinations is at most the sum over releases of the largest of any of its ways, twice where a
//! changed record leaves one way and enters another, and over a partition the largest of its parts. delta_G and G rise with rho, exp(-rho t^2) falls: each is taken at the end that is
//! larger. No combination is composed, and none is left out.

use std::{
    collections::BTreeMap,
    f64::consts::PI,
    fmt::{self, Debug, Formatter},
    sync::{Arc, Mutex, PoisonError},
};

use libm::{exp, expm1, hypot, log, log1p};
use rug::Rational;

use crate::{
    account::{
        Composition, Counts,
        conversions::{self, GaussianProfile},
        profile::Account,
    },
    error::Result,
    law::Law,
    loss::{
        parameter::{Delta, Rho},
        upper::UpperProfile,
    },
    numeric::{Enclosure, rational},
};

/// The largest number of intervals of the integral.
const MOST_INTERVALS: u32 = 1 << 20;
/// A relative margin for all roundings of doubles: at most 2^20 terms, of exponents below 10^4 that are known to a relative 10^-12.
const MARGIN: f64 = 1e-6;
/// Products below exp of this are as good as zero: it bounds them.
const FLOOR: f64 = -80.0;

/// Gaussian noise of one kind: s, and m / s, by which u grows with t.
struct Noise {
    sigma2: f64,
    turn: f64,
    is_continuous: bool,
}

/// The counts of one way: which noise, and how many.
type Way = Vec<(usize, f64)>;

/// The ways of one release, of which one record has one.
struct Ways(Vec<Way>);

/// The ways of releases, of each of which one record has one.
pub(super) struct Releases<'l> {
    /// Two where a changed record leaves one combination and enters another, else one.
    pub(super) sides: u32,
    /// Those about all records.
    pub(super) standing: Vec<&'l [Composition]>,
    /// The parts of each partition, and the releases of each part.
    pub(super) partitions: Vec<Vec<Vec<&'l [Composition]>>>,
    /// The counts that a change moves as a whole.
    pub(super) change: Vec<&'l [Composition]>,
}

/// All combinations of ways.
pub(super) struct Combinations {
    noises: Vec<Noise>,
    /// Two where a changed record leaves one combination and enters another.
    sides: f64,
    standing: Vec<Ways>,
    /// The parts of each partition, and the releases of each part.
    partitions: Vec<Vec<Vec<Ways>>>,
    /// The counts that a change moves as a whole.
    change: Ways,
    least_rho: Rational,
    most_rho: Rational,
    /// Upper bounds on |M_X - M_G| / G between heights that are a step apart, from height 0 on, as far as they were needed.
    differences: Mutex<Arc<Vec<f64>>>,
}

/// A bound on the profile of every combination of the ways of a ledger.
pub(super) struct OfAll {
    /// Where all noise is Gaussian.
    combinations: Option<Combinations>,
    rho: Rho,
    /// A bound on the total variation distance, by rho.
    distance: Enclosure,
}

impl Noise {
    /// An upper bound on ln(psi(u) / psi(0)) for all u between two.
    fn ln_far(&self, from: f64, to: f64) -> f64 {
        let rho = |u: f64| -self.sigma2 * u * u / 2.0;
        if self.is_continuous {
            return rho(from);
        }
        // psi decreases with the distance to the multiples of 2 pi, and never exceeds psi(0).
        const SMALL: f64 = 0.1;
        let turns = (from / (2.0 * PI)).floor();
        let (low, high) = (2.0f64.mul_add(-PI * turns, from), 2.0f64.mul_add(-PI * turns, to));
        // Angles below 10^6 are known to 10^-9.
        if self.sigma2 < SMALL || high >= 2.0 * PI || to > 1e6 {
            return 0.0;
        }
        let distance = (low.min(2.0 * PI - high) - 1e-9).max(0.0);
        // psi(d) = exp(-s d^2 / 2) (1 + sum over k of exp(-2 pi k s (pi k - d))), where k = 1 stands alone and all others add up to at most
        // q + q^2 + q^4 + ... <= 2 q, as q <= exp(-0.2 pi^2); psi(0) >= 1.
        let others = exp(-2.0 * PI * self.sigma2 * (PI - distance)) + 2.0 * exp(-2.0 * PI * PI * self.sigma2);
        (rho(distance) + log1p(others)).min(0.0)
    }

    /// An upper bound on ln(1 + a) for all smaller u; infinite where none is known.
    fn ln_near(&self, u: f64) -> f64 {
        if self.is_continuous {
            return 0.0;
        }
        // Term k of a is at most that of k = 1 times r^(k - 1), r = exp(-2 pi s (3 pi - 2)) for u <= 2, so r < 0.01 for s >= 0.1.
        if self.sigma2 < 0.1 || u > 2.0 {
            return f64::INFINITY;
        }
        let exponent = -2.0 * PI * PI * self.sigma2;
        log1p(2.02 * (exp(exponent + 2.0 * PI * self.sigma2 * u) + exp(exponent)))
    }
}

impl Ways {
    /// The largest over all ways of a sum over counts; a lower one than `floor` may be any lower one.
    fn most(&self, of: &[f64], floor: f64) -> f64 {
        let sum = |way: &Way| way.iter().map(|(noise, count)| count * of[*noise]).sum::<f64>();
        let mut most = f64::NEG_INFINITY;
        for way in &self.0 {
            most = most.max(sum(way));
        }
        most.max(floor)
    }
}

impl Combinations {
    /// All combinations of the ways of releases; `None` where some noise is not Gaussian.
    pub(super) fn of_releases(releases: &Releases) -> Option<Combinations> {
        let (mut noises, mut places) = (Vec::new(), BTreeMap::new());
        let mut way = |path: &Composition| -> Option<Way> {
            let place = |counts: &Counts| {
                let is_continuous = match counts.law {
                    Law::DiscreteGaussian { .. } => false,
                    Law::Gaussian { .. } => true,
                    _ => return None,
                };
                let place = *places.entry((counts.law.clone(), counts.shift)).or_insert_with(|| {
                    let sigma2 = counts.law.sigma2().map_or(f64::NAN, Rational::to_f64);
                    noises.push(Noise { sigma2, turn: counts.shift as f64 / sigma2, is_continuous });
                    noises.len() - 1
                });
                Some((place, counts.count as f64))
            };
            path.each_counts().map(place).collect()
        };
        let mut ways = |paths: &&[Composition]| paths.iter().map(&mut way).collect::<Option<Vec<Way>>>().map(Ways);
        let mut standing: Vec<Ways> = releases.standing.iter().map(&mut ways).collect::<Option<_>>()?;
        // Those with few ways first: most intervals need no more of them.
        standing.sort_by_key(|ways| ways.0.len());
        let change: Vec<Ways> = releases.change.iter().map(&mut ways).collect::<Option<_>>()?;
        let mut partitions = Vec::new();
        for parts in &releases.partitions {
            let of_part = |part: &Vec<&[Composition]>| part.iter().map(&mut ways).collect::<Option<Vec<Ways>>>();
            partitions.push(parts.iter().map(of_part).collect::<Option<Vec<_>>>()?);
        }
        let change = Ways(vec![change.into_iter().flat_map(|ways| ways.0).flatten().collect()]);
        let (least_rho, most_rho) = (rho(releases, false), rho(releases, true));
        let (sides, differences) = (releases.sides.into(), Mutex::default());
        Some(Combinations { noises, sides, standing, partitions, change, least_rho, most_rho, differences })
    }

    /// An upper bound on the sum over the counts of every combination: the sum of the largest of each release. Below `floor` any upper bound below it serves.
    fn most(&self, of: &[f64], floor: f64) -> f64 {
        let mut all = self.change.most(of, f64::NEG_INFINITY);
        for ways in &self.standing {
            // Terms are not positive here, so further ones only lower the sum.
            if all < floor {
                return all;
            }
            all += self.sides * ways.most(of, f64::NEG_INFINITY);
        }
        for parts in &self.partitions {
            let of_part = |part: &Vec<Ways>| part.iter().map(|ways| ways.most(of, f64::NEG_INFINITY)).sum::<f64>();
            all += self.sides * parts.iter().map(of_part).fold(f64::NEG_INFINITY, f64::max);
        }
        all
    }

    /// An upper bound on |M_X - M_G| / G for all combinations and all heights between two.
    fn difference(&self, from: f64, to: f64, rho: f64) -> f64 {
        // exp(-rho t^2) of continuous noise.
        let smooth = exp(-rho * from * from);
        let far: Vec<f64> = self.noises.iter().map(|noise| noise.ln_far(from * noise.turn, to * noise.turn)).collect();
        let far = exp(self.most(&far, FLOOR).max(FLOOR)) + smooth;
        let near: Vec<f64> = self.noises.iter().map(|noise| noise.ln_near(to * noise.turn)).collect();
        if near.iter().any(|near| near.is_infinite()) {
            return far;
        }
        far.min(smooth * expm1(self.most(&near, f64::NEG_INFINITY)))
    }

    /// Whether the bounds of this file hold in doubles.
    fn is_in_range(&self) -> bool {
        (1e-9..=1e4).contains(&self.most_rho.to_f64())
    }

    /// The heights are multiples of it.
    fn step(&self) -> f64 {
        0.1 / (2.0 * self.most_rho.to_f64()).sqrt()
    }

    /// Upper bounds on |M_X - M_G| / G between neighboring heights, for this number of intervals or more.
    fn differences(&self, count: u32) -> Arc<Vec<f64>> {
        let mut known = self.differences.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < count as usize {
            let (step, least) = (self.step(), self.least_rho.to_f64());
            let mut more = known.to_vec();
            for k in known.len() as u32..count {
                more.push(self.difference(f64::from(k) * step, f64::from(k + 1) * step, least));
            }
            *known = Arc::new(more);
        }
        Arc::clone(&known)
    }

    /// ln of a bound on delta_X(epsilon) - delta_G(epsilon) by the integral at c, as a function of epsilon. The heights beyond the last add about the fraction 1 / `further` of
    /// the integral of continuous noise, if the number of intervals allows it.
    fn ln_excess(&self, c: f64, further: f64) -> impl Fn(f64) -> f64 {
        let (least, most) = (self.least_rho.to_f64(), self.most_rho.to_f64());
        // The integral of continuous noise is about this.
        let size = (PI / most).sqrt() / (2.0 * c * (c + 1.0));
        let step = self.step();
        let intervals = (further / size / step).ceil().clamp(1.0, MOST_INTERVALS.into());
        let modulus = |t: f64| hypot(c, t) * hypot(c + 1.0, t);
        let differences = self.differences(intervals as u32);
        let mut integral = 0.0;
        for (k, difference) in (0..intervals as u32).zip(&*differences) {
            let (from, to) = (f64::from(k) * step, f64::from(k + 1) * step);
            integral += difference * (to - from) / modulus(from);
        }
        // |M_X| + |M_G| <= 2 G, and the integral of t^-2 from t on is 1 / t.
        let last = intervals * step;
        integral += (1.0 + exp(-least * last * last)) / last;
        // Rounded up.
        let ln_integral = log(integral / PI) + MARGIN;
        move |epsilon: f64| (most * (c + c * c) - c * epsilon) + ln_integral
    }

    /// An upper bound on the profile of every combination at epsilon >= 0; `None` where nothing is known.
    fn hockey_stick(&self, epsilon: &Rational) -> Result<Option<Enclosure>> {
        const DIGITS: u32 = 15;
        const FURTHER: f64 = 1e6;
        // The largest exponent whose roundings the margin covers.
        const MOST_EXPONENT: f64 = 1e4;
        let (most, at) = (self.most_rho.to_f64(), epsilon.to_f64());
        let c = saddle(most, at);
        if !self.is_in_range() || most * (c + c * c) > MOST_EXPONENT || c * at > MOST_EXPONENT {
            return Ok(None);
        }
        let excess = exp(self.ln_excess(c, FURTHER)(at)) * (1.0 + MARGIN) + f64::MIN_POSITIVE;
        if !excess.is_finite() {
            return Ok(None);
        }
        let continuous = GaussianProfile::new(Rho::new(self.most_rho.clone())?).delta(epsilon, DIGITS);
        let of_all = continuous.add(&Enclosure::double(excess, 64));
        Ok(Some(of_all.clamp(0.0, 1.0)))
    }

    /// An upper bound on the epsilon at delta of every combination; `None` where nothing is known. `found` is an epsilon below which the truth is not.
    pub(super) fn epsilon(&self, delta: &Delta, found: f64) -> Result<Option<Enclosure>> {
        let most = self.most_rho.to_f64();
        if !self.is_in_range() || !found.is_finite() || delta.to_f64() < 1e-250 {
            return Ok(None);
        }
        let c = saddle(most, found.max(0.0));
        let ln_excess = self.ln_excess(c, 1000.0);
        // It falls by c with epsilon: from here on it is at most half of delta.
        let ln_half = log(delta.to_f64() / 2.0) - MARGIN;
        let from = found.max(0.0) + ((ln_excess(found.max(0.0)) - ln_half) / c).max(0.0);
        let remaining = Rational::from(&**delta - &rational::from_f64(exp(ln_excess(from)) * (1.0 + MARGIN))?);
        if remaining <= 0 {
            return Ok(None);
        }
        // Continuous noise of the largest rho: one count that moves by 1, with variance 1 / (2 rho).
        let sigma2 = Rational::from(self.most_rho.recip_ref()) / 2_u32;
        let continuous = Composition::new([Counts::gaussian(sigma2, 1, 1)?])?;
        let answer = continuous.epsilon(Delta::try_from(remaining)?, 10)?;
        Ok(Some(answer.value.max(&Enclosure::double(from, 64))))
    }
}

impl OfAll {
    /// All combinations of the ways of releases; `rho` is the largest.
    pub(super) fn new(releases: &Releases, rho: Rho) -> OfAll {
        let distance = conversions::zcdp_total_variation(&rho, 15);
        OfAll { combinations: Combinations::of_releases(releases), rho, distance }
    }
}

impl Debug for OfAll {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfAll").field("rho", &self.rho).finish_non_exhaustive()
    }
}

impl UpperProfile for OfAll {
    fn hockey_stick(&self, epsilon: &Rational) -> Result<Enclosure> {
        let at = Enclosure::rational(epsilon, 128);
        let by_rho = conversions::zcdp_hockey_stick(&self.rho, &self.distance, &at, 15)?;
        let own = self.combinations.as_ref().map(|all| all.hockey_stick(epsilon)).transpose()?.flatten();
        Ok(own.map_or_else(|| by_rho.clone(), |own| own.min(&by_rho)))
    }

    fn epsilon(&self, delta: &Delta) -> Result<Enclosure> {
        let by_rho = conversions::zcdp_epsilon_best_order(&self.rho, delta)?.clamp(0.0, f64::INFINITY);
        let near = GaussianProfile::new(self.rho.clone()).epsilon(delta, 6)?.lower().to_f64();
        let own = self.combinations.as_ref().map(|all| all.epsilon(delta, 0.99 * near)).transpose()?.flatten();
        Ok(own.map_or_else(|| by_rho.clone(), |own| own.min(&by_rho)))
    }

    fn ln_approx(&self, epsilon: &Rational) -> f64 {
        crate::loss::gaussian::ln_hockey_stick_approx(&self.rho, epsilon)
    }

    fn proof(&self) -> &'static str {
        match self.combinations {
            Some(_) => {
                "for the upper end, continuous Gaussian noise of the same rho, and by how much any mix of groups is less private"
            }
            None => "for the upper end, rho alone, as the mixes of groups are too many to be composed",
        }
    }
}

/// The c > 0 at which exp(rho (c + c^2) - c epsilon) / (c (c + 1)) is about least.
fn saddle(rho: f64, epsilon: f64) -> f64 {
    let slope = |c: f64| rho * (1.0 + 2.0 * c) - epsilon - 1.0 / c - 1.0 / (1.0 + c);
    let (mut low, mut high) = (1e-6, 1e6);
    for _ in 0..60 {
        let middle = f64::sqrt(low * high);
        if slope(middle) > 0.0 { high = middle } else { low = middle }
    }
    high
}

/// The least, or the largest, rho of all combinations.
fn rho(releases: &Releases, most: bool) -> Rational {
    let end = |values: &mut dyn Iterator<Item = Rational>| if most { values.max() } else { values.min() };
    let of = |ways: &&[Composition]| end(&mut ways.iter().map(|way| (**way.rho()).clone())).unwrap_or_default();
    let sum = |all: &Vec<&[Composition]>| all.iter().map(of).fold(Rational::new(), |sum, rho| sum + rho);
    let of_parts = |parts: &Vec<Vec<&[Composition]>>| end(&mut parts.iter().map(sum)).unwrap_or_default();
    let of_side = releases.partitions.iter().map(of_parts).fold(sum(&releases.standing), |all, part| all + part);
    of_side * releases.sides + sum(&releases.change)
}
