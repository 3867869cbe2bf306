//! The GEOIDs of the units of a spine: the digits that all blocks of the unit share.

use super::hierarchy::Tree;

/// The GEOIDs of the blocks and, for each level above, of its units.
///
/// The GEOID of a unit is that of the smallest census unit (state, county, tract, block group) at its level or above
/// that holds all its blocks; that of the nation is empty. If a spine divides a census unit, its parts have the same
/// GEOID, and `unit` distinguishes them.
#[derive(Clone, Debug)]
pub struct Geoids {
    above: Vec<Vec<String>>,
    /// In tree order.
    blocks: Vec<u64>,
}

/// The number of digits of a GEOID down to state, county, tract and block group, and the divisor that reduces the 15
/// digits of a block to it.
const PREFIXES: [(usize, u64); 4] = [(12, 1000), (11, 10_u64.pow(4)), (5, 10_u64.pow(10)), (2, 10_u64.pow(13))];

impl Geoids {
    /// The GEOIDs of the units of a tree. `blocks` are the GEOIDs of its blocks in tree order, `names` the names of its
    /// levels.
    pub fn of_tree(tree: &Tree, names: &[String], blocks: Vec<u64>) -> Geoids {
        let of_level = |level: usize| {
            let most = most_digits(level, tree.levels() - 1, &names[0]);
            let unit = |unit: usize| shared(&blocks[tree.blocks(level, unit)], most);
            (0..tree.units(level)).map(unit).collect()
        };
        Geoids { above: (0..tree.levels() - 1).map(of_level).collect(), blocks }
    }

    /// The GEOIDs of the blocks, in tree order.
    pub fn blocks(&self) -> &[u64] {
        &self.blocks
    }

    /// The GEOID of a unit.
    pub fn unit(&self, level: usize, unit: usize) -> String {
        match self.above.get(level) {
            Some(units) => units[unit].clone(),
            None => format!("{:015}", self.blocks[unit]),
        }
    }
}

/// The maximum number of digits of a unit of a level.
fn most_digits(level: usize, blocks: usize, root: &str) -> usize {
    // Puerto Rico's spine begins with the state.
    let above = usize::from(root.eq_ignore_ascii_case("State"));
    let (level, blocks) = (level + above, blocks + above);
    match level {
        0 if root.eq_ignore_ascii_case("US") => 0,
        0 | 1 => 2,
        2 => 5,
        _ if level + 1 == blocks => 12,
        _ => 11,
    }
}

/// The longest prefix of at most `most` digits that all blocks share.
fn shared(blocks: &[u64], most: usize) -> String {
    let ends = blocks.iter().fold((u64::MAX, 0), |(least, largest), block| (least.min(*block), largest.max(*block)));
    let is_shared = |(digits, unit): &&(usize, u64)| *digits <= most && ends.0 / unit == ends.1 / unit;
    PREFIXES.iter().find(is_shared).map_or_else(String::new, |(digits, unit)| format!("{:0digits$}", ends.0 / unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spine::blocks::Blocks;

    #[test]
    fn units_have_the_digits_that_their_blocks_share() {
        let geoids = vec![90010101011000, 90010101011001, 90010101012000, 90010102001000, 90030101011000];
        let blocks = Blocks::from_geoids(geoids.clone()).unwrap();
        let tree = Tree::census(&blocks);
        let names = ["US", "State", "County", "Tract", "Block_Group", "Block"].map(String::from);
        let known = Geoids::of_tree(&tree, &names, geoids);
        let all = |level: usize| (0..tree.units(level)).map(|unit| known.unit(level, unit)).collect::<Vec<_>>();
        assert_eq!(all(0), [""]);
        assert_eq!(all(1), ["09"]);
        assert_eq!(all(2), ["09001", "09003"]);
        assert_eq!(all(3), ["09001010101", "09001010200", "09003010101"]);
        assert_eq!(all(4), ["090010101011", "090010101012", "090010102001", "090030101011"]);
        assert_eq!(all(5)[0], "090010101011000");
        // A block group of the spine that spans two census block groups has the GEOID of their tract.
        assert_eq!(shared(&[90010101011000, 90010101012000], 12), "09001010101");
        assert_eq!(shared(&[90010101011000, 100010101011000], 12), "");
    }
}
