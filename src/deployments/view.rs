//! A judged deployment or entry as it is shown: the same parts for both.

use super::{
    file::Headline,
    judge::{Judged, agreeing_in_words},
    origin::{EntryFacts, Group, PrintedBy, Snapshot},
    registry::{Finding, JudgedEntry},
    scale::OnScale,
    verdict::Verdict,
};
use crate::replication::verify::Row;

/// A deployment as it is shown.
#[derive(Clone, Debug)]
pub struct View {
    /// Its key, or the file of an entry.
    pub name: String,
    /// The data product.
    pub title: String,
    /// Facts by name: publisher, unit, time, neighbors, mechanism, source.
    pub facts: Vec<(&'static str, String)>,
    /// The time for which the parameters hold; `None` where it is not known.
    pub per: Option<String>,
    /// For whom the parameters hold; `None` of an entry alone.
    pub group: Option<Group>,
    /// Who printed the figures.
    pub printed_by: PrintedBy,
    /// The status, date and authors that the registry's entry states.
    pub entry: EntryFacts,
    /// Addresses: the entry at the commit that was read, and the sources.
    pub links: Vec<String>,
    /// The headline as printed.
    pub printed: Headline,
    /// Its place on the common scale.
    pub scale: Option<OnScale>,
    /// The verdict.
    pub verdict: Verdict,
    /// Its reasons.
    pub reasons: Vec<String>,
    /// Remarks.
    pub remarks: Vec<String>,
    /// The facts that a proof would need and the source lacks.
    pub missing: Vec<String>,
    /// Each figure that was checked.
    pub checks: Vec<Check>,
}

/// A checked figure.
#[derive(Clone, Debug)]
pub struct Check {
    /// The name of the figure, or its place in the source.
    pub what: String,
    /// As printed.
    pub printed: String,
    /// As computed, or the argument.
    pub computed: String,
    /// How.
    pub how: String,
    /// The word of its verdict.
    pub verdict: String,
}

impl View {
    /// Who printed the figures, in words, with the status of an entry.
    pub fn printer(&self) -> String {
        match (self.printed_by, &self.entry.status) {
            (PrintedBy::Registry, Some(status)) => format!("{} ({status})", self.printed_by.said()),
            (printed_by, _) => printed_by.said().to_string(),
        }
    }

    /// A fact by its name.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|(known, _)| *known == name).map(|(_, fact)| fact.as_str())
    }
}

impl From<&Judged> for View {
    fn from(judged: &Judged) -> View {
        let deployment = &judged.deployment;
        let mut facts = vec![
            ("curator", deployment.curator.clone()),
            ("unit", deployment.unit.clone()),
            ("per", deployment.per.clone()),
            ("neighbors", deployment.neighbors.clone()),
            ("mechanism", deployment.mechanism.clone()),
            ("source", deployment.source.clone()),
        ];
        facts.push(("printed by", deployment.printed_by.said().to_string()));
        facts.extend(deployment.registry.iter().map(|file| ("registry", file.clone())));
        facts.extend(deployment.entry().facts());
        let snapshot = Snapshot::bundled().ok();
        let entry = snapshot.zip(deployment.registry.as_ref()).map(|(snapshot, file)| snapshot.entry(file));
        View {
            name: deployment.name.clone(),
            title: deployment.title.clone(),
            facts,
            per: Some(deployment.per.clone()),
            group: Some(deployment.group),
            printed_by: deployment.printed_by,
            entry: deployment.entry(),
            links: entry.into_iter().chain(deployment.links.iter().cloned()).collect(),
            printed: deployment.printed(),
            scale: judged.scale.clone(),
            verdict: judged.verdict,
            reasons: judged.reasons.clone(),
            remarks: deployment.remarks.iter().chain(&judged.slips).cloned().collect(),
            missing: deployment.missing.clone(),
            checks: judged.rows.iter().map(Check::of_row).collect(),
        }
    }
}

impl EntryFacts {
    /// As facts by name.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let status = self.status.iter().map(|status| ("entry's status", status.clone()));
        let date = self.date.iter().map(|date| ("entry's date", date.clone()));
        let authors = (!self.authors.is_empty()).then(|| ("entry by", self.authors.join(", ")));
        status.chain(date).chain(authors).collect()
    }
}

impl Check {
    fn of_row(row: &Row) -> Check {
        let notes = row.published.remarks.note.iter().cloned().chain(row.sentences());
        let how = std::iter::once(row.published.asked_in_words()).chain(notes);
        Check {
            what: row.published.place.clone(),
            printed: row.published.shown(),
            computed: row.shown(),
            how: how.collect::<Vec<_>>().join(". ").replace(".. ", ". "),
            verdict: row.verdict.word().to_string(),
        }
    }

    fn of_finding(finding: &Finding) -> Check {
        let Finding { rule, field, line, verdict, words } = finding;
        Check {
            what: format!("line {line}, {field}"),
            printed: String::new(),
            computed: words.clone(),
            how: (*rule).to_string(),
            verdict: verdict.word().to_string(),
        }
    }
}

/// A slip outside of the privacy parameters, a sentence.
fn slip(finding: &Finding) -> String {
    let Finding { field, line, words, .. } = finding;
    format!("line {line}, {field}: {words}: a slip outside of the privacy parameters.")
}

impl From<&JudgedEntry> for View {
    fn from(judged: &JudgedEntry) -> View {
        let entry = &judged.entry;
        let facts = [
            ("variant", "variant_name"),
            ("unit", "privacy_unit"),
            ("model", "model_name"),
            ("releases", "release_type"),
        ];
        let fact =
            |(name, field): (&'static str, &str)| Some((name, entry.text(field)?.split('\n').next()?.to_string()));
        let facts = facts.into_iter().filter_map(fact);
        let agreeing = judged.findings.iter().filter(|finding| finding.verdict == Verdict::Agrees).count();
        let mut reasons: Vec<String> = judged
            .findings
            .iter()
            .filter(|finding| finding.verdict != Verdict::Agrees)
            .map(|finding| format!("line {}, {}: {}.", finding.line, finding.field, finding.words))
            .collect();
        if agreeing == 0 && reasons.is_empty() {
            let why =
                "No printed figure is recomputed: the rules know no calculation of one from the others of this entry.";
            reasons.push(why.to_string());
        }
        reasons.extend(agreeing_in_words(agreeing));
        let text = |field: &str| entry.text(field).map(str::to_string);
        let own = EntryFacts { status: text("status"), date: text("publication_date"), authors: Vec::new() };
        View {
            name: std::path::Path::new(&entry.file)
                .file_name()
                .map_or_else(|| entry.file.clone(), |name| name.to_string_lossy().into_owned()),
            title: entry.text("name").unwrap_or_default().to_string(),
            facts: facts.chain(own.facts()).collect(),
            per: None,
            group: None,
            printed_by: PrintedBy::Registry,
            entry: own,
            links: Vec::new(),
            printed: judged.printed.clone(),
            scale: judged.scale.clone(),
            verdict: judged.verdict,
            reasons,
            remarks: judged.slips.iter().map(slip).collect(),
            missing: judged.missing.clone(),
            checks: judged.findings.iter().map(Check::of_finding).collect(),
        }
    }
}
