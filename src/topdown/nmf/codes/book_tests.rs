//! The books of codes: sums of lines, complete tables, labels, choices and refusals.

use std::collections::BTreeMap;

use super::{
    book::{Code, CodeBook, CodeBooks, Product, not_formed},
    definitions::table_of,
};
use crate::release::{
    Release,
    schema::{Attribute, Schema},
};

fn book(product: Product) -> CodeBook {
    CodeBook::of_product(product).unwrap()
}

/// The number of cells of a code, and whether two codes have a cell in common: selections are products of sets of values.
fn size(book: &CodeBook, code: &Code) -> usize {
    let sizes = book.product.attributes().iter().map(|(_, size)| *size);
    let own = code.line.selected.iter().zip(sizes);
    own.map(|(own, size)| own.as_ref().map_or(size, |own| own.iter().filter(|own| **own).count())).product()
}

fn is_within(inner: &Code, outer: &Code) -> bool {
    let mut axes = inner.line.selected.iter().zip(&outer.line.selected);
    axes.all(|(inner, outer)| match (inner, outer) {
        (_, None) => true,
        (None, Some(outer)) => outer.iter().all(|own| *own),
        (Some(inner), Some(outer)) => inner.iter().zip(outer).all(|(inner, outer)| !inner || *outer),
    })
}

fn are_disjoint(a: &Code, b: &Code) -> bool {
    let mut axes = a.line.selected.iter().zip(&b.line.selected);
    axes.any(|axis| matches!(axis, (Some(a), Some(b)) if a.iter().zip(b).all(|(a, b)| !(*a && *b))))
}

/// Over the whole of all tables: the lines below a line lie within it, have no cell in common, and have as many cells together; a single
/// line below another one is a part of it.
#[test]
fn the_lines_below_a_line_add_up_to_it() {
    let (mut parents, mut parts) = (0, Vec::new());
    for book in Product::ALL.map(book) {
        let by_name: BTreeMap<&str, &Code> = book.codes.iter().map(|code| (code.name.as_str(), code)).collect();
        assert_eq!(by_name.len(), book.codes.len());
        let mut below: BTreeMap<&str, Vec<&Code>> = BTreeMap::new();
        for code in book.codes.iter().filter(|code| !code.parent.is_empty()) {
            assert_eq!(table_of(&code.name), table_of(&code.parent));
            below.entry(by_name[code.parent.as_str()].name.as_str()).or_default().push(code);
        }
        for (name, lines) in &below {
            parents += 1;
            assert!(lines.iter().all(|line| is_within(line, by_name[name])), "{name}");
            let pairs = lines.iter().enumerate().flat_map(|(at, a)| lines[..at].iter().map(move |b| (a, b)));
            pairs.for_each(|(a, b)| assert!(are_disjoint(a, b), "{} and {}", a.name, b.name));
            let sum: usize = lines.iter().map(|line| size(&book, line)).sum();
            let whole = size(&book, by_name[name]);
            match lines.len() == 1 && sum < whole {
                true => parts.push(lines[0].name.clone()),
                false => assert_eq!(sum, whole, "{name} is not the sum of its lines"),
            }
        }
    }
    // Of P.L. 94-171, in P1 and P3: the total, one race, two or more races, and two to six races. P2 and P4 have one more,
    // P5 three, H1 one. Of the DHC: the lines of the Bureau's list of variables that have others below them.
    assert_eq!(parents, 2 * 8 + 2 * 9 + 3 + 1 + 1099);
    let base: Vec<&str> = parts.iter().map(String::as_str).filter(|name| !name.starts_with("PCT17")).collect();
    // Children and grandchildren under 18, and householders of 65 years who live alone.
    assert_eq!(base, ["P17_015N", "P17_017N", "P17_019N", "P17_021N", "P20_010N", "P20_016N"]);
    assert_eq!(parts.len(), 6 + 9 * 4);
}

