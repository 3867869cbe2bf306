//! Differences and shares of estimates, with the covariances of the estimates, and files of covariances.

use std::path::Path;

use serde_json::{Value, json};

use super::{
    codes::{book::code_of, confidence::Confidence},
    survey::{CountName, Covariances, Survey},
    tables::marked,
};
use crate::{
    error::{Error, Result},
    io::files::{file_error, write_whole},
    numeric::normal::lower_approx,
    spine::csv_table::quoted,
};

/// The covariances, differences, shares, ranks and medians that are requested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparisons {
    /// The file for the covariances.
    pub file: Option<std::path::PathBuf>,
    /// Differences, each as `A,B`: two areas, or two variables.
    pub differences: Vec<String>,
    /// Shares, each as `PART/WHOLE`.
    pub shares: Vec<String>,
    /// Variables by which all areas are ranked.
    pub ranks: Vec<String>,
    /// Attributes of which the medians are requested.
    pub medians: Vec<String>,
    /// The levels of confidence of differences, shares, ranks and medians; 95 % if empty.
    pub confidence: Vec<Confidence>,
}

impl Comparisons {
    /// Whether none are requested.
    pub fn is_empty(&self) -> bool {
        *self == Comparisons { confidence: self.confidence.clone(), ..Comparisons::default() }
    }
}

/// A difference or share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The first minus the second.
    Difference,
    /// The first as a fraction of the second.
    Share,
}

/// Two estimates, their variances and covariance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Two {
    /// The estimates.
    pub estimates: [f64; 2],
    /// Their variances.
    pub variances: [f64; 2],
    /// Their covariance.
    pub covariance: f64,
}

impl Two {
    /// The correlation; `None` if constraints fix one of them.
    pub fn correlation(&self) -> Option<f64> {
        let [first, second] = self.variances;
        (first > 0.0 && second > 0.0).then(|| (self.covariance / (first * second).sqrt()).clamp(-1.0, 1.0))
    }

    /// The variance of first - r second. Rounding leaves a rest where it is zero.
    fn variance(&self, r: f64) -> f64 {
        let [first, second] = self.variances;
        let sum = first + r * r * second;
        let variance = sum - 2.0 * r * self.covariance;
        if variance <= 1e-11 * sum { 0.0 } else { variance }
    }

    /// The difference and its standard deviation.
    pub fn difference(&self) -> (f64, f64) {
        (self.estimates[0] - self.estimates[1], self.variance(1.0).sqrt())
    }

    /// The probability that the first true count is the larger one, if the error of the difference is normal and
    /// nothing else is known about the counts; `None` if constraints fix the difference.
    pub fn probability_larger(&self) -> Option<f64> {
        let (difference, deviation) = self.difference();
        (deviation > 0.0).then(|| lower_approx(difference / deviation))
    }

    /// The share and its standard deviation by the delta method; `None` if the whole is not above zero.
    pub fn share(&self) -> Option<(f64, f64)> {
        let [part, whole] = self.estimates;
        let share = part / whole;
        (whole > 0.0).then(|| (share, self.variance(share).sqrt() / whole))
    }

    /// Fieller's interval at this number of standard deviations, the shares r with (part - r whole)^2 <= z^2 Var(part -
    /// r whole); `None` if they are not an interval, as the whole cannot be distinguished from zero.
    pub fn fieller(&self, z: f64) -> Option<(f64, f64)> {
        let ([part, whole], [of_part, of_whole]) = (self.estimates, self.variances);
        let square = z * z;
        let a = whole * whole - square * of_whole;
        let b = part * whole - square * self.covariance;
        let c = part * part - square * of_part;
        // At the share part / whole the left side is zero: the discriminant is not negative but for rounding.
        let root = (b * b - a * c).max(0.0).sqrt();
        (a > 0.0 && whole > 0.0).then(|| ((b - root) / a, (b + root) / a))
    }
}

/// A difference or share of two counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Which.
    pub kind: Kind,
    /// The names of the two: areas or variables.
    pub names: [String; 2],
    /// The variable that both areas have, or the area that has both variables.
    pub within: String,
    /// The counts.
    pub two: Two,
}

/// The name of the variable of a count: its code, or its query with the labels of the cell.
pub(super) fn variable(survey: &Survey, count: &CountName) -> String {
    let answers = &survey.answers;
    let labels = (0..answers.kinds().len()).map(|kind| answers.label(count.query, kind, count.cell));
    let labels: Vec<&str> = labels.filter(|label| !label.is_empty()).collect();
    match &labels[..] {
        [] => code_of(answers.names()[count.query]).to_string(),
        labels => format!("{}: {}", answers.names()[count.query], labels.join("; ")),
    }
}

