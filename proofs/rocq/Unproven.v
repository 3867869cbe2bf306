(** * Theorems of proofs/README.md that are stated here, and not proven

    Each is a proposition with a name, so that its statement is precise. Nothing else uses them. README.md lists them, and [check]
    compares the lists. *)

From Coq Require Import Reals ZArith.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian Tables Factor.
Open Scope R_scope.

(** The sum F(b) of (A) by images; [factor_re] of Factor.v is the real part of its first form. *)
Definition image_re (s m b : R) (A : nat) : R :=
  sqrt (2 * PI * s) * lsum (fun k => exp (- (s * (b - 2 * PI * IZR k)²) / 2) * cos (m * (b - 2 * PI * IZR k))) (range A).

(** (A), second form, by Poisson's summation. *)
Definition factor_by_images : Prop :=
  forall s m b, 0 < s -> Lim_seq (factor_re s m b) = Lim_seq (image_re s m b).

(** (C): the variance from below. *)
Definition variance_at_least : Prop :=
  forall s, 1 / 10 <= s -> s * (1 - 80 * s * exp (- (19.7 * s))) <= variance s.
