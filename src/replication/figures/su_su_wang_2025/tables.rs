//! Tables 1, 2 and 3, and Figure 10.

use crate::account::Delta;
use rug::Rational;

use super::inputs::{Case, printed_sigma2};
use crate::replication::verdict::percent_below;
use crate::{
    account::{
        Composition,
        promise::{self, Grid, Promise},
    },
    chart::{
        Axis, Drawing, Figure, Ink, Panel, Series, Sheet,
        drawing::{ends, exact},
        figure::raised,
    },
    error::Result,
    numeric::{Enclosure, parallel},
    replication::{
        closed_forms::SumOfCopies,
        figures::{item::Sources, own::Own},
        residual::{Residual, density},
    },
};

/// A column of Table 1: the original sigma2, the epsilon of the comparison, the matching sigma2, and the printed one.
type Match = (Rational, Enclosure, Enclosure, Option<Rational>);

/// Table 1: the variance proxy at which the exact epsilon at delta = 1e-11 equals that of zCDP with the original noise.
/// If the counts of a level have different noise, all of it is scaled and its least variance proxy is shown.
pub fn table_1(sources: &Sources) -> Result<Drawing> {
    const DECIMALS: u32 = 7;
    let case = Case::of_sources(sources)?;
    let delta: Delta = case.own.deltas.first().cloned().map_or_else(|| "1e-11".parse(), Ok)?;
    let compared = if case.own.release.is_none() { "bureau_sigma2 zcdp_epsilon±" } else { "sigma2 compared_with±" };
    let columns = format!("level {compared} matched_sigma2± reduction_percent± printed_matched_sigma2");
    let mut sheet = Sheet::of_columns(&columns);
    let values: Vec<Match> = parallel::try_map(&case.levels, |level| {
        let own = case.level(level)?;
        let sigma2 = promise::variances(&own)?.swap_remove(0);
        let target = case.compared(level, &own, &delta, 30)?.epsilon;
        let matching = Promise::known(delta.clone(), &target);
        let found = promise::calibrate(&own, &matching, Grid::sigma2(DECIMALS))?;
        let times = |factor: &Rational| Enclosure::rational(&Rational::from(factor * &sigma2), 100);
        let at = times(&found.factor);
        let matched = found.before.as_ref().map_or_else(|| at.clone(), |before| times(before).hull(&at));
        let printed = case.is_printed().then(|| printed_sigma2(level)).transpose()?;
        Ok((sigma2, target, matched, printed))
    })?;
    for (level, (sigma2, target, matched, printed)) in case.levels.iter().zip(&values) {
        let reduction = percent_below(matched, &Enclosure::rational(sigma2, 100));
        let cells = [target, matched, &reduction].map(ends).concat();
        let printed = printed.as_ref().map_or_else(String::new, exact);
        sheet.push([vec![level.clone(), exact(sigma2)], cells, vec![printed]].concat());
    }
    Ok(Drawing { sheet, figure: figure_of_table_1(&case, &delta, &values) })
}

/// The noise of each level and the noise that matches it, as dots.
fn figure_of_table_1(case: &Case, delta: &Delta, values: &[Match]) -> Figure {
    let all = || values.iter().flat_map(|row| [row.0.to_f64(), row.2.approximate()]);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let ours = if case.own.release.is_none() { " (ours)" } else { "" };
    let matched = format!("matched to the same ε at δ = {}{ours}", raised(&exact(delta)));
    let as_it_is = if case.own.release.is_none() { "the Bureau's" } else { "as it is" };
    let panel = Panel {
        title: String::new(),
        x: Axis::log("variance proxy σ²", low * 0.7, high * 1.5),
        y: Axis::names(&case.levels),
        series: vec![
            Series::of_rows(as_it_is, Ink::Vermillion, values.iter().map(|row| row.0.to_f64())),
            Series::of_rows(&matched, Ink::Blue, values.iter().map(|row| row.2.approximate())),
        ],
    };
    let that = match case.own.release {
        None => "that gives the Bureau's epsilon exactly",
        Some(_) => "whose exact epsilon is what it is compared with",
    };
    let title = format!("Noise of {} of {}, and the noise {that}", case.levels_in_words(), case.title());
    Figure { title, columns: 1, panels: vec![panel] }
}

