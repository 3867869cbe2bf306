(** * Pairs of laws that dominate others

    A list of counts dominates another one if, whatever the weights of the neighbors are, its outputs distinguish them at least as well. In a
    longer list it can stand for the other one, counts can change places, and one that does not move can be left out or added. What is private
    with a list that dominates is private with the other one. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Permutation.
From DpAssay Require Import Sums Gaussian HockeyStick Directions Private Dominance Theta Signed.
Import ListNotations.
Open Scope R_scope.

(** The sum over all outputs of max(0, p P - q Q). *)
Definition weighted (cs : list count) (p q : R) (xs : list Z) : R := Rmax 0 (p * P cs xs - q * Q cs xs).
Definition advantage (cs : list count) (p q : R) : R := total (weighted cs p q).

Definition dominates (bs cs : list count) : Prop := forall p q, 0 <= p -> 0 <= q -> advantage cs p q <= advantage bs p q.

Lemma outputs_dec : forall xs ys : list Z, {xs = ys} + {xs <> ys}.
Proof. apply list_eq_dec, Z.eq_dec. Qed.

Lemma delta_is_advantage cs eps : delta cs eps = advantage cs 1 (exp eps).
Proof. apply total_ext; intros xs; unfold gap, weighted; now rewrite Rmult_1_l. Qed.

Lemma dominates_itself cs : dominates cs cs.
Proof. intros p q _ _; lra. Qed.

Lemma dominates_trans bs cs ds : dominates bs cs -> dominates cs ds -> dominates bs ds.
Proof. intros H1 H2 p q Hp Hq. eapply Rle_trans; [now apply H2 | now apply H1]. Qed.

Lemma nil_proper : proper [].
Proof. constructor. Qed.

Lemma cons_proper c cs : lawful c -> proper cs -> proper (c :: cs).
Proof. now constructor. Qed.

Lemma one_proper c : lawful c -> proper [c].
Proof. intros; now apply cons_proper, nil_proper. Qed.

Lemma proper_app bs cs : proper bs -> proper cs -> proper (bs ++ cs).
Proof. intros; apply Forall_app; now split. Qed.

(** ** From finite sums to all outputs *)

Section Advantage.
  Variables (cs : list count) (p q : R).
  Hypothesis Hcs : proper cs.
  Hypothesis Hp : 0 <= p.
  Hypothesis Hq : 0 <= q.

  Lemma weighted_summable : summable (weighted cs p q).
  Proof.
    apply summable_le with (fun xs => p * P cs xs).
    - intros xs; apply Rmax_lub; [apply Rmult_le_pos; [assumption | now apply P_nonneg]|].
      assert (0 <= q * Q cs xs) by (apply Rmult_le_pos; [assumption | now apply Q_nonneg]). lra.
    - apply summable_scale; [assumption|]. exists 1; intros; now apply P_at_most_one.
  Qed.

  Lemma partial_at_most a : partial_gap cs a p q <= advantage cs p q.
  Proof. apply total_upper; [apply weighted_summable | apply NoDup_box]. Qed.

  Lemma partial_gap_tends : is_lim_seq (fun a => partial_gap cs a p q) (advantage cs p q).
  Proof.
    assert (Hup : forall a, partial_gap cs a p q <= partial_gap cs (S a) p q) by (intros; apply partial_gap_wider; lia).
    destruct (ex_finite_lim_seq_incr _ (advantage cs p q) Hup partial_at_most) as [v Hv].
    replace (advantage cs p q) with v; [exact Hv|]. apply Rle_antisym.
    - apply (is_lim_seq_le (fun a => partial_gap cs a p q) (fun _ => advantage cs p q) v (advantage cs p q)); try assumption.
      + apply partial_at_most.
      + apply is_lim_seq_const.
    - apply total_least; apply (box_bound (length cs)).
      + intros; apply Rmax_l.
      + intros xs Hxs; unfold weighted, P, Q; rewrite !product_wrong_length by assumption. apply Rmax_left; lra.
      + intros a; now apply (is_lim_seq_incr_compare (fun a => partial_gap cs a p q) v).
  Qed.
End Advantage.

Lemma advantage_least cs p q d : (forall a, partial_gap cs a p q <= d) -> advantage cs p q <= d.
Proof.
  intros H; apply total_least; apply (box_bound (length cs)); [intros; apply Rmax_l| |exact H].
  intros xs Hxs; unfold weighted, P, Q; rewrite !product_wrong_length by assumption. apply Rmax_left; lra.
Qed.

Lemma sum_of_advantages {A} (l : list A) cs (u v : A -> R) b :
  proper cs -> (forall y, 0 <= u y) -> (forall y, 0 <= v y) ->
  (forall a, lsum (fun y => partial_gap cs a (u y) (v y)) l <= b) -> lsum (fun y => advantage cs (u y) (v y)) l <= b.
Proof.
  intros Hcs Hu Hv Hb.
  apply (is_lim_seq_le (fun a => lsum (fun y => partial_gap cs a (u y) (v y)) l) (fun _ => b) (lsum (fun y => advantage cs (u y) (v y)) l) b).
  - exact Hb.
  - clear Hb; induction l as [|y l IH]; cbn [lsum]; [apply is_lim_seq_const|].
    apply is_lim_seq_plus'; [now apply partial_gap_tends | exact IH].
  - apply is_lim_seq_const.
Qed.

(** ** In a longer list *)

Lemma box_incl n a b : (a <= b)%nat -> incl (box n a) (box n b).
Proof. intros H xs; rewrite !in_box; intros [Hl Hx]; split; [assumption|]. intros x Hin; apply (range_incl a b H); auto. Qed.

Lemma partial_gap_first bs cs a p q :
  partial_gap (bs ++ cs) a p q = lsum (fun xs => partial_gap cs a (p * P bs xs) (q * Q bs xs)) (box (length bs) a).
Proof.
  revert p q; induction bs as [|b bs IH]; intros p q.
  - cbn; now rewrite !Rmult_1_r, Rplus_0_r.
  - cbn [app length]; rewrite partial_gap_cons, lsum_box_cons; apply lsum_ext; intros x. rewrite IH; apply lsum_ext; intros xs.
    unfold P, Q; cbn [product]; now rewrite <- !Rmult_assoc.
Qed.

Lemma partial_gap_last bs cs a p q :
  partial_gap (bs ++ cs) a p q = lsum (fun ys => partial_gap bs a (p * P cs ys) (q * Q cs ys)) (box (length cs) a).
Proof.
  rewrite partial_gap_first; unfold partial_gap. rewrite lsum_swap; apply lsum_ext; intros ys; apply lsum_ext; intros xs.
  f_equal; ring.
Qed.

Lemma P_weight p cs xs : proper cs -> 0 <= p -> 0 <= p * P cs xs.
Proof. intros; apply Rmult_le_pos; [assumption | now apply P_nonneg]. Qed.

Lemma Q_weight q cs xs : proper cs -> 0 <= q -> 0 <= q * Q cs xs.
Proof. intros; apply Rmult_le_pos; [assumption | now apply Q_nonneg]. Qed.

(** The same counts after both lists. *)
Lemma dominates_before bs cs rest : proper bs -> proper cs -> proper rest -> dominates bs cs -> dominates (bs ++ rest) (cs ++ rest).
Proof.
  intros Hb Hc Hr H p q Hp Hq; apply advantage_least; intros a; rewrite partial_gap_last.
  apply Rle_trans with (lsum (fun ys => advantage bs (p * P rest ys) (q * Q rest ys)) (box (length rest) a)).
  - apply lsum_le; intros ys. assert (0 <= p * P rest ys) by now apply P_weight. assert (0 <= q * Q rest ys) by now apply Q_weight.
    eapply Rle_trans; [now apply partial_at_most | now apply H].
  - apply sum_of_advantages; try assumption; try (intros; now apply P_weight); try (intros; now apply Q_weight).
    intros b. set (m := Nat.max a b). apply Rle_trans with (partial_gap (bs ++ rest) m p q); [|apply partial_at_most; [now apply proper_app| |]; assumption].
    rewrite partial_gap_last. apply Rle_trans with (lsum (fun ys => partial_gap bs m (p * P rest ys) (q * Q rest ys)) (box (length rest) a)).
    + apply lsum_le; intros; apply partial_gap_wider; lia.
    + apply lsum_incl; [intros; apply partial_gap_nonneg | apply NoDup_box | apply box_incl; lia].
Qed.

(** And before both. *)
Lemma dominates_after bs cs first : proper bs -> proper cs -> proper first -> dominates bs cs -> dominates (first ++ bs) (first ++ cs).
Proof.
  intros Hb Hc Hf H p q Hp Hq; apply advantage_least; intros a; rewrite partial_gap_first.
  apply Rle_trans with (lsum (fun ys => advantage bs (p * P first ys) (q * Q first ys)) (box (length first) a)).
  - apply lsum_le; intros ys. assert (0 <= p * P first ys) by now apply P_weight. assert (0 <= q * Q first ys) by now apply Q_weight.
    eapply Rle_trans; [now apply partial_at_most | now apply H].
  - apply sum_of_advantages; try assumption; try (intros; now apply P_weight); try (intros; now apply Q_weight).
    intros b. set (m := Nat.max a b). apply Rle_trans with (partial_gap (first ++ bs) m p q); [|apply partial_at_most; [now apply proper_app| |]; assumption].
    rewrite partial_gap_first. apply Rle_trans with (lsum (fun ys => partial_gap bs m (p * P first ys) (q * Q first ys)) (box (length first) a)).
    + apply lsum_le; intros; apply partial_gap_wider; lia.
    + apply lsum_incl; [intros; apply partial_gap_nonneg | apply NoDup_box | apply box_incl; lia].
Qed.

Theorem dominates_app bs cs bs' cs' :
  proper bs -> proper cs -> proper bs' -> proper cs' -> dominates bs cs -> dominates bs' cs' -> dominates (bs ++ bs') (cs ++ cs').
Proof.
  intros; apply dominates_trans with (bs ++ cs'); [now apply dominates_after | now apply dominates_before].
Qed.

Lemma dominates_cons b c bs cs :
  lawful b -> lawful c -> proper bs -> proper cs -> dominates [b] [c] -> dominates bs cs -> dominates (b :: bs) (c :: cs).
Proof. intros Hb Hc; apply (dominates_app [b] [c] bs cs); now apply one_proper. Qed.

Lemma repeat_proper c n : lawful c -> proper (repeat c n).
Proof. intros H; apply Forall_forall; intros x Hx; apply repeat_spec in Hx; now subst. Qed.

Lemma dominates_repeat b c n : lawful b -> lawful c -> dominates [b] [c] -> dominates (repeat b n) (repeat c n).
Proof.
  intros Hb Hc H; induction n as [|n IH]; [apply dominates_itself|]. cbn [repeat]. apply dominates_cons; try assumption; now apply repeat_proper.
Qed.

(** Counts may change places. *)
Theorem dominates_permuted bs cs : proper cs -> Permutation bs cs -> dominates bs cs.
Proof.
  intros Hc Hperm; assert (Hb : proper bs) by (eapply Permutation_Forall; [symmetry; exact Hperm | exact Hc]).
  induction Hperm as [|c bs cs Hperm IH|b c cs|bs cs ds H1 IH1 H2 IH2].
  - apply dominates_itself.
  - inversion Hb; inversion Hc; subst. apply dominates_cons; try assumption; [apply dominates_itself | now apply IH].
  - intros p q Hp Hq; apply advantage_least; intros a.
    apply Rle_trans with (partial_gap (c :: b :: cs) a p q); [|now apply partial_at_most].
    rewrite !partial_gap_cons. rewrite (lsum_ext _ (fun x => lsum (fun y => partial_gap cs a (p * P1 b x * P1 c y) (q * Q1 b x * Q1 c y)) (range a)))
      by (intros; apply partial_gap_cons).
    rewrite lsum_swap; right; apply lsum_ext; intros y. rewrite partial_gap_cons; apply lsum_ext; intros x.
    f_equal; ring.
  - assert (Hcs : proper cs) by (eapply Permutation_Forall; [symmetry; exact H2 | exact Hc]).
    apply dominates_trans with cs; auto.
Qed.

(** ** Counts that do not move *)

Lemma partial_gap_scale cs a k p q : 0 <= k -> partial_gap cs a (p * k) (q * k) = k * partial_gap cs a p q.
Proof.
  intros Hk; unfold partial_gap; rewrite <- lsum_scale; apply lsum_ext; intros xs.
  rewrite <- (Rmult_0_r k) at 1. rewrite <- RmaxRmult by assumption. f_equal; ring.
Qed.

(** One that does not move can be left out. *)
Theorem dominates_without c cs : lawful c -> proper cs -> (forall x, P1 c x = Q1 c x) -> dominates cs (c :: cs).
Proof.
  intros Hc Hcs E p q Hp Hq; apply advantage_least; intros a; rewrite partial_gap_cons.
  rewrite (lsum_ext _ (fun x => P1 c x * partial_gap cs a p q)).
  - rewrite lsum_scale_r. apply Rle_trans with (1 * partial_gap cs a p q).
    + apply Rmult_le_compat_r; [apply partial_gap_nonneg | apply law_at_most_one; [apply Hc | apply NoDup_range]].
    + rewrite Rmult_1_l; now apply partial_at_most.
  - intros x; rewrite <- E; apply partial_gap_scale; now apply P1_nonneg.
Qed.

Lemma smaller_weights cs a p q s t :
  proper cs -> 0 <= p -> 0 <= q -> 0 <= s <= 1 -> 0 <= t <= 1 -> partial_gap cs a p q <= partial_gap cs a (p * s) (q * t) + p * (1 - s).
Proof.
  intros Hcs Hp Hq Hs Ht; apply Rle_trans with (partial_gap cs a (p * s) (q * t) + p * (1 - s) * lsum (P cs) (box (length cs) a)).
  - unfold partial_gap; rewrite <- lsum_scale, <- lsum_plus; apply lsum_le; intros xs.
    assert (H1 := P_nonneg cs xs Hcs). assert (H2 := Q_nonneg cs xs Hcs).
    assert (0 <= p * P cs xs) by now apply Rmult_le_pos. assert (0 <= q * Q cs xs) by now apply Rmult_le_pos.
    generalize (Rmax_l 0 (p * s * P cs xs - q * t * Q cs xs)) (Rmax_r 0 (p * s * P cs xs - q * t * Q cs xs)).
    intros; apply Rmax_lub; nra.
  - apply Rplus_le_compat_l. assert (H := P_at_most_one cs _ Hcs (NoDup_box (length cs) a)).
    assert (0 <= p * (1 - s)) by (apply Rmult_le_pos; lra). nra.
Qed.

(** One count more is no more private. *)
Theorem dominates_with b cs : lawful b -> proper cs -> dominates (b :: cs) cs.
Proof.
  intros Hb Hcs p q Hp Hq; apply advantage_least; intros a.
  assert (Hbound : forall law, law = P1 b \/ law = Q1 b -> forall m, 0 <= lsum law (range m) <= 1).
  { intros law Hlaw m; assert (is_law law) by (destruct Hlaw as [->| ->]; apply Hb).
    split; [apply lsum_nonneg; apply H | apply law_at_most_one; [assumption | apply NoDup_range]]. }
  apply (is_lim_seq_le_loc (fun _ => partial_gap cs a p q) (fun m => advantage (b :: cs) p q + p * (1 - lsum (P1 b) (range m)))
           (partial_gap cs a p q) (advantage (b :: cs) p q)).
  - exists a; intros m Hm.
    assert (H1 := smaller_weights cs a p q (lsum (P1 b) (range m)) (lsum (Q1 b) (range m)) Hcs Hp Hq
      (Hbound _ (or_introl eq_refl) m) (Hbound _ (or_intror eq_refl) m)).
    assert (H2 := gap_of_mixture cs a (fun x => p * P1 b x) (fun x => q * Q1 b x) (fun _ => 1) (range m) (fun _ => Rle_0_1)). cbn beta in H2.
    rewrite (lsum_ext (fun z => p * P1 b z * 1) (fun z => p * P1 b z)), (lsum_ext (fun z => q * Q1 b z * 1) (fun z => q * Q1 b z)), !lsum_scale in H2
      by (intros; ring).
    assert (H3 : lsum (fun z => partial_gap cs a (p * P1 b z) (q * Q1 b z)) (range m) <= partial_gap (b :: cs) m p q).
    { rewrite partial_gap_cons; apply lsum_le; intros x; now apply partial_gap_wider. }
    assert (H4 := partial_at_most (b :: cs) p q (Forall_cons b Hb Hcs) Hp Hq m). lra.
  - apply is_lim_seq_const.
  - replace (Finite (advantage (b :: cs) p q)) with (Finite (advantage (b :: cs) p q + p * (1 - total (P1 b)))).
    + apply is_lim_seq_plus'; [apply is_lim_seq_const|]. apply is_lim_seq_mult'; [apply is_lim_seq_const|].
      apply is_lim_seq_minus'; [apply is_lim_seq_const|]. destruct Hb as [(H1 & H2 & _) _]. now apply symmetric_sums_converge.
    + destruct Hb as [(_ & _ & ->) _]. f_equal; ring.
Qed.

Lemma dominates_nil bs : proper bs -> dominates bs [].
Proof.
  induction bs as [|b bs IH]; intros H; [apply dominates_itself|]. inversion H; subst.
  apply dominates_trans with bs; [now apply dominates_with | now apply IH].
Qed.

(** ** Both directions *)

Lemma Q_sums_to_one cs : proper cs -> total (Q cs) = 1.
Proof.
  intros H; rewrite <- (P_sums_to_one (map swapped cs)) by now apply swapped_proper.
  apply total_ext; intros xs; symmetry; apply P_swapped.
Qed.

Lemma advantage_swapped cs p q : proper cs -> 0 <= p -> 0 <= q -> advantage (map swapped cs) p q = advantage cs q p + p - q.
Proof.
  intros H Hp Hq. assert (Hs := swapped_proper cs H).
  assert (SP : summable (fun xs => q * P cs xs)) by (apply summable_scale; [lra|]; exists 1; intros; now apply P_at_most_one).
  assert (SQ : summable (fun xs => p * Q cs xs)) by (apply summable_scale; [lra|]; exists 1; intros; now apply Q_at_most_one).
  assert (E : total (fun xs => weighted (map swapped cs) p q xs + q * P cs xs) = total (fun xs => weighted cs q p xs + p * Q cs xs)).
  { apply total_ext; intros xs; unfold weighted; rewrite P_swapped, Q_swapped. unfold Rmax; destruct (Rle_dec _ _), (Rle_dec _ _); lra. }
  rewrite !(total_plus outputs_dec) in E.
  - rewrite !total_scale, P_sums_to_one, Q_sums_to_one in E; try assumption.
    + unfold advantage; lra.
    + exists 1; intros; now apply Q_at_most_one.
    + exists 1; intros; now apply P_at_most_one.
  - intros; apply Rmax_l.
  - intros; now apply Q_weight.
  - now apply weighted_summable.
  - assumption.
  - intros; apply Rmax_l.
  - intros; now apply P_weight.
  - now apply weighted_summable.
  - assumption.
Qed.

Theorem dominates_swapped bs cs : proper bs -> proper cs -> dominates bs cs -> dominates (map swapped bs) (map swapped cs).
Proof. intros Hb Hc H p q Hp Hq; rewrite !advantage_swapped by assumption. specialize (H q p Hq Hp); lra. Qed.

Lemma swapped_twice cs : map swapped (map swapped cs) = cs.
Proof. rewrite map_map; rewrite <- (map_id cs) at 2; apply map_ext; now intros []. Qed.

Lemma swapped_repeat c n : map swapped (repeat c n) = repeat (swapped c) n.
Proof. induction n as [|n IH]; cbn; [|rewrite IH]; reflexivity. Qed.

Lemma same_events (f g : list Z -> R) E v : (forall xs, f xs = g xs) -> is_lub (events f E) v -> is_lub (events g E) v.
Proof.
  intros Hfg [L1 L2]; split.
  - intros x (l & Hl & HE & ->); apply L1; exists l; split; [assumption | split; [assumption|]]. symmetry; now apply lsum_ext.
  - intros x Hx; apply L2; intros y (l & Hl & HE & ->). apply Hx; exists l; split; [assumption | split; [assumption|]]. now apply lsum_ext.
Qed.

Lemma private_swapped cs eps d : private cs eps d -> private (map swapped cs) eps d.
Proof.
  intros H E p q Hp Hq.
  destruct (H E q p (same_events _ _ E q (Q_swapped cs) Hq) (same_events _ _ E p (P_swapped cs) Hp)) as [H1 H2]; now split.
Qed.

(** [private] is two values of delta, one for each direction. *)
Theorem private_is_two_deltas cs eps d : proper cs -> (private cs eps d <-> delta cs eps <= d /\ delta (map swapped cs) eps <= d).
Proof.
  intros H; assert (Hs := swapped_proper cs H). split.
  - intros Hd; split; apply private_means_delta; try assumption. now apply private_swapped.
  - intros [D1 D2] E p q Ep Eq; split.
    + assert (G := delta_is_enough cs eps E p q H Ep Eq); lra.
    + assert (G := delta_is_enough (map swapped cs) eps E q p Hs (same_events _ _ E q (fun xs => eq_sym (P_swapped cs xs)) Eq)
        (same_events _ _ E p (fun xs => eq_sym (Q_swapped cs xs)) Ep)). lra.
Qed.

Lemma dominates_delta bs cs eps : dominates bs cs -> delta cs eps <= delta bs eps.
Proof. intros H; rewrite !delta_is_advantage; apply H; [lra | left; apply exp_pos]. Qed.

(** What is private with a list that dominates is private with the other one. *)
Theorem dominated_is_private bs cs eps d : proper bs -> proper cs -> dominates bs cs -> private bs eps d -> private cs eps d.
Proof.
  intros Hb Hc H Hd; apply private_is_two_deltas in Hd; [|assumption]; destruct Hd as [D1 D2].
  apply private_is_two_deltas; [assumption|]; split.
  - eapply Rle_trans; [now apply (dominates_delta bs) | exact D1].
  - eapply Rle_trans; [apply (dominates_delta (map swapped bs)); now apply dominates_swapped | exact D2].
Qed.

(** Losses of at most [e] in each count add up. *)
Definition ratio_at_most (e : R) (c : count) : Prop := forall x, P1 c x <= exp e * Q1 c x /\ Q1 c x <= exp e * P1 c x.

Theorem pure_is_private cs e : proper cs -> Forall (ratio_at_most e) cs -> private cs (INR (length cs) * e) 0.
Proof.
  intros Hp Hr. assert (E : forall n, exp (INR (S n) * e) = exp e * exp (INR n * e)) by (intros; rewrite <- exp_plus, S_INR; f_equal; ring).
  assert (H : forall xs, P cs xs <= exp (INR (length cs) * e) * Q cs xs /\ Q cs xs <= exp (INR (length cs) * e) * P cs xs).
  { assert (Hpos := exp_pos e). induction Hr as [|c cs Hc _ IH]; intros [|x xs]; unfold P, Q; cbn [product length]; try (rewrite ?Rmult_0_r; lra).
    - cbn; rewrite Rmult_0_l, exp_0; lra.
    - inversion Hp as [|? ? Hl Hp']; subst. destruct (IH Hp' xs) as [H1 H2]. destruct (Hc x) as [H3 H4]. destruct Hl as [[L1 _] [L2 _]].
      assert (H5 := P_nonneg cs xs Hp'). assert (H6 := Q_nonneg cs xs Hp'). specialize (L1 x); specialize (L2 x). fold (P cs xs) (Q cs xs).
      rewrite E. split.
      + replace (exp e * exp (INR (length cs) * e) * (Q1 c x * Q cs xs)) with (exp e * Q1 c x * (exp (INR (length cs) * e) * Q cs xs)) by ring.
        now apply Rmult_le_compat.
      + replace (exp e * exp (INR (length cs) * e) * (P1 c x * P cs xs)) with (exp e * P1 c x * (exp (INR (length cs) * e) * P cs xs)) by ring.
        now apply Rmult_le_compat. }
  apply private_is_two_deltas; [assumption|].
  split; apply total_least; intros l _; (apply Rle_trans with (lsum (fun _ => 0) l); [|rewrite lsum_zero; lra]);
    apply lsum_le; intros xs; destruct (H xs); apply Rmax_lub; rewrite ?P_swapped, ?Q_swapped; lra.
Qed.
