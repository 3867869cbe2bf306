(** * What the computation of Certificate.v answers is true: upper ends *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Uint63.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Directions Cells Walk Tables Response Fixed Rows Certificate Laws CellTables BoundedTables AnyLaw.
Import ListNotations.
Open Scope R_scope.

Opaque exp_up exp_down.

Definition stepped (k : certificate) (gs : list group) : steps :=
  flat_map (fun g => repeat (term_of k g) (copies g)) gs.

Lemma counts_of_steps k gs : counts (stepped k gs) = carriers gs.
Proof.
  unfold counts, stepped, carriers; induction gs as [|g gs IH]; [reflexivity|].
  cbn [flat_map]; rewrite map_app, IH; f_equal.
  induction (copies g) as [|n IHn]; [reflexivity|]. cbn; now rewrite IHn.
Qed.

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

Lemma mixed_is_a_sum off (f : Z -> Z) u i x w :
  forallb fits (map f (zlist x w)) = true ->
  IZR (mixed off x (to_row (map f (zlist x w))) u i)
  = lsum (fun y => IZR (f y) * IZR (entry u (off y + i))) (zlist x w).
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

  Hypothesis Hdata : positive_data k = true.

  Lemma positive_numbers :
    (0 < h_num k /\ 0 < h_den k /\ 0 < c_num k /\ 0 < c_den k /\ 0 < eps_den k /\ 0 < delta_den k
     /\ 0 < Z.of_nat (period k))%Z.
  Proof. generalize Hdata; unfold positive_data; rewrite !Bool.andb_true_iff, !Z.ltb_lt; tauto. Qed.

  Let n := period k.
  Let place (i : Z) : nat := Z.to_nat ((i - lo k) mod Z.of_nat n).

  (** What a unit of a row stands for. *)
  Definition grain : R := exp (- (tilt k * spacing k * IZR (lo k))) / IZR whole.

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
    /\ forall A i, walked (tilt k) (spacing k) gain rest A i <= grain * IZR (entry u (place i)).

  Lemma next_bounds g l t rest u :
    lattice_ok k g = true -> table_up k g = Some (l, t) ->
    forallb fits l = true -> fits t = true -> (zsum l + t <= top)%Z -> bounds rest u ->
    row_fits (next k g (to_row l) (of_Z t) u) = true ->
    bounds (term_of k g :: rest) (next k g (to_row l) (of_Z t) u).
  Proof.
    intros Hok Htable Hl Ht Hsum (Hlen & Hentries & Hu) Hfits.
    destruct positive_numbers as (Hh1 & Hh2 & Hc1 & Hc2 & _).
    destruct (table_up_sound k Hc2 Hc1 Hh1 Hh2 g l t Hok Htable) as (f & -> & Habove).
    assert (Htail := of_fits _ Ht); apply fits_bounds in Ht.
    set (l := map f (zlist (left g) (width g))) in *.
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
    set (acc := repeat (of_Z t * largest u)%uint63 n).
    assert (Hacc : forall i, (i < n)%nat -> entry acc i = (t * big)%Z).
    { intros i Hi; unfold entry, acc; rewrite nth_repeat_lt by assumption.
      rewrite mul_spec, Htail; fold big. apply Z.mod_small.
      split; [nia|]. apply Z.le_lt_trans with (top * top)%Z; [apply Z.mul_le_mono_nonneg; lia | assumption]. }
    assert (Hlaw : weight_sum (to_row l) = zsum l) by now apply weight_sum_to_row.
    set (ws := to_row l) in *.
    set (off := turn n (stride g)).
    assert (Hoff : forall x, (off x + n <= length (u ++ u))%nat).
    { intros x; rewrite app_length; generalize (turn_lt n (stride g) x n_pos); unfold off; lia. }
    set (m := mix off (left g) ws (u ++ u) acc).
    assert (Hm : length m = n) by (apply mix_length; [exact Hoff | apply repeat_length]).
    assert (Hws := weight_sum_nonneg ws).
    assert (Hmix : forall i, (i < n)%nat -> entry m i = (t * big + mixed off (left g) ws (u ++ u) i)%Z).
    { intros i Hi; unfold m; rewrite (mix_entries n off (u ++ u) Hoff _ _ _ top); try assumption.
      - now rewrite Hacc.
      - apply repeat_length.
      - discriminate.
      - apply twice_entries; [discriminate | assumption].
      - rewrite Hacc, Hlaw by assumption.
        apply Z.le_lt_trans with (top * top)%Z; [|assumption].
        apply Z.le_trans with ((zsum l + t) * top)%Z; [|apply Z.mul_le_mono_nonneg_r; lia].
        rewrite Z.mul_add_distr_r. assert (t * big <= t * top)%Z by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
    split; [|split].
    - unfold next, shifted_up; rewrite map_length; exact Hm.
    - intros j; now apply row_fits_entries.
    - intros A i.
      eapply Rle_trans.
      { apply (walk_step (tilt k) (spacing k) gain (term_of k g) rest (left g) (width g)
                 (fun y => IZR (f y) / IZR whole) (IZR t / IZR whole)
                 (fun i => grain * IZR (entry u (place i))) (grain * IZR big)); try assumption.
        - now apply (term_lawful k).
        - intros j; assert (Hg := grain_pos); split.
          + apply Rmult_le_pos; [lra|]. apply IZR_le; apply to_Z_bounded.
          + apply Rmult_le_compat_l; [lra|]. apply IZR_le, largest_bound. }
      rewrite (step_of_term k) by assumption.
      unfold next, acc; fold n. fold off acc m.
      rewrite shifted_up_entry; [|rewrite Hm; apply place_lt | reflexivity].
      apply Rle_trans with (grain * (IZR (entry m (place i)) / IZR whole)).
      + rewrite Hmix by apply place_lt. rewrite plus_IZR, mult_IZR.
        unfold ws, l; rewrite mixed_is_a_sum by exact Hl.
        unfold Rdiv; rewrite Rmult_plus_distr_r, Rmult_plus_distr_l, Rplus_comm.
        apply Rplus_le_compat; [right; ring|].
        rewrite <- lsum_scale_r, <- lsum_scale. right; apply lsum_ext; intros x.
        unfold off; rewrite entry_of_turn by (assumption || apply place_lt).
        replace (place (i - stride g * x)) with (Z.to_nat ((Z.of_nat (place i) - stride g * x) mod Z.of_nat n)); [ring|].
        assert (Hn := n_pos); unfold place at 1.
        rewrite Z2Nat.id by (apply Z.mod_pos_bound; lia).
        unfold place; f_equal. rewrite Zminus_mod_idemp_l; f_equal; lia.
      + apply Rmult_le_compat_l; [left; apply grain_pos|].
        apply (quotient_up_bound (entry m (place i)) whole); reflexivity.
  Qed.

  Lemma walk_copies_bounds g l t c rest u v :
    lattice_ok k g = true -> table_up k g = Some (l, t) ->
    forallb fits l = true -> fits t = true -> (zsum l + t <= top)%Z -> bounds rest u ->
    walk_copies k g (to_row l) (of_Z t) c u = Some v ->
    bounds (repeat (term_of k g) c ++ rest) v.
  Proof.
    intros H1 H2 H3 H4 H5 Hu; revert v; induction c as [|c IH]; intros v; cbn [walk_copies repeat app].
    - now intros [= <-].
    - destruct (walk_copies _ _ _ _ _ _) as [w|]; [|discriminate].
      destruct (row_fits _) eqn:E; [|discriminate]. intros [= <-].
      apply next_bounds; auto.
  Qed.

  Lemma walk_bounds gs u v : bounds [] u -> walk k gs u = Some v -> bounds (stepped k gs) v.
  Proof.
    intros Hu; revert v; induction gs as [|g gs IH]; intros v; cbn [walk stepped flat_map].
    - now intros [= <-].
    - destruct (walk k gs u) as [w|]; [|discriminate]. unfold walk_group.
      destruct (lattice_ok _ _) eqn:E; [|discriminate].
      destruct (table_up k g) as [[l t]|] eqn:Et; [|discriminate].
      destruct (_ && _)%bool eqn:Ef; [|discriminate].
      rewrite !Bool.andb_true_iff, Z.leb_le in Ef; destruct Ef as [[Hl Ht] Hs].
      intros H; apply (walk_copies_bounds g l t (copies g) _ w); auto.
  Qed.
End Rows.

(** ** Sums over the counts *)

Section Bases.
  Variable k : certificate.
  Hypothesis Hdata : positive_data k = true.

  Lemma base_of_term g :
    lattice_ok k g = true -> base (reading_of k g) = spacing k * IZR (base_steps g) / 2.
  Proof.
    destruct (positive_numbers k Hdata) as (_ & Hh2%IZR_lt & _).
    unfold lattice_ok, reading_of, base_steps, spacing; destruct (law g) as [num den|num den nn|num den inum iden nn|kind num den b nn|];
      [| | | |intros _; cbn [base]; unfold Rdiv; ring];
      rewrite !Bool.andb_true_iff, ?Z.ltb_lt, ?Z.eqb_eq; cbn [base Count_reading Laplace_reading Response_reading common_reading].
    - intros [[Hn%IZR_lt Hd%IZR_lt] H]; apply (f_equal IZR) in H; rewrite !mult_IZR in H. rewrite mult_IZR.
      replace (IZR (h_num k) / IZR (h_den k) * (IZR (move g) * IZR (stride g)) / 2)
        with (IZR (move g) * (IZR (stride g) * IZR (h_num k) * IZR num) / (2 * IZR num * IZR (h_den k))) by (field; lra).
      rewrite <- H; field; lra.
    - intros [[[[[Hn%IZR_lt Hd%IZR_lt] _] _] _] H]; apply (f_equal IZR) in H; rewrite !mult_IZR in H. rewrite mult_IZR.
      replace (IZR (h_num k) / IZR (h_den k) * (IZR (move g) * IZR (stride g)) / 2)
        with (IZR (move g) * (IZR (stride g) * IZR (h_num k) * IZR den) / (2 * IZR den * IZR (h_den k))) by (field; lra).
      rewrite <- H; field; lra.
    - intros [[[[[[[Hn%IZR_lt Hd%IZR_lt] _] _] ->] _] _] H]; apply (f_equal IZR) in H; rewrite !mult_IZR in H. rewrite mult_IZR.
      replace (IZR (h_num k) / IZR (h_den k) * (1 * IZR (stride g)) / 2)
        with ((IZR (stride g) * IZR (h_num k) * IZR den) / (2 * IZR den * IZR (h_den k))) by (field; lra).
      rewrite <- H; field; lra.
    - intros [[Hn%IZR_lt Hd%IZR_lt] H].
      destruct kind; rewrite !Bool.andb_true_iff, !Z.eqb_eq in H; destruct H as [[Hm _] H];
        apply (f_equal IZR) in H; rewrite !mult_IZR in H; rewrite mult_IZR.
      + replace (IZR (h_num k) / IZR (h_den k) * (IZR (move g) * IZR (stride g)) / 2)
          with (IZR (move g) * (IZR (stride g) * IZR (h_num k) * IZR num) / (2 * IZR num * IZR (h_den k))) by (field; lra).
        rewrite <- H; field; lra.
      + replace (IZR (h_num k) / IZR (h_den k) * (IZR (move g) * IZR (stride g)) / 2)
          with (IZR (move g) * (IZR (stride g) * IZR (h_num k) * IZR den) / (2 * IZR den * IZR (h_den k))) by (field; lra).
        rewrite <- H; field; lra.
      + rewrite Hm. replace (IZR (h_num k) / IZR (h_den k) * (2 * IZR (stride g)) / 2)
          with ((IZR (stride g) * IZR (h_num k) * IZR den) / (IZR den * IZR (h_den k))) by (field; lra).
        rewrite <- H; field; lra.
  Qed.

  Lemma norm_of_term g :
    lattice_ok k g = true ->
    norm (reading_of k g)
    = (tilt k)² * (spacing k * (IZR (own_norm_steps g) / IZR norm_unit) / 2).
  Proof.
    assert (Hu : 0 < IZR norm_unit) by (apply IZR_lt; reflexivity).
    intros H; assert (Hb := base_of_term g H); revert Hb.
    unfold reading_of, own_norm_steps, base_steps; destruct (law g); cbn [base norm Count_reading Laplace_reading Response_reading].
    - intros ->; rewrite (mult_IZR norm_unit). field; lra.
    - reflexivity.
    - reflexivity.
    - reflexivity.
    - intros _; rewrite mult_IZR. field; lra.
  Qed.

  Lemma sum_over_copies (f : count * reading -> R) v n l :
    fold_right (fun cm acc => f cm + acc) 0 (repeat v n ++ l) = INR n * f v + fold_right (fun cm acc => f cm + acc) 0 l.
  Proof.
    induction n as [|n IH]; [cbn; ring|]. cbn [repeat app fold_right]; rewrite IH, S_INR; ring.
  Qed.

  Variable gs : list group.
  Hypothesis Hok : Forall (fun g => lattice_ok k g = true) gs.

  Lemma stepped_lawful : Forall (fun cm => lawful (fst cm)) (stepped k gs).
  Proof.
    destruct (positive_numbers k Hdata) as (_ & Hh2 & _).
    induction Hok as [|g gs' Hg Hgs IH]; [constructor|].
    change (stepped k (g :: gs')) with (repeat (term_of k g) (copies g) ++ stepped k gs').
    apply Forall_app; split; [|exact (IH Hgs)].
    apply Forall_forall; intros cm Hcm; apply repeat_spec in Hcm; subst cm. now apply (term_lawful k).
  Qed.

  Lemma stepped_on_lattice : forallb aligned gs = true -> on_lattice (spacing k) (stepped k gs).
  Proof.
    destruct (positive_numbers k Hdata) as (_ & Hh2 & _).
    induction Hok as [|g gs' Hg Hgs IH]; [constructor|]. cbn [forallb]; intros He; apply andb_prop in He; destruct He as [He Hes].
    change (stepped k (g :: gs')) with (repeat (term_of k g) (copies g) ++ stepped k gs').
    apply Forall_app; split; [|exact (IH Hgs Hes)].
    apply Forall_forall; intros cm Hcm; apply repeat_spec in Hcm; subst cm. now apply term_on_lattice.
  Qed.

  Lemma stepped_offset :
    offset (stepped k gs) = spacing k * IZR (zsum (map (fun g => Z.of_nat (copies g) * base_steps g)%Z gs)) / 2.
  Proof.
    induction Hok as [|g gs' Hg Hgs IH]; [cbn; field|].
    change (stepped k (g :: gs')) with (repeat (term_of k g) (copies g) ++ stepped k gs').
    unfold offset; rewrite (sum_over_copies (fun cm => base (snd cm))); fold (offset (stepped k gs')).
    rewrite (IH Hgs); cbn [map term_of snd]; rewrite base_of_term by assumption.
    change (zsum (?x :: ?l)) with (x + zsum l)%Z; rewrite plus_IZR, (mult_IZR (Z.of_nat _)), <- INR_IZR_INZ; field.
  Qed.

  Lemma stepped_norms :
    norms (stepped k gs)
    = (tilt k)² * (spacing k * (IZR (zsum (map (fun g => Z.of_nat (copies g) * own_norm_steps g)%Z gs)) / IZR norm_unit) / 2).
  Proof.
    induction Hok as [|g gs' Hg Hgs IH]; [cbn; unfold Rdiv; ring|].
    change (stepped k (g :: gs')) with (repeat (term_of k g) (copies g) ++ stepped k gs').
    unfold norms; rewrite (sum_over_copies (fun cm => norm (snd cm))); fold (norms (stepped k gs')).
    rewrite (IH Hgs); cbn [map term_of snd]; rewrite norm_of_term by assumption.
    assert (Hu : 0 < IZR norm_unit) by (apply IZR_lt; reflexivity).
    change (zsum (?x :: ?l)) with (x + zsum l)%Z; rewrite plus_IZR, (mult_IZR (Z.of_nat _)), <- INR_IZR_INZ; field; lra.
  Qed.

  Lemma composition_proper : proper (composition gs).
  Proof.
    destruct (positive_numbers k Hdata) as (_ & Hh2 & _).
    induction Hok as [|g gs' Hg Hgs IH]; [constructor|]. apply Forall_app; split; [|exact (IH Hgs)].
    apply Forall_forall; intros c Hc; apply repeat_spec in Hc; subst c. now apply (count_lawful k).
  Qed.

  (** The counts are the carriers with outputs merged. *)
  Lemma composition_merges : forallb exact gs = true -> exists ks, all_merge ks (composition gs) (carriers gs).
  Proof.
    destruct (positive_numbers k Hdata) as (_ & Hh2 & _).
    enough (G : forallb exact gs = true -> exists ks, Forall2 (fun kd cc => merges kd (fst cc) (snd cc)) ks
      (combine (composition gs) (carriers gs)) /\ length (composition gs) = length (carriers gs)) by exact G.
    induction Hok as [|g gs' Hg Hgs IH]; [exists []; split; [constructor | reflexivity]|].
    cbn [forallb]; intros He; apply andb_prop in He; destruct He as [He Hes]. destruct (IH Hgs Hes) as (ks & Hks & Hl).
    destruct (term_merges k Hh2 g Hg He) as [kids Hkids].
    exists (repeat kids (copies g) ++ ks); cbn [composition carriers flat_map].
    fold (composition gs') (carriers gs'). split; [|now rewrite !app_length, !repeat_length, Hl].
    induction (copies g) as [|n IHn]; [exact Hks|]. cbn [repeat app combine]; constructor; [exact Hkids | exact IHn].
  Qed.
End Bases.

Lemma composition_symmetric gs : symmetric (composition gs).
Proof.
  induction gs as [|g gs [ss IH]]; [exists []; constructor|]. destruct (term_mirrored g) as [s Hs].
  exists (repeat s (copies g) ++ ss). cbn [composition flat_map]; apply Forall2_app; [|exact IH].
  induction (copies g) as [|n IHn]; [constructor|]. cbn [repeat]; constructor; [exact Hs | exact IHn].
Qed.

Lemma last_den_pos k : positive_data k = true -> (0 < last_den k)%Z.
Proof.
  intros H; destruct (positive_numbers k H) as (_ & H2 & _ & H4 & _). unfold last_den.
  rewrite Z.pow_2_r. repeat apply Z.mul_pos_pos; assumption || reflexivity.
Qed.

(** exp(norms - c h lo) as the last factor. *)
Lemma last_exponent k :
  positive_data k = true -> Forall (fun g => lattice_ok k g = true) (groups k) ->
  norms (stepped k (groups k)) + - (tilt k * spacing k * IZR (lo k)) = - (IZR (last_num k) / IZR (last_den k)).
Proof.
  intros Hdata Hok; destruct (positive_numbers k Hdata) as (_ & H2%IZR_lt & _ & H4%IZR_lt & _).
  rewrite stepped_norms by assumption. fold (norm_steps k). unfold last_num, last_den, tilt, spacing.
  assert (Hu : 0 < IZR norm_unit) by (apply IZR_lt; reflexivity).
  rewrite Z.pow_2_r, !mult_IZR, minus_IZR, !mult_IZR. unfold Rsqr; field; lra.
Qed.

(** ** The first row *)

Section First.
  Variable k : certificate.
  Hypothesis Hdata : positive_data k = true.
  Hypothesis Hlo : lo_is_first k = true.
  Hypothesis Hbases : offset (stepped k (groups k)) = spacing k * IZR (offset_steps k) / 2.

  Let r : R := offset (stepped k (groups k)).
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

  (** The loss of index lo, less eps. *)
  Let theta : R := r + h * IZR (lo k) - epsilon k.

  Lemma theta_is_excess : theta = IZR (excess k) / IZR (2 * h_den k * eps_den k).
  Proof.
    destruct (positive_numbers k Hdata) as (_ & H2%IZR_lt & _ & _ & H5%IZR_lt & _).
    unfold theta, r; rewrite Hbases; unfold excess, h, spacing, epsilon.
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
    gain h (epsilon k) r i * exp (- (a * IZR i))
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
    { rewrite (gain_below h (epsilon k) r (lo k)); try assumption; [lra|].
      rewrite minus_IZR; unfold theta in Hth; lra. }
    destruct (Z.eq_dec ((i - lo k) / Z.of_nat n) 0) as [Hq|Hq].
    - rewrite Hq, Z.mul_0_r, Rplus_0_l in Hj. rewrite Hj.
      rewrite (gain_above h (epsilon k) r (lo k)); try assumption; [|unfold theta in Hth; lra].
      rewrite <- exp_plus.
      replace (epsilon k - r + - h * IZR i) with (- (theta + h * INR j))
        by (unfold theta; rewrite <- Hj, minus_IZR; ring). lra.
    - assert (Hq' : (1 <= (i - lo k) / Z.of_nat n)%Z).
      { assert (0 <= (i - lo k) / Z.of_nat n)%Z by (apply Z.div_pos; lia). lia. }
      assert (Hbig : INR n <= IZR (i - lo k)).
      { rewrite INR_IZR_INZ; apply IZR_le. rewrite (Z.div_mod (i - lo k) (Z.of_nat n)) by lia. nia. }
      assert (exp (- (a * IZR (i - lo k))) <= exp (- (a * INR n))).
      { apply exp_mono, Ropp_le_contravar, Rmult_le_compat_l; lra. }
      assert (Hg1 := gain_at_most_one h (epsilon k) r i). assert (Hg0 := gain_nonneg h (epsilon k) r i).
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
    bounds k (gain h (epsilon k) r) [] (to_row (first k)).
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
  walk k gs u = Some v -> Forall (fun g => lattice_ok k g = true) gs.
Proof.
  revert v; induction gs as [|g gs IH]; intros v; cbn [walk]; [constructor|].
  destruct (walk k gs u) as [w|]; [|discriminate]. unfold walk_group.
  destruct (lattice_ok _ _) eqn:E; [|discriminate]; intros _. constructor; [exact E | now apply (IH w)].
Qed.

(** The claim of a certificate: its counts and its two numbers. *)
Definition claimed_eps (k : certificate) : R := IZR (eps_num k) / IZR (eps_den k).
Definition claimed_delta (k : certificate) : R := IZR (delta_num k) / IZR (delta_den k).

(** The computation is about sums over the carriers' outputs. *)
Theorem sums_at_most_is_true k :
  sums_at_most k = true ->
  Forall (fun g => lattice_ok k g = true) (groups k)
  /\ forall A, value (stepped k (groups k)) (gain (spacing k) (epsilon k) (offset (stepped k (groups k)))) A 0 <= claimed_delta k.
Proof.
  unfold sums_at_most; rewrite !Bool.andb_true_iff.
  intros (((Hdata & Hlo) & Hfits) & Hwalk).
  destruct (exp_up_signed _ _ _ _) as [X|] eqn:EX; [|discriminate].
  destruct (walk k (groups k) (to_row (first k))) as [u|] eqn:Hw; [|discriminate].
  apply Z.leb_le in Hwalk.
  assert (Hok := walk_gives_lattice k _ _ _ Hw).
  split; [assumption|]. intros A.
  assert (Hoffset := stepped_offset k Hdata _ Hok).
  assert (Hfirst := first_row_bounds k Hdata Hlo Hoffset Hfits).
  assert (Hb := walk_bounds k Hdata _ _ _ _ Hfirst Hw). destruct Hb as (_ & _ & Hb).
  destruct (positive_numbers k Hdata) as (H1 & H2 & H3 & H4 & H5 & H6 & Hn).
  eapply Rle_trans.
  { apply (value_at_most_walked (tilt k) (spacing k) _ _ _
             (grain k * IZR (entry u (Z.to_nat ((0 - lo k) mod Z.of_nat (period k)))))). apply Hb. }
  set (e := entry u (Z.to_nat ((0 - lo k) mod Z.of_nat (period k)))) in *.
  assert (HX : above (prec k) (exp (- (IZR (last_num k) / IZR (last_den k)))) X).
  { apply (exp_up_signed_bound _ _ _ _ _) with (2 := EX); now apply last_den_pos. }
  unfold grain, Rdiv, claimed_delta.
  rewrite <- Rmult_assoc, <- Rmult_assoc, <- exp_plus, last_exponent by assumption.
  assert (He : 0 <= IZR e) by (apply IZR_le, to_Z_bounded).
  assert (Hone := IZR_two_to_pos (prec k)); assert (Htop := whole_pos).
  apply IZR_lt in H6. apply IZR_le in Hwalk; rewrite !mult_IZR in Hwalk.
  unfold above in HX; set (Y := exp _) in *; set (one := IZR (two_to (prec k))) in *.
  apply Rmult_le_reg_r with (one * IZR whole * IZR (delta_den k)).
  { apply Rmult_lt_0_compat; [now apply Rmult_lt_0_compat | assumption]. }
  replace (Y * / IZR whole * IZR e * (one * IZR whole * IZR (delta_den k)))
    with ((Y * one) * (IZR e * IZR (delta_den k))) by (field; lra).
  replace (IZR (delta_num k) / IZR (delta_den k) * (one * IZR whole * IZR (delta_den k)))
    with (IZR (delta_num k) * one * IZR whole) by (field; lra).
  eapply Rle_trans; [|exact Hwalk]. rewrite (Rmult_assoc (IZR X)).
  apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | assumption].
Qed.

Lemma sums_at_most_positive k : sums_at_most k = true -> positive_data k = true.
Proof. unfold sums_at_most; rewrite !Bool.andb_true_iff; tauto. Qed.

Lemma exact_is_aligned gs : forallb exact gs = true -> forallb aligned gs = true.
Proof.
  rewrite !forallb_forall; intros H g Hg; specialize (H g Hg). now apply Bool.andb_true_iff in H.
Qed.

Theorem certified_is_true k :
  certified k = true ->
  proper (composition (groups k)) /\ delta (composition (groups k)) (claimed_eps k) <= claimed_delta k.
Proof.
  unfold certified; rewrite Bool.andb_true_iff; intros [He Hsum].
  assert (Hdata := sums_at_most_positive k Hsum). destruct (sums_at_most_is_true k Hsum) as [Hok Hvalue].
  split; [now apply (composition_proper k)|].
  destruct (composition_merges k Hdata _ Hok He) as [ks Hks].
  assert (Hlat := stepped_on_lattice k Hdata _ Hok (exact_is_aligned _ He)).
  apply Rle_trans with (delta (carriers (groups k)) (claimed_eps k)).
  - apply delta_of_merged with (1 := Hks). rewrite <- (counts_of_steps k). now apply (on_lattice_proper (spacing k)).
  - rewrite <- (counts_of_steps k). now apply (delta_at_most (spacing k)).
Qed.
