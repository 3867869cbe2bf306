//! Unmatched keys of a file. A table that is joined to units by their codes has no effect where no code matches. So
//! unmatched keys are counted and named, and the file is refused if all or most keys are unmatched.

use crate::error::{Error, Result};

/// The keys of a file, and the unmatched ones.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// The file.
    pub file: String,
    /// The number of keys.
    pub all: usize,
    /// The unmatched keys, with their lines; 0 for a key without a line.
    pub lost: Vec<(u64, String)>,
}

/// The number of keys named in a message.
const NAMED: usize = 3;

impl Keys {
    /// The message about unmatched keys: `what` they are, `where_to` they do not belong. An error if all or most are
    /// unmatched.
    pub fn judged(mut self, what: &str, where_to: &str) -> Result<Option<String>> {
        if self.lost.is_empty() {
            return Ok(None);
        }
        self.lost.sort();
        let shown: Vec<&str> = self.lost.iter().take(NAMED).map(|(_, key)| key.as_str()).collect();
        let first = if self.lost.len() > NAMED { ", the first are" } else { ":" };
        let said = format!("{} of {} {what} {where_to}{first} {}", self.lost.len(), self.all, shown.join(", "));
        if 2 * self.lost.len() <= self.all {
            return Ok(Some(said));
        }
        let line = self.lost.first().map_or(0, |(line, _)| *line as usize);
        Err(Error::DataFile { file: self.file, line, column: 0, why: said })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_unmatched_keys_are_named_and_most_are_refused() {
        let keys = |all: usize, lost: usize| {
            let lost = (1..=lost).map(|at| (at as u64 + 1, format!("k{at}"))).collect();
            Keys { file: "p.csv".into(), all, lost }
        };
        assert_eq!(keys(4, 0).judged("counts", "belong nowhere").unwrap(), None);
        let said = keys(4, 2).judged("counts", "belong nowhere").unwrap();
        assert_eq!(said.as_deref(), Some("2 of 4 counts belong nowhere: k1, k2"));
        let said = keys(9, 4).judged("counts", "belong nowhere").unwrap();
        assert_eq!(said.as_deref(), Some("4 of 9 counts belong nowhere, the first are k1, k2, k3"));
        let why = keys(5, 3).judged("counts", "belong nowhere").unwrap_err().to_string();
        assert_eq!(why, "p.csv, line 2: 3 of 5 counts belong nowhere: k1, k2, k3");
        assert!(keys(1, 1).judged("counts", "belong nowhere").is_err());
    }
}
