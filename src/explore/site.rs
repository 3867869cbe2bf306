//! The address of each file of the page, and of each request.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use dp_assay::{
    law::{ENTRIES, Entry, Number},
    numeric::rational,
    provenance::{COMMIT, VERSION},
    release::Release,
};
use hyper::{Method, StatusCode, body::Bytes, header::HeaderValue};
use serde_json::{Value, json};

use super::{
    answers,
    ask::{self, Question},
    guard::Guard,
    queue::{Queue, Request, Without},
    store::Store,
};

/// Everything that is served.
pub struct Site {
    /// The access check.
    pub guard: Guard,
    store: Arc<Store>,
    queue: Queue,
}

/// The target of a request.
pub enum Route {
    /// A file of the page.
    File(&'static File),
    /// The initial state of the page.
    Start,
    /// A request of this name.
    Ask(&'static str),
    /// A release to keep.
    Keep,
}

/// A reply.
pub struct Reply {
    pub status: StatusCode,
    pub kind: &'static str,
    pub body: Bytes,
}

/// A file of the page, built into the program.
pub struct File {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JSON: &str = "application/json; charset=utf-8";

/// Pairs each path with its kind and the text of its file.
macro_rules! files {
    ($($path:literal, $kind:expr, $name:literal);* $(;)?) => {
        &[$(File { path: $path, kind: $kind, text: include_str!(concat!("page/", $name)) }),*]
    };
}

const FILES: &[File] = files![
    "", HTML, "index.html";
    "icon.svg", SVG, "icon.svg";
    "reading.css", CSS, "../../cli/report/reading.css";
    "style.css", CSS, "style.css";
    "main.js", SCRIPT, "main.js";
    "state.js", SCRIPT, "state.js";
    "ask.js", SCRIPT, "ask.js";
    "dom.js", SCRIPT, "dom.js";
    "file.js", SCRIPT, "file.js";
    "slider.js", SCRIPT, "slider.js";
    "panel.js", SCRIPT, "panel.js";
    "downloads.js", SCRIPT, "downloads.js";
    "exports.js", SCRIPT, "exports.js";
    "csv.js", SCRIPT, "csv.js";
    "columns.js", SCRIPT, "columns.js";
    "margins.js", SCRIPT, "margins.js";
    "subject.js", SCRIPT, "subject.js";
    "budget.js", SCRIPT, "budget.js";
    "targets.js", SCRIPT, "targets.js";
    "town.js", SCRIPT, "town.js";
    "safetab.js", SCRIPT, "safetab.js";
    "views.js", SCRIPT, "views.js";
];

impl Site {
    /// A site of these releases.
    pub fn new(guard: Guard, store: Store) -> Site {
        Site { guard, store: Arc::new(store), queue: Queue::new() }
    }

    /// The target of a request, or the reason why it is refused.
    pub fn route(&self, method: &Method, path: &str, kind: Option<&HeaderValue>) -> Result<Route, Reply> {
        let route = match path {
            "api/start" => Route::Start,
            "api/release" => Route::Keep,
            _ => match path.strip_prefix("api/").and_then(Question::known) {
                Some(name) => Route::Ask(name),
                None => {
                    let file = FILES.iter().find(|file| file.path == path);
                    Route::File(
                        file.ok_or_else(|| Reply::error(StatusCode::NOT_FOUND, "there is no file of this name"))?,
                    )
                }
            },
        };
        let is_post = matches!(route, Route::Ask(_) | Route::Keep);
        let expected = if is_post { Method::POST } else { Method::GET };
        if *method != expected {
            return Err(Reply::error(StatusCode::METHOD_NOT_ALLOWED, &format!("use the method {expected}")));
        }
        // Another page cannot send this type without permission.
        let is_json = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        if is_post && !is_json {
            return Err(Reply::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send JSON, as application/json"));
        }
        Ok(route)
    }

    /// The answer of a route.
    pub async fn answer(&self, route: Route, body: &[u8]) -> Reply {
        match route {
            Route::File(file) => {
                Reply { status: StatusCode::OK, kind: file.kind, body: Bytes::from_static(file.text.as_bytes()) }
            }
            Route::Start => Reply::of_answer(self.start()),
            Route::Keep => Reply::of_answer(self.keep(body)),
            Route::Ask(name) => match Question::read(name, body) {
                Err(error) => Reply::of_answer(Err(error)),
                Ok(question) => self.ask(question).await,
            },
        }
    }

    async fn ask(&self, question: Question) -> Reply {
        let request = Request {
            view: format!("{} {}", question.view, question.name),
            step: question.step,
            lasting: question.lasting().map(String::from),
            stop: question.stop.clone(),
        };
        let (store, stop) = (self.store.clone(), question.stop.clone());
        match self.queue.answer(request, move || answers::answer(&store, &question)).await {
            // Stopped work has no answer, even if it has completed.
            Ok(answer) if answer.is_ok() || !stop.is_set() => Reply::of_answer(answer),
            Ok(_) | Err(Without::Replaced) => Reply::error(StatusCode::CONFLICT, "a newer request replaced it"),
            Err(Without::Broken) => Reply::error(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the request could not be answered: this is a fault of the program, please report it",
            ),
        }
    }

    /// The initial state of the page.
    fn start(&self) -> Result<Value> {
        let own = self.store.own();
        let bundled = Release::bundled()?;
        let bundled = bundled.iter().map(|release| (release.name.as_str(), release, true));
        let own = own.iter().map(|(name, release)| (name.as_str(), release, false));
        let releases: Vec<Value> = own.chain(bundled).map(|(name, release, is)| about(name, release, is)).collect();
        let laws: Vec<Value> = ENTRIES.iter().filter(|entry| !entry.is_file()).map(law).collect();
        Ok(
            json!({ "version": VERSION, "commit": COMMIT, "first": self.store.first(), "releases": releases, "laws": laws,
            "plan": self.store.plan().map(|(name, text)| json!({ "name": name, "text": text })),
            "has_spec": self.store.spec().is_some(), "has_places": !self.store.places().is_empty() }),
        )
    }

    /// Keeps a release of the user: `{"name": "...", "text": "..."}`.
    fn keep(&self, body: &[u8]) -> Result<Value> {
        let object = ask::object(body)?;
        let text =
            |key: &str| object.get(key).and_then(Value::as_str).with_context(|| format!("{key}: expected a text"));
        let (name, text) = (ask::checked_name(text("name")?)?, text("text")?);
        if text.contains(['\0', '\u{fffd}']) {
            bail!("{name}: is not a text file: a release is TOML, as `assay releases --new` prints");
        }
        let release = Release::parse(text, name)?;
        let about = about(name, &release, false);
        self.store.keep(name, release)?;
        Ok(about)
    }
}

/// A law as the page knows it: its option, its name in words and the names of its numbers, each with an example.
fn law(entry: &Entry) -> Value {
    let part = |name: &'static str| {
        // Of a nested text the law and its parameter.
        let example = match name {
            "law" => "gaussian",
            "parameter" => "5",
            name => Number::named(name).map_or("", |number| number.example),
        };
        json!({ "name": name, "first": example })
    };
    json!({ "key": entry.option, "name": entry.name(), "parameters": entry.numbers("").into_iter().map(part).collect::<Vec<_>>() })
}

/// A release as the page knows it.
fn about(name: &str, release: &Release, is_bundled: bool) -> Value {
    let levels = release.levels.iter().map(|level| {
        let query = |query: &dp_assay::release::Query| {
            json!({ "name": query.name, "sigma2": query.sigma2().ok().map(rational::display) })
        };
        json!({ "name": level.name, "queries": level.queries.iter().map(query).collect::<Vec<_>>() })
    });
    json!({
        "name": name,
        "title": release.title,
        "source": release.source,
        "neighbors": release.neighbors.name(),
        "bundled": is_bundled,
        "budget_only": release.budget_only,
        "paths": release.paths.is_some(),
        "levels": levels.collect::<Vec<_>>(),
    })
}

impl Reply {
    /// A refusal with its reason.
    pub fn error(status: StatusCode, message: &str) -> Reply {
        Reply { status, kind: JSON, body: json!({ "error": message }).to_string().into() }
    }

    fn of_answer(answer: Result<Value>) -> Reply {
        match answer {
            Ok(answer) => Reply { status: StatusCode::OK, kind: JSON, body: answer.to_string().into() },
            Err(error) => Reply::error(StatusCode::BAD_REQUEST, &format!("{error:#}")),
        }
    }
}