/// The groups of the Bureau's list of variables of the DHC (`dec/dhc`), with their numbers of lines, and the last letter of
/// the populations for which they are repeated.
const GROUPS: [(&str, usize, &str); 66] = [
    ("P1", 1, ""),
    ("P2", 4, ""),
    ("P3", 8, ""),
    ("P4", 3, ""),
    ("P5", 17, ""),
    ("P6", 7, ""),
    ("P7", 15, ""),
    ("P8", 71, ""),
    ("P9", 73, ""),
    ("P10", 71, ""),
    ("P11", 73, ""),
    ("P12", 49, "AH"),
    ("P13", 3, "I"),
    ("P14", 43, ""),
    ("P15", 3, ""),
    ("P16", 9, "V"),
    ("P17", 31, ""),
    ("P18", 63, ""),
    ("P19", 11, ""),
    ("P20", 19, ""),
    ("P21", 7, ""),
    ("PCT1", 17, ""),
    ("PCT2", 19, ""),
    ("PCT3", 21, ""),
    ("PCT4", 15, ""),
    ("PCT5", 11, ""),
    ("PCT6", 11, ""),
    ("PCT7", 16, "I"),
    ("PCT8", 36, ""),
    ("PCT9", 16, "I"),
    ("PCT10", 20, "I"),
    ("PCT11", 6, ""),
    ("PCT12", 209, "O"),
    ("PCT13", 49, "I"),
    ("PCT14", 3, "I"),
    ("PCT15", 12, ""),
    ("PCT16", 15, ""),
    ("PCT19", 195, ""),
    ("PCO1", 39, ""),
    ("PCO2", 39, ""),
    ("PCO3", 33, ""),
    ("PCO4", 15, ""),
    ("PCO5", 31, ""),
    ("PCO6", 39, ""),
    ("PCO7", 39, ""),
    ("PCO8", 25, ""),
    ("PCO9", 25, ""),
    ("PCO10", 39, ""),
    ("H1", 1, ""),
    ("H2", 4, ""),
    ("H3", 3, ""),
    ("H4", 4, "V"),
    ("H5", 8, ""),
    ("H6", 8, ""),
    ("H7", 17, ""),
    ("H8", 1, ""),
    ("H9", 8, ""),
    ("H10", 17, ""),
    ("H11", 7, ""),
    ("H12", 17, "I"),
    ("H13", 21, "I"),
    ("H14", 69, ""),
    ("H15", 7, ""),
    ("HCT1", 35, ""),
    ("HCT2", 13, ""),
    ("HCT3", 13, ""),
];
/// The groups that exist for populations only.
const FOR_POPULATIONS: [(&str, usize, &str); 2] = [("PCT17", 31, "I"), ("PCT18", 63, "I")];

/// The letters A to Z, and AA to AH, up to one of them.
fn letters_to(last: &str) -> Vec<String> {
    let one = (b'A'..=b'Z').map(|letter| (letter as char).to_string());
    let all: Vec<String> = one.chain((b'A'..=b'H').map(|letter| format!("A{}", letter as char))).collect();
    let end = all.iter().position(|own| own == last).map_or(0, |at| at + 1);
    all[..end].to_vec()
}

/// Every code of every group of the DHC is formed by one of its products, or refused with a reason; and no other codes are formed.
#[test]
fn every_code_of_the_dhc_is_formed_or_has_a_reason() {
    let books = [Product::DhcPersons, Product::DhcHouseholds, Product::DhcUnits].map(book);
    let mut formed: BTreeMap<&str, usize> = BTreeMap::new();
    for code in books.iter().flat_map(|book| &book.codes) {
        *formed.entry(code.name.as_str()).or_default() += 1;
    }
    assert!(formed.values().all(|count| *count == 1));
    let not = not_formed().unwrap();
    let (mut codes, mut reasons, mut groups) = (0, Vec::new(), 0);
    for (base, lines, last) in GROUPS.iter().chain(&FOR_POPULATIONS) {
        let plain = GROUPS.iter().any(|(own, ..)| own == base).then(String::new);
        for letter in plain.into_iter().chain(letters_to(last)) {
            groups += 1;
            for line in 1..=*lines {
                codes += 1;
                let code = format!("{base}{letter}_{line:03}N");
                if formed.remove(code.as_str()).is_some() {
                    continue;
                }
                let why = not.iter().find(|not| not.is_about(&code, Product::DhcPersons)).map(|not| not.why.as_str());
                assert!(why.is_some_and(|why| why.len() > 20), "{code} has no reason");
                reasons.push(code);
            }
        }
    }
    assert!(formed.is_empty(), "{:?}", formed.keys().next());
    assert_eq!((groups, codes), (249, 9067));
    // P2 and H2, the totals of P6 and P7, and the medians.
    assert_eq!(reasons.len(), 2 * 4 + 4 + 10 * 3);
}

