use super::*;
use crate::account::{Counts, conversions};

fn entry(name: &str, paths: &[&[&str]]) -> Entry {
    let composition = |path: &&[&str]| Composition::new(path.iter().map(|counts| counts.parse().unwrap())).unwrap();
    let paths: Vec<Composition> = paths.iter().map(composition).collect();
    let rho = Rational::from(&**paths[0].rho() * 2_u32).try_into().unwrap();
    Entry { name: name.to_string(), rho, paths, mixes: Vec::new(), is_change: false, part: None }
}

#[test]
fn a_ledger_is_the_worst_combination_of_paths() {
    let delta: Delta = "1e-8".parse().unwrap();
    // Both paths of the first spend 1/2.
    let entries = vec![entry("a", &[&["5x5"], &["2x2"]]), entry("b", &[&["40/3x7"]]), entry("c", &[&["2.5x1"]])];
    let ledger = Ledger::new(entries, Units::Pairs).unwrap();
    let composed = ledger.composed(&delta, 10).unwrap();
    let of = |counts: &[&str]| {
        let all = Composition::new(counts.iter().map(|counts| counts.parse().unwrap())).unwrap();
        assert_eq!(*all.rho(), composed.rho);
        all.epsilon(&delta, 12).unwrap().value
    };
    let rest = ["40/3x14", "2.5x2"];
    let pairs = [["5x10", "5x0"], ["5x5", "2x2"], ["2x4", "5x0"]]
        .map(|pair| of(&pair.into_iter().filter(|counts| !counts.ends_with("x0")).chain(rest).collect::<Vec<_>>()));
    let largest = pairs[1..].iter().fold(pairs[0].clone(), |largest, pair| largest.max(pair));
    let epsilon = composed.epsilon.unwrap();
    assert!(epsilon.met && epsilon.value.overlaps(&largest), "{epsilon:?} {largest:?}");
    for (balance, entry) in ledger.each(&delta, 10).unwrap().iter().zip(ledger.entries()) {
        assert_eq!(balance.rho, entry.rho);
        let alone = &balance.epsilon.as_ref().unwrap().value;
        assert!(alone.upper() < epsilon.value.lower() && alone.upper() <= balance.zcdp_epsilon.upper());
    }
}

#[test]
fn a_release_with_only_a_known_budget_enters_the_bound_alone() {
    let delta: Delta = "1e-8".parse().unwrap();
    let unknown = Entry { paths: Vec::new(), rho: "1".parse().unwrap(), ..entry("u", &[&["5x5"]]) };
    let ledger = Ledger::new(vec![entry("a", &[&["5x5"]]), unknown], Units::Pairs).unwrap();
    assert_eq!(ledger.composed(&delta, 8).unwrap().rho, 1);
    let total = ledger.total(&delta, 8).unwrap();
    assert!(total.rho == 2 && total.epsilon.is_none());
    assert!(Ledger::new(Vec::new(), Units::Pairs).is_err());
}

fn in_part(partition: &str, part: &str, entry: Entry) -> Entry {
    Entry { part: Some(Part { partition: partition.to_string(), part: part.to_string() }), ..entry }
}

/// The epsilon of a composition that is written down, and the largest of several.
fn largest_of(all: &[&[&str]], delta: &Delta) -> Enclosure {
    let of = |counts: &&[&str]| {
        let read = |text: &&str| match text.split_once(' ') {
            Some((law, rest)) => Counts::parse(law, rest).unwrap(),
            None => text.parse().unwrap(),
        };
        Composition::new(counts.iter().map(read)).unwrap().epsilon(delta, 12).unwrap().value
    };
    let each: Vec<Enclosure> = all.iter().map(of).collect();
    each.iter().skip(1).fold(each[0].clone(), |largest, next| largest.max(next))
}

fn single(entry: Entry) -> Entry {
    let rho = entry.paths.iter().map(|path| path.rho().clone()).max().unwrap();
    Entry { rho, ..entry }
}

