//! Query targets of a planned release: a TOML file of queries with weights and accuracy targets.
//!
//! | field | meaning |
//! | --- | --- |
//! | `[[query]]` `name` | the query; in `LEVEL / QUERY` the part before the first ` / ` is its level |
//! | `count` | the number of its counts that one record changes when it is added or removed (default 1) |
//! | `sensitivity` | by how much it moves each of them (default 1) |
//! | `weight` | the cost of a unit of expected squared error, above 0 (default 1) |
//! | `least_sigma2` | the least variance proxy allowed (default 1) |
//! | `most_sigma2` | the greatest |
//! | `most_squared_error` | accuracy target: `E[X^2]` at most this; sigma2 at most this is enough, since `E[X^2] < sigma2` |
//! | `most_margin` | accuracy target: `|X|` at most this with probability 95 % |

use rug::Rational;
use serde::Deserialize;
use toml::Spanned;

use super::{Changed, GeoLevel, Neighbors, Query, Release};
use crate::{
    account::allocate::QueryTarget,
    error::{Error, Result},
    io::toml_reader::{Exact, TomlReader},
    loss::law::Law,
    noise::DiscreteGaussian,
    numeric::rational,
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
    count: Option<Spanned<Exact>>,
    #[serde(alias = "shift")]
    sensitivity: Option<Spanned<Exact>>,
    weight: Option<Spanned<Exact>>,
    least_sigma2: Option<Spanned<Exact>>,
    most_sigma2: Option<Spanned<Exact>>,
    most_squared_error: Option<Spanned<Exact>>,
    most_margin: Option<Spanned<Exact>>,
}

/// Reads query targets from the text of a TOML file, for a record that is added or removed; `file` names it in messages.
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
    let whole = |field: &Option<Spanned<Exact>>, what: &str| {
        reader.whole_or(field.as_ref(), 1, 1, &format!("the query {name:?}: {what}"))
    };
    let (count, shift) = (whole(&query.count, "count")?, whole(&query.sensitivity, "sensitivity")?);
    let positive =
        |field: &Option<Spanned<Exact>>, what: &str| field.as_ref().map(|text| reader.positive(text, what)).transpose();
    let one = || Rational::from(1);
    let weight = positive(&query.weight, "weight")?.unwrap_or_else(one);
    let least = positive(&query.least_sigma2, "least_sigma2")?.unwrap_or_else(one);
    let given = positive(&query.most_sigma2, "most_sigma2")?;
    let squared = positive(&query.most_squared_error, "most_squared_error")?;
    let margin = query.most_margin.as_ref().map(|margin| reader.whole(margin, 0, "most_margin")).transpose()?;
    let accuracy = Accuracy { sigma2: given, squared_error: squared, margin };
    let most = accuracy.most_sigma2(&least)?.map_err(|unmet| match (unmet, &query.most_margin) {
        (Unmet::Margin, Some(margin)) => reader.refuse(margin.span().start, unmet.why(&least)),
        _ => reader.refuse(at, format!("the query {name:?}: {}", unmet.why(&least))),
    })?;
    Ok(QueryTarget { name: name.clone(), count, shift, weight, least, most })
}

/// The required accuracy of a query; a field is `None` if there is no such requirement.
#[derive(Clone, Debug, Default)]
pub struct Accuracy {
    /// sigma2 at most this.
    pub sigma2: Option<Rational>,
    /// `E[X^2]` at most this; sigma2 at most this is enough, since `E[X^2] < sigma2`.
    pub squared_error: Option<Rational>,
    /// `|X|` at most this with probability 95 %.
    pub margin: Option<u64>,
}

/// An accuracy that no noise with at least the least sigma2 has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmet {
    /// The margin.
    Margin,
    /// Another one.
    Sigma2,
}

impl Unmet {
    /// The reason in words.
    pub fn why(self, least: &Rational) -> String {
        match self {
            Unmet::Margin => format!("even the least sigma2, {}, has a wider margin", rational::display(least)),
            Unmet::Sigma2 => "its accuracy target or most_sigma2 requires less noise than least_sigma2".to_string(),
        }
    }
}

impl Accuracy {
    /// The greatest variance proxy with this accuracy, at least `least`; `None` if there is no bound.
    pub fn most_sigma2(&self, least: &Rational) -> Result<std::result::Result<Option<Rational>, Unmet>> {
        let margin = match self.margin {
            None => None,
            Some(margin) => match most_sigma2_of_margin(margin, least)? {
                None => return Ok(Err(Unmet::Margin)),
                widest => widest,
            },
        };
        let most = [self.sigma2.clone(), self.squared_error.clone(), margin].into_iter().flatten().min();
        Ok(if most.as_ref().is_some_and(|most| most < least) { Err(Unmet::Sigma2) } else { Ok(most) })
    }
}

