//! Ranks of areas by an estimate, with intervals and probabilities from the joint covariances of the estimates.
//!
//! An interval of an area's rank follows from its differences to all other areas (Mogstad, Romano, Shaikh & Wilhelm 2024): an area whose difference is
//! above zero by its margin is larger, one below is smaller, and all others may be either. With Bonferroni's correction over the differences all are on
//! the right side with the confidence of the interval, if errors are normal, so the interval contains the area's true rank with at least that.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::{
    codes::confidence::Confidence,
    compared::{Named, Two, listed},
};
use crate::{
    error::{Error, Result, unknown},
    numeric::normal::{lower_approx, upper_quantile_approx},
};

/// The number of joint draws for the probabilities of ranks: their standard errors are at most 1 / (2 sqrt(draws)) = 0.0036.
pub const DRAWS: usize = 20_000;

/// Two counts are tied if they differ by at most this: the rounding error of a difference that constraints fix to zero.
const TIED: f64 = 1e-6;

/// The rank of an area by one variable: 1 is the largest.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank {
    /// The area.
    pub area: String,
    /// The variable.
    pub variable: String,
    /// Its estimate.
    pub estimate: f64,
    /// The rank of the estimate; areas of equal estimates share the best one.
    pub rank: usize,
    /// The number of other areas that are tied with it: together they have the ranks from `rank` on, each of them equally likely for each area.
    pub tied: usize,
    /// The interval of the true rank, for each level of confidence.
    pub intervals: Vec<(usize, usize)>,
    /// The expected rank if errors are normal and nothing else is known: an approximation.
    pub expected_approx: f64,
    /// The probability of each rank, by joint normal draws: approximations.
    pub probabilities_approx: Vec<f64>,
    /// The number of areas.
    pub areas: usize,
}

impl Named {
    /// The ranks of all areas by a variable, with an interval for each level of confidence.
    pub fn ranks(&self, variable: &str, confidence: &[Confidence]) -> Result<Vec<Rank>> {
        let own = self.variables.iter().position(|known| known == variable).ok_or_else(|| {
            let why = unknown("variable", variable, "the request has", self.variables.iter().map(String::as_str));
            Error::conflict(why)
        })?;
        let areas = self.areas.len();
        if areas < 2 {
            return Err(Error::conflict(format!("{variable:?}: one area has no rank: request several")));
        }
        let places: Vec<usize> = (0..areas).map(|area| area * self.variables.len() + own).collect();
        let compared = Differences { named: self, places: &places };
        // Of a two-sided margin the confidence leaves 2 P[Z > z] outside; one of areas - 1 differences has its share of that.
        let quantile = |own: &Confidence| {
            let outside = 2.0 * lower_approx(-own.quantile());
            upper_quantile_approx(libm::log(outside / (2.0 * (areas - 1) as f64)))
        };
        let quantiles: Vec<f64> = confidence.iter().map(quantile).collect();
        let probabilities = compared.probabilities();
        let rank = |(area, probabilities_approx): (usize, Vec<f64>)| {
            let estimate = self.covariances.estimates[places[area]];
            let is_larger = |other: &usize| self.covariances.estimates[places[*other]] > estimate;
            let larger = (0..areas).filter(is_larger).filter(|other| !compared.are_tied(area, *other)).count();
            let tied = (0..areas).filter(|other| *other != area && compared.are_tied(area, *other)).count();
            let intervals = quantiles.iter().map(|z| compared.interval(area, *z)).collect();
            let expected_approx = compared.expected_approx(area);
            let (area, variable) = (self.areas[area].clone(), variable.to_string());
            Rank {
                area,
                variable,
                estimate,
                rank: 1 + larger,
                tied,
                intervals,
                expected_approx,
                probabilities_approx,
                areas,
            }
        };
        Ok(probabilities.into_iter().enumerate().map(rank).collect())
    }
}

/// The counts of one variable in all areas.
struct Differences<'a> {
    named: &'a Named,
    places: &'a [usize],
}

