//! Every published value recomputed and judged: agrees, differs, disproved, undecided or needs data.

use std::cmp::Ordering;

use rayon::prelude::*;
use rug::{Integer, Rational, ops::Pow};

use super::{
    block_paths,
    published::{Compute, Paper, Published, Unit},
    su_su_wang_2025,
};
use crate::{
    account::{Account, Composition, Counts, Delta, calibrate, conversions},
    error::Result,
    noise::DiscreteGaussian,
    numeric::{
        Certainty, Enclosure,
        rational::parse,
        root::{self, Decreasing},
    },
    release::Release,
};

/// What a recomputation says of a printed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole enclosure rounds to the printed digits, or the printed bound or statement holds.
    Agrees,
    /// No point of the enclosure rounds to the printed digits.
    Differs,
    /// The printed bound or statement is proven wrong.
    Disproved,
    /// The enclosure is too wide to tell.
    Undecided,
    /// It rests on data that are not at hand.
    NeedsData,
}

impl Verdict {
    /// The word in tables and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Differs => "differs",
            Verdict::Disproved => "disproved",
            Verdict::Undecided => "undecided",
            Verdict::NeedsData => "needs-data",
        }
    }
}

/// A row of the verification.
#[derive(Clone, Debug)]
pub struct Row {
    /// The claim.
    pub published: Published,
    /// The certified value, or what was found of a statement.
    pub computed: Computed,
    /// What follows.
    pub verdict: Verdict,
    /// What the computation gives that the printed value seems to come from, where it is recorded.
    pub printed_by: Option<Computed>,
}

impl Row {
    /// The computed value to as many digits as are printed and one more, at least eight.
    pub fn shown(&self) -> String {
        self.computed.shown((self.published.significant_digits() as usize + 1).max(8))
    }

    /// Whether the verdict is one that a reader must be told of: neither agreement nor a recorded erratum.
    pub fn is_unexplained(&self) -> bool {
        !matches!(self.verdict, Verdict::Agrees | Verdict::NeedsData) && self.published.erratum.is_none()
    }
}

/// What a recomputation gives.
#[derive(Clone, Debug)]
pub enum Computed {
    /// A number.
    Value(Enclosure),
    /// A statement.
    Statement(Certainty),
    /// Nothing, for want of these data.
    NeedsData(String),
}

impl Computed {
    /// Values about risk are probabilities; where percent are printed they are compared as such.
    fn in_unit(self, published: &Published) -> Self {
        let percent = matches!(published.unit, Unit::Percent | Unit::LeastPercent);
        match (self, &published.compute) {
            (Computed::Value(value), Compute::Risk(_)) if percent => {
                Computed::Value(value.mul(&Enclosure::double(100.0, 100)))
            }
            (computed, _) => computed,
        }
    }

    /// For tables: the value to its proven digits, at most `digits`.
    pub fn shown(&self, digits: usize) -> String {
        match self {
            Computed::Value(value) => value.shown(digits),
            Computed::Statement(Certainty::Yes) => "true".to_string(),
            Computed::Statement(Certainty::No) => "false".to_string(),
            Computed::Statement(Certainty::Undecided) => "undecided".to_string(),
            Computed::NeedsData(_) => "-".to_string(),
        }
    }
}

/// Recomputes every value of a paper, on all cores, in the paper's order.
pub fn verify(paper: &Paper) -> Result<Vec<Row>> {
    (paper.values.par_iter())
        .map(|published| {
            let digits = DIGITS.max(published.significant_digits() + 1);
            let computed = compute(&paper.paper, &published.compute, digits)?.in_unit(published);
            let verdict = judge(published, &computed)?;
            let printed_by =
                published.printed_by.as_ref().map(|what| compute(&paper.paper, what, digits)).transpose()?;
            let printed_by = printed_by.map(|computed| computed.in_unit(published));
            Ok(Row { published: published.clone(), computed, verdict, printed_by })
        })
        .collect()
}

/// The digits to which values are recomputed, and one more than are printed where those are many.
const DIGITS: u32 = 12;

/// The grid on which matching noise is bracketed: this many decimals.
const MATCH_DECIMALS: u32 = 7;

