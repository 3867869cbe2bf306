//! The contour that all pairs of a family share: the largest of their hockey sticks, and which pairs may attain it.

use std::{cmp::Ordering, collections::BTreeSet, sync::Arc};

use num_complex::Complex64;
use rug::{Float, Rational, float::Round};

use super::{
    kinds::Kind,
    members::Family,
    pairs::Pairs,
    shared::{SharedKind, SharedKinds},
    sieved::SievedFamily,
    sums::{PairSum, Sums},
};
use crate::{
    error::{Error, Result},
    loss::{
        answer::{Answer, ContourProof, Pair, Proof},
        contour::ln_share,
        near::NearDouble,
    },
    numeric::{
        Enclosure, precision,
        twofold::{ComplexTwofold, Twofold},
    },
};

/// The number of digits that sums of doubles nearly always give, and that of sums of sums of two doubles.
const IN_DOUBLES: u32 = 10;
const IN_TWOFOLDS: u32 = 22;

/// The precision of the factors that multiply sums in doubles.
const BITS: u32 = 64;

/// The contour that the pairs of a family share.
#[derive(Debug)]
pub(crate) struct CommonContour {
    sieved: SievedFamily,
    shared: SharedKinds,
}

/// The largest hockey stick of a family by the common contour.
#[derive(Clone, Debug)]
pub(crate) struct Largest {
    /// Encloses the maximum.
    pub value: Enclosure,
    /// A unit at which it is attained, as far as the enclosures show.
    pub pair: Pair,
    /// How it was certified.
    pub proof: ContourProof,
}

impl Largest {
    /// As an answer of the requested precision, with this number of units that may be the largest.
    pub(crate) fn into_answer(self, contenders: usize) -> Answer {
        let proof = Proof::from(self.proof).of_pair(self.pair, contenders);
        Answer { value: self.value, proof, met: true }
    }
}

impl CommonContour {
    /// The contour of a family, with nothing swept yet.
    pub(crate) fn new(family: Arc<Family>) -> Self {
        CommonContour { sieved: SievedFamily::new(family), shared: SharedKinds::default() }
    }

    /// Every unit's hockey stick by the common contour, to about the requested digits; `None` if no contour serves all.
    pub(crate) fn all_by_one_contour(&self, epsilon: &Rational, digits: u32) -> Result<Option<Vec<(Pair, Enclosure)>>> {
        let Some(summed) = self.summed(epsilon, digits, 0, None)? else { return Ok(None) };
        let of_kind = |(kind, of_kind): (&Kind, &Vec<PairSum>)| {
            let certify = |(pair, sum): (Pair, &PairSum)| {
                let (value, _) = self.certify(kind, &summed, (sum.lower(), sum.upper()));
                (pair, value.clamp(0.0, 1.0))
            };
            kind.pairs.iter().zip(of_kind).map(certify).collect::<Vec<_>>()
        };
        Ok(Some(summed.kinds.iter().zip(&summed.sums.of_kind).flat_map(of_kind).collect()))
    }

    /// ln of the largest of all units in doubles, an approximation without proof, and the unit; `None` if no contour serves all.
    pub(crate) fn largest_approx(&self, epsilon: &Rational) -> Result<Option<(f64, Pair)>> {
        let Some(kinds) = self.sieved.kinds(epsilon, libm::log(1e-13_f64), false, None)? else { return Ok(None) };
        let double = |value: &Complex64| NearDouble { value: *value, error: 0.0 };
        let sums = self.sieved.trapezoid::<Complex64, _>(&kinds, (), BITS, double);
        let of_kind = |(kind, of_kind): (&Kind, &Vec<PairSum>)| {
            let numbers = kind.pairs.iter().zip(of_kind).filter(|(_, sum)| !sum.value.hi().is_nan());
            let (pair, best) = numbers.max_by(|a, b| a.1.value.hi().total_cmp(&b.1.value.hi()))?;
            let size =
                self.sieved.family.double.ln_size(&kind.question, &kind.plan.exact_c, kind.question.start()).to_f64();
            Some((size + libm::log(best.value.hi().max(0.0)) - libm::log(kind.plan.divisor().to_f64()), pair))
        };
        let best = kinds.iter().zip(&sums.of_kind).filter_map(of_kind).max_by(|a, b| a.0.total_cmp(&b.0));
        Ok(best.map(|(ln, pair)| (ln + sums.scale.approximate(), pair)))
    }

