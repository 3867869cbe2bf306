(** discrete Gaussian 124926712180/1130346459x1@1 + discrete Gaussian 33386663830105/214035098186x1@1

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Certificate Private Fine.
Import ListNotations.

(* CellGroup: kind num den move copies, then the step of the lattice, norm, first output, outputs, left, width, reach. *)
Definition above : certificate := Certificate
  [CellGroup Split 124926712180 1130346459 1 1 1 512 (5) (-101) 135 (-471) 623 67;
   CellGroup Split 33386663830105 214035098186 1 1 1 512 (4) (-113) 159 (-373) 521 79]%Z
  (501008) (1000000) (* epsilon *)
  (1) (1000000) (* delta *)
  (1) (512) (* step of the lattice of losses *)
  (4329) (128) (* tilt *)
  515 (257) 64 22 (* period, first index, bits, squarings *).

(* The test of the lower end: at least this probability under P, at most that one under Q. *)
Definition one : certificate := Certificate
  [CellGroup Near 124926712180 1130346459 1 1 1 512 (156703) (-101) 135 (-470) 622 67;
   CellGroup Near 33386663830105 214035098186 1 1 1 512 (111530) (-113) 159 (-373) 520 79]%Z
  (164160) (10) (* epsilon *)
  (366630372) (10000000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (4329) (4194304) (* tilt *)
  637 (257) 64 22 (* period, first index, bits, squarings *).

Definition other : certificate := Certificate
  [CellGroup Far 124926712180 1130346459 1 1 1 512 (147856) (-101) 135 (-470) 622 67;
   CellGroup Far 33386663830105 214035098186 1 1 1 512 (105242) (-113) 159 (-373) 520 79]%Z
  (164160) (10) (* epsilon *)
  (216098834) (10000000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (4457) (4194304) (* tilt *)
  515 (257) 64 22 (* period, first index, bits, squarings *).

Lemma above_holds : certified above = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma test_holds :
  test_proves one other 318 [150; 107]%Z (500963) (1000000) (1) (1000000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem epsilon_is_between :
  smallest_epsilon
    (repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1)
    1e-6 0.500963 0.501008.
Proof. exact (epsilon_is_between above one other _ _ _ _ _ _ _ _ _ _ above_holds test_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
