//! Which engines answer a question about one sum, and in which order.

use super::SumEvaluator;
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, both},
        atoms::Query,
        contour::Period,
        engine::Engine,
        limit::Limit,
        sieve,
    },
    numeric::twofold,
};

/// Lists that take no longer than this are preferred to a contour whose period is not short.
pub(super) const QUICK_SECONDS: f64 = 0.002;
/// Lists of a trade-off function that take no longer than this are preferred to the many hockey sticks of its supporting lines.
pub(super) const AT_ONCE_SECONDS: f64 = 0.02;
/// Lists that are predicted to take longer than this are not made.
pub(super) const MOST_SECONDS: f64 = 1.5;
/// What a node of a contour takes for each group, about: in sums of two doubles, and in balls over MPFR.
const SECONDS_PER_QUICK_FACTOR: f64 = 2e-6;
const SECONDS_PER_FACTOR: f64 = 2e-5;

/// How a hockey stick is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// So many questions share the lists that are made for one, about.
    pub(super) times: f64,
    /// Whether one minus an answer close to one has to be as accurate.
    pub(super) with_rest: bool,
    /// Whether lists answered such a question next to this one: then no contour is looked for.
    pub(super) listed: bool,
    /// When its time is over.
    pub(super) limit: Limit,
}

impl Asked {
    /// By itself.
    pub(super) const ONCE: Asked = Asked { times: 1.0, ..Asked::FOR_ROOT };
    /// As one of a few on the way to an epsilon.
    pub(super) const FOR_ROOT: Asked = Asked { times: 6.0, with_rest: true, listed: false, limit: Limit::NONE };
    /// For supporting lines, next to each other.
    pub(super) const FOR_LINES: Asked = Asked { times: 8.0, ..Asked::FOR_ROOT };
    /// As one of many points.
    pub(super) const FOR_MANY: Asked = Asked { times: 4.0, with_rest: false, ..Asked::FOR_ROOT };

    /// The same, to be answered by then.
    pub(super) const fn until(self, limit: Limit) -> Asked {
        Asked { limit, ..self }
    }
}

impl SumEvaluator {
    /// Whether a question is answered at once by a contour whose period is short, or by lists.
    pub(super) fn is_quick(&self, query: &Query, digits: u32, period: Period) -> bool {
        period.is_short() || self.atoms.as_ref().is_some_and(|atoms| atoms.cost(query, digits).seconds <= QUICK_SECONDS)
    }

    /// The engines of a question whose contour has this period, in the order in which they are tried: the one that is predicted to take
    /// least where so many such questions share lists, and those that follow if it does not meet the asked width. `smoothed` tells
    /// how many seconds it takes with continuous noise, and `nodes` how many nodes a contour takes without, where that is known
    /// after looking at so many windows.
    pub(super) fn engines(
        &self,
        query: &Query,
        digits: u32,
        period: Period,
        asked: Asked,
        smoothed: impl Fn() -> Option<f64>,
        nodes: impl Fn(u64) -> Option<i64>,
    ) -> &'static [Engine] {
        use Engine::{Atoms, Contour, LongSplit, Smoothed};
        let Some(atoms) = &self.atoms else { return &[Contour] };
        if period.is_short() {
            let is_listed = self.is_coarse() && atoms.cost(query, digits).seconds <= QUICK_SECONDS;
            return if is_listed { &[Atoms, Contour] } else { &[Contour, Atoms] };
        }
        let of_factor =
            if digits <= twofold::ball::MOST_DIGITS { SECONDS_PER_QUICK_FACTOR } else { SECONDS_PER_FACTOR };
        let of_contour = |nodes: f64| nodes * self.sum().groups().len() as f64 * of_factor;
        let cost = Some(atoms.cost(query, digits)).filter(|cost| cost.seconds <= MOST_SECONDS && atoms.holds(cost));
        let listed = cost.map(|cost| (cost.seconds - cost.seconds_each) / asked.times + cost.seconds_each);
        // Half of the period, as nodes are pairs of conjugates, without a sieve.
        let is_quick = |seconds: f64| seconds <= QUICK_SECONDS.min(of_contour(period.nodes / 2.0));
        // By themselves: what is quick only because many share it may still take longer than a contour of few nodes.
        if cost.as_ref().is_some_and(|cost| asked.listed || is_quick(cost.seconds)) {
            return &[Atoms, LongSplit, Contour];
        }
        let by_split = match query {
            Query::HockeyStick(epsilon) => self.long_split(epsilon, digits).map(|(_, seconds)| seconds),
            _ => None,
        };
        let is_split = |others: f64| by_split.filter(|seconds| *seconds < others);
        let (seconds, engines): (f64, &[Engine]) = match (listed, smoothed()) {
            (Some(listed), Some(smoothed)) if smoothed < listed => match is_split(smoothed) {
                Some(seconds) => (seconds, &[LongSplit, Smoothed, Atoms, Contour]),
                None => (smoothed, &[Smoothed, Atoms, LongSplit, Contour]),
            },
            (Some(listed), _) => match is_split(listed) {
                Some(seconds) => (seconds, &[LongSplit, Atoms, Contour]),
                None => (listed, &[Atoms, LongSplit, Contour]),
            },
            (None, Some(smoothed)) => match is_split(smoothed) {
                Some(seconds) => (seconds, &[LongSplit, Smoothed, Contour, Atoms]),
                None => (smoothed, &[Smoothed, LongSplit, Contour, Atoms]),
            },
            (None, None) => match by_split {
                Some(seconds) => (seconds, &[LongSplit, Contour, Atoms]),
                None => return &[Contour, Atoms],
            },
        };
        // To look for nodes is to take half as long as the other engine at most.
        let windows = (seconds / 2.0 / sieve::SECONDS_PER_WINDOW).min(sieve::BUDGET as f64) as u64;
        if nodes(windows).is_none_or(|nodes| of_contour(nodes as f64) > seconds) { engines } else { &[Contour, Atoms] }
    }
}

/// What the engines and an earlier answer have in common, one after the other until the asked width is met; `narrowed` is what else may be
/// said of what is known so far; none is begun when the time is over. All enclose the truth.
pub(super) fn in_turn(
    engines: &[Engine],
    by: impl Fn(Engine) -> Result<Answer>,
    known: Option<Answer>,
    narrowed: impl Fn(Result<Answer>) -> Result<Answer>,
    (digits, limit): (u32, Limit),
) -> Result<Answer> {
    let mut best = known.ok_or(Error::NoLattice);
    for (tried, engine) in engines.iter().enumerate() {
        if best.is_ok() && limit.is_over() {
            break;
        }
        let next = by(*engine);
        best = if tried == 0 && best.is_err() { next } else { both(best, next, digits) };
        if best.as_ref().is_ok_and(|answer| answer.met) {
            break;
        }
        best = narrowed(best);
        if best.as_ref().is_ok_and(|answer| answer.met) {
            break;
        }
    }
    best
}
