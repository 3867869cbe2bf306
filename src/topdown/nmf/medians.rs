//! Medians of an attribute with numbers, such as ages, from counts of its classes, with intervals from their joint covariances.
//!
//! Within a class the counts are spread evenly, as in the Bureau's medians: the number N(a) of people below an age a is linear there, and the median
//! is where N(a) is half of the total. The interval has all a where N(a) - total / 2 is within its margin (Woodruff 1952, for estimates with
//! covariances): with normal errors it contains the true median of the classes with the stated confidence. No delta method is needed.

use serde_json::{Value, json};

use super::{
    codes::confidence::Confidence,
    compared::{Named, listed, variable},
    survey::Survey,
};
use crate::error::{Error, Result};

/// A median of an attribute in one area.
#[derive(Clone, Debug, PartialEq)]
pub struct Median {
    /// The area.
    pub area: String,
    /// The counts: the query, or the first and last variable.
    pub counts: String,
    /// The attribute.
    pub attribute: String,
    /// The median and its interval; `None` where no estimate of the total is above zero.
    pub found: Option<Found>,
}

/// A median with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The median.
    pub median: f64,
    /// The interval, for each level of confidence.
    pub intervals: Vec<(f64, f64)>,
    /// Where the last class begins: it has no end in the published tables, so that a median above it is only known to be there.
    pub last_class: f64,
}

/// A class of the attribute: its first number, and the first beyond it.
#[derive(Clone, Debug, PartialEq)]
struct Class {
    from: f64,
    to: f64,
    /// The variables whose counts belong to it.
    variables: Vec<usize>,
}

/// Counts that divide the attribute into classes.
#[derive(Clone, Debug)]
struct Series {
    name: String,
    /// The selected values of all other attributes.
    others: Vec<Vec<bool>>,
    classes: Vec<Class>,
}

impl Named {
    /// The medians of an attribute, in every area, for each series of requested counts that divides it into classes, and for all of them together
    /// where no one is in two.
    pub fn medians(&self, survey: &Survey, attribute: &str, confidence: &[Confidence]) -> Result<Vec<Median>> {
        let mut series = self.series(survey, attribute)?;
        series.extend(together(&series));
        let quantiles: Vec<f64> = confidence.iter().map(Confidence::quantile).collect();
        let mut medians = Vec::new();
        for (at, area) in self.areas.iter().enumerate() {
            let first = at * self.variables.len();
            for own in &series {
                let found = self.median(first, &own.classes, &quantiles);
                let (area, counts, attribute) = (area.clone(), own.name.clone(), attribute.to_string());
                medians.push(Median { area, counts, attribute, found });
            }
        }
        Ok(medians)
    }

    /// The series of the requested counts.
    fn series(&self, survey: &Survey, attribute: &str) -> Result<Vec<Series>> {
        let (schema, sizes) = (survey.names.schema(), &survey.names.sizes);
        let refuse = |why: String| Err(Error::conflict(format!("{attribute:?}: {why}")));
        let Some(axis) = schema.attributes.iter().position(|own| own.name == attribute) else {
            let known: Vec<&str> = schema.attributes.iter().map(|own| own.name.as_str()).collect();
            return refuse(format!("no attribute has this name: the histogram has {}", known.join(", ")));
        };
        if !are_numbers(&schema.attributes[axis].values) {
            return refuse("its values are not the numbers 0, 1, 2, ..., so it has no median".to_string());
        }
        let mut series: Vec<Series> = Vec::new();
        let mut names: Vec<(String, String)> = Vec::new();
        for (place, count) in self.covariances.counts.iter().take(self.variables.len()).enumerate() {
            let mut others = survey.answers.selected(sizes, count.query, count.cell);
            let own = others.remove(axis);
            let Some((from, to)) = range(&own) else { continue };
            let class = Class { from: from as f64, to: to as f64, variables: vec![place] };
            let name = variable(survey, count);
            // A class that begins where the last one ends goes on with its series.
            let goes_on = |known: &Series| {
                known.others == others && known.classes.last().is_some_and(|last| last.to == class.from)
            };
            match series.iter().position(goes_on) {
                Some(at) => {
                    series[at].classes.push(class);
                    names[at].1 = name;
                }
                None if from == 0 => {
                    series.push(Series { name: name.clone(), others, classes: vec![class] });
                    names.push((name.clone(), name));
                }
                None => {}
            }
        }
        let size = sizes[axis] as f64;
        let is_whole = |own: &Series| own.classes.len() > 1 && own.classes.last().is_some_and(|last| last.to == size);
        series.iter_mut().zip(&names).for_each(|(own, (first, last))| own.name = format!("{first} to {last}"));
        series.retain(is_whole);
        if series.is_empty() {
            return refuse(format!(
                "no requested counts divide its values 0 to {} into classes without gaps: request a query of it, or a table by it such as P12",
                size - 1.0
            ));
        }
        Ok(series)
    }

