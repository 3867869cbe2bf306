//! Least squares over a folder of noisy measurements, state by state.
//!
//! The parts of a state are its children, and its exact total binds their sum; the states are the children of the
//! nation. If the nation's counts are used, every state is read twice: once upwards, for the nation's estimate, and
//! once upwards and downwards, for its answers. So at most one state is held in memory.

mod across;
mod blocks;
mod covariances;
mod exact;
mod fitted;
mod joined;
mod opened;
mod posed;
mod roots;
mod settings;
mod state;
mod subjects;
mod unbiased;
mod whole;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, OnceLock},
};

pub(super) use across::Across;
pub use covariances::{CountName, Covariances};
pub(super) use opened::Top;
use opened::{Absent, Nation, Seen, StateRoot, without_counts};
pub use opened::{Survey, Take};
use posed::Posed;
pub use settings::{AreaSource, Settings, Wanted};
pub use subjects::{tabulated_digits, tabulation_level};

use super::{
    answers::Subject,
    budgets::Budgets,
    check,
    complete::{Missing, is_state, state_of},
    counts::NationCounts,
    fit::FitPlan,
    folder::NmfFolder,
    meter::{At, Meter},
    names::{Names, Which, two_histograms},
    totals,
    truth::Truth,
    units::{Constraints, RootConstraints},
};
use crate::{
    error::{Error, Result, unknown},
    io::files::file_error,
    release::Release,
    topdown::gls::{
        belief::{Belief, Below, Measured},
        problem::{Free, Shape, Shapes},
    },
};

/// The part of a state inside American Indian, Alaska Native and Native Hawaiian areas.
pub(in crate::topdown) const AIAN: &str = "AIAN";
/// The part of a state outside these areas.
pub(in crate::topdown) const NOT_AIAN: &str = "non-AIAN";

/// The parts of each state in a folder; an error where there are none.
fn parts_of_states(folder: &NmfFolder) -> Result<BTreeMap<u32, Vec<String>>> {
    let mut states: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for part in folder.parts() {
        states.entry(state_of(&part)).or_default().push(part);
    }
    if states.is_empty() {
        return Err(Error::missing("the folder has no parts of states: folders such as State=044 in Constraint"));
    }
    Ok(states)
}

/// Keeps those of the true counts that belong to the histogram of an estimation.
fn keep_truth_of_histogram(settings: &mut Settings, names: &Names, release: &Release) {
    if let (Some(truth), Some(schema)) = (settings.truth.take(), &release.schema) {
        let cells = if names.is_beside() { schema.cells()..schema.all_cells() } else { 0..schema.cells() };
        settings.truth = Some(truth.within(cells));
    }
}

/// The exact totals of states in the files, which are added to those of the settings; none where constraints are not used.
fn add_totals_of_files(
    settings: &mut Settings,
    folder: &NmfFolder,
    (names, first): (&Names, usize),
    parts: &BTreeMap<u32, Vec<String>>,
) -> Result<BTreeMap<u32, i64>> {
    if settings.constraints == Constraints::None {
        return Ok(BTreeMap::new());
    }
    let of_files = totals::of_files(folder, names, first, parts)?;
    settings.totals = totals::joined(std::mem::take(&mut settings.totals), &of_files)?;
    Ok(of_files)
}

/// The number of levels whose shares the nation carries; 0 if it has no counts.
fn carried_by_nation(folder: &NmfFolder, names: &Names, budgets: &Budgets) -> Result<u8> {
    let counts = NationCounts { folder, names, budgets }.read()?;
    // The number of levels fits in a byte.
    Ok(counts.map_or(0, |(_, carried)| carried as u8))
}

