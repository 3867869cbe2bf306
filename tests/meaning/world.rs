//! Small worlds: noise with few values, up to three counts, and the pairs of laws of all neighbors, listed one by one.

use std::{fmt::Write, fs, path::Path};

use rug::{Integer, Rational, ops::Pow};

use crate::truth::{Pair, exchanged};

/// A small generator of numbers, the same on every machine.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    /// Masses that sum to one. The first and the last are positive.
    fn masses(&mut self, count: usize, zeros: bool) -> Vec<Rational> {
        let is_end = |at: usize| at == 0 || at + 1 == count;
        let weights: Vec<u64> = (0..count)
            .map(|at| if zeros && !is_end(at) && self.below(4) == 0 { 0 } else { 1 + self.below(9) })
            .collect();
        let total: u64 = weights.iter().sum();
        weights.into_iter().map(|weight| Rational::from((weight, total))).collect()
    }
}

/// e^x for 0 <= x <= 12: below and above, less than 1e-40 apart.
pub fn exp(x: &Rational) -> (Rational, Rational) {
    let (mut sum, mut term) = (Rational::from(1), Rational::from(1));
    for n in 1..=100 {
        term *= x;
        term /= n;
        sum += &term;
    }
    // All later terms are less than this one in sum: each is less than 12/101 of that before it.
    let upper = Rational::from(&sum + &term);
    let unit = Integer::from(2).pow(200);
    let floor = (sum * &unit).floor();
    let ceil = (upper * &unit).ceil();
    (floor / &unit, ceil / &unit)
}

/// What the counts are published with.
#[derive(Clone, Debug)]
pub enum Noise {
    /// Masses on 0, 1, ..
    Table(Vec<Rational>),
    /// Outcomes of two hypotheses.
    Pair(Pair),
    /// Randomized response of that epsilon and number of answers.
    Response(Rational, u32),
    /// Discrete Laplace noise of that epsilon on [-bound, bound].
    Truncated(Rational, i32),
    /// Any mechanism of that epsilon.
    Pure(Rational),
    /// Any mechanism of that epsilon and delta.
    Approximate(Rational, Rational),
}

/// A mechanism, what a record does to it, and who is a neighbor.
#[derive(Clone, Debug)]
pub struct World {
    pub noise: Noise,
    pub count: usize,
    pub shift: usize,
    pub bounded: bool,
    pub group: usize,
}

impl World {
    /// A random world.
    pub fn random(dice: &mut Dice) -> Self {
        let epsilon = Rational::from((1 + dice.below(8), 4));
        let noise = match dice.below(9) {
            0..=3 => {
                let size = 2 + dice.below(3) as usize;
                Noise::Table(dice.masses(size, true))
            }
            4 | 5 => {
                let size = 2 + dice.below(3) as usize;
                let (mut with, mut without) = (dice.masses(size, false), dice.masses(size, false));
                with.push(Rational::new());
                without.insert(0, Rational::new());
                Noise::Pair(with.into_iter().zip(without).collect())
            }
            6 => Noise::Response(epsilon, 2 + dice.below(2) as u32),
            7 => Noise::Truncated(epsilon, 1 + dice.below(2) as i32),
            _ if dice.below(2) == 0 => Noise::Pure(epsilon),
            _ => Noise::Approximate(epsilon, Rational::from((1, 10 + dice.below(90)))),
        };
        let moves = matches!(noise, Noise::Table(_) | Noise::Truncated(..));
        let bounded = moves && dice.below(3) == 0;
        let count = 1 + dice.below(if bounded { 1 } else { 3 }) as usize;
        let group = if moves && count == 1 && !bounded && dice.below(3) == 0 { 2 } else { 1 };
        let shift = if moves && count < 3 && group == 1 { 1 + dice.below(2) as usize } else { 1 };
        Self { noise, count, shift, bounded, group }
    }

    /// The options that say the same, with files in the folder.
    pub fn options(&self, folder: &Path) -> Vec<String> {
        let size = if self.count == 1 { String::new() } else { format!("x{}", self.count) };
        let moved = if self.shift == 1 { String::new() } else { format!("@{}", self.shift) };
        let file = |name: &str, text: String| {
            let path = folder.join(name);
            fs::write(&path, text).expect("the folder of the test");
            path.display().to_string()
        };
        let (option, value) = match &self.noise {
            Noise::Table(masses) => {
                let mut text = "value,mass\n".to_string();
                masses.iter().enumerate().for_each(|(at, mass)| writeln!(text, "{at},{mass}").expect("text"));
                ("--table", file("table.csv", text))
            }
            Noise::Pair(pair) => {
                let mut text = "p,q\n".to_string();
                pair.iter().for_each(|(p, q)| writeln!(text, "{p},{q}").expect("text"));
                ("--pair", file("pair.csv", text))
            }
            Noise::Response(epsilon, kinds) => ("--randomized-response", format!("{epsilon}:{kinds}")),
            Noise::Truncated(epsilon, bound) => ("--truncated-laplace", format!("{epsilon}:{bound}")),
            Noise::Pure(epsilon) => ("--pure", epsilon.to_string()),
            Noise::Approximate(epsilon, delta) => ("--approximate", format!("{epsilon}:{delta}")),
        };
        let mut options = vec![option.to_string(), format!("{value}{size}{moved}")];
        if self.bounded {
            options.extend(["--neighbors", "bounded"].map(String::from));
        }
        if self.group > 1 {
            options.extend(["--group".to_string(), self.group.to_string()]);
        }
        options
    }

