//! The queries whose noise is to be chosen, and the requirements on each.

use rug::Rational;

use crate::{
    account::Counts,
    error::{Error, Result},
    numeric::rational,
};

/// A query whose noise is to be chosen.
#[derive(Clone, Debug)]
pub struct QueryTarget {
    /// Its name.
    pub name: String,
    /// The number of its counts that one record changes.
    pub count: u64,
    /// The change of each of them.
    pub shift: u64,
    /// The cost of one unit of expected squared error on one of its counts, above 0.
    pub weight: Rational,
    /// The least variance proxy allowed.
    pub least: Rational,
    /// The greatest variance proxy allowed, if there is one.
    pub most: Option<Rational>,
}

impl QueryTarget {
    /// count shift^2: twice sigma2 times the rho that the query spends.
    pub(super) fn moved(&self) -> Rational {
        Rational::from(self.shift).square() * self.count
    }
}

/// The largest number of queries.
pub(super) const MOST_QUERIES: usize = 1000;

/// The largest variance proxy tried for a query without a greatest one, which is the largest possible: a limit of the search, not a bound
/// of the user's.
pub(super) const MOST_SIGMA2: u64 = 1_000_000_000_000_000_000;

pub(super) fn check(targets: &[QueryTarget]) -> Result<()> {
    if !(1..=MOST_QUERIES).contains(&targets.len()) {
        return Err(Error::out_of_range("the number of queries", targets.len(), "1 to 1000 queries"));
    }
    for target in targets {
        let named = |what: &str| format!("{what} of {:?}", target.name);
        if target.weight <= 0 {
            return Err(Error::out_of_range(&named("weight"), rational::display(&target.weight), "a weight above 0"));
        }
        Counts::discrete_gaussian(target.least.clone(), target.count, target.shift)?;
        if let Some(most) = target.most.as_ref().filter(|most| **most < target.least) {
            let expected = format!(
                "at least its least sigma2 = {}: a wider accuracy target or a smaller least_sigma2",
                rational::display(&target.least)
            );
            return Err(Error::out_of_range(&named("the most sigma2"), rational::display(most), &expected));
        }
    }
    Ok(())
}

/// The largest variance proxy that is tried: the greatest allowed, or the limit of the search.
pub(super) fn most_tried(target: &QueryTarget) -> Rational {
    target.most.clone().unwrap_or_else(|| Rational::from(MOST_SIGMA2))
}
