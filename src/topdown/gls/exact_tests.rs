//! Least squares through trees against dense least squares in exact fractions: random trees, queries, recodes,
//! variances, zeros and totals.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    sync::Arc,
};

use rug::Rational;

use super::{
    areas::{AreaPart, AreaSums, LeafShare, Pairs, Rests, covariance},
    basis::Part,
    belief::{Belief, Below, Descent},
    classes::{CountClass, CountPair},
    matrix::Matrix,
    pass::{Measurements, Pass, UnitCounts},
    problem::{Free, Problem, Shape, Shapes},
    query::SectorQuery,
};
use crate::{error::Result, numbers::Numbers, spine::hierarchy::Tree};

const CELLS: usize = 12;

/// Attributes with the possible queries, besides the one for every cell.
struct World {
    sizes: [usize; 2],
    parts: Vec<Vec<Part>>,
    /// The partition of the first attribute that zeros distinguish.
    apart: Part,
}

impl World {
    /// A recode of each attribute, and zeros for single values of the first one.
    fn plain() -> World {
        let recode = Part::Groups(vec![0, 1, 1, 0]);
        let other = Part::Groups(vec![0, 0, 1]);
        let parts = vec![
            vec![Part::Total, Part::Total],
            vec![recode.clone(), Part::Total],
            vec![recode.clone(), Part::Whole],
            vec![Part::Total, other.clone()],
            vec![recode, other],
            vec![Part::Whole, Part::Total],
        ];
        World { sizes: [4, 3], parts, apart: Part::Whole }
    }

    /// Recodes of one attribute as in the DHC: the finest keeps single values and a group, the others merge them. The
    /// first two values are exchangeable, and so are the next two; zeros distinguish the first two from the others.
    fn nested() -> World {
        let fine = Part::Groups(vec![0, 1, 2, 3, 4, 4]);
        let halves = Part::Groups(vec![0, 0, 1, 1, 1, 1]);
        let last = Part::Groups(vec![0, 0, 0, 0, 1, 1]);
        let parts = vec![
            vec![halves, Part::Whole],
            vec![fine.clone(), Part::Total],
            vec![last, Part::Total],
            vec![Part::Total, Part::Whole],
            vec![fine, Part::Whole],
        ];
        World { sizes: [6, 2], parts, apart: Part::Groups(vec![0, 0, 1, 1, 1, 1]) }
    }

    fn whole() -> Vec<Part> {
        vec![Part::Whole, Part::Whole]
    }

    /// The count of a query that contains a cell.
    fn count_of(&self, parts: &[Part], cell: usize) -> usize {
        let values = [cell / self.sizes[1], cell % self.sizes[1]];
        let sized = parts.iter().zip(self.sizes).zip(values);
        sized.fold(0, |count, ((part, size), value)| count * part.groups(size) + part.group_of(value))
    }

    fn counts(&self, parts: &[Part]) -> usize {
        parts.iter().zip(self.sizes).map(|(part, size)| part.groups(size)).product()
    }
}

/// Counts in memory.
struct Counts(Vec<Vec<UnitCounts>>);

impl Measurements for Counts {
    fn read(&self, level: usize, take: &mut dyn FnMut(Vec<UnitCounts>) -> Result<()>) -> Result<()> {
        // In another order than that of the tree, in two parts.
        let mut units: Vec<UnitCounts> = self.0[level].iter().rev().cloned().collect();
        let rest = units.split_off(units.len() / 2);
        take(units)?;
        take(rest)
    }

    fn name(&self, level: usize, unit: usize) -> String {
        format!("unit {unit} of level {level}")
    }
}

/// A random problem.
struct Case {
    world: World,
    tree: Tree,
    queries: Vec<Vec<Vec<Part>>>,
    counts: Counts,
    /// For each leaf, the values of the first attribute that may be above zero.
    free: Vec<Vec<bool>>,
    total: Option<i64>,
    area: Vec<bool>,
}

