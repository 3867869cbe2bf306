//! Codes of areas in the forms that people use: GEOIDs in digits, with the prefix of data.census.gov
//! (`1400000US44001000100`), or in the form of NHGIS (`G4400010000100`). A leading zero that a spreadsheet dropped is
//! not guessed: the error names the likely code.

/// The digits of a GEOID in any of these forms; `None` for other text.
pub fn digits(text: &str) -> Option<String> {
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((prefix, rest)) = text.split_once("US") {
        return (prefix.len() == 7 && all_digits(prefix) && all_digits(rest)).then(|| rest.to_string());
    }
    match text.strip_prefix('G') {
        Some(rest) if all_digits(rest) => nhgis(rest),
        Some(_) => None,
        None => all_digits(text).then(|| text.to_string()),
    }
}

/// NHGIS has a zero after the state's digits and one after the county's.
fn nhgis(rest: &str) -> Option<String> {
    let is_zero = |at: usize| rest.as_bytes().get(at) == Some(&b'0');
    let whole = match rest.len() {
        3 => is_zero(2),
        7 | 13 | 14 | 17 => is_zero(2) && is_zero(6),
        _ => false,
    };
    let part = |from: usize, to: usize| rest.get(from..to.min(rest.len())).unwrap_or_default();
    whole.then(|| [part(0, 2), part(3, 6), part(7, rest.len())].concat())
}

/// Whether a FIPS code belongs to a state or its equivalent.
pub(super) fn is_state(state: u64) -> bool {
    matches!(state, 1..=56 if !matches!(state, 3 | 7 | 14 | 43 | 52)) || matches!(state, 60 | 66 | 69 | 72 | 78)
}

/// A code that lacks its leading zero, completed: a code of `needed` digits in an existing state.
pub fn with_zero(digits: &str, needed: usize) -> Option<String> {
    let likely = format!("0{digits}");
    let state = likely.get(..2).and_then(|state| state.parse().ok());
    (likely.len() == needed && state.is_some_and(is_state)).then_some(likely)
}

/// The GEOID of a block: 15 digits in any form, or a spine code.
pub fn block(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "{text:?} is no block: expected a GEOID of 15 digits, or a spine code that ends in 16 digits with the block group \
             twice"
        )
    };
    let digits = digits(text).ok_or_else(wrong)?;
    if let Some(likely) = with_zero(&digits, 15) {
        return Err(format!("{text:?} has 14 digits, and a block 15: its leading zero is missing, {likely} is likely"));
    }
    let geoid = geoid_of(digits.as_bytes()).ok_or_else(wrong)?;
    match is_state(geoid / 10_u64.pow(13)) {
        true => Ok(geoid),
        false => Err(format!("{text:?}: there is no state {:02}", geoid / 10_u64.pow(13))),
    }
}

/// The GEOID of a block in 15 digits, from a spine code or from 16 digits, which contain the digit of the block group
/// twice.
pub fn geoid_of(code: &[u8]) -> Option<u64> {
    if !code.iter().all(u8::is_ascii_digit) || code.len() < 15 {
        return None;
    }
    let digits = |text: &[u8]| text.iter().fold(0_u64, |value, digit| value * 10 + u64::from(digit - b'0'));
    if code.len() == 15 {
        return Some(digits(code));
    }
    let tail = &code[code.len() - 16..];
    (tail[11] == tail[12]).then(|| digits(&tail[..11]) * 10_000 + digits(&tail[12..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_a_code_are_read_as_one() {
        for text in ["44001000100", "1400000US44001000100", "G4400010000100"] {
            assert_eq!(digits(text).as_deref(), Some("44001000100"), "{text}");
        }
        for (text, expected) in
            [("G440", "44"), ("G4400010", "44001"), ("G44000100001001", "440010001001"), ("0500000US09001", "09001")]
        {
            assert_eq!(digits(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "G4410010", "G44000100", "US44", "140000US44", "Providence", "44-001", "1400000US"] {
            assert_eq!(digits(text), None, "{text}");
        }
        for text in
            ["440010001001001", "1000000US440010001001001", "G44000100001001001", "0441000110001014400100010011001"]
        {
            assert_eq!(block(text), Ok(440_010_001_001_001), "{text}");
        }
        assert!(block("90010001001001").unwrap_err().contains("090010001001001 is likely"));
        assert!(block("40010001001001").unwrap_err().contains("040010001001001 is likely"));
        assert!(block("30010001001001").unwrap_err().contains("is no block"));
        assert!(block("030010001001001").unwrap_err().contains("no state 03"));
    }
}
