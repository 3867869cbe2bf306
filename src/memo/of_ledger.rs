//! The memo of a ledger: several releases about the same records.

use std::path::Path;

use rug::Rational;

use super::{
    decisions::lies_between,
    draft::{Draft, changed, common_assumptions, common_limits},
    folder::{Memo, Request},
    number::{Number, reason, slug},
    sentence::{borne, least_epsilon, quotable, quoted, unborne},
};
use crate::{
    account::{
        Whole,
        ledger::{Balance, Ledger},
    },
    certificate::{Certificate, Question},
    document::{Block, table},
    error::{Error, Result},
    io::{provenance::sha256_of_text, reading::read_text},
    ledger::{Kind, LedgerEntry, LedgerFile, Population, log_path},
    numeric::{Enclosure, rational},
    release::{
        Release, bundled_text,
        subject::{Resolved, Subject},
    },
};

/// A release of a population, or all composed, with its epsilon; `None` if only the budget is known.
struct Line {
    name: String,
    rho: Rational,
    epsilon: Option<Number>,
    by: &'static str,
    bound: String,
}

/// The memo of the ledger of this name, or in the file of this path.
pub fn of_ledger(name: &str, request: &Request) -> Result<Memo> {
    let text = LedgerFile::text(name)?;
    let ledger = LedgerFile::find(name)?;
    if LedgerFile::text(name)? != text {
        return Err(changed(name));
    }
    let mut draft = Draft { title: format!("Privacy memo: {}: {}", ledger.name, ledger.title), ..Draft::default() };
    let origin = format!("ledger {} (SHA-256 {})", ledger.name, sha256_of_text(&text));
    draft.copy(name, text);
    if !ledger.log.is_empty() {
        draft.copy(&format!("{name}.log"), read_text(&log_path(Path::new(name)))?);
    }
    for entry in ledger.populations.iter().flat_map(|population| &population.entries) {
        let text = match entry.kind {
            Kind::Release => Release::text(&entry.place)?,
            Kind::SafeTab | Kind::Measurements => read_text(Path::new(&entry.place))?,
        };
        if entry.sha256.as_ref().is_some_and(|sha256| *sha256 != sha256_of_text(&text)) {
            return Err(changed(&entry.place));
        }
        draft.copy(&entry.place, text);
        for file in &entry.beside {
            match bundled_text(file) {
                Some(text) => draft.copy(file, text.to_string()),
                None => draft.copy_file(Path::new(file), request)?,
            }
        }
    }
    draft.about = vec![format!(
        "A ledger of several releases about the same records, delta = {}",
        rational::display(&request.delta)
    )];
    draft.statement = vec![quoted(&ledger.rule)];
    for population in &ledger.populations {
        put(&mut draft, population, &origin, request)?;
    }
    draft.assumptions = vec![
        format!("Delta = {}: every epsilon is the least at this delta, and at no other.", rational::display(&request.delta)),
        "It is not known which block path of one release a record takes together with which of another: all combinations are considered, and the worst \
         counts."
            .to_string(),
    ];
    let stated = ledger.partitions.iter().map(|partition| {
        format!(
            "Each record lies in exactly one part of the partition {:?}, and the record alone decides which. {} An entry about a part uses the records of that part only.",
            partition.name,
            quoted(&partition.rule)
        )
    });
    draft.assumptions.extend(stated);
    draft.assumptions.extend(common_assumptions());
    draft.not_said = common_limits();
    Ok(draft.finish(request))
}

