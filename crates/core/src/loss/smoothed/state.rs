//! A sum to be smoothed, and what is kept of it between requests.

use std::{f64::consts::PI, sync::Arc};

use rug::{Float, Rational};

use super::{parts::Parts, profile::Profile};
use crate::{
    error::{Error, Result},
    loss::{
        atoms::{coarse, tilt::Outline},
        contour::Contours,
        law::{Group, Law},
        memo::Memo,
        sum::LossSum,
    },
};

/// Sums of more groups are not served.
const MOST_GROUPS: usize = 12;
/// At most this many losses of groups that are not fine are enumerated.
pub(super) const MOST_LISTED: f64 = 60_000.0;
/// Both terms are computed to this number of additional digits, and each point to at most this number.
pub(super) const MORE_DIGITS: u32 = 1;
pub(super) const MOST_MORE_DIGITS: u32 = 20;
/// Errors are kept this many nats below the last digit.
pub(super) const SPARE_NATS: f64 = 5.0;
/// At most this many scales are kept.
const REMEMBERED: usize = 4;

/// At most this many nodes beyond the main lobe are summed; for sums of more than a few groups fewer, and each is taken to cost more, as their lobes
/// are hard to predict.
const MOST_NODES: usize = 400_000;
const MOST_NODES_OF_MANY: usize = 10_000;
const A_FEW: usize = 5;
pub(super) const DEARER: f64 = 20.0;

/// A sum to which continuous noise can be added.
#[derive(Debug)]
pub(in crate::loss) struct Smoothed {
    pub(super) sum: LossSum,
    pub(super) outline: Outline,
    /// The groups at the precision of each number of digits; `None` where numbers would not fit.
    pub(super) parts: Memo<u32, Option<Arc<Parts>>>,
    /// The scale for a tilt in eighths and a number of digits.
    pub(super) scales: Memo<(i64, u32), Option<Prediction>>,
    /// By k.
    pub(super) contours: Memo<i32, Arc<Contours>>,
    /// By k and digits.
    pub(super) profiles: Memo<(i32, u32), Arc<Profile>>,
    /// The enumeration of the last request, by its tilt, cut, bits and digits.
    pub(super) list: Memo<(Rational, u32, u32, u32), Arc<Listed>>,
}

/// The enumerated losses of the groups that are not fine.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) losses: Vec<coarse::Atom>,
    /// Upper bound on ln of each mass.
    pub(super) ln_masses: Vec<f64>,
    pub(super) missing: Float,
}

/// The predicted cost of a request with noise of one scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prediction {
    /// The scale is 2^-k.
    pub(super) k: i32,
    pub(super) seconds: f64,
    /// The total length of the windows beyond the main lobe.
    pub(super) heights: f64,
}

impl Prediction {
    /// The number of nodes in the windows on a contour of this period.
    pub(super) fn nodes(&self, period: f64) -> f64 {
        self.heights * period / (2.0 * PI)
    }
}

impl Smoothed {
    /// For a sum without continuous noise and of few groups; `None` for others.
    pub(in crate::loss) fn new(sum: &LossSum) -> Option<Self> {
        if sum.step().is_none() || sum.groups().len() > MOST_GROUPS {
            return None;
        }
        let outline = Outline::new(sum.groups());
        Some(Smoothed {
            sum: sum.clone(),
            outline,
            parts: Memo::default(),
            scales: Memo::default(),
            contours: Memo::of_at_most(REMEMBERED),
            profiles: Memo::of_at_most(REMEMBERED),
            list: Memo::of_at_most(1),
        })
    }

    /// The groups at the precision of this number of digits.
    pub(super) fn parts(&self, digits: u32) -> Option<Arc<Parts>> {
        self.parts.get_or_make(digits, |digits| Parts::new(&self.sum, *digits).ok().map(Arc::new))
    }

    pub(super) fn is_of_few(&self) -> bool {
        self.sum.groups().len() <= A_FEW
    }

    pub(super) fn most_nodes(&self) -> usize {
        if self.is_of_few() { MOST_NODES } else { MOST_NODES_OF_MANY }
    }

    /// The contours of the sum with continuous noise of scale 2^-k; the oldest are dropped.
    pub(super) fn contours(&self, k: i32) -> Result<Arc<Contours>> {
        self.contours.get_or_try(k, |k| {
            // A shift of one in noise of variance 1 / s^2 spends s^2 / 2.
            let noise = Group { law: Law::Gaussian { sigma2: Rational::from(1) << (2 * k) }, shift: 1, copies: 1 };
            let sum = LossSum::new(self.sum.groups().iter().cloned().chain([noise]))?;
            Ok(Arc::new(Contours::new(sum).with_nodes(self.most_nodes())))
        })
    }

    /// D for noise of scale 2^-k to this number of digits; the oldest are dropped.
    pub(super) fn profile(&self, k: i32, digits: u32) -> Arc<Profile> {
        self.profiles.get_or_make((k, digits), |_| Arc::new(Profile::new(k, digits)))
    }

    /// The enumeration of a request: the last one is used again for requests close to one another.
    pub(super) fn list(&self, parts: &Parts, c: &Rational, cut: u32, bits: u32, digits: u32) -> Option<Arc<Listed>> {
        /// Cuts are rounded up to multiples of this, so that requests share enumerations.
        const CUT_STEP: u32 = 16;
        let cut = cut.next_multiple_of(CUT_STEP);
        let listed = |_: &_| {
            let (losses, missing) = parts.list(c, cut, bits)?;
            let ln_masses = losses.iter().map(|atom| atom.p.ln_above()).collect();
            Ok::<_, Error>(Arc::new(Listed { losses, ln_masses, missing }))
        };
        self.list.get_or_try((c.clone(), cut, bits, digits), listed).ok()
    }
}
