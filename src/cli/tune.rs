//! `assay tune`: from a budget to errors and privacy, and back.

use std::{fs::File, io::Read, path::PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use dp_assay::{
    account::profile::check_delta,
    numeric::{Enclosure, rational},
    release::Neighbors,
    safetab::{
        cell::Mechanism,
        tuning::{
            self, Level, Stage, formulas, least_budget, margin_level,
            plan::{Plan, Planned},
            spent::Spent,
            tuned::{Question, Suppressed, Tuned},
        },
    },
};
use rug::Rational;
use serde_json::{Map, Value, json};

use super::{
    Answer, number,
    output::{self, exact, exact_text, json_number},
    subject::Format,
};

/// Margins of error, sizes, suppression and exact privacy of SafeTab's two-stage counts; from a budget, or for a margin
///
/// For one level of population groups, or for a plan of levels. Margins are at 95 % and exact: the least m that covers,
/// beside the formulas of the papers and what these cover.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["rho", "epsilon", "moe", "plan"]))]
pub struct Args {
    /// The rho of the level, with discrete Gaussian noise
    #[arg(long, value_name = "RHO", allow_hyphen_values = true)]
    rho: Option<String>,
    /// The pure epsilon of the level, with two-sided geometric noise
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// The margin of error of a cell: the least budget with it is found (a fraction is cut, as in the papers)
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    moe: Option<String>,
    /// A TOML file of levels: see data/examples/safetab-plan.toml
    #[arg(long, value_name = "FILE", conflicts_with_all = ["gamma", "stability", "race_codes", "suppress", "target_error", "neighbors", "decimals", "mechanism"])]
    plan: Option<PathBuf>,
    /// The noise for --moe
    #[arg(long, value_enum)]
    mechanism: Option<Noise>,
    /// Decimals of the budget for --moe [default: 6]
    #[arg(long, value_name = "D")]
    decimals: Option<u32>,
    /// The share of stage 1 [default: 1/10]
    #[arg(long, value_name = "GAMMA", allow_hyphen_values = true)]
    gamma: Option<String>,
    /// How many groups of the level a person can be in [default: 9]
    #[arg(long, value_name = "S")]
    stability: Option<u32>,
    /// In its place: how many race codes a person has at most, 1 to 8
    #[arg(long, value_name = "N", conflicts_with = "stability")]
    race_codes: Option<u32>,
    /// How likely the total of an empty group is suppressed [default: 0.9999]
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    suppress: Option<String>,
    /// The margin of a cell over the average cell that is aimed at [default: 1/10]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    target_error: Option<String>,
    /// Which data sets are neighbors [default: add-remove]
    #[arg(long, value_enum)]
    neighbors: Option<Relation>,
    /// Sizes of groups of which suppression is told, separated by commas
    #[arg(long, value_name = "N[,N...]", value_delimiter = ',')]
    sizes: Vec<u64>,
    /// The delta of epsilons, 0 < delta < 1
    #[arg(long, value_name = "DELTA", default_value = "1e-10", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    format: Format,
    /// Comma-separated values, a line for each level
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Noise {
    DiscreteGaussian,
    Geometric,
}

#[derive(Clone, Copy, ValueEnum)]
enum Relation {
    AddRemove,
    Bounded,
}

/// What a level was asked for by its margin.
struct Wanted {
    moe: u32,
    least: tuning::LeastBudget,
    formula: Option<Enclosure>,
}

pub fn run(args: &Args) -> Result<Answer> {
    let delta = number("--delta", &args.delta)?;
    check_delta(&delta).context("--delta")?;
    if args.moe.is_none() && (args.decimals.is_some() || args.mechanism.is_some()) {
        bail!("--decimals and --mechanism are for --moe, which is not given");
    }
    match &args.plan {
        Some(path) => plan(args, path, delta),
        None => single(args, delta),
    }
}

fn question(args: &Args, delta: Rational, plan: Option<&Plan>) -> Result<Question> {
    let given = |name: &str, text: &Option<String>, default: (u32, u32)| match text {
        Some(text) => number(name, text),
        None => Ok(Rational::from(default)),
    };
    Ok(Question {
        suppress: match plan {
            Some(plan) => plan.suppress.clone(),
            None => given("--suppress", &args.suppress, (9999, 10_000))?,
        },
        target_error: match plan {
            Some(plan) => plan.target_error.clone(),
            None => given("--target-error", &args.target_error, (1, 10))?,
        },
        neighbors: match (plan, args.neighbors) {
            (Some(plan), _) => plan.neighbors,
            (None, Some(Relation::Bounded)) => Neighbors::Bounded,
            (None, _) => Neighbors::AddRemove,
        },
        delta,
        sizes: args.sizes.clone(),
        digits: args.format.digits,
    })
}

/// One level.
fn single(args: &Args, delta: Rational) -> Result<Answer> {
    let question = question(args, delta, None)?;
    let gamma = number("--gamma", args.gamma.as_deref().unwrap_or("1/10"))?;
    let stability = match (args.stability, args.race_codes) {
        (Some(stability), _) => stability,
        (None, Some(codes)) => tuning::stability(codes).context("--race-codes")?,
        (None, None) => tuning::stability(8)?,
    };
    let (mechanism, budget, wanted) = match (&args.rho, &args.epsilon, &args.moe) {
        (Some(rho), _, _) => (Mechanism::DiscreteGaussian, number("--rho", rho)?, None),
        (_, Some(epsilon), _) => (Mechanism::Geometric, number("--epsilon", epsilon)?, None),
        (_, _, Some(moe)) => {
            let mechanism = match args.mechanism {
                Some(Noise::Geometric) => Mechanism::Geometric,
                _ => Mechanism::DiscreteGaussian,
            };
            let floor = number("--moe", moe)?.floor().into_numer_denom().0;
            let Some(moe) = floor.to_u32() else {
                bail!("--moe {moe}: give a margin of error from 0 to 1e8 people");
            };
            let least = least_budget(mechanism, moe, &gamma, stability, args.decimals.unwrap_or(6))?;
            let formula = if moe > 0 { Some(formulas::budget(mechanism, moe, &gamma, stability)?) } else { None };
            (mechanism, least.value.clone(), Some(Wanted { moe, least, formula }))
        }
        _ => bail!("give --rho, --epsilon, --moe or --plan"),
    };
    let level = Level::new("level", mechanism, budget, gamma, stability)?;
    let planned = Planned {
        level,
        moe: wanted.as_ref().map(|wanted| wanted.moe),
        total_only: true,
        suppressed: true,
        thresholds: None,
        groups: Vec::new(),
    };
    let tuned = planned.tuned(&question)?;
    if args.csv {
        return csv(&[(&planned, &tuned)]);
    }
    if args.format.json {
        let mut object = level_json(&planned, &tuned);
        if let Some(wanted) = &wanted {
            let name = budget_key(mechanism);
            object.insert("moe_target".to_string(), json!(wanted.moe));
            object.insert(format!("{name}_before"), wanted.least.before.as_ref().map_or(Value::Null, exact));
            object.insert(format!("{name}_formula"), output::enclosure(wanted.formula.as_ref()));
        }
        question_json(&mut object, &question);
        output::json(&Value::Object(object))?;
        return Ok(Answer::Done);
    }
    if let Some(wanted) = &wanted {
        let name = mechanism.budget_name();
        output::text(&format!(
            "the least {name} with a margin of {}: {}",
            wanted.moe,
            exact_text(&wanted.least.value)
        ))?;
        if let Some(before) = &wanted.least.before {
            output::text(&format!("; with {} the margin is larger", exact_text(before)))?;
        }
        match &wanted.formula {
            Some(formula) => output::text(&format!("; by formula {}\n", formula.shown(8)))?,
            None => output::text("\n")?,
        }
    }
    level_text(&planned, &tuned, &question)?;
    Ok(Answer::Done)
}

/// The longest plan that is read, in bytes.
const LONGEST_PLAN: u64 = 10_000_000;

/// A plan of levels.
fn plan(args: &Args, path: &PathBuf, delta: Rational) -> Result<Answer> {
    let name = path.display().to_string();
    let mut text = String::new();
    let file = File::open(path).with_context(|| format!("--plan {name}"))?;
    let read = file.take(LONGEST_PLAN + 1).read_to_string(&mut text).with_context(|| format!("--plan {name}"))?;
    if read as u64 > LONGEST_PLAN {
        bail!("--plan {name}: longer than {LONGEST_PLAN} bytes; a plan is a short TOML file");
    }
    let plan = Plan::parse(&text, &name)?;
    let question = question(args, delta, Some(&plan))?;
    let tuned: Vec<Tuned> = (plan.levels.iter())
        .map(|planned| planned.tuned(&question).with_context(|| format!("{name}: level {:?}", planned.level.name())))
        .collect::<Result<_>>()?;
    let total = plan.spent(&question)?;
    let rows: Vec<(&Planned, &Tuned)> = plan.levels.iter().zip(&tuned).collect();
    if args.csv {
        return csv(&rows);
    }
    if args.format.json {
        let mut object = Map::new();
        object.insert("title".to_string(), json!(plan.title));
        object.insert("mechanism".to_string(), json!(plan.mechanism.name()));
        question_json(&mut object, &question);
        let levels = rows.iter().map(|(planned, tuned)| Value::Object(level_json(planned, tuned)));
        object.insert("levels".to_string(), levels.collect());
        let mut all = Map::new();
        all.insert(budget_key(plan.mechanism).to_string(), exact(&total.budget));
        spent_json(&mut all, &total);
        object.insert("total".to_string(), Value::Object(all));
        output::json(&Value::Object(object))?;
        return Ok(Answer::Done);
    }
    plan_text(&plan, &rows, &total, &question)?;
    Ok(Answer::Done)
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

fn budget_key(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::DiscreteGaussian => "rho",
        Mechanism::Geometric => "pure_epsilon",
    }
}

/// What stands before `_total_only`, `_stage1` and `_stage2`.
fn parameter_key(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::DiscreteGaussian => "sigma2",
        Mechanism::Geometric => "pure_epsilon",
    }
}

fn question_json(object: &mut Map<String, Value>, question: &Question) {
    object.insert("neighbors".to_string(), json!(question.neighbors.name()));
    object.insert("delta".to_string(), exact(&question.delta));
    object.insert("suppress".to_string(), exact(&question.suppress));
    object.insert("target_error".to_string(), exact(&question.target_error));
}

fn spent_json(object: &mut Map<String, Value>, spent: &Spent) {
    object.insert("epsilon".to_string(), output::enclosure(spent.largest.as_ref()));
    object.insert("epsilon_two_stage".to_string(), spent.two_stage.to_json());
    object.insert("epsilon_total_only".to_string(), output::enclosure(spent.total_only.as_ref()));
    object.insert("mixes".to_string(), json!(spent.mixes));
    let zcdp = |which: usize| output::enclosure(spent.zcdp.as_ref().map(|both| &both[which]));
    object.insert("zcdp_epsilon".to_string(), zcdp(0));
    object.insert("zcdp_epsilon_optimal".to_string(), zcdp(1));
}

fn level_json(planned: &Planned, tuned: &Tuned) -> Map<String, Value> {
    let level = &planned.level;
    let mut object = Map::new();
    object.insert("name".to_string(), json!(level.name()));
    object.insert(budget_key(level.mechanism()).to_string(), exact(level.budget()));
    object.insert("gamma".to_string(), exact(level.gamma()));
    object.insert("stability".to_string(), json!(level.stability()));
    if let Some(moe) = planned.moe {
        object.insert("moe_target".to_string(), json!(moe));
    }
    let key = parameter_key(level.mechanism());
    for (name, stage) in stages(tuned) {
        object.insert(format!("{key}_{name}"), exact(stage.noise.parameter()));
        object.insert(format!("moe_{name}"), json!(stage.margin));
        object.insert(format!("coverage_{name}"), stage.coverage.to_json());
        object.insert(format!("moe_{name}_formula"), json!(stage.formula));
        object.insert(format!("coverage_{name}_formula"), stage.formula_coverage.to_json());
    }
    let table = |row: &tuning::TableError| {
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
        let row = |(table, threshold, size): &(dp_assay::safetab::postprocess::Table, i64, rug::Integer)| json!({ "name": table.name(), "threshold": threshold, "size": json_number(&size.to_string()) });
        object.insert("thresholds".to_string(), reached.iter().map(row).collect());
    }
    if let Some(suppressed) = &tuned.suppressed {
        object.insert("suppression_threshold".to_string(), json!(suppressed.rule.threshold()));
        object.insert("suppression_probability_of_zero".to_string(), suppressed.of_zero.to_json());
        object.insert("suppression_probability_of_zero_below".to_string(), suppressed.of_zero_below.to_json());
        object.insert("published_from".to_string(), json!(suppressed.published_from));
        let row = |row: &tuning::tuned::GroupSuppression| {
            json!({
                "size": row.size,
                "probability": row.probability.to_json(),
                "bias": output::enclosure(row.bias.as_ref()),
                "bias_formula": output::enclosure(row.formula.as_ref()),
            })
        };
        object.insert("suppression".to_string(), suppressed.sizes.iter().map(row).collect());
        if let Some(expected) = &suppressed.expected {
            object.insert("expected_suppressed".to_string(), expected.to_json());
        }
    }
    spent_json(&mut object, &tuned.spent);
    object
}

fn stages(tuned: &Tuned) -> [(&'static str, &Stage); 3] {
    [("total_only", &tuned.total_only), ("stage1", &tuned.stage_1), ("stage2", &tuned.stage_2)]
}

// ---- CSV ------------------------------------------------------------------------------------------------------------

fn csv(rows: &[(&Planned, &Tuned)]) -> Result<Answer> {
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
    let line = |(planned, tuned): &(&Planned, &Tuned)| {
        let level = &planned.level;
        let mut cells = vec![
            level.name().to_string(),
            level.mechanism().name().to_string(),
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
        match &tuned.spent.largest {
            Some(epsilon) => cells.extend(<[String; 2]>::from(output::ends(epsilon))),
            None => cells.extend([const { String::new() }; 2]),
        }
        cells
    };
    output::csv(&HEADER, rows.iter().map(line))?;
    Ok(Answer::Done)
}

// ---- text -----------------------------------------------------------------------------------------------------------

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

fn level_text(planned: &Planned, tuned: &Tuned, question: &Question) -> Result<()> {
    let level = &planned.level;
    output::text(&format!(
        "{} = {}, gamma = {}, stability {}\n\nmargins of error at {} %\n",
        level.mechanism().budget_name(),
        exact_text(level.budget()),
        rational::display(level.gamma()),
        level.stability(),
        rational::display(&(margin_level() * 100_u32)),
    ))?;
    let names = ["total only", "stage 1, a total", "stage 2, a cell"];
    let rows: Vec<Vec<String>> = (names.iter().zip(stages(tuned)))
        .map(|(name, (_, stage))| {
            vec![
                name.to_string(),
                short(stage.noise.parameter()),
                stage.margin.to_string(),
                percent(&stage.coverage),
                stage.formula.to_string(),
                percent(&stage.formula_coverage),
            ]
        })
        .collect();
    let parameter = match level.mechanism() {
        Mechanism::DiscreteGaussian => "sigma2",
        Mechanism::Geometric => "epsilon",
    };
    output::table(&["", parameter, "margin", "covers", "by formula", "covers"], &rows)?;
    let target = percent(&Enclosure::rational(&question.target_error, 64));
    output::text(&format!("\ntables of stage 2; size: from it on the average cell has a margin of {target}\n"))?;
    let rows: Vec<Vec<String>> = (tuned.tables.iter())
        .map(|row| {
            vec![
                format!("{}, {}", row.table.name(), row.table.about()),
                row.table.noisy_cells().to_string(),
                row.cell.to_string(),
                dash(row.sex),
                dash(row.total),
                row.size.to_string(),
            ]
        })
        .collect();
    output::table(&["table", "cells", "margin of a cell", "of a sex", "of the total", "size"], &rows)?;
    if let Some(suppressed) = &tuned.suppressed {
        suppression_text(suppressed, question.digits)?;
    }
    output::text(&format!(
        "\nepsilon at delta = {}, {} neighbors\n",
        exact_text(&question.delta),
        question.neighbors.name()
    ))?;
    spent_text(&tuned.spent, question.digits)
}

fn suppression_text(suppressed: &Suppressed, digits: u32) -> Result<()> {
    let digits = digits.min(8) as usize;
    output::text(&format!(
        "\ntotals up to {} are suppressed: an empty group with probability {}\n(if only those below {0} were, with {})\n",
        suppressed.rule.threshold(),
        suppressed.of_zero.shown(digits),
        suppressed.of_zero_below.shown(digits),
    ))?;
    output::text(&format!("groups of {} or more are published with 95 %\n", suppressed.published_from))?;
    let shown = |value: &Option<Enclosure>| value.as_ref().map_or_else(|| "-".to_string(), |value| value.shown(digits));
    let rows: Vec<Vec<String>> = (suppressed.sizes.iter())
        .map(|row| vec![row.size.to_string(), row.probability.shown(digits), shown(&row.bias), shown(&row.formula)])
        .collect();
    output::table(&["size", "suppressed with", "bias if published", "by formula (13)"], &rows)
}

fn spent_text(spent: &Spent, digits: u32) -> Result<()> {
    let shown = |value: &Enclosure| value.shown(digits.min(12) as usize);
    let mut rows = vec![vec!["exact, all groups in two stages".to_string(), shown(&spent.two_stage)]];
    if let Some(total_only) = &spent.total_only {
        rows.push(vec!["exact, all groups by their total only".to_string(), shown(total_only)]);
        match &spent.largest {
            Some(largest) => rows.push(vec!["exact, the largest over all mixes".to_string(), shown(largest)]),
            None => rows.push(vec![format!("the largest over {} mixes", spent.mixes), "not computed".to_string()]),
        }
    }
    if let Some([published, best]) = &spent.zcdp {
        rows.push(vec!["zCDP, rho + 2 sqrt(rho ln(1/delta))".to_string(), shown(published)]);
        rows.push(vec!["zCDP, best order".to_string(), shown(best)]);
    } else {
        rows.push(vec!["pure, at delta = 0".to_string(), exact_text(&spent.budget)]);
    }
    output::table(&["", "epsilon"], &rows)
}

fn plan_text(plan: &Plan, rows: &[(&Planned, &Tuned)], total: &Spent, question: &Question) -> Result<()> {
    output::text(&format!(
        "{}\n{} noise, {} neighbors, delta = {}\n\nmargins of error at {} %, by the papers' formula in brackets\n",
        plan.title,
        plan.mechanism.name(),
        question.neighbors.name(),
        exact_text(&question.delta),
        rational::display(&(margin_level() * 100_u32)),
    ))?;
    let digits = question.digits.min(8) as usize;
    let epsilon = |spent: &Spent| spent.largest.as_ref().map_or_else(|| "-".to_string(), |value| value.shown(digits));
    let zcdp = |spent: &Spent| spent.zcdp.as_ref().map_or_else(|| "-".to_string(), |both| both[0].shown(digits));
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
                epsilon(&tuned.spent),
                zcdp(&tuned.spent),
            ]
        })
        .collect();
    let mut last = vec!["all".to_string(), exact_text(&total.budget)];
    last.extend([const { String::new() }; 4]);
    last.extend([epsilon(total), zcdp(total)]);
    lines.push(last);
    let budget = plan.mechanism.budget_name();
    let heading = ["level", budget, "stability", "total only", "stage 1", "stage 2", "exact epsilon", "zCDP epsilon"];
    output::table(&heading, &lines)?;
    let target = percent(&Enclosure::rational(&question.target_error, 64));
    output::text(&format!("\nsizes from which the average cell of a table has a margin of {target}; suppression\n"))?;
    let lines: Vec<Vec<String>> = (rows.iter())
        .map(|(planned, tuned)| {
            let mut line = vec![planned.level.name().to_string()];
            line.extend(tuned.tables.iter().map(|row| row.size.to_string()));
            match &tuned.suppressed {
                Some(suppressed) => line.extend([
                    suppressed.rule.threshold().to_string(),
                    suppressed.of_zero.shown(digits),
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
    output::table(&heading, &lines)?;
    if total.largest.is_none() {
        output::text(&format!(
            "\nThe largest epsilon over {} mixes of groups was not computed; in two stages {}, by totals only {}.\n",
            total.mixes,
            total.two_stage.shown(digits),
            total.total_only.as_ref().map_or_else(|| "-".to_string(), |value| value.shown(digits)),
        ))?;
    }
    Ok(())
}
