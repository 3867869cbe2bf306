//! The privacy account of a release or of counts, in the forms that papers use: epsilon, delta and their conversions,
//! the gain over zCDP, the matching noise, and bounds for every adversary.

use rug::Rational;

use super::{
    account_claims::{About, AccountClaim, Question},
    known,
    verdict::{Computed, percent_below},
};
use crate::{
    account::{
        Account, Composition, Counts, Delta, Rho, calibrate,
        conversions::{self, GaussianProfile},
        paths::Whole,
    },
    error::{Error, Result},
    numeric::{
        Certainty, Enclosure, precision, rational,
        root::{self, Decreasing},
    },
    release::subject::Resolved,
    risk::{bound, events},
};

/// The number of digits of exact values.
pub(super) const DIGITS: u32 = 12;

/// The number of decimals of the grid on which matching noise is bracketed.
const MATCH_DECIMALS: u32 = 7;

/// Computes a claim to a relative width of 10^-digits; matching noise to the width of its grid.
pub(super) fn compute(claim: &AccountClaim, digits: u32) -> Result<Computed> {
    let AccountClaim { question, about, kind } = claim;
    if !kind.is_about_rho {
        return of_composition(question, &about.subject().resolve()?, digits);
    }
    let value = of_rho(question, &rho(about)?, digits)?;
    // A rho that is given as such is the subject. That of counts is an upper bound unless all noise is Gaussian.
    let subject = if about.rho.is_some() { None } else { about.subject().resolve().ok() };
    known::between(subject.as_ref(), value, |least| of_rho(question, least, digits))
}

/// The answer to a question about rho alone.
fn of_rho(question: &Question, rho: &Rho, digits: u32) -> Result<Enclosure> {
    Ok(match question {
        Question::Rho => Enclosure::rational(rho, precision::bits(digits, 64).max(256)),
        Question::ZcdpEpsilon(delta) => conversions::zcdp_epsilon(rho, delta, digits),
        Question::ZcdpDelta(epsilon) => conversions::zcdp_delta(rho, epsilon, digits),
        Question::OptimalOrderEpsilon(delta) => least_zero(conversions::zcdp_epsilon_optimal(rho, delta)?.epsilon),
        Question::GdpEpsilon(delta) => GaussianProfile::new(rho.clone()).epsilon(delta, digits)?,
        Question::GdpDelta(epsilon) => GaussianProfile::new(rho.clone()).delta(epsilon, digits),
        _ => return Err(Error::fault("a claim about counts was computed from rho")),
    })
}

/// At a large delta, the bound by the best order may be below 0; then it only shows that epsilon is 0.
fn least_zero(epsilon: Enclosure) -> Enclosure {
    epsilon.clamp(0.0, f64::INFINITY)
}

/// The rho, which is known even for a release of which only the budget is known. An error where some outputs have an infinite loss, which it leaves out.
pub(super) fn rho(about: &About) -> Result<Rho> {
    if about.rho.is_none()
        && let Ok(subject) = about.subject().resolve()
    {
        subject.whole.rho_of_all()?;
    }
    match (&about.rho, about.release_alone()) {
        (Some(rho), _) => Ok(rho.clone()),
        (None, Some(release)) => release?.rho.try_into(),
        (None, None) => Ok(about.subject().resolve()?.total.rho().clone()),
    }
}

/// Computes the answer to a question that needs the counts.
fn of_composition(question: &Question, subject: &Resolved, digits: u32) -> Result<Computed> {
    let (whole, total) = (&subject.whole, &subject.total);
    if question.compares_with_rho() {
        whole.rho_of_all()?;
    }
    let value = match question {
        Question::Epsilon(delta) => whole.epsilon(delta, digits)?.value,
        Question::Delta(epsilon) => whole.delta(epsilon, digits)?.value,
        Question::Tradeoff(alpha) => whole.tradeoff(alpha, digits)?.value,
        Question::RenyiEpsilon(delta) => least_zero(conversions::renyi_epsilon(total, delta)?.epsilon),
        Question::PureEpsilon => {
            let epsilon = total.pure_epsilon().ok_or_else(|| {
                let why = "has no pure epsilon: the loss of discrete Laplace noise alone is bounded";
                Error::unsuitable(format!("{} {why}", subject.title))
            })?;
            Enclosure::rational(&epsilon, precision::bits(digits, 64).max(256))
        }
        Question::Sigma2 => Enclosure::rational(one_sigma2(subject)?, precision::bits(digits, 64).max(256)),
        Question::EpsilonReduction(delta) => {
            let exact = whole.epsilon(delta, digits)?.value;
            percent_below(&exact, &conversions::zcdp_epsilon(total.rho(), delta, digits))
        }
        Question::BelowZcdp(deltas) => return below_zcdp(subject, deltas, digits),
        Question::MatchedSigma2(delta) => matched_sigma2(subject, delta)?,
        Question::NoiseReduction(delta) => {
            percent_below(&matched_sigma2(subject, delta)?, &Enclosure::rational(one_sigma2(subject)?, 100))
        }
        Question::OverallReduction(delta) => overall_reduction(subject, delta)?,
        Question::OverallReductionOneTerm(delta, target) => {
            overall_reduction_one_term(subject, delta, target.as_ref())?
        }
        Question::CorrectDecision(prior) => bound::most_correct(whole, prior, subject.neighbors, digits)?.value,
        Question::Advantage => whole.delta(Rational::new(), digits)?.value,
        Question::Posterior(prior, delta) => events::posterior_of_events(whole, prior, delta, digits)?.value,
        // Already computed from rho alone.
        Question::Rho
        | Question::ZcdpEpsilon(_)
        | Question::ZcdpDelta(_)
        | Question::OptimalOrderEpsilon(_)
        | Question::GdpEpsilon(_)
        | Question::GdpDelta(_) => {
            return Err(Error::fault("a claim about rho was computed from counts"));
        }
    };
    known::known(question, subject, value, digits)
}

