//! A survey in parts, on one machine or several: what each state gives is kept in a folder, so that a run that was interrupted goes on
//! where it stopped, and the estimates are the same to the last byte.
//!
//! Upwards, each state gives `up-44.json`, what the nation needs of it. Once those of all states are there, the nation's own
//! estimate follows from them, on every machine alike, and each state gives `down-44.txt`, its answers line by line, and
//! `across-44.json`, what it has of areas that lie in other states, too. Files are written beside and renamed: what is there is
//! whole. `job.json` says what was asked of which files; a folder of another job is refused.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

use super::{
    meter::{At, Meter},
    saved,
    survey::{Across, Survey, Take, Top},
};
use crate::{
    error::{Error, Result},
    files::{file_error, write_text, write_whole},
};

/// A folder in which the work of a survey is kept.
pub struct Job<'a> {
    survey: &'a Survey,
    folder: PathBuf,
}

/// How far the work in a folder is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The states whose pass upwards the nation still needs.
    pub without_up: Vec<u32>,
    /// The states without rows.
    pub without_rows: Vec<u32>,
}

/// The file that says what is asked.
const JOB: &str = "job.json";

impl<'a> Job<'a> {
    /// The work of a survey in a folder, which is made if it is not there. `asked` says all that the estimates depend on besides the
    /// files themselves.
    pub fn open(survey: &'a Survey, folder: &Path, asked: &str) -> Result<Job<'a>> {
        survey.check_area_states()?;
        fs::create_dir_all(folder).map_err(|why| file_error(folder, why))?;
        let text = format!("{}\n", survey.description(asked)?);
        let path = folder.join(JOB);
        match fs::read_to_string(&path) {
            Ok(known) if known == text => {}
            Ok(_) => {
                return Err(file_error(
                    &path,
                    "the folder has the work of another job: other files or another question",
                ));
            }
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => write_text(&path, &text)?,
            Err(why) => return Err(file_error(&path, why)),
        }
        Ok(Job { survey, folder: folder.to_path_buf() })
    }

    fn up(&self, state: u32) -> PathBuf {
        self.folder.join(format!("up-{state:02}.json"))
    }

    fn across(&self, state: u32) -> PathBuf {
        self.folder.join(format!("across-{state:02}.json"))
    }

    fn rows(&self, state: u32) -> PathBuf {
        self.folder.join(format!("down-{state:02}.txt"))
    }

    /// How far the work is.
    pub fn state(&self) -> State {
        let without = |states: Vec<u32>, path: fn(&Self, u32) -> PathBuf| {
            states.into_iter().filter(|state| !path(self, *state).exists()).collect()
        };
        State {
            without_up: without(self.survey.states_for_nation(), Job::up),
            without_rows: without(self.survey.states(), Job::rows),
        }
    }

    /// Does what is not done of these states: their passes upwards, and once those of all states are there, their rows.
    pub fn work(&self, states: &[u32], at: &At) -> Result<()> {
        let meter = &Meter::new(at, self.survey.work());
        for state in self.state().without_up.into_iter().filter(|state| states.contains(state)) {
            let root = self.survey.state_root(state, meter)?;
            write_text(&self.up(state), &root.to_text())?;
        }
        let now = self.state();
        let open: Vec<u32> = now.without_rows.into_iter().filter(|state| states.contains(state)).collect();
        if !now.without_up.is_empty() || open.is_empty() {
            return Ok(());
        }
        let top = self.top()?;
        for state in open {
            let (path, mut across) = (self.rows(state), Across::default());
            write_whole(&path, |out| {
                let mut take = |subject, answers: Vec<_>| {
                    writeln!(out, "{}", saved::to_line(&subject, &answers)).map_err(|why| file_error(&path, why))
                };
                self.survey.answer_state(state, &top, &mut across, &mut take, meter)?;
                // Beside the answers before these are there.
                if self.survey.has_across() {
                    write_text(&self.across(state), &across.to_text())?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The nation, from the files of all states.
    fn top(&self) -> Result<Top> {
        let mut roots = BTreeMap::new();
        for state in self.survey.states_for_nation() {
            let path = self.up(state);
            let text = fs::read_to_string(&path).map_err(|why| file_error(&path, why))?;
            roots.insert(state, self.survey.read_root(&text).map_err(|why| file_error(&path, why))?);
        }
        self.survey.top(roots)
    }

    /// Hands on the answers of all states, in the order in which one run would have given them.
    pub fn combine(&self, take: &mut Take) -> Result<()> {
        let now = self.state();
        let missing = now.without_up.iter().chain(&now.without_rows).min();
        if let Some(missing) = missing {
            let expected =
                "the files of all states: run the parts that are missing, and again once all have gone upwards";
            return Err(Error::out_of_range("the work of the state", format!("{missing:02}"), expected));
        }
        let top = self.top()?;
        self.survey.answer_nation(&top, take)?;
        let mut across = Across::default();
        let (queries, levels) = (self.survey.answers.names().len(), self.survey.names.levels.len());
        for state in self.survey.states() {
            let path = self.rows(state);
            let file = fs::File::open(&path).map_err(|why| file_error(&path, why))?;
            for (number, line) in (1..).zip(BufReader::new(file).lines()) {
                let line = line.map_err(|why| file_error(&path, why))?;
                let (subject, answers) = saved::of_line(&line, queries, levels).map_err(|why| {
                    let file = path.display().to_string();
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
        self.survey.answer_across(&top, across, take)
    }
}

/// The states of a part, of so many: every so-many-th, so that large states, which are not neighbors by number, are spread.
pub fn states_of_part(states: &[u32], part: usize, of: usize) -> Vec<u32> {
    states.iter().copied().skip(part - 1).step_by(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_states_once() {
        let states: Vec<u32> = (1..=51).collect();
        for of in 1..60 {
            let mut all: Vec<u32> = (1..=of).flat_map(|part| states_of_part(&states, part, of)).collect();
            all.sort_unstable();
            assert_eq!(all, states);
        }
    }
}
