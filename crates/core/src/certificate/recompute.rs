//! This program's own answer for the claim of a certificate. Hints are not read: only a checker uses them.

use rug::Rational;

use super::{
    claim::{Claim, Ends, Question, Target},
    decisions, direction, outputs,
};
use crate::{
    account::{Account, Composition, Counts, Delta, Whole, conversions, paths::WorstPath},
    error::{Error, Result},
    law::Direction,
    loss::{
        evaluator::Evaluator,
        family::Units,
        law::{Group, Law},
    },
    numeric::{Enclosure, enclosure::Certainty},
};

impl Claim {
    /// The subject of the claim as an account, with the unscaled noise.
    fn whole(&self) -> Result<Whole> {
        let path = |groups: &Vec<Group>| {
            let mut all: Vec<Counts> = groups.iter().map(Counts::of_group).collect();
            if self.paths.infinite > 0 {
                one_guarantee(&mut all, &self.paths.infinite)?;
            }
            Composition::new(all)
        };
        let mut paths = self.paths.groups.iter().map(path).collect::<Result<Vec<_>>>()?;
        match paths.pop() {
            Some(only) if paths.is_empty() && !self.paths.pairs => Ok(Whole::Composition(only)),
            last => {
                let units = if self.paths.pairs { Units::Pairs } else { Units::Single };
                Ok(Whole::WorstPath(WorstPath::new(paths.into_iter().chain(last).collect(), units)?))
            }
        }
    }

    /// Whether the lower and the upper end hold, by this program's own enclosures.
    pub fn recompute(&self) -> Result<(Certainty, Certainty)> {
        let whole = self.whole()?;
        let Ends { lower, upper } = &self.ends;
        let of = self.direction;
        let above = |whole: &Whole, epsilon: &Rational, delta: &Rational| {
            decide((whole, of), epsilon, Enclosure::at_most, delta)
        };
        let below = |whole: &Whole, epsilon: &Rational, delta: &Rational| decide((whole, of), epsilon, at_least, delta);
        // Nothing can be proven to be below zero.
        let unless_zero = |decided: &dyn Fn() -> Result<Certainty>| {
            if *lower == 0 { Ok(Certainty::Yes) } else { decided() }
        };
        match &self.question {
            Question::Epsilon { delta } => {
                Ok((unless_zero(&|| below(&whole, lower, delta))?, above(&whole, upper, delta)?))
            }
            Question::Delta { epsilon } => {
                Ok((unless_zero(&|| below(&whole, epsilon, lower))?, above(&whole, epsilon, upper)?))
            }
            Question::Scale { delta, target, .. } => {
                let (least, most) = target_ends(target, &whole, delta)?;
                let (less, more) = (whole.with_noise_times(lower)?, whole.with_noise_times(upper)?);
                Ok((below(&less, &most, delta)?, above(&more, &least, delta)?))
            }
            Question::Zcdp { delta } => {
                Ok(within(&conversions::zcdp_epsilon(&whole.rho_of_all()?, delta, 40), &self.ends))
            }
            Question::Orders { delta } => {
                Ok(within(&conversions::zcdp_epsilon_optimal(&whole.rho_of_all()?, delta)?.epsilon, &self.ends))
            }
            Question::Marginal { prior } => {
                Ok(within(&super::formulas::marginal(&self.paths, prior, DIGITS[1])?, &self.ends))
            }
            Question::Posterior { prior, noisy } => {
                Ok(within(&super::posterior(&self.paths, prior, noisy, 40)?, &self.ends))
            }
            Question::Beta { alpha } => {
                let evaluator = whole.evaluator();
                within_some(&self.ends, |digits| beta(&whole, &evaluator, alpha, of, digits))
            }
            Question::Decision { prior } => {
                within_some(&self.ends, |digits| Ok(decisions::correct(&whole, prior, of, digits)?.value))
            }
            Question::Outputs { prior, probability } => {
                let asked = outputs::Asked { prior, probability, direction: of };
                let above = if *lower == 0 { Certainty::Yes } else { Certainty::No };
                Ok((above, outputs::holds(&whole, asked, upper, DIGITS[1])?))
            }
            Question::Events { prior, probability } => {
                within_some(&self.ends, |digits| decisions::posterior(&whole, prior, probability, of, digits))
            }
        }
    }
}

