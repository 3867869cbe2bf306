//! A figure as SVG, readable in colour, with colour blindness and in grey.
//!
//! Every ink has its own colour of the Okabe-Ito palette, its own dash pattern and its own marker, so no distinction
//! depends on colour alone. The same figure gives the same bytes: they do not depend on fonts, time or machine.

use plotters::prelude::*;

use super::{
    figure::{Axis, Figure, Ink, Mark, Scale, Series},
    marks::{DOT, LABEL, STROKE, TICK, failed, marker, round, width},
};
use crate::error::Result;

// Pixels. The drawing is four times as large as the displayed figure, since plotters rounds to whole pixels.
const SHOWN: u32 = 4;
const TITLE: u32 = 68;
const PANEL: (u32, u32) = (1120, 940);
const LONE_PANEL: (u32, u32) = (2480, 1520);
/// Smaller, so that its text is larger: pages are also read on telephones.
pub(super) const PANEL_ON_PAGE: (u32, u32) = (1640, 1080);
const MARGIN: u32 = 40;

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

impl Figure {
    /// The figure as a complete SVG document.
    pub fn svg(&self) -> Result<String> {
        self.svg_of(LONE_PANEL)
    }

    /// The same, with this size for a lone panel.
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

/// The width of the longest name of an axis of names; zero for any other axis.
fn names_width(axis: &Axis) -> u32 {
    match &axis.scale {
        Scale::Names(names) => names.iter().map(|name| width(name, TICK)).max().unwrap_or(0),
        Scale::Linear | Scale::Whole | Scale::Log => 0,
    }
}

/// Adds the dash patterns and the displayed size, which plotters cannot express.
fn finish(svg: &str, (full, tall): (u32, u32)) -> String {
    let size = format!("width=\"{full}\" height=\"{tall}\"");
    let shown = format!("width=\"{}\" height=\"{}\"", full / SHOWN, tall / SHOWN);
    let mut out = svg.replacen(&size, &shown, 1);
    for ink in [Ink::Vermillion, Ink::Black, Ink::Green, Ink::Orange, Ink::Grey] {
        if let Some(dashes) = ink.dashes() {
            let RGBColor(r, g, b) = ink.colour();
            // Only series are polylines of this colour and width; axes and ticks are thinner.
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
    use crate::chart::Panel;

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
    fn a_figure_is_reproducible_and_contains_all_texts() {
        let svg = figure().svg().unwrap();
        assert_eq!(svg, figure().svg().unwrap());
        for text in ["A title", "x (nats)", "solid", "dashed", "dots", "first", "second", "10⁻⁶", "stroke-dasharray"]
        {
            assert!(svg.contains(text), "{text}");
        }
        assert!(svg.starts_with("<svg width=") && svg.trim_end().ends_with("</svg>"));
    }

    #[test]
    fn an_axis_shows_a_second_set_of_numbers() {
        let mut figure = figure();
        figure.panels[0].x =
            Axis::log("s", 0.01, 10.0).with_opposite("rho", vec![(0.05, "ten".into()), (99.0, "beyond it".into())]);
        let svg = figure.svg().unwrap();
        assert!(svg.contains("rho") && svg.contains("ten") && !svg.contains("beyond it"));
    }
}
