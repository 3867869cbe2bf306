//! Notes on an estimate: missing files and unused input.

use crate::topdown::nmf::{
    areas::{OfAreas, WeightSums},
    survey::Survey,
};

/// The sentences, each without an end of line; `said` holds those about the keys of files.
pub(super) fn notes(survey: &Survey, of_areas: &OfAreas, said: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(why) = survey.why_no_nation() {
        notes.push(format!("Without the counts of the nation: {why}"));
    } else if survey.uses_nation() && survey.missing_parts.declared_by.is_none() {
        notes.push(
            "It is not known which states the nation of this folder has: those in the folder are taken for all"
                .to_string(),
        );
    }
    if !survey.missing_parts.halves.is_empty() {
        let names: Vec<String> = survey.missing_parts.halves.iter().map(|part| format!("State={part}")).collect();
        notes.push(format!("Without people of a part of a state: {} not in the folder", names.join(", ")));
    }
    notes.extend(survey.missing_parts.taken_for_2020());
    if !survey.unkept_totals.is_empty() {
        let states: Vec<String> = survey.unkept_totals.iter().map(|state| format!("{state:02}")).collect();
        notes.push(format!("Exact totals of states with a missing part are not used: {}", states.join(", ")));
    }
    for short in survey.shorts() {
        let (level, part, blocks) = (&short.level, &short.part, short.units);
        notes.push(format!("No noisy counts of {level}, State={part}, above {blocks} units of the lowest level"));
    }
    match survey.absent.empty_blocks {
        0 => {}
        1 => notes.push("1 block of areas has no housing units or group quarters, and counts as zero".to_string()),
        many => {
            notes.push(format!("{many} blocks of areas have no housing units or group quarters, and count as zero"))
        }
    }
    match of_areas.unassigned {
        0 => {}
        1 => notes.push("1 block of the file is assigned to no area, and left out".to_string()),
        many => notes.push(format!("{many} blocks of the file are assigned to no area, and left out")),
    }
    match survey.totals_of_areas().len() {
        0 => {}
        1 => notes.push("The exact total of 1 area holds".to_string()),
        many => notes.push(format!("The exact totals of {many} areas hold")),
    }
    notes.extend(of_areas.weights.iter().map(of_weights));
    notes.extend(survey.absent.truth.iter().chain(said).map(|said| {
        let mut letters = said.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    }));
    notes
}

/// The sentence on the weights of blocks in areas.
fn of_weights(sums: &WeightSums) -> String {
    let said = "Weights of blocks are taken as given: margins do not have their error";
    match (sums.below_one, sums.above_one) {
        (0, 0) => format!("{said}. Their sum over all areas is 1 for every block of the file"),
        (below, above) => {
            format!(
                "{said}. Their sum over all areas is below 1 for {below} and above 1 for {above} blocks of the file"
            )
        }
    }
}
