//! Estimates from the files of noisy counts, and the files of estimates.

use std::{io::Write, path::Path};

use super::{
    determined::{Design, totals::TotalVariances},
    estimate::top_down,
    level_variances::{LevelVariances, margin_95_approx},
    measure::MeasurementPlan,
    measurement_files::{self, Manifest},
    nmf::{
        answers::{Answer, Subject},
        survey::{AIAN, NOT_AIAN},
        tables::{answer_rows, kinds_heading},
    },
    spine_survey::{Asked, NoisyTable, SpineSurvey},
};
use crate::{
    error::{Error, Result},
    io::files::{self, file_error},
    io::provenance::Provenance,
    numeric::Enclosure,
    release::schema::Schema,
    spine::{csv_table::quoted, hierarchy::Tree, own::UnitIds, spine_files::SavedSpine},
};

/// The estimates from all noisy counts together.
pub struct Estimates {
    /// For each level the least-squares totals of its units, in doubles: approximations.
    pub totals_approx: Vec<Vec<f64>>,
    /// The integer counts.
    pub whole: Whole,
    /// The variance of the estimated total of each unit with the variance proxies of the noise: an upper bound on the
    /// variance with the noise itself.
    pub variances: TotalVariances<Enclosure>,
    /// The variances with the noise itself, level by level.
    pub level_variances: Vec<LevelVariances>,
    /// The seed of the noise, if anybody who knows it can subtract the noise.
    pub insecure_seed: Option<u64>,
    /// The noisy counts themselves.
    noisy: NoisyTable,
}

/// Integer counts of every cell of every unit, if the noisy counts determine these.
pub enum Whole {
    /// Non-negative integers derived from the least-squares histograms from the top down, in which children sum to their
    /// parents: for each level the cells of all units, one unit after the other.
    Counts(Vec<Vec<i64>>),
    /// The noisy counts do not determine every cell: why, in words.
    Undetermined(String),
}

impl Whole {
    /// The counts of every level, if there are any.
    pub fn counts(&self) -> Option<&[Vec<i64>]> {
        match self {
            Whole::Counts(counts) => Some(counts),
            Whole::Undetermined(_) => None,
        }
    }
}

/// The noisy counts of a mechanism from their folder. All must be present, with the noise of the mechanism.
fn read_counts(plan: &MeasurementPlan, folder: &Path) -> Result<(NoisyTable, Manifest)> {
    let spine = plan.spine();
    let tree = &spine.tree;
    let numbers = |level: usize| {
        let asked = plan.levels()[level].iter();
        asked.map(|asked| vec![f64::NAN; tree.units(level) * asked.group.counts()]).collect()
    };
    let mut noisy: NoisyTable = (0..tree.levels()).map(numbers).collect();
    let refuse = |why: String| Error::DataFile { file: crate::error::shown(folder), line: 0, column: 0, why };
    let mut rows = 0;
    let manifest = measurement_files::read(folder, |described, unit, parameter, counts| {
        let of_level = plan.levels().get(described.level).map_or(&[][..], Vec::as_slice);
        let query = of_level.iter().position(|asked| asked.group.name == described.query);
        let asked =
            query.map(|query| (query, &of_level[query])).filter(|(_, asked)| asked.group.counts() == counts.len());
        let carried = || spine.carried(described.level, unit);
        let meant = asked
            .filter(|_| unit < tree.units(described.level))
            .filter(|(_, asked)| asked.law(carried()).is_some_and(|law| law.parameter() == parameter));
        let Some((query, asked)) = meant else {
            let what = format!("the query {:?} of unit {unit} of {:?}", described.query, described.level_name);
            return Err(refuse(format!("{what} is not of this spine and release, or has other noise")));
        };
        let width = asked.group.counts();
        let own = &mut noisy[described.level][query][unit * width..(unit + 1) * width];
        if !own[0].is_nan() {
            return Err(refuse(format!("unit {unit} of {:?} occurs twice", described.level_name)));
        }
        own.iter_mut().zip(counts).for_each(|(own, count)| *own = *count as f64);
        rows += 1;
        Ok(())
    })?;
    let expected: usize = (0..tree.levels()).map(|l| plan.measured(l).len() * plan.levels()[l].len()).sum();
    if rows != expected {
        return Err(refuse(format!("noisy counts of {rows} units and queries, where the plan has {expected}")));
    }
    Ok((noisy, manifest))
}

