//! The tables and figures of Haney and others (2024) that have numbers: suppression, and the budgets of the production run.

use rug::Rational;

use super::{
    item::{ItemRow, Sources, budgets_panel},
    own::{Own, Parameter},
};
use crate::{
    chart::{
        Axis, Drawing, Figure, Ink, Panel, Series, Sheet,
        drawing::{ends, exact},
    },
    error::{Error, Result},
    numeric::{Enclosure, parallel},
    replication::safetab::settings::{Budgets, PrintedSettings},
    safetab::{
        cell_noise::NoiseKind,
        suppression::Suppression,
        tuning::{formulas, least_budget},
    },
};

const PAPER: &str = "safetab-p-2024";
const DIGITS: u32 = 12;
const INKS: [Ink; 5] = crate::chart::ranks::INKS;

pub(super) const ITEMS: &[ItemRow] = &[
    ("figure-1", "how likely a group is suppressed", CURVES, figure_1),
    ("figure-2", "the bias of published counts", CURVES, figure_2),
    ("table-6", "thresholds of suppression, and both readings of the rule", &[Parameter::Rho], table_6),
    ("table-7", "budgets and margins of the production run", &[Parameter::Rho, Parameter::Margin], table_7),
];

const CURVES: &[Parameter] = &[Parameter::Rho, Parameter::Range, Parameter::Points];

/// The rules of Table 6, those with the widest noise first; or the rules of given budgets.
fn rules(sources: &Sources) -> Result<Vec<(Rational, Suppression)>> {
    let settings = PrintedSettings::of_paper(PAPER)?;
    let rule = |rho: &Rational| Ok((rho.clone(), settings.suppression(rho)?));
    let given = &sources.own.rhos;
    if given.len() > INKS.len() {
        let expected = format!("at most {}, each with a line of its own", INKS.len());
        return Err(Error::out_of_range("the number of rho", given.len(), &expected));
    }
    if given.is_empty() { settings.suppressed.iter().map(rule).collect() } else { given.iter().map(rule).collect() }
}

/// The source of the thresholds, for a title.
fn thresholds(sources: &Sources) -> &'static str {
    if sources.own.rhos.is_empty() {
        ", with the thresholds of Table 6"
    } else {
        ", with the thresholds of Table 6's rule"
    }
}

/// The ends of the axis, shares of the threshold: from 0 to 2, or as given.
fn shares(own: &Own) -> Result<(Rational, Rational)> {
    let (from, to, _) = own.ends(&Rational::new(), &Rational::from(2), 2)?;
    if from < 0 {
        return Err(Error::out_of_range("from", exact(&from), "a share of the threshold of 0 or more"));
    }
    Ok((from, to))
}

fn drawn_shares(sources: &Sources) -> Result<(f64, f64)> {
    let (from, to) = shares(&sources.own)?;
    Ok((from.to_f64(), to.to_f64()))
}

/// All sizes between these shares of the threshold, or about the requested number of points.
fn sizes(rule: &Suppression, own: &Own) -> Result<Vec<u64>> {
    const MOST: u64 = 1_000_000;
    let (from, to) = shares(own)?;
    let size = |share: Rational, name: &str| {
        let whole = share.numer().to_u64().filter(|size| *size <= MOST);
        whole.ok_or_else(|| Error::out_of_range(name, exact(&to), "sizes of at most a million people"))
    };
    let threshold = Rational::from(rule.threshold().unsigned_abs());
    let first = size(Rational::from(&from * &threshold).ceil(), "from")?;
    let last = size(Rational::from(&to * &threshold).floor(), "to")?;
    let step = own.points.map_or(1, |points| (last.saturating_sub(first) / u64::from(points - 1)).max(1));
    Ok((first..=last).step_by(step as usize).collect())
}

fn name(rho: &Rational, rule: &Suppression) -> String {
    format!("ρ = {}, T = {}", exact(rho), rule.threshold())
}

/// The probability of suppression over the size, as a share of the threshold.
fn figure_1(sources: &Sources) -> Result<Drawing> {
    let mut sheet = Sheet::of_columns("rho threshold size size_over_threshold probability±");
    let (from, to) = drawn_shares(sources)?;
    let mut series = Vec::new();
    for ((rho, rule), ink) in rules(sources)?.iter().zip(INKS) {
        let values: Vec<(u64, Enclosure)> =
            parallel::try_map(&sizes(rule, &sources.own)?, |&size| Ok((size, rule.probability(size, DIGITS)?)))?;
        let mut points = Vec::new();
        for (size, value) in &values {
            let share = Rational::from((*size, rule.threshold()));
            let head = [exact(rho), rule.threshold().to_string(), size.to_string(), exact(&share)];
            sheet.push([&head[..], &ends(value)].concat());
            points.push((share.to_f64(), value.approximate()));
        }
        series.push(Series::line(&name(rho, rule), ink, points));
    }
    let panel = Panel {
        title: String::new(),
        x: Axis::linear("size of the group over the threshold T", from, to),
        y: Axis::linear("probability of suppression", 0.0, 1.0),
        series,
    };
    let title = format!("How likely a group is suppressed{}", thresholds(sources));
    Ok(Drawing { sheet, figure: Figure { title, columns: 1, panels: vec![panel] } })
}

