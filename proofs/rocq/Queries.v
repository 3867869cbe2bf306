(** * Adaptive queries, and groups under a guarantee

    An analyst sends a query, sees its answer, and chooses the next query. If for each query one pair of laws dominates its answers for all
    neighbors, what is private with these pairs composed is so for all answers: with log-concave noise the count that moves as far as it can, with a
    guarantee its box. A guarantee for one record is one for groups, with the usual loss. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Permutation.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Private Response Bounded Dominance Pairs LogConcave DataSets.
Import ListNotations.
Open Scope R_scope.

(** ** One pair for each step *)

Inductive below : list count -> adaptive -> Prop :=
  | below_done : below [] Done
  | below_then b bs c next : lawful b -> lawful c -> dominates [b] [c] -> (forall x, below bs (next x)) -> below (b :: bs) (Then c next).

Lemma below_proper bs m : below bs m -> proper bs.
Proof. induction 1 as [|b bs c next Hb _ _ _ IH]; [apply nil_proper | apply cons_proper; [exact Hb | exact (IH 0%Z)]]. Qed.

Lemma below_wrong_length law bs m xs : below bs m -> length xs <> length bs -> path_law law m xs = 0.
Proof.
  intros H; revert xs; induction H as [|b bs c next _ _ _ _ IH]; intros [|x xs] Hl; cbn in *; try reflexivity; [lia|].
  rewrite IH by lia; ring.
Qed.

Lemma below_swapped bs m : below bs m -> below (map swapped bs) (swapped_paths m).
Proof.
  induction 1 as [|b bs c next Hb Hc Hd _ IH]; cbn [map swapped_paths]; [constructor|].
  constructor; [now destruct Hb | now destruct Hc | | exact IH].
  apply (dominates_swapped [b] [c]); [now apply one_proper | now apply one_proper | exact Hd].
Qed.

Lemma below_gap bs m a p q : below bs m -> 0 <= p -> 0 <= q -> path_gap (length bs) m a p q <= advantage bs p q.
Proof.
  intros H; revert p q; induction H as [|b bs c next Hb Hc Hd Hnext IH]; intros p q Hp Hq.
  { apply Rle_trans with (partial_gap [] a p q); [unfold path_gap, partial_gap; cbn; lra | apply partial_at_most; [apply nil_proper| |]; assumption]. }
  assert (Hbs : proper bs) by (apply (below_proper bs (next 0%Z)), Hnext).
  cbn [length]; rewrite path_gap_then. apply Rle_trans with (advantage (c :: bs) p q).
  - apply Rle_trans with (lsum (fun x => advantage bs (p * P1 c x) (q * Q1 c x)) (range a)).
    + apply lsum_le; intros x; apply IH; apply Rmult_le_pos; try assumption; apply Hc.
    + apply sum_of_advantages; try assumption; try (intros; apply Rmult_le_pos; [assumption | apply Hc]).
      intros a'. set (n := Nat.max a a').
      apply Rle_trans with (partial_gap (c :: bs) n p q); [|apply partial_at_most; [now apply cons_proper| |]; assumption].
      rewrite partial_gap_cons. apply Rle_trans with (lsum (fun x => partial_gap bs n (p * P1 c x) (q * Q1 c x)) (range a)).
      * apply lsum_le; intros; apply partial_gap_wider; lia.
      * apply lsum_incl; [intros; apply partial_gap_nonneg | apply NoDup_range | apply range_incl; lia].
  - apply (dominates_cons b c bs bs); try assumption. apply dominates_itself.
Qed.

Lemma below_events bs m eps l : below bs m -> NoDup l -> lsum (path_law P1 m) l <= exp eps * lsum (path_law Q1 m) l + delta bs eps.
Proof.
  intros H Hl. set (g := fun xs => Rmax 0 (1 * path_law P1 m xs - exp eps * path_law Q1 m xs)).
  assert (G : lsum g l <= delta bs eps).
  { revert l Hl; apply (box_bound (length bs)); unfold g.
    - intros; apply Rmax_l.
    - intros xs Hxs; rewrite !(below_wrong_length _ bs) by assumption. apply Rmax_left; lra.
    - intros a. rewrite delta_is_advantage. apply (below_gap bs m a 1 (exp eps) H); [lra | left; apply exp_pos]. }
  apply Rle_trans with (exp eps * lsum (path_law Q1 m) l + lsum g l); [|lra].
  rewrite <- lsum_scale, <- lsum_plus; apply lsum_le; intros xs; unfold g.
  generalize (Rmax_r 0 (1 * path_law P1 m xs - exp eps * path_law Q1 m xs)); lra.
