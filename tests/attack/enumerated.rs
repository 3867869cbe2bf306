//! The law of a privacy loss by enumeration: every value with its mass under both neighbors, in exact fixed point.
//!
//! All stored masses are lower bounds, and the true ones sum to 1. So the missing mass, 1 minus the sum of the stored masses, is an upper
//! bound on the mass of everything truncated or rounded away, and for every event
//!
//! stored mass <= true mass <= stored mass + missing mass.
//!
//! One count with noise p moved by mu: the output x has the loss ln p(x) / p(x - mu), by definition. For the discrete Gaussian it is linear
//! in x, so n counts are described by the sum of their noise, whose law is a convolution. For the discrete Laplace it takes mu + 1 values.
//! Different groups are convolved on a common lattice if that is short; otherwise they stay two lists, all pairs of which are summed.
//!
//! Truncated noise, randomized response and guarantees are enumerated output by output. Outputs that only one neighbor can have are no values of the
//! loss: their probability stands beside, and belongs to every event of a large loss under P, and to none under Q.

use std::collections::BTreeMap;

use rug::{Complete, Integer, Rational};

use super::{
    cases::{Noise, Part},
    fixed::{Fixed, Span, convolve},
};

/// The greatest length of a lattice.
const LONGEST: usize = 1 << 16;
/// The largest number of bits in a lattice, which is the operand of one multiplication.
const MOST_BITS: usize = 40_000_000;
/// The greatest number of pairs of two lists.
const MOST_PAIRS: usize = 40_000;

/// Masses at start + k step under P and under Q.
#[derive(Clone, Debug)]
struct Lattice {
    start: Rational,
    step: Rational,
    p: Vec<Integer>,
    q: Vec<Integer>,
}

/// One value of the loss, in units of one over the common denominator: parameters with many digits have denominators above 128 bits.
#[derive(Clone, Debug)]
struct Atom {
    loss: Integer,
    p: Integer,
    q: Integer,
}

/// The law of the loss of a composition without continuous noise.
#[derive(Debug)]
pub struct Enumerated {
    pub fixed: Fixed,
    denominator: Integer,
    /// Sorted by loss.
    first: Vec<Atom>,
    second: Vec<Atom>,
    /// The masses of the second list from each index on: one more entry than the list.
    tails: Vec<(Integer, Integer)>,
    /// The missing mass under P and under Q.
    missing: (Integer, Integer),
    /// The probability that both neighbors can have the output, the same under P and under Q.
    common: Span,
}

/// Lower bounds for the masses of N_Z(0, sigma2) at -reach..=reach, where the reach is the point at which they fall below 2^-bits.
///
/// The weights exp(-x^2 / (2 sigma2)) follow from each other: w(x + 1) = w(x) q^(2 x + 1) with q = exp(-1 / (2 sigma2)). Their sum beyond
/// the reach R is at most w(R + 1) / (1 - q^(2 R + 3)) on each side, and 1 / (1 - exp(-u)) <= 1 + 1/u.
pub fn gaussian_masses(sigma2: &Rational, bits: u32) -> Vec<Integer> {
    let reach = (2.0 * sigma2.to_f64() * f64::from(bits) * std::f64::consts::LN_2).sqrt() as usize + 1;
    let wide = Fixed { bits: bits + 2 * (reach as u32).ilog2() + 16 };
    let q = wide.exp(&-(sigma2.clone() * 2_u32).recip());
    let (square, mut factor) = (wide.mul(&q, &q), q);
    let mut weight = Span { lower: wide.one(), upper: wide.one() };
    let mut lower = vec![wide.one()];
    let mut all = wide.one();
    for _ in 0..reach {
        weight = wide.mul(&weight, &factor);
        factor = wide.mul(&factor, &square);
        all += (&weight.upper * 2_u32).complete();
        lower.push(weight.lower.clone());
    }
    weight = wide.mul(&weight, &factor);
    let u = Rational::from((2 * reach as u64 + 3, 2)) / sigma2;
    let beyond = wide.rational(&(u.recip() + 1_u32));
    all += wide.mul(&weight, &beyond).upper * 2_u32;
    let half: Vec<Integer> = lower.into_iter().map(|weight| (weight << bits).div_rem_floor(all.clone()).0).collect();
    half.iter().skip(1).rev().chain(&half).cloned().collect()
}

