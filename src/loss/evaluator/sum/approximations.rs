//! Approximations in doubles, without proof: for searching.

use rug::Rational;

use super::{
    LN_LEAST, SumEvaluator,
    engines::{AT_ONCE_SECONDS, Asked, MOST_SECONDS, QUICK_SECONDS},
    splits::ln_approx_by_splits,
};
use crate::{
    error::{Error, Result},
    loss::{
        atoms::{Atoms, Query},
        contour::Contours,
        gaussian,
        limit::Limit,
        neighbors::Neighbors,
        question::{Kernel, Question},
        split::{self, Split},
    },
};

/// What approximates a hockey stick where a contour takes long.
#[derive(Clone, Copy, Debug)]
enum Other<'a> {
    Lists(&'a Atoms),
    Split(&'a Split),
}

/// What of an approximation is of no interest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slack {
    /// One minus it, where that is at most this.
    pub(crate) negligible: f64,
    /// More than an estimate, where its logarithm is below this.
    pub(crate) far: f64,
}

impl Slack {
    /// Where one minus it does not matter.
    pub(crate) const OF_REST: Slack = Slack { negligible: 1.0, far: f64::NEG_INFINITY };
}

impl SumEvaluator {
    /// ln of the hockey-stick divergence, in doubles: about 13 digits, an approximation without proof.
    pub fn ln_hockey_stick_approx(&self, epsilon: &Rational) -> Result<f64> {
        self.ln_hockey_stick_approx_of(epsilon, None, Slack::OF_REST)
    }

    /// The same as one of a few on the way to an answer, which share contours; one minus it is as accurate.
    pub(crate) fn ln_hockey_stick_approx_near(
        &self,
        epsilon: &Rational,
        neighbors: &Neighbors,
        slack: Slack,
    ) -> Result<f64> {
        self.ln_hockey_stick_approx_of(epsilon, Some(neighbors), slack)
    }

