//! The answers of `assay tune` as tables.

use dp_assay::{
    numeric::{Enclosure, rational},
    safetab::{
        cell_noise::NoiseKind,
        tuning::{
            Stage,
            answers::{SuppressionEffect, TunedLevel, TuningQuestion},
            epsilons::PersonEpsilons,
            margin_level,
            plan::{PlannedLevel, TuningPlan},
        },
    },
};
use rug::Rational;

use super::super::{output::exact_text, page::Page};
use super::data::stages;

fn percent(value: &Enclosure) -> String {
    let bits = value.lower().prec().max(64);
    format!("{} %", value.mul(&Enclosure::double(100.0, bits)).shown(6))
}

fn short(value: &Rational) -> String {
    Enclosure::rational(value, 64).shown(6)
}

fn dash<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_string(), |value| value.to_string())
}

pub(super) fn level_text(planned: &PlannedLevel, tuned: &TunedLevel, question: &TuningQuestion, page: &mut Page) {
    let level = &planned.level;
    page.text(format!(
        "{} = {}, gamma = {}, stability {}\n\nmargins of error at {} %\n",
        level.noise_kind().budget_name(),
        exact_text(level.budget()),
        rational::display(level.gamma()),
        level.stability(),
        rational::display(&(margin_level() * 100_u32)),
    ));
    let names = ["total only", "stage 1, a total", "stage 2, a cell"];
    let rows = names.iter().zip(stages(tuned)).map(|(name, (_, stage))| {
        vec![
            name.to_string(),
            short(stage.noise.parameter()),
            stage.margin.to_string(),
            percent(&stage.coverage),
            stage.formula.to_string(),
            percent(&stage.formula_coverage),
        ]
    });
    let parameter = match level.noise_kind() {
        NoiseKind::DiscreteGaussian => "sigma2",
        NoiseKind::Geometric => "epsilon",
    };
    page.table(&["", parameter, "margin", "covers", "by formula", "covers"], rows);
    let target = percent(&Enclosure::rational(&question.target_error, 64));
    page.text(format!("\ntables of stage 2; size: the smallest group whose average cell has a margin of {target}\n"));
    let rows = tuned.tables.iter().map(|row| {
        vec![
            format!("{}, {}", row.table.name(), row.table.about()),
            row.table.noisy_cells().to_string(),
            row.cell.to_string(),
            dash(row.sex),
            dash(row.total),
            row.size.to_string(),
        ]
    });
    page.table(&["table", "cells", "margin of a cell", "of a sex", "of the total", "size"], rows);
    if let Some(suppressed) = &tuned.suppressed {
        suppression_text(suppressed, question.digits, page);
    }
    page.text(format!(
        "\nepsilon at delta = {}, {} neighbors\n",
        exact_text(&question.delta),
        question.neighbors.name()
    ));
    epsilons_text(&tuned.epsilons, question.digits, page);
}

fn suppression_text(suppressed: &SuppressionEffect, digits: u32, page: &mut Page) {
    let digits = digits.min(8) as usize;
    page.text(format!(
        "\ntotals up to {} are suppressed, if stage 1 is below the first threshold: then an empty group with probability {}\n\
         ({} if only those below {0} were)\n",
        suppressed.rule.threshold(),
        suppressed.of_zero.shown(digits),
        suppressed.of_zero_below.shown(digits),
    ));
    page.text(format!("groups of {} or more are published with at least 95 %\n", suppressed.published_from));
    let shown = |value: &Option<Enclosure>| value.as_ref().map_or_else(|| "-".to_string(), |value| value.shown(digits));
    let rows = suppressed
        .sizes
        .iter()
        .map(|row| vec![row.size.to_string(), row.probability.shown(digits), shown(&row.bias), shown(&row.formula)]);
    page.table(&["size", "then suppressed with", "bias if published", "by formula (13)"], rows)
}

fn epsilons_text(epsilons: &PersonEpsilons, digits: u32, page: &mut Page) {
    let shown = |value: &Enclosure| value.shown(digits.min(12) as usize);
    // Of somebody in the largest number of groups of every level at once, which nobody may be.
    let at_most = |value: &Enclosure| value.upper_text(digits.min(12) as usize);
    let cell = |value: &Option<Enclosure>| value.as_ref().map_or_else(|| "not computed".to_string(), at_most);
    let mut rows = vec![vec!["at most, all groups in two stages".to_string(), cell(&epsilons.two_stage)]];
    if epsilons.total_only.is_some() || epsilons.largest.is_none() {
        rows.push(vec!["at most, all groups by their total only".to_string(), cell(&epsilons.total_only)]);
        rows.push(vec!["at most, the largest over all mixes".to_string(), cell(&epsilons.largest)]);
    }
    if let Some([published, best]) = &epsilons.zcdp {
        rows.push(vec!["zCDP (Bun-Steinke)".to_string(), shown(published)]);
        rows.push(vec!["zCDP (best order)".to_string(), shown(best)]);
    } else {
        rows.push(vec!["pure, at delta = 0".to_string(), exact_text(&epsilons.budget)]);
    }
    page.table(&["", "epsilon"], rows)
}

