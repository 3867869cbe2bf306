(** su-su-wang-2025: State

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Certificate Tradeoff Point.
Import ListNotations.

(* Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach. *)
Definition x_above : certificate := Certificate
  [Group 50000 10001 1 10 1 (-16) 31 19]%Z
  (140004) (100000) (* epsilon *)
  (2059205896) (10000000000) (* delta *)
  (10001) (50000) (* step of the lattice of losses *)
  (969) (1000) (* tilt *)
  104 (2) 125 33 (* period, first index, bits, squarings *).

Definition x_below : certificate := Certificate
  [Group 50000 10001 1 10 1 (-16) 31 19]%Z
  (140004) (100000) (* epsilon *)
  (2059204821) (10000000000) (* delta *)
  (10001) (50000) (* step of the lattice of losses *)
  (969) (1000) (* tilt *)
  166 (2) 125 33 (* period, first index, bits, squarings *).

Definition y_above : certificate := Certificate
  [Group 50000 10001 1 10 1 (-16) 31 19]%Z
  (140014) (100000) (* epsilon *)
  (2058995917) (10000000000) (* delta *)
  (10001) (50000) (* step of the lattice of losses *)
  (97) (100) (* tilt *)
  104 (2) 125 33 (* period, first index, bits, squarings *).

Definition y_below : certificate := Certificate
  [Group 50000 10001 1 10 1 (-16) 31 19]%Z
  (140014) (100000) (* epsilon *)
  (205899484) (1000000000) (* delta *)
  (10001) (50000) (* step of the lattice of losses *)
  (97) (100) (* tilt *)
  165 (2) 125 33 (* period, first index, bits, squarings *).

Definition z_above : certificate := Certificate
  [Group 50000 10001 1 10 1 (-16) 31 19]%Z
  (140024) (100000) (* epsilon *)
  (2058840057) (10000000000) (* delta *)
  (10001) (50000) (* step of the lattice of losses *)
  (97) (100) (* tilt *)
  104 (3) 125 33 (* period, first index, bits, squarings *).

Definition z_below : certificate := Certificate
  [Group 50000 10001 1 10 1 (-16) 31 19]%Z
  (140024) (100000) (* epsilon *)
  (2058839018) (10000000000) (* delta *)
  (10001) (50000) (* step of the lattice of losses *)
  (97) (100) (* tilt *)
  165 (3) 125 33 (* period, first index, bits, squarings *).

Definition x : ends_at := Ends x_above x_below 83 [1]%Z.
Definition y : ends_at := Ends y_above y_below 82 [1]%Z.
Definition z : ends_at := Ends z_above z_below 82 [1]%Z.

Lemma point_holds : point_certified (quotient (5) (100)) (quotient (591311) (1000000)) (quotient (591318) (1000000)) x y z = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem tradeoff_point_is_between :
  tradeoff_is_between
    (repeat (Count (50000 / 10001) 1) 10)
    0.05 0.591311 0.591318.
Proof. exact (tradeoff_point _ _ _ x y z _ _ _ _ point_holds eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
