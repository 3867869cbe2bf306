//! The engine against methods that share no code with it: enumeration in intervals, convolution on the product lattice, and the contour.

use rug::{Float, Rational, float::Round};

use super::*;
use crate::{
    loss::{
        convolve::Masses,
        law::Law,
        testing::{groups, sum},
        theta,
    },
    numeric::rational::parse,
};

fn number(text: &str) -> Rational {
    parse(text).unwrap()
}

fn atoms(groups: &[&str]) -> Atoms {
    Atoms::new(&sum(groups)).unwrap()
}

/// Sums whose lattice is coarse enough to convolve.
fn coarse() -> Vec<Vec<&'static str>> {
    vec![
        vec!["5x10"],
        vec!["0.2x3"],
        vec!["1/20", "1/3x2"],
        vec!["3/2@2", "0.6", "5/2"],
        vec!["5x4", "51/50"],
        vec!["discrete-laplace:1/2x6"],
        vec!["discrete-laplace:0.3x3@4", "discrete-laplace:0.7x2@2"],
        vec!["discrete-laplace:0.3@4", "2x3", "1/3@3"],
        vec!["2", "3", "5", "7", "discrete-laplace:1"],
    ]
}

/// The law of a sum by enumeration of all its copies: every loss with an enclosure of its mass, ascending. Gaussian terms reach so far that the
/// truncated mass is below 2^-200.
fn enumerated(texts: &[&str]) -> Vec<(Rational, Enclosure)> {
    let bits = 260;
    let exp = |x: &Rational| Enclosure::rational(x, bits).exp();
    let one = Enclosure::double(1.0, bits);
    let mut list = vec![(Rational::new(), one.clone())];
    for group in groups(texts) {
        let single: Vec<(Rational, Enclosure)> = match &group.law {
            Law::DiscreteGaussian { sigma2 } => {
                let total = theta::gaussian_sum(sigma2, bits);
                let reach = (2.0 * sigma2.to_f64() * 145.0).sqrt() as i64 + 2;
                let loss = |x: i64| {
                    Rational::from(group.shift) * (Rational::from(2 * x) + group.shift) / Rational::from(sigma2 * 2_u32)
                };
                let mass = |x: i64| exp(&(-Rational::from(x * x) / Rational::from(sigma2 * 2_u32))).div(&total);
                (-reach..=reach).map(|x| (loss(x), mass(x))).collect()
            }
            Law::DiscreteLaplace { epsilon } => {
                // X at x has ln p(x) / p(x - shift) = epsilon (|x - shift| - |x|).
                let q = exp(&-epsilon.clone());
                let scale = one.sub(&q).div(&one.add(&q));
                let reach = (145.0 / epsilon.to_f64()) as i64 + 2 + group.shift as i64;
                let loss = |x: i64| Rational::from(epsilon * ((x - group.shift as i64).abs() - x.abs()));
                let mass = |x: i64| exp(&-Rational::from(epsilon * x.abs())).mul(&scale);
                (-reach..=reach).map(|x| (loss(x), mass(x))).collect()
            }
            law => by_definition(law, group.shift, &exp),
        };
        let single = gathered(single);
        for _ in 0..group.copies {
            let pairs =
                list.iter().flat_map(|(l, p)| single.iter().map(move |(m, q)| (Rational::from(l + m), p.mul(q))));
            // Masses too small to matter to any answer at 60 digits are dropped.
            list = gathered(pairs.collect());
            list.retain(|(_, mass)| *mass.upper() > Float::with_val(53, 1) >> 330);
        }
    }
    list
}

