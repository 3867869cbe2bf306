(** * What the computation of Certificate.v answers is true: lower ends

    The same walk with lower bounds. Rows are windows of the lattice and not circles: what leaves the window is left out, and so are
    outputs outside of the tables. All of it is positive, so that nothing is added for it. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Uint63.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Directions Private Cells Walk Tables Fixed Rows Certificate Laws CellTables AnyLaw Soundness.
Import ListNotations.
Open Scope R_scope.

Opaque exp_up exp_down.

Lemma cell_nonneg u start i : (0 <= cell u start i)%Z.
Proof. unfold cell; destruct (_ <=? _)%Z; [apply to_Z_bounded | lia]. Qed.

Section Rows.
  Variable k : certificate.
  Hypothesis Hdata : positive_data k = true.
  Let n := period k.
  Let unit := grain k.
  Variable gain : Z -> R.

  Let unit_pos : 0 < unit. Proof. apply grain_pos. Qed.

  (** A row is below the walk through some counts, on its window; outside of it the cells are zero. *)
  Definition bounds_below (rest : steps) (u : row) (start : Z) : Prop :=
    length u = n /\ (forall j, (entry u j <= top)%Z)
    /\ exists A0, forall A i, (A0 <= A)%nat ->
         unit * IZR (cell u start i) <= walked (tilt k) (spacing k) gain rest A i.

  Lemma walked_nonneg rest A i :
    Forall (fun cm => lawful (fst cm)) rest -> (forall j, 0 <= gain j) -> 0 <= walked (tilt k) (spacing k) gain rest A i.
  Proof.
    intros H Hg; unfold walked; apply Rmult_le_pos; [apply Rmult_le_pos|]; try (left; apply exp_pos).
    apply value_nonneg; [|assumption]. now apply Forall_map.
  Qed.

  Hypothesis Hgain : forall i, 0 <= gain i.

  Lemma next_bounds_below g d l rest u start :
    Forall (fun cm => lawful (fst cm)) rest ->
    lattice_ok k g = true -> table_down k g = Some l -> forallb fits l = true -> (zsum l <= top)%Z ->
    bounds_below rest u start ->
    row_fits (next_down k g d (to_row l) u) = true ->
    bounds_below (term_of k g :: rest) (next_down k g d (to_row l) u) (start - d).
  Proof.
    intros Hrest Hok Htable Hl Hsum (Hlen & Hentries & Hu) Hfits.
    destruct (positive_numbers k Hdata) as (Hh1 & Hh2 & Hc1 & Hc2 & _).
    destruct (table_down_sound k Hc2 Hc1 Hh2 g l Hok Htable) as (f & -> & Hbelow).
    set (l := map f (zlist (left g) (width g))) in *.
    assert (Htop : (top * top < wB)%Z) by reflexivity.
    assert (Hlaw : weight_sum (to_row l) = zsum l) by now apply weight_sum_to_row.
    set (ws := to_row l) in *. set (off := slide n d (stride g)).
    assert (Hoff : forall x, (off x + n <= length (padded n u))%nat) by (intros x; now apply slide_in).
    set (m := mix off (left g) ws (padded n u) (zeros n)).
    assert (Hm : length m = n) by (apply mix_length; [exact Hoff | apply repeat_length]).
    assert (Hws := weight_sum_nonneg ws).
    assert (Hmix : forall i, (i < n)%nat -> entry m i = mixed off (left g) ws (padded n u) i).
    { intros i Hi; unfold m; rewrite (mix_entries n off (padded n u) Hoff _ _ _ top); try assumption.
      - now rewrite entry_zeros.
      - apply repeat_length.
      - discriminate.
      - apply padded_entries; [assumption | discriminate | assumption].
      - rewrite entry_zeros, Hlaw.
        apply Z.le_lt_trans with (top * top)%Z; [|assumption].
        rewrite Z.add_0_l. apply Z.mul_le_mono_nonneg_r; [discriminate | assumption]. }
    split; [|split].
    - unfold next_down, shifted_down; rewrite map_length; exact Hm.
    - intros j; now apply row_fits_entries.
    - destruct (walk_step_below (tilt k) (spacing k) gain (term_of k g) rest (left g) (width g)
                  (fun y => IZR (f y) / IZR whole) (fun i => unit * IZR (cell u start i))) as [A0 HA].
      + now apply (term_lawful k).
      + exact Hu.
      + intros j; apply Rmult_le_pos; [lra|]. apply IZR_le, cell_nonneg.
      + exact Hbelow.
      + exists A0; intros A i HA0. rewrite (step_of_term k) in HA by assumption.
        assert (Hall : Forall (fun cm => lawful (fst cm)) (term_of k g :: rest)).
        { constructor; [now apply (term_lawful k) | assumption]. }
        assert (Hnn := walked_nonneg (term_of k g :: rest) A i Hall Hgain).
        unfold next_down; fold n. fold off m.
        unfold cell at 1. destruct (Z.leb_spec (start - d) i) as [Hi|Hi]; [|now rewrite Rmult_0_r].
        set (j := Z.to_nat (i - (start - d))).
        destruct (Nat.lt_ge_cases j n) as [Hj|Hj].
        2: { rewrite entry_beyond; [now rewrite Rmult_0_r|]. unfold shifted_down; rewrite map_length; lia. }
        eapply Rle_trans; [|apply (HA A i HA0)].
        rewrite shifted_down_entry by lia.
        apply Rle_trans with (unit * (IZR (entry m j) / IZR whole)).
        * apply Rmult_le_compat_l; [lra|]. apply (quotient_down_bound (entry m j) whole); reflexivity.
        * rewrite Hmix by assumption. unfold ws, l; rewrite mixed_is_a_sum by exact Hl.
          unfold Rdiv; rewrite <- lsum_scale_r, <- lsum_scale. right; apply lsum_ext; intros x.
          unfold off; rewrite entry_of_slide by assumption.
          replace (cell u 0 (Z.of_nat j - d - stride g * x)) with (cell u start (i - stride g * x)); [ring|].
          unfold cell. replace (Z.of_nat j - d - stride g * x)%Z with (i - stride g * x - start)%Z by (unfold j; lia).
          rewrite Z.sub_0_r.
          destruct (Z.leb_spec start (i - stride g * x)); destruct (Z.leb_spec 0 (i - stride g * x - start)); try lia; reflexivity.
  Qed.

  Lemma lawful_copies g c rest :
    lattice_ok k g = true -> Forall (fun cm => lawful (fst cm)) rest ->
    Forall (fun cm => lawful (fst cm)) (repeat (term_of k g) c ++ rest).
  Proof.
    destruct (positive_numbers k Hdata) as (_ & Hh2 & _).
    intros Hok H; apply Forall_app; split; [|assumption].
    apply Forall_forall; intros cm Hcm; apply repeat_spec in Hcm; subst cm.
    now apply (term_lawful k).
  Qed.

  Lemma walk_copies_bounds_below g d l c rest u v start :
    Forall (fun cm => lawful (fst cm)) rest ->
    lattice_ok k g = true -> table_down k g = Some l -> forallb fits l = true -> (zsum l <= top)%Z ->
    bounds_below rest u start ->
    walk_copies_down k g d (to_row l) c u = Some v ->
    bounds_below (repeat (term_of k g) c ++ rest) v (start - Z.of_nat c * d).
  Proof.
    intros Hrest H1 H2 H3 H4 Hu; revert v; induction c as [|c IH]; intros v; cbn [walk_copies_down repeat app].
    - intros [= <-]. rewrite Z.mul_0_l, Z.sub_0_r; assumption.
    - destruct (walk_copies_down _ _ _ _ _ _) as [w|]; [|discriminate].
      destruct (row_fits _) eqn:E; [|discriminate]. intros [= <-].
      replace (start - Z.of_nat (S c) * d)%Z with (start - Z.of_nat c * d - d)%Z by lia.
      apply next_bounds_below; auto using lawful_copies.
  Qed.

  Lemma walk_bounds_below gs ds u start v last :
    bounds_below [] u start -> walk_down k gs ds start u = Some (v, last) ->
    bounds_below (stepped k gs) v last /\ Forall (fun g => lattice_ok k g = true) gs.
  Proof.
    intros Hu; revert ds v last; induction gs as [|g gs IH]; intros [|d ds] v last; cbn [walk_down]; try discriminate.
    - intros [= <- <-]; split; [assumption | constructor].
    - destruct (walk_down k gs ds start u) as [[w at_]|] eqn:E; [|discriminate].
      destruct (IH ds w at_ E) as [Hw Hok]. unfold walk_group_down.
      destruct (lattice_ok _ _) eqn:Eok; [|discriminate].
      destruct (table_down k g) as [l|] eqn:Et; [|discriminate].
      destruct (_ && _)%bool eqn:Ef; [|discriminate].
      rewrite Bool.andb_true_iff, Z.leb_le in Ef; destruct Ef as [Hl Hs].
      destruct (walk_copies_down _ _ _ _ _ _) as [x|] eqn:Ew; [|discriminate]. intros [= <- <-].
      split; [|now constructor].
      apply (walk_copies_bounds_below g d l (copies g) (stepped k gs) w); auto.
      exact (stepped_lawful k Hdata gs Hok).
  Qed.
End Rows.

(** ** The first row *)

Section First.
  Variable k : certificate.
  Hypothesis Hdata : positive_data k = true.
  Hypothesis Hlo : lo_is_first k = true.
  Let r : R := offset (stepped k (groups k)).
  Hypothesis Hbases : r = spacing k * IZR (offset_steps k) / 2.

  Let a : R := tilt k * spacing k.
  Let h : R := spacing k.
  Let one : R := IZR (two_to (prec k)).
  Let one_pos : 0 < one. Proof. apply IZR_two_to_pos. Qed.
  Let theta : R := r + h * IZR (lo k) - epsilon k.

  Let h_positive : 0 < h. Proof. now apply h_pos. Qed.
  Let theta_bounded : 0 <= theta <= h. Proof. exact (theta_bounds k Hdata Hlo Hbases). Qed.

  Let base_low (j : nat) : R := exp (- (a * INR j)) * (1 - exp (- (theta + h * INR j))).

  Let base_low_nonneg j : 0 <= base_low j.
  Proof.
    apply Rmult_le_pos; [left; apply exp_pos|].
    assert (exp (- (theta + h * INR j)) <= exp 0).
    { apply exp_mono. assert (0 <= h * INR j) by (apply Rmult_le_pos; [lra | apply pos_INR]). lra. }
    rewrite exp_0 in *; lra.
  Qed.

  Let base_low_is_gain j :
    exp (- (a * IZR (lo k))) * base_low j
    = gain h (epsilon k) r (lo k + Z.of_nat j) * exp (- (a * IZR (lo k + Z.of_nat j))).
  Proof.
    rewrite (gain_above h (epsilon k) r (lo k)); [|assumption | unfold theta in theta_bounded; lra | lia].
    unfold base_low; rewrite plus_IZR, <- INR_IZR_INZ.
    replace (exp (- (a * (IZR (lo k) + INR j)))) with (exp (- (a * IZR (lo k))) * exp (- (a * INR j)))
      by (rewrite <- exp_plus; f_equal; ring).
    rewrite <- exp_plus. replace (epsilon k - r + - h * (IZR (lo k) + INR j)) with (- (theta + h * INR j))
      by (unfold theta; ring). ring.
  Qed.

  Lemma first_row_down_entries m fall keep e f i j :
    below (prec k) (exp (- a)) fall -> (0 <= fall)%Z -> above (prec k) (exp (- h)) keep ->
    below (prec k) (exp (- (a * INR i))) e -> (0 <= e)%Z -> above (prec k) (exp (- (theta + h * INR i))) f ->
    (j < m)%nat ->
    IZR (nth j (first_row_down k m fall keep e f) 0%Z) <= base_low (i + j) * IZR whole.
  Proof.
    intros Hfall Hfall0 Hkeep; revert e f i j; induction m as [|m IH]; intros e f i j He He0 Hf Hj; [lia|].
    destruct j as [|j]; cbn [first_row_down nth].
    - rewrite Nat.add_0_r. eapply Rle_trans; [apply scale_down_bound|]; fold one; rewrite mult_IZR.
      apply div_le_iff; [assumption|].
      rewrite Rmult_assoc, (Rmult_comm (IZR whole)), <- Rmult_assoc.
      apply Rmult_le_compat_r; [left; apply whole_pos|].
      apply Rle_trans with (IZR e * IZR (Z.max 0 (two_to (prec k) - f)) / one).
      { rewrite <- mult_IZR; apply scale_down_bound. }
      apply div_le_iff; [assumption|]. unfold below in He; unfold above in Hf; fold one in He, Hf.
      set (E := exp (- (a * INR i))) in *; set (F := exp (- (theta + h * INR i))) in *.
      assert (HE : 0 < E) by apply exp_pos.
      assert (HF : F <= 1).
      { unfold F; rewrite <- exp_0; apply exp_mono.
        assert (0 <= h * INR i) by (apply Rmult_le_pos; [lra | apply pos_INR]). lra. }
      replace (base_low i * one * one) with ((E * one) * ((1 - F) * one)) by (unfold base_low; fold E F; ring).
      apply IZR_le in He0. apply Rmult_le_compat; [assumption | | assumption |].
      + apply IZR_le; lia.
      + apply Z.max_case_strong; intros Hm; [apply Rmult_le_pos; lra|]. rewrite minus_IZR; fold one; lra.
    - replace (i + S j)%nat with (S i + j)%nat by lia.
      apply IH; try lia.
      + rewrite S_INR; replace (- (a * (INR i + 1))) with (- (a * INR i) + - a) by ring.
        rewrite exp_plus; now apply below_mult.
      + apply scale_down_nonneg; nia.
      + rewrite S_INR; replace (- (theta + h * (INR i + 1))) with (- (theta + h * INR i) + - h) by ring.
        rewrite exp_plus; apply above_mult; try assumption; left; apply exp_pos.
  Qed.

  Lemma first_row_down_length m fall keep e f : length (first_row_down k m fall keep e f) = m.
  Proof. revert e f; induction m as [|m IH]; intros e f; cbn [first_row_down length]; [|rewrite IH]; reflexivity. Qed.

  Lemma first_row_bounds_below before :
    (before <= period k)%nat -> forallb fits (first_down k before) = true ->
    bounds_below k (gain h (epsilon k) r) [] (to_row (first_down k before)) (lo k - Z.of_nat before).
  Proof.
    intros Hbefore Hfits.
    destruct (positive_numbers k Hdata) as (H1 & H2 & H3 & H4 & H5 & _ & _).
    assert (Hlen : length (first_down k before) = period k).
    { unfold first_down; rewrite app_length, repeat_length, first_row_down_length; lia. }
    assert (Hentry : forall j, (j < period k)%nat -> entry (to_row (first_down k before)) j = nth j (first_down k before) 0%Z).
    { intros j Hj; unfold entry, to_row.
      rewrite (nth_indep _ 0%uint63 (of_Z 0)) by (rewrite map_length, Hlen; assumption).
      rewrite map_nth; apply of_fits.
      rewrite forallb_forall in Hfits; apply Hfits, nth_In; now rewrite Hlen. }
    split; [unfold to_row; now rewrite map_length | split].
    - intros j; destruct (Nat.lt_ge_cases j (period k)) as [Hj|Hj].
      + rewrite Hentry by assumption. rewrite forallb_forall in Hfits.
        apply fits_bounds, Hfits, nth_In; now rewrite Hlen.
      + unfold entry; rewrite nth_overflow by (unfold to_row; rewrite map_length, Hlen; assumption).
        cbn; discriminate.
    - exists 0%nat; intros A i _; rewrite walked_nil; fold a.
      assert (Hnn : 0 <= gain h (epsilon k) r i * exp (- (a * IZR i)))
        by (apply Rmult_le_pos; [apply gain_nonneg | left; apply exp_pos]).
      unfold cell; destruct (Z.leb_spec (lo k - Z.of_nat before) i) as [Hi|Hi]; [|now rewrite Rmult_0_r].
      set (j := Z.to_nat (i - (lo k - Z.of_nat before))).
      destruct (Nat.lt_ge_cases j (period k)) as [Hj|Hj].
      2: { rewrite entry_beyond; [now rewrite Rmult_0_r|]. unfold to_row; rewrite map_length; lia. }
      rewrite Hentry by assumption. unfold first_down.
      destruct (Nat.lt_ge_cases j before) as [Hb|Hb].
      { rewrite app_nth1 by (now rewrite repeat_length). rewrite nth_repeat_lt by assumption. now rewrite Rmult_0_r. }
      rewrite app_nth2, repeat_length by (now rewrite repeat_length).
      replace i with (lo k + Z.of_nat (j - before))%Z by (unfold j in *; lia).
      rewrite <- base_low_is_gain. unfold grain, Rdiv; fold a; rewrite Rmult_assoc.
      apply Rmult_le_compat_l; [left; apply exp_pos|].
      apply Rmult_le_reg_l with (IZR whole); [apply whole_pos|].
      rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by (generalize whole_pos; lra).
      rewrite (Rmult_comm (IZR whole)).
      assert (H2' := IZR_lt _ _ H2); assert (H4' := IZR_lt _ _ H4).
      assert (Hex : (0 <= excess k)%Z).
      { generalize Hlo; unfold lo_is_first; rewrite Bool.andb_true_iff, !Z.leb_le; tauto. }
      change (j - before)%nat with (0 + (j - before))%nat at 2.
      destruct (exp_down_bound (prec k) (squarings k) (c_num k * h_num k) (c_den k * h_den k) ltac:(nia) ltac:(nia)) as [Hf Hf0].
      apply first_row_down_entries; try assumption.
      + replace (- a) with (- (IZR (c_num k * h_num k) / IZR (c_den k * h_den k))); [exact Hf|].
        unfold a, tilt, spacing; rewrite !mult_IZR; field; lra.
      + apply exp_up_bound; lia.
      + unfold below; cbn [INR]. rewrite Rmult_0_r, Ropp_0, exp_0; lra.
      + generalize (two_to_pos (prec k)); lia.
      + cbn [INR]; rewrite Rmult_0_r, Rplus_0_r. unfold theta, r, h.
        rewrite (theta_is_excess k Hdata Hbases). apply exp_up_bound; nia.
      + lia.
  Qed.
End First.

(** ** The theorem *)

Theorem sums_above_is_true k before ds :
  sums_above k before ds = true ->
  Forall (fun g => lattice_ok k g = true) (groups k)
  /\ exists A0, forall A, (A0 <= A)%nat ->
     claimed_delta k < value (stepped k (groups k)) (gain (spacing k) (epsilon k) (offset (stepped k (groups k)))) A 0.
Proof.
  unfold sums_above; rewrite !Bool.andb_true_iff.
  intros ((((Hdata & Hlo) & Hbefore) & Hfits) & Hwalk). apply Nat.leb_le in Hbefore.
  destruct (walk_down _ _ _ _ _) as [[u start]|] eqn:Hw; [|discriminate].
  apply Z.ltb_lt in Hwalk.
  assert (Hok : Forall (fun g => lattice_ok k g = true) (groups k)).
  { clear -Hw; revert ds u start Hw; induction (groups k) as [|g gs IH]; intros [|d ds] u start; cbn [walk_down]; try discriminate.
    - constructor.
    - destruct (walk_down k gs ds _ _) as [[w at_]|] eqn:E; [|discriminate]. unfold walk_group_down.
      destruct (lattice_ok _ _) eqn:Eok; [|discriminate]. intros _; constructor; [assumption | now apply (IH ds w at_)]. }
  split; [assumption|].
  assert (Hoffset := stepped_offset k Hdata _ Hok).
  assert (Hfirst := first_row_bounds_below k Hdata Hlo Hoffset before Hbefore Hfits).
  destruct (walk_bounds_below k Hdata _ (gain_nonneg _ _ _) _ _ _ _ _ _ Hfirst Hw) as [(_ & _ & A0 & Hb) _].
  destruct (positive_numbers k Hdata) as (H1 & H2 & H3 & H4 & H5 & H6 & Hn).
  exists A0; intros A HA. eapply Rlt_le_trans.
  2: { apply (value_at_least_walked (tilt k) (spacing k) _ _ _ (grain k * IZR (cell u start 0))). now apply Hb. }
  set (e := cell u start 0) in *.
  destruct (exp_down_signed_bound (prec k) (squarings k) (last_num k) (last_den k) (last_den_pos k Hdata)) as [HX _].
  set (X := exp_down_signed _ _ _ _) in *.
  unfold grain, Rdiv, claimed_delta.
  rewrite <- Rmult_assoc, <- Rmult_assoc, <- exp_plus, last_exponent by assumption.
  assert (He : 0 <= IZR e) by (apply IZR_le, cell_nonneg).
  assert (Hone := IZR_two_to_pos (prec k)); assert (Htop := whole_pos).
  apply IZR_lt in H6. apply IZR_lt in Hwalk; rewrite !mult_IZR in Hwalk.
  unfold below in HX; set (Y := exp _) in *; set (one := IZR (two_to (prec k))) in *.
  apply Rmult_lt_reg_r with (one * IZR whole * IZR (delta_den k)).
  { apply Rmult_lt_0_compat; [now apply Rmult_lt_0_compat | assumption]. }
  replace (Y * / IZR whole * IZR e * (one * IZR whole * IZR (delta_den k)))
    with ((Y * one) * (IZR e * IZR (delta_den k))) by (field; lra).
  replace (IZR (delta_num k) / IZR (delta_den k) * (one * IZR whole * IZR (delta_den k)))
    with (IZR (delta_num k) * one * IZR whole) by (field; lra).
  eapply Rlt_le_trans; [exact Hwalk|]. rewrite (Rmult_assoc (IZR X)).
  apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | assumption].
