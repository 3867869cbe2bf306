//! `assay calibrate --p-table "?"`: a perturbation table with the largest entropy for a variance and a bound.

use std::{fmt::Write as _, sync::Arc};

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::{Account, Answer, Counts, Delta, Epsilon},
    document::fields::Fields,
    law::Law,
    noise::{Design, DesignedRow},
    numeric::{Certainty, Enclosure},
};
use rug::{Integer, Rational, ops::Pow};
use serde_json::{Value, json};

use super::Args;
use crate::cli::{
    arguments::{first_given, number, optional},
    exit::Exit,
    output::{exact, exact_text},
    subject::{Resolved, heading, law_notes, of_infinite_loss, of_relation},
};

/// Decimals of probabilities, as in the exports of the R package ptable.
const DECIMALS: u32 = 8;
/// The last row of a table by keys.
const LAST_ROW: u64 = 750;
/// Decimals of the variances that are tried, unless others are given.
const VARIANCE_DECIMALS: u32 = 2;

/// A table, and the account of the mechanism with it.
struct Designed {
    design: Design,
    rows: Vec<DesignedRow>,
    subject: Resolved,
    /// Its delta at the epsilon of the promise, or at 0.
    delta: Answer,
    /// Whether the promise is kept, if there is one.
    keeps: Option<Certainty>,
}

/// The promise, if there is one.
struct Promised {
    epsilon: Epsilon,
    delta: Delta,
}

impl Args {
    /// Whether a table is to be designed. An error where some of what it needs is missing.
    pub(super) fn designs(&self) -> Result<bool> {
        match (self.subject.designed_text(), self.design.bound) {
            (None, None) => Ok(false),
            (None, Some(_)) => {
                bail!(
                    "--bound: is about a table that is designed: write ? in place of its file, as in --p-table \"?x3\""
                )
            }
            (Some(text), None) => {
                bail!(
                    "--p-table {text}: a table is designed: give --bound D, and --variance V or --epsilon with --delta"
                )
            }
            (Some(_), Some(_)) => Ok(true),
        }
    }

    pub(super) fn run_designed(&self) -> Result<Exit> {
        let given = [
            ("--ledger", self.of_ledger.is_given()),
            ("--match", self.match_.is_some()),
            ("--match-curve", self.match_curve.is_some()),
            ("--per-level", self.per_level),
            ("--scale-all", self.scale_all),
            ("--queries", self.queries),
            ("--crossings", self.crossings),
            ("--advantage, --beta, --posterior", self.risk.is_given()),
            ("--out", self.out.is_some()),
            ("--svg", self.drawn.svg.is_some()),
        ];
        if let Some(option) = first_given(given) {
            bail!("{option}: has no place beside a table that is designed");
        }
        let (epsilon, delta) = (optional("--epsilon", &self.epsilon)?, optional("--delta", &self.delta)?);
        let promised = epsilon.zip(delta).map(|(epsilon, delta)| Promised { epsilon, delta });
        if promised.is_none() && (self.epsilon.is_some() || self.delta.is_some()) {
            bail!("--epsilon and --delta are one promise: give both, or none of them");
        }
        let mut page = self.drawn.page(&self.format)?;
        let variance = self.design.variance.as_ref().map(|text| number("--variance", text)).transpose()?;
        let (designed, not_enough) = match (variance, &promised) {
            (Some(variance), _) => {
                if self.decimals.is_some() {
                    bail!("--decimals: is the grid of variances where none is given");
                }
                (self.designed(variance, promised.as_ref())?, None)
            }
            (None, None) => {
                bail!("--bound: give --variance V as well, or the privacy to keep by --epsilon and --delta")
            }
            (None, Some(promised)) => match self.least_variance(promised)? {
                Some(found) => found,
                None => {
                    let most = exact_text(&Design::most_variance(self.bound()));
                    page.answer(Fields::new().with("found", Value::Null).with("proven", false));
                    page.text(format!(
                        "of the variances up to {most}, the largest that noise within {} can use, none that was tried keeps the promise; the count 0 is published as it is, so that delta is at least the \
                         probability of a published value above 0 for the count 1\n",
                        self.bound()
                    ));
                    return page.answered(false);
                }
            },
        };
        let is_kept = designed.keeps.is_none_or(|keeps| keeps == Certainty::Yes);
        let is_sought = self.design.variance.is_none();
        let mut answer = designed.fields(promised.as_ref(), self.format.digits);
        if is_sought {
            let found = exact(&designed.design.variance);
            answer =
                answer.with("found", found).with("not_enough", not_enough.as_ref().map(exact)).with("proven", true);
        }
        page.answer(answer.and(of_relation(&designed.subject)));
        page.text(heading(&designed.subject, ""));
        let digits = self.format.shown();
        page.table(
            &["count", "published", "mean", "variance", "entropy"],
            designed.rows.iter().map(|row| cells(row, digits)),
        );
        page.text(designed.in_words(promised.as_ref(), not_enough.as_ref(), is_sought));
        page.lines(&law_notes(&designed.subject));
        page.note(designed.subject.note());
        page.say_wider([("delta", &designed.delta)]);
        if let Some(path) = &self.design.table_out {
            dp_assay::chart::write_page(path, &designed.text(self.design.key_count)).context("--table-out")?;
        }
        page.answered(is_kept)
    }

