//! Non-negative integer counts of a folder of noisy measurements: first the nation's, then those of states, of their
//! parts, and down to blocks. Each level sums to the one above it.

use super::{
    opened::{Nation, StatePass, StateRoot, Survey, Take, Top, WholeCells, WholeNation, without_counts},
    unbiased::OfUnits,
};
use crate::{
    error::Result,
    topdown::{
        gls::{
            basis::Part,
            belief::{Belief, Below, Descent},
            pass::{Pass, Risen},
        },
        nmf::{answers::named_parts, meter::Meter, names::Names, units::Constraints},
        whole::{
            descend::{Limits, WholePass},
            family::{Bound, BoundGroups, Child, Counts, Passes, Settled, cells_to_count, no_counts},
        },
    },
};

impl WholeNation {
    /// The nation's counts, by cells of the histogram.
    pub(super) fn counts(&self) -> Counts {
        self.passes.in_histogram(&self.own.counts)
    }
}

impl WholeCells {
    /// The cells for the requested queries and for the queries that are settled first. If the cells are those of a
    /// marginal and no order is given, the requested queries are settled first, those with the fewest counts before
    /// others: otherwise many small cells that cannot be negative would bias their sums upwards.
    pub(super) fn new(names: &Names, order: &[String], asked: &[Vec<Part>], apart: &[Part]) -> Result<WholeCells> {
        let mut order = named_parts(names.schema(), order)?;
        let cells = cells_to_count(&names.sizes, apart, &[asked, &order].concat())?;
        let mut whole = WholeCells { cells, order: Vec::new() };
        if order.is_empty() && whole.marginal(&names.sizes).is_some() {
            order = asked.to_vec();
            order.sort_by_key(|query| groups(query, &names.sizes));
        }
        whole.order = order;
        Ok(whole)
    }

    /// The number of cells, if they are those of a marginal.
    pub(super) fn marginal(&self, sizes: &[usize]) -> Option<usize> {
        self.cells.iter().any(|part| *part != Part::Whole).then(|| groups(&self.cells, sizes))
    }

    /// All answered queries: the requested ones, those settled first, and the cells.
    pub(super) fn with(&self, asked: &[Vec<Part>]) -> Vec<Vec<Part>> {
        [asked, &self.order, std::slice::from_ref(&self.cells)].concat()
    }
}

/// The number of counts of a query.
fn groups(query: &[Part], sizes: &[usize]) -> usize {
    query.iter().zip(sizes).map(|(part, size)| part.groups(*size)).product()
}

impl Survey {
    /// The nation's counts, distributed among its states.
    pub(super) fn whole_nation(&self, whole: &WholeCells, nation: &Nation) -> Result<WholeNation> {
        let groups = nation.roots.values().find_map(|root| root.bound_groups.clone());
        let passes = self.passes(whole, groups);
        let bounds = nation.roots.values().map(|state| state.bounds.clone()).reduce(add_bounds).unwrap_or_default();
        let own = passes.settled(self.nation_counts(&passes, nation, &bounds)?, nation.belief.x.clone());
        let fixed = passes.fixed(&self.problem, &at_shape(&nation.below), &own);
        let descent = Descent::new(&fixed, &nation.below, false);
        let roots = &nation.roots;
        let means: Vec<Vec<f64>> = roots.values().map(|root| descent.mean(&root.belief)).collect();
        let cells: Vec<Vec<f64>> =
            (roots.values().zip(&means)).map(|(root, x)| passes.cells_of(&self.problem, &root.belief, x)).collect();
        let children: Vec<Child> = (roots.iter().zip(&cells))
            .map(|((state, root), cells)| self.child(cells, root, self.total_of(*state)))
            .collect();
        let shared = passes.share(&self.problem, &own.counts, &bounds, &children);
        let shared = shared.map_err(|why| no_counts("the states", why))?;
        let settled = shared.into_iter().zip(means).map(|(counts, x)| passes.settled(counts, x));
        let of_state = roots.keys().copied().zip(settled).collect();
        Ok(WholeNation { passes, own, of_state })
    }

    /// Distributes the counts of a state and passes on the requested ones.
    pub(super) fn whole_state(
        &self,
        state: u32,
        whole: &WholeCells,
        top: &Top,
        take: &mut Take,
        meter: &Meter,
    ) -> Result<()> {
        let Some(deepest) = self.deepest() else { return Ok(()) };
        let pass = self.rise(state, deepest, false, meter)?;
        let unbiased = self.unbiased(state, &pass, &self.last_of(state, &pass.belief, top), deepest)?;
        let above = top.nation.as_ref().and_then(|nation| nation.whole.as_ref());
        if let Some((above, counts)) = above.and_then(|above| Some((above, above.of_state.get(&state)?))) {
            return self.share_state(state, (&pass, &unbiased), &above.passes, counts.clone(), take);
        }
        let passes = self.passes(whole, pass.bound_groups());
        let root = StateRoot::of_pass(&pass);
        let cells = passes.cells_of(&self.problem, &root.belief, &root.belief.x);
        let child = self.child(&cells, &root, self.total_of(state));
        let counts = passes.root(&self.problem, &child, &[]).map_err(|why| no_counts(&name_of(state), why))?;
        let own = passes.settled(counts, root.belief.x.clone());
        self.share_state(state, (&pass, &unbiased), &passes, own, take)
    }

    fn passes(&self, whole: &WholeCells, groups: Option<BoundGroups>) -> Passes {
        Passes::new(&self.problem, &self.names.sizes, &whole.order, &whole.cells, groups)
    }

    /// The exact total of a state, if it is known and kept.
    pub(super) fn total_of(&self, state: u32) -> Option<i64> {
        let kept = self.settings.constraints != Constraints::None;
        let own = if self.root.is_nation { None } else { self.root.total };
        self.settings.totals.get(&state).copied().or(own).filter(|_| kept)
    }

