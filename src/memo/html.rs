//! A memo as one page of HTML that loads nothing, runs nothing, and prints on a few sheets.

use super::document::{Block, Document, Table};

const STYLE: &str = include_str!("style.css");
/// Only the style in the page itself may be used.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The whole page.
pub fn page(document: &Document) -> String {
    let title = escaped(&document.title);
    let about: String = document.about.iter().map(|line| element("p class=\"about\"", "p", &escaped(line))).collect();
    let sections: String = (document.sections.iter())
        .map(|section| {
            let blocks: String = section.blocks.iter().map(block_text).collect();
            format!("<section>\n<h2>{}</h2>\n{blocks}</section>\n", escaped(section.heading))
        })
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n{about}</header>\n<main>\n{sections}</main>\n\
         </body>\n</html>\n"
    )
}

fn block_text(block: &Block) -> String {
    match block {
        Block::Text(text) => element("p", "p", &escaped(text)),
        Block::List(items) => {
            let items: String = items.iter().map(|item| element("li", "li", &escaped(item))).collect();
            format!("<ul>\n{items}</ul>\n")
        }
        Block::Table(table) => table_text(table),
        Block::Commands(lines) => element("pre", "pre", &format!("<code>{}</code>", escaped(&lines.join("\n")))),
        Block::Fields(fields) => {
            let row = |field: &&str| format!("<tr><th scope=\"row\">{}</th><td></td></tr>\n", escaped(field));
            format!(
                "<table class=\"fields\">\n<tbody>\n{}</tbody>\n</table>\n",
                fields.iter().map(row).collect::<String>()
            )
        }
    }
}

fn table_text(table: &Table) -> String {
    let class = |column: usize| if table.words.contains(&column) { " class=\"words\"" } else { "" };
    let heading: String = (table.heading.iter().enumerate())
        .map(|(column, cell)| format!("<th scope=\"col\"{}>{}</th>", class(column), escaped(cell)))
        .collect();
    let row = |cells: &Vec<String>| {
        let cells: String = (cells.iter().enumerate())
            .map(|(column, cell)| match column {
                0 => format!("<th scope=\"row\"{}>{}</th>", class(column), escaped(cell)),
                _ => format!("<td{}>{}</td>", class(column), escaped(cell)),
            })
            .collect();
        element("tr", "tr", &cells)
    };
    let rows: String = table.rows.iter().map(row).collect();
    let caption = escaped(&table.caption);
    format!(
        "<div class=\"wide\">\n<table>\n<caption>{caption}</caption>\n<thead>\n<tr>{heading}</tr>\n</thead>\n<tbody>\n{rows}</tbody>\n\
         </table>\n</div>\n"
    )
}

fn element(open: &str, close: &str, content: &str) -> String {
    format!("<{open}>{content}</{close}>\n")
}

/// Text in which nothing is markup.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            _ => out.push(letter),
        }
    }
    out
}
