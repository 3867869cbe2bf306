//! Confidence levels in percent, and the standard normal quantiles of their two-sided margins.

use rug::{Float, Rational};

use crate::{
    error::{Error, Result},
    numeric::rational,
};

/// A confidence level.
#[derive(Clone, Debug, PartialEq)]
pub struct Confidence {
    percent: String,
    quantile: f64,
}

/// Bits of the quantile while it is found; it is rounded to 53.
const BITS: u32 = 128;
/// The quantile of the smallest tail that a text of 40 characters can name, above 1e-40, is below this.
const MOST: u32 = 20;

impl Confidence {
    /// 95 %.
    pub fn usual() -> Confidence {
        Confidence { percent: "95".to_string(), quantile: quantile(&Rational::from((1, 20))) }
    }

    /// These levels; 95 % if there are none.
    pub fn or_usual(levels: &[Confidence]) -> Vec<Confidence> {
        if levels.is_empty() { vec![Confidence::usual()] } else { levels.to_vec() }
    }

    fn of_text(text: &str) -> Result<Confidence> {
        let wrong = || Error::malformed("confidence", text, "percent above 0 and below 100, as 90 or 99.9");
        let is_decimal = text.len() <= 40 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let percent = rational::parse(text).ok().filter(|_| is_decimal).ok_or_else(wrong)?;
        // The probability outside of the margin.
        let outside: Rational = 1 - percent.clone() / 100;
        if percent <= 0 || outside <= 0 {
            return Err(wrong());
        }
        Ok(Confidence { percent: plain(text), quantile: quantile(&outside) })
    }

    /// The number of percent, without needless zeros.
    pub fn percent(&self) -> &str {
        &self.percent
    }

    /// The number of standard deviations of its margin.
    pub fn quantile(&self) -> f64 {
        self.quantile
    }

    /// The heading of a column of margins: `moe_95`.
    pub fn heading(&self) -> String {
        format!("moe_{}", self.percent)
    }
}

/// From a decimal number of percent, above 0 and below 100: `90`, `99.9`.
impl std::str::FromStr for Confidence {
    type Err = Error;

    fn from_str(text: &str) -> Result<Confidence> {
        Confidence::of_text(text)
    }
}

/// A decimal number without needless zeros.
fn plain(text: &str) -> String {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let (whole, rest) = (whole.trim_start_matches('0'), rest.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    if rest.is_empty() { whole.to_string() } else { format!("{whole}.{rest}") }
}

/// The z with P(|Z| > z) = erfc(z / sqrt 2) = `outside`, by bisection: erfc falls.
fn quantile(outside: &Rational) -> f64 {
    let outside = Float::with_val(BITS, outside);
    let root = Float::with_val(BITS, 2).sqrt();
    let (mut low, mut high) = (Float::with_val(BITS, 0), Float::with_val(BITS, MOST));
    for _ in 0..BITS {
        let middle = Float::with_val(BITS, &low + &high) / 2;
        let tail = Float::with_val(BITS, &middle / &root).erfc();
        if tail > outside { low = middle } else { high = middle }
    }
    high.to_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_normal_law() {
        let of = |text: &str| text.parse::<Confidence>().unwrap();
        assert!((Confidence::usual().quantile() - crate::noise::NORMAL_975).abs() < 4e-16);
        assert_eq!(of("95.0"), Confidence::usual());
        // Abramowitz & Stegun, table 26.6.
        for (text, z) in [("90", 1.644_853_626_951), ("99", 2.575_829_303_549), ("50", 0.674_489_750_196)] {
            assert!((of(text).quantile() - z).abs() < 1e-11, "{text}: {}", of(text).quantile());
        }
        assert_eq!((of("099.90").heading().as_str(), of("00.5").percent()), ("moe_99.9", "0.5"));
        assert!((of("99.9").quantile() - 3.290_526_731_492).abs() < 1e-11);
    }

    #[test]
    fn other_levels_are_refused() {
        for text in ["0", "100", "100.5", "-5", "95%", "19/20", "0.95e2", "", ".", "nan", "0.0"] {
            assert!(text.parse::<Confidence>().is_err(), "{text}");
        }
    }
}
