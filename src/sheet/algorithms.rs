//! The sections of the sheet on mechanisms, composition, utility, bias and implementation.

use super::{
    blocks::{missing, plural},
    figures::{Figures, QueryLine, SHOWN},
    open::Point,
};
use crate::{
    document::{Block, table, text},
    law::Law,
    numeric::{Enclosure, rational},
};

/// Noise, its parameters, and the counts that one record changes.
pub(super) fn mechanisms(figures: &Figures) -> Vec<Block> {
    let row = |line: &QueryLine| {
        let counts = &line.query.counts;
        let shift = match counts.law {
            _ if counts.free_rows => format!("{} rows, at most", counts.shift),
            // Of a guarantee, an answer or a list of outcomes it is not a number that moves.
            ref law if !has_sensitivity(law) => "-".to_string(),
            _ => counts.shift.to_string(),
        };
        vec![line.name.clone(), counts.law.in_words(), parameters(&counts.law), counts.count.to_string(), shift]
    };
    let mut said = vec![table(
        "The mechanism of each query, independent of all others: the counts that differ between neighbors, and by how much each; noise of a law is drawn for each count alone.",
        &["query", "mechanism", "parameters", "counts", "sensitivity of each"],
        figures.queries.iter().map(row).collect(),
        &[0, 1, 2],
    )];
    if !figures.subject.unmoved.is_empty() {
        let names = figures.subject.unmoved.join(", ");
        said.push(text(format!(
            "Not changed by {} under this relation, and not part of the account: {names}.",
            figures.subject.unit().records()
        )));
    }
    said.push(missing(Point::Sensitivity));
    said
}

/// The parameters of a law, exactly.
pub(super) fn parameters(law: &Law) -> String {
    let has_none = match law {
        Law::Table(_) | Law::Responses(_) | Law::Pair(_) | Law::Outcomes(_) => true,
        Law::Perturbation(table) => table.base().is_none(),
        _ => false,
    };
    if has_none {
        return law.to_string();
    }
    let first = (law.parameter_name(), law.parameter().clone());
    let all = [first].into_iter().chain(law.other_parameters());
    all.map(|(name, value)| format!("{name} = {}", rational::display(&value))).collect::<Vec<_>>().join(", ")
}

/// How the queries and levels compose.
pub(super) fn composition(figures: &Figures) -> Vec<Block> {
    let subject = figures.subject;
    let mut said = vec![text(format!(
        "The privacy losses of {} add up. The distribution of their sum is computed, with proven bounds on all errors, in place of a sum of epsilons: no \
         composition theorem is lossy here.",
        plural(figures.queries.len() as u128, "query", "queries")
    ))];
    if let Some(ways) = subject.ways() {
        said.push(text(format!(
            "A record can enter the counts in several ways. The numbers of the whole are the worst of {ways}."
        )));
    }
    if figures.levels.len() > 1 {
        let sum = figures.levels.iter().map(|line| &line.epsilon.value).cloned().reduce(|sum, one| sum.add(&one));
        if let Some(sum) = sum {
            said.push(text(format!(
                "Basic composition of the levels, for comparison: their epsilons add up to {}, at {} times the delta.",
                sum.upper_text(SHOWN),
                figures.levels.len()
            )));
        }
    }
    said
}

/// The errors of the noise.
pub(super) fn utility(figures: &Figures) -> Vec<Block> {
    let row = |line: &QueryLine| {
        let deviation = line.deviation.as_ref().map_or("-".to_string(), |value| value.upper_text(6));
        vec![line.name.clone(), deviation, line.margin.shown(6)]
    };
    vec![
        text(
            "Errors of one noisy count, from the law of its noise. The margin holds in at least 95 of 100 cases. A sum of n counts with independent noise has a \
             standard deviation of sqrt(n) times that of one.",
        ),
        table(
            "The error of the noise of one count: rounded up, before any post-processing.",
            &["query", "standard deviation", "margin, 95 %"],
            figures.queries.iter().map(row).collect(),
            &[0],
        ),
        missing(Point::Utility),
    ]
}

/// Whether a record moves a count by a number that the account is for. A guarantee, an answer and a list of outcomes are about one record as they stand.
pub(super) fn has_sensitivity(law: &Law) -> bool {
    !law.is_guarantee()
}

/// Bias of the noise.
pub(super) fn bias(figures: &Figures) -> Vec<Block> {
    let all = |of: &dyn Fn(&Law) -> bool| figures.queries.iter().all(|line| of(&line.query.counts.law));
    let mut said = Vec::new();
    if all(&Law::is_symmetric_noise) {
        said.push(text(
            "The noise is symmetric about 0, so that a noisy count has no statistical bias before post-processing.",
        ));
    }
    if all(&|law| law.is_symmetric_noise() || matches!(law, Law::Table(_))) {
        said.push(text(
            "The noise has the same size in a large group as in a small one. Relative errors, and the errors of ratios and ranks, are therefore larger for \
             small groups.",
        ));
    }
    said.push(text("Processing that removes negative counts raises small counts on average."));
    said.push(missing(Point::Bias));
    said
}

/// Arithmetic and side channels.
pub(super) fn implementation(figures: &Figures) -> Vec<Block> {
    let has = |of: &dyn Fn(&Law) -> bool| figures.queries.iter().any(|line| of(&line.query.counts.law));
    let mut said = vec![text(
        "The account is for the declared laws in exact arithmetic. All its own errors of rounding and truncation are added on the safe side.",
    )];
    if has(&|law: &Law| law.is_continuous() || law.is_sampled()) {
        said.push(text(
            "Some of the declared noise is continuous. Floating point cannot draw it: the published numbers are of another law, and the account holds only if \
             the program that drew them makes up for that.",
        ));
    }
    if has(&|law: &Law| !law.is_continuous() && !law.is_guarantee()) {
        said.push(text(
            "Noise on the integers can be drawn without floating point. `assay audit` tests whether integers are independent draws of a declared law.",
        ));
    }
    said.extend([missing(Point::Sampler), missing(Point::SideChannels)]);
    said
}

/// The share of a query in rho, as a calculation with its result; `None` for a law whose rho is no such product.
pub(super) fn calculation(line: &QueryLine) -> Option<String> {
    let counts = &line.query.counts;
    let exact = rational::display;
    let left = match &counts.law {
        Law::DiscreteGaussian { sigma2 } | Law::Gaussian { sigma2 } => {
            format!("{} * {} * {} / (2 * {})", counts.count, counts.shift, counts.shift, exact(sigma2))
        }
        Law::DiscreteLaplace { epsilon } => {
            let each = format!("{} * {}", counts.shift, exact(epsilon));
            format!("{} * {each} * {each} / 2", counts.count)
        }
        _ => return None,
    };
    let result = Enclosure::rational(&counts.rho(), 256).shown(12);
    // Numbers in other forms than decimals and fractions are no calculation that a reader of texts knows.
    (!left.contains('e') && !result.contains('e')).then(|| format!("{left} = {result}"))
}
