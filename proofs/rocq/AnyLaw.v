(** * Each law's tables are bounds *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Uint63.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Directions Cells Walk Tables Response Bounded Fixed Rows Certificate Laws CellTables BoundedTables.
Import ListNotations.
Open Scope R_scope.

Opaque exp_up exp_down exp_down_signed.

Section Laws.
  Variable k : certificate.
  Hypothesis Hc : (0 < c_den k)%Z.
  Let Hc' : 0 < IZR (c_den k). Proof. now apply IZR_lt. Qed.

  Hypothesis Hc1 : (0 < c_num k)%Z.
  Hypothesis Hh1 : (0 < h_num k)%Z.
  Hypothesis Hh2 : (0 < h_den k)%Z.

  Let tilt_nonneg : 0 <= tilt k.
  Proof. left; apply Rdiv_lt_0_compat; [now apply IZR_lt | assumption]. Qed.

  Definition reading_of (g : group) : reading :=
    match law g with
    | Gauss num den => Count_reading (tilt k) (IZR num / IZR den) (move g) (stride g)
    | Lap num den nn =>
      Laplace_reading (IZR num / IZR den) (move g) (stride g) ((tilt k)² * (spacing k * (IZR nn / IZR norm_unit) / 2))
    | Resp num den _ _ nn => Response_reading (IZR num / IZR den) (stride g) ((tilt k)² * (spacing k * (IZR nn / IZR norm_unit) / 2))
    | Bounded kind num den b nn =>
      common_reading k kind nn (move g) (stride g)
        match kind with
        | GaussWithin => IZR (move g) ^ 2 / (2 * (IZR num / IZR den))
        | LapWithin => IZR num / IZR den * IZR (move g)
        | OneOf => IZR num / IZR den
        end
    | Cell kind num den hn hd nk _ _ =>
      Reading 1 (cell_place kind num den (move g) hn hd) 0 ((tilt k)² * (spacing k * IZR nk / 2))
    end.

  Definition term_of (g : group) : count * reading := (carrier_of g, reading_of g).

  Lemma step_of_term g : lattice_ok k g = true -> step (snd (term_of g)) = stride g.
  Proof.
    unfold lattice_ok, term_of, reading_of; cbn [snd]; destruct (law g); try reflexivity.
    rewrite !Bool.andb_true_iff, Z.eqb_eq; cbn [step]. intros [[_ ->] _]; reflexivity.
  Qed.

  Let lattice_facts g :
    lattice_ok k g = true ->
    match law g with
    | Gauss num den => (0 < num)%Z /\ (0 < den)%Z /\ IZR (move g) = IZR (stride g) * spacing k * (IZR num / IZR den)
    | Lap num den _ => (0 < num)%Z /\ (0 < den)%Z /\ (0 < move g)%Z /\ left g = 0%Z /\ width g = S (Z.to_nat (move g))
                     /\ 2 * (IZR num / IZR den) = IZR (stride g) * spacing k
    | Resp num den inum iden _ => (0 < num)%Z /\ (0 < den)%Z /\ 0 <= IZR inum / IZR iden < 1 /\ move g = 1%Z /\ left g = 0%Z /\ width g = 2%nat
                                /\ 2 * (IZR num / IZR den) = IZR (stride g) * spacing k
    | Bounded kind num den b _ =>
      (0 < num)%Z /\ (0 < den)%Z /\ (kind <> OneOf -> (0 < move g <= 2 * b)%Z) /\ (kind = OneOf -> (2 <= b)%Z /\ move g = 2%Z)
      /\ match kind with
         | GaussWithin => IZR (move g) = IZR (stride g) * spacing k * (IZR num / IZR den)
         | LapWithin => 2 * (IZR num / IZR den) = IZR (stride g) * spacing k
         | OneOf => IZR num / IZR den = IZR (stride g) * spacing k
         end
    | Cell kind num den hn hd _ _ _ =>
      (0 < num)%Z /\ (0 < den)%Z /\ (0 < hn)%Z /\ (0 < hd)%Z /\ (kind = Split -> IZR hn / IZR hd = spacing k)
    end.
  Proof.
    assert (Hh2' := IZR_lt _ _ Hh2).
    unfold lattice_ok, spacing; destruct (law g) as [num den|num den nn|num den inum iden nn|kind num den b nn|kind num den hn hd nk xa xn]; rewrite !Bool.andb_true_iff, !Z.ltb_lt.
    - rewrite Z.eqb_eq; intros [[Hn Hd] H]; repeat split; try assumption.
      apply IZR_lt in Hn, Hd; apply (f_equal IZR) in H; rewrite !mult_IZR in H.
      apply Rmult_eq_reg_r with (IZR den * IZR (h_den k)); [|nra].
      rewrite <- Rmult_assoc, H; field; lra.
    - rewrite !Z.eqb_eq, Nat.eqb_eq; intros [[[[[Hn Hd] Hm] Hl] Hw] H]; repeat split; try assumption.
      apply IZR_lt in Hn, Hd; apply (f_equal IZR) in H; rewrite !mult_IZR in H.
      apply Rmult_eq_reg_r with (IZR den * IZR (h_den k)); [|nra].
      replace (2 * (IZR num / IZR den) * (IZR den * IZR (h_den k))) with (2 * IZR num * IZR (h_den k)) by (field; lra).
      rewrite H; field; lra.
    - rewrite Z.leb_le, !Z.eqb_eq, Nat.eqb_eq; intros [[[[[[[Hn Hd] Hi] Hj] Hm] Hl] Hw] H]. apply IZR_le in Hi; apply IZR_lt in Hj.
      repeat split; try assumption.
      + apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; lra].
      + apply Rmult_lt_reg_r with (IZR iden); [lra|]. unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
      + apply IZR_lt in Hn, Hd; apply (f_equal IZR) in H; rewrite !mult_IZR in H.
        apply Rmult_eq_reg_r with (IZR den * IZR (h_den k)); [|nra].
        replace (2 * (IZR num / IZR den) * (IZR den * IZR (h_den k))) with (2 * IZR num * IZR (h_den k)) by (field; lra).
        rewrite H; field; lra.
    - intros [[Hn Hd] H]. assert (Hn' := IZR_lt _ _ Hn); assert (Hd' := IZR_lt _ _ Hd).
      destruct kind; rewrite !Bool.andb_true_iff, ?Z.ltb_lt, ?Z.leb_le, !Z.eqb_eq in H; destruct H as [[H1 H2] H];
        (split; [assumption | split; [assumption | split; [intros Hk; try lia; now contradiction Hk | split; [intros Hk; try discriminate Hk; lia|]]]]);
        apply (f_equal IZR) in H; rewrite !mult_IZR in H; apply Rmult_eq_reg_r with (IZR den * IZR (h_den k)); try nra.
      + rewrite <- Rmult_assoc, H; field; lra.
      + replace (2 * (IZR num / IZR den) * (IZR den * IZR (h_den k))) with (2 * IZR num * IZR (h_den k)) by (field; lra).
        rewrite H; field; lra.
      + replace (IZR num / IZR den * (IZR den * IZR (h_den k))) with (IZR num * IZR (h_den k)) by (field; lra).
        rewrite H; field; lra.
    - intros [[[[[Hn Hd] H1] H2] _] H]; repeat split; try assumption. intros ->; apply Z.eqb_eq in H.
      apply IZR_lt in H1, H2; apply (f_equal IZR) in H; rewrite !mult_IZR in H.
      apply Rmult_eq_reg_r with (IZR hd * IZR (h_den k)); [|nra].
      replace (IZR hn / IZR hd * (IZR hd * IZR (h_den k))) with (IZR hn * IZR (h_den k)) by (field; lra).
      rewrite H; field; lra.
  Qed.

  Lemma ratio_pos n d : (0 < n)%Z -> (0 < d)%Z -> 0 < IZR n / IZR d.
  Proof. intros Hn Hd; apply Rdiv_lt_0_compat; now apply IZR_lt. Qed.

  Lemma count_lawful g : lattice_ok k g = true -> lawful (count_of g).
  Proof.
    intros H; apply lattice_facts in H; unfold count_of, noisy.
    destruct (law g) as [num den|num den nn|num den inum iden nn|kind num den b nn|kind num den hn hd nk xa xn];
      destruct H as (Hn & Hd & H); assert (Hs := ratio_pos _ _ Hn Hd);
      [now apply Count_lawful | now apply Laplace_lawful | | | now apply Count_lawful].
    - destruct inum; [apply Response_lawful | apply Box_lawful; lra | apply Box_lawful; lra].
    - destruct H as (H1 & H2 & _). destruct kind.
      + apply Truncated_lawful; [apply weight_pos|]. specialize (H1 ltac:(discriminate)); lia.
      + apply Truncated_lawful; [apply geometric_pos|]. specialize (H1 ltac:(discriminate)); lia.
      + apply Answers_lawful. specialize (H2 eq_refl); lia.
  Qed.

  Lemma term_lawful g : lattice_ok k g = true -> lawful (carrier_of g).
  Proof.
    intros H; assert (Hl := count_lawful g H); apply lattice_facts in H; unfold carrier_of.
    destruct (law g) as [num den|num den nn|num den inum iden nn|kind num den b nn|[ | | ] num den hn hd nk xa xn] eqn:E; try assumption.
    - apply Response_lawful.
    - destruct H as (Hn & Hd & H1 & H2 & _). apply (common_lawful k); try assumption. intros Hk; now apply H2.
    - destruct H as (Hn & Hd & H1 & H2 & _). apply SplitCount_lawful; try now apply ratio_pos. now apply (lower_cell_bounds Split).
    - unfold count_of, noisy in Hl; rewrite E in Hl. destruct Hl as [HP HQ]; split; assumption.
  Qed.

  Lemma term_on_lattice g :
    lattice_ok k g = true -> aligned g = true -> lawful (carrier_of g) /\ reads (spacing k) (carrier_of g) (reading_of g).
  Proof.
    intros H He; split; [now apply term_lawful|]. apply lattice_facts in H; revert He; unfold aligned, carrier_of, count_of, noisy, reading_of.
    destruct (law g) as [num den|num den nn|num den inum iden nn|kind num den b nn|[ | | ] num den hn hd nk xa xn]; try discriminate; intros _.
    - destruct H as (Hn & Hd & H); assert (Hs := ratio_pos _ _ Hn Hd). now apply Count_reads.
    - destruct H as (Hn & Hd & Hm & _ & _ & H); assert (Hs := ratio_pos _ _ Hn Hd). now apply Laplace_reads.
    - destruct H as (_ & _ & _ & _ & _ & _ & H). now apply Response_reads.
    - destruct H as (Hn & Hd & H1 & H2 & H). assert (Hs := ratio_pos _ _ Hn Hd). apply common_part_reads.
      + destruct kind; cbn [own_weight other_weight first_common commons].
        * apply overlap_sums; [apply weight_pos | apply weight_even | apply H1; discriminate].
        * apply overlap_sums; [apply geometric_pos | apply geometric_even | apply H1; discriminate].
        * symmetry; apply answers_sum. destruct (H2 eq_refl); lia.
      + intros x _; destruct kind; cbn [own_weight other_weight base step place common_reading common_place].
        * now apply weight_loss.
        * apply geometric_loss; [assumption | apply H1; discriminate | assumption].
        * now apply answer_loss.
    - destruct H as (Hn & Hd & H1 & H2 & H). rewrite H by reflexivity. apply SplitCount_reads.
  Qed.

  (** A count is its carrier with outputs merged. *)
  Lemma term_merges g :
    lattice_ok k g = true -> exact g = true -> exists kids, merges kids (count_of g) (carrier_of g).
  Proof.
    intros H He; apply lattice_facts in H; revert He; unfold exact, aligned, finite, carrier_of, count_of, noisy.
    destruct (law g) as [num den|num den nn|num den [|i|i] iden nn|[ | | ] num den b nn|[ | | ] num den hn hd nk xa xn]; try discriminate; intros _;
      try (eexists; apply merges_itself).
    destruct H as (Hn & Hd & H1 & H2 & _). exists pair_of.
    apply split_merges; now apply ratio_pos.
  Qed.

  Lemma term_mirrored g : exists s, mirrored (count_of g) s.
  Proof.
    unfold count_of, noisy; destruct (law g) as [| |num den inum iden nn|[ | | ] num den b nn|].
    - eexists; apply Count_mirrored.
    - eexists; apply even_noise_mirrored, laplace_even.
    - eexists; destruct inum; [apply Response_mirrored | apply Box_mirrored | apply Box_mirrored].
    - eexists; apply Truncated_mirrored, weight_even.
    - eexists; apply Truncated_mirrored, geometric_even.
    - apply Answers_mirrored.
    - eexists; apply Count_mirrored.
  Qed.

  Theorem table_up_sound g l t :
    lattice_ok k g = true -> table_up k g = Some (l, t) ->
    exists f, l = map f (zlist (left g) (width g))
      /\ table_above (tilt k) (spacing k) (term_of g) (left g) (width g) (fun y => IZR (f y) / IZR whole) (IZR t / IZR whole).
  Proof.
    intros H; assert (Hl := term_lawful g H); apply lattice_facts in H; revert Hl.
    unfold table_up, term_of, carrier_of, reading_of, count_of, noisy.
    destruct (law g) as [num den|num den nn|num den inum iden nn|kind num den b nn|kind num den hn hd nk xa xn]; intros Hl.
    - destruct H as (Hn & Hd & H). unfold gauss_table_up.
      set (z := mass_down k num den (reach g)).
      destruct (_ && _)%bool eqn:E; [|discriminate]; intros [= <- <-].
      rewrite !Bool.andb_true_iff, !Z.ltb_lt, !Z.leb_le in E. destruct E as ((((Hz & H1) & H2) & H3) & H4).
      exists (gauss_up k num den (move g) z); split; [reflexivity|].
      apply Count_table_above; try assumption; [now apply ratio_pos | |].
      + intros x; now apply gauss_up_bound with (b := reach g).
      + intros l Hnd Hout; now apply tail_up_bound with (b := reach g).
    - destruct H as (Hn & Hd & Hm & -> & -> & H). unfold lap_table_up.
      destruct (exp_up_signed _ _ _ _) as [unit|] eqn:Eu; [|discriminate]; intros [= <- <-].
      exists (lap_up k num den (move g) unit (exp_down (prec k) (squarings k) num den)); split; [reflexivity|].
      replace (0 / IZR whole) with 0 by (unfold Rdiv; ring).
      apply Laplace_table_above; try assumption; [now apply ratio_pos|].
      intros y Hy; apply (lap_up_bound k Hc num den (move g) nn); try assumption; lia.
    - destruct H as (Hn & Hd & _ & _ & -> & -> & H). unfold resp_table_up.
      destruct (exp_up_signed _ _ (response_num k num den nn 0) _) as [v0|] eqn:E0; [|discriminate].
      destruct (exp_up_signed _ _ (response_num k num den nn 1) _) as [v1|] eqn:E1; [|discriminate]. intros [= <- <-].
      exists (fun y => let v := if (y =? 0)%Z then v0 else v1 in
                       quotient_up (v * whole) (two_to (prec k) + exp_down (prec k) (squarings k) num den)). split; [reflexivity|].
      replace (0 / IZR whole) with 0 by (unfold Rdiv; ring).
      apply Response_table_above; try assumption. intros y Hy; cbn beta zeta.
      apply (resp_up_bound k Hc num den nn Hh2 Hn Hd). assert (Hy' : (y = 0 \/ y = 1)%Z) by lia.
      destruct Hy' as [-> | ->]; assumption.
    - destruct H as (Hn & Hd & H1 & H2 & _). apply bounded_up_sound; try assumption. intros Hk; now apply H2.
    - destruct H as (Hn & Hd & H1 & H2 & H). unfold cell_table_up. set (z := mass_down k num den (reach g)).
      destruct (_ && _)%bool eqn:E; [|discriminate]; intros [= <- <-].
      rewrite !Bool.andb_true_iff, !Z.ltb_lt in E. destruct E as (((((Hz & Hk) & Hf) & Hw) & He1) & He2).
      destruct kind; eexists; (split; [reflexivity|]).
      + apply (split_table_above k Hc Hc1 Hh1 Hh2 Split num den (move g) hn hd nk xa xn (reach g) Hn Hd H1 H2 z Hz eq_refl eq_refl
          (left g) (width g)); assumption.
      + apply near_table_above with (b := reach g); try assumption; try reflexivity; try discriminate.
        intros x; cbn [P1 Count mean]; now rewrite Z.sub_0_r.
      + apply near_table_above with (b := reach g); try assumption; try reflexivity; try discriminate.
  Qed.

  Theorem table_down_sound g l :
    lattice_ok k g = true -> table_down k g = Some l ->
    exists f, l = map f (zlist (left g) (width g))
      /\ table_below (tilt k) (spacing k) (term_of g) (left g) (width g) (fun y => IZR (f y) / IZR whole).
  Proof.
    intros H; assert (Hl := term_lawful g H); apply lattice_facts in H; revert Hl.
    unfold table_down, term_of, carrier_of, reading_of, count_of, noisy.
    destruct (law g) as [num den|num den nn|num den inum iden nn|kind num den b nn|kind num den hn hd nk xa xn]; intros Hl.
    - destruct H as (Hn & Hd & H). unfold gauss_table_down.
      destruct (Z.ltb_spec (fall_up k num den (reach g)) (two_to (prec k))) as [Hf|]; [|discriminate]; intros [= <-].
      exists (gauss_down k num den (move g) (mass_up k num den (reach g))); split; [reflexivity|].
      apply Count_table_below; try assumption; [now apply ratio_pos|].
      intros x; now apply gauss_down_bound.
    - destruct H as (Hn & Hd & Hm & -> & -> & H). unfold lap_table_down.
      destruct (_ && _)%bool eqn:E; [|discriminate]; intros [= <-].
      rewrite Bool.andb_true_iff, !Z.leb_le in E. destruct E as [Hq Hb].
      exists (lap_down k num den (move g) (exp_down_signed (prec k) (squarings k) (norm_num k nn) (norm_den k)) (exp_up (prec k) (squarings k) num den)
                (exp_up (prec k) (squarings k) (num * Z.of_nat (S (reach g))) den)); split; [reflexivity|].
      apply Laplace_table_below with (r := reach g); try assumption; [now apply ratio_pos|].
      intros y Hy; apply (lap_down_bound k Hc num den (move g) (reach g) nn); try assumption; lia.
    - destruct H as (Hn & Hd & _ & _ & -> & -> & H). unfold resp_table_down; intros [= <-].
      eexists; split; [|apply Response_table_below; [exact H | intros y _; now apply (resp_down_bound k Hc num den nn Hh2 Hn Hd)]]. reflexivity.
    - destruct H as (Hn & Hd & H1 & H2 & _). apply bounded_down_sound; try assumption. intros Hk; now apply H2.
    - destruct H as (Hn & Hd & H1 & H2 & H). unfold cell_table_down.
      destruct kind; [discriminate | |];
        (destruct (Z.ltb_spec (fall_up k num den (reach g)) (two_to (prec k))) as [Hf|]; [|discriminate]);
        (destruct (in_window _ _ _) eqn:Hw; [|discriminate]); intros [= <-]; eexists; (split; [reflexivity|]);
        apply near_table_below with (b := reach g); try assumption; try reflexivity; try discriminate.
      intros x; cbn [P1 Count mean]; now rewrite Z.sub_0_r.
  Qed.
End Laws.
