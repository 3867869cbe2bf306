//! The hints of a certificate: how a checker finds bounds of the delta of some units.

use rug::Rational;
use serde_json::{Value, json};

use super::claim::{Unit, fraction};

/// Hints for bounds. A bad hint makes a check fail; none makes it succeed wrongly.
#[derive(Clone, Debug)]
pub struct Hints {
    /// The units; `None` for all that no earlier hints cover.
    pub units: Option<Vec<Unit>>,
    /// The method of their bounds.
    pub proof: Proof,
    /// The bits of the fixed point; a formula needs none.
    pub bits: u32,
}

/// The method of bounds.
#[derive(Clone, Debug)]
pub enum Proof {
    /// The trapezoid rule on a contour.
    Contour(Contour),
    /// Sums by definition over the enumerated outcomes: for each group of the one unit the least and the greatest sum of its
    /// counts' noise.
    Atoms {
        /// The ranges, both ends included; `None` for a table, of which all outcomes are kept.
        kept: Vec<Option<(i64, i64)>>,
    },
    /// The formula of continuous Gaussian noise, which needs no hints.
    Normal,
}

/// A contour, and the cover of its nodes.
#[derive(Clone, Debug)]
pub struct Contour {
    /// Re s, above 0.
    pub re: Rational,
    /// The nodes in a period of the lattice, an odd number.
    pub nodes: u128,
    /// The last node that is considered; beyond it one of the groups of `sieve` bounds the remaining sum.
    pub last: u64,
    /// Ranges of nodes to evaluate, both ends included, from 0 on.
    pub evaluated: Vec<(u64, u64)>,
    /// At every other node j up to the last one the product of the factors is at most j exp(-cut).
    pub cut: u32,
    /// For the unit, if there is one, otherwise for each path of the units, the groups that are small alone outside of their windows, in the order in which these are
    /// intersected. Nodes in all of these windows are checked one by one.
    pub sieve: Vec<Vec<usize>>,
    /// About how many windows and nodes a checker looks at; not part of a certificate.
    pub looked_at: u64,
}

impl Contour {
    /// The number of evaluated nodes.
    pub fn evaluated_nodes(&self) -> u64 {
        self.evaluated.iter().map(|(first, last)| last - first + 1).sum()
    }
}

impl Hints {
    /// About how many windows and nodes a checker looks at.
    pub(super) fn looked_at(&self) -> u64 {
        match &self.proof {
            Proof::Contour(contour) => contour.looked_at,
            Proof::Atoms { .. } | Proof::Normal => 0,
        }
    }

    /// The hints as in a certificate.
    pub(super) fn json(&self) -> Value {
        let mut value = match &self.proof {
            Proof::Contour(Contour { re, nodes, last, evaluated, cut, sieve, looked_at: _ }) => json!({
                "contour": fraction(re),
                "nodes": nodes,
                "last": last,
                "evaluated": evaluated,
                "cut": cut,
                "sieve": sieve,
            }),
            Proof::Atoms { kept } => json!({ "kept": kept }),
            Proof::Normal => return json!({ "units": self.units }),
        };
        value["bits"] = json!(self.bits);
        value["units"] = json!(self.units);
        value
    }
}
