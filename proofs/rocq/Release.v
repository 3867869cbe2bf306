(** delta(203247/10000) <= 1/10000000000 for
    10 counts with sigma2 = 5000/73
    10 counts with sigma2 = 50000/10001
    10 counts with sigma2 = 20000/1241
    20 counts with sigma2 = 100000/9563
    10 counts with sigma2 = 50000/8687
    10 counts with sigma2 = 50000/4307
    10 counts with sigma2 = 100000/219
    Written by generate.py; checked by computing with integers, see Certificate.v. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Certificate Soundness.
Import ListNotations.

Definition release_certificate : certificate := Certificate
  (* num den move copies, then step left width reach *)
  [Group 5000 73 1 10 20 (-53) 102 67;
   Group 50000 10001 1 10 274 (-16) 29 18;
   Group 20000 1241 1 10 85 (-27) 50 33;
   Group 100000 9563 1 20 131 (-22) 41 26;
   Group 50000 8687 1 10 238 (-17) 31 20;
   Group 50000 4307 1 10 118 (-23) 43 28;
   Group 100000 219 1 10 3 (-131) 258 171]%Z
  (203247) (10000)  (* epsilon *)
  (1) (10000000000)  (* delta *)
  (73) (100000)  (* step of the lattice of losses *)
  (1191) (500)  (* tilt *)
  20357 (22843) 80 28.

Lemma release_is_certified : certified release_certificate = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem release_delta :
  delta (repeat (Count (5000 / 73) 1) 10
         ++ repeat (Count (50000 / 10001) 1) 10
         ++ repeat (Count (20000 / 1241) 1) 10
         ++ repeat (Count (100000 / 9563) 1) 20
         ++ repeat (Count (50000 / 8687) 1) 10
         ++ repeat (Count (50000 / 4307) 1) 10
         ++ repeat (Count (100000 / 219) 1) 10)
        (203247 / 10000)
  <= 1 / 10000000000.
Proof. exact (certified_is_true release_certificate release_is_certified). Qed.
