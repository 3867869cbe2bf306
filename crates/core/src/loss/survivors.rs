//! Survivors of a sweep of the sieve: intervals of heights with bounds on the product there, and their weights.

/// The result of a sweep.
#[derive(Clone, Debug, Default)]
pub(crate) struct Swept {
    /// Intervals that cover every height at which the product may exceed its target, the heaviest first.
    pub survivors: Vec<Survivor>,
    /// The total weight of the survivors from each index on.
    tails: Vec<Weight>,
    /// The cut of the sweep: weights are in units of exp(-cut).
    cut: f64,
    /// The height up to which the survivors cover all such heights.
    pub reached: f64,
    /// The number of windows that were examined for them.
    pub windows: u64,
}

/// An interval of heights, with an upper bound on ln of the product there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Survivor {
    pub from: f64,
    pub to: f64,
    pub(super) ln_bound: f64,
}

/// Sums over intervals of b (to - from) / from^k and b / from^k for k = 1 and 2, where b bounds the product in units of
/// exp(-cut).
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    long: [f64; 2],
    short: [f64; 2],
}

impl Survivor {
    /// Whether it also survives the target exp(-cut) t / from of another request.
    pub(crate) fn matters(&self, from: f64, cut: f64) -> bool {
        let floor = -(cut + 1e-6 * (1.0 + cut));
        self.ln_bound > floor && self.to >= from && self.ln_bound > floor + libm::log(self.from.max(from) / from)
    }

    /// The unit exp(-cut) keeps the weights of products below 1e-308 from becoming zero: a survivor is above the target, so here b is at least about
    /// 1 / from. Where b overflows the weight is infinite, and nothing is dropped.
    fn weight(&self, cut: f64) -> Weight {
        // A quotient that underflows is raised to the smallest normal double; one by a power that overflows becomes infinite.
        let each = |k: i32| {
            let power = self.from.powi(k);
            let quotient = libm::exp(self.ln_bound * (1.0 - 1e-6) + cut) / power;
            if power.is_finite() { quotient + f64::MIN_POSITIVE } else { f64::INFINITY }
        };
        let length = self.to - self.from;
        Weight { long: [each(1) * length, each(2) * length], short: [each(1), each(2)] }
    }
}

impl Swept {
    pub(super) fn new(survivors: Vec<Survivor>, (reached, windows): (f64, u64), resolution: f64, cut: f64) -> Self {
        let importance = |part: &Survivor| {
            let weight = part.weight(cut);
            weight.long[1] + resolution * weight.short[1]
        };
        // There may be millions of them, and each weight costs an exponential.
        let mut weighed: Vec<(f64, Survivor)> = survivors.into_iter().map(|part| (importance(&part), part)).collect();
        weighed.sort_by(|a, b| b.0.total_cmp(&a.0));
        let survivors: Vec<Survivor> = weighed.into_iter().map(|(_, part)| part).collect();
        let mut tails = vec![Weight::default(); survivors.len() + 1];
        for (index, part) in survivors.iter().enumerate().rev() {
            let (rest, own) = (tails[index + 1], part.weight(cut));
            let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
            tails[index] = Weight { long: add(rest.long, own.long), short: add(rest.short, own.short) };
        }
        Swept { survivors, tails, cut, reached, windows }
    }

    /// Upper bound, in units of exp(-cut), on the sum of |product| / j^decay over the nodes, `spacing` apart, in the survivors from `index` on: an
    /// interval holds at most (to - from) / spacing + 1 of them, and two more for the rounding errors of its ends.
    pub(crate) fn weight_from(&self, index: usize, spacing: f64, decay: i32, cut: f64) -> f64 {
        let (tail, k) = (&self.tails[index], if decay == 2 { 1 } else { 0 });
        // A sweep's cut is at least that of the request it serves, so this factor is at most one.
        let unit = libm::exp(cut - self.cut);
        (tail.long[k] / spacing + 3.0 * tail.short[k]) * spacing.powi(decay) * unit * (1.0 + 1e-6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the square of a height is beyond all doubles, its survivors weigh more than any target instead of zero.
    #[test]
    fn heights_whose_squares_overflow_are_never_dropped() {
        let part = Survivor { from: 1e160, to: 2e160, ln_bound: -1.0 };
        let swept = Swept::new(vec![part], (1e161, 0), 0.5, 12.0);
        assert_eq!(swept.weight_from(0, 0.5, 2, 12.0), f64::INFINITY);
        let small = Swept::new(vec![Survivor { from: 1e120, to: 2e120, ln_bound: -300.0 }], (1e121, 0), 0.5, 12.0);
        assert!(small.weight_from(0, 0.5, 2, 12.0) > 0.0);
    }

    /// b exp(cut) with b = exp(ln_bound): where both are outside the range of doubles, the weight is the same as at ordinary sizes.
    #[test]
    fn products_below_every_double_keep_their_weight() {
        let swept = |depth: f64| {
            let part = |from: f64, ln_bound: f64| Survivor { from, to: from + 3.0, ln_bound: ln_bound - depth };
            Swept::new(vec![part(10.0, -11.0), part(40.0, -9.0), part(90.0, -11.5)], (100.0, 0), 0.5, 12.0 + depth)
        };
        let near = swept(0.0);
        for depth in [500.0, 750.0, 5_000.0, 50_000.0] {
            let far = swept(depth);
            for index in 0..3 {
                for decay in [1, 2] {
                    let at = |swept: &Swept, cut| swept.weight_from(index, 0.5, decay, cut);
                    let (expected, kept) = (at(&near, 12.0), at(&far, 12.0 + depth));
                    // The bound includes a margin of 1e-6 of ln b.
                    assert!(
                        kept >= expected && kept <= expected * (2e-6 * depth).exp(),
                        "{depth} {index}: {kept} {expected}"
                    );
                }
            }
        }
    }
}
