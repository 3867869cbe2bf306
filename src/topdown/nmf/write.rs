//! Noisy counts in the layout of the Bureau's noisy measurement files, for other programs.
//!
//! The folder is the product. Units are drawn in batches, each unit with all its queries, so that its rows are
//! consecutive. Geocodes follow the Bureau's scheme: two parts of a state, the digits 10 and the county with a running
//! digit, running numbers for the levels between, and 16 digits for a block, which contain the digit of the block group
//! twice.
//!
//! Constraints: the exact total of the root if neighbors have equal totals, and for every unit the bound that no cell
//! is negative, which reveals nothing confidential and lists the bypassed units too.
//!
//! The Bureau's rows of a second histogram are unknown. Here they have a column for its attribute, `*` in the columns
//! of the other attributes, and a shape of its own attributes alone.

use std::{fs::File, path::Path, sync::Arc};

use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType, DataType, FloatType, Int32Type},
    errors::ParquetError,
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::parser::parse_message_type,
};

use crate::{
    error::{Error, Result},
    io::files::{self, file_error},
    loss::law::Law,
    noise::{Distribution, Streams},
    release::{Neighbors, Release, schema::Kept},
    spine::{bypass::Privacy, hierarchy::Tree, own::UnitIds, spine_files::SavedSpine},
    topdown::{
        histograms::Histograms,
        measure::MeasurementPlan,
        measurement_files::{self, Manifest, Said},
    },
};

pub use super::folder::MANIFEST;
/// Approximate number of counts of a row group.
const GROUP: usize = 1 << 20;

/// Writes the noisy counts of a release under zCDP as a product.
#[derive(Debug)]
pub struct NmfWriter<'a> {
    plan: &'a MeasurementPlan<'a>,
    release: &'a Release,
    names: &'a [String],
    tree: &'a Tree,
    codes: Vec<Vec<String>>,
}

impl<'a> NmfWriter<'a> {
    /// Refuses plans that the layout cannot represent, before anything is drawn.
    pub fn new(plan: &'a MeasurementPlan<'a>, saved: &'a SavedSpine, release: &'a Release) -> Result<Self> {
        if matches!(saved.privacy, Privacy::Pure { .. }) {
            return Err(saved.refuse_privacy("the layout of noisy measurement files is for Gaussian noise"));
        }
        if let UnitIds::Own(_) = saved.ids {
            let why = "the layout of noisy measurement files names units by the digits of census blocks, and this spine has none";
            return Err(Error::unsuitable(why));
        }
        Ok(NmfWriter { plan, release, names: &saved.names, tree: &saved.spine.tree, codes: codes(saved)? })
    }

