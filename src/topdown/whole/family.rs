//! The children of a unit: its integer counts are distributed among them, pass by pass from coarse groups of cells to
//! single cells.
//!
//! The first pass settles the totals of the children together with the finest groups that constraints distinguish (for
//! P.L. 94-171 the types of group quarters and whether of voting age). Bounds and zeros are about these groups, so
//! every result of this pass can be completed to cells. Each later pass splits the groups of the one before it, and
//! each of these groups is a separate table, with the children as rows.
//!
//! The cells of the last pass are those of the histogram or, if these are too many, of a marginal of it.

use std::collections::HashMap;

use super::flow::{Arc, NoFlow, exists, nearest};
use crate::{
    error::{Error, Result},
    topdown::gls::{
        basis::Part,
        belief::Belief,
        classes::CountClass,
        problem::{Free, Problem},
        query::SectorQuery,
    },
};

/// The nonzero cells of a unit, ascending.
pub type Counts = Vec<(u32, i64)>;

/// Bounds on sums of cells, the same groups for all units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundGroups {
    /// The group of each point that constraints distinguish.
    pub of_point: Vec<u32>,
    /// The number of groups.
    pub count: usize,
}

/// A lower bound, and an optional upper bound.
pub type Bound = (i64, Option<i64>);

/// A unit with settled counts.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// The counts.
    pub counts: Counts,
    /// Its least-squares estimate; empty if the counts are those of all cells of a histogram, which replace it. Counts of
    /// a marginal have less information.
    pub estimate: Vec<f64>,
}

/// The passes: queries each of which splits the groups of the one before it; the last one splits into cells.
pub struct Passes {
    passes: Vec<Pass>,
    /// All cells: the map between cells and coordinates.
    cells: SectorQuery,
    /// For each cell, the first cell of the histogram in it.
    first: Vec<u32>,
    /// Whether the cells are those of the histogram.
    is_detailed: bool,
    total: CountClass,
    bounds: Option<BoundGroups>,
}

struct Pass {
    /// The group of each cell.
    group_of: Vec<u32>,
    groups: usize,
    /// The class of each group, and the classes.
    class_of: Vec<u32>,
    classes: Vec<CountClass>,
}

/// A child during the distribution of its parent's counts.
pub struct Child<'a> {
    /// The least-squares estimate of its cells, given the parent's counts.
    pub cells: &'a [f64],
    /// The estimate from its own subtree, whose variances give the weights.
    pub belief: &'a Belief,
    /// The points that may be above zero.
    pub free: &'a Free,
    /// Bounds on its groups; empty for none.
    pub bounds: &'a [Bound],
    /// Its exact total.
    pub total: Option<i64>,
}

impl Child<'_> {
    /// The smallest total that it can have, and the largest, if bounded.
    fn least_and_most(&self) -> (i64, Option<i64>) {
        if let Some(total) = self.total {
            return (total, Some(total));
        }
        let least = self.bounds.iter().fold(0_i64, |sum, (lower, _)| sum.saturating_add((*lower).max(0)));
        let most = self.bounds.iter().try_fold(0_i64, |sum, (_, upper)| Some(sum.saturating_add((*upper)?)));
        (least, most.filter(|_| !self.bounds.is_empty()))
    }
}

/// The variances of a child: of its total, and by pass and class.
struct Variances {
    total: f64,
    of_pass: Vec<Vec<f64>>,
}

/// Lower limit for variances: a standard deviation of a thirtieth of a person means that the count is known.
const LEAST_VARIANCE: f64 = 1e-3;

fn weight(variance: f64) -> f64 {
    variance.max(LEAST_VARIANCE).recip()
}

