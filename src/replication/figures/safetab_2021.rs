//! The tables of Haney and others (2021), and the coverage of the margins by their formulas.

use crate::account::Rho;
use rug::Rational;

use super::{
    item::{ItemRow, Sources, budgets_panel},
    own::Parameter,
};
use crate::{
    account::conversions,
    chart::{
        Axis, Drawing, Figure, Ink, Panel, Series, Sheet,
        drawing::{ends, exact},
        figure::raised,
    },
    error::{Error, Result},
    numeric::{Enclosure, parallel},
    replication::{
        published,
        safetab::{
            levels::exact_epsilon,
            renyi::{self, Renyi},
            settings::{Budgets, PersonGroups, PrintedSettings},
        },
    },
    safetab::{
        cell_noise::{CellNoise, NoiseKind},
        tuning::{formulas, least_budget, margin_level},
    },
};

const PAPER: &str = "safetab-2021";

pub(super) const ITEMS: &[ItemRow] = &[
    ("table-1", "budgets for margins of error, by formula and exactly", &[Parameter::Margin], table_1),
    (
        "table-2",
        "the privacy of both mechanisms by each analysis, and exactly",
        &[Parameter::Delta, Parameter::Margin],
        table_2,
    ),
    ("margins", "what the margins of error by formula cover", &[Parameter::Range, Parameter::Points], margins),
];

const DIGITS: u32 = 12;

fn shown(mechanism: NoiseKind) -> &'static str {
    match mechanism {
        NoiseKind::Geometric => "geometric",
        NoiseKind::DiscreteGaussian => "discrete Gaussian",
    }
}

/// Tables 1 and 4: for each level, or for given margins, the budget by the formula, the printed one, and the least
/// budget whose exact margin is the target.
fn table_1(sources: &Sources) -> Result<Drawing> {
    const DECIMALS: u32 = 6;
    let is_own = !sources.own.margins.is_empty();
    let settings = PrintedSettings::of_paper(PAPER)?.with_own(&sources.own.margins, &[])?;
    let rounded = if is_own { "by formula, rounded up" } else { "as printed" };
    let mut sheet =
        Sheet::of_columns("level mechanism moe_target printed_total formula_total± formula_coverage± least_total");
    let names: Vec<&String> = settings.planned.iter().map(|level| &level.name).collect();
    let mut panels = Vec::new();
    for (mechanism, label) in
        [(NoiseKind::Geometric, "ε of the level"), (NoiseKind::DiscreteGaussian, "ρ of the level")]
    {
        let (mut printed, mut least) = (Vec::new(), Vec::new());
        for ((level, _), planned) in settings.levels(mechanism, Budgets::Printed)?.iter().zip(&settings.planned) {
            let moe = planned.moe;
            let formula = formulas::budget(mechanism, moe, &settings.gamma, settings.stability)?;
            let covered = settings.formula_coverage(mechanism, moe)?;
            let found = least_budget(mechanism, moe, &settings.gamma, settings.stability, DECIMALS)?.value;
            printed.push(level.budget().to_f64());
            least.push(found.to_f64());
            let head = [level.name().to_string(), mechanism.name().to_string(), moe.to_string(), exact(level.budget())];
            sheet.push([&head[..], &ends(&formula), &ends(&covered), &[exact(&found)]].concat());
        }
        let words = [shown(mechanism), label, "least with the exact margin"];
        panels.push(budgets_panel(words, &names, (rounded, printed), least));
    }
    let title = format!("Budgets for the margins of error that are aimed at: {rounded}, and the least that have them");
    Ok(Drawing { sheet, figure: Figure { title, columns: 2, panels } })
}

/// A row of Table 2: the mechanism, a person's groups, the analysis, and its epsilon.
type Analysis = (NoiseKind, &'static str, &'static str, Enclosure);

/// The kinds of groups that contain a person, and the words of the table for them.
const GROUPS: [(PersonGroups, &str); 3] = [
    (PersonGroups::TwoStage, "two stages"),
    (PersonGroups::NationAndState, "totals only: nation, state"),
    (PersonGroups::Any, "totals only: all"),
];

