(** * Theorems of proofs/README.md that are stated here, and not proven

    Each is a proposition with a name, so that its statement is precise. Nothing else uses them. README.md lists them, and [check]
    compares the lists. *)

From Coq Require Import Reals Arith.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Normal.
Open Scope R_scope.

(** 1 3 5 ... (2 k + 1). *)
Fixpoint odd_product (k : nat) : R := match k with O => 1 | S k' => odd_product k' * INR (2 * k + 1) end.

(** (K): the tail of N(0, 1) by the series that repeated integration by parts gives. *)
Definition normal_tail_by_series : Prop :=
  forall z tail, 0 <= z -> is_RInt_gen density (at_point z) (Rbar_locally p_infty) tail ->
    is_lim_seq (fun n => 1 / 2 - density z * lsum (fun k => z ^ (2 * k + 1) / odd_product k) (seq 0 n)) (Finite tail).

(** (K): the profile of continuous noise grows with the shift. *)
Definition profile_grows_with_the_shift : Prop :=
  forall m m' eps tail, 0 < m <= m' ->
    (forall z, is_RInt_gen density (at_point z) (Rbar_locally p_infty) (tail z)) ->
    tail (eps / m - m / 2) - exp eps * tail (eps / m + m / 2) <= tail (eps / m' - m' / 2) - exp eps * tail (eps / m' + m' / 2).
