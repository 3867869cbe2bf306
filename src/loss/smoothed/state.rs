//! A sum to be smoothed, and what is kept of it between requests.

use std::{
    collections::HashMap,
    f64::consts::PI,
    sync::{Arc, Mutex, PoisonError},
};

use rug::{Float, Rational};

use super::{parts::Parts, profile::Profile};
use crate::{
    error::Result,
    loss::{
        atoms::{coarse, tilt::Outline},
        contour::Contours,
        law::{Group, Law},
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
    pub(super) parts: Mutex<HashMap<u32, Option<Arc<Parts>>>>,
    /// The scale for a tilt in eighths and a number of digits.
    pub(super) scales: Mutex<HashMap<(i64, u32), Option<Prediction>>>,
    pub(super) contours: Mutex<Vec<(i32, Arc<Contours>)>>,
    pub(super) profiles: Mutex<Vec<Arc<Profile>>>,
    /// The enumeration of the last request.
    pub(super) list: Mutex<Option<Arc<Listed>>>,
}

/// The enumerated losses of the groups that are not fine, in `bits` bits and with masses cut at 2^-cut.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) c: Rational,
    pub(super) cut: u32,
    pub(super) bits: u32,
    pub(super) digits: u32,
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
            parts: Mutex::default(),
            scales: Mutex::default(),
            contours: Mutex::default(),
            profiles: Mutex::default(),
            list: Mutex::default(),
        })
    }

    /// The groups at the precision of this number of digits.
    pub(super) fn parts(&self, digits: u32) -> Option<Arc<Parts>> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.entry(digits).or_insert_with(|| Parts::new(&self.sum, digits).ok().map(Arc::new)).clone()
    }

    pub(super) fn is_of_few(&self) -> bool {
        self.sum.groups().len() <= A_FEW
    }

    pub(super) fn most_nodes(&self) -> usize {
        if self.is_of_few() { MOST_NODES } else { MOST_NODES_OF_MANY }
    }

    /// The contours of the sum with continuous noise of scale 2^-k; the oldest are dropped.
    pub(super) fn contours(&self, k: i32) -> Result<Arc<Contours>> {
        let mut contours = self.contours.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = contours.iter().find(|(other, _)| *other == k) {
            return Ok(Arc::clone(known));
        }
        // A shift of one in noise of variance 1 / s^2 spends s^2 / 2.
        let noise = Group { law: Law::Gaussian { sigma2: Rational::from(1) << (2 * k) }, shift: 1, copies: 1 };
        let sum = LossSum::new(self.sum.groups().iter().cloned().chain([noise]))?;
        let new = Arc::new(Contours::new(sum).with_nodes(self.most_nodes()));
        if contours.len() >= REMEMBERED {
            contours.remove(0);
        }
        contours.push((k, Arc::clone(&new)));
        Ok(new)
    }

    /// D for noise of scale 2^-k to this number of digits; the oldest are dropped.
    pub(super) fn profile(&self, k: i32, digits: u32) -> Arc<Profile> {
        let mut profiles = self.profiles.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = profiles.iter().find(|known| known.is_for(k, digits)) {
            return Arc::clone(known);
        }
        let new = Arc::new(Profile::new(k, digits));
        if profiles.len() >= REMEMBERED {
            profiles.remove(0);
        }
        profiles.push(Arc::clone(&new));
        new
    }

    /// The enumeration of a request: the last one is used again for requests close to one another.
    pub(super) fn list(&self, parts: &Parts, c: &Rational, cut: u32, bits: u32, digits: u32) -> Option<Arc<Listed>> {
        /// Cuts are rounded up to multiples of this, so that requests share enumerations.
        const CUT_STEP: u32 = 16;
        let cut = cut.next_multiple_of(CUT_STEP);
        let mut last = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let serves = |list: &&Arc<Listed>| (&list.c, list.cut, list.bits, list.digits) == (c, cut, bits, digits);
        if let Some(list) = last.as_ref().filter(serves) {
            return Some(Arc::clone(list));
        }
        let (losses, missing) = parts.list(c, cut, bits).ok()?;
        let ln_masses = losses.iter().map(|atom| atom.p.ln_above()).collect();
        let list = Arc::new(Listed { c: c.clone(), cut, bits, digits, losses, ln_masses, missing });
        *last = Some(Arc::clone(&list));
        Some(list)
    }
}
