(** discrete Laplace 0.1x5@1 + pure DP 0.3x5@1 + approximate DP 0.5:1e-7x10@1

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Response Certificate Private Infinite.
Import ListNotations.

(* Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach.
   ResponseGroup: num den copies, then step norm. BoxGroup: num den, probability of an infinite loss, copies, then step norm. *)
Definition above : certificate := Certificate
  [LaplaceGroup 1 10 1 5 1 (-766603) 211;
   ResponseGroup 3 10 5 3 (-1763755);
   BoxGroup 1 2 1 10000000 10 5 (-2186925)]%Z
  (30) (10) (* epsilon *)
  (902454) (10000000) (* delta of the finite losses *)
  (1) (5) (* step of the lattice of losses *)
  (1217) (1000) (* tilt *)
  83 (-20) 128 33 (* period, first index, bits, squarings *).

Definition below : certificate := Certificate
  [LaplaceGroup 1 10 1 5 1 (-766603) 211;
   ResponseGroup 3 10 5 3 (-1763755);
   BoxGroup 1 2 1 10000000 10 5 (-2186925)]%Z
  (30) (10) (* epsilon *)
  (902453) (10000000) (* delta of the finite losses *)
  (1) (5) (* step of the lattice of losses *)
  (1217) (1000) (* tilt *)
  144 (-20) 128 33 (* period, first index, bits, squarings *).

Lemma above_holds : certified_infinite above (902464) (10000000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma below_holds : certified_below_infinite below 72 [0; -1; -1]%Z (902462) (10000000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem delta_is_between :
  0.0902462
  < delta
    (repeat (Laplace (1 / 10) 1) 5
     ++ repeat (Response (3 / 10)) 5
     ++ repeat (Box (1 / 2) (1 / 10000000)) 10)
    3.0
  <= 0.0902464.
Proof. exact (delta_is_between above below _ _ _ _ _ _ _ _ _ _ above_holds below_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
