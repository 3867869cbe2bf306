//! The problem of least squares that a request poses.

use super::{
    opened::WholeCells,
    settings::{Settings, Wanted},
};
use crate::{
    error::{Error, Result},
    release::schema::Schema,
    topdown::{
        gls::{basis::Part, problem::Problem},
        nmf::{
            answers::{Answers, TableLine, named_parts},
            codes::book::{CodeBook, Product},
            names::Names,
            units::{Constraints, RootConstraints, Zeros},
        },
    },
};

/// The problem of least squares that a request poses, with the places of its answers.
pub(super) struct Posed {
    pub(super) whole: Option<WholeCells>,
    pub(super) problem: Problem,
    pub(super) answers: Answers,
}

impl Posed {
    pub(super) fn new(names: &Names, settings: &Settings, root: &RootConstraints) -> Result<Self> {
        // The groups of cells that constraints distinguish.
        let apart = &match settings.constraints {
            Constraints::All => root.zeros.apart.clone(),
            Constraints::None | Constraints::Totals => Zeros::none(names.axes.len()).apart,
        };
        let measured = |level: usize| names.queries(level).iter().map(|query| query.parts.clone()).collect();
        let levels: Vec<Vec<Vec<Part>>> = (0..names.levels.len()).map(measured).collect();
        let lines = match &settings.wanted {
            Wanted::Queries(_) => Vec::new(),
            Wanted::Pl94Tables => lines_of_persons(names.schema())?,
            Wanted::Lines { lines, .. } => lines.clone(),
        };
        let parts = match &settings.wanted {
            Wanted::Queries(queries) => named_parts(names.schema(), queries)?,
            Wanted::Pl94Tables | Wanted::Lines { .. } => lines.iter().map(TableLine::parts).collect(),
        };
        let whole = settings.whole.as_ref().map(|order| WholeCells::new(names, order, &parts, apart)).transpose()?;
        let requested = whole.as_ref().map_or_else(|| parts.clone(), |whole| whole.with(&parts));
        let problem = Problem::for_answers(&names.sizes, &levels, &requested, apart)?;
        // Units above are determined by those below them; where these have no counts, the passes check the unit itself.
        if let Some((last, name)) = names.levels.iter().enumerate().next_back() {
            problem.check_level(last, name)?;
        }
        let answers = match &settings.wanted {
            Wanted::Queries(queries) => Answers::of_queries(&problem, names.schema(), queries)?,
            Wanted::Pl94Tables | Wanted::Lines { .. } => Answers::of_lines(&problem, &names.sizes, &lines),
        };
        Ok(Posed { whole, problem, answers })
    }
}

/// The lines of the tables of P.L. 94-171 about persons.
fn lines_of_persons(schema: &Schema) -> Result<Vec<TableLine>> {
    let book = CodeBook::of_schema(schema)?;
    match book.product {
        Product::Persons => Ok(book.codes.into_iter().map(|code| code.line).collect()),
        other => {
            let why = "the Bureau's own estimates are of the persons of P.L. 94-171, and these counts of";
            Err(Error::unsuitable(format!("{why} {}", other.subject())))
        }
    }
}