/// The finite losses of one count of a bounded law with their masses, from its masses under both hypotheses: given that the loss is finite.
fn by_definition(law: &Law, shift: u64, exp: &impl Fn(&Rational) -> Enclosure) -> Vec<(Rational, Enclosure)> {
    let shift = shift as i64;
    let outcomes: Vec<(Rational, Enclosure)> = match law {
        Law::TruncatedLaplace { epsilon, bound } => {
            let exponent = |x: i64| Rational::from(epsilon * x.abs());
            let both = shift - *bound as i64..=*bound as i64;
            both.map(|x| (exponent(x - shift) - exponent(x), exp(&-exponent(x)))).collect()
        }
        Law::TruncatedGaussian { sigma2, bound } => {
            let exponent = |x: i64| Rational::from(x * x) / Rational::from(sigma2 * 2_u32);
            let both = shift - *bound as i64..=*bound as i64;
            both.map(|x| (exponent(x - shift) - exponent(x), exp(&-exponent(x)))).collect()
        }
        Law::RandomizedResponse { epsilon, answers } => {
            // The true answer is the first under P and the second under Q.
            let unlikely = || exp(&Rational::new());
            let others = (2..*answers).map(|_| (Rational::new(), unlikely()));
            [(epsilon.clone(), exp(epsilon)), (-epsilon.clone(), unlikely())].into_iter().chain(others).collect()
        }
        Law::Pure { epsilon } | Law::Approximate { epsilon, .. } => {
            let epsilon = Rational::from(epsilon * shift);
            vec![(epsilon.clone(), exp(&epsilon)), (-epsilon, exp(&Rational::new()))]
        }
        law => panic!("{law} has infinitely many losses"),
    };
    let total = total(outcomes.iter().map(|(_, mass)| mass.clone()));
    outcomes.into_iter().map(|(loss, mass)| (loss, mass.div(&total))).collect()
}

/// Bounded laws other than the discrete Laplace, some beside it and beside Gaussian noise.
fn bounded() -> Vec<Vec<&'static str>> {
    vec![
        vec!["pure:1/2x3", "pure:0.3@2"],
        vec!["approximate:1:1e-9x4"],
        vec!["randomized-response:3/2:2x5", "randomized-response:1:7x2"],
        vec!["truncated-laplace:1/2:7x3", "truncated-laplace:2/3:4x2@3"],
        vec!["truncated-laplace:1/2:3x2@3", "truncated-laplace:1/5:3@5", "pure:1/7"],
        vec!["truncated-gaussian:2:5x3", "truncated-gaussian:3:4@6"],
        vec!["truncated-gaussian:9:12x2@2", "pure:1x2", "discrete-laplace:1/3@2"],
        vec!["1.3", "truncated-laplace:0.9:2x2", "randomized-response:2:3"],
        vec!["1/100", "randomized-response:1/2:1000x3"],
    ]
}

/// The factor that every engine takes from [`crate::law`], against sums over the definition: masses, moments, their derivatives, the second enclosure.
#[test]
fn facts_of_bounded_laws_are_those_of_their_definition() {
    let bits = 260;
    let exp = |x: &Rational| Enclosure::rational(x, bits).exp();
    let (mut laws, mut infinite) = (0, 0);
    for group in groups(&bounded().concat()) {
        let Some(finite) = group.law.finite(group.shift) else { continue };
        let Law::DiscreteLaplace { .. } = group.law else {
            let truth = gathered(by_definition(&group.law, group.shift, &exp));
            let own: Vec<Rational> = (0..finite.masses.len() as u32)
                .map(|k| &finite.largest - Rational::from(&finite.step * k))
                .rev()
                .collect();
            assert_eq!(own, truth.iter().map(|(loss, _)| loss.clone()).collect::<Vec<_>>(), "{group:?}");
            for ((loss, mass), own) in truth.iter().zip(finite.masses(bits).iter().rev()) {
                assert!(mass.overlaps(own) && own.is_tight(60), "{group:?} {loss}");
                // Symmetric: a loss has the mass of its negative times exp(loss).
                let (_, other) = truth.iter().find(|(other, _)| *other == -loss.clone()).unwrap();
                assert!(other.mul(&exp(loss)).overlaps(mass), "{group:?} {loss}");
            }
            for c in ["-7/2", "-1", "0", "1/3", "12"].map(number) {
                let moment = total(truth.iter().map(|(loss, mass)| mass.mul(&exp(&Rational::from(&c * loss)))));
                assert!(finite.ln_mgf(&c, bits).overlaps(&moment.ln()), "{group:?} {c}");
                let approx = finite.in_doubles().cumulants(c.to_f64());
                assert!((approx.ln_mgf - moment.ln().approximate()).abs() < 1e-11, "{group:?} {c} {approx:?}");
                let mean = total(truth.iter().map(|(loss, mass)| {
                    mass.mul(&exp(&Rational::from(&c * loss))).mul(&Enclosure::rational(loss, bits))
                }));
                assert!((approx.mean - mean.div(&moment).approximate()).abs() < 1e-11, "{group:?} {c} {approx:?}");
            }
            laws += 1;
            // The mass that the shift moves out of the support, summed there.
            let out_of = |exponent: &dyn Fn(i64) -> Rational, bound: u64| {
                let (bound, shift) = (bound as i64, group.shift as i64);
                let all = total((-bound..=bound).map(|x| exp(&-exponent(x))));
                total((-bound..shift - bound).map(|x| exp(&-exponent(x)))).div(&all)
            };
            let mass = match &group.law {
                Law::TruncatedLaplace { epsilon, bound } => out_of(&|x| Rational::from(epsilon * x.abs()), *bound),
                Law::TruncatedGaussian { sigma2, bound } => {
                    out_of(&|x| Rational::from(x * x) / Rational::from(sigma2 * 2_u32), *bound)
                }
                Law::Approximate { delta, .. } => Enclosure::rational(delta, bits),
                _ => Enclosure::double(0.0, bits),
            };
            let own = finite.infinite_mass(bits);
            assert!(own.overlaps(&mass) && (own.is_tight(60) || *own.upper() == 0), "{group:?}: {own} {mass}");
            infinite += usize::from(*own.lower() > 0);
            continue;
        };
    }
    assert!(laws >= 13 && infinite >= 8, "{laws} {infinite}");
}

