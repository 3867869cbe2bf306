//! Every published value recomputed and judged: agrees, differs, disproved, undecided or needs data.

use rayon::prelude::*;
use rug::Rational;

use super::{
    account_claims::Measure,
    accounts, block_paths,
    published::{Compute, Paper, Published, Unit},
    risk, safetab, spines, su_su_wang_2025,
    verdict::{Computed, Verdict, rounds_to},
};
use crate::{
    error::Result,
    noise::DiscreteGaussian,
    numeric::{Certainty, Enclosure, rational::parse},
    release::Release,
};

/// A row of the verification.
#[derive(Clone, Debug)]
pub struct Row {
    /// The claim.
    pub published: Published,
    /// The certified value, or whether the statement holds.
    pub computed: Computed,
    /// What that says of the printed value.
    pub verdict: Verdict,
    /// The value of the computation that the printed value seems to come from, if one is recorded.
    pub printed_by: Option<Computed>,
}

impl Row {
    /// The computed value to as many digits as are printed and one more, at least eight.
    pub fn shown(&self) -> String {
        self.computed.shown((self.published.significant_digits() as usize + 1).max(8))
    }

    /// Whether the reader must be told: the value neither agrees nor has a recorded erratum.
    pub fn is_unexplained(&self) -> bool {
        !matches!(self.verdict, Verdict::Agrees | Verdict::NeedsData) && self.published.erratum.is_none()
    }
}

/// Recomputes every value of a paper, on all cores, in the paper's order.
pub fn verify(paper: &Paper) -> Result<Vec<Row>> {
    verify_with(paper, &|| {})
}

/// The same; `done` is told of each value.
pub fn verify_with(paper: &Paper, done: &(dyn Fn() + Sync)) -> Result<Vec<Row>> {
    (paper.values.par_iter())
        .map(|published| {
            let row = row(&paper.paper, published).map_err(|error| published.refuse(paper, &error));
            done();
            row
        })
        .collect()
}

/// Recomputes a value and judges it.
fn row(paper: &str, published: &Published) -> Result<Row> {
    // One digit more than are printed, if those are many.
    let digits = accounts::DIGITS.max(published.significant_digits() + 1);
    let compute = |what: &Compute| -> Result<Computed> { Ok(in_unit(compute(paper, what, digits)?, published)) };
    let computed = compute(&published.compute)?;
    let verdict = judge(published, &computed)?;
    let printed_by = published.printed_by.as_ref().map(compute).transpose()?;
    Ok(Row { published: published.clone(), computed, verdict, printed_by })
}

/// Recomputes what a row of a paper asks for.
fn compute(paper: &str, what: &Compute, digits: u32) -> Result<Computed> {
    let own = || Release::find(paper);
    let value = match what {
        Compute::Account(claim) => return accounts::compute(claim, digits),
        Compute::Own { method } => return su_su_wang_2025::compute(&own()?, method),
        Compute::Risk(what) => return risk::compute(what),
        Compute::Spine(what) => return spines::compute(what),
        Compute::Paths { release, value } => return block_paths::compute(&Release::find(release)?, value, digits),
        Compute::Safetab(what) => return safetab::compute(paper, what),
        Compute::VarianceDeficit { sigma2 } => {
            DiscreteGaussian::new(parse(sigma2)?)?.variance_deficit(accounts::DIGITS)
        }
    };
    Ok(Computed::Value(value))
}

/// A value in the unit in which it is printed: probabilities are printed in percent by some.
fn in_unit(computed: Computed, published: &Published) -> Computed {
    let percent = matches!(published.unit, Unit::Percent | Unit::LeastPercent);
    let probability = match &published.compute {
        Compute::Risk(_) => true,
        Compute::Account(claim) => claim.question.measure() == Measure::Probability,
        _ => false,
    };
    match computed {
        Computed::Value(value) if percent && probability => Computed::Value(value.mul(&Enclosure::double(100.0, 100))),
        computed => computed,
    }
}

/// What the computed value says of the printed one.
fn judge(published: &Published, computed: &Computed) -> Result<Verdict> {
    match computed {
        Computed::Statement(Certainty::Yes) => Ok(Verdict::Agrees),
        Computed::Statement(Certainty::No) => Ok(Verdict::Disproved),
        Computed::Statement(Certainty::Undecided) => Ok(Verdict::Undecided),
        Computed::NeedsData(_) => Ok(Verdict::NeedsData),
        Computed::Value(value) => judge_value(value, published),
    }
}

fn judge_value(value: &Enclosure, published: &Published) -> Result<Verdict> {
    let printed = || parse(&published.printed);
    Ok(match published.unit {
        Unit::Bound => match value.at_most(&printed()?) {
            Certainty::Yes => Verdict::Agrees,
            Certainty::No => Verdict::Disproved,
            Certainty::Undecided => Verdict::Undecided,
        },
        Unit::LeastPercent => match value.at_most(&printed()?) {
            Certainty::Yes => Verdict::Disproved,
            Certainty::No => Verdict::Agrees,
            Certainty::Undecided => Verdict::Undecided,
        },
        Unit::Least => {
            let printed = printed()?;
            match (*value.lower() >= printed, *value.upper() < printed) {
                (true, _) => Verdict::Agrees,
                (_, true) => Verdict::Disproved,
                _ => Verdict::Undecided,
            }
        }
        Unit::Sum => match value.contains(&printed()?) {
            true => Verdict::Agrees,
            false => Verdict::Differs,
        },
        Unit::RoundedUp => {
            let printed = printed()?;
            let floor = &printed - Rational::from((1, 100_000));
            match (value.at_most(&printed), value.at_most(&floor)) {
                (Certainty::Yes, Certainty::No) => Verdict::Agrees,
                (Certainty::No, _) | (_, Certainty::Yes) => Verdict::Differs,
                _ => Verdict::Undecided,
            }
        }
        Unit::Nats | Unit::Percent | Unit::Sigma2 | Unit::Rho | Unit::Probability | Unit::Ratio | Unit::Claim => {
            rounds_to(value, &published.printed)?
        }
    })
}

/// How many rows have each verdict, in the order of [`Verdict::ALL`].
pub fn tally(rows: &[Row]) -> [(Verdict, usize); 5] {
    Verdict::ALL.map(|verdict| (verdict, rows.iter().filter(|row| row.verdict == verdict).count()))
}