    fn ln_hockey_stick_approx_of(
        &self,
        epsilon: &Rational,
        neighbors: Option<&Neighbors>,
        slack: Slack,
    ) -> Result<f64> {
        /// What doubles hold.
        const DIGITS: u32 = 13;
        const LEFT_OUT: f64 = 1e-13;
        /// What two groups have beside the merged one does not count.
        const OF_MERGED: f64 = 1e-14;
        const OF_FIRST_LIST: f64 = 8.0;
        self.stop.check()?;
        let limit = neighbors.map_or(Limit::NONE, Neighbors::limit);
        limit.check()?;
        if self.is_beyond(&self.sum().above(epsilon)) {
            return Ok(f64::NEG_INFINITY);
        }
        if self.is_gaussian() {
            return Ok(gaussian::ln_hockey_stick_approx(self.sum().rho(), epsilon));
        }
        if self.is_nearly_one(epsilon, DIGITS).is_some() {
            return Ok(0.0);
        }
        let rest_matters = slack.negligible < 1.0;
        if let Some(ln) = neighbors.and_then(|neighbors| neighbors.ln_approx(&self.contours, epsilon, rest_matters)) {
            return Ok(ln);
        }
        let mut question = Question::hockey_stick(self.sum(), epsilon);
        if let Some(answer) = self.is_one_but_for_few(&question, DIGITS)?
            && 1_u32 - answer.value.lower().clone() <= slack.negligible
        {
            return Ok(answer.value.ln().approximate());
        }
        let mut search = self.contours.search(&question);
        // Below every float nothing else tells more, and far below what is looked for nothing else is of interest.
        if search.ln_estimate() < LN_LEAST.max(slack.far) {
            return Ok(search.ln_estimate());
        }
        let period = Contours::period(&search, DIGITS);
        let query = Query::HockeyStick(epsilon.clone());
        if let Some((_, evaluator)) = self.merged().filter(|(merged, _)| merged.deviation() < OF_MERGED)
            && !self.is_quick(&query, DIGITS, period)
        {
            return evaluator.ln_hockey_stick_approx_of(epsilon, neighbors.map(Neighbors::merged), slack);
        }
        if let Some(ln) = ln_approx_by_splits(&self.splits_for(epsilon, DIGITS, period), epsilon, limit) {
            return Ok(ln);
        }
        let is_smooth = period.is_short() && !self.is_coarse();
        let others = if is_smooth { Vec::new() } else { self.others(epsilon, DIGITS, neighbors.is_some()) };
        let by = |&(seconds, other): &(f64, Other)| match other {
            // Where the first list does not tell it, no finer one that takes much longer.
            Other::Lists(atoms) => {
                let most_seconds = (OF_FIRST_LIST * seconds).max(AT_ONCE_SECONDS);
                atoms.ln_hockey_stick_approx(epsilon, most_seconds).ok().flatten()
            }
            Other::Split(split) => {
                let most_seconds = if self.has_steps() { split::MOST_SECONDS } else { split::QUICK_SECONDS };
                split.ln_hockey_stick_approx(epsilon, most_seconds, limit)
            }
        };
        let (quick, slow) = others.split_at(others.partition_point(|(seconds, _)| *seconds <= QUICK_SECONDS));
        if let Some(ln) = quick.iter().find_map(by) {
            return Ok(ln);
        }
        // Where the threshold lies in a gap between clusters of losses, as for a proof.
        if quick.iter().any(|(_, other)| matches!(other, Other::Lists(_)))
            && let Some(ln) = ln_approx_by_splits(&self.splits_that_serve(epsilon, DIGITS), epsilon, limit)
        {
            return Ok(ln);
        }
        if let Some(rest) = self.contours.small_rest(&question).filter(|_| rest_matters) {
            search = self.contours.search(&rest);
            question = rest;
        }
        if period.is_long() || search.images() < LEFT_OUT {
            question = question.on_line();
            search = self.contours.search(&question);
        }
        let mut first = Some(search);
        // On its lattice, or on the line where that has no end that is worth reaching.
        let mut swept = |most_seconds| loop {
            let search = first.take().unwrap_or_else(|| self.contours.search(&question));
            let swept = self.contours.rough(&question, search, neighbors.is_some(), most_seconds);
            if question.step.is_none() || !matches!(swept, Err(Error::Unsweepable { .. })) {
                return swept;
            }
            question = question.clone().on_line();
        };
        let mut by_contour = swept(slow.first().map_or(f64::INFINITY, |(seconds, _)| *seconds));
        if matches!(by_contour, Ok(None)) {
            if let Some(ln) = slow.iter().find_map(by) {
                return Ok(ln);
            }
            by_contour = swept(f64::INFINITY);
        }
        match by_contour {
            Ok(Some((rough, contour))) if rough.is_told => {
                neighbors.inspect(|neighbors| neighbors.keep(contour));
                Ok(rough.ln_hockey_stick(question.kernel))
            }
            Ok(Some((rough, _))) => match self.ln_of_few_digits(epsilon, limit) {
                Err(error @ (Error::Contradiction { .. } | Error::Stopped)) => Err(error),
                told => Ok(told.ok().flatten().unwrap_or(rough.ln_hockey_stick(question.kernel))),
            },
            Ok(None) => Err(Error::NoLattice),
            Err(error) => slow.iter().find_map(by).ok_or(error),
        }
    }