impl Survey {
    /// Opens a folder and reads its root.
    pub fn open(folder: &Path, release: &Release, mut settings: Settings) -> Result<Survey> {
        let mut names = Names::of_release(release, histogram_of(release, &settings.wanted)?)?;
        let folder = NmfFolder::open_from_root(folder, &names.levels)?;
        let missing = names.levels[folder.levels.len()..].to_vec();
        let mut missing_parts = Missing::of_folder(&folder, release)?;
        names.keep_levels(folder.levels.len());
        check_there(&names.levels, &missing, &settings)?;
        let root = RootConstraints::read(&folder, &names)?;
        check_two_histograms(&names, &root, &settings)?;
        keep_truth_of_histogram(&mut settings, &names, release);
        let known = parts_of_states(&folder)?;
        let mut states = known.clone();
        let unkept_totals = choose_states(&mut states, &folder, &mut settings, &missing_parts)?;
        let mut totals_of_files = add_totals_of_files(&mut settings, &folder, (&names, root.first), &known)?;
        totals_of_files.retain(|state, _| states.contains_key(state));
        // The counts of a nation with missing parts include others.
        let uses_nation = root.is_nation && settings.states.is_none() && missing_parts.is_complete();
        if uses_nation {
            check::check_nation(&folder, &names)?;
        }
        check_nation_alone(&names, &root, uses_nation, &settings, &missing_parts)?;
        missing_parts.keep(|state| states.contains_key(&state));
        let Posed { whole, problem, answers } = Posed::new(&names, &settings, &root)?;
        let shapes = Mutex::new(Shapes::default());
        let budgets = Budgets::new(release, &names)?;
        let insecure_seed = folder.declared()?.insecure_seed;
        let prefix = match uses_nation {
            true => vec![carried_by_nation(&folder, &names, &budgets)?],
            // It is only known that no unit below carries the nation's share.
            false => vec![1; root.first],
        };
        let fit_plan = FitPlan::new(&names);
        let mut survey = Survey {
            folder,
            names,
            problem,
            whole,
            answers,
            settings,
            root,
            uses_nation,
            states,
            shapes,
            budgets,
            insecure_seed,
            totals_of_files,
            missing,
            missing_parts,
            all_states: known.into_keys().collect(),
            unkept_totals,
            prefix,
            fit_plan,
            seen: Mutex::default(),
            misfit: OnceLock::new(),
            absent: Absent::default(),
        };
        survey.absent = survey.find_blocks()?;
        survey.check_exact_totals()?;
        Ok(survey)
    }

