//! A figure as SVG, to be read in colour, by the colour-blind and in grey.
//!
//! Every ink has its own colour of the Okabe-Ito palette, its own dash pattern and its own marker, so no distinction
//! rests on colour alone. The same figure gives the same bytes: nothing depends on fonts, time or machine.

use plotters::{
    coord::ranged1d::{DefaultFormatting, KeyPointHint},
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::figure::{Axis, Figure, Ink, Mark, Panel, Scale, Series};
use crate::error::{Error, Result};

impl Ink {
    fn colour(self) -> RGBColor {
        match self {
            Ink::Blue => RGBColor(0, 114, 178),
            Ink::Vermillion => RGBColor(213, 94, 0),
            Ink::Black => RGBColor(0, 0, 0),
            Ink::Green => RGBColor(0, 158, 115),
            Ink::Orange => RGBColor(230, 159, 0),
            Ink::Grey => RGBColor(120, 120, 120),
        }
    }

    fn dashes(self) -> Option<&'static str> {
        match self {
            Ink::Blue => None,
            Ink::Vermillion => Some("44 24"),
            Ink::Black => Some("10 18"),
            Ink::Green => Some("44 18 10 18"),
            Ink::Orange => Some("20 16"),
            Ink::Grey => Some("6 14"),
        }
    }
}

// Pixels. All is drawn at four times the size at which it is shown, since plotters rounds to whole pixels.
const SHOWN: u32 = 4;
const TITLE: u32 = 68;
const LABEL: u32 = 56;
const TICK: u32 = 48;
const STROKE: u32 = 8;
const MARKER: i32 = 20;
const DOT: i32 = 9;
/// The gap above and around a panel, and to its right.
const GAP: u32 = 28;
const RIGHT: u32 = 60;
const PANEL: (u32, u32) = (1120, 940);
const LONE_PANEL: (u32, u32) = (2480, 1520);
/// Smaller, so that its text is larger: on a page it is shown as wide as a telephone, too.
pub(super) const PANEL_ON_PAGE: (u32, u32) = (1640, 1080);
const MARGIN: u32 = 40;

/// The approximate width of a text in pixels.
fn width(text: &str, size: u32) -> u32 {
    (text.chars().count() as f64 * f64::from(size) * 0.47).ceil() as u32
}

/// Breaks a text into lines of at most `most` pixels.
fn wrap(text: &str, size: u32, most: u32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + size / 2 <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

fn failed(error: impl ToString) -> Error {
    Error::out_of_range("a figure", error.to_string(), "one that can be drawn")
}

impl Figure {
    /// The figure as a complete SVG document.
    pub fn svg(&self) -> Result<String> {
        self.svg_of(LONE_PANEL)
    }

    /// The same where a lone panel has this size.
    pub(super) fn svg_of(&self, lone_panel: (u32, u32)) -> Result<String> {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns);
        let panel = if self.panels.len() == 1 { lone_panel } else { PANEL };
        // Names are written beside the panel.
        let names = self.panels.iter().map(|panel| names_width(&panel.y)).max().unwrap_or(0);
        let panel = (panel.0 + names, panel.1);
        let full = panel.0 * columns as u32 + 2 * MARGIN;
        let title = wrap(&self.title, TITLE, full - 2 * MARGIN);
        let legend = self.legend(full - 2 * MARGIN);
        let head = title.len() as u32 * (TITLE + 16) + legend.len() as u32 * (LABEL + 20) + MARGIN + 16;
        let tall = head + panel.1 * rows as u32 + MARGIN;
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, (full, tall)).into_drawing_area();
            root.fill(&WHITE).map_err(failed)?;
            let mut y = MARGIN as i32;
            for line in &title {
                let style = ("sans-serif", TITLE).into_font().color(&BLACK);
                root.draw(&Text::new(line.clone(), (MARGIN as i32, y), style)).map_err(failed)?;
                y += TITLE as i32 + 16;
            }
            for row in &legend {
                self.draw_legend(&root, row, y)?;
                y += LABEL as i32 + 20;
            }
            let body = root.margin(head, MARGIN, MARGIN, MARGIN);
            for (area, panel) in body.split_evenly((rows, columns)).iter().zip(&self.panels) {
                panel.draw(area, names)?;
            }
            root.present().map_err(failed)?;
        }
        Ok(finish(&svg, (full, tall)))
    }

    /// The legend: every ink and mark once, with the name of its first series, in rows of at most `most` pixels.
    fn legend(&self, most: u32) -> Vec<Vec<&Series>> {
        let mut seen: Vec<(Ink, Mark)> = Vec::new();
        let mut rows: Vec<Vec<&Series>> = Vec::new();
        let mut used = 0;
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            if seen.contains(&(series.ink, series.mark)) {
                continue;
            }
            seen.push((series.ink, series.mark));
            let wide = entry_width(series);
            if rows.is_empty() || used + wide > most {
                rows.push(Vec::new());
                used = 0;
            }
            used += wide;
            rows.last_mut().map(|row| row.push(series)).unwrap_or_default();
        }
        rows
    }

    fn draw_legend(
        &self,
        root: &DrawingArea<SVGBackend, plotters::coord::Shift>,
        row: &[&Series],
        y: i32,
    ) -> Result<()> {
        let mut x = MARGIN as i32;
        let middle = y + LABEL as i32 / 2;
        for series in row {
            let colour = series.ink.colour();
            match series.mark {
                Mark::Line => {
                    let line = PathElement::new(vec![(x, middle), (x + 160, middle)], colour.stroke_width(STROKE));
                    root.draw(&line).map_err(failed)?;
                }
                Mark::Dots => {
                    let draw = |shape| root.draw(&(EmptyElement::at((x + 80, middle)) + shape)).map_err(failed);
                    marker(series.ink, draw)?;
                }
                Mark::Points => {
                    let dot = Polygon::new(round(DOT), colour.filled());
                    root.draw(&(EmptyElement::at((x + 80, middle)) + dot)).map_err(failed)?;
                }
                Mark::Tiles => {
                    let ends = [(x + 50, middle - 28), (x + 110, middle + 28)];
                    root.draw(&Rectangle::new(ends, colour.filled())).map_err(failed)?;
                }
            }
            let style = ("sans-serif", LABEL).into_font().color(&BLACK);
            root.draw(&Text::new(series.name.clone(), (x + 192, y), style)).map_err(failed)?;
            x += entry_width(series) as i32;
        }
        Ok(())
    }
}