/// The n-th convolution power of a symmetric vector of masses, without the zeros at its ends.
pub fn power(masses: Vec<Integer>, n: u64, bits: u32) -> Option<Vec<Integer>> {
    let (mut base, mut n, mut result) = (trimmed(masses), n, None::<Vec<Integer>>);
    loop {
        if n % 2 == 1 {
            result = Some(match result {
                None => base.clone(),
                Some(result) => checked(&result, &base, bits)?,
            });
        }
        n /= 2;
        if n == 0 {
            return result;
        }
        base = checked(&base, &base, bits)?;
    }
}

fn checked(a: &[Integer], b: &[Integer], bits: u32) -> Option<Vec<Integer>> {
    let len = a.len() + b.len();
    (len <= 4 * LONGEST && len * bits as usize <= MOST_BITS).then(|| trimmed(convolve(a, b, bits)))
}

/// The vector without zeros at its ends, the same number at both.
fn trimmed(masses: Vec<Integer>) -> Vec<Integer> {
    let zeros = masses.iter().zip(masses.iter().rev()).take_while(|(a, b)| **a == 0 && **b == 0).count();
    if 2 * zeros >= masses.len() {
        return masses;
    }
    let end = masses.len() - zeros;
    masses[zeros..end].to_vec()
}

impl Lattice {
    fn of(part: &Part, bits: u32) -> Option<Self> {
        match part.noise {
            Noise::DiscreteGaussian => Lattice::gaussian(part, bits),
            Noise::DiscreteLaplace => Lattice::laplace(part, bits),
            Noise::TruncatedLaplace { .. }
            | Noise::TruncatedGaussian { .. }
            | Noise::Staircase { .. }
            | Noise::RandomizedResponse { .. }
            | Noise::Pure
            | Noise::Approximate { .. } => Lattice::outputs(part, bits),
        }
    }

    /// The sum of the losses of counts whose outputs are listed.
    fn outputs(part: &Part, bits: u32) -> Option<Self> {
        let wide = Fixed { bits: bits + WIDER };
        let mut masses: BTreeMap<Rational, [Integer; 2]> = BTreeMap::new();
        for output in outputs(part, wide) {
            let [p, q] = [output.p, output.q].map(|mass| mass.lower.max(Integer::new()) >> WIDER);
            let at = masses.entry(output.loss).or_default();
            at[0] += p;
            at[1] += q;
        }
        let start = masses.keys().next()?.clone();
        let apart = |loss: &Rational| Rational::from(loss - &start);
        let step = masses.keys().skip(1).map(apart).reduce(|a, b| gcd(&a, &b)).unwrap_or_else(|| Rational::from(1));
        let place = |loss: &Rational| (apart(loss) / &step).into_numer_denom().0.to_usize();
        let longest = place(masses.keys().last()?)?;
        if longest.saturating_mul(part.count as usize) > LONGEST {
            return None;
        }
        let mut single = [vec![Integer::new(); longest + 1], vec![Integer::new(); longest + 1]];
        for (loss, both) in &masses {
            let at = place(loss)?;
            single[0][at] = both[0].clone();
            single[1][at] = both[1].clone();
        }
        let sum = |one: &Vec<Integer>| (1..part.count).fold(one.clone(), |all, _| convolve(&all, one, bits));
        let [p, q] = [sum(&single[0]), sum(&single[1])];
        Some(Lattice { start: start * part.count, step, p, q })
    }

