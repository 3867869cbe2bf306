//! A panel as SVG: its heading, axes and series within its part of the drawing.

use plotters::{
    coord::ranged1d::{DefaultFormatting, KeyPointHint},
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::{
    figure::{Mark, Panel, Scale, Series},
    marks::{DOT, LABEL, STROKE, TICK, failed, marker, round, width},
};
use crate::error::Result;

/// The gap above and around a panel, and to its right.
const GAP: u32 = 28;
/// The distance between the marks of one row, if the row is high enough.
const APART: f64 = 48.0;
const RIGHT: u32 = 60;

/// A chart with the coordinates of a panel.
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<GivenTicks, GivenTicks>>;
/// A part of the drawing.
type Area<'b> = DrawingArea<SVGBackend<'b>, plotters::coord::Shift>;

impl Panel {
    /// Draws the panel; `names` is the width of the longest name beside any panel of the figure.
    pub(super) fn draw(&self, area: &Area, names: u32) -> Result<()> {
        let (x, y) = (self.x.ends(), self.y.ends());
        let (wide, tall) = area.dim_in_pixel();
        let below = TICK + LABEL + 50;
        let above = if self.title.is_empty() { 0 } else { LABEL + 24 }
            + if self.x.opposite.is_some() { TICK + LABEL + 30 } else { 0 };
        let y_ticks = self.y.ticks(tall.saturating_sub(below + above + 2 * GAP), |_| TICK);
        let widest = y_ticks.iter().map(|(_, text)| width(text, TICK)).max().unwrap_or(0);
        let side = if names > 0 { names + 40 } else { widest + LABEL + 68 };
        let x_ticks = self.x.ticks(wide.saturating_sub(side + GAP + RIGHT), |text| width(text, TICK));
        let places = |ticks: &[(f64, String)]| ticks.iter().map(|(place, _)| *place).collect::<Vec<f64>>();
        let say = |ticks: &[(f64, String)], place: f64| {
            let tick = ticks.iter().find(|(tick, _)| (tick - place).abs() < 1e-9);
            tick.map_or_else(String::new, |(_, text)| text.clone())
        };
        let mut chart = ChartBuilder::on(area)
            .margin(GAP)
            .margin_right(RIGHT)
            .margin_top(GAP + above)
            .x_label_area_size(below)
            .y_label_area_size(side)
            .build_cartesian_2d(
                GivenTicks { ends: x, ticks: places(&x_ticks) },
                GivenTicks { ends: y, ticks: places(&y_ticks) },
            )
            .map_err(failed)?;
        chart
            .configure_mesh()
            .x_labels(x_ticks.len().max(1))
            .y_labels(y_ticks.len().max(1))
            .x_label_formatter(&|place| say(&x_ticks, *place))
            .y_label_formatter(&|place| say(&y_ticks, *place))
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .label_style(("sans-serif", TICK))
            .axis_desc_style(("sans-serif", LABEL))
            .bold_line_style(RGBColor(225, 225, 225).stroke_width(2))
            .light_line_style(TRANSPARENT)
            .axis_style(BLACK.stroke_width(4))
            .set_all_tick_mark_size(14)
            .draw()
            .map_err(failed)?;
        self.draw_head(area, side)?;
        self.draw_opposite(area, side, above)?;
        let row = chart.plotting_area().dim_in_pixel().1 as f64 / (y.1 - y.0);
        for series in &self.series {
            self.draw_series(&mut chart, series, row)?;
        }
        Ok(())
    }

    /// The heading, centred above the axes.
    fn draw_head(&self, area: &Area, side: u32) -> Result<()> {
        if self.title.is_empty() {
            return Ok(());
        }
        let (wide, _) = area.dim_in_pixel();
        let middle = (side + GAP + wide.saturating_sub(RIGHT)) / 2;
        self.centred(area, &self.title, LABEL, (middle as i32, GAP as i32 - 12))
    }

    fn centred(&self, area: &Area, text: &str, size: u32, at: (i32, i32)) -> Result<()> {
        let middle = Pos::new(HPos::Center, VPos::Top);
        let style = TextStyle::from(("sans-serif", size).into_font()).color(&BLACK).pos(middle);
        area.draw(&Text::new(text.to_string(), at, style)).map_err(failed)
    }

    /// The second set of numbers of the horizontal axis, above the panel.
    fn draw_opposite(&self, area: &Area, side: u32, above: u32) -> Result<()> {
        let Some(opposite) = &self.x.opposite else { return Ok(()) };
        let (wide, _) = area.dim_in_pixel();
        let (left, right) = (f64::from(side + GAP), f64::from(wide.saturating_sub(RIGHT)));
        let (from, to) = self.x.ends();
        let bottom = (GAP + above) as i32;
        for (value, label) in &opposite.ticks {
            let share = (self.x.place(*value) - from) / (to - from);
            if !(0.0..=1.0).contains(&share) {
                continue;
            }
            let x = (left + share * (right - left)).round() as i32;
            let tick = PathElement::new(vec![(x, bottom - 14), (x, bottom)], BLACK.stroke_width(4));
            area.draw(&tick).map_err(failed)?;
            self.centred(area, label, TICK, (x, bottom - TICK as i32 - 22))?;
        }
        let middle = ((left + right) / 2.0).round() as i32;
        let edge = PathElement::new(vec![(left as i32, bottom), (right as i32, bottom)], BLACK.stroke_width(4));
        area.draw(&edge).map_err(failed)?;
        self.centred(area, &opposite.label, LABEL, (middle, bottom - (TICK + LABEL) as i32 - 26))
    }

    /// The vertical shift of a mark from the name of its row, so that it lies beside the marks of other series in that
    /// row.
    fn shift(&self, series: &Series, name: f64, row: f64) -> f64 {
        if !matches!(self.y.scale, Scale::Names(_)) || series.mark != Mark::Dots {
            return 0.0;
        }
        let is_here = |other: &&Series| other.mark == Mark::Dots && other.points.iter().any(|point| point.1 == name);
        let here: Vec<&Series> = self.series.iter().filter(is_here).collect();
        let own = here.iter().position(|other| std::ptr::eq(*other, series)).unwrap_or(0);
        beside(own, here.len(), row)
    }

    /// Draws a series; a unit of the vertical axis is `row` pixels high.
    fn draw_series(&self, chart: &mut Chart, series: &Series, row: f64) -> Result<()> {
        let colour = series.ink.colour();
        let place = |(a, b): &(f64, f64)| (self.x.place(*a), self.y.place(*b) + self.shift(series, *b, row));
        let placed = series.points.iter().map(place);
        match series.mark {
            Mark::Line => {
                let points: Vec<(f64, f64)> = placed.collect();
                for run in clip_line(points.iter().copied(), self.x.ends(), self.y.ends()) {
                    chart.draw_series(LineSeries::new(run, colour.stroke_width(STROKE))).map_err(failed)?;
                }
                // A point that is not joined to another one gives no visible line, so it gets a marker.
                if let Some(point) = lone(&points, self.x.ends(), self.y.ends()) {
                    marker(series.ink, |shape| {
                        chart.plotting_area().draw(&(EmptyElement::at(point) + shape)).map_err(failed)
                    })?;
                }
            }
            Mark::Dots => {
                for point in placed {
                    marker(series.ink, |shape| {
                        chart.plotting_area().draw(&(EmptyElement::at(point) + shape)).map_err(failed)
                    })?;
                }
            }
            Mark::Points => {
                for point in placed {
                    let dot = EmptyElement::at(point) + Polygon::new(round(DOT), colour.filled());
                    chart.plotting_area().draw(&dot).map_err(failed)?;
                }
            }
            Mark::Tiles => {
                for ends in tiles(&series.points) {
                    let ends = ends.map(|(a, b)| (self.x.place(a), self.y.place(b)));
                    chart.plotting_area().draw(&Rectangle::new(ends, colour.filled())).map_err(failed)?;
                }
            }
        }
        Ok(())
    }
}

/// The vertical shift of mark k of `all` marks in one row, so that marks with nearly equal values do not hide each
/// other; a row is `row` pixels high.
fn beside(k: usize, all: usize, row: f64) -> f64 {
    const LEAST: f64 = 0.14;
    const MOST: f64 = 0.36;
    if all < 2 {
        return 0.0;
    }
    let between = (all - 1) as f64;
    let reach = (APART * between / (2.0 * row)).clamp(LEAST, MOST);
    reach - 2.0 * reach * k as f64 / between
}

/// The corners of squares around points; squares that touch vertically are merged.
fn tiles(points: &[(f64, f64)]) -> Vec<[(f64, f64); 2]> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let runs = sorted.chunk_by(|a, b| a.0 == b.0 && b.1 - a.1 <= 1.0);
    runs.map(|run| [(run[0].0 - 0.5, run[0].1 - 0.5), (run[0].0 + 0.5, run[run.len() - 1].1 + 0.5)]).collect()
}

