//! The run of an estimation.

use super::{
    estimated::{Estimated, Origin},
    published::PublishedCounts,
    request::{Estimation, EstimationInput, Read, Share},
};
use crate::{
    error::Result,
    io::provenance::Provenance,
    topdown::{
        jobs::About,
        nmf::{
            answers::{Answer, Subject},
            areas::OfAreas,
            codes::{
                confidence::Confidence,
                sheet::{self, Layout},
            },
            compared::{Compared, Kind, Named},
            job::{Job, State, states_of_part},
            medians::Median,
            meter::At,
            ranks::Rank,
            survey::{AreaSource, Survey, Take},
            tables,
            truth::ErrorTable,
        },
    },
};

/// The outcome of a run.
#[derive(Debug)]
pub enum Outcome {
    /// The file of estimates is written.
    Estimated(Box<Estimated>),
    /// A part of the work is done.
    Part {
        /// The state of the whole work.
        now: State,
        /// All states of the estimation.
        states: Vec<u32>,
    },
}

/// Receives the answers about a unit or area, and its published count. An error ends the run, and no file is written.
pub type SeeAnswers<'s> = dyn FnMut(&Subject, &[Answer], Option<f64>) -> Result<()> + 's;

impl Estimation {
    /// Reads the folder, estimates and writes the file, whole or not at all, with its provenance beside it. `at` receives
    /// the progress.
    pub fn run(&self, at: &At, see: &mut SeeAnswers) -> Read<Outcome> {
        let release = self.release()?;
        let (settings, totals) = self.settings(&release)?;
        let layout = self.layout(&release)?;
        let mut provenance = self.provenance()?;
        let of_areas = match &settings.areas {
            AreaSource::Given(areas) => OfAreas { unassigned: areas.unassigned, weights: areas.weights },
            AreaSource::None | AreaSource::Digits(_) => OfAreas::default(),
        };
        let identity = self.work.as_ref().map(|_| self.identity(&release, &settings)).transpose()?;
        let survey = Survey::open(&self.folder, &release, settings)?;
        let of_totals = totals.map(|totals| totals.held_against(&survey.all_states, &survey.missing_parts));
        let of_totals = of_totals.transpose().about(EstimationInput::StateTotals)?.flatten();
        let confidence = layout.as_ref().map_or_else(Vec::new, |layout| layout.confidence.clone());
        let compared_at = Confidence::or_usual(&self.comparisons.confidence);
        let from_covariances = self.compare(&survey, &compared_at, at)?;
        let published = self.published.as_deref().map(PublishedCounts::read).transpose();
        let mut watch = Watch {
            errors: self.truth.as_ref().map(|_| ErrorTable::default()),
            published: published.about(EstimationInput::Published)?,
            of_published: None,
            see,
        };
        let (rows, of_names) = match self.work.as_ref().zip(identity) {
            None => {
                self.fit_despite_misfit(&survey, at)?;
                self.write(&survey, layout.as_ref(), &mut |take| {
                    watch.run(take, &mut |take| survey.in_order(&mut |take| survey.run(take, at), take))
                })?
            }
            Some((work, identity)) => {
                let job = Job::open(&survey, &work.folder, identity, self.truth.as_deref());
                let job = job.about(EstimationInput::Work)?;
                if !self.work(&job, work.share, &survey, at)? {
                    return Ok(Outcome::Part { now: job.state(), states: survey.states() });
                }
                self.write(&survey, layout.as_ref(), &mut |take| {
                    watch.run(take, &mut |take| survey.in_order(&mut |take| job.combine(take), take))
                })?
            }
        };
        provenance.insecure_seed = survey.insecure_seed;
        provenance.misfit =
            survey.misfit().map(|bound| format!("noisy counts that do not fit each other, p below {bound}"));
        self.write_beside(&survey, &provenance, from_covariances.named.as_ref())?;
        let errors = watch.errors.map(|errors| errors.named(&survey.names.levels, &survey.answers));
        let said = [of_totals, watch.of_published, of_names].into_iter().flatten().collect();
        let origin = Origin {
            release: release.name,
            out: self.out.clone(),
            form: self.form(),
            confidence,
            compared_at,
            provenance,
        };
        let mut estimated = Estimated::new(survey, rows, errors, of_areas, said, origin)?;
        let FromCovariances { compared, ranks, medians, .. } = from_covariances;
        (estimated.compared, estimated.ranks, estimated.medians) = (compared, ranks, medians);
        Ok(Outcome::Estimated(Box::new(estimated)))
    }

