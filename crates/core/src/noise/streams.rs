//! Secure random words: ChaCha20 seeded by the operating system.
//!
//! ChaCha20 is integer arithmetic and its words are read in little-endian order, so a stream is the same on every
//! platform. One key gives 2^64 streams (its 64-bit nonce), each of 2^70 bytes, which are independent for anyone
//! who cannot break the cipher.

use std::fmt;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::error::{Error, Result};

/// Bytes that are generated at a time: a source of few words generates few bytes.
const LEAST_BYTES: usize = 256;
const MOST_BYTES: usize = 4096;

/// One key and a count of the streams that were taken from it.
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::noise::Streams;
/// let mut secure = Streams::from_system()?;
/// let mut test = Streams::with_insecure_seed(7);
/// assert_ne!(secure.take().word(), test.take().word());
/// assert_eq!(test.insecure_seed(), Some(7));
/// # Ok::<(), dp_assay::Error>(())
/// ```
pub struct Streams {
    key: [u8; 32],
    next: u64,
    insecure_seed: Option<u64>,
}

impl Streams {
    /// With a key of 256 bits from the operating system: only such noise protects anyone.
    pub fn from_system() -> Result<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| Error::Randomness { why: error.to_string() })?;
        Ok(Streams { key, next: 0, insecure_seed: None })
    }

    /// With a key that follows from the seed, for tests and for reproduction: anyone who knows the seed can subtract the
    /// noise.
    pub fn with_insecure_seed(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Streams { key, next: 0, insecure_seed: Some(seed) }
    }

    /// With a key that an earlier run drew from the operating system, to repeat its noise.
    #[cfg(feature = "mechanisms")]
    pub(crate) fn with_key(key: [u8; 32]) -> Self {
        Streams { key, next: 0, insecure_seed: None }
    }

    /// The seed, if the key is not the operating system's.
    pub fn insecure_seed(&self) -> Option<u64> {
        self.insecure_seed
    }

    /// The next stream that has not been taken.
    pub fn take(&mut self) -> Source {
        let first = self.reserve(1);
        self.stream(first)
    }

    /// Takes `count` streams with consecutive numbers and returns the first number.
    pub(super) fn reserve(&mut self, count: u64) -> u64 {
        let first = self.next;
        // A machine that takes one stream per nanosecond needs 584 years for all of them.
        self.next = first.wrapping_add(count);
        first
    }

    /// The stream of a reserved number.
    pub(super) fn stream(&self, number: u64) -> Source {
        let mut cipher = ChaCha20Rng::from_seed(self.key);
        cipher.set_stream(number);
        Source { cipher, bytes: Vec::new(), next: 0 }
    }
}

/// The key is not shown.
impl fmt::Debug for Streams {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("Streams").field("insecure_seed", &self.insecure_seed).finish_non_exhaustive()
    }
}

/// One stream of random words.
pub struct Source {
    cipher: ChaCha20Rng,
    bytes: Vec<u8>,
    next: usize,
}

impl Source {
    /// The next 32 bits.
    #[inline]
    pub fn word(&mut self) -> u32 {
        if self.next == self.bytes.len() {
            self.refill();
        }
        let word = self.bytes[self.next..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        self.next += 4;
        word
    }

    /// The next 32 bits for every element.
    pub fn words(&mut self, mut out: &mut [u32]) {
        while !out.is_empty() {
            if self.next == self.bytes.len() {
                self.refill();
            }
            let (now, later) = out.split_at_mut(out.len().min((self.bytes.len() - self.next) / 4));
            let (bytes, _) = self.bytes[self.next..].as_chunks();
            for (word, bytes) in now.iter_mut().zip(bytes) {
                *word = u32::from_le_bytes(*bytes);
            }
            self.next += 4 * now.len();
            out = later;
        }
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        let length = (2 * self.bytes.len()).clamp(LEAST_BYTES, MOST_BYTES);
        self.bytes.resize(length, 0);
        self.cipher.fill_bytes(&mut self.bytes);
        self.next = 0;
    }
}

/// The future words are not shown.
impl fmt::Debug for Source {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("Source").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key stream of the zero key and nonce: RFC 8439, appendix A.1, test vectors 1 and 2.
    #[test]
    fn the_words_are_those_of_chacha20() {
        let mut source = Streams::with_insecure_seed(0).take();
        let block: Vec<u32> = (0..16).map(|_| source.word()).collect();
        assert_eq!(block[..4], [0xade0_b876, 0x903d_f1a0, 0xe56a_5d40, 0x28bd_8653]);
        let mut block = [0; 16];
        source.words(&mut block);
        assert_eq!(block[..4], [0xbee7_079f, 0x7a38_5155, 0x7c97_ba98, 0x0d08_2d73]);
    }

    #[test]
    fn words_do_not_depend_on_the_sizes_of_requests() {
        let mut streams = Streams::with_insecure_seed(3);
        let number = streams.reserve(1);
        let mut one_by_one = streams.stream(number);
        let mut at_once = streams.stream(number);
        for length in [0, 1, 5, 63, 64, 65, 1000, 5000] {
            let mut block = vec![0; length];
            at_once.words(&mut block);
            assert!(block.iter().all(|&word| word == one_by_one.word()));
        }
    }

    #[test]
    fn streams_and_keys_differ() {
        let mut streams = Streams::with_insecure_seed(3);
        let (mut first, mut second) = (streams.take(), streams.take());
        let mut other = Streams::with_insecure_seed(4).take();
        let words = [first.word(), second.word(), other.word()];
        assert!(words[0] != words[1] && words[0] != words[2] && words[1] != words[2]);
        let (mut one, mut two) = (Streams::from_system().unwrap(), Streams::from_system().unwrap());
        assert_ne!(one.take().word(), two.take().word(), "may fail once in 2^32 runs");
        assert!(!format!("{one:?} {first:?}").contains("key"));
    }
}
