//! The parameters of the field, checked once when they are made: a value of one of these types needs no further check.
//!
//! Each is an exact rational in its range and dereferences to it. Functions accept any type that converts to one, such as a rational or the text of a
//! number, and refuse a value out of range with an error that gives the range.

use std::{fmt, ops::Deref, str::FromStr};

use rug::Rational;

use crate::{
    error::{Error, Result},
    numeric::rational,
};

/// A rational with a range: the type, its conversions and its text.
macro_rules! parameter {
    ($(#[$doc:meta])* $name:ident, $what:literal, $expected:literal, |$value:ident| $holds:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Rational);

        impl $name {
            /// The quantity, or an error if it is out of range.
            pub fn new($value: Rational) -> Result<Self> {
                if $holds {
                    Ok($name($value))
                } else {
                    Err(Error::out_of_range($what, rational::display(&$value), $expected))
                }
            }
        }

        impl Deref for $name {
            type Target = Rational;

            fn deref(&self) -> &Rational {
                &self.0
            }
        }

        impl PartialEq<Rational> for $name {
            fn eq(&self, other: &Rational) -> bool {
                self.0 == *other
            }
        }

        impl PartialEq<i32> for $name {
            fn eq(&self, other: &i32) -> bool {
                self.0 == *other
            }
        }

        impl From<$name> for Rational {
            fn from(value: $name) -> Rational {
                value.0
            }
        }

        impl From<&$name> for $name {
            fn from(value: &$name) -> $name {
                value.clone()
            }
        }

        impl TryFrom<Rational> for $name {
            type Error = Error;

            fn try_from(value: Rational) -> Result<Self> {
                $name::new(value)
            }
        }

        impl TryFrom<&Rational> for $name {
            type Error = Error;

            fn try_from(value: &Rational) -> Result<Self> {
                $name::new(value.clone())
            }
        }

        impl TryFrom<&str> for $name {
            type Error = Error;

            fn try_from(text: &str) -> Result<Self> {
                $name::new(rational::parse(text)?)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                text.try_into()
            }
        }

        /// The exact decimal, or the fraction where it has none.
        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
                out.write_str(&rational::display(&self.0))
            }
        }
    };
}

/// The largest epsilon that is accounted for, in nats.
const MOST_EPSILON: u64 = 1_000_000_000_000_000;

parameter!(
    /// A privacy parameter epsilon in nats, from 0 to 10^15.
    Epsilon, "epsilon", "0 <= epsilon <= 1e15", |value| value >= 0 && value <= MOST_EPSILON
);

parameter!(
    /// A probability delta, above 0 and below 1.
    Delta,
    "delta",
    "a probability 0 < delta < 1 (at delta = 0 only noise of bounded loss has a finite epsilon: its largest loss)",
    |value| value > 0 && value < 1
);

parameter!(
    /// The rho of zero-concentrated differential privacy in nats, above 0.
    Rho, "rho", "a budget above 0 (at rho = 0 nothing is published)", |value| value > 0
);

parameter!(
    /// The variance proxy of noise in squared counts, from 10^-6 to 10^18: the sigma2 of N_Z(0, sigma2), with mass
    /// proportional to exp(-x^2 / (2 sigma2)), or the variance of continuous Gaussian noise.
    Sigma2, "sigma2", "a variance proxy above 0, from 1e-6 to 1e18", |value| {
        let least = Rational::from((1, 1_000_000));
        value >= least && value <= 1_000_000_000_000_000_000_u64
    }
);

/// An exact number whose range is stated where it is used, such as a parameter of a law in its own unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exact(Rational);

impl From<Rational> for Exact {
    fn from(number: Rational) -> Self {
        Exact(number)
    }
}

impl From<&Rational> for Exact {
    fn from(number: &Rational) -> Self {
        Exact(number.clone())
    }
}

impl TryFrom<&str> for Exact {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self> {
        rational::parse(text).map(Exact)
    }
}

impl From<Exact> for Rational {
    fn from(number: Exact) -> Rational {
        number.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        for text in ["0", "1", "-1e-5", "2"] {
            let refused = Delta::try_from(text).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("delta = {text} is out of range")), "{refused}");
        }
        assert!(Epsilon::try_from("-1/7").is_err() && Epsilon::try_from("1e16").is_err());
        assert!(Rho::try_from("0").is_err() && Sigma2::try_from("1e-7").is_err() && Sigma2::try_from("1e19").is_err());
        assert!(Epsilon::try_from("0").is_ok() && Sigma2::try_from("1e-6").is_ok() && Sigma2::try_from("1e18").is_ok());
        assert!("1e-11".parse::<Delta>().is_ok() && "NaN".parse::<Delta>().is_err());
        assert_eq!(Delta::try_from("0.00001").unwrap().to_string(), "1e-5");
    }
}
