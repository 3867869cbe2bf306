//! Rehearsals: estimates compared with the true counts to which the noise was added, and the size of the errors.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use serde_json::{Value, json};

use super::answers::{Answer, Answers, QUANTILE, Subject};
use crate::{
    error::Result,
    io::csv_reader::Reading,
    release::schema::Schema,
    spine::{
        codes,
        csv_table::{BLOCK_NAMES, CsvTable},
    },
    topdown::{cell_columns::CellColumns, histograms::MOST},
};

/// The true counts of blocks. Confidential, unless synthetic.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// By GEOID: cells with their counts.
    of_block: HashMap<u64, Vec<(u32, u64)>>,
    cells: usize,
    /// The file, for messages.
    pub(super) file: String,
}

impl Truth {
    /// Reads a CSV in the form that `assay measure` reads: a column `block`, one for each attribute with the names of
    /// its values, and `column` with the count; a line for each nonzero cell of a block.
    pub fn read(path: &Path, schema: &Schema, column: &str, reading: Reading) -> Result<Truth> {
        let mut table = CsvTable::read(path, reading)?;
        let (block, count) = (table.column(&BLOCK_NAMES)?, table.column(&[column])?);
        let columns = CellColumns::new(&table, schema)?;
        let mut truth = Truth { of_block: HashMap::new(), cells: schema.all_cells(), file: table.file.clone() };
        let mut total: u64 = 0;
        while table.next()? {
            let geoid = codes::block(table.text(block)?).map_err(|why| table.refuse(block + 1, &why))?;
            let cell = columns.cell(&table)?;
            let records = table.whole(count, MOST)?;
            total += records;
            if total > MOST {
                return Err(table.refuse(count + 1, &format!("all counts together are more than {MOST}")));
            }
            let cells = truth.of_block.entry(geoid).or_default();
            if cells.iter().any(|(known, _)| *known == cell) {
                return Err(table.refuse(0, &format!("this cell of the block {geoid:015} occurs twice")));
            }
            cells.push((cell, records));
        }
        Ok(truth)
    }

    /// The counts of some cells only, renumbered from 0: one of two histograms.
    pub fn within(mut self, cells: std::ops::Range<usize>) -> Truth {
        for own in self.of_block.values_mut() {
            own.retain(|(cell, _)| cells.contains(&(*cell as usize)));
            own.iter_mut().for_each(|(cell, _)| *cell -= cells.start as u32);
        }
        Truth { cells: cells.len(), ..self }
    }

    /// The true histogram of some blocks.
    pub fn histogram(&self, blocks: impl Iterator<Item = u64>) -> Vec<f64> {
        self.weighted(blocks.map(|block| (block, 1.0)))
    }

    /// The sum of the true histograms of some blocks, each with its weight.
    pub fn weighted(&self, blocks: impl Iterator<Item = (u64, f64)>) -> Vec<f64> {
        let mut cells = vec![0.0; self.cells];
        for (block, weight) in blocks {
            for (cell, count) in self.of_block.get(&block).into_iter().flatten() {
                cells[*cell as usize] += weight * *count as f64;
            }
        }
        cells
    }

    /// The blocks with lines in the file.
    pub(super) fn blocks(&self) -> impl Iterator<Item = u64> {
        self.of_block.keys().copied()
    }

    /// These blocks, each with its number of records.
    pub(super) fn of_blocks(&self) -> impl Iterator<Item = (u64, u64)> {
        self.of_block.iter().map(|(block, cells)| (*block, cells.iter().map(|(_, count)| count).sum()))
    }

    /// The number of lines: one for each given cell of a block.
    pub fn lines(&self) -> usize {
        self.of_block.values().map(Vec::len).sum()
    }

    /// The true histogram of all blocks.
    pub fn whole(&self) -> Vec<f64> {
        self.histogram(self.of_block.keys().copied())
    }
}

