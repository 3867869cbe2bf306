//! How calibrated noise is shown: a table or JSON, a row for each level.

use anyhow::Result;
use dp_assay::{
    account::{Answer, crossing::Stretch, promise::variances},
    chart::curves::CalibratedCurves,
    numeric::{Certainty, Enclosure},
};
use rug::Rational;
use serde_json::{Value, json};

use super::super::{
    output::{exact, exact_text},
    page::Page,
    queries::CalibratedQuery,
    subject::Resolved,
};
use super::{Args, Asked, Found, Promise, parts};

/// The variances before and after, and what they promise.
pub struct Row {
    /// What it is.
    pub name: String,
    /// The factor on the grid, or the factor that puts the smallest sigma2 on it.
    pub factor: Rational,
    /// The factor of the next smaller grid point, disproved.
    pub before: Option<Rational>,
    /// Every sigma2 that occurs, smallest first.
    pub variances: Vec<Rational>,
    pub epsilon: Answer,
    pub target: Enclosure,
    pub stretches: Option<Vec<Stretch>>,
    /// The profiles before and after, where they are drawn.
    pub curves: Option<CalibratedCurves>,
}

impl Args {
    /// The answer as an object.
    pub fn object(&self, subject: &Resolved, asked: &Asked, found: &Found) -> Result<Value> {
        let Found { rows, queries } = found;
        let mut object = json!({
            "mode": if self.scale_all { "scale-all" } else { "per-level" },
            "delta": exact(&asked.delta),
            "neighbors": subject.neighbors.name(),
        });
        if let Promise::ZcdpCurve { from, to } = &asked.promise {
            object["match_curve"] = json!({ "from": exact(from), "to": exact(to) });
        }
        let levels: Vec<Value> = if self.scale_all {
            let whole = &rows[0];
            object["factor"] = exact(&whole.factor);
            object["factor_before"] = whole.before.as_ref().map_or(Value::Null, exact);
            let fields = whole.json();
            for key in ["reduction_percent", "reduction_percent_exact", "epsilon", "status", "target_epsilon", "curve"]
            {
                if let Some(value) = fields.get(key) {
                    object[key] = value.clone();
                }
            }
            (parts(subject).into_iter())
                .map(|(name, part)| Ok(whole.of_level(name, variances(&part).unwrap_or_default()).json()))
                .collect::<Result<Vec<Value>>>()?
        } else {
            rows.iter().map(Row::json).collect()
        };
        object["levels"] = levels.into();
        if !queries.is_empty() {
            object["queries"] = queries.iter().map(CalibratedQuery::json).collect();
        }
        Ok(object)
    }

    /// The answer to be read.
    pub(super) fn put_tables(
        &self,
        page: &mut Page,
        subject: &Resolved,
        promise: &Promise,
        rows: &[Row],
        decimals: u32,
    ) -> Result<()> {
        let mode = match (self.scale_all, self.per_level) {
            (true, _) => format!("one factor on all noise (--scale-all), to {decimals} decimals"),
            (_, true) => format!("each level alone, sigma2 to {decimals} decimals"),
            _ => format!("each level alone (--per-level; --scale-all for one factor), sigma2 to {decimals} decimals"),
        };
        let (title, relation, what) = (&subject.title, subject.neighbors.name(), in_words(promise));
        page.text(format!("{title}\n{relation} neighbors; {what}\n{mode}\n\n"));
        if self.scale_all {
            self.put_factor(page, subject, &rows[0]);
        } else {
            self.put_levels(page, rows);
        }
        page.say_wider(rows.iter().map(|row| (row.name.as_str(), &row.epsilon)));
        rows.iter().for_each(|row| row.put_stretches(page));
        Ok(())
    }

    /// The factor on all noise, and what becomes of each level.
    fn put_factor(&self, page: &mut Page, subject: &Resolved, whole: &Row) {
        let digits = self.format.shown();
        let lines: Vec<Vec<String>> = (parts(subject).into_iter())
            .filter_map(|(name, part)| Some(whole.of_level(name, variances(&part).ok()?)))
            .map(|row| row.cells(digits)[..4].to_vec())
            .collect();
        page.table(&HEADING[..4], lines);
        let before = whole.before.as_ref().map_or_else(
            || "and there is no smaller point on the grid".to_string(),
            |before| format!("and {} is proven not to be enough", exact_text(before)),
        );
        page.text(format!(
            "\nfactor {} ({} % less noise) is proven to be enough, {before}.\nepsilon {}, target {}\n",
            exact_text(&whole.factor),
            Enclosure::rational(&whole.reduction(), 64).shown(8),
            whole.epsilon.value.shown(digits),
            whole.target.shown(digits),
        ));
        if let Some(worst) = subject.worst() {
            let unit = if worst.in_pairs() { "pairs of block paths" } else { "block paths" };
            page.text(format!("The worst of {} {unit} decides.\n", worst.count()));
        }
    }

