//! The answers of `assay tune` as JSON and CSV.

use dp_assay::{
    numeric::rational,
    safetab::{
        cell_noise::NoiseKind,
        tables::PublishedTable,
        tuning::{
            self, Stage,
            answers::{TunedLevel, TuningQuestion},
            epsilons::PersonEpsilons,
            plan::PlannedLevel,
        },
    },
};
use serde_json::{Map, Value, json};

use super::super::{
    output::{self, exact, json_number},
    page,
};

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

pub(super) fn question_json(object: &mut Map<String, Value>, question: &TuningQuestion) {
    object.insert("neighbors".to_string(), json!(question.neighbors.name()));
    object.insert("delta".to_string(), exact(&question.delta));
    object.insert("suppress".to_string(), exact(&question.suppress));
    object.insert("target_error".to_string(), exact(&question.target_error));
}

pub(super) fn epsilons_json(object: &mut Map<String, Value>, epsilons: &PersonEpsilons) {
    // An upper bound: no lower end of the person's own epsilon is known.
    let mut largest = output::enclosure(epsilons.largest.as_ref());
    if let Value::Object(ends) = &mut largest {
        ends.insert("lower".to_string(), Value::Null);
    }
    object.insert("epsilon".to_string(), largest);
    object.insert("epsilon_is".to_string(), json!("at most"));
    object.insert("epsilon_two_stage".to_string(), output::enclosure(epsilons.two_stage.as_ref()));
    object.insert("epsilon_total_only".to_string(), output::enclosure(epsilons.total_only.as_ref()));
    object.insert("mixes".to_string(), json!(epsilons.mixes));
    let zcdp = |which: usize| output::enclosure(epsilons.zcdp.as_ref().map(|both| &both[which]));
    object.insert("zcdp_epsilon".to_string(), zcdp(0));
    object.insert("zcdp_epsilon_optimal".to_string(), zcdp(1));
}

pub(super) fn level_json(planned: &PlannedLevel, tuned: &TunedLevel) -> Map<String, Value> {
    let level = &planned.level;
    let mut object = Map::new();
    object.insert("name".to_string(), json!(level.name()));
    object.insert(budget_key(level.noise_kind()).to_string(), exact(level.budget()));
    object.insert("gamma".to_string(), exact(level.gamma()));
    object.insert("stability".to_string(), json!(level.stability()));
    if let Some(moe) = planned.moe {
        object.insert("moe_target".to_string(), json!(moe));
    }
    let key = parameter_key(level.noise_kind());
    for (name, stage) in stages(tuned) {
        object.insert(format!("{key}_{name}"), exact(stage.noise.parameter()));
        object.insert(format!("moe_{name}"), json!(stage.margin));
        object.insert(format!("coverage_{name}"), stage.coverage.to_json());
        object.insert(format!("moe_{name}_formula"), json!(stage.formula));
        object.insert(format!("coverage_{name}_formula"), stage.formula_coverage.to_json());
    }
    let table = |row: &tuning::TableMargins| {
        json!({
            "name": row.table.name(),
            "about": row.table.about(),
            "noisy_cells": row.table.noisy_cells(),
            "moe_cell": row.cell,
            "moe_sex": row.sex,
            "moe_total": row.total,
            "size": json_number(&row.size.to_string()),
        })
    };
    object.insert("tables".to_string(), tuned.tables.iter().map(table).collect());
    if let Some(reached) = &tuned.reached {
        let row = |(table, threshold, size): &(PublishedTable, i64, rug::Integer)| json!({ "name": table.name(), "threshold": threshold, "size": json_number(&size.to_string()) });
        object.insert("thresholds".to_string(), reached.iter().map(row).collect());
    }
    if let Some(suppressed) = &tuned.suppressed {
        object.insert("suppression_threshold".to_string(), json!(suppressed.rule.threshold()));
        object.insert("suppression_probability_of_zero".to_string(), suppressed.of_zero.to_json());
        object.insert(
            "suppression_probability_of_zero_in_two_stages".to_string(),
            output::enclosure(suppressed.of_zero_in_two_stages.as_ref()),
        );
        object.insert("suppression_probability_of_zero_below".to_string(), suppressed.of_zero_below.to_json());
        object.insert("published_from".to_string(), json!(suppressed.published_from));
        let row = |row: &tuning::answers::GroupSuppression| {
            json!({
                "size": row.size,
                "probability": row.probability.to_json(),
                "probability_in_two_stages": output::enclosure(row.in_two_stages.as_ref()),
                "bias": output::enclosure(row.bias.as_ref()),
                "bias_formula": output::enclosure(row.formula.as_ref()),
            })
        };
        object.insert("suppression".to_string(), suppressed.sizes.iter().map(row).collect());
        if let Some(expected) = &suppressed.expected {
            object.insert("expected_suppressed".to_string(), expected.to_json());
        }
    }
    epsilons_json(&mut object, &tuned.epsilons);
    object
}

pub(super) fn stages(tuned: &TunedLevel) -> [(&'static str, &Stage); 3] {
    [("total_only", &tuned.total_only), ("stage1", &tuned.stage_1), ("stage2", &tuned.stage_2)]
}

/// A record for each level, for CSV.
pub(super) fn records(rows: &[(&PlannedLevel, &TunedLevel)]) -> Vec<Value> {
    const HEADER: [&str; 23] = [
        "level",
        "mechanism",
        "budget",
        "gamma",
        "stability",
        "parameter_total_only",
        "moe_total_only",
        "moe_total_only_formula",
        "parameter_stage1",
        "moe_stage1",
        "moe_stage1_formula",
        "parameter_stage2",
        "moe_stage2",
        "moe_stage2_formula",
        "size_T01001",
        "size_T02001",
        "size_T02002",
        "size_T02003",
        "suppression_threshold",
        "suppression_probability_of_zero_lower",
        "suppression_probability_of_zero_upper",
        "epsilon_lower",
        "epsilon_upper",
    ];
    let line = |(planned, tuned): &(&PlannedLevel, &TunedLevel)| {
        let level = &planned.level;
        let mut cells = vec![
            level.name().to_string(),
            level.noise_kind().name().to_string(),
            rational::display(level.budget()),
            rational::display(level.gamma()),
            level.stability().to_string(),
        ];
        for (_, stage) in stages(tuned) {
            cells.push(rational::display(stage.noise.parameter()));
            cells.push(stage.margin.to_string());
            cells.push(stage.formula.to_string());
        }
        cells.extend(tuned.tables.iter().map(|row| row.size.to_string()));
        match &tuned.suppressed {
            Some(suppressed) => {
                cells.push(suppressed.rule.threshold().to_string());
                cells.extend(<[String; 2]>::from(output::ends(&suppressed.of_zero)));
            }
            None => cells.extend([const { String::new() }; 3]),
        }
        match &tuned.epsilons.largest {
            Some(epsilon) => cells.extend(<[String; 2]>::from(output::ends(epsilon))),
            None => cells.extend([const { String::new() }; 2]),
        }
        cells
    };
    rows.iter().map(|row| page::words(&HEADER, &line(row))).collect()
}
