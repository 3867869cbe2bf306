//! The sheet of NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees: each of its points, answered by the release file
//! and by certified numbers, or named as one that the file cannot answer.

use super::{
    algorithms::{self, has_sensitivity},
    blocks::{missing, plural, upper},
    figures::{Figures, Line, SHOWN},
    open::Point,
};
use crate::{
    account::{Account, Counts, conversions},
    document::{Block, Document, origin, section, table, text},
    numeric::{Enclosure, rational},
    release::is_guarantee,
};

/// The sheet.
pub fn document(figures: &Figures) -> Document {
    let title = format!("Differential privacy sheet: {}", figures.subject.title);
    let about = vec![
        "The points of NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees, answered from the release file alone. \
         Numbers are certified by this program. A point that the file cannot answer is named, for the curator to complete at the end."
            .to_string(),
    ];
    let sections = vec![
        section("The guarantee", guarantee(figures)),
        section("Privacy parameters", parameters(figures)),
        section("Unit of privacy and neighbors", unit(figures)),
        section("Comparison with other guarantees", comparison(figures)),
        section("Other data releases", other_releases()),
        section("Mechanisms and sensitivity", algorithms::mechanisms(figures)),
        section("Composition", algorithms::composition(figures)),
        section("Post-processing", post_processing()),
        section("Utility and accuracy", algorithms::utility(figures)),
        section("Bias", algorithms::bias(figures)),
        section("Query model", query_model(figures)),
        section("Threat model", threat_model(figures)),
        section("Implementation", algorithms::implementation(figures)),
        section("Data security and access control", vec![missing(Point::Access)]),
        section("Data collection exposure", collection()),
        section("To be completed by the curator", to_complete()),
        section("Provenance", provenance(figures)),
    ];
    Document { title, about, sections }
}

/// The proven ends of an epsilon, as text.
fn ends(value: &Enclosure) -> [String; 2] {
    [value.lower_text(SHOWN), value.upper_text(SHOWN)]
}

fn guarantee(figures: &Figures) -> Vec<Block> {
    let delta = rational::display(&figures.request.delta);
    let [lower, most] = ends(&figures.whole.epsilon.value);
    let unit = figures.subject.unit();
    let mut said = format!(
        "Everything that the release file describes{}is ({most}, {delta})-differentially private. Take two data sets of which {}, and any set \
         of outputs: if its probability is p under one of them, it is at most p times exp({most}), plus {delta}, under the other.",
        if unit.repeat == 1 { " ".to_string() } else { format!("{}, ", unit.repetitions()) },
        unit.difference()
    );
    // Only an account of the declared mechanism itself proves that a smaller epsilon is not enough.
    let epsilon = match figures.subject.may_be_more_private() {
        None => {
            said += &format!(" In the declared mechanism no epsilon below {lower} is enough at this delta.");
            format!("epsilon between {lower} and {most}")
        }
        Some(why) => {
            said += &format!(" The mechanism may be more private: {why}.");
            format!("epsilon at most {most}")
        }
    };
    vec![
        text(said),
        table(
            "The guarantee in the variants of differential privacy.",
            &["variant", "parameters", "from"],
            variants(figures, &delta, &epsilon),
            &[0, 1, 2],
        ),
    ]
}