impl Passes {
    /// The passes of some queries, over attributes of these sizes, down to `cells`, which must distinguish everything
    /// that constraints and queries distinguish. The first pass is the partition that constraints distinguish, and each
    /// query is refined by those before it.
    pub fn new(
        problem: &Problem,
        sizes: &[usize],
        queries: &[Vec<Part>],
        cells: &[Part],
        bounds: Option<BoundGroups>,
    ) -> Passes {
        let pass = |parts: &Vec<Part>| {
            let query = SectorQuery::new(&problem.basis, parts);
            let (class_of, classes) = query.classes(&problem.basis);
            Pass { group_of: groups_of(sizes, cells, parts), groups: query.counts(), class_of, classes }
        };
        let set = sizes.iter().map(|size| vec![true; *size]).collect::<Vec<_>>();
        Passes {
            passes: parts_of_passes(sizes, &problem.apart(), queries, cells).iter().map(pass).collect(),
            cells: SectorQuery::new(&problem.basis, cells),
            first: groups_of(sizes, cells, &vec![Part::Whole; sizes.len()]),
            is_detailed: cells.iter().all(|part| *part == Part::Whole),
            total: CountClass::of_sets(&problem.basis, &set),
            bounds,
        }
    }

    /// Counts indexed by the first cell of the histogram in each cell.
    pub fn in_histogram(&self, counts: &Counts) -> Counts {
        counts.iter().map(|(cell, count)| (self.first[*cell as usize], *count)).collect()
    }

    /// The cells of a vector of coordinates on all rows.
    pub fn cells_of(&self, problem: &Problem, belief: &Belief, x: &[f64]) -> Vec<f64> {
        self.cells.answer(&problem.expand(&belief.shape, x))
    }

    /// A unit with its counts and its estimate; the estimate is dropped if the counts replace it.
    pub fn settled(&self, counts: Counts, estimate: Vec<f64>) -> Settled {
        Settled { counts, estimate: if self.is_detailed { Vec::new() } else { estimate } }
    }

    /// The condition for the estimates of a unit's children, on the shape of another estimate: the unit's counts,
    /// treated as exact, or its own estimate if counts are those of a marginal.
    pub fn fixed(&self, problem: &Problem, like: &Belief, unit: &Settled) -> Belief {
        if !self.is_detailed {
            return like.exactly(unit.estimate.clone());
        }
        let mut cells = vec![0.0; self.first.len()];
        unit.counts.iter().for_each(|(cell, count)| cells[*cell as usize] = *count as f64);
        let mut all = vec![0.0; self.first.len()];
        self.cells.add_transposed(1.0, &mut cells, &mut all);
        like.exactly(problem.kept(&like.shape, &all))
    }

    fn variances(&self, problem: &Problem, belief: &Belief) -> Variances {
        let of = |class: &CountClass| problem.variance(class, &belief.shape, &belief.covariance);
        Variances {
            total: of(&self.total),
            of_pass: self.passes.iter().map(|pass| pass.classes.iter().map(of).collect()).collect(),
        }
    }

    /// The integer counts of a unit without a parent, nearest to its estimate; with an exact total, if it has one. They
    /// are feasible for the zeros, bounds and exact totals of the given children, which may be none.
    pub fn root(&self, problem: &Problem, root: &Child, children: &[Child]) -> std::result::Result<Counts, NoFlow> {
        let whose = if children.is_empty() { std::slice::from_ref(root) } else { children };
        let (least, most) = whose.iter().map(Child::least_and_most).fold((0_i64, Some(0_i64)), |sum, own| {
            (sum.0.saturating_add(own.0), sum.1.zip(own.1).map(|(sum, own)| sum.saturating_add(own)))
        });
        let near = root.cells.iter().sum::<f64>().round() as i64;
        let total = root.total.unwrap_or_else(|| most.map_or(near, |most| near.min(most)).max(least));
        let above = Above::Total(total);
        let mut shared = self.shared(problem, std::slice::from_ref(root), above, children)?;
        Ok(shared.pop().unwrap_or_default())
    }

