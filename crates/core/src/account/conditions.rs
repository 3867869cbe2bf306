//! The conditions under which an account holds, where its counts state some: one list, for every answer.

use super::counts::Counts;
use crate::law::{Changes, Law};

/// That of Poisson samples.
pub const SAMPLES: &str = "Holds only if samples are fresh and secret Poisson samples: every step draws one of its own, which is kept secret. It is no bound for shuffled or \
                           fixed-size batches.";

/// That of groups of records on Poisson samples.
const OF_GROUPS: &str =
    "Holds only if each record of the group is in a sample or not by itself, independently of the others.";

/// That of answers on Poisson samples.
const OF_ANSWERS: &str =
    "Holds only if a record that is absent, or not in the sample, has an answer as well, that of a fixed value.";

/// A sentence for each condition: of Poisson samples, and of counts that change by exactly a number.
pub fn of_counts<'c>(counts: impl IntoIterator<Item = &'c Counts>) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for counts in counts {
        let of_samples = counts.law.is_sampled().then(|| SAMPLES.to_string());
        let of_change = (counts.changes == Changes::Exactly).then(|| exactly(counts.shift));
        let of_group = counts.phase().filter(|phase| phase.group > 1).map(|_| OF_GROUPS.to_string());
        let is_answer =
            matches!(&counts.law, Law::Sampled(sampled) if matches!(sampled.law(), Law::RandomizedResponse { .. }));
        let of_answers = is_answer.then(|| OF_ANSWERS.to_string());
        for condition in of_samples.into_iter().chain(of_answers).chain(of_group).chain(of_change) {
            if !said.contains(&condition) {
                said.push(condition);
            }
        }
    }
    said
}

/// That of `@=SHIFT`.
fn exactly(shift: u64) -> String {
    format!(
        "Holds for a change by exactly {shift}, as @={shift} states: about a change of such a count by another number it says nothing."
    )
}
