//! Drawings as SVG.

pub mod svg;
