//! Reads the claim of a certificate. Hints are not read: only a checker uses them.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use rug::Rational;
use serde::Deserialize;
use serde_json::Value;

use super::{
    canonical,
    claim::{Claim, Ends, Paths, Question, Target, name_of_direction},
    question::{ZCDP, name_of},
    source::Source,
    terms::Terms,
};
use crate::{
    account::{
        Composition, Counts,
        promise::{Grid, GridOf},
    },
    error::{Error, Result},
    io::files::file_error,
    io::reading::read_at_most,
    law::Direction,
    loss::law::{Group, Law, NoiseTable},
    numeric::rational,
    release::Neighbors,
    risk,
};

/// The largest file that a checker reads.
const MOST_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimForm {
    about: String,
    at: BTreeMap<String, Value>,
    lower: String,
    upper: String,
    subject: String,
    neighbors: String,
    paths: Vec<Vec<GroupForm>>,
    pairs: bool,
    #[serde(default)]
    direction: Option<String>,
    #[serde(default)]
    infinite: Option<String>,
    #[serde(default)]
    laws: Option<Vec<Vec<(i64, String)>>>,
}

#[derive(Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
enum GroupForm {
    DiscreteGaussian { sigma2: String, shift: u64, count: u64 },
    Gaussian { sigma2: String, shift: u64, count: u64 },
    DiscreteLaplace { epsilon: String, shift: u64, count: u64 },
    Table { table: usize, shift: u64, count: u64 },
}

impl GroupForm {
    fn counts(&self, tables: &[Arc<NoiseTable>]) -> Result<Counts> {
        match self {
            GroupForm::DiscreteGaussian { sigma2, shift, count } => {
                Counts::discrete_gaussian(rational::parse(sigma2)?, *count, *shift)
            }
            GroupForm::Gaussian { sigma2, shift, count } => Counts::gaussian(rational::parse(sigma2)?, *count, *shift),
            GroupForm::DiscreteLaplace { epsilon, shift, count } => {
                Counts::discrete_laplace(rational::parse(epsilon)?, *count, *shift)
            }
            GroupForm::Table { table, shift, count } => {
                let expected = || Error::out_of_range("table", table, &format!("a number below {}", tables.len()));
                // A claim is about one pair.
                Counts::new(Law::Table(tables.get(*table).ok_or_else(expected)?.clone()), *count, *shift)?.exactly()
            }
        }
    }
}

impl Claim {
    /// Whether a file claims to be a certificate, of any format and even if damaged: other JSON does not.
    pub fn is_said_by(path: &Path) -> bool {
        // Reading would consume a pipe.
        let bytes = if path.is_file() { read_at_most(path, MOST_BYTES).unwrap_or_default() } else { Vec::new() };
        let text = String::from_utf8(bytes).unwrap_or_default();
        // A damaged file is no JSON any more, but still names its kind.
        match serde_json::from_str::<Value>(&text) {
            Ok(whole) => whole.get("certificate").is_some(),
            Err(_) => text.contains("\"certificate\""),
        }
    }

    /// Reads the claim of a certificate whose bytes are canonical and whose seal is valid; otherwise an error states the reason.
    pub fn read(path: &Path) -> Result<Claim> {
        let wrong = |why: String| file_error(path, why);
        let bytes = read_at_most(path, MOST_BYTES)?;
        let text = String::from_utf8(bytes).map_err(|_| wrong("is not text in UTF-8".to_string()))?;
        let whole: Value = serde_json::from_str(&text).map_err(|why| wrong(format!("is no certificate: {why}")))?;
        let is_old = whole["certificate"] == canonical::OLD_FORMAT;
        if !is_old && whole["certificate"] != canonical::FORMAT {
            let (new, old) = (canonical::FORMAT, canonical::OLD_FORMAT);
            return Err(wrong(format!("is no certificate: its key \"certificate\" is not {new:?} or {old:?}")));
        }
        if canonical::text(&whole) != text {
            return Err(wrong("is not canonical: one line of JSON, keys in order, no spaces".to_string()));
        }
        if whole["sha256"] != canonical::seal(&whole) {
            return Err(wrong("does not have the SHA-256 of its content: it was changed or damaged".to_string()));
        }
        let claim = whole["claim"].clone();
        if !is_old {
            Source::check(&whole["source"]).map_err(|why| wrong(format!("its source: {why}")))?;
        }
        check_newer_keys(&claim, is_old).map_err(|why| wrong(format!("its claim: {why}")))?;
        let form = ClaimForm::deserialize(claim).map_err(|why| wrong(format!("its claim: {why}")))?;
        let claim = form.claim().map_err(|why| wrong(format!("its claim: {why}")))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        claim.check_name(&name).map_err(|why| wrong(format!("its subject: {why}")))?;
        Ok(claim)
    }
}

