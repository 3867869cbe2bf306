//! The inputs of the figures: the release, its compositions, and the numbers that the paper prints.

use rug::Rational;

use crate::{
    account::{
        Account, Composition, Counts, Delta,
        compared::{Against, Compared, Conversion},
        paths::Whole,
        promise::{self, Grid, Promise},
    },
    chart::{Axis, drawing::exact, figure::raised},
    error::{Error, Result},
    numeric::rational::unit_of_decimals,
    release::{GeoLevel, Release, subject::Subject},
    replication::{
        accounts::scaled,
        figures::{Sources, own::Own},
        published,
    },
};

const PAPER: &str = "su-su-wang-2025";

/// zCDP (Bun-Steinke) and the exact account in a legend: in the paper's words for the paper's own release, in plain
/// words for all others.
pub(super) fn names(is_paper: bool) -> [&'static str; 2] {
    if is_paper { ["zCDP (the Bureau's)", "exact (ours)"] } else { ["zCDP (Bun-Steinke)", "exact"] }
}

pub(super) fn release() -> Result<Release> {
    Release::find(PAPER)
}

/// The subject of a figure: the release and levels of the paper, or others.
pub(super) struct Case<'s> {
    pub own: &'s Own,
    pub release: Release,
    /// The levels drawn.
    pub levels: Vec<String>,
    /// The delta at which noise is matched, if it differs from the paper's.
    delta: Option<Delta>,
}

impl<'s> Case<'s> {
    /// With at most one given delta.
    pub fn of_sources(sources: &'s Sources) -> Result<Self> {
        Own::one("delta", &sources.own.deltas)?;
        Case::of_any(sources)
    }

    /// With any number of deltas.
    pub fn of_any(sources: &'s Sources) -> Result<Self> {
        let own = &sources.own;
        let release = own.release.clone().map_or_else(release, Ok)?;
        if release.budget_only {
            // The library's own error gives the reason.
            release.composition(&[] as &[&str], None)?;
        }
        own.levels.iter().try_for_each(|level| release.level(level).map(|_| ()))?;
        if let Some((_, twice)) = own.levels.iter().enumerate().find(|(k, level)| own.levels[..*k].contains(level)) {
            return Err(Error::conflict(format!("the level {twice:?} is named twice: name each once")));
        }
        let all = || release.levels.iter().map(|level| level.name.clone()).collect();
        let levels: Vec<String> = if own.levels.is_empty() { all() } else { own.levels.clone() };
        let is_mixed = |name: &&String| release.level(name).is_ok_and(GeoLevel::has_kinds);
        if let Some(level) = levels.iter().find(is_mixed) {
            let expected = "levels at which every record enters the same counts; assay curve and assay tradeoff take the worst mix of groups";
            return Err(Error::malformed("the level", level, expected));
        }
        Ok(Case { own, release, levels, delta: own.deltas.first().cloned() })
    }

    /// Whether it is the paper's own release.
    fn is_paper(&self) -> bool {
        self.own.release.is_none()
    }

    /// Whether the reduced noise is the printed one.
    pub fn is_printed(&self) -> bool {
        self.is_paper() && self.delta.is_none()
    }

    /// The release in a title.
    pub fn title(&self) -> String {
        match self.is_paper() {
            true => "the 2020 DHC (allocation of 2022-08-25)".to_string(),
            false => format!("{} ({})", self.release.title, self.release.name),
        }
    }

    /// The levels drawn, in a title.
    pub fn levels_in_words(&self) -> String {
        match self.levels.as_slice() {
            levels if self.own.levels.is_empty() => format!("each of the {} geolevels", levels.len()),
            [one] => one.clone(),
            [levels @ .., last] => format!("{} and {last}", levels.join(", ")),
            [] => "no geolevel".to_string(),
        }
    }

    /// The heading of a level that is also drawn with reduced noise: the reduction of its variances.
    pub fn heading(&self, level: &str, reduced: &Rational) -> Result<String> {
        let own = Self::least_sigma2(&self.level(level)?);
        let percent = own.map(|own| (Rational::from(1) - reduced / own) * 100_u32);
        Ok(percent.map_or_else(|| level.to_string(), |percent| format!("{level}: {:.2}% less noise", percent.to_f64())))
    }

    /// The levels together in a title.
    pub fn together(&self) -> String {
        match (self.is_paper(), self.own.levels.is_empty()) {
            (true, true) => "all eight geolevels of the 2020 DHC together".to_string(),
            (false, true) => format!("all {} geolevels of {} together", self.levels.len(), self.title()),
            (_, false) => format!("{} of {} together", self.levels.join(", "), self.title()),
        }
    }

    pub fn level(&self, name: &str) -> Result<Composition> {
        self.release.composition(&[name], None)
    }

    /// The least variance proxy of a composition; `None` without Gaussian noise.
    pub fn least_sigma2(composition: &Composition) -> Option<Rational> {
        promise::variances(composition).ok()?.into_iter().next()
    }

    /// All drawn levels, composed; for a release with block paths the worst path.
    pub fn whole(&self) -> Result<Whole> {
        let subject =
            Subject { release: Some(self.release.clone()), levels: self.own.levels.clone(), ..Subject::default() };
        Ok(subject.resolve()?.whole)
    }

    /// The comparison of a level: in the paper zCDP (Bun-Steinke), otherwise the published figure or the smallest
    /// standard account.
    pub fn compared(&self, level: &str, composition: &Composition, delta: &Delta, digits: u32) -> Result<Compared> {
        let figures = self.release.figures_of(&[level]);
        Compared::of_account(composition, &figures, self.against(), delta, digits)
    }