    /// With T minus the sum of the noise, the loss is n mu^2 / (2 sigma2) + T mu / sigma2; under Q the noise is centered at mu, so T has
    /// the mass that T + n mu has under P.
    fn gaussian(part: &Part, bits: u32) -> Option<Self> {
        let reach = 2.0 * part.parameter.to_f64() * f64::from(bits);
        if reach.sqrt() > LONGEST as f64 {
            return None;
        }
        let masses = power(gaussian_masses(&part.parameter, bits), part.count, bits)?;
        let moved = usize::try_from(part.count * part.shift).ok()?;
        if masses.len() + moved > 2 * LONGEST {
            return None;
        }
        let most = masses.len() as u64 / 2;
        let zeros = || std::iter::repeat_n(Integer::new(), moved);
        let step = Rational::from(part.shift) / &part.parameter;
        let square = Rational::from(part.count) * part.shift * part.shift / Rational::from(&part.parameter * 2_u32);
        let start = square - Rational::from(most + moved as u64) * &step;
        let p: Vec<Integer> = zeros().chain(masses.iter().cloned()).collect();
        let q: Vec<Integer> = masses.into_iter().chain(zeros()).collect();
        Some(Lattice { start, step, p, q })
    }

    /// With p = exp(-epsilon): x <= 0 has the loss epsilon mu and the mass 1 / (1 + p).
    /// x >= mu has the opposite loss and the mass p^mu / (1 + p).
    /// Between them the loss is epsilon (mu - 2 x), with the mass p^x (1 - p) / (1 + p).
    fn laplace(part: &Part, bits: u32) -> Option<Self> {
        let wide = Fixed { bits: bits + 16 + 64 - part.shift.leading_zeros() };
        let p = wide.exp(&-part.parameter.clone());
        let one = Span { lower: wide.one(), upper: wide.one() };
        let sum = wide.add(&one, &p);
        let mut powers = vec![wide.div(&one, &sum)];
        for _ in 0..part.shift {
            powers.push(wide.mul(powers.last()?, &p));
        }
        let gap = wide.sub(&one, &p);
        let mut masses: Vec<Integer> = (1..part.shift as usize)
            .map(|x| wide.mul(&powers[x], &gap).lower.max(Integer::new()) >> (wide.bits - bits))
            .collect();
        masses.insert(0, powers[0].lower.clone() >> (wide.bits - bits));
        masses.push(powers[part.shift as usize].lower.clone() >> (wide.bits - bits));
        // In increasing order of the loss: Q has the same masses in reverse order.
        masses.reverse();
        let mut all = masses.clone();
        if (part.count * part.shift) as usize > LONGEST {
            return None;
        }
        let (mut base, mut n) = (masses, part.count - 1);
        while n > 0 {
            if n % 2 == 1 {
                all = convolve(&all, &base, bits);
            }
            n /= 2;
            if n > 0 {
                base = convolve(&base, &base, bits);
            }
        }
        let start = -Rational::from(&part.parameter * part.shift) * part.count;
        let q = all.iter().rev().cloned().collect();
        Some(Lattice { start, step: Rational::from(&part.parameter * 2_u32), p: all, q })
    }

    /// The convolution of both on the lattice of the common step, if that is short enough.
    fn and(&self, other: &Self, bits: u32) -> Option<Self> {
        let step = gcd(&self.step, &other.step);
        let apart = |lattice: &Self| {
            let apart = Rational::from(&lattice.step / &step).into_numer_denom().0;
            apart.to_usize().filter(|apart| apart.saturating_mul(lattice.p.len()) <= 2 * LONGEST)
        };
        let (own, others) = (apart(self)?, apart(other)?);
        let len = own * self.p.len() + others * other.p.len();
        if len > LONGEST || len * bits as usize > MOST_BITS {
            return None;
        }
        let spread = |masses: &[Integer], apart: usize| {
            let mut all = vec![Integer::new(); (masses.len() - 1) * apart + 1];
            masses.iter().enumerate().for_each(|(at, mass)| all[at * apart] = mass.clone());
            all
        };
        let both = |a: &[Integer], b: &[Integer]| convolve(&spread(a, own), &spread(b, others), bits);
        let (mut p, mut q) = (both(&self.p, &other.p), both(&self.q, &other.q));
        let empty = |k: &usize| p[*k] == 0 && q[*k] == 0;
        let low = (0..p.len()).take_while(empty).count();
        let high = (0..p.len()).rev().take_while(empty).count();
        let start = Rational::from(&self.start + &other.start) + Rational::from(low) * &step;
        for masses in [&mut p, &mut q] {
            masses.truncate(masses.len() - high);
            masses.drain(..low);
        }
        Some(Lattice { start, step, p, q })
    }
}

