//! The figures of Kazan & Reiter (2023): their curves by exact sums instead of the paper's samples.

use rug::Rational;

use super::{
    item::{ItemRow, Sources},
    own::Parameter,
};
use crate::{
    chart::{
        Axis, Drawing, Figure, Ink, Mark, Panel, Series, Sheet,
        drawing::{ends, exact},
        ranks::INKS,
    },
    error::{Error, Result},
    numeric::rational,
    replication::risk::{
        curves::{self, Curve, CurvePanel},
        settings::{self, CurveSettings, NoiseSum},
    },
    risk::single::Attack,
};

use Parameter::{Others, Points, Prior, Range, Rho, Upper};

pub(super) const ITEMS: &[ItemRow] = &[
    ("figure-1", "posterior probability and risk from one noisy count", &[Rho, Prior, Range, Points], |sources| {
        let columns = curves::figure_1(&settings(sources)?, &sources.own.whole(-10, 15)?)?;
        Look::new("Posterior probability and risk of one noisy count").draw(columns)
    }),
    ("figure-2", "marginal posterior probability and risk against rho", &[Prior, Range, Points], |sources| {
        let settings = settings(sources)?;
        let columns = curves::figure_2(&settings, &rhos(sources, 1, 61)?)?;
        Look::new("Posterior probability and risk on average").log_x().pointing_at(settings.rho(0)?, "ρ₁").draw(columns)
    }),
    ("figure-3", "probability of a correct decision against rho", &[Prior, Range, Points], |sources| {
        // Enough points that jumps look vertical.
        let settings = settings(sources)?;
        let columns = curves::figure_3(&settings, &rhos(sources, 1, 601)?)?;
        Look::new("Probability of a correct decision").log_x().pointing_at(settings.rho(0)?, "ρ₁").draw(columns)
    }),
    ("figure-4", "decisions with a uniform prior on the count above", &[Rho, Prior, Others], |sources| {
        let settings = settings(sources)?;
        let names = ["exact", "by the paper's sampler, as printed"];
        tile_maps(
            "Where the adversary decides for the target, uniform prior",
            &settings,
            curves::figure_4(&settings)?,
            &names,
        )
    }),
    (
        "figure-5",
        "probability of a correct decision against the true count above",
        &[Rho, Prior, Others, Range, Points],
        |sources| {
            let columns = curves::figure_5(&settings(sources)?, &sources.own.whole(1, 30)?, 6)?;
            Look::new("Probability of a correct decision with the count above").draw(columns)
        },
    ),
    (
        "figure-6",
        "probability of a correct decision against the rho of the level above",
        &[Rho, Prior, Others, Upper, Range, Points],
        |sources| {
            let settings = settings(sources)?;
            let columns = curves::figure_6(&settings, &rhos(sources, 100, 101)?, 6)?;
            let look = Look::new("Probability of a correct decision with the count above").log_x();
            look.pointing_at(settings.rho(1)?, "ρ₂").draw(columns)
        },
    ),
    ("figure-7", "risk against the number of levels at which the target is unique", &[Rho, Prior], |sources| {
        let columns = curves::figure_7(&settings(sources)?)?;
        Look::new("Posterior probability and risk over several levels").draw(columns)
    }),
    ("figure-8", "variance of the discrete Gaussian against its proxy", &[Range, Points], |sources| {
        let proxies = sources.own.log_grid(&Rational::from((1, 100)), &Rational::from(10), 61)?;
        let look = Look { log_y: true, rho_above: true, ..Look::new("Variance of the discrete Gaussian") };
        look.log_x().draw(curves::figure_8(&proxies)?)
    }),
    ("figure-9", "a sum of discrete Gaussians and the one that approximates it", &[Rho, Others], |sources| {
        let look = Look { masses: true, ..Look::new("A sum of discrete Gaussians, and one in its place") };
        look.draw(curves::figure_9(&settings(sources)?)?)
    }),
    (
        "figure-10",
        "decisions with uniform and bounded priors on the count above",
        &[Rho, Prior, Others, Upper],
        |sources| {
            let settings = settings(sources)?;
            let bounded = format!("uniform up to {}", settings.most);
            let printed = |name: &str| format!("{name}, as printed");
            let endless = "uniform without end";
            let names = [endless, &printed(endless), &bounded, &printed(&bounded)];
            tile_maps("Where the adversary decides for the target", &settings, curves::figure_10(&settings)?, &names)
        },
    ),
    ("figure-11", "decisions with certain counts above", &[Rho, Prior, Others, Upper], |sources| {
        let settings = settings(sources)?;
        let names: Vec<String> = settings.points.iter().map(|point| format!("X₂ = {point} for certain")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        tile_maps("Where the adversary decides for the target", &settings, curves::figure_11(&settings)?, &names)
    }),
    (
        "figure-12",
        "posterior probability after post-processing",
        &[Rho, Prior, Others, Upper, Range, Points],
        |sources| {
            let settings = settings(sources)?;
            let right = curves::log_grid(-3.0, 1.0, 61);
            let columns = curves::figure_12(&settings, &sources.own.whole(1, 100)?, &right)?;
            Look::new("Posterior probability from post-processed counts")
                .pointing_at(settings.rho(0)?, "ρ₁")
                .draw(columns)
        },
    ),
];

/// The paper's settings, with the given replacements.
fn settings(sources: &Sources) -> Result<CurveSettings> {
    let (mut settings, own) = (settings::settings()?, &sources.own);
    let takes = |parameter| own.given().contains(&parameter);
    if takes(Prior) {
        if own.priors.len() > INKS.len() {
            let expected = format!("at most {}, each with a line of its own", INKS.len());
            return Err(Error::out_of_range("the number of priors", own.priors.len(), &expected));
        }
        (settings.priors, settings.prior) = (own.priors.clone(), own.priors[0].clone());
    }
    if takes(Rho) {
        let others = own.others.map_or_else(|| vec![27, 5], |others| vec![others]);
        let sum = |rho: &Rational, count: u64| NoiseSum { rho: rho.clone(), count };
        settings.sums = own.rhos.iter().flat_map(|rho| others.iter().map(move |count| sum(rho, *count))).collect();
        settings.rhos = own.rhos.clone();
    } else if let Some(others) = own.others {
        settings.sums.iter_mut().for_each(|sum| sum.count = others);
        settings.sums.dedup();
    }
    settings.others = own.others.unwrap_or(settings.others);
    if takes(Upper) {
        (settings.uppers, settings.points) = (own.uppers.clone(), own.uppers.clone());
        settings.most = own.uppers[0];
    }
    Ok(settings)
}

/// The axis of the paper's figures over rho, from 10^-3.
fn rhos(sources: &Sources, to: u32, points: u32) -> Result<Vec<Rational>> {
    sources.own.log_grid(&Rational::from((1, 1000)), &Rational::from(if to == 1 { 10 } else { to }), points)
}

fn sheet(columns: &[CurvePanel]) -> Sheet {
    let mut sheet = Sheet::of_columns("panel series x lower upper");
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
    let near = |(x, y): &(Rational, crate::numeric::Enclosure)| (x.to_f64(), y.approximate());
    series.points.iter().map(near).filter(|(_, y)| y.abs() < NEVER).collect()
}

/// An axis over all values; a linear one extends a twentieth beyond them.
fn axis(label: &str, values: impl Iterator<Item = f64>, log: bool) -> Axis {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if log {
        return Axis::log(label, low, high).with_near_powers();
    }
    let margin = ((high - low) / 20.0).max(high.abs() * 1e-3);
    Axis::linear(label, low - margin, high + margin)
}

/// The layout of a figure: a panel for each set of curves, an ink for each name of a curve.
#[derive(Default)]
struct Look {
    title: &'static str,
    log_x: bool,
    log_y: bool,
    /// A value of rho to mark, and its name.
    at: Option<(Rational, &'static str)>,
    /// Whether the axis of s also shows rho = 1 / (2 s).
    rho_above: bool,
    /// Whether the first curve consists of masses, whose points are not joined.
    masses: bool,
}

impl Look {
    fn new(title: &'static str) -> Self {
        Look { title, ..Look::default() }
    }

    fn log_x(self) -> Self {
        Look { log_x: true, ..self }
    }

    fn pointing_at(self, rho: Rational, name: &'static str) -> Self {
        Look { at: Some((rho, name)), ..self }
    }

    fn draw(&self, columns: Vec<CurvePanel>) -> Result<Drawing> {
        let mut names: Vec<&str> = Vec::new();
        for series in columns.iter().flat_map(|of| &of.series) {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        let panels: Vec<Panel> = columns.iter().map(|of| self.panel(of, &names, columns.len())).collect();
        let figure = Figure { title: self.title.to_string(), columns: panels.len().min(2), panels };
        Ok(Drawing { sheet: sheet(&columns), figure })
    }

    fn panel(&self, of: &CurvePanel, names: &[&str], all: usize) -> Panel {
        let ink = |name: &str| INKS[names.iter().position(|known| *known == name).unwrap_or(0) % INKS.len()];
        let drawn: Vec<Vec<(f64, f64)>> = of.series.iter().map(points).collect();
        let every = || drawn.iter().flatten();
        // A ratio that spans orders of magnitude needs a logarithmic axis, and so does rho.
        let ratio = of.key == "risk" && every().map(|point| point.1).fold(0.0, f64::max) > 20.0;
        let over_rho = of.x.starts_with('ρ');
        let mut x = axis(&of.x, every().map(|point| point.0), self.log_x || over_rho);
        if self.rho_above {
            let ticks = ["50", "20", "10", "5", "2", "1", "0.5", "0.2", "0.1", "0.05"];
            let place = |text: &&str| Some((0.5 / text.parse::<f64>().ok()?, text.to_string()));
            x = x.with_opposite("ρ = 1 / (2 s)", ticks.iter().filter_map(place).collect());
        }
        let y = axis(&of.y, every().map(|point| point.1), self.log_y || ratio);
        let mut series: Vec<Series> = Vec::new();
        if let (Some((rho, name)), true) = (&self.at, over_rho) {
            let label = format!("{name} = {:.3}", rho.to_f64());
            series.push(Series::upright(&label, rho.to_f64(), (y.from, y.to)));
        }
        for (k, (curve, points)) in of.series.iter().zip(&drawn).enumerate() {
            let mark = if self.masses && k == 0 { Mark::Points } else { Mark::Line };
            series.push(Series { name: curve.name.clone(), ink: ink(&curve.name), mark, points: points.clone() });
        }
        if self.masses {
            // The masses are painted last, above the other line.
            series.reverse();
        }
        let title = if all > 1 { of.key.replace('-', " ") } else { String::new() };
        series.iter_mut().for_each(|series| series.name = series.name.replace("x2", "x₂"));
        Panel { title, x, y, series }
    }
}

/// The noisy counts x_1 of the panels.
const DECIDED_AT: [i64; 4] = [-1, 0, 1, 2];

/// A row of tile maps for each set of decisions, with a column for each noisy count x_1, as in the paper: tiles of the
/// noisy count above and the noisy sum beside.
fn tile_maps(title: &str, settings: &CurveSettings, columns: Vec<CurvePanel>, names: &[&str]) -> Result<Drawing> {
    let alone = Attack::new(settings.prior.clone(), vec![settings.rho(0)?])?.threshold()?;
    let mut panels = Vec::new();
    for (of, name) in columns.iter().zip(names) {
        for x1 in DECIDED_AT {
            let mut kept = Vec::new();
            let (mut gained, mut lost) = (Vec::new(), Vec::new());
            for series in &of.series {
                let above: f64 = series.name.trim_start_matches("x2 = ").parse().unwrap_or(f64::NAN);
                for (beside, least) in &series.points {
                    let tile = (above, beside.to_f64());
                    match (least.approximate() <= x1 as f64, alone <= x1) {
                        (true, true) => kept.push(tile),
                        (true, false) => gained.push(tile),
                        (false, true) => lost.push(tile),
                        (false, false) => {}
                    }
                }
            }
            panels.push(Panel {
                title: format!("x₁* = {x1}: {name}"),
                x: Axis::whole("noisy count above x₂*", -3.5, 5.5),
                y: Axis::whole("noisy sum beside y₁*", -30.5, 30.5),
                series: vec![
                    Series::tiles("decides for the target", Ink::Blue, kept),
                    Series::tiles("for it because of the other counts", Ink::Orange, gained),
                    Series::tiles("against it because of the other counts", Ink::Grey, lost),
                ],
            });
        }
    }
    let prior = rational::display(&settings.prior);
    let title = format!("{title} (prior {prior}; white: against it, with and without the other counts)");
    Ok(Drawing { sheet: sheet(&columns), figure: Figure { title, columns: DECIDED_AT.len(), panels } })
}