fn compute(paper: &str, what: &Compute, digits: u32) -> Result<Computed> {
    let value = match what {
        Compute::OptimalOrderEpsilon { release, levels, queries, delta } => {
            let rho = rho_of(&Release::find(release)?, levels.as_deref(), queries.as_deref())?;
            conversions::zcdp_epsilon_optimal(&rho.try_into()?, &delta.parse()?)?.epsilon
        }
        Compute::ReleaseZcdpEpsilon { release, delta } => {
            conversions::zcdp_epsilon(&Release::find(release)?.rho.try_into()?, &delta.parse()?, digits)
        }
        Compute::ReleaseRho { release } => Enclosure::rational(&Release::find(release)?.rho, 256),
        Compute::Own { method } => return su_su_wang_2025::compute(&Release::find(paper)?, method),
        Compute::Risk(what) => return super::risk::compute(what),
        Compute::Spine(claim) => return super::spine::compute(claim),
        Compute::Paths { release, value } => return block_paths::compute(&Release::find(release)?, value, digits),
        Compute::Safetab(what) => return super::safetab::compute(paper, what),
        Compute::VarianceDeficit { sigma2 } => DiscreteGaussian::new(parse(sigma2)?)?.variance_deficit(DIGITS),
        _ => return compute_of_release(&Release::find(paper)?, what, digits),
    };
    Ok(Computed::Value(value))
}

/// The rho of the queries of these names at the levels of these names.
fn rho_of(release: &Release, levels: Option<&[String]>, queries: Option<&[String]>) -> Result<Rational> {
    let mut rho = Rational::new();
    for name in levels.into_iter().flatten() {
        release.level(name)?;
    }
    let named = |names: Option<&[String]>, name: &String| names.is_none_or(|names| names.contains(name));
    for level in release.levels.iter().filter(|level| named(levels, &level.name)) {
        for query in level.queries.iter().filter(|query| named(queries, &query.name)) {
            rho += Rational::from(&query.rho * query.times);
        }
    }
    Ok(rho)
}

fn compute_of_release(release: &Release, what: &Compute, digits: u32) -> Result<Computed> {
    let part = |level: &Option<String>| release.composition(level.as_slice(), None);
    let value = match what {
        Compute::Epsilon { level, delta } => part(level)?.epsilon(&parse(delta)?, DIGITS)?.value,
        Compute::ZcdpEpsilon { level, delta } => conversions::zcdp_epsilon(part(level)?.rho(), &delta.parse()?, DIGITS),
        Compute::EpsilonReduction { level, delta } => {
            let (composition, delta) = (release.composition(&[level], None)?, delta.parse::<Delta>()?);
            let exact = composition.epsilon(&delta, DIGITS)?.value;
            percent_below(&exact, &conversions::zcdp_epsilon(composition.rho(), &delta, DIGITS))
        }
        Compute::BelowZcdp { deltas } => return below_zcdp(release, deltas),
        Compute::Sigma2 { level } => Enclosure::rational(&sigma2_of(release, level)?, 100),
        Compute::MatchedSigma2 { level, delta } => matched_sigma2(release, level, &delta.parse()?)?,
        Compute::NoiseReduction { level, delta } => {
            let own = Enclosure::rational(&sigma2_of(release, level)?, 100);
            percent_below(&matched_sigma2(release, level, &delta.parse()?)?, &own)
        }
        Compute::OverallReduction { delta } => overall_reduction(release, &delta.parse()?)?,
        Compute::OverallReductionOneTerm { delta, target } => {
            let target = target.as_deref().map(parse).transpose()?;
            overall_reduction_one_term(release, &delta.parse()?, target.as_ref())?
        }
        other => return compute(&release.name, other, digits),
    };
    Ok(Computed::Value(value))
}

/// 100 (1 - value / whole).
fn percent_below(value: &Enclosure, whole: &Enclosure) -> Enclosure {
    let one = Enclosure::double(1.0, 100);
    one.sub(&value.div(whole)).mul(&Enclosure::double(100.0, 100))
}