/// More bits of the probabilities of single outputs.
const WIDER: u32 = 64;

/// An output that both neighbors can have: its loss, and its probabilities.
struct Output {
    loss: Rational,
    p: Span,
    q: Span,
}

/// All outputs of one count of a listed law that both neighbors can have, by its definition.
fn outputs(part: &Part, wide: Fixed) -> Vec<Output> {
    let exact = |value: Rational| wide.rational(&value);
    let (loss, bare) = (Rational::from(&part.parameter * part.shift), exact(Rational::from(1)));
    match part.noise {
        Noise::DiscreteGaussian | Noise::DiscreteLaplace => unreachable!("{part:?} has a lattice of its own"),
        Noise::TruncatedLaplace { bound } => {
            moved(bound, part.shift, wide, |x| Rational::from(&part.parameter * x.unsigned_abs()))
        }
        Noise::TruncatedGaussian { bound } => {
            moved(bound, part.shift, wide, |x| Rational::from(x * x) / Rational::from(&part.parameter * 2_u32))
        }
        Noise::Staircase { period, first } => stairs(part, period, first, wide),
        Noise::RandomizedResponse { answers } => {
            let all = wide.add(&wide.exp(&loss), &exact(Rational::from(answers - 1)));
            let (likely, rare) = (wide.div(&wide.exp(&loss), &all), wide.div(&bare, &all));
            let others = wide.mul(&rare, &exact(Rational::from(answers - 2)));
            let mut three = both_ways(loss, likely, rare);
            three.push(Output { loss: Rational::new(), p: others.clone(), q: others });
            three
        }
        Noise::Pure => {
            let all = wide.add(&wide.exp(&loss), &bare);
            both_ways(loss.clone(), wide.div(&wide.exp(&loss), &all), wide.div(&bare, &all))
        }
        Noise::Approximate { delta: (top, bottom) } => {
            let all = wide.add(&wide.exp(&loss), &bare);
            let rest = exact(Rational::from((bottom - top, bottom)));
            let [likely, rare] = [wide.exp(&loss), bare].map(|weight| wide.mul(&rest, &wide.div(&weight, &all)));
            both_ways(loss, likely, rare)
        }
    }
}

/// Outputs of noise that falls by exp(-epsilon) after `first` values and then after each `period`: on both sides those of one remainder have one loss, and their masses are a
/// geometric series.
fn stairs(part: &Part, period: u64, first: u64, wide: Fixed) -> Vec<Output> {
    let level = |x: i64| ((x.unsigned_abs() + period - first) / period) as i64;
    let one = wide.rational(&Rational::from(1));
    let weight = |level: i64| wide.exp(&-Rational::from(&part.parameter * level));
    let gap = wide.sub(&one, &weight(1));
    let (period, shift) = (period as i64, part.shift as i64);
    // Of all values, and of those that follow one at the distance of a period.
    let zero = Span { lower: Integer::new(), upper: Integer::new() };
    let side = (0..period).fold(zero, |sum, x| wide.add(&sum, &wide.div(&weight(level(x)), &gap)));
    let all = wide.sub(&wide.add(&side, &side), &one);
    let mass = |x: i64, is_series: bool| {
        let weight = weight(level(x));
        wide.div(&if is_series { wide.div(&weight, &gap) } else { weight }, &all)
    };
    let output = |y: i64, is_series: bool| {
        let loss = Rational::from(&part.parameter * (level(y - shift) - level(y)));
        Output { loss, p: mass(y, is_series), q: mass(y - shift, is_series) }
    };
    let above = (shift..shift + period).map(|y| output(y, true));
    let below = (1 - period..=0).map(|y| output(y, true));
    above.chain(below).chain((1..shift).map(|y| output(y, false))).collect()
}

