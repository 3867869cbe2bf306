//! Least squares over a folder of noisy measurements, state by state.
//!
//! The parts of a state are its children, and its exact total binds their sum; the states are the children of the nation.
//! Where the nation takes part, every state is read twice: once upwards, for the nation's estimate, and once more, upwards
//! and downwards, for what is asked of it. So no more than one state is held in memory.

mod roots;
mod settings;
mod subjects;
mod whole;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
    sync::{Arc, Mutex},
};

pub use settings::{AreaSource, Settings, Wanted};
use subjects::leaves;
pub use subjects::tabulation_digits;

use super::{
    answers::{Answer, Answers, Areas, Subject, geoid_of, named_parts, pl94_lines},
    budgets::Budgets,
    check,
    counts::{NationCounts, PartCounts},
    folder::NmfFolder,
    meter::{At, Meter, Phase},
    names::Names,
    truth::Truth,
    units::{Asked, Constraints, Geocodes, PartUnits, RootConstraints, Zeros},
};
use crate::{
    error::{Error, Result},
    files::file_error,
    release::Release,
    topdown::gls::{
        areas::{AreaPart, AreaSums, Touched},
        belief::{Belief, Below, Descent, Measured},
        pass::{Pass, Risen},
        problem::{Free, Problem, Shape, Shapes},
    },
    topdown::whole::family::{Bound, BoundGroups},
};

/// Where answers go, in a fixed order.
pub type Take<'t> = dyn FnMut(Subject, Vec<Answer>) -> Result<()> + 't;

/// A folder that is ready to be estimated from.
#[derive(Debug)]
pub struct Survey {
    folder: NmfFolder,
    /// The queries and levels.
    pub names: Names,
    problem: Problem,
    /// What is answered.
    pub answers: Answers,
    settings: Settings,
    /// What the root's constraints say.
    pub root: RootConstraints,
    /// The number of states whose estimates the nation's counts join; 0 where it takes no part.
    uses_nation: bool,
    /// The parts of each state.
    states: BTreeMap<u32, Vec<String>>,
    shapes: Mutex<Shapes>,
    budgets: Budgets,
    /// The seed of the noise, where whoever knows it can subtract it.
    pub insecure_seed: Option<u64>,
}

/// A state after the pass upwards.
struct StatePass {
    parts: Vec<PartUnits>,
    shapes: Vec<Vec<Vec<Arc<Shape>>>>,
    risen: Vec<Risen>,
    areas: BTreeMap<u32, AreaPart>,
    area_sets: Areas,
    below: Below,
    /// The state's own estimate, its total kept.
    belief: Belief,
    free: Free,
}

/// What the nation's way down needs of a state: its estimate from its own counts, what may be above zero, and bounds.
#[derive(Clone, Debug)]
pub(super) struct StateRoot {
    belief: Belief,
    free: Free,
    bounds: Vec<Bound>,
    bound_groups: Option<BoundGroups>,
}

/// The nation, where it takes part.
pub(super) struct Top {
    nation: Option<Nation>,
}

struct Nation {
    roots: BTreeMap<u32, StateRoot>,
    below: Below,
    /// Its final estimate.
    belief: Belief,
    free: Free,
    whole: Option<whole::WholeNation>,
}

/// What areas with blocks in several states have of those that were read.
#[derive(Default)]
pub(super) struct Across {
    touched: BTreeMap<u32, Touched>,
    /// Where the nation takes no part, states are independent.
    answers: BTreeMap<u32, Vec<Answer>>,
}