/// The errors of the counts of one query at one level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// The number of counts.
    pub counts: u64,
    /// The sum of absolute errors.
    pub absolute: f64,
    /// The sum of errors.
    pub signed: f64,
    /// The sum of the true counts.
    pub truth: f64,
    /// The sum of the reported standard deviations.
    pub deviations: f64,
    /// The number of counts with a variance above 0, and of those whose margin covers the truth.
    pub with_margin: (u64, u64),
    /// The number of counts with a variance: integer counts have none.
    pub with_variance: u64,
    /// The number of counts that constraints fix at a value other than the truth.
    pub wrong_exact: u64,
}

/// The errors of estimates by level (`None` for areas) and query.
#[derive(Clone, Debug, Default)]
pub struct ErrorTable {
    /// The rows.
    pub rows: BTreeMap<(Option<usize>, usize), Errors>,
}

impl ErrorTable {
    /// Adds the answers of a unit or area with their true counts.
    pub fn add(&mut self, subject: &Subject, answers: &[Answer]) {
        let level = match subject {
            Subject::Unit { level, .. } => Some(*level),
            Subject::Area(_) => None,
        };
        for answer in answers {
            let row = self.rows.entry((level, answer.query)).or_default();
            let both = answer.estimates.iter().zip(&answer.variances).zip(&answer.truth);
            for ((estimate, variance), truth) in both {
                let (error, deviation) = (estimate - truth, variance.sqrt());
                row.counts += 1;
                row.absolute += error.abs();
                row.signed += error;
                row.truth += truth;
                if variance.is_nan() {
                    // An integer count.
                    continue;
                }
                row.with_variance += 1;
                row.deviations += deviation;
                if *variance > 0.0 {
                    row.with_margin.0 += 1;
                    row.with_margin.1 += u64::from(error.abs() <= deviation * QUANTILE);
                } else {
                    row.wrong_exact += u64::from(error.abs() > 1e-5);
                }
            }
        }
    }
}

/// The errors of a query at a level.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorRow {
    /// The name of the level; `area` for areas.
    pub level: String,
    /// The query.
    pub query: String,
    /// The errors of its counts.
    pub errors: Errors,
}

impl ErrorTable {
    /// The errors by level and query, with their names.
    pub fn named(&self, levels: &[String], answers: &Answers) -> Vec<ErrorRow> {
        let names = answers.names();
        let row = |((level, query), errors): (&(Option<usize>, usize), &Errors)| ErrorRow {
            level: level.map_or("area".to_string(), |level| levels[level].clone()),
            query: names[*query].to_string(),
            errors: *errors,
        };
        self.rows.iter().map(row).collect()
    }
}

impl ErrorRow {
    /// A sum over the counts, divided by their number.
    pub fn mean(&self, sum: f64) -> f64 {
        sum / self.errors.counts as f64
    }

    /// The mean absolute error over the mean true count; `None` if all are zero.
    pub fn relative(&self) -> Option<f64> {
        (self.errors.truth > 0.0).then(|| self.errors.absolute / self.errors.truth)
    }

    /// The mean standard deviation; `None` for whole counts.
    pub fn deviation(&self) -> Option<f64> {
        let counts = self.errors.with_variance;
        (counts > 0).then(|| self.errors.deviations / counts as f64)
    }

    /// The share of margins that contain the truth; `None` if constraints fix everything.
    pub fn coverage(&self) -> Option<f64> {
        let (all, hold) = self.errors.with_margin;
        (all > 0).then(|| hold as f64 / all as f64)
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "level": self.level,
            "query": self.query,
            "counts": self.errors.counts,
            "mean_absolute_error": self.mean(self.errors.absolute),
            "relative_error": self.relative(),
            "bias": self.mean(self.errors.signed),
            "mean_std_dev": self.deviation(),
            "coverage_95": self.coverage(),
            "wrong_exact": self.errors.wrong_exact,
        })
    }
}
