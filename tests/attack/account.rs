//! Delta, epsilon, tails and the trade-off function of random compositions, against the enumerated law.

use dp_assay::{
    Error,
    account::{Account, Composition, Delta},
    loss::evaluator::SumEvaluator,
};
use rug::{Float, Integer, Rational, ops::Pow};

use super::{
    cases::{BOUNDED_LAWS, COARSE_AND_FINE, Case, NEARLY_EQUAL, Numbers},
    enumerated::Enumerated,
    record::Record,
};

/// The classes that are answered by each engine alone as well: those with some fine groups, and those of laws that every engine knows by a list of losses.
const BY_ENGINE: [&str; 6] =
    [COARSE_AND_FINE, "large sigma2", "near-commensurate", "mixed", NEARLY_EQUAL, BOUNDED_LAWS];

/// The largest exponent of the oracle; its masses need about as many additional bits.
const MOST_EPSILON: f64 = 9000.0;

/// The decimal closest to a double.
pub fn decimal(value: f64, places: u32) -> Rational {
    let scale = 10_f64.powi(places as i32);
    Rational::from_f64((value * scale).round()).unwrap_or_default() / Integer::from(10).pow(places)
}

/// The range of the requests of a case.
struct Reach {
    /// The epsilons go up to mean + spread deviations.
    spread: f64,
    digits: u32,
    /// Fractional bits of the oracle.
    bits: u32,
}

impl Reach {
    fn new(case: &Case, numbers: &mut Numbers) -> Option<Self> {
        let spread = if numbers.one_in(6) { numbers.scale(6.0, 30.0) } else { numbers.scale(1.0, 6.0) };
        let digits = numbers.pick(&[3, 6, 10, 12, 12, 12, 12, 20, 30]);
        let most = case.mean() + spread * case.deviation() + 2.0;
        if most > MOST_EPSILON {
            return None;
        }
        // exp(-spread^2 / 2) is about the least delta; exp(epsilon) amplifies the truncated mass of Q.
        let ends = if case.written.iter().any(|part| part.noise.has_ends()) { 200.0 } else { 0.0 };
        let depth = spread * spread / 2.0 + most + ends;
        let bits = (depth * std::f64::consts::LOG2_E) as u32 + digits * 4 + 100;
        Some(Reach { spread, digits, bits: bits.div_ceil(64) * 64 })
    }
}

/// One case: a composition, its law, and requests about it. `None` if its law is too long to enumerate.
pub fn attack(class: &str, numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let case = Case::new(class, numbers);
    let reach = Reach::new(&case, numbers)?;
    let law = Enumerated::new(&case.parts(), reach.bits)?;
    let options = case.options().join(" ");
    let composition = record.ask("composition", &|| options.clone(), || case.composition())?;
    let finite = law.given_common();
    let target =
        Target { case: &case, composition: &composition, law: &law, finite: &finite, reach: &reach, options: &options };
    target.infinite(record);
    let epsilons = target.epsilons(numbers);
    target.deltas(&epsilons, record);
    target.targets(numbers, record);
    target.tails(&epsilons, record);
    target.tradeoffs(numbers, record);
    if class == COARSE_AND_FINE {
        target.lines(numbers, record);
    }
    if BY_ENGINE.contains(&class) {
        for engine in composition.loss().evaluator().engine_names() {
            target.by(engine, &epsilons, record);
        }
    }
    Some(())
}

struct Target<'a> {
    case: &'a Case,
    composition: &'a Composition,
    law: &'a Enumerated,
    /// The law given that the loss is finite: that of the engines.
    finite: &'a Enumerated,
    reach: &'a Reach,
    options: &'a str,
}

