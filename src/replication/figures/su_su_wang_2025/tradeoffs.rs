//! Figures of trade-off functions: 4, 12, 13.

use rayon::prelude::*;
use rug::{Integer, Rational, ops::Pow};

use super::inputs::{BUREAU, OURS, alike, noise, printed_factor, printed_sigma2, release, whole};
use crate::{
    account::{Account, Composition, conversions::zcdp_tradeoff},
    chart::{
        Axis, Drawing, Figure, Ink, Panel, Series, Sheet,
        drawing::{ends, exact},
    },
    error::Result,
    numeric::Enclosure,
    replication::{accounts::scaled, figures::item::Sources},
};

const HEADER: [&str; 8] = [
    "level",
    "alpha",
    "beta_lower",
    "beta_upper",
    "reduced_beta_lower",
    "reduced_beta_upper",
    "zcdp_beta_lower",
    "zcdp_beta_upper",
];

/// f of the same noise, of the reduced noise, and what zCDP implies of the same noise.
struct Curves {
    alphas: Vec<Rational>,
    same: Vec<Enclosure>,
    reduced: Vec<Enclosure>,
    zcdp: Vec<Enclosure>,
}

impl Curves {
    fn new(same: &Composition, reduced: &Composition, alphas: Vec<Rational>, digits: u32) -> Result<Self> {
        let zcdp = alphas.par_iter().map(|alpha| zcdp_tradeoff(same.rho(), alpha, digits)).collect::<Result<_>>()?;
        let values = |of: &Composition| -> Result<Vec<Enclosure>> {
            Ok(of.tradeoff_curve(&alphas, digits)?.into_iter().map(|answer| answer.value).collect())
        };
        let (same, reduced) = (values(same)?, values(reduced)?);
        Ok(Curves { alphas, same, reduced, zcdp })
    }

    fn rows(&self, level: &str) -> Vec<Vec<String>> {
        let row = |k: usize| {
            let cells = [&self.same[k], &self.reduced[k], &self.zcdp[k]].map(ends).concat();
            [vec![level.to_string(), exact(&self.alphas[k])], cells].concat()
        };
        (0..self.alphas.len()).map(row).collect()
    }

    fn panel(&self, title: &str, reduced: &str) -> Panel {
        let drawn = |betas: &[Enclosure]| {
            let inner = self.alphas.iter().zip(betas).map(|(alpha, beta)| (alpha.to_f64(), beta.approximate()));
            // Every trade-off function ends in (1, 0); these begin in (0, 1).
            [(0.0, 1.0)].into_iter().chain(inner).chain([(1.0, 0.0)]).collect()
        };
        Panel {
            title: title.to_string(),
            x: Axis::linear("type I error α", 0.0, 1.0),
            y: Axis::linear("type II error β", 0.0, 1.0),
            series: vec![
                Series::line(BUREAU, Ink::Vermillion, drawn(&self.zcdp)),
                Series::line(reduced, Ink::Black, drawn(&self.reduced)),
                Series::line(OURS, Ink::Blue, drawn(&self.same)),
            ],
        }
    }
}

/// From 0 to 1, both excluded, closer at the ends.
fn alphas() -> Vec<Rational> {
    let near = ["1/10000", "1/2000", "1/1000", "1/500", "1/250", "1/150", "1/100", "3/200"];
    let near: Vec<Rational> = near.iter().filter_map(|text| text.parse().ok()).collect();
    let middle = (4..20).map(|k| (k, 200)).chain((5..46).map(|k| (2 * k, 100))).chain((181..197).map(|k| (k, 200)));
    let middle = middle.map(Rational::from);
    let far: Vec<Rational> = near.iter().rev().map(|alpha| Rational::from(1 - alpha)).collect();
    near.into_iter().chain(middle).chain(far).collect()
}