/// Table 3: the share a_i of each level and its number of counts. PEPG and the tract subset group, with equal shares,
/// form one group of the paper.
pub fn table_3(sources: &Sources) -> Result<Drawing> {
    let case = Case::of_sources(sources)?;
    let parts = case.levels.iter().map(|level| case.level(level)).collect::<Result<Vec<Composition>>>()?;
    let total: Rational = parts.iter().fold(Rational::new(), |sum, part| sum + &**part.rho());
    let mut sheet = Sheet::of_columns("level share_percent counts rho sigma2");
    let mut shares = Vec::new();
    for (level, part) in case.levels.iter().zip(&parts) {
        let share = Rational::from(&**part.rho() / &total) * 100_u32;
        shares.push(share.to_f64());
        let count: u64 = part.counts().iter().map(|counts| counts.count).sum();
        let sigma2 = Case::least_sigma2(part).as_ref().map_or_else(String::new, exact);
        sheet.push(vec![level.clone(), exact(&share), count.to_string(), exact(part.rho()), sigma2]);
    }
    let most = shares.iter().copied().fold(1e-6, f64::max);
    let counts = if case.own.release.is_none() { "ten counts at each geolevel" } else { "geolevels" };
    let panel = Panel {
        title: String::new(),
        x: Axis::linear(&format!("share of the budget ρ = {} (%)", exact(&total)), 0.0, most * 1.08),
        y: Axis::names(&case.levels),
        series: vec![Series::of_rows(counts, Ink::Blue, shares)],
    };
    let title = match case.own.release {
        None => "How the 2020 DHC allocation of 2022-08-25 shares its budget among the geolevels".to_string(),
        Some(_) => format!("How {} shares its budget among the geolevels", case.title()),
    };
    Ok(Drawing { sheet, figure: Figure { title, columns: 1, panels: vec![panel] } })
}

/// Table 2: Appendix C's bound on the residual of Theorem A.11, and the supremum itself.
pub fn table_2(sources: &Sources) -> Result<Drawing> {
    const COPIES: [u64; 8] = [5, 9, 10, 18, 20, 27, 50, 100];
    const SIGMA2: [u32; 4] = [1, 5, 10, 16];
    let own = &sources.own;
    let mut copies = if own.copies.is_empty() { COPIES.to_vec() } else { own.copies.clone() };
    copies.sort_unstable();
    let noises: Vec<Rational> =
        if own.sigma2.is_empty() { SIGMA2.map(Rational::from).to_vec() } else { own.sigma2.clone() };
    let cells: Vec<(&Rational, u64)> =
        noises.iter().flat_map(|sigma2| copies.iter().map(move |copies| (sigma2, *copies))).collect();
    let residuals = parallel::try_map(&cells, |(sigma2, copies)| Residual::new(sigma2, *copies, 12))?;
    let mut sheet = Sheet::of_columns("sigma2 copies omega_1 omega_2 omega_3 bound supremum±");
    for ((sigma2, copies), residual) in cells.iter().zip(&residuals) {
        let upper = |value: &Enclosure| ends(value)[1].clone();
        let bounds = [&residual.omega_1, &residual.omega_2, &residual.omega_3, &residual.bound()].map(upper);
        let head = vec![exact(sigma2), copies.to_string()];
        sheet.push([head, bounds.to_vec(), ends(&residual.supremum).to_vec()].concat());
    }
    // The residuals are below the smallest double, so their logarithms are drawn on a linear axis.
    let exponent = |value: &Enclosure| value.ln().approximate() / std::f64::consts::LN_10;
    let number = |k: usize| copies.get(k).map_or(1.0, |copies| *copies as f64);
    let panels: Vec<Panel> = (noises.iter().zip(residuals.chunks(copies.len())))
        .map(|(sigma2, row)| {
            let points = |value: &dyn Fn(&Residual) -> f64| -> Vec<(f64, f64)> {
                copies.iter().zip(row).map(|(copies, residual)| (*copies as f64, value(residual))).collect()
            };
            let (bound, truth) =
                (points(&|residual| exponent(&residual.bound())), points(&|residual| exponent(&residual.supremum)));
            let (low, high) =
                (truth.iter().fold(0.0_f64, |low, p| low.min(p.1)), bound.iter().fold(-1e9_f64, |h, p| h.max(p.1)));
            let room = ((high - low) * 0.08).max(0.1);
            Panel {
                title: format!("σ² = {}", exact(sigma2)),
                x: Axis::log("number of counts n", number(0) * 0.8, number(copies.len() - 1) * 1.25),
                y: Axis::linear("log₁₀ of the residual", low - room, high + room),
                series: vec![
                    Series::line("bound of Appendix C", Ink::Vermillion, bound),
                    Series::line("the supremum itself", Ink::Blue, truth),
                ],
            }
        })
        .collect();
    let title = "How far the sum of n discrete Gaussians is from the density of a Gaussian".to_string();
    Ok(Drawing { sheet, figure: Figure { title, columns: 2, panels } })
}