/// Both ends of the epsilon that noise times a factor has to keep.
fn target_ends(target: &Target, whole: &Whole, delta: &Delta) -> Result<(Rational, Rational)> {
    match target {
        Target::Epsilon(epsilon) => Ok((Rational::clone(epsilon), Rational::clone(epsilon))),
        Target::Zcdp => {
            let value = conversions::zcdp_epsilon(&whole.rho_of_all()?, delta, 40);
            let unbounded = || Error::Unbounded { what: "the epsilon by zCDP" };
            let (least, most) = (value.lower_rational(), value.upper_rational());
            Ok((least.ok_or_else(unbounded)?, most.ok_or_else(unbounded)?))
        }
    }
}

/// A point of the trade-off function: of one direction its own. Of both it is that of the larger profile, where the pair is not symmetric.
fn beta(
    whole: &Whole,
    evaluator: &Evaluator,
    alpha: &Rational,
    direction: Option<Direction>,
    digits: u32,
) -> Result<Enclosure> {
    let found = match direction {
        Some(direction) => whole.tradeoff_of_direction_by(evaluator, direction, alpha, digits)?,
        None => whole.tradeoff_hull_by(evaluator, alpha, digits)?,
    };
    match found {
        Some(found) => Ok(found.value),
        None => Ok(whole.tradeoff_by(evaluator, alpha, digits)?.value),
    }
}

/// Whether both ends hold, by as many digits as decide.
fn within_some(ends: &Ends, value: impl Fn(u32) -> Result<Enclosure>) -> Result<(Certainty, Certainty)> {
    let mut answer = (Certainty::Undecided, Certainty::Undecided);
    for digits in DIGITS {
        answer = within(&value(digits)?, ends);
        if ![answer.0, answer.1].contains(&Certainty::Undecided) {
            break;
        }
    }
    Ok(answer)
}

/// Turns one of the counts with discrete Laplace noise that move by one into the guarantee of that epsilon with this delta, which is the same pair beside an
/// infinite loss.
fn one_guarantee(all: &mut Vec<Counts>, delta: &Rational) -> Result<()> {
    let at = all.iter().position(|counts| matches!(counts.law, Law::DiscreteLaplace { .. }) && counts.shift == 1);
    let at = at.ok_or_else(|| {
        Error::unsuitable("beside an infinite loss a count with discrete Laplace noise that moves by one is expected")
    })?;
    let law = Law::Approximate { epsilon: all[at].law.parameter().clone(), delta: delta.clone() };
    all[at].count -= 1;
    if all[at].count == 0 {
        all.remove(at);
    }
    all.push(Counts::new(law, 1, 1)?);
    Ok(())
}

/// The digits of the enclosures that decide.
const DIGITS: [u32; 2] = [12, 24];

/// Whether both ends hold.
fn within(value: &Enclosure, Ends { lower, upper }: &Ends) -> (Certainty, Certainty) {
    (at_least(value, lower), value.at_most(upper))
}

fn at_least(value: &Enclosure, target: &Rational) -> Certainty {
    value.clone().negate().at_most(&Rational::from(-target))
}

/// Is the delta of an epsilon at most, or at least, a target?
fn decide(
    (whole, direction): (&Whole, Option<Direction>),
    epsilon: &Rational,
    is: fn(&Enclosure, &Rational) -> Certainty,
    target: &Rational,
) -> Result<Certainty> {
    let evaluator = whole.evaluator();
    let mut answer = Certainty::Undecided;
    for digits in DIGITS {
        answer = is(&direction::delta_of(&evaluator, direction, epsilon, digits)?, target);
        if answer != Certainty::Undecided {
            break;
        }
    }
    Ok(answer)
}
