//! Calibrated noise as a table or JSON, a row for each level.

use anyhow::Result;
use dp_assay::{
    account::{
        compared::{Against, Compared},
        crossing::Stretch,
        promise::{GridOf, Promise, variances},
    },
    document::fields::Fields,
    numeric::{Certainty, Enclosure},
    release::subject::Part,
    risk::promise::RiskPromise,
};
use rug::Rational;
use serde_json::{Value, json};

use super::super::{
    compared::{self, Columns},
    output::{change, change_in_words, exact, exact_text},
    page::Page,
    queries::CalibratedQuery,
    risk_goal,
    subject::{Resolved, heading, of_relation},
};
use super::found::{FACTOR_DECIMALS, Found, Goal, Request, Row, Together, grid_with, parts};

/// How the answer is laid out: the options that say so.
pub(super) struct Layout {
    pub(super) scale_all: bool,
    pub(super) per_level: bool,
    pub(super) decimals: Option<u32>,
    /// The digits of tables.
    pub(super) shown: usize,
}

impl Layout {
    /// The answer as an object.
    pub(super) fn object(&self, subject: &Resolved, request: &Request, found: &Found) -> Result<Value> {
        let Found { rows, together, queries } = found;
        let mut answer = Fields::new()
            .with("mode", if self.scale_all { "scale-all" } else { "per-level" })
            .with("delta", request.delta.as_ref().map(|delta| exact(delta)))
            .and(of_relation(subject));
        answer = match &request.goal {
            Goal::Promise(Promise::ZcdpCurve { from, to }) => {
                answer.with("match_curve", json!({ "from": exact(from), "to": exact(to) }))
            }
            Goal::Risk(risk) => answer.with("goal", risk_goal::json(risk, request.unit)),
            Goal::Promise(_) | Goal::Compared(_) => answer,
        };
        let levels: Vec<Value> = if self.scale_all {
            let whole = &rows[0];
            answer =
                answer.with("factor", exact(&whole.factor)).with("factor_before", whole.before.as_ref().map(exact));
            let fields = whole.json();
            let target = target_key(whole.key);
            let keys = [
                "reduction_percent",
                "reduction_percent_exact",
                whole.key,
                "status",
                &target,
                "compared_with",
                "curve",
            ];
            answer = keys.into_iter().fold(answer, |answer, key| answer.with_some(key, fields.get(key)));
            (parts(subject).into_iter())
                .map(|part| Ok(of_part(whole, &part)?.json()))
                .collect::<Result<Vec<Value>>>()?
        } else {
            rows.iter().map(Row::json).collect()
        };
        let together = together.as_ref().map(|together| together.json(request.goal.measure()[1]));
        let answer = answer.with("levels", levels).with_some("all_composed", together);
        Ok(answer.with_any("queries", queries.iter().map(CalibratedQuery::json)).into())
    }

    /// The answer as text.
    pub(super) fn put_tables(
        &self,
        page: &mut Page,
        subject: &Resolved,
        request: &Request,
        found: &Found,
    ) -> Result<()> {
        let rows = &found.rows;
        let of_sigma2 = || grid_with(GridOf::SmallestSigma2, self.decimals).decimals;
        let mode = match (self.scale_all, self.per_level) {
            (true, _) => {
                let decimals = grid_with(GridOf::Factor, self.decimals).decimals;
                format!("one factor on all noise (--scale-all), to {decimals} decimals")
            }
            (_, true) => format!("each level alone, sigma2 to {} decimals", of_sigma2()),
            _ => format!(
                "each level alone (--per-level; --scale-all for one factor), sigma2 to {} decimals",
                of_sigma2()
            ),
        };
        page.text(heading(subject, &format!("; {}\n{mode}", in_words(request, rows))));
        if self.scale_all {
            self.put_factor(page, subject, &request.goal, &rows[0])?;
        } else {
            self.put_levels(page, subject, &request.goal, found);
        }
        let compared = (rows.iter())
            .filter_map(|row| Some((row.name.as_str(), row.compared.as_ref()?)))
            .chain(found.together.iter().filter_map(|whole| Some((ALL, whole.compared.as_ref()?))))
            .collect::<Vec<_>>();
        if !compared.is_empty() {
            let usual = matches!(request.goal, Goal::Compared(Against::Usual));
            compared::notes(compared.iter().copied(), usual).iter().for_each(|note| page.text(format!("{note}\n")));
        }
        page.note(subject.note());
        let together = found.together.iter().map(|whole| (ALL, &whole.reached));
        page.say_wider(rows.iter().map(|row| (row.name.as_str(), &row.reached)).chain(together));
        rows.iter().for_each(|row| row.put_stretches(page));
        Ok(())
    }

