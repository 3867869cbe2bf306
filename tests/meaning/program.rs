//! The program: its commands, and the functions of the library that they call.

use std::{path::Path, process::Command};

use dp_assay::{
    Error,
    account::{Account, Counts, Delta, Epsilon},
    numeric::rational::parse,
    release::{
        Neighbors,
        subject::{Resolved, Subject},
    },
};
use serde_json::{Value, json};

use crate::{calibrated::Target, world::World};

/// An epsilon beyond every finite loss of the worlds that are asked about.
pub const BEYOND: &str = "60";

/// A question about a world.
#[derive(Clone, Debug)]
pub enum Question {
    Delta {
        epsilon: String,
    },
    Epsilon {
        delta: String,
    },
    Compare {
        delta: String,
    },
    Tradeoff {
        alphas: Vec<String>,
    },
    RiskBound {
        prior: String,
        delta: String,
    },
    RiskCurve {
        prior: String,
        alphas: Vec<String>,
    },
    Explain {
        delta: String,
    },
    Curve,
    /// A number in place of the question mark in the text of the mechanism.
    Calibrate {
        target: Target,
        text: String,
    },
}

fn repeated(option: &str, values: &[String]) -> Vec<String> {
    values.iter().flat_map(|value| [option.to_string(), value.clone()]).collect()
}

impl Question {
    /// The command, and its options beside the mechanism.
    fn words(&self) -> Vec<String> {
        let words = |fixed: &[&str]| fixed.iter().map(ToString::to_string).collect::<Vec<_>>();
        match self {
            Question::Delta { epsilon } => words(&["delta", "--epsilon", epsilon]),
            Question::Epsilon { delta } => words(&["epsilon", "--queries", "--delta", delta]),
            Question::Compare { delta } => words(&["compare", "--delta", delta]),
            Question::Explain { delta } => words(&["explain", "--delta", delta]),
            Question::Curve => words(&["curve", "--from", "0", "--to", "2", "--points", "3"]),
            Question::Tradeoff { alphas } => [words(&["tradeoff"]), repeated("--alpha", alphas)].concat(),
            Question::RiskBound { prior, delta } => words(&["risk", "bound", "--prior", prior, "--delta", delta]),
            Question::RiskCurve { prior, alphas } => {
                [words(&["risk", "curve", "--prior", prior]), repeated("--alpha", alphas)].concat()
            }
            Question::Calibrate { target, .. } => {
                [words(&["calibrate", "--decimals", "2"]), words(target.words())].concat()
            }
        }
    }
}

/// The answer to a question.
pub enum Answer {
    Given(Value),
    /// There is none: exit 1, or the same error of the library.
    None,
    Refused(String),
}

/// The program, ready for questions about one world.
pub struct Program {
    mechanisms: Vec<[String; 2]>,
    rest: Vec<String>,
    resolved: Result<Resolved, Error>,
}

impl Program {
    /// About a world, with its files in the folder.
    pub fn about(world: &World, folder: &Path) -> Self {
        let mechanisms = world.mechanisms(folder);
        let mut rest = Vec::new();
        if world.bounded {
            rest.extend(["--neighbors", "bounded"].map(String::from));
        }
        if world.group > 1 {
            rest.extend(["--group".to_string(), world.group.to_string()]);
        }
        let singles = mechanisms.iter().map(|[key, value]| Counts::read(key, value, false)).collect::<Result<_, _>>();
        let neighbors = world.bounded.then_some(Neighbors::Bounded);
        let subject = |singles| Subject { singles, neighbors, group: world.group as u64, ..Subject::default() };
        let resolved = singles.and_then(|singles| subject(singles).resolve());
        Program { mechanisms, rest, resolved }
    }

    fn output(&self, question: &Question, form: &[&str]) -> std::process::Output {
        let mut program = Command::new(env!("CARGO_BIN_EXE_assay"));
        program.args(question.words());
        for [option, value] in &self.mechanisms {
            let value = if let Question::Calibrate { text, .. } = question { text } else { value };
            program.args([&format!("--{option}"), value]);
        }
        program.args(&self.rest).args(form).output().expect("the program runs")
    }

    /// What the command prints on standard output, if it exits with 0 or 1.
    pub fn text(&self, question: &Question) -> Option<String> {
        let given = self.output(question, &[]);
        let is_answer = given.status.code().is_some_and(|code| code < 2);
        is_answer.then(|| String::from_utf8(given.stdout).expect("text"))
    }

    /// The answer of the command in JSON.
    pub fn command(&self, question: &Question) -> Answer {
        let given = self.output(question, &["--json"]);
        match given.status.code() {
            Some(0) => Answer::Given(serde_json::from_slice(&given.stdout).expect("an answer is JSON")),
            Some(1) => Answer::None,
            _ => {
                let json: Value = serde_json::from_slice(&given.stderr).unwrap_or(Value::Null);
                let said = || String::from_utf8_lossy(&given.stderr).into_owned();
                Answer::Refused(json["error"].as_str().map_or_else(said, String::from))
            }
        }
    }

    /// The answer of the library, with the keys of the command's; the command's own where it does more than to call a function.
    pub fn library(&self, question: &Question) -> Answer {
        const DIGITS: u32 = 12;
        let resolved = match &self.resolved {
            Ok(resolved) => resolved,
            Err(error) => return Answer::Refused(error.to_string()),
        };
        let answer = || -> Result<Option<Value>, Error> {
            let whole = &resolved.whole;
            let mut json = match question {
                Question::Delta { epsilon } => {
                    let epsilon: Epsilon = parse(epsilon)?.try_into()?;
                    let mut json = json!({ "delta": whole.delta(&epsilon, DIGITS)?.value.to_json() });
                    if let Some([remove, add]) = whole.delta_of_directions(&epsilon, DIGITS)? {
                        json["directions"] = json!({ "remove": remove.value.to_json(), "add": add.value.to_json() });
                    }
                    json
                }
                Question::Epsilon { delta } => {
                    let delta: Delta = parse(delta)?.try_into()?;
                    let epsilon = |account: &dyn Fn() -> Result<dp_assay::account::Answer, Error>| {
                        account().map(|answer| answer.value.to_json())
                    };
                    let lines = resolved.queries.iter().map(|query| {
                        epsilon(&|| query.composition.epsilon(&delta, DIGITS)).map(|value| json!({ "epsilon": value }))
                    });
                    let lines = lines.collect::<Result<Vec<Value>, Error>>()?;
                    json!({ "epsilon": epsilon(&|| whole.epsilon(&delta, DIGITS))?, "queries": lines })
                }
                _ => return Ok(None),
            };
            if let Some(infinite) = whole.infinite_loss() {
                json["infinite_loss_mass"] = infinite.mass(DIGITS).to_json();
            }
            Ok(Some(json))
        };
        match answer() {
            Ok(Some(json)) => Answer::Given(json),
            Ok(None) => self.command(question),
            Err(Error::InfiniteLoss { .. }) => Answer::None,
            Err(error) => Answer::Refused(error.to_string()),
        }
    }
}
