//! Planned from the lengths alone: the groups that are convolved into one list, and the lists of each half.

use rug::Rational;

use crate::numeric::rational;

/// A planned list: the number of its losses and their distance.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The groups that are convolved into it.
    pub(super) groups: Vec<usize>,
    pub(super) step: Rational,
    pub(super) length: f64,
    /// Whether its losses are few of very many multiples of the step: then it is merged with no other.
    pub(super) is_listed: bool,
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
/// The same where all sums of all parts are enumerated.
const LONGEST_OF_ALL: f64 = 1e5;
/// Up to this number of parts, all divisions into two halves are tried.
const TRIED: usize = 8;

impl Plan {
    /// Merges parts whose common lattice holds fewer losses than their product, as long as that makes all lists together shorter, and divides the
    /// remaining parts into halves.
    pub(super) fn new(mut parts: Vec<Part>) -> Self {
        let mut merged = 0.0;
        let mut best = split(&lengths(&parts));
        loop {
            let cost = best.lengths[0] + best.lengths[1] + merged;
            let total = |pair: [usize; 2], length: f64| {
                let halves = split(&lengths(without(&parts, pair)).into_iter().chain([length]).collect::<Vec<_>>());
                halves.lengths[0] + halves.lengths[1] + (merged + length)
            };
            let found = best_merger(&parts, 0.8 * cost, total);
            let Some((pair, joined)) = found else { break };
            merged += joined.length;
            parts = without(&parts, pair).cloned().chain([joined]).collect();
            best = split(&lengths(&parts));
        }
        let halves = best.sides.each_ref().map(|side| columns(&parts, side));
        let length = |column: &Vec<usize>| column.iter().map(|&part| parts[part].length).product::<f64>();
        let columns = halves.iter().flatten().map(length).sum();
        Plan { halves, lengths: best.lengths, columns, merged, parts }
    }
}

/// Merges parts whose common lattice holds fewer losses than their product, as long as that makes the product of all much shorter; and the total
/// length of all mergers.
pub(super) fn merge_all(mut parts: Vec<Part>) -> (Vec<Part>, f64) {
    let mut merged = 0.0;
    loop {
        let share = |[i, j]: [usize; 2], length: f64| {
            if length <= LONGEST_OF_ALL { length / (parts[i].length * parts[j].length) } else { f64::INFINITY }
        };
        let found = best_merger(&parts, 0.5, share);
        let Some((pair, joined)) = found else { return (parts, merged) };
        merged += joined.length;
        parts = without(&parts, pair).cloned().chain([joined]).collect();
    }
}

/// Of all mergers of two parts, on their common lattice, the one of the least score, if that is below `most`. A score depends on the pair and the
/// length of its sum.
fn best_merger(parts: &[Part], most: f64, score: impl Fn([usize; 2], f64) -> f64) -> Option<([usize; 2], Part)> {
    let mut found: Option<(f64, [usize; 2], f64)> = None;
    for (i, j) in (0..parts.len()).flat_map(|i| (i + 1..parts.len()).map(move |j| (i, j))) {
        let Some(length) = common(&parts[i], &parts[j]) else { continue };
        let score = score([i, j], length);
        if score < found.map_or(most, |(least, ..)| least) {
            found = Some((score, [i, j], length));
        }
    }
    let (_, [i, j], length) = found?;
    let groups = [&parts[i].groups[..], &parts[j].groups].concat();
    let step = rational::gcd(&parts[i].step, &parts[j].step);
    Some(([i, j], Part { groups, step, length, is_listed: false }))
}

fn lengths<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Vec<f64> {
    parts.into_iter().map(|part| part.length).collect()
}

/// All parts but two.
fn without(parts: &[Part], pair: [usize; 2]) -> impl Iterator<Item = &Part> {
    parts.iter().enumerate().filter(move |(k, _)| !pair.contains(k)).map(|(_, part)| part)
}

/// The length of the sum of two parts on their common lattice; `None` where that is too long.
fn common(a: &Part, b: &Part) -> Option<f64> {
    if a.is_listed || b.is_listed {
        return None;
    }
    let (of_a, of_b) = multiples(&a.step, &b.step);
    let length = a.length * of_a + b.length * of_b;
    (length <= LONGEST_MERGED).then_some(length)
}

