//! The codes of races and ethnicity of one record, packed into one number.

use super::codes::RaceEthCode;

/// Upper limit of code numbers.
pub(super) const CODES: usize = 10_000;

/// Bits per code in a packed combination: 9 codes fill 126.
const BITS: u32 = 14;

/// The number of columns of race codes.
pub(super) const RACES: usize = 8;

/// The race codes of a person, each once and ascending, and the ethnicity code: all that the iterations depend on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Combination {
    races: Vec<RaceEthCode>,
    ethnicity: RaceEthCode,
}

impl Combination {
    /// The combination of codes in any order; duplicates count once.
    pub fn new(races: impl IntoIterator<Item = RaceEthCode>, ethnicity: RaceEthCode) -> Combination {
        let mut races: Vec<RaceEthCode> = races.into_iter().collect();
        races.sort_unstable();
        races.dedup();
        Combination { races, ethnicity }
    }

    /// The race codes, ascending.
    pub fn races(&self) -> &[RaceEthCode] {
        &self.races
    }

    /// The ethnicity code.
    pub fn ethnicity(&self) -> RaceEthCode {
        self.ethnicity
    }

    /// The combination of a packed number: the ethnicity code and above it the race codes, each once and ascending, with 14 bits each.
    pub fn unpack(packed: u128) -> Combination {
        let code = |place: u32| RaceEthCode((packed >> (BITS * place)) as u16 & ((1 << BITS) - 1));
        let races = (1..=8).map(code).filter(|code| code.0 > 0);
        Combination::new(races, code(0))
    }
}

/// The number of a combination. Sorts the codes.
pub(super) fn pack(races: &mut [u16], ethnicity: u16) -> u128 {
    races.sort_unstable();
    let (mut packed, mut last) = (u128::from(ethnicity), 0);
    let mut place = BITS;
    for race in races {
        if *race != last {
            packed |= u128::from(*race) << place;
            (last, place) = (*race, place + BITS);
        }
    }
    packed
}