    /// The fit as a whole, if a misfit is no error and has to be known before the rows are written.
    fn fit_despite_misfit(&self, survey: &Survey, at: &At) -> Result<()> {
        if self.despite_misfit {
            survey.fit_all(at)?;
            survey.compare_totals(at)?;
            survey.note_misfit()?;
        }
        Ok(())
    }

    /// The provenance beside the file of estimates, and the file of covariances with its own.
    fn write_beside(&self, survey: &Survey, provenance: &Provenance, named: Option<&Named>) -> Read<()> {
        provenance.write_beside(&self.out)?;
        if let (Some(named), Some(file)) = (named, &self.comparisons.file) {
            named.write(survey, file).about(EstimationInput::Covariance)?;
            provenance.write_beside(file)?;
        }
        Ok(())
    }

    /// Everything that follows from the covariances.
    fn compare(&self, survey: &Survey, confidence: &[Confidence], at: &At) -> Read<FromCovariances> {
        let mut all = FromCovariances::default();
        if self.comparisons.is_empty() {
            return Ok(all);
        }
        let named = Named::new(survey, survey.covariances(at)?);
        for text in &self.comparisons.differences {
            all.compared.extend(named.compare(Kind::Difference, text).about(EstimationInput::Difference)?);
        }
        for text in &self.comparisons.shares {
            all.compared.extend(named.compare(Kind::Share, text).about(EstimationInput::Share)?);
        }
        for variable in &self.comparisons.ranks {
            all.ranks.extend(named.ranks(variable, confidence).about(EstimationInput::Rank)?);
        }
        for attribute in &self.comparisons.medians {
            all.medians.extend(named.medians(survey, attribute, confidence).about(EstimationInput::Median)?);
        }
        all.named = Some(named);
        Ok(all)
    }

    /// Does a share of the work; returns whether the file of estimates follows.
    fn work(&self, job: &Job, share: Share, survey: &Survey, at: &At) -> Result<bool> {
        match share {
            Share::All => job.work(&survey.states(), at)?,
            Share::Part { part, of } => {
                job.work(&states_of_part(&survey.states(), part, of), at)?;
                return Ok(false);
            }
            Share::Combine => {}
        }
        if self.despite_misfit {
            job.check_done()?;
            job.read_fits()?;
            survey.note_misfit()?;
        }
        Ok(true)
    }

    /// The number of rows, and a note.
    fn write(&self, survey: &Survey, layout: Option<&Layout>, run: &mut tables::Run) -> Result<(u64, Option<String>)> {
        match layout {
            None => Ok((tables::write(survey, self.form(), self.with_areas(), &self.out, run)?, None)),
            Some(layout) => {
                let sheet = sheet::write(survey, layout, &self.out, run)?;
                Ok((sheet.rows, sheet.note))
            }
        }
    }
}

/// The results that need the covariances of the estimates.
#[derive(Default)]
struct FromCovariances {
    named: Option<Named>,
    compared: Vec<Compared>,
    ranks: Vec<Rank>,
    medians: Vec<Median>,
}

/// Collected while answers pass.
struct Watch<'s, 'c> {
    /// The errors, in a rehearsal.
    errors: Option<ErrorTable>,
    published: Option<PublishedCounts>,
    /// The note on published counts that belong to no unit or area.
    of_published: Option<String>,
    see: &'s mut SeeAnswers<'c>,
}

impl Watch<'_, '_> {
    /// Passes on all answers. Published counts are compared with the units before the file is complete.
    fn run(&mut self, take: &mut Take, run: &mut tables::Run) -> Result<()> {
        run(&mut |subject, answers| {
            if let Some(errors) = &mut self.errors {
                errors.add(&subject, &answers);
            }
            let published = self.published.as_mut().and_then(|published| published.count(&subject));
            (self.see)(&subject, &answers, published)?;
            take(subject, answers)
        })?;
        self.of_published = self.published.as_ref().map(PublishedCounts::unmatched).transpose()?.flatten();
        Ok(())
    }
}