/// Equal losses combined, ascending.
fn gathered(mut list: Vec<(Rational, Enclosure)>) -> Vec<(Rational, Enclosure)> {
    list.sort_by(|a, b| a.0.cmp(&b.0));
    list.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = kept.1.add(&next.1);
        }
        same
    });
    list
}

fn total<'a>(masses: impl Iterator<Item = Enclosure> + 'a) -> Enclosure {
    masses.fold(Enclosure::double(0.0, 260), |sum, mass| sum.add(&mass))
}

/// Two enclosures of one number, the second of which omits up to 2^-190.
#[track_caller]
fn agree(got: &Enclosure, oracle: &Enclosure, what: &str) {
    let slack = Float::with_val(64, 1) >> 190;
    let upper = Float::with_val_round(260, oracle.upper() + &slack, Round::Up).0;
    let wide = Enclosure::new(oracle.lower().clone(), upper);
    assert!(got.overlaps(&wide), "{what}: {got:?} against {oracle:?}");
}

#[test]
fn answers_are_those_of_enumeration() {
    let known = [
        vec!["discrete-laplace:1/2x3", "discrete-laplace:2/7@3"],
        vec!["discrete-laplace:1000"],
        vec!["discrete-laplace:39/97x2@2", "discrete-laplace:153/100x5"],
        vec!["1/20", "1/3@2"],
        vec!["1.3", "discrete-laplace:0.9x2@2"],
    ];
    for groups in known.into_iter().chain(bounded()) {
        let (atoms, list) = (atoms(&groups), enumerated(&groups));
        let some: Vec<Rational> = list.iter().step_by(1 + list.len() / 9).map(|(loss, _)| loss.clone()).collect();
        let between = some.iter().map(|loss| loss + number("1e-25"));
        let others = ["-3", "0", "0.7", "2", "5.5"].map(number);
        for z in some.iter().cloned().chain(between).chain(others) {
            let z = &z;
            let above = |strict: bool| list.iter().filter(move |(loss, _)| if strict { loss > z } else { loss >= z });
            let at = |x: &Rational| Enclosure::rational(x, 260).exp();
            let delta = total(
                above(true).map(|(l, p)| p.mul(&Enclosure::rational(&Rational::from(z - l), 260).exp_m1().negate())),
            );
            let tail = total(above(false).map(|(_, p)| p.clone()));
            let tilted = total(above(false).map(|(l, p)| p.mul(&at(&-l.clone()))));
            for digits in [3, 12, 30] {
                let what = format!("{groups:?} at {z}, {digits} digits");
                for (got, oracle) in [
                    (atoms.hockey_stick(z, digits), &delta),
                    (atoms.upper_tail(z, digits), &tail),
                    (atoms.tilted_tail(z, digits), &tilted),
                ] {
                    let got = got.unwrap();
                    agree(&got.value, oracle, &what);
                    assert!(got.met && got.value.is_tight(digits), "{what}: {got:?}");
                }
            }
        }
    }
}