fn case(world: World, seed: u64) -> Case {
    let mut numbers = Numbers(seed);
    let mut starts: Vec<Vec<u32>> = Vec::new();
    let mut units = 1;
    for _ in 0..2 {
        let mut ends = vec![0];
        (0..units).for_each(|_| ends.push(ends[ends.len() - 1] + 1 + numbers.below(3) as u32));
        units = ends[ends.len() - 1];
        starts.push(ends);
    }
    let tree = Tree::from_parts(starts, (0..units).collect());
    let chosen = |numbers: &mut Numbers| {
        let mut queries: Vec<Vec<Part>> = world.parts.iter().filter(|_| numbers.below(2) == 1).cloned().collect();
        queries.push(World::whole());
        queries
    };
    let queries: Vec<Vec<Vec<Part>>> = (0..3).map(|_| chosen(&mut numbers)).collect();
    let with_zeros = numbers.below(2) == 1;
    let mut free_leaf = |_| {
        let points: Vec<bool> =
            (0..world.apart.groups(world.sizes[0])).map(|_| !with_zeros || numbers.below(3) > 0).collect();
        (0..world.sizes[0]).map(|value| points[world.apart.group_of(value)]).collect()
    };
    let free = (0..units).map(&mut free_leaf).collect();
    let mut counts = vec![Vec::new(); 3];
    for level in 0..3 {
        for unit in 0..tree.units(level) {
            // An only child may have no counts, or its parent may have none.
            let only = level > 0 && {
                let parent = (0..tree.units(level - 1)).find(|at| tree.children(level - 1, *at).contains(&unit));
                parent.is_some_and(|parent| tree.children(level - 1, parent).len() == 1)
            };
            let parent_answers = level == 1 || counts[level.saturating_sub(1)].len() == tree.units(level.max(1) - 1);
            if (only && parent_answers && numbers.below(2) == 1) || (level == 1 && numbers.below(4) == 0) {
                continue;
            }
            let variance = |_: &Vec<Part>| (1 + numbers.below(40)) as f32 / 8.0;
            let variances: Arc<[f32]> = queries[level].iter().map(variance).collect();
            let many = queries[level].iter().map(|parts| world.counts(parts)).sum();
            let values = (0..many).map(|_| numbers.below(60) as f64 - 10.0).collect();
            counts[level].push(UnitCounts { unit, variances, counts: values });
        }
    }
    let total = (numbers.below(2) == 1 && !with_zeros).then(|| numbers.below(300) as i64);
    let area = (0..units).map(|_| numbers.below(2) == 1).collect();
    Case { world, tree, queries, counts: Counts(counts), free, total, area }
}

/// Solves A X = B in fractions, in place; A is square and nonsingular.
fn solve(a: &mut [Vec<Rational>], b: &mut [Vec<Rational>]) {
    for column in 0..a.len() {
        let pivot = (column..a.len()).find(|row| a[*row][column] != 0).expect("a regular matrix");
        a.swap(column, pivot);
        b.swap(column, pivot);
        let inverse = a[column][column].clone().recip();
        a[column].iter_mut().chain(b[column].iter_mut()).for_each(|entry| *entry *= &inverse);
        let (own, right) = (a[column].clone(), b[column].clone());
        for row in (0..a.len()).filter(|row| *row != column) {
            let factor = a[row][column].clone();
            if factor != 0 {
                a[row].iter_mut().zip(&own).for_each(|(entry, own)| *entry -= Rational::from(own * &factor));
                b[row].iter_mut().zip(&right).for_each(|(entry, own)| *entry -= Rational::from(own * &factor));
            }
        }
    }
}

/// The estimate of every free cell of every leaf, and their covariances, in fractions.
struct Dense {
    place: HashMap<(usize, usize), usize>,
    estimates: Vec<Rational>,
    covariances: Vec<Vec<Rational>>,
}

