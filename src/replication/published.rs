//! Published values as data: `data/published/*.toml` and files of the same form, a row for each printed number.

use std::path::Path;

use serde::Deserialize;

use super::{
    account_claims::AccountClaim, block_paths::PathClaim, published_file, risk::claims::RiskClaim,
    safetab::claims::SafetabClaim, spines::claims::SpineClaim, su_su_wang_2025::claims::SuSuWangClaim,
};
use crate::{
    error::{Error, Result},
    files::{Over, file_error, write_over},
};

/// The papers whose values are bundled.
const PAPERS: &[(&str, &str)] = &[
    ("su-su-wang-2025", include_str!("../../data/published/su-su-wang-2025.toml")),
    ("census-2020", include_str!("../../data/published/census-2020.toml")),
    ("kazan-reiter-2023", include_str!("../../data/published/kazan-reiter-2023.toml")),
    ("safetab-2021", include_str!("../../data/published/safetab-2021.toml")),
    ("safetab-p-2024", include_str!("../../data/published/safetab-p-2024.toml")),
    ("spines-2024", include_str!("../../data/published/spines-2024.toml")),
    ("sieve-quadrature-2026", include_str!("../../data/published/sieve-quadrature-2026.toml")),
];

/// The published values of one paper.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Its key, as the command line names it.
    pub paper: String,
    /// Its title.
    pub title: String,
    /// Its values, in the order of the paper.
    pub values: Vec<Published>,
    /// The file that it was read from; the key of a bundled paper.
    pub file: String,
    /// Whether it is bundled.
    pub is_bundled: bool,
    /// The releases that its values name: bundled ones, and files as they are found from here.
    pub releases: Vec<String>,
}

/// One printed value, as a claim.
#[derive(Clone, Debug)]
pub struct Published {
    /// A key that is unique within the paper.
    pub id: String,
    /// The place in the paper: section, table or figure.
    pub place: String,
    /// The text as printed.
    pub printed: String,
    /// What the number is, and how it is to be read.
    pub unit: Unit,
    /// What computes it.
    pub compute: Compute,
    /// A remark for the reader.
    pub note: Option<String>,
    /// Why the printed value is wrong, for a row that is known to differ.
    pub erratum: Option<String>,
    /// Another computation that gives the printed value or comes close to it: presumably what the paper did instead.
    pub printed_by: Option<Compute>,
    /// The line of the file at which it begins.
    pub line: usize,
}

impl Published {
    /// The text as printed, with a sign if it is a bound.
    pub fn shown(&self) -> String {
        let sign = match self.unit {
            Unit::Bound => "<= ",
            Unit::Least => ">= ",
            _ => "",
        };
        format!("{sign}{}", self.printed)
    }

    /// An error of its computation, at its place.
    pub(super) fn refuse(&self, paper: &Paper, error: &Error) -> Error {
        let why = format!("the value {:?}: {error}", self.id);
        Error::DataFile { file: paper.file.clone(), line: self.line, column: 0, why }
    }

    /// How many significant digits are printed; none for a fraction or a statement.
    pub fn significant_digits(&self) -> u32 {
        let mantissa = self.printed.split(['e', 'E']).next().unwrap_or_default();
        let numeric = mantissa.chars().all(|c| c.is_ascii_digit() || c == '.');
        let digits = mantissa.trim_start_matches(['0', '.']).chars().filter(char::is_ascii_digit).count();
        if numeric { digits as u32 } else { 0 }
    }
}

/// How a printed text is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A privacy parameter in nats, rounded to the printed digits.
    Nats,
    /// A percentage, rounded to the printed digits.
    Percent,
    /// A variance proxy, rounded to the printed digits.
    Sigma2,
    /// A share of a privacy budget, rounded to the printed digits.
    Rho,
    /// A probability, rounded to the printed digits.
    Probability,
    /// A ratio of probabilities, rounded to the printed digits.
    Ratio,
    /// A sum of budgets or a whole number, exact.
    Sum,
    /// An exact number at or above the true value, by less than 10^-5.
    RoundedUp,
    /// An upper bound: the true value must not exceed it.
    Bound,
    /// A lower bound: the true value must not be below it.
    Least,
    /// A lower bound in percent.
    LeastPercent,
    /// A statement that holds or not.
    Claim,
}

