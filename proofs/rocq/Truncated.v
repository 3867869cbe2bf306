(** truncated discrete Laplace 0.5:40x5@1 + truncated discrete Gaussian 20:30x5@1 + randomized response 0.5:4x5@1

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Bounded Certificate Private Infinite.
Import ListNotations.

(* Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach.
   TruncatedGroup, TruncatedLaplaceGroup: num den bound move copies, then step norm left width. AnswersGroup: num den answers copies, then step norm. *)
Definition above : certificate := Certificate
  [TruncatedLaplaceGroup 1 2 40 1 5 20 (-496676) (0) 2;
   TruncatedGroup 20 1 30 1 5 1 (1048576) (-29) 60;
   AnswersGroup 1 2 4 5 10 (-1034725)]%Z
  (627719) (100000) (* epsilon *)
  (997400459844) (1000000000000000000) (* delta of the finite losses *)
  (1) (20) (* step of the lattice of losses *)
  (158) (25) (* tilt *)
  64 (24) 128 33 (* period, first index, bits, squarings *).

Definition below : certificate := Certificate
  [TruncatedLaplaceGroup 1 2 40 1 5 20 (-496676) (0) 2;
   TruncatedGroup 20 1 30 1 5 1 (1048576) (-29) 60;
   AnswersGroup 1 2 4 5 10 (-1034725)]%Z
  (62771732) (10000000) (* epsilon *)
  (997400467663) (1000000000000000000) (* delta of the finite losses *)
  (1) (20) (* step of the lattice of losses *)
  (158) (25) (* tilt *)
  112 (24) 128 33 (* period, first index, bits, squarings *).

Lemma above_holds : certified_infinite above (1) (1000000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma below_holds : certified_below_infinite below 56 [0; 6; -1]%Z (1) (1000000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem epsilon_is_between :
  smallest_epsilon
    (repeat (TruncatedLaplace (1 / 2) 40 1) 5
     ++ repeat (TruncatedGaussian (20 / 1) 30 1) 5
     ++ repeat (Answers (1 / 2) 4) 5)
    1e-6 6.2771732 6.27719.
Proof. exact (epsilon_is_between above below _ _ _ _ _ _ _ _ above_holds below_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
