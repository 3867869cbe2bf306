//! The variance of the least-squares estimate of any unit and of any set of blocks (Cumings-Menon et al., (3.4)).
//!
//! The passes are those of [`estimate`](super::estimate), for variances. A subtree alone has the variance v with 1 / v
//! = w + 1 / V. Given the total of its parent, a child has the conditional variance v (1 - v / V), and the parent's own
//! variance F enters with the weight (v / V)^2:
//!
//! Var(child) = v (V - v) / V + (v / V)^2 F.
//!
//! For a sum of blocks let its part in a unit have, given the unit's total T, the mean a T + constant and the variance
//! r. From the children, with m = sum of a_c v_c / V,
//!
//! a = m,   r = sum of r_c + sum of v_c (a_c - m)^2:
//!
//! a sum of squares, without cancellation. Blocks have a = 1 or 0 and r = 0, and so have units entirely inside or
//! outside the set; only units that the set touches are visited. At the root the variance is a^2 v + r.
//!
//! Units with equal subtrees share one computation, so the arithmetic may be exact ([`Rational`]), certified
//! ([`Enclosure`]) or fast (`f64`, an approximation). Precisions are 1 / variance of the noise. If they are computed
//! from the proxies sigma2 of discrete Gaussians, which exceed their variances by the
//! [`variance_deficit`](crate::noise::DiscreteGaussian::variance_deficit), the result is the variance for continuous
//! noise. The estimate is linear, so with discrete noise its variance lies between that result and the result times the
//! smallest ratio of a variance to its proxy
//! ([`MeasurementPlan::least_ratio`](super::measure::MeasurementPlan::least_ratio)).

use std::collections::HashMap;

use rug::Rational;

use crate::{
    error::{Error, Result},
    numeric::Enclosure,
    spine::hierarchy::Tree,
};

/// Numbers for the computation of variances. Those of the type `()` are none: what does not depend on numbers is computed
/// with them.
pub trait Quantity: Clone {
    /// x + y.
    fn plus(&self, other: &Self) -> Self;
    /// x - y.
    fn minus(&self, other: &Self) -> Self;
    /// x y.
    fn times(&self, other: &Self) -> Self;
    /// x / y.
    fn over(&self, other: &Self) -> Self;
    /// An integer.
    fn whole(value: u32) -> Self;
    /// A fraction.
    fn fraction(value: &Rational) -> Self;
}

macro_rules! quantity {
    ($type:ty, $whole:expr, $plus:expr, $minus:expr, $times:expr, $over:expr, $fraction:expr) => {
        impl Quantity for $type {
            fn plus(&self, other: &Self) -> Self {
                $plus(self, other)
            }
            fn minus(&self, other: &Self) -> Self {
                $minus(self, other)
            }
            fn times(&self, other: &Self) -> Self {
                $times(self, other)
            }
            fn over(&self, other: &Self) -> Self {
                $over(self, other)
            }
            fn whole(value: u32) -> Self {
                $whole(value)
            }
            fn fraction(value: &Rational) -> Self {
                $fraction(value)
            }
        }
    };
}

/// Bits of an enclosure: sums of positive numbers lose few of them.
const BITS: u32 = 128;

quantity!(
    f64,
    f64::from,
    |x: &f64, y: &f64| x + y,
    |x: &f64, y: &f64| x - y,
    |x: &f64, y: &f64| x * y,
    |x: &f64, y: &f64| x / y,
    Rational::to_f64
);
quantity!(
    Rational,
    Rational::from,
    |x: &Rational, y: &Rational| Rational::from(x + y),
    |x: &Rational, y: &Rational| Rational::from(x - y),
    |x: &Rational, y: &Rational| Rational::from(x * y),
    |x: &Rational, y: &Rational| Rational::from(x / y),
    Rational::clone
);
quantity!(
    Enclosure,
    |value: u32| Enclosure::double(f64::from(value), BITS),
    Enclosure::add,
    Enclosure::sub,
    Enclosure::mul,
    Enclosure::div,
    |value: &Rational| Enclosure::rational(value, BITS)
);

impl Quantity for () {
    fn plus(&self, _: &Self) -> Self {}
    fn minus(&self, _: &Self) -> Self {}
    fn times(&self, _: &Self) -> Self {}
    fn over(&self, _: &Self) -> Self {}
    fn whole(_: u32) -> Self {}
    fn fraction(_: &Rational) -> Self {}
}

