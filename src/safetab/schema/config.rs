//! What config.json asks for: budgets, thresholds, and which passes are run.

use rug::Rational;

use super::regions::{IterationLevel, Pass, Privacy, RegionType};

/// A configuration. Its decimals are read as exact numbers; the bureau's program rounds them to binary doubles.
#[derive(Clone, Debug)]
pub struct SafeTabConfig {
    /// By region type and level.
    pub(super) budgets: Vec<[Rational; 2]>,
    pub(super) thresholds: Vec<[[i64; 3]; 2]>,
    pub(super) gamma: Rational,
    pub(super) max_race_codes: u32,
    pub(super) zero_suppression_chance: Option<Rational>,
    pub(super) allow_negative_counts: bool,
    pub(super) run_us: bool,
    pub(super) run_pr: bool,
    pub(super) state_filter_us: Vec<u8>,
    pub(super) privacy: Privacy,
}

impl SafeTabConfig {
    /// The budget of a region type and level: rho, or epsilon where the guarantee is [`Privacy::Pure`]. Zero if it is not
    /// run.
    pub fn budget(&self, region_type: RegionType, level: IterationLevel) -> &Rational {
        &self.budgets[region_type.index()][level as usize]
    }

    /// The noisy counts of stage 1 from which sex is crossed with 4, 9 and 23 ages; in ascending order. Never reached
    /// (`i64::MAX`) if a pass that is not run has none.
    pub fn thresholds(&self, region_type: RegionType, level: IterationLevel) -> [i64; 3] {
        self.thresholds[region_type.index()][level as usize]
    }

    /// The share of stage 1 in a budget, between 0 and 1.
    pub fn gamma(&self) -> &Rational {
        &self.gamma
    }

    /// How many columns of race codes are taken of every record, the first 1 to 8.
    pub fn max_race_codes(&self) -> u32 {
        self.max_race_codes
    }

    /// The least probability with which an empty group is suppressed, in [0, 1); `None` if none is.
    pub fn zero_suppression_chance(&self) -> Option<&Rational> {
        self.zero_suppression_chance.as_ref()
    }

    /// Whether negative counts stay.
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

    /// The pass that tabulates a state: none where it is not run, or the state is not in the filter.
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
