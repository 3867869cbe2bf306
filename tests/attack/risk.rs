//! The risk from an adversary, against sums over all outputs.

use dp_assay::{
    account::Delta,
    numeric::Enclosure,
    release::Neighbors,
    risk::{
        bound,
        hierarchical::{Hierarchy, Upper},
        single::Attack,
    },
};
use rug::{Complete, Integer, Rational};

use super::{
    account::decimal,
    cases::{Case, Noise, Numbers, Part},
    enumerated::{Enumerated, gaussian_masses, power},
    fixed::{Fixed, Span},
    record::{Record, relative_width},
};

const BITS: u32 = 512;

fn prior(numbers: &mut Numbers) -> Rational {
    let value = match numbers.below(4) {
        0 => Rational::from((1, 2)),
        1 => decimal(numbers.scale(1e-6, 0.1), 9),
        _ => decimal(numbers.unit(), 3),
    };
    value.clamp(&Rational::from((1, 1_000_000)), &Rational::from((999, 1000)))
}

/// p / (p + (1 - p) exp(-evidence)).
fn posterior(fixed: Fixed, prior: &Rational, evidence: &Rational) -> Span {
    let for_it = fixed.rational(prior);
    let against = fixed.mul(&fixed.rational(&Rational::from(1 - prior)), &fixed.exp(&-evidence.clone()));
    fixed.div(&for_it, &fixed.add(&for_it, &against))
}

fn narrow(record: &mut Record, kind: &'static str, value: &Enclosure, digits: u32, text: &dyn Fn() -> String) {
    let width = relative_width(value);
    record.check(kind, width <= 10_f64.powi(-(digits as i32)) * 1.01, &|| format!("{}: {value} is wide", text()));
    let row = record.rows.entry(kind).or_default();
    row.widest = row.widest.max(width);
}

/// One count, or several with their own rho: the loss of the composition is the evidence.
pub fn single(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let (p, digits) = (prior(numbers), numbers.pick(&[6, 12, 20]));
    let rhos: Vec<Rational> = (0..numbers.between(1, 2))
        .map(|_| {
            let value = numbers.scale(0.01, 4.0);
            numbers.fraction(value)
        })
        .collect();
    let attack = Attack::new(p.clone(), rhos.clone()).ok()?;
    let text = |what: &str| format!("risk single, rho {rhos:?}, prior {p}: {what} to {digits} digits");
    let fixed = Fixed { bits: BITS };
    for _ in 0..4 {
        let noisy: Vec<i64> = rhos.iter().map(|_| numbers.between(0, 40) as i64 - 20).collect();
        let evidence =
            rhos.iter().zip(&noisy).fold(Rational::new(), |sum, (rho, n)| sum + Rational::from(2 * n - 1) * rho);
        let text = || text(&format!("posterior of {noisy:?}"));
        let value = record.ask("risk posterior", &text, || attack.posterior(&noisy, digits))?;
        record.contains("risk posterior", &value, fixed, &posterior(fixed, &p, &evidence), &text);
        narrow(record, "risk posterior", &value, digits, &text);
    }
    let parts: Vec<Part> = rhos
        .iter()
        .map(|rho| Part {
            noise: Noise::DiscreteGaussian,
            parameter: Rational::from(rho * 2_u32).recip(),
            count: 1,
            shift: 1,
        })
        .collect();
    let law = Enumerated::new(&parts, 256)?;
    let what = || text("marginal");
    if let Some(value) = record.ask("risk marginal", &what, || attack.marginal(digits)) {
        let mean = law.mean_under_p(3000, &|loss| posterior(law.fixed, &p, loss))?;
        record.contains("risk marginal", &value, law.fixed, &mean, &what);
        narrow(record, "risk marginal", &value, digits, &what);
    }
    if let Some(value) = record.ask("risk marginal", &what, || attack.marginal_if_absent(digits)) {
        let mean = law.mean_under_q(3000, &|loss| posterior(law.fixed, &p, loss))?;
        record.contains("risk marginal", &value, law.fixed, &mean, &what);
    }
    // The decision is for the target if the loss exceeds ln((1 - p) / p).
    let what = || text("correct decision");
    let above = law.above_ln(&(Rational::from(1 - &p) / &p))?;
    if let Some(value) = record.ask("risk decision", &what, || attack.correct_decision(digits)) {
        record.contains("risk decision", &value, law.fixed, &above.p, &what);
        narrow(record, "risk decision", &value, digits, &what);
    }
    let one = Span { lower: law.fixed.one(), upper: law.fixed.one() };
    if let Some(value) = record.ask("risk decision", &what, || attack.correct_if_absent(digits)) {
        record.contains("risk decision", &value, law.fixed, &law.fixed.sub(&one, &above.q), &what);
    }
    Some(())
}