    /// Each level calibrated by itself.
    fn put_levels(&self, page: &mut Page, rows: &[Row]) {
        page.table(&HEADING, rows.iter().map(|row| row.cells(self.format.shown())).collect());
        page.text(
            "\nEach calibrated sigma2 is proven to be enough, and the next smaller of the grid is proven not to be.\n",
        );
        if rows.iter().any(|row| row.before.is_none()) {
            page.text("Where the smallest sigma2 that is accounted for is enough, there is no next smaller.\n");
        }
        if rows.iter().any(|row| row.variances.len() > 1) {
            page.text("A level with several sigma2 shows the smallest; the others are scaled by the same factor.\n");
        }
    }
}

const HEADING: [&str; 6] = ["", "sigma2", "calibrated", "lower by", "epsilon", "target"];

/// What the noise has to keep.
fn in_words(promise: &Promise) -> String {
    let as_zcdp = "as private as zCDP (Bun-Steinke) says of the noise as it is";
    match promise {
        Promise::Epsilon { delta, epsilon } => {
            format!("epsilon <= {} at delta = {}", exact_text(epsilon), exact_text(delta))
        }
        Promise::ZcdpEpsilon { delta } => format!("{as_zcdp}, at delta = {}", exact_text(delta)),
        Promise::ZcdpCurve { from, to } => {
            format!("{as_zcdp}, at every delta from {} to {}", exact_text(from), exact_text(to))
        }
    }
}

impl Row {
    /// A line of the table.
    fn cells(&self, digits: usize) -> Vec<String> {
        vec![
            self.name.clone(),
            Enclosure::rational(&self.variances[0], 64).shown(7),
            calibrated_text(&self.calibrated(&self.factor)),
            format!("{} %", Enclosure::rational(&self.reduction(), 64).shown(6)),
            self.epsilon.value.shown(digits),
            self.target.shown(digits),
        ]
    }

    /// The same factor on the noise of one level.
    fn of_level(&self, name: String, variances: Vec<Rational>) -> Row {
        Row {
            name,
            factor: self.factor.clone(),
            before: self.before.clone(),
            variances,
            epsilon: self.epsilon.clone(),
            target: self.target.clone(),
            stretches: None,
            curves: None,
        }
    }

    /// The smallest sigma2 after scaling.
    pub fn calibrated(&self, factor: &Rational) -> Rational {
        self.variances.first().map(|sigma2| Rational::from(sigma2 * factor)).unwrap_or_default()
    }

    /// 100 (1 - factor), exactly.
    pub fn reduction(&self) -> Rational {
        Rational::from(1 - &self.factor) * 100_u32
    }

    fn json(&self) -> Value {
        let mut row = json!({
            "name": self.name,
            "sigma2": exact(&self.variances.first().cloned().unwrap_or_default()),
            "calibrated_sigma2": exact(&self.calibrated(&self.factor)),
            "not_enough_sigma2": self.before.as_ref().map_or(Value::Null, |before| exact(&self.calibrated(before))),
            "reduction_percent": exact(&self.reduction()),
            "reduction_percent_exact": self.reduction().to_string(),
            "epsilon": self.epsilon.value.to_json(),
            "status": self.epsilon.status(),
            "target_epsilon": self.target.to_json(),
        });
        if self.variances.len() > 1 {
            let pair = |sigma2: &Rational| {
                json!({
                    "sigma2": exact(sigma2),
                    "calibrated_sigma2": exact(&Rational::from(sigma2 * &self.factor)),
                    "calibrated_sigma2_exact": Rational::from(sigma2 * &self.factor).to_string(),
                })
            };
            row["variances"] = self.variances.iter().map(pair).collect();
        }
        if let Some(stretches) = &self.stretches {
            row["curve"] = stretches.iter().map(stretch_json).collect();
        }
        row
    }

    fn put_stretches(&self, page: &mut Page) {
        let Some(stretches) = &self.stretches else { return };
        page.text(format!("\n{}: the calibrated noise beside the zCDP curve of the noise as it was\n", self.name));
        for stretch in stretches {
            let answer = match stretch.within {
                Certainty::Yes => "at least as private at every delta",
                Certainty::No => "less private at every delta",
                Certainty::Undecided => "they cross at a delta",
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

/// A grid value as it is; any other to ten digits.
fn calibrated_text(value: &Rational) -> String {
    let text = exact_text(value);
    if text.len() <= 16 { text } else { Enclosure::rational(value, 64).shown(10) }
}