/// The variances of the estimates on a tree.
#[derive(Clone, Debug)]
pub struct Variances<Q> {
    /// The class of each unit's subtree, and the variances by class.
    class: Vec<Vec<u32>>,
    classes: Vec<Class<Q>>,
    /// The index of each unit's final variance, and these variances.
    last: Vec<Vec<u32>>,
    finals: Vec<Q>,
}

/// Equal subtrees.
#[derive(Clone, Debug)]
struct Class<Q> {
    /// The variance of the subtree alone; `None` if it is infinite.
    own: Option<Q>,
    /// The variance of the sum of the children.
    below: Option<Q>,
}

impl<Q: Quantity> Variances<Q> {
    /// All variances. `kind` distinguishes units of a level with different precision, and `precision` gives the
    /// precision of a kind: 1 / variance, or `None` for a unit without a measurement.
    pub fn new(
        tree: &Tree,
        kind: impl Fn(usize, usize) -> u32,
        precision: impl Fn(usize, u32) -> Option<Q>,
    ) -> Result<Variances<Q>> {
        let levels = tree.levels();
        let one = Q::whole(1);
        let mut class: Vec<Vec<u32>> = vec![Vec::new(); levels];
        let mut classes: Vec<Class<Q>> = Vec::new();
        for level in (0..levels).rev() {
            // The kind of the unit, and the number of its children in each class.
            let mut known: HashMap<(u32, Vec<(u32, u32)>), u32> = HashMap::new();
            let mut found = Vec::with_capacity(tree.units(level));
            let mut children = Vec::new();
            for unit in 0..tree.units(level) {
                children.clear();
                if level + 1 < levels {
                    children.extend_from_slice(&class[level + 1][tree.children(level, unit)]);
                    children.sort_unstable();
                }
                let counted = children.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect();
                let key = (kind(level, unit), counted);
                let number = match known.get(&key) {
                    Some(number) => *number,
                    None => {
                        let each = key.1.iter().map(|(child, count)| {
                            Some(classes[*child as usize].own.as_ref()?.times(&Q::whole(*count)))
                        });
                        let below = each.reduce(|sum, more| Some(sum?.plus(&more?))).flatten();
                        let measured = precision(level, key.0);
                        let total = match (&measured, &below) {
                            (Some(w), Some(below)) => Some(w.plus(&one.over(below))),
                            (Some(w), None) => Some(w.clone()),
                            (None, below) => below.as_ref().map(|below| one.over(below)),
                        };
                        classes.push(Class { own: total.map(|total| one.over(&total)), below });
                        known.insert(key, classes.len() as u32 - 1);
                        classes.len() as u32 - 1
                    }
                };
                found.push(number);
            }
            class[level] = found;
        }
        let mut variances = Variances { class, classes, last: Vec::new(), finals: Vec::new() };
        variances.descend(tree)?;
        Ok(variances)
    }

    fn descend(&mut self, tree: &Tree) -> Result<()> {
        let root = self.classes[self.class[0][0] as usize].own.clone().ok_or_else(|| undetermined(0, 0))?;
        self.finals.push(root);
        self.last.push(vec![0]);
        for level in 0..tree.levels() - 1 {
            let mut known: HashMap<(u32, u32, u32), u32> = HashMap::new();
            let mut found = Vec::with_capacity(tree.units(level + 1));
            for unit in 0..tree.units(level) {
                let (parent, above) = (self.class[level][unit], self.last[level][unit]);
                let children = tree.children(level, unit);
                let open = self.open_child(level, children.clone())?;
                for child in children.clone() {
                    let key = (parent, self.class[level + 1][child], above);
                    let number = match known.get(&key) {
                        Some(number) => *number,
                        None => {
                            let value = self.child(level, unit, child, children.clone(), open);
                            self.finals.push(value);
                            known.insert(key, self.finals.len() as u32 - 1);
                            self.finals.len() as u32 - 1
                        }
                    };
                    found.push(number);
                }
            }
            self.last.push(found);
        }
        Ok(())
    }

    /// The one child without information of its own, if there is one; two cannot be distinguished.
    fn open_child(&self, level: usize, children: std::ops::Range<usize>) -> Result<Option<usize>> {
        let mut open = children.filter(|child| self.own(level + 1, *child).is_none());
        let first = open.next();
        open.next().map_or(Ok(first), |second| Err(undetermined(level + 1, second)))
    }

    fn own(&self, level: usize, unit: usize) -> Option<&Q> {
        self.classes[self.class[level][unit] as usize].own.as_ref()
    }

