//! Conditioning: a few losses are enumerated, and the profile of the remaining groups is evaluated at each. It serves where fine noise stands beside
//! coarse noise: there an enumeration of all losses is long, and a contour has a lobe for every turn of the coarse groups under the wide envelope of
//! the fine ones.
//!
//! # The sum
//!
//! L = A + B with A the losses of the coarse groups and B those of the remaining groups, independent. With D the profile of B,
//!
//! ```text
//! delta(eps) = sum over a of P[A = a] D(eps - a),    D(y) = E[(1 - exp(y - B))_+],
//! D(-y)      = 1 - exp(-y) + exp(-y) D(y)            for y >= 0,
//! ```
//!
//! the second line because the pair of B is symmetric. So the profile of B is evaluated at y >= 0 only, and nothing is subtracted but an exponential
//! from one. For small eps the complement of delta is summed in the same way, from 1 - D(y) and exp(-y) (1 - D(y)).
//!
//! Far from eps - a = 0 the profile is not evaluated. With rho the zCDP of B, M_B(x) <= exp(rho (x + x^2)) for x >= 0, where a bounded loss of at
//! most l has rho = l^2 / 2 (Bun & Steinke, Proposition 1.4), and (1 - exp(-d))_+ <= exp(x d), so that
//!
//! ```text
//! 0 <= D(y) <= exp(-(y - rho)^2 / (4 rho))    for y >= rho,    by x = (y - rho) / (2 rho).
//! ```
//!
//! Where the losses of A are further apart than B reaches, the profile is evaluated at one or two of them. B may be conditioned again. Where that has
//! the lowest predicted cost, more losses may be enumerated and stand closer together: the profile is then evaluated at more of them.
//!
//! # The proof
//!
//! The masses of A are those of the law tilted by c, stored as lower bounds that fall short of 1 by m in total (see [`atoms`](super::atoms)). The
//! truncated mass adds, under the tilt, at most m times the largest of M_A(c) exp(-c a) D(eps - a); and for c >= 0, (1 - exp(-d))_+ <= k exp(c d)
//! with k = c^c / (c + 1)^(c + 1), so that
//!
//! ```text
//! D(eps - a) <= k M_B(c) exp(-c (eps - a)), the truncated mass adds at most m k M_A(c) M_B(c) exp(-c eps).
//! ```
//!
//! M_B(c) is at most exp(rho (c + c^2)) again, or M_A(c) M_B(c) = M(c) itself is used where B has bounded losses: there c may be so large that the
//! bound by rho is far too weak.
//!
//! For the complement of delta, min(1, exp(-d)) <= exp(c d) for -1 <= c <= 0, and M_B(c) <= 1 because ln M_B is convex and zero at both ends: the
//! truncated mass adds at most m M_A(c) exp(-c eps).

mod list;
mod matter;
mod ranked;
mod ways;

use std::{cell::Cell, f64::consts::LN_10, sync::Arc};

use rug::{Float, Rational, float::Round};

pub(super) use self::ways::has_steps;
use self::{
    list::List,
    matter::{ln_most, that_matter, without_rest},
    ranked::Ranked,
    ways::ways,
};
use super::{
    answer::{Answer, Proof, Quantity},
    atoms::{
        self,
        coarse::{self, Atom, MOST_LOSSES, exact_exponent, scaled},
        tilt::{self, Outline, Plan},
    },
    engine::{machine, session::Session},
    law::Group,
    limit::Limit,
    memo::Memo,
    sum::LossSum,
};
use crate::{
    error::{Error, Result},
    numeric::{
        Enclosure,
        effort::{self, Effort},
        precision, rational, twofold,
    },
};

/// Required distance of the losses of the coarse groups, in standard deviations of the remaining groups; also where the cost of conditioning is
/// compared with that of other engines.
const APART: f64 = 16.0;
const LEAST_APART: f64 = 2.0;
/// Upper bound, approximate, on the number of losses when an enumeration is made again with a finer cut: they are only outlined in doubles.
const MOST_GROWN: f64 = 1e6;
/// The profile of the remaining groups is evaluated at no more than this many losses.
const MOST_ASKED: usize = 400;
/// Factor on the predicted cost for many digits, which is less certain: other engines are then preferred.
const OF_MARGIN: f64 = 1.5;
/// At most this many enumerations are kept, with at most `MOST_HELD` losses together unless a single one has more.
const REMEMBERED: usize = 4;
const MOST_HELD: usize = 500_000;
/// Cuts are rounded up to multiples of this, so that requests share enumerations.
const CUT_STEP: u32 = 32;
/// The largest number of attempts with more and more bits.
const ATTEMPTS: u32 = 6;
/// An error that is this many bits above the last digit, or fewer, leaves the answer within the requested precision.
const ENOUGH: f64 = -2.0;

