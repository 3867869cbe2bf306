//! What the sieve-accelerated quadrature paper computes, drawn to its end and far beyond: the largest delta of the DHC
//! persons run over all pairs of block paths, at the epsilon that rho-zCDP gives for each delta.

use crate::error::Error;
use rayon::prelude::*;
use rug::{Integer, Rational, ops::Pow};

use super::item::{Item, Sources};
use crate::{
    account::{Account, Composition, conversions, paths::WorstPath},
    chart::{
        Axis, Drawing, Figure, Ink, Panel, Series, Sheet,
        drawing::{ends, exact},
    },
    error::Result,
    loss::answer::{ContourProof, Pair},
    numeric::Enclosure,
    release::Release,
    replication::{block_paths::worst_path, verdict::finite},
};

const PAPER: &str = "sieve-quadrature-2026";

pub(super) const ITEMS: &[Item] = &[
    Item {
        paper: PAPER,
        name: "profile",
        about: "the largest delta of all pairs of block paths, on the paper's axis from 5e-1 to 1e-21",
        draw: profile,
    },
    Item { paper: PAPER, name: "tail", about: "the same down to 1e-100000, with what the proof took", draw: tail },
];

/// The digits of every enclosure: what one contour for all pairs gives at its first attempt.
const DIGITS: u32 = 10;

/// The path that drops no level, left and entered: number 13 of the release's list.
const MAIN_PAIR: Pair = (12, 12);

/// The epsilons are those of rho-zCDP, rounded up to so many decimals.
const DECIMALS: u32 = 9;

/// A delta by rho-zCDP, the epsilon that belongs to it, and the exact deltas there.
struct Row {
    zcdp_delta: Rational,
    epsilon: Rational,
    main: Enclosure,
    largest: Enclosure,
    pair: Pair,
    proof: ContourProof,
}

fn rows(deltas: &[Rational]) -> Result<Vec<Row>> {
    let worst = worst_path(&Release::find("dhc-persons-us")?)?;
    let main = worst.composition(MAIN_PAIR)?;
    deltas.par_iter().map(|delta| row(&worst, &main, delta)).collect()
}

fn row(worst: &WorstPath, main: &Composition, zcdp_delta: &Rational) -> Result<Row> {
    let unit = Integer::from(10).pow(DECIMALS);
    let bound =
        finite(conversions::zcdp_epsilon(&worst.rho(), &zcdp_delta.try_into()?, 30).upper(), "the epsilon by zCDP")?;
    let epsilon = (bound * &unit).ceil() / unit;
    let largest = worst.delta(&epsilon, DIGITS)?;
    let main = main.delta(&epsilon, DIGITS + 2)?.value;
    let pair = largest.pair().unwrap_or(MAIN_PAIR);
    let proof = largest.method.contour().cloned().ok_or(Error::Unbounded { what: "delta" })?;
    Ok(Row { zcdp_delta: zcdp_delta.clone(), epsilon, main, largest: largest.value, pair, proof })
}

/// The largest over that of the main pair, less one.
fn excess(row: &Row) -> Enclosure {
    // The main pair is one of all, so the largest is not below it.
    row.largest.div(&row.main).sub(&Enclosure::double(1.0, 64)).clamp(0.0, f64::INFINITY)
}

fn pair_name((p, q): Pair) -> String {
    format!("{} {}", p + 1, q + 1)
}