#[test]
fn parts_of_a_partition_do_not_add_up_and_the_worst_choice_counts() {
    let delta: Delta = "1e-6".parse().unwrap();
    // Two partitions: days, of which one was published twice, and regions, one of them in two ways.
    let days = [
        single(in_part("day", "1", entry("a", &[&["9x1"]]))),
        single(in_part("day", "1", entry("b", &[&["7x2"]]))),
        single(in_part("day", "2", entry("c", &[&["5x2"]]))),
        single(in_part("day", "3", entry("d", &[&["9x1"]]))),
    ];
    let regions = [
        single(in_part("region", "x", entry("e", &[&["3x1"], &["20x9"]]))),
        single(in_part("region", "y", entry("f", &[&["4x1", "30x1"]]))),
    ];
    let entries: Vec<Entry> = days.into_iter().chain(regions).chain([single(entry("g", &[&["11x1"]]))]).collect();
    let ledger = Ledger::new(entries, Units::Single).unwrap();
    let found = ledger.composed(&delta, 10).unwrap();
    let choices: &[&[&str]] = &[
        &["11x1", "9x1", "7x2", "3x1"],
        &["11x1", "9x1", "7x2", "20x9"],
        &["11x1", "9x1", "7x2", "4x1", "30x1"],
        &["11x1", "5x2", "3x1"],
        &["11x1", "5x2", "20x9"],
        &["11x1", "5x2", "4x1", "30x1"],
        &["11x1", "9x1", "3x1"],
    ];
    let truth = largest_of(choices, &delta);
    let value = found.epsilon.unwrap().value;
    assert!(value.overlaps(&truth) && value.is_tight(9), "{value} {truth}");
    // 1/22 + max(1/18 + 1/7, 1/5, 1/18) + max(9/40, 1/8 + 1/60)
    assert_eq!(found.rho, Rational::from((1, 22)) + Rational::from((1, 5)) + Rational::from((9, 40)));
    assert!(value.upper() <= found.zcdp_epsilon.upper());
    let spent = ledger.spent(&delta, 10).unwrap();
    assert!(spent.is_composed && spent.rho == found.rho && spent.epsilon.overlaps(&truth));
}

#[test]
fn a_changed_record_leaves_one_part_and_enters_another() {
    let delta: Delta = "1e-6".parse().unwrap();
    // The same part twice, or both.
    let parts = [in_part("day", "1", entry("a", &[&["5x2"]])), in_part("day", "2", entry("b", &[&["9x3"]]))];
    let ledger = |entries: Vec<Entry>| Ledger::new(entries, Units::Pairs).unwrap();
    let both = ledger(parts.to_vec()).composed(&delta, 10).unwrap();
    let pairs: [&[&str]; 3] = [&["5x4"], &["5x2", "9x3"], &["9x6"]];
    let value = both.epsilon.unwrap().value;
    assert!(value.overlaps(&largest_of(&pairs, &delta)), "{value}");
    // One part alone is no less than a release about all records.
    let one = ledger(vec![parts[0].clone()]).composed(&delta, 10).unwrap().epsilon.unwrap().value;
    assert!(one.overlaps(&largest_of(&[&["5x4"]], &delta)));
    // Of a part with discrete Laplace and one with discrete Gaussian noise the worst pair is that of both: no change within a part is as bad.
    let laplace = Composition::new([Counts::parse("discrete-laplace", "3").unwrap()]).unwrap();
    let rho = Rational::from(&**laplace.rho() * 2_u32).try_into().unwrap();
    let coarse = Entry { paths: vec![laplace], rho, ..in_part("day", "1", entry("l", &[&["5x1"]])) };
    let mixed = ledger(vec![coarse, in_part("day", "2", entry("g", &[&["1/2x1"]]))]);
    let delta: Delta = "0.001".parse().unwrap();
    let value = mixed.composed(&delta, 10).unwrap().epsilon.unwrap().value;
    let pairs: [&[&str]; 3] = [&["discrete-laplace 3x2"], &["1/2x2"], &["discrete-laplace 3x1", "1/2x1"]];
    assert!(value.overlaps(&largest_of(&pairs, &delta)), "{value}");
    assert!(*value.lower() > *largest_of(&pairs[..2], &delta).upper(), "{value}");
    // What is known for a change as a whole says nothing about a part that loses a record.
    let whole = Entry { is_change: true, ..in_part("day", "1", entry("w", &[&["5x1"]])) };
    assert!(Ledger::new(vec![whole.clone()], Units::Pairs).unwrap_err().to_string().contains("add-remove"));
    assert!(Ledger::new(vec![Entry { part: None, ..whole }], Units::Single).is_err());
}

