//! Which groups become one list, and which lists stand on which side: planned from the lengths alone.

use rug::Rational;

use crate::numeric::rational;

/// A list that is to be: how many losses it has and how far apart they are.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The groups that are convolved into it.
    pub(super) groups: Vec<usize>,
    pub(super) step: Rational,
    pub(super) length: f64,
}

/// Both halves, each as two columns, and each column as the parts that are multiplied.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) parts: Vec<Part>,
    pub(super) halves: [[Vec<usize>; 2]; 2],
    /// The length of each half.
    pub(super) lengths: [f64; 2],
    /// The lengths of all columns together.
    pub(super) columns: f64,
    /// The lengths of all convolutions of different groups.
    pub(super) merged: f64,
}

/// The longest list that groups are merged into.
const LONGEST_MERGED: f64 = 2e6;
/// Up to this many parts all ways to split them are tried.
const TRIED: usize = 8;

impl Plan {
    /// Merges parts whose common lattice holds fewer losses than their product, as long as that makes all lists
    /// together shorter, and splits what is left into halves.
    pub(super) fn new(mut parts: Vec<Part>) -> Self {
        let mut merged = 0.0;
        let mut best = split(&parts);
        loop {
            let cost = best.lengths[0] + best.lengths[1] + merged;
            let mut found: Option<(f64, Vec<Part>, Split, f64)> = None;
            for i in 0..parts.len() {
                for j in i + 1..parts.len() {
                    let Some(joined) = join(&parts[i], &parts[j]) else { continue };
                    let length = merged + joined.length;
                    let mut others: Vec<Part> = Vec::with_capacity(parts.len() - 1);
                    others.extend(
                        parts.iter().enumerate().filter(|&(k, _)| k != i && k != j).map(|(_, part)| part.clone()),
                    );
                    others.push(joined);
                    let halves = split(&others);
                    let total = halves.lengths[0] + halves.lengths[1] + length;
                    if total < found.as_ref().map_or(0.8 * cost, |found| found.0) {
                        found = Some((total, others, halves, length));
                    }
                }
            }
            let Some((_, others, halves, length)) = found else { break };
            (parts, best, merged) = (others, halves, length);
        }
        let halves = best.sides.each_ref().map(|side| columns(&parts, side));
        let length = |column: &Vec<usize>| column.iter().map(|&part| parts[part].length).product::<f64>();
        let columns = halves.iter().flatten().map(length).sum();
        Plan { halves, lengths: best.lengths, columns, merged, parts }
    }
}

/// The sum of two parts on their common lattice; `None` where that is too long.
fn join(a: &Part, b: &Part) -> Option<Part> {
    let step = rational::gcd(&a.step, &b.step);
    let span = |part: &Part| part.length * Rational::from(&part.step / &step).to_f64();
    let length = span(a) + span(b);
    (length <= LONGEST_MERGED).then(|| Part { groups: [&a.groups[..], &b.groups].concat(), step, length })
}

/// The parts of both sides, and how many sums each side has.
#[derive(Clone, Debug)]
struct Split {
    sides: [Vec<usize>; 2],
    lengths: [f64; 2],
}

/// The split with the shortest lists: among all for a few parts, else each part, from the longest, to the shorter side.
fn split(parts: &[Part]) -> Split {
    let measured = |sides: [Vec<usize>; 2]| {
        let lengths = sides.each_ref().map(|side| side.iter().map(|&k| parts[k].length).product());
        Split { sides, lengths }
    };
    if parts.len() <= TRIED {
        let side = |chosen: u32, value: u32| (0..parts.len()).filter(move |k| chosen >> k & 1 == value).collect();
        let all =
            (0..1_u32 << parts.len().saturating_sub(1)).map(|chosen| measured([side(chosen, 0), side(chosen, 1)]));
        let sum = |split: &Split| split.lengths[0] + split.lengths[1];
        return all.min_by(|a, b| sum(a).total_cmp(&sum(b))).unwrap_or_else(|| measured([vec![], vec![]]));
    }
    let indexes: Vec<usize> = (0..parts.len()).collect();
    measured(balanced(parts, &indexes))
}

/// The two columns of a half.
fn columns(parts: &[Part], side: &[usize]) -> [Vec<usize>; 2] {
    balanced(parts, side)
}

/// Each part, from the longest, to the side with the smaller product.
fn balanced(parts: &[Part], chosen: &[usize]) -> [Vec<usize>; 2] {
    let mut order = chosen.to_vec();
    order.sort_by(|&a, &b| parts[b].length.total_cmp(&parts[a].length).then(a.cmp(&b)));
    let mut sides = [vec![], vec![]];
    let mut sizes = [1.0, 1.0];
    for part in order {
        let shorter = usize::from(sizes[1] < sizes[0]);
        sizes[shorter] *= parts[part].length;
        sides[shorter].push(part);
    }
    sides
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn plan(parts: &[(&str, f64)]) -> Plan {
        let part =
            |(k, &(step, length)): (usize, &(&str, f64))| Part { groups: vec![k], step: parse(step).unwrap(), length };
        Plan::new(parts.iter().enumerate().map(part).collect())
    }

    #[test]
    fn incommensurate_groups_meet_in_the_middle() {
        let plan = plan(&[("10/31", 50.0), ("10/47", 60.0), ("10/29", 40.0), ("10/53", 70.0)]);
        assert_eq!(plan.parts.len(), 4);
        assert_eq!(plan.lengths.iter().sum::<f64>(), 50.0 * 60.0 + 40.0 * 70.0);
    }

    #[test]
    fn commensurate_groups_become_one_list() {
        let same = plan(&[("1/5", 500.0), ("1/5", 400.0), ("2/5", 300.0)]);
        assert!(same.parts.len() < 3 && same.lengths.iter().sum::<f64>() < 3000.0, "{same:?}");
        // Two lists side by side are shorter than their convolution.
        assert_eq!(plan(&[("1/5", 500.0), ("1/7", 400.0)]).parts.len(), 2);
        let groups: usize = same.parts.iter().map(|part| part.groups.len()).sum();
        assert_eq!(groups, 3);
    }

    #[test]
    fn many_parts_are_split_evenly() {
        let parts: Vec<(String, f64)> = (0..14).map(|k| (format!("1/{}", 1_000_003 + 2 * k), 2.0)).collect();
        let parts: Vec<(&str, f64)> = parts.iter().map(|(step, length)| (step.as_str(), *length)).collect();
        let plan = plan(&parts);
        assert_eq!(plan.lengths, [128.0, 128.0]);
        assert_eq!(plan.halves.iter().flatten().map(Vec::len).sum::<usize>(), 14);
        assert!(plan.columns < 128.0);
    }
}