impl Estimates {
    /// Reads the noisy counts of a mechanism from their folder and estimates. All counts must be present, with the
    /// noise of the mechanism.
    pub fn read(plan: &MeasurementPlan, saved: &SavedSpine, schema: &Schema, folder: &Path) -> Result<Estimates> {
        if let Some(beside) = &schema.beside {
            return Err(Error::unsuitable(format!(
                "the release has two histograms, {:?} beside the first: two are estimated from noisy measurement files, as `assay measure \
                 --files nmf` writes them",
                beside.name
            )));
        }
        let (noisy, manifest) = read_counts(plan, folder)?;
        Estimates::of_noisy(plan, saved, schema, noisy, manifest.insecure_seed)
    }

    /// From the noisy counts of all levels and queries.
    pub fn of_noisy(
        plan: &MeasurementPlan,
        saved: &SavedSpine,
        schema: &Schema,
        noisy: NoisyTable,
        insecure_seed: Option<u64>,
    ) -> Result<Estimates> {
        let tree = &saved.spine.tree;
        let cells = vec!["detailed".to_string(); tree.levels()];
        let open = Design::of_plan(plan, schema).undetermined(&(0..).zip(cells).collect::<Vec<_>>())?;
        let unit = |level: usize, unit: usize| saved.ids.unit(level, unit).into_owned();
        let queries = if open.is_empty() { vec!["total", "detailed"] } else { vec!["total"] };
        let asked = Asked {
            queries: queries.into_iter().map(String::from).collect(),
            levels: (0..tree.levels()).collect(),
            ..Asked::default()
        };
        let survey = SpineSurvey::new(plan, saved, schema, &noisy, &asked)?;
        let [totals_approx, histograms] = collected(&survey, tree, plan.cells(), open.is_empty())?;
        // What is measured at the lowest of these levels determines those above it as well.
        let whole = match open.last() {
            None => Whole::Counts(top_down(tree, plan.cells(), &histograms)),
            Some(open) => Whole::Undetermined(open.described(&saved.names, &unit)),
        };
        let variances = TotalVariances::new(plan, schema)?;
        // The noise is discrete: its variances are at least the least ratio times the proxies, and at most the proxies.
        let ratio = plan.least_ratio(20)?;
        let discrete = |value: Enclosure| Enclosure::new(value.mul(&ratio).lower().clone(), value.upper().clone());
        let of_level = |level: usize| {
            let LevelVariances { measured, least, mean, most, .. } = variances.of_level(level);
            LevelVariances { measured, alone: None, least: discrete(least), mean: discrete(mean), most: discrete(most) }
        };
        let level_variances = (0..tree.levels()).map(of_level).collect();
        Ok(Estimates { totals_approx, whole, variances, level_variances, insecure_seed, noisy })
    }

    /// A survey of any query of any unit or area of the spine, from the same noisy counts, including recodes.
    pub fn survey<'a>(
        &'a self,
        plan: &MeasurementPlan,
        saved: &'a SavedSpine,
        schema: &'a Schema,
        asked: &'a Asked,
    ) -> Result<SpineSurvey<'a>> {
        SpineSurvey::new(plan, saved, schema, &self.noisy, asked)
    }

    /// The total of the integer counts, if there are any.
    pub fn records(&self) -> Option<i64> {
        Some(self.whole.counts()?[0].iter().sum())
    }
}

/// The totals and, if they are requested as well, the histograms of all units, level by level.
fn collected(survey: &SpineSurvey, tree: &Tree, cells: usize, with_cells: bool) -> Result<[Vec<Vec<f64>>; 2]> {
    let numbers = |each: usize| (0..tree.levels()).map(|level| vec![0.0; tree.units(level) * each]).collect();
    let mut totals: Vec<Vec<f64>> = numbers(1);
    let mut histograms: Vec<Vec<f64>> = numbers(if with_cells { cells } else { 0 });
    survey.run(&mut |subject, answers| {
        let Subject::Unit { level, code, .. } = subject else { return Ok(()) };
        let unit: usize = code.parse().map_err(|_| Error::fault(format!("{code:?} is no number of a unit")))?;
        for answer in answers {
            match answer.query {
                0 => totals[level][unit] = answer.estimates[0],
                _ => histograms[level][unit * cells..(unit + 1) * cells].copy_from_slice(&answer.estimates),
            }
        }
        Ok(())
    })?;
    Ok([totals, histograms])
}

