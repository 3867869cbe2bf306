use super::*;
use crate::{
    law::{Law, NoiseTable, Pair, PerturbationTable},
    numeric::rational::parse,
};

fn subject(release: &str) -> Subject {
    Subject { release: Some(Release::find(release).unwrap()), ..Subject::default() }
}

#[test]
fn a_subject_of_nothing_and_of_unknown_or_repeated_levels_is_refused() {
    assert!(matches!(Subject::default().resolve(), Err(Error::EmptyComposition)));
    let named = |levels: &[&str]| Subject {
        levels: levels.iter().map(|name| name.to_string()).collect(),
        ..subject("su-su-wang-2025")
    };
    assert!(matches!(named(&["Moon"]).resolve(), Err(Error::Unknown { kind: "level", .. })));
    let twice = named(&["State", "State"]).resolve().unwrap_err().to_string();
    assert!(twice.contains("State") && twice.contains("once"), "{twice}");
    let budget_only =
        Release::parse(include_str!(concat!(env!("ASSAY_FILES"), "/tests/common/budget-only.toml")), "f").unwrap();
    let budget_only = Subject { release: Some(budget_only), ..Subject::default() };
    assert!(matches!(budget_only.resolve(), Err(Error::BudgetOnly { .. })));
    assert!(Subject { group: u64::MAX, ..subject("su-su-wang-2025") }.resolve().is_err());
}

#[test]
fn derived_subjects_and_parts_are_those_of_their_compositions() {
    let half = Rational::from((1, 2));
    let singles = vec!["5x10@2".parse().unwrap(), Counts::parse_discrete_laplace("0.1x3").unwrap()];
    for (name, levels) in [("dhc-units-us", vec![]), ("pl94-persons-us", vec!["State", "County"])] {
        let levels = levels.into_iter().map(String::from).collect();
        let subject = Subject { levels, group: 2, singles: singles.clone(), ..subject(name) };
        let whole = subject.clone().resolve().unwrap();
        let thrice = subject.repeated(3).unwrap().resolve().unwrap();
        assert_eq!(thrice.total.counts(), whole.total.repeated(3).unwrap().counts());
        let rho = Account::rho(&thrice.whole);
        assert_eq!(*rho, Rational::from(&*Account::rho(&whole.whole) * 3_u32));
        let scaled = subject.with_noise_times(&half).unwrap().resolve().unwrap();
        let known = whole.with_noise_times(&half).unwrap();
        assert_eq!(scaled.total.counts(), known.total.counts());
        assert_eq!(Account::rho(&scaled.whole), Account::rho(&known.whole));
        let (parts, known) = (subject.parts(), whole.parts());
        assert_eq!(parts.len(), known.len());
        for (part, known) in parts.into_iter().zip(known) {
            let part = part.resolve().unwrap();
            assert_eq!((part.total.counts(), part.neighbors), (known.total.counts(), known.neighbors));
        }
    }
}

#[test]
fn counts_given_one_by_one_are_composed_with_every_path_and_relation() {
    let single: Counts = "5x10".parse().unwrap();
    let with = |neighbors| {
        Subject { singles: vec![single.clone()], neighbors, ..subject("pl94-persons-us") }.resolve().unwrap()
    };
    let (bounded, add) = (with(None), with(Some(Neighbors::AddRemove)));
    assert_eq!((bounded.neighbors, add.neighbors), (Neighbors::Bounded, Neighbors::AddRemove));
    assert_eq!((bounded.worst().unwrap().count(), add.worst().unwrap().count()), (136, 16));
    let rho = Release::find("pl94-persons-us").unwrap().rho;
    // Twice the counts of one record, once for the cell it leaves and once for the one it enters.
    assert_eq!(Account::rho(&bounded.whole), rho.clone() + 2_u32);
    assert_eq!(Account::rho(&add.whole), rho / 2_u32 + 1_u32);
    assert_eq!(add.parts().len(), add.levels.len());
    let noisier = add.with_noise_times(&Rational::from(2)).unwrap();
    assert_eq!(*noisier.total.rho(), Rational::from(&**add.total.rho() / 2_u32));
    assert_eq!(Account::rho(&noisier.whole), Rational::from(&*Account::rho(&add.whole) / 2_u32));
    let answer = bounded.whole.delta("5", 6).unwrap();
    assert!(bounded.deciding_pair(&answer).unwrap().contains("the worst of 136 pairs"));
}

