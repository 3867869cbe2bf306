//! The strategy matrix of Figure 2.

use crate::{
    error::Result,
    release::schema::{QueryGroup, Schema},
};

/// The rows and columns of B (x) W in Figure 2.
pub(super) fn size() -> Result<(usize, usize)> {
    let groups = query_groups()?;
    // A nation of two blocks.
    let (units, blocks) = (3, 2);
    let counts: usize = groups.iter().map(|group| group.counts()).sum();
    Ok((units * counts, blocks * groups[0].cell_of.len()))
}

/// The query groups of Figure 2, over two attributes with two values each.
pub(in crate::replication) fn query_groups() -> Result<Vec<QueryGroup>> {
    let schema = Schema::numbered([("first", 2), ("second", 2)]);
    ["total", "first", "second", "detailed"].iter().map(|name| schema.group(name)).collect()
}
