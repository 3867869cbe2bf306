//! Judged deployments as an answer: tables, records and texts.

use dp_assay::{
    account::Delta,
    deployments::{
        Group, Headline, Snapshot, View,
        figure::{self, Row},
        scale::OnScale,
        verdict::{Verdict, tally_in_words},
        view::Check,
    },
    document::{Table, fields::Fields},
    numeric::Enclosure,
    provenance::Provenance,
};
use serde_json::{Value, json};

use crate::cli::{
    output::{exact, exact_text},
    page::Page,
};

/// The answer.
pub(super) struct Found {
    pub(super) views: Vec<View>,
    pub(super) delta: Delta,
    pub(super) provenance: Provenance,
    pub(super) is_of_registry: bool,
    /// The registry as it was read.
    pub(super) snapshot: Snapshot,
}

impl Found {
    pub(super) fn rows(&self) -> Vec<Row<'_>> {
        self.views
            .iter()
            .filter_map(|view| Some(Row { name: &view.name, group: view.group, scale: view.scale.as_ref()? }))
            .collect()
    }

    pub(super) fn chart(&self) -> dp_assay::chart::Figure {
        figure::chart(&self.rows(), &self.delta)
    }

    pub(super) fn tally(&self) -> String {
        tally_in_words(&self.views.iter().map(|view| view.verdict).collect::<Vec<_>>())
    }

    pub(super) fn object(&self) -> Value {
        let count = |verdict: Verdict| self.views.iter().filter(|view| view.verdict == verdict).count();
        let summary = Verdict::ALL.map(|verdict| (verdict.word().to_string(), json!(count(verdict))));
        json!({
            "delta": exact(&self.delta),
            "prior": "1/2",
            "registry": if self.is_of_registry { Value::Null } else { json!({
                "address": self.snapshot.address,
                "commit": self.snapshot.commit,
                "committed": self.snapshot.committed,
                "read": self.snapshot.read,
            }) },
            "deployments": self.views.iter().map(object).collect::<Value>(),
            "summary": summary.into_iter().collect::<Value>(),
        })
    }

    /// A row for each, and the reasons of those whose figures do not agree.
    pub(super) fn put_table(&self, page: &mut Page) {
        let row = |view: &&View| {
            let [epsilon, right] = on_scale(view);
            let per = view.per.clone().unwrap_or_else(|| "-".to_string());
            let by = view.printed_by.word().to_string();
            vec![view.name.clone(), per, view.printed.shown(), by, epsilon, right, view.verdict.in_table()]
        };
        let heading = ["name", "per", "printed", "printed by", &self.epsilon_heading(), "right of 100", "verdict"];
        for (heading_of_group, views) in self.groups() {
            page.text(heading_of_group.map_or_else(String::new, |heading| format!("{heading}:\n\n")));
            page.table(&heading.map(String::from), views.iter().map(row));
            page.text("\n".to_string());
        }
        page.text(format!("{}: {}\n", self.count(), self.tally()));
        page.text(
            "Printed by: the curator's document, a paper, or an entry of the registry, which volunteers draft and which is not the curator's word.\n\
             Right of 100: the largest number that can be right of 100 yes/no guesses about one unit at even odds, with any side knowledge (50 is blind guessing).\n\
             <=: an upper bound by what is known; without a sign: exact. Units differ, and groups are not compared with each other.\n",
        );
        page.text(self.as_of());
        for view in self.views.iter().filter(|view| view.verdict.is_wrong() || view.verdict == Verdict::Differs) {
            page.text(format!("\n{}: {}\n", view.name, view.verdict.said()));
            for reason in &view.reasons {
                page.text(format!("  {reason}\n"));
            }
        }
        let each = if self.is_of_registry { "`--from FILE`" } else { "`assay deployments NAME`" };
        page.text(format!("\n{each} shows each figure, the accounts, and what is missing.\n"));
    }

    /// The deployments by the group of their units, in its order.
    pub(super) fn groups(&self) -> Vec<(Option<&'static str>, Vec<&View>)> {
        if self.is_of_registry {
            return vec![(None, self.views.iter().collect())];
        }
        let of = |group: Group| self.views.iter().filter(|view| view.group == Some(group)).collect::<Vec<_>>();
        let all = Group::ALL.into_iter().map(|group| (Some(group.heading()), of(group)));
        all.filter(|(_, views)| !views.is_empty()).collect()
    }

    /// The day and the commit of the registry, and where to object.
    fn as_of(&self) -> String {
        let Snapshot { address, commit, committed, read, objections, .. } = &self.snapshot;
        match self.is_of_registry {
            true => String::new(),
            false => format!(
                "As of {read}: the registry at {address}, commit {} of {committed}. Objections to an entry: {objections}\n",
                commit.get(..7).unwrap_or(commit)
            ),
        }
    }

    pub(super) fn count(&self) -> String {
        let thing = if self.is_of_registry { "entries" } else { "deployments" };
        format!("{} {thing}", self.views.len())
    }

    fn epsilon_heading(&self) -> String {
        format!("epsilon at {}", exact_text(&self.delta))
    }

    /// Each deployment with its facts, figures and accounts.
    pub(super) fn put_each(&self, page: &mut Page) {
        for (place, view) in self.views.iter().enumerate() {
            let before = if place > 0 { "\n" } else { "" };
            page.text(format!("{before}{}: {}\n", view.name, view.title));
            for (name, fact) in &view.facts {
                page.text(format!("  {name}: {fact}\n"));
            }
            for link in &view.links {
                page.text(format!("  link: {link}\n"));
            }
            page.text(format!("  printed: {}\n", view.printed.shown()));
            page.text(format!("  verdict: {}\n\n", view.verdict.in_table()));
            if !view.checks.is_empty() {
                put_checks(page, view, self.is_of_registry);
            }
            put_scale(page, view);
            for (name, lines) in [("Reasons", &view.reasons), ("Remarks", &view.remarks), ("Missing", &view.missing)] {
                if !lines.is_empty() {
                    page.text(format!("\n{name}:\n"));
                    lines.iter().for_each(|line| page.text(format!("  {line}\n")));
                }
            }
        }
    }
}

