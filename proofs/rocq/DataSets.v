(** * Data sets, neighbors, and the pairs that are accounted for

    A data set is a list of records, in any order. A mechanism publishes tables of counts: each record adds a whole number to each count, and each
    count is published with noise that is independent of all others. Neighbors differ by at most K records, all of them added or all removed
    ([add_remove]), or by at most K records that are replaced ([replaced]); K = 1 is the usual relation, a larger K a group.

    If the noise is log-concave, the outputs of all neighbors are dominated by one list of counts, that of the program: in each table as many counts as
    one record may change, all moved by K times its largest change. Other noise is private if all choices of the counts that change are. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Permutation.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Private Response Bounded Dominance Pairs LogConcave.
Import ListNotations.
Open Scope R_scope.

(** The law of independent numbers. *)
Fixpoint independent (laws : list (Z -> R)) (xs : list Z) : R :=
  match laws, xs with
  | [], [] => 1
  | f :: laws', x :: xs' => f x * independent laws' xs'
  | _, _ => 0
  end.

(** Noise that is added to a true count. *)
Definition additive (f : Z -> R) (v x : Z) : R := f (x - v)%Z.

Section DataSets.
  Variable record : Type.
  Definition data_set : Type := list record.

  (** ** Neighbors *)

  (** [D'] is [D] and at most [K] records more. *)
  Definition added (K : nat) (D D' : data_set) : Prop := exists rs, (length rs <= K)%nat /\ Permutation D' (rs ++ D).
  Definition add_remove (K : nat) (D D' : data_set) : Prop := added K D D' \/ added K D' D.

  (** [D'] is [D] with at most [K] records replaced by others. *)
  Definition replaced (K : nat) (D D' : data_set) : Prop :=
    exists E rs ss, length rs = length ss /\ (length rs <= K)%nat /\ Permutation D (rs ++ E) /\ Permutation D' (ss ++ E).

  Lemma one_record D r : added 1 D (r :: D).
  Proof. exists [r]; split; [apply le_n | reflexivity]. Qed.

  Lemma one_replaced D r s : replaced 1 (r :: D) (s :: D).
  Proof. exists D, [r], [s]; repeat split; reflexivity || apply le_n. Qed.

  (** ** Mechanisms *)

  (** A table of [size] counts. [law v] is the law of the published number where the true count is [v]. A record [r] adds [moves r i] to the count [i]:
      from 0 to [shift], and not 0 for at most [most] of the counts. *)
  Record table := Table { size : nat; law : Z -> Z -> R; moves : record -> nat -> Z; most : nat; shift : Z }.

  Definition places (t : table) : list nat := seq 0 (size t).
  Definition touched (t : table) (r : record) : list nat := filter (fun i => negb (moves t r i =? 0)%Z) (places t).
  Definition keeps (t : table) : Prop :=
    (0 <= shift t)%Z /\ forall r, (forall i, 0 <= moves t r i <= shift t)%Z /\ (length (touched t r) <= most t)%nat.

  (** A true count. *)
  Definition value (t : table) (D : data_set) (i : nat) : Z := fold_right (fun r v => (moves t r i + v)%Z) 0%Z D.

  (** The law of all published numbers. *)
  Definition output (M : list table) (D : data_set) : list Z -> R :=
    independent (flat_map (fun t => map (fun i => law t (value t D i)) (places t)) M).

  (** Private for all neighbors. *)
  Definition private_for_all (related : data_set -> data_set -> Prop) (M : list table) (eps d : R) : Prop :=
    forall D D', related D D' -> indistinguishable (output M D) (output M D') eps d.

  (** The order of records does not matter. *)
  Lemma value_permuted t D D' i : Permutation D D' -> value t D i = value t D' i.
  Proof. induction 1; cbn; try lia. fold (value t l i) (value t l' i); lia. Qed.

  Lemma value_app t D D' i : value t (D ++ D') i = (value t D i + value t D' i)%Z.
  Proof. induction D as [|r D IH]; cbn; [reflexivity|]. fold (value t (D ++ D') i) (value t D i); lia. Qed.

  Theorem output_permuted M D D' xs : Permutation D D' -> output M D xs = output M D' xs.
  Proof.
    intros H; unfold output; f_equal. induction M as [|t M IH]; cbn; [reflexivity|]. f_equal; [|exact IH].
    apply map_ext; intros i; now rewrite (value_permuted t D D').
  Qed.

  (** ** The counts of two data sets *)

  Definition cell (t : table) (D D' : data_set) (i : nat) : count := Pair (law t (value t D i)) (law t (value t D' i)).
  Definition cells (M : list table) (D D' : data_set) : list count := flat_map (fun t => map (cell t D D') (places t)) M.

  Lemma independent_is_P cs xs : independent (map P1 cs) xs = P cs xs.
  Proof. unfold P; revert xs; induction cs as [|c cs IH]; intros [|x xs]; cbn; try reflexivity. now rewrite IH. Qed.

  Lemma independent_is_Q cs xs : independent (map Q1 cs) xs = Q cs xs.
  Proof. unfold Q; revert xs; induction cs as [|c cs IH]; intros [|x xs]; cbn; try reflexivity. now rewrite IH. Qed.

  Lemma output_is_P M D D' xs : P (cells M D D') xs = output M D xs.
  Proof.
    rewrite <- independent_is_P; unfold cells, output; f_equal. induction M as [|t M IH]; cbn; [reflexivity|].
    rewrite map_app, IH, map_map; reflexivity.
  Qed.

  Lemma output_is_Q M D D' xs : Q (cells M D D') xs = output M D' xs.
  Proof.
    rewrite <- independent_is_Q; unfold cells, output; f_equal. induction M as [|t M IH]; cbn; [reflexivity|].
    rewrite map_app, IH, map_map; reflexivity.
  Qed.

  Definition lawful_table (t : table) : Prop := forall v, is_law (law t v).

  Lemma cells_proper M D D' : Forall lawful_table M -> proper (cells M D D').
  Proof.
    induction 1 as [|t M Ht _ IH]; [apply nil_proper|]. apply proper_app; [|exact IH].
    apply Forall_map, Forall_forall; intros i _; split; apply Ht.
  Qed.

  Lemma private_cells M D D' eps d : private (cells M D D') eps d -> indistinguishable (output M D) (output M D') eps d.
  Proof.
    intros H E p q Hp Hq. apply (H E p q).
    - exact (same_events _ _ E p (fun xs => eq_sym (output_is_P M D D' xs)) Hp).
    - exact (same_events _ _ E q (fun xs => eq_sym (output_is_Q M D D' xs)) Hq).
  Qed.

  Lemma indistinguishable_exchanged p q eps d : indistinguishable p q eps d -> indistinguishable q p eps d.
  Proof. intros H E a b Ha Hb. destruct (H E b a Hb Ha); now split. Qed.

  Lemma indistinguishable_permuted M D D' E E' eps d :
    Permutation D D' -> Permutation E E' -> indistinguishable (output M D') (output M E') eps d -> indistinguishable (output M D) (output M E) eps d.
  Proof.
    intros HD HE H S p q Hp Hq. apply (H S p q).
    - exact (same_events _ _ S p (fun xs => output_permuted M D D' xs HD) Hp).
    - exact (same_events _ _ S q (fun xs => output_permuted M E E' xs HE) Hq).
  Qed.

  (** A list of counts for each table, one after the other. *)
  Inductive each (R : table -> list count -> Prop) : list table -> list count -> Prop :=
    | each_none : each R [] []
    | each_table t cs M ds : R t cs -> each R M ds -> each R (t :: M) (cs ++ ds).

  Lemma each_dominates (R : table -> list count -> Prop) M cs D D' :
    Forall lawful_table M -> (forall t cs, In t M -> R t cs -> proper cs /\ dominates cs (map (cell t D D') (places t))) ->
    each R M cs -> proper cs /\ dominates cs (cells M D D').
  Proof.
    intros HM HR Hcs; induction Hcs as [|t cs M ds Ht _ IH]; [split; [apply nil_proper | apply dominates_itself]|].
    inversion HM as [|? ? Hl HM']; subst. destruct (HR t cs (or_introl eq_refl) Ht) as [H1 H2].
    destruct IH as [H3 H4]; [assumption | intros; apply HR; [now right | assumption]|].
    split; [now apply proper_app|]. apply dominates_app; try assumption; [|now apply cells_proper].
    apply Forall_map, Forall_forall; intros i _; split; apply Hl.
  Qed.

  Lemma each_exists (R : table -> list count -> Prop) M : (forall t, In t M -> exists cs, R t cs) -> exists cs, each R M cs.
  Proof.
    induction M as [|t M IH]; intros H; [exists []; constructor|].
    destruct (H t (or_introl eq_refl)) as [cs Hcs]. destruct IH as [ds Hds]; [intros; apply H; now right|].
    exists (cs ++ ds); now constructor.
  Qed.

  (** ** How many counts change, and by how much *)

  Lemma sum_zero {A} (f : A -> Z) l : (forall x, f x = 0%Z) -> sum (map f l) = 0%Z.
  Proof. intros H; induction l as [|x l IH]; [reflexivity|]. cbn [map sum fold_right]. unfold sum in IH; rewrite IH, H; reflexivity. Qed.

  Section Changes.
    Variable t : table.
    Hypothesis Hkeeps : keeps t.

    Let shift_nonneg : (0 <= shift t)%Z. Proof. apply Hkeeps. Qed.

    Lemma value_bounds rs i : (0 <= value t rs i <= Z.of_nat (length rs) * shift t)%Z.
    Proof.
      induction rs as [|r rs IH]; [cbn; lia|]. destruct Hkeeps as [_ Hk]. destruct (Hk r) as [Hm _]; specialize (Hm i).
      cbn [value fold_right length]; fold (value t rs i). lia.
    Qed.

    Lemma moves_in_sum r is :
      (sum (map (moves t r) is) <= Z.of_nat (length (filter (fun i => negb (moves t r i =? 0)%Z) is)) * shift t)%Z.
    Proof.
      destruct Hkeeps as [_ Hk]. destruct (Hk r) as [Hm _]. induction is as [|i is IH]; [cbn; lia|].
      cbn [map sum fold_right filter]; fold (sum (map (moves t r) is)). specialize (Hm i).
      destruct (Z.eqb_spec (moves t r i) 0) as [E|E]; cbn [negb length]; lia.
    Qed.

    Lemma values_in_sum rs : (sum (map (value t rs) (places t)) <= Z.of_nat (length rs * most t) * shift t)%Z.
    Proof.
      induction rs as [|r rs IH].
      - rewrite sum_zero by reflexivity. cbn; lia.
      - assert (E : forall l, sum (map (value t (r :: rs)) l) = (sum (map (moves t r) l) + sum (map (value t rs) l))%Z).
        { induction l as [|i l IHl]; [reflexivity|]. cbn [map sum fold_right] in *. unfold sum in IHl; rewrite IHl.
          cbn [value fold_right]; fold (value t rs i); fold (sum (map (moves t r) l)) (sum (map (value t rs) l)); lia. }
        rewrite E. assert (H1 := moves_in_sum r (places t)). destruct Hkeeps as [_ Hk]. destruct (Hk r) as [_ Hmost]. unfold touched in Hmost.
        apply inj_le in Hmost. cbn [length]. nia.
    Qed.

    Lemma filter_either {A} (p q s : A -> bool) l :
      (forall i, p i = true -> q i = true \/ s i = true) -> (length (filter p l) <= length (filter q l) + length (filter s l))%nat.
    Proof.
      intros H; induction l as [|i l IH]; [apply le_n|]. cbn [filter]. specialize (H i).
      destruct (p i), (q i), (s i); cbn [length]; try lia; destruct (H eq_refl); discriminate.
    Qed.

    Lemma filter_fewer {A} (p q : A -> bool) l : (forall i, p i = true -> q i = true) -> (length (filter p l) <= length (filter q l))%nat.
    Proof.
      intros H; induction l as [|i l IH]; [apply le_n|]. cbn [filter]. specialize (H i).
      destruct (p i), (q i); cbn [length]; try lia; specialize (H eq_refl); discriminate.
    Qed.

    Lemma few_values rs : (length (filter (fun i => negb (value t rs i =? 0)%Z) (places t)) <= length rs * most t)%nat.
    Proof.
      induction rs as [|r rs IH].
      - cbn [length Nat.mul]. generalize (places t); intros l; induction l as [|i l IH]; [apply le_n | exact IH].
      - destruct Hkeeps as [_ Hk]. destruct (Hk r) as [_ Hmost]. cbn [length Nat.mul].
        eapply Nat.le_trans; [|apply Nat.add_le_mono; [exact Hmost | exact IH]]. apply filter_either. intros i.
        cbn [value fold_right]; fold (value t rs i). rewrite !Bool.negb_true_iff, !Z.eqb_neq. lia.
    Qed.
  End Changes.

  (** ** Log-concave noise: one list of counts for all neighbors *)

  Definition additive_noise (t : table) (f : Z -> R) : Prop := law t = additive f /\ is_law f /\ log_concave f /\ keeps t.

  (** The counts that are accounted for: [most] counts that move by K times [shift]. *)
  Definition account (K : nat) (t : table) (cs : list count) : Prop :=
    exists f, additive_noise t f /\ cs = repeat (Moved f (Z.of_nat K * shift t)) (most t).

  (** Where records are replaced: as many that move up, and as many that move down. *)
  Definition account_replaced (K : nat) (t : table) (cs : list count) : Prop :=
    exists f, additive_noise t f
      /\ cs = repeat (Moved f (Z.of_nat K * shift t)) (most t) ++ repeat (down f (Z.of_nat K * shift t)) (most t).

  Lemma cells_are_between t f D D' :
    law t = additive f ->
    map (cell t D D') (places t) = map (fun vv => Between f (fst vv) (snd vv)) (map (fun i => (value t D i, value t D' i)) (places t)).
  Proof. intros H; rewrite map_map; apply map_ext; intros i; unfold cell; rewrite H; reflexivity. Qed.

  Lemma sum_le {A} (f g : A -> Z) l : (forall x, f x <= g x)%Z -> (sum (map f l) <= sum (map g l))%Z.
  Proof. intros H; induction l as [|x l IH]; cbn [map sum fold_right]; [lia|]. specialize (H x). unfold sum in IH; lia. Qed.

  Lemma most_in_sum t (rs : list record) K :
    keeps t -> (length rs <= K)%nat -> (Z.of_nat (length rs * most t) * shift t <= Z.of_nat (most t) * (Z.of_nat K * shift t))%Z.
  Proof.
    intros [H _] Hl; apply inj_le in Hl. rewrite Nat2Z.inj_mul, <- Z.mul_assoc, (Z.mul_comm (Z.of_nat (length rs))), <- Z.mul_assoc.
    rewrite (Z.mul_comm (shift t)). apply Z.mul_le_mono_nonneg_l; [lia|]. now apply Z.mul_le_mono_nonneg_r.
  Qed.

  Lemma account_dominates K t cs D rs :
    (length rs <= K)%nat -> account K t cs -> proper cs /\ dominates cs (map (cell t D (rs ++ D)) (places t)).
  Proof.
    intros Hl (f & (Hlaw & Hf & Hlc & Hk) & ->).
    split; [now apply repeat_proper, Moved_lawful|]. rewrite (cells_are_between t f) by assumption.
    assert (H := worst_moves f Hf Hlc (Z.of_nat K * shift t) (most t) 0 (map (fun i => (value t D i, value t (rs ++ D) i)) (places t))).
    cbn [repeat] in H; rewrite app_nil_r in H. apply H; unfold ups, downs; rewrite map_map; cbn [fst snd].
    - apply Forall_map, Forall_forall; intros i _. rewrite value_app. assert (Hv := value_bounds t Hk rs i). destruct Hk as [Hs _]. nia.
    - eapply Z.le_trans; [|now apply (most_in_sum t rs)]. eapply Z.le_trans; [|now apply values_in_sum].
      apply sum_le; intros i. rewrite value_app. assert (Hv := value_bounds t Hk rs i). lia.
    - apply Forall_map, Forall_forall; intros i _. rewrite value_app. assert (Hv := value_bounds t Hk rs i). destruct Hk as [Hs _]. nia.
    - apply Z.eq_le_incl, sum_zero; intros i. rewrite value_app. assert (Hv := value_bounds t Hk rs i). lia.
  Qed.

  Lemma account_replaced_dominates K t cs E rs ss :
    (length rs <= K)%nat -> (length ss <= K)%nat -> account_replaced K t cs -> proper cs /\ dominates cs (map (cell t (rs ++ E) (ss ++ E)) (places t)).
  Proof.
    intros Hr Hs (f & (Hlaw & Hf & Hlc & Hk) & ->).
    split; [apply proper_app; apply repeat_proper; [now apply Moved_lawful | now apply down_lawful]|]. rewrite (cells_are_between t f) by assumption.
    apply worst_moves; try assumption; unfold ups, downs; rewrite map_map; cbn [fst snd].
    - apply Forall_map, Forall_forall; intros i _. rewrite !value_app. assert (H1 := value_bounds t Hk rs i). assert (H2 := value_bounds t Hk ss i).
      destruct Hk as [H0 _]. nia.
    - eapply Z.le_trans; [|now apply (most_in_sum t ss)]. eapply Z.le_trans; [|now apply values_in_sum].
      apply sum_le; intros i. rewrite !value_app. assert (H1 := value_bounds t Hk rs i). assert (H2 := value_bounds t Hk ss i). lia.
    - apply Forall_map, Forall_forall; intros i _. rewrite !value_app. assert (H1 := value_bounds t Hk rs i). assert (H2 := value_bounds t Hk ss i).
      destruct Hk as [H0 _]. nia.
    - eapply Z.le_trans; [|now apply (most_in_sum t rs)]. eapply Z.le_trans; [|now apply values_in_sum].
      apply sum_le; intros i. rewrite !value_app. assert (H1 := value_bounds t Hk rs i). assert (H2 := value_bounds t Hk ss i). lia.
  Qed.

  Lemma additive_lawful t f : additive_noise t f -> lawful_table t.
  Proof. intros (E & Hf & _) v; rewrite E; now apply moved_is_law. Qed.

  Lemma each_lawful (R : table -> list count -> Prop) M cs :
    (forall t cs, R t cs -> exists f, additive_noise t f) -> each R M cs -> Forall lawful_table M.
  Proof.
    intros HR H; induction H as [|t cs M ds Ht _ IH]; constructor; [|exact IH].
    destruct (HR t cs Ht) as [f Hf]; now apply (additive_lawful t f).
  Qed.

  Lemma account_lawful K M cs : each (account K) M cs -> Forall lawful_table M.
  Proof. apply each_lawful; intros t ds (f & Hf & _); now exists f. Qed.

  Lemma account_replaced_lawful K M cs : each (account_replaced K) M cs -> Forall lawful_table M.
  Proof. apply each_lawful; intros t ds (f & Hf & _); now exists f. Qed.

  (** What is private with the counts that are accounted for is private for all data sets and all groups of at most [K] records, added or removed. *)
  Theorem account_is_private K M cs eps d :
    each (account K) M cs -> private cs eps d -> private_for_all (add_remove K) M eps d.
  Proof.
    intros Hcs Hd. assert (HM := account_lawful K M cs Hcs).
    assert (H : forall D D', added K D D' -> indistinguishable (output M D) (output M D') eps d).
    { intros D D' (rs & Hl & Hperm). apply (indistinguishable_permuted M D D D' (rs ++ D)); [reflexivity | assumption|].
      destruct (each_dominates (account K) M cs D (rs ++ D) HM ltac:(intros; now apply (account_dominates K)) Hcs) as [Hp Hdom].
      apply private_cells, (dominated_is_private cs); try assumption. now apply cells_proper. }
    intros D D' [Hadd|Hadd]; [now apply H | apply indistinguishable_exchanged; now apply H].
  Qed.

  (** The same of at most [K] records that are replaced. *)
  Theorem account_replaced_is_private K M cs eps d :
    each (account_replaced K) M cs -> private cs eps d -> private_for_all (replaced K) M eps d.
  Proof.
    intros Hcs Hd D D' (E & rs & ss & Hlen & Hl & HD & HD').
    assert (HM := account_replaced_lawful K M cs Hcs).
    apply (indistinguishable_permuted M D (rs ++ E) D' (ss ++ E)); try assumption.
    destruct (each_dominates (account_replaced K) M cs (rs ++ E) (ss ++ E) HM) as [Hp Hdom]; [|assumption|].
    - intros t ds _ Ht; apply (account_replaced_dominates K); [assumption | lia | assumption].
    - apply private_cells, (dominated_is_private cs); try assumption. now apply cells_proper.
  Qed.

  (** ** Any noise: the worst of all choices *)

  (** At most [n] counts, from true counts that differ by [low] to [high]. *)
  Definition choice (n : table -> nat) (low high : table -> Z) (t : table) (cs : list count) : Prop :=
    (length cs <= n t)%nat
    /\ Forall (fun c => exists v v', (0 <= v)%Z /\ (0 <= v')%Z /\ (low t <= v' - v <= high t)%Z /\ c = Pair (law t v) (law t v')) cs.

  Definition choice_added (K : nat) : table -> list count -> Prop :=
    choice (fun t => K * most t)%nat (fun _ => 0%Z) (fun t => Z.of_nat K * shift t)%Z.
  Definition choice_removed (K : nat) : table -> list count -> Prop :=
    choice (fun t => K * most t)%nat (fun t => - (Z.of_nat K * shift t))%Z (fun _ => 0%Z).
  Definition choice_replaced (K : nat) : table -> list count -> Prop :=
    choice (fun t => 2 * K * most t)%nat (fun t => - (Z.of_nat K * shift t))%Z (fun t => Z.of_nat K * shift t)%Z.

  Definition changed (t : table) (D D' : data_set) (i : nat) : bool := negb (value t D i =? value t D' i)%Z.

  Lemma changed_dominate t D D' is :
    lawful_table t -> dominates (map (cell t D D') (filter (changed t D D') is)) (map (cell t D D') is).
  Proof.
    intros Ht; assert (Hp : forall l, proper (map (cell t D D') l)) by (intros; apply Forall_map, Forall_forall; intros; split; apply Ht).
    assert (Hl : forall i, lawful (cell t D D' i)) by (intros; split; apply Ht).
    induction is as [|i is IH]; [apply dominates_itself|]. cbn [filter map]. destruct (changed t D D' i) eqn:E; cbn [map].
    - apply dominates_cons; try assumption; try apply Hl; try apply Hp; apply dominates_itself.
    - apply dominates_trans with (1 := IH). apply dominates_without; [apply Hl | apply Hp|].
      unfold changed in E; rewrite Bool.negb_false_iff, Z.eqb_eq in E. intros x; unfold cell; cbn; now rewrite E.
  Qed.

  Lemma choices_private (R : table -> list count -> Prop) M D D' eps d :
    Forall lawful_table M -> (forall cs, each R M cs -> private cs eps d) ->
    (forall t, In t M -> R t (map (cell t D D') (filter (changed t D D') (places t)))) -> indistinguishable (output M D) (output M D') eps d.
  Proof.
    intros HM Hd HR. set (chosen := fun t => map (cell t D D') (filter (changed t D D') (places t))).
    apply private_cells, (dominated_is_private (flat_map chosen M)).
    - clear - HM; induction HM as [|t M Ht _ IH]; [apply nil_proper|]. cbn; apply proper_app; [|exact IH].
      apply Forall_map, Forall_forall; intros; split; apply Ht.
    - now apply cells_proper.
    - clear - HM; induction HM as [|t M Ht HM IH]; [apply dominates_itself|]. cbn.
      assert (Hp : forall l, proper (map (cell t D D') l)) by (intros; apply Forall_map, Forall_forall; intros; split; apply Ht).
      apply dominates_app; try apply Hp; [|now apply cells_proper | now apply changed_dominate | exact IH].
      clear - HM; induction HM as [|s M Hs _ IH]; [apply nil_proper|]. cbn; apply proper_app; [|exact IH].
      apply Forall_map, Forall_forall; intros; split; apply Hs.
    - apply Hd. clear - HR. induction M as [|t M IH]; [constructor|]. cbn; constructor; [apply HR; now left | apply IH; intros; apply HR; now right].
  Qed.

  (** The counts that a group of records changes are such a choice. *)
  Lemma choice_of_added K t D rs :
    keeps t -> (length rs <= K)%nat -> choice_added K t (map (cell t D (rs ++ D)) (filter (changed t D (rs ++ D)) (places t))).
  Proof.
    intros Hk Hl; split.
    - rewrite map_length. eapply Nat.le_trans; [|apply Nat.mul_le_mono_r; exact Hl]. eapply Nat.le_trans; [|apply (few_values t Hk rs)].
      apply filter_fewer. intros i; unfold changed; rewrite value_app, !Bool.negb_true_iff, !Z.eqb_neq. lia.
    - apply Forall_map, Forall_forall; intros i _. exists (value t D i), (value t (rs ++ D) i). rewrite value_app.
      assert (H1 := value_bounds t Hk rs i). assert (H2 := value_bounds t Hk D i). destruct Hk as [Hs _]. apply inj_le in Hl.
      repeat split; try lia; try nia. unfold cell; now rewrite value_app.
  Qed.

  Lemma choice_of_removed K t D rs :
    keeps t -> (length rs <= K)%nat -> choice_removed K t (map (cell t (rs ++ D) D) (filter (changed t (rs ++ D) D) (places t))).
  Proof.
    intros Hk Hl; split.
    - rewrite map_length. eapply Nat.le_trans; [|apply Nat.mul_le_mono_r; exact Hl]. eapply Nat.le_trans; [|apply (few_values t Hk rs)].
      apply filter_fewer. intros i; unfold changed; rewrite value_app, !Bool.negb_true_iff, !Z.eqb_neq. lia.
    - apply Forall_map, Forall_forall; intros i _. exists (value t (rs ++ D) i), (value t D i). rewrite value_app.
      assert (H1 := value_bounds t Hk rs i). assert (H2 := value_bounds t Hk D i). destruct Hk as [Hs _]. apply inj_le in Hl.
      repeat split; try lia; try nia. unfold cell; now rewrite value_app.
  Qed.

  (** Rows of cell keys, tables with any masses, noise with bounds: private for all data sets, if each choice is. *)
  Theorem choices_are_private K M eps d :
    Forall lawful_table M -> Forall keeps M -> (forall cs, each (choice_added K) M cs -> private cs eps d) -> private_for_all (add_remove K) M eps d.
  Proof.
    intros HM Hk Hd. rewrite Forall_forall in Hk.
    assert (H : forall D D', added K D D' -> indistinguishable (output M D) (output M D') eps d).
    { intros D D' (rs & Hl & Hperm). apply (indistinguishable_permuted M D D D' (rs ++ D)); [reflexivity | assumption|].
      apply (choices_private (choice_added K)); [assumption | assumption|]. intros t Ht; apply choice_of_added; [now apply Hk | exact Hl]. }
    intros D D' [Hadd|Hadd]; [now apply H | apply indistinguishable_exchanged; now apply H].
  Qed.

  Theorem choices_replaced_are_private K M eps d :
    Forall lawful_table M -> Forall keeps M -> (forall cs, each (choice_replaced K) M cs -> private cs eps d) -> private_for_all (replaced K) M eps d.
  Proof.
    intros HM Hk Hd D D' (E & rs & ss & Hlen & Hl & HD & HD'). rewrite Forall_forall in Hk.
    apply (indistinguishable_permuted M D (rs ++ E) D' (ss ++ E)); try assumption.
    apply (choices_private (choice_replaced K)); [assumption | assumption|]. intros t Ht; specialize (Hk t Ht). split.
    - rewrite map_length. assert (H1 := few_values t Hk rs). assert (H2 := few_values t Hk ss).
      apply Nat.le_trans with (length rs * most t + length ss * most t)%nat; [|nia].
      eapply Nat.le_trans; [|apply Nat.add_le_mono; [exact H1 | exact H2]]. apply filter_either.
      intros i; unfold changed; rewrite !value_app, !Bool.negb_true_iff, !Z.eqb_neq. lia.
    - apply Forall_map, Forall_forall; intros i _. exists (value t (rs ++ E) i), (value t (ss ++ E) i). rewrite !value_app.
      assert (H1 := value_bounds t Hk rs i). assert (H2 := value_bounds t Hk ss i). assert (H3 := value_bounds t Hk E i). destruct Hk as [Hs _].
      assert (H4 := inj_le _ _ Hl). repeat split; try lia; try nia. unfold cell; now rewrite !value_app.
  Qed.

  (** ** No smaller epsilon is enough *)

  (** The smallest epsilon for which a mechanism is private for all neighbors is in [a, b]. *)
  Definition smallest_epsilon_for_all (related : data_set -> data_set -> Prop) (M : list table) (d a b : R) : Prop :=
    exists e, a <= e <= b /\ 0 <= e /\ private_for_all related M e d /\ forall e', 0 <= e' -> private_for_all related M e' d -> e <= e'.

  (** A record that changes the first [most] counts of each table by [shift]. *)
  Definition full (M : list table) (r : record) : Prop :=
    Forall (fun t => (most t <= size t)%nat /\ forall i, (i < most t)%nat -> moves t r i = shift t) M.

  Lemma value_repeat t r K i : value t (repeat r K) i = (Z.of_nat K * moves t r i)%Z.
  Proof. induction K as [|K IH]; [reflexivity|]. cbn [repeat value fold_right]; fold (value t (repeat r K) i). rewrite IH; lia. Qed.

  Lemma same_laws b c : lawful b -> lawful c -> (forall x, P1 b x = P1 c x /\ Q1 b x = Q1 c x) -> dominates [b] [c].
  Proof.
    intros Hb Hc E p q Hp Hq; apply advantage_least; intros a. eapply Rle_trans; [|apply (partial_at_most [b] p q) with (a := a); try assumption; now apply one_proper].
    rewrite !partial_gap_one; right; apply lsum_ext; intros x; destruct (E x) as [-> ->]; reflexivity.
  Qed.

  Lemma cells_dominate_account K t cs r :
    (most t <= size t)%nat -> (forall i, (i < most t)%nat -> moves t r i = shift t) -> account K t cs ->
    dominates (map (cell t [] (repeat r K)) (places t)) cs.
  Proof.
    intros Hsize Hr (f & Hf & ->). assert (Ht := additive_lawful t f Hf). destruct Hf as (E & Hlaw & _).
    assert (Hp : forall l, proper (map (cell t [] (repeat r K)) l)) by (intros; apply Forall_map, Forall_forall; intros; split; apply Ht).
    unfold places. replace (size t) with (most t + (size t - most t))%nat by lia. rewrite seq_app, map_app.
    rewrite <- (app_nil_r (repeat (Moved _ _) _)).
    apply dominates_app; try apply Hp; [now apply repeat_proper, Moved_lawful | apply nil_proper | | now apply dominates_nil].
    assert (H : forall n a, (a + n <= most t)%nat -> dominates (map (cell t [] (repeat r K)) (seq a n)) (repeat (Moved f (Z.of_nat K * shift t)) n)).
    { induction n as [|n IH]; intros a Ha; [apply dominates_itself|]. cbn [seq map repeat].
      apply dominates_cons; [split; apply Ht | now apply Moved_lawful | apply Hp | now apply repeat_proper, Moved_lawful | | apply IH; lia].
      apply same_laws; [split; apply Ht | now apply Moved_lawful|]. intros x; unfold cell; cbn [P1 Q1 Moved]. rewrite E, value_repeat, Hr by lia.
      cbn [value fold_right]; unfold additive. now rewrite Z.sub_0_r. }
    apply H; lia.
  Qed.

  Lemma account_proper K t cs : account K t cs -> proper cs.
  Proof. intros (f & (_ & Hf & _) & ->); now apply repeat_proper, Moved_lawful. Qed.

  Lemma each_proper K M cs : each (account K) M cs -> proper cs.
  Proof. induction 1 as [|t cs M ds Ht _ IH]; [apply nil_proper|]. apply proper_app; [now apply (account_proper K t) | exact IH]. Qed.

  Theorem account_is_needed K M cs r eps d :
    full M r -> each (account K) M cs -> private_for_all (add_remove K) M eps d -> private cs eps d.
  Proof.
    intros Hr Hcs Hd. assert (HM := account_lawful K M cs Hcs).
    apply (dominated_is_private (cells M [] (repeat r K))).
    - now apply cells_proper.
    - now apply (each_proper K M).
    - clear Hd; induction Hcs as [|t cs M ds Ht Hds IH]; [apply dominates_itself|].
      inversion Hr as [|? ? [H1 H2] Hr']; subst. inversion HM as [|? ? Hl HM']; subst. cbn [cells flat_map]; fold (cells M [] (repeat r K)).
      apply dominates_app; [|now apply (account_proper K t)| now apply cells_proper | now apply (each_proper K M) | now apply cells_dominate_account | now apply IH].
      apply Forall_map, Forall_forall; intros; split; apply Hl.
    - intros E p q Hp Hq. apply (Hd [] (repeat r K)) with (E := E).
      + left; exists (repeat r K); split; [now rewrite repeat_length | now rewrite app_nil_r].
      + exact (same_events _ _ E p (output_is_P M [] (repeat r K)) Hp).
      + exact (same_events _ _ E q (output_is_Q M [] (repeat r K)) Hq).
  Qed.

  (** So the smallest epsilon of the counts that are accounted for is that of the mechanism, if there may be such a record. *)
  Corollary account_is_smallest K M cs r d a b :
    full M r -> each (account K) M cs -> smallest_epsilon cs d a b -> smallest_epsilon_for_all (add_remove K) M d a b.
  Proof.
    intros Hr Hcs (e & He & H0 & Hp & Hleast). exists e; split; [exact He | split; [exact H0 | split]].
    - now apply account_is_private with cs.
    - intros e' He' Hp'; apply Hleast; [assumption|]. now apply (account_is_needed K M cs r).
  Qed.
End DataSets.
