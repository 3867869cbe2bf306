//! What noisy counts say of every unit of a tree, in one sector: the sums that they determine, and the covariance of
//! their least-squares estimates.
//!
//! A belief of a vector x has a space K of functions of x, with a covariance C of their estimates in its basis, and says
//! nothing of other functions. Two operations combine independent beliefs:
//!
//! - of the same vector: the space spanned by both, with the sum of the informations (the inverses of the covariances);
//! - of vectors of which the sum is wanted: the functions that all of them know, with the sum of the covariances.
//!
//! With M the unit's own counts, s its children, and "out" all counts that are not below a unit,
//!
//! below(u) = sum of own(s),   own(u) = M(u) and below(u),   out(u) = M(u) and message(u),
//! message(c) = out(u) - sum of own(s) over the siblings s of c,   final(u) = own(u) and message(u).
//!
//! These are the messages of a tree, on which they are exact: final(u) knows a function of x_u if and only if all counts
//! together determine it, and has the covariance of its best linear unbiased estimate. Units with equal subtrees share one
//! computation. With numbers of the type `()` only the spaces are computed.

use std::{collections::HashMap, rc::Rc};

use rug::Rational;

use super::space::Space;
use crate::{spine::hierarchy::Tree, topdown::variance::Quantity};

/// A square matrix, row by row.
#[derive(Clone, Debug)]
struct Square<Q> {
    size: usize,
    entries: Vec<Q>,
}

impl<Q: Quantity> Square<Q> {
    fn zero(size: usize) -> Square<Q> {
        Square { size, entries: vec![Q::whole(0); size * size] }
    }

    /// Adds `weight` times a matrix.
    fn add(&mut self, weight: u32, other: &Square<Q>) {
        for (own, other) in self.entries.iter_mut().zip(&other.entries) {
            *own = own.plus(&if weight == 1 { other.clone() } else { other.times(&Q::whole(weight)) });
        }
    }

    /// L A L' for a matrix with these rows.
    fn turned(&self, rows: &[Vec<Rational>]) -> Square<Q> {
        let rows: Vec<Vec<(usize, Q)>> = (rows.iter())
            .map(|row| {
                let entries = row.iter().enumerate().filter(|(_, entry)| **entry != 0);
                entries.map(|(at, entry)| (at, Q::fraction(entry))).collect()
            })
            .collect();
        let mut product = Square::zero(rows.len());
        for (a, left) in rows.iter().enumerate() {
            for (b, right) in rows.iter().enumerate() {
                let mut sum = Q::whole(0);
                for (i, own) in left {
                    for (j, other) in right {
                        sum = sum.plus(&own.times(&self.entries[i * self.size + j]).times(other));
                    }
                }
                product.entries[a * rows.len() + b] = sum;
            }
        }
        product
    }

    /// The inverse of a positive definite matrix, whose pivots need no exchange.
    fn inverse(&self) -> Square<Q> {
        let size = self.size;
        let (mut left, mut right) = (self.clone(), Square::zero(size));
        (0..size).for_each(|at| right.entries[at * size + at] = Q::whole(1));
        for pivot in 0..size {
            let scale = left.entries[pivot * size + pivot].clone();
            for matrix in [&mut left, &mut right] {
                let own = &mut matrix.entries[pivot * size..(pivot + 1) * size];
                own.iter_mut().for_each(|entry| *entry = entry.over(&scale));
            }
            for row in (0..size).filter(|row| *row != pivot) {
                let factor = left.entries[row * size + pivot].clone();
                for matrix in [&mut left, &mut right] {
                    for column in 0..size {
                        let step = factor.times(&matrix.entries[pivot * size + column]);
                        let entry = &mut matrix.entries[row * size + column];
                        *entry = entry.minus(&step);
                    }
                }
            }
        }
        right
    }
}

fn transposed(rows: &[Vec<Rational>], columns: usize) -> Vec<Vec<Rational>> {
    (0..columns).map(|column| rows.iter().map(|row| row[column].clone()).collect()).collect()
}

/// What some counts say of a vector.
#[derive(Clone, Debug)]
pub(super) struct Belief<Q> {
    /// The functions that they determine.
    pub(super) space: Space,
    covariance: Square<Q>,
    information: Square<Q>,
}

impl<Q: Quantity> Belief<Q> {
    /// From independent counts: each a function of the vector, with its precision.
    pub(super) fn of_counts(columns: usize, counts: &[(Vec<Rational>, Q)]) -> Belief<Q> {
        let space = Space::of_functions(columns, counts.iter().map(|(function, _)| function.clone()));
        let mut information = Square::<Q>::zero(space.dimension());
        for (function, precision) in counts {
            let own = space.coefficients(function);
            let kept: Vec<(usize, Q)> =
                own.iter().enumerate().filter(|(_, own)| **own != 0).map(|(at, own)| (at, Q::fraction(own))).collect();
            for (a, left) in &kept {
                for (b, right) in &kept {
                    let entry = &mut information.entries[a * information.size + b];
                    *entry = entry.plus(&left.times(right).times(precision));
                }
            }
        }
        Belief { covariance: information.inverse(), space, information }
    }

