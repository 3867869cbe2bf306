//! The trapezoid sums of all pairs, in doubles or sums of two doubles, with bounds on their errors.

use std::mem;

use rayon::prelude::*;

use super::{
    kinds::Kind,
    sieved::{ByNode, SievedFamily, each_once},
};
use crate::{
    loss::{
        integrand::{Integrand, Product},
        near::{self, Near, NearSum},
        theta,
    },
    numeric::{
        enclosure::Enclosure,
        field::{Field, Real},
        parallel,
        twofold::Twofold,
    },
};

/// The trapezoid sum of a pair, with an error of at most `error`, relative to a common factor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PairSum {
    pub(super) value: Twofold,
    pub(super) error: f64,
}

impl PairSum {
    /// Lower bound on the sum.
    pub(super) fn lower(&self) -> Twofold {
        near::ends(self.value, self.error).0
    }

    /// Upper bound on the sum.
    pub(super) fn upper(&self) -> Twofold {
        near::ends(self.value, self.error).1
    }
}

/// The trapezoid sums of the pairs of each kind, in the order of the pairs, relative to a common factor exp(scale).
pub(super) struct Sums {
    pub(super) of_kind: Vec<Vec<PairSum>>,
    pub(super) scale: Enclosure,
}

/// The products of the factors of each member at the nodes at which it is needed, relative to a common factor; for two members
/// together, with what is beside all pairs, that is exp(scale).
#[derive(Debug)]
pub(super) struct Members<N> {
    pub(super) values: Vec<ByNode<N>>,
    pub(super) scale: Enclosure,
}

impl SievedFamily {
    /// The trapezoid sums of all pairs, with factors and kernels from one arithmetic or the other; `bits` of precision for
    /// the common factor.
    pub(super) fn trapezoid<F: Field, N: Near>(
        &self,
        kinds: &[Kind],
        precision: <F::Real as Real>::Precision,
        bits: u32,
        near: impl Fn(&F) -> N + Copy + Sync,
    ) -> Sums {
        let members = self.members_at(kinds, precision, bits, near);
        let beside = self.factors_beside::<F>(kinds, precision);
        let of_kind = |kind: &Kind| {
            let integrand = Integrand::<F>::new(&self.family.double, &kind.question, &kind.plan, precision);
            self.sums_of_kind(kind, &members.values, |node| {
                let value = integrand.question_at(node);
                let value = beside.as_ref().map_or(value.clone(), |beside| value.mul(&beside.at(node)));
                near(&if kind.counts_once(node) { value } else { value.add(&value) })
            })
        };
        Sums { of_kind: parallel::map(kinds, of_kind), scale: members.scale }
    }

    /// The factors of what is beside all pairs, at the nodes of some kinds; `None` where nothing is.
    pub(super) fn factors_beside<F: Field>(
        &self,
        kinds: &[Kind],
        precision: <F::Real as Real>::Precision,
    ) -> Option<Product<F>> {
        let plan = &kinds.first()?.plan;
        let beside = self.family.beside()?;
        Some(Product::new(beside, &plan.exact_c, &plan.period.clone().recip(), precision))
    }

