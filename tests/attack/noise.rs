//! The laws of noise, published errors, and SafeTab's derived quantities, against sums over the masses.

use dp_assay::{
    noise::{DiscreteGaussian, DiscreteLaplace, published_error::ClampedErrors},
    numeric::Enclosure,
    safetab::{
        cell_noise::{CellNoise, NoiseKind},
        suppression::Suppression,
        tuning::least_budget,
    },
};
use rug::{Complete, Integer, Rational};

use super::{
    account::decimal,
    cases::Numbers,
    enumerated::{gaussian_masses, power},
    fixed::{Fixed, Span},
    record::{Record, relative_width},
};

/// The masses of a symmetric law on the integers at -reach..=reach, each a lower bound; the true ones sum to 1.
struct Masses {
    fixed: Fixed,
    masses: Vec<Integer>,
    missing: Integer,
    /// Upper bound on the sum of x^2 P\[X = x\] beyond the reach on both sides.
    second_beyond: Integer,
}

impl Masses {
    fn new(masses: Vec<Integer>, bits: u32, second_beyond: Integer) -> Self {
        let fixed = Fixed { bits };
        let missing = fixed.one() - masses.iter().sum::<Integer>();
        assert!(missing >= 0, "stored masses exceed one");
        Masses { fixed, masses, missing, second_beyond }
    }

    /// N_Z(0, sigma2). With R^2 >= 2 sigma2 bits ln 2, and x^2 exp(-x^2 / (4 sigma2)) decreasing from 2 sigma on, the second moment beyond
    /// R is at most R^2 exp(-R^2 / (2 sigma2)) (1 + 2 sigma2) on each side; the normalizing sum is at least 1.
    fn gaussian(sigma2: &Rational, bits: u32) -> Self {
        let masses = gaussian_masses(sigma2, bits);
        let reach = masses.len() as u64 / 2;
        let size = Rational::from(sigma2 * 2_u32) + 1_u32;
        let beyond = size.ceil().into_numer_denom().0 * (2 * reach * reach);
        Masses::new(masses, bits, beyond)
    }

    /// exp(-epsilon |x|) (1 - p) / (1 + p), p = exp(-epsilon). The sum of x^2 p^x beyond R is at most p^R times (R + 1)^2 + ... <= p^R (R +
    /// 1)^2 2 / (1 - p)^3, and the factor in front is at most 1.
    fn laplace(epsilon: &Rational, bits: u32) -> Self {
        let reach = (f64::from(bits) * std::f64::consts::LN_2 / epsilon.to_f64()) as usize + 1;
        let wide = Fixed { bits: bits + reach.ilog2() + 16 };
        let p = wide.exp(&-epsilon.clone());
        let one = Span { lower: wide.one(), upper: wide.one() };
        let gap = wide.sub(&one, &p);
        let mut mass = wide.div(&gap, &wide.add(&one, &p));
        let mut half = Vec::new();
        for _ in 0..=reach {
            half.push(mass.lower.clone() >> (wide.bits - bits));
            mass = wide.mul(&mass, &p);
        }
        let masses: Vec<Integer> = half.iter().skip(1).rev().chain(&half).cloned().collect();
        let cube = wide.mul(&wide.mul(&gap, &gap), &gap);
        let inverse = wide.value(&wide.div(&one, &cube).upper).ceil().into_numer_denom().0;
        let square = Integer::from(reach + 1).square();
        Masses::new(masses, bits, (inverse * square) << 2)
    }

    fn reach(&self) -> i64 {
        self.masses.len() as i64 / 2
    }

    fn mass(&self, x: i64) -> Span {
        let stored = usize::try_from(x + self.reach()).ok().and_then(|at| self.masses.get(at)).cloned();
        let lower = stored.unwrap_or_default();
        Span { upper: (&lower + &self.missing).complete(), lower }
    }

    /// P\[X >= x\].
    fn survival(&self, x: i64) -> Span {
        let from = (x + self.reach()).clamp(0, self.masses.len() as i64) as usize;
        let lower: Integer = self.masses[from..].iter().sum();
        let upper = (&lower + &self.missing).complete();
        Span { upper: upper.min(self.fixed.one()), lower }
    }

    /// E\[w(X)\] for 0 <= w(x) <= x^2.
    fn mean(&self, w: impl Fn(i64) -> u64) -> Span {
        let (reach, zero) = (self.reach(), Integer::new());
        let lower = (-reach..).zip(&self.masses).fold(zero, |sum, (x, mass)| sum + (mass * w(x)).complete());
        let square = (&self.missing * (reach * reach) as u64).complete();
        Span { upper: (&lower + &square).complete() + &self.second_beyond, lower }
    }

