//! The subject of a memo's certificate: it ends with its counts and the name of its file, so that no certificate stands for another one.

use super::claim::Claim;
use crate::{
    error::{Error, Result},
    loss::law::Group,
};

impl Claim {
    /// Ends the subject with the numbers of its counts, one for each noise, and the name of the file that a memo writes: a checker refuses the certificate in another file.
    pub(crate) fn name(&mut self, file: &str) {
        self.subject = format!("{}{}", self.subject, self.end(file));
    }

    /// This end for a file.
    fn end(&self, file: &str) -> String {
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
        format!(": {text} [{file}]")
    }

    /// An error for a subject that names another file than this one, or other counts.
    pub(super) fn check_name(&self, file: &str) -> Result<()> {
        let is_end = |end: &str| end.starts_with(|first: char| first.is_ascii_digit()) && end.contains(" counts");
        let is_named =
            self.subject.ends_with(".json]") && self.subject.rsplit_once(": ").is_some_and(|(_, end)| is_end(end));
        let end = self.end(file);
        if is_named && !self.subject.ends_with(&end) {
            return Err(Error::conflict(format!(
                "the subject does not end with the counts of the claim and the name of the file, {:?}: the file was renamed, or its claim is another one",
                &end[2..]
            )));
        }
        Ok(())
    }
}
