//! The separator of a file, from its header or from a first line such as `sep=;`.

/// The supported separators, with their names.
const SEPARATORS: [(u8, &str); 4] = [(b',', "comma"), (b';', "semicolon"), (b'\t', "tab"), (b'|', "bar")];

/// The name of a separator.
pub(super) fn name_of(separator: u8) -> &'static str {
    SEPARATORS.iter().find(|(byte, _)| *byte == separator).map_or("comma", |(_, name)| name)
}

/// The separator in a line such as `sep=;`, or the reason why it is not supported. `None` for any other line. The line is without its end.
pub(super) fn declared(line: &[u8]) -> Option<Result<u8, String>> {
    let inner = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    let (name, rest) = inner.split_at_checked(4)?;
    if !name.eq_ignore_ascii_case(b"sep=") {
        return None;
    }
    let [separator] = rest else {
        return Some(Err("is a line for Excel, sep= and the separator: one character is needed after it".to_string()));
    };
    Some(match SEPARATORS.iter().any(|(byte, _)| byte == separator) {
        true => Ok(*separator),
        false => Err(format!(
            "says that {:?} separates the cells: commas, semicolons, tabs and bars are read",
            char::from(*separator)
        )),
    })
}

/// The separator in a header outside of quotes; a comma if there is none. An error if there are two.
pub(super) fn separator_of(header: &[u8]) -> Result<u8, String> {
    let mut in_quotes = false;
    let mut found: Vec<u8> = Vec::new();
    for byte in header {
        if *byte == b'"' {
            in_quotes = !in_quotes;
        } else if !in_quotes && SEPARATORS.iter().any(|(separator, _)| separator == byte) && !found.contains(byte) {
            found.push(*byte);
        }
    }
    match found[..] {
        [] => Ok(b','),
        [separator] => Ok(separator),
        [first, second, ..] => Err(format!(
            "the header has a {} and a {} outside of quotes, and either may separate its cells: put a heading that holds one in \
             quotes, or say it in a first line such as sep=;",
            name_of(first),
            name_of(second)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_determines_the_separator() {
        for (header, separator) in [
            ("a,b", b','),
            ("a;b", b';'),
            ("a\tb", b'\t'),
            ("a|b|c", b'|'),
            ("a", b','),
            ("\"a,b\";c", b';'),
            ("", b','),
        ] {
            assert_eq!(separator_of(header.as_bytes()), Ok(separator), "{header}");
        }
        assert!(separator_of(b"a;b,c").unwrap_err().contains("a semicolon and a comma"));
    }

    #[test]
    fn a_line_for_excel_is_understood_or_refused() {
        assert_eq!(declared(b"sep=;"), Some(Ok(b';')));
        assert_eq!(declared(b"SEP=\t"), Some(Ok(b'\t')));
        assert_eq!(declared(b"\"sep=|\""), Some(Ok(b'|')));
        assert!(declared(b"sep=:").unwrap().unwrap_err().contains("':'"));
        assert!(declared(b"sep=").unwrap().is_err() && declared(b"sep=ab").unwrap().is_err());
        assert_eq!(declared(b"separator"), None);
        assert_eq!(declared(b"a"), None);
    }
}