    fn nothing(columns: usize) -> Belief<Q> {
        Belief::of_counts(columns, &[])
    }

    /// Both beliefs of one vector together.
    fn and(&self, other: &Belief<Q>) -> Belief<Q> {
        let space = self.space.joined(&other.space);
        let mut information = Square::zero(space.dimension());
        for own in [self, other] {
            if own.space == space {
                information.add(1, &own.information);
                continue;
            }
            let rows: Vec<Vec<Rational>> = own.space.basis().iter().map(|row| space.coefficients(row)).collect();
            information.add(1, &own.information.turned(&transposed(&rows, space.dimension())));
        }
        Belief { covariance: information.inverse(), space, information }
    }

    /// The belief of the sum of independent vectors, each with the number of times that it occurs.
    fn of_sum(parts: &[(&Belief<Q>, u32)]) -> Option<Belief<Q>> {
        let ((first, _), others) = parts.split_first()?;
        let space = others.iter().fold(first.space.clone(), |space, (own, _)| space.met(&own.space));
        let mut covariance = Square::zero(space.dimension());
        for (own, count) in parts {
            if own.space == space {
                covariance.add(*count, &own.covariance);
                continue;
            }
            let rows: Vec<Vec<Rational>> = space.basis().iter().map(|row| own.space.coefficients(row)).collect();
            covariance.add(*count, &own.covariance.turned(&rows));
        }
        Some(Belief { information: covariance.inverse(), space, covariance })
    }

    /// The variance of the estimate of a function that is determined.
    pub(super) fn variance(&self, function: &[Rational]) -> Q {
        let row = vec![self.space.coefficients(function)];
        self.covariance.turned(&row).entries.swap_remove(0)
    }
}

/// A unit's own counts, and its children.
struct Class {
    measured: u32,
    /// The own beliefs of its children, each with their number.
    children: Vec<(u32, u32)>,
    /// Its own belief.
    own: u32,
}

/// The final beliefs of all units of a tree.
pub(super) struct Walk<Q> {
    /// For each level the number of the final belief of each unit.
    pub(super) final_of: Vec<Vec<u32>>,
    /// The final beliefs.
    pub(super) finals: Vec<Belief<Q>>,
}

/// The beliefs of one kind, each with its number.
struct Beliefs<Q> {
    all: Vec<Rc<Belief<Q>>>,
    /// The number of each space, if only spaces are compared.
    of_space: Option<HashMap<Space, u32>>,
}

impl<Q: Quantity> Beliefs<Q> {
    fn new(only_spaces: bool) -> Beliefs<Q> {
        Beliefs { all: Vec::new(), of_space: only_spaces.then(HashMap::new) }
    }

    fn number(&mut self, belief: Rc<Belief<Q>>) -> u32 {
        let next = self.all.len() as u32;
        if let Some(known) = &mut self.of_space {
            let number = *known.entry(belief.space.clone()).or_insert(next);
            if number < next {
                return number;
            }
        }
        self.all.push(belief);
        next
    }

    fn at(&self, number: u32) -> &Rc<Belief<Q>> {
        &self.all[number as usize]
    }
}

/// The number of levels whose shares a unit carries, by level and unit.
pub(super) type Carried<'a> = &'a dyn Fn(usize, usize) -> usize;

/// The final beliefs of all units, over vectors of `columns` numbers. `measured` has the belief of the counts of a unit of a
/// level that carries the shares of a number of levels. If only spaces are requested, units that differ in numbers alone
/// share one.
pub(super) fn walk<Q: Quantity>(
    tree: &Tree,
    columns: usize,
    carried: Carried,
    measured: &dyn Fn(usize, usize) -> Belief<Q>,
    only_spaces: bool,
) -> Walk<Q> {
    let mut up = Up {
        measured: Beliefs { all: Vec::new(), of_space: None },
        own: Beliefs::new(only_spaces),
        classes: Vec::new(),
        class_of: vec![Vec::new(); tree.levels()],
    };
    for level in (0..tree.levels()).rev() {
        up.level(tree, level, carried, measured, only_spaces);
    }
    up.down(tree, columns, only_spaces)
}

/// The pass upwards.
struct Up<Q> {
    measured: Beliefs<Q>,
    own: Beliefs<Q>,
    classes: Vec<Class>,
    class_of: Vec<Vec<u32>>,
}

impl<Q: Quantity> Up<Q> {
    fn level(
        &mut self,
        tree: &Tree,
        level: usize,
        carried: Carried,
        measured: &dyn Fn(usize, usize) -> Belief<Q>,
        only_spaces: bool,
    ) {
        let mut noise: HashMap<usize, u32> = HashMap::new();
        let mut known: HashMap<(u32, Vec<(u32, u32)>), u32> = HashMap::new();
        let mut found = Vec::with_capacity(tree.units(level));
        for unit in 0..tree.units(level) {
            let kind = carried(level, unit);
            let measured = *noise.entry(kind).or_insert_with(|| self.measured.number(Rc::new(measured(level, kind))));
            let mut children: Vec<u32> = match level + 1 < tree.levels() {
                true => tree.children(level, unit).map(|child| self.own_of(level + 1, child)).collect(),
                false => Vec::new(),
            };
            children.sort_unstable();
            let count = |run: &[u32]| (run[0], if only_spaces { run.len().min(2) } else { run.len() } as u32);
            let key = (measured, children.chunk_by(|a, b| a == b).map(count).collect::<Vec<_>>());
            let class = match known.get(&key) {
                Some(class) => *class,
                None => {
                    let class = self.class(key.0, key.1.clone());
                    self.classes.push(class);
                    known.insert(key, self.classes.len() as u32 - 1);
                    self.classes.len() as u32 - 1
                }
            };
            found.push(class);
        }
        self.class_of[level] = found;
    }

