//! `assay explain`: how the number was certified.

use anyhow::{Context, Result};
use dp_assay::{
    account::{Account, Answer, Composition, Delta},
    document::fields::Fields,
    law::Law,
    loss::{
        answer::{Field, Proof, Quantity},
        second::SecondEnclosure,
    },
    numeric::{
        effort::{self, Effort},
        rational,
    },
};
use rug::Rational;
use serde_json::{Map, Value, json};

use super::{
    arguments::quantity,
    exit::Exit,
    output::{self, bound, ends, exact, exact_text},
    progress,
    subject::{self, Format, Resolved, Subject},
};

/// How the number was certified: contour, nodes, precision, each error bound
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    /// The delta at which epsilon is computed, 0 < delta < 1
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    format: Format,
}

pub fn run(args: &Args) -> Result<Exit> {
    let delta: Delta = quantity("--delta", &args.delta)?;
    let subject = args.subject.resolve()?;
    let digits = args.format.digits;
    let explained = Explained::of_subject(&subject, delta, digits)?;
    let mut page = args.format.page();
    let (whole, delta) = (&subject.whole, &explained.delta);
    let answer = Fields::from(explained.to_json())
        .and(subject::of_directions(whole.epsilon_of_directions(delta, digits)?.as_ref()))
        .and(subject::of_infinite_loss(whole.infinite_loss(), digits))
        .and(subject::of_relation(&subject));
    page.answer(answer);
    page.text(explained.in_words());
    page.lines(&subject::law_notes(&subject));
    page.lines(&subject.note().into_iter().chain(subject::more_private_note(&subject)).collect::<Vec<_>>());
    page.say_wider([("epsilon", &explained.epsilon)]);
    page.done()
}

/// An epsilon with what proves its upper end.
struct Explained<'a> {
    subject: &'a Resolved,
    delta: Delta,
    epsilon: Answer,
    /// The composition that decides, of several.
    total: Composition,
    pair: Option<String>,
    /// The delta at the upper end.
    at_upper: Answer,
    second: SecondEnclosure,
    /// Of epsilon, and of the proof of its upper end.
    effort: Effort,
}

impl<'a> Explained<'a> {
    fn of_subject(subject: &'a Resolved, delta: Delta, digits: u32) -> Result<Self> {
        progress::stage("epsilon of the whole");
        let (epsilon, of_epsilon) = effort::of_task(|| subject.whole.epsilon(&delta, digits));
        let epsilon = epsilon?;
        let total = subject.deciding_composition(&epsilon)?;
        let pair = subject.deciding_pair(&epsilon);
        // The proof of the upper end: delta there is at most the target.
        let at = epsilon.value.upper_rational().context("epsilon has no finite bound")?;
        progress::stage("proof of its upper end, in two ways");
        let evaluator = subject.whole.evaluator();
        let (at_upper, of_upper) = effort::of_task(|| subject.whole.delta_by(&evaluator, &at, digits));
        let at_upper = at_upper?;
        let second = subject.whole.second_delta(&evaluator, &at, at_upper.pair())?;
        let effort = of_epsilon.and(of_upper);
        Ok(Explained { subject, delta, epsilon, total, pair, at_upper, second, effort })
    }

    /// The numbers of counts and of groups of equal ones.
    fn counts(&self) -> (u64, usize) {
        let groups = self.total.loss().groups();
        (groups.iter().map(|group| group.copies).sum(), groups.len())
    }

