//! Figures of trade-off functions: 4, 12, 13.

use rug::Rational;

use super::inputs::{Case, printed_factor};
use crate::{
    account::{Account, conversions::zcdp_tradeoff},
    chart::{
        Axis, Drawing, Figure, Ink, Panel, Series, Sheet,
        drawing::{ends, exact},
    },
    error::Result,
    numeric::{Enclosure, parallel, rational::unit_of_decimals},
    replication::{
        accounts::scaled,
        figures::{Own, Sources, item::of_parts},
    },
};

const COLUMNS: &str = "level alpha beta± reduced_beta± zcdp_beta±";

/// f of the original noise, f of the reduced noise, and the bound by zCDP for the original noise.
struct Curves {
    alphas: Vec<Rational>,
    same: Vec<Enclosure>,
    reduced: Vec<Enclosure>,
    zcdp: Vec<Enclosure>,
    /// zCDP and the exact account in a legend.
    names: [&'static str; 2],
}

impl Curves {
    fn new(
        case: &Case,
        (same, reduced): (&impl Account, &impl Account),
        alphas: Vec<Rational>,
        digits: u32,
    ) -> Result<Self> {
        let rho = same.rho();
        let zcdp = parallel::try_map(&alphas, |alpha| zcdp_tradeoff(&rho, alpha, digits))?;
        let (same, reduced) = (betas(same, &alphas, digits)?, betas(reduced, &alphas, digits)?);
        Ok(Curves { alphas, same, reduced, zcdp, names: case.names() })
    }

    fn rows(&self, level: &str) -> Vec<Vec<String>> {
        let row = |k: usize| {
            let cells = [&self.same[k], &self.reduced[k], &self.zcdp[k]].map(ends).concat();
            [vec![level.to_string(), exact(&self.alphas[k])], cells].concat()
        };
        (0..self.alphas.len()).map(row).collect()
    }

    /// The type II error over the type I error, on axes that show both ends.
    fn log_panel(&self, reduced: &str) -> Panel {
        let axes = ["type I error α", "type II error β"].map(|label| Axis::log(label, 1e-8, 1.0));
        self.panel_on(axes, "both axes by powers of ten", reduced, |points| {
            points.into_iter().filter(|(_, beta)| *beta > 0.0).collect()
        })
    }

    fn panel(&self, title: &str, reduced: &str) -> Panel {
        let axes = ["type I error α", "type II error β"].map(|label| Axis::linear(label, 0.0, 1.0));
        // Every trade-off function ends in (1, 0); these begin in (0, 1).
        self.panel_on(axes, title, reduced, |points| [vec![(0.0, 1.0)], points, vec![(1.0, 0.0)]].concat())
    }

