//! The main computation of the sieve-accelerated quadrature paper, to the end of its axis and far beyond: the largest
//! delta of the DHC persons run over all pairs of block paths, at the epsilon that rho-zCDP gives for each delta.

use crate::error::Error;
use rug::{Integer, Rational, ops::Pow};

use super::{
    item::{ItemRow, Sources},
    own::Parameter,
};
use crate::{
    account::{Account, Composition, conversions, paths::WorstPath},
    chart::{
        Axis, Drawing, Figure, Ink, Panel, Series, Sheet,
        drawing::{ends, exact},
    },
    error::Result,
    loss::{answer::Pair, evaluator::Evaluator},
    numeric::{Enclosure, parallel, rational::unit_of_decimals},
    release::Release,
    replication::{block_paths::worst_path, verdict::finite},
};

pub(super) const ITEMS: &[ItemRow] = &[
    (
        "profile",
        "the largest delta of all pairs of block paths, on the paper's axis from 5e-1 to 1e-21",
        TAKES,
        profile,
    ),
    ("tail", "the same down to 1e-100000, with what the proof took", TAKES, tail),
];

const TAKES: &[Parameter] = &[Parameter::Release, Parameter::Range, Parameter::Points];

/// The digits of every enclosure: the precision of the first attempt of one contour for all pairs.
const DIGITS: u32 = 10;

/// The epsilons are those of rho-zCDP, rounded up to this number of decimals.
const DECIMALS: u32 = 9;

/// A delta by rho-zCDP, its epsilon, and the exact deltas there.
struct Row {
    zcdp_delta: Rational,
    epsilon: Rational,
    main: Enclosure,
    largest: Enclosure,
    pair: Pair,
    /// Nodes that were evaluated, nodes of the full period on a lattice, and bits of the mantissas.
    nodes: u64,
    period: Option<u64>,
    bits: u64,
}

/// The number of deltas computed by one evaluator.
const AT_ONCE: usize = 21;

/// All block paths of the release, and the main pair: the first path that drops no level, left and entered.
struct Paths {
    worst: WorstPath,
    main: Pair,
    composition: Composition,
    title: String,
}

impl Paths {
    fn of_sources(sources: &Sources) -> Result<Self> {
        let own = sources.own.release.clone();
        let title = own.as_ref().map_or_else(|| "The 2020 DHC for persons".to_string(), |own| own.title.clone());
        let release = own.map_or_else(|| Release::find("dhc-persons-us"), Ok)?;
        let Some(paths) = &release.paths else {
            let why = "has no block paths, which this figure is about; su-su-wang-2025/figure-7 draws any release";
            return Err(Error::unsuitable(format!("the release {} {why}", release.name)));
        };
        let least = (0..paths.dropped.len()).min_by_key(|path| paths.dropped[*path].len()).unwrap_or(0);
        let (worst, main) = (worst_path(&release)?, (least, least));
        let composition = worst.composition(main)?;
        Ok(Paths { worst, main, composition, title })
    }

    /// The number of pairs or paths, in words.
    fn count(&self) -> String {
        let kind = if self.worst.in_pairs() { "pairs" } else { "paths" };
        format!("{} {kind}", self.worst.count())
    }

    /// The same in the words of the paper.
    fn all(&self) -> String {
        if self.worst.in_pairs() {
            format!("{} of block paths", self.count())
        } else {
            format!("block {}", self.count())
        }
    }

    /// A row for each delta, by evaluators that cache contours. With `many`, deltas share contours; otherwise each has
    /// its own.
    fn rows(&self, deltas: &[Rational], many: bool) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        // The cache of one chunk is freed before the next.
        for some in deltas.chunks(AT_ONCE) {
            let (all, main) = (self.worst.evaluator(), self.composition.evaluator());
            rows.extend(parallel::try_map(some, |delta| self.row((&all, &main), delta, many))?);
        }
        Ok(rows)
    }

    fn row(&self, (all, main): (&Evaluator, &Evaluator), zcdp_delta: &Rational, many: bool) -> Result<Row> {
        let unit = Integer::from(10).pow(DECIMALS);
        let bound = conversions::zcdp_epsilon(&self.worst.rho(), &zcdp_delta.try_into()?, 30);
        let bound = finite(bound.upper(), "the epsilon by zCDP")?;
        let epsilon = (bound * &unit).ceil() / unit;
        let largest =
            if many { all.hockey_stick_of_many(&epsilon, DIGITS)? } else { all.hockey_stick(&epsilon, DIGITS)? };
        let main = main.hockey_stick(&epsilon, DIGITS + 2)?.value;
        let pair = largest.pair().unwrap_or(self.main);
        let count = |name| largest.proof.count(name);
        let missing = Error::Unbounded { what: "the number of nodes of delta" };
        let (Some(nodes), Some(bits)) = (count("evaluated_nodes"), count("bits")) else { return Err(missing) };
        let period = count("period_nodes");
        let zcdp_delta = zcdp_delta.clone();
        Ok(Row { zcdp_delta, epsilon, main, largest: largest.value, pair, nodes, period, bits })
    }
}

/// The ratio of the largest delta to that of the main pair, minus 1.
fn excess(row: &Row) -> Enclosure {
    // The main pair is one of all pairs, so the largest delta is not below its delta.
    row.largest.div(&row.main).sub(&Enclosure::double(1.0, 64)).clamp(0.0, f64::INFINITY)
}

fn pair_name((p, q): Pair) -> String {
    format!("{} {}", p + 1, q + 1)
}

