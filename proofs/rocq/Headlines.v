(** * The 2020 Census allocation, in the words of differential privacy

    Eighty counts, as Su, Su & Wang (2025) analyse the release: for every event and both directions of neighbors the probability
    under one is at most e^20.3247 times that under the other, plus 10^-10. The program certifies epsilon = 20.32468975... *)

From Coq Require Import Reals ZArith Lra.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Directions State Release.
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

(** P and Q exchanged or not: no event tells the neighbors apart better than (eps, d) allows. *)
Definition private (cs : list count) (eps d : R) : Prop :=
  forall E p q,
    is_lub (events (P cs) E) p -> is_lub (events (Q cs) E) q ->
    p <= exp eps * q + d /\ q <= exp eps * p + d.

Lemma finite_event_exchanged cs eps l :
  proper cs -> NoDup l -> lsum (Q cs) l <= exp eps * lsum (P cs) l + delta cs eps.
Proof.
  intros H Hl; rewrite <- delta_is_symmetric by assumption.
  apply Rle_trans with (exp eps * lsum (P cs) l + lsum (fun xs => Rmax 0 (Q cs xs - exp eps * P cs xs)) l).
  - rewrite <- lsum_scale, <- lsum_plus; apply lsum_le; intros xs.
    generalize (Rmax_r 0 (Q cs xs - exp eps * P cs xs)); lra.
  - apply Rplus_le_compat_l; unfold delta_exchanged; apply total_upper; [|assumption].
    now apply exchanged_gap_summable.
Qed.

Theorem delta_means_private cs eps d : proper cs -> delta cs eps <= d -> private cs eps d.
Proof.
  intros H Hd E p q Hp Hq; split.
  - assert (Hm := delta_is_enough cs eps E p q H Hp Hq); lra.
  - destruct Hp as [Hp _]; destruct Hq as [_ Hq]; apply Hq; intros v (l & Hl & HE & ->).
    assert (H1 := finite_event_exchanged cs eps l H Hl).
    assert (H2 : lsum (P cs) l <= p) by (apply Hp; exists l; auto).
    assert (exp eps * lsum (P cs) l <= exp eps * p)
      by (apply Rmult_le_compat_l; [left; apply exp_pos | assumption]).
    lra.
Qed.

Lemma proper_repeat c n cs : 0 < sigma2 c -> proper cs -> proper (repeat c n ++ cs).
Proof. intros Hc Hcs; apply Forall_app; split; [|assumption]. apply Forall_forall; intros x Hx.
  apply repeat_spec in Hx; now subst. Qed.

Lemma state_counts_proper : proper state_counts.
Proof.
  unfold state_counts; rewrite <- (app_nil_r (repeat _ _)).
  repeat (apply proper_repeat; [cbn; lra|]); constructor.
Qed.

Lemma release_counts_proper : proper release_counts.
Proof.
  unfold release_counts; rewrite <- (app_nil_r (repeat (Count (100000 / 219) 1) 10)).
  repeat (apply proper_repeat; [cbn; lra|]); constructor.
Qed.

(** Ten counts of the State level: epsilon 10.125418 at delta 10^-11. *)
Theorem state_is_private : private state_counts 10.125418 (1 / 10 ^ 11).
Proof.
  apply delta_means_private; [apply state_counts_proper|].
  replace 10.125418 with (5062709 / 500000) by lra.
  replace (1 / 10 ^ 11) with (1 / 100000000000) by lra. exact State.delta_is_at_most.
Qed.

(** The whole release: epsilon 20.3247 at delta 10^-10. *)
Theorem release_is_private : private release_counts 20.3247 (1 / 10 ^ 10).
Proof.
  apply delta_means_private; [apply release_counts_proper|].
  replace 20.3247 with (203247 / 10000) by lra.
  replace (1 / 10 ^ 10) with (1 / 10000000000) by lra. exact Release.delta_is_at_most.
Qed.

(** In the two digits that are usually quoted. *)
Corollary release_delta_at_20_33 : delta release_counts 20.33 <= 1 / 10 ^ 10.
Proof.
  apply Rle_trans with (delta release_counts (203247 / 10000)).
  - apply delta_decreases; [apply release_counts_proper | lra].
  - replace (1 / 10 ^ 10) with (1 / 10000000000) by lra. exact Release.delta_is_at_most.
Qed.
