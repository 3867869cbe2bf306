//! Statements of Cumings-Menon et al. (2024) about geographic spines, recomputed.
//!
//! A statement about all trees is evaluated exactly, in fractions, on all trees and shares of a bounded size that
//! are said below; where it holds on all of them the proof stands beside the code that uses it ([`crate::spine::bypass`],
//! [`crate::spine::osed`], [`crate::topdown::measure`]).

mod bypassing;
mod neighbors;
mod trees;

use bypassing::{Family, grid, laplace_variance, one_pass, pure_bypasses_more, remark_1, sign_of_d, theorem_2, zcdp};
use neighbors::{lemma_2, privacy};
use rug::Rational;
use serde::Deserialize;
use trees::{binary_tree, equal_shares, fewest_fanout, osed_is_the_fewest, osed_of_units};

use super::verify::Computed;
use crate::{
    error::Result,
    numeric::{Certainty, Enclosure, rational::parse},
    release::{
        Release,
        schema::{Attribute, Schema},
    },
    spine::{
        bypass::{Privacy, Spine},
        optimize::SpineSettings,
    },
};

/// What recomputes a statement about spines.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Claim {
    /// Whether a bypass raises no variance exactly where Theorem 2 allows it: for up to so many children and all whole shares
    /// of the unit and its children up to `shares`.
    #[serde(rename = "theorem-2")]
    Theorem2 {
        /// The most children.
        children: u64,
        /// The largest share.
        shares: u64,
    },
    /// The most children of a unit that a bypass serves where it has the same share as its children.
    MostChildrenAtEqualShares {},
    /// Whether with Gaussian noise a bypass raises the unit's own variance where it has two children or more, and changes
    /// no variance where it has one.
    ZcdpBypass {
        /// The most children.
        children: u64,
        /// The largest share.
        shares: u64,
    },
    /// The variance of one count of a unit, with scale 2 / (epsilon gamma).
    LaplaceVariance {
        /// The epsilon.
        epsilon: String,
        /// The share.
        gamma: String,
    },
    /// Whether a formula of Remark 1 is the variance of the parent's total, in units of 4 / epsilon^2.
    #[serde(rename = "remark-1")]
    Remark1 {
        /// Which.
        formula: Formula,
    },
    /// Whether the two variances of Remark 1 compare as Theorem 2 decides.
    #[serde(rename = "remark-1-decides")]
    Remark1Decides {},
    /// Whether the smallest possible maximum fan-out of a tract of n blocks and its block groups is the square root of n, rounded
    /// up, for all n up to a number.
    FewestFanout {
        /// The number.
        most: u64,
    },
    /// The smallest possible maximum fan-out of a tract of n blocks.
    FewestFanoutOf {
        /// The blocks.
        blocks: u64,
    },
    /// By how much the largest block group of the production runs exceeds the cutoff in a tract of n blocks.
    LargestBlockGroup {
        /// The settings.
        settings: String,
        /// The blocks.
        blocks: usize,
    },
    /// Whether (4.1) to (4.4) give the fewest units that make an entity, by trying all coefficients.
    OsedIsTheFewest {},
    /// Whether an entity that is a unit of the spine has distance one.
    OsedOfUnits {},
    /// Whether no pair of neighbors spends more than the budget, by changing every record to every other one.
    Privacy {
        /// Whether units are bypassed (Theorem 3) or not (Theorem 1).
        bypassed: bool,
        /// Pure differential privacy, else zCDP.
        pure: bool,
    },
    /// Whether a count changed by `shift` with noise N_Z(0, shift^2 / (2 rho)) has Renyi divergences of at most rho times the
    /// order, at these orders.
    #[serde(rename = "lemma-2")]
    Lemma2 {
        /// The rhos.
        rhos: Vec<String>,
        /// The shifts.
        shifts: Vec<u64>,
        /// The orders, above 1.
        orders: Vec<String>,
    },
    /// Whether each cell of the histogram counts in exactly one count of every query group of a release.
    OneCountPerCell {
        /// The release.
        release: String,
    },
    /// Whether the units u < U of a level are all that carry a share.
    UnitsBelowTheLast {},
    /// Whether S z in (3.3) can be formed for the strategy of Figure 2.
    EstimatorAsPrinted {},
    /// The scale of the errors after they are multiplied by gamma alpha epsilon.
    RescaledScale {},
    /// Whether the block of A' diag(gamma_0^2 - gamma_1^2) A is D as printed.
    SignOfD {},
    /// Whether T D T' can be formed for b blocks and c children.
    ReductionOfD {
        /// The blocks.
        blocks: u64,
        /// The children.
        children: u64,
    },
    /// Whether after one pass from below no unit is left to bypass, below the root.
    OnePass {},
    /// Whether Theorem 2's rule bypasses at least the units with one child.
    PureBypassesMore {},
    /// How many levels a release has.
    Levels {
        /// The release.
        release: String,
    },
    /// How many strong-MCD states the production settings name.
    StrongMcdStates {},
    /// How many kinds of entities bound a block group; areas are divisions and places.
    EntityKinds {
        /// The settings.
        settings: String,
    },
    /// Whether all these releases have one budget.
    SameBudget {
        /// The releases.
        releases: Vec<String>,
    },
    /// Whether all these releases have levels of the same names.
    SameLevels {
        /// The releases.
        releases: Vec<String>,
    },
    /// How many sets of some of so many races there are.
    RaceCombinations {
        /// The races.
        races: u32,
    },
    /// A value that needs data which are not at hand.
    NeedsData {
        /// Which.
        needed: String,
    },
}

