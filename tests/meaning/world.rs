//! Small worlds: noise with few values, up to three counts, and the pairs of laws of all neighbors, listed one by one.

use std::{fmt::Write, fs, path::Path};

use rug::{Integer, Rational, ops::Pow};

use crate::truth::{Pair, Truth, exchanged, sorted};

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

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// A size from `least` to `most`.
    fn size(&mut self, least: u64, most: u64) -> usize {
        (least + self.below(most - least + 1)) as usize
    }

    /// Masses that sum to one. The first and the last are positive.
    fn masses(&mut self, count: usize, zeros: bool) -> Vec<Rational> {
        let is_end = |at: usize| at == 0 || at + 1 == count;
        let weights: Vec<u64> =
            (0..count).map(|at| if zeros && !is_end(at) && self.one_in(4) { 0 } else { 1 + self.below(9) }).collect();
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

/// What counts are published with, or what is known of a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub enum Noise {
    /// Masses on 0, 1, ..
    Table(Vec<Rational>),
    /// Discrete Laplace noise of that epsilon on [-bound, bound].
    Truncated(Rational, i32),
    /// Discrete Laplace noise of that epsilon.
    Laplace(Rational),
    /// Cell keys: the law of the published value where the true count is 0, 1, ..; the last is also that of all larger counts, moved along.
    Cells(Vec<Vec<Rational>>),
    /// Outcomes of two hypotheses.
    Pair(Pair),
    /// Randomized response of that epsilon and number of answers.
    Response(Rational, u32),
    /// Any mechanism of that epsilon.
    Pure(Rational),
    /// Any mechanism of that epsilon and delta.
    Approximate(Rational, Rational),
}

impl Noise {
    fn random(dice: &mut Dice) -> Self {
        let epsilon = Rational::from((1 + dice.below(8), 4));
        match dice.below(12) {
            0..=2 => {
                let size = dice.size(2, 4);
                Noise::Table(dice.masses(size, true))
            }
            3 | 4 => {
                let size = dice.size(2, 4);
                let (mut with, mut without) = (dice.masses(size, false), dice.masses(size, false));
                with.push(Rational::new());
                without.insert(0, Rational::new());
                Noise::Pair(with.into_iter().zip(without).collect())
            }
            5 | 6 => {
                let rows = dice.size(1, 3);
                Noise::Cells(
                    (0..rows)
                        .map(|_| {
                            let size = dice.size(1, 3);
                            dice.masses(size, true)
                        })
                        .collect(),
                )
            }
            7 => Noise::Response(epsilon, 2 + dice.below(2) as u32),
            8 => Noise::Truncated(epsilon, 1 + dice.below(2) as i32),
            9 => Noise::Laplace(epsilon),
            10 => Noise::Pure(epsilon),
            _ => Noise::Approximate(epsilon, Rational::from((1, 10 + dice.below(90)))),
        }
    }

    /// Whether it is added to counts that a record moves.
    fn moves(&self) -> bool {
        matches!(self, Noise::Table(_) | Noise::Truncated(..) | Noise::Laplace(_) | Noise::Cells(_))
    }

    /// The pairs of laws of one count that moves by this number, one for each data set.
    fn moved(&self, by: i64) -> Vec<Pair> {
        let one = Rational::from(1);
        match self {
            Noise::Table(masses) => vec![shifted(masses, by)],
            Noise::Truncated(epsilon, bound) => {
                let (base, _) = exp(epsilon);
                let weights: Vec<Rational> = (-bound..=*bound).map(|k| base.clone().pow(bound - k.abs())).collect();
                let total: Rational = weights.iter().sum();
                let masses: Vec<Rational> = weights.into_iter().map(|weight| weight / &total).collect();
                vec![shifted(&masses, by)]
            }
            Noise::Laplace(epsilon) => {
                // Masses are (1 - q) / (1 + q) q^|k|; beyond both ends all outputs have the same likelihood.
                let (q, by) = (exp(epsilon).0.recip(), by.unsigned_abs() as u32);
                let end = Rational::from(&one + &q).recip();
                let far = q.clone().pow(by) * &end;
                let inner = Rational::from(&one - &q) * &end;
                let mass = |k: u32| q.clone().pow(k) * &inner;
                let mut pair = vec![(far.clone(), end.clone()), (end, far)];
                pair.extend((1..by).map(|k| (mass(by - k), mass(k))));
                vec![pair]
            }
            Noise::Cells(rows) => {
                let last = rows.len() - 1;
                let mass = |count: usize, output: usize| {
                    let (row, moved) = (&rows[count.min(last)], count.saturating_sub(last));
                    output.checked_sub(moved).and_then(|at| row.get(at)).cloned().unwrap_or_default()
                };
                let far = last + by.unsigned_abs() as usize;
                let pair = |from: usize, to: usize| (0..far + 8).map(|at| (mass(to, at), mass(from, at))).collect();
                (0..=far).filter_map(|from| Some(pair(from, from.checked_add_signed(by as isize)?))).collect()
            }
            _ => unreachable!("a record does not move it"),
        }
    }