    /// Distributes the counts of a parent, which may have bounds of its own, among its children.
    pub fn share(
        &self,
        problem: &Problem,
        parent: &Counts,
        bounds: &[Bound],
        children: &[Child],
    ) -> std::result::Result<Vec<Counts>, NoFlow> {
        self.shared(problem, children, Above::Counts(parent), &[]).map_err(|why| match why {
            // The contradiction may come from the counts of the parent.
            NoFlow::Contradiction if self.limits_meet(bounds, children).is_ok() => NoFlow::Settled,
            other => other,
        })
    }

    /// Whether some counts satisfy the constraints of all children and the bounds of their parent.
    fn limits_meet(&self, bounds: &[Bound], children: &[Child]) -> std::result::Result<(), NoFlow> {
        // A node through which all flow circulates; then the bounded groups of the parent, the points, and the
        // children.
        let groups = self.bounds.as_ref().filter(|_| !bounds.is_empty());
        let first = 1 + groups.map_or(0, |groups| groups.count);
        let (nodes, mut arcs) = (first + self.passes[0].groups, Vec::new());
        for (group, (lower, upper)) in bounds.iter().enumerate() {
            arcs.push(Arc { from: 1 + group, to: 0, target: 0.0, weight: 0.0, lower: (*lower).max(0), upper: *upper });
        }
        for point in 0..self.passes[0].groups {
            let to = groups.map_or(0, |groups| 1 + groups.of_point[point] as usize);
            arcs.push(Arc { from: first + point, to, target: 0.0, weight: 0.0, lower: 0, upper: None });
        }
        let mut own = nodes;
        for child in children {
            own += self.add_child((0, own), child, &|point| Some(first + point), None, &mut arcs).1;
        }
        exists(&vec![0; own], &arcs)
    }

    fn shared(
        &self,
        problem: &Problem,
        children: &[Child],
        above: Above,
        below: &[Child],
    ) -> std::result::Result<Vec<Counts>, NoFlow> {
        // Children with the same measurements share their matrices.
        let mut known: HashMap<*const Vec<_>, usize> = HashMap::new();
        let mut variances: Vec<Variances> = Vec::new();
        let of_child: Vec<usize> = (children.iter())
            .map(|child| {
                *known.entry(std::sync::Arc::as_ptr(&child.belief.covariance)).or_insert_with(|| {
                    variances.push(self.variances(problem, child.belief));
                    variances.len() - 1
                })
            })
            .collect();
        let sums = |pass: usize| above.sums(&self.passes[pass].group_of, self.passes[pass].groups);
        let mut targets = self.targets(0, children);
        let mut settled = match (children, below) {
            (_, []) => self.first(children, &targets, &sums(0), &|child| &variances[of_child[child]])?,
            _ => vec![self.first_with_room(below, &targets[0], sums(0).total(), &variances[of_child[0]])?],
        };
        for pass in 1..self.passes.len() {
            targets = self.targets(pass, children);
            let columns = sums(pass);
            settled = self.next(pass, &settled, &targets, &columns, &|child| &variances[of_child[child]])?;
        }
        let counts = |own: Vec<i64>| (0..).zip(own).filter(|(_, count)| *count > 0).collect();
        Ok(settled.into_iter().map(counts).collect())
    }

    /// The targets for the groups of each child.
    fn targets(&self, pass: usize, children: &[Child]) -> Vec<Vec<f64>> {
        let pass = &self.passes[pass];
        let of = |child: &Child| {
            let mut sums = vec![0.0; pass.groups];
            child.cells.iter().zip(&pass.group_of).for_each(|(cell, group)| sums[*group as usize] += cell);
            sums
        };
        children.iter().map(of).collect()
    }

