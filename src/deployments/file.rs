//! Deployments as data: `data/deployments/*.toml`, a table for each.
//!
//! | field | meaning |
//! | --- | --- |
//! | `name`, `title`, `curator` | a key that is unique, the data product, and its publisher |
//! | `registry` | the file of its entry in the public Deployments Registry, if there is one |
//! | `unit`, `per` | the unit of privacy, and the time for which the parameters hold |
//! | `neighbors`, `mechanism` | the neighbor relation and the mechanism, as far as they are stated |
//! | `source`, `links` | where the figures stand, and addresses |
//! | `printed-by` | `curator`, `paper` or `registry`: whose document was judged |
//! | `entry-status`, `entry-date`, `entry-authors` | what the registry's entry says of itself |
//! | `group` | for whom the parameters hold: `person`, `time`, `event`, `other`, `not-stated` |
//! | `epsilon`, `delta`, `rho` | the headline as printed |
//! | `account` | the known facts about the mechanism: counts or a release, `releases` together, `rho`, `pure` parts, or a pair `epsilon`, `delta` |
//! | `presumes` | `id: what` of printed figures whose recomputation takes something that the source does not state: a difference is a remark |
//! | `part-of` | the deployment of which this is a part, as the tables of persons of a release |
//! | `missing` | facts without which no proof is possible |
//! | `remarks` | what a reader should know |
//! | `[[deployment.value]]` | the printed figures with their recomputation, of the form of published values |

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::{
    origin::{EntryFacts, Group, PrintedBy},
    scale::{Basis, PurePart},
};
use crate::{
    account::Delta,
    error::Result,
    io::toml_node::{Fields, Node},
    io::toml_reader::TomlReader,
    replication::{
        account_claims::{Releases, read_subject},
        published::Paper,
        published_file::bundled_values,
    },
};

/// A deployment as printed, and the computations that judge it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Deployment {
    /// Its key on the command line.
    pub name: String,
    /// The data product.
    pub title: String,
    /// Its publisher.
    pub curator: String,
    /// The file of its entry in the registry.
    pub registry: Option<String>,
    /// The unit of privacy.
    pub unit: String,
    /// The time for which the parameters hold.
    pub per: String,
    /// The neighbor relation.
    pub neighbors: String,
    /// The mechanism.
    pub mechanism: String,
    /// Where the figures stand.
    pub source: String,
    /// Addresses of the sources.
    #[serde(default)]
    pub links: Vec<String>,
    /// Who printed the figures.
    pub printed_by: PrintedBy,
    entry_status: Option<String>,
    entry_date: Option<String>,
    #[serde(default)]
    entry_authors: Vec<String>,
    /// For whom the parameters hold.
    pub group: Group,
    epsilon: Option<String>,
    delta: Option<String>,
    rho: Option<String>,
    /// The identifiers of printed figures whose recomputation presumes something that the source does not state, and what.
    #[serde(default)]
    pub presumes: Vec<String>,
    /// The deployment of which this is a part: no yardstick has both.
    pub part_of: Option<String>,
    /// The deployment with the corrected parameters, where those of this one are disproved: no yardstick has them.
    pub corrected_by: Option<String>,
    /// Missing facts.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Remarks.
    #[serde(default)]
    pub remarks: Vec<String>,
    // The account and the values as written: they are taken as soon as they are understood.
    account: Option<Spanned<Node>>,
    #[serde(default, rename = "value")]
    values: Vec<Spanned<Node>>,
    /// The known facts about the mechanism.
    #[serde(skip)]
    pub basis: Option<Basis>,
    /// The printed figures with their recomputation.
    #[serde(skip)]
    pub paper: Paper,
}

impl Deployment {
    /// The status, date and authors that the registry's entry states.
    pub fn entry(&self) -> EntryFacts {
        let (status, date, authors) = (self.entry_status.clone(), self.entry_date.clone(), self.entry_authors.clone());
        EntryFacts { status, date, authors }
    }

    /// The headline as printed.
    pub fn printed(&self) -> Headline {
        Headline { epsilon: self.epsilon.clone(), delta: self.delta.clone(), rho: self.rho.clone() }
    }

    /// The same with its account and its values understood.
    fn understood(mut self, reader: &TomlReader) -> Result<Deployment> {
        let mut releases = Releases::in_folder(PathBuf::new());
        let account = self.account.take();
        self.basis = account.as_ref().map(|node| basis(reader, node, &mut releases)).transpose()?;
        let (values, releases) = bundled_values(reader, &std::mem::take(&mut self.values), releases)?;
        self.paper = Paper {
            paper: self.name.clone(),
            title: self.title.clone(),
            values,
            file: reader.file().to_string(),
            is_bundled: true,
            settings: None,
            releases: releases.into_names(),
        };
        Ok(self)
    }
}

