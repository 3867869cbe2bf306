//! The noise of one cell of a table, and of sums of cells: tails, margins of error and their coverage.
//!
//! SafeTab adds to every cell independent noise of one of two laws (2021, Algorithms 4 and 5): N_Z(0, 1 / (2 rho)), or the
//! two-sided geometric of parameter epsilon. Sex marginals and totals of a table are sums of its noisy cells, so their
//! noise is a sum of independent copies.

use std::cell::RefCell;

use rug::{Float, Integer, Rational, float::Round};

use crate::{
    account::Counts,
    error::{Error, Result},
    loss::{
        law::{Group, Law},
        sum::LossSum,
    },
    noise::{DiscreteGaussian, DiscreteLaplace, Distribution, depth_approx, quantile},
    numeric::{Enclosure, precision, rational},
};

/// The greatest number of cells in a sum.
pub const MOST_COPIES: u32 = 1000;

/// The noise of SafeTab, which determines the unit of its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoiseKind {
    /// `SafeTab[Discrete Gaussian]`: a budget is the rho of zero-concentrated differential privacy.
    DiscreteGaussian,
    /// `SafeTab[Geometric]`: a budget is the epsilon of pure differential privacy.
    Geometric,
}

impl NoiseKind {
    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            NoiseKind::DiscreteGaussian => "discrete-gaussian",
            NoiseKind::Geometric => "geometric",
        }
    }

    /// The name of a budget.
    pub fn budget_name(self) -> &'static str {
        match self {
            NoiseKind::DiscreteGaussian => "rho",
            NoiseKind::Geometric => "epsilon",
        }
    }
}

/// The noise of one cell.
///
/// ```
/// use dp_assay::{numeric::rational::parse, safetab::cell_noise::{CellNoise, NoiseKind}};
/// // A county's detailed groups: 9/10 of 0.159, shared by 9 groups of one person.
/// let noise = CellNoise::new(NoiseKind::DiscreteGaussian, &parse("0.0159")?)?;
/// assert_eq!(noise.margin(1, &parse("0.95")?)?, 11);
/// // The least margin is larger than floor(1.96 sigma) = 10, which covers less than 95 %.
/// assert!(noise.coverage(1, 10, 12)?.shown(4) == "0.9392");
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum CellNoise {
    /// N_Z(0, sigma2).
    Gaussian(DiscreteGaussian),
    /// The two-sided geometric.
    Geometric(DiscreteLaplace),
}

impl CellNoise {
    /// The noise with which a cell spends `budget`: sigma2 = 1 / (2 rho), or epsilon. An error unless the budget is positive and the noise
    /// can be drawn.
    pub fn new(noise_kind: NoiseKind, budget: &Rational) -> Result<Self> {
        if *budget <= 0 {
            let name = format!("{} of a cell", noise_kind.budget_name());
            return Err(Error::out_of_range(&name, rational::display(budget), "above 0"));
        }
        Ok(match noise_kind {
            NoiseKind::DiscreteGaussian => {
                CellNoise::Gaussian(DiscreteGaussian::new(Rational::from(budget * 2_u32).recip())?)
            }
            NoiseKind::Geometric => CellNoise::Geometric(DiscreteLaplace::new(budget.clone())?),
        })
    }

    /// Discrete Gaussian or discrete Laplace noise; an error for other laws.
    pub fn of_law(law: &Law) -> Result<Self> {
        Ok(match Distribution::of_law(law)? {
            Distribution::Gaussian(noise) => CellNoise::Gaussian(noise),
            Distribution::Laplace(noise) => CellNoise::Geometric(noise),
            Distribution::Staircase(_) | Distribution::Bounded(_) => {
                return Err(Error::unsuitable(format!(
                    "{law}: the noise of a cell is discrete Gaussian or discrete Laplace noise"
                )));
            }
        })
    }

    /// Its law.
    pub fn law(&self) -> Law {
        match self {
            CellNoise::Gaussian(noise) => Law::DiscreteGaussian { sigma2: noise.sigma2().clone() },
            CellNoise::Geometric(noise) => Law::DiscreteLaplace { epsilon: noise.epsilon().clone() },
        }
    }

    /// The kind of noise.
    pub fn noise_kind(&self) -> NoiseKind {
        match self {
            CellNoise::Gaussian(_) => NoiseKind::DiscreteGaussian,
            CellNoise::Geometric(_) => NoiseKind::Geometric,
        }
    }

    /// sigma2, or epsilon.
    pub fn parameter(&self) -> &Rational {
        match self {
            CellNoise::Gaussian(noise) => noise.sigma2(),
            CellNoise::Geometric(noise) => noise.epsilon(),
        }
    }

