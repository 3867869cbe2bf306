//! SafeTab's input: what the bureau's files may say, what is refused and how it is said, and who belongs to which group.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use dp_assay::{
    numeric::rational::parse,
    release::Release,
    safetab::{
        groups::{FILES, Iteration, Kind, Specification},
        schema::{
            Code, Combination, Findings, Geography, Granularity, HEADINGS, IterationCode, Level, Pass, Persons,
            Privacy, RegionType, Rule, Settings, check_persons,
        },
        synthetic::{Population, write_geography},
    },
    spine::blocks::{Blocks, Kind as Entity},
};
use tempfile::TempDir;

#[path = "../scripts/make-examples.rs"]
mod make_examples;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/examples/safetab");

/// A generator for tests: what it gives depends on the seed alone.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        (1..all.len()).for_each(|place| all.swap(place, self.below(place as u64 + 1) as usize));
    }
}

/// The folder of public data; says so where it is not there.
fn facts(folder: &str) -> Option<PathBuf> {
    let found =
        std::env::var_os("ASSAY_FACTS").filter(|path| !path.is_empty()).map(|path| Path::new(&path).join(folder));
    let found = found.filter(|path| path.is_dir());
    if found.is_none() {
        eprintln!("skipped: ASSAY_FACTS does not name a folder of public data with {folder}");
    }
    found
}

/// A copy of the example that may be spoilt.
fn copy() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(EXAMPLE).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    folder
}

fn read_settings(folder: &Path) -> Settings {
    let mut findings = Findings::new();
    let settings = Settings::read(&folder.join("config.json"), &mut findings).unwrap();
    findings.into_result().unwrap();
    settings
}

fn read_specification(folder: &Path, settings: &Settings) -> Specification {
    let mut findings = Findings::new();
    let specification = Specification::read(folder, settings, &mut findings).unwrap();
    findings.into_result().unwrap();
    specification
}

fn read_geography(path: &Path, settings: &Settings) -> Geography {
    let mut findings = Findings::new();
    let geography = Geography::read(path, settings, &mut findings).unwrap();
    findings.into_result().unwrap();
    geography
}

/// All of a folder but the persons, which must be without fault.
fn read_all(folder: &Path) -> (Settings, Specification, Geography) {
    let settings = read_settings(folder);
    let specification = read_specification(folder, &settings);
    let geography = read_geography(&folder.join("GRF-C.txt"), &settings);
    (settings, specification, geography)
}

fn check(path: &Path, all: &(Settings, Specification, Geography)) -> (Persons, Findings) {
    let mut findings = Findings::new();
    let persons = check_persons(path, &all.0, &all.1, &all.2, &mut findings, |_| {});
    (persons, findings)
}

fn classes() -> impl Iterator<Item = (Granularity, Level)> {
    Granularity::ALL.into_iter().flat_map(|granularity| Level::ALL.map(|level| (granularity, level)))
}

fn code(number: u16) -> Code {
    Code::new(number).unwrap()
}

#[test]
fn the_example_is_what_its_script_writes() {
    let folder = tempfile::tempdir().unwrap();
    make_examples::write_examples(folder.path()).unwrap();
    let names =
        |folder: &Path| -> BTreeSet<_> { fs::read_dir(folder).unwrap().map(|at| at.unwrap().file_name()).collect() };
    assert_eq!(names(folder.path()), names(Path::new(EXAMPLE)));
    for name in names(folder.path()) {
        assert_eq!(
            fs::read(folder.path().join(&name)).unwrap(),
            fs::read(Path::new(EXAMPLE).join(&name)).unwrap(),
            "{name:?}"
        );
    }
}

