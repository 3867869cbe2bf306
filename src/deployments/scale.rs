//! Deployments on one scale: epsilon at a common delta, and how often an adversary with prior 1/2 decides correctly at most.
//!
//! The known facts about a mechanism, [`Basis`], decide its account. Where its noise and counts are known it is exact. Guarantees are composed by
//! the pair of outcomes that dominates every mechanism with them, which is the best possible bound from the guarantees alone. For a rho the
//! standard accounts are available. A new law enters here: as counts of [`Basis::Counts`], or as a further basis.

use std::sync::Arc;

use rug::Rational;

use crate::{
    account::{
        Account, Composition, Counts, Delta, Rho,
        compared::{Conversion, accountants},
        conversions,
    },
    chart::drawing::ends,
    error::{Error, Result},
    law::Law,
    ledger::{LedgerEntry, Population},
    numeric::{Enclosure, precision, rational},
    release::{Neighbors, Release},
    replication::account_claims::About,
    risk::bound,
};

/// The known facts about a mechanism.
#[derive(Clone, Debug)]
pub enum Basis {
    /// Its counts and their noise: the account is exact.
    Counts(Box<About>),
    /// Releases under bounded neighbors that one change enters all of: their exact composition, the worst of all combinations of ways through them. Which of
    /// these occur together is not known, so that it is an upper bound.
    Together(Vec<Arc<Release>>),
    /// A bound on its rho alone.
    Zcdp(Rho),
    /// Parts with pure differential privacy.
    Pure(Vec<PurePart>),
    /// A pair (epsilon, delta) alone.
    Approximate {
        /// The epsilon.
        epsilon: Rational,
        /// The delta at which it holds.
        delta: Delta,
    },
}

/// Releases of one epsilon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurePart {
    /// The epsilon of each.
    pub epsilon: Rational,
    /// Their number.
    pub count: u64,
}

impl PurePart {
    /// Reads `EPSILON[xCOUNT]`.
    pub fn parse(text: &str) -> Result<Self> {
        let (epsilon, count) = text.split_once('x').unwrap_or((text, "1"));
        let count = count.trim().parse::<u64>().ok().filter(|count| (1..=1_000_000_000).contains(count));
        let epsilon = rational::parse(epsilon)?;
        match count {
            Some(count) if epsilon > 0 && epsilon <= 10_000 => Ok(PurePart { epsilon, count }),
            _ => Err(Error::malformed("pure epsilon", text, "EPSILON[xCOUNT] with 0 < EPSILON <= 10000, as 0.534x48")),
        }
    }
}

/// A deployment on the common scale.
#[derive(Clone, Debug)]
pub struct OnScale {
    /// The common delta.
    pub delta: Delta,
    /// Encloses the true epsilon at that delta; from zero where only a bound is known. `None` if nothing follows at this delta.
    pub epsilon: Option<Enclosure>,
    /// Whether the noise is known, so that both ends are proven; otherwise the upper end alone.
    pub is_exact: bool,
    /// A decimal that was printed and is an upper bound, if nothing but that is known: it is shown in place of the upper end.
    pub as_printed: Option<Rational>,
    /// The account of the upper end, in words.
    pub by: String,
    /// Each standard account: its name and its epsilon at that delta, `None` where it is infinite.
    pub accounts: Vec<(String, Option<Enclosure>)>,
    /// Encloses the largest probability of a correct decision at prior 1/2; from 1/2 where only a bound is known.
    pub correct: Enclosure,
}

impl OnScale {
    /// An epsilon alone, of known noise: without the other accounts, and with a probability of a correct decision that is not computed. From zero
    /// where it is a bound.
    pub(super) fn of_epsilon(delta: &Delta, epsilon: Option<Enclosure>, is_exact: bool) -> OnScale {
        let (delta, by) = (delta.clone(), if is_exact { EXACT } else { ACCOUNT }.to_string());
        let correct = from(0.5, &Enclosure::double(1.0, 64));
        OnScale { delta, epsilon, is_exact, as_printed: None, by, accounts: Vec::new(), correct }
    }

