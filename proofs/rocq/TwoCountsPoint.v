(** discrete Gaussian 3.14159265x1@1 + discrete Gaussian 2.71828183x1@1

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Certificate Tradeoff Point.
Import ListNotations.

(* CellGroup: kind num den move copies, then the step of the lattice, norm, first output, outputs, left, width, reach. *)
Definition x_above : certificate := Certificate
  [CellGroup Split 271828183 100000000 1 1 1 64 (37) (-14) 25 (-342) 567 12;
   CellGroup Split 62831853 20000000 1 1 1 64 (32) (-14) 26 (-296) 511 12]%Z
  (101928) (100000) (* epsilon *)
  (6747749924) (100000000000) (* delta *)
  (1) (64) (* step of the lattice of losses *)
  (115) (64) (* tilt *)
  1211 (66) 70 22 (* period, first index, bits, squarings *).

(* The test of the lower end: at least this probability under P, at most that one under Q. *)
Definition x_one : certificate := Certificate
  [CellGroup Near 271828183 100000000 1 1 1 64 (149510) (-14) 25 (-341) 566 12;
   CellGroup Near 62831853 20000000 1 1 1 64 (129136) (-14) 26 (-295) 510 12]%Z
  (41280) (10) (* epsilon *)
  (224392326) (1000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (115) (262144) (* tilt *)
  531 (65) 70 22 (* period, first index, bits, squarings *).

Definition x_other : certificate := Certificate
  [CellGroup Far 271828183 100000000 1 1 1 64 (61857) (-14) 25 (-341) 566 12;
   CellGroup Far 62831853 20000000 1 1 1 64 (53375) (-14) 26 (-295) 510 12]%Z
  (41280) (10) (* epsilon *)
  (566388481) (10000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (179) (262144) (* tilt *)
  1211 (65) 70 22 (* period, first index, bits, squarings *).

Definition y_above : certificate := Certificate
  [CellGroup Split 271828183 100000000 1 1 1 64 (37) (-14) 25 (-342) 567 12;
   CellGroup Split 62831853 20000000 1 1 1 64 (32) (-14) 26 (-296) 511 12]%Z
  (102928) (100000) (* epsilon *)
  (6601709009) (100000000000) (* delta *)
  (1) (64) (* step of the lattice of losses *)
  (925) (512) (* tilt *)
  1205 (66) 70 22 (* period, first index, bits, squarings *).

(* The test of the lower end: at least this probability under P, at most that one under Q. *)
Definition y_one : certificate := Certificate
  [CellGroup Near 271828183 100000000 1 1 1 64 (149344) (-14) 25 (-341) 566 12;
   CellGroup Near 62831853 20000000 1 1 1 64 (128994) (-14) 26 (-295) 510 12]%Z
  (41280) (10) (* epsilon *)
  (224392326) (1000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (925) (2097152) (* tilt *)
  531 (65) 70 22 (* period, first index, bits, squarings *).

Definition y_other : certificate := Certificate
  [CellGroup Far 271828183 100000000 1 1 1 64 (62026) (-14) 25 (-341) 566 12;
   CellGroup Far 62831853 20000000 1 1 1 64 (53522) (-14) 26 (-295) 510 12]%Z
  (41280) (10) (* epsilon *)
  (566388481) (10000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (1437) (2097152) (* tilt *)
  1205 (65) 70 22 (* period, first index, bits, squarings *).

Definition z_above : certificate := Certificate
  [CellGroup Split 271828183 100000000 1 1 1 64 (37) (-14) 25 (-342) 567 12;
   CellGroup Split 62831853 20000000 1 1 1 64 (32) (-14) 26 (-296) 511 12]%Z
  (103928) (100000) (* epsilon *)
  (647045523) (10000000000) (* delta *)
  (1) (64) (* step of the lattice of losses *)
  (465) (256) (* tilt *)
  1198 (67) 70 22 (* period, first index, bits, squarings *).

(* The test of the lower end: at least this probability under P, at most that one under Q. *)
Definition z_one : certificate := Certificate
  [CellGroup Near 271828183 100000000 1 1 1 64 (149173) (-14) 25 (-341) 566 12;
   CellGroup Near 62831853 20000000 1 1 1 64 (128847) (-14) 26 (-295) 510 12]%Z
  (42560) (10) (* epsilon *)
  (185747265) (1000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (465) (1048576) (* tilt *)
  531 (67) 70 22 (* period, first index, bits, squarings *).

Definition z_other : certificate := Certificate
  [CellGroup Far 271828183 100000000 1 1 1 64 (62192) (-14) 25 (-341) 566 12;
   CellGroup Far 62831853 20000000 1 1 1 64 (53666) (-14) 26 (-295) 510 12]%Z
  (42560) (10) (* epsilon *)
  (428324038) (10000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (721) (1048576) (* tilt *)
  1198 (67) 70 22 (* period, first index, bits, squarings *).

Definition x : ends_at := FineEnds x_above x_one x_other 265 [35; 30]%Z (6743479967) (100000000000).
Definition y : ends_at := FineEnds y_above y_one y_other 265 [35; 30]%Z (6585734991) (100000000000).
Definition z : ends_at := FineEnds z_above z_one z_other 265 [36; 31]%Z (6465230356) (100000000000).

Lemma point_holds : point_certified (quotient (5) (100)) (quotient (79403) (100000)) (quotient (794442) (1000000)) x y z = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem tradeoff_point_is_between :
  tradeoff_is_between
    (repeat (Count (271828183 / 100000000) 1) 1
     ++ repeat (Count (62831853 / 20000000) 1) 1)
    0.05 0.79403 0.794442.
Proof. exact (tradeoff_point _ _ _ x y z _ _ _ _ point_holds eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