    fn bound(&self) -> u64 {
        self.design.bound.unwrap_or_default()
    }

    /// The table for this variance, and the account with it.
    fn designed(&self, variance: Rational, promised: Option<&Promised>) -> Result<Designed> {
        let text = self.subject.designed_text().unwrap_or_default();
        let denominator = self.design.key_count.unwrap_or(10_u64.pow(DECIMALS));
        let blocked = self.design.blocked.unwrap_or(0);
        let design = Design { variance, bound: self.bound(), blocked, denominator };
        let rows = design.rows()?;
        let table = design.table("the designed table")?;
        // Its count and shift are written as those of any law.
        let like = Counts::parse("pure", &format!("1{}", text.trim_start_matches('?'))).context("--p-table")?;
        let mut counts = Counts::new(Law::Perturbation(Arc::new(table)), like.count, like.shift)?;
        if text.contains("@=") {
            counts = counts.exactly()?;
        }
        let subject = self.subject.described_beside(&text, counts)?.resolve()?;
        let zero = || Epsilon::new(Rational::new());
        let epsilon = promised.map_or_else(zero, |promised| Ok(promised.epsilon.clone()))?;
        let delta = subject.whole.delta(epsilon, self.format.digits)?;
        let keeps = promised.map(|promised| delta.value.at_most(&promised.delta));
        Ok(Designed { design, rows, subject, delta, keeps })
    }

    /// The table of a variance of the grid that keeps the promise, where the next smaller one does not: that variance, unless counts cannot have it. `None` where the
    /// largest does not keep it.
    fn least_variance(&self, promised: &Promised) -> Result<Option<(Designed, Option<Rational>)>> {
        let grid = Integer::from(10).pow(self.decimals.unwrap_or(VARIANCE_DECIMALS));
        let at = |k: &Integer| Rational::from((k.clone(), grid.clone()));
        let keeps = |k: &Integer| -> Option<Designed> {
            let designed = self.designed(at(k), Some(promised)).ok()?;
            (designed.keeps == Some(Certainty::Yes)).then_some(designed)
        };
        let most = (Design::most_variance(self.bound()) * &grid).floor().into_numer_denom().0;
        // What is refused for the largest variance is refused for all.
        self.designed(at(&most), Some(promised))?;
        let Some(mut found) = keeps(&most) else { return Ok(None) };
        let (mut below, mut above) = (Integer::new(), most);
        while Integer::from(&above - &below) > 1 {
            let middle = Integer::from(&above + &below) / 2_u32;
            match keeps(&middle) {
                Some(designed) => (found, above) = (designed, middle),
                None => below = middle,
            }
        }
        let before = Some(below).filter(|below| *below > 0).map(|below| at(&below));
        Ok(Some((found, before)))
    }
}

