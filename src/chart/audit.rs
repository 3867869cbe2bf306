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