fn entry_width(series: &Series) -> u32 {
    width(&series.name, LABEL) + 192 + 72
}

/// A circle as a polygon of many corners, so that all markers are of one type.
fn round(radius: i32) -> Vec<(i32, i32)> {
    let corner = |k: i32| {
        let angle = f64::from(k) * std::f64::consts::TAU / 24.0;
        ((f64::from(radius) * angle.cos()).round() as i32, (f64::from(radius) * angle.sin()).round() as i32)
    };
    (0..24).map(corner).collect()
}

/// Draws the marker of an ink around its point.
fn marker(ink: Ink, draw: impl Fn(Polygon<(i32, i32)>) -> Result<()>) -> Result<()> {
    let square = |r: i32| vec![(-r, -r), (r, -r), (r, r), (-r, r)];
    let diamond = |r: i32| vec![(0, -r), (r, 0), (0, r), (-r, 0)];
    let colour = ink.colour();
    let (outline, inner) = match ink {
        Ink::Blue => (round(MARKER), None),
        Ink::Vermillion => (square(MARKER), Some(square(MARKER - 8))),
        Ink::Black => (diamond(MARKER + 6), None),
        Ink::Green => (round(MARKER), Some(round(MARKER - 8))),
        Ink::Orange => (square(MARKER), None),
        Ink::Grey => (diamond(MARKER + 6), Some(diamond(MARKER - 6))),
    };
    draw(Polygon::new(outline, colour.filled()))?;
    inner.map_or(Ok(()), |inner| draw(Polygon::new(inner, WHITE.filled())))
}

/// The width of the longest name of an axis of names; zero for any other axis.
fn names_width(axis: &Axis) -> u32 {
    match &axis.scale {
        Scale::Names(names) => names.iter().map(|name| width(name, TICK)).max().unwrap_or(0),
        Scale::Linear | Scale::Whole | Scale::Log => 0,
    }
}

/// A chart with the coordinates of a panel.
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<GivenTicks, GivenTicks>>;
/// A part of the drawing.
type Area<'b> = DrawingArea<SVGBackend<'b>, plotters::coord::Shift>;

impl Panel {
    fn draw(&self, area: &Area, names: u32) -> Result<()> {
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
        let dots = self.series.iter().filter(|series| series.mark == Mark::Dots).count();
        let mut drawn = 0;
        for series in &self.series {
            let shift = match (&self.y.scale, series.mark) {
                (Scale::Names(_), Mark::Dots) => {
                    drawn += 1;
                    beside(drawn - 1, dots)
                }
                _ => 0.0,
            };
            self.draw_series(&mut chart, series, shift)?;
        }
        Ok(())
    }

    /// The heading, in the middle above the axes.
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

    /// The other numbers of the horizontal axis, above the panel.
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

