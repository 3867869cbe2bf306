//! Tables 1 and 3.

use rayon::prelude::*;
use rug::Rational;

use super::{
    super::{Drawing, Sheet, Sources, dots, ends, exact},
    counts, noise, percent_below, printed_sigma2, release, whole,
};
use crate::{
    account::{calibrate, conversions},
    error::Result,
    evidence::plot::{Axis, Figure, Ink, Panel},
    numeric::{Enclosure, rational::parse},
};

/// A column of Table 1: the Bureau's sigma2, its zCDP epsilon, the matching sigma2, and that as printed.
type Match = (Rational, Enclosure, Enclosure, Rational);

/// Table 1: the variance proxy at which the exact epsilon at delta = 1e-11 is that of zCDP with the original noise.
pub fn table_1(_: &Sources) -> Result<Drawing> {
    const DECIMALS: u32 = 7;
    let release = release()?;
    let delta = parse("1e-11")?;
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
            let target = conversions::zcdp_epsilon(counts(&sigma2, count)?.rho(), &delta, 30);
            let guess = sigma2.to_f64() * 0.83;
            let least = calibrate::least_on_grid(|sigma2| counts(sigma2, count), &target, &delta, DECIMALS, guess)?;
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
            dots("the Bureau's", Ink::Vermillion, points(&|row| row.0.to_f64())),
            dots("matched to the same ε at δ = 10⁻¹¹ (ours)", Ink::Blue, points(&|row| row.2.approximate())),
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
        let share = Rational::from(&level.rho / &total) * 100_u32;
        points.push((share.to_f64(), k as f64));
        sheet.push(vec![level.name.clone(), exact(&share), count.to_string(), exact(&level.rho), exact(&sigma2)]);
    }
    let panel = Panel {
        title: String::new(),
        x: Axis::linear("share of the budget ρ = 3.65 (%)", 0.0, 30.0),
        y: Axis::names(release.levels.iter().map(|level| &level.name)),
        series: vec![dots("ten counts at each geolevel", Ink::Blue, points)],
    };
    let title = "How the 2020 DHC allocation of 2022-08-25 shares its budget among the geolevels".to_string();
    Ok(Drawing { sheet, figure: Figure { title, columns: 1, panels: vec![panel] } })
}
