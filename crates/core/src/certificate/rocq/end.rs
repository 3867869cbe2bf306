//! One end of a formal claim.

use rug::Rational;

use super::{
    infinite::Kept,
    number::{Number, unprovable},
    walk::{MARGIN, Side, Walk},
};
use crate::{
    certificate::ends::{round_down, round_up},
    error::Result,
    law::Group,
    numeric::rational,
};

/// The fewest and the most significant digits of an epsilon.
const DIGITS: std::ops::Range<u32> = 3..9;
/// Digits of a delta.
pub(super) const DELTA_DIGITS: u32 = 6;

/// One end: delta at an epsilon, and the walk that bounds it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct End {
    pub(super) epsilon: Rational,
    pub(super) delta: Rational,
    /// delta of the finite losses, where others are infinite.
    finite: Option<Rational>,
    pub(super) walk: Walk,
}

impl End {
    /// delta(epsilon) is at most, or above, the given delta; `None` if 30 bits do not show it.
    pub(super) fn new(path: &[&Group], epsilon: &Rational, delta: &Rational, side: Side) -> Result<Option<End>> {
        let walk = Walk::new(path, epsilon, side)?;
        let finite = Kept::of_path(path)?.map(|kept| kept.of_finite(delta, side)).transpose()?;
        let shown = libm::log(finite.as_ref().unwrap_or(delta).to_f64());
        let holds = match (walk.ln_delta(epsilon), side) {
            (None, _) => false,
            (Some(ln), Side::Above) => ln < shown - MARGIN,
            (Some(ln), Side::Below) => ln > shown + MARGIN,
        };
        Ok(holds.then(|| End { epsilon: epsilon.clone(), delta: delta.clone(), finite, walk }))
    }

    /// The bound of delta(epsilon) that the walk shows.
    pub(super) fn of_delta(path: &[&Group], epsilon: &Rational, side: Side, digits: u32) -> Result<End> {
        let walk = Walk::new(path, epsilon, side)?;
        let ln = walk.ln_delta(epsilon).ok_or_else(|| unprovable("show no delta with 30 bits here"))?;
        let delta = match side {
            Side::Above => libm::exp(ln + MARGIN),
            Side::Below => libm::exp(ln - MARGIN),
        };
        if !delta.is_normal() {
            return Err(unprovable("are not made for a delta below 1e-307"));
        }
        let rounded =
            |delta: &Rational| if side == Side::Above { round_up(delta, digits) } else { round_down(delta, digits) };
        let delta = rounded(&rational::from_f64(delta)?);
        let (delta, finite) = match Kept::of_path(path)? {
            Some(kept) => (rounded(&kept.of_all(&delta, side)), Some(delta)),
            None => (delta, None),
        };
        Ok(End { epsilon: epsilon.clone(), delta, finite, walk })
    }

    /// One end of the smallest epsilon, as close to the certified one as the rounding of the rows allows.
    pub(super) fn of_epsilon(path: &[&Group], delta: &Rational, certified: &Rational, side: Side) -> Result<End> {
        let finite = Kept::of_path(path)?.map(|kept| kept.of_finite(delta, side)).transpose()?;
        let few = || unprovable("have three digits at least, and 30 bits do not show as many here");
        // There the bound misses delta by a little; ln(delta) falls by about the tilt in one unit of epsilon.
        let walk = Walk::new(path, certified, side)?;
        let ln_shown = libm::log(finite.as_ref().unwrap_or(delta).to_f64());
        let missing = (walk.ln_delta(certified).ok_or_else(few)? - ln_shown).abs() + 2.0 * MARGIN;
        let step = 1.2 * missing / walk.tilt();
        let away = rational::from_f64(step)?;
        let magnitude = libm::log10(certified.to_f64()).floor() - libm::log10(step).floor() + 1.0;
        let most = if magnitude < f64::from(DIGITS.end) { magnitude as u32 } else { DIGITS.end };
        for digits in (DIGITS.start..=most).rev() {
            let epsilon = match side {
                Side::Above => round_up(&Rational::from(certified + &away), digits),
                Side::Below => round_down(&Rational::from(certified - &away).max(Rational::new()), digits),
            };
            if let Some(end) = End::new(path, &epsilon, delta, side)? {
                return Ok(end);
            }
        }
        Err(few())
    }

    /// Whether some losses are infinite.
    pub(super) fn is_infinite(&self) -> bool {
        self.finite.is_some()
    }

    /// The certificate for Rocq, with this name.
    pub(super) fn definition(&self, name: &str) -> String {
        let shown = self.finite.as_ref().unwrap_or(&self.delta);
        let (epsilon, delta) = (Number::new(&self.epsilon), Number::new(shown));
        let fields = self.walk.text(&self.epsilon, [&epsilon.fields(), &delta.fields()], self.is_infinite());
        format!("Definition {name} : certificate := {fields}\n")
    }

    /// The lemma that its computation answers true.
    pub(super) fn lemma(&self, name: &str) -> String {
        let computation = self.walk.computation(name, self.finite.as_ref().map(|_| &self.delta));
        format!("Lemma {name}_holds : {computation} = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n\n")
    }
}
