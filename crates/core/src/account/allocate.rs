//! Allocation: the noise of each query that keeps a total promise with the least weighted error.
//!
//! The objective is the sum over queries of weight times `E[X^2]`, under delta(epsilon) <= delta for the composition, with sigma2 of each
//! query between a least and a greatest value. The allocation comes from a search in doubles; the exact account proves that it keeps the
//! promise. Weak duality bounds its distance from the optimum, see [`least_possible`].

mod least_possible;
mod targets;

use rug::{Integer, Rational, ops::Pow};

use super::{
    Composition, Counts,
    calibrate::{Multiples, Sought, guess, meets, meets_at},
    conversions,
    profile::Account,
    stretches,
};
use crate::{
    error::{Error, Result},
    loss::{
        parameter::{Delta, Epsilon},
        stop::Stop,
    },
    noise::DiscreteGaussian,
    numeric::{Certainty, Enclosure, halving::bisect, parallel, rational},
};

use self::targets::{MOST_SIGMA2, check, most_tried};
pub use self::{least_possible::least_possible, targets::QueryTarget};

/// Noise for every target, in their order.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// The variance proxies, on the grid of decimals or at a bound.
    pub sigma2: Vec<Rational>,
    /// delta at the promised epsilon, proven to be at most the promised delta.
    pub delta: Enclosure,
    /// Whether that delta is enclosed to a relative 10^-4 or better.
    pub met: bool,
    /// The weighted expected squared error.
    pub error: Enclosure,
}

fn composition(targets: &[QueryTarget], sigma2: &[Rational]) -> Result<Composition> {
    let counts = (targets.iter().zip(sigma2))
        .map(|(target, s)| Counts::discrete_gaussian(s.clone(), target.count, target.shift))
        .collect::<Result<Vec<Counts>>>()?;
    Composition::new(counts)
}

/// The variance proxies scale times shape, clamped to the bounds of every target.
fn scaled(targets: &[QueryTarget], shape: &[f64], scale: &Rational) -> Result<Vec<Rational>> {
    (targets.iter().zip(shape))
        .map(|(target, shape)| {
            Ok((rational::from_f64(*shape)? * scale).max(target.least.clone()).min(most_tried(target)))
        })
        .collect()
}

/// Rounded up to the grid, unless that exceeds the greatest value allowed.
fn on_grid(targets: &[QueryTarget], sigma2: &[Rational], decimals: u32) -> Vec<Rational> {
    let scale = Integer::from(10).pow(decimals);
    let up = |s: &Rational| Rational::from(s * &scale).ceil() / &scale;
    targets.iter().zip(sigma2).map(|(target, s)| up(s).min(most_tried(target)).max(s.clone())).collect()
}

/// All queries with the largest noise that their targets allow; sigma2 = 1e18 where there is no greatest one. Of discrete Gaussian noise less can be
/// more private at a single epsilon, as its losses lie on a lattice, but hardly.
pub fn most_private(targets: &[QueryTarget]) -> Result<Composition> {
    composition(targets, &targets.iter().map(most_tried).collect::<Vec<_>>())
}

/// The sum over targets of weight times `E[X^2]`. An error if a sigma2 is out of range.
pub fn weighted_error(targets: &[QueryTarget], sigma2: &[Rational]) -> Result<Enclosure> {
    let each: Vec<(&QueryTarget, &Rational)> = targets.iter().zip(sigma2).collect();
    let terms = parallel::try_map(&each, |(target, s)| {
        Ok(DiscreteGaussian::new((*s).clone())?.variance(20).mul(&Enclosure::rational(&target.weight, 120)))
    })?;
    Ok(terms.iter().fold(Enclosure::double(0.0, 120), |sum, term| sum.add(term)))
}

/// The allocation of least weighted error under the exact account, with sigma2 rounded up to `decimals`. An error if no allowed noise keeps
/// the promise.
///
/// A Gaussian account depends on the total rho only, and then sigma2 in proportion to sqrt(count shift^2 / weight) is optimal, clamped to
/// its bounds. The search starts there and continues with derivatives of the exact account in doubles. The result is proven to keep the
/// promise.
pub fn allocate(targets: &[QueryTarget], epsilon: &Epsilon, delta: &Delta, decimals: u32) -> Result<Allocation> {
    allocate_until(targets, epsilon, delta, decimals, &Stop::default())
}

