//! The curves of the figures of Kazan & Reiter (2023) as numbers: exact x, enclosed y.
//!
//! [`super::settings`] has the paper's parameters.

use rug::Rational;

use super::settings::{CurveSettings, NoiseSum};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, parallel, rational},
    replication::gibbs::{GibbsConstraint, GibbsSampler},
    risk::{
        decision::{NoisyOutput, TrueCounts},
        hierarchical::{Hierarchy, Upper},
        noise,
        others::{OtherGroups, SumLaw},
        postprocess::Postprocessed,
        single::Attack,
    },
};

/// The digits of every curve, unless a figure sets others.
const DIGITS: u32 = 10;

/// A named curve over exact x.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name in a legend.
    pub name: String,
    /// The points, in the order of x.
    pub points: Vec<(Rational, Enclosure)>,
}

/// Curves that share both axes.
#[derive(Clone, Debug)]
pub struct CurvePanel {
    /// A short key: `posterior`, `risk`.
    pub key: String,
    /// The quantity on the x axis, with its unit.
    pub x: String,
    /// The quantity on the y axis, with its unit.
    pub y: String,
    /// The curves.
    pub series: Vec<Curve>,
}

/// `count` exact numbers from 10^from to 10^to, evenly spaced in the logarithm and rounded to five digits.
pub fn log_grid(from: f64, to: f64, count: u32) -> Vec<Rational> {
    let last = f64::from(count.max(2) - 1);
    let value = |k: u32| format!("{:.4e}", libm::pow(10_f64, from + (to - from) * f64::from(k) / last));
    (0..count).filter_map(|k| rational::parse(&value(k)).ok()).collect()
}

fn panel(key: &str, x: &str, y: &str, series: Vec<Curve>) -> CurvePanel {
    CurvePanel { key: key.to_string(), x: x.to_string(), y: y.to_string(), series }
}

/// Evaluates a curve on all cores.
fn curve(name: String, xs: &[Rational], at: impl Fn(&Rational) -> Result<Enclosure> + Sync) -> Result<Curve> {
    let points = parallel::try_map(xs, |x| Ok((x.clone(), at(x)?)))?;
    Ok(Curve { name, points })
}

/// A probability for each prior, and the same divided by the prior.
fn with_risk(
    settings: &CurveSettings,
    x: &str,
    y: &str,
    xs: &[Rational],
    at: impl Fn(&Rational, &Rational) -> Result<Enclosure> + Sync,
) -> Result<Vec<CurvePanel>> {
    let name = |prior: &Rational| format!("p = {prior}");
    let posterior: Vec<Curve> =
        settings.priors.iter().map(|prior| curve(name(prior), xs, |x| at(prior, x))).collect::<Result<_>>()?;
    let over = |series: &Curve, prior: &Rational| Curve {
        name: series.name.clone(),
        points: (series.points.iter())
            .map(|(x, value)| (x.clone(), value.div(&Enclosure::rational(prior, value.lower().prec()))))
            .collect(),
    };
    let risk = posterior.iter().zip(&settings.priors).map(|(series, prior)| over(series, prior)).collect();
    Ok(vec![panel("posterior", x, y, posterior), panel("risk", x, "ratio to the prior probability", risk)])
}

/// An integer x.
fn whole(x: &Rational) -> Result<i64> {
    let number = x.numer().to_i64().filter(|_| *x.denom() == 1);
    number.ok_or_else(|| Error::out_of_range("x", x, "a whole number of 64 bits"))
}

fn integers(range: std::ops::RangeInclusive<i64>) -> Vec<Rational> {
    range.map(Rational::from).collect()
}

/// Figure 1: the posterior probability and R' against the noisy count minus the known count.
pub fn figure_1(settings: &CurveSettings, noisy: &[Rational]) -> Result<Vec<CurvePanel>> {
    let rho = settings.rho(0)?;
    with_risk(settings, "noisy count x₁*", "posterior probability", noisy, |prior, x| {
        Attack::new(prior.clone(), vec![rho.clone()])?.posterior(&[whole(x)?], DIGITS)
    })
}

