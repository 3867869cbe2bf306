//! The units that are proven together, and how: a contour for many, enumeration for those of few groups, and for the units whose
//! delta is far below the largest one bounds that are only as good as they have to be.

use rug::Rational;

use super::{
    atoms,
    claim::{Paths, Unit},
    ends::MORE,
    hints::{Hints, Proof},
    search::Search,
};
use crate::{
    account::{Account, Composition, Counts, Whole},
    error::{Error, Result},
};

/// The number of nodes to evaluate above which enumeration is tried.
const MANY_NODES: u64 = 1000;

/// The goal of bounds on delta at an epsilon: the worst delta and the allowed error, as logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim<'a> {
    pub epsilon: &'a Rational,
    pub ln_delta: f64,
    pub ln_error: f64,
}

impl Aim<'_> {
    fn pair(&self) -> (f64, f64) {
        (self.ln_delta, self.ln_error)
    }

    /// The aim for delta given that the loss is finite.
    fn if_finite(self, infinite: &Rational) -> Self {
        if *infinite == 0 {
            return self;
        }
        let infinite = infinite.to_f64();
        let ln_finite = libm::log1p(-infinite);
        let delta = (libm::exp(self.ln_delta) - infinite).max(f64::MIN_POSITIVE);
        Aim { ln_delta: libm::log(delta) - ln_finite, ln_error: self.ln_error - ln_finite, ..self }
    }
}

/// Hints for the lower end: for one unit.
pub(super) fn lower(paths: &Paths, unit: &Unit, aim: Aim, named: bool) -> Result<Hints> {
    one(paths, unit, aim.if_finite(&paths.infinite), named)
}

/// Hints for the unit whose delta is the largest.
pub(super) fn lower_hints(paths: &Paths, whole: &Whole, aim: Aim, digits: u32) -> Result<Hints> {
    let unit = worst_unit(paths, whole, aim.epsilon, digits)?;
    lower(paths, &unit, aim, paths.units().len() > 1)
}

