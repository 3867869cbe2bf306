//! `assay tune --config`: a config.json of the bureau, its account, and its budgets changed.

use std::path::Path;

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::{Delta, Stop},
    document::fields::Fields,
    numeric::Enclosure,
    safetab::{
        country::{CountrySpecification, tuning::CountryChange},
        groups::Specification,
        schema::{Privacy, ValidationReport},
        tabulate::{
            config_account::{BudgetChange, ConfigAccount, Configuration, ConfiguredLevel},
            guarantees::{Guarantee, Guarantees},
        },
    },
};

use super::super::{
    invocation,
    output::{exact, exact_text},
    page::Page,
};

/// An error if the changed file is named as one of the other form.
fn check_end(out: Option<&Path>, other: &str, own: &str) -> Result<()> {
    match out.filter(|out| out.extension().is_some_and(|end| end.eq_ignore_ascii_case(other))) {
        Some(out) => bail!("--out {}: {own} is written here, and not .{other}", dp_assay::error::shown(out)),
        None => Ok(()),
    }
}

/// The account of a file after changes, and the changed file if requested.
pub fn of_file(
    path: &Path,
    spec: &Path,
    changes: &[String],
    out: Option<&Path>,
    delta: &Delta,
    page: Page,
) -> Result<Page> {
    check_end(out, "toml", "JSON")?;
    let (_, text) = Configuration::read_with_text(path)?;
    let (page, changed) =
        of_text(&text, &dp_assay::error::shown(path), spec, changes, (delta, &Stop::default()), page)?;
    if let Some(out) = out {
        Configuration::write(&changed, out).context("--out")?;
        invocation::provenance()?.write_beside(out)?;
    }
    Ok(page)
}

/// The account of a country's specification after changes, and the changed file if requested.
pub fn of_country(path: &Path, changes: &[String], out: Option<&Path>, delta: &Delta, mut page: Page) -> Result<Page> {
    if path.is_dir() {
        bail!("--config is missing: with a folder of the bureau's files in --spec it names their config.json");
    }
    check_end(out, "json", "TOML")?;
    let changes: Vec<CountryChange> =
        changes.iter().map(|text| text.parse().context("--set")).collect::<Result<_>>()?;
    let (specification, text) = CountrySpecification::read_with_text(path).context("--spec")?;
    let changed = specification.with_budgets(&text, &changes).context("--set")?;
    // The written text is read again, under all rules.
    let specification = CountrySpecification::parse(&changed, &format!("{}, changed", dp_assay::error::shown(path)))?;
    let account = specification.account(delta, &Stop::default())?;
    page.object(object(&account, delta));
    put_account(&mut page, &account, delta);
    if let Some(out) = out {
        Configuration::write(&changed, out).context("--out")?;
        invocation::provenance()?.write_beside(out)?;
    }
    Ok(page)
}

/// The account of the text of a configuration after changes, and the changed text, at a delta and until a stop; `name` names it in
/// messages.
pub fn of_text(
    text: &str,
    name: &str,
    spec: &Path,
    changes: &[String],
    (delta, stop): (&Delta, &Stop),
    mut page: Page,
) -> Result<(Page, String)> {
    let changes: Vec<BudgetChange> = changes.iter().map(|text| text.parse().context("--set")).collect::<Result<_>>()?;
    let config = Configuration::from_text(text, name)?;
    let mut report = ValidationReport::new();
    let specification = Specification::read(spec, config.scope(), &mut report);
    report.into_result()?;
    let specification = specification.context("--spec: the specification could not be read")?;
    let changed = config.with_budgets(text, &changes, &specification)?;
    // The written text is read again, under all rules.
    let config = Configuration::from_text(&changed, &format!("{name}, changed"))?;
    let account = config.account(&specification, delta, stop)?;
    page.object(object(&account, delta));
    put_account(&mut page, &account, delta);
    Ok((page, changed))
}

fn unit(privacy: Privacy) -> &'static str {
    match privacy {
        Privacy::ZeroConcentrated => "rho",
        Privacy::Pure => "pure_epsilon",
    }
}

fn of_guarantee(guarantee: &Guarantee, privacy: Privacy) -> Fields {
    let zcdp = (privacy == Privacy::ZeroConcentrated).then_some(&guarantee.zcdp_epsilon);
    Fields::new()
        .with(unit(privacy), exact(&guarantee.budget))
        .with("epsilon", guarantee.epsilon_json())
        .with("epsilon_is", guarantee.epsilon.as_ref().map(|_| guarantee.epsilon_is()))
        .with_some("zcdp_epsilon", zcdp)
}