fn put_checks(page: &mut Page, view: &View, is_of_registry: bool) {
    let rows = view.checks.iter();
    if is_of_registry {
        let rows = rows.map(|check| vec![check.what.clone(), check.verdict.clone(), check.computed.clone()]);
        page.columns(&["place", "verdict", "argument"], rows);
        return;
    }
    let rows = rows
        .map(|check| vec![check.what.clone(), check.printed.clone(), check.computed.clone(), check.verdict.clone()]);
    page.table(&["figure", "printed", "computed", "verdict"], rows);
}

fn put_scale(page: &mut Page, view: &View) {
    let Some(scale) = &view.scale else { return };
    let [epsilon, right] = on_scale(view);
    page.text(format!("\nepsilon at delta {}: {epsilon}, {}\n", exact_text(&scale.delta), scale.by));
    let right = right.trim_start_matches("<= ");
    page.text(format!("right at most {right} times in 100 at prior 1/2 (50 is blind guessing)\n\n"));
    page.push(accounts(scale));
}

/// The epsilon by each account.
pub(super) fn accounts(scale: &OnScale) -> Table {
    let row = |(name, epsilon): &(String, Option<Enclosure>)| {
        vec![name.clone(), epsilon.as_ref().map_or("-".to_string(), |epsilon| epsilon.shown(6))]
    };
    Table::numbers("", &["account", "epsilon"], scale.accounts.iter().map(row).collect())
}

/// Epsilon and the right decisions of a hundred, as cells.
pub(super) fn on_scale(view: &View) -> [String; 2] {
    let Some(scale) = &view.scale else { return ["-", "-"].map(String::from) };
    let epsilon = scale.epsilon_text();
    let sign = if scale.is_exact { "" } else { "<= " };
    [epsilon, format!("{sign}{}", scale.right_of_100())]
}

pub(super) fn object(view: &View) -> Value {
    let scale = view.scale.as_ref();
    let head = Fields::new().with("name", &view.name).with("title", &view.title);
    let facts = view.facts.iter().filter(|(name, _)| !name.contains(['\'', ' ']));
    let account = |(name, epsilon): &(String, Option<Enclosure>)| json!({ "name": name, "epsilon": epsilon });
    let Headline { epsilon, delta, rho, .. } = &view.printed;
    let check = |check: &Check| {
        json!({
            "what": check.what,
            "printed": check.printed,
            "computed": check.computed,
            "how": check.how,
            "verdict": check.verdict,
        })
    };
    facts
        .fold(head, |fields, (name, fact)| fields.with(*name, fact))
        .with("printed_by", view.printed_by.word())
        .with("entry_status", &view.entry.status)
        .with("entry_date", &view.entry.date)
        .with("entry_authors", &view.entry.authors)
        .with("per", &view.per)
        .with("group", view.group)
        .with("links", &view.links)
        .with("printed", json!({ "epsilon": epsilon, "delta": delta, "rho": rho }))
        .with("epsilon", scale.and_then(|scale| scale.epsilon.as_ref()))
        .with("delta", scale.map(|scale| exact(&scale.delta)))
        .with("by", scale.map(|scale| &scale.by))
        .with("exact", scale.map(|scale| scale.is_exact))
        .with("accounts", scale.into_iter().flat_map(|scale| &scale.accounts).map(account).collect::<Value>())
        .with("correct_decision", scale.map(|scale| &scale.correct))
        .with("verdict", view.verdict.word())
        .with("reasons", &view.reasons)
        .with("remarks", &view.remarks)
        .with("missing", &view.missing)
        .with("figures", view.checks.iter().map(check).collect::<Value>())
        .into()
}
