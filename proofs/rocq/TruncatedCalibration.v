(** truncated discrete Gaussian 20:30x5@1

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Bounded Certificate Private Infinite.
Import ListNotations.

(* Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach.
   TruncatedGroup, TruncatedLaplaceGroup: num den bound move copies, then step norm left width. AnswersGroup: num den answers copies, then step norm. *)
Definition above : certificate := Certificate
  [TruncatedGroup 12447 500 30 1 5 1 (1048547) (-29) 60]%Z
  (20) (10) (* epsilon *)
  (994360434295) (1000000000000000000) (* delta of the finite losses *)
  (500) (12447) (* step of the lattice of losses *)
  (1297) (125) (* tilt *)
  62 (48) 128 33 (* period, first index, bits, squarings *).

Definition below : certificate := Certificate
  [TruncatedGroup 6223 250 30 1 5 1 (1048547) (-29) 60]%Z
  (20) (10) (* epsilon *)
  (994368406796) (1000000000000000000) (* delta of the finite losses *)
  (250) (6223) (* step of the lattice of losses *)
  (1297) (125) (* tilt *)
  81 (48) 128 33 (* period, first index, bits, squarings *).

Lemma above_holds : certified_infinite above (1) (1000000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma below_holds : certified_below_infinite below 40 [10]%Z (1) (1000000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem noise_is_enough :
  private
    (repeat (TruncatedGaussian (12447 / 500) 30 1) 5)
    2.0 1e-6
  /\ ~ private
    (repeat (TruncatedGaussian (6223 / 250) 30 1) 5)
    2.0 1e-6.
Proof. exact (noise_is_enough above below _ _ _ _ _ _ _ _ above_holds below_holds eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
