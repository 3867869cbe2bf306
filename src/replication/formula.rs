//! Closed forms as data: an expression of exact numbers, evaluated as an enclosure.
//!
//! | part | meaning |
//! | --- | --- |
//! | `2.5`, `1e-10`, `pi` | an exact decimal; the number pi |
//! | `+ - * / ( )` | exact as long as all parts are decimals |
//! | `ln(x)`, `exp(x)`, `sqrt(x)` | the functions |
//! | `max(x, y)`, `min(x, y)` | the larger and the smaller of two |
//! | `zcdp_epsilon(rho, delta)` | rho + 2 sqrt(rho ln(1/delta)) |
//! | `optimal_order_epsilon(rho, delta)` | the epsilon that rho gives by the best Renyi order |
//! | `gdp_epsilon(rho, delta)`, `gdp_delta(rho, epsilon)` | continuous Gaussian noise with mu = sqrt(2 rho), exactly |

use rug::Rational;

use crate::{
    account::{
        Delta, Rho,
        conversions::{self, GaussianProfile},
    },
    error::{Error, Result, unknown},
    numeric::{Enclosure, precision, rational},
};

/// Limit on the length of a formula, in characters.
const MOST_CHARACTERS: usize = 2_000;
/// Limit on the depth of brackets within each other.
const MOST_DEPTH: usize = 40;
/// Limit on the exponent of a decimal.
const MOST_EXPONENT: f64 = 1000.0;

const FUNCTIONS: &[(&str, usize)] = &[
    ("ln", 1),
    ("exp", 1),
    ("sqrt", 1),
    ("max", 2),
    ("min", 2),
    ("zcdp_epsilon", 2),
    ("optimal_order_epsilon", 2),
    ("gdp_epsilon", 2),
    ("gdp_delta", 2),
];

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// An exact number.
    Number(Rational),
    /// The number pi.
    Pi,
    /// The negative of an expression.
    Minus(Box<Formula>),
    /// Two expressions and the sign between them: `+`, `-`, `*` or `/`.
    Two(char, Box<Formula>, Box<Formula>),
    /// A function of the list, and its arguments.
    Function(&'static str, Vec<Formula>),
}

/// A value: exact as long as it can be.
#[derive(Clone, Debug)]
enum Value {
    Exact(Rational),
    Real(Enclosure),
}

impl Formula {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Formula> {
        let wrong = |why: &str| Error::malformed("the formula", text, why);
        if text.chars().count() > MOST_CHARACTERS {
            return Err(wrong(&format!("at most {MOST_CHARACTERS} characters")));
        }
        let mut reader = Reader { left: text, depth: 0 };
        let formula = reader.sum().and_then(|formula| match reader.left.trim_start() {
            "" => Ok(formula),
            left => Err(format!("an end or a sign before {:?}", left.chars().take(20).collect::<String>())),
        });
        formula.map_err(|why| wrong(&why))
    }

    /// The exact value, if it consists of decimals and the four signs alone.
    pub fn exact(&self) -> Option<Rational> {
        Some(match self {
            Formula::Number(number) => number.clone(),
            Formula::Minus(of) => -of.exact()?,
            Formula::Two(sign, a, b) => {
                let (a, b) = (a.exact()?, b.exact()?);
                match sign {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    _ if b.is_zero() => return None,
                    _ => a / b,
                }
            }
            Formula::Pi | Formula::Function(..) => return None,
        })
    }

    /// Encloses the value, to about 10^-digits. An error where it is not finite.
    pub fn enclose(&self, digits: u32) -> Result<Enclosure> {
        let bits = precision::bits(digits, 128);
        let value = real(&self.value(bits, digits)?, bits);
        if !value.lower().is_finite() || !value.upper().is_finite() {
            return Err(Error::Unbounded { what: "the value of the formula" });
        }
        Ok(value)
    }

    fn value(&self, bits: u32, digits: u32) -> Result<Value> {
        Ok(match self {
            Formula::Number(number) => Value::Exact(number.clone()),
            Formula::Pi => Value::Real(Enclosure::pi(bits)),
            Formula::Minus(of) => match of.value(bits, digits)? {
                Value::Exact(value) => Value::Exact(-value),
                Value::Real(value) => Value::Real(value.negate()),
            },
            Formula::Two(sign, a, b) => two(*sign, &a.value(bits, digits)?, &b.value(bits, digits)?, bits)?,
            Formula::Function(name, arguments) => {
                let all = arguments.iter().map(|one| one.value(bits, digits)).collect::<Result<Vec<_>>>()?;
                Value::Real(function(name, &all, bits, digits)?)
            }
        })
    }
}

fn real(value: &Value, bits: u32) -> Enclosure {
    match value {
        Value::Exact(value) => Enclosure::rational(value, bits),
        Value::Real(value) => value.clone(),
    }
}

