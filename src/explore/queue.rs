//! Requests wait for a free place. A request that a newer one has replaced, or whose client has gone, is not begun, and stopped if
//! it runs.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    thread,
};

use dp_assay::account::Stop;
use tokio::{sync::Semaphore, task};

/// The newest request of each view, and those that run.
pub struct Queue {
    views: Mutex<HashMap<String, View>>,
    places: Semaphore,
}

/// The requests of one view.
#[derive(Default)]
struct View {
    newest: u64,
    running: Vec<Request>,
}

/// A request of a view, and its stop.
#[derive(Clone, Debug)]
pub struct Request {
    /// The view.
    pub view: String,
    /// Its steps are counted.
    pub step: u64,
    /// The cached part of its work, which later steps with the same part do not stop.
    pub lasting: Option<String>,
    /// Set when the client no longer waits.
    pub stop: Stop,
}

/// The reason why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Without {
    /// A newer request of the same view came.
    Replaced,
    /// The work ended in a panic: a fault of the program.
    Broken,
}

/// A request that waits or runs. If it is dropped without an answer, its client has gone, and it stops.
struct Place<'q> {
    queue: &'q Queue,
    request: Request,
    is_answered: bool,
}

impl Queue {
    /// As many requests at a time as there are processors, and at least two.
    pub fn new() -> Queue {
        Queue::with_places(thread::available_parallelism().map_or(2, usize::from).max(2))
    }

    fn with_places(places: usize) -> Queue {
        Queue { views: Mutex::default(), places: Semaphore::new(places) }
    }

    /// Does the work of a step of a view, unless a later step comes before it begins; a later step also stops it.
    pub async fn answer<T: Send + 'static>(
        &self,
        request: Request,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Without> {
        let mut place = self.enter(request);
        let _free = self.places.acquire().await.map_err(|_| Without::Broken)?;
        if place.is_replaced() {
            return Err(Without::Replaced);
        }
        let answer = task::spawn_blocking(work).await.map_err(|_| Without::Broken);
        place.is_answered = true;
        answer
    }

    /// Takes the place of earlier steps.
    fn enter(&self, request: Request) -> Place<'_> {
        // Views of closed pages are forgotten eventually.
        const MOST: usize = 1000;
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if views.len() >= MOST && !views.contains_key(&request.view) {
            views.retain(|_, view| !view.running.is_empty());
        }
        let view = views.entry(request.view.clone()).or_default();
        view.newest = request.step.max(view.newest);
        let replaced = |older: &&Request| {
            older.step < request.step && (older.lasting.is_none() || older.lasting != request.lasting)
        };
        view.running.iter().filter(replaced).for_each(|older| older.stop.set());
        view.running.push(request.clone());
        drop(views);
        Place { queue: self, request, is_answered: false }
    }
}

impl Place<'_> {
    fn is_replaced(&self) -> bool {
        let views = self.queue.views.lock().unwrap_or_else(PoisonError::into_inner);
        views.get(&self.request.view).is_some_and(|view| view.newest > self.request.step)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.request.stop.set();
        }
        let mut views = self.queue.views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = views.get_mut(&self.request.view) {
            // The same step may be requested twice: one of them is removed.
            if let Some(at) = view.running.iter().position(|one| one.step == self.request.step) {
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

    fn request(view: &str, step: u64, lasting: Option<&str>) -> Request {
        Request { view: view.to_string(), step, lasting: lasting.map(String::from), stop: Stop::new() }
    }

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(test);
    }

    #[test]
    fn requests_that_are_out_of_date_are_not_begun() {
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
                    queue.answer(request(view, step, None), work).await
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
                queue.answer(request("c", 1, None), || -> u64 { panic!("as a test") }).await,
                Err(Without::Broken)
            );
            assert!(queue.views.lock().unwrap().values().all(|view| view.running.is_empty()));
        });
    }

    /// Works until it is stopped, for at most ten seconds.
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
    fn running_work_is_stopped_by_a_newer_request_and_by_a_closed_client() {
        run(async {
            let queue = Arc::new(Queue::with_places(4));
            let begin = |request: Request| {
                let (queue, work) = (queue.clone(), until_stopped(&request.stop));
                tokio::spawn(async move { queue.answer(request, work).await })
            };
            let (older, other, drawing) = (request("a", 1, None), request("b", 1, None), request("c", 1, Some("r")));
            let running = [begin(older.clone()), begin(other.clone()), begin(drawing.clone())];
            for _ in 0..4 {
                task::yield_now().await;
            }
            // An earlier step that arrives late replaces nothing.
            assert_eq!(queue.answer(request("a", 0, None), || ()).await, Err(Without::Replaced));
            assert!(!older.stop.is_set());
            assert_eq!(queue.answer(request("a", 2, None), || ()).await, Ok(()));
            assert!(older.stop.is_set() && !other.stop.is_set());
            // Cached work for later steps continues until a request needs other work.
            assert_eq!(queue.answer(request("c", 2, Some("r")), || ()).await, Ok(()));
            assert!(!drawing.stop.is_set());
            assert_eq!(queue.answer(request("c", 3, Some("s")), || ()).await, Ok(()));
            assert!(drawing.stop.is_set());
            let [first, second, third] = running;
            assert_eq!((first.await.unwrap(), third.await.unwrap()), (Ok(true), Ok(true)));
            second.abort();
            assert!(second.await.unwrap_err().is_cancelled() && other.stop.is_set());
        });
    }
}