/// The upper bound on the probability of a correct decision, for a composition.
pub fn most(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let class = numbers.pick(&["tiny", "one group", "bounded", "mixed", "shifts"]);
    let case = Case::new(class, numbers);
    if case.mean() > 60.0 {
        return None;
    }
    let (p, digits) = (prior(numbers), numbers.pick(&[6, 12, 20]));
    let law = Enumerated::new(&case.parts(), 448)?;
    let composition = case.composition().ok()?;
    let text = || format!("risk bound {} --prior {p} to {digits} digits", case.options().join(" "));
    let answer =
        record.ask("risk bound", &text, || bound::most_correct(&composition, &p, Neighbors::AddRemove, digits))?;
    // p P[yes] + (1 - p) Q[no], with yes if the loss exceeds ln((1 - p) / p).
    let above = law.above_ln(&(Rational::from(1 - &p) / &p))?;
    let (fixed, rest) = (law.fixed, Rational::from(1 - &p));
    let one = Span { lower: fixed.one(), upper: fixed.one() };
    let right = fixed.mul(&fixed.rational(&p), &above.p);
    let right = fixed.add(&right, &fixed.mul(&fixed.rational(&rest), &fixed.sub(&one, &above.q)));
    record.contains("risk bound", &answer.value, fixed, &right, &text);
    record.width("risk bound", &answer, digits, &text);
    let delta = Delta::new(Rational::from((1, 1_000_000))).ok()?;
    let all = record
        .ask("risk bound", &text, || bound::bound(&composition, &p, Neighbors::AddRemove, &delta, digits.min(12)))?;
    // The bounds by (epsilon, delta) or zCDP alone are never below the true value.
    record.check("risk bound", *all.correct_by_epsilon.upper() >= *answer.value.lower(), &|| {
        format!("{}: by epsilon", text())
    });
    record
        .check("risk bound", *all.correct_by_zcdp.upper() >= *answer.value.lower(), &|| format!("{}: by zCDP", text()));
    record.contains("risk bound", &all.advantage, fixed, &law.delta(&Rational::new()), &text);
    Some(())
}

/// Masses with the missing mass.
struct Table {
    fixed: Fixed,
    masses: Vec<Integer>,
    missing: Integer,
}

impl Table {
    /// The sum of `copies` noises N_Z(0, 1 / (2 rho)); for no copies it is zero with certainty.
    fn new(rho: &Rational, copies: u64) -> Option<Self> {
        let fixed = Fixed { bits: BITS };
        let masses = match copies {
            0 => vec![fixed.one()],
            _ => power(gaussian_masses(&Rational::from(rho * 2_u32).recip(), BITS), copies, BITS)?,
        };
        let missing = fixed.one() - masses.iter().sum::<Integer>();
        Some(Table { fixed, masses, missing })
    }

    fn reach(&self) -> i64 {
        self.masses.len() as i64 / 2
    }

