//! The memo of published values: each recomputed and judged.

use std::path::Path;

use super::{
    draft::{Draft, common_assumptions, common_limits},
    folder::{Memo, Request},
    number::{Number, reason, slug},
    sentence::unborne,
};
use crate::{
    certificate::Certificate,
    document::table,
    error::{Error, Result},
    io::reading::read_text,
    numeric::parallel,
    release::Release,
    replication::{
        certified, published,
        verify::{self, Row},
    },
};

/// The memo of the published values of a paper, or of a file of the same form.
pub fn of_published(name: &str, request: &Request) -> Result<Memo> {
    let papers = published::papers(&[name.to_string()])?;
    let paper = papers.first().ok_or_else(|| Error::missing("no paper was named"))?;
    let mut draft = Draft { title: format!("Memo on published values: {}", paper.title), ..Draft::default() };
    let text = match published::bundled_text(&paper.paper).filter(|_| paper.is_bundled) {
        Some(text) => text.to_string(),
        None => read_text(Path::new(&paper.file))?,
    };
    draft.copy(&paper.file, text);
    for release in &paper.releases {
        draft.copy(release, Release::text(release)?);
    }
    let rows = verify::verify(paper)?;
    let certificates = certificates(&rows, request)?;
    draft.about = vec!["Every printed value is recomputed from the facts in the inputs, and judged.".to_string()];
    draft.statement = statement(&rows).iter().map(|sentence| unborne(sentence)).collect();
    draft.disagrees = rows.iter().any(Row::is_unexplained);
    let cells = |(row, number): (&Row, &Option<std::result::Result<Number, String>>)| {
        let file = match number {
            Some(Ok(number)) => number.file(),
            Some(Err(_)) | None => "none".to_string(),
        };
        let (published, verdict) = (&row.published, row.verdict.word().to_string());
        vec![published.id.clone(), published.place.clone(), published.shown(), row.shown(), verdict, file]
    };
    draft.numbers = vec![table(
        "The values: as printed and as recomputed. The digits of a computed value are proven.",
        &["value", "place", "printed", "computed", "verdict", "certificate"],
        rows.iter().zip(&certificates).map(cells).collect(),
        &[0, 1, 4, 5],
    )];
    let remarks: Vec<Vec<String>> = rows.iter().filter_map(remarks).collect();
    if !remarks.is_empty() {
        draft.numbers.push(table("Remarks on the values.", &["value", "remark"], remarks, &[0, 1]));
    }
    for (row, number) in rows.iter().zip(&certificates) {
        match number {
            Some(Ok(number)) => draft.take(&row.published.id, number),
            Some(Err(why)) => draft.without.push((row.published.id.clone(), why.clone())),
            None => draft.without.push((row.published.id.clone(), NO_KIND.to_string())),
        }
    }
    draft.assumptions = common_assumptions();
    draft.assumptions.push(
        "A certificate proves the number from which a value is computed; a conversion of it, as to percent, and the comparison with the printed text are \
         this program's."
            .to_string(),
    );
    draft.not_said = common_limits();
    draft.not_said.push(
        "Whether the facts in the inputs are those of the document: the places are named, for a reader to compare."
            .to_string(),
    );
    Ok(draft.finish(request))
}

const NO_KIND: &str = "certificates have no claim of the kind of this value";

/// The certificate of each row, or the reason why it has none; `None` if its kind has none.
fn certificates(rows: &[Row], request: &Request) -> Result<Vec<Option<std::result::Result<Number, String>>>> {
    let of_row = |at: usize| {
        let row = &rows[at];
        if !certified::has_certificate(&row.published) {
            return Ok(None);
        }
        let file = format!("{}-{}", at + 1, slug(&row.published.id));
        let found: Result<Certificate> = certified::of_value(&row.published, request.digits.min(12));
        match found {
            Ok(certificate) => Ok(Some(Ok(Number::of_certificate(certificate, &file, false)))),
            Err(error) if error.is_fatal() => Err(error),
            Err(error) => Ok(Some(Err(reason(error)))),
        }
    };
    parallel::try_map_indices(rows.len(), of_row)
}

fn statement(rows: &[Row]) -> Vec<String> {
    let printed = verify::printed(rows);
    let mut said = vec![format!("Of {printed} printed values that were recomputed: {}.", verify::tally_in_words(rows))];
    let unexplained: Vec<&str> =
        rows.iter().filter(|row| row.is_unexplained()).map(|row| row.published.id.as_str()).collect();
    said.push(match unexplained.as_slice() {
        [] => "Every value that differs or is disproved has its reason recorded in the inputs; the remarks give it."
            .to_string(),
        ids => format!("Without an explanation in the inputs, these do not agree: {}.", ids.join(", ")),
    });
    said.push(
        "Agrees: all of the proven enclosure lies in what the printed text stands for. Differs: none of it does. Disproved: a printed bound or statement is \
         proven wrong. Undecided: the enclosure is too wide to say. Needs-data: the value rests on data that are not at hand."
            .to_string(),
    );
    said
}

/// The erratum of a row, its note, and what else was computed.
fn remarks(row: &Row) -> Option<Vec<String>> {
    let erratum = row.published.remarks.erratum.as_ref().map(|erratum| format!("Erratum: {}", erratum.trim()));
    let note = row.published.remarks.note.as_ref().map(|note| note.trim().to_string());
    let said: Vec<String> = erratum.into_iter().chain(row.sentences()).chain(note).collect();
    (!said.is_empty()).then(|| vec![row.published.id.clone(), said.join(" ")])
}
