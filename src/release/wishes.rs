//! What a planned release wishes for: a TOML file of queries with weights and accuracy targets.
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
    account::allocate::Wish,
    error::{Error, Result},
    noise::DiscreteGaussian,
    numeric::rational,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WishFile {
    #[serde(rename = "query")]
    queries: Vec<Spanned<QueryFile>>,
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

/// Reads wishes from the text of a TOML file; `file` names it in messages.
pub fn parse(text: &str, file: &str) -> Result<Vec<Wish>> {
    let refuse = |at: usize, why: String| {
        let (line, column) = match text.get(..at) {
            None => (0, 0),
            Some(before) => {
                let last_line = before.rsplit('\n').next().unwrap_or("");
                (before.matches('\n').count() + 1, last_line.chars().count() + 1)
            }
        };
        Error::DataFile { file: file.to_string(), line, column, why }
    };
    let raw: WishFile = toml::from_str(text).map_err(|error| {
        refuse(error.span().map_or(usize::MAX, |span| span.start), error.message().replace('\n', " "))
    })?;
    let positive = |field: &Option<Spanned<String>>, what: &str| -> Result<Option<Rational>> {
        let Some(text) = field else { return Ok(None) };
        let at = text.span().start;
        let value = rational::parse(text.get_ref()).map_err(|error| refuse(at, error.to_string()))?;
        if value <= 0 {
            return Err(refuse(at, format!("{what} must be above 0")));
        }
        Ok(Some(value))
    };
    let mut wishes: Vec<Wish> = Vec::new();
    for query in &raw.queries {
        let query = query.get_ref();
        let (name, at) = (query.name.get_ref(), query.name.span().start);
        if wishes.iter().any(|wish| wish.name == *name) {
            return Err(refuse(at, format!("the query {name:?} occurs twice")));
        }
        if query.count == 0 {
            return Err(refuse(at, format!("the query {name:?}: count must be at least 1")));
        }
        let one = || Rational::from(1);
        let weight = positive(&query.weight, "weight")?.unwrap_or_else(one);
        let least = positive(&query.least_sigma2, "least_sigma2")?.unwrap_or_else(one);
        let mut most = positive(&query.most_sigma2, "most_sigma2")?;
        let squared = positive(&query.most_squared_error, "most_squared_error")?;
        let margin = match &query.most_margin {
            None => None,
            Some(margin) => {
                let widest = most_sigma2_of_margin(*margin.get_ref(), &least)?;
                Some(widest.ok_or_else(|| {
                    let least = rational::display(&least);
                    refuse(margin.span().start, format!("the margin is wider already at the least sigma2, {least}"))
                })?)
            }
        };
        for other in [squared, margin].into_iter().flatten() {
            most = Some(most.map_or(other.clone(), |most| most.min(other)));
        }
        if most.as_ref().is_some_and(|most| *most < least) {
            let why =
                format!("the query {name:?}: its accuracy target or most_sigma2 asks for less noise than least_sigma2");
            return Err(refuse(at, why));
        }
        wishes.push(Wish { name: name.clone(), count: query.count, weight, least, most });
    }
    if wishes.is_empty() {
        return Err(refuse(0, "at least one [[query]] is needed".to_string()));
    }
    Ok(wishes)
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
    /// A wish for every query of every level, each of weight 1 per query, under the release's own relation or another.
    pub fn wishes(&self, neighbors: Option<Neighbors>) -> Result<Vec<Wish>> {
        if self.budget_only {
            return Err(Error::BudgetOnly { release: self.name.clone() });
        }
        let neighbors = neighbors.unwrap_or(self.neighbors);
        let wish = |level: &str, query: &super::Query| Wish {
            name: format!("{level} / {}", query.name),
            count: query.times.saturating_mul(query.cells).saturating_mul(neighbors.cells()),
            weight: Rational::from(query.times),
            least: Rational::from(1),
            most: None,
        };
        let all = self.levels.iter().flat_map(|level| level.queries.iter().map(move |query| wish(&level.name, query)));
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
        let wishes = parse(GOOD, "wishes.toml").unwrap();
        assert_eq!((wishes[0].count, wishes[0].weight.to_string().as_str()), (2, "3/2"));
        assert_eq!((&wishes[1].least, wishes[1].most.as_ref().unwrap()), (&Rational::from(5), &Rational::from(60)));
        let most = wishes[0].most.clone().unwrap();
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
            let message = parse(&GOOD.replacen(from, to, 1), "wishes.toml").unwrap_err().to_string();
            assert!(message.contains(says) && message.contains("wishes.toml"), "{from} -> {to}: {message}");
        }
        assert!(parse("", "wishes.toml").is_err());
    }
}
