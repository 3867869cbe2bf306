//! Figures of epsilon and delta: 2, 3, 5, 7, 11, 14, 15.

use crate::account::Delta;
use rayon::prelude::*;
use rug::Rational;

use super::inputs::{BUREAU, OURS, alike, delta_axis, deltas, noise, printed_factor, printed_sigma2, release, whole};
use crate::{
    account::{Account, Composition, conversions},
    chart::{
        Axis, Drawing, Figure, Ink, Panel, Series, Sheet,
        drawing::{ends, exact},
    },
    error::Result,
    numeric::{Enclosure, rational::parse},
    replication::{
        accounts::scaled,
        figures::item::{Sources, grid},
        verdict::{finite, percent_below},
    },
};

/// The digits of every enclosure in a CSV.
const DIGITS: u32 = 12;
/// The points of a curve.
const POINTS: u32 = 81;
/// The smallest delta that is drawn.
const LEAST_DELTA: (&str, f64) = ("1e-15", 1e-15);

/// The value at which a certified number is drawn.
fn drawn(value: &Enclosure) -> f64 {
    value.approximate()
}

/// Where the bound by zCDP reaches the smallest delta that is drawn, rounded up to a tenth.
fn reach(composition: &Composition) -> Result<Rational> {
    let epsilon = conversions::zcdp_epsilon(composition.rho(), &LEAST_DELTA.0.parse()?, 15);
    let tenths = finite(epsilon.upper(), "the epsilon by zCDP")? * 10_u32;
    Ok(tenths.ceil() / 10_u32)
}

fn zcdp_curve(composition: &Composition, epsilons: &[Rational]) -> Result<Vec<Enclosure>> {
    let delta = |epsilon: &Rational| Ok(conversions::zcdp_delta(composition.rho(), &epsilon.try_into()?, DIGITS));
    epsilons.iter().map(delta).collect()
}

fn exact_curve(composition: &Composition, epsilons: &[Rational]) -> Result<Vec<Enclosure>> {
    Ok(composition.curve(epsilons, DIGITS)?.into_iter().map(|point| point.delta.value).collect())
}

fn drawn_line(name: &str, ink: Ink, epsilons: &[Rational], deltas: &[Enclosure]) -> Series {
    Series::line(
        name,
        ink,
        epsilons.iter().zip(deltas).map(|(epsilon, delta)| (epsilon.to_f64(), drawn(delta))).collect(),
    )
}

fn profile_panel(title: &str, epsilons: &[Rational], series: Vec<Series>) -> Panel {
    let last = epsilons.last().map_or(1.0, Rational::to_f64);
    Panel { title: title.to_string(), x: Axis::linear("ε (nats)", 0.0, last), y: delta_axis(LEAST_DELTA.1), series }
}

/// Privacy profiles level by level: the exact one of `ours`, and the bound by zCDP of the level's own noise.
fn level_profiles(
    title: &str,
    ours: impl Fn(&str) -> Result<(Composition, Rational)> + Sync,
    name: &str,
) -> Result<Drawing> {
    let release = release()?;
    let parts: Vec<(Vec<Vec<String>>, Panel)> = (release.levels.par_iter())
        .map(|level| {
            let bureau = release.composition(&[&level.name], None)?;
            let (composition, sigma2) = ours(&level.name)?;
            let epsilons = grid(&Rational::new(), &reach(&bureau)?, POINTS);
            let (curve, bound) = (exact_curve(&composition, &epsilons)?, zcdp_curve(&bureau, &epsilons)?);
            let rows = (epsilons.iter().zip(&curve).zip(&bound))
                .map(|((epsilon, delta), bound)| {
                    let [lower, upper] = ends(delta);
                    vec![level.name.clone(), exact(&sigma2), exact(epsilon), lower, upper, ends(bound)[1].clone()]
                })
                .collect();
            let series = vec![
                drawn_line(BUREAU, Ink::Vermillion, &epsilons, &bound),
                drawn_line(name, Ink::Blue, &epsilons, &curve),
            ];
            Ok((rows, profile_panel(&level.name, &epsilons, series)))
        })
        .collect::<Result<_>>()?;
    let mut sheet = Sheet::new(["level", "sigma2", "epsilon", "delta_lower", "delta_upper", "zcdp_delta_upper"]);
    let mut panels = Vec::new();
    for (rows, panel) in parts {
        rows.into_iter().for_each(|row| sheet.push(row));
        panels.push(panel);
    }
    Ok(Drawing { sheet, figure: Figure { title: title.to_string(), columns: 4, panels } })
}

