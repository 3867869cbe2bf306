//! Cell keys and random rounding against outcomes that are enumerated from their definitions.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use dp_assay::{
    account::{Account, Composition, Counts, Epsilon},
    law::{FileOptions, Law, PerturbationTable},
    numeric::rational::parse,
};
use rug::Rational;
use serde_json::Value;

use crate::common::program::assay;

type Row = BTreeMap<u64, Rational>;

fn fraction(numerator: u64, denominator: u64) -> Rational {
    Rational::from((numerator, denominator))
}

/// sup over events of P(S) - ratio Q(S): all outcomes with P > ratio Q.
fn hockey_stick(p: &Row, q: &Row, ratio: &Rational) -> Rational {
    let none = Rational::new();
    let of = |(value, p): (&u64, &Rational)| p - Rational::from(q.get(value).unwrap_or(&none) * ratio);
    p.iter().map(of).filter(|rest| *rest > 0).sum()
}

/// The law of two independent cells, whose outcomes are numbered.
fn product(one: &Row, other: &Row) -> Row {
    let of = |(a, p): (&u64, &Rational)| {
        let p = p.clone();
        let a = *a;
        other.iter().map(move |(b, q)| (a * 1_000_000 + b, Rational::from(&p * q))).collect::<Vec<_>>()
    };
    one.iter().flat_map(of).collect()
}

/// The largest delta over all counts below a bound and all changes, in both directions, at e^epsilon = ratio, of one cell or of two.
fn largest(row: &dyn Fn(u64) -> Row, changes: &[u64], cells: usize, below: u64, ratio: &Rational) -> [Rational; 2] {
    let pairs: Vec<[Row; 2]> =
        (0..below).flat_map(|i| changes.iter().map(move |change| [row(i + change), row(i)])).collect();
    let mut most = [Rational::new(), Rational::new()];
    let mut compare = |with: &Row, without: &Row| {
        let both = [hockey_stick(with, without, ratio), hockey_stick(without, with, ratio)];
        for (most, own) in most.iter_mut().zip(both) {
            *most = most.clone().max(own);
        }
    };
    for (at, [with, without]) in pairs.iter().enumerate() {
        match cells {
            1 => compare(with, without),
            _ => pairs[at..].iter().for_each(|[other, none]| compare(&product(with, other), &product(without, none))),
        }
    }
    most
}

/// The account has these deltas, and what is computed a second time contains them.
fn assert_enclosed(account: &Composition, ratio: &Rational, truth: &[Rational; 2], about: &str) {
    let epsilon = Epsilon::new(parse(&format!("{:.60}", rug::Float::with_val(400, ratio).ln())).unwrap()).unwrap();
    // An epsilon of 60 digits: delta differs from that of its ratio by less than 10^-50.
    let near = |value: &Rational, enclosure: &dp_assay::numeric::Enclosure| {
        let slack = Rational::from((1, 10_u64.pow(15)));
        *enclosure.lower() <= Rational::from(value + &slack) && *enclosure.upper() >= Rational::from(value - &slack)
    };
    let [remove, add] = account.delta_of_directions(&epsilon, 12).unwrap().unwrap().map(|one| one.value);
    assert!(near(&truth[0], &remove) && near(&truth[1], &add), "{about}: {remove} {add} for {truth:?}");
    let most = truth[0].clone().max(truth[1].clone());
    let whole = account.delta(epsilon.clone(), 12).unwrap();
    assert!(
        near(&most, &whole.value) && (most == 0 || whole.value.is_tight(10)),
        "{about}: {} for {most}",
        whole.value
    );
    let second = account.second_delta(&account.evaluator(), &epsilon, None).unwrap();
    assert!(near(&most, &second.value), "{about}: {}", second.value);
}

/// The row of a count by the definition: a period less until it has a row.
fn repeated(rows: &[Row], period: u64, i: u64) -> Row {
    let mut own = i;
    while own >= rows.len() as u64 {
        own -= period;
    }
    rows[own as usize].iter().map(|(j, p)| (j + i - own, p.clone())).collect()
}

