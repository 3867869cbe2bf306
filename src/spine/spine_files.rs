//! The files of a spine: written when it is built, and read back to draw on it.
//!
//! Files are not trusted. The units of each level must be listed in order, and their children must partition the next
//! level (so no unit is above itself). Every share must be that of the run of levels that the unit carries, and every
//! path from the root to a block must sum to exactly 1.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use rug::Rational;
use serde::Deserialize;
use toml::Spanned;

use super::{
    bypass::{self, Privacy, Spine},
    csv_table::{BlockTable, CsvTable, quoted},
    geoids::Geoids,
    hierarchy::Tree,
    osed,
    own::{OwnIds, UnitIds},
    plan::BuiltSpine,
};
use crate::{
    error::{Error, Result},
    io::files::{file_error, replace_in_folder, write_whole},
    io::toml_reader::TomlReader,
    noise::NORMAL_975,
    numeric::rational,
};

/// A spine read from its files.
#[derive(Clone, Debug)]
pub struct SavedSpine {
    /// The names of the levels.
    pub names: Vec<String>,
    /// The spine.
    pub spine: Spine,
    /// The ids of its units.
    pub ids: UnitIds,
    /// The privacy that determined the bypassing rule, and so the noise to use.
    pub privacy: Privacy,
    /// The folder from which it was read.
    pub folder: PathBuf,
}

/// The file with the privacy for which a spine was built.
const ABOUT: &str = "spine.toml";

/// The content of [`ABOUT`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AboutFile {
    privacy: Spanned<String>,
    bypass_cutoff: Option<u32>,
}

/// The files of a folder that [`SavedSpine`] reads.
pub(crate) fn read_files(folder: &Path) -> Vec<String> {
    [ABOUT, "levels.csv", "units.csv", "blocks.csv"].map(|name| folder.join(name).display().to_string()).to_vec()
}

impl SavedSpine {
    /// Reads `spine.toml`, `levels.csv`, `units.csv` and `blocks.csv` of a folder.
    pub fn read(folder: &Path) -> Result<SavedSpine> {
        let (names, proportions) = levels(&folder.join("levels.csv"))?;
        let privacy = privacy(&folder.join(ABOUT))?;
        let last = names.len() - 1;
        let (mut starts, mut carried, own_ids) = units(&folder.join("units.csv"), &names, &proportions)?;
        let path = folder.join("blocks.csv");
        let mut table = CsvTable::open(&path)?;
        let is_own = own_ids.is_some();
        let heading = if is_own { "id" } else { "block" };
        let [unit, block, carry] = [["unit"], [heading], ["levels_carried"]].map(|name| table.column(&name));
        let (unit, block, carry) = (unit?, block?, carry?);
        let (mut geoids, mut own, mut carried_by_blocks) = (Vec::new(), Vec::new(), Vec::new());
        while table.next()? {
            in_order(&table, unit, carried_by_blocks.len())?;
            match is_own {
                true => own.push(text(&table, block)?),
                false => geoids.push(table.geoid(block)?),
            }
            carried_by_blocks.push(table.whole(carry, 1)? as u8);
        }
        let (lowest, blocks) =
            (starts.last().and_then(|ends| ends.last()).map_or(0, |end| *end as usize), carried_by_blocks.len());
        if lowest != blocks {
            let why = format!("the units of {:?} have {lowest} blocks, and the file has {blocks}", names[last - 1]);
            return Err(table.refuse(0, &why));
        }
        let order = if is_own { (0..blocks as u32).collect() } else { order_of(&table, block, &geoids)? };
        carried.push(carried_by_blocks);
        starts.shrink_to_fit();
        let tree = Tree::from_parts(starts, order);
        let ids = match own_ids {
            None => UnitIds::Census(Geoids::of_tree(&tree, &names, geoids)),
            Some(mut above) => {
                above.push(own);
                let ids = OwnIds::new(&tree, above);
                if let Some((first, again)) = ids.doubled() {
                    let why = format!("the unit {} has the ids of unit {first}, and so have all above it", again);
                    return Err(Error::DataFile { file: table.file, line: again + 2, column: block + 1, why });
                }
                UnitIds::Own(ids)
            }
        };
        let spine = Spine::from_parts(tree, proportions, carried).map_err(|why| Error::DataFile {
            file: folder.display().to_string(),
            line: 0,
            column: 0,
            why: why.to_string(),
        })?;
        Ok(SavedSpine { names, spine, ids, privacy, folder: folder.to_path_buf() })
    }