/// Figure 4: the trade-off functions of every level.
pub fn figure_4(_: &Sources) -> Result<Drawing> {
    let release = release()?;
    let parts: Vec<(Vec<Vec<String>>, Panel)> = (release.levels.par_iter())
        .map(|level| {
            let same = release.composition(&[&level.name], None)?;
            let reduced = alike(&printed_sigma2(&level.name)?, noise(&release, &level.name)?.1)?;
            let curves = Curves::new(&same, &reduced, alphas(), 12)?;
            Ok((curves.rows(&level.name), curves.panel(&level.name, "exact, reduced noise (ours)")))
        })
        .collect::<Result<_>>()?;
    let mut sheet = Sheet::new(HEADER);
    let mut panels = Vec::new();
    for (rows, panel) in parts {
        rows.into_iter().for_each(|row| sheet.push(row));
        panels.push(panel);
    }
    let title =
        "Trade-off function of each geolevel: the least type II error of any test of one neighbor against the other";
    Ok(Drawing { sheet, figure: Figure { title: title.to_string(), columns: 4, panels } })
}

/// Figure 12: of all levels together, with 8.59% less noise.
pub fn figure_12(_: &Sources) -> Result<Drawing> {
    let whole = whole(&release()?)?;
    let curves = Curves::new(&whole, &scaled(&whole, &printed_factor()?)?, alphas(), 12)?;
    let mut sheet = Sheet::new(HEADER);
    curves.rows("all").into_iter().for_each(|row| sheet.push(row));
    let panel = curves.panel("", "exact, 8.59% less noise");
    let title = "Trade-off function of all eight geolevels of the 2020 DHC together".to_string();
    Ok(Drawing { sheet, figure: Figure { title, columns: 1, panels: vec![panel] } })
}

/// Figure 13: County where the curves cross, near alpha = 0: the power 1 - beta of the best test.
/// The reduced noise is that of Table 1; with 8.59% less, which the paper's caption names, the curves do not cross there.
pub fn figure_13(_: &Sources) -> Result<Drawing> {
    const LEVEL: &str = "County";
    let release = release()?;
    let same = release.composition(&[LEVEL], None)?;
    let reduced = alike(&printed_sigma2(LEVEL)?, noise(&release, LEVEL)?.1)?;
    let power = |k: u32| Rational::from((1, Integer::from(10).pow(k)));
    let alphas = (6..=16_u32).rev().flat_map(|k| [1_u32, 2, 5].map(|digit| power(k) * digit)).collect();
    // One less beta of 10^-9 is left with 25 digits.
    let curves = Curves::new(&same, &reduced, alphas, 35)?;
    let one = Enclosure::double(1.0, 200);
    let header = HEADER.map(|name| name.replace("beta", "power"));
    let mut sheet = Sheet::new(header);
    let powers = |betas: &[Enclosure]| betas.iter().map(|beta| one.sub(beta)).collect::<Vec<_>>();
    let (same, reduced, zcdp) = (powers(&curves.same), powers(&curves.reduced), powers(&curves.zcdp));
    for (k, alpha) in curves.alphas.iter().enumerate() {
        let cells = [&same[k], &reduced[k], &zcdp[k]].map(ends).concat();
        sheet.push([vec![LEVEL.to_string(), exact(alpha)], cells].concat());
    }
    // The powers span ten decades, so each is drawn relative to that of zCDP.
    let drawn = |powers: &[Enclosure]| {
        let relative = powers.iter().zip(&zcdp).map(|(power, bound)| power.div(bound).approximate());
        curves.alphas.iter().zip(relative).map(|(alpha, power)| (alpha.to_f64(), power)).collect()
    };
    let panel = Panel {
        title: String::new(),
        x: Axis::log("type I error α", 1e-16, 1e-6),
        y: Axis::linear("power 1 − β relative to zCDP", 0.4, 1.2),
        series: vec![
            Series::line(BUREAU, Ink::Vermillion, drawn(&zcdp)),
            Series::line("exact, reduced noise (ours)", Ink::Black, drawn(&reduced)),
            Series::line(OURS, Ink::Blue, drawn(&same)),
        ],
    };
    let title =
        "Where the trade-off functions of County cross: power of the best test (less is more private)".to_string();
    Ok(Drawing { sheet, figure: Figure { title, columns: 1, panels: vec![panel] } })
}
