//! The posterior after an event of a given probability.
//!
//! Let P be the law of the outputs with the record, Q the one without. After an event S (or a randomized test) the posterior of presence is p P(S) / (p P(S) +
//! (1 - p) Q(S)). Of all events with P(S) >= d it is largest where Q(S) is least. That least probability a(d) is the type II error of the best test of presence
//! against absence with the type I error 1 - d: the test that reports outside of S. It is convex with a(0) = 0, so a(d) / d rises with d, and the
//! largest posterior is that at d itself,
//!
//! p d / (p d + (1 - p) a(d)).
//!
//! So no event that has at least probability d if the record is there lifts the posterior above it; this holds for all that is computed from the outputs. For
//! absence, with prior p of absence, both laws change places. Of both the larger is the one with the smaller type II error, which is [`Account::tradeoff_by`].
//!
//! Single outputs can be rarer than d, and reveal more: see [`outputs`](super::outputs).

use rug::Rational;

use super::{check_prior, odds, posterior_at};
use crate::{
    account::{Account, Answer, Delta, Rho, conversions},
    error::Result,
    law::Direction,
    loss::infinite::InfiniteLoss,
    numeric::Enclosure,
};

/// The largest posterior of presence, or of absence, for this prior after any event that has at least probability `least` if it is true.
///
/// For a guarantee it is an upper bound; for several block paths it is between that of one pair of paths and a bound for all.
pub fn posterior_of_events(account: &impl Account, prior: &Rational, least: &Delta, digits: u32) -> Result<Answer> {
    posterior_of_events_in(account, None, prior, least, digits)
}

/// The largest posterior of presence alone ([`Direction::Remove`]), or of absence alone; of both the larger.
pub fn posterior_of_events_in(
    account: &impl Account,
    direction: Option<Direction>,
    prior: &Rational,
    least: &Delta,
    digits: u32,
) -> Result<Answer> {
    check_prior(prior)?;
    let (evaluator, alpha) = (account.evaluator(), Rational::from(1 - &**least));
    // Tests of presence against absence, for presence, are those of a record that is added.
    let of_one = |direction: Direction| {
        let tested = direction.pick([Direction::Add, Direction::Remove]);
        account.tradeoff_of_direction_by(&evaluator, tested, &alpha, digits)
    };
    let without = match direction.map(of_one).transpose()?.flatten() {
        Some(of_one) => of_one,
        None => account.tradeoff_by(&evaluator, &alpha, digits)?,
    };
    let bits = without.value.lower().prec().max(128);
    let real = |value: &Rational| Enclosure::rational(value, bits);
    // odds(posterior) = odds(prior) d / a, which falls with a; the event that occurs with probability d in any case has a = d.
    let ratio = without.value.div(&real(least)).clamp(0.0, 1.0);
    let against = ratio.mul(&real(&odds(prior).recip()));
    let value = Enclosure::double(1.0, bits).add(&against).recip().clamp(0.0, 1.0);
    Ok(Answer { met: value.is_tight(digits), value, proof: without.proof })
}

/// An upper bound on the same from rho and a bound on the total variation distance that follows from it, beside the outcomes that only one neighbor can have.
///
/// P(S) - exp(l) Q(S) <= delta(l) for every l >= 0, so Q(S) >= (d - delta(l)) exp(-l) where P(S) >= d. Any l is valid: the best of a grid, beside infinite losses refined around its best point.
pub(super) fn posterior_by_rho(
    (rho, distance): (&Rho, &Enclosure),
    infinite: Option<&InfiniteLoss>,
    prior: &Rational,
    least: &Delta,
    digits: u32,
) -> Result<Enclosure> {
    const STEPS: u32 = 200;
    const BITS: u32 = 96;
    // At the epsilon of d nothing is left of it; a little beyond, most is.
    let reach = conversions::zcdp_epsilon(rho, least, 20).upper().to_f64() + 2.0;
    let one = Enclosure::double(1.0, BITS);
    let bound = |l: f64| -> Result<Enclosure> {
        let l = Enclosure::double(l, BITS);
        let finite = conversions::zcdp_hockey_stick(rho, distance, &l, digits + 4)?;
        let delta = infinite.map_or(finite.clone(), |infinite| infinite.delta(&finite, digits + 4));
        let covered = one.sub(&delta.div(&Enclosure::rational(least, BITS)));
        // odds(prior) d / (d - delta(l)) exp(l); nothing is known where delta(l) may be all of d.
        Ok(if *covered.lower() > 0 { posterior_at(prior, &l.sub(&covered.ln())) } else { one.clone() })
    };
    let (mut best, mut from, mut to) = ((one.clone(), 0.0), 0.0, reach);
    // Beside infinite losses little may be left of d, so that the bound is steep in l.
    let rounds = if infinite.is_some() { 4 } else { 1 };
    for _ in 0..rounds {
        let step = (to - from) / f64::from(STEPS);
        for k in 0..=STEPS {
            let l = step.mul_add(f64::from(k), from);
            let value = bound(l)?;
            if value.upper() < best.0.upper() {
                best = (value, l);
            }
        }
        (from, to) = ((best.1 - step).max(0.0), best.1 + step);
    }
    let best = best.0;
    Ok(Enclosure::new(best.upper().clone(), best.upper().clone()))
}
