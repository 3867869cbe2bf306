//! The claim of a certificate: one number of the worst of all units, exact to the last digit.

use rug::{Integer, Rational};
use serde_json::{Value, json};

pub(super) use super::question::fraction;
pub use super::question::{Given, Question, Target};
use super::terms::{Terms, tables_of};
use crate::{
    account::{
        Composition, Whole,
        promise::{Grid, GridOf},
    },
    error::{Error, Result},
    law::Direction,
    loss::{
        answer::Pair,
        law::{Group, Law, NoiseTable},
    },
    numeric::rational,
    release::{Neighbors, subject::Resolved},
};

/// The largest number of pairs of paths that are units of their own.
const MOST_UNITS: usize = 1000;

/// Both ends of the claimed quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Lower bound on the truth.
    pub lower: Rational,
    /// Upper bound on the truth.
    pub upper: Rational,
}

/// The paths of a claim, and its units: a path alone, or a pair of paths composed.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The counts that a record enters on each path, each path once: groups of equal counts, merged and in order.
    pub groups: Vec<Vec<Group>>,
    /// The same counts with guarantees themselves, and not as the pairs that dominate them; of a file that was read the same groups.
    pub(super) given: Vec<Vec<Group>>,
    /// The probability of outcomes that only one of two neighbors can have, beside those of tables: of guarantees that are given. Zero if there are none.
    pub infinite: Rational,
    /// Whether units are all pairs of paths, with repetition; otherwise each path is a unit.
    pub pairs: bool,
}

/// A unit: the number of a path, or of two, in order.
pub type Unit = Vec<usize>;

/// Why an account of more ways than can be composed has no certificate.
pub(super) const TOO_MANY_MIXES: &str =
    "certificates are about ways that are composed, and the mixes of groups of these releases are too many";

impl Paths {
    /// The paths of an account. Refuses laws that the format does not have, and continuous noise beside noise on the integers.
    pub(super) fn of_whole(whole: &Whole) -> Result<Paths> {
        let why = |why: &str| Error::Unprovable { why: why.to_string() };
        let (all, pairs) = match whole {
            Whole::Composition(one) => (vec![Terms::of_composition(one)?], false),
            // With something beside every pair, each pair is a unit of its own.
            Whole::WorstPath(worst) if worst.beside().is_some() => {
                if worst.count() > MOST_UNITS {
                    let pairs = worst.count();
                    let text = format!(
                        "certificates of counts or guarantees beside pairs of paths are about at most {MOST_UNITS} pairs, and there are {pairs}"
                    );
                    return Err(why(&text));
                }
                let each = worst.pairs().map(|pair| Terms::of_composition(&worst.composition(pair)?));
                (each.collect::<Result<Vec<_>>>()?, false)
            }
            Whole::ManyWays(_) => {
                return Err(why(TOO_MANY_MIXES));
            }
            Whole::WorstPath(worst) => {
                (worst.paths().iter().map(Terms::of_composition).collect::<Result<Vec<_>>>()?, worst.in_pairs())
            }
        };
        let infinite = all.first().map(|terms| terms.infinite.clone()).unwrap_or_default();
        if all.iter().any(|terms| terms.infinite != infinite) || pairs && infinite > 0 {
            return Err(why(
                "certificates are about guarantees with a delta that are the same on all block paths, and not on pairs of paths",
            ));
        }
        let terms = || all.iter().flat_map(|terms| &terms.groups);
        let continuous = terms().filter(|group| is_continuous(group)).count();
        if continuous > 0 && continuous < terms().count() {
            return Err(Error::Unprovable {
                why: "certificates are about noise on the integers or about continuous noise, not about both together"
                    .into(),
            });
        }
        let (mut groups, mut given): (Vec<Vec<Group>>, Vec<Vec<Group>>) = Default::default();
        for path in all {
            if !groups.contains(&path.groups) {
                groups.push(path.groups);
                given.push(path.given);
            }
        }
        Ok(Paths { groups, given, infinite, pairs })
    }