    /// The first pass: totals, bounds and zeros.
    fn first<'v>(
        &self,
        children: &[Child],
        targets: &[Vec<f64>],
        columns: &Columns,
        variances: &dyn Fn(usize) -> &'v Variances,
    ) -> std::result::Result<Vec<Vec<i64>>, NoFlow> {
        // The source, the columns, and for each child its own node and its bounded groups.
        let mut supply = vec![0; 1 + columns.nodes];
        supply[0] = columns.total();
        columns.supply(&mut supply[1..]);
        let (mut arcs, mut cells) = (Vec::new(), Vec::new());
        for (at, child) in children.iter().enumerate() {
            let near = Some((&targets[at][..], variances(at)));
            let column = |point| columns.has(point).then(|| 1 + columns.node(point));
            let (own, nodes) = self.add_child((0, supply.len()), child, &column, near, &mut arcs);
            cells.extend(own.into_iter().map(|(arc, point)| (arc, at, point)));
            supply.resize(supply.len() + nodes, 0);
        }
        let flow = nearest(&supply, &arcs)?;
        let mut settled = vec![vec![0; self.passes[0].groups]; children.len()];
        cells.into_iter().for_each(|(arc, child, point)| settled[child][point] = flow[arc]);
        Ok(settled)
    }

    /// The first pass of a unit without a parent: the counts of its points near these targets that are feasible for its
    /// children. The flow through the children has no cost: their counts are settled later.
    fn first_with_room(
        &self,
        children: &[Child],
        targets: &[f64],
        total: i64,
        variances: &Variances,
    ) -> std::result::Result<Vec<i64>, NoFlow> {
        let pass = &self.passes[0];
        // The source, the sink, the points, and for each child its own node and its bounded groups.
        let mut supply = vec![0; 2 + pass.groups];
        (supply[0], supply[1]) = (total, total.saturating_neg());
        let point = |(point, target): (usize, &f64)| {
            let weight = weight(variances.of_pass[0][pass.class_of[point] as usize]);
            Arc { from: 2 + point, to: 1, target: *target, weight, lower: 0, upper: None }
        };
        let mut arcs: Vec<Arc> = targets.iter().enumerate().map(point).collect();
        for child in children {
            let (_, nodes) = self.add_child((0, supply.len()), child, &|point| Some(2 + point), None, &mut arcs);
            supply.resize(supply.len() + nodes, 0);
        }
        let mut flow = nearest(&supply, &arcs)?;
        flow.truncate(pass.groups);
        Ok(flow)
    }

    /// Adds the arcs of a child: from a node to the child's own, from there to its bounded groups, and on to the node
    /// of each point that it may have, if there is one. Without targets these arcs have no cost. Returns the arcs of
    /// its points, and the number of its nodes.
    fn add_child(
        &self,
        (from, own): (usize, usize),
        child: &Child,
        column: &dyn Fn(usize) -> Option<usize>,
        near: Option<(&[f64], &Variances)>,
        arcs: &mut Vec<Arc>,
    ) -> (Vec<(usize, usize)>, usize) {
        let (pass, groups) = (&self.passes[0], self.bounds.as_ref().filter(|_| !child.bounds.is_empty()));
        let (lower, upper) = child.total.map_or((0, None), |total| (total, Some(total)));
        let (target, weight_of_total) =
            near.map_or((lower as f64, 0.0), |(targets, variances)| (targets.iter().sum(), weight(variances.total)));
        arcs.push(Arc { from, to: own, target, weight: weight_of_total, lower, upper });
        for (group, (lower, upper)) in child.bounds.iter().enumerate() {
            let (lower, upper) = ((*lower).max(0), *upper);
            arcs.push(Arc { from: own, to: own + 1 + group, target: lower as f64, weight: 0.0, lower, upper });
        }
        let mut cells = Vec::new();
        for point in (0..pass.groups).filter(|point| child.free.has(*point)) {
            let Some(to) = column(point) else { continue };
            let from = groups.map_or(own, |groups| own + 1 + groups.of_point[point] as usize);
            let (target, weight) = near.map_or((0.0, 0.0), |(targets, variances)| {
                (targets[point], weight(variances.of_pass[0][pass.class_of[point] as usize]))
            });
            cells.push((arcs.len(), point));
            arcs.push(Arc { from, to, target, weight, lower: 0, upper: None });
        }
        (cells, 1 + child.bounds.len())
    }

    /// A later pass: each group of the previous pass separately.
    fn next<'v>(
        &self,
        number: usize,
        settled: &[Vec<i64>],
        targets: &[Vec<f64>],
        columns: &Columns,
        variances: &dyn Fn(usize) -> &'v Variances,
    ) -> std::result::Result<Vec<Vec<i64>>, NoFlow> {
        let (before, pass) = (&self.passes[number - 1], &self.passes[number]);
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); before.groups];
        let mut seen = vec![false; pass.groups];
        for (old, new) in before.group_of.iter().zip(&pass.group_of) {
            let new = *new as usize;
            if !std::mem::replace(&mut seen[new], true) && columns.has(new) {
                parts[*old as usize].push(new);
            }
        }
        let mut split = vec![vec![0; pass.groups]; settled.len()];
        for (old, parts) in parts.iter().enumerate() {
            let rows: Vec<usize> = (0..settled.len()).filter(|child| settled[*child][old] > 0).collect();
            match (&rows[..], &parts[..]) {
                ([], _) => {}
                (_, []) => return Err(NoFlow::Contradiction),
                (_, [only]) => rows.iter().for_each(|row| split[*row][*only] = settled[*row][old]),
                ([only], _) if columns.is_known() => {
                    parts.iter().for_each(|part| split[*only][*part] = columns.sum(*part));
                }
                _ => {
                    let many = if columns.is_known() { parts.len() } else { 1 };
                    let mut supply: Vec<i64> = rows.iter().map(|row| settled[*row][old]).collect();
                    match columns.is_known() {
                        true => supply.extend(parts.iter().map(|part| -columns.sum(*part))),
                        false => supply.push(-supply.iter().sum::<i64>()),
                    }
                    let mut arcs = Vec::with_capacity(rows.len() * parts.len());
                    for (from, row) in rows.iter().enumerate() {
                        for (at, part) in parts.iter().enumerate() {
                            let variance = variances(*row).of_pass[number][pass.class_of[*part] as usize];
                            let (to, target) = (rows.len() + at % many, targets[*row][*part]);
                            arcs.push(Arc { from, to, target, weight: weight(variance), lower: 0, upper: None });
                        }
                    }
                    let flow = nearest(&supply, &arcs)?;
                    for (row, flow) in rows.iter().zip(flow.chunks_exact(parts.len())) {
                        parts.iter().zip(flow).for_each(|(part, count)| split[*row][*part] = *count);
                    }
                }
            }
        }
        Ok(split)
    }
}

