//! The cost of a request, predicted in doubles before anything is enumerated.

use rug::Rational;

use super::{
    super::{law::Group, sum::LossSum},
    column::{MOST_NATS, MOST_NATS_OF_ALL},
    masses::Fineness,
    plan::{Part, Plan},
    terms,
    tilt::Outline,
};

/// A request to a sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// The hockey-stick divergence at this epsilon.
    HockeyStick(Rational),
    /// P[L >= z] at this z.
    UpperTail(Rational),
    /// Q[L >= z] at this z.
    TiltedTail(Rational),
    /// The trade-off function at this type I error.
    Tradeoff(Rational),
}

/// The cost of lists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The approximate number of losses of each half of the groups.
    pub lengths: (f64, f64),
    /// Seconds of one processor to make the lists and answer one request, within a factor of about three; infinite where the sum cannot be
    /// enumerated.
    pub seconds: f64,
    /// Of these, the seconds of one further request at the same place.
    pub seconds_each: f64,
    /// Bytes of memory while the lists are made.
    pub bytes: f64,
}

impl Query {
    /// The approximate number of passes over both lists for a request.
    pub(super) fn passes(&self) -> f64 {
        match self {
            Query::HockeyStick(_) => 2.0,
            Query::UpperTail(_) | Query::TiltedTail(_) => 1.0,
            Query::Tradeoff(_) => 16.0,
        }
    }
}

impl Cost {
    pub(super) const IMPOSSIBLE: Cost = Cost {
        lengths: (f64::INFINITY, f64::INFINITY),
        seconds: f64::INFINITY,
        seconds_each: f64::INFINITY,
        bytes: f64::INFINITY,
    };
}

/// The cost of lists at a tilt, with masses cut at 2^-cut and mantissas of `mantissa` words, and of one request of `passes` passes.
pub(super) fn of_lists(sum: &LossSum, outline: &Outline, tilt: f64, cut: u32, mantissa: u32, passes: f64) -> Cost {
    let pieces = pieces(sum.groups());
    let parts: Option<Vec<Part>> = (pieces.iter().enumerate())
        .map(|(at, (k, group))| {
            let length = length(group, outline.variance(*k, tilt), tilt, f64::from(cut) + 6.0)?;
            Some(Part { groups: vec![at], step: group.weight(), length, is_listed: group.law.is_listed() })
        })
        .collect();
    let (Some(parts), Some(h)) = (parts, sum.step()) else { return Cost::IMPOSSIBLE };
    // Keys and exponentials have a range, and a column outside it is refused.
    let span = |part: &Part| match &pieces[part.groups[0]].1 {
        group if part.is_listed => 2.0 * group.size().to_f64(),
        _ => part.length * part.step.to_f64(),
    };
    let of_all: f64 = parts.iter().map(span).sum();
    let steps = of_all / h.to_f64();
    let nats = |part: &Part| span(part) * (tilt.abs() + 1.0);
    if steps > LARGEST_KEY || parts.iter().any(|part| nats(part) > MOST_NATS) || of_all > MOST_NATS_OF_ALL {
        return Cost::IMPOSSIBLE;
    }
    let words = Fineness::of_sum(sum, cut).words as f64;
    let convolved: f64 = pieces.iter().zip(&parts).map(|((_, group), part)| work(group, part.length, cut, words)).sum();
    let plan = Plan::new(parts);
    let [first, second] = plan.lengths;
    let entries = first + second;
    let mantissa = f64::from(mantissa);
    // Nanoseconds of a word of a convolution, of an entry of a column, of a pair that is sorted, and of a step of a pass; the factor 0.4
    // below was measured on a hundred random sums.
    let product = 4.0 + 2.0 * mantissa * mantissa;
    let sorting = 3.0 * libm::log2(entries.max(2.0));
    let each = entries * passes * product;
    let making = 0.4
        * ((convolved + plan.merged * OF_MERGER) * words + plan.columns * (600.0 + 4.0 * product) + entries * sorting);
    // Entries of a key and two places, columns of four numbers and a key, and the peak memory of a convolution.
    let of_entry = 8.0
        + if steps < 2f64.powi(60) {
            8.0
        } else if steps < 2f64.powi(124) {
            16.0
        } else {
            32.0
        };
    let bytes = entries * of_entry
        + plan.columns * (16.0 + 32.0 * mantissa + 32.0)
        + (plan.merged + longest(&plan)) * 64.0 * words;
    Cost { lengths: (first, second), seconds: (making + each) * 1e-9, seconds_each: each * 1e-9, bytes }
}