    /// Whether the noise is continuous, so that delta has a formula.
    pub(super) fn are_continuous(&self) -> bool {
        self.groups.iter().flatten().any(is_continuous)
    }

    /// Whether some noise is that of a table, whose two directions may differ.
    pub(super) fn have_tables(&self) -> bool {
        self.groups.iter().flatten().any(|group| matches!(group.law, Law::Table(_)))
    }

    /// Whether some outcomes may be possible for one of two neighbors only.
    fn has_infinite_loss(&self) -> bool {
        self.infinite > 0 || self.have_tables()
    }

    /// All units.
    pub fn units(&self) -> Vec<Unit> {
        let count = self.groups.len();
        if self.pairs {
            (0..count).flat_map(|p| (p..count).map(move |q| vec![p, q])).collect()
        } else {
            (0..count).map(|p| vec![p]).collect()
        }
    }

    /// The groups of a unit, those of one path after those of the other.
    pub(super) fn of_unit(&self, unit: &[usize]) -> impl Iterator<Item = &Group> {
        unit.iter().flat_map(|&path| &self.groups[path])
    }

    /// The same counts as given.
    pub(super) fn given_of_unit(&self, unit: &[usize]) -> impl Iterator<Item = &Group> {
        unit.iter().flat_map(|&path| &self.given[path])
    }

    /// The unit of a pair of an account's own paths.
    pub(super) fn unit_of(&self, whole: &Whole, pair: Option<Pair>) -> Option<Unit> {
        let Whole::WorstPath(worst) = whole else { return Some(vec![0]) };
        let place = |composition: &Composition| {
            let groups = Terms::of_composition(composition).ok()?.groups;
            self.groups.iter().position(|known| *known == groups)
        };
        if worst.beside().is_some() {
            return Some(vec![place(&worst.composition(pair?).ok()?)?]);
        }
        let number = |path: usize| place(worst.paths().get(path)?);
        let (p, q) = pair?;
        let (p, q) = (number(p)?, number(q)?);
        Some(if self.pairs { vec![p.min(q), p.max(q)] } else { vec![p] })
    }
}

fn is_continuous(group: &Group) -> bool {
    group.law.is_continuous()
}

/// h, the greatest common divisor of the weights of some groups: the losses of a unit of such groups lie on an offset plus h Z.
pub(super) fn step_of<'a>(groups: impl Iterator<Item = &'a Group>) -> Rational {
    groups.map(Group::weight).reduce(|step, weight| rational::gcd(&step, &weight)).unwrap_or_default()
}

/// A claim about the worst of all units.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its subject in words, which proves nothing.
    pub subject: String,
    /// The relation from which the groups were made, which proves nothing.
    pub neighbors: Neighbors,
    /// The paths, with the noise before it is scaled.
    pub paths: Paths,
    /// The quantity and its conditions.
    pub question: Question,
    /// Both ends of the quantity.
    pub ends: Ends,
    /// The data set that is meant where the two are distinguished: with the record ([`Direction::Remove`]) or without it; `None` for both.
    pub direction: Option<Direction>,
}

/// The name of a direction in a certificate: the data set whose law is the first.
pub fn name_of_direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Remove => "with",
        Direction::Add => "without",
    }
}

impl Claim {
    /// The claim that both ends hold for a subject.
    pub(super) fn new(subject: &Resolved, question: Question, ends: Ends) -> Result<Claim> {
        let paths = Paths::of_whole(&subject.whole)?;
        if paths.has_infinite_loss() && !question.has_directions() {
            let why = "with tables, and with guarantees that have a delta, certificates are about epsilon, delta, points of the trade-off function, decisions and posteriors of events and outputs: there is no \
                       scale by which their noise could be multiplied, and rho is about finite losses";
            return Err(Error::Unprovable { why: why.into() });
        }
        // The longest numbers that a checker reads.
        let long = |x: &Rational| x.numer().significant_bits().max(x.denom().significant_bits()) > 1300;
        if long(&ends.lower) || long(&ends.upper) {
            let why = "its numbers are fractions of more than 390 digits; certificates have none so long, nor so small"
                .into();
            return Err(Error::Unprovable { why });
        }
        Ok(Claim {
            subject: subject.title.clone(),
            neighbors: subject.neighbors,
            paths,
            question,
            ends,
            direction: None,
        })
    }

