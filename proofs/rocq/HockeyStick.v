(** * The privacy profile of counts with noise on the integers

    An output is a list of integers, one for each count. For two neighbors it has the product laws [P] and [Q]. The profile is

        delta(eps) = sum over outputs x of max(0, P(x) - e^eps Q(x)),

    a sum of non-negative terms over Z^n. It is shown to be the least d with P(S) <= e^eps Q(S) + d for all events S. Then it
    is reduced to the law of an integer: on a lattice the privacy loss of an output is an affine function of an integer. *)

From Coq Require Import Reals ZArith Lra Lia.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian.
Import ListNotations.
Open Scope R_scope.

(** ** The two laws *)

(** The laws of one published count, seen from either neighbor's true value. *)
Record count := Pair { P1 : Z -> R; Q1 : Z -> R }.

(** The noise is N_Z(0, sigma2), and the neighbor moves the true value by [shift]. *)
Definition Count (sigma2 : R) (shift : Z) : count :=
  Pair (gaussian sigma2) (fun x => gaussian sigma2 (x - shift)).

(** Independent counts. A list of the wrong length is not an output and has probability zero. *)
Fixpoint product (law : count -> Z -> R) (cs : list count) (xs : list Z) : R :=
  match cs, xs with
  | [], [] => 1
  | c :: cs', x :: xs' => law c x * product law cs' xs'
  | _, _ => 0
  end.

Definition P : list count -> list Z -> R := product P1.
Definition Q : list count -> list Z -> R := product Q1.

(** ** The profile *)

Definition gap (cs : list count) (eps : R) (xs : list Z) : R :=
  Rmax 0 (P cs xs - exp eps * Q cs xs).

Definition delta (cs : list count) (eps : R) : R := total (gap cs eps).

(** Each count has two probability laws. *)
Definition lawful (c : count) : Prop := is_law (P1 c) /\ is_law (Q1 c).
Definition proper (cs : list count) : Prop := Forall lawful cs.

Lemma Count_lawful s m : 0 < s -> lawful (Count s m).
Proof. intros H; split; [now apply gaussian_is_law | apply moved_is_law; now apply gaussian_is_law]. Qed.

Lemma product_nonneg law cs xs :
  Forall (fun c => forall x, 0 <= law c x) cs -> 0 <= product law cs xs.
Proof.
  intros H; revert xs; induction H as [|c cs Hc _ IH]; intros [|x xs]; cbn; try lra.
  apply Rmult_le_pos; auto.
Qed.

Lemma P1_nonneg c x : lawful c -> 0 <= P1 c x.
Proof. intros [[H _] _]; apply H. Qed.

Lemma P_nonneg cs xs : proper cs -> 0 <= P cs xs.
Proof.
  intros H; apply product_nonneg. eapply Forall_impl; [|exact H]. intros c Hc x; now apply P1_nonneg.
Qed.

Lemma Q_nonneg cs xs : proper cs -> 0 <= Q cs xs.
Proof.
  intros H; apply product_nonneg. eapply Forall_impl; [|exact H]. now intros c [_ [Hc _]] x.
Qed.

(** ** Boxes of outputs *)

(** All lists of [n] integers from -a to a. *)
Fixpoint box (n a : nat) : list (list Z) :=
  match n with
  | O => [[]]
  | S n' => flat_map (fun x => map (cons x) (box n' a)) (range a)
  end.

Lemma in_box n a xs :
  In xs (box n a) <-> length xs = n /\ (forall x, In x xs -> In x (range a)).
Proof.
  revert xs; induction n as [|n IH]; intros xs; cbn [box].
  - split.
    + intros [<-|[]]; split; [reflexivity | intros x []].
    + intros [H _]; destruct xs; [now left | discriminate].
  - rewrite in_flat_map; split.
    + intros (x & Hx & Hxs); apply in_map_iff in Hxs; destruct Hxs as (ys & <- & Hys).
      apply IH in Hys; destruct Hys as [Hlen Hin]; split; [cbn; lia|].
      intros z [<-|Hz]; auto.
    + intros [Hlen Hin]; destruct xs as [|x xs]; [discriminate|].
      exists x; split; [apply Hin; now left|].
      apply in_map; apply IH; split; [cbn in Hlen; lia | intros z Hz; apply Hin; now right].
