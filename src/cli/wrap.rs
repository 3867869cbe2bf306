//! Text broken between words where its lines are too wide.

/// Tables and text are at most so wide where they can be broken.
pub const WIDTH: usize = 100;

/// Text whose lines are broken between words where they are too wide; what follows is set in by two more blanks.
pub fn broken(text: &str) -> String {
    text.split_inclusive('\n').map(broken_line).collect()
}

fn broken_line(line: &str) -> String {
    let words = line.trim_end_matches('\n');
    if words.chars().count() <= WIDTH {
        return line.to_string();
    }
    let indent = words.chars().take_while(|c| *c == ' ').count();
    let end = &line[words.len()..];
    let after = format!("\n{}", " ".repeat(indent + 2));
    format!("{}{}{end}", " ".repeat(indent), wrapped(words, WIDTH - indent - 2).join(&after))
}

/// Words in lines of at most `width` characters; a longer word has a line of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let at = lines.len() - 1;
        let long = lines[at].chars().count() + 1 + word.chars().count() > width;
        match lines[at].as_str() {
            "" => lines[at].push_str(word),
            _ if long => lines.push(word.to_string()),
            _ => {
                lines[at].push(' ');
                lines[at].push_str(word);
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_lines_are_broken_between_words_and_set_in() {
        let long = ["word"; 40].join(" ");
        let text = broken(&format!("  source: {long}\nnext\n"));
        assert!(text.starts_with("  source: word") && text.contains("\n    word") && text.ends_with("word\nnext\n"));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(broken("short\n\nlines\n"), "short\n\nlines\n");
    }
}