/// A claim of the previous version has none of the three newer keys, and one of this version has all.
fn check_newer_keys(claim: &Value, is_old: bool) -> Result<()> {
    for name in ["direction", "infinite", "laws"] {
        match claim.get(name) {
            Some(_) if is_old => {
                return Err(Error::unsuitable(format!(
                    "the claim has the key {name:?}, which its version does not know"
                )));
            }
            None if !is_old => {
                return Err(Error::missing(format!(
                    "the claim has no key {name:?}: it is expected, null if it says nothing"
                )));
            }
            Some(_) | None => (),
        }
    }
    Ok(())
}

impl ClaimForm {
    fn claim(&self) -> Result<Claim> {
        let neighbors = match self.neighbors.as_str() {
            "add-remove" => Neighbors::AddRemove,
            "bounded" => Neighbors::Bounded,
            other => return Err(Error::unknown("neighbor relation", other, "there are", ["add-remove", "bounded"])),
        };
        let table = |(number, rows): (usize, &Vec<(i64, String)>)| {
            let rows =
                rows.iter().map(|(value, mass)| Ok((*value, rational::parse(mass)?))).collect::<Result<Vec<_>>>()?;
            Ok(Arc::new(NoiseTable::new(&format!("table {number:03}"), rows)?))
        };
        let tables = self.laws.iter().flatten().enumerate().map(table).collect::<Result<Vec<_>>>()?;
        let path = |groups: &Vec<GroupForm>| {
            let counts = groups.iter().map(|group| group.counts(&tables)).collect::<Result<Vec<Counts>>>()?;
            Ok(Terms::of_composition(&Composition::new(counts)?)?.groups)
        };
        let infinite = self.infinite.as_deref().map(rational::parse).transpose()?.unwrap_or_default();
        let groups: Vec<Vec<Group>> = self.paths.iter().map(path).collect::<Result<_>>()?;
        let claim = Claim {
            subject: self.subject.clone(),
            neighbors,
            paths: Paths { given: groups.clone(), groups, infinite, pairs: self.pairs },
            question: self.question()?,
            ends: Ends { lower: rational::parse(&self.lower)?, upper: rational::parse(&self.upper)? },
            direction: self.direction.as_deref().map(direction).transpose()?,
        };
        claim.check_direction()?;
        if claim.fits_grid() {
            return Ok(claim);
        }
        let (lower, upper) = (rational::display(&claim.ends.lower), rational::display(&claim.ends.upper));
        Err(Error::unsuitable(format!("the factors {lower} and {upper} are not adjacent on the grid of the claim")))
    }

