//! `assay report`: the answers for a policymaker, as one page of HTML, and sheets in the forms of others.

pub mod accurate;
pub mod answers;
pub mod assumed;
pub mod charts;
pub mod document;
mod sheets;
pub mod tables;
pub mod words;
pub mod yardstick;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::Epsilon,
    document::fields::Fields,
    release::Release,
    topdown::nmf::audit::{self, NmfAudit},
};
use rug::Rational;
use serde_json::{Value, json};

use self::{
    answers::{Answers, LeftOut, Private, Request, Spared, reduction},
    sheets::Sheets,
    yardstick::{Here, UnitName},
};
use super::{
    arguments::{first_given, optional, prior, quantity},
    compared, epsilon,
    exit::Exit,
    invocation,
    of_ledger::OfLedger,
    output::{exact, named},
    page::Page,
    progress,
    risk::bound,
    subject::{Format, Resolved, Subject, of_relation},
};

/// One page of HTML to mail or print: how private, beside what was published, what an adversary learns, how accurate
///
/// The page (--out) has each answer in words, its chart, the assumptions, and the certified numbers. It loads nothing and needs no script.
/// How much noise could be spared is answered for a published epsilon, or for a required one (--epsilon). A section that does not apply is left
/// out and named.
/// --nist writes a sheet that answers the points of NIST SP 800-226 from the release file, and --registry an entry of the public Deployments
/// Registry. A file of that name is replaced. The exit status is 1 if the noise of an audited folder deviates.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    of_ledger: OfLedger,
    /// The delta at which epsilon is computed, 0 < delta < 1
    #[arg(long, value_name = "DELTA", default_value = "1e-10", allow_hyphen_values = true)]
    delta: String,
    /// The prior probability of the adversary, 0 < P < 1
    #[arg(long, value_name = "P", default_value = "1/2", allow_hyphen_values = true)]
    prior: String,
    /// The epsilon that is required at --delta: how much noise could be spared, or is missing, is computed for it
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// The unit of a record; published deployments of the same unit are beside it
    #[arg(long, value_name = "UNIT", value_enum, default_value = "person")]
    unit: UnitName,
    /// Also audit the noise in a folder of noisy measurement files of the release, as `assay nmf audit` does
    #[arg(long, value_name = "DIR", requires_all = ["release", "out"])]
    nmf: Option<PathBuf>,
    /// The page to write
    #[arg(long, value_name = "FILE.html", required_unless_present_any = ["nist", "registry"])]
    out: Option<PathBuf>,
    /// Write a sheet that answers the points of NIST SP 800-226, as HTML or Markdown
    #[arg(long, value_name = "FILE.html|.md")]
    nist: Option<PathBuf>,
    /// Write an entry of the public Deployments Registry
    #[arg(long, value_name = "FILE.yaml")]
    registry: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

pub fn run(args: &Args) -> Result<Exit> {
    let (prior, required): (_, Option<Epsilon>) = (prior(&args.prior)?, optional("--epsilon", &args.epsilon)?);
    let request = Request {
        delta: quantity("--delta", &args.delta)?,
        prior,
        required,
        about: args.unit.into(),
        digits: args.format.digits,
    };
    for (option, path) in [("--out", &args.out), ("--nist", &args.nist), ("--registry", &args.registry)] {
        if let Some(path) = path.as_ref().filter(|path| path.is_dir()) {
            bail!("{option}: {}: is a folder: give the name of a file", dp_assay::error::shown(path));
        }
    }
    if let Some(option) = args.about_one_release().filter(|_| args.of_ledger.is_given()) {
        bail!("{option}: it is about one release, and a ledger has several: leave it out, or give --release");
    }
    let subject = args.of_ledger.resolve(&args.subject)?;
    let audit = audited(args)?;
    let provenance = invocation::provenance()?;
    let sheets = Sheets { nist: args.nist.as_deref(), registry: args.registry.as_deref() };
    let written = sheets.write(&args.subject, &subject, &request, &provenance)?;
    let mut page = args.format.page();
    let object = match &args.out {
        Some(out) => {
            let answers = request.answers(&subject)?;
            let html = document::page(&request, &subject, (&answers, audit.as_ref()), &provenance)?;
            dp_assay::chart::write_page(out, &html).context("--out")?;
            put_answers(&mut page, &request, &subject, (&answers, audit.as_ref()));
            let lines = lines(&answers);
            page.records(lines.iter().map(Fields::object));
            object(&request, &subject, &answers, lines)
                .with("out", out.display().to_string())
                .with_some("audit", audit.as_ref().map(audit_object))
        }
        None => {
            let object = written.as_ref().map(|sheet| sheet.object(&request, &subject)).unwrap_or_default();
            page.text(format!("{}\n\n", subject.title));
            for sentence in written.iter().flat_map(|sheet| sheet.said(&request)) {
                page.text(format!("{sentence}\n"));
            }
            page.records([object.object()]);
            object
        }
    };
    page.object(sheets.named(object));
    page.provenance(provenance);
    let paths = [&args.out, &args.nist, &args.registry].into_iter().flatten();
    let names: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    for condition in subject.conditions() {
        page.text(format!("{condition}\n"));
    }
    page.text(format!("\nwritten to {}\n", names.join(" and ")));
    page.answered(!audit.is_some_and(|audit| audit.verdict.deviates()))
}

impl Args {
    /// An option that a ledger cannot have.
    fn about_one_release(&self) -> Option<&'static str> {
        let [nist, registry, nmf] = [self.nist.is_some(), self.registry.is_some(), self.nmf.is_some()];
        first_given([("--nist", nist), ("--registry", registry), ("--nmf", nmf)])
    }
}

