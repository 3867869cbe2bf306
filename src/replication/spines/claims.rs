//! Claims about geographic spines.

use rug::Rational;

use super::{
    algorithm_2,
    bypassing::{
        every_query_gains, laplace_variance, most_children_at_equal_shares, one_pass, pure_bypasses_more, remark_1,
        remark_1_decides, sign_of_d, theorem_2, zcdp,
    },
    figure_2,
    neighbors::{lemma_2, privacy},
    proofs, remarks,
    trees::{binary_tree, equal_shares, fewest_fanout, fewest_fanout_is_the_root, osed_is_the_fewest, osed_of_units},
};
use crate::{
    error::Result,
    release::Release,
    replication::{claims::claims, verdict::Computed},
    spine::{
        bypass::{Privacy, Spine},
        optimize::SpineSettings,
    },
};

claims! {
    /// The claims. A statement about all trees is checked for all numbers of children and all whole shares up to those given.
    // Whether a bypass that Theorem 2 allows increases no variance.
    "theorem-2" (children, shares) => theorem_2(*children, *shares)?;
    // The maximum number of children of a unit for which a bypass increases no variance, if it has the same share as its children.
    "most-children-at-equal-shares" () => most_children_at_equal_shares()?;
    // Whether with Gaussian noise a bypass increases the unit's own variance if it has two children or more, and changes no variance if it has one.
    "zcdp-bypass" (children, shares) => zcdp(*children, *shares)?;
    // The variance of one count of a unit, with scale 2 / (epsilon gamma).
    "laplace-variance" (epsilon, gamma) => laplace_variance(epsilon, gamma);
    // Whether a formula of Remark 1 is the variance of the parent's total, in units of 4 / epsilon^2; whether the two variances are ordered as
    // Theorem 2 predicts.
    "remark-1" (formula) => remark_1(*formula)?;
    "remark-1-decides" () => remark_1_decides();
    // The smallest possible maximum fan-out of a tract of n blocks and its block groups: whether it is the square root of n, rounded up, for all n up
    // to `most`; itself; and the number of units, the tract and that many block groups.
    "fewest-fanout" (most) => fewest_fanout_is_the_root(*most);
    "fewest-fanout-of" (blocks) => fewest_fanout(*blocks);
    "units-of-fewest-fanout" (blocks) => fewest_fanout(*blocks) + 1;
    // The difference between the largest block group of the production runs and the cutoff, in a tract of n blocks.
    "largest-block-group" (settings: String, blocks) => {
        let settings = SpineSettings::production(settings)?;
        (settings.most(*blocks) + 1) as u64 - u64::from(settings.fanout_cutoff)
    };
    // Whether (4.1) to (4.4) give the minimum number of units that form an entity, by trying all coefficients; whether an entity that is a unit of the
    // spine has distance 1.
    "osed-is-the-fewest" () => osed_is_the_fewest()?;
    "osed-of-units" () => osed_of_units()?;
    // Whether the privacy loss of every pair of neighbors is within the budget, by changing every record to every other one: with bypassed units
    // (Theorem 3) or without (Theorem 1), by pure differential privacy or by zCDP.
    "privacy" (bypassed, pure) => privacy(*bypassed, *pure)?;
    // Whether a count changed by `shift` with noise N_Z(0, shift^2 / (2 rho)) has Renyi divergences of at most rho times the order, at these orders.
    "lemma-2" (rhos: Vec<_>, shifts: Vec<_>, orders: Vec<_>) => lemma_2(rhos, shifts, orders)?;
    // Whether a count changed by at most D with two-sided geometric noise of scale D / epsilon has losses of at most epsilon.
    "lemma-1" (epsilons: Vec<_>, shifts: Vec<_>) => proofs::lemma_1(epsilons, shifts);
    // Whether independent counts `EPSILON@SHIFT` have losses of at most the sum of |shift| epsilon; whether independent counts `SIGMA2@SHIFT` have
    // Renyi divergences of at most rho times the order, with rho half the sum of shift^2 / sigma^2.
    "lemma-3-pure" (counts: Vec<_>) => proofs::lemma_3_pure(counts)?;
    "lemma-3" (counts: Vec<_>, orders: Vec<_>) => proofs::lemma_3(counts, orders)?;
    // The variance of a rescaled error of Section 2.4, with Laplace noise or Gaussian; the scale of the errors times gamma alpha epsilon.
    "rescaled-variance" (pure) => proofs::rescaled_variance(*pure);
    "rescaled-scale" () => rescaled_scale();
    // Whether the sums of rows or of columns of diag(alpha) W are 1, for the queries of Figure 2.
    "sums-are-one" (rows) => proofs::sums_are_one(*rows)?;
    // Whether the shares along every path sum to 1 after bypassing.
    "path-sums" () => proofs::path_sums()?;
    // Whether the matrix in the proof of Theorem 2 has no negative eigenvalue exactly if the theorem's condition holds.
    "theorem-2-matrix" (children, shares) => proofs::matrix_decides(*children, *shares);
    // Whether, with equal shares, a bypass of a unit with these numbers of children lowers the variance of every query.
    "every-query-gains" (children: Vec<_>) => every_query_gains(children)?;
    // Whether bypassing a unit with one child lowers the variance of the answers that are used.
    "observation-1" (shares) => proofs::observation_1(*shares);
    // Whether the levels of one release are those of another without the first.
    "levels-below" (upper: String, lower: String) => proofs::levels_below(upper, lower)?;
    // Whether each cell of the histogram contributes to exactly one count of every query group of a release.
    "one-count-per-cell" (release: String) => one_count_per_cell(&Release::find(release)?)?;
    // Whether only the units u < U of a level carry a share.
    "units-below-the-last" () => units_below_the_last()?;
    // Whether S z in (3.3) is defined for the strategy of Figure 2: S is rows x columns, and the length of z is the number of rows of S.
    "estimator-as-printed" () => figure_2::size().map(|(rows, columns)| columns == rows)?;
    // Whether the block of A' diag(gamma_0^2 - gamma_1^2) A is D as printed; whether T D T' is defined: T has a row for each block and a column for
    // each child, D a row and a column for each block.
    "sign-of-d" () => sign_of_d();
    "reduction-of-d" (blocks: u64, children: u64) => children == blocks;
    // Whether Algorithm 2 ends with distances that are no larger for every entity of a county of this many tracts, and smaller for some; a group has
    // at most `fanout_cutoff` more than the square root of that number, and the tested spine is assigned if it is no worse or never.
    "algorithm-2" (tracts, fanout_cutoff, assigns) => algorithm_2::redefines(*tracts, *fanout_cutoff, *assigns);
    // Whether no unit below the root remains to be bypassed after one pass from below.
    "one-pass" () => one_pass()?;
    // Whether Theorem 2's rule bypasses all units with one child, and possibly more.
    "pure-bypasses-more" () => pure_bypasses_more()?;
    // The number of levels of a release.
    "levels" (release: String) => Release::find(release)?.levels.len() as u64;
    // The number of strong-MCD states in the production settings.
    "strong-mcd-states" () => SpineSettings::production("redistricting-persons")?.strong_mcd_states().len() as u64;
    // The number of kinds of entities that bound a block group; areas are divisions and places.
    "entity-kinds" (settings: String) => {
        let settings = SpineSettings::production(settings)?;
        settings.entities().iter().map(|kind| if kind == "area" { 2 } else { 1 }).sum::<u64>()
    };
    // Whether all these releases have the same budget, and levels with the same names.
    "same-budget" (releases: Vec<_>) => all_same(releases, |release| release.rho)?;
    "same-levels" (releases: Vec<_>) =>
        all_same(releases, |release| release.levels.into_iter().map(|level| level.name).collect::<Vec<_>>())?;
    // The number of nonempty sets of races.
    "race-combinations" (races: u32) => (1_u64 << *races) - 1;
    // A sum of exact numbers.
    "sum" (terms: Vec<Rational>) => terms.iter().fold(Rational::new(), |sum, term| sum + term);
    // Whether discrete noise has less variance than continuous noise with the same parameter: a variance proxy or, if `pure`, a scale of Laplace noise.
    "discrete-varies-less" (parameters: Vec<_>, pure) => remarks::discrete_varies_less(parameters, *pure)?;
    // Whether with two-sided geometric noise a bypass lowers the variance although Theorem 2's rule refuses it; each child has the share of the unit,
    // the inverse of the noise scale.
    "discrete-noise-alters-the-rule" (children, share) => remarks::discrete_noise_alters_the_rule(*children, share);
    // Whether bounded neighbors are less distinguishable with noise that is rho-zCDP for bounded neighbors than with noise that is rho-zCDP for
    // unbounded ones.
    "bounded-is-stronger" (rhos: Vec<_>) => remarks::bounded_is_stronger(rhos)?;
    // Whether a changed record changes at most two answers of a query group of a geolevel, each by 1.
    "changes-are-ones" () => remarks::changes_are_ones()?;
    // Whether a marginal of the first and last of three attributes, with these numbers of values, is I (x) 1' (x) I.
    "marginal-is-a-kronecker-product" (sizes) => remarks::marginal_is_a_kronecker_product(*sizes)?;
    // Whether the traces of W V W' and W' W V are equal.
    "traces-agree" () => remarks::traces_agree()?;
    // Whether both ways to bypass a unit have the same A' diag(gamma^2) A.
    "bypasses-have-one-gram" (children, shares) =>
        (1..=*children).all(|children| remarks::bypasses_have_one_gram(children, *shares));
    "needs-data" (needed: String) => Computed::NeedsData(needed.clone());
}

