//! `assay ledger`: several releases about the same people, each alone and all composed.

mod added;
mod checked;
mod shown;
mod withdrawn;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::{Delta, Rho, compared::Conversion, ledger::Balance},
    document::fields::Fields,
    ledger::{LedgerEntry, LedgerFile, Population},
    numeric::Enclosure,
    release::{Neighbors, subject::TAKEN_TWICE},
};
use rug::Rational;
use serde_json::{Value, json};

use super::{
    arguments::optional,
    compared::{self, Columns},
    exit::Exit,
    of_ledger::of_mixes,
    output::{self, exact, exact_text},
    page::Page,
    progress,
    subject::{self, Format},
};

/// Several releases about the same people, each alone and all composed
///
/// A ledger lists what was published: releases, certificates of tabulate, folders of measure, each once or several times, about all records or about one part of a partition. With --add it is
/// an odometer: it adds a release only if everything keeps a promise, which may stand in the ledger, and keeps a log, FILE.log, that is never rewritten. --check answers the same and writes nothing.
/// Exit status 1 if the promise would be broken; then nothing is written.
#[derive(clap::Args)]
pub struct Args {
    /// A bundled ledger (us-2020-persons) or a TOML file of the same form
    #[arg(value_name = "NAME|FILE", default_value = "us-2020-persons")]
    ledger: String,
    /// The delta at which epsilon is computed, 0 < delta < 1 [default: that of the promise of the ledger]
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: Option<String>,
    /// Write a commented ledger to start your own from: a new file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ledger", "delta", "show", "add", "check", "promise", "population", "name", "times", "partition", "part", "adaptive", "because", "withdraw", "never_drawn", "digits", "format"])]
    new: Option<PathBuf>,
    /// List entries, partitions and the log, and compute nothing
    #[arg(long, conflicts_with_all = ["delta", "add", "check", "promise", "population", "name", "times", "partition", "part", "adaptive", "because", "withdraw", "never_drawn", "digits"])]
    show: bool,
    #[command(flatten)]
    addition: added::AdditionArgs,
    #[command(flatten)]
    format: Format,
}

/// The account of a population's releases.
struct Account<'a> {
    population: &'a Population,
    each: Vec<Balance>,
    /// Why the epsilon of a release may be less.
    each_may_be_less: Vec<Option<&'static str>>,
    /// All of them; `None` if nothing was entered.
    all: Option<All>,
}

/// All releases composed, and all by their budgets.
struct All {
    /// Why it may be less than that.
    may_be_less: Option<&'static str>,
    composed: Balance,
    total: Balance,
}

