//! Invalid inputs, and their error messages.

use super::*;

/// Reads all files of a folder and returns the report.
fn report_of(folder: &Path) -> ValidationReport {
    let mut report = ValidationReport::new();
    if let Some(config) = SafeTabConfig::read(&folder.join("config.json"), &mut report) {
        let specification = Specification::read(folder, &config, &mut report);
        let geography = Geography::read(&folder.join("GRF-C.txt"), &config, &mut report);
        if let Some((specification, geography)) = specification.zip(geography) {
            let persons = folder.join("person-records.txt");
            check_persons(&persons, &config, &specification, &geography, &mut report, |_| {});
        }
    }
    report
}

/// Replaces text in a file, and expects a violation of a rule at a line and column.
fn expect(name: &str, old: &str, new: &[u8], rule: Rule, line: u64, column: u32, why: &str) {
    let folder = copy();
    let path = folder.path().join(name);
    let text = fs::read(&path).unwrap();
    let place = text.windows(old.len()).position(|part| part == old.as_bytes()).unwrap_or_else(|| panic!("{old:?}"));
    fs::write(&path, [&text[..place], new, &text[place + old.len()..]].concat()).unwrap();
    let report = report_of(folder.path());
    let found = report.iter().find(|violation| violation.rule == rule && violation.file.ends_with(name));
    let found = found.unwrap_or_else(|| panic!("{old:?} to {new:?}: {report}"));
    assert_eq!((found.line, found.column), (line, column), "{report}");
    let report = report.into_result().unwrap_err().to_string();
    assert!(report.contains(name) && report.contains(why), "{old:?}: {report}");
}

#[test]
fn broken_rows_of_persons_are_found() {
    const NAME: &str = "person-records.txt";
    let text = fs::read_to_string(Path::new(EXAMPLE).join(NAME)).unwrap();
    let row = text.lines().nth(1).unwrap();
    let put = |column: usize, value: &[u8], rule: Rule, at: u32, why: &str| {
        let mut fields: Vec<&[u8]> = row.split('|').map(str::as_bytes).collect();
        fields[column] = value;
        expect(NAME, row, &fields.join(&b'|'), rule, 2, at, why);
    };
    put(0, b"116", Rule::Value, 1, "0 to 115");
    put(0, b"", Rule::Value, 1, "0 to 115");
    put(0, b"-1", Rule::Value, 1, "0 to 115");
    put(0, b"0028", Rule::Value, 1, "three digits");
    put(1, b"3", Rule::Value, 2, "1 or 2");
    put(2, b"true", Rule::Value, 3, "True or False");
    put(3, b"7", Rule::Value, 4, "2 digits");
    put(4, b"31", Rule::Value, 5, "3 digits");
    put(5, b"50901", Rule::Value, 6, "6 digits");
    put(6, b"204a", Rule::Value, 7, "4 digits");
    put(6, b"2049", Rule::UnknownBlock, 4, "720310509012049");
    put(3, b"03", Rule::UnknownBlock, 4, "GRF-C");
    put(7, b"1", Rule::Value, 8, "2 digits");
    put(8, b"Null", Rule::Value, 9, "four digits");
    put(8, b"0101", Rule::Value, 9, "the first not 0");
    put(8, b"1099", Rule::UnknownCode, 9, "race-and-ethnicity-codes.txt");
    put(10, b"1010", Rule::AfterNull, 11, "Null");
    put(9, b"null", Rule::Value, 10, "or Null");
    put(16, b"Null", Rule::Value, 17, "four digits");
    put(16, b"9991", Rule::UnknownCode, 17, "race-and-ethnicity-codes.txt");
    put(2, b"\xff\xfe", Rule::Encoding, 3, "UTF-8");
    put(16, b"9990|", Rule::Fields, 0, "17 fields; this row has 18");
    put(0, b"028 1", Rule::Value, 1, "0 to 115");
    expect(NAME, "QAGE|QSEX", b"QSEX|QAGE", Rule::Headings, 1, 0, "QAGE|QSEX");
    // Truncated in the middle of the last row.
    let last = text.lines().last().unwrap();
    expect(NAME, &format!("{last}\n"), &last.as_bytes()[..40], Rule::Fields, 501, 0, "17 fields");
    expect(NAME, &format!("{last}\n"), &last.as_bytes()[..last.len() - 1], Rule::Value, 501, 17, "four digits");
    expect(NAME, &text, b"", Rule::Empty, 0, 0, "headings");
    expect(NAME, &text, format!("{}\n", HEADINGS.join("|")).as_bytes(), Rule::Empty, 0, 0, "at least one");
}

