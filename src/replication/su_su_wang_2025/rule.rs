//! The paper's sum over the geolevels, and Boole's rule for both terms of its privacy profile (A.9).

use rug::{Integer, Rational, ops::Pow};

use crate::{
    error::{Error, Result},
    numeric::{Enclosure, parallel, rational},
    release::Release,
    replication::{
        boole::{Boole, Term},
        closed_forms::SumOfCopies,
    },
};

/// Bits of the bounds here.
const BITS: u32 = 120;
const DIGITS: u32 = 12;

/// The groups of the paper's sum: sigma2 of one count, the number of counts, and the share of the budget. Levels with
/// equal shares form one group, as in Table 3.
pub(super) fn groups(release: &Release) -> Result<Vec<(Rational, u64, Rational)>> {
    let total = release.rho.clone();
    let mut groups: Vec<(Rational, u64, Rational)> = Vec::new();
    for level in &release.levels {
        let count: u64 = level.queries.iter().map(|query| query.times * query.cells).sum();
        let sigma2 = level.queries[0].sigma2()?.clone();
        match groups.iter_mut().find(|group| group.0 == sigma2) {
            Some(group) => group.1 += count,
            None => groups.push((sigma2, count, Rational::from(&level.rho / &total))),
        }
    }
    Ok(groups)
}

/// The paper's L: the shares times L are integers.
pub(super) const L: u32 = 1000;

/// The paper's sum, computed once for all its users.
pub(in crate::replication) struct Sum<'r> {
    pub release: &'r Release,
    pub terms: Vec<Term>,
}

impl<'r> Sum<'r> {
    /// The sum of a release whose shares are multiples of 1/1000.
    pub fn of_release(release: &'r Release) -> Result<Self> {
        Ok(Sum { release, terms: terms(release)? })
    }

    /// The first term of (A.9) by the paper's rule, with its upper end at six times the threshold and its reach 1/100.
    pub fn first_term(&self, epsilon: &Rational, panels: u64) -> Result<Boole> {
        let t = threshold(self.release, epsilon, false);
        let last = whole(&Rational::from(&t * 6_u32).ceil())?;
        Boole::new(self.terms.clone(), (whole_above(&t)?, last), Rational::from((1, 100)), panels)
    }

    /// The second term of (A.9) by the same rule. Beyond its upper end exp(epsilon) times the tail is below 10^-30. The
    /// rule's error bound grows with the seventh power of that end, and with the seventh power of the reach. The reach
    /// is therefore that of the sieve in D.3, rounded up.
    pub fn second_term(&self, epsilon: &Rational, panels: u64) -> Result<Boole> {
        let t = threshold(self.release, epsilon, true);
        let variance = |term: &Term| (term.weight as f64).powi(2) * term.copies as f64 * term.sigma2.to_f64();
        let spread: f64 = self.terms.iter().map(variance).sum();
        let last = (2.0 * spread * (30.0 * std::f64::consts::LN_10 + epsilon.to_f64())).sqrt().ceil() as i64;
        let first = whole_above(&t)?;
        Boole::new(self.terms.clone(), (first, last.max(first)), Rational::from((33, 5000)), panels)
    }
}

/// The terms a_i L of the paper's sum.
fn terms(release: &Release) -> Result<Vec<Term>> {
    parallel::try_map(&groups(release)?, |(sigma2, copies, share)| {
        let weight = Rational::from(share * L);
        let weight = (weight.denom() == &1).then(|| weight.numer().to_u64()).flatten().ok_or_else(|| {
            let needed = "the rule takes multiples of 1/1000, as in Table 3 of the paper";
            Error::unsuitable(format!("the share {} of the budget: {needed}", rational::display(share)))
        })?;
        let moments = moments(sigma2, *copies)?;
        Ok(Term { weight, sigma2: sigma2.clone(), copies: *copies, moments })
    })
}