Qed.

(** What is private with the pairs is so for all answers. *)
Theorem below_is_indistinguishable bs m eps d : below bs m -> private bs eps d -> indistinguishable (path_law P1 m) (path_law Q1 m) eps d.
Proof.
  intros Hm Hd; apply private_is_two_deltas in Hd; [|now apply (below_proper bs m)]. destruct Hd as [D1 D2].
  assert (Hexp := exp_pos eps). intros E a b Ha Hb; split.
  - apply Ha; intros v (l & Hl & HE & ->). assert (H := below_events bs m eps l Hm Hl).
    assert (lsum (path_law Q1 m) l <= b) by (apply Hb; exists l; auto).
    assert (exp eps * lsum (path_law Q1 m) l <= exp eps * b) by (apply Rmult_le_compat_l; lra). lra.
  - apply Hb; intros v (l & Hl & HE & ->). assert (H := below_events _ _ eps l (below_swapped _ _ Hm) Hl).
    rewrite (lsum_ext (path_law P1 (swapped_paths m)) (path_law Q1 m)), (lsum_ext (path_law Q1 (swapped_paths m)) (path_law P1 m)) in H
      by (intros xs; apply swapped_path_law).
    assert (lsum (path_law P1 m) l <= a) by (apply Ha; exists l; auto).
    assert (exp eps * lsum (path_law P1 m) l <= exp eps * a) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** ** Queries of a data set *)