    /// The products of the members' factors at the nodes of some kinds, which depend on the contour only.
    pub(super) fn members_at<F: Field, N: Near>(
        &self,
        kinds: &[Kind],
        precision: <F::Real as Real>::Precision,
        bits: u32,
        near: impl Fn(&F) -> N + Copy + Sync,
    ) -> Members<N> {
        let c = &kinds[0].plan.exact_c;
        let spacing = kinds[0].plan.period.clone().recip();
        // The nodes at which each member is needed, and so each group.
        let mut of_member = vec![Vec::new(); self.family.len()];
        for kind in kinds {
            let common: Vec<i64> = kind.plan.summed().collect();
            kind.pairs.members().into_iter().for_each(|member| of_member[member].extend(&common));
            for ((p, q), own) in kind.pairs.iter().zip(kind.own.iter().flat_map(|own| own.iter())) {
                of_member[p].extend(own);
                of_member[q].extend(own);
            }
        }
        of_member.par_iter_mut().for_each(each_once);
        let mut of_group = vec![Vec::new(); self.family.groups.len()];
        for (nodes, groups) in of_member.iter().zip(&self.family.of_member) {
            groups.iter().for_each(|&group| of_group[group].extend(nodes));
        }
        of_group.par_iter_mut().for_each(each_once);
        let factors: Vec<(ByNode<N>, Enclosure)> = (self.family.groups.par_iter().zip(of_group))
            .map(|(group, nodes)| {
                let product = Product::<F>::of_group(group, c, &spacing, precision);
                let factors = nodes.into_iter().map(|node| (node, near(&product.at(node)))).collect();
                (factors, theta::ln_scale(group, c, bits))
            })
            .collect();
        let scale_of = |groups: &Vec<usize>| {
            let zero = Enclosure::double(0.0, bits);
            groups.iter().fold(zero, |sum, &group| sum.add(&factors[group].1))
        };
        let scales = parallel::map(&self.family.of_member, scale_of);
        let values: Vec<ByNode<N>> = (self.family.of_member.par_iter().zip(&scales).zip(of_member))
            .map(|((groups, scale), nodes)| {
                let relative = N::real(&scale.sub(&scales[0]).exp());
                let product = |node: i64| groups.iter().fold(relative, |product, &g| product.mul(factors[g].0[&node]));
                nodes.into_iter().map(|node| (node, product(node))).collect()
            })
            .collect();
        let of_pair = scales[0].add(&scales[0]);
        let scale = match self.family.beside() {
            None => of_pair,
            Some(beside) => of_pair.add(&beside.ln_prefactor_scale(c, bits)),
        };
        Members { values, scale }
    }

    /// The trapezoid sums of the pairs of a kind from the factors of the members at the nodes, and the kernel there: twice that of the request,
    /// except at nodes that count once.
    pub(super) fn sums_of_kind<N: Near>(
        &self,
        kind: &Kind,
        members: &[ByNode<N>],
        kernel: impl Fn(i64) -> N,
    ) -> Vec<PairSum> {
        let common: Vec<i64> = kind.plan.summed().collect();
        let common_kernel: Vec<N> = common.iter().map(|&node| kernel(node)).collect();
        let mut own: Vec<i64> = kind.own.iter().flat_map(|own| own.iter()).flatten().copied().collect();
        each_once(&mut own);
        let own_kernel: ByNode<N> = own.into_iter().map(|node| (node, kernel(node))).collect();
        // The common nodes as arrays: there may be very many pairs that use them.
        let mut rows = vec![Vec::new(); members.len()];
        for member in kind.pairs.members() {
            rows[member] = common.iter().map(|node| members[member][node]).collect();
        }
        let mut sums = vec![PairSum::default(); kind.pairs.len()];
        // Runs of pairs with the same first member, each with the place of its first pair and with the place of its sums.
        let runs = kind.pairs.runs().scan((0, &mut sums[..]), |(start, rest), (p, seconds)| {
            let count = seconds.len();
            let (sums, others) = mem::take(rest).split_at_mut(count);
            *rest = others;
            *start += count;
            Some((*start - count, p, seconds, sums))
        });
        let runs: Vec<_> = runs.collect();
        runs.into_par_iter().for_each(|(start, p, seconds, sums)| {
            let left: Vec<N> = rows[p].iter().zip(&common_kernel).map(|(a, k)| a.mul(*k)).collect();
            for (index, (q, of_pair)) in seconds.zip(sums).enumerate() {
                let mut sum = N::Sum::default();
                left.iter().zip(&rows[q]).for_each(|(&a, &b)| sum.add(a, b));
                for node in kind.own.iter().flat_map(|own| &own[start + index]) {
                    sum.add(members[p][node].mul(own_kernel[node]), members[q][node]);
                }
                let (value, error) = sum.total();
                *of_pair = PairSum { value, error };
            }
        });
        sums
    }
}