/// An output that is likely under P, and one that is under Q.
fn both_ways(loss: Rational, likely: Span, rare: Span) -> Vec<Output> {
    let back = Output { loss: Rational::from(-&loss), p: rare.clone(), q: likely.clone() };
    vec![Output { loss, p: likely, q: rare }, back]
}

/// The noise x from -bound to bound has probability in proportion to exp(-exponent(x)); the output is x under P, and x plus the shift under Q.
fn moved(bound: u64, shift: u64, wide: Fixed, exponent: impl Fn(i64) -> Rational) -> Vec<Output> {
    let (bound, shift) = (bound as i64, shift as i64);
    let weights: Vec<Span> = (-bound..=bound).map(|x| wide.exp(&-exponent(x))).collect();
    let zero = Span { lower: Integer::new(), upper: Integer::new() };
    let all = weights.iter().fold(zero, |sum, weight| wide.add(&sum, weight));
    let mass = |x: i64| wide.div(&weights[(x + bound) as usize], &all);
    let output = |y: i64| Output { loss: exponent(y - shift) - exponent(y), p: mass(y), q: mass(y - shift) };
    (shift - bound..=bound).map(output).collect()
}

/// The probability that the outputs of all counts are ones that both neighbors can have.
fn common(part: &Part, bits: u32) -> Span {
    let wide = Fixed { bits: bits + WIDER };
    let one = Span { lower: wide.one(), upper: wide.one() };
    let single = match part.noise {
        Noise::DiscreteGaussian
        | Noise::DiscreteLaplace
        | Noise::Staircase { .. }
        | Noise::RandomizedResponse { .. }
        | Noise::Pure => one.clone(),
        Noise::Approximate { delta: (top, bottom) } => wide.rational(&Rational::from((bottom - top, bottom))),
        Noise::TruncatedLaplace { .. } | Noise::TruncatedGaussian { .. } => {
            let zero = Span { lower: Integer::new(), upper: Integer::new() };
            outputs(part, wide).iter().fold(zero, |sum, output| wide.add(&sum, &output.p))
        }
    };
    let all = (0..part.count).fold(one, |all, _| wide.mul(&all, &single));
    Span { lower: all.lower >> WIDER, upper: ((all.upper >> WIDER) + 1_u32).min(Fixed { bits }.one()) }
}

/// The greatest common divisor of two rationals: that of the numerators over a common denominator.
fn gcd(a: &Rational, b: &Rational) -> Rational {
    let numerator = (a.numer() * b.denom()).complete().gcd(&(b.numer() * a.denom()).complete());
    Rational::from((numerator, (a.denom() * b.denom()).complete()))
}

fn atoms(lattice: &Lattice, denominator: &Integer) -> Vec<Atom> {
    let units = |x: &Rational| Rational::from(x * denominator).into_numer_denom().0;
    let (start, step) = (units(&lattice.start), units(&lattice.step));
    let all = lattice.p.iter().zip(&lattice.q).enumerate().filter(|(_, (p, q))| **p != 0 || **q != 0);
    all.map(|(k, (p, q))| Atom { loss: Integer::from(&step * k as u64) + &start, p: p.clone(), q: q.clone() }).collect()
}

fn pairs(a: &[Atom], b: &[Atom], bits: u32) -> Option<Vec<Atom>> {
    if a.len() * b.len() > MOST_PAIRS {
        return None;
    }
    let one = |x: &Atom, y: &Atom| Atom {
        loss: (&x.loss + &y.loss).complete(),
        p: (&x.p * &y.p).complete() >> bits,
        q: (&x.q * &y.q).complete() >> bits,
    };
    let mut all: Vec<Atom> = a.iter().flat_map(|x| b.iter().map(move |y| one(x, y))).collect();
    all.sort_by(|a, b| a.loss.cmp(&b.loss));
    Some(all)
}

