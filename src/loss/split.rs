//! The third engine: a few losses listed, and the profile of the rest asked for at each. It serves where fine noise stands beside
//! coarse: there the lists of the second engine are long, and a contour has a lobe for every turn of the coarse groups under
//! the wide envelope of the fine ones.
//!
//! # The sum
//!
//! L = A + B with A the losses of the coarse groups and B those of the rest, independent. With D the profile of B,
//!
//! ```text
//! delta(eps) = sum over a of P[A = a] D(eps - a),    D(y) = E[(1 - exp(y - B))_+],
//! D(-y)      = 1 - exp(-y) + exp(-y) D(y)            for y >= 0,
//! ```
//!
//! the second line because the pair of B is symmetric. So the profile of B is asked for at y >= 0 only, and nothing is subtracted
//! but an exponential from one. For small eps one minus delta is summed in the same way, from 1 - D(y) and exp(-y) (1 - D(y)).
//!
//! Far from eps - a = 0 nothing is asked for. With rho the zCDP of B, M_B(x) <= exp(rho (x + x^2)) for x >= 0, where a bounded
//! loss of at most l has rho = l^2 / 2 (Bun & Steinke, Proposition 1.4), and (1 - exp(-d))_+ <= exp(x d), so that
//!
//! ```text
//! 0 <= D(y) <= exp(-(y - rho)^2 / (4 rho))    for y >= rho,    by x = (y - rho) / (2 rho).
//! ```
//!
//! Where the losses of A are further apart than B reaches, one or two of them are near enough to be asked about. B may be split
//! again. Where no other engine serves, the list may be longer and its losses less far apart: more of them are asked about.
//!
//! # The proof
//!
//! The masses of A are those of the law tilted by c, stored as lower bounds that fall short of one by m in total
//! (see [`atoms`](super::atoms)). What the masses that are stored nowhere add is, under the tilt, at most m times the largest
//! of M_A(c) exp(-c a) D(eps - a); and for c >= 0, (1 - exp(-d))_+ <= k exp(c d) with k = c^c / (c + 1)^(c + 1), so that
//!
//! ```text
//! D(eps - a) <= k M_B(c) exp(-c (eps - a)),    what is missing adds at most m k M_A(c) M_B(c) exp(-c eps).
//! ```
//!
//! For one minus delta, min(1, exp(-d)) <= exp(c d) for -1 <= c <= 0, and M_B(c) <= 1 because ln M_B is convex and zero at both
//! ends: what is missing adds at most m M_A(c) exp(-c eps).

mod list;

use std::{
    cell::Cell,
    cmp::Ordering,
    sync::{Arc, Mutex, PoisonError},
};

use rug::{Float, Rational, float::Round};

use self::list::{List, Outlined};
use super::{
    answer::{Answer, Method, Splitting},
    atoms::{
        self,
        coarse::{self, Atom, MOST_LOSSES, exact_exponent, scaled},
        tilt::{self, Outline, Plan},
    },
    law::{Group, Law},
    sum::LossSum,
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, precision},
};

/// The losses of the coarse groups are to be so many times further apart than the standard deviation of the rest; and where no other
/// engine serves.
const APART: f64 = 16.0;
const LEAST_APART: f64 = 6.0;
/// Sums of more groups than this are not split.
const MOST_GROUPS: usize = 8;
/// A list that is made again with a finer cut has so many losses at most, about: they are only looked at in doubles.
const MOST_GROWN: f64 = 1e6;
/// Nor is it made if it is predicted to take longer than this: far from all losses the cut grows with what nobody asks about.
const MOST_SECONDS: f64 = 0.5;
/// The profile of the rest is asked for at so many places at most.
const MOST_ASKED: usize = 400;
/// So many lists are remembered at most, of so many losses together unless one has more.
const REMEMBERED: usize = 4;
const MOST_HELD: f64 = 5e5;
/// Cuts are rounded up to multiples of this, so that questions share lists.
const CUT_STEP: u32 = 32;
/// Losses so far from epsilon are summed together.
const FAR: f64 = 1.001;
/// All losses beyond a place are summed, not only those that matter, if these are one of so many.
const MANY: usize = 3;
/// How often an answer is computed with more bits.
const ATTEMPTS: u32 = 6;

/// The rest of a sum, however its profile is found.
pub(super) trait Rest: std::fmt::Debug + Send + Sync {
    /// E[(1 - exp(epsilon - B))_+] for epsilon >= 0, and whether it is as narrow as asked.
    fn enclose(&self, epsilon: &Rational, digits: u32) -> Result<(Enclosure, bool)>;
    /// Its logarithm in doubles: about 13 digits, an approximation without proof.
    fn ln_approx(&self, epsilon: &Rational) -> Result<f64>;
}