impl Target<'_> {
    /// Zero, close to zero, around the mean and beyond it, at a loss, and just beside one; in order.
    fn epsilons(&self, numbers: &mut Numbers) -> Vec<Rational> {
        let (mean, deviation) = (self.case.mean(), self.case.deviation());
        let place = |spread: f64| decimal((mean + spread * deviation).max(0.0), 6);
        let mut all = vec![Rational::new(), decimal(numbers.scale(1e-9, 1e-2), 12), place(self.reach.spread)];
        for _ in 0..4 {
            all.push(place(-1.5 + numbers.unit() * (1.5 + self.reach.spread)));
        }
        let loss = self.law.loss_near(&place(numbers.unit() * self.reach.spread)).max(Rational::new());
        let near = Rational::from(Integer::from(10).pow(numbers.between(3, 25) as u32)).recip();
        all.push(Rational::from(&loss + &near));
        if loss > near {
            all.push(Rational::from(&loss - &near));
        }
        // Far below it in units of steps: beyond the range of any integer key.
        all.push(Rational::from(&loss * &Rational::from((999, 1000))));
        all.push(loss);
        all.sort();
        all.dedup();
        all.retain(|epsilon| *epsilon <= MOST_EPSILON as u64);
        all
    }

    fn text(&self, command: &str, value: &Rational) -> String {
        format!("assay {command} {} {value} --digits {}", self.options, self.reach.digits)
    }

    fn deltas(&self, epsilons: &[Rational], record: &mut Record) {
        let digits = self.reach.digits;
        let mut before: Option<Float> = None;
        // The points of a profile share contours.
        let evaluator = self.composition.evaluator();
        for epsilon in epsilons {
            let text = || self.text("curve --to", epsilon);
            if let Some(point) = record.ask("profile", &text, || evaluator.hockey_stick_of_many(epsilon, digits)) {
                record.contains("profile", &point.value, self.law.fixed, &self.law.delta(epsilon), &text);
                record.width("profile", &point, digits, &text);
            }
            let text = || self.text("delta --epsilon", epsilon);
            let Some(answer) = record.ask("delta", &text, || self.composition.delta(epsilon, digits)) else { continue };
            record.contains("delta", &answer.value, self.law.fixed, &self.law.delta(epsilon), &text);
            record.width("delta", &answer, digits, &text);
            if let Some(before) = before {
                record.check("delta", *answer.value.lower() <= before, &|| format!("{}: not decreasing", text()));
            }
            before = Some(answer.value.upper().clone());
        }
    }

    /// The probability of an infinite loss.
    fn infinite(&self, record: &mut Record) {
        let (mass, digits) = (self.law.infinite_mass(), self.reach.digits);
        let text = || format!("{}: the probability of an infinite loss", self.options);
        let Some(infinite) = self.composition.infinite_loss() else {
            record.check("infinite loss", mass.upper == 0, &|| format!("{} is not zero", text()));
            return;
        };
        record.check("infinite loss", mass.lower > 0, &|| format!("{} is zero", text()));
        if let Some(found) = record.ask("infinite loss", &text, || Ok(infinite.mass(digits))) {
            record.contains("infinite loss", &found, self.law.fixed, &mass, &text);
            record.check("infinite loss", found.is_tight(digits), &|| format!("{}: {found} is wide", text()));
        }
    }

    /// Targets above the probability of an infinite loss, and one as it is: perhaps below.
    fn beyond_infinite(&self, targets: &mut [Rational]) {
        let scale = Integer::from(10).pow(40);
        let mass = self.law.fixed.value(&self.law.infinite_mass().upper);
        if mass == 0 {
            return;
        }
        for target in targets.iter_mut().skip(1) {
            let moved = Rational::from(1 - &mass) * &*target + &mass;
            *target = (moved * &scale).ceil() / &scale;
        }
    }

    /// delta(lower) >= target >= delta(upper), by the oracle's delta.
    fn targets(&self, numbers: &mut Numbers, record: &mut Record) {
        let digits = self.reach.digits.min(20);
        let depth = (self.reach.spread * self.reach.spread / 2.0).min(600.0);
        let mut before: Option<(Rational, Float)> = None;
        let mut targets: Vec<Rational> = (0..3)
            .map(|_| {
                let exponent = (numbers.unit() * depth / std::f64::consts::LN_10) as u32;
                Rational::from(numbers.between(1, 999)) / Integer::from(10).pow(3 + exponent)
            })
            .collect();
        self.beyond_infinite(&mut targets);
        targets.sort();
        for target in targets {
            let text = || self.text("epsilon --delta", &target);
            let Ok(delta) = Delta::new(target.clone()) else { continue };
            let answer = record.ask("epsilon", &text, || match self.composition.epsilon(&delta, digits) {
                Err(Error::InfiniteLoss { .. }) => Ok(None),
                answer => answer.map(Some),
            });
            let Some(answer) = answer else { continue };
            let Some(answer) = answer else {
                let least = self.law.fixed.value(&self.law.infinite_mass().upper);
                record.check("epsilon", target < least, &|| format!("{}: has an epsilon", text()));
                continue;
            };
            let ends = (answer.value.lower_rational(), answer.value.upper_rational());
            let (Some(lower), Some(upper)) = ends else {
                record.check("epsilon", false, &|| format!("{}: {}", text(), answer.value));
                continue;
            };
            if upper <= MOST_EPSILON as u64 {
                let at_upper = self.law.fixed.value(&self.law.delta(&upper).lower);
                let at_lower = self.law.fixed.value(&self.law.delta(&lower).upper);
                record.check("epsilon", at_upper <= target, &|| format!("{}: {} is too small", text(), answer.value));
                let holds = lower == 0 || at_lower >= target;
                record.check("epsilon", holds, &|| format!("{}: {} is too large", text(), answer.value));
            }
            record.width("epsilon", &answer, digits, &text);
            if let Some((smaller, most)) = &before {
                let holds = answer.value.lower() <= most;
                record.check("epsilon", holds, &|| format!("{}: above that of {smaller}", text()));
            }
            before = Some((target, answer.value.upper().clone()));
        }
    }

    fn tails(&self, epsilons: &[Rational], record: &mut Record) {
        let digits = self.reach.digits;
        let evaluator: SumEvaluator = self.composition.loss().evaluator();
        for z in epsilons.iter().step_by(3) {
            for z in [z.clone(), Rational::from(-z)] {
                let event = self.finite.at_least(&z);
                let text = || format!("{} tail at {z} to {digits} digits", self.options);
                if let Some(answer) = record.ask("tail", &text, || evaluator.upper_tail(&z, digits)) {
                    record.contains("tail", &answer.value, self.finite.fixed, &event.p, &text);
                    record.width("tail", &answer, digits, &text);
                }
                if let Some(answer) = record.ask("tail", &text, || evaluator.tilted_tail(&z, digits)) {
                    record.contains("tail", &answer.value, self.finite.fixed, &event.q, &text);
                    record.width("tail", &answer, digits, &text);
                }
            }
        }
    }

    /// Type I errors in the middle, close to both ends, and at a knot to thirty digits.
    fn alphas(&self, numbers: &mut Numbers) -> Vec<Rational> {
        let depth = (self.reach.spread * self.reach.spread / 2.0 / std::f64::consts::LN_10) as u64;
        let small = Rational::from(numbers.between(1, 99)) / Integer::from(10).pow(2 + numbers.below(depth + 1) as u32);
        let near_one = 1 - Rational::from(Integer::from(10).pow(numbers.between(1, 20) as u32)).recip();
        let knot = self.law.at_least(&self.law.loss_near(&decimal(self.case.mean() * (numbers.unit() - 0.5), 6)));
        let scale = Integer::from(10).pow(30);
        let knot = (self.law.fixed.value(&knot.q.lower) * &scale).floor() / scale;
        let mut all = vec![decimal(numbers.unit(), 6), small, near_one, knot];
        all.retain(|alpha| *alpha > 0 && *alpha < 1);
        all.sort();
        all
    }

    fn tradeoffs(&self, numbers: &mut Numbers, record: &mut Record) {
        let digits = self.reach.digits.min(20);
        let mut before: Option<Float> = None;
        for alpha in self.alphas(numbers) {
            let text = || self.text("tradeoff --alpha", &alpha);
            let Some(answer) = record.ask("tradeoff", &text, || self.composition.tradeoff(&alpha, digits)) else {
                continue;
            };
            if let Some(beta) = self.law.tradeoff(&alpha) {
                record.contains("tradeoff", &answer.value, self.law.fixed, &beta, &text);
            }
            record.width("tradeoff", &answer, digits, &text);
            let valid = *answer.value.lower() >= 0 && *answer.value.lower() <= 1 - alpha.clone();
            record.check("tradeoff", valid, &|| format!("{}: {} leaves [0, 1 - alpha]", text(), answer.value));
            if let Some(before) = before {
                record.check("tradeoff", *answer.value.lower() <= before, &|| format!("{}: not decreasing", text()));
            }
            before = Some(answer.value.upper().clone());
        }
    }

    /// The profile of the losses that are finite by one engine only, if it applies.
    fn by(&self, kind: &'static str, epsilons: &[Rational], record: &mut Record) {
        // Gaussian smoothing is slow to more digits.
        let digits = if kind == "smoothing" { self.reach.digits.min(12) } else { self.reach.digits };
        let evaluator: SumEvaluator = self.composition.loss().evaluator();
        // A contour that the scheduler would not choose takes seconds for each.
        for epsilon in epsilons.iter().step_by(if kind == "contour" { 6 } else { 2 }) {
            let text = || format!("{} {kind}", self.text("delta --epsilon", epsilon));
            let answer = record.ask(kind, &text, || evaluator.hockey_stick_by(kind, epsilon, digits));
            let Some(Some(answer)) = answer else { continue };
            record.contains(kind, &answer.value, self.finite.fixed, &self.finite.delta(epsilon), &text);
            record.width(kind, &answer, digits, &text);
        }
    }

    /// The trade-off function from supporting lines only.
    fn lines(&self, numbers: &mut Numbers, record: &mut Record) {
        let digits = self.reach.digits.min(12);
        for alpha in self.alphas(numbers).into_iter().take(2) {
            let Some(beta) = self.law.tradeoff(&alpha) else { continue };
            let text = || format!("{} by lines", self.text("tradeoff --alpha", &alpha));
            let answer = record.ask("lines", &text, || self.composition.tradeoff_by_lines(&alpha, digits));
            let Some(answer) = answer else { continue };
            record.contains("lines", &answer.value, self.law.fixed, &beta, &text);
            record.width("lines", &answer, digits, &text);
        }
    }
}