/// The formulas of Remark 1.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Formula {
    /// 2 / gamma\[l\]^2: the parent's own answer.
    Parent,
    /// 2c / gamma\[l+1\]^2: the sum of the children's.
    Children,
    /// 2c / (c gamma\[l\]^2 + gamma\[l+1\]^2): both.
    Both,
    /// 2c / (gamma\[l+1\] + gamma\[l\])^2: the children after the bypass.
    Bypassed,
}

/// Recomputes a statement.
pub(super) fn compute(claim: &Claim) -> Result<Computed> {
    let whole = |value: u64| Ok(Computed::Value(Enclosure::rational(&Rational::from(value), 100)));
    let holds = |holds: bool| Ok(Computed::Statement(if holds { Certainty::Yes } else { Certainty::No }));
    match claim {
        Claim::Theorem2 { children, shares } => holds(theorem_2(*children, *shares)?),
        Claim::MostChildrenAtEqualShares {} => {
            let mut most = 0;
            while Family::new(most + 1)?.never_worse(5, 5, 2)? {
                most += 1;
            }
            whole(most)
        }
        Claim::ZcdpBypass { children, shares } => holds(zcdp(*children, *shares)?),
        Claim::LaplaceVariance { epsilon, gamma } => {
            Ok(Computed::Value(Enclosure::rational(&laplace_variance(&parse(epsilon)?, &parse(gamma)?), 100)))
        }
        Claim::Remark1 { formula } => holds(remark_1(*formula)?),
        Claim::Remark1Decides {} => holds(grid(6, 12).all(|(c, parent, child)| {
            let before = Rational::from((2 * c, c * parent * parent + child * child));
            let after = Rational::from((2 * c, (parent + child) * (parent + child)));
            (before >= after) == (2 * child >= (c - 1) * parent)
        })),
        Claim::FewestFanout { most } => holds((1..=*most).all(|n| {
            let root = n.isqrt();
            fewest_fanout(n) == if root * root == n { root } else { root + 1 }
        })),
        Claim::FewestFanoutOf { blocks } => whole(fewest_fanout(*blocks)),
        Claim::LargestBlockGroup { settings, blocks } => {
            let settings = SpineSettings::production(settings)?;
            whole((settings.most(*blocks) + 1) as u64 - u64::from(settings.fanout_cutoff))
        }
        Claim::OsedIsTheFewest {} => holds(osed_is_the_fewest()?),
        Claim::OsedOfUnits {} => holds(osed_of_units()?),
        Claim::Privacy { bypassed, pure } => holds(privacy(*bypassed, *pure)?),
        Claim::Lemma2 { rhos, shifts, orders } => lemma_2(rhos, shifts, orders),
        Claim::OneCountPerCell { release } => {
            let release = Release::find(release)?;
            let schema = release.schema.clone().unwrap_or_default();
            let mut all = true;
            for query in release.levels.iter().flat_map(|level| &level.queries) {
                let group = schema.group(&query.name)?;
                all &= group.cell_of.len() == schema.cells();
                all &= group.cell_of.iter().all(|count| (*count as usize) < group.counts());
            }
            holds(all)
        }
        Claim::UnitsBelowTheLast {} => {
            let spine = Spine::new(binary_tree()?, equal_shares(), Privacy::Concentrated)?;
            let carry = |level: usize, unit: &usize| spine.carried(level, *unit) > 0;
            holds((0..spine.tree.levels()).all(|level| {
                let units = spine.tree.units(level);
                (0..units).filter(|unit| carry(level, unit)).eq((0..units - 1).filter(|unit| carry(level, unit)))
            }))
        }
        Claim::EstimatorAsPrinted {} => {
            let (rows, columns) = figure_2()?;
            // S is rows x columns, z has as many entries as S has rows.
            holds(columns == rows)
        }
        Claim::RescaledScale {} => {
            let (epsilon, gamma, alpha) = (Rational::from((3, 2)), Rational::from((1, 5)), Rational::from((2, 7)));
            let product = epsilon * gamma * alpha;
            let scale = 2_u32 / product.clone();
            Ok(Computed::Value(Enclosure::rational(&(scale * product), 100)))
        }
        Claim::SignOfD {} => holds(sign_of_d()),
        Claim::ReductionOfD { blocks, children } => {
            // T has a row for each block and a column for each child, D a row and a column for each block.
            holds(children == blocks)
        }
        Claim::OnePass {} => holds(one_pass()?),
        Claim::PureBypassesMore {} => holds(pure_bypasses_more()?),
        Claim::Levels { release } => whole(Release::find(release)?.levels.len() as u64),
        Claim::StrongMcdStates {} => {
            whole(SpineSettings::production("redistricting-persons")?.strong_mcd_states().len() as u64)
        }
        Claim::EntityKinds { settings } => {
            let settings = SpineSettings::production(settings)?;
            whole(settings.entities().iter().map(|kind| if kind == "area" { 2 } else { 1 }).sum())
        }
        Claim::SameBudget { releases } => {
            let rhos = releases.iter().map(|name| Ok(Release::find(name)?.rho)).collect::<Result<Vec<Rational>>>()?;
            holds(rhos.windows(2).all(|pair| pair[0] == pair[1]))
        }
        Claim::SameLevels { releases } => {
            let names = |name: &String| -> Result<Vec<String>> {
                Ok(Release::find(name)?.levels.into_iter().map(|level| level.name).collect())
            };
            let all = releases.iter().map(names).collect::<Result<Vec<_>>>()?;
            holds(all.windows(2).all(|pair| pair[0] == pair[1]))
        }
        Claim::RaceCombinations { races } => whole((1 << races) - 1),
        Claim::NeedsData { needed } => Ok(Computed::NeedsData(needed.clone())),
    }
}

/// The rows and columns of B (x) W in Figure 2.
pub(super) fn figure_2() -> Result<(usize, usize)> {
    let groups = figure_2_groups()?;
    // A nation of two blocks.
    let (units, blocks) = (3, 2);
    let counts: usize = groups.iter().map(|group| group.counts()).sum();
    Ok((units * counts, blocks * groups[0].cell_of.len()))
}

/// The query groups of Figure 2, over two attributes of two values.
pub(super) fn figure_2_groups() -> Result<Vec<crate::release::schema::QueryGroup>> {
    let attribute = |name: &str| Attribute { name: name.to_string(), values: vec!["0".into(), "1".into()] };
    let schema = Schema { attributes: vec![attribute("first"), attribute("second")], recodes: Vec::new() };
    ["total", "first", "second", "detailed"].iter().map(|name| schema.group(name)).collect()
}
