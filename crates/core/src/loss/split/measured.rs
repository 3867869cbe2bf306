//! The seconds of a loss of a long list of which few matter: for `scripts/measure/measure-costs`.

use std::hint::black_box;

use super::{tests::split, *};
use crate::{
    loss::{testing::sum, timed::least_per_step},
    numeric::rational::parse,
};

/// A loss of a list that is made for this number of digits.
pub(in crate::loss) fn per_listed(digits: u32) -> Vec<f64> {
    /// Shorter lists take most of their time otherwise.
    const LEAST: usize = 3_000;
    let of_request = |(groups, epsilon): (&[&str], &str)| {
        let (split, epsilon) = (split(&sum(groups)), parse(epsilon).expect("a number of this file"));
        let plan = split.outline.hockey_plan(&split.sum, &epsilon);
        let (c, complement) = (tilt::exact(plan.tilt()), matches!(plan, Plan::Complement(_)));
        let list = || List::new(&split.coarse, c.clone(), first_cut(digits), bits_of_list(digits + 1));
        list().ok().filter(|list| list.sums.len() >= LEAST)?;
        Some(least_per_step(|| {
            let Ok(list) = list() else { return f64::NAN };
            black_box(that_matter(&list, split.rho_approx, &epsilon, (digits + 1, 0), complement));
            list.sums.len() as f64
        }))
    };
    [
        (&["20", "141/20", "101/50", "1000000000"][..], "3.1"),
        (&["50", "331/7", "3000000000x2"], "0.4"),
        (&["50", "331/7", "3000000000x2"], "1.3"),
        (&["discrete-laplace:1/3x4@9", "141/20@2", "101/50x2", "1000000000"], "7"),
    ]
    .into_iter()
    .filter_map(of_request)
    .collect()
}
