//! Decisions based on proven numbers: calibrations, allocations, ledgers, the worst of many paths, crossings and conversions.

use dp_assay::{
    account::{
        Account, Composition, Delta, Epsilon, Rho,
        allocate::{self, QueryTarget},
        calibrate, conversions, crossing,
        ledger::{Entry, Ledger},
        paths::WorstPath,
    },
    loss::family::Units,
    numeric::{Certainty, Enclosure},
};
use rug::{Float, Integer, Rational, ops::Pow};

use super::{
    account::decimal,
    cases::{Case, Noise, Numbers, Part},
    enumerated::Enumerated,
    fixed::{Fixed, Span},
    record::Record,
};

const BITS: u32 = 448;
/// With masses of 2^-448, Q is not resolved beyond exp(200).
const MOST_MEAN: f64 = 60.0;

fn small(numbers: &mut Numbers) -> Option<Case> {
    let class = numbers.pick(&["tiny", "one group", "bounded", "mixed", "lattice", "shifts", "near-commensurate"]);
    let case = Case::new(class, numbers);
    (case.mean() < MOST_MEAN).then_some(case)
}

fn target(numbers: &mut Numbers) -> Delta {
    let delta = Rational::from(numbers.between(1, 99)) / Integer::from(10).pow(numbers.between(3, 12) as u32);
    Delta::new(delta).expect("between zero and one")
}

/// The oracle's delta of a composition at an epsilon.
fn delta_of(parts: &[Part], epsilon: &Rational) -> Option<(Fixed, Span)> {
    let law = Enumerated::new(parts, BITS)?;
    Some((law.fixed, law.delta(epsilon)))
}

/// The least sigma2 of a grid: it meets the target, and the previous point does not.
pub fn calibrated(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let (delta, decimals) = (target(numbers), numbers.pick(&[1, 2, 3]));
    let (count, shift) = (numbers.between(1, 12), numbers.between(1, 2));
    let epsilon = decimal(numbers.scale(0.3, 12.0), 2);
    let parts = |sigma2: &Rational| [Part { noise: Noise::DiscreteGaussian, parameter: sigma2.clone(), count, shift }];
    let family = |sigma2: &Rational| Composition::new(parts(sigma2).iter().map(Part::counts));
    let text =
        || format!("calibrate {count} counts of shift {shift} for epsilon {epsilon} at {delta}, {decimals} decimals");
    let promised = Enclosure::rational(&epsilon, 160);
    let start = count as f64 * (shift * shift) as f64 * 10.0 / epsilon.to_f64().powi(2);
    let least =
        record.ask("calibrate", &text, || calibrate::least_on_grid(family, &promised, &delta, decimals, start))?;
    let (fixed, kept) = delta_of(&parts(&least.value), &epsilon)?;
    let level = fixed.rational(&delta);
    record.check("calibrate", kept.lower <= level.upper, &|| format!("{}: {} is too little", text(), least.value));
    if let Some(before) = &least.before {
        let apart = Rational::from(&least.value - before) == Rational::from(Integer::from(10).pow(decimals)).recip();
        record.check("calibrate", apart, &|| format!("{}: {before} is not the point before", text()));
        let (_, broken) = delta_of(&parts(before), &epsilon)?;
        record.check("calibrate", broken.upper >= level.lower, &|| format!("{}: {before} is enough", text()));
    }
    Some(())
}

