//! Counts: how many are published with one noise, and by how much one record changes them.

#[cfg(feature = "mechanisms")]
use std::path::Path;
use std::{fmt, str::FromStr, sync::Arc};

use rug::Rational;

use super::free_rows;
use crate::{
    error::{Error, Result},
    law::{Changes, Entry, Group, Sampled},
    loss::{law::Law, sampled::Phase},
    numeric::rational,
};

/// The most steps of a training run.
pub(super) const MOST_STEPS: u64 = 1_000_000_000;

/// A noise multiplier in the range of the roots of sigma2.
pub(super) fn checked_multiplier(multiplier: Rational) -> Result<Rational> {
    match Rational::from((1, 1000)) <= multiplier && multiplier <= 1_000_000_000 {
        true => Ok(multiplier),
        false => {
            Err(Error::out_of_range("noise multiplier", rational::display(&multiplier), "a number from 0.001 to 10^9"))
        }
    }
}

/// The laws that have an account on Poisson samples, by their names.
const ON_SAMPLES: [&str; 7] = [
    "gaussian",
    "discrete-gaussian",
    "discrete-laplace",
    "truncated-gaussian",
    "truncated-laplace",
    "randomized-response",
    "table",
];

/// The largest number of counts with one noise.
const MOST_COUNTS: u64 = 1_000_000_000_000;

/// `count` counts, each published with independent noise of one law and changed by `shift` between neighbors.
///
/// The text form of discrete Gaussian counts is that of the command line: `SIGMA2[xCOUNT][@SHIFT]`, as in `5x10`,
/// `500/73x10@2`, each changed by at most SHIFT; `@=SHIFT` is a change by exactly SHIFT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The law of the noise.
    pub law: Law,
    /// The number of counts.
    pub count: u64,
    /// By how much one count differs between neighboring data sets: at most, unless `changes` is exactly.
    pub shift: u64,
    /// Whether a count stands for the cells of a query among which `shift` rows move freely: all in one cell is the worst.
    pub free_rows: bool,
    /// By how much a record changes a count.
    pub changes: Changes,
}

impl Counts {
    /// Counts with noise of a law; an error if parameter, count or shift is outside the ranges of that law.
    pub fn new(law: Law, count: u64, shift: u64) -> Result<Self> {
        Counts { law, count, shift, free_rows: false, changes: Changes::UpTo { one: shift } }.checked()
    }

