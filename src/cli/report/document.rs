//! A report as one page of HTML that loads nothing and runs nothing. The templates escape all text.

use anyhow::Result;
use dp_assay::{
    chart::Figure,
    document::{
        Table,
        html::{self, contents, list, origin, page as page_of, section, table, terms},
    },
    provenance::Provenance,
    topdown::nmf::audit::NmfAudit,
};
use maud::{Markup, html};

use super::super::{
    epsilon,
    nmf::audit as noise,
    of_ledger::ways_note,
    output::{change_in_words, exact_text},
    subject::{Resolved, decided},
};
use super::{
    accurate,
    answers::{ACCURATE, Answers, LeftOut, PRIVATE, Private, Request, SPARED, YARDSTICK},
    assumed, charts, tables, words,
    yardstick::{self, Here},
};

/// The style that it shares with the page of `assay explore`, and its own.
pub const STYLE: &str = concat!(include_str!("reading.css"), include_str!("style.css"));
/// The heading beside charts.
const ASSUMED: &str = "Assumptions";

/// The whole page; with the audit of a folder of noisy measurement files, if one is given.
pub fn page(
    request: &Request,
    subject: &Resolved,
    (answers, audit): (&Answers, Option<&NmfAudit>),
    provenance: &Provenance,
) -> Result<String> {
    let title = format!("How private is it? {}", subject.title);
    let (views, rest) = CONTENTS.split_at(5);
    let sections = views.iter().chain(audit.map(|_| &NOISE)).chain(rest);
    let header = html! {
        h1 { (subject.title) }
        p.about {
            (subject.neighbors.name()) " neighbors, delta = " (exact_text(&request.delta))
            ", prior = " (exact_text(&request.prior))
        }
        (contents(sections))
    };
    let main = html! {
        (how_private(request, subject, answers)?)
        (beside_published(request, subject, answers)?)
        (what_is_learned(request, subject, answers)?)
        (how_accurate(answers))
        (what_could_be_spared(request, subject, answers)?)
        @if let Some(audit) = audit { (drawn_as_declared(audit)?) }
        (assumed(request, subject, answers, audit.is_some()))
        (glossary())
        (origin(provenance, false))
    };
    Ok(page_of(&title, STYLE, header, main))
}

const CONTENTS: [(&str, &str); 8] = [
    ("private", PRIVATE),
    ("yardstick", YARDSTICK),
    ("learned", "What does an adversary learn?"),
    ("accurate", ACCURATE),
    ("spared", SPARED),
    ("assumed", "Assumptions"),
    ("words", "Glossary"),
    ("origin", "Provenance"),
];

/// The section of an audit.
const NOISE: (&str, &str) = ("noise", "Was the noise drawn as it was declared?");

/// A question with its answer in words, its charts and what is to be known beside them, and its numbers.
pub fn view(
    of: (&str, &str),
    said: &[String],
    charts: Markup,
    (beside, notes): (&str, &[String]),
    table: Markup,
) -> Markup {
    let inner = html! {
        div.said { @for sentence in said { p { (sentence) } } }
        div.charts { (charts) }
        @if !notes.is_empty() {
            aside aria-labelledby={ "a-" (of.0) } {
                h3 id={ "a-" (of.0) } { (beside) }
                (list(notes))
            }
        }
        div.wide { (table) }
    };
    section(of, Some("view"), inner)
}

/// A section that does not apply, with the reason.
fn left_out(of: (&str, &str), why: &LeftOut) -> Markup {
    view(of, &[why.sentence()], html! {}, (ASSUMED, &[]), html! {})
}

/// A chart with its caption.
pub fn figure(figure: &Figure, id: &str, label: &str, caption: &str) -> dp_assay::Result<Markup> {
    Ok(html::figure(figure.svg_element(id, label)?, label, caption))
}