    /// Draws all noisy counts and writes them into an empty or new folder. `progress` receives the number of units
    /// drawn, and the number of all units.
    pub fn write(
        &self,
        said: Said,
        histograms: &Histograms,
        streams: &mut Streams,
        folder: &Path,
        progress: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<Manifest> {
        let mut manifest = said.manifest(streams);
        manifest.parts = self.codes[usize::from(self.codes[0][0].is_empty())].clone();
        manifest.files = measurement_files::described(self.plan, self.names);
        for file in &mut manifest.files {
            file.file = format!("{}.parquet/DPQuery", file.level_name);
        }
        files::fill_folder(folder, |folder| {
            self.draw(histograms, streams, folder, progress)?;
            let path = folder.join(MANIFEST);
            let text = serde_json::to_string_pretty(&manifest).map_err(|why| file_error(&path, why))?;
            files::write_text(&path, &(text + "\n"))
        })?;
        Ok(manifest)
    }
}

/// The geocodes of all units, level by level.
fn codes(saved: &SavedSpine) -> Result<Vec<Vec<String>>> {
    let tree = &saved.spine.tree;
    let last = tree.levels() - 1;
    let state = usize::from(saved.names[0] == "US");
    let geoid = |level: usize, unit: usize| {
        let place = if level == last { unit } else { tree.blocks(level, unit).start };
        saved.ids.geoids()[place]
    };
    let mut codes: Vec<Vec<String>> = if state == 1 { vec![vec![String::new()]] } else { Vec::new() };
    // The part outside of American Indian, Alaska Native and Native Hawaiian areas comes first.
    let mut seen: Vec<u64> = Vec::new();
    let mut parts = Vec::new();
    for unit in 0..tree.units(state) {
        let number = geoid(state, unit) / 10_u64.pow(13);
        let part = seen.iter().filter(|known| **known == number).count();
        if part > 1 {
            let why = "has more than two units: a part outside of and one inside American Indian areas";
            return Err(Error::unsuitable(format!("the state {number:02} {why}")));
        }
        seen.push(number);
        parts.push(format!("{part}{number:02}"));
    }
    codes.push(parts);
    for level in state + 1..=last {
        let parents = tree.parents(level);
        let mut own: Vec<String> = Vec::with_capacity(parents.len());
        let is_county = saved.names[level] == "County";
        let least = if saved.names[level] == "Tract" { 4 } else { 2 };
        let width = tree.max_fanout(level - 1).to_string().len().max(least);
        let (mut running, mut before) = (0, None);
        for (unit, parent) in parents.iter().enumerate() {
            let geoid = geoid(level, unit);
            let county = geoid / 10_u64.pow(10) % 1000;
            let key = (*parent, if is_county { county } else { 0 });
            running = if before == Some(key) { running + 1 } else { 1 };
            before = Some(key);
            let above = &codes[level - 1][*parent as usize];
            own.push(if level == last {
                let (tract, block) = (geoid / 10_000, geoid % 10_000);
                format!("{above}{tract:011}{}{block:04}", block / 1000)
            } else if is_county {
                if running > 9 {
                    return Err(Error::out_of_range(
                        "the number of units of a county",
                        running,
                        "at most 9 in a part of a state",
                    ));
                }
                format!("{above}10{county:03}{running}")
            } else {
                format!("{above}{running:0width$}")
            });
        }
        codes.push(own);
    }
    Ok(codes)
}

impl NmfWriter<'_> {
    fn draw(
        &self,
        histograms: &Histograms,
        streams: &mut Streams,
        folder: &Path,
        progress: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        let state = usize::from(self.codes[0][0].is_empty());
        let all = (0..self.names.len()).map(|level| self.tree.units(level) as u64).sum();
        let mut done = 0;
        for level in 0..self.names.len() {
            let place = folder.join(format!("{}.parquet", self.names[level]));
            let file = |kind: &str, part: Option<&str>| {
                let folder = place.join(kind);
                let folder = part.map_or(folder.clone(), |part| folder.join(format!("State={part}")));
                std::fs::create_dir_all(&folder).map_err(|why| file_error(&folder, why))?;
                let name = format!("part-00000-{}.snappy.parquet", self.names[level].to_lowercase());
                Ok::<_, Error>(folder.join(name))
            };
            if level < state {
                self.queries(level, 0..self.tree.units(level), histograms, streams, || file("DPQuery", None))?;
                self.constraints(level, 0..self.tree.units(level), histograms, &file("Constraint", None)?)?;
                continue;
            }
            for (unit, part) in self.codes[state].iter().enumerate() {
                let units = self.below(state, unit, level);
                done += units.len() as u64;
                self.queries(level, units.clone(), histograms, streams, || file("DPQuery", Some(part)))?;
                self.constraints(level, units, histograms, &file("Constraint", Some(part))?)?;
                progress(done, all)?;
            }
        }
        Ok(())
    }

    /// The units of a level below a unit, or itself.
    fn below(&self, from: usize, unit: usize, level: usize) -> std::ops::Range<usize> {
        (from..level).fold(unit..unit + 1, |units, level| {
            self.tree.children(level, units.start).start..self.tree.children(level, units.end - 1).end
        })
    }

    /// The noisy counts of some units of a level; no file if none has any.
    fn queries(
        &self,
        level: usize,
        units: std::ops::Range<usize>,
        histograms: &Histograms,
        streams: &mut Streams,
        path: impl Fn() -> Result<std::path::PathBuf>,
    ) -> Result<()> {
        let measured: Vec<u32> =
            units.filter(|unit| self.plan.spine().carried(level, *unit) > 0).map(|unit| unit as u32).collect();
        if measured.is_empty() {
            return Ok(());
        }
        let asked = &self.plan.levels()[level];
        let about = asked.iter().map(|asked| self.about(&asked.group.name)).collect::<Result<Vec<_>>>()?;
        let variances = self.variances(level)?;
        let path = path()?;
        let mut file = Table::create(&path, self.axes(), false)?;
        self.plan.measure_units(level, &measured, histograms, streams, |units, values| {
            for (at, unit) in units.iter().enumerate() {
                let code = ByteArray::from(self.codes[level][*unit as usize].as_str());
                let carried = self.plan.spine().carried(level, *unit as usize);
                for (query, values) in values.iter().enumerate() {
                    let counts = asked[query].group.counts();
                    let own = &values[at * counts..(at + 1) * counts];
                    let row = RowOut { code: &code, about: &about[query], sign: None, values: own };
                    file.put(&row, variances[carried][query])?;
                }
            }
            Ok(())
        })?;
        file.close()
    }

