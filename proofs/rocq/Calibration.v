(** su-su-wang-2025: State

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Certificate Private Below.
Import ListNotations.

(* Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach. *)
Definition above : certificate := Certificate
  [Group 51 10 1 10 1 (-20) 31 20]%Z
  (100) (10) (* epsilon *)
  (1) (100000000000) (* delta *)
  (10) (51) (* step of the lattice of losses *)
  (2397) (500) (* tilt *)
  40 (46) 125 33 (* period, first index, bits, squarings *).

Definition below : certificate := Certificate
  [Group 509 100 1 10 1 (-20) 31 20]%Z
  (100) (10) (* epsilon *)
  (1) (100000000000) (* delta *)
  (100) (509) (* step of the lattice of losses *)
  (598) (125) (* tilt *)
  40 (46) 125 33 (* period, first index, bits, squarings *).

Lemma above_holds : certified above = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma below_holds : certified_below below 20 [5]%Z = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem noise_is_enough :
  private
    (repeat (Count (51 / 10) 1) 10)
    10.0 1e-11
  /\ ~ private
    (repeat (Count (509 / 100) 1) 10)
    10.0 1e-11.
Proof. exact (noise_is_enough above below _ _ _ _ _ _ above_holds below_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
