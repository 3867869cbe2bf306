(** * Sums of terms of any sign

    The sum over any type, if the absolute values can be summed: that of the positive parts less that of the negative ones. *)

From Coq Require Import Reals ZArith Lra Lia.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Theta.
Import ListNotations.
Open Scope R_scope.

(** ** Sums of non-negative terms *)

Section Totals.
  Context {A : Type}.
  Hypothesis dec : forall x y : A, {x = y} + {x <> y}.
  Implicit Types f g : A -> R.

  Theorem total_plus f g :
    (forall x, 0 <= f x) -> (forall x, 0 <= g x) -> summable f -> summable g -> total (fun x => f x + g x) = total f + total g.
  Proof using dec.
    intros Hf Hg Sf Sg; apply Rle_antisym.
    - apply total_least; intros l Hl; rewrite lsum_plus. apply Rplus_le_compat; now apply total_upper.
    - assert (total f <= total (fun x => f x + g x) - total g); [|lra]. apply total_least; intros l1 H1.
      assert (total g <= total (fun x => f x + g x) - lsum f l1); [|lra]. apply total_least; intros l2 H2.
      assert (B1 : lsum f l1 <= lsum f (nodup dec (l1 ++ l2))).
      { apply lsum_incl; [assumption..|]. intros x Hx; apply nodup_In, in_or_app; now left. }
      assert (B2 : lsum g l2 <= lsum g (nodup dec (l1 ++ l2))).
      { apply lsum_incl; [assumption..|]. intros x Hx; apply nodup_In, in_or_app; now right. }
      assert (Hb := total_upper _ (nodup dec (l1 ++ l2)) (summable_plus f g Sf Sg) (NoDup_nodup _ _)).
      rewrite lsum_plus in Hb. lra.
  Qed.

  Lemma total_scale c f : 0 <= c -> summable f -> total (fun x => c * f x) = c * total f.
  Proof.
    intros Hc Sf; apply Rle_antisym.
    - apply total_least; intros l Hl; rewrite lsum_scale. apply Rmult_le_compat_l; [assumption | now apply total_upper].
    - destruct (Rle_lt_or_eq_dec 0 c Hc) as [Hpos|<-].
      + apply Rmult_le_reg_r with (/ c); [now apply Rinv_0_lt_compat|].
        replace (c * total f * / c) with (total f) by (field; lra). apply total_least; intros l Hl.
        apply Rmult_le_reg_r with c; [assumption|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_comm, <- lsum_scale by lra.
        apply (total_upper (fun x => c * f x)); [now apply summable_scale | assumption].
      + rewrite Rmult_0_l. apply total_nonneg, summable_scale; [lra | assumption].
  Qed.

  Lemma total_le f g : (forall x, f x <= g x) -> summable g -> total f <= total g.
  Proof.
    intros H Sg; apply total_least; intros l Hl. eapply Rle_trans; [now apply lsum_le|]. now apply total_upper.
  Qed.

  (** ** The sum of any signs *)

  Definition positive (x : R) : R := Rmax 0 x.

  Lemma positive_parts x : x = positive x - positive (- x) /\ Rabs x = positive x + positive (- x).
  Proof.
    unfold positive. destruct (Rcase_abs x) as [H|H].
    - rewrite (Rmax_left 0 x), (Rmax_right 0 (- x)), Rabs_left by lra; lra.
    - rewrite (Rmax_right 0 x), (Rmax_left 0 (- x)), Rabs_right by lra; lra.
  Qed.

  Definition absolutely f : Prop := summable (fun x => Rabs (f x)).
  Definition sigma f : R := total (fun x => positive (f x)) - total (fun x => positive (- f x)).

  Lemma positive_nonneg x : 0 <= positive x.
  Proof. apply Rmax_l. Qed.

  Lemma positive_summable f : absolutely f -> summable (fun x => positive (f x)) /\ summable (fun x => positive (- f x)).
  Proof.
    intros H; split; (apply summable_le with (g := fun x => Rabs (f x)); [|assumption]); intros x;
      destruct (positive_parts (f x)) as [_ ->]; generalize (positive_nonneg (f x)) (positive_nonneg (- f x)); lra.
  Qed.

  (** Any other difference of sums of non-negative terms will do. *)
  Theorem sigma_of_difference f u v :
    (forall x, 0 <= u x) -> (forall x, 0 <= v x) -> summable u -> summable v -> (forall x, f x = u x - v x) ->
    absolutely f /\ sigma f = total u - total v.
  Proof using dec.
    intros Hu Hv Su Sv E.
    assert (Ha : absolutely f).
    { apply summable_le with (g := fun x => u x + v x); [|now apply summable_plus].
      intros x; rewrite E. specialize (Hu x); specialize (Hv x). apply Rabs_le; lra. }
    split; [exact Ha|]. destruct (positive_summable f Ha) as [S1 S2]. unfold sigma.
    assert (H : total (fun x => positive (f x) + v x) = total (fun x => u x + positive (- f x))).
    { apply total_ext; intros x. destruct (positive_parts (f x)) as [H _]. specialize (E x). lra. }
    rewrite !total_plus in H by (assumption || (intros; apply positive_nonneg)). lra.
  Qed.

  Lemma sigma_of_nonneg f : (forall x, 0 <= f x) -> summable f -> absolutely f /\ sigma f = total f.
  Proof using dec.
    intros Hf Sf. assert (S0 : summable (fun _ : A => 0)) by (exists 0; intros; rewrite lsum_zero; lra).
    assert (T0 : total (fun _ : A => 0) = 0).
    { apply Rle_antisym; [apply total_least; intros; rewrite lsum_zero; lra | now apply total_nonneg]. }
    destruct (sigma_of_difference f f (fun _ => 0)) as [H1 H2]; try assumption; [intros; lra | intros; lra|].
    split; [exact H1|]. rewrite H2, T0; ring.
  Qed.

  Lemma sigma_ext f g : (forall x, f x = g x) -> sigma f = sigma g.
  Proof. intros H; unfold sigma; f_equal; apply total_ext; intros; now rewrite H. Qed.

  Lemma absolutely_ext f g : (forall x, f x = g x) -> absolutely f -> absolutely g.
  Proof. intros H; apply summable_le; intros x; rewrite H; lra. Qed.

  Lemma sigma_plus f g : absolutely f -> absolutely g ->
    absolutely (fun x => f x + g x) /\ sigma (fun x => f x + g x) = sigma f + sigma g.
  Proof using dec.
    intros Hf Hg. destruct (positive_summable f Hf) as [F1 F2]. destruct (positive_summable g Hg) as [G1 G2].
    destruct (sigma_of_difference (fun x => f x + g x) (fun x => positive (f x) + positive (g x))
                (fun x => positive (- f x) + positive (- g x))) as [H1 H2].
    - intros x; generalize (positive_nonneg (f x)) (positive_nonneg (g x)); lra.
    - intros x; generalize (positive_nonneg (- f x)) (positive_nonneg (- g x)); lra.
    - now apply summable_plus.
    - now apply summable_plus.
    - intros x; destruct (positive_parts (f x)) as [E1 _], (positive_parts (g x)) as [E2 _]; lra.
    - split; [exact H1|]. rewrite H2, !total_plus by (assumption || (intros; apply positive_nonneg)). unfold sigma; ring.
  Qed.

  Lemma sigma_opp f : absolutely f -> absolutely (fun x => - f x) /\ sigma (fun x => - f x) = - sigma f.
  Proof.
    intros Hf; split.
    - apply summable_le with (2 := Hf); intros x; rewrite Rabs_Ropp; lra.
    - unfold sigma. rewrite (total_ext (fun x => positive (- - f x)) (fun x => positive (f x))); [ring|].
      intros; now rewrite Ropp_involutive.
  Qed.

  Lemma sigma_scale c f : absolutely f -> absolutely (fun x => c * f x) /\ sigma (fun x => c * f x) = c * sigma f.
  Proof using dec.
    intros Hf. destruct (positive_summable f Hf) as [F1 F2].
    assert (Hpos : forall b g, 0 <= b -> absolutely g -> absolutely (fun x => b * g x) /\ sigma (fun x => b * g x) = b * sigma g).
    { intros b g Hb Hg. destruct (positive_summable g Hg) as [G1 G2].
      destruct (sigma_of_difference (fun x => b * g x) (fun x => b * positive (g x)) (fun x => b * positive (- g x))) as [H1 H2];
        try (now apply summable_scale); try (intros; apply Rmult_le_pos; [assumption | apply positive_nonneg]).
      - intros x; destruct (positive_parts (g x)) as [E _]; rewrite E at 1; ring.
      - split; [exact H1|]. rewrite H2, !total_scale by assumption. unfold sigma; ring. }
    destruct (Rle_lt_dec 0 c) as [Hc|Hc]; [now apply Hpos|].
    destruct (sigma_opp f Hf) as [O1 O2]. destruct (Hpos (- c) (fun x => - f x) ltac:(lra) O1) as [H1 H2]. split.
    - apply absolutely_ext with (2 := H1); intros; ring.
    - rewrite (sigma_ext (fun x => c * f x) (fun x => - c * - f x)), H2, O2 by (intros; ring). ring.
  Qed.

  Lemma sigma_minus f g : absolutely f -> absolutely g ->
    absolutely (fun x => f x - g x) /\ sigma (fun x => f x - g x) = sigma f - sigma g.
  Proof using dec.
    intros Hf Hg. destruct (sigma_opp g Hg) as [O1 O2]. destruct (sigma_plus f (fun x => - g x) Hf O1) as [H1 H2].
    split; [exact H1|]. unfold Rminus; rewrite <- O2. exact H2.
  Qed.

  Lemma sigma_le_absolute f : absolutely f -> Rabs (sigma f) <= total (fun x => Rabs (f x)).
  Proof using dec.
    intros Hf. destruct (positive_summable f Hf) as [F1 F2].
    rewrite (total_ext (fun x => Rabs (f x)) (fun x => positive (f x) + positive (- f x))) by (intros; apply positive_parts).
    rewrite total_plus by (assumption || (intros; apply positive_nonneg)). unfold sigma.
    assert (H1 := total_nonneg _ F1). assert (H2 := total_nonneg _ F2). apply Rabs_le; lra.
  Qed.
End Totals.

(** ** Over the integers, and pairs of them *)

Lemma sigma_is_limit (f : Z -> R) : absolutely f -> is_lim_seq (fun A => lsum f (range A)) (sigma f).
Proof.
  intros Hf. destruct (positive_summable f Hf) as [F1 F2].
  apply is_lim_seq_ext with (u := fun A => lsum (fun x => positive (f x)) (range A) - lsum (fun x => positive (- f x)) (range A)).
  - intros A; rewrite <- lsum_minus; apply lsum_ext; intros x; destruct (positive_parts (f x)); lra.
  - apply is_lim_seq_minus'; apply symmetric_sums_converge; try assumption; intros; apply positive_nonneg.
Qed.

Lemma sigma_is (f : Z -> R) (v : R) : absolutely f -> is_lim_seq (fun A => lsum f (range A)) v -> v = sigma f.
Proof.
  intros Hf Hv. assert (H := sigma_is_limit f Hf). apply is_lim_seq_unique in Hv, H. rewrite Hv in H. now injection H.
Qed.

Definition pair_dec (p q : Z * Z) : {p = q} + {p <> q}.
Proof. decide equality; apply Z.eq_dec. Defined.

(** The products of the terms of two sums. *)
Theorem sigma_product (f g : Z -> R) :
  absolutely f -> absolutely g ->
  absolutely (fun p => f (fst p) * g (snd p)) /\ sigma (fun p => f (fst p) * g (snd p)) = sigma f * sigma g.
Proof.
  intros Hf Hg. destruct (positive_summable f Hf) as [F1 F2]. destruct (positive_summable g Hg) as [G1 G2].
  assert (Hn := positive_nonneg).
  set (f1 := fun x => positive (f x)) in *. set (f2 := fun x => positive (- f x)) in *.
  set (g1 := fun x => positive (g x)) in *. set (g2 := fun x => positive (- g x)) in *.
  assert (N1 : forall x, 0 <= f1 x) by (intros; apply Hn). assert (N2 : forall x, 0 <= f2 x) by (intros; apply Hn).
  assert (N3 : forall x, 0 <= g1 x) by (intros; apply Hn). assert (N4 : forall x, 0 <= g2 x) by (intros; apply Hn).
  destruct (sigma_of_difference pair_dec (fun p => f (fst p) * g (snd p))
              (fun p => f1 (fst p) * g1 (snd p) + f2 (fst p) * g2 (snd p))
              (fun p => f1 (fst p) * g2 (snd p) + f2 (fst p) * g1 (snd p))) as [H1 H2].
  - intros p; apply Rplus_le_le_0_compat; now apply Rmult_le_pos.
  - intros p; apply Rplus_le_le_0_compat; now apply Rmult_le_pos.
  - apply summable_plus; now apply (product_summable Z.eq_dec Z.eq_dec).
  - apply summable_plus; now apply (product_summable Z.eq_dec Z.eq_dec).
  - intros [x y]; cbn [fst snd]. destruct (positive_parts (f x)) as [E1 _], (positive_parts (g y)) as [E2 _].
    unfold f1, f2, g1, g2; rewrite E1 at 1; rewrite E2 at 1; ring.
  - split; [exact H1|]. rewrite H2.
    rewrite !(total_plus pair_dec) by (try (now apply (product_summable Z.eq_dec Z.eq_dec)); intros; now apply Rmult_le_pos).
    rewrite !(total_product Z.eq_dec Z.eq_dec) by assumption. unfold sigma; fold f1 f2 g1 g2; ring.
Qed.

Theorem sigma_by_parity (F : Z * Z -> R) :
  absolutely F ->
  absolutely (fun p => F (even_pair p)) /\ absolutely (fun p => F (odd_pair p))
  /\ sigma F = sigma (fun p => F (even_pair p)) + sigma (fun p => F (odd_pair p)).
Proof.
  intros HF. destruct (positive_summable F HF) as [F1 F2].
  assert (I0 : FinFun.Injective even_pair) by (intros [a b] [c d] E; injection E as E1 E2; f_equal; lia).
  assert (I1 : FinFun.Injective odd_pair) by (intros [a b] [c d] E; injection E as E1 E2; f_equal; lia).
  assert (Hpart : forall phi : Z * Z -> Z * Z, FinFun.Injective phi -> absolutely (fun p => F (phi p))).
  { intros phi Hphi; destruct HF as [b Hb]; exists b; intros l Hl.
    rewrite <- (lsum_of_map (fun p => Rabs (F p)) phi l). now apply Hb, FinFun.Injective_map_NoDup. }
  split; [now apply Hpart|]. split; [now apply Hpart|]. unfold sigma.
  rewrite (total_by_parity _ (fun p => positive_nonneg (F p)) F1), (total_by_parity _ (fun p => positive_nonneg (- F p)) F2). cbv beta;
    ring.
Qed.

(** Even integers and odd ones. *)
Lemma total_even_odd (f : Z -> R) :
  (forall x, 0 <= f x) -> summable f -> total f = total (fun q => f (2 * q)%Z) + total (fun q => f (2 * q + 1)%Z).
Proof.
  intros Hf Sf.
  assert (Hpart : forall phi : Z -> Z, FinFun.Injective phi -> summable (fun q => f (phi q))).
  { intros phi Hphi; destruct Sf as [b Hb]; exists b; intros l Hl.
    rewrite <- (lsum_map f phi l). now apply Hb, FinFun.Injective_map_NoDup. }
  assert (S0 : summable (fun q => f (2 * q)%Z)) by (apply (Hpart (fun q => 2 * q)%Z); intros x y; lia).
  assert (S1 : summable (fun q => f (2 * q + 1)%Z)) by (apply (Hpart (fun q => 2 * q + 1)%Z); intros x y; lia).
  assert (G : forall n lo, lsum f (zlist (2 * lo) (2 * n)) = lsum (fun q => f (2 * q)%Z) (zlist lo n) + lsum (fun q => f (2 * q
    + 1)%Z) (zlist lo n)).
  { induction n as [|n IH]; intros lo; [change (zlist (2 * lo) (2 * 0)) with (@nil Z); change (zlist lo 0) with (@nil Z); cbn [lsum];
      ring|]. replace (2 * S n)%nat with (S (S (2 * n))) by lia. rewrite !zlist_S; cbn [lsum].
    replace (2 * lo + 1 + 1)%Z with (2 * (lo + 1))%Z by lia. rewrite IH; ring. }
  assert (Hlim := is_lim_seq_plus' _ _ _ _ (symmetric_sums_converge _ (fun q => Hf _) S0) (symmetric_sums_converge _ (fun q => Hf _) S1)).
  apply Rle_antisym.
  - apply total_least; intros l Hl; destruct (list_in_range l) as [A HA]; specialize (HA A (le_n A)).
    apply Rle_trans with (lsum f (zlist (2 * - Z.of_nat A) (2 * (2 * A + 1)))).
    + apply lsum_incl; [assumption..|]. intros x Hx; apply HA, in_range in Hx; apply in_zlist; lia.
    + rewrite G; apply Rplus_le_compat; (apply total_upper; [assumption | apply NoDup_zlist]).
  - apply (is_lim_seq_le _ (fun _ => total f) _ (total f)) with (2 := Hlim); [|apply is_lim_seq_const].
    intros A; unfold range; rewrite <- G. apply total_upper; [assumption | apply NoDup_zlist].
Qed.

Theorem sigma_even_odd (f : Z -> R) :
  absolutely f ->
  absolutely (fun q => f (2 * q)%Z) /\ absolutely (fun q => f (2 * q + 1)%Z)
  /\ sigma f = sigma (fun q => f (2 * q)%Z) + sigma (fun q => f (2 * q + 1)%Z).
Proof.
  intros Hf. destruct (positive_summable f Hf) as [F1 F2].
  assert (Hpart : forall phi : Z -> Z, FinFun.Injective phi -> absolutely (fun q => f (phi q))).
  { intros phi Hphi; destruct Hf as [b Hb]; exists b; intros l Hl.
    rewrite <- (lsum_map (fun p => Rabs (f p)) phi l). now apply Hb, FinFun.Injective_map_NoDup. }
  split; [apply (Hpart (fun q => 2 * q)%Z); intros x y; lia|].
  split; [apply (Hpart (fun q => 2 * q + 1)%Z); intros x y; lia|].
  unfold sigma. rewrite (total_even_odd _ (fun x => positive_nonneg (f x)) F1), (total_even_odd _ (fun x => positive_nonneg (- f x)) F2).
  cbv beta; ring.
Qed.
