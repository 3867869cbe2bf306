//! Numbers side by side: a row for each name, a mark for each series.
//!
//! The plotted values are doubles, approximations of the certified numbers.

use super::figure::{Axis, Figure, Ink, Panel, Series};

/// The inks in the order in which they are assigned to series.
pub const INKS: [Ink; 5] = [Ink::Blue, Ink::Vermillion, Ink::Black, Ink::Green, Ink::Orange];

/// A heading, the names of its rows, and the values of each series: `None` and non-finite numbers are not plotted.
#[derive(Clone, Debug)]
pub struct Ranks {
    /// The heading of the panel; may be empty.
    pub title: String,
    /// The quantity, with its unit.
    pub label: String,
    /// The rows, from the top.
    pub names: Vec<String>,
    /// The legend of a series, and its value in each row.
    pub series: Vec<(String, Vec<Option<f64>>)>,
}

impl Ranks {
    /// The panel. The axis begins at zero; it is logarithmic if positive numbers differ by more than a factor of a
    /// hundred. A sixth series has the ink of the first.
    pub fn panel(&self) -> Panel {
        let finite = |values: &[Option<f64>]| -> Vec<(usize, f64)> {
            let number = |(row, value): (usize, &Option<f64>)| Some((row, value.filter(|value| value.is_finite())?));
            values.iter().enumerate().filter_map(number).collect()
        };
        let drawn: Vec<Vec<(usize, f64)>> = self.series.iter().map(|(_, values)| finite(values)).collect();
        let series = self.series.iter().zip(&drawn).zip(INKS.iter().cycle()).map(|(((name, _), values), ink)| {
            Series::dots(name, *ink, values.iter().map(|(row, value)| (*value, *row as f64)).collect())
        });
        Panel {
            title: self.title.clone(),
            x: axis(&self.label, drawn.iter().flatten().map(|(_, value)| *value)),
            y: Axis::names(&self.names),
            series: series.collect(),
        }
    }
}

/// Panels side by side under a title.
pub fn figure(title: &str, ranks: &[Ranks]) -> Figure {
    let panels: Vec<Panel> = ranks.iter().map(Ranks::panel).collect();
    Figure { title: title.to_string(), columns: panels.len().clamp(1, 2), panels }
}

fn axis(label: &str, values: impl Iterator<Item = f64> + Clone) -> Axis {
    let most = values.clone().fold(0.0, f64::max);
    let least = values.fold(f64::INFINITY, f64::min);
    if least > 0.0 && most > 100.0 * least {
        return Axis::log(label, least / 1.5, most * 1.5);
    }
    let most = if most > 0.0 { most * 1.05 } else { 1.0 };
    Axis::linear(label, least.min(0.0), most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Scale;

    fn ranks(values: &[Option<f64>]) -> Ranks {
        Ranks {
            title: String::new(),
            label: "epsilon".to_string(),
            names: (0..values.len()).map(|k| format!("row {k}")).collect(),
            series: vec![("exact".to_string(), values.to_vec()), ("other".to_string(), vec![Some(1.0)])],
        }
    }

    #[test]
    fn missing_numbers_have_no_mark_and_the_axis_contains_all_others() {
        let panel = ranks(&[Some(2.0), None, Some(f64::INFINITY), Some(4.0)]).panel();
        assert_eq!(panel.series[0].points, [(2.0, 0.0), (4.0, 3.0)]);
        assert_eq!((panel.x.from, panel.x.to), (0.0, 4.2));
        assert!(matches!(ranks(&[Some(1e-5), Some(9.0)]).panel().x.scale, Scale::Log));
        assert_eq!(ranks(&[Some(-1.0)]).panel().x.from, -1.0);
        assert_ne!(panel.series[0].ink, panel.series[1].ink);
        assert_eq!(figure("t", &[ranks(&[]), ranks(&[None])]).columns, 2);
    }
}
