//! Continuous Gaussian noise, alone and beside discrete noise, against its closed form.
//!
//! n counts with noise N(0, sigma2), each moved by mu, have the loss N(rho, 2 rho) with rho = n mu^2 / (2 sigma2), and
//!
//! delta_G(e) = (erfc((e - rho) / (2 sqrt(rho))) - exp(e) erfc((e + rho) / (2 sqrt(rho)))) / 2
//!
//! for every real e. Beside discrete noise, whose loss D is enumerated with its masses, delta(e) = sum over d of P[D = d] delta_G(e - d).
//! The error function is computed here as a sum of positive terms, in exact fixed point.

use dp_assay::account::{Account, Composition, Counts, Delta};
use rug::{Complete, Float, Integer, Rational, ops::Pow};

use super::{
    account::decimal,
    cases::{Case, Numbers, Part},
    enumerated::Enumerated,
    fixed::{Fixed, Span},
    record::Record,
};

/// The largest number of values of the discrete loss: each needs four error functions.
const MOST_VALUES: usize = 80;

/// The law of the loss.
struct Law {
    fixed: Fixed,
    rho: Rational,
    /// The loss of the discrete counts, if there are any.
    discrete: Option<Enumerated>,
}

/// A composition with its law and its name.
struct Target {
    composition: Composition,
    law: Law,
    options: String,
    digits: u32,
    /// The approximate mean of the loss.
    mean: f64,
    deviation: f64,
    spread: f64,
}

/// One case; `None` if the discrete loss has too many values.
pub fn attack(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let groups = numbers.between(1, 3);
    let (mut counts, mut options, mut rho) = (Vec::new(), Vec::new(), Rational::new());
    for _ in 0..groups {
        let value = numbers.scale(0.05, 500.0);
        let (sigma2, count, shift) = (numbers.fraction(value), numbers.between(1, 4), numbers.between(1, 3));
        options.push(format!("--gaussian {sigma2}x{count}@{shift}"));
        counts.push(Counts::gaussian(sigma2.clone(), count, shift).ok()?);
        rho += Rational::from(count * shift * shift) / sigma2 / 2_u32;
    }
    let parts = if numbers.one_in(2) { Vec::new() } else { Case::new("tiny", numbers).written };
    let mean = rho.to_f64() + parts.iter().map(Part::mean).sum::<f64>();
    let deviation = (2.0 * rho.to_f64() + parts.iter().map(Part::variance).sum::<f64>()).sqrt();
    let (spread, digits) = (numbers.scale(1.0, 9.0), numbers.pick(&[3, 6, 12, 12, 12, 20, 30]));
    let most = mean + spread * deviation + 2.0;
    let bits = ((spread * spread / 2.0 + 2.0 * most) * std::f64::consts::LOG2_E) as u32 + digits * 4 + 120;
    // The number of terms of an error function is about the square of its argument.
    if most > if parts.is_empty() { 400.0 } else { 30.0 } {
        return None;
    }
    let discrete = if parts.is_empty() { None } else { Some(Enumerated::new(&parts, bits)?) };
    if discrete.as_ref().is_some_and(|law| law.values() > MOST_VALUES) {
        return None;
    }
    options.extend(parts.iter().flat_map(Part::option));
    counts.extend(parts.iter().map(Part::counts));
    let options = options.join(" ");
    let composition = record.ask("composition", &|| options.clone(), || Composition::new(counts))?;
    let law = Law { fixed: Fixed { bits }, rho, discrete };
    let target = Target { composition, law, options, digits, mean, deviation, spread };
    target.deltas(numbers, record);
    target.target(numbers, record);
    if target.law.discrete.is_none() {
        target.tradeoff(numbers, record);
    }
    Some(())
}

impl Law {
    /// delta(e).
    fn delta(&self, e: &Rational) -> Span {
        match &self.discrete {
            None => self.gaussian(e),
            Some(discrete) => discrete.expected(|loss| self.gaussian(&Rational::from(e - loss))),
        }
    }

    /// delta_G(e).
    fn gaussian(&self, e: &Rational) -> Span {
        let fixed = self.fixed;
        let width = root(fixed, &Rational::from(&self.rho * 4_u32));
        let erfc = |top: Rational| erfc(fixed, &fixed.div(&fixed.rational(&top), &width));
        let far = fixed.mul(&fixed.exp(e), &erfc(Rational::from(e + &self.rho)));
        let twice = fixed.sub(&erfc(Rational::from(e - &self.rho)), &far);
        let within = |end: Integer| end.clamp(&Integer::new(), &fixed.one()).clone();
        Span { lower: within(twice.lower >> 1), upper: within((twice.upper + 1_u32) >> 1) }
    }
}