#[test]
fn a_guarantee_for_changed_records_composes_with_pairs_of_paths() {
    let delta: Delta = "1e-4".parse().unwrap();
    let of = |law: &str, text: &str| Composition::new([Counts::parse(law, text).unwrap()]).unwrap();
    let change = |path: Composition| {
        let rho = path.rho().clone();
        Entry { paths: vec![path], is_change: true, rho, ..entry("w", &[&["5x1"]]) }
    };
    let boxed = change(of("approximate", "1/2:1e-5"));
    let paths = entry("p", &[&["5x2"], &["20x8"]]);
    let found = Ledger::new(vec![boxed.clone(), paths], Units::Pairs).unwrap().composed(&delta, 9).unwrap();
    let guarantee = "approximate 1/2:1e-5";
    let pairs: [&[&str]; 3] = [&["5x4", guarantee], &["5x2", "20x8", guarantee], &["20x16", guarantee]];
    let value = found.epsilon.unwrap().value;
    assert!(value.overlaps(&largest_of(&pairs, &delta)), "{value}");
    assert!(value.upper() <= found.zcdp_epsilon.upper());
    // The bound by rho alone has the delta of the guarantee in it: at a delta below that it is infinite.
    let unknown = Entry { paths: Vec::new(), ..entry("u", &[&["5x1"]]) };
    let ledger = Ledger::new(vec![boxed.clone(), unknown], Units::Pairs).unwrap();
    let total = ledger.total(&delta, 8).unwrap();
    let without = conversions::zcdp_epsilon_optimal(&total.rho, &delta).unwrap().epsilon;
    assert!(total.zcdp_epsilon.lower() > without.upper());
    assert!(ledger.total(&"1e-6".parse().unwrap(), 8).unwrap().zcdp_epsilon.lower().is_infinite());
    assert!(!ledger.spent(&delta, 8).unwrap().is_composed);
    // Twenty paths are 210 pairs.
    let many: Vec<String> = (0..20).map(|n| format!("{}x{}", 5 + n, 2 + 40 * n)).collect();
    let many: Vec<[&str; 1]> = many.iter().map(|one| [one.as_str()]).collect();
    let many: Vec<&[&str]> = many.iter().map(|one| &one[..]).collect();
    let refused = Ledger::new(vec![boxed, entry("m", &many)], Units::Pairs).unwrap().composed(&delta, 8);
    assert!(matches!(refused, Err(Error::OutOfRange { .. })), "{refused:?}");
}