    /// The part of its state that contains a unit, if the state has two parts, from the unit's code. Empty for the
    /// nation, and for a state with one part.
    pub fn part_of(&self, code: &str) -> &'static str {
        match code.as_bytes() {
            [b'1', _, _, ..] => AIAN,
            [b'0', ..] if code.get(..3).is_some_and(|part| self.missing_parts.is_divided(state_of(part))) => NOT_AIAN,
            _ => "",
        }
    }

    /// The reason why the counts of the nation are not used, if the request did not exclude them and states lie below a
    /// nation.
    pub fn why_no_nation(&self) -> Option<String> {
        if self.uses_nation || self.root.first == 0 || self.settings.states.is_some() {
            return None;
        }
        let nation = &self.names.levels[0];
        let no_files = format!("{nation}.parquet is not in the folder");
        match self.missing_parts.described() {
            Some(parts) if self.missing_parts.nation => Some(format!("{no_files}, and {parts}")),
            Some(parts) => Some(parts),
            None => Some(no_files),
        }
    }

    /// The bound on the probability of the residuals, if counts that do not fit each other are used nevertheless.
    pub fn misfit(&self) -> Option<&String> {
        self.misfit.get()
    }

    /// Whether the counts of the nation are used.
    pub fn uses_nation(&self) -> bool {
        self.uses_nation
    }

    /// The number of cells of integer counts, if they are not those of the histogram.
    pub fn marginal_cells(&self) -> Option<usize> {
        self.whole.as_ref().and_then(|whole| whole.marginal(&self.names.sizes))
    }

    /// The states that are read.
    pub fn states(&self) -> Vec<u32> {
        self.states.keys().copied().collect()
    }

    /// The level of the parts of states.
    fn first(&self) -> usize {
        self.root.first
    }

    /// The deepest requested level, counted from a part's own level; `None` if it is above all of a part's levels.
    fn deepest(&self) -> Option<usize> {
        self.settings.levels.iter().filter_map(|level| level.checked_sub(self.first())).max()
    }

    fn shape(&self, free: &Free) -> Arc<Shape> {
        // A poisoned lock means that another thread has panicked; the shapes are still consistent.
        let mut shapes = self.shapes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        shapes.shape(&self.problem, free)
    }

    /// Estimates all requested answers and passes them on; `at` receives the progress.
    pub fn run(&self, take: &mut Take, at: &At) -> Result<()> {
        if let Some(areas) = self.areas_with_totals() {
            return self.answer_with_totals(areas, take, at);
        }
        let meter = &Meter::new(at, self.work());
        let mut roots = BTreeMap::new();
        for state in self.states_for_nation() {
            roots.insert(state, self.state_root(state, meter)?);
        }
        let top = self.top(roots)?;
        if self.uses_nation {
            // All counts have been read: refuse a misfit before any answer.
            self.judge()?;
        }
        self.answer_nation(&top, take)?;
        let mut across = Across::default();
        for state in self.states.keys() {
            self.answer_state(*state, &top, &mut across, take, meter)?;
        }
        if !self.uses_nation {
            self.judge()?;
        }
        self.answer_across(&top, across, take)?;
        self.answer_empty(take)
    }

    /// The states whose estimates the nation's counts combine: all or none.
    pub(super) fn states_for_nation(&self) -> Vec<u32> {
        if self.uses_nation { self.states() } else { Vec::new() }
    }

    /// The pass upwards through a state.
    pub(super) fn state_root(&self, state: u32, meter: &Meter) -> Result<StateRoot> {
        Ok(StateRoot::of_pass(&self.rise(state, 0, false, meter)?))
    }

    /// The nation, from all its states; empty if its counts are not used.
    pub(super) fn top(&self, roots: BTreeMap<u32, StateRoot>) -> Result<Top> {
        if !self.uses_nation {
            return Ok(Top { nation: None });
        }
        let mut free = self.problem.all_free().none();
        roots.values().for_each(|root| free.unite(&root.free));
        let mut below = Below::new(self.shape(&free));
        roots.values().for_each(|root| below.add(&root.belief));
        let belief = self.nation(&below)?;
        let mut nation = Nation { roots, below, belief, free, whole: None };
        if let Some(whole) = &self.whole {
            nation.whole = Some(self.whole_nation(whole, &nation)?);
        }
        Ok(Top { nation: Some(nation) })
    }

    /// The answers for the nation itself, if requested.
    pub(super) fn answer_nation(&self, top: &Top, take: &mut Take) -> Result<()> {
        let Some(nation) = top.nation.as_ref().filter(|_| self.settings.levels.contains(&0)) else { return Ok(()) };
        let unit = Subject::Unit { level: 0, code: String::new(), geoid: String::new() };
        let truth = self.settings.truth.as_ref().map(Truth::whole);
        let answers = match &nation.whole {
            Some(whole) => {
                let mut answers = self.answers.of_counts(&self.names.sizes, &whole.counts(), truth.as_deref());
                let variances = self.answers.class_variances(&self.problem, &nation.belief);
                self.answers.add_unbiased(&variances, &mut answers);
                answers
            }
            None => {
                let mut answers = self.answers.answers(&self.problem, &nation.belief);
                if let Some(truth) = &truth {
                    self.answers.add_truth(&self.names.sizes, truth, &mut answers);
                }
                answers
            }
        };
        take(unit, answers)
    }

    /// The files of noisy counts and constraints, by their places in the folder, with their sizes.
    pub(super) fn sizes(&self) -> Result<BTreeMap<String, u64>> {
        let mut files = BTreeMap::new();
        for file in self.folder.levels.iter().flat_map(|level| level.queries.iter().chain(&level.constraints)) {
            let name = file.path.strip_prefix(&self.folder.path).unwrap_or(&file.path).display().to_string();
            let bytes = std::fs::metadata(&file.path).map_err(|why| file_error(&file.path, why))?.len();
            files.insert(name, bytes);
        }
        Ok(files)
    }

    /// The number of bytes read in all: a state once upwards and once downwards, and once more for the nation.
    pub(super) fn work(&self) -> u64 {
        let parts = self.states.values().flatten();
        let bytes: u64 = parts.map(|part| self.folder.bytes_of_part(part)).sum();
        let (deeper, with_areas) = (self.deepest().is_some(), !matches!(self.settings.areas, AreaSource::None));
        let again = self.uses_nation && (deeper || with_areas);
        bytes * (1 + u64::from(again) + u64::from(deeper))
    }

    /// The nation's final estimate.
    fn nation(&self, below: &Below) -> Result<Belief> {
        let counts = NationCounts { folder: &self.folder, names: &self.names, budgets: &self.budgets }.read()?;
        let shape = &below.shape;
        let measured = counts.map(|(mut unit, _)| {
            let mut scratch = vec![0.0; self.problem.basis.coordinates()];
            let information = Arc::new(self.problem.information(0, &unit.variances, shape));
            let right_side = self.problem.right_side(0, &unit.variances, &mut unit.counts, &mut scratch, shape);
            Measured { information, right_side }
        });
        let belief = below.estimate(false, measured.as_ref()).ok_or_else(|| without_counts("the nation"))?;
        match self.root.total.filter(|_| self.settings.constraints != Constraints::None) {
            Some(total) => self.with_total(belief, total, "the nation"),
            None => Ok(belief),
        }
    }

    fn with_total(&self, belief: Belief, total: i64, whose: &str) -> Result<Belief> {
        belief.with_total(&self.problem, total as f64).map_err(|has| {
            let why = "by other exact totals and zeros: they contradict each other";
            Error::conflict(format!("the exact total of {whose} is given as {total}, and is {has:.3} {why}"))
        })
    }
}

