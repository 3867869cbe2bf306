//! The rows of perturbation tables that decide an answer: of all choices of two rows for each cell, those with the largest delta.

use super::{
    Account, Composition, Counts, Epsilon,
    directions::{Choice, Rows, choices},
};
use crate::{
    error::Result,
    law::{Direction, Group, Law, Rounding},
};

/// Digits of the deltas that are compared.
const DIGITS: u32 = 12;

/// The rows that decide an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidingRows {
    /// Those of all cells.
    pub rows: Vec<Rows>,
    /// Whether the records are removed or added.
    pub direction: Direction,
    /// Whether all choices of rows were compared; else only those that are the same for all equal cells.
    pub are_all_compared: bool,
}

impl DecidingRows {
    /// In words, as in "the counts 0 and 1 of cells.csv, on removal"; `None` where not all choices were compared.
    pub fn in_words(&self) -> Option<String> {
        let one = |rows: &Rows| {
            let [i, with] = rows.counts;
            let cells = if rows.cells == 1 { String::new() } else { format!(" in {} cells", rows.cells) };
            let entered = if rows.is_entered { " (entered)" } else { "" };
            format!("the counts {i} and {with} of {}{cells}{entered}", rows.table)
        };
        let all: Vec<String> = self.rows.iter().map(one).collect();
        let moved = match self.direction {
            Direction::Remove => "removal",
            Direction::Add => "addition",
        };
        self.are_all_compared.then(|| format!("{}, on {moved}", all.join(" and ")))
    }
}

impl Composition {
    /// The rows of perturbation tables with the largest delta at epsilon, the first of several; `None` where no count has such a table.
    pub fn deciding_rows(&self, epsilon: &Epsilon) -> Result<Option<DecidingRows>> {
        let has_rows = |counts: &Counts| matches!(counts.law, Law::Perturbation(_));
        if !self.counts().iter().any(has_rows) {
            return Ok(None);
        }
        let terms: Vec<Group> = (self.counts().iter())
            .map(|counts| Group { law: counts.law.clone(), shift: counts.shift, copies: counts.count })
            .collect();
        let (all, are_all_compared) = choices(&terms, Rounding::Up)?;
        let mut largest = None;
        // The last choice is the first row of every count.
        for Choice { terms, rows } in all.into_iter().rev() {
            let counts = terms.into_iter().map(|term| Counts::new(term.law, term.copies, term.shift)?.exactly());
            let way = Composition::new(counts.collect::<Result<Vec<_>>>()?)?.until(self.stop());
            let [remove, add] = match way.delta_of_directions(epsilon, DIGITS)? {
                Some(both) => both.map(|one| one.value),
                None => {
                    let one = way.delta(epsilon, DIGITS)?.value;
                    [one.clone(), one]
                }
            };
            for (direction, value) in [(Direction::Remove, remove), (Direction::Add, add)] {
                if largest
                    .as_ref()
                    .is_none_or(|(most, ..): &(crate::numeric::Enclosure, _)| value.lower() > most.upper())
                {
                    largest = Some((value, DecidingRows { rows: rows.clone(), direction, are_all_compared }));
                }
            }
        }
        Ok(largest.map(|(_, deciding)| deciding))
    }
}
