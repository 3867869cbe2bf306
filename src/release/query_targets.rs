//! Query targets of a planned release: a TOML file of queries with weights and accuracy targets.
//!
//! | field | meaning |
//! | --- | --- |
//! | `[[query]]` `name`, `count` | a query, and how many of its counts one record moves by 1 (default 1) |
//! | `weight` | what a unit of expected squared error costs, above 0 (default 1) |
//! | `least_sigma2` | the least variance proxy allowed (default 1) |
//! | `most_sigma2` | the greatest |
//! | `most_squared_error` | accuracy target: `E[X^2]` at most this; sigma2 at most this is enough, since `E[X^2] < sigma2` |
//! | `most_margin` | accuracy target: `|X|` at most this with probability 95 % |

use rug::Rational;
use serde::Deserialize;
use toml::Spanned;

use super::{Neighbors, Release};
use crate::{
    account::allocate::QueryTarget,
    error::{Error, Result},
    noise::DiscreteGaussian,
    numeric::rational,
    toml_reader::TomlReader,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetsFile {
    #[serde(rename = "query")]
    queries: Vec<QueryFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryFile {
    name: Spanned<String>,
    #[serde(default = "one")]
    count: u64,
    weight: Option<Spanned<String>>,
    least_sigma2: Option<Spanned<String>>,
    most_sigma2: Option<Spanned<String>>,
    most_squared_error: Option<Spanned<String>>,
    most_margin: Option<Spanned<u64>>,
}

fn one() -> u64 {
    1
}

/// Reads query targets from the text of a TOML file; `file` names it in messages.
pub fn parse(text: &str, file: &str) -> Result<Vec<QueryTarget>> {
    let reader = TomlReader::new(file, text);
    let raw: TargetsFile = reader.toml()?;
    reader.no_duplicates(raw.queries.iter().map(|query| &query.name), "query")?;
    if raw.queries.is_empty() {
        return Err(reader.refuse(0, "at least one [[query]] is needed"));
    }
    raw.queries.iter().map(|query| target(&reader, query)).collect()
}

fn target(reader: &TomlReader, query: &QueryFile) -> Result<QueryTarget> {
    let (name, at) = (query.name.get_ref(), query.name.span().start);
    if query.count == 0 {
        return Err(reader.refuse(at, format!("the query {name:?}: count must be at least 1")));
    }
    let positive = |field: &Option<Spanned<String>>, what: &str| {
        field.as_ref().map(|text| reader.positive(text, what)).transpose()
    };
    let one = || Rational::from(1);
    let weight = positive(&query.weight, "weight")?.unwrap_or_else(one);
    let least = positive(&query.least_sigma2, "least_sigma2")?.unwrap_or_else(one);
    let given = positive(&query.most_sigma2, "most_sigma2")?;
    let squared = positive(&query.most_squared_error, "most_squared_error")?;
    let margin = match &query.most_margin {
        None => None,
        Some(margin) => {
            let widest = most_sigma2_of_margin(*margin.get_ref(), &least)?;
            Some(widest.ok_or_else(|| {
                let least = rational::display(&least);
                let why = format!("even the least sigma2, {least}, has a wider margin");
                reader.refuse(margin.span().start, why)
            })?)
        }
    };
    let most = [given, squared, margin].into_iter().flatten().min();
    if most.as_ref().is_some_and(|most| *most < least) {
        let why =
            format!("the query {name:?}: its accuracy target or most_sigma2 asks for less noise than least_sigma2");
        return Err(reader.refuse(at, why));
    }
    Ok(QueryTarget { name: name.clone(), count: query.count, weight, least, most })
}

/// The largest multiple of 1/1000 from `least` on whose 95 % margin is at most `margin`, by halving: that it is, is proven.
fn most_sigma2_of_margin(margin: u64, least: &Rational) -> Result<Option<Rational>> {
    let margin = i64::try_from(margin).unwrap_or(i64::MAX).min(100_000_000);
    let level = Rational::from((39, 40));
    let fits =
        |sigma2: &Rational| -> Result<bool> { Ok(DiscreteGaussian::new(sigma2.clone())?.quantile(&level)? <= margin) };
    if !fits(least)? {
        return Ok(None);
    }
    // The margin is near 1.96 sigma, and at most 1 more.
    let (mut low, mut high) = (least.clone(), Rational::from(margin + 2).square() + least);
    for _ in 0..60 {
        let middle = (Rational::from(&low + &high) * 500_u32).floor() / 1000_u32;
        if middle <= low || middle >= high {
            break;
        }
        if fits(&middle)? { low = middle } else { high = middle }
    }
    Ok(Some(low))
}

impl Release {
    /// A target for every query of every level, each of weight 1 per query, under the release's own relation or another.
    pub fn query_targets(&self, neighbors: Option<Neighbors>) -> Result<Vec<QueryTarget>> {
        if self.budget_only {
            return Err(Error::BudgetOnly { release: self.name.clone() });
        }
        let neighbors = neighbors.unwrap_or(self.neighbors);
        let target = |level: &str, query: &super::Query| QueryTarget {
            name: format!("{level} / {}", query.name),
            count: query.times.saturating_mul(query.cells).saturating_mul(neighbors.cells()),
            weight: Rational::from(query.times),
            least: Rational::from(1),
            most: None,
        };
        let all =
            self.levels.iter().flat_map(|level| level.queries.iter().map(move |query| target(&level.name, query)));
        Ok(all.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"[[query]]
name = "total"
count = 2
weight = "3/2"
most_margin = 10
[[query]]
name = "detail"
least_sigma2 = "5"
most_squared_error = "60"
"#;

    #[test]
    fn a_good_file_is_read_and_targets_become_bounds() {
        let targets = parse(GOOD, "targets.toml").unwrap();
        assert_eq!((targets[0].count, targets[0].weight.to_string().as_str()), (2, "3/2"));
        assert_eq!((&targets[1].least, targets[1].most.as_ref().unwrap()), (&Rational::from(5), &Rational::from(60)));
        let most = targets[0].most.clone().unwrap();
        let margin =
            |sigma2: Rational| DiscreteGaussian::new(sigma2).unwrap().quantile(&Rational::from((39, 40))).unwrap();
        assert_eq!(margin(most.clone()), 10);
        assert_eq!(margin(most + Rational::from((1, 1000))), 11);
    }

    #[test]
    fn every_broken_rule_is_refused_with_its_line() {
        for (from, to, says) in [
            ("\"3/2\"", "\"0\"", "line 4, column 10: weight must be above 0"),
            ("\"3/2\"", "\"-1\"", "above 0"),
            ("\"3/2\"", "\"x\"", "line 4"),
            ("count = 2", "count = 0", "at least 1"),
            ("count = 2", "count = -2", "line 3"),
            ("\"detail\"", "\"total\"", "occurs twice"),
            ("\"60\"", "\"4\"", "less noise than least_sigma2"),
            ("most_margin = 10", "most_margin = 0", "line 5"),
            ("weight", "wait", "line 4"),
        ] {
            assert!(GOOD.contains(from));
            let message = parse(&GOOD.replacen(from, to, 1), "targets.toml").unwrap_err().to_string();
            assert!(message.contains(says) && message.contains("targets.toml"), "{from} -> {to}: {message}");
        }
        assert!(parse("", "targets.toml").is_err());
    }
}
