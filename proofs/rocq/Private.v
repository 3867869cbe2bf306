(** * What the claims mean: in the words of differential privacy

    [private cs eps d]: for every event and both directions of neighbors its probability under one is at most e^eps times that
    under the other, plus d. [smallest_epsilon cs d a b]: the smallest such eps at d exists and is in [a, b]. *)

From Coq Require Import Reals ZArith Lra Lia.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Directions.
Import ListNotations.
Open Scope R_scope.

(** P and Q exchanged or not: no event distinguishes the neighbors better than (eps, d) allows. *)
Definition private (cs : list count) (eps d : R) : Prop :=
  forall E p q,
    is_lub (events (P cs) E) p -> is_lub (events (Q cs) E) q ->
    p <= exp eps * q + d /\ q <= exp eps * p + d.

(** The smallest eps >= 0 at which the counts are private at [d] is in [a, b]. *)
Definition smallest_epsilon (cs : list count) (d a b : R) : Prop :=
  exists e, a <= e <= b /\ 0 <= e /\ private cs e d /\ forall e', 0 <= e' -> private cs e' d -> e <= e'.

Lemma finite_event_exchanged cs eps l :
  proper cs -> symmetric cs -> NoDup l -> lsum (Q cs) l <= exp eps * lsum (P cs) l + delta cs eps.
Proof.
  intros H Hs Hl; rewrite <- delta_is_symmetric by assumption.
  apply Rle_trans with (exp eps * lsum (P cs) l + lsum (fun xs => Rmax 0 (Q cs xs - exp eps * P cs xs)) l).
  - rewrite <- lsum_scale, <- lsum_plus; apply lsum_le; intros xs.
    generalize (Rmax_r 0 (Q cs xs - exp eps * P cs xs)); lra.
  - apply Rplus_le_compat_l; unfold delta_exchanged; apply total_upper; [|assumption].
    now apply exchanged_gap_summable.
Qed.

Theorem delta_means_private cs eps d : proper cs -> symmetric cs -> delta cs eps <= d -> private cs eps d.
Proof.
  intros H Hs Hd E p q Hp Hq; split.
  - assert (Hm := delta_is_enough cs eps E p q H Hp Hq); lra.
  - destruct Hp as [Hp _]; destruct Hq as [_ Hq]; apply Hq; intros v (l & Hl & HE & ->).
    assert (H1 := finite_event_exchanged cs eps l H Hs Hl).
    assert (H2 : lsum (P cs) l <= p) by (apply Hp; exists l; auto).
    assert (exp eps * lsum (P cs) l <= exp eps * p)
      by (apply Rmult_le_compat_l; [left; apply exp_pos | assumption]).
    lra.
Qed.

(** A finite set of outputs is an event whose probability is the sum over it. *)
Lemma finite_event f l :
  (forall x : list Z, 0 <= f x) -> NoDup l -> is_lub (events f (fun x => In x l)) (lsum f l).
Proof.
  intros Hf Hl; split.
  - intros v (l' & Hl' & HE & ->); now apply lsum_incl.
  - intros b Hb; apply Hb; exists l; auto.
Qed.

Theorem private_means_delta cs eps d : proper cs -> private cs eps d -> delta cs eps <= d.
Proof.
  intros H Hd; apply delta_is_needed; intros l Hl.
  apply (Hd (fun x => In x l) (lsum (P cs) l) (lsum (Q cs) l)); apply finite_event; try assumption; intros x;
    [now apply P_nonneg | now apply Q_nonneg].
Qed.

Corollary not_private cs eps d : proper cs -> d < delta cs eps -> ~ private cs eps d.
Proof. intros H Hd Hp; apply private_means_delta in Hp; [lra | assumption]. Qed.

(** delta is continuous from the right: the smallest epsilon is attained. *)
Lemma delta_from_the_right cs eps d :
  proper cs -> (forall e, eps < e -> delta cs e <= d) -> delta cs eps <= d.
