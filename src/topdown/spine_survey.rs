//! A survey of any query of any unit or area of a spine, from the noisy counts of `assay measure`: least squares over
//! all noisy counts, including recodes, with the exact variances of the estimates.
//!
//! The passes are those of [`gls`](super::gls), over counts in memory; the weights are the inverse variances of the
//! noise, discrete Gaussian or discrete Laplace. If these variances are far apart, or the lowest level does not determine
//! every sum of cells on which the answers act, the passes are those of [`precise`].

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::Arc,
};

use super::{
    gls::{
        areas::{AreaSums, LeafShare},
        basis::Part,
        pass::{Measurements, Pass, UnitCounts},
        problem::{Problem, Shape, Shapes},
    },
    histograms::Histograms,
    leaves::Leaves,
    measure::MeasurementPlan,
    nmf::{
        answers::{Answer, Answers, Subject, named_parts},
        areas::AreaColumns,
        names::parts_of,
    },
    precise::{
        self, Need,
        survey::{self, Source, Survey},
    },
};
use rug::Float;

use crate::{
    error::{Error, Result},
    loss::law::Law,
    noise::Distribution,
    release::schema::Schema,
    spine::{
        bypass::Spine,
        csv_table::{BLOCK_NAMES, CsvTable},
        own::UnitIds,
        spine_files::SavedSpine,
    },
};

/// The requested answers of a survey.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Queries of the schema's attributes, each with all its counts.
    pub queries: Vec<String>,
    /// The numbers of the levels whose units are answered.
    pub levels: Vec<usize>,
    /// Areas to answer instead of units.
    pub areas: Option<SpineAreas>,
    /// The true counts, in a rehearsal.
    pub truth: Option<Histograms>,
}

/// Areas: sets of units of the lowest level.
#[derive(Clone, Debug, Default)]
pub struct SpineAreas {
    names: Vec<String>,
    /// The shares of each place of which any area has one.
    of_place: BTreeMap<usize, Vec<LeafShare>>,
}

impl SpineAreas {
    /// Reads a CSV with the column `area` and the columns that identify a unit of the lowest level, as in a file of
    /// counts.
    pub fn read(path: &Path, saved: &SavedSpine) -> Result<SpineAreas> {
        let mut table = CsvTable::open(path)?;
        let used: Vec<&str> = match &saved.ids {
            UnitIds::Census(_) => BLOCK_NAMES.to_vec(),
            UnitIds::Own(_) => saved.names[1..].iter().map(String::as_str).collect(),
        };
        let mut columns = AreaColumns::find(&table, &used)?;
        let mut leaves = Leaves::new(&table, saved)?;
        let mut areas = SpineAreas::default();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        while table.next()? {
            let place = leaves.place(&table)? as usize;
            let block = match &saved.ids {
                UnitIds::Census(geoids) => geoids.blocks().get(place).copied(),
                UnitIds::Own(_) => None,
            };
            let Some(name) = columns.name(&table, block)? else { continue };
            let names = &mut areas.names;
            let number = *numbers.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() as u32 - 1
            });
            let own = areas.of_place.entry(place).or_default();
            if own.iter().any(|share| share.area == number) {
                return Err(table.refuse(leaves.column + 1, "the unit is in its area twice"));
            }
            own.push(LeafShare::of_weight(number, &columns.weight(&table)?));
        }
        if areas.names.is_empty() {
            return Err(table.refuse(0, "no area: a header and a line for each unit of each area are needed"));
        }
        Ok(areas)
    }

    /// The places of an area, with their weights in it.
    fn places(&self, area: u32) -> impl Iterator<Item = (usize, f64)> {
        let share = move |own: &Vec<LeafShare>| own.iter().find(|share| share.area == area).map(|share| share.weight);
        self.of_place.iter().filter_map(move |(place, own)| Some((*place, share(own)?)))
    }
}

/// Noisy counts in memory: for each level and query the counts of all units, one unit after the other.
pub type NoisyTable = Vec<Vec<Vec<f64>>>;

