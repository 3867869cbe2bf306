//! Figures: panels with axes, and series of points in inks that are distinguishable without colour.

/// A chart.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The title above all panels; broken into lines if it is long.
    pub title: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// The number of panels in a row.
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
    /// The series; the first is painted first, so later ones lie above it.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The quantity that it shows, with its unit.
    pub label: String,
    /// Its scale.
    pub scale: Scale,
    /// Its lower end.
    pub from: f64,
    /// Its upper end.
    pub to: f64,
    /// The same axis in other numbers, drawn on the opposite side.
    pub opposite: Option<Opposite>,
}

/// A second set of numbers at positions of an axis.
#[derive(Clone, Debug)]
pub struct Opposite {
    /// The quantity, with its unit.
    pub label: String,
    /// Positions on the axis, and their labels.
    pub ticks: Vec<(f64, String)>,
}

/// The scale of an axis.
#[derive(Clone, Debug)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// Evenly, with ticks at whole numbers only.
    Whole,
    /// By powers of ten.
    Log,
    /// By names: the value k is the k-th name, counted from 0 at the top.
    Names(Vec<String>),
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub struct Series {
    /// The legend.
    pub name: String,
    /// Its colour, dash pattern and marker.
    pub ink: Ink,
    /// The marks of the points.
    pub mark: Mark,
    /// The points (x, y); from left to right if they are joined.
    pub points: Vec<(f64, f64)>,
}

/// The marks of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Joined by a line.
    Line,
    /// Each with the marker of the ink.
    Dots,
    /// Each with a small dot, for many points that are not joined.
    Points,
    /// Each as a square with sides of length 1 around it; squares that touch vertically are merged.
    Tiles,
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
    /// Grey, fine dots, an open diamond: for annotations.
    Grey,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: &str, from: f64, to: f64) -> Self {
        Axis { label: label.to_string(), scale: Scale::Linear, from, to, opposite: None }
    }

    /// An axis over whole numbers.
    pub fn whole(label: &str, from: f64, to: f64) -> Self {
        Axis { label: label.to_string(), scale: Scale::Whole, from, to, opposite: None }
    }

    /// A logarithmic axis.
    pub fn log(label: &str, from: f64, to: f64) -> Self {
        Axis { label: label.to_string(), scale: Scale::Log, from, to, opposite: None }
    }

    /// A logarithmic axis whose ends are moved to a power of ten that is within a twentieth of them.
    pub fn with_near_powers(mut self) -> Self {
        let near = |end: f64, power: f64| if (end / power - 1.0).abs() < 0.05 { power } else { end };
        if let Scale::Log = self.scale {
            self.from = near(self.from, libm::pow(10_f64, libm::log10(self.from).floor()));
            self.to = near(self.to, libm::pow(10_f64, libm::log10(self.to).ceil()));
        }
        self
    }

    /// An axis of names.
    pub fn names<S: ToString>(names: impl IntoIterator<Item = S>) -> Self {
        let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
        let to = names.len() as f64 - 0.4;
        Axis { label: String::new(), from: -0.6, to, scale: Scale::Names(names), opposite: None }
    }

    /// This axis with other numbers on the opposite side: positions and labels.
    pub fn with_opposite(mut self, label: &str, ticks: Vec<(f64, String)>) -> Self {
        self.opposite = Some(Opposite { label: label.to_string(), ticks });
        self
    }
}

impl Series {
    /// Points joined by a line.
    pub fn line(name: &str, ink: Ink, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.to_string(), ink, mark: Mark::Line, points }
    }

    /// Points with one marker each.
    pub fn dots(name: &str, ink: Ink, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.to_string(), ink, mark: Mark::Dots, points }
    }

    /// A marker for each row of an axis of names, from the first row on.
    pub fn of_rows(name: &str, ink: Ink, values: impl IntoIterator<Item = f64>) -> Self {
        Series::dots(name, ink, values.into_iter().enumerate().map(|(row, value)| (value, row as f64)).collect())
    }

    /// Many points, each with a small dot.
    pub fn points(name: &str, ink: Ink, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.to_string(), ink, mark: Mark::Points, points }
    }

    /// Squares with sides of length 1.
    pub fn tiles(name: &str, ink: Ink, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.to_string(), ink, mark: Mark::Tiles, points }
    }

    /// A vertical line across the panel, as an annotation.
    pub fn upright(name: &str, x: f64, y: (f64, f64)) -> Self {
        Series::line(name, Ink::Grey, vec![(x, y.0), (x, y.1)])
    }
}

/// 10 to the power of `exponent`, with a raised exponent if it is not small.
pub(super) fn power_of_ten(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    if (0..=3).contains(&exponent) {
        return 10_u32.pow(exponent as u32).to_string();
    }
    let digits = exponent.unsigned_abs().to_string();
    let raised: String = digits.bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect();
    format!("10{}{raised}", if exponent < 0 { "⁻" } else { "" })
}

/// A number formatted for a heading: 1e-11 with a raised exponent.
pub fn raised(text: &str) -> String {
    match text.split_once('e') {
        Some(("1", exponent)) => exponent.parse().map_or_else(|_| text.to_string(), power_of_ten),
        Some((digits, exponent)) => {
            let power = exponent.parse().map(power_of_ten);
            power.map_or_else(|_| text.to_string(), |power| format!("{digits} · {power}"))
        }
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_superscripts_and_axes_end_at_near_powers() {
        assert_eq!(["1e-11", "2.5e-6", "0.05", "1e3"].map(raised), ["10⁻¹¹", "2.5 · 10⁻⁶", "0.05", "1000"]);
        let axis = Axis::log("", 1.001, 97.0).with_near_powers();
        assert_eq!((axis.from, axis.to), (1.0, 100.0));
        let axis = Axis::log("", 0.5, 864.0).with_near_powers();
        assert_eq!((axis.from, axis.to), (0.5, 864.0));
    }
}