/// Writes three files into an empty or new folder. `totals.csv` has a line for each unit: its GEOID or id, its
/// estimated total (approximate), the upper end of the total's variance, its standard deviation, the margin at 95 % (approximate) and the
/// unit's integer count. `counts.csv` has the integer counts of blocks in the form that `assay measure` reads, if the noisy
/// counts determine every cell; otherwise there is none, and no integer in `totals.csv`. The third is `provenance.json`. A survey adds `estimates.csv`, or `areas.csv`, with its answers, which are also passed
/// to `see`, whose error ends the work. Under an insecure seed the heading of `totals.csv` and `provenance.json` say so; the heading of
/// `counts.csv` stays in the form that is read.
pub fn write(
    estimated: &Estimates,
    saved: &SavedSpine,
    schema: &Schema,
    folder: &Path,
    provenance: &Provenance,
    survey: Option<&SpineSurvey>,
    mut see: impl FnMut(&Subject, &[Answer]) -> Result<()>,
) -> Result<()> {
    let (tree, cells) = (&saved.spine.tree, schema.cells());
    let ids = &saved.ids;
    let mark = estimated.insecure_seed.map_or_else(String::new, |seed| format!(" (insecure seed {seed})"));
    files::fill_folder(folder, |folder| {
        let put = |name: &str, rows: &dyn Fn(&mut dyn Write) -> std::io::Result<()>| {
            let path = folder.join(name);
            files::write_whole(&path, |out| rows(out).map_err(|why| file_error(&path, why)))
        };
        provenance.write_into(folder)?;
        if let Some(survey) = survey {
            write_survey(survey, saved, &mark, folder, &mut see)?;
        }
        put("totals.csv", &|out| {
            writeln!(
                out,
                "level,unit{mark},{},estimate_approx,variance_upper,std_dev_approx,margin_95_approx,count",
                ids.heading()
            )?;
            for (level, name) in saved.names.iter().enumerate() {
                for unit in 0..tree.units(level) {
                    let own = unit * cells..(unit + 1) * cells;
                    let total = estimated.totals_approx[level][unit];
                    let count = estimated.whole.counts().map(|counts| counts[level][own].iter().sum::<i64>());
                    let count = count.map_or_else(String::new, |count| count.to_string());
                    let (_, variance) = estimated.variances.unit(level, unit).doubles();
                    let (name, deviation, margin) = (quoted(name), variance.sqrt(), margin_95_approx(variance));
                    let id = quoted(&ids.unit(level, unit));
                    writeln!(out, "{name},{unit},{id},{total:.3},{variance:e},{deviation:.3},{margin:.1},{count}")?;
                }
            }
            Ok(())
        })?;
        let Some(counts) = estimated.whole.counts() else { return Ok(()) };
        put("counts.csv", &|out| {
            let names = schema.attributes.iter().map(|attribute| quoted(&attribute.name) + ",");
            let (heading, leaves) = leaves(saved);
            writeln!(out, "{heading},{}count", names.collect::<String>())?;
            let labels: Vec<String> = (0..cells).map(|cell| label(schema, cell)).collect();
            let blocks = &counts[tree.levels() - 1];
            for (place, counts) in blocks.chunks(cells).enumerate() {
                for (count, label) in counts.iter().zip(&labels).filter(|(count, _)| **count > 0) {
                    writeln!(out, "{},{label}{count}", leaves(place))?;
                }
            }
            Ok(())
        })
    })
}

/// The name of the file with the answers of a survey.
pub fn requested(survey: &SpineSurvey) -> &'static str {
    if survey.has_areas() { "areas.csv" } else { "estimates.csv" }
}