fn below_zcdp(release: &Release, deltas: &[String]) -> Result<Computed> {
    let mut parts: Vec<Composition> =
        release.levels.iter().map(|level| release.composition(&[&level.name], None)).collect::<Result<_>>()?;
    parts.push(release.composition(&[] as &[&str], None)?);
    let mut answer = Certainty::Yes;
    for composition in &parts {
        for delta in deltas {
            match conversions::is_below_zcdp(composition, &delta.parse()?, DIGITS)? {
                Certainty::Yes => {}
                Certainty::No => return Ok(Computed::Statement(Certainty::No)),
                Certainty::Undecided => answer = Certainty::Undecided,
            }
        }
    }
    Ok(Computed::Statement(answer))
}

/// The variance proxy of a level whose queries are all alike.
fn sigma2_of(release: &Release, level: &str) -> Result<Rational> {
    Ok(release.level(level)?.queries[0].sigma2.clone())
}

fn matched_sigma2(release: &Release, level: &str, delta: &Delta) -> Result<Enclosure> {
    let composition = release.composition(&[level], None)?;
    let target = conversions::zcdp_epsilon(composition.rho(), delta, 30);
    let count = composition.counts().iter().map(|counts| counts.count).sum();
    let family = |sigma2: &Rational| Composition::new([Counts::discrete_gaussian(sigma2.clone(), count, 1)?]);
    let guess = sigma2_of(release, level)?.to_f64() * 0.83;
    Ok(bracket(calibrate::least_on_grid(family, &target, delta, MATCH_DECIMALS, guess)?))
}

/// 100 (1 - factor) for the least common factor of all variances that meets the zCDP epsilon of the whole.
fn overall_reduction(release: &Release, delta: &Delta) -> Result<Enclosure> {
    let whole = release.composition(&[] as &[&str], None)?;
    let target = conversions::zcdp_epsilon(whole.rho(), delta, 30);
    let family = |factor: &Rational| scaled(&whole, factor);
    let factor = bracket(calibrate::least_on_grid(family, &target, delta, MATCH_DECIMALS, 0.88)?);
    Ok(percent_below(&factor, &Enclosure::double(1.0, 100)))
}

/// The same for the bound P[L > epsilon]: the factor is bracketed by the epsilons of one-term bounds.
fn overall_reduction_one_term(release: &Release, delta: &Delta, target: Option<&Rational>) -> Result<Enclosure> {
    let whole = release.composition(&[] as &[&str], None)?;
    let target = target
        .map_or_else(|| conversions::zcdp_epsilon(whole.rho(), delta, 30), |target| Enclosure::rational(target, 100));
    let ceiling = target.upper().to_f64() * 2.0;
    let step = Rational::from((1, Integer::from(10).pow(5)));
    let (mut below, mut at) = (Rational::from((1, 2)), Rational::from(1));
    while Rational::from(&at - &below) > step {
        let middle = Rational::from(&at + &below) / 2_u32;
        let scaled = scaled(&whole, &middle)?;
        let one_term = Decreasing {
            ln_approx: |epsilon: &Rational| Ok(one_term(&scaled, epsilon, 12)?.ln().approximate()),
            enclose: |epsilon: &Rational, digits| one_term(&scaled, epsilon, digits),
        };
        let epsilon = root::decreasing_root(&one_term, delta, ceiling, 10)?.value;
        if epsilon.upper() <= target.lower() {
            at = middle;
        } else if epsilon.lower() > target.upper() {
            below = middle;
        } else {
            break;
        }
    }
    let factor = Enclosure::rational(&below, 100).hull(&Enclosure::rational(&at, 100));
    Ok(percent_below(&factor, &Enclosure::double(1.0, 100)))
}

/// P[L > epsilon], the first term of the privacy profile alone.
fn one_term(composition: &Composition, epsilon: &Rational, digits: u32) -> Result<Enclosure> {
    let loss = composition.loss();
    Ok(loss.evaluator().upper_tail(&loss.above(epsilon), digits)?.value)
}

fn scaled(composition: &Composition, factor: &Rational) -> Result<Composition> {
    let counts: Result<Vec<Counts>> =
        composition.counts().iter().map(|counts| counts.with_noise_times(factor)).collect();
    Composition::new(counts?)
}

fn bracket(least: calibrate::Least) -> Enclosure {
    let at = Enclosure::rational(&least.value, 100);
    least.before.map_or_else(|| at.clone(), |before| Enclosure::rational(&before, 100).hull(&at))
}

