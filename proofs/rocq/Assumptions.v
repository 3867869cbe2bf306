(** * What the theorems rest on

    Compiling this file prints the axioms of every theorem that is quoted elsewhere; the script [check] compares them with the
    file allowed-assumptions. *)

From DpAssay Require Import HockeyStick Directions Fourier Soundness OneCount State Release Headlines.

Print Assumptions P_sums_to_one.
Print Assumptions gap_summable.
Print Assumptions delta_is_enough.
Print Assumptions delta_is_needed.
Print Assumptions delta_is_symmetric.
Print Assumptions transform_converges.
Print Assumptions trapezoid_is_an_upper_bound.
Print Assumptions certified_is_true.
Print Assumptions OneCount.delta_is_at_most.
Print Assumptions State.delta_is_at_most.
Print Assumptions Release.delta_is_at_most.
Print Assumptions state_is_private.
Print Assumptions release_is_private.
Print Assumptions release_delta_at_20_33.
