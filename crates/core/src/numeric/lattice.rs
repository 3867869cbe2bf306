//! Enumeration of the integer vectors near a point, with a positive definite quadratic form as the squared distance.
//!
//! The form is a Gram matrix. Its basis is reduced (Lenstra, Lenstra & Lovász 1982). Then the coordinates are chosen one after the other,
//! each from its remaining range (Fincke & Pohst 1985). With b* the orthogonal parts of the basis b, mu their coefficients and y the
//! coordinates of x - center,
//!
//! ```text
//! q(x - center) = sum over j of |b*_j|^2 (y_j + sum over i > j of mu_ij y_i)^2.
//! ```
//!
//! In a reduced basis few ranges are searched without a result: the cost is about proportional to the number of vectors found.
//!
//! # Proof
//!
//! The basis is changed only by adding multiples and by swaps of integer vectors, exactly: it remains a basis, although floats choose the
//! changes. The Gram matrix of the final basis is summed with enough bits for an error e with 2^40 e <= min |b*|^2. For a reduced basis of
//! at most [`MOST_DIMENSIONS`] vectors q >= |z|^2 min |b*|^2 / 5000, so the relative error of q is below 10^-6. Ranges are computed in
//! doubles. The error of a coordinate is below 10^-14 of the numbers that are added to it, and |y_i| is at most a small multiple of the
//! range of y_j, j < i, because the |b*| of a reduced basis do not decrease fast. The ranges are widened by ten times that.

use std::f64::consts::PI;

use rug::{Assign, Float, Integer};

/// The largest number of dimensions.
pub(crate) const MOST_DIMENSIONS: usize = 8;
/// The condition of Lenstra, Lenstra & Lovász: a swap must shorten the orthogonal part by this factor.
const DELTA: f64 = 0.99;
/// The relative widening of the bound, and of coordinates relative to their terms.
const OF_BOUND: f64 = 4e-6;
const OF_COORDINATE: f64 = 1e-13;

/// The volume of the unit ball, pi^(d / 2) / (d / 2)!, by the recursion 2 pi / d.
pub(crate) fn ball(dimensions: usize) -> f64 {
    let steps = (2..=dimensions).filter(|d| d % 2 == dimensions % 2).map(|d| 2.0 * PI / d as f64);
    steps.product::<f64>() * if dimensions % 2 == 1 { 2.0 } else { 1.0 }
}

/// A quadratic form on the integer vectors, with a reduced basis.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    bits: u32,
    basis: Vec<Vec<Integer>>,
    /// The rows whose products with a vector are its coordinates in the basis.
    inverse: Vec<Vec<Integer>>,
    /// |b*_j|^2.
    squares: Vec<f64>,
    /// mu_ij for j < i.
    mu: Vec<Vec<f64>>,
}

/// Orthogonalization of a Gram matrix; the rows up to the current one are valid.
struct Orthogonal {
    /// r_ij = mu_ij |b*_j|^2 for j < i, and |b*_i|^2 for j = i.
    r: Vec<Vec<Float>>,
    mu: Vec<Vec<Float>>,
}

impl Orthogonal {
    fn new(dimensions: usize, bits: u32) -> Self {
        let zeros = || vec![vec![Float::new(bits); dimensions]; dimensions];
        Orthogonal { r: zeros(), mu: zeros() }
    }

    /// Computes the row of a vector from the rows before it.
    fn row(&mut self, gram: &[Vec<Float>], i: usize) {
        let mut product = Float::new(gram[0][0].prec());
        for (j, entry) in gram[i].iter().enumerate().take(i + 1) {
            let mut sum = entry.clone();
            for k in 0..j {
                product.assign(&self.mu[j][k] * &self.r[i][k]);
                sum -= &product;
            }
            if j < i {
                self.mu[i][j] = Float::with_val(sum.prec(), &sum / &self.r[j][j]);
            }
            self.r[i][j] = sum;
        }
    }
}

/// A basis while it is reduced.
struct Reduction {
    basis: Vec<Vec<Integer>>,
    inverse: Vec<Vec<Integer>>,
    /// The Gram matrix of the basis.
    gram: Vec<Vec<Float>>,
    parts: Orthogonal,
}

impl Reduction {
    /// More rounds than any basis of so few vectors needs.
    const MOST_ROUNDS: u32 = 20_000;

    /// The reduction of the basis of another form, or of the unit vectors.
    fn new(gram: &[Vec<Float>], like: Option<&Form>) -> Self {
        let dimensions = gram.len();
        let unit = || -> Vec<Vec<Integer>> {
            (0..dimensions).map(|i| (0..dimensions).map(|j| Integer::from(i == j)).collect()).collect()
        };
        let (basis, inverse) = match like.filter(|like| like.basis.len() == dimensions) {
            Some(like) => (like.basis.clone(), like.inverse.clone()),
            None => (unit(), unit()),
        };
        let own = gram_of(gram, &basis);
        Reduction { basis, inverse, gram: own, parts: Orthogonal::new(dimensions, gram[0][0].prec()) }
    }