    fn own_of(&self, level: usize, unit: usize) -> u32 {
        self.classes[self.class_of[level][unit] as usize].own
    }

    fn class(&mut self, measured: u32, children: Vec<(u32, u32)>) -> Class {
        let parts: Vec<(&Belief<Q>, u32)> =
            children.iter().map(|(child, count)| (&**self.own.at(*child), *count)).collect();
        let counts = self.measured.at(measured);
        let own = match Belief::of_sum(&parts) {
            Some(below) => Rc::new(counts.and(&below)),
            None => counts.clone(),
        };
        Class { measured, own: self.own.number(own), children }
    }

    /// The sum of the children of a class without one of them; `None` if there is no other.
    fn siblings(&self, class: &Class, child: u32, all: Option<&Belief<Q>>) -> Option<Belief<Q>> {
        let own = self.own.at(child);
        let counts = class.children.iter().map(|(_, count)| *count).sum::<u32>();
        match all {
            _ if counts == 1 => None,
            // All children know the same functions: the variances of the others are those of all but one.
            Some(all) => {
                let entries = all.covariance.entries.iter().zip(&own.covariance.entries);
                let entries = entries.map(|(all, own)| all.minus(own)).collect();
                let covariance = Square { size: all.covariance.size, entries };
                Some(Belief { space: all.space.clone(), information: covariance.inverse(), covariance })
            }
            None => {
                let left = |(other, count): &(u32, u32)| (*other, count - u32::from(*other == child));
                let left = class.children.iter().map(left).filter(|(_, count)| *count > 0);
                let parts: Vec<(u32, u32)> = left.collect();
                let parts: Vec<_> = parts.iter().map(|(other, count)| (&**self.own.at(*other), *count)).collect();
                Belief::of_sum(&parts)
            }
        }
    }

    /// The sum of the children of a class, if they are of many kinds that all know the same functions.
    fn all_alike(&self, class: &Class) -> Option<Belief<Q>> {
        let parts: Vec<(&Belief<Q>, u32)> =
            class.children.iter().map(|(child, count)| (&**self.own.at(*child), *count)).collect();
        let (first, others) = parts.split_first()?;
        let alike = others.len() >= 4 && others.iter().all(|(own, _)| own.space == first.0.space);
        if alike { Belief::of_sum(&parts) } else { None }
    }

    /// The pass downwards.
    fn down(self, tree: &Tree, columns: usize, only_spaces: bool) -> Walk<Q> {
        let (mut messages, mut outs) = (Beliefs::new(only_spaces), Beliefs::new(only_spaces));
        let mut walk = Walk { final_of: Vec::new(), finals: Vec::new() };
        let mut message_of = vec![messages.number(Rc::new(Belief::nothing(columns)))];
        let mut known_finals: HashMap<(u32, u32), u32> = HashMap::new();
        let mut known_outs: HashMap<(u32, u32), u32> = HashMap::new();
        for level in 0..tree.levels() {
            let mut finals = Vec::with_capacity(tree.units(level));
            let mut below = Vec::new();
            let mut known: HashMap<(u32, u32, u32), u32> = HashMap::new();
            let mut sums: HashMap<u32, Option<Belief<Q>>> = HashMap::new();
            for (unit, message) in message_of.iter().enumerate() {
                let number = self.class_of[level][unit];
                let class = &self.classes[number as usize];
                finals.push(*known_finals.entry((*message, class.own)).or_insert_with(|| {
                    walk.finals.push(self.own.at(class.own).and(messages.at(*message)));
                    walk.finals.len() as u32 - 1
                }));
                if level + 1 == tree.levels() {
                    continue;
                }
                let out = *known_outs.entry((*message, class.measured)).or_insert_with(|| {
                    let out = self.measured.at(class.measured).and(messages.at(*message));
                    outs.number(Rc::new(out))
                });
                let all = sums.entry(number).or_insert_with(|| self.all_alike(class));
                for child in tree.children(level, unit) {
                    let child = self.own_of(level + 1, child);
                    below.push(*known.entry((out, number, child)).or_insert_with(|| {
                        let out = outs.at(out);
                        let message = match self.siblings(class, child, all.as_ref()) {
                            Some(siblings) => Belief::of_sum(&[(out, 1), (&siblings, 1)]).map(Rc::new),
                            None => None,
                        };
                        messages.number(message.unwrap_or_else(|| out.clone()))
                    }));
                }
            }
            walk.final_of.push(finals);
            message_of = below;
        }
        walk
    }
}
