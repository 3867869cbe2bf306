//! The trapezoid sums of all pairs, in doubles that carry their errors.

use std::collections::{BTreeSet, HashMap};

use num_complex::Complex64;
use rayon::prelude::*;
use rug::Float;

use super::{
    Pair,
    kinds::Kind,
    sieved::{BITS, SievedFamily},
};
use crate::{
    loss::{
        integrand::{Integrand, Product},
        theta,
    },
    numeric::{
        ball::ComplexBall,
        enclosure::Enclosure,
        field::{Field, Real},
    },
};

/// A complex number near a double, and how near.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub(super) value: Complex64,
    pub(super) error: f64,
}

/// The trapezoid sum of a pair: a double and its error, relative to a common factor.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairSum {
    pub(super) pair: Pair,
    pub(super) value: f64,
    pub(super) error: f64,
}

/// The trapezoid sums of the pairs of each kind, relative to a common factor exp(scale).
pub(super) struct Sums {
    pub(super) of_kind: Vec<Vec<PairSum>>,
    pub(super) scale: Enclosure,
}

impl SievedFamily {
    /// The trapezoid sums of all pairs, with factors and kernels from one arithmetic or the other.
    pub(super) fn trapezoid<F: Field>(
        &self,
        kinds: &[Kind],
        precision: <F::Real as Real>::Precision,
        near: impl Fn(&F) -> Near + Copy + Sync,
    ) -> Sums {
        let c = &kinds[0].plan.exact_c;
        let spacing = kinds[0].plan.period.clone().recip();
        // Which nodes a member is needed at, and so which a group is.
        let mut of_member = vec![BTreeSet::new(); self.family.len()];
        for kind in kinds {
            let common: Vec<i64> = kind.plan.summed().collect();
            let members: BTreeSet<usize> = kind.pairs.iter().flat_map(|&(p, q)| [p, q]).collect();
            members.into_iter().for_each(|member| of_member[member].extend(&common));
            for (&(p, q), own) in kind.pairs.iter().zip(kind.own.iter().flatten()) {
                of_member[p].extend(own);
                of_member[q].extend(own);
            }
        }
        let mut of_group = vec![BTreeSet::new(); self.family.groups.len()];
        for (nodes, groups) in of_member.iter().zip(&self.family.of_member) {
            groups.iter().for_each(|&group| of_group[group].extend(nodes));
        }
        let factors: Vec<(HashMap<i64, Near>, Enclosure)> = (self.family.groups.par_iter().zip(of_group))
            .map(|(group, nodes)| {
                let product = Product::<F>::of_group(group, c, &spacing, precision);
                let factors = nodes.into_iter().map(|node| (node, near(&product.at(node)))).collect();
                (factors, theta::ln_scale(group, c, BITS))
            })
            .collect();
        let scale_of = |groups: &Vec<usize>| {
            let zero = Enclosure::double(0.0, BITS);
            groups.iter().fold(zero, |sum, &group| sum.add(&factors[group].1))
        };
        let scales: Vec<Enclosure> = self.family.of_member.par_iter().map(scale_of).collect();
        let members: Vec<HashMap<i64, Near>> = (self.family.of_member.par_iter().zip(&scales).zip(of_member))
            .map(|((groups, scale), nodes)| {
                let relative = Near::real(&scale.sub(&scales[0]).exp());
                let product = |node: i64| groups.iter().fold(relative, |product, &g| product.mul(factors[g].0[&node]));
                nodes.into_iter().map(|node| (node, product(node))).collect()
            })
            .collect();
        let of_kind = |kind: &Kind| self.sums_of_kind(kind, &members, precision, near);
        Sums { of_kind: kinds.par_iter().map(of_kind).collect(), scale: scales[0].add(&scales[0]) }
    }

