//! The subject of a memo's certificate: it ends with its counts and the name of its file, so that no certificate stands for another one.

use super::claim::Claim;
use crate::{
    error::{Error, Result},
    loss::law::Group,
};

/// Stands after the counts where the mechanism may be more private than the account, as with a guarantee: no sentence about the mechanism follows from the lower end.
const FROM_ABOVE: &str = ", an upper bound";

impl Claim {
    /// Ends the subject with the numbers of its counts, one for each noise, and the name of the file that a memo writes: a checker refuses the certificate in another file.
    /// `is_upper_bound` says that the mechanism may be more private: then no checker lets a sentence follow from the lower end.
    #[doc(hidden)]
    pub fn name(&mut self, file: &str, is_upper_bound: bool) {
        let mark = if is_upper_bound { FROM_ABOVE } else { "" };
        self.subject = format!("{}{}", self.subject, self.end(mark, file));
    }

    /// This end for a file.
    fn end(&self, mark: &str, file: &str) -> String {
        let counts = |path: &Vec<Group>| path.iter().map(|group| group.copies).sum::<u64>();
        let counts: Vec<u64> = self.paths.groups.iter().map(counts).collect();
        let text = match &self.paths.groups[..] {
            [path] if !self.paths.pairs => {
                path.iter().map(|group| group.copies.to_string()).collect::<Vec<_>>().join(" + ") + " counts"
            }
            paths => format!(
                "{} to {} counts on each of {} paths{}",
                counts.iter().min().unwrap_or(&0),
                counts.iter().max().unwrap_or(&0),
                paths.len(),
                if self.paths.pairs { ", in pairs" } else { "" }
            ),
        };
        format!(": {text}{mark} [{file}]")
    }

    /// An error for a subject that names another file than this one, or other counts.
    pub(super) fn check_name(&self, file: &str) -> Result<()> {
        let is_end = |end: &str| end.starts_with(|first: char| first.is_ascii_digit()) && end.contains(" counts");
        let is_named =
            self.subject.ends_with(".json]") && self.subject.rsplit_once(": ").is_some_and(|(_, end)| is_end(end));
        let mark = if self.subject.contains(&format!("{FROM_ABOVE} [")) { FROM_ABOVE } else { "" };
        let end = self.end(mark, file);
        if is_named && !self.subject.ends_with(&end) {
            return Err(Error::conflict(format!(
                "the subject does not end with the counts of the claim and the name of the file, {:?}: the file was renamed, or its claim is another one",
                &end[2..]
            )));
        }
        Ok(())
    }
}