    /// The number of units of the lowest level.
    pub fn blocks(&self) -> usize {
        self.spine.tree.order().len()
    }

    /// An error about the privacy for which the spine was built.
    pub(crate) fn refuse_privacy(&self, why: &str) -> Error {
        let file = self.folder.join(ABOUT).display().to_string();
        let why = format!("privacy = {:?}: {why}", self.privacy.name());
        Error::DataFile { file, line: 0, column: 0, why }
    }
}

/// Writes `spine.toml`, `levels.csv`, `units.csv`, `blocks.csv`, `entities.csv`, `paths.csv` and `mismatches.csv` into
/// a folder, which is created if it does not exist. [`SavedSpine`] reads the first four. All files are first written
/// beside the folder, so a full disk leaves the old ones in place. An older `spine.toml` is removed before the others
/// are replaced, and the new one comes last: a folder without it is refused, so the files of two spines are never read
/// as one. `entity_variances` are the approximate variances of the entities' estimates, in the order of the entities;
/// their margins at 95 % are in counts if the plan names a release.
pub fn write(built: &BuiltSpine, entity_variances: &[Vec<f64>], folder: &Path) -> Result<()> {
    write_with(built, entity_variances, folder, |_| Ok(()))
}

/// Writes the files of a spine and more: `more` receives the folder that is being filled.
pub fn write_with(
    built: &BuiltSpine,
    entity_variances: &[Vec<f64>],
    folder: &Path,
    more: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    replace_in_folder(folder, ABOUT, |filled| {
        write_files(built, entity_variances, filled)?;
        more(filled)
    })
}

fn write_files(built: &BuiltSpine, entity_variances: &[Vec<f64>], folder: &Path) -> Result<()> {
    let about = match built.privacy {
        Privacy::Pure { cutoff } => format!("privacy = \"pure\"\nbypass_cutoff = {cutoff}"),
        Privacy::Concentrated => "privacy = \"zcdp\"".to_string(),
    };
    write_tree(built, folder)?;
    let paths = built.spine.paths()?;
    let heading = "kind,entity,geoid,blocks,osed_before,osed_after,variance_approx,margin_95_approx";
    let margin = |variance: f64| NORMAL_975 * variance.sqrt() * built.counts_per_root_approx().unwrap_or(1.0);
    put(folder, "entities.csv", heading, |out| {
        let distances = built.before.iter().zip(&built.after).zip(entity_variances);
        for ((kind, column), ((before, after), variances)) in built.entities.columns.iter().zip(distances) {
            for (entity, blocks) in osed::sizes(column).iter().enumerate().filter(|(_, blocks)| **blocks > 0) {
                let (name, variance) = (&column.names[entity], variances[entity]);
                let (geoid, margin) = (entity_geoid(kind, name), margin(variance));
                let (before, after) = (before[entity], after[entity]);
                writeln!(out, "{kind},{name},{geoid},{blocks},{before},{after},{variance:.6e},{margin:.3}")?;
            }
        }
        Ok(())
    })?;
    put(folder, "paths.csv", "dropped,blocks", |out| {
        for path in &paths {
            let names: Vec<&str> = path.dropped.iter().map(|level| built.names[*level].as_str()).collect();
            writeln!(out, "{},{}", quoted(&names.join(" ")), path.blocks)?;
        }
        Ok(())
    })?;
    put(folder, "mismatches.csv", "kind,block,missing_from", |out| {
        for mismatch in &built.mismatches {
            let kind = mismatch.kind.name();
            for block in &mismatch.without_entity {
                writeln!(out, "{kind},{block:015},entities")?;
            }
            for block in &mismatch.unknown {
                writeln!(out, "{kind},{block:015},blocks")?;
            }
        }
        Ok(())
    })?;
    put(folder, ABOUT, &about, |_| Ok(()))
}

/// The census GEOID of an entity; empty for kinds without a published GEOID.
fn entity_geoid(kind: &str, name: &str) -> String {
    if kind == "gq" || kind == "prim" { String::new() } else { name.replace(':', "") }
}

