//! Charts as SVG, with the plotted numbers as CSV. Read the files in this order:
//!
//! | file | content |
//! | --- | --- |
//! | [`figure`] | the data: a figure of panels, axes, series of points, inks |
//! | `ticks` | the positions and labels of the ticks of an axis (feature `charts`) |
//! | `marks`, `panel`, `svg` | colours and markers, a panel, and the layout of all of them, as SVG (feature `charts`, which needs the plotting library) |
//! | [`drawing`] | a table of numbers beside a figure, and both written as CSV and SVG |
//! | `element` | a figure as an element of a page of HTML (feature `charts`) |
//! | [`lines`] | a trade-off function from points of its profile |
//! | [`curves`] | privacy profiles and trade-off functions as figures |
//! | [`audit`] | observed and declared masses, and variances by level |
//! | [`outputs`] | posterior probabilities and masses of single outputs |
//! | [`ranks`] | numbers side by side, with one row per name |
//! | [`estimates`] | estimates with their margins, unit by unit |
//! | `spine` | plots of a geographic spine: distances, fan-out, variance of each level (feature `mechanisms`) |
//!
//! Without the feature `charts` figures are constructed but not rendered.

pub mod audit;
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