/// Selects the requested states; refuses states that are not in the folder, and those with a missing part. Exact totals
/// of states with a missing part are removed, and returned.
fn choose_states(
    states: &mut BTreeMap<u32, Vec<String>>,
    folder: &NmfFolder,
    settings: &mut Settings,
    missing: &Missing,
) -> Result<Vec<u32>> {
    let known: Vec<String> = states.keys().map(|state| format!("{state:02}")).collect();
    if let Some(chosen) = &settings.states {
        if let Some(other) = chosen.iter().find(|state| !states.contains_key(state)) {
            let has = if is_state(*other) { "the folder has" } else { "no state has this code, and the folder has" };
            let why = unknown("state", &format!("{other:02}"), has, known.iter().map(String::as_str));
            return Err(file_error(&folder.path, why));
        }
        states.retain(|state, _| chosen.contains(state));
    }
    let read: Vec<u32> = states.keys().copied().collect();
    let halves: Vec<String> = missing.halves_of(&read).map(|part| format!("State={part}")).collect();
    if !halves.is_empty() && !settings.incomplete {
        let by = missing.declared_by.as_deref().unwrap_or_default();
        let why = format!(
            "{} {} not in the folder: by {by} the state has two parts, one outside of American Indian, Alaska Native and Native \
             Hawaiian areas (State=0..) and one inside (State=1..), and without both every number lacks people{}",
            halves.join(", "),
            if halves.len() == 1 { "is" } else { "are" },
            missing.unless_of_2010()
        );
        return Err(file_error(&folder.path, why));
    }
    let mut unkept: Vec<u32> = missing.halves_of(&read).map(|part| state_of(part)).collect();
    unkept.dedup();
    unkept.retain(|state| settings.totals.remove(state).is_some());
    Ok(unkept)
}

/// Refuses to answer for the nation alone if its counts are not used.
fn check_nation_alone(
    names: &Names,
    root: &RootConstraints,
    uses_nation: bool,
    settings: &Settings,
    missing: &Missing,
) -> Result<()> {
    let alone =
        root.first == 1 && !uses_nation && !settings.levels.is_empty() && settings.levels.iter().all(|own| *own == 0);
    if !alone || !matches!(settings.areas, AreaSource::None) {
        return Ok(());
    }
    let why = missing.described().unwrap_or_else(|| "states are taken by themselves".to_string());
    let level = &names.levels[0];
    Err(Error::unsuitable(format!("the level {level} cannot be estimated alone, as {why}: name levels of states")))
}

/// The histogram of the queries or lines.
fn histogram_of(release: &Release, wanted: &Wanted) -> Result<Which> {
    let queries = match wanted {
        Wanted::Queries(queries) => queries,
        Wanted::Lines { is_beside: true, .. } => return Ok(Which::Beside),
        Wanted::Lines { .. } | Wanted::Pl94Tables => return Ok(Which::First),
    };
    let Some(schema) = &release.schema else { return Ok(Which::First) };
    let (beside, first): (Vec<&String>, Vec<&String>) =
        queries.iter().partition(|name| schema.asks_beside(name).is_some());
    match (&beside[..], &first[..]) {
        ([], _) => Ok(Which::First),
        (_, []) => Ok(Which::Beside),
        ([beside, ..], [first, ..]) => Err(two_histograms("queries", beside, first)),
    }
}

/// Refuses constraints that are not understood if all are to be kept, and exact totals for histograms without them.
fn check_two_histograms(names: &Names, root: &RootConstraints, settings: &Settings) -> Result<()> {
    if settings.constraints == Constraints::All && !root.unread.is_empty() {
        let why = "they join two histograms, or name groups of values that no release file has; keep the state totals alone, or none";
        return Err(Error::unsuitable(format!("the constraints {} cannot be kept: {why}", root.unread.join(", "))));
    }
    if names.are_two() && !names.is_beside() && !settings.totals.is_empty() {
        let why =
            "a home that is vacant in a neighboring data set is no household there, so no total of households is exact";
        return Err(Error::unsuitable(format!("exact totals of states are not taken for this histogram: {why}")));
    }
    Ok(())
}

/// Refuses a request that needs levels that the folder lacks.
fn check_there(there: &[String], missing: &[String], settings: &Settings) -> Result<()> {
    let refuse = |what: &str, level: &str| {
        Err(Error::missing(format!("{what} needs {level}.parquet, and the folder has {}", there.join(", "))))
    };
    if let Some(level) = settings.levels.iter().find_map(|level| missing.get(level.checked_sub(there.len())?)) {
        return refuse(&format!("the level {level}"), level);
    }
    match missing.last() {
        Some(blocks) if !matches!(settings.areas, AreaSource::None) => {
            refuse("an area, which is a set of blocks,", blocks)
        }
        Some(blocks) if settings.truth.is_some() => {
            refuse("a comparison with true counts, which are those of blocks,", blocks)
        }
        _ => Ok(()),
    }
}
