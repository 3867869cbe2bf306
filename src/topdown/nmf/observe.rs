//! Observers of a check: they see every unit with noisy counts, in the one pass over the files.

use super::{
    folder::NmfFolder,
    names::Names,
    units::{PartUnits, RootConstraints},
};
use crate::{
    error::Result,
    topdown::gls::{pass::UnitCounts, problem::Problem},
};

/// A part of a state that is about to be read.
pub struct PartSeen<'a> {
    /// The files.
    pub folder: &'a NmfFolder,
    /// The queries of the first histogram.
    pub names: &'a Names,
    /// The units.
    pub units: &'a PartUnits,
    /// The level of the part among those of the release.
    pub first: usize,
}

/// A unit with its noisy counts.
#[derive(Clone, Copy)]
pub struct UnitSeen<'a> {
    /// The level among those of the release.
    pub level: usize,
    /// The units of the part; `None` for the nation.
    pub units: Option<&'a PartUnits>,
    /// The unit and its counts.
    pub unit: &'a UnitCounts,
    /// The number of levels whose shares it carries.
    pub carried: usize,
}

/// Sees the units of the first histogram: the nation, then part by part from the lowest level upwards.
pub trait Observer {
    /// The folder was opened, and the constraints of its root were read.
    fn open(&mut self, problem: &Problem, root: &RootConstraints);

    /// A part begins.
    fn begin(&mut self, part: &PartSeen) -> Result<()>;

    /// A unit was read.
    fn observe(&mut self, unit: &UnitSeen);
}

/// Sees nothing.
pub struct Blind;

impl Observer for Blind {
    fn open(&mut self, _: &Problem, _: &RootConstraints) {}

    fn begin(&mut self, _: &PartSeen) -> Result<()> {
        Ok(())
    }

    fn observe(&mut self, _: &UnitSeen) {}
}
