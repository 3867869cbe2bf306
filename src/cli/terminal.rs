//! The abilities of the terminal: its width, and colour.
//!
//! Only a terminal gets other text than a file or a pipe: piped output is the same on every machine.

use std::io::{self, IsTerminal};

use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::{AnsiColor, Style};

/// The largest width of tables and text in a file or a pipe, if they can be wrapped, and of text on a terminal.
pub const WIDTH: usize = 100;
/// Nothing is wrapped for a narrower terminal.
const NARROWEST: usize = 40;

/// The layout of text.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Tables are wrapped to this number of characters per line, if possible.
    pub width: usize,
    /// Whether names that are still too wide may be cut.
    pub may_cut: bool,
    /// Whether headings and verdicts have a style.
    pub has_colour: bool,
}

impl Layout {
    /// The layout of a file or a pipe.
    pub const PIPED: Layout = Layout { width: WIDTH, may_cut: false, has_colour: false };

    /// The layout of standard output. A terminal has colour, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE`
    /// turns it on everywhere.
    pub fn of_stdout() -> Layout {
        let has_colour = shows_colour(&io::stdout());
        match io::stdout().is_terminal().then(terminal_size::terminal_size).flatten() {
            Some((width, _)) => Layout { width: usize::from(width.0).max(NARROWEST), may_cut: true, has_colour },
            None => Layout { has_colour, ..Layout::PIPED },
        }
    }

    /// Lines of text are no wider than is readable.
    pub fn text_width(&self) -> usize {
        self.width.min(WIDTH)
    }
}

/// Whether a stream shows colour.
fn shows_colour(stream: &impl anstream::stream::RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// Text in a style, if there is colour.
pub fn styled(text: &str, style: Option<Style>) -> String {
    style.map_or_else(|| text.to_string(), |style| format!("{style}{text}{style:#}"))
}

/// The heading of a table.
pub fn heading() -> Style {
    Style::new().bold()
}

/// The style of a cell that is a verdict.
pub fn verdict(cell: &str) -> Option<Style> {
    let colour = |colour: AnsiColor| Some(Style::new().fg_color(Some(colour.into())));
    match cell.split([',', ':']).next().unwrap_or_default() {
        "agrees" | "agrees-as-read" | "holds" | "proven" | "consistent" | "kept" => colour(AnsiColor::Green),
        "differs" | "undecided" | "wider" | "stopped" => colour(AnsiColor::Yellow),
        "disproved" | "deviates" | "broken" | "refused" => colour(AnsiColor::Red),
        _ => None,
    }
}

/// The name of the program before an error on standard error.
pub fn before_error() -> String {
    let style = shows_colour(&io::stderr()).then(|| Style::new().bold().fg_color(Some(AnsiColor::Red.into())));
    styled("assay:", style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_has_a_colour_and_other_words_have_none() {
        let green = verdict("agrees").expect("a style");
        assert_eq!(verdict("agrees, as read"), Some(green));
        assert_ne!(verdict("disproved"), verdict("differs"));
        assert_eq!((verdict("17.14"), verdict("epsilon")), (None, None));
        assert_eq!(styled("agrees", Some(green)), "\u{1b}[32magrees\u{1b}[0m");
        assert_eq!(styled("agrees", None), "agrees");
    }
}
