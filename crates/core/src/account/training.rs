//! A training run with DP-SGD as engineers describe it: a noise multiplier, a sample rate or batches of some of the records, steps or epochs.
//!
//! Each step adds Gaussian noise of standard deviation S times the clipping norm to the clipped sum over a fresh Poisson sample, in which each record is with
//! probability Q. Batches of B of N records on average have Q = B / N, and an epoch of them has ceil(N / B) steps, as a loop over a data loader has; by a rate
//! alone, E epochs are ceil(E / Q) steps. Opacus draws with the rate of the data loader, one over its number of batches: 1 / ceil(N / B), or with `drop_last`
//! 1 / floor(N / B), which is larger than B / N (`loader_rates`).

use rug::{Integer, Rational};

use super::{
    Counts,
    counts::{MOST_STEPS, checked_multiplier},
};
use crate::{
    error::{Error, Result},
    numeric::rational,
};

/// How records enter a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Each with this probability.
    Rate(String),
    /// In batches of this size on average, of all records.
    Batches {
        /// The records of a batch on average.
        batch_size: String,
        /// All records. The number is public.
        records: String,
    },
}

/// How long a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Length {
    /// This number of steps.
    Steps(String),
    /// This number of passes over the records on average.
    Epochs(String),
}

/// A training run: texts of exact numbers, of which one may be a question mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The standard deviation of the noise over the clipping norm.
    pub noise_multiplier: String,
    /// How records enter a step.
    pub sample: Sample,
    /// How long it is.
    pub length: Length,
}

impl Run {
    /// A run by what is given of it, each a text of a number. An error where the sample or the length is not given, or given twice.
    pub fn of_parts(
        noise_multiplier: String,
        [sample_rate, batch_size, records]: [Option<String>; 3],
        [steps, epochs]: [Option<String>; 2],
    ) -> Result<Self> {
        let sample = match (sample_rate, batch_size, records) {
            (Some(rate), None, None) => Sample::Rate(rate),
            (None, Some(batch_size), Some(records)) => Sample::Batches { batch_size, records },
            _ => {
                return Err(Error::unsuitable(
                    "a training run needs a sample rate, or a batch size with the number of records",
                ));
            }
        };
        let length = match (steps, epochs) {
            (Some(steps), None) => Length::Steps(steps),
            (None, Some(epochs)) => Length::Epochs(epochs),
            _ => return Err(Error::unsuitable("a training run needs its steps, or its epochs")),
        };
        Ok(Run { noise_multiplier, sample, length })
    }

    /// The steps of the run. An error as of [`Run::text`], and for a question mark.
    pub fn counts(&self) -> Result<Counts> {
        Counts::parse_training(&self.text()?)
    }
}

/// The mark of a number that is sought.
const MARK: &str = "?";

impl Run {
    /// The run as the option `dp-sgd` takes it: `RATE:NOISE_MULTIPLIERxSTEPS`.
    ///
    /// An error for a noise multiplier outside of 0.001 to 10^9, a rate outside of 10^-9 to 1, batches larger than the data, no steps or more than 10^9, and for
    /// what is no number; a question mark stays where it is a number of that text.
    pub fn text(&self) -> Result<String> {
        let multiplier = match self.noise_multiplier.trim() {
            MARK => MARK.to_string(),
            text => rational::display(&checked_multiplier(number("noise multiplier", text)?)?),
        };
        let (rate, steps) = (self.rate()?, self.steps()?);
        let shown = |number: Option<String>| number.unwrap_or_else(|| MARK.to_string());
        Ok(format!(
            "{}:{multiplier}x{}",
            shown(rate.map(|rate| rational::display(&rate))),
            shown(steps.map(|steps| steps.to_string()))
        ))
    }

