//! A yardstick for an epsilon: its place among the published deployments of one unit. An epsilon for a day, an event or a household is on another scale than
//! one for a person, and a part of a deployment is not beside the whole.

use rug::Rational;

use super::{bundled, epsilons, file::Deployment, origin::Group, scale::OnScale};
use crate::{
    account::Delta,
    error::Result,
    numeric::{Enclosure, parallel},
};

/// The digits of exact epsilons.
pub(super) const DIGITS: u32 = 4;

/// The unit about which parameters hold. Deployments of one unit alone are beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A person, or the user of one device, and all that is released.
    Person,
    /// A household or a housing unit, and all that is released.
    Household,
    /// A person on a day.
    PersonDay,
    /// An event or a report.
    Event,
    /// An establishment.
    Establishment,
}

impl Unit {
    /// What it is about, after "a deployment about".
    pub fn in_words(self) -> &'static str {
        match self {
            Unit::Person => "a person and all that is released",
            Unit::Household => "a household or a housing unit and all that is released",
            Unit::PersonDay => "a person on a day",
            Unit::Event => "an event or a report",
            Unit::Establishment => "an establishment",
        }
    }

    /// That of a deployment; `None` where it is another one, or not stated.
    fn of_deployment(deployment: &Deployment) -> Option<Unit> {
        let (unit, per) = (deployment.unit.as_str(), deployment.per.as_str());
        match (deployment.group, unit, per) {
            (Group::Person, "household" | "housing unit", _) => Some(Unit::Household),
            (Group::Person, ..) => Some(Unit::Person),
            (Group::Time, _, "a day") => Some(Unit::PersonDay),
            (Group::Event, _, "one event") => Some(Unit::Event),
            (Group::Other, "establishment", "the release") => Some(Unit::Establishment),
            _ => None,
        }
    }

    /// Whether a deployment is a mark among those of this unit. Parameters that are disproved are none, since the corrected ones are, and nor are parts.
    fn has(self, deployment: &Deployment) -> bool {
        Unit::of_deployment(deployment) == Some(self)
            && deployment.corrected_by.is_none()
            && deployment.part_of.is_none()
    }
}

/// The published deployments of one unit at one delta.
#[derive(Clone, Debug)]
pub struct Yardstick {
    /// The unit.
    pub unit: Unit,
    /// Those with an epsilon at this delta, the smallest first.
    pub marks: Vec<Mark>,
    /// The names of those from whose publications no epsilon at this delta follows.
    pub silent: Vec<String>,
}

/// A published deployment.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Its key.
    pub name: String,
    /// Its publisher.
    pub curator: String,
    /// Its neighbor relation, as far as it is stated.
    pub neighbors: String,
    /// Its place on the scale.
    pub scale: OnScale,
    /// Its epsilon: exact, or from zero to an upper bound.
    pub epsilon: Enclosure,
}

/// The deployments with a smaller, the same and a larger epsilon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Their epsilon is smaller.
    pub smaller: usize,
    /// Their epsilon cannot be distinguished from it.
    pub same: usize,
    /// Their epsilon, or what they publish as its bound, is larger.
    pub larger: usize,
}

impl Yardstick {
    /// That of the bundled deployments of a unit. At powers of ten their epsilons are kept, elsewhere they are computed.
    pub fn at(delta: &Delta, unit: Unit) -> Result<Yardstick> {
        let all: Vec<Deployment> = bundled::find(&[])?.into_iter().filter(|one| unit.has(one)).collect();
        let known = |deployment: &Deployment| match epsilons::kept(&deployment.name, delta) {
            Some(kept) => Ok(Some(kept)),
            None => deployment.basis.as_ref().map(|basis| basis.epsilon_at(delta, DIGITS)).transpose(),
        };
        let scales = parallel::try_map(&all, known)?;
        let (mut marks, mut silent) = (Vec::new(), Vec::new());
        for (deployment, scale) in all.into_iter().zip(scales) {
            match scale.and_then(|scale| Some((scale.epsilon.clone()?, scale))) {
                None => silent.push(deployment.name),
                Some((epsilon, scale)) => {
                    let Deployment { name, curator, neighbors, .. } = deployment;
                    marks.push(Mark { name, curator, neighbors, scale, epsilon });
                }
            }
        }
        marks.sort_by(|a, b| a.most().cmp(&b.most()).then_with(|| a.name.cmp(&b.name)));
        Ok(Yardstick { unit, marks, silent })
    }