    fn at(&self, x: i64) -> Span {
        let stored = usize::try_from(x + self.reach()).ok().and_then(|at| self.masses.get(at)).cloned();
        let lower = stored.unwrap_or_default();
        Span { upper: (&lower + &self.missing).complete(), lower }
    }
}

/// The joint posterior of two or three levels by its definition, for every k_1 and k_2.
pub fn hierarchical(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let (p, digits) = (prior(numbers), numbers.pick(&[6, 12, 20]));
    let levels = numbers.pick(&[2_usize, 2, 3]);
    let rhos: Vec<Rational> = (0..levels)
        .map(|_| {
            let value = numbers.scale(0.05, 2.0);
            numbers.fraction(value)
        })
        .collect();
    let others: Vec<u64> = (1..levels).map(|_| numbers.pick(&[0, 1, 2, 3, 6])).collect();
    let known = numbers.between(0, 6) as i64;
    let upper = match (levels, numbers.below(3)) {
        (2, 0) => Upper::UpTo(known + 1 + numbers.between(0, 12) as i64),
        (2, 1) => Upper::Point(known + 1 + numbers.between(0, 5) as i64),
        _ => Upper::Uniform,
    };
    let near = |numbers: &mut Numbers, center: i64| center + numbers.between(0, 6) as i64 - 3;
    let mut center = known;
    let mut noisy = vec![near(numbers, known)];
    let mut noisy_others = Vec::new();
    for _ in 1..levels {
        let beside = numbers.between(0, 6) as i64;
        center += beside;
        noisy.push(near(numbers, center));
        noisy_others.push(near(numbers, beside));
    }
    let text = || {
        format!(
            "risk hierarchical, rho {rhos:?}, others {others:?}, prior {p}, known {known}, {upper:?}, noisy {noisy:?} {noisy_others:?}, {digits} digits"
        )
    };
    let attack = record.ask("risk hierarchical", &text, || {
        Hierarchy::new(p.clone(), rhos.clone(), others.clone(), upper.clone())?.with_known(known)
    })?;
    let answer = record.ask("risk hierarchical", &text, || attack.posterior(&noisy, &noisy_others, digits))?;
    let joint = Joint::new(&p, &rhos, &others, &upper, known, &noisy, &noisy_others)?;
    let present = joint.share(|k, _| k == 1);
    record.contains("risk hierarchical", &answer.present, joint.fixed, &present, &text);
    record.check(
        "risk hierarchical",
        !answer.met || relative_width(&answer.present) <= 10_f64.powi(-(digits as i32)) * 1.01,
        &|| format!("{}: met but wide", text()),
    );
    for (k2, value) in &answer.upper {
        record.contains("risk hierarchical", value, joint.fixed, &joint.share(|_, at| at == *k2), &|| {
            format!("{}: X2 = {k2}", text())
        });
    }
    for (k1, k2, value) in answer.joint.iter().step_by(3) {
        let own = joint.share(|k, at| known + k == *k1 && at == *k2);
        record.contains("risk hierarchical", value, joint.fixed, &own, &|| format!("{}: X1 = {k1}, X2 = {k2}", text()));
    }
    // Every entry certainly above 10^-12 is listed.
    let least = joint.fixed.rational(&Rational::from((1, 999_999_999_999_u64)));
    for k2 in known..known + 60 {
        if joint.share(|_, at| at == k2).lower > least.upper {
            record.check("risk hierarchical", answer.upper.iter().any(|(at, _)| *at == k2), &|| {
                format!("{}: X2 = {k2} is not listed", text())
            });
        }
    }
    Some(())
}

/// The weights P\[k_1\] g_1(x_1 - k_1) P\[k_2 | k_1\] g_2(x_2 - k_2) h_1(y_1 - (k_2 - k_1)) times those above, for k_2 up to the end of the
/// stored masses.
struct Joint {
    fixed: Fixed,
    /// (k_1 - m, k_2, weight).
    weights: Vec<(i64, i64, Span)>,
    /// Upper bound on the weight of everything else.
    beyond: Integer,
}