    /// The same mechanism by what else is printed of it: all accounts of both, and the smaller bound of either.
    pub(super) fn beside(self, other: OnScale) -> OnScale {
        let is_other = match (&self.epsilon, &other.epsilon) {
            (Some(own), Some(its)) => its.upper() < own.upper(),
            (own, its) => own.is_none() && its.is_some(),
        };
        let is_more_correct = other.correct.upper() < self.correct.upper();
        let correct = if is_more_correct { &other } else { &self }.correct.clone();
        let accounts = self.accounts.iter().chain(&other.accounts).cloned().collect();
        OnScale { accounts, correct, ..if is_other { other } else { self } }
    }

    /// Releases composed, by kept upper bounds of their epsilon and of the probability of a correct decision.
    pub(super) fn of_kept(delta: &Delta, epsilon: &Enclosure, correct: &Enclosure) -> OnScale {
        bounded(delta, vec![(TOGETHER.to_string(), Some(epsilon.clone()))], correct)
    }

    /// The epsilon as text: a number if it is exact, `<=` and the bound otherwise, and a dash where nothing follows.
    pub fn epsilon_text(&self) -> String {
        match (&self.epsilon, self.is_exact) {
            (None, _) => "-".to_string(),
            (Some(epsilon), true) => epsilon.shown(6),
            (Some(epsilon), false) => format!("<= {}", self.bound_text(epsilon)),
        }
    }

    /// Both ends of epsilon as texts: of a bound zero, and the bound to the same digits as elsewhere.
    pub fn epsilon_ends(&self) -> [String; 2] {
        match (&self.epsilon, self.is_exact) {
            (None, _) => Default::default(),
            (Some(epsilon), true) => ends(epsilon),
            (Some(epsilon), false) => ["0".to_string(), self.bound_text(epsilon)],
        }
    }

    /// An upper bound, as it is printed or rounded up.
    fn bound_text(&self, epsilon: &Enclosure) -> String {
        self.as_printed.as_ref().map_or_else(|| epsilon.upper_text(6), rational::display)
    }

    /// How often of a hundred decisions an adversary is right at most, rounded up to two decimals.
    pub fn right_of_100(&self) -> String {
        let Some(upper) = self.correct.upper_rational() else { return "100.00".to_string() };
        let hundredths = (upper * 10_000_u32).ceil();
        let hundredths = hundredths.numer().to_u64().unwrap_or(10_000).min(10_000);
        format!("{}.{:02}", hundredths / 100, hundredths % 100)
    }
}

impl Basis {
    /// The mechanism at a delta, with enclosures to a relative width of 10^-digits where it is exact.
    pub fn at(&self, delta: &Delta, digits: u32) -> Result<OnScale> {
        match self {
            Basis::Counts(about) => of_counts(about, delta, digits),
            Basis::Together(releases) => of_releases(releases, delta, digits),
            Basis::Zcdp(rho) => of_rho(rho, delta, digits),
            Basis::Pure(parts) => of_pure(parts, delta, digits),
            Basis::Approximate { epsilon, delta: own } => of_pair(epsilon, own, delta, digits),
        }
    }
}

impl Basis {
    /// The epsilon at a delta alone, which takes less time: without the other accounts, and with a probability of a correct decision that is not computed.
    pub fn epsilon_at(&self, delta: &Delta, digits: u32) -> Result<OnScale> {
        let Basis::Counts(about) = self else { return self.at(delta, digits) };
        let resolved = about.subject().resolve()?;
        if resolved.is_known_by_guarantee() {
            return self.at(delta, digits);
        }
        let is_exact = resolved.may_be_more_private().is_none();
        let epsilon = epsilon_of(&resolved.whole, delta, digits)?;
        let epsilon = if is_exact { epsilon } else { epsilon.map(|bound| from(0.0, &bound)) };
        Ok(OnScale::of_epsilon(delta, epsilon, is_exact))
    }
}

fn half() -> Rational {
    Rational::from((1, 2))
}

/// The largest probability of a correct decision at prior 1/2, which is the same in both directions.
fn at_half(account: &impl Account, digits: u32) -> Result<Enclosure> {
    Ok(bound::most_correct(account, &half(), Neighbors::AddRemove, digits)?.value)
}

