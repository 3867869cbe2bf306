//! Sectors of histograms, and queries in them.

use rug::Float;

use super::{BITS, algebra::Square, long};
use crate::topdown::gls::basis::Part;

/// An attribute whose values are partitioned into cells that queries distinguish.
#[derive(Clone, Debug)]
struct Axis {
    cell_of: Vec<usize>,
    /// The number of values of each cell.
    sizes: Vec<u32>,
    /// The first value of each cell.
    first: Vec<usize>,
}

/// A set of attributes of which differences are taken.
#[derive(Clone, Debug)]
pub struct Sector {
    apart: Vec<bool>,
    /// The number of rows, for means: combinations of cells of the other attributes.
    pub rows: usize,
    /// The number of columns, for differences: combinations of values of the attributes of the set.
    pub columns: usize,
    /// For each combination of both, in the order of the attributes, its position in a table of rows and columns.
    places: Vec<usize>,
}

/// The histograms over some attributes.
#[derive(Clone, Debug)]
pub struct Space {
    axes: Vec<Axis>,
    /// The sectors in which answers have a part.
    pub sectors: Vec<Sector>,
}

impl Axis {
    fn new<'p>(size: usize, parts: impl Iterator<Item = &'p Part>) -> Axis {
        let coarse =
            parts.filter(|part| **part != Part::Whole).fold(Part::Total, |all, part| all.common(part)).in_order();
        let cell_of: Vec<usize> = (0..size).map(|value| coarse.group_of(value)).collect();
        let cells = cell_of.iter().max().map_or(0, |most| most + 1);
        let (mut sizes, mut first) = (vec![0; cells], vec![0; cells]);
        for (value, cell) in cell_of.iter().enumerate().rev() {
            sizes[*cell] += 1;
            first[*cell] = value;
        }
        Axis { cell_of, sizes, first }
    }

    fn cells(&self) -> usize {
        self.sizes.len()
    }

    /// The entry of A'A of a query for the means of two cells.
    fn product(&self, part: &Part, a: usize, b: usize) -> u64 {
        let (own, other) = (u64::from(self.sizes[a]), u64::from(self.sizes[b]));
        match part {
            Part::Whole if a == b => own,
            Part::Whole => 0,
            _ if part.group_of(self.first[a]) == part.group_of(self.first[b]) => own * other,
            _ => 0,
        }
    }
}

impl Space {
    /// Histograms over attributes of these sizes, with the measured queries and the answered ones.
    pub fn new(sizes: &[usize], levels: &[Vec<Vec<Part>>], answers: &[Vec<Part>]) -> Space {
        let of = |at: usize| levels.iter().flatten().chain(answers).map(move |parts| &parts[at]);
        let axes: Vec<Axis> = sizes.iter().enumerate().map(|(at, size)| Axis::new(*size, of(at))).collect();
        let sets = (0..1_usize << axes.len()).map(|set| (0..axes.len()).map(|at| set >> at & 1 == 1).collect());
        let is_there = |apart: &Vec<bool>| {
            apart.iter().zip(&axes).all(|(own, axis)| !own || axis.sizes.iter().any(|size| *size > 1))
        };
        let is_asked = |apart: &Vec<bool>| answers.iter().any(|parts| is_kept(apart, parts));
        let kept: Vec<Vec<bool>> = sets.filter(|apart| is_there(apart) && is_asked(apart)).collect();
        let sectors = kept.into_iter().map(|apart| Sector::new(&axes, apart)).collect();
        Space { axes, sectors }
    }

    /// The number of numbers of a histogram in all sectors.
    pub fn numbers(&self) -> usize {
        self.sectors.iter().map(|sector| sector.rows * sector.columns).sum()
    }

    /// The number of counts of a query.
    pub fn counts(&self, parts: &[Part]) -> usize {
        self.axes.iter().zip(parts).map(|(axis, part)| part.groups(axis.cell_of.len())).product()
    }

    /// Whether all sectors in which a query has a part are present; they are if it is part of an answer.
    pub fn holds(&self, parts: &[Part]) -> bool {
        let apart: Vec<bool> = (self.axes.iter().zip(parts))
            .map(|(axis, part)| *part == Part::Whole && axis.sizes.iter().any(|size| *size > 1))
            .collect();
        self.sectors.iter().any(|sector| sector.apart == apart)
    }