    /// The same claim of one direction, or of both. Refused is one that no checker would know.
    pub(super) fn in_direction(mut self, direction: Option<Direction>) -> Result<Claim> {
        self.direction = direction;
        self.check_direction()?;
        Ok(self)
    }

    /// An error for a direction that the claim cannot have, and for its absence where the claim needs one.
    pub(super) fn check_direction(&self) -> Result<()> {
        let why = match self.direction {
            Some(_) if !self.question.has_directions() => format!("a claim about {} has no direction", self.question.about()),
            Some(_) if self.neighbors != Neighbors::AddRemove => {
                "only add-remove neighbors have a direction: of bounded neighbors no data set is the one with the record".to_string()
            }
            None if matches!(self.question, Question::Events { .. }) && self.paths.have_tables() => {
                let why = match self.neighbors {
                    Neighbors::AddRemove => "the two directions of a table may differ, and a posterior of events is about one of them: name the direction",
                    Neighbors::Bounded => "with tables a posterior of events is about one direction, and bounded neighbors have none",
                };
                why.to_string()
            }
            Some(_) | None => return Ok(()),
        };
        Err(Error::Unprovable { why })
    }

    /// For a calibration, whether the two factors are adjacent on its grid. Other claims have no grid.
    pub(super) fn fits_grid(&self) -> bool {
        let Question::Scale { grid: Grid { of, decimals }, .. } = self.question else { return true };
        let sigma2 = |group: &Group| group.law.sigma2().cloned();
        let unit = match of {
            GridOf::Factor => Some(Rational::from(1)),
            GridOf::SmallestSigma2 => self.paths.groups.iter().flatten().filter_map(sigma2).min(),
        };
        unit.is_some_and(|unit| {
            let number = |end: &Rational| Rational::from(end * &unit) * Integer::from(Integer::u_pow_u(10, decimals));
            let (lower, upper) = (number(&self.ends.lower), number(&self.ends.upper));
            lower > 0 && lower.is_integer() && upper - lower == 1
        })
    }

    /// The claim as in a certificate.
    pub(super) fn json(&self) -> Value {
        let Paths { groups, infinite, pairs, .. } = &self.paths;
        let tables = tables_of(groups.iter().flatten());
        let group = |one: &Group| group(one, &tables);
        let paths: Vec<Vec<Value>> = groups.iter().map(|path| path.iter().map(group).collect()).collect();
        let rows = |table: &&NoiseTable| -> Value {
            table.masses().map(|(value, mass)| json!([value, fraction(mass)])).collect()
        };
        let given = self.question.given().into_iter().map(|(name, value)| (name.to_string(), value.json()));
        json!({
            "about": self.question.about(),
            "at": given.collect::<serde_json::Map<String, Value>>(),
            "lower": fraction(&self.ends.lower),
            "upper": fraction(&self.ends.upper),
            "subject": self.subject,
            "neighbors": self.neighbors.name(),
            "paths": paths,
            "pairs": pairs,
            "direction": self.direction.map(name_of_direction),
            "infinite": (*infinite > 0).then(|| fraction(infinite)),
            "laws": (!tables.is_empty()).then(|| tables.iter().map(rows).collect::<Value>()),
        })
    }
}

fn group(group: &Group, tables: &[&NoiseTable]) -> Value {
    let Group { law, shift, copies } = group;
    let (name, parameter) = match law {
        Law::Table(table) => ("table", json!(tables.iter().position(|known| **known == **table))),
        law => (law.parameter_name(), json!(fraction(law.parameter()))),
    };
    json!({ "law": law.key(), name: parameter, "shift": shift, "count": copies })
}
