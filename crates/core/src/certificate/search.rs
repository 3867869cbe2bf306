//! The search for a contour, in doubles: period, cut and the nodes to evaluate, such that the errors of a checker's bounds are below a
//! share of delta. Nothing here is a proof: a bad hint makes a check fail, and then the certificate is useless.

use std::collections::BTreeSet;

use rug::{Integer, Rational};

use super::{
    claim::{self, Paths, Unit},
    cover::{self, Cover},
    hints::{Contour, Hints, Proof},
};
use crate::{
    error::{Error, Result},
    loss::law::{Group, Law},
    numeric::{halving::bisect, rational},
};

/// The cost of a sweep over a whole period above which a shorter one is considered, in microseconds of a checker.
const BEARABLE: f64 = 2e6;
/// The largest cost of a check.
const MOST: f64 = 2e8;
/// The least exponent of the factor of the sum of the nodes: a checker has exponents within 2^14, and the first loss above epsilon is up to a step larger.
const LEAST_EXPONENT: f64 = -16_000.0;
/// The largest distance of an alias from the contour, in parts of a period: beyond it a checker's lower bound of exp(x) - 1 does not grow.
const FAR_ALIAS: f64 = 1e4;
/// The exponents, bits, and products of nodes, paths and bits of a checker.
const MOST_EXPONENT: f64 = 16_383.0;
const MOST_BITS: f64 = 4096.0;
const MOST_BALLS: u64 = 1_000_000_000;
const FAR_EXPONENT: &str =
    "delta is too far from the sums that a checker evaluates: their common factor is beyond exp(16384)";
/// ln of that bound at this distance, 2^(10^4 / 0.694), rounded down.
const LN_FAR_ALIAS: f64 = 9987.0;
/// The least sigma2 that a checker accepts on a contour: smaller ones need enumeration.
const LEAST_SIGMA2: (u32, u32) = (1, 20);

/// The extent of a sweep of a period.
#[derive(Clone)]
struct Sweep {
    last: u64,
    cut: u32,
    /// The approximate cost of a check, in microseconds.
    cost: f64,
    orders: Vec<Vec<usize>>,
}

/// The search for some of all units.
pub(super) struct Search {
    /// The swept factors: the groups of one unit; of many units those of each path, as often as a unit has paths, because a pair of paths
    /// is no larger than one of them with itself.
    covers: Vec<(Vec<Group>, u64)>,
    /// The different values of rho of the units: units of the same rho share bounds.
    rhos: Vec<f64>,
    step: Rational,
}

impl Search {
    /// Refuses noise that a contour does not support.
    pub(super) fn new(paths: &Paths, units: &[Unit]) -> Result<Self> {
        let covers = match units {
            [unit] => vec![(paths.of_unit(unit).cloned().collect(), 1)],
            many => {
                let used: BTreeSet<usize> = many.iter().flatten().copied().collect();
                used.iter().map(|&path| (paths.groups[path].clone(), many[0].len() as u64)).collect()
            }
        };
        let groups = || covers.iter().flat_map(|(groups, _): &(Vec<Group>, u64)| groups);
        let fits = |law: &Law| law.discrete_sigma2().is_some_and(|sigma2| *sigma2 > Rational::from(LEAST_SIGMA2));
        if !groups().all(|group| fits(&group.law)) {
            let why = "no method of the checkers fits: enumerating all outcomes would be too long or not precise enough, and a contour needs discrete Gaussian noise with sigma2 above 1/20";
            return Err(Error::Unprovable { why: why.into() });
        }
        let rho = |unit: &Unit| paths.of_unit(unit).map(|group| group.rho()).sum::<Rational>().to_f64();
        let mut rhos: Vec<f64> = units.iter().map(rho).collect();
        rhos.sort_by(f64::total_cmp);
        rhos.dedup();
        let step = claim::step_of(groups());
        Ok(Search { covers, rhos, step })
    }

