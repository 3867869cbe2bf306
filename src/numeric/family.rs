//! All pairs of a family of sums at once: E[(1 - exp(eps - L))_+] for L = L_p + L_q with p and q from a family.
//!
//! The members of a family have the same rho and only Gaussian terms, so one contour serves all pairs: the same real
//! part, the same heights of the nodes and the same cut. The product of factors is evaluated once for each member and
//! node; a pair costs two multiplications a node.
//!
//! Where the lattices of the pairs can be swept, each pair keeps its own lattice and kernel: all that the pairs must
//! share is a period that every step divides. Otherwise all take the kernel on the line, and the sieve is asked for the
//! pairs (p, p) only: it bounds |F_p|^2 by the target, hence |F_p F_q| by it too.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use num_complex::Complex64;
use rayon::prelude::*;
use rug::{Integer, Rational};

use super::{
    ball::ComplexBall,
    contour::{Certificate, Errors, Kernel, Question},
    enclosure::Enclosure,
    field::{Field, Real},
    integrand::{Integrand, Product, total},
    plan::{MOST_NODES, Plan, Sketch},
    rational,
    sieve::BUDGET,
    sum::{Group, Law, LossSum},
};
use crate::error::{Error, Result};

/// Sums of equal rho, to be added in pairs.
#[derive(Clone, Debug)]
pub struct Family {
    members: Vec<LossSum>,
    /// The sums of all pairs p <= q.
    pairs: Vec<((usize, usize), LossSum)>,
    /// The different lattice steps of the pairs.
    steps: Vec<Rational>,
    /// The least common multiple of all lattice steps; nothing where some member has none.
    common: Option<Rational>,
}

/// How many nodes of windows that survive for one member are looked at on the line, where all pairs pay for them, and
/// how many of them each pair may sum.
const MOST_CANDIDATES: i64 = 20_000;
const MOST_ON_LINE: usize = 2_000;

/// A pair of members, the smaller index first, and its answer.
pub type PairAnswer = ((usize, usize), Enclosure);

/// A question and a plan for each pair.
struct Plans {
    /// The index into `kinds` and the plan of each pair.
    of_pair: Vec<(usize, Plan)>,
    /// The questions that differ: one for each lattice step.
    kinds: Vec<Question>,
}