impl Unit {
    /// All of them, by their names in files.
    pub const ALL: &[(&str, Unit)] = &[
        ("nats", Unit::Nats),
        ("rho", Unit::Rho),
        ("probability", Unit::Probability),
        ("percent", Unit::Percent),
        ("sigma2", Unit::Sigma2),
        ("ratio", Unit::Ratio),
        ("sum", Unit::Sum),
        ("bound", Unit::Bound),
        ("least", Unit::Least),
        ("least-percent", Unit::LeastPercent),
        ("rounded-up", Unit::RoundedUp),
        ("claim", Unit::Claim),
    ];

    /// Whether the printed text stands for all numbers that round to its digits.
    pub fn is_rounded(self) -> bool {
        match self {
            Unit::Nats | Unit::Percent | Unit::Sigma2 | Unit::Rho | Unit::Probability | Unit::Ratio => true,
            Unit::Sum | Unit::RoundedUp | Unit::Bound | Unit::Least | Unit::LeastPercent | Unit::Claim => false,
        }
    }
}

/// What recomputes a value. A claim about an account is read by [`super::account_claims`], each other by its own room.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Compute {
    /// The privacy account of a release or of counts.
    #[serde(skip)]
    Account(AccountClaim),
    /// By a method of the paper itself, or a statement of its appendices: only for Su, Su & Wang.
    Own {
        /// Which.
        method: SuSuWangClaim,
    },
    /// A value about disclosure risk.
    Risk(RiskClaim),
    /// A statement about geographic spines.
    Spine(SpineClaim),
    /// A value about the block paths of a release.
    Paths {
        /// The release.
        release: String,
        /// Which.
        value: PathClaim,
    },
    /// A value about SafeTab.
    Safetab(SafetabClaim),
    /// sigma2 - Var of the discrete Gaussian.
    VarianceDeficit {
        /// The variance proxy.
        sigma2: String,
    },
}

/// The published values of the named papers and files, or of all papers if none is named: the papers in their own order, then
/// the files in that of their names.
pub fn papers(names: &[String]) -> Result<Vec<Paper>> {
    let is_bundled = |name: &&String| PAPERS.iter().any(|(key, _)| key == name);
    let mut papers: Vec<Paper> = (PAPERS.iter())
        .filter(|(key, _)| names.is_empty() || names.iter().any(|name| name == key))
        .map(|(key, text)| published_file::bundled(text, key))
        .collect::<Result<_>>()?;
    for (index, name) in names.iter().enumerate() {
        if is_bundled(&name) || names[..index].contains(name) {
            continue;
        }
        let paper = published_file::read(&existing(name)?)?;
        if let Some(other) = papers.iter().find(|other| other.paper == paper.paper) {
            let why =
                format!("paper = {:?} is the key of {} as well: give each a key of its own", paper.paper, other.file);
            return Err(Error::DataFile { file: name.clone(), line: 0, column: 0, why });
        }
        papers.push(paper);
    }
    Ok(papers)
}

/// The kinds of computation that a file of one's own may ask for, by the names in `kind`.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    published_file::kinds()
}

/// The path of a file of published values; an error if there is none.
fn existing(name: &str) -> Result<String> {
    let path = Path::new(name);
    if path.exists() {
        return Ok(name.to_string());
    }
    if name.contains(['/', '\\']) || path.extension().is_some_and(|end| end == "toml") {
        return Err(file_error(path, "no such file"));
    }
    let known = PAPERS.iter().map(|(key, _)| *key).collect::<Vec<_>>().join(", ");
    Err(Error::UnknownPaper { name: name.to_string(), known })
}

/// A file to start published values of one's own from: every field with a comment, and rows that agree.
pub fn template() -> &'static str {
    include_str!("../../data/templates/published.toml")
}

/// Writes the [`template`] as a new file; one that is there is not overwritten.
pub fn write_template(path: &Path) -> Result<()> {
    write_over(path, Over::Refuse, |out| out.write_all(template().as_bytes()).map_err(|why| file_error(path, why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_papers_are_read_and_their_rows_are_unique() {
        for paper in papers(&[]).unwrap() {
            let mut ids: Vec<&str> = paper.values.iter().map(|value| value.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), paper.values.len(), "{}", paper.paper);
        }
        assert!(papers(&["nosuch".to_string()]).is_err());
    }
}