Proof.
  intros H Hd; apply total_least; intros l Hl. apply le_epsilon; intros eta Heta.
  assert (He := exp_pos eps). set (e := ln (exp eps + eta)).
  assert (Ee : exp e = exp eps + eta) by (apply exp_ln; lra).
  assert (Hlt : eps < e) by (rewrite <- (ln_exp eps); apply ln_increasing; lra).
  apply Rle_trans with (lsum (gap cs e) l + eta * lsum (Q cs) l).
  - rewrite <- lsum_scale, <- lsum_plus; apply lsum_le; intros xs.
    unfold gap; rewrite Ee. assert (HQ := Q_nonneg cs xs H).
    generalize (Rmax_l 0 (P cs xs - (exp eps + eta) * Q cs xs)) (Rmax_r 0 (P cs xs - (exp eps + eta) * Q cs xs)).
    intros; apply Rmax_lub; nra.
  - assert (HQ := Q_at_most_one cs l H Hl). specialize (Hd e Hlt).
    assert (Hg := total_upper (gap cs e) l (gap_summable cs e H) Hl). fold (delta cs e) in Hg.
    assert (eta * lsum (Q cs) l <= eta * 1) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** Two values of delta enclose the smallest epsilon. Where outputs have infinite loss, delta is flat at their probability, so the
    lower end needs a delta that is above [d], and not only at [d]. *)
Theorem smallest_epsilon_is_between cs d a b :
  proper cs -> symmetric cs -> 0 <= b -> a = 0 \/ 0 <= a /\ d < delta cs a -> delta cs b <= d ->
  smallest_epsilon cs d a b.
Proof.
  intros H Hs Hb Ha Hd.
  set (E := fun x => x = 0 \/ 0 <= x /\ d < delta cs x).
  assert (Hbelow : forall x e, E x -> 0 <= e -> delta cs e <= d -> x <= e).
  { intros x e [-> | [Hx Hdx]] He Hde; [assumption|].
    destruct (Rle_lt_dec x e) as [|Hlt]; [assumption|].
    assert (delta cs x <= delta cs e) by (apply delta_decreases; [assumption | lra]). lra. }
  destruct (completeness E) as [e [Hup Hleast]].
  - exists b; intros x Hx; now apply Hbelow.
  - exists 0; now left.
  - assert (H0 : 0 <= e) by (apply Hup; now left).
    assert (Hde : delta cs e <= d).
    { apply delta_from_the_right; [assumption|]; intros e' He'.
      destruct (Rle_lt_dec (delta cs e') d) as [|Hlt]; [assumption|].
      assert (e' <= e) by (apply Hup; right; split; lra). lra. }
    exists e; split; [split | split; [exact H0 | split]].
    + apply Hup; destruct Ha as [-> | [Ha Hda]]; [now left | right; split; assumption].
    + apply Hleast; intros x Hx; now apply Hbelow.
    + now apply delta_means_private.
    + intros e' He' Hp; apply Hleast; intros x Hx; apply Hbelow; try assumption. now apply private_means_delta.
Qed.

(** A larger eps is enough as well. *)
Lemma private_wider cs e b d : private cs e d -> e <= b -> private cs b d.
Proof.
  intros Hp Hb E p q HP HQ. destruct (Hp E p q HP HQ) as [H1 H2]. apply exp_mono in Hb.
  assert (H0 : forall f v, is_lub (events f E) v -> 0 <= v).
  { intros f v [Hup _]; apply Hup; exists []; repeat split; [constructor | intros x []]. }
  assert (Hq := H0 _ _ HQ). assert (Hpp := H0 _ _ HP).
  assert (exp e * q <= exp b * q) by now apply Rmult_le_compat_r.
  assert (exp e * p <= exp b * p) by now apply Rmult_le_compat_r. lra.
Qed.

Corollary upper_end_is_private cs d a b : smallest_epsilon cs d a b -> private cs b d.
Proof. intros (e & He & _ & Hp & _); apply private_wider with e; [exact Hp | lra]. Qed.

Corollary below_the_lower_end cs d a b e : smallest_epsilon cs d a b -> 0 <= e < a -> ~ private cs e d.
Proof. intros (e' & He' & _ & _ & Hleast) He Hp. assert (e' <= e) by (apply Hleast; tauto). lra. Qed.