    fn to_the(&self, copies: u32) -> Option<Self> {
        let masses = power(self.masses.clone(), u64::from(copies), self.fixed.bits)?;
        Some(Masses::new(masses, self.fixed.bits, Integer::new()))
    }
}

/// Checks that a value has the requested relative width.
fn narrow(record: &mut Record, kind: &'static str, value: &Enclosure, digits: u32, text: &dyn Fn() -> String) {
    let width = relative_width(value);
    record.check(kind, width <= 10_f64.powi(-(digits as i32)) * 1.01, &|| format!("{}: {value} is wide", text()));
    let row = record.rows.entry(kind).or_default();
    row.widest = row.widest.max(width);
}

const BITS: u32 = 320;

/// Discrete Gaussian noise of one count.
pub fn gaussian(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let value = numbers.scale(0.004, 3000.0);
    let (sigma2, digits) = (numbers.fraction(value), numbers.pick(&[6, 12, 20, 30]));
    let (law, noise) = (Masses::gaussian(&sigma2, BITS), DiscreteGaussian::new(sigma2.clone()).ok()?);
    let text = |what: &str| format!("discrete Gaussian {sigma2}: {what} to {digits} digits");
    let mut before: Option<Enclosure> = None;
    let most = (10.0 * value.sqrt()) as u64 + 2;
    let mut places: Vec<i64> = (0..6).map(|_| numbers.between(0, 2 * most) as i64 - most as i64).collect();
    places.sort_unstable();
    for x in places {
        let text = || text(&format!("at {x}"));
        let mass = record.ask("noise mass", &text, || Ok(noise.mass(x, digits)))?;
        record.contains("noise mass", &mass, law.fixed, &law.mass(x), &text);
        narrow(record, "noise mass", &mass, digits, &text);
        let cdf = record.ask("noise cdf", &text, || noise.cdf(x, digits))?;
        record.contains("noise cdf", &cdf, law.fixed, &law.survival(-x), &text);
        narrow(record, "noise cdf", &cdf, digits, &text);
        if let Some(before) = &before {
            record.check("noise cdf", before.lower() <= cdf.upper(), &|| format!("{}: falls", text()));
        }
        before = Some(cdf);
        let survival = record.ask("noise cdf", &text, || noise.survival(x, digits))?;
        record.contains("noise cdf", &survival, law.fixed, &law.survival(x), &text);
        narrow(record, "noise cdf", &survival, digits, &text);
    }
    let moments = || text("variance");
    let variance = record.ask("noise variance", &moments, || Ok(noise.variance(digits)))?;
    let second = law.mean(|x| (x * x) as u64);
    record.contains("noise variance", &variance, law.fixed, &second, &moments);
    narrow(record, "noise variance", &variance, digits, &moments);
    quantiles(numbers, record, &law, &|p| noise.quantile(p), &text);
    errors(numbers, record, &law, &noise, digits, &text);
    Some(())
}

/// The smallest x with P\[X <= x\] >= p.
fn quantiles(
    numbers: &mut Numbers,
    record: &mut Record,
    law: &Masses,
    quantile: &dyn Fn(&Rational) -> dp_assay::Result<i64>,
    text: &dyn Fn(&str) -> String,
) {
    for _ in 0..3 {
        let p = decimal(numbers.unit(), numbers.pick(&[2, 6, 9]))
            .clamp(&Rational::from((1, 1_000_000_000)), &Rational::from((999_999_999, 1_000_000_000)));
        let text = || text(&format!("quantile of {p}"));
        let Some(x) = record.ask("noise quantile", &text, || quantile(&p)) else { continue };
        let level = law.fixed.rational(&p);
        // P[X <= x] = P[X >= -x].
        let enough = law.survival(-x).upper >= level.lower;
        record.check("noise quantile", enough, &|| format!("{}: {x} falls short", text()));
        let needed = law.survival(1 - x).lower <= level.upper;
        record.check("noise quantile", needed, &|| format!("{}: {x} is not the least", text()));
    }
}

