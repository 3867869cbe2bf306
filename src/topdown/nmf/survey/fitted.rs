//! The fit of a survey: the contribution of each state, the nation compared with all of them, and the decision.

use std::sync::{MutexGuard, PoisonError};

use super::{Seen, Survey};
use crate::{
    error::{Error, Result},
    io::files::file_error,
    topdown::{
        gls::pass::Measurements,
        nmf::{
            areas::Areas,
            budgets::Budgets,
            counts::{NationCounts, Watch},
            fit::{AreaResidual, FitReport, Stand, StateFit, Tally},
            meter::{At, Meter},
            paths::{self, Paths, Short},
            units::{Asked, Constraints, Geocodes, PartUnits},
        },
    },
};

impl Survey {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        // A poisoned lock means that another thread has panicked; its data are still consistent.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the residuals of a state are known.
    pub(super) fn is_fitted(&self, state: u32) -> bool {
        self.seen().fits.contains_key(&state)
    }

    /// Checks the paths of a part, and adds its residuals.
    pub(super) fn take_watch(&self, units: &PartUnits, watch: Watch, fit: &mut StateFit) -> Result<()> {
        let paths = Paths::new(units, &self.prefix, &watch.carried);
        match self.settings.incomplete {
            false => paths::check(&paths, (&self.folder, &self.names, &self.budgets), units)?,
            true => {
                let shorts = paths::shorts(&paths, &self.names, units);
                let state = crate::topdown::nmf::complete::state_of(&units.part);
                let mut seen = self.seen();
                let known = seen.shorts.entry(state).or_default();
                known.retain(|short| short.part != units.part);
                known.extend(shorts);
            }
        }
        if let Some(walk) = watch.walk {
            let (tally, stand) = walk.finish();
            fit.tally.join(&tally);
            fit.parts.push(stand);
        }
        Ok(())
    }

    /// Keeps the residuals of a state, with those of its exact total.
    pub(super) fn keep_fit(&self, state: u32, mut fit: StateFit) {
        let own = if self.root.is_nation { None } else { self.root.total };
        let kept = self.settings.constraints != Constraints::None;
        // A root that is a state has its total in both places: one total is one residual.
        let given = self.settings.totals.get(&state).copied().filter(|_| kept);
        for total in given.into_iter().chain(own.filter(|own| given != Some(*own))) {
            let whole = Stand::sum(fit.parts.iter());
            fit.tally.exact_total(&self.fit_plan, self.first(), &format!("{state:02}"), &whole, total);
        }
        self.put_fit(state, fit);
    }

    /// The actual reason why an estimate failed: missing files, if they are the cause.
    pub(super) fn instead_of(&self, why: Error, units: &PartUnits) -> Error {
        if self.settings.incomplete {
            return why;
        }
        match self.carried_of(units).map(|carried| Paths::new(units, &self.prefix, &carried)) {
            Ok(paths) => paths::check(&paths, (&self.folder, &self.names, &self.budgets), units).err().unwrap_or(why),
            Err(_) => why,
        }
    }

