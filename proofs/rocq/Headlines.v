(** * The 2020 Census allocation, in the words of differential privacy

    Eighty counts, as Su, Su & Wang (2025) analyze the release. At delta = 10^-10 the smallest epsilon is between 20.324685 and 20.324694:
    for every event and both directions of neighbors the probability under one is at most e^20.324694 times that under the other, plus
    10^-10, and with 20.324685 this is false. The program certifies epsilon = 20.32468975... *)

From Coq Require Import Reals ZArith Lra.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import HockeyStick Private State Release.
Import ListNotations.
Open Scope R_scope.

Definition state_counts : list count := repeat (Count (50000 / 10001) 1) 10.

Definition release_counts : list count :=
  repeat (Count (50000 / 10001) 1) 10      (* State *)
  ++ repeat (Count (50000 / 8687) 1) 10    (* Tract Subset *)
  ++ repeat (Count (100000 / 9563) 1) 20   (* PEPG and Tract Subset Group *)
  ++ repeat (Count (50000 / 4307) 1) 10    (* Optimized Block Group *)
  ++ repeat (Count (20000 / 1241) 1) 10    (* County *)
  ++ repeat (Count (5000 / 73) 1) 10       (* US *)
  ++ repeat (Count (100000 / 219) 1) 10.   (* Block *)

(** Ten counts of the State level, at delta 10^-11. *)
Theorem state_epsilon : smallest_epsilon state_counts 1e-11 10.125415 10.1254175.
Proof. exact State.epsilon_is_between. Qed.

(** The whole release, at delta 10^-10. *)
Theorem release_epsilon : smallest_epsilon release_counts 1e-10 20.324685 20.324694.
Proof. exact Release.epsilon_is_between. Qed.

Corollary state_is_private : private state_counts 10.1254175 1e-11.
Proof. exact (upper_end_is_private _ _ _ _ state_epsilon). Qed.

Corollary release_is_private : private release_counts 20.324694 1e-10.
Proof. exact (upper_end_is_private _ _ _ _ release_epsilon). Qed.

(** In the digits that are usually quoted: 20.33 is enough, 20.32 is not. *)
Corollary release_at_20_33 : private release_counts 20.33 1e-10 /\ ~ private release_counts 20.32 1e-10.
Proof.
  split.
  - apply private_wider with (1 := release_is_private); lra.
  - apply (below_the_lower_end _ _ _ _ _ release_epsilon); lra.
Qed.
