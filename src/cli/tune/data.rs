//! The answers of `assay tune` as JSON and CSV.

use dp_assay::{
    document::fields::Fields,
    numeric::{Enclosure, rational},
    safetab::{
        cell_noise::NoiseKind,
        tables::PublishedTable,
        tuning::{
            Stage, TableMargins,
            answers::{GroupSuppression, SuppressionEffect, TunedLevel, TuningQuestion},
            epsilons::PersonEpsilons,
            plan::PlannedLevel,
        },
    },
};
use rug::Integer;
use serde_json::{Value, json};

use super::super::output::{ends, exact, json_number};

pub(super) fn budget_key(noise_kind: NoiseKind) -> &'static str {
    match noise_kind {
        NoiseKind::DiscreteGaussian => "rho",
        NoiseKind::Geometric => "pure_epsilon",
    }
}

/// The key before `_total_only`, `_stage1` and `_stage2`.
fn parameter_key(noise_kind: NoiseKind) -> &'static str {
    match noise_kind {
        NoiseKind::DiscreteGaussian => "sigma2",
        NoiseKind::Geometric => "pure_epsilon",
    }
}

pub(super) fn of_question(question: &TuningQuestion) -> Fields {
    Fields::new()
        .with("neighbors", question.neighbors.name())
        .with("delta", exact(&question.delta))
        .with("suppress", exact(&question.suppress))
        .with("target_error", exact(&question.target_error))
}

pub(super) fn of_epsilons(epsilons: &PersonEpsilons) -> Fields {
    // An upper bound: no lower end of the person's own epsilon is known.
    let mut largest = json!(epsilons.largest);
    if let Value::Object(ends) = &mut largest {
        ends.insert("lower".to_string(), Value::Null);
    }
    let zcdp = |which: usize| epsilons.zcdp.as_ref().map(|both| &both[which]);
    Fields::new()
        .with("epsilon", largest)
        .with("epsilon_is", "at most")
        .with("epsilon_two_stage", &epsilons.two_stage)
        .with("epsilon_total_only", &epsilons.total_only)
        .with("mixes", epsilons.mixes)
        .with("zcdp_epsilon", zcdp(0))
        .with("zcdp_epsilon_optimal", zcdp(1))
}

pub(super) fn of_level(planned: &PlannedLevel, tuned: &TunedLevel) -> Fields {
    let level = &planned.level;
    let mut fields = Fields::new()
        .with("name", level.name())
        .with(budget_key(level.noise_kind()), exact(level.budget()))
        .with("gamma", exact(level.gamma()))
        .with("stability", level.stability())
        .with_some("moe_target", planned.moe);
    let key = parameter_key(level.noise_kind());
    for (name, stage) in stages(tuned) {
        fields = fields
            .with(format!("{key}_{name}"), exact(stage.noise.parameter()))
            .with(format!("moe_{name}"), stage.margin)
            .with(format!("coverage_{name}"), &stage.coverage)
            .with(format!("moe_{name}_formula"), stage.formula)
            .with(format!("coverage_{name}_formula"), &stage.formula_coverage);
    }
    let size = |size: &Integer| json_number(&size.to_string());
    let table = |row: &TableMargins| {
        json!({
            "name": row.table.name(),
            "about": row.table.about(),
            "noisy_cells": row.table.noisy_cells(),
            "moe_cell": row.cell,
            "moe_sex": row.sex,
            "moe_total": row.total,
            "size": size(&row.size),
        })
    };
    let reached = |(table, threshold, groups): &(PublishedTable, i64, Integer)| json!({ "name": table.name(), "threshold": threshold, "size": size(groups) });
    fields
        .with("tables", tuned.tables.iter().map(table).collect::<Value>())
        .with_some("thresholds", tuned.reached.as_ref().map(|all| all.iter().map(reached).collect::<Value>()))
        .and(tuned.suppressed.as_ref().map(of_suppression).unwrap_or_default())
        .and(of_epsilons(&tuned.epsilons))
}

fn of_suppression(suppressed: &SuppressionEffect) -> Fields {
    let row = |row: &GroupSuppression| {
        json!({
            "size": row.size,
            "probability": row.probability,
            "probability_in_two_stages": row.in_two_stages,
            "bias": row.bias,
            "bias_formula": row.formula,
        })
    };
    Fields::new()
        .with("suppression_threshold", suppressed.rule.threshold())
        .with("suppression_probability_of_zero", &suppressed.of_zero)
        .with("suppression_probability_of_zero_in_two_stages", &suppressed.of_zero_in_two_stages)
        .with("suppression_probability_of_zero_below", &suppressed.of_zero_below)
        .with("published_from", suppressed.published_from)
        .with("suppression", suppressed.sizes.iter().map(row).collect::<Value>())
        .with_some("expected_suppressed", suppressed.expected.as_ref())
}

pub(super) fn stages(tuned: &TunedLevel) -> [(&'static str, &Stage); 3] {
    [("total_only", &tuned.total_only), ("stage1", &tuned.stage_1), ("stage2", &tuned.stage_2)]
}

/// A record for each level, for CSV.
pub(super) fn records(rows: &[(&PlannedLevel, &TunedLevel)]) -> Vec<Value> {
    /// The tables whose sizes are columns.
    const TABLES: [&str; 4] = ["T01001", "T02001", "T02002", "T02003"];
    let both =
        |value: Option<&Enclosure>| value.map_or_else(Default::default, |value| <[String; 2]>::from(ends(value)));
    let record = |(planned, tuned): &(&PlannedLevel, &TunedLevel)| {
        let (level, suppressed) = (&planned.level, tuned.suppressed.as_ref());
        let mut fields = Fields::new()
            .with("level", level.name())
            .with("mechanism", level.noise_kind().name())
            .with("budget", rational::display(level.budget()))
            .with("gamma", rational::display(level.gamma()))
            .with("stability", level.stability());
        for (name, stage) in stages(tuned) {
            fields = fields
                .with(format!("parameter_{name}"), rational::display(stage.noise.parameter()))
                .with(format!("moe_{name}"), stage.margin)
                .with(format!("moe_{name}_formula"), stage.formula);
        }
        for (name, row) in TABLES.iter().zip(&tuned.tables) {
            fields = fields.with(format!("size_{name}"), row.size.to_string());
        }
        let [zero_lower, zero_upper] = both(suppressed.map(|suppressed| &suppressed.of_zero));
        let [epsilon_lower, epsilon_upper] = both(tuned.epsilons.largest.as_ref());
        fields
            .with("suppression_threshold", suppressed.map(|suppressed| suppressed.rule.threshold()))
            .with("suppression_probability_of_zero_lower", zero_lower)
            .with("suppression_probability_of_zero_upper", zero_upper)
            .with("epsilon_lower", epsilon_lower)
            .with("epsilon_upper", epsilon_upper)
            .object()
    };
    rows.iter().map(record).collect()
}
