//! Compositions: the counts that are published, their noise, and by how much one person changes them.

#[cfg(feature = "mechanisms")]
use std::path::Path;
use std::{fmt, str::FromStr, sync::Arc};

use rug::Rational;

use super::{
    directions::{self, Directions},
    free_rows,
    joined::Joined,
};
use crate::{
    error::{Error, Result},
    law::{Direction, Rounding},
    loss::{
        evaluator::{DirectionsEvaluator, SampledEvaluator, SumEvaluator, UniformEvaluator},
        law::{Group, Law},
        parameter::{Rho, Sigma2},
        sampled::{Phase, SampledSum},
        stop::Stop,
        sum::LossSum,
        uniform::UniformSum,
    },
    numeric::{Enclosure, rational},
};

/// The largest number of counts with one noise.
const MOST_COUNTS: u64 = 1_000_000_000_000;

/// `count` counts, each published with independent noise of one law and changed by `shift` between neighbors.
///
/// The text form of discrete Gaussian counts is that of the command line: `SIGMA2[xCOUNT][@SHIFT]`, as in `5x10`,
/// `500/73x10@2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The law of the noise.
    pub law: Law,
    /// The number of counts.
    pub count: u64,
    /// The difference of one count between neighboring data sets.
    pub shift: u64,
    /// Whether a count stands for the cells of a query among which `shift` rows move freely: all in one cell is the worst.
    pub free_rows: bool,
}

impl Counts {
    /// Counts with noise N_Z(0, sigma2): sigma2 from 10^-6 to 10^18, 1 to 10^12 counts, shifts from 1 to 10^6; anything else is an error.
    pub fn discrete_gaussian<S>(sigma2: S, count: u64, shift: u64) -> Result<Self>
    where
        S: TryInto<Sigma2>,
        Error: From<S::Error>,
    {
        Counts { law: Law::DiscreteGaussian { sigma2: sigma2.try_into()?.into() }, count, shift, free_rows: false }
            .checked()
    }

    /// Counts with continuous noise N(0, sigma2), for comparison; the same ranges.
    pub fn gaussian<S>(sigma2: S, count: u64, shift: u64) -> Result<Self>
    where
        S: TryInto<Sigma2>,
        Error: From<S::Error>,
    {
        Counts { law: Law::Gaussian { sigma2: sigma2.try_into()?.into() }, count, shift, free_rows: false }.checked()
    }

    /// Counts with discrete Laplace (two-sided geometric) noise of mass proportional to exp(-epsilon |x|): epsilon from 10^-6 to 10^3,
    /// shifts from 1 to 1000. Anything else is an error.
    pub fn discrete_laplace(epsilon: Rational, count: u64, shift: u64) -> Result<Self> {
        Counts { law: Law::DiscreteLaplace { epsilon }, count, shift, free_rows: false }.checked()
    }

    /// Counts with noise of a law; an error if parameter, count or shift is outside the ranges of that law.
    pub fn new(law: Law, count: u64, shift: u64) -> Result<Self> {
        Counts { law, count, shift, free_rows: false }.checked()
    }

    /// The same, where each count stands for the cells of a query among which up to `shift` rows move freely, as where tables are joined
    /// and truncated. All in one cell is the worst; an error where that is not proven.
    pub fn with_free_rows(self) -> Result<Self> {
        Counts { free_rows: true, ..self }.checked()
    }

    fn checked(self) -> Result<Self> {
        self.law.check()?;
        let most_shift = self.law.most_shift();
        if !(1..=MOST_COUNTS).contains(&self.count) {
            return Err(Error::out_of_range("count", self.count, "1 to 10^12 counts"));
        }
        if (1..=most_shift).contains(&self.shift) {
            self.law.check_shift(self.shift)?;
        }
        if !(1..=most_shift).contains(&self.shift) {
            let why = match most_shift {
                1 => ": it is about one record; a group has a guarantee of its own",
                _ => "",
            };
            let expected = format!("an integer change from 1 to {most_shift}{why}");
            return Err(Error::out_of_range("shift", self.shift, &expected));
        }
        if self.free_rows {
            free_rows::check(&self.law, self.shift)?;
        }
        Ok(self)
    }

