//! The hints of a certificate: where a checker has to look at one value of epsilon.

use rug::Rational;
use serde_json::{Value, json};

use super::claim::fraction;

/// Where to look. A bad hint makes a check fail; none makes it succeed wrongly.
#[derive(Clone, Debug)]
pub struct Hints {
    /// Re s of the contour, above 0.
    pub contour: Rational,
    /// The kernel of the rule.
    pub kernel: Kernel,
    /// Ranges of nodes to evaluate, both ends included, from 0 on.
    pub evaluated: Vec<(u64, u64)>,
    /// At every other node the product of the factors is at most exp(-cut).
    pub cut: u32,
    /// For each path, the groups that are small by themselves outside of their windows, in the order in which these are
    /// intersected. Nodes in all of these windows are looked at one by one.
    pub sieve: Vec<Vec<usize>>,
    /// The bits of the fixed point.
    pub bits: u32,
    /// The unit that a lower end is about; `None` for all.
    pub unit: Option<Vec<usize>>,
}

/// The kernel of the trapezoid rule.
#[derive(Clone, Debug)]
pub enum Kernel {
    /// One period of the lattice of the losses.
    Lattice {
        /// So many nodes, an odd number.
        nodes: u64,
    },
    /// The whole line.
    Line {
        /// The losses after which the rule repeats itself: node j is at the height 2 pi j / period.
        period: Rational,
        /// The last node that is looked at.
        last: u64,
        /// For each path, the group whose mean bounds what lies beyond; `None` for the kernel alone.
        far: Vec<Option<usize>>,
    },
}

impl Hints {
    /// How many nodes are evaluated.
    pub fn nodes(&self) -> u64 {
        self.evaluated.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// As they stand in a certificate.
    pub(super) fn json(&self) -> Value {
        let (nodes, period, last, far) = match &self.kernel {
            Kernel::Lattice { nodes } => (json!(nodes), Value::Null, Value::Null, Value::Null),
            Kernel::Line { period, last, far } => (Value::Null, json!(fraction(period)), json!(last), json!(far)),
        };
        json!({
            "contour": fraction(&self.contour),
            "nodes": nodes,
            "period": period,
            "last": last,
            "far": far,
            "evaluated": self.evaluated,
            "cut": self.cut,
            "sieve": self.sieve,
            "bits": self.bits,
            "unit": self.unit,
        })
    }
}