fn two(sign: char, a: &Value, b: &Value, bits: u32) -> Result<Value> {
    if sign == '/' {
        let divisor = real(b, bits);
        if *divisor.lower() <= 0 && *divisor.upper() >= 0 {
            return Err(Error::unsuitable("the formula divides by zero"));
        }
    }
    Ok(match (a, b) {
        (Value::Exact(a), Value::Exact(b)) => Value::Exact(match sign {
            '+' => Rational::from(a + b),
            '-' => Rational::from(a - b),
            '*' => Rational::from(a * b),
            _ => Rational::from(a / b),
        }),
        _ => {
            let (a, b) = (real(a, bits), real(b, bits));
            Value::Real(match sign {
                '+' => a.add(&b),
                '-' => a.sub(&b),
                '*' => a.mul(&b),
                _ => a.div(&b),
            })
        }
    })
}

fn function(name: &str, arguments: &[Value], bits: u32, digits: u32) -> Result<Enclosure> {
    let at = |place: usize| {
        let value = arguments.get(place).ok_or_else(|| Error::fault("a function of a formula without argument"))?;
        Ok::<Enclosure, Error>(real(value, bits))
    };
    let exact = |place: usize, what: &str| match arguments.get(place) {
        Some(Value::Exact(value)) => Ok(value.clone()),
        Some(Value::Real(_)) | None => Err(Error::unsuitable(format!("{name}: {what} must be made of decimals alone"))),
    };
    let (rho, delta) = (|| exact(0, "rho").and_then(Rho::new), || exact(1, "delta").and_then(Delta::new));
    Ok(match name {
        "ln" | "sqrt" => {
            let of = at(0)?;
            if *of.lower() < 0 || (name == "ln" && of.lower().is_zero()) {
                return Err(Error::unsuitable(format!("{name} of a number that is not proven to be positive")));
            }
            if name == "ln" { of.ln() } else { of.sqrt() }
        }
        "exp" => at(0)?.exp(),
        "max" => at(0)?.max(&at(1)?),
        "min" => at(0)?.negate().max(&at(1)?.negate()).negate(),
        "zcdp_epsilon" => conversions::zcdp_epsilon(&rho()?, &delta()?, digits),
        "optimal_order_epsilon" => conversions::zcdp_epsilon_optimal(&rho()?, &delta()?)?.epsilon,
        "gdp_epsilon" => GaussianProfile::new(rho()?).epsilon(&delta()?, digits)?,
        "gdp_delta" => {
            let (profile, epsilon) = (GaussianProfile::new(rho()?), at(1)?);
            let end = |end: Option<Rational>| end.ok_or(Error::Unbounded { what: "epsilon" });
            // delta decreases in epsilon: over an interval it lies between its values at both ends.
            let (low, high) = (end(epsilon.lower_rational())?, end(epsilon.upper_rational())?);
            profile.delta(&low, digits).hull(&profile.delta(&high, digits))
        }
        other => return Err(Error::fault(format!("the function {other} of a formula is not evaluated"))),
    })
}

struct Reader<'a> {
    left: &'a str,
    depth: usize,
}

type Read<T> = std::result::Result<T, String>;

