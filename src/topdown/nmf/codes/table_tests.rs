//! Tables of the DHC against counts by hand, and against each other.

use std::collections::BTreeMap;

use super::{
    book::{CodeBook, Product},
    definitions::household_types,
};
use crate::release::{Release, schema::Recode};

/// The count of a line over records: the values of all attributes, and the number of records.
fn count(book: &CodeBook, code: &str, records: &[(&[usize], u64)]) -> u64 {
    let code = book.codes.iter().find(|own| own.name == code).unwrap_or_else(|| panic!("{code}"));
    let is_inside = |values: &&[usize]| {
        code.line.selected.iter().zip(*values).all(|(own, value)| own.as_ref().is_none_or(|own| own[*value]))
    };
    records.iter().filter(|(values, _)| is_inside(values)).map(|(_, count)| count).sum()
}

/// Compares all lines of a table with counts by hand.
fn assert_table(book: &CodeBook, records: &[(&[usize], u64)], table: &str, by_hand: &[u64]) {
    let own: Vec<u64> = (1..=by_hand.len()).map(|line| count(book, &format!("{table}_{line:03}N"), records)).collect();
    assert_eq!(own, by_hand, "{table}");
    let lines = book.codes.iter().filter(|code| code.name.starts_with(&format!("{table}_"))).count();
    assert_eq!(lines, by_hand.len(), "{table}");
}

/// Thirty-one households, with the types that the run's own code describes so.
#[test]
fn tables_of_households_are_counts_by_hand() {
    let book = CodeBook::of_product(Product::DhcHouseholds).unwrap();
    // Sex, age, origin and race of the householder, elderly members, tenure, type.
    let records: [(&[usize], u64); 9] = [
        // Husband and wife of 35 to 44, own children under 6, four persons, with a mortgage.
        (&[0, 2, 0, 0, 0, 0, 1], 3),
        // Two married women, the householder of 75 to 84, two persons, free and clear.
        (&[1, 7, 0, 3, 3, 1, 152], 2),
        // An unmarried couple, the man of 15 to 24, Hispanic, no others, renting.
        (&[0, 0, 1, 5, 0, 2, 270], 5),
        // Two unmarried women of 45 to 54 with own children under 6, six persons, renting.
        (&[1, 3, 0, 1, 0, 2, 285], 1),
        // A man of 65 to 74 alone, with a mortgage.
        (&[0, 6, 0, 0, 2, 0, 392], 7),
        // A woman of 25 to 34 alone, of two races, renting.
        (&[1, 1, 0, 6, 0, 2, 392], 4),
        // A mother of 35 to 44 with an own child under 6 and her parent: three generations, three persons, Hispanic, renting.
        (&[1, 2, 1, 0, 0, 2, 400], 2),
        // A man of 60 to 64 with a relative of 6 to 17 who is no own child, free and clear.
        (&[0, 5, 0, 2, 1, 1, 456], 1),
        // A woman of 55 to 59 with a housemate, renting.
        (&[1, 4, 0, 4, 0, 2, 510], 6),
    ];
    let tables: [(&str, &[u64]); 19] = [
        ("P16", &[31, 9, 5, 4, 1, 3, 22, 11, 11]),
        ("P16H", &[7, 2, 0, 2, 0, 2, 5, 0, 5]),
        ("P19", &[31, 9, 7, 2, 2, 0, 22, 4, 18, 7, 11]),
        ("P20", &[31, 5, 3, 2, 6, 1, 5, 8, 7, 7, 0, 1, 0, 12, 4, 0, 2, 0, 6]),
        ("P21", &[31, 7, 7, 0, 24, 2, 22]),
        ("PCT2", &[31, 11, 7, 4, 20, 9, 5, 3, 2, 4, 1, 0, 1, 3, 3, 0, 11, 5, 6]),
        ("PCT3", &[31, 9, 0, 0, 5, 1, 0, 1, 0, 2, 0, 22, 5, 4, 0, 0, 6, 0, 7, 0, 0]),
        ("PCT4", &[31, 10, 3, 2, 1, 1, 0, 7, 21, 6, 3, 3, 0, 3, 15]),
        ("PCT5", &[31, 10, 7, 3, 3, 0, 21, 4, 17, 6, 11]),
        ("PCT6", &[31, 2, 0, 2, 2, 0, 29, 11, 18, 7, 11]),
        ("PCT7", &[31, 9, 3, 2, 3, 0, 1, 0, 22, 11, 11, 0, 0, 0, 0, 0]),
        ("PCT10", &[9, 5, 3, 3, 0, 0, 2, 4, 1, 0, 0, 0, 0, 1, 3, 3, 3, 0, 0, 0]),
        ("PCT14", &[31, 2, 29]),
        ("PCT15", &[31, 5, 3, 2, 0, 2, 6, 5, 1, 0, 1, 20]),
        ("PCT16", &[22, 12, 7, 0, 7, 5, 5, 0, 10, 4, 4, 0, 6, 6, 0]),
        ("H4", &[31, 10, 3, 18]),
        ("H12", &[31, 13, 7, 3, 0, 3, 0, 0, 0, 18, 4, 11, 2, 0, 0, 1, 0]),
        ("H15", &[31, 13, 4, 9, 18, 3, 15]),
        ("HCT3", &[31, 13, 4, 3, 0, 1, 9, 18, 3, 3, 0, 0, 15]),
    ];
    tables.iter().for_each(|(table, by_hand)| assert_table(&book, &records, table, by_hand));
    assert_table(&book, &records, "H4P", &[2, 0, 0, 2]);
    assert_table(&book, &records, "H11", &[31, 13, 13, 0, 18, 11, 7]);
}

