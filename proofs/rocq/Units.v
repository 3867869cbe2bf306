(** * Pairs of paths, and errors that add up

    The small steps of (D), (E) and (N) of proofs/README.md between a bound of one term and one of what the checker needs. *)

From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums.
Import ListNotations.
Open Scope R_scope.

(** (D): a pair of paths (p, q) is at most the larger one of (p, p) and (q, q), *)
Theorem pair_at_most (x y : C) : Cmod (x * y)%C <= Rmax (Cmod x * Cmod x) (Cmod y * Cmod y).
Proof.
  rewrite Cmod_mult. assert (Hx := Cmod_ge_0 x). assert (Hy := Cmod_ge_0 y). destruct (Rle_lt_dec (Cmod x) (Cmod y)).
  - eapply Rle_trans; [|apply Rmax_r]. now apply Rmult_le_compat_r.
  - eapply Rle_trans; [|apply Rmax_l]. apply Rmult_le_compat_l; lra.
Qed.

(** and (E): also in a sum over nodes. *)
Theorem sum_of_pairs_at_most {A} (F G : A -> C) (w : A -> R) l :
  (forall j, 0 <= w j) ->
  lsum (fun j => Cmod (F j * G j)%C * w j) l
  <= Rmax (lsum (fun j => Cmod (F j) * Cmod (F j) * w j) l) (lsum (fun j => Cmod (G j) * Cmod (G j) * w j) l).
Proof.
  intros Hw. set (u := lsum (fun j => Cmod (F j) * Cmod (F j) * w j) l). set (v := lsum (fun j => Cmod (G j) * Cmod (G j) * w j) l).
  apply Rle_trans with ((u + v) / 2).
  - unfold u, v, Rdiv. rewrite <- lsum_plus, <- lsum_scale_r. apply lsum_le; intros j. rewrite Cmod_mult. specialize (Hw j).
    assert (H := Rle_0_sqr (Cmod (F j) - Cmod (G j))). unfold Rsqr in H.
    assert (0 <= w j * ((Cmod (F j) - Cmod (G j)) * (Cmod (F j) - Cmod (G j)))) by now apply Rmult_le_pos. lra.
  - generalize (Rmax_l u v) (Rmax_r u v); lra.
Qed.

(** (N): the error of a sum of losses is at most the sum of their errors. *)
Theorem errors_add_up {A} (loss approx err : A -> R) l :
  (forall x, In x l -> Rabs (loss x - approx x) <= err x) -> Rabs (lsum loss l - lsum approx l) <= lsum err l.
Proof.
  induction l as [|x l IH]; cbn [lsum]; intros H; [rewrite Rminus_0_r, Rabs_R0; lra|].
  replace (loss x + lsum loss l - (approx x + lsum approx l)) with ((loss x - approx x) + (lsum loss l - lsum approx l)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [apply H; now left | apply IH; intros; apply H; now right].
Qed.
