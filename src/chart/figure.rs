//! What a figure is: panels with axes, and series of points in inks that are told apart without colour.

/// A chart.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The title above all panels; broken into lines if it is long.
    pub title: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// How many panels are in a row.
    pub columns: usize,
}

/// A plot with its axes.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The heading of this panel; may be empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn; the first is painted first, so later ones lie above it.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    /// How it is divided.
    pub scale: Scale,
    /// Its lower end.
    pub from: f64,
    /// Its upper end.
    pub to: f64,
}

/// How an axis is divided.
#[derive(Clone, Debug)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By powers of ten.
    Log,
    /// By names: the value k is the k-th name, counted from 0 at the top.
    Names(Vec<String>),
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// Its colour, dash pattern and marker.
    pub ink: Ink,
    /// Whether the points are joined by a line; otherwise each one is marked.
    pub joined: bool,
    /// The points (x, y); from left to right if they are joined.
    pub points: Vec<(f64, f64)>,
}

/// A colour with a dash pattern and a marker of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Blue, solid, a filled circle.
    Blue,
    /// Vermillion, dashed, an open square.
    Vermillion,
    /// Black, dotted, a filled diamond.
    Black,
    /// Green, dashes and dots, an open circle.
    Green,
    /// Orange, short dashes, a filled square.
    Orange,
}

impl Axis {
    /// An evenly divided axis.
    pub fn linear(label: &str, from: f64, to: f64) -> Self {
        Axis { label: label.to_string(), scale: Scale::Linear, from, to }
    }

    /// An axis divided by powers of ten.
    pub fn log(label: &str, from: f64, to: f64) -> Self {
        Axis { label: label.to_string(), scale: Scale::Log, from, to }
    }

    /// An axis of names.
    pub fn names<S: ToString>(names: impl IntoIterator<Item = S>) -> Self {
        let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
        Axis { label: String::new(), from: -0.6, to: names.len() as f64 - 0.4, scale: Scale::Names(names) }
    }
}

impl Series {
    /// Points joined by a line.
    pub fn line(name: &str, ink: Ink, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.to_string(), ink, joined: true, points }
    }

    /// Points marked one by one.
    pub fn dots(name: &str, ink: Ink, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.to_string(), ink, joined: false, points }
    }
}
