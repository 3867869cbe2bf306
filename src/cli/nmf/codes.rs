//! `assay nmf codes`: the census variables that noisy measurement files give, and those that cannot be formed.

use std::collections::HashMap;

use anyhow::Result;
use dp_assay::{
    document::fields::Fields,
    topdown::nmf::codes::book::{Code, CodeBook, CodeTable, NotFormed, Product, not_formed},
};
use serde_json::{Value, json};

use crate::cli::{
    exit::Exit,
    page::{FormArgs, Page},
};

/// Lists the census variables for `assay nmf estimate --variables`, and what cannot be formed
///
/// A variable is a sum over cells of a histogram of noisy counts: of P.L. 94-171 the tables P1 to P5 from the product of
/// persons and H1 from that of housing units; of the DHC all tables but medians and those of urban and rural, from its products
/// of persons and of households.
#[derive(clap::Args)]
pub struct Args {
    /// Only these codes or tables, as P1_003N or P5 (default: the tables, without their codes); all for all codes
    #[arg(value_name = "CODE|TABLE")]
    variables: Vec<String>,
    #[command(flatten)]
    form: FormArgs,
}

pub fn run(args: &Args) -> Result<Exit> {
    let mut page = args.form.page();
    let books = Product::ALL.into_iter().map(CodeBook::of_product).collect::<dp_assay::Result<Vec<_>>>()?;
    match args.variables.is_empty() {
        true => put_tables(&mut page, &books, &not_formed()?),
        false => put_codes(&mut page, &chosen(&books, &args.variables)?),
    }
    page.done()
}

/// The requested codes, each from the product that has it.
fn chosen(books: &[CodeBook], asked: &[String]) -> Result<Vec<(Product, Code)>> {
    let not = not_formed()?;
    let mut found: Vec<(Product, Code)> = Vec::new();
    for name in asked {
        let of = |book: &CodeBook| book.choose(std::slice::from_ref(name)).map(|codes| (book.product, codes));
        let (there, mut refused): (Vec<_>, Vec<_>) = books.iter().map(of).partition(|own| own.is_ok());
        // The message of a product that has a reason for this code, or of the first one.
        if there.is_empty() {
            let has_reason = |book: &CodeBook| not.iter().any(|not| not.is_about(name, book.product));
            refused.swap_remove(books.iter().position(has_reason).unwrap_or(0))?;
        }
        for (product, codes) in there.into_iter().flatten() {
            found.extend(codes.into_iter().map(|code| (product, code)));
        }
    }
    Ok(found)
}

fn put_codes(page: &mut Page, codes: &[(Product, Code)]) {
    let row = |(product, code): &(Product, Code)| {
        Fields::new()
            .shown("variable", "variable", &code.name)
            .cell("product", product.name())
            .cell("adds up to", &code.parent)
            .shown("label", "label", &code.label)
            .with("description", &code.line.description)
            .with("adds_up_to", &code.parent)
            .with("product", product.name())
    };
    let rows: Vec<Fields> = codes.iter().map(row).collect();
    page.object(json!({ "variables": rows }));
    page.rows_of_words(&rows);
}

fn put_tables(page: &mut Page, books: &[CodeBook], not: &[NotFormed]) {
    let mut records = Vec::new();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for book in books {
        let mut sizes: HashMap<&str, usize> = HashMap::new();
        for code in &book.codes {
            *sizes.entry(code.name.split('_').next().unwrap_or_default()).or_default() += 1;
        }
        let size = |table: &CodeTable| sizes.get(table.name.as_str()).copied().unwrap_or_default();
        for tables in book.tables.chunk_by(|one, next| one.repeats.is_some() && one.repeats == next.repeats) {
            for table in tables {
                let (name, product) = (&table.name, book.product.name());
                records
                    .push(json!({ "table": name, "product": product, "variables": size(table), "title": table.title }));
            }
            let product = book.product.name().to_string();
            // Repetitions of one table are one row of the text.
            let [first, .., last] = tables else {
                let CodeTable { name, title, .. } = &tables[0];
                rows.push(vec![name.clone(), product, size(&tables[0]).to_string(), title.clone()]);
                continue;
            };
            let names = format!("{} to {}", first.name, last.name);
            let codes = format!("{} x {}", tables.len(), size(first));
            rows.push(vec![names, product, codes, format!("{}, ...", first.title)]);
        }
    }
    page.records(records.clone());
    let product = |not: &NotFormed| not.product.clone().unwrap_or_else(|| "any".to_string());
    let left = |not: &NotFormed| json!({ "codes": not.codes, "product": product(not), "why": not.why });
    page.object(json!({ "tables": records, "not_formed": not.iter().map(left).collect::<Value>() }));
    page.table_of_pairs(&["table", "product", "codes", "title"], rows);
    page.text("\nnot formed, the first line that fits:\n\n");
    let row = |not: &NotFormed| vec![not.codes.join(" "), product(not), not.why.clone()];
    page.columns(&["codes", "from", "why"], not.iter().map(row));
}