    fn question(&self) -> Result<Question> {
        let value = |name: &str| {
            let missing =
                || Error::missing(format!("\"at\" has no {name:?}, which a claim about {:?} needs", self.about));
            self.at.get(name).ok_or_else(missing)
        };
        let given = |name: &str| -> Result<&str> {
            let value = value(name)?;
            value.as_str().ok_or_else(|| Error::malformed(name, value, "a text in quotes"))
        };
        let question = match self.about.as_str() {
            "epsilon" => Question::Epsilon { delta: given("delta")?.parse()? },
            "delta" => Question::Delta { epsilon: given("epsilon")?.parse()? },
            "beta" => Question::Beta { alpha: rational::parse(given("alpha")?)? },
            "scale" => Question::Scale {
                grid: grid(given("grid")?, given("decimals")?)?,
                target: match given("epsilon")? {
                    ZCDP => Target::Zcdp,
                    epsilon => Target::Epsilon(epsilon.parse()?),
                },
                delta: given("delta")?.parse()?,
            },
            "zcdp" => Question::Zcdp { delta: given("delta")?.parse()? },
            "orders" => Question::Orders { delta: given("delta")?.parse()? },
            "marginal" => Question::Marginal { prior: prior(given("prior")?)? },
            "decision" => Question::Decision { prior: prior(given("prior")?)? },
            "events" => {
                Question::Events { prior: prior(given("prior")?)?, probability: given("probability")?.parse()? }
            }
            "outputs" => {
                Question::Outputs { prior: prior(given("prior")?)?, probability: given("probability")?.parse()? }
            }
            "posterior" => {
                let noisy = value("noisy")?;
                let wrong = |_| Error::malformed("noisy", noisy, "a list of whole numbers");
                Question::Posterior { prior: prior(given("prior")?)?, noisy: Vec::deserialize(noisy).map_err(wrong)? }
            }
            other => {
                return Err(Error::unknown("claim", other, "there are", QUESTIONS));
            }
        };
        match self.at.len() == question.given().len() {
            true => Ok(question),
            false => Err(Error::conflict(format!(
                "\"at\" has {} entries, and a claim about {:?} is given {}",
                self.at.len(),
                self.about,
                question.given().len()
            ))),
        }
    }
}

/// The names of the questions of claims.
const QUESTIONS: [&str; 11] =
    ["beta", "decision", "delta", "epsilon", "events", "marginal", "orders", "outputs", "posterior", "scale", "zcdp"];

fn prior(text: &str) -> Result<Rational> {
    let prior = rational::parse(text)?;
    risk::check_prior(&prior)?;
    Ok(prior)
}

fn direction(name: &str) -> Result<Direction> {
    let named = Direction::ALL.into_iter().find(|one| name_of_direction(*one) == name);
    named.ok_or_else(|| Error::unknown("direction", name, "there are", ["with", "without"]))
}