/// A spine with its noisy counts, ready for estimation.
pub struct SpineSurvey<'a> {
    saved: &'a SavedSpine,
    schema: &'a Schema,
    problem: Problem,
    /// The queries of each level, and the queries to answer.
    levels: Vec<Vec<Vec<Part>>>,
    parts: Vec<Vec<Part>>,
    /// The queries to answer.
    pub answers: Answers,
    asked: &'a Asked,
    /// Whether variances are too far apart for doubles, or the leaves do not determine the answers.
    is_precise: bool,
    /// The largest variance of the noise, if the leaves do not determine the answers.
    prior: Option<Float>,
    /// The queries whose noise is treated as zero, with their levels.
    exact: Vec<String>,
    counts: Counts<'a>,
}

/// The counts in the form that the passes read.
struct Counts<'a> {
    saved: &'a SavedSpine,
    noisy: &'a NoisyTable,
    /// By level and by the number of levels whose shares a unit carries.
    variances: Vec<Vec<Arc<[f32]>>>,
    /// The same in long numbers.
    long: Vec<Vec<Vec<Float>>>,
}

impl Counts<'_> {
    /// The counts of all queries of a unit.
    fn of_unit(&self, level: usize, unit: usize) -> Vec<f64> {
        let units = self.saved.spine.tree.units(level);
        let of_query = |all: &Vec<f64>| {
            let width = all.len() / units;
            all[unit * width..(unit + 1) * width].to_vec()
        };
        self.noisy[level].iter().flat_map(of_query).collect()
    }
}

impl Source for Counts<'_> {
    fn kind(&self, level: usize, unit: usize) -> Option<usize> {
        Some(self.saved.spine.carried(level, unit)).filter(|carried| *carried > 0)
    }

    fn variances(&self, level: usize, kind: usize) -> &[Float] {
        &self.long[level][kind]
    }

    fn counts(&self, level: usize, unit: usize) -> Vec<f64> {
        self.of_unit(level, unit)
    }

    fn name(&self, level: usize, unit: usize) -> String {
        Measurements::name(self, level, unit)
    }
}

/// The number of units in a batch.
const BATCH: usize = 64;

impl Measurements for Counts<'_> {
    fn read(&self, level: usize, take: &mut dyn FnMut(Vec<UnitCounts>) -> Result<()>) -> Result<()> {
        let spine = &self.saved.spine;
        let units: Vec<usize> = (0..spine.tree.units(level)).filter(|unit| spine.carried(level, *unit) > 0).collect();
        let one = |unit: usize| {
            let variances = self.variances[level][spine.carried(level, unit)].clone();
            UnitCounts { unit, variances, counts: self.of_unit(level, unit) }
        };
        units.chunks(BATCH).try_for_each(|units| take(units.iter().map(|unit| one(*unit)).collect()))
    }

    fn name(&self, level: usize, unit: usize) -> String {
        format!("{} {:?}", self.saved.names[level], self.saved.ids.unit(level, unit))
    }
}

/// The true variance of the noise: an approximation to forty digits.
fn variance_of(law: &Law) -> Result<Float> {
    Ok(Distribution::of_law(law)?.variance(40).lower().clone())
}

/// Whether the subtree of each unit alone determines it, but for one child whose parent's own counts do, so that all
/// covariances are finite. `regular` has whether the queries of each level determine a unit by themselves.
fn determines_from_below(spine: &Spine, regular: &[bool]) -> bool {
    let tree = &spine.tree;
    let last = tree.levels() - 1;
    let mut known: Vec<bool> = Vec::new();
    for level in (0..=last).rev() {
        let mut own = Vec::with_capacity(tree.units(level));
        for unit in 0..tree.units(level) {
            let unknown = match level == last {
                true => 1,
                false => tree.children(level, unit).filter(|child| !known[*child]).count(),
            };
            let measured = spine.carried(level, unit) > 0;
            if unknown > 1 || unknown == 1 && measured && !regular[level] {
                return false;
            }
            own.push(unknown == 0 || measured);
        }
        known = own;
    }
    known[0]
}