    /// The factor on all noise, and its effect on each level.
    fn put_factor(&self, page: &mut Page, subject: &Resolved, goal: &Goal, whole: &Row) -> Result<()> {
        let digits = self.shown;
        let line = |part: Part| Ok(of_part(whole, &part)?.cells(digits)[..4].to_vec());
        let lines: Vec<Vec<String>> = parts(subject).into_iter().map(line).collect::<Result<_>>()?;
        page.table(&HEADING, lines);
        let before = whole.before.as_ref().map_or_else(
            || "and there is no smaller point on the grid".to_string(),
            |before| match subject.may_be_more_private() {
                None => format!("and {} is proven not to be enough", exact_text(before)),
                Some(why) => {
                    format!("and {} is not by this account, which is an upper bound: {why}", exact_text(before))
                }
            },
        );
        page.text(format!(
            "\nfactor {} ({}) is proven to be enough, {before}.\n{} {}, target {}\n",
            exact_text(&whole.factor),
            change_in_words(&whole.factor, 8),
            goal.measure()[0],
            whole.reached.value.shown(digits),
            whole.target.shown(digits),
        ));
        if goal.is_of_outputs() {
            page.text(whole.of_level(whole.name.clone(), Vec::new()).about_larger());
        }
        if let Some(ways) = subject.ways() {
            page.text(format!("The worst of {ways} decides.\n"));
        }
        Ok(())
    }

    /// Each level calibrated alone, and all of them composed.
    fn put_levels(&self, page: &mut Page, subject: &Resolved, goal: &Goal, found: &Found) {
        let (rows, together, digits) = (&found.rows, found.together.as_ref(), self.shown);
        let columns = Columns::of_compared(rows.iter().filter_map(|row| row.compared.as_ref()));
        // The names of accounts have a column of their own if they differ.
        let with_names = rows.iter().any(|row| row.compared.is_some()) && columns.heading().len() > 1;
        let name = |compared: Option<&Compared>| {
            let name = compared.map(|compared| compared.by.name().to_string());
            with_names.then(|| name.unwrap_or_default())
        };
        let mut lines: Vec<Vec<String>> = Vec::new();
        for row in rows {
            lines.push(row.cells(digits).into_iter().chain(name(row.compared.as_ref())).collect());
        }
        if let Some(whole) = together {
            let none = || "-".to_string();
            let numbers = [whole.reached.value.shown(digits), whole.target.shown(digits)];
            let cells = [ALL.to_string(), none(), none(), none()].into_iter().chain(numbers);
            lines.push(cells.chain(name(whole.compared.as_ref())).collect());
        }
        let measured = [goal.measure()[0], "target"];
        let heading = HEADING.iter().chain(&measured).map(ToString::to_string);
        let heading = heading.chain(with_names.then(|| "target by".to_string()));
        page.table(&heading.collect::<Vec<String>>(), lines);
        let each = if rows.iter().all(|row| row.variances.is_empty()) { "factor" } else { "calibrated sigma2" };
        // Of an account that is an upper bound the next smaller noise may be enough as well.
        page.text(match subject.may_be_more_private() {
            None => format!(
                "\nEach {each} is proven to be enough, and the next smaller of the grid is proven not to be.\n"
            ),
            Some(why) => format!(
                "\nEach {each} is proven to be enough. The next smaller of the grid is not enough by this account, which is an upper bound: {why}.\n"
            ),
        });
        if goal.is_of_outputs() {
            rows.iter().for_each(|row| page.text(row.about_larger()));
        }
        if let Some(whole) = together {
            page.text(whole.in_words(goal, digits));
        }
        if rows.iter().any(|row| row.before.is_none()) {
            page.text("If the smallest sigma2 that is accepted is enough, there is no next smaller one.\n");
        }
        if rows.iter().any(|row| row.variances.len() > 1) {
            page.text("A level with several sigma2 shows the smallest; the others are scaled by the same factor.\n");
        }
        if subject.total.is_sampled() {
            page.text("On samples sigma2 is the square of the noise multiplier, which --noise-multiplier \"?\" finds on a grid of its own.\n");
        }
        if rows.iter().any(|row| row.variances.is_empty()) {
            let decimals = self.decimals.unwrap_or(FACTOR_DECIMALS);
            page.text(format!(
                "Noise without a sigma2 is scaled by a factor with {decimals} decimals: its parameters are divided by it.\n"
            ));
        }
    }
}

