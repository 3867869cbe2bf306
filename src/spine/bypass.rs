//! Bypassing units whose removal makes no query less precise (Cumings-Menon et al., Theorem 2 and Algorithm 3).
//!
//! Bypassing a unit of level l with c children replaces it by c units, one for each child, each with the sum of the
//! unit's share and the child's; the child keeps a share of zero. So a unit always carries the shares of a run of
//! levels from its own downwards, or none, and every path from the root to a block still sums to 1.
//!
//! Proof of Theorem 2. With Laplace noise the precision of a unit's counts is proportional to gamma^2, and a bypass
//! adds to the precision matrix gamma\[l\] times D, where D has 2 gamma\[l+1\] on the diagonal of the children and
//! -gamma\[l\] off it. Its smallest eigenvalue belongs to the vector of ones: 2 gamma\[l+1\] - (c - 1) gamma\[l\].
//! Therefore D >= 0 if and only if gamma\[l+1\] >= (c - 1) gamma\[l\] / 2; more precision in the Loewner order is less
//! variance of every query. If the children have different shares the smallest one decides: a larger share only adds to the
//! diagonal. With Gaussian noise the precision is proportional to gamma, and D has 0 on the diagonal and -gamma\[l\]
//! off it: never >= 0 unless c = 1, where it vanishes.
//!
//! The root is never bypassed: the strategy must hold the nation (section 3 of the paper).

use rug::Rational;
use toml::Spanned;

use super::hierarchy::{MOST_LEVELS, Tree};
use crate::{
    account::{Composition, paths::WorstPath},
    error::{Error, Result},
    io::toml_reader::TomlReader,
    loss::family::Units,
    release::{Neighbors, Paths, Release},
};

/// The noise, which determines the bypassing rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    /// Pure differential privacy by Laplace noise: Theorem 2, if the fan-out allows it.
    Pure {
        /// The largest fan-out of the parent after a bypass.
        cutoff: u32,
    },
    /// Zero-concentrated differential privacy by Gaussian noise: units with one child.
    Concentrated,
}

impl Privacy {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Privacy::Pure { .. } => "pure",
            Privacy::Concentrated => "zcdp",
        }
    }

    /// The kind of privacy from its name in a file; `cutoff` is for [`Privacy::Pure`].
    pub(super) fn read(reader: &TomlReader, name: &Spanned<String>, cutoff: u32) -> Result<Privacy> {
        match name.get_ref().as_str() {
            "zcdp" => Ok(Privacy::Concentrated),
            "pure" => Ok(Privacy::Pure { cutoff }),
            other => {
                let why = format!("privacy = {other:?}: expected \"zcdp\" or \"pure\"");
                Err(reader.refuse(name.span().start, why))
            }
        }
    }
}

/// A spine with its budget shares.
#[derive(Clone, Debug)]
pub struct Spine {
    /// The tree after bypassing.
    pub tree: Tree,
    /// The share of the budget of each level before bypassing.
    pub proportions: Vec<Rational>,
    /// The number of units of each level that were bypassed.
    pub bypassed: Vec<usize>,
    /// For each unit the number of levels whose shares it carries, from its own downwards; 0 for none.
    carried: Vec<Vec<u8>>,
}

/// Paths from the root to blocks on which the units of each level carry the same shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathKind {
    /// The levels without a share of their own, ascending.
    pub dropped: Vec<usize>,
    /// For each level, the number of levels whose shares its unit carries, from its own downwards.
    pub carried: Vec<usize>,
    /// The number of blocks with such a path.
    pub blocks: u64,
}

impl PathKind {
    /// Its code among those of the blocks.
    pub(super) fn code(&self) -> u64 {
        self.carried.iter().zip(0..).fold(0, |code, (carried, level)| code | (*carried as u64) << (4 * level))
    }
}

