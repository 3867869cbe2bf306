//! The contents of config.json: budgets, thresholds, and the passes to run.

use rug::Rational;

use super::regions::{IterationLevel, Pass, Privacy, RegionType};

/// The settings common to configurations for persons and for households: the passes to run, and the guarantee.
#[derive(Clone, Debug)]
pub struct RunScope {
    pub(super) max_race_codes: u32,
    pub(super) allow_negative_counts: bool,
    pub(super) run_us: bool,
    pub(super) run_pr: bool,
    pub(super) state_filter_us: Vec<u8>,
    pub(super) privacy: Privacy,
}

impl AsRef<RunScope> for RunScope {
    fn as_ref(&self) -> &RunScope {
        self
    }
}

impl RunScope {
    /// The number of columns of race codes used of every record, from the first: 1 to 8.
    pub fn max_race_codes(&self) -> u32 {
        self.max_race_codes
    }

    /// Whether negative counts are published.
    pub fn allow_negative_counts(&self) -> bool {
        self.allow_negative_counts
    }

    /// Whether a pass is run.
    pub fn runs(&self, pass: Pass) -> bool {
        match pass {
            Pass::UnitedStates => self.run_us,
            Pass::PuertoRico => self.run_pr,
        }
    }

    /// The states of the pass over the United States, each once, in ascending order.
    pub fn state_filter_us(&self) -> &[u8] {
        &self.state_filter_us
    }

    /// The pass that tabulates a state; `None` if it is not run, or the state is not in the filter.
    pub fn pass_of(&self, state: u64) -> Option<Pass> {
        let pass = match state {
            72 => Pass::PuertoRico,
            _ if u8::try_from(state).is_ok_and(|state| self.state_filter_us.binary_search(&state).is_ok()) => {
                Pass::UnitedStates
            }
            _ => return None,
        };
        self.runs(pass).then_some(pass)
    }

    /// The guarantee.
    pub fn privacy(&self) -> Privacy {
        self.privacy
    }
}

/// A configuration of SafeTab-P. Its decimals are read as exact numbers; the bureau's program rounds them to binary doubles.
#[derive(Clone, Debug)]
pub struct SafeTabConfig {
    pub(super) scope: RunScope,
    /// Indexed by region type and level.
    pub(super) budgets: Vec<[Rational; 2]>,
    pub(super) thresholds: Vec<[[i64; 3]; 2]>,
    pub(super) gamma: Rational,
    pub(super) zero_suppression_chance: Option<Rational>,
}

impl AsRef<RunScope> for SafeTabConfig {
    fn as_ref(&self) -> &RunScope {
        &self.scope
    }
}

impl SafeTabConfig {
    /// The passes to run, and the guarantee.
    pub fn scope(&self) -> &RunScope {
        &self.scope
    }

    /// The budget of a region type and level: rho, or epsilon if the guarantee is [`Privacy::Pure`]. Zero if it is not run.
    pub fn budget(&self, region_type: RegionType, level: IterationLevel) -> &Rational {
        &self.budgets[region_type.index()][level as usize]
    }

    /// The noisy counts of stage 1 from which sex is crossed with 4, 9 and 23 ages, in ascending order. `i64::MAX`, which no count reaches,
    /// if a pass that is not run has none.
    pub fn thresholds(&self, region_type: RegionType, level: IterationLevel) -> [i64; 3] {
        self.thresholds[region_type.index()][level as usize]
    }

    /// The share of stage 1 in a budget, between 0 and 1.
    pub fn gamma(&self) -> &Rational {
        &self.gamma
    }

    /// The least probability with which an empty group is suppressed if its total alone is published, in [0, 1); `None` if groups are not suppressed.
    pub fn zero_suppression_chance(&self) -> Option<&Rational> {
        self.zero_suppression_chance.as_ref()
    }
}

/// The noise of a configuration of households, by published table: T3 is the type of household, T4 the tenure.
#[derive(Clone, Debug)]
pub struct HouseholdConfig {
    pub(super) scope: RunScope,
    /// The budgets of T3 and T4, by region type and level.
    pub(super) budgets: [Vec<[Rational; 2]>; 2],
    pub(super) thresholds_t3: Vec<[[i64; 3]; 2]>,
    pub(super) thresholds_t4: Vec<[[i64; 1]; 2]>,
}

impl AsRef<RunScope> for HouseholdConfig {
    fn as_ref(&self) -> &RunScope {
        &self.scope
    }
}

impl HouseholdConfig {
    /// The passes to run, and the guarantee.
    pub fn scope(&self) -> &RunScope {
        &self.scope
    }

    /// The budgets of T3 and T4 for a region type and level: rho, or epsilon if the guarantee is [`Privacy::Pure`]. Zero if a table is not
    /// run.
    pub fn budgets(&self, region_type: RegionType, level: IterationLevel) -> [&Rational; 2] {
        self.budgets.each_ref().map(|table| &table[region_type.index()][level as usize])
    }

    /// The published totals from which T3 has 3, 7 and 9 rows; in ascending order.
    pub fn thresholds_t3(&self, region_type: RegionType, level: IterationLevel) -> [i64; 3] {
        self.thresholds_t3[region_type.index()][level as usize]
    }

    /// The published total from which T4 has 4 rows.
    pub fn threshold_t4(&self, region_type: RegionType, level: IterationLevel) -> i64 {
        self.thresholds_t4[region_type.index()][level as usize][0]
    }
}