    /// The trapezoid sums of the pairs of a kind from the factors of the members at the nodes.
    fn sums_of_kind<F: Field>(
        &self,
        kind: &Kind,
        members: &[HashMap<i64, Near>],
        precision: <F::Real as Real>::Precision,
        near: impl Fn(&F) -> Near,
    ) -> Vec<PairSum> {
        let integrand = Integrand::<F>::new(&self.family.doubles[0], &kind.question, &kind.plan, precision);
        let kernel = |node: i64| {
            let value = integrand.question_at(node);
            // Nodes j and -j are conjugates, and only real parts are summed; 0 and N / 2 are their own.
            let once = node == 0 || kind.plan.nodes == Some(2 * node);
            near(&if once { value } else { value.add(&value) })
        };
        let common: Vec<i64> = kind.plan.summed().collect();
        let common_kernel: Vec<Near> = common.iter().map(|&node| kernel(node)).collect();
        let own: BTreeSet<i64> = kind.own.iter().flatten().flatten().copied().collect();
        let own_kernel: HashMap<i64, Near> = own.into_iter().map(|node| (node, kernel(node))).collect();
        // The common nodes as arrays: of these there may be very many pairs.
        let used: BTreeSet<usize> = kind.pairs.iter().flat_map(|&(p, q)| [p, q]).collect();
        let mut rows = vec![Vec::new(); members.len()];
        used.into_iter().for_each(|member| rows[member] = common.iter().map(|node| members[member][node]).collect());
        let runs: Vec<(usize, &[Pair])> = (kind.pairs.chunk_by(|a, b| a.0 == b.0))
            .scan(0, |start, run| {
                *start += run.len();
                Some((*start - run.len(), run))
            })
            .collect();
        let run = |&(start, pairs): &(usize, &[Pair])| -> Vec<PairSum> {
            let p = pairs[0].0;
            let left: Vec<Near> = rows[p].iter().zip(&common_kernel).map(|(a, k)| a.mul(*k)).collect();
            let of_pair = |(index, &pair): (usize, &Pair)| {
                let mut sum = Sum::default();
                left.iter().zip(&rows[pair.1]).for_each(|(a, b)| sum.add(a, b));
                for node in kind.own.iter().flat_map(|own| &own[start + index]) {
                    sum.add(&members[p][node].mul(own_kernel[node]), &members[pair.1][node]);
                }
                PairSum { pair, value: sum.value, error: sum.error() }
            };
            pairs.iter().enumerate().map(of_pair).collect()
        };
        runs.par_iter().flat_map_iter(run).collect()
    }
}

/// The sum of the real parts of products, with its error.
#[derive(Default)]
pub(super) struct Sum {
    pub(super) value: f64,
    error: f64,
    size: f64,
    terms: f64,
}

impl Sum {
    pub(super) fn add(&mut self, a: &Near, b: &Near) {
        let (size_a, size_b) = (a.value.re.abs() + a.value.im.abs(), b.value.re.abs() + b.value.im.abs());
        self.value += a.value.re * b.value.re - a.value.im * b.value.im;
        self.error += (size_a + a.error) * b.error + a.error * size_b;
        self.size += size_a * size_b;
        self.terms += 1.0;
    }

    /// Each term errs by 2 units of 2^-53 of |a||b|, and each addition by one of what is summed so far.
    pub(super) fn error(&self) -> f64 {
        let rounding = self.size * (self.terms + 4.0) * f64::EPSILON;
        (self.error + rounding) * (1.0 + 1e-6) + f64::MIN_POSITIVE
    }
}

impl Near {
    /// A ball in doubles: the midpoint rounded, each part by half a unit in its last place at most.
    pub(super) fn of(ball: &ComplexBall) -> Near {
        let (value, radius) = ball.in_doubles();
        Near { value, error: (radius + value.norm() * f64::EPSILON) * (1.0 + 1e-12) + f64::MIN_POSITIVE }
    }

    fn real(value: &Enclosure) -> Near {
        let middle = value.approximate();
        let width = Float::with_val(53, value.upper() - value.lower()).to_f64();
        Near { value: Complex64::new(middle, 0.0), error: (width + middle.abs() * f64::EPSILON) * (1.0 + 1e-12) }
    }

    /// With |a'| <= |a| + e_a: |a' b' - a b| <= |a| e_b + |b| e_a + e_a e_b, and the product of the doubles errs by less
    /// than sqrt(5) 2^-53 |a||b| (Brent, Percival & Zimmermann 2007). The last term pays for underflow.
    pub(super) fn mul(self, other: Near) -> Near {
        let (a, b) = (self.value.norm(), other.value.norm());
        let error = a * other.error + b * self.error + self.error * other.error + a * b * 1.2 * f64::EPSILON;
        Near { value: self.value * other.value, error: error * (1.0 + 1e-12) + f64::MIN_POSITIVE }
    }
}

#[cfg(test)]
mod tests {
    use rug::Rational;

    use super::*;

    /// The doubles carry their errors: products and sums of hundreds of numbers against exact arithmetic.
    #[test]
    fn doubles_know_how_near_they_are() {
        let number =
            |k: i64| (Rational::from((k * 7919 % 1000 - 500, 997)), Rational::from((k * 104_729 % 1000 - 500, 991)));
        let near = |(re, im): &(Rational, Rational)| {
            let value = Complex64::new(re.to_f64(), im.to_f64());
            Near { value, error: value.norm() * f64::EPSILON }
        };
        let mut sum = Sum::default();
        let mut exact = Rational::new();
        for k in 1..500 {
            let (a, b, c) = (number(k), number(3 * k + 1), number(k * k + 2));
            // Re(a b c)
            let re = Rational::from(&a.0 * &b.0) - Rational::from(&a.1 * &b.1);
            let im = Rational::from(&a.0 * &b.1) + Rational::from(&a.1 * &b.0);
            exact += re * &c.0 - im * &c.1;
            sum.add(&near(&a).mul(near(&b)), &near(&c));
        }
        let off = (Rational::from_f64(sum.value).unwrap() - exact).abs().to_f64();
        assert!(off <= sum.error() && sum.error() < 1e-10, "{off} {}", sum.error());
    }
}