/// The integers by which two steps are multiples of their greatest common divisor.
fn multiples(a: &Rational, b: &Rational) -> (f64, f64) {
    let crosswise = |x: &Rational, y: &Rational| x.numer().to_u64()?.checked_mul(y.denom().to_u64()?);
    if let (Some(of_a), Some(of_b)) = (crosswise(a, b), crosswise(b, a)) {
        let (mut gcd, mut rest) = (of_a, of_b);
        while rest > 0 {
            (gcd, rest) = (rest, gcd % rest);
        }
        return ((of_a / gcd) as f64, (of_b / gcd) as f64);
    }
    let gcd = rational::gcd(a, b);
    (Rational::from(a / &gcd).to_f64(), Rational::from(b / &gcd).to_f64())
}

/// The parts of both sides, and the number of sums of each side.
#[derive(Clone, Debug)]
struct Split {
    sides: [Vec<usize>; 2],
    lengths: [f64; 2],
}

/// The division of parts of these lengths with the shortest lists: among all divisions for a few parts, else each part, from the longest, goes to the
/// shorter side.
fn split(lengths: &[f64]) -> Split {
    let product = |side: &Vec<usize>| side.iter().map(|&k| lengths[k]).product::<f64>();
    let indexes = 0..lengths.len();
    let sides = if lengths.len() <= TRIED {
        let chosen = shortest(lengths);
        [0, 1].map(|value| indexes.clone().filter(|k| chosen >> k & 1 == value).collect())
    } else {
        balanced(lengths, &indexes.collect::<Vec<_>>())
    };
    Split { lengths: sides.each_ref().map(product), sides }
}

/// The second side, as bits, of the division of a few parts with the shortest lists; the last part stands on the first side.
fn shortest(lengths: &[f64]) -> usize {
    let mut products = [1.0; 1 << TRIED];
    for (k, length) in lengths.iter().enumerate() {
        for chosen in 0..1 << k {
            products[1 << k | chosen] = products[chosen] * length;
        }
    }
    let all = (1 << lengths.len()) - 1;
    let total = |chosen: usize| products[all & !chosen] + products[chosen];
    // The first of the shortest.
    let better = |best: usize, next: usize| if total(next) < total(best) { next } else { best };
    (1..1 << lengths.len().saturating_sub(1)).fold(0, better)
}

/// The two columns of a half.
fn columns(parts: &[Part], side: &[usize]) -> [Vec<usize>; 2] {
    balanced(&lengths(parts), side)
}

/// Each part, from the longest, to the side with the smaller product.
fn balanced(lengths: &[f64], chosen: &[usize]) -> [Vec<usize>; 2] {
    let mut order = chosen.to_vec();
    order.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]).then(a.cmp(&b)));
    let mut sides = [vec![], vec![]];
    let mut sizes = [1.0, 1.0];
    for part in order {
        let shorter = usize::from(sizes[1] < sizes[0]);
        sizes[shorter] *= lengths[part];
        sides[shorter].push(part);
    }
    sides
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn plan(parts: &[(&str, f64)]) -> Plan {
        let part = |(k, &(step, length)): (usize, &(&str, f64))| Part {
            groups: vec![k],
            step: parse(step).unwrap(),
            length,
            is_listed: false,
        };
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
    fn parts_are_merged_where_their_sums_are_fewer() {
        let part = |groups: usize, step: &str, length| Part {
            groups: vec![groups],
            step: parse(step).unwrap(),
            length,
            is_listed: false,
        };
        let (parts, merged) = merge_all(vec![part(0, "26/5", 90.0), part(1, "1/7001", 50.0), part(2, "4", 233.0)]);
        assert_eq!(parts.iter().map(|part| part.groups.clone()).collect::<Vec<_>>(), [vec![1], vec![0, 2]]);
        // On a lattice of step 2/5.
        assert_eq!(parts[1].length, 90.0 * 13.0 + 233.0 * 10.0);
        assert_eq!(merged, parts[1].length);
    }

    #[test]
    fn many_parts_are_divided_evenly() {
        let parts: Vec<(String, f64)> = (0..14).map(|k| (format!("1/{}", 1_000_003 + 2 * k), 2.0)).collect();
        let parts: Vec<(&str, f64)> = parts.iter().map(|(step, length)| (step.as_str(), *length)).collect();
        let plan = plan(&parts);
        assert_eq!(plan.lengths, [128.0, 128.0]);
        assert_eq!(plan.halves.iter().flatten().map(Vec::len).sum::<usize>(), 14);
        assert!(plan.columns < 128.0);
    }
}