/// The remaining groups of a sum, however their profile is computed.
pub(crate) trait Rest: std::fmt::Debug + Send + Sync {
    /// E[(1 - exp(epsilon - B))_+] for epsilon >= 0, and whether the requested precision is reached. The requests of one enumeration are a session.
    fn enclose(&self, epsilon: &Rational, digits: u32, session: &Session) -> Result<(Enclosure, bool)>;
    /// Its logarithm in doubles: about 13 digits, an approximation without proof.
    fn ln_approx(&self, epsilon: &Rational, session: &Session) -> Result<f64>;
    /// The predicted seconds of a request to this number of digits.
    fn seconds(&self, epsilon: &Rational, digits: u32) -> f64;
}

/// A sum of coarse and fine groups.
#[derive(Debug)]
pub(super) struct Split {
    sum: LossSum,
    outline: Outline,
    coarse: LossSum,
    outline_of_coarse: Outline,
    rest: Box<dyn Rest>,
    /// The zCDP of the remaining groups, exactly and in doubles.
    rho: Rational,
    rho_approx: f64,
    /// Whether the remaining groups have bounded losses.
    is_bounded: bool,
    /// The distance of the losses of each coarse group, in standard deviations of the remaining groups.
    apart: f64,
    /// Predicted seconds of a request to the remaining groups, by digits.
    seconds_of_rest: Memo<u32, f64>,
    /// The enumerations of the last few requests, by their tilt, cut and bits.
    lists: Memo<(Rational, u32, u32), Arc<List>>,
}

impl Split {
    /// The conditionings of a sum, given who answers for its remaining groups: the one with the losses furthest apart first.
    pub(super) fn all(sum: &LossSum, rest_of: impl Fn(LossSum) -> Box<dyn Rest>) -> Vec<Self> {
        let of = |(groups, first, apart): (Vec<Group>, usize, f64)| Split::new(sum, groups, first, apart, &rest_of);
        ways(sum).into_iter().filter(|(.., apart)| *apart >= LEAST_APART).filter_map(of).collect()
    }

    /// Conditions on the groups before the first of the remaining ones.
    fn new(
        sum: &LossSum,
        mut groups: Vec<Group>,
        first: usize,
        apart: f64,
        rest_of: impl Fn(LossSum) -> Box<dyn Rest>,
    ) -> Option<Self> {
        let rest = groups.split_off(first);
        let rho: Rational = rest.iter().map(Group::zcdp).sum();
        let (coarse, rest) = (LossSum::new(groups).ok()?, LossSum::new(rest).ok()?);
        let is_bounded = rest.offset() != rest.rho();
        Some(Split {
            is_bounded,
            outline: Outline::new(sum.groups()),
            sum: sum.clone(),
            outline_of_coarse: Outline::new(coarse.groups()),
            coarse,
            rest: rest_of(rest),
            rho_approx: rho.to_f64(),
            rho,
            apart,
            seconds_of_rest: Memo::default(),
            lists: Memo::of_at_most(REMEMBERED).weighing_at_most(MOST_HELD, |list: &Arc<List>| list.sums.len()),
        })
    }

    /// Whether the groups are far apart and a request enumerates few losses.
    pub(super) fn serves(&self, epsilon: &Rational, digits: u32) -> bool {
        self.apart >= APART && self.losses(epsilon, digits) <= MOST_LOSSES
    }

    /// The predicted seconds of a request, if it enumerates not too many losses for the case that no other engine serves.
    pub(super) fn seconds(&self, epsilon: &Rational, digits: u32) -> Option<f64> {
        // Where all of them matter, each is computed in full.
        let most = MOST_GROWN.min(2e7 / f64::from(digits));
        let plan = self.outline.hockey_plan(&self.sum, epsilon);
        let losses = Some(self.predicted(plan, atoms::first_cut(digits))).filter(|losses| *losses <= most)?;
        // The distance on both sides of epsilon within which the remaining groups matter.
        let reach = 4.0 * (self.rho_approx * f64::from(digits) * LN_10).sqrt();
        let span = coarse::span(&self.coarse, &self.outline_of_coarse, plan.tilt(), atoms::first_cut(digits));
        let asked = Some(1.0 + losses * (reach / span).min(1.0)).filter(|asked| *asked <= MOST_ASKED as f64)?;
        let margin = if digits > twofold::ball::MOST_DIGITS { OF_MARGIN } else { 1.0 };
        Some(losses * machine::PER_LISTED + asked * self.seconds_of_rest(digits) * margin)
    }

