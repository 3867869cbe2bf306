//! The certificate of a run as a page in Markdown, for a person to read.

use std::fmt::{Result, Write};

use super::{
    certificate::{TabulationCertificate, name, parameter, stages},
    guarantees::Guarantees,
    output::Written,
};
use crate::{
    numeric::{Enclosure, rational},
    safetab::schema::Privacy,
};

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
        writeln!(page, "\nMade by assay {}, draw {}.", env!("CARGO_PKG_VERSION"), self.draw.0)
    }

    fn is_zcdp(&self) -> bool {
        self.privacy == Privacy::ZeroConcentrated
    }

    /// What the numbers of the page mean.
    fn write_heading(&self, page: &mut String) -> Result {
        let (delta, unit) = (rational::display(self.delta), self.unit().replace('_', " "));
        writeln!(page, "# Privacy certificate of a SafeTab-P release\n")?;
        if let Some(seed) = self.insecure_seed {
            writeln!(page, "**INSECURE: the noise follows from seed {seed}. Nobody is protected by this release.**\n")?;
        }
        let mut budget = rational::display(&self.total.unbounded.budget);
        if budget.contains('/') {
            budget = Enclosure::rational(&self.total.unbounded.budget, 64).shown(10);
        }
        writeln!(page, "Noise: {}, exact. Budget: {unit} = {budget}.", self.law())?;
        if self.is_zcdp() {
            writeln!(
                page,
                "Every epsilon is at delta = {delta}. \"exact\" is the smallest epsilon that the noise has, proven;"
            )?;
            writeln!(page, "\"by zCDP\" is zCDP (Bun-Steinke), rho + 2 sqrt(rho ln(1/delta)).")?;
        } else {
            writeln!(
                page,
                "\"exact\" is the smallest epsilon at delta = {delta}, proven; at delta = 0 it is the budget."
            )?;
        }
        writeln!(page, "Unbounded: one person's record is added or removed. Bounded: one record is changed.\n")?;
        if self.draw.1 > 0 {
            writeln!(
                page,
                "**This is draw {}. Each of the {} before it has spent its own budget too, if anybody saw it: the whole then is \
                 up to {} times the budget.**\n",
                self.draw.0,
                self.draw.1,
                self.draw.1 + 1
            )?;
        }
        Ok(())
    }

    /// Budget and epsilons of every level, of every pass, and of the run.
    fn write_guarantees(&self, page: &mut String) -> Result {
        let unit = self.unit().replace('_', " ");
        let zcdp = self.is_zcdp();
        let (heading, rule) = if zcdp { (" by zCDP |", " ---: |") } else { ("", "") };
        writeln!(page, "| | {unit} | exact, unbounded |{heading} exact, bounded |{heading}")?;
        writeln!(page, "| --- | ---: | ---: |{rule} ---: |{rule}")?;
        let mut line = |name: &str, guarantees: &Guarantees| {
            write!(page, "| {name} | {} |", rational::display(&guarantees.unbounded.budget))?;
            for guarantee in [&guarantees.unbounded, &guarantees.bounded] {
                write!(page, " {} |", shown(guarantee.epsilon.as_ref()))?;
                if zcdp {
                    write!(page, " {} |", shown(guarantee.zcdp_epsilon.as_ref()))?;
                }
            }
            writeln!(page)
        };
        for pass in &self.passes {
            for (level, guarantees) in &pass.levels {
                line(&format!("{} level {}", level.region_type, level.level), guarantees)?;
            }
            line(&format!("**{}**", name(pass.pass)), &pass.guarantees)?;
        }
        line("**Whole run**", &self.total)
    }

    /// Noise and margins of error of every level.
    fn write_margins(&self, page: &mut String) -> Result {
        writeln!(
            page,
            "\nMargins of error: the smallest m with P[|noise| <= m] >= 95 %, of one noisy count. T1 totals and sexes of"
        )?;
        writeln!(page, "groups with ages are sums of noisy cells, with wider margins.\n")?;
        let parameter_name = if self.is_zcdp() { "sigma2" } else { "epsilon" };
        writeln!(
            page,
            "| | s | groups | {parameter_name}: one total | stage 1 | stage 2 | margin: one total | stage 1 | stage 2 | suppressed up to |"
        )?;
        writeln!(page, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")?;
        for (level, _) in self.passes.iter().flat_map(|pass| &pass.levels) {
            write!(page, "| {} level {} | {} | {} |", level.region_type, level.level, level.stability, level.groups())?;
            for (_, noise) in stages(level) {
                write!(page, " {} |", rational::display(parameter(noise).1))?;
            }
            for (_, noise) in stages(level) {
                write!(page, " {} |", noise.margin)?;
            }
            match level.suppression {
                None => writeln!(page, " none |")?,
                Some([_, threshold]) => writeln!(page, " {threshold} |")?,
            }
        }
        Ok(())
    }

    /// The inputs and what was written.
    fn write_files(&self, page: &mut String) -> Result {
        writeln!(page, "\nPublic inputs, SHA-256:\n")?;
        for (role, hash) in self.inputs {
            writeln!(page, "- {role}: `{hash}`")?;
        }
        writeln!(
            page,
            "\nThe persons' files have no hash here: whoever guesses a file could check the guess by it.\n\nWritten:\n"
        )?;
        for pass in &self.passes {
            let Written { totals, cells, coterminous, .. } = pass.written;
            writeln!(
                page,
                "- {}: {totals} rows of T1, {cells} of T2; {coterminous} groups have the counts of a coterminous one",
                name(pass.pass)
            )?;
        }
        Ok(())
    }
}

fn shown(value: Option<&Enclosure>) -> String {
    value.map_or_else(|| "-".to_string(), |value| value.shown(8))
}
