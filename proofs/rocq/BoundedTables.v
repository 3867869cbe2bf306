(** * The tables of bounded noise are bounds *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Uint63.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Directions Walk Tables Response Bounded Fixed Rows Certificate Laws CellTables.
Import ListNotations.
Open Scope R_scope.

Opaque exp_up exp_down exp_up_signed exp_down_signed.

Section Bounded.
  Variable k : certificate.
  Hypothesis Hc2 : (0 < c_den k)%Z.
  Hypothesis Hh2 : (0 < h_den k)%Z.
  Variables (kind : bounded) (num den b nn m st : Z).
  Hypothesis Hnum : (0 < num)%Z.
  Hypothesis Hden : (0 < den)%Z.

  Let one := IZR (two_to (prec k)).
  Let Hp : 0 < one. Proof. apply IZR_two_to_pos. Qed.
  Let Hw : 0 < IZR whole. Proof. apply whole_pos. Qed.
  Let Hc2' : 0 < IZR (c_den k). Proof. now apply IZR_lt. Qed.
  Let Hh2' : 0 < IZR (h_den k). Proof. now apply IZR_lt. Qed.
  Let Hnum' : 0 < IZR num. Proof. now apply IZR_lt. Qed.
  Let Hden' : 0 < IZR den. Proof. now apply IZR_lt. Qed.
  Let Hu : 0 < IZR norm_unit. Proof. apply IZR_lt; reflexivity. Qed.
  Let w := own_weight kind num den.

  Lemma own_weight_pos x : 0 < own_weight kind num den x.
  Proof. destruct kind; [apply weight_pos | apply geometric_pos | apply answer_pos]. Qed.

  Lemma other_weight_pos x : 0 < other_weight kind num den m x.
  Proof. destruct kind; [apply weight_pos | apply geometric_pos | apply answer_pos]. Qed.

  Let energy_den_pos : (0 < energy_den kind num den)%Z.
  Proof. unfold energy_den; destruct kind; lia. Qed.

  Let energy_num_nonneg x : (0 <= energy_num kind num den x)%Z.
  Proof. unfold energy_num; destruct kind; [nia | nia | destruct (x =? 0)%Z; lia]. Qed.

  Lemma own_weight_is x : own_weight kind num den x = exp (- (IZR (energy_num kind num den x) / IZR (energy_den kind num den))).
  Proof.
    unfold energy_num, energy_den; destruct kind; cbn [own_weight].
    - unfold weight; f_equal; rewrite !mult_IZR; unfold Rsqr; field; lra.
    - unfold geometric; f_equal. rewrite mult_IZR, abs_IZR; field; lra.
    - unfold answer; destruct (x =? 0)%Z; [|reflexivity]. unfold Rdiv; now rewrite Rmult_0_l, Ropp_0, exp_0.
  Qed.

  (** ** Sums of weights *)

  Lemma weights_up_bound l : above (prec k) (lsum w l) (weights_up k kind num den l).
  Proof.
    unfold above, weights_up, w; rewrite IZR_zsum, <- lsum_scale_r; apply lsum_le; intros x. rewrite own_weight_is.
    now apply exp_up_bound.
  Qed.

  Lemma weights_down_bound l : below (prec k) (lsum w l) (weights_down k kind num den l).
  Proof.
    unfold below, weights_down, w; rewrite IZR_zsum, <- lsum_scale_r; apply lsum_le; intros x. rewrite own_weight_is.
    now apply exp_down_bound.
  Qed.

  Lemma weights_down_nonneg l : (0 <= weights_down k kind num den l)%Z.
  Proof.
    unfold weights_down; induction l as [|x l IH]; cbn [map zsum fold_right]; [lia|].
    destruct (exp_down_bound (prec k) (squarings k) (energy_num kind num den x) (energy_den kind num den)) as [_ H]; [apply energy_num_nonneg | exact energy_den_pos|].
    unfold zsum in IH; lia.
  Qed.

  (** A quotient of bounds. *)
  Lemma quotient_of_bounds_up x y v z f :
    0 <= x -> 0 < y -> above (prec k) x v -> below (prec k) y z -> (0 < z)%Z -> (0 < f)%Z ->
    x / y * IZR f <= IZR (quotient_up (v * f) z).
  Proof.
    unfold above, below; fold one; intros Hx Hy Hv Hz Hz0 Hf. eapply Rle_trans; [|now apply quotient_up_bound]. rewrite mult_IZR.
    apply IZR_lt in Hz0, Hf. apply le_div_iff; [assumption|].
    replace (x / y * IZR f * IZR z) with (x * IZR f * / y * IZR z) by (unfold Rdiv; ring).
    apply Rle_trans with (x * IZR f * / y * (y * one)).
    - apply Rmult_le_compat_l; [|assumption]. apply Rmult_le_pos; [apply Rmult_le_pos; lra | left; now apply Rinv_0_lt_compat].
    - replace (x * IZR f * / y * (y * one)) with (x * one * IZR f) by (field; lra). apply Rmult_le_compat_r; lra.
  Qed.

  Lemma quotient_of_bounds_down x y v z f :
    0 <= x -> 0 < y -> below (prec k) x v -> above (prec k) y z -> (0 < f)%Z ->
    IZR (quotient_down (v * f) z) <= x / y * IZR f.
  Proof.
    unfold above, below; fold one; intros Hx Hy Hv Hz Hf.
    assert (Hz' : 0 < IZR z) by (apply Rlt_le_trans with (y * one); [now apply Rmult_lt_0_compat | assumption]).
    assert (Hz0 := lt_IZR _ _ Hz'). eapply Rle_trans; [now apply quotient_down_bound|]. rewrite mult_IZR. apply IZR_lt in Hf.
    apply div_le_iff; [assumption|].
    apply Rle_trans with (x * one * IZR f); [apply Rmult_le_compat_r; lra|].
    replace (x * one * IZR f) with (x / y * IZR f * (y * one)) by (field; lra).
    apply Rmult_le_compat_l; [|assumption].
    apply Rmult_le_pos; [apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat] | lra].
  Qed.

  (** ** The probability of an output that one neighbor cannot have *)

  Hypothesis Hmove : kind <> OneOf -> (0 < m <= 2 * b)%Z.

  Definition lost_share : R := match kind with OneOf => 0 | _ => lost w b m end.

  Let lost_bounds : kind <> OneOf -> 0 <= lost w b m <= 1 /\ 0 < lsum w (zlist (- b) (outputs b)).
  Proof.
    intros Hk; assert (H := Hmove Hk); unfold lost. set (part := lsum w (zlist (- b) (Z.to_nat m))). set (full := lsum w (zlist (- b) (outputs b))).
    assert (H0 : 0 <= part) by (apply lsum_nonneg; intros; left; apply own_weight_pos).
    assert (H1 : part <= full).
    { apply lsum_incl; [intros; left; apply own_weight_pos | apply NoDup_zlist|]. intros x; rewrite !in_zlist; unfold outputs; lia. }
    assert (H2 : 0 < full) by (apply weights_pos; [apply own_weight_pos | unfold outputs; lia]).
    split; [|assumption]. split; [apply Rmult_le_pos; [assumption | left; now apply Rinv_0_lt_compat]|].
    now apply div_le_iff; [|rewrite Rmult_1_l].
  Qed.

  Let lost_up_truncated :
    kind <> OneOf ->
    lost w b m * one <= IZR (let z := weights_down k kind num den (zlist (- b) (outputs b)) in
      if (0 <? z)%Z then quotient_up (weights_up k kind num den (zlist (- b) (Z.to_nat m)) * two_to (prec k)) z else two_to (prec k)).
  Proof.
    intros Hk; destruct (lost_bounds Hk) as [[H0 H1] H2]; cbv zeta. set (z := weights_down k kind num den (zlist (- b) (outputs b))).
    destruct (Z.ltb_spec 0 z) as [Hz|Hz].
    - unfold lost; apply quotient_of_bounds_up; try assumption;
        [apply lsum_nonneg; intros; left; apply own_weight_pos | apply weights_up_bound | apply weights_down_bound | apply two_to_pos].
    - fold one; apply Rle_trans with (1 * one); [apply Rmult_le_compat_r; lra | lra].
  Qed.

  Let lost_down_truncated :
    kind <> OneOf ->
    IZR (quotient_down (weights_down k kind num den (zlist (- b) (Z.to_nat m)) * two_to (prec k)) (weights_up k kind num den (zlist (- b) (outputs b))))
    <= lost w b m * one.
  Proof.
    intros Hk; destruct (lost_bounds Hk) as [_ H2]. unfold lost; apply quotient_of_bounds_down; try assumption;
      [apply lsum_nonneg; intros; left; apply own_weight_pos | apply weights_down_bound | apply weights_up_bound | apply two_to_pos].
  Qed.

  Lemma lost_up_bound : above (prec k) lost_share (lost_up k kind num den b m).
  Proof.
    unfold above, lost_share, lost_up; fold one; generalize lost_up_truncated.
    destruct kind; intros H; [apply H; discriminate | apply H; discriminate | lra].
  Qed.

  Lemma lost_down_bound : below (prec k) lost_share (lost_down k kind num den b m).
  Proof.
    unfold below, lost_share, lost_down; fold one; generalize lost_down_truncated.
    destruct kind; intros H; [apply H; discriminate | apply H; discriminate | lra].
  Qed.

  (** ** The table *)

  Let xs := common_outputs kind b m.
  Hypothesis Hmany : kind = OneOf -> (2 <= b)%Z.

  Let commons_pos : (0 < commons kind b m)%nat.
  Proof.
    unfold commons; destruct kind eqn:Ek; [| |generalize (Hmany eq_refl); lia];
      (unfold overlap; assert (H := Hmove ltac:(congruence)); lia).
  Qed.

  Lemma common_lawful : lawful (common_count kind num den b m).
  Proof.
    split; cbn [P1 Q1 common_count common_part]; apply within_is_law; try exact commons_pos;
      [apply own_weight_pos | apply other_weight_pos].
  Qed.

  (** The norm. *)
  Let nm : R := (tilt k)² * (spacing k * (IZR nn / IZR norm_unit) / 2).
  Variable bs : R.
  Definition common_reading : reading := Reading st (common_place kind m) bs nm.
  Let cm := (common_count kind num den b m, common_reading).

  Let sum : R := lsum w xs.
  Let sum_pos : 0 < sum.
  Proof. unfold sum, xs, common_outputs; apply weights_pos; [apply own_weight_pos | exact commons_pos]. Qed.

  Let tilted_weight (x : Z) : R := exp (- (IZR (bounded_num k kind num den nn m st x) / IZR (bounded_den k kind num den))).

  Let den_pos : (0 < bounded_den k kind num den)%Z.
  Proof. unfold bounded_den; rewrite Z.pow_2_r. repeat apply Z.mul_pos_pos; try assumption; reflexivity. Qed.

  Lemma common_tilted x : In x xs -> tilted_law (tilt k) (spacing k) cm x = tilted_weight x / sum.
  Proof.
    intros Hx; apply in_span_spec in Hx; unfold tilted_law, cm, common_reading; cbn [fst snd P1 common_count common_part step place norm].
    unfold within; rewrite Hx. fold w. fold xs. replace (lsum w (zlist (first_common kind b m) (commons kind b m))) with sum by reflexivity.
    unfold w; rewrite own_weight_is. unfold tilted_weight, Rdiv at 1.
    assert (He := energy_den_pos); apply IZR_lt in He.
    replace (IZR (bounded_num k kind num den nn m st x) / IZR (bounded_den k kind num den))
      with (IZR (energy_num kind num den x) / IZR (energy_den kind num den) + tilt k * spacing k * IZR (st * common_place kind m x) + nm).
    - rewrite !Ropp_plus_distr, !exp_plus; unfold Rdiv; ring.
    - unfold bounded_num, bounded_den, nm, tilt, spacing. rewrite !Z.pow_2_r.
      repeat (rewrite plus_IZR || rewrite mult_IZR). unfold Rsqr; field; lra.
  Qed.

  Lemma common_tilted_outside x : ~ In x xs -> tilted_law (tilt k) (spacing k) cm x = 0.
  Proof.
    intros Hx; unfold tilted_law, cm; cbn [fst P1 common_count common_part]. unfold within.
    unfold xs, common_outputs in Hx; rewrite (outside_span _ _ _ Hx). ring.
  Qed.

  Lemma bounded_atoms_up_spec z l atoms :
    bounded_atoms_up k kind num den nn m st z l = Some atoms ->
    exists f, atoms = flat_map (fun x => [(common_place kind m x, f x)]) l
              /\ forall x, In x l -> exists v, above (prec k) (tilted_weight x) v /\ f x = quotient_up (v * whole) z.
  Proof.
    set (f := fun x => match exp_up_signed (prec k) (squarings k) (bounded_num k kind num den nn m st x) (bounded_den k kind num den) with
                       | Some v => quotient_up (v * whole) z | None => 0%Z end).
    intros H; exists f; revert atoms H; induction l as [|x l IH]; cbn [bounded_atoms_up flat_map app].
    - intros atoms [= <-]; split; [reflexivity | intros x []].
    - destruct (exp_up_signed _ _ _ _) as [v|] eqn:E; [|discriminate].
      destruct (bounded_atoms_up _ _ _ _ _ _ _ _ l) as [rest|]; [|discriminate]. intros atoms [= <-].
      destruct (IH rest eq_refl) as [-> H]. assert (Ef : f x = quotient_up (v * whole) z) by (unfold f; now rewrite E).
      split; [now rewrite Ef|]. intros y [<-|Hy]; [|auto]. exists v; split; [|assumption].
      now apply exp_up_signed_bound in E.
  Qed.

  Lemma bounded_up_sound a n l t :
    bounded_table_up k kind num den b nn m st a n = Some (l, t) ->
    exists f, l = map f (zlist a n) /\ table_above (tilt k) (spacing k) cm a n (fun y => IZR (f y) / IZR whole) (IZR t / IZR whole).
  Proof.
    unfold bounded_table_up; fold xs. set (z := weights_down k kind num den xs).
    destruct (bounded_atoms_up _ _ _ _ _ _ _ z xs) as [atoms|] eqn:E; [|discriminate].
    destruct (Z.ltb_spec 0 z) as [Hz|]; [|discriminate]. cbn [andb]. destruct (in_window a n atoms) eqn:Hin; [|discriminate]. intros [= <- <-].
    exists (at_place atoms); split; [reflexivity|]. replace (0 / IZR whole) with 0 by (unfold Rdiv; ring).
    destruct (bounded_atoms_up_spec z xs atoms E) as (f & Ha & Hf). rewrite Ha in Hin |- *. unfold xs, common_outputs in *.
    apply (kids_table_above (tilt k) (spacing k) cm common_lawful (fun x => [x]) (fun x => x) _ _ _ (tilted_law (tilt k) (spacing k) cm)); try assumption.
    - intros; now left.
    - intros x u Hx Hpos; cbn [lsum fst snd]. rewrite !Rplus_0_r. apply Rmult_le_compat_r; [apply Hpos|].
      destruct (Hf x Hx) as (v & Hv & ->). rewrite common_tilted by assumption. apply le_div_iff; [assumption|].
      apply quotient_of_bounds_up; try assumption; [left; apply exp_pos | apply weights_down_bound | reflexivity].
    - intros x; cbn [lsum]; rewrite Rplus_0_r; lra.
    - intros l' _ Hout. rewrite (lsum_ext_in _ (fun _ => 0)); [rewrite lsum_zero; lra|].
      intros x Hx; now apply common_tilted_outside, Hout.
  Qed.

  Lemma bounded_down_sound a n l :
    bounded_table_down k kind num den b nn m st a n = Some l ->
    exists f, l = map f (zlist a n) /\ table_below (tilt k) (spacing k) cm a n (fun y => IZR (f y) / IZR whole).
  Proof.
    unfold bounded_table_down; fold xs. set (z := weights_up k kind num den xs).
    destruct (in_window _ _ _) eqn:Hin; [|discriminate]. intros [= <-].
    eexists; split; [reflexivity|]. unfold xs, common_outputs in *. apply atoms_table_below; [exact common_lawful | | exact Hin].
    intros x u Hx Hpos; cbn [bounded_atoms_down lsum fst snd]. rewrite Rplus_0_r. apply Rmult_le_compat_r; [apply Hpos|].
    rewrite common_tilted by assumption. apply div_le_iff; [assumption|].
    apply quotient_of_bounds_down; try assumption; [left; apply exp_pos | | apply weights_up_bound | reflexivity].
    now apply exp_down_signed_bound.
  Qed.
End Bounded.
