//! A release of the margins of a table, from the names and sizes of its columns alone: no record is needed.
//!
//! Each record of the table is in one unit of every level, and has one value in every column. A query counts the records of a unit by the values of
//! some columns, so that one record enters exactly one of its cells, and moves it by 1.

use std::collections::BTreeSet;

use rug::{Integer, Rational, ops::Pow};

use super::{
    Changed, GeoLevel, Neighbors, Query, Release,
    schema::{MOST_CELLS, Schema},
};
use crate::{
    error::{Error, Result},
    loss::law::Law,
    numeric::rational,
};

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The number of values that it can have: a public number, which does not depend on the records.
    pub size: u64,
}

/// The law of the noise on the cells of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Discrete Gaussian noise.
    Gaussian,
    /// Discrete Laplace noise.
    Laplace,
}

/// How much noise a query has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// By the parameter of its law: sigma2, or the epsilon of a change by 1.
    Parameter(Rational),
    /// By its share of the budget, relative to the shares of all such queries together.
    Share(Rational),
}

/// A query: the counts of the records by the values of some columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Margin {
    /// Its level.
    pub level: String,
    /// The columns that it keeps; none for the total.
    pub columns: Vec<String>,
    /// The law of its noise.
    pub kind: Kind,
    /// Its noise.
    pub amount: Amount,
}

/// The queries of a table, and what they may spend.
#[derive(Clone, Debug)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The names of the levels, the largest units first.
    pub levels: Vec<String>,
    /// The queries.
    pub margins: Vec<Margin>,
    /// The zCDP budget that queries with a share divide.
    pub rho: Option<Rational>,
    /// The neighbor relation.
    pub neighbors: Neighbors,
}

/// Significant digits of a parameter of discrete Laplace noise that follows from a share.
const DIGITS: i64 = 6;
/// More values of a column are not written as a histogram.
const MOST_VALUES: u64 = 100_000;

impl Table {
    /// The release of these queries under a name, with its source. Its text has been read again, so that its file can be read.
    ///
    /// Noise that follows from a share spends no more than the share: Gaussian noise all of it, and discrete Laplace noise that of
    /// the largest epsilon of six digits within it.
    pub fn release(&self, name: &str, source: &str) -> Result<Release> {
        self.check()?;
        let levels = self
            .levels
            .iter()
            .map(|level| self.level(level))
            .filter(|level| level.as_ref().map_or(true, |level: &GeoLevel| !level.queries.is_empty()));
        let levels = levels.collect::<Result<Vec<GeoLevel>>>()?;
        let of_column = |column: &Column| format!("{} ({})", column.name, column.size);
        let columns = self.columns.iter().map(of_column).collect::<Vec<_>>().join(", ");
        let title = if columns.is_empty() { "Counts of records".to_string() } else { format!("Counts by {columns}") };
        let release = Release::of_levels([name, &title, source], self.neighbors, levels);
        Release { schema: self.schema(), ..release }.read_again()
    }

    /// The number of cells of a query in one unit of its level.
    pub fn cells(&self, columns: &[String]) -> Integer {
        let sizes = self.columns.iter().filter(|column| columns.contains(&column.name)).map(|column| column.size);
        sizes.fold(Integer::from(1), |cells, size| cells * size)
    }

    /// The histogram, if it is small enough for a file.
    fn schema(&self) -> Option<Schema> {
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        let is_small = self.columns.iter().all(|column| column.size <= MOST_VALUES);
        if self.columns.is_empty() || !is_small || self.cells(&names) > MOST_CELLS {
            return None;
        }
        Some(Schema::numbered(self.columns.iter().map(|column| (&column.name, column.size as usize))))
    }