#[test]
fn all_rules_that_a_row_breaks_are_found_and_the_first_of_each_kind_kept() {
    let folder = copy();
    let path = folder.path().join("person-records.txt");
    let text = fs::read_to_string(&path).unwrap();
    let broken = "116|3|x|99|999|999999|9999|1|Null|1234|Null|1010|Null|Null|Null|Null|12\n".repeat(1000);
    fs::write(&path, text + &broken).unwrap();
    let all = read_all(folder.path());
    let (persons, report) = check(&path, &all);
    assert_eq!(persons.records, 500);
    let kinds = [Rule::Value, Rule::UnknownBlock, Rule::UnknownCode, Rule::AfterNull].map(|rule| report.count_of(rule));
    // Age, sex, householder, CENRACE, QRACE1 and QSPAN; the block; 1234; 1010.
    assert_eq!(kinds, [6000, 1000, 1000, 1000]);
    assert_eq!(report.iter().count(), 90);
    let lines: Vec<u64> =
        report.iter().filter(|violation| violation.field == "QAGE").map(|violation| violation.line).collect();
    assert!(lines.into_iter().eq(502..512));
    assert!(report.to_string().contains("QAGE: value not allowed, 1000 times, of which the first 10\n"), "{report}");
}

#[test]
fn lines_are_counted_across_parts_and_threads() {
    let folder = copy();
    let all = read_all(folder.path());
    let path = folder.path().join("many.txt");
    Population::new(&all.2, &all.1, 3).unwrap().write(160_000, &path, |_| {}).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.len() > 12_000_000);
    let mut rows: Vec<String> = text.lines().map(String::from).collect();
    let broken = [2, 7_000, 60_000, 60_001, 110_000, 159_999, 160_001];
    for line in broken {
        rows[line - 1].replace_range(..3, "999");
    }
    fs::write(&path, rows.join("\n")).unwrap();
    for threads in [1, 2, 3, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (persons, report) = pool.install(|| check(&path, &all));
        assert_eq!(persons.records, 160_000 - 7);
        assert!(report.iter().map(|violation| violation.line as usize).eq(broken), "{report}");
    }
}

#[test]
fn a_line_without_end_is_refused_without_being_read() {
    const TEN_GIGABYTES: u64 = 10_000_000_000;
    let grow = |path: &Path| fs::OpenOptions::new().append(true).open(path).unwrap().set_len(TEN_GIGABYTES).unwrap();
    for name in ["person-records.txt", "GRF-C.txt"].into_iter().chain(FILES) {
        let folder = copy();
        let path = folder.path().join(name);
        grow(&path);
        let began = Instant::now();
        let report = report_of(folder.path());
        let found =
            report.iter().find(|violation| violation.rule == Rule::LongLine).unwrap_or_else(|| panic!("{report}"));
        let rows = fs::read_to_string(Path::new(EXAMPLE).join(name)).unwrap().lines().count() as u64;
        assert_eq!(found.line, rows + 1, "{name}");
        assert!(found.value.len() < 400);
        // A line without an end, and a line that is too long.
        fs::write(&path, "").unwrap();
        grow(&path);
        let report = report_of(folder.path());
        assert!(
            report.iter().any(|violation| violation.rule == Rule::LongLine && violation.line == 1),
            "{name}: {report}"
        );
        assert!(began.elapsed().as_secs() < 20);
    }
    let row = fs::read_to_string(Path::new(EXAMPLE).join("person-records.txt")).unwrap();
    let row = row.lines().nth(1).unwrap().to_string();
    expect(
        "person-records.txt",
        &row,
        format!("{row}{}", " ".repeat(70_000)).as_bytes(),
        Rule::LongLine,
        2,
        0,
        "65536",
    );
    expect("config.json", "{", " ".repeat(70_000).as_bytes(), Rule::Unreadable, 0, 0, "65536");
}

