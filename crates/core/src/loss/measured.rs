//! The seconds of single steps, as `scripts/measure/measure-costs` measures them beside the constants of `engine/machine.rs`: on one processor, in a release
//! build. Steps of private parts are measured by `measured` of their own modules.

use std::{env, fs, hint::black_box};

use rug::Rational;

use super::{
    contour::{Contours, ln_share},
    engine::{machine, session::Session},
    evaluator::SumEvaluator,
    integrand::Integrand,
    limit::Limit,
    question::Question,
    rough::RoughContour,
    sieve,
    smoothed::Smoothed,
    split::{self, Rest},
    stop::Stop,
    sum::LossSum,
    testing::sum,
    timed::least_per_step,
};
use crate::numeric::{
    ball::ComplexBall,
    field::{Field, Real},
    precision,
    rational::parse,
    twofold::{self, ComplexTwofold},
};

/// The file that is written.
const OUT: &str = "ASSAY_COSTS";
/// Contours of fewer nodes take most of their time before the first one.
const LEAST_NODES: i64 = 500;

/// The median of the examples that have such steps.
fn median(name: &str, mut measured: Vec<f64>) -> f64 {
    measured.retain(|seconds| seconds.is_finite() && *seconds > 0.0);
    assert!(!measured.is_empty(), "no example has steps of {name}");
    measured.sort_by(f64::total_cmp);
    measured[measured.len() / 2]
}

fn number(text: &str) -> Rational {
    parse(text).expect("a number of this file")
}

/// Sums that contours answer at these epsilons, by many nodes.
fn of_many_nodes() -> Vec<(LossSum, [Rational; 3])> {
    [
        (&["2003/7x40", "1009/5x3", "1/3x2"][..], ["3.7", "9", "14"]),
        (&["154013156402/4099x28", "59671/1237x5", "1/15x30"], ["201", "240", "260.5"]),
        (&["1664982992/4099x3", "922/25x100", "5x9999"], ["400", "899.5", "1200"]),
        (&["500/73x10", "2500/137x6"], ["1", "3", "7"]),
    ]
    .into_iter()
    .map(|(groups, epsilons)| (sum(groups), epsilons.map(number)))
    .collect()
}

/// Sums whose contours have a short period.
fn of_short_periods() -> Vec<LossSum> {
    [&["5x10"][..], &["40x9"], &["100x30"], &["300x4", "600x9"], &["1000x5"]].map(sum).into()
}

fn of_contours(of: impl Fn(&Contours, &Question) -> Option<f64>) -> Vec<f64> {
    let of = &of;
    let of_sum = |(sum, epsilons): (LossSum, [Rational; 3])| {
        let contours = Contours::new(sum);
        epsilons.into_iter().filter_map(move |epsilon| of(&contours, &Question::hockey_stick(contours.sum(), &epsilon)))
    };
    of_many_nodes().into_iter().flat_map(of_sum).collect()
}

/// A node of a contour for each group in one arithmetic, to this number of digits.
fn per_factor<F: Field>(
    contours: &Contours,
    question: &Question,
    digits: u32,
    precision: <F::Real as Real>::Precision,
) -> Option<f64> {
    let question = contours.choose(question.clone(), &contours.search(question), digits).ok()?.question;
    let plan = contours.search(&question).plan(ln_share(digits), None).ok()?;
    let nodes = Some(plan.evaluated()).filter(|nodes| *nodes >= LEAST_NODES)? as f64;
    let factors = nodes * contours.sum().groups().len() as f64;
    Some(least_per_step(|| {
        black_box(Integrand::<F>::new(contours.sum(), &question, &plan, precision).total(&plan));
        factors
    }))
}

fn per_rough_node(contours: &Contours, question: &Question) -> Option<f64> {
    /// ln of the share of the answer that is left out.
    const LN_SHARE: f64 = -32.0;
    let question = question.clone().on_line();
    let plan = contours.search(&question).unproven().plan(LN_SHARE, None).ok()?;
    let nodes = Some(plan.evaluated()).filter(|nodes| *nodes >= LEAST_NODES)? as f64;
    Some(least_per_step(|| {
        let contour = RoughContour::new(contours, &question, plan.clone());
        black_box(contour.ln_approx(contours, &question));
        nodes
    }))
}