impl Spine {
    /// Bypasses by the rule, level by level from above the blocks to below the root (Algorithm 3), and checks that
    /// every path sums to 1.
    pub fn new(mut tree: Tree, proportions: Vec<Rational>, privacy: Privacy) -> Result<Spine> {
        let levels = tree.levels();
        check_proportions(&proportions, levels)?;
        let mut carried: Vec<Vec<u8>> = (0..levels).map(|level| vec![1; tree.units(level)]).collect();
        let mut bypassed = vec![0; levels];
        for level in (1..levels - 1).rev() {
            let marked = mark(&tree, &carried[level + 1], level, &proportions, privacy);
            bypassed[level] = marked.iter().filter(|marked| **marked).count();
            let mut above = Vec::with_capacity(tree.units(level));
            for (unit, marked) in marked.iter().enumerate() {
                if *marked {
                    for child in tree.children(level, unit) {
                        above.push(1 + std::mem::take(&mut carried[level + 1][child]));
                    }
                } else {
                    above.push(1);
                }
            }
            carried[level] = above;
            tree.split(level, &marked);
        }
        let spine = Spine { tree, proportions, bypassed, carried };
        spine.paths()?;
        Ok(spine)
    }

    /// A spine on which every unit carries the share of its own level.
    pub fn without_bypassing(tree: Tree, proportions: Vec<Rational>) -> Result<Spine> {
        let carried = (0..tree.levels()).map(|level| vec![1; tree.units(level)]).collect();
        Spine::from_parts(tree, proportions, carried)
    }

    /// A spine from the budget shares that its units carry. Checks that every unit carries a run of existing levels and
    /// that every path sums to exactly 1.
    pub(super) fn from_parts(tree: Tree, proportions: Vec<Rational>, carried: Vec<Vec<u8>>) -> Result<Spine> {
        let levels = tree.levels();
        check_proportions(&proportions, levels)?;
        for (level, carried) in carried.iter().enumerate() {
            if let Some(wrong) = carried.iter().find(|carried| usize::from(**carried) > levels - level) {
                let expected = format!("at most the {} levels from level {level} on", levels - level);
                return Err(Error::out_of_range("the levels that a unit carries", wrong, &expected));
            }
        }
        let bypassed = vec![0; levels];
        let spine = Spine { tree, proportions, bypassed, carried };
        spine.paths()?;
        Ok(spine)
    }

    /// The share of a unit.
    pub fn share(&self, level: usize, unit: usize) -> Rational {
        self.share_of_run(level, self.carried(level, unit))
    }

    /// The share of a run of `count` levels from `level` downwards.
    pub fn share_of_run(&self, level: usize, count: usize) -> Rational {
        sum(&self.proportions[level..level + count])
    }

    /// The number of levels whose shares a unit carries, from its own downwards.
    pub fn carried(&self, level: usize, unit: usize) -> usize {
        usize::from(self.carried[level][unit])
    }

    /// Four bits per level for each block, in tree order: the number of levels that the units of its path carry. It is read from the units,
    /// not from the history of bypasses.
    pub(super) fn path_codes(&self) -> Vec<u64> {
        let mut paths: Vec<u64> = vec![u64::from(self.carried[0][0])];
        for level in 1..self.tree.levels() {
            let mut below = Vec::with_capacity(self.tree.units(level));
            for (unit, path) in paths.iter().enumerate() {
                let children = self.tree.children(level - 1, unit);
                below.extend(children.map(|child| path | u64::from(self.carried[level][child]) << (4 * level)));
            }
            paths = below;
        }
        paths
    }

    /// The distinct paths from the root to blocks, by the levels that they drop; checks that each sums to exactly 1.
    pub fn paths(&self) -> Result<Vec<PathKind>> {
        let mut paths = self.path_codes();
        paths.sort_unstable();
        let mut kinds = Vec::new();
        for run in paths.chunk_by(|a, b| a == b) {
            let carries = |level: usize| (run[0] >> (4 * level) & 15) as usize;
            let levels = 0..self.tree.levels();
            let total = levels
                .clone()
                .fold(Rational::new(), |total, level| total + sum(&self.proportions[level..level + carries(level)]));
            if total != 1 {
                return Err(Error::out_of_range("the shares on a path", total, "exactly 1"));
            }
            let dropped = levels.clone().filter(|level| carries(*level) == 0).collect();
            kinds.push(PathKind { dropped, carried: levels.map(carries).collect(), blocks: run.len() as u64 });
        }
        kinds.sort_by(|a, b| a.dropped.cmp(&b.dropped));
        Ok(kinds)
    }

