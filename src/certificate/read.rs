//! Reading the claim of a certificate, for this program's own answer beside that of a checker. Hints are not read: only a checker
//! has a use for them.

use std::{fs, path::Path};

use rug::Rational;
use serde::Deserialize;
use serde_json::Value;

use super::{
    canonical,
    claim::{Claim, Ends, Question},
};
use crate::{
    account::{Account, Composition, Counts, Whole, paths::WorstPath},
    error::{Error, Result},
    files::file_error,
    loss::{family::Units, law::Group},
    numeric::{Enclosure, enclosure::Certainty, rational},
    release::Neighbors,
};

/// A checker reads no longer file.
const MOST_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimForm {
    subject: String,
    neighbors: String,
    paths: Vec<Vec<GroupForm>>,
    pairs: bool,
    epsilon: Number,
    delta: Number,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Given(String),
    Ends { lower: String, upper: String },
}

#[derive(Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
enum GroupForm {
    DiscreteGaussian { sigma2: String, shift: u64, count: u64 },
    DiscreteLaplace { epsilon: String, shift: u64, count: u64 },
}

impl GroupForm {
    fn counts(&self) -> Result<Counts> {
        match self {
            GroupForm::DiscreteGaussian { sigma2, shift, count } => {
                Counts::discrete_gaussian(rational::parse(sigma2)?, *count, *shift)
            }
            GroupForm::DiscreteLaplace { epsilon, shift, count } => {
                Counts::discrete_laplace(rational::parse(epsilon)?, *count, *shift)
            }
        }
    }
}

impl Claim {
    /// Reads the claim of a certificate whose bytes are canonical and whose seal is whole; else an error says what is wrong.
    pub fn read(path: &Path) -> Result<Claim> {
        let wrong = |why: String| file_error(path, why);
        let size = fs::metadata(path).map_err(|why| file_error(path, why))?.len();
        if size > MOST_BYTES {
            return Err(wrong(format!("has {size} bytes: a certificate has at most {MOST_BYTES}")));
        }
        let text = fs::read_to_string(path).map_err(|why| file_error(path, why))?;
        let whole: Value = serde_json::from_str(&text).map_err(|why| wrong(format!("is no certificate: {why}")))?;
        if whole["certificate"] != canonical::FORMAT {
            return Err(wrong(format!("is no certificate: its key \"certificate\" is not {:?}", canonical::FORMAT)));
        }
        if canonical::text(&whole) != text {
            return Err(wrong("is not canonical: one line of JSON, keys in order, no spaces".to_string()));
        }
        if whole["sha256"] != canonical::seal(&whole) {
            return Err(wrong("does not have the SHA-256 of its content: it was changed or damaged".to_string()));
        }
        let form = ClaimForm::deserialize(&whole["claim"]).map_err(|why| wrong(format!("its claim: {why}")))?;
        form.claim().map_err(|why| wrong(format!("its claim: {why}")))
    }

    /// What is claimed about, as an account.
    fn whole(&self) -> Result<Whole> {
        let path = |groups: &Vec<Group>| {
            let counts =
                groups.iter().map(|group| Counts { law: group.law.clone(), count: group.copies, shift: group.shift });
            Composition::new(counts)
        };
        let mut paths = self.paths.iter().map(path).collect::<Result<Vec<_>>>()?;
        match paths.pop() {
            Some(only) if paths.is_empty() && !self.pairs => Ok(Whole::Composition(only)),
            last => {
                let units = if self.pairs { Units::Pairs } else { Units::Single };
                Ok(Whole::WorstPath(WorstPath::new(paths.into_iter().chain(last).collect(), units)?))
            }
        }
    }

