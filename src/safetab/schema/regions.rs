//! The scope of a tabulation: passes, types of region and levels of iterations; and the privacy guarantee.

use std::fmt;

use crate::error::{Error, Result};

/// One run over the records; the two passes have separate budgets and groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pass {
    /// The states of the filter, including the District of Columbia.
    UnitedStates,
    /// Puerto Rico, the state 72.
    PuertoRico,
}

impl Pass {
    /// Both passes.
    pub const ALL: [Pass; 2] = [Pass::UnitedStates, Pass::PuertoRico];

    /// The types of region that it tabulates, largest first.
    pub fn region_types(self) -> &'static [RegionType] {
        use RegionType::*;
        match self {
            Pass::UnitedStates => &[Usa, State, County, Tract, Place, Aiannh],
            Pass::PuertoRico => &[PrState, PrCounty, PrTract, PrPlace],
        }
    }
}

/// A geographic summary level, in the bureau's text `USA`, `PR-STATE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegionType {
    /// The nation, region `1`.
    Usa,
    /// A state, two digits.
    State,
    /// A county, state and three digits.
    County,
    /// A tract, county and six digits.
    Tract,
    /// A place, state and five digits.
    Place,
    /// An American Indian, Alaska Native or Native Hawaiian area, four digits: it may cross states.
    Aiannh,
    /// Puerto Rico, `72`.
    PrState,
    /// A municipio.
    PrCounty,
    /// A tract of Puerto Rico.
    PrTract,
    /// A place of Puerto Rico.
    PrPlace,
}

impl RegionType {
    /// All types of both passes.
    pub const ALL: [RegionType; 10] = [
        RegionType::Usa,
        RegionType::State,
        RegionType::County,
        RegionType::Tract,
        RegionType::Place,
        RegionType::Aiannh,
        RegionType::PrState,
        RegionType::PrCounty,
        RegionType::PrTract,
        RegionType::PrPlace,
    ];

    /// The bureau's text.
    pub fn name(self) -> &'static str {
        match self {
            RegionType::Usa => "USA",
            RegionType::State => "STATE",
            RegionType::County => "COUNTY",
            RegionType::Tract => "TRACT",
            RegionType::Place => "PLACE",
            RegionType::Aiannh => "AIANNH",
            RegionType::PrState => "PR-STATE",
            RegionType::PrCounty => "PR-COUNTY",
            RegionType::PrTract => "PR-TRACT",
            RegionType::PrPlace => "PR-PLACE",
        }
    }

    /// The pass that tabulates it.
    pub fn pass(self) -> Pass {
        if self >= RegionType::PrState { Pass::PuertoRico } else { Pass::UnitedStates }
    }

    /// The iterations tabulated for it: the detailed ones for nation and states, the coarse ones below.
    pub fn granularity(self) -> Granularity {
        match self {
            RegionType::Usa | RegionType::State | RegionType::PrState => Granularity::Detailed,
            _ => Granularity::Coarse,
        }
    }

    /// Its index in [`RegionType::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

/// The order of the summary levels, highest first: among coterminous regions, the highest one that is not suppressed gives its counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryOrder {
    united_states: Vec<RegionType>,
    puerto_rico: Vec<RegionType>,
}

impl Default for SummaryOrder {
    /// Nation, state, county, tract, then place and area.
    fn default() -> Self {
        let [united_states, puerto_rico] = Pass::ALL.map(|pass| pass.region_types().to_vec());
        SummaryOrder { united_states, puerto_rico }
    }
}

impl SummaryOrder {
    /// The types of region of a pass, highest first.
    pub fn region_types(&self, pass: Pass) -> &[RegionType] {
        match pass {
            Pass::UnitedStates => &self.united_states,
            Pass::PuertoRico => &self.puerto_rico,
        }
    }
}

impl fmt::Display for SummaryOrder {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}", self.united_states.iter().map(|kind| kind.name()).collect::<Vec<&str>>().join(","))
    }
}

impl std::str::FromStr for SummaryOrder {
    type Err = Error;

    /// Reads the six types of the United States, each once, separated by commas. Puerto Rico has four of them in the same order.
    fn from_str(text: &str) -> Result<SummaryOrder> {
        let united_states: Vec<RegionType> = text.split(',').map(|name| name.trim().parse()).collect::<Result<_>>()?;
        let mut sorted = united_states.clone();
        sorted.sort_unstable();
        if sorted != Pass::UnitedStates.region_types() {
            let allowed = format!("{}, each once, in any order", SummaryOrder::default());
            return Err(Error::malformed("the order of summary levels", text, &allowed));
        }
        let of_pr = |kind: &RegionType| match kind {
            RegionType::State => Some(RegionType::PrState),
            RegionType::County => Some(RegionType::PrCounty),
            RegionType::Tract => Some(RegionType::PrTract),
            RegionType::Place => Some(RegionType::PrPlace),
            _ => None,
        };
        let puerto_rico = united_states.iter().filter_map(of_pr).collect();
        Ok(SummaryOrder { united_states, puerto_rico })
    }
}

impl fmt::Display for RegionType {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.pad(self.name())
    }
}

impl std::str::FromStr for RegionType {
    type Err = Error;

    fn from_str(text: &str) -> Result<RegionType> {
        let known = RegionType::ALL.map(RegionType::name);
        let found = RegionType::ALL.into_iter().find(|region_type| region_type.name() == text);
        found.ok_or_else(|| Error::unknown("region type", text, "there are", known))
    }
}

/// The level of a characteristic iteration. Level 0 is tabulated elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IterationLevel {
    /// Regional groups, such as European.
    One,
    /// Detailed groups, such as Albanian.
    Two,
}

impl IterationLevel {
    /// Both levels.
    pub const ALL: [IterationLevel; 2] = [IterationLevel::One, IterationLevel::Two];

    /// 1 or 2.
    pub fn number(self) -> u8 {
        self as u8 + 1
    }
}

impl fmt::Display for IterationLevel {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}", self.number())
    }
}

/// The set of iterations tabulated for a type of region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Granularity {
    /// All iterations except those marked COARSE_ONLY.
    Detailed,
    /// All iterations except those marked DETAILED_ONLY.
    Coarse,
}

impl Granularity {
    /// Both.
    pub const ALL: [Granularity; 2] = [Granularity::Detailed, Granularity::Coarse];
}

/// The privacy guarantee, which determines the noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Privacy {
    /// `zcdp`: budgets are rho, the noise is discrete Gaussian.
    ZeroConcentrated,
    /// `puredp`: budgets are epsilon, the noise is two-sided geometric.
    Pure,
}
