//! Estimates with their covariances, and how they are combined on a tree.
//!
//! Let a unit p have the children c, whose subtrees alone give the estimates x_c with covariances C_c. Their sum S has
//! covariance V, the sum of the C_c. Upwards, with the unit's own counts, of information M and right side b,
//!
//! C_p = (V^-1 + M)^-1,   x_p = S + C_p (b - M S).
//!
//! Downwards, given the unit's final estimate z_p with covariance F_p, the children get the conditional mean given
//! their sum, which is linear in z_p:
//!
//! z_c = x_c + C_c V^- (z_p - S),   F_c = C_c - C_c N C_c,   N = V^- - V^- F_p V^-.
//!
//! Coordinates that constraints make zero are omitted. V is singular only where a sum is fixed, as a state's total is;
//! then any V^- is correct, because z_p - S and the columns of C_c lie in its range.
//!
//! A child without counts of its own or below it has no estimate. There may be one among its siblings: it gets z_p - S,
//! with covariance F_p + V, and gives no information about the others.

use std::sync::Arc;

use super::{
    matrix::{Factor, Matrix, combined, multiply_add},
    number::{Number, add},
    problem::{Problem, Shape},
};

/// An estimate and its covariance in each sector.
#[derive(Clone, Debug)]
pub struct Belief<N = f64> {
    /// The coordinates that are not zero.
    pub shape: Arc<Shape>,
    /// The estimate.
    pub x: Vec<N>,
    /// The covariance of each column of each sector. Units with the same measurements share it.
    pub covariance: Arc<Vec<Matrix<N>>>,
}

/// A unit's own counts: information and right side on its shape.
pub struct Measured<N = f64> {
    /// M.
    pub information: Arc<Vec<Matrix<N>>>,
    /// b.
    pub right_side: Vec<N>,
}

/// C B in every sector.
pub(super) fn apply<N: Number>(shape: &Shape, matrices: &[Matrix<N>], x: &[N]) -> Vec<N> {
    let mut product = vec![N::of(0.0); shape.len];
    for (sector, matrix) in matrices.iter().enumerate() {
        let at = shape.range(sector);
        multiply_add(matrix, &x[at.clone()], shape.columns[sector], &mut product[at]);
    }
    product
}

impl<N: Number> Belief<N> {
    /// The estimate from a unit's own counts alone, given the inverse of their information.
    pub fn alone(shape: Arc<Shape>, covariance: Arc<Vec<Matrix<N>>>, right_side: &[N]) -> Self {
        let x = apply(&shape, &covariance, right_side);
        Belief { shape, x, covariance }
    }

    /// Numbers known exactly, on the same shape.
    pub fn exactly(&self, x: Vec<N>) -> Self {
        let zeros = self.shape.rows.iter().map(|rows| Matrix::zero(rows.len(), rows.len())).collect();
        Belief { shape: self.shape.clone(), x, covariance: Arc::new(zeros) }
    }

    /// Combined with independent measurements.
    fn with(self, measured: &Measured<N>) -> Self {
        let Belief { shape, mut x, covariance } = self;
        let information = &measured.information;
        let covariance: Vec<Matrix<N>> =
            covariance.iter().zip(information.iter()).map(|(own, more)| combined(own, more)).collect();
        let mut rest = apply(&shape, information, &x);
        rest.iter_mut().zip(&measured.right_side).for_each(|(rest, b)| *rest = b.less(rest));
        let step = apply(&shape, &covariance, &rest);
        add(&mut x, &step);
        Belief { shape, x, covariance: Arc::new(covariance) }
    }
}