#[test]
fn the_example_is_without_fault() {
    let folder = Path::new(EXAMPLE);
    let all = read_all(folder);
    let (persons, findings) = check(&folder.join("person-records.txt"), &all);
    assert!(findings.is_empty(), "{findings}");
    assert_eq!(persons.records, 500);
    assert_eq!(persons.united_states + persons.puerto_rico, 500);
    assert!(persons.puerto_rico > 10 && persons.combinations.len() > 30);
    let (settings, specification, geography) = all;
    assert_eq!(settings.privacy(), Privacy::ZeroConcentrated);
    assert_eq!(settings.state_filter_us(), [1, 2]);
    assert_eq!(settings.gamma(), &parse("1/10").unwrap());
    assert_eq!(settings.budget(RegionType::PrTract, Level::One), &parse("1/4").unwrap());
    assert_eq!(settings.thresholds(RegionType::Aiannh, Level::Two), [20, 60, 120]);
    for (granularity, level) in classes() {
        assert_eq!(specification.stability(granularity, level), 9);
    }
    // Coarse only below the states, detailed only above.
    let keys = |granularity| {
        let keys = specification.key_set(granularity, Level::Two);
        keys.iter().map(|key| (key.iteration.number(), key.detailed_only)).collect::<Vec<_>>()
    };
    assert!(
        keys(Granularity::Coarse).contains(&(1022, false)) && !keys(Granularity::Detailed).contains(&(1022, false))
    );
    assert!(keys(Granularity::Detailed).contains(&(1021, true)) && !keys(Granularity::Coarse).contains(&(1021, true)));
    assert_eq!(geography.entities(RegionType::Usa), ["1"]);
    assert_eq!(geography.entities(RegionType::PrPlace), ["7210001"]);
    assert_eq!(geography.entities(RegionType::Aiannh), ["0040", "2415"]);
}

/// Regions by their definition, from the text of a GRF-C.
fn expected_regions(row: &str, region_type: RegionType) -> Option<String> {
    let fields: Vec<&str> = row.split('|').collect();
    let [state, county, tract, _, place, area] = fields[..] else { panic!("{row}") };
    let is_puerto_rico = state == "72";
    let region = match region_type.name().trim_start_matches("PR-") {
        "USA" => "1".to_string(),
        "STATE" => state.to_string(),
        "COUNTY" => format!("{state}{county}"),
        "TRACT" => format!("{state}{county}{tract}"),
        "PLACE" if place == "99999" => return None,
        "PLACE" => format!("{state}{place}"),
        _ if area == "9999" => return None,
        _ => area.to_string(),
    };
    (is_puerto_rico == region_type.name().starts_with("PR-")).then_some(region)
}

#[test]
fn blocks_lie_in_their_regions() {
    let (settings, _, geography) = read_all(Path::new(EXAMPLE));
    let text = fs::read_to_string(Path::new(EXAMPLE).join("GRF-C.txt")).unwrap();
    for region_type in RegionType::ALL {
        let mut all = BTreeSet::new();
        for row in text.lines().skip(1) {
            let geoid: u64 = row.split('|').take(4).collect::<String>().parse().unwrap();
            let block = geography.find(geoid).unwrap();
            assert_eq!(geography.geoids()[block as usize], geoid);
            let region = geography.region(block, region_type);
            let region = region.map(|region| geography.entities(region_type)[region as usize].clone());
            assert_eq!(region, expected_regions(row, region_type), "{row} {region_type}");
            all.extend(region);
        }
        assert!(all.iter().eq(geography.entities(region_type)));
        assert_eq!(region_type.name().parse::<RegionType>().unwrap(), region_type);
    }
    assert!(geography.find(10_010_001_001_009).is_none() && geography.find(0).is_none());
    assert!(settings.runs(Pass::PuertoRico));
    // States that are not run have blocks and no regions.
    let folder = copy();
    let config = fs::read_to_string(folder.path().join("config.json")).unwrap();
    let config = config.replace("\"01\", \"02\"", "\"02\"").replace("\"run_pr\": true", "\"run_pr\": false");
    fs::write(folder.path().join("config.json"), config).unwrap();
    let all = read_all(folder.path());
    assert_eq!(all.2.len(), geography.len());
    assert_eq!(all.2.entities(RegionType::State), ["02"]);
    assert!(all.2.entities(RegionType::PrTract).is_empty());
    let persons = check(&folder.path().join("person-records.txt"), &all).0;
    assert!(persons.records == 500 && persons.united_states < 300 && persons.puerto_rico == 0);
}

