//! Plots of a geographic spine: distances of entities, fan-out, and the variance of each level.

use super::{
    drawing::{Drawing, Sheet, ends},
    figure::{Axis, Figure, Ink, Panel, Series},
};
use crate::{
    spine::{bypass::Privacy, plan::BuiltSpine},
    topdown::level_variances::LevelVariances,
};

/// The plots of a spine, with the names of their files: `osed` (distances of entities before and after; only if there
/// are entities), `fanout`, and `variance` of each level, also on the census spine if that is given.
pub fn spine_drawings(
    built: &BuiltSpine,
    variances: &[LevelVariances],
    census: Option<&[LevelVariances]>,
) -> Vec<(&'static str, Drawing)> {
    let mut all = Vec::new();
    let pairs = built.distances();
    if !pairs.is_empty() {
        let mut sheet = Sheet::new(["osed_before", "osed_after", "entities"]);
        let mut sorted = pairs.clone();
        sorted.sort_unstable();
        for run in sorted.chunk_by(|a, b| a == b) {
            sheet.push([run[0].0 as usize, run[0].1 as usize, run.len()].map(|number| number.to_string()).to_vec());
        }
        let panels = vec![distances_panel("", &pairs, "on the census spine", "on this spine")];
        let title = "Units that make an entity: share of entities that need at most this number".to_string();
        all.push(("osed", Drawing { sheet, figure: Figure { title, panels, columns: 1 } }));
    }
    all.push(("fanout", fanout(built)));
    all.push(("variance", variance(built, variances, census)));
    all
}

fn fanout(built: &BuiltSpine) -> Drawing {
    let tree = &built.spine.tree;
    let names = &built.names[..tree.levels() - 1];
    let mut sheet = Sheet::new(["level", "children", "units"]);
    let mut points: [Vec<(f64, f64)>; 3] = Default::default();
    let mut most = 2;
    for (level, name) in names.iter().enumerate() {
        let mut counts: Vec<usize> = (0..tree.units(level)).map(|unit| tree.children(level, unit).len()).collect();
        counts.sort_unstable();
        for run in counts.chunk_by(|a, b| a == b) {
            sheet.push(vec![name.clone(), run[0].to_string(), run.len().to_string()]);
        }
        let marks = [counts[0], counts[counts.len() / 2], counts[counts.len() - 1]];
        most = most.max(marks[2]);
        points.iter_mut().zip(marks).for_each(|(points, mark)| points.push((mark as f64, level as f64)));
    }
    let inks = [("largest", Ink::Vermillion), ("median", Ink::Blue), ("smallest", Ink::Black)];
    let [least, median, largest] = points;
    let series =
        inks.into_iter().zip([largest, median, least]).map(|((name, ink), points)| Series::dots(name, ink, points));
    let panel = Panel {
        title: String::new(),
        x: Axis::log("children of a unit", 0.9, most as f64 * 1.3),
        y: Axis::names(names),
        series: series.collect(),
    };
    let title = "Fan-out of each level after bypassing".to_string();
    Drawing { sheet, figure: Figure { title, panels: vec![panel], columns: 1 } }
}

fn variance(built: &BuiltSpine, variances: &[LevelVariances], census: Option<&[LevelVariances]>) -> Drawing {
    let mut header = vec!["spine", "level", "measured"];
    header.extend(["alone_lower", "alone_upper", "least_lower", "least_upper"]);
    header.extend(["mean_lower", "mean_upper", "most_lower", "most_upper"]);
    let mut sheet = Sheet::new(header);
    let mut points: [Vec<(f64, f64)>; 4] = Default::default();
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for (spine, variances) in [("this", Some(variances)), ("census", census)] {
        for (level, (own, name)) in variances.unwrap_or_default().iter().zip(&built.names).enumerate() {
            let alone = own.alone.as_ref().map_or([String::new(), String::new()], ends);
            let numbers = [&own.least, &own.mean, &own.most].map(ends).concat();
            let text = vec![spine.to_string(), name.clone(), own.measured.to_string()];
            sheet.push([text, alone.to_vec(), numbers].concat());
            let y = level as f64;
            let mut put = |at: usize, value: f64| {
                low = low.min(value);
                high = high.max(value);
                points[at].push((value, y));
            };
            if spine == "census" {
                put(3, own.mean.approximate());
            } else {
                own.alone.iter().for_each(|alone| put(0, alone.approximate()));
                put(1, own.mean.approximate());
                put(2, own.most.approximate());
            }
        }
    }
    let inks = [
        ("own answers, mean", Ink::Orange),
        ("least squares, mean", Ink::Blue),
        ("least squares, largest", Ink::Black),
        ("least squares on the census spine, mean", Ink::Vermillion),
    ];
    let series = inks.into_iter().zip(points).filter(|(_, points)| !points.is_empty());
    let unit = if built.privacy == Privacy::Concentrated { "1 / rho" } else { "8 / epsilon\u{b2}" };
    let panel = Panel {
        title: String::new(),
        x: Axis::log(&format!("variance of the total, in units of {unit}"), low / 1.3, high * 1.3),
        y: Axis::names(&built.names),
        series: series.map(|((name, ink), points)| Series::dots(name, ink, points)).collect(),
    };
    let title = "Variance of a unit's total, by level, for a query that has each level's whole share".to_string();
    Drawing { sheet, figure: Figure { title, panels: vec![panel], columns: 1 } }
}

/// The cumulative distribution of entities over distances, for pairs of distances before and after.
pub fn distances_panel(title: &str, pairs: &[(u32, u32)], before: &str, after: &str) -> Panel {
    let most = pairs.iter().map(|(before, after)| *before.max(after)).max().unwrap_or(1);
    let steps = |pick: fn(&(u32, u32)) -> u32| {
        let mut sorted: Vec<u32> = pairs.iter().map(pick).collect();
        sorted.sort_unstable();
        let all = sorted.len().max(1) as f64;
        let mut points = vec![(1.0, 0.0)];
        for (rank, distance) in sorted.iter().enumerate() {
            // A step: along to the distance, then up.
            points.push((f64::from(*distance), rank as f64 / all));
            points.push((f64::from(*distance), (rank + 1) as f64 / all));
        }
        points.push((f64::from(most) * 1.2, 1.0));
        points
    };
    Panel {
        title: title.to_string(),
        x: Axis::log("units to add or subtract", 0.9, f64::from(most).max(2.0) * 1.2),
        y: Axis::linear("share of entities", 0.0, 1.02),
        series: vec![
            Series::line(before, Ink::Vermillion, steps(|pair| pair.0)),
            Series::line(after, Ink::Blue, steps(|pair| pair.1)),
        ],
    }
}