fn dense(case: &Case) -> Dense {
    let leaves = case.tree.units(2);
    let mut place = HashMap::new();
    for leaf in 0..leaves {
        for cell in (0..CELLS).filter(|cell| case.free[leaf][cell / case.world.sizes[1]]) {
            place.insert((leaf, cell), place.len());
        }
    }
    let n = place.len();
    let size = n + usize::from(case.total.is_some());
    let mut a = vec![vec![Rational::new(); size]; size];
    let mut right = vec![Rational::new(); size];
    for (level, units) in case.counts.0.iter().enumerate() {
        for unit in units {
            let below = if level == 2 { unit.unit..unit.unit + 1 } else { case.tree.blocks(level, unit.unit) };
            let mut start = 0;
            for (parts, variance) in case.queries[level].iter().zip(unit.variances.iter()) {
                let weight = Rational::from_f32(*variance).expect("finite").recip();
                let many = case.world.counts(parts);
                for count in 0..many {
                    let cells: Vec<usize> = below
                        .clone()
                        .flat_map(|leaf| (0..CELLS).map(move |cell| (leaf, cell)))
                        .filter(|(_, cell)| case.world.count_of(parts, *cell) == count)
                        .filter_map(|key| place.get(&key).copied())
                        .collect();
                    let y = Rational::from_f64(unit.counts[start + count]).expect("finite");
                    for row in &cells {
                        right[*row] += Rational::from(&weight * &y);
                        cells.iter().for_each(|column| a[*row][*column] += &weight);
                    }
                }
                start += many;
            }
        }
    }
    if let Some(total) = case.total {
        (0..n).for_each(|at| {
            a[at][n] = Rational::from(1);
            a[n][at] = Rational::from(1);
        });
        right[n] = Rational::from(total);
    }
    // The right side, followed by the identity: the upper left block of the inverse is the covariance.
    let row = |(at, right): (usize, Rational)| {
        std::iter::once(right).chain((0..n).map(|column| Rational::from(u32::from(at == column)))).collect()
    };
    let mut b: Vec<Vec<Rational>> = right.into_iter().enumerate().map(row).collect();
    solve(&mut a, &mut b);
    let estimates = b[..n].iter().map(|row| row[0].clone()).collect();
    let covariances = b[..n].iter().map(|row| row[1..].to_vec()).collect();
    Dense { place, estimates, covariances }
}

impl Dense {
    /// All covariances, rounded.
    fn values(&self) -> Vec<Vec<f64>> {
        self.covariances.iter().map(|row| row.iter().map(Rational::to_f64).collect()).collect()
    }

    /// Estimate and variance of a sum over cells of leaves, with weights.
    fn sum(&self, cells: impl Iterator<Item = ((usize, usize), f64)>) -> (f64, f64) {
        let weight = |weight| Rational::from_f64(weight).expect("finite");
        let places: Vec<(usize, Rational)> =
            cells.filter_map(|(key, own)| Some((*self.place.get(&key)?, weight(own)))).collect();
        let (mut estimate, mut variance) = (Rational::new(), Rational::new());
        for (row, own) in &places {
            estimate += Rational::from(own * &self.estimates[*row]);
            let covariances =
                places.iter().map(|(column, other)| Rational::from(other * &self.covariances[*row][*column]));
            variance += own * covariances.sum::<Rational>();
        }
        (estimate.to_f64(), variance.to_f64())
    }
}

/// The covariance of two areas, from their parts in the root.
fn part_covariance(
    root: &Belief,
    parts: &BTreeMap<u32, AreaPart>,
    rests: &Rests,
    (first, second): (u32, u32),
) -> Vec<Matrix> {
    if first == second {
        return parts[&first].estimate(root).covariance.to_vec();
    }
    covariance(root, &parts[&first], &parts[&second], rests.get(&(first, second)))
}

/// Compares the covariances of each two counts of the queries with the expected ones, each with a tolerance.
fn assert_pairs(
    case: &Case,
    (problem, answers): (&Problem, &[Vec<Part>]),
    (shape, own): (&Shape, &[Matrix]),
    expected: impl Fn([(&[Part], usize); 2]) -> (f64, f64),
) {
    let sets = |parts: &[Part], count: usize| -> Vec<Vec<bool>> {
        let inner = parts[1].groups(case.world.sizes[1]);
        let groups = [count / inner, count % inner];
        let axis = |axis: usize| {
            (0..case.world.sizes[axis]).map(|value| parts[axis].group_of(value) == groups[axis]).collect()
        };
        vec![axis(0), axis(1)]
    };
    let counts: Vec<(&[Part], usize)> = answers
        .iter()
        .flat_map(|parts| (0..case.world.counts(parts)).map(move |count| (parts.as_slice(), count)))
        .collect();
    // Some of all queries.
    let chosen: Vec<&(&[Part], usize)> = counts.iter().step_by(1 + counts.len() / 9).collect();
    for first in &chosen {
        for second in &chosen {
            let pair = CountPair::of_sets(&problem.basis, &sets(first.0, first.1), &sets(second.0, second.1));
            let found = problem.covariance(&pair, shape, own);
            let (exact, tolerance) = expected([**first, **second]);
            assert!((found - exact).abs() <= tolerance, "{first:?} {second:?}: {found} for {exact}");
        }
    }
}