    /// The outcomes of one mechanism that is not added to counts, for a group of that size.
    fn given(&self, group: usize) -> Pair {
        let over = |weights: Vec<(Rational, Rational)>, total: &Rational| -> Pair {
            weights.into_iter().map(|(p, q)| (p / total, q / total)).collect()
        };
        let one = Rational::from(1);
        let answers = |base: Rational, part: &Rational| {
            let total = Rational::from(&base + 1u32) / part;
            over(vec![(base.clone(), one.clone()), (one.clone(), base)], &total)
        };
        match self {
            Noise::Pair(pair) => pair.clone(),
            Noise::Response(epsilon, kinds) => {
                let base = exp(epsilon).0;
                let total = Rational::from(&base + (kinds - 1));
                let mut weights = vec![(base.clone(), one.clone()), (one.clone(), base)];
                weights.extend((2..*kinds).map(|_| (one.clone(), one.clone())));
                over(weights, &total)
            }
            Noise::Pure(epsilon) => answers(exp(&Rational::from(epsilon * group as u64)).0, &one),
            Noise::Approximate(epsilon, delta) => {
                let base = exp(epsilon).0;
                // Each further record adds e^epsilon times the delta before it.
                let delta: Rational = (0..group as u32).map(|k| base.clone().pow(k) * delta).sum();
                let zero = Rational::new();
                let mut pair = vec![(delta.clone(), zero.clone()), (zero, delta.clone())];
                pair.extend(answers(base.pow(group as u32), &Rational::from(&one - &delta)));
                pair
            }
            _ => unreachable!("noise that is added has no single pair"),
        }
    }
}

/// A mechanism, and what a record does to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub noise: Noise,
    pub count: usize,
    pub shift: usize,
}

impl Part {
    /// The option that says the same, with files in the folder.
    fn option(&self, at: usize, folder: &Path) -> [String; 2] {
        let size = if self.count == 1 { String::new() } else { format!("x{}", self.count) };
        let moved = if self.shift == 1 { String::new() } else { format!("@{}", self.shift) };
        let file = |text: String| {
            let path = folder.join(format!("part-{at}.csv"));
            fs::write(&path, text).expect("the folder of the test");
            path.display().to_string()
        };
        let mut text = String::new();
        let (option, value) = match &self.noise {
            Noise::Table(masses) => {
                text.push_str("value,mass\n");
                masses.iter().enumerate().for_each(|(at, mass)| writeln!(text, "{at},{mass}").expect("text"));
                ("table", file(text))
            }
            Noise::Cells(rows) => {
                text.push_str("i,j,p\n");
                let all =
                    rows.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(j, p)| (i, j, p)));
                all.for_each(|(i, j, p)| writeln!(text, "{i},{j},{p}").expect("text"));
                ("p-table", file(text))
            }
            Noise::Pair(pair) => {
                text.push_str("p,q\n");
                pair.iter().for_each(|(p, q)| writeln!(text, "{p},{q}").expect("text"));
                ("pair", file(text))
            }
            Noise::Response(epsilon, kinds) => ("randomized-response", format!("{epsilon}:{kinds}")),
            Noise::Truncated(epsilon, bound) => ("truncated-laplace", format!("{epsilon}:{bound}")),
            Noise::Laplace(epsilon) => ("discrete-laplace", epsilon.to_string()),
            Noise::Pure(epsilon) => ("pure", epsilon.to_string()),
            Noise::Approximate(epsilon, delta) => ("approximate", format!("{epsilon}:{delta}")),
        };
        [option.to_string(), format!("{value}{size}{moved}")]
    }

    /// The pairs of laws of all data sets and their neighbors: the first law is that with the record.
    fn pairs(&self, bounded: bool, group: usize) -> Vec<Pair> {
        if !self.noise.moves() {
            let records = if matches!(self.noise, Noise::Response(..)) { group } else { 1 };
            let pair = product(&vec![self.noise.given(group); self.count * records]);
            // Between two values of a record no side is "with": both orders.
            let exchange = bounded.then(|| sorted(&exchanged(&pair)));
            return std::iter::once(pair).chain(exchange).collect();
        }
        let mut all = Vec::new();
        for moves in self.ways(bounded, group) {
            let each = moves.iter().filter(|by| **by != 0).map(|by| self.noise.moved(*by));
            let pairs = each.fold(vec![product(&[])], |before, choices| {
                let with =
                    |pair: &Pair| choices.iter().map(|one| product(&[pair.clone(), one.clone()])).collect::<Vec<_>>();
                before.iter().flat_map(with).collect()
            });
            all.extend(pairs);
        }
        all.sort();
        all.dedup();
        all
    }

    /// All vectors by which the records of a group move counts: each changes COUNT counts by 0 to SHIFT. The order of equal counts does not matter.
    fn ways(&self, bounded: bool, group: usize) -> Vec<Vec<i64>> {
        let cells = self.count * group;
        let mut all = vec![vec![0; cells]];
        for _ in 0..group {
            let mut next = Vec::new();
            for before in &all {
                add(before, self.count, self.shift as i64, 0, &mut next);
            }
            next.iter_mut().for_each(|way| way.sort_unstable());
            next.sort();
            next.dedup();
            all = next;
        }
        if bounded {
            let up = all;
            all = Vec::new();
            for left in &up {
                all.extend(up.iter().map(|right| left.iter().map(|m| -m).chain(right.iter().copied()).collect()));
            }
        }
        all
    }
}

