//! Questions wait for a free place, and those that a newer one has replaced are not worked on.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    thread,
};

use tokio::{sync::Semaphore, task};

/// Which question of each view is the newest.
pub struct Queue {
    newest: Mutex<HashMap<String, u64>>,
    places: Semaphore,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Without {
    /// A newer question of the same view came.
    Replaced,
    /// The work broke off: a fault of the program.
    Broken,
}

impl Queue {
    /// As many questions at a time as there are processors, and two at least.
    pub fn new() -> Queue {
        let places = thread::available_parallelism().map_or(2, usize::from).max(2);
        Queue { newest: Mutex::default(), places: Semaphore::new(places) }
    }

    /// Does the work of step `step` of a view, unless a later step comes before it begins.
    pub async fn answer<T: Send + 'static>(
        &self,
        view: &str,
        step: u64,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Without> {
        self.note(view, step);
        let _place = self.places.acquire().await.map_err(|_| Without::Broken)?;
        if self.is_replaced(view, step) {
            return Err(Without::Replaced);
        }
        task::spawn_blocking(work).await.map_err(|_| Without::Broken)
    }

    fn note(&self, view: &str, step: u64) {
        // Views of pages that are gone are forgotten some time.
        const MOST: usize = 1000;
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if newest.len() >= MOST && !newest.contains_key(view) {
            newest.clear();
        }
        let last = newest.entry(view.to_string()).or_insert(step);
        *last = step.max(*last);
    }

    fn is_replaced(&self, view: &str, step: u64) -> bool {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.get(view).is_some_and(|newest| *newest > step)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use super::*;

    #[test]
    fn what_is_out_of_date_is_not_worked_on() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let queue = Arc::new(Queue { newest: Mutex::default(), places: Semaphore::new(1) });
            let (release, wait) = mpsc::channel::<()>();
            let ask = |view: &'static str, step, wait: Option<mpsc::Receiver<()>>| {
                let queue = queue.clone();
                tokio::spawn(async move {
                    let work = move || {
                        wait.map(|wait| wait.recv());
                        step
                    };
                    queue.answer(view, step, work).await
                })
            };
            // The first holds the only place while three more come.
            let first = ask("a", 1, Some(wait));
            task::yield_now().await;
            let (second, other, third) = (ask("a", 2, None), ask("b", 1, None), ask("a", 3, None));
            for _ in 0..4 {
                task::yield_now().await;
            }
            release.send(()).unwrap();
            assert_eq!(first.await.unwrap(), Ok(1));
            assert_eq!(second.await.unwrap(), Err(Without::Replaced));
            assert_eq!(other.await.unwrap(), Ok(1));
            assert_eq!(third.await.unwrap(), Ok(3));
            assert_eq!(queue.answer("c", 1, || -> u64 { panic!("as a test") }).await, Err(Without::Broken));
        });
    }
}