#[test]
fn broken_geographies_are_found() {
    const NAME: &str = "GRF-C.txt";
    let first = "01|001|000100|1000|10100|9999";
    expect(NAME, first, b"01|001|000100|1000|10100", Rule::Fields, 2, 0, "6 fields; this row has 5");
    expect(NAME, first, b"1|001|000100|1000|10100|9999", Rule::Value, 2, 1, "2 digits");
    expect(NAME, first, b"01|001|000100|1000|1010|9999", Rule::Value, 2, 5, "5 digits");
    expect(NAME, first, b"01|001|000100|1000|10100|99 9", Rule::Value, 2, 6, "4 digits");
    expect(NAME, first, b"01|001|000100|1001|10100|9999", Rule::Duplicate, 3, 0, "is in line 2");
    expect(NAME, first, b"01|001|000100|1000|\xff0100|9999", Rule::Encoding, 2, 5, "UTF-8");
    expect(NAME, "PLACEFP", b"PLACE", Rule::Headings, 1, 0, "PLACEFP");
    expect(NAME, "PLACEFP", b"PLACEFP|PLACEFP", Rule::Headings, 1, 0, "once only");
    let text = fs::read_to_string(Path::new(EXAMPLE).join(NAME)).unwrap();
    expect(NAME, &text, b"", Rule::Empty, 0, 0, "headings");
    expect(NAME, &text[54..], b"15|001|000100|1001|10100|9999\n", Rule::Empty, 0, 0, "at least one block");
    // Additional columns are ignored, at any place.
    let folder = copy();
    let rows: String =
        text.lines().map(|row| format!("x|{}|\u{e9} \n", row.split('|').rev().collect::<Vec<_>>().join("|"))).collect();
    let config = read_settings(folder.path());
    let before = read_geography(&folder.path().join(NAME), &config);
    fs::write(folder.path().join(NAME), rows).unwrap();
    let after = read_geography(&folder.path().join(NAME), &config);
    assert_eq!(before.geoids(), after.geoids());
    assert_eq!(before.entities(RegionType::Place), after.entities(RegionType::Place));
}

#[test]
fn broken_specifications_are_found() {
    let [races, ethnicities, codes, map] = FILES;
    let wetland = "1010|Wetland alone|1|True|False|False";
    let put =
        |new: &str, rule: Rule, column: u32, why: &str| expect(races, wetland, new.as_bytes(), rule, 5, column, why);
    put("1010|Wetland alone|1|True|False", Rule::Fields, 0, "6 fields");
    put("10100|Wetland alone|1|True|False|False", Rule::Value, 1, "4 digits");
    put("1010|Wetland alone|3|True|False|False", Rule::Value, 3, "0, 1 or 2");
    put("1010|Wetland alone|1|Yes|False|False", Rule::Value, 4, "True or False");
    put("1010|Wetland alone|1|True|false|False", Rule::Value, 5, "True or False");
    put("1010|Wetland alone|1|True|Null|False", Rule::Contradiction, 5, "levels 1 and 2");
    put("1010|Wetland alone|0|True|Null|False", Rule::Contradiction, 6, "Null at level 0");
    put("1010|Wetland alone|1|True|True|True", Rule::Contradiction, 6, "DETAILED_ONLY");
    expect(races, wetland, b"1001|Wetland alone|1|True|False|False", Rule::Duplicate, 5, 1, "line 2");
    expect(races, wetland, b"1010|W\xe9tland|1|True|False|False", Rule::Encoding, 5, 2, "UTF-8");
    expect(
        ethnicities,
        "1810|Harbor",
        b"1010|Harbor",
        Rule::Duplicate,
        4,
        1,
        "race-characteristic-iterations.txt, line 5",
    );
    expect(races, "\n1510|", b"\n1519|x|2|False|False|False\n1510|", Rule::NoCode, 21, 1, map);
    expect(codes, "1010|Marsh", b"0010|Marsh", Rule::Value, 3, 1, "the first not 0");
    expect(codes, "1011|", b"1010|", Rule::Duplicate, 4, 1, "once");
    expect(map, "1001|1000", b"1999|1000", Rule::UnknownCode, 2, 1, "iterations");
    expect(map, "1001|1000", b"1001|1999", Rule::UnknownCode, 2, 2, codes);
    expect(map, "1001|1000", b"1001|1010", Rule::Duplicate, 3, 2, "line 2");
    expect(map, "1001|1000", b"1024|1010\n1001|1000", Rule::Hierarchy, 0, 2, "level 2");
    expect(map, "1001|1000", b"1001,1000", Rule::Fields, 2, 0, "2 fields");
    for name in FILES {
        let folder = copy();
        fs::remove_file(folder.path().join(name)).unwrap();
        let report = report_of(folder.path());
        assert!(
            report.iter().any(|violation| violation.rule == Rule::Unreadable && violation.file.ends_with(name)),
            "{report}"
        );
        fs::create_dir(folder.path().join(name)).unwrap();
        assert_eq!(report_of(folder.path()).count_of(Rule::Unreadable), 1);
    }
}

