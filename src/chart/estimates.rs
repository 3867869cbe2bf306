//! Estimates with their margins, unit by unit, beside the published values.

use super::figure::{Axis, Figure, Ink, Panel, Series};

/// A count of a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// The name of the unit.
    pub name: String,
    /// The estimate.
    pub estimate: f64,
    /// Its margin to either side.
    pub margin: f64,
    /// The published value, if it is known.
    pub published: Option<f64>,
}

/// Up to this number of units, names are shown; more units are sorted by estimate.
const NAMED: usize = 60;

/// Two panels: the counts, and the differences of margins and published counts from the estimates. There must be at
/// least one unit.
pub fn intervals(title: &str, units: &[Interval]) -> Figure {
    let mut units: Vec<&Interval> = units.iter().collect();
    let named = units.len() <= NAMED;
    if !named {
        units.sort_by(|a, b| a.estimate.total_cmp(&b.estimate));
    }
    let y = || match named {
        true => Axis::names(units.iter().map(|unit| &unit.name)),
        false => Axis::whole("rank by estimate", -1.0, units.len() as f64),
    };
    let panel = |title: &str, label: &str, center: fn(&Interval) -> f64| {
        let shift = |unit: &Interval, x: f64| x - unit.estimate + center(unit);
        let ends = |unit: &Interval| [unit.estimate - unit.margin, unit.estimate + unit.margin].map(|x| shift(unit, x));
        let (mut series, mut estimates, mut published) = (Vec::new(), Vec::new(), Vec::new());
        for (place, unit) in units.iter().enumerate() {
            let y = place as f64;
            series.push(Series::line("margin at 95 %", Ink::Blue, ends(unit).map(|x| (x, y)).to_vec()));
            estimates.push((center(unit), y));
            published.extend(unit.published.map(|x| (shift(unit, x), y)));
        }
        let all = series.iter().flat_map(|series| &series.points).chain(&published).map(|point| point.0);
        let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        let room = 0.04 * (high - low).max(1.0);
        if !published.is_empty() {
            series.push(Series::dots("published", Ink::Vermillion, published));
        }
        // The estimates are painted last: for large counts a margin is narrower than a marker.
        series.push(Series::points("estimate", Ink::Black, estimates));
        Panel { title: title.to_string(), x: Axis::linear(label, low - room, high + room), y: y(), series }
    };
    let panels = vec![panel("", "count", |unit| unit.estimate), panel("", "difference from the estimate", |_| 0.0)];
    Figure { title: title.to_string(), panels, columns: 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_and_published_counts_are_placed_correctly() {
        let unit = |at: usize, published| Interval {
            name: format!("tract {at}"),
            estimate: 100.0 * at as f64,
            margin: 5.0,
            published,
        };
        let figure = intervals("t", &[unit(3, Some(307.0)), unit(1, None)]);
        let [counts, differences] = &figure.panels[..] else { panic!("two panels") };
        assert_eq!(counts.series[0].points, [(295.0, 0.0), (305.0, 0.0)]);
        assert_eq!(differences.series[1].points, [(-5.0, 1.0), (5.0, 1.0)]);
        let of = |panel: &Panel, name: &str| {
            panel.series.iter().find(|series| series.name == name).map(|series| series.points.clone())
        };
        assert_eq!(of(counts, "estimate"), Some(vec![(300.0, 0.0), (100.0, 1.0)]));
        assert_eq!(of(differences, "published"), Some(vec![(7.0, 0.0)]));
        assert!(differences.x.from < -5.0 && differences.x.to > 7.0);
        // A large number of units is sorted by estimate.
        let many: Vec<Interval> = (0..100).rev().map(|at| unit(at, None)).collect();
        let figure = intervals("t", &many);
        assert_eq!(of(&figure.panels[0], "estimate").unwrap()[99], (9900.0, 99.0));
        assert_eq!(of(&figure.panels[0], "published"), None);
    }
}
