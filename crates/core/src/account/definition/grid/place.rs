//! Losses placed on a grid, in the direction that is certain.
//!
//! Upward, the probability of an outcome is divided among both neighboring points so that both hypotheses keep theirs: the outcome is a function of which point it
//! is (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022). Downward, outcomes above a point are merged with parts of outcomes below it until the likelihood ratio of all
//! together is that of the point: what is merged is a function of the outcome. Neither moves the mean likelihood ratio, so that the error of both is of second order in the step.
//!
//! exp, exp_m1 and ln of doubles are taken to err by less than a relative 2^-50.

use super::super::listed::Outcome;

/// A loss this close below a point of the grid, in steps, is on it in the measure that is at least as private.
pub(super) const ON_POINT: f64 = 1e-9;
/// Ends of a loss that are closer than this, in steps, are as good as one.
const ONE_LOSS: f64 = 1e-7;
/// Far above a few roundings of a relative 2^-50.
const ROUNDING: f64 = 2e-14;

/// Above the rounding of one sum for each outcome, of which there are at most 80,000: 80,000 times 2^-53.
const MERGED: f64 = 1e-11;

/// A probability whose loss is somewhere within an interval; all in steps from the first point of the grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mass {
    p: f64,
    low: f64,
    high: f64,
    /// The loss of all of it together: at most, or at least.
    mean: f64,
}

impl Mass {
    /// The mass of one loss.
    pub fn at(p: f64, loss: f64) -> Self {
        Mass { p, low: loss, high: loss, mean: loss }
    }

    /// The mass of an outcome, with the end of its probability that is certain for the measure.
    pub fn of_outcome(one: &Outcome, start: f64, step: f64, is_above: bool) -> Self {
        let steps_of = |loss: f64| ((loss - start) / step).max(0.0);
        let (low, high) = (steps_of(one.loss.lower), steps_of(one.loss.upper));
        let p = if is_above { one.p.upper } else { one.p.lower };
        if high - low < ONE_LOSS {
            return Mass::at(p, if is_above { high } else { low });
        }
        // ln(p / q), by the ends that are certain; the logarithm errs by 2^-50 of itself, and by that of the quotient.
        let ratio = if is_above { one.p.upper / one.q.lower } else { one.p.lower / one.q.upper };
        let ln = libm::log(ratio);
        let rounding = ROUNDING * (1.0 + ln.abs());
        let of_masses = if is_above { ln + rounding } else { ln - rounding };
        let mean = match (of_masses.is_nan(), is_above) {
            (true, true) => one.loss.upper,
            (true, false) => one.loss.lower,
            (false, true) => one.loss.upper.min(of_masses),
            (false, false) => one.loss.lower.max(of_masses),
        };
        Mass { p, low, high, mean: steps_of(mean) }
    }
}

/// Outcomes that are being merged to the point k.
#[derive(Clone, Copy, Debug, Default)]
struct Bundle {
    k: f64,
    p: f64,
    /// By how much e^-k is above their own likelihood ratio, in parts of e^-k: the sum of p (1 - e^-(loss - k)).
    excess: f64,
    /// The sum of its parts above zero.
    gross: f64,
}

impl Bundle {
    /// With a loss of k or more.
    fn with(self, p: f64, loss: f64, step: f64) -> Self {
        let added = -p * libm::expm1(-(loss - self.k) * step);
        Bundle { p: self.p + p, excess: self.excess + added, gross: self.gross + added, ..self }
    }
}

/// The masses at the points of a grid that are at most as private.
pub(super) fn place_above(all: &[Mass], step: f64) -> Vec<f64> {
    let most = all.iter().map(|one| one.high).fold(0.0, f64::max);
    let mut masses = vec![0.0; most as usize + 2];
    let mut put = |k: f64, p: f64| {
        let k = k as usize;
        masses[k] = (masses[k] + p).next_up();
    };
    for one in all {
        let low = one.low.floor();
        let high = one.high.ceil().max(low + 1.0);
        // (1 - e^-(mean - low)) / (1 - e^-(high - low)) of it at the upper point, and the rest at the lower.
        let share = libm::expm1(-(one.mean - low).clamp(0.0, high - low) * step) / libm::expm1(-(high - low) * step);
        put(low, one.p * (1.0 - share + ROUNDING).clamp(0.0, 1.0));
        if share > 0.0 {
            put(high, one.p * (share * (1.0 + ROUNDING)).min(1.0));
        }
    }
    while masses.last() == Some(&0.0) {
        masses.pop();
    }
    masses
}

/// The masses at the points of a grid that are at least as private, and how far losses may be above the truth.
pub(super) fn place_below(mut all: Vec<Mass>, step: f64) -> (Vec<f64>, f64) {
    // From the largest loss down. An interval counts with the loss of all of it together.
    all.sort_by(|one, other| other.mean.total_cmp(&one.mean));
    let most = all.first().map_or(0.0, |one| one.mean + 1.0);
    let mut masses = vec![0.0; most as usize + 2];
    // The parts of an outcome, rounded, may be more than all of it together by less than this.
    let mut put = |k: f64, p: f64| masses[k as usize] = (masses[k as usize] + p * (1.0 - MERGED)).next_down().max(0.0);
    let mut bundle: Option<Bundle> = None;
    for one in all {
        let (mut left, loss) = (one.p, one.mean + ON_POINT);
        while left > 0.0 {
            let Some(mut own) = bundle.take() else {
                bundle = Some(Bundle { k: loss.floor(), ..Bundle::default() }.with(left, loss, step));
                break;
            };
            if loss >= own.k {
                bundle = Some(own.with(left, loss, step));
                break;
            }
            let deficit = libm::expm1((own.k - loss) * step);
            // Less than what would use up the excess, by more than all roundings of it.
            let enough = (own.excess - MERGED * own.gross).max(0.0) * (1.0 - ROUNDING) / deficit;
            if enough > left {
                own.p += left;
                own.excess -= left * deficit;
                bundle = Some(own);
                break;
            }
            put(own.k, own.p + enough);
            left -= enough;
        }
    }
    // Its excess is not used up, so that its loss is above the point.
    if let Some(own) = bundle {
        put(own.k, own.p);
    }
    (masses, ON_POINT * step)
}