    fn check(&self) -> Result<()> {
        for column in &self.columns {
            let name = column.name.trim();
            if name.is_empty() || ["total", "detailed"].contains(&name) || name.contains('*') || name != column.name {
                let expected =
                    "a name without * and without blanks around it; total and detailed have a meaning in queries";
                return Err(Error::malformed("the name of a column", &column.name, expected));
            }
            if column.size == 0 {
                let what = format!("the size of the column {:?}", column.name);
                return Err(Error::out_of_range(&what, 0, "1 or more values"));
            }
        }
        unique("column", self.columns.iter().map(|column| column.name.as_str()))?;
        unique("level", self.levels.iter().map(String::as_str))?;
        if let Some(level) = self.levels.iter().find(|level| level.trim().is_empty()) {
            return Err(Error::malformed("the name of a level", level, "a name, such as nation or region"));
        }
        if self.margins.is_empty() {
            return Err(Error::unsuitable("no query: choose the total or some columns at a level"));
        }
        for margin in &self.margins {
            if !self.levels.contains(&margin.level) {
                return Err(Error::unknown("level", &margin.level, "there are", &self.levels));
            }
            let names = || self.columns.iter().map(|column| &column.name);
            if let Some(strange) = margin.columns.iter().find(|name| !names().any(|known| known == *name)) {
                return Err(Error::unknown("column", strange, "there are", names()));
            }
            unique(&format!("column of {}", self.shown(margin)), margin.columns.iter().map(String::as_str))?;
            // All of them before shares are added up: their sum is divided by.
            let (part, value) = match (&margin.amount, margin.kind) {
                (Amount::Share(share), _) => ("the share", share),
                (Amount::Parameter(sigma2), Kind::Gaussian) => ("sigma2", sigma2),
                (Amount::Parameter(epsilon), Kind::Laplace) => ("epsilon", epsilon),
            };
            if *value <= 0 {
                let what = format!("{part} of {}", self.shown(margin));
                return Err(Error::out_of_range(&what, rational::display(value), "a number above 0"));
            }
        }
        unique(
            "query",
            self.margins.iter().map(|margin| self.shown(margin)).collect::<Vec<_>>().iter().map(String::as_str),
        )
    }

    /// The name of a query within its level, with its columns in the order of the table.
    fn name(&self, margin: &Margin) -> String {
        let kept = self.columns.iter().map(|column| &column.name).filter(|name| margin.columns.contains(name));
        let names: Vec<&str> = kept.map(String::as_str).collect();
        if names.is_empty() { "total".to_string() } else { names.join(" * ") }
    }

    /// The name of a query for a reader.
    fn shown(&self, margin: &Margin) -> String {
        format!("{}: {}", margin.level, self.name(margin))
    }

    fn level(&self, name: &str) -> Result<GeoLevel> {
        let own = self.margins.iter().filter(|margin| margin.level == name);
        let queries = own.map(|margin| self.query(margin)).collect::<Result<Vec<Query>>>()?;
        Ok(GeoLevel { name: name.to_string(), rho: Rational::new(), queries })
    }

    fn query(&self, margin: &Margin) -> Result<Query> {
        let law = match (margin.kind, &margin.amount) {
            (Kind::Gaussian, Amount::Parameter(sigma2)) => Law::DiscreteGaussian { sigma2: sigma2.clone() },
            (Kind::Laplace, Amount::Parameter(epsilon)) => Law::DiscreteLaplace { epsilon: epsilon.clone() },
            (kind, Amount::Share(share)) => {
                // A record moves this many counts of the query by 1, each of which spends 1 / (2 sigma2), or at most epsilon^2 / 2.
                let counts = Changed::Twice.times(self.neighbors)?;
                let each = self.budget(share)? / counts;
                match kind {
                    Kind::Gaussian => Law::DiscreteGaussian { sigma2: (each * 2_u32).recip() },
                    Kind::Laplace => Law::DiscreteLaplace { epsilon: root_below(&(each * 2_u32)) },
                }
            }
        };
        Ok(Query::of_law(self.name(margin), law))
    }