    /// The median of classes in one area, whose counts begin at `first`, and its intervals of these numbers of standard deviations.
    fn median(&self, first: usize, classes: &[Class], quantiles: &[f64]) -> Option<Found> {
        let count =
            |class: &Class| -> f64 { class.variables.iter().map(|own| self.covariances.estimates[first + own]).sum() };
        let counts: Vec<f64> = classes.iter().map(count).collect();
        let total: f64 = counts.iter().sum();
        if total <= 0.0 {
            return None;
        }
        let mut below = -total / 2.0;
        let mut median = None;
        for (class, count) in classes.iter().zip(&counts) {
            if median.is_none() && below < 0.0 && below + count >= 0.0 {
                median = Some(class.from + (class.to - class.from) * -below / count);
            }
            below += count;
        }
        let (median, last_class) = (median?, classes.last()?.from);
        let half = |z: &f64| Halves { named: self, first, classes, counts: &counts, z: *z };
        let intervals = quantiles.iter().map(|z| half(z).interval(median, total)).collect();
        Some(Found { median, intervals, last_class })
    }
}

/// N(a) - total / 2 within the classes of one area.
struct Halves<'a> {
    named: &'a Named,
    first: usize,
    classes: &'a [Class],
    counts: &'a [f64],
    z: f64,
}

impl Halves<'_> {
    /// The least and the largest number where N - total / 2 is within its margin; the median is one, up to rounding.
    fn interval(&self, median: f64, total: f64) -> (f64, f64) {
        let (mut low, mut high) = (median, median);
        let mut below = -total / 2.0;
        for (at, class) in self.classes.iter().enumerate() {
            for share in self.within(at, below) {
                let number = class.from + (class.to - class.from) * share;
                (low, high) = (low.min(number), high.max(number));
            }
            below += self.counts[at];
        }
        (low, high)
    }

    /// The ends of the set of shares t of a class, from 0 to 1, where N - total / 2 is within its margin. `below` is N - total / 2 at its beginning.
    ///
    /// With N - total / 2 = u + t v for u = sum of s_i count_i, s_i = 1/2 before the class and -1/2 from it on, and v the class's count, the set is
    /// (u + t v)^2 <= z^2 (Var u + 2 t Cov(u, v) + t^2 Var v).
    fn within(&self, at: usize, below: f64) -> Vec<f64> {
        let square = self.z * self.z;
        let sign = |class: usize| if class < at { 0.5 } else { -0.5 };
        let (mut of_u, mut of_both) = (0.0, 0.0);
        for own in 0..self.classes.len() {
            of_both += sign(own) * self.covariance(own, at);
            of_u +=
                (0..self.classes.len()).map(|other| sign(own) * sign(other) * self.covariance(own, other)).sum::<f64>();
        }
        let v = self.counts[at];
        let a = v * v - square * self.covariance(at, at);
        let b = below * v - square * of_both;
        let c = below * below - square * of_u;
        let is_within = |t: f64| a * t * t + 2.0 * b * t + c <= 0.0;
        let root = (b * b - a * c).max(0.0).sqrt();
        // The form of the roots that loses no digits.
        let q = -(b + b.signum() * root);
        let roots = [q / a, c / q].into_iter().filter(|root| root.is_finite() && (0.0..=1.0).contains(root));
        let has_roots = b * b >= a * c;
        let mut ends: Vec<f64> = roots.filter(|_| has_roots).collect();
        ends.extend([0.0, 1.0].into_iter().filter(|end| is_within(*end)));
        ends
    }

    fn covariance(&self, first: usize, second: usize) -> f64 {
        let (matrix, classes) = (&self.named.covariances.matrix, self.classes);
        let pairs = classes[first].variables.iter().flat_map(|a| classes[second].variables.iter().map(move |b| (a, b)));
        pairs.map(|(a, b)| matrix[self.first + a][self.first + b]).sum()
    }
}