    /// What approximates a hockey stick beside contours, and the seconds that it is foretold to take: the quickest first. `is_one_of_many`: lists
    /// are shared with other questions.
    fn others(&self, epsilon: &Rational, digits: u32, is_one_of_many: bool) -> Vec<(f64, Other<'_>)> {
        let times = if is_one_of_many { Asked::FOR_LINES.times } else { 1.0 };
        let listed = self.atoms.as_ref().and_then(|atoms| {
            let cost = atoms.cost(&Query::HockeyStick(epsilon.clone()), digits);
            let is_affordable = cost.seconds <= MOST_SECONDS && atoms.holds(&cost);
            let shared = cost.seconds_each + (cost.seconds - cost.seconds_each) / times;
            // What is not quick by itself is not made where a contour may be.
            let seconds = if cost.seconds <= QUICK_SECONDS { shared } else { shared.max(QUICK_SECONDS.next_up()) };
            is_affordable.then_some((seconds, Other::Lists(atoms)))
        });
        // Few losses and few questions about the rest often take less than the contour would, which looks only near zero: far up are the lobes of
        // which steps are made.
        let split = self.long_split(epsilon, digits).map(|(split, seconds)| (seconds, Other::Split(split)));
        let mut others: Vec<_> = split.into_iter().chain(listed).collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0));
        others
    }

    /// ln of the hockey stick from a proof of a few digits, where doubles tell nothing.
    fn ln_of_few_digits(&self, epsilon: &Rational, limit: Limit) -> Result<Option<f64>> {
        const DIGITS: u32 = 6;
        let value = self.answer(epsilon, DIGITS, Asked::FOR_ROOT.until(limit), None)?.value;
        Ok(value.is_tight(1).then(|| value.ln().approximate()))
    }

    /// ln of E[exp(-L); L >= z], in doubles: an approximation without proof.
    pub fn ln_tilted_tail_approx(&self, z: &Rational) -> Result<f64> {
        self.ln_tail_approx(Kernel::TiltedTail, z)
    }

    /// ln of P[L >= z], in doubles: an approximation without proof.
    pub fn ln_upper_tail_approx(&self, z: &Rational) -> Result<f64> {
        self.ln_tail_approx(Kernel::UpperTail, z)
    }

    fn ln_tail_approx(&self, kernel: Kernel, z: &Rational) -> Result<f64> {
        self.stop.check()?;
        if self.is_beyond(z) {
            return Ok(f64::NEG_INFINITY);
        }
        let question = Question::tail(kernel, self.sum(), z)?;
        let rough = self.contours.rough(&question, self.contours.search(&question), false, f64::INFINITY)?;
        rough.map(|(rough, _)| rough.ln).ok_or(Error::NoLattice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::{
            law::{Group, Law},
            sum::LossSum,
        },
        numeric::{Enclosure, rational::parse},
    };

    /// One minus a hockey stick that is next to one, of its own and as a neighbor: against proofs, relative to itself, where it matters.
    #[test]
    fn one_minus_a_hockey_stick_next_to_one_is_told_as_well() {
        let of = |sigma2: &str, copies| Group {
            law: Law::DiscreteGaussian { sigma2: parse(sigma2).unwrap() },
            shift: 1,
            copies,
        };
        let slack = Slack { negligible: 0.0, ..Slack::OF_REST };
        let mut small = 0;
        for (groups, most, epsilons) in [
            (vec![of("1664982992/4099", 3), of("922/25", 100), of("5", 9999)], 1e-12, ["250", "400", "899.5"]),
            (vec![of("5", 1000), of("1001/7", 30)], 1e-12, ["20", "60", "80"]),
            // A staircase, which the line tells less well.
            (vec![of("1/125", 10), of("85332323", 2), of("507/5", 100)], 1e-6, ["540", "580", "600"]),
        ] {
            let evaluator = SumEvaluator::new(LossSum::new(groups.clone()).unwrap());
            for epsilon in epsilons.map(|epsilon| parse(epsilon).unwrap()) {
                let neighbors = Neighbors::new(12);
                for epsilon in [epsilon.clone(), epsilon + Rational::from((1, 1_000_000))] {
                    let ln = evaluator.ln_hockey_stick_approx_near(&epsilon, &neighbors, slack).unwrap();
                    let proven = evaluator.hockey_stick_for_root(&epsilon, 16, &Neighbors::new(16)).unwrap().value;
                    let rest = Enclosure::double(1.0, proven.lower().prec()).sub(&proven).approximate();
                    let off = (-ln.exp_m1() / rest - 1.0).abs();
                    assert!(off < most && rest > 0.0, "{groups:?} {epsilon}: {ln} {rest} {off}");
                    small += u32::from(rest < 1e-17);
                }
            }
        }
        assert!(small >= 5, "{small}");
    }

    /// Below what is of interest an estimate serves, which is below it too; above it the answer is the same.
    #[test]
    fn what_is_far_below_is_estimated() {
        const FAR: f64 = -100.0;
        let group = |sigma2: &str, copies| Group {
            law: Law::DiscreteGaussian { sigma2: parse(sigma2).unwrap() },
            shift: 1,
            copies,
        };
        let evaluator = SumEvaluator::new(LossSum::new([group("5", 100), group("1001/7", 30)]).unwrap());
        let (mut estimated, mut same) = (0, 0);
        for epsilon in (1..=20).map(|k| Rational::from(10 * k)) {
            let told = |far| {
                let slack = Slack { far, ..Slack::OF_REST };
                evaluator.ln_hockey_stick_approx_near(&epsilon, &Neighbors::new(12), slack).unwrap()
            };
            let (ln, with_far) = (told(f64::NEG_INFINITY), told(FAR));
            if with_far == ln {
                same += 1;
                continue;
            }
            assert!(ln < FAR + 1.0 && with_far < FAR && (with_far - ln).abs() < 1.0, "{epsilon}: {ln} {with_far}");
            estimated += 1;
        }
        assert!(estimated > 3 && same > 3, "{estimated} {same}");
    }
}