    /// The counts of a group of losses: one pair of laws, which is that of a change by exactly the shift.
    #[cfg_attr(
        not(feature = "mechanisms"),
        allow(dead_code, reason = "used by certificates, of the feature mechanisms")
    )]
    pub(crate) fn of_group(group: &Group) -> Self {
        let Group { law, shift, copies } = group.clone();
        Counts { law, count: copies, shift, free_rows: false, changes: Changes::Exactly }
    }

    /// These counts, where each count that differs does so by exactly the shift.
    pub fn exactly(self) -> Result<Self> {
        Counts { changes: Changes::Exactly, ..self }.checked()
    }

    /// These counts, where each count stands for the cells of a query among which up to `shift` rows move freely, as where tables are joined
    /// and truncated. All in one cell is the worst; an error where that is not proven.
    pub fn with_free_rows(self) -> Result<Self> {
        Counts { free_rows: true, ..self }.checked()
    }

    fn checked(self) -> Result<Self> {
        let checked = self.within_ranges()?;
        let law = checked.law.with_changes(checked.changes, checked.shift)?;
        law.check_shift(checked.shift)?;
        // A sample of all records is no sampling.
        let law = match law {
            Law::SampledGaussian { rate, sigma2 } if rate == 1 => Law::Gaussian { sigma2 },
            Law::Sampled(sampled) if *sampled.rate() == 1 => sampled.law().clone(),
            law => law,
        };
        Ok(Counts { law, ..checked })
    }

    fn within_ranges(self) -> Result<Self> {
        self.law.check()?;
        let most_shift = self.law.most_shift();
        if !(1..=MOST_COUNTS).contains(&self.count) {
            return Err(Error::out_of_range("count", self.count, "1 to 10^12 counts"));
        }
        if !(1..=most_shift).contains(&self.shift) {
            let why = match most_shift {
                1 => ": it is about one record; a group has a guarantee of its own",
                _ => "",
            };
            let expected = format!("an integer change from 1 to {most_shift}{why}");
            return Err(Error::out_of_range("shift", self.shift, &expected));
        }
        if self.free_rows {
            free_rows::check(&self.law, self.shift)?;
        }
        Ok(self)
    }

    /// The same noise with another count and shift, checked against the ranges.
    pub(super) fn with(&self, count: u64, shift: u64) -> Result<Self> {
        let changes = match self.changes {
            Changes::UpTo { one } if one == self.shift => Changes::UpTo { one: shift },
            other => other,
        };
        Counts { law: self.law.clone(), count, shift, free_rows: self.free_rows, changes }.checked()
    }

    /// The counts that a group of `size` records changes, where the data decide how they share them: up to as many times as many, each by up to as many times as
    /// much, but all together by no more than that.
    pub(super) fn shared_among(&self, size: u64) -> Result<Self> {
        let changes = match self.changes {
            Changes::UpTo { .. } => Changes::UpTo { one: self.shift },
            Changes::Exactly => {
                return Err(Error::unsuitable(
                    "a group of records that each change a count by exactly a number: give @ for at most that much",
                ));
            }
        };
        let (count, shift) = (self.count.saturating_mul(size), self.shift.saturating_mul(size));
        Counts { count, shift, changes, ..self.clone() }.checked()
    }

    /// The same counts, each changed by all of a group of `size` records.
    pub(super) fn all_moved_by(&self, size: u64) -> Result<Self> {
        // Also where each changes a count by exactly the shift: they may change different counts.
        let changes = Changes::UpTo { one: self.shift };
        Counts { shift: self.shift.saturating_mul(size), changes, ..self.clone() }.checked()
    }

    /// The same steps on samples, each changed by the records of a group of `size` times as many.
    pub(super) fn sampled_by(&self, size: u64) -> Result<Self> {
        let (one, _) = self.of_one_record();
        Counts { shift: self.shift.saturating_mul(size), changes: Changes::UpTo { one }, ..self.clone() }.checked()
    }

    /// The number of records whose changes these are.
    pub(super) fn records(&self) -> u64 {
        self.of_one_record().1
    }

    /// The same counts with other noise, checked against the ranges.
    pub(super) fn with_law(&self, law: Law) -> Result<Self> {
        Counts { law, ..self.clone() }.checked()
    }

    /// Everything that decides their losses, as a text: law with its masses, count, shift, changes and free rows.
    pub(super) fn accounted(&self) -> String {
        let changes = match self.changes {
            Changes::Exactly => "exactly".to_string(),
            Changes::UpTo { one } => format!("up to, by one record {one}"),
        };
        let Counts { count, shift, free_rows, .. } = self;
        format!("{}, count {count}, shift {shift} {changes}, free rows {free_rows}", self.law.accounted())
    }

    /// Steps on Poisson samples; `None` of other noise. Each record of a group is in a sample by itself.
    pub(super) fn phase(&self) -> Option<Phase> {
        let Law::SampledGaussian { rate, sigma2 } = &self.law else { return None };
        let (one, records) = self.of_one_record();
        let sigma2 = sigma2 / Rational::from(one).square();
        Some(Phase { rate: rate.clone(), sigma2, steps: self.count, group: u32::try_from(records).unwrap_or(u32::MAX) })
    }

    /// The largest change by one record, and how many records there are.
    fn of_one_record(&self) -> (u64, u64) {
        match self.changes {
            Changes::UpTo { one } if self.law.has_alternatives() || self.law.is_sampled() => {
                (one, self.shift.div_ceil(one.max(1)))
            }
            _ => (self.shift, 1),
        }
    }

    /// These counts with more noise: the variance of Gaussian noise times `factor`, the parameter of a discrete Laplace divided by it.
    /// An error if the result is out of range.
    pub fn with_noise_times(&self, factor: &Rational) -> Result<Self> {
        if *factor != 1 && !self.law.has_scale() {
            let what = match self.law {
                Law::Pair(_) => "a pair of hypotheses",
                Law::UnknownKey(_) => "an unknown key with its threshold",
                _ => "a table of masses",
            };
            let why = format!("{what} has no scale by which its noise could be multiplied: give another one");
            return Err(Error::unsuitable(why));
        }
        Counts { law: self.law.times(factor), ..self.clone() }.checked()
    }

    /// The zCDP rho they spend: count shift^2 / (2 sigma2) for Gaussian noise, count (shift epsilon)^2 / 2 for the discrete Laplace, which
    /// is (shift epsilon)-DP (Bun & Steinke 2016, Proposition 1.4).
    pub fn rho(&self) -> Rational {
        self.law.rho(self.shift) * self.count
    }

    /// These counts released `times` times, each time with independent noise. An error for no repetitions, or more than 10^12 counts.
    pub fn repeated(&self, times: u64) -> Result<Self> {
        self.with(self.count.saturating_mul(times), self.shift)
    }

    /// The counts that differ where a record leaves these and enters as many others: twice as many, of a law that is not symmetric half of them in the
    /// opposite direction. An error for more than 10^12 counts.
    pub(crate) fn left_and_entered(&self) -> Result<Vec<Self>> {
        let entered = self.entered();
        if entered == *self {
            return Ok(vec![self.with(self.count.saturating_mul(2), self.shift)?]);
        }
        Ok(vec![self.clone(), entered])
    }

    /// As many counts that a changed record enters, where it leaves these.
    pub(super) fn entered(&self) -> Self {
        Counts { law: self.law.of_opposite_record(), ..self.clone() }
    }

    /// The epsilon of pure differential privacy they spend; `None` where losses are unbounded, or some are infinite.
    pub fn pure_epsilon(&self) -> Option<Rational> {
        self.largest_finite_loss().filter(|_| !self.law.has_infinite_loss())
    }

    /// The largest loss that is finite; `None` for Gaussian noise, whose loss is unbounded.
    pub(super) fn largest_finite_loss(&self) -> Option<Rational> {
        Some(self.law.largest_loss(self.shift)? * self.count)
    }

    /// These, changed by the shift that a text gives after @: at most, or exactly where it begins with =.
    fn changed_by(self, shift: Option<&str>) -> Result<Self> {
        match shift.map(|shift| (shift, shift.trim().strip_prefix('='))) {
            None => Ok(self),
            Some((_, Some(shift))) => self.with(self.count, whole(shift, "SHIFT")?)?.exactly(),
            Some((shift, None)) => self.with(self.count, whole(shift, "SHIFT")?),
        }
    }

    /// Reads `PARAMETER[:OTHER][xCOUNT][@SHIFT]` as counts with noise of the law of this name ([`Law::keys`]), as in `1/2:40x10@2` for
    /// `truncated-laplace`. An error for other forms, or values out of range.
    pub fn parse(key: &str, text: &str) -> Result<Self> {
        let (rest, shift) = before_and_after(text, '@');
        let (parameters, count) = match rest.split_once('x') {
            Some((parameters, count)) => (parameters, whole(count, "COUNT")?),
            None => (rest, 1),
        };
        Counts::new(Law::parse(key, parameters)?, count, 1)?.changed_by(shift)
    }

    #[cfg(feature = "mechanisms")]
    /// Reads the text of an option of the command line, by its name without dashes: that of a law, a sample, a file, or an unknown key. `options` say how
    /// a file is understood.
    pub fn read(key: &str, text: &str, options: impl Into<crate::law::FileOptions>) -> Result<Self> {
        let options = options.into();
        match key {
            "sampled" => Counts::sampled_of(text, options.normalize),
            Entry::TRAINING => Counts::parse_training(text),
            "unknown-key" => Counts::parse_unknown_key(text),
            "table" => Counts::parse_table(text, options.normalize),
            "p-table" => Counts::parse_p_table(text, options),
            "pair" => Counts::parse_pair(text, options.normalize),
            law => Counts::parse(law, text),
        }
    }

    /// Reads `RATE:LAW:PARAMETER[xCOUNT][@SHIFT]` as counts of a Poisson sample, as in `0.01:gaussian:1x1000`: the noise of `LAW` is added to the sum, or to a count, over a
    /// sample of the records, anew in each of COUNT steps. An error for other forms, laws, or values out of range.
    pub fn parse_sampled(text: &str) -> Result<Self> {
        Counts::sampled_of(text, false)
    }

    fn sampled_of(text: &str, normalize: bool) -> Result<Self> {
        let expected = "RATE:LAW:PARAMETER, as in 0.01:gaussian:1x1000 or 0.01:discrete-laplace:0.5x100";
        let malformed = || Error::malformed("sampled", text, expected);
        let (rate, rest) = text.split_once(':').ok_or_else(malformed)?;
        let (key, rest) = rest.split_once(':').ok_or_else(malformed)?;
        let key = key.trim();
        if !ON_SAMPLES.contains(&key) {
            return Err(Error::unknown("law of samples", key, "there are", ON_SAMPLES));
        }
        let rate = rational::parse(rate)?;
        let base = Counts::of_law(key, rest, normalize)?;
        let law = match base.law {
            Law::Gaussian { sigma2 } => Law::SampledGaussian { rate, sigma2 },
            law => Law::Sampled(Arc::new(Sampled::new(rate, law)?)),
        };
        Counts { law, ..base }.checked()
    }

    #[cfg(feature = "mechanisms")]
    fn of_law(key: &str, text: &str, normalize: bool) -> Result<Self> {
        if key == "table" { Counts::parse_table(text, normalize) } else { Counts::parse(key, text) }
    }

    #[cfg(not(feature = "mechanisms"))]
    fn of_law(key: &str, text: &str, _: bool) -> Result<Self> {
        Counts::parse(key, text)
    }

    /// Reads `RATE:NOISE_MULTIPLIER[xSTEPS]` as steps of DP-SGD, as in `256/60000:1.1x1000`: Gaussian noise of as many clipping norms as the multiplier on a
    /// Poisson sample, so that sigma2 is its square. An error for other forms, or values out of range.
    pub fn parse_training(text: &str) -> Result<Self> {
        let expected = "RATE:NOISE_MULTIPLIER[xSTEPS], as in 256/60000:1.1x1000";
        let malformed = || Error::malformed(Entry::TRAINING, text, expected);
        let (parameters, steps) = match text.split_once('x') {
            Some((parameters, steps)) => (parameters, whole(steps, "STEPS")?),
            None => (text, 1),
        };
        let (rate, multiplier) = parameters.split_once(':').ok_or_else(malformed)?;
        if multiplier.contains(':') || text.contains('@') {
            return Err(malformed());
        }
        if steps > MOST_STEPS {
            return Err(Error::out_of_range("steps", steps, "at most 10^9 steps"));
        }
        let multiplier = checked_multiplier(rational::parse(multiplier)?)?;
        Counts::sampled_gaussian(rate, multiplier.square(), steps)
    }

    /// Reads `LAW:PARAMETER:THRESHOLD[xCOUNT][@SHIFT]` as keys that are shown if their noisy count is at least the threshold, as in
    /// `discrete-laplace:1/2:30x10`: `LAW` is discrete-laplace, discrete-gaussian, laplace or gaussian. An error for other forms, laws, or values out of range.
    pub fn parse_unknown_key(text: &str) -> Result<Self> {
        let expected = "LAW:PARAMETER:THRESHOLD, as in discrete-laplace:1/2:30x10";
        let (rest, shift) = before_and_after(text, '@');
        let mut parts = rest.splitn(3, ':');
        let (Some(key), Some(parameter), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(Error::malformed("unknown-key", text, expected));
        };
        let (threshold, count) = match rest.split_once('x') {
            Some((threshold, count)) => (threshold, whole(count, "COUNT")?),
            None => (rest, 1),
        };
        let keys = crate::law::UnknownKey::new(key.trim(), rational::parse(parameter)?, rational::parse(threshold)?)?;
        Counts::new(Law::UnknownKey(Arc::new(keys)), count, 1)?.changed_by(shift)
    }

    #[cfg(feature = "mechanisms")]
    /// Reads `FILE[xCOUNT][@SHIFT]` as counts with the noise of a table ([`read`](crate::law::NoiseTable::read)). Where both FILE with the count and FILE without it exist, the
    /// text has two meanings and is refused.
    pub fn parse_table(text: &str, normalize: bool) -> Result<Self> {
        let (file, count, shift) = of_file(text)?;
        let table = crate::law::NoiseTable::read(Path::new(&file), normalize)?;
        Counts::new(Law::Table(Arc::new(table)), count, 1)?.changed_by(shift.as_deref())
    }

    #[cfg(feature = "mechanisms")]
    /// Reads `FILE[xCOUNT][@SHIFT]` as cells of the cell-key method ([`read`](crate::law::PerturbationTable::read)). Two meanings are refused, as by
    /// [`Counts::parse_table`].
    pub fn parse_p_table(text: &str, options: impl Into<crate::law::FileOptions>) -> Result<Self> {
        let (file, count, shift) = of_file(text)?;
        let table = crate::law::PerturbationTable::read(Path::new(&file), options)?;
        Counts::new(Law::Perturbation(Arc::new(table)), count, 1)?.changed_by(shift.as_deref())
    }

    #[cfg(feature = "mechanisms")]
    /// Reads `FILE[xCOUNT]` as mechanisms whose outcomes for two neighbors are those of a file ([`read`](crate::law::Pair::read)). Two meanings are refused, as
    /// by [`Counts::parse_table`].
    pub fn parse_pair(text: &str, normalize: bool) -> Result<Self> {
        let (file, count, shift) = of_file(text)?;
        let pair = crate::law::Pair::read(Path::new(&file), normalize)?;
        Counts::new(Law::Pair(Arc::new(pair)), count, 1)?.changed_by(shift.as_deref())
    }

    #[cfg(feature = "mechanisms")]
    /// The file that `FILE[xCOUNT][@SHIFT]` names, also with a question mark in place of one of the numbers.
    pub fn named_file(text: &str) -> Result<String> {
        let is_file = Path::new(text).is_file();
        let (file, _, _) = if is_file { of_file(text)? } else { of_file(&text.replace('?', "1"))? };
        Ok(file)
    }

    /// Reads `SIGMA2[xCOUNT][@SHIFT]` as counts with continuous noise. An error for other forms, or values out of range.
    pub fn parse_gaussian(text: &str) -> Result<Self> {
        Counts::parse("gaussian", text)
    }

    /// Reads `EPSILON[xCOUNT][@SHIFT]` as counts with discrete Laplace noise. An error for other forms, or values out of range.
    pub fn parse_discrete_laplace(text: &str) -> Result<Self> {
        Counts::parse("discrete-laplace", text)
    }
}