/// Hints for each unit whose delta is the largest at one of these epsilons.
pub(super) fn lower_hints_at(
    paths: &Paths,
    whole: &Whole,
    (aim, epsilons): (Aim, &[Rational]),
    digits: u32,
) -> Result<Vec<Hints>> {
    let mut units = Vec::new();
    for epsilon in epsilons {
        let unit = worst_unit(paths, whole, &epsilon.clone().abs(), digits)?;
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    units.iter().map(|unit| lower(paths, unit, aim, paths.units().len() > 1)).collect()
}

/// The unit whose delta is the largest at an epsilon.
fn worst_unit(paths: &Paths, whole: &Whole, epsilon: &Rational, digits: u32) -> Result<Unit> {
    let pair = match whole {
        Whole::Composition(_) | Whole::ManyWays(_) => None,
        Whole::WorstPath(_) => whole.evaluator().hockey_stick(epsilon, digits + MORE)?.pair(),
    };
    Ok(paths.unit_of(whole, pair).unwrap_or_else(|| paths.units()[0].clone()))
}

/// Hints for one unit.
fn one(paths: &Paths, unit: &Unit, aim: Aim, named: bool) -> Result<Hints> {
    let units = [unit.clone()];
    if paths.are_continuous() {
        return formula(paths, aim.epsilon, named.then(|| units.to_vec()));
    }
    let contour = Search::new(paths, &units)
        .and_then(|search| search.hints(aim.epsilon, aim.pair(), named.then(|| units.to_vec())));
    match contour {
        Ok(hints) if evaluated(&hints) <= MANY_NODES => Ok(hints),
        other => match atoms::hints(paths, unit, aim.epsilon, aim.ln_error, named) {
            Some(hints) => Ok(hints),
            None => other,
        },
    }
}

/// Hints for all units, which prove that none of them has a delta above the worst one by more than the error.
pub(super) fn all(paths: &Paths, aim: Aim) -> Result<Vec<Hints>> {
    let (units, aim) = (paths.units(), aim.if_finite(&paths.infinite));
    if paths.are_continuous() {
        return Ok(vec![formula(paths, aim.epsilon, None)?]);
    }
    if let [unit] = &units[..] {
        return Ok(vec![one(paths, unit, aim, false)?]);
    }
    match Search::new(paths, &units).and_then(|search| search.hints(aim.epsilon, aim.pair(), None)) {
        Err(Error::Unprovable { .. }) => by_delta(paths, units, aim),
        together => Ok(vec![together?]),
    }
}

/// Continuous noise needs no hints. A checker goes at most 100 standard deviations into the tail.
fn formula(paths: &Paths, epsilon: &Rational, units: Option<Vec<Unit>>) -> Result<Hints> {
    let far = |unit: &Unit| {
        let mu = (2.0 * paths.of_unit(unit).map(|group| group.rho()).sum::<Rational>().to_f64()).sqrt();
        epsilon.to_f64() / mu + mu / 2.0
    };
    if paths.units().iter().any(|unit| far(unit) > 99.0) {
        let why =
            "delta is the tail of continuous noise beyond 100 standard deviations, which a checker does not evaluate";
        return Err(Error::Unprovable { why: why.to_string() });
    }
    Ok(Hints { units, proof: Proof::Normal, bits: 0 })
}

/// The units in classes by how far their delta is below the largest one: the farther, the weaker the bounds may be.
fn by_delta(paths: &Paths, units: Vec<Unit>, aim: Aim) -> Result<Vec<Hints>> {
    /// The first class is below this share of the largest delta, and each next one this much closer to it.
    const FIRST: f64 = 0.4;
    const CLOSER: f64 = 4.0;
    /// Two deltas that differ by less than a relative 1e-9 are equal to doubles: these are in the last class.
    const MOST: i32 = 14;
    let below = |class: i32| (1.0 - FIRST) * CLOSER.powi(-class);
    // The margin of the last class is that of the claim itself.
    let last = (0..MOST).find(|&class| aim.ln_delta + libm::log(below(class) / 3.0) <= aim.ln_error).unwrap_or(MOST);
    let mut classes: Vec<Vec<Unit>> = vec![Vec::new(); last as usize + 1];
    for unit in units {
        let short = 1.0 - libm::exp(ln_delta(paths, &unit, aim.epsilon)? - aim.ln_delta);
        // NaN is in the last class.
        let class = (0..last).find(|&class| short >= below(class)).unwrap_or(last);
        classes[class as usize].push(unit);
    }
    let mut parts = Vec::new();
    for (class, units) in (0..).zip(classes).filter(|(_, units)| !units.is_empty()) {
        let ln_error = if class == last { aim.ln_error } else { aim.ln_delta + libm::log(below(class) / 3.0) };
        parts.extend(together_or_alone(paths, units, Aim { ln_error, ..aim })?);
    }
    // The part with the most units names none of them, and comes last, for all remaining ones.
    parts.sort_by_key(|hints: &Hints| hints.units.as_ref().map_or(0, Vec::len));
    if let Some(most) = parts.last_mut() {
        most.units = None;
    }
    Ok(parts)
}

/// The units of a class on one contour, if it is affordable; otherwise those of them on it that cannot be enumerated, or each alone.
fn together_or_alone(paths: &Paths, units: Vec<Unit>, aim: Aim) -> Result<Vec<Hints>> {
    let alone =
        |units: &[Unit]| -> Result<Vec<Hints>> { units.iter().map(|unit| one(paths, unit, aim, true)).collect() };
    if units.len() == 1 {
        return alone(&units);
    }
    let contour = |units: &[Unit]| Search::new(paths, units)?.hints(aim.epsilon, aim.pair(), Some(units.to_vec()));
    if let Ok(hints) = contour(&units)
        && evaluated(&hints) <= MANY_NODES
    {
        return Ok(vec![hints]);
    }
    let listed = |unit: &Unit| atoms::hints(paths, unit, aim.epsilon, aim.ln_error, true);
    let (lists, rest): (Vec<Unit>, Vec<Unit>) = units.into_iter().partition(|unit| listed(unit).is_some());
    let mut parts: Vec<Hints> = lists.iter().filter_map(listed).collect();
    if !rest.is_empty() {
        match contour(&rest) {
            Ok(hints) if evaluated(&hints) <= MANY_NODES * rest.len() as u64 => parts.push(hints),
            _ => parts.extend(alone(&rest)?),
        }
    }
    Ok(parts)
}

fn evaluated(hints: &Hints) -> u64 {
    match &hints.proof {
        Proof::Contour(contour) => contour.evaluated_nodes(),
        Proof::Atoms { .. } | Proof::Normal => 0,
    }
}

/// ln delta(epsilon) of one unit, in doubles.
fn ln_delta(paths: &Paths, unit: &Unit, epsilon: &Rational) -> Result<f64> {
    Composition::new(paths.of_unit(unit).map(Counts::of_group))?.evaluator().ln_hockey_stick_approx(epsilon)
}
