//! A release as an entry of the public Deployments Registry, in its YAML.
//!
//! The entry has the facts of the release file and certified parameters. Required fields that the file cannot fill say so, and optional ones are
//! left out with a comment. The figures of its texts determine each other, so that `assay deployments --from` checks them.

use rug::Rational;

use super::{
    algorithms::{calculation, has_sensitivity, parameters},
    blocks::upper,
    figures::{Figures, Line, QueryLine, SHOWN},
    yaml::{Yaml, one_line},
};
use crate::{
    error::{Error, Result},
    io::provenance::VERSION,
    numeric::{Enclosure, rational},
};

/// The largest parameter of an entry.
const MOST: u32 = 1_000_000;

/// The entry; an error where a parameter is beyond the registry's range.
pub fn entry(figures: &Figures) -> Result<String> {
    let mut yaml = Yaml::default();
    let to_complete = |what: &str| format!("To be completed: {what}");
    let comment = format!(
        "An entry of the Deployments Registry, written by assay {VERSION} from a release file. Texts that begin with To be completed, the date, and fields in \
         comments are for the curator."
    );
    yaml.comment(0, &comment);
    // Without a year at its end, which would have to be that of publication.
    yaml.text(0, "url_slug", &format!("{}-draft", slug(figures)));
    yaml.plain(0, "status", "Draft");
    yaml.plain(0, "tier", "3");
    yaml.map(0, "deployment");
    basic(&mut yaml, figures, &to_complete);
    variant(&mut yaml, figures);
    loss(&mut yaml, figures)?;
    yaml.comment(1, "deployment_model: model_name (Local, Central, ...), actors, release_type, data_source_type and access_type are not in a release file");
    yaml.map(1, "accounting");
    yaml.comment(2, "post_processing: not in a release file");
    yaml.block(2, "composition", &composition(figures));
    yaml.map(1, "implementation");
    yaml.comment(2, "preprocessing_and_hyperparameter_tuning, justification: not in a release file");
    yaml.block(2, "mechanisms", &mechanisms(figures));
    yaml.map(1, "administrative");
    yaml.text(2, "sources", &figures.release.map_or(to_complete("the sources."), |release| release.source.clone()));
    yaml.texts(2, "registry_authors", &[&to_complete("the authors of this entry.")]);
    Ok(yaml.into_text())
}

fn slug(figures: &Figures) -> String {
    let name = figures.release.map_or("mechanism", |release| release.name.as_str()).to_lowercase();
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(80).collect();
    let plain = plain.trim_matches('-');
    if plain.is_empty() { "release".to_string() } else { plain.to_string() }
}

fn basic(yaml: &mut Yaml, figures: &Figures, to_complete: &dyn Fn(&str) -> String) {
    let is_training = figures.queries.iter().any(|line| line.query.counts.law.is_sampled());
    yaml.map(1, "basic");
    yaml.text(2, "name", &one_line(&figures.subject.title));
    yaml.texts(2, "data_curators", &[&to_complete("the entity that publishes the data product.")]);
    yaml.text(2, "intended_use", &to_complete("the intended use."));
    yaml.comment(2, "The kind of product that the release file suggests");
    yaml.plain(2, "data_product_type", if is_training { "Machine learning model" } else { "Summary statistics" });
    yaml.text(2, "data_product_region", &to_complete("the region."));
    yaml.text(2, "description", &to_complete("a brief description."));
    yaml.comment(2, "The date of publication, to be completed");
    yaml.text(2, "publication_date", "0001-01-01");
    yaml.comment(2, "data_product_sector: not in a release file");
}

/// Whether the entry is about pure differential privacy: the losses are bounded.
fn is_pure(figures: &Figures) -> bool {
    figures.pure.is_some()
}

fn variant(yaml: &mut Yaml, figures: &Figures) {
    yaml.map(1, "dp_variant");
    yaml.text(2, "variant_name", if is_pure(figures) { "Pure DP" } else { "Approximate DP" });
    yaml.comment(2, "data_domain, unprotected_quantities: not in a release file");
}