/// The allocation of least weighted error, a request that ends with [`Error::Stopped`] once `stop` is set.
pub fn allocate_until(
    targets: &[QueryTarget],
    epsilon: &Epsilon,
    delta: &Delta,
    decimals: u32,
    stop: &Stop,
) -> Result<Allocation> {
    check(targets)?;
    let composition = |sigma2: &[Rational]| Ok(composition(targets, sigma2)?.until(stop));
    let target = Enclosure::rational(epsilon, 160);
    let exactly = Sought::Exactly(epsilon);
    let keeps = |sigma2: &[Rational]| -> Result<bool> {
        Ok(meets_at(&composition(sigma2)?, &exactly, delta)? == Certainty::Yes)
    };
    let largest: Vec<Rational> = targets.iter().map(most_tried).collect();
    if !keeps(&largest)? {
        if let Some(sigma2) = one_below(targets, &largest, decimals, (&target, delta), stop)? {
            return answer(targets, vec![sigma2], epsilon, stop);
        }
        return Err(not_kept(targets, &composition(&largest)?, epsilon, delta)?);
    }
    let least: Vec<Rational> = targets.iter().map(|target| target.least.clone()).collect();
    if keeps(&least)? {
        return answer(targets, least, epsilon, stop);
    }
    let mut shape: Vec<f64> = targets.iter().map(ideal).collect();
    let fit = |shape: &[f64]| -> Result<f64> {
        let family = |scale: &Rational| composition(&scaled(targets, shape, scale)?);
        let smallest = shape.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = shape.iter().copied().fold(0.0, f64::max);
        let start = gaussian_scale(targets, shape, epsilon, delta);
        guess(family, &target, delta, (1e-6 / greatest, start, MOST_SIGMA2 as f64 / smallest))
    };
    let mut scale = fit(&shape)?;
    for _ in 0..3 {
        let at = scaled(targets, &shape, &rational::from_f64(scale)?)?;
        let Some(next) = stationary_shape(targets, &at, epsilon, stop)? else { break };
        let next_scale = fit(&next)?;
        let error = |shape: &[f64], scale: f64| -> Result<f64> {
            let sigma2 = scaled(targets, shape, &rational::from_f64(scale)?)?;
            Ok(targets.iter().zip(&sigma2).map(|(target, s)| target.weight.to_f64() * s.to_f64()).sum())
        };
        let gain = 1.0 - error(&next, next_scale)? / error(&shape, scale)?;
        if gain.is_nan() || gain <= 0.0 {
            break;
        }
        (shape, scale) = (next, next_scale);
        if gain < 1e-9 {
            break;
        }
    }
    // Rounding up nearly always keeps the promise; otherwise a little more noise does.
    let mut more = 0.0;
    loop {
        let sigma2 = on_grid(targets, &scaled(targets, &shape, &rational::from_f64(scale * (1.0 + more))?)?, decimals);
        if keeps(&sigma2)? {
            let below = one_below(targets, &sigma2, decimals, (&target, delta), stop)?;
            return answer(targets, below.map_or(sigma2, |one| vec![one]), epsilon, stop);
        }
        if more > 1.0 {
            return answer(targets, largest, epsilon, stop);
        }
        more = if more == 0.0 { 1e-9 } else { more * 4.0 };
    }
}

/// Less noise than this that keeps the promise, where there is one query alone.
fn one_below(
    targets: &[QueryTarget],
    sigma2: &[Rational],
    decimals: u32,
    (epsilon, delta): (&Enclosure, &Delta),
    stop: &Stop,
) -> Result<Option<Rational>> {
    let ([target], [sigma2]) = (targets, sigma2) else { return Ok(None) };
    let grid = Multiples { decimals, least: target.least.clone(), most: sigma2.clone() };
    let family = |sigma2: &Rational| Ok(composition(targets, std::slice::from_ref(sigma2))?.until(stop));
    let keeps = |sigma2: &Rational| Ok(meets(&family(sigma2)?, epsilon, delta)? == Certainty::Yes);
    Ok(stretches::below(sigma2, &grid, family, (epsilon, delta), keeps)?.map(|least| least.value))
}