/// Figure 10: the masses of the sum of two, and the density by which Theorem A.11 replaces them.
pub fn figure_10(sources: &Sources) -> Result<Drawing> {
    let own = &sources.own;
    let copies = Own::one("copies", &own.copies)?.copied().unwrap_or(2);
    let usual = || vec![(Rational::from(5), 12_i64), (Rational::from(25), 26)];
    // Beyond 3.7 standard deviations nothing is visible.
    let reach = |sigma2: &Rational| (3.7 * (sigma2.to_f64() * copies as f64).sqrt()).ceil().clamp(2.0, 5000.0) as i64;
    let given = || own.sigma2.iter().map(|sigma2| (sigma2.clone(), reach(sigma2))).collect();
    let noises: Vec<(Rational, i64)> = match (own.sigma2.is_empty(), copies) {
        (true, 2) => usual(),
        (true, _) => usual().into_iter().map(|(sigma2, _)| (sigma2.clone(), reach(&sigma2))).collect(),
        (false, _) => given(),
    };
    let mut sheet = Sheet::of_columns("sigma2 y mass± density±");
    let mut panels = Vec::new();
    for (sigma2, reach) in noises {
        let sum = SumOfCopies::new(sigma2.clone(), copies, 30)?;
        let mut masses = Vec::new();
        for y in -reach..=reach {
            let (mass, approximation) = (sum.mass(y), density(&sigma2, copies, y, 30));
            sheet.push(
                [vec![exact(&sigma2), y.to_string()], ends(&mass).to_vec(), ends(&approximation).to_vec()].concat(),
            );
            masses.push((y as f64, mass.approximate()));
        }
        let densities = density_curve(&sigma2, copies, reach);
        let top = masses.iter().chain(&densities).map(|point| point.1).fold(0.0, f64::max);
        panels.push(Panel {
            title: format!("σ² = {}", exact(&sigma2)),
            x: Axis::whole(&format!("sum of {}", number_of(copies)), -reach as f64 - 0.5, reach as f64 + 0.5),
            y: Axis::linear("probability, or density", 0.0, top * 1.15),
            series: vec![
                Series::line("density of the Gaussian, φ(y / B) / B", Ink::Vermillion, densities),
                Series::points("exact mass", Ink::Blue, masses),
            ],
        });
    }
    let title = match copies {
        2 => "The sum of two discrete Gaussians and its approximation".to_string(),
        copies => format!("The sum of {copies} discrete Gaussians and its approximation"),
    };
    let columns = panels.len().clamp(1, 2);
    Ok(Drawing { sheet, figure: Figure { title, columns, panels } })
}

/// The density of the Gaussian of B^2 = n sigma2 as a smooth curve, in doubles: equally spaced points, and closer ones
/// where it bends.
fn density_curve(sigma2: &Rational, copies: u64, reach: i64) -> Vec<(f64, f64)> {
    const POINTS: i32 = 240;
    let b = (sigma2.to_f64() * copies as f64).sqrt();
    let end = reach as f64 + 0.5;
    let even = (-POINTS..=POINTS).map(|k| end * f64::from(k) / f64::from(POINTS));
    let near = (-POINTS..=POINTS).map(|k| 6.0 * b * f64::from(k) / f64::from(POINTS)).filter(|y| y.abs() < end);
    let mut places: Vec<f64> = even.chain(near).collect();
    places.sort_unstable_by(f64::total_cmp);
    let density = |y: f64| libm::exp(-y * y / (2.0 * b * b)) / (b * std::f64::consts::TAU.sqrt());
    places.into_iter().map(|y| (y, density(y))).collect()
}

fn number_of(copies: u64) -> String {
    if copies == 2 { "two draws".to_string() } else { format!("{copies} draws") }
}