impl Belief {
    /// With its total fixed; `Err` with its own total, if that is fixed already and different.
    pub fn with_total(self, problem: &Problem, total: f64) -> std::result::Result<Belief, f64> {
        // The total affects only the one column of the first sector.
        let functional = problem.total_on(&self.shape);
        let own = &self.covariance[0];
        let at = self.shape.range(0);
        let has: f64 = functional.iter().zip(&self.x[at.clone()]).map(|(a, x)| a * x).sum();
        let mut column = vec![0.0; functional.len()];
        multiply_add(own, &functional, 1, &mut column);
        let variance: f64 = functional.iter().zip(&column).map(|(a, c)| a * c).sum();
        let terms: f64 = functional.iter().enumerate().map(|(at, a)| a * a * own.at(at, at)).sum();
        if variance <= 1e-11 * terms {
            // Rounding errors of a sum of millions in doubles are far below a tenth of a person.
            return if (has - total).abs() < 0.1 { Ok(self) } else { Err(has) };
        }
        let Belief { shape, mut x, covariance } = self;
        let mut matrices = (*covariance).clone();
        for (x, c) in x[at].iter_mut().zip(&column) {
            *x += c * (total - has) / variance;
        }
        let size = column.len();
        for (place, entry) in matrices[0].entries.iter_mut().enumerate() {
            *entry -= column[place / size] * column[place % size] / variance;
        }
        Ok(Belief { shape, x, covariance: Arc::new(matrices) })
    }
}

/// A covariance on a shape, with the number of children that have it.
type Pattern<N> = (Arc<Vec<Matrix<N>>>, Arc<Shape>, u32);

/// The accumulated sum of the estimates of children.
#[derive(Clone, Debug)]
pub struct Below<N = f64> {
    /// The union of the children's coordinates.
    pub shape: Arc<Shape>,
    /// S.
    pub x: Vec<N>,
    /// Covariances, each with the number of children that have it.
    patterns: Vec<Pattern<N>>,
}

impl<N: Number> Below<N> {
    /// No child yet.
    pub fn new(shape: Arc<Shape>) -> Self {
        Below { x: vec![N::of(0.0); shape.len], shape, patterns: Vec::new() }
    }

    /// Adds a child.
    pub fn add(&mut self, child: &Belief<N>) {
        add_part(&self.shape, &mut self.x, &child.shape, &child.x);
        match self.patterns.iter_mut().find(|(known, _, _)| Arc::ptr_eq(known, &child.covariance)) {
            Some((_, _, count)) => *count += 1,
            None => self.patterns.push((child.covariance.clone(), child.shape.clone(), 1)),
        }
    }

    /// Whether no child was added.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// V.
    pub fn covariance(&self) -> Vec<Matrix<N>> {
        let mut sum: Vec<Matrix<N>> = self.shape.rows.iter().map(|rows| Matrix::zero(rows.len(), rows.len())).collect();
        for (covariance, shape, count) in &self.patterns {
            let places = shape.places_in(&self.shape);
            for ((sum, own), places) in sum.iter_mut().zip(covariance.iter()).zip(&places) {
                sum.add_at(&N::of(f64::from(*count)), own, places);
            }
        }
        sum
    }

    /// The estimate of the unit from its children and its own counts. `open` means that a child has no estimate, so the
    /// children give no information about the unit. `None` if nothing is known of the unit.
    pub fn estimate(&self, open: bool, measured: Option<&Measured<N>>) -> Option<Belief<N>> {
        let shape = self.shape.clone();
        match (open || self.is_empty(), measured) {
            (false, None) => Some(Belief { shape, x: self.x.clone(), covariance: Arc::new(self.covariance()) }),
            (false, Some(measured)) => {
                let below = Belief { shape, x: self.x.clone(), covariance: Arc::new(self.covariance()) };
                Some(below.with(measured))
            }
            (true, None) => None,
            (true, Some(measured)) => {
                let inverse = |matrix: &Matrix<N>| Factor::new(matrix).inverse();
                let covariance = Arc::new(measured.information.iter().map(inverse).collect());
                Some(Belief::alone(shape, covariance, &measured.right_side))
            }
        }
    }
}

