//! The deployments as one page of HTML that loads nothing and runs nothing. The templates escape all text.

use anyhow::Result;
use dp_assay::{
    deployments::{Snapshot, Verdict, View},
    provenance::{COMMIT, Content, VERSION},
};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::super::{
    output::exact_text,
    report::document::{POLICY, STYLE, figure},
};
use super::found::{Found, on_scale};

/// The style of this page alone.
const OWN: &str = include_str!("style.css");

const CONTENTS: [(&str, &str); 4] = [
    ("all", "All deployments"),
    ("wrong", "What does not agree"),
    ("each", "Each deployment"),
    ("origin", "Provenance"),
];

/// The whole page; `is_reproducible` leaves out the commit.
pub fn page(found: &Found, is_reproducible: bool) -> Result<String> {
    let title = if found.is_of_registry {
        "Entries of the Deployments Registry, judged"
    } else {
        "Privacy parameters of real deployments, judged"
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(OWN)) }
            }
            body {
                header {
                    h1 { (title) }
                    p.about { (found.count()) ": " (found.tally()) }
                    @if !found.is_of_registry { (as_of(&found.snapshot)) }
                    nav aria-label="Contents" {
                        ul { @for (id, name) in CONTENTS { li { a href={ "#" (id) } { (name) } } } }
                    }
                }
                main {
                    (all(found)?)
                    (wrong(found))
                    (each(found))
                    (origin(found, is_reproducible))
                }
            }
        }
    };
    Ok(page.into_string() + "\n")
}

/// The day, the commit of the registry, what its entries are, and where to object.
fn as_of(snapshot: &Snapshot) -> Markup {
    let Snapshot { address, commit, committed, read, objections, .. } = snapshot;
    html! {
        p {
            "As of " (read) ". The entries are those of the " (link(address, "Deployments Registry")) " at commit "
            (link(&format!("{address}/tree/{commit}"), commit.get(..7).unwrap_or(commit))) " of " (committed)
            ". Volunteers draft them, and their status is Pending or Draft: what an entry says is not the word of the curator whom it is about. "
            "To object to an entry: " (link(objections, "its issues")) "; to a verdict: an issue of dp-assay, with the name of the deployment."
        }
    }
}

/// A link out of the page, which itself loads nothing.
fn link(address: &str, words: &str) -> Markup {
    html! { a href=(address) rel="noreferrer" { (words) } }
}

/// The place of a deployment on the page: letters, digits and hyphens.
fn id(view: &View) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("d-{}", view.name.chars().map(plain).collect::<String>())
}

fn section(at: usize, inner: Markup) -> Markup {
    let (id, name) = CONTENTS[at];
    html! {
        section id=(id) aria-labelledby={ "h-" (id) } {
            h2 id={ "h-" (id) } { (name) }
            (inner)
        }
    }
}

fn verdict(of: Verdict) -> Markup {
    html! { span class={ "verdict " (of.word()) } { (of.said()) } }
}

fn all(found: &Found) -> Result<Markup> {
    let delta = exact_text(&found.delta);
    let chart = figure(
        &found.chart(),
        "chart-all",
        &format!(
            "The epsilon of each deployment at delta = {delta}, by the unit for which it holds, the largest first"
        ),
        "Squares: an upper bound from what is printed. Circles: exact, where noise and counts are known. Approximate places; the table has the numbers.",
    )?;
    Ok(section(
        0,
        html! {
            div.said {
                p { "All on one scale: epsilon at delta = " (delta) ", and of 100 yes/no guesses about one unit at even odds, how many are right at most (50 is blind guessing)." }
                p { "The units differ, and with them the protection: an epsilon for a day or an event is not one for a person. So the tables and the panels are by unit." }
            }
            (chart)
            @for (heading, views) in found.groups() {
            @if let Some(heading) = heading { h3 { (heading) } }
            div.scroll tabindex="0" role="group" aria-label=(heading.unwrap_or("All entries")) {
                table.all {
                    caption { span { "≤: an upper bound from what is printed; without a sign: exact, to the last digit shown." } }
                    thead {
                        tr {
                            th scope="col" { "deployment" }
                            // A narrow screen shows the first columns.
                            th.text scope="col" { "verdict" }
                            th scope="col" { "epsilon at " (delta) }
                            th scope="col" { "right of 100" }
                            th.text scope="col" { "printed" }
                            th.text scope="col" { "printed by" }
                            th.text scope="col" { "unit" }
                            th.text scope="col" { "per" }
                        }
                    }
                    tbody { @for view in views { (row(view)) } }
                }
            }
            }
        },
    ))
}