    /// `count` cells with this noise, each changed by 1, for the accountant.
    pub fn counts(&self, count: u64) -> Result<Counts> {
        Counts::new(self.law(), count, 1)
    }

    /// `P[X = x]`, to a relative width of 10^-digits.
    pub fn mass(&self, x: i64, digits: u32) -> Enclosure {
        match self {
            CellNoise::Gaussian(noise) => noise.mass(x, digits),
            CellNoise::Geometric(noise) => noise.mass(x, digits),
        }
    }

    /// `P[X >= x]`, to a relative width of 10^-digits.
    pub fn survival(&self, x: i64, digits: u32) -> Result<Enclosure> {
        match self {
            CellNoise::Gaussian(noise) => noise.survival(x, digits),
            CellNoise::Geometric(noise) => Ok(noise.survival(x, digits)),
        }
    }

    /// The smallest integer x with `P[X <= x]` >= p, proven, for 0 < p < 1. An error for other p.
    pub fn quantile(&self, p: &Rational) -> Result<i64> {
        match self {
            CellNoise::Gaussian(noise) => noise.quantile(p),
            CellNoise::Geometric(noise) => noise.quantile(p),
        }
    }

    /// The margin of error of a sum of `copies` cells: the smallest m >= 0 with `P[|S| <= m]` >= level, proven from both
    /// sides. For 0 < level < 1.
    pub fn margin(&self, copies: u32, level: &Rational) -> Result<i64> {
        check_level(level)?;
        // S and -S have the same law: P[|S| <= m] >= level if and only if P[S <= m] >= (1 + level) / 2.
        let p = Rational::from(level + 1_u32) / 2_u32;
        if copies == 1 {
            return Ok(self.quantile(&p)?.max(0));
        }
        let sum = CellSum::new(self, copies)?;
        Ok(quantile(&p, sum.reach_approx(&p), |x, digits| sum.survival(x, digits))?.max(0))
    }

    /// `P[|S| <= m]` for a sum S of `copies` cells; the complement to a relative width of 10^-digits. An error for 0 or more than
    /// [`MOST_COPIES`] cells.
    pub fn coverage(&self, copies: u32, m: i64, digits: u32) -> Result<Enclosure> {
        if m < 0 {
            return Ok(Enclosure::double(0.0, 53));
        }
        let beyond = match copies {
            1 => self.survival(m.saturating_add(1), digits)?,
            _ => CellSum::new(self, copies)?.survival(m.saturating_add(1), digits)?,
        };
        let bits = beyond.lower().prec().max(64);
        Ok(Enclosure::double(1.0, bits).sub(&beyond.times_power_of_two(1)).clamp(0.0, 1.0))
    }
}

fn check_level(level: &Rational) -> Result<()> {
    if *level <= 0 || *level >= 1 {
        return Err(Error::out_of_range("the level of a margin of error", rational::display(level), "between 0 and 1"));
    }
    Ok(())
}

/// The sum of the noise of several cells.
enum CellSum {
    /// S / sigma2 + copies / (2 sigma2) is a sum of privacy losses, whose tails are contour integrals.
    Gaussian { sigma2: Rational, losses: LossSum },
    /// Tails by convolution, kept for the last requested precision.
    Geometric { epsilon: Rational, copies: u32, known: RefCell<Option<GeometricSum>> },
}

impl CellSum {
    fn new(noise: &CellNoise, copies: u32) -> Result<Self> {
        if !(1..=MOST_COPIES).contains(&copies) {
            let expected = format!("1 to {MOST_COPIES} cells");
            return Err(Error::out_of_range("the number of cells in a sum", copies, &expected));
        }
        Ok(match noise {
            CellNoise::Gaussian(noise) => {
                let law = Law::DiscreteGaussian { sigma2: noise.sigma2().clone() };
                let losses = LossSum::new([Group { law, shift: 1, copies: u64::from(copies) }])?;
                CellSum::Gaussian { sigma2: noise.sigma2().clone(), losses }
            }
            CellNoise::Geometric(noise) => {
                CellSum::Geometric { epsilon: noise.epsilon().clone(), copies, known: RefCell::default() }
            }
        })
    }

    /// `P[S >= x]`: to a relative width of 10^-digits for Gaussian noise, an absolute one for geometric.
    fn survival(&self, x: i64, digits: u32) -> Result<Enclosure> {
        match self {
            CellSum::Gaussian { sigma2, losses } => {
                let z = Rational::from(x) / sigma2 + losses.rho();
                Ok(losses.evaluator().upper_tail(&z, digits)?.value)
            }
            CellSum::Geometric { epsilon, copies, known } => {
                let mut known = known.borrow_mut();
                let sum = match known.take() {
                    Some(sum) if sum.digits >= digits => sum,
                    _ => GeometricSum::new(epsilon, *copies, digits)?,
                };
                let tail = sum.survival(x);
                *known = Some(sum);
                Ok(tail)
            }
        }
    }