fn of_guarantees(guarantees: &Guarantees, privacy: Privacy) -> Fields {
    of_guarantee(&guarantees.unbounded, privacy)
        .with("bounded", of_guarantee(&guarantees.bounded, privacy))
        .with("example", &guarantees.unbounded.example)
        .with("bounded_example", &guarantees.bounded.example)
}

fn object(account: &ConfigAccount, delta: &Delta) -> Fields {
    let parameter = if account.privacy == Privacy::ZeroConcentrated { "sigma2" } else { "laplace_epsilon" };
    let level = |level: &ConfiguredLevel| {
        let place = level.place.iter().fold(Fields::new(), |fields, (key, value)| fields.with(*key, value));
        let own = place.with("stability", level.stability).and(of_guarantees(&level.guarantees, account.privacy));
        level.counts.iter().fold(own, |own, (name, value, margin)| {
            let name = name.to_lowercase();
            own.with(format!("{parameter}_{name}"), exact(value)).with(format!("moe_{name}"), margin)
        })
    };
    let pass = |(name, levels, guarantees): &(String, Vec<ConfiguredLevel>, Guarantees)| {
        let pass = Fields::new().with("pass", name).and(of_guarantees(guarantees, account.privacy));
        pass.with("levels", levels.iter().map(level).collect::<Vec<_>>())
    };
    Fields::new()
        .with("algorithm", account.algorithm)
        .with("delta", exact(delta))
        .and(of_guarantees(&account.total, account.privacy))
        .with("passes", account.passes.iter().map(pass).collect::<Vec<_>>())
}

fn put_account(page: &mut Page, account: &ConfigAccount, delta: &Delta) {
    let delta: &rug::Rational = delta;
    let is_zcdp = account.privacy == Privacy::ZeroConcentrated;
    let unit = unit(account.privacy).replace('_', " ");
    let shown = |value: Option<&Enclosure>| value.map_or("-".to_string(), |value| value.shown(8));
    let mut heading = vec![String::new(), unit, "s".to_string()];
    let counts: Vec<&str> = account
        .passes
        .iter()
        .flat_map(|(_, levels, _)| levels)
        .map(|level| level.counts.iter().map(|(name, _, _)| *name).collect::<Vec<&str>>())
        .max_by_key(Vec::len)
        .unwrap_or_default();
    heading.extend(counts.iter().map(|name| name.replace('_', " ")));
    heading.push("unbounded".to_string());
    heading.extend(is_zcdp.then(|| "zCDP (Bun-Steinke)".to_string()));
    heading.push("bounded".to_string());
    let mut rows = Vec::new();
    let mut row = |name: String, level: Option<&ConfiguredLevel>, guarantees: &Guarantees| {
        let mut cells = vec![name, exact_text(&guarantees.unbounded.budget)];
        cells.push(level.map_or(String::new(), |level| level.stability.to_string()));
        for name in &counts {
            let count = level.and_then(|level| level.counts.iter().find(|(known, _, _)| known == name));
            let missing = if level.is_some() { "not run" } else { "" };
            cells.push(count.map_or(missing.to_string(), |(_, _, margin)| margin.to_string()));
        }
        cells.push(guarantees.unbounded.epsilon_shown(8));
        if is_zcdp {
            cells.push(shown(guarantees.unbounded.zcdp_epsilon.as_ref()));
        }
        cells.push(guarantees.bounded.epsilon_shown(8));
        rows.push(cells);
    };
    for (name, levels, guarantees) in &account.passes {
        for level in levels {
            row(level.name.clone(), Some(level), &level.guarantees);
        }
        row(name.clone(), None, guarantees);
    }
    row("whole run".to_string(), None, &account.total);
    let names: Vec<String> = counts.iter().map(|name| name.replace('_', " ")).collect();
    page.text(format!(
        "{}; margins of error at 95 %: {}\nepsilon at delta = {}: unbounded, a record added or removed; bounded, a record changed\n\
         at most: an upper bound, where nobody is known who is in the most groups of every level at once\n\n",
        account.algorithm,
        names.join(", "),
        exact_text(delta)
    ));
    page.table(&heading, rows);
}