impl Target {
    fn text(&self, command: &str, value: &Rational) -> String {
        format!("assay {command} {} {value} --digits {}", self.options, self.digits)
    }

    fn deltas(&self, numbers: &mut Numbers, record: &mut Record) {
        let place = |spread: f64| decimal((self.mean + spread * self.deviation).max(0.0), 6);
        let mut epsilons = vec![Rational::new(), place(self.spread)];
        epsilons.extend((0..2).map(|_| place(-1.0 + numbers.unit() * (1.0 + self.spread))));
        epsilons.sort();
        let evaluator = self.composition.evaluator();
        let mut before: Option<Float> = None;
        for epsilon in &epsilons {
            let oracle = self.law.delta(epsilon);
            let text = || self.text("curve --to", epsilon);
            let point = || evaluator.hockey_stick_of_many(epsilon, self.digits);
            if let Some(point) = record.ask("profile", &text, point) {
                record.contains("profile", &point.value, self.law.fixed, &oracle, &text);
                record.width("profile", &point, self.digits, &text);
            }
            let text = || self.text("delta --epsilon", epsilon);
            let ask = || self.composition.delta(epsilon, self.digits);
            let Some(answer) = record.ask("delta", &text, ask) else { continue };
            record.contains("delta", &answer.value, self.law.fixed, &oracle, &text);
            record.width("delta", &answer, self.digits, &text);
            if let Some(before) = before {
                record.check("delta", *answer.value.lower() <= before, &|| format!("{}: not decreasing", text()));
            }
            before = Some(answer.value.upper().clone());
        }
    }

    /// delta(lower) >= target >= delta(upper), by the oracle's delta.
    fn target(&self, numbers: &mut Numbers, record: &mut Record) {
        let depth = (self.spread * self.spread / 2.0 / std::f64::consts::LN_10) as u64;
        let target =
            Rational::from(numbers.between(1, 999)) / Integer::from(10).pow(3 + numbers.below(depth + 1) as u32);
        let Ok(delta) = Delta::new(target.clone()) else { return };
        let (text, digits) = (|| self.text("epsilon --delta", &target), self.digits.min(20));
        let Some(answer) = record.ask("epsilon", &text, || self.composition.epsilon(&delta, digits)) else { return };
        record.width("epsilon", &answer, digits, &text);
        let ends = answer.value.lower_rational().zip(answer.value.upper_rational());
        let holds = ends.is_some_and(|(lower, upper)| {
            let at = |end: &Rational| self.law.delta(end);
            self.law.fixed.value(&at(&upper).lower) <= target
                && (lower == 0 || self.law.fixed.value(&at(&lower).upper) >= target)
        });
        record.check("epsilon", holds, &|| format!("{}: {}", text(), answer.value));
    }

    /// The type I error erfc(u) / 2 belongs to the type II error erfc(sqrt(rho) - u) / 2, which increases in u. So the answer for an alpha
    /// between those of u - h and u + h lies between theirs.
    fn tradeoff(&self, numbers: &mut Numbers, record: &mut Record) {
        let (fixed, h) = (self.law.fixed, Rational::from(1) >> 60_u32);
        let u = decimal((2.0 * numbers.unit() - 1.0) * self.spread / 2.0_f64.sqrt(), 6);
        let at = |u: &Rational| erfc(fixed, &fixed.rational(u));
        let scale = Integer::from(10).pow(30);
        let alpha = (fixed.value(&at(&u).lower) / 2_u32 * &scale).floor() / scale;
        let ends = [Rational::from(&u - &h), Rational::from(&u + &h)];
        let [less, more] = [&ends[0], &ends[1]].map(|u| fixed.value(&at(u).lower) / 2_u32);
        // Far out alpha has too few digits to distinguish the ends.
        if alpha <= more || alpha >= less || alpha >= 1 {
            return;
        }
        let shift = root(fixed, &self.law.rho);
        let beta = |u: &Rational| erfc(fixed, &fixed.sub(&shift, &fixed.rational(u)));
        let span = Span { lower: beta(&ends[0]).lower >> 1, upper: (beta(&ends[1]).upper + 1_u32) >> 1 };
        let (text, digits) = (|| self.text("tradeoff --alpha", &alpha), self.digits.min(12));
        if let Some(answer) = record.ask("tradeoff", &text, || self.composition.tradeoff(&alpha, digits)) {
            record.contains("tradeoff", &answer.value, fixed, &span, &text);
            record.width("tradeoff", &answer, digits, &text);
        }
    }
}

/// The square root of a positive rational.
fn root(fixed: Fixed, of: &Rational) -> Span {
    let Span { lower, upper } = Fixed { bits: 2 * fixed.bits }.rational(of);
    Span { lower: lower.sqrt(), upper: upper.sqrt() + 1_u32 }
}