/// The sentences of the page.
fn put_answers(
    page: &mut Page,
    request: &Request,
    subject: &Resolved,
    (answers, audit): (&Answers, Option<&NmfAudit>),
) {
    page.text(format!("{}\n\n", subject.title));
    let private = answers.private.as_ref();
    let said = [
        or_left_out(private, |private| words::how_private(&request.delta, subject, &private.found)),
        or_left_out(answers.yardstick.as_ref(), |yardstick| {
            let of = |private: &Private| {
                let here = Here::of_subject(subject, &private.found.total.epsilon.value);
                yardstick::said(yardstick, &here, &request.delta)
            };
            private.map(of).unwrap_or_default()
        }),
        words::what_is_learned(&request.prior, subject, &answers.learned),
        or_left_out(answers.margins.as_ref(), |margins| accurate::said(margins)),
        or_left_out(answers.spared.as_ref(), |spared| {
            words::what_could_be_spared(spared, subject.may_be_more_private().is_some())
        }),
    ];
    for sentence in said.into_iter().chain(audit.map(words::noise)).flatten() {
        page.text(format!("{sentence}\n"));
    }
    let lines = private.into_iter().flat_map(|private| private.found.lines());
    page.say_wider(lines.map(|line| (line.name.as_str(), &line.epsilon)));
}

/// The sentences of a section, or the one that names it as left out.
fn or_left_out<T>(section: std::result::Result<T, &LeftOut>, said: impl FnOnce(T) -> Vec<String>) -> Vec<String> {
    section.map_or_else(|why| vec![why.sentence()], said)
}

/// True noise is reported as deviating with at most this probability, as by default in `assay nmf audit`.
const FALSE_ALARM_RATE: (u32, u32) = (1, 1000);

/// The audit of the folder, if one is given.
fn audited(args: &Args) -> Result<Option<NmfAudit>> {
    let (Some(folder), Some(release)) = (&args.nmf, args.subject.release_name()) else { return Ok(None) };
    let release = Release::find(release).context("--release")?;
    progress::stage("noisy counts read");
    let audit = audit::audit(folder, &release, &audit::Asked::default(), &Rational::from(FALSE_ALARM_RATE));
    Ok(Some(audit.context("--nmf")?))
}

fn audit_object(audit: &NmfAudit) -> Value {
    json!({
        "verdict": audit.verdict.key(),
        "verdict_in_words": audit.words(),
        "tests": audit.tests.len(),
        "draws": { "zeros": audit.draws.0, "totals": audit.draws.1 },
        "false_alarm_rate": exact(&audit.verdict.false_alarm_rate),
    })
}

/// The numbers of the page.
fn object(request: &Request, subject: &Resolved, answers: &Answers, mut lines: Vec<Fields>) -> Fields {
    let whole = lines.pop().unwrap_or_default();
    let private = answers.private.as_ref().ok().map(|private| &private.found.total);
    let left_out = |why: &LeftOut| json!({ "section": why.section, "reason": why.reason });
    let factor = answers.spared.as_ref().ok().and_then(|spared| spared.common_factor.as_ref());
    let yardstick = answers.yardstick.as_ref().ok().zip(private);
    let yardstick =
        yardstick.map(|(own, total)| yardstick::object(own, &Here::of_subject(subject, &total.epsilon.value)));
    whole
        .with("delta", exact(&request.delta))
        .with("prior", exact(&request.prior))
        .and(of_relation(subject))
        .with_some("worst_pair", private.and_then(|total| total.decided_by.as_ref()))
        .with_any("left_out", answers.left_out().into_iter().map(left_out))
        .with_some("factor", factor.map(exact))
        .with_some("reduction_percent", factor.map(|factor| exact(&reduction(factor))))
        .with_some("yardstick", yardstick)
        .with_some("margins", answers.margins.as_ref().ok().map(|margins| accurate::records(margins)))
        .with_any("levels", lines)
}

/// The fields of each level, and of the whole last.
fn lines(answers: &Answers) -> Vec<Fields> {
    let private: Vec<&epsilon::Line> = answers.private.iter().flat_map(|private| private.found.lines()).collect();
    let of = |(at, line): (usize, &bound::Line)| {
        let (bound, spared) =
            (&line.bound, answers.spared.iter().flat_map(Spared::rows).find(|row| row.name == line.name));
        let none = || Fields::new().with("epsilon", Value::Null);
        named(&line.name, private.get(at).map_or_else(none, |line| of_epsilon(line)))
            .with("correct_decision_upper", &bound.correct.value)
            .with("posterior_events", &bound.posterior_of_events.value)
            .with("advantage", &bound.advantage)
            .with_some("sigma2", spared.map(|row| exact(row.variances.first().unwrap_or(&row.factor))))
            .with_some("calibrated_sigma2", spared.map(|row| exact(&row.calibrated(&row.factor))))
            .with_some("reduction_percent", spared.map(|row| exact(&row.reduction())))
    };
    answers.learned.lines().enumerate().map(of).collect()
}

/// The numbers about an epsilon.
fn of_epsilon(line: &epsilon::Line) -> Fields {
    Fields::new()
        .with("epsilon", &line.epsilon.value)
        .with("rho", exact(&line.rho))
        .with("zcdp_epsilon", &line.zcdp)
        .with("compared_with", compared::json(&line.compared))
        .with("method", line.epsilon.proof.to_string())
        .with("status", line.epsilon.status())
}
