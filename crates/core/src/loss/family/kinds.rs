//! The contours of a family: the pairs that share a kernel, and the nodes at which they are summed.

use std::{collections::BTreeSet, sync::Arc};

use rayon::prelude::*;
use rug::{Integer, Rational};

use super::{
    members::FINE,
    pairs::Pairs,
    sieved::{ByNode, SievedFamily, each_once},
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::Pair,
        plan::Plan,
        question::{Kernel, Question},
        search::ContourSearch,
        sieve::{BUDGET, SumSieve},
    },
    numeric::parallel,
};

/// Lower bound on the number of windows that each sieve may examine on an unbounded contour.
const LEAST_BUDGET: u64 = 100_000;

/// The same for a contour that many requests share, which has to be found quickly or not at all.
const QUICK_BUDGET: u64 = 250_000;

/// Without further conditions, at most this many pairs have a sieve each, or as many pairs as there are members.
const FEW_PAIRS: usize = 8;

/// At most this many pairs may have a sieve each.
const MOST_SIEVED: usize = 5_000;

/// The largest number of nodes of windows that survive for one member that are examined, and of nodes that are summed for all pairs.
const MOST_ON_LINE: i64 = 20_000;
const MOST_SUMMED_ON_LINE: usize = 2_000;
const MOST_ON_LATTICE: i64 = 100_000;

/// The pairs of one lattice step, or all pairs on an unbounded contour, with the contour that they share.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    pub(super) question: Question,
    /// With the nodes that all pairs sum.
    pub(super) plan: Plan,
    pub(super) pairs: Pairs,
    /// The nodes that a pair sums in addition, where pairs were sieved one by one.
    pub(super) own: Option<Arc<[Vec<i64>]>>,
}

impl Kind {
    /// Whether a node is its own conjugate: 0 and N / 2. Of all others only one of two is summed, and only real parts.
    pub(super) fn counts_once(&self, node: i64) -> bool {
        node == 0 || self.plan.nodes == Some(2 * node)
    }

    /// Upper bound on the number of products of members' factors in its sums.
    pub(super) fn most_products(&self) -> usize {
        let own: usize = self.own.iter().flat_map(|own| own.iter()).map(Vec::len).sum();
        self.plan.evaluated() as usize * self.pairs.members().len() + 2 * own
    }

    /// The same for some of its pairs.
    pub(super) fn among(&self, among: &BTreeSet<Pair>) -> Kind {
        let wanted = |index: &usize| among.contains(&self.pairs.get(*index));
        let indices: Vec<usize> = (0..self.pairs.len()).filter(wanted).collect();
        let pairs = indices.iter().map(|&index| self.pairs.get(index)).collect();
        let own = self.own.as_ref().map(|own| indices.iter().map(|&index| own[index].clone()).collect());
        Kind { question: self.question.clone(), plan: self.plan.clone(), pairs, own }
    }

    /// Keeps of the candidates the side lobes that matter, by upper bounds on ln |F| of each member at the candidates for its pairs.
    fn keep_side_lobes(&mut self, candidates: Vec<Vec<i64>>, bounds: &[ByNode<f64>]) {
        let most = if self.plan.nodes.is_some() { usize::MAX } else { MOST_SUMMED_ON_LINE };
        if self.own.is_none() {
            // A node matters if it does for the largest member; the largest product is that of its double.
            let largest =
                |node: &i64| bounds.iter().filter_map(|of| of.get(node)).fold(f64::NEG_INFINITY, |a, b| a.max(*b));
            let nodes = candidates.into_iter().flatten().map(|node| (node, 2.0 * largest(&node))).collect();
            self.plan.keep(nodes, most);
            return;
        }
        let keep = |((p, q), nodes): (Pair, Vec<i64>)| {
            let mut plan = self.plan.clone();
            plan.keep(nodes.into_iter().map(|node| (node, bounds[p][&node] + bounds[q][&node])).collect(), most);
            plan
        };
        let each: Vec<(Pair, Vec<i64>)> = self.pairs.iter().zip(candidates).collect();
        let plans: Vec<Plan> = each.into_par_iter().map(keep).collect();
        self.plan.dropped = plans.iter().map(|plan| plan.dropped).fold(0.0, f64::max);
        self.plan.exhausted |= plans.iter().any(|plan| plan.exhausted);
        let common = self.plan.evaluated() as usize;
        self.own = Some(plans.iter().map(|plan| plan.summed().skip(common).collect()).collect());
    }

