//! What a certificate claims: one number of the worst of all units, exact to the last digit.

use rug::Rational;
use serde_json::{Value, json};

use crate::{
    account::{Delta, Epsilon, Whole},
    error::{Error, Result},
    loss::{
        answer::Pair,
        law::{Group, Law},
    },
    numeric::rational,
    release::{Neighbors, subject::Resolved},
};

/// What is asked for, and what is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// epsilon at a delta.
    Epsilon {
        /// The delta.
        delta: Delta,
    },
    /// delta at an epsilon.
    Delta {
        /// The epsilon.
        epsilon: Epsilon,
    },
}

/// Both ends of what is claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// At most the truth.
    pub lower: Rational,
    /// At least the truth.
    pub upper: Rational,
}

/// A claim about the worst of all units: a path alone, or a pair of paths composed.
#[derive(Clone, Debug)]
pub struct Claim {
    /// What it is about, in words, which prove nothing.
    pub subject: String,
    /// The relation from which the groups were made, which proves nothing.
    pub neighbors: Neighbors,
    /// What a record enters on each path, each path once: groups of equal counts, merged and in order.
    pub paths: Vec<Vec<Group>>,
    /// Whether units are all pairs of paths, with repetition; else each path is a unit.
    pub pairs: bool,
    /// What is asked and given.
    pub question: Question,
    /// Both ends of the answer.
    pub ends: Ends,
}

impl Claim {
    /// The claim that both ends hold for a subject. Refused is continuous noise.
    pub(super) fn new(subject: &Resolved, question: &Question, ends: Ends) -> Result<Claim> {
        let (mut paths, pairs) = match &subject.whole {
            Whole::Composition(one) => (vec![one.loss().groups().to_vec()], false),
            Whole::WorstPath(worst) => {
                (worst.paths().iter().map(|path| path.loss().groups().to_vec()).collect(), worst.in_pairs())
            }
        };
        let continuous = paths.iter().flatten().any(|group: &Group| matches!(group.law, Law::Gaussian { .. }));
        if continuous {
            return Err(Error::Unprovable {
                why: "certificates are about noise on the integers, not yet about continuous noise".into(),
            });
        }
        // What a checker reads at most.
        let long = |x: &Rational| x.numer().significant_bits().max(x.denom().significant_bits()) > 1300;
        if long(&ends.lower) || long(&ends.upper) {
            let why = "its numbers are fractions of more than 390 digits; certificates have none so long, nor so small"
                .into();
            return Err(Error::Unprovable { why });
        }
        let mut seen: Vec<Vec<Group>> = Vec::new();
        paths.retain(|path| {
            let fresh = !seen.contains(path);
            if fresh {
                seen.push(path.clone());
            }
            fresh
        });
        let (subject, neighbors) = (subject.title.clone(), subject.neighbors);
        Ok(Claim { subject, neighbors, paths, pairs, question: question.clone(), ends })
    }

    /// The unit of this claim that a pair of the subject's paths is.
    pub(super) fn unit_of(&self, subject: &Resolved, pair: Option<Pair>) -> Option<Vec<usize>> {
        let ((p, q), worst) = (pair?, subject.worst()?);
        let number = |path: usize| {
            let groups = worst.paths().get(path)?.loss().groups();
            self.paths.iter().position(|known| known == groups)
        };
        let (p, q) = (number(p)?, number(q)?);
        Some(if self.pairs { vec![p.min(q), p.max(q)] } else { vec![p] })
    }

    /// All units, as the numbers of their paths.
    pub fn units(&self) -> Vec<Vec<usize>> {
        let count = self.paths.len();
        if self.pairs {
            (0..count).flat_map(|p| (p..count).map(move |q| vec![p, q])).collect()
        } else {
            (0..count).map(|p| vec![p]).collect()
        }
    }

    /// h, the greatest common divisor of the weights of all paths: the losses of a unit lie on an offset plus h Z.
    pub(super) fn step(&self) -> Rational {
        let weights = self.paths.iter().flatten().map(Group::weight);
        weights.reduce(|step, weight| rational::gcd(&step, &weight)).unwrap_or_default()
    }

    /// As it stands in a certificate.
    pub(super) fn json(&self) -> Value {
        let paths: Vec<Vec<Value>> = self.paths.iter().map(|path| path.iter().map(group).collect()).collect();
        let ends = json!({ "lower": fraction(&self.ends.lower), "upper": fraction(&self.ends.upper) });
        let (epsilon, delta) = match &self.question {
            Question::Epsilon { delta } => (ends, json!(fraction(delta))),
            Question::Delta { epsilon } => (json!(fraction(epsilon)), ends),
        };
        json!({
            "subject": self.subject,
            "neighbors": self.neighbors.name(),
            "paths": paths,
            "pairs": self.pairs,
            "epsilon": epsilon,
            "delta": delta,
        })
    }
}

fn group(group: &Group) -> Value {
    let (law, name, parameter) = match &group.law {
        Law::DiscreteGaussian { sigma2 } => ("discrete-gaussian", "sigma2", sigma2),
        Law::Gaussian { sigma2 } => ("gaussian", "sigma2", sigma2),
        Law::DiscreteLaplace { epsilon } => ("discrete-laplace", "epsilon", epsilon),
    };
    json!({ "law": law, name: fraction(parameter), "shift": group.shift, "count": group.copies })
}

/// An exact number: "a" or "a/b", reduced.
pub(super) fn fraction(value: &Rational) -> String {
    value.to_string()
}
