//! The curves of an account as figures: a privacy profile, and a trade-off function.
//!
//! The plotted values are doubles, approximations of the certified numbers; a point that its axis cannot show is
//! omitted.

use super::figure::{Axis, Figure, Ink, Panel, Series};

/// The least delta that is plotted.
const LEAST: f64 = 1e-40;

/// The legend of an exact curve.
pub const EXACT: &str = "exact";

/// delta over epsilon: the exact profile, and that of another account by its name, as points (epsilon, delta) from left to right.
pub fn profile_beside(title: &str, exact: Vec<(f64, f64)>, name: &str, other: Vec<(f64, f64)>) -> Figure {
    let series = vec![Series::line(name, Ink::Vermillion, shown(other)), Series::line(EXACT, Ink::Blue, shown(exact))];
    let (x, y) = profile_axes(&series);
    lone(title, x, y, series)
}

/// epsilon over the size of a record, as points (shift, epsilon) from left to right.
pub fn by_shift(title: &str, points: Vec<(f64, f64)>) -> Figure {
    let (from, to) = range(points.iter().map(|(shift, _)| *shift));
    let (_, most) = range(points.iter().map(|(_, epsilon)| *epsilon));
    let (x, y) = (Axis::linear("shift", from, to), Axis::linear("epsilon", 0.0, most));
    lone(title, x, y, vec![Series::line(EXACT, Ink::Blue, points)])
}

/// The effect of calibration on one part: delta over epsilon, as points (epsilon, delta) from left to right.
#[derive(Clone, Debug)]
pub struct CalibratedCurves {
    /// The name of the part.
    pub name: String,
    /// The exact profile of the original noise.
    pub before: Vec<(f64, f64)>,
    /// The exact profile of the calibrated noise.
    pub after: Vec<(f64, f64)>,
    /// The zCDP (Bun-Steinke) profile of the original noise.
    pub zcdp: Vec<(f64, f64)>,
    /// The account that is drawn beside them: its name, and the profile of the original noise by it.
    pub beside: (&'static str, Vec<(f64, f64)>),
}

/// A panel for each calibrated part.
pub fn calibrations(title: &str, parts: Vec<CalibratedCurves>) -> Figure {
    let columns = if parts.len() < 2 { 1 } else { 2 };
    let panel = |part: CalibratedCurves| {
        let series = vec![
            Series::line(&format!("{}, as it was", part.beside.0), Ink::Vermillion, shown(part.beside.1)),
            Series::line("exact, as it was", Ink::Black, shown(part.before)),
            Series::line("exact, calibrated", Ink::Blue, shown(part.after)),
        ];
        let (x, y) = profile_axes(&series);
        Panel { title: part.name, x, y, series }
    };
    Figure { title: title.to_string(), panels: parts.into_iter().map(panel).collect(), columns }
}

/// The points that a profile can show.
fn shown(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.into_iter().filter(|(_, delta)| *delta >= LEAST && *delta <= 1.0).collect()
}

/// The axes of profiles: epsilon, and delta between powers of ten that contain the least point.
fn profile_axes(series: &[Series]) -> (Axis, Axis) {
    let all = || series.iter().flat_map(|series| &series.points);
    let (from, to) = range(all().map(|point| point.0));
    let least = all().map(|point| point.1).fold(1.0, f64::min);
    let bottom = libm::pow(10_f64, libm::log10(least).floor().min(-1.0));
    (Axis::linear("epsilon", from, to), Axis::log("delta", bottom, 1.0))
}

/// The smallest type II error over the type I error, as points (alpha, beta) from left to right, beside that of
/// guessing.
pub fn tradeoff(title: &str, points: Vec<(f64, f64)>) -> Figure {
    let series = vec![
        Series::line("no privacy loss: 1 - alpha", Ink::Black, vec![(0.0, 1.0), (1.0, 0.0)]),
        match points.len() {
            1 => Series::dots("exact", Ink::Blue, points),
            _ => Series::line("exact", Ink::Blue, points),
        },
    ];
    let axis = |label| Axis::linear(label, 0.0, 1.0);
    lone(title, axis("type I error, alpha"), axis("type II error, beta"), series)
}

/// The risk from the best test of each type I error: the posterior of a reported record and the power, as points (alpha, value) from left to right, beside the prior;
/// and the posterior relative to the prior.
pub fn risk(title: &str, prior: f64, [posterior, power]: [Vec<(f64, f64)>; 2]) -> Figure {
    let (from, to) = range(posterior.iter().map(|(alpha, _)| *alpha));
    let from = if posterior.len() > 1 { from } else { to / 10.0 };
    let drawn = |name: &str, ink, points: Vec<(f64, f64)>| match points.len() {
        1 => Series::dots(name, ink, points),
        _ => Series::line(name, ink, points),
    };
    let relative: Vec<(f64, f64)> = posterior.iter().map(|(alpha, value)| (*alpha, value / prior)).collect();
    let most = relative.iter().fold(1.0, |most: f64, point| most.max(point.1));
    let even = |value: f64| Series::line("no privacy loss", Ink::Black, vec![(from, value), (to, value)]);
    let x = || Axis::log("type I error, alpha", from, to);
    let probabilities =
        vec![even(prior), drawn("power", Ink::Vermillion, power), drawn("posterior", Ink::Blue, posterior)];
    let panel = |y, series| Panel { title: String::new(), x: x(), y, series };
    let panels = vec![
        panel(Axis::linear("probability", 0.0, 1.0), probabilities),
        panel(Axis::linear("relative risk", 0.0, most), vec![even(1.0), drawn("posterior", Ink::Blue, relative)]),
    ];
    Figure { title: title.to_string(), panels, columns: 2 }
}

fn lone(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Figure {
    let panel = Panel { title: String::new(), x, y, series };
    Figure { title: title.to_string(), panels: vec![panel], columns: 1 }
}

/// The least and the greatest of some numbers; for a single number a range around it, for none from 0 to 1.
fn range(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let (from, to) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), x| (from.min(x), to.max(x)));
    match () {
        () if from > to => (0.0, 1.0),
        () if from == to => (from - 0.5, to + 0.5),
        () => (from, to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Mark;

    #[test]
    fn points_outside_the_axes_are_omitted() {
        let exact = vec![(0.0, 0.5), (5.0, 1e-7), (9.0, 0.0)];
        let figure = profile_beside("t", exact, "zCDP", vec![(0.0, 1.0), (9.0, 3e-60)]);
        let panel = &figure.panels[0];
        assert_eq!((panel.x.from, panel.x.to, panel.y.from, panel.y.to), (0.0, 5.0, 1e-7, 1.0));
        assert_eq!((panel.series[0].points.len(), panel.series[1].points.len()), (1, 2));
        assert_eq!(range([].into_iter()), (0.0, 1.0));
        assert_eq!(range([3.0].into_iter()), (2.5, 3.5));
        assert!(tradeoff("t", vec![(0.1, 0.5)]).panels[0].series[1].mark != Mark::Line);
    }
}
