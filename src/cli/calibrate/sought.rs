//! `assay calibrate` with a question mark in place of one number of a mechanism.

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::{
        Account, Answer, Delta,
        promise::Promise,
        sought::{Found, Outcome, Question},
    },
    document::fields::Fields,
    ledger::LedgerPromise,
    numeric::{Certainty, Enclosure},
    release::{Unit, subject},
};
use rug::Rational;
use serde_json::{Value, json};

use super::{
    Args, Goal, Request,
    answer::{in_words, proven, target_key},
};
use crate::cli::{
    arguments::first_given,
    exit::Exit,
    of_ledger::Beside,
    output::{exact, exact_text},
    subject::{Resolved, law_notes, of_infinite_loss, of_relation},
};

/// The number, and the privacy with it.
struct Sought {
    question: Question,
    value: Rational,
    not_enough: Option<Rational>,
    /// Whether that neighbor is proven to break the promise.
    is_neighbor_disproved: bool,
    /// The mechanism with the number.
    subject: Resolved,
    /// The value that the goal bounds, and its target.
    reached: Answer,
    target: Enclosure,
    /// Whether sums decided, as in an adaptive ledger, and not the account.
    is_by_sums: bool,
    /// Whether everything in the ledger and this number keep the promise of the ledger, if it has one.
    promised: Option<(Certainty, LedgerPromise)>,
}

/// No number that is known to keep the promise.
struct Nothing {
    question: Question,
    is_proven: bool,
    /// What breaks the promise alone, whatever the number is.
    broken_by: Option<&'static str>,
    /// Why the mechanism may be more private than its account.
    may_be_less: Option<&'static str>,
    range: (Rational, Rational),
}

impl Args {
    /// The answer about a number that is sought.
    pub(super) fn run_sought(&self, question: Question, mut others: subject::Subject) -> Result<Exit> {
        let beside = self.of_ledger.beside()?;
        if let Some(beside) = &beside {
            if others.relation() != beside.neighbors && (others.neighbors.is_some() || others.release.is_some()) {
                bail!(
                    "--ledger: {} has {} neighbors, and the mechanism other ones",
                    beside.name,
                    beside.neighbors.name()
                );
            }
            others.neighbors = Some(beside.neighbors);
            if others.group != 1 {
                bail!(
                    "--group {}: the ledger {} is an account for one record: leave it out",
                    others.group,
                    beside.name
                );
            }
        }
        let promise = beside.as_ref().and_then(|beside| beside.promise.as_ref());
        self.refuse_beside_a_mark(&question, promise.is_some())?;
        let (goal, delta) = self.goal_beside(&others, promise)?;
        // Without a target of one's own it is the promise of the ledger.
        let is_own = self.epsilon.is_some() || self.risk.is_given();
        let adaptive = promise.filter(|promise| promise.is_adaptive && !is_own).cloned();
        let unit = Unit { neighbors: others.relation(), group: others.group, repeat: others.repeat };
        let request = Request { goal, delta, unit, digits: self.format.digits, crossings: false, curves: false };
        let mut page = self.drawn.page(&self.format)?;
        let sought = match self.seek(question, others, (beside.as_ref(), adaptive.as_ref()), &request)? {
            Ok(sought) => sought,
            Err(nothing) => {
                page.answer(nothing.json());
                page.text(nothing.in_words(&request));
                return page.answered(false);
            }
        };
        page.answer(sought.json(&request));
        let digits = self.format.shown();
        page.text(sought.in_words(&request, digits));
        law_notes(&sought.subject).iter().for_each(|note| page.text(format!("{note}\n")));
        page.note(sought.subject.note());
        page.say_wider([("composition", &sought.reached)]);
        if let Some(path) = &self.out {
            let (version, unit) = (env!("CARGO_PKG_VERSION"), request.unit.of_target());
            let of_all = beside.as_ref().map_or_else(String::new, |beside| {
                format!(", of this beside everything in the ledger {}", beside.name)
            });
            let how = format!("assay calibrate {version}: {}{unit}{of_all}", in_words(&request, &[]));
            let unchanged = |_: &str| Some(Rational::from(1));
            let mut described = self.subject.described_as(&sought.question, &sought.value)?;
            // The relation is that of the ledger beside which the number was sought.
            described.neighbors = beside.as_ref().map(|beside| beside.neighbors).or(described.neighbors);
            page.release(path, &described.calibrated_release(unchanged, &how).context("--out")?)?;
        }
        page.done()
    }