    /// Beyond this the tail is below the smaller of p and 1 - p: an approximation with a margin, for a search.
    fn reach_approx(&self, p: &Rational) -> f64 {
        let depth = depth_approx(p);
        match self {
            // P[S >= t] <= exp(-t^2 / (2 n sigma2)), n sigma2 = n^2 / (2 rho of the sum).
            CellSum::Gaussian { sigma2, losses } => {
                let copies = (losses.rho() * Rational::from(2) * sigma2).to_f64();
                (2.0 * copies * sigma2.to_f64() * depth).sqrt() * 1.001 + 2.0
            }
            CellSum::Geometric { epsilon, copies, .. } => chernoff_approx(epsilon.to_f64(), *copies, depth) + 2.0,
        }
    }
}

/// A t with ln `P[S >= t]` <= -depth for the sum of geometric cells, by Chernoff's bound at u = epsilon / 2: ln E[exp(u X)] = ln((1 - p)^2
/// / ((1 - p e^u) (1 - p e^-u))), p = exp(-epsilon). An approximation.
fn chernoff_approx(epsilon: f64, copies: u32, depth: f64) -> f64 {
    let u = epsilon / 2.0;
    // For u = epsilon / 2 the two factors are 1 - exp(-epsilon / 2) and 1 - exp(-3 epsilon / 2).
    let ln_mgf =
        2.0 * libm::log(-libm::expm1(-epsilon)) - libm::log(-libm::expm1(-u)) - libm::log(-libm::expm1(-3.0 * u));
    ((f64::from(copies) * ln_mgf + depth) / u * 1.001).ceil()
}

/// The largest number of masses of a sum of geometric cells, and of steps of the convolution.
const MOST_MASSES: f64 = 4e5;
const MOST_STEPS: f64 = 1e7;

/// The tails of the sum of two-sided geometric variables, to about 10^-digits absolutely.
///
/// A two-sided geometric variable is the difference of two geometric ones, so a copy is added by two recursions over the masses: b(k) = p
/// b(k - 1) + (1 - p) a(k) in ascending order, and the mirror image in descending order. All numbers are rounded down to units of 2^-bits,
/// so every stored mass is at most the true one; the truncation at +-reach removes more. The truncated mass is 1 minus the sum of all
/// stored masses, so it is known exactly. The true tail lies between the stored tail and the stored tail plus the truncated mass.
struct GeometricSum {
    digits: u32,
    bits: u32,
    reach: i64,
    /// The sum of the stored masses from -reach + k on, for every k.
    tails: Vec<Integer>,
    missing: Integer,
}

impl GeometricSum {
    fn new(epsilon: &Rational, copies: u32, digits: u32) -> Result<Self> {
        let bits = precision::bits(digits, 64);
        let depth = f64::from(bits) * std::f64::consts::LN_2;
        let reach = chernoff_approx(epsilon.to_f64(), copies, depth);
        // A NaN reach is an error, too.
        if !reach.is_finite() || reach * 2.0 > MOST_MASSES || reach * f64::from(copies) > MOST_STEPS {
            let expected = "a larger epsilon or fewer cells: their sum is convolved over at most 4e5 values";
            return Err(Error::out_of_range("epsilon of a sum of cells", rational::display(epsilon), expected));
        }
        let reach = reach as usize;
        let exponent = Enclosure::rational(&Rational::from(-epsilon), bits + 32);
        let (p, gap) = (units_down(&exponent.exp(), bits)?, units_down(&exponent.exp_m1().negate(), bits)?);
        let one = Integer::from(1) << bits;
        let mut masses = vec![Integer::new(); 2 * reach + 1];
        masses[reach] = one.clone();
        let step = |last: &mut Integer, mass: &mut Integer| {
            *last *= &p;
            *last += &gap * &*mass;
            *last >>= bits;
            mass.clone_from(last);
        };
        for _ in 0..copies {
            let mut last = Integer::new();
            masses.iter_mut().for_each(|mass| step(&mut last, mass));
            last = Integer::new();
            masses.iter_mut().rev().for_each(|mass| step(&mut last, mass));
        }
        let mut total = Integer::new();
        for mass in masses.iter_mut().rev() {
            total += &*mass;
            mass.clone_from(&total);
        }
        Ok(GeometricSum { digits, bits, reach: reach as i64, missing: one - total, tails: masses })
    }

    fn survival(&self, x: i64) -> Enclosure {
        let first = (i128::from(x) + i128::from(self.reach)).max(0);
        // No mass is stored beyond the reach.
        let stored = usize::try_from(first).ok().and_then(|first| self.tails.get(first)).cloned();
        let stored = stored.unwrap_or_else(Integer::new);
        let upper = Integer::from(&stored + &self.missing);
        let end = |units, round| Float::with_val_round(self.bits + 2, units, round).0 >> self.bits;
        Enclosure::new(end(stored, Round::Down), end(upper, Round::Up)).clamp(0.0, 1.0)
    }
}