    /// The same noise with another count and shift, checked against the ranges.
    fn with(&self, count: u64, shift: u64) -> Result<Self> {
        Counts { law: self.law.clone(), count, shift, free_rows: self.free_rows }.checked()
    }

    /// The same counts with more noise: the variance of Gaussian noise times `factor`, the parameter of a discrete Laplace divided by it.
    /// An error if the result is out of range.
    pub fn with_noise_times(&self, factor: &Rational) -> Result<Self> {
        if *factor != 1 && !self.law.has_scale() {
            let what = match self.law {
                Law::Pair(_) => "a pair of hypotheses",
                Law::UnknownKey(_) => "an unknown key with its threshold",
                _ => "a table of masses",
            };
            let why = format!("{what} has no scale by which its noise could be multiplied: give another one");
            return Err(Error::unsuitable(why));
        }
        Counts { law: self.law.times(factor), ..self.clone() }.checked()
    }

    /// The zCDP rho they spend: count shift^2 / (2 sigma2) for Gaussian noise, count (shift epsilon)^2 / 2 for the discrete Laplace, which
    /// is (shift epsilon)-DP (Bun & Steinke 2016, Proposition 1.4).
    pub fn rho(&self) -> Rational {
        self.law.rho(self.shift) * self.count
    }

    /// The same counts released `times` times, each time with independent noise. An error for no repetitions, or more than 10^12 counts.
    pub fn repeated(&self, times: u64) -> Result<Self> {
        self.with(self.count.saturating_mul(times), self.shift)
    }

    /// The epsilon of pure differential privacy they spend; `None` where losses are unbounded, or some are infinite.
    pub fn pure_epsilon(&self) -> Option<Rational> {
        self.largest_finite_loss().filter(|_| !self.law.has_infinite_loss())
    }

    /// The largest loss that is finite; `None` for Gaussian noise, whose loss is unbounded.
    fn largest_finite_loss(&self) -> Option<Rational> {
        Some(self.law.largest_loss(self.shift)? * self.count)
    }

    /// Reads `PARAMETER[:OTHER][xCOUNT][@SHIFT]` as counts with noise of the law of this name ([`Law::KEYS`]), as in `1/2:40x10@2` for
    /// `truncated-laplace`. An error for other forms, or values out of range.
    pub fn parse(key: &str, text: &str) -> Result<Self> {
        let (rest, shift) = match text.split_once('@') {
            Some((rest, shift)) => (rest, whole(shift, "SHIFT")?),
            None => (text, 1),
        };
        let (parameters, count) = match rest.split_once('x') {
            Some((parameters, count)) => (parameters, whole(count, "COUNT")?),
            None => (rest, 1),
        };
        let (mut parts, mut names) = (parameters.split(':'), Vec::new());
        let law = Law::named(key, |name| {
            names.push(name.to_uppercase());
            match parts.next() {
                Some(part) => rational::parse(part),
                // Two, unless others are given.
                None if name == "answers" => Ok(Rational::from(2)),
                None => Err(Error::malformed(key, text, &format!("{}, as in 1:5x10", names.join(":")))),
            }
        });
        let law = law.ok_or_else(|| Error::unknown("law", key, "there are", Law::KEYS))??;
        if let Some(more) = parts.next() {
            let expected =
                format!("{} and no more, as in {}", names.join(":"), if names.len() > 1 { "1:5x10" } else { "5x10" });
            return Err(Error::malformed("a further parameter", more, &expected));
        }
        Counts { law, count, shift, free_rows: false }.checked()
    }

    #[cfg(feature = "mechanisms")]
    /// Reads the text of an option of the command line, by its name without dashes: that of a law, a sample, a file, or an unknown key. `normalize` divides
    /// the masses of a file by their sum.
    pub fn read(key: &str, text: &str, normalize: bool) -> Result<Self> {
        match key {
            "sampled" => Counts::parse_sampled(text),
            "unknown-key" => Counts::parse_unknown_key(text),
            "table" => Counts::parse_table(text, normalize),
            "p-table" => Counts::parse_p_table(text, normalize),
            "pair" => Counts::parse_pair(text, normalize),
            law => Counts::parse(law, text),
        }
    }