/// Figure 2: the profile of every level, and what zCDP says of it.
pub fn figure_2(_: &Sources) -> Result<Drawing> {
    let release = release()?;
    let ours = |level: &str| Ok((release.composition(&[level], None)?, noise(&release, level)?.0));
    level_profiles("Privacy profile of each geolevel of the 2020 DHC (allocation of 2022-08-25)", ours, OURS)
}

/// Figure 5: the profile with the reduced noise that Table 1 prints, and what zCDP says of the original noise.
pub fn figure_5(_: &Sources) -> Result<Drawing> {
    let release = release()?;
    let ours = |level: &str| {
        let sigma2 = printed_sigma2(level)?;
        Ok((alike(&sigma2, noise(&release, level)?.1)?, sigma2))
    };
    let title = "Privacy profile with the reduced noise of Table 1 against zCDP with the original noise";
    level_profiles(title, ours, "exact, reduced noise (ours)")
}

/// Figure 3: epsilon of every level at delta = 1e-11 and 1e-5.
pub fn figure_3(_: &Sources) -> Result<Drawing> {
    let release = release()?;
    let names: Vec<&String> = release.levels.iter().map(|level| &level.name).collect();
    let header = [
        "delta",
        "level",
        "epsilon_lower",
        "epsilon_upper",
        "zcdp_lower",
        "zcdp_upper",
        "percent_lower",
        "percent_upper",
    ];
    let mut sheet = Sheet::new(header);
    let mut panels = Vec::new();
    for text in ["1e-11", "1e-5"] {
        let delta: Delta = text.parse()?;
        let values: Vec<(Enclosure, Enclosure)> = (names.par_iter())
            .map(|name| {
                let composition = release.composition(&[name], None)?;
                let bound = conversions::zcdp_epsilon(composition.rho(), &delta, DIGITS);
                Ok((composition.epsilon(&delta, DIGITS)?.value, bound))
            })
            .collect::<Result<_>>()?;
        for (name, (epsilon, bound)) in names.iter().zip(&values) {
            let cells = [epsilon, bound, &percent_below(epsilon, bound)].map(ends);
            sheet.push([vec![exact(&delta), name.to_string()], cells.concat()].concat());
        }
        let points = |value: &dyn Fn(&(Enclosure, Enclosure)) -> f64| {
            values.iter().enumerate().map(|(k, pair)| (value(pair), k as f64)).collect()
        };
        panels.push(Panel {
            title: format!("δ = {}", if text == "1e-5" { "10⁻⁵" } else { "10⁻¹¹" }),
            x: Axis::linear("ε (nats)", 0.0, 12.0),
            y: Axis::names(names.clone()),
            series: vec![
                Series::dots(BUREAU, Ink::Vermillion, points(&|pair| drawn(&pair.1))),
                Series::dots(OURS, Ink::Blue, points(&|pair| drawn(&pair.0))),
            ],
        });
    }
    let title = "Epsilon of each geolevel of the 2020 DHC (allocation of 2022-08-25)".to_string();
    Ok(Drawing { sheet, figure: Figure { title, columns: 2, panels } })
}

/// Figure 7: the profile of all levels together, with the original noise and with 8.59% less, the paper's bound that
/// keeps the first term only, and zCDP.
pub fn figure_7(_: &Sources) -> Result<Drawing> {
    let whole = whole(&release()?)?;
    let reduced = scaled(&whole, &printed_factor()?)?;
    let epsilons = grid(&Rational::new(), &parse("30")?, 121);
    let exact_whole = exact_curve(&whole, &epsilons)?;
    let exact_reduced = exact_curve(&reduced, &epsilons)?;
    let one_term: Vec<Enclosure> = (epsilons.par_iter())
        .map(|epsilon| Ok(whole.loss().evaluator().upper_tail(&whole.loss().above(epsilon), DIGITS)?.value))
        .collect::<Result<_>>()?;
    let bound = zcdp_curve(&whole, &epsilons)?;
    let mut sheet = Sheet::new([
        "epsilon",
        "delta_lower",
        "delta_upper",
        "reduced_delta_lower",
        "reduced_delta_upper",
        "first_term_lower",
        "first_term_upper",
        "zcdp_delta_upper",
    ]);
    for (k, epsilon) in epsilons.iter().enumerate() {
        let cells = [&exact_whole[k], &exact_reduced[k], &one_term[k]].map(ends).concat();
        sheet.push([vec![exact(epsilon)], cells, vec![ends(&bound[k])[1].clone()]].concat());
    }
    let panel = Panel {
        title: String::new(),
        x: Axis::linear("ε (nats)", 0.0, 30.0),
        y: delta_axis(1e-20),
        series: vec![
            drawn_line(BUREAU, Ink::Vermillion, &epsilons, &bound),
            drawn_line("first term only (the paper's bound)", Ink::Green, &epsilons, &one_term),
            drawn_line("exact, 8.59% less noise", Ink::Black, &epsilons, &exact_reduced),
            drawn_line("exact, same noise", Ink::Blue, &epsilons, &exact_whole),
        ],
    };
    let title = "Privacy profile of all eight geolevels of the 2020 DHC together".to_string();
    Ok(Drawing { sheet, figure: Figure { title, columns: 1, panels: vec![panel] } })
}