    /// The variance of a child from that of its parent.
    fn child(
        &self,
        level: usize,
        unit: usize,
        child: usize,
        children: std::ops::Range<usize>,
        open: Option<usize>,
    ) -> Q {
        let above = &self.finals[self.last[level][unit] as usize];
        let own = self.own(level + 1, child);
        match (own, &self.classes[self.class[level][unit] as usize].below) {
            (Some(v), Some(whole)) => {
                let share = v.over(whole);
                v.times(&whole.minus(v)).over(whole).plus(&share.times(&share).times(above))
            }
            // Beside a child without information, the others keep their own estimates, and that child gets the
            // remainder.
            (Some(v), None) => v.clone(),
            (None, _) => {
                let others = children.filter(|other| Some(*other) != open);
                others.filter_map(|other| self.own(level + 1, other)).fold(above.clone(), |sum, v| sum.plus(v))
            }
        }
    }

    /// The variance of the estimate of a unit's total.
    pub fn unit(&self, level: usize, unit: usize) -> &Q {
        &self.finals[self.last[level][unit] as usize]
    }

    /// The distinct variances of a level, each with the number of units that have it.
    pub fn of_level(&self, level: usize) -> Vec<(&Q, u64)> {
        let mut numbers = self.last[level].clone();
        numbers.sort_unstable();
        numbers.chunk_by(|a, b| a == b).map(|run| (&self.finals[run[0] as usize], run.len() as u64)).collect()
    }

    /// The variance of the estimate of the sum over blocks, given by their places, ascending.
    pub fn blocks(&self, tree: &Tree, places: &[u32]) -> Q {
        let mut touched: Vec<(u32, Q, Q)> = places.iter().map(|place| (*place, Q::whole(1), Q::whole(0))).collect();
        for level in (0..tree.levels() - 1).rev() {
            let mut above: Vec<(u32, Q, Q)> = Vec::new();
            let mut unit = 0;
            let mut rest = &touched[..];
            while let Some((first, _, _)) = rest.first() {
                unit = tree.unit_of(level, unit, *first as usize);
                let end = tree.children(level, unit).end;
                let count = rest.partition_point(|(child, _, _)| (*child as usize) < end);
                let (now, later) = rest.split_at(count);
                let (a, r) = self.join(tree, level, unit, now);
                above.push((unit as u32, a, r));
                rest = later;
            }
            touched = above;
        }
        match touched.first() {
            Some((_, a, r)) => a.times(a).times(&self.finals[0]).plus(r),
            None => Q::whole(0),
        }
    }

    /// a and r of a unit from those of the children that the set touches; for the others a = r = 0.
    fn join(&self, tree: &Tree, level: usize, unit: usize, touched: &[(u32, Q, Q)]) -> (Q, Q) {
        let class = &self.classes[self.class[level][unit] as usize];
        let zero = Q::whole(0);
        let mut r = touched.iter().fold(zero.clone(), |sum, (_, _, r)| sum.plus(r));
        let square = |x: &Q| x.times(x);
        let Some(whole) = &class.below else {
            // The child without information has the remainder of T.
            let children = tree.children(level, unit);
            let open = children.clone().find(|child| self.own(level + 1, *child).is_none());
            let of =
                |child: usize| touched.iter().find(|(at, _, _)| *at as usize == child).map_or(&zero, |(_, a, _)| a);
            let a = open.map_or(zero.clone(), |open| of(open).clone());
            for child in children {
                if let Some(v) = self.own(level + 1, child) {
                    r = r.plus(&v.times(&square(&of(child).minus(&a))));
                }
            }
            return (a, r);
        };
        let (mut mean, mut seen) = (zero.clone(), zero);
        for (child, a, _) in touched {
            if let Some(v) = self.own(level + 1, *child as usize) {
                mean = mean.plus(&a.times(v));
                seen = seen.plus(v);
            }
        }
        let mean = mean.over(whole);
        for (child, a, _) in touched {
            if let Some(v) = self.own(level + 1, *child as usize) {
                r = r.plus(&v.times(&square(&a.minus(&mean))));
            }
        }
        if touched.len() < tree.children(level, unit).len() {
            r = r.plus(&whole.minus(&seen).times(&square(&mean)));
        }
        (mean, r)
    }
}

fn undetermined(level: usize, unit: usize) -> Error {
    let why = "is not measured, directly or through units above and beside it";
    Error::missing(format!("unit {unit} of level {level} {why}"))
}