impl Designed {
    fn fields(&self, promised: Option<&Promised>, digits: u32) -> Fields {
        let row = |row: &DesignedRow| {
            let shares = row
                .shares
                .iter()
                .map(|(value, share)| json!([value, exact(&Rational::from((*share, self.design.denominator)))]));
            Fields::new()
                .with("count", row.count)
                .with("mean", exact(&row.mean))
                .with("variance", exact(&row.variance))
                .with("entropy_approx", row.entropy_approx)
                .with("probabilities", shares.collect::<Vec<_>>())
        };
        let zero = Rational::new();
        let epsilon = promised.map_or(&zero, |promised| &promised.epsilon);
        let keeps = self.keeps.map(|keeps| keeps == Certainty::Yes);
        Fields::new()
            .with("variance", exact(&self.design.variance))
            .with("bound", self.design.bound)
            .with("blocked", self.design.blocked)
            .with("epsilon", exact(epsilon))
            .with("delta", &self.delta.value)
            .with("target_delta", promised.map(|promised| exact(&promised.delta)))
            .with("keeps", keeps)
            .with("rows", self.rows.iter().map(row).collect::<Vec<_>>())
            .with("status", self.delta.status())
            .and(of_infinite_loss(self.subject.whole.infinite_loss(), digits))
    }

    fn in_words(&self, promised: Option<&Promised>, not_enough: Option<&Rational>, is_sought: bool) -> String {
        let delta = self.delta.value.upper_text(6);
        let mut said = String::from("\n");
        let _ = match (promised, self.keeps) {
            (Some(promised), Some(keeps)) => {
                let (epsilon, target) = (exact_text(&promised.epsilon), exact_text(&promised.delta));
                let kept = if keeps == Certainty::Yes { "keeps" } else { "does not keep" };
                writeln!(said, "delta at epsilon = {epsilon} is at most {delta}: this {kept} ({epsilon}, {target}).")
            }
            _ => writeln!(said, "delta at epsilon = 0, the advantage of an adversary, is at most {delta}."),
        };
        let variance = exact_text(&self.design.variance);
        if let Some(not_enough) = not_enough {
            let not_enough = exact_text(not_enough);
            let _ = writeln!(
                said,
                "variance {variance} was found; {not_enough}, the next smaller of the grid, is not enough, or no table has it."
            );
        } else if is_sought {
            let _ = writeln!(said, "variance {variance} was found, the smallest of the grid.");
        }
        said + "entropy: in bits, approximately. mean and variance are those of the rounded probabilities, exactly.\n"
    }

    /// The table as a file: probabilities as ptable exports them, or keys.
    fn text(&self, key_count: Option<u64>) -> String {
        if key_count.is_some() { self.keyed() } else { self.exported() }
    }

    fn exported(&self) -> String {
        let decimal = |share: u64| {
            let (whole, rest) = (share / self.design.denominator, share % self.design.denominator);
            format!("{whole}.{rest:0width$}", width = DECIMALS as usize)
        };
        let mut text = String::from("i;j;p;v;p_int_ub\n");
        for row in &self.rows {
            let mut sum = 0;
            for (value, share) in &row.shares {
                sum += share;
                let noise = *value as i64 - row.count as i64;
                let _ = writeln!(text, "{};{value};{};{noise};{}", row.count, decimal(*share), decimal(sum));
            }
        }
        text
    }

    /// Each count from 1 to 750, with the noise of the last row beyond it.
    fn keyed(&self) -> String {
        let mut text = String::from("pcv,ckey,pvalue\n");
        for count in 1..=LAST_ROW {
            let Some(row) = self.rows.get(count as usize).or_else(|| self.rows.last()) else { continue };
            let noise = row
                .shares
                .iter()
                .flat_map(|(value, share)| std::iter::repeat_n(*value as i64 - row.count as i64, *share as usize));
            for (key, noise) in noise.enumerate() {
                let _ = writeln!(text, "{count},{key},{noise}");
            }
        }
        text
    }
}

/// The cells of a row.
fn cells(row: &DesignedRow, digits: usize) -> Vec<String> {
    let values: Vec<String> = row.shares.iter().map(|(value, _)| value.to_string()).collect();
    let shown = |value: &Rational| Enclosure::rational(value, 64).shown(digits.min(6));
    vec![
        row.count.to_string(),
        values.join(" "),
        shown(&row.mean),
        shown(&row.variance),
        format!("{:.4}", row.entropy_approx),
    ]
}
