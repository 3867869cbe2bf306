(** * The tables of counts with cells are bounds *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Uint63.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Cells Walk Tables Fixed Rows Certificate Laws.
Import ListNotations.
Open Scope R_scope.

Opaque exp_up exp_down exp_down_signed.

(** ** Tables from lists of places and masses *)

Lemma at_place_cons p v atoms y : at_place ((p, v) :: atoms) y = ((if (p =? y)%Z then v else 0) + at_place atoms y)%Z.
Proof. unfold at_place; cbn [filter fst]. destruct (p =? y)%Z; reflexivity. Qed.

Lemma one_place p (v : R) u left n :
  In p (zlist left n) -> lsum (fun y => (if (p =? y)%Z then v else 0) * u y) (zlist left n) = v * u p.
Proof.
  intros Hin; assert (Hnd := NoDup_zlist left n); revert Hin Hnd; generalize (zlist left n) as l.
  induction l as [|y l IH]; intros Hin Hnd; [destruct Hin|]. inversion Hnd; subst; cbn [lsum].
  destruct (Z.eqb_spec p y) as [<-|Hne].
  - rewrite (lsum_ext_in _ (fun _ => 0)); [rewrite lsum_zero; lra|].
    intros z Hz; destruct (Z.eqb_spec p z) as [<-|]; [contradiction | lra].
  - destruct Hin as [E|Hin]; [congruence|]. rewrite IH by assumption; lra.
Qed.

(** The same sum by atoms and by places. *)
Lemma sum_by_places left n atoms (u : Z -> R) :
  in_window left n atoms = true ->
  lsum (fun y => IZR (at_place atoms y) / IZR whole * u y) (zlist left n)
  = lsum (fun pv => IZR (snd pv) / IZR whole * u (fst pv)) atoms.
Proof.
  induction atoms as [|[p v] atoms IH]; cbn [in_window forallb fst].
  - intros _; cbn. rewrite (lsum_ext _ (fun _ => 0)); [apply lsum_zero | intros; unfold Rdiv; ring].
  - intros H; apply andb_prop in H; destruct H as [Hp H]. cbn [lsum fst snd]. rewrite <- IH by exact H.
    rewrite <- (one_place p (IZR v / IZR whole) u left n) by (apply in_zlist; lia).
    rewrite <- lsum_plus; apply lsum_ext; intros y. rewrite at_place_cons, plus_IZR.
    destruct (p =? y)%Z; unfold Rdiv; ring.
Qed.

Section Tables.
  Variables (c h : R) (cm : count * reading).
  Hypothesis Hlawful : lawful (fst cm).
  Let q := tilted_law c h cm.
  Let q_nonneg y : 0 <= q y. Proof. now apply tilted_law_nonneg. Qed.

  (** Each output y of the count belongs to a parent, and [atoms x] bounds all that belong to x. *)
  Lemma kids_table_above kids parent xa xn atoms (E : Z -> R) tau left n :
    (forall y, In y (kids (parent y))) ->
    (forall x u, In x (zlist xa xn) -> (forall y, 0 <= u y) ->
       lsum (fun y => q y * u (place (snd cm) y)) (kids x) <= lsum (fun pv => IZR (snd pv) / IZR whole * u (fst pv)) (atoms x)) ->
    (forall x, lsum q (kids x) <= E x) ->
    (forall l, NoDup l -> (forall x, In x l -> ~ In x (zlist xa xn)) -> lsum E l <= tau) ->
    in_window left n (flat_map atoms (zlist xa xn)) = true ->
    table_above c h cm left n (fun y => IZR (at_place (flat_map atoms (zlist xa xn)) y) / IZR whole) tau.
  Proof.
    intros Hkids Hin Hout Htau Hw A u top Hu. rewrite sum_by_places by assumption. fold q.
    assert (Hterm : forall y, 0 <= q y * u (place (snd cm) y)) by (intros; apply Rmult_le_pos; [apply q_nonneg | apply Hu]).
    set (xs := nodup Z.eq_dec (map parent (range A))).
    apply Rle_trans with (lsum (fun y => q y * u (place (snd cm) y)) (flat_map kids xs)).
    { apply lsum_incl; [assumption | apply NoDup_range|]. intros y Hy; apply in_flat_map; exists (parent y); split; [|apply Hkids].
      now apply nodup_In, in_map. }
    rewrite !lsum_flat_map.
    set (inside := fun x => if in_dec Z.eq_dec x (zlist xa xn) then true else false).
    rewrite (lsum_filter_split _ inside xs); apply Rplus_le_compat.
    - apply Rle_trans with (lsum (fun x => lsum (fun y => q y * u (place (snd cm) y)) (kids x)) (zlist xa xn)).
      + apply lsum_incl; [intros; now apply lsum_nonneg | apply NoDup_filter, NoDup_nodup|].
        intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold inside in Hx.
        destruct (in_dec _ _ _); [assumption | discriminate].
      + apply lsum_le_in; intros x Hx; apply Hin; [assumption | intros; apply Hu].
    - apply Rle_trans with (lsum E (filter (fun x => negb (inside x)) xs) * top).
      + rewrite <- lsum_scale_r; apply lsum_le; intros x.
        apply Rle_trans with (lsum q (kids x) * top).
        * rewrite <- lsum_scale_r; apply lsum_le; intros y; apply Rmult_le_compat_l; [apply q_nonneg | apply Hu].
        * apply Rmult_le_compat_r; [destruct (Hu 0%Z); lra | apply Hout].
      + apply Rmult_le_compat_r; [destruct (Hu 0%Z); lra|].
        apply Htau; [apply NoDup_filter, NoDup_nodup|].
        intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold inside in Hx.
        destruct (in_dec _ _ _); [discriminate | assumption].
  Qed.

  Lemma atoms_table_below xa xn atoms left n :
    (forall x u, In x (zlist xa xn) -> (forall y, 0 <= u y) ->
       lsum (fun pv => IZR (snd pv) / IZR whole * u (fst pv)) (atoms x) <= q x * u (place (snd cm) x)) ->
    in_window left n (flat_map atoms (zlist xa xn)) = true ->
    table_below c h cm left n (fun y => IZR (at_place (flat_map atoms (zlist xa xn)) y) / IZR whole).
  Proof.
    intros Hin Hw; destruct (list_in_range (zlist xa xn)) as [A0 HA]; exists A0; intros A u HA0 Hu.
    rewrite sum_by_places, lsum_flat_map by assumption. fold q.
    apply Rle_trans with (lsum (fun x => q x * u (place (snd cm) x)) (zlist xa xn)).
    - apply lsum_le_in; intros x Hx; now apply Hin.
    - apply lsum_incl; [intros; apply Rmult_le_pos; auto | apply NoDup_zlist | now apply HA].
  Qed.
End Tables.

(** ** The computed tables *)

Section Computed.
  Variable k : certificate.
  Hypothesis Hc2 : (0 < c_den k)%Z.
  Hypothesis Hc1 : (0 < c_num k)%Z.
  Hypothesis Hh1 : (0 < h_num k)%Z.
  Hypothesis Hh2 : (0 < h_den k)%Z.
  Variables (kind : cells) (num den m hn hd nk xa : Z) (xn b : nat).
  Hypothesis Hnum : (0 < num)%Z.
  Hypothesis Hden : (0 < den)%Z.
  Hypothesis Hhn : (0 < hn)%Z.
  Hypothesis Hhd : (0 < hd)%Z.

  Let one := IZR (two_to (prec k)).
  Let Hp : 0 < one. Proof. apply IZR_two_to_pos. Qed.
  Let Hw : 0 < IZR whole. Proof. apply whole_pos. Qed.
  Let s : R := IZR num / IZR den.
  Let step_h : R := IZR hn / IZR hd.
  Let a : R := tilt k * spacing k.
  Let nm : R := (tilt k)² * (spacing k * IZR nk / 2).
  Let d : Z := mean kind m.

  Let Hc2' : 0 < IZR (c_den k). Proof. now apply IZR_lt. Qed.
  Let Hc1' : 0 < IZR (c_num k). Proof. now apply IZR_lt. Qed.
  Let Hh1' : 0 < IZR (h_num k). Proof. now apply IZR_lt. Qed.
  Let Hh2' : 0 < IZR (h_den k). Proof. now apply IZR_lt. Qed.
  Let Hnum' : 0 < IZR num. Proof. now apply IZR_lt. Qed.
  Let Hden' : 0 < IZR den. Proof. now apply IZR_lt. Qed.
  Let Hhn' : 0 < IZR hn. Proof. now apply IZR_lt. Qed.
  Let Hhd' : 0 < IZR hd. Proof. now apply IZR_lt. Qed.
  Let Hs : 0 < s. Proof. now apply Rdiv_lt_0_compat. Qed.
  Let Ha : 0 < a. Proof. apply Rmult_lt_0_compat; now apply Rdiv_lt_0_compat. Qed.

  (** The tilted weight of an output at a place, a real number. *)
  Let weigh (x : Z) (y : R) : R := exp (- ((IZR x - IZR d)² / (2 * s) + a * y + nm)).

  Let exponent_den_pos : (0 < exponent_den k num)%Z.
  Proof. unfold exponent_den; nia. Qed.

  Lemma exponent_is x y :
    (IZR x - IZR d)² / (2 * s) + a * IZR y + nm = IZR (exponent_num k kind num den m nk x y) / IZR (exponent_den k num).
  Proof.
    unfold exponent_num, exponent_free, exponent_den, s, a, nm, tilt, spacing; fold d.
    rewrite !Z.pow_2_r. repeat rewrite ?mult_IZR, ?plus_IZR, ?minus_IZR. unfold Rsqr; field; lra.
  Qed.

  Let envelope_den_pos : (0 < envelope_den k num hn)%Z.
  Proof. unfold envelope_den; nia. Qed.

  Lemma envelope_is x :
    (IZR x - IZR d)² / (2 * s) + a * (gained s m x / step_h - 1) + nm
    = IZR (envelope_num k kind num den m hn hd nk x) / IZR (envelope_den k num hn).
  Proof.
    unfold envelope_num, exponent_free, envelope_den, exponent_den, gained, step_h, s, a, nm, tilt, spacing; fold d.
    rewrite !Z.pow_2_r. repeat rewrite ?mult_IZR, ?plus_IZR, ?minus_IZR. unfold Rsqr; field; lra.
  Qed.

  Lemma gained_over_step x :
    gained s m x / step_h = IZR (m * (2 * x - m) * den * hd) / IZR (2 * num * hn).
  Proof.
    unfold gained, step_h, s. repeat rewrite ?mult_IZR, ?minus_IZR. field; lra.
  Qed.

  Let quotient_pos : (0 < 2 * num * hn)%Z. Proof. nia. Qed.

  Lemma lower_cell_bounds x :
    step_h * IZR (lower_cell num den m hn hd x) <= gained s m x <= step_h * IZR (lower_cell num den m hn hd x + 1).
  Proof.
    assert (Hsh : 0 < step_h) by now apply Rdiv_lt_0_compat.
    assert (Hq := IZR_lt _ _ quotient_pos).
    replace (gained s m x) with (step_h * (gained s m x / step_h)) by (field; lra).
    rewrite gained_over_step. unfold lower_cell. set (t := (m * (2 * x - m) * den * hd)%Z) in *.
    set (w := (2 * num * hn)%Z) in *.
    split; apply Rmult_le_compat_l; try lra.
    - apply quotient_down_bound; assumption.
    - apply quotient_up_bound; assumption.
  Qed.

  Lemma nearest_bound x : gained s m x / step_h - 1 <= IZR (nearest num den m hn hd x).
  Proof.
    rewrite gained_over_step. unfold nearest. set (t := (m * (2 * x - m) * den * hd)%Z) in *.
    assert (Hq := IZR_lt _ _ quotient_pos).
    assert (H := quotient_up_bound (t + num * hn) (2 * num * hn) quotient_pos).
    unfold quotient_up in H; rewrite (plus_IZR ((t + num * hn) / (2 * num * hn))) in H.
    assert (H1 : IZR t / IZR (2 * num * hn) <= IZR (t + num * hn) / IZR (2 * num * hn)).
    { apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. apply IZR_le; nia. }
    set (u := IZR ((t + num * hn) / (2 * num * hn))) in *. lra.
  Qed.

  Lemma weigh_falls x y y' : y <= y' -> weigh x y' <= weigh x y.
  Proof. intros H; apply exp_mono. assert (a * y <= a * y') by (apply Rmult_le_compat_l; lra). lra. Qed.

  (** *** The envelope and its tails *)

  Let E (x : Z) : R := weigh x (gained s m x / step_h - 1) / mass s.

  Let E_is x : E x = exp (- (IZR (envelope_num k kind num den m hn hd nk x) / IZR (envelope_den k num hn))) / mass s.
  Proof. unfold E, weigh; now rewrite envelope_is. Qed.

  Let E_pos x : 0 < E x.
  Proof. apply Rdiv_lt_0_compat; [apply exp_pos | now apply mass_pos]. Qed.

  Let env := envelope_num k kind num den m hn hd nk.

  Let env_differences x y :
    (env (x + 1) - env x - (env (y + 1) - env y) = 2 * (x - y) * (den * (c_den k ^ 2 * h_den k) * hn))%Z.
  Proof. unfold env, envelope_num, exponent_free; ring. Qed.

  Let ratio_step (x y x0 y0 : Z) r :
    (env y0 - env x0 <= env y - env x)%Z -> exp (- (IZR (env y0 - env x0) / IZR (envelope_den k num hn))) <= r -> E y <= r * E x.
  Proof.
    intros Hd Hr; rewrite !E_is; fold env.
    replace (r * (exp (- (IZR (env x) / IZR (envelope_den k num hn))) / mass s))
      with (r * exp (- (IZR (env x) / IZR (envelope_den k num hn))) / mass s) by (unfold Rdiv; ring).
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat, mass_pos|].
    assert (Hed := IZR_lt _ _ envelope_den_pos).
    apply Rle_trans with (exp (- (IZR (env y - env x) / IZR (envelope_den k num hn))) * exp (- (IZR (env x) / IZR (envelope_den k num hn)))).
    - rewrite <- exp_plus; apply exp_mono; rewrite minus_IZR; right; field; lra.
    - apply Rmult_le_compat_r; [left; apply exp_pos|]. eapply Rle_trans; [|exact Hr].
      apply exp_mono, Ropp_le_contravar, Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | now apply IZR_le].
  Qed.

  Variable z : Z.
  Hypothesis Hz : (0 < z)%Z.
  Hypothesis Hmass : z = mass_down k num den b.
  Let Hz' : 0 < IZR z. Proof. now apply IZR_lt. Qed.

  Let over q e : 0 <= q -> q * one <= e -> q / mass s <= e / IZR z.
  Proof. intros; apply (over_mass k num den b); assumption. Qed.

  Let fine_ratio x next :
    end_fine k kind num den m hn hd nk x next = true ->
    let r := IZR (exp_up (prec k) (squarings k) (env next - env x) (envelope_den k num hn)) / one in
    exp (- (IZR (env next - env x) / IZR (envelope_den k num hn))) <= r /\ 0 <= r < 1
    /\ E x / (1 - r) <= IZR (end_up k kind num den m hn hd nk z x next) / IZR whole.
  Proof.
    intros Hf r; unfold end_fine in Hf; fold env in Hf.
    rewrite !Bool.andb_true_iff, !Z.leb_le, Z.ltb_lt in Hf; destruct Hf as [[H1 H2] H3].
    assert (Hup := exp_up_bound (prec k) (squarings k) _ _ H2 envelope_den_pos). unfold above in Hup; fold one in Hup.
    set (v := exp_up (prec k) (squarings k) (env next - env x) (envelope_den k num hn)) in *.
    assert (Hv := IZR_lt _ _ H3); fold one in Hv.
    assert (Hr1 : r < 1).
    { unfold r; apply Rmult_lt_reg_r with one; [assumption|]. unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_l, Rmult_1_r; lra. }
    assert (Hr0 : exp (- (IZR (env next - env x) / IZR (envelope_den k num hn))) <= r) by (apply le_div_iff; assumption).
    split; [assumption|]. split; [split; [eapply Rle_trans; [left; apply exp_pos | exact Hr0] | assumption]|].
    assert (Hx := exp_up_bound (prec k) (squarings k) _ _ H1 envelope_den_pos). unfold above in Hx; fold one in Hx.
    set (w := exp_up (prec k) (squarings k) (env x) (envelope_den k num hn)) in *.
    rewrite E_is; fold env. set (e := exp (- (IZR (env x) / IZR (envelope_den k num hn)))) in *.
    assert (He : 0 < e) by apply exp_pos.
    apply Rle_trans with (IZR w / (1 - r) / IZR z).
    - replace (e / mass s / (1 - r)) with (e / (1 - r) / mass s) by (unfold Rdiv; ring).
      apply over.
      + apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra].
      + replace (e / (1 - r) * one) with (e * one * / (1 - r)) by (unfold Rdiv; ring).
        apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | assumption].
    - apply le_div_iff; [assumption|]. unfold end_up; fold env w v.
      eapply Rle_trans; [|apply quotient_up_bound; nia].
      rewrite !mult_IZR, minus_IZR; fold one. right; unfold r; field. split; [lra|]. split; lra.
  Qed.

  Let tails :
    end_fine k kind num den m hn hd nk (xa + Z.of_nat xn) (xa + Z.of_nat xn + 1) = true ->
    end_fine k kind num den m hn hd nk (xa - 1) (xa - 2) = true ->
    forall l, NoDup l -> (forall x, In x l -> ~ In x (zlist xa xn)) ->
    lsum E l <= IZR (end_up k kind num den m hn hd nk z (xa + Z.of_nat xn) (xa + Z.of_nat xn + 1)
                     + end_up k kind num den m hn hd nk z (xa - 1) (xa - 2)) / IZR whole.
  Proof.
    intros H1 H2 l Hl Hout. destruct (fine_ratio _ _ H1) as (Ha1 & Hb1 & Hc1''). destruct (fine_ratio _ _ H2) as (Ha2 & Hb2 & Hc2'').
    cbv zeta in *. rewrite plus_IZR, Rdiv_plus_distr.
    rewrite (lsum_filter_split _ (fun x => (xa <=? x)%Z)).
    apply Rplus_le_compat; (eapply Rle_trans; [|eassumption]).
    - apply geometric_tail_right; try assumption.
      + intros; left; apply E_pos.
      + intros x Hx. apply (ratio_step x (x + 1) (xa + Z.of_nat xn) (xa + Z.of_nat xn + 1)); [|assumption].
        assert (Hd := env_differences x (xa + Z.of_nat xn)).
        assert (0 <= den * (c_den k ^ 2 * h_den k) * hn)%Z by nia. nia.
      + now apply NoDup_filter.
      + intros x Hx; apply filter_In in Hx; destruct Hx as [Hx Hle%Z.leb_le].
        specialize (Hout x Hx); rewrite in_zlist in Hout; lia.
    - apply geometric_tail_left; try assumption.
      + intros; left; apply E_pos.
      + intros x Hx. apply (ratio_step x (x - 1) (xa - 1) (xa - 2)); [|assumption].
        assert (Hd := env_differences (x - 1) (xa - 2)).
        replace (x - 1 + 1)%Z with x in Hd by lia. replace (xa - 2 + 1)%Z with (xa - 1)%Z in Hd by lia.
        assert (0 <= den * (c_den k ^ 2 * h_den k) * hn)%Z by nia. nia.
      + now apply NoDup_filter.
      + intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]. destruct (Z.leb_spec xa x); [discriminate | lia].
  Qed.

  (** *** Rounded losses *)

  Section Nearest.
    Hypothesis Hkind : kind <> Split.
    Let read := Reading 1 (nearest num den m hn hd) 0 nm.
    Variable ct : count.
    Hypothesis Hct : forall x, P1 ct x = gaussian s (x - d).
    Let cm : count * reading := (ct, read).
    Hypothesis Hlawful : lawful (fst cm).

    Let tilted_near x : tilted_law (tilt k) (spacing k) cm x = weigh x (IZR (nearest num den m hn hd x)) / mass s.
    Proof.
      unfold tilted_law, cm, read; cbn [fst snd step place norm]. rewrite Hct. unfold gaussian, weight, weigh; fold a.
      rewrite Z.mul_1_l, minus_IZR, !Ropp_plus_distr, !exp_plus.
      replace (- (IZR x - IZR d)² / (2 * s)) with (- ((IZR x - IZR d)² / (2 * s))) by (unfold Rdiv; ring).
      unfold Rdiv; ring.
    Qed.

    Lemma near_table_above left n :
      exponents_fine k kind num den m hn hd nk xa xn = true ->
      in_window left n (flat_map (near_atoms_up k kind num den m hn hd nk z) (zlist xa xn)) = true ->
      end_fine k kind num den m hn hd nk (xa + Z.of_nat xn) (xa + Z.of_nat xn + 1) = true ->
      end_fine k kind num den m hn hd nk (xa - 1) (xa - 2) = true ->
      table_above (tilt k) (spacing k) cm left n
        (fun y => IZR (at_place (flat_map (near_atoms_up k kind num den m hn hd nk z) (zlist xa xn)) y) / IZR whole)
        (IZR (end_up k kind num den m hn hd nk z (xa + Z.of_nat xn) (xa + Z.of_nat xn + 1)
              + end_up k kind num den m hn hd nk z (xa - 1) (xa - 2)) / IZR whole).
    Proof.
      intros Hfine Hin H1 H2.
      apply (kids_table_above (tilt k) (spacing k) cm Hlawful (fun x => [x]) (fun y => y) xa xn _ E); try assumption.
      - intros; now left.
      - intros x u Hx Hu; cbn [near_atoms_up lsum fst snd]. rewrite !Rplus_0_r.
        replace (place (snd cm) x) with (nearest num den m hn hd x) by reflexivity.
        apply Rmult_le_compat_r; [apply Hu|]. rewrite tilted_near.
        unfold exponents_fine in Hfine; rewrite forallb_forall in Hfine. specialize (Hfine x Hx); apply Z.leb_le in Hfine.
        assert (Hf : fine_place kind num den m hn hd x = nearest num den m hn hd x) by (unfold fine_place; destruct kind; congruence).
        rewrite Hf in Hfine. set (y := nearest num den m hn hd x) in *.
        assert (Hup := exp_up_bound (prec k) (squarings k) _ _ Hfine exponent_den_pos). unfold above in Hup; fold one in Hup.
        rewrite <- exponent_is in Hup; fold (weigh x (IZR y)) in Hup.
        apply le_div_iff; [assumption|]. eapply Rle_trans; [|apply quotient_up_bound; assumption]. rewrite mult_IZR.
        set (v := IZR (exp_up _ _ _ _)) in *.
        replace (v * IZR whole / IZR z) with (v / IZR z * IZR whole) by (field; lra).
        apply Rmult_le_compat_r; [lra|]. apply over; [left; apply exp_pos | exact Hup].
      - intros x; cbn [lsum]; rewrite Rplus_0_r, tilted_near.
        apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat, mass_pos|].
        apply weigh_falls, nearest_bound.
      - intros l Hl Hout; now apply tails.
    Qed.

    Lemma near_table_below left n zu :
      (fall_up k num den b < two_to (prec k))%Z -> zu = mass_up k num den b ->
      in_window left n (flat_map (near_atoms_down k kind num den m hn hd nk zu) (zlist xa xn)) = true ->
      table_below (tilt k) (spacing k) cm left n
        (fun y => IZR (at_place (flat_map (near_atoms_down k kind num den m hn hd nk zu) (zlist xa xn)) y) / IZR whole).
    Proof.
      intros Hfall -> Hin. assert (Hm := mass_pos s Hs).
      assert (Hb := mass_up_bound k num den b Hnum Hden Hfall); unfold above in Hb; fold one in Hb.
      change (IZR num / IZR den) with s in Hb.
      set (zu := mass_up k num den b) in *.
      assert (Hzu' : 0 < IZR zu) by (apply Rlt_le_trans with (mass s * one); [now apply Rmult_lt_0_compat | assumption]).
      assert (Hzu := lt_IZR _ _ Hzu').
      apply atoms_table_below; try assumption.
      intros x u _ Hu; cbn [near_atoms_down lsum fst snd]. rewrite Rplus_0_r.
      replace (place (snd cm) x) with (nearest num den m hn hd x) by reflexivity.
      apply Rmult_le_compat_r; [apply Hu|]. rewrite tilted_near. set (y := nearest num den m hn hd x).
      destruct (exp_down_signed_bound (prec k) (squarings k) (exponent_num k kind num den m nk x y) _ exponent_den_pos) as [Hd _].
      unfold below in Hd; fold one in Hd. rewrite <- exponent_is in Hd; fold (weigh x (IZR y)) in Hd.
      apply div_le_iff; [assumption|]. eapply Rle_trans; [now apply quotient_down_bound|]. rewrite mult_IZR.
      assert (H0 : 0 < weigh x (IZR y)) by apply exp_pos.
      apply div_le_iff; [assumption|].
      apply Rle_trans with (weigh x (IZR y) * one * IZR whole); [apply Rmult_le_compat_r; lra|].
      replace (weigh x (IZR y) * one * IZR whole) with (weigh x (IZR y) / mass s * IZR whole * (mass s * one)) by (field; lra).
      apply Rmult_le_compat_l; [|assumption].
      apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat].
    Qed.
  End Nearest.

  (** *** Split counts *)

  Section Split.
    Hypothesis Hkind : kind = Split.
    Let cell := lower_cell num den m hn hd.
    Let read := Reading 1 (part_cell cell) 0 nm.
    Let cm : count * reading := (SplitCount s step_h m cell, read).

    Let step_pos : 0 < step_h. Proof. now apply Rdiv_lt_0_compat. Qed.
    Let cell_ok : forall x, step_h * IZR (cell x) <= gained s m x <= step_h * IZR (cell x + 1).
    Proof. exact lower_cell_bounds. Qed.
    Let no_mean : d = 0%Z. Proof. unfold d; now rewrite Hkind. Qed.

    Let q_of x : tilted_law (tilt k) (spacing k) cm (2 * x) = weigh x (IZR (cell x)) / mass s * (1 - upper_part s step_h m cell x)
      /\ tilted_law (tilt k) (spacing k) cm (2 * x + 1) = weigh x (IZR (cell x + 1)) / mass s * upper_part s step_h m cell x.
    Proof.
      destruct (even_half x) as (E1 & E2 & E3 & E4). destruct (split_P_of s step_h m cell x) as [P1' P2'].
      unfold tilted_law, cm, read; cbn [fst snd P1 SplitCount step place norm]. rewrite P1', P2'.
      unfold part_cell; rewrite E1, E2, E3, E4. unfold gaussian, weight, weigh; fold a.
      rewrite !Z.mul_1_l, no_mean, !Rminus_0_r, !Ropp_plus_distr, !exp_plus.
      replace (- (IZR x)² / (2 * s)) with (- ((IZR x)² / (2 * s))) by (unfold Rdiv; ring).
      unfold Rdiv; split; ring.
    Qed.

    (** The rest of the cell above the loss. *)
    Let above_part x : R := step_h * IZR (cell x + 1) - gained s m x.
    Let gap_num x : Z := (hn * (2 * num * hn - (m * (2 * x - m) * den * hd) mod (2 * num * hn)))%Z.

    Let above_part_is x : above_part x = IZR (gap_num x) / IZR (hd * (2 * num * hn)) /\ (0 <= gap_num x)%Z.
    Proof.
      assert (Hq := IZR_lt _ _ quotient_pos).
      unfold above_part, gap_num, cell, lower_cell. set (t := (m * (2 * x - m) * den * hd)%Z).
      assert (Hb := Z.mod_pos_bound t (2 * num * hn) quotient_pos).
      assert (Hd := Z.div_mod t (2 * num * hn) ltac:(lia)).
      split; [|nia].
      replace (gained s m x) with (step_h * (gained s m x / step_h)) by (field; lra).
      rewrite gained_over_step; fold t. unfold step_h.
      set (w := (2 * num * hn)%Z) in *. set (u := (t / w)%Z) in *. set (v := (t mod w)%Z) in *.
      rewrite Hd. rewrite !mult_IZR, minus_IZR, !plus_IZR, mult_IZR. field. lra.
    Qed.

    Let parts x : 1 - upper_part s step_h m cell x = (1 - exp (- above_part x)) / (1 - exp (- step_h))
      /\ upper_part s step_h m cell x = (exp (- above_part x) - exp (- step_h)) / (1 - exp (- step_h)).
    Proof.
      assert (He := exp_h step_h step_pos). assert (H0 := exp_pos step_h).
      assert (E1 : exp (gained s m x - step_h * IZR (cell x)) = exp step_h * exp (- above_part x)).
      { rewrite <- exp_plus; f_equal. unfold above_part; rewrite plus_IZR; ring. }
      assert (E2 : exp (- step_h) = / exp step_h) by apply exp_Ropp.
      unfold upper_part; rewrite E1, E2. set (X := exp (- above_part x)). set (Y := exp step_h) in *.
      assert (1 - / Y <> 0).
      { intros Hno. apply (f_equal (fun v => v * Y)) in Hno. rewrite Rmult_minus_distr_r, Rinv_l in Hno by lra. lra. }
      split; field; lra.
    Qed.

    Lemma split_table_above left n :
      let fall := exp_up (prec k) (squarings k) (c_num k * h_num k) (c_den k * h_den k) in
      let keep_up := exp_up (prec k) small hn hd in
      let keep_down := exp_down (prec k) small hn hd in
      (keep_up < two_to (prec k))%Z ->
      exponents_fine k kind num den m hn hd nk xa xn = true ->
      in_window left n (flat_map (split_atoms_up k kind num den m hn hd nk z fall keep_up keep_down) (zlist xa xn)) = true ->
      end_fine k kind num den m hn hd nk (xa + Z.of_nat xn) (xa + Z.of_nat xn + 1) = true ->
      end_fine k kind num den m hn hd nk (xa - 1) (xa - 2) = true ->
      table_above (tilt k) (spacing k) cm left n
        (fun y => IZR (at_place (flat_map (split_atoms_up k kind num den m hn hd nk z fall keep_up keep_down) (zlist xa xn)) y) / IZR whole)
        (IZR (end_up k kind num den m hn hd nk z (xa + Z.of_nat xn) (xa + Z.of_nat xn + 1)
              + end_up k kind num den m hn hd nk z (xa - 1) (xa - 2)) / IZR whole).
    Proof.
      intros fall keep_up keep_down Hkeep Hfine Hin H1 H2.
      assert (Hlawful : lawful (fst cm)) by now apply SplitCount_lawful.
      assert (Hms := mass_pos s Hs).
      apply (kids_table_above (tilt k) (spacing k) cm Hlawful pair_of (fun y => (y / 2)%Z) xa xn _ E); try assumption.
      - intros y; assert (D := Z.div_mod y 2 ltac:(lia)). assert (B := Z.mod_pos_bound y 2 ltac:(lia)). unfold pair_of.
        set (q := (y / 2)%Z) in *. assert (y mod 2 = 0 \/ y mod 2 = 1)%Z as [C|C] by lia; rewrite C in D;
          [left | right; left]; lia.
      - intros x u Hx Hu. unfold pair_of, split_atoms_up; cbn [lsum fst snd]. fold cell.
        destruct (q_of x) as [-> ->]. destruct (even_half x) as (E1 & E2 & E3 & E4).
        cbn [snd cm read place]; unfold part_cell; rewrite E1, E2, E3, E4. rewrite !Rplus_0_r.
        unfold exponents_fine in Hfine; rewrite forallb_forall in Hfine. specialize (Hfine x Hx); apply Z.leb_le in Hfine.
        assert (Hf : fine_place kind num den m hn hd x = cell x) by (unfold fine_place; now rewrite Hkind).
        rewrite Hf in Hfine.
        assert (Hup := exp_up_bound (prec k) (squarings k) _ _ Hfine exponent_den_pos). unfold above in Hup; fold one in Hup.
        rewrite <- exponent_is in Hup; fold (weigh x (IZR (cell x))) in Hup.
        set (v := exp_up (prec k) (squarings k) (exponent_num k kind num den m nk x (cell x)) (exponent_den k num)) in *.
        destruct (above_part_is x) as [Eg Hg]. unfold gap_num in Eg, Hg.
        set (gap := (hn * (2 * num * hn - (m * (2 * x - m) * den * hd) mod (2 * num * hn)))%Z) in *.
        assert (Hgd : (0 < hd * (2 * num * hn))%Z) by nia.
        destruct (exp_down_bound (prec k) small gap _ Hg Hgd) as [Hbd _].
        assert (Hbu := exp_up_bound (prec k) small gap _ Hg Hgd).
        unfold above in Hbu; unfold below in Hbd; fold one in Hbu, Hbd. rewrite <- Eg in Hbu, Hbd.
        set (bu := exp_up (prec k) small gap (hd * (2 * num * hn))) in *. set (bd := exp_down (prec k) small gap (hd * (2 * num * hn))) in *.
        assert (Hku := exp_up_bound (prec k) small hn hd ltac:(lia) Hhd). destruct (exp_down_bound (prec k) small hn hd ltac:(lia) Hhd) as [Hkd _].
        unfold above in Hku; unfold below in Hkd; fold one keep_up keep_down step_h in Hku, Hkd.
        assert (Hfall : above (prec k) (exp (- a)) fall).
        { replace a with (IZR (c_num k * h_num k) / IZR (c_den k * h_den k)) by (unfold a, tilt, spacing; rewrite !mult_IZR; field; lra).
          apply exp_up_bound; nia. }
        assert (Hnext : above (prec k) (weigh x (IZR (cell x + 1))) (scale_up (prec k) (v * fall))).
        { replace (weigh x (IZR (cell x + 1))) with (weigh x (IZR (cell x)) * exp (- a)).
          - apply above_mult; try (left; apply exp_pos); assumption.
          - unfold weigh; rewrite <- exp_plus, plus_IZR; f_equal; ring. }
        unfold above in Hnext; fold one in Hnext.
        set (v' := scale_up (prec k) (v * fall)) in *.
        assert (Hk := IZR_lt _ _ Hkeep); fold one in Hk.
        assert (Hden1 : 0 < 1 - exp (- step_h)).
        { assert (exp (- step_h) < exp 0) by (apply exp_increasing; lra). rewrite exp_0 in *; lra. }
        assert (Hx1 : exp (- above_part x) <= 1).
        { rewrite <- exp_0; apply exp_mono. unfold above_part. destruct (cell_ok x); lra. }
        assert (Hx2 : exp (- step_h) <= exp (- above_part x)).
        { apply exp_mono; unfold above_part. destruct (cell_ok x) as [Hc _]. rewrite plus_IZR; lra. }
        set (EX := exp (- above_part x)) in *. set (EH := exp (- step_h)) in *.
        assert (Hatom : forall y w p t, 0 < weigh x y -> weigh x y * one <= IZR w -> 0 <= p -> p * one <= IZR t ->
          weigh x y / mass s * (p / (1 - EH)) <= IZR (quotient_up (w * t * whole) ((two_to (prec k) - keep_up) * z)) / IZR whole).
        { intros y w p t Hw0 Hww Hp0 Hpt. apply le_div_iff; [assumption|].
          eapply Rle_trans; [|apply quotient_up_bound; nia]. rewrite !mult_IZR, minus_IZR; fold one.
          replace (IZR w * IZR t * IZR whole / ((one - IZR keep_up) * IZR z)) with (IZR w / IZR z * (IZR t / (one - IZR keep_up)) * IZR whole)
            by (field; lra).
          apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat.
          - apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat].
          - apply Rmult_le_pos; [assumption | left; now apply Rinv_0_lt_compat].
          - apply over; [lra | assumption].
          - apply Rle_trans with (IZR t / ((1 - EH) * one)).
            + apply le_div_iff; [now apply Rmult_lt_0_compat|].
              replace (p / (1 - EH) * ((1 - EH) * one)) with (p * one) by (field; lra). assumption.
            + apply Rmult_le_compat_l; [apply Rle_trans with (p * one); [apply Rmult_le_pos; lra | assumption]|].
              apply Rinv_le_contravar; lra. }
        destruct (parts x) as [-> ->]; fold EX EH.
        apply Rplus_le_compat; (apply Rmult_le_compat_r; [apply Hu|]); apply Hatom; try apply exp_pos; try assumption; try lra.
        + rewrite minus_IZR; fold one; lra.
        + rewrite minus_IZR; lra.
      - intros x; unfold pair_of; cbn [lsum]. rewrite Rplus_0_r. destruct (q_of x) as [-> ->].
        destruct (upper_part_bounds s step_h m cell step_pos cell_ok x) as [Hu0 Hu1]. set (up := upper_part s step_h m cell x) in *.
        destruct (cell_ok x) as [_ Hc].
        assert (Hlow : gained s m x / step_h - 1 <= IZR (cell x)).
        { rewrite plus_IZR in Hc. assert (gained s m x / step_h <= IZR (cell x) + 1); [|lra].
          apply div_le_iff; [assumption | lra]. }
        assert (Hw0 := weigh_falls x _ _ Hlow).
        assert (Hw1 : weigh x (IZR (cell x + 1)) <= weigh x (gained s m x / step_h - 1)) by (apply weigh_falls; rewrite plus_IZR; lra).
        unfold E. set (W := weigh x (gained s m x / step_h - 1)) in *. set (W0 := weigh x (IZR (cell x))) in *.
        set (W1 := weigh x (IZR (cell x + 1))) in *.
        replace (W0 / mass s * (1 - up) + W1 / mass s * up) with ((W0 * (1 - up) + W1 * up) / mass s) by (unfold Rdiv; ring).
        apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. nra.
      - intros l Hl Hout; now apply tails.
    Qed.
  End Split.
End Computed.