/// The statement and the numbers of a population; `origin` names the ledger in its certificates.
fn put(draft: &mut Draft, population: &Population, origin: &str, request: &Request) -> Result<()> {
    if population.entries.is_empty() {
        draft.statement.push(unborne(&format!("{}: nothing was entered.", population.name)));
        return Ok(());
    }
    let account = population.ledger()?;
    let name = &population.name;
    let alone = account.each(&request.delta, request.digits)?;
    let mut lines = Vec::new();
    let mut files = vec![format!("{}-all", slug(name))];
    for (place, (entry, balance)) in population.entries.iter().zip(&alone).enumerate() {
        let file = free_name(format!("{}-{}", slug(name), slug(&entry.name)), &files);
        let title = format!("{origin}, {}: {}", quotable(name), entry.shown());
        let only = Ledger::new(vec![account.entries()[place].clone()], account.units())?;
        let number = number_of_entry((population, entry, &only), balance, (&file, title), request)?;
        files.push(file);
        lines.push(line(entry.shown(), balance, number));
    }
    let known = population.entries.iter().filter(|entry| !entry.is_budget_only()).count();
    let composed = account.composed(&request.delta, request.digits)?;
    let title = format!("{origin}, {}: {known} of {} releases composed", quotable(name), population.entries.len());
    let number = number_of_all((population, &account), &composed, title, request)?;
    let unknown: Vec<&str> =
        (population.entries.iter().filter(|entry| entry.is_budget_only())).map(|entry| entry.name.as_str()).collect();
    let all = if unknown.is_empty() {
        "all composed".to_string()
    } else {
        format!("all but {} composed", unknown.join(", "))
    };
    // Nothing is composed if only the budget of each release is known.
    if known > 0 {
        lines.push(line(all, &composed, number));
    }
    if !unknown.is_empty() {
        lines.push(line("all, by zCDP alone".to_string(), &account.total(&request.delta, request.digits)?, None));
    }
    for line in &lines {
        if let Some(number) = &line.epsilon {
            draft.take(&format!("{name}: epsilon of {}", line.name), number);
        }
    }
    let of_all = lines.get(alone.len()).filter(|_| known > 0);
    let may_be_less = population.may_be_more_private(&account);
    if let Some(number) = of_all.and_then(|line| line.epsilon.as_ref()) {
        draft.statement.push(least_of_all(population, known, number, may_be_less.is_none(), request));
        if let Some(why) = may_be_less {
            draft.statement.push(unborne(&format!("The releases may be more private: {why}.")));
        }
    }
    if !unknown.is_empty() {
        let unknown = unknown.join(", ");
        let sentence =
            format!("{name}: of {unknown} only the budget is known; no exact epsilon of this memo covers it.");
        draft.statement.push(unborne(&sentence));
    }
    draft.statement.extend(caveats(population, &composed).iter().map(|caveat| unborne(caveat)));
    draft.numbers.push(table_of(population, &lines, may_be_less.is_none()));
    Ok(())
}

/// The sentence about the epsilon of the `known` releases composed.
fn least_of_all(population: &Population, known: usize, number: &Number, is_exact: bool, request: &Request) -> String {
    let (all, name) = (population.entries.len(), quotable(&population.name));
    let what = format!("{known} of {all} releases about \"{name}\" composed are");
    let relation = format!("under {} neighbors ", population.neighbors.name());
    // The lower end is that of the account: of a guarantee, or of ways that no record takes together, the truth may be smaller.
    let ends = match is_exact {
        true => format!("at least {} and at most {}", number.lower, number.upper),
        false => format!("at most {}", number.upper),
    };
    borne(number, least_epsilon(&what, &relation, &rational::display(&request.delta), &ends))
}

/// The numbers of a population.
fn table_of(population: &Population, lines: &[Line], is_exact: bool) -> Block {
    let (name, neighbors) = (&population.name, population.neighbors);
    table(
        format!("{name}, {} neighbors ({}){}.", neighbors.name(), neighbors.meaning(), lies_between(is_exact)),
        &["", "rho", "epsilon, at least", "epsilon, at most", "compared with", "which gives, at most", "certificate"],
        lines.iter().map(row).collect(),
        &[0, 4, 6],
    )
}

