//! Non-negative whole counts of a folder of noisy measurements: the nation's first, then those of states, of their parts, and down
//! to blocks, each summing to what is above it.

use std::collections::{BTreeMap, HashSet};

use super::{StatePass, Survey, Take, untold};
use crate::{
    error::Result,
    topdown::{
        gls::{
            basis::Part,
            belief::{Belief, Below, Descent},
            pass::{Pass, Risen},
            problem::Free,
        },
        nmf::{
            answers::{Subject, named_parts},
            meter::{At, Meter},
            truth::Truth,
            units::Constraints,
        },
        whole::{
            descend::{Limits, WholePass},
            family::{Bound, BoundGroups, Child, Counts, Passes, check_cells, no_counts},
        },
    },
};

/// What the nation's way down needs of a state.
struct StateRoot {
    belief: Belief,
    free: Free,
    bounds: Vec<Bound>,
}

impl Survey {
    /// Shares out whole counts in the order of these queries and hands on those that are asked for; `at` hears how far the work is.
    pub fn run_whole(&self, order: &[String], take: &mut Take, at: &At) -> Result<()> {
        check_cells(self.problem.basis.cells())?;
        let queries = named_parts(self.names.schema(), order)?;
        let meter = &Meter::new(at, self.work_of_whole());
        let mut seen = HashSet::new();
        let deepest = self.names.levels.len();
        if !self.uses_nation {
            for state in self.states.keys() {
                let pass = self.rise(*state, deepest, false, &mut seen, meter)?;
                let passes = self.passes(&queries, pass.bound_groups());
                let root = self.state_root(&pass);
                let cells = passes.cells_of(&self.problem, &root.belief, &root.belief.x);
                let child = self.child(&cells, &root, self.total_of(*state));
                let counts = passes.root(&self.problem, &child).map_err(|why| no_counts(&name_of(*state), why))?;
                self.share_state(*state, &pass, &passes, counts, take)?;
            }
            return Ok(());
        }
        let mut roots: BTreeMap<u32, StateRoot> = BTreeMap::new();
        let (mut free, mut groups) = (self.problem.all_free().none(), None);
        for state in self.states.keys() {
            let pass = self.rise(*state, 0, false, &mut seen, meter)?;
            free.unite(&pass.free);
            groups = groups.or(pass.bound_groups());
            roots.insert(*state, self.state_root(&pass));
        }
        let mut below = Below::new(self.shape(&free));
        roots.values().for_each(|root| below.add(&root.belief));
        let nation = self.nation(&below)?;
        let passes = self.passes(&queries, groups);
        let counts = self.nation_counts(&passes, nation, free, &roots)?;
        if self.settings.levels.contains(&0) {
            let unit = Subject::Unit { level: 0, code: String::new(), geoid: String::new() };
            let truth = self.settings.truth.as_ref().map(Truth::whole);
            take(unit, self.answers.of_counts(&self.names.sizes, &counts, truth.as_deref()))?;
        }
        if self.deepest().is_none() {
            return Ok(());
        }
        let fixed = passes.fixed(&self.problem, &at_shape(&below), &counts);
        let descent = Descent::new(&fixed, &below, false);
        let cells: Vec<Vec<f64>> = (roots.values())
            .map(|root| passes.cells_of(&self.problem, &root.belief, &descent.mean(&root.belief)))
            .collect();
        let children: Vec<Child> = (roots.iter().zip(&cells))
            .map(|((state, root), cells)| self.child(cells, root, self.total_of(*state)))
            .collect();
        let shared = passes.share(&self.problem, &counts, &children).map_err(|why| no_counts("the states", why))?;
        for (state, counts) in roots.keys().zip(shared) {
            let pass = self.rise(*state, deepest, false, &mut seen, meter)?;
            self.share_state(*state, &pass, &passes, counts, take)?;
        }
        Ok(())
    }

    /// How many bytes are read in all: a state once upwards, twice if the nation takes part, and its blocks once more.
    fn work_of_whole(&self) -> u64 {
        let bytes: u64 = self.states.values().flatten().map(|part| self.folder.bytes_of_part(part)).sum();
        bytes * (1 + u64::from(self.uses_nation))
    }

    fn passes(&self, queries: &[Vec<Part>], groups: Option<BoundGroups>) -> Passes {
        let single = if self.settings.constraints == Constraints::All { self.root.axes } else { 0 };
        Passes::new(&self.problem, &self.names.sizes, single, queries, groups)
    }