/// Bounds on P\[event\] and Q\[event\].
#[derive(Clone, Debug)]
pub struct Event {
    pub p: Span,
    pub q: Span,
}

impl Enumerated {
    /// The law, with masses down to 2^-bits; `None` if it has too many values to enumerate.
    pub fn new(parts: &[Part], bits: u32) -> Option<Self> {
        let fixed = Fixed { bits };
        let mut lattices: Vec<Lattice> = Vec::new();
        let mut all_common = Span { lower: fixed.one(), upper: fixed.one() };
        for part in parts {
            if part.noise.has_ends() {
                all_common = fixed.mul(&all_common, &common(part, bits));
            }
            let mut next = Lattice::of(part, bits)?;
            while let Some((at, both)) =
                lattices.iter().enumerate().find_map(|(at, lattice)| Some((at, lattice.and(&next, bits)?)))
            {
                lattices.remove(at);
                next = both;
            }
            lattices.push(next);
        }
        let ends = lattices.iter().flat_map(|lattice| [&lattice.start, &lattice.step]);
        let denominator = ends.fold(Integer::from(1), |all, end| all.lcm(end.denom()));
        let mut lists: Vec<Vec<Atom>> = lattices.iter().map(|lattice| atoms(lattice, &denominator)).collect();
        lists.sort_by_key(Vec::len);
        while lists.len() > 2 {
            let both = pairs(&lists[0], &lists[1], bits)?;
            lists.splice(..2, [both]);
            lists.sort_by_key(Vec::len);
        }
        let second = if lists.len() == 2 {
            lists.remove(0)
        } else {
            vec![Atom { loss: Integer::new(), p: fixed.one(), q: fixed.one() }]
        };
        let first = lists.pop()?;
        Some(Enumerated::of_lists(fixed, denominator, [first, second], all_common))
    }

    fn of_lists(fixed: Fixed, denominator: Integer, [first, second]: [Vec<Atom>; 2], common: Span) -> Self {
        let mut tails = vec![(Integer::new(), Integer::new())];
        for atom in second.iter().rev() {
            let (p, q) = tails.last().expect("one entry at least");
            tails.push(((p + &atom.p).complete(), (q + &atom.q).complete()));
        }
        tails.reverse();
        let missing = Default::default();
        let mut law = Enumerated { fixed, denominator, first, second, tails, missing, common };
        let (p, q) = law.stored_from(&law.ends().0);
        let infinite = law.infinite_mass().lower;
        law.missing = (fixed.one() - p - &infinite, fixed.one() - q - &infinite);
        assert!(law.missing.0 >= 0 && law.missing.1 >= 0, "stored masses exceed one");
        law
    }

    /// The probability of an output that only one neighbor can have.
    pub fn infinite_mass(&self) -> Span {
        let one = self.fixed.one();
        Span { lower: (&one - &self.common.upper).complete(), upper: (&one - &self.common.lower).complete() }
    }

    /// The law given that both neighbors can have the output.
    pub fn given_common(&self) -> Self {
        let bits = self.fixed.bits;
        // Lower bounds on masses, divided by an upper bound: lower bounds.
        let within = |mass: &Integer| (mass.clone() << bits).div_rem_floor(self.common.upper.clone()).0;
        let scaled = |atom: &Atom| Atom { loss: atom.loss.clone(), p: within(&atom.p), q: within(&atom.q) };
        let first = self.first.iter().map(scaled).collect();
        let one = Span { lower: self.fixed.one(), upper: self.fixed.one() };
        Enumerated::of_lists(self.fixed, self.denominator.clone(), [first, self.second.clone()], one)
    }