#[test]
fn answers_are_those_of_convolution_on_the_product_lattice() {
    for groups in coarse() {
        let sum = sum(&groups);
        let (atoms, masses) = (Atoms::new(&sum).unwrap(), Masses::new(&sum, 160).unwrap());
        for z in ["-2", "0", "0.3", "1", "2.5", "6", "15"] {
            let z = number(z);
            for digits in [8, 25] {
                let delta = atoms.hockey_stick(&z, digits).unwrap();
                let tail = atoms.upper_tail(&z, digits).unwrap();
                assert!(delta.value.overlaps(&masses.hockey_stick(&z)), "{groups:?} at {z}: {delta:?}");
                assert!(tail.value.overlaps(&masses.upper_tail(&z)), "{groups:?} at {z}: {tail:?}");
                assert!(delta.met && tail.met, "{groups:?} at {z}: {delta:?} {tail:?}");
            }
        }
    }
}

#[test]
fn answers_are_those_of_the_contour() {
    for groups in
        [vec!["5x10"], vec!["2x8", "3x12"], vec!["500/73x10", "40x7@3"], vec!["3.1x8", "4.7x9", "2.9x5@2", "5.3x12"]]
    {
        let sum = sum(&groups);
        let atoms = Atoms::new(&sum).unwrap();
        for epsilon in ["0", "0.5", "4", "30", "70"] {
            let epsilon = number(epsilon);
            let contour = sum.evaluator().by_contour(&epsilon, 12).unwrap();
            let listed = atoms.hockey_stick(&epsilon, 14).unwrap();
            assert!(listed.value.overlaps(&contour.value), "{groups:?} at {epsilon}: {listed:?} {contour:?}");
            assert!(listed.met && contour.met, "{groups:?} at {epsilon}: {listed:?} {contour:?}");
        }
    }
}

#[test]
fn tails_are_those_of_the_contour() {
    let sum = sum(&["5x10", "10x4@3"]);
    let atoms = Atoms::new(&sum).unwrap();
    for z in ["-40", "-3", "0", "0.1", "2.8", "9", "55"] {
        let z = number(z);
        for (listed, contour) in [
            (atoms.upper_tail(&z, 20), sum.evaluator().upper_tail(&z, 20)),
            (atoms.tilted_tail(&z, 20), sum.evaluator().tilted_tail(&z, 20)),
        ] {
            let (listed, contour) = (listed.unwrap(), contour.unwrap());
            assert!(listed.met && listed.value.overlaps(&contour.value), "{z}: {listed:?} {contour:?}");
        }
    }
}

#[test]
fn two_precisions_overlap_and_delta_falls() {
    for groups in coarse() {
        let atoms = atoms(&groups);
        let mut last: Option<Enclosure> = None;
        for k in -2..16 {
            let epsilon = Rational::from((7 * k, 10));
            let answers = [5, 12, 24, 40, 70].map(|digits| atoms.hockey_stick(&epsilon, digits).unwrap());
            for (coarse, digits) in answers.iter().zip([5, 12, 24, 40, 70]) {
                assert!(coarse.met && coarse.value.is_tight(digits), "{groups:?} at {epsilon}: {coarse:?}");
                assert!(answers.iter().all(|fine| fine.value.overlaps(&coarse.value)), "{groups:?} at {epsilon}");
            }
            let value = answers[3].value.clone();
            let falls = last.as_ref().is_none_or(|last| value.upper() <= last.upper());
            assert!(falls, "{groups:?} at {epsilon}: {value:?} after {last:?}");
            last = Some(value);
        }
    }
}

/// Losses of 10^12 nats in steps of 2 x 10^5: exp(epsilon) is beyond the range of floats, the complement of delta is not.
#[test]
fn far_beyond_the_range_of_exponentials_lists_answer() {
    let groups = ["5x10@1000000"];
    let (atoms, evaluator) = (atoms(&groups), sum(&groups).evaluator());
    let mut last = Enclosure::double(1.0, 64);
    for epsilon in ["984381680106", "998053647886", "999991527247", "1000002971417", "1000006000000"] {
        let epsilon = number(epsilon);
        let listed = atoms.hockey_stick(&epsilon, 6).unwrap();
        let contour = evaluator.by_contour(&epsilon, 6).unwrap();
        assert!(listed.met && listed.value.overlaps(&contour.value), "{epsilon}: {listed:?} {contour:?}");
        assert!(listed.value.lower() <= last.upper(), "{epsilon}");
        last = listed.value;
    }
    let rest = Enclosure::double(1.0, 400).sub(&atoms.hockey_stick(&number("999991527247"), 6).unwrap().value);
    assert!(rest.is_tight(6), "{rest:?}");
}