    /// Adds A'A / v of a query in a sector.
    pub fn add_information(&self, sector: &Sector, parts: &[Part], variance: &Float, to: &mut Square) {
        if !is_kept(&sector.apart, parts) {
            return;
        }
        let mut products = vec![vec![1_u64]];
        for ((axis, part), apart) in self.axes.iter().zip(parts).zip(&sector.apart) {
            if !apart {
                let cells = axis.cells();
                let row = |before: &Vec<u64>, a: usize| {
                    before
                        .iter()
                        .flat_map(|before| (0..cells).map(move |b| before * axis.product(part, a, b)))
                        .collect()
                };
                products = products.iter().flat_map(|before| (0..cells).map(move |a| row(before, a))).collect();
            }
        }
        for (to, product) in to.entries.iter_mut().zip(products.iter().flatten()) {
            *to += Float::with_val(BITS, *product) / variance;
        }
    }

    /// Adds A'y / v of a query in a sector.
    pub fn add_right_side(&self, sector: &Sector, parts: &[Part], variance: &Float, counts: &[f64], to: &mut [Float]) {
        if !is_kept(&sector.apart, parts) {
            return;
        }
        let mut tensor: Vec<Float> = counts.iter().map(|count| long(*count)).collect();
        let mut outer = 1;
        for ((axis, part), apart) in self.axes.iter().zip(parts).zip(&sector.apart) {
            let size = part.groups(axis.cell_of.len());
            let inner = tensor.len() / (outer * size).max(1);
            tensor = axis.turned(part, *apart, &tensor, inner);
            outer *= if *apart { axis.cell_of.len() } else { axis.cells() };
        }
        for (place, value) in sector.places.iter().zip(tensor) {
            to[*place] += value / variance;
        }
    }

    /// The answer to a query, from the means and differences of all sectors.
    pub fn answer(&self, parts: &[Part], x: &[Vec<Float>]) -> Vec<Float> {
        let mut sum = vec![long(0.0); self.counts(parts)];
        for (sector, x) in self.sectors.iter().zip(x).filter(|(sector, _)| is_kept(&sector.apart, parts)) {
            let mut tensor: Vec<Float> = sector.places.iter().map(|place| x[*place].clone()).collect();
            let mut outer = 1;
            for ((axis, part), apart) in self.axes.iter().zip(parts).zip(&sector.apart) {
                let size = if *apart { axis.cell_of.len() } else { axis.cells() };
                let inner = tensor.len() / (outer * size).max(1);
                tensor = axis.summed(part, *apart, &tensor, inner);
                outer *= part.groups(axis.cell_of.len());
            }
            super::algebra::add(&mut sum, &tensor);
        }
        sum
    }

    /// The variances of the counts of a query under these covariances. A variance depends only on the cells and groups
    /// of the count's values.
    pub fn variances(&self, parts: &[Part], covariances: &[Square]) -> Vec<Float> {
        // For each attribute the kinds of its groups: a cell whose values are kept, or a group of cells.
        let kinds: Vec<usize> = (self.axes.iter().zip(parts))
            .map(|(axis, part)| if *part == Part::Whole { axis.cells() } else { part.groups(axis.cell_of.len()) })
            .collect();
        let of_kind: Vec<Float> =
            (0..kinds.iter().product()).map(|kind| self.variance(parts, &kinds, kind, covariances)).collect();
        let mut all = vec![0];
        for ((axis, part), kinds) in self.axes.iter().zip(parts).zip(&kinds) {
            let own: Vec<usize> = if *part == Part::Whole { axis.cell_of.clone() } else { (0..*kinds).collect() };
            all = all.iter().flat_map(|before| own.iter().map(move |own| before * kinds + own)).collect();
        }
        all.into_iter().map(|kind: usize| of_kind[kind].clone()).collect()
    }

    fn variance(&self, parts: &[Part], kinds: &[usize], mut kind: usize, covariances: &[Square]) -> Float {
        let mut own = vec![0; kinds.len()];
        for (own, kinds) in own.iter_mut().zip(kinds).rev() {
            (*own, kind) = (kind % kinds, kind / kinds);
        }
        let mut sum = long(0.0);
        for (sector, covariance) in
            self.sectors.iter().zip(covariances).filter(|(sector, _)| is_kept(&sector.apart, parts))
        {
            let (mut scale, mut functional) = (long(1.0), vec![0_u64; 1]);
            functional[0] = 1;
            for (((axis, part), apart), kind) in self.axes.iter().zip(parts).zip(&sector.apart).zip(&own) {
                if *apart {
                    // One value of a cell of g values, minus their mean.
                    scale *= axis.sizes[*kind] - 1;
                    scale /= axis.sizes[*kind];
                    continue;
                }
                let of_cell = |cell: usize| match part {
                    Part::Whole => u64::from(cell == *kind),
                    _ if part.group_of(axis.first[cell]) == *kind => u64::from(axis.sizes[cell]),
                    _ => 0,
                };
                functional = functional
                    .iter()
                    .flat_map(|before| (0..axis.cells()).map(move |cell| before * of_cell(cell)))
                    .collect();
            }
            let functional: Vec<Float> = functional.into_iter().map(|own| Float::with_val(BITS, own)).collect();
            let image = covariance.apply(&functional, 1);
            let square =
                functional.iter().zip(&image).fold(long(0.0), |sum, (a, b)| sum + Float::with_val(BITS, a * b));
            sum += square * scale;
        }
        sum
    }
}