/// Noise for three queries: it meets the target, its error is as stated, and no allocation that meets the target is below the bound.
pub fn allocated(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let (delta, epsilon) = (target(numbers), decimal(numbers.scale(0.5, 8.0), 2));
    let targets: Vec<QueryTarget> = (0..numbers.between(1, 3))
        .map(|at| QueryTarget {
            name: format!("q{at}"),
            count: numbers.between(1, 4),
            shift: 1 + at % 2,
            weight: Rational::from(numbers.between(1, 9)),
            least: Rational::from((1, 2)),
            most: None,
        })
        .collect();
    let text = || {
        let shown = |target: &QueryTarget| format!("{}*{}@{}", target.weight, target.count, target.shift);
        let all: Vec<String> = targets.iter().map(shown).collect();
        format!("allocate {} for epsilon {epsilon} at {delta}", all.join(" "))
    };
    let promised = Epsilon::new(epsilon.clone()).ok()?;
    let answer = record.ask("allocate", &text, || allocate::allocate(&targets, &promised, &delta, 1))?;
    let parts: Vec<Part> = (targets.iter().zip(&answer.sigma2))
        .map(|(target, sigma2)| Part {
            noise: Noise::DiscreteGaussian,
            parameter: sigma2.clone(),
            count: target.count,
            shift: target.shift,
        })
        .collect();
    if let Some((fixed, kept)) = delta_of(&parts, &epsilon) {
        let level = fixed.rational(&delta);
        record.check("allocate", kept.lower <= level.upper, &|| format!("{}: {:?} breaks it", text(), answer.sigma2));
        record.contains("allocate", &answer.delta, fixed, &kept, &text);
    }
    // E[X^2] is at most sigma2 and, for sigma2 above 1, within 1e-6 of it: 8 pi^2 sigma2^2 exp(-2 pi^2 sigma2) / theta is less.
    let sum = targets
        .iter()
        .zip(&answer.sigma2)
        .fold(Rational::new(), |sum, (target, s)| sum + Rational::from(&target.weight * s));
    record.check("allocate", answer.error.lower_rational()? <= sum, &|| format!("{}: error {}", text(), answer.error));
    if answer.sigma2.iter().all(|s| *s >= 1) {
        let least = &sum * Rational::from((999_999, 1_000_000));
        record.check("allocate", answer.error.upper_rational()? >= least, &|| {
            format!("{}: error {}", text(), answer.error)
        });
    }
    let least = record.ask("least possible", &text, || allocate::least_possible(&targets, &promised, &delta))?;
    let above = answer.error.upper_rational()?;
    record.check("least possible", least <= above, &|| format!("{}: {least} is above {above}", text()));
    Some(())
}

/// Paths over the same counts with different noise, on commensurate lattices.
fn random_paths(numbers: &mut Numbers) -> Vec<Vec<Part>> {
    let common = numbers.pick(&[12_u64, 20, 30]);
    let equal = numbers.one_in(2);
    (0..numbers.between(2, 4))
        .map(|_| {
            (0..numbers.between(1, 2))
                .map(|_| {
                    let k = numbers.between(1, common / 2);
                    // Equal rho if the count is proportional to sigma2 = common / k.
                    let (count, k) =
                        if equal { (common / (common / k), common / (common / k)) } else { (numbers.between(1, 6), k) };
                    Part { noise: Noise::DiscreteGaussian, parameter: Rational::from((common, k)), count, shift: 1 }
                })
                .collect()
        })
        .collect()
}

/// The worst case over paths, single or in pairs: the largest delta of all, each by the oracle.
pub fn paths(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let paths = random_paths(numbers);
    let units = numbers.pick(&[Units::Pairs, Units::Single]);
    let digits = numbers.pick(&[6, 10, 12]);
    let each: Vec<Composition> =
        paths.iter().map(|parts| Composition::new(parts.iter().map(Part::counts))).collect::<Result<_, _>>().ok()?;
    let described: Vec<String> = paths
        .iter()
        .map(|parts| parts.iter().map(|part| part.option()[1].clone()).collect::<Vec<_>>().join("+"))
        .collect();
    let text = || format!("worst of {} {units:?}, {digits} digits", described.join(" "));
    let worst = record.ask("paths", &text, || WorstPath::new(each.clone(), units))?;
    let mut laws = Vec::new();
    for p in 0..paths.len() {
        let partners = if units == Units::Pairs { p..paths.len() } else { p..p + 1 };
        for q in partners {
            let mut parts = paths[p].clone();
            if units == Units::Pairs {
                parts.extend(paths[q].clone());
            }
            laws.push(Enumerated::new(&parts, BITS)?);
        }
    }
    let fixed = laws[0].fixed;
    let largest = |epsilon: &Rational| {
        let all: Vec<Span> = laws.iter().map(|law| law.delta(epsilon)).collect();
        let lower = all.iter().map(|span| &span.lower).max().cloned().unwrap_or_default();
        Span { lower, upper: all.into_iter().map(|span| span.upper).max().unwrap_or_default() }
    };
    let mut before: Option<Float> = None;
    let evaluator = worst.evaluator();
    for epsilon in ["0", "1/2", "2", "5"] {
        let epsilon: Rational = epsilon.parse().expect("a number");
        let text = || format!("{} at {epsilon}", text());
        let point = record.ask("profile", &text, || evaluator.hockey_stick_of_many(&epsilon, digits))?;
        record.contains("profile", &point.value, fixed, &largest(&epsilon), &text);
        record.width("profile", &point, digits, &text);
        let answer = record.ask("paths", &text, || worst.delta(&epsilon, digits))?;
        record.contains("paths", &answer.value, fixed, &largest(&epsilon), &text);
        record.width("paths", &answer, digits, &text);
        if let Some(before) = before {
            record.check("paths", *answer.value.lower() <= before, &|| format!("{}: not decreasing", text()));
        }
        before = Some(answer.value.upper().clone());
    }
    ledger_of_paths(&each, units, (target(numbers), digits), record, &text, (fixed, &largest))
}