/// A lower bound in units of 2^-bits, rounded down; an error unless it is finite.
fn units_down(value: &Enclosure, bits: u32) -> Result<Integer> {
    let scaled: Float = value.lower().clone() << bits;
    scaled
        .to_integer_round(Round::Down)
        .map(|(floor, _)| floor)
        .ok_or_else(|| Error::fault(format!("a mass of a sum of cells has the lower bound {}", value.lower())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn noise(noise_kind: NoiseKind, budget: &str) -> CellNoise {
        CellNoise::new(noise_kind, &parse(budget).unwrap()).unwrap()
    }

    const BOTH: [NoiseKind; 2] = [NoiseKind::DiscreteGaussian, NoiseKind::Geometric];

    /// The masses of a sum by convolution in doubles.
    fn convolved(noise: &CellNoise, copies: u32, reach: usize) -> Vec<f64> {
        let single: Vec<f64> = (0..=2 * reach).map(|k| noise.mass(k as i64 - reach as i64, 17).approximate()).collect();
        let mut sum = single.clone();
        for _ in 1..copies {
            let next = (0..=2 * reach).map(|k| {
                let low = k.saturating_sub(reach);
                let high = (k + reach).min(2 * reach);
                (low..=high).map(|j| sum[j] * single[k + reach - j]).sum()
            });
            sum = next.collect();
        }
        sum
    }

    #[test]
    fn sums_agree_with_plain_convolution() {
        for noise_kind in BOTH {
            for (budget, copies, reach) in [("0.4", 2, 120), ("0.3", 8, 200), ("0.6", 18, 120)] {
                let noise = noise(noise_kind, budget);
                let masses = convolved(&noise, copies, reach);
                for m in [0_i64, 1, 5, 20] {
                    let direct: f64 = (-m..=m).map(|k| masses[(k + reach as i64) as usize]).sum();
                    let covered = noise.coverage(copies, m, 15).unwrap();
                    assert!((covered.approximate() - direct).abs() < 1e-9, "{noise_kind:?} {budget} {copies} {m}");
                    assert!(covered.is_tight(10));
                }
            }
        }
    }

    #[test]
    fn a_margin_covers_and_the_one_below_does_not() {
        for noise_kind in BOTH {
            for budget in ["2", "0.3", "0.0159"] {
                let noise = noise(noise_kind, budget);
                for (copies, level) in [(1, "0.95"), (1, "0.5"), (4, "0.95"), (18, "0.9"), (46, "0.95")] {
                    let level = parse(level).unwrap();
                    let m = noise.margin(copies, &level).unwrap();
                    assert!(*noise.coverage(copies, m, 20).unwrap().lower() >= level, "{budget} {copies}");
                    assert!(m == 0 || *noise.coverage(copies, m - 1, 20).unwrap().upper() < level, "{budget} {copies}");
                }
            }
        }
    }

    #[test]
    fn one_copy_of_a_sum_is_the_cell_itself() {
        for noise_kind in BOTH {
            let noise = noise(noise_kind, "0.2");
            let sum = CellSum::new(&noise, 1).unwrap();
            for x in [-7, 0, 1, 12] {
                assert!(sum.survival(x, 20).unwrap().overlaps(&noise.survival(x, 20).unwrap()), "{noise_kind:?} {x}");
            }
        }
    }

    #[test]
    fn a_lower_bound_that_is_not_finite_is_refused() {
        let value = |lower: f64| Enclosure::new(Float::with_val(53, lower), Float::with_val(53, f64::INFINITY));
        assert_eq!(units_down(&value(0.25), 8).unwrap(), 64);
        for lower in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(units_down(&value(lower), 8).is_err());
        }
    }

    #[test]
    fn impossible_requests_are_errors() {
        let budget = parse("0.1").unwrap();
        for bad in ["0", "-1"] {
            assert!(CellNoise::new(NoiseKind::Geometric, &parse(bad).unwrap()).is_err());
        }
        let cell = CellNoise::new(NoiseKind::DiscreteGaussian, &budget).unwrap();
        assert!(cell.margin(0, &parse("0.95").unwrap()).is_err() && cell.margin(1, &Rational::from(1)).is_err());
        let wide = noise(NoiseKind::Geometric, "1e-8");
        assert!(wide.margin(46, &parse("0.95").unwrap()).unwrap_err().to_string().contains("fewer cells"));
        assert!(wide.margin(1, &parse("0.95").unwrap()).unwrap() > 100_000_000);
    }
}