#[test]
fn broken_configurations_are_found() {
    let put = |old: &str, new: &str, rule: Rule, line: u64, column: u32, why: &str| {
        expect("config.json", old, new.as_bytes(), rule, line, column, why);
    };
    let usa = "\"privacy_budget_p_level_1_usa\": 0.25";
    put(usa, "\"privacy_budget_p_level_1_usa\": -0.25", Rule::Value, 3, 3, "0, or a number from");
    put(usa, "\"privacy_budget_p_level_1_usa\": \"0.25\"", Rule::Value, 3, 3, "0, or a number from");
    put(usa, "\"privacy_budget_p_level_1_usa\": 1e999999999", Rule::Value, 3, 3, "0, or a number from");
    put(usa, "\"privacy_budget_p_level_1_usa\": 1e-99", Rule::Value, 3, 3, "0, or a number from");
    put(usa, "\"privacy_budget_p_level_1_usa\": NaN", Rule::Syntax, 3, 35, "JSON");
    put(usa, "\"privacy_budget_p_level_1_us\": 0.25", Rule::UnknownKey, 3, 3, "SafeTab-P");
    put(usa, "\"privacy_budget_p_level_1_us\": 0.25", Rule::MissingKey, 0, 0, "privacy_budget_p_level_1_usa");
    put(usa, &format!("{usa},\n  {usa}"), Rule::Duplicate, 4, 3, "once");
    put("_fraction\": 0.1", "_fraction\": 0", Rule::Value, 23, 3, "above 0 and below 1");
    put("_fraction\": 0.1", "_fraction\": 1", Rule::Value, 23, 3, "above 0 and below 1");
    put("chance\": 0.9999", "chance\": 1", Rule::Value, 46, 3, "below 1");
    put("\"max_race_codes\": 8", "\"max_race_codes\": 9", Rule::Value, 2, 3, "1 to 8");
    put("\"max_race_codes\": 8", "\"max_race_codes\": 2.5", Rule::Value, 2, 3, "1 to 8");
    put("\"run_us\": true", "\"run_us\": \"yes\"", Rule::Value, 48, 3, "true or false");
    put(
        "\"run_us\": true,\n  \"run_pr\": true",
        "\"run_us\": false,\n  \"run_pr\": false",
        Rule::Contradiction,
        48,
        3,
        "true",
    );
    put("\"csv\"", "\"parquet\"", Rule::Value, 50, 3, "csv");
    put("\"zcdp\"", "\"gaussian\"", Rule::Value, 52, 3, "puredp");
    put("\"01\", \"02\"", "", Rule::Contradiction, 51, 3, "at least one state");
    put("\"01\", \"02\"", "\"01\", \"01\"", Rule::Value, 51, 3, "once");
    put("\"01\", \"02\"", "\"01\", \"72\"", Rule::Value, 51, 3, "codes of states");
    put("\"01\", \"02\"", "1, 2", Rule::Value, 51, 3, "codes of states");
    put("\"(USA, 1)\": [20, 60, 120]", "\"(USA, 1)\": [60, 20, 120]", Rule::Order, 25, 5, "do not descend");
    put("\"(USA, 1)\": [20, 60, 120]", "\"(USA, 1)\": [20, 120]", Rule::Value, 25, 5, "three");
    put("\"(USA, 1)\": [20, 60, 120]", "\"(USA, 1)\": [20, 60, 12.5]", Rule::Value, 25, 5, "whole");
    put("\"(USA, 1)\"", "\"(USA,1)\"", Rule::UnknownKey, 25, 5, "keys");
    put("\"(USA, 1)\"", "\"(USA, 2)\"", Rule::Duplicate, 26, 5, "once");
    put("\"thresholds_p\": {", "\"thresholds_p\": 3, \"x\": {", Rule::Value, 24, 3, "lists");
    put("\"reader\": \"csv\"", "\"reader\": \"\u{e9}", Rule::Syntax, 51, 0, "JSON");
    expect("config.json", "\"csv\"", b"\"\xff\"", Rule::Encoding, 50, 0, "UTF-8");
    let folder = copy();
    let path = folder.path().join("config.json");
    let whole = fs::read_to_string(&path).unwrap();
    for text in ["", "[]", "{}", "3", &whole[..whole.len() / 2], &"[".repeat(60_000), &"{\"a\":".repeat(10_000)] {
        fs::write(&path, text).unwrap();
        let mut report = ValidationReport::new();
        assert!(SafeTabConfig::read(&path, &mut report).is_none());
        assert!(!report.is_empty());
    }
    // Every key except the probability of suppression is required.
    for line in whole.lines().filter(|line| line.starts_with("  \"") && line.ends_with(',') && !line.contains("chance"))
    {
        fs::write(&path, whole.replace(&format!("{line}\n"), "")).unwrap();
        let mut report = ValidationReport::new();
        SafeTabConfig::read(&path, &mut report);
        assert_eq!(report.count_of(Rule::MissingKey), 1, "{line}: {report}");
    }
}