/// Forty-nine persons.
#[test]
fn tables_of_persons_are_counts_by_hand() {
    let book = CodeBook::of_product(Product::DhcPersons).unwrap();
    // Relationship or type of group quarters, sex, age, origin, race.
    let records: [(&[usize], u64); 16] = [
        (&[0, 0, 70, 0, 0], 4),
        (&[1, 1, 40, 1, 0], 3),
        (&[2, 0, 41, 0, 5], 2),
        (&[4, 1, 33, 0, 0], 1),
        (&[6, 0, 10, 1, 0], 6),
        (&[6, 1, 30, 0, 0], 1),
        (&[11, 1, 2, 0, 6], 2),
        (&[15, 0, 25, 0, 3], 3),
        (&[17, 1, 66, 0, 0], 1),
        (&[10, 1, 80, 0, 0], 1),
        // A state prison, nursing facilities, student housing, a ship, other facilities, and a group home for juveniles.
        (&[20, 0, 30, 0, 1], 5),
        (&[27, 1, 88, 0, 0], 7),
        (&[33, 1, 19, 0, 0], 8),
        (&[35, 0, 22, 0, 0], 2),
        (&[41, 0, 65, 0, 0], 1),
        (&[24, 0, 16, 0, 0], 2),
    ];
    let tables: [(&str, &[u64]); 9] = [
        ("P15", &[24, 8, 16]),
        ("P17", &[49, 24, 7, 4, 4, 0, 3, 0, 3, 2, 1, 0, 0, 7, 6, 0, 0, 0, 0, 2, 2, 0, 1, 0, 0, 0, 0, 4, 25, 14, 11]),
        ("PCT17H", &[9, 9, 3, 0, 0, 0, 3, 0, 3, 0, 0, 0, 0, 6, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("PCT9", &[14, 6, 4, 4, 4, 0, 0, 0, 0, 0, 1, 0, 1, 8, 7, 1]),
        ("PCT11", &[2, 2, 0, 0, 0, 0]),
        ("PCO4", &[2, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("PCO9", &[2, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("H8", &[24]),
        ("P4", &[49, 40, 9]),
    ];
    tables.iter().for_each(|(table, by_hand)| assert_table(&book, &records, table, by_hand));
    let group_quarters = [
        &[25, 10, 2, 2, 0, 2, 0, 0, 0, 0, 0, 0, 7, 5, 5, 0, 0, 0, 2, 0, 2, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1][..],
        &[15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 8, 8, 0, 0, 7, 7, 0, 0, 7, 0, 0, 0, 0, 0],
    ]
    .concat();
    assert_table(&book, &records, "P18", &group_quarters);
    let one = |code: &str| count(&book, code, &records);
    // Of the state prison's men of 18 to 64; own children; White alone or in combination, Hispanic; Asian likewise, not Hispanic.
    assert_eq!(
        [one("PCT19_040N"), one("PCT8_008N"), one("PCT8_012N"), one("P12AC_001N"), one("P12Z_001N")],
        [5, 6, 2, 9, 3]
    );
    assert_eq!([one("P6_002N"), one("P6_003N"), one("P7_010N"), one("P12W_002N")], [39, 7, 9, 9]);
}

/// Housing units: those of group quarters are in no table.
#[test]
fn tables_of_housing_units_are_counts_by_hand() {
    let book = CodeBook::of_product(Product::DhcUnits).unwrap();
    let records: [(&[usize], u64); 6] = [(&[0], 5), (&[3], 2), (&[4], 7), (&[8], 1), (&[10], 3), (&[26], 9)];
    assert_table(&book, &records, "H1", &[18]);
    assert_table(&book, &records, "H3", &[18, 7, 11]);
    assert_table(&book, &records, "H5", &[11, 7, 0, 0, 0, 1, 0, 3]);
}

/// Tables with the same universe have the same total, and the lines of group quarters add up across tables.
#[test]
fn tables_of_one_universe_agree() {
    for product in Product::ALL {
        let book = CodeBook::of_product(product).unwrap();
        let mut totals: BTreeMap<&str, _> = BTreeMap::new();
        for code in book.codes.iter().filter(|code| code.name.ends_with("_001N")) {
            let known = totals.entry(code.line.description.as_str()).or_insert(&code.line.selected);
            assert_eq!(**known, code.line.selected, "{}", code.name);
        }
    }
    let persons = CodeBook::of_product(Product::DhcPersons).unwrap();
    let values = |code: &str| -> Vec<usize> {
        let own = persons.codes.iter().find(|own| own.name == code).unwrap();
        let kinds = own.line.selected[0].as_ref().unwrap();
        (0..kinds.len()).filter(|kind| kinds[*kind]).collect()
    };
    let union = |codes: &[&str]| -> Vec<usize> {
        let mut all: Vec<usize> = codes.iter().flat_map(|code| values(code)).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(union(&["P15_001N", "PCO1_001N"]), (0..42).collect::<Vec<_>>());
    assert_eq!(values("H8_001N"), values("P15_001N"));
    assert_eq!(union(&["PCO2_001N", "PCO7_001N"]), values("PCO1_001N"));
    assert_eq!(union(&["PCO3_001N", "PCO4_001N", "PCO5_001N", "PCO6_001N"]), values("PCO2_001N"));
    assert_eq!(union(&["PCO8_001N", "PCO9_001N", "PCO10_001N"]), values("PCO7_001N"));
    assert_eq!([values("P18_015N"), values("P18_022N")], [values("PCO3_001N"), values("PCO10_001N")]);
}

/// The recodes of the run follow from the same description of each type of household: their groups are sets of types by name,
/// and the groups of the finest one cut none of the named sets that they distinguish.
#[test]
fn household_types_are_those_of_the_recodes_of_the_run() {
    let named = household_types().unwrap();
    let recodes = Release::find("dhc-units-us").unwrap().schema.unwrap().recodes;
    let recode = |name: &str| recodes.iter().find(|own| own.name == name).unwrap();
    let group =
        |recode: &Recode, group: u32| -> Vec<bool> { recode.group_of.iter().map(|own| *own == group).collect() };
    let common = |names: &str| -> Vec<bool> {
        let sets: Vec<&Vec<bool>> = names.split(' ').map(|name| &named.sets[name]).collect();
        (0..522).map(|kind| sets.iter().all(|set| set[kind])).collect()
    };
    let couples =
        ["married-same-sex", "married-opposite-sex", "cohabiting-same-sex", "cohabiting-opposite-sex", "no-partner"];
    let children = ["own-children-under-6", "no-own-children", "own-children-6-to-17", "own-children-of-both-ages"];
    let kinds = ["no-partner", "married", "cohabiting"];
    let of_children: Vec<String> =
        kinds.iter().flat_map(|kind| children.iter().map(move |own| format!("{kind} {own}"))).collect();
    let compare = |recode: &Recode, names: &[&str]| {
        for (number, names) in (0..).zip(names) {
            assert_eq!(group(recode, number), common(names), "{} {names}", recode.name);
        }
    };
    compare(recode("coupled_hh_type"), &couples);
    compare(recode("multig"), &["fewer-generations", "three-generations"]);
    let of_children: Vec<&str> = of_children.iter().map(String::as_str).collect();
    compare(recode("partner_type_detailed_own_child_status"), &of_children);
    let finest = recode("DetailedCoupleTypeMultGenDetOwnChildSize");
    let sizes = (1..=7).map(|size| format!("size-{size}")).collect::<Vec<_>>();
    let mut distinguished: Vec<&str> = sizes.iter().map(String::as_str).collect();
    distinguished.extend(couples.iter().chain(&children).chain(&["three-generations", "alone", "married"]));
    for name in distinguished {
        let mut inside: BTreeMap<u32, bool> = BTreeMap::new();
        for (own, is_inside) in finest.group_of.iter().zip(&named.sets[name]) {
            assert_eq!(inside.entry(*own).or_insert(*is_inside), is_inside, "{name}");
        }
    }
    // Two names of every kind divide all types.
    for (one, other) in [
        ("family", "nonfamily"),
        ("alone", "not-alone"),
        ("own-children", "no-own-children"),
        ("children", "no-children"),
    ] {
        assert!((0..522).all(|kind| named.sets[one][kind] != named.sets[other][kind]), "{one} {other}");
    }
}