/// max(0, y + X).
fn errors(
    numbers: &mut Numbers,
    record: &mut Record,
    law: &Masses,
    noise: &DiscreteGaussian,
    digits: u32,
    text: &dyn Fn(&str) -> String,
) {
    let what = || text("published errors");
    let Some(errors) = record.ask("published error", &what, || Ok(ClampedErrors::new(noise, digits))) else { return };
    for y in [0, numbers.between(0, 3), numbers.between(0, 60)] {
        let text = || text(&format!("errors of {y}"));
        let at = errors.at(y);
        // The error is max(x, -y).
        let size = |x: i64| x.max(-(y as i64)).unsigned_abs();
        record.contains("published error", &at.squared, law.fixed, &law.mean(|x| size(x).pow(2)), &text);
        record.contains("published error", &at.absolute, law.fixed, &law.mean(size), &text);
    }
    record.contains("published error", &errors.unclamped().absolute, law.fixed, &law.mean(i64::unsigned_abs), &what);
    let width = relative_width(&errors.unclamped().absolute);
    record.check("published error", width <= 1e-6, &|| format!("{}: width {width:e}", what()));
}

/// Discrete Laplace noise of one count.
pub fn laplace(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let value = numbers.scale(0.02, 20.0);
    let (epsilon, digits) = (numbers.fraction(value), numbers.pick(&[6, 12, 20, 30]));
    let (law, noise) = (Masses::laplace(&epsilon, BITS), DiscreteLaplace::new(epsilon.clone()).ok()?);
    let text = |what: &str| format!("discrete Laplace {epsilon}: {what} to {digits} digits");
    let most = (40.0 / value) as u64 + 2;
    for _ in 0..6 {
        let x = numbers.between(0, 2 * most) as i64 - most as i64;
        let text = || text(&format!("at {x}"));
        let mass = record.ask("noise mass", &text, || Ok(noise.mass(x, digits)))?;
        record.contains("noise mass", &mass, law.fixed, &law.mass(x), &text);
        narrow(record, "noise mass", &mass, digits, &text);
        let cdf = record.ask("noise cdf", &text, || Ok(noise.cdf(x, digits)))?;
        record.contains("noise cdf", &cdf, law.fixed, &law.survival(-x), &text);
        let survival = record.ask("noise cdf", &text, || Ok(noise.survival(x, digits)))?;
        record.contains("noise cdf", &survival, law.fixed, &law.survival(x), &text);
        narrow(record, "noise cdf", &survival, digits, &text);
    }
    let moments = || text("variance");
    let variance = record.ask("noise variance", &moments, || Ok(noise.variance(digits)))?;
    record.contains("noise variance", &variance, law.fixed, &law.mean(|x| (x * x) as u64), &moments);
    quantiles(numbers, record, &law, &|p| noise.quantile(p), &text);
    Some(())
}

/// Margins, coverage, suppression and the least budget of SafeTab.
pub fn safetab(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let kind = numbers.pick(&[NoiseKind::DiscreteGaussian, NoiseKind::Geometric]);
    let value = numbers.scale(0.01, 2.0);
    let (budget, digits) = (numbers.fraction(value), numbers.pick(&[6, 12, 20]));
    let cell = CellNoise::new(kind, &budget).ok()?;
    let law = match kind {
        NoiseKind::DiscreteGaussian => Masses::gaussian(&Rational::from(&budget * 2_u32).recip(), BITS),
        NoiseKind::Geometric => Masses::laplace(&budget, BITS),
    };
    let text = |what: &str| format!("SafeTab {} of budget {budget}: {what}", kind.name());
    let copies = numbers.pick(&[1, 1, 2, 4, 9, 18]);
    if let Some(sum) = law.to_the(copies) {
        let level = numbers.pick(&[(1, 2), (9, 10), (19, 20), (99, 100)]).into();
        margin(record, &cell, &sum, copies, &level, digits, &|| text(&format!("{copies} cells at {level}")));
    }
    suppression(numbers, record, &cell, &law, digits, &text);
    least(numbers, record, kind, &text);
    Some(())
}

fn margin(
    record: &mut Record,
    cell: &CellNoise,
    sum: &Masses,
    copies: u32,
    level: &Rational,
    digits: u32,
    text: &dyn Fn() -> String,
) {
    let fixed = sum.fixed;
    // P[|S| <= m] = 1 - 2 P[S >= m + 1].
    let covered = |m: i64| {
        let beyond = sum.survival(m + 1);
        Span { lower: fixed.one() - (beyond.upper << 1_u32), upper: fixed.one() - (beyond.lower << 1_u32) }
    };
    let wanted = fixed.rational(level);
    if let Some(m) = record.ask("margin", text, || cell.margin(copies, level)) {
        let enough = covered(m).upper >= wanted.lower;
        record.check("margin", enough, &|| format!("{}: {m} covers too little", text()));
        let needed = m == 0 || covered(m - 1).lower <= wanted.upper;
        record.check("margin", needed, &|| format!("{}: {m} is not the least", text()));
        for m in [m, m / 2, 2 * m + 1] {
            if let Some(value) = record.ask("coverage", text, || cell.coverage(copies, m, digits)) {
                record.contains("coverage", &value, fixed, &covered(m), text);
            }
        }
    }
}

