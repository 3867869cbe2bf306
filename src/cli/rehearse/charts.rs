//! The charts of a rehearsal.

use dp_assay::{
    chart::{Axis, Figure, Panel, Series, ranks::INKS},
    safetab::rehearsal::{Rehearsed, RehearsedLevel, Stratum},
};

use super::super::report::charts::of_levels;
use super::level::{name, of_cells, percent, published, sizes};

/// The largest number of levels whose suppression is drawn.
const MOST_PANELS: usize = 2;

/// The share of counts within the stated margins: certified, seen, and of the published counts.
pub fn coverage(found: &Rehearsed) -> Figure {
    let levels: Vec<&RehearsedLevel> = found.levels.iter().filter(|level| of_cells(level).is_some()).collect();
    let certified = |level: &RehearsedLevel| Some(100.0 * of_cells(level)?.coverage.lower().to_f64());
    let seen = |level: &RehearsedLevel| of_cells(level).and_then(|cell| percent(cell.covered(), cell.errors.count()));
    let after = |level: &RehearsedLevel| {
        let (counts, covered) = published(level);
        percent(covered, counts)
    };
    let series = vec![
        Series::dots("certified", INKS[2], places(&levels, certified)),
        Series::dots("seen", INKS[0], places(&levels, seen)),
        Series::dots("published", INKS[1], places(&levels, after)),
    ];
    let least = least(&series).min(95.0);
    let axis = Axis::linear("counts within the margin, percent", (least - 1.0).floor().max(0.0), 100.5);
    of_levels(names(&levels).iter().map(String::as_str), axis, series)
}

/// The stated margin of a cell, and the 95 % quantile of the observed errors.
pub fn margins(found: &Rehearsed) -> Figure {
    let levels: Vec<&RehearsedLevel> = found.levels.iter().filter(|level| of_cells(level).is_some()).collect();
    let series = vec![
        Series::dots("stated margin", INKS[2], places(&levels, |level| Some(of_cells(level)?.margin as f64))),
        Series::dots("95 % of errors seen", INKS[0], places(&levels, |level| of_cells(level)?.errors.quantile_95())),
    ];
    let most = series.iter().flat_map(|series| &series.points).map(|point| point.0).fold(1.0, f64::max);
    let axis = Axis::linear("error of a cell", 0.0, 1.05 * most);
    of_levels(names(&levels).iter().map(String::as_str), axis, series)
}

/// The tables of groups of each size, by the level of the iterations. `tables` is the range of the drawn tables.
pub fn workload(found: &Rehearsed, tables: std::ops::Range<usize>) -> Figure {
    let bins = bins(found);
    let panel = |(kind, name): (usize, &String)| {
        let of = |bin: usize, count: &dyn Fn(&Stratum) -> u64| -> (u64, u64) {
            let strata = strata(found, kind, bin);
            strata.fold((0, 0), |(part, all), stratum| (part + count(stratum), all + stratum.groups))
        };
        let drawn = |count: &dyn Fn(&Stratum) -> u64| -> Vec<(f64, f64)> {
            let shares = bins.iter().enumerate().filter_map(|(row, (bin, _))| {
                let (part, all) = of(*bin, count);
                // Marks at 0 would overlap.
                Some((percent(part, all).filter(|_| part > 0)?, row as f64))
            });
            shares.collect()
        };
        let mut series: Vec<Series> = tables
            .clone()
            .zip(INKS)
            .map(|(place, ink)| Series::dots(&found.tables[place], ink, drawn(&|stratum| stratum.tables[place].groups)))
            .collect();
        if found.levels.iter().any(|level| level.coterminous.is_some() || !level.suppression.is_empty()) {
            let kept = |stratum: &Stratum| stratum.groups.saturating_sub(stratum.published());
            series.push(Series::dots("not published", INKS[4], drawn(&kept)));
        }
        Panel {
            title: capitalized(name),
            x: Axis::linear("groups of that size, percent", -2.0, 102.0),
            y: Axis::names(bins.iter().map(|(_, name)| name)),
            series,
        }
    };
    Figure { title: String::new(), panels: found.kinds.iter().enumerate().map(panel).collect(), columns: 1 }
}

