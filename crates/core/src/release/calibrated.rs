//! A subject with other noise as a release of its own.

use rug::Rational;

use super::{Changed, GeoLevel, Neighbors, Query, Release, accounted::SINGLES, subject::Subject};
use crate::{
    account::Counts,
    error::{Error, Result},
    law::{Changes, Law},
};

impl Subject {
    /// A release of this subject with the noise of each part multiplied by its factor: the chosen levels of a release, with its histogram and paths, and the
    /// counts given one by one as a level of their own. `how` names the source of the noise. The factor of a part is that under its name: of a level, or
    /// [`SINGLES`]; parts without a factor keep their noise.
    ///
    /// The text of the result is read again, so that a release is returned only if its file can be read. An error for noise that no release file can
    /// describe, such as a table of masses.
    pub fn calibrated_release(&self, factor: impl Fn(&str) -> Option<Rational>, how: &str) -> Result<Release> {
        let release = match &self.release {
            Some(release) => {
                let mut release = release.only(&self.levels)?;
                release.scale_levels(&factor)?;
                release.name = format!("{}-calibrated", release.name);
                release.title = format!("{}, calibrated", release.title);
                release
            }
            None => release_of_singles("calibrated", "Counts given, calibrated"),
        };
        self.with_singles(release, factor(SINGLES).as_ref(), how)
    }

    /// A release of this subject: the chosen levels of a release with their noise, and the counts given one by one as a level of their own. A group of
    /// people and a number of repetitions are not part of it. Figures that were published under another neighbor relation are left out.
    ///
    /// The text of the result is read again, as that of [`Subject::calibrated_release`].
    pub fn as_release(&self) -> Result<Release> {
        let Some(release) = &self.release else {
            let release = release_of_singles("counts", "Counts given one by one");
            return self.with_singles(release, None, "the counts that were given");
        };
        let mut kept = release.only(&self.levels)?;
        let is_other = self.neighbors.is_some_and(|neighbors| neighbors != release.neighbors);
        if is_other || !self.singles.is_empty() {
            kept.published.clear();
        }
        if kept.levels.len() != release.levels.len() {
            kept.name = format!("{}-part", release.name);
            kept.title = format!("{}, some of its levels", release.title);
        }
        if !self.singles.is_empty() {
            kept.name = format!("{}-and-counts", kept.name);
            kept.title = format!("{}, and counts given one by one", kept.title);
        }
        let source = kept.source.clone();
        self.with_singles(kept, None, &source)
    }

    /// A release with the relation and the counts of this subject, and this source, read again.
    fn with_singles(&self, mut release: Release, factor: Option<&Rational>, source: &str) -> Result<Release> {
        release.source = source.to_string();
        release = release.under(self.neighbors.unwrap_or(release.neighbors))?;
        if !self.singles.is_empty() {
            release.levels.push(self.level_of_singles(factor)?);
        }
        release.read_again()
    }

    /// The counts given one by one as a level, with their noise multiplied by a factor.
    fn level_of_singles(&self, factor: Option<&Rational>) -> Result<GeoLevel> {
        if self.counts_as_given && self.release.is_some() {
            let why = "counts as given beside a release: its file would state that all of its counts are as given";
            return Err(Error::unsuitable(why));
        }
        let query = |(at, single): (usize, &Counts)| {
            if single.changes == Changes::Exactly && !is_worst_at_the_shift(&single.law) {
                let why = format!(
                    "{single}: a release file states changes of at most a number, which may have a larger epsilon"
                );
                return Err(Error::unsuitable(why));
            }
            let scaled = factor.map_or_else(|| Ok(single.clone()), |factor| single.with_noise_times(factor))?;
            let is_sampled = scaled.law.is_sampled();
            let changed = match (scaled.law.is_guarantee(), self.counts_as_given) {
                (true, _) => Changed::Guaranteed,
                (false, true) => Changed::AsGiven,
                (false, false) => Changed::Twice,
            };
            // Steps on Poisson samples are several releases of one sum.
            let (times, cells) = if is_sampled { (scaled.count, 1) } else { (1, scaled.count) };
            let query = Query::of_law(format!("counts {}", at + 1), scaled.law);
            Ok(Query { times, cells, shift: scaled.shift, changed, ..query })
        };
        let queries = self.singles.iter().enumerate().map(query).collect::<Result<_>>()?;
        Ok(GeoLevel { name: SINGLES.to_string(), rho: Rational::new(), queries })
    }
}

/// Whether a change by exactly the shift is the worst of at most the shift: log-concave noise that a release file can describe.
fn is_worst_at_the_shift(law: &Law) -> bool {
    matches!(
        law,
        Law::Gaussian { .. } | Law::Laplace { .. } | Law::DiscreteGaussian { .. } | Law::DiscreteLaplace { .. }
    )
}

/// A release without levels, for counts given one by one.
fn release_of_singles(name: &str, title: &str) -> Release {
    Release::of_levels([name, title, ""], Neighbors::AddRemove, Vec::new())
}
