//! Asks for every claim about a world, and compares the answers with the definitions.

use std::path::Path;

use dp_assay::numeric::rational::parse;
use rug::Rational;
use serde_json::{Value, json};

use crate::{
    calibrated::{self, Target},
    program::{Answer, BEYOND, Program, Question},
    sentences,
    truth::{self, Truth},
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

/// The claim of an interval that is true and says less than was requested.
const WIDE: &str = "a wide interval";

/// Answers of the program.
#[derive(Default)]
pub struct Tally {
    pub questions: usize,
    pub refusals: usize,
    pub sentences: usize,
    pub disagreements: Vec<Disagreement>,
}

impl Tally {
    /// Adds another.
    pub fn add(&mut self, other: Tally) {
        self.questions += other.questions;
        self.refusals += other.refusals;
        self.sentences += other.sentences;
        self.disagreements.extend(other.disagreements);
    }
}

/// An interval that the program prints.
#[derive(Clone, Debug)]
pub struct Interval {
    pub lower: Rational,
    pub upper: Rational,
}

/// The reference has masses with e^epsilon to 50 digits: its own error is below this.
pub fn own_error() -> Rational {
    Rational::from((1, 10_u64.pow(18))) * Rational::from((1, 10_u64.pow(18)))
}

impl Interval {
    pub fn of_value(value: &Value) -> Option<Self> {
        let end = |name: &str| parse(&value.get(name)?.to_string()).ok();
        Some(Interval { lower: end("lower")?, upper: end("upper")? })
    }

    /// Whether the truth, which lies between two numbers, can be in the interval.
    pub fn holds(&self, least: &Rational, most: &Rational) -> bool {
        self.lower <= most + own_error() && self.upper >= least - own_error()
    }

    /// The same of ln of the truth.
    pub fn holds_ln(&self, ratio: &Rational) -> bool {
        let end = |end: &Rational| exp(&end.clone().clamp(&0, &12));
        Interval { lower: end(&self.lower).0, upper: end(&self.upper).1 }.holds(ratio, ratio)
    }

    /// Whether it is wider than the digits that are requested by default, with two to spare.
    pub fn is_wide(&self) -> bool {
        let unit = Rational::from((1, 10_000_000_000_u64));
        Rational::from(&self.upper - &self.lower) > unit * self.upper.clone().max(Rational::from(1))
    }

    pub fn shown(&self) -> String {
        format!("[{}, {}]", self.lower.to_f64(), self.upper.to_f64())
    }
}

/// A world that is asked about.
pub struct Asked<'a> {
    pub world: &'a World,
    pub truth: Truth,
    program: Program,
    /// Whether the command line is asked, in text as well, in place of the library.
    is_printed: bool,
    tally: &'a mut Tally,
}

