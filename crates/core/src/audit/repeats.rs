//! Stretches that occur twice: a stream of random words that was used again repeats its draws.
//!
//! Windows of K consecutive draws are compared by a hash that moves along the stream, so that a repetition is found at any offset. Of
//! all windows those are kept whose hash ends in a number of zero bits, which grows as the store fills: memory is bounded, and a
//! repeated stretch is found if it is a few times longer than the distance of kept windows.
//!
//! Two windows of true draws are equal with probability at most p^K, where p is the largest mass: each draw of the later window must
//! equal a given earlier draw, whether the windows overlap or not. Two different windows have equal hashes with probability at most
//! (2 K / (2^61 - 1))^2 over the key: each of the two hashes is a polynomial of degree below K in a random point, and no point has more
//! than twice the average probability. So a repetition among n draws has a probability of at most
//! (n^2 / 2) (p^K + (2 K / (2^61 - 1))^2).

use std::collections::HashMap;

use rug::{
    Float,
    float::Round::Up,
    ops::{AddAssignRound, MulAssignRound, PowAssignRound},
};

use super::{declared::Declared, proven::ProvenP};

/// The modulus of the hashes, a prime.
const PRIME: u64 = (1 << 61) - 1;
/// The most windows that are kept.
const MOST: usize = 1 << 17;
/// Equal windows of 2^40 draws must have a probability below 2^-40: bits of a window.
const BITS: f64 = 120.0;
/// The longest window; laws whose windows would be longer are not searched.
const LONGEST: f64 = 4096.0;

/// The search for repeated stretches of a stream.
#[derive(Debug)]
pub struct Repeats {
    /// The draws in a window; none if the law has too little randomness.
    window: usize,
    /// An upper bound on the largest mass.
    largest: Float,
    points: [u64; 2],
    /// The points to the power of the window, to remove the oldest draw.
    powers: [u64; 2],
    hashes: [u64; 2],
    recent: Vec<u64>,
    seen: u64,
    kept: HashMap<[u64; 2], u64>,
    zero_bits: u32,
    first: Option<(u64, u64)>,
    repeated: u64,
}

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let sum = (product & u128::from(PRIME)) as u64 + (product >> 61) as u64;
    if sum >= PRIME { sum - PRIME } else { sum }
}

impl Repeats {
    /// No draws. The points of the hashes are the key.
    pub fn new(law: &Declared, key: [u64; 2]) -> Repeats {
        let mass = law.mass(0);
        let bits = -libm::log2(mass.approximate());
        let window = (BITS / bits).ceil();
        let window = if window <= LONGEST { window.max(8.0) as usize } else { 0 };
        // 1 and 0 are no points: their polynomials forget the order.
        let points = key.map(|key| 2 + key % (PRIME - 2));
        let powers = points.map(|point| (0..window).fold(1, |power, _| times(power, point)));
        Repeats {
            window,
            largest: mass.upper().clone(),
            points,
            powers,
            hashes: [0; 2],
            recent: vec![0; window.max(1)],
            seen: 0,
            kept: HashMap::new(),
            zero_bits: 0,
            first: None,
            repeated: 0,
        }
    }

    /// Adds the next draw.
    pub fn add(&mut self, x: i64) {
        if self.window == 0 {
            return;
        }
        // Distinct for all magnitudes below 2^60; others only make windows look equal that are not draws of any audited law.
        let code = ((x as i128 + (1 << 60)).rem_euclid(i128::from(PRIME))) as u64;
        let place = (self.seen % self.window as u64) as usize;
        let oldest = std::mem::replace(&mut self.recent[place], code);
        for (hash, (point, power)) in self.hashes.iter_mut().zip(self.points.iter().zip(&self.powers)) {
            let moved = times(*hash, *point) + code;
            let moved = if moved >= PRIME { moved - PRIME } else { moved };
            let gone = times(oldest, *power);
            *hash = if moved >= gone { moved - gone } else { moved + PRIME - gone };
        }
        self.seen += 1;
        if self.seen >= self.window as u64 && self.hashes[0].trailing_zeros() >= self.zero_bits {
            self.keep();
        }
    }

    fn keep(&mut self) {
        match self.kept.get(&self.hashes) {
            Some(before) => {
                self.first.get_or_insert((*before, self.seen));
                self.repeated += 1;
            }
            None => {
                self.kept.insert(self.hashes, self.seen);
            }
        }
        if self.kept.len() >= MOST {
            self.zero_bits += 1;
            let bits = self.zero_bits;
            self.kept.retain(|hashes, _| hashes[0].trailing_zeros() >= bits);
        }
    }

    /// The number of draws in a compared window; `None` if the law has too little randomness for the search.
    pub fn window(&self) -> Option<usize> {
        (self.window > 0).then_some(self.window)
    }

    /// The length of a repeated stretch that is found with probability 0.99, approximately.
    pub fn found_from_approx(&self) -> u64 {
        // A window of the stretch is kept with probability 2^-zero_bits.
        let apart = if self.zero_bits == 0 { 0.0 } else { 4.605 * f64::from(1_u32 << self.zero_bits.min(31)) };
        self.window as u64 + apart as u64
    }

    /// The repeated windows, and the places after the first two equal ones.
    pub fn found(&self) -> (u64, Option<(u64, u64)>) {
        (self.repeated, self.first)
    }