    /// By the number of levels whose shares a unit carries: the variance of each query's noise, as a float.
    fn variances(&self, level: usize) -> Result<Vec<Vec<f32>>> {
        let most = self.names.len() - level;
        // The format states variances of Gaussian noise: a reader would take any other variance for one of these.
        let of = |law: Option<&Law>| match law.filter(|law| law.sigma2().is_some()) {
            Some(law) => Ok(Distribution::of_law(law)?.variance(12).approximate() as f32),
            None => Ok(f32::NAN),
        };
        let asked = &self.plan.levels()[level];
        (0..=most).map(|carried| asked.iter().map(|asked| of(asked.law(carried))).collect()).collect()
    }

    /// The columns of attributes; those of a second histogram come last.
    fn axes(&self) -> Vec<&str> {
        let first = self.release.schema.iter();
        let beside = first.clone().flat_map(|schema| &schema.beside).map(|beside| &beside.schema);
        let attributes = first.chain(beside).flat_map(|schema| &schema.attributes);
        attributes.map(|attribute| attribute.name.as_str()).collect()
    }

    /// The description of the rows of a query.
    fn about(&self, name: &str) -> Result<About> {
        let Some(schema) = &self.release.schema else {
            return Ok(About {
                name: ByteArray::from(format!("{name}_dpq").as_str()),
                axes: Vec::new(),
                shape: Vec::new(),
            });
        };
        let beside = schema.asks_beside(name);
        let asked = beside.map_or(schema, |beside| &beside.schema);
        let kept = asked.keeps(name)?;
        let each = kept.iter().zip(&asked.attributes).map(|(kept, attribute)| match kept {
            None => ("*", 1),
            Some(Kept::Whole) => ("detailed", attribute.values.len()),
            Some(Kept::Recode(recode)) => {
                let recode = &asked.recodes[*recode];
                (recode.name.as_str(), recode.groups.len())
            }
        });
        let (mut axes, shape): (Vec<ByteArray>, Vec<i32>) =
            each.map(|(text, groups)| (ByteArray::from(text), groups as i32)).unzip();
        // The attributes of the other histogram play no role.
        let others = self.axes().len() - axes.len();
        let at = if beside.is_some() { 0 } else { axes.len() };
        axes.splice(at..at, vec![ByteArray::from("*"); others]);
        Ok(About { name: ByteArray::from(format!("{name}_dpq").as_str()), axes, shape })
    }

    fn constraints(
        &self,
        level: usize,
        units: std::ops::Range<usize>,
        histograms: &Histograms,
        path: &Path,
    ) -> Result<()> {
        let mut file = Table::create(path, self.axes(), true)?;
        let star = || ByteArray::from("*");
        let schema = self.release.schema.as_ref();
        let attributes = schema.map_or(&[][..], |schema| &schema.attributes[..]);
        let name = attributes.first().map_or("total".to_string(), |attribute| format!("{}_total", attribute.name));
        let size = attributes.first().map_or(1, |attribute| attribute.values.len());
        let columns = self.axes().len();
        let bound = About {
            name: ByteArray::from(format!("{name}_lb_con").as_str()),
            axes: (0..columns).map(|at| if at == 0 { ByteArray::from("detailed") } else { star() }).collect(),
            shape: (0..attributes.len()).map(|at| if at == 0 { size as i32 } else { 1 }).collect(),
        };
        let total = About {
            name: ByteArray::from("total_con"),
            axes: (0..columns).map(|_| star()).collect(),
            shape: vec![1; attributes.len()],
        };
        for unit in units {
            let code = ByteArray::from(self.codes[level][unit].as_str());
            // An added record changes the total, so the total is confidential then. So does a record that moves from
            // one histogram to the other.
            let is_one = schema.is_none_or(|schema| schema.beside.is_none());
            if level == 0 && self.release.neighbors == Neighbors::Bounded && is_one {
                let values = [histograms.total() as i64];
                file.put(&RowOut { code: &code, about: &total, sign: Some("="), values: &values }, 0.0)?;
            }
            let zeros = vec![0; size];
            file.put(&RowOut { code: &code, about: &bound, sign: Some(">="), values: &zeros }, 0.0)?;
        }
        file.close()
    }
}

