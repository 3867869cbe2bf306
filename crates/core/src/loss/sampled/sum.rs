//! The sums, and their moments.

use std::{
    any::Any,
    sync::{Arc, OnceLock},
};

use rug::{Float, Rational};

use super::{
    Direction, Phase, Strand,
    central::CentralMoments,
    line,
    table::{Table, mean_and_variance},
};
use crate::{
    loss::{gaussian, parameter::Delta, second::binomial, uniform::UniformSum},
    numeric::{Enclosure, precision},
};

/// The privacy losses of phases of sampled noise, beside continuous Gaussian noise that sees every record.
#[derive(Clone, Debug)]
pub(crate) struct SampledSum {
    pub(super) phases: Vec<Phase>,
    /// The same, those of nearly equal noise together.
    pub(super) strands: Arc<Vec<Strand>>,
    /// Of the least noise of each strand: for searches, which prove nothing.
    pub(super) tables: Arc<Vec<Table>>,
    /// The rho of the noise without sampling.
    pub(super) rho: Rational,
    /// Other noise, all of it without sampling.
    pub(super) beside: Option<Arc<UniformSum>>,
    /// For bounds where samples are rare.
    central: OnceLock<CentralMoments>,
    /// The rho of all noise as if nothing were sampled.
    without_sampling: OnceLock<Rational>,
    /// What contours have in common.
    pub(super) kept: Arc<OnceLock<Box<dyn Any + Send + Sync>>>,
}

impl PartialEq for SampledSum {
    fn eq(&self, other: &Self) -> bool {
        self.phases == other.phases && self.rho == other.rho && self.beside == other.beside
    }
}

impl Eq for SampledSum {}

impl SampledSum {
    /// The sampled sum of these phases and of continuous Gaussian noise of this rho. A rate of one is no sampling.
    pub(crate) fn new(phases: impl IntoIterator<Item = Phase>, mut rho: Rational) -> Self {
        let mut sampled: Vec<Phase> = Vec::new();
        for phase in phases {
            let key = |phase: &Phase| (phase.rate.clone(), phase.sigma2.clone(), phase.group);
            let same = |other: &&mut Phase| key(other) == key(&phase);
            if phase.rate == 1 {
                let phase = phase.dominating();
                rho += Rational::from(phase.steps) / (phase.sigma2 * 2_u32);
            } else if let Some(other) = sampled.iter_mut().find(same) {
                other.steps = other.steps.saturating_add(phase.steps);
            } else {
                sampled.push(phase);
            }
        }
        sampled.sort_by(|a, b| (&a.rate, a.group, &a.sigma2).cmp(&(&b.rate, b.group, &b.sigma2)));
        let strands = Strand::all(&sampled);
        let tables = strands.iter().map(|strand| Table::new(&strand.least)).collect();
        SampledSum {
            phases: sampled,
            strands: Arc::new(strands),
            tables: Arc::new(tables),
            rho,
            beside: None,
            central: OnceLock::new(),
            without_sampling: OnceLock::new(),
            kept: Arc::default(),
        }
    }

    /// The same beside other noise that sees every record: its losses in the direction of which requests are, or in both where its pair is symmetric.
    pub(crate) fn beside(self, others: UniformSum) -> Self {
        let beside = (!others.is_zero()).then(|| Arc::new(others));
        SampledSum { beside, kept: Arc::default(), ..self }
    }

    /// The samples without other noise.
    pub(super) fn alone(&self) -> Self {
        SampledSum { beside: None, kept: Arc::default(), ..self.clone() }
    }

    /// Whether other noise than Gaussian is beside the samples.
    pub(crate) fn is_beside_others(&self) -> bool {
        self.beside.is_some()
    }

    /// Phases of one record that are together at most as private: of each strand all steps with its least noise.
    fn dominating(&self) -> Vec<Phase> {
        self.strands.iter().map(|strand| strand.least.dominating()).collect()
    }

    /// The rho of the same noise without sampling: sampling can only make losses smaller, because both hypotheses of a step are mixtures of one law
    /// and one of the two without sampling.
    pub(crate) fn rho_without_sampling(&self) -> Rational {
        let of = |phase: &Phase| Rational::from(phase.steps) / (phase.dominating().sigma2 * 2_u32);
        let sum = || self.phases.iter().fold(self.rho.clone(), |sum, phase| sum + of(phase));
        self.without_sampling.get_or_init(sum).clone()
    }

    /// ln E[exp(s L)] of a removed record, for s > 0: s times the Renyi divergence of order 1 + s. Of samples alone, and beside symmetric pairs, that of an added record
    /// is not larger (Mironov, Talwar & Zhang 2019, Section 3); of groups the larger of both.
    pub(crate) fn ln_mgf(&self, s: &Rational) -> Enclosure {
        let remove = self.ln_mgf_of(Direction::Remove, s);
        match self.phases.iter().all(|phase| phase.group == 1) {
            true => remove,
            false => remove.max(&self.ln_mgf_of(Direction::Add, s)),
        }
    }

