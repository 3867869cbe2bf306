//! The groups of a composition as a certificate has them.
//!
//! The format has four laws. A guarantee is there as the pair that dominates it: epsilon-DP as discrete Laplace noise of that parameter on a count that moves by one, which
//! is randomized response, and the delta of a guarantee as the probability of an outcome that only one of two neighbors can have.

use std::collections::BTreeMap;

use rug::{Rational, ops::Pow};

use crate::{
    account::Composition,
    error::{Error, Result},
    law::NoiseTable,
    loss::law::{Group, Law},
    numeric::rational,
};

/// The laws that the format has, in its order.
const LAWS: [&str; 4] = ["discrete-gaussian", "gaussian", "discrete-laplace", "table"];
/// The largest number of counts with one table, and of rows of all tables.
const MOST_COUNTS: u64 = 1000;
const MOST_ROWS: usize = 5000;
/// The most bits of the common denominator of the masses of a table.
const MOST_BITS: u32 = 1024;
/// The range of parameters: of the denominator of the least, and of the exponent of ten of the largest.
const LEAST: (u32, u32) = (1, 10_000);
const MOST: u64 = 1_000_000_000_000_000_000;

/// The groups of one path, in order, each once, and the probability of outcomes that only one of two neighbors can have, without those of tables.
pub(super) struct Terms {
    pub groups: Vec<Group>,
    /// The same counts with guarantees themselves, each of a change by one, and not as the pairs that dominate them.
    pub given: Vec<Group>,
    pub infinite: Rational,
}

fn unprovable(why: impl Into<String>) -> Error {
    Error::Unprovable { why: why.into() }
}

/// The reason why a law has no certificate.
fn why_not(law: &Law) -> String {
    let because = match law {
        Law::TruncatedLaplace { .. } | Law::TruncatedGaussian { .. } => {
            ": its masses are irrational numbers, and those of a table are fractions; a theorem for Rocq can be about it"
        }
        Law::RandomizedResponse { .. } => {
            " with more than two answers: their probabilities are irrational numbers; with two it is the same as pure DP, and a theorem for Rocq can be about more"
        }
        Law::Staircase { .. } => ": its masses are irrational numbers, and those of a table are fractions",
        Law::Laplace { .. } | Law::BoundedRange { .. } => {
            ": its losses have a density, and a checker sums over losses that it can list"
        }
        Law::SampledGaussian { .. } | Law::Sampled(_) => {
            ": of Poisson-sampled noise no bound is listed in proofs/README.md"
        }
        Law::Pair(_) => ": the format has tables of noise, and no list of outcomes yet",
        law if law.has_alternatives() => ": the data decide which pair a count has, and a claim has one",
        _ => "",
    };
    format!("certificates are not about {}{because}", law.in_words())
}

impl Terms {
    /// Those of a composition. An error for laws that the format does not have, or that are beyond the limits of a checker.
    pub(super) fn of_composition(one: &Composition) -> Result<Terms> {
        let (mut finite, mut merged) = (Rational::from(1), BTreeMap::new());
        for counts in one.counts() {
            let (law, shift) = match &counts.law {
                Law::Pure { epsilon } => (of_response(epsilon, counts.shift), 1),
                Law::RandomizedResponse { epsilon, answers: 2 } => (of_response(epsilon, 1), 1),
                Law::Approximate { epsilon, delta } => {
                    let copies = u32::try_from(counts.count).ok().filter(|&copies| copies <= 1000);
                    let copies = copies
                        .ok_or_else(|| unprovable("certificates are about at most 1000 guarantees with a delta"))?;
                    finite *= Rational::from(1 - delta).pow(copies);
                    (of_response(epsilon, 1), 1)
                }
                law if LAWS.contains(&law.key()) && !law.has_alternatives() => (law.clone(), counts.shift),
                law => return Err(unprovable(why_not(law))),
            };
            check(&law)?;
            if law.has_no_common_outcome(shift) {
                let why = "neighbors have no output in common, so that delta is 1 at every epsilon: there is nothing to certify";
                return Err(unprovable(why));
            }
            *merged.entry((place(&law), law, shift)).or_insert(0_u64) += counts.count;
        }
        let infinite: Rational = 1 - finite;
        if infinite.numer().significant_bits().max(infinite.denom().significant_bits()) > 1300 {
            return Err(unprovable(
                "the probability of an infinite loss is a fraction of more than 390 digits; certificates have none so long",
            ));
        }
        let groups = in_order(merged);
        check_tables(&groups)?;
        Ok(Terms { groups, given: as_given(one), infinite })
    }
}