/// A ledger with one entry of these paths: its epsilon against the largest delta of the oracle.
fn ledger_of_paths(
    each: &[Composition],
    units: Units,
    (delta, digits): (Delta, u32),
    record: &mut Record,
    of_paths: &dyn Fn() -> String,
    (fixed, largest): (Fixed, &dyn Fn(&Rational) -> Span),
) -> Option<()> {
    let entry = |paths: &[Composition]| -> Option<Entry> {
        let factor = if units == Units::Pairs { 2_u32 } else { 1 };
        let rho = paths.iter().map(|path| Rational::from(&**path.rho() * factor)).max()?;
        let (name, paths, rho) = ("a".to_string(), paths.to_vec(), Rho::new(rho).ok()?);
        Some(Entry { name, paths, mixes: Vec::new(), is_change: false, rho, part: None })
    };
    let text = || format!("ledger of {} at {delta}", of_paths());
    let ledger = record.ask("ledger", &text, || Ledger::new(vec![entry(each).expect("paths")], units))?;
    let balance = record.ask("ledger", &text, || ledger.composed(&delta, digits))?;
    let answer = balance.epsilon?;
    let (lower, upper) = (answer.value.lower_rational()?, answer.value.upper_rational()?);
    let level = fixed.rational(&delta);
    record.check("ledger", largest(&upper).lower <= level.upper, &|| {
        format!("{}: {} is too small", text(), answer.value)
    });
    let holds = lower == 0 || largest(&lower).upper >= level.lower;
    record.check("ledger", holds, &|| format!("{}: {} is too large", text(), answer.value));
    record.width("ledger", &answer, digits, &text);
    record.check("ledger", *balance.zcdp_epsilon.upper() >= *answer.value.lower(), &|| {
        format!("{}: zCDP is below", text())
    });
    Some(())
}

