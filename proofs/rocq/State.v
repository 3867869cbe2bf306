(** su-su-wang-2025: State

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Certificate Private Below.
Import ListNotations.

(* Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach. *)
Definition above : certificate := Certificate
  [Group 50000 10001 1 10 1 (-20) 31 19]%Z
  (101254175) (10000000) (* epsilon *)
  (1) (100000000000) (* delta *)
  (10001) (50000) (* step of the lattice of losses *)
  (2377) (500) (* tilt *)
  39 (46) 125 33 (* period, first index, bits, squarings *).

Definition below : certificate := Certificate
  [Group 50000 10001 1 10 1 (-20) 31 19]%Z
  (10125415) (1000000) (* epsilon *)
  (1) (100000000000) (* delta *)
  (10001) (50000) (* step of the lattice of losses *)
  (2377) (500) (* tilt *)
  39 (46) 125 33 (* period, first index, bits, squarings *).

Lemma above_holds : certified above = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma below_holds : certified_below below 19 [5]%Z = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem epsilon_is_between :
  smallest_epsilon
    (repeat (Count (50000 / 10001) 1) 10)
    1e-11 10.125415 10.1254175.
Proof. exact (epsilon_is_between above below _ _ _ _ _ _ above_holds below_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
