//! A survey in parts, on one machine or several. The results of each state are kept in a folder, so that an interrupted
//! run continues where it stopped, and the estimates are the same to the last byte.
//!
//! Upwards, each state writes `up-44.json`, its contribution to the nation. Once those of all states are present, the
//! nation's own estimate follows from them, equally on every machine. Then each state writes `down-44.txt`, its answers
//! line by line, and `across-44.json`, its part of areas that also lie in other states. `fit-44.json` has its
//! residuals, since all states together decide whether the counts fit. Files are written beside and renamed, so
//! existing files are complete. `job.json` describes the request and its input files; a folder of another job is
//! refused.
//!
//! In a rehearsal the answers have the true counts beside them. Then the folder and all its files are readable by their owner only,
//! and `truth.key` identifies the file of true counts: `job.json` has no hash of it.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

use super::{
    fit::StateFit,
    identity::{Identity, RequestIdentity},
    meter::{At, Meter},
    paths::Short,
    saved,
    survey::{Across, Survey, Take, Top},
};
use crate::{
    error::{Error, Result},
    io::files::{Over, Readers, file_error, make_folder, write_for},
    io::same_file,
};

/// A folder with the work of a survey.
pub struct Job<'a> {
    survey: &'a Survey,
    folder: PathBuf,
    readers: Readers,
}

/// The progress of the work in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The states whose pass upwards is still missing for the nation.
    pub without_up: Vec<u32>,
    /// The states without rows.
    pub without_rows: Vec<u32>,
}

/// The kept data of a state besides its answers.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Beside {
    fit: StateFit,
    shorts: Vec<Short>,
}

/// The file that describes the request.
const JOB: &str = "job.json";
/// The file that identifies the true counts.
const TRUTH: &str = "truth.key";