/// The common factor on the noise of one part.
fn of_part(whole: &Row, part: &Part) -> Result<Row> {
    Ok(whole.of_level(part.name.clone(), variances(&part.noise()?).unwrap_or_default()))
}

const HEADING: [&str; 4] = ["", "sigma2", "calibrated", "change"];
/// All levels together, in tables.
const ALL: &str = "all composed";

impl Together {
    /// Whether all levels with their calibrated noise meet the target of the whole.
    pub fn in_words(&self, goal: &Goal, digits: usize) -> String {
        let (value, target) = (self.reached.value.shown(digits), self.target.shown(digits));
        let name = goal.noun();
        let side = match goal {
            Goal::Risk(RiskPromise::TypeTwoError { .. }) => "above",
            Goal::Risk(_) | Goal::Promise(_) | Goal::Compared(_) => "below",
        };
        match self.keeps {
            Certainty::Yes => format!(
                "All calibrated levels composed have {name} {value}, which is {side} the target of the whole, {target}.\n"
            ),
            Certainty::No | Certainty::Undecided => format!(
                "WARNING: each level keeps its own target, but all calibrated levels composed have {name} {value}, which is not \
                 {side} the target of the whole, {target}. --scale-all finds noise for the whole.\n"
            ),
        }
    }

    fn json(&self, key: &str) -> Fields {
        Fields::new()
            .with(key, &self.reached.value)
            .with("status", self.reached.status())
            .with("compared_with", self.compared.as_ref().map(compared::json))
            .with("keeps_target", proven(self.keeps))
            .with(target_key(key), &self.target)
    }
}

/// Whether something holds; `None` if that is not proven.
pub(super) fn proven(holds: Certainty) -> Option<bool> {
    match holds {
        Certainty::Yes => Some(true),
        Certainty::No => Some(false),
        Certainty::Undecided => None,
    }
}

/// The key of the target of a value.
pub(super) fn target_key(key: &str) -> String {
    format!("target_{key}")
}

/// The target of the noise.
pub(super) fn in_words(request: &Request, rows: &[Row]) -> String {
    match &request.goal {
        Goal::Risk(risk) => risk.in_words(&request.unit),
        Goal::Promise(Promise::Epsilon { delta, epsilon }) => {
            format!("epsilon <= {} at delta = {}", exact_text(epsilon), exact_text(delta))
        }
        Goal::Promise(Promise::ZcdpCurve { from, to }) => format!(
            "as private as zCDP (Bun-Steinke) states for the present noise, at every delta from {} to {}",
            exact_text(from),
            exact_text(to)
        ),
        Goal::Promise(
            Promise::ZcdpEpsilon { .. }
            | Promise::Known { .. }
            | Promise::OneWay { .. }
            | Promise::Outputs { .. }
            | Promise::Tradeoff { .. },
        )
        | Goal::Compared(_) => {
            let name = match (&request.goal, compared::common(rows.iter().filter_map(|row| row.compared.as_ref()))) {
                (_, Some(by)) => by.name().to_string(),
                (Goal::Compared(Against::Published), None) => "what was published".to_string(),
                _ => "the account that its row names".to_string(),
            };
            let delta = request.delta.as_ref().map(|delta| exact_text(delta)).unwrap_or_default();
            format!("as private as {name} states for the present noise, at delta = {delta}")
        }
    }
}

impl Row {
    /// A line of the table.
    fn cells(&self, digits: usize) -> Vec<String> {
        vec![
            self.name.clone(),
            self.variances.first().map_or("-".to_string(), |sigma2| Enclosure::rational(sigma2, 64).shown(7)),
            match self.variances.is_empty() {
                true => "-".to_string(),
                false => calibrated_text(&self.calibrated(&self.factor)),
            },
            change(&self.factor, 6),
            self.reached.value.shown(digits),
            self.target.shown(digits),
        ]
    }

    /// The same factor on the noise of one level.
    fn of_level(&self, name: String, variances: Vec<Rational>) -> Row {
        Row { name, variances, stretches: None, curves: None, ..self.clone() }
    }

    /// The smallest sigma2 after scaling.
    pub fn calibrated(&self, factor: &Rational) -> Rational {
        self.variances.first().map(|sigma2| Rational::from(sigma2 * factor)).unwrap_or_default()
    }