fn how_private(request: &Request, subject: &Resolved, answers: &Answers) -> Result<Markup> {
    let Private { found, drawn } = match &answers.private {
        Ok(private) => private,
        Err(why) => return Ok(left_out(CONTENTS[0], why)),
    };
    let by = found.total.compared.by;
    let charts = html! {
        (figure(
            &charts::profile(&request.delta, drawn, &subject.whole, by)?,
            "chart-profile",
            &format!("The privacy profile: delta over epsilon, exact and by {}", by.name()),
            &words::about_profile("The privacy profile of the whole.", drawn),
        )?)
        (figure(
            &charts::tradeoff(drawn),
            "chart-tradeoff",
            "The trade-off function: the smallest type II error over the type I error",
            "The trade-off curve of the whole: how often a test that distinguishes two neighbors must err in one way, given how often it errs in \
             the other. The nearer to the dotted line, the nearer to guessing.",
        )?)
    };
    let said = words::how_private(&request.delta, subject, found);
    let below = html! {
        (table(&tables::of_epsilon(&request.delta, found, subject.may_be_more_private().is_some())))
        @for sentence in decided(found.decided()) { p.about { (sentence) } }
    };
    Ok(view(CONTENTS[0], &said, charts, (ASSUMED, &assumed::of_epsilon(&request.delta, found)), below))
}

/// The place of the epsilon among published ones.
fn beside_published(request: &Request, subject: &Resolved, answers: &Answers) -> Result<Markup> {
    let (yardstick, private) = match (&answers.yardstick, &answers.private) {
        (Ok(yardstick), Ok(private)) => (yardstick, private),
        (Err(why), _) | (_, Err(why)) => return Ok(left_out(CONTENTS[1], why)),
    };
    let here = Here::of_subject(subject, &private.found.total.epsilon.value);
    let chart = figure(
        &yardstick::chart(yardstick, &here, &request.delta),
        "chart-yardstick",
        "The epsilon of this page among those of published deployments",
        &format!(
            "Published deployments about {}, and this page (a black diamond), the smallest epsilon first.",
            yardstick.unit.in_words()
        ),
    )?;
    let below = table(&yardstick::table(yardstick, &here, &request.delta));
    Ok(view(
        CONTENTS[1],
        &yardstick::said(yardstick, &here, &request.delta),
        chart,
        (ASSUMED, &yardstick::assumed(yardstick)),
        below,
    ))
}

/// The margins of error of the noisy counts.
fn how_accurate(answers: &Answers) -> Markup {
    match &answers.margins {
        Err(why) => left_out(CONTENTS[3], why),
        Ok(margins) => {
            let below = table(&accurate::table(margins));
            view(CONTENTS[3], &accurate::said(margins), html! {}, (ASSUMED, &accurate::assumed(margins)), below)
        }
    }
}

fn what_is_learned(request: &Request, subject: &Resolved, answers: &Answers) -> Result<Markup> {
    let found = &answers.learned;
    let chart = figure(
        &charts::right_decisions(&request.prior, found),
        "chart-learned",
        "How many of 100 decisions of an adversary are right at most, by level",
        &words::about_decisions(subject, found),
    )?;
    let below = html! {
        (table(&tables::of_bound(&request.prior, found)))
        p.about {
            "Right: the largest probability of a correct decision. Advantage: how much more often the decision is \"yes\" if that is true than if \
             it is not. Posterior, rounded up: " (subject.unit().posterior_of_events(&exact_text(&request.delta))) "."
        }
    };
    Ok(view(
        CONTENTS[2],
        &words::what_is_learned(&request.prior, subject, found),
        chart,
        (ASSUMED, &assumed::of_bound(&request.prior, found.allowed())),
        below,
    ))
}

fn what_could_be_spared(request: &Request, subject: &Resolved, answers: &Answers) -> Result<Markup> {
    let spared = match &answers.spared {
        Ok(spared) => spared,
        Err(why) => return Ok(left_out(CONTENTS[4], why)),
    };
    let chart = match charts::noise(spared) {
        None => html! {},
        Some(chart) => figure(
            &chart,
            "chart-spared",
            "The present noise of each level, and the least with the epsilon of its comparison",
            "The present noise (squares), and the least with the epsilon of its comparison (circles).",
        )?,
    };
    let is_bound = subject.may_be_more_private().is_some();
    let table_of_noise = tables::of_noise(spared, request.digits, is_bound);
    let has_others = spared.rows().any(|row| row.variances.len() > 1);
    let below = html! {
        @if !table_of_noise.rows.is_empty() { (table(&table_of_noise)) }
        @if let Some(factor) = &spared.common_factor {
            p.about {
                "All noise can be scaled by " (exact_text(factor)) " (" (change_in_words(factor, 6)) ")."
            }
        }
        @if has_others {
            p.about { "A level with several sigma2 shows the smallest; the others are scaled by the same factor." }
        }
    };
    // Without Gaussian noise nothing was searched.
    let assumed = if spared.rows().next().is_some() { assumed::of_noise(&request.delta) } else { Vec::new() };
    Ok(view(CONTENTS[4], &words::what_could_be_spared(spared, is_bound), chart, (ASSUMED, &assumed), below))
}