/// Whether the exact epsilon is below the zCDP epsilon at every delta, for each part and for all together.
fn below_zcdp(subject: &Resolved, deltas: &[Delta], digits: u32) -> Result<Computed> {
    let mut parts = subject.parts();
    parts.push(subject.clone());
    parts.iter().try_for_each(|part| part.whole.rho_of_all().map(drop))?;
    let cases = parts.iter().flat_map(|part| deltas.iter().map(move |delta| (part, delta)));
    Computed::all_hold(cases.map(|(part, delta)| {
        let zcdp = conversions::zcdp_epsilon(part.total.rho(), delta, digits);
        let below = part.whole.epsilon(delta, digits)?.value.below(&zcdp);
        // Of a mechanism that may be more private the computed epsilon is an upper end, which disproves nothing.
        Ok(if part.may_be_more_private().is_some() && below == Certainty::No { Certainty::Undecided } else { below })
    }))
}

/// The variance proxy of a subject, if all its counts have the same one.
fn one_sigma2(subject: &Resolved) -> Result<&Rational> {
    let mut proxies = subject.queries.iter().map(|query| {
        query.counts.law.discrete_sigma2().ok_or_else(|| {
            let needed = "discrete Gaussian noise is needed, which has a variance proxy sigma2";
            Error::unsuitable(format!("the noise is {}: {needed}", query.counts))
        })
    });
    let first = proxies.next().ok_or(Error::EmptyComposition)??;
    for other in proxies {
        let other = other?;
        if other != first {
            let both = format!("{} and {}", rational::display(first), rational::display(other));
            let why = format!("the counts have different sigma2, {both}: name one level or query");
            return Err(Error::conflict(why));
        }
    }
    Ok(first)
}

/// The variance proxy at which the exact epsilon equals the zCDP epsilon of the counts' own noise.
fn matched_sigma2(subject: &Resolved, delta: &Delta) -> Result<Enclosure> {
    let own = one_sigma2(subject)?;
    let target = conversions::zcdp_epsilon(subject.total.rho(), delta, 30);
    let family = |sigma2: &Rational| subject.whole.with_noise_times(&Rational::from(sigma2 / own));
    let guess = own.to_f64() * 0.83;
    Ok(bracket(calibrate::least_on_grid(family, &target, delta, MATCH_DECIMALS, guess)?))
}

/// 100 (1 - factor) for the least common factor of all variances at which epsilon is at most the zCDP epsilon of the
/// whole.
fn overall_reduction(subject: &Resolved, delta: &Delta) -> Result<Enclosure> {
    let target = conversions::zcdp_epsilon(subject.total.rho(), delta, 30);
    let family = |factor: &Rational| subject.whole.with_noise_times(factor);
    let factor = bracket(calibrate::least_on_grid(family, &target, delta, MATCH_DECIMALS, 0.88)?);
    Ok(percent_below(&factor, &Enclosure::double(1.0, 100)))
}

/// The same for the bound P[L > epsilon]: the epsilons of one-term bounds bracket the factor.
fn overall_reduction_one_term(subject: &Resolved, delta: &Delta, target: Option<&Rational>) -> Result<Enclosure> {
    let Whole::Composition(whole) = &subject.whole else {
        let needed = "the bound is for one composition, such as a level, and not for the worst of many block paths";
        return Err(Error::unsuitable(format!("{}: {needed}", subject.title)));
    };
    let target = target
        .map_or_else(|| conversions::zcdp_epsilon(whole.rho(), delta, 30), |target| Enclosure::rational(target, 100));
    let fits = |factor: &Rational| {
        let scaled = scaled(whole, factor)?;
        let profile = Decreasing {
            ln_approx: |epsilon: &Rational| Ok(one_term(&scaled, epsilon, 12)?.ln().approximate()),
            enclose: |epsilon: &Rational, digits| one_term(&scaled, epsilon, digits),
        };
        let epsilon = root::decreasing_root(&profile, delta, target.upper().to_f64() * 2.0, 10)?.value;
        Ok::<Certainty, Error>(match (epsilon.upper() <= target.lower(), epsilon.lower() > target.upper()) {
            (true, _) => Certainty::Yes,
            (_, true) => Certainty::No,
            _ => Certainty::Undecided,
        })
    };
    let step = rational::unit_of_decimals(5);
    let (mut below, mut at) = (Rational::from((1, 2)), Rational::from(1));
    if (fits(&below)?, fits(&at)?) != (Certainty::No, Certainty::Yes) {
        let why = "is not met by all of the noise, or is met by half of it: no factor from 1/2 to 1 is the least";
        return Err(Error::unsuitable(format!("the target epsilon {} {why}", target.shown(12))));
    }
    while Rational::from(&at - &below) > step {
        let middle = Rational::from(&at + &below) / 2_u32;
        match fits(&middle)? {
            Certainty::Yes => at = middle,
            Certainty::No => below = middle,
            Certainty::Undecided => break,
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

/// The composition with all variances multiplied by a factor.
pub(super) fn scaled(composition: &Composition, factor: &Rational) -> Result<Composition> {
    let counts: Result<Vec<Counts>> =
        composition.counts().iter().map(|counts| counts.with_noise_times(factor)).collect();
    Composition::new(counts?)
}

/// The interval from the last grid value that fails to the first that suffices.
pub(super) fn bracket(least: calibrate::Least) -> Enclosure {
    let at = Enclosure::rational(&least.value, 100);
    least.before.map_or_else(|| at.clone(), |before| Enclosure::rational(&before, 100).hull(&at))
}
