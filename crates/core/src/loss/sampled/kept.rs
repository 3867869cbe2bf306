//! What contours of one sum have in common: the moments along a course, of which a request takes the nodes with its own epsilon.
//!
//! Every value is a function of its key alone, so that memory changes no digit of an answer, only its time.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use rug::{Float, Rational};

use super::{
    Direction, Strand,
    arithmetic::{Arithmetic, Precision, exact, exp},
    beside::Factors,
    fixed::Length,
    line::{factor, ln_moment_above},
    search::{Course, Search, StrandPlan},
    sum::{SampledSum, exact_power},
};
use crate::{
    error::{Error, Result},
    loss::stop::Stop,
    numeric::{Enclosure, ball::ComplexBall, field::Real, rational, twofold::ComplexTwofold, upper_bound::UpperBound},
};

/// Bits of error bounds.
const BITS: u32 = 64;

/// A few values by their keys, the oldest of which are dropped.
#[derive(Debug)]
struct Memory<K, V> {
    /// With a size of each.
    values: Mutex<VecDeque<(K, V, usize)>>,
}

impl<K, V> Default for Memory<K, V> {
    fn default() -> Self {
        Memory { values: Mutex::default() }
    }
}

impl<K: PartialEq, V: Clone> Memory<K, V> {
    /// The value of a key, made if need be. Values of more than `most` in size together are not kept.
    fn get(&self, key: K, most: usize, make: impl FnOnce() -> Result<(V, usize)>) -> Result<V> {
        // A thread that panics leaves every stored value whole.
        let lock = || self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value, _)) = lock().iter().find(|(other, ..)| *other == key) {
            return Ok(value.clone());
        }
        let (value, size) = make()?;
        let mut values = lock();
        values.push_back((key, value.clone(), size));
        while values.iter().map(|(.., size)| size).sum::<usize>() > most {
            values.pop_front();
        }
        Ok(value)
    }
}

/// The arithmetic of a contour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Sums of two doubles, and integers.
    Twofold(Length),
    /// Balls of this number of bits.
    Balls(u32),
}

/// What belongs to a course.
#[derive(Debug)]
pub(super) struct Along {
    /// ln of rho (c + c^2) and of prod N^n.
    pub(super) ln_scale: Enclosure,
    /// M(s) / (s (s + 1)) at each node, relative to that scale.
    pub(super) terms: Terms,
    /// Upper bound on the modulus beyond the last node, relative to that scale, times 1 / (pi T).
    pub(super) beyond: UpperBound,
}

#[derive(Debug)]
pub(super) enum Terms {
    Twofold(Vec<ComplexTwofold>),
    Balls(Vec<ComplexBall>),
}

/// Of contours, and of bounds.
#[derive(Debug, Default)]
pub(super) struct Kept {
    plans: Memory<(Direction, Course), Arc<Vec<StrandPlan>>>,
    contours: Memory<(Direction, Course, Kind), Arc<Along>>,
    moments: Memory<(Direction, f64), Enclosure>,
}

/// The most plans, nodes and bounds that are kept.
const MOST_PLANS: usize = 64;
const MOST_TERMS: usize = 3_000_000;
const MOST_BOUNDS: usize = 256;

impl Kept {
    /// Those of a sum, which does not know their types.
    pub(super) fn of_sum(sum: &SampledSum) -> Result<&Kept> {
        let kept = sum.kept.get_or_init(|| Box::new(Kept::default()));
        kept.downcast_ref().ok_or_else(|| Error::fault("what is kept of samples has another type"))
    }

    /// The lines of all strands on a course.
    pub(super) fn strands(&self, search: &Search, course: &Course) -> Result<Arc<Vec<StrandPlan>>> {
        let make = || Ok((Arc::new(search.strands(course)), 1));
        self.plans.get((search.direction, *course), MOST_PLANS, make)
    }