/// The groups, of which those with listed losses are divided into up to four with about as many copies each, as the columns of both halves are four:
/// the sums of all copies are many more than those of a few. With the place of each among the groups.
pub(super) fn pieces(groups: &[Group]) -> Vec<(usize, Group)> {
    const COLUMNS: u64 = 4;
    let of = |(k, group): (usize, &Group)| -> Vec<(usize, Group)> {
        let parts = if group.law.is_listed() { group.copies.min(COLUMNS) } else { 1 };
        let copies = |part: u64| (group.copies + part) / parts;
        (0..parts).map(|part| (k, Group { copies: copies(part), ..group.clone() })).collect()
    };
    groups.iter().enumerate().flat_map(of).collect()
}

fn longest(plan: &Plan) -> f64 {
    plan.parts.iter().map(|part| part.length).fold(0.0, f64::max)
}

/// Nanoseconds of a word of a mass where two lists are merged.
pub(super) const OF_MERGER: f64 = 300.0;
/// The approximate largest key.
const LARGEST_KEY: f64 = 7e75;
/// The largest number of sums of losses on no common lattice.
const MOST_SUMS: f64 = 2e6;
/// The longest list of losses of one bounded term.
const LARGEST_LIST: u64 = 200_001;

/// The number of masses of a group that are kept: those of a sub-Gaussian law of this variance, or of one that falls as fast as one term does where
/// that is slower. `None` where there are too many to count.
pub(super) fn length(group: &Group, variance: f64, tilt: f64, cut: f64) -> Option<f64> {
    let nats = cut * std::f64::consts::LN_2;
    let steps = variance / group.weight().to_f64().powi(2);
    let wide = 2.0 * (2.0 * nats * steps).sqrt() + 3.0;
    let length = match group.law.losses(group.shift) {
        None if group.law.is_continuous() => return None,
        None => wide,
        Some(losses) => {
            if losses > LARGEST_LIST {
                return None;
            }
            if group.law.is_listed() {
                return Some(multisets(losses, group.copies)).filter(|sums| *sums < MOST_SUMS);
            }
            let all = (losses - 1) as f64 * group.copies as f64 + 1.0;
            // Far from the largest loss the tilted masses fall at least as those of a discrete Laplace of this step.
            let slope = (group.weight().to_f64() / 2.0 * (1.0 + 2.0 * tilt)).abs();
            (wide + nats / slope).min(all)
        }
    };
    (length < 1e8).then_some(length)
}

/// How many multisets of this number of copies there are: the sums of as many losses, where no two are equal for another reason than their order.
fn multisets(losses: u64, copies: u64) -> f64 {
    // C(losses + copies - 1, the smaller of both).
    let (all, chosen) = (losses + copies - 1, copies.min(losses - 1));
    let mut product = 1.0;
    for k in 0..chosen {
        product *= (all - k) as f64 / (k + 1) as f64;
        if product > 1e12 {
            break;
        }
    }
    product
}

/// Nanoseconds to compute the masses of one term and to convolve them. A product of long numbers takes more than proportional time by the word.
pub(super) fn work(group: &Group, length: f64, cut: u32, words: f64) -> f64 {
    if terms::off_if_fine(group, cut).is_some() {
        return 90.0 * libm::pow(words / 2.0, 1.6) * length;
    }
    let single = match (group.law.losses(group.shift), group.law.sigma2()) {
        (None, Some(sigma2)) => {
            2.0 * (2.0 * sigma2.to_f64() * f64::from(cut + 40) * std::f64::consts::LN_2).sqrt() + 3.0
        }
        (losses, _) => losses.unwrap_or(1) as f64 - 1.0,
    };
    let convolutions = if group.copies > 1 { 3.0 } else { 0.0 };
    1200.0 * libm::pow(words / 2.0, 1.6) * single + convolutions * 300.0 * length * words
}
