//! Statements about bypassing, in exact fractions: Theorem 2, Remark 1, Algorithm 3.

use rug::Rational;
use serde::Deserialize;

use super::trees::{binary_tree, small_trees, uneven_tree};
use crate::{
    error::Result,
    replication::claims::plain_inputs,
    spine::{
        blocks::Blocks,
        bypass::{Privacy, Spine},
        hierarchy::Tree,
    },
    topdown::variance::Variances,
};

/// The formulas of Remark 1.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Remark1Formula {
    /// 2 / gamma\[l\]^2: from the parent's own answer.
    Parent,
    /// 2c / gamma\[l+1\]^2: from the sum of the children's answers.
    Children,
    /// 2c / (c gamma\[l\]^2 + gamma\[l+1\]^2): from both.
    Both,
    /// 2c / (gamma\[l+1\] + gamma\[l\])^2: the children after the bypass.
    Bypassed,
}

plain_inputs!(Remark1Formula);

/// All numbers of children up to `children` with all shares of a unit and its children up to `shares`.
fn grid(children: u64, shares: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let pairs = (1..=shares).flat_map(move |parent| (1..=shares).map(move |child| (parent, child)));
    (1..=children).flat_map(move |c| pairs.clone().map(move |(parent, child)| (c, parent, child)))
}

/// A tree of six levels: a nation of two states, the first with two counties. The first county has c tracts, each with
/// two block groups of one and two blocks. The unit is the first county.
struct CountyOfTracts {
    tree: Tree,
}

const UNIT: (usize, usize) = (2, 0);

impl CountyOfTracts {
    fn new(c: u64) -> Result<Self> {
        let tract = |state: u64, county: u64, tract: u64| {
            let first = state * 10_u64.pow(13) + county * 10_u64.pow(10) + tract * 10_000 + 1000;
            [first, first + 1000, first + 1001]
        };
        let tracts = (0..c).map(|number| tract(1, 1, number)).chain([tract(1, 2, 0), tract(2, 1, 0)]);
        Ok(CountyOfTracts { tree: Tree::census(&Blocks::from_geoids(tracts.flatten().collect())?) })
    }

    /// The variances if the unit has the share `parent`, its children have `child` and all other levels 3. The
    /// precision is the share to the given power, 2 for Laplace noise and 1 for Gaussian.
    fn variances(&self, parent: u64, child: u64, power: u32, bypassed: bool) -> Result<Variances<Rational>> {
        let children = self.tree.children(UNIT.0, UNIT.1);
        let kind = |level: usize, unit: usize| {
            u32::from((level, unit) == UNIT || level == UNIT.0 + 1 && children.contains(&unit))
        };
        Variances::new(&self.tree, kind, |level, special| {
            let share = match (special == 1, level == UNIT.0) {
                (false, _) => 3,
                (true, true) if bypassed => return None,
                (true, true) => parent,
                (true, false) if bypassed => parent + child,
                (true, false) => child,
            };
            Some(Rational::from(share.pow(power)))
        })
    }

    /// Whether a bypass does not increase the variance of any unit or of any set of two blocks.
    fn never_worse(&self, parent: u64, child: u64, power: u32) -> Result<bool> {
        let before = self.variances(parent, child, power, false)?;
        let after = self.variances(parent, child, power, true)?;
        let units =
            (0..self.tree.levels()).flat_map(|level| (0..self.tree.units(level)).map(move |unit| (level, unit)));
        let blocks = self.tree.order().len() as u32;
        let mut pairs = (0..blocks).flat_map(|a| (a + 1..blocks).map(move |b| [a, b]));
        Ok(units.into_iter().all(|(level, unit)| after.unit(level, unit) <= before.unit(level, unit))
            && pairs.all(|pair| after.blocks(&self.tree, &pair) <= before.blocks(&self.tree, &pair)))
    }
}

/// Whether a bypass that Theorem 2 allows increases no variance, for all numbers of children and shares up to these.
pub(super) fn theorem_2(children: u64, shares: u64) -> Result<bool> {
    all_counties(children, shares, |family, c, parent, child| {
        let allowed = 2 * child >= (c - 1) * parent;
        Ok(!allowed || family.never_worse(parent, child, 2)?)
    })
}

