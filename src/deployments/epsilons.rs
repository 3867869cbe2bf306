//! The certified epsilons of deployments whose noise is known, at powers of ten: computed once and kept in data/deployments/epsilons.csv, so that
//! a report which names their place does not account for them again.
//!
//! `scripts/reproduce` computes the file again. A test compares the lines of one delta with what this program computes.

use std::{collections::HashMap, sync::LazyLock};

use rug::Rational;

use super::scale::OnScale;
use crate::{
    account::Delta,
    numeric::{Enclosure, rational},
};

/// The file.
const FILE: &str = include_str!("../../data/deployments/epsilons.csv");

/// An epsilon at a delta, and whether it is exact.
type Kept = (Rational, Enclosure, bool);

/// The epsilon of a deployment at a delta, where it is kept.
pub(super) fn kept(name: &str, delta: &Delta) -> Option<OnScale> {
    static KEPT: LazyLock<HashMap<&str, Vec<Kept>>> = LazyLock::new(|| {
        let mut all: HashMap<&str, Vec<Kept>> = HashMap::new();
        for (name, kept) in FILE.lines().skip(1).filter_map(read) {
            all.entry(name).or_default().push(kept);
        }
        all
    });
    let (_, epsilon, is_exact) = KEPT.get(name)?.iter().find(|(known, ..)| known == &**delta)?;
    Some(OnScale::of_epsilon(delta, Some(epsilon.clone()), *is_exact))
}

/// A line of the file. Its decimals are rounded outward.
fn read(line: &str) -> Option<(&str, Kept)> {
    const BITS: u32 = 64;
    let [name, delta, lower, upper, exact] = line.split(',').collect::<Vec<_>>().try_into().ok()?;
    let number = |text| rational::parse(text).ok();
    let end = |text| Some(Enclosure::rational(&number(text)?, BITS));
    Some((name, (number(delta)?, end(lower)?.hull(&end(upper)?), exact == "yes")))
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;
    use crate::{
        deployments::{bundled, origin::Group, scale::Basis, yardstick},
        numeric::parallel,
    };

    const HEADING: &str = "name,delta,epsilon_lower,epsilon_upper,exact";
    /// 10^-1 to 10^-15.
    const POWERS: std::ops::RangeInclusive<u32> = 1..=15;
    /// As `assay deployments` computes releases together.
    const DIGITS_TOGETHER: u32 = 8;
    /// Names the file to write.
    const OUT: &str = "ASSAY_EPSILONS";

    /// The lines of a delta: the deployments about a person whose account takes time. One without a finite epsilon there has none.
    fn lines_at(power: u32) -> Vec<String> {
        let text = format!("1e-{power}");
        let delta: Delta = text.parse().unwrap();
        let of_persons = bundled::find(&[]).unwrap().into_iter().filter(|one| one.group == Group::Person);
        let line = |one: crate::deployments::Deployment| {
            let basis = one.basis.filter(|basis| matches!(basis, Basis::Counts(_) | Basis::Together(_)))?;
            let is_one = matches!(basis, Basis::Counts(_));
            let found = basis.epsilon_at(&delta, if is_one { yardstick::DIGITS } else { DIGITS_TOGETHER }).unwrap();
            let epsilon = found.epsilon?;
            // A bound is the interval from zero to it.
            let (lower, upper, exact) = match (found.is_exact, epsilon.decimals()) {
                (true, (lower, upper)) => (lower?, upper?, "yes"),
                (false, _) => ("0".to_string(), epsilon.upper_text(8), "no"),
            };
            Some(format!("{},{text},{lower},{upper},{exact}", one.name))
        };
        of_persons.filter_map(line).collect()
    }

    #[test]
    #[ignore = "a minute in a release build: scripts/reproduce runs it"]
    fn epsilons_are_written() {
        let Some(path) = env::var_os(OUT) else { panic!("{OUT} names the file to write") };
        let lines = parallel::map(&POWERS.collect::<Vec<_>>(), |power| lines_at(*power)).concat();
        fs::write(path, format!("{HEADING}\n{}\n", lines.join("\n"))).unwrap();
    }

    #[test]
    fn what_is_kept_is_what_is_computed() {
        assert!(FILE.starts_with(HEADING));
        let kept: Vec<&str> = FILE.lines().filter(|line| line.contains(",1e-10,")).collect();
        assert_eq!(kept, lines_at(10));
        // No line is lost when it is read, and every delta has the same deployments.
        assert_eq!(FILE.lines().skip(1).filter_map(read).count(), kept.len() * POWERS.count());
    }

    #[test]
    fn epsilons_grow_as_delta_falls() {
        let rows: Vec<_> = FILE.lines().skip(1).filter_map(read).collect();
        for (name, (delta, epsilon, is_exact)) in &rows {
            let smaller = rows.iter().filter(|(other, (at, ..))| other == name && at < delta);
            for (_, (at, larger, _)) in smaller {
                // They approach the largest loss of bounded noise, so that both enclosures may be those of one number in the end.
                assert!(larger.upper() >= epsilon.upper(), "{name} at {at}");
                assert!(!is_exact || larger.lower() >= epsilon.lower(), "{name} at {at}");
            }
        }
        assert!(kept(rows[0].0, &"1e-10".parse().unwrap()).is_some());
        assert!(
            kept(rows[0].0, &"2e-10".parse().unwrap()).is_none() && kept("nosuch", &"1e-10".parse().unwrap()).is_none()
        );
    }
}
