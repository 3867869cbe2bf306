//! `assay prove`: a certificate of epsilon, delta, a trade-off point or a calibration, for an independent checker.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use dp_assay::{
    account::{
        Delta,
        promise::{Grid, GridOf, Promise},
    },
    certificate::{self, Certificate, Claim, FormalClaim, Given, Hints, Proof, Question, Target, name_of_direction},
    deployments,
    document::fields::Fields,
    law::Direction,
    numeric::rational,
    replication::certified,
};
use serde_json::{Value, json};

use super::{
    arguments::{number, optional, prior, quantity},
    calibrate::{DECIMALS, FACTOR_DECIMALS},
    exit::Exit,
    output::{self, exact, exact_text},
    progress,
    risk_goal::Of,
    subject::{self, Resolved, Subject, more_private_note, of_relation},
};

/// Write a certificate that an independent checker (proofs/check.py) can verify
///
/// Of epsilon at a delta, of delta at an epsilon, of the trade-off function at a type I error; with --calibrate of the least noise that
/// is enough for an epsilon at a delta, and of the next smaller, which is not; with --row of a published value.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The delta at which epsilon is certified, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: Option<String>,
    /// The epsilon at which delta is certified, in nats, at least 0; with --calibrate the one to reach at --delta
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// The type I error at which the trade-off function is certified, 0 < alpha < 1
    #[arg(long, value_name = "ALPHA", allow_hyphen_values = true)]
    alpha: Option<String>,
    /// The prior probability at which the largest probability of a correct decision is certified, 0 < prior < 1; with --delta the largest posterior probability
    /// after events of at least probability DELTA
    #[arg(long, value_name = "P", allow_hyphen_values = true, conflicts_with_all = ["epsilon", "alpha", "calibrate", "match_", "scale_all", "decimals"])]
    prior: Option<String>,
    /// With --prior and --delta: of all events, and so of everything that is computed from the outputs; or the posterior that outputs exceed with at most
    /// probability DELTA, an upper end
    #[arg(long, value_enum, default_value_t = Of::Events, requires_all = ["prior", "delta"], conflicts_with_all = ["epsilon", "alpha", "calibrate", "match_", "scale_all", "decimals", "row"])]
    of: Of,
    /// Of one direction, and not the worse of both: with --epsilon delta, with --alpha tests, with --prior the prior of presence (with), or of absence (without)
    #[arg(long, value_enum, conflicts_with_all = ["calibrate", "match_", "scale_all", "decimals", "row", "rocq"])]
    direction: Option<Side>,
    /// The least common factor on all noise that is enough for --epsilon, or --match, at --delta; and the next smaller, which is not
    #[arg(long)]
    calibrate: bool,
    /// With --calibrate: the target is the epsilon at delta that was published for the present noise: zcdp, by zCDP (Bun-Steinke)
    #[arg(long = "match", value_enum, requires = "calibrate", conflicts_with = "epsilon")]
    match_: Option<Match>,
    /// With --calibrate: the grid is that of the common factor, and not of the smallest sigma2
    #[arg(long, requires = "calibrate")]
    scale_all: bool,
    /// With --calibrate: decimals of the grid [default: 2, or 4 with --scale-all]
    #[arg(long, value_name = "D", requires = "calibrate", value_parser = clap::value_parser!(u32).range(0..=12))]
    decimals: Option<u32>,
    /// The number from which a published value is computed: the paper, its file or a deployment, and the id of the value in it
    #[arg(
        long,
        value_name = "PAPER/ID",
        conflicts_with_all = ["delta", "epsilon", "alpha", "prior", "calibrate", "match_", "scale_all", "decimals"],
        conflicts_with_all = subject::ids()
    )]
    row: Option<String>,
    /// The certificate, a JSON file; an existing one is replaced
    #[arg(long, value_name = "FILE", required_unless_present_any = ["checker", "rocq"])]
    out: Option<PathBuf>,
    /// The checker too, one file of plain Python [default: check.py beside the certificate]; an older checker is replaced
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    checker: Option<Option<PathBuf>>,
    /// Without the commit of this program: the same claim gives the same bytes, from any build of a version
    #[arg(long)]
    reproducible: bool,
    /// The claim as a theorem for Rocq, with as many digits as it can compute: a file that proofs/rocq/check compiles; an existing one is replaced. Without --out
    /// also about truncated noise and randomized response with more answers, of which there is no certificate
    #[arg(long, value_name = "FILE.v")]
    rocq: Option<PathBuf>,
    /// Both ends of the claim within a relative distance of 10^-D; a check of more digits takes longer
    #[arg(long, value_name = "D", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=100))]
    digits: u32,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Match {
    Zcdp,
}