/// E|S|^j for j = 1 to 6.
fn moments(sigma2: &Rational, copies: u64) -> Result<[Enclosure; 6]> {
    let sum = SumOfCopies::new(sigma2.clone(), copies, DIGITS)?;
    let deviation = (sigma2.to_f64() * copies as f64).sqrt();
    let reach = (16.0 * deviation).ceil() as i64;
    let masses: Vec<Enclosure> = (1..=reach).map(|y| sum.mass(y)).collect();
    Ok([1_u32, 2, 3, 4, 5, 6].map(|order| {
        let power = |y: i64| Enclosure::rational(&Rational::from(Integer::from(y).pow(order)), BITS);
        let sum =
            masses.iter().zip(1..).fold(Enclosure::double(0.0, BITS), |sum, (mass, y)| sum.add(&mass.mul(&power(y))));
        // P[S = y] <= exp(-y^2 / (2 B^2)), and g(y) = y^j exp(-y^2 / (2 B^2)) has a logarithmic derivative of at most
        // -(y / B^2) (1 - 6 / 256) from Y = 16 B on, so the sum beyond Y is at most g(Y + 1) (1 + B).
        let next = Rational::from(reach + 1);
        let exponent = -next.square() / (Rational::from(sigma2 * copies) * 2_u32);
        let slack = Enclosure::double(2.0 + deviation, BITS);
        let rest = power(reach + 1).mul(&Enclosure::rational(&exponent, BITS + 16).exp()).mul(&slack);
        sum.add(&Enclosure::double(0.0, BITS).hull(&rest)).mul(&Enclosure::double(2.0, BITS))
    }))
}

/// t_epsilon L = (n / 2) (epsilon / rho -+ 1) L with n = 10.
pub(super) fn threshold(release: &Release, epsilon: &Rational, second: bool) -> Rational {
    let ratio = Rational::from(epsilon / &release.rho);
    (if second { ratio + 1_u32 } else { ratio - 1_u32 }) * (5 * L)
}

/// The smallest integer above x.
pub(super) fn whole_above(x: &Rational) -> Result<i64> {
    Ok(whole(&Rational::from(x.floor_ref()))? + 1)
}

/// An integer up to which the rule can sum.
fn whole(x: &Rational) -> Result<i64> {
    let number = x.numer().to_i64().filter(|number| number.abs() < 1 << 50);
    number.ok_or_else(|| Error::out_of_range("a threshold of the sum", x, "a number within 2^50"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    /// Section A.7: alpha(zeta) and beta(zeta) of all levels by Boole's rule, against the certified knots.
    #[test]
    fn the_rule_agrees_with_the_certified_errors_of_a_test() {
        let release = Release::find("su-su-wang-2025").unwrap();
        let whole = release.composition(&[] as &[&str], None).unwrap();
        let terms = terms(&release).unwrap();
        for zeta in ["2.3405", "6.5"] {
            let zeta = parse(zeta).unwrap();
            // The paper's zeta refers to sum a_i X; in nats it is 2 rho / n times that.
            let knot = whole.knot_at(&(Rational::from(&zeta * &**whole.rho()) / 5_u32), 20).unwrap();
            let scaled = Rational::from(&zeta * L);
            // P[Y > zeta L], and P[Y <= zeta L - n L] = P[Y >= n L - zeta L].
            let rest = (Rational::from(10 * L) - &scaled).ceil();
            let (alpha, beta) = (whole_above(&scaled).unwrap(), rest.numer().to_i64().unwrap());
            for (first, truth) in [(alpha, &knot.alpha), (beta, &knot.beta)] {
                let rule = Boole::new(terms.clone(), (first, 60_000), Rational::from((1, 100)), 60_000).unwrap();
                let sums: Vec<Enclosure> = (0..rule.chunks()).map(|chunk| rule.chunk(chunk)).collect();
                let sum = rule.sum(&sums);
                assert!(rule.upper_tail(&sum, &rule.budget().unwrap()).overlaps(truth));
                assert!((sum.approximate() / truth.approximate() - 1.0).abs() < 1e-10, "{zeta}");
            }
        }
    }

    #[test]
    fn levels_with_equal_shares_form_one_group() {
        let groups = groups(&Release::find("su-su-wang-2025").unwrap()).unwrap();
        assert_eq!(groups.len(), 7);
        assert_eq!(groups.iter().map(|group| group.1).sum::<u64>(), 80);
        let shares = groups.iter().fold(Rational::new(), |sum, group| sum + Rational::from(&group.2 * group.1));
        assert_eq!(shares, 10);
    }
}
