(** * Losses on no lattice: cells of a coarser one

    A count whose losses are on no common lattice is replaced by one that tells more, and whose losses are on the lattice: each
    output is split into two, with the lower and the upper loss of its cell, so that both its probabilities are kept. The count is
    the split count with the two outputs merged again, so its profile is at most that of the split count. For lower ends any
    function of the output, such as its loss rounded to the lattice, is a test. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick.
Import ListNotations.
Open Scope R_scope.

(** ** Merged outputs *)

(** [c] is [c'] with the outputs [kids x] merged into x. *)
Definition merges (kids : Z -> list Z) (c c' : count) : Prop :=
  (exists parent, forall x y, In y (kids x) -> parent y = x)
  /\ (forall x, NoDup (kids x))
  /\ (forall x, P1 c x = lsum (P1 c') (kids x)) /\ (forall x, Q1 c x = lsum (Q1 c') (kids x)).

Lemma merges_itself c : merges (fun x => [x]) c c.
Proof.
  repeat split; try (intros; cbn; lra).
  - exists (fun x => x); intros x y [<-|[]]; reflexivity.
  - intros; repeat constructor; auto.
Qed.

Fixpoint families (ks : list (Z -> list Z)) (xs : list Z) : list (list Z) :=
  match ks, xs with
  | [], [] => [[]]
  | k :: ks', x :: xs' => flat_map (fun y => map (cons y) (families ks' xs')) (k x)
  | _, _ => []
  end.

Lemma NoDup_flat_map {A B} (f : A -> list B) (parent : B -> A) l :
  NoDup l -> (forall x, In x l -> NoDup (f x)) -> (forall x y, In y (f x) -> parent y = x) -> NoDup (flat_map f l).
Proof.
  induction 1 as [|x l Hx _ IH]; intros Hf Hp; cbn; [constructor|].
  apply NoDup_append; [apply Hf; now left | apply IH; [intros; apply Hf; now right | exact Hp]|].
  intros y Hy Hin; apply in_flat_map in Hin; destruct Hin as (z & Hz & Hyz).
  apply Hp in Hy; apply Hp in Hyz; congruence.
Qed.

Section Merged.
  Variables (ks : list (Z -> list Z)) (cs cs' : list count).

  Definition all_merge : Prop := Forall2 (fun k cc => merges k (fst cc) (snd cc)) ks (combine cs cs') /\ length cs = length cs'.
End Merged.

Lemma families_NoDup ks cs cs' xs : all_merge ks cs cs' -> NoDup (families ks xs).
Proof.
  intros [H Hl]; revert cs' Hl xs H; revert ks; induction cs as [|c cs IH]; intros ks [|c' cs'] Hl xs H; try discriminate;
    cbn in H; inversion H as [|k cc ks' l (_ & Hk & _) Hrest]; subst.
  - destruct xs; cbn; repeat constructor; auto.
  - destruct xs as [|x xs]; cbn; [constructor|].
    apply NoDup_flat_map with (parent := fun ys => hd 0%Z ys).
    + apply Hk.
    + intros y _; apply FinFun.Injective_map_NoDup; [intros u v E; now injection E|].
      apply (IH ks' cs'); [now injection Hl | assumption].
    + intros y ys Hin; apply in_map_iff in Hin; destruct Hin as (zs & <- & _); reflexivity.
Qed.

Lemma families_parents ks cs cs' : all_merge ks cs cs' -> exists parent, forall xs ys, In ys (families ks xs) -> parent ys = xs.
Proof.
  intros [H Hl]; revert cs' Hl H; revert ks; induction cs as [|c cs IH]; intros ks [|c' cs'] Hl H; try discriminate;
    cbn in H; inversion H as [|k cc ks' l ((p & Hp) & _) Hrest]; subst.
  - exists (fun ys => ys); intros [|x xs] ys; cbn; [intros [<-|[]]; reflexivity | intros []].
  - destruct (IH ks' cs' ltac:(now injection Hl) Hrest) as [q Hq].
    exists (fun ys => match ys with [] => [] | y :: ys' => p y :: q ys' end).
    intros [|x xs] ys; cbn; [intros []|]. intros Hin; apply in_flat_map in Hin; destruct Hin as (y & Hy & Hin).
    apply in_map_iff in Hin; destruct Hin as (zs & <- & Hz). now rewrite (Hp x y Hy), (Hq xs zs Hz).
Qed.

Lemma Forall2_weaken {A B} (R1 R2 : A -> B -> Prop) la lb : (forall a b, R1 a b -> R2 a b) -> Forall2 R1 la lb -> Forall2 R2 la lb.
Proof. intros H; induction 1; constructor; auto. Qed.

Lemma product_of_families (law : count -> Z -> R) ks cs cs' xs :
  Forall2 (fun k cc => forall x, law (fst cc) x = lsum (law (snd cc)) (k x)) ks (combine cs cs') -> length cs = length cs' ->
  product law cs xs = lsum (product law cs') (families ks xs).
Proof.
  revert cs' xs ks; induction cs as [|c cs IH]; intros [|c' cs'] xs ks H Hl; try discriminate;
    cbn in H; inversion H as [|k cc ks' l Hk Hrest]; subst.
  - destruct xs; cbn; lra.
  - destruct xs as [|x xs]; cbn; [reflexivity|].
    rewrite lsum_flat_map, Hk; cbn [fst snd]. rewrite <- lsum_scale_r; apply lsum_ext; intros y.
    rewrite lsum_map; cbn [product]. rewrite lsum_scale; f_equal. apply IH; [assumption | now injection Hl].
Qed.

(** Merging outputs does not raise the profile. *)
Theorem delta_of_merged ks cs cs' eps :
  all_merge ks cs cs' -> proper cs' -> delta cs eps <= delta cs' eps.
Proof.
  intros Hm H; apply total_least; intros l Hl. destruct (families_parents ks cs cs' Hm) as [parent Hp].
  apply Rle_trans with (lsum (gap cs' eps) (flat_map (families ks) l)).
  2: { apply total_upper; [now apply gap_summable|]. apply NoDup_flat_map with (parent := parent); try assumption.
       intros; now apply (families_NoDup ks cs cs'). }
  rewrite lsum_flat_map; apply lsum_le; intros xs. destruct Hm as [Hm Hlen].
  unfold gap at 1, P, Q. rewrite (product_of_families P1 ks cs cs'), (product_of_families Q1 ks cs cs'); try assumption.
  2, 3: eapply Forall2_weaken; [|exact Hm]; intros k cc (_ & _ & H1 & H2); assumption.
  apply Rmax_lub.
  - apply lsum_nonneg; intros; apply gap_nonneg.
  - rewrite <- lsum_scale, <- lsum_minus; apply lsum_le; intros ys. apply Rmax_r.
Qed.

(** ** The split count *)

Definition pair_of (x : Z) : list Z := [(2 * x)%Z; (2 * x + 1)%Z].

(** A law whose outputs are split in two parts, without loss. *)
Lemma split_is_law f f' :
  is_law f -> (forall y, 0 <= f' y) -> (forall x, f x = lsum f' (pair_of x)) -> is_law f'.
Proof.
  intros (Hf & Hs & Ht) Hf' Hsplit.
  assert (Hone : forall l, NoDup l -> lsum f' l <= 1).
  { intros l Hl. set (xs := nodup Z.eq_dec (map (fun y => (y / 2)%Z) l)).
    apply Rle_trans with (lsum f' (flat_map pair_of xs)).
    - apply lsum_incl; try assumption. intros y Hy; apply in_flat_map; exists (y / 2)%Z; split.
      + apply nodup_In, in_map_iff; now exists y.
      + assert (E := Z.div_mod y 2 ltac:(lia)). assert (B := Z.mod_pos_bound y 2 ltac:(lia)). unfold pair_of.
        set (q := (y / 2)%Z) in *. assert (y mod 2 = 0 \/ y mod 2 = 1)%Z as [C|C] by lia; rewrite C in E;
          [left | right; left]; lia.
    - rewrite lsum_flat_map, (lsum_ext _ f) by (intros; symmetry; apply Hsplit).
      apply law_at_most_one; [split; auto | apply NoDup_nodup]. }
  split; [assumption | split; [exists 1; assumption|]].
  apply Rle_antisym; [now apply total_least|]. rewrite <- Ht; apply total_least; intros l Hl.
  rewrite (lsum_ext f (fun x => lsum f' (pair_of x)) l Hsplit), <- lsum_flat_map.
  apply total_upper; [exists 1; assumption|].
  apply NoDup_flat_map with (parent := fun y => (y / 2)%Z); try assumption.
  - intros x _; repeat constructor; cbn; lia.
  - intros x y [<-|[<-|[]]]; [rewrite Z.mul_comm; apply Z.div_mul; lia|].
    rewrite Z.mul_comm, Z.div_add_l by lia. rewrite Z.div_small; lia.
Qed.

Section Split.
  Variables (s h : R) (m : Z) (cell : Z -> Z).
  Hypothesis Hs : 0 < s.
  Hypothesis Hh : 0 < h.

  (** The loss of output x is - gained x. *)
  Definition gained (x : Z) : R := IZR m * (2 * IZR x - IZR m) / (2 * s).

  Hypothesis Hcell : forall x, h * IZR (cell x) <= gained x <= h * IZR (cell x + 1).

  Definition upper_part (x : Z) : R := (exp (gained x - h * IZR (cell x)) - 1) / (exp h - 1).

  Definition part (y : Z) : R := if Z.even y then 1 - upper_part (y / 2) else upper_part (y / 2).
  Definition part_cell (y : Z) : Z := if Z.even y then cell (y / 2) else (cell (y / 2) + 1)%Z.

  Definition split_P (y : Z) : R := gaussian s (y / 2) * part y.

  Definition SplitCount : count := Pair split_P (fun y => split_P y * exp (h * IZR (part_cell y))).

  Lemma exp_h : 0 < exp h - 1.
  Proof. assert (exp 0 < exp h) by (apply exp_increasing; assumption). rewrite exp_0 in *; lra. Qed.

  Lemma upper_part_bounds x : 0 <= upper_part x <= 1.
  Proof.
    assert (He := exp_h). destruct (Hcell x) as [H1 H2]; rewrite plus_IZR in H2. unfold upper_part; split.
    - apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat].
      assert (exp 0 <= exp (gained x - h * IZR (cell x))) by (apply exp_mono; lra). rewrite exp_0 in *; lra.
    - apply Rmult_le_reg_r with (exp h - 1); [assumption|].
      unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_l, Rmult_1_r by lra.
      assert (exp (gained x - h * IZR (cell x)) <= exp h) by (apply exp_mono; lra). lra.
  Qed.

  Lemma even_half x : ((2 * x) / 2 = x)%Z /\ ((2 * x + 1) / 2 = x)%Z /\ Z.even (2 * x) = true /\ Z.even (2 * x + 1) = false.
  Proof.
    repeat split; [rewrite Z.mul_comm; apply Z.div_mul; lia | rewrite Z.mul_comm, Z.div_add_l by lia; rewrite Z.div_small; lia | |].
    - now rewrite Z.even_mul.
    - rewrite Z.even_add, Z.even_mul; reflexivity.
  Qed.

  Lemma split_P_of x : split_P (2 * x) = gaussian s x * (1 - upper_part x) /\ split_P (2 * x + 1) = gaussian s x * upper_part x.
  Proof. destruct (even_half x) as (H1 & H2 & H3 & H4). unfold split_P, part; now rewrite H1, H2, H3, H4. Qed.

  Lemma split_P_nonneg y : 0 <= split_P y.
  Proof.
    apply Rmult_le_pos; [left; now apply gaussian_pos|]. unfold part. generalize (upper_part_bounds (y / 2)).
    destruct (Z.even y); lra.
  Qed.

  Lemma Count_loss x : Q1 (Count s m) x = P1 (Count s m) x * exp (gained x).
  Proof.
    cbn [P1 Q1 Count]; unfold gaussian, weight, gained.
    replace (- (IZR (x - m))² / (2 * s)) with (- (IZR x)² / (2 * s) + IZR m * (2 * IZR x - IZR m) / (2 * s))
      by (rewrite minus_IZR; unfold Rsqr; field; lra).
    rewrite exp_plus; unfold Rdiv; ring.
  Qed.

  Theorem split_merges : merges pair_of (Count s m) SplitCount.
  Proof.
    split; [|split; [|split]].
    - exists (fun y => (y / 2)%Z); intros x y [<-|[<-|[]]]; apply even_half.
    - intros x; repeat constructor; cbn; lia.
    - intros x; cbn [pair_of lsum P1 SplitCount Count]. destruct (split_P_of x) as [-> ->]; lra.
    - intros x; rewrite Count_loss; unfold pair_of; cbn [lsum Q1 P1 SplitCount Count].
      destruct (split_P_of x) as [-> ->]. unfold part_cell. destruct (even_half x) as (-> & -> & -> & ->).
      rewrite plus_IZR, Rmult_plus_distr_l, exp_plus, Rmult_1_r. assert (He := exp_h). unfold upper_part.
      replace (gained x) with (h * IZR (cell x) + (gained x - h * IZR (cell x))) at 1 by ring. rewrite exp_plus. field; lra.
  Qed.

  Lemma SplitCount_lawful : lawful SplitCount.
  Proof.
    destruct (Count_lawful s m Hs) as [HP HQ]. destruct split_merges as (_ & _ & H1 & H2). split.
    - apply split_is_law with (1 := HP); [exact split_P_nonneg | exact H1].
    - apply split_is_law with (1 := HQ); [|exact H2].
      intros y; apply Rmult_le_pos; [apply split_P_nonneg | left; apply exp_pos].
  Qed.

  Lemma SplitCount_reads nm : reads h SplitCount (Reading 1 part_cell 0 nm).
  Proof.
    intros y; cbn [P1 Q1 SplitCount step place base]. f_equal; f_equal. rewrite Z.mul_1_l; ring.
  Qed.
End Split.

(** ** Lower ends: any test of any function of the outputs *)

(** A test rejects output xs with a probability [f xs]. *)
Theorem test_bounds_delta cs eps (f : list Z -> R) l :
  proper cs -> NoDup l -> (forall xs, 0 <= f xs <= 1) ->
  lsum (fun xs => P cs xs * f xs) l - exp eps * lsum (fun xs => Q cs xs * f xs) l <= delta cs eps.
Proof.
  intros H Hl Hf; apply Rle_trans with (lsum (gap cs eps) l); [|apply total_upper; [now apply gap_summable | assumption]].
  rewrite <- lsum_scale, <- lsum_minus; apply lsum_le; intros xs. specialize (Hf xs).
  unfold gap. generalize (Rmax_l 0 (P cs xs - exp eps * Q cs xs)) (Rmax_r 0 (P cs xs - exp eps * Q cs xs)).
  set (g := Rmax _ _); intros H0 H1. nra.
Qed.