    /// Hints for bounds of delta(epsilon) that are off by at most exp(ln_error); `units` is their list of units.
    pub(super) fn hints(
        &self,
        epsilon: &Rational,
        (ln_delta, ln_error): (f64, f64),
        units: Option<Vec<Unit>>,
    ) -> Result<Hints> {
        let epsilon = epsilon.to_f64();
        let c = self.contour(epsilon);
        self.check_exponents(c, epsilon)?;
        let period = self.period(c, epsilon, ln_error)?;
        let nodes = (period / self.step.to_f64()).ceil().max(3.0);
        if nodes.is_nan() || nodes > 1e37 {
            return Err(cover::too_much(format!("{nodes:.0e} nodes")));
        }
        let nodes = nodes as u128 | 1;
        let period = Rational::from(&self.step * Integer::from(nodes));
        let sweep = self.sweep((epsilon, c), &period, nodes, ln_error)?;
        let mut evaluated = BTreeSet::from([0]);
        let mut looked_at = 0;
        for (number, order) in sweep.orders.iter().enumerate() {
            looked_at =
                self.cover(number, &period, sweep.cut).survivors(sweep.last, order, &mut evaluated, looked_at)?;
        }
        // The sum of the nodes in units of 2^-bits is delta times the nodes over the prefactor, and a kernel loses the bits of h.
        let ln_h = libm::log(self.step.to_f64().min(1.0));
        let ln_sum = ln_delta + libm::log(nodes as f64) - self.ln_prefactor(c, epsilon);
        let copies = self.covers.iter().flat_map(|(groups, _)| groups).map(|group| group.copies).max();
        let lost = libm::log(evaluated.len() as f64 * copies.unwrap_or(1) as f64) - 2.0 * ln_h;
        let bits = (lost - ln_sum - (ln_error - ln_delta)) / std::f64::consts::LN_2 + 32.0;
        let contour = Contour {
            re: rational::from_f64(c)?,
            nodes,
            last: sweep.last,
            evaluated: ranges(&evaluated),
            cut: sweep.cut,
            sieve: sweep.orders,
            looked_at,
        };
        let bits = (bits / 16.0).ceil() * 16.0;
        if bits > MOST_BITS {
            return Err(cover::too_much(format!("nodes in {bits} bits")));
        }
        let (bits, used) = (bits.max(64.0) as u32, self.covers.len() as u64);
        let work = contour.evaluated_nodes().saturating_mul(used).saturating_mul(u64::from(bits) + 500);
        if work > MOST_BALLS {
            return Err(cover::too_much(format!("{} nodes of {used} paths in {bits} bits", contour.evaluated_nodes())));
        }
        Ok(Hints { units, proof: Proof::Contour(contour), bits })
    }

    /// Refuses a contour with a factor whose exponent is beyond those of a checker, for the loss nearest to epsilon or a step above it.
    fn check_exponents(&self, c: f64, epsilon: f64) -> Result<()> {
        let at = |rho: f64, epsilon: f64| rho * (c + c * c) - c * epsilon;
        let (Some(least), Some(most)) = (self.rhos.first(), self.rhos.last()) else { return Ok(()) };
        let exponents = [at(*least, epsilon + self.step.to_f64()), at(*most, epsilon)];
        match exponents.iter().all(|exponent| exponent.abs() < MOST_EXPONENT) {
            true => Ok(()),
            false => Err(Error::Unprovable { why: FAR_EXPONENT.to_string() }),
        }
    }

    fn cover(&self, number: usize, period: &Rational, cut: u32) -> Cover {
        let (groups, times) = &self.covers[number];
        Cover::new(groups, *times, period, cut)
    }