impl Account<'_> {
    fn of_population<'a>(population: &'a Population, delta: &Delta, digits: u32) -> Result<Account<'a>> {
        if population.entries.is_empty() {
            return Ok(Account { population, each: Vec::new(), each_may_be_less: Vec::new(), all: None });
        }
        let ledger = population.ledger()?;
        let count = output::count_of(population.entries.len() as u64, "release");
        progress::stage(&format!("{}: epsilon of {count}, each alone", population.name));
        let each = ledger.each(delta, digits)?;
        progress::stage(&format!("{}: epsilon of {count} composed", population.name));
        let (composed, total) = (ledger.composed(delta, digits)?, ledger.total(delta, digits)?);
        let alone = |entry: &LedgerEntry| {
            let one = Population::new(population.name.clone(), population.neighbors, vec![entry.clone()]);
            Ok(one.may_be_more_private(&one.ledger()?))
        };
        let each_may_be_less = population.entries.iter().map(alone).collect::<Result<_>>()?;
        let may_be_less = population.may_be_more_private(&ledger);
        Ok(Account { population, each, each_may_be_less, all: Some(All { may_be_less, composed, total }) })
    }

    /// The releases of which only the budget is known.
    fn left_out(&self) -> Vec<&str> {
        let unknown = self.population.entries.iter().filter(|entry| entry.is_budget_only());
        unknown.map(|entry| entry.name.as_str()).collect()
    }

    /// What is composed: all, or all that are known; `None` if only the budget of each release is known.
    fn composed_name(&self) -> Option<String> {
        match self.left_out().as_slice() {
            [] => Some("all composed".to_string()),
            left_out if left_out.len() == self.population.entries.len() => None,
            left_out => Some(format!("all but {} composed", left_out.join(", "))),
        }
    }

    /// The releases whose own guarantee is about a record more or less, where a record changes: those of which only rho is known, or the others.
    fn converted_by_rho(&self, alone: bool) -> Vec<&str> {
        let of_rho = |entry: &&LedgerEntry| self.population.multiplies_rho_alone(entry) == alone;
        let converted = self.population.entries.iter().filter(|entry| self.population.converts(entry));
        converted.filter(of_rho).map(|entry| entry.name.as_str()).collect()
    }

    fn json(&self) -> Value {
        let releases: Vec<Fields> = (self.population.entries.iter().zip(self.each.iter().zip(&self.each_may_be_less)))
            .map(|(entry, (alone, may_be_less))| {
                Fields::new()
                    .with("name", &entry.name)
                    .with("neighbors", entry.neighbors().name())
                    .with("converted", self.population.converts(entry))
                    .with("times_each_count", entry.times_each_count(self.population.neighbors))
                    .with("rows_move_freely", entry.has_free_rows())
                    .and(shown::place(entry))
                    .and(of_balance(alone))
                    .with("may_be_more_private", may_be_less)
            })
            .collect();
        let conditions = self.population.conditions();
        let composed = self.all.as_ref().map(|All { composed, may_be_less, .. }| {
            let mix = |(release, mix): &(String, String)| json!({ "name": release, "mix": mix });
            of_balance(composed)
                .with("may_be_more_private", may_be_less)
                .with("not_covered", self.left_out())
                .with_any("conditions", &conditions)
                .with_any("of_mixes", composed.of_mixes.iter().map(mix))
        });
        let total = self.all.as_ref().map(|all| of_balance(&all.total).with_any("conditions", &conditions));
        json!({
            "name": self.population.name,
            "neighbors": self.population.neighbors.name(),
            "releases": releases,
            "composed": composed,
            "zcdp_total": total,
        })
    }

    /// Whether a release has outputs that only one of two neighbors can have, which rho leaves out.
    fn has_infinite_loss(&self) -> bool {
        self.population.ledger().is_ok_and(|ledger| ledger.has_infinite_loss())
    }

    /// The releases, each alone, all of them composed, and all by their budgets.
    fn balances(&self) -> impl Iterator<Item = &Balance> {
        self.each.iter().chain(self.all.iter().flat_map(|all| [&all.composed, &all.total]))
    }

    fn put(&self, page: &mut Page, digits: usize) {
        page.text(format!("{}, {} neighbors\n", self.population.name, self.population.neighbors.name()));
        shown::put_withdrawn(page, self.population);
        let Some(all) = &self.all else {
            page.text("  Nothing was entered.\n\n");
            return;
        };
        self.put_table(page, all, digits);
        self.put_notes(page, all);
        page.text("\n");
    }

    fn put_table(&self, page: &mut Page, together: &All, digits: usize) {
        let columns = Columns::of_compared(self.balances().map(|balance| &balance.compared));
        let row = |name: String, balance: &Balance| {
            let epsilon = balance.epsilon.as_ref().map(|epsilon| &epsilon.value);
            let mut cells = vec![
                name,
                Enclosure::rational(&balance.rho, 64).shown(6),
                epsilon.map_or("not known".to_string(), |epsilon| epsilon.shown(digits)),
            ];
            cells.extend(columns.cells(&balance.compared));
            cells.push(epsilon.map_or(String::new(), |epsilon| compared::percent_below(epsilon, &balance.compared)));
            cells
        };
        let mut rows: Vec<Vec<String>> = (self.population.entries.iter().zip(&self.each))
            .map(|(entry, alone)| row(format!("  {}", entry.shown()), alone))
            .collect();
        let left_out = self.left_out();
        // Nothing is composed if only the budget of each release is known.
        if let Some(all) = self.composed_name() {
            rows.push(row(format!("  {all}"), &together.composed));
        }
        if !left_out.is_empty() {
            let mut bound = row("  all, by zCDP alone".to_string(), &together.total);
            bound[2] = "-".to_string();
            rows.push(bound);
        }
        page.table(&[vec!["  release", "rho", "epsilon"], columns.heading(), vec!["lower by"]].concat(), rows);
    }

    fn put_notes(&self, page: &mut Page, all: &All) {
        if let Some(why) = all.may_be_less {
            page.text(format!("  epsilon of all releases is an upper bound: {why}.\n"));
        }
        for condition in self.population.conditions() {
            page.text(format!("  {condition}\n"));
        }
        for line in of_mixes(&all.composed.of_mixes).lines() {
            page.text(format!("  {line}\n"));
        }
        let neighbors = self.population.neighbors;
        let is_twice = |entry: &&LedgerEntry| {
            !self.population.converts(entry)
                && entry.release().is_some()
                && entry.times_each_count(neighbors) == Some(2)
        };
        let twice = self.population.entries.iter().filter(is_twice).map(|entry| entry.name.as_str());
        match twice.collect::<Vec<_>>().as_slice() {
            [] => {}
            names => page.text(format!("  {}: {TAKEN_TWICE}\n", names.join(", "))),
        }
        let rows = self.population.entries.iter().filter(|entry| entry.has_free_rows());
        let rows: Vec<&str> = rows.map(|entry| entry.name.as_str()).collect();
        if !rows.is_empty() {
            page.text(format!(
                "  An upper bound: {}, of which a record moves a limited number of rows into cells of any choice. All in one cell of every \
                 query is proven to be the worst, and is accounted for.\n",
                rows.join(", ")
            ));
        }
        let by_rho = self.converted_by_rho(true);
        if !by_rho.is_empty() {
            page.text(format!(
                "  Four times its rho, for a change of one record, which is two steps: {}, whose own guarantee is about a record more or less, \
                 and of which rho alone is known.\n",
                by_rho.join(", ")
            ));
        }
        let converted = self.converted_by_rho(false);
        if !converted.is_empty() {
            page.text(format!(
                "  Counted twice, for the record that leaves and the one that enters: {}, whose own guarantee is about a \
                 record more or less.\n",
                converted.join(", ")
            ));
        }
        self.put_parts(page);
    }

    /// The partitions whose parts the entries are about.
    fn put_parts(&self, page: &mut Page) {
        let mut parts: Vec<&str> =
            self.population.entries.iter().filter_map(|entry| Some(entry.part.as_ref()?.partition.as_str())).collect();
        parts.sort_unstable();
        parts.dedup();
        if !parts.is_empty() {
            let moves = match self.population.neighbors {
                Neighbors::AddRemove => "",
                Neighbors::Bounded => {
                    " A changed record may leave one part and enter another: the worst pair of parts counts."
                }
            };
            page.text(format!(
                "  Parts of {} do not add up: a record lies in one of them, and the worst counts.{moves}\n",
                parts.join(", ")
            ));
        }
    }

    /// A record for each release, and one for all of them composed.
    fn records(&self) -> Vec<Value> {
        let object = self.json();
        let releases = object["releases"].as_array().into_iter().flatten().cloned().map(Fields::from);
        let all = [
            (self.composed_name(), &object["composed"]),
            (Some("all, by zCDP alone".to_string()), &object["zcdp_total"]),
        ];
        let all = all.into_iter().filter(|(_, balance)| !balance.is_null());
        let all = all.filter_map(|(name, balance)| Some(output::named(&name?, balance.clone())));
        releases.chain(all).map(|record| record.with("population", &self.population.name).object()).collect()
    }
}