    /// The sample rate; `None` where it is sought.
    fn rate(&self) -> Result<Option<Rational>> {
        let (name, rate) = match &self.sample {
            Sample::Rate(rate) if rate.trim() == MARK => return Ok(None),
            Sample::Rate(rate) => ("sample rate", number("sample rate", rate)?),
            Sample::Batches { .. } => ("batch size over records", self.share()?.unwrap_or_default()),
        };
        if rate < Rational::from((1, 1_000_000_000)) || rate > 1 {
            let expected = "a probability from 10^-9 to 1 with which each record is in the sample of a step";
            return Err(Error::out_of_range(name, rational::display(&rate), expected));
        }
        Ok(Some(rate))
    }

    /// The batch size over the number of records; `None` where a rate is given.
    fn share(&self) -> Result<Option<Rational>> {
        let Sample::Batches { batch_size, records } = &self.sample else { return Ok(None) };
        let (batch, records) = (number("batch size", batch_size)?, number("records", records)?);
        if !records.is_integer() {
            return Err(Error::out_of_range("records", rational::display(&records), "a whole number above 0"));
        }
        if batch > records {
            let expected = format!("at most the {} records", rational::display(&records));
            return Err(Error::out_of_range("batch size", rational::display(&batch), &expected));
        }
        Ok(Some(batch / records))
    }

    /// The number of steps; `None` where it is sought.
    fn steps(&self) -> Result<Option<Integer>> {
        let steps = match &self.length {
            Length::Steps(steps) if steps.trim() == MARK => return Ok(None),
            Length::Steps(steps) => number("steps", steps)?,
            Length::Epochs(epochs) => {
                let epochs = number("epochs", epochs)?;
                let steps = match (self.share()?, self.rate()?) {
                    (Some(share), _) => epochs * share.recip().ceil(),
                    (None, Some(rate)) => epochs / rate,
                    (None, None) => {
                        let why = "the steps of epochs depend on the sample rate: where the rate is sought, give steps in place of epochs";
                        return Err(Error::unsuitable(why));
                    }
                };
                steps.ceil()
            }
        };
        if !steps.is_integer() || steps > MOST_STEPS {
            let expected = format!("a whole number from 1 to {MOST_STEPS}");
            return Err(Error::out_of_range("steps", rational::display(&steps), &expected));
        }
        Ok(Some(steps.into_numer_denom().0))
    }

    /// The condition under which an account of these batches holds, where a data loader draws with another rate.
    pub fn condition(&self) -> Result<Option<String>> {
        let (Sample::Batches { batch_size, records }, Some(share)) = (&self.sample, self.share()?) else {
            return Ok(None);
        };
        let [loader, dropping] = loader_rates(&share);
        if loader == share && dropping == share {
            return Ok(None);
        }
        let steps = self.steps()?.map_or_else(|| "these".to_string(), |steps| steps.to_string());
        Ok(Some(format!(
            "Holds for {steps} steps of the sample rate {}, batches of {batch_size} of {records} records on average. The data loader of Opacus draws with the rate \
             {loader}, and with drop_last {dropping}, which is larger: for it give the rate of the loader and the steps that it does.",
            rational::display(&share)
        )))
    }
}

/// The rates of a data loader for batches of this share of the records, as Opacus draws: 1 / ceil(N / B), and without the last incomplete batch
/// 1 / floor(N / B).
fn loader_rates(share: &Rational) -> [Rational; 2] {
    let batches = share.clone().recip();
    [batches.clone().ceil().recip(), batches.floor().recip()]
}

