(** pl94-units-pr: State, County, Tract, Block Group, Block

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Certificate Private Fine.
Import ListNotations.

(* CellGroup: kind num den move copies, then the step of the lattice, norm, first output, outputs, left, width, reach. *)
Definition above : certificate := Certificate
  [CellGroup Split 100159991490315 3218758591951 1 2 1 512 (18) (-52) 73 (-864) 1186 36;
   CellGroup Split 40063996596126 1078407610091 1 2 1 512 (15) (-55) 80 (-765) 1090 39;
   CellGroup Split 124926712180 1130346459 1 2 1 512 (6) (-82) 134 (-383) 618 67;
   CellGroup Split 33386663830105 214035098186 1 2 1 512 (4) (-95) 159 (-314) 521 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 512 (1) (-316) 601 (-70) 134 300]%Z
  (236326) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (512) (* step of the lattice of losses *)
  (4017) (256) (* tilt *)
  1110 (1210) 64 22 (* period, first index, bits, squarings *).

(* The test of the lower end: at least this probability under P, at most that one under Q. *)
Definition one : certificate := Certificate
  [CellGroup Near 100159991490315 3218758591951 1 2 1 512 (572333) (-52) 73 (-864) 1186 36;
   CellGroup Near 40063996596126 1078407610091 1 2 1 512 (481109) (-55) 80 (-765) 1090 39;
   CellGroup Near 124926712180 1130346459 1 2 1 512 (161994) (-82) 134 (-382) 617 67;
   CellGroup Near 33386663830105 214035098186 1 2 1 512 (114857) (-95) 159 (-313) 519 79;
   CellGroup Near 133546655320420 57624834127 1 2 1 512 (9180) (-316) 601 (-70) 134 300]%Z
  (774080) (10) (* epsilon *)
  (172365163) (100000000000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (4017) (8388608) (* tilt *)
  1983 (1210) 64 22 (* period, first index, bits, squarings *).

Definition other : certificate := Certificate
  [CellGroup Far 100159991490315 3218758591951 1 2 1 512 (505801) (-52) 73 (-864) 1186 36;
   CellGroup Far 40063996596126 1078407610091 1 2 1 512 (425279) (-55) 80 (-765) 1090 39;
   CellGroup Far 124926712180 1130346459 1 2 1 512 (143211) (-82) 134 (-382) 617 67;
   CellGroup Far 33386663830105 214035098186 1 2 1 512 (101603) (-95) 159 (-313) 519 79;
   CellGroup Far 133546655320420 57624834127 1 2 1 512 (8196) (-316) 601 (-70) 134 300]%Z
  (774080) (10) (* epsilon *)
  (1528334) (10000000000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (4273) (8388608) (* tilt *)
  1110 (1210) 64 22 (* period, first index, bits, squarings *).

Lemma above_holds : certified above = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma test_holds :
  test_proves one other 991 [259; 217; 73; 52; 3]%Z (236308) (100000) (1) (10000000000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem epsilon_is_between :
  smallest_epsilon
    (repeat (Count (100159991490315 / 3218758591951) 1) 2
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 2
     ++ repeat (Count (124926712180 / 1130346459) 1) 2
     ++ repeat (Count (33386663830105 / 214035098186) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2)
    1e-10 2.36308 2.36326.
Proof. exact (epsilon_is_between above one other _ _ _ _ _ _ _ _ _ _ above_holds test_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