/// Mechanisms, and who is a neighbor.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    pub parts: Vec<Part>,
    pub bounded: bool,
    pub group: usize,
}

/// The number of outcomes of all pairs that a truth may take.
const MOST_OUTCOMES: usize = 30_000;

impl World {
    /// A world of one count that moves by one.
    pub fn simple(noise: Noise) -> Self {
        World { parts: vec![Part { noise, count: 1, shift: 1 }], bounded: false, group: 1 }
    }

    /// A random world.
    pub fn random(dice: &mut Dice) -> Self {
        loop {
            let world = Self::of_any_size(dice);
            if world.outcomes() <= MOST_OUTCOMES {
                return world;
            }
        }
    }

    fn of_any_size(dice: &mut Dice) -> Self {
        let noise = Noise::random(dice);
        let moves = noise.moves();
        let bounded = moves && dice.one_in(3);
        let count = if bounded { 1 } else { dice.size(1, 3) };
        let is_for_groups = !matches!(noise, Noise::Pair(_) | Noise::Cells(_));
        let group = if is_for_groups && count == 1 && !bounded && dice.one_in(3) { 2 } else { 1 };
        let shift = if moves && count < 3 && group == 1 { dice.size(1, 2) } else { 1 };
        let mut parts = vec![Part { noise, count, shift }];
        if group == 1 && count < 3 && dice.one_in(4) {
            parts.push(Part { noise: Noise::random(dice), count: 1, shift: 1 });
        }
        Self { parts, bounded, group }
    }

    fn outcomes(&self) -> usize {
        let each =
            self.parts.iter().map(|part| part.pairs(self.bounded, self.group).iter().map(Vec::len).sum::<usize>());
        each.product()
    }

    /// The mechanisms as options, with files in the folder.
    pub fn mechanisms(&self, folder: &Path) -> Vec<[String; 2]> {
        self.parts.iter().enumerate().map(|(at, part)| part.option(at, folder)).collect()
    }

    /// Whether the outputs themselves are known, and not only a pair that dominates them.
    pub fn is_known(&self) -> bool {
        self.parts.iter().all(|part| !matches!(part.noise, Noise::Pure(_) | Noise::Approximate(..)))
    }

    /// Whether all probabilities are the fractions of its files, without e^epsilon.
    pub fn is_rational(&self) -> bool {
        self.parts.iter().all(|part| matches!(part.noise, Noise::Table(_) | Noise::Cells(_) | Noise::Pair(_)))
    }

    /// Whether a table of masses moves by at most 2.
    pub fn is_moved(&self) -> bool {
        self.parts.iter().any(|part| part.shift > 1 && matches!(part.noise, Noise::Table(_) | Noise::Cells(_)))
    }

    /// A mechanism alone.
    pub fn part(&self, at: usize) -> World {
        World { parts: vec![self.parts[at].clone()], ..self.clone() }
    }

    /// The outcomes of all pairs of neighbors, in both directions.
    pub fn truth(&self) -> Truth {
        let each = self.parts.iter().map(|part| part.pairs(self.bounded, self.group));
        let pairs = each.fold(vec![product(&[])], |before, choices| {
            let with =
                |pair: &Pair| choices.iter().map(|one| product(&[pair.clone(), one.clone()])).collect::<Vec<_>>();
            before.iter().flat_map(with).collect()
        });
        let down = pairs.iter().map(|pair| sorted(&exchanged(pair))).collect();
        Truth { up: pairs, down }
    }

    /// The pair of a group whose records all move the same counts of one table as far as they can.
    pub fn together(&self) -> Option<Pair> {
        let [Part { noise, count: 1, shift }] = &self.parts[..] else { return None };
        matches!(noise, Noise::Table(_)).then(|| sorted(&noise.moved((shift * self.group) as i64)[0]))
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

/// The law of a count with noise, moved and not moved.
fn shifted(masses: &[Rational], by: i64) -> Pair {
    let mass = |at: i64| usize::try_from(at).ok().and_then(|at| masses.get(at)).cloned().unwrap_or_default();
    (by.min(0)..masses.len() as i64 + by.max(0)).map(|at| (mass(at - by), mass(at))).collect()
}

/// The outcomes of independent experiments, sorted.
fn product(pairs: &[Pair]) -> Pair {
    let mut all = vec![(Rational::from(1), Rational::from(1))];
    for pair in pairs {
        let with = |(p, q): &(Rational, Rational)| {
            let each = pair.iter().map(|one| (Rational::from(p * &one.0), Rational::from(q * &one.1)));
            each.collect::<Vec<_>>()
        };
        all = sorted(&all.iter().flat_map(with).collect());
    }
    all
}