#[test]
fn values_near_zero_and_one_keep_their_digits() {
    let atoms = atoms(&["5x10", "7x3"]);
    let fine = atoms.hockey_stick(&number("60"), 60).unwrap();
    let coarse = atoms.hockey_stick(&number("60"), 12).unwrap();
    assert!(fine.met && coarse.met && fine.value.overlaps(&coarse.value));
    assert!(*fine.value.upper() < 1e-300 && *fine.value.lower() > 0);
    // The complement, where delta is close to 1.
    let large = super::tests::atoms(&["1/10x40"]);
    for epsilon in ["0", "3", "40"] {
        let [rest, finer] = [15, 45].map(|digits| {
            let delta = large.hockey_stick(&number(epsilon), digits).unwrap();
            let bits = delta.value.lower().prec();
            Enclosure::double(1.0, bits).sub(&delta.value)
        });
        assert!(rest.is_tight(15) && finer.is_tight(45) && rest.overlaps(&finer), "{epsilon}: {rest:?}");
        assert!(*rest.upper() < 1e-10);
    }
}

/// f by its definition on the enumerated law: the test that rejects the largest losses, randomised at the last.
fn tradeoff_by_enumeration(list: &[(Rational, Enclosure)], alpha: &Rational) -> Enclosure {
    let mut left = Enclosure::rational(alpha, 260);
    let mut beta = Enclosure::double(1.0, 260);
    for (loss, mass) in list.iter().rev() {
        let tilted = mass.mul(&Enclosure::rational(&-loss.clone(), 260).exp());
        if left.upper() < tilted.lower() {
            return beta.sub(&left.mul(&Enclosure::rational(loss, 260).exp()));
        }
        assert!(left.lower() > tilted.upper(), "alpha is a knot of the oracle");
        left = left.sub(&tilted);
        beta = beta.sub(mass);
    }
    beta
}

#[test]
fn the_tradeoff_is_that_of_the_best_test() {
    for groups in [
        vec!["discrete-laplace:1/2x3", "discrete-laplace:2/7@3"],
        vec!["1/20", "1/3@2"],
        vec!["1.3", "discrete-laplace:0.9x2@2"],
        vec!["5x3"],
    ] {
        let (atoms, list) = (atoms(&groups), enumerated(&groups));
        for alpha in ["1e-30", "1e-9", "0.003", "0.1", "0.362534", "0.5", "0.77", "0.99", "0.999999999"] {
            let alpha = number(alpha);
            let oracle = tradeoff_by_enumeration(&list, &alpha);
            for digits in [6, 12, 30] {
                let got = atoms.tradeoff(&alpha, digits).unwrap();
                let slack = Enclosure::new(Float::with_val(64, -1), Float::with_val(64, 1)).times_power_of_two(-180);
                assert!(got.value.overlaps(&oracle.add(&slack)), "{groups:?} at {alpha}: {got:?} {oracle:?}");
                assert!(got.met, "{groups:?} at {alpha}, {digits} digits: {got:?}");
            }
        }
    }
}