/// The error for targets whose largest noise does not keep the promise: the epsilon that it has, and the targets that limit it. Less noise was tried where there is one
/// query alone.
fn not_kept(targets: &[QueryTarget], largest: &Composition, epsilon: &Epsilon, delta: &Delta) -> Result<Error> {
    let reached = largest.delta(epsilon, 6)?.value;
    let needed = largest.epsilon(delta, 8)?.value;
    let limited: Vec<String> = (targets.iter())
        .filter_map(|target| Some(format!("{:?} (at most {})", target.name, rational::display(target.most.as_ref()?))))
        .collect();
    let limited = match limited.len() {
        0 => "no most is set, and sigma2 up to 1e18 was tried".to_string(),
        1..=6 => limited.join(", "),
        many => format!("{} and {} more", limited[..5].join(", "), many - 5),
    };
    let (epsilon, delta) = (rational::display(epsilon), rational::display(delta));
    let why = format!(
        "no noise was found that keeps epsilon = {epsilon} at delta = {delta}: the largest that these accuracy targets allow has epsilon = {} and delta({epsilon}) = {}; \
         {} The sigma2 that targets allow: {limited}",
        needed.upper_text(8),
        reached.shown(4),
        match targets {
            [_] =>
                "less noise, which at one epsilon can be a little more private, was tried at most where a loss of the lattice passes that epsilon.",
            _ => "less noise was not tried, though at one epsilon it can be a little more private.",
        }
    );
    Ok(Error::NotFound { why })
}

fn answer(targets: &[QueryTarget], sigma2: Vec<Rational>, epsilon: &Epsilon, stop: &Stop) -> Result<Allocation> {
    let composition = composition(targets, &sigma2)?.until(stop);
    // Many unequal variances allow fewer digits. A request within reach gives a narrower enclosure than one beyond it.
    let mut delta = composition.delta(epsilon, 10)?;
    for digits in [8, 6, 4] {
        if delta.met {
            break;
        }
        let next = composition.delta(epsilon, digits)?;
        if next.met || next.value.upper() < delta.value.upper() {
            delta = next;
        }
    }
    let error = weighted_error(targets, &sigma2)?;
    Ok(Allocation { sigma2, delta: delta.value, met: delta.met, error })
}

/// sqrt(count shift^2 / weight).
fn ideal(target: &QueryTarget) -> f64 {
    (target.moved().to_f64() / target.weight.to_f64()).sqrt()
}

/// The scale at which the zCDP conversion gives epsilon, in doubles: a starting point.
fn gaussian_scale(targets: &[QueryTarget], shape: &[f64], epsilon: &Epsilon, delta: &Delta) -> f64 {
    let rho = zcdp_rho(epsilon, delta);
    let spent = |scale: f64| -> f64 {
        let clamped = |target: &QueryTarget, shape: f64| {
            (shape * scale).max(target.least.to_f64()).min(most_tried(target).to_f64())
        };
        targets.iter().zip(shape).map(|(target, shape)| target.moved().to_f64() / (2.0 * clamped(target, *shape))).sum()
    };
    libm::exp(bisect([-60.0, 60.0], 100, |ln| spent(libm::exp(ln)) > rho)[1])
}

/// The rho with rho + 2 sqrt(rho ln(1 / delta)) = epsilon, in doubles; near epsilon = 0, where that is nothing, the rho of Gaussian noise with delta(0) = delta,
/// or about pi delta^2.
fn zcdp_rho(epsilon: &Epsilon, delta: &Delta) -> f64 {
    let ln = -Enclosure::rational(delta, 100).ln().approximate();
    let converted = ((ln + epsilon.to_f64()).sqrt() - ln.sqrt()).powi(2);
    converted.max(std::f64::consts::PI * delta.to_f64().powi(2))
}

/// One step towards weight sigma2 = lambda (-d ln delta / d ln sigma2) for all targets between their bounds, in doubles.
fn stationary_shape(
    targets: &[QueryTarget],
    at: &[Rational],
    epsilon: &Epsilon,
    stop: &Stop,
) -> Result<Option<Vec<f64>>> {
    const STEP: f64 = 1e-3;
    let ln_delta = |index: usize, factor: f64| -> Result<f64> {
        let mut moved = at.to_vec();
        moved[index] *= rational::from_f64(factor)?;
        composition(targets, &moved)?.until(stop).ln_delta_approx(epsilon)
    };
    let slope = |index| Ok((ln_delta(index, 1.0 - STEP)? - ln_delta(index, 1.0 + STEP)?) / (2.0 * STEP));
    let gradient = parallel::try_map_indices(at.len(), slope)?;
    let shape = |(target, (s, slope)): (&QueryTarget, (&Rational, &f64))| {
        let s = s.to_f64();
        s * (slope / (target.weight.to_f64() * s)).sqrt()
    };
    let shape: Vec<f64> = targets.iter().zip(at.iter().zip(&gradient)).map(shape).collect();
    Ok(shape.iter().all(|value| value.is_finite() && *value > 0.0).then_some(shape))
}

