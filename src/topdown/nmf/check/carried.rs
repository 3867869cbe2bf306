//! The number of levels whose shares the noise on the counts of a unit carries. If a release has two histograms, their
//! rows are in the same files, which are read once; the same units have counts of both, with noise that carries the
//! same shares.

use crate::{
    error::{Error, Result},
    release::Release,
    topdown::{
        gls::pass::UnitCounts,
        nmf::{
            budgets::Budgets,
            counts::read_histograms,
            fit::{FitPlan, FitReport, Stand, Tally, Walk},
            folder::{NmfFile, NmfFolder, of_part},
            names::{Names, Which},
            observe::{Observer, UnitSeen},
            units::{Geocodes, PartUnits},
        },
    },
};

/// The queries of each histogram, and the variances of its noise.
pub(super) struct Histograms(Vec<(Names, Budgets)>);

/// The number of carried levels of each unit, level by level, and for each histogram the residuals and the sums that
/// represent the part.
type Carried = (Vec<Vec<u8>>, Vec<(Tally, Stand)>);

impl Histograms {
    /// The histograms of a release.
    pub(super) fn new(release: &Release) -> Result<Histograms> {
        let of = |which| -> Result<(Names, Budgets)> {
            let names = Names::of_release(release, which)?;
            let budgets = Budgets::new(release, &names)?;
            Ok((names, budgets))
        };
        let first = of(Which::First)?;
        let second = first.0.are_two().then(|| of(Which::Beside)).transpose()?;
        Ok(Histograms([Some(first), second].into_iter().flatten().collect()))
    }

    /// The queries of the first histogram.
    pub(super) fn names(&self) -> &Names {
        &self.0[0].0
    }

    /// The variances of the noise of the first histogram.
    pub(super) fn budgets(&self) -> &Budgets {
        &self.0[0].1
    }

    /// Whether the release has two histograms.
    pub(super) fn are_two(&self) -> bool {
        self.0.len() > 1
    }

    /// The compared queries of each histogram.
    pub(super) fn plans(&self) -> Vec<FitPlan> {
        self.0.iter().map(|(names, _)| FitPlan::new(names)).collect()
    }

    /// The fit of each histogram, from all its residuals.
    pub(super) fn reports(&self, plans: &[FitPlan], tallies: &[Tally]) -> Vec<FitReport> {
        let all = self.0.iter().zip(plans).zip(tallies);
        all.map(|(((names, _), plan), tally)| FitReport::new(plan, names, tally)).collect()
    }

    /// The number of levels whose shares the nation carries; 0 if it has no counts.
    pub(super) fn of_nation(&self, folder: &NmfFolder, observer: &mut dyn Observer) -> Result<u8> {
        let files: Vec<_> = folder.levels[0].queries.iter().collect();
        let carried = self.read(&files, 0, (&Geocodes::nation(), b""), &mut |number, unit, carried| {
            if number == 0 {
                observer.observe(&UnitSeen { level: 0, units: None, unit, carried });
            }
        })?;
        Ok(carried[0])
    }

    /// Compares the nation's counts with the sums that represent all parts, for each histogram.
    pub(super) fn fit_nation(
        &self,
        folder: &NmfFolder,
        plans: &[FitPlan],
        stands: &[Stand],
        tallies: &mut [Tally],
    ) -> Result<()> {
        let files: Vec<_> = folder.levels[0].queries.iter().collect();
        self.read(&files, 0, (&Geocodes::nation(), b""), &mut |number, unit, carried| {
            let noise = self.0[number].1.noise(0, carried);
            tallies[number].unit(&plans[number], 0, "", unit, noise, &stands[number]);
        })?;
        Ok(())
    }

    /// The number of carried levels of each unit of a part, level by level, and for each histogram the residuals and
    /// the sums that represent the part.
    pub(super) fn of_part(
        &self,
        folder: &NmfFolder,
        units: &PartUnits,
        first: usize,
        (plans, observer): (&[FitPlan], &mut dyn Observer),
    ) -> Result<Carried> {
        let mut walks: Vec<Walk> = plans.iter().map(|plan| Walk::new(plan, units, first)).collect();
        let mut carried = Vec::with_capacity(units.codes.len());
        // From the lowest level upwards, as sums over children are compared with the counts read later.
        for (level, codes) in units.codes.iter().enumerate().rev() {
            let files: Vec<_> = of_part(&folder.levels[first + level].queries, &units.part).collect();
            let own =
                self.read(&files, first + level, (codes, units.part.as_bytes()), &mut |number, unit, carried| {
                    walks[number].observe(level, unit, self.0[number].1.noise(first + level, carried));
                    if number == 0 {
                        observer.observe(&UnitSeen { level: first + level, units: Some(units), unit, carried });
                    }
                })?;
            carried.push(own);
        }
        carried.reverse();
        Ok((carried, walks.into_iter().map(Walk::finish).collect()))
    }

    fn read(
        &self,
        files: &[&NmfFile],
        level: usize,
        (codes, prefix): (&Geocodes, &[u8]),
        see: &mut dyn FnMut(usize, &UnitCounts, usize),
    ) -> Result<Vec<u8>> {
        let code = |unit: usize| String::from_utf8_lossy(codes.get(unit)).to_string();
        let names: Vec<&Names> = self.0.iter().map(|(names, _)| names).collect();
        let mut carried = vec![vec![0_u8; codes.len()]; self.0.len()];
        read_histograms(files, &names, level, codes, prefix, &mut |number, units| {
            let (names, budgets) = &self.0[number];
            for unit in units {
                let own = budgets.carried_by(names, level, &unit, || code(unit.unit))?;
                see(number, &unit, own);
                // The number of levels fits in a byte.
                carried[number][unit.unit] = own as u8;
            }
            Ok(())
        })?;
        let mut all = carried.into_iter().zip(&self.0);
        let first = all.next().map_or_else(Vec::new, |(first, _)| first);
        for (second, (names, _)) in all {
            if let Some(unit) = (0..codes.len()).find(|unit| first[*unit] != second[*unit]) {
                let queries: Vec<&str> = names.queries(level).iter().map(|query| query.name.as_str()).collect();
                let (queries, level) = (queries.join(", "), &names.levels[level]);
                return Err(Error::conflict(format!(
                    "the {level} {:?} carries the shares of {} levels by {queries}, and of {} by its other queries: all must be alike",
                    code(unit),
                    second[unit],
                    first[unit]
                )));
            }
        }
        Ok(first)
    }
}