/// The number of a text, above 0, by its name.
fn number(what: &str, text: &str) -> Result<Rational> {
    let expected = "a number above 0; a question mark can stand for the noise multiplier, the sample rate or the steps";
    let value = rational::parse(text.trim()).map_err(|_| Error::malformed(what, text, expected))?;
    if value > 0 { Ok(value) } else { Err(Error::out_of_range(what, rational::display(&value), "a number above 0")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(multiplier: &str, sample: Sample, length: Length) -> Run {
        Run { noise_multiplier: multiplier.to_string(), sample, length }
    }

    fn batches(batch_size: &str, records: &str) -> Sample {
        Sample::Batches { batch_size: batch_size.to_string(), records: records.to_string() }
    }

    #[test]
    fn batches_and_epochs_are_a_rate_and_steps() {
        let rate = |rate: &str| Sample::Rate(rate.to_string());
        let (steps, epochs) = (|n: &str| Length::Steps(n.to_string()), |n: &str| Length::Epochs(n.to_string()));
        for (run, text, loader) in [
            (run("1.1", rate("0.01"), steps("1000")), "0.01:1.1x1000", None),
            (run("1.1", rate("3/1000"), epochs("2")), "0.003:1.1x667", None),
            // 60,000 / 256 = 234.375: an epoch is a loop over 235 batches.
            (
                run("0.8", batches("256", "60000"), epochs("10")),
                "8/1875:0.8x2350",
                Some(["2350 steps", "1/235", "1/234"]),
            ),
            (run("5", batches("500", "1001"), epochs("10")), "500/1001:5x30", Some(["30 steps", "1/3", "1/2"])),
            (run("0.8", batches("600", "60000"), epochs("1/2")), "0.01:0.8x50", None),
            (run("?", batches("600", "60000"), steps("50")), "0.01:?x50", None),
            (run("1", rate("?"), steps("50")), "?:1x50", None),
            (run("1", rate("1/2"), steps("?")), "0.5:1x?", None),
        ] {
            assert_eq!(run.text().unwrap(), text, "{run:?}");
            let condition = run.condition().unwrap();
            assert_eq!(condition.is_some(), loader.is_some(), "{run:?}");
            let said = condition.unwrap_or_default();
            assert!(loader.into_iter().flatten().all(|part| said.contains(part)), "{said}");
        }
        let counts = run("1.1", rate("0.01"), steps("1000")).counts().unwrap();
        assert_eq!(counts, Counts::sampled_gaussian("0.01", "1.21", 1000).unwrap());
    }

    #[test]
    fn what_is_no_run_is_refused_by_name() {
        let rate = |rate: &str| Sample::Rate(rate.to_string());
        let (steps, epochs) = (|n: &str| Length::Steps(n.to_string()), |n: &str| Length::Epochs(n.to_string()));
        for (run, name) in [
            (run("0", rate("0.01"), steps("10")), "noise multiplier = 0 is out of range"),
            (
                run("0.0009", rate("0.01"), steps("10")),
                "noise multiplier = 0.0009 is out of range: a number from 0.001",
            ),
            (run("1", rate("0"), steps("10")), "sample rate = 0 is out of range"),
            (run("1", rate("1.01"), steps("10")), "sample rate = 1.01 is out of range"),
            (run("1", rate("1e-30"), steps("10")), "sample rate = 1e-30 is out of range: a probability from 10^-9"),
            (run("1", batches("61", "60"), steps("10")), "batch size = 61 is out of range: at most the 60 records"),
            (run("1", batches("6", "60.5"), steps("10")), "records = 60.5 is out of range"),
            (
                run("1", batches("?", "60"), steps("10")),
                "batch size \"?\": expected a number above 0; a question mark can stand",
            ),
            (run("1", rate("?"), epochs("10")), "the steps of epochs depend on the sample rate"),
            (run("1", rate("0.01"), epochs("?")), "epochs \"?\": expected"),
            (run("1", rate("1%"), steps("10")), "sample rate \"1%\": expected"),
            (run("1", rate("0.01"), steps("0")), "steps = 0 is out of range"),
            (run("1", rate("0.01"), steps("1.5")), "steps = 1.5 is out of range"),
            (run("1", rate("0.01"), steps("1000000001")), "steps = 1000000001 is out of range"),
            (run("1", rate("1e-9"), epochs("2")), "steps = 2000000000 is out of range"),
        ] {
            let refused = run.text().unwrap_err().to_string();
            assert!(refused.starts_with(name), "{refused}");
        }
        for text in ["0.01", "0.01:1:2x3", "0.01:1x3@2", "0.01:-1x3", "0.01:0", "0.01:1x1000000001"] {
            assert!(Counts::parse_training(text).is_err(), "{text}");
        }
    }
}
