//! Releases by name, and the caches between two steps of a slider.

use std::{
    collections::{HashMap, VecDeque},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anyhow::{Result, bail};
use dp_assay::{
    Error,
    account::{Delta, Stop, compared::Compared},
    release::{Release, bundled_text},
};

use rug::Rational;

use crate::cli::{
    allocate,
    report::answers::Drawn,
    risk::bound::{self, Found},
    subject::{Resolved, Subject},
};

use super::questions::places::Places;

/// Releases of the user, and recently requested subjects.
pub struct Store {
    first: String,
    begins: Beginning,
    own: Mutex<Vec<(String, Release)>>,
    known: Mutex<VecDeque<(String, Arc<Known>)>>,
    bounds: Mutex<VecDeque<(String, Arc<Found>)>>,
    margins: Mutex<HashMap<Rational, i64>>,
}

/// The initial state of the page, besides a release.
#[derive(Default)]
pub struct Beginning {
    /// A plan of SafeTab: its name and its text.
    pub plan: Option<(String, String)>,
    /// The folder of SafeTab's specification.
    pub spec: Option<PathBuf>,
    /// Places with variances.
    pub places: Vec<Places>,
}

/// A subject, and its drawing.
pub struct Known {
    /// The mechanism.
    pub subject: Resolved,
    drawn: Mutex<Option<Arc<Drawn>>>,
    learned: Mutex<Option<Arc<(bound::Request, Found)>>>,
}

impl Store {
    /// A store with the initial release of the page.
    pub fn beginning_with(name: &str, release: Release, begins: Beginning) -> Store {
        let own = if bundled_text(name).is_some() { Vec::new() } else { vec![(name.to_string(), release)] };
        Store {
            first: name.to_string(),
            begins,
            own: Mutex::new(own),
            known: Mutex::default(),
            bounds: Mutex::default(),
            margins: Mutex::default(),
        }
    }

    /// The name of the initial release.
    pub fn first(&self) -> &str {
        &self.first
    }

    /// The initial plan: its name and its text.
    pub fn plan(&self) -> Option<&(String, String)> {
        self.begins.plan.as_ref()
    }

    /// The folder of SafeTab's specification.
    pub fn spec(&self) -> Option<&Path> {
        self.begins.spec.as_deref()
    }

    /// Places with variances; none if no folder of them was given.
    pub fn places(&self) -> &[Places] {
        &self.begins.places
    }

    /// The releases of the user by name, the oldest first.
    pub fn own(&self) -> Vec<(String, Release)> {
        locked(&self.own).clone()
    }

    /// Keeps a release under a name, in place of an older one of that name.
    pub fn keep(&self, name: &str, release: Release) -> Result<()> {
        const MOST: usize = 20;
        if bundled_text(name).is_some() {
            bail!("{name}: a bundled release has this name: give the file another one");
        }
        let mut own = locked(&self.own);
        own.retain(|(known, _)| known != name);
        if own.len() >= MOST {
            own.remove(0);
        }
        own.push((name.to_string(), release));
        // Cached results may be about the older one.
        locked(&self.known).clear();
        Ok(())
    }

    /// A release of the user or a bundled one. No file is opened: the page cannot choose paths.
    pub fn release(&self, name: &str) -> dp_assay::Result<Release> {
        if let Some((_, release)) = locked(&self.own).iter().find(|(known, _)| known == name) {
            return Ok(release.clone());
        }
        match bundled_text(name) {
            Some(text) => Release::parse(text, name),
            None => {
                let bundled = Release::bundled()?.into_iter().map(|release| release.name);
                let own = self.own().into_iter().map(|(name, _)| name);
                Err(Error::Unknown {
                    kind: "release",
                    name: name.to_string(),
                    has: "there are".to_string(),
                    known: own.chain(bundled).collect(),
                })
            }
        }
    }

    /// The bounds of a release, computed or from the cache; `key` contains everything on which they depend.
    pub fn remembered(&self, key: &str, ask: impl FnOnce() -> Result<Found>) -> Result<Arc<Found>> {
        const MOST: usize = 4;
        if let Some((_, found)) = locked(&self.bounds).iter().find(|(name, _)| name == key) {
            return Ok(found.clone());
        }
        let found = Arc::new(ask()?);
        let mut all = locked(&self.bounds);
        all.truncate(MOST - 1);
        all.push_front((key.to_string(), found.clone()));
        Ok(found)
    }

    /// The margin of error at 95 % of a count with this sigma2, computed or from the cache: the present noise stays the same while a
    /// slider moves, and many queries of a level have the same noise.
    pub fn margin(&self, sigma2: &Rational) -> Result<i64> {
        const MOST: usize = 10_000;
        if let Some(known) = locked(&self.margins).get(sigma2) {
            return Ok(*known);
        }
        let margin = allocate::margin(sigma2)?;
        let mut all = locked(&self.margins);
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(sigma2.clone(), margin);
        Ok(margin)
    }

    /// The compositions of a subject; `key` names it among all others.
    pub fn subject(&self, key: &str, subject: &Subject) -> Result<Arc<Known>> {
        const MOST: usize = 8;
        if let Some((_, known)) = locked(&self.known).iter().find(|(name, _)| name == key) {
            return Ok(known.clone());
        }
        let resolved = subject.resolve_by(&|name| self.release(name))?;
        let known = Arc::new(Known { subject: resolved, drawn: Mutex::default(), learned: Mutex::default() });
        let mut all = locked(&self.known);
        all.truncate(MOST - 1);
        all.push_front((key.to_string(), known.clone()));
        Ok(known)
    }
}

impl Known {
    /// Bounds for all adversaries. A slider moves the prior or delta, so half of the last answer can be reused.
    pub fn learned(&self, request: bound::Request, stop: &Stop) -> Result<Arc<(bound::Request, Found)>> {
        let earlier = locked(&self.learned).clone();
        let found = bound::find_after(&self.subject.until(stop), &request, earlier.as_deref())?;
        let new = Arc::new((request, found));
        *locked(&self.learned) = Some(new.clone());
        Ok(new)
    }

    /// The profile from 0 to the epsilon of the smallest standard account at the smallest delta of the page's slider, so that the axes do not
    /// move.
    pub fn drawn(&self, stop: &Stop) -> Result<Arc<Drawn>> {
        const SMALLEST: &str = "1e-20";
        let mut drawn = locked(&self.drawn);
        if let Some(drawn) = &*drawn {
            return Ok(drawn.clone());
        }
        let delta: Delta = SMALLEST.parse()?;
        let end = Compared::smallest(&self.subject.whole, &delta, 6)?.epsilon;
        let new = Arc::new(Drawn::of_subject(&self.subject.until(stop), &end)?);
        *drawn = Some(new.clone());
        Ok(new)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
