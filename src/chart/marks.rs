//! The colours, dash patterns and markers of inks, and the sizes of text and lines.

use plotters::prelude::*;

use super::figure::Ink;
use crate::error::{Error, Result};

// Pixels of the drawing, which is four times as large as the displayed figure.
/// The height of labels and headings.
pub(super) const LABEL: u32 = 56;
/// The height of tick labels.
pub(super) const TICK: u32 = 48;
/// The width of lines.
pub(super) const STROKE: u32 = 8;
const MARKER: i32 = 20;
/// The radius of small dots.
pub(super) const DOT: i32 = 9;

impl Ink {
    pub(super) fn colour(self) -> RGBColor {
        match self {
            Ink::Blue => RGBColor(0, 114, 178),
            Ink::Vermillion => RGBColor(213, 94, 0),
            Ink::Black => RGBColor(0, 0, 0),
            Ink::Green => RGBColor(0, 158, 115),
            Ink::Orange => RGBColor(230, 159, 0),
            Ink::Grey => RGBColor(120, 120, 120),
        }
    }

    pub(super) fn dashes(self) -> Option<&'static str> {
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

/// The approximate width of a text in pixels.
pub(super) fn width(text: &str, size: u32) -> u32 {
    (text.chars().count() as f64 * f64::from(size) * 0.47).ceil() as u32
}

/// An error of the plotting library.
pub(super) fn failed(error: impl ToString) -> Error {
    Error::fault(format!("the chart could not be drawn: {}", error.to_string()))
}

/// A circle as a polygon of many corners, so that all markers have one type.
pub(super) fn round(radius: i32) -> Vec<(i32, i32)> {
    let corner = |k: i32| {
        let angle = f64::from(k) * std::f64::consts::TAU / 24.0;
        ((f64::from(radius) * libm::cos(angle)).round() as i32, (f64::from(radius) * libm::sin(angle)).round() as i32)
    };
    (0..24).map(corner).collect()
}

/// Draws the marker of an ink around the origin.
pub(super) fn marker(ink: Ink, draw: impl Fn(Polygon<(i32, i32)>) -> Result<()>) -> Result<()> {
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