impl Reader<'_> {
    fn sign(&mut self, signs: &[char]) -> Option<char> {
        let left = self.left.trim_start();
        let found = left.chars().next().filter(|first| signs.contains(first))?;
        self.left = &left[found.len_utf8()..];
        Some(found)
    }

    fn sum(&mut self) -> Read<Formula> {
        let mut sum = self.product()?;
        while let Some(sign) = self.sign(&['+', '-']) {
            sum = Formula::Two(sign, Box::new(sum), Box::new(self.product()?));
        }
        Ok(sum)
    }

    fn product(&mut self) -> Read<Formula> {
        let mut product = self.factor()?;
        while let Some(sign) = self.sign(&['*', '/']) {
            product = Formula::Two(sign, Box::new(product), Box::new(self.factor()?));
        }
        Ok(product)
    }

    fn factor(&mut self) -> Read<Formula> {
        if self.depth > MOST_DEPTH {
            return Err(format!("brackets at most {MOST_DEPTH} deep within each other"));
        }
        self.depth += 1;
        let found = self.inner();
        self.depth -= 1;
        found
    }

    fn inner(&mut self) -> Read<Formula> {
        if self.sign(&['-']).is_some() {
            return Ok(Formula::Minus(Box::new(self.factor()?)));
        }
        if self.sign(&['(']).is_some() {
            let inner = self.sum()?;
            self.sign(&[')']).ok_or("a closing bracket")?;
            return Ok(inner);
        }
        let left = self.left.trim_start();
        let first = left.chars().next().ok_or("a number, a function or a bracket at the end")?;
        if first.is_ascii_digit() || first == '.' { self.number(left) } else { self.named(left) }
    }

    fn number(&mut self, left: &str) -> Read<Formula> {
        let bytes = left.as_bytes();
        let digits = |from: usize| {
            bytes[from..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count() + from
        };
        let mut end = digits(0);
        if bytes.get(end).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'e')) {
            let signed = end + 1 + usize::from(bytes.get(end + 1).is_some_and(|byte| [b'-', b'+'].contains(byte)));
            if bytes.get(signed).is_some_and(u8::is_ascii_digit) {
                end = digits(signed);
            }
        }
        let (text, rest) = left.split_at(end);
        let exponent = text.split_once(['e', 'E']).map_or(Ok(0.0), |(_, exponent)| exponent.parse::<f64>());
        if exponent.is_ok_and(|exponent| exponent.abs() > MOST_EXPONENT) {
            return Err(format!("exponents from -{MOST_EXPONENT} to {MOST_EXPONENT}, and not {text}"));
        }
        let number = rational::parse(text).map_err(|_| format!("a decimal, and not {text:?}"))?;
        self.left = &self.left[self.left.len() - rest.len()..];
        Ok(Formula::Number(number))
    }

    fn named(&mut self, left: &str) -> Read<Formula> {
        let end = left.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(left.len());
        let (name, rest) = left.split_at(end);
        if name.is_empty() {
            let near: String = left.chars().take(20).collect();
            return Err(format!("a number, a function or a bracket before {near:?}"));
        }
        self.left = &self.left[self.left.len() - rest.len()..];
        if name == "pi" {
            return Ok(Formula::Pi);
        }
        let known = || FUNCTIONS.iter().map(|(name, _)| *name);
        let Some((name, count)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            return Err(unknown("function", name, "there are", known()));
        };
        self.sign(&['(']).ok_or_else(|| format!("{name} with its arguments in brackets"))?;
        let mut arguments = vec![self.sum()?];
        while self.sign(&[',']).is_some() {
            arguments.push(self.sum()?);
        }
        self.sign(&[')']).ok_or("a closing bracket")?;
        if arguments.len() != *count {
            return Err(format!("{name} with {count} arguments, and not {}", arguments.len()));
        }
        Ok(Formula::Function(name, arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Enclosure {
        Formula::parse(text).unwrap().enclose(20).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn sums_of_decimals_are_exact() {
        for (text, expected) in [
            ("4 * (0.11 + 0.11 + 0.22) + 0.44 + 0.44", "2.64"),
            ("-2*-3 - 1/4", "5.75"),
            ("1e-3 + 2.5E2", "250.001"),
            ("(((7)))", "7"),
            (".5 - 5.", "-4.5"),
        ] {
            assert_eq!(Formula::parse(text).unwrap().exact(), Some(rational::parse(expected).unwrap()), "{text}");
            assert!(value(text).contains(&rational::parse(expected).unwrap()));
        }
        assert_eq!(Formula::parse("1 / (2 - 2)").unwrap().exact(), None);
        assert_eq!(Formula::parse("exp(1)").unwrap().exact(), None);
    }

    #[test]
    fn functions_are_enclosed() {
        for (text, expected) in [
            ("ln(1 + 0.124 * (exp(6.8) - 1))", 4.720_36),
            ("0.0728 + 2 * sqrt(0.0728 * ln(sqrt(pi * 0.0728) / 1e-5))", 1.844_1),
            ("zcdp_epsilon(4.9622, 1e-10)", 26.340_6),
            ("max(1, 2) - min(3, 4)", -1.0),
            ("exp(0.1) / (1 + exp(0.1))", 0.524_979),
        ] {
            let found = value(text);
            assert!((found.approximate() - expected).abs() < 5e-4, "{text}: {}", found.approximate());
            assert!(found.is_tight(12), "{text}");
        }
        // The Gaussian profile and its inverse.
        let there = value("gdp_delta(0.5, gdp_epsilon(0.5, 1e-6))");
        assert!(there.contains(&rational::parse("1e-6").unwrap()), "{there:?}");
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, part) in [
            ("", "at the end"),
            ("1 +", "at the end"),
            ("1 2", "before \"2\""),
            ("(1", "closing bracket"),
            ("lan(2)", "unknown function"),
            ("ln 2", "in brackets"),
            ("max(1)", "2 arguments"),
            ("1e5000", "exponents"),
            ("1.2.3", "a decimal"),
            ("x", "unknown function"),
            ("2 ^ 3", "before"),
        ] {
            let message = Formula::parse(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
        assert!(Formula::parse(&"(".repeat(1000)).is_err() && Formula::parse(&"-".repeat(1500)).is_err());
        for text in ["1 / 0", "ln(0)", "ln(-1)", "sqrt(-1)", "exp(1e999)", "1 / (pi - pi)", "gdp_delta(pi, 1)"] {
            assert!(Formula::parse(text).unwrap().enclose(12).is_err(), "{text}");
        }
    }
}
