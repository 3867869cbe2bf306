//! A subject with other noise as a release of its own.

use rug::Rational;

use super::{Changed, GeoLevel, Query, Release, accounted::SINGLES, subject::Subject};
use crate::{
    account::Counts,
    error::{Error, Result},
    loss::law::Law,
};

impl Subject {
    /// A release of this subject with the noise of each part multiplied by its factor: the chosen levels of a release, with its histogram and paths, and the
    /// counts given one by one as a level of their own. `how` names the source of the noise. The factor of a part is that under its name: of a level, or
    /// [`SINGLES`]; parts without a factor keep their noise.
    ///
    /// The text of the result is read again, so that a release is returned only if its file can be read. An error for noise that no release file can
    /// describe, such as a table of masses.
    pub fn calibrated_release(&self, factor: impl Fn(&str) -> Option<Rational>, how: &str) -> Result<Release> {
        let mut release = match &self.release {
            Some(release) => {
                let mut release = release.only(&self.levels)?;
                release.scale_levels(&factor)?;
                release.name = format!("{}-calibrated", release.name);
                release.title = format!("{}, calibrated", release.title);
                release
            }
            None => self.release_of_singles()?,
        };
        release.source = how.to_string();
        release.neighbors = self.neighbors.unwrap_or(release.neighbors);
        if !self.singles.is_empty() {
            release.levels.push(self.level_of_singles(factor(SINGLES).as_ref())?);
        }
        let unwritable =
            |why: String| Error::unsuitable(format!("this noise cannot be written as a release file: {why}"));
        let read = Release::parse(&release.to_toml(), "the file").map_err(|error| unwritable(error.to_string()))?;
        let laws = |release: &Release| -> Vec<Law> {
            release.levels.iter().flat_map(|level| &level.queries).map(|query| query.law.clone()).collect()
        };
        // A law without a form in files would be read as another one.
        if laws(&read) == laws(&release) { Ok(read) } else { Err(unwritable("it reads as other noise".to_string())) }
    }

    /// A release without levels, for counts given one by one.
    fn release_of_singles(&self) -> Result<Release> {
        let neighbors = self.neighbors.unwrap_or(super::Neighbors::AddRemove);
        Ok(Release {
            name: "calibrated".to_string(),
            title: "Counts given, calibrated".to_string(),
            source: String::new(),
            neighbors,
            rho: Rational::new(),
            levels: Vec::new(),
            published: Vec::new(),
            budget_only: false,
            exact_total: None,
            paths: None,
            mixes: Vec::new(),
            schema: None,
            sha256: None,
        })
    }

    /// The counts given one by one as a level, with their noise multiplied by a factor.
    fn level_of_singles(&self, factor: Option<&Rational>) -> Result<GeoLevel> {
        if self.counts_as_given && self.release.is_some() {
            let why = "counts as given beside a release: its file would state that all of its counts are as given";
            return Err(Error::unsuitable(why));
        }
        let query = |(at, single): (usize, &Counts)| {
            let scaled = factor.map_or_else(|| Ok(single.clone()), |factor| single.with_noise_times(factor))?;
            let is_sampled = scaled.law.is_sampled();
            let changed = match (scaled.law.is_guarantee(), self.counts_as_given) {
                (true, _) => Changed::Guaranteed,
                (false, true) => Changed::AsGiven,
                (false, false) => Changed::Twice,
            };
            Ok(Query {
                name: format!("counts {}", at + 1),
                rho: Rational::new(),
                law: scaled.law,
                // Steps on Poisson samples are several releases of one sum.
                times: if is_sampled { scaled.count } else { 1 },
                cells: if is_sampled { 1 } else { scaled.count },
                shift: scaled.shift,
                free_rows: false,
                changed,
                kind: None,
            })
        };
        let queries = self.singles.iter().enumerate().map(query).collect::<Result<_>>()?;
        Ok(GeoLevel { name: SINGLES.to_string(), rho: Rational::new(), queries })
    }
}