/// The tables of P.L. 94-171 have the published numbers of lines, numbered without gaps, and their first lines are their universes.
#[test]
fn tables_are_complete() {
    let mut counts: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for book in Product::ALL.map(book) {
        for code in &book.codes {
            let table = table_of(&code.name).to_string();
            let number = counts.entry((book.product.name(), table.clone())).or_default();
            *number += 1;
            assert!(book.tables.iter().any(|known| known.name == table), "{table}");
            let is_of_races = table == "P6" || table == "P7";
            if book.product != Product::DhcPersons || !is_of_races {
                assert_eq!(code.name, format!("{table}_{number:03}N"));
                assert_eq!(code.parent.is_empty(), *number == 1, "{}", code.name);
            }
        }
        let has_lines = |table: &str| counts.contains_key(&(book.product.name(), table.to_string()));
        assert!(book.tables.iter().all(|table| has_lines(&table.name)));
    }
    let of = |product: Product, table: &str| counts.get(&(product.name(), table.to_string())).copied();
    let pl94 = [("P1", 71), ("P2", 73), ("P3", 71), ("P4", 73), ("P5", 10)];
    pl94.iter().for_each(|(table, count)| assert_eq!(of(Product::Persons, table), Some(*count), "{table}"));
    assert_eq!(of(Product::Units, "H1"), Some(3));
    let persons = book(Product::Persons);
    let first: Vec<usize> = persons.codes.iter().filter(|c| c.parent.is_empty()).map(|c| size(&persons, c)).collect();
    assert_eq!(first, [2016, 2016, 1008, 1008, 7 * 252]);
}

/// The races of each label are those of its cells: sets of the six races, by size and then in order.
#[test]
fn labels_name_the_races_of_their_cells() {
    const RACES: [&str; 6] = [
        "White",
        "Black or African American",
        "American Indian and Alaska Native",
        "Asian",
        "Native Hawaiian and Other Pacific Islander",
        "Some Other Race",
    ];
    let mut sets: Vec<Vec<usize>> =
        (1..64_usize).map(|bits| (0..6).filter(|race| bits >> race & 1 == 1).collect()).collect();
    sets.sort_by_key(|set| (set.len(), set.clone()));
    let book = book(Product::Persons);
    let mut compared = 0;
    for code in &book.codes {
        let last = code.label.rsplit("!!").next().unwrap();
        let Some(races) = code.line.selected[3].as_ref().filter(|own| own.iter().filter(|own| **own).count() == 1)
        else {
            continue;
        };
        let set = &sets[races.iter().position(|own| *own).unwrap()];
        let names: Vec<&str> = set.iter().map(|race| RACES[*race]).collect();
        let alone = if set.len() == 1 { " alone" } else { "" };
        // Six races are a line of their own, below the line of its number of races.
        if !last.starts_with("Population of") {
            assert_eq!(last, names.join("; ") + alone, "{}", code.name);
            compared += 1;
        }
    }
    assert_eq!(compared, 4 * 63);
}

#[test]
fn codes_have_the_labels_of_the_bureaus_api() {
    let persons = book(Product::Persons);
    let label = |name: &str| persons.codes.iter().find(|code| code.name == name).unwrap().label.clone();
    assert_eq!(label("P1_001N"), "Total:");
    assert_eq!(label("P1_003N"), "Total:!!Population of one race:!!White alone");
    let black = "Total:!!Not Hispanic or Latino:!!Population of one race:!!Black or African American alone";
    assert_eq!(label("P2_006N"), black);
    assert_eq!(label("P4_002N"), "Total:!!Hispanic or Latino");
    let nursing = "Total:!!Institutionalized population:!!Nursing facilities/Skilled-nursing facilities";
    assert_eq!(label("P5_005N"), nursing);
    let units = book(Product::Units);
    assert_eq!(units.codes[1].label, "Total:!!Occupied");
}

#[test]
fn codes_are_chosen_and_refused_with_the_reason() {
    let persons = book(Product::Persons);
    let words = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>();
    let chosen = persons.choose(&words(&["P5_003N", "P0010003", "P5"])).unwrap();
    assert_eq!(chosen.len(), 11);
    assert_eq!([&chosen[0].name, &chosen[1].name, &chosen[2].name], ["P5_003N", "P1_003N", "P5_001N"]);
    assert_eq!(persons.choose(&words(&["all"])).unwrap().len(), 298);
    let says = |book: &CodeBook, name: &str, words: &[&str]| {
        let why = book.choose(&[name.to_string()]).unwrap_err().to_string();
        words.iter().for_each(|word| assert!(why.contains(word), "{name}: {why}"));
    };
    says(&persons, "p1_003n", &["did you mean \"P1_003N\""]);
    says(&persons, "P1_003", &["did you mean", "P1_003N"]);
    says(&persons, "H1_002N", &["cannot be formed", "pl94-units-us"]);
    says(&persons, "P12_003N", &["cannot be formed", "dhc-persons-us"]);
    says(&persons, "PCT20", &["cannot be formed", "no such table"]);
    says(&persons, "B01001_001", &["American Community Survey"]);
    says(&persons, "POP100", &["P1_001N is the same count"]);
    says(&persons, "population", &["unknown variable"]);
    says(&book(Product::Units), "P1", &["pl94-persons-us"]);
    says(&persons, "PCT10H_003N", &["the households of the DHC", "US_DHCH_PROD", "dhc-units-us"]);
    says(&persons, "H1_004N", &["the housing units of P.L. 94-171", "the housing units of the DHC"]);
    let households = book(Product::DhcHouseholds);
    says(&households, "P12AH_003N", &["the persons of the DHC", "dhc-persons-us"]);
    says(&households, "P12AI_003N", &["no such table"]);
    says(&households, "PCT20", &["no such table"]);
    says(&households, "H2_002N", &["urban and rural"]);
    says(&book(Product::DhcPersons), "P6_001N", &["once for each race"]);
    says(&book(Product::DhcPersons), "P6_099N", &["unknown variable"]);
    assert!(persons.choose(&[]).is_err());
}