    /// The place of an epsilon among them.
    pub fn place(&self, epsilon: &Enclosure) -> Place {
        let mut place = Place::default();
        for mark in &self.marks {
            match mark.side(epsilon) {
                std::cmp::Ordering::Less => place.smaller += 1,
                std::cmp::Ordering::Equal => place.same += 1,
                std::cmp::Ordering::Greater => place.larger += 1,
            }
        }
        place
    }
}

impl Mark {
    /// The largest number that its epsilon can be: as printed where only that is known.
    pub fn most(&self) -> Rational {
        let upper = || self.epsilon.upper_rational().unwrap_or_default();
        self.scale.as_printed.clone().unwrap_or_else(upper)
    }

    /// On which side of an epsilon it is. Of a bound the bound itself counts, as what is published.
    pub fn side(&self, epsilon: &Enclosure) -> std::cmp::Ordering {
        let most = self.most();
        if *epsilon.lower() > most {
            return std::cmp::Ordering::Less;
        }
        let is_above = match self.scale.is_exact {
            true => self.epsilon.lower() > epsilon.upper(),
            false => *epsilon.upper() < most,
        };
        if is_above { std::cmp::Ordering::Greater } else { std::cmp::Ordering::Equal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One deployment of each unit, and one of none.
    #[test]
    fn deployments_of_one_unit_alone_are_beside_each_other() {
        let all = bundled::find(&[]).unwrap();
        for (name, expected) in [
            ("census-2020-ddhca", Some(Unit::Person)),
            ("census-2020-ddhcb", Some(Unit::Household)),
            ("google-mobility", Some(Unit::PersonDay)),
            ("apple-healthkit", Some(Unit::Event)),
            ("census-county-business-patterns", Some(Unit::Establishment)),
            ("linkedin-audience-engagement", None),
            ("sipp-truncated-laplace", None),
            ("kostat-data-hub", None),
        ] {
            let one = all.iter().find(|one| one.name == name).unwrap();
            assert_eq!(Unit::of_deployment(one), expected, "{name}");
            let units = [Unit::Person, Unit::Household, Unit::PersonDay, Unit::Event, Unit::Establishment];
            let marked: Vec<Unit> = units.into_iter().filter(|unit| unit.has(one)).collect();
            assert_eq!(marked, expected.into_iter().collect::<Vec<_>>(), "{name}");
        }
    }

    /// A part is no mark, and its whole is one.
    #[test]
    fn no_part_is_beside_its_whole() {
        let all = bundled::find(&[]).unwrap();
        let parts: Vec<_> = all.iter().filter(|one| one.part_of.is_some()).collect();
        assert_eq!(parts.len(), 4);
        for part in parts {
            let whole = all.iter().find(|one| Some(&one.name) == part.part_of.as_ref()).unwrap();
            assert!(whole.part_of.is_none() && Unit::Person.has(whole), "{}", part.name);
            assert!(!Unit::Person.has(part) && !Unit::Household.has(part), "{}", part.name);
        }
    }

    #[test]
    fn an_epsilon_has_its_place_among_those_of_persons() {
        let yardstick = Yardstick::at(&"1e-5".parse().unwrap(), Unit::Person).unwrap();
        let at =
            |text: &str| yardstick.place(&Enclosure::rational(&crate::numeric::rational::parse(text).unwrap(), 64));
        let all = yardstick.marks.len();
        assert_eq!((at("1e-9").larger, at("1e9").smaller), (all, all));
        // Microsoft's broadband data printed 0.2, of which nothing else is known.
        let printed = yardstick.marks.iter().position(|mark| mark.name == "microsoft-broadband").unwrap();
        assert_eq!(yardstick.marks[printed].most(), Rational::from((1, 5)));
        assert_eq!(at("1/5"), Place { smaller: printed, same: 1, larger: all - printed - 1 });
        assert!(yardstick.marks.is_sorted_by_key(Mark::most));
        // What is disproved is not beside its correction.
        assert!(yardstick.marks.iter().all(|mark| mark.name != "recurve-ohmconnect-paper"));
        assert!(yardstick.marks.iter().any(|mark| mark.name == "recurve-ohmconnect-registry"));
        // A pair at a larger delta says nothing at a smaller one.
        let small = Yardstick::at(&"1e-12".parse().unwrap(), Unit::Person).unwrap();
        assert!(small.silent.iter().any(|name| name == "microsoft-ctdc"), "{:?}", small.silent);
    }
}