    /// Reads `RATE:LAW:PARAMETER[xCOUNT][@SHIFT]` as counts of a Poisson sample, as in `0.01:gaussian:1x1000`: the noise of `LAW`, which has to be
    /// `gaussian`, is added to the sum over a sample of the records. An error for other forms, laws, or values out of range.
    pub fn parse_sampled(text: &str) -> Result<Self> {
        let expected = "RATE:gaussian:SIGMA2, as in 0.01:gaussian:1x1000";
        let malformed = || Error::malformed("sampled", text, expected);
        let (rate, rest) = text.split_once(':').ok_or_else(malformed)?;
        let (key, rest) = rest.split_once(':').ok_or_else(malformed)?;
        let base = Counts::parse(key.trim(), rest)?;
        let Law::Gaussian { sigma2 } = base.law else {
            let why =
                format!("{} on a sample of the records: there is an account for gaussian only", base.law.in_words());
            return Err(Error::unsuitable(why));
        };
        Counts { law: Law::SampledGaussian { rate: rational::parse(rate)?, sigma2 }, ..base }.checked()
    }

    /// Reads `LAW:PARAMETER:THRESHOLD[xCOUNT][@SHIFT]` as keys that are shown if their noisy count is at least the threshold, as in
    /// `discrete-laplace:1/2:30x10`: `LAW` is discrete-laplace, discrete-gaussian, laplace or gaussian. An error for other forms, laws, or values out of range.
    pub fn parse_unknown_key(text: &str) -> Result<Self> {
        let expected = "LAW:PARAMETER:THRESHOLD, as in discrete-laplace:1/2:30x10";
        let (rest, shift) = match text.split_once('@') {
            Some((rest, shift)) => (rest, whole(shift, "SHIFT")?),
            None => (text, 1),
        };
        let mut parts = rest.splitn(3, ':');
        let (Some(key), Some(parameter), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(Error::malformed("unknown-key", text, expected));
        };
        let (threshold, count) = match rest.split_once('x') {
            Some((threshold, count)) => (threshold, whole(count, "COUNT")?),
            None => (rest, 1),
        };
        let keys = crate::law::UnknownKey::new(key.trim(), rational::parse(parameter)?, rational::parse(threshold)?)?;
        Counts { law: Law::UnknownKey(Arc::new(keys)), count, shift, free_rows: false }.checked()
    }

    #[cfg(feature = "mechanisms")]
    /// Reads `FILE[xCOUNT][@SHIFT]` as counts with the noise of a table ([`read`](crate::law::NoiseTable::read)). Where both FILE with the count and FILE without it exist, the
    /// text has two meanings and is refused.
    pub fn parse_table(text: &str, normalize: bool) -> Result<Self> {
        let (file, count, shift) = of_file(text)?;
        let table = crate::law::NoiseTable::read(Path::new(&file), normalize)?;
        Counts { law: Law::Table(Arc::new(table)), count, shift, free_rows: false }.checked()
    }

    #[cfg(feature = "mechanisms")]
    /// Reads `FILE[xCOUNT][@SHIFT]` as cells of the cell-key method ([`read`](crate::law::PerturbationTable::read)). Two meanings are refused, as by
    /// [`Counts::parse_table`].
    pub fn parse_p_table(text: &str, normalize: bool) -> Result<Self> {
        let (file, count, shift) = of_file(text)?;
        let table = crate::law::PerturbationTable::read(Path::new(&file), normalize)?;
        Counts { law: Law::Perturbation(Arc::new(table)), count, shift, free_rows: false }.checked()
    }

    #[cfg(feature = "mechanisms")]
    /// Reads `FILE[xCOUNT]` as mechanisms whose outcomes for two neighbors are those of a file ([`read`](crate::law::Pair::read)). Two meanings are refused, as
    /// by [`Counts::parse_table`].
    pub fn parse_pair(text: &str, normalize: bool) -> Result<Self> {
        let (file, count, shift) = of_file(text)?;
        let pair = crate::law::Pair::read(Path::new(&file), normalize)?;
        Counts { law: Law::Pair(Arc::new(pair)), count, shift, free_rows: false }.checked()
    }