    /// The exact total of a state, if it is known and kept.
    fn total_of(&self, state: u32) -> Option<i64> {
        let kept = self.settings.constraints != Constraints::None;
        let own = if self.root.is_nation { None } else { self.root.total };
        self.settings.totals.get(&state).copied().or(own).filter(|_| kept)
    }

    fn child<'a>(&self, cells: &'a [f64], root: &'a StateRoot, total: Option<i64>) -> Child<'a> {
        Child { cells, belief: &root.belief, free: &root.free, bounds: &root.bounds, total }
    }

    fn state_root(&self, pass: &StatePass) -> StateRoot {
        let bounds = pass.parts.iter().map(|units| units.bounds_of(0, 0).to_vec()).reduce(add_bounds);
        StateRoot { belief: pass.belief.clone(), free: pass.free.clone(), bounds: bounds.unwrap_or_default() }
    }

    fn nation_counts(
        &self,
        passes: &Passes,
        belief: Belief,
        free: Free,
        states: &BTreeMap<u32, StateRoot>,
    ) -> Result<Counts> {
        let cells = passes.cells_of(&self.problem, &belief, &belief.x);
        let bounds = states.values().map(|state| state.bounds.clone()).reduce(add_bounds).unwrap_or_default();
        let kept = self.settings.constraints != Constraints::None;
        // Where every state's total is exact, so is their sum.
        let of_states = states.keys().map(|state| self.total_of(*state)).sum::<Option<i64>>();
        let total = self.root.total.filter(|_| kept).or(of_states);
        let root = StateRoot { belief, free, bounds };
        passes.root(&self.problem, &self.child(&cells, &root, total)).map_err(|why| no_counts("the nation", why))
    }

    /// From the counts of a state to its parts and down to the level that is asked for.
    fn share_state(
        &self,
        state: u32,
        pass: &StatePass,
        passes: &Passes,
        counts: Counts,
        take: &mut Take,
    ) -> Result<()> {
        let Some(deepest) = self.deepest() else { return Ok(()) };
        let fixed = passes.fixed(&self.problem, &at_shape(&pass.below), &counts);
        let descent = Descent::new(&fixed, &pass.below, false);
        let own = |risen: &Risen| risen.root().cloned().ok_or_else(|| untold(&format!("the state {state:02}")));
        let beliefs = pass.risen.iter().map(own).collect::<Result<Vec<_>>>()?;
        let cells: Vec<Vec<f64>> =
            beliefs.iter().map(|belief| passes.cells_of(&self.problem, belief, &descent.mean(belief))).collect();
        let children: Vec<Child> = (beliefs.iter().zip(&cells).zip(&pass.parts))
            .map(|((belief, cells), units)| Child {
                cells,
                belief,
                free: &units.frees[units.free[0][0] as usize],
                bounds: units.bounds_of(0, 0),
                total: None,
            })
            .collect();
        let shared = passes.share(&self.problem, &counts, &children).map_err(|why| no_counts(&name_of(state), why))?;
        for (at, (units, counts)) in pass.parts.iter().zip(shared).enumerate() {
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
            whole.down(counts, deepest, &mut |level, unit, counts| {
                if !self.settings.levels.contains(&(level + self.first())) {
                    return Ok(());
                }
                let truth = self.truth_of(units, level, unit);
                let answers = self.answers.of_counts(&self.names.sizes, counts, truth.as_deref());
                take(self.subject(units, level, unit), answers)
            })?;
        }
        Ok(())
    }
}

impl StatePass {
    /// What bounds are about in any of its parts.
    fn bound_groups(&self) -> Option<BoundGroups> {
        self.parts.iter().find_map(|units| units.bound_groups.clone())
    }
}

/// A belief of nothing on the shape of a sum.
fn at_shape(below: &Below) -> Belief {
    Belief { shape: below.shape.clone(), x: Vec::new(), covariance: Default::default() }
}

fn name_of(state: u32) -> String {
    format!("the state {state:02}")
}

/// The bounds of a sum.
fn add_bounds(a: Vec<Bound>, b: Vec<Bound>) -> Vec<Bound> {
    if a.len() != b.len() {
        // One of them has none: nothing but zero bounds the sum.
        return Vec::new();
    }
    let add = |(a, b): (&Bound, &Bound)| {
        let upper = a.1.zip(b.1).map(|(a, b)| a.saturating_add(b));
        (a.0.saturating_add(b.0), upper)
    };
    a.iter().zip(&b).map(add).collect()
}