/// Each analysis by its own procedure, and the exact epsilon of the same mechanism.
fn analyses(settings: &PrintedSettings) -> Result<Vec<Analysis>> {
    let mut rows: Vec<Analysis> = Vec::new();
    for (groups, name) in GROUPS {
        for (which, analysis) in [
            (Renyi::Lemma8, "RDP by Lemma 8"),
            (Renyi::Laplace, "RDP of the continuous Laplace"),
            (Renyi::Exact, "RDP, exact divergence"),
        ] {
            rows.push((NoiseKind::Geometric, name, analysis, renyi::of_geometric(settings, which, groups, None)?));
        }
    }
    let (rho, delta) = (settings.total_rho(), &settings.delta);
    let pure = settings.geometric()?.iter().fold(Rational::new(), |sum, (budget, _)| sum + budget);
    let zcdp = conversions::zcdp_epsilon(&Rho::try_from(&rho)?, &delta.try_into()?, DIGITS);
    rows.push((NoiseKind::Geometric, "any", "pure DP", Enclosure::rational(&pure, 100)));
    rows.push((NoiseKind::DiscreteGaussian, "any", "zCDP, analytical", zcdp));
    rows.push((NoiseKind::DiscreteGaussian, "any", "zCDP, best order of the grid", renyi::of_rho(&rho, delta)));
    let each: Vec<(NoiseKind, PersonGroups, &str)> = [NoiseKind::Geometric, NoiseKind::DiscreteGaussian]
        .into_iter()
        .flat_map(|mechanism| GROUPS.map(|(groups, name)| (mechanism, groups, name)))
        .collect();
    rows.extend(parallel::try_map(&each, |&(mechanism, groups, name)| {
        Ok((mechanism, name, "exact", exact_epsilon(settings, mechanism, Budgets::Printed, groups)?))
    })?);
    Ok(rows)
}

/// The printed values of Table 2 by their ids, and the row of each.
const PRINTED: &[(&str, &str)] = &[
    ("table-2-pure", "geometric, any"),
    ("table-2-rdp", "geometric, any"),
    ("table-2-zcdp-analytical", "discrete Gaussian, any"),
    ("table-2-zcdp-experimental", "discrete Gaussian, any"),
];

/// Table 2: the epsilon of both mechanisms by each analysis, and exactly.
fn table_2(sources: &Sources) -> Result<Drawing> {
    let mut settings = PrintedSettings::of_paper(PAPER)?.with_own(&sources.own.margins, &[])?;
    if let [_, second, ..] = sources.own.deltas.as_slice() {
        return Err(Error::conflict(format!("a second delta, {}, is given: the table has one", exact(second))));
    }
    if let Some(delta) = sources.own.deltas.first() {
        settings.delta = Rational::clone(delta);
    }
    let rows = analyses(&settings)?;
    let mut sheet = Sheet::of_columns("mechanism groups analysis epsilon±");
    for (mechanism, groups, analysis, epsilon) in &rows {
        let head = [mechanism.name().to_string(), groups.to_string(), analysis.to_string()];
        sheet.push([&head[..], &ends(epsilon)].concat());
    }
    let mut names: Vec<String> = Vec::new();
    for (mechanism, groups, ..) in &rows {
        let name = format!("{}, {groups}", shown(*mechanism));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let series = |name: &str, ink, of: &[&str]| {
        let points = rows.iter().filter(|row| of.contains(&row.2)).map(|(mechanism, groups, _, epsilon)| {
            let own = format!("{}, {groups}", shown(*mechanism));
            let place = names.iter().position(|name| *name == own).unwrap_or(0);
            (epsilon.approximate(), place as f64)
        });
        Series::dots(name, ink, points.collect())
    };
    let values = rows.iter().map(|row| row.3.approximate());
    let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(least, most), v| (least.min(v), most.max(v)));
    let x = Axis::linear(&format!("ε at δ = {}", raised(&exact(&settings.delta))), least.floor(), most.ceil());
    let is_own = !sources.own.deltas.is_empty() || !sources.own.margins.is_empty();
    let mut printed = Vec::new();
    for (id, row) in if is_own { &[][..] } else { PRINTED } {
        let place = names.iter().position(|name| name == row).unwrap_or(0);
        printed.push((published::printed(PAPER, id)?.to_f64(), place as f64));
    }
    let panel = Panel {
        title: String::new(),
        x,
        y: Axis::names(&names),
        series: vec![
            series("pure DP, zCDP (analytical)", Ink::Black, &["pure DP", "zCDP, analytical"]),
            series("RDP by Lemma 8: no bound", Ink::Vermillion, &["RDP by Lemma 8"]),
            series("RDP, zCDP: best order", Ink::Green, &["RDP, exact divergence", "zCDP, best order of the grid"]),
            series("exact", Ink::Blue, &["exact"]),
            Series::dots("as Table 2 prints it", Ink::Orange, printed),
        ]
        .into_iter()
        .filter(|series| !series.points.is_empty())
        .collect(),
    };
    let budgets = if sources.own.margins.is_empty() { "the printed budgets" } else { "budgets for these margins" };
    let title = format!("The privacy of SafeTab with {budgets}: by each analysis, and exactly");
    Ok(Drawing { sheet, figure: Figure { title, columns: 1, panels: vec![panel] } })
}

