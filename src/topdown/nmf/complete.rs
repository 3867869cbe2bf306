//! Completeness of a folder: whether it has all parts of states. The counts of a nation include all its states; in a
//! download of some states they would be distributed among those present. And a state without its other part lacks the
//! people there.
//!
//! The required parts come from the folder itself (`nmf.json`, which `assay measure` writes), or are known for the
//! releases of the Bureau. For another release without that file they are unknown; then only the [fit](super::fit) of
//! the nation's counts to the sum of the parts is checked.

use std::collections::{BTreeMap, BTreeSet};

use super::folder::NmfFolder;
use crate::{
    error::Result,
    io::files::file_error,
    release::{Release, bundled_text},
};

/// The states and the District of Columbia.
pub const STATES: [u32; 51] = [
    1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
    34, 35, 36, 37, 38, 39, 40, 41, 42, 44, 45, 46, 47, 48, 49, 50, 51, 53, 54, 55, 56,
];
/// Puerto Rico.
pub const PUERTO_RICO: u32 = 72;
/// The other territories, which are in no release.
const TERRITORIES: [u32; 4] = [60, 66, 69, 78];
/// The states with a part of American Indian, Alaska Native and Native Hawaiian areas in the files of 2020. Source:
/// census_bluedown, constants.py (google-research/census-bluedown, FOLDER_IDS_2020).
const WITH_AIAN_2020: [u32; 37] = [
    1, 2, 4, 6, 8, 9, 12, 13, 15, 16, 18, 19, 20, 22, 23, 25, 26, 27, 28, 30, 31, 32, 35, 36, 37, 38, 40, 41, 45, 46,
    47, 48, 49, 51, 53, 55, 56,
];
/// The same in the demonstration of 2010: Rhode Island has such a part, Indiana and Tennessee have none
/// (FOLDER_IDS_2010_DEMONSTRATION_DATA).
const WITH_AIAN_2010: [u32; 36] = [
    1, 2, 4, 6, 8, 9, 12, 13, 15, 16, 19, 20, 22, 23, 25, 26, 27, 28, 30, 31, 32, 35, 36, 37, 38, 40, 41, 44, 45, 46,
    48, 49, 51, 53, 55, 56,
];

/// Whether there is a state or territory of this number.
pub fn is_state(number: u32) -> bool {
    STATES.contains(&number) || number == PUERTO_RICO || TERRITORIES.contains(&number)
}

/// The parts of states that a folder lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// The source of the list of required parts; `None` without one.
    pub declared_by: Option<String>,
    /// Whether the folder of the nation is missing.
    pub nation: bool,
    /// States all of whose parts are missing.
    pub states: Vec<u32>,
    /// Missing parts of states whose other part is present.
    pub halves: Vec<String>,
    /// The required parts of each state; without a list of required parts, those in the folder.
    of_state: BTreeMap<u32, BTreeSet<String>>,
    /// Missing parts that only the first of several possible lists has, and nothing in the folder decides between them.
    undecided: Vec<String>,
    /// Parts of states in the folder that only another possible list has, and nothing in the folder decides between them.
    only_elsewhere: Vec<String>,
}