    /// The budget of a share.
    fn budget(&self, share: &Rational) -> Result<Rational> {
        let rho = self.rho.as_ref().filter(|rho| **rho > 0).ok_or_else(|| {
            let given = self.rho.as_ref().map_or_else(|| "nothing".to_string(), rational::display);
            Error::out_of_range("the budget rho that queries share", given, "a number above 0")
        })?;
        let shares = self.margins.iter().filter_map(|margin| match &margin.amount {
            Amount::Share(share) => Some(share),
            Amount::Parameter(_) => None,
        });
        let sum = shares.fold(Rational::new(), |sum, share| sum + share);
        Ok(Rational::from(rho * share) / sum)
    }
}

/// An error if a name occurs twice.
fn unique<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> Result<()> {
    let mut known = BTreeSet::new();
    match names.into_iter().find(|name| !known.insert(*name)) {
        Some(twice) => Err(Error::conflict(format!("the {what} {twice:?} is there twice: names must differ"))),
        None => Ok(()),
    }
}

/// The largest number of [`DIGITS`] significant digits, or one more, whose square is at most `square` > 0.
fn root_below(square: &Rational) -> Rational {
    let bits = f64::from(square.numer().significant_bits()) - f64::from(square.denom().significant_bits());
    // The root is within a factor of 2 of 10^magnitude.
    let magnitude = (bits * std::f64::consts::LOG10_2 / 2.0).round() as i64;
    let places = (DIGITS - magnitude).max(0) as u32;
    let scale = Integer::from(10).pow(places);
    let scaled = Rational::from(square * scale.clone().square()).floor().into_numer_denom().0;
    // floor(sqrt(floor(x)))^2 <= x.
    Rational::from((scaled.sqrt(), scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Account;

    fn number(text: &str) -> Rational {
        rational::parse(text).unwrap()
    }

    fn table(margins: Vec<Margin>) -> Table {
        let column = |(name, size): (&str, u64)| Column { name: name.to_string(), size };
        let columns = [("sex", 2), ("age", 116), ("region of birth", 9)].map(column).to_vec();
        let levels = ["nation", "region"].map(String::from).to_vec();
        Table { columns, levels, margins, rho: Some(number("0.7")), neighbors: Neighbors::AddRemove }
    }

    fn margin(level: &str, columns: &[&str], kind: Kind, amount: Amount) -> Margin {
        let columns = columns.iter().map(ToString::to_string).collect();
        Margin { level: level.to_string(), columns, kind, amount }
    }

    fn share(text: &str) -> Amount {
        Amount::Share(number(text))
    }

    #[test]
    fn shares_are_spent_and_never_exceeded() {
        for neighbors in Neighbors::ALL {
            let margins = vec![
                margin("region", &["age", "sex"], Kind::Gaussian, share("2")),
                margin("nation", &[], Kind::Laplace, share("1")),
                margin("nation", &["sex"], Kind::Gaussian, Amount::Parameter(number("7/3"))),
            ];
            let release = Table { neighbors, ..table(margins) }.release("mine", "a test").unwrap();
            let names: Vec<&str> = release.levels.iter().map(|level| level.name.as_str()).collect();
            assert_eq!(names, ["nation", "region"]);
            let [total, sex] = &release.levels[0].queries[..] else { panic!("two queries") };
            let joint = &release.levels[1].queries[0];
            assert_eq!((total.name.as_str(), joint.name.as_str()), ("total", "sex * age"));
            assert_eq!(joint.rho, number("0.7") * Rational::from((2, 3)));
            let part = number("0.7") / 3_u32;
            assert!(total.rho <= part && total.rho.clone() * 100_000_u32 > part * 99_999_u32, "{}", total.rho);
            let taken = neighbors.cells();
            assert_eq!(sex.rho, Rational::from((3, 14)) * taken);
            // The composition of the file is that of the same counts given one by one.
            let texts = [
                format!("discrete-laplace:{}", rational::display(total.law.parameter())),
                "discrete-gaussian:7/3".to_string(),
                format!("discrete-gaussian:{}", rational::display(joint.law.parameter())),
            ];
            let counts = texts.iter().map(|text| {
                let (key, parameter) = text.split_once(':').unwrap();
                crate::account::Counts::parse(key, parameter).unwrap()
            });
            let singles = crate::release::subject::Subject {
                singles: counts.collect(),
                neighbors: Some(neighbors),
                ..Default::default()
            };
            let all = release.composition(&[] as &[&str], None).unwrap();
            assert_eq!(all.loss(), singles.clone().resolve().unwrap().total.loss());
            assert_eq!(Account::rho(&all), release.rho);
            assert_eq!(singles.as_release().unwrap().composition(&[] as &[&str], None).unwrap().loss(), all.loss());
            assert_eq!(release.schema.unwrap().cells(), 2 * 116 * 9);
        }
    }

    #[test]
    fn sizes_change_no_privacy_and_large_histograms_are_left_out() {
        let margins = vec![margin("nation", &["age"], Kind::Gaussian, Amount::Parameter(number("5")))];
        let small = table(margins);
        let mut large = small.clone();
        large.columns[1].size = 1 << 40;
        let [small_release, large_release] = [&small, &large].map(|table| table.release("m", "a test").unwrap());
        assert!(small_release.schema.is_some() && large_release.schema.is_none());
        assert!(large_release.title.contains("age (1099511627776)"));
        assert_eq!(small_release.rho, large_release.rho);
        assert_eq!(large.cells(&["age".to_string(), "sex".to_string()]), Integer::from(1) << 41);
    }

    #[test]
    fn a_root_has_its_digits_and_its_square_is_not_larger() {
        for text in ["2", "1", "0.02", "1e-30", "1e-31", "123456789e20", "1e40", "7/3"] {
            let (square, root) = (number(text), root_below(&number(text)));
            assert!(Rational::from(root.square_ref()) <= square, "{text}");
            let more = root * Rational::from((100_001, 100_000));
            assert!(more.square() > square, "{text}");
        }
        assert_eq!(root_below(&number("4")), 2);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let sex = || margin("nation", &["sex"], Kind::Gaussian, share("1"));
        let refused = |table: Table| table.release("m", "a test").unwrap_err().to_string();
        assert!(refused(table(Vec::new())).contains("no query"));
        assert!(refused(table(vec![sex(), sex()])).contains("nation: sex"));
        assert!(refused(table(vec![margin("moon", &[], Kind::Gaussian, share("1"))])).contains("moon"));
        assert!(refused(table(vec![margin("nation", &["x"], Kind::Gaussian, share("1"))])).contains("\"x\""));
        assert!(refused(table(vec![margin("nation", &["sex", "sex"], Kind::Gaussian, share("1"))])).contains("twice"));
        assert!(refused(table(vec![margin("nation", &[], Kind::Gaussian, share("0"))])).contains("share"));
        let shares = |texts: [&str; 2]| {
            let [first, second] = texts.map(share);
            table(vec![margin("nation", &[], Kind::Gaussian, first), margin("nation", &["age"], Kind::Laplace, second)])
        };
        assert!(refused(shares(["1", "-1"])).contains("the share of nation: age"));
        assert!(refused(shares(["2", "-1"])).contains("the share of nation: age"));
        assert!(refused(Table { rho: None, ..table(vec![sex()]) }).contains("budget"));
        let none = Amount::Parameter(Rational::new());
        assert!(refused(table(vec![margin("nation", &[], Kind::Laplace, none)])).contains("epsilon of nation: total"));
        for name in ["", "total", "a*b", " a"] {
            let mut table = table(vec![margin("nation", &[], Kind::Gaussian, share("1"))]);
            table.columns[0].name = name.to_string();
            assert!(refused(table).contains("name of a column"), "{name}");
        }
        let mut empty = table(vec![sex()]);
        empty.columns[0].size = 0;
        assert!(refused(empty).contains("the size of the column \"sex\""));
    }
}