/// Adds a vector on a shape to one on a shape that has all its coordinates.
pub(super) fn add_part<N: Number>(whole: &Shape, to: &mut [N], part: &Shape, from: &[N]) {
    if whole.number == part.number {
        add(to, from);
        return;
    }
    for (sector, places) in part.places_in(whole).iter().enumerate() {
        let columns = whole.columns[sector];
        let to = &mut to[whole.range(sector)];
        for (place, from) in places.iter().zip(from[part.range(sector)].chunks_exact(columns)) {
            let start = *place as usize * columns;
            add(&mut to[start..start + columns], from);
        }
    }
}

/// The part of a vector that a smaller shape has.
fn part_of<N: Number>(whole: &Shape, x: &[N], part: &Shape) -> Vec<N> {
    if whole.number == part.number {
        return x.to_vec();
    }
    let mut kept = Vec::with_capacity(part.len);
    for (sector, places) in part.places_in(whole).iter().enumerate() {
        let (columns, from) = (whole.columns[sector], &x[whole.range(sector)]);
        for place in places {
            let start = *place as usize * columns;
            kept.extend_from_slice(&from[start..start + columns]);
        }
    }
    kept
}

/// The step from a unit's final estimate to those of its children.
pub struct Descent<N = f64> {
    shape: Arc<Shape>,
    /// V^- (z - S), or z - S for the child without an estimate.
    step: Vec<N>,
    /// N, or F + V.
    inner: Vec<Matrix<N>>,
    open: bool,
}

impl<N: Number> Descent<N> {
    /// From the unit's final estimate and the sum of its children's.
    pub fn new(last: &Belief<N>, below: &Below<N>, open: bool) -> Self {
        let shape = below.shape.clone();
        let mut step: Vec<N> = last.x.iter().zip(&below.x).map(|(z, s)| z.less(s)).collect();
        let mut inner = below.covariance();
        if open {
            inner.iter_mut().zip(last.covariance.iter()).for_each(|(v, f)| v.add(1.0, f));
            return Descent { shape, step, inner, open };
        }
        for (sector, (v, f)) in inner.iter_mut().zip(last.covariance.iter()).enumerate() {
            let factor = Factor::new(v);
            factor.solve(&mut step[shape.range(sector)], shape.columns[sector]);
            let inverse = factor.inverse().symmetric();
            let mut rest = v.clone();
            rest.add(-1.0, f);
            *v = inverse.times(&rest).times(&inverse).symmetric();
        }
        Descent { shape, step, inner, open }
    }

    /// The final estimate of a child; with `child` `None`, of the one without an estimate.
    pub fn estimate(&self, child: Option<&Belief<N>>) -> Belief<N> {
        let Some(child) = child else {
            let covariance = Arc::new(self.inner.clone());
            return Belief { shape: self.shape.clone(), x: self.step.clone(), covariance };
        };
        if self.open {
            return child.clone();
        }
        Belief { shape: child.shape.clone(), x: self.mean(child), covariance: Arc::new(self.covariance(child)) }
    }

    /// The final estimate of a child without its covariance.
    pub fn mean(&self, child: &Belief<N>) -> Vec<N> {
        if self.open {
            return child.x.clone();
        }
        let step = part_of(&self.shape, &self.step, &child.shape);
        let mut x = apply(&child.shape, &child.covariance, &step);
        add(&mut x, &child.x);
        x
    }

    /// The final covariance of a child: the same for all children with equal covariances.
    pub fn covariance(&self, child: &Belief<N>) -> Vec<Matrix<N>> {
        if self.open {
            return (*child.covariance).clone();
        }
        let places = child.shape.places_in(&self.shape);
        let own = child.covariance.iter().zip(&self.inner).zip(&places);
        own.map(|((own, inner), places)| {
            let mut rest = own.clone();
            rest.add(-1.0, &own.times(&inner.part(places)).times(own));
            rest.symmetric()
        })
        .collect()
    }
}
