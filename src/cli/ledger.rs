//! `assay ledger`: several releases about the same people, each alone and all composed.

use anyhow::Result;
use dp_assay::{
    account::{Delta, Rho, compared::Conversion, ledger::Balance},
    numeric::Enclosure,
    release::{
        Release,
        ledger::{LedgerFile, Population},
        subject::TAKEN_TWICE,
    },
};
use rug::Rational;
use serde_json::{Value, json};

use super::{
    arguments::quantity,
    compared::{self, Columns},
    exit::Exit,
    output::{self, exact, exact_text},
    page::Page,
    progress,
    subject::Format,
};

/// Several releases about the same people, each alone and all composed
#[derive(clap::Args)]
pub struct Args {
    /// A bundled ledger (us-2020-persons) or a TOML file of the same form
    #[arg(value_name = "NAME|FILE", default_value = "us-2020-persons")]
    ledger: String,
    /// The delta at which epsilon is computed, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    format: Format,
}

/// The account of a population's releases.
struct Account<'a> {
    population: &'a Population,
    each: Vec<Balance>,
    composed: Balance,
    total: Balance,
}

impl Account<'_> {
    fn of<'a>(population: &'a Population, delta: &Delta, digits: u32) -> Result<Account<'a>> {
        let ledger = population.ledger()?;
        let count = output::count_of(population.releases.len() as u64, "release");
        progress::stage(&format!("{}: epsilon of {count}, each alone", population.name));
        let each = ledger.each(delta, digits)?;
        progress::stage(&format!("{}: epsilon of {count} composed", population.name));
        let (composed, total) = (ledger.composed(delta, digits)?, ledger.total(delta, digits)?);
        Ok(Account { population, each, composed, total })
    }

    /// The releases of which only the budget is known.
    fn left_out(&self) -> Vec<&str> {
        let unknown = self.population.releases.iter().filter(|release| release.budget_only);
        unknown.map(|release| release.name.as_str()).collect()
    }

    fn converted(&self) -> Vec<&str> {
        let converted = self.population.releases.iter().filter(|release| self.population.converts(release));
        converted.map(|release| release.name.as_str()).collect()
    }

    /// How often the counts of a release are counted; `None` if only its budget is known.
    fn taken(&self, release: &Release) -> Option<u64> {
        release.times_each_count(self.population.neighbors).ok().filter(|_| !release.budget_only)
    }

    fn json(&self) -> Value {
        let releases: Vec<Value> = (self.population.releases.iter().zip(&self.each))
            .map(|(release, alone)| {
                let mut object = json!({
                    "name": release.name,
                    "neighbors": release.neighbors.name(),
                    "converted": self.population.converts(release),
                    "times_each_count": self.taken(release),
                    "rows_move_freely": has_rows(release),
                });
                extend(&mut object, balance(alone));
                object
            })
            .collect();
        let mut composed = balance(&self.composed);
        composed["not_covered"] = json!(self.left_out());
        if !self.composed.of_mixes.is_empty() {
            let mixes = self.composed.of_mixes.iter();
            composed["of_mixes"] = mixes.map(|(release, mix)| json!({ "name": release, "mix": mix })).collect();
        }
        json!({
            "name": self.population.name,
            "neighbors": self.population.neighbors.name(),
            "releases": releases,
            "composed": composed,
            "zcdp_total": balance(&self.total),
        })
    }

    /// The releases, each alone, all of them composed, and all by their budgets.
    fn balances(&self) -> impl Iterator<Item = &Balance> {
        self.each.iter().chain([&self.composed, &self.total])
    }

    fn put(&self, page: &mut Page, digits: usize) {
        page.text(format!("{}, {} neighbors\n", self.population.name, self.population.neighbors.name()));
        let columns = Columns::of(self.balances().map(|balance| &balance.compared));
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
        let mut rows: Vec<Vec<String>> = (self.population.releases.iter().zip(&self.each))
            .map(|(release, alone)| row(format!("  {}", release.name), alone))
            .collect();
        let left_out = self.left_out();
        let all = if left_out.is_empty() {
            "  all composed".to_string()
        } else {
            format!("  all but {} composed", left_out.join(", "))
        };
        rows.push(row(all, &self.composed));
        if !left_out.is_empty() {
            let mut bound = row("  all, by zCDP alone".to_string(), &self.total);
            bound[2] = "-".to_string();
            rows.push(bound);
        }
        page.table(&[vec!["  release", "rho", "epsilon"], columns.heading(), vec!["lower by"]].concat(), rows);
        for (release, mix) in &self.composed.of_mixes {
            page.text(format!(
                "  {release} is composed for the mix of groups that is worst for it alone: {mix}. A record of another mix spends the same \
                 rho, and its composed epsilon can differ a little.\n"
            ));
        }
        let is_twice = |release: &&Release| !self.population.converts(release) && self.taken(release) == Some(2);
        let twice = self.population.releases.iter().filter(is_twice).map(|release| release.name.as_str());
        match twice.collect::<Vec<_>>().as_slice() {
            [] => {}
            names => page.text(format!("  {}: {TAKEN_TWICE}\n", names.join(", "))),
        }
        let rows = self.population.releases.iter().filter(|release| has_rows(release));
        let rows: Vec<&str> = rows.map(|release| release.name.as_str()).collect();
        if !rows.is_empty() {
            page.text(format!(
                "  An upper bound: {}, of which a record moves a limited number of rows into cells of any choice. All in one cell of every \
                 query is proven to be the worst, and is accounted for.\n",
                rows.join(", ")
            ));
        }
        let converted = self.converted();
        if !converted.is_empty() {
            page.text(format!(
                "  Counted twice, for the record that leaves and the one that enters: {}, whose own guarantee is about a \
                 record more or less.\n",
                converted.join(", ")
            ));
        }
        page.text("\n");
    }

    /// A record for each release, and one for all of them composed.
    fn records(&self) -> Vec<Value> {
        let object = self.json();
        let releases = object["releases"].as_array().into_iter().flatten().cloned();
        let all = [("all composed", &object["composed"]), ("all, by zCDP alone", &object["zcdp_total"])]
            .map(|(name, balance)| output::named(name, balance.clone()));
        let population = |mut record: Value| {
            record["population"] = json!(self.population.name);
            record
        };
        releases.chain(all).map(population).collect()
    }
}