impl Family {
    /// A family of at least one member. All must have the same rho and no bounded terms.
    pub fn new(members: Vec<Vec<Group>>) -> Result<Self> {
        let mut pairs = Vec::new();
        for (p, left) in members.iter().enumerate() {
            for (q, right) in members.iter().enumerate().skip(p) {
                pairs.push(((p, q), LossSum::new(left.iter().chain(right).cloned())?));
            }
        }
        let members: Vec<LossSum> = members.into_iter().map(LossSum::new).collect::<Result<_>>()?;
        let Some(first) = members.first() else { return Err(Error::EmptyComposition) };
        let bounded = |sum: &LossSum| sum.groups().iter().any(|group| matches!(group.law, Law::DiscreteLaplace { .. }));
        if let Some(other) = members.iter().find(|member| member.rho() != first.rho() || bounded(member)) {
            let expected = "Gaussian noise of the same total rho on every path";
            return Err(Error::out_of_range("the rho of a path", rational::display(other.rho()), expected));
        }
        let common = members.iter().map(|member| member.step().cloned()).reduce(|a, b| {
            let (a, b) = (a?, b?);
            // lcm(a, b) = a b / gcd(a, b)
            let shared = rational::gcd(&a, &b);
            Some(a * b / shared)
        });
        let mut steps: Vec<Rational> = pairs.iter().filter_map(|(_, sum)| sum.step().cloned()).collect();
        steps.sort();
        steps.dedup();
        Ok(Family { common: common.flatten(), members, pairs, steps })
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none, which [`Family::new`] refuses.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The rho of every pair.
    pub fn rho(&self) -> &Rational {
        self.pairs[0].1.rho()
    }

    /// The hockey stick at epsilon on the lattice rho + step Z, or on the line.
    fn question(&self, epsilon: &Rational, step: Option<&Rational>) -> Question {
        let (kernel, threshold) = (Kernel::HockeyStick, epsilon.clone());
        let Some(step) = step else {
            return Question { kernel, first: threshold.clone(), threshold, gap: Rational::new(), step: None };
        };
        let index: Integer = (Rational::from(epsilon - self.rho()) / step).floor().into_numer_denom().0 + 1;
        let first = Rational::from(step * index) + self.rho();
        let gap = Rational::from(&first - epsilon);
        Question { kernel, threshold, first, gap, step: Some(step.clone()) }
    }

    fn plans(&self, epsilon: &Rational, ln_share: f64, proven: bool) -> Result<Plans> {
        match &self.common {
            Some(common) => match self.on_lattices(epsilon, ln_share, common) {
                Err(Error::Unsweepable { .. }) => self.on_line(epsilon, ln_share, proven),
                other => other,
            },
            None => self.on_line(epsilon, ln_share, proven),
        }
    }

    /// Each pair on its own lattice, with a common period.
    fn on_lattices(&self, epsilon: &Rational, ln_share: f64, common: &Rational) -> Result<Plans> {
        let first = &self.pairs[0].1;
        let question = self.question(epsilon, first.step());
        let sketch = Sketch::new(first, &question);
        let model = sketch.plan(ln_share, None)?;
        let multiple = (Rational::from(&model.period / common)).ceil();
        let period = multiple * common;
        if model.cut.is_infinite() {
            return Err(sketch.no_common_period());
        }
        let rho = self.rho().to_f64();
        let kinds: Vec<Question> = self.steps.iter().map(|step| self.question(epsilon, Some(step))).collect();
        // Below a long period the bounds for aliasing only fall, so the points chosen for the model serve.
        let plans: Vec<Option<Plan>> =
            self.steps.iter().map(|step| model.on_other_lattice(&period, step, rho)).collect();
        let sieved = self.pairs.par_iter().map(|(_, sum)| {
            let kind = self.steps.iter().position(|step| Some(step) == sum.step());
            let plan = kind.and_then(|kind| plans[kind].clone());
            let (Some(kind), Some(mut plan)) = (kind, plan) else { return Err(sketch.no_common_period()) };
            let survivors = sum.survivors(&mut plan, MOST_NODES, BUDGET)?;
            if plan.spent { Err(sketch.no_common_period()) } else { Ok(((kind, plan), survivors)) }
        });
        let (mut of_pair, survivors): (Vec<_>, Vec<_>) = sieved.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        self.keep_what_matters(&mut of_pair, &survivors, usize::MAX);
        Ok(Plans { of_pair, kinds })
    }

    /// All pairs on the line, with the lobes of every pair (p, p).
    fn on_line(&self, epsilon: &Rational, ln_share: f64, proven: bool) -> Result<Plans> {
        let question = self.question(epsilon, None);
        let sketch = Sketch::new(&self.pairs[0].1, &question);
        let sketch = if proven { sketch } else { sketch.unproven() };
        let mut plan = sketch.plan_of_main_lobe(ln_share)?;
        let doubles = || self.pairs.iter().filter(|((p, q), _)| p == q).map(|(_, double)| double);
        let budget = BUDGET / self.members.len() as u64;
        let mut dropped = 0.0;
        let mut survivors: BTreeSet<i64> = BTreeSet::new();
        for double in doubles() {
            plan.dropped = 0.0;
            let ranges = double.survivors(&mut plan, MOST_CANDIDATES, budget)?;
            survivors.extend(ranges.into_iter().flat_map(|(from, to)| from..=to));
            // |F_p F_q| <= (|F_p|^2 + |F_q|^2) / 2, so what serves every pair (p, p) serves all.
            dropped = f64::max(dropped, plan.dropped);
        }
        plan.dropped = dropped;
        let height = plan.height(1);
        plan.beyond = doubles().map(|double| double.beyond(height, plan.last as f64)).fold(0.0, f64::max);
        let survivors: Vec<(i64, i64)> = survivors.into_iter().map(|node| (node, node)).collect();
        let mut of_pair = vec![(0, plan); self.pairs.len()];
        self.keep_what_matters(&mut of_pair, &vec![survivors; self.pairs.len()], MOST_ON_LINE);
        Ok(Plans { of_pair, kinds: vec![question] })
    }

    /// Of the nodes that the sieve left for each pair, adds those to its plan that matter by the bounds of its members,
    /// each computed once.
    fn keep_what_matters(&self, of_pair: &mut [(usize, Plan)], survivors: &[Vec<(i64, i64)>], most: usize) {
        let height = of_pair[0].1.height(1);
        let mut wanted = vec![BTreeSet::new(); self.members.len()];
        for (((p, q), _), ranges) in self.pairs.iter().zip(survivors) {
            for member in [*p, *q] {
                wanted[member].extend(ranges.iter().flat_map(|&(from, to)| from..=to));
            }
        }
        let bounds: Vec<HashMap<i64, f64>> = (self.members.par_iter().zip(wanted))
            .map(|(member, nodes)| {
                let bound = member.ln_bounds();
                nodes.into_iter().map(|node| (node, bound(node as f64 * height))).collect()
            })
            .collect();
        (of_pair.par_iter_mut().zip(survivors).zip(&self.pairs)).for_each(|(((_, plan), ranges), ((p, q), _))| {
            let nodes = ranges.iter().flat_map(|&(from, to)| from..=to);
            plan.keep(nodes.map(|node| (node, bounds[*p][&node] + bounds[*q][&node])).collect(), most);
        });
        // The bounds of a kind of question are computed once, from the plan of any of its pairs.
        let kinds = of_pair.iter().map(|(kind, _)| kind + 1).max().unwrap_or(0);
        let mut dropped = vec![0.0; kinds];
        for (kind, plan) in of_pair.iter() {
            dropped[*kind] = f64::max(dropped[*kind], plan.dropped);
        }
        of_pair.iter_mut().for_each(|(kind, plan)| plan.dropped = dropped[*kind]);
    }

    /// The hockey-stick divergences of all pairs, with the certificate of the first, and whether all have a relative
    /// width of 10^-digits.
    pub fn hockey_sticks(&self, epsilon: &Rational, digits: u32) -> Result<(Vec<PairAnswer>, Certificate, bool)> {
        const ATTEMPTS: u32 = 4;
        if self.is_coarse() {
            return self.one_by_one(epsilon, digits);
        }
        let mut attempt = 0;
        loop {
            let ln_share = -(f64::from(digits) * std::f64::consts::LN_10 + 2.3 + 9.0 * f64::from(attempt));
            let plans = self.plans(epsilon, ln_share, true)?;
            let model = &plans.of_pair[0].1;
            let bits = (f64::from(digits) * 3.33) as u32 + 24 + model.evaluated().ilog2() + 24 * attempt;
            let c = rational::from_f64(model.c);
            let scales: Vec<Enclosure> = self.members.iter().map(|m| m.ln_prefactor_scale(&c, bits)).collect();
            // The bounds depend on the kind of question only: the plans of a kind share all that enters them.
            let mut errors: BTreeMap<usize, Errors> = BTreeMap::new();
            let mut certificate = None;
            let mut answers = Vec::new();
            let mut spent = false;
            for (index, value) in self.pair_sums::<ComplexBall>(&plans, bits).into_iter().enumerate() {
                let ((p, q), sum) = &self.pairs[index];
                let (kind, plan) = &plans.of_pair[index];
                let question = &plans.kinds[*kind];
                let errors = errors.entry(*kind).or_insert_with(|| sum.errors(question, plan));
                let scale = scales[*p].add(&scales[*q]);
                let certified = sum.certify(question, plan, value.re().enclosure(), &scale, bits, errors);
                certificate.get_or_insert(certified.certificate);
                spent |= plan.spent;
                answers.push(((*p, *q), certified.value.clamp(0.0, 1.0)));
            }
            attempt += 1;
            let met = answers.iter().all(|(_, value)| value.is_tight(digits));
            if let Some(certificate) = certificate
                && (met || attempt == ATTEMPTS || spent)
            {
                return Ok((answers, certificate, met));
            }
        }
    }

    /// Whether all lattices are so coarse that a whole period is no longer than the main lobe.
    fn is_coarse(&self) -> bool {
        const COARSE: f64 = 0.01;
        self.common.is_some() && self.steps.first().is_some_and(|step| *step > COARSE)
    }

    /// Each pair by itself.
    fn one_by_one(&self, epsilon: &Rational, digits: u32) -> Result<(Vec<PairAnswer>, Certificate, bool)> {
        let answers = (self.pairs.par_iter())
            .map(|(pair, sum)| Ok((*pair, sum.hockey_stick(epsilon, digits)?)))
            .collect::<Result<Vec<_>>>()?;
        let met = answers.iter().all(|(_, answer)| answer.met);
        let Some((_, first)) = answers.first() else { return Err(Error::EmptyComposition) };
        let certificate = first.certificate.clone();
        Ok((answers.into_iter().map(|(pair, answer)| (pair, answer.value)).collect(), certificate, met))
    }

    /// ln of the largest of all pairs in doubles, an approximation without proof, and the pair.
    pub fn ln_largest_approx(&self, epsilon: &Rational) -> Result<(f64, (usize, usize))> {
        if self.is_coarse() {
            let all = self.pairs.iter().map(|(pair, sum)| Ok((sum.ln_hockey_stick_approx(epsilon)?, *pair)));
            let all = all.collect::<Result<Vec<_>>>()?;
            let best = all.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
            return best.ok_or(Error::EmptyComposition);
        }
        let plans = self.plans(epsilon, 1e-13_f64.ln(), false)?;
        let c = rational::from_f64(plans.of_pair[0].1.c);
        let scales: Vec<f64> = self.members.iter().map(|member| member.ln_prefactor_scale_approx(&c)).collect();
        let mut best = (f64::NEG_INFINITY, (0, 0));
        for (index, value) in self.pair_sums::<Complex64>(&plans, ()).into_iter().enumerate() {
            let ((p, q), sum) = &self.pairs[index];
            let (kind, plan) = &plans.of_pair[index];
            let question = &plans.kinds[*kind];
            let fixed = sum.ln_size(question, &c, question.start()).to_f64() - plan.divisor().to_f64().ln();
            let ln = fixed + scales[*p] + scales[*q] + value.re.abs().ln();
            if ln > best.0 {
                best = (ln, (*p, *q));
            }
        }
        Ok(best)
    }

    /// The trapezoid sum of every pair, in the order of `pairs`. What a member or a question gives at a node is
    /// computed once for all pairs.
    fn pair_sums<F: Field>(&self, plans: &Plans, precision: <F::Real as Real>::Precision) -> Vec<F> {
        let model = &plans.of_pair[0].1;
        let c = rational::from_f64(model.c);
        let spacing = model.period.clone().recip();
        let mut of_member = vec![BTreeSet::new(); self.members.len()];
        let mut of_kind = vec![BTreeSet::new(); plans.kinds.len()];
        for (((p, q), _), (kind, plan)) in self.pairs.iter().zip(&plans.of_pair) {
            for node in plan.summed() {
                of_member[*p].insert(node);
                of_member[*q].insert(node);
                of_kind[*kind].insert(node);
            }
        }

        let factors: Vec<BTreeMap<i64, F>> = (self.members.par_iter().zip(of_member))
            .map(|(member, nodes)| {
                let product = Product::<F>::new(member, &c, &spacing, precision);
                nodes.into_iter().map(|node| (node, product.at(node))).collect()
            })
            .collect();
        let kernels: Vec<BTreeMap<i64, F>> = (plans.kinds.par_iter().zip(of_kind).enumerate())
            .map(|(kind, (question, nodes))| {
                // A plan of this kind: the number of nodes of a period goes with the step.
                let example = plans.of_pair.iter().position(|(other, _)| *other == kind);
                let Some(example) = example else { return BTreeMap::new() };
                let (sum, plan) = (&self.pairs[example].1, &plans.of_pair[example].1);
                let integrand = Integrand::<F>::new(sum, question, plan, precision);
                nodes.into_iter().map(|node| (node, integrand.question_at(node))).collect()
            })
            .collect();
        (self.pairs.par_iter().zip(&plans.of_pair))
            .map(|(((p, q), _), (kind, plan))| {
                total(plan, |node| factors[*p][&node].mul(&factors[*q][&node]).mul(&kernels[*kind][&node]))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn gaussians(list: &[(&str, u64)]) -> Vec<Group> {
        let law = |sigma2: &str| Law::DiscreteGaussian { sigma2: parse(sigma2).unwrap() };
        list.iter().map(|(sigma2, copies)| Group { law: law(sigma2), shift: 1, copies: *copies }).collect()
    }

    /// Every pair against its own sum, on lattices of different steps and on the line.
    #[test]
    fn pairs_agree_with_their_sums_one_by_one() {
        for members in [
            // 1 / sigma2: ten of 1/5; four of 1/2; three of 1/3 and five of 1/5: rho 1 each, steps 1/5, 1/2, 1/15.
            vec![gaussians(&[("5", 10)]), gaussians(&[("2", 4)]), gaussians(&[("3", 3), ("5", 5)])],
            // Denominators that no sweep of a period can settle.
            vec![gaussians(&[("40990001/4097", 5)]), gaussians(&[("40990001/4099", 3), ("40990001/4094", 2)])],
        ] {
            let equal_rho = members.iter().all(|member| {
                LossSum::new(member.clone()).unwrap().rho() == LossSum::new(members[0].clone()).unwrap().rho()
            });
            let family = Family::new(members.clone());
            assert_eq!(family.is_ok(), equal_rho);
            let Ok(family) = family else { continue };
            for epsilon in ["0.3", "2", "9"] {
                let epsilon = parse(epsilon).unwrap();
                let (answers, _, met) = family.hockey_sticks(&epsilon, 10).unwrap();
                assert!(met && answers.len() == members.len() * (members.len() + 1) / 2);
                let mut largest = f64::NEG_INFINITY;
                for ((p, q), value) in answers {
                    let alone = LossSum::new(members[p].iter().chain(&members[q]).cloned()).unwrap();
                    let alone = alone.hockey_stick(&epsilon, 12).unwrap().value;
                    assert!(value.overlaps(&alone), "{p} {q} {epsilon} {value:?} {alone:?}");
                    largest = largest.max(value.ln().approximate());
                }
                let (ln, _) = family.ln_largest_approx(&epsilon).unwrap();
                assert!((ln - largest).abs() < 1e-9 * largest.abs().max(1.0), "{epsilon} {ln} {largest}");
            }
        }
    }

    /// Two members of equal rho whose lattices are far too fine to sweep: all pairs on the line.
    #[test]
    fn fine_lattices_take_the_line() {
        let members = vec![
            gaussians(&[("40990001/4097", 4097), ("40990001/4099", 4099)]),
            gaussians(&[("40990001/8196", 4098), ("40990001/2", 1)]),
        ];
        let rho = |member: &Vec<Group>| LossSum::new(member.clone()).unwrap().rho().clone();
        // 4097^2 + 4099^2 = 8196 x 4098 + 2
        assert_eq!(rho(&members[0]), rho(&members[1]));
        let family = Family::new(members.clone()).unwrap();
        let epsilon = parse("3").unwrap();
        let (answers, certificate, _) = family.hockey_sticks(&epsilon, 6).unwrap();
        for ((p, q), value) in answers {
            let alone = LossSum::new(members[p].iter().chain(&members[q]).cloned()).unwrap();
            let alone = alone.hockey_stick(&epsilon, 8).unwrap().value;
            assert!(value.overlaps(&alone) && value.is_tight(5), "{p} {q} {value:?} {alone:?} {certificate:?}");
        }
    }

    #[test]
    fn unequal_budgets_and_bounded_losses_are_refused() {
        assert!(Family::new(vec![gaussians(&[("5", 10)]), gaussians(&[("5", 9)])]).is_err());
        let laplace = Group { law: Law::DiscreteLaplace { epsilon: parse("1").unwrap() }, shift: 1, copies: 1 };
        assert!(Family::new(vec![vec![laplace]]).is_err());
        assert!(Family::new(Vec::new()).is_err());
    }
}