/// The iterations of a person by their definition.
fn by_definition(
    iterations: &[Iteration],
    pairs: &[(IterationCode, Code)],
    races: &[Code],
    ethnicity: Code,
) -> Vec<IterationCode> {
    let belongs = |iteration: &Iteration, code: &Code| pairs.contains(&(iteration.code, *code));
    let counts = |iteration: &&Iteration| match iteration.kind {
        Kind::Alone => races.iter().all(|race| belongs(iteration, race)),
        Kind::InCombination => races.iter().any(|race| belongs(iteration, race)),
        Kind::Ethnicity => belongs(iteration, &ethnicity),
    };
    iterations.iter().filter(counts).map(|iteration| iteration.code).collect()
}

fn is_chosen(iteration: &Iteration, granularity: Granularity, level: Level) -> bool {
    let elsewhere = match granularity {
        Granularity::Detailed => iteration.coarse_only,
        Granularity::Coarse => iteration.detailed_only,
    };
    iteration.level == level && !elsewhere
}

#[test]
fn iterations_are_those_of_the_definition_and_never_more_than_the_stability() {
    let mut numbers = Numbers(5);
    let (mut attained, mut beyond_the_formula) = (0, 0);
    for _ in 0..400 {
        let codes: Vec<Code> = (0..3 + numbers.below(4)).map(|number| code(1000 + number as u16)).collect();
        let count = 1 + numbers.below(9) as u16;
        let iterations: Vec<Iteration> = (0..count)
            .map(|number| {
                let only = numbers.below(4);
                Iteration {
                    code: IterationCode::read(format!("{:04}", 7 * number).as_bytes()).unwrap(),
                    name: String::new(),
                    kind: [Kind::Alone, Kind::InCombination, Kind::Ethnicity][numbers.below(3) as usize],
                    level: Level::ALL[numbers.below(2) as usize],
                    detailed_only: only == 0,
                    coarse_only: only == 1,
                }
            })
            .collect();
        let mut pairs: Vec<(IterationCode, Code)> = Vec::new();
        for iteration in &iterations {
            pairs.extend(codes.iter().filter(|_| numbers.below(2) == 0).map(|code| (iteration.code, *code)));
        }
        let most = 1 + numbers.below(4) as u32;
        let mut given = (iterations.clone(), pairs.clone());
        numbers.shuffle(&mut given.0);
        numbers.shuffle(&mut given.1);
        let specification = Specification::new(most, codes.iter().rev().copied(), given.0, &given.1);
        for (granularity, level) in classes() {
            let chosen: Vec<Iteration> =
                iterations.iter().filter(|iteration| is_chosen(iteration, granularity, level)).cloned().collect();
            let keys = specification.key_set(granularity, level);
            assert!(
                keys.iter()
                    .map(|key| (key.iteration, key.detailed_only))
                    .eq(chosen.iter().map(|it| (it.code, it.detailed_only)))
            );
            let mut largest = 0;
            for subset in 1..1_u32 << codes.len() {
                let races: Vec<Code> = codes
                    .iter()
                    .enumerate()
                    .filter(|(place, _)| subset >> place & 1 == 1)
                    .map(|(_, code)| *code)
                    .collect();
                for ethnicity in &codes {
                    let mut reported = races.clone();
                    numbers.shuffle(&mut reported);
                    reported.push(reported[0]);
                    let combination = Combination::new(reported, *ethnicity);
                    let answer = specification.iterations(&combination, granularity, level);
                    if races.len() > most as usize {
                        assert!(answer.unwrap_err().to_string().contains("race codes"));
                        continue;
                    }
                    let expected = by_definition(&chosen, &pairs, &races, *ethnicity);
                    assert_eq!(answer.unwrap(), expected);
                    largest = largest.max(expected.len() as u32);
                }
            }
            let stability = specification.stability(granularity, level);
            assert!(largest <= stability);
            attained += u32::from(largest == stability && largest > 0);
            let most_of = |kind: Kind| {
                let of = |code: &Code| {
                    chosen.iter().filter(|it| it.kind == kind && pairs.contains(&(it.code, *code))).count()
                };
                codes.iter().map(of).max().unwrap_or(0) as u32
            };
            let formula = most_of(Kind::Alone) * most.max(2) + most_of(Kind::Ethnicity);
            assert!(stability >= formula);
            beyond_the_formula += u32::from(largest > formula);
        }
    }
    // The bound is met, and the production's formula is exceeded where the two kinds differ in structure.
    assert!(attained > 100 && beyond_the_formula > 100, "{attained} {beyond_the_formula}");
}