    /// The largest hockey stick by the common contour, and the units that may attain it; `None` if no contour serves all.
    ///
    /// First all units in doubles. If these do not separate the largest from the others sharply enough, those that may be it once more, in sums of
    /// two doubles: an enclosure of their largest encloses that of all.
    pub(crate) fn by_one_contour(&self, epsilon: &Rational, digits: u32) -> Result<Option<(Largest, Vec<Pair>)>> {
        const ATTEMPTS: u32 = 3;
        let Some(first) = self.summed(epsilon, digits.min(IN_DOUBLES), 0, None)? else { return Ok(None) };
        let Some((mut largest, mut contenders)) = self.largest(&first) else { return Ok(None) };
        drop(first);
        for attempt in 0..ATTEMPTS {
            if largest.value.is_tight(digits) {
                break;
            }
            let among: BTreeSet<Pair> = contenders.iter().copied().collect();
            let asked = digits.clamp(IN_DOUBLES + 1, IN_TWOFOLDS);
            let Some(again) = self.summed(epsilon, asked, attempt, Some(&among))? else { break };
            let Some((next, still)) = self.largest(&again) else { break };
            let exhausted = again.kinds.iter().any(|kind| kind.plan.exhausted);
            // Both enclose the largest of all, and each names all that may attain it.
            let Some(value) = largest.value.meet(&next.value) else {
                return Err(Error::Contradiction { what: "the largest of a family" });
            };
            contenders = still;
            largest = Largest { value, ..next };
            if exhausted || largest.value.is_tight(asked) {
                break;
            }
        }
        Ok(Some((largest, contenders)))
    }

    /// The same by a contour that requests close to one another share, with at most as many digits as sums of two doubles carry.
    pub(crate) fn by_shared_contour(&self, epsilon: &Rational, digits: u32) -> Result<Option<(Largest, Vec<Pair>)>> {
        let Some(shared) = self.shared_contour(epsilon, digits)? else { return Ok(None) };
        let summed = self.summed_on(&shared, epsilon, digits);
        let Some((largest, contenders)) = self.largest(&summed) else { return Ok(None) };
        if largest.value.is_tight(digits) {
            return Ok(Some((largest, contenders)));
        }
        let among: BTreeSet<Pair> = contenders.into_iter().collect();
        let (bits, kinds) = (summed.bits, summed.kinds.iter().map(|kind| kind.among(&among)).collect::<Vec<Kind>>());
        let sums = shared.sums(&self.sieved, &kinds, false);
        // Kinds without a contender are left out.
        let (kinds, of_kind) = kinds.into_iter().zip(sums.of_kind).filter(|(_, sums)| !sums.is_empty()).unzip();
        Ok(self.largest(&Summed { kinds, sums: Sums { of_kind, ..sums }, bits }))
    }

    /// A unit that attains the largest at the middle of the cell of this request, as far as doubles resolve it.
    pub(crate) fn leader_of_shared_contour(&self, epsilon: &Rational, digits: u32) -> Result<Option<Pair>> {
        let Some(shared) = self.shared_contour(epsilon, digits)? else { return Ok(None) };
        if let Some(leader) = shared.leader.get() {
            return Ok(*leader);
        }
        // Not within the cell of the value: the sums are on all threads, of which one may come here again.
        let largest = self.largest(&self.summed_on(&shared, &shared.middle, digits));
        Ok(*shared.leader.get_or_init(|| largest.map(|(largest, _)| largest.pair)))
    }

    /// The contour that requests to this number of digits share; `None` where there is none.
    fn shared_contour(&self, epsilon: &Rational, digits: u32) -> Result<Option<Arc<SharedKind>>> {
        if digits > IN_TWOFOLDS {
            return Ok(None);
        }
        self.shared.kind(&self.sieved, epsilon, digits.max(IN_DOUBLES))
    }

    /// The sums of all units in doubles on such a contour.
    fn summed_on(&self, shared: &SharedKind, epsilon: &Rational, digits: u32) -> Summed {
        let kinds = shared.kinds(&self.sieved, epsilon);
        let sums = shared.sums(&self.sieved, &kinds, true);
        Summed { kinds, sums, bits: precision::bits(digits.max(IN_DOUBLES), 40) }
    }

    /// The units whose hockey stick may exceed `floor`, as far as this contour shows; `None` if no contour serves all. All are compared in doubles,
    /// and those that doubles do not resolve in sums of two doubles.
    pub(crate) fn may_exceed(&self, epsilon: &Rational, floor: &Float, digits: u32) -> Result<Option<Vec<Pair>>> {
        let mut among: Option<BTreeSet<Pair>> = None;
        for digits in [IN_DOUBLES, digits.clamp(IN_DOUBLES + 1, IN_TWOFOLDS)] {
            let Some(summed) = self.summed(epsilon, digits, 0, among.as_ref())? else { break };
            let mut remaining = BTreeSet::new();
            for (kind, sums) in summed.kinds.iter().zip(&summed.sums.of_kind) {
                let Some(of_kind) = self.largest_of_kind(kind, &summed, sums) else { return Ok(None) };
                remaining.extend(of_kind.above(floor));
            }
            among = Some(remaining);
        }
        Ok(among.map(|among| among.into_iter().collect()))
    }

