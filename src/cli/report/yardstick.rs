//! The epsilon of a report among those of published deployments: words, a chart, a table and records.

use dp_assay::{
    account::Delta,
    chart::{Axis, Figure, Ink, Series},
    deployments::{
        Yardstick,
        yardstick::{Mark, Unit},
    },
    document::Table,
    numeric::Enclosure,
    release::subject::Resolved,
};
use serde_json::{Value, json};

use super::{
    super::output::{exact, exact_text},
    charts::of_levels,
};

/// The name of the row of the page itself.
const HERE: &str = "this page";
/// The most rows of a panel.
const MOST: usize = 11;

/// The unit of a record, by the names of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum UnitName {
    Person,
    Household,
    PersonDay,
    Event,
    Establishment,
}

impl From<UnitName> for Unit {
    fn from(name: UnitName) -> Unit {
        match name {
            UnitName::Person => Unit::Person,
            UnitName::Household => Unit::Household,
            UnitName::PersonDay => Unit::PersonDay,
            UnitName::Event => Unit::Event,
            UnitName::Establishment => Unit::Establishment,
        }
    }
}

/// The epsilon of the page.
pub struct Here<'e> {
    /// Its enclosure.
    pub epsilon: &'e Enclosure,
    /// Whether it is an upper bound: the mechanism may be more private.
    pub is_bound: bool,
}

impl<'e> Here<'e> {
    /// That of a subject.
    pub fn of_subject(subject: &Resolved, epsilon: &'e Enclosure) -> Here<'e> {
        Here { epsilon, is_bound: subject.may_be_more_private().is_some() }
    }

    /// As a cell of the table.
    fn shown(&self) -> String {
        match self.is_bound {
            true => format!("<= {}", self.epsilon.upper_text(6)),
            false => self.epsilon.shown(6),
        }
    }
}

/// The place of an epsilon, and its next smaller and larger ones. Of a bound it is the place of the bound.
pub fn said(yardstick: &Yardstick, here: &Here, delta: &Delta) -> Vec<String> {
    let Here { epsilon, is_bound } = here;
    let place = yardstick.place(epsilon);
    let known = yardstick.marks.len();
    let same = match place.same {
        0 => String::new(),
        same => format!(", with the same {same}"),
    };
    let mut said = vec![format!(
        "Of {known} published deployments about {}, the number with a smaller epsilon{} at delta = {} is {}{same}, and \
         with a larger one {}, by what is published about them.",
        yardstick.unit.in_words(),
        if *is_bound { " than the upper bound of this page" } else { "" },
        exact_text(delta),
        place.smaller,
        place.larger
    )];
    let of = |mark: &Mark| format!("{} ({})", mark.name, mark.scale.epsilon_text());
    let smaller = yardstick.marks.iter().rfind(|mark| mark.side(epsilon).is_lt()).map(of);
    let larger = yardstick.marks.iter().find(|mark| mark.side(epsilon).is_gt()).map(of);
    let next = match (smaller, larger) {
        (Some(smaller), Some(larger)) => format!("The next smaller one is {smaller}, the next larger one {larger}."),
        (Some(smaller), None) => format!("The next smaller one is {smaller}."),
        (None, Some(larger)) => format!("The next larger one is {larger}."),
        (None, None) => return said,
    };
    said.push(next);
    said
}

/// The rows from the smallest to the largest: a deployment, or `None` for this page.
fn rows<'y>(yardstick: &'y Yardstick, epsilon: &Enclosure) -> Vec<Option<&'y Mark>> {
    let before = yardstick.marks.iter().filter(|mark| mark.side(epsilon).is_lt()).count();
    let mut rows: Vec<Option<&Mark>> = yardstick.marks.iter().map(Some).collect();
    rows.insert(before.min(rows.len()), None);
    rows
}