#[test]
fn the_formula_of_the_production_is_no_bound_by_itself() {
    // Eight codes alone in one iteration, each in combination in one of its own: every code has one of each, as the
    // bureau's own checks demand, and yet a person has nine iterations of race.
    let codes: Vec<Code> = (0..8).map(|number| code(1000 + number)).collect();
    let iteration = |number: u16, kind: Kind| Iteration {
        code: IterationCode::read(format!("{number:04}").as_bytes()).unwrap(),
        name: String::new(),
        kind,
        level: Level::Two,
        detailed_only: false,
        coarse_only: false,
    };
    let mut iterations = vec![iteration(1, Kind::Alone)];
    iterations.extend((2..10).map(|number| iteration(number, Kind::InCombination)));
    let alone = codes.iter().map(|code| (iterations[0].code, *code));
    let combined = codes.iter().zip(&iterations[1..]).map(|(code, iteration)| (iteration.code, *code));
    let pairs: Vec<_> = alone.chain(combined).collect();
    let specification = Specification::new(8, codes.iter().copied(), iterations, &pairs);
    let all = Combination::new(codes, code(1000));
    assert_eq!(specification.iterations(&all, Granularity::Coarse, Level::Two).unwrap().len(), 9);
    assert_eq!(specification.stability(Granularity::Coarse, Level::Two), 9);
    assert_eq!(specification.stability(Granularity::Coarse, Level::One), 0);
}

#[test]
fn the_vetted_cases_hold() {
    let Some(folder) = facts("safetab/toy") else { return };
    let all = read_all(&folder);
    let text = fs::read_to_string(folder.join("race_eth_codes_to_iterations_testcases.txt")).unwrap();
    let mut cases = 0;
    for row in text.lines().skip(1) {
        let fields: Vec<&str> = row.trim_end().split('|').collect();
        let codes = |text: &str| -> Vec<u16> { text.split(',').map(|code| code.parse().unwrap()).collect() };
        let combination = Combination::new(codes(fields[0]).into_iter().map(code), code(codes(fields[1])[0]));
        for (granularity, expected) in [(Granularity::Detailed, fields[2]), (Granularity::Coarse, fields[3])] {
            let both = Level::ALL.map(|level| all.1.iterations(&combination, granularity, level).unwrap());
            let found: BTreeSet<u16> = both.iter().flatten().map(|iteration| iteration.number()).collect();
            assert_eq!(found, codes(expected).into_iter().collect(), "{row}");
        }
        cases += 1;
    }
    assert_eq!(cases, 12);
    let (persons, findings) = check(&folder.join("person-records.txt"), &all);
    assert!(findings.is_empty(), "{findings}");
    assert_eq!((persons.records, persons.united_states, persons.puerto_rico), (10, 8, 0));
    // With three race codes, at level 1 without those that are coarse only.
    let changed = tempfile::tempdir().unwrap();
    let config = fs::read_to_string(folder.join("config.json"))
        .unwrap()
        .replace("\"max_race_codes\": 8", "\"max_race_codes\": 3");
    fs::write(changed.path().join("config.json"), config).unwrap();
    let specification = read_specification(&folder, &read_settings(changed.path()));
    assert_eq!(specification.stability(Granularity::Detailed, Level::One), 4);
    assert_eq!(specification.key_set(Granularity::Detailed, Level::One).len(), 14);
}