    /// Lenstra, Lenstra & Lovász 1982. `None` where the matrix turns out not to be positive definite at its precision.
    fn run(&mut self) -> Option<()> {
        self.parts.row(&self.gram, 0);
        let (mut i, mut rounds) = (1, 0);
        while i < self.basis.len() {
            rounds += 1;
            if rounds > Self::MOST_ROUNDS {
                return None;
            }
            self.shorten(i);
            i = if self.is_in_order(i)? { i + 1 } else { self.swap(i) };
        }
        Some(())
    }

    /// Subtracts multiples of the vectors before it from vector i.
    fn shorten(&mut self, i: usize) {
        self.parts.row(&self.gram, i);
        for j in (0..i).rev() {
            let times = self.parts.mu[i][j].clone().round();
            let Some(times) = times.to_integer().filter(|times| *times != 0) else { continue };
            subtract(&mut self.basis, i, j, &times);
            add(&mut self.inverse, j, i, &times);
            reduce_gram(&mut self.gram, i, j, &times);
            self.parts.row(&self.gram, i);
        }
    }

    /// Whether a swap with the vector before it would not shorten the orthogonal part enough.
    fn is_in_order(&self, i: usize) -> Option<bool> {
        let [before, this] = [i - 1, i].map(|at| self.parts.r[at][at].clone());
        if before <= 0 || this.is_nan() {
            return None;
        }
        let mu = self.parts.mu[i][i - 1].clone();
        Some(this >= (Float::with_val(mu.prec(), DELTA) - mu.square()) * before)
    }

    /// Swaps vector i with the one before it. Returns the place at which to go on.
    fn swap(&mut self, i: usize) -> usize {
        self.basis.swap(i, i - 1);
        self.inverse.swap(i, i - 1);
        self.gram.swap(i, i - 1);
        self.gram.iter_mut().for_each(|row| row.swap(i, i - 1));
        self.parts.row(&self.gram, i - 1);
        (i - 1).max(1)
    }
}

impl Form {
    /// The form of a Gram matrix, reduced from the basis of another form or from the unit vectors. `None` if it is not proven positive
    /// definite at its precision, or has too many dimensions.
    pub(crate) fn new(gram: &[Vec<Float>], like: Option<&Form>) -> Option<Self> {
        let dimensions = gram.len();
        if dimensions == 0 || dimensions > MOST_DIMENSIONS {
            return None;
        }
        let mut reduction = Reduction::new(gram, like);
        reduction.run()?;
        let Reduction { basis, inverse, mut parts, .. } = reduction;
        // Recomputed from the exact basis.
        let own = gram_of(gram, &basis);
        (0..dimensions).for_each(|i| parts.row(&own, i));
        let squares: Vec<&Float> = (0..dimensions).map(|i| &parts.r[i][i]).collect();
        let least = squares.iter().min_by(|a, b| a.total_cmp(b))?;
        let largest = |rows: &[Vec<Integer>]| rows.iter().flatten().map(Integer::significant_bits).max().unwrap_or(0);
        let entries = gram.iter().flatten().filter_map(|entry| entry.get_exp()).max()?;
        let bits = gram[0][0].prec();
        // Each product has an error of at most one unit in the last place; each entry is a sum of at most 64 products.
        let off = entries + 2 * largest(&basis) as i32 + 8 - bits as i32;
        if least.is_nan() || **least <= 0 || least.get_exp()? <= off + 40 {
            return None;
        }
        Some(Form {
            bits,
            squares: squares.iter().map(|square| square.to_f64()).collect(),
            mu: parts.mu.iter().map(|row| row.iter().map(Float::to_f64).collect()).collect(),
            basis,
            inverse,
        })
    }