fn assert_alike(
    (problem, answers): (&Problem, &[Vec<Part>]),
    belief: &Belief,
    expected: impl Fn(&[Part], usize) -> (f64, f64),
    what: &str,
) {
    let x = problem.expand(&belief.shape, &belief.x);
    for parts in answers {
        let query = SectorQuery::new(&problem.basis, parts);
        let (class_of, classes): (Vec<u32>, Vec<CountClass>) = query.classes(&problem.basis);
        for (count, estimate) in query.answer(&x).into_iter().enumerate() {
            let class = &classes[class_of[count] as usize];
            let variance = problem.variance(class, &belief.shape, &belief.covariance);
            let (exact, exact_variance) = expected(parts, count);
            let scale = exact_variance.sqrt().max(1e-3);
            assert!((estimate - exact).abs() < 1e-9 * scale, "{what} {parts:?} {count}: {estimate} for {exact}");
            assert!(
                (variance - exact_variance).abs() <= 1e-9 * exact_variance,
                "{what} {parts:?} {count}: variance {variance} for {exact_variance}"
            );
        }
    }
}

#[test]
fn random_trees_agree_with_dense_least_squares_in_exact_fractions() {
    let mut with = [0; 5];
    for seed in 0..24 {
        let case = case(if seed < 16 { World::plain() } else { World::nested() }, seed);
        let exact = dense(&case);
        let all: Vec<Vec<Part>> = case.world.parts.iter().cloned().chain([World::whole()]).collect();
        let apart = [case.world.apart.clone(), Part::Total];
        let problem = Problem::new(&case.world.sizes, &case.queries, &all, &apart).unwrap();
        assert_eq!(problem.basis.coordinates(), CELLS);
        assert_case(&case, &exact, (&problem, &all), &mut with);
        // Each query alone, in the sectors that it needs.
        for one in all.chunks(1) {
            let problem = Problem::for_answers(&case.world.sizes, &case.queries, one, &apart).unwrap();
            assert_case(&case, &exact, (&problem, one), &mut [0; 5]);
        }
    }
    // Areas, totals, zeros, bypassed units and pairs of areas have all occurred.
    assert!(with.iter().all(|times| *times > 3), "{with:?}");
}

/// The points of a range of leaves whose cells may be above zero.
fn free_of(case: &Case, problem: &Problem, range: Range<usize>) -> Free {
    let mut free = problem.all_free();
    for value in 0..case.world.sizes[0] {
        if !case.free[range.clone()].iter().any(|leaf| leaf[value]) {
            let group = case.world.apart.group_of(value);
            let (points, cut) = problem.points_with(|axis, own| axis != 0 || case.world.apart.group_of(own) == group);
            assert!(cut.is_empty());
            points.into_iter().for_each(|point| free.remove(point));
        }
    }
    free
}

/// The leaves of a unit.
fn leaves(case: &Case, level: usize, unit: usize) -> Range<usize> {
    if level == 2 { unit..unit + 1 } else { case.tree.blocks(level, unit) }
}

/// The numbers of the five areas.
const AREAS: Range<u32> = 7..12;

/// The share of a leaf in an area: a second area overlaps with the first one, and a third one is beside it; one is of parts of leaves, and one of a
/// tenth of each leaf.
fn weight(case: &Case, leaf: usize, area: u32) -> f64 {
    match area {
        7 => f64::from(u8::from(case.area[leaf])),
        8 => f64::from(u8::from(!leaf.is_multiple_of(3))),
        9 => f64::from(u8::from(!case.area[leaf])),
        10 => [0.0, 0.3, 0.3, 0.75, 1.0][leaf / 2 % 5],
        _ => 0.1,
    }
}

/// The sums over all areas, with all pairs of them.
fn sums_of_areas(case: &Case) -> AreaSums {
    let of_leaf = |leaf: usize| {
        let shares = AREAS.map(|area| LeafShare { area, weight: weight(case, leaf, area) });
        shares.filter(|share| share.weight > 0.0).collect::<Vec<_>>()
    };
    AreaSums::new((0..case.area.len()).map(|leaf| (leaf, of_leaf(leaf))).collect()).with_pairs(Pairs::All)
}

/// The cells of a count.
fn cells<'a>(case: &'a Case, parts: &[Part], count: usize) -> impl Iterator<Item = usize> + use<'a> {
    let parts = parts.to_vec();
    (0..CELLS).filter(move |cell| case.world.count_of(&parts, *cell) == count)
}