#[test]
fn the_specification_of_the_production_is_read() {
    let Some(folder) = facts("safetab/production") else { return };
    let settings = read_settings(&folder);
    let specification = read_specification(&folder, &settings);
    let rows = |name: &str| -> Vec<Vec<String>> {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let rows = text.lines().skip(1).filter(|row| !row.trim().is_empty());
        rows.map(|row| row.trim_end().split('|').map(String::from).collect()).collect()
    };
    for (granularity, flag) in [(Granularity::Detailed, 1), (Granularity::Coarse, 2)] {
        for level in Level::ALL {
            assert_eq!(specification.stability(granularity, level), 9);
            let mut expected: Vec<(u16, bool)> = Vec::new();
            for row in rows(FILES[0]).iter().chain(&rows(FILES[1])) {
                let (detailed_only, coarse_only) = (&row[row.len() - 2], &row[row.len() - 1]);
                let elsewhere = [coarse_only, detailed_only][flag - 1] == "True";
                if row[2] == level.to_string() && !elsewhere {
                    expected.push((row[0].parse().unwrap(), detailed_only == "True"));
                }
            }
            expected.sort_unstable();
            let keys = specification.key_set(granularity, level);
            assert!(keys.iter().map(|key| (key.iteration.number(), key.detailed_only)).eq(expected));
        }
    }
    // The budgets are those of the release that is bundled, which was written from the same file independently.
    for (name, pass) in [("ddhca-us", Pass::UnitedStates), ("ddhca-pr", Pass::PuertoRico)] {
        let release = Release::find(name).unwrap();
        let mut levels: Vec<String> = Vec::new();
        for (region_type, level) in
            pass.region_types().iter().flat_map(|region| Level::ALL.map(|level| (region, level)))
        {
            let budget = settings.budget(*region_type, level);
            if *budget > 0 {
                levels.push(format!("{region_type} level {level}"));
                let composition = release.composition(&[levels.last().unwrap()], None).unwrap();
                assert_eq!(composition.rho(), budget, "{region_type} {level}");
            }
        }
        assert!(release.levels.iter().map(|level| &level.name).eq(&levels));
    }
    assert_eq!(settings.state_filter_us().len(), 51);
}

#[test]
fn neither_order_nor_files_nor_line_ends_change_the_combinations() {
    let folder = copy();
    let all = read_all(folder.path());
    let path = folder.path().join("person-records.txt");
    let expected = check(&path, &all).0;
    let text = fs::read_to_string(&path).unwrap();
    let (headings, rows) = text.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    let same = |path: &Path| {
        let (persons, findings) = check(path, &all);
        assert!(findings.is_empty(), "{findings}");
        assert_eq!((persons.records, &persons.combinations), (expected.records, &expected.combinations));
    };
    let mut numbers = Numbers(9);
    for end in ["\n", "\r\n"] {
        numbers.shuffle(&mut rows);
        fs::write(&path, format!("{headings}{end}{}", rows.join(end))).unwrap();
        same(&path);
    }
    fs::write(&path, format!("\u{feff}{headings}\r\n\n{}\r\n\r\n", rows.join("\n\n"))).unwrap();
    same(&path);
    let parts = tempfile::tempdir().unwrap();
    fs::write(parts.path().join("b.csv"), format!("{headings}\n{}\n", rows[..123].join("\n"))).unwrap();
    fs::write(parts.path().join("a.txt"), format!("{headings}\n{}\n", rows[123..].join("\n"))).unwrap();
    fs::write(parts.path().join("notes.md"), "no persons").unwrap();
    same(parts.path());
    // The other files, too.
    for name in ["GRF-C.txt", "config.json"].into_iter().chain(FILES) {
        let path = folder.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("\u{feff}{}\r\n", text.replace('\n', "\r\n"))).unwrap();
    }
    let again = read_all(folder.path());
    assert_eq!(again.2.geoids(), all.2.geoids());
    assert_eq!(again.1.all_iterations(), all.1.all_iterations());
}

/// Reads everything of a folder and returns what was found.
fn findings_of(folder: &Path) -> Findings {
    let mut findings = Findings::new();
    if let Some(settings) = Settings::read(&folder.join("config.json"), &mut findings) {
        let specification = Specification::read(folder, &settings, &mut findings);
        let geography = Geography::read(&folder.join("GRF-C.txt"), &settings, &mut findings);
        if let Some((specification, geography)) = specification.zip(geography) {
            let persons = folder.join("person-records.txt");
            check_persons(&persons, &settings, &specification, &geography, &mut findings, |_| {});
        }
    }
    findings
}