Section Queries.
  Variable record : Type.
  Variable related : data_set record -> data_set record -> Prop.

  (** The law of the answer for each data set, and the next query. *)
  Inductive query := Stop | Ask (answer : data_set record -> Z -> R) (next : Z -> query).

  Fixpoint answers (D : data_set record) (q : query) (xs : list Z) : R :=
    match q, xs with
    | Stop, [] => 1
    | Ask answer next, x :: xs' => answer D x * answers D (next x) xs'
    | _, _ => 0
    end.

  (** Whatever was answered before, the answers of neighbors to the query in turn are dominated by the count in turn. *)
  Inductive accounted : list count -> query -> Prop :=
    | accounted_stop : accounted [] Stop
    | accounted_ask b bs answer next :
        lawful b -> (forall D, is_law (answer D)) -> (forall D D', related D D' -> dominates [b] [Pair (answer D) (answer D')]) ->
        (forall x, accounted bs (next x)) -> accounted (b :: bs) (Ask answer next).

  Fixpoint of_neighbors (D D' : data_set record) (q : query) : adaptive :=
    match q with Stop => Done | Ask answer next => Then (Pair (answer D) (answer D')) (fun x => of_neighbors D D' (next x)) end.

  Lemma answers_are_paths D D' q xs : path_law P1 (of_neighbors D D' q) xs = answers D q xs /\ path_law Q1 (of_neighbors D D' q) xs = answers D' q xs.
  Proof.
    revert xs; induction q as [|answer next IH]; intros [|x xs]; cbn; try (split; reflexivity). destruct (IH x xs) as [-> ->]; split; reflexivity.
  Qed.

  Theorem queries_of_all_data_sets bs q eps d :
    accounted bs q -> private bs eps d -> forall D D', related D D' -> indistinguishable (answers D q) (answers D' q) eps d.
  Proof.
    intros Hq Hd D D' HD.
    assert (Hb : below bs (of_neighbors D D' q)).
    { clear Hd; induction Hq as [|b bs answer next Hb Hl Hdom _ IH]; cbn [of_neighbors]; [constructor|].
      constructor; [exact Hb | split; apply Hl | now apply Hdom | exact IH]. }
    intros E a b Ha Hb'. apply (below_is_indistinguishable bs (of_neighbors D D' q) eps d Hb Hd E a b).
    - exact (same_events _ _ E a (fun xs => eq_sym (proj1 (answers_are_paths D D' q xs))) Ha).
    - exact (same_events _ _ E b (fun xs => eq_sym (proj2 (answers_are_paths D D' q xs))) Hb').
  Qed.

  (** *** What a query may be *)

  (** A count with even log-concave noise that neighbors move by at most [m]. *)
  Lemma count_is_accounted f (true_count : data_set record -> Z) m D D' :
    is_law f -> log_concave f -> (forall x, f (- x)%Z = f x) -> (Z.abs (true_count D' - true_count D) <= m)%Z ->
    dominates [Moved f m] [Pair (additive f (true_count D)) (additive f (true_count D'))].
  Proof.
    intros Hf Hlc Heven Hm. set (v := true_count D) in *. set (v' := true_count D') in *.
    assert (Hup : forall w w', (0 <= w' - w <= m)%Z -> dominates [Moved f m] [Between f w w']).
    { intros w w' Hw. apply (worst_moves f Hf Hlc m 1 0 [(w, w')]); unfold ups, downs; cbn [map fst snd sum fold_right];
        [apply Forall_cons; [lia | apply Forall_nil] | lia | apply Forall_cons; [lia | apply Forall_nil] | lia]. }
    change (dominates [Moved f m] [Between f v v']). destruct (Z.le_ge_cases v v'); [apply Hup; lia|].
    apply dominates_trans with [down f m]; [now apply even_down|].
    apply (dominates_swapped [Moved f m] [Between f v' v]); [apply one_proper, Moved_lawful; exact Hf | apply one_proper, Between_lawful; exact Hf | apply Hup; lia].
  Qed.

  (** Any mechanism with a guarantee. *)
  Lemma guarantee_is_accounted c e d : lawful c -> 0 < e -> 0 <= d < 1 -> guaranteed c e d -> dominates [Box e d] [c].
  Proof.
    intros Hc He Hd Hg p q Hp Hq; apply advantage_least; intros a.
    assert (Hcov : covers [Box e d] [c]).
    { apply stands_for_covers; [now apply one_proper|]. constructor; [|constructor]. right; exists e; split; [assumption|]. right; now exists d. }
    destruct Hcov as [_ Hcov]. eapply Rle_trans; [now apply Hcov|]. apply partial_at_most; try assumption. apply one_proper, Box_lawful; lra.
  Qed.

  (** ** Groups under a guarantee *)

  (** (eps, d) for one record is (K eps, d (e^(K eps) - 1) / (e^eps - 1)) for K of them. *)
  Theorem guarantee_of_groups (law : data_set record -> list Z -> R) eps d rs D :
    0 < eps -> (forall D xs, 0 <= law D xs) -> (forall D, summable (law D)) ->
    (forall D r, indistinguishable (law D) (law (r :: D)) eps d) ->
    indistinguishable (law (rs ++ D)) (law D) (INR (length rs) * eps) (d * ((exp (INR (length rs) * eps) - 1) / (exp eps - 1))).
  Proof.
    intros He H0 Hs Hone. assert (HE : 1 < exp eps) by (rewrite <- exp_0; now apply exp_increasing).
    induction rs as [|r rs IH]; intros E a b Ha Hb.
    - cbn [length app] in *. rewrite Rmult_0_l, exp_0. replace (d * ((1 - 1) / (exp eps - 1))) with 0 by (field; lra).
      assert (a = b) by (apply (is_lub_u (events (law D) E)); assumption). lra.
    - (* The probability for the data set without the first of the records. *)
      assert (Hc : exists c, is_lub (events (law (rs ++ D)) E) c).
      { destruct (completeness (events (law (rs ++ D)) E)) as [c Hc]; [| |now exists c].
        - destruct (Hs (rs ++ D)) as [u Hu]; exists u; intros v (l & Hl & _ & ->); now apply Hu.
        - exists 0; exists []; repeat split; [constructor | intros x []]. }
      destruct Hc as [c Hc]. destruct (IH E c b Hc Hb) as [I1 I2]. destruct (Hone (rs ++ D) r E c a Hc Ha) as [J1 J2].
      change (length (r :: rs)) with (S (length rs)). set (n := length rs) in *.
      assert (En : exp (INR (S n) * eps) = exp eps * exp (INR n * eps)) by (rewrite <- exp_plus, S_INR; f_equal; ring). rewrite En.
      assert (Hn := exp_pos (INR n * eps)). set (F := exp (INR n * eps)) in *. set (G := exp eps) in *.
      assert (Q1 : G * c <= G * (F * b + d * ((F - 1) / (G - 1)))) by (apply Rmult_le_compat_l; lra).
      assert (Q2 : F * c <= F * (G * a + d)) by (apply Rmult_le_compat_l; lra).
      split.
      + replace (G * F * b + d * ((G * F - 1) / (G - 1))) with (G * (F * b + d * ((F - 1) / (G - 1))) + d) by (field; lra). lra.
      + replace (G * F * a + d * ((G * F - 1) / (G - 1))) with (F * (G * a + d) + d * ((F - 1) / (G - 1))) by (field; lra). lra.
  Qed.
End Queries.