/// The common fields of the rows of a query.
struct About {
    name: ByteArray,
    axes: Vec<ByteArray>,
    shape: Vec<i32>,
}

struct RowOut<'a> {
    code: &'a ByteArray,
    about: &'a About,
    sign: Option<&'a str>,
    values: &'a [i64],
}

/// A list column: elements, and the levels that assign each to a list.
#[derive(Default)]
struct Lists {
    elements: Vec<i32>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

impl Lists {
    fn put(&mut self, elements: impl Iterator<Item = i32>) {
        for (at, element) in elements.enumerate() {
            self.elements.push(element);
            self.definitions.push(3);
            self.repetitions.push(i16::from(at > 0));
        }
    }
}

/// The rows of a row group.
#[derive(Default)]
struct RowGroup {
    /// geocode, query_name, sign if present, axes.
    texts: Vec<Vec<ByteArray>>,
    shapes: Lists,
    values: Lists,
    variances: Vec<f32>,
}

/// A file being written.
struct Table<'p> {
    path: &'p Path,
    writer: SerializedFileWriter<File>,
    group: RowGroup,
}

impl<'p> Table<'p> {
    fn create(path: &'p Path, axes: Vec<&str>, signed: bool) -> Result<Table<'p>> {
        let wrong = |why: ParquetError| file_error(path, why);
        let names = ["geocode", "query_name"].into_iter().chain(signed.then_some("sign")).chain(axes);
        let texts: String = names.map(|name| format!("optional binary {name} (UTF8); ")).collect();
        let list = |name: &str| {
            format!("optional group {name} (LIST) {{ repeated group list {{ optional int32 element; }} }} ")
        };
        let (shape, value) = (list("query_shape"), list("value"));
        let message = format!("message nmf {{ {texts}{shape}{value}optional float variance; }}");
        let schema = Arc::new(parse_message_type(&message).map_err(wrong)?);
        let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
        let file = File::create_new(path).map_err(|why| file_error(path, why))?;
        let writer = SerializedFileWriter::new(file, schema, properties).map_err(wrong)?;
        Ok(Table { path, writer, group: RowGroup::default() })
    }

    fn put(&mut self, row: &RowOut, variance: f32) -> Result<()> {
        let sign = row.sign.map(ByteArray::from);
        let texts = [row.code, &row.about.name].into_iter().chain(&sign).chain(&row.about.axes);
        for (at, text) in texts.enumerate() {
            if self.group.texts.len() == at {
                self.group.texts.push(Vec::new());
            }
            self.group.texts[at].push(text.clone());
        }
        self.group.shapes.put(row.about.shape.iter().copied());
        if let Some(position) = row.values.iter().position(|value| i32::try_from(*value).is_err()) {
            return Err(Error::Overflow { position, count: row.values[position] });
        }
        self.group.values.put(row.values.iter().map(|value| *value as i32));
        self.group.variances.push(variance);
        if self.group.values.elements.len() >= GROUP { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let group = std::mem::take(&mut self.group);
        if group.variances.is_empty() {
            return Ok(());
        }
        put_group(&mut self.writer, &group).map_err(|why| file_error(self.path, why))
    }

    fn close(mut self) -> Result<()> {
        self.flush()?;
        let path = self.path;
        let file = self.writer.into_inner().map_err(|why| file_error(path, why))?;
        file.sync_all().map_err(|why| file_error(path, why))
    }
}

fn put_group(writer: &mut SerializedFileWriter<File>, group: &RowGroup) -> std::result::Result<(), ParquetError> {
    let mut rows = writer.next_row_group()?;
    let there = vec![1_i16; group.variances.len()];
    for column in &group.texts {
        put_column::<ByteArrayType>(&mut rows, column, &there, None)?;
    }
    for lists in [&group.shapes, &group.values] {
        put_column::<Int32Type>(&mut rows, &lists.elements, &lists.definitions, Some(&lists.repetitions))?;
    }
    put_column::<FloatType>(&mut rows, &group.variances, &there, None)?;
    rows.close()?;
    Ok(())
}

fn put_column<T: DataType>(
    rows: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    definitions: &[i16],
    repetitions: Option<&[i16]>,
) -> std::result::Result<(), ParquetError> {
    if let Some(mut column) = rows.next_column()? {
        column.typed::<T>().write_batch(values, Some(definitions), repetitions)?;
        column.close()?;
    }
    Ok(())
}