    /// Reads `SIGMA2[xCOUNT][@SHIFT]` as counts with continuous noise. An error for other forms, or values out of range.
    pub fn parse_gaussian(text: &str) -> Result<Self> {
        Counts::parse("gaussian", text)
    }

    /// Reads `EPSILON[xCOUNT][@SHIFT]` as counts with discrete Laplace noise. An error for other forms, or values out of range.
    pub fn parse_discrete_laplace(text: &str) -> Result<Self> {
        Counts::parse("discrete-laplace", text)
    }
}

/// `FILE[xCOUNT][@SHIFT]`: the name of the file, the count and the shift. Where both FILE with the count and FILE without it exist, the text has two
/// meanings and is refused.
#[cfg(feature = "mechanisms")]
fn of_file(text: &str) -> Result<(String, u64, u64)> {
    let ends_in_digits = |text: &str, mark: char| {
        let (rest, digits) = text.rsplit_once(mark)?;
        let is_number = !rest.is_empty() && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| (rest.to_string(), digits.to_string()))
    };
    let is_file = |text: &str| Path::new(text).is_file();
    let divided = |text: &str, mark: char, what: &str| -> Result<(String, u64)> {
        match ends_in_digits(text, mark) {
            Some((rest, _)) if is_file(text) && is_file(&rest) => {
                let why = format!("both {text:?} and {rest:?} are files: write {text}{mark}1 for the first");
                Err(Error::conflict(why))
            }
            Some((rest, number)) if !is_file(text) => Ok((rest, whole(&number, what)?)),
            _ => Ok((text.to_string(), 1)),
        }
    };
    let (rest, shift) = divided(text, '@', "SHIFT")?;
    let (file, count) = divided(&rest, 'x', "COUNT")?;
    Ok((file, count, shift))
}

/// A positive number of counts, or a shift.
fn whole(part: &str, what: &str) -> Result<u64> {
    part.trim().parse::<u64>().map_err(|_| {
        let positive = part.trim().strip_prefix('-').and_then(|part| part.parse::<u64>().ok());
        let parts = part.split(',').all(|part| part.trim().parse::<u64>().is_ok());
        let why = match positive {
            Some(positive) if what == "SHIFT" => format!("the sign does not matter: use {positive}"),
            _ if parts => "repeat the option, once for each number".to_string(),
            _ => "as in 5x10@1".to_string(),
        };
        Error::malformed(what, part, &format!("a positive whole number; {why}"))
    })
}

impl FromStr for Counts {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Counts::parse(Law::KEYS[0], text)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}x{}@{}", self.law, self.count, self.shift)
    }
}

/// A composition of independent mechanisms about the same person: the pair of product laws of the outputs for two neighbors.
///
/// The privacy loss L = ln dP/dQ of the pair is a [`LossSum`]. Mostly the pair is symmetric, so that the order of the
/// neighbors does not matter; otherwise all answers are about the worse order ([`Composition::is_symmetric`]).
///
/// ```
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
}

/// One over the rho that is stated for outcomes that are equally likely under both neighbors, or possible for one of them only.
const OF_NO_LOSS: u64 = 1_000_000_000_000_000_000;

impl Composition {
    /// The composition of the given counts; an error if there are none.
    pub fn new(counts: impl IntoIterator<Item = Counts>) -> Result<Self> {
        Self::of(counts.into_iter().collect::<Vec<_>>().into())
    }

