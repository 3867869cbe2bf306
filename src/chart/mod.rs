//! Drawings as SVG, with the numbers that they are drawn from as CSV. Read in this order:
//!
//! | file | what it holds |
//! | --- | --- |
//! | [`figure`] | the data: a figure of panels, axes, series of points, inks |
//! | `ticks` | where an axis has its ticks and what they say (feature `charts`) |
//! | `marks`, `panel`, `svg` | colours and markers, a panel, and the layout of all of them, as SVG (feature `charts`, which needs the plotting library) |
//! | [`drawing`] | a table of numbers beside a figure, and both written as CSV and SVG |
//! | `element` | a figure as an element of a page of HTML (feature `charts`) |
//! | [`lines`] | a trade-off function as points of its profile give it |
//! | [`curves`] | privacy profiles and trade-off functions as figures |
//! | [`outputs`] | what single outputs say: posterior probabilities and masses |
//! | [`ranks`] | numbers side by side, a row for each name |
//! | [`estimates`] | estimates with their margins, unit by unit |
//! | `spine` | a geographic spine drawn: distances, fan-out, variance of each level (feature `mechanisms`) |
//!
//! Without the feature `charts` figures are made but not rendered.

pub mod curves;
pub mod drawing;
#[cfg(feature = "charts")]
mod element;
pub mod estimates;
pub mod figure;
pub mod lines;
#[cfg(feature = "charts")]
mod marks;
pub mod outputs;
#[cfg(feature = "charts")]
mod panel;
pub mod ranks;
#[cfg(feature = "mechanisms")]
pub mod spine;
#[cfg(feature = "charts")]
mod svg;
#[cfg(feature = "charts")]
mod ticks;

pub use drawing::{Drawing, Sheet};
#[cfg(feature = "charts")]
pub use element::write_page;
pub use figure::{Axis, Figure, Ink, Mark, Opposite, Panel, Scale, Series};