    /// Calls `found` once for every integer vector x with q(x - center) <= most, and possibly for a few that are slightly farther away; and
    /// `count` for every choice of a coordinate.
    pub(crate) fn each<E>(
        &self,
        center: &[Float],
        most: f64,
        count: &mut impl FnMut() -> Result<(), E>,
        found: &mut impl FnMut(&[i128]) -> Result<(), E>,
    ) -> Result<(), E> {
        let dimensions = self.basis.len();
        // The coordinates of the center: the nearest integers, and the differences to them.
        let mut vector = vec![0_i128; dimensions];
        let mut above = vec![0.0; dimensions];
        for (row, (above, own)) in self.inverse.iter().zip(above.iter_mut().zip(&self.basis)) {
            let terms = row.iter().zip(center).map(|(entry, x)| Float::with_val(self.bits, x * entry));
            let coordinate = terms.fold(Float::new(self.bits), |sum, term| sum + term);
            let nearest = coordinate.clone().round();
            *above = Float::with_val(64, &coordinate - &nearest).to_f64();
            let nearest = nearest.to_integer().unwrap_or_default();
            // Modulo 2^128, like all sums of vectors: the vectors found are far smaller.
            for (entry, own) in vector.iter_mut().zip(own) {
                *entry = entry.wrapping_add(Integer::from(&nearest * own).to_i128_wrapping());
            }
        }
        let wrapped = |vector: &Vec<Integer>| vector.iter().map(Integer::to_i128_wrapping).collect();
        let basis: Vec<Vec<i128>> = self.basis.iter().map(wrapped).collect();
        let most = most * (1.0 + OF_BOUND);
        let mut search = Search { form: self, basis: &basis, above: &above, y: vec![0.0; dimensions], count, found };
        search.choose(dimensions, &vector, most)
    }
}

/// The recursion over the coordinates, the last one first.
struct Search<'a, C, F> {
    form: &'a Form,
    basis: &'a [Vec<i128>],
    above: &'a [f64],
    y: Vec<f64>,
    count: &'a mut C,
    found: &'a mut F,
}

impl<E, C: FnMut() -> Result<(), E>, F: FnMut(&[i128]) -> Result<(), E>> Search<'_, C, F> {
    /// Chooses all coordinates before `after`, given the vector of the others and the remaining bound.
    fn choose(&mut self, after: usize, vector: &[i128], left: f64) -> Result<(), E> {
        let Some(j) = after.checked_sub(1) else { return (self.found)(vector) };
        let (mut shift, mut size) = (0.0, 1.0);
        for i in after..self.y.len() {
            let term = self.form.mu[i][j] * self.y[i];
            (shift, size) = (shift + term, size + term.abs());
        }
        let square = self.form.squares[j];
        let reach = (left.max(0.0) / square).sqrt();
        let slack = OF_COORDINATE * (size + reach);
        let middle = self.above[j] - shift;
        let (low, high) = ((middle - reach - slack).ceil(), (middle + reach + slack).floor());
        let mut z = low;
        let mut vector: Vec<i128> =
            vector.iter().zip(&self.basis[j]).map(|(x, own)| x.wrapping_add(own.wrapping_mul(low as i128))).collect();
        while z <= high {
            (self.count)()?;
            self.y[j] = z - self.above[j];
            let away = ((self.y[j] + shift).abs() - slack).max(0.0);
            self.choose(j, &vector, left - square * away * away * (1.0 - 1e-12))?;
            vector.iter_mut().zip(&self.basis[j]).for_each(|(x, own)| *x = x.wrapping_add(*own));
            z += 1.0;
        }
        Ok(())
    }
}

/// The Gram matrix of a basis.
fn gram_of(gram: &[Vec<Float>], basis: &[Vec<Integer>]) -> Vec<Vec<Float>> {
    let bits = gram[0][0].prec();
    let image = |vector: &Vec<Integer>| -> Vec<Float> {
        let entry = |row: &Vec<Float>| {
            let terms = row.iter().zip(vector).filter(|(_, x)| **x != 0).map(|(g, x)| Float::with_val(bits, g * x));
            terms.fold(Float::new(bits), |sum, term| sum + term)
        };
        gram.iter().map(entry).collect()
    };
    let images: Vec<Vec<Float>> = basis.iter().map(image).collect();
    let product = |vector: &Vec<Integer>, image: &Vec<Float>| {
        let terms = image.iter().zip(vector).filter(|(_, x)| **x != 0).map(|(g, x)| Float::with_val(bits, g * x));
        terms.fold(Float::new(bits), |sum, term| sum + term)
    };
    basis.iter().map(|vector| images.iter().map(|image| product(vector, image)).collect()).collect()
}

/// Subtracts a multiple of row j from row i.
fn subtract(rows: &mut [Vec<Integer>], i: usize, j: usize, times: &Integer) {
    let other = rows[j].clone();
    rows[i].iter_mut().zip(&other).for_each(|(entry, other)| *entry -= times * other);
}

/// Adds a multiple of row j to row i.
fn add(rows: &mut [Vec<Integer>], i: usize, j: usize, times: &Integer) {
    let other = rows[j].clone();
    rows[i].iter_mut().zip(&other).for_each(|(entry, other)| *entry += times * other);
}

