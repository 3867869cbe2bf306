//! The largest hockey stick of a family: E[(1 - exp(eps - L))_+] for L = L_p + L_q with p and q from a family of sums, or
//! for each L_p alone.
//!
//! The members have the same rho and only Gaussian terms, so one contour serves all pairs: the same real part, the same
//! heights of the nodes and the same cut. A group that occurs in several members is evaluated once for each node, in
//! balls. From there on all is done in doubles with errors that are carried along, so a pair costs a few additions a
//! node: twelve digits for hundreds of thousands of pairs.
//!
//! Pairs of one lattice step are of one kind: they share the kernel and the nodes. Where every step divides a period
//! that is not too long, each kind keeps its own lattice; otherwise all take the kernel on the line.
//!
//! The sieve is asked for the pairs (p, p) only: |F_p F_q| <= (|F_p|^2 + |F_q|^2) / 2, so what holds for the doubles of
//! two members holds for the pair. Where more digits are asked for than this gives, the pairs that may be the largest are
//! answered by themselves.

mod kinds;
mod sums;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

use num_complex::Complex64;
use rayon::prelude::*;
use rug::{Float, Rational};

use self::{
    kinds::Kind,
    sums::{Near, PairSum, Sums},
};
use super::{
    answer::{Certificate, Certified},
    law::{Group, Law},
    sum::LossSum,
};
use crate::{
    error::{Error, Result},
    numeric::{enclosure::Enclosure, rational},
};

/// Lattices up to this step are too fine to sweep their period, and the kernel on the line does as well.
const FINE: f64 = 5e-7;

/// A common multiple of the lattice steps up to this is no burden: the contour's period is longer anyway, or not much
/// shorter.
const LONGEST_COMMON: u32 = 30;

/// How many pairs are answered by themselves where the common contour does not tell the largest sharply enough.
const MOST_CONTENDERS: usize = 64;

/// A unit of a family: a pair of members, the smaller index first, or twice the same index.
pub type Pair = (usize, usize);

/// Which sums a family stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// L_p + L_q for all p <= q.
    Pairs,
    /// L_p for all p.
    Single,
}

/// The largest hockey stick of a family.
#[derive(Clone, Debug)]
pub struct Largest {
    /// Encloses the maximum.
    pub value: Enclosure,
    /// A unit at which it is attained, as far as the enclosures tell.
    pub pair: Pair,
    /// How many units may attain it.
    pub contenders: usize,
    /// How it was certified.
    pub certificate: Certificate,
    /// Whether the asked relative width was met.
    pub met: bool,
}

/// Sums to be compared, alone or in pairs.
#[derive(Debug)]
pub struct Family {
    members: Vec<LossSum>,
    units: Units,
    /// Twice each member.
    doubles: Vec<LossSum>,
    /// The different groups of all members, and which of them each member has.
    groups: Vec<Group>,
    of_member: Vec<Vec<usize>>,
    /// Whether one contour serves all.
    alike: bool,
    /// The pairs of each lattice step that is not too fine, and all other pairs.
    steps: BTreeMap<Rational, Vec<Pair>>,
    on_line: Vec<Pair>,
    /// The least common multiple of those steps.
    common: Option<Rational>,
    /// The sums of the units that were needed by themselves, with what their sieves have seen.
    alone: Mutex<HashMap<Pair, LossSum>>,
}

