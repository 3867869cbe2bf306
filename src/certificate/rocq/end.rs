//! One end of a formal claim.

use rug::Rational;

use super::{
    number::{Number, unprovable},
    walk::{MARGIN, Side, Walk},
};
use crate::{
    certificate::ends::{round_down, round_up},
    error::Result,
    law::Group,
    numeric::rational,
};

/// Digits of a delta.
pub(super) const DELTA_DIGITS: u32 = 6;

/// One end: delta at an epsilon, and the walk that bounds it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct End {
    pub(super) epsilon: Rational,
    pub(super) delta: Rational,
    pub(super) walk: Walk,
}

impl End {
    /// delta(epsilon) is at most, or above, the given delta; `None` if 30 bits do not show it.
    pub(super) fn new(path: &[&Group], epsilon: &Rational, delta: &Rational, side: Side) -> Result<Option<End>> {
        let walk = Walk::new(path, epsilon, side)?;
        let holds = match (walk.ln_delta(epsilon), side) {
            (None, _) => false,
            (Some(ln), Side::Above) => ln < delta.to_f64().ln() - MARGIN,
            (Some(ln), Side::Below) => ln > delta.to_f64().ln() + MARGIN,
        };
        Ok(holds.then(|| End { epsilon: epsilon.clone(), delta: delta.clone(), walk }))
    }

    /// The bound of delta(epsilon) that the walk shows.
    pub(super) fn of_delta(path: &[&Group], epsilon: &Rational, side: Side, digits: u32) -> Result<End> {
        let walk = Walk::new(path, epsilon, side)?;
        let ln = walk.ln_delta(epsilon).ok_or_else(|| unprovable("show no delta with 30 bits here"))?;
        let delta = match side {
            Side::Above => (ln + MARGIN).exp(),
            Side::Below => (ln - MARGIN).exp(),
        };
        if !delta.is_normal() {
            return Err(unprovable("are not made for a delta below 1e-307"));
        }
        let delta = rational::from_f64(delta)?;
        let delta = if side == Side::Above { round_up(&delta, digits) } else { round_down(&delta, digits) };
        Ok(End { epsilon: epsilon.clone(), delta, walk })
    }

    /// The certificate for Rocq, with this name.
    pub(super) fn definition(&self, name: &str) -> String {
        let (epsilon, delta) = (Number::new(&self.epsilon), Number::new(&self.delta));
        let fields = self.walk.text(&self.epsilon, [&epsilon.fields(), &delta.fields()]);
        format!("Definition {name} : certificate := {fields}\n")
    }

    /// The lemma that its computation answers true.
    pub(super) fn lemma(&self, name: &str) -> String {
        let computation = self.walk.computation(name);
        format!("Lemma {name}_holds : {computation} = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n\n")
    }
}
