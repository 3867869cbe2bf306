//! The population groups of a person, and their number.

use super::*;

/// The iterations of a person by their definition.
fn by_definition(
    iterations: &[Iteration],
    pairs: &[(IterationCode, RaceEthCode)],
    races: &[RaceEthCode],
    ethnicity: RaceEthCode,
) -> Vec<IterationCode> {
    let belongs = |iteration: &Iteration, code: &RaceEthCode| pairs.contains(&(iteration.code, *code));
    let counts = |iteration: &&Iteration| match iteration.kind {
        IterationKind::Alone => races.iter().all(|race| belongs(iteration, race)),
        IterationKind::InCombination => races.iter().any(|race| belongs(iteration, race)),
        IterationKind::Ethnicity => belongs(iteration, &ethnicity),
    };
    iterations.iter().filter(counts).map(|iteration| iteration.code).collect()
}

fn is_chosen(iteration: &Iteration, granularity: Granularity, level: IterationLevel) -> bool {
    let elsewhere = match granularity {
        Granularity::Detailed => iteration.coarse_only,
        Granularity::Coarse => iteration.detailed_only,
    };
    iteration.level == level && !elsewhere
}

/// A random iteration.
fn iteration(number: u16, numbers: &mut Numbers) -> Iteration {
    let only = numbers.below(4);
    Iteration {
        code: IterationCode::read(format!("{:04}", 7 * number).as_bytes()).unwrap(),
        name: String::new(),
        kind: [IterationKind::Alone, IterationKind::InCombination, IterationKind::Ethnicity][numbers.below(3) as usize],
        level: IterationLevel::ALL[numbers.below(2) as usize],
        detailed_only: only == 0,
        coarse_only: only == 1,
    }
}

/// All sets of some of these race codes, except the empty one.
fn subsets(codes: &[RaceEthCode]) -> impl Iterator<Item = Vec<RaceEthCode>> {
    (1..1_u32 << codes.len()).map(|subset| {
        let chosen = codes.iter().enumerate().filter(|(place, _)| subset >> place & 1 == 1);
        chosen.map(|(_, code)| *code).collect()
    })
}

#[test]
fn iterations_are_those_of_the_definition_and_never_more_than_the_stability() {
    let mut numbers = Numbers(5);
    let (mut attained, mut beyond_the_formula) = (0, 0);
    for _ in 0..400 {
        let codes: Vec<RaceEthCode> = (0..3 + numbers.below(4)).map(|number| code(1000 + number as u16)).collect();
        let count = 1 + numbers.below(9) as u16;
        let iterations: Vec<Iteration> = (0..count).map(|number| iteration(number, &mut numbers)).collect();
        let mut pairs: Vec<(IterationCode, RaceEthCode)> = Vec::new();
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
            for races in subsets(&codes) {
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
            let most_of = |kind: IterationKind| {
                let of = |code: &RaceEthCode| {
                    chosen.iter().filter(|it| it.kind == kind && pairs.contains(&(it.code, *code))).count()
                };
                codes.iter().map(of).max().unwrap_or(0) as u32
            };
            let formula = most_of(IterationKind::Alone) * most.max(2) + most_of(IterationKind::Ethnicity);
            assert!(stability >= formula);
            beyond_the_formula += u32::from(largest > formula);
        }
    }
    // The bound is attained, and the production formula is exceeded where the two kinds have different structures.
    assert!(attained > 100 && beyond_the_formula > 100, "{attained} {beyond_the_formula}");
}

#[test]
fn the_formula_of_the_production_is_no_bound_by_itself() {
    // Eight codes alone in one iteration, each in combination in a separate one: every code has one of each, as the bureau's own checks
    // require, but a person has nine race iterations.
    let codes: Vec<RaceEthCode> = (0..8).map(|number| code(1000 + number)).collect();
    let iteration = |number: u16, kind: IterationKind| Iteration {
        code: IterationCode::read(format!("{number:04}").as_bytes()).unwrap(),
        name: String::new(),
        kind,
        level: IterationLevel::Two,
        detailed_only: false,
        coarse_only: false,
    };
    let mut iterations = vec![iteration(1, IterationKind::Alone)];
    iterations.extend((2..10).map(|number| iteration(number, IterationKind::InCombination)));
    let alone = codes.iter().map(|code| (iterations[0].code, *code));
    let combined = codes.iter().zip(&iterations[1..]).map(|(code, iteration)| (iteration.code, *code));
    let pairs: Vec<_> = alone.chain(combined).collect();
    let specification = Specification::new(8, codes.iter().copied(), iterations, &pairs);
    let all = Combination::new(codes, code(1000));
    assert_eq!(specification.iterations(&all, Granularity::Coarse, IterationLevel::Two).unwrap().len(), 9);
    assert_eq!(specification.stability(Granularity::Coarse, IterationLevel::Two), 9);
    assert_eq!(specification.stability(Granularity::Coarse, IterationLevel::One), 0);
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
            let both = IterationLevel::ALL.map(|level| all.1.iterations(&combination, granularity, level).unwrap());
            let found: BTreeSet<u16> = both.iter().flatten().map(|iteration| iteration.number()).collect();
            assert_eq!(found, codes(expected).into_iter().collect(), "{row}");
        }
        cases += 1;
    }
    assert_eq!(cases, 12);
    let (persons, report) = check(&folder.join("person-records.txt"), &all);
    assert!(report.is_empty(), "{report}");
    assert_eq!((persons.records, persons.united_states, persons.puerto_rico), (10, 8, 0));
    // With three race codes; at level 1 without the coarse-only iterations.
    let changed = tempfile::tempdir().unwrap();
    let config = fs::read_to_string(folder.join("config.json"))
        .unwrap()
        .replace("\"max_race_codes\": 8", "\"max_race_codes\": 3");
    fs::write(changed.path().join("config.json"), config).unwrap();
    let specification = read_specification(&folder, &read_settings(changed.path()));
    assert_eq!(specification.stability(Granularity::Detailed, IterationLevel::One), 4);
    assert_eq!(specification.key_set(Granularity::Detailed, IterationLevel::One).len(), 14);
}