fn suppression(
    numbers: &mut Numbers,
    record: &mut Record,
    cell: &CellNoise,
    law: &Masses,
    digits: u32,
    text: &dyn Fn(&str) -> String,
) {
    let chance = numbers.pick(&[(9, 10), (99, 100), (9999, 10_000), (1, 2)]).into();
    let what = || text(&format!("suppression with {chance}"));
    let Some(rule) = record.ask("suppression", &what, || Suppression::new(cell.clone(), Rational::clone(&chance)))
    else {
        return;
    };
    let (threshold, wanted) = (rule.threshold(), law.fixed.rational(&chance));
    record.check("suppression", law.survival(-threshold).upper >= wanted.lower, &|| format!("{}: too weak", what()));
    record
        .check("suppression", law.survival(1 - threshold).lower <= wanted.upper, &|| format!("{}: too strong", what()));
    for n in [0, numbers.between(0, 20), numbers.between(0, 2 * threshold.unsigned_abs() + 2)] {
        let text = || format!("{}, {n} people", what());
        if let Some(value) = record.ask("suppression", &text, || rule.probability(n, digits)) {
            // P[n + X <= T] = P[X >= n - T].
            let own = law.survival(n as i64 - threshold);
            record.contains("suppression", &value, law.fixed, &own, &text);
            narrow(record, "suppression", &value, digits, &text);
        }
        if let Some(value) = record.ask("suppression", &text, || rule.bias(n, digits)) {
            bias(record, law, &value, threshold - n as i64, &text);
        }
    }
}

/// E\[X | X > a\].
fn bias(record: &mut Record, law: &Masses, value: &Enclosure, a: i64, text: &dyn Fn() -> String) {
    let (fixed, reach) = (law.fixed, law.reach());
    let above = law.survival(a + 1);
    if above.lower == 0 {
        return;
    }
    let mut sum = Integer::new();
    for x in a.max(-reach - 1) + 1..=reach {
        sum += (&law.masses[(x + reach) as usize] * x).complete();
    }
    // Upper bound on the truncated part of |x| P[X = x], inside and beyond the reach.
    let missing = (&law.missing * reach.unsigned_abs()).complete() + &law.second_beyond;
    let moment = Span { lower: (&sum - &missing).complete(), upper: sum + missing };
    record.contains("suppression", value, fixed, &fixed.div(&moment, &above), text);
}

/// The least budget with two decimals whose cells have a margin.
fn least(numbers: &mut Numbers, record: &mut Record, kind: NoiseKind, text: &dyn Fn(&str) -> String) {
    let (margin, gamma, stability) =
        (numbers.between(1, 40) as i64, Rational::from((1, 10)), numbers.between(1, 9) as u32);
    let decimals = numbers.pick(&[2, 3]);
    let text = || text(&format!("least budget of margin {margin}, stability {stability}, {decimals} decimals"));
    let Some(least) =
        record.ask("least budget", &text, || least_budget(kind, margin as u32, &gamma, stability, decimals))
    else {
        return;
    };
    let unit = (0..decimals).fold(Rational::from(1), |unit, _| unit / 10_u32);
    let level = Rational::from((19, 20));
    let covered = |budget: Rational| {
        let cell = budget * Rational::from(1 - &gamma) / stability;
        let law = match kind {
            NoiseKind::DiscreteGaussian => Masses::gaussian(&Rational::from(&cell * 2_u32).recip(), 160),
            NoiseKind::Geometric => Masses::laplace(&cell, 160),
        };
        let beyond = law.survival(margin + 1);
        let wanted = law.fixed.rational(&level);
        let (low, high) = (law.fixed.one() - (beyond.upper << 1_u32), law.fixed.one() - (beyond.lower << 1_u32));
        (high >= wanted.lower, low <= wanted.upper)
    };
    record.check("least budget", covered(least.value.clone()).0, &|| {
        format!("{}: {} is too little", text(), least.value)
    });
    let below = Rational::from(&least.value - &unit);
    record.check("least budget", below <= 0 || covered(below).1, &|| {
        format!("{}: {} is not the least", text(), least.value)
    });
}