    fn seconds_of_rest(&self, digits: u32) -> f64 {
        self.seconds_of_rest.get_or_make(digits, |digits| self.rest.seconds(&self.rho, *digits))
    }

    fn losses(&self, epsilon: &Rational, digits: u32) -> f64 {
        self.predicted(self.outline.hockey_plan(&self.sum, epsilon), atoms::first_cut(digits))
    }

    /// Whether an enumeration of this plan would be too long, or take longer than this.
    fn is_too_fine(&self, plan: Plan, cut: u32, most_seconds: f64) -> bool {
        self.predicted(plan, cut) > MOST_GROWN
            || coarse::seconds(&self.coarse, &self.outline_of_coarse, plan.tilt(), cut) > most_seconds
    }

    /// The approximate number of losses in an enumeration of this plan.
    fn predicted(&self, plan: Plan, cut: u32) -> f64 {
        coarse::predicted(&self.coarse, &self.outline_of_coarse, plan.tilt(), cut)
    }

    /// E[(1 - exp(epsilon - L))_+] for epsilon >= 0, by enumerations with more and more bits until the requested precision is reached, one would take
    /// longer than this, or the limit of effort is reached.
    pub(super) fn hockey_stick(
        &self,
        epsilon: &Rational,
        digits: u32,
        most_seconds: f64,
        session: &Session,
    ) -> Result<Answer> {
        let plan = self.outline.hockey_plan(&self.sum, epsilon);
        let mut cut = first_cut(digits);
        let (mut digits_of_rest, mut reach) = (digits + 1, 0);
        let mut best: Option<Answer> = None;
        let mut before = f64::INFINITY;
        let (of_rest, limit) = (session.of_part(), session.deadline());
        let rest = KnownRest::default();
        for attempt in 0..ATTEMPTS {
            rest.all_met.set(true);
            let profile = |y: &Rational, digits| rest.at(y, digits, || self.rest.enclose(y, digits, &of_rest));
            let found = self.enclose(epsilon, plan, cut, (digits_of_rest, reach, limit), profile);
            let Found { value, missed, left_out, proof } = match found {
                Ok(found) => found,
                Err(error) => return best.ok_or(error),
            };
            let met = value.is_tight(digits);
            let [missed, left_out] = [missed, left_out].map(|error| atoms::bits_above(&error, &value, digits));
            let wider = atoms::bits_above(&Float::with_val(64, value.upper() - value.lower()), &value, digits);
            best = Some(Answer { value, proof, met });
            if met || attempt + 1 == ATTEMPTS || limit.is_over() {
                break;
            }
            // A finer enumeration reduces the truncated mass, a lower floor reduces the part of the losses that were not considered, and more digits
            // of the remaining groups reduce all other errors, if more can be computed and if they help.
            cut = finer(cut, missed).unwrap_or(cut);
            reach += further(left_out);
            let by_rest = wider.is_finite() && missed.max(left_out) < wider - 1.0;
            if by_rest && (!rest.all_met.get() || wider > before - 1.0) {
                break;
            }
            before = if by_rest { wider } else { f64::INFINITY };
            digits_of_rest += if by_rest { (wider * 0.302) as u32 + 2 } else { 0 };
            // Below the range of floats no attempt is better.
            let vanishes =
                |best: &Answer| best.value.upper().get_exp().is_none_or(|exponent| exponent < -1_000_000_000);
            if best.as_ref().is_some_and(vanishes) || self.is_too_fine(plan, cut, most_seconds) {
                break;
            }
        }
        let answer = best.ok_or(Error::EmptyComposition)?;
        Ok(match plan {
            Plan::Direct(_) => answer,
            // Met if both numbers have the requested precision: the answer close to 1 has it anyway; just below a loss it is small, and its first
            // digits cancel.
            Plan::Complement(_) => {
                let value = atoms::one_minus(&answer.value);
                Answer { met: answer.met && value.is_tight(digits), value, ..answer }
            }
        })
    }