/// The coverage of floor(1.96 sigma) and its geometric counterpart, over the scale of the noise.
fn margins(sources: &Sources) -> Result<Drawing> {
    let mut sheet = Sheet::of_columns("mechanism scale formula_margin formula_coverage± exact_margin exact_coverage±");
    let scales = sources.own.grid(&Rational::from((1, 2)), &Rational::from(10), 381)?;
    if let Some(wrong) = scales.first().filter(|scale| **scale <= 0) {
        return Err(Error::out_of_range("from", exact(wrong), "a scale of noise above 0"));
    }
    let end = scales.last().map_or(10.0, Rational::to_f64);
    let mut panels = Vec::new();
    for (mechanism, label) in [
        (NoiseKind::DiscreteGaussian, "σ of the discrete Gaussian"),
        (NoiseKind::Geometric, "b = 1 / ε of the geometric"),
    ] {
        type Row = (i64, Enclosure, i64, Enclosure);
        let rows: Vec<Row> = parallel::try_map(&scales, |scale| {
            let budget = match mechanism {
                NoiseKind::DiscreteGaussian => (scale.clone().square() * 2_u32).recip(),
                NoiseKind::Geometric => scale.clone().recip(),
            };
            let noise = CellNoise::new(mechanism, &budget)?;
            let (formula, margin) = (formulas::margin(&noise)?, noise.margin(1, &margin_level())?);
            let covered = |m| noise.coverage(1, m, DIGITS);
            Ok((formula, covered(formula)?, margin, covered(margin)?))
        })?;
        let (mut by_formula, mut exactly) = (Vec::new(), Vec::new());
        for (scale, (formula, covered, margin, truth)) in scales.iter().zip(&rows) {
            let head = [mechanism.name().to_string(), exact(scale), formula.to_string()];
            sheet.push([&head[..], &ends(covered), &[margin.to_string()], &ends(truth)].concat());
            by_formula.push((scale.to_f64(), covered.approximate() * 100.0));
            exactly.push((scale.to_f64(), truth.approximate() * 100.0));
        }
        let least = by_formula.iter().chain(&exactly).map(|point: &(f64, f64)| point.1).fold(95.0, f64::min);
        panels.push(Panel {
            title: shown(mechanism).to_string(),
            x: Axis::linear(label, 0.0, end),
            y: Axis::linear("coverage (%)", least.floor(), 100.0),
            series: vec![
                Series::line("95 %", Ink::Black, vec![(0.0, 95.0), (end, 95.0)]),
                Series::points("margin by formula", Ink::Vermillion, by_formula),
                Series::points("exact margin", Ink::Blue, exactly),
            ],
        });
    }
    let title = "What the margins of error cover that are meant for 95 %: a dot for each scale of the noise";
    Ok(Drawing { sheet, figure: Figure { title: title.to_string(), columns: 2, panels } })
}
