//! Asks the program, and compares what it prints with the definitions.

use std::{path::Path, process::Command};

use dp_assay::numeric::rational::parse;
use rug::Rational;
use serde_json::Value;

use crate::{
    truth,
    world::{World, exp},
};

/// A claim of the program that is not as defined.
pub struct Disagreement {
    pub claim: String,
    /// What is printed, what is true, and the world.
    pub what: String,
    /// Whether a table moves by at most 2.
    pub is_moved: bool,
}

/// Answers of the program.
#[derive(Default)]
pub struct Tally {
    pub questions: usize,
    pub refusals: usize,
    pub disagreements: Vec<Disagreement>,
}

impl Tally {
    /// Adds another.
    pub fn add(&mut self, other: Tally) {
        self.questions += other.questions;
        self.refusals += other.refusals;
        self.disagreements.extend(other.disagreements);
    }
}

/// An interval of the program, and the true value: one must contain the other.
pub struct Claim<'a> {
    pub lower: &'a Rational,
    pub upper: &'a Rational,
}

/// The reference has masses with e^epsilon to 50 digits: its own error is below this.
fn own_error() -> Rational {
    Rational::from((1, 10_u64.pow(18))) * Rational::from((1, 10_u64.pow(18)))
}

impl Claim<'_> {
    /// Whether the truth, which lies between two numbers, can be in the interval.
    pub fn holds(&self, least: &Rational, most: &Rational) -> bool {
        *self.lower <= most + own_error() && *self.upper >= least - own_error()
    }
}

fn interval(value: &Value) -> Option<(Rational, Rational)> {
    let end = |name: &str| parse(&value.get(name)?.to_string()).ok();
    Some((end("lower")?, end("upper")?))
}

/// A question about a world with the answer.
struct Question<'a> {
    world: &'a World,
    options: &'a [String],
    tally: &'a mut Tally,
}

impl Question<'_> {
    fn ask(&mut self, command: &[&str]) -> Result<Value, String> {
        self.tally.questions += 1;
        let mut program = Command::new(env!("CARGO_BIN_EXE_assay"));
        let given = program.args(command).args(self.options).arg("--json").output().expect("the program runs");
        if given.status.success() {
            return Ok(serde_json::from_slice(&given.stdout).expect("an answer is JSON"));
        }
        // Exit 1 answers that there is none, exit 2 refuses.
        let printed = if given.stderr.is_empty() { given.stdout } else { given.stderr };
        let json: Value = serde_json::from_slice(&printed).unwrap_or(Value::Null);
        Err(json["error"].as_str().map_or_else(|| String::from_utf8_lossy(&printed).into_owned(), String::from))
    }

    fn wrong(&mut self, claim: &str, what: String) {
        let (claim, what) = (claim.to_string(), format!("{what}\n    {:?}", self.world));
        self.tally.disagreements.push(Disagreement { claim, what, is_moved: self.world.shift > 1 });
    }

    fn compare(&mut self, claim: &str, value: &Value, least: &Rational, most: &Rational) {
        let Some((lower, upper)) = interval(value) else {
            return self.wrong(claim, format!("no interval: {value}"));
        };
        if !(Claim { lower: &lower, upper: &upper }.holds(least, most)) {
            let what = format!("[{}, {}] for {}", lower.to_f64(), upper.to_f64(), most.to_f64());
            self.wrong(claim, what);
        }
    }

    /// A refusal is allowed for groups of tables alone, whose worst way is not proven.
    fn refused(&mut self, claim: &str, error: &str) {
        if self.world.group > 1 && error.contains("group") {
            self.tally.refusals += 1;
        } else {
            self.wrong(claim, format!("refused: {error}"));
        }
    }
}

fn both(up: &[truth::Pair], down: &[truth::Pair], of: impl Fn(&[truth::Pair]) -> Rational) -> Rational {
    of(up).max(of(down))
}

/// Asks for every claim about a world.
pub fn ask(world: &World, folder: &Path, tally: &mut Tally) {
    let [up, down] = world.directions();
    let options = world.options(folder);
    let mut question = Question { world, options: &options, tally };
    of_delta(&mut question, &up, &down);
    of_beta(&mut question, &up, &down);
    if both(&up, &down, truth::infinite) == 1 {
        // No delta below 1 has an epsilon.
        return;
    }
    of_epsilon(&mut question, &up, &down);
    for prior in ["3/10", "1/2", "7/10"] {
        of_risk(&mut question, &up, &down, prior);
    }
}