/// The files from which a spine is read back.
fn write_tree(built: &BuiltSpine, folder: &Path) -> Result<()> {
    let (spine, tree) = (&built.spine, &built.spine.tree);
    let last = tree.levels() - 1;
    put(folder, "levels.csv", "level,proportion,units,max_fanout,bypassed", |out| {
        for (level, name) in built.names.iter().enumerate() {
            let (units, fanout) = (tree.units(level), tree.max_fanout(level));
            let (share, bypassed) = (&spine.proportions[level], spine.bypassed[level]);
            writeln!(out, "{},{share},{units},{fanout},{bypassed}", quoted(name))?;
        }
        Ok(())
    })?;
    let ids = built.ids();
    // As in the file: the ids above an id of a custom hierarchy follow from the units.
    let id = |level: usize, unit: usize| match &ids {
        UnitIds::Census(geoids) => geoids.unit(level, unit),
        UnitIds::Own(own) => quoted(own.raw(level, unit)),
    };
    let heading = format!("level,unit,first_child,children,blocks,levels_carried,share,{}", ids.heading());
    put(folder, "units.csv", &heading, |out| {
        for level in 0..last {
            // A share is one of few values: those of runs of levels.
            let shares: Vec<String> =
                (0..=last + 1 - level).map(|count| spine.share_of_run(level, count).to_string()).collect();
            for unit in 0..tree.units(level) {
                let (children, carried) = (tree.children(level, unit), spine.carried(level, unit));
                let (name, blocks) = (quoted(&built.names[level]), tree.blocks(level, unit).len());
                let (first, count, share) = (children.start, children.len(), &shares[carried]);
                let id = id(level, unit);
                writeln!(out, "{name},{unit},{first},{count},{blocks},{carried},{share},{id}")?;
            }
        }
        Ok(())
    })?;
    let heading = if matches!(ids, UnitIds::Own(_)) { "id" } else { "block" };
    put(folder, "blocks.csv", &format!("unit,{heading},levels_carried"), |out| {
        for place in 0..tree.units(last) {
            writeln!(out, "{place},{},{}", id(last, place), spine.carried(last, place))?;
        }
        Ok(())
    })
}