/// The mean error of published cells by the size of the group: suppression keeps counts that are large by chance.
pub fn bias(found: &Rehearsed) -> Figure {
    let bins = bins(found);
    let series = found.kinds.iter().enumerate().zip(INKS).map(|((kind, name), ink)| {
        let mean = |bin: usize| {
            let errors = strata(found, kind, bin).flat_map(|stratum| &stratum.tables).map(|table| &table.errors);
            let (sum, count) = errors.fold((0.0, 0), |(sum, count), errors| {
                (sum + errors.mean().unwrap_or(0.0) * errors.count() as f64, count + errors.count())
            });
            (count > 0).then(|| sum / count as f64)
        };
        let points = bins.iter().enumerate().filter_map(|(row, (bin, _))| Some((mean(*bin)?, row as f64)));
        Series::dots(name, ink, points.collect())
    });
    let series: Vec<Series> = series.collect();
    let ends = series.iter().flat_map(|series| &series.points).map(|point| point.0);
    let (from, to) = ends.fold((-0.5_f64, 0.5_f64), |(from, to), x| (from.min(x), to.max(x)));
    let axis = Axis::linear("mean error of a published cell", 1.05 * from, 1.05 * to);
    let panel = Panel { title: String::new(), x: axis, y: Axis::names(bins.iter().map(|(_, name)| name)), series };
    Figure { title: String::new(), panels: vec![panel], columns: 1 }
}

/// How often groups of each size are suppressed, for the levels with the most groups; `None` if no group is.
pub fn suppression(found: &Rehearsed) -> Option<Figure> {
    let mut levels: Vec<&RehearsedLevel> = found.levels.iter().filter(|level| !level.suppression.is_empty()).collect();
    levels.sort_by_key(|level| std::cmp::Reverse(level.groups));
    let panel = |level: &&RehearsedLevel| {
        let sizes = || level.suppression.iter().filter(|(only, _)| !only).map(|(_, size)| size);
        let certified = sizes().map(|size| (size.size as f64, 100.0 * size.probability.approximate()));
        let seen = sizes().filter_map(|size| Some((size.size as f64, percent(size.suppressed, size.groups)?)));
        Panel {
            title: name(level),
            x: Axis::whole("size of the group", -1.0, 65.0),
            y: Axis::linear("suppressed, percent", -3.0, 103.0),
            series: vec![
                Series::line("certified", INKS[2], certified.collect()),
                Series::dots("seen", INKS[0], seen.collect()),
            ],
        }
    };
    let panels: Vec<Panel> = levels.iter().take(MOST_PANELS).map(panel).collect();
    (!panels.is_empty()).then_some(Figure { title: String::new(), panels, columns: 1 })
}

/// A name with a capital letter.
fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
}

fn names(levels: &[&RehearsedLevel]) -> Vec<String> {
    levels.iter().map(|level| name(level)).collect()
}

fn places(levels: &[&RehearsedLevel], value: impl Fn(&RehearsedLevel) -> Option<f64>) -> Vec<(f64, f64)> {
    levels.iter().enumerate().filter_map(|(place, level)| Some((value(level)?, place as f64))).collect()
}

fn least(series: &[Series]) -> f64 {
    series.iter().flat_map(|series| &series.points).map(|point| point.0).fold(100.0, f64::min)
}

/// The groups of a kind in a range of sizes, over all types of region; detailed-only groups separately.
fn strata(found: &Rehearsed, kind: usize, bin: usize) -> impl Iterator<Item = &Stratum> {
    let levels = found.levels.iter().filter(move |known| known.kind == kind);
    levels.flat_map(|level| &level.strata).filter(move |stratum| !stratum.detailed_only && stratum.bin == bin)
}

/// The ranges of sizes, with their names.
fn bins(found: &Rehearsed) -> Vec<(usize, String)> {
    let mut bins: Vec<(usize, String)> = found
        .levels
        .iter()
        .flat_map(|level| &level.strata)
        .filter(|stratum| !stratum.detailed_only)
        .map(|stratum| (stratum.bin, sizes(stratum)))
        .collect();
    bins.sort();
    bins.dedup();
    bins
}
