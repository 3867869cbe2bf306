//! Gaussian smoothing: a little continuous noise is added to a sum, and its effect is subtracted from the answer. It serves where fine groups share
//! no lattice that can be swept: there the contour has no end, and the losses are too many to enumerate.
//!
//! # The sum
//!
//! Let Y be the privacy loss of continuous Gaussian noise of scale s: normal, of mean s^2 / 2 and variance s^2, which spends rho = s^2 / 2. Its
//! profile D has a closed form ([`gaussian`](super::gaussian)), which [`profile`] evaluates by polynomials. For any loss L independent of Y,
//!
//! ```text
//! E[(1 - exp(eps - l - Y))_+] = (1 - exp(eps - l))_+ + w(l) D(|eps - l|),    w(l) = min(1, exp(eps - l)),
//! ```
//!
//! by the symmetry D(-y) = 1 - exp(-y) + exp(-y) D(y). Hence
//!
//! ```text
//! delta_L(eps) = delta_(L + Y)(eps) - C,    C = sum over l of P[L = l] w(l) D(|eps - l|).
//! ```
//!
//! The first term has a contour that ends, because the characteristic function of Y decays as exp(-s^2 t^2 / 2): it is swept up to a height of a few
//! / s. In C only losses count that lie within a few s of eps, which [`close`] enumerates. The larger s, the lower the heights and the more the
//! losses: their product is a constant of the groups, far below the number of all losses. (This is Ewald's summation of the potentials of a crystal:
//! one half of each term in the lattice, the other in its dual.) C is far below delta, so the subtraction cancels no digits; for the complement of
//! delta, C is added.
//!
//! # The masses
//!
//! Groups whose sigma2 is not small are fine: their sums are Gaussian up to a factor 1 + e of every mass ([`fine`](super::fine)). For many digits,
//! the factor is a ripple of a few cosines and a smaller e.
//!
//! The losses of all other groups are enumerated with lower bounds on their masses, tilted by c, which fall short of 1 by m in total ([`coarse`]). A
//! sum of such a loss and of fine ones is called a point.
//!
//! # The proof
//!
//! For y >= 0, D(y) = integral of exp(y - t) P[Y > t] over t > y, and P[Y > t] <= exp(-(t - s^2/2)^2 / (2 s^2)) / 2 from s^2 / 2 on, so
//!
//! ```text
//! D(y) <= 0.63 s exp(-(y - s^2 / 2)_+^2 / (2 s^2)).
//! ```
//!
//! Under the law tilted by c, P[L = l] = M(c) exp(-c l) P_c[l]. So all points of a set A add at most
//!
//! ```text
//! M(c) exp(-c eps) P_c[A] times the largest exp(-c d) w D(|d|) in A,    d = l - eps.
//! ```
//!
//! - Points further than W from eps, W >= s^2 / 2 + |c| s^2: the last factor is at most 0.63 s exp(|c| W - (W - s^2 / 2)^2 / (2 s^2)), which
//!   falls with W. Everywhere it is at most 0.63 s exp(|c| W).
//! - Points of an energy z_1^2 / (2 v_1) + ... + z_k^2 / (2 v_k) above E, with z_j the distance of the j-th sum from its center
//!   c n_j shift_j. For 0 <= x < 1, E_c[exp(x z_j^2 / (2 v_j))] <= 1.25 / sqrt(1 - x): the tilted masses are those of
//!   exp(-z^2 / (2 v)) up to 1 + e, and a sum of such terms over the integers is off from its integral by one at most. With
//!   x = 1 - k / (2 E), P_c[A] <= exp(-E + k / 2) (2 E / k)^(k / 2) 1.25^k.
//! - The truncated mass of the enumerated losses: P_c[A] <= m.

mod close;
mod cost;
mod interval;
mod parts;
mod profile;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
};

use rayon::prelude::*;
use rug::{Float, Integer, Rational, float::Round};