fn of_balance(balance: &Balance) -> Fields {
    let epsilon = balance.epsilon.as_ref();
    Fields::new()
        .with("rho", exact(&balance.rho))
        .with("rho_exact", output::rho_exact(&balance.rho, balance.has_exact_rho))
        .with("epsilon", epsilon.map(|epsilon| &epsilon.value).filter(|value| value.lower().is_finite()))
        .with("status", epsilon.map_or("only the budget is known", |epsilon| epsilon.status()))
        .with("zcdp_epsilon", &balance.zcdp_epsilon)
        .with("compared_with", compared::json(&balance.compared))
        .and(subject::of_infinite_loss(balance.infinite_loss.clone(), FEW_DIGITS))
}

/// Digits of the probability of an infinite loss.
const FEW_DIGITS: u32 = 12;

pub fn run(args: &Args) -> Result<Exit> {
    if let Some(file) = &args.new {
        dp_assay::ledger::write_template(file).context("--new")?;
        let mut page = args.format.page();
        page.object(json!({ "ledger": file.display().to_string(), "status": "written" }));
        page.text(format!("A ledger without entries is in {}.\n", dp_assay::error::shown(file)));
        return page.done();
    }
    if args.show {
        return shown::run(&LedgerFile::find(&args.ledger)?, args.format.page());
    }
    if let Some(withdrawal) = args.addition.withdrawal() {
        if args.delta.is_some() {
            bail!("--delta: a withdrawal has none; leave it out");
        }
        return withdrawn::run(&args.ledger, &withdrawal, &args.format);
    }
    let delta: Option<Delta> = optional("--delta", &args.delta)?;
    match args.addition.release() {
        Some(release) => added::run(&args.ledger, release, delta, &args.addition, &args.format),
        None if !args.addition.candidates().is_empty() => {
            checked::run(&args.ledger, delta, &args.addition, &args.format)
        }
        None => account(args, delta),
    }
}

