(** * Sums: finite sums over lists, and sums of non-negative terms over any type

    The sum of a non-negative function over an infinite set is the least upper bound of its sums over finite sets. No order of
    summation enters. Over Z it is also the limit of the sums from -A to A, which is what the Fourier argument needs. *)

From Coq Require Import Reals ZArith List Lra Lia Permutation.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
Open Scope R_scope.

(** ** Finite sums *)

Fixpoint lsum {A : Type} (f : A -> R) (l : list A) : R :=
  match l with
  | [] => 0
  | x :: rest => f x + lsum f rest
  end.

Section FiniteSums.
  Context {A : Type}.
  Implicit Types (f g : A -> R) (l : list A).

  Lemma lsum_app f l1 l2 : lsum f (l1 ++ l2) = lsum f l1 + lsum f l2.
  Proof. induction l1 as [|x l1 IH]; cbn; [lra | rewrite IH; lra]. Qed.

  Lemma lsum_ext_in f g l : (forall x, In x l -> f x = g x) -> lsum f l = lsum g l.
  Proof.
    induction l as [|x l IH]; cbn; intros H; [reflexivity|].
    rewrite (H x) by now left. rewrite IH; [reflexivity|]. intros; apply H; now right.
  Qed.

  Lemma lsum_ext f g l : (forall x, f x = g x) -> lsum f l = lsum g l.
  Proof. intros H; apply lsum_ext_in; auto. Qed.

  Lemma lsum_le_in f g l : (forall x, In x l -> f x <= g x) -> lsum f l <= lsum g l.
  Proof.
    induction l as [|x l IH]; cbn; intros H; [lra|].
    apply Rplus_le_compat; [apply H; now left | apply IH; intros; apply H; now right].
  Qed.

  Lemma lsum_le f g l : (forall x, f x <= g x) -> lsum f l <= lsum g l.
  Proof. intros H; apply lsum_le_in; auto. Qed.

  Lemma lsum_nonneg f l : (forall x, 0 <= f x) -> 0 <= lsum f l.
  Proof. intros H; induction l as [|x l IH]; cbn; [lra|]. specialize (H x); lra. Qed.

  Lemma lsum_zero l : lsum (fun _ => 0) l = 0.
  Proof. induction l as [|x l IH]; cbn; [|rewrite IH]; lra. Qed.

  Lemma lsum_scale c f l : lsum (fun x => c * f x) l = c * lsum f l.
  Proof. induction l as [|x l IH]; cbn; [|rewrite IH]; lra. Qed.

  Lemma lsum_scale_r c f l : lsum (fun x => f x * c) l = lsum f l * c.
  Proof. induction l as [|x l IH]; cbn; [|rewrite IH]; lra. Qed.

  Lemma lsum_plus f g l : lsum (fun x => f x + g x) l = lsum f l + lsum g l.
  Proof. induction l as [|x l IH]; cbn; [|rewrite IH]; lra. Qed.

  Lemma lsum_minus f g l : lsum (fun x => f x - g x) l = lsum f l - lsum g l.
  Proof. induction l as [|x l IH]; cbn; [|rewrite IH]; lra. Qed.

  (** A larger set has a larger sum, if no term is negative. *)
  Lemma lsum_incl f l l' :
    (forall x, 0 <= f x) -> NoDup l -> incl l l' -> lsum f l <= lsum f l'.
  Proof.
    intros Hf; revert l'; induction l as [|x l IH]; intros l' Hnd Hincl; cbn.
    - now apply lsum_nonneg.
    - inversion Hnd as [|? ? Hx Hl]; subst.
      destruct (in_split x l') as (l1 & l2 & ->); [apply Hincl; now left|].
      assert (H : lsum f l <= lsum f (l1 ++ l2)).
      { apply IH; [assumption|]. intros y Hy.
        assert (In y (l1 ++ x :: l2)) as Hin by (apply Hincl; now right).
        apply in_app_or in Hin; apply in_or_app; destruct Hin as [?|[->|?]]; auto. contradiction. }
      rewrite lsum_app in *; cbn; lra.
  Qed.

  Lemma lsum_filter_split f (keep : A -> bool) l :
    lsum f l = lsum f (filter keep l) + lsum f (filter (fun x => negb (keep x)) l).
  Proof. induction l as [|x l IH]; cbn; [lra|]. destruct (keep x); cbn; rewrite IH; lra. Qed.
End FiniteSums.

Lemma lsum_map {A B} (f : B -> R) (h : A -> B) (l : list A) :
  lsum f (map h l) = lsum (fun x => f (h x)) l.
Proof. induction l as [|x l IH]; cbn; [reflexivity | now rewrite IH]. Qed.

Lemma lsum_flat_map {A B} (f : B -> R) (h : A -> list B) (l : list A) :
  lsum f (flat_map h l) = lsum (fun x => lsum f (h x)) l.
Proof. induction l as [|x l IH]; cbn; [reflexivity | now rewrite lsum_app, IH]. Qed.

Lemma lsum_swap {A B} (f : A -> B -> R) (la : list A) (lb : list B) :
  lsum (fun a => lsum (f a) lb) la = lsum (fun b => lsum (fun a => f a b) la) lb.
Proof.
  induction la as [|a la IH]; cbn.
  - now rewrite lsum_zero.
  - now rewrite IH, lsum_plus.
Qed.

(** ** Consecutive integers *)

(** The n integers from [lo] upward. *)
Definition zlist (lo : Z) (n : nat) : list Z := map (fun i => (lo + Z.of_nat i)%Z) (seq 0 n).

(** The integers from -A to A. *)
Definition range (a : nat) : list Z := zlist (- Z.of_nat a) (2 * a + 1).

Arguments zlist : simpl never.
Arguments range : simpl never.

Lemma in_zlist lo n x : In x (zlist lo n) <-> (lo <= x < lo + Z.of_nat n)%Z.
Proof.
  unfold zlist; rewrite in_map_iff; split.
  - intros (i & <- & Hi%in_seq); lia.
  - intros H; exists (Z.to_nat (x - lo)); split; [lia | apply in_seq; lia].
Qed.

Lemma NoDup_zlist lo n : NoDup (zlist lo n).
Proof. apply FinFun.Injective_map_NoDup; [intros i j H; lia | apply seq_NoDup]. Qed.

Lemma zlist_S lo n : zlist lo (S n) = lo :: zlist (lo + 1) n.
Proof.
  unfold zlist; cbn [seq map]; f_equal; [lia|].
  rewrite <- seq_shift, map_map; apply map_ext; intros; lia.
Qed.

Lemma zlist_app lo n1 n2 : zlist lo (n1 + n2) = zlist lo n1 ++ zlist (lo + Z.of_nat n1) n2.
Proof.
  revert lo; induction n1 as [|n1 IH]; intros lo; [now rewrite Z.add_0_r|].
  cbn [Nat.add app]; rewrite !zlist_S, IH; cbn [app].
  now replace (lo + Z.of_nat (S n1))%Z with (lo + 1 + Z.of_nat n1)%Z by lia.
Qed.

Lemma in_range a x : In x (range a) <-> (- Z.of_nat a <= x <= Z.of_nat a)%Z.
Proof. unfold range; rewrite in_zlist; lia. Qed.

Lemma NoDup_range a : NoDup (range a).
Proof. apply NoDup_zlist. Qed.

Lemma range_incl a b : (a <= b)%nat -> incl (range a) (range b).
Proof. intros H x; rewrite !in_range; lia. Qed.

(** Every finite set of integers lies in some range, and in all wider ones. *)
Lemma list_in_range (l : list Z) : exists a, forall b, (a <= b)%nat -> incl l (range b).
Proof.
  induction l as [|x l [a IH]].
  - exists 0%nat; intros b _ y [].
  - exists (Nat.max a (Z.abs_nat x)); intros b Hb y [<-|Hy].
    + apply in_range; lia.
    + apply (IH b); [lia | assumption].
Qed.

(** ** Sums of non-negative terms over any type *)

(** The sums of [f] over the finite subsets of [A]: lists without repetition. *)
Definition finite_sums {A} (f : A -> R) (v : R) : Prop := exists l, NoDup l /\ v = lsum f l.

(** The terms can be summed: the finite sums have a common bound. *)
Definition summable {A} (f : A -> R) : Prop := exists b, forall l, NoDup l -> lsum f l <= b.

(** The sum over all of [A]. It has this meaning for summable non-negative [f] only. *)
Definition total {A} (f : A -> R) : R := real (Lub_Rbar (finite_sums f)).

Theorem total_is_lub {A} (f : A -> R) : summable f -> is_lub (finite_sums f) (total f).
Proof.
  intros [b Hb]; unfold total.
  destruct (Lub_Rbar_correct (finite_sums f)) as [Hup Hleast].
  destruct (Lub_Rbar (finite_sums f)) as [v| |]; cbn in *.
  - split; [intros x Hx; apply (Hup x Hx)|].
    intros c Hc; apply (Hleast (Finite c)); intros x Hx; apply Hc, Hx.
  - exfalso; apply (Hleast (Finite b)); intros x (l & Hl & ->); apply (Hb l Hl).
  - exfalso; apply (Hup 0); exists []; split; [constructor | reflexivity].
Qed.

Lemma total_upper {A} (f : A -> R) l : summable f -> NoDup l -> lsum f l <= total f.
Proof. intros Hs Hl; apply (total_is_lub f Hs); exists l; auto. Qed.

Lemma total_least {A} (f : A -> R) b :
  (forall l, NoDup l -> lsum f l <= b) -> total f <= b.
Proof.
  intros Hb; apply (total_is_lub f); [exists b; exact Hb|]. intros v (l & Hl & ->); auto.
Qed.

Lemma summable_le {A} (f g : A -> R) : (forall x, f x <= g x) -> summable g -> summable f.
Proof.
  intros H [b Hb]; exists b; intros l Hl. eapply Rle_trans; [apply lsum_le, H | auto].
Qed.

Lemma summable_scale {A} (f : A -> R) c : 0 <= c -> summable f -> summable (fun x => c * f x).
Proof.
  intros Hc [b Hb]; exists (c * b); intros l Hl; rewrite lsum_scale.
  apply Rmult_le_compat_l; auto.
Qed.

Lemma summable_plus {A} (f g : A -> R) :
  summable f -> summable g -> summable (fun x => f x + g x).
Proof.
  intros [b Hb] [c Hc]; exists (b + c); intros l Hl; rewrite lsum_plus.
  specialize (Hb l Hl); specialize (Hc l Hl); lra.
Qed.

(** Over the integers the sums from -A to A converge to the sum. *)
Theorem symmetric_sums_converge (f : Z -> R) :
  (forall x, 0 <= f x) -> summable f ->
  is_lim_seq (fun a => lsum f (range a)) (total f).
Proof.
  intros Hf Hs.
  assert (Hex : ex_finite_lim_seq (fun a => lsum f (range a))).
  { apply ex_finite_lim_seq_incr with (M := total f).
    - intros a; apply lsum_incl; [assumption | apply NoDup_range | apply range_incl; lia].
    - intros a; apply total_upper; [assumption | apply NoDup_range]. }
  destruct Hex as [v Hv].
  replace (total f) with v; [exact Hv|].
  apply Rle_antisym.
  - apply (is_lim_seq_le (fun a => lsum f (range a)) (fun _ => total f) v (total f)).
    + intros a; apply total_upper; [assumption | apply NoDup_range].
    + exact Hv.
    + apply is_lim_seq_const.
  - apply total_least; intros l Hl.
    destruct (list_in_range l) as [a Ha].
    apply (is_lim_seq_le_loc (fun _ => lsum f l) (fun a => lsum f (range a)) (lsum f l) v).
    + exists a; intros b Hb; apply lsum_incl; auto.
    + apply is_lim_seq_const.
    + exact Hv.
Qed.

(** Terms of any sign: if the absolute values can be summed, the sums from -A to A converge. *)
Theorem symmetric_sums_converge_absolutely (f : Z -> R) :
  summable (fun x => Rabs (f x)) ->
  exists v : R, is_lim_seq (fun a => lsum f (range a)) v.
Proof.
  intros Hs.
  assert (H1 := symmetric_sums_converge (fun x => Rabs (f x)) (fun x => Rabs_pos _) Hs).
  assert (H2 : is_lim_seq (fun a => lsum (fun x => f x + Rabs (f x)) (range a))
                          (total (fun x => f x + Rabs (f x)))).
  { apply symmetric_sums_converge.
    - intros x; destruct (Rcase_abs (f x)); [rewrite Rabs_left | rewrite Rabs_right]; lra.
    - apply summable_le with (g := fun x => 2 * Rabs (f x)).
      + intros x; generalize (Rle_abs (f x)); lra.
      + apply summable_scale; [lra | exact Hs]. }
  exists (total (fun x => f x + Rabs (f x)) - total (fun x => Rabs (f x))).
  eapply is_lim_seq_ext; [|apply (is_lim_seq_minus' _ _ _ _ H2 H1)].
  intros a; cbn; rewrite <- lsum_minus; apply lsum_ext; intros; lra.
Qed.

(** ** Geometric tails *)

(** Terms that fall by the ratio [r] at least add up to at most first / (1 - r). *)
Lemma geometric_tail (f : nat -> R) r n :
  0 <= r < 1 -> (forall i, 0 <= f i) -> (forall i, f (S i) <= r * f i) ->
  lsum f (seq 0 n) <= f 0%nat / (1 - r).
Proof.
  intros Hr Hf Hstep.
  assert (H : lsum f (seq 0 n) <= f 0%nat + r * lsum f (seq 0 n)).
  { destruct n as [|n].
    - cbn; specialize (Hf 0%nat); lra.
    - replace (lsum f (seq 0 (S n))) with (f 0%nat + lsum (fun i => f (S i)) (seq 0 n)) at 1.
      + apply Rplus_le_compat_l. rewrite <- lsum_scale.
        apply Rle_trans with (lsum (fun i => r * f i) (seq 0 n)).
        * apply lsum_le; auto.
        * rewrite seq_S, lsum_app; cbn. generalize (Hf n); intros; nra.
      + cbn; now rewrite <- seq_shift, lsum_map. }
  apply Rmult_le_reg_r with (1 - r); [lra|].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; nra.
Qed.

(** A finite set of integers that all are at least [lo]. *)
Lemma geometric_tail_right (f : Z -> R) r lo l :
  0 <= r < 1 -> (forall x, 0 <= f x) -> (forall x, (lo <= x)%Z -> f (x + 1)%Z <= r * f x) ->
  NoDup l -> (forall x, In x l -> (lo <= x)%Z) ->
  lsum f l <= f lo / (1 - r).
Proof.
  intros Hr Hf Hstep Hnd Hl.
  destruct (list_in_range l) as [a Ha]; specialize (Ha a (le_n a)).
  set (n := (Z.to_nat (Z.of_nat a + 1 - lo))).
  apply Rle_trans with (lsum f (zlist lo n)).
  - apply lsum_incl; auto. intros x Hx; apply in_zlist.
    specialize (Hl x Hx); apply Ha, in_range in Hx; unfold n; lia.
  - unfold zlist; rewrite lsum_map.
    apply Rle_trans with ((fun i => f (lo + Z.of_nat i)%Z) 0%nat / (1 - r)).
    + apply geometric_tail; auto. intros i.
      replace (lo + Z.of_nat (S i))%Z with ((lo + Z.of_nat i) + 1)%Z by lia. apply Hstep; lia.
    + cbn; rewrite Z.add_0_r; lra.
Qed.

(** A finite set of integers that all are at most [hi]. *)
Lemma geometric_tail_left (f : Z -> R) r hi l :
  0 <= r < 1 -> (forall x, 0 <= f x) -> (forall x, (x <= hi)%Z -> f (x - 1)%Z <= r * f x) ->
  NoDup l -> (forall x, In x l -> (x <= hi)%Z) ->
  lsum f l <= f hi / (1 - r).
Proof.
  intros Hr Hf Hstep Hnd Hl.
  assert (H : lsum (fun x => f (- x)%Z) (map Z.opp l) <= f (- - hi)%Z / (1 - r)).
  { apply (geometric_tail_right (fun x => f (- x)%Z)); auto.
    - intros x Hx; replace (- (x + 1))%Z with ((- x) - 1)%Z by lia; apply Hstep; lia.
    - apply FinFun.Injective_map_NoDup; [intros x y; lia | assumption].
    - intros x Hx; apply in_map_iff in Hx; destruct Hx as (y & <- & Hy); specialize (Hl y Hy); lia. }
  rewrite Z.opp_involutive, lsum_map in H.
  rewrite (lsum_ext f (fun x => f (- - x)%Z)); [exact H|].
  intros x; now rewrite Z.opp_involutive.
Qed.