pub(super) fn plan_text(
    plan: &TuningPlan,
    rows: &[(&PlannedLevel, &TunedLevel)],
    total: &PersonEpsilons,
    question: &TuningQuestion,
    page: &mut Page,
) {
    page.text(format!(
        "{}\n{} noise, {} neighbors, delta = {}\n\nmargins of error at {} %, by the papers' formula in brackets\n",
        plan.title,
        plan.noise_kind.name(),
        question.neighbors.name(),
        exact_text(&question.delta),
        rational::display(&(margin_level() * 100_u32)),
    ));
    let digits = question.digits.min(8) as usize;
    let epsilon = |epsilons: &PersonEpsilons| {
        epsilons.largest.as_ref().map_or_else(|| "-".to_string(), |value| value.upper_text(digits))
    };
    let zcdp = |epsilons: &PersonEpsilons| {
        epsilons.zcdp.as_ref().map_or_else(|| "-".to_string(), |both| both[0].shown(digits))
    };
    let margin = |stage: &Stage| format!("{} ({})", stage.margin, stage.formula);
    let mut lines: Vec<Vec<String>> = (rows.iter())
        .map(|(planned, tuned)| {
            vec![
                planned.level.name().to_string(),
                exact_text(planned.level.budget()),
                planned.level.stability().to_string(),
                if planned.total_only { margin(&tuned.total_only) } else { "-".to_string() },
                margin(&tuned.stage_1),
                margin(&tuned.stage_2),
                epsilon(&tuned.epsilons),
                zcdp(&tuned.epsilons),
            ]
        })
        .collect();
    let mut last = vec!["all".to_string(), exact_text(&total.budget)];
    last.extend([const { String::new() }; 4]);
    last.extend([epsilon(total), zcdp(total)]);
    lines.push(last);
    let budget = plan.noise_kind.budget_name();
    let heading =
        ["level", budget, "stability", "total only", "stage 1", "stage 2", "epsilon at most", "zCDP (Bun-Steinke)"];
    page.table(&heading, lines);
    sizes_text(rows, question, page);
    if total.largest.is_none() {
        let cell =
            |value: &Option<Enclosure>| value.as_ref().map_or_else(|| "-".to_string(), |value| value.shown(digits));
        page.text(format!(
            "\nThe largest epsilon over {} mixes of groups was not computed; in two stages at most {}, by totals only at most {}.\n",
            total.mixes,
            cell(&total.two_stage),
            cell(&total.total_only),
        ));
    }
}

/// Sizes and suppression of every level of a plan.
fn sizes_text(rows: &[(&PlannedLevel, &TunedLevel)], question: &TuningQuestion, page: &mut Page) {
    let digits = question.digits.min(8) as usize;
    let target = percent(&Enclosure::rational(&question.target_error, 64));
    page.text(format!("\nsmallest groups whose average cell has a margin of {target}, by table; suppression\n"));
    let lines: Vec<Vec<String>> = (rows.iter())
        .map(|(planned, tuned)| {
            let mut line = vec![planned.level.name().to_string()];
            line.extend(tuned.tables.iter().map(|row| row.size.to_string()));
            match &tuned.suppressed {
                Some(suppressed) => line.extend([
                    suppressed.rule.threshold().to_string(),
                    match &suppressed.of_zero_in_two_stages {
                        Some(probability) => probability.shown(digits),
                        None => format!("at most {}", suppressed.of_zero.upper_text(digits)),
                    },
                    suppressed.published_from.to_string(),
                    suppressed.expected.as_ref().map_or_else(|| "-".to_string(), |value| value.shown(6)),
                ]),
                None => line.extend([const { String::new() }; 4].map(|_| "-".to_string())),
            }
            line
        })
        .collect();
    let heading = [
        "level",
        "T01001",
        "T02001",
        "T02002",
        "T02003",
        "suppressed to",
        "P of an empty group",
        "published from",
        "expected suppressed",
    ];
    page.table(&heading, lines)
}
