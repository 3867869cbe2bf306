//! Answers with their proof.

use rug::Float;

use crate::numeric::Enclosure;

/// How a number was certified: everything that `assay explain` prints.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// Re s on the contour.
    pub contour: f64,
    /// Whether the contour ran left of the pole at zero, so that one minus the answer was computed.
    pub complement: bool,
    /// Nodes of the full period on a lattice; nothing on the line.
    pub period_nodes: Option<i64>,
    /// Why the kernel on the line was taken where a lattice exists.
    pub lattice_refused: Option<String>,
    /// The height Im s up to which the sieve accounts for every window; beyond it only the kernel's 1/|s|^2 is used.
    pub swept_height: f64,
    /// Nodes that were evaluated.
    pub evaluated_nodes: i64,
    /// Side lobes that survived the sieve and were integrated.
    pub side_lobes: usize,
    /// Bits of the mantissas.
    pub bits: u32,
    /// Upper bound for what the trapezoid rule adds.
    pub alias_error: Float,
    /// Upper bound for the nodes that were left out.
    pub truncation_error: Float,
    /// Width of the enclosure of the sum itself: the roundings.
    pub rounding_error: Float,
}

impl Certificate {
    /// The contour in a line.
    pub fn method(&self) -> String {
        let (c, nodes, lobes, bits) = (self.contour, self.evaluated_nodes, self.side_lobes, self.bits);
        match self.period_nodes {
            Some(period) => format!(
                "lattice contour at Re s = {c}, {nodes} nodes and {lobes} side lobes of a period of {period}, {bits} bits"
            ),
            None => format!(
                "line contour at Re s = {c}, {nodes} nodes and {lobes} side lobes up to height {:.3e}, {bits} bits",
                self.swept_height
            ),
        }
    }
}

/// An answer with its proof.
#[derive(Clone, Debug)]
pub struct Certified {
    /// The enclosure of the answer.
    pub value: Enclosure,
    /// How it was obtained.
    pub certificate: Certificate,
    /// Whether the asked relative width was met; the enclosure is valid either way.
    pub met: bool,
}

impl Certified {
    /// Exactly zero: no loss is large enough.
    pub(super) fn nothing() -> Self {
        let zero = Float::new(32);
        let certificate = Certificate {
            contour: 0.0,
            complement: false,
            period_nodes: None,
            lattice_refused: None,
            swept_height: 0.0,
            evaluated_nodes: 0,
            side_lobes: 0,
            bits: 32,
            alias_error: zero.clone(),
            truncation_error: zero.clone(),
            rounding_error: zero,
        };
        Certified { value: Enclosure::double(0.0, 32), certificate, met: true }
    }
}
