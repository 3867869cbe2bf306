//! Plots of an audit: observed and declared masses, and variances by level and query. All are approximations.

use super::figure::{Axis, Figure, Ink, Panel, Series};

/// A cell of a histogram: its place, the observed and the declared mass, and the standard deviation of the observed one.
pub type Cell = (i64, f64, f64, f64);

/// Observed and declared masses, and below their ratio with a band of three standard deviations.
pub fn masses(title: &str, cells: &[Cell]) -> Figure {
    let seen: Vec<&Cell> = cells.iter().filter(|cell| cell.1 > 0.0 || cell.2 > 3.0 * cell.3).collect();
    let (from, to) = (seen.first().map_or(0, |cell| cell.0) as f64, seen.last().map_or(0, |cell| cell.0) as f64);
    let x = || Axis::whole("draw", from - 0.5, to + 0.5);
    let points = |value: &dyn Fn(&Cell) -> f64| -> Vec<(f64, f64)> {
        seen.iter().map(|cell| (cell.0 as f64, value(cell))).filter(|point| point.1 > 0.0).collect()
    };
    let (observed, declared) = (points(&|cell| cell.1), points(&|cell| cell.2));
    let all = observed.iter().chain(&declared).map(|point| point.1);
    let (least, most) = all.fold((1.0_f64, 0.0_f64), |(least, most), mass| (least.min(mass), most.max(mass)));
    let (least, most) = if most > 0.0 { (least * 0.5, most * 2.0) } else { (0.1, 1.0) };
    // Cells with few draws would hide the others.
    let often: Vec<&&Cell> = seen.iter().filter(|cell| cell.2 > 0.0 && 3.0 * cell.3 < cell.2).collect();
    let ratio: Vec<(f64, f64)> = often.iter().map(|cell| (cell.0 as f64, cell.1 / cell.2)).collect();
    let band = |sign: f64| -> Vec<(f64, f64)> {
        often.iter().map(|cell| (cell.0 as f64, 1.0 + sign * 3.0 * cell.3 / cell.2)).collect()
    };
    let off = ratio.iter().chain(&band(1.0)).map(|point| (point.1 - 1.0).abs()).fold(1e-6, f64::max) * 1.1;
    let panel = |y: Axis, series: Vec<Series>| Panel { title: String::new(), x: x(), y, series };
    let panels = vec![
        panel(
            Axis::log("probability", least, most),
            vec![Series::line("declared", Ink::Blue, declared), Series::dots("observed", Ink::Vermillion, observed)],
        ),
        panel(
            Axis::linear("observed / declared", 1.0 - off, 1.0 + off),
            vec![
                Series::line("3 standard deviations", Ink::Grey, band(1.0)),
                Series::line("3 standard deviations below", Ink::Grey, band(-1.0)),
                Series::dots("observed / declared", Ink::Vermillion, ratio),
            ],
        ),
    ];
    Figure { title: title.to_string(), panels, columns: 2 }
}

/// Trade-off functions: above the bound that runs prove there is none of the program, claims (name, epsilon, delta) say that it is not below theirs, and the declared law has its own.
/// Bounds are points (type I error, type II error) that the same test reaches at once.
pub fn outputs(title: &str, claims: &[(String, f64, f64)], bounds: &[(f64, f64)], exact: Vec<(f64, f64)>) -> Figure {
    let claimed = claims.iter().zip([Ink::Vermillion, Ink::Green, Ink::Orange].into_iter().cycle());
    let mut series = vec![Series::line("no privacy loss", Ink::Grey, vec![(0.0, 1.0), (1.0, 0.0)])];
    series.extend(claimed.map(|((name, epsilon, delta), ink)| {
        let knee = (1.0 - delta) / (1.0 + libm::exp(*epsilon));
        Series::line(name, ink, vec![(0.0, 1.0 - delta), (knee, knee), (1.0 - delta, 0.0)])
    }));
    if !exact.is_empty() {
        series.push(Series::line("declared law", Ink::Blue, exact));
    }
    series.push(Series::line("at most, by the runs", Ink::Black, hull(bounds)));
    series.push(Series::dots("tests that the runs bound", Ink::Black, bounds.to_vec()));
    let axis = |label| Axis::linear(label, 0.0, 1.0);
    let (x, y) = (axis("type I error, alpha"), axis("type II error, beta"));
    Figure { title: title.to_string(), panels: vec![Panel { title: String::new(), x, y, series }], columns: 1 }
}

