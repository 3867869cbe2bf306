//! The certificate of a run as a text.

use super::{
    certificate::TabulationCertificate,
    certified_level::{CertifiedLevel, parameter},
    guarantees::Guarantees,
    levels::CountNoise,
};
use crate::{
    document::{Block, Table, text},
    numeric::{Enclosure, rational},
    safetab::schema::Privacy,
};

/// The largest number of groups that an example names.
const SHOWN_GROUPS: usize = 12;

impl TabulationCertificate<'_> {
    /// The certificate as a text in Markdown.
    pub fn page(&self) -> Vec<Block> {
        let version = env!("CARGO_PKG_VERSION");
        let made = match self.draw {
            Some(draw) => format!("Made by assay {version}, draw {draw}."),
            None => format!("Made by assay {version}. Nothing was drawn, and nothing is spent."),
        };
        [self.heading(), self.table_of_guarantees(), self.margins(), self.files(), vec![text(made)]].concat()
    }

    fn is_zcdp(&self) -> bool {
        self.privacy == Privacy::ZeroConcentrated
    }

    /// The meaning of the numbers on the page.
    fn heading(&self) -> Vec<Block> {
        let (delta, unit) = (rational::display(self.delta), self.unit().replace('_', " "));
        let what = if self.draw.is_some() { "Privacy certificate" } else { "Planned budget" };
        let mut blocks = vec![Block::Heading(1, format!("{what} of a {} release", self.algorithm))];
        blocks.extend(self.insecure_seed.map(|seed| {
            let followed = format!("INSECURE: the noise follows from seed {seed}.");
            Block::Strong(format!("{followed} Nobody is protected by this release."))
        }));
        let mut budget = rational::display(&self.total.unbounded.budget);
        if budget.contains('/') {
            budget = Enclosure::rational(&self.total.unbounded.budget, 64).shown(10);
        }
        let account = match self.is_zcdp() {
            true => "\"zCDP (Bun-Steinke)\" is rho + 2 sqrt(rho ln(1/delta)).",
            false => "At delta = 0 it is the budget.",
        };
        let whose = if self.of_households { "household" } else { "person" };
        blocks.push(text(format!(
            "Noise: {}, exact. Budget: {unit} = {budget}.\n\
             Every epsilon is at delta = {delta}, proven: the smallest that the noise has, which somebody has;\n\
             or \"at most\", an upper bound, if nobody is known who is in the largest number of groups of every level at once.\n\
             {account}\n\
             Unbounded: one {whose}'s record is added or removed. Bounded: one record is changed.",
            self.law()
        )));
        if let (Some(draw), Some(said)) = (self.draw, self.earlier.in_words(self.unit(), None)) {
            blocks.push(Block::Strong(format!("This is draw {draw}. {said}")));
        }
        blocks
    }

    /// The budget and the epsilons of every level, of every pass, and of the run.
    fn table_of_guarantees(&self) -> Vec<Block> {
        let unit = self.unit().replace('_', " ");
        let zcdp = self.is_zcdp().then_some("zCDP (Bun-Steinke)");
        let heading = ["", &unit, "epsilon, unbounded"].into_iter().chain(zcdp);
        let heading: Vec<&str> = heading.chain(["epsilon, bounded"]).chain(zcdp).collect();
        let mut table = Table::numbers("", &heading, Vec::new());
        let mut line = |name: &str, guarantees: &Guarantees, is_whole: bool| {
            let mut row = vec![name.to_string(), rational::display(&guarantees.unbounded.budget)];
            for guarantee in [&guarantees.unbounded, &guarantees.bounded] {
                row.push(guarantee.epsilon_shown(8));
                row.extend(zcdp.map(|_| shown(guarantee.zcdp_epsilon.as_ref())));
            }
            table.strong.extend(is_whole.then_some(table.rows.len()));
            table.rows.push(row);
        };
        for pass in &self.passes {
            pass.levels.iter().for_each(|(level, guarantees)| line(&level.name(), guarantees, false));
            line(&pass.name, &pass.guarantees, true);
        }
        line("Whole run", &self.total, true);
        let example = self.total.unbounded.example.iter().flatten().next().filter(|groups| !groups.is_empty());
        let example = example.map(|groups| {
            let mut named: Vec<&str> = Vec::new();
            groups.iter().for_each(|group| {
                if !named.contains(&group.as_str()) {
                    named.push(group)
                }
            });
            let more = if named.len() > SHOWN_GROUPS { " and others" } else { "" };
            named.truncate(SHOWN_GROUPS);
            let named = named.join(", ");
            text(format!("The epsilon of the whole run, unbounded, is that of somebody in: {named}{more}."))
        });
        [Block::Table(table)].into_iter().chain(example).collect()
    }

    /// The noise and the margins of error of every level.
    fn margins(&self) -> Vec<Block> {
        let name = if self.is_zcdp() { "sigma2" } else { "epsilon" };
        let mut blocks = vec![text(
            "Margins of error: the smallest m with P[|noise| <= m] >= 95 %, of one noisy count. Totals and\nother sums of noisy cells have wider ones.",
        )];
        if !self.of_households {
            // For n > t + m the suppressed noise, N <= t - n < -m, is outside of the margin: P[|N| <= m | N > t - n] >= P[|N| <= m].
            blocks.push(text(
                "A group that is suppressed to a total of t is published only if its noisy total is above t. A margin m of that\ntotal \
                 then holds with at least 95 % for groups of t + m + 1 people or more, and with less for some smaller ones.",
            ));
            blocks.push(text(format!(
                "Columns of {name} and margin: a group published as a total only; stage 1; stage 2."
            )));
        }
        let kinds: &[&str] = match self.of_households {
            true => &[": T3", "T4", "margin: T3", "T4", "groups by T3", "by T4"],
            false => &["", "stage 1", "stage 2", "margin", "stage 1", "stage 2", "suppressed to"],
        };
        let mut heading = [&["", "s", "groups"][..], kinds].concat().into_iter().map(String::from).collect::<Vec<_>>();
        heading[3] = format!("{name}{}", kinds[0]);
        let row = |(level, _): &(&dyn CertifiedLevel, Guarantees)| {
            let noise = level.counts();
            let shown = |show: fn(&CountNoise) -> String| {
                noise.iter().map(|(_, noise)| noise.map_or("not run".to_string(), show)).collect::<Vec<String>>()
            };
            let parameters = shown(|noise| rational::display(parameter(noise).1));
            let margins = shown(|noise| noise.margin.to_string());
            let first = vec![level.name(), level.stability().to_string(), level.groups().to_string()];
            [first, parameters, margins, level.last_columns()].concat()
        };
        let rows = self.passes.iter().flat_map(|pass| &pass.levels).map(row).collect();
        blocks.push(Block::Table(Table::numbers("", &heading, rows)));
        blocks
    }

    /// The inputs and the rows written.
    fn files(&self) -> Vec<Block> {
        let inputs = self.inputs.iter().map(|(role, hash)| format!("{role}: `{hash}`")).collect();
        let mut blocks = vec![
            text("Public inputs, SHA-256:"),
            Block::List(inputs),
            text("The records' files have no hash here: with it, a guess of a file could be checked."),
        ];
        let note = |(key, value): &(&str, serde_json::Value)| {
            text(format!("{}: {}", key.replace('_', " "), value.to_string().trim_matches('"')))
        };
        blocks.extend(self.notes.iter().map(note));
        let written = self.passes.iter().filter_map(|pass| {
            let written = pass.written.as_ref()?;
            let rows: Vec<String> =
                written.rows.iter().map(|(table, rows)| format!("{rows} rows of {}", shown_name(table))).collect();
            let replaced = match written.coterminous {
                Some(1) => "; 1 group takes its counts from a coterminous one".to_string(),
                Some(count) => format!("; {count} groups take their counts from a coterminous one"),
                None => String::new(),
            };
            Some(format!("{}: {}{replaced}", pass.name, rows.join(", ")))
        });
        let written: Vec<String> = written.collect();
        if !written.is_empty() {
            blocks.extend([text("Written:"), Block::List(written)]);
        }
        blocks
    }
}

/// The name of a table: T1 and T2 are folders in small letters.
fn shown_name(table: &str) -> String {
    if matches!(table, "t1" | "t2") { table.to_uppercase() } else { table.to_string() }
}

fn shown(value: Option<&Enclosure>) -> String {
    value.map_or_else(|| "-".to_string(), |value| value.shown(8))
}
