//! Pages of HTML that load nothing and run nothing. The templates escape all text.

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

use super::{Block, Document, Table};
use crate::io::provenance::{COMMIT, Content, Provenance, VERSION, command_line};

/// The style of documents.
const STYLE: &str = include_str!("style.css");
/// Only the style and the drawings in the page itself may be used.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// A page of this title and style.
pub fn page(title: &str, style: &str, header: Markup, main: Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body {
                header { (header) }
                main { (main) }
            }
        }
    };
    page.into_string() + "\n"
}

/// The list of the sections of a page: the place and the name of each.
pub fn contents<'c>(sections: impl Iterator<Item = &'c (&'static str, &'static str)>) -> Markup {
    html! {
        nav aria-label="Contents" {
            ul { @for (id, name) in sections { li { a href={ "#" (id) } { (name) } } } }
        }
    }
}

/// A section with a heading and a place on the page.
pub fn section((id, name): (&str, &str), class: Option<&str>, inner: Markup) -> Markup {
    html! {
        section class=[class] id=(id) aria-labelledby={ "h-" (id) } {
            h2 id={ "h-" (id) } { (name) }
            (inner)
        }
    }
}

/// A drawing with its caption; `label` is its accessible name.
pub fn figure(svg: String, label: &str, caption: &str) -> Markup {
    html! {
        figure {
            div.card tabindex="0" role="group" aria-label=(label) { (PreEscaped(svg)) }
            figcaption { span { (caption) } }
        }
    }
}

/// A list.
pub fn list(items: &[impl Render]) -> Markup {
    html! { ul { @for item in items { li { (item) } } } }
}

/// A list of names, each with its text.
pub fn terms(terms: &[(impl Render, impl Render)]) -> Markup {
    html! { dl { @for (name, text) in terms { dt { (name) } dd { (text) } } } }
}

/// A table whose first cells name their rows, in a box that can be scrolled. The row of the whole is set off.
pub fn table(table: &Table) -> Markup {
    table_with(table, &table.caption, None, |_, _, cell| html! { (cell) })
}

/// A table with the accessible name `label`, a class, and the cells that `cell` makes of a row, a column and a text.
pub fn table_with(
    table: &Table,
    label: &str,
    class: Option<&str>,
    cell: impl Fn(usize, usize, &str) -> Markup,
) -> Markup {
    let Table { caption, heading, rows, words, strong } = table;
    let all_words = words.len() == heading.len();
    let class = class.or(all_words.then_some("words"));
    // On a telephone each row is a card, and its cells have the names of their columns.
    let label_of = |column: usize| heading.get(column).filter(|name| !name.is_empty());
    let side = |column: usize| (column > 0 && !all_words && words.contains(&column)).then_some("text");
    html! {
        div.scroll tabindex="0" role="group" aria-label=(label) {
            table class=[class] {
                @if !caption.is_empty() { caption { span { (caption) } } }
                thead { tr { @for (column, name) in heading.iter().enumerate() { th class=[side(column)] scope="col" { (name) } } } }
                tbody {
                    @for (at, row) in rows.iter().enumerate() {
                        tr class=[strong.contains(&at).then_some("whole")] {
                            @for (column, text) in row.iter().enumerate() {
                                @if column == 0 { th scope="row" { (cell(at, column, text)) } }
                                @else { td class=[side(column)] data-label=[label_of(column)] { (cell(at, column, text)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The program, command line and inputs of the numbers; a reproducible page has no commit.
pub fn origin(provenance: &Provenance, is_reproducible: bool) -> Markup {
    let inner = html! {
        dl {
            dt { "Program" }
            dd { "assay " (VERSION) @if !is_reproducible { ", commit " code { (COMMIT) } } }
            dt { "Command line" }
            dd { code { (command_line(&provenance.command_line)) } }
            @if let Some(digits) = provenance.digits {
                dt { "Requested digits" }
                dd { (digits) }
            }
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
    };
    section(("origin", "Provenance"), None, inner)
}

/// A document as one page that prints on a few sheets.
pub fn document(document: &Document) -> String {
    let document = &document.all_visible();
    let header = html! {
        h1 { (document.title) } "\n"
        @for line in &document.about { p.about { (line) } "\n" }
    };
    let main = html! {
        @for section in &document.sections {
            section {
                h2 { (section.heading) } "\n"
                @for block in &section.blocks { (self::block(block)) "\n" }
            }
        }
    };
    page(&document.title, STYLE, header, main)
}

fn block(block: &Block) -> Markup {
    match block {
        Block::Heading(_, text) => html! { h3 { (text) } },
        Block::Text(text) => html! { p { (text) } },
        Block::Strong(text) => html! { p { strong { (text) } } },
        Block::Lines(lines) => html! { pre { (lines) } },
        Block::List(items) => list(items),
        Block::Table(table) => self::table(table),
        Block::Commands(lines) => html! { pre { code { (lines.join("\n")) } } },
        Block::Fields(fields) => {
            html! { table.fields { tbody { @for field in fields { tr { th scope="row" { (field) } td {} } } } } }
        }
    }
}
