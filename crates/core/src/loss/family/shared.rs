//! The contours that requests to a family share if they are close to one another: see [`shared`](crate::loss::shared) for the same of one sum.

use std::sync::{Arc, OnceLock};

use rug::Rational;

use super::{
    kinds::Kind,
    sieved::{ByNode, SievedFamily},
    sums::{Members, Sums},
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::Pair,
        cells::{self, ByCell, Cell},
        contour::ln_share,
        integrand::Product,
        near::{Near, NearDouble, Powers},
        question::{self, Bracket},
    },
    numeric::{
        field::{Field, Real},
        phase::ExactPhase,
        precision, rational,
        twofold::{ComplexTwofold, TwofoldBall},
    },
};

/// The largest number of products of members' factors on a contour that is shared, and on all that are kept: about a hundred bytes each.
const MOST_PRODUCTS: usize = 250_000;
const MOST_REMEMBERED: usize = 200_000;

/// The contours that requests have shared so far.
#[derive(Debug)]
pub(super) struct SharedKinds {
    known: ByCell<SharedKind>,
}

/// The contours of a cell for one number of digits, with all data on them that do not depend on epsilon.
#[derive(Debug)]
pub(super) struct SharedKind {
    /// The epsilon in the middle of the cell, at least 0; and a unit that attains the largest there, once that was looked for.
    pub(super) middle: Rational,
    pub(super) leader: OnceLock<Option<Pair>>,
    kinds: Vec<Kind>,
    /// The products of the members' factors.
    members: Members<ComplexTwofold>,
    in_doubles: Vec<ByNode<NearDouble>>,
    /// For each kind `Bracket::parts`, twice except where a node counts once.
    kernels: Vec<ByNode<(ComplexTwofold, Option<ComplexTwofold>)>>,
}

impl Default for SharedKinds {
    fn default() -> Self {
        let products = |shared: &Option<Arc<SharedKind>>| shared.as_ref().map_or(0, |shared| shared.products());
        SharedKinds { known: ByCell::weighing_at_most(MOST_REMEMBERED, products) }
    }
}

impl SharedKinds {
    /// The contours that a request shares; `None` where none are shared.
    pub(super) fn kind(
        &self,
        family: &SievedFamily,
        epsilon: &Rational,
        digits: u32,
    ) -> Result<Option<Arc<SharedKind>>> {
        if !family.family.alike {
            return Ok(None);
        }
        let rho = family.family.rho().to_f64();
        let saddle = family.search(&family.question(epsilon, None)).saddle_point();
        self.known.value(saddle, rho, digits, |cell| SharedKind::new(family, cell, digits))
    }
}

