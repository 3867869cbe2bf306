//! A folder that is open for estimation, and what passes through it leave.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock},
};

use super::settings::Settings;
use crate::{
    error::{Error, Result},
    topdown::{
        gls::{
            areas::{AreaPart, Rests},
            basis::Part,
            belief::{Belief, Below},
            pass::Risen,
            problem::{Free, Problem, Shape, Shapes},
        },
        nmf::{
            answers::{Answer, Answers, Areas, Subject},
            budgets::Budgets,
            complete::Missing,
            fit::{AreaResidual, FitPlan, StateFit},
            folder::NmfFolder,
            names::Names,
            paths::Short,
            units::{PartUnits, RootConstraints},
        },
        whole::family::{Bound, BoundGroups, Passes, Settled},
    },
};

/// Receives answers, in a fixed order.
pub type Take<'t> = dyn FnMut(Subject, Vec<Answer>) -> Result<()> + 't;

/// A folder of noisy measurements, ready for estimation.
#[derive(Debug)]
pub struct Survey {
    pub(super) folder: NmfFolder,
    /// The queries and levels.
    pub names: Names,
    pub(super) problem: Problem,
    /// The cells of integer counts, if requested.
    pub(super) whole: Option<WholeCells>,
    /// The answers.
    pub answers: Answers,
    pub(super) settings: Settings,
    /// The root's constraints.
    pub root: RootConstraints,
    /// The number of states whose estimates the nation's counts combine; 0 if these counts are not used.
    pub(super) uses_nation: bool,
    /// The parts of each state.
    pub(super) states: BTreeMap<u32, Vec<String>>,
    pub(super) shapes: Mutex<Shapes>,
    pub(super) budgets: Budgets,
    /// The seed of the noise, if anybody who knows it can subtract the noise.
    pub insecure_seed: Option<u64>,
    /// The exact totals of states in the files, if they are kept.
    pub totals_of_files: BTreeMap<u32, i64>,
    /// The lowest levels of the release, if the folder has no files of them: estimates do not use them.
    pub missing: Vec<String>,
    /// The parts of states that the folder lacks.
    pub missing_parts: Missing,
    /// The states in the folder, including those that are not read.
    pub all_states: Vec<u32>,
    /// Given exact totals of states with a missing part: they do not apply to the parts present, and are not used.
    pub unkept_totals: Vec<u32>,
    /// The number of levels whose shares the levels above the states carry.
    pub(super) prefix: Vec<u8>,
    pub(super) fit_plan: FitPlan,
    /// The data of states seen so far.
    pub(super) seen: Mutex<Seen>,
    /// Upper bound on the probability of the residuals, if counts do not fit each other and estimates are made
    /// nevertheless.
    pub(super) misfit: OnceLock<String>,
    /// The blocks of areas, and of true counts, that the files lack.
    pub absent: Absent,
}

/// The data of states recorded on their way up.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) fits: BTreeMap<u32, StateFit>,
    pub(super) shorts: BTreeMap<u32, Vec<Short>>,
    /// The residuals of exact totals of areas, all at once.
    pub(super) areas: Vec<AreaResidual>,
}

/// The data of a state for the nation's way down: its estimate from its own counts, the cells that may be above zero,
/// and bounds.
#[derive(Clone, Debug)]
pub(in crate::topdown::nmf) struct StateRoot {
    pub(super) belief: Belief,
    pub(super) free: Free,
    pub(super) bounds: Vec<Bound>,
    pub(super) bound_groups: Option<BoundGroups>,
}

/// The nation, if its counts are used.
pub(in crate::topdown::nmf) struct Top {
    pub(super) nation: Option<Nation>,
}

pub(super) struct Nation {
    pub(super) roots: BTreeMap<u32, StateRoot>,
    pub(super) below: Below,
    /// Its final estimate.
    pub(super) belief: Belief,
    pub(super) free: Free,
    pub(super) whole: Option<WholeNation>,
}

pub(super) fn without_counts(what: &str) -> Error {
    Error::missing(format!("{what} has no noisy counts, nor have its parts"))
}

/// A state after the pass upwards.
pub(super) struct StatePass {
    pub(super) parts: Vec<PartUnits>,
    pub(super) shapes: Vec<Vec<Vec<Arc<Shape>>>>,
    pub(super) risen: Vec<Risen>,
    pub(super) areas: BTreeMap<u32, AreaPart>,
    /// The rests of pairs of areas, of which their covariances are made, if these are requested.
    pub(super) rests: Rests,
    pub(super) area_sets: Areas,
    pub(super) below: Below,
    /// The state's own estimate, with its exact total.
    pub(super) belief: Belief,
    pub(super) free: Free,
}

/// The integer counts of the nation and its states.
pub(super) struct WholeNation {
    pub(super) passes: Passes,
    pub(super) own: Settled,
    pub(super) of_state: BTreeMap<u32, Settled>,
}

/// The cells of integer counts, and the order in which queries are settled.
#[derive(Clone, Debug)]
pub(super) struct WholeCells {
    /// The cells, attribute by attribute.
    pub(super) cells: Vec<Part>,
    /// The queries that are settled before the cells.
    pub(super) order: Vec<Vec<Part>>,
}

/// The given blocks that the files lack.
#[derive(Clone, Debug, Default)]
pub struct Absent {
    /// The number of blocks of areas without housing units and group quarters.
    pub empty_blocks: u64,
    /// The areas that have no other blocks.
    pub(super) empty_areas: Vec<u32>,
    /// The message about true counts of blocks that are not in the files.
    pub truth: Option<String>,
}
