(** su-su-wang-2025: 2020 Census DHC persons, allocation of 2022-08-25 as Su, Su & Wang analyse it

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Certificate Private Below.
Import ListNotations.

(* Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach. *)
Definition above : certificate := Certificate
  [Group 50000 10001 1 10 274 (-17) 31 19;
   Group 50000 8687 1 10 238 (-18) 33 21;
   Group 100000 9563 1 20 131 (-23) 43 27;
   Group 50000 4307 1 10 118 (-24) 45 29;
   Group 20000 1241 1 10 85 (-28) 52 34;
   Group 5000 73 1 10 20 (-54) 104 68;
   Group 100000 219 1 10 3 (-132) 260 172]%Z
  (20324694) (1000000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (73) (100000) (* step of the lattice of losses *)
  (1191) (500) (* tilt *)
  20357 (22843) 125 33 (* period, first index, bits, squarings *).

Definition below : certificate := Certificate
  [Group 50000 10001 1 10 274 (-17) 31 19;
   Group 50000 8687 1 10 238 (-18) 33 21;
   Group 100000 9563 1 20 131 (-23) 43 27;
   Group 50000 4307 1 10 118 (-24) 45 29;
   Group 20000 1241 1 10 85 (-28) 52 34;
   Group 5000 73 1 10 20 (-54) 104 68;
   Group 100000 219 1 10 3 (-132) 260 172]%Z
  (20324685) (1000000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (73) (100000) (* step of the lattice of losses *)
  (1191) (500) (* tilt *)
  20357 (22843) 125 33 (* period, first index, bits, squarings *).

Lemma above_holds : certified above = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma below_holds : certified_below below 10178 [653; 567; 312; 281; 202; 48; 7]%Z = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem epsilon_is_between :
  smallest_epsilon
    (repeat (Count (50000 / 10001) 1) 10
     ++ repeat (Count (50000 / 8687) 1) 10
     ++ repeat (Count (100000 / 9563) 1) 20
     ++ repeat (Count (50000 / 4307) 1) 10
     ++ repeat (Count (20000 / 1241) 1) 10
     ++ repeat (Count (5000 / 73) 1) 10
     ++ repeat (Count (100000 / 219) 1) 10)
    1e-10 20.324685 20.324694.
Proof. exact (epsilon_is_between above below _ _ _ _ _ _ above_holds below_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