/// The data set whose law is the first of a direction.
#[derive(Clone, Copy, ValueEnum)]
enum Side {
    With,
    Without,
}

impl From<Side> for Direction {
    fn from(side: Side) -> Direction {
        match side {
            Side::With => Direction::Remove,
            Side::Without => Direction::Add,
        }
    }
}

pub fn run(args: &Args) -> Result<Exit> {
    let checker = args.checker()?;
    let (out, rocq) = (args.out.as_deref(), args.rocq.as_deref());
    let files: Vec<&Path> = [out, rocq, checker.as_deref()].into_iter().flatten().collect();
    if let Some((_, twice)) = files.iter().enumerate().find(|(at, file)| files[..*at].contains(file)) {
        bail!(
            "{}: named for two outputs; --out, --rocq and --checker each write a file of their own",
            dp_assay::error::shown(twice)
        );
    }
    if let Some(path) = rocq {
        check_module(path)?;
    }
    let out = match (out, rocq) {
        (Some(out), _) => out,
        (None, Some(path)) => return args.theorem_alone(path, checker),
        (None, None) => return args.checker_alone(checker),
    };
    progress::stage("hints of the certificate");
    let (certificate, subject) = args.certificate()?;
    let formal = rocq.map(|_| formal_claim(&certificate)).transpose()?;
    certificate.write(out)?;
    if let (Some(formal), Some(path)) = (&formal, rocq) {
        formal.write(path)?;
    }
    if let Some(path) = &checker {
        certificate::write_checker(path)?;
    }
    let (subject, formal, checker) = (subject.as_ref(), formal.as_ref(), checker.as_deref());
    let written = Written { certificate: &certificate, subject, out, formal, checker };
    output::object_or_words(args.json, args.object(&written), &args.words(&written))
}

/// Everything that was written.
struct Written<'a> {
    certificate: &'a Certificate,
    subject: Option<&'a Resolved>,
    out: &'a Path,
    formal: Option<&'a FormalClaim>,
    checker: Option<&'a Path>,
}

