//! The certificate of a run as a page in Markdown.

use std::fmt::{Result, Write};

use super::{
    certificate::TabulationCertificate, certified_level::parameter, guarantees::Guarantees, levels::CountNoise,
};
use crate::{
    numeric::{Enclosure, rational},
    safetab::schema::Privacy,
};

/// The largest number of groups that an example names.
const SHOWN_GROUPS: usize = 12;

impl TabulationCertificate<'_> {
    /// The certificate as a page in Markdown.
    pub fn page(&self) -> String {
        let mut page = String::new();
        // Writing to a String cannot fail.
        let _ = self.write_page(&mut page);
        page
    }

    fn write_page(&self, page: &mut String) -> Result {
        self.write_heading(page)?;
        self.write_guarantees(page)?;
        self.write_margins(page)?;
        self.write_files(page)?;
        let version = env!("CARGO_PKG_VERSION");
        match self.draw {
            Some(draw) => writeln!(page, "\nMade by assay {version}, draw {draw}."),
            None => writeln!(page, "\nMade by assay {version}. Nothing was drawn, and nothing is spent."),
        }
    }

    fn is_zcdp(&self) -> bool {
        self.privacy == Privacy::ZeroConcentrated
    }

    /// The meaning of the numbers on the page.
    fn write_heading(&self, page: &mut String) -> Result {
        let (delta, unit) = (rational::display(self.delta), self.unit().replace('_', " "));
        let algorithm = self.algorithm;
        match self.draw {
            Some(_) => writeln!(page, "# Privacy certificate of a {algorithm} release\n")?,
            None => writeln!(page, "# Planned budget of a {algorithm} release\n")?,
        }
        if let Some(seed) = self.insecure_seed {
            writeln!(page, "**INSECURE: the noise follows from seed {seed}. Nobody is protected by this release.**\n")?;
        }
        let mut budget = rational::display(&self.total.unbounded.budget);
        if budget.contains('/') {
            budget = Enclosure::rational(&self.total.unbounded.budget, 64).shown(10);
        }
        writeln!(page, "Noise: {}, exact. Budget: {unit} = {budget}.", self.law())?;
        writeln!(
            page,
            "Every epsilon is at delta = {delta}, proven: the smallest that the noise has, which somebody has;"
        )?;
        writeln!(
            page,
            "or \"at most\", an upper bound, if nobody is known who is in the largest number of groups of every level at once."
        )?;
        match self.is_zcdp() {
            true => writeln!(page, "\"zCDP (Bun-Steinke)\" is rho + 2 sqrt(rho ln(1/delta)).")?,
            false => writeln!(page, "At delta = 0 it is the budget.")?,
        }
        let whose = if self.of_households { "household" } else { "person" };
        writeln!(page, "Unbounded: one {whose}'s record is added or removed. Bounded: one record is changed.\n")?;
        if let (Some(draw), Some(said)) = (self.draw, self.earlier.in_words(self.unit(), None)) {
            writeln!(page, "**This is draw {draw}. {said}**\n")?;
        }
        Ok(())
    }

    /// The budget and the epsilons of every level, of every pass, and of the run.
    fn write_guarantees(&self, page: &mut String) -> Result {
        let unit = self.unit().replace('_', " ");
        let zcdp = self.is_zcdp();
        let (heading, rule) = if zcdp { (" zCDP (Bun-Steinke) |", " ---: |") } else { ("", "") };
        writeln!(page, "| | {unit} | epsilon, unbounded |{heading} epsilon, bounded |{heading}")?;
        writeln!(page, "| --- | ---: | ---: |{rule} ---: |{rule}")?;
        let mut line = |name: &str, guarantees: &Guarantees| {
            write!(page, "| {name} | {} |", rational::display(&guarantees.unbounded.budget))?;
            for guarantee in [&guarantees.unbounded, &guarantees.bounded] {
                write!(page, " {} |", guarantee.epsilon_shown(8))?;
                if zcdp {
                    write!(page, " {} |", shown(guarantee.zcdp_epsilon.as_ref()))?;
                }
            }
            writeln!(page)
        };
        for pass in &self.passes {
            for (level, guarantees) in &pass.levels {
                line(&level.name(), guarantees)?;
            }
            line(&format!("**{}**", pass.name), &pass.guarantees)?;
        }
        line("**Whole run**", &self.total)?;
        let example = self.total.unbounded.example.iter().flatten().next().filter(|groups| !groups.is_empty());
        if let Some(groups) = example {
            let mut named: Vec<&str> = Vec::new();
            groups.iter().for_each(|group| {
                if !named.contains(&group.as_str()) {
                    named.push(group)
                }
            });
            let more = if named.len() > SHOWN_GROUPS { " and others" } else { "" };
            named.truncate(SHOWN_GROUPS);
            writeln!(
                page,
                "\nThe epsilon of the whole run, unbounded, is that of somebody in: {}{more}.",
                named.join(", ")
            )?;
        }
        Ok(())
    }

    /// The noise and the margins of error of every level.
    fn write_margins(&self, page: &mut String) -> Result {
        writeln!(
            page,
            "\nMargins of error: the smallest m with P[|noise| <= m] >= 95 %, of one noisy count. Totals and"
        )?;
        writeln!(page, "other sums of noisy cells have wider ones.\n")?;
        let parameter_name = if self.is_zcdp() { "sigma2" } else { "epsilon" };
        let kinds = match self.of_households {
            true => ": T3 | T4 | margin: T3 | T4 | groups by T3 | by T4 |",
            false => " | stage 1 | stage 2 | margin | stage 1 | stage 2 | suppressed to |",
        };
        if !self.of_households {
            // For n > t + m the suppressed noise, N <= t - n < -m, is outside of the margin: P[|N| <= m | N > t - n] >= P[|N| <= m].
            writeln!(
                page,
                "A group that is suppressed to a total of t is published only if its noisy total is above t. A margin m of that\ntotal \
                 then holds with at least 95 % for groups of t + m + 1 people or more, and with less for some smaller ones.\n"
            )?;
            writeln!(
                page,
                "Columns of {parameter_name} and margin: a group published as a total only; stage 1; stage 2.\n"
            )?;
        }
        writeln!(page, "| | s | groups | {parameter_name}{kinds}")?;
        writeln!(page, "| --- |{}", " ---: |".repeat(2 + kinds.matches('|').count()))?;
        for (level, _) in self.passes.iter().flat_map(|pass| &pass.levels) {
            let (stability, groups, noise, rest) =
                (level.stability(), level.groups(), level.counts(), level.last_columns());
            write!(page, "| {} | {stability} | {groups} |", level.name())?;
            let shown = |show: fn(&CountNoise) -> String| {
                noise.iter().map(move |(_, noise)| noise.map_or("not run".to_string(), show)).collect::<Vec<String>>()
            };
            let parameters = shown(|noise| rational::display(parameter(noise).1));
            let margins = shown(|noise| noise.margin.to_string());
            writeln!(page, " {} | {} | {rest} |", parameters.join(" | "), margins.join(" | "))?;
        }
        Ok(())
    }

    /// The inputs and the rows written.
    fn write_files(&self, page: &mut String) -> Result {
        writeln!(page, "\nPublic inputs, SHA-256:\n")?;
        for (role, hash) in self.inputs {
            writeln!(page, "- {role}: `{hash}`")?;
        }
        writeln!(page, "\nThe records' files have no hash here: with it, a guess of a file could be checked.")?;
        for (key, value) in &self.notes {
            writeln!(page, "\n{}: {}", key.replace('_', " "), value.to_string().trim_matches('"'))?;
        }
        if self.passes.iter().any(|pass| pass.written.is_some()) {
            writeln!(page, "\nWritten:\n")?;
        }
        for pass in &self.passes {
            let Some(written) = &pass.written else { continue };
            let rows: Vec<String> =
                written.rows.iter().map(|(table, rows)| format!("{rows} rows of {}", shown_name(table))).collect();
            write!(page, "- {}: {}", pass.name, rows.join(", "))?;
            match written.coterminous {
                Some(1) => writeln!(page, "; 1 group takes its counts from a coterminous one")?,
                Some(count) => writeln!(page, "; {count} groups take their counts from a coterminous one")?,
                None => writeln!(page)?,
            }
        }
        Ok(())
    }
}

/// The name of a table: T1 and T2 are folders in small letters.
fn shown_name(table: &str) -> String {
    if matches!(table, "t1" | "t2") { table.to_uppercase() } else { table.to_string() }
}

fn shown(value: Option<&Enclosure>) -> String {
    value.map_or_else(|| "-".to_string(), |value| value.shown(8))
}