Qed.

Lemma sums_above_positive k before ds : sums_above k before ds = true -> positive_data k = true.
Proof. unfold sums_above; rewrite !Bool.andb_true_iff; tauto. Qed.

Lemma plain_is_exact gs : forallb plain gs = true -> forallb exact gs = true /\ carriers gs = composition gs.
Proof.
  induction gs as [|g gs IH]; cbn [forallb]; [split; reflexivity|].
  intros H; apply andb_prop in H; destruct H as [Hg Hgs]. destruct (IH Hgs) as [He Hc]. rewrite He, Bool.andb_true_r.
  cbn [carriers composition flat_map]; fold (carriers gs) (composition gs); rewrite Hc.
  revert Hg; unfold plain, exact, aligned, whole_outputs, finite, carrier_of, count_of, noisy.
  destruct (law g) as [| |num den [|i|i] iden nn|[ | | ] num den b nn|]; try discriminate; now intros _.
Qed.

Theorem certified_below_is_true k before ds :
  certified_below k before ds = true ->
  proper (composition (groups k)) /\ claimed_delta k < delta (composition (groups k)) (claimed_eps k).
Proof.
  unfold certified_below; rewrite Bool.andb_true_iff; intros [Hp Hsum].
  assert (Hdata := sums_above_positive k _ _ Hsum). destruct (sums_above_is_true k _ _ Hsum) as [Hok [A0 Hvalue]].
  split; [now apply (composition_proper k)|]. destruct (plain_is_exact _ Hp) as [He Hc].
  eapply Rlt_le_trans; [apply (Hvalue A0 (le_n A0))|].
  rewrite <- Hc, <- (counts_of_steps k). apply (delta_at_least (spacing k)). apply (stepped_on_lattice k); try assumption. now apply exact_is_aligned.
