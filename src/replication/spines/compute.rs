//! Statements about geographic spines, recomputed.

use rug::Rational;

use super::{
    algorithm_2,
    bypassing::{
        every_query_gains, laplace_variance, most_children_at_equal_shares, one_pass, pure_bypasses_more, remark_1,
        remark_1_decides, sign_of_d, theorem_2, zcdp,
    },
    claims::SpineClaim,
    figure_2,
    neighbors::{lemma_2, privacy},
    proofs, remarks,
    trees::{binary_tree, equal_shares, fewest_fanout, fewest_fanout_is_the_root, osed_is_the_fewest, osed_of_units},
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, rational::parse},
    release::Release,
    replication::verdict::Computed,
    spine::{
        bypass::{Privacy, Spine},
        optimize::SpineSettings,
    },
};

/// Recomputes a statement.
pub(in crate::replication) fn compute(claim: &SpineClaim) -> Result<Computed> {
    let exact = |value: &Rational| Ok(Computed::Value(Enclosure::rational(value, 100)));
    let whole = |value: u64| exact(&Rational::from(value));
    let holds = |holds: bool| Ok(Computed::holds(holds));
    match claim {
        SpineClaim::Theorem2 { children, shares } => holds(theorem_2(*children, *shares)?),
        SpineClaim::MostChildrenAtEqualShares {} => whole(most_children_at_equal_shares()?),
        SpineClaim::ZcdpBypass { children, shares } => holds(zcdp(*children, *shares)?),
        SpineClaim::LaplaceVariance { epsilon, gamma } => exact(&laplace_variance(&parse(epsilon)?, &parse(gamma)?)),
        SpineClaim::Remark1 { formula } => holds(remark_1(*formula)?),
        SpineClaim::Remark1Decides {} => holds(remark_1_decides()),
        SpineClaim::FewestFanout { most } => holds(fewest_fanout_is_the_root(*most)),
        SpineClaim::FewestFanoutOf { blocks } => whole(fewest_fanout(*blocks)),
        SpineClaim::LargestBlockGroup { settings, blocks } => {
            let settings = SpineSettings::production(settings)?;
            whole((settings.most(*blocks) + 1) as u64 - u64::from(settings.fanout_cutoff))
        }
        SpineClaim::OsedIsTheFewest {} => holds(osed_is_the_fewest()?),
        SpineClaim::OsedOfUnits {} => holds(osed_of_units()?),
        SpineClaim::Privacy { bypassed, pure } => holds(privacy(*bypassed, *pure)?),
        SpineClaim::Lemma2 { rhos, shifts, orders } => lemma_2(rhos, shifts, orders),
        SpineClaim::Lemma1 { epsilons, shifts } => holds(proofs::lemma_1(epsilons, shifts)?),
        SpineClaim::Lemma3Pure { counts } => holds(proofs::lemma_3_pure(counts)?),
        SpineClaim::Lemma3 { counts, orders } => proofs::lemma_3(counts, orders),
        SpineClaim::RescaledVariance { pure } => exact(&proofs::rescaled_variance(*pure)),
        SpineClaim::SumsAreOne { rows } => holds(proofs::sums_are_one(*rows)?),
        SpineClaim::PathSums {} => holds(proofs::path_sums()?),
        SpineClaim::Theorem2Matrix { children, shares } => holds(proofs::matrix_decides(*children, *shares)),
        SpineClaim::EveryQueryGains { children } => holds(every_query_gains(children)?),
        SpineClaim::Observation1 { shares } => holds(proofs::observation_1(*shares)),
        // The tract and its block groups, whose number equals the smallest possible fan-out.
        SpineClaim::UnitsOfFewestFanout { blocks } => whole(fewest_fanout(*blocks) + 1),
        SpineClaim::LevelsBelow { upper, lower } => holds(proofs::levels_below(upper, lower)?),
        SpineClaim::OneCountPerCell { release } => holds(one_count_per_cell(&Release::find(release)?)?),
        SpineClaim::UnitsBelowTheLast {} => holds(units_below_the_last()?),
        SpineClaim::EstimatorAsPrinted {} => {
            let (rows, columns) = figure_2::size()?;
            // S is rows x columns, and the length of z is the number of rows of S.
            holds(columns == rows)
        }
        SpineClaim::RescaledScale {} => exact(&rescaled_scale()),
        SpineClaim::SignOfD {} => holds(sign_of_d()),
        // T has a row for each block and a column for each child, D a row and a column for each block.
        SpineClaim::ReductionOfD { blocks, children } => holds(children == blocks),
        SpineClaim::Algorithm2 { tracts, fanout_cutoff, assigns } => {
            holds(algorithm_2::redefines(*tracts, *fanout_cutoff, *assigns))
        }
        SpineClaim::OnePass {} => holds(one_pass()?),
        SpineClaim::PureBypassesMore {} => holds(pure_bypasses_more()?),
        SpineClaim::Levels { release } => whole(Release::find(release)?.levels.len() as u64),
        SpineClaim::StrongMcdStates {} => {
            whole(SpineSettings::production("redistricting-persons")?.strong_mcd_states().len() as u64)
        }
        SpineClaim::EntityKinds { settings } => {
            let settings = SpineSettings::production(settings)?;
            whole(settings.entities().iter().map(|kind| if kind == "area" { 2 } else { 1 }).sum())
        }
        SpineClaim::SameBudget { releases } => holds(all_same(releases, |release| release.rho)?),
        SpineClaim::SameLevels { releases } => {
            let names = |release: Release| release.levels.into_iter().map(|level| level.name).collect::<Vec<_>>();
            holds(all_same(releases, names)?)
        }
        SpineClaim::RaceCombinations { races } => whole((1 << races) - 1),
        SpineClaim::Sum { terms } => {
            exact(&terms.iter().try_fold(Rational::new(), |sum, term| Ok::<_, Error>(sum + parse(term)?))?)
        }
        SpineClaim::DiscreteVariesLess { parameters, pure } => remarks::discrete_varies_less(parameters, *pure),
        SpineClaim::DiscreteNoiseAltersTheRule { children, share } => {
            remarks::discrete_noise_alters_the_rule(*children, share)
        }
        SpineClaim::BoundedIsStronger { rhos } => remarks::bounded_is_stronger(rhos),
        SpineClaim::ChangesAreOnes {} => holds(remarks::changes_are_ones()?),
        SpineClaim::MarginalIsAKroneckerProduct { sizes } => holds(remarks::marginal_is_a_kronecker_product(*sizes)?),
        SpineClaim::TracesAgree {} => holds(remarks::traces_agree()?),
        SpineClaim::BypassesHaveOneGram { children, shares } => {
            holds((1..=*children).all(|children| remarks::bypasses_have_one_gram(children, *shares)))
        }
        SpineClaim::NeedsData { needed } => Ok(Computed::NeedsData(needed.clone())),
    }
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