/// `FILE[xCOUNT][@SHIFT]`: the name of the file, the count and the shift. Where both FILE with the count and FILE without it exist, the text has two
/// meanings and is refused.
#[cfg(feature = "mechanisms")]
fn of_file(text: &str) -> Result<(String, u64, Option<String>)> {
    let ends_in_digits = |text: &str, mark: char| {
        let (rest, digits) = text.rsplit_once(mark)?;
        let number = if mark == '@' { digits.strip_prefix('=').unwrap_or(digits) } else { digits };
        let is_number = !rest.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| (rest.to_string(), digits.to_string()))
    };
    let is_file = |text: &str| Path::new(text).is_file();
    let divided = |text: &str, mark: char| -> Result<(String, Option<String>)> {
        match ends_in_digits(text, mark) {
            Some((rest, _)) if is_file(text) && is_file(&rest) => {
                let why = format!("both {text:?} and {rest:?} are files: write {text}{mark}1 for the first");
                Err(Error::conflict(why))
            }
            Some((rest, number)) if !is_file(text) => Ok((rest, Some(number))),
            _ => Ok((text.to_string(), None)),
        }
    };
    let (rest, shift) = divided(text, '@')?;
    let (file, count) = divided(&rest, 'x')?;
    let count = count.map_or(Ok(1), |count| whole(&count, "COUNT"))?;
    Ok((file, count, shift))
}