/// Figure 11: 1890 counts. The paper does not say which noise its data were given; two are drawn here.
pub fn figure_11(_: &Sources) -> Result<Drawing> {
    const COUNT: u64 = 1890;
    let mut sheet = Sheet::new(["sigma2", "epsilon", "delta_lower", "delta_upper", "zcdp_delta_upper"]);
    let mut panels = Vec::new();
    for sigma2 in ["945", "50"] {
        let sigma2 = parse(sigma2)?;
        let composition = alike(&sigma2, COUNT)?;
        let epsilons = grid(&Rational::new(), &reach(&composition)?, POINTS);
        let (curve, bound) = (exact_curve(&composition, &epsilons)?, zcdp_curve(&composition, &epsilons)?);
        for (k, epsilon) in epsilons.iter().enumerate() {
            let bound = ends(&bound[k])[1].clone();
            sheet.push([vec![exact(&sigma2), exact(epsilon)], ends(&curve[k]).to_vec(), vec![bound]].concat());
        }
        let series = vec![
            drawn_line(BUREAU, Ink::Vermillion, &epsilons, &bound),
            drawn_line(OURS, Ink::Blue, &epsilons, &curve),
        ];
        let title = format!("σ² = {}, ρ = {}", exact(&sigma2), exact(composition.rho()));
        panels.push(profile_panel(&title, &epsilons, series));
    }
    let title = "Privacy profile of 1890 counts (noise chosen here: the paper does not state its own)".to_string();
    Ok(Drawing { sheet, figure: Figure { title, columns: 2, panels } })
}

/// Figures 14 and 15: by how much the exact epsilon is below that of zCDP, for every delta.
fn gains(title: &str, percent: bool) -> Result<Drawing> {
    let release = release()?;
    let deltas = deltas(15);
    let parts: Vec<(Vec<Vec<String>>, Panel)> = (release.levels.par_iter())
        .map(|level| {
            let composition = release.composition(&[&level.name], None)?;
            let gains: Vec<Enclosure> = (deltas.par_iter())
                .map(|delta| {
                    let epsilon = composition.epsilon(delta, DIGITS)?.value;
                    let bound = conversions::zcdp_epsilon(composition.rho(), &delta.try_into()?, DIGITS);
                    Ok(if percent { percent_below(&epsilon, &bound) } else { bound.sub(&epsilon) })
                })
                .collect::<Result<_>>()?;
            let rows = (deltas.iter().zip(&gains))
                .map(|(delta, gain)| [vec![level.name.clone(), exact(delta)], ends(gain).to_vec()].concat())
                .collect();
            let points: Vec<(f64, f64)> =
                deltas.iter().zip(&gains).map(|(d, gain)| (drawn(gain), d.to_f64())).collect();
            let most = points.iter().fold(0.0_f64, |most, point| most.max(point.0));
            let x = if percent {
                Axis::linear("lower by (%)", 0.0, (most * 1.02).min(100.0))
            } else {
                Axis::linear("lower by (nats)", 0.0, most * 1.06)
            };
            let series = vec![Series::line("zCDP (the Bureau's) less exact (ours)", Ink::Blue, points)];
            Ok((rows, Panel { title: level.name.clone(), x, y: delta_axis(LEAST_DELTA.1), series }))
        })
        .collect::<Result<_>>()?;
    let unit = if percent { "percent" } else { "nats" };
    let mut sheet =
        Sheet::new(["level".to_string(), "delta".to_string(), format!("{unit}_lower"), format!("{unit}_upper")]);
    let mut panels = Vec::new();
    for (rows, panel) in parts {
        rows.into_iter().for_each(|row| sheet.push(row));
        panels.push(panel);
    }
    Ok(Drawing { sheet, figure: Figure { title: title.to_string(), columns: 4, panels } })
}

/// Figure 14: the gain in nats.
pub fn figure_14(_: &Sources) -> Result<Drawing> {
    gains("By how much the exact epsilon of each geolevel is lower, in nats", false)
}

/// Figure 15: the gain in percent.
pub fn figure_15(_: &Sources) -> Result<Drawing> {
    gains("By how much the exact epsilon of each geolevel is lower, in percent", true)
}