impl Survey {
    /// Looks at a folder and its root.
    pub fn open(folder: &Path, release: &Release, settings: Settings) -> Result<Survey> {
        let names = Names::new(release)?;
        let folder = NmfFolder::open(folder, &names.levels)?;
        let root = RootConstraints::read(&folder, &names)?;
        let mut states: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for part in folder.parts() {
            // The digits after the first are the state's.
            let state = part[1..].parse().unwrap_or(0);
            states.entry(state).or_default().push(part);
        }
        if states.is_empty() {
            return Err(Error::out_of_range("the parts of states", "none", "folders such as State=044 in Constraint"));
        }
        let uses_nation = root.is_nation && settings.states.is_none();
        if uses_nation {
            check::check_nation(&folder, &names)?;
        }
        if let Some(chosen) = &settings.states {
            let known: Vec<String> = states.keys().map(|state| format!("{state:02}")).collect();
            if let Some(unknown) = chosen.iter().find(|state| !states.contains_key(state)) {
                let expected = format!("one of those in the folder: {}", known.join(", "));
                return Err(Error::out_of_range("the state", format!("{unknown:02}"), &expected));
            }
            states.retain(|state, _| chosen.contains(state));
        }
        let apart = match settings.constraints {
            Constraints::All => root.zeros.apart.clone(),
            Constraints::None | Constraints::Totals => Zeros::none(names.axes.len()).apart,
        };
        let levels: Vec<Vec<Vec<_>>> = (0..names.levels.len())
            .map(|level| names.queries(level).iter().map(|query| query.parts.clone()).collect())
            .collect();
        let parts = match &settings.wanted {
            Wanted::Queries(queries) => named_parts(names.schema(), queries)?,
            Wanted::Pl94Tables => Vec::new(),
        };
        let problem = match (&settings.whole, &settings.wanted) {
            (None, Wanted::Queries(_)) => Problem::for_answers(&names.sizes, &levels, &parts, &apart)?,
            _ => Problem::new(&names.sizes, &levels, &parts, &apart)?,
        };
        for (level, name) in names.levels.iter().enumerate() {
            problem.check_level(level, name)?;
        }
        let answers = match &settings.wanted {
            Wanted::Queries(queries) => Answers::of_queries(&problem, queries, &parts),
            Wanted::Pl94Tables => Answers::of_lines(&problem, &names.sizes, &pl94_lines(names.schema())?),
        };
        let shapes = Mutex::new(Shapes::default());
        let budgets = Budgets::new(release)?;
        let insecure_seed = folder.insecure_seed()?;
        Ok(Survey {
            folder,
            names,
            problem,
            answers,
            settings,
            root,
            uses_nation,
            states,
            shapes,
            budgets,
            insecure_seed,
        })
    }

    /// Whether the counts of the nation take part.
    pub fn uses_nation(&self) -> bool {
        self.uses_nation
    }

    /// The states that are read.
    pub fn states(&self) -> Vec<u32> {
        self.states.keys().copied().collect()
    }

    /// The level of the parts of states.
    fn first(&self) -> usize {
        usize::from(self.root.is_nation)
    }

    /// The number below a part's own of the deepest level that is answered for; `None` if that is above all of them.
    fn deepest(&self) -> Option<usize> {
        self.settings.levels.iter().filter_map(|level| level.checked_sub(self.first())).max()
    }

    fn shape(&self, free: &Free) -> Arc<Shape> {
        // A poisoned lock means that another thread has panicked; the shapes are still whole.
        let mut shapes = self.shapes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        shapes.of(&self.problem, free)
    }

    /// Estimates everything that is asked for and hands it on; `at` hears how far the work is.
    pub fn run(&self, take: &mut Take, at: &At) -> Result<()> {
        self.check_area_states()?;
        let meter = &Meter::new(at, self.work());
        let mut roots = BTreeMap::new();
        for state in self.states_for_nation() {
            roots.insert(state, self.state_root(state, meter)?);
        }
        let top = self.top(roots)?;
        self.answer_nation(&top, take)?;
        let mut across = Across::default();
        for state in self.states.keys() {
            self.answer_state(*state, &top, &mut across, take, meter)?;
        }
        self.answer_across(&top, across, take)
    }

    /// The states whose estimates the nation's counts join: all or none.
    pub(super) fn states_for_nation(&self) -> Vec<u32> {
        if self.uses_nation { self.states() } else { Vec::new() }
    }

    /// The pass upwards through a state.
    pub(super) fn state_root(&self, state: u32, meter: &Meter) -> Result<StateRoot> {
        Ok(StateRoot::of(&self.rise(state, 0, false, meter)?))
    }