    /// The largest of the sums, and the units that may attain it; `None` where a sum is not finite.
    fn largest(&self, summed: &Summed) -> Option<(Largest, Vec<Pair>)> {
        let of_kind = summed.kinds.iter().zip(&summed.sums.of_kind);
        let of_kind: Vec<OfKind> =
            of_kind.map(|(kind, sums)| self.largest_of_kind(kind, summed, sums)).collect::<Option<_>>()?;
        let lower = |of_kind: &&OfKind| of_kind.largest.value.lower().clone();
        let best = of_kind.iter().max_by(|a, b| lower(a).total_cmp(&lower(b)))?;
        let value = of_kind.iter().fold(best.largest.value.clone(), |value, other| value.max(&other.largest.value));
        let contenders = of_kind.iter().flat_map(|of_kind| of_kind.above(value.lower())).collect();
        Some((Largest { value, ..best.largest.clone() }, contenders))
    }

    /// The largest of one kind, which has at least one pair.
    fn largest_of_kind<'a>(&self, kind: &'a Kind, summed: &Summed, sums: &'a [PairSum]) -> Option<OfKind<'a>> {
        if !sums.iter().all(|sum| sum.value.hi().is_finite() && sum.error.is_finite()) {
            return None;
        }
        let ahead = |a: &(Twofold, Pair), b: &(Twofold, Pair)| a.0 >= b.0;
        let lower = kind.pairs.iter().zip(sums).map(|(pair, sum)| (sum.lower(), pair));
        let (low, pair) = lower.reduce(|best, next| if ahead(&best, &next) { best } else { next })?;
        let high = sums.iter().map(PairSum::upper).reduce(|best, next| if best >= next { best } else { next })?;
        let (value, proof) = self.certify(kind, summed, (low, high));
        let double = &self.sieved.family.double;
        let unit = double.prefactor(&kind.question, &kind.plan, &summed.sums.scale, summed.bits);
        let top = Top { sum: high, answer: value.upper().clone(), unit: unit.lower().clone() };
        Some(OfKind { largest: Largest { value: value.clamp(0.0, 1.0), pair, proof }, pairs: &kind.pairs, sums, top })
    }

    /// The sums of all units, or of some, for this number of digits.
    fn summed(
        &self,
        epsilon: &Rational,
        digits: u32,
        attempt: u32,
        among: Option<&BTreeSet<Pair>>,
    ) -> Result<Option<Summed>> {
        let ln_share = ln_share(digits) - 9.0 * f64::from(attempt);
        let Some(kinds) = self.sieved.kinds(epsilon, ln_share, true, among)? else { return Ok(None) };
        let (bits, sums) = if digits <= IN_DOUBLES {
            (BITS, self.sieved.trapezoid(&kinds, (), BITS, NearDouble::of_ball))
        } else {
            let bits = precision::bits(digits, 40);
            (bits, self.sieved.trapezoid(&kinds, (), bits, |value: &ComplexTwofold| *value))
        };
        Ok(Some(Summed { kinds, sums, bits }))
    }

    /// From an interval for a trapezoid sum to the answer: all pairs have the same rho and the same bounded terms, so the bounds of one hold for all.
    fn certify(&self, kind: &Kind, summed: &Summed, (low, high): (Twofold, Twofold)) -> (Enclosure, ContourProof) {
        let sum = &self.sieved.family.double;
        let errors = sum.errors(&kind.question, &kind.plan);
        let interval = Enclosure::new(low.float(), high.float());
        sum.certify(&kind.question, &kind.plan, interval, &summed.sums.scale, summed.bits, &errors)
    }
}

/// The contours of all kinds of pairs with the sums on them, from balls of this number of bits.
struct Summed {
    kinds: Vec<Kind>,
    sums: Sums,
    bits: u32,
}

/// The largest of a kind.
struct OfKind<'a> {
    largest: Largest,
    pairs: &'a Pairs,
    sums: &'a [PairSum],
    top: Top,
}

/// The largest sum of a kind.
struct Top {
    /// Its upper end.
    sum: Twofold,
    /// The upper end of the answer that belongs to it.
    answer: Float,
    /// Lower bound on the change of the answer for a unit of a sum.
    unit: Float,
}

impl OfKind<'_> {
    /// The pairs that may be as large as `lower`.
    ///
    /// All share the bound on the truncation error, so a sum that is at most s belongs to an answer of at most top.answer - (top.sum - s) unit,
    /// for either sign: below `lower` where top.sum - s > (top.answer - lower) / unit.
    fn above(&self, lower: &Float) -> impl Iterator<Item = Pair> {
        let room = Float::with_val_round(64, &self.top.answer - lower, Round::Up).0;
        let slack = Float::with_val_round(64, &room / &self.top.unit, Round::Up).0.to_f64_round(Round::Up);
        // Four roundings of doubles, each at most half a unit in the last place of the larger number.
        let rounding = 4.0 * f64::EPSILON * (self.top.sum.hi().abs() + slack.abs());
        let least = Twofold::double(self.top.sum.hi() - slack - rounding);
        // A NaN excludes nothing.
        let may_be = move |sum: &PairSum| sum.upper().partial_cmp(&least) != Some(Ordering::Less);
        self.pairs.iter().zip(self.sums).filter(move |(_, sum)| may_be(sum)).map(|(pair, _)| pair)
    }
}
