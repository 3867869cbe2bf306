//! Questions wait for a free place. Those that a newer one has replaced, or whose client has gone, are not begun, and stopped if
//! they run.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    thread,
};

use dp_assay::account::Stop;
use tokio::{sync::Semaphore, task};

/// Which question of each view is the newest, and which of them run.
pub struct Queue {
    views: Mutex<HashMap<String, View>>,
    places: Semaphore,
}

/// The questions of one view.
#[derive(Default)]
struct View {
    newest: u64,
    running: Vec<Asked>,
}

/// Who asks, and when it is no use to answer.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The view.
    pub view: String,
    /// Its steps are counted.
    pub step: u64,
    /// What is worked out for later steps, too, which do not stop it.
    pub lasting: Option<String>,
    /// Set when nobody waits any more.
    pub stop: Stop,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Without {
    /// A newer question of the same view came.
    Replaced,
    /// The work broke off: a fault of the program.
    Broken,
}

/// A question that waits or runs. When it is dropped without an answer, its client has gone, and it stops.
struct Place<'q> {
    queue: &'q Queue,
    asked: Asked,
    is_answered: bool,
}

impl Queue {
    /// As many questions at a time as there are processors, and two at least.
    pub fn new() -> Queue {
        Queue::with_places(thread::available_parallelism().map_or(2, usize::from).max(2))
    }

    fn with_places(places: usize) -> Queue {
        Queue { views: Mutex::default(), places: Semaphore::new(places) }
    }

    /// Does the work of a step of a view, unless a later step comes before it begins; one that comes later stops it.
    pub async fn answer<T: Send + 'static>(
        &self,
        asked: Asked,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Without> {
        let mut place = self.enter(asked);
        let _free = self.places.acquire().await.map_err(|_| Without::Broken)?;
        if place.is_replaced() {
            return Err(Without::Replaced);
        }
        let answer = task::spawn_blocking(work).await.map_err(|_| Without::Broken);
        place.is_answered = true;
        answer
    }

    /// Takes the place of earlier steps.
    fn enter(&self, asked: Asked) -> Place<'_> {
        // Views of pages that are gone are forgotten some time.
        const MOST: usize = 1000;
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if views.len() >= MOST && !views.contains_key(&asked.view) {
            views.retain(|_, view| !view.running.is_empty());
        }
        let view = views.entry(asked.view.clone()).or_default();
        view.newest = asked.step.max(view.newest);
        let replaced =
            |older: &&Asked| older.step < asked.step && (older.lasting.is_none() || older.lasting != asked.lasting);
        view.running.iter().filter(replaced).for_each(|older| older.stop.set());
        view.running.push(asked.clone());
        drop(views);
        Place { queue: self, asked, is_answered: false }
    }
}

impl Place<'_> {
    fn is_replaced(&self) -> bool {
        let views = self.queue.views.lock().unwrap_or_else(PoisonError::into_inner);
        views.get(&self.asked.view).is_some_and(|view| view.newest > self.asked.step)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.asked.stop.set();
        }
        let mut views = self.queue.views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = views.get_mut(&self.asked.view) {
            // The same step may be asked twice: one of them goes.
            if let Some(at) = view.running.iter().position(|one| one.step == self.asked.step) {
                view.running.swap_remove(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, mpsc},
        time::Duration,
    };

    use super::*;

    fn asked(view: &str, step: u64, lasting: Option<&str>) -> Asked {
        Asked { view: view.to_string(), step, lasting: lasting.map(String::from), stop: Stop::new() }
    }

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(test);
    }

    #[test]
    fn what_is_out_of_date_is_not_worked_on() {
        run(async {
            let queue = Arc::new(Queue::with_places(1));
            let (release, wait) = mpsc::channel::<()>();
            let ask = |view: &'static str, step, wait: Option<mpsc::Receiver<()>>| {
                let queue = queue.clone();
                tokio::spawn(async move {
                    let work = move || {
                        wait.map(|wait| wait.recv());
                        step
                    };
                    queue.answer(asked(view, step, None), work).await
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
            assert_eq!(
                queue.answer(asked("c", 1, None), || -> u64 { panic!("as a test") }).await,
                Err(Without::Broken)
            );
            assert!(queue.views.lock().unwrap().values().all(|view| view.running.is_empty()));
        });
    }

    /// Works until it is stopped, for ten seconds at most.
    fn until_stopped(stop: &Stop) -> impl FnOnce() -> bool + Send + 'static {
        let stop = stop.clone();
        move || {
            (0..1000).any(|_| {
                thread::sleep(Duration::from_millis(10));
                stop.is_set()
            })
        }
    }

    #[test]
    fn what_runs_is_stopped_by_a_newer_question_and_by_a_client_that_goes() {
        run(async {
            let queue = Arc::new(Queue::with_places(4));
            let begin = |asked: Asked| {
                let (queue, work) = (queue.clone(), until_stopped(&asked.stop));
                tokio::spawn(async move { queue.answer(asked, work).await })
            };
            let (older, other, drawing) = (asked("a", 1, None), asked("b", 1, None), asked("c", 1, Some("r")));
            let running = [begin(older.clone()), begin(other.clone()), begin(drawing.clone())];
            for _ in 0..4 {
                task::yield_now().await;
            }
            // An earlier step that comes late replaces nothing.
            assert_eq!(queue.answer(asked("a", 0, None), || ()).await, Err(Without::Replaced));
            assert!(!older.stop.is_set());
            assert_eq!(queue.answer(asked("a", 2, None), || ()).await, Ok(()));
            assert!(older.stop.is_set() && !other.stop.is_set());
            // What is remembered for later steps goes on until something else is asked for.
            assert_eq!(queue.answer(asked("c", 2, Some("r")), || ()).await, Ok(()));
            assert!(!drawing.stop.is_set());
            assert_eq!(queue.answer(asked("c", 3, Some("s")), || ()).await, Ok(()));
            assert!(drawing.stop.is_set());
            let [first, second, third] = running;
            assert_eq!((first.await.unwrap(), third.await.unwrap()), (Ok(true), Ok(true)));
            second.abort();
            assert!(second.await.unwrap_err().is_cancelled() && other.stop.is_set());
        });
    }
}
