//! The page of a rehearsal: it loads nothing and runs nothing. The templates escape all text.

use dp_assay::{
    Result,
    document::{
        Table,
        html::{origin, page as page_of, section, table},
    },
    provenance::Provenance,
    safetab::rehearsal::{Rehearsed, RehearsedLevel},
};
use maud::{Markup, html};

use super::super::report::document::{STYLE, figure, view};
use super::{
    charts,
    level::{self, name, percent},
    words,
};

/// The whole page.
pub fn page(found: &Rehearsed, provenance: &Provenance) -> Result<String> {
    let title = format!("A rehearsal of {}", found.algorithm);
    let header = html! {
        h1 { (title) }
        p.about { (words::confidential(found)) }
    };
    let beside = ("How to read it", &NOTES.map(String::from)[..]);
    let main = html! {
        (view(("found", "Results"), &words::said(found), coverage(found)?, beside, table(&words::levels(found))))
        (sizes(found)?)
        (suppression(found)?)
        (coterminous(found))
        (origin(provenance, false))
    };
    Ok(page_of(&title, STYLE, header, main))
}

const NOTES: [&str; 4] = [
    "Margins are exact: the smallest whole number that covers 95 %. Their coverage is certified.",
    "A margin or a probability is reported as not holding if the observations have a probability below 1 in a billion.",
    "Bias, means and quantiles of the observations are approximations.",
    "Every trial draws all noise anew. The records stay the same.",
];

fn coverage(found: &Rehearsed) -> Result<Markup> {
    let caption = match found.levels.iter().any(|level| !level.suppression.is_empty()) {
        true => {
            "The share of cells within their stated margin. Certified: the coverage of the margin by the law of the noise. \
             Seen: in all trials, before suppression and replacement. Published: suppression keeps small groups only if \
             their noise is large, so fewer of these lie within their margin."
        }
        false => {
            "The share of cells within their stated margin. Certified: the coverage of the margin by the law of the noise. \
             Seen: in all trials, every kind of cell with this stated margin. Published: all measured cells."
        }
    };
    Ok(html! {
        (figure(
            &charts::coverage(found),
            "chart-coverage",
            "How many counts lie within the stated margins of error, by level",
            caption,
        )?)
        (figure(
            &charts::margins(found),
            "chart-margins",
            "The stated margin of error of a cell and the errors seen, by level",
            "The stated margin of a cell, and the size that 95 % of the observed errors did not exceed.",
        )?)
    })
}

fn sizes(found: &Rehearsed) -> Result<Markup> {
    let of_households = found.of_households;
    let caption = "The tables of groups, by their true size, over all types of region. Groups that are counted only by their total are \
                   left out.";
    let inner = html! {
            @if of_households {
                (figure(&charts::workload(found, 0..4), "chart-t3", "Tables of T3 by the size of the group", caption)?)
                (figure(&charts::workload(found, 4..6), "chart-t4", "Tables of T4 by the size of the group", caption)?)
            } @else {
                (figure(&charts::workload(found, 0..found.tables.len()), "chart-workload", "Tables by the size of the group", caption)?)
            }
            (figure(
                &charts::bias(found),
                "chart-bias",
                "The mean error of published cells, by the size of the group",
                "The mean error of published cells. Noise alone has none. Small groups, which are suppressed unless their noise is large, are \
                 published too large, and negative counts that are raised to 0 add to it.",
            )?)
            (table(&of_sizes(found)))
    };
    Ok(section(("sizes", "The tables of groups of each size"), None, inner))
}

/// The published counts, by size.
fn of_sizes(found: &Rehearsed) -> Table {
    let mut rows = Vec::new();
    for level in &found.levels {
        for stratum in &level.strata {
            for (place, table) in stratum.tables.iter().enumerate().filter(|(_, table)| table.groups > 0) {
                let shown = |value: Option<f64>| value.map_or("-".to_string(), |value| format!("{value:.2}"));
                let only = if stratum.detailed_only { ", total only" } else { "" };
                rows.push(vec![
                    format!("{}{only}", name(level)),
                    level::sizes(stratum),
                    found.tables[place].to_string(),
                    shown(percent(table.groups, stratum.groups)) + " %",
                    shown(percent(table.covered, table.errors.count())) + " %",
                    shown(table.errors.mean()),
                    shown(table.errors.quantile_95()),
                    shown(table.errors.root_mean_square()),
                ]);
            }
        }
    }
    Table::numbers(
        "Published measured cells, by level, size and table.",
        &["", "size", "table", "of the groups", "within margin", "bias", "95 % of errors", "root mean square"],
        rows,
    )
}

fn suppression(found: &Rehearsed) -> Result<Markup> {
    let Some(chart) = charts::suppression(found) else { return Ok(html! {}) };
    let drawn = figure(
        &chart,
        "chart-suppression",
        "The share of suppressed groups, by their size",
        "The share of groups of each size that were suppressed (circles), and its probability (line), for the levels with the most groups. Groups \
                 that are counted only by their total are left out.",
    )?;
    Ok(section(("suppression", "Suppression"), None, drawn))
}

fn coterminous(found: &Rehearsed) -> Markup {
    let rows: Vec<Vec<String>> = found.levels.iter().filter_map(|level| of_effect(found, level)).collect();
    if rows.is_empty() {
        return html! {};
    }
    let table_of = Table::numbers(
        "Groups that publish the counts of a coterminous one, in all trials.",
        &["", "pass", "replaced", "would be suppressed", "another total", "error of own", "error of given"],
        rows,
    );
    let inner = html! {
            (table(&table_of))
            p.about {
                "Another total: two different totals of the same people would have been published. Error: the mean absolute error of the total, \
                 of groups that are not suppressed."
            }
    };
    section(("coterminous", "The effect of coterminous regions"), None, inner)
}

fn of_effect(found: &Rehearsed, level: &RehearsedLevel) -> Option<Vec<String>> {
    let effect = level.coterminous.as_ref().filter(|effect| effect.replaced > 0)?;
    let shown = |value: Option<f64>| value.map_or("-".to_string(), |value| format!("{value:.3}"));
    let share = percent(effect.replaced, level.groups * u64::from(found.trials));
    Some(vec![
        name(level),
        level.pass.clone(),
        format!("{} ({} %)", effect.replaced, shown(share)),
        effect.filled.to_string(),
        effect.contradicted.to_string(),
        shown(effect.own.mean_absolute()),
        shown(effect.given.mean_absolute()),
    ])
}