/// Figure 2: the marginal posterior probability and R against rho.
pub fn figure_2(settings: &CurveSettings, rhos: &[Rational]) -> Result<Vec<CurvePanel>> {
    with_risk(settings, "ρ", "marginal posterior probability", rhos, |prior, rho| {
        Attack::new(prior.clone(), vec![rho.clone()])?.marginal(DIGITS)
    })
}

/// Figure 3: the probability of a correct decision against rho.
pub fn figure_3(settings: &CurveSettings, rhos: &[Rational]) -> Result<Vec<CurvePanel>> {
    let series = (settings.priors.iter())
        .map(|prior| {
            curve(format!("p = {prior}"), rhos, |rho| {
                Attack::new(prior.clone(), vec![rho.clone()])?.correct_decision(DIGITS)
            })
        })
        .collect::<Result<_>>()?;
    Ok(vec![panel("correct", "ρ", "probability of a correct decision", series)])
}

/// The noisy counts above in the paper's tiles.
const ABOVE: std::ops::RangeInclusive<i64> = -3..=5;
/// The noisy sums beside in the paper's tiles.
const BESIDE: std::ops::RangeInclusive<i64> = -30..=30;

/// The least noisy count x_1 at which the adversary decides for the target, for every x_2 and y_1 of the paper's tiles.
fn tiles(attack: &Hierarchy, key: &str) -> Result<CurvePanel> {
    let series = parallel::try_map(&ABOVE.collect::<Vec<i64>>(), |&x2| {
        let outputs: Vec<NoisyOutput> = BESIDE.map(|y1| NoisyOutput { x2, y1 }).collect();
        let thresholds = attack.thresholds(&outputs)?;
        let point = |(output, (low, high)): (&NoisyOutput, (i64, i64))| {
            let ends = Enclosure::double(low as f64, 53).hull(&Enclosure::double(high as f64, 53));
            (Rational::from(output.y1), ends)
        };
        Ok(Curve { name: format!("x2 = {x2}"), points: outputs.iter().zip(thresholds).map(point).collect() })
    })?;
    Ok(panel(key, "noisy sum y1 over the other groups", "least noisy x1 decided for the target", series))
}

/// The sampler whose limit the paper prints: it draws `X_1` without the constraint.
fn sampler(settings: &CurveSettings, rho2: &Rational) -> Result<GibbsSampler> {
    let (prior, rhos) = (settings.prior.clone(), [settings.rho(0)?, rho2.clone()]);
    Ok(GibbsSampler { prior, rhos, others: settings.others, constraint: GibbsConstraint::LeftOut })
}

/// The same tiles by the limit of the paper's sampler, in doubles; with `most`, for the prior that is uniform up to it.
fn tiles_as_printed(settings: &CurveSettings, key: &str, most: Option<i64>) -> Result<CurvePanel> {
    const NEVER: f64 = 1e9;
    let sampler = sampler(settings, &settings.rho(1)?)?;
    let series = parallel::try_map(&ABOVE.collect::<Vec<i64>>(), |&x2| {
        let point = |y1: i64| {
            let least = sampler.threshold_approx(x2, y1, most)?.map_or(NEVER, |least| least as f64);
            Ok((Rational::from(y1), Enclosure::double(least, 53)))
        };
        Ok(Curve { name: format!("x2 = {x2}"), points: BESIDE.map(point).collect::<Result<_>>()? })
    })?;
    Ok(panel(key, "noisy sum y1 over the other groups", "least noisy x1 decided for the target", series))
}

/// The probability of a correct decision by the limit of the paper's sampler, in doubles.
fn as_printed(settings: &CurveSettings, rho2: &Rational, x2: i64) -> Result<Enclosure> {
    Ok(Enclosure::double(sampler(settings, rho2)?.limit_decision_approx(x2)?, 53))
}

/// Figure 4: the decisions for the uniform prior, as the least x_1 decided for the target; exactly, and by the limit of
/// the paper's sampler.
pub fn figure_4(settings: &CurveSettings) -> Result<Vec<CurvePanel>> {
    let exact = tiles(&settings.hierarchy(&settings.rho(1)?, Upper::Uniform)?, "uniform")?;
    Ok(vec![exact, tiles_as_printed(settings, AS_PRINTED, None)?])
}