/// The counts of a composition with guarantees themselves, each of a change by one, merged and in order; of any law.
pub(super) fn as_given(one: &Composition) -> Vec<Group> {
    let mut given = BTreeMap::new();
    for counts in one.counts() {
        let (law, shift) = match &counts.law {
            Law::Pure { epsilon } => (Law::Pure { epsilon: Rational::from(epsilon * counts.shift) }, 1),
            Law::RandomizedResponse { epsilon, answers: 2 } => (Law::Pure { epsilon: epsilon.clone() }, 1),
            law @ (Law::RandomizedResponse { .. } | Law::Approximate { .. }) => (law.clone(), 1),
            law => (law.clone(), counts.shift),
        };
        *given.entry((place(&law), law, shift)).or_insert(0_u64) += counts.count;
    }
    in_order(given)
}

fn in_order(merged: BTreeMap<(usize, Law, u64), u64>) -> Vec<Group> {
    merged.into_iter().map(|((_, law, shift), copies)| Group { law, shift, copies }).collect()
}

/// The pair that dominates all epsilon-DP mechanisms, for groups of this size.
fn of_response(epsilon: &Rational, size: u64) -> Law {
    Law::DiscreteLaplace { epsilon: Rational::from(epsilon * size) }
}

fn place(law: &Law) -> usize {
    LAWS.iter().position(|key| *key == law.key()).unwrap_or(LAWS.len())
}

/// An error for a parameter beyond the limits of a checker.
fn check(law: &Law) -> Result<()> {
    if let Law::Table(table) = law {
        let whole = table.masses().fold(rug::Integer::from(1), |whole, (_, mass)| whole.lcm(mass.denom()));
        if whole.significant_bits() > MOST_BITS {
            let why = format!(
                "the masses of {} have a common denominator of {} bits; certificates are about at most {MOST_BITS}",
                table.title(),
                whole.significant_bits()
            );
            return Err(unprovable(why));
        }
        return Ok(());
    }
    if *law.parameter() < Rational::from(LEAST) || *law.parameter() > MOST {
        let (name, value) = (law.parameter_name(), rational::display(law.parameter()));
        return Err(unprovable(format!("certificates are about {name} from 1e-4 to 1e18, and this one is {value}")));
    }
    Ok(())
}

/// An error for more tables than a checker reads.
fn check_tables(groups: &[Group]) -> Result<()> {
    // Of each group with a table what is more.
    let rows = |group: &Group| match &group.law {
        Law::Table(table) => table.masses().count().max(group.copies as usize),
        _ => 0,
    };
    if groups.iter().map(rows).sum::<usize>() > MOST_ROWS {
        return Err(unprovable(format!(
            "certificates are about tables with at most {MOST_ROWS} rows or counts in all"
        )));
    }
    if let Some(group) = groups.iter().find(|group| matches!(group.law, Law::Table(_)) && group.copies > MOST_COUNTS) {
        let why =
            format!("certificates are about at most {MOST_COUNTS} counts with one table; these are {}", group.copies);
        return Err(unprovable(why));
    }
    Ok(())
}

/// The different tables of some groups, in order.
pub(super) fn tables_of<'a>(groups: impl Iterator<Item = &'a Group>) -> Vec<&'a NoiseTable> {
    let mut tables: Vec<&NoiseTable> = Vec::new();
    for group in groups {
        if let Law::Table(table) = &group.law {
            tables.push(table);
        }
    }
    tables.sort();
    tables.dedup();
    tables
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        account::Counts,
        loss::testing::{group, groups},
        numeric::rational::parse,
    };

    fn terms(texts: &[&str]) -> Result<Terms> {
        let counts = groups(texts).into_iter().map(|group| Counts::new(group.law, group.copies, group.shift).unwrap());
        Terms::of_composition(&Composition::new(counts).unwrap())
    }

    #[test]
    fn guarantees_are_the_pairs_that_dominate_them() {
        let found = terms(&["pure:1/2x3", "randomized-response:1/2x2", "approximate:1/2:1/10x2", "5"]);
        let Terms { groups, given, infinite } = found.unwrap();
        assert_eq!(infinite, parse("19/100").unwrap());
        assert_eq!(given[1..], [group("pure:1/2x5"), group("approximate:1/2:1/10x2")]);
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[1], group("discrete-laplace:1/2x7"));
    }

    #[test]
    fn other_laws_are_refused_with_the_reason() {
        for (law, said) in [
            ("truncated-laplace:1:9", "irrational"),
            ("randomized-response:1:3", "irrational"),
            ("exponential:1", "density"),
            ("laplace:1", "density"),
            ("pure:1/20000", "from 1e-4"),
        ] {
            let message = terms(&[law]).err().unwrap().to_string();
            assert!(message.contains(said), "{message}");
        }
        let masses = [(0, Rational::from((1, 2))), (1, Rational::from((1, 2)))];
        let apart = Counts::new(Law::Table(Arc::new(NoiseTable::new("t.csv", masses).unwrap())), 1, 2).unwrap();
        let message = Terms::of_composition(&Composition::new([apart]).unwrap()).err().unwrap().to_string();
        assert!(message.contains("no output in common"), "{message}");
        let many = terms(&["approximate:1:1/1000000007x900"]);
        assert!(many.err().unwrap().to_string().contains("390 digits"));
    }
}