/// All series together, where these are several of the same classes and no one is in two of them.
fn together(series: &[Series]) -> Option<Series> {
    let [first, rest @ ..] = series else { return None };
    let last = rest.last()?;
    let bounds = |own: &Series| own.classes.iter().map(|class| (class.from, class.to)).collect::<Vec<_>>();
    let meet =
        |a: &Series, b: &Series| a.others.iter().zip(&b.others).all(|(a, b)| a.iter().zip(b).any(|(a, b)| *a && *b));
    let apart = series.iter().enumerate().all(|(at, own)| series[..at].iter().all(|other| !meet(own, other)));
    if !apart || rest.iter().any(|own| bounds(own) != bounds(first)) {
        return None;
    }
    let mut classes = first.classes.clone();
    for own in rest {
        classes.iter_mut().zip(&own.classes).for_each(|(all, class)| all.variables.extend(&class.variables));
    }
    let name = |own: &Series, end: usize| own.name.split(" to ").nth(end).unwrap_or_default().to_string();
    Some(Series { name: format!("{} to {}", name(first, 0), name(last, 1)), others: Vec::new(), classes })
}

/// Whether the values are 0, 1, 2, ..., with or without words after the number.
fn are_numbers(values: &[String]) -> bool {
    let number = |value: &String| value.split_whitespace().next().and_then(|word| word.parse::<usize>().ok());
    values.len() > 2 && values.iter().enumerate().all(|(at, value)| number(value) == Some(at))
}

/// The first selected value and the first beyond, of neighboring values that are not all.
fn range(selected: &[bool]) -> Option<(usize, usize)> {
    let from = selected.iter().position(|own| *own)?;
    let to = selected.len() - selected.iter().rev().position(|own| *own)?;
    let is_range = selected[from..to].iter().all(|own| *own) && to - from < selected.len();
    is_range.then_some((from, to))
}

impl Median {
    /// As JSON.
    pub fn to_json(&self, confidence: &[Confidence]) -> Value {
        let found = self.found.as_ref();
        let mut object = json!({ "area": self.area, "counts": self.counts, "attribute": self.attribute });
        object["median"] = json!(found.map(|found| found.median));
        for (at, own) in confidence.iter().enumerate() {
            let interval = found.and_then(|found| found.intervals.get(at));
            object[format!("lower_{}", own.percent())] = json!(interval.map(|own| own.0));
            object[format!("upper_{}", own.percent())] = json!(interval.map(|own| own.1));
        }
        object["last_class_from"] = json!(found.map(|found| found.last_class));
        object
    }