impl SharedKind {
    /// The contours of a cell; `None` if there are none in common, or too many nodes.
    fn new(family: &SievedFamily, cell: Cell, digits: u32) -> Result<Option<Self>> {
        let ln_share = ln_share(digits);
        let bits = precision::bits(digits, 40);
        let rho = family.family.rho().to_f64();
        let c = cell.real_part(rho);
        let threshold = |c: f64| rational::from_f64(cells::threshold(c, rho));
        let (mut period, mut cut) = (0_f64, 0_f64);
        let (low, high) = cell.ends(rho);
        for end in [low, c, high] {
            let question = family.question(&threshold(end)?, None);
            let (own_period, own_cut) = family.search(&question).measures_through(c, ln_share);
            (period, cut) = (period.max(own_period), cut.max(own_cut));
        }
        let middle = threshold(c)?;
        let main_lobe = family.search(&family.question(&middle, None)).main_lobe_through(c, period, cut);
        let kinds = match main_lobe.and_then(|plan| family.kinds_of(&middle, &plan, None, true)) {
            Ok(Some(kinds)) => kinds,
            Ok(None) | Err(Error::Unsweepable { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        if kinds.iter().map(Kind::most_products).sum::<usize>() > MOST_PRODUCTS {
            return Ok(None);
        }
        let members = family.members_at(&kinds, (), bits, |value: &ComplexTwofold| *value);
        let doubles =
            |of: &ByNode<ComplexTwofold>| of.iter().map(|(node, value)| (*node, NearDouble::of_ball(value))).collect();
        let in_doubles = members.values.iter().map(doubles).collect();
        let beside = family.factors_beside(&kinds, ());
        let kernels = kinds.iter().map(|kind| kernel(kind, beside.as_ref())).collect();
        let (middle, leader) = (middle.max(Rational::new()), OnceLock::new());
        Ok(Some(SharedKind { middle, leader, kinds, members, in_doubles, kernels }))
    }

    /// The number of products of members' factors that it holds.
    fn products(&self) -> usize {
        self.in_doubles.iter().map(ByNode::len).sum()
    }

    /// The contours for a request of the cell.
    pub(super) fn kinds(&self, family: &SievedFamily, epsilon: &Rational) -> Vec<Kind> {
        let asked = |kind: &Kind| {
            let question = family.question(epsilon, kind.question.step.as_ref());
            let plan = family.search(&family.question(epsilon, None)).plan_with_aliases(&kind.plan);
            Kind { question, plan, ..kind.clone() }
        };
        self.kinds.iter().map(asked).collect()
    }

    /// The sums of the pairs of its kinds, or of some of them, in doubles or in sums of two doubles.
    pub(super) fn sums(&self, family: &SievedFamily, kinds: &[Kind], in_doubles: bool) -> Sums {
        let of_kind = |(kind, parts): (&Kind, &ByNode<(ComplexTwofold, Option<ComplexTwofold>)>)| {
            let question = &kind.question;
            let offset = family.family.double.offset();
            let turns = Rational::from(offset - question.start()) / &kind.plan.period;
            let turn = TwofoldBall::pi(()).mul_int(2).mul(&ExactPhase::new(&turns).at(1, ()));
            let powers = Powers::new(ComplexTwofold::cis(&turn), parts.keys().copied().max().unwrap_or_default());
            let numerator = question.step.as_ref().map(|step| {
                let modulus = question::modulus(step, &kind.plan.exact_c, ());
                let (n1, n2) = question::numerator(question, step, &modulus, ());
                let real = |x: TwofoldBall| ComplexTwofold::new(x, TwofoldBall::ratio(0, 1, ()));
                (real(n1), real(n2))
            });
            let kernel = |node: i64| {
                let kernel = match (numerator, parts[&node]) {
                    (Some((n1, n2)), (a, Some(b))) => Near::add(Near::mul(a, n1), Near::mul(b, n2)),
                    (_, (a, _)) => a,
                };
                powers.at(node).map_or(kernel, |power| Near::mul(kernel, power))
            };
            if in_doubles {
                family.sums_of_kind(kind, &self.in_doubles, |node| NearDouble::of_ball(&kernel(node)))
            } else {
                family.sums_of_kind(kind, &self.members.values, kernel)
            }
        };
        let of_kind = kinds.iter().zip(&self.kernels).map(of_kind).collect();
        Sums { of_kind, scale: self.members.scale.clone() }
    }
}

/// The values of a kind's kernel at its nodes that do not depend on epsilon, times the factors of what is beside all pairs.
fn kernel(kind: &Kind, beside: Option<&Product<ComplexTwofold>>) -> ByNode<(ComplexTwofold, Option<ComplexTwofold>)> {
    let plan = &kind.plan;
    let bracket = Bracket::<ComplexTwofold>::new(&kind.question, &plan.exact_c, (&plan.period, plan.nodes), ());
    let of_node = |node: i64| {
        let factor = beside.map(|beside| beside.at(node));
        let counted = |part: ComplexTwofold| {
            let part = factor.map_or(part, |factor| Near::mul(part, factor));
            if kind.counts_once(node) { part } else { Near::add(part, part) }
        };
        let (a, b) = bracket.parts(node);
        (node, (counted(a), b.map(counted)))
    };
    kind.nodes().into_iter().map(of_node).collect()
}