/// Whether a statement holds for all numbers of children up to the first bound, and all shares of parent and child up to the second.
fn all_counties(
    children: u64,
    shares: u64,
    holds: impl Fn(&CountyOfTracts, u64, u64, u64) -> Result<bool>,
) -> Result<bool> {
    for c in 1..=children {
        let family = CountyOfTracts::new(c)?;
        for (_, parent, child) in grid(1, shares) {
            if !holds(&family, c, parent, child)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether, with equal shares, a bypass of a unit with these numbers of children lowers the variance of every query: of
/// all units, and of the sums and differences of all sets of two blocks.
pub(super) fn every_query_gains(children: &[u64]) -> Result<bool> {
    for c in children {
        let family = CountyOfTracts::new(*c)?;
        let (before, after) = (family.variances(3, 3, 2, false)?, family.variances(3, 3, 2, true)?);
        let blocks = family.tree.order().len() as u32;
        let units = (0..family.tree.levels())
            .all(|level| (0..family.tree.units(level)).all(|unit| after.unit(level, unit) < before.unit(level, unit)));
        // Var(x - y) = 2 Var(x) + 2 Var(y) - Var(x + y).
        let difference = |of: &Variances<Rational>, pair: [u32; 2]| {
            let [x, y] = pair.map(|block| of.blocks(&family.tree, &[block]));
            (x + y) * 2_u32 - of.blocks(&family.tree, &pair)
        };
        let mut pairs = (0..blocks).flat_map(|a| (a + 1..blocks).map(move |b| [a, b]));
        let gains = units
            && pairs.all(|pair| {
                after.blocks(&family.tree, &pair) < before.blocks(&family.tree, &pair)
                    && difference(&after, pair) < difference(&before, pair)
            });
        if !gains {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether with Gaussian noise a bypass increases the unit's own variance, or with one child changes no variance.
pub(super) fn zcdp(children: u64, shares: u64) -> Result<bool> {
    all_counties(children, shares, |family, c, parent, child| {
        let before = family.variances(parent, child, 1, false)?;
        let after = family.variances(parent, child, 1, true)?;
        let same = |level: usize| {
            (0..family.tree.units(level)).all(|unit| after.unit(level, unit) == before.unit(level, unit))
        };
        Ok(match c {
            1 => (0..family.tree.levels()).all(same),
            _ => after.unit(UNIT.0, UNIT.1) > before.unit(UNIT.0, UNIT.1),
        })
    })
}

/// 2 b^2 with b = 2 / (epsilon gamma).
pub(super) fn laplace_variance(epsilon: &Rational, gamma: &Rational) -> Rational {
    let scale = 2_u32 / Rational::from(epsilon * gamma);
    scale.square() * 2_u32
}

/// The maximum number of children for which a bypass increases no variance, if the unit has the same share as its
/// children.
pub(super) fn most_children_at_equal_shares() -> Result<u64> {
    let mut most = 0;
    while CountyOfTracts::new(most + 1)?.never_worse(5, 5, 2)? {
        most += 1;
    }
    Ok(most)
}

/// Whether the two variances of Remark 1 are ordered as Theorem 2 predicts.
pub(super) fn remark_1_decides() -> bool {
    grid(6, 12).all(|(c, parent, child)| {
        let before = Rational::from((2 * c, c * parent * parent + child * child));
        let after = Rational::from((2 * c, (parent + child) * (parent + child)));
        (before >= after) == (2 * child >= (c - 1) * parent)
    })
}

/// The formula against the least-squares variance of the parent's total on a tree of the parent and its children, with
/// epsilon = 2, so that 4 / epsilon^2 = 1.
pub(super) fn remark_1(formula: Remark1Formula) -> Result<bool> {
    let two = Rational::from(2);
    for (c, parent, child) in grid(6, 12) {
        let tracts = (0..c).map(|tract| 10_u64.pow(13) + 10_u64.pow(10) + tract * 10_000 + 1000);
        let tree = Tree::census(&Blocks::from_geoids(tracts.collect())?);
        let (asks_parent, child_share, printed) = match formula {
            Remark1Formula::Parent => (true, None, Rational::from((2, parent * parent))),
            Remark1Formula::Children => (false, Some(child), Rational::from((2 * c, child * child))),
            Remark1Formula::Both => (true, Some(child), Rational::from((2 * c, c * parent * parent + child * child))),
            Remark1Formula::Bypassed => {
                (false, Some(parent + child), Rational::from((2 * c, (parent + child) * (parent + child))))
            }
        };
        let precision = |share: u64| laplace_variance(&two, &Rational::from(share)).recip();
        // Nothing is measured at other levels, except the blocks with a tiny precision if the children have none, so
        // that the system has a solution.
        let variances = Variances::new(
            &tree,
            |_, _| 0,
            |level, _| match level {
                2 => asks_parent.then(|| precision(parent)),
                3 => child_share.map(precision),
                5 if child_share.is_none() => Some(Rational::from((1, 10_000_000_000_000_u64))),
                _ => None,
            },
        )?;
        let own = variances.unit(UNIT.0, UNIT.1);
        // The tiny precision hardly changes the variance of the total.
        let near = Rational::from(own - &printed).abs() <= printed.clone() / 1_000_000_000_u64;
        if !(if child_share.is_some() { *own == printed } else { near }) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the block of A' diag(gamma_0^2 - gamma_1^2) A is D as printed, entry by entry for two children of one block
/// each.
pub(super) fn sign_of_d() -> bool {
    let (parent, child) = (3_i64, 5_i64);
    let (of_parent, of_child) = (parent * parent, child * child - (child + parent) * (child + parent));
    let product = |row: usize, column: usize| of_parent + if row == column { of_child } else { 0 };
    let printed = |row: usize, column: usize| parent * if row == column { 2 * child } else { -parent };
    (0..2).all(|row| (0..2).all(|column| product(row, column) == printed(row, column)))
}

/// Whether the rule refuses every further bypass after one pass: on all trees here with several shares, for each unit
/// below the root that carries a share and the nearest units below it that do.
pub(super) fn one_pass() -> Result<bool> {
    for spine in spines(|_| Privacy::Pure { cutoff: u32::MAX })?.iter().chain(&spines(|_| Privacy::Concentrated)?) {
        let pure = spine.bypassed_by_theorem_2;
        let spine = &spine.spine;
        for level in 1..spine.tree.levels() - 1 {
            for unit in (0..spine.tree.units(level)).filter(|unit| spine.carried(level, *unit) > 0) {
                let mut below = Vec::new();
                nearest(spine, level, unit, &mut below);
                let poorest = below.iter().min();
                let own = spine.share(level, unit);
                let (c, Some(poorest)) = (below.len() as u64, poorest) else { continue };
                let again = if pure { Rational::from(poorest * 2_u32) >= own * (c - 1) } else { c == 1 };
                if again {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// The shares of the nearest units below that carry any.
fn nearest(spine: &Spine, level: usize, unit: usize, shares: &mut Vec<Rational>) {
    if level + 1 == spine.tree.levels() {
        return;
    }
    for child in spine.tree.children(level, unit) {
        match spine.carried(level + 1, child) {
            0 => nearest(spine, level + 1, child, shares),
            _ => shares.push(spine.share(level + 1, child)),
        }
    }
}

/// A spine after bypassing, and the rule used.
pub(super) struct BypassedSpine {
    pub(super) spine: Spine,
    bypassed_by_theorem_2: bool,
}

/// Spines over the trees of this file, with several shares.
pub(super) fn spines(privacy: impl Fn(usize) -> Privacy) -> Result<Vec<BypassedSpine>> {
    let mut all = Vec::new();
    let trees = [
        small_trees()?,
        vec![binary_tree()?, uneven_tree()?, CountyOfTracts::new(3)?.tree, CountyOfTracts::new(7)?.tree],
    ]
    .concat();
    for (number, tree) in trees.into_iter().enumerate() {
        for parts in [[1, 1, 1, 1, 1, 1], [1, 2, 4, 8, 16, 32], [32, 16, 8, 4, 2, 1], [104, 1440, 447, 687, 1256, 165]]
        {
            let sum: u32 = parts.iter().sum();
            let shares = parts.iter().map(|part| Rational::from((*part, sum))).collect();
            let privacy = privacy(number);
            let spine = Spine::new(tree.clone(), shares, privacy)?;
            all.push(BypassedSpine { spine, bypassed_by_theorem_2: privacy != Privacy::Concentrated });
        }
    }
    Ok(all)
}

/// Whether Theorem 2's rule bypasses all units with one child, and possibly more.
pub(super) fn pure_bypasses_more() -> Result<bool> {
    let (pure, concentrated) = (spines(|_| Privacy::Pure { cutoff: 150 })?, spines(|_| Privacy::Concentrated)?);
    let count = |of: &BypassedSpine| of.spine.bypassed.iter().sum::<usize>();
    Ok(pure.iter().zip(&concentrated).all(|(pure, concentrated)| count(pure) >= count(concentrated)))
}