    /// ln of the hockey stick to about 13 digits, an approximation without proof: the same with approximations of the profile of the remaining
    /// groups. `None` where an enumeration that is fine enough would take longer than this.
    pub(super) fn ln_hockey_stick_approx(
        &self,
        epsilon: &Rational,
        most_seconds: f64,
        session: &Session,
    ) -> Option<f64> {
        const DIGITS: u32 = 13;
        let profile = |y: &Rational, _| {
            // Rounding errors may lead above one.
            let value = Float::with_val(64, self.rest.ln_approx(y, session)?.min(0.0)).exp();
            Ok(Enclosure::new(value.clone(), value))
        };
        let plan = self.outline.hockey_plan(&self.sum, epsilon);
        let (mut cut, mut reach) = (first_cut(DIGITS), 0);
        for _ in 0..ATTEMPTS {
            let found = self.enclose(epsilon, plan, cut, (DIGITS, reach, session.deadline()), profile).ok()?;
            let Found { value, missed, left_out, .. } = found;
            if value.is_tight(DIGITS - 3) {
                let middle: Float = Float::with_val(value.lower().prec(), value.lower() + value.upper()) / 2;
                let ln = match plan {
                    Plan::Direct(_) => middle.ln(),
                    Plan::Complement(_) => (-middle).ln_1p(),
                };
                return Some(ln.to_f64());
            }
            let [missed, left_out] = [missed, left_out].map(|error| atoms::bits_above(&error, &value, DIGITS));
            if missed.max(left_out) <= ENOUGH {
                return None;
            }
            cut = finer(cut, missed).unwrap_or(cut);
            reach += further(left_out);
            if session.deadline().is_over() || self.is_too_fine(plan, cut, most_seconds) {
                return None;
            }
        }
        None
    }

    /// The hockey stick, or its complement, from one enumeration. As long as no value is known, the losses that are not considered add at most
    /// 10^-`reach` times their default share.
    fn enclose(
        &self,
        epsilon: &Rational,
        plan: Plan,
        cut: u32,
        (digits, reach, limit): (u32, u32, Limit),
        profile: impl Fn(&Rational, u32) -> Result<Enclosure>,
    ) -> Result<Found> {
        let list = self.list(plan.tilt(), cut, bits_of_list(digits))?;
        let (bits, at) = (list.bits, epsilon.to_f64());
        let complement = matches!(plan, Plan::Complement(_));
        let exp = exact_exponent(epsilon, bits).exp();
        // A loss above epsilon counts P - exp(epsilon) Q plus the correction by the remaining groups; one below it counts their profile.
        let weight = |atom: &Atom| if atom.loss > *epsilon { atom.q.mul(&exp) } else { atom.p.clone() };
        effort::spend(Effort::of_steps(list.sums.len() as f64, machine::PER_LISTED));
        let (losses, dropped) = that_matter(&list, self.rho_approx, epsilon, (digits, reach), complement);
        let without = without_rest(&list, (&losses, &dropped), (epsilon, &exp), complement);
        let near = losses.iter().map(|loss| (ln_most(loss, self.rho_approx, at), *loss)).collect();
        let ln_known = Float::with_val(64, without.lower().ln_ref()).to_f64();
        let ranked = Ranked::new(near, ln_known, (digits, reach));
        let share = Float::with_val(64, -f64::from(digits)).exp10() / 4;
        let mut evaluated = 0;
        let mut settled = without;
        for (outlined, most) in &ranked.near {
            let known = settled.lower();
            let is_enough = *ranked.remaining(evaluated) <= Float::with_val(64, known * &share);
            if is_enough || evaluated >= MOST_ASKED || limit.is_over() {
                break;
            }
            let atom = list.atom(outlined);
            let distance = Rational::from(epsilon - &atom.loss).abs();
            let profile = match profile(&distance, digits_of_term(most, known, digits)) {
                Ok(profile) => profile,
                Err(error) if error.is_beyond_reach() => Enclosure::new(Float::new(bits), Float::with_val(bits, 1)),
                Err(error) => return Err(error),
            };
            evaluated += 1;
            let term = weight(&atom).mul(&profile);
            // The bound holds for every value.
            let bound = Enclosure::new(Float::new(64), most.clone());
            let term = term.meet(&bound).ok_or(Error::Contradiction { what: "the profile of the finer noise" })?;
            settled = if complement { settled.sub(&term) } else { settled.add(&term) };
        }
        // 0 <= weight D <= most for those that were not evaluated.
        let others = Enclosure::new(Float::new(64), ranked.remaining(evaluated).clone());
        settled = if complement { settled.sub(&others) } else { settled.add(&others) };
        let missed = self.missed(&list, epsilon, complement);
        let value = settled.add(&Enclosure::new(Float::new(64), missed.clone())).clamp(0.0, 1.0);
        Ok(Found {
            value,
            missed,
            left_out: Float::with_val_round(64, &ranked.left_out + &dropped, Round::Up).0,
            proof: proof(&list, evaluated),
        })
    }

    /// The enumeration of a tilt, made if need be; the oldest is dropped.
    fn list(&self, tilt: f64, cut: u32, bits: u32) -> Result<Arc<List>> {
        let c = tilt::exact(tilt);
        self.lists.get_or_try((c, cut, bits), |(c, ..)| Ok(Arc::new(List::new(&self.coarse, c.clone(), cut, bits)?)))
    }