    /// The nation, from all its states; nothing where it takes no part.
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
        if let Some(order) = &self.settings.whole {
            nation.whole = Some(self.whole_nation(order, &nation)?);
        }
        Ok(Top { nation: Some(nation) })
    }

    /// The nation's own counts, where they are asked for.
    pub(super) fn answer_nation(&self, top: &Top, take: &mut Take) -> Result<()> {
        let Some(nation) = top.nation.as_ref().filter(|_| self.settings.levels.contains(&0)) else { return Ok(()) };
        let unit = Subject::Unit { level: 0, code: String::new(), geoid: String::new() };
        let truth = self.settings.truth.as_ref().map(Truth::whole);
        let answers = match &nation.whole {
            Some(whole) => self.answers.of_counts(&self.names.sizes, &whole.counts, truth.as_deref()),
            None => {
                let mut answers = self.answers.of(&self.problem, &nation.belief);
                if let Some(truth) = &truth {
                    self.answers.add_truth(&self.names.sizes, truth, &mut answers);
                }
                answers
            }
        };
        take(unit, answers)
    }

    /// What is asked for in a state. What areas have of it that lie in other states, too, is put into `across`.
    pub(super) fn answer_state(
        &self,
        state: u32,
        top: &Top,
        across: &mut Across,
        take: &mut Take,
        meter: &Meter,
    ) -> Result<()> {
        if let Some(order) = &self.settings.whole {
            return self.whole_state(state, order, top, take, meter);
        }
        let with_areas = !matches!(self.settings.areas, AreaSource::None);
        if self.deepest().is_none() && !with_areas {
            return Ok(());
        }
        let pass = self.rise(state, self.deepest().unwrap_or(0), with_areas, meter)?;
        let own = top.nation.as_ref().and_then(|nation| Some((nation, &nation.roots.get(&state)?.belief)));
        let last = match own {
            Some((nation, belief)) => Descent::new(&nation.belief, &nation.below, false).estimate(Some(belief)),
            None => pass.belief.clone(),
        };
        self.answer_units(state, &pass, &last, take, meter)?;
        for (area, part) in &pass.areas {
            match (self.is_across(*area), own) {
                (false, _) => {
                    let answers = self.area_answers(&pass, *area, &part.estimate(&last));
                    take(Subject::Area(pass.area_sets.names[*area as usize].clone()), answers)?;
                }
                (true, Some((nation, belief))) => {
                    let shape = || Touched::new(nation.below.shape.clone());
                    across.touched.entry(*area).or_insert_with(shape).add(part, belief);
                }
                (true, None) => {
                    let answers = self.area_answers(&pass, *area, &part.estimate(&last));
                    add_answers(across.answers.entry(*area).or_default(), answers);
                }
            }
        }
        Ok(())
    }

    /// Areas with blocks in several states.
    fn answer_across(&self, top: &Top, across: Across, take: &mut Take) -> Result<()> {
        for (area, answers) in across.answers {
            take(Subject::Area(self.area_name(area)), answers)?;
        }
        let Some(nation) = &top.nation else { return Ok(()) };
        for (area, touched) in across.touched {
            let part = touched.join(&nation.below, nation.roots.len(), false);
            let answers = self.given_area_answers(area, &part.estimate(&nation.belief));
            take(Subject::Area(self.area_name(area)), answers)?;
        }
        Ok(())
    }

    /// What its estimates depend on: what was asked, in the caller's words, and the files with their sizes.
    pub(super) fn description(&self, asked: &str) -> Result<String> {
        let mut files = BTreeMap::new();
        for file in self.folder.levels.iter().flat_map(|level| level.queries.iter().chain(&level.constraints)) {
            let name = file.path.strip_prefix(&self.folder.path).unwrap_or(&file.path).display().to_string();
            let bytes = std::fs::metadata(&file.path).map_err(|why| file_error(&file.path, why))?.len();
            files.insert(name, bytes);
        }
        let program = format!("assay {}", env!("CARGO_PKG_VERSION"));
        let about = serde_json::json!({ "program": program, "asked": asked, "states": self.states(), "files": files });
        Ok(about.to_string())
    }

    /// How many bytes are read in all: a state once upwards and once downwards, and once more for the nation.
    pub(super) fn work(&self) -> u64 {
        let parts = self.states.values().flatten();
        let bytes: u64 = parts.map(|part| self.folder.bytes_of_part(part)).sum();
        let (deeper, with_areas) = (self.deepest().is_some(), !matches!(self.settings.areas, AreaSource::None));
        let again = self.uses_nation && (deeper || with_areas);
        bytes * (1 + u64::from(again) + u64::from(deeper))
    }

    /// An area with blocks in several states, if there is any.
    pub fn area_across(&self) -> Option<&str> {
        let AreaSource::Given(areas) = &self.settings.areas else { return None };
        let across = areas.states.iter().position(|states| states.len() > 1)?;
        Some(&areas.names[across])
    }

    fn area_name(&self, area: u32) -> String {
        match &self.settings.areas {
            AreaSource::Given(areas) => areas.names[area as usize].clone(),
            _ => String::new(),
        }
    }

    /// Whether an area has blocks in several states.
    fn is_across(&self, area: u32) -> bool {
        matches!(&self.settings.areas, AreaSource::Given(areas) if areas.states[area as usize].len() > 1)
    }

    /// Refuses areas with blocks in states that are not read.
    pub(super) fn check_area_states(&self) -> Result<()> {
        let is_read = |geoid: u64| self.states.contains_key(&((geoid / 10_u64.pow(13)) as u32));
        match &self.settings.areas {
            AreaSource::Given(areas) => areas.check_found(is_read),
            _ => Ok(()),
        }
    }

    /// The nation's final estimate.
    fn nation(&self, below: &Below) -> Result<Belief> {
        let counts = NationCounts { folder: &self.folder, names: &self.names, budgets: &self.budgets }.read()?;
        let shape = &below.shape;
        let measured = counts.map(|mut unit| {
            let mut scratch = vec![0.0; self.problem.basis.coordinates()];
            let information = Arc::new(self.problem.information(0, &unit.variances, shape));
            let right_side = self.problem.right_side(0, &unit.variances, &mut unit.counts, &mut scratch, shape);
            Measured { information, right_side }
        });
        let belief = below.estimate(false, measured.as_ref()).ok_or_else(|| untold("the nation"))?;
        match self.root.total.filter(|_| self.settings.constraints != Constraints::None) {
            Some(total) => self.with_total(belief, total, "the nation"),
            None => Ok(belief),
        }
    }

    fn with_total(&self, belief: Belief, total: i64, whose: &str) -> Result<Belief> {
        belief.with_total(&self.problem, total as f64).map_err(|has| {
            let expected = format!("{has}, which other exact totals and zeros make it");
            Error::out_of_range(&format!("the exact total of {whose}"), total, &expected)
        })
    }

    /// The pass upwards through the parts of a state, and their sum with its exact total.
    fn rise(&self, state: u32, deepest: usize, with_areas: bool, meter: &Meter) -> Result<StatePass> {
        let zeros = (self.settings.constraints == Constraints::All).then_some(&self.root.zeros);
        let asked = Asked { zeros, bounds: self.settings.whole.is_some() };
        let read = |part: &String| PartUnits::read(&self.folder, &self.names, &self.problem, self.first(), part, asked);
        let parts = self.states[&state].iter().map(read).collect::<Result<Vec<_>>>()?;
        let mut free = self.problem.all_free().none();
        parts.iter().for_each(|part| free.unite(&part.frees[part.free[0][0] as usize]));
        let areas = if with_areas { self.areas_of(&parts) } else { None };
        let mut pass = StatePass {
            shapes: Vec::new(),
            risen: Vec::new(),
            areas: BTreeMap::new(),
            area_sets: Areas::default(),
            below: Below::new(self.shape(&free)),
            belief: Belief { shape: self.shape(&free), x: Vec::new(), covariance: Arc::new(Vec::new()) },
            parts,
            free,
        };
        let mut touched: BTreeMap<u32, Touched> = BTreeMap::new();
        let mut seen: HashSet<u64> = HashSet::new();
        for units in &pass.parts {
            let shapes: Vec<Arc<Shape>> = units.frees.iter().map(|free| self.shape(free)).collect();
            let of_level = |free: &Vec<u32>| free.iter().map(|free| shapes[*free as usize].clone()).collect();
            let shapes: Vec<Vec<Arc<Shape>>> = units.free.iter().map(of_level).collect();
            let mut sums =
                AreaSums::new(areas.as_ref().map_or_else(HashMap::new, |areas| leaves(areas, units, &mut seen)));
            let all = units.codes.iter().map(Geocodes::len).sum();
            let counts = self.counts(units, Some(meter.phase(self.folder.bytes_of_part(&units.part), all)));
            let walked = self.pass(units, &shapes, &counts).up(deepest, &mut sums)?;
            let own = walked.root().ok_or_else(|| untold(&format!("the part {} of a state", units.part)))?;
            pass.below.add(own);
            for (area, part) in sums.of_root() {
                touched.entry(area).or_insert_with(|| Touched::new(pass.below.shape.clone())).add(&part, own);
            }
            pass.risen.push(walked);
            pass.shapes.push(shapes);
        }
        if let (Some(areas), AreaSource::Given(_)) = (&areas, &self.settings.areas) {
            let other = |geoid: u64| geoid / 10_u64.pow(13) != u64::from(state);
            areas.check_found(|geoid| other(geoid) || seen.contains(&geoid))?;
        }
        pass.area_sets = areas.unwrap_or_default();
        let children = pass.parts.len();
        let join = |(area, touched): (u32, Touched)| (area, touched.join(&pass.below, children, false));
        pass.areas = touched.into_iter().map(join).collect();
        let whose = format!("the state {state:02}");
        pass.belief = pass.below.estimate(false, None).ok_or_else(|| untold(&whose))?;
        if self.settings.constraints != Constraints::None {
            let own = if self.root.is_nation { None } else { self.root.total };
            for total in self.settings.totals.get(&state).copied().into_iter().chain(own) {
                pass.belief = self.with_total(pass.belief, total, &whose)?;
            }
        }
        Ok(pass)
    }

    fn counts<'a>(&'a self, units: &'a PartUnits, seen: Option<Phase<'a>>) -> PartCounts<'a> {
        let (folder, names, budgets) = (&self.folder, &self.names, &self.budgets);
        PartCounts { folder, names, units, first: self.first(), budgets, seen }
    }

    fn pass<'a>(
        &'a self,
        units: &'a PartUnits,
        shapes: &'a [Vec<Arc<Shape>>],
        measurements: &'a PartCounts<'a>,
    ) -> Pass<'a> {
        Pass { problem: &self.problem, tree: &units.tree, first: self.first(), shapes, measurements }
    }

    /// The areas that are asked for in a state.
    fn areas_of(&self, parts: &[PartUnits]) -> Option<Areas> {
        match &self.settings.areas {
            AreaSource::None => None,
            AreaSource::Given(areas) => Some(areas.clone()),
            AreaSource::Digits(digits) => {
                let blocks = parts.iter().filter_map(|units| units.codes.last());
                let geoids = blocks.flat_map(|codes| (0..codes.len()).filter_map(|unit| geoid_of(codes.get(unit))));
                Some(Areas::by_digits(digits, geoids))
            }
        }
    }

    /// The units of a state that are asked for, given its final estimate.
    fn answer_units(&self, state: u32, pass: &StatePass, last: &Belief, take: &mut Take, meter: &Meter) -> Result<()> {
        let Some(deepest) = self.deepest() else { return Ok(()) };
        let descent = Descent::new(last, &pass.below, false);
        for (at, units) in pass.parts.iter().enumerate() {
            let risen = &pass.risen[at];
            let own = risen.root().ok_or_else(|| untold(&format!("the state {state:02}")))?;
            let root = descent.estimate(Some(own));
            let leaf_level = units.tree.levels() - 1;
            let counts = self.counts(units, None);
            let all = units.codes[..=deepest.min(leaf_level)].iter().map(Geocodes::len).sum();
            let phase = meter.phase(self.folder.bytes_of_part(&units.part), all);
            self.pass(units, &pass.shapes[at], &counts).down(
                risen,
                root,
                deepest == leaf_level,
                |level, unit, belief| {
                    let wanted = self.settings.levels.contains(&(level + self.first()));
                    Ok(wanted
                        .then(|| (self.subject(units, level, unit), self.unit_answers(units, level, unit, belief))))
                },
                |answered| {
                    phase.see(1);
                    answered.map_or(Ok(()), |(subject, answers)| take(subject, answers))
                },
            )?;
        }
        Ok(())
    }
}

/// Adds the estimates and variances of independent answers.
fn add_answers(to: &mut Vec<Answer>, from: Vec<Answer>) {
    if to.is_empty() {
        *to = from;
        return;
    }
    for (to, from) in to.iter_mut().zip(from) {
        to.estimates.iter_mut().zip(&from.estimates).for_each(|(to, from)| *to += from);
        to.variances.iter_mut().zip(&from.variances).for_each(|(to, from)| *to += from);
        to.truth.iter_mut().zip(&from.truth).for_each(|(to, from)| *to += from);
    }
}

fn untold(what: &str) -> Error {
    Error::out_of_range(what, "without noisy counts", "counts of it or of what is below it")
}