impl Args {
    /// The path of the checker. A path at which another file exists is refused.
    fn checker(&self) -> Result<Option<PathBuf>> {
        let Some(named) = &self.checker else { return Ok(None) };
        let beside = || self.out.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).join("check.py");
        let path = named.clone().unwrap_or_else(beside);
        certificate::may_hold_checker(&path).context("--checker")?;
        Ok(Some(path))
    }

    /// Writes the checker and no certificate.
    fn checker_alone(&self, checker: Option<PathBuf>) -> Result<Exit> {
        let asks = [&self.delta, &self.epsilon, &self.alpha, &self.prior, &self.row].iter().any(|text| text.is_some());
        if asks || self.calibrate || self.subject.is_given() {
            bail!(
                "--out is missing: give a file for the certificate; --checker alone writes the checker and nothing else"
            );
        }
        let path = checker.context("--checker or --out: nothing to write")?;
        certificate::write_checker(&path)?;
        let file = dp_assay::error::shown(&path);
        let words = format!("The checker is in {file}. To verify a certificate: python3 -I {file} certificate.json\n");
        output::object_or_words(self.json, json!({ "checker": path }), &words)
    }

    /// Writes the theorem and no certificate.
    fn theorem_alone(&self, path: &Path, checker: Option<PathBuf>) -> Result<Exit> {
        progress::stage("hints of the theorem");
        let (formal, subject) = match self.asked()? {
            Asked::Row(_) => (formal_claim(&self.searched()?.0)?, None),
            Asked::Of(question) => {
                let subject = self.subject.resolve()?;
                let formal = FormalClaim::prove(&subject, &question, self.digits).map_err(named).context("--rocq")?;
                (formal, Some(subject))
            }
            Asked::Calibration(promise, grid) => {
                let subject = self.subject.resolve()?;
                (FormalClaim::calibrated(&subject, &promise, grid).context("--rocq")?, Some(subject))
            }
        };
        formal.write(path)?;
        if let Some(path) = &checker {
            certificate::write_checker(path)?;
        }
        let of = match &subject {
            Some(subject) => format!("{}\n{} neighbors\n", subject.title, subject.neighbors.name()),
            None => self.row.clone().unwrap_or_default() + "\n",
        };
        let note = subject.as_ref().and_then(Resolved::note).map_or(String::new(), |note| format!("\n{note}\n"));
        let object = json!({ "file": null, "checker": checker, "rocq": self.theorem_object(&formal) });
        let object = Fields::from(object).and(subject.as_ref().map(of_relation).unwrap_or_default());
        output::object_or_words(self.json, object, &format!("{of}{}{note}", theorem_in_words(&formal, path)))
    }

    /// The numbers of the theorem.
    fn theorem_object(&self, formal: &FormalClaim) -> Fields {
        let file = Fields::new().with("file", &self.rocq);
        formal.numbers().into_iter().fold(file, |theorem, (name, [lower, upper])| match lower == upper {
            true => theorem.with(name, exact(upper)),
            false => theorem.with(name, json!({ "lower": exact(lower), "upper": exact(upper) })),
        })
    }

    /// The certificate, and its subject, unless that is a row of a paper.
    fn certificate(&self) -> Result<(Certificate, Option<Resolved>)> {
        let (mut certificate, subject) = self.searched()?;
        if self.reproducible {
            certificate.source.commit = None;
        }
        Ok((certificate, subject))
    }

    fn searched(&self) -> Result<(Certificate, Option<Resolved>)> {
        match self.asked()? {
            Asked::Row(row) => {
                let digits = self.digits.min(12);
                let found = match deployments::proof::certificate(row, digits).context("--row")? {
                    Some(found) => found,
                    None => certified::certificate(row, digits).context("--row")?,
                };
                Ok((found, None))
            }
            Asked::Calibration(promise, grid) => {
                let subject = self.subject.resolve()?;
                Ok((Certificate::calibrated(&subject, &promise, grid)?, Some(subject)))
            }
            Asked::Of(question) => {
                let subject = self.subject.resolve()?;
                let direction = self.direction.map(Direction::from);
                let certificate = Certificate::prove_of(&subject, &question, direction, self.digits).map_err(named);
                Ok((certificate?, Some(subject)))
            }
        }
    }

    /// The number to certify.
    fn asked(&self) -> Result<Asked<'_>> {
        if let Some(row) = &self.row {
            return Ok(Asked::Row(row));
        }
        let delta = || optional::<Delta>("--delta", &self.delta);
        if self.calibrate {
            let delta = delta()?.context("--calibrate needs --delta, and --epsilon or --match zcdp")?;
            let promise = match (&self.epsilon, self.match_) {
                (Some(text), _) => Promise::Epsilon { delta, epsilon: quantity("--epsilon", text)? },
                (None, Some(Match::Zcdp)) => Promise::ZcdpEpsilon { delta },
                (None, None) => bail!("--calibrate needs --epsilon or --match zcdp"),
            };
            let usual = if self.scale_all { Grid::factor(FACTOR_DECIMALS) } else { Grid::sigma2(DECIMALS) };
            let grid = Grid { decimals: self.decimals.unwrap_or(usual.decimals), ..usual };
            return Ok(Asked::Calibration(promise, grid));
        }
        if let Some(text) = &self.prior {
            let prior = prior(text)?;
            return Ok(Asked::Of(match (delta()?, self.of) {
                (Some(probability), Of::Events) => Question::Events { prior, probability },
                (Some(probability), Of::Outputs) => Question::Outputs { prior, probability },
                (None, _) => Question::Decision { prior },
            }));
        }
        let question = match (delta()?, &self.epsilon, &self.alpha) {
            (Some(delta), None, None) => Question::Epsilon { delta },
            (None, Some(text), None) => Question::Delta { epsilon: quantity("--epsilon", text)? },
            (None, None, Some(text)) => Question::Beta { alpha: number("--alpha", text)? },
            (None, None, None) => {
                bail!("say what to certify: --delta, --epsilon, --alpha, --prior, --calibrate or --row")
            }
            _ => bail!("--delta, --epsilon and --alpha: give one of them, or --calibrate with --delta and --epsilon"),
        };
        Ok(Asked::Of(question))
    }

    fn object(&self, &Written { certificate, subject, out, formal, checker }: &Written) -> Value {
        let claim = &certificate.claim;
        let key = if is_hull(claim, subject) { "hull" } else { what(claim) };
        let relation = match subject {
            Some(subject) => of_relation(subject),
            None => Fields::new().with("neighbors", claim.neighbors.name()),
        };
        let hints = |all: &[Hints]| -> Value { all.iter().map(in_json).collect() };
        of_claim(key, claim)
            .and(relation)
            .with("direction", claim.direction.map(name_of_direction))
            .with("units", claim.paths.units().len())
            .with("source", certificate.source.json())
            .with("file", out)
            .with("checker", checker)
            .with("rocq", formal.map(|formal| self.theorem_object(formal)))
            .with("proofs", json!({ "lower": hints(&certificate.lower), "upper": hints(&certificate.upper) }))
            .into()
    }

    fn words(&self, &Written { certificate, subject, out, formal, checker }: &Written) -> String {
        let claim = &certificate.claim;
        let units = match claim.paths.units().len() {
            1 => String::new(),
            many => {
                // A row of a paper names only its paths.
                let paths =
                    || format!("{many} {}", if claim.paths.pairs { "pairs of block paths" } else { "block paths" });
                format!(", the worst of {}", subject.and_then(Resolved::ways).unwrap_or_else(paths))
            }
        };
        let theorem = match (formal, &self.rocq) {
            (Some(formal), Some(path)) => theorem_in_words(formal, path),
            _ => String::new(),
        };
        let notes = subject.into_iter().flat_map(|subject| {
            let of_hull = is_hull(claim, Some(subject)).then(|| OF_HULL.to_string());
            [subject.note(), more_private_note(subject), of_hull]
        });
        let note: String = notes.flatten().map(|note| format!("\n{note}\n")).collect();
        let (mut above, mut below) = ends_in_words(claim);
        if is_hull(claim, subject) {
            (above, below) = (format!("hull: {above}"), format!("hull: {below}"));
        }
        format!(
            "{title}\n{neighbors} neighbors, {at}{units}\n\n  {below}\n    {lower_proof}\n  {above}\n    {upper_proof}\n\n\
             Written to {file}. To prove it again: python3 -I {checker} {file}\n{theorem}{note}",
            title = claim.subject,
            neighbors = claim.neighbors.name(),
            at = given_in_words(claim),
            lower_proof = in_words(&certificate.lower),
            upper_proof = in_words(&certificate.upper),
            file = dp_assay::error::shown(out),
            checker = dp_assay::error::shown(checker.unwrap_or(Path::new("proofs/check.py"))),
        )
    }
}