/// The requests to the remaining groups of a conditioning, of which `is_meant` says whether the predicted seconds are those that are measured.
fn of_remaining(sums: Vec<LossSum>, digits: u32, is_meant: impl Fn(f64) -> bool) -> Vec<f64> {
    const REQUESTS: u32 = 24;
    let of_sum = |sum: LossSum| {
        let (rho, reach) = (sum.rho().clone(), 4.0 * (2.0 * sum.rho().to_f64()).sqrt());
        if !is_meant(Rest::seconds(&SumEvaluator::of_remaining(sum.clone()), &rho, digits)) {
            return None;
        }
        let step = Rational::from_f64((rho.to_f64() + reach) / f64::from(REQUESTS))?;
        Some(least_per_step(|| {
            let evaluator = SumEvaluator::of_remaining(sum.clone());
            let session = Session::until(Limit::NONE, &Stop::default());
            let requests = (0..REQUESTS).map(|at| Rational::from(&step * at));
            requests.filter(|at| Rest::enclose(&evaluator, at, digits, &session).is_ok()).count() as f64
        }))
    };
    sums.into_iter().filter_map(of_sum).collect()
}

#[test]
#[ignore = "a few minutes in a release build: scripts/measure/measure-costs runs it"]
fn costs() {
    const FEW: u32 = 12;
    const MANY: u32 = 30;
    const { assert!(FEW <= twofold::ball::MOST_DIGITS && MANY > twofold::ball::MOST_DIGITS) };
    let Some(path) = env::var_os(OUT) else { panic!("{OUT} names the file to write") };
    let smoothed = [
        (&["500/73x10", "2500/137x6"][..], "3"),
        (&["1000/7x8", "20x4", "3001/11x9"], "1.7"),
        (&["4099/8x20", "3001/11x12"], "0.6"),
        (&["100003/7x300", "50021/3x200"], "1.1"),
    ];
    let of_smoothing: Vec<[f64; 3]> = smoothed
        .iter()
        .filter_map(|(groups, epsilon)| Smoothed::new(&sum(groups))?.seconds_of_steps(&number(epsilon), FEW))
        .collect();
    let of_smoothing = |at: usize| of_smoothing.iter().map(|seconds| seconds[at]).collect::<Vec<f64>>();
    let in_twofolds = of_contours(|contours, question| per_factor::<ComplexTwofold>(contours, question, FEW, ()));
    let bits = precision::bits(MANY, 40);
    let in_balls = of_contours(|contours, question| per_factor::<ComplexBall>(contours, question, MANY, bits));
    let by_short_periods =
        |digits, constant: f64| of_remaining(of_short_periods(), digits, |seconds| seconds == constant);
    let by_others = || {
        let sums = of_many_nodes().into_iter().map(|(sum, _)| sum).collect();
        let least = of_remaining(sums, FEW, |seconds| seconds >= machine::LEAST_OF_REMAINING).into_iter();
        least.min_by(f64::total_cmp).into_iter().collect()
    };
    let rows = [
        ("PER_WINDOW", sieve::measured::per_window()),
        ("PER_ROUGH_NODE", of_contours(per_rough_node)),
        ("PER_FACTOR", in_twofolds),
        ("PER_FACTOR_OF_MANY_BITS", in_balls),
        ("PER_SMOOTHED_FACTOR", of_smoothing(0)),
        ("PER_STEP_TO_A_POINT", of_smoothing(1)),
        ("PER_POINT", of_smoothing(2)),
        ("PER_LISTED", split::measured::per_listed(FEW)),
        ("OF_SHORT_PERIOD", by_short_periods(FEW, machine::OF_SHORT_PERIOD)),
        ("OF_SHORT_PERIOD_OF_MANY_BITS", by_short_periods(MANY, machine::OF_SHORT_PERIOD_OF_MANY_BITS)),
        ("LEAST_OF_REMAINING", by_others()),
    ];
    let lines: String =
        rows.into_iter().map(|(name, of_examples)| format!("{name},{:e}\n", median(name, of_examples))).collect();
    fs::write(path, format!("constant,seconds\n{lines}")).expect("the table can be written");
}
