//! Figures of epsilon and delta: 2, 3, 5, 7, 11, 14, 15.

use crate::account::Delta;
use rug::Rational;

use super::inputs::{Case, alike, delta_axis, deltas, names};
use crate::{
    account::{Account, Composition, compared::Conversion, conversions, paths::Whole},
    chart::{
        Axis, Drawing, Figure, Ink, Panel, Series, Sheet,
        drawing::{ends, exact},
        figure::raised,
    },
    error::Result,
    numeric::{Enclosure, parallel, rational::parse},
    replication::{
        figures::{Own, Sources, item::of_parts},
        residual::curve_as_printed,
        verdict::{finite, percent_below},
    },
};

/// The digits of every enclosure in a CSV.
const DIGITS: u32 = 12;
/// The points of a curve.
const POINTS: u32 = 81;
/// The smallest plotted delta.
const LEAST_DELTA: (&str, f64) = ("1e-15", 1e-15);

/// The plotted value of a certified number.
fn drawn(value: &Enclosure) -> f64 {
    value.approximate()
}

/// The epsilon at which the bound by zCDP reaches the smallest plotted delta, rounded up to a tenth.
fn reach(account: &impl Account) -> Result<Rational> {
    let epsilon = conversions::zcdp_epsilon(&account.rho(), &LEAST_DELTA.0.parse()?, 15);
    let tenths = finite(epsilon.upper(), "the epsilon by zCDP")? * 10_u32;
    Ok(tenths.ceil() / 10_u32)
}

/// The epsilons of a profile: by default from 0 to where the bound by zCDP leaves the panel.
fn epsilons(own: &Own, account: &impl Account) -> Result<Vec<Rational>> {
    own.grid(&Rational::new(), &reach(account)?, POINTS)
}

fn zcdp_curve(account: &impl Account, epsilons: &[Rational]) -> Result<Vec<Enclosure>> {
    let rho = account.rho();
    epsilons.iter().map(|epsilon| Ok(conversions::zcdp_delta(&rho, &epsilon.try_into()?, DIGITS))).collect()
}

fn exact_curve(account: &impl Account, epsilons: &[Rational]) -> Result<Vec<Enclosure>> {
    Ok(account.curve(epsilons, DIGITS)?.into_iter().map(|point| point.delta.value).collect())
}

/// The first term of the profile alone: P[L > epsilon].
fn first_term(composition: &Composition, epsilons: &[Rational]) -> Result<Vec<Enclosure>> {
    let loss = composition.loss();
    let tail = |epsilon: &Rational| Ok(loss.evaluator().upper_tail(&loss.above(epsilon), DIGITS)?.value);
    parallel::try_map(epsilons, tail)
}

fn drawn_line(name: &str, ink: Ink, epsilons: &[Rational], deltas: &[Enclosure]) -> Series {
    Series::line(
        name,
        ink,
        epsilons.iter().zip(deltas).map(|(epsilon, delta)| (epsilon.to_f64(), drawn(delta))).collect(),
    )
}

/// The account beside the exact one, as a line: `bound` where it is zCDP (Bun-Steinke).
fn line_beside(
    case: &Case,
    levels: &[String],
    account: &impl Account,
    (epsilons, bound): (&[Rational], &[Enclosure]),
) -> Result<Series> {
    let by = case.beside(levels);
    if by == Conversion::BunSteinke {
        return Ok(drawn_line(case.names()[0], Ink::Vermillion, epsilons, bound));
    }
    let point = |epsilon: &Rational| {
        let epsilon = epsilon.to_f64();
        Ok((epsilon, by.delta_approx(account, epsilon)?))
    };
    let points = epsilons.iter().map(point).collect::<Result<Vec<(f64, f64)>>>()?;
    Ok(Series::line(by.name(), Ink::Vermillion, points))
}

fn profile_panel(title: &str, epsilons: &[Rational], series: Vec<Series>) -> Panel {
    let x = epsilon_axis(epsilons);
    Panel { title: title.to_string(), x, y: delta_axis(LEAST_DELTA.1), series }
}

fn epsilon_axis(epsilons: &[Rational]) -> Axis {
    let end = |epsilon: Option<&Rational>, other| epsilon.map_or(other, Rational::to_f64);
    Axis::linear("ε (nats)", end(epsilons.first(), 0.0), end(epsilons.last(), 1.0))
}