impl<'a> Job<'a> {
    /// The work of a survey in a folder, which is created if it does not exist. `request` has all inputs of the
    /// estimates except the files themselves and `truth`, the confidential file of true counts.
    pub fn open(survey: &'a Survey, folder: &Path, request: RequestIdentity, truth: Option<&Path>) -> Result<Job<'a>> {
        let readers = if truth.is_some() { Readers::Owner } else { Readers::Usual };
        make_folder(folder, readers)?;
        let identity = Identity::new(request, survey.states(), survey.sizes()?);
        let path = folder.join(JOB);
        let job = Job { survey, folder: folder.to_path_buf(), readers };
        match fs::read_to_string(&path) {
            Ok(begun) => identity.check(&begun).map_err(|why| file_error(&path, why))?,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => job.write_text(&path, &identity.to_text())?,
            Err(why) => return Err(file_error(&path, why)),
        }
        if let Some(truth) = truth {
            same_file::check(&folder.join(TRUTH), truth)?;
        }
        Ok(job)
    }

    fn write_text(&self, path: &Path, text: &str) -> Result<()> {
        write_for(path, Over::Replace, self.readers, |out| {
            out.write_all(text.as_bytes()).map_err(|why| file_error(path, why))
        })
    }

    fn up(&self, state: u32) -> PathBuf {
        self.folder.join(format!("up-{state:02}.json"))
    }

    fn across(&self, state: u32) -> PathBuf {
        self.folder.join(format!("across-{state:02}.json"))
    }

    fn fit(&self, state: u32) -> PathBuf {
        self.folder.join(format!("fit-{state:02}.json"))
    }

    /// Writes the residuals of a state.
    fn keep_fit(&self, state: u32) -> Result<()> {
        let Some(fit) = self.survey.fit_of(state) else { return Ok(()) };
        let beside = Beside { fit, shorts: self.survey.shorts_of(state) };
        // Plain numbers and text can always be serialized.
        self.write_text(&self.fit(state), &serde_json::to_string(&beside).unwrap_or_default())
    }

    /// Reads the unknown residuals of all states.
    pub fn read_fits(&self) -> Result<()> {
        for state in self.survey.states() {
            if self.survey.fit_of(state).is_none() {
                let path = self.fit(state);
                let text = fs::read_to_string(&path).map_err(|why| file_error(&path, why))?;
                let beside: Beside = serde_json::from_str(&text).map_err(|why| file_error(&path, why))?;
                self.survey.put_fit(state, beside.fit);
                self.survey.put_shorts(state, beside.shorts);
            }
        }
        Ok(())
    }

    fn rows(&self, state: u32) -> PathBuf {
        self.folder.join(format!("down-{state:02}.txt"))
    }

    /// The progress of the work.
    pub fn state(&self) -> State {
        let without = |states: Vec<u32>, path: fn(&Self, u32) -> PathBuf| {
            states.into_iter().filter(|state| !path(self, *state).exists()).collect()
        };
        State {
            without_up: without(self.survey.states_for_nation(), Job::up),
            without_rows: without(self.survey.states(), Job::rows),
        }
    }

    /// Completes the work for these states: their passes upwards and, once those of all states are present, their rows.
    pub fn work(&self, states: &[u32], at: &At) -> Result<()> {
        let meter = &Meter::new(at, self.survey.work());
        for state in self.state().without_up.into_iter().filter(|state| states.contains(state)) {
            let root = self.survey.state_root(state, meter)?;
            self.keep_fit(state)?;
            self.write_text(&self.up(state), &root.to_text())?;
        }
        let now = self.state();
        let open: Vec<u32> = now.without_rows.into_iter().filter(|state| states.contains(state)).collect();
        if !now.without_up.is_empty() || open.is_empty() {
            return Ok(());
        }
        let top = self.top()?;
        if self.survey.uses_nation() {
            self.survey.judge()?;
        }
        for state in open {
            let (path, mut across) = (self.rows(state), Across::default());
            write_for(&path, Over::Replace, self.readers, |out| {
                let mut take = |subject, answers: Vec<_>| {
                    writeln!(out, "{}", saved::to_line(&subject, &answers)).map_err(|why| file_error(&path, why))
                };
                self.survey.answer_state(state, &top, &mut across, &mut take, meter)?;
                self.keep_fit(state)?;
                // Written before the answers, so that these are never there without it.
                if self.survey.has_across() {
                    self.write_text(&self.across(state), &across.to_text())?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The nation, from the files of all states.
    fn top(&self) -> Result<Top> {
        let mut roots = BTreeMap::new();
        if self.survey.uses_nation() {
            self.read_fits()?;
        }
        for state in self.survey.states_for_nation() {
            let path = self.up(state);
            let text = fs::read_to_string(&path).map_err(|why| file_error(&path, why))?;
            roots.insert(state, self.survey.read_root(&text).map_err(|why| file_error(&path, why))?);
        }
        self.survey.top(roots)
    }

    /// Refuses unfinished work.
    pub fn check_done(&self) -> Result<()> {
        let now = self.state();
        let missing = now.without_up.iter().chain(&now.without_rows).min();
        if let Some(missing) = missing {
            let how = "run every part, then every part once more, then --combine";
            return Err(Error::missing(format!("the state {missing:02} is not finished: {how}")));
        }
        Ok(())
    }

    /// Passes on the answers of all states, in the order of a single run.
    pub fn combine(&self, take: &mut Take) -> Result<()> {
        self.check_done()?;
        self.read_fits()?;
        let top = self.top()?;
        self.survey.judge()?;
        self.survey.answer_nation(&top, take)?;
        let mut across = Across::default();
        let (queries, levels) = (self.survey.answers.names().len(), self.survey.names.levels.len());
        for state in self.survey.states() {
            let path = self.rows(state);
            let file = fs::File::open(&path).map_err(|why| file_error(&path, why))?;
            for (number, line) in (1..).zip(BufReader::new(file).lines()) {
                let line = line.map_err(|why| file_error(&path, why))?;
                let (subject, answers) = saved::of_line(&line, queries, levels).map_err(|why| {
                    let file = crate::error::shown(&path);
                    Error::DataFile { file, line: number, column: 0, why }
                })?;
                take(subject, answers)?;
            }
            if self.survey.has_across() {
                let path = self.across(state);
                let text = fs::read_to_string(&path).map_err(|why| file_error(&path, why))?;
                let read = self.survey.read_across(state, &top, &text, &mut across);
                read.map_err(|why| file_error(&path, why))?;
            }
        }
        self.survey.answer_across(&top, across, take)?;
        self.survey.answer_empty(take)
    }
}

/// The states of one of `of` parts: every `of`-th state. This spreads large states, whose numbers are not adjacent.
pub fn states_of_part(states: &[u32], part: usize, of: usize) -> Vec<u32> {
    states.iter().copied().skip(part - 1).step_by(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_contain_each_state_once() {
        let states: Vec<u32> = (1..=51).collect();
        for of in 1..60 {
            let mut all: Vec<u32> = (1..=of).flat_map(|part| states_of_part(&states, part, of)).collect();
            all.sort_unstable();
            assert_eq!(all, states);
        }
    }
}
