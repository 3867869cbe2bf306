//! The figures of Kazan & Reiter (2023): their curves by exact sums instead of the paper's samples.

use super::item::{Item, Sources};
use crate::{
    chart::{
        Axis, Drawing, Figure, Ink, Panel, Series, Sheet,
        drawing::{ends, exact},
    },
    error::Result,
    replication::risk::{
        curves::{self, Curve, CurvePanel, log_grid},
        settings::{self, CurveSettings},
    },
};

const PAPER: &str = "kazan-reiter-2023";

const INKS: [Ink; 5] = [Ink::Blue, Ink::Vermillion, Ink::Black, Ink::Green, Ink::Orange];

pub(super) const ITEMS: &[Item] = &[
    item("figure-1", "posterior probability and risk from one noisy count", |_| {
        plain("Posterior probability and risk of one noisy count", curves::figure_1(&settings()?)?, [false, false])
    }),
    item("figure-2", "marginal posterior probability and risk against rho", |_| {
        plain("Posterior probability and risk on average", curves::figure_2(&settings()?, &rhos(61))?, [true, false])
    }),
    item("figure-3", "probability of a correct decision against rho", |_| {
        plain("Probability of a correct decision", curves::figure_3(&settings()?, &rhos(61))?, [true, false])
    }),
    item("figure-4", "decisions with a uniform prior on the count above", |_| {
        facets("Where the adversary decides for the target, uniform prior", curves::figure_4(&settings()?)?)
    }),
    item("figure-5", "probability of a correct decision against the true count above", |_| {
        let columns = curves::figure_5(&settings()?, 30, 6)?;
        plain("Probability of a correct decision with the count above", columns, [false, false])
    }),
    item("figure-6", "probability of a correct decision against the rho of the level above", |_| {
        let columns = curves::figure_6(&settings()?, &rhos(200), 6)?;
        plain("Probability of a correct decision with the count above", columns, [true, false])
    }),
    item("figure-7", "risk against the number of levels at which the target is unique", |_| {
        plain("Posterior probability and risk over several levels", curves::figure_7(&settings()?)?, [false, false])
    }),
    item("figure-8", "variance of the discrete Gaussian against its proxy", |_| {
        plain("Variance of the discrete Gaussian", curves::figure_8(&log_grid(-2.0, 1.0, 61))?, [true, true])
    }),
    item("figure-9", "a sum of discrete Gaussians and the one that approximates it", |_| {
        plain("A sum of discrete Gaussians, and one in its place", curves::figure_9(&settings()?)?, [false, false])
    }),
    item("figure-10", "decisions with uniform and bounded priors on the count above", |_| {
        facets("Where the adversary decides for the target", curves::figure_10(&settings()?)?)
    }),
    item("figure-11", "decisions with certain counts above", |_| {
        facets("Where the adversary decides for the target", curves::figure_11(&settings()?)?)
    }),
    item("figure-12", "posterior probability after post-processing", |_| {
        let columns = curves::figure_12(&settings()?, 100, &rhos(61))?;
        plain("Posterior probability from post-processed counts", columns, [false, false])
    }),
];

const fn item(name: &'static str, about: &'static str, draw: fn(&Sources) -> Result<Drawing>) -> Item {
    Item { paper: PAPER, name, about, draw }
}

fn settings() -> Result<CurveSettings> {
    settings::settings()?.curves()
}

/// The axis of the paper's figures over rho.
fn rhos(points: u32) -> Vec<rug::Rational> {
    log_grid(-3.0, 1.0, points)
}

fn sheet(columns: &[CurvePanel]) -> Sheet {
    let mut sheet = Sheet::new(["panel", "series", "x", "lower", "upper"]);
    for panel in columns {
        for series in &panel.series {
            for (x, y) in &series.points {
                let [lower, upper] = ends(y);
                sheet.push(vec![panel.key.clone(), series.name.clone(), exact(x), lower, upper]);
            }
        }
    }
    sheet
}

/// The points of a curve in doubles, without decisions that are never taken.
fn points(series: &Curve) -> Vec<(f64, f64)> {
    const NEVER: f64 = 1e6;
    let near = |(x, y): &(rug::Rational, crate::numeric::Enclosure)| (x.to_f64(), y.approximate());
    series.points.iter().map(near).filter(|(_, y)| y.abs() < NEVER).collect()
}

/// An axis over all values, wider by a twentieth on a linear one.
fn axis(label: &str, values: impl Iterator<Item = f64>, log: bool) -> Axis {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if log {
        return Axis::log(label, low, high);
    }
    let margin = ((high - low) / 20.0).max(high.abs() * 1e-3);
    Axis::linear(label, low - margin, high + margin)
}

/// A panel for each set of curves, an ink for each name of a curve; `log` is for x and y.
fn plain(title: &str, columns: Vec<CurvePanel>, log: [bool; 2]) -> Result<Drawing> {
    let mut names: Vec<&str> = Vec::new();
    for series in columns.iter().flat_map(|of| &of.series) {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    let ink = |name: &str| INKS[names.iter().position(|known| *known == name).unwrap_or(0) % INKS.len()];
    let panel = |of: &CurvePanel| {
        let drawn: Vec<Vec<(f64, f64)>> = of.series.iter().map(points).collect();
        let all = || drawn.iter().flatten();
        // A ratio that spans orders of magnitude is read on a logarithmic axis, and so is rho.
        let ratio = of.key == "risk" && all().map(|point| point.1).fold(0.0, f64::max) > 20.0;
        let x_log = log[0] || of.x == "rho";
        let series = of.series.iter().zip(&drawn);
        Panel {
            title: if columns.len() > 1 { of.key.replace('-', " ") } else { String::new() },
            x: axis(&of.x, all().map(|point| point.0), x_log),
            y: axis(&of.y, all().map(|point| point.1), log[1] || ratio),
            series: series
                .map(|(series, points)| Series::line(&series.name, ink(&series.name), points.clone()))
                .collect(),
        }
    };
    let panels: Vec<Panel> = columns.iter().map(panel).collect();
    let figure = Figure { title: title.to_string(), columns: panels.len().min(2), panels };
    Ok(Drawing { sheet: sheet(&columns), figure })
}

/// A panel for each curve, an ink for each set of curves: the sets are compared.
fn facets(title: &str, columns: Vec<CurvePanel>) -> Result<Drawing> {
    let every = || columns.iter().flat_map(|of| &of.series).flat_map(points);
    let (x, y) = (&columns[0].x, "least x1 decided for");
    let panels = (0..columns[0].series.len())
        .map(|k| Panel {
            title: columns[0].series[k].name.clone(),
            x: axis(x, every().map(|point| point.0), false),
            y: axis(y, every().map(|point| point.1), false),
            series: (columns.iter().zip(INKS))
                .map(|(of, ink)| Series::line(&of.key, ink, points(&of.series[k])))
                .collect(),
        })
        .collect();
    let figure = Figure { title: title.to_string(), columns: 3, panels };
    Ok(Drawing { sheet: sheet(&columns), figure })
}