    /// Whether the lower and the upper end hold, by this program's own enclosures of delta.
    pub fn recompute(&self) -> Result<(Certainty, Certainty)> {
        let whole = self.whole()?;
        let evaluator = whole.evaluator();
        let delta = |epsilon: &Rational, digits: u32| -> Result<Enclosure> {
            Ok(evaluator.hockey_stick(epsilon, digits)?.value)
        };
        // Is the delta of an epsilon at most, or at least, a target?
        let decide =
            |epsilon: &Rational, is: fn(&Enclosure, &Rational) -> Certainty, target: &Rational| -> Result<Certainty> {
                let mut answer = Certainty::Undecided;
                for digits in [12, 24] {
                    answer = is(&delta(epsilon, digits)?, target);
                    if answer != Certainty::Undecided {
                        break;
                    }
                }
                Ok(answer)
            };
        let at_least = |value: &Enclosure, target: &Rational| value.clone().negate().at_most(&Rational::from(-target));
        let Ends { lower, upper } = &self.ends;
        let zero = *lower == 0;
        let (below, above) = match &self.question {
            Question::Epsilon { delta } => ((lower, &**delta), (upper, &**delta)),
            Question::Delta { epsilon } => ((&**epsilon, lower), (&**epsilon, upper)),
        };
        let lower = if zero { Certainty::Yes } else { decide(below.0, at_least, below.1)? };
        Ok((lower, decide(above.0, Enclosure::at_most, above.1)?))
    }
}

impl ClaimForm {
    fn claim(&self) -> Result<Claim> {
        let neighbors = match self.neighbors.as_str() {
            "add-remove" => Neighbors::AddRemove,
            "bounded" => Neighbors::Bounded,
            other => return Err(Error::out_of_range("neighbors", other, "add-remove or bounded")),
        };
        let (question, lower, upper) = match (&self.epsilon, &self.delta) {
            (Number::Ends { lower, upper }, Number::Given(delta)) => {
                (Question::Epsilon { delta: delta.parse()? }, lower, upper)
            }
            (Number::Given(epsilon), Number::Ends { lower, upper }) => {
                (Question::Delta { epsilon: epsilon.parse()? }, lower, upper)
            }
            _ => {
                return Err(Error::out_of_range(
                    "epsilon and delta",
                    "another form",
                    "one given, and both ends of the other",
                ));
            }
        };
        let path = |groups: &Vec<GroupForm>| {
            let counts = groups.iter().map(GroupForm::counts).collect::<Result<Vec<Counts>>>()?;
            Ok(Composition::new(counts)?.loss().groups().to_vec())
        };
        Ok(Claim {
            subject: self.subject.clone(),
            neighbors,
            paths: self.paths.iter().map(path).collect::<Result<_>>()?,
            pairs: self.pairs,
            question,
            ends: Ends { lower: rational::parse(lower)?, upper: rational::parse(upper)? },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{certificate::Certificate, release::subject::Subject};

    fn certificate() -> Certificate {
        let singles = vec!["5x10".parse().unwrap(), Counts::parse_discrete_laplace("1/3x2@3").unwrap()];
        let subject = Subject { singles, ..Subject::default() }.resolve().unwrap();
        Certificate::prove(&subject, &Question::Epsilon { delta: "1e-6".parse().unwrap() }, 6).unwrap()
    }

    #[test]
    fn what_is_written_is_read_and_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("certificate.json");
        let certificate = certificate();
        certificate.write(&path).unwrap();
        let claim = Claim::read(&path).unwrap();
        assert_eq!(claim.json(), certificate.claim.json());
        assert_eq!(claim.recompute().unwrap(), (Certainty::Yes, Certainty::Yes));
        let mut wrong = claim.clone();
        wrong.paths[0][0].copies += 1;
        assert_eq!(wrong.recompute().unwrap(), (Certainty::Yes, Certainty::No));
        wrong.paths[0][0].copies -= 2;
        assert_eq!(wrong.recompute().unwrap(), (Certainty::No, Certainty::Yes));
    }

    #[test]
    fn a_file_that_was_changed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("certificate.json");
        let text = certificate().text();
        for (changed, said) in [
            (text.replacen("\"count\":10", "\"count\":11", 1), "SHA-256"),
            (text.replacen(':', ": ", 1), "canonical"),
            (text.replacen("assay 1", "assay 2", 1), "no certificate"),
            (text[1..].to_string(), "no certificate"),
        ] {
            fs::write(&path, changed).unwrap();
            let message = Claim::read(&path).unwrap_err().to_string();
            assert!(message.contains(said) && message.contains("certificate.json"), "{message}");
        }
    }
}