/// Privacy profiles level by level: the exact one of `ours`, and the bound by zCDP of the level's own noise.
fn level_profiles(
    case: &Case,
    title: &str,
    ours: impl Fn(&str) -> Result<(Composition, Option<Rational>)> + Sync,
    (name, is_reduced): (&str, bool),
) -> Result<Drawing> {
    let parts = parallel::try_map(&case.levels, |level| {
        let bureau = case.level(level)?;
        let (composition, sigma2) = ours(level)?;
        let heading = match (is_reduced, &sigma2) {
            (true, Some(sigma2)) => case.heading(level, sigma2)?,
            _ => level.clone(),
        };
        let sigma2 = sigma2.as_ref().map_or_else(String::new, exact);
        let epsilons = epsilons(case.own, &bureau)?;
        let (curve, bound) = (exact_curve(&composition, &epsilons)?, zcdp_curve(&bureau, &epsilons)?);
        let rows: Vec<Vec<String>> = (epsilons.iter().zip(&curve).zip(&bound))
            .map(|((epsilon, delta), bound)| {
                let [lower, upper] = ends(delta);
                vec![level.clone(), sigma2.clone(), exact(epsilon), lower, upper, ends(bound)[1].clone()]
            })
            .collect();
        let series = vec![
            line_beside(case, std::slice::from_ref(level), &bureau, (&epsilons, &bound))?,
            drawn_line(name, Ink::Blue, &epsilons, &curve),
        ];
        Ok((rows, profile_panel(&heading, &epsilons, series)))
    })?;
    let sheet = Sheet::of_columns("level sigma2 epsilon delta± zcdp_delta_upper");
    Ok(of_parts(sheet, title.to_string(), 4, parts))
}

/// Figure 2: the profile of every level, and the bound by zCDP.
pub fn figure_2(sources: &Sources) -> Result<Drawing> {
    let case = Case::of_sources(sources)?;
    let ours = |level: &str| {
        let composition = case.level(level)?;
        let sigma2 = Case::least_sigma2(&composition);
        Ok((composition, sigma2))
    };
    let title = format!("Privacy profile of {} of {}", case.levels_in_words(), case.title());
    level_profiles(&case, &title, ours, (case.names()[1], false))
}

/// Figure 5: the profile with the reduced noise that Table 1 prints, and the bound by zCDP of the original noise.
pub fn figure_5(sources: &Sources) -> Result<Drawing> {
    let case = Case::of_sources(sources)?;
    let ours = |level: &str| case.reduced(level).map(|(composition, sigma2)| (composition, Some(sigma2)));
    let title = format!(
        "Privacy profile of {} of {} with {}, against zCDP with the noise as it is",
        case.levels_in_words(),
        case.title(),
        case.reduced_name()
    );
    level_profiles(&case, &title, ours, (&format!("exact, {}", case.reduced_name()), true))
}

/// Figure 3: epsilon of every level at delta = 1e-11 and 1e-5, or at given deltas.
pub fn figure_3(sources: &Sources) -> Result<Drawing> {
    let case = Case::of_any(sources)?;
    let compared = if case.own.release.is_none() { "zcdp" } else { "compared_with" };
    let mut sheet = Sheet::of_columns(&format!("delta level epsilon± {compared}± percent±"));
    let mut panels = Vec::new();
    let usual = || ["1e-11", "1e-5"].iter().map(|text| text.parse()).collect::<Result<Vec<Delta>>>();
    let deltas = if case.own.deltas.is_empty() { usual()? } else { case.own.deltas.clone() };
    for delta in &deltas {
        let values = parallel::try_map(&case.levels, |name| {
            let composition = case.level(name)?;
            let bound = case.compared(name, &composition, delta, DIGITS)?.epsilon;
            Ok((composition.epsilon(delta, DIGITS)?.value, bound))
        })?;
        for (name, (epsilon, bound)) in case.levels.iter().zip(&values) {
            let cells = [epsilon, bound, &percent_below(epsilon, bound)].map(ends);
            sheet.push([vec![exact(delta), name.to_string()], cells.concat()].concat());
        }
        let most = values.iter().map(|pair| drawn(&pair.1)).filter(|value| value.is_finite()).fold(1e-6, f64::max);
        panels.push(Panel {
            title: format!("δ = {}", raised(&exact(delta))),
            x: Axis::linear("ε (nats)", 0.0, most * 1.08),
            y: Axis::names(&case.levels),
            series: vec![
                Series::of_rows(case.compared_name(), Ink::Vermillion, values.iter().map(|pair| drawn(&pair.1))),
                Series::of_rows(case.names()[1], Ink::Blue, values.iter().map(|pair| drawn(&pair.0))),
            ],
        });
    }
    let at: Vec<String> = deltas.iter().map(|delta| raised(&exact(delta))).collect();
    let title = format!("Epsilon of {} of {} at δ = {}", case.levels_in_words(), case.title(), at.join(", "));
    let columns = panels.len().clamp(1, 2);
    Ok(Drawing { sheet, figure: Figure { title, columns, panels } })
}