    fn carried_of(&self, units: &PartUnits) -> Result<Vec<Vec<u8>>> {
        let mut counts = self.counts(units, None);
        counts.watch = Some(std::sync::Mutex::new(Watch::new(None, units, self.first())));
        for level in (0..units.codes.len()).rev() {
            counts.read(level, &mut |_| Ok(()))?;
        }
        let watch = counts.watch.map(|watch| watch.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(watch.map_or_else(Vec::new, |watch| watch.carried))
    }

    /// Reads the counts of all states with unknown residuals, for these alone.
    pub fn fit_all(&self, at: &At) -> Result<()> {
        let meter = &Meter::new(at, self.work());
        for (state, parts) in &self.states {
            if self.is_fitted(*state) {
                continue;
            }
            let mut fit = StateFit::default();
            for part in parts {
                let asked = Asked { zeros: None, bounds: false };
                let units = PartUnits::read(&self.folder, &self.names, &self.problem, self.first(), part, asked)?;
                let all = units.codes.iter().map(Geocodes::len).sum();
                let mut counts = self.counts(&units, Some(meter.phase(self.folder.bytes_of_part(part), all)));
                let watch = Watch::new(Some(&self.fit_plan), &units, self.first());
                counts.watch = Some(std::sync::Mutex::new(watch));
                for level in (0..units.codes.len()).rev() {
                    counts.read(level, &mut |_| Ok(()))?;
                }
                if let Some(watch) = counts.watch.take() {
                    let watch = watch.into_inner().unwrap_or_else(PoisonError::into_inner);
                    self.take_watch(&units, watch, &mut fit)?;
                }
            }
            self.keep_fit(*state, fit);
        }
        Ok(())
    }

    /// The residuals of a state, if they are known.
    pub(in crate::topdown::nmf) fn fit_of(&self, state: u32) -> Option<StateFit> {
        self.seen().fits.get(&state).cloned()
    }

    /// Stores the residuals of a state that were saved.
    pub(in crate::topdown::nmf) fn put_fit(&self, state: u32, fit: StateFit) {
        self.seen().fits.insert(state, fit);
    }

    /// The levels without noisy counts of a state although nobody carries their share.
    pub(in crate::topdown::nmf) fn shorts_of(&self, state: u32) -> Vec<Short> {
        self.seen().shorts.get(&state).cloned().unwrap_or_default()
    }

    /// Stores such levels that were saved.
    pub(in crate::topdown::nmf) fn put_shorts(&self, state: u32, shorts: Vec<Short>) {
        self.seen().shorts.insert(state, shorts);
    }

    /// All such levels.
    pub fn shorts(&self) -> Vec<Short> {
        self.seen().shorts.values().flatten().cloned().collect()
    }

    /// The fit of the counts of all states read, and of the nation.
    pub fn fit(&self) -> Result<FitReport> {
        let (mut tally, mut stands) = (Tally::default(), Vec::new());
        for fit in self.seen().fits.values() {
            tally.join(&fit.tally);
            stands.extend(fit.parts.iter().cloned());
        }
        if self.uses_nation {
            let whole = Stand::sum(stands.iter());
            let budgets: &Budgets = &self.budgets;
            if let Some((unit, carried)) =
                (NationCounts { folder: &self.folder, names: &self.names, budgets }).read()?
            {
                tally.unit(&self.fit_plan, 0, "", &unit, budgets.noise(0, carried), &whole);
            }
            if let Some(total) = self.root.total {
                tally.exact_total(&self.fit_plan, 0, "", &whole, total);
            }
        }
        let of_areas = self.seen().areas.clone();
        Ok(FitReport::new(&self.fit_plan, &self.names, &tally).with_areas(&of_areas))
    }

    /// Keeps the residuals of exact totals of areas, and refuses totals that the noisy counts exclude, unless a misfit is
    /// allowed.
    pub(super) fn judge_totals(&self, areas: &Areas, residuals: Vec<AreaResidual>) -> Result<()> {
        let worst = residuals.iter().min_by(|a, b| a.ln_p().total_cmp(&b.ln_p())).cloned();
        self.seen().areas = residuals;
        if self.settings.despite_misfit {
            return self.note_misfit();
        }
        let (fit, Some(worst)) = (self.fit()?, worst) else { return Ok(()) };
        if !fit.is_misfit() {
            return Ok(());
        }
        let (deviation, z) = (worst.variance.sqrt(), worst.residual.abs() / worst.variance.sqrt());
        let why = format!(
            "is {z:.1} standard deviations of {deviation:.4} from the one that the noisy counts give, which is {} it by {:.4}: noise of the \
             release leaves such residuals with a probability below {} (corrected for {} tests)",
            if worst.residual > 0.0 { "above" } else { "below" },
            worst.residual.abs(),
            fit.p_shown(),
            fit.tests,
        );
        Err(areas.refuse_total(worst.area, &why))
    }

    /// Records before anything is written whether the counts fit, if a misfit is allowed; the residuals of all states
    /// must be known.
    pub fn note_misfit(&self) -> Result<()> {
        let fit = self.fit()?;
        if fit.is_misfit() {
            self.misfit.get_or_init(|| fit.p_shown());
        }
        Ok(())
    }

    /// Refuses counts that do not fit each other, unless a misfit is allowed.
    pub(in crate::topdown::nmf) fn judge(&self) -> Result<()> {
        if self.settings.despite_misfit {
            return Ok(());
        }
        let fit = self.fit()?;
        if !fit.is_misfit() {
            return Ok(());
        }
        let why = format!(
            "the noisy counts do not fit each other: noise of the release leaves such residuals with a probability below {} \
             ({}, corrected for {} tests). The worst: {}. A count or a level was changed, files of two vintages are mixed, or a state is \
             missing",
            fit.p_shown(),
            fit.mean_square(),
            fit.tests,
            fit.worst,
        );
        Err(file_error(&self.folder.path, why))
    }
}
