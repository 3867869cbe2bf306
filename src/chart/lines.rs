//! The trade-off function that points of the privacy profile imply, for plotting.

/// The polygon below the trade-off function from points (epsilon, delta) of a profile, epsilon increasing from 0.
/// Returns points (alpha, beta) from left to right.
///
/// For a symmetric pair f(alpha) is the maximum over all epsilon of 1 - delta - exp(epsilon) alpha and of the same
/// lines mirrored at alpha = beta. Finitely many of these lines give a lower bound on f, so the plot is never better
/// than the truth, except for the rounding of doubles. Two consecutive lines meet at alpha = (delta_k - delta_(k+1)) /
/// (exp(epsilon_(k+1)) - exp(epsilon_k)).
pub fn tradeoff_of_profile(profile: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let Some((_, last)) = profile.last() else { return Vec::new() };
    // From the left: the start of the steepest line, then the corners, the steepest line first.
    let (mut left, mut above) = (0.0, 1.0 - last);
    let mut half = vec![(left, above)];
    for pair in profile.windows(2).rev() {
        let ((near, more), (far, less)) = (pair[0], pair[1]);
        let alpha = (more - less).max(0.0) / (libm::exp(far) - libm::exp(near));
        let beta = 1.0 - more - libm::exp(near) * alpha;
        // Many lines meet at a corner of f; rounding may place such a corner before the last one.
        if left <= alpha && alpha <= beta && beta <= above {
            (left, above) = (alpha, beta);
            half.push((alpha, beta));
        }
    }
    let mirrored: Vec<(f64, f64)> = half.iter().rev().map(|(alpha, beta)| (*beta, *alpha)).collect();
    half.extend(mirrored);
    half
}

#[cfg(test)]
mod tests {
    use rug::Rational;

    use super::*;
    use crate::account::{Account, Composition};

    #[test]
    fn the_polygon_touches_the_certified_trade_off_function_from_below() {
        for counts in ["5x10", "50x3@2", "5@3"] {
            let composition = Composition::new([counts.parse().unwrap()]).unwrap();
            let grid: Vec<Rational> = (0..=64).map(|k| Rational::from((k, 8))).collect();
            let profile: Vec<(f64, f64)> = (composition.curve(&grid, 10).unwrap().iter())
                .map(|point| (point.epsilon.to_f64(), point.delta.value.approximate()))
                .collect();
            let polygon = tradeoff_of_profile(&profile);
            assert!(polygon.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 >= pair[1].1), "{counts}");
            assert!(polygon.len() > 3, "{counts}: {}", polygon.len());
            for (alpha, beta) in polygon {
                let exact = composition.tradeoff(&Rational::from_f64(alpha).unwrap(), 8).unwrap().value.approximate();
                assert!(beta <= exact + 1e-9 && beta > exact - 0.02, "{counts}: {alpha} {beta} {exact}");
            }
        }
    }

    #[test]
    fn no_points_give_no_polygon_and_no_loss_gives_the_diagonal() {
        assert!(tradeoff_of_profile(&[]).is_empty());
        assert_eq!(tradeoff_of_profile(&[(0.0, 0.0), (1.0, 0.0)]).first(), Some(&(0.0, 1.0)));
        assert_eq!(tradeoff_of_profile(&[(0.0, 0.0), (1.0, 0.0)]).last(), Some(&(1.0, 0.0)));
    }
}