Qed.

Lemma NoDup_append {A} (l1 l2 : list A) :
  NoDup l1 -> NoDup l2 -> (forall x, In x l1 -> ~ In x l2) -> NoDup (l1 ++ l2).
Proof.
  intros H1 H2 H; induction H1 as [|x l1 Hx _ IH]; cbn; [assumption|].
  constructor.
  - intros Hin; apply in_app_or in Hin; destruct Hin; [contradiction|].
    apply (H x); [now left | assumption].
  - apply IH; intros y Hy; apply H; now right.
Qed.

Lemma NoDup_box n a : NoDup (box n a).
Proof.
  induction n as [|n IH]; cbn [box]; [repeat constructor; auto|].
  assert (Hr := NoDup_range a); revert Hr; generalize (range a) as r; intros r Hr.
  induction Hr as [|x r Hx _ IHr]; cbn; [constructor|].
  apply NoDup_append; [|assumption|].
  - apply FinFun.Injective_map_NoDup; [intros u v E; now injection E | assumption].
  - intros ys Hys Hin; apply in_map_iff in Hys; destruct Hys as (zs & <- & _).
    apply in_flat_map in Hin; destruct Hin as (y & Hy & Hin).
    apply in_map_iff in Hin; destruct Hin as (us & E & _).
    injection E as -> _; contradiction.
Qed.

(** Every finite set of outputs of [n] counts lies in a box. *)
Lemma outputs_in_box n (l : list (list Z)) :
  (forall xs, In xs l -> length xs = n) -> exists a, incl l (box n a).
Proof.
  intros Hlen; destruct (list_in_range (concat l)) as [a Ha].
  exists a; intros xs Hxs; apply in_box; split; [auto|].
  intros x Hx; apply (Ha a (le_n a)), in_concat; eauto.
Qed.

(** A bound of all sums over boxes is a bound of all finite sums. *)
Lemma box_bound (n : nat) (f : list Z -> R) d :
  (forall xs, 0 <= f xs) -> (forall xs, length xs <> n -> f xs = 0) ->
  (forall a, lsum f (box n a) <= d) -> forall l, NoDup l -> lsum f l <= d.