/// The paper's axis: 5, 2 and 1 times the powers of ten from 5e-1 to 1e-21.
fn profile(_: &Sources) -> Result<Drawing> {
    let power = |k: u32| Rational::from((1, Integer::from(10).pow(k)));
    let deltas: Vec<Rational> = (1..=21).flat_map(|k| [5_u32, 2, 1].map(|digit| power(k) * digit)).collect();
    let rows = rows(&deltas)?;
    let mut sheet = Sheet::new([
        "zcdp_delta",
        "epsilon",
        "main_pair_delta_lower",
        "main_pair_delta_upper",
        "largest_delta_lower",
        "largest_delta_upper",
        "excess_lower",
        "excess_upper",
        "pair",
    ]);
    for row in &rows {
        let cells = [&row.main, &row.largest, &excess(row)].map(ends).concat();
        sheet.push([vec![exact(&row.zcdp_delta), exact(&row.epsilon)], cells, vec![pair_name(row.pair)]].concat());
    }
    let points = |value: &dyn Fn(&Row) -> f64| rows.iter().map(|row| (row.epsilon.to_f64(), value(row))).collect();
    let x = || Axis::linear("ε (nats)", 8.0, 37.0);
    let delta = Panel {
        title: "the privacy profile".to_string(),
        x: x(),
        y: Axis::log("δ", 1e-24, 1.0),
        series: vec![
            Series::line("zCDP", Ink::Vermillion, points(&|row| row.zcdp_delta.to_f64())),
            Series::line("exact, worst of 946 pairs", Ink::Blue, points(&|row| row.largest.approximate())),
        ],
    };
    let above = Panel {
        title: "worst pair over (13, 13), less one".to_string(),
        x: x(),
        y: Axis::log("relative", 1e-10, 1e-3),
        series: vec![Series::line(
            "worst pair over (13, 13), less one; 1e-10 and less at the foot",
            Ink::Black,
            points(&|row| excess(row).approximate().max(1e-10)),
        )],
    };
    let title = "The 2020 DHC for persons over all 946 pairs of block paths".to_string();
    Ok(Drawing { sheet, figure: Figure { title, columns: 2, panels: vec![delta, above] } })
}

/// The exponents k of the far tail, delta = 10^-k.
const EXPONENTS: [u32; 17] =
    [1, 2, 5, 10, 21, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 75_000, 100_000];

/// Far beyond the paper's axis: delta by zCDP from 10^-1 to 10^-100000.
fn tail(_: &Sources) -> Result<Drawing> {
    let power = |k: u32| Rational::from((1, Integer::from(10).pow(k)));
    let deltas: Vec<Rational> = EXPONENTS.iter().map(|&k| power(k)).collect();
    let rows = rows(&deltas)?;
    let mut sheet = Sheet::new([
        "zcdp_delta",
        "epsilon",
        "main_pair_delta_lower",
        "main_pair_delta_upper",
        "largest_delta_lower",
        "largest_delta_upper",
        "pair",
        "nodes_evaluated",
        "nodes_of_period",
        "bits",
    ]);
    for (k, row) in EXPONENTS.iter().zip(&rows) {
        let proof = &row.proof;
        let period = proof.period_nodes.map_or_else(|| "line".to_string(), |nodes| nodes.to_string());
        let work = [pair_name(row.pair), proof.evaluated_nodes.to_string(), period, proof.bits.to_string()];
        let cells = [&row.main, &row.largest].map(ends).concat();
        sheet.push([vec![format!("1e-{k}"), exact(&row.epsilon)], cells, work.to_vec()].concat());
    }
    let points = |value: &dyn Fn(&Row) -> f64| -> Vec<(f64, f64)> {
        EXPONENTS.iter().zip(&rows).map(|(k, row)| (f64::from(*k), value(row))).collect()
    };
    let log10 = |value: &Enclosure| -value.ln().approximate() / std::f64::consts::LN_10;
    let x = || Axis::log("k, where δ = 10⁻ᵏ by zCDP", 1.0, 1e5);
    let gain = Panel {
        title: "exact δ below zCDP's".to_string(),
        x: x(),
        y: Axis::linear("powers of ten", 0.0, 7.0),
        series: vec![Series::line(
            "exact, worst of 946 pairs",
            Ink::Black,
            EXPONENTS.iter().zip(&rows).map(|(k, row)| (f64::from(*k), log10(&row.largest) - f64::from(*k))).collect(),
        )],
    };
    let nodes = Panel {
        title: "nodes of the contour".to_string(),
        x: x(),
        y: Axis::log("nodes", 1.0, 1e8),
        series: vec![
            Series::line(
                "of the whole period",
                Ink::Vermillion,
                points(&|row| row.proof.period_nodes.map_or(f64::NAN, |nodes| nodes as f64)),
            ),
            Series::line("evaluated, for ten digits", Ink::Blue, points(&|row| row.proof.evaluated_nodes as f64)),
        ],
    };
    let title = "How far into the tail a certified δ holds".to_string();
    Ok(Drawing { sheet, figure: Figure { title, columns: 2, panels: vec![gain, nodes] } })
}
