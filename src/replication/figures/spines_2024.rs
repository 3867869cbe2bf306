//! The figures of Cumings-Menon et al. (2024).

use rug::Rational;

use super::{
    item::{ItemRow, Sources},
    own::{Own, Parameter},
};
use crate::{
    chart::{Axis, Drawing, Figure, Ink, Panel, Series, Sheet, spine::distances_panel},
    error::{Error, Result},
    numeric::rational,
    release::{GeoLevel, schema::QueryGroup},
    replication::spines::figure_2,
    spine::{
        blocks::{Blocks, EntityKind},
        hierarchy::Tree,
        optimize::{Entities, SpineSettings, optimized},
        osed,
    },
};

pub(super) const ITEMS: &[ItemRow] = &[
    (
        "figure-1",
        "the AIAN spine of Figure 1 and the optimized one, units of each level, Rhode Island",
        &[Parameter::Counts],
        figure_1,
    ),
    (
        "figure-2",
        "the strategy matrix of Figure 2: which count is of which cell of which block",
        &[Parameter::Release, Parameter::Level, Parameter::Copies],
        figure_2,
    ),
    (
        "section-4",
        "distance of entities from the census spine and the optimized ones, Rhode Island",
        &[Parameter::Counts],
        section_4,
    ),
    (
        "remark-1",
        "what a bypass does to the variance of the unit's total, by its children (Theorem 2)",
        &[Parameter::Range, Parameter::Points],
        remark_1,
    ),
];

/// The blocks of the user's file with its entities, or those of Rhode Island; and their place, in words.
fn blocks_of(sources: &Sources, what: &str) -> Result<(Blocks, String)> {
    if let Some(column) = sources.own.columns.first() {
        return Err(Error::unsuitable(format!(
            "this figure does not take a column, and {column:?} is given: the columns of a file of blocks are its entities"
        )));
    }
    match &sources.own.counts {
        Some(file) => Ok((Blocks::read(file)?, file.display().to_string())),
        None => Ok((rhode_island(sources, what)?, "Rhode Island".to_string())),
    }
}

/// The blocks of Rhode Island with all entities, from the block assignment files of 2018.
fn rhode_island(sources: &Sources, what: &str) -> Result<Blocks> {
    let needed = || Error::NeedsData {
        what: what.to_string(),
        needed: "the block assignment files BlockAssign_ST44_RI_*.txt".into(),
    };
    let folder = sources.facts.as_ref().ok_or_else(needed)?;
    let file = |name: &str| format!("BlockAssign_ST44_RI_{name}.txt");
    let places = ["geography/rhode-island", "rhode-island", ""].map(|place| folder.join(place));
    let folder = places.into_iter().find(|place| place.join(file("AIANNH")).is_file()).ok_or_else(needed)?;
    let mut blocks = Blocks::read(&folder.join(file("AIANNH")))?;
    for (kind, name, column) in [
        (EntityKind::Aian, "AIANNH", "AIANNHCE"),
        (EntityKind::Mcd, "MCD", "COUSUBFP"),
        (EntityKind::Place, "INCPLACE_CDP", "PLACEFP"),
        (EntityKind::Unified, "SDUNI", "DISTRICT"),
        (EntityKind::Secondary, "SDSEC", "DISTRICT"),
        (EntityKind::Elementary, "SDELM", "DISTRICT"),
    ] {
        blocks.attach(kind, &folder.join(file(name)), None, column)?;
    }
    Ok(blocks)
}

const SIX: [&str; 6] = ["US", "State", "County", "Tract", "Block group", "Block"];