#[test]
fn queries_add_up_to_their_levels_and_repetitions_multiply() {
    let singles: Vec<Counts> = vec!["5x10@2".parse().unwrap(), Counts::parse_discrete_laplace("0.1x3").unwrap()];
    let of = |release: &str, repeat, group, neighbors| {
        Subject { singles: singles.clone(), repeat, group, neighbors, ..subject(release) }.resolve().unwrap()
    };
    let once = of("dhc-units-us", 1, 1, None);
    for (release, neighbors) in [("dhc-units-us", None), ("pl94-persons-us", Some(Neighbors::AddRemove))] {
        let all = of(release, 3, 2, neighbors);
        let sum = all.queries.iter().fold(Rational::new(), |sum, query| sum + &**query.composition.rho());
        assert_eq!(sum, **all.total.rho(), "{release}");
        for part in all.parts() {
            let own = part.queries.iter().fold(Rational::new(), |sum, query| sum + &**query.composition.rho());
            assert_eq!(own, **part.total.rho(), "{}", part.title);
        }
        assert!(all.title.ends_with(", groups of 2, released 3 times"), "{}", all.title);
    }
    let thrice = of("dhc-units-us", 3, 1, None);
    assert_eq!(**thrice.total.rho(), Rational::from(&**once.total.rho() * 3_u32));
    assert_eq!(Account::rho(&thrice.whole), Rational::from(&*Account::rho(&once.whole) * 3_u32));
    assert!(Subject { repeat: 0, ..self::subject("dhc-units-us") }.resolve().is_err());
    let noisier = once.with_noise_times(&Rational::from(2)).unwrap();
    assert_eq!(noisier.queries[0].composition.counts()[0], noisier.queries[0].counts);
}

#[test]
fn counts_are_taken_twice_under_bounded_neighbors_unless_they_are_given_for_these() {
    let of = |counts_as_given, neighbors| {
        let singles = vec![Counts::parse_discrete_laplace("0.5@2").unwrap()];
        Subject { singles, neighbors, counts_as_given, ..Subject::default() }.resolve()
    };
    let twice = of(false, Some(Neighbors::Bounded)).unwrap();
    assert!(
        twice.title.ends_with("0.5x1@2, twice under bounded neighbors: a record leaves one count and enters another"),
        "{}",
        twice.title
    );
    assert_eq!((twice.taken, twice.queries[0].counts.count), (2, 2));
    let given = of(true, Some(Neighbors::Bounded)).unwrap();
    assert!(given.title.ends_with("counts as given for bounded neighbors"), "{}", given.title);
    assert_eq!((given.taken, given.queries[0].counts.count, given.total.counts()[0].count), (1, 1, 1));
    // One value moved by 2 with noise of parameter 1/2: one nat at most.
    assert_eq!(given.total.pure_epsilon(), Some(Rational::from(1)));
    assert!(of(true, None).is_err() && of(false, None).unwrap().taken == 1);
    let beside = |release: &str| {
        let singles = vec!["5x2".parse().unwrap()];
        Subject { singles, counts_as_given: true, neighbors: Some(Neighbors::Bounded), ..self::subject(release) }
            .resolve()
    };
    // Beside every pair of block paths they count once.
    let paths = beside("pl94-units-us").unwrap();
    let Whole::WorstPath(worst) = &paths.whole else { panic!("{}", paths.title) };
    assert_eq!(worst.beside().unwrap().counts()[0].count, 2);
    let mixed = beside("su-su-wang-2025").unwrap();
    assert_eq!(mixed.levels.last().unwrap().total.counts()[0].count, 2);
    assert!(Subject { counts_as_given: true, ..self::subject("su-su-wang-2025") }.resolve().is_err());
}