/// All of them on one logarithmic axis.
pub fn chart(yardstick: &Yardstick, here: &Here, delta: &Delta) -> Figure {
    let epsilon = here.epsilon;
    let rows = rows(yardstick, epsilon);
    let value = |row: &Option<&Mark>| match row {
        Some(mark) => mark.most().to_f64(),
        None => epsilon.upper().to_f64(),
    };
    // An epsilon of zero has no place on a logarithmic axis.
    let drawn: Vec<&Option<&Mark>> = rows.iter().filter(|row| value(row) > 0.0).collect();
    let values = || drawn.iter().map(|row| value(row));
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let (least, most) = if most > 0.0 { (least, most) } else { (0.1, 1.0) };
    let label = format!("epsilon at delta = {}", exact_text(delta));
    let is = |row: &Option<&Mark>, exact: bool| row.is_some_and(|mark| mark.scale.is_exact == exact);
    let panels = drawn.chunks(drawn.len().div_ceil(drawn.len().div_ceil(MOST).max(1)).max(1)).flat_map(|chunk| {
        let places = |is_drawn: &dyn Fn(&Option<&Mark>) -> bool| {
            let all = chunk.iter().enumerate().filter(|(_, row)| is_drawn(row));
            all.map(|(place, row)| (value(row), place as f64)).collect()
        };
        let series = vec![
            Series::dots("at most, by what is published", Ink::Vermillion, places(&|row| is(row, false))),
            Series::dots("exact", Ink::Blue, places(&|row| is(row, true))),
            Series::dots(HERE, Ink::Black, places(&|row| row.is_none())),
        ];
        let names: Vec<&str> = chunk.iter().map(|row| row.map_or(HERE, |mark| mark.name.as_str())).collect();
        of_levels(names.into_iter(), Axis::log(&label, least / 1.5, most * 1.5), series).panels
    });
    Figure { title: String::new(), panels: panels.collect(), columns: 1 }
}

/// The numbers of the axis as a table.
pub fn table(yardstick: &Yardstick, here: &Here, delta: &Delta) -> Table {
    let row = |row: Option<&Mark>| match row {
        Some(mark) => {
            vec![mark.name.clone(), mark.scale.epsilon_text(), mark.neighbors.clone(), mark.curator.clone()]
        }
        None => vec![HERE.to_string(), here.shown(), String::new(), String::new()],
    };
    let caption = format!(
        "Epsilon at delta = {}, the smallest first. <=: an upper bound by what is published or declared; without a sign: exact.",
        exact_text(delta)
    );
    // The number first: a narrow screen shows the first columns.
    let heading = ["", "epsilon", "neighbors", "curator"];
    Table::numbers(caption, &heading, rows(yardstick, here.epsilon).into_iter().map(row).collect())
}

/// The assumptions.
pub fn assumed(yardstick: &Yardstick) -> Vec<String> {
    let of_one = match yardstick.unit {
        Unit::Person => {
            "It is one of a person, as those beside it are, only if a record holds everything that a person contributes; of a household, a day, an event or an establishment it has no place \
             among them (--unit names another unit)."
                .to_string()
        }
        unit => format!("It has a place among those beside it only if a record holds everything about {}.", unit.in_words()),
    };
    let mut assumed = vec![
        format!("The epsilon of this page is that of one record. {of_one}"),
        "A part of a deployment, such as the tables of persons of a release, is not beside the whole.".to_string(),
        "Neighbor relations differ: replacing a record counts for more than adding one.".to_string(),
        "A smaller published epsilon is no requirement: how much privacy is needed depends on the data and on what else is known.".to_string(),
    ];
    if !yardstick.silent.is_empty() {
        assumed.push(format!(
            "From what is published about these, no epsilon at this delta follows: {}.",
            yardstick.silent.join(", ")
        ));
    }
    assumed
}

/// As an object.
pub fn object(yardstick: &Yardstick, here: &Here) -> Value {
    let place = yardstick.place(here.epsilon);
    let mark = |mark: &Mark| {
        json!({
            "name": mark.name,
            "curator": mark.curator,
            "neighbors": mark.neighbors,
            "epsilon": mark.scale.epsilon,
            "exact": mark.scale.is_exact,
            "printed": mark.scale.as_printed.as_ref().map(exact),
        })
    };
    json!({
        "unit": yardstick.unit.in_words(),
        "smaller": place.smaller,
        "same": place.same,
        "larger": place.larger,
        "deployments": yardstick.marks.iter().map(mark).collect::<Value>(),
        "silent": yardstick.silent,
    })
}
