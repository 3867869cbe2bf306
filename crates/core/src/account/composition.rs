//! Compositions: the privacy losses of all counts that are published.

use std::sync::Arc;

use rug::Rational;

use super::{
    counts::Counts,
    definition::{Defined, Definition},
    directions::{self, Directions},
    group,
    joined::Joined,
};
use crate::{
    error::{Error, Result},
    law::{Direction, Rounding},
    loss::{
        evaluator::{DirectionsEvaluator, SampledEvaluator, SumEvaluator, UniformEvaluator},
        law::{Group, Law},
        parameter::Rho,
        sampled::SampledSum,
        stop::Stop,
        sum::LossSum,
        uniform::UniformSum,
    },
    numeric::Enclosure,
};

/// A composition of independent mechanisms about the same person: the pair of product laws of the outputs for two neighbors.
///
/// The privacy loss L = ln dP/dQ of the pair is a [`LossSum`]. Mostly the pair is symmetric, so that the order of the
/// neighbors does not matter; otherwise all answers are about the worse order ([`Composition::is_symmetric`]).
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::{account::{Account, Composition}, numeric::rational::parse};
/// // Ten counts with variance proxy 5: one geolevel of the 2020 Census, about.
/// let level = Composition::new(["5x10".parse()?])?;
/// let epsilon = level.epsilon("1e-11", 12)?;
/// assert!(epsilon.value.contains(&parse("10.124830934480989")?));
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composition {
    counts: Joined<Counts>,
    /// The sum of the losses. Of losses on no common lattice, a sum that is at most as private.
    loss: Arc<LossSum>,
    /// One that is at least as private, where `loss` is not exact.
    below: Option<Arc<LossSum>>,
    /// The losses with Poisson sampling of the records; `loss` is then that of the same noise without sampling, which is at most as private.
    sampled: Option<Arc<SampledSum>>,
    /// Both directions where some pair is not symmetric; `loss` is then that of symmetric pairs that are at most as private.
    directions: Option<Arc<Directions>>,
    /// The losses where some are uniform once they are tilted, as with continuous Laplace noise, with all others that have no lattice rounded down and up; `loss` is then
    /// one of finitely many losses that is at most as private.
    uniform: Option<Arc<[UniformSum; 2]>>,
    rho: Rho,
    stop: Stop,
    /// The question of which it is the answer, where it is known.
    defined: Option<Defined>,
}

/// One over the rho that is stated for outcomes that are equally likely under both neighbors, or possible for one of them only.
const OF_NO_LOSS: u64 = 1_000_000_000_000_000_000;

impl Composition {
    /// The composition of the given counts; an error if there are none.
    pub fn new(counts: impl IntoIterator<Item = Counts>) -> Result<Self> {
        Self::of_counts(counts.into_iter().collect::<Vec<_>>().into())
    }

    fn of_counts(counts: Joined<Counts>) -> Result<Self> {
        let terms =
            counts.iter().map(|counts| Group { law: counts.law.clone(), shift: counts.shift, copies: counts.count });
        let terms: Vec<Group> = terms.collect();
        let dominating = terms.iter().map(directions::dominating).collect::<Result<Vec<_>>>()?;
        let loss = Arc::new(LossSum::new(dominating.concat())?);
        let (sampled, directions) = match samples(counts.iter()) {
            None => (None, Directions::of_terms(&terms)?),
            Some(samples) => match beside_samples(&terms)? {
                Some(others) => (Some(Arc::new(samples.beside(others))), None),
                None => (None, Some(Directions::beside(&terms, Some(&samples))?)),
            },
        };
        let is_exact = directions.is_some() || loss.groups().iter().all(|group| !group.law.is_listed());
        let down = |term: &Group| directions::group(term, Rounding::Down, Direction::Remove);
        let below = if is_exact { None } else { Some(Arc::new(LossSum::new(terms.iter().map(down))?)) };
        let rho = counts.iter().fold(Rational::new(), |sum, counts| sum + counts.rho());
        let is_symmetric = sampled.is_none() && directions.is_none();
        let uniform = |rounding| UniformSum::of_terms(&terms, rounding, Direction::Remove);
        let uniform = if is_symmetric { uniform(Rounding::Down)?.zip(uniform(Rounding::Up)?) } else { None };
        let uniform = uniform.map(|(below, above)| Arc::new([below, above]));
        // Where every finite loss is zero, so is rho, and any number above 0 is an upper bound.
        let rho = Rho::new(if rho == 0 && loss.is_zero() { Rational::from((1, OF_NO_LOSS)) } else { rho })?;
        Ok(Composition { counts, loss, below, sampled, directions, uniform, rho, stop: Stop::default(), defined: None })
    }