#[test]
fn ways_that_another_contains_are_left_out() {
    let of = |paths: &[&[&str]]| {
        let kept = largest(entry("a", paths).paths);
        kept.iter().map(|way| way.counts().iter().map(|counts| counts.count).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    assert_eq!(of(&[&["5x2"], &["5x3"], &["5x1", "5x1"]]), [[3]]);
    assert_eq!(of(&[&["5x2", "7x1"], &["5x3"], &["7x1"]]), [vec![2, 1], vec![3]]);
    assert_eq!(of(&[&["5x2"], &["5x2@2"]]), [[2], [2]]);
}

#[test]
fn sampled_noise_composes_in_one_way_and_is_an_account_of_its_own_in_parts() {
    let delta: Delta = "1e-5".parse().unwrap();
    let sampled = Composition::new([Counts::parse_sampled("0.01:gaussian:1x100").unwrap()]).unwrap();
    let of = |path: &Composition, part: &str| {
        let rho = path.rho().clone();
        Entry { paths: vec![path.clone()], rho, ..in_part("day", part, entry(part, &[&["5x1"]])) }
    };
    let gaussian = Composition::new([Counts::parse_gaussian("30").unwrap()]).unwrap();
    let ledger = Ledger::new(vec![of(&sampled, "1"), of(&gaussian, "2")], Units::Single).unwrap();
    let value = ledger.composed(&delta, 6).unwrap().epsilon.unwrap().value;
    let each = [&sampled, &gaussian].map(|one| one.epsilon(&delta, 8).unwrap().value);
    assert!(value.overlaps(&each[0].max(&each[1])), "{value}");
    let both = [of(&sampled, "1"), of(&gaussian, "1")].map(|entry| Entry { part: None, ..entry });
    let value = Ledger::new(both.to_vec(), Units::Single).unwrap().composed(&delta, 6).unwrap().epsilon.unwrap().value;
    assert!(value.overlaps(&sampled.compose(&gaussian).unwrap().epsilon(&delta, 8).unwrap().value));
}

/// What is accounted for is the masses, and not the names of files; and how many counts change, by how much and how.
#[test]
fn what_is_accounted_for_is_everything_that_decides_the_losses() {
    use crate::law::{Law, NoiseTable, Pair, PerturbationTable};
    let of =
        |rows: &[(i64, &str)]| rows.iter().map(|(value, mass)| (*value, mass.parse().unwrap())).collect::<Vec<_>>();
    let table = |name: &str, rows: &[(i64, &str)]| Law::Table(NoiseTable::new(name, of(rows)).unwrap().into());
    let pair = |name: &str, rows: [(&str, &str); 2]| {
        let rows = rows.map(|(p, q)| (p.parse().unwrap(), q.parse().unwrap()));
        Law::Pair(Pair::new(name, rows).unwrap().into())
    };
    let keys = |name: &str, p: [&str; 2]| {
        let rows = [(0, 0, "1"), (1, 0, p[0]), (1, 2, p[1])].map(|(i, j, p)| (i, j, p.parse().unwrap()));
        Law::Perturbation(PerturbationTable::new(name, rows).unwrap().into())
    };
    let counts = |law: Law| Counts::new(law, 2, 1).unwrap();
    let accounted = |counts: Counts| {
        let composition = Composition::new([counts]).unwrap();
        let entry = Entry { paths: vec![composition], ..entry("e", &[&["5"]]) };
        (entry.accounted(), entry.accounted_before())
    };
    let (a, b) = ([(-1, "1/4"), (0, "1/2"), (1, "1/4")], [(-1, "1/8"), (0, "3/4"), (1, "1/8")]);
    let (p, q) = ([("1/3", "2/3"), ("2/3", "1/3")], [("1/4", "3/4"), ("3/4", "1/4")]);
    for (one, same, other) in [
        (table("t", &a), table("u", &a), table("t", &b)),
        (pair("t", p), pair("u", p), pair("t", q)),
        (keys("t", ["1/2", "1/2"]), keys("u", ["1/2", "1/2"]), keys("t", ["1/3", "2/3"])),
    ] {
        let [one, same, other] = [one, same, other].map(|law| accounted(counts(law)).0);
        assert_eq!(one, same);
        assert_ne!(one, other);
    }
    let gaussian: Counts = "5x4@2".parse().unwrap();
    let others = [
        "5x3@2".parse().unwrap(),
        "5x4@1".parse().unwrap(),
        "5x4@=2".parse().unwrap(),
        "4x4@2".parse().unwrap(),
        gaussian.all_moved_by(2).unwrap(),
        Counts::parse("gaussian", "5x4@2").unwrap(),
        "64x4@2".parse::<Counts>().unwrap().with_free_rows().unwrap(),
        "64x4@2".parse().unwrap(),
    ];
    let all: BTreeSet<String> = others.into_iter().chain([gaussian]).map(|counts| accounted(counts).0).collect();
    assert_eq!(all.len(), 9, "{all:?}");
    // The former text had the name of a table in place of its masses.
    assert_eq!(accounted(counts(table("t", &a))).1, accounted(counts(table("t", &b))).1);
}

/// An entry of which every way is a mix.
fn mixed(name: &str, mixes: &[&[&str]]) -> Entry {
    Entry { mixes: mixes.iter().map(|mix| format!("{mix:?}")).collect(), ..entry(name, mixes) }
}

#[test]
fn a_bound_for_all_mixes_is_above_each_combination_and_close_to_the_worst() {
    let ledgers: [Vec<Entry>; 6] = [
        vec![mixed("a", &[&["5x5"], &["10x2", "10/3x1"], &["2x2"]]), mixed("b", &[&["40/3x7"], &["4x1", "40/11x1"]])],
        vec![
            mixed("a", &[&["20x9"], &["20x4", "4x1"], &["100x45"]]),
            mixed("b", &[&["30x4@2"], &["15x8"]]),
            entry("c", &[&["9x3"]]),
        ],
        vec![mixed("a", &[&["1x2"], &["2x4"], &["3/2x3"]]), mixed("b", &[&["7x1"], &["70x10"]])],
        // Mixes that spend less than others.
        vec![mixed("a", &[&["3x1"], &["3x2"], &["7x3"]]), mixed("b", &[&["5x3"], &["11x2"]])],
        vec![
            in_part("day", "1", mixed("a", &[&["6x2"], &["12x4"]])),
            in_part("day", "2", mixed("b", &[&["5x2"], &["25/2x5"]])),
            entry("c", &[&["9x1"]]),
        ],
        vec![mixed("a", &[&["64x3@8"], &["1000x2"]]), mixed("b", &[&["50x2"], &["25x1"]])],
    ];
    for (entries, units, delta) in ledgers.into_iter().flat_map(|entries| {
        [(Units::Pairs, "1e-10"), (Units::Single, "1e-6"), (Units::Single, "0.01")]
            .map(|(units, delta)| (entries.clone(), units, delta))
    }) {
        let delta: Delta = delta.parse().unwrap();
        let sides = if units == Units::Pairs { 2_u32 } else { 1 };
        let spending = |entry: Entry| {
            let rho = Rational::from(&*single(entry.clone()).rho * sides).try_into().unwrap();
            Entry { rho, ..entry }
        };
        let ledger = Ledger::new(entries.into_iter().map(spending).collect(), units).unwrap();
        // Few enough that every combination is composed.
        let worst = ledger.composed(&delta, 10).unwrap();
        assert!(worst.of_mixes.is_empty());
        let worst = worst.epsilon.unwrap().value;
        let all = gaussian::Combinations::of_releases(&ledger.known()).unwrap();
        for found in [0.0, worst.lower().to_f64() * 0.9, worst.lower().to_f64()] {
            let bound = all.epsilon(&delta, found).unwrap().unwrap();
            assert!(bound.upper() >= worst.lower(), "{bound} {worst}");
        }
        let bound = all.epsilon(&delta, worst.lower().to_f64()).unwrap().unwrap();
        assert!(bound.upper().to_f64() <= 1.02 * worst.upper().to_f64(), "{bound} {worst} {:?}", ledger.entries());
    }
    let laplace = Composition::new([Counts::parse("discrete-laplace", "1").unwrap()]).unwrap();
    let other = Entry { paths: vec![laplace], ..entry("l", &[&["5x1"]]) };
    assert!(gaussian::Combinations::of_releases(&Ledger::new(vec![other], Units::Single).unwrap().known()).is_none());
}

/// 15 x 15 combinations, more than are composed; the mixes of both releases spend 1/2 and 3/4.
fn too_many_mixes(units: Units) -> Ledger {
    let mixes = |rho: u32| -> Vec<Vec<String>> {
        (0..15)
            .map(|n| {
                let (fine, coarse) = (5 + n, 12);
                let kept = [
                    format!("{}x{fine}", 4 * (fine + coarse) / rho),
                    format!("{}x{coarse}", 4 * (fine + coarse) / rho),
                ];
                kept.to_vec()
            })
            .collect()
    };
    let of = |name: &str, rho: u32| {
        let mixes = mixes(rho);
        let mixes: Vec<Vec<&str>> = mixes.iter().map(|mix| mix.iter().map(String::as_str).collect()).collect();
        let mixes: Vec<&[&str]> = mixes.iter().map(|mix| &mix[..]).collect();
        let entry = single(mixed(name, &mixes));
        let sides = if units == Units::Pairs { 2_u32 } else { 1 };
        Entry { rho: Rational::from(&*entry.rho * sides).try_into().unwrap(), ..entry }
    };
    Ledger::new(vec![of("a", 2), of("b", 4)], units).unwrap()
}

/// As one account: no way is less private than it says at any epsilon, delta or type I error, and it is close to the worst.
#[test]
fn as_one_account_too_many_mixes_are_between_one_mix_and_a_bound_for_all() {
    for units in [Units::Single, Units::Pairs] {
        let ledger = too_many_mixes(units);
        assert!(ledger.whole().is_err());
        let delta: Delta = "1e-8".parse().unwrap();
        let whole = ledger.whole_or_bound(&delta).unwrap();
        let Whole::ManyWays(many) = &whole else { panic!("{whole:?}") };
        assert_eq!(many.mixes().len(), 2);
        let one = &ledger.entries()[0].paths;
        let other = &ledger.entries()[1].paths;
        // Some of the ways, the first and the last among them.
        let ways = [(0, 0), (14, 14), (0, 14), (7, 3)].map(|(p, q)| {
            let way = one[p].compose(&other[q]).unwrap();
            if units == Units::Pairs {
                way.compose(&one[14 - p].compose(&other[14 - q]).unwrap()).unwrap()
            } else {
                way
            }
        });
        assert!(ways.iter().all(|way| *way.rho() <= whole.rho()));
        let epsilon = whole.epsilon(&delta, 8).unwrap().value;
        assert!(epsilon.upper().to_f64() <= 1.02 * epsilon.lower().to_f64(), "{epsilon}");
        for way in &ways {
            assert!(way.epsilon(&delta, 8).unwrap().value.lower() <= epsilon.upper());
        }
        for at in ["0", "1", "9/2"] {
            let found = whole.delta(at, 8).unwrap().value;
            assert!(found.upper().to_f64() <= 1.1 * found.lower().to_f64(), "{at}: {found}");
            for way in &ways {
                assert!(way.delta(at, 8).unwrap().value.lower() <= found.upper(), "{at}: {found}");
            }
        }
        for alpha in [(1, 1000), (1, 3), (999_999, 1_000_000)].map(Rational::from) {
            let found = whole.tradeoff(&alpha, 8).unwrap().value;
            assert!(found.lower().to_f64() >= 0.8 * found.upper().to_f64(), "{alpha}: {found}");
            for way in &ways {
                assert!(way.tradeoff(&alpha, 8).unwrap().value.upper() >= found.lower(), "{alpha}: {found}");
            }
        }
    }
}

#[test]
fn where_mixes_are_too_many_the_upper_end_bounds_all_of_them() {
    let delta: Delta = "1e-8".parse().unwrap();
    let ledger = too_many_mixes(Units::Single);
    let composed = ledger.composed(&delta, 10).unwrap();
    assert_eq!(composed.of_mixes.len(), 2);
    let value = composed.epsilon.unwrap().value;
    for one in &ledger.entries()[0].paths {
        for other in &ledger.entries()[1].paths {
            let of_these = one.compose(other).unwrap().epsilon(&delta, 8).unwrap().value;
            assert!(of_these.lower() <= value.upper(), "{of_these} {value}");
        }
    }
    assert!(value.upper().to_f64() <= 1.02 * value.lower().to_f64(), "{value}");
    assert_eq!(ledger.spent(&delta, 10).unwrap().epsilon.upper(), value.upper());
    let at = |epsilon: f64| crate::numeric::rational::from_f64(epsilon).unwrap().try_into().unwrap();
    let (lower, upper) = (value.lower().to_f64(), value.upper().to_f64());
    assert_eq!(ledger.keeps(&at(upper * 1.001), &delta).unwrap(), Certainty::Yes);
    assert_eq!(ledger.keeps(&at(lower * 0.999), &delta).unwrap(), Certainty::No);
    assert_eq!(ledger.keeps(&at(f64::midpoint(lower, upper)), &delta).unwrap(), Certainty::Undecided);
}