/// The audit of a folder: the verdict, the charts, and a row for each source of pure noise.
fn drawn_as_declared(audit: &NmfAudit) -> Result<Markup> {
    let chart = match noise::has_masses(audit) {
        false => html! {},
        true => figure(
            &noise::figure(audit),
            "chart-noise",
            "Observed and declared masses of the noise, and its variance by level and query",
            "Observed and declared masses of the query with the most draws, and variances over the declared ones, with bands of the noise to be \
             expected.",
        )?,
    };
    let rows = audit.sources.iter().enumerate().map(|(at, source)| noise::cells(audit, at, source)).collect();
    let caption = "The sources of pure noise: draws, variance, and the test with the least p-value.";
    let below = table(&Table::numbers(caption, &noise::HEADINGS, rows));
    Ok(view(NOISE, &words::noise(audit), chart, (ASSUMED, &assumed::of_noise_drawn()), below))
}

fn assumed(request: &Request, subject: &Resolved, answers: &Answers, is_audited: bool) -> Markup {
    let relation = subject.unit().difference();
    let lines: Vec<&epsilon::Line> = answers.private.iter().flat_map(|private| private.found.lines()).collect();
    let wider: Vec<&str> = lines.iter().filter(|line| !line.epsilon.met).map(|line| line.name.as_str()).collect();
    let engines = lines.iter().map(|line| vec![line.name.clone(), line.epsilon.proof.to_string()]).collect();
    let engines = Table::numbers("The engine that certified epsilon, by level.", &["", "engine"], engines).of_words();
    let inner = html! {
            dl {
                dt { "Neighbors: " (subject.neighbors.name()) }
                dd {
                    "Privacy is about two data sets that are neighbors: " (relation) (subject.unit().repetitions()) ". A record is that of a person, or of a home if homes are \
                     counted. One record changes the counts as the release declares."
                    @if let Some(note) = subject.note() { " " (note) }
                    @if let Some(note) = ways_note(subject) { " " (note) }
                }
                dt { "Delta: " (exact_text(&request.delta)) }
                @match subject.may_be_more_private() {
                    None => { dd { "Every epsilon here is the smallest one at this delta." } }
                    Some(why) => { dd { "Every epsilon here is the smallest one of this account at this delta; the mechanism may have a smaller one, because " (why) "." } }
                }
                dt { "Certified" }
                dd {
                    "A certified number is an interval that is proven to contain the truth, including all rounding and truncation errors. If a \
                     single number is printed, the truth differs from it by at most one unit in the last digit."
                }
                @if !wider.is_empty() {
                    dt { "Below the requested precision" }
                    dd { (wider.join(", ")) ": both ends are valid, but further apart than 10" sup { "-" (request.digits) } " relative." }
                }
                dt { "Not part of it" }
                dd {
                    "Counts that are published without noise (invariants), information that an adversary has from elsewhere, and "
                    @if is_audited { "whether the random numbers behind the noise are secret." } @else { "whether the noise was drawn as it was declared." }
                }
            }
            @if !lines.is_empty() { (table(&engines)) }
    };
    section(CONTENTS[5], None, inner)
}

fn glossary() -> Markup {
    let words = [
        (
            "Epsilon",
            "How much more likely the published counts can become from one neighbor to the other, as a natural logarithm: at 0 no difference can be detected, at 1 they are 2.7 \
                     times as likely, at 5 it is 148 times.",
        ),
        ("Delta", "The probability mass by which the bound of epsilon may be exceeded."),
        (
            "Rho and zCDP",
            "The budget by which releases like the 2020 Census were planned, and the theory behind it. It gives a bound for epsilon that is \
                          simple to compute and larger than the truth.",
        ),
        (
            "sigma2",
            "The declared variance proxy of the noise: the variance of continuous Gaussian noise, and for discrete Gaussian noise close to it from 1 on.",
        ),
    ];
    section(CONTENTS[6], None, terms(&words))
}