    /// The bound on the probability of a repetition; 1 if there is none.
    pub fn p(&self) -> ProvenP {
        if self.repeated == 0 { ProvenP::ONE } else { repetition(self.seen, self.window, &self.largest) }
    }
}

/// An upper bound on the probability that of `rows` windows of `window` draws, each of a mass of at most `largest`, two have equal hashes.
pub(super) fn repetition(rows: u64, window: usize, largest: &Float) -> ProvenP {
    let mut equal = Float::with_val_round(64, largest, Up).0;
    equal.pow_assign_round(u32::try_from(window).unwrap_or(u32::MAX), Up);
    let mut collide = Float::with_val(64, 2 * window as u64);
    collide = Float::with_val_round(64, collide / PRIME, Up).0;
    collide.pow_assign_round(2, Up);
    equal.add_assign_round(collide, Up);
    equal.mul_assign_round(rows, Up);
    equal.mul_assign_round(rows, Up);
    equal >>= 1;
    equal.ln_round(Up);
    ProvenP::of_ln(&equal)
}

/// The same hashes for rows: each row of draws has a hash of its own.
#[derive(Clone, Debug)]
pub struct Rows {
    window: usize,
    largest: Float,
    points: [u64; 2],
    hashes: Vec<[u64; 2]>,
}

impl Rows {
    /// No rows.
    pub fn new(law: &Declared, key: [u64; 2]) -> Rows {
        let Repeats { window, largest, points, .. } = Repeats::new(law, key);
        Rows { window, largest, points, hashes: Vec::new() }
    }

    /// Adds a row by its first draws, if it has enough of them.
    pub fn add(&mut self, draws: impl Iterator<Item = i64>) {
        if self.window == 0 {
            return;
        }
        let (mut hashes, mut many) = ([0; 2], 0);
        for x in draws.take(self.window) {
            let code = ((x as i128 + (1 << 60)).rem_euclid(i128::from(PRIME))) as u64;
            for (hash, point) in hashes.iter_mut().zip(self.points) {
                let moved = times(*hash, point) + code;
                *hash = if moved >= PRIME { moved - PRIME } else { moved };
            }
            many += 1;
        }
        if many == self.window {
            self.hashes.push(hashes);
        }
    }

    /// Adds the rows of another search with the same law and key.
    pub fn join(&mut self, other: Rows) {
        self.hashes.extend(other.hashes);
    }

    /// The number of compared rows, and of those that repeat another one.
    pub fn found(&mut self) -> (u64, u64) {
        self.hashes.sort_unstable();
        let equal = self.hashes.windows(2).filter(|pair| pair[0] == pair[1]).count();
        (self.hashes.len() as u64, equal as u64)
    }

    /// The bound on the probability that any rows are equal.
    pub fn p(&self) -> ProvenP {
        repetition(self.hashes.len() as u64, self.window, &self.largest)
    }

    /// The draws of a row that are compared.
    pub fn window(&self) -> usize {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        law::Law,
        noise::{DiscreteGaussian, Streams},
        numeric::rational::parse,
    };

    fn law() -> (Declared, Vec<i64>) {
        let sigma2 = parse("5").unwrap();
        let sampler = DiscreteGaussian::new(sigma2.clone()).unwrap().sampler().unwrap();
        let mut draws = vec![0; 400_000];
        sampler.fill(&mut draws, &mut Streams::with_insecure_seed(3).take());
        (Declared::of_law(&Law::DiscreteGaussian { sigma2 }).unwrap(), draws)
    }

    #[test]
    fn a_repeated_stretch_is_found_at_any_offset() {
        let (law, mut draws) = law();
        let key = [77, 1 << 40];
        let mut clean = Repeats::new(&law, key);
        draws.iter().for_each(|x| clean.add(*x));
        assert_eq!((clean.found(), clean.p()), ((0, None), ProvenP::ONE));
        assert!(clean.kept.len() < MOST && clean.zero_bits >= 2);
        let long = clean.found_from_approx() as usize * 2;
        let copy: Vec<i64> = draws[1001..1001 + long].to_vec();
        draws[300_000..300_000 + long].copy_from_slice(&copy);
        let mut repeats = Repeats::new(&law, key);
        draws.iter().for_each(|x| repeats.add(*x));
        let (many, first) = repeats.found();
        let (one, other) = first.unwrap();
        assert!(many > 0 && other - one == 300_000 - 1001);
        assert!(repeats.p().value() < 1e-15, "{:?}", repeats.p());
    }

    #[test]
    fn equal_rows_are_found() {
        let (law, draws) = law();
        let mut rows = Rows::new(&law, [5, 6]);
        draws.chunks(80).for_each(|row| rows.add(row.iter().copied()));
        assert_eq!(rows.found(), (5000, 0));
        rows.add(draws[80..160].iter().copied());
        rows.add(draws[..10].iter().copied());
        assert_eq!(rows.found(), (5001, 1));
        assert!(rows.p().value() < 1e-20 && rows.window() <= 80);
    }

    #[test]
    fn a_law_of_little_randomness_is_not_searched() {
        let law = Declared::of_law(&Law::DiscreteGaussian { sigma2: parse("0.02").unwrap() }).unwrap();
        let mut repeats = Repeats::new(&law, [1, 2]);
        (0..10_000).for_each(|_| repeats.add(0));
        assert_eq!((repeats.window(), repeats.p()), (None, ProvenP::ONE));
    }
}