/// The paper's axis: 5, 2 and 1 times the powers of ten from 5e-1 to 1e-21; or a given axis.
fn profile(sources: &Sources) -> Result<Drawing> {
    let (paths, own) = (Paths::of_sources(sources)?, &sources.own);
    let deltas: Vec<Rational> = match own.has_axis() {
        true => own.log_grid(&unit_of_decimals(21), &Rational::from((1, 2)), 61)?,
        false => (1..=21).flat_map(|k| [5_u32, 2, 1].map(|digit| unit_of_decimals(k) * digit)).collect(),
    };
    let rows = paths.rows(&deltas, true)?;
    let mut sheet = Sheet::of_columns("zcdp_delta epsilon main_pair_delta± largest_delta± excess± pair");
    for row in &rows {
        let cells = [&row.main, &row.largest, &excess(row)].map(ends).concat();
        sheet.push([vec![exact(&row.zcdp_delta), exact(&row.epsilon)], cells, vec![pair_name(row.pair)]].concat());
    }
    let points = |value: &dyn Fn(&Row) -> f64| rows.iter().map(|row| (row.epsilon.to_f64(), value(row))).collect();
    let epsilons = || rows.iter().map(|row| row.epsilon.to_f64());
    let (first, last) = (epsilons().fold(f64::INFINITY, f64::min), epsilons().fold(0.0, f64::max));
    let x = || Axis::linear("ε (nats)", (first - 1.0).max(0.0).floor(), last.ceil());
    let least = rows.iter().map(|row| row.largest.approximate()).fold(1.0, f64::min).max(1e-300);
    let most = rows.iter().map(|row| 2.0 * excess(row).approximate()).fold(1e-3, f64::max);
    let main = paths.main.0 + 1;
    let delta = Panel {
        title: "the privacy profile".to_string(),
        x: x(),
        y: Axis::log("δ", least / 10.0, 1.0),
        series: vec![
            Series::line("zCDP", Ink::Vermillion, points(&|row| row.zcdp_delta.to_f64())),
            Series::line(
                &format!("exact, worst of {}", paths.count()),
                Ink::Blue,
                points(&|row| row.largest.approximate()),
            ),
        ],
    };
    let above = Panel {
        title: "what the worst pair adds".to_string(),
        x: x(),
        y: Axis::log(&format!("δ of the worst / δ of ({main}, {main}) − 1"), 1e-10, most),
        series: vec![Series::line(
            "the worst over the main pair, less one; 1e-10 and less at the foot",
            Ink::Black,
            points(&|row| excess(row).approximate().max(1e-10)),
        )],
    };
    let title = format!("{} over all {}", paths.title, paths.all());
    Ok(Drawing { sheet, figure: Figure { title, columns: 2, panels: vec![delta, above] } })
}

/// The exponents k of the far tail, delta = 10^-k.
const EXPONENTS: [u32; 17] =
    [1, 2, 5, 10, 21, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 75_000, 100_000];

/// Far beyond the paper's axis: delta by zCDP from 10^-1 to 10^-100000.
fn tail(sources: &Sources) -> Result<Drawing> {
    let paths = Paths::of_sources(sources)?;
    let own = &sources.own;
    let deltas: Vec<Rational> = match own.has_axis() {
        true => own.log_grid(&unit_of_decimals(1000), &unit_of_decimals(1), 17)?.into_iter().rev().collect(),
        false => EXPONENTS.iter().map(|&k| unit_of_decimals(k)).collect(),
    };
    let rows = paths.rows(&deltas, false)?;
    let mut sheet = Sheet::of_columns(
        "zcdp_delta epsilon main_pair_delta± largest_delta± pair nodes_evaluated nodes_of_period bits",
    );
    for row in &rows {
        let period = row.period.map_or_else(|| "line".to_string(), |nodes| nodes.to_string());
        let work = [pair_name(row.pair), row.nodes.to_string(), period, row.bits.to_string()];
        let cells = [&row.main, &row.largest].map(ends).concat();
        sheet.push([vec![exact(&row.zcdp_delta), exact(&row.epsilon)], cells, work.to_vec()].concat());
    }
    let log10 = |value: &Enclosure| -value.ln().approximate() / std::f64::consts::LN_10;
    let k_of = |row: &Row| log10(&Enclosure::rational(&row.zcdp_delta, 64));
    let points =
        |value: &dyn Fn(&Row) -> f64| -> Vec<(f64, f64)> { rows.iter().map(|row| (k_of(row), value(row))).collect() };
    let (first, last) = (rows.first().map_or(1.0, k_of), rows.last().map_or(1e5, k_of));
    let x = || Axis::log("k, where δ = 10⁻ᵏ by zCDP", first, last);
    let gain = |row: &Row| log10(&row.largest) - k_of(row);
    let most = rows.iter().map(gain).fold(7.0, f64::max);
    let below = Panel {
        title: "exact δ below zCDP's".to_string(),
        x: x(),
        y: Axis::linear("powers of ten", 0.0, most),
        series: vec![Series::line(&format!("exact, worst of {}", paths.count()), Ink::Black, points(&gain))],
    };
    let nodes = Panel {
        title: "nodes of the contour".to_string(),
        x: x(),
        y: Axis::log("nodes", 1.0, 1e8),
        series: vec![
            Series::line(
                "of the whole period",
                Ink::Vermillion,
                points(&|row| row.period.map_or(f64::NAN, |nodes| nodes as f64)),
            ),
            Series::line("evaluated, for ten digits", Ink::Blue, points(&|row| row.nodes as f64)),
        ],
    };
    let title = match sources.own.release {
        None => "How far into the tail a certified δ holds".to_string(),
        Some(_) => format!("How far into the tail a certified δ holds: {}", paths.title),
    };
    Ok(Drawing { sheet, figure: Figure { title, columns: 2, panels: vec![below, nodes] } })
}