/// The largest multiple of 1/1000, at least `least`, whose 95 % margin is at most `margin`, by bisection, with a proof.
fn most_sigma2_of_margin(margin: u64, least: &Rational) -> Result<Option<Rational>> {
    let margin = i64::try_from(margin).unwrap_or(i64::MAX).min(100_000_000);
    let level = Rational::from((39, 40));
    let fits =
        |sigma2: &Rational| -> Result<bool> { Ok(DiscreteGaussian::new(sigma2.clone())?.quantile(&level)? <= margin) };
    if !fits(least)? {
        return Ok(None);
    }
    // The margin is close to 1.96 sigma, and at most 1 more.
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

/// The separator of the level and the query in the name of a target.
const OF_LEVEL: &str = " / ";
/// The level of queries that name none.
const NO_LEVEL: &str = "all";

/// These targets under a relation: a changed record leaves one cell and enters another, unless the counts are already those
/// that differ.
pub fn under(targets: Vec<QueryTarget>, neighbors: Neighbors, changed: Changed) -> Result<Vec<QueryTarget>> {
    let times = changed.times(neighbors)?;
    let counted = |target: QueryTarget| QueryTarget { count: target.count.saturating_mul(times), ..target };
    Ok(targets.into_iter().map(counted).collect())
}

/// The least noise of a file with margins of error: the margin of one count is then 0.
#[cfg(feature = "mechanisms")]
const LEAST_OF_MARGINS: &str = "0.05";

/// A file from which [`parse`] reads these queries, each with its margin of error as the accuracy target.
#[cfg(feature = "mechanisms")]
pub fn text_with_margins<'t>(targets: impl Iterator<Item = (&'t QueryTarget, u64)>) -> String {
    let query = |(target, margin): (&QueryTarget, u64)| {
        format!(
            "[[query]]\nname = {}\ncount = {}\nsensitivity = {}\nleast_sigma2 = {LEAST_OF_MARGINS}\nmost_margin = {margin}\n",
            super::written::quoted(&target.name),
            target.count,
            target.shift
        )
    };
    targets.map(query).collect()
}

/// A release of queries from a file, for add-remove neighbors, with a sigma2 for each of them; its title and source describe
/// how the noise was found.
pub fn release_of(
    targets: &[QueryTarget],
    sigma2: &[Rational],
    (neighbors, changed): (Neighbors, Changed),
    about: [&str; 3],
) -> Result<Release> {
    let mut levels: Vec<GeoLevel> = Vec::new();
    for (target, sigma2) in targets.iter().zip(sigma2) {
        let (level, query) = target.name.split_once(OF_LEVEL).unwrap_or((NO_LEVEL, &target.name));
        let own = Query::of_law(query.to_string(), Law::DiscreteGaussian { sigma2: sigma2.clone() });
        let query = Query { cells: target.count, shift: target.shift, changed, ..own };
        match levels.iter_mut().find(|known| known.name == level) {
            Some(known) => known.queries.push(query),
            None => levels.push(GeoLevel { name: level.to_string(), rho: Rational::new(), queries: vec![query] }),
        }
    }
    Release::of_levels(about, neighbors, levels).spending()
}

impl Release {
    /// These queries with other noise, a sigma2 for each in the order of [`Release::query_targets`], under a neighbor
    /// relation. On its block paths the new rho of a bypassed level goes to the next kept level above, as before.
    pub fn with_sigma2(&self, sigma2: &[Rational], neighbors: Neighbors, about: [&str; 3]) -> Result<Release> {
        let [name, title, source] = about.map(String::from);
        // Published figures are about other noise.
        let published = Vec::new();
        let mut release = Release { name, title, source, neighbors, published, sha256: None, ..self.clone() };
        let queries = release.levels.iter_mut().flat_map(|level| &mut level.queries);
        for (query, sigma2) in queries.zip(sigma2) {
            query.law = Law::DiscreteGaussian { sigma2: sigma2.clone() };
        }
        release.spending()
    }

    /// The same with every rho set to that of its discrete Gaussian noise.
    fn spending(mut self) -> Result<Release> {
        for level in &mut self.levels {
            for query in &mut level.queries {
                let taken = query.changed.times(self.neighbors)?;
                let moved = Rational::from(query.shift).square() * query.cells * taken;
                if let Some(sigma2) = query.law.discrete_sigma2() {
                    query.rho = moved / Rational::from(sigma2 * 2_u32);
                }
            }
            level.rho = GeoLevel::spent(&level.queries);
        }
        self.rho = self.levels.iter().fold(Rational::new(), |sum, level| sum + &level.rho);
        Ok(self)
    }

    /// Whether its queries share one budget, so that it can be divided among them. Refused are levels with a mix of groups, whose
    /// kinds have the whole budget each, and queries whose noise costs nothing.
    pub fn shares_budget(&self, neighbors: Neighbors) -> Result<()> {
        let all: Vec<usize> = (0..self.levels.len()).collect();
        if let Some(mix) = self.mixes.first() {
            let expected =
                "one query of every record: at a level with a [[mix]] the groups of either kind have the whole budget";
            return Err(Error::malformed("the queries of a mix of groups", &mix.name, expected));
        }
        if let Some(unmoved) = self.unmoved(&all, neighbors).first() {
            let expected = "queries whose counts move: noise costs nothing where moves = 0, so leave this query out";
            return Err(Error::malformed("the query", unmoved, expected));
        }
        Ok(())
    }