fn figure_1(sources: &Sources) -> Result<Drawing> {
    let (blocks, place) = blocks_of(sources, "spines-2024/figure-1")?;
    let settings = SpineSettings::production("redistricting-persons")?;
    let entities = Entities::of_blocks(&blocks, &settings);
    let none: Vec<u32> = vec![0; blocks.geoids().len()];
    let aian = entities.columns.iter().find(|(kind, _)| kind == "aian").map_or(&none, |(_, column)| &column.codes);
    let spines = [("census", Tree::census(&blocks)), ("optimized", optimized(&blocks, &entities, &settings, false))];
    let mut sheet = Sheet::of_columns("spine level inside_aian_areas units");
    let mut panels = Vec::new();
    let most = if sources.own.counts.is_some() { 1.5 * blocks.geoids().len() as f64 } else { 40_000.0 };
    for (name, tree) in &spines {
        // A unit of the census spine may lie on both sides.
        let sides = [
            ("inside", "units inside AIAN areas", Ink::Vermillion),
            ("outside", "units outside AIAN areas", Ink::Blue),
            ("both", "units on both sides", Ink::Black),
        ];
        let mut series: Vec<Series> = Vec::new();
        for (side, words, ink) in sides {
            let mut points = Vec::new();
            for (level, label) in SIX.iter().enumerate() {
                let side_of = |unit: usize| {
                    let mut inside = tree.blocks(level, unit).map(|place| aian[tree.order()[place] as usize] > 0);
                    let first = inside.next().unwrap_or(false);
                    if inside.any(|other| other != first) {
                        "both"
                    } else if first {
                        "inside"
                    } else {
                        "outside"
                    }
                };
                let units = (0..tree.units(level)).filter(|unit| side_of(*unit) == side).count();
                sheet.push(vec![name.to_string(), label.to_string(), side.to_string(), units.to_string()]);
                if units > 0 {
                    points.push((units as f64, level as f64));
                }
            }
            series.push(Series::dots(words, ink, points));
        }
        panels.push(Panel {
            title: format!("{name} spine"),
            x: Axis::log("units", 0.6, most),
            y: Axis::names(SIX),
            series,
        });
    }
    let title = format!(
        "Units of each level, {place}: the census spine, and the optimized one below the AIAN spine of Figure 1"
    );
    Ok(Drawing { sheet, figure: Figure { title, panels, columns: 2 } })
}

/// A level of the spine, and the query groups evaluated at each of its units.
struct Asked {
    level: String,
    groups: Vec<QueryGroup>,
}

/// The maximum number of rows and columns of a drawn matrix.
const MOST_ROWS: usize = 36;
const MOST_COLUMNS: usize = 300;

/// The levels of the given release with the schema of their queries, the last one being that of the blocks; or those of
/// the paper's nation of blocks. Refuses matrices with too many columns.
fn levels_asked(own: &Own, blocks: usize) -> Result<Vec<Asked>> {
    let Some(release) = &own.release else {
        if let Some(level) = own.levels.first() {
            return Err(Error::missing(format!("the level {level:?} is given without a release that has it")));
        }
        let asked = |level: &str| Ok(Asked { level: level.to_string(), groups: figure_2::query_groups()? });
        return ["US", "block"].into_iter().map(asked).collect();
    };
    let no_schema = || {
        let why = "has no [[attribute]] tables, which say what its queries are of";
        Error::missing(format!("the release {} {why}", release.name))
    };
    let schema = release.schema.as_ref().ok_or_else(no_schema)?;
    if blocks * schema.cells() > MOST_COLUMNS {
        let columns = blocks * schema.cells();
        let expected = format!("at most {MOST_COLUMNS}: use a release with fewer cells, or fewer blocks");
        return Err(Error::out_of_range("the number of columns of the matrix", columns, &expected));
    }
    let asked = |level: &GeoLevel| -> Result<Asked> {
        let groups = level.queries.iter().map(|query| schema.group(&query.name)).collect::<Result<_>>()?;
        Ok(Asked { level: level.name.clone(), groups })
    };
    release.only(&own.levels)?.levels.iter().map(asked).collect()
}