/// Covariances with the names of their counts.
#[derive(Clone, Debug)]
pub struct Named {
    pub(super) covariances: Covariances,
    pub(super) areas: Vec<String>,
    pub(super) variables: Vec<String>,
}

impl Named {
    /// The covariances of a survey.
    pub fn new(survey: &Survey, covariances: Covariances) -> Named {
        let counts = &covariances.counts;
        let mut areas: Vec<String> = counts.iter().map(|count| count.area.clone()).collect();
        areas.dedup();
        let first = counts.iter().take_while(|count| Some(&count.area) == areas.first());
        Named { variables: first.map(|count| variable(survey, count)).collect(), areas, covariances }
    }

    /// Two counts, by their numbers.
    pub(super) fn two(&self, first: usize, second: usize) -> Two {
        let Covariances { estimates, matrix, .. } = &self.covariances;
        Two {
            estimates: [estimates[first], estimates[second]],
            variances: [matrix[first][first], matrix[second][second]],
            covariance: matrix[first][second],
        }
    }

    /// The comparisons that a text names: of two areas for each variable, or of two variables in each area.
    pub fn compare(&self, kind: Kind, text: &str) -> Result<Vec<Compared>> {
        let (separator, form) = match kind {
            Kind::Difference => (',', "A,B"),
            Kind::Share => ('/', "PART/WHOLE"),
        };
        let mut found = Vec::new();
        for (at, _) in text.match_indices(separator) {
            let names = [text[..at].trim(), text[at + 1..].trim()];
            for (known, are_areas) in [(&self.areas, true), (&self.variables, false)] {
                let place = |name: &str| known.iter().position(|own| own == name);
                if let (Some(first), Some(second)) = (place(names[0]), place(names[1])) {
                    found.push((names, first, second, are_areas));
                }
            }
        }
        let refuse = |why: String| Err(Error::conflict(format!("{text:?}: {why}")));
        match found[..] {
            [(_, first, second, _)] if first == second => refuse("both are the same".to_string()),
            [(names, first, second, are_areas)] => Ok(self.all(kind, names, (first, second), are_areas)),
            [] => refuse(format!(
                "expected {form}, two areas of {} or two variables of {}",
                some_of(&self.areas),
                some_of(&self.variables)
            )),
            _ => {
                refuse("these can be two areas and two variables, or be divided in two ways: rename areas".to_string())
            }
        }
    }

    fn all(&self, kind: Kind, names: [&str; 2], (first, second): (usize, usize), are_areas: bool) -> Vec<Compared> {
        let all = self.variables.len();
        let within = if are_areas { &self.variables } else { &self.areas };
        let own = |(at, within): (usize, &String)| {
            let place = |which: usize| if are_areas { which * all + at } else { at * all + which };
            let two = self.two(place(first), place(second));
            Compared { kind, names: names.map(String::from), within: within.clone(), two }
        };
        within.iter().enumerate().map(own).collect()
    }

    /// Writes the covariances: a row and a column for each count.
    pub fn write(&self, survey: &Survey, path: &Path) -> Result<()> {
        write_whole(path, |out| {
            let wrong = |why: std::io::Error| file_error(path, why);
            let rows = || self.areas.iter().flat_map(|area| self.variables.iter().map(move |own| (area, own)));
            let columns: Vec<String> = rows().map(|(area, own)| quoted(&format!("{area} {own}"))).collect();
            let estimate = quoted(&marked(survey, "estimate"));
            writeln!(out, "area,variable,{estimate},{}", columns.join(",")).map_err(wrong)?;
            for (at, (area, own)) in rows().enumerate() {
                let numbers: Vec<String> = self.covariances.matrix[at].iter().map(f64::to_string).collect();
                let estimate = self.covariances.estimates[at];
                writeln!(out, "{},{},{estimate},{}", quoted(area), quoted(own), numbers.join(",")).map_err(wrong)?;
            }
            Ok(())
        })
    }
}

fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let more = if names.len() > SHOWN { ", ..." } else { "" };
    names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ") + more
}