/// Writes the answers of a survey.
fn write_survey(
    survey: &SpineSurvey,
    saved: &SavedSpine,
    mark: &str,
    folder: &Path,
    see: &mut dyn FnMut(&Subject, &[Answer]) -> Result<()>,
) -> Result<()> {
    let parts = StateParts::new(saved);
    let heading = match survey.has_areas() {
        true => "area".to_string(),
        false => format!("level,unit,{}{}", saved.ids.heading(), if parts.is_some() { ",part" } else { "" }),
    };
    let path = folder.join(requested(survey));
    let wrong = |why: std::io::Error| file_error(&path, why);
    let kinds = kinds_heading(&survey.answers);
    let queries: Vec<String> = survey.answers.names().iter().map(|name| quoted(name)).collect();
    files::write_whole(&path, |out| {
        writeln!(out, "{heading},query,cell,{kinds}estimate{mark},variance,std_dev,margin_95").map_err(wrong)?;
        survey.run(&mut |subject, answers| {
            see(&subject, &answers)?;
            let about = match &subject {
                Subject::Unit { level, code, geoid } => {
                    let part = parts
                        .as_ref()
                        .map(|parts| format!(",{}", parts.part(saved, *level, code.parse().unwrap_or(0))));
                    format!("{},{code},{}{}", quoted(&saved.names[*level]), quoted(geoid), part.unwrap_or_default())
                }
                Subject::Area(name) => quoted(name),
            };
            out.write_all(answer_rows(&about, &survey.answers, &queries, &answers).as_bytes()).map_err(wrong)
        })
    })
}

/// The part of its state that contains a unit, if states have two units with one GEOID: the first outside of American
/// Indian, Alaska Native and Native Hawaiian areas, the second inside.
struct StateParts {
    /// The level of the states.
    level: usize,
    names: Vec<&'static str>,
}

impl StateParts {
    /// `None` if no state has two units.
    fn new(saved: &SavedSpine) -> Option<StateParts> {
        let UnitIds::Census(geoids) = &saved.ids else { return None };
        let level = usize::from(saved.names[0].eq_ignore_ascii_case("US"));
        if level + 1 >= saved.spine.tree.levels() {
            return None;
        }
        let codes: Vec<String> = (0..saved.spine.tree.units(level)).map(|unit| geoids.unit(level, unit)).collect();
        let name = |(unit, code): (usize, &String)| match codes.iter().filter(|own| *own == code).count() {
            0 | 1 => "",
            _ if codes[..unit].contains(code) => AIAN,
            _ => NOT_AIAN,
        };
        let names: Vec<&'static str> = codes.iter().enumerate().map(name).collect();
        names.iter().any(|name| !name.is_empty()).then_some(StateParts { level, names })
    }

    fn part(&self, saved: &SavedSpine, level: usize, unit: usize) -> &'static str {
        let tree = &saved.spine.tree;
        if level < self.level {
            return "";
        }
        let block = if level + 1 == tree.levels() { unit } else { tree.blocks(level, unit).start };
        let state = (0..self.names.len()).find(|state| tree.blocks(self.level, *state).contains(&block));
        state.map_or("", |state| self.names[state])
    }
}

/// The identification of the units of the lowest level in a file of counts: the headings, and the fields of a unit.
fn leaves(saved: &SavedSpine) -> (String, impl Fn(usize) -> String) {
    let last = saved.names.len() - 1;
    let heading = match &saved.ids {
        UnitIds::Census(_) => "block".to_string(),
        UnitIds::Own(_) => saved.names[1..].iter().map(|name| quoted(name)).collect::<Vec<_>>().join(","),
    };
    let leaf = move |place: usize| match &saved.ids {
        UnitIds::Census(geoids) => geoids.unit(last, place),
        UnitIds::Own(ids) => ids.path(last, place).into_iter().map(quoted).collect::<Vec<_>>().join(","),
    };
    (heading, leaf)
}

/// The values of a cell, each followed by a comma.
fn label(schema: &Schema, mut cell: usize) -> String {
    let mut values = Vec::new();
    for attribute in schema.attributes.iter().rev() {
        values.push(quoted(&attribute.values[cell % attribute.values.len()]) + ",");
        cell /= attribute.values.len();
    }
    values.into_iter().rev().collect()
}