    /// Whether the outputs themselves are known, and not only a pair that dominates them.
    pub fn is_known(&self) -> bool {
        !matches!(self.noise, Noise::Pure(_) | Noise::Approximate(..))
    }

    /// Masses of the noise on 0, 1, .. of one count, if it is added.
    fn masses(&self) -> Option<Vec<Rational>> {
        match &self.noise {
            Noise::Table(masses) => Some(masses.clone()),
            Noise::Truncated(epsilon, bound) => {
                let (base, _) = exp(epsilon);
                let weights: Vec<Rational> = (-bound..=*bound).map(|k| base.clone().pow(bound - k.abs())).collect();
                let total: Rational = weights.iter().sum();
                Some(weights.into_iter().map(|weight| weight / &total).collect())
            }
            _ => None,
        }
    }

    /// The outcomes of one unit that is given as a pair.
    fn given(&self) -> Pair {
        let over = |weights: Vec<(Rational, Rational)>, total: &Rational| -> Pair {
            weights.into_iter().map(|(p, q)| (p / total, q / total)).collect()
        };
        let one = Rational::from(1);
        match &self.noise {
            Noise::Pair(pair) => pair.clone(),
            Noise::Response(epsilon, kinds) => {
                let base = exp(epsilon).0;
                let total = Rational::from(&base + (kinds - 1));
                let mut weights = vec![(base.clone(), one.clone()), (one.clone(), base)];
                weights.extend((2..*kinds).map(|_| (one.clone(), one.clone())));
                over(weights, &total)
            }
            Noise::Pure(epsilon) => {
                let base = exp(epsilon).0;
                over(vec![(base.clone(), one.clone()), (one.clone(), base.clone())], &Rational::from(&base + 1u32))
            }
            Noise::Approximate(epsilon, delta) => {
                let base = exp(epsilon).0;
                let total = Rational::from(&base + 1u32) / Rational::from(&one - delta);
                let zero = Rational::new();
                let mut pair = vec![(delta.clone(), zero.clone()), (zero, delta.clone())];
                pair.extend(over(vec![(base.clone(), one.clone()), (one, base)], &total));
                pair
            }
            Noise::Table(_) | Noise::Truncated(..) => unreachable!("noise that is added has no single pair"),
        }
    }

    /// All vectors by which the records of a group can move counts: each record changes COUNT counts by 0 to SHIFT.
    pub fn moves(&self) -> Vec<Vec<i64>> {
        let cells = self.count * self.group;
        let mut all = vec![vec![0; cells]];
        for _ in 0..self.group {
            let mut next = Vec::new();
            for before in &all {
                add(before, self.count, self.shift as i64, 0, &mut next);
            }
            next.sort();
            next.dedup();
            all = next;
        }
        if self.bounded {
            let up = all;
            all = Vec::new();
            for left in &up {
                all.extend(up.iter().map(|right| left.iter().map(|m| -m).chain(right.iter().copied()).collect()));
            }
        }
        all
    }

    /// The pairs of laws of all neighbors: the first law is that with the record.
    pub fn pairs(&self) -> Vec<Pair> {
        match self.masses() {
            Some(masses) => self.moves().iter().map(|moves| moved(&masses, moves)).collect(),
            None => vec![product(vec![self.given(); self.count])],
        }
    }

    /// The pair of a group whose records all move the same counts as far as they can.
    pub fn together(&self) -> Option<Pair> {
        Some(moved(&self.masses()?, &vec![(self.shift * self.group) as i64; self.count]))
    }

    /// The pairs of laws of both directions.
    pub fn directions(&self) -> [Vec<Pair>; 2] {
        let up = self.pairs();
        let down = up.iter().map(exchanged).collect();
        [up, down]
    }
}

fn add(before: &[i64], left: usize, shift: i64, from: usize, into: &mut Vec<Vec<i64>>) {
    into.push(before.to_vec());
    if left == 0 {
        return;
    }
    for at in from..before.len() {
        for by in 1..=shift {
            let mut next = before.to_vec();
            next[at] += by;
            add(&next, left - 1, shift, at + 1, into);
        }
    }
}

/// The law of counts with noise, moved and not moved.
fn moved(masses: &[Rational], moves: &[i64]) -> Pair {
    let mass = |at: i64| usize::try_from(at).ok().and_then(|at| masses.get(at)).cloned().unwrap_or_default();
    let single = |by: i64| -> Pair {
        (by.min(0)..masses.len() as i64 + by.max(0)).map(|at| (mass(at - by), mass(at))).collect()
    };
    product(moves.iter().filter(|by| **by != 0).map(|by| single(*by)).collect())
}

fn product(pairs: Vec<Pair>) -> Pair {
    let mut all = vec![(Rational::from(1), Rational::from(1))];
    for pair in pairs {
        let mut next = Vec::new();
        for (p, q) in &all {
            for (with, without) in &pair {
                let one = (Rational::from(p * with), Rational::from(q * without));
                if one.0 != 0 || one.1 != 0 {
                    next.push(one);
                }
            }
        }
        all = next;
    }
    all
}