fn of_delta(question: &mut Question, up: &[truth::Pair], down: &[truth::Pair]) {
    let json = match question.ask(&["delta", "--epsilon", "3/4"]) {
        Ok(json) => json,
        Err(error) => return question.refused("delta", &error),
    };
    let (low, high) = exp(&Rational::from((3, 4)));
    let at = |x: &Rational| both(up, down, |pairs| truth::delta(pairs, x));
    question.compare("delta", &json["delta"], &at(&high), &at(&low));
    let mass = both(up, down, truth::infinite);
    if mass > 0 {
        question.compare("infinite mass", &json["infinite_loss_mass"], &mass, &mass);
    }
    if json["directions"].is_object() {
        for (name, pairs) in [("remove", up), ("add", down)] {
            let (least, most) = (truth::delta(pairs, &high), truth::delta(pairs, &low));
            question.compare("delta by direction", &json["directions"][name], &least, &most);
        }
    }
}

fn of_epsilon(question: &mut Question, up: &[truth::Pair], down: &[truth::Pair]) {
    let mass = both(up, down, truth::infinite);
    let delta = Rational::from(1 - &mass) / 7u32 + &mass;
    let text = delta.to_string();
    let ratio = [up, down].map(|pairs| truth::ratio(pairs, &delta).expect("delta is above the mass")).into_iter().max();
    let ratio = ratio.expect("two directions");
    let check = |question: &mut Question, claim: &str, value: &Value| {
        let Some((lower, upper)) = interval(value) else {
            return question.wrong(claim, format!("no interval: {value}"));
        };
        if lower > 12 || upper > 12 {
            return question.wrong(claim, format!("{} for e^epsilon = {}", lower.to_f64(), ratio.to_f64()));
        }
        let (least, most) = (exp(&lower).0, exp(&upper).1);
        if !(Claim { lower: &least, upper: &most }.holds(&ratio, &ratio)) {
            let what = format!("epsilon in [{}, {}], truly ln {}", lower.to_f64(), upper.to_f64(), ratio.to_f64());
            question.wrong(claim, what);
        }
    };
    match question.ask(&["epsilon", "--queries", "--delta", &text]) {
        Ok(json) => {
            check(question, "epsilon", &json["epsilon"]);
            if let Some(single) = json["queries"].as_array().filter(|queries| queries.len() == 1) {
                check(question, "line of a query", &single[0]["epsilon"]);
            }
        }
        Err(error) => question.refused("epsilon", &error),
    }
    match question.ask(&["compare", "--delta", &text]) {
        Ok(json) => check(question, "compare", &json["accountants"][0]["epsilon"]),
        Err(error) => question.refused("compare", &error),
    }
}

fn of_beta(question: &mut Question, up: &[truth::Pair], down: &[truth::Pair]) {
    let alpha = Rational::from((3, 10));
    let json = match question.ask(&["tradeoff", "--alpha", "3/10"]) {
        Ok(json) => json,
        Err(error) => return question.refused("type II error", &error),
    };
    let beta = truth::beta(up, &alpha).min(truth::beta(down, &alpha));
    let ends = serde_json::json!({ "lower": json["beta_lower"][0], "upper": json["beta_upper"][0] });
    question.compare("type II error", &ends, &beta, &beta);
    if json["hull_lower"].is_array() && !json["hull_lower"][0].is_null() {
        let hull = truth::hull(up, down, &alpha);
        let ends = serde_json::json!({ "lower": json["hull_lower"][0], "upper": json["hull_upper"][0] });
        question.compare("hull", &ends, &hull, &hull);
    }
}

fn of_risk(question: &mut Question, up: &[truth::Pair], down: &[truth::Pair], text: &str) {
    let mass = both(up, down, truth::infinite);
    let delta = Rational::from(1 - &mass) / 5u32 + &mass;
    let asked = delta.to_string();
    let json = match question.ask(&["risk", "bound", "--prior", text, "--delta", &asked]) {
        Ok(json) => json,
        Err(error) => return question.refused("risk bound", &error),
    };
    let prior = parse(text).expect("a prior");
    // Without a side that is "with" both orders count.
    let correct = truth::correct(up, &prior);
    question.compare("correct decision", &json["correct_decision_upper"], &correct, &correct);
    let half = Rational::from((1, 2));
    let apart = (both(up, down, |pairs| truth::correct(pairs, &half)) - half) * 2;
    question.compare("advantage", &json["advantage"], &apart, &apart);
    let events = both(up, down, |pairs| truth::events(pairs, &prior, &delta));
    question.compare("posterior of events", &json["posterior_events"], &events, &events);
    if question.world.is_known() && !json["posterior_upper"].is_null() {
        let outputs = both(up, down, |pairs| truth::outputs(pairs, &prior, &delta));
        let upper = interval(&json["posterior_upper"]).map(|ends| ends.1).unwrap_or_default();
        if upper < outputs.clone() - own_error() {
            question.wrong("posterior of outputs", format!("at most {} for {}", upper.to_f64(), outputs.to_f64()));
        }
    }
}