/// Writes one file, header and rows, whole or not at all.
fn put(folder: &Path, name: &str, header: &str, rows: impl Fn(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let path = folder.join(name);
    write_whole(&path, |out| writeln!(out, "{header}").and_then(|()| rows(out)).map_err(|why| file_error(&path, why)))
}

/// The rank of each block by GEOID, the same as when the spine was built.
fn order_of(table: &CsvTable, column: usize, geoids: &[u64]) -> Result<Vec<u32>> {
    let mut rows: Vec<u32> = (0..geoids.len() as u32).collect();
    rows.sort_unstable_by_key(|place| geoids[*place as usize]);
    if let Some(pair) = rows.windows(2).find(|pair| geoids[pair[0] as usize] == geoids[pair[1] as usize]) {
        let line = pair[0].max(pair[1]) as usize + 2;
        let why = format!("the block {:015} occurs twice", geoids[pair[0] as usize]);
        return Err(Error::DataFile { file: table.file.clone(), line, column: column + 1, why });
    }
    let mut order = vec![0; rows.len()];
    for (row, place) in rows.into_iter().enumerate() {
        order[place as usize] = row as u32;
    }
    Ok(order)
}

/// An id of a custom hierarchy.
fn text(table: &CsvTable, at: usize) -> Result<String> {
    table.text(at).map(str::to_string)
}

fn privacy(path: &Path) -> Result<Privacy> {
    let text = crate::io::reading::read_text(path)?;
    let file = path.display().to_string();
    let reader = TomlReader::new(&file, &text);
    let about: AboutFile = reader.toml()?;
    let privacy = Privacy::read(&reader, &about.privacy, about.bypass_cutoff.unwrap_or(0))?;
    if matches!(privacy, Privacy::Pure { .. }) != about.bypass_cutoff.is_some() {
        let why = "bypass_cutoff goes with privacy = \"pure\", and with nothing else";
        return Err(reader.refuse(about.privacy.span().start, why));
    }
    Ok(privacy)
}

fn levels(path: &Path) -> Result<(Vec<String>, Vec<Rational>)> {
    let mut table = CsvTable::open(path)?;
    let (name, proportion) = (table.column(&["level"])?, table.column(&["proportion"])?);
    let (mut names, mut proportions) = (Vec::new(), Vec::new());
    while table.next()? {
        names.push(table.text(name)?.to_string());
        proportions.push(number(&table, proportion)?);
    }
    bypass::check_proportions(&proportions, names.len()).map_err(|why| table.refuse(0, &why.to_string()))?;
    Ok((names, proportions))
}

/// For each level but the blocks: the starts of the units' children, the levels that the units carry, and the units'
/// ids in a custom hierarchy.
type Units = (Vec<Vec<u32>>, Vec<Vec<u8>>, Option<Vec<Vec<String>>>);

fn units(path: &Path, names: &[String], proportions: &[Rational]) -> Result<Units> {
    let last = names.len() - 1;
    let mut table = CsvTable::open(path)?;
    let headings = ["level", "unit", "first_child", "children", "levels_carried", "share"];
    let mut columns = [0; 6];
    for (column, heading) in columns.iter_mut().zip(headings) {
        *column = table.column(&[heading])?;
    }
    let [level_at, unit_at, first_at, children_at, carry_at, share_at] = columns;
    let mut starts: Vec<Vec<u32>> = vec![vec![0]; last];
    let mut carried: Vec<Vec<u8>> = vec![Vec::new(); last];
    let id_at = table.find(&["id"]);
    let mut ids: Vec<Vec<String>> = vec![Vec::new(); last];
    let mut level = 0;
    while table.next()? {
        level = level_of_row(&table, level_at, names, level)?;
        in_order(&table, unit_at, carried[level].len())?;
        let first = table.whole(first_at, u64::from(u32::MAX))? as u32;
        let children = table.whole(children_at, u64::from(u32::MAX))? as u32;
        let expected = starts[level][starts[level].len() - 1];
        if first != expected || children == 0 {
            let why = format!(
                "the children {first}, {children} of them: expected at least one from {expected} on, so that no unit has two \
                 parents, none, or itself above it"
            );
            return Err(table.refuse(first_at + 1, &why));
        }
        let end =
            expected.checked_add(children).ok_or_else(|| table.refuse(children_at + 1, "more than 4 billion units"))?;
        starts[level].push(end);
        let carry = table.whole(carry_at, (names.len() - level) as u64)? as usize;
        let share = bypass::sum(&proportions[level..level + carry]);
        if number(&table, share_at)? != share {
            let why = format!("the share {:?}: {carry} levels from this one on carry {share}", table.shown(share_at));
            return Err(table.refuse(share_at + 1, &why));
        }
        carried[level].push(carry as u8);
        if let Some(at) = id_at {
            ids[level].push(text(&table, at)?);
        }
    }
    for level in 0..last {
        let (units, above) = (
            carried[level].len(),
            level.checked_sub(1).map_or(1, |above| starts[above][starts[above].len() - 1] as usize),
        );
        if units != above {
            let why = format!(
                "{units} units of {:?}, where the level above has {above} children (the first has one unit)",
                names[level]
            );
            return Err(table.refuse(0, &why));
        }
    }
    Ok((starts, carried, id_at.map(|_| ids)))
}

/// The level of a row: that of the row before it, or the next one above the blocks.
fn level_of_row(table: &CsvTable, at: usize, names: &[String], before: usize) -> Result<usize> {
    if table.cell(at) == names[before].as_bytes() {
        return Ok(before);
    }
    let next = before + 1;
    if next + 1 >= names.len() || table.cell(at) != names[next].as_bytes() {
        let why =
            format!("{:?} where a unit of {:?} or of the level below it is expected", table.shown(at), names[before]);
        return Err(table.refuse(at + 1, &why));
    }
    Ok(next)
}

fn in_order(table: &CsvTable, at: usize, expected: usize) -> Result<()> {
    if table.whole(at, u64::from(u32::MAX))? as usize != expected {
        let why = format!("the unit {:?}: expected {expected}, as units are listed in order", table.shown(at));
        return Err(table.refuse(at + 1, &why));
    }
    Ok(())
}

fn number(table: &CsvTable, at: usize) -> Result<Rational> {
    rational::parse(table.text(at)?).map_err(|why| table.refuse(at + 1, &why.to_string()))
}