    /// What each loss of the sum is of: a count, a step on a Poisson sample, or a term in place of another mechanism.
    fn term(&self) -> &'static str {
        let is_count = |law: &Law| law.is_symmetric_noise() || matches!(law, Law::Table(_));
        let all = |is: &dyn Fn(&Law) -> bool| self.subject.queries.iter().all(|query| is(&query.counts.law));
        match (all(&is_count), all(&Law::is_sampled)) {
            (true, _) => "count",
            (_, true) => "step",
            _ => "term",
        }
    }

    /// What proves both ends.
    fn because(&self, delta: &str) -> String {
        let value = &self.epsilon.value;
        if value.upper().is_zero() {
            return format!("delta(0) is at most {delta}");
        }
        let at_most = format!("delta(epsilon) is at most {delta} at the upper end");
        if value.lower().is_zero() { at_most } else { format!("{at_most}, and at least {delta} at the lower") }
    }

    /// The distance of two losses, where they lie on a lattice.
    fn step(&self) -> Option<&Rational> {
        self.total.loss().step().filter(|_| !self.total.has_rounded_losses())
    }

    fn to_json(&self) -> Value {
        let how = &self.at_upper.proof;
        let of = |name| how.field(name).map(json_of);
        let (copies, groups) = self.counts();
        json!({
            "epsilon": self.epsilon.value.to_json(),
            "delta": exact(&self.delta),
            "rho": exact(self.total.rho()),
            "groups": groups,
            "counts": copies,
            "lattice_step": self.step().map(exact),
            "lattice_step_exact": self.step().map(ToString::to_string),
            "kernel": how.field("contour").map(|_| kernel(how)),
            "lattice_refused": of("lattice_refused"),
            "swept_height": of("swept_height"),
            "delta_at_upper": self.at_upper.value.to_json(),
            "second_delta_at_upper": output::second_json(&self.second),
            "method": how.to_string(),
            "engine": how.engine(),
            "proof": fields_of(how),
            "contour": of("contour"),
            "period_nodes": of("period_nodes"),
            "evaluated_nodes": of("evaluated_nodes"),
            "side_lobes": of("side_lobes"),
            "bits": of("bits"),
            "alias_error_upper": of("alias_error"),
            "truncation_error_upper": of("truncation_error"),
            "rounding_error_upper": of("rounding_error"),
            "status": self.epsilon.status(),
            "effort_seconds": self.effort.seconds_approx(),
            "worst_pair": self.pair,
        })
    }

    /// Where the losses lie, and about which of several neighbors the answer is.
    fn losses_in_words(&self) -> String {
        let mut text = match self.step() {
            _ if self.total.is_uniform() => {
                "Some losses have a density: sums of them have a profile in closed form.".to_string()
            }
            _ if self.total.has_rounded_losses() => {
                "The losses have no common multiple: they are rounded to multiples of 2^-96 nats, up and down."
                    .to_string()
            }
            None => "The privacy loss has a density: some noise is continuous.".to_string(),
            Some(step) => format!("The privacy loss lies on a lattice of step h = {} nats.", short(step)),
        };
        if !self.total.is_symmetric() {
            text += "\n  The two neighbors are not symmetric: the answer is the larger of both directions.";
        }
        if let Some(pair) = &self.pair {
            text += &format!("\n  All at once; that of {pair}.");
        }
        text
    }

    fn in_words(&self) -> String {
        let how = &self.at_upper.proof;
        let (copies, groups) = self.counts();
        let (lower, upper) = ends(&self.epsilon.value);
        let (delta_lower, delta_upper) = ends(&self.at_upper.value);
        format!(
            "{title}
{neighbors} neighbors, delta = {delta}

The question
  {terms} in {in_groups} of equal noise, rho = {rho}
  {losses}

The answer
  epsilon >= {lower}
  epsilon <= {upper}
  because {because}.

The proof at the upper end
{proof}  so           {delta_lower} <= delta <= {delta_upper}

A second enclosure of that delta, which shares only the arithmetic with the first
  {second}

The effort
  {effort}, at the fixed prices of the engines' steps: counted, not measured, and the same under any load
",
            title = self.subject.title,
            neighbors = self.subject.neighbors.name(),
            delta = exact_text(&self.delta),
            terms = output::count_of(copies, self.term()),
            in_groups = output::count_of(groups as u64, "group"),
            rho = short(self.total.rho()),
            losses = self.losses_in_words(),
            because = self.because(&exact_text(&self.delta)),
            proof = by_contour(how).unwrap_or_else(|| in_lines(how)),
            second = output::second_text(&self.second),
            effort = priced(self.effort),
        )
    }
}

/// An effort in seconds, to two digits.
fn priced(effort: Effort) -> String {
    let seconds = effort.seconds_approx();
    let places = (1.0 - libm::log10(seconds.max(1e-9)).floor()).clamp(0.0, 6.0) as usize;
    format!("{seconds:.places$} s")
}

