(** randomized response 0.1:2x100@1, as given for add-remove neighbors

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Response Certificate Private Below.
Import ListNotations.

(* Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach.
   ResponseGroup: num den copies, then step norm. BoxGroup: num den, probability of an infinite loss, copies, then step norm. *)
Definition above : certificate := Certificate
  [ResponseGroup 1 10 100 1 (-143436)]%Z
  (477457) (100000) (* epsilon *)
  (1) (1000000) (* delta *)
  (1) (5) (* step of the lattice of losses *)
  (646) (125) (* tilt *)
  24 (-26) 125 33 (* period, first index, bits, squarings *).

Definition below : certificate := Certificate
  [ResponseGroup 1 10 100 1 (-143436)]%Z
  (47745668) (10000000) (* epsilon *)
  (1) (1000000) (* delta *)
  (1) (5) (* step of the lattice of losses *)
  (646) (125) (* tilt *)
  81 (-26) 125 33 (* period, first index, bits, squarings *).

Lemma above_holds : certified above = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma below_holds : certified_below below 40 [0]%Z = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem epsilon_is_between :
  smallest_epsilon
    (repeat (Response (1 / 10)) 100)
    1e-6 4.7745668 4.77457.
Proof. exact (epsilon_is_between above below _ _ _ _ _ _ above_holds below_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
