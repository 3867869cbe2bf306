//! A state: upwards through its parts, and downwards to the requested answers.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    across::Across,
    opened::{StatePass, Survey, Take, Top, without_counts},
    settings::AreaSource,
    subjects::leaves,
};
use crate::{
    error::Result,
    spine::codes::geoid_of,
    topdown::{
        gls::{
            areas::{AreaSums, Gathered, Pairs, Rests},
            belief::{Belief, Below, Descent},
            pass::{Measurements, Pass},
            problem::Shape,
        },
        nmf::{
            answers::{Areas, Subject},
            counts::{PartCounts, Watch},
            fit::StateFit,
            meter::{Meter, Phase},
            units::{Asked, Constraints, Geocodes, PartUnits},
        },
    },
};

impl Survey {
    /// The requested answers of a state. Its part of areas that also lie in other states is added to `across`.
    pub(in crate::topdown::nmf) fn answer_state(
        &self,
        state: u32,
        top: &Top,
        across: &mut Across,
        take: &mut Take,
        meter: &Meter,
    ) -> Result<()> {
        if let Some(whole) = &self.whole {
            return self.whole_state(state, whole, top, take, meter);
        }
        let with_areas = !matches!(self.settings.areas, AreaSource::None);
        if self.deepest().is_none() && !with_areas {
            return Ok(());
        }
        let pass = self.rise(state, self.deepest().unwrap_or(0), with_areas, meter)?;
        let with_nation = top.nation.as_ref().is_some_and(|nation| nation.roots.contains_key(&state));
        let last = self.last_of(state, &pass.belief, top);
        self.answer_units(state, &pass, &last, take, meter)?;
        for (area, part) in &pass.areas {
            match (self.is_across(*area), with_nation) {
                (false, _) => {
                    let answers = self.area_answers(&pass, *area, &part.estimate(&last));
                    take(Subject::Area(pass.area_sets.names[*area as usize].clone()), answers)?;
                }
                (true, true) => {
                    across.parts.entry(*area).or_default().insert(state, part.clone());
                }
                (true, false) => {
                    let answers = self.area_answers(&pass, *area, &part.estimate(&last));
                    across.answers.entry(*area).or_default().insert(state, answers);
                }
            }
        }
        Ok(())
    }

    /// The pass upwards through the parts of a state, and their sum with its exact total.
    pub(super) fn rise(&self, state: u32, deepest: usize, with_areas: bool, meter: &Meter) -> Result<StatePass> {
        self.rise_with(state, deepest, with_areas, &Pairs::None, meter)
    }

    /// The same, with the covariances of pairs of areas.
    pub(super) fn rise_with(
        &self,
        state: u32,
        deepest: usize,
        with_areas: bool,
        pairs: &Pairs,
        meter: &Meter,
    ) -> Result<StatePass> {
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
            rests: Rests::new(),
            area_sets: Areas::default(),
            below: Below::new(self.shape(&free)),
            belief: Belief { shape: self.shape(&free), x: Vec::new(), covariance: Arc::new(Vec::new()) },
            parts,
            free,
        };
        let mut gathered = Gathered::new(pass.below.shape.clone(), pairs.clone());
        let (mut fit, is_new) = (StateFit::default(), !self.is_fitted(state));
        for units in &pass.parts {
            let shapes = self.shapes_of(units);
            let mut sums = AreaSums::new(areas.as_ref().map_or_else(HashMap::new, |areas| leaves(areas, units)))
                .with_pairs(pairs.clone());
            let all = units.codes.iter().map(Geocodes::len).sum();
            let mut counts = self.counts(units, Some(meter.phase(self.folder.bytes_of_part(&units.part), all)));
            counts.watch = Some(Mutex::new(Watch::new(is_new.then_some(&self.fit_plan), units, self.first())));
            let walked = self.pass(units, &shapes, &counts).up(deepest, &mut sums);
            let walked = walked.map_err(|why| self.instead_of(why, units))?;
            if let Some(watch) = counts.watch.take() {
                self.take_watch(units, watch.into_inner().unwrap_or_else(PoisonError::into_inner), &mut fit)?;
            }
            let own = walked.root().ok_or_else(|| without_counts(&format!("the part {} of a state", units.part)))?;
            pass.below.add(own);
            let (parts, rests) = sums.of_root_with_pairs();
            gathered.add(own, &parts, &rests);
            pass.risen.push(walked);
            pass.shapes.push(shapes);
        }
        if is_new {
            self.keep_fit(state, fit);
        }
        pass.area_sets = areas.unwrap_or_default();
        let children = pass.parts.len();
        (pass.areas, pass.rests) = gathered.join(&pass.below, children);
        let whose = format!("the state {state:02}");
        pass.belief = pass.below.estimate(false, None).ok_or_else(|| without_counts(&whose))?;
        pass.belief = self.with_totals_of(state, pass.belief, &whose)?;
        Ok(pass)
    }

    /// The shapes of the units of a part, level by level.
    fn shapes_of(&self, units: &PartUnits) -> Vec<Vec<Arc<Shape>>> {
        let shapes: Vec<Arc<Shape>> = units.frees.iter().map(|free| self.shape(free)).collect();
        let of_level = |free: &Vec<u32>| free.iter().map(|free| shapes[*free as usize].clone()).collect();
        units.free.iter().map(of_level).collect()
    }

    /// The estimate of a state with its exact totals, if constraints are used: its own, and that of a root below the nation.
    fn with_totals_of(&self, state: u32, mut belief: Belief, whose: &str) -> Result<Belief> {
        if self.settings.constraints != Constraints::None {
            let of_root = if self.root.is_nation { None } else { self.root.total };
            for total in self.settings.totals.get(&state).copied().into_iter().chain(of_root) {
                belief = self.with_total(belief, total, whose)?;
            }
        }
        Ok(belief)
    }

    pub(super) fn counts<'a>(&'a self, units: &'a PartUnits, seen: Option<Phase<'a>>) -> PartCounts<'a> {
        let (folder, names, budgets) = (&self.folder, &self.names, &self.budgets);
        PartCounts { folder, names, units, first: self.first(), budgets, seen, watch: None }
    }

    pub(super) fn pass<'a>(
        &'a self,
        units: &'a PartUnits,
        shapes: &'a [Vec<Arc<Shape>>],
        measurements: &'a dyn Measurements,
    ) -> Pass<'a> {
        Pass { problem: &self.problem, tree: &units.tree, first: self.first(), shapes, measurements }
    }

    /// The requested areas in a state.
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

    /// The requested units of a state, given its final estimate.
    fn answer_units(&self, state: u32, pass: &StatePass, last: &Belief, take: &mut Take, meter: &Meter) -> Result<()> {
        let Some(deepest) = self.deepest() else { return Ok(()) };
        let descent = Descent::new(last, &pass.below, false);
        for (at, units) in pass.parts.iter().enumerate() {
            let risen = &pass.risen[at];
            let own = risen.root().ok_or_else(|| without_counts(&format!("the state {state:02}")))?;
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
                    phase.observe(1);
                    answered.map_or(Ok(()), |(subject, answers)| take(subject, answers))
                },
            )?;
        }
        Ok(())
    }
}
