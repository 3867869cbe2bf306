//! A place and its variance: rows of the files of `assay spine` and `assay estimate`.

use std::path::Path;

use anyhow::{Result, bail};
use dp_assay::{
    chart::{Axis, Ink, Series},
    csv_reader::CsvTable,
    document::Table,
};
use serde_json::{Map, Value, json};

use super::super::{
    ask::Question,
    parts::{Parts, chart, table},
};
use crate::cli::report::charts::of_levels;

/// The files with variances, and the commands that write them.
const FILES: [(&str, &str); 2] = [("entities.csv", "assay spine"), ("totals.csv", "assay estimate")];
/// The largest number of rows that is shown.
const MOST: usize = 50;

/// A file of places.
pub struct Places {
    file: &'static str,
    by: &'static str,
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The request about places.
#[derive(clap::Args)]
struct Search {
    /// A part of a name, a kind or a GEOID.
    #[arg(long)]
    search: String,
}

/// The files of a folder that have variances.
pub fn read(folder: &Path) -> Result<Vec<Places>> {
    let mut all = Vec::new();
    for (file, by) in FILES {
        let path = folder.join(file);
        if !path.is_file() {
            continue;
        }
        let mut table = CsvTable::open(&path)?;
        let heading = table.headings().to_vec();
        if !heading.iter().any(|name| name.starts_with("variance")) {
            bail!("{}: no column of variances: {by} writes this file", dp_assay::error::shown(&path));
        }
        let mut rows = Vec::new();
        while table.next()? {
            let cells = (0..heading.len()).map(|at| table.text(at).map(String::from));
            rows.push(cells.collect::<dp_assay::Result<Vec<_>>>()?);
        }
        all.push(Places { file, by, heading, rows });
    }
    if all.is_empty() {
        bail!(
            "{}: neither entities.csv of assay spine nor totals.csv of assay estimate",
            dp_assay::error::shown(folder)
        );
    }
    Ok(all)
}

impl Places {
    /// Columns that name a place.
    fn names(&self) -> Vec<usize> {
        let is_name = |name: &String| ["kind", "entity", "level", "geoid"].contains(&name.as_str());
        self.heading.iter().enumerate().filter(|(_, name)| is_name(name)).map(|(at, _)| at).collect()
    }

    /// The rows of which each word is part of a name.
    fn find(&self, words: &[String]) -> Vec<&Vec<String>> {
        let names = self.names();
        let has = |row: &&Vec<String>| {
            let known: Vec<String> =
                names.iter().filter_map(|at| row.get(*at)).map(|name| name.to_lowercase()).collect();
            words.iter().all(|word| known.iter().any(|name| name.contains(word)))
        };
        self.rows.iter().filter(has).collect()
    }
}

/// The name of a column on the page.
fn in_words(column: &str) -> &str {
    match column {
        "geoid" => "GEOID",
        "osed_before" => "units to make it, on the census spine",
        "osed_after" => "on this spine",
        "estimate_approx" => "estimate, about",
        "variance_approx" => "variance, about",
        "variance_upper" => "variance, at most",
        "margin_95_approx" => "margin, 95 %, about",
        "count" => "rounded count",
        other => other,
    }
}

impl Places {
    fn column(&self, name: &str) -> Option<usize> {
        self.heading.iter().position(|column| column == name)
    }

    /// The drawn width: the margin if the file has it, otherwise the standard deviation in the square root of its unit of variance.
    fn width(&self, row: &[String]) -> Option<f64> {
        let number = |name: &str| row.get(self.column(name)?)?.parse::<f64>().ok().filter(|value| value.is_finite());
        match self.column("margin_95_approx") {
            Some(_) => number("margin_95_approx"),
            None => number("variance_approx").or_else(|| number("variance_upper")).map(f64::sqrt),
        }
    }

    /// The name of a row.
    fn name(&self, row: &[String]) -> String {
        let names = self.names().into_iter().filter_map(|at| row.get(at)).map(String::as_str);
        let mut words: Vec<&str> = Vec::new();
        // A GEOID often repeats the entity.
        for name in names.filter(|name| !name.is_empty()) {
            if !words.iter().any(|word| word.replace(':', "") == name) {
                words.push(name);
            }
        }
        words.join(" ")
    }

    /// One place in a sentence.
    fn said(&self, row: &[String]) -> String {
        let cell = |name: &str| self.column(name).and_then(|at| row.get(at)).filter(|cell| !cell.is_empty());
        let variance = cell("variance_approx").or_else(|| cell("variance_upper"));
        let margin = cell("margin_95_approx")
            .map(|margin| format!(": in 95 of 100 cases it is off by no more than about {margin}"));
        let variance = variance.map(String::as_str).unwrap_or("no");
        format!("The estimate of {} has a variance of {variance}{}.", self.name(row), margin.unwrap_or_default())
    }