/// A sum of coarse and fine groups.
#[derive(Debug)]
pub(super) struct Split {
    sum: LossSum,
    outline: Outline,
    coarse: LossSum,
    outline_of_coarse: Outline,
    rest: Box<dyn Rest>,
    /// The zCDP of the rest, and in doubles.
    rho: Rational,
    rho_approx: f64,
    /// By how many standard deviations of the rest the losses of each coarse group are apart.
    apart: f64,
    /// The lists of the last few questions.
    lists: Mutex<Vec<Arc<List>>>,
}

impl Split {
    /// The splits of a sum, given what answers about the rest: where its groups are furthest apart first.
    pub(super) fn all<R: Rest + 'static>(sum: &LossSum, rest_of: impl Fn(LossSum) -> R) -> Vec<Self> {
        let of = |(groups, first, apart): (Vec<Group>, usize, f64)| Split::new(sum, groups, first, apart, &rest_of);
        ways(sum).into_iter().filter(|(.., apart)| *apart >= LEAST_APART).filter_map(of).collect()
    }

    /// The groups before the first of the rest are listed.
    fn new<R: Rest + 'static>(
        sum: &LossSum,
        mut groups: Vec<Group>,
        first: usize,
        apart: f64,
        rest_of: impl Fn(LossSum) -> R,
    ) -> Option<Self> {
        let rest = groups.split_off(first);
        let rho: Rational = rest.iter().map(zcdp).sum();
        let (coarse, rest) = (LossSum::new(groups).ok()?, LossSum::new(rest).ok()?);
        Some(Split {
            outline: Outline::new(sum.groups()),
            sum: sum.clone(),
            outline_of_coarse: Outline::new(coarse.groups()),
            coarse,
            rest: Box::new(rest_of(rest)),
            rho_approx: rho.to_f64(),
            rho,
            apart,
            lists: Mutex::default(),
        })
    }

    /// Whether the groups are far apart and a question lists few losses.
    pub(super) fn serves(&self, epsilon: &Rational, digits: u32) -> bool {
        self.apart >= APART && self.losses(epsilon, digits) <= MOST_LOSSES
    }

    /// How many losses a question lists, about, if not too many where no other engine serves.
    pub(super) fn serves_alone(&self, epsilon: &Rational, digits: u32) -> Option<f64> {
        // Where all of them matter, each is made in full.
        let most = MOST_GROWN.min(2e7 / f64::from(digits));
        Some(self.losses(epsilon, digits)).filter(|losses| *losses <= most)
    }

    fn losses(&self, epsilon: &Rational, digits: u32) -> f64 {
        self.predicted(self.outline.hockey_plan(&self.sum, epsilon), atoms::first_cut(digits))
    }

    /// Whether a list of this plan would be too long, or take too long.
    fn is_too_fine(&self, plan: Plan, cut: u32) -> bool {
        self.predicted(plan, cut) > MOST_GROWN
            || coarse::seconds(&self.coarse, &self.outline_of_coarse, plan.tilt(), cut) > MOST_SECONDS
    }

    /// How many losses a list of this plan has, about.
    fn predicted(&self, plan: Plan, cut: u32) -> f64 {
        coarse::predicted(&self.coarse, &self.outline_of_coarse, plan.tilt(), cut)
    }

    /// E[(1 - exp(epsilon - L))_+] for epsilon >= 0, with lists of ever more bits until the width is met.
    pub(super) fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer> {
        let plan = self.outline.hockey_plan(&self.sum, epsilon);
        let mut cut = atoms::first_cut(digits);
        let mut digits_of_rest = digits + 1;
        let mut best: Option<Answer> = None;
        let mut before = f64::INFINITY;
        for attempt in 0..ATTEMPTS {
            let told = Cell::new(true);
            let profile = |y: &Rational, digits| {
                let (value, met) = self.rest.enclose(y, digits)?;
                told.set(told.get() && met);
                Ok(value)
            };
            let (value, missed, splitting) = match self.enclose(epsilon, plan, cut, digits_of_rest, profile) {
                Ok(found) => found,
                Err(error) => return best.ok_or(error),
            };
            let met = value.is_tight(digits);
            let missed = atoms::bits_above(&missed, &value, digits);
            let wider = atoms::bits_above(&Float::with_val(64, value.upper() - value.lower()), &value, digits);
            best = Some(Answer { value, method: Method::Split(splitting), met });
            if met || attempt + 1 == ATTEMPTS {
                break;
            }
            // What is missing is mended by a finer list, all else by more digits of the rest, if it has any and if they help.
            cut = finer(cut, missed).unwrap_or(cut);
            let by_rest = wider.is_finite() && missed < wider - 1.0;
            if by_rest && (!told.get() || wider > before - 1.0) {
                break;
            }
            before = if by_rest { wider } else { f64::INFINITY };
            digits_of_rest += if by_rest { (wider * 0.302) as u32 + 2 } else { 0 };
            // Below the range of floats nothing gets better.
            let vanishes =
                |best: &Answer| best.value.upper().get_exp().is_none_or(|exponent| exponent < -1_000_000_000);
            if best.as_ref().is_some_and(vanishes) || self.is_too_fine(plan, cut) {
                break;
            }
        }
        let answer = best.ok_or(Error::EmptyComposition)?;
        Ok(match plan {
            Plan::Direct(_) => answer,
            Plan::Complement(_) => {
                let value = atoms::one_minus(&answer.value);
                Answer { met: value.is_tight(digits), value, ..answer }
            }
        })
    }

    /// ln of the hockey stick to about 13 digits, an approximation without proof: the same with approximations of the profile of the
    /// rest. `None` where the list is not fine enough.
    pub(super) fn ln_hockey_stick_approx(&self, epsilon: &Rational) -> Option<f64> {
        const DIGITS: u32 = 13;
        let profile = |y: &Rational, _| {
            let value = Float::with_val(64, self.rest.ln_approx(y)?).exp();
            Ok(Enclosure::new(value.clone(), value))
        };
        let plan = self.outline.hockey_plan(&self.sum, epsilon);
        let mut cut = atoms::first_cut(DIGITS);
        for _ in 0..ATTEMPTS {
            let (value, missed, _) = self.enclose(epsilon, plan, cut, DIGITS, profile).ok()?;
            if value.is_tight(DIGITS - 3) {
                let middle: Float = Float::with_val(value.lower().prec(), value.lower() + value.upper()) / 2;
                let ln = match plan {
                    Plan::Direct(_) => middle.ln(),
                    Plan::Complement(_) => (-middle).ln_1p(),
                };
                return Some(ln.to_f64());
            }
            cut = finer(cut, atoms::bits_above(&missed, &value, DIGITS))?;
            if self.is_too_fine(plan, cut) {
                return None;
            }
        }
        None
    }

    /// The hockey stick, or one minus it, from one list; with what the missing masses may add.
    fn enclose(
        &self,
        epsilon: &Rational,
        plan: Plan,
        cut: u32,
        digits: u32,
        profile: impl Fn(&Rational, u32) -> Result<Enclosure>,
    ) -> Result<(Enclosure, Float, Splitting)> {
        let list = self.list(plan.tilt(), cut.next_multiple_of(CUT_STEP), bits_of_list(digits))?;
        let (bits, at) = (list.bits, epsilon.to_f64());
        let complement = matches!(plan, Plan::Complement(_));
        let exp = exact_exponent(epsilon, bits).exp();
        // Losses above epsilon stand for P - exp(epsilon) Q with what the rest adds, those below for what the rest gives.
        let weight = |atom: &Atom| if atom.loss > *epsilon { atom.q.mul(&exp) } else { atom.p.clone() };
        let (losses, dropped) = self.that_matter(&list, epsilon, digits, complement);
        let without = without_rest(&list, (&losses, &dropped), (epsilon, &exp), complement);
        // Where the rest matters, the largest first; for all others, their bound.
        let mut near: Vec<(f64, Outlined)> = losses.iter().map(|loss| (self.ln_most(loss, at), *loss)).collect();
        let largest = near.iter().map(|(ln, _)| *ln).fold(f64::NEG_INFINITY, f64::max);
        let ln_known = Float::with_val(64, without.lower().ln_ref()).to_f64();
        let floor =
            if ln_known.is_finite() { ln_known - ln_tenth(digits + 4) } else { largest - ln_tenth(4 * digits + 40) };
        let count = near.len() as f64;
        near.retain(|(ln, _)| *ln > floor - count.ln());
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        // At least what each of them adds, and what those from each on add.
        let most: Vec<Float> = near.iter().map(|(ln, _)| Enclosure::double(*ln, 64).exp().upper().clone()).collect();
        let left_out = if count > near.len() as f64 {
            Enclosure::double(floor + 1e-9 * (1.0 + floor.abs()), 64).exp().upper().clone()
        } else {
            Float::new(64)
        };
        let mut after = vec![left_out];
        for most in most.iter().rev() {
            let sum = Float::with_val_round(64, &after[after.len() - 1] + most, Round::Up).0;
            after.push(sum);
        }
        let share = Float::with_val(64, -f64::from(digits)).exp10() / 4;
        let mut asked = 0;
        let mut settled = without;
        for ((_, outlined), most) in near.iter().zip(&most) {
            let known = settled.lower();
            if asked >= MOST_ASKED || after[near.len() - asked] <= Float::with_val(64, known * &share) {
                break;
            }
            // As many digits as this term has above the last one that counts, in steps for which the rest shares lists.
            const STEP: u32 = 4;
            let gain =
                if *known > 0 { Float::with_val(64, most / known).log10().to_f64().clamp(-1e4, 0.0) } else { 0.0 };
            let wanted = (f64::from(digits) + gain).ceil().max(2.0) as u32;
            let wanted = wanted.next_multiple_of(STEP).min(digits.max(2));
            let atom = list.atom(outlined);
            let distance = Rational::from(epsilon - &atom.loss).abs();
            let profile = match profile(&distance, wanted) {
                Ok(profile) => profile,
                Err(error) if error.is_beyond_reach() => Enclosure::new(Float::new(bits), Float::with_val(bits, 1)),
                Err(error) => return Err(error),
            };
            asked += 1;
            let term = weight(&atom).mul(&profile);
            // Whatever was found, the bound holds.
            let bound = Enclosure::new(Float::new(64), most.clone());
            let term = term.meet(&bound).ok_or(Error::Contradiction { what: "the profile of the finer noise" })?;
            settled = if complement { settled.sub(&term) } else { settled.add(&term) };
        }
        // 0 <= weight D <= most for those that nobody asked about.
        let unasked = Enclosure::new(Float::new(64), after[near.len() - asked].clone());
        settled = if complement { settled.sub(&unasked) } else { settled.add(&unasked) };
        let missed = self.missed(&list, epsilon, complement);
        let value = settled.add(&Enclosure::new(Float::new(64), missed.clone())).clamp(0.0, 1.0);
        let (tilt, missing) = (list.c.clone(), list.missing.clone());
        Ok((value, missed, Splitting { tilt, losses: list.sums.len(), asked, missing }))
    }

    /// The losses that matter to the answer, and at least what all others add to it.
    ///
    /// A loss a adds at most P[A = a] to delta, and exp(-(y - rho)^2 / (4 rho)) of that for y = eps - a >= rho; to one minus delta at most
    /// P[A = a] min(1, exp(y)). Which ones are left out is decided in doubles.
    fn that_matter(&self, list: &List, epsilon: &Rational, digits: u32, complement: bool) -> (Vec<Outlined>, Float) {
        let at = epsilon.to_f64();
        let ln_adds = |loss: &Outlined| {
            let ln = self.ln_most(loss, at);
            // Above epsilon `ln_most` has the factor exp(y) of Q.
            let mirrored = (at - loss.approx + slack(loss.size, at)).min(0.0);
            let ln = if complement {
                loss.ln_p + mirrored
            } else if mirrored < 0.0 {
                loss.ln_p
            } else {
                ln
            };
            ln + 1e-12 * ln.abs()
        };
        let adds: Vec<f64> = list.sums.iter().map(ln_adds).collect();
        let largest = adds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // About what is surely added: by losses above epsilon, or so far below it that the rest does not reach.
        let rho = self.rho_approx;
        let surely = |loss: &Outlined| match (at - loss.approx, complement) {
            (y, false) => loss.ln_p + (-y.min(0.0).exp_m1()).ln(),
            (y, true) if y >= rho + 4.0 * rho.sqrt() => loss.ln_p,
            (_, true) => f64::NEG_INFINITY,
        };
        let known = list.sums.iter().map(surely).fold(f64::NEG_INFINITY, f64::max);
        let floor = if known > f64::NEG_INFINITY {
            known.min(largest) - ln_tenth(digits + 8)
        } else {
            largest - ln_tenth(4 * digits + 40)
        };
        let floor = floor - (list.sums.len() as f64).ln();
        // What is not a number matters.
        let matters = |ln: f64| !matches!(ln.partial_cmp(&floor), Some(Ordering::Less | Ordering::Equal));
        let of = list.sums.iter().zip(&adds).filter(|(_, ln)| matters(**ln));
        let matter: Vec<Outlined> = of.map(|(loss, _)| *loss).collect();
        let others = list.sums.len() - matter.len();
        let dropped = if others == 0 {
            Float::new(64)
        } else {
            let each = Enclosure::double(floor, 64).exp();
            each.mul(&Enclosure::double(others as f64, 64)).upper().clone()
        };
        (matter, dropped)
    }

    /// The list of a tilt, made if need be; the oldest makes room.
    fn list(&self, tilt: f64, cut: u32, bits: u32) -> Result<Arc<List>> {
        let c = tilt::exact(tilt);
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = lists.iter().find(|list| list.c == c && list.cut == cut && list.bits == bits) {
            return Ok(Arc::clone(list));
        }
        let list = Arc::new(List::new(&self.coarse, c, cut, bits)?);
        let held = |lists: &[Arc<List>]| lists.iter().map(|list| list.sums.len()).sum::<usize>() as f64;
        while !lists.is_empty() && (lists.len() >= REMEMBERED || held(&lists) + list.sums.len() as f64 > MOST_HELD) {
            lists.remove(0);
        }
        lists.push(Arc::clone(&list));
        Ok(list)
    }

    /// ln of at least what the rest adds at a loss: its weight times D(y).
    ///
    /// The last factors and summands pay for the roundings.
    fn ln_most(&self, loss: &Outlined, epsilon: f64) -> f64 {
        let rho = self.rho_approx;
        let slack = slack(loss.size, epsilon);
        let y = epsilon - loss.approx;
        let beyond = (y.abs() - slack - rho * (1.0 + 1e-15)).max(0.0);
        let ln_bound = -beyond * beyond / (4.0 * rho) * (1.0 - 1e-12);
        let ln_weight = loss.ln_p + (y + slack).min(0.0);
        ln_weight + ln_bound + 1e-12 * (ln_weight.abs() + ln_bound.abs())
    }

    /// At least what the masses that are stored nowhere add.
    fn missed(&self, list: &List, epsilon: &Rational, complement: bool) -> Float {
        let (c, bits) = (&list.c, list.bits);
        let mut exponent = Rational::from(c * epsilon);
        let mut ln_scale = list.ln_mgf.clone();
        if !complement {
            exponent -= (c + c.clone().square()) * &self.rho;
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

/// Encloses what delta would be without the rest, or one minus it, from the losses that matter, where each of the `others` may give anything
/// from nothing to its bound; together they give at most `dropped`. Beside epsilon, exp(epsilon).
///
/// Far from epsilon all losses are summed once for all questions, with the others among them. Of these, one that is above epsilon gives
/// at least P - exp(epsilon) Q to delta and at most P, which is its bound: what is not summed yet is still between zero and `dropped`. To one
/// minus delta the rest may take all that it was summed with.
fn without_rest(
    list: &List,
    (losses, dropped): (&[Outlined], &Float),
    (epsilon, exp): (&Rational, &Enclosure),
    complement: bool,
) -> Enclosure {
    let (bits, at) = (list.bits, epsilon.to_f64());
    let zero = || Enclosure::double(0.0, bits);
    let (mut of_p, mut of_q, mut close) = (zero(), zero(), zero());
    let mut add = |outlined: &Outlined| {
        let atom = list.atom(outlined);
        match (atom.loss > *epsilon, complement) {
            // Nothing cancels: exp(eps - a) is at most 1 / e.
            (true, false) if outlined.approx > at + FAR => {
                of_p = of_p.add(&atom.p);
                of_q = of_q.add(&atom.q);
            }
            (true, false) => {
                let above = exact_exponent(&Rational::from(epsilon - &atom.loss), bits).exp_m1().negate();
                close = close.add(&above.mul(&atom.p));
            }
            (false, false) => {}
            (true, true) => of_q = of_q.add(&atom.q),
            (false, true) => of_p = of_p.add(&atom.p),
        }
    };
    let mut others = Enclosure::new(Float::new(64), dropped.clone());
    // What is further away is above or below for sure, if doubles are off by less.
    let is_below = |loss: &Outlined| loss.approx < at - FAR;
    let is_up_to = |loss: &Outlined| loss.approx <= at + FAR;
    if slack(list.size, at) >= FAR {
        losses.iter().for_each(&mut add);
    } else {
        let (first, last) = (losses.partition_point(is_below), losses.partition_point(is_up_to));
        losses[first..last].iter().for_each(&mut add);
        let (below, above) = (if complement { &losses[..first] } else { &[] }, &losses[last..]);
        // All losses beyond, where not many more than matter.
        let beyond = list.sums.len() - list.sums.partition_point(is_up_to);
        let before = if complement { list.sums.partition_point(is_below) } else { 0 };
        if (below.len() + above.len()) * MANY >= before + beyond {
            let (p, q) = list.above(list.sums.len() - beyond);
            of_p = of_p.add(&if complement { list.below(before) } else { p });
            of_q = of_q.add(&q);
            if complement {
                others = others.hull(&others.clone().negate());
            }
        } else {
            let under_p = if complement { below } else { above };
            of_p = under_p.iter().fold(of_p, |sum, loss| sum.add(&list.masses(loss).0));
            of_q = above.iter().fold(of_q, |sum, loss| sum.add(&list.masses(loss).1));
        }
    }
    let of_q = of_q.mul(exp);
    let sum = if complement { of_p.add(&of_q) } else { of_p.sub(&of_q).add(&close) };
    sum.add(&others)
}

/// The bits of a list for so many digits, in steps for which questions share lists.
fn bits_of_list(digits: u32) -> u32 {
    precision::bits(digits, 64).next_multiple_of(64)
}

/// At least what epsilon - loss in doubles is off by: 2^-52 of epsilon and of the loss, which is a sum of at most eight terms of this size.
fn slack(size: f64, epsilon: f64) -> f64 {
    2e-15 * (epsilon.abs() + size)
}

/// The groups of a few from coarse to fine, how many of them are apart from the others, and by how many standard deviations of these the
/// losses of each of them are: all ways, from the furthest apart.
fn ways(sum: &LossSum) -> Vec<(Vec<Group>, usize, f64)> {
    if !(2..=MOST_GROUPS).contains(&sum.groups().len()) {
        return Vec::new();
    }
    let mut groups = sum.groups().to_vec();
    groups.sort_by_key(|group| std::cmp::Reverse(group.weight()));
    let apart = |first: usize| {
        let rho: Rational = groups[first..].iter().map(zcdp).sum();
        groups[first - 1].weight().to_f64() / (2.0 * rho.to_f64()).sqrt()
    };
    let lists = |first: usize| groups[..first].iter().all(|group| !matches!(group.law, Law::Gaussian { .. }));
    let ways = (1..groups.len()).filter(|&first| lists(first));
    let mut ways: Vec<_> = ways.map(|first| (groups.clone(), first, apart(first))).collect();
    ways.sort_by(|a, b| b.2.total_cmp(&a.2));
    ways
}

/// Whether the profile of a sum of a few groups is a staircase, or nearly one.
pub(super) fn has_steps(sum: &LossSum) -> bool {
    ways(sum).first().is_some_and(|(.., apart)| *apart > 2.0)
}

/// The zCDP of a group: sum shift^2 / (2 sigma2), or epsilon^2 shift^2 / 2 where losses are at most epsilon shift.
fn zcdp(group: &Group) -> Rational {
    match &group.law {
        Law::DiscreteGaussian { .. } | Law::Gaussian { .. } => group.rho(),
        Law::DiscreteLaplace { epsilon } => Rational::from(epsilon * group.shift).square() * group.copies / 2_u32,
    }
}

/// The cut of the next list where the missing masses are so many bits above the last digit; `None` where a finer list would not help.
fn finer(cut: u32, missed: f64) -> Option<u32> {
    (missed > -2.0).then(|| if missed.is_finite() { cut + missed as u32 + 12 } else { cut.saturating_mul(4) })
}

/// ln of 10^digits.
fn ln_tenth(digits: u32) -> f64 {
    f64::from(digits) * std::f64::consts::LN_10
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::{atoms::Atoms, evaluator::SumEvaluator},
        numeric::rational::parse,
    };

    fn sum(list: &[(char, &str, u64, u64)]) -> LossSum {
        let group = |&(law, parameter, shift, copies): &(char, &str, u64, u64)| {
            let parameter = parse(parameter).unwrap();
            let law = match law {
                'd' => Law::DiscreteGaussian { sigma2: parameter },
                'c' => Law::Gaussian { sigma2: parameter },
                _ => Law::DiscreteLaplace { epsilon: parameter },
            };
            Group { law, shift, copies }
        };
        LossSum::new(list.iter().map(group)).unwrap()
    }

    fn split(sum: &LossSum) -> Split {
        Split::all(sum, SumEvaluator::new).into_iter().find(|split| split.apart >= APART).unwrap()
    }

    /// Where the threshold lies in a gap between coarse losses, a list holds thousands of which a few matter. What is left out is far below
    /// the last digit, and the answer is that of a list of all.
    #[test]
    fn losses_that_do_not_matter_are_bounded_together() {
        let sum = sum(&[('d', "1/39", 3, 9), ('d', "1/5", 1, 30), ('d', "40", 1, 2), ('d', "40000", 1, 1)]);
        let (split, atoms) = (split(&sum), Atoms::within(&sum, 1e9).unwrap());
        let mut few = 0;
        for above in ["3.3", "17", "31.2", "77"] {
            let epsilon = parse(above).unwrap() + sum.rho();
            let answer = split.hockey_stick(&epsilon, 12).unwrap();
            let listed = atoms.hockey_stick(&epsilon, 14).unwrap();
            assert!(answer.met && answer.value.overlaps(&listed.value), "{above}: {answer:?} {listed:?}");
            for complement in [false, true] {
                let list = List::new(&split.coarse, Rational::from((1, 8)), 300, 120).unwrap();
                let (matter, dropped) = split.that_matter(&list, &epsilon, 12, complement);
                // Each of the others, as it is, adds less than the bound for all of them.
                let kept: std::collections::BTreeSet<usize> = matter.iter().map(|loss| loss.place).collect();
                for outlined in list.sums.iter().filter(|loss| !kept.contains(&loss.place)).step_by(97) {
                    let atom = list.atom(outlined);
                    assert!((atom.loss.to_f64() - outlined.approx).abs() <= 1e-15 * outlined.size.max(1.0));
                    let adds = match (atom.loss > epsilon, complement) {
                        (false, false) => continue,
                        (true, true) => atom.q.mul(&Enclosure::rational(&epsilon, 200).exp()),
                        _ => atom.p,
                    };
                    assert!(*adds.lower() <= dropped, "{above} {complement}: {adds} {dropped}");
                }
                few += usize::from(matter.len() * 4 < list.sums.len());
            }
        }
        assert!(few >= 4, "{few}");
    }

    /// Masses above and below a place by totals are those of the losses there.
    #[test]
    fn totals_are_what_losses_are_together() {
        let sum = sum(&[('d', "1/39", 3, 9), ('d', "1/5", 1, 30), ('d', "40", 1, 2), ('d', "40000", 1, 1)]);
        let split = split(&sum);
        let list = List::new(&split.coarse, Rational::from((1, 8)), 60, 150).unwrap();
        let zero = Enclosure::double(0.0, list.bits);
        assert!(list.sums.len() > 200);
        for place in [0, 1, 15, 16, 17, 63, 64, 191, list.sums.len() - 1, list.sums.len()] {
            let (below, above) = list.sums.split_at(place);
            let of = |losses: &[Outlined], of: fn(&Atom) -> &Enclosure| {
                losses.iter().fold(zero.clone(), |sum, loss| sum.add(of(&list.atom(loss))))
            };
            let (p, q) = list.above(place);
            for (told, truth) in [
                (p, of(above, |atom| &atom.p)),
                (q, of(above, |atom| &atom.q)),
                (list.below(place), of(below, |atom| &atom.p)),
            ] {
                assert!(told.overlaps(&truth), "{place}: {told} {truth}");
                assert!(told.is_tight(30) || *told.upper() == 0, "{place}: {told}");
            }
        }
    }

    /// What is not told of the losses that do not matter lies between nothing and their bounds, whether they are summed with those beyond or
    /// not: what delta, or one minus it, would be lies in the enclosure with all of them and with none.
    #[test]
    fn losses_that_do_not_matter_give_anything_up_to_their_bound() {
        let sum = sum(&[('d', "1/39", 3, 9), ('d', "1/5", 1, 30), ('d', "40", 1, 2), ('d', "40000", 1, 1)]);
        let split = split(&sum);
        let list = List::new(&split.coarse, Rational::from((1, 8)), 60, 150).unwrap();
        let zero = Enclosure::double(0.0, list.bits);
        // Whichever they are: where every second one matters they are summed with those beyond, where one of twenty does, one by one.
        for every in [2, 20] {
            let (losses, others): (Vec<Outlined>, Vec<Outlined>) =
                list.sums.iter().partition(|loss| loss.place.is_multiple_of(every));
            for (above, complement) in
                ["-60", "-3.1", "0.7", "17", "77"].iter().flat_map(|at| [(at, false), (at, true)])
            {
                let epsilon = parse(above).unwrap() + sum.rho();
                let exp = exact_exponent(&epsilon, list.bits).exp();
                // What a loss gives without the rest, and at most.
                let gives = |loss: &Outlined| {
                    let atom = list.atom(loss);
                    match (atom.loss > epsilon, complement) {
                        (true, false) => (atom.p.sub(&atom.q.mul(&exp)), atom.p),
                        (false, false) => (zero.clone(), atom.p),
                        (true, true) => (atom.q.mul(&exp), atom.q.mul(&exp)),
                        (false, true) => (atom.p.clone(), atom.p),
                    }
                };
                let total = |losses: &[Outlined]| {
                    let and = |(sum, most): (Enclosure, Enclosure), loss: &Outlined| {
                        let (own, bound) = gives(loss);
                        (sum.add(&own), most.add(&bound))
                    };
                    losses.iter().fold((zero.clone(), zero.clone()), and)
                };
                let ((of_losses, _), (of_others, dropped)) = (total(&losses), total(&others));
                let value = without_rest(&list, (&losses, dropped.upper()), (&epsilon, &exp), complement);
                // With the rest those above epsilon give delta no less; one minus delta may be given nothing.
                let least = if complement { of_losses.clone() } else { of_losses.add(&of_others) };
                assert!(value.lower() <= least.upper(), "{above} {complement}: {value} {least}");
                let most = of_losses.add(&dropped);
                assert!(value.upper() >= most.lower(), "{above} {complement}: {value} {most}");
            }
        }
    }

    /// Coarse beside fine, against lists of all atoms: below, between and above the coarse losses, and next to one minus.
    #[test]
    fn the_split_answers_what_lists_of_all_losses_do() {
        for groups in [
            vec![('l', "3.21", 1, 4), ('d', "2000", 1, 1)],
            vec![('l', "3.21", 2, 2), ('d', "2000.3", 1, 3), ('d', "30001/7", 2, 1)],
            vec![('d', "1/20", 1, 3), ('d', "700", 1, 2)],
            vec![('d', "0.02", 2, 1), ('d', "5/4", 1, 2), ('d', "4099", 3, 1)],
            vec![('l', "4", 1, 2), ('l', "1/100", 3, 2)],
        ] {
            let sum = sum(&groups);
            let (split, atoms) = (split(&sum), Atoms::within(&sum, 1e9).unwrap());
            let (mut asked, mut approximated) = (0, 0);
            for epsilon in ["0", "0.001", "0.79", "3.2", "3.21", "6.4", "6.42", "6.45", "12.8", "12.9", "30", "55.1"] {
                let epsilon = parse(epsilon).unwrap();
                for digits in [3, 12, 25] {
                    let listed = atoms.hockey_stick(&epsilon, digits).unwrap();
                    if *listed.value.upper() == 0 {
                        continue;
                    }
                    let answer = split.hockey_stick(&epsilon, digits).unwrap();
                    assert!(answer.value.overlaps(&listed.value), "{groups:?} {epsilon}: {answer:?} {listed:?}");
                    assert!(answer.met && answer.value.is_tight(digits), "{groups:?} {epsilon} {digits}: {answer:?}");
                    if let Method::Split(splitting) = &answer.method {
                        asked += splitting.asked;
                    }
                    // One minus it is as accurate, too.
                    let one = Enclosure::double(1.0, answer.value.lower().prec());
                    let rest = one.sub(&answer.value);
                    assert!(*rest.upper() > 0.5 || rest.is_tight(digits), "{groups:?} {epsilon}: {answer:?}");
                    let exact = listed.value.ln().approximate();
                    if let Some(ln) = split.ln_hockey_stick_approx(&epsilon).filter(|_| digits >= 12) {
                        assert!((ln - exact).abs() < 1e-9 * (1.0 + exact.abs()), "{epsilon}: {ln} {exact}");
                        approximated += 1;
                    }
                }
            }
            assert!(asked > 0 && approximated >= 8, "{groups:?}: {asked} {approximated}");
        }
    }

    /// Whatever groups are listed, on one lattice or not, and however close the rest comes to their losses.
    #[test]
    fn every_way_to_split_answers_the_same() {
        let mut ways = Vec::new();
        for groups in [
            vec![('l', "11", 1, 9), ('d', "1/3", 2, 7), ('d', "15.283", 1, 3), ('d', "190000", 1, 2)],
            vec![('l', "3", 1, 20), ('l', "2", 1, 30), ('d', "4099", 1, 3)],
            vec![('d', "1/7", 1, 4), ('l', "1/9", 1, 5), ('d', "90001/4", 2, 1)],
        ] {
            let sum = sum(&groups);
            let (splits, atoms) = (Split::all(&sum, SumEvaluator::new), Atoms::within(&sum, 1e9).unwrap());
            for (split, epsilon) in splits.iter().flat_map(|split| ["0.3", "7.9", "22.01", "60"].map(|at| (split, at)))
            {
                let epsilon = parse(epsilon).unwrap();
                assert!(split.serves_alone(&epsilon, 12).is_some());
                let (answer, listed) =
                    (split.hockey_stick(&epsilon, 12).unwrap(), atoms.hockey_stick(&epsilon, 14).unwrap());
                assert!(
                    answer.met && answer.value.overlaps(&listed.value),
                    "{groups:?} {epsilon}: {answer:?} {listed:?}"
                );
            }
            ways.push(splits.iter().map(|split| split.apart >= APART).collect::<Vec<_>>());
        }
        // Of the first, coarse and less coarse.
        assert!(ways[0].contains(&true) && ways[0].contains(&false), "{ways:?}");
    }

    /// Continuous noise beside coarse counts: the rest is in closed form, and as many digits as are asked for.
    #[test]
    fn continuous_noise_is_a_rest_as_good_as_any() {
        let mixed = sum(&[('l', "3", 1, 2), ('c', "10000", 1, 4)]);
        let (split, contour) = (split(&mixed), SumEvaluator::new(mixed.clone()));
        for epsilon in ["0", "2.9", "3", "5.97", "6", "6.1"] {
            let epsilon = parse(epsilon).unwrap();
            let answer = split.hockey_stick(&epsilon, 30).unwrap();
            assert!(answer.met, "{epsilon}: {answer:?}");
            let other = contour.by_contour(&epsilon, 6).unwrap();
            assert!(answer.value.overlaps(&other.value), "{epsilon}: {answer:?} {other:?}");
        }
    }

    #[test]
    fn only_groups_that_are_far_apart_are_split() {
        let none = |groups: &[(char, &str, u64, u64)]| {
            !Split::all(&sum(groups), SumEvaluator::new).iter().any(|split| split.apart >= APART)
        };
        assert!(none(&[('d', "5", 1, 10)]));
        assert!(none(&[('d', "5", 1, 10), ('d', "50", 1, 10), ('d', "500", 1, 10)]));
        // Continuous noise cannot be listed.
        assert!(none(&[('c', "1/10", 1, 1), ('d', "100000", 1, 1)]));
        let three = split(&sum(&[('d', "1e9", 1, 1), ('l', "2", 1, 3), ('d', "1e6", 1, 1)]));
        assert_eq!(three.coarse.groups().len(), 1);
    }
}