/// The known counts above the children.
enum Above<'a> {
    /// All counts of the parent.
    Counts(&'a Counts),
    /// Only the total.
    Total(i64),
}

/// The sums over the children that each group must have, and the nodes of groups in a network.
struct Columns {
    /// `None` if only the total is known: then all groups end in one node.
    sums: Option<Vec<i64>>,
    total: i64,
    nodes: usize,
}

impl Above<'_> {
    fn sums(&self, group_of: &[u32], groups: usize) -> Columns {
        match self {
            Above::Total(total) => Columns { sums: None, total: *total, nodes: 1 },
            Above::Counts(counts) => {
                let mut sums = vec![0; groups];
                counts.iter().for_each(|(cell, count)| sums[group_of[*cell as usize] as usize] += count);
                Columns { total: sums.iter().sum(), sums: Some(sums), nodes: groups }
            }
        }
    }
}

impl Columns {
    fn total(&self) -> i64 {
        self.total
    }

    fn is_known(&self) -> bool {
        self.sums.is_some()
    }

    fn has(&self, group: usize) -> bool {
        self.sums.as_ref().is_none_or(|sums| sums[group] > 0)
    }

    fn sum(&self, group: usize) -> i64 {
        self.sums.as_ref().map_or(0, |sums| sums[group])
    }

    fn node(&self, group: usize) -> usize {
        if self.is_known() { group } else { 0 }
    }