/// Lines of the DHC, by the values that they select.
#[test]
fn codes_of_the_dhc_select_sexes_ages_and_races() {
    let schema = Release::find("dhc-persons-us").unwrap().schema.unwrap();
    let book = CodeBook::of_schema(&schema).unwrap();
    assert_eq!(book.product, Product::DhcPersons);
    let of = |name: &str| {
        let code = book.choose(&[name.to_string()]).unwrap().remove(0);
        let values = |own: &Option<Vec<bool>>| {
            own.as_ref().map(|own| (0..own.len()).filter(|value| own[*value]).collect::<Vec<usize>>())
        };
        (code.label, code.line.selected.iter().map(values).collect::<Vec<_>>())
    };
    let girls = |hispanic, race| vec![None, Some(vec![1]), Some((0..5).collect()), hispanic, race];
    assert_eq!(of("P12_027N"), ("Total:!!Female:!!Under 5 years".to_string(), girls(None, None)));
    assert_eq!(of("P12H_027N").1, girls(Some(vec![1]), None));
    assert_eq!(of("P12O_027N").1, girls(Some(vec![0]), Some((6..63).collect())));
    assert_eq!(
        of("P12V_027N"),
        ("Total:!!Female:!!Under 5 years".to_string(), girls(Some(vec![1]), Some((6..63).collect())))
    );
    assert_eq!(of("P12_025N").1[2], Some((85..116).collect()));
    assert_eq!(of("P12_017N").0, "Total:!!Male:!!55 to 59 years");
    assert_eq!(of("PCT12_105N").1[1..3], [Some(vec![0]), Some((110..116).collect())]);
    assert_eq!(of("PCT12D_003N").1[2..5], [Some(vec![0]), None, Some(vec![3])]);
    assert_eq!(of("P14_022N").0, "Total:!!Male:!!19 years");
    assert_eq!(of("P10_001N").1[2], Some((18..116).collect()));
    let why = book.choose(&["P13_001N".to_string()]).unwrap_err().to_string();
    assert!(why.contains("median"), "{why}");
}

/// The two histograms in the files of the DHC's households: the requested codes determine the histogram, and codes of both are refused.
#[test]
fn codes_are_of_one_of_two_histograms() {
    let schema = Release::find("dhc-units-us").unwrap().schema.unwrap();
    let books = CodeBooks::of_schema(&schema).unwrap();
    let choose = |names: &[&str]| books.choose(&names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>());
    let (codes, is_second) = choose(&["P16", "H9_002N"]).unwrap();
    assert!(codes.len() == 10 && !is_second);
    let (codes, is_second) = choose(&["H5", "H1_001N"]).unwrap();
    assert!(codes.len() == 9 && is_second);
    let (codes, is_second) = choose(&["all"]).unwrap();
    assert!(codes.len() > 400 && !is_second);
    for (names, says) in [
        (&["H1", "H4"][..], "the variables \"H1\" and \"H4\" are of two histograms"),
        (&["all", "H3_002N"], "two histograms"),
        (&["H3_009N"], "unknown variable \"H3_009N\""),
        (&["P12"], "the persons of the DHC"),
        (&["H1", "P12"], "two histograms"),
    ] {
        let why = choose(names).unwrap_err().to_string();
        assert!(why.contains(says), "{names:?}: {why}");
    }
}

#[test]
fn other_histograms_have_no_codes() {
    let values = vec!["yes".to_string(), "no".to_string()];
    let schema = Schema { attributes: vec![Attribute { name: "own".to_string(), values }], ..Schema::default() };
    let why = CodeBook::of_schema(&schema).unwrap_err().to_string();
    assert!(why.contains("own (2)") && why.contains("hhgq (8), votingage (2)") && why.contains("hhtype_dhch"), "{why}");
}