Qed.

(** ** The claims of files that `assay prove --rocq` writes *)

(** delta at an eps: both ends. *)
Theorem delta_is_between above below before ds cs eps b d :
  certified above = true -> certified_below below before ds = true ->
  composition (groups above) = cs -> composition (groups below) = cs ->
  claimed_eps above = eps -> claimed_eps below = eps -> claimed_delta above = d -> claimed_delta below = b ->
  b < delta cs eps <= d.
Proof.
  intros Ha Hb <- E <- Ee <- <-. apply certified_is_true in Ha; apply certified_below_is_true in Hb.
  rewrite E, Ee in Hb; tauto.
Qed.

Lemma claimed_eps_nonneg k : positive_data k = true -> (0 <=? eps_num k)%Z = true -> 0 <= claimed_eps k.
Proof.
  intros Hdata H; apply Z.leb_le, IZR_le in H.
  destruct (positive_numbers k Hdata) as (_ & _ & _ & _ & H5%IZR_lt & _).
  apply Rmult_le_pos; [assumption | left; now apply Rinv_0_lt_compat].
Qed.

Lemma certified_positive k : certified k = true -> positive_data k = true.
Proof. unfold certified; rewrite Bool.andb_true_iff; intros [_ H]; now apply sums_at_most_positive. Qed.

