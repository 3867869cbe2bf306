//! Poisson sampling: Gaussian noise on a random part of the records, as in DP-SGD.
//!
//! # The pair
//!
//! A step samples every record with probability g, adds N(0, sigma2) to the sum, and one record changes the sum by `shift`. In units of the loss,
//! v = (shift / sigma2) x, the density of the noise has variance 1/s2 with s2 = sigma2 / shift^2, and the ratio of the two hypotheses is
//!
//! ```text
//! r(v) = 1 - g + g exp(v - 1 / (2 s2)),      L = ln r(v) where a record was removed (v ~ the mixture),  L = -ln r(v) where it was added (v ~ the noise).
//! ```
//!
//! The pair is not symmetric: every number is that of the direction in which it is larger, for the whole composition.
//!
//! # The moments
//!
//! With F(p) = E[r(v)^p] over the noise, E[exp(s L)] is F(1 + s) for a removed record and F(-s) for an added one. For p = a + i tau it is an integral of
//! phi(w) r(w)^p along any line Im w = theta, 0 <= theta < pi, because r has no zeros there. On that line, for tau >= 0,
//!
//! ```text
//! |r^(i tau)| = exp(-tau arg r) <= 1,    since arg r lies between 0 and pi,
//! |r|^a <= r(v)^a (a >= 0),  (cos(theta / 2) r(v))^a (a < 0),    since |A + B exp(i theta)|^2 - (A + B)^2 cos(theta / 2)^2 = (A - B)^2 sin(theta / 2)^2.
//! ```
//!
//! So the integral of the modulus, N(tau), falls as tau grows, and bounds all that lies beyond. Both integrals are taken by the trapezoid rule: its error
//! is at most 2 B / (exp(2 pi a / d) - 1) for a step d and a strip of half width a, with B a bound on the integral of the modulus on both edges (`line`).
//!
//! # The profile
//!
//! For n steps, delta(eps) = (1 / 2 pi i) times the integral of F^n exp(-s eps) / (s (s + 1)) along Re s = c > 0, again by the trapezoid rule, whose error
//! is a sum of positive terms: the profile at eps - 2 pi m / h, times exp(-2 pi m c / h) (`contour`). Between -1 and 0 the same integral is -(1 - delta).

mod arithmetic;
mod closed;
mod contour;
mod line;
pub(in crate::loss) mod phase;
mod search;
mod table;

use rug::{Float, Rational};

use super::{
    answer::{Answer, Proof},
    gaussian,
    second::binomial,
    stop::Stop,
};
pub use crate::law::Direction;
use crate::{
    error::Result,
    numeric::{Enclosure, precision},
};
pub(crate) use phase::Phase;
pub(crate) use search::Side;
use table::{Table, mean_and_variance};

/// The privacy losses of phases of sampled noise, beside continuous Gaussian noise that sees every record.
#[derive(Clone, Debug)]
pub(crate) struct SampledSum {
    phases: Vec<Phase>,
    /// Of each phase: for searches, which prove nothing.
    tables: Vec<Table>,
    /// The rho of the noise without sampling.
    rho: Rational,
}

impl PartialEq for SampledSum {
    fn eq(&self, other: &Self) -> bool {
        self.phases == other.phases && self.rho == other.rho
    }
}

impl Eq for SampledSum {}

impl SampledSum {
    /// Of these phases and of continuous Gaussian noise of this rho. A rate of one is no sampling.
    pub(crate) fn new(phases: impl IntoIterator<Item = Phase>, mut rho: Rational) -> Self {
        let mut sampled: Vec<Phase> = Vec::new();
        for phase in phases {
            let same = |other: &&mut Phase| other.rate == phase.rate && other.sigma2 == phase.sigma2;
            if phase.rate == 1 {
                rho += Rational::from(phase.steps) / (phase.sigma2 * 2_u32);
            } else if let Some(other) = sampled.iter_mut().find(same) {
                other.steps = other.steps.saturating_add(phase.steps);
            } else {
                sampled.push(phase);
            }
        }
        sampled.sort_by(|a, b| (&a.rate, &a.sigma2).cmp(&(&b.rate, &b.sigma2)));
        let tables = sampled.iter().map(Table::new).collect();
        SampledSum { phases: sampled, tables, rho }
    }

    /// The rho of the same noise without sampling: sampling can only make losses smaller, because both hypotheses of a step are mixtures of one law
    /// and one of the two without sampling.
    pub(crate) fn rho_without_sampling(&self) -> Rational {
        let of = |phase: &Phase| Rational::from(phase.steps) / Rational::from(&phase.sigma2 * 2_u32);
        self.phases.iter().fold(self.rho.clone(), |sum, phase| sum + of(phase))
    }

