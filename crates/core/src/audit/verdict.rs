//! Holm's correction over all tests, and the verdict.

use rug::Rational;

use super::{battery::at_most, proven::ProvenP};

/// The outcome of all tests together.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The corrected p-value of each test: at most the false alarm rate if the test rejects.
    pub corrected: Vec<ProvenP>,
    /// The tests that reject, the least p-value first.
    pub rejected: Vec<usize>,
    /// Upper bound on the probability that true draws are reported as deviating.
    pub false_alarm_rate: Rational,
}

impl Verdict {
    /// Holm's step-down procedure: the k-th smallest of m p-values is multiplied by m - k + 1. The probability that any test rejects
    /// is at most `false_alarm_rate` if all draws have their declared laws, for any dependence between the tests.
    pub fn new(ps: &[ProvenP], false_alarm_rate: &Rational) -> Verdict {
        let mut order: Vec<usize> = (0..ps.len()).collect();
        order.sort_by(|a, b| ps[*a].order(ps[*b]));
        let mut corrected = vec![ProvenP::ONE; ps.len()];
        let mut before: Option<ProvenP> = None;
        for (rank, at) in order.iter().enumerate() {
            let own = ps[*at].times((ps.len() - rank) as u64);
            let own = before.map_or(own, |before| if before.ln() > own.ln() { before } else { own });
            corrected[*at] = own;
            before = Some(own);
        }
        let rejected = order.into_iter().filter(|at| at_most(corrected[*at], false_alarm_rate)).collect();
        Verdict { corrected, rejected, false_alarm_rate: false_alarm_rate.clone() }
    }

    /// Whether any test rejects.
    pub fn deviates(&self) -> bool {
        !self.rejected.is_empty()
    }

    /// The key in JSON.
    pub fn key(&self) -> &'static str {
        if self.deviates() { "deviates" } else { "consistent" }
    }
}

#[cfg(test)]
mod tests {
    use rug::Float;

    use super::*;

    #[test]
    fn p_values_are_corrected_step_by_step() {
        let p = |value: f64| ProvenP::of_ln(&Float::with_val(64, value).ln());
        let ps = [p(0.01), p(0.04), p(0.03), p(0.005)];
        let verdict = Verdict::new(&ps, &Rational::from((6, 100)));
        // Holm (1979): 4 x 0.005, 3 x 0.01, 2 x 0.03, then the maximum so far.
        for (own, expected) in verdict.corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            let own = own.value().to_f64();
            assert!(own >= expected * (1.0 - 1e-12) && own <= expected * (1.0 + 1e-12), "{own} {expected}");
        }
        assert_eq!(verdict.rejected[..2], [3, 0]);
        let strict = Verdict::new(&ps, &Rational::from((1, 100)));
        assert!(!strict.deviates() && strict.key() == "consistent");
        assert!(!Verdict::new(&[], &Rational::from((1, 2))).deviates());
    }
}
