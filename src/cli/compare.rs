//! `assay compare`: every accountant side by side, for one release or several.

mod accountants;
mod side_by_side;

use anyhow::Result;
use dp_assay::{account::Delta, chart::ranks, document::fields::Fields};
use serde_json::json;

use self::accountants::Accountants;
use super::{
    arguments::quantity,
    drawn::Drawn,
    exit::Exit,
    output::{self, exact_text},
    subject::{self, Format, Subject},
};

/// Every accountant side by side: exact, RDP, zCDP by two conversions, GDP, pure DP; for one release or several
///
/// With --release given more than once, all releases side by side: every accountant, and the budget and exact epsilon of each
/// level.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The delta at which epsilon is computed, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    drawn: Drawn,
}

pub fn run(args: &Args) -> Result<Exit> {
    let delta: Delta = quantity("--delta", &args.delta)?;
    let digits = args.format.digits;
    let subjects = args.subject.resolve_each()?;
    let [(_, subject)] = &subjects[..] else {
        return side_by_side::run(&subjects, &delta, &args.format, &args.drawn);
    };
    let accountants = Accountants::of_subject(subject, &delta, digits)?;
    let mut page = args.drawn.page(&args.format)?;
    let pair = subject.deciding_pair(&accountants.exact);
    let answer = json!({
        "delta": output::exact(&delta),
        "rho": output::exact(subject.total.rho()),
        "accountants": accountants.rows(),
        "status": accountants.exact.status(),
        "worst_pair": pair,
    });
    page.object(Fields::from(answer).and(subject::of_relation(subject)));
    page.text(subject::heading(subject, &format!(", delta = {}", exact_text(&delta))));
    page.rows(&accountants.rows());
    page.lines(&subject::decided([("", pair.as_deref())].into_iter()));
    page.note(subject.note());
    page.say_wider([("exact", &accountants.exact)]);
    args.drawn.write(|| ranks::figure(&subject.title, &[accountants.ranks(&delta)]))?;
    page.done()
}