fn what(claim: &Claim) -> &'static str {
    match &claim.question {
        Question::Scale { .. } => "factor",
        question => question.about(),
    }
}

/// What a hull is, after the claim.
const OF_HULL: &str = "hull: the convex hull of the trade-off functions of both directions, a record removed or added. No test has a smaller type II error, and none may have one as \
                       small; --direction certifies the function of one.";

/// Whether a claim about type II errors is one about the convex hull of both directions, which differ.
fn is_hull(claim: &Claim, subject: Option<&Resolved>) -> bool {
    let is_beta = matches!(claim.question, Question::Beta { .. }) && claim.direction.is_none();
    is_beta && subject.is_some_and(|subject| !subject.total.is_symmetric())
}

/// The conditions of the claim.
pub fn given_in_words(claim: &Claim) -> String {
    let of = match claim.direction {
        Some(Direction::Remove) => ", of presence against absence",
        Some(Direction::Add) => ", of absence against presence",
        None => "",
    };
    match &claim.question {
        Question::Scale { delta, target, grid: Grid { of: grid, decimals } } => {
            let epsilon = match target {
                Target::Epsilon(epsilon) => format!("epsilon = {}", exact_text(epsilon)),
                Target::Zcdp => "the epsilon of zCDP (Bun-Steinke)".to_string(),
            };
            let of = match grid {
                GridOf::Factor => "factor",
                GridOf::SmallestSigma2 => "smallest sigma2",
            };
            format!("delta = {}, {epsilon}, the {of} a multiple of 10^-{decimals}", exact_text(delta))
        }
        question => {
            let given = |(name, given): &(&str, Given)| match given {
                Given::Number(value) => format!("{name} = {}", exact_text(value)),
                Given::Word(word) => format!("{name} = {word}"),
                Given::Counts(counts) => {
                    format!("{name} = {}", counts.iter().map(i64::to_string).collect::<Vec<_>>().join(" and "))
                }
            };
            question.given().iter().map(given).collect::<Vec<_>>().join(", ") + of
        }
    }
}

/// Both ends of a claim under this key, and its conditions.
pub fn of_claim(key: &str, claim: &Claim) -> Fields {
    let ends = Fields::new().with(key, json!({ "lower": exact(&claim.ends.lower), "upper": exact(&claim.ends.upper) }));
    claim.question.given().iter().fold(ends, |fields, (name, given)| match given {
        Given::Number(value) => fields.with(*name, exact(value)),
        Given::Word(word) => fields.with(*name, word),
        Given::Counts(counts) => fields.with(*name, counts),
    })
}

