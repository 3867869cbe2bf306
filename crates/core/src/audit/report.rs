//! The audit of one stream of draws.

use rug::Rational;

use super::{
    battery::{Audited, Tested},
    interval::Interval,
    power::{Level, Power, SIZED, smallest_approx},
    proven::ProvenP,
    tally::Stream,
    verdict::Verdict,
};
use crate::{
    error::{Error, Result},
    noise::Streams,
};

/// The probability with which a fault must be found to be stated.
pub const POWER: f64 = 0.99;

/// The outcome of the audit of a stream.
#[derive(Debug)]
pub struct Report {
    /// The tests.
    pub tested: Tested,
    /// Holm's correction over them.
    pub verdict: Verdict,
    /// Factors on the law's parameter that the draws do not reject, at the false alarm rate.
    pub interval: Option<Interval>,
    /// The smallest fault of each kind that such draws show with a probability of 0.99, approximately.
    pub shows: Vec<Power>,
}

impl Report {
    /// Tests a stream; refuses one without draws.
    pub fn of_stream(audited: &Audited, stream: &Stream, false_alarm_rate: &Rational) -> Result<Report> {
        if stream.tally.draws() == 0 {
            return Err(Error::missing("no draws: expected one integer per line"));
        }
        let tested = audited.stream_tests(stream);
        let ps: Vec<ProvenP> = tested.tests.iter().map(|test| test.p).collect();
        let verdict = Verdict::new(&ps, false_alarm_rate);
        let interval = Interval::of_tally(audited, &stream.tally, false_alarm_rate)?;
        let level = Level { rate: false_alarm_rate.to_f64(), tests: ps.len() as u64 };
        let shows = shown_by(audited, stream.tally.draws(), level);
        Ok(Report { tested, verdict, interval, shows })
    }

    /// The verdict in words.
    pub fn words(&self, audited: &Audited) -> String {
        let named = audited.named.as_ref();
        let parameter = if named.is_some_and(|law| law.sigma2().is_none()) { "the scale" } else { "sigma2" };
        let within = self.interval.map_or_else(String::new, |found| {
            let (lower, upper) = found.words();
            format!("; {parameter} of independent draws of this family is within {lower} and {upper} of the declared")
        });
        match self.verdict.rejected.first() {
            None => format!("consistent: none of {} tests rejects{within}", self.tested.tests.len()),
            Some(first) => {
                let test = &self.tested.tests[*first];
                format!("DEVIATES: {}: {}{within}", test.name, test.what)
            }
        }
    }
}

/// The smallest fault of each kind that a number of draws shows with a probability of 0.99, approximately.
pub fn shown_by(audited: &Audited, draws: u64, level: Level) -> Vec<Power> {
    SIZED.iter().filter_map(|kind| smallest_approx(audited, kind, POWER, draws, level)).collect()
}

/// A key for the hashes of repeated stretches, from the operating system: no input can be made to collide under it.
pub fn key() -> Result<[u64; 2]> {
    let mut source = Streams::from_system()?.take();
    let mut word = || u64::from(source.word()) << 32 | u64::from(source.word());
    Ok([word(), word()])
}
