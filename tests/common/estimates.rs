//! Files of estimates, row by row, their columns by name.

// Each test uses only a part.
#![allow(dead_code)]

use std::collections::HashMap;

/// A row: its cells by heading, without a suffix in parentheses.
pub struct Row(HashMap<String, String>);

impl Row {
    /// A cell; empty if there is no such column.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// A number.
    pub fn number(&self, name: &str) -> f64 {
        self.get(name).parse().unwrap_or_else(|_| panic!("{name}: {:?}", self.get(name)))
    }

    /// The number of the cell.
    pub fn cell(&self) -> usize {
        self.get("cell").parse().unwrap()
    }

    /// Some cells joined by commas.
    pub fn key(&self, names: &[&str]) -> String {
        names.iter().map(|name| self.get(name)).collect::<Vec<_>>().join(",")
    }
}

/// All rows of a file.
pub fn rows(text: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let plain =
        |heading: &str| heading.split(" (insecure").next().unwrap().split(" (misfit").next().unwrap().to_string();
    let headings: Vec<String> = reader.headers().unwrap().iter().map(plain).collect();
    let row = |record: csv::StringRecord| Row(headings.iter().cloned().zip(record.iter().map(String::from)).collect());
    reader.records().map(|record| row(record.unwrap())).collect()
}