    /// The nodes at which any pair is summed.
    pub(super) fn nodes(&self) -> Vec<i64> {
        let own = self.own.iter().flat_map(|own| own.iter()).flatten().copied();
        let mut nodes = self.plan.summed().chain(own).collect();
        each_once(&mut nodes);
        nodes
    }
}

impl SievedFamily {
    /// The contours of all pairs, or of those `among` which the answer is; `None` if they have none in common.
    pub(super) fn kinds(
        &self,
        epsilon: &Rational,
        ln_share: f64,
        proven: bool,
        among: Option<&BTreeSet<Pair>>,
    ) -> Result<Option<Vec<Kind>>> {
        if !self.family.alike {
            return Ok(None);
        }
        let sketch = self.search(&self.question(epsilon, None));
        let sketch = if proven { sketch } else { sketch.unproven() };
        self.kinds_of(epsilon, &sketch.plan_of_main_lobe(ln_share)?, among, false)
    }

    /// The search for an unbounded contour.
    pub(super) fn search<'a>(&'a self, question: &Question) -> ContourSearch<'a> {
        ContourSearch::new(&self.family.double, &self.doubles[0], question)
    }

    /// The same for a main lobe on an unbounded contour; `quick`: refused if a sweep takes long.
    pub(super) fn kinds_of(
        &self,
        epsilon: &Rational,
        plan: &Plan,
        among: Option<&BTreeSet<Pair>>,
        quick: bool,
    ) -> Result<Option<Vec<Kind>>> {
        // There may be very many, so all are shared and not copied.
        let wanted = |pairs: &Pairs| -> Pairs {
            among.map_or_else(|| pairs.clone(), |among| pairs.iter().filter(|pair| among.contains(pair)).collect())
        };
        let question = self.question(epsilon, None);
        let rho = self.family.rho().to_f64();
        // Any period serves on an unbounded contour; on a lattice a multiple of every step.
        let multiple = self.family.common.as_ref().map(|common| Rational::from(&plan.period / common).ceil() * common);
        let period = multiple.unwrap_or_else(|| plan.period.clone());
        let mut kinds = Vec::new();
        for (step, pairs) in &self.family.steps {
            let pairs = wanted(pairs);
            if pairs.is_empty() {
                continue;
            }
            // A lattice whose period the main lobe nearly fills is quickly answered, pair by pair.
            let Some(plan) = plan.on_lattice(&period, step, rho) else { return Ok(None) };
            kinds.push(Kind { question: self.question(epsilon, Some(step)), plan, pairs, own: None });
        }
        let on_line = plan.with_period(&period, rho);
        let pairs = wanted(&self.family.on_line);
        if !pairs.is_empty() {
            kinds.push(Kind { question: question.clone(), plan: on_line.clone(), pairs, own: None });
        }
        if kinds.is_empty() {
            return Ok(None);
        }
        match self.with_side_lobes(kinds, quick) {
            Err(Error::Unsweepable { .. }) if !quick => {
                let all =
                    Kind { question, plan: on_line, pairs: wanted(&self.family.each_unit().collect()), own: None };
                self.with_side_lobes(vec![all], quick).map(Some)
            }
            other => other.map(Some),
        }
    }

    /// The hockey stick at epsilon on the lattice offset + step Z, or on an unbounded contour.
    pub(super) fn question(&self, epsilon: &Rational, step: Option<&Rational>) -> Question {
        let (kernel, threshold) = (Kernel::HockeyStick, epsilon.clone());
        let Some(step) = step else {
            return Question { kernel, first: threshold.clone(), threshold, gap: Rational::new(), step: None };
        };
        let offset = self.family.offset();
        let index: Integer = (Rational::from(epsilon - offset) / step).floor().into_numer_denom().0 + 1;
        let first = Rational::from(step * index) + offset;
        let gap = Rational::from(&first - epsilon);
        Question { kernel, threshold, first, gap, step: Some(step.clone()) }
    }

    /// The kinds with the side lobes that matter.
    fn with_side_lobes(&self, mut kinds: Vec<Kind>, quick: bool) -> Result<Vec<Kind>> {
        let height = kinds[0].plan.height(1);
        let candidates = kinds.iter_mut().map(|kind| self.candidates(kind, height, quick));
        let candidates: Vec<Vec<Vec<i64>>> = candidates.collect::<Result<_>>()?;
        let bounds = self.bounds(&kinds, &candidates, height);
        for (kind, candidates) in kinds.iter_mut().zip(candidates) {
            kind.keep_side_lobes(candidates, &bounds);
        }
        Ok(kinds)
    }

    /// The nodes that no sieve excludes: for each pair where each has a sieve of its own, otherwise one list for all. The plan of the kind takes the bounds
    /// on what was excluded. `quick`: an error where a sweep takes long.
    fn candidates(&self, kind: &mut Kind, height: f64, quick: bool) -> Result<Vec<Vec<i64>>> {
        let lattice = kind.plan.nodes.is_some();
        let most = if lattice { MOST_ON_LATTICE } else { MOST_ON_LINE };
        let (sieves, one_by_one) = self.to_sieve(&kind.pairs, lattice)?;
        let budget = if lattice { BUDGET } else { (BUDGET / sieves.len() as u64).max(LEAST_BUDGET) };
        let budget = if quick { budget.min(QUICK_BUDGET) } else { budget };
        let refusal = || {
            let (needed, budget) = ("more windows".to_string(), format!("{budget} windows"));
            Error::Unsweepable { step: "a pair's".to_string(), needed, budget }
        };
        let each = |sieve: &Arc<SumSieve>| {
            let mut plan = kind.plan.clone();
            let ranges = sieve.survivors(&mut plan, most, budget)?;
            if quick && plan.exhausted {
                return Err(refusal());
            }
            Ok((plan, ranges.into_iter().flat_map(|(a, b)| a..=b).collect()))
        };
        let sieved = parallel::try_map(&sieves, each)?;
        let plan = &mut kind.plan;
        plan.last = sieved.iter().map(|(plan, _)| plan.last).min().unwrap_or(plan.last);
        plan.dropped = sieved.iter().map(|(plan, _)| plan.dropped).fold(0.0, f64::max);
        plan.exhausted = sieved.iter().any(|(plan, _)| plan.exhausted);
        if lattice && plan.exhausted {
            return Err(refusal());
        }
        if !lattice {
            let beyond = |sieve: &Arc<SumSieve>| sieve.beyond(height, plan.last as f64);
            plan.beyond = parallel::map(&sieves, beyond).into_iter().fold(0.0, f64::max);
        }
        kind.own = one_by_one.then(|| Arc::new([]) as Arc<[Vec<i64>]>);
        let nodes = sieved.into_iter().map(|(_, nodes)| nodes);
        if one_by_one {
            return Ok(nodes.collect());
        }
        let mut union: Vec<i64> = nodes.flatten().collect();
        each_once(&mut union);
        Ok(vec![union])
    }

    /// For each member an upper bound on ln |F| at the nodes that are candidates for its pairs.
    fn bounds(&self, kinds: &[Kind], candidates: &[Vec<Vec<i64>>], height: f64) -> Vec<ByNode<f64>> {
        let mut wanted = vec![Vec::new(); self.family.len()];
        for (kind, candidates) in kinds.iter().zip(candidates) {
            match &kind.own {
                Some(_) => {
                    for ((p, q), nodes) in kind.pairs.iter().zip(candidates) {
                        wanted[p].extend(nodes);
                        wanted[q].extend(nodes);
                    }
                }
                None => {
                    let members = kind.pairs.members().into_iter();
                    members.for_each(|member| wanted[member].extend(candidates.iter().flatten()));
                }
            }
        }
        // |F_p| is the root of the double's.
        let of_member = |(double, mut nodes): (&Arc<SumSieve>, Vec<i64>)| {
            each_once(&mut nodes);
            nodes.into_iter().map(|node| (node, double.ln_bound(node as f64 * height) / 2.0)).collect()
        };
        self.doubles.par_iter().zip(wanted).map(of_member).collect()
    }

    /// The sieves for some pairs, and whether there is one for each pair: those of the doubles of their members, unless the pairs are few, whose own
    /// sieves leave fewer survivors, or a member repeats itself so soon that its double does though the pair does not.
    fn to_sieve(&self, pairs: &Pairs, lattice: bool) -> Result<(Vec<Arc<SumSieve>>, bool)> {
        let members = pairs.members();
        let coarse = |member: &usize| self.family.members[*member].step().is_some_and(|step| step.to_f64() > FINE);
        let few = pairs.len() <= members.len().max(FEW_PAIRS);
        if few || (lattice || members.iter().any(coarse)) && pairs.len() <= MOST_SIEVED {
            return Ok((pairs.iter().map(|pair| self.unit(pair)).collect::<Result<_>>()?, true));
        }
        Ok((members.into_iter().map(|member| Arc::clone(&self.doubles[member])).collect(), false))
    }
}