    /// The hockey stick of one direction, for epsilon >= 0, or its complement.
    pub(crate) fn hockey_stick(
        &self,
        direction: Direction,
        side: Side,
        epsilon: &Rational,
        digits: u32,
        stop: &Stop,
    ) -> Result<Answer> {
        if let Some(value) = closed::hockey_stick(self, direction, epsilon, digits) {
            let value = match side {
                Side::Delta => value,
                Side::Complement => Enclosure::double(1.0, value.lower().prec()).sub(&value).clamp(0.0, 1.0),
            };
            let proof =
                Proof::new("closed form", "closed form of one sampled step, or of losses that end before epsilon");
            return Ok(Answer { met: value.is_tight(digits), value, proof });
        }
        contour::enclose(self, direction, side, epsilon, digits, stop)
    }

    /// ln of a hockey stick in doubles: an approximation without proof. Where it is close to 1, the logarithm has the relative precision of its
    /// complement.
    pub(crate) fn ln_hockey_stick_approx(&self, direction: Direction, epsilon: &Rational, stop: &Stop) -> Result<f64> {
        const DIGITS: u32 = 15;
        /// Closer to 1 the complement is computed.
        const NEAR: f64 = -0.1;
        if let Some(value) = closed::hockey_stick(self, direction, epsilon, DIGITS) {
            return Ok(if *value.lower() > 0 { value.ln().approximate() } else { f64::NEG_INFINITY });
        }
        let ln = contour::ln_approx(self, direction, Side::Delta, epsilon, stop)?;
        if ln < NEAR {
            return Ok(ln);
        }
        Ok((-contour::ln_approx(self, direction, Side::Complement, epsilon, stop)?.exp()).ln_1p())
    }

    /// ln E[exp(s L)] of a removed record, for s > 0: s times the Renyi divergence of order 1 + s. That of an added record is not larger (Mironov, Talwar &
    /// Zhang 2019, Section 3).
    pub(crate) fn ln_mgf(&self, s: &Rational) -> Enclosure {
        let concentrated = s + s.clone().square();
        let power = search::exact_power(Direction::Remove, s);
        let mut total = Enclosure::rational(&Rational::from(&concentrated * &self.rho), line::MOMENT_BITS);
        for (phase, table) in self.phases.iter().zip(&self.tables) {
            let Ok(one) = line::ln_moment(phase, table, &power) else { return self.ln_mgf_beyond_reach(concentrated) };
            total = total.add(&one.mul(&Enclosure::rational(&Rational::from(phase.steps), line::MOMENT_BITS)));
        }
        if total.lower().is_nan() || total.upper().is_nan() { self.ln_mgf_beyond_reach(concentrated) } else { total }
    }

    /// Between that of perfect privacy and that of the same noise without sampling.
    fn ln_mgf_beyond_reach(&self, concentrated: Rational) -> Enclosure {
        let most = Enclosure::rational(&(concentrated * self.rho_without_sampling()), line::MOMENT_BITS);
        Enclosure::double(0.0, line::MOMENT_BITS).hull(&most)
    }

    /// The same in doubles, to a few digits.
    pub(crate) fn ln_mgf_approx(&self, s: f64) -> f64 {
        let power = search::power(Direction::Remove, s);
        let one = |(phase, table): (&Phase, &Table)| phase.steps as f64 * table.ln_moment(power);
        self.phases.iter().zip(&self.tables).map(one).sum::<f64>() + self.rho.to_f64() * (s + s * s)
    }

    /// Mean and standard deviation of the loss of a removed record, in doubles: for searches.
    pub(crate) fn mean_and_deviation_approx(&self) -> (f64, f64) {
        let rho = self.rho.to_f64();
        let of = |(mean, variance): (f64, f64), phase: &Phase| {
            let (one, spread) = mean_and_variance(phase);
            let steps = phase.steps as f64;
            (mean + steps * one, variance + steps * spread)
        };
        let (mean, variance) = self.phases.iter().fold((rho, 2.0 * rho), of);
        (mean, variance.sqrt())
    }

    /// That of the same noise without sampling: at least as large.
    pub(crate) fn above(&self, epsilon: &Rational, digits: u32) -> Enclosure {
        gaussian::hockey_stick(&self.rho_without_sampling(), epsilon, digits)
    }

    /// Upper bound on both directions: hockey sticks are convex in the pair, and with probability prod (1 - g)^n no step has the record in its sample, so that
    /// only the noise without sampling is left. delta <= delta of rho + 1 - prod (1 - g)^n.
    pub(crate) fn above_by_mixture(&self, epsilon: &Rational, digits: u32) -> Float {
        let bits = precision::bits(digits, 128);
        let real = |x: &Rational| Enclosure::rational(x, bits);
        let never = self.phases.iter().fold(Enclosure::double(0.0, bits), |ln, phase| {
            ln.add(&real(&Rational::from(1 - &phase.rate)).ln().mul(&real(&Rational::from(phase.steps))))
        });
        let unsampled = match self.rho == 0 {
            true => Enclosure::double(0.0, bits),
            false => gaussian::hockey_stick(&self.rho, epsilon, digits),
        };
        never.exp_m1().negate().add(&unsampled).upper().clone()
    }

    /// Upper bound on both directions by moments of integer order, which share no code with the contour.
    pub(crate) fn above_by_moments(&self, epsilon: &Rational) -> Float {
        binomial::hockey_stick_above(&self.phases, &self.rho, epsilon)
    }
}