/// Beside a mix a query that does not move is on neither side of a change; and all noise is known of a mix of one group, too.
#[test]
fn a_mix_beside_a_query_that_does_not_move() {
    let text = "name = 'm'\ntitle = 't'\nsource = 's'\nneighbors = 'bounded'\n\
                [[mix]]\nname = 'all'\nlevels = ['A']\ngroups = 1\nkind = 'short'\nmost = 1\n\
                [[level]]\nname = 'A'\n[[level.query]]\nname = 'twice'\nsigma2 = 2\ntimes = 2\n\
                [[level.query]]\nname = 'once'\nkind = 'short'\nsigma2 = 1\n\
                [[level]]\nname = 'US'\n[[level.query]]\nname = 'total'\nsigma2 = 3\nmoves = 0\n";
    let release = Release::parse(text, "m.toml").unwrap();
    assert_eq!(release.rho, 1);
    let of = |neighbors| Subject { release: Some(release.clone()), neighbors, ..Subject::default() }.resolve().unwrap();
    let bounded = of(None);
    assert_eq!(*Account::rho(&bounded.whole), 1);
    assert_eq!(bounded.unmoved, ["US / total"]);
    for pair in [(0, 0), (0, 1), (1, 1)] {
        let counts = bounded.worst().unwrap().composition(pair).unwrap();
        assert!(counts.counts().iter().all(|counts| !counts.to_string().contains("Gaussian 3x")), "{counts:?}");
    }
    let variances = |of: &Resolved| crate::account::promise::variances(&of.noise().unwrap()).unwrap();
    assert_eq!(variances(&bounded), [1, 2].map(Rational::from));
    assert_eq!(variances(&of(Some(Neighbors::AddRemove))), [1, 2, 3].map(Rational::from));
}

/// The mix that decides is the largest of all mixes, each accounted for alone.
#[test]
fn a_release_with_groups_of_two_kinds_is_as_private_as_its_worst_mix() {
    let text = "name = 'm'\ntitle = 't'\nsource = 's'\nneighbors = 'add-remove'\n\
                [[mix]]\nname = 'all'\nlevels = ['A', 'B']\ngroups = 3\nkind = 'short'\nmost = 3\n\
                [[level]]\nname = 'A'\n[[level.query]]\nname = 'stages'\ncells = 3\ntimes = 2\nrho = 0.75\n\
                [[level.query]]\nname = 'once'\nkind = 'short'\ncells = 3\nrho = 1.5\n\
                [[level]]\nname = 'B'\n[[level.query]]\nname = 'long'\ncells = 3\nrho = 1.5\n\
                [[level.query]]\nname = 'once'\nkind = 'short'\ncells = 3\nrho = 1.5\n";
    let release = Release::parse(text, "m.toml").unwrap();
    let largest = |level: Option<&str>, pairs: bool| {
        let counts = |short: u32, of: &str| {
            let part = |level, text: String| Some(text).filter(|_| of == level || of == "both");
            let some = |count: u32, sigma2: u32| if count == 0 { None } else { Some(format!("{sigma2}x{count}")) };
            let long = 3 - short;
            let a = [some(2 * long, 2), some(short, 1)].into_iter().flatten().filter_map(|text| part("A", text));
            let b = [some(3, 1)].into_iter().flatten().filter_map(|text| part("B", text));
            a.chain(b).map(|text| text.parse().unwrap()).collect::<Vec<Counts>>()
        };
        let of = level.unwrap_or("both");
        let all = (0..=3).flat_map(|p| (p..=3).map(move |q| (p, q))).filter(|(p, q)| pairs || p == q);
        let each = all.map(|(p, q)| {
            let both = if pairs { [counts(p, of), counts(q, of)].concat() } else { counts(p, of) };
            Composition::new(both).unwrap().epsilon("1e-6", 12).unwrap().value
        });
        each.reduce(|a, b| a.max(&b)).unwrap()
    };
    for (neighbors, ways) in
        [(Neighbors::AddRemove, "4 mixes of groups"), (Neighbors::Bounded, "10 pairs of mixes of groups")]
    {
        let subject = Subject { release: Some(release.clone()), neighbors: Some(neighbors), ..Subject::default() };
        let found = subject.resolve().unwrap();
        assert_eq!(found.ways().as_deref(), Some(ways));
        let epsilon = found.whole.epsilon("1e-6", 12).unwrap();
        let alone = largest(None, neighbors == Neighbors::Bounded);
        assert!(epsilon.met && epsilon.value.overlaps(&alone), "{epsilon:?} {alone:?}");
        assert!(found.deciding_pair(&epsilon).unwrap().contains("of 3 groups short at all"));
        for part in &found.levels {
            let epsilon = part.whole.epsilon("1e-6", 12).unwrap();
            let alone = largest(Some(&part.name), neighbors == Neighbors::Bounded);
            assert!(epsilon.value.overlaps(&alone), "{}: {epsilon:?} {alone:?}", part.name);
            assert!(part.deciding(&epsilon).unwrap().ends_with(ways));
        }
    }
}