    /// Options about noise that is there.
    fn refuse_beside_a_mark(&self, question: &Question, is_promised: bool) -> Result<()> {
        let given = [
            ("--match", self.match_.is_some()),
            ("--match-curve", self.match_curve.is_some()),
            ("--per-level", self.per_level),
            ("--scale-all", self.scale_all),
            ("--queries", self.queries),
            ("--crossings", self.crossings),
            ("--svg", self.drawn.svg.is_some()),
        ];
        let text = format!("--{} {}", question.key(), question.text());
        if let Some(option) = first_given(given) {
            bail!("{option}: it is about noise whose size is given, and of {text} a number is sought");
        }
        let has_goal = self.epsilon.is_some() || self.risk.is_given() || is_promised;
        if !has_goal {
            bail!("{text}: a number is sought for a target: give --epsilon, or a target of risk such as --advantage");
        }
        Ok(())
    }

    /// The goal: as given, or the promise of the ledger.
    fn goal_beside(&self, others: &subject::Subject, promise: Option<&LedgerPromise>) -> Result<(Goal, Option<Delta>)> {
        let Some(promise) = promise.filter(|_| self.epsilon.is_none() && !self.risk.is_given()) else {
            return self.goal(others.relation(), others.repeat);
        };
        if let Some(delta) = &self.delta {
            bail!(
                "--delta {delta}: the ledger promises epsilon {} at delta = {}: leave it out, or give --epsilon as well",
                promise.epsilon,
                promise.delta
            );
        }
        let (epsilon, delta) = (promise.epsilon.clone(), promise.delta.clone());
        Ok((Goal::Promise(Promise::Epsilon { delta: delta.clone(), epsilon }), Some(delta)))
    }

    fn seek(
        &self,
        question: Question,
        others: subject::Subject,
        (beside, adaptive): (Option<&Beside>, Option<&LedgerPromise>),
        request: &Request,
    ) -> Result<std::result::Result<Sought, Nothing>> {
        let promise = request.promise(None)?;
        let with = |value: &Rational| -> dp_assay::Result<Resolved> {
            let mut subject = others.clone();
            subject.singles.push(question.counts(value)?);
            Ok(subject.resolve()?.under(self.subject.conditions()))
        };
        let decimals = question.decimals(self.decimals).context("--decimals")?;
        let family = |value: &Rational| {
            let resolved = with(value)?;
            beside.map_or_else(|| Ok(resolved.whole.clone()), |beside| beside.with(&resolved))
        };
        // Where noise may follow from results, sums decide in place of the account.
        let sums = |promise: &LedgerPromise, value: &Rational| -> dp_assay::Result<Option<Enclosure>> {
            let resolved = with(value)?;
            beside.map(|beside| beside.by_sums(&resolved, &promise.delta, request.digits)).transpose()
        };
        let decided = |own: &LedgerPromise, value: &Rational| -> dp_assay::Result<Certainty> {
            beside.map_or(Ok(Certainty::Undecided), |beside| beside.sums_keep(&with(value)?, own, request.digits))
        };
        let outcome = match adaptive {
            Some(own) => question.answer_where(family, decimals, |value| decided(own, value)),
            None => question.answer(family, &promise, decimals),
        };
        let outcome = outcome.with_context(|| format!("--{} {}", question.key(), question.text()))?;
        let Found { account, value, not_enough, is_neighbor_disproved } = match outcome {
            Outcome::Found(found) => found,
            Outcome::None { is_proven, range } => {
                let broken_by = broken_by((beside, adaptive), &others, &promise, request.digits)?;
                let is_proven = is_proven || broken_by.is_some();
                let at_end = [&range.0, &range.1].into_iter().find_map(|end| with(end).ok());
                let of_ledger = beside.and_then(|beside| beside.may_be_more_private);
                let may_be_less = of_ledger.or(at_end.and_then(|subject| subject.may_be_more_private()));
                return Ok(Err(Nothing { question, is_proven, broken_by, may_be_less, range }));
            }
        };
        let reached = match adaptive.map(|own| sums(own, &value)).transpose()?.flatten() {
            Some(epsilon) => Answer::immediate(epsilon, "the sum of rho, or of pure epsilons"),
            None => request.goal.value(&account, request.delta.as_ref(), request.digits)?,
        };
        let target = request.target(&promise, &account)?;
        let mut subject = with(&value)?;
        let promised = match beside {
            Some(beside) => beside.keeps_promise(&subject, &account, request.digits)?,
            None => None,
        };
        if let Some(beside) = beside {
            let is_kept = promised.is_none_or(|kept| kept == Certainty::Yes);
            let conditions = if is_kept { &beside.conditions } else { &beside.conditions_if_broken };
            subject.title = format!("{}, beside everything in the ledger {}", subject.title, beside.name);
            subject.whole = account;
            subject = subject.under(conditions).at_most_as_private(beside.may_be_more_private);
        }
        let is_by_sums = adaptive.is_some();
        let promised = promised.zip(beside.and_then(|beside| beside.promise.clone()));
        Ok(Ok(Sought {
            question,
            value,
            not_enough,
            is_neighbor_disproved,
            subject,
            reached,
            target,
            is_by_sums,
            promised,
        }))
    }
}

