(** approximate DP 0.5:1e-5x10@1, as given for add-remove neighbors

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Response Certificate Tradeoff Point.
Import ListNotations.

(* Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach.
   ResponseGroup: num den copies, then step norm. BoxGroup: num den, probability of an infinite loss, copies, then step norm. *)
Definition x_above : certificate := Certificate
  [BoxGroup 1 2 1 100000 10 1 (-782187)]%Z
  (9999) (10000) (* epsilon *)
  (3317141872) (10000000000) (* delta of the finite losses *)
  (1) (1) (* step of the lattice of losses *)
  (157) (200) (* tilt *)
  26 (-4) 128 33 (* period, first index, bits, squarings *).

Definition x_below : certificate := Certificate
  [BoxGroup 1 2 1 100000 10 1 (-782187)]%Z
  (9999) (10000) (* epsilon *)
  (331714084) (1000000000) (* delta of the finite losses *)
  (1) (1) (* step of the lattice of losses *)
  (157) (200) (* tilt *)
  47 (-4) 128 33 (* period, first index, bits, squarings *).

Definition y_above : certificate := Certificate
  [BoxGroup 1 2 1 100000 10 1 (-782187)]%Z
  (10) (10) (* epsilon *)
  (3316785339) (10000000000) (* delta of the finite losses *)
  (1) (1) (* step of the lattice of losses *)
  (157) (200) (* tilt *)
  26 (-4) 128 33 (* period, first index, bits, squarings *).

Definition y_below : certificate := Certificate
  [BoxGroup 1 2 1 100000 10 1 (-782187)]%Z
  (10) (10) (* epsilon *)
  (3316784372) (10000000000) (* delta of the finite losses *)
  (1) (1) (* step of the lattice of losses *)
  (157) (200) (* tilt *)
  47 (-4) 128 33 (* period, first index, bits, squarings *).

Definition z_above : certificate := Certificate
  [BoxGroup 1 2 1 100000 10 1 (-782187)]%Z
  (10001) (10000) (* epsilon *)
  (3316676886) (10000000000) (* delta of the finite losses *)
  (1) (1) (* step of the lattice of losses *)
  (157) (200) (* tilt *)
  26 (-3) 128 33 (* period, first index, bits, squarings *).

Definition z_below : certificate := Certificate
  [BoxGroup 1 2 1 100000 10 1 (-782187)]%Z
  (10001) (10000) (* epsilon *)
  (3316676034) (10000000000) (* delta of the finite losses *)
  (1) (1) (* step of the lattice of losses *)
  (157) (200) (* tilt *)
  47 (-3) 128 33 (* period, first index, bits, squarings *).

Definition x : ends_at := InfiniteEnds x_above x_below 23 [0]%Z (3317809095) (10000000000) (3317810128) (10000000000).
Definition y : ends_at := InfiniteEnds y_above y_below 23 [0]%Z (3317452663) (10000000000) (3317453631) (10000000000).
Definition z : ends_at := InfiniteEnds z_above z_below 23 [0]%Z (3317344336) (10000000000) (3317345189) (10000000000).

Lemma point_holds : point_certified (quotient (5) (100)) (quotient (53234) (100000)) (quotient (532364) (1000000)) x y z = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem tradeoff_point_is_between :
  tradeoff_is_between
    (repeat (Box (1 / 2) (1 / 100000)) 10)
    0.05 0.53234 0.532364.
Proof. exact (tradeoff_point _ _ _ x y z _ _ _ _ point_holds eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