    fn supply(&self, nodes: &mut [i64]) {
        match &self.sums {
            Some(sums) => nodes.iter_mut().zip(sums).for_each(|(node, sum)| *node = -sum),
            None => nodes[0] = -self.total,
        }
    }
}

/// The partitions of the passes: that of constraints, each query refined by all before it, and the cells.
fn parts_of_passes(sizes: &[usize], apart: &[Part], queries: &[Vec<Part>], cells: &[Part]) -> Vec<Vec<Part>> {
    let mut joined = vec![apart.to_vec()];
    for query in queries.iter().map(Vec::as_slice).chain([cells]) {
        let before = &joined[joined.len() - 1];
        let next: Vec<Part> = before.iter().zip(query).map(|(a, b)| a.common(b).in_order()).collect();
        // Each refines the one before it: they are equal if they have the same number of groups.
        if before.iter().zip(&next).zip(sizes).any(|((a, b), size)| a.groups(*size) < b.groups(*size)) {
            joined.push(next);
        }
    }
    joined
}

/// The group of each cell, of a marginal, under the coarser parts of a query.
fn groups_of(sizes: &[usize], cells: &[Part], parts: &[Part]) -> Vec<u32> {
    let mut groups = vec![0_u32];
    for ((size, cell), part) in sizes.iter().zip(cells).zip(parts) {
        let many = part.groups(*size) as u32;
        let mut own = vec![0; cell.groups(*size)];
        (0..*size).rev().for_each(|value| own[cell.group_of(value)] = part.group_of(value) as u32);
        groups = groups.into_iter().flat_map(|group| own.iter().map(move |own| group * many + own)).collect();
    }
    groups
}

/// The error about a unit whose children have no feasible integer counts.
pub fn no_counts(whose: &str, why: NoFlow) -> Error {
    let what = format!("the constraints on the whole counts of {whose}");
    match why {
        NoFlow::Contradiction => Error::conflict(format!(
            "{what} contradict each other: no non-negative whole counts below it keep its bounds, zeros and exact totals together"
        )),
        NoFlow::Settled => Error::unsuitable(format!(
            "{what} leave no room for the counts settled above it, though they do not contradict each other: counts are settled from the \
             top down; another order of passes (--whole with other queries) may help"
        )),
        NoFlow::OutOfRange => Error::unsuitable(format!(
            "{what} are too large: counts, bounds and totals together must be below 2^52, about 4.5e15"
        )),
        NoFlow::Unsolved => {
            Error::fault(format!("{what} have neither a nearest solution nor a proof that there is none"))
        }
    }
}

/// The cells of integer counts, over attributes of these sizes: the cells of the histogram, or, if these are too many,
/// the cells that constraints and queries together distinguish. Refused if these are too many as well.
pub fn cells_to_count(sizes: &[usize], apart: &[Part], queries: &[Vec<Part>]) -> Result<Vec<Part>> {
    const MOST: usize = 1 << 16;
    if sizes.iter().product::<usize>() <= MOST {
        return Ok(vec![Part::Whole; sizes.len()]);
    }
    let join =
        |cells: Vec<Part>, query: &Vec<Part>| cells.iter().zip(query).map(|(a, b)| a.common(b).in_order()).collect();
    let cells: Vec<Part> = queries.iter().fold(apart.to_vec(), join);
    let many: usize = cells.iter().zip(sizes).map(|(part, size)| part.groups(*size)).product();
    if many > MOST {
        let groups = |(part, size): (&Part, &usize)| part.groups(*size).to_string();
        let shown: Vec<String> = cells.iter().zip(sizes).map(groups).collect();
        let expected = format!(
            "at most {MOST} cells that queries and constraints distinguish together: ask for coarser or fewer queries at a time, or keep \
             totals alone"
        );
        return Err(Error::out_of_range("the number of cells of whole counts", shown.join(" x "), &expected));
    }
    Ok(cells)
}