    /// The release drawn on this spine: the spine's own levels with the paths that occur on it.
    pub fn release(&self, release: &Release) -> Result<Release> {
        let matches = release.levels.len() == self.proportions.len()
            && (release.levels.iter().zip(&self.proportions))
                .all(|(level, proportion)| level.rho == Rational::from(proportion * &release.rho));
        if !matches {
            let names: Vec<&str> = release.levels.iter().map(|level| level.name.as_str()).collect();
            return Err(Error::conflict(format!(
                "the {} levels of the spine do not have the shares of the {} levels of {}, from the root {}",
                self.proportions.len(),
                names.len(),
                release.name,
                names.join(", ")
            )));
        }
        let dropped = self.paths()?.into_iter().map(|path| path.dropped).collect();
        let paths = Paths { note: "The paths that occur on the spine as it was built.".into(), dropped };
        Ok(Release { paths: Some(paths), ..release.clone() })
    }
}

/// The worst path, or pair of paths, of a release with paths whose places are not known: each path in full, which is an upper bound where a
/// record stays in a unit and a query has a single count. [`RecordAccount`](super::records::RecordAccount) knows the places.
pub fn worst_path(release: &Release) -> Result<WorstPath> {
    if release.budget_only {
        return Err(Error::BudgetOnly { release: release.name.clone() });
    }
    let units = match release.neighbors {
        Neighbors::Bounded => Units::Pairs,
        Neighbors::AddRemove => Units::Single,
    };
    let paths: Vec<Composition> = release.path_compositions()?;
    WorstPath::new(paths, units)
}

/// The units of a level that the rule bypasses. Siblings are processed in order: each bypass adds to the fan-out of
/// their parent.
fn mark(tree: &Tree, below: &[u8], level: usize, proportions: &[Rational], privacy: Privacy) -> Vec<bool> {
    let only_children = |unit: usize| tree.children(level, unit).len() == 1;
    let Privacy::Pure { cutoff } = privacy else {
        return (0..tree.units(level)).map(only_children).collect();
    };
    // The maximum number of children by Theorem 2, indexed by the number of levels that the poorest child carries.
    let most: Vec<Rational> = (0..=proportions.len() - 1 - level)
        .map(|carried| sum(&proportions[level + 1..level + 1 + carried]) * 2_u32 / &proportions[level] + 1_u32)
        .collect();
    let mut marked = Vec::with_capacity(tree.units(level));
    for parent in 0..tree.units(level - 1) {
        let siblings = tree.children(level - 1, parent);
        let mut fanout = siblings.len();
        for unit in siblings {
            let children = tree.children(level, unit);
            let count = children.len();
            let poorest = below[children].iter().min().copied().unwrap_or(0);
            let pays = count as u64 <= most[usize::from(poorest)];
            let bypass = count == 1 || (pays && fanout - 1 + count <= cutoff as usize);
            if bypass {
                fanout += count - 1;
            }
            marked.push(bypass);
        }
    }
    marked
}

/// The shares of the levels must be above zero and sum to exactly 1.
pub fn check_proportions(proportions: &[Rational], levels: usize) -> Result<()> {
    if proportions.len() != levels || !(2..=MOST_LEVELS).contains(&levels) {
        let given = proportions.len();
        return Err(Error::conflict(format!(
            "{given} proportions for {levels} levels: give one for each level; a spine has 2 to {MOST_LEVELS} levels"
        )));
    }
    if let Some(wrong) = proportions.iter().find(|share| **share <= 0) {
        return Err(Error::out_of_range("a proportion", wrong, "above 0"));
    }
    let total = sum(proportions);
    if total != 1 {
        return Err(Error::out_of_range("the sum of the proportions", total, "exactly 1"));
    }
    Ok(())
}

pub(super) fn sum(shares: &[Rational]) -> Rational {
    shares.iter().fold(Rational::new(), |total, share| total + share)
}
