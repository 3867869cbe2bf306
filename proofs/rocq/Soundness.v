(** * What the computation of Certificate.v answers is true *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Uint63.
From DpAssay Require Import Sums Gaussian HockeyStick Walk Fixed Rows Certificate.
Import ListNotations.
Open Scope R_scope.

Opaque exp_up exp_down.

Lemma counts_of_steps gs : counts (stepped gs) = composition gs.
Proof.
  unfold counts, stepped, composition; induction gs as [|g gs IH]; [reflexivity|].
  cbn [flat_map]; rewrite map_app, IH; f_equal.
  induction (copies g) as [|n IHn]; [reflexivity|]. cbn; now rewrite IHn.
Qed.

Lemma whole_pos : 0 < IZR whole.
Proof. apply IZR_lt; reflexivity. Qed.

Lemma IZR_two_to_pos p : 0 < IZR (two_to p).
Proof. apply two_to_pos_R. Qed.

Lemma div_le_iff a b c : 0 < c -> a <= b * c -> a / c <= b.
Proof.
  intros Hc H; apply Rmult_le_reg_r with c; [assumption|].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
Qed.

Lemma IZR_zsum {A} (f : A -> Z) l : IZR (zsum (map f l)) = lsum (fun x => IZR (f x)) l.
Proof. induction l as [|x l IH]; [reflexivity|]. cbn [map zsum fold_right lsum]; now rewrite plus_IZR, <- IH. Qed.

(** ** One count *)

Section Group.
  Variables (k : certificate) (g : group).
  Hypothesis Hnum : (0 < num g)%Z.
  Hypothesis Hden : (0 < den g)%Z.
  Hypothesis Hc : (0 < c_den k)%Z.

  Let s : R := sigma2 (count_of g).
  Let t : R := IZR (c_num k) / IZR (c_den k) * IZR (move g).

  Let Hnum' : 0 < IZR (num g). Proof. now apply IZR_lt. Qed.
  Let Hden' : 0 < IZR (den g). Proof. now apply IZR_lt. Qed.
  Let Hc' : 0 < IZR (c_den k). Proof. now apply IZR_lt. Qed.

  Lemma s_pos : 0 < s.
  Proof. now apply Rdiv_lt_0_compat. Qed.

  Lemma tilted_up_bound x : above (prec k) (tilted s t x) (tilted_up k g x).
  Proof.
    unfold tilted_up, tilted.
    replace (- (IZR x + t)² / (2 * s))
      with (- (IZR ((x * c_den k + c_num k * move g) ^ 2 * den g) / IZR (2 * num g * c_den k ^ 2))).
    - apply exp_up_bound; [|nia].
      apply Z.mul_nonneg_nonneg; [apply Z.pow_even_nonneg; now exists 1%Z | lia].
    - unfold s, t, count_of; cbn [sigma2].
      rewrite !mult_IZR, !Z.pow_2_r, !mult_IZR, plus_IZR, !mult_IZR. unfold Rsqr; field; lra.
  Qed.

  Lemma mass_down_bound : below (prec k) (mass s) (mass_down k g).
  Proof.
    assert (Hu := IZR_two_to_pos (prec k)).
    unfold below, mass_down; rewrite IZR_zsum.
    apply Rle_trans with (lsum (weight s) (range (reach g)) * IZR (two_to (prec k))).
    - rewrite <- lsum_scale_r; apply lsum_le; intros x.
      replace (weight s x) with (exp (- (IZR (x * x * den g) / IZR (2 * num g)))).
      + apply exp_down_bound; nia.
      + unfold weight; f_equal. unfold s, count_of; cbn [sigma2].
        rewrite !mult_IZR; unfold Rsqr; field; lra.
    - apply Rmult_le_compat_r; [lra|].
      apply total_upper; [apply weights_summable, s_pos | apply NoDup_range].
  Qed.

  Variable z : Z.
  Hypothesis Hz : (0 < z)%Z.
  Hypothesis Hmass : z = mass_down k g.

  Let Hz' : 0 < IZR z. Proof. now apply IZR_lt. Qed.
  Let Hp : 0 < IZR (two_to (prec k)). Proof. apply IZR_two_to_pos. Qed.

  Lemma over_mass q e :
    0 <= q -> q * IZR (two_to (prec k)) <= e -> q / mass s <= e / IZR z.
  Proof.
    intros Hq He; assert (Hm := mass_pos s s_pos).
    assert (Hb := mass_down_bound); unfold below in Hb; rewrite <- Hmass in Hb.
    apply div_le_iff; [assumption|].
    apply Rmult_le_reg_r with (IZR z); [assumption|].
    replace (e / IZR z * mass s * IZR z) with (e * mass s) by (field; lra).
    apply Rle_trans with (q * (mass s * IZR (two_to (prec k)))).
    - now apply Rmult_le_compat_l.
    - replace (q * (mass s * IZR (two_to (prec k)))) with (q * IZR (two_to (prec k)) * mass s) by ring.
      apply Rmult_le_compat_r; [lra | assumption].
  Qed.

  Lemma law_up_bound x :
    tilted s t x / mass s <= IZR (quotient_up (tilted_up k g x * whole) z) / IZR whole.
  Proof.
    assert (Hw := whole_pos).
    apply Rle_trans with (IZR (tilted_up k g x) / IZR z).
    - apply over_mass; [apply tilted_nonneg | apply tilted_up_bound].
    - apply Rmult_le_reg_r with (IZR whole); [assumption|].
      unfold Rdiv at 2; rewrite (Rmult_assoc (IZR (quotient_up _ _))), Rinv_l, Rmult_1_r by lra.
      eapply Rle_trans; [|now apply quotient_up_bound]. rewrite mult_IZR; right; field; lra.
  Qed.

  Lemma ratio_up_bound n :
    (0 <= n)%Z -> above (prec k) (exp (- (IZR n / IZR (2 * num g * c_den k)))) (ratio_up k g n).
  Proof. intros Hn; apply exp_up_bound; [assumption | nia]. Qed.

  (** One end of the window. *)
  Lemma end_bound x r :
    (r < two_to (prec k))%Z ->
    tilted s t x / (1 - IZR r / IZR (two_to (prec k))) / mass s
    <= IZR (quotient_up (tilted_up k g x * two_to (prec k) * whole) ((two_to (prec k) - r) * z)) / IZR whole.
  Proof.
    intros Hr; assert (Hw := whole_pos). assert (Hr' := IZR_lt _ _ Hr).
    set (one := IZR (two_to (prec k))) in *.
    assert (Hd : 0 < 1 - IZR r / one).
    { apply Rmult_lt_reg_r with one; [assumption|]. rewrite Rmult_0_l.
      replace ((1 - IZR r / one) * one) with (one - IZR r) by (field; lra). lra. }
    apply Rle_trans with (IZR (tilted_up k g x) / (1 - IZR r / one) / IZR z).
    - apply over_mass.
      + apply Rmult_le_pos; [apply tilted_nonneg | left; now apply Rinv_0_lt_compat].
      + replace (tilted s t x / (1 - IZR r / one) * IZR (two_to (prec k)))
          with (tilted s t x * one * / (1 - IZR r / one)) by (unfold one, Rdiv; ring).
        apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | apply tilted_up_bound].
    - apply Rmult_le_reg_r with (IZR whole); [assumption|].
      unfold Rdiv at 4; rewrite (Rmult_assoc (IZR (quotient_up _ _))), Rinv_l, Rmult_1_r by lra.
      eapply Rle_trans; [|apply quotient_up_bound; nia].
      rewrite !mult_IZR, minus_IZR; fold one. right; field.
      split; [lra|]. split; [|lra]. lra.
  Qed.

  Hypothesis Hright : (0 <= right_ratio k g)%Z.
  Hypothesis Hleft : (0 <= left_ratio k g)%Z.
  Hypothesis Hright1 : (ratio_up k g (right_ratio k g) < two_to (prec k))%Z.
  Hypothesis Hleft1 : (ratio_up k g (left_ratio k g) < two_to (prec k))%Z.

  Lemma tail_up_bound l :
    NoDup l -> (forall x, In x l -> ~ In x (zlist (left g) (width g))) ->
    lsum (fun x => tilted s t x / mass s) l <= IZR (tail_up k g z) / IZR whole.
  Proof.
    intros Hnd Hout; assert (Hw := whole_pos).
    set (one := IZR (two_to (prec k))) in *.
    assert (Hlt : forall r, (r < two_to (prec k))%Z -> IZR r / one < 1).
    { intros r Hr; apply Rmult_lt_reg_r with one; [assumption|].
      unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra. now apply IZR_lt. }
    assert (Habove : forall e n, (0 <= n)%Z ->
      - e / (2 * s) = - (IZR n / IZR (2 * num g * c_den k)) -> exp (- e / (2 * s)) <= IZR (ratio_up k g n) / one).
    { intros e n Hn ->. apply Rmult_le_reg_r with one; [assumption|].
      unfold Rdiv at 2; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. now apply ratio_up_bound. }
    unfold Rdiv at 1; rewrite lsum_scale_r; fold (lsum (tilted s t) l / mass s).
    unfold tail_up; rewrite plus_IZR, Rdiv_plus_distr.
    eapply Rle_trans; [|apply Rplus_le_compat; apply end_bound; assumption].
    rewrite <- Rdiv_plus_distr.
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, mass_pos, s_pos|].
    apply tilted_tails; try apply s_pos; try (now apply Hlt); try assumption.
    - rewrite Ropp_plus_distr.
      replace (- (2 * (IZR (left g + Z.of_nat (width g)) + t)) + - (1)) with (- (2 * (IZR (right_end g) + t) + 1))
        by (unfold right_end; ring).
      apply Habove; [assumption|].
      unfold right_ratio, s, t, count_of; cbn [sigma2].
      rewrite !mult_IZR, plus_IZR, !mult_IZR, plus_IZR, !mult_IZR. field; lra.
    - apply Habove; [assumption|].
      unfold left_ratio, s, t, count_of; cbn [sigma2].
      rewrite !mult_IZR, !minus_IZR, !mult_IZR, plus_IZR, !mult_IZR, !minus_IZR. field; lra.
  Qed.
