(** * The tables of the laws

    For each law: the sum of its tilted masses by place is at most, or at least, a table. Gaussian noise has a window of outputs and two
    geometric tails. Discrete Laplace noise has only shift + 1 different losses, so that its table is complete. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Walk.
Import ListNotations.
Open Scope R_scope.

(** The weight tilted and completed to a square: exp(-(x + t)^2 / (2 s)), where t = c shift. *)
Definition tilted (s t : R) (x : Z) : R := exp (- (IZR x + t)² / (2 * s)).

Lemma tilted_nonneg s t x : 0 <= tilted s t x.
Proof. left; apply exp_pos. Qed.

(** ** Tails of the tilted weights *)

Lemma tilted_falls_right s t r b x :
  0 < s -> exp (- (2 * (IZR b + t) + 1) / (2 * s)) <= r -> (b <= x)%Z ->
  tilted s t (x + 1) <= r * tilted s t x.
Proof.
  intros Hs Hr Hx; apply IZR_le in Hx.
  apply Rle_trans with (exp (- (2 * (IZR b + t) + 1) / (2 * s)) * tilted s t x).
  2: { apply Rmult_le_compat_r; [apply tilted_nonneg | assumption]. }
  unfold tilted; rewrite <- exp_plus; apply exp_mono. rewrite plus_IZR.
  apply Rmult_le_reg_r with (2 * s); [lra|].
  unfold Rdiv; rewrite Rmult_plus_distr_r, !Rmult_assoc, Rinv_l by lra. unfold Rsqr; nra.
Qed.

Lemma tilted_falls_left s t r b x :
  0 < s -> exp (- (1 - 2 * (IZR b + t)) / (2 * s)) <= r -> (x <= b)%Z ->
  tilted s t (x - 1) <= r * tilted s t x.
Proof.
  intros Hs Hr Hx; apply IZR_le in Hx.
  apply Rle_trans with (exp (- (1 - 2 * (IZR b + t)) / (2 * s)) * tilted s t x).
  2: { apply Rmult_le_compat_r; [apply tilted_nonneg | assumption]. }
  unfold tilted; rewrite <- exp_plus; apply exp_mono. rewrite minus_IZR.
  apply Rmult_le_reg_r with (2 * s); [lra|].
  unfold Rdiv; rewrite Rmult_plus_distr_r, !Rmult_assoc, Rinv_l by lra. unfold Rsqr; nra.
Qed.

(** All weights outside of the window [left, left + n) together. *)
Lemma tilted_tails s t r1 r2 left n l :
  0 < s -> r1 < 1 -> r2 < 1 ->
  exp (- (2 * (IZR (left + Z.of_nat n) + t) + 1) / (2 * s)) <= r1 ->
  exp (- (1 - 2 * (IZR (left - 1) + t)) / (2 * s)) <= r2 ->
  NoDup l -> (forall x, In x l -> ~ In x (zlist left n)) ->
  lsum (tilted s t) l
  <= tilted s t (left + Z.of_nat n) / (1 - r1) + tilted s t (left - 1) / (1 - r2).
Proof.
  intros Hs Hr1 Hr2 E1 E2 Hl Hout.
  rewrite (lsum_filter_split _ (fun x => (left <=? x)%Z)); apply Rplus_le_compat.
  - apply geometric_tail_right; try apply tilted_nonneg.
    + split; [|assumption]. eapply Rle_trans; [left; apply exp_pos | exact E1].
    + intros x Hx; now apply (tilted_falls_right s t r1 (left + Z.of_nat n)).
    + now apply NoDup_filter.
    + intros x Hx; apply filter_In in Hx; destruct Hx as [Hx Hle%Z.leb_le].
      specialize (Hout x Hx); rewrite in_zlist in Hout; lia.
  - apply geometric_tail_left; try apply tilted_nonneg.
    + split; [|assumption]. eapply Rle_trans; [left; apply exp_pos | exact E2].
    + intros x Hx; now apply (tilted_falls_left s t r2 (left - 1)).
    + now apply NoDup_filter.
    + intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx].
      destruct (Z.leb_spec left x); [discriminate | lia].
Qed.

(** ** Discrete Gaussian noise *)