    /// This composition, whose requests end with [`Error::Stopped`] once `stop` is set; so do those of compositions derived from it.
    pub fn until(&self, stop: &Stop) -> Self {
        Composition { stop: stop.clone(), ..self.clone() }
    }

    /// This composition with the question of which it is the account: answers about delta and epsilon are compared with what follows from that alone.
    pub fn defined_by(self, definition: Definition) -> Self {
        Composition { defined: Some(Defined::new(definition)), ..self }
    }

    /// The question of which it is the account, where it is known.
    pub(super) fn question(&self) -> Option<&Defined> {
        self.defined.as_ref()
    }

    /// The signal that ends its requests.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// An evaluator of its loss, with the same stop signal; of losses on no common lattice, one of a sum that is at most as private.
    pub fn loss_evaluator(&self) -> SumEvaluator {
        self.loss.evaluator().until(&self.stop)
    }

    /// The losses with Poisson sampling of the records; `None` where no noise is sampled, and beside pairs that are not symmetric.
    pub(crate) fn sampled(&self) -> Option<&SampledSum> {
        self.sampled.as_deref()
    }

    /// Whether some noise is on a Poisson sample of the records. [`Composition::rho`] is then that of the same noise without sampling, an upper bound.
    pub fn is_sampled(&self) -> bool {
        self.counts.iter().any(|counts| counts.law.is_sampled())
    }

    /// An evaluator of both directions of noise on Poisson samples, with the same stop signal; `None` as in [`Composition::sampled`].
    pub(crate) fn sampled_evaluator(&self) -> Option<SampledEvaluator> {
        self.sampled().map(|sampled| SampledEvaluator::new(sampled.clone(), &self.stop))
    }

    /// Both directions, where some pair is not symmetric.
    pub(super) fn directions(&self) -> Option<&Directions> {
        self.directions.as_deref()
    }

    /// An evaluator of both directions, with the same stop signal; `None` where all pairs are symmetric.
    pub(super) fn directions_evaluator(&self) -> Option<DirectionsEvaluator> {
        self.directions().map(|directions| directions.evaluator(&self.stop))
    }

    /// Whether some losses are uniform once they are tilted, as with continuous Laplace noise.
    pub fn is_uniform(&self) -> bool {
        self.uniform.is_some()
    }

    /// An evaluator of such losses, with the same stop signal; `None` where there are none.
    pub(super) fn uniform_evaluator(&self) -> Option<UniformEvaluator> {
        let [below, above] = &**self.uniform.as_ref()?;
        let rounded = [self.below()?.loss_evaluator(), self.loss_evaluator()];
        Some(UniformEvaluator::new([below.clone(), above.clone()], rounded, &self.stop))
    }

    /// Whether each of two neighbors is to the other as the other is to it. Otherwise [`Composition::loss`] is that of a symmetric pair that is at most as
    /// private, and answers are about the larger of both directions.
    pub fn is_symmetric(&self) -> bool {
        self.sampled.is_none() && self.directions.is_none()
    }

    /// ln E[exp(s L)] for s > 0, in the direction in which it is larger: s times the Renyi divergence of order 1 + s.
    pub(crate) fn ln_mgf(&self, s: &Rational, bits: u32) -> Enclosure {
        match (self.sampled(), self.directions(), &self.uniform) {
            (Some(sampled), ..) => sampled.ln_mgf(s),
            (None, Some(directions), _) => self.with_unlisted(s, directions.ln_mgf(s, bits)),
            (None, None, Some(uniform)) => uniform[1].ln_mgf(s, bits),
            (None, None, None) => self.loss.ln_mgf(s, bits),
        }
    }

    /// ln E[exp(s L)] with the values of unbounded noise on samples that are not listed: what they add to that of a step is below 2^-120 where the order is not large; else that of
    /// the same noise without sampling is a bound.
    fn with_unlisted(&self, s: &Rational, listed: Enclosure) -> Enclosure {
        const NEGLIGIBLE: u32 = 120;
        let mut more = Rational::new();
        for counts in self.counts.iter() {
            let Law::Sampled(sampled) = &counts.law else { continue };
            let Some(last) = sampled.listed_up_to() else { continue };
            if Rational::from(s + 1_u32) * counts.shift * 4_u32 > last {
                let bits = listed.lower().prec();
                let most = (s + s.clone().square()) * Rational::clone(&self.rho);
                return Enclosure::double(0.0, bits).hull(&Enclosure::rational(&most, bits));
            }
            more += Rational::from(counts.count) >> NEGLIGIBLE;
        }
        let more = Enclosure::rational(&more, listed.lower().prec());
        listed.add(&more).hull(&listed)
    }