/// Whether each cell of the histogram contributes to exactly one count of every query group of a release.
fn one_count_per_cell(release: &Release) -> Result<bool> {
    let schema = release.schema.clone().unwrap_or_default();
    let mut all = true;
    for query in release.levels.iter().flat_map(|level| &level.queries) {
        let group = schema.group(&query.name)?;
        all &= group.cell_of.len() == schema.cells();
        all &= group.cell_of.iter().all(|count| (*count as usize) < group.counts());
    }
    Ok(all)
}

/// Whether only the units u < U of a level carry a share.
fn units_below_the_last() -> Result<bool> {
    let spine = Spine::new(binary_tree()?, equal_shares(), Privacy::Concentrated)?;
    let carries = |level: usize, unit: &usize| spine.carried(level, *unit) > 0;
    Ok((0..spine.tree.levels()).all(|level| {
        let units = spine.tree.units(level);
        (0..units).filter(|unit| carries(level, unit)).eq((0..units - 1).filter(|unit| carries(level, unit)))
    }))
}

/// The scale 2 / (epsilon gamma alpha) of the errors times epsilon gamma alpha, for some values of these.
fn rescaled_scale() -> Rational {
    let (epsilon, gamma, alpha) = (Rational::from((3, 2)), Rational::from((1, 5)), Rational::from((2, 7)));
    let product = epsilon * gamma * alpha;
    let scale = 2_u32 / product.clone();
    scale * product
}

/// Whether a property has the same value for all these releases.
fn all_same<T: PartialEq>(releases: &[String], of: impl Fn(Release) -> T) -> Result<bool> {
    let all = releases.iter().map(|name| Ok(of(Release::find(name)?))).collect::<Result<Vec<T>>>()?;
    Ok(all.windows(2).all(|pair| pair[0] == pair[1]))
}
