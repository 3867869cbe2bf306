//! The results of a rehearsal, in sentences and in one table.

use dp_assay::{
    document::Table,
    safetab::rehearsal::{Rehearsed, RehearsedLevel},
};

use super::level::{name, of_cells, percent, published};

/// The sentences, the most important one first.
pub fn said(found: &Rehearsed) -> Vec<String> {
    let stated: Vec<_> = found.levels.iter().flat_map(|level| &level.margins).collect();
    let broken: Vec<String> = found
        .levels
        .iter()
        .filter(|level| !level.holds())
        .map(|level| format!("{} ({})", name(level), level.pass))
        .collect();
    let mut said = vec![match broken.is_empty() {
        true => format!(
            "All {} stated margins of error cover what they are certified to cover, as far as {} can tell.",
            stated.len(),
            trials(found)
        ),
        false => format!("Stated margins or probabilities do NOT agree with the observations: {}.", broken.join(", ")),
    }];
    let seed = found.insecure_seed.map_or_else(String::new, |seed| format!(", insecure seed {seed}"));
    let whose = if found.made_up { "made-up records" } else { "records" };
    said.push(format!(
        "{}, {}, {} {whose}, of which {} are tabulated{seed}.",
        found.algorithm,
        trials(found),
        found.records,
        found.tabulated
    ));
    let groups: u64 = found.levels.iter().map(|level| level.groups).sum();
    let suppressed: u64 = found.levels.iter().map(RehearsedLevel::suppressed).sum();
    if let Some(share) = percent(suppressed, groups * u64::from(found.trials)).filter(|_| suppressed > 0) {
        said.push(format!("{share:.1} % of the {groups} groups were suppressed, on average."));
    }
    let effects = || found.levels.iter().filter_map(|level| level.coterminous.as_ref());
    let replaced: u64 = effects().map(|effect| effect.replaced).sum();
    if replaced > 0 {
        let filled: u64 = effects().map(|effect| effect.filled).sum();
        let contradicted: u64 = effects().map(|effect| effect.contradicted).sum();
        said.push(format!(
            "Coterminous regions: in a run {:.1} groups publish the counts of another one; {:.1} of them would have been suppressed, \
             and {:.1} would have published another total of the same people.",
            per_run(replaced, found),
            per_run(filled, found),
            per_run(contradicted, found)
        ));
    }
    said
}

fn per_run(count: u64, found: &Rehearsed) -> f64 {
    count as f64 / f64::from(found.trials)
}

fn trials(found: &Rehearsed) -> String {
    match found.trials {
        1 => "1 trial".to_string(),
        many => format!("{many} trials"),
    }
}

/// The confidentiality of the output.
pub fn confidential(found: &Rehearsed) -> &'static str {
    match found.made_up {
        true => "The records are made up, so nothing here is confidential.",
        false => "Truth and reports are as confidential as the records: no noise protects them.",
    }
}

/// A row for each level.
pub fn levels(found: &Rehearsed) -> Table {
    let shown =
        |value: Option<f64>, digits: usize| value.map_or("-".to_string(), |value| format!("{value:.digits$} %"));
    // For households nothing is suppressed here: the totals chose the groups.
    let may_suppress = found.levels.iter().any(|level| level.coterminous.is_some() || !level.suppression.is_empty());
    let row = |level: &RehearsedLevel| {
        let stated = of_cells(level);
        let (counts, covered) = published(level);
        let drawn = level.groups * u64::from(found.trials);
        let suppressed = may_suppress.then(|| shown(percent(level.suppressed(), drawn), 2));
        let first = vec![
            name(level),
            level.groups.to_string(),
            shown(percent(level.empty, level.groups), 1),
            stated.map_or("-".to_string(), |stated| stated.margin.to_string()),
            shown(stated.map(|stated| 100.0 * stated.coverage.lower().to_f64()), 3),
            shown(stated.and_then(|stated| percent(stated.covered(), stated.errors.count())), 3),
            stated.and_then(|stated| stated.errors.mean()).map_or("-".to_string(), |bias| format!("{bias:+.4}")),
        ];
        first.into_iter().chain(suppressed).chain([shown(percent(covered, counts), 3)]).collect()
    };
    let heading = ["", "groups", "empty", "margin", "covers", "seen", "bias", "suppressed", "published within margin"];
    let heading: Vec<&str> = heading.into_iter().filter(|name| may_suppress || *name != "suppressed").collect();
    let caption = "The stated margin of a cell of each level, and the observations.";
    Table::numbers(caption, &heading, found.levels.iter().map(row).collect())
}