    fn draw_series(&self, chart: &mut Chart, series: &Series, shift: f64) -> Result<()> {
        let colour = series.ink.colour();
        let placed = series.points.iter().map(|(a, b)| (self.x.place(*a), self.y.place(*b) + shift));
        match series.mark {
            Mark::Line => {
                for run in clip_line(placed, self.x.ends(), self.y.ends()) {
                    chart.draw_series(LineSeries::new(run, colour.stroke_width(STROKE))).map_err(failed)?;
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

/// How far above its name a mark of this series is drawn, so that marks of several series with nearly one value do not hide
/// each other.
fn beside(series: usize, all: usize) -> f64 {
    const REACH: f64 = 0.14;
    if all < 2 { 0.0 } else { REACH - 2.0 * REACH * series as f64 / (all - 1) as f64 }
}

/// The corners of squares around points; those that touch above each other are one.
fn tiles(points: &[(f64, f64)]) -> Vec<[(f64, f64); 2]> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let runs = sorted.chunk_by(|a, b| a.0 == b.0 && b.1 - a.1 <= 1.0);
    runs.map(|run| [(run[0].0 - 0.5, run[0].1 - 0.5), (run[0].0 + 0.5, run[run.len() - 1].1 + 0.5)]).collect()
}

/// A linear coordinate whose ticks are given.
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

/// Adds the dash patterns and the size at which the drawing is shown, which plotters cannot express.
fn finish(svg: &str, (full, tall): (u32, u32)) -> String {
    let size = format!("width=\"{full}\" height=\"{tall}\"");
    let shown = format!("width=\"{}\" height=\"{}\"", full / SHOWN, tall / SHOWN);
    let mut out = svg.replacen(&size, &shown, 1);
    for ink in [Ink::Vermillion, Ink::Black, Ink::Green, Ink::Orange, Ink::Grey] {
        if let Some(dashes) = ink.dashes() {
            let RGBColor(r, g, b) = ink.colour();
            // Series are the only polylines of this colour and width; axes and ticks are thinner.
            let stroke = format!("stroke=\"#{r:02X}{g:02X}{b:02X}\" stroke-width=\"{STROKE}\"");
            out = out.replace(&stroke, &format!("{stroke} stroke-dasharray=\"{dashes}\""));
        }
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> Figure {
        let line = |name: &str, ink, slope: f64| Series {
            name: name.to_string(),
            ink,
            mark: Mark::Line,
            points: (0..=20).map(|k| (f64::from(k), 10f64.powf(-slope * f64::from(k)))).collect(),
        };
        Figure {
            title: "A title".to_string(),
            columns: 2,
            panels: vec![
                Panel {
                    title: "one".to_string(),
                    x: Axis::linear("x (nats)", 0.0, 10.0),
                    y: Axis::log("y", 1e-12, 1.0),
                    series: vec![line("solid", Ink::Blue, 1.0), line("dashed", Ink::Vermillion, 2.0)],
                },
                Panel {
                    title: String::new(),
                    x: Axis::log("x", 1.0, 30.0),
                    y: Axis::names(["first", "second"]),
                    series: vec![Series {
                        name: "dots".to_string(),
                        ink: Ink::Black,
                        mark: Mark::Dots,
                        points: vec![(2.0, 0.0), (20.0, 1.0)],
                    }],
                },
            ],
        }
    }

    #[test]
    fn a_figure_is_the_same_bytes_and_says_everything() {
        let svg = figure().svg().unwrap();
        assert_eq!(svg, figure().svg().unwrap());
        for text in ["A title", "x (nats)", "solid", "dashed", "dots", "first", "second", "10⁻⁶", "stroke-dasharray"]
        {
            assert!(svg.contains(text), "{text}");
        }
        assert!(svg.starts_with("<svg width=") && svg.trim_end().ends_with("</svg>"));
    }

    #[test]
    fn tiles_above_each_other_are_one_and_marks_of_one_name_lie_beside_each_other() {
        let all = [(0.0, 1.0), (0.0, 2.0), (1.0, 1.0), (0.0, 4.0)];
        assert_eq!(tiles(&all), [[(-0.5, 0.5), (0.5, 2.5)], [(-0.5, 3.5), (0.5, 4.5)], [(0.5, 0.5), (1.5, 1.5)]]);
        assert_eq!([beside(0, 1), beside(0, 2), beside(1, 2), beside(1, 3)], [0.0, 0.14, -0.14, 0.0]);
    }

    #[test]
    fn an_axis_has_other_numbers_above() {
        let mut figure = figure();
        figure.panels[0].x =
            Axis::log("s", 0.01, 10.0).with_opposite("rho", vec![(0.05, "ten".into()), (99.0, "beyond it".into())]);
        let svg = figure.svg().unwrap();
        assert!(svg.contains("rho") && svg.contains("ten") && !svg.contains("beyond it"));
    }

    #[test]
    fn lines_end_at_the_box() {
        let runs = clip_line([(-1.0, -1.0), (1.0, 1.0), (3.0, 3.0)].into_iter(), (0.0, 2.0), (0.0, 2.0));
        assert_eq!(runs, vec![vec![(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]]);
        assert!(clip_line([(3.0, 0.0), (3.0, 1.0)].into_iter(), (0.0, 2.0), (0.0, 2.0)).is_empty());
    }
}