/// The part of the whole that breaks the promise alone, without the noise that is sought, if there is one.
fn broken_by(
    (beside, adaptive): (Option<&Beside>, Option<&LedgerPromise>),
    others: &subject::Subject,
    promise: &Promise,
    digits: u32,
) -> Result<Option<&'static str>> {
    let is_spent = match (beside, adaptive, promise) {
        (Some(beside), Some(own), _) => beside.sums_break(own, digits)?,
        (Some(beside), None, Promise::Epsilon { epsilon, delta }) => beside.breaks(epsilon, delta)?,
        _ => false,
    };
    Ok(match is_spent {
        true => Some("what the ledger has spent"),
        false if adaptive.is_some() => None,
        false => breaks_alone(others, promise)?.then_some("what is composed with it"),
    })
}

/// Whether what is given beside the mechanism is proven to break a promise alone: so does everything with it. Posteriors of single outputs are not ordered.
fn breaks_alone(others: &subject::Subject, promise: &Promise) -> Result<bool> {
    if (others.singles.is_empty() && others.release.is_none()) || matches!(promise, Promise::Outputs { .. }) {
        return Ok(false);
    }
    let alone = others.clone().resolve()?.whole;
    Ok(promise.kept_by(&alone, &alone)? == Certainty::No)
}

impl Sought {
    fn json(&self, request: &Request) -> Value {
        let key = request.goal.measure()[1];
        let object = json!({
            "mode": "sought",
            "option": format!("--{}", self.question.key()),
            "text": self.question.text(),
            "sought": self.question.number.name,
            "found": exact(&self.value),
            // What the sums do not allow may still be private.
            "proven": self.is_neighbor_disproved && !self.is_by_sums,
            "value": exact(&self.value),
            "not_enough": self.not_enough.as_ref().map(exact),
            "text_with_value": self.question.text_with(&self.value),
            "delta": request.delta.as_ref().map(|delta| exact(delta)),
            key: self.reached.value.to_json(),
            "status": self.reached.status(),
            "levels": [],
        });
        let goal = match &request.goal {
            Goal::Risk(risk) => Some(crate::cli::risk_goal::json(risk, request.unit)),
            Goal::Promise(_) | Goal::Compared(_) => None,
        };
        Fields::from(object)
            .with(target_key(key), &self.target)
            .with_some("keeps_promise", self.promised.as_ref().map(|(kept, _)| proven(*kept)))
            .with_some("goal", goal)
            .and(of_relation(&self.subject))
            .and(of_infinite_loss(self.subject.whole.infinite_loss(), request.digits))
            .into()
    }