impl Family {
    /// A family of at least one member.
    pub fn new(members: Vec<Vec<Group>>, units: Units) -> Result<Self> {
        let twice = |groups: &Vec<Group>| LossSum::new(groups.iter().chain(groups).cloned());
        let doubles: Vec<LossSum> = members.iter().map(twice).collect::<Result<_>>()?;
        let members: Vec<LossSum> = members.into_iter().map(LossSum::new).collect::<Result<_>>()?;
        let Some(first) = members.first() else { return Err(Error::EmptyComposition) };
        let mut groups: Vec<Group> = members.iter().flat_map(|member| member.groups().iter().cloned()).collect();
        let key = |group: &Group| (group.law.clone(), group.shift, group.copies);
        groups.sort_by_cached_key(key);
        groups.dedup();
        let place = |group: &Group| groups.binary_search_by_key(&key(group), key).unwrap_or_default();
        let of_member = members.iter().map(|member| member.groups().iter().map(place).collect()).collect();
        let bounded = groups.iter().any(|group| matches!(group.law, Law::DiscreteLaplace { .. }));
        let equal = members.iter().all(|member| member.rho() == first.rho());
        let alike = units == Units::Pairs && equal && !bounded;
        let mut family = Family {
            members,
            units,
            doubles,
            groups,
            of_member,
            alike,
            steps: BTreeMap::new(),
            on_line: Vec::new(),
            common: None,
            alone: Mutex::default(),
        };
        if alike {
            for (p, q) in family.units() {
                let steps = family.members[p].step().zip(family.members[q].step());
                match steps.filter(|(a, b)| (*a).min(b).to_f64() > FINE).map(|(a, b)| rational::gcd(a, b)) {
                    Some(step) if step.to_f64() > FINE => family.steps.entry(step).or_default().push((p, q)),
                    _ => family.on_line.push((p, q)),
                }
            }
        }
        // lcm(a, b) = a b / gcd(a, b)
        let multiple = |a: Rational, b: Rational| Rational::from(&a * &b) / rational::gcd(&a, &b);
        family.common = family.steps.keys().cloned().reduce(multiple);
        if family.common.as_ref().is_some_and(|common| *common > LONGEST_COMMON) {
            (family.steps, family.common) = (BTreeMap::new(), None);
            family.on_line = family.units();
        }
        Ok(family)
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none, which [`Family::new`] refuses.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// All units, in order.
    pub fn units(&self) -> Vec<Pair> {
        let n = self.len();
        match self.units {
            Units::Pairs => (0..n).flat_map(|p| (p..n).map(move |q| (p, q))).collect(),
            Units::Single => (0..n).map(|p| (p, p)).collect(),
        }
    }

    /// The largest rho of all units.
    pub fn rho(&self) -> Rational {
        let largest = self.members.iter().map(LossSum::rho).max().cloned().unwrap_or_default();
        if self.units == Units::Pairs { largest * 2_u32 } else { largest }
    }

    /// The sum of one unit, which remembers its sieve from question to question.
    pub fn unit(&self, (p, q): Pair) -> Result<LossSum> {
        let mut alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sum) = alone.get(&(p, q)) {
            return Ok(sum.clone());
        }
        let sum = self.sum((p, q))?;
        alone.insert((p, q), sum.clone());
        Ok(sum)
    }

    /// The same, to be forgotten after one question.
    fn sum(&self, (p, q): Pair) -> Result<LossSum> {
        match self.units {
            Units::Single => Ok(self.members[p].clone()),
            Units::Pairs if p == q => Ok(self.doubles[p].clone()),
            Units::Pairs => LossSum::new(self.members[p].groups().iter().chain(self.members[q].groups()).cloned()),
        }
    }

    /// The largest hockey-stick divergence of all units, with a relative width of 10^-digits unless `met` says otherwise.
    pub fn largest(&self, epsilon: &Rational, digits: u32) -> Result<Largest> {
        let Some((largest, contenders)) = self.by_one_contour(epsilon, digits)? else {
            return largest_of(&self.units(), |pair| self.unit(pair), epsilon, digits);
        };
        if largest.met || contenders.len() > MOST_CONTENDERS {
            return Ok(largest);
        }
        let refined = largest_of(&contenders, |pair| self.unit(pair), epsilon, digits)?;
        let width = |x: &Enclosure| Float::with_val(64, x.upper() - x.lower());
        let narrower = width(&refined.value) < width(&largest.value);
        Ok(if refined.met || narrower { refined } else { largest })
    }

    /// The same for more digits than doubles carry: the common contour tells which units may be the largest, and each of
    /// them is answered by itself, however many they are.
    pub fn largest_sharply(&self, epsilon: &Rational, digits: u32) -> Result<Largest> {
        // Few enough that the first attempt of the common contour gives them.
        const ENOUGH_TO_TELL: u32 = 10;
        match self.by_one_contour(epsilon, digits.min(ENOUGH_TO_TELL))? {
            Some((largest, _)) if largest.value.is_tight(digits) => Ok(largest),
            Some((_, contenders)) => largest_of(&contenders, |pair| self.sum(pair), epsilon, digits),
            None => largest_of(&self.units(), |pair| self.sum(pair), epsilon, digits),
        }
    }

    /// Every unit's hockey stick, to about the asked digits.
    pub fn all(&self, epsilon: &Rational, digits: u32) -> Result<Vec<(Pair, Enclosure)>> {
        let Some((kinds, sums)) = self.sums(epsilon, digits, 0)? else {
            let each = |pair: &Pair| Ok((*pair, self.unit(*pair)?.hockey_stick(epsilon, digits)?.value));
            return self.units().par_iter().map(each).collect();
        };
        let of_kind = |(kind, of_kind): (&Kind, &Vec<PairSum>)| {
            let certify = |sum: &PairSum| {
                let certified = self.certify(kind, &sums.scale, sum.value - sum.error, sum.value + sum.error);
                (sum.pair, certified.value.clamp(0.0, 1.0))
            };
            of_kind.iter().map(certify).collect::<Vec<_>>()
        };
        Ok(kinds.iter().zip(&sums.of_kind).flat_map(of_kind).collect())
    }

