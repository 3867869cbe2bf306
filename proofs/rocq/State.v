(** delta(506271/50000) <= 1/100000000000 for
    10 counts with sigma2 = 50000/10001
    Written by generate.py; checked by computing with integers, see Certificate.v. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Certificate Soundness.
Import ListNotations.

Definition state_certificate : certificate := Certificate
  (* num den move copies, then step left width reach *)
  [Group 50000 10001 1 10 1 (-18) 27 18]%Z
  (506271) (50000)  (* epsilon *)
  (1) (100000000000)  (* delta *)
  (10001) (50000)  (* step of the lattice of losses *)
  (2377) (500)  (* tilt *)
  36 (46) 80 28.

Lemma state_is_certified : certified state_certificate = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem state_delta :
  delta (repeat (Count (50000 / 10001) 1) 10)
        (506271 / 50000)
  <= 1 / 100000000000.
Proof. exact (certified_is_true state_certificate state_is_certified). Qed.
