//! Tables 1, 2 and 3, and Figure 10.

use crate::account::Delta;
use rayon::prelude::*;
use rug::Rational;

use super::inputs::{alike, noise, printed_sigma2, release, whole};
use crate::replication::verdict::percent_below;
use crate::{
    account::{calibrate, conversions},
    chart::{
        Axis, Drawing, Figure, Ink, Panel, Series, Sheet,
        drawing::{ends, exact},
    },
    error::Result,
    numeric::{Enclosure, rational::parse},
    replication::{
        closed_forms::SumOfCopies,
        figures::item::Sources,
        residual::{Residual, density},
    },
};

/// A column of Table 1: the Bureau's sigma2, its zCDP epsilon, the matching sigma2, and that as printed.
type Match = (Rational, Enclosure, Enclosure, Rational);

/// Table 1: the variance proxy at which the exact epsilon at delta = 1e-11 is that of zCDP with the original noise.
pub fn table_1(_: &Sources) -> Result<Drawing> {
    const DECIMALS: u32 = 7;
    let release = release()?;
    let delta: Delta = "1e-11".parse()?;
    let mut sheet = Sheet::new([
        "level",
        "bureau_sigma2",
        "zcdp_epsilon_lower",
        "zcdp_epsilon_upper",
        "matched_sigma2_lower",
        "matched_sigma2_upper",
        "reduction_percent_lower",
        "reduction_percent_upper",
        "printed_matched_sigma2",
    ]);
    let values: Vec<Match> = (release.levels.par_iter())
        .map(|level| {
            let (sigma2, count) = noise(&release, &level.name)?;
            let target = conversions::zcdp_epsilon(alike(&sigma2, count)?.rho(), &delta, 30);
            let guess = sigma2.to_f64() * 0.83;
            let least = calibrate::least_on_grid(|sigma2| alike(sigma2, count), &target, &delta, DECIMALS, guess)?;
            let at = Enclosure::rational(&least.value, 100);
            let matched = least.before.map_or_else(|| at.clone(), |before| Enclosure::rational(&before, 100).hull(&at));
            Ok((sigma2, target, matched, printed_sigma2(&level.name)?))
        })
        .collect::<Result<_>>()?;
    for (level, (sigma2, target, matched, printed)) in release.levels.iter().zip(&values) {
        let reduction = percent_below(matched, &Enclosure::rational(sigma2, 100));
        let cells = [target, matched, &reduction].map(ends).concat();
        sheet.push([vec![level.name.clone(), exact(sigma2)], cells, vec![exact(printed)]].concat());
    }
    let points =
        |value: &dyn Fn(&Match) -> f64| values.iter().enumerate().map(|(k, row)| (value(row), k as f64)).collect();
    let panel = Panel {
        title: String::new(),
        x: Axis::log("variance proxy σ²", 3.0, 700.0),
        y: Axis::names(release.levels.iter().map(|level| &level.name)),
        series: vec![
            Series::dots("the Bureau's", Ink::Vermillion, points(&|row| row.0.to_f64())),
            Series::dots("matched to the same ε at δ = 10⁻¹¹ (ours)", Ink::Blue, points(&|row| row.2.approximate())),
        ],
    };
    let title = "Noise of each geolevel, and the noise that gives the Bureau's epsilon exactly".to_string();
    Ok(Drawing { sheet, figure: Figure { title, columns: 1, panels: vec![panel] } })
}

/// Table 3: the share a_i of each level and its number of counts; PEPG and the tract subset group, of equal shares,
/// are one group of the paper.
pub fn table_3(_: &Sources) -> Result<Drawing> {
    let release = release()?;
    let total = whole(&release)?.rho().clone();
    let mut sheet = Sheet::new(["level", "share_percent", "counts", "rho", "sigma2"]);
    let mut points = Vec::new();
    for (k, level) in release.levels.iter().enumerate() {
        let (sigma2, count) = noise(&release, &level.name)?;
        let share = Rational::from(&level.rho / &*total) * 100_u32;
        points.push((share.to_f64(), k as f64));
        sheet.push(vec![level.name.clone(), exact(&share), count.to_string(), exact(&level.rho), exact(&sigma2)]);
    }
    let panel = Panel {
        title: String::new(),
        x: Axis::linear("share of the budget ρ = 3.65 (%)", 0.0, 30.0),
        y: Axis::names(release.levels.iter().map(|level| &level.name)),
        series: vec![Series::dots("ten counts at each geolevel", Ink::Blue, points)],
    };
    let title = "How the 2020 DHC allocation of 2022-08-25 shares its budget among the geolevels".to_string();
    Ok(Drawing { sheet, figure: Figure { title, columns: 1, panels: vec![panel] } })
}