/// Masses at 0, 1, ...
fn table(masses: &[&str]) -> Counts {
    let rows = (0..).zip(masses.iter().map(|mass| parse(mass).unwrap()));
    Counts::new(Law::Table(Arc::new(NoiseTable::new("noise.csv", rows).unwrap())), 1, 1).unwrap()
}

fn single(counts: Counts, neighbors: Neighbors, counts_as_given: bool) -> Result<Resolved> {
    Subject { singles: vec![counts], neighbors: Some(neighbors), counts_as_given, ..Subject::default() }.resolve()
}

#[test]
fn the_line_of_a_single_query_is_that_of_the_whole() {
    let read = |key: &str, text: &str| Counts::parse(key, text).unwrap();
    let cells =
        [(0, 0, "3/4"), (0, 1, "1/4"), (1, 0, "1/4"), (1, 1, "1/2"), (1, 2, "1/4"), (2, 1, "1/2"), (2, 3, "1/2")];
    let cells = cells.map(|(i, j, p)| (i, j, parse(p).unwrap()));
    let cells = Law::Perturbation(Arc::new(PerturbationTable::new("cells.csv", cells).unwrap()));
    let skew = [("1/2", "1/4"), ("1/3", "1/3"), ("1/6", "5/12")].map(|(p, q)| (parse(p).unwrap(), parse(q).unwrap()));
    let skew = Law::Pair(Arc::new(Pair::new("pair.csv", skew).unwrap()));
    let all = [
        read("discrete-gaussian", "5x2"),
        read("gaussian", "5x2"),
        read("discrete-laplace", "1/2x2@2"),
        read("laplace", "2"),
        read("truncated-laplace", "1/2:40"),
        read("truncated-gaussian", "5:30"),
        read("randomized-response", "1:3x2"),
        read("exponential", "1/2x2"),
        read("pure", "1/2x2"),
        read("approximate", "1/2:1e-3"),
        Counts::parse_sampled("1/4:gaussian:4x2").unwrap(),
        Counts::parse_unknown_key("discrete-laplace:1/2:9x2").unwrap(),
        Counts::parse_unknown_key("gaussian:4:9").unwrap(),
        table(&["60/143", "2/143", "27/143", "54/143"]),
        table(&["1/4", "1/2", "1/4"]),
        Counts::new(cells, 1, 1).unwrap(),
        Counts::new(skew, 2, 1).unwrap(),
    ];
    let mut compared = 0;
    for counts in &all {
        for (neighbors, given) in
            [(Neighbors::AddRemove, false), (Neighbors::Bounded, false), (Neighbors::Bounded, true)]
        {
            let Ok(resolved) = single(counts.clone(), neighbors, given) else {
                assert!(counts.law.is_sampled() && neighbors == Neighbors::Bounded, "{counts}");
                continue;
            };
            let [query] = &resolved.queries[..] else { panic!("{counts}") };
            let of = |account: &Composition| account.delta("1/2", 6).unwrap().value;
            assert_eq!(of(&query.composition), of(&resolved.total), "{counts} {neighbors:?} {given}");
            compared += 1;
        }
    }
    assert_eq!(compared, 3 * all.len() - 2);
}