/// A linear coordinate with given ticks.
struct GivenTicks {
    ends: (f64, f64),
    ticks: Vec<f64>,
}

impl Ranged for GivenTicks {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.ends.0) / (self.ends.1 - self.ends.0);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.ends.0..self.ends.1
    }
}

/// The only point of a line, if the line has no other and the point lies in the box of the panel.
fn lone(points: &[(f64, f64)], x: (f64, f64), y: (f64, f64)) -> Option<(f64, f64)> {
    let mut finite = points.iter().filter(|(a, b)| a.is_finite() && b.is_finite());
    let first = *finite.next()?;
    let is_alone = finite.all(|other| *other == first);
    let is_inside = (x.0..=x.1).contains(&first.0) && (y.0..=y.1).contains(&first.1);
    (is_alone && is_inside).then_some(first)
}

/// The parts of a line that lie in the box of the panel.
fn clip_line(points: impl Iterator<Item = (f64, f64)>, x: (f64, f64), y: (f64, f64)) -> Vec<Vec<(f64, f64)>> {
    let mut runs: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut before: Option<(f64, f64)> = None;
    for point in points.filter(|(a, b)| a.is_finite() && b.is_finite()) {
        if let Some(start) = before
            && let Some((a, b)) = clip_segment(start, point, x, y)
        {
            match runs.last_mut() {
                Some(run) if run.last() == Some(&a) => run.push(b),
                _ => runs.push(vec![a, b]),
            }
        }
        before = Some(point);
    }
    runs
}