/// Updates the Gram matrix when a multiple of vector j is subtracted from vector i.
fn reduce_gram(gram: &mut [Vec<Float>], i: usize, j: usize, times: &Integer) {
    let bits = gram[0][0].prec();
    let other = gram[j].clone();
    gram[i].iter_mut().zip(&other).for_each(|(entry, other)| *entry -= Float::with_val(bits, other * times));
    gram.iter_mut().for_each(|row| {
        let lost = Float::with_val(bits, &row[j] * times);
        row[i] -= lost;
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A form that is large along one vector and small in all other directions.
    fn form_of(weights: &[f64], normal: &[f64], bits: u32) -> Vec<Vec<Float>> {
        let entry = |i: usize, j: usize| {
            let along = Float::with_val(bits, normal[i]) * normal[j];
            if i == j { along + weights[i] } else { along }
        };
        (0..weights.len()).map(|i| (0..weights.len()).map(|j| entry(i, j)).collect()).collect()
    }

    fn value(gram: &[Vec<Float>], y: &[f64]) -> f64 {
        let mut sum = Float::new(300);
        for (row, a) in gram.iter().zip(y) {
            for (entry, b) in row.iter().zip(y) {
                sum += Float::with_val(300, entry * *a) * *b;
            }
        }
        sum.to_f64()
    }

    /// Compared with all vectors of a box, for one to four dimensions and for thin and thick slabs.
    #[test]
    fn the_vectors_are_those_of_an_exhaustive_search() {
        let weights = [0.02, 0.013, 0.03, 0.05];
        let mut all = 0;
        for dimensions in 1..=4 {
            for thin in [0.5, 37.0, 3e4] {
                let normal: Vec<f64> = [1.0, 0.123, 0.0456, 0.00789].map(|x: f64| x * thin).to_vec();
                let gram = form_of(&weights[..dimensions], &normal[..dimensions], 300);
                let form = Form::new(&gram, None).unwrap();
                let again = Form::new(&gram, Some(&form)).unwrap();
                assert_eq!(again.basis, form.basis);
                for center in [[0.0; 4], [0.3, -7.25, 1000.5, 2.0]] {
                    let (most, mut found, mut counted) = (1.3, Vec::new(), 0);
                    let place: Vec<Float> = center[..dimensions].iter().map(|x| Float::with_val(300, x)).collect();
                    let mut count = || -> Result<(), ()> {
                        counted += 1;
                        Ok(())
                    };
                    form.each(&place, most, &mut count, &mut |x| {
                        found.push(x.to_vec());
                        Ok(())
                    })
                    .unwrap();
                    let mut boxed = vec![Vec::new()];
                    for (&weight, &center) in weights.iter().zip(&center).take(dimensions) {
                        let far = (most / weight).sqrt();
                        let range = (center - far).floor() as i128..=(center + far).ceil() as i128;
                        boxed = boxed
                            .iter()
                            .flat_map(|chosen: &Vec<i128>| range.clone().map(|x| [&chosen[..], &[x]].concat()))
                            .collect();
                    }
                    boxed.retain(|x| {
                        let y: Vec<f64> = x.iter().zip(&center).map(|(x, center)| *x as f64 - center).collect();
                        value(&gram, &y) <= most
                    });
                    found.sort();
                    boxed.sort();
                    assert_eq!(found, boxed, "{dimensions} {thin}");
                    assert!(counted <= 12 * (found.len() + 4), "{counted} choices for {}", found.len());
                    all += found.len();
                }
            }
        }
        assert!(all > 5_000, "{all}");
    }

    /// For centers far from the origin and long basis vectors.
    #[test]
    fn far_centers_have_the_same_vectors() {
        let gram = form_of(&[1e-9, 2e-9, 1.5e-9], &[1e8, 31_415_926.535_897_93, 27_182.818_284_590_45], 400);
        let form = Form::new(&gram, None).unwrap();
        let all = |shift: i64| {
            let center: Vec<Float> = [7, -5, 3].map(|k: i64| Float::with_val(400, k * shift) + 0.25).to_vec();
            let mut found = Vec::new();
            form.each(&center, 3.0, &mut || Ok::<(), ()>(()), &mut |x| {
                found.push(x.iter().zip([7, -5, 3]).map(|(x, k)| x - i128::from(k * shift)).collect::<Vec<_>>());
                Ok(())
            })
            .unwrap();
            found.sort();
            found
        };
        let near = all(0);
        assert!(near.len() > 20 && near.len() < 100_000, "{}", near.len());
        assert!(near.iter().flatten().any(|x| x.abs() > 10_000));
        for shift in [1, 1_000_003, 123_456_789_012_345] {
            assert_eq!(all(shift), near);
        }
    }

    #[test]
    fn forms_that_are_not_positive_are_refused() {
        assert!(Form::new(&form_of(&[0.0, 0.0], &[1.0, 2.0], 200), None).is_none());
        assert!(Form::new(&form_of(&[-1.0, 1.0], &[0.5, 0.5], 200), None).is_none());
        assert!(Form::new(&form_of(&[1e-60, 1e-60], &[1e30, 2e30], 100), None).is_none());
    }
}
