(** * Tables of noise, and infinite losses

    (N) and (O) of proofs/README.md, for outcomes of any kind: a mechanism has two laws p and q of its outcomes, and the profile
    delta(eps) = sum over outputs x of max(0, p(x) - e^eps q(x)). An outcome may be possible under one of the two only. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Theta Signed.
Import ListNotations.
Open Scope R_scope.

(** A law of outcomes of the type [A]; the sum over a set of them. *)
Definition distribution {A : Type} (f : A -> R) : Prop := (forall x, 0 <= f x) /\ summable f /\ total f = 1.
Definition on {A : Type} (S : A -> bool) (f : A -> R) (x : A) : R := if S x then f x else 0.
Definition of_set {A : Type} (f : A -> R) (S : A -> bool) : R := total (on S f).

(** The profile of two laws. That of counts is the one of their product laws. *)
Definition excess {A : Type} (p q : A -> R) (eps : R) (x : A) : R := Rmax 0 (p x - exp eps * q x).
Definition profile {A : Type} (p q : A -> R) (eps : R) : R := total (excess p q eps).

Theorem delta_is_profile cs eps : delta cs eps = profile (P cs) (Q cs) eps.
Proof. reflexivity. Qed.

Section Outcomes.
  Context {A : Type}.
  Hypothesis dec : forall x y : A, {x = y} + {x <> y}.
  Implicit Types p q : A -> R.

  Lemma on_between S f x : (forall x : A, 0 <= f x) -> 0 <= on S f x <= f x.
  Proof. intros H; unfold on; specialize (H x); destruct (S x); lra. Qed.

  Lemma on_summable S f : (forall x : A, 0 <= f x) -> summable f -> summable (on S f).
  Proof. intros H; apply summable_le; intros x; now apply on_between. Qed.

  Lemma excess_nonneg p q eps x : 0 <= excess p q eps x.
  Proof. apply Rmax_l. Qed.

  Lemma excess_at_most p q eps x : (forall x, 0 <= p x) -> (forall x, 0 <= q x) -> excess p q eps x <= p x.
  Proof.
    intros Hp Hq; unfold excess; specialize (Hp x); specialize (Hq x). apply Rmax_lub; [assumption|].
    assert (0 <= exp eps * q x) by (apply Rmult_le_pos; [left; apply exp_pos | assumption]). lra.
  Qed.

  Lemma excess_summable p q eps : distribution p -> (forall x, 0 <= q x) -> summable (excess p q eps).
  Proof. intros (Hp & Sp & _) Hq. apply summable_le with (2 := Sp); intros x; now apply excess_at_most. Qed.

  (** ** (N): approximate losses decide which outcomes are summed *)

  Lemma exp_less_one_at_most e : 0 <= e <= 1 -> exp e - 1 <= 2 * e.
  Proof.
    intros He. destruct (Rle_lt_dec e (1 / 2)) as [Hs|Hs].
    - assert (H := exp_ineq1_le (- e)). rewrite exp_Ropp in H. assert (H0 := exp_pos e).
      assert (exp e * (1 - e) <= 1).
      { replace 1 with (exp e * / exp e) at 2 by (field; lra). apply Rmult_le_compat_l; lra. } nra.
    - assert (H := exp_ineq1_le (1 - e)). assert (H3 := exp_le_3). assert (H0 := exp_pos e). assert (H1 := exp_pos (1 - e)).
      assert (E : exp e * exp (1 - e) = exp 1) by (rewrite <- exp_plus; f_equal; ring).
      assert (exp e * (2 - e) <= 3) by nra. nra.
  Qed.

  (** The set of the outcomes whose approximate loss is above eps, with those that only p can have. *)
  Theorem approximate_losses p q eps e (approx : A -> R) (S : A -> bool) :
    distribution p -> distribution q -> 0 <= e <= 1 ->
    (forall x, 0 < p x -> q x = 0 -> S x = true) ->
    (forall x, p x = 0 -> 0 < q x -> S x = false) ->
    (forall x, 0 < p x -> 0 < q x -> Rabs (ln (p x / q x) - approx x) <= e) ->
    (forall x, 0 < p x -> 0 < q x -> (S x = true <-> eps < approx x)) ->
    of_set p S - exp eps * of_set q S <= profile p q eps <= of_set p S - exp eps * of_set q S + 2 * e.
  Proof using dec.
    intros (Hp & Sp & Tp) (Hq & Sq & Tq) He Honly Hnever Happ Hset. assert (Hx := exp_pos eps).
    assert (SPS := on_summable S p Hp Sp). assert (SQS := on_summable S q Hq Sq).
    assert (Sex : summable (excess p q eps)) by (apply excess_summable; [now split | assumption]).
    unfold of_set, profile. rewrite <- total_scale by (assumption || lra).
    assert (Hqs : forall x, 0 <= exp eps * on S q x) by (intros x; apply Rmult_le_pos; [lra | now apply on_between]).
    assert (Sqs : summable (fun x => exp eps * on S q x)) by (apply summable_scale; [lra | assumption]).
    split.
    - enough (total (on S p) <= total (fun x => excess p q eps x + exp eps * on S q x)).
      { rewrite (total_plus dec) in H by (assumption || (intros; apply excess_nonneg)). lra. }
      apply total_le; [|now apply summable_plus]. intros x; unfold on, excess. destruct (S x).
      + generalize (Rmax_r 0 (p x - exp eps * q x)); lra.
      + generalize (Rmax_l 0 (p x - exp eps * q x)); lra.
    - enough (total (fun x => excess p q eps x + exp eps * on S q x) <= total (fun x => on S p x + 2 * e * p x)).
      { rewrite !(total_plus dec), (total_scale (2 * e) p), Tp in H; try assumption; try lra.
        - intros x; now apply on_between.
        - intros x; apply Rmult_le_pos; [lra | apply Hp].
        - apply summable_scale; [lra | assumption].
        - intros; apply excess_nonneg. }
      apply total_le; [|apply summable_plus; [assumption | apply summable_scale; [lra | assumption]]].
      intros x; unfold on, excess. specialize (Hp x); specialize (Hq x).
      destruct (Rle_lt_or_eq_dec 0 (p x) Hp) as [Pp|Pp]; destruct (Rle_lt_or_eq_dec 0 (q x) Hq) as [Pq|Pq].
      + specialize (Happ x Pp Pq). specialize (Hset x Pp Pq). apply Rabs_le_between in Happ.
        set (l := ln (p x / q x)) in *.
        assert (E : q x = p x * exp (- l)).
        { unfold l; rewrite exp_Ropp, exp_ln by (apply Rdiv_lt_0_compat; assumption). field; lra. }
        assert (E1 : exp eps * q x = p x * exp (eps - l)) by (rewrite E; unfold Rminus; rewrite exp_plus; ring).
        rewrite E1. destruct (S x).
        * assert (Hl : eps - l <= e) by (destruct Hset as [Hset _]; specialize (Hset eq_refl); lra).
          assert (Hexp : exp (eps - l) <= exp e) by now apply exp_mono. assert (H2 := exp_less_one_at_most e He).
          unfold Rmax; destruct (Rle_dec 0 (p x - p x * exp (eps - l))); nra.
        * assert (Hl : l <= eps + e).
          { destruct (Rle_lt_dec (approx x) eps) as [|Hlt]; [lra|]. destruct Hset as [_ Hset]; specialize (Hset Hlt); discriminate. }
          assert (Hexp := exp_ineq1_le (eps - l)).
          assert (p x * (1 - exp (eps - l)) <= p x * (2 * e)) by (apply Rmult_le_compat_l; lra).
          unfold Rmax; destruct (Rle_dec 0 (p x - p x * exp (eps - l))); nra.
      + rewrite (Honly x Pp (eq_sym Pq)), <- Pq. rewrite Rmult_0_r, Rminus_0_r, Rmax_right by lra. nra.
      + rewrite (Hnever x (eq_sym Pp) Pq), <- Pp. rewrite Rmax_left by nra. lra.
      + rewrite <- Pp, <- Pq, Rmult_0_r, Rminus_0_r, Rmax_left by lra. destruct (S x); lra.
  Qed.

  (** Outcomes of one likelihood ratio count as one. *)
  Theorem one_ratio p q eps r l :
    (forall x, In x l -> 0 <= q x /\ p x = r * q x) ->
    lsum (excess p q eps) l = Rmax 0 (lsum p l - exp eps * lsum q l).
  Proof.
    intros H. rewrite <- (lsum_scale (exp eps) q), <- lsum_minus. unfold excess.
    destruct (Rle_lt_dec (exp eps) r) as [Hr|Hr].
    - rewrite Rmax_right.
      + apply lsum_ext_in; intros x Hx; destruct (H x Hx) as [Hq ->]; apply Rmax_right; nra.
      + apply Rle_trans with (lsum (fun _ => 0) l); [rewrite lsum_zero; lra|].
        apply lsum_le_in; intros x Hx; destruct (H x Hx) as [Hq ->]; nra.
    - rewrite Rmax_left.
      + transitivity (lsum (fun _ => 0) l); [|apply lsum_zero].
        apply lsum_ext_in; intros x Hx; destruct (H x Hx) as [Hq ->]; apply Rmax_left; nra.
      + apply Rle_trans with (lsum (fun _ => 0) l); [|rewrite lsum_zero; lra].
        apply lsum_le_in; intros x Hx; destruct (H x Hx) as [Hq ->]; nra.
  Qed.

  Lemma of_set_split f S : (forall x : A, 0 <= f x) -> summable f -> total f = of_set f S + of_set f (fun x => negb (S x)).
  Proof using dec.
    intros Hf Sf. unfold of_set. rewrite <- (total_plus dec) by (try (intros; now apply on_between); now apply on_summable).
    apply total_ext; intros x; unfold on; destruct (S x); cbn; lra.
  Qed.

  (** Lower bounds of the masses of kept outcomes, by the set and all together. *)
  Lemma kept_at_most f (low : A -> R) S K :
    (forall x, 0 <= f x) -> summable f -> NoDup K -> (forall x, low x <= f x) -> lsum low (filter S K) <= of_set f S.
  Proof.
    intros Hf Sf HK Hlow. apply Rle_trans with (lsum (on S f) (filter S K)).
    - apply lsum_le_in; intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold on; rewrite Hx. apply Hlow.
    - apply total_upper; [now apply on_summable | now apply NoDup_filter].
  Qed.

  (** Under the law with the outcomes that are in the set though the other law cannot have them: [F] is at least the mass of those in common. *)
  Theorem mass_with_own_outcomes f low (common S : A -> bool) K F :
    distribution f -> NoDup K -> (forall x, low x <= f x) -> (forall x, In x K -> common x = true) ->
    (forall x, common x = false -> S x = true) -> of_set f common <= F ->
    lsum low (filter S K) + (1 - F) <= of_set f S <= lsum low (filter S K) + (1 - lsum low K).
  Proof using dec.
    intros (Hf & Sf & Tf) HK Hlow Hin Hown HF. set (T := fun x => andb (common x) (S x)).
    assert (Hneg : forall U, of_set f (fun x => negb (U x)) = 1 - of_set f U).
    { intros U. rewrite <- Tf, (of_set_split f U) by assumption. ring. }
    split.
    - assert (E : of_set f S = of_set f T + of_set f (fun x => negb (common x))).
      { unfold of_set. rewrite <- (total_plus dec) by (try (intros; now apply on_between); now apply on_summable).
        apply total_ext; intros x; unfold on, T. destruct (common x) eqn:Ec; cbn; [destruct (S x); lra|]. rewrite (Hown x Ec); lra. }
      rewrite E, Hneg. assert (H := kept_at_most f low T K Hf Sf HK Hlow).
      replace (filter T K) with (filter S K) in H; [lra|]. apply filter_ext_in; intros x Hx; unfold T; now rewrite (Hin x Hx).
    - assert (H := kept_at_most f low (fun x => negb (S x)) K Hf Sf HK Hlow). rewrite Hneg in H.
      rewrite (lsum_filter_split low S K). lra.
  Qed.

  (** Under the other law, of which the set has outcomes in common only. *)
  Theorem mass_without_own_outcomes f low (common S : A -> bool) K F :
    distribution f -> NoDup K -> (forall x, low x <= f x) -> (forall x, In x K -> common x = true) ->
    (forall x, S x = true -> common x = true) -> of_set f common <= F ->
    lsum low (filter S K) <= of_set f S <= lsum low (filter S K) + (F - lsum low K).
  Proof using dec.
    intros (Hf & Sf & Tf) HK Hlow Hin Hown HF. split; [now apply kept_at_most|].
    set (T := fun x => andb (common x) (negb (S x))).
    assert (E : of_set f common = of_set f S + of_set f T).
    { unfold of_set. rewrite <- (total_plus dec) by (try (intros; now apply on_between); now apply on_summable).
      apply total_ext; intros x; unfold on, T. destruct (S x) eqn:ES; [rewrite (Hown x ES); cbn; lra|]. destruct (common x); cbn; lra. }
    assert (H := kept_at_most f low T K Hf Sf HK Hlow).
    replace (filter T K) with (filter (fun x => negb (S x)) K) in H; [rewrite (lsum_filter_split low S K); lra|].
    apply filter_ext_in; intros x Hx; unfold T; now rewrite (Hin x Hx).
  Qed.

  (** The profile of the other direction, at negative eps: so (H) holds with the larger one of both profiles. *)
  Theorem profile_of_both_directions p q eps :
    distribution p -> distribution q -> profile p q (- eps) = 1 - exp (- eps) * (1 - profile q p eps).
  Proof using dec.
    intros (Hp & Sp & Tp) (Hq & Sq & Tq). assert (H0 := exp_pos (- eps)). assert (H1 := exp_pos eps).
    assert (Se := excess_summable p q (- eps) ltac:(now split) Hq). assert (Se' := excess_summable q p eps ltac:(now split) Hp).
    assert (E : total (fun x => excess p q (- eps) x + exp (- eps) * q x) = total (fun x => p x + exp (- eps) * excess q p eps x)).
    { apply total_ext; intros x; unfold excess.
      assert (Ex : exp (- eps) * Rmax 0 (q x - exp eps * p x) = Rmax 0 (exp (- eps) * q x - p x)).
      { rewrite <- RmaxRmult by lra. f_equal; [ring|]. rewrite Rmult_minus_distr_l, <- Rmult_assoc, <- exp_plus.
        replace (- eps + eps) with 0 by ring. rewrite exp_0; ring. }
      rewrite Ex. unfold Rmax. destruct (Rle_dec _ _), (Rle_dec _ _); lra. }
    rewrite !(total_plus dec) in E.
    - rewrite !total_scale, Tp, Tq in E by (assumption || lra). unfold profile. lra.
    - assumption.
    - intros x; apply Rmult_le_pos; [lra | apply excess_nonneg].
    - assumption.
    - apply summable_scale; [lra | assumption].
    - intros; apply excess_nonneg.
    - intros x; apply Rmult_le_pos; [lra | apply Hq].
    - assumption.
    - apply summable_scale; [lra | assumption].
  Qed.

  Corollary larger_of_both_directions p q eps :
    distribution p -> distribution q ->
    Rmax (profile p q (- eps)) (profile q p (- eps)) = 1 - exp (- eps) * (1 - Rmax (profile p q eps) (profile q p eps)).
  Proof using dec.
    intros Hp Hq. rewrite (profile_of_both_directions p q), (profile_of_both_directions q p) by assumption.
    assert (H0 := exp_pos (- eps)). set (u := profile p q eps). set (v := profile q p eps).
    unfold Rmax. destruct (Rle_dec _ _), (Rle_dec _ _); nra.
  Qed.
End Outcomes.

(** ** (O): infinite losses *)

(** With probability [i] an outcome that the other law cannot have; else the outcome of the laws p0 and q0, which is in [common]. *)
Record infinite_beside {A : Type} (i : R) (common : A -> bool) (p q p0 q0 : A -> R) : Prop := {
  probability : 0 <= i <= 1;
  law_p : distribution p; law_q : distribution q; law_p0 : distribution p0; law_q0 : distribution q0;
  outside_0 : forall x, common x = false -> p0 x = 0 /\ q0 x = 0;
  inside : forall x, common x = true -> p x = (1 - i) * p0 x /\ q x = (1 - i) * q0 x;
  outside : forall x, common x = false -> p x = 0 \/ q x = 0 }.

Lemma infinite_exchanged {A} i (common : A -> bool) p q p0 q0 :
  infinite_beside i common p q p0 q0 -> infinite_beside i common q p q0 p0.
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8]; constructor; try assumption; intros x Hx.
  - destruct (H6 x Hx); now split.
  - destruct (H7 x Hx); now split.
  - destruct (H8 x Hx); [now right | now left].
Qed.

Theorem infinite_losses {A} (dec : forall x y : A, {x = y} + {x <> y}) i common (p q p0 q0 : A -> R) eps :
  infinite_beside i common p q p0 q0 -> profile p q eps = i + (1 - i) * profile p0 q0 eps.
Proof.
  intros [Hi (Hp & Sp & Tp) (Hq & Sq & Tq) (Hp0 & Sp0 & Tp0) (Hq0 & Sq0 & Tq0) Hout0 Hin Hout].
  assert (Se0 := excess_summable p0 q0 eps ltac:(now split) Hq0).
  assert (Se := excess_summable p q eps ltac:(now split) Hq).
  (* The excess of an outcome is (1 - i) times that of p0 and q0, and all of p outside of [common]. *)
  assert (E : total (fun x => excess p q eps x + (1 - i) * p0 x) = total (fun x => p x + (1 - i) * excess p0 q0 eps x)).
  { apply total_ext; intros x; unfold excess. destruct (common x) eqn:Ec.
    - destruct (Hin x Ec) as [-> ->].
      replace ((1 - i) * p0 x - exp eps * ((1 - i) * q0 x)) with ((1 - i) * (p0 x - exp eps * q0 x)) by ring.
      rewrite <- (Rmult_0_r (1 - i)) at 1. rewrite RmaxRmult by lra. ring.
    - destruct (Hout0 x Ec) as [-> ->]. replace (0 - exp eps * 0) with 0 by ring. rewrite (Rmax_left 0 0) by lra.
      specialize (Hp x); specialize (Hq x). destruct (Hout x Ec) as [-> | ->].
      + rewrite Rmax_left; [ring|]. assert (0 <= exp eps * q x) by (apply Rmult_le_pos; [left; apply exp_pos | assumption]). lra.
      + replace (p x - exp eps * 0) with (p x) by ring. rewrite Rmax_right by lra. ring. }
  rewrite !(total_plus dec) in E.
  - rewrite !total_scale, Tp, Tp0 in E by (assumption || lra). unfold profile. lra.
  - assumption.
  - intros x; apply Rmult_le_pos; [lra | apply excess_nonneg].
  - assumption.
  - apply summable_scale; [lra | assumption].
  - intros; apply excess_nonneg.
  - intros x; apply Rmult_le_pos; [lra | apply Hp0].
  - assumption.
  - apply summable_scale; [lra | assumption].
Qed.

(** Two independent outcomes. *)
Definition both {A B : Type} (f : A -> R) (g : B -> R) (x : A * B) : R := f (fst x) * g (snd x).

Lemma both_distribution {A B : Type} (decA : forall x y : A, {x = y} + {x <> y}) (decB : forall x y : B, {x = y} + {x <> y})
  (f : A -> R) (g : B -> R) : distribution f -> distribution g -> distribution (both f g).
Proof.
  intros (Hf & Sf & Tf) (Hg & Sg & Tg). split; [intros x; now apply Rmult_le_pos|]. split.
  - now apply (product_summable decA decB).
  - unfold both. rewrite (total_product decA decB), Tf, Tg by assumption. ring.
Qed.

(** Several such pairs composed are one: 1 - i is the product of theirs. *)
Theorem infinite_losses_compose {A B : Type} (decA : forall x y : A, {x = y} + {x <> y}) (decB : forall x y : B, {x = y} + {x <> y})
  i j (c1 : A -> bool) (c2 : B -> bool) p q p0 q0 p' q' p0' q0' :
  infinite_beside i c1 p q p0 q0 -> infinite_beside j c2 p' q' p0' q0' ->
  infinite_beside (1 - (1 - i) * (1 - j)) (fun x => andb (c1 (fst x)) (c2 (snd x))) (both p p') (both q q') (both p0 p0') (both q0 q0').
Proof.
  intros [H1 H2 H3 H4 H5 H6 H7 H8] [K1 K2 K3 K4 K5 K6 K7 K8].
  constructor; try (now apply both_distribution); try nra; intros [x y] E; unfold both; cbn [fst snd] in *.
  - destruct (c1 x) eqn:E1; cbn in E.
    + destruct (K6 y E) as [-> ->]; lra.
    + destruct (H6 x E1) as [-> ->]; lra.
  - apply Bool.andb_true_iff in E; destruct E as [E1 E2]. destruct (H7 x E1) as [-> ->], (K7 y E2) as [-> ->]. split; ring.
  - destruct (c1 x) eqn:E1; cbn in E.
    + destruct (K8 y E) as [-> | ->]; [left | right]; ring.
    + destruct (H8 x E1) as [-> | ->]; [left | right]; ring.
Qed.