fn account(args: &Args, delta: Option<Delta>) -> Result<Exit> {
    let file = LedgerFile::find(&args.ledger)?;
    let promised = || file.promise.as_ref().map(|promise| promise.delta.clone());
    let Some(delta) = &delta.or_else(promised) else {
        bail!("--delta is missing: epsilon is computed at a delta, and the ledger has no promise that names one")
    };
    let digits = args.format.digits;
    let accounts: Vec<Account> = file
        .populations
        .iter()
        .map(|population| Account::of_population(population, delta, digits))
        .collect::<Result<_>>()?;
    let totals: Vec<&Balance> =
        accounts.iter().filter_map(|account| account.all.as_ref()).map(|all| &all.total).collect();
    let both = totals.iter().fold(Rational::new(), |sum, total| sum + &*total.rho);
    let by_rho = |rho: Rho| dp_assay::account::conversions::zcdp_epsilon_optimal(&rho, delta).map(|all| all.epsilon);
    // Of one population, and of nothing, the sum says nothing new; it would leave out infinite losses.
    let everything = match totals.len() {
        0 => None,
        1 => Some(totals[0].zcdp_epsilon.clone()),
        _ if accounts.iter().any(Account::has_infinite_loss) => None,
        _ => Some(by_rho(Rho::new(both.clone())?)?),
    };
    let mut page = args.format.page();
    page.object(json!({
        "ledger": file.name,
        "title": file.title,
        "rule": file.rule,
        "delta": exact(delta),
        "promise": shown::promise(&file),
        "populations": accounts.iter().map(Account::json).collect::<Vec<_>>(),
        "all_populations": { "rho": exact(&both), "zcdp_epsilon": everything },
    }));
    page.records(accounts.iter().flat_map(Account::records));
    page.text(format!("{}: {}\ndelta = {}\n\n", file.name, file.title, exact_text(delta)));
    shown::put_promise(&mut page, &file);
    for account in &accounts {
        account.put(&mut page, args.format.shown());
    }
    if let Some(everything) = everything.filter(|_| totals.len() > 1) {
        let rho = Enclosure::rational(&both, 64).shown(6);
        let line = format!(
            "All populations together, by zCDP (best order): rho = {rho}, epsilon <= {}.\n\n",
            everything.shown(6)
        );
        page.text(line);
    }
    page.text(format!(
        "{}\n\nepsilon is certified, the worst over all combinations of block paths where releases have several; zCDP (best order): from \
         rho, by the best of all Renyi orders, each converted alone.\n",
        file.rule.trim()
    ));
    if accounts.iter().flat_map(Account::balances).any(|balance| balance.compared.by == Conversion::Pure) {
        page.text(format!("{}: {}.\n", Conversion::Pure.name(), Conversion::Pure.formula()));
    }
    let met = accounts.iter().flat_map(Account::balances);
    if met.filter_map(|balance| balance.epsilon.as_ref()).any(|epsilon| !epsilon.met) {
        page.text("Some enclosures are below the requested precision; --json gives both ends.\n");
    }
    page.done()
}
