//! The bits of a key of a tally.

/// Bits of a cell and of a class in a key; the atom is above them.
pub(super) const CELL_BITS: u32 = 6;
pub(super) const CLASS_BITS: u32 = 32;
pub(in crate::safetab) const ATOM_BITS: u32 = 64 - CELL_BITS - CLASS_BITS;
