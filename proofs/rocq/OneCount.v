(** discrete Gaussian 50000/10001x1@1

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Certificate Private Below.
Import ListNotations.

(* Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach. *)
Definition above : certificate := Certificate
  [Group 50000 10001 1 1 1 (-21) 31 19]%Z
  (10) (10) (* epsilon *)
  (336853) (100000000) (* delta *)
  (10001) (50000) (* step of the lattice of losses *)
  (3019) (500) (* tilt *)
  17 (5) 125 33 (* period, first index, bits, squarings *).

Definition below : certificate := Certificate
  [Group 50000 10001 1 1 1 (-21) 31 19]%Z
  (10) (10) (* epsilon *)
  (336852) (100000000) (* delta *)
  (10001) (50000) (* step of the lattice of losses *)
  (3019) (500) (* tilt *)
  27 (5) 125 33 (* period, first index, bits, squarings *).

Lemma above_holds : certified above = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma below_holds : certified_below below 13 [6]%Z = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem delta_is_between :
  0.00336852
  < delta
    (repeat (Count (50000 / 10001) 1) 1)
    1.0
  <= 0.00336853.
Proof. exact (delta_is_between above below _ _ _ _ _ _ above_holds below_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