    fn of(counts: Joined<Counts>) -> Result<Self> {
        let terms =
            counts.iter().map(|counts| Group { law: counts.law.clone(), shift: counts.shift, copies: counts.count });
        let terms: Vec<Group> = terms.collect();
        let dominating = terms.iter().map(directions::dominating).collect::<Result<Vec<_>>>()?;
        let loss = Arc::new(LossSum::new(dominating.concat())?);
        let directions = Directions::of(&terms)?;
        let is_exact = directions.is_some() || loss.groups().iter().all(|group| !group.law.is_listed());
        let down = |term: &Group| directions::group(term, Rounding::Down, Direction::Remove);
        let below = if is_exact { None } else { Some(Arc::new(LossSum::new(terms.iter().map(down))?)) };
        let rho = counts.iter().fold(Rational::new(), |sum, counts| sum + counts.rho());
        let sampled = sampled_sum(counts.iter())?.map(Arc::new);
        let is_symmetric = sampled.is_none() && directions.is_none();
        let uniform = |rounding| UniformSum::of(&terms, rounding, Direction::Remove);
        let uniform = if is_symmetric { uniform(Rounding::Down)?.zip(uniform(Rounding::Up)?) } else { None };
        let uniform = uniform.map(|(below, above)| Arc::new([below, above]));
        // Where every finite loss is zero, so is rho, and any number above 0 is an upper bound.
        let rho = Rho::new(if rho == 0 && loss.is_zero() { Rational::from((1, OF_NO_LOSS)) } else { rho })?;
        Ok(Composition { counts, loss, below, sampled, directions, uniform, rho, stop: Stop::default() })
    }

    /// The same composition, whose requests end with [`Error::Stopped`] once `stop` is set; so do those of compositions derived from it.
    pub fn until(&self, stop: &Stop) -> Self {
        Composition { stop: stop.clone(), ..self.clone() }
    }

    /// The signal that ends its requests.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// An evaluator of its loss, with the same stop signal; of losses on no common lattice, one of a sum that is at most as private.
    pub fn loss_evaluator(&self) -> SumEvaluator {
        self.loss.evaluator().until(&self.stop)
    }

    /// The losses with Poisson sampling of the records; `None` where no noise is sampled.
    pub(crate) fn sampled(&self) -> Option<&SampledSum> {
        self.sampled.as_deref()
    }

    /// Whether some noise is on a Poisson sample of the records. [`Composition::rho`] is then that of the same noise without sampling, an upper bound.
    pub fn is_sampled(&self) -> bool {
        self.sampled.is_some()
    }

    /// An evaluator of both directions of noise on Poisson samples, with the same stop signal; `None` where no noise is sampled.
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
    pub(super) fn ln_mgf(&self, s: &Rational, bits: u32) -> Enclosure {
        match (self.sampled(), self.directions(), &self.uniform) {
            (Some(sampled), ..) => sampled.ln_mgf(s),
            (None, Some(directions), _) => directions.ln_mgf(s, bits),
            (None, None, Some(uniform)) => uniform[1].ln_mgf(s, bits),
            (None, None, None) => self.loss.ln_mgf(s, bits),
        }
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
        match (&self.sampled, &self.directions) {
            (Some(_), _) => Err(Error::unsuitable(format!(
                "{what} of Poisson-sampled noise is not provided: its pair of hypotheses is not symmetric"
            ))),
            (None, Some(_)) => {
                Err(Error::unsuitable(format!("{what} of a pair of hypotheses that is not symmetric is not provided")))
            }
            (None, None) => Ok(()),
        }
    }

    /// Whether its losses have no common lattice, so that answers lie between those for two others.
    pub fn has_rounded_losses(&self) -> bool {
        self.below.is_some() || self.directions.is_some()
    }