/// pi = 16 atan(1/5) - 4 atan(1/239), by Machin.
fn pi(fixed: Fixed) -> Span {
    let wide = Fixed { bits: fixed.bits + 32 };
    // The terms alternate and decrease, so that consecutive sums enclose the limit; each is rounded down once.
    let atan = |of: u32| {
        let (mut power, mut sum, mut terms) = (wide.one() / of, Integer::new(), 0_u32);
        while power > 0 {
            let term = (&power / (2 * terms + 1)).complete();
            sum += if terms % 2 == 0 { term } else { -term };
            power /= of * of;
            terms += 1;
        }
        let off = Integer::from(2 * terms + 2);
        Span { lower: (&sum - &off).complete(), upper: sum + off }
    };
    let (a, b) = (atan(5), atan(239));
    let lower = a.lower * 16_u32 - b.upper * 4_u32;
    let upper = a.upper * 16_u32 - b.lower * 4_u32;
    Span { lower: lower >> 32, upper: (upper >> 32) + 1_u32 }
}

/// erfc, a decreasing function.
fn erfc(fixed: Fixed, x: &Span) -> Span {
    let one = fixed.one();
    let at = |end: &Integer| {
        let size = erf(fixed, &Integer::from(end.abs_ref()));
        match *end < 0 {
            true => Span { lower: (&one + &size.lower).complete(), upper: (&one + &size.upper).complete() },
            false => Span { lower: (&one - &size.upper).complete(), upper: (&one - &size.lower).complete() },
        }
    };
    Span { lower: at(&x.upper).lower, upper: at(&x.lower).upper }
}

/// erf(x) = 2 / sqrt(pi) exp(-x^2) sum over n of 2^n x^(2 n + 1) / (2 n + 1)!!, for x >= 0 in units.
///
/// After a term whose ratio 2 x^2 / (2 n + 3) to the next is at most 1/2, the truncation error is at most that term. The sum is about
/// exp(x^2), which amplifies the rounding of its factor, so the factor has that many additional bits.
fn erf(narrow: Fixed, x: &Integer) -> Span {
    let value = narrow.value(x);
    let square = Rational::from(value.square_ref());
    let more = (square.to_f64() * std::f64::consts::LOG2_E) as u32 + 16;
    let fixed = Fixed { bits: narrow.bits + more };
    let point = fixed.rational(&value);
    let twice = fixed.rational(&Rational::from(&square * 2_u32));
    let (mut term, mut sum) = (point.clone(), point);
    for n in 0_u32.. {
        let next = fixed.mul(&term, &twice);
        let divisor = Integer::from(2 * n + 3);
        term = Span { lower: next.lower / &divisor, upper: next.upper.div_rem_ceil(divisor).0 };
        sum = fixed.add(&sum, &term);
        if term.upper <= 1 && Rational::from(&square * 4_u32) <= 2 * n + 5 {
            sum.upper += &term.upper;
            break;
        }
    }
    let scale = fixed.mul(&fixed.exp(&-square), &sum);
    let scale = Span { lower: scale.lower << 1, upper: scale.upper << 1 };
    let pi = pi(fixed);
    let root = Span { lower: (pi.lower << fixed.bits).sqrt(), upper: (pi.upper << fixed.bits).sqrt() + 1_u32 };
    let value = fixed.div(&scale, &root);
    Span { lower: value.lower >> more, upper: ((value.upper >> more) + 1_u32).min(narrow.one()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digits from tables.
    #[test]
    fn the_error_function_and_pi_are_enclosed() {
        let fixed = Fixed { bits: 160 };
        let within = |span: &Span, digits: &str| {
            let (whole, behind) = digits.split_once('.').unwrap();
            let scale = Integer::from(10).pow(behind.len() as u32);
            let value = Rational::from((format!("{whole}{behind}").parse::<Integer>().unwrap(), scale.clone()));
            let next = &value + Rational::from((1, scale));
            let (lower, upper) = (fixed.value(&span.lower), fixed.value(&span.upper));
            assert!(lower <= next && upper >= value && Rational::from(&upper - &lower) < 1e-40, "{digits}");
        };
        within(&pi(fixed), "3.14159265358979323846264338327950288419716");
        let at = |x: &str| erfc(fixed, &fixed.rational(&x.parse().unwrap()));
        within(&at("1"), "0.157299207050285130658779364917390740703933");
        within(&at("-1"), "1.842700792949714869341220635082609259296066");
        within(&at("5"), "0.000000000001537459794428034850188343485383");
        within(&at("0"), "1.000000000000000000000000000000000000000000");
    }
}
