(** discrete Gaussian 3.14159265x1@1 + discrete Gaussian 2.71828183x1@1

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Certificate Private Fine.
Import ListNotations.

(* CellGroup: kind num den move copies, then the step of the lattice, norm, first output, outputs, left, width, reach. *)
Definition above : certificate := Certificate
  [CellGroup Split 74209093959 10000000000 1 1 1 256 (40) (-26) 37 (-915) 1244 18;
   CellGroup Split 17153095869 2000000000 1 1 1 256 (34) (-28) 41 (-851) 1196 20]%Z
  (20) (10) (* epsilon *)
  (1) (100000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (2037) (256) (* tilt *)
  1094 (512) 64 22 (* period, first index, bits, squarings *).

(* The test of the lower end: at least this probability under P, at most that one under Q. *)
Definition one : certificate := Certificate
  [CellGroup Near 4621079111 625000000 1 1 1 256 (637534) (-26) 37 (-918) 1248 18;
   CellGroup Near 1068141501 125000000 1 1 1 256 (554171) (-28) 41 (-854) 1200 20]%Z
  (326720) (10) (* epsilon *)
  (100732633) (1000000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (4059) (8388608) (* tilt *)
  1286 (511) 64 22 (* period, first index, bits, squarings *).

Definition other : certificate := Certificate
  [CellGroup Far 4621079111 625000000 1 1 1 256 (502587) (-26) 37 (-918) 1248 18;
   CellGroup Far 1068141501 125000000 1 1 1 256 (437123) (-28) 41 (-854) 1200 20]%Z
  (326720) (10) (* epsilon *)
  (122466415) (10000000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (4571) (8388608) (* tilt *)
  1098 (511) 64 22 (* period, first index, bits, squarings *).

Lemma above_holds : certified above = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma test_holds :
  test_proves one other 643 [274; 237]%Z (20) (10) (1) (100000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem noise_is_enough :
  private
    (repeat (Count (74209093959 / 10000000000) 1) 1
     ++ repeat (Count (17153095869 / 2000000000) 1) 1)
    2.0 1e-5
  /\ ~ private
    (repeat (Count (4621079111 / 625000000) 1) 1
     ++ repeat (Count (1068141501 / 125000000) 1) 1)
    2.0 1e-5.
Proof. exact (noise_is_enough above one other _ _ _ _ _ _ _ _ _ _ above_holds test_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