    /// The same in doubles, to a few digits.
    pub(super) fn ln_mgf_approx(&self, s: f64) -> f64 {
        match (self.sampled(), self.directions(), &self.uniform) {
            (Some(sampled), ..) => sampled.ln_mgf_approx(s),
            (None, Some(directions), _) => directions.ln_mgf_approx(s),
            (None, None, Some(uniform)) => uniform[1].ln_mgf_approx(s),
            (None, None, None) => self.loss.ln_mgf_approx(s),
        }
    }

    /// An error where the pair is not symmetric, for requests that are not supported for such pairs.
    pub(crate) fn check_symmetric(&self, what: &str) -> Result<()> {
        let why = match self.is_sampled() {
            true => "of Poisson-sampled noise is not provided: its pair of hypotheses is not symmetric",
            false => "of a pair of hypotheses that is not symmetric is not provided",
        };
        if self.is_symmetric() { Ok(()) } else { Err(Error::unsuitable(format!("{what} {why}"))) }
    }

    /// Whether its losses have no common lattice, so that answers lie between those for two others.
    pub fn has_rounded_losses(&self) -> bool {
        self.below.is_some() || self.directions.is_some()
    }

    /// The composition with losses rounded down, which is at least as private, where its own losses are rounded up; `None` where they are exact.
    pub(crate) fn below(&self) -> Option<Composition> {
        let below = self.below.as_ref()?;
        Some(Composition { loss: Arc::clone(below), below: None, defined: None, ..self.clone() })
    }

    /// A composition of other counts with the same stop signal.
    fn derived(&self, counts: impl IntoIterator<Item = Counts>) -> Result<Self> {
        Ok(Composition { stop: self.stop.clone(), ..Composition::new(counts)? })
    }

    /// The same with the noise of all counts multiplied by `factor`.
    pub(super) fn with_noise_of_all_times(&self, factor: &Rational) -> Result<Self> {
        let counts: Result<Vec<Counts>> = self.counts.iter().map(|counts| counts.with_noise_times(factor)).collect();
        self.derived(counts?)
    }

    /// The counts it was made of, as given.
    pub fn counts(&self) -> &[Counts] {
        self.counts.as_slice()
    }

    /// The same one by one, without a list of its own where the composition shares those of others.
    pub(super) fn each_counts(&self) -> impl Iterator<Item = &Counts> {
        self.counts.iter()
    }

    /// The law of the privacy loss ln dP/dQ under P.
    pub fn loss(&self) -> &LossSum {
        &self.loss
    }

    /// The same, shared: many paths may hold it without copies.
    pub(super) fn shared_loss(&self) -> Arc<LossSum> {
        Arc::clone(&self.loss)
    }

    /// Whether [`Composition::rho`] is a formula of the parameters of all noise, and no upper bound on logarithms.
    pub fn has_exact_rho(&self) -> bool {
        self.counts.iter().all(|counts| counts.law.has_exact_rho())
    }

    /// The rho of zero-concentrated differential privacy: the sum over all counts ([`Counts::rho`]).
    pub fn rho(&self) -> &Rho {
        &self.rho
    }

    /// Lower bound on the least rho with which it is zero-concentrated: rho is at least every Renyi divergence over its order. Exact for Gaussian noise alone.
    /// Zero where losses are known between two laws alone, or the noise sees a random part of the records.
    pub fn least_rho(&self) -> Rational {
        const BITS: u32 = 160;
        if self.counts().iter().all(|counts| matches!(counts.law, Law::DiscreteGaussian { .. } | Law::Gaussian { .. }))
        {
            return Rational::clone(&self.rho);
        }
        if self.is_sampled() || self.below.is_some() || self.directions.is_some() || self.uniform.is_some() {
            return Rational::new();
        }
        // ln M(s) = s D(1 + s) <= s (1 + s) rho, at orders near 1, 2 and 17.
        let at = |s: Rational| {
            let divergence = self.ln_mgf(&s, BITS).lower().to_rational()?;
            Some(divergence / (s.clone() + s.square()))
        };
        let orders = [Rational::from((1, 1 << 20)), Rational::from(1), Rational::from(16)];
        orders.into_iter().filter_map(at).max().unwrap_or_default().max(Rational::new())
    }

    /// Whether some losses have no largest one, although they are listed, up to an error.
    fn has_unbounded_losses(&self) -> bool {
        let is_unbounded = |law: &Law| matches!(law, Law::Sampled(sampled) if sampled.listed_up_to().is_some());
        self.counts.iter().any(|counts| is_unbounded(&counts.law))
    }