pub(crate) use self::interval::{Crowd, Interval};
use self::{
    close::{Close, TooMany},
    cost::Prediction,
    parts::{Distances, Fine, Parts},
    profile::Profile,
};
use super::{
    answer::{Answer, Proof, Quantity},
    atoms::{
        coarse::{self, exact_exponent},
        tilt::{self, Outline},
    },
    contour::Contours,
    engine::{machine, session::Session, smoothing},
    law::{Group, Law},
    question::Question,
    stop::Stop,
    sum::LossSum,
};
use crate::{
    error::Result,
    numeric::{
        Enclosure, enclosure,
        field::Real,
        precision,
        twofold::{self, TwofoldBall},
    },
};

/// Sums of more groups are not served.
const MOST_GROUPS: usize = 12;
/// At most this many losses of groups that are not fine are enumerated.
const MOST_LISTED: f64 = 60_000.0;
/// Both terms are computed to this number of additional digits, and each point to at most this number.
const MORE_DIGITS: u32 = 1;
const MOST_MORE_DIGITS: u32 = 20;
/// Errors are kept this many nats below the last digit.
const SPARE_NATS: f64 = 5.0;
/// One processor sums this many points.
const PART: usize = 64;
/// At most this many scales are kept.
const REMEMBERED: usize = 4;

/// At most this many nodes beyond the main lobe are summed; for sums of more than a few groups fewer, and each is taken to cost more, as their lobes
/// are hard to predict.
const MOST_NODES: usize = 400_000;
const MOST_NODES_OF_MANY: usize = 10_000;
const A_FEW: usize = 5;
const DEARER: f64 = 20.0;

/// A sum to which continuous noise can be added.
#[derive(Debug)]
pub(super) struct Smoothed {
    sum: LossSum,
    outline: Outline,
    /// The groups at the precision of each number of digits; `None` where numbers would not fit.
    parts: Mutex<HashMap<u32, Option<Arc<Parts>>>>,
    /// The scale for a tilt in eighths and a number of digits.
    scales: Mutex<HashMap<(i64, u32), Option<Prediction>>>,
    contours: Mutex<Vec<(i32, Arc<Contours>)>>,
    profiles: Mutex<Vec<Arc<Profile>>>,
    /// The enumeration of the last request.
    list: Mutex<Option<Arc<Listed>>>,
}

/// The enumerated losses of the groups that are not fine, in `bits` bits and with masses cut at 2^-cut.
#[derive(Debug)]
struct Listed {
    c: Rational,
    cut: u32,
    bits: u32,
    digits: u32,
    losses: Vec<coarse::Atom>,
    /// Upper bound on ln of each mass.
    ln_masses: Vec<f64>,
    missing: Float,
}

/// A point near eps.
struct Near {
    /// The index of the enumerated loss.
    listed: usize,
    multiples: Vec<i64>,
    /// eps - l, in the units of its enumerated loss.
    distance: Integer,
    /// Upper bound on ln of its term, without the factor of all points.
    ln_most: f64,
}

/// The bounds of a correction, chosen in doubles.
struct Bounds {
    c: Rational,
    /// ln M(c) exp(-c eps)
    ln_scale: Enclosure,
    width: f64,
    energy: f64,
    cut: u32,
}

impl Smoothed {
    /// For a sum without continuous noise and of few groups; `None` for others.
    pub(super) fn new(sum: &LossSum) -> Option<Self> {
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
    fn parts(&self, digits: u32) -> Option<Arc<Parts>> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.entry(digits).or_insert_with(|| Parts::new(&self.sum, digits).ok().map(Arc::new)).clone()
    }

    /// The predicted seconds of a hockey stick; `None` where it would take too long, or no group is fine.
    pub(super) fn seconds(&self, epsilon: &Rational, digits: u32) -> Option<f64> {
        self.scale(self.eighths(epsilon), digits).map(|prediction| prediction.seconds)
    }