    /// The account that is drawn beside the exact one: in the paper's figures the Bureau's; of other releases the one by which a figure was published for these
    /// levels, or else the best order.
    pub fn beside(&self, levels: &[String]) -> Conversion {
        let published = self.release.figures_of(levels).first().map(|figure| figure.by);
        if self.is_paper() { Conversion::BunSteinke } else { published.unwrap_or(Conversion::BestOrder) }
    }

    /// zCDP (Bun-Steinke) and the exact account in a legend.
    pub fn names(&self) -> [&'static str; 2] {
        names(self.is_paper())
    }

    /// The name of that comparison, in a legend.
    pub fn compared_name(&self) -> &'static str {
        match (self.is_paper(), self.release.published.is_empty()) {
            (true, _) => self.names()[0],
            (false, true) => "smallest standard account",
            (false, false) => "published figure or smallest standard account",
        }
    }

    fn against(&self) -> Against {
        if self.is_paper() { Against::By(Conversion::BunSteinke) } else { Against::Usual }
    }

    /// The promise that reduced noise keeps: the epsilon with which the original noise is compared.
    fn promise(&self, account: &impl Account, levels: &[String], usual: &str) -> Result<Promise> {
        const DIGITS: u32 = 40;
        let delta: Delta = self.delta.clone().map_or_else(|| usual.parse(), Ok)?;
        let figures = self.release.figures_of(levels);
        let epsilon = Compared::of_account(account, &figures, self.against(), &delta, DIGITS)?.epsilon;
        Ok(Promise::known(delta, &epsilon))
    }

    /// A level with less noise, and its least variance proxy: the value that Table 1 prints, or the least to two
    /// decimals with which the exact epsilon is at most that of the comparison.
    pub fn reduced(&self, name: &str) -> Result<(Composition, Rational)> {
        let own = self.level(name)?;
        if self.is_printed() {
            let sigma2 = printed_sigma2(name)?;
            return Ok((alike(&sigma2, own.counts().iter().map(|counts| counts.count).sum())?, sigma2));
        }
        let matching = self.promise(&own, &[name.to_string()], "1e-11")?;
        let found = promise::calibrate(&own, &matching, Grid::sigma2(2))?;
        let least = Self::least_sigma2(&found.account).unwrap_or_default();
        Ok((found.account, least))
    }

    /// The name of the reduced noise of a level.
    pub fn reduced_name(&self) -> String {
        match &self.delta {
            _ if self.is_printed() => "reduced noise of Table 1 (matched at δ = 10⁻¹¹)".to_string(),
            delta => {
                let delta = delta.as_ref().map_or_else(|| "1e-11".to_string(), |delta| exact(delta));
                let name = if self.is_paper() { "of zCDP (Bun-Steinke)" } else { "that it is compared with" };
                format!("noise that meets the ε {name} at δ = {}", raised(&delta))
            }
        }
    }

    /// All drawn levels with their noise scaled by one factor, and the reduction in percent: the printed 8.59, or the
    /// matching one.
    pub fn reduced_whole(&self, whole: &Whole) -> Result<(Whole, String)> {
        if let (true, Whole::Composition(composition)) = (self.is_printed() && self.own.levels.is_empty(), whole) {
            return Ok((Whole::Composition(scaled(composition, &printed_factor()?)?), "8.59% less".to_string()));
        }
        let subject =
            Subject { release: Some(self.release.clone()), levels: self.own.levels.clone(), ..Subject::default() };
        let total = subject.resolve()?.total;
        let found =
            promise::calibrate_worst(whole, &total, &self.promise(whole, &self.own.levels, "1e-10")?, Grid::factor(4))?;
        let percent = (Rational::from(1) - &found.factor) * 100_u32;
        let more_or_less = if percent < 0 { "more" } else { "less" };
        Ok((found.account, format!("{:.2}% {more_or_less}", percent.to_f64().abs())))
    }
}

/// Counts that all have the same noise.
pub(super) fn alike(sigma2: &Rational, count: u64) -> Result<Composition> {
    Composition::new([Counts::discrete_gaussian(sigma2.clone(), count, 1)?])
}

/// A number as the paper prints it, by its id in data/published.
pub(super) fn printed(id: &str) -> Result<Rational> {
    published::printed(PAPER, id)
}

/// The level's name in the ids of data/published.
pub(super) fn slug(level: &str) -> String {
    level.to_lowercase().replace(' ', "-")
}

/// The reduced noise that Table 1 prints for a level.
pub(super) fn printed_sigma2(level: &str) -> Result<Rational> {
    printed(&format!("table-1-{}-ours", slug(level)))
}

/// 1 minus the percentage by which Section 3.3 reduces all noise.
pub(super) fn printed_factor() -> Result<Rational> {
    Ok(Rational::from(1) - printed("section-3.3-reduction")? / 100_u32)
}

/// 1, 2 and 5 times powers of ten from 10^-most to 10^-2, and more values from 1/10 on, where the curves bend.
pub(super) fn deltas(most: u32) -> Vec<Rational> {
    let decades = (2..=most).rev().flat_map(|k| [1_u32, 2, 5].map(|digit| unit_of_decimals(k) * digit));
    decades.chain((4..=18).map(|k| Rational::from((k, 40)))).chain([Rational::from((1, 2))]).collect()
}

pub(super) fn delta_axis(from: f64) -> Axis {
    Axis::log("δ", from, 1.0)
}
