//! The exact sampler of integer noise, by the best method for the law.

use rug::Rational;

use super::{
    DiscreteGaussian, DiscreteLaplace, folded::FoldedLaw, inversion::InversionTable, listed::ListedTable,
    rejection::BlockRejection, response::Response, staircase::Stairs, streams::Source,
};
use crate::{
    error::{Error, Result},
    law::{Law, Shape},
};

/// Digits in a random word.
const WORD: u32 = 32;
/// Samples whose words are drawn together.
const BLOCK: usize = 1024;
/// Samples that are looked up before a check whether all of them are decided.
const GROUP: usize = 8;
/// The largest standard deviation of a Gaussian with a table of its own, and that of the table of blocks for a wider
/// one.
const WIDEST_GAUSSIAN: f64 = 2048.0;
const WIDEST_GAUSSIAN_OF_BLOCKS: f64 = 512.0;
/// The same for 1 / epsilon of a discrete Laplace, which needs a longer table.
const WIDEST_LAPLACE: f64 = 256.0;
const WIDEST_LAPLACE_OF_BLOCKS: f64 = 64.0;

/// An exact sampler of noise of one law: no bit of a sample depends on rounding.
///
/// Its set-up takes up to some milliseconds; it is immutable, and threads may share it.
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::{noise::{Sampler, Streams}, numeric::rational::parse};
/// let sampler = Sampler::discrete_gaussian(parse("5")?)?;
/// let mut source = Streams::from_system()?.take();
/// let mut noise = [0; 1000];
/// sampler.fill(&mut noise, &mut source);
/// // 40 standard deviations are practically never exceeded.
/// assert!(noise.iter().all(|x| x.abs() < 90));
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Debug)]
pub struct Sampler {
    law: Law,
    method: Method,
}

#[derive(Debug)]
enum Method {
    Table(InversionTable),
    Blocks(BlockRejection),
    Listed(ListedTable),
    Response(Response),
    /// Beside the sampler of a two-sided geometric law.
    Stairs(Stairs, Box<Sampler>),
}

impl Sampler {
    /// A sampler of N_Z(0, sigma2), for any rational sigma2 from 10^-6 to 10^18.
    pub fn discrete_gaussian(sigma2: Rational) -> Result<Self> {
        Sampler::new(Law::DiscreteGaussian { sigma2 })
    }

    /// A sampler of noise with mass proportional to exp(-epsilon |x|), for any rational epsilon from 10^-9 to 10^6.
    pub fn discrete_laplace(epsilon: Rational) -> Result<Self> {
        Sampler::new(Law::DiscreteLaplace { epsilon })
    }

    /// A sampler of a law on the integers, or of the answers of randomized response; an error for continuous noise and for guarantees.
    pub fn new(law: Law) -> Result<Self> {
        let method = match law.shape()? {
            Shape::Exponential { exponent, bound } => Method::of_magnitudes(FoldedLaw::new(exponent, bound))?,
            Shape::Listed(rows) => Method::Listed(ListedTable::new(rows, WORD)),
            Shape::Staircase { epsilon, period, first } => {
                Method::Stairs(Stairs::new(period, first), Box::new(Sampler::discrete_laplace(epsilon)?))
            }
            Shape::Response { epsilon, answers } => Method::Response(Response::new(epsilon, answers, WORD)?),
        };
        Ok(Sampler { law, method })
    }