    fn panel_on(
        &self,
        [x, y]: [Axis; 2],
        title: &str,
        reduced: &str,
        kept: impl Fn(Vec<(f64, f64)>) -> Vec<(f64, f64)>,
    ) -> Panel {
        let line = |name, ink, betas: &[Enclosure]| {
            let points = self.alphas.iter().zip(betas).map(|(alpha, beta)| (alpha.to_f64(), beta.approximate()));
            Series::line(name, ink, kept(points.collect()))
        };
        let series = vec![
            line(self.names[0], Ink::Vermillion, &self.zcdp),
            line(reduced, Ink::Black, &self.reduced),
            line(self.names[1], Ink::Blue, &self.same),
        ];
        Panel { title: title.to_string(), x, y, series }
    }
}

/// The type II errors at given type I errors.
fn betas(account: &impl Account, alphas: &[Rational], digits: u32) -> Result<Vec<Enclosure>> {
    Ok(account.tradeoff_curve(alphas, digits)?.into_iter().map(|answer| answer.value).collect())
}

/// Type I errors: given ones, or every `step`-th of the default ones.
fn alphas_of(own: &Own, step: usize) -> Result<Vec<Rational>> {
    if !own.has_axis() {
        return Ok(alphas().into_iter().step_by(step).collect());
    }
    own.grid(&Rational::from((1, 200)), &Rational::from((199, 200)), 199)
}

/// From 0 to 1, both excluded, denser at the ends.
fn alphas() -> Vec<Rational> {
    let near = ["1/10000", "1/2000", "1/1000", "1/500", "1/250", "1/150", "1/100", "3/200"];
    let near: Vec<Rational> = near.iter().filter_map(|text| text.parse().ok()).collect();
    let middle = (4..20).map(|k| (k, 200)).chain((5..46).map(|k| (2 * k, 100))).chain((181..197).map(|k| (k, 200)));
    let middle = middle.map(Rational::from);
    let far: Vec<Rational> = near.iter().rev().map(|alpha| Rational::from(1 - alpha)).collect();
    near.into_iter().chain(middle).chain(far).collect()
}

/// Figure 4: the trade-off functions of every level.
pub fn figure_4(sources: &Sources) -> Result<Drawing> {
    let case = Case::of_sources(sources)?;
    let parts = parallel::try_map(&case.levels, |level| {
        let (same, (reduced, sigma2)) = (case.level(level)?, case.reduced(level)?);
        let curves = Curves::new(&case, (&same, &reduced), alphas_of(case.own, 1)?, 12)?;
        let name = format!("exact, {}", case.reduced_name());
        Ok((curves.rows(level), curves.panel(&case.heading(level, &sigma2)?, &name)))
    })?;
    let sheet = Sheet::of_columns(COLUMNS);
    let title = format!(
        "Trade-off function of {} of {}: the least type II error of any test of one neighbor against the other",
        case.levels_in_words(),
        case.title()
    );
    Ok(of_parts(sheet, title, 4, parts))
}

/// Figure 12: the trade-off function of all levels together, with 8.59% less noise. A second panel has logarithmic
/// axes, since the curve of zCDP almost coincides with linear axes. It needs nine type I errors per decade up to 10^-3,
/// where that curve bends on these axes; above, every other default one is enough.
pub fn figure_12(sources: &Sources) -> Result<Drawing> {
    let case = Case::of_sources(sources)?;
    let whole = case.whole()?;
    let (reduced, less) = case.reduced_whole(&whole)?;
    let small = (4..=8_u32).rev().flat_map(|k| (1..10_u32).map(move |digit| (k, digit)));
    let mut alphas: Vec<Rational> =
        small.map(|(k, digit)| unit_of_decimals(k) * digit).chain(alphas_of(case.own, 2)?).collect();
    alphas.sort_unstable();
    alphas.dedup();
    let curves = Curves::new(&case, (&whole, &reduced), alphas, 12)?;
    let mut sheet = Sheet::of_columns(COLUMNS);
    curves.rows("all").into_iter().for_each(|row| sheet.push(row));
    let less = format!("exact, {less} noise");
    let panels = vec![curves.panel("both axes evenly divided", &less), curves.log_panel(&less)];
    let title = format!("Trade-off function of {}", case.together());
    Ok(Drawing { sheet, figure: Figure { title, columns: 2, panels } })
}

/// Figure 13: where the curves of County cross, near alpha = 0: the power 1 - beta of the best test. With the reduced
/// noise of Table 1 they cross; with 8.59% less, which the paper's caption names, they do not cross there, and both are
/// drawn. For other releases, every named level or all levels.
pub fn figure_13(sources: &Sources) -> Result<Drawing> {
    let mut case = Case::of_sources(sources)?;
    if case.own.levels.is_empty() && case.own.release.is_none() {
        case.levels = vec!["County".to_string()];
    }
    let parts = parallel::try_map(&case.levels, |level| powers(&case, level))?;
    let caption = if case.is_printed() { " caption_power±" } else { "" };
    let sheet = Sheet::of_columns(&(COLUMNS.replace("beta", "power") + caption));
    let levels = match case.levels.as_slice() {
        [one] => one.clone(),
        _ => case.levels_in_words(),
    };
    let title = match case.is_printed() && case.own.levels.is_empty() {
        true => format!(
            "Where the trade-off functions of County cross, {}: the power of the best test (less is more private). The paper's \
             axes are α and 1 − β, and its caption names 8.59% less noise: those curves do not cross here, Table 1's reduced \
             noise does",
            case.title()
        ),
        false => format!("Power of the best test, {levels} of {}: {}", case.title(), case.reduced_name()),
    };
    Ok(of_parts(sheet, title, 2, parts))
}

/// The powers of the best tests of a level relative to that of zCDP: the rows, and the panel.
fn powers(case: &Case, level: &str) -> Result<(Vec<Vec<String>>, Panel)> {
    let same = case.level(level)?;
    let (reduced, sigma2) = case.reduced(level)?;
    let alphas: Vec<Rational> = match case.own.has_axis() {
        true => case.own.log_grid(&unit_of_decimals(16), &unit_of_decimals(6), 31)?,
        false => (6..=16_u32).rev().flat_map(|k| [1_u32, 2, 5].map(|digit| unit_of_decimals(k) * digit)).collect(),
    };
    // 1 minus a beta of 10^-9 retains 25 digits.
    let digits = 35;
    let curves = Curves::new(case, (&same, &reduced), alphas, digits)?;
    let caption = match case.is_printed() {
        true => Some(betas(&scaled(&same, &printed_factor()?)?, &curves.alphas, digits)?),
        false => None,
    };
    let one = Enclosure::double(1.0, 200);
    let powers = |betas: &[Enclosure]| betas.iter().map(|beta| one.sub(beta)).collect::<Vec<_>>();
    let zcdp = powers(&curves.zcdp);
    let reduced_name = format!("exact, {}", case.reduced_name());
    let named = [
        (case.names()[1], Ink::Blue, Some(&curves.same)),
        (reduced_name.as_str(), Ink::Black, Some(&curves.reduced)),
        ("exact, 8.59% less noise (the caption's)", Ink::Green, caption.as_ref()),
    ];
    let named: Vec<(&str, Ink, Vec<Enclosure>)> =
        named.into_iter().filter_map(|(name, ink, betas)| Some((name, ink, powers(betas?)))).collect();
    let mut rows = Vec::new();
    for (k, alpha) in curves.alphas.iter().enumerate() {
        let mut columns = vec![&named[0].2[k], &named[1].2[k], &zcdp[k]];
        columns.extend(named.get(2).map(|(_, _, powers)| &powers[k]));
        let cells = columns.into_iter().flat_map(ends);
        rows.push([level.to_string(), exact(alpha)].into_iter().chain(cells).collect());
    }
    // The powers span ten decades, so each is drawn relative to that of zCDP.
    let relative = |powers: &[Enclosure]| {
        let values = powers.iter().zip(&zcdp).map(|(power, bound)| power.div(bound).approximate());
        curves.alphas.iter().zip(values).map(|(alpha, power)| (alpha.to_f64(), power)).collect::<Vec<_>>()
    };
    let lines: Vec<Series> =
        (named.iter().rev()).map(|(name, ink, powers)| Series::line(name, *ink, relative(powers))).collect();
    let values = || lines.iter().flat_map(|line| &line.points).map(|point| point.1).filter(|value| value.is_finite());
    let (low, high) = (values().fold(1.0, f64::min), values().fold(1.0, f64::max));
    let ends = |k: usize| curves.alphas.get(k).map_or(1.0, Rational::to_f64);
    let panel = Panel {
        title: case.heading(level, &sigma2)?,
        x: Axis::log("type I error α", ends(0), ends(curves.alphas.len() - 1)),
        y: Axis::linear("power 1 − β relative to zCDP", low - 0.08, high + 0.08),
        series: std::iter::once(Series::line(case.names()[0], Ink::Vermillion, relative(&zcdp))).chain(lines).collect(),
    };
    Ok((rows, panel))
}