    /// What belongs to a course.
    pub(super) fn along(&self, of: &Moments, kind: Kind) -> Result<Arc<Along>> {
        let make = || {
            let along = match kind {
                Kind::Twofold(length) => of.along::<ComplexTwofold>((), 128, length, Terms::Twofold)?,
                Kind::Balls(bits) => of.along::<ComplexBall>(bits, bits, Length::Long, Terms::Balls)?,
            };
            Ok((Arc::new(along), of.course.nodes as usize))
        };
        self.contours.get((of.direction, of.course, kind), MOST_TERMS, make)
    }

    /// An interval up to an upper bound on ln M(c).
    pub(super) fn ln_moment_above(&self, sum: &SampledSum, direction: Direction, c: f64) -> Result<Enclosure> {
        let make = || {
            let exact_c = rational::from_f64(c)?;
            let p = exact_power(direction, &exact_c);
            let concentrated = (&exact_c + exact_c.clone().square()) * &sum.rho;
            let mut ln = Enclosure::rational(&concentrated, BITS);
            for (strand, table) in sum.strands.iter().zip(&*sum.tables) {
                // The least noise of a strand has the largest moments.
                let one = Enclosure::double(ln_moment_above(&strand.least, table, &p)?, BITS);
                ln = ln.add(&one.mul(&Enclosure::rational(&Rational::from(strand.least.steps), BITS)));
            }
            if let Some(beside) = &sum.beside {
                ln = ln.add(&beside.ln_mgf(&exact_c, BITS));
            }
            Ok((ln, 1))
        };
        self.moments.get((direction, c), MOST_BOUNDS, make)
    }
}

/// The moments of a sum along a course.
pub(super) struct Moments<'a> {
    pub(super) sum: &'a SampledSum,
    pub(super) direction: Direction,
    pub(super) course: Course,
    pub(super) strands: &'a [StrandPlan],
    pub(super) stop: &'a Stop,
}

/// A strand, how its moments are summed, and an upper bound on ln of its moment.
type Line<'a> = (&'a Strand, &'a StrandPlan, f64);

