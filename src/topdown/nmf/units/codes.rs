//! The units of one level: their codes, and what constraints say of them.

use super::root::Zeros;
use crate::topdown::{gls::problem::Free, whole::family::Bound};

/// Spine codes of equal width, ascending.
#[derive(Clone, Debug, Default)]
pub struct Geocodes {
    pub(super) width: usize,
    pub(super) text: Vec<u8>,
}

impl Geocodes {
    /// The empty code of the nation.
    pub(in crate::topdown::nmf) fn nation() -> Geocodes {
        Geocodes { width: 0, text: vec![0] }
    }

    /// The number of digits of each code.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of codes.
    pub fn len(&self) -> usize {
        self.text.len().checked_div(self.width).unwrap_or_else(|| usize::from(!self.text.is_empty()))
    }

    /// Whether there are no codes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A code.
    pub fn get(&self, unit: usize) -> &[u8] {
        &self.text[unit * self.width..(unit + 1) * self.width]
    }

    /// The unit with a code; the search starts at `near`.
    pub fn find(&self, code: &[u8], near: usize) -> Option<usize> {
        if code.len() != self.width {
            return None;
        }
        if near < self.len() && self.get(near) == code {
            return Some(near);
        }
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle).cmp(code) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// The data read from constraints besides the units.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The partition that zeros distinguish; zeros are not read if `None`.
    pub zeros: Option<&'a Zeros>,
    /// Whether bounds are kept too.
    pub bounds: bool,
}

/// The constraints of the units of a level while they are read.
pub(super) struct LevelUnits {
    pub(super) codes: Geocodes,
    pub(super) free: Vec<Free>,
    pub(super) bounds: Vec<Vec<Bound>>,
}
