//! Profiles that are answered in one way, without engines to choose from.

use rug::Rational;

use crate::{
    error::Result,
    loss::{answer::Answer, engine::session::Session, limit::Limit, second::SecondEnclosure},
};

/// The profile of a pair of neighbors, or the larger of both directions.
pub(crate) trait Profile: Sync {
    /// A session of requests, to be answered by the deadline.
    fn session(&self, deadline: Limit) -> Session;

    /// The hockey stick, for epsilon >= 0.
    fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Answer>;

    /// Its logarithm in doubles, an approximation without proof; where it is far from `near`, if there is such a number, a mere estimate may do.
    fn ln_hockey_stick_near(&self, epsilon: &Rational, near: Option<f64>) -> Result<f64>;

    /// Mean and standard deviation of the loss of a removed record, in doubles: for searches.
    fn mean_and_deviation_approx(&self) -> (f64, f64);

    /// Whether it may be linear between few losses that are not known here.
    fn has_steps(&self) -> bool {
        false
    }

    /// The hockey stick by means that share no code with those above.
    fn second_hockey_stick(&self, epsilon: &Rational) -> Result<SecondEnclosure>;

    /// The trade-off function by the same means, for 0 <= alpha <= 1.
    fn second_tradeoff(&self, alpha: &Rational) -> Result<SecondEnclosure>;
}
