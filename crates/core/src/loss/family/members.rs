//! The members of a family, its units, and the lattices of their losses.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rayon::prelude::*;
use rug::Rational;

use super::pairs::Pairs;
use crate::{
    error::{Error, Result},
    loss::{answer::Pair, law::Group, sum::LossSum},
    numeric::rational,
};

/// Lattices up to this step are too fine to sweep their period, and the kernel of the unbounded contour serves as well.
pub(super) const FINE: f64 = 5e-7;

/// Lattice steps with a common multiple of at most this many nats are cheap to combine: the contour's period is longer anyway, or not much shorter.
const LONGEST_COMMON: u32 = 30;

/// The units of a family: pairs of members or single members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// L_p + L_q for all p <= q.
    Pairs,
    /// L_p for all p.
    Single,
}

/// Sums to be compared, alone or in pairs.
#[derive(Debug)]
pub struct Family {
    pub(super) members: Vec<Arc<LossSum>>,
    pub(super) units: Units,
    /// The sum that every pair has besides its members; `None` for nothing, and where units are single.
    beside: Option<LossSum>,
    /// The first unit, from which all pairs take the facts they share where one contour serves them; where units are single no contour serves more than
    /// one.
    pub(super) double: LossSum,
    /// The different groups of all members, and the indices of those that each member has.
    pub(super) groups: Vec<Group>,
    pub(super) of_member: Vec<Vec<usize>>,
    /// Whether one contour serves all.
    pub(super) alike: bool,
    /// The pairs of each lattice step that is not too fine, and all other pairs.
    pub(super) steps: BTreeMap<Rational, Pairs>,
    pub(super) on_line: Pairs,
    /// The least common multiple of those steps.
    pub(super) common: Option<Rational>,
}

/// The groups of all members, each once, and for each member the places of its own among them.
fn each_group_once(members: &[Arc<LossSum>]) -> Result<(Vec<Group>, Vec<Vec<usize>>)> {
    // By reference: members are many, and most of their groups the same.
    let in_order = |a: &Group, b: &Group| (&a.law, a.shift, a.copies).cmp(&(&b.law, b.shift, b.copies));
    let mut groups: Vec<&Group> = members.iter().flat_map(|member| member.groups()).collect();
    groups.sort_by(|a, b| in_order(a, b));
    groups.dedup();
    let groups: Vec<Group> = groups.into_iter().cloned().collect();
    let place = |group: &Group| -> Result<usize> {
        // Each group of a member is among those of all.
        let found = groups.binary_search_by(|other| in_order(other, group));
        found.map_err(|_| Error::Contradiction { what: "the groups of a family" })
    };
    let places = |member: &Arc<LossSum>| member.groups().iter().map(place).collect::<Result<Vec<usize>>>();
    let of_member = members.iter().map(places).collect::<Result<_>>()?;
    Ok((groups, of_member))
}

impl Family {
    /// A family of at least one member.
    pub fn new(members: Vec<Arc<LossSum>>, units: Units) -> Result<Self> {
        Family::of_members(members, units, None)
    }

    /// All pairs of at least one member, each with the same sum beside it.
    pub fn pairs_beside(members: Vec<Arc<LossSum>>, beside: &LossSum) -> Result<Self> {
        Family::of_members(members, Units::Pairs, Some(beside.clone()))
    }

    fn of_members(members: Vec<Arc<LossSum>>, units: Units, beside: Option<LossSum>) -> Result<Self> {
        let Some(first) = members.first() else { return Err(Error::EmptyComposition) };
        if members.len() > Pairs::MOST_MEMBERS {
            let expected = format!("at most {}", Pairs::MOST_MEMBERS);
            return Err(Error::out_of_range("the members of a family", members.len(), &expected));
        }
        let (groups, of_member) = each_group_once(&members)?;
        let bounded = groups.iter().any(|group| group.law.has_bounded_loss());
        let equal = members.iter().all(|member| member.rho() == first.rho());
        let alike = units == Units::Pairs && equal && !bounded;
        if units == Units::Pairs {
            // The numbers of copies of every pair fit if those of twice each member do.
            members.iter().try_for_each(|member| member.doubled().map(drop))?;
        }
        let (double, steps, on_line) = (LossSum::clone(first), BTreeMap::new(), Pairs::default());
        let mut family =
            Family { members, units, beside, double, groups, of_member, alike, steps, on_line, common: None };
        family.double = family.sum((0, 0))?;
        family.find_lattices();
        Ok(family)
    }