/// The parameters as printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headline {
    /// The epsilon.
    pub epsilon: Option<String>,
    /// The delta.
    pub delta: Option<String>,
    /// The rho.
    pub rho: Option<String>,
}

impl Headline {
    /// In a cell of a table: `(2.19, 1e-5)`, `rho 0.81`, or a dash.
    pub fn shown(&self) -> String {
        let rho = self.rho.as_ref().map(|rho| format!("rho {rho}"));
        let pair = match (&self.epsilon, &self.delta) {
            (Some(epsilon), Some(delta)) => Some(format!("({epsilon}, {delta})")),
            (Some(epsilon), None) => Some(epsilon.clone()),
            (None, Some(delta)) => Some(format!("delta {delta}")),
            (None, None) => None,
        };
        match (rho, pair) {
            (Some(rho), Some(pair)) => format!("{rho}; {pair}"),
            (one, other) => one.or(other).unwrap_or_else(|| "-".to_string()),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "deployment")]
    deployments: Vec<Deployment>,
}

/// Reads the deployments of a text; `file` names it in messages.
pub(super) fn parse(file: &str, text: &str) -> Result<Vec<Deployment>> {
    let reader = TomlReader::new(file, text);
    let read: File = reader.toml()?;
    read.deployments.into_iter().map(|deployment| deployment.understood(&reader)).collect()
}

/// Reads the known facts about a mechanism.
fn basis(reader: &TomlReader, node: &Spanned<Node>, releases: &mut Releases) -> Result<Basis> {
    let mut fields = Fields::new(reader, node, "account")?;
    let pure = fields.read_each("pure", PurePart::parse)?;
    let epsilon = fields.number("epsilon", "a positive epsilon", |epsilon| *epsilon > 0)?;
    let delta: Option<Delta> = fields.quantity("delta")?;
    let together = fields.texts("releases")?;
    if !together.is_empty() {
        if !pure.is_empty() || epsilon.is_some() || delta.is_some() {
            return Err(fields.refuse("one of: releases, pure, epsilon with delta"));
        }
        let find = |name: &Spanned<String>| {
            let found = releases.find(name.get_ref());
            found.map_err(|error| fields.refuse_field("releases", name, error))
        };
        let found = together.iter().map(find).collect::<Result<_>>()?;
        return fields.finish().map(|()| Basis::Together(found));
    }
    match (pure.is_empty(), epsilon, delta) {
        (false, None, None) => fields.finish().map(|()| Basis::Pure(pure)),
        (true, Some(epsilon), Some(delta)) => fields.finish().map(|()| Basis::Approximate { epsilon, delta }),
        (true, None, None) => {
            let about = read_subject(fields, releases)?;
            Ok(match about.rho.clone() {
                Some(rho) => Basis::Zcdp(rho),
                None => Basis::Counts(Box::new(about)),
            })
        }
        _ => Err(fields.refuse("one of: a release or counts, rho, pure, epsilon with delta")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "[[deployment]]\nname = 'a'\ntitle = 't'\ncurator = 'c'\nunit = 'u'\nper = 'once'\n\
                        neighbors = 'n'\nmechanism = 'm'\nsource = 's'\nprinted-by = 'paper'\ngroup = 'person'\n";

    fn said(more: &str) -> String {
        parse("f.toml", &format!("{HEAD}{more}")).unwrap_err().to_string()
    }

    #[test]
    fn a_deployment_is_read_and_other_forms_are_refused_with_their_line() {
        let read = parse("f", &format!("{HEAD}epsilon = '2.0'\naccount = {{ pure = ['1.1', '0.9x2'] }}\n")).unwrap();
        assert!(matches!(&read[0].basis, Some(Basis::Pure(parts)) if parts.len() == 2));
        assert_eq!(read[0].printed().shown(), "2.0");
        assert_eq!(Headline { rho: Some("1".into()), ..Headline::default() }.shown(), "rho 1");
        assert!(said("epsilom = '2'\n").contains("line 12"));
        assert!(said("account = { pure = ['1'], rho = '2' }\n").contains("unknown field"));
        assert!(said("account = { epsilon = '1' }\n").contains("one of"));
        assert!(said("account = { epsilon = '-1', delta = '1e-5' }\n").contains("positive"));
        assert!(said("[[deployment.value]]\nid = 'x'\n").contains("line 12"));
        assert!(said("[[deployment]]\nname = 'b'\n").contains("line 12"));
        let head = HEAD.replace("'paper'", "'papers'");
        assert!(parse("f", &head).unwrap_err().to_string().contains("did you mean \"paper\""));
        let two = format!("{HEAD}{HEAD}epsilom = 1\n");
        assert!(parse("f", &two).unwrap_err().to_string().contains("line 23"));
    }
}