    /// The composition with losses rounded down, which is at least as private, where its own losses are rounded up; `None` where they are exact.
    pub(crate) fn below(&self) -> Option<Composition> {
        let below = self.below.as_ref()?;
        Some(Composition { loss: Arc::clone(below), below: None, ..self.clone() })
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

    /// The rho of zero-concentrated differential privacy: the sum over all counts ([`Counts::rho`]).
    pub fn rho(&self) -> &Rho {
        &self.rho
    }

    /// The epsilon of pure differential privacy; `None` if some noise is Gaussian, or some losses are infinite.
    pub fn pure_epsilon(&self) -> Option<Rational> {
        if let Some(directions) = self.directions() {
            return directions.largest_finite_loss().filter(|_| directions.infinite_loss().is_none());
        }
        self.counts.iter().try_fold(Rational::new(), |sum, counts| Some(sum + counts.pure_epsilon()?))
    }

    /// The largest loss that is finite; `None` if some noise is Gaussian.
    pub(super) fn largest_finite_loss(&self) -> Option<Rational> {
        if let Some(directions) = self.directions() {
            return directions.largest_finite_loss();
        }
        self.counts.iter().try_fold(Rational::new(), |sum, counts| Some(sum + counts.largest_finite_loss()?))
    }

    /// The composition of both. It takes the stop signal of `self` if one is given, otherwise that of `other`.
    pub fn compose(&self, other: &Self) -> Result<Self> {
        let stop = if self.stop.is_given() { &self.stop } else { &other.stop };
        Ok(Composition { stop: stop.clone(), ..Composition::of(self.counts.and(&other.counts))? })
    }

    /// The composition for groups of `size` people who leave or enter together: every shift times `size`. An error if a shift exceeds its
    /// range.
    pub fn for_groups_of(&self, size: u64) -> Result<Self> {
        if size > 1 {
            let why = "a group of records under Poisson sampling: each of them is sampled on its own, which is a mixture of several shifts";
            self.refuse_sampled(why)?;
        }
        let counts: Result<Vec<Counts>> =
            (self.counts.iter()).map(|counts| counts.with(counts.count, counts.shift.saturating_mul(size))).collect();
        self.derived(counts?)
    }

    fn refuse_sampled(&self, why: &str) -> Result<()> {
        if self.sampled.is_some() { Err(Error::unsuitable(why)) } else { Ok(()) }
    }

    /// The same released `times` times, each time with independent noise: every number of counts times `times`. An error for no
    /// repetitions, or more than 10^12 counts of one noise.
    pub fn repeated(&self, times: u64) -> Result<Self> {
        self.derived(self.counts.iter().map(|counts| counts.repeated(times)).collect::<Result<Vec<_>>>()?)
    }

    /// The composition when a record changes instead of being added or removed: it leaves one cell and enters another, so every count
    /// occurs twice, once in each direction. A guarantee, or a pair of hypotheses, is about either relation: it occurs once.
    pub fn for_changed_records(&self) -> Result<Self> {
        self.refuse_sampled("a record that changes under Poisson sampling: use the neighbor relation add-remove")?;
        let twice = self.counts.iter().filter(|counts| !counts.law.is_guarantee());
        let entered = twice.map(|counts| Counts { law: counts.law.of_opposite_record(), ..counts.clone() });
        self.derived(self.counts.iter().cloned().chain(entered))
    }
}

/// The losses of counts some of which see a Poisson sample; `None` where none does. An error for other noise than Gaussian beside them.
fn sampled_sum<'a>(counts: impl Iterator<Item = &'a Counts> + Clone) -> Result<Option<SampledSum>> {
    if counts.clone().all(|counts| !counts.law.is_sampled()) {
        return Ok(None);
    }
    let (mut phases, mut rho) = (Vec::new(), Rational::new());
    for counts in counts {
        match &counts.law {
            Law::SampledGaussian { rate, sigma2 } => phases.push(Phase {
                rate: rate.clone(),
                sigma2: sigma2 / Rational::from(counts.shift).square(),
                steps: counts.count,
            }),
            Law::Gaussian { .. } => rho += counts.rho(),
            other => {
                let why = format!(
                    "{} beside Poisson-sampled noise: only continuous Gaussian noise can be composed with it",
                    other.in_words()
                );
                return Err(Error::unsuitable(why));
            }
        }
    }
    Ok(Some(SampledSum::new(phases, rho)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_they_are_written() {
        for (text, shown) in
            [("5", "5x1@1"), ("5.00x10", "5x10@1"), ("500/73x10@2", "500/73x10@2"), ("1e2@3", "100x1@3")]
        {
            assert_eq!(text.parse::<Counts>().unwrap().to_string(), format!("discrete Gaussian {shown}"));
        }
        for text in [
            "",
            "x10",
            "5x",
            "5x1.5",
            "5x-1",
            "0x10",
            "5x0",
            "5@0",
            "-5",
            "NaN",
            "inf",
            "5x10@",
            "5x99999999999999999999",
        ] {
            assert!(text.parse::<Counts>().is_err(), "{text:?}");
        }
    }

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