/// The rows of the variants of differential privacy.
fn variants(figures: &Figures, delta: &str, epsilon: &str) -> Vec<Vec<String>> {
    let mut rows =
        vec![vec!["approximate DP".to_string(), format!("delta = {delta}, {epsilon}"), "certified".to_string()]];
    rows.push(match &figures.pure {
        Some(largest) => {
            vec!["pure DP".to_string(), format!("epsilon = {}", upper(largest)), "the largest privacy loss".to_string()]
        }
        None => {
            let why = match figures.subject.whole.infinite_loss() {
                Some(_) => "some outputs have an infinite privacy loss",
                None => "the privacy loss has no largest value",
            };
            vec!["pure DP".to_string(), "none".to_string(), why.to_string()]
        }
    });
    rows.push(match &figures.whole.rho {
        Some(rho) => vec![
            "zero-concentrated DP".to_string(),
            format!("rho = {}", upper(rho)),
            "the sum over all counts".to_string(),
        ],
        None => vec![
            "zero-concentrated DP".to_string(),
            "not given".to_string(),
            "rho does not describe this mechanism exactly".to_string(),
        ],
    });
    if let Some(epsilon) = by_formula(figures) {
        rows.push(vec![
            "the same by the formula of Bun and Steinke".to_string(),
            format!("epsilon = {epsilon} at delta = {delta}"),
            "an upper bound from rho, for comparison".to_string(),
        ]);
    }
    rows
}

/// The epsilon of rho by the formula of Bun and Steinke.
fn by_formula(figures: &Figures) -> Option<String> {
    let rho = figures.whole.rho.clone()?;
    let rho = crate::account::Rho::new(rho).ok()?;
    Some(conversions::zcdp_epsilon(&rho, &figures.request.delta, 20).upper_text(SHOWN))
}

fn parameters(figures: &Figures) -> Vec<Block> {
    let request = figures.request;
    let (delta, prior) = (rational::display(&request.delta), rational::display(&request.prior));
    let row = |line: &Line| {
        let [lower, most] = ends(&line.epsilon.value);
        let rho = line.rho.as_ref().map_or("-".to_string(), upper);
        let posterior = line.posterior.value.upper_text(6);
        vec![line.name.clone(), rho, lower, most, line.right_of_100(), posterior]
    };
    let (whole, unit) = (&figures.whole, figures.subject.unit());
    let sides = match figures.subject.may_be_more_private() {
        None => "epsilon from both sides",
        Some(_) => "epsilon of the account from both sides, of which the mechanism may have less",
    };
    vec![
        text(format!(
            "An adversary who knows all other records, and who beforehand gives {} the probability {prior}, decides correctly at most {} times in 100.",
            unit.first_answer(),
            whole.right_of_100()
        )),
        table(
            format!(
                "Parameters at delta = {delta}, rounded up; {sides}. Right: correct decisions of 100, at most, at prior {prior}. Posterior: {}.",
                unit.posterior_of_events(&delta)
            ),
            &["", "rho", "epsilon, at least", "epsilon, at most", "right of 100", "posterior"],
            figures.lines().map(row).collect(),
            &[0],
        ),
        text(
            "Delta is the amount by which the probability of an event may exceed e^epsilon times its probability for the other data set. It should be far below one over the number of records: a mechanism that \
             publishes each record with probability delta would satisfy the same definition.",
        ),
    ]
}

fn unit(figures: &Figures) -> Vec<Block> {
    let subject = figures.subject;
    let unit = subject.unit();
    // Of a guarantee nothing is known of what changes; of rows the subject's note states it.
    let (guarantees, known): (Vec<&Counts>, Vec<&Counts>) =
        figures.queries.iter().map(|line| &line.query.counts).partition(|counts| is_guarantee(&counts.law));
    let counts: Vec<&Counts> =
        known.into_iter().filter(|counts| has_sensitivity(&counts.law) && !counts.free_rows).collect();
    let number = |all: &[&Counts]| all.iter().map(|counts| u128::from(counts.count)).sum::<u128>();
    let mut said = vec![text(format!(
        "The unit of privacy is {}{}. Neighbors: {} ({}): {}.",
        unit.records(),
        unit.repetitions(),
        subject.neighbors.name(),
        unit.meaning(),
        unit.difference()
    ))];
    if !counts.is_empty() {
        // The worst way of a group is that all its records change the same counts; others change as many each.
        let most = number(&counts).saturating_mul(u128::from(unit.group));
        let worst = if unit.group == 1 { "" } else { "; the table has the worst way to share them out" };
        let has_rows = figures.queries.iter().any(|line| line.query.counts.free_rows);
        let apart = if has_rows { "Apart from the queries with rows, between" } else { "Between" };
        said.push(text(format!(
            "{apart} neighbors at most {} of {} change, by the amounts in the table of mechanisms{worst}.",
            plural(most, "count", "counts"),
            plural(counts.len() as u128, "kind of query", "kinds of queries")
        )));
    }
    if !guarantees.is_empty() {
        said.push(text(format!(
            "Of {} only a guarantee is known, whatever changes between neighbors.",
            plural(number(&guarantees), "mechanism", "mechanisms")
        )));
    }
    said.extend(subject.note().map(text));
    said.extend([missing(Point::Unit), missing(Point::Contributions)]);
    said
}