/// The part of a segment in the box (Liang & Barsky).
fn clip_segment(a: (f64, f64), b: (f64, f64), x: (f64, f64), y: (f64, f64)) -> Option<((f64, f64), (f64, f64))> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for (p, q) in [(-dx, a.0 - x.0), (dx, x.1 - a.0), (-dy, a.1 - y.0), (dy, y.1 - a.1)] {
        if p == 0.0 {
            if q < 0.0 {
                return None;
            }
        } else if p < 0.0 {
            from = from.max(q / p);
        } else {
            to = to.min(q / p);
        }
    }
    let at = |t: f64| match t {
        0.0 => a,
        1.0 => b,
        t => (a.0 + t * dx, a.1 + t * dy),
    };
    (from <= to).then(|| (at(from), at(to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertical_tiles_are_merged_and_marks_of_one_name_are_shifted() {
        let all = [(0.0, 1.0), (0.0, 2.0), (1.0, 1.0), (0.0, 4.0)];
        assert_eq!(tiles(&all), [[(-0.5, 0.5), (0.5, 2.5)], [(-0.5, 3.5), (0.5, 4.5)], [(0.5, 0.5), (1.5, 1.5)]]);
        // In a high row marks are shifted by 0.14 rows, in a low one by half of `APART`.
        let high = |k, all| beside(k, all, 1e4);
        assert_eq!([high(0, 1), high(0, 2), high(1, 2), high(1, 3)], [0.0, 0.14, -0.14, 0.0]);
        assert_eq!(beside(0, 2, 100.0) * 100.0, APART / 2.0);
    }

    #[test]
    fn a_line_with_one_point_gets_a_marker() {
        let ends = (0.0, 2.0);
        assert_eq!(lone(&[(1.0, 1.0), (f64::NAN, 1.0)], ends, ends), Some((1.0, 1.0)));
        assert_eq!(lone(&[(1.0, 1.0), (1.5, 1.0)], ends, ends), None);
        assert_eq!(lone(&[(3.0, 1.0)], ends, ends), None);
    }

    #[test]
    fn lines_end_at_the_box() {
        let runs = clip_line([(-1.0, -1.0), (1.0, 1.0), (3.0, 3.0)].into_iter(), (0.0, 2.0), (0.0, 2.0));
        assert_eq!(runs, vec![vec![(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]]);
        assert!(clip_line([(3.0, 0.0), (3.0, 1.0)].into_iter(), (0.0, 2.0), (0.0, 2.0)).is_empty());
    }
}
