//! The deployments as one page of HTML that loads nothing and runs nothing. The templates escape all text.

use anyhow::Result;
use dp_assay::{
    deployments::{Snapshot, Verdict, View, view::Check},
    document::{
        Table,
        html::{self, contents, origin, page as page_of, section, table_with},
    },
};
use maud::{Markup, html};

use super::super::{output::exact_text, report::document::figure};
use super::found::{Found, accounts, on_scale};

/// The style of a report, and that of this page alone.
const STYLE: &str =
    concat!(include_str!("../report/reading.css"), include_str!("../report/style.css"), include_str!("style.css"));

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
    let header = html! {
        h1 { (title) }
        p.about { (found.count()) ": " (found.tally()) }
        @if !found.is_of_registry { (as_of(&found.snapshot)) }
        (contents(CONTENTS.iter()))
    };
    let main = html! {
        (all(found)?)
        (wrong(found))
        (each(found))
        (origin(&found.provenance, is_reproducible))
    };
    Ok(page_of(title, STYLE, header, main))
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
        "Squares: an upper bound by what is known. Circles: exact, where noise and counts are known. Approximate places; the table has the numbers.",
    )?;
    let inner = html! {
        div.said {
            p { "All on one scale: epsilon at delta = " (delta) ", and of 100 yes/no guesses about one unit at even odds, how many are right at most (50 is blind guessing)." }
            p { "The units differ, and with them the protection: an epsilon for a day or an event is not one for a person. So the tables and the panels are by unit." }
        }
        (chart)
        @for (heading, views) in found.groups() {
        @if let Some(heading) = heading { h3 { (heading) } }
        div.scroll tabindex="0" role="group" aria-label=(heading.unwrap_or("All entries")) {
            table.all {
                caption { span { "≤: an upper bound by what is known; without a sign: exact, to the last digit shown." } }
                thead {
                    tr {
                        th scope="col" { "deployment" }
                        th.text scope="col" { "verdict" }
                        th scope="col" { "epsilon at " (delta) }
                        th scope="col" { "right of 100" }
                        th.text scope="col" { "printed" }
                        th.text scope="col" { "printed by" }
                        th.text scope="col" { "unit" }
                        th.text scope="col" { "per" }
                    }
                }
                tbody { @for view in views { (row(view, &delta)) } }
            }
        }
        }
    };
    Ok(section(CONTENTS[0], None, inner))
}

fn row(view: &View, delta: &str) -> Markup {
    let [epsilon, right] = on_scale(view);
    // On a telephone each row is a card whose cells say what they are.
    html! {
        tr {
            th scope="row" { a href={ "#" (id(view)) } { (view.name) } }
            td.text data-label="verdict" { (verdict(view.verdict)) }
            td data-label={ "epsilon at " (delta) } { (epsilon.replace("<=", "≤")) }
            td data-label="right of 100" { (right.replace("<=", "≤")) }
            td.text.printed data-label="printed" { (view.printed.shown()) }
            td.text.printer data-label="printed by" { (view.printer()) }
            td.text data-label="unit" { (view.fact("unit").unwrap_or("-")) }
            td.text data-label="per" { (view.per.as_deref().unwrap_or("-")) }
        }
    }
}

fn wrong(found: &Found) -> Markup {
    let views = || found.views.iter().filter(|view| view.verdict.is_wrong() || view.verdict == Verdict::Differs);
    let inner = html! {
        @if views().next().is_none() { p { "Nothing." } }
        dl {
            @for view in views() {
                dt { a href={ "#" (id(view)) } { (view.title) } " " (verdict(view.verdict)) }
                @for reason in &view.reasons { dd { (reason) } }
            }
        }
    };
    section(CONTENTS[1], None, inner)
}

fn each(found: &Found) -> Markup {
    section(CONTENTS[2], None, html! { @for view in &found.views { (deployment(view, found.is_of_registry)) } })
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
            (html::list(lines))
        }
    }
}

fn checks(view: &View, is_of_registry: bool) -> Markup {
    let heading: &[&str] = if is_of_registry {
        &["place", "argument", "verdict"]
    } else {
        &["figure", "printed", "computed", "verdict", "computation"]
    };
    let row = |check: &Check| {
        let (computed, verdict) = (check.computed.clone(), check.verdict.replace('-', " "));
        match is_of_registry {
            true => vec![check.what.clone(), computed, verdict],
            false => vec![check.what.clone(), check.printed.clone(), computed, verdict, check.how.clone()],
        }
    };
    let table = Table::numbers("", heading, view.checks.iter().map(row).collect()).of_words();
    table_with(&table, &format!("Figures of {}", view.name), None, |_, _, cell| html! { (cell) })
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
        (table_with(&accounts(scale), &format!("Accounts of {}", view.name), Some("accounts"), |_, _, cell| html! { (cell) }))
    }
}