    /// Upper bound on the contribution of the truncated mass.
    fn missed(&self, list: &List, epsilon: &Rational, complement: bool) -> Float {
        let (c, bits) = (&list.c, list.bits);
        let mut exponent = Rational::from(c * epsilon);
        let mut ln_scale = list.ln_mgf.clone();
        if !complement {
            if self.is_bounded {
                ln_scale = self.sum.ln_mgf(c, bits);
            } else {
                exponent -= (c + c.clone().square()) * &self.rho;
            }
            let next = Enclosure::rational(&Rational::from(c + 1_u32), bits);
            let c = Enclosure::rational(c, bits);
            if *c.lower() > 0 {
                ln_scale = ln_scale.add(&c.mul(&c.ln()).sub(&next.mul(&next.ln())));
            }
        }
        let missed = scaled(&ln_scale, &exponent, bits).mul(&Enclosure::new(Float::new(64), list.missing.clone()));
        Float::with_val_round(64, missed.upper(), Round::Up).0
    }
}

/// The proof of an enclosure from an enumeration, with the remaining groups evaluated at some of its losses.
fn proof(list: &List, evaluated: usize) -> Proof {
    let (tilt, missing) = (list.c.clone(), list.missing.clone());
    let losses = list.sums.len();
    let shown = rational::display(&tilt);
    let summary = format!(
        "a list of {losses} losses tilted by {shown}, times the profile of all finer noise at {evaluated} of them"
    );
    Proof::new("conditioning", summary)
        .with("tilt", "tilt of the law that is enumerated", Quantity::Exact(tilt))
        .with("losses", "losses of the coarse groups", Quantity::Count(losses as u64))
        .with("evaluated", "losses at which the remaining groups were evaluated", Quantity::Count(evaluated as u64))
        .with("truncated_mass", "upper bound on the tilted mass that is not stored", Quantity::UpperBound(missing))
}

/// The result of one enumeration for a hockey stick, or for its complement.
struct Found {
    value: Enclosure,
    /// Upper bound on the width due to the truncated mass, and to losses that were not considered.
    missed: Float,
    left_out: Float,
    proof: Proof,
}

/// The digits of a term above the last one of the answer that counts, in steps for which the remaining groups share enumerations.
fn digits_of_term(most: &Float, known: &Float, digits: u32) -> u32 {
    const STEP: u32 = 4;
    let gain = if *known > 0 { Float::with_val(64, most / known).log10().to_f64().clamp(-1e4, 0.0) } else { 0.0 };
    let wanted = (f64::from(digits) + gain).ceil().max(2.0) as u32;
    wanted.next_multiple_of(STEP).min(digits.max(2))
}

/// The cut of the first enumeration for this number of digits.
fn first_cut(digits: u32) -> u32 {
    atoms::first_cut(digits).next_multiple_of(CUT_STEP)
}

/// The bits of an enumeration for this number of digits, in steps for which requests share enumerations.
fn bits_of_list(digits: u32) -> u32 {
    precision::bits(digits, 64).next_multiple_of(64)
}

/// The cut of the next enumeration, for a truncated mass that is this many bits above the last digit; `None` where a finer one would not help.
fn finer(cut: u32, missed: f64) -> Option<u32> {
    let next = || if missed.is_finite() { cut + missed as u32 + 12 } else { cut.saturating_mul(4) };
    (missed > ENOUGH).then(|| next().next_multiple_of(CUT_STEP))
}

/// The number of digits by which `reach` has to grow if the losses not considered are this many bits above the last digit.
fn further(left_out: f64) -> u32 {
    if left_out > ENOUGH && left_out.is_finite() { (left_out * std::f64::consts::LOG10_2) as u32 + 4 } else { 0 }
}

/// Values of the profile of the remaining groups, with whether they have the requested digits: a finer enumeration requests many of the same values as
/// the one before.
#[derive(Default)]
struct KnownRest {
    values: Memo<(Rational, u32), (Enclosure, bool)>,
    /// Whether every value since it was set has the requested digits.
    all_met: Cell<bool>,
}

impl KnownRest {
    fn at(&self, y: &Rational, digits: u32, enclose: impl FnOnce() -> Result<(Enclosure, bool)>) -> Result<Enclosure> {
        let (value, met) = self.values.get_or_try((y.clone(), digits), |_| enclose())?;
        self.all_met.set(self.all_met.get() && met);
        Ok(value)
    }
}

#[cfg(test)]
pub(super) mod measured;
#[cfg(test)]
mod tests;