    /// The stored masses of all losses of at least `least` units.
    fn stored_from(&self, least: &Integer) -> (Integer, Integer) {
        let (mut p, mut q) = (Integer::new(), Integer::new());
        let mut from = self.second.len();
        for atom in &self.first {
            let place = (least - &atom.loss).complete();
            while from > 0 && self.second[from - 1].loss >= place {
                from -= 1;
            }
            p += &atom.p * &self.tails[from].0;
            q += &atom.q * &self.tails[from].1;
        }
        (p >> self.fixed.bits, q >> self.fixed.bits)
    }

    /// The smallest loss, and one unit more than the largest.
    fn ends(&self) -> (Integer, Integer) {
        let end = |pick: fn(&[Atom]) -> Option<&Atom>| {
            let loss = |list: &[Atom]| pick(list).map_or_else(Integer::new, |atom| atom.loss.clone());
            loss(&self.first) + loss(&self.second)
        };
        (end(|list| list.first()), end(|list| list.last()) + 1_u32)
    }

    /// Upper bound on the number of values of the loss.
    pub fn values(&self) -> usize {
        self.first.len() * self.second.len()
    }

    /// The mean under P of a function from 0 to 1 of the loss.
    pub fn expected(&self, of_loss: impl Fn(&Rational) -> Span) -> Span {
        let mut sum = Span { lower: Integer::new(), upper: self.missing.0.clone() };
        for (a, b) in self.first.iter().flat_map(|a| self.second.iter().map(move |b| (a, b))) {
            let mass = (&a.p * &b.p).complete() >> self.fixed.bits;
            let loss = Rational::from(((&a.loss + &b.loss).complete(), self.denominator.clone()));
            // Rounded down by less than one unit, which is part of the missing mass.
            let part = self.fixed.mul(&Span { lower: mass.clone(), upper: mass }, &of_loss(&loss));
            sum = self.fixed.add(&sum, &part);
        }
        sum
    }

    fn event(&self, least: &Integer) -> Event {
        let (p, q) = self.stored_from(least);
        let one = self.fixed.one();
        // Stored masses were rounded down by less than one unit.
        let span = |stored: Integer, missing: &Integer| Span {
            upper: ((&stored + missing).complete() + 1_u32).min(one.clone()),
            lower: stored,
        };
        let p = p + self.infinite_mass().lower;
        Event { p: span(p, &self.missing.0), q: span(q, &self.missing.1) }
    }

    /// Losses of at least z, in units: rounded up.
    fn units_up(&self, z: &Rational) -> Integer {
        Rational::from(z * &self.denominator).ceil().into_numer_denom().0
    }

    /// The probabilities of a loss of at least z.
    pub fn at_least(&self, z: &Rational) -> Event {
        self.event(&self.units_up(z))
    }

    /// delta(epsilon) = P\[L > epsilon\] - exp(epsilon) Q\[L > epsilon\].
    pub fn delta(&self, epsilon: &Rational) -> Span {
        let event = self.at_least(epsilon);
        let excess = self.fixed.sub(&event.p, &self.fixed.mul(&self.fixed.exp(epsilon), &event.q));
        Span { lower: excess.lower.max(Integer::new()), upper: excess.upper.max(Integer::new()) }
    }

    /// The least type II error of a test of type I error alpha, 0 < alpha < 1, by Neyman and Pearson; `None` if masses below 2^-bits decide
    /// between two knots.
    ///
    /// With l the largest loss for which Q\[L >= l\] >= alpha, the best test rejects above l, and at l with a probability. Its error is
    /// P\[L <= l\] - exp(l) (alpha - Q\[L > l\]).
    pub fn tradeoff(&self, alpha: &Rational) -> Option<Span> {
        let fixed = self.fixed;
        let level = fixed.rational(alpha);
        let (mut holds, mut fails) = self.ends();
        if self.infinite_mass().upper > 0 {
            // A test that rejects every output that both neighbors can have errs under Q with their probability, and never under P.
            let all = self.event(&holds).q;
            if level.lower >= all.upper {
                return Some(Span { lower: Integer::new(), upper: Integer::new() });
            }
            if level.upper > all.lower {
                return None;
            }
        }
        while (&fails - &holds).complete() > 1 {
            let middle = (&holds + &fails).complete() >> 1_u32;
            if self.stored_from(&middle).1 >= level.upper { holds = middle } else { fails = middle }
        }
        let above = self.event(&(&holds + 1_u32).complete());
        if above.q.upper > level.lower {
            return None;
        }
        let loss = Rational::from((holds, self.denominator.clone()));
        let rest = fixed.mul(&fixed.exp(&loss), &fixed.sub(&level, &above.q));
        let one = Span { lower: fixed.one(), upper: fixed.one() };
        let beta = fixed.sub(&fixed.sub(&one, &above.p), &rest);
        Some(Span { lower: beta.lower.max(Integer::new()), upper: beta.upper })
    }