fn table_of(rows: &[Row], period: u64) -> PerturbationTable {
    let entries = (0..).zip(rows).flat_map(|(i, row)| row.iter().map(move |(j, p)| (i, *j, p.clone())));
    PerturbationTable::new("p.csv", entries).unwrap().with_period(period).unwrap()
}

/// Rows of random shares on up to four values around each count.
fn random_rows(seed: u64, count: u64) -> Vec<Row> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    };
    (0..count)
        .map(|i| {
            let least = i.saturating_sub(2);
            let shares: Vec<u64> = (0..4).map(|_| next(4)).collect();
            let sum: u64 = shares.iter().sum();
            match sum {
                0 => BTreeMap::from([(i, Rational::from(1))]),
                _ => (least..).zip(&shares).filter(|(_, s)| **s > 0).map(|(j, s)| (j, fraction(*s, sum))).collect(),
            }
        })
        .collect()
}

#[test]
fn tables_of_every_period_are_the_worst_of_all_counts() {
    let mut compared = 0;
    for seed in 1..=6 {
        let count = 2 + seed % 4;
        let rows = random_rows(seed, count);
        for period in 1..=count {
            let law = Law::Perturbation(Arc::new(table_of(&rows, period)));
            let row = |i| repeated(&rows, period, i);
            for (cells, shift) in [(1, 1), (1, 3), (2, 1)] {
                let own = Counts::new(law.clone(), cells, shift).unwrap();
                let account = Composition::new([own]).unwrap();
                let changes: Vec<u64> = (1..=shift).collect();
                for ratio in [fraction(1, 1), fraction(3, 2), fraction(7, 1)] {
                    // Over more than two periods beyond the last row nothing is new.
                    let truth = largest(&row, &changes, cells as usize, count + 2 * period + 1, &ratio);
                    assert_enclosed(&account, &ratio, &truth, &format!("{seed} {period} {cells} {shift} {ratio}"));
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 150);
}

/// Rows that differ only where the period begins again: the last row and the first that is repeated decide.
#[test]
fn the_pair_across_the_end_of_a_period_counts() {
    let half = |a: u64, b: u64| BTreeMap::from([(a, fraction(1, 2)), (b, fraction(1, 2))]);
    let rows = [half(0, 1), half(1, 2), half(5, 6), half(6, 7)];
    let law = Law::Perturbation(Arc::new(table_of(&rows, 4)));
    let account = Composition::new([Counts::new(law, 1, 1).unwrap()]).unwrap();
    assert_eq!(*account.delta("1", 12).unwrap().value.lower(), 1);
    let deciding = account.deciding_rows(&Epsilon::new(Rational::from(1)).unwrap()).unwrap().unwrap();
    assert_eq!(deciding.in_words().unwrap(), "the counts 1 and 2 of p.csv, on removal");
    // The count 2 has the row of 0 two higher: the value 2, which the count 1 never has.
    let wrap = [BTreeMap::from([(0, Rational::from(1))]), BTreeMap::from([(0, fraction(9, 10)), (3, fraction(1, 10))])];
    let law = Law::Perturbation(Arc::new(table_of(&wrap, 2)));
    let account = Composition::new([Counts::new(law, 1, 1).unwrap()]).unwrap();
    assert_eq!(*account.delta("1", 12).unwrap().value.upper(), 1);
    let deciding = account.deciding_rows(&Epsilon::new(Rational::from(1)).unwrap()).unwrap().unwrap();
    assert_eq!((deciding.rows[0].counts, deciding.are_all_compared), ([1, 2], true));
}

#[test]
fn random_rounding_is_that_of_its_definition() {
    for base in 2..=7 {
        let row = |i: u64| -> Row {
            let (below, up) = (i / base * base, i % base);
            let both = [(below, fraction(base - up, base)), (below + base, fraction(up, base))];
            both.into_iter().filter(|(_, p)| *p > 0).collect()
        };
        for (cells, shift) in [(1, 1), (1, 2), (1, base), (2, 1)] {
            let account =
                Composition::new([Counts::parse("random-rounding", &format!("{base}x{cells}@{shift}")).unwrap()]);
            let changes: Vec<u64> = (1..=shift).collect();
            for ratio in [fraction(1, 1), fraction(3, 2), fraction(20, 1)] {
                let truth = largest(&row, &changes, cells, 2 * base + 1, &ratio);
                assert_enclosed(account.as_ref().unwrap(), &ratio, &truth, &format!("{base} {cells} {shift} {ratio}"));
                if (cells, shift) == (1, 1) {
                    // What the count above a multiple shows.
                    assert_eq!(truth, [fraction(1, base), fraction(1, base)]);
                }
            }
        }
    }
    for text in ["1", "0", "-3", "5/2", "1001", "3:4", ""] {
        assert!(Counts::parse("random-rounding", text).is_err(), "{text}");
    }
    assert_eq!(Counts::parse("random-rounding", "3x2").unwrap().to_string(), "random rounding 3x2@1");
}

/// The rule of ten and five that the Office for National Statistics publishes beside its programs.
fn ten_five(pcv: i64) -> i64 {
    if pcv < 10 { -pcv } else { [0, -1, -2, 2, 1][pcv as usize % 5] }
}

fn keyed(last: i64, keys: i64, noise: impl Fn(i64, i64) -> i64) -> String {
    let rows = (1..=last).flat_map(|pcv| (0..keys).map(move |key| (pcv, key)));
    let lines: String = rows.map(|(pcv, key)| format!("{pcv},{key},{}\n", noise(pcv, key))).collect();
    format!("\"pcv\",\"ckey\",\"pvalue\"\n{lines}")
}

fn read(folder: &Path, text: &str, options: FileOptions) -> dp_assay::Result<PerturbationTable> {
    let file = folder.join("keys.csv");
    fs::write(&file, text).unwrap();
    PerturbationTable::read(&file, options)
}

#[test]
fn tables_by_keys_are_read_as_the_office_uses_them() {
    let folder = tempfile::tempdir().unwrap();
    let of_layout = FileOptions::default();
    let with = |period| FileOptions { period: Some(period), normalize: false };
    let text = keyed(750, 256, |pcv, _| ten_five(pcv));
    let table = read(folder.path(), &text, of_layout).unwrap();
    assert_eq!(table.period(), 250);
    assert!(table.about_rows().starts_with("The rows 501 to 750 of "), "{}", table.about_rows());
    assert!(table.about_rows().ends_with("no row of the count 0: it is taken to be published as 0."));
    let account = Composition::new([Counts::new(Law::Perturbation(Arc::new(table)), 1, 1).unwrap()]).unwrap();
    // Rounding without chance: the counts 9 and 10 are published as 0 and 10.
    assert_eq!(*account.delta("1", 12).unwrap().value.lower(), 1);
    let deciding = account.deciding_rows(&Epsilon::new(Rational::from(1)).unwrap()).unwrap().unwrap();
    assert_eq!(deciding.rows[0].counts, [9, 10]);
    // Each key adds a number between -1 and 2 that depends on the count and on the key.
    let noise = |pcv: i64, key: i64| (pcv * 5 + key * 3) % 4 - 1;
    let text = keyed(7, 8, noise);
    for period in [1, 3, 7] {
        let table = read(folder.path(), &text, with(period)).unwrap();
        let row = |i: u64| -> Row {
            let mut pcv = i;
            while pcv > 7 {
                pcv -= period;
            }
            let mut own = Row::new();
            let keys = if i == 0 { 1 } else { 8 };
            for key in 0..keys {
                let noise = if i == 0 { 0 } else { noise(pcv as i64, key) };
                *own.entry(i.checked_add_signed(noise).unwrap()).or_default() += fraction(1, keys as u64);
            }
            own
        };
        let account = Composition::new([Counts::new(Law::Perturbation(Arc::new(table)), 1, 1).unwrap()]).unwrap();
        for ratio in [fraction(1, 1), fraction(2, 1)] {
            assert_enclosed(&account, &ratio, &largest(&row, &[1], 1, 30, &ratio), &format!("{period} {ratio}"));
        }
    }
    for (text, options, expected) in [
        (&text[..], of_layout, "needs a period"),
        (&text, with(8), "from 1 to 7"),
        (&text, with(0), "from 1 to 7"),
        ("pcv,ckey,pvalue\n1,0,-2\n", with(1), "of at least -1"),
        ("pcv,ckey,pvalue\n1,0,0\n1,0,0\n", with(1), "line 3"),
        ("pcv,ckey,pvalue\n1,0,0\n1,2,0\n", with(1), "the count 1 has no key 1"),
        (
            "pcv,ckey,pvalue\n1,0,0\n2,0,0\n2,1,0\n",
            with(1),
            "the count 1 has no key 1: every count needs each key from 0 to 1 once",
        ),
        ("pcv,ckey,pvalue\n1,0,0\n3,0,0\n", with(1), "the count 2 has no row"),
        ("pcv,ckey,pvalue\n2,0,0\n3,0,0\n", with(1), "the count 0 has no row"),
        ("pcv,ckey,pvalue\n1,0,1/2\n", with(1), "line 2"),
        ("pcv,ckey,pvalue\n1,65536,0\n", with(1), "line 2"),
        ("pcv,ckey,pvalue\n", with(1), "it has no row"),
        ("pcv,ckey\n1,0\n", with(1), "pvalue"),
        ("i,j,p\n0,0,1\n", with(2), "from 1 to 1"),
    ] {
        let error = read(folder.path(), text, options).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
}

/// The answers of the program name both rows, the period, and what the file leaves open.
#[test]
fn answers_name_the_rows_that_decide() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cells.csv");
    fs::write(&file, "i,j,p\n0,0,1\n1,0,2/3\n1,3,1/3\n2,0,1/3\n2,3,2/3\n").unwrap();
    let given = file.display().to_string();
    let json = |words: &[&str], status: i32| -> Value {
        let output = assay(&[words, &["--json"]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let of = |answer: &Value| answer["delta"]["lower"].as_f64().unwrap();
    // Random rounding, where the last row alone stands for all larger counts, is another mechanism.
    assert_eq!(of(&json(&["delta", "--p-table", &given, "--epsilon", "1"], 0)), 1.0);
    let answer = json(&["delta", "--p-table", &given, "--period", "3", "--epsilon", "1"], 0);
    assert!((of(&answer) - 1.0 / 3.0).abs() < 1e-12, "{answer}");
    let expected = serde_json::json!({
        "direction": "remove", "all_choices": true,
        "rows": [{ "table": given, "counts": [0, 1], "cells": 1, "entered": false }],
    });
    assert_eq!(answer["deciding_rows"], expected);
    assert!(answer["worst_pair"].as_str().unwrap().ends_with("cells.csv, on removal"), "{answer}");
    let own = json(&["delta", "--random-rounding", "3", "--epsilon", "1"], 0);
    assert_eq!(own["delta"], answer["delta"]);
    let none = json(&["epsilon", "--random-rounding", "3x2", "--delta", "1/10"], 1);
    assert_eq!(none["deciding_rows"]["rows"][0]["cells"], 2);
    // The residue 1 of two cells.
    let some = json(&["epsilon", "--random-rounding", "3x2", "--delta", "0.6"], 0);
    assert!(some["epsilon"]["upper"].as_f64().unwrap() < 1.0, "{some}");
    for words in [
        &["delta", "--random-rounding", "3", "--epsilon", "1", "--period", "3"][..],
        &["delta", "--p-table", &given, "--epsilon", "1", "--period", "4"],
        &["delta", "--p-table", &given, "--epsilon", "1", "--period", "0"],
        &["delta", "--random-rounding", "1", "--epsilon", "1"],
    ] {
        let output = assay(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
}

/// A page, a memo and the risk at the deltas of offices, for which no epsilon is finite.
#[test]
fn pages_and_memos_exist_at_every_delta() {
    let folder = tempfile::tempdir().unwrap();
    let (page, memo) = (folder.path().join("page.html"), folder.path().join("memo"));
    let own = |words: &[&str]| {
        let output = assay(&[words, &["--random-rounding", "3x2"]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // Both cells of the residue 0: something that proves the record is shown with 1 - (2/3)^2 = 5/9, so that 1/2 + 5/18 = 7/9 of the decisions are right.
    let said = own(&["report", "--out", &page.display().to_string()]);
    assert!(said.contains("right at most 77.8 % of the time"), "{said}");
    let said = own(&["memo", "--out", &memo.display().to_string()]);
    assert!(said.contains("No epsilon is finite") || said.contains("no epsilon is finite"), "{said}");
    for delta in ["1e-10", "0.5", "0.9"] {
        let said = own(&["risk", "bound", "--prior", "1/2", "--delta", delta]);
        assert!(said.contains("0.777778"), "{said}");
    }
}

/// Every cell has the value that its key leads to, in each place of the file; the keys are left out.
#[test]
fn counts_are_perturbed_by_their_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (shares, keys) = (path("shares.csv"), path("keys.csv"));
    fs::write(&shares, "i,j,p\n0,0,1\n1,0,1/2\n1,2,1/2\n2,1,1/4\n2,2,1/4\n2,4,1/2\n").unwrap();
    fs::write(&keys, keyed(5, 4, |pcv, key| (pcv + key) % 3 - 1)).unwrap();
    let run = |table: &str, period: &str, text: &str| {
        let (input, output) = (path("in.csv"), path("out.csv"));
        fs::write(&input, text).unwrap();
        let words = [
            "noise",
            &input,
            "--column",
            "count",
            "--keys",
            "key",
            "--p-table",
            table,
            "--period",
            period,
            "--out",
            &output,
            "--force",
        ];
        let done = assay(&words).output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        (done.status.code(), said, fs::read_to_string(&output).unwrap_or_default())
    };
    // Cumulative shares of the row of 2: 1/4, 1/2, 1; of its repetitions two higher for each period of two.
    let (status, said, out) = run(
        &shares,
        "2",
        "place,count,key\n\"a, b\",1,0.4999\nc,1,1/2\nd,2,0\ne,2,0.25\nf,4,0.25\ng,7,0.999\nh,0,0.9\ni,4,0.25\n",
    );
    assert_eq!(out, "place,count\n\"a, b\",0\nc,2\nd,1\ne,2\nf,4\ng,8\nh,0\ni,4\n", "{said}");
    assert!(status == Some(0) && said.contains("8 counts") && said.contains("7 different pairs"), "{said}");
    // The place of both columns does not matter, nor what is beside them.
    for (text, expected) in [
        ("key,count,x\r\n0.5,1,y\r\n", "count,x\r\n2,y\r\n"),
        ("key;x;count\n0.5;y;1\n\n", "x;count\ny;2\n\n"),
        ("count,key\n1,0.5", "count\n2"),
        ("x,key,count\n\"y\",\"0.5\",1\n", "x,count\n\"y\",2\n"),
        ("\u{feff}key,count\n0.5,1\n", "\u{feff}count\n2\n"),
    ] {
        let (_, said, out) = run(&shares, "2", text);
        assert_eq!(out, expected, "{text:?} {said}");
    }
    let rows: String = (0..=12).flat_map(|count| (0..4).map(move |key| format!("{count},{key}\n"))).collect();
    let expected: String = (0..=12_i64)
        .flat_map(|count| {
            (0..4_i64).map(move |key| {
                // Of period 3 the rows 3 to 5 are repeated.
                let pcv = if count > 5 { (count - 3) % 3 + 3 } else { count };
                let noise = if count == 0 { 0 } else { (pcv + key) % 3 - 1 };
                format!("{}\n", count + noise)
            })
        })
        .collect();
    let (_, said, out) = run(&keys, "3", &format!("count,key\n{rows}"));
    assert_eq!(out, format!("count\n{expected}"), "{said}");
    for (table, text, expected) in [
        (&shares, "count,key\n1,1\n", "line 2, column 2"),
        (&shares, "count,key\n1,-0.1\n", "at least 0 and below 1"),
        (&shares, "count,key\n-1,0.1\n", "line 2, column 1"),
        (&shares, "count,key\n1,0.1\n1,\n", "line 3, column 2"),
        (&shares, "count,keys\n1,0.1\n", "key"),
        (&keys, "count,key\n1,4\n", "from 0 to 3"),
        (&keys, "count,key\n1,0.5\n", "from 0 to 3"),
        (&keys, "count,key\n9999999999999999999,0\n", "line 2, column 1"),
    ] {
        let (status, said, _) = run(table, "2", text);
        assert!(status == Some(2) && said.contains(expected), "{text:?}: {said}");
    }
    for words in [
        &["noise", &shares, "--column", "i", "--p-table", &shares, "--out", "-"][..],
        &["noise", &shares, "--column", "i", "--keys", "j", "--discrete-gaussian", "5", "--out", "-"],
        &["noise", &shares, "--column", "i", "--column", "p", "--keys", "j", "--p-table", &shares, "--out", "-"],
        &["noise", &shares, "--column", "i", "--keys", "i", "--p-table", &shares, "--out", "-"],
        &["sample", "--p-table", &shares, "--count", "3"],
    ] {
        assert_eq!(assay(words).output().unwrap().status.code(), Some(2), "{words:?}");
    }
}

/// A designed table is read again with the numbers that were stated of it, in both layouts.
#[test]
fn tables_are_designed_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("designed.csv").display().to_string();
    let json = |words: &[&str], status: i32| -> Value {
        let output = assay(&[words, &["--json"]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let of = |value: &Value| value["upper"].as_f64().unwrap();
    let design =
        ["calibrate", "--p-table", "?", "--variance", "3", "--bound", "5", "--blocked", "2", "--table-out", &out];
    let answer = json(&design, 0);
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 9);
    for row in rows {
        let (mean, variance) = (row["mean"].as_f64().unwrap(), row["variance"].as_f64().unwrap());
        assert!(mean.abs() < 1e-6 && variance < 3.0 + 1e-6, "{row}");
        let values = row["probabilities"].as_array().unwrap().iter().map(|pair| pair[0].as_u64().unwrap());
        assert!(values.clone().all(|value| value != 1 && value != 2), "{row}");
        assert!(values.clone().all(|value| value.abs_diff(row["count"].as_u64().unwrap()) <= 5), "{row}");
    }
    let read = json(&["delta", "--p-table", &out, "--epsilon", "0"], 0);
    assert_eq!(read["delta"], answer["delta"]);
    // Shares of 16 keys for 750 counts, of which the last 250 are repeated.
    let keyed = [&design[..], &["--key-count", "16"]].concat();
    let answer = json(&keyed, 0);
    assert_eq!(json(&["delta", "--p-table", &out, "--epsilon", "0"], 0)["delta"], answer["delta"]);
    assert_eq!(fs::read_to_string(&out).unwrap().lines().count(), 1 + 750 * 16);
    // The least variance of the grid: it keeps the promise, and the next smaller does not.
    let sought = ["calibrate", "--p-table", "?", "--bound", "5", "--epsilon", "1", "--delta", "0.6", "--decimals", "1"];
    let answer = json(&sought, 0);
    assert!(of(&answer["delta"]) <= 0.6, "{answer}");
    let less = answer["not_enough"].to_string();
    let words =
        ["calibrate", "--p-table", "?", "--bound", "5", "--variance", &less, "--epsilon", "1", "--delta", "0.6"];
    assert!(of(&json(&words, 1)["delta"]) > 0.6);
    // A count of 1 that is published without bias is above 0 with some probability, and 0 never is.
    let none = ["calibrate", "--p-table", "?", "--bound", "5", "--epsilon", "1", "--delta", "0.01"];
    assert_eq!(json(&none, 1)["found"], Value::Null);
    for words in [
        &["calibrate", "--p-table", "?", "--variance", "3"][..],
        &["calibrate", "--p-table", "?", "--bound", "5", "--delta", "0.1"],
        &["calibrate", "--p-table", "?", "--bound", "5", "--variance", "0"],
        &["calibrate", "--p-table", "?", "--bound", "101", "--variance", "2"],
        &["calibrate", "--p-table", "?", "--bound", "5", "--variance", "1", "--blocked", "2"],
        &["calibrate", "--p-table", "?", "--bound", "5", "--variance", "1", "--scale-all"],
        &["calibrate", "--p-table", &out, "--bound", "5", "--variance", "1"],
        &["calibrate", "--discrete-gaussian", "5", "--bound", "5", "--variance", "1"],
        &["calibrate", "--p-table", "?y", "--bound", "5", "--variance", "1"],
    ] {
        let output = assay(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?} {}", String::from_utf8_lossy(&output.stdout));
    }
}