End Group.

(** ** Rows of integers *)

Lemma fits_bounds z : fits z = true -> (0 <= z <= top)%Z.
Proof. unfold fits; intros H; apply andb_prop in H; destruct H; lia. Qed.

Lemma of_fits z : fits z = true -> to_Z (of_Z z) = z.
Proof.
  intros H; apply fits_bounds in H. rewrite of_Z_spec; apply Z.mod_small.
  assert (top < wB)%Z by reflexivity; lia.
Qed.

Lemma weight_sum_to_row l : forallb fits l = true -> weight_sum (to_row l) = zsum l.
Proof.
  induction l as [|z l IH]; [reflexivity|].
  change (weight_sum (to_row (z :: l))) with (to_Z (of_Z z) + weight_sum (to_row l))%Z.
  change (zsum (z :: l)) with (z + zsum l)%Z. cbn [forallb].
  intros H; apply andb_prop in H; destruct H as [Hz Hl]. rewrite of_fits by assumption.
  now rewrite <- (IH Hl).
Qed.

Lemma mixed_is_a_sum n m (f : Z -> Z) u i x w :
  forallb fits (map f (zlist x w)) = true ->
  IZR (mixed n m x (to_row (map f (zlist x w))) u i)
  = lsum (fun y => IZR (f y) * IZR (entry u (Z.to_nat ((i - m * y) mod Z.of_nat n)))) (zlist x w).