    /// Of a posterior of outputs: what larger noise does.
    fn about_larger(&self) -> String {
        let shown = |factor: &Rational| match self.variances.is_empty() {
            true => exact_text(factor),
            false => calibrated_text(&self.calibrated(factor)),
        };
        let rest = match &self.steady {
            Some(steady) if *steady == self.factor => {
                "all larger noise of the grid keeps the promise, and smaller noise may keep it too".to_string()
            }
            Some(steady) => {
                format!(
                    "some larger noise of the grid breaks the promise again, and from {} on all keeps it; smaller noise may keep it too",
                    shown(steady)
                )
            }
            None => "larger noise may break the promise again, and smaller noise may keep it".to_string(),
        };
        format!("{}: posteriors of outputs rise and fall with the noise; {rest}.\n", self.name)
    }

    /// 100 (1 - factor), exactly.
    pub fn reduction(&self) -> Rational {
        Rational::from(1 - &self.factor) * 100_u32
    }

    fn json(&self) -> Value {
        let of_sigma2 = |factor: &Rational| match self.variances.first() {
            Some(sigma2) => exact(&Rational::from(sigma2 * factor)),
            None => Value::Null,
        };
        let pair = |sigma2: &Rational| {
            let calibrated = Rational::from(sigma2 * &self.factor);
            json!({
                "sigma2": exact(sigma2),
                "calibrated_sigma2": exact(&calibrated),
                "calibrated_sigma2_exact": calibrated.to_string(),
            })
        };
        let stretches = self.stretches.as_ref().map(|all| all.iter().map(stretch_json).collect::<Value>());
        Fields::new()
            .with("name", &self.name)
            .with("sigma2", of_sigma2(&Rational::from(1)))
            .with("calibrated_sigma2", of_sigma2(&self.factor))
            .with("not_enough_sigma2", self.before.as_ref().map(of_sigma2))
            .with("factor", exact(&self.factor))
            .with("reduction_percent", exact(&self.reduction()))
            .with("reduction_percent_exact", self.reduction().to_string())
            .with(self.key, &self.reached.value)
            .with("status", self.reached.status())
            .with("compared_with", self.compared.as_ref().map(compared::json))
            .with(target_key(self.key), &self.target)
            .with_some("all_from_factor", self.steady.as_ref().map(exact))
            .with_some("all_from_sigma2", self.steady.as_ref().map(of_sigma2))
            .with_any("variances", self.variances.iter().filter(|_| self.variances.len() > 1).map(pair))
            .with_some("curve", stretches)
            .into()
    }

    fn put_stretches(&self, page: &mut Page) {
        let Some(stretches) = &self.stretches else { return };
        page.text(format!(
            "\n{}: the calibrated noise compared with the zCDP (Bun-Steinke) curve of the noise before\n",
            self.name
        ));
        let verdict = |at: Option<usize>| at.and_then(|at| stretches.get(at)).map(|stretch| stretch.within);
        for (at, stretch) in stretches.iter().enumerate() {
            let answer = match stretch.within {
                Certainty::Yes => "at least as private at every delta",
                Certainty::No => "less private at every delta",
                // Both curves are continuous: between opposite answers they cross.
                Certainty::Undecided => match (verdict(at.checked_sub(1)), verdict(at.checked_add(1))) {
                    (Some(Certainty::Yes), Some(Certainty::No)) | (Some(Certainty::No), Some(Certainty::Yes)) => {
                        "they cross at a delta"
                    }
                    _ => "too close to decide",
                },
            };
            let (low, high) = &stretch.deltas;
            page.text(format!(
                "  {answer} from {} to {} (epsilon {} to {})\n",
                low.shown(8),
                high.shown(8),
                Enclosure::rational(&stretch.epsilons.1, 64).shown(10),
                Enclosure::rational(&stretch.epsilons.0, 64).shown(10),
            ));
        }
    }
}

fn stretch_json(stretch: &Stretch) -> Value {
    let answer = match stretch.within {
        Certainty::Yes => "at least as private",
        Certainty::No => "less private",
        Certainty::Undecided => "crossing",
    };
    json!({
        "calibrated_is": answer,
        "delta_from": stretch.deltas.0.to_json(),
        "delta_to": stretch.deltas.1.to_json(),
        "epsilon_from": exact(&stretch.epsilons.0),
        "epsilon_to": exact(&stretch.epsilons.1),
    })
}

/// A grid value exactly; any other to ten digits.
fn calibrated_text(value: &Rational) -> String {
    let text = exact_text(value);
    if text.len() <= 16 { text } else { Enclosure::rational(value, 64).shown(10) }
}