Section Tables.
  Variables (c h : R).

  (** The reading of a count whose loss moves by [st] steps of the lattice when its output moves by one. *)
  Definition Count_reading (s : R) (m st : Z) : reading :=
    Reading st (fun x => x) (IZR m ^ 2 / (2 * s)) (c² * (IZR m ^ 2 / (2 * s))).

  Section Count.
    Variables (s : R) (m st : Z).
    Hypothesis Hs : 0 < s.
    Hypothesis Hm : IZR m = IZR st * h * s.
    Let cm := (Count s m, Count_reading s m st).
    Let t := c * IZR m.

    Lemma Count_tilted x : tilted_law c h cm x = tilted s t x / mass s.
    Proof.
      unfold tilted_law, cm; cbn [fst snd P1 Count step place norm Count_reading]; unfold gaussian, weight, tilted.
      replace (exp (- (IZR x + t)² / (2 * s)))
        with (exp (- (IZR x)² / (2 * s)) * exp (- (c * h * IZR (st * x))) * exp (- (c² * (IZR m ^ 2 / (2 * s))))).
      2: { rewrite <- !exp_plus; f_equal. unfold t; rewrite mult_IZR, Hm; unfold Rsqr; field; lra. }
      unfold Rdiv; ring.
    Qed.

    Lemma Count_table_above left n (hat : Z -> R) tau :
      (forall x, tilted s t x / mass s <= hat x) ->
      (forall l, NoDup l -> (forall x, In x l -> ~ In x (zlist left n)) -> lsum (fun x => tilted s t x / mass s) l <= tau) ->
      table_above c h cm left n hat tau.
    Proof.
      intros Hhat Htau A u top Hu; cbn [snd cm place Count_reading].
      set (q := fun x => tilted s t x / mass s) in *.
      rewrite (lsum_ext _ (fun x => q x * u x)) by (intros x; now rewrite Count_tilted).
      assert (Hq : forall x, 0 <= q x).
      { intros x; apply Rmult_le_pos; [apply tilted_nonneg | left; now apply Rinv_0_lt_compat, mass_pos]. }
      set (inside := fun x => if in_dec Z.eq_dec x (zlist left n) then true else false).
      rewrite (lsum_filter_split _ inside); apply Rplus_le_compat.
      - apply Rle_trans with (lsum (fun x => q x * u x) (zlist left n)).
        + apply lsum_incl.
          * intros x; apply Rmult_le_pos; [apply Hq | apply Hu].
          * apply NoDup_filter, NoDup_range.
          * intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold inside in Hx.
            destruct (in_dec _ _ _); [assumption | discriminate].
        + apply lsum_le; intros x; apply Rmult_le_compat_r; [apply Hu | apply Hhat].
      - apply Rle_trans with (lsum q (filter (fun x => negb (inside x)) (range A)) * top).
        + rewrite <- lsum_scale_r; apply lsum_le; intros x; apply Rmult_le_compat_l; [apply Hq | apply Hu].
        + apply Rmult_le_compat_r; [destruct (Hu 0%Z); lra|].
          apply Htau; [apply NoDup_filter, NoDup_range|].
          intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold inside in Hx.
          destruct (in_dec _ _ _); [discriminate | assumption].
    Qed.

    Lemma Count_table_below left n (low : Z -> R) :
      (forall x, low x <= tilted s t x / mass s) -> table_below c h cm left n low.
    Proof.
      intros Hlow; destruct (list_in_range (zlist left n)) as [A0 HA].
      exists A0; intros A u HA0 Hu; cbn [snd cm place Count_reading].
      apply Rle_trans with (lsum (fun x => tilted_law c h cm x * u x) (zlist left n)).
      - apply lsum_le; intros x; apply Rmult_le_compat_r; [apply Hu | rewrite Count_tilted; apply Hlow].
      - apply lsum_incl; [|apply NoDup_zlist | now apply HA].
        intros x; apply Rmult_le_pos; [apply tilted_law_nonneg, Count_lawful, Hs | apply Hu].
    Qed.
  End Count.

  (** ** Discrete Laplace noise *)

  Section Laplace.
    Variables (e : R) (m st : Z) (nm : R).
    Hypothesis He : 0 < e.
    Hypothesis Hmove : (0 < m)%Z.
    Hypothesis Hst : 2 * e = IZR st * h.
    Let cm := (Laplace e m, Laplace_reading e m st nm).
    Let q := exp (- e).

    (** The tilted masses by place, with r = q^(1 + 2 c): 1, then (1 - q) r^y, and r^m, all over 1 + q and the unit. *)
    Definition laplace_mass (y : Z) : R :=
      (if (y =? 0)%Z then 1 else if (y =? m)%Z then 1 else 1 - q) * exp (- (e * (1 + 2 * c) * IZR y + nm)) / (1 + q).

    Let tilt_of y : R := exp (- (2 * e * c * IZR y + nm)).

    Lemma Laplace_tilted x : tilted_law c h cm x = laplace e x * tilt_of (clamp m x).
    Proof.
      unfold tilted_law, cm; cbn [fst snd P1 Laplace step place norm Laplace_reading].
      unfold tilt_of; rewrite Rmult_assoc, <- exp_plus; f_equal; f_equal.
      rewrite mult_IZR. replace (c * h * (IZR st * IZR (clamp m x))) with (IZR st * h * c * IZR (clamp m x)) by ring.
      rewrite <- Hst; ring.
    Qed.

    Let first : laplace_mass 0 = tilt_of 0 / (1 + q).
    Proof. unfold laplace_mass, tilt_of; cbn [Z.eqb]; rewrite !Rmult_0_r; unfold Rdiv; ring. Qed.

    Let last : laplace_mass m = exp (- (e * IZR m)) / (1 + q) * tilt_of m.
    Proof.
      unfold laplace_mass; rewrite Z.eqb_refl. destruct (Z.eqb_spec m 0); [lia|].
      replace (exp (- (e * (1 + 2 * c) * IZR m + nm))) with (exp (- (e * IZR m)) * tilt_of m)
        by (unfold tilt_of; rewrite <- exp_plus; f_equal; ring).
      unfold Rdiv; ring.
    Qed.

    Let inner y : (0 < y < m)%Z -> laplace_mass y = laplace e y * tilt_of y.
    Proof.
      intros Hy; unfold laplace_mass. destruct (Z.eqb_spec y 0); [lia|]. destruct (Z.eqb_spec y m); [lia|].
      replace (exp (- (e * (1 + 2 * c) * IZR y + nm))) with (exp (- (e * IZR y)) * tilt_of y)
        by (unfold tilt_of; rewrite <- exp_plus; f_equal; ring).
      rewrite laplace_right by lia. unfold Rdiv; fold q; ring.
    Qed.

    Let places : zlist 0 (S (Z.to_nat m)) = 0%Z :: zlist 1 (Z.to_nat (m - 1)) ++ [m].
    Proof.
      rewrite zlist_S; f_equal. replace (Z.to_nat m) with (Z.to_nat (m - 1) + 1)%nat by lia.
      rewrite zlist_app; f_equal. rewrite zlist_S; change (zlist ?z 0) with (@nil Z).
      f_equal; lia.
    Qed.

    Let sum_of_places f : lsum f (zlist 0 (S (Z.to_nat m))) = f 0%Z + lsum f (zlist 1 (Z.to_nat (m - 1))) + f m.
    Proof. rewrite places; cbn [lsum]; rewrite lsum_app; cbn [lsum]; ring. Qed.

    Lemma Laplace_table_above (hat : Z -> R) :
      (forall y, (0 <= y <= m)%Z -> laplace_mass y <= hat y) -> table_above c h cm 0 (S (Z.to_nat m)) hat 0.
    Proof.
      intros Hhat A u top Hu; cbn [snd cm place Laplace_reading]; rewrite Rmult_0_l, Rplus_0_r.
      assert (Hq := ratio_bounds e He); fold q in Hq.
      rewrite (lsum_ext _ (fun x => laplace e x * tilt_of (clamp m x) * u (clamp m x)))
        by (intros; now rewrite Laplace_tilted).
      apply Rle_trans with (lsum (fun y => laplace_mass y * u y) (zlist 0 (S (Z.to_nat m)))).
      2: { apply lsum_le_in; intros y Hy%in_zlist; apply Rmult_le_compat_r; [apply Hu | apply Hhat; lia]. }
      rewrite sum_of_places. set (L := range A). assert (HL : NoDup L) by apply NoDup_range.
      rewrite (lsum_filter_split _ (fun x => (x <=? 0)%Z) L).
      rewrite (lsum_filter_split _ (fun x => (x <? m)%Z) (filter (fun x => negb (x <=? 0)%Z) L)), Rplus_assoc.
      assert (Htilt : 0 < tilt_of m) by apply exp_pos.
      repeat apply Rplus_le_compat.
      - rewrite (lsum_ext_in _ (fun x => laplace e x * (tilt_of 0 * u 0%Z))).
        + rewrite lsum_scale_r, first. replace (tilt_of 0 / (1 + q) * u 0%Z) with (/ (1 + q) * (tilt_of 0 * u 0%Z)) by (unfold Rdiv; ring).
          apply Rmult_le_compat_r; [apply Rmult_le_pos; [left; apply exp_pos | apply Hu]|].
          eapply Rle_trans; [apply (left_tail_at_most e He 0); [lia | now apply NoDup_filter |]|].
          * intros x Hx; apply filter_In in Hx; lia.
          * rewrite Rmult_0_r, exp_0; unfold q, Rdiv; lra.
        + intros x Hx; apply filter_In in Hx. replace (clamp m x) with 0%Z by (unfold clamp; lia). ring.
      - rewrite (lsum_ext_in _ (fun x => laplace_mass x * u x)).
        + apply lsum_incl; [| now apply NoDup_filter, NoDup_filter |].
          * intros x; apply Rmult_le_pos; [|apply Hu]. unfold laplace_mass.
            apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra].
            apply Rmult_le_pos; [destruct (_ =? _)%Z; [lra | destruct (_ =? _)%Z; lra] | left; apply exp_pos].
          * intros x Hx; apply filter_In in Hx; destruct Hx as [Hx H1]; apply filter_In in Hx; destruct Hx as [_ H2].
            apply in_zlist; lia.
        + intros x Hx; apply filter_In in Hx; destruct Hx as [Hx H1]; apply filter_In in Hx; destruct Hx as [_ H2].
          rewrite inner by lia. now replace (clamp m x) with x by (unfold clamp; lia).
      - rewrite (lsum_ext_in _ (fun x => laplace e x * (tilt_of m * u m))).
        + rewrite lsum_scale_r, last, Rmult_assoc. apply Rmult_le_compat_r.
          * apply Rmult_le_pos; [lra | apply Hu].
          * apply (tail_at_most e He); [lia | now apply NoDup_filter, NoDup_filter|].
            intros x Hx; apply filter_In in Hx; lia.
        + intros x Hx; apply filter_In in Hx; replace (clamp m x) with m by (unfold clamp; lia); ring.
    Qed.

    Lemma Laplace_table_below (low : Z -> R) r :
      (forall y, (0 <= y <= m)%Z -> low y <= laplace_mass y * (1 - exp (- (e * INR (S r))))) ->
      table_below c h cm 0 (S (Z.to_nat m)) low.
    Proof.
      intros Hlow. assert (Hq := ratio_bounds e He); fold q in Hq.
      set (L := zlist (- Z.of_nat r) (S r) ++ zlist 1 (Z.to_nat (m - 1)) ++ zlist m (S r)).
      assert (HL : NoDup L).
      { apply NoDup_append; [apply NoDup_zlist | apply NoDup_append; try apply NoDup_zlist |].
        - intros x; rewrite !in_zlist; lia.
        - intros x Hx Hx'; apply in_app_or in Hx'; rewrite !in_zlist in *; lia. }
      destruct (list_in_range L) as [A0 HA]; exists A0; intros A u HA0 Hu; cbn [snd cm place Laplace_reading].
      set (k := 1 - exp (- (e * INR (S r)))) in *.
      assert (Hk : k <= 1) by (unfold k; generalize (exp_pos (- (e * INR (S r)))); lra).
      apply Rle_trans with (lsum (fun x => tilted_law c h cm x * u (clamp m x)) L).
      2: { apply lsum_incl; [|assumption | now apply HA].
           intros x; apply Rmult_le_pos; [apply tilted_law_nonneg; now apply Laplace_lawful | apply Hu]. }
      apply Rle_trans with (lsum (fun y => laplace_mass y * k * u y) (zlist 0 (S (Z.to_nat m)))).
      { apply lsum_le_in; intros y Hy%in_zlist; apply Rmult_le_compat_r; [apply Hu | apply Hlow; lia]. }
      rewrite sum_of_places; unfold L; rewrite !lsum_app, Rplus_assoc.
      assert (Htilt : 0 < tilt_of m) by apply exp_pos.
      repeat apply Rplus_le_compat.
      - rewrite (lsum_ext_in _ (fun x => laplace e x * (tilt_of 0 * u 0%Z)) (zlist (- Z.of_nat r) (S r))).
        + rewrite lsum_scale_r, first, (left_sum e He). right; unfold k, q, Rdiv; ring.
        + intros x Hx%in_zlist; rewrite Laplace_tilted. replace (clamp m x) with 0%Z by (unfold clamp; lia). ring.
      - apply lsum_le_in; intros x Hx%in_zlist; rewrite Laplace_tilted, inner by lia.
        replace (clamp m x) with x by (unfold clamp; lia).
        apply Rmult_le_compat_r; [apply Hu|].
        assert (0 < laplace e x * tilt_of x) by (apply Rmult_lt_0_compat; [now apply laplace_pos | apply exp_pos]). nra.
      - rewrite (lsum_ext_in _ (fun x => laplace e x * (tilt_of m * u m)) (zlist m (S r))).
        + rewrite lsum_scale_r, last, (right_sum e He) by lia.
          replace (exp (- (e * IZR (m + Z.of_nat (S r))))) with (exp (- (e * IZR m)) * exp (- (e * INR (S r))))
            by (rewrite <- exp_plus, plus_IZR, <- INR_IZR_INZ; f_equal; ring).
          right; unfold k; fold q; unfold Rdiv; ring.
        + intros x Hx%in_zlist; rewrite Laplace_tilted; replace (clamp m x) with m by (unfold clamp; lia); ring.
    Qed.
  End Laplace.
End Tables.
