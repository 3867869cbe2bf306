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
    page::{Form, Page},
    quantity,
    queries::{self, QueryRow},
    subject::{self, Format, Resolved, Subject},
};

/// The exact epsilon at a delta, beside what zCDP implies
#[derive(clap::Args)]
pub struct Args {
    /// What is accounted for.
    #[command(flatten)]
    pub subject: Subject,
    /// The delta at which epsilon is asked for, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: String,
    /// Also a row for each query: its noise, its share of rho, and its own epsilon
    #[arg(long)]
    queries: bool,
    #[command(flatten)]
    format: Format,
}

/// A part of the subject, or the whole, with its epsilons.
pub struct Line {
    /// What it is.
    pub name: String,
    /// What it spends.
    pub rho: Rational,
    /// The exact epsilon.
    pub epsilon: Answer,
    /// Epsilon by zCDP (Bun-Steinke).
    pub zcdp: Enclosure,
    /// Epsilon by GDP, where it is wanted: it takes longer than all others.
    gdp: Option<Enclosure>,
}

impl Line {
    fn of(name: &str, composition: &Composition, epsilon: Answer, asked: &Asked) -> Result<Line> {
        let Asked { delta, digits, with_gdp } = *asked;
        let gdp = || GaussianProfile::new(composition.rho().clone()).epsilon(delta, digits);
        Ok(Line {
            name: name.to_string(),
            rho: composition.rho().clone().into(),
            zcdp: conversions::zcdp_epsilon(composition.rho(), delta, digits),
            gdp: with_gdp.then(gdp).transpose()?,
            epsilon,
        })
    }

    fn json(&self) -> Value {
        let mut object = json!({
            "epsilon": self.epsilon.value.to_json(),
            "rho": exact(&self.rho),
            "rho_exact": self.rho.to_string(),
            "zcdp_epsilon": self.zcdp.to_json(),
        });
        if let Some(gdp) = &self.gdp {
            object["gdp_epsilon"] = gdp.to_json();
        }
        object["method"] = json!(self.epsilon.method.to_string());
        object["status"] = json!(self.epsilon.status());
        object
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

/// What is asked of every part.
#[derive(Clone, Copy)]
pub struct Asked<'d> {
    /// Where epsilon is meant.
    pub delta: &'d Delta,
    /// Relative widths of 10^-digits.
    pub digits: u32,
    /// Whether GDP's epsilon is wanted, too.
    pub with_gdp: bool,
}

/// Everything that is asked for.
pub struct Found {
    /// Each level; empty where there is only the whole.
    pub levels: Vec<Line>,
    /// Everything composed.
    pub total: Line,
    /// The pair of block paths that decides the whole, in words.
    pub pair: Option<String>,
    /// Empty unless queries were asked for.
    queries: Vec<QueryRow>,
}

pub fn run(args: &Args) -> Result<Exit> {
    let subject = args.subject.resolve()?;
    // Tables have no column for GDP.
    let with_gdp = matches!(args.format.form(), Form::Json | Form::Csv);
    let (delta, found) = args.find(&subject, with_gdp)?;
    let mut page = args.format.page();
    page.object(found.object(&subject, &delta));
    page.records(found.records());
    put_tables(&mut page, args, &subject, &delta, &found);
    page.print()?;
    Ok(Exit::Done)
}

impl Args {
    /// The delta that is asked about.
    pub fn delta(&self) -> Result<Delta> {
        quantity("--delta", &self.delta)
    }

    /// The answers, and the delta that they are about.
    pub fn find(&self, subject: &Resolved, with_gdp: bool) -> Result<(Delta, Found)> {
        let delta = self.delta()?;
        let mut found = find(subject, Asked { delta: &delta, digits: self.format.digits, with_gdp })?;
        if self.queries {
            found.queries = queries::rows(subject, &delta, self.format.digits)?;
        }
        Ok((delta, found))
    }
}

/// Each level, and everything composed.
pub fn find(subject: &Resolved, asked: Asked) -> Result<Found> {
    let Asked { delta, digits, .. } = asked;
    let total_name = subject::whole_name(subject);
    let level = |(name, part): &(String, Composition)| Line::of(name, part, part.epsilon(delta, digits)?, &asked);
    let whole = || -> Result<(Line, Option<String>)> {
        let epsilon = subject.whole.epsilon(delta, digits)?;
        let pair = subject.deciding_pair(&epsilon);
        Ok((Line::of(total_name, &subject.total, epsilon, &asked)?, pair))
    };
    let (levels, whole) = rayon::join(|| subject.levels.par_iter().map(level).collect::<Result<Vec<Line>>>(), whole);
    let (levels, (total, pair)) = (levels?, whole?);
    Ok(Found { levels, total, pair, queries: Vec::new() })
}

impl Found {
    /// The levels, and the whole last.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.levels.iter().chain([&self.total])
    }

    /// A record for each line, and then for each query.
    pub fn records(&self) -> Vec<Value> {
        let lines = self.lines().map(|line| output::named(&line.name, line.json()));
        lines.chain(self.queries.iter().map(QueryRow::json)).collect()
    }

    /// The answer as an object.
    pub fn object(&self, subject: &Resolved, delta: &Delta) -> Value {
        let mut object = self.total.json();
        object["delta"] = exact(delta);
        object["neighbors"] = json!(subject.neighbors.name());
        if let Some(pair) = &self.pair {
            object["worst_pair"] = json!(pair);
        }
        output::add_levels(&mut object, self.levels.iter().map(|line| (line.name.as_str(), line.json())));
        if !self.queries.is_empty() {
            object["queries"] = self.queries.iter().map(QueryRow::json).collect();
        }
        object
    }
}

/// The answer to be read.
fn put_tables(page: &mut Page, args: &Args, subject: &Resolved, delta: &Delta, found: &Found) {
    let (title, relation) = (&subject.title, subject.neighbors.name());
    page.text(format!("{title}\n{relation} neighbors, delta = {}\n\n", exact_text(delta)));
    let lines: Vec<&Line> = found.lines().collect();
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
    let all_met = lines.iter().all(|line| line.epsilon.met) && found.queries.iter().all(|query| query.epsilon.met);
    let certified = if all_met {
        "epsilon is certified: the truth differs from what is shown by at most one unit in the last digit.\n"
    } else {
        "epsilon is certified: between both ends, which --json gives.\n"
    };
    page.text(format!(
        "\n{certified}zCDP (Bun-Steinke): rho + 2 sqrt(rho ln(1/delta)), as the Census Bureau published.\n"
    ));
}