/// Whether a query keeps every value of all attributes of which differences are taken.
fn is_kept(apart: &[bool], parts: &[Part]) -> bool {
    apart.iter().zip(parts).all(|(apart, part)| !apart || *part == Part::Whole)
}

impl Sector {
    fn new(axes: &[Axis], apart: Vec<bool>) -> Sector {
        let (mut rows, mut columns) = (1, 1);
        let mut both = vec![(0, 0)];
        for (axis, apart) in axes.iter().zip(&apart) {
            let (size, (many, others)) = match apart {
                true => (axis.cell_of.len(), (1, axis.cell_of.len())),
                false => (axis.cells(), (axis.cells(), 1)),
            };
            (rows, columns) = (rows * many, columns * others);
            let step = |(row, column): &(usize, usize), own: usize| match apart {
                true => (*row, column * others + own),
                false => (row * many + own, *column),
            };
            both = both.iter().flat_map(|before| (0..size).map(move |own| step(before, own))).collect();
        }
        let places = both.into_iter().map(|(row, column)| row * columns + column).collect();
        Sector { apart, rows, columns, places }
    }
}

impl Axis {
    /// A' along the attribute: from the groups of a query to means or differences.
    fn turned(&self, part: &Part, apart: bool, tensor: &[Float], inner: usize) -> Vec<Float> {
        let size = part.groups(self.cell_of.len());
        let slab = |slab: &[Float]| -> Vec<Float> {
            if *part != Part::Whole {
                let of = |cell: usize| {
                    let (group, many) = (part.group_of(self.first[cell]), self.sizes[cell]);
                    slab[group * inner..(group + 1) * inner].iter().map(move |own| Float::with_val(BITS, own * many))
                };
                return (0..self.cells()).flat_map(of).collect();
            }
            let mut sums = vec![long(0.0); self.cells() * inner];
            for (value, cell) in self.cell_of.iter().enumerate() {
                super::algebra::add(
                    &mut sums[cell * inner..(cell + 1) * inner],
                    &slab[value * inner..(value + 1) * inner],
                );
            }
            if !apart {
                return sums;
            }
            for (cell, size) in self.sizes.iter().enumerate() {
                sums[cell * inner..(cell + 1) * inner].iter_mut().for_each(|sum| *sum /= *size);
            }
            let mut rest = slab.to_vec();
            for (value, cell) in self.cell_of.iter().enumerate() {
                let (own, mean) =
                    (&mut rest[value * inner..(value + 1) * inner], &sums[cell * inner..(cell + 1) * inner]);
                super::algebra::subtract(own, mean);
            }
            rest
        };
        tensor.chunks_exact((size * inner).max(1)).flat_map(slab).collect()
    }

    /// A along the attribute: from means or differences to the groups of a query.
    fn summed(&self, part: &Part, apart: bool, tensor: &[Float], inner: usize) -> Vec<Float> {
        if apart {
            return tensor.to_vec();
        }
        let slab = |slab: &[Float]| -> Vec<Float> {
            if *part == Part::Whole {
                let of = |cell: &usize| slab[cell * inner..(cell + 1) * inner].iter().cloned();
                return self.cell_of.iter().flat_map(of).collect();
            }
            let mut sums = vec![long(0.0); part.groups(self.cell_of.len()) * inner];
            for cell in 0..self.cells() {
                let (group, many) = (part.group_of(self.first[cell]), self.sizes[cell]);
                let to = &mut sums[group * inner..(group + 1) * inner];
                to.iter_mut()
                    .zip(&slab[cell * inner..(cell + 1) * inner])
                    .for_each(|(to, own)| *to += Float::with_val(BITS, own * many));
            }
            sums
        };
        tensor.chunks_exact((self.cells() * inner).max(1)).flat_map(slab).collect()
    }
}
