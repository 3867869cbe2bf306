//! Reads the commands and listings of a document in Markdown.
//!
//! A block ```` ```console ```` contains commands, each after `$ `, and their output; a line `...` stands for any lines, and `...` at the
//! end of a line for anything. A block ```` ```sh ```` contains only commands. A comment before a block states what it needs: `<!-- needs
//! facts -->` (the folder of public data), `<!-- not run: reason -->`.

// Each test uses only a part.
#![allow(dead_code)]

/// A block of commands.
pub struct Block {
    /// Its first line in the document, from 1.
    pub line: usize,
    /// The text of the comment before it, between `<!--` and `-->`.
    pub note: String,
    /// Whether the output of the commands is shown.
    pub is_listing: bool,
    pub commands: Vec<Command>,
}

/// A command, and its output if that is shown.
pub struct Command {
    pub line: usize,
    pub text: String,
    pub printed: Vec<String>,
}

/// All blocks of commands of a document.
pub fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut note = String::new();
    let mut lines = document.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            if let Some(text) = line.strip_prefix("<!--") {
                note = text.trim_end_matches("-->").trim().to_string();
            } else if !line.trim().is_empty() {
                note.clear();
            }
            continue;
        };
        let body: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| *line != "```").collect();
        let is_listing = language == "console";
        if is_listing || language == "sh" {
            let commands = commands(&body, is_listing);
            blocks.push(Block { line: at + 1, note: std::mem::take(&mut note), is_listing, commands });
        }
        note.clear();
    }
    blocks
}

fn commands(body: &[(usize, &str)], is_listing: bool) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    let mut continued = false;
    for (at, line) in body {
        let begins = if is_listing { line.strip_prefix("$ ") } else { Some(*line) };
        if continued {
            if let Some(last) = commands.last_mut() {
                last.text += line.trim_start();
            }
        } else if let Some(text) = begins {
            commands.push(Command { line: at + 1, text: text.to_string(), printed: Vec::new() });
        } else if let Some(last) = commands.last_mut() {
            last.printed.push(line.to_string());
            continue;
        }
        continued = false;
        if let Some(last) = commands.last_mut()
            && let Some(begun) = last.text.strip_suffix('\\')
        {
            (last.text, continued) = (begun.to_string(), true);
        }
    }
    commands.retain(|command| !command.text.trim().is_empty() && !command.text.starts_with('#'));
    commands
}

/// The command without the comment that follows it.
pub fn without_comment(text: &str) -> &str {
    text.split_once(" # ").map_or(text, |(command, _)| command).trim()
}
