(** delta(1) <= 336853/100000000 for
    1 counts with sigma2 = 50000/10001
    Written by generate.py; checked by computing with integers, see Certificate.v. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Certificate Soundness.
Import ListNotations.

Definition one_count_certificate : certificate := Certificate
  (* num den move copies, then step left width reach *)
  [Group 50000 10001 1 1 1 (-19) 27 18]%Z
  (1) (1)  (* epsilon *)
  (336853) (100000000)  (* delta *)
  (10001) (50000)  (* step of the lattice of losses *)
  (3019) (500)  (* tilt *)
  17 (5) 80 28.

Lemma one_count_is_certified : certified one_count_certificate = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem one_count_delta :
  delta (repeat (Count (50000 / 10001) 1) 1)
        (1 / 1)
  <= 336853 / 100000000.
Proof. exact (certified_is_true one_count_certificate one_count_is_certified). Qed.