    /// The tilt of an epsilon in eighths where losses spread more under it, else zero: few scales are chosen.
    fn eighths(&self, epsilon: &Rational) -> i64 {
        const WIDER: f64 = 1.1;
        let tilt = self.outline.hockey_plan(&self.sum, epsilon).tilt();
        let is_wider = self.outline.deviation(tilt) > WIDER * self.outline.deviation(0.0);
        if is_wider { (8.0 * tilt).round() as i64 } else { 0 }
    }

    /// The scale with the lowest cost: it depends on the sum, the tilt and the digits alone.
    fn scale(&self, eighths: i64, digits: u32) -> Option<Prediction> {
        let mut scales = self.scales.lock().unwrap_or_else(PoisonError::into_inner);
        *scales.entry((eighths, digits)).or_insert_with(|| {
            let parts = self.parts(digits).filter(|parts| !parts.fine.is_empty())?;
            let coarsest = parts.fine.iter().map(Fine::deviation).fold(0.0, f64::max);
            let from = 6 - coarsest.log2().floor() as i32;
            let tilt = eighths as f64 / 8.0;
            let costs = (from.max(1)..from + 120).map(|k| self.predict(&parts, k, tilt, digits));
            let affordable = costs.filter(|prediction| prediction.seconds <= machine::MOST_OF_ANY);
            affordable.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
        })
    }

    /// The same for an epsilon, with a smaller scale where c s is not small: else C would not be small beside delta, and digits would cancel.
    fn scale_at(&self, epsilon: &Rational, digits: u32) -> Option<Prediction> {
        const SMALL: f64 = 16.0;
        let eighths = self.eighths(epsilon);
        let prediction = self.scale(eighths, digits)?;
        let needed = (SMALL * self.outline.hockey_plan(&self.sum, epsilon).tilt().abs()).log2().ceil();
        if needed <= f64::from(prediction.k) {
            return Some(prediction);
        }
        let parts = self.parts(digits)?;
        let prediction = || self.predict(&parts, needed as i32, eighths as f64 / 8.0, digits);
        (needed < 500.0).then(prediction).filter(|prediction| prediction.seconds <= machine::MOST_OF_ANY)
    }

    fn is_of_few(&self) -> bool {
        self.sum.groups().len() <= A_FEW
    }

    fn most_nodes(&self) -> usize {
        if self.is_of_few() { MOST_NODES } else { MOST_NODES_OF_MANY }
    }

