//! The sheets of a report: the points of NIST SP 800-226, and an entry of the Deployments Registry.

use std::path::Path;

use anyhow::{Context, Result};
use dp_assay::{
    document::{fields::Fields, html, markdown},
    numeric::Enclosure,
    provenance::Provenance,
    sheet::{self, Figures, Point},
};

use super::{
    super::{
        output::{exact, exact_text},
        progress,
        subject::{Resolved, Subject, of_relation},
    },
    answers::Request,
};

/// The sheets to write.
pub struct Sheets<'a> {
    pub nist: Option<&'a Path>,
    pub registry: Option<&'a Path>,
}

/// The main numbers of the sheets.
pub struct Written {
    epsilon: Enclosure,
    status: &'static str,
    correct: Enclosure,
    right: String,
    upper: String,
}

impl Sheets<'_> {
    /// Writes the sheets, if any; both have the same numbers.
    pub fn write(
        &self,
        given: &Subject,
        subject: &Resolved,
        request: &Request,
        provenance: &Provenance,
    ) -> Result<Option<Written>> {
        if self.nist.is_none() && self.registry.is_none() {
            return Ok(None);
        }
        progress::stage("numbers of the sheets");
        let release = given.described()?.release;
        let request = sheet::Request {
            delta: request.delta.clone(),
            prior: request.prior.clone(),
            digits: request.digits,
            command: provenance.command_line.clone(),
            inputs: provenance.inputs.clone(),
        };
        let figures = Figures::of_subject(subject, release.as_ref(), &request)?;
        if let Some(path) = self.nist {
            let document = sheet::document(&figures);
            let is_markdown = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"));
            let text = if is_markdown { markdown::document(&document) } else { html::document(&document) };
            dp_assay::chart::write_page(path, &text).context("--nist")?;
        }
        if let Some(path) = self.registry {
            let text = sheet::entry(&figures).context("--registry")?;
            dp_assay::chart::write_page(path, &text).context("--registry")?;
        }
        Ok(Some(Written {
            epsilon: figures.whole.epsilon.value.clone(),
            status: figures.whole.epsilon.status(),
            correct: figures.whole.correct.value.clone(),
            right: figures.whole.right_of_100(),
            upper: figures.epsilon_text(),
        }))
    }

    /// Adds the names of the files to an answer.
    pub fn named(&self, answer: Fields) -> Fields {
        let file = |path: Option<&Path>| path.map(|path| path.display().to_string());
        answer.with_some("nist", file(self.nist)).with_some("registry", file(self.registry))
    }
}

impl Written {
    /// The numbers as an object, with the points that no release file answers.
    pub fn object(&self, request: &Request, subject: &Resolved) -> Fields {
        Fields::new()
            .with("epsilon", &self.epsilon)
            .with("delta", exact(&request.delta))
            .with("status", self.status)
            .with("prior", exact(&request.prior))
            .with("correct_decision_upper", &self.correct)
            .with("to_complete", Point::ALL.map(Point::name))
            .and(of_relation(subject))
    }

    /// The numbers in sentences.
    pub fn said(&self, request: &Request) -> Vec<String> {
        let delta = exact_text(&request.delta);
        vec![
            format!("Epsilon is at most {} at delta = {delta}.", self.upper),
            format!(
                "An adversary with prior {} decides correctly at most {} times in 100.",
                exact_text(&request.prior),
                self.right
            ),
            format!("A release file leaves {} points to the curator; the sheet names them.", Point::ALL.len()),
        ]
    }
}
