//! Small trees, releases and dense matrices for the tests of spines.

// Each test file uses only a part.
#![allow(dead_code)]

use dp_assay::{
    loss::law::Law,
    release::Release,
    spine::{blocks::Blocks, hierarchy::Tree},
};
use rug::Rational;

pub use crate::common::numbers::Numbers;

/// A census spine of six levels over at most `most` blocks, with branches at every level.
pub fn small_tree(numbers: &mut Numbers, most: u64) -> Tree {
    let count = 1 + numbers.below(most);
    let mut geoids: Vec<u64> = (0..count)
        .map(|_| {
            let digit = |numbers: &mut Numbers| numbers.below(2);
            (1 + digit(numbers)) * 10_u64.pow(13)
                + digit(numbers) * 10_u64.pow(10)
                + digit(numbers) * 10_000
                + digit(numbers) * 1000
                + numbers.below(3)
        })
        .collect();
    geoids.sort_unstable();
    geoids.dedup();
    Tree::census(&Blocks::from_geoids(geoids).unwrap())
}

/// A release of six levels with random shares over a histogram of attributes a (2 values) and b (3 values).
pub fn release(numbers: &mut Numbers, bounded: bool) -> Release {
    let (neighbors, factor) = if bounded { ("bounded", "1") } else { ("add-remove", "1/2") };
    let mut text = format!(
        "name = \"small\"\ntitle = \"t\"\nsource = \"made up for a test\"\nneighbors = \"{neighbors}\"\nrho = \"7/3\"\n\
         sigma2_times_rho = \"{factor}\"\n[[attribute]]\nname = \"a\"\nsize = 2\n[[attribute]]\nname = \"b\"\n\
         values = [\"x\", \"y\", \"z\"]\n"
    );
    let shares: Vec<u64> = (0..6).map(|_| 1 + numbers.below(9)).collect();
    for (level, share) in shares.iter().enumerate() {
        text += &format!("[[level]]\nname = \"L{level}\"\nproportion = \"{share}/{}\"\n", shares.iter().sum::<u64>());
        let names: Vec<&str> = ["detailed", "total", "a", "b"]
            .into_iter()
            .filter(|name| *name == "detailed" || numbers.below(2) == 0)
            .collect();
        let parts: Vec<u64> = names.iter().map(|_| 1 + numbers.below(9)).collect();
        for (name, part) in names.iter().zip(&parts) {
            text +=
                &format!("[[level.query]]\nname = \"{name}\"\nproportion = \"{part}/{}\"\n", parts.iter().sum::<u64>());
        }
    }
    Release::parse(&text, "small.toml").unwrap()
}

/// The parameter of a law.
pub fn numbered(law: &Law) -> Rational {
    law.parameter().clone()
}

/// Solves a symmetric positive definite system by elimination, exactly.
pub fn dense_solve(matrix: &[Vec<Rational>], right: &[Rational]) -> Vec<Rational> {
    let n = right.len();
    let mut rows: Vec<Vec<Rational>> = matrix.to_vec();
    rows.iter_mut().zip(right).for_each(|(row, value)| row.push(value.clone()));
    for i in 0..n {
        let pivot = rows[i].clone();
        for row in rows.iter_mut().skip(i + 1).filter(|row| row[i] != 0) {
            let factor = Rational::from(&row[i] / &pivot[i]);
            for k in i..=n {
                row[k] -= Rational::from(&factor * &pivot[k]);
            }
        }
    }
    let mut solved = vec![Rational::new(); n];
    for i in (0..n).rev() {
        let known = (i + 1..n).fold(Rational::new(), |sum, k| sum + Rational::from(&rows[i][k] * &solved[k]));
        solved[i] = (&rows[i][n] - known) / &rows[i][i];
    }
    solved
}