impl Asked<'_> {
    fn ask(&mut self, question: &Question) -> Answer {
        self.tally.questions += 1;
        if !self.is_printed {
            return self.program.library(question);
        }
        self.read(question);
        self.program.command(question)
    }

    /// Compares the sentences of the answer in text.
    fn read(&mut self, question: &Question) {
        self.tally.questions += 1;
        if let Some(text) = self.program.text(question) {
            let (read, wrong) = sentences::compare(&text, question, self.world, &self.truth);
            self.tally.sentences += read;
            wrong.into_iter().for_each(|(claim, what)| self.wrong(&claim, what));
        }
    }

    fn wrong(&mut self, claim: &str, what: String) {
        let (claim, what) = (claim.to_string(), format!("{what}\n    {:?}", self.world));
        self.tally.disagreements.push(Disagreement { claim, what, is_moved: self.world.is_moved() });
    }

    fn compare(&mut self, claim: &str, value: &Value, least: &Rational, most: &Rational) {
        match Interval::of_value(value) {
            None => self.wrong(claim, format!("no interval: {value}")),
            Some(printed) if !printed.holds(least, most) => {
                self.wrong(claim, format!("{} for {}", printed.shown(), most.to_f64()));
            }
            Some(printed) if printed.is_wide() => self.wrong(WIDE, format!("{claim}: {}", printed.shown())),
            Some(_) => (),
        }
    }

    /// The answer, if there is one. A refusal is allowed for groups alone, whose worst way is not proven for every table.
    fn given(&mut self, claim: &str, question: &Question) -> Option<Value> {
        match self.ask(question) {
            Answer::Given(json) => Some(json),
            Answer::Refused(error) if self.world.group > 1 && error.contains("group") => {
                self.tally.refusals += 1;
                None
            }
            Answer::Refused(error) => {
                self.wrong(claim, format!("refused: {error}"));
                None
            }
            Answer::None => {
                self.wrong(claim, "no answer".to_string());
                None
            }
        }
    }

    /// All of them where the command line is asked; elsewhere one, by a probability of the world, because each takes a process.
    fn some<T: Copy>(&self, all: &[T]) -> Vec<T> {
        let one = self.truth.up[0][0].0.denom().mod_u(all.len() as u32) as usize;
        if self.is_printed { all.to_vec() } else { vec![all[one]] }
    }

    /// A delta above the infinite mass by this share of the rest, or a little more, with few digits.
    fn delta_above(&self, share: u32) -> Rational {
        const UNIT: u32 = 1_000_000;
        let mass = self.truth.worst(truth::infinite);
        let delta = Rational::from(1 - &mass) / share + mass;
        let short = Rational::from((delta.clone() * UNIT).ceil().into_numer_denom().0) / UNIT;
        if short < 1 { short } else { delta }
    }

    /// The answer of delta at an epsilon, compared.
    fn delta_at(&mut self, epsilon: &Rational) -> Option<Value> {
        let json = self.given("delta", &Question::Delta { epsilon: epsilon.to_string() })?;
        let (low, high) = exp(epsilon);
        let at = |x: &Rational| self.truth.worst(|pairs| truth::delta(pairs, x));
        let (least, most) = (at(&high), at(&low));
        self.compare("delta", &json["delta"], &least, &most);
        Some(json)
    }

    fn of_delta(&mut self) {
        // Many losses are multiples of 1/2: the other is one of them, or the largest.
        let Some(_) = self.delta_at(&Rational::from((1, 2))) else { return };
        let epsilon = Rational::from((3, 4));
        let Some(json) = self.delta_at(&epsilon) else { return };
        let (low, high) = exp(&epsilon);
        let mass = self.truth.worst(truth::infinite);
        match &json["infinite_loss_mass"] {
            Value::Null if mass > 0 => self.wrong("infinite mass", format!("none for {}", mass.to_f64())),
            Value::Null => (),
            value => self.compare("infinite mass", value, &mass, &mass),
        }
        self.of_directions(
            &json,
            |pairs| (truth::delta(pairs, &high), truth::delta(pairs, &low)),
            "delta by direction",
        );
        // Beyond every finite loss, delta is the infinite mass.
        let Some(json) = self.given("infinite mass", &Question::Delta { epsilon: BEYOND.to_string() }) else { return };
        self.compare("infinite mass", &json["delta"], &mass, &mass);
        let mass = |pairs: &[truth::Pair]| (truth::infinite(pairs), truth::infinite(pairs));
        self.of_directions(&json, mass, "infinite mass by direction");
    }

    fn of_directions(&mut self, json: &Value, of: impl Fn(&[truth::Pair]) -> (Rational, Rational), claim: &str) {
        if json["directions"].is_object() {
            let ends = [("remove", of(&self.truth.up)), ("add", of(&self.truth.down))];
            for (name, (least, most)) in ends {
                self.compare(claim, &json["directions"][name], &least, &most);
            }
        }
    }

    fn epsilon(&mut self, claim: &str, value: &Value, ratio: &Rational) {
        match Interval::of_value(value) {
            None => self.wrong(claim, format!("no interval: {value}")),
            Some(printed) if !printed.holds_ln(ratio) => {
                self.wrong(claim, format!("{} for ln {}", printed.shown(), ratio.to_f64()));
            }
            Some(printed) if printed.is_wide() => self.wrong(WIDE, format!("{claim}: {}", printed.shown())),
            Some(_) => (),
        }
    }

    fn of_epsilon(&mut self) {
        let delta = self.delta_above(7);
        let text = delta.to_string();
        let ratio = self.truth.ratio(&delta).expect("delta is above the mass");
        let Some(json) = self.given("epsilon", &Question::Epsilon { delta: text.clone() }) else { return };
        self.epsilon("epsilon", &json["epsilon"], &ratio);
        let lines = json["queries"].as_array().cloned().unwrap_or_default();
        if lines.len() != self.world.parts.len() {
            self.wrong("line of a query", format!("{} lines for {} mechanisms", lines.len(), self.world.parts.len()));
        }
        for (at, line) in lines.iter().enumerate() {
            let alone = self.world.part(at).truth().ratio(&delta).expect("a part is no worse than the whole");
            self.epsilon("line of a query", &line["epsilon"], &alone);
            if let (Some(part), Some(whole)) =
                (Interval::of_value(&line["epsilon"]), Interval::of_value(&json["epsilon"]))
                && part.lower > whole.upper
            {
                self.wrong("a part above the whole", format!("{} above {}", part.shown(), whole.shown()));
            }
        }
        if !self.is_printed {
            // The library's epsilon is the one that the command compares.
            return;
        }
        let Some(compared) = self.given("compare", &Question::Compare { delta: text.clone() }) else { return };
        let accountants = compared["accountants"].as_array().cloned().unwrap_or_default();
        self.epsilon("compare", &accountants[0]["epsilon"], &ratio);
        if accountants[0]["epsilon"] != json["epsilon"] {
            self.wrong("compare and epsilon agree", format!("{} and {}", accountants[0]["epsilon"], json["epsilon"]));
        }
        for other in accountants.iter().filter(|one| one["is_bound"] == json!(true)) {
            if Interval::of_value(&other["epsilon"])
                .is_some_and(|bound| exp(&bound.upper.clamp(&0, &12)).1 < ratio && ratio < 100_000)
            {
                self.wrong("bound of an accountant", format!("{other} for ln {}", ratio.to_f64()));
            }
        }
        self.read(&Question::Explain { delta: text });
        self.of_profile();
    }

    fn of_profile(&mut self) {
        let Some(json) = self.given("curve", &Question::Curve) else { return };
        for (at, epsilon) in [0u32, 1, 2].into_iter().enumerate() {
            let (low, high) = exp(&Rational::from(epsilon));
            let delta = |x: &Rational| self.truth.worst(|pairs| truth::delta(pairs, x));
            let (least, most) = (delta(&high), delta(&low));
            let ends = json!({ "lower": json["delta_lower"][at], "upper": json["delta_upper"][at] });
            self.compare("curve", &ends, &least, &most);
        }
    }

    /// At the infinite mass there is an epsilon, the largest loss that is finite; below it there is none.
    fn of_infinite(&mut self) {
        let mass = self.truth.worst(truth::infinite);
        if mass == 0 {
            return;
        }
        let below = Question::Epsilon { delta: (mass.to_f64() / 2.0).to_string() };
        match self.ask(&below) {
            Answer::None => (),
            Answer::Given(json) => self.wrong("no epsilon below the infinite mass", json["epsilon"].to_string()),
            Answer::Refused(error) => {
                self.tally.refusals += 1;
                if self.world.group == 1 {
                    self.wrong("no epsilon below the infinite mass", error);
                }
            }
        }
        if self.world.is_rational() && mass < 1 {
            let ratio = self.truth.ratio(&mass).expect("delta is the mass");
            let at = Question::Epsilon { delta: mass.to_string() };
            let Some(json) = self.given("epsilon at the infinite mass", &at) else { return };
            self.epsilon("epsilon at the infinite mass", &json["epsilon"], &ratio);
        }
    }

    fn of_beta(&mut self) {
        let alphas = ["1/10", "3/10", "7/10"].map(String::from).to_vec();
        let Some(json) = self.given("type II error", &Question::Tradeoff { alphas: alphas.clone() }) else { return };
        for (at, alpha) in alphas.iter().enumerate() {
            let alpha = parse(alpha).expect("a number");
            let beta = self.truth.beta(&alpha);
            let ends = |name: &str| json!({ "lower": json[format!("{name}_lower")][at], "upper": json[format!("{name}_upper")][at] });
            self.compare("type II error", &ends("beta"), &beta, &beta);
            if json["hull_lower"].is_array() && !json["hull_lower"][at].is_null() {
                let hull = truth::hull(&self.truth, &alpha);
                self.compare("hull", &ends("hull"), &hull, &hull);
            }
        }
    }

    fn of_curve(&mut self) {
        let (prior, alphas) = ("3/10", ["1/10", "1/2"].map(String::from).to_vec());
        let question = Question::RiskCurve { prior: prior.to_string(), alphas: alphas.clone() };
        let Some(json) = self.given("power", &question) else { return };
        let prior = parse(prior).expect("a number");
        for (at, alpha) in alphas.iter().enumerate() {
            let alpha = parse(alpha).expect("a number");
            // Reports of "present": alpha is their probability without the record.
            let power = 1 - truth::beta(&self.truth.up, &alpha);
            let posterior = truth::posterior(&prior, &power, &alpha);
            let relative = Rational::from(&posterior / &prior);
            for (name, truth) in [("power", power), ("posterior", posterior), ("relative_risk", relative)] {
                let ends =
                    json!({ "lower": json[format!("{name}_lower")][at], "upper": json[format!("{name}_upper")][at] });
                self.compare("power", &ends, &truth, &truth);
            }
        }
    }

    fn of_risk(&mut self, text: &str) {
        let delta = self.delta_above(5);
        let question = Question::RiskBound { prior: text.to_string(), delta: delta.to_string() };
        let Some(json) = self.given("risk bound", &question) else { return };
        let prior = parse(text).expect("a prior");
        // P is the law with the record. Two values of a record are compared in both orders: bounded worlds list both.
        let correct = truth::correct(&self.truth.up, &prior);
        self.compare("correct decision", &json["correct_decision_upper"], &correct, &correct);
        let half = Rational::from((1, 2));
        let apart = (truth::correct(&self.truth.up, &half) - half) * 2;
        self.compare("advantage", &json["advantage"], &apart, &apart);
        let events = self.truth.worst(|pairs| truth::events(pairs, &prior, &delta));
        self.compare("posterior of events", &json["posterior_events"], &events, &events);
        if self.world.is_known() {
            let outputs = self.truth.worst(|pairs| truth::outputs(pairs, &prior, &delta));
            for (claim, key) in
                [("posterior of outputs", "posterior_upper"), ("posterior exceeded", "posterior_exceeded")]
            {
                let upper = Interval::of_value(&json[key]).map(|ends| ends.upper);
                if let Some(upper) = upper.filter(|upper| *upper < outputs.clone() - own_error()) {
                    self.wrong(claim, format!("at most {} for {}", upper.to_f64(), outputs.to_f64()));
                }
            }
        }
        self.of_stronger(&json, &prior);
    }

    /// No weaker adversary is above a stronger one: no posterior above that of pure DP, of no output above that of events, no decision worse than a guess.
    fn of_stronger(&mut self, json: &Value, prior: &Rational) {
        let interval = |keys: &[&str]| Interval::of_value(keys.iter().fold(json, |value, key| &value[*key]));
        let pure = |key: &'static str| interval(&["pure", key]);
        let orders = [
            ("posterior of events", interval(&["posterior_events"]), pure("posterior_upper")),
            ("posterior of outputs", interval(&["posterior_upper"]), pure("posterior_upper")),
            ("posterior exceeded", interval(&["posterior_exceeded"]), pure("posterior_upper")),
            ("correct decision", interval(&["correct_decision_upper"]), pure("correct_decision_upper")),
            ("advantage", interval(&["advantage"]), pure("advantage")),
            ("correct decision", interval(&["correct_decision_upper"]), interval(&["zcdp", "correct_decision_upper"])),
            ("posterior of outputs", interval(&["posterior_upper"]), interval(&["posterior_events"])),
        ];
        for (claim, weaker, stronger) in orders {
            if let (Some(weaker), Some(stronger)) = (weaker, stronger)
                && weaker.lower > stronger.upper
            {
                let what = format!("{claim}: {} above {}", weaker.shown(), stronger.shown());
                self.wrong("a weaker adversary above a stronger one", what);
            }
        }
        let guess = prior.clone().max(Rational::from(1 - prior));
        if interval(&["correct_decision_upper"]).is_some_and(|printed| printed.upper < guess) {
            self.wrong("a decision worse than a guess", format!("{}", json["correct_decision_upper"]));
        }
    }

    /// The number that `calibrate` finds keeps the promise, and its neighbor on the grid does not.
    fn of_calibrate(&mut self) {
        let Some(text) = calibrated::sought(self.world) else { return };
        for target in self.some(&Target::ALL) {
            let question = Question::Calibrate { target, text: text.clone() };
            let json = match self.ask(&question) {
                Answer::Given(json) => json,
                Answer::Refused(error) if !error.contains("of the grid keeps the target") => {
                    self.wrong("calibrated", format!("{target:?} refused: {error}"));
                    continue;
                }
                Answer::Refused(_) | Answer::None => {
                    let some = (1..40).map(|k| Rational::from((k, 8)));
                    let mut kept = some.filter(|epsilon| calibrated::keeps(self.world, target, epsilon) == Some(true));
                    if let Some(epsilon) = kept.next() {
                        self.wrong("calibrated, none", format!("{target:?} is kept by {epsilon}"));
                    }
                    continue;
                }
            };
            let keeps = |key: &str| calibrated::keeps(self.world, target, &parse(&json[key].to_string()).ok()?);
            let key = if json["found"].is_null() { "value" } else { "found" };
            if keeps(key) != Some(true) || keeps("not_enough") != Some(false) {
                let what = format!("{target:?}: {} keeps it, {} does not", json[key], json["not_enough"]);
                self.wrong("calibrated", what);
            }
        }
    }

    /// What has an answer for a strict target has one for a lenient target.
    fn of_lenient(&mut self) {
        let answers = |asked: &mut Self, share: u32| {
            let delta = asked.delta_above(share).to_string();
            matches!(asked.program.library(&Question::Epsilon { delta }), Answer::Given(_))
        };
        if answers(self, 100) && !answers(self, 2) {
            self.wrong("a refusal where a stricter target has an answer", "epsilon".to_string());
        }
    }
}

/// Asks for every claim about a world; by the commands, in text as well, if `is_printed`.
pub fn ask(world: &World, is_printed: bool, folder: &Path, tally: &mut Tally) {
    let (truth, program) = (world.truth(), Program::about(world, folder));
    let has_epsilon = truth.worst(truth::infinite) < 1;
    let mut asked = Asked { world, truth, program, is_printed, tally };
    asked.of_delta();
    asked.of_beta();
    asked.of_curve();
    asked.of_infinite();
    if !has_epsilon {
        // No delta below 1 has an epsilon.
        return;
    }
    asked.of_epsilon();
    asked.of_lenient();
    for prior in asked.some(&["3/10", "1/2", "7/10"]) {
        asked.of_risk(prior);
    }
    asked.of_calibrate();
}