#[test]
fn knots_to_thirty_digits_and_both_ends_meet_the_width() {
    for groups in [
        vec!["5x10"],
        vec!["0.2x3"],
        vec!["13/25x3@2", "800001/100000@2"],
        vec!["discrete-laplace:153/100x20@18", "discrete-laplace:6/25@6"],
        vec!["1000x3"],
    ] {
        let sum = sum(&groups);
        let atoms = Atoms::new(&sum).unwrap();
        let mut alphas: Vec<Rational> = ["1e-300", "1e-30", "1e-12", "1/2"].map(number).to_vec();
        let close: Vec<Rational> = alphas.iter().map(|alpha| Rational::from(1 - alpha)).collect();
        alphas.extend(close);
        for multiple in [-2, -1, 0, 1, 2] {
            let loss = sum.at_most(&(Rational::from(&sum.offset().clone()) * multiple / 3_u32));
            let alpha = atoms.tilted_tail(&loss, 60).unwrap().value;
            let text = Float::with_val(110, alpha.lower()).to_string_radix(10, Some(30));
            let rounded = number(&text);
            alphas.extend((rounded < 1).then_some(rounded));
        }
        for alpha in alphas {
            for digits in [12, 25] {
                let got = atoms.tradeoff(&alpha, digits).unwrap();
                assert!(got.met, "{groups:?} at {alpha:?}, {digits} digits: {got:?}");
                let finer = atoms.tradeoff(&alpha, 50).unwrap();
                assert!(finer.met && finer.value.overlaps(&got.value), "{groups:?} at {alpha}: {got:?} {finer:?}");
            }
        }
    }
}

/// The trade-off function is its own inverse.
#[test]
fn the_tradeoff_is_symmetric() {
    let atoms = atoms(&["13/25x3@2", "800001/100000@2", "discrete-laplace:1/7@2"]);
    for alpha in ["1e-20", "1e-4", "0.1", "0.5"] {
        let alpha = number(alpha);
        let beta = atoms.tradeoff(&alpha, 30).unwrap().value;
        let back =
            [beta.upper(), beta.lower()].map(|end| atoms.tradeoff(&end.to_rational().unwrap(), 30).unwrap().value);
        assert!(back[0].lower() <= &alpha && back[1].upper() >= &alpha, "{alpha}: {beta:?} {back:?}");
    }
}

#[test]
fn an_answer_does_not_depend_on_earlier_requests() {
    let groups = ["3.1x2", "4.7x3", "2.9"];
    let used = atoms(&groups);
    for k in 0..12 {
        used.hockey_stick(&Rational::from((k, 2)), 9 + k as u32).unwrap();
    }
    let tiny = Atoms::within(&sum(&groups), 1e5).unwrap();
    for k in 0..12 {
        let epsilon = Rational::from((k, 3));
        let fresh = atoms(&groups).hockey_stick(&epsilon, 12).unwrap().value;
        assert_eq!(used.hockey_stick(&epsilon, 12).unwrap().value, fresh);
        assert_eq!(tiny.hockey_stick(&epsilon, 12).unwrap().value, fresh);
    }
    assert!(tiny.memory() < 200_000 && used.memory() > 0);
}

#[test]
fn sums_that_cannot_be_enumerated_are_refused_at_their_cost() {
    let query = Query::HockeyStick(number("1"));
    assert!(Atoms::new(&sum(&["gaussian:5"])).is_err());
    assert!(cost(&sum(&["gaussian:5", "5"]), &query, 12).seconds.is_infinite());
    let long = sum(&["1e9", "1.0001e9", "3e8"]);
    assert!(cost(&long, &query, 12).seconds > 100.0);
    assert!(Atoms::new(&long).unwrap().hockey_stick(&number("1"), 12).is_err());
    // Losses whose common lattice has more places than a key.
    let fine = sum(&[1, 2, 3, 4].map(|k| format!("5/{}", "1000000007".repeat(k + 2))));
    assert!(
        cost(&fine, &query, 12).seconds.is_infinite()
            && Atoms::new(&fine).unwrap().upper_tail(&number("1"), 9).is_err()
    );
    assert!(cost(&sum(&["discrete-laplace:1x1000000000000@1000"]), &query, 12).bytes > 1e9);
}

#[test]
fn predicted_lengths_are_those_of_the_lists() {
    for groups in coarse().into_iter().chain([
        vec!["3.1x2", "4.7x3", "2.9", "5.3x2"],
        vec!["500x3", "700.1x2"],
        vec!["discrete-laplace:153/100x20@18", "discrete-laplace:6/25@6"],
    ]) {
        let atoms = atoms(&groups);
        for query in [
            Query::HockeyStick(number("1")),
            Query::HockeyStick(number("9")),
            Query::UpperTail(number("2")),
            Query::TiltedTail(number("2")),
            Query::Tradeoff(number("1e-5")),
        ] {
            let predicted = atoms.cost(&query, 12).lengths;
            let answer = match &query {
                Query::HockeyStick(epsilon) => atoms.hockey_stick(epsilon, 12),
                Query::UpperTail(z) => atoms.upper_tail(z, 12),
                Query::TiltedTail(z) => atoms.tilted_tail(z, 12),
                Query::Tradeoff(alpha) => atoms.tradeoff(alpha, 12),
            };
            let Some(listing) = answer.unwrap().listing else { continue };
            let (predicted, listed) = (predicted.0 + predicted.1, (listing.lengths.0 + listing.lengths.1) as f64);
            let ratio = predicted / listed;
            assert!((0.3..4.0).contains(&ratio) || predicted < 60.0, "{groups:?} {query:?}: {predicted} for {listed}");
        }
    }
}

