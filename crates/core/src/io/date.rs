//! Days of the calendar.

use std::{fmt, str::FromStr};

use crate::{
    error::{Error, Result},
    io::provenance,
};

/// A day of the Gregorian calendar, as 2026-11-27.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Date(String);

impl Date {
    /// Today, in universal time.
    pub fn today() -> Date {
        Date(provenance::now().chars().take(10).collect())
    }
}

impl fmt::Display for Date {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl FromStr for Date {
    type Err = Error;

    fn from_str(text: &str) -> Result<Date> {
        let wrong = || Error::malformed("the date", text, "a day of the calendar as YYYY-MM-DD, as 2026-11-27");
        let parts: Vec<&str> = text.split('-').collect();
        let [year, month, day] = parts[..] else { return Err(wrong()) };
        let number = |text: &str, letters: usize| -> Result<u32> {
            let is_plain = text.len() == letters && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| is_plain).ok_or_else(wrong)
        };
        let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 => 28 + u32::from(is_leap),
            _ => return Err(wrong()),
        };
        if !(1..=days).contains(&day) {
            return Err(wrong());
        }
        Ok(Date(text.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_calendar_are_dates_and_nothing_else_is() {
        for right in ["2026-11-27", "2024-02-29", "2000-02-29", "1999-12-31"] {
            assert_eq!(right.parse::<Date>().unwrap().to_string(), right);
        }
        let wrong = [
            "2023-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-1-1",
            "27.11.2026",
            "",
            "2026-11-27 ",
        ];
        for wrong in wrong {
            assert!(wrong.parse::<Date>().is_err(), "{wrong}");
        }
        assert!(Date::today().to_string().parse::<Date>().is_ok());
    }
}