/// Puts text in place of what stands in a file, and expects a finding of a rule at a line and column.
fn expect(name: &str, old: &str, new: &[u8], rule: Rule, line: u64, column: u32, why: &str) {
    let folder = copy();
    let path = folder.path().join(name);
    let text = fs::read(&path).unwrap();
    let place = text.windows(old.len()).position(|part| part == old.as_bytes()).unwrap_or_else(|| panic!("{old:?}"));
    fs::write(&path, [&text[..place], new, &text[place + old.len()..]].concat()).unwrap();
    let findings = findings_of(folder.path());
    let found = findings.iter().find(|finding| finding.rule == rule && finding.file.ends_with(name));
    let found = found.unwrap_or_else(|| panic!("{old:?} to {new:?}: {findings}"));
    assert_eq!((found.line, found.column), (line, column), "{findings}");
    let report = findings.into_result().unwrap_err().to_string();
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
    // Cut in the middle of the last row.
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
    let (persons, findings) = check(&path, &all);
    assert_eq!(persons.records, 500);
    let kinds =
        [Rule::Value, Rule::UnknownBlock, Rule::UnknownCode, Rule::AfterNull].map(|rule| findings.count_of(rule));
    // Age, sex, householder, CENRACE, QRACE1 and QSPAN; the block; 1234; 1010.
    assert_eq!(kinds, [6000, 1000, 1000, 1000]);
    assert_eq!(findings.iter().count(), 90);
    let lines: Vec<u64> =
        findings.iter().filter(|finding| finding.field == "QAGE").map(|finding| finding.line).collect();
    assert!(lines.into_iter().eq(502..512));
    assert!(
        findings.to_string().contains("QAGE: value not allowed, 1000 times, of which the first 10\n"),
        "{findings}"
    );
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
        let (persons, findings) = pool.install(|| check(&path, &all));
        assert_eq!(persons.records, 160_000 - 7);
        assert!(findings.iter().map(|finding| finding.line as usize).eq(broken), "{findings}");
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
        let findings = findings_of(folder.path());
        let found =
            findings.iter().find(|finding| finding.rule == Rule::LongLine).unwrap_or_else(|| panic!("{findings}"));
        let rows = fs::read_to_string(Path::new(EXAMPLE).join(name)).unwrap().lines().count() as u64;
        assert_eq!(found.line, rows + 1, "{name}");
        assert!(found.value.len() < 400);
        // Nothing but a line without an end, and a line that is merely too long.
        fs::write(&path, "").unwrap();
        grow(&path);
        let findings = findings_of(folder.path());
        assert!(
            findings.iter().any(|finding| finding.rule == Rule::LongLine && finding.line == 1),
            "{name}: {findings}"
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
    // Other columns are ignored, wherever they stand.
    let folder = copy();
    let rows: String =
        text.lines().map(|row| format!("x|{}|\u{e9} \n", row.split('|').rev().collect::<Vec<_>>().join("|"))).collect();
    let settings = read_settings(folder.path());
    let before = read_geography(&folder.path().join(NAME), &settings);
    fs::write(folder.path().join(NAME), rows).unwrap();
    let after = read_geography(&folder.path().join(NAME), &settings);
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
        let findings = findings_of(folder.path());
        assert!(
            findings.iter().any(|finding| finding.rule == Rule::Unreadable && finding.file.ends_with(name)),
            "{findings}"
        );
        fs::create_dir(folder.path().join(name)).unwrap();
        assert_eq!(findings_of(folder.path()).count_of(Rule::Unreadable), 1);
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
        let mut findings = Findings::new();
        assert!(Settings::read(&path, &mut findings).is_none());
        assert!(!findings.is_empty());
    }
    // Every key but the chance of suppression has to be there.
    for line in whole.lines().filter(|line| line.starts_with("  \"") && line.ends_with(',') && !line.contains("chance"))
    {
        fs::write(&path, whole.replace(&format!("{line}\n"), "")).unwrap();
        let mut findings = Findings::new();
        Settings::read(&path, &mut findings);
        assert_eq!(findings.count_of(Rule::MissingKey), 1, "{line}: {findings}");
    }
}

