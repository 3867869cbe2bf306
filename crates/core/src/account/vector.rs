//! The privacy cost of a vector of counts with independent noise.

use super::Counts;
use crate::{error::Result, noise::VectorMechanism};

impl VectorMechanism {
    /// The counts that differ between neighbors, for an account: `changed` coordinates, each by `shift`. Coordinates that are the same on
    /// both sides cost nothing, however long the vector is.
    ///
    /// Its zCDP budget is [`Counts::rho`]: for a mechanism of budget rho, D^2 rho with the squared distance D^2 = changed shift^2
    /// (SafeTab-P, Lemma 5 for added and Lemma 6 for changed records). Its pure DP budget is [`Counts::pure_epsilon`].
    pub fn counts(&self, changed: u64, shift: u64) -> Result<Counts> {
        Counts::new(self.law().clone(), changed, shift)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Composition;
    use super::*;
    use crate::{loss::testing::law, noise::Streams, numeric::rational::parse};

    #[test]
    fn a_vector_spends_what_its_changed_coordinates_spend() {
        let rho = parse("0.159").unwrap();
        let mechanism = VectorMechanism::for_rho(&rho).unwrap();
        assert_eq!(mechanism.counts(1, 1).unwrap().rho(), rho);
        assert_eq!(mechanism.counts(1, 3).unwrap().rho(), rho.clone() * 9_u32);
        assert_eq!(mechanism.counts(2, 3).unwrap().rho(), rho.clone() * 18_u32);
        assert_eq!(mechanism.counts(1, 1).unwrap().pure_epsilon(), None);
        // The two stages of SafeTab-P, gamma and 1 - gamma of the budget, compose to the whole.
        let gamma = parse("1/10").unwrap();
        let first = VectorMechanism::for_rho(&(gamma.clone() * &rho)).unwrap().counts(1, 1).unwrap();
        let second = VectorMechanism::for_rho(&((1 - gamma) * &rho)).unwrap().counts(1, 1).unwrap();
        assert_eq!(*Composition::new([first, second]).unwrap().rho(), rho);
        let epsilon = parse("2/3").unwrap();
        let pure = VectorMechanism::for_pure_epsilon(&epsilon).unwrap();
        assert_eq!(pure.counts(1, 1).unwrap().pure_epsilon(), Some(epsilon));
    }

    #[test]
    fn impossible_budgets_and_sums_are_refused() {
        assert!(VectorMechanism::for_rho(&parse("0").unwrap()).is_err());
        assert!(VectorMechanism::for_rho(&parse("-1").unwrap()).is_err());
        assert!(VectorMechanism::for_pure_epsilon(&parse("0").unwrap()).is_err());
        assert!(VectorMechanism::new(law("gaussian:5")).is_err());
        let mechanism = VectorMechanism::for_rho(&parse("1").unwrap()).unwrap();
        let mut streams = Streams::with_insecure_seed(1);
        assert!(mechanism.release(&[i64::MAX; 100], &mut streams).is_err());
        assert!(mechanism.release(&[], &mut streams).unwrap().is_empty());
        assert!(mechanism.counts(0, 1).is_err());
    }
}