    /// ln of the largest of all units in doubles, an approximation without proof.
    pub fn ln_largest_approx(&self, epsilon: &Rational) -> Result<f64> {
        let Some(kinds) = self.kinds(epsilon, 1e-13_f64.ln(), false)? else {
            let each = |pair: &Pair| self.unit(*pair)?.ln_hockey_stick_approx(epsilon);
            let all: Vec<f64> = self.units().par_iter().map(each).collect::<Result<_>>()?;
            return Ok(all.into_iter().fold(f64::NEG_INFINITY, f64::max));
        };
        let double = |value: &Complex64| Near { value: *value, error: 0.0 };
        let sums = self.trapezoid::<Complex64>(&kinds, (), double);
        let ln_best = |(kind, of_kind): (&Kind, &Vec<PairSum>)| {
            let best = of_kind.iter().fold(0.0, |best, sum| f64::max(best, sum.value));
            let c = rational::from_f64(kind.plan.c);
            let size = self.doubles[0].ln_size(&kind.question, &c, kind.question.start()).to_f64();
            size + best.ln() - kind.plan.divisor().to_f64().ln()
        };
        let best = kinds.iter().zip(&sums.of_kind).map(ln_best).fold(f64::NEG_INFINITY, f64::max);
        Ok(best + sums.scale.approximate())
    }

    /// The largest by the common contour, and the pairs that may attain it; nothing where no contour serves all.
    fn by_one_contour(&self, epsilon: &Rational, digits: u32) -> Result<Option<(Largest, Vec<Pair>)>> {
        const ATTEMPTS: u32 = 3;
        // More than doubles can give.
        let asked = digits.min(12);
        for attempt in 0..ATTEMPTS {
            let Some((kinds, sums)) = self.sums(epsilon, asked, attempt)? else { return Ok(None) };
            let of_kind =
                kinds.iter().zip(&sums.of_kind).map(|(kind, of_kind)| self.largest_of_kind(kind, of_kind, &sums.scale));
            let of_kind: Vec<OfKind> = of_kind.collect();
            let lower = |of_kind: &OfKind| of_kind.largest.value.lower().clone();
            let Some(best) = of_kind.iter().max_by(|a, b| lower(a).total_cmp(&lower(b))) else { return Ok(None) };
            let value = of_kind.iter().fold(best.largest.value.clone(), |value, other| value.max(&other.largest.value));
            let spent = kinds.iter().any(|kind| kind.plan.spent);
            let met = value.is_tight(digits);
            if met || attempt + 1 == ATTEMPTS || spent || value.is_tight(asked) {
                let contenders: Vec<Pair> = of_kind.iter().flat_map(|of_kind| of_kind.above(value.lower())).collect();
                let largest = Largest { value, contenders: contenders.len(), met, ..best.largest.clone() };
                return Ok(Some((largest, contenders)));
            }
        }
        Ok(None)
    }

    fn largest_of_kind<'a>(&self, kind: &Kind, sums: &'a [PairSum], scale: &Enclosure) -> OfKind<'a> {
        let (mut low, mut high, mut pair) = (f64::NEG_INFINITY, f64::NEG_INFINITY, (0, 0));
        for sum in sums {
            if sum.value - sum.error > low {
                (low, pair) = (sum.value - sum.error, sum.pair);
            }
            high = high.max(sum.value + sum.error);
        }
        let certified = self.certify(kind, scale, low, high);
        let unit = Float::with_val(64, certified.value.upper() / Float::with_val(64, high));
        let certificate = certified.certificate;
        let value = certified.value.clamp(0.0, 1.0);
        OfKind { largest: Largest { value, pair, contenders: 0, certificate, met: false }, sums, unit }
    }

    fn sums(&self, epsilon: &Rational, digits: u32, attempt: u32) -> Result<Option<(Vec<Kind>, Sums)>> {
        let guard = 2.3 + 9.0 * f64::from(attempt);
        let kinds = self.kinds(epsilon, -(f64::from(digits) * std::f64::consts::LN_10 + guard), true)?;
        Ok(kinds.map(|kinds| {
            let sums = self.trapezoid(&kinds, PAIR_BITS, Near::of);
            (kinds, sums)
        }))
    }

    /// From an interval for a trapezoid sum to the answer: all pairs have the same rho and no bounded terms, so one
    /// speaks for all.
    fn certify(&self, kind: &Kind, scale: &Enclosure, low: f64, high: f64) -> Certified {
        let sum = &self.doubles[0];
        let errors = sum.errors(&kind.question, &kind.plan);
        let interval = Enclosure::new(Float::with_val(53, low), Float::with_val(53, high));
        sum.certify(&kind.question, &kind.plan, interval, scale, PAIR_BITS, &errors)
    }
}

