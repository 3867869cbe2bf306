//! `assay epsilon`: the exact epsilon at a delta, for every level and for all together.

use anyhow::Result;
use dp_assay::{
    account::{
        Account, Answer, Composition, Delta,
        conversions::{self, GaussianProfile},
    },
    numeric::Enclosure,
};
use rayon::prelude::*;
use rug::Rational;
use serde_json::{Value, json};

use super::{
    Exit,
    output::{self, exact, exact_text},
    page::Page,
    quantity,
    queries::{self, QueryRow},
    subject::{Format, Resolved, Subject},
};

/// The exact epsilon at a delta, beside what zCDP implies
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The delta at which epsilon is asked for, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: String,
    /// Also a row for each query: its noise, its share of rho, and its own epsilon
    #[arg(long)]
    queries: bool,
    #[command(flatten)]
    format: Format,
}

/// One line of the answer.
struct Line {
    name: String,
    rho: Rational,
    epsilon: Answer,
    zcdp: Enclosure,
    gdp: Enclosure,
}

impl Line {
    fn of(name: &str, composition: &Composition, epsilon: Answer, delta: &Delta, digits: u32) -> Result<Line> {
        Ok(Line {
            name: name.to_string(),
            rho: composition.rho().clone().into(),
            zcdp: conversions::zcdp_epsilon(composition.rho(), delta, digits),
            gdp: GaussianProfile::new(composition.rho().clone()).epsilon(delta, digits)?,
            epsilon,
        })
    }

    fn json(&self) -> Value {
        json!({
            "epsilon": self.epsilon.value.to_json(),
            "rho": exact(&self.rho),
            "rho_exact": self.rho.to_string(),
            "zcdp_epsilon": self.zcdp.to_json(),
            "gdp_epsilon": self.gdp.to_json(),
            "method": self.epsilon.method.to_string(),
            "status": self.epsilon.status(),
        })
    }

    fn row(&self, digits: usize) -> Vec<String> {
        let rho = Enclosure::rational(&self.rho, 64);
        vec![
            self.name.clone(),
            rho.shown(6),
            self.epsilon.value.shown(digits),
            self.zcdp.shown(6),
            output::percent_below(&self.epsilon.value, &self.zcdp),
        ]
    }
}

/// Everything that is asked for.
struct Found {
    levels: Vec<Line>,
    total: Line,
    /// The pair of block paths that decides the whole, in words.
    pair: Option<String>,
    /// Empty unless queries were asked for.
    queries: Vec<QueryRow>,
}

pub fn run(args: &Args) -> Result<Exit> {
    let delta: Delta = quantity("--delta", &args.delta)?;
    let subject = args.subject.resolve()?;
    let found = find(args, &subject, &delta)?;
    let mut page = args.format.page();
    put_data(&mut page, &subject, &delta, &found);
    put_tables(&mut page, args, &subject, &delta, &found);
    page.print()?;
    Ok(Exit::Done)
}

fn find(args: &Args, subject: &Resolved, delta: &Delta) -> Result<Found> {
    let total_name = if subject.levels.is_empty() { "composition" } else { "all composed" };
    let digits = args.format.digits;
    let level =
        |(name, part): &(String, Composition)| Line::of(name, part, part.epsilon(delta, digits)?, delta, digits);
    let whole = || -> Result<(Line, Option<String>)> {
        let epsilon = subject.whole.epsilon(delta, digits)?;
        let pair = subject.deciding_pair(&epsilon);
        Ok((Line::of(total_name, &subject.total, epsilon, delta, digits)?, pair))
    };
    let (levels, whole) = rayon::join(|| subject.levels.par_iter().map(level).collect::<Result<Vec<Line>>>(), whole);
    let (levels, (total, pair)) = (levels?, whole?);
    let queries = if args.queries { queries::rows(subject, delta, digits)? } else { Vec::new() };
    Ok(Found { levels, total, pair, queries })
}

/// The answer as an object and as records.
fn put_data(page: &mut Page, subject: &Resolved, delta: &Delta, found: &Found) {
    let mut object = found.total.json();
    object["delta"] = exact(delta);
    object["neighbors"] = json!(subject.neighbors.name());
    if let Some(pair) = &found.pair {
        object["worst_pair"] = json!(pair);
    }
    output::add_levels(&mut object, found.levels.iter().map(|line| (line.name.as_str(), line.json())));
    if !found.queries.is_empty() {
        object["queries"] = found.queries.iter().map(QueryRow::json).collect();
    }
    page.object(object);
    let lines = found.levels.iter().chain([&found.total]);
    page.records(lines.map(|line| output::named(&line.name, line.json())));
    page.records(found.queries.iter().map(QueryRow::json));
}

/// The answer to be read.
fn put_tables(page: &mut Page, args: &Args, subject: &Resolved, delta: &Delta, found: &Found) {
    let (title, relation) = (&subject.title, subject.neighbors.name());
    page.text(format!("{title}\n{relation} neighbors, delta = {}\n\n", exact_text(delta)));
    let lines: Vec<&Line> = found.levels.iter().chain([&found.total]).collect();
    let rows = lines.iter().map(|line| line.row(args.format.shown())).collect();
    page.table(&["", "rho", "epsilon", "zCDP (Bun-Steinke)", "lower by"], rows);
    if !found.queries.is_empty() {
        page.text("\n");
        let rows = found.queries.iter().map(|query| query.cells(args.format.shown())).collect();
        page.table_of_pairs(&QueryRow::HEADING, rows);
    }
    if let Some(pair) = &found.pair {
        page.text(format!("\nThe whole is that of {pair}.\n"));
    }
    let queries = found.queries.iter().map(|query| (query.name.as_str(), &query.epsilon));
    page.say_wider(lines.iter().map(|line| (line.name.as_str(), &line.epsilon)).chain(queries));
    // An enclosure that is wider than asked may be shown by its middle.
    let certified = if lines.iter().all(|line| line.epsilon.met) {
        "epsilon is certified: the truth differs from what is shown by at most one unit in the last digit.\n"
    } else {
        "epsilon is certified: between both ends, which --json gives.\n"
    };
    page.text(format!(
        "\n{certified}zCDP (Bun-Steinke): rho + 2 sqrt(rho ln(1/delta)), as the Census Bureau published.\n"
    ));
}
