//! Text that is wrapped between words if its lines are too wide.

/// Text whose lines are wrapped between words if they are wider than `width`; continuation lines are indented by two more blanks.
pub fn broken(text: &str, width: usize) -> String {
    text.split_inclusive('\n').map(|line| broken_line(line, width)).collect()
}

fn broken_line(line: &str, width: usize) -> String {
    let words = line.trim_end_matches('\n');
    if words.chars().count() <= width {
        return line.to_string();
    }
    let indent = words.chars().take_while(|c| *c == ' ').count();
    let end = &line[words.len()..];
    let after = format!("\n{}", " ".repeat(indent + 2));
    format!("{}{}{end}", " ".repeat(indent), wrapped(words, width.saturating_sub(indent + 2)).join(&after))
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
        let text = broken(&format!("  source: {long}\nnext\n"), 60);
        assert!(text.starts_with("  source: word") && text.contains("\n    word") && text.ends_with("word\nnext\n"));
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert_eq!(broken("short\n\nlines\n", 60), "short\n\nlines\n");
    }
}