/// The allocation by zCDP: sigma2 in proportion to sqrt(count shift^2 / weight), clamped to the bounds, such that the published conversion
/// rho + 2 sqrt(rho ln(1/delta)) of the total rho is at most epsilon; `None` if no allowed noise achieves that. An error for targets that
/// [`allocate`] refuses.
pub fn allocate_by_zcdp(
    targets: &[QueryTarget],
    epsilon: &Epsilon,
    delta: &Delta,
    decimals: u32,
) -> Result<Option<Allocation>> {
    check(targets)?;
    let shape: Vec<f64> = targets.iter().map(ideal).collect();
    let scale = gaussian_scale(targets, &shape, epsilon, delta);
    for more in [0.0, 1e-12, 1e-9, 1e-6, 1e-3] {
        let sigma2 = on_grid(targets, &scaled(targets, &shape, &rational::from_f64(scale * (1.0 + more))?)?, decimals);
        let rho = composition(targets, &sigma2)?.rho().clone();
        if conversions::zcdp_epsilon(&rho, delta, 30).at_most(epsilon) == Certainty::Yes {
            return Ok(Some(answer(targets, sigma2, epsilon, &Stop::default())?));
        }
    }
    Ok(None)
}

/// The largest noise that the accuracy targets of all queries allow, with sigma2 rounded down to `decimals`. An error if a query has no such target, or if no point of
/// the grid is within its bounds.
pub fn largest_noise(targets: &[QueryTarget], decimals: u32) -> Result<Vec<Rational>> {
    check(targets)?;
    let scale = Integer::from(10).pow(decimals);
    let largest = |target: &QueryTarget| {
        let name = &target.name;
        let most = target.most.as_ref().ok_or_else(|| {
            Error::unsuitable(format!(
                "{name:?} has no accuracy target: give most_margin, most_squared_error or most_sigma2"
            ))
        })?;
        let down = Rational::from(most * &scale).floor() / &scale;
        if down < target.least {
            let (most, least) = (rational::display(most), rational::display(&target.least));
            let why =
                format!("{name:?}: no sigma2 with {decimals} decimals is from {least} to {most}: use more decimals");
            return Err(Error::unsuitable(why));
        }
        Ok(down)
    };
    targets.iter().map(largest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::number;

    fn target(count: u64, weight: &str, least: &str, most: Option<&str>) -> QueryTarget {
        QueryTarget {
            name: format!("{count} at {weight}"),
            count,
            shift: 1,
            weight: number(weight),
            least: number(least),
            most: most.map(number),
        }
    }

    #[test]
    fn an_allocation_keeps_its_promise_near_the_bound_of_all_others() {
        let targets = [target(10, "1", "1", None), target(10, "4", "1", None), target(5, "1/9", "1", None)];
        let (epsilon, delta): (Epsilon, Delta) = ("3".parse().unwrap(), "1e-9".parse().unwrap());
        let found = allocate(&targets, &epsilon, &delta, 4).unwrap();
        assert_eq!(found.delta.at_most(&delta), Certainty::Yes);
        let bound = least_possible(&targets, &epsilon, &delta).unwrap();
        let ratio = found.error.approximate() / bound.to_f64();
        assert!((1.0..1.05).contains(&ratio), "{ratio}");
        let zcdp = allocate_by_zcdp(&targets, &epsilon, &delta, 4).unwrap().unwrap();
        assert!(found.error.upper() < zcdp.error.lower());
        // Noise nearly in proportion to sqrt(count / weight); and no small exchange of noise is better.
        let shape = found.sigma2[0].to_f64() / found.sigma2[1].to_f64();
        assert!((shape / 2.0 - 1.0).abs() < 0.02, "{shape}");
        for (i, j) in [(0, 1), (1, 2), (2, 0)] {
            let mut other = found.sigma2.clone();
            other[i] *= number("0.9");
            let family = |factor: &Rational| {
                let mut all = other.clone();
                all[j] *= factor;
                composition(&targets, &all)
            };
            let target = Enclosure::rational(&epsilon, 100);
            let factor = guess(family, &target, &delta, (1e-3, 1.1, 1e4)).unwrap();
            other[j] *= rational::from_f64(factor).unwrap();
            let error = weighted_error(&targets, &other).unwrap();
            assert!(error.lower() > found.error.upper(), "{i} {j}");
        }
    }

    /// A query without a greatest sigma2 whose least one is above the limit of the search: more noise is allowed and found, and the bound
    /// covers it.
    #[test]
    fn without_a_most_the_bound_is_about_all_noise() {
        let (epsilon, delta): (Epsilon, Delta) = ("1e-7".parse().unwrap(), "1e-9".parse().unwrap());
        let targets = [target(1, "1", "2e12", None)];
        let found = allocate(&targets, &epsilon, &delta, 0).unwrap();
        assert!(found.sigma2[0] > number("1e14"), "{:?}", found.sigma2);
        let bound = least_possible(&targets, &epsilon, &delta).unwrap();
        let error = found.error.upper().to_rational().unwrap();
        assert!(bound <= error && Rational::from(&bound * 2_u32) > error, "{} {}", bound.to_f64(), error.to_f64());
    }

    /// Far above all noise that is needed, a least sigma2 makes E[X^2] differ from it by less than any number that a fraction of few bits can be.
    #[test]
    fn a_huge_least_sigma2_beside_a_small_one_has_a_bound() {
        let (epsilon, delta): (Epsilon, Delta) = ("1".parse().unwrap(), "1e-9".parse().unwrap());
        for least in ["1e9", "1e13", "1e17"] {
            let targets = [target(1, "1", least, None), target(1, "1", "1", None)];
            let found = allocate(&targets, &epsilon, &delta, 4).unwrap();
            let bound = least_possible(&targets, &epsilon, &delta).unwrap();
            let error = found.error.upper().to_rational().unwrap();
            assert!(bound > number(least) && bound <= error, "{least}: {} {}", bound.to_f64(), error.to_f64());
        }
    }

    #[test]
    fn bounds_are_kept_and_what_they_forbid_is_refused() {
        let (epsilon, delta): (Epsilon, Delta) = ("5".parse().unwrap(), "1e-8".parse().unwrap());
        let targets = [target(4, "1", "1", Some("8")), target(4, "1", "2", None), target(2, "7", "40", None)];
        let found = allocate(&targets, &epsilon, &delta, 3).unwrap();
        assert!(found.sigma2[0] <= 8 && found.sigma2[2] == 40, "{:?}", found.sigma2);
        assert!(least_possible(&targets, &epsilon, &delta).unwrap() <= found.error.upper().to_rational().unwrap());
        let tight = [target(4, "1", "1/2", Some("1/2"))];
        let message = allocate(&tight, &epsilon, &delta, 3).unwrap_err().to_string();
        // The epsilon that the error names suffices, and a little less does not.
        let needed = message.split("allow has epsilon = ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        let enough: Epsilon = needed.parse().unwrap();
        assert_eq!(allocate(&tight, &enough, &delta, 3).unwrap().sigma2, [number("1/2")]);
        let less = Epsilon::new(number(needed) * number("0.9999")).unwrap();
        assert!(allocate(&tight, &less, &delta, 3).is_err(), "{message}");
        // A count that changes by 2 needs 4 times the noise of one that changes by 1.
        let moved = [QueryTarget { shift: 2, ..target(10, "1", "1", None) }];
        let far = allocate(&moved, &epsilon, &delta, 2).unwrap();
        let near = allocate(&[target(10, "1", "1", None)], &epsilon, &delta, 2).unwrap();
        let ratio = far.sigma2[0].to_f64() / near.sigma2[0].to_f64();
        assert!((ratio / 4.0 - 1.0).abs() < 0.05, "{ratio}");
        let bound = least_possible(&moved, &epsilon, &delta).unwrap();
        assert!(bound > 0 && bound <= far.error.upper().to_rational().unwrap());
        for bad in [
            target(4, "0", "1", None),
            target(4, "-1", "1", None),
            target(4, "1", "2", Some("1")),
            target(0, "1", "1", None),
        ] {
            assert!(allocate(&[bad], &epsilon, &delta, 3).is_err());
        }
        assert!(allocate(&[], &epsilon, &delta, 3).is_err());
        let stop = Stop::new();
        stop.set();
        assert!(matches!(allocate_until(&targets, &epsilon, &delta, 3, &stop), Err(Error::Stopped)));
        // If the least noise of all targets suffices, it is the answer.
        let easy = allocate(&[target(1, "1", "900", None)], &epsilon, &delta, 3).unwrap();
        assert_eq!(easy.sigma2, [900]);
    }
}
