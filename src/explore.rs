//! `assay explore`: a local page whose sliders send the requests of the other commands.
//!
//! | file | purpose |
//! | --- | --- |
//! | `serve` | HTTP on 127.0.0.1: connections, limits, headers |
//! | `guard` | access: token, Host and Origin |
//! | `site` | the address of each file of the page, and of each request |
//! | `queue` | how many requests are computed at a time, and which are out of date |
//! | `ask` | a request as the options of its command |
//! | `questions`, `answers` | the answer of the command, with its words, charts and tables, view by view |
//! | `parts` | an answer in all its forms |
//! | `exports` | an answer as a command line, a release file and a notebook cell |
//! | `store` | releases that were given or dropped on the page, and their caches |

mod answers;
mod ask;
mod exports;
mod guard;
mod parts;
mod questions;
mod queue;
mod serve;
mod site;
mod store;

use std::{
    io::{self, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, anyhow, bail};
use dp_assay::{release::Release, safetab::tuning::plan::TuningPlan};

use self::{
    guard::Guard,
    questions::places,
    site::Site,
    store::{Beginning, Store},
};
use crate::cli::{application::Application, exit::Exit, output, progress, tune};

/// Explore interactively in a local web page, with certified answers
///
/// The page is served on 127.0.0.1 only, under an address with a secret token, and loads nothing from elsewhere. Ctrl-C ends it.
#[derive(clap::Args)]
pub struct Args {
    /// The release at the start of the page: a bundled one or a TOML file of the same form
    #[arg(long, value_name = "NAME|FILE", default_value = "su-su-wang-2025")]
    release: String,
    /// Begin with SafeTab's levels in this TOML file, as `assay tune --plan` reads it
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// The folder of the four files of races, ethnicities and iterations, for a config.json on the page
    #[arg(long, value_name = "DIR")]
    spec: Option<PathBuf>,
    /// A folder that `assay spine --out` or `assay estimate --out` wrote, to search places and their variances
    #[arg(long, value_name = "DIR")]
    spine: Option<PathBuf>,
    /// The port; by default a free one
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Only print the address, and open no browser
    #[arg(long)]
    no_open: bool,
}

/// The command that starts it.
#[derive(clap::Subcommand)]
pub enum Command {
    Explore(Args),
}

impl Application for Command {
    fn run(&self) -> Result<Exit> {
        let Command::Explore(args) = self;
        run(args)
    }
}

fn run(args: &Args) -> Result<Exit> {
    let release = Release::find(&args.release).context("--release")?;
    let plan = args.plan.as_deref().map(plan).transpose()?;
    if let Some(spec) = args.spec.as_ref().filter(|spec| !spec.is_dir()) {
        bail!("--spec: {}: no such folder", dp_assay::error::shown(spec));
    }
    let places = args.spine.as_deref().map(places::read).transpose().context("--spine")?.unwrap_or_default();
    let listener = TcpListener::bind(("127.0.0.1", args.port)).map_err(|why| match why.kind() {
        io::ErrorKind::AddrInUse => {
            anyhow!("--port {}: the port is already in use; choose another, or leave --port out", args.port)
        }
        io::ErrorKind::PermissionDenied => {
            anyhow!(
                "--port {}: the system does not allow this port; choose one above 1023, or leave --port out",
                args.port
            )
        }
        _ => anyhow!("--port {}: no connection can be served on 127.0.0.1: {why}", args.port),
    })?;
    let begins = Beginning { plan, spec: args.spec.clone(), places };
    let guard = Guard::new(listener.local_addr()?.port())?;
    let address = guard.address();
    let site = Site::new(guard, Store::beginning_with(&args.release, release, begins));
    progress::end();
    let mut out = output::out();
    writeln!(out, "{address}\nServing until Ctrl-C. Anyone with this address can use it.")?;
    out.flush()?;
    drop(out);
    // The view of the plan is opened if there is one.
    let address = if args.plan.is_some() { format!("{address}#safetab?how=plan") } else { address };
    if !args.no_open && open::that_detached(&address).is_err() {
        eprintln!("assay: no browser could be opened: open the address in one");
    }
    // Answers are computed on threads of their own.
    crate::cli::threads::check(2)?;
    serve::forever(Arc::new(site), listener)?;
    Ok(Exit::Done)
}

/// A valid plan: its name and its text.
fn plan(path: &Path) -> Result<(String, String)> {
    let name = path.display().to_string();
    let text = tune::plan_text_of(path)?;
    TuningPlan::parse(&text, &name).context("--plan")?;
    Ok((name, text))
}