Proof.
  revert x; induction w as [|w IH]; intros x; [reflexivity|].
  rewrite zlist_S; cbn [map lsum].
  change (to_row (f x :: ?l)) with (of_Z (f x) :: to_row l); cbn [forallb mixed].
  intros H; apply andb_prop in H; destruct H as [Hz Hl].
  rewrite plus_IZR, mult_IZR, of_fits by assumption. now rewrite <- (IH _ Hl).
Qed.

Lemma nth_repeat_lt {A} (x d : A) n i : (i < n)%nat -> nth i (repeat x n) d = x.
Proof. revert i; induction n as [|n IH]; intros [|i] H; cbn; try lia; [reflexivity | apply IH; lia]. Qed.

Lemma row_fits_entries u i : row_fits u = true -> (entry u i <= top)%Z.
Proof.
  unfold row_fits, entry; intros H; rewrite forallb_forall in H.
  destruct (nth_in_or_default i u 0%uint63) as [Hin|E].
  - specialize (H _ Hin); lia.
  - rewrite E; cbn; lia.
Qed.

Section Rows.
  Variable k : certificate.

  Definition tilt : R := IZR (c_num k) / IZR (c_den k).
  Definition spacing : R := IZR (h_num k) / IZR (h_den k).
  Definition epsilon : R := IZR (eps_num k) / IZR (eps_den k).

  Hypothesis Hdata : positive_data k = true.

  Lemma positive_numbers :
    (0 < h_num k /\ 0 < h_den k /\ 0 < c_num k /\ 0 < c_den k /\ 0 < eps_den k /\ 0 < delta_den k
     /\ 0 < Z.of_nat (period k))%Z.
  Proof. generalize Hdata; unfold positive_data; rewrite !Bool.andb_true_iff, !Z.ltb_lt; tauto. Qed.

  Let n := period k.
  Let place (i : Z) : nat := Z.to_nat ((i - lo k) mod Z.of_nat n).

  (** What a unit of a row stands for. *)
  Definition grain : R := exp (- (tilt * spacing * IZR (lo k))) / IZR whole.

  Lemma grain_pos : 0 < grain.
  Proof. apply Rdiv_lt_0_compat; [apply exp_pos | apply whole_pos]. Qed.

  Lemma n_pos : (0 < n)%nat.
  Proof. generalize positive_numbers; unfold n; lia. Qed.

  Lemma place_lt i : (place i < n)%nat.
  Proof. unfold place; generalize n_pos (Z.mod_pos_bound (i - lo k) (Z.of_nat n)); lia. Qed.

  Variable gain : Z -> R.

  (** A row bounds the walk through some counts. *)
  Definition bounds (rest : steps) (u : row) : Prop :=
    length u = n /\ (forall j, (entry u j <= top)%Z)
    /\ forall A i, walked tilt spacing gain rest A i <= grain * IZR (entry u (place i)).

  Lemma next_bounds g z rest u :
    z = mass_down k g -> group_is_sound k g z = true -> bounds rest u ->
    row_fits (next k g (to_row (law_up k g z)) (of_Z (tail_up k g z)) u) = true ->
    bounds ((count_of g, step g) :: rest) (next k g (to_row (law_up k g z)) (of_Z (tail_up k g z)) u).
  Proof.
    intros Hz Hsound (Hlen & Hentries & Hu) Hfits.
    unfold group_is_sound in Hsound; rewrite !Bool.andb_true_iff in Hsound.
    destruct Hsound as ((((((((((H1 & H2) & H3) & H4) & H5) & H6) & H7) & H8) & H9) & H10) & H11).
    apply Z.ltb_lt in H1, H2, H3, H7, H8; apply Z.leb_le in H5, H6, H11; apply Z.eqb_eq in H4.
    destruct positive_numbers as (Hh1 & Hh2 & Hc1 & Hc2 & _).
    assert (Htail := of_fits _ H10); apply fits_bounds in H10.
    set (tail := tail_up k g z) in *.
    assert (Hlarge : (0 <= to_Z (largest u) <= top)%Z).
    { split; [apply to_Z_bounded|].
      assert (Hex : (exists j, to_Z (largest u) = entry u j) \/ to_Z (largest u) = 0%Z).
      { unfold largest, entry. clear -Hlen.
        assert (G : forall m, (exists j, to_Z (fold_left (fun m v => if (m <? v)%uint63 then v else m) u m)
                    = to_Z (nth j u 0%uint63))
                   \/ to_Z (fold_left (fun m v => if (m <? v)%uint63 then v else m) u m) = to_Z m).
        { clear; induction u as [|v u IH]; intros m; cbn [fold_left]; [now right|].
          destruct (IH (if (m <? v)%uint63 then v else m)) as [[j Hj]|E].
          - left; exists (S j); exact Hj.
          - rewrite E; destruct (m <? v)%uint63; [left; now exists 0%nat | now right]. }
        destruct (G 0%uint63) as [H|H]; [left; exact H | right; exact H]. }
      destruct Hex as [[j ->]| ->]; [apply Hentries | cbn; lia]. }
    set (big := to_Z (largest u)) in *.
    assert (Htop : (top * top < wB)%Z) by reflexivity.
    set (acc := repeat (of_Z tail * largest u)%uint63 n).
    assert (Hacc : forall i, (i < n)%nat -> entry acc i = (tail * big)%Z).
    { intros i Hi; unfold entry, acc; rewrite nth_repeat_lt by assumption.
      rewrite mul_spec, Htail; fold big. apply Z.mod_small.
      split; [nia|]. apply Z.le_lt_trans with (top * top)%Z; [apply Z.mul_le_mono_nonneg; lia | assumption]. }
    assert (Hlaw : weight_sum (to_row (law_up k g z)) = zsum (law_up k g z)) by now apply weight_sum_to_row.
    set (ws := to_row (law_up k g z)) in *.
    set (m := mix n (step g) (left g) ws (u ++ u) acc).
    assert (Hm : length m = n).
    { apply mix_length; [apply repeat_length | rewrite app_length; lia | apply n_pos]. }
    assert (Hws := weight_sum_nonneg ws).
    assert (Hmix : forall i, (i < n)%nat -> entry m i = (tail * big + mixed n (step g) (left g) ws u (Z.of_nat i))%Z).
    { intros i Hi; unfold m; rewrite (mix_entries _ _ _ _ _ _ top); auto using n_pos.
      - now rewrite Hacc.
      - apply repeat_length.
      - discriminate.
      - rewrite Hacc, Hlaw by assumption.
        apply Z.le_lt_trans with (top * top)%Z; [|assumption].
        apply Z.le_trans with ((zsum (law_up k g z) + tail) * top)%Z; [|apply Z.mul_le_mono_nonneg_r; lia].
        rewrite Z.mul_add_distr_r. assert (tail * big <= tail * top)%Z by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
    split; [|split].
    - unfold next, shifted_up; rewrite map_length; exact Hm.
    - intros j; now apply row_fits_entries.
    - intros A i.
      set (hat := fun x => IZR (quotient_up (tilted_up k g x * whole) z) / IZR whole).
      eapply Rle_trans.
      { apply (walk_step tilt spacing gain (count_of g) (step g) rest (left g) (width g) hat
                 (IZR tail / IZR whole) (fun i => grain * IZR (entry u (place i))) (grain * IZR big)).
        - now apply s_pos.
        - unfold spacing; cbn [count_of sigma2 shift].
          apply (f_equal IZR) in H4; rewrite !mult_IZR in H4.
          apply IZR_lt in H1, H2, Hh2.
          apply Rmult_eq_reg_r with (IZR (den g) * IZR (h_den k)); [|nra].
          rewrite <- Rmult_assoc, H4; field; lra.
        - exact Hu.
        - intros j; assert (Hg := grain_pos); split.
          + apply Rmult_le_pos; [lra|]. apply IZR_le; apply to_Z_bounded.
          + apply Rmult_le_compat_l; [lra|]. apply IZR_le, largest_bound.
        - intros x _; apply law_up_bound; assumption.
        - intros l Hl Hout; apply tail_up_bound; assumption. }
      unfold next, acc; fold n. fold acc m.
      rewrite shifted_up_entry; [|rewrite Hm; apply place_lt | reflexivity].
      apply Rle_trans with (grain * (IZR (entry m (place i)) / IZR whole)).
      + rewrite Hmix by apply place_lt. rewrite plus_IZR, mult_IZR.
        unfold ws, law_up; rewrite mixed_is_a_sum by exact H9.
        unfold Rdiv; rewrite Rmult_plus_distr_r, Rmult_plus_distr_l, Rplus_comm.
        apply Rplus_le_compat; [right; ring|].
        rewrite <- lsum_scale_r, <- lsum_scale. right; apply lsum_ext; intros x.
        unfold hat, Rdiv.
        replace (place (i - step g * x)) with (Z.to_nat ((Z.of_nat (place i) - step g * x) mod Z.of_nat n)); [ring|].
        assert (Hn := n_pos); unfold place at 1.
        rewrite Z2Nat.id by (apply Z.mod_pos_bound; lia).
        unfold place; f_equal. rewrite Zminus_mod_idemp_l; f_equal; lia.
      + apply Rmult_le_compat_l; [left; apply grain_pos|].
        apply (quotient_up_bound (entry m (place i)) whole); reflexivity.
  Qed.

  Lemma walk_copies_bounds g z c rest u v :
    z = mass_down k g -> group_is_sound k g z = true -> bounds rest u ->
    walk_copies k g (to_row (law_up k g z)) (of_Z (tail_up k g z)) c u = Some v ->
    bounds (repeat (count_of g, step g) c ++ rest) v.
  Proof.
    intros Hz Hs Hu; revert v; induction c as [|c IH]; intros v; cbn [walk_copies repeat app].
    - now intros [= <-].
    - destruct (walk_copies _ _ _ _ _ _) as [w|]; [|discriminate].
      destruct (row_fits _) eqn:E; [|discriminate]. intros [= <-].
      apply next_bounds; auto.
  Qed.

  Lemma walk_bounds gs u v : bounds [] u -> walk k gs u = Some v -> bounds (stepped gs) v.
  Proof.
    intros Hu; revert v; induction gs as [|g gs IH]; intros v; cbn [walk stepped flat_map].
    - now intros [= <-].
    - destruct (walk k gs u) as [w|]; [|discriminate]. unfold walk_group.
      destruct (group_is_sound _ _ _) eqn:E; [|discriminate].
      intros H; eapply walk_copies_bounds; eauto.
  Qed.
End Rows.

(** ** The first row *)

Section First.
  Variable k : certificate.
  Hypothesis Hdata : positive_data k = true.
  Hypothesis Hlo : lo_is_first k = true.
  Hypothesis Hlattice : on_lattice (spacing k) (stepped (groups k)).

  Let cs := composition (groups k).
  Let a : R := tilt k * spacing k.
  Let h : R := spacing k.
  Let one : R := IZR (two_to (prec k)).
  Let n := period k.

  Let one_pos : 0 < one. Proof. apply IZR_two_to_pos. Qed.

  Lemma h_pos : 0 < spacing k.
  Proof.
    destruct (positive_numbers k Hdata) as (H1 & H2 & _). apply Rdiv_lt_0_compat; now apply IZR_lt.
  Qed.

  Lemma tilt_pos : 0 < tilt k.
  Proof.
    destruct (positive_numbers k Hdata) as (_ & _ & H1 & H2 & _). apply Rdiv_lt_0_compat; now apply IZR_lt.
  Qed.

  (** rho is a multiple of h / 2. *)
  Lemma rho_is_steps : rho cs = h * IZR (rho_steps k) / 2.
  Proof.
    unfold cs, rho_steps; rewrite <- counts_of_steps; revert Hlattice; fold h.
    induction (groups k) as [|g gs IH]; [cbn; intros; field|].
    change (stepped (g :: gs)) with (repeat (count_of g, step g) (copies g) ++ stepped gs).
    intros H; apply Forall_app in H; destruct H as [Hg Hgs].
    cbn [map]; change (zsum (?x :: ?l)) with (x + zsum l)%Z; rewrite plus_IZR.
    unfold counts; rewrite map_app; fold (counts (stepped gs)).
    specialize (IH Hgs).
    assert (Hrep : forall c, Forall (fun cm => 0 < sigma2 (fst cm) /\
        IZR (shift (fst cm)) = IZR (snd cm) * h * sigma2 (fst cm)) (repeat (count_of g, step g) c) ->
      rho (map fst (repeat (count_of g, step g) c) ++ counts (stepped gs))
      = h * IZR (Z.of_nat c * (move g * step g)) / 2 + rho (counts (stepped gs))).
    { clear Hg; induction c as [|c IHc]; intros Hc.
      - change (Z.of_nat 0 * (move g * step g))%Z with 0%Z; cbn [repeat map app]; field.
      - cbn [repeat map app fst] in *. inversion Hc as [|? ? [Hs Hm] Hc']; subst; cbn [fst snd] in Hs, Hm.
        change (rho (count_of g :: ?l)) with
          (IZR (shift (count_of g)) ^ 2 / (2 * sigma2 (count_of g)) + rho l).
        rewrite (IHc Hc'), Nat2Z.inj_succ, <- Z.add_1_r, Z.mul_add_distr_r, plus_IZR, !mult_IZR.
        replace (IZR (shift (count_of g)) ^ 2 / (2 * sigma2 (count_of g)))
          with (IZR (move g) * IZR (step g) * h / 2).
        + field.
        + change (shift (count_of g)) with (move g) in *. cbn [pow]; rewrite Rmult_1_r, Hm at 1.
          rewrite Hm. field. lra. }
    rewrite (Hrep _ Hg), IH; field.
  Qed.

  (** The loss of index lo, less eps. *)
  Let theta : R := rho cs + h * IZR (lo k) - epsilon k.

  Lemma theta_is_excess : theta = IZR (excess k) / IZR (2 * h_den k * eps_den k).
  Proof.
    destruct (positive_numbers k Hdata) as (_ & H2%IZR_lt & _ & _ & H5%IZR_lt & _).
    unfold theta; rewrite rho_is_steps; unfold excess, h, spacing, epsilon.
    rewrite minus_IZR, !mult_IZR, plus_IZR, mult_IZR. field; lra.
  Qed.

  Lemma theta_bounds : 0 <= theta <= h.
  Proof.
    destruct (positive_numbers k Hdata) as (_ & H2 & _ & _ & H5 & _).
    generalize Hlo; unfold lo_is_first; rewrite Bool.andb_true_iff, !Z.leb_le; intros [Ha Hb].
    apply IZR_le in Ha, Hb; rewrite theta_is_excess.
    assert (Hd : 0 < IZR (2 * h_den k * eps_den k)) by (apply IZR_lt; lia).
    split.
    - apply Rmult_le_pos; [assumption | left; now apply Rinv_0_lt_compat].
    - apply div_le_iff; [assumption|]. eapply Rle_trans; [exact Hb|]. right.
      unfold h, spacing; rewrite !mult_IZR. field. apply IZR_lt in H2; lra.
  Qed.

  (** The entry of the first row at distance [j] from lo. *)
  Definition base (j : nat) : R :=
    exp (- (a * INR j)) * (1 - exp (- (theta + h * INR j))) + exp (- (a * INR n)).

  Lemma base_bounds_gain i :
    gain h (epsilon k) cs i * exp (- (a * IZR i))
    <= exp (- (a * IZR (lo k))) * base (Z.to_nat ((i - lo k) mod Z.of_nat n)).
  Proof.
    assert (Hh := h_pos); assert (Ht := tilt_pos); fold h in Hh.
    assert (Ha : 0 < a) by (unfold a; fold h; now apply Rmult_lt_0_compat).
    assert (Hth := theta_bounds).
    destruct (positive_numbers k Hdata) as (_ & _ & _ & _ & _ & _ & Hn); fold n in Hn.
    assert (Hmod := Z.mod_pos_bound (i - lo k) (Z.of_nat n) Hn).
    set (j := Z.to_nat ((i - lo k) mod Z.of_nat n)).
    assert (Hfirst : 0 <= exp (- (a * INR j)) * (1 - exp (- (theta + h * INR j)))).
    { apply Rmult_le_pos; [left; apply exp_pos|].
      assert (exp (- (theta + h * INR j)) <= exp 0).
      { apply exp_mono. assert (0 <= h * INR j) by (apply Rmult_le_pos; [lra | apply pos_INR]). lra. }
      rewrite exp_0 in *; lra. }
    assert (Hal := exp_pos (- (a * INR n))). assert (Hk := exp_pos (- (a * IZR (lo k)))).
    assert (Hj : IZR (i - lo k) = IZR (Z.of_nat n * ((i - lo k) / Z.of_nat n)) + INR j).
    { unfold j; rewrite INR_IZR_INZ, Z2Nat.id, <- plus_IZR by lia. f_equal. apply Z.div_mod; lia. }
    replace (exp (- (a * IZR i))) with (exp (- (a * IZR (lo k))) * exp (- (a * IZR (i - lo k))))
      by (rewrite <- exp_plus, minus_IZR; f_equal; ring).
    rewrite (Rmult_comm (gain _ _ _ _)), Rmult_assoc; apply Rmult_le_compat_l; [lra|].
    unfold base.
    destruct (Z.lt_ge_cases i (lo k)) as [Hlt|Hge].
    { rewrite (gain_below h (epsilon k) cs (lo k)); try assumption; [lra|].
      rewrite minus_IZR; unfold theta in Hth; lra. }
    destruct (Z.eq_dec ((i - lo k) / Z.of_nat n) 0) as [Hq|Hq].
    - rewrite Hq, Z.mul_0_r, Rplus_0_l in Hj. rewrite Hj.
      rewrite (gain_above h (epsilon k) cs (lo k)); try assumption; [|unfold theta in Hth; lra].
      rewrite <- exp_plus.
      replace (epsilon k - rho cs + - h * IZR i) with (- (theta + h * INR j))
        by (unfold theta; rewrite <- Hj, minus_IZR; ring). lra.
    - assert (Hq' : (1 <= (i - lo k) / Z.of_nat n)%Z).
      { assert (0 <= (i - lo k) / Z.of_nat n)%Z by (apply Z.div_pos; lia). lia. }
      assert (Hbig : INR n <= IZR (i - lo k)).
      { rewrite INR_IZR_INZ; apply IZR_le. rewrite (Z.div_mod (i - lo k) (Z.of_nat n)) by lia. nia. }
      assert (exp (- (a * IZR (i - lo k))) <= exp (- (a * INR n))).
      { apply exp_mono, Ropp_le_contravar, Rmult_le_compat_l; lra. }
      assert (Hg1 := gain_at_most_one h (epsilon k) cs i). assert (Hg0 := gain_nonneg h (epsilon k) cs i).
      assert (He := exp_pos (- (a * IZR (i - lo k)))). nra.
  Qed.

  Lemma first_row_entries m fall keep alias e f i j :
    above (prec k) (exp (- a)) fall -> below (prec k) (exp (- h)) keep -> (0 <= keep)%Z -> (0 <= f)%Z ->
    exp (- (a * INR n)) * IZR whole <= IZR alias ->
    above (prec k) (exp (- (a * INR i))) e -> below (prec k) (exp (- (theta + h * INR i))) f ->
    (j < m)%nat ->
    base (i + j) * IZR whole <= IZR (nth j (first_row k m fall keep alias e f) 0%Z).
  Proof.
    intros Hfall Hkeep Hk0 Hf0 Halias; revert e f i j Hf0.
    induction m as [|m IH]; intros e f i j Hf0 He Hf Hj; [lia|].
    destruct j as [|j]; cbn [first_row nth].
    - rewrite Nat.add_0_r, plus_IZR. unfold base; rewrite Rmult_plus_distr_r.
      apply Rplus_le_compat; [|assumption].
      eapply Rle_trans; [|apply scale_up_bound]; fold one; rewrite mult_IZR.
      apply Rmult_le_reg_r with one; [assumption|].
      unfold Rdiv; rewrite (Rmult_assoc _ (/ one)), Rinv_l, Rmult_1_r by lra.
      set (E := exp (- (a * INR i))) in *; set (F := exp (- (theta + h * INR i))) in *.
      replace (E * (1 - F) * IZR whole * one) with ((E * (1 - F)) * one * IZR whole) by ring.
      apply Rmult_le_compat_r; [left; apply whole_pos|].
      assert (HF : F <= 1).
      { unfold F; rewrite <- exp_0; apply exp_mono. assert (Hth := theta_bounds). assert (Hh := h_pos); fold h in Hh.
        assert (0 <= h * INR i) by (apply Rmult_le_pos; [lra | apply pos_INR]). lra. }
      apply above_mult; [left; apply exp_pos | lra | assumption |].
      unfold above, below in *; rewrite minus_IZR; fold one in Hf |- *. lra.
    - replace (i + S j)%nat with (S i + j)%nat by lia.
      apply IH; try lia.
      + apply scale_down_nonneg; nia.
      + rewrite S_INR; replace (- (a * (INR i + 1))) with (- (a * INR i) + - a) by ring. rewrite exp_plus.
        apply above_mult; try assumption; left; apply exp_pos.
      + rewrite S_INR; replace (- (theta + h * (INR i + 1))) with (- (theta + h * INR i) + - h) by ring.
        rewrite exp_plus; now apply below_mult.
  Qed.

  Lemma first_row_length m fall keep alias e f : length (first_row k m fall keep alias e f) = m.
  Proof. revert e f; induction m as [|m IH]; intros e f; cbn [first_row length]; [|rewrite IH]; reflexivity. Qed.

  Lemma first_bounds j : (j < n)%nat -> base j * IZR whole <= IZR (nth j (first k) 0%Z).
  Proof.
    destruct (positive_numbers k Hdata) as (H1 & H2 & H3 & H4 & H5 & _ & Hn); fold n in Hn.
    assert (Hex : (0 <= excess k)%Z).
    { generalize Hlo; unfold lo_is_first; rewrite Bool.andb_true_iff, !Z.leb_le; tauto. }
    assert (H2' := IZR_lt _ _ H2); assert (H4' := IZR_lt _ _ H4).
    assert (Hkeep := exp_down_bound (prec k) (squarings k) (h_num k) (h_den k) ltac:(lia) ltac:(lia)).
    assert (Hth := exp_down_bound (prec k) (squarings k) (excess k) (2 * h_den k * eps_den k) ltac:(lia) ltac:(nia)).
    rewrite <- theta_is_excess in Hth.
    intros Hj; change j with (0 + j)%nat at 1; unfold first; fold n.
    apply first_row_entries; try tauto.
    - replace (- a) with (- (IZR (c_num k * h_num k) / IZR (c_den k * h_den k))).
      + apply exp_up_bound; nia.
      + unfold a, tilt, spacing; rewrite !mult_IZR; field; lra.
    - apply Rle_trans with (IZR (exp_up (prec k) (squarings k) (c_num k * h_num k * Z.of_nat n) (c_den k * h_den k) * whole) / one).
      2: apply scale_up_bound.
      rewrite mult_IZR. apply Rmult_le_reg_r with one; [assumption|].
      unfold Rdiv; rewrite (Rmult_assoc _ (/ one)), Rinv_l, Rmult_1_r by lra.
      rewrite Rmult_assoc, (Rmult_comm (IZR whole)), <- Rmult_assoc.
      apply Rmult_le_compat_r; [left; apply whole_pos|].
      replace (a * INR n) with (IZR (c_num k * h_num k * Z.of_nat n) / IZR (c_den k * h_den k)).
      + apply exp_up_bound; nia.
      + unfold a, tilt, spacing; rewrite INR_IZR_INZ, !mult_IZR; field; lra.
    - unfold above; cbn [INR]. rewrite Rmult_0_r, Ropp_0, exp_0; lra.
    - cbn [INR]; rewrite Rmult_0_r, Rplus_0_r; tauto.
  Qed.

  Lemma first_row_bounds :
    forallb fits (first k) = true ->
    bounds k (gain h (epsilon k) cs) [] (to_row (first k)).
  Proof.
    intros Hfits.
    assert (Hlen : length (first k) = n) by apply first_row_length.
    assert (Hentry : forall j, (j < n)%nat -> entry (to_row (first k)) j = nth j (first k) 0%Z).
    { intros j Hj; unfold entry, to_row.
      rewrite (nth_indep _ 0%uint63 (of_Z 0)) by (rewrite map_length, Hlen; assumption).
      rewrite map_nth; apply of_fits.
      rewrite forallb_forall in Hfits; apply Hfits, nth_In; now rewrite Hlen. }
    split; [unfold to_row; now rewrite map_length | split].
    - intros j; destruct (Nat.lt_ge_cases j n) as [Hj|Hj].
      + rewrite Hentry by assumption. rewrite forallb_forall in Hfits.
        apply fits_bounds, Hfits, nth_In; now rewrite Hlen.
      + unfold entry; rewrite nth_overflow by (unfold to_row; rewrite map_length, Hlen; assumption).
        cbn; discriminate.
    - intros A i; rewrite walked_nil. eapply Rle_trans; [apply base_bounds_gain|].
      assert (Hp := place_lt k Hdata i); fold n in Hp.
      set (j := Z.to_nat _) in *.
      rewrite Hentry by assumption. unfold grain, Rdiv; rewrite Rmult_assoc.
      apply Rmult_le_compat_l; [left; apply exp_pos|].
      apply Rmult_le_reg_l with (IZR whole); [apply whole_pos|].
      rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by (generalize whole_pos; lra).
      rewrite Rmult_comm; now apply first_bounds.
  Qed.
End First.

(** ** The theorem *)

Lemma walk_gives_lattice k gs u v :
  positive_data k = true -> walk k gs u = Some v -> on_lattice (spacing k) (stepped gs).
Proof.
  intros Hdata; destruct (positive_numbers k Hdata) as (_ & Hh2%IZR_lt & _).
  revert v; induction gs as [|g gs IH]; intros v; cbn [walk]; [constructor|].
  destruct (walk k gs u) as [w|]; [|discriminate]. unfold walk_group.
  destruct (group_is_sound _ _ _) eqn:E; [|discriminate]; intros _.
  unfold group_is_sound in E; rewrite !Bool.andb_true_iff in E.
  destruct E as ((((((((((H1 & H2) & _) & H4) & _) & _) & _) & _) & _) & _) & _).
  apply Z.ltb_lt, IZR_lt in H1, H2; apply Z.eqb_eq in H4.
  change (stepped (g :: gs)) with (repeat (count_of g, step g) (copies g) ++ stepped gs).
  apply Forall_app; split; [|now apply (IH w)].
  apply Forall_forall; intros cm Hcm; apply repeat_spec in Hcm; subst cm; cbn [fst snd].
  unfold spacing, count_of; cbn [sigma2 shift]. split; [now apply Rdiv_lt_0_compat|].
  apply (f_equal IZR) in H4; rewrite !mult_IZR in H4.
  apply Rmult_eq_reg_r with (IZR (den g) * IZR (h_den k)); [|nra].
  rewrite <- Rmult_assoc, H4; field; lra.
Qed.

Theorem certified_is_true k :
  certified k = true ->
  delta (composition (groups k)) (IZR (eps_num k) / IZR (eps_den k))
  <= IZR (delta_num k) / IZR (delta_den k).
Proof.
  unfold certified; rewrite !Bool.andb_true_iff.
  intros (((Hdata & Hlo) & Hfits) & Hwalk).
  destruct (exp_up_signed _ _ _ _) as [X|] eqn:EX; [|discriminate].
  destruct (walk k (groups k) (to_row (first k))) as [u|] eqn:Hw; [|discriminate].
  apply Z.leb_le in Hwalk.
  assert (Hlat := walk_gives_lattice k _ _ _ Hdata Hw).
  assert (Hfirst := first_row_bounds k Hdata Hlo Hlat Hfits).
  assert (Hb := walk_bounds k Hdata _ _ _ _ Hfirst Hw). destruct Hb as (_ & _ & Hb).
  destruct (positive_numbers k Hdata) as (H1 & H2 & H3 & H4 & H5 & H6 & Hn).
  assert (Hrho := rho_is_steps k Hlat).
  rewrite <- counts_of_steps in *.
  eapply Rle_trans.
  { apply (delta_at_most_walked (tilt k) (spacing k) (epsilon k) _
             (grain k * IZR (entry u (Z.to_nat ((0 - lo k) mod Z.of_nat (period k))))) Hlat).
    intros A; apply Hb. }
  set (e := entry u (Z.to_nat ((0 - lo k) mod Z.of_nat (period k)))) in *.
  assert (HX : above (prec k) (exp (- (IZR (last_num k) / IZR (last_den k)))) X).
  { apply (exp_up_signed_bound _ _ _ _ _) with (2 := EX); unfold last_den; nia. }
  unfold grain, Rdiv.
  rewrite <- Rmult_assoc, <- Rmult_assoc, <- exp_plus.
  replace ((tilt k)² * rho (counts (stepped (groups k))) + - (tilt k * spacing k * IZR (lo k)))
    with (- (IZR (last_num k) / IZR (last_den k))).
  2: { rewrite Hrho. unfold last_num, last_den, tilt, spacing.
       rewrite Z.pow_2_r, !mult_IZR, minus_IZR, !mult_IZR.
       apply IZR_lt in H2, H4. unfold Rsqr; field; lra. }
  assert (He : 0 <= IZR e) by (apply IZR_le, to_Z_bounded).
  assert (Hone := IZR_two_to_pos (prec k)); assert (Htop := whole_pos).
  apply IZR_lt in H6. apply IZR_le in Hwalk; rewrite !mult_IZR in Hwalk.
  unfold above in HX; set (Y := exp _) in *; set (one := IZR (two_to (prec k))) in *.
  fold (IZR (delta_num k) / IZR (delta_den k)).
  apply Rmult_le_reg_r with (one * IZR whole * IZR (delta_den k)).
  { apply Rmult_lt_0_compat; [now apply Rmult_lt_0_compat | assumption]. }
  replace (Y * / IZR whole * IZR e * (one * IZR whole * IZR (delta_den k)))
    with ((Y * one) * (IZR e * IZR (delta_den k))) by (field; lra).
  replace (IZR (delta_num k) / IZR (delta_den k) * (one * IZR whole * IZR (delta_den k)))
    with (IZR (delta_num k) * one * IZR whole) by (field; lra).
  eapply Rle_trans; [|exact Hwalk]. rewrite (Rmult_assoc (IZR X)).
  apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | assumption].
Qed.
