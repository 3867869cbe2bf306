//! Noise for whole slices, on all cores: under a seed the same for any number of threads.

use rayon::prelude::*;

use super::{Sampler, Streams};
use crate::error::Result;

/// Samples that share one stream. The parts of a slice are fixed by its length alone, never by the number of threads.
const PART: usize = 1 << 16;

impl Streams {
    /// A sample for every element, in parallel on the threads of the current rayon pool: every part of 65536 has a stream
    /// of its own, so that under a seed the samples depend only on the sequence of calls.
    pub fn fill(&mut self, sampler: &Sampler, out: &mut [i64]) {
        let first = self.reserve(out.len().div_ceil(PART) as u64);
        let streams = &*self;
        let fill = |number: usize, part: &mut [i64]| {
            sampler.fill(part, &mut streams.stream(first.wrapping_add(number as u64)));
        };
        if out.len() <= PART {
            return fill(0, out);
        }
        out.par_chunks_mut(PART).enumerate().for_each(|(number, part)| fill(number, part));
    }

    /// Adds independent noise to every count, or gives each answer by randomized response. If a sum leaves the range of 64-bit integers, or a number is no
    /// answer, no count is changed.
    ///
    /// ```
    /// # use dp_assay_core as dp_assay;
    /// use dp_assay::{noise::{Sampler, Streams}, numeric::rational::parse};
    /// let sampler = Sampler::discrete_laplace(parse("1/2")?)?;
    /// let mut counts = [12, 0, 3_500_000];
    /// Streams::from_system()?.add_noise(&sampler, &mut counts)?;
    /// assert!(Streams::from_system()?.add_noise(&sampler, &mut [i64::MAX; 1000]).is_err());
    /// # Ok::<(), dp_assay::Error>(())
    /// ```
    pub fn add_noise(&mut self, sampler: &Sampler, counts: &mut [i64]) -> Result<()> {
        let mut noisy = vec![0; counts.len()];
        self.fill(sampler, &mut noisy);
        for (position, (noise, &count)) in noisy.iter_mut().zip(counts.iter()).enumerate() {
            *noise = sampler.applied(position, count, *noise)?;
        }
        counts.copy_from_slice(&noisy);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::Error, numeric::rational::parse};

    fn sampler() -> Sampler {
        Sampler::discrete_gaussian(parse("5").unwrap()).unwrap()
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let sampler = sampler();
        let draw = |threads: usize, length: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut streams = Streams::with_insecure_seed(11);
            let mut out = [vec![0; length], vec![0; 10]];
            pool.install(|| out.iter_mut().for_each(|part| streams.fill(&sampler, part)));
            out
        };
        for length in [0, 1, PART - 1, PART, PART + 1, 5 * PART + 17] {
            let one = draw(1, length);
            assert_eq!(one, draw(2, length));
            assert_eq!(one, draw(7, length));
        }
        // The first part of a slice does not depend on the number of the following parts.
        assert_eq!(draw(1, 3 * PART)[0][..PART], draw(3, PART)[0][..]);
    }

    #[test]
    fn a_sum_that_exceeds_64_bits_is_an_error_and_changes_nothing() {
        let mut counts = vec![7; 50];
        counts.extend([i64::MAX; 50]);
        let before = counts.clone();
        let error = Streams::with_insecure_seed(1).add_noise(&sampler(), &mut counts).unwrap_err();
        assert!(matches!(error, Error::Overflow { position: 50.., count: i64::MAX }), "{error}");
        assert_eq!(counts, before);
        let mut counts = vec![i64::MIN; 50];
        assert!(Streams::with_insecure_seed(1).add_noise(&sampler(), &mut counts).is_err());
        assert!(counts.iter().all(|&count| count == i64::MIN));
        let mut counts = vec![i64::MAX - 1000, i64::MIN + 1000];
        assert!(Streams::with_insecure_seed(1).add_noise(&sampler(), &mut counts).is_ok());
    }
}