    /// The largest possible loss that is at most z.
    pub fn loss_near(&self, z: &Rational) -> Rational {
        let most = self.units_up(z);
        let pick =
            |list: &[Atom], most: Integer| list[list.partition_point(|atom| atom.loss <= most).max(1) - 1].loss.clone();
        let one = pick(&self.first, (&most - &self.second[self.second.len() / 2].loss).complete());
        let other = pick(&self.second, most - &one);
        Rational::from((one + other, self.denominator.clone()))
    }
}

impl Enumerated {
    /// The probabilities of a loss above ln(ratio); `None` if a loss is too close to decide.
    pub fn above_ln(&self, ratio: &Rational) -> Option<Event> {
        if *ratio == 1 {
            return Some(self.event(&Integer::from(1)));
        }
        let target = self.fixed.rational(ratio);
        let exp = |units: &Integer| self.fixed.exp(&Rational::from((units.clone(), self.denominator.clone())));
        // The largest number of units whose exponential is at most the ratio, by bisection around the logarithm in doubles.
        let near = ratio.to_f64().ln() * self.denominator.to_f64();
        let slack = near.abs() * 1e-9 + 4.0;
        let (mut low, mut high) = (Integer::from_f64(near - slack)?, Integer::from_f64(near + slack)?);
        if exp(&low).upper > target.lower || exp(&high).lower < target.upper {
            return None;
        }
        while (&high - &low).complete() > 1 {
            let middle = (&low + &high).complete() >> 1_u32;
            let at = exp(&middle);
            if at.upper <= target.lower {
                low = middle;
            } else if at.lower >= target.upper {
                high = middle;
            } else {
                return None;
            }
        }
        Some(self.event(&high))
    }

    /// E_P\[g(L)\] for g between zero and one; `None` for more than `most` pairs of atoms.
    pub fn mean_under_p(&self, most: usize, g: &dyn Fn(&Rational) -> Span) -> Option<Span> {
        self.mean(most, g, |atom| &atom.p, &self.missing.0)
    }

    /// E_Q\[g(L)\].
    pub fn mean_under_q(&self, most: usize, g: &dyn Fn(&Rational) -> Span) -> Option<Span> {
        self.mean(most, g, |atom| &atom.q, &self.missing.1)
    }

    fn mean(
        &self,
        most: usize,
        g: &dyn Fn(&Rational) -> Span,
        mass: fn(&Atom) -> &Integer,
        missing: &Integer,
    ) -> Option<Span> {
        if self.first.len() * self.second.len() > most {
            return None;
        }
        let mut sum = Span { lower: Integer::new(), upper: missing.clone() };
        for a in &self.first {
            for b in &self.second {
                let loss = Rational::from(((&a.loss + &b.loss).complete(), self.denominator.clone()));
                let both = (mass(a) * mass(b)).complete();
                // The stored mass of a pair is rounded down by at most one unit, which is missing, too.
                let weight = Span { lower: both.clone() >> self.fixed.bits, upper: (both >> self.fixed.bits) + 1 };
                sum = self.fixed.add(&sum, &self.fixed.mul(&weight, &g(&loss)));
            }
        }
        Some(sum)
    }
}