fn judge(published: &Published, computed: &Computed) -> Result<Verdict> {
    let value = match computed {
        Computed::Statement(Certainty::Yes) => return Ok(Verdict::Agrees),
        Computed::Statement(Certainty::No) => return Ok(Verdict::Disproved),
        Computed::Statement(Certainty::Undecided) => return Ok(Verdict::Undecided),
        Computed::NeedsData(_) => return Ok(Verdict::NeedsData),
        Computed::Value(value) => value,
    };
    if published.unit == Unit::Bound {
        return Ok(match value.at_most(&parse(&published.printed)?) {
            Certainty::Yes => Verdict::Agrees,
            Certainty::No => Verdict::Disproved,
            Certainty::Undecided => Verdict::Undecided,
        });
    }
    if published.unit == Unit::LeastPercent {
        return Ok(match value.at_most(&parse(&published.printed)?) {
            Certainty::Yes => Verdict::Disproved,
            Certainty::No => Verdict::Agrees,
            Certainty::Undecided => Verdict::Undecided,
        });
    }
    if published.unit == Unit::Sum {
        let same = value.contains(&parse(&published.printed)?);
        return Ok(if same { Verdict::Agrees } else { Verdict::Differs });
    }
    if published.unit == Unit::RoundedUp {
        let printed = parse(&published.printed)?;
        let floor = &printed - Rational::from((1, 100_000));
        return Ok(match (value.at_most(&printed), value.at_most(&floor)) {
            (Certainty::Yes, Certainty::No) => Verdict::Agrees,
            (Certainty::No, _) | (_, Certainty::Yes) => Verdict::Differs,
            _ => Verdict::Undecided,
        });
    }
    rounds_to(value, &published.printed)
}

/// Does the enclosure round to the printed digits? The printed text stands for all numbers within half a unit of its
/// last digit.
pub fn rounds_to(value: &Enclosure, printed: &str) -> Result<Verdict> {
    let middle = parse(printed)?;
    let (mantissa, exponent) = printed.split_once(['e', 'E']).unwrap_or((printed, "0"));
    let places = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i64);
    let power = exponent.parse::<i64>().unwrap_or(0) - places;
    let unit = Rational::from(10).pow(power as i32);
    let half = unit / 2_u32;
    let (low, high) = (Rational::from(&middle - &half), Rational::from(&middle + &half));
    let below = value.upper().partial_cmp(&low) == Some(Ordering::Less);
    let above = value.lower().partial_cmp(&high) == Some(Ordering::Greater);
    let inside = *value.lower() >= low && *value.upper() <= high;
    Ok(match (inside, below || above) {
        (true, _) => Verdict::Agrees,
        (_, true) => Verdict::Differs,
        _ => Verdict::Undecided,
    })
}

/// How many rows have each verdict, in the order of [`Verdict`].
pub fn tally(rows: &[Row]) -> [(Verdict, usize); 5] {
    [Verdict::Agrees, Verdict::Differs, Verdict::Disproved, Verdict::Undecided, Verdict::NeedsData]
        .map(|verdict| (verdict, rows.iter().filter(|row| row.verdict == verdict).count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_ask_the_whole_enclosure() {
        let enclosure = |low: &str, high: &str| {
            Enclosure::rational(&parse(low).unwrap(), 80).hull(&Enclosure::rational(&parse(high).unwrap(), 80))
        };
        for (low, high, printed, verdict) in [
            ("10.126", "10.134", "10.13", Verdict::Agrees),
            ("10.124", "10.126", "10.13", Verdict::Undecided),
            ("10.12", "10.124", "10.13", Verdict::Differs),
            ("10.2", "10.3", "10.13", Verdict::Differs),
            ("4.96e-7", "5.04e-7", "5.0e-7", Verdict::Agrees),
            ("4.6e-7", "5.4e-7", "5e-7", Verdict::Agrees),
            ("7", "7", "7", Verdict::Agrees),
        ] {
            assert_eq!(rounds_to(&enclosure(low, high), printed).unwrap(), verdict, "{low} {high} {printed}");
        }
    }
}
