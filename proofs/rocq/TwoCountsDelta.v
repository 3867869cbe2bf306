(** discrete Gaussian 3.14159265x1@1 + discrete Gaussian 2.71828183x1@1

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Certificate Private Fine.
Import ListNotations.

(* CellGroup: kind num den move copies, then the step of the lattice, norm, first output, outputs, left, width, reach. *)
Definition above : certificate := Certificate
  [CellGroup Split 271828183 100000000 1 1 1 64 (33) (-15) 25 (-365) 567 12;
   CellGroup Split 62831853 20000000 1 1 1 64 (28) (-15) 26 (-316) 511 12]%Z
  (20) (10) (* epsilon *)
  (544148) (100000000) (* delta *)
  (1) (64) (* step of the lattice of losses *)
  (2985) (1024) (* tilt *)
  747 (128) 64 22 (* period, first index, bits, squarings *).

(* The test of the lower end: at least this probability under P, at most that one under Q. *)
Definition one : certificate := Certificate
  [CellGroup Near 271828183 100000000 1 1 1 64 (128301) (-15) 25 (-365) 566 12;
   CellGroup Near 62831853 20000000 1 1 1 64 (111151) (-15) 26 (-316) 511 12]%Z
  (81600) (10) (* epsilon *)
  (258547089) (10000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (2985) (4194304) (* tilt *)
  531 (128) 64 22 (* period, first index, bits, squarings *).

Definition other : certificate := Certificate
  [CellGroup Far 271828183 100000000 1 1 1 64 (70912) (-15) 25 (-365) 566 12;
   CellGroup Far 62831853 20000000 1 1 1 64 (61460) (-15) 26 (-316) 511 12]%Z
  (81600) (10) (* epsilon *)
  (276263998) (100000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (4009) (4194304) (* tilt *)
  747 (128) 64 22 (* period, first index, bits, squarings *).

Lemma above_holds : certified above = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma test_holds :
  test_proves one other 265 [69; 59]%Z (20) (10) (544139) (100000000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem delta_is_between :
  0.00544139
  < delta
    (repeat (Count (271828183 / 100000000) 1) 1
     ++ repeat (Count (62831853 / 20000000) 1) 1)
    2.0
  <= 0.00544148.
Proof. exact (delta_is_between above one other _ _ _ _ _ _ _ _ _ _ above_holds test_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