/// Where an exact epsilon is an upper bound only, or is not about every record.
fn caveats(population: &Population, composed: &Balance) -> Vec<String> {
    let names = |keep: &dyn Fn(&LedgerEntry) -> bool| -> String {
        population
            .entries
            .iter()
            .filter(|entry| keep(entry))
            .map(|entry| entry.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let name = &population.name;
    let mut said: Vec<String> =
        population.conditions().iter().map(|condition| format!("{name}: {condition}")).collect();
    for (release, mix) in &composed.of_mixes {
        said.push(format!(
            "{name}: the lower end of the composed epsilon is that of the mix of groups that is worst for {release} alone: {mix}. Another mix may be worse beside the other releases; the upper end bounds every mix."
        ));
    }
    let by_rho = names(&|entry| population.multiplies_rho_alone(entry));
    if !by_rho.is_empty() {
        said.push(format!(
            "{name}: four times its rho, for a change of one record, which is two steps, has {by_rho}, whose own guarantee is about a record more or less, and of \
             which rho alone is known."
        ));
    }
    let converted = names(&|entry| population.converts(entry) && !population.multiplies_rho_alone(entry));
    if !converted.is_empty() {
        said.push(format!(
            "{name}: counted twice, for the record that leaves and the one that enters, is every count of {converted}, whose own guarantee is about a record \
             more or less. The lower end is that of this account."
        ));
    }
    let rows = names(&LedgerEntry::has_free_rows);
    if !rows.is_empty() {
        said.push(format!(
            "{name}: of {rows} a record moves a limited number of rows into cells of any choice; all in one cell of every query is proven to be the worst, and is accounted for."
        ));
    }
    said
}

fn line(name: String, balance: &Balance, epsilon: Option<Number>) -> Line {
    Line {
        name,
        rho: balance.rho.clone().into(),
        epsilon,
        by: balance.compared.by.name(),
        bound: balance.compared.epsilon.upper_text(6),
    }
}

fn row(line: &Line) -> Vec<String> {
    let of =
        |part: &dyn Fn(&Number) -> String, none: &str| line.epsilon.as_ref().map_or_else(|| none.to_string(), part);
    vec![
        line.name.clone(),
        Enclosure::rational(&line.rho, 64).shown(6),
        of(&|number| number.lower.clone(), "not known"),
        of(&|number| number.upper.clone(), "not known"),
        line.by.to_string(),
        line.bound.clone(),
        of(&Number::file, "-"),
    ]
}

/// The epsilon of an entry alone, under the relation of the population.
fn number_of_entry(
    (population, entry, only): (&Population, &LedgerEntry, &Ledger),
    balance: &Balance,
    (file, title): (&str, String),
    request: &Request,
) -> Result<Option<Number>> {
    let Some(answer) = &balance.epsilon else { return Ok(None) };
    let is_upper_bound = population.may_be_more_private(only).is_some();
    let Some(release) = entry.release().filter(|_| entry.kind == Kind::Release) else {
        let certificate = certificate_of(only, (population, title), request);
        return Ok(Some(checked(certificate, answer.value.clone(), (file, is_upper_bound))?));
    };
    let subject = Subject {
        release: Some(release.clone()),
        neighbors: Some(population.neighbors),
        repeat: entry.times,
        ..Subject::default()
    };
    let certificate = subject.resolve().and_then(|mut subject| {
        subject.title = title;
        prove(&subject, request)
    });
    Ok(Some(checked(certificate, answer.value.clone(), (file, is_upper_bound))?))
}

/// A name that no other file has: names that differ may be the same word.
fn free_name(name: String, taken: &[String]) -> String {
    let numbered = (2_u64..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(name)
}

/// The epsilon of all releases composed of which more than the budget is known.
fn number_of_all(
    (population, account): (&Population, &Ledger),
    composed: &Balance,
    title: String,
    request: &Request,
) -> Result<Option<Number>> {
    let Some(answer) = &composed.epsilon else { return Ok(None) };
    let file = format!("{}-all", slug(&population.name));
    let known = account.entries().iter().filter(|entry| !entry.paths.is_empty()).cloned().collect();
    let certificate =
        Ledger::new(known, account.units()).and_then(|known| certificate_of(&known, (population, title), request));
    Ok(Some(checked(certificate, answer.value.clone(), (&file, population.may_be_more_private(account).is_some()))?))
}

/// The most ways of a record, or pairs of them, of whose worst a certificate is searched for: of the hundreds of a ledger it may take hours.
const MOST_WAYS: usize = 200;

/// The certificate of everything in a ledger: the worst of all ways of a record, where they are one account.
fn certificate_of(
    ledger: &Ledger,
    (population, title): (&Population, String),
    request: &Request,
) -> Result<Certificate> {
    let whole = ledger.whole()?;
    if let Whole::WorstPath(worst) = &whole
        && worst.count() > MOST_WAYS
    {
        let why = format!(
            "a record can pass through these releases in {} ways, and a memo certifies the worst of at most {MOST_WAYS}; each release alone has its own \
             certificate",
            worst.count()
        );
        return Err(Error::Unprovable { why });
    }
    prove(&Resolved::of_whole(title, population.neighbors, whole)?, request)
}

fn prove(subject: &Resolved, request: &Request) -> Result<Certificate> {
    Certificate::prove(subject, &Question::Epsilon { delta: request.delta.clone() }, request.digits)
}

/// The number of a certificate that is about the same epsilon as the ledger's answer; otherwise that answer, with the reason.
fn checked(certificate: Result<Certificate>, value: Enclosure, (file, is_upper_bound): (&str, bool)) -> Result<Number> {
    let certificate = match certificate {
        Ok(certificate) => certificate,
        Err(error) if error.is_fatal() => return Err(error),
        Err(error) => return Ok(Number::of_enclosure(&value, reason(error))),
    };
    let ends = &certificate.claim.ends;
    let is_same = value.lower_rational().is_some_and(|lower| lower <= ends.upper)
        && value.upper_rational().is_some_and(|upper| upper >= ends.lower);
    match is_same {
        true => Ok(Number::of_certificate(certificate, file, is_upper_bound)),
        false => {
            let why = "a certificate of the release alone is about another account than that of this ledger";
            Ok(Number::of_enclosure(&value, why.to_string()))
        }
    }
}
