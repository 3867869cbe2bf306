//! A page in LaTeX: text as comments, and tables that need no package.

use super::{Block, Table};

/// Parts of a text.
pub fn blocks(blocks: &[Block]) -> String {
    let comments = |block: &Block| block.plain().trim_matches('\n').lines().map(comment).collect();
    blocks.iter().map(|block| block.table().map_or_else(|| comments(block), table)).collect()
}

fn comment(line: &str) -> String {
    format!("% {line}").trim_end().to_string() + "\n"
}

fn table(table: &Table) -> String {
    let columns: String =
        (0..table.heading.len()).map(|column| if table.is_right(column) { 'r' } else { 'l' }).collect();
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| set(cell)).collect();
        format!("{} \\\\\n", cells.join(" & "))
    };
    let rows: String = table.rows.iter().map(|row| line(row)).collect();
    format!(
        "\\begin{{tabular}}{{{columns}}}\n\\hline\n{heading}\\hline\n{rows}\\hline\n\\end{{tabular}}\n",
        heading = line(&table.heading)
    )
}

/// A cell; leading spaces, which indent a row, are kept.
fn set(cell: &str) -> String {
    let text = cell.trim_start();
    let indent = if text.len() < cell.len() { "\\quad " } else { "" };
    indent.to_string() + &power(text.trim_end()).unwrap_or_else(|| escaped(text.trim_end()))
}

/// A number with an exponent, as a product with a power of ten.
fn power(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let digits = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.chars().all(|digit| digit.is_ascii_digit() || digit == '.');
    is_number.then(|| format!("${mantissa} \\times 10^{{{exponent}}}$"))
}

/// Characters that are special in LaTeX, or that its default encoding lacks, by their names.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(character);
            }
            '\\' => out += "\\textbackslash{}",
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '<' => out += "\\textless{}",
            '>' => out += "\\textgreater{}",
            '|' => out += "\\textbar{}",
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_comments_and_cells_are_set() {
        let expected = "% a * b_c: 5 %\n% 2nd line\n\
                        \\begin{tabular}{lrr}\n\\hline\n & delta & lower by \\\\\n\\hline\n\
                        x \\textbar{} y & $1.5 \\times 10^{-11}$ & 8.50 \\% \\\\\n\
                        R\\&D & \\textless{}= 2 & - \\\\\n\\hline\n\\end{tabular}\n% \n% The end.\n"
            .replace("% \n", "");
        assert_eq!(blocks(&crate::document::markdown::tests::parts()), expected);
        assert_eq!(set("  a_b^{2}\\"), "\\quad a\\_b\\textasciicircum{}\\{2\\}\\textbackslash{}");
        for plain in ["block", "1e", "e5", "state", "1.5e-x", "-e3"] {
            assert!(power(plain).is_none(), "{plain}");
        }
        assert_eq!(power("-2.5e31").unwrap(), "$-2.5 \\times 10^{31}$");
    }
}
