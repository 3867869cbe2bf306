//! Answers as lines of text, with numbers as their bits so that nothing is rounded: the results of the parts of a
//! survey, for the process that combines them.

use serde::{Deserialize, Serialize};

use super::answers::{Answer, Subject};

/// Query, estimates, variances (empty for integer counts), truth, variances of the unbiased estimates beside integer counts.
type SavedAnswer = (usize, Vec<u64>, Vec<u64>, Vec<u64>, Vec<u64>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    unit: Option<(usize, String, String)>,
    area: Option<String>,
    answers: Vec<SavedAnswer>,
}

/// The bits of numbers.
pub(super) fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// The numbers with these bits.
pub(super) fn numbers(bits: Vec<u64>) -> Vec<f64> {
    bits.into_iter().map(f64::from_bits).collect()
}

/// The answers for a unit or an area as one line.
pub(super) fn to_line(subject: &Subject, answers: &[Answer]) -> String {
    let answer = |answer: &Answer| {
        let without = answer.variances.iter().all(|variance| variance.is_nan());
        let variances = if without { Vec::new() } else { bits(&answer.variances) };
        (answer.query, bits(&answer.estimates), variances, bits(&answer.truth), bits(&answer.unbiased_variances))
    };
    let answers = answers.iter().map(answer).collect();
    let saved = match subject {
        Subject::Unit { level, code, geoid } => {
            Saved { unit: Some((*level, code.clone(), geoid.clone())), area: None, answers }
        }
        Subject::Area(name) => Saved { unit: None, area: Some(name.clone()), answers },
    };
    // Plain numbers and text can always be serialized.
    serde_json::to_string(&saved).unwrap_or_default()
}

/// The answers in a line, for `queries` queries and levels below `levels`; an error message if it is not of this
/// survey.
pub(super) fn of_line(line: &str, queries: usize, levels: usize) -> Result<(Subject, Vec<Answer>), String> {
    let saved: Saved = serde_json::from_str(line).map_err(|why| why.to_string())?;
    let wrong = || "is not of the queries and levels of this job".to_string();
    let subject = match (saved.unit, saved.area) {
        (Some((level, code, geoid)), None) if level < levels => Subject::Unit { level, code, geoid },
        (None, Some(name)) => Subject::Area(name),
        _ => return Err(wrong()),
    };
    let answer = |(query, estimates, variances, truth, unbiased): SavedAnswer| {
        let many = estimates.len();
        let variances = if variances.is_empty() { vec![f64::NAN; many] } else { numbers(variances) };
        let is_beside = |own: &Vec<u64>| own.is_empty() || own.len() == many;
        if query >= queries || variances.len() != many || !is_beside(&truth) || !is_beside(&unbiased) {
            return Err(wrong());
        }
        let (estimates, truth, unbiased_variances) = (numbers(estimates), numbers(truth), numbers(unbiased));
        Ok(Answer { query, estimates, variances, truth, unbiased_variances })
    };
    Ok((subject, saved.answers.into_iter().map(answer).collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_every_bit_of_its_answers() {
        let unit = Subject::Unit { level: 2, code: "0441".to_string(), geoid: "44\"001".to_string() };
        let answers = vec![
            Answer { truth: vec![3.0, 1.0], ..Answer::new(0, vec![0.1 + 0.2, -0.0], vec![1e-300, 0.0]) },
            Answer::new(1, vec![], vec![]),
        ];
        let line = to_line(&unit, &answers);
        assert_eq!(of_line(&line, 2, 3), Ok((unit, answers)));
        let unbiased_variances = vec![0.1 + 0.2, 1e-300];
        let whole = Answer { unbiased_variances, ..Answer::new(0, vec![4.0, 0.0], vec![f64::NAN; 2]) };
        let line = to_line(&Subject::Area("a\nb".to_string()), &[whole]);
        assert!(!line.contains('\n'));
        let (subject, answers) = of_line(&line, 1, 1).unwrap();
        assert!(subject == Subject::Area("a\nb".to_string()) && answers[0].variances.iter().all(|own| own.is_nan()));
        assert_eq!(answers[0].unbiased_variances, [0.1 + 0.2, 1e-300]);
        for (queries, levels) in [(0, 3), (2, 2)] {
            let unit = Subject::Unit { level: 2, code: String::new(), geoid: String::new() };
            let answer = Answer::new(1, vec![1.0], vec![1.0]);
            assert!(of_line(&to_line(&unit, &[answer]), queries, levels).is_err());
        }
        assert!(of_line(&line[..line.len() - 2], 2, 3).is_err());
    }
}