/// Whether a record moves rows of its queries into cells of any choice.
fn has_rows(release: &Release) -> bool {
    !release.budget_only && release.levels.iter().flat_map(|level| &level.queries).any(|query| query.free_rows)
}

fn balance(balance: &Balance) -> Value {
    let epsilon = balance.epsilon.as_ref();
    json!({
        "rho": exact(&balance.rho),
        "rho_exact": balance.rho.to_string(),
        "epsilon": output::enclosure(epsilon.map(|epsilon| &epsilon.value)),
        "status": epsilon.map_or("only the budget is known", |epsilon| epsilon.status()),
        "zcdp_epsilon": balance.zcdp_epsilon.to_json(),
        "compared_with": compared::json(&balance.compared),
    })
}

fn extend(object: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
}

pub fn run(args: &Args) -> Result<Exit> {
    let delta: Delta = quantity("--delta", &args.delta)?;
    let file = LedgerFile::find(&args.ledger)?;
    let digits = args.format.digits;
    let accounts: Vec<Account> =
        file.populations.iter().map(|population| Account::of(population, &delta, digits)).collect::<Result<_>>()?;
    let both = accounts.iter().fold(Rational::new(), |sum, account| sum + &*account.total.rho);
    let everything = dp_assay::account::conversions::zcdp_epsilon_optimal(&Rho::new(both.clone())?, &delta)?.epsilon;
    let mut page = args.format.page();
    page.object(json!({
        "ledger": file.name,
        "title": file.title,
        "rule": file.rule,
        "delta": exact(&delta),
        "populations": accounts.iter().map(Account::json).collect::<Vec<_>>(),
        "all_populations": { "rho": exact(&both), "zcdp_epsilon": everything.to_json() },
    }));
    page.records(accounts.iter().flat_map(Account::records));
    page.text(format!("{}: {}\ndelta = {}\n\n", file.name, file.title, exact_text(&delta)));
    for account in &accounts {
        account.put(&mut page, args.format.shown());
    }
    if accounts.len() > 1 {
        let rho = Enclosure::rational(&both, 64).shown(6);
        let line = format!(
            "All populations together, by zCDP (best order): rho = {rho}, epsilon <= {}.\n\n",
            everything.shown(6)
        );
        page.text(line);
    }
    page.text(format!(
        "{}\n\nepsilon is certified, the worst over all combinations of block paths; zCDP (best order): the \
         smallest epsilon over all Renyi orders, from rho alone.\n",
        file.rule.trim()
    ));
    if accounts.iter().flat_map(Account::balances).any(|balance| balance.compared.by == Conversion::Pure) {
        page.text(format!("{}: {}.\n", Conversion::Pure.name(), Conversion::Pure.formula()));
    }
    let met = accounts.iter().flat_map(|account| account.each.iter().chain([&account.composed]));
    if met.filter_map(|balance| balance.epsilon.as_ref()).any(|epsilon| !epsilon.met) {
        page.text("Some enclosures are below the requested precision; --json gives both ends.\n");
    }
    page.print()?;
    Ok(Exit::Done)
}