impl Moments<'_> {
    /// All strands, their lines, and upper bounds on ln of their moments.
    fn lines(&self) -> Result<(Rational, Vec<Line<'_>>)> {
        let p = exact_power(self.direction, &rational::from_f64(self.course.c)?);
        let mut lines = Vec::new();
        for ((strand, table), plan) in self.sum.strands.iter().zip(&*self.sum.tables).zip(self.strands) {
            lines.push((strand, plan, ln_moment_above(&strand.least, table, &p)?));
        }
        Ok((p, lines))
    }

    fn along<F: Arithmetic>(
        &self,
        precision: Precision<F>,
        bits: u32,
        length: Length,
        terms: impl Fn(Vec<F>) -> Terms,
    ) -> Result<Along> {
        let (p, lines) = self.lines()?;
        let c = rational::from_f64(self.course.c)?;
        // A without exp(-c eps): exp(rho (c + c^2)) prod N^n
        let mut ln_scale = Enclosure::rational(&((&c + c.clone().square()) * &self.sum.rho), bits);
        let count = self.course.nodes as usize + 1;
        let one = F::new(exact(1.0, precision), exact(0.0, precision));
        let mut products = vec![one; count];
        for (strand, plan, ln_above) in &lines {
            let steps = Enclosure::rational(&Rational::from(strand.least.steps), bits);
            ln_scale = ln_scale.add(&Enclosure::double(plan.ln_norm, bits).mul(&steps));
            self.multiply(&mut products, (strand, plan, *ln_above), &p, (precision, bits, length))?;
        }
        let mut all = self.with_kernel(products, &c, precision);
        let mut beyond = self.beyond(&p, &lines)?;
        if let Some(beside) = &self.sum.beside {
            let factors = Factors::new(beside, &c, bits)?;
            factors.multiply(&mut all, &self.course, precision)?;
            ln_scale = ln_scale.add(&factors.ln_scale);
            beyond = beyond.mul(&factors.most);
        }
        Ok(Along { ln_scale, terms: terms(all), beyond })
    }

    /// Multiplies the products at all nodes by the moments of a strand.
    fn multiply<F: Arithmetic>(
        &self,
        products: &mut [F],
        (strand, plan, ln_above): (&Strand, &StrandPlan, f64),
        p: &Rational,
        (precision, bits, length): (Precision<F>, u32, Length),
    ) -> Result<()> {
        let nodes = plan.grid.nodes::<F>(&strand.least, p, plan.ln_norm, precision, bits)?;
        let weights: Vec<F> = nodes.iter().map(|node| exp(&node.ln_weight, precision)).collect();
        let factors = nodes.iter().map(|node| factor(node, self.course.h, precision)).collect();
        let powers = F::powers(factors, products.len(), length, precision);
        let ln_error = plan.grid.ln_error(strand, p, plan.ln_norm, ln_above)?;
        for (sigma2, steps) in &strand.members {
            let own = match *sigma2 == strand.least.sigma2 {
                true => weights.clone(),
                false => {
                    let ratios = plan.grid.ratios::<F>(&strand.least, sigma2, precision, bits)?;
                    weights.iter().zip(ratios).map(|(weight, ratio)| weight.mul(&ratio)).collect()
                }
            };
            let moments = F::sums(&powers, own, products.len(), self.stop)?;
            for (product, moment) in products.iter_mut().zip(moments) {
                // |F / N - sum| <= exp(ln_error)
                *product = product.mul(&moment.with_error(ln_error).pow(*steps));
            }
        }
        Ok(())
    }

    /// The products with the noise that is not sampled, and with the kernel.
    fn with_kernel<F: Arithmetic>(&self, products: Vec<F>, c: &Rational, precision: Precision<F>) -> Vec<F> {
        let number = |x: &Rational| F::Real::rational(x, precision);
        let turn = (Rational::from(c * 2_u32) + 1_u32) * &self.sum.rho;
        let (re, next) = (number(c), number(&Rational::from(c + 1_u32)));
        let of = |(k, product): (usize, F)| {
            // F was evaluated at p + i t; for an added record s is at p - i t.
            let product = if self.direction == Direction::Add { product.conj() } else { product };
            // Exact: a step of few bits.
            let height = self.course.h * k as f64;
            let t = F::double(height, precision);
            let kernel = F::new(re.clone(), t.clone()).mul(&F::new(next.clone(), t)).recip();
            let term = product.mul(&kernel);
            if self.sum.rho == 0 {
                return term;
            }
            // exp(rho (i t (1 + 2 c) - t^2))
            let t = Rational::from_f64(height).unwrap_or_default();
            let fall = number(&-(Rational::from(t.square_ref()) * &self.sum.rho)).exp();
            term.mul(&F::cis(&number(&(t * &turn))).scale(&fall))
        };
        products.into_iter().enumerate().map(of).collect()
    }

    /// Upper bound on what the nodes beyond the last one add, relative to the scale: N(T)^n exp(-rho T^2) / (pi T).
    fn beyond(&self, p: &Rational, lines: &[(&Strand, &StrandPlan, f64)]) -> Result<UpperBound> {
        // Not above T, where the modulus is larger.
        let height = (self.course.h * self.course.nodes as f64).next_down();
        let double = |x: f64| Enclosure::double(x, BITS);
        let fall = double(height).mul(&double(height)).mul(&Enclosure::rational(&self.sum.rho, BITS)).negate();
        let kernel = Enclosure::pi(BITS).mul(&double(height)).recip();
        let mut bound = UpperBound::exp(&fall).mul(&UpperBound::of_enclosure(&kernel));
        for (strand, plan, ln_above) in lines {
            let moduli = plan.beyond.moduli(strand, p, [plan.ln_norm, *ln_above], height)?;
            for (modulus, (_, steps)) in moduli.into_iter().zip(&strand.members) {
                bound = bound.mul(&powered(modulus.into_float(), *steps));
            }
        }
        Ok(bound)
    }
}

/// Upper bound on x^n.
fn powered(x: Float, copies: u64) -> UpperBound {
    let ln = Enclosure::new(x.clone(), x).ln();
    UpperBound::exp(&ln.mul(&Enclosure::rational(&Rational::from(copies), BITS)))
}
