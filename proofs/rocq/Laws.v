(** * The tables that Certificate.v computes are bounds, law by law *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Uint63.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Directions Walk Tables Response Fixed Rows Certificate.
Import ListNotations.
Open Scope R_scope.

Opaque exp_up exp_down exp_up_signed exp_down_signed.

Lemma whole_pos : 0 < IZR whole.
Proof. apply IZR_lt; reflexivity. Qed.

Lemma IZR_two_to_pos p : 0 < IZR (two_to p).
Proof. apply two_to_pos_R. Qed.

Lemma div_le_iff a b c : 0 < c -> a <= b * c -> a / c <= b.
Proof.
  intros Hc H; apply Rmult_le_reg_r with c; [assumption|].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
Qed.

Lemma le_div_iff a b c : 0 < c -> b * c <= a -> b <= a / c.
Proof.
  intros Hc H; apply Rmult_le_reg_r with c; [assumption|].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
Qed.

Lemma IZR_zsum {A} (f : A -> Z) l : IZR (zsum (map f l)) = lsum (fun x => IZR (f x)) l.
Proof. induction l as [|x l IH]; [reflexivity|]. cbn [map zsum fold_right lsum]; now rewrite plus_IZR, <- IH. Qed.

Definition tilt (k : certificate) : R := IZR (c_num k) / IZR (c_den k).
Definition spacing (k : certificate) : R := IZR (h_num k) / IZR (h_den k).
Definition epsilon (k : certificate) : R := IZR (eps_num k) / IZR (eps_den k).

Section Laws.
  Variable k : certificate.
  Hypothesis Hc : (0 < c_den k)%Z.
  Let Hc' : 0 < IZR (c_den k). Proof. now apply IZR_lt. Qed.
  Let one := IZR (two_to (prec k)).
  Let Hp : 0 < one. Proof. apply IZR_two_to_pos. Qed.

  (** ** Discrete Gaussian noise *)

  Section Gauss.
    Variables (num den m a : Z) (w b : nat).
    Hypothesis Hnum : (0 < num)%Z.
    Hypothesis Hden : (0 < den)%Z.

    Let s : R := IZR num / IZR den.
    Let t : R := tilt k * IZR m.
    Let Hnum' : 0 < IZR num. Proof. now apply IZR_lt. Qed.
    Let Hden' : 0 < IZR den. Proof. now apply IZR_lt. Qed.

    Lemma s_pos : 0 < s.
    Proof. now apply Rdiv_lt_0_compat. Qed.

    Let exponent x :
      - (IZR x + t)² / (2 * s) = - (IZR ((x * c_den k + c_num k * m) ^ 2 * den) / IZR (2 * num * c_den k ^ 2)).
    Proof.
      unfold s, t, tilt. rewrite !mult_IZR, !Z.pow_2_r, !mult_IZR, plus_IZR, !mult_IZR. unfold Rsqr; field; lra.
    Qed.

    Let exponent_nonneg x : (0 <= (x * c_den k + c_num k * m) ^ 2 * den)%Z.
    Proof. apply Z.mul_nonneg_nonneg; [apply Z.pow_even_nonneg; now exists 1%Z | lia]. Qed.

    Lemma tilted_up_bound x : above (prec k) (tilted s t x) (tilted_up k num den m x).
    Proof. unfold tilted_up, tilted; rewrite exponent; apply exp_up_bound; [apply exponent_nonneg | nia]. Qed.

    Lemma tilted_down_bound x : below (prec k) (tilted s t x) (tilted_down k num den m x).
    Proof. unfold tilted_down, tilted; rewrite exponent; apply exp_down_bound; [apply exponent_nonneg | nia]. Qed.

    Let weight_exponent x : weight s x = exp (- (IZR (x * x * den) / IZR (2 * num))).
    Proof. unfold weight; f_equal. unfold s; rewrite !mult_IZR; unfold Rsqr; field; lra. Qed.

    Lemma mass_down_bound : below (prec k) (mass s) (mass_down k num den b).
    Proof.
      unfold below, mass_down; rewrite IZR_zsum; fold one.
      apply Rle_trans with (lsum (weight s) (range b) * one).
      - rewrite <- lsum_scale_r; apply lsum_le; intros x. rewrite weight_exponent. apply exp_down_bound; nia.
      - apply Rmult_le_compat_r; [lra|].
        apply total_upper; [apply weights_summable, s_pos | apply NoDup_range].
    Qed.

    (** One tail, by its first weight [v] and its ratio [f]. *)
    Let tail_bound x v f :
      above (prec k) x v -> 0 <= x -> (f < two_to (prec k))%Z ->
      x / (1 - IZR f / one) <= IZR (quotient_up (v * two_to (prec k)) (two_to (prec k) - f)) / one.
    Proof.
      unfold above; fold one; intros Hv Hx Hf; assert (Hf' := IZR_lt _ _ Hf); fold one in Hf'.
      apply le_div_iff; [assumption|].
      eapply Rle_trans; [|apply quotient_up_bound; lia].
      rewrite mult_IZR, minus_IZR; fold one.
      replace (x / (1 - IZR f / one) * one) with (x * one * one / (one - IZR f)) by (field; lra).
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
      apply Rmult_le_compat_r; [lra | assumption].
    Qed.

    Lemma mass_up_bound : (fall_up k num den b < two_to (prec k))%Z -> above (prec k) (mass s) (mass_up k num den b).
    Proof.
      intros Hfall; unfold above, mass_up; rewrite plus_IZR, mult_IZR, IZR_zsum; fold one.
      assert (Hs := s_pos).
      set (R1 := (Z.of_nat b + 1)%Z) in *.
      assert (Hf : exp (- (2 * IZR R1 + 1) / (2 * s)) <= IZR (fall_up k num den b) / one).
      { apply le_div_iff; [assumption|].
        replace (- (2 * IZR R1 + 1) / (2 * s)) with (- (IZR ((2 * R1 + 1) * den) / IZR (2 * num))).
        - apply exp_up_bound; nia.
        - unfold s; rewrite !mult_IZR, plus_IZR, mult_IZR; field; lra. }
      assert (Hf1 : IZR (fall_up k num den b) / one < 1).
      { apply Rmult_lt_reg_r with one; [assumption|]. unfold Rdiv.
        rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra. now apply IZR_lt. }
      assert (Hend : forall x, (x = R1 \/ x = - R1)%Z ->
        tilted s 0 x / (1 - IZR (fall_up k num den b) / one)
        <= IZR (quotient_up (exp_up (prec k) (squarings k) (R1 ^ 2 * den) (2 * num) * two_to (prec k))
                            (two_to (prec k) - fall_up k num den b)) / one).
      { intros x Hx; apply tail_bound; try assumption; [|apply tilted_nonneg].
        unfold tilted; replace (- (IZR x + 0)² / (2 * s)) with (- (IZR (R1 ^ 2 * den) / IZR (2 * num))).
        - apply exp_up_bound; nia.
        - unfold s; rewrite Z.pow_2_r, !mult_IZR. destruct Hx as [-> | ->]; [|rewrite opp_IZR]; unfold Rsqr; field; lra. }
      apply Rle_trans with ((lsum (weight s) (range b)
        + (tilted s 0 R1 / (1 - IZR (fall_up k num den b) / one)
           + tilted s 0 (- R1) / (1 - IZR (fall_up k num den b) / one))) * one).
      - apply Rmult_le_compat_r; [lra|]. apply total_least; intros l Hl.
        set (inside := fun x => if in_dec Z.eq_dec x (range b) then true else false).
        rewrite (lsum_filter_split _ inside); apply Rplus_le_compat.
        + apply lsum_incl; [intros; left; apply weight_pos | now apply NoDup_filter|].
          intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold inside in Hx.
          destruct (in_dec _ _ _); [assumption | discriminate].
        + rewrite (lsum_ext (weight s) (tilted s 0)) by (intros; unfold weight, tilted; now rewrite Rplus_0_r).
          replace R1 with (- Z.of_nat b + Z.of_nat (2 * b + 1))%Z at 1 by (unfold R1; lia).
          replace (- R1)%Z with (- Z.of_nat b - 1)%Z by (unfold R1; lia).
          apply tilted_tails; try assumption.
          * replace (- Z.of_nat b + Z.of_nat (2 * b + 1))%Z with R1 by (unfold R1; lia). now rewrite Rplus_0_r.
          * replace (- Z.of_nat b - 1)%Z with (- R1)%Z by (unfold R1; lia).
            rewrite Rplus_0_r, opp_IZR. replace (1 - 2 * - IZR R1) with (2 * IZR R1 + 1) by ring. assumption.
          * now apply NoDup_filter.
          * intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold inside in Hx.
            fold (range b). destruct (in_dec _ _ _); [discriminate | assumption].
      - rewrite Rmult_plus_distr_r; apply Rplus_le_compat.
        + rewrite <- lsum_scale_r; apply lsum_le; intros x. rewrite weight_exponent. apply exp_up_bound; nia.
        + assert (H1 := Hend R1 ltac:(now left)). assert (H2 := Hend (- R1)%Z ltac:(now right)).
          set (v := IZR (quotient_up _ _)) in *.
          replace (2 * v) with ((v / one + v / one) * one) by (field; lra).
          apply Rmult_le_compat_r; lra.
    Qed.

    Section Up.
      Variable z : Z.
      Hypothesis Hz : (0 < z)%Z.
      Hypothesis Hmass : z = mass_down k num den b.

      Let Hz' : 0 < IZR z. Proof. now apply IZR_lt. Qed.

      Lemma over_mass q e : 0 <= q -> q * one <= e -> q / mass s <= e / IZR z.
      Proof.
        intros Hq He; assert (Hm := mass_pos s s_pos).
        assert (Hb := mass_down_bound); unfold below in Hb; rewrite <- Hmass in Hb; fold one in Hb.
        apply div_le_iff; [assumption|].
        apply Rmult_le_reg_r with (IZR z); [assumption|].
        replace (e / IZR z * mass s * IZR z) with (e * mass s) by (field; lra).
        apply Rle_trans with (q * (mass s * one)).
        - now apply Rmult_le_compat_l.
        - replace (q * (mass s * one)) with (q * one * mass s) by ring.
          apply Rmult_le_compat_r; [lra | assumption].
      Qed.

      Lemma gauss_up_bound x : tilted s t x / mass s <= IZR (gauss_up k num den m z x) / IZR whole.
      Proof.
        assert (Hw := whole_pos); apply le_div_iff; [assumption|].
        eapply Rle_trans; [|now apply quotient_up_bound]. rewrite mult_IZR.
        replace (IZR (tilted_up k num den m x) * IZR whole / IZR z) with (IZR (tilted_up k num den m x) / IZR z * IZR whole)
          by (field; lra).
        apply Rmult_le_compat_r; [lra|]. apply over_mass; [apply tilted_nonneg | apply tilted_up_bound].
      Qed.

      Lemma ratio_up_bound n :
        (0 <= n)%Z -> above (prec k) (exp (- (IZR n / IZR (2 * num * c_den k)))) (ratio_up k num n).
      Proof. intros Hn; apply exp_up_bound; [assumption | nia]. Qed.

      (** One end of the window. *)
      Lemma end_bound x r :
        (r < two_to (prec k))%Z ->
        tilted s t x / (1 - IZR r / one) / mass s
        <= IZR (quotient_up (tilted_up k num den m x * two_to (prec k) * whole) ((two_to (prec k) - r) * z)) / IZR whole.
      Proof.
        intros Hr; assert (Hw := whole_pos). assert (Hr' := IZR_lt _ _ Hr); fold one in Hr'.
        assert (Hd : 0 < 1 - IZR r / one).
        { apply Rmult_lt_reg_r with one; [assumption|]. rewrite Rmult_0_l.
          replace ((1 - IZR r / one) * one) with (one - IZR r) by (field; lra). lra. }
        apply Rle_trans with (IZR (tilted_up k num den m x) / (1 - IZR r / one) / IZR z).
        - apply over_mass.
          + apply Rmult_le_pos; [apply tilted_nonneg | left; now apply Rinv_0_lt_compat].
          + replace (tilted s t x / (1 - IZR r / one) * one)
              with (tilted s t x * one * / (1 - IZR r / one)) by (unfold Rdiv; ring).
            apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | apply tilted_up_bound].
        - apply le_div_iff; [assumption|].
          eapply Rle_trans; [|apply quotient_up_bound; nia].
          rewrite !mult_IZR, minus_IZR; fold one. right; field.
          split; [lra|]. split; lra.
      Qed.

      Hypothesis Hright : (0 <= right_ratio k den m a w)%Z.
      Hypothesis Hleft : (0 <= left_ratio k den m a)%Z.
      Hypothesis Hright1 : (ratio_up k num (right_ratio k den m a w) < two_to (prec k))%Z.
      Hypothesis Hleft1 : (ratio_up k num (left_ratio k den m a) < two_to (prec k))%Z.

      Lemma tail_up_bound l :
        NoDup l -> (forall x, In x l -> ~ In x (zlist a w)) ->
        lsum (fun x => tilted s t x / mass s) l <= IZR (tail_up k num den m a w z) / IZR whole.
      Proof.
        intros Hnd Hout; assert (Hw := whole_pos).
        assert (Hlt : forall r, (r < two_to (prec k))%Z -> IZR r / one < 1).
        { intros r Hr; apply Rmult_lt_reg_r with one; [assumption|].
          unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra. now apply IZR_lt. }
        assert (Habove : forall e n, (0 <= n)%Z ->
          - e / (2 * s) = - (IZR n / IZR (2 * num * c_den k)) -> exp (- e / (2 * s)) <= IZR (ratio_up k num n) / one).
        { intros e n Hn ->. apply le_div_iff; [assumption|]. now apply ratio_up_bound. }
        unfold Rdiv at 1; rewrite lsum_scale_r; fold (lsum (tilted s t) l / mass s).
        unfold tail_up; rewrite plus_IZR, Rdiv_plus_distr.
        eapply Rle_trans; [|apply Rplus_le_compat; apply end_bound; assumption].
        rewrite <- Rdiv_plus_distr.
        apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, mass_pos, s_pos|].
        apply tilted_tails; try apply s_pos; try (now apply Hlt); try assumption.
        - rewrite Ropp_plus_distr.
          replace (- (2 * (IZR (a + Z.of_nat w) + t)) + - (1)) with (- (2 * (IZR (right_end a w) + t) + 1))
            by (unfold right_end; ring).
          apply Habove; [assumption|].
          unfold right_ratio, s, t, tilt.
          rewrite !mult_IZR, plus_IZR, !mult_IZR, plus_IZR, !mult_IZR. field; lra.
        - apply Habove; [assumption|].
          unfold left_ratio, s, t, tilt.
          rewrite !mult_IZR, !minus_IZR, !mult_IZR, plus_IZR, !mult_IZR, !minus_IZR. field; lra.
      Qed.
    End Up.

    Lemma gauss_down_bound x :
      (fall_up k num den b < two_to (prec k))%Z ->
      IZR (gauss_down k num den m (mass_up k num den b) x) / IZR whole <= tilted s t x / mass s.
    Proof.
      intros Hfall; assert (Hw := whole_pos). assert (Hm := mass_pos s s_pos).
      assert (Hb := mass_up_bound Hfall); unfold above in Hb; fold one in Hb.
      set (z := mass_up k num den b) in *.
      assert (Hz' : 0 < IZR z) by (apply Rlt_le_trans with (mass s * one); [now apply Rmult_lt_0_compat | assumption]).
      assert (Hz := lt_IZR _ _ Hz').
      apply div_le_iff; [assumption|]. unfold gauss_down.
      eapply Rle_trans; [now apply quotient_down_bound|]. rewrite mult_IZR.
      assert (Ht := tilted_down_bound x); unfold below in Ht; fold one in Ht.
      assert (H0 := tilted_nonneg s t x).
      apply div_le_iff; [assumption|].
      apply Rle_trans with (tilted s t x * one * IZR whole); [apply Rmult_le_compat_r; lra|].
      replace (tilted s t x * one * IZR whole) with (tilted s t x / mass s * IZR whole * (mass s * one)) by (field; lra).
      apply Rmult_le_compat_l; [|assumption].
      apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [assumption | left; now apply Rinv_0_lt_compat].
    Qed.
  End Gauss.

  (** ** Discrete Laplace noise *)

  Section Lap.
    Variables (num den m : Z) (b : nat) (nn : Z).
    Hypothesis Hh2 : (0 < h_den k)%Z.
    Hypothesis Hnum : (0 < num)%Z.
    Hypothesis Hden : (0 < den)%Z.
    Hypothesis Htilt : (0 < c_num k)%Z.

    Let e : R := IZR num / IZR den.
    Let q : R := exp (- e).
    Let c : R := tilt k.
    Let nm : R := (tilt k)² * (spacing k * (IZR nn / IZR norm_unit) / 2).
    Let U : R := exp (- nm).
    Let HU : 0 < U. Proof. apply exp_pos. Qed.
    Let Hnum' : 0 < IZR num. Proof. now apply IZR_lt. Qed.
    Let Hden' : 0 < IZR den. Proof. now apply IZR_lt. Qed.

    Lemma e_pos : 0 < e.
    Proof. now apply Rdiv_lt_0_compat. Qed.

    Let q_bounds : 0 < q < 1. Proof. apply ratio_bounds, e_pos. Qed.

    Let q_down : below (prec k) q (exp_down (prec k) (squarings k) num den) /\ (0 <= exp_down (prec k) (squarings k) num den)%Z.
    Proof. apply exp_down_bound; lia. Qed.
    Let q_up : above (prec k) q (exp_up (prec k) (squarings k) num den).
    Proof. apply exp_up_bound; lia. Qed.

    Let exponent y : - (e * (1 + 2 * c) * IZR y) = - (IZR (num * (c_den k + 2 * c_num k) * y) / IZR (den * c_den k)).
    Proof. unfold e, c, tilt; rewrite !mult_IZR, plus_IZR, mult_IZR; field; lra. Qed.

    Lemma norm_den_pos : (0 < norm_den k)%Z.
    Proof. unfold norm_den; rewrite Z.pow_2_r. repeat apply Z.mul_pos_pos; assumption || reflexivity. Qed.

    Let unit_is : U = exp (- (IZR (norm_num k nn) / IZR (norm_den k))).
    Proof.
      assert (H2 := IZR_lt _ _ Hh2). assert (Hu : 0 < IZR norm_unit) by (apply IZR_lt; reflexivity).
      unfold U; f_equal; unfold norm_num, norm_den, nm, tilt, spacing. rewrite !Z.pow_2_r, !mult_IZR. unfold Rsqr; field; lra.
    Qed.

    Let split_mass y : exp (- (e * (1 + 2 * c) * IZR y + nm)) = exp (- (e * (1 + 2 * c) * IZR y)) * U.
    Proof. unfold U; rewrite <- exp_plus; f_equal; ring. Qed.

    Let at_ends (y : Z) : R := if (y =? 0)%Z then 1 else if (y =? m)%Z then 1 else 1 - q.

    Lemma lap_up_bound unit y :
      exp_up_signed (prec k) (squarings k) (norm_num k nn) (norm_den k) = Some unit -> (0 <= y)%Z ->
      laplace_mass c e m nm y
      <= IZR (lap_up k num den m unit (exp_down (prec k) (squarings k) num den) y) / IZR whole.
    Proof.
      intros Hunit Hy; assert (Hw := whole_pos). apply (exp_up_signed_bound _ _ _ _ _ norm_den_pos) in Hunit.
      rewrite <- unit_is in Hunit; unfold above in Hunit; fold one in Hunit. destruct q_down as [Hq Hq0]; unfold below in Hq; fold one in Hq.
      set (v := exp_down (prec k) (squarings k) num den) in *. assert (Hv := IZR_le _ _ Hq0).
      assert (Hg : above (prec k) (exp (- (e * (1 + 2 * c) * IZR y))) (geometric_up k num den y))
        by (rewrite exponent; apply exp_up_bound; nia).
      unfold above in Hg; fold one in Hg. set (E := exp (- (e * (1 + 2 * c) * IZR y))) in *.
      assert (HE : 0 < E) by apply exp_pos.
      assert (Hin : at_ends y * one <= IZR (ends k m y (two_to (prec k) - v))).
      { unfold at_ends, ends. destruct (y =? 0)%Z; [fold one; lra|]. destruct (y =? m)%Z; [fold one; lra|].
        rewrite minus_IZR; fold one; lra. }
      assert (Hin0 : 0 <= at_ends y) by (unfold at_ends; destruct (y =? 0)%Z; [lra|]; destruct (y =? m)%Z; lra).
      set (G := IZR (geometric_up k num den y)) in *. set (F := IZR (ends k m y (two_to (prec k) - v))) in *.
      apply le_div_iff; [assumption|]. unfold lap_up.
      eapply Rle_trans; [|apply quotient_up_bound; generalize (two_to_pos (prec k)); nia].
      rewrite !mult_IZR, plus_IZR; fold one G F.
      unfold laplace_mass; rewrite split_mass; fold E q; fold (at_ends y).
      apply Rle_trans with (at_ends y * (E * U) / (1 + IZR v / one) * IZR whole).
      - apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra | left; now apply Rmult_lt_0_compat]|].
        apply Rinv_le_contravar.
        + assert (0 <= IZR v / one) by (apply Rmult_le_pos; [assumption | left; now apply Rinv_0_lt_compat]). lra.
        + apply Rplus_le_compat_l. apply div_le_iff; assumption.
      - replace (at_ends y * (E * U) / (1 + IZR v / one) * IZR whole)
          with ((E * one) * (U * one) * (at_ends y * one) * (IZR whole / ((one + IZR v) * one * one))) by (field; lra).
        replace (G * IZR unit * F * IZR whole / ((one + IZR v) * one * one))
          with (G * IZR unit * F * (IZR whole / ((one + IZR v) * one * one))) by (field; lra).
        assert (0 < E * one) by now apply Rmult_lt_0_compat. assert (0 < U * one) by now apply Rmult_lt_0_compat.
        apply Rmult_le_compat_r.
        + apply Rmult_le_pos; [lra|]. left; apply Rinv_0_lt_compat. repeat apply Rmult_lt_0_compat; lra.
        + apply Rmult_le_compat; try assumption; [apply Rmult_le_pos; lra | apply Rmult_le_pos; lra | apply Rmult_le_compat; lra].
    Qed.

    Lemma lap_down_bound y :
      let qu := exp_up (prec k) (squarings k) num den in
      let beyond := exp_up (prec k) (squarings k) (num * Z.of_nat (S b)) den in
      let unit := exp_down_signed (prec k) (squarings k) (norm_num k nn) (norm_den k) in
      (0 <= y)%Z -> (qu <= two_to (prec k))%Z -> (beyond <= two_to (prec k))%Z ->
      IZR (lap_down k num den m unit qu beyond y) / IZR whole <= laplace_mass c e m nm y * (1 - exp (- (e * INR (S b)))).
    Proof.
      intros qu beyond unit Hy Hqu Hbeyond; assert (Hw := whole_pos).
      destruct (exp_down_signed_bound (prec k) (squarings k) (norm_num k nn) _ norm_den_pos) as [Hunit Hunit0].
      rewrite <- unit_is in Hunit; fold unit in Hunit, Hunit0; unfold below in Hunit; fold one in Hunit. apply IZR_le in Hunit0.
      apply IZR_le in Hqu, Hbeyond; fold one in Hqu, Hbeyond.
      assert (Hq := q_up); unfold above in Hq; fold one qu in Hq.
      assert (Hb : above (prec k) (exp (- (e * INR (S b)))) beyond).
      { replace (e * INR (S b)) with (IZR (num * Z.of_nat (S b)) / IZR den).
        - apply exp_up_bound; nia.
        - unfold e; rewrite mult_IZR, <- INR_IZR_INZ; field; lra. }
      unfold above in Hb; fold one in Hb. set (B := exp (- (e * INR (S b)))) in *.
      assert (HB : 0 < B) by apply exp_pos.
      destruct (exp_down_bound (prec k) (squarings k) (num * (c_den k + 2 * c_num k) * y) (den * c_den k)
        ltac:(nia) ltac:(nia)) as [Hg Hg0].
      rewrite <- exponent in Hg; fold (geometric_down k num den y) in Hg, Hg0.
      unfold below in Hg; fold one in Hg. set (E := exp (- (e * (1 + 2 * c) * IZR y))) in *.
      assert (HE : 0 < E) by apply exp_pos. apply IZR_le in Hg0.
      set (F := IZR (ends k m y (two_to (prec k) - qu))).
      assert (Hin : 0 <= F <= at_ends y * one).
      { unfold F, at_ends, ends. destruct (y =? 0)%Z; [fold one; lra|]. destruct (y =? m)%Z; [fold one; lra|].
        rewrite minus_IZR; fold one; lra. }
      set (G := IZR (geometric_down k num den y)) in *.
      assert (Hqu0 : 0 < IZR qu) by (apply Rlt_le_trans with (q * one); [apply Rmult_lt_0_compat; lra | assumption]).
      assert (Hqu1 := lt_IZR _ _ Hqu0).
      apply div_le_iff; [assumption|]. unfold lap_down.
      eapply Rle_trans; [apply quotient_down_bound; generalize (two_to_pos (prec k)); nia|].
      rewrite !mult_IZR, minus_IZR, plus_IZR; fold one G F.
      unfold laplace_mass; rewrite split_mass; fold E q; fold (at_ends y).
      apply Rle_trans with (at_ends y * (E * U) / (1 + IZR qu / one) * (1 - B) * IZR whole).
      - replace (G * IZR unit * F * (one - IZR beyond) * IZR whole / ((one + IZR qu) * one * one * one))
          with (G * IZR unit * F * (one - IZR beyond) * (IZR whole / ((one + IZR qu) * one * one * one))) by (field; lra).
        replace (at_ends y * (E * U) / (1 + IZR qu / one) * (1 - B) * IZR whole)
          with ((E * one) * (U * one) * (at_ends y * one) * ((1 - B) * one) * (IZR whole / ((one + IZR qu) * one * one * one))) by (field; lra).
        apply Rmult_le_compat_r.
        + apply Rmult_le_pos; [lra|]. left; apply Rinv_0_lt_compat. repeat apply Rmult_lt_0_compat; lra.
        + assert (G * IZR unit <= E * one * (U * one)) by (apply Rmult_le_compat; lra).
          assert (0 <= G * IZR unit) by (apply Rmult_le_pos; lra).
          apply Rmult_le_compat; [apply Rmult_le_pos; lra | lra | apply Rmult_le_compat; lra | lra].
      - apply Rmult_le_compat_r; [lra|].
        assert (HB1 : 0 <= 1 - B).
        { apply Rmult_le_reg_r with one; [assumption|]. lra. }
        apply Rmult_le_compat_r; [assumption|].
        assert (0 <= at_ends y) by (apply Rmult_le_reg_r with one; lra).
        assert (0 < E * U) by now apply Rmult_lt_0_compat.
        apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|].
        apply Rinv_le_contravar; [lra|]. apply Rplus_le_compat_l. apply le_div_iff; assumption.
    Qed.
  End Lap.

  (** ** Randomized response *)

  Section Resp.
    Variables (num den nn : Z).
    Hypothesis Hh2 : (0 < h_den k)%Z.
    Hypothesis Hnum : (0 < num)%Z.
    Hypothesis Hden : (0 < den)%Z.
    Let e : R := IZR num / IZR den.
    Let nm : R := (tilt k)² * (spacing k * (IZR nn / IZR norm_unit) / 2).

    Let exponent y : - (e * (1 + 2 * tilt k) * IZR y + nm) = - (IZR (response_num k num den nn y) / IZR (response_den k den)).
    Proof.
      assert (H1 := IZR_lt _ _ Hden). assert (H2 := IZR_lt _ _ Hh2). assert (Hu : 0 < IZR norm_unit) by (apply IZR_lt; reflexivity).
      unfold response_num, response_den, nm, e, tilt, spacing. rewrite !Z.pow_2_r, !plus_IZR, !mult_IZR, !plus_IZR, !mult_IZR. unfold Rsqr; field; lra.
    Qed.

    Let den_pos : (0 < response_den k den)%Z.
    Proof. unfold response_den. assert (0 < norm_unit)%Z by reflexivity. nia. Qed.

    Lemma resp_up_bound y v :
      exp_up_signed (prec k) (squarings k) (response_num k num den nn y) (response_den k den) = Some v ->
      response_mass (tilt k) e nm y
      <= IZR (quotient_up (v * whole) (two_to (prec k) + exp_down (prec k) (squarings k) num den)) / IZR whole.
    Proof.
      intros Hv; assert (Hw := whole_pos). apply exp_up_signed_bound in Hv; [|exact den_pos].
      destruct (exp_down_bound (prec k) (squarings k) num den ltac:(lia) Hden) as [Hq Hq0]; fold e in Hq.
      unfold above, below in *; fold one in Hv, Hq. set (q := exp_down (prec k) (squarings k) num den) in *.
      apply IZR_le in Hq0. unfold response_mass. rewrite exponent. set (E := exp (- (IZR _ / _))) in *. assert (HE : 0 < E) by apply exp_pos.
      apply le_div_iff; [assumption|]. assert (Hqp : (0 < two_to (prec k) + q)%Z).
      { apply lt_IZR; rewrite plus_IZR; fold one; lra. }
      eapply Rle_trans; [|now apply quotient_up_bound]. rewrite mult_IZR, plus_IZR; fold one.
      assert (Hx := exp_pos (- e)).
      replace (E / (1 + exp (- e)) * IZR whole) with (E * one * IZR whole / (one + exp (- e) * one)) by (field; lra).
      unfold Rdiv; apply Rmult_le_compat.
      - apply Rmult_le_pos; [apply Rmult_le_pos|]; lra.
      - left; apply Rinv_0_lt_compat. assert (0 < exp (- e) * one) by now apply Rmult_lt_0_compat. lra.
      - apply Rmult_le_compat_r; lra.
      - apply Rinv_le_contravar; lra.
    Qed.

    Lemma resp_down_bound y :
      IZR (quotient_down (exp_down_signed (prec k) (squarings k) (response_num k num den nn y) (response_den k den) * whole)
             (two_to (prec k) + exp_up (prec k) (squarings k) num den)) / IZR whole
      <= response_mass (tilt k) e nm y.
    Proof.
      assert (Hw := whole_pos).
      destruct (exp_down_signed_bound (prec k) (squarings k) (response_num k num den nn y) _ den_pos) as [Hv Hv0].
      assert (Hq := exp_up_bound (prec k) (squarings k) num den ltac:(lia) Hden); fold e in Hq.
      unfold above, below in *; fold one in Hv, Hq. set (q := exp_up (prec k) (squarings k) num den) in *.
      apply IZR_le in Hv0. unfold response_mass. rewrite exponent. set (E := exp (- (IZR _ / _))) in *. assert (HE : 0 < E) by apply exp_pos.
      assert (Hx := exp_pos (- e)). assert (Hxo : 0 < exp (- e) * one) by now apply Rmult_lt_0_compat.
      apply div_le_iff; [assumption|]. assert (Hqp : (0 < two_to (prec k) + q)%Z).
      { apply lt_IZR; rewrite plus_IZR; fold one; lra. }
      eapply Rle_trans; [now apply quotient_down_bound|]. rewrite mult_IZR, plus_IZR; fold one.
      replace (E / (1 + exp (- e)) * IZR whole) with (E * one * IZR whole / (one + exp (- e) * one)) by (field; lra).
      unfold Rdiv; apply Rmult_le_compat.
      - apply Rmult_le_pos; lra.
      - left; apply Rinv_0_lt_compat; lra.
      - apply Rmult_le_compat_r; lra.
      - apply Rinv_le_contravar; lra.
    Qed.
  End Resp.
End Laws.