    fn child<'a>(&self, cells: &'a [f64], root: &'a StateRoot, total: Option<i64>) -> Child<'a> {
        Child { cells, belief: &root.belief, free: &root.free, bounds: &root.bounds, total }
    }

    fn nation_counts(&self, passes: &Passes, nation: &Nation, bounds: &[Bound]) -> Result<Counts> {
        let belief = &nation.belief;
        let cells = passes.cells_of(&self.problem, belief, &belief.x);
        let kept = self.settings.constraints != Constraints::None;
        // If every state's total is exact, so is their sum.
        let of_states = nation.roots.keys().map(|state| self.total_of(*state));
        let of_states = of_states.reduce(|sum, own| sum?.checked_add(own?)).flatten();
        let total = self.root.total.filter(|_| kept).or(of_states);
        let root = Child { cells: &cells, belief, free: &nation.free, bounds, total };
        // Bounds and exact totals of the states interact: counts that satisfy only the sums of both may be infeasible.
        let states: Vec<Child> =
            nation.roots.iter().map(|(state, root)| self.child(&[], root, self.total_of(*state))).collect();
        passes.root(&self.problem, &root, &states).map_err(|why| no_counts("the nation", why))
    }

    /// From the counts of a state to its parts and down to the requested level.
    fn share_state(
        &self,
        state: u32,
        (pass, unbiased): (&StatePass, &[OfUnits]),
        passes: &Passes,
        settled: Settled,
        take: &mut Take,
    ) -> Result<()> {
        let Some(deepest) = self.deepest() else { return Ok(()) };
        let fixed = passes.fixed(&self.problem, &at_shape(&pass.below), &settled);
        let descent = Descent::new(&fixed, &pass.below, false);
        let own = |risen: &Risen| risen.root().cloned().ok_or_else(|| without_counts(&format!("the state {state:02}")));
        let beliefs = pass.risen.iter().map(own).collect::<Result<Vec<_>>>()?;
        let means: Vec<Vec<f64>> = beliefs.iter().map(|belief| descent.mean(belief)).collect();
        let cells: Vec<Vec<f64>> =
            beliefs.iter().zip(&means).map(|(belief, x)| passes.cells_of(&self.problem, belief, x)).collect();
        let children: Vec<Child> = (beliefs.iter().zip(&cells).zip(&pass.parts))
            .map(|((belief, cells), units)| Child {
                cells,
                belief,
                free: &units.frees[units.free[0][0] as usize],
                bounds: units.bounds_of(0, 0),
                total: None,
            })
            .collect();
        let shared = passes.share(&self.problem, &settled.counts, &bounds_of(pass), &children);
        let shared = shared.map_err(|why| no_counts(&name_of(state), why))?;
        for (at, ((units, counts), x)) in pass.parts.iter().zip(shared).zip(means).enumerate() {
            let measured = self.counts(units, None);
            let walked: Pass = self.pass(units, &pass.shapes[at], &measured);
            let whole = WholePass {
                pass: &walked,
                risen: &pass.risen[at],
                passes,
                limits: Limits {
                    free: &|level, unit| &units.frees[units.free[level][unit] as usize],
                    bounds: &|level, unit| units.bounds_of(level, unit),
                    name: &|level, unit| {
                        format!("{} {:?}", self.names.levels[level + self.first()], units.code(level, unit))
                    },
                },
            };
            whole.down(passes.settled(counts, x), deepest, &mut |level, unit, counts| {
                if !self.settings.levels.contains(&(level + self.first())) {
                    return Ok(());
                }
                let truth = self.truth_of(units, level, unit);
                let counts = passes.in_histogram(counts);
                let mut answers = self.answers.of_counts(&self.names.sizes, &counts, truth.as_deref());
                if let Some(variances) = unbiased.get(at).and_then(|own| own.get(&(level, unit))) {
                    self.answers.add_unbiased(variances, &mut answers);
                }
                take(self.subject(units, level, unit), answers)
            })?;
        }
        Ok(())
    }
}

impl StateRoot {
    /// The root of a state after the pass upwards.
    pub(super) fn of_pass(pass: &StatePass) -> StateRoot {
        let (belief, free) = (pass.belief.clone(), pass.free.clone());
        StateRoot { belief, free, bounds: bounds_of(pass), bound_groups: pass.bound_groups() }
    }
}

impl StatePass {
    /// The groups of the bounds in any of its parts.
    fn bound_groups(&self) -> Option<BoundGroups> {
        self.parts.iter().find_map(|units| units.bound_groups.clone())
    }
}

/// The bounds of a state: the sums of those of its parts.
fn bounds_of(pass: &StatePass) -> Vec<Bound> {
    pass.parts.iter().map(|units| units.bounds_of(0, 0).to_vec()).reduce(add_bounds).unwrap_or_default()
}

/// A zero estimate on the shape of a sum.
fn at_shape(below: &Below) -> Belief {
    Belief { shape: below.shape.clone(), x: Vec::new(), covariance: Default::default() }
}

fn name_of(state: u32) -> String {
    format!("the state {state:02}")
}

/// The bounds of a sum.
fn add_bounds(a: Vec<Bound>, b: Vec<Bound>) -> Vec<Bound> {
    if a.len() != b.len() {
        // If one of them has no bounds, only zero bounds the sum.
        return Vec::new();
    }
    let add = |(a, b): (&Bound, &Bound)| {
        let upper = a.1.zip(b.1).map(|(a, b)| a.saturating_add(b));
        (a.0.saturating_add(b.0), upper)
    };
    a.iter().zip(&b).map(add).collect()
}