/// The number of the state of a part in three digits.
pub fn state_of(part: &str) -> u32 {
    part.get(1..).and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

impl Missing {
    /// Compares the parts of a folder with the required ones; refuses parts of another release.
    pub fn of_folder(folder: &NmfFolder, release: &Release) -> Result<Missing> {
        let there: BTreeSet<String> = folder.parts().into_iter().collect();
        let nation = folder.lacks_root();
        let (by, lists) = match folder.declared()?.parts {
            Some(parts) => (Some("nmf.json".to_string()), vec![parts.into_iter().collect()]),
            None if folder.declared()?.is_there || bundled_text(&release.name).is_none() => (None, Vec::new()),
            None => (Some(format!("the release {}", release.name)), of_release(release)),
        };
        let Some(by) = by.filter(|_| !lists.is_empty()) else {
            return Ok(Missing { nation, of_state: by_state(&there), ..Missing::default() });
        };
        let found = Missing::among(&there, &by, &lists).map_err(|why| file_error(&folder.path, why))?;
        Ok(Missing { nation, ..found })
    }

    /// Compares the parts that are there with the possible lists of required ones, all by this source.
    fn among(there: &BTreeSet<String>, by: &str, lists: &[BTreeSet<String>]) -> std::result::Result<Missing, String> {
        let foreign = |part: &&String| !lists.iter().any(|list| list.contains(*part));
        if let Some(foreign) = there.iter().find(foreign) {
            let states: BTreeSet<String> =
                lists.iter().flatten().map(|part| format!("{:02}", state_of(part))).collect();
            let names: Vec<String> = states.into_iter().collect();
            let known = if names.len() > 8 { format!("{} states", names.len()) } else { names.join(", ") };
            let why = format!("State={foreign} is in the folder, and no part of {by}, which has {known}");
            return Err(why);
        }
        // A part that only one list has decides. Without one it is the first list: the number of parts that are not there
        // says nothing, as a download of one state lacks nearly all of each list.
        let possible: Vec<&BTreeSet<String>> = lists.iter().filter(|list| there.is_subset(list)).collect();
        let Some((&list, others)) = possible.split_first() else {
            let contested = there.iter().filter(|part| !lists.iter().all(|list| list.contains(*part)));
            let why = format!(
                "{} are in the folder, and neither the files of 2020 nor the demonstration of 2010 have all of these: keep the files of one",
                named(contested)
            );
            return Err(why);
        };
        let here: BTreeSet<u32> = there.iter().map(|part| state_of(part)).collect();
        let (halves, gone): (Vec<String>, Vec<String>) =
            list.difference(there).cloned().partition(|part| here.contains(&state_of(part)));
        let states: BTreeSet<u32> = gone.iter().map(|part| state_of(part)).collect();
        let undecided =
            halves.iter().filter(|half| others.iter().any(|other| !other.contains(*half))).cloned().collect();
        let elsewhere = others.iter().flat_map(|other| other.difference(list));
        let only_elsewhere = elsewhere.filter(|part| here.contains(&state_of(part))).cloned().collect();
        let (states, of_state, declared_by) = (states.into_iter().collect(), by_state(list), Some(by.to_string()));
        Ok(Missing { declared_by, states, halves, of_state, undecided, only_elsewhere, ..Missing::default() })
    }

    /// Whether every required part is present, as far as the required parts are known.
    pub fn is_complete(&self) -> bool {
        self.states.is_empty() && self.halves.is_empty()
    }

    /// The missing parts of given states whose other part is present.
    pub fn halves_of<'a>(&'a self, states: &'a [u32]) -> impl Iterator<Item = &'a String> {
        self.halves.iter().filter(|part| states.contains(&state_of(part)))
    }

    /// Restricts it to the states that are read.
    pub(super) fn keep(&mut self, is_read: impl Fn(u32) -> bool) {
        self.halves.retain(|part| is_read(state_of(part)));
        self.undecided.retain(|part| is_read(state_of(part)));
        self.only_elsewhere.retain(|part| is_read(state_of(part)));
    }

    /// The assumption that a state is whole because the folder is of 2020, if nothing in it decides that.
    pub fn taken_for_2020(&self) -> Option<String> {
        let parts = &self.only_elsewhere;
        let pronoun = if parts.len() == 1 { "which is" } else { "which are" };
        (!parts.is_empty()).then(|| {
            format!(
                "Taken for files of 2020: those of the demonstration of 2010 have {} as well, {pronoun} not in the folder",
                named(parts)
            )
        })
    }

    /// In brackets, the files that have no such missing parts, if nothing in the folder excludes that they are these.
    pub(super) fn unless_of_2010(&self) -> String {
        match &self.undecided[..] {
            [] => String::new(),
            parts => format!(" (in the files of 2020; the demonstration of 2010 has no {})", named(parts)),
        }
    }

    /// Whether a state has two parts, so that its units belong to a part and not to the whole state.
    pub fn is_divided(&self, state: u32) -> bool {
        self.of_state.get(&state).is_some_and(|parts| parts.len() > 1)
    }

    /// A description of the missing parts; `None` if nothing is missing.
    pub fn described(&self) -> Option<String> {
        let by = self.declared_by.as_deref()?;
        let is_or_are = |names: &[String]| if names.len() == 1 { "is" } else { "are" };
        let mut parts = Vec::new();
        if !self.states.is_empty() {
            let names: Vec<String> = self.states.iter().map(|state| format!("{state:02}")).collect();
            let (noun, verb) = (if names.len() == 1 { "state" } else { "states" }, is_or_are(&names));
            parts.push(format!("{} {noun} of {by} {verb} not in the folder ({})", names.len(), shortened(&names)));
        }
        if !self.halves.is_empty() {
            let names: Vec<String> = self.halves.iter().map(|part| format!("State={part}")).collect();
            let verb = is_or_are(&names);
            let unless = self.unless_of_2010();
            parts.push(format!(
                "{} {verb} not in the folder, though another part of the state is{unless}",
                shortened(&names)
            ));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// The folders of parts, as "State=118, State=147".
fn named<'a>(parts: impl IntoIterator<Item = &'a String>) -> String {
    parts.into_iter().map(|part| format!("State={part}")).collect::<Vec<_>>().join(", ")
}

/// The first few of some names, and the number of the others.
pub(super) fn shortened(names: &[String]) -> String {
    const MOST: usize = 6;
    match names.len() {
        0..=MOST => names.join(", "),
        all => format!("{}, and {} more", names[..MOST].join(", "), all - MOST),
    }
}

fn by_state(parts: &BTreeSet<String>) -> BTreeMap<u32, BTreeSet<String>> {
    let mut of_state: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for part in parts {
        of_state.entry(state_of(part)).or_default().insert(part.clone());
    }
    of_state
}

/// The parts of a bundled release: those of 2020 or of the demonstration of 2010, or Puerto Rico's.
fn of_release(release: &Release) -> Vec<BTreeSet<String>> {
    if release.levels.first().is_none_or(|level| level.name != "US") {
        return vec![BTreeSet::from([format!("0{PUERTO_RICO}")])];
    }
    let with = |aian: &[u32]| {
        let whole = STATES.iter().map(|state| format!("0{state:02}"));
        whole.chain(aian.iter().map(|state| format!("1{state:02}"))).collect()
    };
    // Without a part that decides, a folder is one of 2020.
    vec![with(&WITH_AIAN_2020), with(&WITH_AIAN_2010)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_of_2020_and_2010_differ_in_three_states() {
        let release = Release::find("pl94-persons-us").unwrap();
        let lists = of_release(&release);
        assert_eq!(lists.iter().map(BTreeSet::len).collect::<Vec<_>>(), [88, 87]);
        let only = |a: usize, b: usize| lists[a].difference(&lists[b]).cloned().collect::<Vec<_>>();
        assert_eq!((only(0, 1), only(1, 0)), (vec!["118".to_string(), "147".to_string()], vec!["144".to_string()]));
        let puerto_rico = of_release(&Release::find("pl94-persons-pr").unwrap());
        assert_eq!(puerto_rico, [BTreeSet::from(["072".to_string()])]);
        assert!(is_state(44) && is_state(72) && !is_state(3) && !is_state(0) && !is_state(99));
    }
    /// Folders of one or two states, by the published lists: in 2020 Indiana and Tennessee have a part 1 and Rhode Island
    /// has none; in 2010 it is the other way round.
    #[test]
    fn the_parts_of_a_folder_decide_its_list_and_not_their_number() {
        let lists = of_release(&Release::find("pl94-persons-us").unwrap());
        let missing = |parts: &[&str]| {
            let there = parts.iter().map(|part| part.to_string()).collect();
            Missing::among(&there, "the release", &lists)
        };
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let cases: [(&[&str], &[&str], &[&str]); 9] = [
            (&["018"], &["118"], &["118"]),
            (&["018", "118"], &[], &[]),
            (&["044"], &[], &[]),
            (&["044", "144"], &[], &[]),
            (&["047"], &["147"], &["147"]),
            (&["018", "044"], &["118"], &["118"]),
            // State=147 is of 2020 alone, and State=144 of 2010 alone.
            (&["018", "047", "147"], &["118"], &[]),
            (&["018", "144"], &["044"], &[]),
            // Both lists have State=109.
            (&["009"], &["109"], &[]),
        ];
        for (parts, halves, undecided) in cases {
            let found = missing(parts).unwrap();
            assert_eq!(
                (&found.halves[..], &found.undecided[..]),
                (&owned(halves)[..], &owned(undecided)[..]),
                "{parts:?}"
            );
        }
        assert!(missing(&["018"]).unwrap().is_divided(18) && !missing(&["044"]).unwrap().is_divided(44));
        let said = missing(&["018", "047"]).unwrap().described().unwrap();
        assert!(
            said.contains("State=118, State=147 are not in the folder")
                && said.contains("2010 has no State=118, State=147"),
            "{said}"
        );
        // A state that is whole in the files of 2020 only.
        let assumed = |parts: &[&str]| missing(parts).unwrap().taken_for_2020();
        assert!(assumed(&["044"]).unwrap().contains("2010 have State=144 as well, which is not in the folder"));
        assert_eq!([&["044", "144"][..], &["018"], &["044", "118", "018"], &["009"]].map(assumed), [const { None }; 4]);
        let mut read = missing(&["018", "044"]).unwrap();
        read.keep(|state| state == 18);
        assert_eq!(read.taken_for_2020(), None);
        let mut read = missing(&["018", "047"]).unwrap();
        read.keep(|state| state == 47);
        assert_eq!(read.halves, ["147"]);
        assert!(missing(&["118", "144"]).unwrap_err().contains("State=118, State=144 are in the folder, and neither"));
        assert!(missing(&["072"]).unwrap_err().contains("State=072"));
    }
}
