(** discrete Gaussian 20x10@1 + approximate DP 0.5:1e-7x10@1

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Response Certificate Private Infinite.
Import ListNotations.

(* Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach.
   ResponseGroup: num den copies, then step norm. BoxGroup: num den, probability of an infinite loss, copies, then step norm. *)
Definition above : certificate := Certificate
  [Group 20 1 1 10 1 (-33) 58 37;
   BoxGroup 1 2 1 10000000 10 20 (-952798)]%Z
  (7052677) (1000000) (* epsilon *)
  (900000945) (100000000000000) (* delta of the finite losses *)
  (1) (20) (* step of the lattice of losses *)
  (4537) (1000) (* tilt *)
  89 (37) 128 33 (* period, first index, bits, squarings *).

Definition below : certificate := Certificate
  [Group 20 1 1 10 1 (-33) 58 37;
   BoxGroup 1 2 1 10000000 10 20 (-952798)]%Z
  (70526692) (10000000) (* epsilon *)
  (900000945001) (100000000000000000) (* delta of the finite losses *)
  (1) (20) (* step of the lattice of losses *)
  (4537) (1000) (* tilt *)
  146 (37) 128 33 (* period, first index, bits, squarings *).

Lemma above_holds : certified_infinite above (1) (100000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma below_holds : certified_below_infinite below 73 [5; 0]%Z (1) (100000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem epsilon_is_between :
  smallest_epsilon
    (repeat (Count (20 / 1) 1) 10
     ++ repeat (Box (1 / 2) (1 / 10000000)) 10)
    1e-5 7.0526692 7.052677.
Proof. exact (epsilon_is_between above below _ _ _ _ _ _ _ _ above_holds below_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
