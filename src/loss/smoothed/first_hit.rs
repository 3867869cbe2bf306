//! Where multiples of a number fall into a window, modulo another: found by the steps of Euclid's algorithm, not one by one.

/// The least n >= 0 with low <= n step mod modulus <= high, where that is at most `most`; for step < modulus and
/// low <= high < modulus. `None` as well where a product passes 2^128.
///
/// If no multiple of the step itself lies in the window, n steps go around `turns` times: n step - turns modulus lies in it, so that
/// turns (-modulus) mod step lies in the window's image modulo the step, which has no end inside. The least such number of turns
/// is the same question about smaller numbers; the step is first made at most half of the modulus, so there are at most 128 of them.
fn first(step: u128, modulus: u128, low: u128, high: u128, most: u128) -> Option<u128> {
    if low == 0 {
        return Some(0);
    }
    if step == 0 {
        return None;
    }
    if step > modulus - step {
        return first(modulus - step, modulus, modulus - high, modulus - low, most);
    }
    let direct = low.div_ceil(step);
    let n = if direct * step <= high {
        direct
    } else {
        let back = (step - modulus % step) % step;
        let turns = first(back, step, low % step, high % step, most)?;
        turns.checked_mul(modulus)?.checked_add(low)?.div_ceil(step)
    };
    (n <= most).then_some(n)
}

/// The least n from 0 to `most` with (start + n step) mod modulus <= width; all below the modulus.
pub(super) fn first_hit(start: u128, step: u128, modulus: u128, width: u128, most: u128) -> Option<u128> {
    if start <= width {
        return Some(0);
    }
    first(step, modulus, modulus - start, modulus - (start - width), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against all n one by one, for every small modulus and step.
    #[test]
    fn the_first_hit_is_that_of_trying_all() {
        let mut hits = 0;
        for modulus in 1..40_u128 {
            for step in 0..modulus {
                for width in [0, 1, modulus / 5, modulus - 1].into_iter().filter(|width| *width < modulus) {
                    for start in 0..modulus {
                        for most in [0, 3, 100] {
                            let tried = (0..=most).find(|n| (start + n * step) % modulus <= width);
                            assert_eq!(first_hit(start, step, modulus, width, most), tried);
                            hits += usize::from(tried.is_some());
                        }
                    }
                }
            }
        }
        assert!(hits > 100_000, "{hits}");
    }

    /// Large numbers: what is found is a hit, and none before it is, as the next one after each shows.
    #[test]
    fn hits_of_large_numbers_are_found_in_order() {
        let (modulus, step, width) = (10_u128.pow(28) + 7, 6_180_339_887_498_948_482_045_868_343, 10_u128.pow(24));
        let tried: Vec<u128> = (0..200_000).filter(|n| (5 + n * step) % modulus <= width).collect();
        let mut found = Vec::new();
        let mut next = 0;
        while let Some(n) = first_hit((5 + next * step) % modulus, step, modulus, width, 199_999 - next) {
            found.push(next + n);
            next += n + 1;
            if next > 199_999 {
                break;
            }
        }
        assert_eq!(found, tried);
        assert!(found.len() > 10);
    }
}
