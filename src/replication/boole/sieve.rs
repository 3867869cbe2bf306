//! The sieve: the parts of [reach, pi] where the characteristic function may exceed a level.
//!
//! Every factor falls on [0, pi] and has period 2 pi, so it exceeds the level only in windows around multiples of 2 pi
//! / weight. The characteristic function can exceed it only in the intersection of the windows of all terms.

use rug::{Integer, Rational};

use super::factor::{Term, ln_factor};
use crate::{error::Result, numeric::enclosure::Enclosure, replication::verdict::finite};

/// A step of the sieve: the intersection of the windows of a term with those of all terms before it.
#[derive(Clone, Debug)]
pub struct SieveStep {
    /// The weight of the term.
    pub weight: u64,
    /// The remaining parts of [reach, pi], in doubles for display.
    pub left: Vec<(f64, f64)>,
}

/// The sieve on an interval of t >= 0: the parts where no factor is proven to be at most `level`, with one more term in
/// each step, terms of large variance first.
pub(super) fn sieve_between(
    terms: &[Term],
    from: &Rational,
    to: &Rational,
    level: &Rational,
) -> Result<Vec<SieveStep>> {
    let pi = Enclosure::pi(96);
    let (pi_low, pi_high) = (finite(pi.lower(), "pi")?, finite(pi.upper(), "pi")?);
    let mut order: Vec<&Term> = terms.iter().collect();
    order.sort_by(|a, b| b.sigma2.cmp(&a.sigma2));
    let mut left = vec![(from.clone(), to.clone())];
    let mut steps = Vec::new();
    for term in order {
        let half_width = half_width(term, level);
        let weight = Rational::from(term.weight);
        let mut next = Vec::new();
        for (from, to) in &left {
            // Windows around 2 pi k / weight, from the last one that may begin before `from`.
            let first = (Rational::from(from * &weight) - &half_width) / Rational::from(&pi_high * 2_u32);
            let mut k = first.floor().into_numer_denom().0.max(Integer::new());
            loop {
                let start = (Rational::from(&pi_low * &k) * 2_u32 - &half_width) / &weight;
                let end = (Rational::from(&pi_high * &k) * 2_u32 + &half_width) / &weight;
                if start > *to {
                    break;
                }
                if end >= *from {
                    next.push((start.max(from.clone()), end.min(to.clone())));
                }
                k += 1;
            }
        }
        left = next;
        let shown = left.iter().map(|(a, b)| (a.to_f64(), b.to_f64())).collect();
        steps.push(SieveStep { weight: term.weight, left: shown });
    }
    Ok(steps)
}

/// Upper bound on the largest u in [0, pi] with f_i(u)^n >= level; f_i falls on [0, pi].
fn half_width(term: &Term, level: &Rational) -> Rational {
    // A number above pi stands for the whole of [0, pi].
    let all = Rational::from(4);
    // A bisection in steps of pi / 2^12; the bound is the upper end of the last step.
    let level = Enclosure::rational(level, 96).ln();
    let reaches = |k: u32| {
        let u = Enclosure::pi(96).mul(&Enclosure::rational(&Rational::from((k, 4096)), 96));
        ln_factor(term, &u).upper() >= level.lower()
    };
    let (mut inside, mut outside) = (0_u32, 4096_u32);
    if reaches(outside) {
        return all;
    }
    while outside - inside > 1 {
        let middle = (inside + outside) / 2;
        if reaches(middle) { inside = middle } else { outside = middle }
    }
    let end = Enclosure::pi(96).mul(&Enclosure::rational(&Rational::from((outside, 4096)), 96));
    end.upper().to_rational().unwrap_or(all)
}
