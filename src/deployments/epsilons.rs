//! The certified epsilons of deployments whose noise is known, at powers of ten: computed once and kept in data/deployments/epsilons.csv, so that
//! a report which names their place does not account for them again.
//!
//! `scripts/reproduce` computes the file again. A test compares the lines of one delta with what this program computes.
//!
//! The composition of releases whose combinations of block paths take minutes is kept in data/deployments/composed.csv, at single deltas: a test that
//! `scripts/reproduce` runs computes each line again.

use std::{collections::HashMap, sync::LazyLock};

use rug::Rational;

use super::scale::OnScale;
use crate::{
    account::Delta,
    numeric::{Enclosure, rational},
};

/// The file.
const FILE: &str = include_str!("../../data/deployments/epsilons.csv");
/// The compositions: a deployment, a delta, its releases, upper bounds of epsilon there and of the probability of a correct decision at prior 1/2.
const COMPOSED: &str = include_str!("../../data/deployments/composed.csv");

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
    if let Some(composed) = composed(name, delta) {
        return Some(composed);
    }
    let (_, epsilon, is_exact) = KEPT.get(name)?.iter().find(|(known, ..)| known == &**delta)?;
    Some(OnScale::of_epsilon(delta, Some(epsilon.clone()), *is_exact))
}

/// The composition of a deployment's releases at a delta, where it is kept: an upper bound.
pub(super) fn composed(name: &str, delta: &Delta) -> Option<OnScale> {
    let mut lines = COMPOSED.lines().skip(1).filter_map(Composed::read);
    let line = lines.find(|line| line.name == name && *line.delta == **delta)?;
    Some(OnScale::of_kept(delta, &line.epsilon, &line.correct))
}

/// A line of the compositions. Its decimals are rounded up.
struct Composed {
    name: &'static str,
    delta: Delta,
    epsilon: Enclosure,
    correct: Enclosure,
}

impl Composed {
    fn read(line: &'static str) -> Option<Composed> {
        const BITS: u32 = 64;
        let [name, delta, _, epsilon, correct] = line.split(',').collect::<Vec<_>>().try_into().ok()?;
        let bound = |text| Some(Enclosure::rational(&rational::parse(text).ok()?, BITS));
        Some(Composed { name, delta: delta.parse().ok()?, epsilon: bound(epsilon)?, correct: bound(correct)? })
    }
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
    use std::{env, fs, sync::Arc};

    use super::*;
    use crate::{
        deployments::{bundled, judge, origin::Group, scale::Basis, yardstick},
        numeric::parallel,
        release::Release,
    };

    const HEADING: &str = "name,delta,epsilon_lower,epsilon_upper,exact";
    /// 10^-1 to 10^-15.
    const POWERS: std::ops::RangeInclusive<u32> = 1..=15;
    /// As `assay deployments` computes releases together.
    const DIGITS_TOGETHER: u32 = 8;
    /// The digits of the ends of one release or of counts.
    const SHOWN: usize = yardstick::DIGITS as usize + 3;
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
            // Three digits more than are proven. A bound is the interval from zero to it.
            let shown = if is_one { SHOWN } else { DIGITS_TOGETHER as usize };
            let (lower, exact) = match found.is_exact {
                true => (epsilon.lower_text(shown), "yes"),
                false => ("0".to_string(), "no"),
            };
            let upper = epsilon.upper_text(shown);
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

    /// Each line of the compositions, from its releases.
    #[test]
    #[ignore = "minutes in a release build: scripts/reproduce runs it"]
    fn compositions_are_what_is_computed() {
        for line in COMPOSED.lines().skip(1) {
            let read = Composed::read(line).unwrap();
            let names = line.split(',').nth(2).unwrap();
            let releases = names.split(" + ").map(|name| Arc::new(Release::find(name).unwrap())).collect();
            let found = Basis::Together(releases).at(&read.delta, DIGITS_TOGETHER).unwrap();
            let epsilon = found.epsilon.unwrap().upper_text(6);
            assert_eq!(line.split(',').nth(3), Some(epsilon.as_str()), "{names}");
            assert!(found.correct.upper() <= read.correct.upper(), "{line}");
        }
    }

    /// The composition is below what the sum of both rho alone gives, and stands among the accounts.
    #[test]
    fn compositions_are_kept_where_they_take_minutes() {
        assert!(COMPOSED.lines().skip(1).all(|line| Composed::read(line).is_some()) && COMPOSED.lines().count() > 1);
        let delta: Delta = "1e-5".parse().unwrap();
        let dhc = bundled::find(&["census-2020-dhc".to_string()]).unwrap().remove(0);
        let by_rho = dhc.basis.as_ref().unwrap().at(&delta, 8).unwrap();
        let judged = judge::judge(dhc, &delta, 8).unwrap().scale.unwrap();
        let upper = |scale: &OnScale| scale.epsilon.as_ref().unwrap().upper().to_f64();
        // 33.4035948 was computed; the kept decimal 33.4036 is rounded up once more as it is shown.
        assert_eq!(judged.epsilon_text(), "<= 33.4037");
        assert!(upper(&judged) < upper(&by_rho) && judged.correct.upper() <= by_rho.correct.upper());
        assert_eq!(judged.accounts.len(), by_rho.accounts.len() + 1);
        // The yardstick has the same number, and at another delta the account of rho.
        assert_eq!(kept("census-2020-dhc", &delta).unwrap().epsilon_text(), "<= 33.4037");
        assert!(kept("census-2020-dhc", &"1e-6".parse().unwrap()).is_none());
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
