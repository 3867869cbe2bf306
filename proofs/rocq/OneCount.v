(** discrete Gaussian 50000/10001x1@1

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Certificate Soundness.
Import ListNotations.

Definition claim : certificate := Certificate
  (* num den move copies, then step left width reach *)
  [Group 50000 10001 1 1 1 (-21) 31 19]%Z
  (1) (1) (* epsilon *)
  (336853) (100000000) (* delta *)
  (10001) (50000) (* step of the lattice of losses *)
  (3019) (500) (* tilt *)
  17 (5) 125 33 (* period, first index, bits, squarings *).

Lemma claim_is_certified : certified claim = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem delta_is_at_most :
  delta (repeat (Count (50000 / 10001) 1) 1)
    (1 / 1)
  <= 336853 / 100000000.
Proof. exact (certified_is_true claim claim_is_certified). Qed.
