//! Searches in doubles: bisection and golden section. What they find is a guess, which is proven elsewhere.

/// The ends of a bracket after this number of halvings: `is_low` holds up to a place between them.
#[doc(hidden)]
pub fn bisect(bracket: [f64; 2], halvings: u32, mut is_low: impl FnMut(f64) -> bool) -> [f64; 2] {
    let [mut low, mut high] = bracket;
    for _ in 0..halvings {
        let middle = f64::midpoint(low, high);
        if is_low(middle) { low = middle } else { high = middle }
    }
    [low, high]
}

/// The place of the minimum of a function that falls and then rises, by this number of rounds of golden section.
pub(crate) fn golden_section(range: [f64; 2], rounds: u32, f: impl Fn(f64) -> f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let [mut low, mut high] = range;
    let (mut p, mut q) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut fp, mut fq) = (f(p), f(q));
    for _ in 0..rounds {
        if fp <= fq {
            (high, q, fq) = (q, p, fp);
            p = high - RATIO * (high - low);
            fp = f(p);
        } else {
            (low, p, fp) = (p, q, fq);
            q = low + RATIO * (high - low);
            fq = f(q);
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found() {
        let [low, high] = bisect([0.0, 2.0], 40, |x| x * x < 2.0);
        assert!(low * low < 2.0 && high * high >= 2.0 && high - low < 1e-11);
        let place = golden_section([-3.0, 5.0], 40, |x: f64| (x - 1.25).abs());
        assert!((place - 1.25).abs() < 1e-6, "{place}");
    }
}
