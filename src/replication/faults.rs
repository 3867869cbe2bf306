//! Faults of printed texts: several values can show the same one, and it is counted once.

use std::collections::BTreeMap;

use super::{verdict::Verdict, verify::Row};

/// A fault, with the values that show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its key: that of the values, or the name of the one value.
    pub key: String,
    /// The gravest verdict on its values.
    pub verdict: Verdict,
    /// Its values, each as `paper/id`.
    pub values: Vec<String>,
}

/// The distinct faults of papers, each a key and its rows, in the order of their keys.
pub fn of_papers<'a>(papers: impl IntoIterator<Item = (&'a str, &'a [Row])>) -> Vec<Fault> {
    let mut all: BTreeMap<String, Fault> = BTreeMap::new();
    for (paper, rows) in papers {
        for row in rows {
            let Some(key) = row.fault(paper) else { continue };
            let fault = all.entry(key.clone()).or_insert(Fault { key, verdict: row.verdict, values: Vec::new() });
            if row.verdict.gravity() > fault.verdict.gravity() {
                fault.verdict = row.verdict;
            }
            fault.values.push(format!("{paper}/{}", row.published.id));
        }
    }
    all.into_values().collect()
}

/// A line for each verdict that is a fault, the gravest first: its values, and the distinct faults of which it is the gravest verdict, as
/// `28 disproved: 9 distinct faults`.
pub fn in_words(rows: &[&Row], faults: &[Fault]) -> Vec<String> {
    let mut verdicts: Vec<Verdict> = Verdict::ALL.into_iter().filter(|verdict| verdict.is_fault()).collect();
    verdicts.sort_by_key(|verdict| std::cmp::Reverse(verdict.gravity()));
    let line = |verdict: Verdict| {
        let values = rows.iter().filter(|row| row.verdict == verdict).count();
        let own = faults.iter().filter(|fault| fault.verdict == verdict).count();
        let faults = match own {
            0 => "all parts of faults above".to_string(),
            1 => "1 fault".to_string(),
            many => format!("{many} distinct faults"),
        };
        (values > 0).then(|| format!("{values} {}: {faults}", verdict.in_words(values)))
    };
    verdicts.into_iter().filter_map(line).collect()
}
