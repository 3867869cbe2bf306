//! Statements about whole curves: the exact profile of some noise against the curve that zCDP gives for a rho, over a
//! range of delta. They hold for every delta of the range, not only at sampled points: [`crate::account::crossing`].

use rug::Rational;

use crate::{
    account::{
        Composition, Counts, Rho,
        crossing::{self, Stretch},
    },
    error::{Error, Result},
    numeric::{Certainty, Enclosure, parallel, rational::unit_of_decimals},
    release::Release,
    replication::{accounts::scaled, verdict::Computed},
};

/// The counts of a level with other noise, and the rho of its own noise.
fn reduced_level(release: &Release, level: &str, sigma2: &Rational) -> Result<(Composition, Rho)> {
    let own = release.composition(&[level], None)?;
    let count = own.counts().iter().map(|counts| counts.count).sum();
    Ok((Composition::new([Counts::discrete_gaussian(sigma2.clone(), count, 1)?])?, own.rho().clone()))
}

fn statement(parts: Vec<Certainty>) -> Result<Computed> {
    Computed::all_hold(parts.into_iter().map(Ok))
}

/// Whether each level alone, and all levels together, are within their own zCDP curve on the whole range.
pub(super) fn own_within(release: &Release, from: &Rational, to: &Rational) -> Result<Computed> {
    let names: Vec<Vec<&str>> =
        (release.levels.iter()).map(|level| vec![level.name.as_str()]).chain([Vec::new()]).collect();
    let within = |names: &Vec<&str>| {
        let part = release.composition(names, None)?;
        crossing::within_everywhere(&part, part.rho(), from, to)
    };
    statement(parallel::try_map(&names, within)?)
}

/// Whether each named level with its reduced noise is within the curve of its own noise on the whole range.
pub(super) fn reduced_within(
    release: &Release,
    reduced: &[(String, Rational)],
    from: &Rational,
    to: &Rational,
) -> Result<Computed> {
    let within = |(level, sigma2): &(String, Rational)| {
        let (account, rho) = reduced_level(release, level, sigma2)?;
        crossing::within_everywhere(&account, &rho, from, to)
    };
    statement(parallel::try_map(reduced, within)?)
}

/// Whether each of them exceeds that curve at every delta of the range.
pub(super) fn reduced_beyond(
    release: &Release,
    reduced: &[(String, Rational)],
    from: &Rational,
    to: &Rational,
) -> Result<Computed> {
    let beyond = |(level, sigma2): &(String, Rational)| {
        let (account, rho) = reduced_level(release, level, sigma2)?;
        let stretches = crossing::stretches(&account, &rho, from, to)?;
        Ok(match () {
            () if stretches.iter().any(|stretch| stretch.within == Certainty::Yes) => Certainty::No,
            () if stretches.iter().all(|stretch| stretch.within == Certainty::No) => Certainty::Yes,
            () => Certainty::Undecided,
        })
    };
    statement(parallel::try_map(reduced, beyond)?)
}

/// The delta at which a level with its reduced noise crosses the curve of its own noise, from 10^-40 to 10^-2. Of
/// several crossings, the one whose logarithm is nearest to that of `near`.
pub(super) fn crossing_of_reduced(
    release: &Release,
    level: &str,
    sigma2: &Rational,
    near: &Rational,
) -> Result<Enclosure> {
    let (account, rho) = reduced_level(release, level, sigma2)?;
    let crossings = crossings(&crossing::stretches(&account, &rho, &unit_of_decimals(40), &unit_of_decimals(2))?);
    let near = Enclosure::rational(near, 64).ln().approximate();
    let off = |crossing: &Enclosure| (crossing.ln().approximate() - near).abs();
    let nearest = crossings.into_iter().min_by(|a, b| off(a).total_cmp(&off(b)));
    nearest.ok_or_else(|| {
        Error::unsuitable(format!("the curve of the noise with sigma2 = {sigma2} does not cross that of zCDP"))
    })
}

/// Enclosures of possible crossings: undecided stretches, and boundaries between stretches with different decisions.
fn crossings(stretches: &[Stretch]) -> Vec<Enclosure> {
    let undecided = stretches.iter().filter(|stretch| stretch.within == Certainty::Undecided);
    let inside = undecided.map(|stretch| stretch.deltas.0.hull(&stretch.deltas.1));
    // Stretches are in order of falling delta, and each begins where the one before it ends.
    let decided = |stretch: &Stretch| stretch.within != Certainty::Undecided;
    let between = stretches.windows(2).filter(|pair| pair.iter().all(decided) && pair[0].within != pair[1].within);
    inside.chain(between.map(|pair| pair[0].deltas.0.hull(&pair[1].deltas.1))).collect()
}

/// Whether the curve of a level with all its noise reduced by a percentage crosses that of its own noise: it is within
/// on some delta of the range and not on another.
pub(super) fn scaled_crosses(
    release: &Release,
    level: &str,
    percent: &Rational,
    from: &Rational,
    to: &Rational,
) -> Result<Computed> {
    let own = release.composition(&[level], None)?;
    let account = less_noise(&own, percent)?;
    let stretches = crossing::stretches(&account, own.rho(), from, to)?;
    let some = |answer| stretches.iter().any(|stretch| stretch.within == answer);
    Ok(Computed::Statement(match (some(Certainty::Yes), some(Certainty::No), some(Certainty::Undecided)) {
        (true, true, _) => Certainty::Yes,
        (_, _, true) => Certainty::Undecided,
        _ => Certainty::No,
    }))
}

/// Whether all levels composed, with all noise reduced by a percentage, are within the curve of their own noise on the
/// range.
pub(super) fn whole_scaled_within(
    release: &Release,
    percent: &Rational,
    from: &Rational,
    to: &Rational,
) -> Result<Computed> {
    let own = release.composition(&[] as &[&str], None)?;
    let account = less_noise(&own, percent)?;
    Ok(Computed::Statement(crossing::within_everywhere(&account, own.rho(), from, to)?))
}

fn less_noise(own: &Composition, percent: &Rational) -> Result<Composition> {
    scaled(own, &(Rational::from(1) - Rational::from(percent / 100_u32)))
}
