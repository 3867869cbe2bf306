(** pl94-units-pr: 2020 Census P.L. 94-171 redistricting data, housing units, Puerto Rico

    Written by `assay prove --rocq`. Checked by computing with integers, see Certificate.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Certificate Private Fine Worst.
Import ListNotations.

(* CellGroup: kind num den move copies, then the step of the lattice, norm, first output, outputs, left, width, reach. *)
Definition above_0 : certificate := Certificate
  [CellGroup Split 133546655320420 9950850913653 1 2 1 256 (21) (-40) 50 (-773) 937 24;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_1 : certificate := Certificate
  [CellGroup Split 100159991490315 3218758591951 1 2 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 40063996596126 1078407610091 1 2 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 124926712180 1130346459 1 2 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 2 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_2 : certificate := Certificate
  [CellGroup Split 100159991490315 3218758591951 1 2 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 40063996596126 1078407610091 1 1 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 124926712180 1130346459 1 2 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 200319982980630 6676248639571 1 1 1 256 (10) (-51) 72 (-440) 608 35]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_3 : certificate := Certificate
  [CellGroup Split 100159991490315 3218758591951 1 1 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 40063996596126 1078407610091 1 1 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 124926712180 1130346459 1 2 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 2 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 66773327660210 3943185078119 1 1 1 256 (17) (-43) 55 (-658) 818 27]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_4 : certificate := Certificate
  [CellGroup Split 100159991490315 3218758591951 1 1 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 40063996596126 1078407610091 1 1 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 124926712180 1130346459 1 2 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 66773327660210 4371255274491 1 1 1 256 (18) (-41) 52 (-696) 857 26]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_5 : certificate := Certificate
  [CellGroup Split 100159991490315 3218758591951 1 1 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 40063996596126 1078407610091 1 2 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 2 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 400639965961260 16500055461817 1 1 1 256 (12) (-48) 65 (-512) 677 32]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_6 : certificate := Certificate
  [CellGroup Split 100159991490315 3218758591951 1 1 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 40063996596126 1078407610091 1 1 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 400639965961260 16500055461817 1 1 1 256 (12) (-48) 65 (-512) 677 32;
   CellGroup Split 200319982980630 6676248639571 1 1 1 256 (10) (-51) 72 (-440) 608 35]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_7 : certificate := Certificate
  [CellGroup Split 100159991490315 3218758591951 1 1 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 40063996596126 1078407610091 1 1 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 2 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 133546655320420 9094710520909 1 1 1 256 (19) (-41) 52 (-724) 891 25]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_8 : certificate := Certificate
  [CellGroup Split 100159991490315 3218758591951 1 1 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 40063996596126 1078407610091 1 1 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 133546655320420 9950850913653 1 1 1 256 (21) (-40) 50 (-773) 937 24]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_9 : certificate := Certificate
  [CellGroup Split 200319982980630 6676248639571 1 2 1 256 (10) (-51) 72 (-440) 608 35;
   CellGroup Split 100159991490315 3218758591951 1 2 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 124926712180 1130346459 1 2 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_10 : certificate := Certificate
  [CellGroup Split 200319982980630 6676248639571 1 1 1 256 (10) (-51) 72 (-440) 608 35;
   CellGroup Split 100159991490315 3218758591951 1 1 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 124926712180 1130346459 1 2 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 66773327660210 3943185078119 1 1 1 256 (17) (-43) 55 (-658) 818 27;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_11 : certificate := Certificate
  [CellGroup Split 200319982980630 6676248639571 1 1 1 256 (10) (-51) 72 (-440) 608 35;
   CellGroup Split 100159991490315 3218758591951 1 1 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 124926712180 1130346459 1 2 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 66773327660210 4371255274491 1 1 1 256 (18) (-41) 52 (-696) 857 26]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_12 : certificate := Certificate
  [CellGroup Split 200319982980630 6676248639571 1 1 1 256 (10) (-51) 72 (-440) 608 35;
   CellGroup Split 100159991490315 3218758591951 1 1 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 400639965961260 16500055461817 1 1 1 256 (12) (-48) 65 (-512) 677 32;
   CellGroup Split 40063996596126 1078407610091 1 1 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_13 : certificate := Certificate
  [CellGroup Split 200319982980630 6676248639571 1 2 1 256 (10) (-51) 72 (-440) 608 35;
   CellGroup Split 100159991490315 3218758591951 1 1 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 400639965961260 16500055461817 1 1 1 256 (12) (-48) 65 (-512) 677 32]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_14 : certificate := Certificate
  [CellGroup Split 200319982980630 6676248639571 1 1 1 256 (10) (-51) 72 (-440) 608 35;
   CellGroup Split 100159991490315 3218758591951 1 1 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 133546655320420 9094710520909 1 1 1 256 (19) (-41) 52 (-724) 891 25;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_15 : certificate := Certificate
  [CellGroup Split 200319982980630 6676248639571 1 1 1 256 (10) (-51) 72 (-440) 608 35;
   CellGroup Split 100159991490315 3218758591951 1 1 1 256 (9) (-52) 73 (-432) 594 36;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 133546655320420 9950850913653 1 1 1 256 (21) (-40) 50 (-773) 937 24]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_16 : certificate := Certificate
  [CellGroup Split 66773327660210 3943185078119 1 2 1 256 (17) (-43) 55 (-658) 818 27;
   CellGroup Split 124926712180 1130346459 1 2 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 2 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_17 : certificate := Certificate
  [CellGroup Split 66773327660210 3943185078119 1 1 1 256 (17) (-43) 55 (-658) 818 27;
   CellGroup Split 124926712180 1130346459 1 2 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 66773327660210 4371255274491 1 1 1 256 (18) (-41) 52 (-696) 857 26]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_18 : certificate := Certificate
  [CellGroup Split 66773327660210 3943185078119 1 1 1 256 (17) (-43) 55 (-658) 818 27;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 2 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 400639965961260 16500055461817 1 1 1 256 (12) (-48) 65 (-512) 677 32;
   CellGroup Split 40063996596126 1078407610091 1 1 1 256 (8) (-55) 80 (-383) 546 39]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_19 : certificate := Certificate
  [CellGroup Split 66773327660210 3943185078119 1 1 1 256 (17) (-43) 55 (-658) 818 27;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 400639965961260 16500055461817 1 1 1 256 (12) (-48) 65 (-512) 677 32;
   CellGroup Split 200319982980630 6676248639571 1 1 1 256 (10) (-51) 72 (-440) 608 35]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_20 : certificate := Certificate
  [CellGroup Split 66773327660210 3943185078119 1 1 1 256 (17) (-43) 55 (-658) 818 27;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 2 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 133546655320420 9094710520909 1 1 1 256 (19) (-41) 52 (-724) 891 25]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_21 : certificate := Certificate
  [CellGroup Split 66773327660210 3943185078119 1 1 1 256 (17) (-43) 55 (-658) 818 27;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 133546655320420 9950850913653 1 1 1 256 (21) (-40) 50 (-773) 937 24]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_22 : certificate := Certificate
  [CellGroup Split 66773327660210 4371255274491 1 2 1 256 (18) (-41) 52 (-696) 857 26;
   CellGroup Split 124926712180 1130346459 1 2 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_23 : certificate := Certificate
  [CellGroup Split 66773327660210 4371255274491 1 1 1 256 (18) (-41) 52 (-696) 857 26;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 400639965961260 16500055461817 1 1 1 256 (12) (-48) 65 (-512) 677 32;
   CellGroup Split 40063996596126 1078407610091 1 1 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_24 : certificate := Certificate
  [CellGroup Split 66773327660210 4371255274491 1 1 1 256 (18) (-41) 52 (-696) 857 26;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 400639965961260 16500055461817 1 1 1 256 (12) (-48) 65 (-512) 677 32;
   CellGroup Split 200319982980630 6676248639571 1 1 1 256 (10) (-51) 72 (-440) 608 35]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_25 : certificate := Certificate
  [CellGroup Split 66773327660210 4371255274491 1 1 1 256 (18) (-41) 52 (-696) 857 26;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 133546655320420 9094710520909 1 1 1 256 (19) (-41) 52 (-724) 891 25;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_26 : certificate := Certificate
  [CellGroup Split 66773327660210 4371255274491 1 1 1 256 (18) (-41) 52 (-696) 857 26;
   CellGroup Split 124926712180 1130346459 1 1 1 256 (3) (-82) 134 (-192) 310 67;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 133546655320420 9950850913653 1 1 1 256 (21) (-40) 50 (-773) 937 24]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_27 : certificate := Certificate
  [CellGroup Split 400639965961260 16500055461817 1 2 1 256 (12) (-48) 65 (-512) 677 32;
   CellGroup Split 40063996596126 1078407610091 1 2 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 33386663830105 214035098186 1 2 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_28 : certificate := Certificate
  [CellGroup Split 400639965961260 16500055461817 1 2 1 256 (12) (-48) 65 (-512) 677 32;
   CellGroup Split 40063996596126 1078407610091 1 1 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 200319982980630 6676248639571 1 1 1 256 (10) (-51) 72 (-440) 608 35]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_29 : certificate := Certificate
  [CellGroup Split 400639965961260 16500055461817 1 1 1 256 (12) (-48) 65 (-512) 677 32;
   CellGroup Split 40063996596126 1078407610091 1 1 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 33386663830105 214035098186 1 2 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 133546655320420 9094710520909 1 1 1 256 (19) (-41) 52 (-724) 891 25]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_30 : certificate := Certificate
  [CellGroup Split 400639965961260 16500055461817 1 1 1 256 (12) (-48) 65 (-512) 677 32;
   CellGroup Split 40063996596126 1078407610091 1 1 1 256 (8) (-55) 80 (-383) 546 39;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 133546655320420 9950850913653 1 1 1 256 (21) (-40) 50 (-773) 937 24]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_31 : certificate := Certificate
  [CellGroup Split 400639965961260 16500055461817 1 2 1 256 (12) (-48) 65 (-512) 677 32;
   CellGroup Split 200319982980630 6676248639571 1 2 1 256 (10) (-51) 72 (-440) 608 35;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_32 : certificate := Certificate
  [CellGroup Split 400639965961260 16500055461817 1 1 1 256 (12) (-48) 65 (-512) 677 32;
   CellGroup Split 200319982980630 6676248639571 1 1 1 256 (10) (-51) 72 (-440) 608 35;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 133546655320420 9094710520909 1 1 1 256 (19) (-41) 52 (-724) 891 25;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_33 : certificate := Certificate
  [CellGroup Split 400639965961260 16500055461817 1 1 1 256 (12) (-48) 65 (-512) 677 32;
   CellGroup Split 200319982980630 6676248639571 1 1 1 256 (10) (-51) 72 (-440) 608 35;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 133546655320420 9950850913653 1 1 1 256 (21) (-40) 50 (-773) 937 24]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_34 : certificate := Certificate
  [CellGroup Split 133546655320420 9094710520909 1 2 1 256 (19) (-41) 52 (-724) 891 25;
   CellGroup Split 33386663830105 214035098186 1 2 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above_35 : certificate := Certificate
  [CellGroup Split 133546655320420 9094710520909 1 1 1 256 (19) (-41) 52 (-724) 891 25;
   CellGroup Split 33386663830105 214035098186 1 1 1 256 (2) (-95) 159 (-157) 261 79;
   CellGroup Split 133546655320420 57624834127 1 2 1 256 (1) (-316) 601 (-35) 68 300;
   CellGroup Split 133546655320420 9950850913653 1 1 1 256 (21) (-40) 50 (-773) 937 24]%Z
  (236349) (100000) (* epsilon *)
  (1) (10000000000) (* delta *)
  (1) (256) (* step of the lattice of losses *)
  (8035) (512) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Definition above : list certificate :=
  [above_0;
   above_1;
   above_2;
   above_3;
   above_4;
   above_5;
   above_6;
   above_7;
   above_8;
   above_9;
   above_10;
   above_11;
   above_12;
   above_13;
   above_14;
   above_15;
   above_16;
   above_17;
   above_18;
   above_19;
   above_20;
   above_21;
   above_22;
   above_23;
   above_24;
   above_25;
   above_26;
   above_27;
   above_28;
   above_29;
   above_30;
   above_31;
   above_32;
   above_33;
   above_34;
   above_35].

(* The test of the lower end: at least this probability under P, at most that one under Q. *)
Definition one : certificate := Certificate
  [CellGroup Near 133546655320420 9950850913653 1 2 1 256 (332867) (-40) 50 (-773) 936 24;
   CellGroup Near 133546655320420 57624834127 1 2 1 256 (2736) (-316) 601 (-35) 67 300]%Z
  (387520) (10) (* epsilon *)
  (169125302) (100000000000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (8035) (8388608) (* tilt *)
  992 (606) 64 22 (* period, first index, bits, squarings *).

Definition other : certificate := Certificate
  [CellGroup Far 133546655320420 9950850913653 1 2 1 256 (294212) (-40) 50 (-773) 936 24;
   CellGroup Far 133546655320420 57624834127 1 2 1 256 (2465) (-316) 601 (-35) 67 300]%Z
  (387520) (10) (* epsilon *)
  (149752122) (1000000000000000000) (* delta *)
  (64) (1) (* step of the lattice of losses *)
  (8547) (8388608) (* tilt *)
  555 (606) 64 22 (* period, first index, bits, squarings *).

Lemma above_holds : forallb certified above = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma test_holds :
  test_proves one other 496 [301; 2]%Z (236329) (100000) (1) (10000000000) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem worst_epsilon_is_between :
  worst_epsilon
    [repeat (Count (133546655320420 / 9950850913653) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2;
     repeat (Count (100159991490315 / 3218758591951) 1) 2
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 2
     ++ repeat (Count (124926712180 / 1130346459) 1) 2
     ++ repeat (Count (33386663830105 / 214035098186) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2;
     repeat (Count (100159991490315 / 3218758591951) 1) 2
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 2
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (200319982980630 / 6676248639571) 1) 1;
     repeat (Count (100159991490315 / 3218758591951) 1) 1
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 2
     ++ repeat (Count (33386663830105 / 214035098186) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (66773327660210 / 3943185078119) 1) 1;
     repeat (Count (100159991490315 / 3218758591951) 1) 1
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 2
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (66773327660210 / 4371255274491) 1) 1;
     repeat (Count (100159991490315 / 3218758591951) 1) 1
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 2
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (400639965961260 / 16500055461817) 1) 1;
     repeat (Count (100159991490315 / 3218758591951) 1) 1
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (400639965961260 / 16500055461817) 1) 1
     ++ repeat (Count (200319982980630 / 6676248639571) 1) 1;
     repeat (Count (100159991490315 / 3218758591951) 1) 1
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (133546655320420 / 9094710520909) 1) 1;
     repeat (Count (100159991490315 / 3218758591951) 1) 1
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (133546655320420 / 9950850913653) 1) 1;
     repeat (Count (200319982980630 / 6676248639571) 1) 2
     ++ repeat (Count (100159991490315 / 3218758591951) 1) 2
     ++ repeat (Count (124926712180 / 1130346459) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2;
     repeat (Count (200319982980630 / 6676248639571) 1) 1
     ++ repeat (Count (100159991490315 / 3218758591951) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (66773327660210 / 3943185078119) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1;
     repeat (Count (200319982980630 / 6676248639571) 1) 1
     ++ repeat (Count (100159991490315 / 3218758591951) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (66773327660210 / 4371255274491) 1) 1;
     repeat (Count (200319982980630 / 6676248639571) 1) 1
     ++ repeat (Count (100159991490315 / 3218758591951) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (400639965961260 / 16500055461817) 1) 1
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1;
     repeat (Count (200319982980630 / 6676248639571) 1) 2
     ++ repeat (Count (100159991490315 / 3218758591951) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (400639965961260 / 16500055461817) 1) 1;
     repeat (Count (200319982980630 / 6676248639571) 1) 1
     ++ repeat (Count (100159991490315 / 3218758591951) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (133546655320420 / 9094710520909) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1;
     repeat (Count (200319982980630 / 6676248639571) 1) 1
     ++ repeat (Count (100159991490315 / 3218758591951) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (133546655320420 / 9950850913653) 1) 1;
     repeat (Count (66773327660210 / 3943185078119) 1) 2
     ++ repeat (Count (124926712180 / 1130346459) 1) 2
     ++ repeat (Count (33386663830105 / 214035098186) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2;
     repeat (Count (66773327660210 / 3943185078119) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 2
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (66773327660210 / 4371255274491) 1) 1;
     repeat (Count (66773327660210 / 3943185078119) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (400639965961260 / 16500055461817) 1) 1
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 1;
     repeat (Count (66773327660210 / 3943185078119) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (400639965961260 / 16500055461817) 1) 1
     ++ repeat (Count (200319982980630 / 6676248639571) 1) 1;
     repeat (Count (66773327660210 / 3943185078119) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (133546655320420 / 9094710520909) 1) 1;
     repeat (Count (66773327660210 / 3943185078119) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (133546655320420 / 9950850913653) 1) 1;
     repeat (Count (66773327660210 / 4371255274491) 1) 2
     ++ repeat (Count (124926712180 / 1130346459) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2;
     repeat (Count (66773327660210 / 4371255274491) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (400639965961260 / 16500055461817) 1) 1
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1;
     repeat (Count (66773327660210 / 4371255274491) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (400639965961260 / 16500055461817) 1) 1
     ++ repeat (Count (200319982980630 / 6676248639571) 1) 1;
     repeat (Count (66773327660210 / 4371255274491) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (133546655320420 / 9094710520909) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1;
     repeat (Count (66773327660210 / 4371255274491) 1) 1
     ++ repeat (Count (124926712180 / 1130346459) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (133546655320420 / 9950850913653) 1) 1;
     repeat (Count (400639965961260 / 16500055461817) 1) 2
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 2
     ++ repeat (Count (33386663830105 / 214035098186) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2;
     repeat (Count (400639965961260 / 16500055461817) 1) 2
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (200319982980630 / 6676248639571) 1) 1;
     repeat (Count (400639965961260 / 16500055461817) 1) 1
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (133546655320420 / 9094710520909) 1) 1;
     repeat (Count (400639965961260 / 16500055461817) 1) 1
     ++ repeat (Count (40063996596126 / 1078407610091) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (133546655320420 / 9950850913653) 1) 1;
     repeat (Count (400639965961260 / 16500055461817) 1) 2
     ++ repeat (Count (200319982980630 / 6676248639571) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2;
     repeat (Count (400639965961260 / 16500055461817) 1) 1
     ++ repeat (Count (200319982980630 / 6676248639571) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (133546655320420 / 9094710520909) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1;
     repeat (Count (400639965961260 / 16500055461817) 1) 1
     ++ repeat (Count (200319982980630 / 6676248639571) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (133546655320420 / 9950850913653) 1) 1;
     repeat (Count (133546655320420 / 9094710520909) 1) 2
     ++ repeat (Count (33386663830105 / 214035098186) 1) 2
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2;
     repeat (Count (133546655320420 / 9094710520909) 1) 1
     ++ repeat (Count (33386663830105 / 214035098186) 1) 1
     ++ repeat (Count (133546655320420 / 57624834127) 1) 2
     ++ repeat (Count (133546655320420 / 9950850913653) 1) 1]
    1e-10 2.36329 2.36349.
Proof. exact (worst_epsilon_is_between above one other _ _ _ _ _ _ _ _ _ _ _ above_holds test_holds eq_refl eq_refl (or_introl eq_refl) eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.
