//! A training run with DP-SGD as engineers describe it: a noise multiplier, a sample rate or batches of some of the records, steps or epochs.
//!
//! Each step adds Gaussian noise of standard deviation S times the clipping norm to the clipped sum over a fresh Poisson sample, in which each record is with
//! probability Q. Batches of B of N records on average have Q = B / N, and E epochs are ceil(E N / B) steps. Opacus draws with Q = 1 / ceil(N / B), the rate of
//! its data loader: [`Run::loader_rate`].

use rug::{Integer, Rational};

use super::Counts;
use crate::{
    error::{Error, Result},
    numeric::rational,
};

/// The most steps of a run.
const MOST_STEPS: u64 = 1_000_000_000;

/// How records enter a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Each with this probability.
    Rate(String),
    /// In batches of so many records on average, of all records.
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
    /// An error for a rate outside of (0, 1], for batches larger than the data, for no steps or more than 10^9, and for what is no number; a question mark
    /// stays where it is a number of that text.
    pub fn text(&self) -> Result<String> {
        let multiplier = match self.noise_multiplier.trim() {
            MARK => MARK.to_string(),
            text => rational::display(&above_zero("noise multiplier", text)?),
        };
        Ok(format!("{}:{multiplier}x{}", self.rate()?, self.steps()?))
    }

    fn rate(&self) -> Result<String> {
        match &self.sample {
            Sample::Rate(rate) if rate.trim() == MARK => Ok(MARK.to_string()),
            Sample::Rate(rate) => {
                let rate = above_zero("sample rate", rate)?;
                if rate > 1 {
                    let expected = "a probability 0 < rate <= 1 with which each record is in the sample of a step";
                    return Err(Error::out_of_range("sample rate", rational::display(&rate), expected));
                }
                Ok(rational::display(&rate))
            }
            Sample::Batches { .. } => Ok(rational::display(&self.share()?.unwrap_or_default())),
        }
    }

    /// The batch size over the number of records; `None` where a rate is given.
    fn share(&self) -> Result<Option<Rational>> {
        let Sample::Batches { batch_size, records } = &self.sample else { return Ok(None) };
        let (batch, records) = (above_zero("batch size", batch_size)?, above_zero("records", records)?);
        if !records.is_integer() {
            return Err(Error::out_of_range("records", rational::display(&records), "a whole number"));
        }
        if batch > records {
            let expected = format!("at most the {} records", rational::display(&records));
            return Err(Error::out_of_range("batch size", rational::display(&batch), &expected));
        }
        Ok(Some(batch / records))
    }

    fn steps(&self) -> Result<String> {
        let steps = match &self.length {
            Length::Steps(steps) if steps.trim() == MARK => return Ok(MARK.to_string()),
            Length::Steps(steps) => above_zero("steps", steps)?,
            Length::Epochs(epochs) => {
                let epochs = above_zero("epochs", epochs)?;
                let rate = match (self.share()?, &self.sample) {
                    (Some(share), _) => share,
                    (None, Sample::Rate(rate)) => above_zero("sample rate", rate)?,
                    (None, Sample::Batches { .. }) => return Err(Error::fault("batches without a share")),
                };
                Rational::from((epochs / rate).ceil().numer())
            }
        };
        if !steps.is_integer() || steps > MOST_STEPS {
            let expected = format!("a whole number from 1 to {MOST_STEPS}");
            return Err(Error::out_of_range("steps", rational::display(&steps), &expected));
        }
        Ok(steps.to_string())
    }

    /// The condition under which an account of these batches holds, where a data loader is likely to draw with another rate.
    pub fn condition(&self) -> Result<Option<String>> {
        let (Sample::Batches { batch_size, records }, Some(loader)) = (&self.sample, self.loader_rate()?) else {
            return Ok(None);
        };
        Ok(Some(format!(
            "Holds for the sample rate {}, batches of {batch_size} of {records} records on average. The data loader of Opacus draws with rate {loader}: for it give \
             that rate.",
            self.rate()?
        )))
    }

    /// The rate of the data loader of Opacus for these batches, 1 / ceil(N / B), where it is another one than B / N.
    pub fn loader_rate(&self) -> Result<Option<Rational>> {
        let of_loader = |share: Rational| {
            let batches = Integer::from(share.clone().recip().ceil().numer());
            let rate = Rational::from((1, batches));
            (rate != share).then_some(rate)
        };
        Ok(self.share()?.and_then(of_loader))
    }
}

/// A number above 0.
fn above_zero(what: &str, text: &str) -> Result<Rational> {
    let value = rational::parse(text.trim())?;
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
            // 60,000 / 256 = 234.375 steps an epoch; the loader of Opacus draws with 1 / 235.
            (run("0.8", batches("256", "60000"), epochs("10")), "8/1875:0.8x2344", Some((1, 235))),
            (run("0.8", batches("600", "60000"), epochs("1/2")), "0.01:0.8x50", None),
            (run("?", batches("600", "60000"), steps("50")), "0.01:?x50", None),
            (run("1", rate("?"), steps("50")), "?:1x50", None),
            (run("1", rate("1/2"), steps("?")), "0.5:1x?", None),
        ] {
            assert_eq!(run.text().unwrap(), text, "{run:?}");
            assert_eq!(run.loader_rate().unwrap(), loader.map(Rational::from), "{run:?}");
            let condition = run.condition().unwrap();
            assert_eq!(
                condition.is_some_and(|said| said.contains("8/1875") && said.contains("1/235")),
                loader.is_some()
            );
        }
        let counts = run("1.1", rate("0.01"), steps("1000")).counts().unwrap();
        assert_eq!(counts, Counts::sampled_gaussian("0.01", "1.21", 1000).unwrap());
    }

    #[test]
    fn what_is_no_run_is_refused_by_name() {
        let rate = |rate: &str| Sample::Rate(rate.to_string());
        let steps = |n: &str| Length::Steps(n.to_string());
        for (run, name) in [
            (run("0", rate("0.01"), steps("10")), "noise multiplier = 0"),
            (run("1", rate("0"), steps("10")), "sample rate = 0"),
            (run("1", rate("1.01"), steps("10")), "sample rate = 1.01"),
            (run("1", batches("61", "60"), steps("10")), "batch size = 61 is out of range: at most the 60 records"),
            (run("1", batches("6", "60.5"), steps("10")), "records = 60.5"),
            (run("1", rate("0.01"), steps("0")), "steps = 0"),
            (run("1", rate("0.01"), steps("1.5")), "steps = 1.5"),
            (run("1", rate("0.01"), steps("1000000001")), "steps = 1000000001"),
            (run("1", rate("1e-9"), Length::Epochs("2".to_string())), "steps = 2000000000"),
            (run("x", rate("0.01"), steps("10")), "\"x\" is not a number"),
        ] {
            let refused = run.text().unwrap_err().to_string();
            assert!(refused.contains(name), "{refused}");
        }
        for text in ["0.01", "0.01:1:2x3", "0.01:1x3@2", "0.01:-1x3", "0.01:0"] {
            assert!(Counts::parse_training(text).is_err(), "{text}");
        }
    }
}