/// By the sum over all pairs of outcomes: the count that is left goes down where the one that is entered goes up.
#[test]
fn a_query_of_a_changed_record_has_the_count_left_and_the_count_entered() {
    for (masses, delta, expected) in [
        (&["60/143", "2/143", "27/143", "54/143"][..], "0.8", "3.29379135263"),
        (&["1/100", "9/10", "5/100", "3/100", "1/100"], "0.1", "7.28605471902"),
        (&["1/2", "1/4", "1/4"], "0.64", "0.56531380905"),
    ] {
        let resolved = single(table(masses), Neighbors::Bounded, false).unwrap();
        let epsilon = resolved.queries[0].composition.epsilon(delta, 12).unwrap().value;
        let apart = (epsilon.approximate() - expected.parse::<f64>().unwrap()).abs();
        assert!(apart < 1e-10, "{epsilon} for {expected}");
        assert_eq!(resolved.queries[0].counts.count, 2);
    }
    let keys = Counts::parse_unknown_key("discrete-laplace:1/2:4").unwrap();
    let resolved = single(keys, Neighbors::Bounded, false).unwrap();
    let of = |account: &Composition| account.epsilon("0.2", 9).unwrap().value;
    assert_eq!(of(&resolved.queries[0].composition), of(&resolved.total));
}

/// The whole, levels and queries of every bundled release are compared with what its definition says, which is narrow where all noise is Gaussian: bounded losses end, and a
/// grid does not tell where.
#[test]
fn releases_are_confirmed_by_their_definition() {
    let delta: Delta = "1e-10".parse().unwrap();
    let releases = Release::bundled().unwrap().into_iter().filter(|release| !release.budget_only);
    // Those of Puerto Rico have the same queries.
    for release in releases.filter(|release| !release.name.ends_with("-pr")) {
        let name = release.name.clone();
        let is_gaussian = release.levels.iter().flat_map(|level| &level.queries).all(|query| query.sigma2().is_ok());
        for neighbors in Neighbors::ALL {
            let resolved = Subject { neighbors: Some(neighbors), ..subject(&name) }.resolve().unwrap();
            let is_narrow = |account: &Whole, what: &str| {
                let defined = account.defined().unwrap_or_else(|| panic!("{name} {what}: no definition"));
                // It is compared here.
                let answer = account.epsilon(&delta, 6).unwrap();
                let at = |factor: f64| {
                    let at = Rational::from_f64(answer.value.upper().to_f64() * factor).unwrap();
                    defined.delta(&at).unwrap_or_else(|| panic!("{name} {what}: says nothing"))
                };
                // Epsilons a few hundredths away on both sides are certainly too small and too large.
                let (below, above) = (at(0.96), at(1.04));
                let is_narrow = *below.lower() > *delta && *above.upper() < *delta;
                assert!(is_narrow || !is_gaussian, "{name} {what}: {below} {above}");
            };
            is_narrow(&resolved.whole, neighbors.name());
            for level in &resolved.levels {
                is_narrow(&level.whole, &level.name);
            }
            let queries = resolved.queries.iter().map(|query| (&query.name, &query.composition));
            assert!(queries.clone().all(|(_, of)| of.defined().is_some()), "{name}");
            for (query, composition) in queries.take(3) {
                is_narrow(&Whole::Composition(composition.clone()), query);
            }
        }
    }
}

