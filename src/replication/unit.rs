//! How a printed text is to be read.

/// How to read a printed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A privacy parameter in nats, rounded to the printed digits.
    Nats,
    /// A percentage, rounded to the printed digits.
    Percent,
    /// A variance proxy, rounded to the printed digits.
    Sigma2,
    /// A share of a privacy budget, rounded to the printed digits.
    Rho,
    /// A probability, rounded to the printed digits.
    Probability,
    /// A ratio of probabilities, rounded to the printed digits.
    Ratio,
    /// A sum of budgets or a whole number, exact.
    Sum,
    /// An exact number at or above the true value, by less than 10^-5.
    RoundedUp,
    /// Rounded up at the last printed digit.
    RoundedUpAtDigit,
    /// Truncated after the last printed digit.
    Truncated,
    /// Within one unit of the last printed digit.
    About,
    /// An upper bound: the true value must not exceed it.
    Bound,
    /// A lower bound: the true value must not be below it.
    Least,
    /// A lower bound in percent.
    LeastPercent,
    /// A statement that holds or not.
    Claim,
}

impl Unit {
    /// All of them, by their names in files.
    pub const ALL: &[(&str, Unit)] = &[
        ("nats", Unit::Nats),
        ("rho", Unit::Rho),
        ("probability", Unit::Probability),
        ("percent", Unit::Percent),
        ("sigma2", Unit::Sigma2),
        ("ratio", Unit::Ratio),
        ("sum", Unit::Sum),
        ("bound", Unit::Bound),
        ("least", Unit::Least),
        ("least-percent", Unit::LeastPercent),
        ("rounded-up", Unit::RoundedUp),
        ("rounded-up-at-digit", Unit::RoundedUpAtDigit),
        ("truncated", Unit::Truncated),
        ("about", Unit::About),
        ("claim", Unit::Claim),
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        Unit::ALL.iter().find(|(_, unit)| *unit == self).map_or("", |(name, _)| name)
    }

    /// Whether a number alone stands for all numbers that round to its digits; a printed qualifier may override this.
    pub fn is_rounded(self) -> bool {
        matches!(self, Unit::Nats | Unit::Percent | Unit::Sigma2 | Unit::Rho | Unit::Probability | Unit::Ratio)
    }
}
