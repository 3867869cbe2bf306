//! The result of an estimation: the survey with its fit, errors of a rehearsal, and notes.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::notes::notes;
use crate::{
    error::Result,
    io::provenance::Provenance,
    topdown::nmf::{
        areas::{OfAreas, WeightSums},
        codes::{book::code_of, confidence::Confidence},
        compared::{Compared, Kind},
        fit::{FitReport, FitRow},
        medians::Median,
        paths::Short,
        ranks::Rank,
        survey::Survey,
        tables::Form,
        truth::ErrorRow,
    },
};

/// Estimates that were written.
#[derive(Debug)]
pub struct Estimated {
    /// The survey that gave them.
    pub survey: Survey,
    /// The number of rows of the file.
    pub rows: u64,
    /// Whether the noisy counts fit each other.
    pub fit: FitReport,
    /// The errors by level and query, in a rehearsal.
    pub errors: Option<Vec<ErrorRow>>,
    /// About the file of areas.
    pub of_areas: OfAreas,
    /// Sentences on missing files and unused input, each without an end of line.
    pub notes: Vec<String>,
    /// Differences and shares.
    pub compared: Vec<Compared>,
    /// Ranks of areas.
    pub ranks: Vec<Rank>,
    /// Medians of attributes.
    pub medians: Vec<Median>,
    /// Their origin.
    pub origin: Origin,
}

/// The origin of a file of estimates.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The name of the release.
    pub release: String,
    /// The file.
    pub out: PathBuf,
    /// Its form.
    pub form: Form,
    /// The confidence levels of its margins, if it has census variables.
    pub confidence: Vec<Confidence>,
    /// The levels of confidence of what is compared: differences, shares, ranks and medians.
    pub compared_at: Vec<Confidence>,
    /// The program, command line and inputs.
    pub provenance: Provenance,
}

impl Estimated {
    /// The result of a survey; `said` are notes on the keys of files.
    pub(super) fn new(
        survey: Survey,
        rows: u64,
        errors: Option<Vec<ErrorRow>>,
        of_areas: OfAreas,
        said: Vec<String>,
        origin: Origin,
    ) -> Result<Estimated> {
        let (fit, notes) = (survey.fit()?, notes(&survey, &of_areas, &said));
        Ok(Estimated {
            survey,
            rows,
            fit,
            errors,
            of_areas,
            notes,
            compared: Vec::new(),
            ranks: Vec::new(),
            medians: Vec::new(),
            origin,
        })
    }

    /// The two digits of each state that was read.
    pub fn states(&self) -> Vec<String> {
        digits_of(&self.survey.states())
    }

    /// The two digits of each state whose exact total the files have.
    pub fn states_with_totals(&self) -> Vec<String> {
        digits_of(&self.survey.totals_of_files.keys().copied().collect::<Vec<_>>())
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        let survey = &self.survey;
        let short = |short: &Short| json!({ "level": short.level, "part": short.part, "blocks_below": short.units });
        let mut object = json!({
            "release": self.origin.release,
            "states": self.states(),
            "uses_nation": survey.uses_nation(),
            "unused_constraints": survey.root.unused,
            "unread_constraints": survey.root.unread,
            "state_totals_of_files": self.states_with_totals(),
            "missing_levels": survey.missing,
            "missing_states": digits_of(&survey.missing_parts.states),
            "missing_parts": survey.missing_parts.halves,
            "without_noisy_counts": survey.shorts().iter().map(short).collect::<Value>(),
            "empty_blocks": survey.absent.empty_blocks,
            "unassigned_blocks": self.of_areas.unassigned,
            "notes": self.notes,
            "fit": fit_json(&self.fit),
            "rows": self.rows,
            "out": self.origin.out.display().to_string(),
        });
        let area_totals = survey.totals_of_areas();
        if !area_totals.is_empty() {
            object["area_totals"] = json!(area_totals);
        }
        if let Some(WeightSums { below_one, above_one }) = self.of_areas.weights {
            object["weights"] =
                json!({ "blocks_below_one": below_one, "blocks_above_one": above_one, "in_margins": false });
        }
        if !self.origin.confidence.is_empty() {
            object["variables"] = json!(survey.answers.names().into_iter().map(code_of).collect::<Vec<_>>());
            let margin = |own: &Confidence| json!({ "column": own.heading(), "std_devs": own.quantile() });
            object["margins"] = self.origin.confidence.iter().map(margin).collect();
        }
        let confidence = &self.origin.compared_at;
        for (kind, key) in [(Kind::Difference, "differences"), (Kind::Share, "shares")] {
            let own = self.compared.iter().filter(|compared| compared.kind == kind);
            let own: Vec<Value> = own.map(|compared| compared.to_json(confidence)).collect();
            if !own.is_empty() {
                object[key] = json!(own);
            }
        }
        if !self.ranks.is_empty() {
            object["ranks"] = self.ranks.iter().map(|rank| rank.to_json(confidence)).collect();
        }
        if !self.medians.is_empty() {
            object["medians"] = self.medians.iter().map(|median| median.to_json(confidence)).collect();
        }
        if let Some(errors) = &self.errors {
            object["errors"] = errors.iter().map(ErrorRow::to_json).collect();
        }
        if let Some(seed) = survey.insecure_seed {
            object["insecure_seed"] = json!(seed);
        }
        object
    }
}

/// The two digits of each state.
pub fn digits_of(states: &[u32]) -> Vec<String> {
    states.iter().map(|state| format!("{state:02}")).collect()
}

/// The whole fit as JSON.
pub fn fit_json(fit: &FitReport) -> Value {
    let row = |row: &FitRow| {
        let mut object = json!({
            "level": row.level,
            "degrees_of_freedom": row.residuals,
            "chi_square": row.chi_square,
            "p_asymptotic": row.p_asymptotic,
            "ln_p_bound": row.ln_p,
        });
        if !row.query.is_empty() {
            object["query"] = json!(row.query);
        }
        object
    };
    let largest = fit.largest.as_ref().map(|largest| {
        json!({
            "level": largest.level,
            "geocode": largest.unit,
            "query": largest.query,
            "cells": largest.cells,
            "residual": largest.residual,
            "std_dev": largest.std_dev,
            "z": largest.residual / largest.std_dev,
        })
    });
    json!({
        "fits": !fit.is_misfit(),
        "p_bound_corrected": fit.p_bound(),
        "tests": fit.tests,
        "largest": largest,
        "levels": fit.levels.iter().map(row).collect::<Value>(),
        "within_units": fit.within.iter().map(row).collect::<Value>(),
        "rows": fit.rows.iter().map(row).collect::<Value>(),
    })
}
