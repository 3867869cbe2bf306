(** pl94-units-pr: State, County, Tract, Block_Group, Block

    Written by proofs/rocq/fine.py. Checked by computing with integers, see Certificate.v and Fine.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Certificate Private Fine.
Import ListNotations.

(* CellGroup: kind num den move copies, then the step of the lattice, norm, first output, outputs, left, width, reach. *)
Definition above : certificate := Certificate
  [CellGroup Split 100159991490315 3218758591951 1 2 1 512 (18) (-51) 73 (-848) 1187 36;
   CellGroup Split 40063996596126 1078407610091 1 2 1 512 (15) (-55) 80 (-765) 1090 39;
   CellGroup Split 124926712180 1130346459 1 2 1 512 (6) (-82) 134 (-383) 618 67;
   CellGroup Split 33386663830105 214035098186 1 2 1 512 (4) (-94) 159 (-311) 521 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 512 (1) (-315) 601 (-70) 134 300]%Z
  (236326) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (512) (* step of the lattice of losses *)
  (3921) (256) (* tilt *)
  1137 (1210) 64 22 (* period, first index, bits, squarings *).

(* The test of the lower end: at least this probability under P, at most that one under Q. *)
Definition one : certificate := Certificate
  [CellGroup Near 100159991490315 3218758591951 1 2 1 512 (573987) (-51) 73 (-847) 1185 36;
   CellGroup Near 40063996596126 1078407610091 1 2 1 512 (482537) (-55) 80 (-765) 1090 39;
   CellGroup Near 124926712180 1130346459 1 2 1 512 (162480) (-82) 134 (-382) 617 67;
   CellGroup Near 33386663830105 214035098186 1 2 1 512 (115522) (-94) 159 (-310) 519 79;
   CellGroup Near 133546655320420 57624834127 1 2 1 512 (9216) (-315) 601 (-70) 134 300]%Z
  (77408) (1) (* epsilon *)
  (172365179) (100000000000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (3921) (8388608) (* tilt *)
  1983 (1210) 64 22 (* period, first index, bits, squarings *).

Definition other : certificate := Certificate
  [CellGroup Far 100159991490315 3218758591951 1 2 1 512 (505778) (-51) 73 (-847) 1185 36;
   CellGroup Far 40063996596126 1078407610091 1 2 1 512 (425297) (-55) 80 (-765) 1090 39;
   CellGroup Far 124926712180 1130346459 1 2 1 512 (143222) (-82) 134 (-382) 617 67;
   CellGroup Far 33386663830105 214035098186 1 2 1 512 (101896) (-94) 159 (-310) 519 79;
   CellGroup Far 133546655320420 57624834127 1 2 1 512 (8208) (-315) 601 (-70) 134 300]%Z
  (77408) (1) (* epsilon *)
  (19104171) (125000000000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (4177) (8388608) (* tilt *)
  1137 (1210) 64 22 (* period, first index, bits, squarings *).

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