#[test]
fn only_the_first_codes_are_taken_where_fewer_are_allowed() {
    let folder = copy();
    let path = folder.path().join("config.json");
    let config = fs::read_to_string(&path).unwrap().replace("\"max_race_codes\": 8", "\"max_race_codes\": 3");
    fs::write(&path, config).unwrap();
    let all = read_all(folder.path());
    let persons = folder.path().join("one.txt");
    let row = "030|1|False|72|031|050901|2041|02|3010|1010|3010|1020|2010|Null|Null|Null|9990";
    fs::write(&persons, format!("{}\n{row}\n", HEADINGS.join("|"))).unwrap();
    let (found, findings) = check(&persons, &all);
    assert!(findings.is_empty(), "{findings}");
    assert_eq!(found.combinations, [Combination::new([code(1010), code(3010)], code(9990))]);
}

/// The rules of a row once more, from the text alone.
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
        let (persons, findings) = check(&path, &all);
        let rows = text[headings..].split(|byte| *byte == b'\n').map(|row| row.strip_suffix(b"\r").unwrap_or(row));
        let (correct, broken): (Vec<&[u8]>, Vec<&[u8]>) =
            rows.filter(|row| !row.is_empty()).partition(|row| is_correct(row, &blocks, &codes));
        assert_eq!(persons.records, correct.len() as u64);
        assert_eq!(findings.is_empty(), broken.is_empty() && !correct.is_empty(), "{findings}");
        assert!(findings.count() >= broken.len() as u64);
    }
}

#[test]
fn persons_are_the_same_under_a_seed_whatever_the_threads() {
    let (_, specification, geography) = read_all(Path::new(EXAMPLE));
    let folder = tempfile::tempdir().unwrap();
    let draw = |seed: u64, count: u64, threads: usize| {
        let path = folder.path().join("persons");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let population = Population::new(&geography, &specification, seed).unwrap();
        pool.install(|| population.write(count, &path, |_| {})).unwrap();
        fs::read(path).unwrap()
    };
    let one = draw(1, 100_000, 1);
    assert!(one == draw(1, 100_000, 3));
    assert!(one.starts_with(&draw(1, 70_000, 2)));
    assert!(!one.starts_with(&draw(2, 10, 2)));
    let text = String::from_utf8(one).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|row| row.split('|').collect()).collect();
    let share =
        |keep: &dyn Fn(&Vec<&str>) -> bool| rows.iter().filter(|row| keep(row)).count() as f64 / rows.len() as f64;
    // Their shares are far from one another: no seed brings them out of these bounds.
    assert!((0.86..0.90).contains(&share(&|row| row[9] == "Null")));
    assert!((0.000_05..0.001).contains(&share(&|row| row[15] != "Null")));
    assert!((0.6..0.9).contains(&share(&|row| row[8].starts_with('1'))));
    assert!((0.1..0.3).contains(&share(&|row| row[16].starts_with('4'))));
    let blocks: BTreeSet<String> = rows.iter().map(|row| row[3..7].concat()).collect();
    assert!(blocks.len() < geography.len() && blocks.len() > geography.len() / 2);
}

const RHODE_ISLAND: [&str; 2] = ["BlockAssign_ST44_RI_INCPLACE_CDP.txt", "BlockAssign_ST44_RI_AIANNH.txt"];

fn rhode_island(folder: &Path) -> Blocks {
    let [places, areas] = RHODE_ISLAND.map(|name| folder.join(name));
    let mut blocks = Blocks::read(&places).unwrap();
    blocks.attach(Entity::Place, &places, None, "PLACEFP").unwrap();
    blocks.attach(Entity::Aian, &areas, None, "AIANNHCE").unwrap();
    blocks
}