/// The legend of results of the paper's sampler; its values are in doubles.
pub const AS_PRINTED: &str = "the paper's sampler, as printed (approximate)";

/// Figure 5: the probability of a correct decision against the true x_2, exactly, by the paper's sampler, and without
/// the counts above and beside; and the mean from x_2 = 4 on, as in the paper.
pub fn figure_5(settings: &CurveSettings, xs: &[Rational], digits: u32) -> Result<Vec<CurvePanel>> {
    let attack = settings.hierarchy(&settings.rho(1)?, Upper::Uniform)?;
    let alone = Attack::new(settings.prior.clone(), vec![settings.rho(0)?])?.correct_decision(digits)?;
    let with = curve("two levels".to_string(), xs, |x2| {
        Ok(attack.correct_decision(TrueCounts { x1: 1, x2: whole(x2)? }, digits)?.correct)
    })?;
    let without = curve("lowest level alone".to_string(), xs, |_| Ok(alone.clone()))?;
    let printed = curve(AS_PRINTED.to_string(), xs, |x2| as_printed(settings, &settings.rho(1)?, whole(x2)?))?;
    let mut series = vec![with, without, printed];
    let late: Vec<&(Rational, Enclosure)> = series[0].points.iter().filter(|(x2, _)| *x2 >= 4).collect();
    if let (Some(first), Some(last)) = (late.first(), late.last()) {
        let sum = late.iter().fold(Enclosure::double(0.0, 80), |sum, (_, value)| sum.add(value));
        let mean = sum.div(&Enclosure::double(late.len() as f64, 80));
        let points = vec![(first.0.clone(), mean.clone()), (last.0.clone(), mean)];
        series.push(Curve { name: "mean over x2 of 4 and more".to_string(), points });
    }
    Ok(vec![panel("correct", "true count x₂", "probability of a correct decision", series)])
}

/// Figure 6: the same against rho_2, for each true x_2 of the settings; also by the paper's sampler, at every other
/// rho_2.
pub fn figure_6(settings: &CurveSettings, rhos: &[Rational], digits: u32) -> Result<Vec<CurvePanel>> {
    let alone = Attack::new(settings.prior.clone(), vec![settings.rho(0)?])?.correct_decision(digits)?;
    let without = || curve("lowest level alone".to_string(), rhos, |_| Ok(alone.clone()));
    let of_uppers = |rhos: &[Rational], at: &(dyn Fn(&Rational, i64) -> Result<Enclosure> + Sync)| {
        let of = |&x2: &i64| curve(format!("x2 = {x2}"), rhos, |rho2| at(rho2, x2));
        settings.uppers.iter().map(of).collect::<Result<Vec<Curve>>>()
    };
    let mut exact = of_uppers(rhos, &|rho2, x2| {
        let attack = settings.hierarchy(rho2, Upper::Uniform)?;
        Ok(attack.correct_decision(TrueCounts { x1: 1, x2 }, digits)?.correct)
    })?;
    let few: Vec<Rational> = rhos.iter().step_by(2).cloned().collect();
    let mut printed = of_uppers(&few, &|rho2, x2| as_printed(settings, rho2, x2))?;
    exact.push(without()?);
    printed.push(without()?);
    let (x, y) = ("ρ of the level above", "probability of a correct decision");
    Ok(vec![panel("exact", x, y, exact), panel("the paper's sampler, as printed", x, y, printed)])
}

/// Figure 7: the marginal posterior and R against the number of levels at which the target is known to be unique.
pub fn figure_7(settings: &CurveSettings) -> Result<Vec<CurvePanel>> {
    let levels = integers(1..=settings.rhos.len() as i64);
    with_risk(settings, "levels", "marginal posterior probability", &levels, |prior, level| {
        Attack::new(prior.clone(), settings.rhos[..whole(level)? as usize].to_vec())?.marginal(DIGITS)
    })
}