/// The upper and the lower end of a claim.
fn ends_in_words(claim: &Claim) -> (String, String) {
    let (lower, upper) = (rational::display(&claim.ends.lower), rational::display(&claim.ends.upper));
    match &claim.question {
        Question::Scale { .. } => {
            (format!("enough: all noise times {upper}"), format!("not enough: all noise times {lower}"))
        }
        question @ (Question::Outputs { .. } | Question::Events { .. }) if claim.ends.lower == 0 => {
            let about = question.about();
            (format!("{about} <= {upper}"), format!("{about} >= 0: from below nothing is claimed"))
        }
        question => (format!("{} <= {upper}", question.about()), format!("{} >= {lower}", question.about())),
    }
}

/// The number to certify.
enum Asked<'a> {
    Of(Question),
    Calibration(Promise, Grid),
    /// That of a published value.
    Row(&'a str),
}

/// An error about alpha names the option.
fn named(error: dp_assay::Error) -> dp_assay::Error {
    match error {
        dp_assay::Error::OutOfRange { what, value, expected } if what == "alpha" => {
            dp_assay::Error::OutOfRange { what: "--alpha".to_string(), value, expected }
        }
        other => other,
    }
}

fn theorem_in_words(formal: &FormalClaim, path: &Path) -> String {
    let file = dp_assay::error::shown(path);
    format!("\nThe theorem {} is in {file}. To check it: proofs/rocq/check {file}\n", formal.in_words())
}

/// The claim of the Rocq file.
fn formal_claim(certificate: &Certificate) -> Result<FormalClaim> {
    FormalClaim::new(&certificate.claim, certificate.points.as_deref().and_then(|points| points.try_into().ok()))
        .context("--rocq")
}

/// An error unless the name of a Rocq file is that of a module.
fn check_module(path: &Path) -> Result<()> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let letters = stem.starts_with(|c: char| c.is_ascii_alphabetic())
        && stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !letters || path.extension().is_none_or(|extension| extension != "v") {
        bail!(
            "--rocq {}: the file's name becomes that of a module: it has to begin with a letter, have letters, digits and _ only, and end in .v",
            dp_assay::error::shown(path)
        );
    }
    Ok(())
}

/// The work of a checker for one end.
fn in_words(all: &[Hints]) -> String {
    match all {
        [] => "closed form, no hints needed".to_string(),
        [hints] => one_in_words(hints),
        many => {
            let atoms = many.iter().filter(|hints| matches!(hints.proof, Proof::Atoms { .. })).count();
            let contours: Vec<u64> = many.iter().filter_map(|hints| Some(contour(hints)?.evaluated_nodes())).collect();
            let nodes: u64 = contours.iter().sum();
            format!(
                "in {} parts: {} contours with {nodes} nodes to evaluate, and {atoms} lists of atoms",
                many.len(),
                contours.len()
            )
        }
    }
}

fn contour(hints: &Hints) -> Option<&dp_assay::certificate::hints::Contour> {
    match &hints.proof {
        Proof::Contour(contour) => Some(contour),
        Proof::Atoms { .. } | Proof::Normal => None,
    }
}

fn one_in_words(hints: &Hints) -> String {
    let bits = hints.bits;
    match &hints.proof {
        Proof::Contour(contour) => {
            let (evaluated, c, last) = (contour.evaluated_nodes(), contour.re.to_f64(), contour.last);
            let period = contour.nodes;
            if u128::from(last) == period / 2 {
                format!(
                    "{evaluated} nodes to evaluate of {period} in the period of the lattice, at Re s = {c}, {bits} bits"
                )
            } else {
                format!("{evaluated} nodes to evaluate of {last}, and a bound beyond, at Re s = {c}, {bits} bits")
            }
        }
        Proof::Atoms { kept } => {
            let width = |(first, last): (i64, i64)| (last - first + 1).to_string();
            let widths: Vec<String> = kept.iter().map(|range| range.map_or("all".to_string(), width)).collect();
            format!("atoms: lists of {} outcomes of the groups, {bits} bits", widths.join(" and "))
        }
        Proof::Normal => "the formula of continuous Gaussian noise".to_string(),
    }
}

fn in_json(hints: &Hints) -> Value {
    let own = match &hints.proof {
        Proof::Contour(contour) => json!({
            "contour": contour.re.to_f64(),
            "period_nodes": contour.nodes,
            "last_node": contour.last,
            "evaluated_nodes": contour.evaluated_nodes(),
            "cut": contour.cut,
            "bits": hints.bits,
        }),
        Proof::Normal => json!({ "formula": "normal" }),
        Proof::Atoms { kept } => json!({ "kept": kept, "bits": hints.bits }),
    };
    Fields::from(own).with("units", hints.units.as_ref().map(Vec::len)).into()
}
