(** * What the theorems rest on

    Compiling this file prints the axioms of every theorem that is quoted elsewhere; the script [check] compares them with the
    file allowed-assumptions. *)

From DpAssay Require Import Gaussian HockeyStick Laplace Directions Private Tradeoff Fourier Cells Theta Contour Laws AnyLaw Soundness Below Point Fine.
From DpAssay Require Import Signed Outcomes Aliases Jacobi Factor Ends Variance Poisson Images Imaginary LastNode Normal Tail Units.
From DpAssay Require Import OneCount State Release LaplaceCounts Calibration TradeoffPoint TwoCounts UnitsPath Headlines.

Print Assumptions P_sums_to_one.
Print Assumptions gaussian_is_law.
Print Assumptions laplace_is_law.
Print Assumptions gap_summable.
Print Assumptions delta_is_enough.
Print Assumptions delta_is_needed.
Print Assumptions delta_is_symmetric.
Print Assumptions smallest_epsilon_is_between.
Print Assumptions transform_converges.
Print Assumptions trapezoid_is_an_upper_bound.
Print Assumptions trapezoid_is_the_sum_of_aliases.
Print Assumptions theta_at_most.
Print Assumptions Count_moment.
Print Assumptions Count_moment_at_most.
Print Assumptions transform_at_most.
Print Assumptions kernel_at_most.
Print Assumptions nodes_not_evaluated.
Print Assumptions pair_at_most.
Print Assumptions sum_of_pairs_at_most.
Print Assumptions aliases_at_most.
Print Assumptions factor_is_small.
Print Assumptions spread_limit.
Print Assumptions transform_is_small.
Print Assumptions upper_end.
Print Assumptions rule_without_aliases.
Print Assumptions lower_end.
Print Assumptions by_images.
Print Assumptions factor_by_images.
Print Assumptions factor_im_by_images.
Print Assumptions variance_at_least.
Print Assumptions kernel_beyond.
Print Assumptions factors_beyond.
Print Assumptions profile_by_order.
Print Assumptions best_order.
Print Assumptions kept_outcomes.
Print Assumptions logarithm_between.
Print Assumptions posterior_by_loss.
Print Assumptions order_function_is_concave.
Print Assumptions continuous_profile.
Print Assumptions tail_at_0.
Print Assumptions normal_tail_by_series.
Print Assumptions profile_grows_with_the_shift.
Print Assumptions delta_is_profile.
Print Assumptions approximate_losses.
Print Assumptions errors_add_up.
Print Assumptions one_ratio.
Print Assumptions mass_with_own_outcomes.
Print Assumptions mass_without_own_outcomes.
Print Assumptions profile_of_both_directions.
Print Assumptions larger_of_both_directions.
Print Assumptions infinite_losses.
Print Assumptions infinite_losses_compose.
Print Assumptions table_up_sound.
Print Assumptions table_down_sound.
Print Assumptions certified_is_true.
Print Assumptions certified_below_is_true.
Print Assumptions Below.epsilon_is_between.
Print Assumptions Below.delta_is_between.
Print Assumptions Below.noise_is_enough.
Print Assumptions delta_of_merged.
Print Assumptions split_merges.
Print Assumptions test_bounds_delta.
Print Assumptions test_proves_is_true.
Print Assumptions Fine.epsilon_is_between.
Print Assumptions power_at_most.
Print Assumptions some_test.
Print Assumptions tradeoff_point.
Print Assumptions OneCount.delta_is_between.
Print Assumptions State.epsilon_is_between.
Print Assumptions Release.epsilon_is_between.
Print Assumptions LaplaceCounts.epsilon_is_between.
Print Assumptions Calibration.noise_is_enough.
Print Assumptions TradeoffPoint.tradeoff_point_is_between.
Print Assumptions TwoCounts.epsilon_is_between.
Print Assumptions UnitsPath.epsilon_is_between.
Print Assumptions state_epsilon.
Print Assumptions release_epsilon.
Print Assumptions release_is_private.
Print Assumptions release_at_20_33.