/// Conversions by their formulas; they are never below the exact epsilon.
pub fn converted(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let case = small(numbers)?;
    let composition = case.composition().ok()?;
    let (delta, digits, fixed) = (target(numbers), numbers.pick(&[6, 12, 20]), Fixed { bits: 256 });
    let rho = composition.rho().clone();
    let text = |what: &str| format!("{what} of {} at {delta}, {digits} digits", case.options().join(" "));
    let exact = composition.epsilon(&delta, 10).ok()?.value;
    // rho + 2 sqrt(rho ln(1 / delta)) is at least E if and only if exp(-(E - rho)^2 / (4 rho)) is at least delta.
    let what = || text("zCDP");
    let zcdp = record.ask("zCDP epsilon", &what, || Ok(conversions::zcdp_epsilon(&rho, &delta, digits)))?;
    let at = |epsilon: &Rational| {
        let distance = Rational::from(epsilon - &*rho);
        fixed.exp(&(-distance.square() / Rational::from(&*rho * 4_u32)))
    };
    let (lower, upper) = (zcdp.lower_rational()?, zcdp.upper_rational()?);
    let level = fixed.rational(&delta);
    record.check("zCDP epsilon", lower <= *rho || at(&lower).upper >= level.lower, &|| {
        format!("{}: {zcdp} is too large", what())
    });
    record.check("zCDP epsilon", upper >= *rho && at(&upper).lower <= level.upper, &|| {
        format!("{}: {zcdp} is too small", what())
    });
    record.check("zCDP epsilon", *exact.lower() <= *zcdp.upper(), &|| format!("{}: {zcdp} is below {exact}", what()));
    let epsilon = Epsilon::new(&*rho + decimal(numbers.scale(0.1, 10.0), 3)).ok()?;
    let value = record.ask("zCDP delta", &what, || Ok(conversions::zcdp_delta(&rho, &epsilon, digits)))?;
    record.contains("zCDP delta", &value, fixed, &at(&epsilon), &what);
    // The best order is never above any other, rho alpha + (ln(1 / (alpha delta))) / (alpha - 1) + ln(1 - 1 / alpha), and never below the
    // exact epsilon or that of Renyi.
    let what = || text("best order");
    let best = record.ask("zCDP best order", &what, || conversions::zcdp_epsilon_optimal(&rho, &delta))?;
    let renyi = record.ask("Renyi", &what, || conversions::renyi_epsilon(&composition, &delta))?;
    record.check("zCDP best order", *best.epsilon.lower() <= *zcdp.upper(), &|| format!("{}: above {zcdp}", what()));
    record.check("Renyi", *exact.lower() <= *renyi.epsilon.upper(), &|| {
        format!("{}: Renyi {} is below {exact}", what(), renyi.epsilon)
    });
    record.check("Renyi", *renyi.epsilon.lower() <= *best.epsilon.upper(), &|| {
        format!("{}: Renyi {} is above {}", what(), renyi.epsilon, best.epsilon)
    });
    for factor in [0.5, 0.9, 0.999, 1.001, 1.1, 3.0] {
        let alpha = Rational::from_f64(1.0 + (best.order - 1.0) * factor)?;
        // E (alpha - 1) <= rho alpha (alpha - 1) - ln(alpha delta) + (alpha - 1) ln(1 - 1 / alpha), both sides exponentiated:
        // exp(E (alpha - 1) - rho alpha (alpha - 1)) alpha delta <= (1 - 1 / alpha)^(alpha - 1), an integer power by rounding alpha up.
        let bound = best_order_bound(&rho, &delta, &alpha);
        record.check("zCDP best order", best.epsilon.lower().to_f64() <= bound * (1.0 + 1e-9) + 1e-9, &|| {
            format!("{}: order {alpha} gives {bound}", what())
        });
    }
    Some(())
}

/// The formula at one order in doubles, which is precise enough for a factor of 10^-9.
fn best_order_bound(rho: &Rho, delta: &Delta, alpha: &Rational) -> f64 {
    let (rho, delta, alpha) = (rho.to_f64(), delta.to_f64(), alpha.to_f64());
    rho * alpha - (alpha.ln() + delta.ln()) / (alpha - 1.0) + (-1.0 / alpha).ln_1p()
}

/// Ranges of delta on which an account is within the zCDP curve of a rho.
pub fn crossings(numbers: &mut Numbers, record: &mut Record) -> Option<()> {
    let case = small(numbers)?;
    let composition = case.composition().ok()?;
    let factor = decimal(numbers.scale(0.5, 1.0), 3);
    let rho = Rho::new(Rational::from(&**composition.rho() * &factor)).ok()?;
    let (from, to) =
        (Rational::from(Integer::from(10).pow(numbers.between(4, 9) as u32)).recip(), Rational::from((1, 2)));
    let text = || format!("crossings of {} with rho {rho} from {from}", case.options().join(" "));
    let stretches = record.ask("crossing", &text, || crossing::stretches(&composition, &rho, &from, &to))?;
    let law = Enumerated::new(&case.parts(), BITS)?;
    let mut last: Option<Rational> = None;
    for stretch in &stretches {
        let (low, high) = &stretch.epsilons;
        let joined = last.as_ref().is_none_or(|last| last == low);
        record.check("crossing", joined && low <= high, &|| format!("{}: stretches leave a gap", text()));
        last = Some(high.clone());
        for share in [0, 1, 7, 10] {
            let epsilon = Rational::from(high - low) * Rational::from((share, 10)) + low;
            let distance = Rational::from(&epsilon - &*rho);
            let published = law.fixed.exp(&(-distance.square() / Rational::from(&*rho * 4_u32)));
            let own = law.delta(&epsilon);
            let holds = match stretch.within {
                Certainty::Yes => own.lower <= published.upper,
                Certainty::No => own.upper >= published.lower,
                Certainty::Undecided => true,
            };
            record.check("crossing", holds, &|| format!("{}: {:?} at {epsilon}", text(), stretch.within));
        }
    }
    Some(())
}