/// Compares the estimates of all units and of the areas with dense ones.
fn assert_case(case: &Case, exact: &Dense, (problem, answers): (&Problem, &[Vec<Part>]), with: &mut [usize; 5]) {
    let mut shapes = Shapes::default();
    let shapes: Vec<Vec<Arc<Shape>>> = (0..3)
        .map(|level| {
            let units = 0..case.tree.units(level);
            units.map(|unit| shapes.shape(problem, &free_of(case, problem, leaves(case, level, unit)))).collect()
        })
        .collect();
    let pass = Pass { problem, tree: &case.tree, first: 0, shapes: &shapes, measurements: &case.counts };
    let mut areas = sums_of_areas(case);
    let risen = pass.up(2, &mut areas).unwrap();
    let own = risen.root().unwrap().clone();
    let mut below = Below::new(own.shape.clone());
    below.add(&own);
    let mut root = below.estimate(false, None).unwrap();
    if let Some(total) = case.total {
        root = root.with_total(problem, total as f64).unwrap();
    }
    let root = Descent::new(&root, &below, false).estimate(Some(&own));
    let mut seen = 0;
    pass.down(
        &risen,
        root.clone(),
        true,
        |level, unit, belief| Ok((level, unit, belief.clone())),
        |found| {
            let (level, unit, belief) = found;
            let expected = |parts: &[Part], count: usize| {
                let inside = |cell| leaves(case, level, unit).map(move |leaf| ((leaf, cell), 1.0));
                exact.sum(cells(case, parts, count).flat_map(inside))
            };
            assert_alike((problem, answers), &belief, expected, &format!("level {level}, unit {unit}"));
            seen += 1;
            Ok(())
        },
    )
    .unwrap();
    assert_eq!(seen, (0..3).map(|level| case.tree.units(level)).sum::<usize>());
    let (parts, rests) = areas.of_root_with_pairs();
    for (area, part) in &parts {
        let expected = |parts: &[Part], count: usize| {
            let inside = |cell: usize| {
                (0..case.area.len()).map(|leaf| ((leaf, cell), weight(case, leaf, *area))).collect::<Vec<_>>()
            };
            exact.sum(cells(case, parts, count).flat_map(inside))
        };
        assert_alike((problem, answers), &part.estimate(&root), expected, "area");
        with[0] += 1;
    }
    with[4] += assert_pairs_of_areas(case, exact, (problem, answers), (&root, &parts, &rests));
    with[1] += usize::from(case.total.is_some());
    with[2] += usize::from(case.free.iter().flatten().any(|free| !free));
    with[3] += usize::from(case.counts.0.iter().map(Vec::len).sum::<usize>() < seen);
}

/// Compares the covariances of all pairs of areas with dense ones; the number of pairs of different areas.
fn assert_pairs_of_areas(
    case: &Case,
    exact: &Dense,
    (problem, answers): (&Problem, &[Vec<Part>]),
    (root, parts, rests): (&Belief, &BTreeMap<u32, AreaPart>, &Rests),
) -> usize {
    let values = exact.values();
    let mut different = 0;
    for (first, second) in parts.keys().flat_map(|first| parts.range(first..).map(move |(second, _)| (*first, *second)))
    {
        let own = part_covariance(root, parts, rests, (first, second));
        assert_pairs(case, (problem, answers), (&root.shape, &own), |counts| {
            let places = [(0, first), (1, second)].map(|(which, area)| {
                let (parts, count) = counts[which];
                let cells: Vec<usize> = cells(case, parts, count).collect();
                let leaves =
                    (0..case.area.len()).map(|leaf| (leaf, weight(case, leaf, area))).filter(|(_, own)| *own > 0.0);
                let keys = leaves.flat_map(|(leaf, own)| cells.iter().map(move |cell| ((leaf, *cell), own)));
                keys.filter_map(|(key, own)| Some((*exact.place.get(&key)?, own))).collect::<Vec<(usize, f64)>>()
            });
            let of = |rows: &[(usize, f64)], columns: &[(usize, f64)], value: fn(f64) -> f64| -> f64 {
                let row = |(row, own): &(usize, f64)| {
                    own * columns.iter().map(|(column, other)| other * value(values[*row][*column])).sum::<f64>()
                };
                rows.iter().map(row).sum()
            };
            let [rows, columns] = &places;
            let [own, other] = [rows, columns].map(|of_one| of(of_one, of_one, |value| value).max(0.0));
            // The exact covariances were rounded to doubles before they were added.
            (of(rows, columns, |value| value), 1e-9 * (own * other).sqrt() + 1e-14 * of(rows, columns, f64::abs))
        });
        different += usize::from(first != second);
    }
    different
}