/// The largest of the units asked for, each by itself.
fn largest_of(
    units: &[Pair],
    sum: impl Fn(Pair) -> Result<LossSum> + Sync,
    epsilon: &Rational,
    digits: u32,
) -> Result<Largest> {
    let each = |pair: &Pair| Ok((*pair, sum(*pair)?.hockey_stick(epsilon, digits)?));
    let answers = units.par_iter().map(each).collect::<Result<Vec<_>>>()?;
    let mut best: Option<Largest> = None;
    for (pair, answer) in &answers {
        let own = || Largest {
            value: answer.value.clone(),
            pair: *pair,
            contenders: 0,
            certificate: answer.certificate.clone(),
            met: false,
        };
        best = Some(match best {
            None => own(),
            Some(best) => {
                let value = best.value.max(&answer.value);
                let ahead = answer.value.lower() > best.value.lower();
                if ahead { Largest { value, ..own() } } else { Largest { value, ..best } }
            }
        });
    }
    let best = best.ok_or(Error::EmptyComposition)?;
    let contenders = answers.iter().filter(|(_, answer)| answer.value.upper() >= best.value.lower()).count();
    let met = best.value.is_tight(digits) || answers.iter().all(|(_, answer)| answer.met);
    Ok(Largest { contenders, met, ..best })
}

/// The largest of a kind.
struct OfKind<'a> {
    largest: Largest,
    sums: &'a [PairSum],
    /// What a trapezoid sum of one stands for, about.
    unit: Float,
}

impl OfKind<'_> {
    /// The pairs that may be as large as `lower`.
    fn above(&self, lower: &Float) -> impl Iterator<Item = Pair> {
        let value = &self.largest.value;
        // What was left out for all may speak for either of two pairs, in units of the sums.
        let slack = (Float::with_val(64, value.upper() - value.lower()) / &self.unit).to_f64() * 2.0;
        let lower = Float::with_val(64, lower / &self.unit).to_f64();
        let may_be = move |sum: &&PairSum| sum.value + sum.error + slack >= lower * (1.0 - 1e-15);
        self.sums.iter().filter(may_be).map(|sum| sum.pair)
    }
}

/// The precision of the balls before they become doubles.
const PAIR_BITS: u32 = 64;

#[cfg(test)]
mod tests {
    use super::{sums::Sum, *};
    use crate::numeric::rational::parse;

    fn gaussians(list: &[(&str, u64)]) -> Vec<Group> {
        let law = |sigma2: &str| Law::DiscreteGaussian { sigma2: parse(sigma2).unwrap() };
        list.iter().map(|(sigma2, copies)| Group { law: law(sigma2), shift: 1, copies: *copies }).collect()
    }

    /// Every pair against its own sum, on lattices of different steps and on the line.
    #[test]
    fn pairs_agree_with_their_sums_one_by_one() {
        for members in [
            // 1 / sigma2: ten of 1/5; four of 1/2; three of 1/3 and five of 1/5: rho 1 each, steps 1/5, 1/2, 1/15.
            vec![gaussians(&[("5", 10)]), gaussians(&[("2", 4)]), gaussians(&[("3", 3), ("5", 5)])],
            // Denominators that no sweep of a period can settle.
            vec![gaussians(&[("40990001/4097", 5)]), gaussians(&[("40990001/4099", 3), ("40990001/4094", 2)])],
        ] {
            let family = Family::new(members.clone(), Units::Pairs).unwrap();
            for epsilon in ["0.3", "2", "9"] {
                let epsilon = parse(epsilon).unwrap();
                let answers = family.all(&epsilon, 10).unwrap();
                assert_eq!(answers.len(), members.len() * (members.len() + 1) / 2);
                let mut largest = f64::NEG_INFINITY;
                for ((p, q), value) in answers {
                    let alone = LossSum::new(members[p].iter().chain(&members[q]).cloned()).unwrap();
                    let alone = alone.hockey_stick(&epsilon, 12).unwrap().value;
                    assert!(value.overlaps(&alone), "{p} {q} {epsilon} {value:?} {alone:?}");
                    largest = largest.max(value.ln().approximate());
                }
                let ln = family.ln_largest_approx(&epsilon).unwrap();
                let certified = family.largest(&epsilon, 10).unwrap();
                assert!(certified.met && (certified.value.ln().approximate() - largest).abs() < 1e-9, "{certified:?}");
                assert!((ln - largest).abs() < 1e-9 * largest.abs().max(1.0), "{epsilon} {ln} {largest}");
            }
        }
    }