/// The largest convex function from (0, 1) to (1, 0) that is nowhere above these points.
fn hull(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sorted = points.to_vec();
    sorted.extend([(0.0, 1.0), (1.0, 0.0)]);
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for next in sorted {
        while let [.., before, last] = hull[..] {
            let is_below = (last.0 - before.0) * (next.1 - before.1) > (last.1 - before.1) * (next.0 - before.0);
            if is_below {
                break;
            }
            hull.pop();
        }
        hull.push(next);
    }
    hull
}

/// Observed over declared variances, a row for each name, on a line of three standard deviations to each side of one.
pub fn variances(title: &str, rows: &[(String, f64, f64)]) -> Figure {
    let names = rows.iter().map(|row| row.0.clone());
    let off = rows.iter().map(|row| (row.1 - 1.0).abs().max(3.0 * row.2)).fold(1e-6, f64::max) * 1.1;
    let band = |(place, row): (usize, &(String, f64, f64))| {
        let ends = [1.0 - 3.0 * row.2, 1.0 + 3.0 * row.2].map(|x| (x, place as f64));
        Series::line("3 standard deviations", Ink::Grey, ends.to_vec())
    };
    let mut series: Vec<Series> = rows.iter().enumerate().map(band).collect();
    let observed = rows.iter().enumerate().map(|(place, row)| (row.1, place as f64)).collect();
    // Painted last: a line may be narrower than a marker.
    series.push(Series::dots("observed / declared", Ink::Vermillion, observed));
    let panel = Panel {
        title: String::new(),
        x: Axis::linear("observed / declared variance", 1.0 - off, 1.0 + off),
        y: Axis::names(names),
        series,
    };
    Figure { title: title.to_string(), panels: vec![panel], columns: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_tests_are_convex_and_claims_have_their_knees() {
        let points = [(0.2, 0.3), (0.5, 0.45), (0.1, 0.5), (0.9, 0.02), (0.0, 1.0)];
        assert_eq!(hull(&points), [(0.0, 1.0), (0.1, 0.5), (0.2, 0.3), (0.9, 0.02), (1.0, 0.0)]);
        assert_eq!(hull(&[]), [(0.0, 1.0), (1.0, 0.0)]);
        // A test that is worse than guessing bounds nothing.
        assert_eq!(hull(&[(0.6, 0.7)]), [(0.0, 1.0), (1.0, 0.0)]);
        let figure = outputs("t", &[("claim".to_string(), 0.0, 0.5)], &points, Vec::new());
        assert_eq!(figure.panels[0].series[1].points, [(0.0, 0.5), (0.25, 0.25), (0.5, 0.0)]);
    }

    #[test]
    fn axes_contain_all_points() {
        let cells = [(-1, 0.0, 0.2, 0.01), (0, 0.62, 0.6, 0.01), (1, 0.2, 0.2, 0.01), (2, 0.0, 1e-9, 1e-5)];
        let figure = masses("t", &cells);
        let ratio = &figure.panels[1];
        assert_eq!((ratio.x.from, ratio.x.to), (-1.5, 1.5));
        assert!(figure.panels.iter().all(|panel| {
            let points = panel.series.iter().flat_map(|series| &series.points);
            points.into_iter().all(|(_, y)| (panel.y.from..=panel.y.to).contains(y))
        }));
        assert!(masses("none", &[]).panels[0].y.from > 0.0);
        let rows = [("State total".to_string(), 1.2, 0.05), ("Block total".to_string(), 0.9, 0.1)];
        let by_level = &variances("t", &rows).panels[0];
        assert!(by_level.x.to >= 1.3 && by_level.series[2].points == [(1.2, 0.0), (0.9, 1.0)]);
        let from_one: Vec<f64> = by_level.series[0].points.iter().map(|point| point.0 - 1.0).collect();
        assert!((from_one[0] + 0.15).abs() < 1e-12 && (from_one[1] - 0.15).abs() < 1e-12);
    }
}