    fn in_words(&self, request: &Request, digits: usize) -> String {
        let (name, relation) = (self.question.number.name, self.subject.neighbors.name());
        let other = match &self.not_enough {
            Some(other) if self.is_by_sums => {
                format!("{} does not keep it by the sum of rho, nor by that of pure epsilons", exact_text(other))
            }
            Some(other) if self.is_neighbor_disproved => match self.subject.may_be_more_private() {
                None => format!("{} is proven not to keep it", exact_text(other)),
                Some(why) => {
                    format!("{} does not keep it by this account, which is an upper bound: {why}", exact_text(other))
                }
            },
            Some(other) => format!("of {} it is not known", exact_text(other)),
            None => "the range of numbers ends there".to_string(),
        };
        let other = match request.goal.is_of_outputs() {
            true => format!(
                "{other}; posteriors of outputs rise and fall with the noise, so that smaller numbers may keep the promise too, and larger ones may break it"
            ),
            false => other,
        };
        let promise = self.promised.as_ref().map_or_else(String::new, |(kept, promise)| of_promise(*kept, promise));
        format!(
            "{}\n{relation} neighbors; {}\n--{} {}\n\n{name} = {} is proven to keep the target, and {other}.\n{} {}, target {}\n{promise}",
            self.subject.title,
            in_words(request, &[]),
            self.question.key(),
            self.question.text(),
            exact_text(&self.value),
            request.goal.measure()[0],
            self.reached.value.shown(digits),
            self.target.shown(digits),
        )
    }
}

/// The promise of the ledger beside a target of one's own: what is not proven to keep it is not added.
fn of_promise(kept: Certainty, promise: &LedgerPromise) -> String {
    let of = match promise.is_adaptive {
        true => " by the sums that decide in an adaptive ledger",
        false => "",
    };
    let promised =
        format!("the promise of the ledger, epsilon at most {} at delta = {},", promise.epsilon, promise.delta);
    match kept {
        Certainty::Yes => String::new(),
        Certainty::No => format!("With it {promised} is broken{of}: the ledger refuses to add it.\n"),
        Certainty::Undecided => format!("With it {promised} is not proven{of}: the ledger refuses to add it.\n"),
    }
}

impl Nothing {
    fn json(&self) -> Value {
        json!({
            "mode": "sought",
            "option": format!("--{}", self.question.key()),
            "text": self.question.text(),
            "sought": self.question.number.name,
            "found": null,
            "value": null,
            "not_enough": null,
            // An account that is only an upper bound proves no absence.
            "proven": self.is_proven && self.may_be_less.is_none(),
            "may_be_more_private": self.may_be_less,
            "least": exact(&self.range.0),
            "most": exact(&self.range.1),
        })
    }

    fn in_words(&self, request: &Request) -> String {
        let (name, [least, most]) = (self.question.number.name, [&self.range.0, &self.range.1].map(exact_text));
        let known = match self.is_proven {
            true => match (self.may_be_less, self.broken_by) {
                (None, Some(what)) => format!("no {name} keeps the target: {what} is proven to break it"),
                (Some(why), Some(what)) => format!(
                    "no {name} keeps the target by this account: {what} breaks it. The account is an upper bound: {why}"
                ),
                (None, None) => {
                    format!("no {name} from {least} to {most} keeps the target: proven at the most private end")
                }
                (Some(why), None) => format!(
                    "no {name} from {least} to {most} keeps the target by this account, which is an upper bound: {why}"
                ),
            },
            false => format!(
                "of {name} from {least} to {most}, none that was tried is proven to keep the target; others may"
            ),
        };
        format!("--{} {}\n{}\n\n{known}.\n", self.question.key(), self.question.text(), in_words(request, &[]))
    }
}
