//! Files of estimates by code, with the columns of tidycensus: in long form a row for each place and variable, in wide
//! form a row for each place.

use std::{collections::BTreeSet, path::Path};

use super::{book::Code, confidence::Confidence, nonnegative::interval_approx, places::Places};
use crate::{
    error::Result,
    io::files::{file_error, write_whole},
    spine::csv_table::quoted,
    topdown::nmf::{
        answers::{Answer, Subject},
        survey::{Survey, tabulation_level},
        tables::{Run, marked},
    },
};

/// The layout of a file.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The codes, one for each answer of a place.
    pub codes: Vec<Code>,
    /// Whether a row has all variables of a place.
    pub wide: bool,
    /// The confidence levels of the margins.
    pub confidence: Vec<Confidence>,
    /// Whether intervals that respect that no count is negative stand beside the margins.
    pub nonnegative: bool,
    /// The names of places.
    pub places: Places,
    /// Whether places are areas, and whether these are tabulation units.
    pub kind: Kind,
}

/// The kind of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Units of the spine: a row has the spine code and the part of the state too.
    Units,
    /// Tabulation units.
    Tabulation,
    /// Areas of a file.
    Areas,
}

/// A place as in the columns of a row.
struct Place {
    geoid: String,
    name: String,
    level: String,
    /// The spine code and the part of the state, for units.
    unit: Option<(String, &'static str)>,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// The number of rows.
    pub rows: u64,
    /// A note on names that were given.
    pub note: Option<String>,
}

/// Writes the answers of a survey, whole or not at all. `run` gives the answers.
pub fn write(survey: &Survey, layout: &Layout, path: &Path, run: &mut Run) -> Result<Sheet> {
    write_whole(path, |out| {
        let wrong = |why: std::io::Error| file_error(path, why);
        writeln!(out, "{}", layout.heading(survey)).map_err(wrong)?;
        let (mut rows, mut seen, mut named) = (0, BTreeSet::new(), 0);
        run(&mut |subject, answers| {
            let place = layout.place(survey, &subject);
            if layout.places.given() > 0 && seen.insert(place.geoid.clone()) {
                named += usize::from(layout.places.is_given(&place.geoid));
            }
            let lines =
                if layout.wide { layout.wide_row(&place, &answers) } else { layout.long_rows(&place, &answers) };
            rows += lines.len() as u64;
            lines.iter().try_for_each(|line| writeln!(out, "{line}")).map_err(wrong)
        })?;
        Ok(Sheet { rows, note: layout.places.note(named, seen.len())? })
    })
}

impl Layout {
    fn heading(&self, survey: &Survey) -> String {
        let of = |own: &Confidence| match self.nonnegative {
            true => vec![own.heading(), format!("lower_{}", own.percent()), format!("upper_{}", own.percent())],
            false => vec![own.heading()],
        };
        let margins: Vec<String> = self.confidence.iter().flat_map(of).collect();
        let unit = if self.kind == Kind::Units { ",geocode,part" } else { "" };
        if self.wide {
            let own = |code: &Code| {
                let margins: String = margins.iter().map(|margin| format!(",{}_{margin}", code.name)).collect();
                quoted(&marked(survey, &code.name)) + &margins
            };
            let columns: Vec<String> = self.codes.iter().map(own).collect();
            return format!("GEOID,NAME,level{unit},{}", columns.join(","));
        }
        let estimate = quoted(&marked(survey, "estimate"));
        format!("GEOID,NAME,variable,label,{estimate},{},level{unit}", margins.join(","))
    }

    fn place(&self, survey: &Survey, subject: &Subject) -> Place {
        match subject {
            // The nation has the GEOID 1 in the Bureau's API.
            Subject::Unit { level, code, .. } if code.is_empty() => Place {
                geoid: "1".to_string(),
                name: "United States".to_string(),
                level: survey.names.levels[*level].clone(),
                unit: Some((String::new(), "")),
            },
            Subject::Unit { level, code, geoid } => Place {
                geoid: geoid.clone(),
                name: self.places.name(geoid),
                level: survey.names.levels[*level].clone(),
                unit: Some((code.clone(), survey.part_of(code))),
            },
            Subject::Area(name) => {
                let level = match self.kind {
                    Kind::Tabulation => tabulation_level(name.len()),
                    Kind::Units | Kind::Areas => "area",
                };
                Place { geoid: name.clone(), name: self.places.name(name), level: level.to_string(), unit: None }
            }
        }
    }

    /// The columns of a variable: its estimate, margins and intervals.
    fn numbers(&self, answer: &Answer) -> String {
        let deviation = answer.variances[0].sqrt();
        let margin = |confidence: &Confidence| {
            let margin = format!(",{}", confidence.quantile() * deviation);
            if !self.nonnegative {
                return margin;
            }
            let (lower, upper) = interval_approx(answer.estimates[0], deviation, confidence);
            format!("{margin},{lower},{upper}")
        };
        let margins = self.confidence.iter().map(margin);
        answer.estimates[0].to_string() + &margins.collect::<String>()
    }

    fn long_rows(&self, place: &Place, answers: &[Answer]) -> Vec<String> {
        let (geoid, name) = (quoted(&place.geoid), quoted(&place.name));
        let row = |answer: &Answer| {
            let code = &self.codes[answer.query];
            let (label, numbers) = (quoted(&code.label), self.numbers(answer));
            format!("{geoid},{name},{},{label},{numbers},{}{}", code.name, quoted(&place.level), place.unit())
        };
        answers.iter().map(row).collect()
    }

    fn wide_row(&self, place: &Place, answers: &[Answer]) -> Vec<String> {
        let numbers: Vec<String> = answers.iter().map(|answer| self.numbers(answer)).collect();
        let (geoid, name, level) = (quoted(&place.geoid), quoted(&place.name), quoted(&place.level));
        vec![format!("{geoid},{name},{level}{},{}", place.unit(), numbers.join(","))]
    }
}

impl Place {
    /// The columns of a unit of the spine, if it is one.
    fn unit(&self) -> String {
        self.unit.as_ref().map_or_else(String::new, |(code, part)| format!(",{code},{part}"))
    }
}