/// Accounts of other questions are refused: the noise of half the budget, a relation, a mix, a query whose count is taken twice in the same direction, and
/// one release for two.
#[test]
fn an_account_of_another_release_is_refused() {
    let delta: Delta = "1e-10".parse().unwrap();
    let question = |subject: &Subject| {
        let (release, neighbors) = (subject.release.as_ref().unwrap(), subject.relation());
        subject.question(&release.places(&subject.levels).unwrap(), true, neighbors).unwrap()
    };
    let is_refused = |account: &Subject, asked: &Subject| {
        let whole = account.clone().resolve().unwrap().whole;
        let answer = whole.epsilon(&delta, 6).unwrap();
        let compared = whole.compared_with(Some(question(asked)));
        // The functions that answer refuse it, for epsilon and for delta.
        let by_epsilon = matches!(compared.epsilon(&delta, 6), Err(Error::Contradiction { .. }));
        let at = answer.value.upper_rational().unwrap();
        let by_delta = matches!(compared.delta(at, 6), Err(Error::Contradiction { .. }));
        assert_eq!(by_epsilon, by_delta);
        by_epsilon
    };
    let own = subject("pl94-persons-us");
    assert!(!is_refused(&own, &own));
    let add = Subject { neighbors: Some(Neighbors::AddRemove), ..own.clone() };
    assert!(is_refused(&add, &own) && is_refused(&own, &add));
    assert!(is_refused(&own, &Subject { repeat: 2, ..own.clone() }));
    assert!(is_refused(&own, &Subject { group: 2, ..own.clone() }));
    assert!(is_refused(&own, &Subject { singles: vec!["5x10".parse().unwrap()], ..own.clone() }));
    // The noise of half the budget.
    let mut lost = own.clone();
    for level in &mut lost.release.as_mut().unwrap().levels {
        for query in &mut level.queries {
            query.law = Law::DiscreteGaussian { sigma2: Rational::from(query.sigma2().unwrap() * 2_u32) };
        }
    }
    assert!(is_refused(&lost, &own));
    // A record in fewer groups of a kind.
    let mixed = subject("ddhca-us");
    let mut fewer = mixed.clone();
    fewer.release.as_mut().unwrap().mixes.iter_mut().for_each(|mix| {
        mix.groups -= 1;
        mix.most = mix.most.min(mix.groups);
    });
    assert!(!is_refused(&mixed, &mixed) && is_refused(&fewer, &mixed));
    // A query of which a changed record leaves one count and enters another: the count twice in the same direction is another question.
    let masses = [(0, "60/143"), (1, "2/143"), (2, "27/143"), (3, "54/143")];
    let masses = masses.iter().map(|(value, p)| (*value, parse(p).unwrap()));
    let skewed = Law::Table(Arc::new(NoiseTable::new("low", masses).unwrap()));
    let counts = Counts::new(skewed, 1, 1).unwrap();
    let subject = Subject { singles: vec![counts.clone()], neighbors: Some(Neighbors::Bounded), ..Subject::default() };
    let right = subject.resolve().unwrap();
    let query = &right.queries[0].composition;
    assert!(query.delta("1/2", 6).is_ok() && query.defined().is_some());
    let twice = Composition::new([counts.clone(), counts.clone()]).unwrap();
    let asked = twice.defined_by(Definition::of_counts(vec![counts], true));
    assert!(matches!(asked.delta("1/2", 6), Err(Error::Contradiction { .. })));
}

/// Of which mechanism a number is certified: a guarantee is attained by its worst mechanism, but not where it is counted in steps, or beside a count that may not move.
#[test]
fn what_is_counted_twice_or_in_steps_is_certified_for_the_account_alone() {
    use crate::release::subject::Certified;
    let release = |neighbors: &str, queries: &str| {
        let text = format!(
            "name = 'g'\ntitle = 't'\nsource = 's'\nneighbors = '{neighbors}'\n[[level]]\nname = 'all'\n{queries}"
        );
        Subject { release: Some(Release::parse(&text, "g.toml").unwrap()), ..Subject::default() }
    };
    let pure = "[[level.query]]\nname = 'p'\nlaw = 'pure'\nepsilon = '1'\n";
    let total = "[[level.query]]\nname = 'total'\nsigma2 = '4'\ncells = 1\n";
    let certified = |subject: &Subject| subject.clone().resolve().unwrap().certified_for();
    assert_eq!(certified(&release("bounded", pure)), Certified::WorstOfGuarantees);
    assert_eq!(certified(&release("add-remove", &format!("{pure}{total}"))), Certified::WorstOfGuarantees);
    assert_eq!(certified(&release("bounded", &format!("{total}{pure}"))), Certified::Account);
    let changed = Subject { neighbors: Some(Neighbors::Bounded), ..release("add-remove", pure) };
    assert_eq!(certified(&changed), Certified::Account);
    let one = |text: &str| Subject { singles: vec![Counts::parse("pure", text).unwrap()], ..Subject::default() };
    assert_eq!(certified(&one("1x3")), Certified::WorstOfGuarantees);
    assert_eq!(certified(&one("1x3@2")), Certified::Account);
    assert_eq!(certified(&Subject { group: 2, ..one("1x3") }), Certified::Account);
}