impl Joint {
    fn new(
        prior: &Rational,
        rhos: &[Rational],
        others: &[u64],
        upper: &Upper,
        known: i64,
        noisy: &[i64],
        noisy_others: &[i64],
    ) -> Option<Self> {
        let fixed = Fixed { bits: BITS };
        let own: Vec<Table> = rhos.iter().map(|rho| Table::new(rho, 1)).collect::<Option<_>>()?;
        let beside: Vec<Table> =
            rhos.iter().zip(others).map(|(rho, count)| Table::new(rho, *count)).collect::<Option<_>>()?;
        // Above x_2 + reach no mass of g_2 is stored; below k_1 there is nothing.
        let last = noisy[1] + own[1].reach();
        let above: Vec<Span> = (known..=last.max(known))
            .map(|k2| match rhos.len() {
                2 => Span { lower: fixed.one(), upper: fixed.one() },
                _ => top(&own[2], &beside[1], noisy[2], noisy_others[1], k2),
            })
            .collect();
        let mut weights = Vec::new();
        for k in 0..2 {
            let k1 = known + k;
            let belief = if k == 1 { prior.clone() } else { Rational::from(1 - prior) };
            let first = fixed.mul(&fixed.rational(&belief), &own[0].at(noisy[0] - k1));
            for k2 in k1..=last {
                let believed = match upper {
                    Upper::Uniform => Rational::from(1),
                    Upper::UpTo(most) if k2 <= *most => Rational::from((1, most - k1 + 1)),
                    Upper::Point(most) if k2 == *most => Rational::from(1),
                    _ => continue,
                };
                let next = fixed.mul(&own[1].at(noisy[1] - k2), &beside[0].at(noisy_others[0] - (k2 - k1)));
                let weight = fixed.mul(&fixed.mul(&first, &next), &fixed.rational(&believed));
                weights.push((k, k2, fixed.mul(&weight, &above[(k2 - known) as usize])));
            }
        }
        // The sum of all other terms is at most the masses of g_2 beyond, for each of both k_1.
        Some(Joint { fixed, weights, beyond: Integer::from(&own[1].missing << 1) + 1 })
    }

    /// The posterior probability of all (k_1 - m, k_2) for which `wanted` holds.
    fn share(&self, wanted: impl Fn(i64, i64) -> bool) -> Span {
        let zero = || Span { lower: Integer::new(), upper: Integer::new() };
        let (mut inside, mut outside) = (zero(), zero());
        for (k, k2, weight) in &self.weights {
            let sum = if wanted(*k, *k2) { &mut inside } else { &mut outside };
            *sum = self.fixed.add(sum, weight);
        }
        // The weight beyond may be on either side. a / (a + b) increases with a and decreases with b.
        let most = (&inside.upper + &self.beyond).complete();
        let against = (&outside.upper + &self.beyond).complete();
        let ratio = |a: &Integer, b: &Integer| {
            let all = (a + b).complete().max(Integer::from(1));
            let scaled = a.clone() << self.fixed.bits;
            (scaled.clone().div_rem_floor(all.clone()).0, scaled.div_rem_ceil(all).0)
        };
        Span { lower: ratio(&inside.lower, &against).0, upper: ratio(&most, &outside.lower).1 }
    }
}

/// sum over k_3 >= k_2 of g_3(x_3 - k_3) h_2(y_2 - (k_3 - k_2)).
fn top(own: &Table, beside: &Table, noisy: i64, noisy_others: i64, k2: i64) -> Span {
    let fixed = own.fixed;
    let mut sum = Span { lower: Integer::new(), upper: own.missing.clone() };
    for k3 in k2..=noisy + own.reach() {
        sum = fixed.add(&sum, &fixed.mul(&own.at(noisy - k3), &beside.at(noisy_others - (k3 - k2))));
    }
    sum
}