/// The grid of a claim about the scale of noise, and its decimals.
fn grid(name: &str, decimals: &str) -> Result<Grid> {
    let of = match name {
        name if name == name_of(GridOf::Factor) => GridOf::Factor,
        name if name == name_of(GridOf::SmallestSigma2) => GridOf::SmallestSigma2,
        other => return Err(Error::unknown("grid", other, "there are", ["factor", "sigma2"])),
    };
    let few = decimals.parse().ok().filter(|decimals| *decimals <= 12);
    let few = few.ok_or_else(|| Error::out_of_range("decimals", decimals, "a whole number from 0 to 12"))?;
    Ok(Grid { of, decimals: few })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{
        account::{Delta, promise::Promise},
        certificate::Certificate,
        numeric::enclosure::Certainty,
        release::subject::Subject,
    };

    fn certificate() -> Certificate {
        let singles = vec!["5x10".parse().unwrap(), Counts::parse_discrete_laplace("1/3x2@3").unwrap()];
        let subject = Subject { singles, ..Subject::default() }.resolve().unwrap();
        Certificate::prove(&subject, &Question::Epsilon { delta: "1e-6".parse().unwrap() }, 6).unwrap()
    }

    #[test]
    fn written_claims_are_read_and_hold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("certificate.json");
        let certificate = certificate();
        certificate.write(&path).unwrap();
        let claim = Claim::read(&path).unwrap();
        assert_eq!(claim.json(), certificate.claim.json());
        assert_eq!(claim.recompute().unwrap(), (Certainty::Yes, Certainty::Yes));
        let mut wrong = claim.clone();
        wrong.paths.groups[0][0].copies += 1;
        assert_eq!(wrong.recompute().unwrap(), (Certainty::Yes, Certainty::No));
        wrong.paths.groups[0][0].copies -= 2;
        assert_eq!(wrong.recompute().unwrap(), (Certainty::No, Certainty::Yes));
    }

    #[test]
    fn tables_and_guarantees_are_read_and_hold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("certificate.json");
        let masses = [(-1, "1/10"), (0, "3/5"), (1, "1/5"), (2, "1/10")];
        let table = NoiseTable::new("own", masses.map(|(value, mass)| (value, rational::parse(mass).unwrap())));
        let guarantee =
            Law::Approximate { epsilon: rational::parse("1/2").unwrap(), delta: rational::parse("1/100").unwrap() };
        let singles = vec![
            Counts::new(Law::Table(Arc::new(table.unwrap())), 3, 1).unwrap(),
            Counts::new(guarantee, 2, 1).unwrap(),
        ];
        let subject = Subject { singles, ..Subject::default() }.resolve().unwrap();
        let question = Question::Delta { epsilon: "1".parse().unwrap() };
        let certificate = Certificate::prove(&subject, &question, 9).unwrap();
        certificate.write(&path).unwrap();
        let claim = Claim::read(&path).unwrap();
        assert_eq!(claim.json(), certificate.claim.json());
        assert_eq!(claim.recompute().unwrap(), (Certainty::Yes, Certainty::Yes));
        let mut wrong = claim;
        wrong.paths.infinite += Rational::from((1, 1000));
        assert_eq!(wrong.recompute().unwrap(), (Certainty::Yes, Certainty::No));
    }

    #[test]
    fn calibrations_and_formulas_are_read_and_hold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("certificate.json");
        let subject = Subject { singles: vec!["5x10".parse().unwrap()], ..Subject::default() }.resolve().unwrap();
        let delta: Delta = "1e-6".parse().unwrap();
        let promises = [
            (Promise::ZcdpEpsilon { delta: delta.clone() }, Grid::sigma2(4)),
            (Promise::Epsilon { delta: delta.clone(), epsilon: "6".parse().unwrap() }, Grid::factor(3)),
        ];
        let calibrated = promises.map(|(promise, grid)| Certificate::calibrated(&subject, &promise, grid).unwrap());
        let formulas = [
            Question::Zcdp { delta },
            Question::Posterior { prior: rational::parse("1/10").unwrap(), noisy: vec![-3] },
        ]
        .map(|question| Certificate::prove(&subject, &question, 9).unwrap());
        for certificate in calibrated.iter().chain(&formulas) {
            certificate.write(&path).unwrap();
            let mut claim = Claim::read(&path).unwrap();
            assert_eq!(claim.json(), certificate.claim.json());
            assert_eq!(claim.recompute().unwrap(), (Certainty::Yes, Certainty::Yes), "{certificate:?}");
            claim.paths.groups[0][0].copies = 7;
            assert_ne!(claim.recompute().unwrap(), (Certainty::Yes, Certainty::Yes), "{certificate:?}");
        }
        for certificate in calibrated {
            let mut wrong = certificate.clone();
            wrong.claim.ends.upper += Rational::from((1, 1000));
            wrong.write(&path).unwrap();
            let message = Claim::read(&path).unwrap_err().to_string();
            assert!(message.contains("adjacent on the grid"), "{message}");
        }
    }

    #[test]
    fn a_file_that_was_changed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("certificate.json");
        let text = certificate().text();
        for (changed, said) in [
            (text.replacen("\"count\":10", "\"count\":11", 1), "SHA-256"),
            (text.replacen(':', ": ", 1), "canonical"),
            (text.replacen("assay 4", "assay 2", 1), "no certificate"),
            (text[1..].to_string(), "no certificate"),
        ] {
            fs::write(&path, changed).unwrap();
            let message = Claim::read(&path).unwrap_err().to_string();
            assert!(message.contains(said) && message.contains("certificate.json"), "{message}");
        }
    }
}