    /// The law of the noise.
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// The method of drawing, in words.
    pub fn method(&self) -> &'static str {
        match self.method {
            Method::Table(_) => "inversion of a table",
            Method::Blocks(_) => "rejection from blocks",
            Method::Listed(_) => "inversion of a list of masses",
            Method::Response(_) => "a coin, and a fair choice",
            Method::Stairs(..) => "a geometric number of stairs, and a value of one",
        }
    }

    /// The number of answers of randomized response: a sample is added to the true answer modulo this number. `None` for noise.
    pub fn answers(&self) -> Option<u64> {
        match &self.method {
            Method::Response(response) => Some(response.answers()),
            _ => None,
        }
    }

    /// A count with a sample of noise, or an answer from 0 to `answers` - 1 with a sample of randomized response; an error that names the position
    /// of the count where there is no such answer, or a sum exceeds 64 bits.
    pub(super) fn applied(&self, position: usize, count: i64, sample: i64) -> Result<i64> {
        match self.answers() {
            None => count.checked_add(sample).ok_or(Error::Overflow { position, count }),
            Some(answers) => match u64::try_from(count) {
                // Both are below 10^12.
                Ok(own) if own < answers => Ok(((own + sample.unsigned_abs()) % answers) as i64),
                _ => Err(Error::NoAnswer { position, count, answers }),
            },
        }
    }

    /// One sample.
    pub fn sample(&self, source: &mut Source) -> i64 {
        match &self.method {
            Method::Blocks(blocks) => blocks.draw(|| source.word()),
            Method::Listed(list) => list.draw(|| source.word()),
            Method::Response(response) => response.draw(|| source.word()),
            Method::Stairs(stairs, geometric) => stairs.draw(|source| geometric.sample(source), source),
            Method::Table(table) => {
                let (negative, digits) = table.sign_and_digits(source.word());
                let magnitude = match table.look_up(digits) {
                    (magnitude, true) => i64::from(magnitude),
                    _ => table.resolve(digits, &mut || source.word()) as i64,
                };
                if negative { -magnitude } else { magnitude }
            }
        }
    }

    /// A sample for every element. It uses the words of the source in another order than the same number of single samples.
    pub fn fill(&self, out: &mut [i64], source: &mut Source) {
        match &self.method {
            Method::Blocks(_) | Method::Listed(_) | Method::Response(_) | Method::Stairs(..) => {
                out.iter_mut().for_each(|value| *value = self.sample(source));
            }
            Method::Table(table) => out.chunks_mut(BLOCK).for_each(|part| fill_from(table, part, source)),
        }
    }
}

impl Method {
    /// The method of a symmetric law by its magnitudes. Every choice is exact; this one is fast. The table of a law with a bound ends there.
    fn of_magnitudes(magnitude: FoldedLaw) -> Result<Self> {
        let (slope, curvature) = (magnitude.slope(), magnitude.curvature());
        let (spread, widest, widest_of_blocks) = if *curvature > 0 {
            (curvature.clone().recip().to_f64().sqrt(), WIDEST_GAUSSIAN, WIDEST_GAUSSIAN_OF_BLOCKS)
        } else {
            (1.0 / slope.to_f64(), WIDEST_LAPLACE, WIDEST_LAPLACE_OF_BLOCKS)
        };
        let guide = |spread: f64| (libm::log2(spread).ceil() + 7.0).clamp(8.0, 15.0) as u32;
        if spread <= widest || magnitude.bound().is_some() {
            let spread = magnitude.bound().map_or(spread, |bound| spread.min(bound as f64));
            return Ok(Method::Table(InversionTable::new(magnitude, WORD, guide(spread))?));
        }
        let block = libm::log2(spread / widest_of_blocks).ceil();
        let guide = guide(spread / libm::exp2(block));
        Ok(Method::Blocks(BlockRejection::new(magnitude, block as u32, WORD, guide)?))
    }
}

/// At most `BLOCK` samples: all first words, then further words for the undecided ones.
fn fill_from(table: &InversionTable, out: &mut [i64], source: &mut Source) {
    let mut words = [0; BLOCK];
    let words = &mut words[..out.len()];
    source.words(words);
    for (out, words) in out.chunks_mut(GROUP).zip(words.chunks(GROUP)) {
        let mut all_decided = true;
        for (value, &word) in out.iter_mut().zip(words) {
            let (negative, digits) = table.sign_and_digits(word);
            let (magnitude, decided) = table.look_up(digits);
            // Negation without a branch: complement and add one, or neither.
            let sign = -i64::from(negative);
            *value = (i64::from(magnitude) ^ sign) - sign;
            all_decided &= decided;
        }
        if all_decided {
            continue;
        }
        for (value, &word) in out.iter_mut().zip(words) {
            let (negative, digits) = table.sign_and_digits(word);
            if let (_, false) = table.look_up(digits) {
                let magnitude = table.resolve(digits, &mut || source.word()) as i64;
                *value = if negative { -magnitude } else { magnitude };
            }
        }
    }
}

impl DiscreteGaussian {
    /// An exact sampler of this distribution.
    pub fn sampler(&self) -> Result<Sampler> {
        Sampler::discrete_gaussian(self.sigma2().clone())
    }
}

impl DiscreteLaplace {
    /// An exact sampler of this distribution.
    pub fn sampler(&self) -> Result<Sampler> {
        Sampler::discrete_laplace(self.epsilon().clone())
    }
}