impl Differences<'_> {
    /// An area compared with each other one: the other one less this one.
    fn others(&self, area: usize) -> impl Iterator<Item = Two> {
        let others = (0..self.places.len()).filter(move |other| *other != area);
        others.map(move |other| self.named.two(self.places[other], self.places[area]))
    }

    /// Whether two areas are certain to have the same count: constraints, or the same blocks, fix their difference to zero.
    fn are_tied(&self, a: usize, b: usize) -> bool {
        a == b || {
            let two = self.named.two(self.places[a], self.places[b]);
            two.probability_larger().is_none() && two.difference().0.abs() <= TIED
        }
    }

    /// The interval of an area's rank, from differences of z standard deviations.
    fn interval(&self, area: usize, z: f64) -> (usize, usize) {
        let (mut first, mut last) = (1, self.places.len());
        for two in self.others(area) {
            let (difference, deviation) = two.difference();
            // Constraints can fix a difference: then its sign is known, and equal counts are tied.
            let is_known = difference.abs() > z * deviation && difference.abs() > TIED;
            first += usize::from(is_known && difference > 0.0);
            last -= usize::from(is_known && difference < 0.0);
        }
        (first, last)
    }

    /// The expected rank of an area.
    fn expected_approx(&self, area: usize) -> f64 {
        let larger = |two: Two| {
            two.probability_larger().unwrap_or(match two.difference().0 {
                difference if difference.abs() <= TIED => 0.5,
                difference => f64::from(difference > 0.0),
            })
        };
        1.0 + self.others(area).map(larger).sum::<f64>()
    }

    /// For each area the share of joint normal draws in which it has each rank.
    fn probabilities(&self) -> Vec<Vec<f64>> {
        let (areas, covariances) = (self.places.len(), &self.named.covariances);
        let matrix: Vec<Vec<f64>> = self
            .places
            .iter()
            .map(|at| self.places.iter().map(|own| covariances.matrix[*at][*own]).collect())
            .collect();
        let factor = cholesky(&matrix);
        // Rounding errors must not order areas that are tied: each has the value of the first of them.
        let first: Vec<usize> =
            (0..areas).map(|at| (0..at).find(|own| self.are_tied(*own, at)).unwrap_or(at)).collect();
        let mut draws = Normal { source: ChaCha20Rng::from_seed([0; 32]), kept: None };
        let mut counts = vec![vec![0.0; areas]; areas];
        let mut order: Vec<usize> = (0..areas).collect();
        for _ in 0..DRAWS {
            let normal: Vec<f64> = (0..areas).map(|_| draws.next()).collect();
            let of = |(at, row): (usize, &Vec<f64>)| {
                let error: f64 = row.iter().zip(&normal).map(|(weight, own)| weight * own).sum();
                covariances.estimates[self.places[at]] + error
            };
            let drawn: Vec<f64> = factor.iter().enumerate().map(of).collect();
            let values: Vec<f64> = first.iter().map(|first| drawn[*first]).collect();
            order.sort_by(|a, b| values[*b].total_cmp(&values[*a]).then(a.cmp(b)));
            share_ranks(&order, &values, &mut counts);
        }
        counts.iter().map(|own| own.iter().map(|count| count / DRAWS as f64).collect()).collect()
    }
}

/// Adds one draw to the counts of each area's ranks. `order` lists the areas by falling values; areas whose values are tied share their
/// ranks in equal parts, as their order is not known.
fn share_ranks(order: &[usize], values: &[f64], counts: &mut [Vec<f64>]) {
    let mut first = 0;
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let ranks = first..first + tied.len();
        for area in tied {
            counts[*area][ranks.clone()].iter_mut().for_each(|count| *count += 1.0 / tied.len() as f64);
        }
        first = ranks.end;
    }
}

/// The lower triangle whose rows times their own transposes are the matrix. Directions that constraints fix have a pivot of zero, up to rounding.
fn cholesky(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut factor: Vec<Vec<f64>> = Vec::with_capacity(matrix.len());
    for (at, row) in matrix.iter().enumerate() {
        let mut own: Vec<f64> = Vec::with_capacity(at + 1);
        for column in 0..at {
            let known: f64 = own.iter().zip(&factor[column]).map(|(a, b)| a * b).sum();
            let pivot = factor[column][column];
            own.push(if pivot == 0.0 { 0.0 } else { (row[column] - known) / pivot });
        }
        let rest = row[at] - own.iter().map(|weight| weight * weight).sum::<f64>();
        own.push(if rest > 1e-11 * row[at] { rest.sqrt() } else { 0.0 });
        factor.push(own);
    }
    factor
}

/// Standard normal numbers by Marsaglia's polar method, from a fixed stream: approximations, the same in every run.
struct Normal {
    source: ChaCha20Rng,
    kept: Option<f64>,
}

impl Normal {
    fn next(&mut self) -> f64 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        loop {
            // 53 bits, from -1 up to 1.
            let mut uniform = || (self.source.next_u64() >> 11) as f64 * 2_f64.powi(-52) - 1.0;
            let (x, y) = (uniform(), uniform());
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * libm::log(square) / square).sqrt();
                self.kept = Some(y * scale);
                return x * scale;
            }
        }
    }
}

