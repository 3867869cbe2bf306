//! The tables for the sum over all outputs of two levels that do not depend on the output: masses, and bounds in
//! doubles on the factors of the comparison in [`decision`](super::decision).

use std::cell::OnceCell;

use rug::Rational;

use super::{
    exp,
    hierarchical::{Hierarchy, Upper},
    others::MassTable,
};
use crate::{
    error::{Error, Result},
    numeric::Enclosure,
};

/// Precisions at which a close call is evaluated again.
pub(super) const CLOSE_CALL_BITS: [u32; 4] = [256, 512, 1024, 2048];
/// Limit on the number of products of doubles.
const MOST_WORK: f64 = 1e10;

/// The true counts behind the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrueCounts {
    /// The target's group: m or m + 1.
    pub x1: i64,
    /// The group above.
    pub x2: i64,
}

/// The tables that do not depend on the output. Counts are relative to m.
pub(super) struct Enumeration<'a> {
    pub(super) attack: &'a Hierarchy,
    pub(super) present: bool,
    pub(super) truth: TrueCounts,
    pub(super) own: MassTable,
    pub(super) upper: MassTable,
    pub(super) others: MassTable,
    /// Outputs are visited up to these distances from the truth.
    pub(super) reach: [i64; 3],
    /// Bounds in doubles on the masses of `others`, from its first.
    pub(super) masses: Vec<(f64, f64)>,
    pub(super) slack: f64,
    /// Bounds in doubles on exp(-rho_2 a^2) at a = 0, 1, ...
    pub(super) decays: Vec<(f64, f64)>,
    /// Bounds in doubles on (1 - p) / p exp(-rho_1 (2 n - 1)) for n from `first_n`.
    pub(super) against: Vec<(f64, f64)>,
    pub(super) first_n: i64,
    /// Terms exp(-rho_2 a^2) below 2^-drop times the largest term of a sum are not computed.
    pub(super) drop: u32,
    pub(super) precise: [OnceCell<MassTable>; CLOSE_CALL_BITS.len()],
}

impl<'a> Enumeration<'a> {
    /// `share`: about 2^-share of the probability is not visited.
    pub(super) fn new(attack: &'a Hierarchy, truth: TrueCounts, share: u32) -> Result<Self> {
        let bits = 2 * share + 60;
        let drop = 2 * share + 40;
        let (rho1, rho2) = (&attack.rhos[0], &attack.rhos[1]);
        let nats = f64::from(share) * std::f64::consts::LN_2;
        let reach = |rate: f64| (nats / rate).sqrt().ceil() + 1.0;
        let sigma2 = attack.others[0].sigma2().to_f64();
        let reach_y = if sigma2 == 0.0 { 0.0 } else { reach(0.5 / sigma2) };
        let (reach1, reach2) = (reach(rho1.to_f64()), reach(rho2.to_f64()));
        let window = 2.0 * (f64::from(drop) * std::f64::consts::LN_2 / rho2.to_f64()).sqrt();
        let work = 2.0 * reach2 * window.min(4.0 * reach_y + 2.0) * 4.0 * thresholds_looked_at(attack, reach_y);
        if work > MOST_WORK || reach1.max(window) > 1e7 {
            return Err(Error::out_of_range(
                "the number of outputs to sum over",
                format!("{work:.1e}"),
                "at most 1e10: use a larger rho or fewer other groups",
            ));
        }
        let others = attack.others[0].table(bits)?;
        let n1 = truth.x1 - attack.known;
        let first_n = n1 - reach1 as i64;
        let prior = Enclosure::rational(&(Rational::from(1) / super::odds(&attack.prior)), 96);
        let against = (first_n..=n1 + reach1 as i64 + 1).map(|n| {
            let exponent = (Rational::from(1) - Rational::from(2 * n)) * rho1;
            exp(&exponent, 96).mul(&prior).doubles()
        });
        // Arguments of g_2 that a row may use: x_2 - k - j for the nearest possible j, and the window around it.
        let nearest = [0, 1].map(|k| {
            let (least, most) = attack.upper_range(k);
            let centre = truth.x2 - attack.known - k;
            (centre - centre.clamp(least, most)).abs()
        });
        let longest = (nearest[0].max(nearest[1]) as f64 + 2.0 * reach2 + window + 3.0).min(2e5) as i64;
        let decays = (0..=longest).map(|a| exp(&-(Rational::from(a).square() * rho2), 96).doubles()).collect();
        Ok(Enumeration {
            attack,
            present: n1 == 1,
            truth,
            own: MassTable::of_one(rho1, bits)?,
            upper: MassTable::of_one(rho2, bits)?,
            masses: (others.first()..=others.last()).map(|y| others.stored(y).doubles()).collect(),
            slack: others.slack().doubles().1,
            others,
            reach: [reach1 as i64, reach2 as i64, reach_y as i64],
            decays,
            against: against.collect(),
            first_n,
            drop,
            precise: Default::default(),
        })
    }
}

/// Approximate number of outputs y evaluated for one x_2.
fn thresholds_looked_at(attack: &Hierarchy, reach: f64) -> f64 {
    if matches!(attack.upper, Upper::Listed { .. }) {
        return 2.0 * reach + 1.0;
    }
    // The threshold moves by 1 / (2 d) per step of y and takes a few tens of values.
    (2.0 * reach + 1.0).min(20.0 * libm::log2(2.0 + reach))
}