/// The matrix for a spine whose levels above the blocks have one unit each.
fn figure_2(sources: &Sources) -> Result<Drawing> {
    let blocks = blocks_asked(&sources.own)?;
    let levels = levels_asked(&sources.own, blocks)?;
    let cells = levels.iter().flat_map(|asked| &asked.groups).map(|group| group.cell_of.len()).max().unwrap_or(0);
    let counts = |asked: &Asked| asked.groups.iter().map(QueryGroup::counts).sum::<usize>();
    let last = levels.len().saturating_sub(1);
    let rows: usize = levels.iter().enumerate().map(|(k, one)| if k == last { blocks } else { 1 } * counts(one)).sum();
    if rows > MOST_ROWS {
        let expected = format!("at most {MOST_ROWS}: use fewer counts, levels or blocks");
        return Err(Error::out_of_range("the number of rows of the matrix", rows, &expected));
    }
    let names_of_groups = names_of_groups(&levels);
    let mut sheet = Sheet::of_columns("unit query_group count block cell");
    let mut names = Vec::new();
    let mut points: Vec<Vec<(f64, f64)>> = vec![Vec::new(); names_of_groups.len()];
    let units = levels.iter().enumerate().flat_map(|(k, asked)| {
        let of_blocks = (0..blocks).filter(move |_| k == last);
        let one = (k != last).then(|| (asked.level.clone(), 0..blocks));
        let each = of_blocks.map(|block| (format!("{} {}", asked.level, block + 1), block..block + 1));
        one.into_iter().chain(each).map(|unit| (asked, unit)).collect::<Vec<_>>()
    });
    for (asked, (unit, blocks)) in units {
        for group in &asked.groups {
            let series = names_of_groups.iter().position(|name| *name == group.name).unwrap_or(0);
            for (count, label) in group.labels().iter().enumerate() {
                let row = names.len() as f64;
                let named = if group.counts() == 1 { group.name.clone() } else { format!("{} {label}", group.name) };
                names.push(format!("{unit}: {named}"));
                for block in blocks.clone() {
                    for (cell, _) in group.cell_of.iter().enumerate().filter(|(_, of)| **of as usize == count) {
                        points[series].push(((block * cells + cell + 1) as f64, row));
                        let numbers = [(block + 1).to_string(), (cell + 1).to_string()];
                        let text = [unit.clone(), group.name.clone(), label.clone()];
                        sheet.push([text.to_vec(), numbers.to_vec()].concat());
                    }
                }
            }
        }
    }
    let inks = [Ink::Green, Ink::Vermillion, Ink::Orange, Ink::Black, Ink::Blue, Ink::Grey];
    let series = names_of_groups.iter().zip(inks.into_iter().cycle()).zip(points);
    let series = series.map(|((name, ink), points)| Series::dots(name, ink, points)).collect();
    let columns = match blocks {
        2 => format!("cell of the histograms of both blocks (1 to {cells}, {} to {})", cells + 1, 2 * cells),
        _ => format!("cell of the histograms of {blocks} blocks, {cells} of each"),
    };
    let panel = Panel {
        title: String::new(),
        x: Axis::linear(&columns, 0.5, (blocks * cells) as f64 + 0.5),
        y: Axis::names(names),
        series,
    };
    let title = title_of_figure_2(&sources.own, blocks);
    Ok(Drawing { sheet, figure: Figure { title, panels: vec![panel], columns: 1 } })
}

/// The number of blocks that is requested, 2 as in the paper if none is.
fn blocks_asked(own: &Own) -> Result<usize> {
    match own.copies.as_slice() {
        [] => Ok(2),
        [blocks @ 1..=50] => Ok(*blocks as usize),
        [other] => Err(Error::out_of_range("copies", other, "a number of blocks from 1 to 50")),
        several => Err(Error::conflict(format!("copies is given {} times, and this figure takes one", several.len()))),
    }
}

/// The names of the query groups of all levels, each once.
fn names_of_groups(levels: &[Asked]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for group in levels.iter().flat_map(|asked| &asked.groups) {
        if !names.contains(&group.name.as_str()) {
            names.push(&group.name);
        }
    }
    names
}

