//! Deployments on one scale, drawn: the epsilon of each at a common delta, in panels by the unit for which it holds.
//!
//! The plotted values are doubles, approximations of the certified numbers.

use super::{origin::Group, scale::OnScale};
use crate::{
    account::Delta,
    chart::{Axis, Figure, Ink, Panel, Series, drawing::Sheet},
};

/// A deployment of the chart.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Its name.
    pub name: &'a str,
    /// For whom its parameters hold.
    pub group: Option<Group>,
    /// Its place on the scale.
    pub scale: &'a OnScale,
}

/// The most names of a panel.
const MOST: usize = 13;
/// The most characters of a name.
const MOST_CHARACTERS: usize = 32;

/// The chart: panels of at most 13 deployments of one group, the largest epsilon first.
pub fn chart(rows: &[Row], delta: &Delta) -> Figure {
    let mut drawn: Vec<(&Row, f64)> = (rows.iter())
        .filter_map(|row| Some((row, row.scale.epsilon.as_ref()?.upper().to_f64())))
        .filter(|(_, epsilon)| epsilon.is_finite() && *epsilon > 0.0)
        .collect();
    drawn.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.name.cmp(b.0.name)));
    let most = drawn.first().map_or(1.0, |(_, epsilon)| *epsilon);
    let least = drawn.last().map_or(0.1, |(_, epsilon)| *epsilon);
    drawn.sort_by_key(|(row, _)| row.group);
    let axis = || Axis::log(&format!("epsilon at delta = {delta}"), least / 1.5, most * 1.5);
    let groups = drawn.chunk_by(|(one, _), (next, _)| one.group == next.group);
    let chunks = groups.flat_map(|group| group.chunks(group.len().div_ceil(group.len().div_ceil(MOST).max(1)).max(1)));
    let panels = chunks.map(|chunk| {
        let places = |is_exact: bool| {
            let own = chunk.iter().enumerate().filter(move |(_, (row, _))| row.scale.is_exact == is_exact);
            own.map(|(place, (_, epsilon))| (*epsilon, place as f64)).collect()
        };
        Panel {
            title: chunk
                .first()
                .and_then(|(row, _)| row.group)
                .map_or_else(String::new, |group| group.in_chart().to_string()),
            x: axis(),
            y: Axis::names(chunk.iter().map(|(row, _)| shortened(row.name))),
            series: vec![
                Series::dots("at most, by what is known", Ink::Vermillion, places(false)),
                Series::dots("exact", Ink::Blue, places(true)),
            ],
        }
    });
    Figure { title: String::new(), panels: panels.collect(), columns: 1 }
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= MOST_CHARACTERS {
        return name.to_string();
    }
    name.chars().take(MOST_CHARACTERS - 1).chain(['…']).collect()
}

/// The plotted numbers with their proven ends.
pub fn sheet(rows: &[Row]) -> Sheet {
    let mut sheet = Sheet::new(["name", "delta", "epsilon_lower", "epsilon_upper", "by", "right_of_100_at_most"]);
    for row in rows {
        let [lower, upper] = row.scale.epsilon_ends();
        let delta = row.scale.delta.to_string();
        sheet.push(vec![row.name.to_string(), delta, lower, upper, row.scale.by.clone(), row.scale.right_of_100()]);
    }
    sheet
}