/// The name of the account of known noise.
const EXACT: &str = "exact";
/// The name of the account of known noise that the mechanism may have more of.
const ACCOUNT: &str = "the account of its noise, an upper bound";
/// The name of the account of releases together.
const TOGETHER: &str = "the releases composed, the worst of all combinations of block paths";
/// The name of the account of guarantees by their dominating pairs.
const COMPOSED: &str = "composition of the guarantees";
/// The name of the account by the sum of pure epsilons.
const BASIC: &str = "pure DP (basic composition)";
/// The name of the account of one mechanism with that sum, which has a slightly smaller epsilon at a delta.
const AT_DELTA: &str = "pure DP at this delta";
/// The name of the account of one guarantee of which nothing else is known.
const PRINTED: &str = "pure DP, of which nothing else is known";

fn of_counts(about: &About, delta: &Delta, digits: u32) -> Result<OnScale> {
    let resolved = about.subject().resolve()?;
    let account = &resolved.whole;
    let epsilon = epsilon_of(account, delta, digits)?;
    let mut accounts = standard(account, epsilon.is_some(), delta, digits)?;
    let correct = at_half(account, digits)?;
    let is_guarantee = resolved.queries.iter().any(|query| query.counts.law.is_guarantee());
    if !is_guarantee && resolved.may_be_more_private().is_none() {
        return Ok(OnScale { accounts, correct, ..OnScale::of_epsilon(delta, epsilon, true) });
    }
    accounts.insert(0, (if is_guarantee { COMPOSED } else { ACCOUNT }.to_string(), epsilon));
    Ok(bounded(delta, accounts, &correct))
}

/// The standard accounts; none where no epsilon is finite.
fn standard(
    account: &impl Account,
    is_finite: bool,
    delta: &Delta,
    digits: u32,
) -> Result<Vec<(String, Option<Enclosure>)>> {
    if !is_finite {
        return Ok(Vec::new());
    }
    let all = accountants(account, delta, digits)?.into_iter().filter(|row| row.is_bound);
    Ok(all.map(|row| (row.name.to_string(), row.epsilon)).collect())
}

fn of_releases(releases: &[Arc<Release>], delta: &Delta, digits: u32) -> Result<OnScale> {
    let entry = |release: &Arc<Release>| LedgerEntry::of_release(Release::clone(release), release.name.clone());
    let population = Population::new("all".to_string(), Neighbors::Bounded, releases.iter().map(entry).collect());
    let whole = population.ledger()?.whole()?;
    let epsilon = epsilon_of(&whole, delta, digits)?;
    let rest = accounts_of_rho(&whole.rho(), delta, digits)?;
    let accounts = [(TOGETHER.to_string(), epsilon)].into_iter().chain(rest).collect();
    Ok(bounded(delta, accounts, &at_half(&whole, digits)?))
}

