(** su-su-wang-2025: State

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Certificate Soundness.
Import ListNotations.

Definition claim : certificate := Certificate
  (* num den move copies, then step left width reach *)
  [Group 50000 10001 1 10 1 (-20) 31 19]%Z
  (5062709) (500000) (* epsilon *)
  (1) (100000000000) (* delta *)
  (10001) (50000) (* step of the lattice of losses *)
  (2377) (500) (* tilt *)
  39 (46) 125 33 (* period, first index, bits, squarings *).

Lemma claim_is_certified : certified claim = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem delta_is_at_most :
  delta (repeat (Count (50000 / 10001) 1) 10)
    (5062709 / 500000)
  <= 1 / 100000000000.
Proof. exact (certified_is_true claim claim_is_certified). Qed.