impl<'a> SpineSurvey<'a> {
    /// The measurements of `plan` on a spine, over the attributes of a schema.
    pub fn new(
        plan: &MeasurementPlan,
        saved: &'a SavedSpine,
        schema: &'a Schema,
        noisy: &'a NoisyTable,
        asked: &'a Asked,
    ) -> Result<SpineSurvey<'a>> {
        let sizes: Vec<usize> = schema.attributes.iter().map(|attribute| attribute.values.len()).collect();
        let of_level = |asked: &Vec<super::measure::PlannedQuery>| {
            asked.iter().map(|asked| parts_of(schema, &asked.group.name)).collect::<Result<Vec<_>>>()
        };
        let levels = plan.levels().iter().map(of_level).collect::<Result<Vec<_>>>()?;
        let parts = named_parts(schema, &asked.queries)?;
        let apart = vec![Part::Total; sizes.len()];
        let problem = Problem::for_answers(&sizes, &levels, &parts, &apart)?;
        let regular: Vec<bool> = (0..saved.names.len()).map(|level| problem.is_level_determined(level)).collect();
        let is_open = !determines_from_below(&saved.spine, &regular);
        let answers = Answers::of_queries(&problem, schema, &asked.queries)?;
        let most = saved.names.len();
        let long = plan.levels().iter().map(|asked| {
            let carrying = |carried: usize| asked.iter().filter_map(move |asked| asked.law(carried));
            (0..=most).map(|carried| carrying(carried).map(variance_of).collect()).collect()
        });
        let long: Vec<Vec<Vec<Float>>> = long.collect::<Result<_>>()?;
        let exact = plan.levels().iter().zip(&long).zip(&saved.names).flat_map(|((asked, of_level), name)| {
            let is_exact = |at: usize| of_level.iter().any(|own| own.get(at).is_some_and(precise::is_exact));
            let named = |(at, asked): (usize, &super::measure::PlannedQuery)| {
                is_exact(at).then(|| format!("{} of {name}", asked.group.name))
            };
            asked.iter().enumerate().filter_map(named).collect::<Vec<_>>()
        });
        let exact = exact.collect();
        let short = |own: &Vec<Float>| own.iter().map(Float::to_f32).collect();
        let variances = long.iter().map(|of_level| of_level.iter().map(short).collect()).collect();
        let is_precise = match precise::need(long.iter().flatten().flatten()) {
            _ if is_open => true,
            Need::No => false,
            Need::Better => survey::fits(problem.basis.coordinates(), &saved.spine.tree),
            Need::Must => true,
        };
        let all = long.iter().flatten().flatten();
        let largest = all.fold(None, |most: Option<&Float>, own| most.filter(|most| *most > own).or(Some(own)));
        let prior = largest.filter(|_| is_open).cloned();
        let counts = Counts { saved, noisy, variances, long };
        Ok(SpineSurvey { saved, schema, problem, levels, parts, answers, asked, is_precise, prior, exact, counts })
    }

    /// The queries, with their levels, whose noise is so small that their counts are treated as exact.
    pub fn exact(&self) -> &[String] {
        &self.exact
    }

    /// Whether areas are answered instead of units.
    pub fn has_areas(&self) -> bool {
        self.asked.areas.is_some()
    }

    /// Estimates all requested answers and passes them to `take`, in a fixed order.
    pub fn run(&self, take: &mut dyn FnMut(Subject, Vec<Answer>) -> Result<()>) -> Result<()> {
        if self.is_precise {
            return self.run_precisely(take);
        }
        let tree = &self.saved.spine.tree;
        let shape = Shapes::default().shape(&self.problem, &self.problem.all_free());
        let shapes: Vec<Vec<Arc<Shape>>> =
            (0..tree.levels()).map(|level| vec![shape.clone(); tree.units(level)]).collect();
        let pass = Pass { problem: &self.problem, tree, first: 0, shapes: &shapes, measurements: &self.counts };
        let of_leaf = self.asked.areas.iter().flat_map(|areas| areas.of_place.clone()).collect();
        let mut sums = AreaSums::new(of_leaf);
        let deepest = if self.has_areas() { 0 } else { self.asked.levels.iter().copied().max().unwrap_or(0) };
        let risen = pass.up(deepest, &mut sums)?;
        let no_counts = || Error::missing("the spine has no noisy counts: counts of its units are needed");
        let root = risen.root().cloned().ok_or_else(no_counts)?;
        if let Some(areas) = &self.asked.areas {
            for (area, part) in sums.of_root() {
                let mut answers = self.answers.answers(&self.problem, &part.estimate(&root));
                take(self.area(areas, area, &mut answers), answers)?;
            }
            return Ok(());
        }
        let last = tree.levels() - 1;
        pass.down(
            &risen,
            root,
            deepest == last,
            |level, unit, belief| {
                Ok(self.asked.levels.contains(&level).then(|| {
                    let mut answers = self.answers.answers(&self.problem, belief);
                    (self.unit(level, unit, &mut answers), answers)
                }))
            },
            |answered| answered.map_or(Ok(()), |(subject, answers)| take(subject, answers)),
        )
    }

    /// The same in long numbers.
    fn run_precisely(&self, take: &mut dyn FnMut(Subject, Vec<Answer>) -> Result<()>) -> Result<()> {
        let tree = &self.saved.spine.tree;
        let sizes: Vec<usize> = self.schema.attributes.iter().map(|attribute| attribute.values.len()).collect();
        let mut survey = Survey::new(&sizes, tree, &self.levels, &self.parts, &self.counts)?;
        if let Some(largest) = &self.prior {
            survey = survey.with_prior(largest.clone());
        }
        let nothing = BTreeMap::new();
        let areas = self.asked.areas.as_ref();
        let is_asked = |level: usize| areas.is_none() && self.asked.levels.contains(&level);
        survey.run(&is_asked, areas.map_or(&nothing, |areas| &areas.of_place), &mut |subject, answered| {
            let answer = |(query, (estimates, variances)): (usize, (Vec<f64>, Vec<f64>))| {
                let [estimates, variances] = [estimates, variances].map(|own| self.answers.in_order(query, own));
                Answer::new(query, estimates, variances)
            };
            let mut answers: Vec<Answer> = answered.into_iter().enumerate().map(answer).collect();
            let subject = match (subject, areas) {
                (survey::Subject::Area(area), Some(areas)) => self.area(areas, area, &mut answers),
                (survey::Subject::Unit(level, unit), _) => self.unit(level, unit, &mut answers),
                (survey::Subject::Area(_), None) => return Ok(()),
            };
            self.check_determined(&subject, &answers)?;
            take(subject, answers)
        })
    }

    /// Refuses answers that the noisy counts do not determine.
    fn check_determined(&self, subject: &Subject, answers: &[Answer]) -> Result<()> {
        let is_open = |answer: &&Answer| answer.variances.iter().any(|variance| variance.is_infinite());
        let Some(open) = answers.iter().find(is_open) else { return Ok(()) };
        let whose = match subject {
            Subject::Unit { level, geoid, .. } => format!("{} {geoid:?}", self.saved.names[*level]),
            Subject::Area(name) => format!("the area {name:?}"),
        };
        let query = &self.answers.names()[open.query];
        let needed = "a query that keeps its attributes is needed at the levels of its units";
        Err(Error::unsuitable(format!("the noisy counts do not determine {query:?} of {whose}: {needed}")))
    }

    /// A unit, whose true counts are added to its answers.
    fn unit(&self, level: usize, unit: usize, answers: &mut [Answer]) -> Subject {
        let tree = &self.saved.spine.tree;
        let places = if level + 1 == tree.levels() { unit..unit + 1 } else { tree.blocks(level, unit) };
        self.add_truth(places.map(|place| (place, 1.0)), answers);
        let geoid = self.saved.ids.unit(level, unit).into_owned();
        Subject::Unit { level, code: unit.to_string(), geoid }
    }

    /// An area, whose true counts are added to its answers.
    fn area(&self, areas: &SpineAreas, area: u32, answers: &mut [Answer]) -> Subject {
        self.add_truth(areas.places(area), answers);
        Subject::Area(areas.names[area as usize].clone())
    }

    /// Adds the true counts of places with their weights.
    fn add_truth(&self, places: impl Iterator<Item = (usize, f64)>, answers: &mut [Answer]) {
        if let Some(truth) = &self.asked.truth {
            let sizes: Vec<usize> = self.schema.attributes.iter().map(|attribute| attribute.values.len()).collect();
            let mut histogram = vec![0.0; self.schema.cells()];
            truth.add_cells(places, &mut histogram);
            self.answers.add_truth(&sizes, &histogram, answers);
        }
    }
}