fn title_of_figure_2(own: &Own, blocks: usize) -> String {
    match &own.release {
        Some(release) => {
            format!("The ones of B \u{2297} W for {}: blocks 1 to {blocks}, and one unit above", release.name)
        }
        None if blocks == 2 => {
            "The ones of B \u{2297} W in Figure 2: a nation of two blocks, two attributes of two values".to_string()
        }
        None => format!("The ones of B \u{2297} W: a nation of {blocks} blocks, two attributes of two values"),
    }
}

fn section_4(sources: &Sources) -> Result<Drawing> {
    let (blocks, place) = blocks_of(sources, "spines-2024/section-4")?;
    let census = Tree::census(&blocks);
    let mut sheet = Sheet::of_columns("settings kind entity blocks osed_census osed_optimized");
    let mut panels = Vec::new();
    for name in ["redistricting-persons", "dhc"] {
        let settings = SpineSettings::production(name)?;
        let entities = Entities::of_blocks(&blocks, &settings);
        let tree = optimized(&blocks, &entities, &settings, false);
        let columns: Vec<_> = entities.columns.iter().map(|(_, column)| column).collect();
        let (before, after) = (osed::all_distances(&census, &columns), osed::all_distances(&tree, &columns));
        let mut pairs = Vec::new();
        for (((kind, column), before), after) in entities.columns.iter().zip(&before).zip(&after) {
            for (entity, count) in osed::sizes(column).iter().enumerate().filter(|(_, count)| **count > 0) {
                pairs.push((before[entity], after[entity]));
                let numbers = [*count, before[entity], after[entity]].map(|number| number.to_string());
                let text = [name.to_string(), kind.clone(), column.names[entity].clone()];
                sheet.push([text.to_vec(), numbers.to_vec()].concat());
            }
        }
        panels.push(distances_panel(name, &pairs, "census spine", "optimized spine"));
    }
    let title = format!("Units that make an entity: share of entities that need at most this number, {place}");
    Ok(Drawing { sheet, figure: Figure { title, panels, columns: 2 } })
}

fn remark_1(sources: &Sources) -> Result<Drawing> {
    let children = sources.own.whole(1, 8)?;
    if let Some(wrong) = children.first().filter(|children| **children < 1) {
        return Err(Error::out_of_range("from", rational::display(wrong), "1 child or more"));
    }
    let ends = [children.first(), children.last()].map(|end| end.map_or(1.0, Rational::to_f64));
    let ratios = [("1/2", Ink::Vermillion), ("1", Ink::Blue), ("2", Ink::Black)];
    let mut sheet = Sheet::of_columns("noise child_share_per_parent_share children variance_after_per_before");
    let mut panels = Vec::new();
    for (noise, power) in [("Laplace", 2_u32), ("Gaussian", 1)] {
        let mut series = Vec::new();
        for (text, ink) in ratios {
            let ratio = rational::parse(text)?;
            let raised = |x: Rational| if power == 2 { x.square() } else { x };
            let mut points = Vec::new();
            for c in &children {
                // Precisions of the total: the parent's own, and 1/c of the children's.
                let before = Rational::from(1) + raised(ratio.clone()) / c;
                let after = raised(Rational::from(&ratio + 1_u32)) / c;
                let quotient = before / after;
                points.push((c.to_f64(), quotient.to_f64()));
                let row = [noise.to_string(), text.to_string(), c.to_string(), quotient.to_string()];
                sheet.push(row.to_vec());
            }
            series.push(Series::line(&format!("children's share {text} of the unit's"), ink, points));
        }
        panels.push(Panel {
            title: format!("{noise} noise"),
            x: Axis::linear("children", ends[0], ends[1]),
            // With c children of half the share it is (c + 1 / 2) / (3 / 2), the maximum here.
            y: Axis::log("variance after / before the bypass", 0.3, 7.0_f64.max(0.8 * ends[1])),
            series,
        });
    }
    let title =
        "A bypass and the variance of the unit's total (Remark 1): below 1 it helps, with Gaussian noise it never does";
    Ok(Drawing { sheet, figure: Figure { title: title.to_string(), panels, columns: 2 } })
}