Proof.
  intros Hf Hzero Hbox l Hl.
  rewrite (lsum_filter_split f (fun xs => Nat.eqb (length xs) n)).
  rewrite (lsum_ext_in f (fun _ => 0) (filter (fun x => negb _) l)).
  2: { intros xs Hxs; apply filter_In in Hxs; destruct Hxs as [_ Hxs].
       apply Hzero; intros E; apply Nat.eqb_eq in E; now rewrite E in Hxs. }
  rewrite lsum_zero, Rplus_0_r.
  set (l' := filter _ l).
  destruct (outputs_in_box n l') as [a Ha].
  - intros xs Hxs; apply filter_In in Hxs; now apply Nat.eqb_eq.
  - apply Rle_trans with (lsum f (box n a)); [|auto].
    apply lsum_incl; auto; now apply NoDup_filter.
Qed.

Lemma product_wrong_length law cs xs : length xs <> length cs -> product law cs xs = 0.
Proof.
  revert xs; induction cs as [|c cs IH]; intros [|x xs] H; cbn in *; try reflexivity; [lia|].
  rewrite IH by lia; lra.
Qed.

Lemma lsum_box_cons n a (f : list Z -> R) :
  lsum f (box (S n) a) = lsum (fun x => lsum (fun xs => f (x :: xs)) (box n a)) (range a).
Proof. cbn [box]; rewrite lsum_flat_map; apply lsum_ext; intros x; apply lsum_map. Qed.

(** ** The product laws are probability laws *)

Lemma product_sums law cs a :
  lsum (product law cs) (box (length cs) a)
  = fold_right (fun c acc => lsum (law c) (range a) * acc) 1 cs.
Proof.
  induction cs as [|c cs IH].
  - cbn; lra.
  - cbn [length fold_right]; rewrite lsum_box_cons. cbn [product].
    rewrite (lsum_ext _ (fun x => law c x * lsum (product law cs) (box (length cs) a)))
      by (intros; apply lsum_scale).
    rewrite lsum_scale_r, IH; reflexivity.
Qed.

Lemma product_of_laws_at_most_one law cs :
  Forall (fun c => (forall x, 0 <= law c x) /\ (forall l, NoDup l -> lsum (law c) l <= 1)) cs ->
  forall l, NoDup l -> lsum (product law cs) l <= 1.
Proof.
  intros H; apply (box_bound (length cs)).
  - intros xs; apply product_nonneg; eapply Forall_impl; [|exact H]; cbn; tauto.
  - apply product_wrong_length.
  - intros a; rewrite product_sums.
    enough (H0 : 0 <= fold_right (fun c acc => lsum (law c) (range a) * acc) 1 cs <= 1) by apply H0.
    induction H as [|c cs [Hc Hs] _ IH]; cbn [fold_right]; [lra|].
    specialize (Hs (range a) (NoDup_range a)). assert (H0 := lsum_nonneg (law c) (range a) Hc).
    destruct IH as [IH0 IH1].
    split; [apply Rmult_le_pos; assumption|].
    apply Rle_trans with (1 * 1); [apply Rmult_le_compat; assumption | lra].
Qed.

Lemma P_at_most_one cs l : proper cs -> NoDup l -> lsum (P cs) l <= 1.
Proof.
  intros H; apply product_of_laws_at_most_one. eapply Forall_impl; [|exact H].
  intros c [Hc _]; split; [apply Hc | intros; now apply law_at_most_one].
Qed.

Lemma Q_at_most_one cs l : proper cs -> NoDup l -> lsum (Q cs) l <= 1.
Proof.
  intros H; apply product_of_laws_at_most_one. eapply Forall_impl; [|exact H].
  intros c [_ Hc]; split; [apply Hc | intros; now apply law_at_most_one].
Qed.

Theorem P_sums_to_one cs : proper cs -> total (P cs) = 1.
Proof.
  intros H; apply Rle_antisym.
  - apply total_least; intros l Hl; now apply P_at_most_one.
  - assert (Hs : summable (P cs)) by (exists 1; intros; now apply P_at_most_one).
    apply (is_lim_seq_le
             (fun a => fold_right (fun c acc => lsum (P1 c) (range a) * acc) 1 cs)
             (fun _ => total (P cs)) 1 (total (P cs))).
    + intros a; rewrite <- product_sums.
      apply total_upper; [assumption | apply NoDup_box].
    + clear Hs; induction H as [|c cs [(Hc & Hs & Ht) _] _ IH]; cbn [fold_right].
      * apply is_lim_seq_const.
      * replace (Finite 1) with (Finite (1 * 1)) by (f_equal; lra).
        apply is_lim_seq_mult'; [|exact IH].
        rewrite <- Ht. now apply symmetric_sums_converge.
    + apply is_lim_seq_const.
Qed.

(** ** What the profile means *)

Lemma gap_nonneg cs eps xs : 0 <= gap cs eps xs.
Proof. apply Rmax_l. Qed.

Lemma gap_le_P cs eps xs : proper cs -> gap cs eps xs <= P cs xs.
Proof.
  intros H; apply Rmax_lub; [now apply P_nonneg|].
  assert (0 <= exp eps * Q cs xs)
    by (apply Rmult_le_pos; [left; apply exp_pos | now apply Q_nonneg]).
  lra.
Qed.

(** The sum that defines the profile converges. *)
Theorem gap_summable cs eps : proper cs -> summable (gap cs eps).
Proof.
  intros H; apply summable_le with (g := P cs); [intros; now apply gap_le_P|].
  exists 1; intros; now apply P_at_most_one.
Qed.

(** The probability of any event: the sum of its members' probabilities. *)
Definition events (f : list Z -> R) (E : list Z -> Prop) (v : R) : Prop :=
  exists l, NoDup l /\ (forall x, In x l -> E x) /\ v = lsum f l.

(** delta(eps) is enough: P(E) <= e^eps Q(E) + delta(eps) for every event E, finite or not. *)
Theorem delta_is_enough cs eps E p q :
  proper cs -> is_lub (events (P cs) E) p -> is_lub (events (Q cs) E) q ->
  p <= exp eps * q + delta cs eps.
Proof.
  intros H [_ Hp] [Hq _]; apply Hp; intros v (l & Hl & HE & ->).
  apply Rle_trans with (exp eps * lsum (Q cs) l + lsum (gap cs eps) l).
  - rewrite <- lsum_scale, <- lsum_plus; apply lsum_le; intros x.
    unfold gap; generalize (Rmax_r 0 (P cs x - exp eps * Q cs x)); lra.
  - apply Rplus_le_compat.
    + apply Rmult_le_compat_l; [left; apply exp_pos|]. apply Hq; exists l; auto.
    + apply total_upper; [now apply gap_summable | assumption].
Qed.

(** And no smaller number is: whatever is enough for all finite events is at least delta(eps). *)
Theorem delta_is_needed cs eps d :
  (forall l, NoDup l -> lsum (P cs) l <= exp eps * lsum (Q cs) l + d) -> delta cs eps <= d.
Proof.
  intros Hd; apply total_least; intros l Hl.
  set (pos := fun xs => if Rle_dec 0 (P cs xs - exp eps * Q cs xs) then true else false).
  rewrite (lsum_filter_split _ pos).
  rewrite (lsum_ext_in _ (fun _ => 0) (filter (fun x => negb (pos x)) l)).
  2: { intros xs Hxs; apply filter_In in Hxs; destruct Hxs as [_ Hxs]; unfold pos in Hxs.
       unfold gap; destruct (Rle_dec 0 _); [discriminate|]. rewrite Rmax_left; lra. }
  rewrite lsum_zero, Rplus_0_r.
  rewrite (lsum_ext_in _ (fun xs => P cs xs - exp eps * Q cs xs) (filter pos l)).
  2: { intros xs Hxs; apply filter_In in Hxs; destruct Hxs as [_ Hxs]; unfold pos in Hxs.
       unfold gap; destruct (Rle_dec 0 _); [|discriminate]. rewrite Rmax_right; lra. }
  rewrite lsum_minus, lsum_scale.
  specialize (Hd (filter pos l) (NoDup_filter _ Hl)); lra.
Qed.

(** ** Losses on a lattice *)

(** How the loss of a count lies on a lattice of spacing h: at output x it is base - h step (place x). The number [norm] is free; a
    tilted law is written in units of its exponential. *)
Record reading := Reading { step : Z; place : Z -> Z; base : R; norm : R }.

Definition steps := list (count * reading).
Definition counts (cms : steps) : list count := map fst cms.

Definition reads (h : R) (c : count) (v : reading) : Prop :=
  forall x, Q1 c x = P1 c x * exp (- (base v - h * IZR (step v * place v x))).

Definition on_lattice (h : R) (cms : steps) : Prop :=
  Forall (fun cm => lawful (fst cm) /\ reads h (fst cm) (snd cm)) cms.

Lemma on_lattice_proper h cms : on_lattice h cms -> proper (counts cms).
Proof.
  intros H; apply Forall_map; eapply Forall_impl; [|exact H]; cbn; tauto.
Qed.

(** A discrete Gaussian count: ln (P1 / Q1) = (shift^2 - 2 shift x) / (2 sigma2). *)
Lemma Count_reads h s m st nm :
  0 < s -> IZR m = IZR st * h * s ->
  reads h (Count s m) (Reading st (fun x => x) (IZR m ^ 2 / (2 * s)) nm).
Proof.
  intros Hs Hm x; cbn [P1 Q1 Count step place base]; unfold gaussian, weight.
  replace (- (IZR (x - m))² / (2 * s))
    with (- (IZR x)² / (2 * s) + - (IZR m ^ 2 / (2 * s) - h * IZR (st * x)))
    by (rewrite minus_IZR, mult_IZR, Hm; unfold Rsqr; field; lra).
  rewrite exp_plus; unfold Rdiv; ring.
Qed.

(** The loss of the output of index 0. Of Gaussian counts it is the zCDP rho of the composition. *)
Definition offset (cms : steps) : R := fold_right (fun cm acc => base (snd cm) + acc) 0 cms.

Fixpoint index (cms : steps) (xs : list Z) : Z :=
  match cms, xs with
  | (_, v) :: cms', x :: xs' => (- (step v * place v x) + index cms' xs')%Z
  | _, _ => 0%Z
  end.

(** The loss of an output is an affine function of an integer. *)
Theorem loss_is_affine h cms xs :
  on_lattice h cms -> length xs = length cms ->
  Q (counts cms) xs = P (counts cms) xs * exp (- (offset cms + h * IZR (index cms xs))).
Proof.
  intros H; revert xs; induction H as [|[c v] cms [_ Hr] _ IH]; intros [|x xs] Hlen; try discriminate.
  - cbn. rewrite Rmult_0_r, Rplus_0_r, Ropp_0, exp_0; lra.
  - cbn [counts map offset index fold_right fst snd length] in *.
    change (Q (c :: map fst cms) (x :: xs)) with (Q1 c x * Q (counts cms) xs).
    change (P (c :: map fst cms) (x :: xs)) with (P1 c x * P (counts cms) xs).
    rewrite IH, Hr by lia; fold (offset cms).
    replace (exp (- (base v + offset cms + h * IZR (- (step v * place v x) + index cms xs))))
      with (exp (- (base v - h * IZR (step v * place v x))) * exp (- (offset cms + h * IZR (index cms xs))))
      by (rewrite <- exp_plus; f_equal; rewrite plus_IZR, opp_IZR; ring).
    ring.
Qed.

(** What an output of index [k] contributes, per unit of P, if the loss of index 0 is [r]: (1 - e^(eps - loss))_+. *)
Definition gain (h eps r : R) (k : Z) : R :=
  Rmax 0 (1 - exp (eps - (r + h * IZR k))).

Lemma gap_by_loss h eps cms xs :
  on_lattice h cms -> length xs = length cms ->
  gap (counts cms) eps xs = P (counts cms) xs * gain h eps (offset cms) (index cms xs).
Proof.
  intros H Hlen; unfold gap, gain; rewrite (loss_is_affine h) by assumption.
  assert (HP := P_nonneg (counts cms) xs (on_lattice_proper h cms H)).
  set (l := offset cms + h * IZR (index cms xs)).
  replace (eps - l) with (eps + - l) by ring; rewrite exp_plus.
  rewrite <- RmaxRmult by assumption. f_equal; ring.
Qed.

(** The mean of [g] at [k] plus the index, over outputs from -a to a. *)
Fixpoint value (cms : steps) (g : Z -> R) (a : nat) (k : Z) : R :=
  match cms with
  | [] => g k
  | (c, v) :: rest => lsum (fun x => P1 c x * value rest g a (k - step v * place v x)) (range a)
  end.

Lemma box_sum_is_value cms g a k :
  lsum (fun xs => P (counts cms) xs * g (k + index cms xs)%Z) (box (length cms) a)
  = value cms g a k.
Proof.
  revert k; induction cms as [|[c v] cms IH]; intros k.
  - cbn; rewrite Z.add_0_r; lra.
  - cbn [length value]; rewrite lsum_box_cons; apply lsum_ext; intros x.
    rewrite <- IH, <- lsum_scale; apply lsum_ext; intros xs.
    change (P (counts ((c, v) :: cms)) (x :: xs)) with (P1 c x * P (counts cms) xs); cbn [index].
    replace (k + (- (step v * place v x) + index cms xs))%Z with (k - step v * place v x + index cms xs)%Z by lia; ring.
Qed.

Lemma value_nonneg cms g a k :
  proper (counts cms) -> (forall i, 0 <= g i) -> 0 <= value cms g a k.
Proof.
  intros H Hg; revert k; induction cms as [|[c v] cms IH]; intros k; cbn; [apply Hg|].
  inversion H; subst; apply lsum_nonneg; intros x; apply Rmult_le_pos; [now apply P1_nonneg | auto].
Qed.

Lemma value_le cms g g' a k :
  proper (counts cms) -> (forall i, g i <= g' i) -> value cms g a k <= value cms g' a k.
Proof.
  intros H Hg; revert k; induction cms as [|[c v] cms IH]; intros k; cbn; [apply Hg|].
  inversion H; subst; apply lsum_le; intros x; apply Rmult_le_compat_l; [now apply P1_nonneg | auto].
Qed.

Lemma value_wider cms g a b k :
  proper (counts cms) -> (forall i, 0 <= g i) -> (a <= b)%nat -> value cms g a k <= value cms g b k.
Proof.
  intros H Hg Hab; revert k; induction cms as [|[c v] cms IH]; intros k; cbn; [lra|].
  inversion H; subst.
  apply Rle_trans with (lsum (fun x => P1 c x * value cms g b (k - step v * place v x)) (range a)).
  - apply lsum_le; intros x; apply Rmult_le_compat_l; [now apply P1_nonneg | auto].
  - apply lsum_incl; [|apply NoDup_range | now apply range_incl].
    intros x; apply Rmult_le_pos; [now apply P1_nonneg | now apply value_nonneg].
Qed.

Lemma gain_nonneg h eps r k : 0 <= gain h eps r k.
Proof. apply Rmax_l. Qed.

(** [lo] is the index of the smallest loss that is at least eps: the gain from there on, and before. *)
Lemma gain_above h eps r lo l :
  0 < h -> eps <= r + h * IZR lo -> (lo <= l)%Z ->
  gain h eps r l = 1 - exp (eps - r) * exp (- h * IZR l).
Proof.
  intros Hh Hlo Hl; unfold gain.
  assert (E : exp (eps - (r + h * IZR l)) = exp (eps - r) * exp (- h * IZR l))
    by (rewrite <- exp_plus; f_equal; ring).
  rewrite E; apply Rmax_right; rewrite <- E.
  apply IZR_le in Hl. assert (h * IZR lo <= h * IZR l) by (apply Rmult_le_compat_l; lra).
  assert (exp (eps - (r + h * IZR l)) <= exp 0) by (apply exp_mono; lra).
  rewrite exp_0 in *; lra.
Qed.

Lemma gain_below h eps r lo k :
  0 < h -> r + h * IZR (lo - 1) <= eps -> (k < lo)%Z -> gain h eps r k = 0.
Proof.
  intros Hh Hbelow Hk; unfold gain; apply Rmax_left.
  assert (H : IZR k <= IZR (lo - 1)) by (apply IZR_le; lia).
  assert (h * IZR k <= h * IZR (lo - 1)) by (apply Rmult_le_compat_l; lra).
  assert (exp 0 <= exp (eps - (r + h * IZR k))) by (apply exp_mono; lra).
  rewrite exp_0 in *; lra.
Qed.

Lemma gain_at_most_one h eps r k : gain h eps r k <= 1.
Proof.
  apply Rmax_lub; [lra|]. generalize (exp_pos (eps - (r + h * IZR k))); lra.
Qed.

Lemma box_gap_is_value h eps cms a :
  on_lattice h cms ->
  lsum (gap (counts cms) eps) (box (length cms) a) = value cms (gain h eps (offset cms)) a 0.
Proof.
  intros H; rewrite <- box_sum_is_value; apply lsum_ext_in.
  intros xs Hxs; apply in_box in Hxs; destruct Hxs as [Hlen _]. now apply gap_by_loss.
Qed.

(** A bound of the values for all ranges is a bound of the profile. *)
Theorem delta_at_most h eps cms d :
  on_lattice h cms ->
  (forall a, value cms (gain h eps (offset cms)) a 0 <= d) ->
  delta (counts cms) eps <= d.
Proof.
  intros H Hd; assert (Hp := on_lattice_proper h cms H).
  apply total_least; intros l Hl; revert l Hl.
  apply (box_bound (length cms)).
  - intros; apply gap_nonneg.
  - intros xs Hxs; unfold gap, P, Q.
    rewrite !product_wrong_length by (unfold counts; now rewrite map_length).
    rewrite Rmult_0_r, Rminus_0_r; apply Rmax_left; lra.
  - intros a; now rewrite (box_gap_is_value h).
Qed.

(** And the value for any range is a lower bound: all terms that are left out are positive. *)
Theorem delta_at_least h eps cms a :
  on_lattice h cms -> value cms (gain h eps (offset cms)) a 0 <= delta (counts cms) eps.
Proof.
  intros H; rewrite <- (box_gap_is_value h) by assumption.
  apply total_upper; [apply gap_summable, (on_lattice_proper h cms H) | apply NoDup_box].
Qed.