    /// The margins of the first shown rows.
    fn chart(&self, rows: &[Vec<String>]) -> Option<Result<Value>> {
        // More lines would overlap.
        const LINES: usize = 12;
        let shown: Vec<(String, f64)> =
            rows.iter().take(LINES).filter_map(|row| Some((self.name(row), self.width(row)?))).collect();
        let most = shown.iter().map(|(_, width)| *width).fold(0.0, f64::max);
        if shown.is_empty() || most <= 0.0 {
            return None;
        }
        let has_margins = self.column("margin_95_approx").is_some();
        let label = if has_margins { "margin of error, 95 %" } else { "standard deviation, in the file's unit" };
        let axis = Axis::linear(label, 0.0, 1.05 * most);
        let names = shown.iter().map(|(name, _)| name.as_str());
        let widths = shown.iter().map(|(_, width)| *width);
        let figure = of_levels(names, axis, vec![Series::of_rows(self.by, Ink::Blue, widths)]);
        let stem = self.file.trim_end_matches(".csv");
        let rest = if rows.len() > LINES { format!(", the first {LINES} rows of the table") } else { String::new() };
        let caption = format!("How far the estimate of each place may be from the truth: {label}{rest}.");
        Some(chart(&figure, stem, &format!("{label} of the places in {}", self.file), &caption))
    }
}

/// The places of which each word of the search is part of a name.
pub fn places(all: &[Places], question: &Question) -> Result<Parts> {
    if all.is_empty() {
        bail!("places are searched in the folder of a spine or of estimates: start the page with --spine DIR");
    }
    let search: Search = question.args()?;
    let words: Vec<String> = search.search.split_whitespace().map(str::to_lowercase).collect();
    let mut answer = Map::new();
    // The rows are those of the files.
    let mut parts = Parts { command: Some(String::new()), ..Parts::default() };
    parts.assumed.push(
        "The margin of a place is 1.96 standard deviations of its estimate; numbers with \"about\" are approximations."
            .to_string(),
    );
    for places in all {
        let found = places.find(&words);
        parts.said.push(match found.as_slice() {
            [one] => places.said(one),
            many => format!(
                "{} of {} rows of {}, which {} wrote, have {:?}.",
                many.len(),
                places.rows.len(),
                places.file,
                places.by,
                search.search
            ),
        });
        if found.len() > MOST {
            parts.notes.push(format!(
                "The first {MOST} rows of {} are shown: give more of the name or the GEOID.",
                places.file
            ));
        }
        let shown: Vec<Vec<String>> = found.into_iter().take(MOST).cloned().collect();
        let object = |row: &Vec<String>| -> Value {
            let cells = places.heading.iter().zip(row);
            cells.map(|(name, cell)| (name.clone(), json!(cell))).collect::<Map<String, Value>>().into()
        };
        answer.insert(places.file.to_string(), shown.iter().map(object).collect());
        parts.charts.extend(places.chart(&shown).transpose()?);
        let heading: Vec<&str> = places.heading.iter().map(|name| in_words(name)).collect();
        let caption = format!("{}: variances and margins of estimates, as {} wrote them.", places.file, places.by);
        parts.tables.push(table(&Table::numbers(caption, &heading, shown)));
    }
    parts.records = answer.values().filter_map(Value::as_array).flatten().cloned().collect();
    parts.answer = Value::Object(answer);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_part_of_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        assert!(read(folder.path()).is_err());
        write(
            "entities.csv",
            "kind,entity,geoid,blocks,variance_approx,margin_95_approx\nPlace,1,4400001,4,1.5e0,2\nMCD,12,440001,4,1,2\n",
        );
        write("totals.csv", "level,unit,geoid,estimate_approx,variance_upper\nCounty,0,44001,10,3\n");
        let places = read(folder.path()).unwrap();
        let count = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            places.iter().map(|places| places.find(&words).len()).collect::<Vec<usize>>()
        };
        assert_eq!(count(&["4400"]), [2, 1]);
        assert_eq!(count(&["place", "44"]), [1, 0]);
        let row = &places[0].rows[0];
        assert_eq!(places[0].name(row), "Place 1 4400001");
        assert_eq!(places[0].width(row), Some(2.0));
        let said = places[0].said(row);
        assert!(said.contains("variance of 1.5e0") && said.contains("about 2."), "{said}");
        // Without margins, standard deviations.
        assert_eq!(places[1].width(&places[1].rows[0]), Some(3_f64.sqrt()));
        assert!(places[1].chart(&places[1].rows).unwrap().unwrap()["svg"].as_str().unwrap().contains("<svg"));
        assert!(places[1].chart(&[]).is_none());
        // A number column is no name.
        assert_eq!(count(&["1.5e0"]), [0, 0]);
        write("totals.csv", "level,unit\nCounty,0\n");
        assert!(read(folder.path()).err().unwrap().to_string().contains("totals.csv"));
        write("totals.csv", "level,variance_upper\nCounty\n");
        assert!(read(folder.path()).is_err());
    }
}