/// Whether a contour runs over the period of a lattice, or over the whole line.
fn kernel(proof: &Proof) -> &'static str {
    if proof.field("period_nodes").is_some() { "lattice" } else { "line" }
}

/// The name of a number in JSON: bounds say in which direction.
fn json_name(field: &Field) -> String {
    match field.value {
        Quantity::UpperBound(_) => format!("{}_upper", field.name),
        _ => field.name.to_string(),
    }
}

/// The numbers of a proof by name.
fn fields_of(proof: &Proof) -> Value {
    let fields = proof.fields().iter().map(|field| (json_name(field), json_of(&field.value)));
    Value::Object(fields.collect::<Map<_, _>>())
}

fn json_of(value: &Quantity) -> Value {
    match value {
        Quantity::Count(count) => json!(count),
        Quantity::Exact(exact) => json!(exact_text(exact)),
        Quantity::Double(double) => json!(double),
        Quantity::UpperBound(error) => output::json_number(&bound(error)),
        Quantity::Words(words) => json!(words),
        Quantity::Of(proof) => {
            json!({"engine": proof.engine(), "method": proof.to_string(), "proof": fields_of(proof)})
        }
    }
}

fn text_of(value: &Quantity) -> String {
    match value {
        Quantity::Count(count) => count.to_string(),
        Quantity::Exact(exact) => short(exact),
        Quantity::Double(double) => double.to_string(),
        Quantity::UpperBound(error) => bound(error),
        Quantity::Words(words) => words.clone(),
        Quantity::Of(proof) => format!("by {}: {proof}", proof.engine()),
    }
}

/// The proof of any engine: a line, and its numbers.
fn in_lines(proof: &Proof) -> String {
    let field = |field: &Field| format!("  {}: {}\n", field.label, text_of(&field.value));
    let fields: String = proof.fields().iter().map(field).collect();
    format!("  by {}: {proof}\n{fields}", proof.engine())
}

/// The proof by a contour alone, with its formula; `None` for other engines.
fn by_contour(proof: &Proof) -> Option<String> {
    let of = |name| proof.field(name).map(text_of);
    let upper = |name| proof.field(name).map(text_of).unwrap_or_default();
    let contour = of("contour").filter(|_| proof.engine() == "contour")?;
    let kernel = match (kernel(proof), of("lattice_refused")) {
        ("lattice", _) => "that of the lattice, over one period".to_string(),
        (_, Some(why)) => format!("1 / (s (s + 1)) on the whole line; not the lattice's: {why}"),
        (_, None) => "1 / (s (s + 1)) on the whole line".to_string(),
    };
    let evaluated = of("evaluated_nodes")?;
    let nodes = match (of("period_nodes"), proof.field("swept_height")) {
        (Some(period), _) => format!("{evaluated} evaluated of {period} in the period"),
        (None, Some(Quantity::Double(height))) => format!("{evaluated} evaluated; swept up to Im s = {height:.3e}"),
        (None, _) => format!("{evaluated} evaluated"),
    };
    Some(format!(
        "  delta(epsilon) = (1 / 2 pi i) integral of M(s) kappa(s) ds along Re s = {contour}, both terms of the profile
  kernel       {kernel}{complement}
  nodes        {nodes}; {lobes} side lobes survived the sieve
  precision    {bits} bits, balls
  aliasing     at most {alias} (what the trapezoid rule adds: never negative)
  truncation   at most {truncation} (the nodes left out, by the sieve)
  rounding     at most {rounding} (the width of the sum itself)
",
        complement = proof.field("complement").map_or("", |_| "; left of the pole at 0, for 1 - delta"),
        lobes = of("side_lobes")?,
        bits = of("bits")?,
        alias = upper("alias_error"),
        truncation = upper("truncation_error"),
        rounding = upper("rounding_error"),
    ))
}

/// An exact number, or its first digits if the fraction is long.
fn short(value: &Rational) -> String {
    let text = rational::display(value);
    if text.len() <= 40 { text } else { format!("{} (a fraction of {} digits)", output::exact_text(value), text.len()) }
}