    /// Sorts the pairs by the lattice of their losses.
    fn find_lattices(&mut self) {
        if self.alike {
            let mut steps: BTreeMap<Rational, Vec<Pair>> = BTreeMap::new();
            let mut on_line = Vec::new();
            for (p, q) in self.each_unit() {
                let of_both = self.members[p].step().zip(self.members[q].step());
                let of_both = of_both.filter(|(a, b)| (*a).min(b).to_f64() > FINE).map(|(a, b)| rational::gcd(a, b));
                let of_all = match &self.beside {
                    None => of_both,
                    Some(beside) => of_both.zip(beside.step()).map(|(a, b)| rational::gcd(&a, b)),
                };
                match of_all {
                    Some(step) if step.to_f64() > FINE => steps.entry(step).or_default().push((p, q)),
                    _ => on_line.push((p, q)),
                }
            }
            self.on_line = on_line.into_iter().collect();
            self.steps = steps.into_iter().map(|(step, pairs)| (step, pairs.into_iter().collect())).collect();
        }
        // lcm(a, b) = a b / gcd(a, b)
        let multiple = |a: Rational, b: Rational| Rational::from(&a * &b) / rational::gcd(&a, &b);
        self.common = self.steps.keys().cloned().reduce(multiple);
        if self.common.as_ref().is_some_and(|common| *common > LONGEST_COMMON) {
            (self.steps, self.common) = (BTreeMap::new(), None);
            self.on_line = self.each_unit().collect();
        }
    }

    /// Whether no lattice step serves any pair, so that all take the unbounded contour.
    #[cfg(test)]
    pub(crate) fn shares_no_step(&self) -> bool {
        self.steps.is_empty()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none, which [`Family::new`] refuses.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Whether one contour serves all units.
    pub(crate) fn is_alike(&self) -> bool {
        self.alike
    }

    /// The sum that every pair has besides its members.
    pub(crate) fn beside(&self) -> Option<&LossSum> {
        self.beside.as_ref()
    }

    /// Whether units are pairs of members.
    pub(crate) fn is_in_pairs(&self) -> bool {
        self.units == Units::Pairs
    }

    /// A value computed from each member.
    pub(crate) fn each_member<T>(&self, of: impl Fn(&LossSum) -> T) -> Vec<T> {
        self.members.iter().map(|member| of(member)).collect()
    }

    /// All units, in order.
    pub fn units(&self) -> Vec<Pair> {
        self.each_unit().collect()
    }

    /// The same as an iterator: there may be very many.
    pub(super) fn each_unit(&self) -> impl Iterator<Item = Pair> + use<> {
        let (n, in_pairs) = (self.len(), self.units == Units::Pairs);
        (0..n).flat_map(move |p| (p..if in_pairs { n } else { p + 1 }).map(move |q| (p, q)))
    }

    /// Their number.
    pub(crate) fn count(&self) -> usize {
        let n = self.len();
        if self.units == Units::Pairs { n * (n + 1) / 2 } else { n }
    }

    /// All of them on all cores, in the same order.
    pub(crate) fn each_unit_in_parallel(&self) -> impl ParallelIterator<Item = Pair> + use<> {
        let (n, in_pairs) = (self.len(), self.units == Units::Pairs);
        (0..n).into_par_iter().flat_map_iter(move |p| (p..if in_pairs { n } else { p + 1 }).map(move |q| (p, q)))
    }

    /// The largest rho of all units.
    pub fn rho(&self) -> Rational {
        let largest = self.members.iter().map(|member| member.rho()).max().cloned().unwrap_or_default();
        let of_unit = if self.units == Units::Pairs { largest * 2_u32 } else { largest };
        self.beside.iter().fold(of_unit, |sum, beside| sum + beside.rho())
    }

    /// A point of the lattice of every unit, where one contour serves all.
    pub(super) fn offset(&self) -> &Rational {
        self.double.offset()
    }

    /// The first unit of each law among the given units.
    pub fn of_different_laws(&self, units: impl IntoIterator<Item = Pair>) -> Result<Vec<Pair>> {
        let mut laws = BTreeSet::new();
        let mut different = Vec::new();
        for unit in units {
            let of_group = |group: &Group| (group.law.clone(), group.shift, group.copies);
            if laws.insert(self.sum(unit)?.groups().iter().map(of_group).collect::<Vec<_>>()) {
                different.push(unit);
            }
        }
        Ok(different)
    }

    /// The sum of one unit.
    pub fn sum(&self, (p, q): Pair) -> Result<LossSum> {
        let groups = |sum: &LossSum| sum.groups().to_vec();
        match (self.units, &self.beside) {
            (Units::Single, _) => Ok(LossSum::clone(&self.members[p])),
            (Units::Pairs, None) if p == q => Ok(self.members[p].twice()),
            (Units::Pairs, beside) => {
                let members = [p, q].map(|member| groups(&self.members[member]));
                LossSum::new(members.into_iter().chain(beside.as_ref().map(groups)).flatten())
            }
        }
    }
}