    /// The contours of the sum with continuous noise of scale 2^-k; the oldest are dropped.
    fn contours(&self, k: i32) -> Result<Arc<Contours>> {
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
    fn profile(&self, k: i32, digits: u32) -> Arc<Profile> {
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

    /// E[(1 - exp(epsilon - L))_+] for epsilon >= 0; `None` where it would take too long.
    pub(super) fn hockey_stick(&self, epsilon: &Rational, digits: u32, session: &Session) -> Result<Option<Answer>> {
        let Some(prediction) = self.scale_at(epsilon, digits) else { return Ok(None) };
        let k = prediction.k;
        let contours = self.contours(k)?;
        let question = Question::hockey_stick(contours.sum(), epsilon);
        let (question, period) = contours.of_shorter_period(question, digits + MORE_DIGITS);
        // A sweep of this many nodes would stop early.
        if prediction.nodes(period) > 2.0 * self.most_nodes() as f64 {
            return Ok(None);
        }
        let choice = contours.choose_on_line(question, digits + MORE_DIGITS)?;
        // Far more nodes than predicted.
        let of_nodes = choice.nodes() as f64 * machine::PER_SMOOTHED_FACTOR * self.sum.groups().len() as f64;
        if of_nodes > 6.0 * prediction.seconds + 0.1 || contours.leaves_too_much(&choice, digits + MORE_DIGITS) {
            return Ok(None);
        }
        let smooth = match session.first(&contours, Some(k), &choice, digits + MORE_DIGITS)? {
            Some(answer) => answer,
            None => contours.hockey_stick(choice, digits + MORE_DIGITS)?,
        };
        self.without_noise(smooth, epsilon, k, digits, session.stop())
    }

    /// The same by a contour that the session holds of a request close to this one; `None` where there is none.
    pub(super) fn by_session(&self, epsilon: &Rational, digits: u32, session: &Session) -> Option<Answer> {
        let k = session.of_noise()?;
        let smooth = session.hockey_stick(&*self.contours(k).ok()?, Some(k), epsilon, digits + MORE_DIGITS)?;
        self.without_noise(smooth, epsilon, k, digits, session.stop()).ok()?.filter(|answer| answer.met)
    }

    /// The answer from that with continuous noise of scale 2^-k.
    fn without_noise(
        &self,
        smooth: Answer,
        epsilon: &Rational,
        k: i32,
        digits: u32,
        stop: &Stop,
    ) -> Result<Option<Answer>> {
        stop.check()?;
        let bits = smooth.value.lower().prec().max(smooth.value.upper().prec());
        let rest = Enclosure::double(1.0, bits).sub(&smooth.value);
        let smaller = enclosure::smaller(smooth.value.lower(), rest.lower());
        if !smooth.met || smaller <= 0 {
            return Ok(None);
        }
        let ln_answer = Float::with_val(64, smaller.ln_ref()).to_f64();
        let correction = match self.correction(epsilon, k, digits, ln_answer, stop) {
            Ok(found) => found,
            Err(TooMany) => {
                stop.check()?;
                return Ok(None);
            }
        };
        let Some((correction, points)) = correction else { return Ok(None) };
        // Bits enough for the complement.
        let correction = Enclosure::double(0.0, bits).add(&correction);
        let value = smooth.value.sub(&correction).clamp(0.0, 1.0);
        let summary = format!(
            "{}, with continuous noise of scale 2^-{k}, which {points} losses near epsilon do without",
            smooth.proof
        );
        // The noise spends 2^-(2 k + 1).
        let proof = Proof::derived(smoothing::NAME, summary, smooth.proof)
            .with("scale_exponent", "k of the noise of scale 2^-k", Quantity::Count(k.unsigned_abs().into()))
            .with("points", "losses for which the noise was taken away one by one", Quantity::Count(points as u64));
        Ok(Some(Answer { met: value.is_tight(digits), value, proof }))
    }

    /// The bounds for an error of exp(ln_error) in all.
    fn bounds(&self, parts: &Parts, epsilon: &Rational, s: f64, ln_error: f64, bits: u32) -> Bounds {
        let tilt = self.outline.hockey_plan(&self.sum, epsilon).tilt();
        let c = tilt::exact(tilt);
        let ln_scale = self.sum.ln_mgf(&c, bits).sub(&exact_exponent(&Rational::from(&c * epsilon), bits));
        let size = tilt.abs();
        let needed = (ln_scale.approximate() + (0.63 * s).ln() - ln_error + SPARE_NATS).max(1.0);
        // x^2 / (2 s^2) - |c| x >= needed + |c| s^2 / 2 for x = W - s^2 / 2.
        let x = size * s * s + s * (size * size * s * s + 2.0 * needed + size * s * s).sqrt();
        let width = (x + s * s / 2.0) * (1.0 + 1e-9);
        let needed = needed + size * width;
        let energy = energy_beyond(parts.fine.len(), needed);
        let cut = (needed / std::f64::consts::LN_2).clamp(8.0, 1e6) as u32 + 2;
        Bounds { c, ln_scale, width, energy, cut }
    }

    /// Upper bound on the terms of all points that are not considered, `missing` being the truncated mass of the enumerated losses.
    fn left_out(parts: &Parts, bounds: &Bounds, s: f64, missing: &Float) -> Enclosure {
        const BITS: u32 = 96;
        let real = |x: f64| Enclosure::double(x, BITS);
        let (width, c) = (real(bounds.width), Enclosure::rational(&bounds.c, BITS));
        let size = if bounds.c < 0 { c.negate() } else { c };
        let mean = real(s * s / 2.0);
        let beyond = width.sub(&mean).div(&real(s));
        let far = beyond.mul(&beyond).div(&real(2.0)).negate().exp();
        let outside = beyond_energy(parts.fine.len(), bounds.energy, BITS);
        let missing = Enclosure::new(Float::new(64), missing.clone());
        let share = far.add(&outside).add(&missing);
        share.mul(&real(0.63).mul(&real(s))).mul(&bounds.ln_scale.add(&size.mul(&width)).exp())
    }

    /// C, to an error of about 10^-digits of exp(ln_answer), and the number of points summed; `None` where numbers would not fit.
    fn correction(
        &self,
        epsilon: &Rational,
        k: i32,
        digits: u32,
        ln_answer: f64,
        stop: &Stop,
    ) -> std::result::Result<Option<(Enclosure, usize)>, TooMany> {
        let Some(parts) = self.parts(digits) else { return Ok(None) };
        let (s, bits) = (2f64.powi(-k), precision::bits(digits, 64));
        let ln_error = ln_answer - f64::from(digits + MORE_DIGITS) * std::f64::consts::LN_10;
        let bounds = self.bounds(&parts, epsilon, s, ln_error, bits);
        let Some(listed) = self.list(&parts, &bounds, bits, digits) else { return Ok(None) };
        let rungs = parts.rungs(&bounds.c);
        let width = tilt::exact(bounds.width);
        let Some(close) = Close::new(&rungs, &width, bounds.energy) else { return Ok(None) };
        let rho = parts.rho();
        let looked_at = AtomicU64::new(0);
        let of_listed = |(index, (atom, ln_mass)): (usize, (&coarse::Atom, &f64))| {
            let target = Rational::from(epsilon - &atom.loss) - &rho;
            let of = Distances::new(&parts.fine, &target);
            let mut near: Vec<Near> = Vec::new();
            close.each_within(&target, &looked_at, stop, &mut |multiples| {
                let distance = of.of(&multiples);
                let ln_most = ln_mass + ln_most(&close, &multiples, of.approximate(&distance), s);
                near.push(Near { listed: index, multiples, distance, ln_most });
            })?;
            Ok((of, near))
        };
        let found = listed.losses.par_iter().zip(&listed.ln_masses).enumerate().map(of_listed);
        let (distances, near): (Vec<Distances>, Vec<Vec<Near>>) =
            found.collect::<std::result::Result<Vec<_>, TooMany>>()?.into_iter().unzip();
        let near = near.into_iter().flatten().collect();
        let left_out = Self::left_out(&parts, &bounds, s, &listed.missing);
        let profile = self.profile(k, digits + MOST_MORE_DIGITS + 2);
        let (sum, asked) = self.summed(near, &listed.losses, &distances, &parts, &profile, ln_error, digits, stop)?;
        let upper = Float::with_val_round(bits, sum.upper() + left_out.upper(), Round::Up).0;
        Ok(Some((Enclosure::new(sum.lower().clone(), upper), asked)))
    }

    /// The enumeration of a request: the last one is used again for requests close to one another.
    fn list(&self, parts: &Parts, bounds: &Bounds, bits: u32, digits: u32) -> Option<Arc<Listed>> {
        /// Cuts are rounded up to multiples of this, so that requests share enumerations.
        const CUT_STEP: u32 = 16;
        let (c, cut) = (&bounds.c, bounds.cut.next_multiple_of(CUT_STEP));
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

    /// The terms of the points: those that matter are computed, the largest first; the others are bounded.
    #[expect(clippy::too_many_arguments, reason = "one step of `correction`")]
    fn summed(
        &self,
        mut near: Vec<Near>,
        listed: &[coarse::Atom],
        distances: &[Distances],
        parts: &Parts,
        profile: &Profile,
        ln_error: f64,
        digits: u32,
        stop: &Stop,
    ) -> std::result::Result<(Enclosure, usize), TooMany> {
        let bits = precision::bits(digits, 64);
        let factor = parts.normaliser(bits);
        let ln_factor = factor.ln_above();
        near.par_sort_by(|a, b| b.ln_most.total_cmp(&a.ln_most));
        let ln_share = ln_error - SPARE_NATS - ln_factor;
        // Upper bounds on the sum of all terms from each one on, in units of exp(ln_share); the millionth that `most` adds below covers the
        // rounding errors of logarithms and sums.
        let mut after = vec![0.0_f64; near.len() + 1];
        for (at, point) in near.iter().enumerate().rev() {
            after[at] = (after[at + 1] + (point.ln_most - ln_share).exp()) * (1.0 + 1e-12);
        }
        let asked = after.partition_point(|rest| *rest > 1.0);
        let zero = || Enclosure::double(0.0, bits);
        let value = |point: &Near| {
            // The digits of this term above the error.
            let wanted =
                ((point.ln_most - ln_share) / std::f64::consts::LN_10).clamp(2.0, f64::from(digits + MOST_MORE_DIGITS));
            let wanted = wanted.ceil() as u32 + 2;
            let distance = distances[point.listed].exact(&point.distance);
            let value = profile.at(&distance.clone().abs(), wanted);
            let mut exponent = parts.energy(&point.multiples);
            // w = exp(eps - l) above eps.
            if distance < 0 {
                exponent -= &distance;
            }
            let mass = exp_of_minus(&exponent, wanted).mul(&listed[point.listed].p).mul(&value);
            parts.rippled(mass, point.multiples.iter().map(|&x| i128::from(x)))
        };
        // In parts of a fixed number of points, so that the rounding does not depend on the machine.
        let of_part = |points: &[Near]| {
            if stop.is_set() {
                return Err(TooMany);
            }
            Ok(points.iter().fold(zero(), |sum, point| sum.add(&value(point))))
        };
        let sums: Vec<Enclosure> =
            near[..asked].par_chunks(PART).map(of_part).collect::<std::result::Result<_, _>>()?;
        let sum = sums.iter().fold(zero(), |sum, part| sum.add(part));
        let most = after[asked] * parts.most_rippled() * (1.0 + 1e-6);
        let others = Enclosure::double(ln_share, 64).exp().mul(&Enclosure::double(most, 64));
        let others = Enclosure::new(Float::new(64), others.upper().clone());
        Ok((sum.add(&others).mul(&factor).mul(&parts.one(bits)), asked))
    }
}

/// The approximate energy beyond which the tilted masses of this number of fine groups are exp(-needed) in all.
fn energy_beyond(dimension: usize, needed: f64) -> f64 {
    let dimension = dimension as f64;
    let mut energy = needed.max(dimension);
    for _ in 0..8 {
        let ratio: f64 = 2.0 * energy / dimension;
        energy = (needed + dimension * (0.5 + ratio.max(1.0).ln() / 2.0 + 0.25)).max(dimension);
    }
    energy
}

/// Upper bound on those masses: exp(-E + k / 2) (2 E / k)^(k / 2) 1.25^k.
fn beyond_energy(dimension: usize, energy: f64, bits: u32) -> Enclosure {
    let real = |x: f64| Enclosure::double(x, bits);
    let (dimension, energy) = (dimension as f64, real(energy));
    let ratio = energy.mul(&real(2.0)).div(&real(dimension)).ln().mul(&real(dimension / 2.0));
    let ln = ratio.sub(&energy).add(&real(dimension / 2.0)).add(&real(1.25).ln().mul(&real(dimension)));
    ln.exp()
}

/// exp(-x) to about this number of digits.
fn exp_of_minus(x: &Rational, digits: u32) -> Enclosure {
    // Up to there, sums of two doubles lose no digits to underflow, and few to the size of the argument.
    const MOST: u32 = 500;
    let minus = Rational::from(-x);
    if digits <= twofold::ball::MOST_DIGITS && *x < MOST {
        return TwofoldBall::rational(&minus, ()).exp().enclosure();
    }
    exact_exponent(&minus, precision::bits(digits, 24)).exp()
}

/// Upper bound on ln of exp(-x_1^2 / (2 v_1) - ...) w D for a point, without its enumerated mass; the last terms cover the rounding errors, also of
/// variances and distances that are rounded to doubles.
fn ln_most(close: &Close, multiples: &[i64], distance: f64, s: f64) -> f64 {
    let squares: f64 =
        close.variances().zip(multiples).map(|(variance, &x)| (x as f64).powi(2) / (2.0 * variance)).sum();
    let beyond = (distance.abs() * (1.0 - 1e-12) - s * s / 2.0).max(0.0) / s;
    let ln_profile = (0.63 * s).ln() - beyond * beyond / 2.0 + distance.min(0.0);
    ln_profile - squares + 1e-12 * (squares + ln_profile.abs()) + 1e-12
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{loss::evaluator::SumEvaluator, numeric::rational::parse};

    fn sum(list: &[(char, &str, u64, u64)]) -> LossSum {
        let group = |&(law, parameter, shift, copies): &(char, &str, u64, u64)| {
            let parameter = parse(parameter).unwrap();
            let law = match law {
                'd' => Law::DiscreteGaussian { sigma2: parameter },
                _ => Law::DiscreteLaplace { epsilon: parameter },
            };
            Group { law, shift, copies }
        };
        LossSum::new(list.iter().map(group)).unwrap()
    }

    /// Sums for which enumeration and contours agree: fine groups alone, beside coarse ones, close to 1 and far out.
    #[test]
    fn smoothing_agrees_with_enumeration_and_contours() {
        let mut scales = std::collections::BTreeSet::new();
        for groups in [
            vec![('d', "100", 1, 3)],
            vec![('d', "500/73", 1, 10), ('d', "2500/137", 1, 6)],
            vec![('d', "1000/7", 2, 2), ('d', "20", 1, 4), ('d', "3001/11", 3, 1)],
            vec![('d', "4099/8", 2, 2), ('d', "1/2", 1, 3), ('l', "0.7", 2, 2)],
            vec![('d', "3001/11", 1, 2), ('d', "5/2", 1, 5), ('d', "3", 2, 2)],
        ] {
            let sum = sum(&groups);
            let (smoothed, other) = (Smoothed::new(&sum).unwrap(), SumEvaluator::new(sum.clone()));
            for digits in [6, 12, 20] {
                for epsilon in ["0", "0.013", "0.4", "1", "3.7", "9", "40"] {
                    let epsilon = parse(epsilon).unwrap();
                    let Some(answer) = smoothed
                        .hockey_stick(
                            &epsilon,
                            digits,
                            &Session::single(crate::loss::limit::Limit::NONE, &Stop::default()),
                        )
                        .unwrap()
                    else {
                        continue;
                    };
                    let known = other.hockey_stick(&epsilon, digits + 4).unwrap();
                    assert!(answer.value.overlaps(&known.value), "{groups:?} {epsilon} {digits}: {answer:?} {known:?}");
                    assert!(answer.met, "{groups:?} {epsilon} {digits}: {answer:?}");
                    let rest = Enclosure::double(1.0, 400).sub(&answer.value);
                    assert!(*rest.upper() > 0.5 || rest.is_tight(digits - 1), "{groups:?} {epsilon}: {answer:?}");
                    scales.insert((groups.len(), answer.proof.count("points").unwrap() > 0));
                }
            }
        }
        assert!(scales.len() > 3, "{scales:?}");
    }
}