#[test]
fn rhode_island_becomes_a_grf_c() {
    let Some(folder) = facts("geography/rhode-island") else { return };
    let Some(production) = facts("safetab/production") else { return };
    let [places, areas] = RHODE_ISLAND;
    let blocks = rhode_island(&folder);
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("GRF-C.txt");
    write_geography(&blocks, &path).unwrap();
    let settings = read_settings(&production);
    let specification = read_specification(&production, &settings);
    let geography = read_geography(&path, &settings);
    // What the files say, line by line.
    let column = |name: &str| -> Vec<(u64, String)> {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let row =
            |row: &str| row.split_once('|').map(|(block, rest)| (block.parse().unwrap(), rest.to_string())).unwrap();
        text.lines().skip(1).map(row).collect()
    };
    assert_eq!(geography.len(), column(places).len());
    for (geoid, place) in column(places) {
        let region = geography.region(geography.find(geoid).unwrap(), RegionType::Place);
        let region = region.map(|region| geography.entities(RegionType::Place)[region as usize].as_str());
        assert_eq!(region.unwrap_or_default(), if place.is_empty() { String::new() } else { format!("44{place}") });
    }
    let in_area = column(areas).iter().filter(|(_, area)| !area.starts_with('|')).count();
    let found =
        (0..geography.len() as u32).filter(|block| geography.region(*block, RegionType::Aiannh).is_some()).count();
    assert_eq!(found, in_area);
    assert_eq!(geography.entities(RegionType::Aiannh), ["2415"]);
    assert_eq!(geography.entities(RegionType::County).len(), 5);
    // Persons on it, with the real codes.
    let persons = out.path().join("persons.txt");
    Population::new(&geography, &specification, 44).unwrap().write(100_000, &persons, |_| {}).unwrap();
    let all = (settings, specification, geography);
    let (found, findings) = check(&persons, &all);
    assert!(findings.is_empty(), "{findings}");
    assert_eq!((found.records, found.united_states), (100_000, 100_000));
    for combination in &found.combinations {
        for (granularity, level) in classes() {
            assert!(all.1.iterations(combination, granularity, level).unwrap().len() <= 9);
        }
    }
}

#[test]
#[ignore = "ten million records, one minute and 800 MB of disk"]
fn ten_million_records_are_checked_in_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("GRF-C.txt");
    let all = match facts("geography/rhode-island").zip(facts("safetab/production")) {
        Some((files, production)) => {
            let blocks = rhode_island(&files);
            write_geography(&blocks, &out).unwrap();
            let settings = read_settings(&production);
            (settings.clone(), read_specification(&production, &settings), read_geography(&out, &settings))
        }
        None => read_all(Path::new(EXAMPLE)),
    };
    let path = folder.path().join("person-records.txt");
    let began = Instant::now();
    Population::new(&all.2, &all.1, 1).unwrap().write(10_000_000, &path, |_| {}).unwrap();
    let invented = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let (persons, findings) = check(&path, &all);
    let checked = began.elapsed().as_secs_f64();
    let combinations = persons.combinations.len();
    eprintln!(
        "{} records, {combinations} combinations: invented in {invented:.1} s, checked in {checked:.1} s",
        persons.records
    );
    assert!(findings.is_empty() && persons.records == 10_000_000);
    assert!(invented < 30.0 && checked < 20.0);
}

#[test]
#[ignore = "a nation of eight million blocks, half a minute, 250 MB of disk and half a GB of memory"]
fn a_nation_of_blocks_is_read_in_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let settings = read_settings(Path::new(EXAMPLE));
    let path = folder.path().join("GRF-C.txt");
    let block = |number: u64| (1 + number % 2) * 10_u64.pow(13) + number / 100 * 10_000 + number % 100;
    write_geography(&Blocks::from_geoids((0..8_000_000).map(block).collect()).unwrap(), &path).unwrap();
    let began = Instant::now();
    let geography = read_geography(&path, &settings);
    eprintln!("{} blocks in {:.1} s", geography.len(), began.elapsed().as_secs_f64());
    assert_eq!(geography.len(), 8_000_000);
    assert!(began.elapsed().as_secs() < 30);
}