Lemma certified_below_positive k before ds : certified_below k before ds = true -> positive_data k = true.
Proof. unfold certified_below; rewrite Bool.andb_true_iff; intros [_ H]; now apply sums_above_positive in H. Qed.

(** The smallest eps at a delta: private at the upper end, and not at the lower. *)
Theorem epsilon_is_between above below before ds cs d a b :
  certified above = true -> certified_below below before ds = true ->
  composition (groups above) = cs -> composition (groups below) = cs ->
  claimed_eps below = a -> claimed_eps above = b -> claimed_delta above = d -> claimed_delta below = d ->
  (0 <=? eps_num below)%Z = true -> (0 <=? eps_num above)%Z = true ->
  smallest_epsilon cs d a b.
Proof.
  intros Ha Hb <- E <- <- <- Ed H0 H1.
  apply (claimed_eps_nonneg _ (certified_below_positive _ _ _ Hb)) in H0.
  apply (claimed_eps_nonneg _ (certified_positive _ Ha)) in H1.
  apply certified_is_true in Ha; apply certified_below_is_true in Hb. rewrite E, Ed in Hb.
  apply smallest_epsilon_is_between; try tauto. apply composition_symmetric.
Qed.

(** Noise that is enough for an eps at a delta, and other noise that is not. *)
Theorem noise_is_enough above below before ds cs cs' eps d :
  certified above = true -> certified_below below before ds = true ->
  composition (groups above) = cs -> composition (groups below) = cs' ->
  claimed_eps above = eps -> claimed_eps below = eps -> claimed_delta above = d -> claimed_delta below = d ->
  private cs eps d /\ ~ private cs' eps d.
Proof.
  intros Ha Hb <- <- <- Ee <- Ed. apply certified_is_true in Ha; apply certified_below_is_true in Hb.
  rewrite Ee, Ed in Hb. destruct Ha as [Hp Ha]; destruct Hb as [Hp' Hb]. split.
  - apply delta_means_private; try assumption. apply composition_symmetric.
  - now apply not_private.
Qed.