    fn largest(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.rhos.iter().map(|&rho| of(rho)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The saddle point of M(s) exp(-s epsilon) / (s (s + 1)), to a few bits: a convex function of c.
    fn contour(&self, epsilon: f64) -> f64 {
        let at = |ln_c: f64| {
            let c = libm::exp(ln_c);
            self.largest(|rho| rho * (c + c * c)) - c * epsilon - libm::log(c * (c + 1.0))
        };
        let (mut low, mut high) = (-9.0, 9.0);
        for _ in 0..80 {
            let third = (high - low) / 3.0;
            if at(low + third) < at(high - third) {
                high -= third;
            } else {
                low += third;
            }
        }
        few_bits(self.within_exponents(libm::exp(f64::midpoint(low, high)), epsilon))
    }

    /// A contour closer to 0 where the exponent at this one is below the least: any contour proves a bound.
    fn within_exponents(&self, c: f64, epsilon: f64) -> f64 {
        let Some(&rho) = self.rhos.first() else { return c };
        let slope = epsilon + self.step.to_f64() - rho;
        if rho * c * c - slope * c >= LEAST_EXPONENT {
            return c;
        }
        // The smaller root of rho c^2 - slope c = the least exponent.
        -2.0 * LEAST_EXPONENT / (slope + (slope * slope + 4.0 * rho * LEAST_EXPONENT).max(0.0).sqrt())
    }

    /// The approximate shortest period whose aliases are below exp(target).
    fn period(&self, c: f64, epsilon: f64, target: f64) -> Result<f64> {
        let ln_alias = |period: f64| {
            self.largest(|rho| {
                let side = |side: f64| {
                    let x = (epsilon + side * period - rho) / (2.0 * rho);
                    let x = if side < 0.0 {
                        x.min(c - (1.0 / period).min(c / 2.0)).max(0.0)
                    } else {
                        x.max(c + 1.0 / period).min(c + FAR_ALIAS / period)
                    };
                    let power = period * (x - c).abs();
                    let ln_power = if power > 30.0 { power.min(LN_FAR_ALIAS) } else { libm::log(libm::expm1(power)) };
                    rho * (x + x * x) - x * epsilon - ln_power
                };
                side(-1.0).max(side(1.0)) + std::f64::consts::LN_2
            })
        };
        let mut long = 1e-3;
        while ln_alias(long) > target && long < 1e15 {
            long *= 2.0;
        }
        let long = bisect([long / 2.0, long], 12, |period| ln_alias(period) > target)[1];
        match ln_alias(long) <= target {
            true => Ok(long),
            false => Err(cover::too_much(format!("more than {long:.0e} units of height"))),
        }
    }

    /// ln of the prefactor of the sum of the nodes, without the number of nodes.
    fn ln_prefactor(&self, c: f64, epsilon: f64) -> f64 {
        self.largest(|rho| rho * (c + c * c)) - c * epsilon
    }

    /// Over half a period (the other half is its mirror image), if that is affordable; otherwise to a node beyond which a bound is
    /// enough, if that is cheaper.
    fn sweep(&self, (epsilon, c): (f64, f64), period: &Rational, nodes: u128, target: f64) -> Result<Sweep> {
        let target = target - 0.7;
        let ln_prefactor = self.ln_prefactor(c, epsilon);
        let cut_to = |last: f64| {
            let around = period.to_f64() / 2.0 * (1.0 + 0.694 * (libm::log2(last) + 1.0));
            (ln_prefactor + libm::log(around) - target).ceil().clamp(1.0, 1e6) as u32
        };
        let half = nodes / 2;
        let whole = u64::try_from(half).ok().filter(|&half| half < 1 << 50).map(|half| {
            let cut = cut_to(half as f64);
            let (orders, cost) = self.orders(period, cut);
            Sweep { last: half, cut, cost: cost * half as f64, orders }
        });
        let partial = || self.partial_sweep((ln_prefactor, target), period, half, cut_to);
        let sweep = match whole {
            Some(whole) if whole.cost < BEARABLE => whole,
            Some(whole) => partial().filter(|partial| partial.cost < whole.cost).unwrap_or(whole),
            None => partial()
                .ok_or_else(|| cover::too_much(format!("heights up to node {half:.0e}", half = half as f64)))?,
        };
        if sweep.cost > MOST {
            return Err(cover::too_much(format!("windows and nodes for about {:.0e} seconds", sweep.cost / 1e6)));
        }
        Ok(sweep)
    }

    /// `None` if the whole period has to be swept: if the lattice has a large step, or nothing bounds the nodes far away.
    fn partial_sweep(
        &self,
        (ln_prefactor, target): (f64, f64),
        period: &Rational,
        half: u128,
        cut_to: impl Fn(f64) -> u32,
    ) -> Option<Sweep> {
        // The kernel is not as small as on an unbounded contour: less than h for all nodes.
        if ln_prefactor + libm::log(self.step.to_f64()) > target - 1.4 {
            return None;
        }
        let mut last = 1.0_f64;
        let mut far = Vec::new();
        for number in 0..self.covers.len() {
            let (group, mean, turns) = self.cover(number, period, cut_to(1e9)).evenest()?;
            // (period / 19) mean (1 + 2 / (turns last)) / last, where the bracket is at most 1.02.
            let needed = libm::exp(ln_prefactor - target) * period.to_f64() / 19.0 * mean * 1.03 * 1.4;
            last = last.max(needed).max(100.0 / turns);
            far.push(group);
        }
        if last.is_nan() || last > 1e13 || last >= half as f64 {
            return None;
        }
        let last = last.ceil();
        let cut = cut_to(last);
        let (mut orders, cost) = self.orders(period, cut);
        for (order, group) in orders.iter_mut().zip(far) {
            if !order.contains(&group) {
                order.truncate(7);
                order.push(group);
            }
        }
        Some(Sweep { last: last as u64, cut, cost: cost * last, orders })
    }

    /// The order of windows for each cover, and the cost of a node for all of them.
    fn orders(&self, period: &Rational, cut: u32) -> (Vec<Vec<usize>>, f64) {
        let all = (0..self.covers.len()).map(|number| self.cover(number, period, cut).order());
        let (orders, costs): (Vec<Vec<usize>>, Vec<f64>) = all.unzip();
        (orders, costs.iter().sum())
    }
}

/// The nodes as ranges.
fn ranges(nodes: &BTreeSet<u64>) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &node in nodes {
        match ranges.last_mut() {
            Some(range) if range.1 + 1 == node => range.1 = node,
            _ => ranges.push((node, node)),
        }
    }
    ranges
}

/// The number rounded to a mantissa of 12 bits: products with it stay short.
fn few_bits(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1_u64 << 40) - 1))
}