/// Just below a loss most of the mass is at it, and the complement of the answer is close to 1: the digits that cancel are requested as well.
#[test]
fn just_below_a_loss_a_small_answer_has_the_requested_precision() {
    let list = atoms(&["1/125x2@2"]);
    for epsilon in ["499.99999999999", "500.00000000001", "499.99"] {
        let epsilon = number(epsilon);
        let fine = list.hockey_stick(&epsilon, 60).unwrap().value;
        for digits in [3, 12, 20, 40] {
            let answer = list.hockey_stick(&epsilon, digits).unwrap();
            assert!(answer.met && answer.value.is_tight(digits), "{epsilon} {digits}: {answer:?}");
            assert!(answer.value.overlaps(&fine) && fine.is_tight(60), "{epsilon} {digits}: {answer:?} {fine:?}");
        }
    }
    // Only the losses 500 and 750 matter, the first with 1 - exp(-10^-11) = 9.99999999995e-12, the second with 2 exp(-125/2) = 1.43755651e-27.
    let delta = list.hockey_stick(&number("499.99999999999"), 20).unwrap().value;
    let [least, most] = ["9.9999999999500014375565e-12", "9.9999999999500014375566e-12"].map(number);
    assert!(*delta.lower() > least && *delta.upper() < most, "{delta:?}");
}

/// Thresholds that no key holds, in every width: far below one enumerated loss and among several, where all gaps together are small and where they
/// are not. The oracle sums over all losses in balls.
#[test]
fn thresholds_beyond_all_keys_keep_their_distance() {
    for digits in [3, 12, 30] {
        for (groups, epsilon) in [
            (vec!["discrete-laplace:1", "discrete-laplace:0.3333333333333333333333333333"], "1.333332"),
            (vec!["discrete-laplace:1", "discrete-laplace:0.3333333333333333333333333333"], "0.1"),
            (
                vec!["discrete-laplace:1.0000000000000000000000000000000000000001", "discrete-laplace:1/3"],
                "1.3333333333333333",
            ),
            (
                vec![
                    "discrete-laplace:1.0000000000000000000000000000000000000000000000000000000000000000000007",
                    "discrete-laplace:1/3",
                ],
                "1.3",
            ),
        ] {
            let sum = sum(&groups);
            let epsilon = parse(epsilon).unwrap();
            let bits = 300;
            let real = |x: &Rational| Enclosure::rational(x, bits);
            let one = || Enclosure::double(1.0, bits);
            let zero = || Enclosure::double(0.0, bits);
            // Of each count the loss is plus or minus its epsilon, with masses 1 / (1 + q) and q / (1 + q).
            let parameters: Vec<Rational> = sum.groups().iter().map(|group| group.law.parameter().clone()).collect();
            let mut truth = zero();
            for signs in 0..1_u32 << parameters.len() {
                let (mut loss, mut mass) = (Rational::new(), one());
                for (k, parameter) in parameters.iter().enumerate() {
                    let q = real(&Rational::from(-parameter)).exp();
                    let low = signs >> k & 1 == 1;
                    loss += if low { Rational::from(-parameter) } else { parameter.clone() };
                    mass = mass.mul(&if low { q.clone() } else { one() }).div(&one().add(&q));
                }
                if loss > epsilon {
                    truth = truth.add(&mass.mul(&real(&Rational::from(&epsilon - &loss)).exp_m1().negate()));
                }
            }
            let listed = Atoms::new(&sum).unwrap().hockey_stick(&epsilon, digits).unwrap();
            assert!(listed.met && listed.value.overlaps(&truth), "{groups:?} {digits}: {listed:?} {truth}");
        }
    }
}