/// The rules of a row, implemented again from the text only.
fn is_correct(row: &[u8], blocks: &BTreeSet<String>, codes: &BTreeSet<String>) -> bool {
    let Ok(row) = std::str::from_utf8(row) else { return false };
    let fields: Vec<&str> = row.split('|').collect();
    let number =
        |text: &str| if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse::<u32>().ok() } else { None };
    if fields.len() != 17 || fields[0].len() > 3 || number(fields[0]).is_none_or(|age| age > 115) {
        return false;
    }
    let races: Vec<&&str> = fields[8..16].iter().take_while(|field| **field != "Null").collect();
    ["1", "2"].contains(&fields[1])
        && ["True", "False"].contains(&fields[2])
        && blocks.contains(&fields[3..7].join("|"))
        && fields[7].len() == 2
        && number(fields[7]).is_some()
        && !races.is_empty()
        && races.iter().all(|race| codes.contains(**race))
        && fields[8 + races.len()..16].iter().all(|field| *field == "Null")
        && codes.contains(fields[16])
}

#[test]
fn damaged_files_are_judged_row_by_row_and_never_panic() {
    let folder = copy();
    let all = read_all(folder.path());
    let column = |name: &str, end: usize| -> BTreeSet<String> {
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        text.lines().skip(1).map(|row| row.split('|').take(end).collect::<Vec<_>>().join("|")).collect()
    };
    let (blocks, codes) = (column("GRF-C.txt", 4), column(FILES[2], 1));
    let path = folder.path().join("person-records.txt");
    let whole = fs::read(&path).unwrap();
    let headings = HEADINGS.join("|").len() + 1;
    let mut numbers = Numbers(77);
    for round in 0..300 {
        let mut text = whole.clone();
        for _ in 0..1 + numbers.below(200) {
            let place = headings + numbers.below((text.len() - headings) as u64) as usize;
            let other = text[headings + numbers.below((text.len() - headings) as u64) as usize];
            match numbers.below(4) {
                0 => text[place] = numbers.below(256) as u8,
                1 => text[place] = other,
                2 => text.insert(place, other),
                _ => drop(text.remove(place)),
            }
        }
        if round % 3 == 0 {
            text.truncate(headings + numbers.below((text.len() - headings) as u64) as usize);
        }
        fs::write(&path, &text).unwrap();
        let (persons, report) = check(&path, &all);
        let rows = text[headings..].split(|byte| *byte == b'\n').map(|row| row.strip_suffix(b"\r").unwrap_or(row));
        let (correct, broken): (Vec<&[u8]>, Vec<&[u8]>) =
            rows.filter(|row| !row.is_empty()).partition(|row| is_correct(row, &blocks, &codes));
        assert_eq!(persons.records, correct.len() as u64);
        assert_eq!(report.is_empty(), broken.is_empty() && !correct.is_empty(), "{report}");
        assert!(report.count() >= broken.len() as u64);
    }
}

#[test]
fn damaged_public_files_never_panic() {
    let mut numbers = Numbers(13);
    let folder = copy();
    for name in ["config.json", "GRF-C.txt"].into_iter().chain(FILES) {
        let path = folder.path().join(name);
        let whole = fs::read(&path).unwrap();
        let mut broken = 0;
        for _ in 0..150 {
            let mut text = whole.clone();
            for _ in 0..1 + numbers.below(8) {
                let place = numbers.below(text.len() as u64) as usize;
                let other = text[numbers.below(text.len() as u64) as usize];
                match numbers.below(4) {
                    0 => text[place] = numbers.below(256) as u8,
                    1 => text[place] = other,
                    2 => text.insert(place, other),
                    _ => drop(text.remove(place)),
                }
            }
            fs::write(&path, &text).unwrap();
            let report = report_of(folder.path());
            broken += u32::from(!report.is_empty());
            assert!(report.iter().all(|violation| !violation.allowed.is_empty() && !violation.file.is_empty()));
        }
        assert!(broken > 50, "{name}: {broken}");
        fs::write(&path, whole).unwrap();
    }
}
