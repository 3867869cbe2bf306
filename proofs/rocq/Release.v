(** su-su-wang-2025: 2020 Census DHC persons, allocation of 2022-08-25 as Su, Su & Wang analyse it

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Certificate Soundness.
Import ListNotations.

Definition claim : certificate := Certificate
  (* num den move copies, then step left width reach *)
  [Group 50000 10001 1 10 274 (-17) 31 19;
   Group 50000 8687 1 10 238 (-18) 33 21;
   Group 100000 9563 1 20 131 (-23) 43 27;
   Group 50000 4307 1 10 118 (-24) 45 29;
   Group 20000 1241 1 10 85 (-28) 52 34;
   Group 5000 73 1 10 20 (-54) 104 68;
   Group 100000 219 1 10 3 (-132) 260 172]%Z
  (203247) (10000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (73) (100000) (* step of the lattice of losses *)
  (1191) (500) (* tilt *)
  20357 (22843) 125 33 (* period, first index, bits, squarings *).

Lemma claim_is_certified : certified claim = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem delta_is_at_most :
  delta (repeat (Count (50000 / 10001) 1) 10
         ++ repeat (Count (50000 / 8687) 1) 10
         ++ repeat (Count (100000 / 9563) 1) 20
         ++ repeat (Count (50000 / 4307) 1) 10
         ++ repeat (Count (20000 / 1241) 1) 10
         ++ repeat (Count (5000 / 73) 1) 10
         ++ repeat (Count (100000 / 219) 1) 10)
    (203247 / 10000)
  <= 1 / 10000000000.
Proof. exact (certified_is_true claim claim_is_certified). Qed.