    /// ln E[exp(s L)] of one direction, for s > 0.
    pub(crate) fn ln_mgf_of(&self, direction: Direction, s: &Rational) -> Enclosure {
        let concentrated = s + s.clone().square();
        let power = exact_power(direction, s);
        let mut total = Enclosure::rational(&Rational::from(&concentrated * &self.rho), line::MOMENT_BITS);
        if let Some(beside) = &self.beside {
            total = total.add(&beside.ln_mgf(s, line::MOMENT_BITS));
        }
        for (strand, table) in self.strands.iter().zip(&*self.tables) {
            let Ok(all) = line::ln_moment(strand, table, &power) else { return self.ln_mgf_beyond_reach(s) };
            total = total.add(&all);
        }
        if total.lower().is_nan() || total.upper().is_nan() { self.ln_mgf_beyond_reach(s) } else { total }
    }

    /// Between that of perfect privacy and that of the same noise without sampling.
    fn ln_mgf_beyond_reach(&self, s: &Rational) -> Enclosure {
        let concentrated = s + s.clone().square();
        let mut most = Enclosure::rational(&(concentrated * self.rho_without_sampling()), line::MOMENT_BITS);
        if let Some(beside) = &self.beside {
            most = most.add(&beside.ln_mgf(s, line::MOMENT_BITS));
        }
        Enclosure::double(0.0, line::MOMENT_BITS).hull(&most)
    }

    /// That of a removed record in doubles, to a few digits.
    pub(crate) fn ln_mgf_approx(&self, s: f64) -> f64 {
        let power = power(Direction::Remove, s);
        let one = |(strand, table): (&Strand, &Table)| strand.least.steps as f64 * table.ln_moment(power);
        self.strands.iter().zip(&*self.tables).map(one).sum::<f64>()
            + self.rho.to_f64() * (s + s * s)
            + self.beside.as_ref().map_or(0.0, |beside| beside.ln_mgf_approx(s))
    }

    /// Mean and standard deviation of the loss of a removed record, in doubles: for searches.
    pub(crate) fn mean_and_deviation_approx(&self) -> (f64, f64) {
        let rho = self.rho.to_f64();
        let of = |(mean, variance): (f64, f64), phase: &Phase| {
            let (one, spread) = mean_and_variance(phase);
            let steps = phase.steps as f64;
            (mean + steps * one, variance + steps * spread)
        };
        let beside = self.beside.as_ref().map_or((0.0, 0.0), |beside| beside.mean_and_deviation_approx());
        let first = (rho + beside.0, 2.0 * rho + beside.1 * beside.1);
        let (mean, variance) = self.phases.iter().fold(first, of);
        (mean, variance.sqrt())
    }

    /// That of the same noise without sampling: at least as large. Beside other noise no closed form is known.
    pub(crate) fn above(&self, epsilon: &Rational, digits: u32) -> Enclosure {
        if self.beside.is_some() {
            return Enclosure::double(1.0, precision::bits(digits, 64));
        }
        gaussian::hockey_stick(&self.rho_without_sampling(), epsilon, digits)
    }

    /// Upper bound on both directions: hockey sticks are convex in the pair, and with probability prod (1 - g)^n no step has the record in its sample, so that
    /// only the noise without sampling is left. delta <= delta of rho + 1 - prod (1 - g)^n.
    pub(crate) fn above_by_mixture(&self, epsilon: &Rational, digits: u32) -> Float {
        let bits = precision::bits(digits, 128);
        let real = |x: &Rational| Enclosure::rational(x, bits);
        let never = self.phases.iter().fold(Enclosure::double(0.0, bits), |ln, phase| {
            let steps = Rational::from(phase.steps) * phase.group;
            ln.add(&real(&Rational::from(1 - &phase.rate)).ln().mul(&real(&steps)))
        });
        let unsampled = match (&self.beside, self.rho == 0) {
            (Some(_), _) => Enclosure::double(1.0, bits),
            (None, true) => Enclosure::double(0.0, bits),
            (None, false) => gaussian::hockey_stick(&self.rho, epsilon, digits),
        };
        never.exp_m1().negate().add(&unsampled).upper().clone()
    }

    fn central(&self) -> &CentralMoments {
        self.central.get_or_init(|| CentralMoments::of_phases(&self.dominating(), &self.rho))
    }

    /// Upper bound on both directions by central moments, where samples are rare.
    pub(super) fn above_by_central_moments(&self, epsilon: &Rational) -> Option<Float> {
        if self.beside.is_some() { None } else { self.central().delta_above(epsilon) }
    }

    /// An epsilon at which they prove that delta is at most this one, if there is one below 1.
    pub(crate) fn epsilon_above(&self, delta: &Delta) -> Option<f64> {
        if self.beside.is_some() { None } else { self.central().epsilon_above(delta) }
    }

    /// Upper bound on both directions by moments of integer order, which share no code with the contour.
    pub(crate) fn above_by_moments(&self, epsilon: &Rational) -> Float {
        binomial::hockey_stick_above(&self.dominating(), &self.rho, self.beside.as_deref(), epsilon)
    }
}

/// p at Re s = c.
pub(super) fn power(direction: Direction, c: f64) -> f64 {
    match direction {
        Direction::Remove => 1.0 + c,
        Direction::Add => -c,
    }
}

/// The same in exact numbers.
pub(super) fn exact_power(direction: Direction, c: &Rational) -> Rational {
    match direction {
        Direction::Remove => Rational::from(c + 1_u32),
        Direction::Add => Rational::from(-c),
    }
}