impl Rank {
    /// As JSON, with the interval of each level of confidence.
    pub fn to_json(&self, confidence: &[Confidence]) -> Value {
        let mut object = json!({
            "area": self.area,
            "variable": self.variable,
            "estimate": self.estimate,
            "rank": self.rank,
            "tied": self.tied,
            "areas": self.areas,
        });
        for (own, (first, last)) in confidence.iter().zip(&self.intervals) {
            object[format!("rank_first_{}", own.percent())] = json!(first);
            object[format!("rank_last_{}", own.percent())] = json!(last);
        }
        object["expected_rank_normal"] = json!(self.expected_approx);
        object["rank_probabilities_normal"] = json!(self.probabilities_approx);
        object
    }

    /// As a line of text, with the interval of each level of confidence.
    pub fn line(&self, confidence: &[Confidence]) -> String {
        let mut intervals = self.intervals.iter();
        let ranges = listed(confidence, |own| match intervals.next() {
            Some((first, last)) if first < last => format!("{first} to {last} ({} %)", own.percent()),
            Some((first, _)) => format!("{first} ({} %)", own.percent()),
            None => String::new(),
        });
        let shared = self.rank - 1..self.rank + self.tied;
        let of_rank: f64 = self.probabilities_approx.get(shared).map_or(0.0, |of| of.iter().sum());
        let shown = match of_rank {
            own if own > 0.995 => "above 0.99".to_string(),
            own => format!("about {own:.2}"),
        };
        let (ties, these) = match self.tied {
            0 => (String::new(), "this rank"),
            tied => (format!(" to {}, shared by {} areas with one count,", self.rank + tied, tied + 1), "these ranks"),
        };
        format!(
            "{} ({}): rank {}{ties} of {}, {ranges}; {these} with probability {shown}, expected rank {:.2}",
            self.area, self.variable, self.rank, self.areas, self.expected_approx
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topdown::nmf::survey::Covariances;

    fn named(estimates: &[f64], matrix: Vec<Vec<f64>>) -> Named {
        let areas = (0..estimates.len()).map(|at| format!("A{at}")).collect();
        let covariances = Covariances { counts: Vec::new(), estimates: estimates.to_vec(), matrix };
        Named { covariances, areas, variables: vec!["V".to_string()] }
    }

    fn independent(variances: &[f64]) -> Vec<Vec<f64>> {
        let row = |at: usize| (0..variances.len()).map(|own| if own == at { variances[at] } else { 0.0 }).collect();
        (0..variances.len()).map(row).collect()
    }

    /// Two areas: the probability of the first rank is that of the larger one, in closed form.
    #[test]
    fn two_areas_have_the_probabilities_of_their_difference() {
        let ranks = named(&[10.0, 12.0], vec![vec![4.0, 1.0], vec![1.0, 9.0]]);
        let ranks = ranks.ranks("V", &[Confidence::usual()]).unwrap();
        // The variance of the difference is 4 + 9 - 2.
        let larger = lower_approx(-2.0 / 11_f64.sqrt());
        assert!((ranks[0].probabilities_approx[0] - larger).abs() < 0.015, "{ranks:?}");
        assert!((ranks[0].expected_approx - (2.0 - larger)).abs() < 1e-12);
        assert_eq!((ranks[0].rank, ranks[1].rank, ranks[0].intervals[0]), (2, 1, (1, 2)));
    }

    /// The mean of the drawn ranks is the expected rank, which needs no draws.
    #[test]
    fn drawn_ranks_agree_with_the_expected_rank() {
        let matrix = vec![
            vec![9.0, 4.0, -2.0, 0.0],
            vec![4.0, 9.0, 1.0, 0.0],
            vec![-2.0, 1.0, 4.0, 0.0],
            vec![0.0, 0.0, 0.0, 25.0],
        ];
        for rank in named(&[5.0, 6.0, 4.0, 3.0], matrix).ranks("V", &[Confidence::usual()]).unwrap() {
            let mean: f64 = (1..).zip(&rank.probabilities_approx).map(|(rank, p)| f64::from(rank) * p).sum();
            assert!((mean - rank.expected_approx).abs() < 0.03, "{rank:?}");
            assert!((rank.probabilities_approx.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }

    /// Counts that are far apart, and one that constraints fix: the sum of two areas is exact, so their errors cancel.
    #[test]
    fn intervals_are_one_rank_where_differences_are_clear() {
        let ranks =
            named(&[300.0, 100.0, 200.0], independent(&[4.0, 4.0, 0.0])).ranks("V", &[Confidence::usual()]).unwrap();
        let found: Vec<_> = ranks.iter().map(|rank| (rank.rank, rank.intervals[0])).collect();
        assert_eq!(found, [(1, (1, 1)), (3, (3, 3)), (2, (2, 2))]);
        let fixed =
            named(&[5.0, 5.0], vec![vec![4.0, 4.0], vec![4.0, 4.0]]).ranks("V", &[Confidence::usual()]).unwrap();
        assert!(fixed.iter().all(|rank| rank.rank == 1
            && rank.tied == 1
            && rank.intervals[0] == (1, 2)
            && rank.expected_approx == 1.5));
    }

    /// Areas that are tied for certain share their ranks in equal parts, in whatever order they are listed.
    #[test]
    fn tied_areas_share_the_probabilities_of_their_ranks() {
        for estimates in [[9.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0]] {
            let ranks = named(&estimates, independent(&[0.0; 3])).ranks("V", &[Confidence::usual()]).unwrap();
            for rank in ranks {
                let expected = if rank.estimate > 0.0 { [1.0, 0.0, 0.0] } else { [0.0, 0.5, 0.5] };
                assert_eq!(rank.probabilities_approx, expected, "{rank:?}");
            }
        }
        // Two areas of the same counts, beside one that is as likely to be larger as smaller.
        let matrix = vec![vec![4.0, 4.0, 0.0], vec![4.0, 4.0, 0.0], vec![0.0, 0.0, 4.0]];
        let ranks = named(&[5.0, 5.0, 5.0], matrix).ranks("V", &[Confidence::usual()]).unwrap();
        assert_eq!(ranks[0].probabilities_approx, ranks[1].probabilities_approx);
        assert!((ranks[0].probabilities_approx[1] - 0.5).abs() < 1e-9, "{ranks:?}");
    }

    /// Each level of confidence has its own interval; a difference of 2 has a standard deviation of 1.
    #[test]
    fn every_level_of_confidence_has_its_interval() {
        let named = named(&[12.0, 10.0], independent(&[0.5, 0.5]));
        let levels: Vec<Confidence> = ["90", "99"].iter().map(|text| text.parse().unwrap()).collect();
        let ranks = named.ranks("V", &levels).unwrap();
        assert_eq!(ranks[1].intervals, [(2, 2), (1, 2)]);
        assert!(ranks[1].line(&levels).contains("rank 2 of 2, 2 (90 %), 1 to 2 (99 %);"), "{}", ranks[1].line(&levels));
        let object = ranks[1].to_json(&levels);
        assert_eq!((&object["rank_first_90"], &object["rank_first_99"]), (&json!(2), &json!(1)));
    }

    /// Over many drawn errors, the true rank lies outside of the interval no more often than stated.
    #[test]
    fn intervals_contain_the_true_ranks_as_often_as_stated() {
        let (truth, variances) = ([50.0, 52.0, 53.0, 58.0, 70.0], [4.0_f64, 9.0, 1.0, 16.0, 25.0]);
        let mut draws = Normal { source: ChaCha20Rng::from_seed([1; 32]), kept: None };
        let (mut outside, mut all, mut width) = (0_u32, 0_u32, 0);
        for _ in 0..400 {
            let estimates: Vec<f64> =
                truth.iter().zip(variances).map(|(own, variance)| own + variance.sqrt() * draws.next()).collect();
            let named = named(&estimates, independent(&variances));
            let places: Vec<usize> = (0..5).collect();
            let z = upper_quantile_approx((0.05_f64 / 8.0).ln());
            for area in 0..5 {
                let (first, last) = Differences { named: &named, places: &places }.interval(area, z);
                outside += u32::from(!(first..=last).contains(&(5 - area)));
                width += last - first;
                all += 1;
            }
        }
        assert!(f64::from(outside) < 0.05 * f64::from(all), "{outside} of {all}");
        assert!(width < 4 * all as usize, "the intervals show nothing");
    }

    #[test]
    fn a_single_area_and_an_unknown_variable_are_refused() {
        let one = named(&[1.0], vec![vec![1.0]]);
        assert!(one.ranks("V", &[Confidence::usual()]).unwrap_err().to_string().contains("one area"));
        assert!(one.ranks("W", &[Confidence::usual()]).unwrap_err().to_string().contains("the request has"));
    }
}