impl Compared {
    /// As JSON, with the margins of each level of confidence.
    pub fn to_json(&self, confidence: &[Confidence]) -> Value {
        let mut object = json!({
            "first": self.names[0],
            "second": self.names[1],
            "within": self.within,
            "estimates": self.two.estimates,
            "correlation": self.two.correlation(),
        });
        match self.kind {
            Kind::Difference => {
                let (difference, deviation) = self.two.difference();
                object["difference"] = json!(difference);
                object["std_dev"] = json!(deviation);
                for own in confidence {
                    object[own.heading()] = json!(own.quantile() * deviation);
                }
                object["probability_first_larger_normal"] = json!(self.two.probability_larger());
            }
            Kind::Share => {
                let share = self.two.share();
                object["share"] = json!(share.map(|(share, _)| share));
                object["std_dev_delta"] = json!(share.map(|(_, deviation)| deviation));
                for own in confidence {
                    let margin = share.map(|(_, deviation)| own.quantile() * deviation);
                    object[format!("{}_delta", own.heading())] = json!(margin);
                    object[format!("fieller_{}", own.percent())] = json!(self.two.fieller(own.quantile()));
                }
            }
        }
        object
    }

    /// As a line of text, with the margins of each level of confidence.
    pub fn line(&self, confidence: &[Confidence]) -> String {
        let ([first, second], within) = (&self.names, &self.within);
        let correlation = self.two.correlation().map_or_else(String::new, |own| format!(", correlation {own:.3}"));
        match self.kind {
            Kind::Difference => {
                let (difference, deviation) = self.two.difference();
                let larger = self.two.probability_larger().map_or_else(String::new, |own| {
                    let shown = match own {
                        _ if own > 0.9999 => "above 0.9999".to_string(),
                        _ if own < 0.0001 => "below 0.0001".to_string(),
                        _ => format!("about {own:.4}"),
                    };
                    format!("; the first is larger with probability {shown}")
                });
                let margin = |own: &Confidence| format!("+- {:.1} ({} %)", own.quantile() * deviation, own.percent());
                let margins = listed(confidence, margin);
                format!("{first} - {second} ({within}): {difference:.1} {margins}{correlation}{larger}")
            }
            Kind::Share => {
                let Some((share, deviation)) = self.two.share() else {
                    return format!("{first} / {second} ({within}): no share, as the whole is not above zero");
                };
                let margin = |own: &Confidence| {
                    format!("+- {:.4} ({} %, delta method)", own.quantile() * deviation, own.percent())
                };
                let fieller = |own: &Confidence| {
                    let level = if confidence.len() > 1 { format!(" ({} %)", own.percent()) } else { String::new() };
                    match self.two.fieller(own.quantile()) {
                        Some((low, high)) => format!("Fieller {low:.4} to {high:.4}{level}"),
                        None => format!("Fieller: no bounded interval{level}"),
                    }
                };
                let (margins, intervals) = (listed(confidence, margin), listed(confidence, fieller));
                format!("{first} / {second} ({within}): {share:.4} {margins}{correlation}; {intervals}")
            }
        }
    }
}

/// The text of each level of confidence, separated by commas.
pub(super) fn listed(confidence: &[Confidence], text: impl FnMut(&Confidence) -> String) -> String {
    confidence.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::Two;

    #[test]
    fn comparisons_are_those_of_the_joint_normal_law() {
        let two = Two { estimates: [30.0, 100.0], variances: [9.0, 16.0], covariance: 6.0 };
        assert_eq!(two.correlation(), Some(0.5));
        // 9 + 16 - 2 * 6 = 13.
        assert_eq!(two.difference(), (-70.0, 13.0_f64.sqrt()));
        let even = Two { estimates: [5.0, 5.0], ..two };
        assert_eq!(even.probability_larger(), Some(0.5));
        // (9 - 2 * 0.3 * 6 + 0.09 * 16) / 100^2.
        let (share, deviation) = two.share().unwrap();
        assert!((share - 0.3).abs() < 1e-15 && (deviation - 6.84_f64.sqrt() / 100.0).abs() < 1e-15);
        // The ends of Fieller's interval lie at z standard deviations of part - r whole.
        let (low, high) = two.fieller(1.96).unwrap();
        for end in [low, high] {
            let off = 30.0 - end * 100.0;
            assert!((off * off - 1.96 * 1.96 * (9.0 - 12.0 * end + 16.0 * end * end)).abs() < 1e-9, "{end}");
        }
        assert!(low < share && share < high);
        // A whole within z standard deviations of zero has no bounded interval.
        assert_eq!(Two { estimates: [3.0, 7.0], ..two }.fieller(1.96), None);
        assert_eq!(Two { estimates: [3.0, -7.0], ..two }.share(), None);
        // The same count twice.
        let same = Two { estimates: [3.0, 3.0], variances: [4.0, 4.0], covariance: 4.0 };
        assert_eq!((same.difference(), same.probability_larger()), ((0.0, 0.0), None));
    }
}