    /// The epsilon of pure differential privacy; `None` if some noise is Gaussian, or some losses are infinite.
    pub fn pure_epsilon(&self) -> Option<Rational> {
        if self.has_unbounded_losses() {
            return None;
        }
        if let Some(directions) = self.directions() {
            return directions.largest_finite_loss().filter(|_| directions.infinite_loss().is_none());
        }
        self.counts.iter().try_fold(Rational::new(), |sum, counts| Some(sum + counts.pure_epsilon()?))
    }

    /// The largest loss that is finite; `None` if some noise is Gaussian.
    pub(crate) fn largest_finite_loss(&self) -> Option<Rational> {
        if self.has_unbounded_losses() {
            return None;
        }
        if let Some(directions) = self.directions() {
            return directions.largest_finite_loss();
        }
        self.counts.iter().try_fold(Rational::new(), |sum, counts| Some(sum + counts.largest_finite_loss()?))
    }

    /// The composition of both. It takes the stop signal of `self` if one is given, otherwise that of `other`.
    pub fn compose(&self, other: &Self) -> Result<Self> {
        let stop = if self.stop.is_given() { &self.stop } else { &other.stop };
        Ok(Composition { stop: stop.clone(), ..Composition::of_counts(self.counts.and(&other.counts))? })
    }

    /// The composition for groups of up to `size` people who leave or enter together: the worst of all ways in which they share out what each of them changes.
    /// For log-concave noise, such as Gaussian and Laplace, that is every shift times `size`. An error where no way is proven to be the worst, and if a shift
    /// exceeds its range.
    pub fn for_groups_of(&self, size: u64) -> Result<Self> {
        self.derived(self.counts.iter().map(|counts| group::grouped(counts, size)).collect::<Result<Vec<_>>>()?)
    }

    fn refuse_sampled(&self, why: &str) -> Result<()> {
        if self.is_sampled() { Err(Error::unsuitable(why)) } else { Ok(()) }
    }

    /// This composition released `times` times, each time with independent noise: every number of counts times `times`. An error for no
    /// repetitions, or more than 10^12 counts of one noise.
    pub fn repeated(&self, times: u64) -> Result<Self> {
        self.derived(self.counts.iter().map(|counts| counts.repeated(times)).collect::<Result<Vec<_>>>()?)
    }

    /// The composition when a record changes instead of being added or removed: it leaves one cell and enters another, so every count
    /// occurs twice, once in each direction. A guarantee, or a pair of hypotheses, is about either relation: it occurs once.
    pub fn for_changed_records(&self) -> Result<Self> {
        self.refuse_sampled("a record that changes under Poisson sampling: use the neighbor relation add-remove")?;
        let entered = self.counts.iter().filter(|counts| !counts.law.is_guarantee()).map(Counts::entered);
        self.derived(self.counts.iter().cloned().chain(entered))
    }
}

/// The losses of the counts that see a Poisson sample, and of continuous Gaussian noise; `None` where none does.
fn samples<'a>(counts: impl Iterator<Item = &'a Counts>) -> Option<SampledSum> {
    let (mut phases, mut rho) = (Vec::new(), Rational::new());
    for counts in counts.filter(|counts| directions::is_in_samples(&counts.law)) {
        match &counts.law {
            Law::SampledGaussian { .. } => phases.extend(counts.phase()),
            _ => rho += counts.rho(),
        }
    }
    (!phases.is_empty()).then(|| SampledSum::new(phases, rho))
}

/// All other losses, where they are finite, exact and of symmetric pairs, so that both directions of samples have the same beside them.
fn beside_samples(terms: &[Group]) -> Result<Option<UniformSum>> {
    let others: Vec<Group> = terms.iter().filter(|term| !directions::is_in_samples(&term.law)).cloned().collect();
    // Losses that are uniform once they are tilted are finite, and of symmetric pairs.
    for term in others.iter().filter(|term| term.law.uniform(term.shift).is_none()) {
        let is_rounded = term.law.rounded(term.shift, Rounding::Up, Direction::Remove).is_some();
        if is_rounded || !term.law.is_symmetric() || LossSum::new([term.clone()])?.infinite_loss().is_some() {
            return Ok(None);
        }
    }
    UniformSum::collected(&others, Rounding::Up, Direction::Remove).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_changed_records_scale_rho() {
        let one = Composition::new(["5x10".parse().unwrap()]).unwrap();
        assert_eq!(*one.rho(), 1);
        assert_eq!(*one.for_groups_of(3).unwrap().rho(), 9);
        assert_eq!(*one.for_changed_records().unwrap().rho(), 2);
        assert!(one.for_groups_of(u64::MAX).is_err());
        assert_eq!(*one.repeated(4).unwrap().rho(), 4);
        assert!(one.repeated(0).is_err() && one.repeated(u64::MAX).is_err());
        assert!(matches!(Composition::new([]), Err(Error::EmptyComposition)));
    }
}
