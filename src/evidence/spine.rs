//! Statements of Cumings-Menon et al. (2024) about geographic spines, recomputed.
//!
//! A statement about all trees is evaluated exactly, in fractions, on all trees and shares of a bounded size that
//! are said below; where it holds on all of them the proof stands beside the code that uses it ([`crate::spine::bypass`],
//! [`crate::spine::osed`], [`crate::spine::measure`]).

use rug::Rational;
use serde::Deserialize;

use super::verify::Computed;
use crate::{
    account::{Composition, Counts},
    error::Result,
    numeric::{Certainty, Enclosure, rational::parse, sum::Law},
    release::{
        Neighbors, Release,
        schema::{Attribute, Schema},
    },
    spine::{
        blocks::{Blocks, Column},
        bypass::{Privacy, Spine},
        hierarchy::Tree,
        histograms::{Entry, Histograms},
        measure::Mechanism,
        optimize::Settings,
        osed,
        variance::Variances,
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
            let settings = Settings::production(settings)?;
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
            whole(Settings::production("redistricting-persons")?.strong_mcd_states().len() as u64)
        }
        Claim::EntityKinds { settings } => {
            let settings = Settings::production(settings)?;
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

/// All numbers of children up to `children` with all shares of a unit and its children up to `shares`.
fn grid(children: u64, shares: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let pairs = (1..=shares).flat_map(move |parent| (1..=shares).map(move |child| (parent, child)));
    (1..=children).flat_map(move |c| pairs.clone().map(move |(parent, child)| (c, parent, child)))
}

/// A tree of six levels: a nation of two states, in the first two counties, of which the first has c tracts, each with two
/// block groups of one and two blocks. The unit is the first county.
struct Family {
    tree: Tree,
}

const UNIT: (usize, usize) = (2, 0);

impl Family {
    fn new(c: u64) -> Result<Self> {
        let tract = |state: u64, county: u64, tract: u64| {
            let first = state * 10_u64.pow(13) + county * 10_u64.pow(10) + tract * 10_000 + 1000;
            [first, first + 1000, first + 1001]
        };
        let tracts = (0..c).map(|number| tract(1, 1, number)).chain([tract(1, 2, 0), tract(2, 1, 0)]);
        Ok(Family { tree: Tree::census(&Blocks::from_geoids(tracts.flatten().collect())?) })
    }

    /// The variances where the unit has one share, its children another and all other levels 3; precision is the share to the
    /// given power, 2 for Laplace noise and 1 for Gaussian.
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

    /// Whether a bypass raises the variance of no unit and of no set of two blocks.
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

fn theorem_2(children: u64, shares: u64) -> Result<bool> {
    for c in 1..=children {
        let family = Family::new(c)?;
        for (_, parent, child) in grid(1, shares) {
            let allowed = 2 * child >= (c - 1) * parent;
            if allowed && !family.never_worse(parent, child, 2)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn zcdp(children: u64, shares: u64) -> Result<bool> {
    for c in 1..=children {
        let family = Family::new(c)?;
        for (_, parent, child) in grid(1, shares) {
            let before = family.variances(parent, child, 1, false)?;
            let after = family.variances(parent, child, 1, true)?;
            let same = |level: usize| {
                (0..family.tree.units(level)).all(|unit| after.unit(level, unit) == before.unit(level, unit))
            };
            let holds = match c {
                1 => (0..family.tree.levels()).all(same),
                _ => after.unit(UNIT.0, UNIT.1) > before.unit(UNIT.0, UNIT.1),
            };
            if !holds {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// 2 b^2 with b = 2 / (epsilon gamma).
fn laplace_variance(epsilon: &Rational, gamma: &Rational) -> Rational {
    let scale = 2_u32 / Rational::from(epsilon * gamma);
    scale.square() * 2_u32
}

/// The formula against the least-squares variance of the parent's total on a tree of the parent and its children, with epsilon
/// = 2, where 4 / epsilon^2 = 1.
fn remark_1(formula: Formula) -> Result<bool> {
    let two = Rational::from(2);
    for (c, parent, child) in grid(6, 12) {
        let tracts = (0..c).map(|tract| 10_u64.pow(13) + 10_u64.pow(10) + tract * 10_000 + 1000);
        let tree = Tree::census(&Blocks::from_geoids(tracts.collect())?);
        let (asks_parent, child_share, printed) = match formula {
            Formula::Parent => (true, None, Rational::from((2, parent * parent))),
            Formula::Children => (false, Some(child), Rational::from((2 * c, child * child))),
            Formula::Both => (true, Some(child), Rational::from((2 * c, c * parent * parent + child * child))),
            Formula::Bypassed => {
                (false, Some(parent + child), Rational::from((2 * c, (parent + child) * (parent + child))))
            }
        };
        let precision = |share: u64| laplace_variance(&two, &Rational::from(share)).recip();
        // Below and above nothing is measured, but where the children are silent a tenth keeps the blocks apart.
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
        // The tenth of a millionth of a millionth tells of the total next to nothing.
        let near = Rational::from(own - &printed).abs() <= printed.clone() / 1_000_000_000_u64;
        if !(if child_share.is_some() { *own == printed } else { near }) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The least of max(groups, blocks of the largest group) over all numbers of groups.
fn fewest_fanout(blocks: u64) -> u64 {
    (1..=blocks).map(|groups| groups.max(blocks.div_ceil(groups))).min().unwrap_or(0)
}

/// Two tracts of two block groups of one and two blocks, and the same with one block group.
fn small_trees() -> Result<Vec<Tree>> {
    let base = 440_010_000_000_000;
    let shapes: [&[u64]; 4] = [
        &[1000, 2000, 2001, 11_000, 12_000],
        &[1000, 1001, 1002, 2000],
        &[1000, 1001, 11_000, 11_001],
        &[1000, 2000, 3000, 3001],
    ];
    shapes
        .iter()
        .map(|blocks| Ok(Tree::census(&Blocks::from_geoids(blocks.iter().map(|b| base + b).collect())?)))
        .collect()
}

/// The entity of the blocks whose bits are set, and its distance.
fn distance(tree: &Tree, bits: u32) -> u32 {
    let codes = (0..tree.order().len()).map(|row| bits >> row & 1).collect();
    osed::distances(tree, &Column { codes, names: vec![String::new(), "in".into()] })[1]
}

fn osed_is_the_fewest() -> Result<bool> {
    for tree in small_trees()? {
        let blocks = tree.order().len();
        // Units of the same extent are one.
        let mut units: Vec<u32> = (0..tree.levels())
            .flat_map(|level| (0..tree.units(level)).map(move |unit| (level, unit)))
            .map(|(level, unit)| tree.blocks(level, unit).map(|place| 1 << tree.order()[place]).sum())
            .collect();
        units.sort_unstable();
        units.dedup();
        let mut fewest = vec![u32::MAX; 1 << blocks];
        for code in 0..3_u64.pow(units.len() as u32) {
            let (mut rest, mut used, mut sums) = (code, 0, vec![0_i32; blocks]);
            for unit in &units {
                let coefficient = (rest % 3) as i32 - 1;
                rest /= 3;
                used += coefficient.unsigned_abs();
                (0..blocks).filter(|row| unit >> row & 1 == 1).for_each(|row| sums[row] += coefficient);
            }
            if sums.iter().all(|sum| (0..=1).contains(sum)) {
                let bits = sums.iter().enumerate().fold(0, |bits, (row, sum)| bits | (*sum as usize) << row);
                fewest[bits] = fewest[bits].min(used);
            }
        }
        if (1..1_u32 << blocks).any(|bits| distance(&tree, bits) != fewest[bits as usize]) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn osed_of_units() -> Result<bool> {
    let all = small_trees()?.into_iter().all(|tree| {
        (0..tree.levels()).all(|level| {
            (0..tree.units(level)).all(|unit| {
                let bits = tree.blocks(level, unit).map(|place| 1 << tree.order()[place]).sum();
                distance(&tree, bits) == 1
            })
        })
    });
    Ok(all)
}

/// Every unit above the blocks has two children.
fn binary_tree() -> Result<Tree> {
    let geoid = |bits: u64| {
        let bit = |at: u32| bits >> at & 1;
        (1 + bit(4)) * 10_u64.pow(13) + bit(3) * 10_u64.pow(10) + bit(2) * 10_000 + bit(1) * 1000 + bit(0)
    };
    Ok(Tree::census(&Blocks::from_geoids((0..32).map(geoid).collect())?))
}

/// Some units have one child.
fn uneven_tree() -> Result<Tree> {
    let geoids = [(1, 1, 1000), (1, 1, 1001), (1, 1, 12_000), (1, 2, 1000), (2, 1, 1000), (2, 1, 2000)];
    let geoid = |(state, county, block): &(u64, u64, u64)| state * 10_u64.pow(13) + county * 10_u64.pow(10) + block;
    Ok(Tree::census(&Blocks::from_geoids(geoids.iter().map(geoid).collect())?))
}

fn equal_shares() -> Vec<Rational> {
    vec![Rational::from((1, 6)); 6]
}

/// Every record changed to every other place and cell: what it spends is at most the budget, and some change spends it all
/// but at units that both lie in, which count it once less where the query cannot tell.
fn privacy(bypassed: bool, pure: bool) -> Result<bool> {
    let tree = if bypassed { uneven_tree()? } else { binary_tree()? };
    let shares: Vec<Rational> = [3, 1, 4, 1, 5, 2].map(|part| Rational::from((part, 16))).to_vec();
    let spine = Spine::new(tree, shares, if pure { Privacy::Pure { cutoff: 150 } } else { Privacy::Concentrated })?;
    let attribute = |name: &str, size: usize| Attribute {
        name: name.to_string(),
        values: (0..size).map(|value| value.to_string()).collect(),
    };
    let schema = Schema { attributes: vec![attribute("a", 2), attribute("b", 3)], recodes: Vec::new() };
    let budget = Rational::from((7, 3));
    let part = |name: &str, of: u32| (name.to_string(), Rational::from((of, 10)));
    let queries = vec![vec![part("detailed", 5), part("a", 3), part("b", 2)]; 6];
    let laplace = Mechanism::pure(&spine, &schema, Neighbors::Bounded, &budget, &queries)?;
    let mut most = Rational::new();
    let (blocks, cells) = (spine.tree.order().len() as u32, schema.cells() as u32);
    let one = |place: u32, cell: u32| Histograms::new(vec![Entry { place, cell, count: 1 }]);
    // By symmetry of cells and, where nothing is bypassed, of blocks, the first record stands for all.
    let from = if bypassed { 0..blocks } else { 0..1 };
    for (before, after) in from.flat_map(|before| (0..blocks).map(move |after| (before, after))) {
        for cell in 0..cells {
            let (x, y) = (one(before, 0)?, one(after, cell)?);
            let mut spent = Rational::new();
            for (level, asked) in laplace.levels().iter().enumerate() {
                for unit in 0..spine.tree.units(level) {
                    for asked in asked {
                        // epsilon gamma alpha / 2; sigma2 of the Gaussian mechanism is 1 / (rho gamma alpha).
                        let Some(Law::DiscreteLaplace { epsilon }) = asked.law(spine.carried(level, unit)) else {
                            continue;
                        };
                        let mut difference = vec![0; asked.group.counts()];
                        x.add_answers(&asked.group, spine.tree.blocks(level, unit), &mut difference);
                        difference.iter_mut().for_each(|value| *value = -*value);
                        y.add_answers(&asked.group, spine.tree.blocks(level, unit), &mut difference);
                        // |d| / b = |d| epsilon; d^2 / (2 sigma2) = d^2 rho gamma alpha / 2: the same number for d = 1.
                        let changed: i64 = difference.iter().map(|d| if pure { d.abs() } else { d * d }).sum();
                        spent += Rational::from(epsilon * changed);
                    }
                }
            }
            most = most.max(spent);
        }
    }
    Ok(most == budget)
}

fn lemma_2(rhos: &[String], shifts: &[u64], orders: &[String]) -> Result<Computed> {
    let mut answer = Certainty::Yes;
    for rho in rhos {
        let rho = parse(rho)?;
        for shift in shifts {
            let sigma2 = Rational::from(shift * shift) / Rational::from(&rho * 2_u32);
            let count = Composition::new([Counts::discrete_gaussian(sigma2, 1, *shift)?])?;
            for order in orders {
                let order = parse(order)?;
                let above = Rational::from(&order - 1_u32);
                // D = ln E[exp((order - 1) L)] / (order - 1).
                let divergence = count.loss().ln_mgf(&above, 400).div(&Enclosure::rational(&above, 400));
                match divergence.at_most(&Rational::from(&rho * &order)) {
                    Certainty::Yes => {}
                    Certainty::No => return Ok(Computed::Statement(Certainty::No)),
                    Certainty::Undecided => answer = Certainty::Undecided,
                }
            }
        }
    }
    Ok(Computed::Statement(answer))
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

/// For two children of one block each: entry by entry.
fn sign_of_d() -> bool {
    let (parent, child) = (3_i64, 5_i64);
    let (of_parent, of_child) = (parent * parent, child * child - (child + parent) * (child + parent));
    let product = |row: usize, column: usize| of_parent + if row == column { of_child } else { 0 };
    let printed = |row: usize, column: usize| parent * if row == column { 2 * child } else { -parent };
    (0..2).all(|row| (0..2).all(|column| product(row, column) == printed(row, column)))
}

/// All trees here with several shares: a unit below the root that carries a share, with the nearest units below that do, would
/// have to be refused by the rule.
fn one_pass() -> Result<bool> {
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

struct Bypassed {
    spine: Spine,
    bypassed_by_theorem_2: bool,
}

/// Spines over the trees of this file, with several shares.
fn spines(privacy: impl Fn(usize) -> Privacy) -> Result<Vec<Bypassed>> {
    let mut all = Vec::new();
    let trees =
        [small_trees()?, vec![binary_tree()?, uneven_tree()?, Family::new(3)?.tree, Family::new(7)?.tree]].concat();
    for (number, tree) in trees.into_iter().enumerate() {
        for parts in [[1, 1, 1, 1, 1, 1], [1, 2, 4, 8, 16, 32], [32, 16, 8, 4, 2, 1], [104, 1440, 447, 687, 1256, 165]]
        {
            let sum: u32 = parts.iter().sum();
            let shares = parts.iter().map(|part| Rational::from((*part, sum))).collect();
            let privacy = privacy(number);
            let spine = Spine::new(tree.clone(), shares, privacy)?;
            all.push(Bypassed { spine, bypassed_by_theorem_2: privacy != Privacy::Concentrated });
        }
    }
    Ok(all)
}

fn pure_bypasses_more() -> Result<bool> {
    let (pure, concentrated) = (spines(|_| Privacy::Pure { cutoff: 150 })?, spines(|_| Privacy::Concentrated)?);
    let count = |of: &Bypassed| of.spine.bypassed.iter().sum::<usize>();
    Ok(pure.iter().zip(&concentrated).all(|(pure, concentrated)| count(pure) >= count(concentrated)))
}