/// What is before and after a mark.
fn before_and_after(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// A positive number of counts, or a shift.
fn whole(part: &str, what: &str) -> Result<u64> {
    part.trim().parse::<u64>().map_err(|_| {
        let positive = part.trim().strip_prefix('-').and_then(|part| part.parse::<u64>().ok());
        let parts = part.split(',').all(|part| part.trim().parse::<u64>().is_ok());
        let why = match positive {
            Some(positive) if what == "SHIFT" => format!("the sign does not matter: use {positive}"),
            _ if parts => "repeat the option, once for each number".to_string(),
            _ if what == "SHIFT" => "as in 5x10@1, or 5x10@=1 for exactly that".to_string(),
            _ => "as in 5x10@1".to_string(),
        };
        Error::malformed(what, part, &format!("a positive whole number; {why}"))
    })
}

impl FromStr for Counts {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Counts::parse(Law::DEFAULT_KEY, text)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let (one, records) = self.of_one_record();
        let exactly = if self.changes == Changes::Exactly { "=" } else { "" };
        // Where records share out their changes, all of them are counted.
        let count = if self.law.has_alternatives() { self.count / records } else { self.count };
        write!(out, "{}x{count}@{exactly}{one}", self.law)?;
        if let Law::SampledGaussian { sigma2, .. } = &self.law {
            write!(out, " (noise multiplier {})", rational::display_root(&(sigma2 / Rational::from(one).square())))?;
        }
        if records > 1 { write!(out, " for groups of {records}") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_they_are_written() {
        for (text, shown) in [
            ("5", "5x1@1"),
            ("5.00x10", "5x10@1"),
            ("500/73x10@2", "500/73x10@2"),
            ("1e2@3", "100x1@3"),
            ("5@=2", "5x1@=2"),
        ] {
            assert_eq!(text.parse::<Counts>().unwrap().to_string(), format!("discrete Gaussian {shown}"));
        }
        for text in [
            "",
            "x10",
            "5x",
            "5x1.5",
            "5x-1",
            "0x10",
            "5x0",
            "5@0",
            "-5",
            "NaN",
            "inf",
            "5x10@",
            "5x10@=",
            "5x10@==1",
            "5x10=1",
            "5x99999999999999999999",
        ] {
            assert!(text.parse::<Counts>().is_err(), "{text:?}");
        }
    }
}