/// The epsilon of an account; `None` where none is finite at this delta.
fn epsilon_of(account: &impl Account, delta: &Delta, digits: u32) -> Result<Option<Enclosure>> {
    match account.epsilon(delta, digits) {
        Ok(answer) => Ok(Some(answer.value)),
        Err(Error::InfiniteLoss { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Guarantees composed, as a sum of losses; `None` where one is outside of the ranges of an account.
fn composed(guarantees: impl Iterator<Item = (Law, u64)>) -> Option<Composition> {
    let counts: Result<Vec<Counts>> = guarantees.map(|(law, count)| Counts::new(law, count, 1)).collect();
    Composition::new(counts.ok()?).ok()
}

/// The standard accounts of rho: the best order and the formula of Bun & Steinke.
fn accounts_of_rho(rho: &Rho, delta: &Delta, digits: u32) -> Result<[(String, Option<Enclosure>); 2]> {
    let best = conversions::zcdp_epsilon_optimal(rho, delta)?.epsilon.clamp(0.0, f64::INFINITY);
    Ok([
        (Conversion::BestOrder.name().to_string(), Some(best)),
        (Conversion::BunSteinke.name().to_string(), Some(conversions::zcdp_epsilon(rho, delta, digits))),
    ])
}

fn of_rho(rho: &Rho, delta: &Delta, digits: u32) -> Result<OnScale> {
    let accounts = accounts_of_rho(rho, delta, digits)?.to_vec();
    Ok(bounded(delta, accounts, &bound::most_correct_by_rho(rho, &half(), digits)?))
}

fn of_pure(parts: &[PurePart], delta: &Delta, digits: u32) -> Result<OnScale> {
    let sum = |of: &dyn Fn(&Rational) -> Rational| {
        parts.iter().fold(Rational::new(), |sum, part| sum + of(&part.epsilon) * part.count)
    };
    let total = sum(&Rational::clone);
    // An epsilon-DP mechanism has rho = epsilon^2 / 2 (Bun & Steinke 2016, Proposition 1.4).
    let rho = Rho::new(sum(&|epsilon| epsilon.clone().square() / 2_u32))?;
    let bits = precision::bits(digits, 64);
    let own = composed(parts.iter().map(|part| (Law::Pure { epsilon: part.epsilon.clone() }, part.count)));
    let mut accounts = Vec::new();
    let only = match parts {
        [PurePart { epsilon, count: 1 }] => Some(epsilon.clone()),
        _ => None,
    };
    // Of one part nothing is known but what is printed. Where the printed number stands for one that is hardly smaller, it is the account as well.
    let as_printed = |found: OnScale| {
        let mut found = nearly(found, &total);
        if only.is_some() {
            found.by = PRINTED.to_string();
        } else if found.as_printed.is_some() {
            found.by = BASIC.to_string();
        }
        if found.as_printed.is_some() {
            found.accounts.retain(|(name, _)| name != AT_DELTA);
        }
        found
    };
    if let Some(own) = own.as_ref().filter(|_| only.is_none()) {
        accounts.push((COMPOSED.to_string(), epsilon_of(own, delta, digits)?));
    }
    accounts.extend([
        (BASIC.to_string(), Some(Enclosure::rational(&total, bits))),
        (AT_DELTA.to_string(), Some(pure_at(&total, delta, bits))),
    ]);
    if parts.iter().map(|part| part.count).sum::<u64>() > 1 {
        accounts.push(("advanced composition".to_string(), Some(advanced(parts, delta, bits))));
    }
    accounts.extend(accounts_of_rho(&rho, delta, digits)?);
    if let Some(own) = &own {
        return Ok(as_printed(bounded(delta, accounts, &at_half(own, digits)?)));
    }
    // Both bound the same probability, so the smaller does.
    let by_pure = bound::posterior_at(&half(), &Enclosure::rational(&total, bits));
    let by_rho = bound::most_correct_by_rho(&rho, &half(), digits)?;
    let correct = if by_rho.upper() < by_pure.upper() { by_rho } else { by_pure };
    Ok(as_printed(bounded(delta, accounts, &correct)))
}

/// The epsilon at delta of the worst mechanism with pure epsilon E, randomized response: its profile is (e^E - e^epsilon) / (e^E + 1), which
/// is delta at E + ln(1 - delta (1 + e^-E)).
fn pure_at(total: &Rational, delta: &Delta, bits: u32) -> Enclosure {
    let one = Enclosure::double(1.0, bits);
    let total = Enclosure::rational(total, bits);
    let rest = one.sub(&Enclosure::rational(delta, bits).mul(&one.add(&total.clone().negate().exp())));
    if *rest.lower() <= 0 { Enclosure::double(0.0, bits) } else { total.add(&rest.ln()).clamp(0.0, f64::INFINITY) }
}

/// The sum over all releases of epsilon (e^epsilon - 1) / (e^epsilon + 1), plus sqrt(2 ln(1/delta) sum of epsilon^2): the advanced
/// composition of Kairouz, Oh & Viswanath (2017, Theorem 3.5), for parts with pure differential privacy.
fn advanced(parts: &[PurePart], delta: &Delta, bits: u32) -> Enclosure {
    let one = Enclosure::double(1.0, bits);
    let (mut mean, mut squares) = (Enclosure::double(0.0, bits), Enclosure::double(0.0, bits));
    for part in parts {
        let count = Enclosure::rational(&Rational::from(part.count), bits);
        let epsilon = Enclosure::rational(&part.epsilon, bits);
        // (e^x - 1) / (e^x + 1) by e^-x, which does not overflow.
        let small = epsilon.clone().negate().exp();
        let slope = one.sub(&small).div(&one.add(&small));
        mean = mean.add(&count.mul(&epsilon).mul(&slope));
        squares = squares.add(&count.mul(&epsilon).mul(&epsilon));
    }
    let two_ln = Enclosure::rational(delta, bits).ln().negate().mul(&Enclosure::double(2.0, bits));
    mean.add(&two_ln.mul(&squares).sqrt())
}

fn of_pair(epsilon: &Rational, own: &Delta, delta: &Delta, digits: u32) -> Result<OnScale> {
    let bits = precision::bits(digits, 64);
    let printed = Enclosure::rational(epsilon, bits);
    let law = Law::Approximate { epsilon: epsilon.clone(), delta: Rational::clone(own) };
    let by_pair = composed([(law, 1)].into_iter());
    let correct = match &by_pair {
        Some(account) => at_half(account, digits)?,
        None => bound::most_correct_by_epsilon(&printed, own, &half()),
    };
    // It holds at every larger delta, and at no smaller one.
    let holds = **own <= **delta;
    let as_printed = (format!("the pair as printed, at delta = {own}"), holds.then(|| printed.clone()));
    let at_delta =
        by_pair.filter(|_| **own < **delta).map(|account| epsilon_of(&account, delta, digits)).transpose()?;
    let by_printed = as_printed.0.clone();
    let accounts = match at_delta {
        Some(least) => vec![("a mechanism with this pair, at this delta".to_string(), least), as_printed],
        None => vec![as_printed],
    };
    if !holds {
        let by = accounts[0].0.clone();
        let correct = from(0.5, &correct);
        return Ok(OnScale { by, accounts, correct, ..OnScale::of_epsilon(delta, None, false) });
    }
    let found = bounded(delta, accounts, &correct);
    let is_printed = **own == **delta;
    let mut found = nearly(found, epsilon);
    found.as_printed = is_printed.then(|| epsilon.clone()).or(found.as_printed);
    if found.as_printed.is_some() {
        found.accounts.retain(|(name, _)| *name == by_printed);
        found.by = by_printed;
    }
    Ok(found)
}

/// The printed number in place of an upper end that is below it by less than a thousandth: 4 and not 3.99999.
fn nearly(found: OnScale, printed: &Rational) -> OnScale {
    let least = Rational::from(printed * 999_u32) / 1_000_u32;
    let is_near =
        found.epsilon.as_ref().is_some_and(|epsilon| *epsilon.upper() >= least && *epsilon.upper() <= *printed);
    OnScale { as_printed: is_near.then(|| printed.clone()), ..found }
}

/// The scale where only bounds are known: the smallest of the accounts.
fn bounded(delta: &Delta, accounts: Vec<(String, Option<Enclosure>)>, correct: &Enclosure) -> OnScale {
    let known = || accounts.iter().filter_map(|(name, epsilon)| epsilon.as_ref().map(|epsilon| (name, epsilon)));
    let least = known().min_by(|a, b| a.1.upper().total_cmp(b.1.upper()));
    // Accounts that cannot be distinguished from it are the same number: the first of them names it.
    let first = |least: &Enclosure| known().find(|(_, one)| one.lower() <= least.upper()).map(|(name, _)| name);
    // Where no account is finite, nothing follows at this delta.
    let (by, epsilon) = match least {
        Some((by, least)) => (first(least).unwrap_or(by).clone(), Some(from(0.0, least))),
        None => ("no account, as none is finite at this delta".to_string(), None),
    };
    OnScale { by, accounts, correct: from(0.5, correct), ..OnScale::of_epsilon(delta, epsilon, false) }
}

/// The interval from a number that the truth is never below to the upper end of a bound.
fn from(least: f64, bound: &Enclosure) -> Enclosure {
    Enclosure::double(least, bound.upper().prec()).hull(bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(text: &str) -> Delta {
        text.parse().unwrap()
    }

    fn upper(epsilon: &Option<Enclosure>) -> f64 {
        epsilon.as_ref().unwrap().upper().to_f64()
    }

    #[test]
    fn pure_parts_have_every_standard_account() {
        let parts = vec![PurePart::parse("0.01x1000").unwrap()];
        let found = Basis::Pure(parts).at(&delta("1e-5"), 12).unwrap();
        let of = |name: &str| {
            let row = found.accounts.iter().find(|(known, _)| known.contains(name)).unwrap();
            row.1.as_ref().unwrap().approximate()
        };
        assert!((of("basic") - 10.0).abs() < 1e-12);
        // 1000 x 0.01 tanh(0.005) + sqrt(2 ln(1e5) 0.1), by hand.
        assert!((of("advanced") - (10.0 * 0.005_f64.tanh() + (0.2 * 1e5_f64.ln()).sqrt())).abs() < 1e-9);
        // rho = 0.05: 0.05 + 2 sqrt(0.05 ln(1e5)).
        assert!((of("Bun-Steinke") - (0.05 + 2.0 * (0.05 * 1e5_f64.ln()).sqrt())).abs() < 1e-9);
        assert_eq!(found.by, "composition of the guarantees");
        assert!(upper(&found.epsilon) < of("best order") && *found.epsilon.as_ref().unwrap().lower() == 0);
        // Of 1000 answers that are true with probability e^0.01 / (1 + e^0.01), by their sum.
        let delta = |epsilon: f64| randomized(1000, 0.01, epsilon);
        assert!((delta(of("composition of")) / 1e-5 - 1.0).abs() < 1e-6);
        assert!((found.correct.upper().to_f64() - (1.0 + delta(0.0)) / 2.0).abs() < 1e-9);
        // Beyond the ranges of an account the closed forms are left.
        let small = Basis::Pure(vec![PurePart::parse("1e-7x10").unwrap()]).at(&self::delta("1e-5"), 12).unwrap();
        assert!(small.by != COMPOSED && upper(&small.epsilon) < 1e-6 && small.right_of_100() == "50.01", "{small:?}");
    }

    /// delta(epsilon) of n randomized responses, as a sum over the number k of answers in favour of the first hypothesis.
    fn randomized(n: u32, each: f64, epsilon: f64) -> f64 {
        let (p, q) = (1.0 / (1.0 + (-each).exp()), 1.0 / (1.0 + each.exp()));
        let mut ln_ways = 0.0;
        let mut delta = 0.0;
        for k in 0..=n {
            let (k, rest) = (f64::from(k), f64::from(n - k));
            let first = (ln_ways + k * p.ln() + rest * q.ln()).exp();
            let second = (epsilon + ln_ways + k * q.ln() + rest * p.ln()).exp();
            delta += (first - second).max(0.0);
            ln_ways += (rest.max(1.0) / (k + 1.0)).ln();
        }
        delta
    }

    #[test]
    fn one_pure_part_is_that_of_randomized_response() {
        let found = Basis::Pure(vec![PurePart::parse("1").unwrap()]).at(&delta("0.1"), 12).unwrap();
        // (e - e^x) / (e + 1) = 0.1 at x = ln(e - 0.1 (e + 1)).
        let e = std::f64::consts::E;
        assert!((upper(&found.epsilon) - (e - 0.1 * (e + 1.0)).ln()).abs() < 1e-12);
        assert_eq!(found.right_of_100(), "73.11");
        // At a small delta the printed number is shown, and at a large one what follows from it.
        assert_eq!(found.as_printed, None);
        let small = Basis::Pure(vec![PurePart::parse("1").unwrap()]).at(&delta("1e-5"), 12).unwrap();
        assert_eq!(small.as_printed, Some(Rational::from(1)));
        assert!(PurePart::parse("0").is_err() && PurePart::parse("1x0").is_err() && PurePart::parse("x").is_err());
        let many = Basis::Pure(vec![PurePart::parse("769").unwrap()]).at(&delta("1e-5"), 12).unwrap();
        assert_eq!(many.right_of_100(), "100.00");
    }

    #[test]
    fn a_pair_says_nothing_at_a_smaller_delta() {
        let pair = Basis::Approximate { epsilon: rational::parse("2.19").unwrap(), delta: delta("1e-5") };
        assert!(pair.at(&delta("1e-6"), 12).unwrap().epsilon.is_none());
        let printed = pair.at(&delta("1e-5"), 12).unwrap().epsilon.unwrap();
        assert!(printed.contains(&rational::parse("2.19").unwrap()) && upper(&Some(printed)) < 2.190_000_1);
        // At a larger delta: d + (1 - d) (e^2.19 - e^x) / (e^2.19 + 1) = 0.1 for d = 1e-5.
        let larger = pair.at(&delta("0.1"), 12).unwrap();
        let (e, d) = (2.19_f64.exp(), 1e-5);
        let by_hand = (e - (0.1 - d) / (1.0 - d) * (e + 1.0)).ln();
        assert!((upper(&larger.epsilon) - by_hand).abs() < 1e-9 && larger.as_printed.is_none());
        let by_hand = 1.0 - (1.0 - d) / (1.0 + e);
        assert!((larger.correct.upper().to_f64() - by_hand).abs() < 1e-9);
    }
}
