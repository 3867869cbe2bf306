//! The losses of an enumeration that matter to an answer, selected in doubles, and their contribution without the remaining groups.

use std::cmp::Ordering;

use rug::{Float, Rational};

use super::list::{List, Outlined};
use crate::{loss::atoms::coarse::exact_exponent, numeric::Enclosure};

/// Losses at this distance from epsilon, or further, are summed together.
const FAR: f64 = 1.001;
/// All losses beyond a place are summed, not only those that matter, if at least one in `MANY` matters.
const MANY: usize = 3;

/// The losses that matter to the answer, and an upper bound on the contribution of all others, beside remaining groups of this rho.
///
/// A loss a adds at most P[A = a] to delta, and exp(-(y - rho)^2 / (4 rho)) of that for y = eps - a >= rho; to the complement of delta at most
/// P[A = a] min(1, exp(y)). The losses to drop are selected in doubles.
pub(super) fn that_matter(
    list: &List,
    rho: f64,
    epsilon: &Rational,
    (digits, reach): (u32, u32),
    complement: bool,
) -> (Vec<Outlined>, Float) {
    let at = epsilon.to_f64();
    let ln_adds = |loss: &Outlined| {
        let ln = ln_most(loss, rho, at);
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
    // The approximate contribution that is certain: of losses above epsilon, or so far below it that the remaining groups do not reach.
    let surely = |loss: &Outlined| match (at - loss.approx, complement) {
        (y, false) => loss.ln_p + libm::log(-libm::expm1(y.min(0.0))),
        (y, true) if y >= rho + 4.0 * rho.sqrt() => loss.ln_p,
        (_, true) => f64::NEG_INFINITY,
    };
    let known = list.sums.iter().map(surely).fold(f64::NEG_INFINITY, f64::max);
    let floor = if known > f64::NEG_INFINITY {
        known.min(largest) - ln_tenth(digits + 8)
    } else {
        largest - ln_of_guess(digits, reach)
    };
    let floor = floor - libm::log(list.sums.len() as f64);
    // A NaN matters.
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

/// Upper bound on ln of the contribution of the remaining groups, of this rho, at a loss: its weight times D(y).
///
/// The last factors and summands cover the rounding errors.
pub(super) fn ln_most(loss: &Outlined, rho: f64, epsilon: f64) -> f64 {
    let slack = slack(loss.size, epsilon);
    let y = epsilon - loss.approx;
    let beyond = (y.abs() - slack - rho * (1.0 + 1e-15)).max(0.0);
    let ln_bound = -beyond * beyond / (4.0 * rho) * (1.0 - 1e-12);
    let ln_weight = loss.ln_p + (y + slack).min(0.0);
    ln_weight + ln_bound + 1e-12 * (ln_weight.abs() + ln_bound.abs())
}

/// Encloses delta without the remaining groups, or its complement, from the losses that matter, where the contribution of each of the `others` is
/// between zero and its bound; together they contribute at most `dropped`. Beside epsilon, exp(epsilon).
///
/// Far from epsilon all losses are summed once for all requests, with the others among them. Of these, one that is above epsilon contributes at least
/// P - exp(epsilon) Q to delta and at most P, which is its bound: the part not summed yet is still between zero and `dropped`. To the complement of
/// delta it contributes between zero and the amount with which it was summed.
pub(super) fn without_rest(
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
    // Losses further away are above or below for sure, if the error of doubles is smaller.
    let is_below = |loss: &Outlined| loss.approx < at - FAR;
    let is_up_to = |loss: &Outlined| loss.approx <= at + FAR;
    if slack(list.size, at) >= FAR {
        losses.iter().for_each(&mut add);
    } else {
        let (first, last) = (losses.partition_point(is_below), losses.partition_point(is_up_to));
        losses[first..last].iter().for_each(&mut add);
        let (below, above) = (if complement { &losses[..first] } else { &[] }, &losses[last..]);
        // All losses beyond, where they are not many more than those that matter.
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

/// Upper bound on the error of epsilon - loss in doubles: 2^-52 of epsilon and of the loss, which is a sum of at most eight terms of this size.
fn slack(size: f64, epsilon: f64) -> f64 {
    2e-15 * (epsilon.abs() + size)
}

/// The number of nats by which dropped losses are below the largest bound while no value is known: the remaining groups may reach far less than their
/// bound.
pub(super) fn ln_of_guess(digits: u32, reach: u32) -> f64 {
    ln_tenth(digits.saturating_mul(4).saturating_add(40).saturating_add(reach))
}

/// ln of 10^digits.
pub(super) fn ln_tenth(digits: u32) -> f64 {
    f64::from(digits) * std::f64::consts::LN_10
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::{
            atoms::Atoms,
            engine::{machine, session::Session},
            split::tests::split,
            testing::sum,
        },
        numeric::rational::parse,
    };

    /// Where the threshold lies in a gap between coarse losses, an enumeration holds thousands of which a few matter. The dropped ones are far below
    /// the last digit, and the answer agrees with that of an enumeration of all.
    #[test]
    fn losses_that_do_not_matter_are_bounded_together() {
        let sum = sum(&["1/39x9@3", "1/5x30", "40x2", "40000"]);
        let (split, atoms) = (split(&sum), Atoms::within(&sum, 1e9).unwrap());
        let mut few = 0;
        for above in ["3.3", "17", "31.2", "77"] {
            let epsilon = parse(above).unwrap() + sum.rho();
            let answer = split.hockey_stick(&epsilon, 12, machine::FINER_LIST, &Session::of_digits(12)).unwrap();
            let listed = atoms.hockey_stick(&epsilon, 14).unwrap();
            assert!(answer.met && answer.value.overlaps(&listed.value), "{above}: {answer:?} {listed:?}");
            for complement in [false, true] {
                let list = List::new(&split.coarse, Rational::from((1, 8)), 300, 120).unwrap();
                let (matter, dropped) = that_matter(&list, split.rho_approx, &epsilon, (12, 0), complement);
                // Each of the others adds less than the bound for all of them.
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

    /// The unknown contribution of the losses that do not matter lies between zero and their bounds, whether they are summed with those beyond or
    /// not: the enclosure of delta without the remaining groups, or of its complement, contains the value with all of them and with none.
    #[test]
    fn losses_that_do_not_matter_contribute_up_to_their_bound() {
        let sum = sum(&["1/39x9@3", "1/5x30", "40x2", "40000"]);
        let split = split(&sum);
        let list = List::new(&split.coarse, Rational::from((1, 8)), 60, 150).unwrap();
        let zero = Enclosure::double(0.0, list.bits);
        // For any choice: where every second one matters they are summed with those beyond; where one of twenty does, one by one.
        for every in [2, 20] {
            let (losses, others): (Vec<Outlined>, Vec<Outlined>) =
                list.sums.iter().partition(|loss| loss.place.is_multiple_of(every));
            for (above, complement) in
                ["-60", "-3.1", "0.7", "17", "77"].iter().flat_map(|at| [(at, false), (at, true)])
            {
                let epsilon = parse(above).unwrap() + sum.rho();
                let exp = exact_exponent(&epsilon, list.bits).exp();
                // The contribution of a loss without the remaining groups, and its upper bound.
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
                // With the remaining groups, losses above epsilon contribute no less to delta; to the complement they may contribute nothing.
                let least = if complement { of_losses.clone() } else { of_losses.add(&of_others) };
                assert!(value.lower() <= least.upper(), "{above} {complement}: {value} {least}");
                let most = of_losses.add(&dropped);
                assert!(value.upper() >= most.lower(), "{above} {complement}: {value} {most}");
            }
        }
    }
}
