//! The charts of a report.

use anyhow::Result;
use dp_assay::{
    account::{Delta, Whole, compared::Conversion},
    chart::{Axis, Figure, Ink, Panel, Series, curves},
};
use rug::Rational;

use super::super::{calibrate::Row, output::exact_text, risk::bound};
use super::answers::{Drawn, Spared};
use super::words::{guessing, upper};

/// delta over epsilon, exactly and by a conversion, with the delta that is shown.
pub fn profile(delta: &Delta, drawn: &Drawn, account: &Whole, by: Conversion) -> Result<Figure> {
    let beside = drawn.beside(account, by)?;
    let mut figure = curves::profile_beside("", drawn.exact.clone(), by.name(), beside);
    for panel in &mut figure.panels {
        if let Some(end) = drawn.ends_at {
            // Down to the axis, below the shown delta: beyond the largest loss delta is 0.
            panel.y.from = panel.y.from.min(libm::pow(10_f64, libm::log10(delta.to_f64()).floor() - 1.0)).max(1e-300);
            let is_last = |series: &&mut Series| series.points.last().is_some_and(|point| point.0 <= end);
            let bounded =
                panel.series.iter_mut().filter(|series| series.name == curves::EXACT || by == Conversion::Pure);
            bounded.filter(is_last).for_each(|series| series.points.push((end, panel.y.from)));
            panel.x.to = panel.x.to.max(end);
        }
        panel.series.push(at_delta(delta, &panel.x));
    }
    Ok(figure)
}

fn at_delta(delta: &Delta, x: &Axis) -> Series {
    let height = delta.to_f64();
    Series::line(&format!("delta = {}", exact_text(delta)), Ink::Black, vec![(x.from, height), (x.to, height)])
}

/// The trade-off function.
pub fn tradeoff(drawn: &Drawn) -> Figure {
    curves::tradeoff("", drawn.tradeoff.clone())
}

/// How often an adversary is right, level by level.
pub fn right_decisions(prior: &Rational, found: &bound::Found) -> Figure {
    let lines: Vec<&bound::Line> = found.lines().collect();
    let guess = 100.0 * guessing(prior).to_f64();
    let points = |value: &dyn Fn(&bound::Line) -> f64| places(&lines, |line| value(line));
    let series = vec![
        Series::dots(
            &format!("at most, by {}", found.allowed().name()),
            Ink::Vermillion,
            points(&|line| hundred(&upper(found.allowed().bounds(&line.bound).correct))),
        ),
        Series::dots("guessing", Ink::Black, points(&|_| guess)),
        Series::dots("at most, exact", Ink::Blue, points(&|line| hundred(&upper(&line.bound.correct.value)))),
    ];
    let from = (guess - 2.0).max(0.0);
    let names = lines.iter().map(|line| line.name.as_str());
    of_levels(names, Axis::linear("right decisions in 100", from, 101.0), series)
}

/// The noise of each level before and after; `None` if no noise could be smaller.
pub fn noise(spared: &Spared) -> Option<Figure> {
    let rows: Vec<&Row> = spared.rows().collect();
    if rows.is_empty() {
        return None;
    }
    let after = places(&rows, |row| hundred(&row.factor));
    let most = after.iter().map(|point| point.0).fold(100.0, f64::max);
    let series = vec![
        Series::dots("present", Ink::Vermillion, places(&rows, |_| 100.0)),
        Series::dots("least", Ink::Blue, after),
    ];
    let names = rows.iter().map(|row| row.name.as_str());
    Some(of_levels(names, Axis::linear("sigma2, percent of the present one", 0.0, 1.03 * most), series))
}

fn hundred(value: &Rational) -> f64 {
    100.0 * value.to_f64()
}

/// A value for each line, at its place from the top.
fn places<L>(lines: &[&L], value: impl Fn(&L) -> f64) -> Vec<(f64, f64)> {
    lines.iter().enumerate().map(|(place, line)| (value(line), place as f64)).collect()
}

/// A panel with a line for each name.
pub fn of_levels<'n>(names: impl Iterator<Item = &'n str>, x: Axis, series: Vec<Series>) -> Figure {
    let panel = Panel { title: String::new(), x, y: Axis::names(names.map(shortened)), series };
    Figure { title: String::new(), panels: vec![panel], columns: 1 }
}

/// A name, shortened to leave room for the chart.
fn shortened(name: &str) -> String {
    const MOST: usize = 28;
    if name.chars().count() <= MOST {
        return name.to_string();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_leave_room() {
        assert_eq!(shortened("Block"), "Block");
        assert_eq!(shortened(&"ä".repeat(40)).chars().count(), 28);
    }
}