    /// A target for every query of every level, each of weight 1 per query, under the release's own relation or another.
    pub fn query_targets(&self, neighbors: Option<Neighbors>) -> Result<Vec<QueryTarget>> {
        if self.budget_only {
            return Err(Error::BudgetOnly { release: self.name.clone() });
        }
        let neighbors = neighbors.unwrap_or(self.neighbors);
        let target = |level: &str, query: &Query| {
            // Noise of another law has no sigma2 to choose.
            query.sigma2()?;
            Ok(QueryTarget {
                name: format!("{level}{OF_LEVEL}{}", query.name),
                count: query.times.saturating_mul(query.cells).saturating_mul(query.changed.times(neighbors)?),
                shift: query.shift,
                weight: Rational::from(query.times),
                least: Rational::from(1),
                most: None,
            })
        };
        let all =
            self.levels.iter().flat_map(|level| level.queries.iter().map(move |query| target(&level.name, query)));
        all.collect()
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

    #[cfg(feature = "mechanisms")]
    #[test]
    fn a_text_with_margins_is_read_again() {
        let odd = "a \"b\" \\ / c\n\u{7f}";
        let target = QueryTarget { name: odd.to_string(), ..parse(GOOD, "f").unwrap().remove(0) };
        let text =
            text_with_margins([(&target, 3), (&QueryTarget { name: "x".into(), ..target.clone() }, 0)].into_iter());
        let read = parse(&text, "f").unwrap();
        assert_eq!((read[0].name.as_str(), read[0].count, read.len()), (odd, 2, 2));
        let margin = |sigma2: &Rational| {
            DiscreteGaussian::new(sigma2.clone()).unwrap().quantile(&Rational::from((39, 40))).unwrap()
        };
        assert_eq!(margin(read[0].most.as_ref().unwrap()), 3);
        assert_eq!(margin(read[1].most.as_ref().unwrap()), 0);
    }

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

    #[test]
    fn plain_and_quoted_numbers_are_the_same() {
        let plain = GOOD.replace("\"3/2\"", "1.5").replace("\"5\"", "5").replace("\"60\"", "6e1");
        let quoted = GOOD.replace("count = 2", "count = \"2\"").replace("= 10", "= \"10\"");
        let (own, plain, quoted) =
            (parse(GOOD, "f").unwrap(), parse(&plain, "f").unwrap(), parse(&quoted, "f").unwrap());
        for (k, target) in own.iter().enumerate() {
            for other in [&plain[k], &quoted[k]] {
                assert_eq!((&target.weight, &target.least, &target.most), (&other.weight, &other.least, &other.most));
                assert_eq!((target.count, target.shift), (other.count, 1));
            }
        }
    }

    #[test]
    fn chosen_noise_becomes_a_release() {
        let text = "[[query]]\nname = 'State / a / b'\ncount = 3\nsensitivity = 2\n[[query]]\nname = 'alone'\n\
                    [[query]]\nname = 'State / c'\n";
        let targets = parse(text, "f").unwrap();
        let sigma2: Vec<Rational> = [6, 5, 4].map(Rational::from).to_vec();
        let release = release_of(&targets, &sigma2, (Neighbors::Bounded, Changed::Twice), ["n", "t", "s"]).unwrap();
        let again = Release::parse(&release.to_toml(), "f").unwrap();
        assert_eq!(again.levels.iter().map(|level| level.name.as_str()).collect::<Vec<_>>(), ["State", "all"]);
        assert_eq!((again.levels[0].queries[0].name.as_str(), again.levels[0].queries.len()), ("a / b", 2));
        // Both sides of a changed record: 2 * 3 * 4 / (2 * 6), 2 / (2 * 4) and 2 / (2 * 5).
        assert_eq!(again.rho, Rational::from(2) + Rational::from((1, 4)) + Rational::from((1, 5)));
        assert_eq!(again.rho, release.rho);
        let doubled = under(targets.clone(), Neighbors::Bounded, Changed::Twice).unwrap();
        assert_eq!(doubled[0].count, 6);
        // Counts that are given for the relation are counted once, and written accordingly.
        let given = release_of(&targets, &sigma2, (Neighbors::Bounded, Changed::AsGiven), ["n", "t", "s"]).unwrap();
        assert_eq!(given.rho, Rational::from(&release.rho / 2_u32));
        assert_eq!(Release::parse(&given.to_toml(), "f").unwrap().rho, given.rho);
        assert_eq!(under(targets.clone(), Neighbors::Bounded, Changed::AsGiven).unwrap()[0].count, 3);
        assert!(under(targets, Neighbors::AddRemove, Changed::AsGiven).is_err());
        let own = Release::find("su-su-wang-2025").unwrap();
        let all: Vec<Rational> = own.levels.iter().map(|_| Rational::from(7)).collect();
        let other = own.with_sigma2(&all, Neighbors::AddRemove, ["n", "t", "s"]).unwrap();
        assert_eq!(other.rho, Rational::from((80, 14)));
        assert_eq!(Release::parse(&other.to_toml(), "f").unwrap().rho, other.rho);
    }
}
