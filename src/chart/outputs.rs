//! Plots of single outputs: the posterior probability beside the probability of the output.
//!
//! The plotted values are doubles, approximations of the certified numbers.

use super::figure::{Axis, Figure, Ink, Panel, Series};

/// The posterior probability after each noisy count, and the probability of that count, as points (count, probability).
pub fn of_one_count(title: &str, posterior: Vec<(f64, f64)>, probability: Vec<(f64, f64)>) -> Figure {
    let x = || axis("noisy count less the known one", &posterior);
    let panel = |y: Axis, series: Series| Panel { title: String::new(), x: x(), y, series: vec![series] };
    let of_output = from_zero("probability of the count", &probability);
    let panels = vec![
        panel(
            Axis::linear("posterior probability", 0.0, 1.0),
            Series::line("posterior probability", Ink::Blue, posterior.clone()),
        ),
        panel(of_output, Series::dots("probability of the count if the target counts", Ink::Vermillion, probability)),
    ];
    Figure { title: title.to_string(), columns: 2, panels }
}

/// Probabilities of integers, each series with its legend.
pub fn masses(title: &str, label: &str, series: Vec<(&str, Vec<(f64, f64)>)>) -> Figure {
    let all: Vec<(f64, f64)> = series.iter().flat_map(|(_, points)| points).copied().collect();
    let inks = super::ranks::INKS.into_iter().cycle();
    let panel = Panel {
        title: String::new(),
        x: axis(label, &all),
        y: from_zero("probability", &all),
        series: series.into_iter().zip(inks).map(|((name, points), ink)| Series::dots(name, ink, points)).collect(),
    };
    Figure { title: title.to_string(), columns: 1, panels: vec![panel] }
}

/// Lines over integers, with the labels of both axes and a legend for each line.
pub fn lines(title: &str, [x, y]: [&str; 2], series: Vec<(&str, Vec<(f64, f64)>)>) -> Figure {
    let all: Vec<(f64, f64)> = series.iter().flat_map(|(_, points)| points).copied().collect();
    let (low, high) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p.1), b.max(p.1)));
    let room = ((high - low) * 0.05).max(1e-3 * high.abs()).max(f64::MIN_POSITIVE);
    let inks = super::ranks::INKS.into_iter().cycle();
    let panel = Panel {
        title: String::new(),
        x: axis(x, &all),
        y: if all.is_empty() { Axis::linear(y, 0.0, 1.0) } else { Axis::linear(y, low - room, high + room) },
        series: series.into_iter().zip(inks).map(|((name, points), ink)| Series::line(name, ink, points)).collect(),
    };
    Figure { title: title.to_string(), columns: 1, panels: vec![panel] }
}

/// An axis over integers, extended by 1/2 at each end.
fn axis(label: &str, points: &[(f64, f64)]) -> Axis {
    let (from, to) = points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p.0), b.max(p.0)));
    if from > to { Axis::whole(label, 0.0, 1.0) } else { Axis::whole(label, from - 0.5, to + 0.5) }
}

fn from_zero(label: &str, points: &[(f64, f64)]) -> Axis {
    let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
    Axis::linear(label, 0.0, if most > 0.0 { most * 1.05 } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_contain_all_points() {
        let figure = of_one_count("t", vec![(-2.0, 0.4), (3.0, 0.7)], vec![(-2.0, 0.1), (3.0, 0.02)]);
        assert_eq!((figure.panels[0].x.from, figure.panels[0].x.to, figure.panels[1].y.to), (-2.5, 3.5, 0.1 * 1.05));
        assert_eq!(masses("t", "x", vec![("none", Vec::new())]).panels[0].x.to, 1.0);
    }
}