/// A curve of Figure 7: its name in the legend, its name in the header, its ink, and its values.
type Named = (String, &'static str, Ink, Vec<Enclosure>);

/// Figure 7: the profile of all levels together with the original noise and with 8.59% less, exactly and by the paper's
/// bound with the first term only; and zCDP. A release with block paths is not one sum, so it has no such bound.
pub fn figure_7(sources: &Sources) -> Result<Drawing> {
    let case = Case::of_sources(sources)?;
    let whole = case.whole()?;
    let (reduced, less) = case.reduced_whole(&whole)?;
    let end = if case.own.release.is_none() { parse("30")? } else { reach(&whole)? };
    let epsilons = case.own.grid(&Rational::new(), &end, 121)?;
    let mut curves: Vec<Named> = Vec::new();
    for (account, noise, names, inks) in [
        (&whole, "same noise".to_string(), ["delta", "first_term"], [Ink::Blue, Ink::Green]),
        (&reduced, format!("{less} noise"), ["reduced_delta", "reduced_first_term"], [Ink::Orange, Ink::Black]),
    ] {
        curves.push((format!("exact, {noise}"), names[0], inks[0], exact_curve(account, &epsilons)?));
        if let Whole::Composition(one) = account {
            let values = first_term(one, &epsilons)?;
            curves.push((format!("first term only, {noise} (the paper's)"), names[1], inks[1], values));
        }
    }
    let bound = zcdp_curve(&whole, &epsilons)?;
    let columns: String = curves.iter().map(|curve| format!("{}± ", curve.1)).collect();
    let mut sheet = Sheet::of_columns(&format!("epsilon {columns}zcdp_delta_upper"));
    for (k, epsilon) in epsilons.iter().enumerate() {
        let cells = curves.iter().flat_map(|curve| ends(&curve.3[k]));
        let row = std::iter::once(exact(epsilon)).chain(cells).chain([ends(&bound[k])[1].clone()]);
        sheet.push(row.collect());
    }
    let exactly = curves.iter().rev().map(|(name, _, ink, values)| drawn_line(name, *ink, &epsilons, values));
    let panel = Panel {
        title: String::new(),
        x: epsilon_axis(&epsilons),
        y: delta_axis(1e-20),
        series: std::iter::once(line_beside(&case, &case.levels, &whole, (&epsilons, &bound))?)
            .chain(exactly)
            .collect(),
    };
    let title = format!("Privacy profile of {}", case.together());
    Ok(Drawing { sheet, figure: Figure { title, columns: 1, panels: vec![panel] } })
}

/// Figure 11: 1890 counts. The paper does not give the noise of this figure; two kinds are drawn here, or given ones.
/// Beside the exact curve is that of (A.8) with its sums truncated as printed, from which the paper's figure was drawn;
/// it may fall below 0.
pub fn figure_11(sources: &Sources) -> Result<Drawing> {
    const COUNT: u64 = 1890;
    let own = &sources.own;
    let count = Own::one("copies", &own.copies)?.copied().unwrap_or(COUNT);
    let usual = || ["945", "50"].iter().map(|text| parse(text)).collect::<Result<Vec<Rational>>>();
    let noises = if own.sigma2.is_empty() { usual()? } else { own.sigma2.clone() };
    let mut sheet = Sheet::of_columns("sigma2 epsilon delta± zcdp_delta_upper as_printed±");
    let mut panels = Vec::new();
    let [zcdp, exactly] = names(own.sigma2.is_empty() && own.copies.is_empty());
    for sigma2 in noises {
        let composition = alike(&sigma2, count)?;
        let epsilons = epsilons(own, &composition)?;
        let (curve, bound) = (exact_curve(&composition, &epsilons)?, zcdp_curve(&composition, &epsilons)?);
        let printed = curve_as_printed(&sigma2, count, &epsilons)?;
        for (k, epsilon) in epsilons.iter().enumerate() {
            let bound = ends(&bound[k])[1].clone();
            let cells = [&ends(&curve[k])[..], &[bound], &ends(&printed[k])].concat();
            sheet.push([vec![exact(&sigma2), exact(epsilon)], cells].concat());
        }
        let mut cut = drawn_line("by (A.8), its sums cut as printed", Ink::Black, &epsilons, &printed);
        cut.points.retain(|(_, delta)| *delta > 0.0);
        let series = vec![
            drawn_line(zcdp, Ink::Vermillion, &epsilons, &bound),
            cut,
            drawn_line(exactly, Ink::Blue, &epsilons, &curve),
        ];
        let title = format!("σ² = {}, ρ = {}", exact(&sigma2), exact(composition.rho()));
        panels.push(profile_panel(&title, &epsilons, series));
    }
    let chosen = if own.sigma2.is_empty() { " (noise chosen here: the paper does not state its own)" } else { "" };
    let title = format!("Privacy profile of {count} counts{chosen}");
    let columns = panels.len().clamp(1, 2);
    Ok(Drawing { sheet, figure: Figure { title, columns, panels } })
}

/// Figures 14 and 15: the difference between the epsilon of zCDP and the exact one, for every delta.
fn gains(sources: &Sources, percent: bool) -> Result<Drawing> {
    let case = Case::of_sources(sources)?;
    let deltas = match case.own.has_axis() {
        true => case.own.log_grid(&parse(LEAST_DELTA.0)?, &parse("1/2")?, POINTS)?,
        false => deltas(15),
    };
    let least = deltas.first().map_or(LEAST_DELTA.1, Rational::to_f64);
    let parts = parallel::try_map(&case.levels, |level| {
        let composition = case.level(level)?;
        let gains = parallel::try_map(&deltas, |delta| {
            let epsilon = composition.epsilon(delta, DIGITS)?.value;
            let bound = case.compared(level, &composition, &delta.try_into()?, DIGITS)?.epsilon;
            Ok(if percent { percent_below(&epsilon, &bound) } else { bound.sub(&epsilon) })
        })?;
        let rows: Vec<Vec<String>> = (deltas.iter().zip(&gains))
            .map(|(delta, gain)| [vec![level.clone(), exact(delta)], ends(gain).to_vec()].concat())
            .collect();
        let points: Vec<(f64, f64)> = deltas.iter().zip(&gains).map(|(d, gain)| (drawn(gain), d.to_f64())).collect();
        let most = points.iter().fold(0.0_f64, |most, point| most.max(point.0));
        let x = if percent {
            Axis::linear("lower by (%)", 0.0, (most * 1.02).min(100.0))
        } else {
            Axis::linear("lower by (nats)", 0.0, most * 1.06)
        };
        let series =
            vec![Series::line(&format!("{} less {}", case.compared_name(), case.names()[1]), Ink::Blue, points)];
        Ok((rows, Panel { title: level.clone(), x, y: delta_axis(least), series }))
    })?;
    let unit = if percent { "percent" } else { "nats" };
    let sheet = Sheet::of_columns(&format!("level delta {unit}±"));
    let title =
        format!("By how much the exact epsilon of {} of {} is lower, in {unit}", case.levels_in_words(), case.title());
    Ok(of_parts(sheet, title, 4, parts))
}

/// Figure 14: the gain in nats.
pub fn figure_14(sources: &Sources) -> Result<Drawing> {
    gains(sources, false)
}

/// Figure 15: the gain in percent.
pub fn figure_15(sources: &Sources) -> Result<Drawing> {
    gains(sources, true)
}