fn row(view: &View) -> Markup {
    let [epsilon, right] = on_scale(view);
    html! {
        tr {
            th scope="row" { a href={ "#" (id(view)) } { (view.name) } }
            td.text { (verdict(view.verdict)) }
            td { (epsilon.replace("<=", "≤")) }
            td { (right.replace("<=", "≤")) }
            td.text.printed { (view.printed.shown()) }
            td.text.printer { (view.printer()) }
            td.text { (view.fact("unit").unwrap_or("-")) }
            td.text { (view.per.as_deref().unwrap_or("-")) }
        }
    }
}

fn wrong(found: &Found) -> Markup {
    let views = || found.views.iter().filter(|view| view.verdict.is_wrong() || view.verdict == Verdict::Differs);
    section(
        1,
        html! {
            @if views().next().is_none() { p { "Nothing." } }
            dl {
                @for view in views() {
                    dt { a href={ "#" (id(view)) } { (view.title) } " " (verdict(view.verdict)) }
                    @for reason in &view.reasons { dd { (reason) } }
                }
            }
        },
    )
}

fn each(found: &Found) -> Markup {
    section(2, html! { @for view in &found.views { (deployment(view, found.is_of_registry)) } })
}

fn deployment(view: &View, is_of_registry: bool) -> Markup {
    html! {
        article id=(id(view)) aria-labelledby={ "h-" (id(view)) } {
            h3 id={ "h-" (id(view)) } { (view.title) " " (verdict(view.verdict)) }
            p.about { (view.name) }
            dl.facts {
                @for (name, fact) in &view.facts { div { dt { (name) } dd { (fact) } } }
                div { dt { "printed" } dd { (view.printed.shown()) } }
                @for (place, address) in view.links.iter().enumerate() { div { dt { "link " (place + 1) } dd { (link(address, address)) } } }
            }
            @if !view.checks.is_empty() { (checks(view, is_of_registry)) }
            (scale(view))
            (list("Reasons", &view.reasons))
            (list("Remarks", &view.remarks))
            (list("Missing for a proof", &view.missing))
        }
    }
}

fn list(name: &str, lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            h4 { (name) }
            ul { @for line in lines { li { (line) } } }
        }
    }
}

fn checks(view: &View, is_of_registry: bool) -> Markup {
    let heading: &[&str] = if is_of_registry {
        &["place", "argument", "verdict"]
    } else {
        &["figure", "printed", "computed", "verdict", "computation"]
    };
    let label = format!("Figures of {}", view.name);
    html! {
        div.scroll tabindex="0" role="group" aria-label=(label) {
            table.words {
                thead { tr { @for cell in heading { th scope="col" { (cell) } } } }
                tbody {
                    @for check in &view.checks {
                        tr {
                            th scope="row" { (check.what) }
                            @if !is_of_registry { td { (check.printed) } }
                            td { (check.computed) }
                            td { (check.verdict.replace('-', " ")) }
                            @if !is_of_registry { td { (check.how) } }
                        }
                    }
                }
            }
        }
    }
}

fn scale(view: &View) -> Markup {
    let Some(scale) = &view.scale else { return html! {} };
    let [epsilon, right] = on_scale(view);
    let right = right.trim_start_matches("<= ");
    html! {
        p {
            "On the common scale: epsilon " (epsilon.replace("<=", "≤")) " at delta = " (exact_text(&scale.delta)) " (" (scale.by) "); right at most "
            (right) " times in 100 (50 is blind guessing)."
        }
        div.scroll tabindex="0" role="group" aria-label={ "Accounts of " (view.name) } {
            table.accounts {
                thead { tr { th scope="col" { "account" } th scope="col" { "epsilon" } } }
                tbody {
                    @for (name, epsilon) in &scale.accounts {
                        tr {
                            th scope="row" { (name) }
                            td { (epsilon.as_ref().map_or("-".to_string(), |epsilon| epsilon.shown(6))) }
                        }
                    }
                }
            }
        }
    }
}

fn origin(found: &Found, is_reproducible: bool) -> Markup {
    let provenance = &found.provenance;
    section(
        3,
        html! {
            dl {
                dt { "Program" }
                dd { "assay " (VERSION) @if !is_reproducible { ", commit " code { (COMMIT) } } }
                dt { "Command line" }
                dd { code { (dp_assay::provenance::command_line(&provenance.command_line)) } }
                @for input in &provenance.inputs {
                    dt { "Input " (input.name) }
                    dd {
                        @match &input.content {
                            Content::Sha256(sha256) => { "SHA-256 " code { (sha256) } },
                            Content::Confidential => "confidential, and therefore not hashed",
                            Content::NotHashed => "not hashed",
                        }
                    }
                }
            }
        },
    )
}