fn loss(yaml: &mut Yaml, figures: &Figures) -> Result<()> {
    yaml.map(1, "privacy_loss");
    let records = match figures.subject.group {
        1 => "One record".to_string(),
        group => format!("A group of up to {group} records"),
    };
    yaml.text(2, "privacy_unit", &format!("{records} (to be completed: of a person, a household, an event)"));
    yaml.block(2, "privacy_unit_details", &unit(figures));
    let delta = &figures.request.delta;
    let mut details = Vec::new();
    let (certified, at_delta) = (figures.epsilon_text(), delta_text(delta));
    yaml.map(2, "privacy_parameters");
    match &figures.pure {
        Some(largest) => {
            let epsilon = in_range(upper(largest))?;
            yaml.plain(3, "epsilon", &epsilon);
            details.push(format!("The largest privacy loss of the whole: ε = {epsilon}."));
            details.push(format!(
                "The privacy profile, certified and rounded up: epsilon at most {certified} at delta {at_delta}."
            ));
        }
        None => {
            let epsilon = in_range(certified.clone())?;
            yaml.plain(3, "epsilon", &epsilon);
            yaml.plain(3, "delta", &at_delta);
            details.push(match rational::parse(&certified)? == 0 {
                true => format!("Certified for the whole: ε = 0 at δ = {at_delta}. The registry has no ε = 0: {epsilon} is above it."),
                false => format!("Certified for the whole, rounded up: ε = {epsilon} at δ = {at_delta}."),
            });
        }
    }
    let prior = rational::display(&figures.request.prior);
    details.push(format!(
        "An adversary who gives {} the probability {prior} beforehand decides correctly at most {} times in 100.",
        figures.subject.unit().first_answer(),
        figures.whole.right_of_100()
    ));
    let lines: Vec<String> = details.iter().map(|line| format!("- {line}")).collect();
    yaml.block(2, "privacy_parameters_details", &lines);
    Ok(())
}

/// A positive parameter in the registry's range.
fn in_range(text: String) -> Result<String> {
    let value = rational::parse(&text)?;
    if value > MOST {
        let expected = "at most 1000000, the largest epsilon of an entry";
        return Err(Error::out_of_range("epsilon", text, expected));
    }
    // An upper bound: the registry has no parameter 0.
    let text = if value > 0 { text } else { "1.0e-12".to_string() };
    Ok(with_point(&text))
}

/// Delta as a decimal; a fraction is rounded up, as the guarantee holds at every larger delta.
fn delta_text(delta: &Rational) -> String {
    let exact = rational::display(delta);
    with_point(&if exact.contains('/') { Enclosure::rational(delta, 256).upper_text(12) } else { exact })
}

/// A decimal in the form in which every reader of YAML takes it for a number: `1.0e-10`, and not `1e-10`.
fn with_point(text: &str) -> String {
    match text.split_once('e') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0e{exponent}"),
        _ => text.to_string(),
    }
}

fn unit(figures: &Figures) -> Vec<String> {
    let subject = figures.subject;
    let mut lines = vec![format!(
        "Data sets are adjacent if {} ({} neighbors, {}).",
        subject.unit().difference(),
        subject.neighbors.name(),
        subject.unit().meaning()
    )];
    if subject.repeat > 1 {
        lines.push(format!("The parameters are those of {} releases, each with noise of its own.", subject.repeat));
    }
    if let Some(why) = subject.may_be_more_private() {
        lines.push(format!("The parameters are upper bounds; the mechanism may be more private: {why}."));
    }
    lines.extend(subject.note());
    lines
}

fn composition(figures: &Figures) -> Vec<String> {
    let mut lines = vec![
        "The distribution of the sum of all privacy losses is computed with proven bounds on all errors; no composition theorem is used.".to_string(),
    ];
    if let Some(ways) = figures.subject.ways() {
        lines.push(format!("The parameters are the worst of {ways}."));
    }
    let Some(whole) = &figures.whole.rho else { return lines };
    lines.push("In zero-concentrated differential privacy the budgets add up:".to_string());
    let parts: Vec<(&Line, &Rational)> =
        figures.levels.iter().filter_map(|line| Some((line, line.rho.as_ref()?))).collect();
    // Levels with groups of two kinds share a budget: then the parts do not add up, and are not listed.
    let sum = parts.iter().fold(Rational::new(), |sum, (_, rho)| sum + *rho);
    if parts.len() > 1 && sum == *whole {
        lines.push(format!("  - Total: the sum of all levels, ρ = {}", rounded(whole)));
        lines.extend(parts.iter().map(|(line, rho)| format!("    - {}: ρ = {}", one_line(&line.name), rounded(rho))));
    } else {
        lines.push(format!("  - Total: ρ = {}", rounded(whole)));
    }
    lines
}

fn rounded(value: &Rational) -> String {
    Enclosure::rational(value, 128).shown(SHOWN)
}

fn mechanisms(figures: &Figures) -> Vec<String> {
    let line = |line: &QueryLine| {
        let counts = &line.query.counts;
        let changed = match counts.free_rows {
            _ if !has_sensitivity(&counts.law) => format!("{} of them", counts.count),
            true => {
                format!("{} counts changed by {} rows, at most, in cells of any choice", counts.count, counts.shift)
            }
            false => format!("{} counts changed by {} each", counts.count, counts.shift),
        };
        let calculation = calculation(line).map_or(String::new(), |calculation| format!("; its ρ: {calculation}"));
        format!(
            "  - {}: {} ({}), {changed}{calculation}",
            one_line(&line.name),
            counts.law.in_words(),
            parameters(&counts.law)
        )
    };
    let worst = if figures.subject.group == 1 { "" } else { ", in the worst way for a group" };
    let mut lines =
        vec![format!("Each independent of all others, with the counts that differ between neighbors{worst}:")];
    lines.extend(figures.queries.iter().map(line));
    lines
}
