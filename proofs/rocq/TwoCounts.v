(** two counts of P.L. 94-171, persons, United States

    Written by proofs/rocq/fine.py. Checked by computing with integers, see Certificate.v and Fine.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Certificate Private Fine.
Import ListNotations.

(* CellGroup: kind num den move copies, then the step of the lattice, norm, first output, outputs, left, width, reach. *)
Definition above : certificate := Certificate
  [CellGroup Split 214437516707 177339451520 1 1 1 64 (69) (-12) 18 (-662) 902 8;
   CellGroup Split 37841914713 41009748164 1 1 1 64 (90) (-11) 16 (-798) 1042 7]%Z
  (7104) (1000) (* epsilon *)
  (1) (1000000) (* delta *)
  (1) (64) (* step of the lattice of losses *)
  (3451) (1024) (* tilt *)
  646 (455) 64 22 (* period, first index, bits, squarings *).

(* The test of the lower end: at least this probability under P, at most that one under Q. *)
Definition one : certificate := Certificate
  [CellGroup Near 214437516707 177339451520 1 1 1 64 (277904) (-12) 18 (-662) 901 8;
   CellGroup Near 37841914713 41009748164 1 1 1 64 (365563) (-11) 16 (-798) 1042 7]%Z
  (28896) (1) (* epsilon *)
  (297556243) (100000000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (3451) (4194304) (* tilt *)
  885 (452) 64 22 (* period, first index, bits, squarings *).

Definition other : certificate := Certificate
  [CellGroup Far 214437516707 177339451520 1 1 1 64 (165166) (-12) 18 (-662) 901 8;
   CellGroup Far 37841914713 41009748164 1 1 1 64 (217510) (-11) 16 (-798) 1042 7]%Z
  (28896) (1) (* epsilon *)
  (162386231) (100000000000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (4475) (4194304) (* tilt *)
  646 (452) 64 22 (* period, first index, bits, squarings *).

Lemma above_holds : certified above = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma test_holds :
  test_proves one other 442 [196; 256]%Z (7103) (1000) (1) (1000000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem epsilon_is_between :
  smallest_epsilon
    (repeat (Count (214437516707 / 177339451520) 1) 1
     ++ repeat (Count (37841914713 / 41009748164) 1) 1)
    1e-6 7.103 7.104.
Proof. exact (epsilon_is_between above one other _ _ _ _ _ _ _ _ _ _ above_holds test_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