    /// As a line of text.
    pub fn line(&self, confidence: &[Confidence]) -> String {
        let (attribute, area, counts) = (&self.attribute, &self.area, &self.counts);
        let Some(Found { median, intervals, last_class }) = &self.found else {
            return format!("median {attribute} of {area} ({counts}): none, as the total is not above zero");
        };
        let shown = |number: &f64| match number {
            number if number > last_class => format!("above {last_class:.0}"),
            number => format!("{number:.1}"),
        };
        let mut intervals = intervals.iter();
        let ranges = listed(confidence, |own| {
            intervals.next().map_or_else(String::new, |(low, high)| {
                format!("{} to {} ({} %)", shown(low), shown(high), own.percent())
            })
        });
        format!("median {attribute} of {area} ({counts}): {}, {ranges}", shown(median))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topdown::nmf::survey::Covariances;

    fn named(estimates: &[f64], matrix: Vec<Vec<f64>>) -> Named {
        let variables = (0..estimates.len()).map(|at| format!("V{at}")).collect();
        let covariances = Covariances { counts: Vec::new(), estimates: estimates.to_vec(), matrix };
        Named { covariances, areas: vec!["A".to_string()], variables }
    }

    fn classes(bounds: &[u32]) -> Vec<Class> {
        let class =
            |(at, pair): (usize, &[u32])| Class { from: pair[0].into(), to: pair[1].into(), variables: vec![at] };
        bounds.windows(2).enumerate().map(class).collect()
    }

    /// A matrix with correlations, the product of a triangle with its transpose.
    fn correlated(size: usize) -> Vec<Vec<f64>> {
        let part = |at: usize, k: usize| if k > at { 0.0 } else { 1.0 + ((at * 7 + k * 3) % 5) as f64 / 2.0 };
        let entry = |a: usize, b: usize| (0..size).map(|k| part(a, k) * part(b, k)).sum::<f64>();
        (0..size).map(|a| (0..size).map(|b| entry(a, b)).collect()).collect()
    }

    /// By a fine grid of numbers, each by the definition.
    #[test]
    fn the_interval_has_all_numbers_whose_share_is_a_half_within_its_margin() {
        let (counts, bounds) = ([40.0, 25.0, 60.0, 30.0, 55.0], [0, 18, 22, 40, 65, 116]);
        let (classes, matrix) = (classes(&bounds), correlated(5));
        for z in [0.5, 1.96, 3.0] {
            let found = named(&counts, matrix.clone()).median(0, &classes, &[z]).unwrap();
            let total: f64 = counts.iter().sum();
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for step in 0..=116_000 {
                let number = f64::from(step) / 1000.0;
                let share = |class: &Class| ((number - class.from) / (class.to - class.from)).clamp(0.0, 1.0);
                let weights: Vec<f64> = classes.iter().map(|class| share(class) - 0.5).collect();
                let value: f64 = weights.iter().zip(counts).map(|(weight, count)| weight * count).sum();
                let entry = |a: usize, b: usize| weights[a] * weights[b] * matrix[a][b];
                let variance: f64 = (0..5).flat_map(|a| (0..5).map(move |b| (a, b))).map(|(a, b)| entry(a, b)).sum();
                if value * value <= z * z * variance {
                    (low, high) = (low.min(number), high.max(number));
                }
                if (number - found.median).abs() < 6e-4 {
                    assert!(value.abs() < total * 1e-3, "{number} {value}");
                }
            }
            let (own_low, own_high) = found.intervals[0];
            assert!((own_low - low).abs() < 2e-3 && (own_high - high).abs() < 2e-3, "{z}: {found:?} {low} {high}");
        }
    }

    #[test]
    fn exact_counts_have_an_exact_median() {
        let zero = vec![vec![0.0; 3]; 3];
        let found = named(&[10.0, 20.0, 10.0], zero.clone()).median(0, &classes(&[0, 10, 20, 30]), &[1.96]).unwrap();
        assert!((found.median - 15.0).abs() < 1e-9 && (found.intervals[0].0 - 15.0).abs() < 1e-6, "{found:?}");
        assert_eq!(named(&[0.0, 0.0, -1.0], zero).median(0, &classes(&[0, 10, 20, 30]), &[1.96]), None);
    }

    #[test]
    fn ranges_are_neighboring_values_and_numbers_are_in_order() {
        let of = |text: &str| range(&text.bytes().map(|own| own == b'1').collect::<Vec<_>>());
        assert_eq!(
            (of("11000"), of("00110"), of("01010"), of("11111"), of("00000")),
            (Some((0, 2)), Some((2, 4)), None, None, None)
        );
        let numbers = |own: &[&str]| are_numbers(&own.iter().map(|one| (*one).to_string()).collect::<Vec<_>>());
        assert!(numbers(&["0", "1", "2"]) && numbers(&["0 years", "1 year", "2 years"]));
        assert!(!numbers(&["0", "1"]) && !numbers(&["1", "2", "3"]) && !numbers(&["under", "over", "x"]));
    }

    /// Two series of the same classes join where no one is in both.
    #[test]
    fn series_are_joined_where_no_one_is_in_two() {
        let series = |sex: [bool; 2], first: usize| {
            let mut classes = classes(&[0, 18, 116]);
            classes.iter_mut().for_each(|class| class.variables[0] += first);
            Series { name: format!("V{first} to V{}", first + 1), others: vec![sex.to_vec()], classes }
        };
        let all = together(&[series([true, false], 0), series([false, true], 2)]).unwrap();
        assert_eq!((all.name.as_str(), &all.classes[1].variables), ("V0 to V3", &vec![1, 3]));
        assert!(together(&[series([true, false], 0), series([true, true], 2)]).is_none());
        assert!(together(&[series([true, false], 0)]).is_none());
    }
}