fn comparison(figures: &Figures) -> Vec<Block> {
    let mut said = vec![text(
        "Two guarantees can be compared if unit, neighbor relation and delta are the same. The correct decisions of 100 are comparable at every delta, for the \
         same unit, relation and prior.",
    )];
    let delta = rational::display(&figures.request.delta);
    let compared = &figures.whole.compared;
    let bound = compared.epsilon.upper_text(SHOWN);
    said.push(text(match &compared.published {
        Some(figure) => format!(
            "Published for this release: epsilon {} at delta = {delta}, by {}; without rounding that account gives {bound}. Source: {}.",
            figure.printed,
            compared.by.name(),
            figure.source
        ),
        None => format!("By {}, the smallest standard account, epsilon would be {bound} at delta = {delta}.", compared.by.name()),
    }));
    said
}

fn other_releases() -> Vec<Block> {
    vec![
        text(
            "The numbers of this sheet are about this release alone. `assay ledger` composes releases about the same records.",
        ),
        missing(Point::Unprotected),
        missing(Point::OtherReleases),
    ]
}

fn post_processing() -> Vec<Block> {
    vec![
        text(
            "The guarantee is that of the noisy counts, and holds for everything that is computed from them without looking at the data again.",
        ),
        missing(Point::PostProcessing),
    ]
}

fn query_model(figures: &Figures) -> Vec<Block> {
    let times = match figures.subject.repeat {
        1 => "once as declared".to_string(),
        repeat => format!("{repeat} times as declared, with noise of its own each time"),
    };
    vec![
        text(format!("The account is for the listed queries, each answered {times}, and for no others.")),
        missing(Point::QueryModel),
    ]
}

fn threat_model(figures: &Figures) -> Vec<Block> {
    let is_local = figures.queries.iter().any(|line| line.query.counts.law.key() == "randomized-response");
    let mut said = vec![text(
        "The adversary sees all noisy counts, may know all other records and the law of the noise, and has any computing power. The account does not \
         protect against those who see the data before the noise is added.",
    )];
    if is_local {
        said.push(text("Randomized response is used in the local model as well: there each answer is randomized before it leaves the person."));
    }
    said.push(missing(Point::ThreatModel));
    said
}

fn collection() -> Vec<Block> {
    vec![text("Differential privacy bounds what is published, and not what is collected."), missing(Point::Collection)]
}

fn to_complete() -> Vec<Block> {
    vec![
        text("These points belong to an evaluation, and no release file has them."),
        Block::Fields(Point::ALL.map(Point::name).to_vec()),
    ]
}

fn provenance(figures: &Figures) -> Vec<Block> {
    let request = figures.request;
    let mut rows = origin(&request.command, request.inputs.iter());
    let source = figures.release.map(|release| vec!["source of the release".to_string(), release.source.clone()]);
    rows.splice(2..2, source);
    let proof = |line: &Line| vec![line.name.clone(), line.epsilon.proof.to_string()];
    vec![
        table("The program, the command and the inputs.", &["", ""], rows, &[0, 1]),
        table(
            "The engine that certified each epsilon.",
            &["", "engine"],
            figures.lines().map(proof).collect(),
            &[0, 1],
        ),
    ]
}