/// The iterations of a person whose race codes were chosen one by one to add in-combination iterations.
fn most_groups(specification: &Specification, granularity: Granularity, level: IterationLevel) -> usize {
    let of = |races: &[RaceEthCode], ethnicity: RaceEthCode| {
        let combination = Combination::new(races.iter().copied(), ethnicity);
        specification.iterations(&combination, granularity, level).unwrap()
    };
    let kind = |code: &IterationCode| specification.all_iterations().iter().find(|it| it.code == *code).unwrap().kind;
    let has = |iterations: &[IterationCode], wanted: IterationKind| iterations.iter().any(|code| kind(code) == wanted);
    let first = specification.codes().next().unwrap();
    let ethnicity = specification.codes().find(|code| has(&of(&[first], *code), IterationKind::Ethnicity)).unwrap();
    let (mut races, mut combined) = (Vec::new(), BTreeSet::new());
    for race in specification.codes() {
        let iterations = of(&[race], ethnicity);
        let new: Vec<_> = iterations.into_iter().filter(|code| kind(code) == IterationKind::InCombination).collect();
        if races.len() < 8 && new.iter().any(|code| combined.insert(*code)) {
            races.push(race);
        }
    }
    of(&races, ethnicity).len()
}

#[test]
fn the_specification_of_the_production_is_read() {
    let Some(folder) = facts("safetab/production") else { return };
    let config = read_settings(&folder);
    let specification = read_specification(&folder, &config);
    let rows = |name: &str| -> Vec<Vec<String>> {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let rows = text.lines().skip(1).filter(|row| !row.trim().is_empty());
        rows.map(|row| row.trim_end().split('|').map(String::from).collect()).collect()
    };
    for (granularity, flag) in [(Granularity::Detailed, 1), (Granularity::Coarse, 2)] {
        for level in IterationLevel::ALL {
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
            assert_eq!(most_groups(&specification, granularity, level), 9, "the stability is attained");
        }
    }
}

/// The budgets are those of the bundled release, which was written from the same file independently.
#[test]
fn the_bundled_release_has_the_budgets_of_the_production() {
    let Some(folder) = facts("safetab/production") else { return };
    let config = read_settings(&folder);
    let specification = read_specification(&folder, &config);
    for (name, pass) in [("ddhca-us", Pass::UnitedStates), ("ddhca-pr", Pass::PuertoRico)] {
        let release = Release::find(name).unwrap();
        let mut levels: Vec<String> = Vec::new();
        for (region_type, level) in
            pass.region_types().iter().flat_map(|region| IterationLevel::ALL.map(|level| (region, level)))
        {
            let budget = config.budget(*region_type, level);
            if *budget > 0 {
                levels.push(format!("{region_type} level {level}"));
                let composition = release.composition(&[levels.last().unwrap()], None).unwrap();
                assert_eq!(composition.rho(), budget, "{region_type} {level}");
            }
        }
        assert!(release.levels.iter().map(|level| &level.name).eq(&levels));
        // A record has as many detailed-only groups as there are such iterations, and no more than groups.
        for (level, mix) in release.mixes.iter().flat_map(|mix| mix.levels.iter().map(move |level| (*level, mix))) {
            let name = &release.levels[level].name;
            let of = |(region, number): &(RegionType, IterationLevel)| format!("{region} level {number}") == *name;
            let all = pass.region_types().iter().flat_map(|region| IterationLevel::ALL.map(|number| (*region, number)));
            let (region, number) = all.into_iter().find(of).unwrap();
            let keys = specification.key_set(region.granularity(), number);
            let only = keys.iter().filter(|key| key.detailed_only).count() as u64;
            assert_eq!((mix.groups, mix.most), (9, only.min(9)), "{name}");
        }
        let without = release
            .levels
            .iter()
            .enumerate()
            .filter(|(at, _)| !release.mixes.iter().any(|mix| mix.levels.contains(at)));
        assert!(without.clone().count() > 0);
        for (_, level) in without {
            assert!(level.queries.iter().all(|query| query.kind.is_none()), "{}", level.name);
        }
    }
    assert_eq!(config.scope().state_filter_us().len(), 51);
}
