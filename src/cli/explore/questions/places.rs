//! A place and its variance: the rows of the files that `assay spine` and `assay estimate` wrote.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::super::{ask::Question, parts::Parts};

/// The files that have variances, and who writes them.
const FILES: [(&str, &str); 2] = [("entities.csv", "assay spine"), ("totals.csv", "assay estimate")];
/// So many rows are shown at most.
const MOST: usize = 50;

/// A file of places.
pub struct Places {
    file: &'static str,
    by: &'static str,
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// What is asked of places.
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
        let mut reader = csv::Reader::from_path(&path).with_context(|| path.display().to_string())?;
        let heading: Vec<String> =
            reader.headers().with_context(|| path.display().to_string())?.iter().map(String::from).collect();
        if !heading.iter().any(|name| name.starts_with("variance")) {
            bail!("{}: no column of variances: {by} writes this file", path.display());
        }
        let row = |record: csv::Result<csv::StringRecord>| -> Result<Vec<String>> {
            Ok(record.with_context(|| path.display().to_string())?.iter().map(String::from).collect())
        };
        let rows = reader.records().map(row).collect::<Result<_>>()?;
        all.push(Places { file, by, heading, rows });
    }
    if all.is_empty() {
        bail!("{}: neither entities.csv of assay spine nor totals.csv of assay estimate", folder.display());
    }
    Ok(all)
}

impl Places {
    /// Columns by which a place is known.
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

/// The places of which each word of the search is part of a name.
pub fn places(all: &[Places], question: &Question) -> Result<Parts> {
    if all.is_empty() {
        bail!("places are searched in the folder of a spine or of estimates: start the page with --spine DIR");
    }
    let search: Search = question.args()?;
    let words: Vec<String> = search.search.split_whitespace().map(str::to_lowercase).collect();
    let (mut tables, mut answer, mut said, mut notes) = (Vec::new(), Map::new(), Vec::new(), Vec::new());
    for places in all {
        let found = places.find(&words);
        said.push(format!(
            "{} of {} rows of {}, which {} wrote, have {:?}.",
            found.len(),
            places.rows.len(),
            places.file,
            places.by,
            search.search
        ));
        if found.len() > MOST {
            notes.push(format!(
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
        let heading: Vec<&str> = places.heading.iter().map(String::as_str).collect();
        let caption = format!("{}: variances and margins of estimates, as {} wrote them.", places.file, places.by);
        tables.push(json!({ "caption": caption, "heading": heading, "rows": shown, "has_whole": false, "red": [] }));
    }
    let records = answer.values().filter_map(Value::as_array).flatten().cloned().collect();
    Ok(Parts {
        answer: Value::Object(answer),
        records,
        said,
        tables,
        notes,
        assumed: vec!["The margin of a place is 1.96 standard deviations of its estimate; names with `approx` are approximations.".to_string()],
        // The rows are those of the files.
        command: Some(String::new()),
        ..Parts::default()
    })
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
        // What stands in a column of numbers is no name.
        assert_eq!(count(&["1.5e0"]), [0, 0]);
        write("totals.csv", "level,unit\nCounty,0\n");
        assert!(read(folder.path()).err().unwrap().to_string().contains("totals.csv"));
        write("totals.csv", "level,variance_upper\nCounty\n");
        assert!(read(folder.path()).is_err());
    }
}
