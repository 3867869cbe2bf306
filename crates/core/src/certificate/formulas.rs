//! Claims that a checker proves by a formula, or by enumerating losses: the epsilon of the best order, and the marginal posterior.

use rug::Rational;

use super::{
    Ends, atoms,
    claim::Paths,
    ends::{Outward, check_exponent},
    hints::{Hints, Proof},
};
use crate::{
    account::{Delta, Rho, conversions},
    error::{Error, Result},
    loss::law::Group,
    numeric::{Enclosure, halving::bisect, rational},
    risk::single::Attack,
};

/// The digits of [`conversions::zcdp_epsilon_optimal`], with those of an end.
const MOST_DIGITS: u32 = 11;
/// The largest number of counts of a marginal posterior.
const MOST_COUNTS: u64 = 8;
/// The largest number of losses that a checker enumerates.
const MOST_LOSSES: i64 = 100_000;

/// The epsilon that rho implies by the best order, and three orders less one around it (theorem L of `proofs/README.md`).
pub(super) fn orders(rho: &Rho, delta: &Delta, digits: u32) -> Result<(Ends, [Rational; 3])> {
    if digits > MOST_DIGITS {
        let why = format!("the epsilon of the best order is enclosed to {MOST_DIGITS} digits; {digits} were requested");
        return Err(Error::Unprovable { why });
    }
    let value = conversions::zcdp_epsilon_optimal(rho, delta)?.epsilon;
    let Outward { lower, upper, room } = Outward::new(&value, digits)?;
    // At a zero of the derivative of the epsilon by s, rho s^2 + ln(1 + s) is ln(1 / delta), and it grows with s.
    let (rho, goal) = (rho.to_f64(), -Enclosure::rational(delta, 64).ln().approximate());
    let [low, high] = bisect([0.0, (goal / rho).sqrt()], 200, |s| rho * s * s + libm::log1p(s) < goal);
    let s = f64::midpoint(low, high);
    // At a distance d the height is less by this curvature times d^2 / 2, and chords allow the same above it: half of the margin.
    let curvature = 2.0 * rho + 1.0 / (s * (1.0 + s));
    let room = if room > 0 { room.to_f64() } else { 1e-6 };
    let d = (s * room / curvature).sqrt().min(s / 2.0);
    let [before, at, after] = [s - d, s, s + d].map(rational::from_f64);
    Ok((Ends { lower, upper }, [before?, at?, after?]))
}

/// The posterior probability of a record that is in the data, averaged over the outputs.
pub(super) fn marginal(paths: &Paths, prior: &Rational, digits: u32) -> Result<Enclosure> {
    let why = |why: &str| Error::Unprovable { why: why.to_string() };
    let [path] = &paths.groups[..] else { return Err(why("a marginal posterior is about one path")) };
    let rho = |group: &Group| {
        let sigma2 = group.law.discrete_sigma2().filter(|_| group.shift == 1)?;
        Some((Rational::from(sigma2 * 2_u32).recip(), group.copies))
    };
    let rhos: Option<Vec<(Rational, u64)>> = path.iter().map(rho).collect();
    let rhos = rhos.ok_or_else(|| why("a marginal posterior is about discrete Gaussian counts that move by one"))?;
    if rhos.iter().map(|(_, copies)| *copies).fold(0, u64::saturating_add) > MOST_COUNTS {
        return Err(why("a marginal posterior is about eight counts at most"));
    }
    let each = rhos.into_iter().flat_map(|(rho, copies)| (0..copies).map(move |_| rho.clone())).collect();
    Attack::new(prior.clone(), each)?.marginal(digits)
}

/// The outputs to enumerate, so that the error of both ends is at most `error`.
pub(super) fn losses(paths: &Paths, error: f64) -> Result<Hints> {
    let hints = atoms::hints(paths, &vec![0], &Rational::new(), libm::log(error), false);
    let few = |hints: &Hints| match &hints.proof {
        Proof::Atoms { kept } => {
            let width = |range: &Option<(i64, i64)>| range.map_or(MOST_LOSSES, |(first, last)| last - first + 1);
            kept.iter().map(width).fold(1, i64::saturating_mul) <= MOST_LOSSES
        }
        Proof::Contour(_) | Proof::Normal => false,
    };
    let why = "a marginal posterior is a sum over at most 10^5 losses";
    let hints = hints.filter(few).ok_or_else(|| Error::Unprovable { why: why.to_string() })?;
    if let Proof::Atoms { kept } = &hints.proof {
        let farthest = |(group, range): (&Group, &Option<(i64, i64)>)| {
            let (first, last) = range.unwrap_or_default();
            group.rho() + group.weight() * first.abs().max(last.abs())
        };
        check_exponent(&paths.of_unit(&[0]).zip(kept).map(farthest).sum::<Rational>())?;
    }
    Ok(hints)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{numeric::rational::parse, release::subject::Subject};

    fn paths(counts: &str) -> Paths {
        let singles = vec![counts.parse().unwrap()];
        Paths::of_whole(&Subject { singles, ..Subject::default() }.resolve().unwrap().whole).unwrap()
    }

    #[test]
    fn the_middle_order_is_the_best_of_the_three() {
        for (rho, delta) in [("2.56", "1e-10"), ("0.0001", "1e-40"), ("300", "1/3"), ("0.01", "0.999")] {
            let (rho, delta): (Rho, Delta) = (rho.parse().unwrap(), delta.parse().unwrap());
            let (Ends { lower, upper }, points) = orders(&rho, &delta, 9).unwrap();
            assert!(lower <= upper && points[0] > 0 && points[0] < points[1] && points[1] < points[2]);
            let epsilon = |s: &Rational| {
                let s = s.to_f64();
                rho.to_f64() * (1.0 + s) - (delta.to_f64().ln() + s.ln_1p()) / s - s.recip().ln_1p()
            };
            let [before, at, after] = points.each_ref().map(epsilon);
            assert!(at <= before && at <= after, "{rho:?} {delta:?}: {before} {at} {after}");
            assert!(at.max(0.0) <= upper.to_f64() * (1.0 + 1e-9), "{rho:?} {delta:?}: {at} {upper}");
        }
        let (rho, delta): (Rho, Delta) = ("1".parse().unwrap(), "1e-5".parse().unwrap());
        assert!(orders(&rho, &delta, 12).unwrap_err().to_string().contains("11 digits"));
    }

    #[test]
    fn marginals_are_about_few_counts_that_move_by_one() {
        let half = parse("1/2").unwrap();
        let one = marginal(&paths("500/99"), &half, 10).unwrap();
        assert_eq!(one.shown(6), "0.523615");
        for (counts, said) in [("5x9", "eight counts"), ("5@2", "move by one")] {
            let message = marginal(&paths(counts), &half, 10).unwrap_err().to_string();
            assert!(message.contains(said), "{counts}: {message}");
        }
        assert!(losses(&paths("500/99"), 1e-12).is_ok());
        assert!(losses(&paths("1e11"), 1e-12).unwrap_err().to_string().contains("losses"));
    }
}