/// The bias of published counts over the size, exactly and by formula (13).
fn figure_2(sources: &Sources) -> Result<Drawing> {
    let mut sheet = Sheet::of_columns("rho threshold size size_over_threshold bias± formula±");
    let (from, to) = drawn_shares(sources)?;
    let mut panels = Vec::new();
    for (rho, rule) in &rules(sources)? {
        type Row = (u64, Enclosure, Option<Enclosure>);
        let row = |&size: &u64| Ok((size, rule.bias(size, DIGITS)?, rule.bias_by_formula(size, DIGITS)?));
        let values: Vec<Row> = parallel::try_map(&sizes(rule, &sources.own)?, row)?;
        let (mut truth, mut formula) = (Vec::new(), Vec::new());
        let threshold = rule.threshold() as f64;
        for (size, bias, by_formula) in &values {
            let share = Rational::from((*size, rule.threshold()));
            let head = [exact(rho), rule.threshold().to_string(), size.to_string(), exact(&share)];
            let printed = by_formula.as_ref().map_or_else(|| [String::new(), String::new()], ends);
            sheet.push([&head[..], &ends(bias), &printed].concat());
            truth.push((share.to_f64(), bias.approximate() / threshold));
            formula.extend(by_formula.as_ref().map(|value| (share.to_f64(), value.approximate() / threshold)));
        }
        panels.push(Panel {
            title: name(rho, rule),
            x: Axis::linear("size of the group over T", from, to),
            y: Axis::linear("bias over T", 0.0, 1.2),
            series: vec![
                Series::line("by formula (13)", Ink::Vermillion, formula),
                Series::line("exact", Ink::Blue, truth),
            ],
        });
    }
    let title = "The bias of a published count: formula (13) is that of continuous noise, and too low";
    Ok(Drawing { sheet, figure: Figure { title: title.to_string(), columns: 3, panels } })
}

/// Table 6: the threshold, and the probability that an empty group is not suppressed under either reading.
fn table_6(sources: &Sources) -> Result<Drawing> {
    let mut sheet = Sheet::of_columns("rho threshold suppressed_up_to± suppressed_below±");
    let (mut names, mut up_to, mut below) = (Vec::new(), Vec::new(), Vec::new());
    for (rho, rule) in &rules(sources)? {
        let (own, stated) = (rule.probability(0, DIGITS)?, rule.probability_below(0, DIGITS)?);
        sheet.push([&[exact(rho), rule.threshold().to_string()][..], &ends(&own), &ends(&stated)].concat());
        let published = |value: &Enclosure| (1.0 - value.approximate()) * 1e4;
        up_to.push(published(&own));
        below.push(published(&stated));
        names.push(name(rho, rule));
    }
    let most = below.iter().copied().fold(0.0, f64::max);
    let panel = Panel {
        title: String::new(),
        x: Axis::linear("empty groups that are published, of ten thousand", 0.0, most * 1.1),
        y: Axis::names(&names),
        series: vec![
            Series::of_rows("counts up to T suppressed", Ink::Blue, up_to),
            Series::of_rows("counts below T suppressed, as the text says", Ink::Vermillion, below),
        ],
    };
    let title = "Empty groups that are published, by both readings of the rule";
    Ok(Drawing { sheet, figure: Figure { title: title.to_string(), columns: 1, panels: vec![panel] } })
}

/// Table 7: production budgets, or given ones, beside the formula and the least budget with the exact margin; and their
/// margins.
fn table_7(sources: &Sources) -> Result<Drawing> {
    const DECIMALS: u32 = 6;
    let own = &sources.own;
    let settings = PrintedSettings::of_paper(PAPER)?.with_own(&own.margins, &own.rhos)?;
    let of = match (own.rhos.is_empty(), own.margins.is_empty()) {
        (false, _) => "as given",
        (true, false) => "by formula, rounded up",
        (true, true) => "production",
    };
    let mut sheet = Sheet::of_columns(
        "level moe_target rho formula_rho± least_rho margin_total_only margin_total_only_formula margin_stage2 margin_stage2_formula coverage_stage2_formula±",
    );
    let gaussian = NoiseKind::DiscreteGaussian;
    let (mut names, mut printed, mut least) = (Vec::new(), Vec::new(), Vec::new());
    for ((level, _), planned) in settings.levels(gaussian, Budgets::Printed)?.iter().zip(&settings.planned) {
        let moe = planned.moe;
        let formula = formulas::budget(gaussian, moe, &settings.gamma, settings.stability)?;
        let found = least_budget(gaussian, moe, &settings.gamma, settings.stability, DECIMALS)?.value;
        let (total, cell) = (level.total_only()?, level.stage_2()?);
        let margins = [total.margin, total.formula, cell.margin, cell.formula].map(|margin| margin.to_string());
        let head = [level.name().to_string(), moe.to_string(), exact(level.budget())];
        let formula = ends(&formula);
        sheet.push([&head[..], &formula, &[exact(&found)], &margins, &ends(&cell.formula_coverage)].concat());
        names.push(level.name().to_string());
        printed.push(level.budget().to_f64());
        least.push(found.to_f64());
    }
    let words = ["", "ρ of the level", "least with the exact margin aimed at"];
    let panel = budgets_panel(words, &names, (of, printed), least);
    let title = "Budgets of SafeTab-P, and the least with the margins that they are meant for";
    Ok(Drawing { sheet, figure: Figure { title: title.to_string(), columns: 1, panels: vec![panel] } })
}