    /// Two members of equal rho whose lattices are far too fine to sweep: all pairs on the line.
    #[test]
    fn fine_lattices_take_the_line() {
        let members = vec![
            gaussians(&[("40990001/4097", 4097), ("40990001/4099", 4099)]),
            gaussians(&[("40990001/8196", 4098), ("40990001/2", 1)]),
        ];
        let rho = |member: &Vec<Group>| LossSum::new(member.clone()).unwrap().rho().clone();
        // 4097^2 + 4099^2 = 8196 x 4098 + 2
        assert_eq!(rho(&members[0]), rho(&members[1]));
        let family = Family::new(members.clone(), Units::Pairs).unwrap();
        let epsilon = parse("3").unwrap();
        assert!(family.steps.is_empty());
        for ((p, q), value) in family.all(&epsilon, 6).unwrap() {
            let alone = LossSum::new(members[p].iter().chain(&members[q]).cloned()).unwrap();
            let alone = alone.hockey_stick(&epsilon, 8).unwrap().value;
            assert!(value.overlaps(&alone) && value.is_tight(5), "{p} {q} {value:?} {alone:?}");
        }
    }

    /// Members of unequal rho, bounded losses and members alone are answered one by one.
    #[test]
    fn members_that_share_no_contour_are_compared_all_the_same() {
        let laplace = Group { law: Law::DiscreteLaplace { epsilon: parse("1").unwrap() }, shift: 1, copies: 1 };
        let unequal = vec![gaussians(&[("5", 10)]), gaussians(&[("5", 9)])];
        let bounded = vec![gaussians(&[("5", 10)]), [gaussians(&[("5", 9)]), vec![laplace]].concat()];
        let epsilon = parse("2").unwrap();
        for (members, units) in [(&unequal, Units::Pairs), (&bounded, Units::Pairs), (&bounded, Units::Single)] {
            let family = Family::new(members.clone(), units).unwrap();
            let largest = family.largest(&epsilon, 10).unwrap();
            let all = family.all(&epsilon, 10).unwrap();
            assert_eq!(all.len(), if units == Units::Pairs { 3 } else { 2 });
            let (pair, value) = all.iter().max_by(|a, b| a.1.lower().total_cmp(b.1.lower())).unwrap();
            assert!(largest.met && largest.pair == *pair && largest.value.overlaps(value), "{largest:?} {value:?}");
            let sum = family.unit(*pair).unwrap().hockey_stick(&epsilon, 12).unwrap();
            assert!(largest.value.overlaps(&sum.value));
        }
        assert!(Family::new(Vec::new(), Units::Pairs).is_err());
    }

    /// The doubles carry their errors: products and sums of hundreds of numbers against exact arithmetic.
    #[test]
    fn doubles_know_how_near_they_are() {
        let number =
            |k: i64| (Rational::from((k * 7919 % 1000 - 500, 997)), Rational::from((k * 104_729 % 1000 - 500, 991)));
        let near = |(re, im): &(Rational, Rational)| {
            let value = Complex64::new(re.to_f64(), im.to_f64());
            Near { value, error: value.norm() * f64::EPSILON }
        };
        let mut sum = Sum::default();
        let mut exact = Rational::new();
        for k in 1..500 {
            let (a, b, c) = (number(k), number(3 * k + 1), number(k * k + 2));
            // Re(a b c)
            let re = Rational::from(&a.0 * &b.0) - Rational::from(&a.1 * &b.1);
            let im = Rational::from(&a.0 * &b.1) + Rational::from(&a.1 * &b.0);
            exact += re * &c.0 - im * &c.1;
            sum.add(&near(&a).mul(near(&b)), &near(&c));
        }
        let off = (Rational::from_f64(sum.value).unwrap() - exact).abs().to_f64();
        assert!(off <= sum.error() && sum.error() < 1e-10, "{off} {}", sum.error());
    }
}
