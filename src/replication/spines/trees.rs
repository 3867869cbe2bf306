//! Small trees, and statements about distances and fan-out checked on all of them.

use rug::Rational;

use crate::{
    error::Result,
    spine::{
        blocks::{Blocks, EntityColumn},
        hierarchy::Tree,
        osed,
    },
};

/// Two tracts of two block groups of one and two blocks, and the same with one block group.
pub(super) fn small_trees() -> Result<Vec<Tree>> {
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

/// The distance of the entity that consists of the blocks whose bits are set.
fn distance(tree: &Tree, bits: u32) -> u32 {
    let codes = (0..tree.order().len()).map(|row| bits >> row & 1).collect();
    osed::distances(tree, &EntityColumn { codes, names: vec![String::new(), "in".into()] })[1]
}

/// Whether (4.1) to (4.4) give the minimum number of units that form an entity, by trying all coefficients.
pub(super) fn osed_is_the_fewest() -> Result<bool> {
    for tree in small_trees()? {
        let blocks = tree.order().len();
        // Units with the same blocks count once.
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

/// Whether an entity that is a unit of the spine has distance 1.
pub(super) fn osed_of_units() -> Result<bool> {
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

/// A tree whose units above the blocks have two children each.
pub(super) fn binary_tree() -> Result<Tree> {
    let geoid = |bits: u64| {
        let bit = |at: u32| bits >> at & 1;
        (1 + bit(4)) * 10_u64.pow(13) + bit(3) * 10_u64.pow(10) + bit(2) * 10_000 + bit(1) * 1000 + bit(0)
    };
    Ok(Tree::census(&Blocks::from_geoids((0..32).map(geoid).collect())?))
}

/// A tree in which some units have one child.
pub(super) fn uneven_tree() -> Result<Tree> {
    let geoids = [(1, 1, 1000), (1, 1, 1001), (1, 1, 12_000), (1, 2, 1000), (2, 1, 1000), (2, 1, 2000)];
    let geoid = |(state, county, block): &(u64, u64, u64)| state * 10_u64.pow(13) + county * 10_u64.pow(10) + block;
    Ok(Tree::census(&Blocks::from_geoids(geoids.iter().map(geoid).collect())?))
}

/// Equal shares for six levels.
pub(super) fn equal_shares() -> Vec<Rational> {
    vec![Rational::from((1, 6)); 6]
}

/// The minimum over the number of groups of max(number of groups, blocks of the largest group).
pub(super) fn fewest_fanout(blocks: u64) -> u64 {
    (1..=blocks).map(|groups| groups.max(blocks.div_ceil(groups))).min().unwrap_or(0)
}

/// Whether [`fewest_fanout`] is the square root of the number of blocks, rounded up, for all numbers up to `most`.
pub(super) fn fewest_fanout_is_the_root(most: u64) -> bool {
    (1..=most).all(|blocks| {
        let root = blocks.isqrt();
        fewest_fanout(blocks) == if root * root == blocks { root } else { root + 1 }
    })
}