/// Figure 8: the variance of the discrete Gaussian against its variance proxy s = 1 / (2 rho).
pub fn figure_8(proxies: &[Rational]) -> Result<Vec<CurvePanel>> {
    let rho = |s: &Rational| Rational::from(1) / Rational::from(s * 2_u32);
    let variance = curve("variance".to_string(), proxies, |s| Ok(noise(&rho(s))?.variance(DIGITS)))?;
    let proxy = curve("s".to_string(), proxies, |s| Ok(Enclosure::rational(s, 64)))?;
    Ok(vec![panel("variance", "variance proxy s", "variance", vec![variance, proxy])])
}

/// Figure 9: the masses of a sum of n discrete Gaussians, and of the single one that approximates it (3.7).
pub fn figure_9(settings: &CurveSettings) -> Result<Vec<CurvePanel>> {
    let one = |NoiseSum { rho, count }: &NoiseSum| -> Result<CurvePanel> {
        let make = |sum| OtherGroups::new(rho.clone(), *count, sum)?.table(64);
        let (exact, approximate) = (make(SumLaw::Exact)?, make(SumLaw::OneGaussian)?);
        let reach = (4.0 * (*count as f64 / (2.0 * rho.to_f64())).sqrt()).ceil() as i64;
        let xs = integers(-reach..=reach);
        let series = vec![
            curve("sum".to_string(), &xs, |x| Ok(exact.mass(whole(x)?)))?,
            curve("one discrete Gaussian".to_string(), &xs, |x| Ok(approximate.mass(whole(x)?)))?,
        ];
        Ok(panel(&format!("n = {count}, ρ = {}", rational::display(rho)), "noise", "probability", series))
    };
    settings.sums.iter().map(one).collect()
}

/// Figure 10: the decisions for the uniform prior and for the bounded one, exactly and by the limit of the paper's sampler.
pub fn figure_10(settings: &CurveSettings) -> Result<Vec<CurvePanel>> {
    let rho2 = settings.rho(1)?;
    Ok(vec![
        tiles(&settings.hierarchy(&rho2, Upper::Uniform)?, "uniform")?,
        tiles_as_printed(settings, &format!("uniform, {AS_PRINTED}"), None)?,
        tiles(&settings.hierarchy(&rho2, Upper::UpTo(settings.most))?, "bounded")?,
        tiles_as_printed(settings, &format!("bounded, {AS_PRINTED}"), Some(settings.most))?,
    ])
}

/// Figure 11: the decisions for the point priors.
pub fn figure_11(settings: &CurveSettings) -> Result<Vec<CurvePanel>> {
    let rho2 = settings.rho(1)?;
    let one = |point: &i64| tiles(&settings.hierarchy(&rho2, Upper::Point(*point))?, &format!("point-{point}"));
    settings.points.iter().map(one).collect()
}

/// Figure 12: the marginal posterior after post-processing against the published count above, and against rho.
pub fn figure_12(settings: &CurveSettings, counts: &[Rational], rhos: &[Rational]) -> Result<Vec<CurvePanel>> {
    let (prior, others) = (settings.prior.clone(), settings.others);
    let after = |rho: &Rational, published: i64| {
        Postprocessed::new(prior.clone(), rho.clone(), others, 1)?.marginal(published, DIGITS)
    };
    let before = |rho: &Rational| Attack::new(prior.clone(), vec![rho.clone()])?.marginal(DIGITS);
    let rho = settings.rho(0)?;
    let alone = before(&rho)?;
    let left = vec![
        curve("post-processed".to_string(), counts, |x| after(&rho, whole(x)?))?,
        curve("as published".to_string(), counts, |_| Ok(alone.clone()))?,
    ];
    let mut right: Vec<Curve> = (settings.uppers.iter())
        .map(|&upper| curve(format!("published count above {upper}"), rhos, |rho| after(rho, upper)))
        .collect::<Result<_>>()?;
    right.push(curve("as published".to_string(), rhos, before)?);
    let y = "marginal posterior probability";
    Ok(vec![panel("by-count", "published count above", y, left), panel("by-rho", "ρ", y, right)])
}
