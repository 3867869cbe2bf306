(** discrete Gaussian 5x10@1 + discrete Laplace 0.3x10@1

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Certificate Private Below.
Import ListNotations.

(* Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach. *)
Definition above : certificate := Certificate
  [Group 5 1 1 10 1 (-18) 31 19;
   LaplaceGroup 3 10 1 10 3 (-501624) 70]%Z
  (8855258) (1000000) (* epsilon *)
  (1) (1000000) (* delta *)
  (1) (5) (* step of the lattice of losses *)
  (3037) (1000) (* tilt *)
  43 (25) 125 33 (* period, first index, bits, squarings *).

Definition below : certificate := Certificate
  [Group 5 1 1 10 1 (-18) 31 19;
   LaplaceGroup 3 10 1 10 3 (-501624) 70]%Z
  (88552556) (10000000) (* epsilon *)
  (1) (1000000) (* delta *)
  (1) (5) (* step of the lattice of losses *)
  (3037) (1000) (* tilt *)
  61 (25) 125 33 (* period, first index, bits, squarings *).

Lemma above_holds : certified above = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma below_holds : certified_below below 30 [3; 0]%Z = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem epsilon_is_between :
  smallest_epsilon
    (repeat (Count (5 / 1) 1) 10
     ++ repeat (Laplace (3 / 10) 1) 10)
    1e-6 8.8552556 8.855258.
Proof. exact (epsilon_is_between above below _ _ _ _ _ _ above_holds below_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