/// Table 2: Appendix C's bound for the residual of Theorem A.11, and the supremum itself.
pub fn table_2(_: &Sources) -> Result<Drawing> {
    const COPIES: [u64; 8] = [5, 9, 10, 18, 20, 27, 50, 100];
    const SIGMA2: [&str; 4] = ["1", "5", "10", "16"];
    let cells: Vec<(&str, u64)> = SIGMA2.iter().flat_map(|sigma2| COPIES.map(|copies| (*sigma2, copies))).collect();
    let residuals: Vec<Residual> =
        cells.par_iter().map(|(sigma2, copies)| Residual::new(&parse(sigma2)?, *copies, 12)).collect::<Result<_>>()?;
    let header = ["sigma2", "copies", "omega_1", "omega_2", "omega_3", "bound", "supremum_lower", "supremum_upper"];
    let mut sheet = Sheet::new(header);
    for ((sigma2, copies), residual) in cells.iter().zip(&residuals) {
        let upper = |value: &Enclosure| ends(value)[1].clone();
        let bounds = [&residual.omega_1, &residual.omega_2, &residual.omega_3, &residual.bound()].map(upper);
        let head = vec![sigma2.to_string(), copies.to_string()];
        sheet.push([head, bounds.to_vec(), ends(&residual.supremum).to_vec()].concat());
    }
    // The residuals are below the smallest double, so their logarithms are drawn on a linear axis.
    let exponent = |value: &Enclosure| value.ln().approximate() / std::f64::consts::LN_10;
    let panels = (SIGMA2.iter().zip(residuals.chunks(COPIES.len())))
        .map(|(sigma2, row)| {
            let points = |value: &dyn Fn(&Residual) -> f64| -> Vec<(f64, f64)> {
                COPIES.iter().zip(row).map(|(copies, residual)| (*copies as f64, value(residual))).collect()
            };
            let (bound, truth) =
                (points(&|residual| exponent(&residual.bound())), points(&|residual| exponent(&residual.supremum)));
            let (low, high) =
                (truth.iter().fold(0.0_f64, |low, p| low.min(p.1)), bound.iter().fold(-1e9_f64, |h, p| h.max(p.1)));
            let room = (high - low) * 0.08;
            Panel {
                title: format!("σ² = {sigma2}"),
                x: Axis::log("number of counts n", 4.0, 125.0),
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

/// Figure 10: the masses of the sum of two, and the density that Theorem A.11 puts in their place.
pub fn figure_10(_: &Sources) -> Result<Drawing> {
    const COPIES: u64 = 2;
    let mut sheet = Sheet::new(["sigma2", "y", "mass_lower", "mass_upper", "density_lower", "density_upper"]);
    let mut panels = Vec::new();
    for (text, reach, top) in [("5", 12_i64, 0.15), ("25", 26, 0.07)] {
        let sigma2 = parse(text)?;
        let sum = SumOfCopies::new(sigma2.clone(), COPIES, 30)?;
        let (mut masses, mut densities) = (Vec::new(), Vec::new());
        for y in -reach..=reach {
            let (mass, approximation) = (sum.mass(y), density(&sigma2, COPIES, y, 30));
            sheet.push(
                [vec![text.to_string(), y.to_string()], ends(&mass).to_vec(), ends(&approximation).to_vec()].concat(),
            );
            masses.push((y as f64, mass.approximate()));
            densities.push((y as f64, approximation.approximate()));
        }
        panels.push(Panel {
            title: format!("σ² = {text}"),
            x: Axis::linear("sum of two draws", -reach as f64 - 0.5, reach as f64 + 0.5),
            y: Axis::linear("probability", 0.0, top),
            series: vec![
                Series::dots("exact mass", Ink::Blue, masses),
                Series::line("density of the Gaussian, φ(y / B) / B", Ink::Black, densities),
            ],
        });
    }
    let title = "The sum of two discrete Gaussians and its approximation".to_string();
    Ok(Drawing { sheet, figure: Figure { title, columns: 2, panels } })
}
