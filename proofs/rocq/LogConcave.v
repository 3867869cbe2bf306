(** * Log-concave noise: how far counts move

    A law f on the integers is log-concave if f(x)^2 >= f(x - 1) f(x + 1) and it has no gaps: discrete Gaussian and discrete Laplace noise, also
    truncated, and many tables. A count with such noise is less private the further it moves. Of two counts with equal noise that move by a and b one
    can move by a + 1 and the other by b - 1, if b is the smaller one, and both together are less private. So of all ways to share out changes those are the
    worst that move some counts as far as they can, and the others not at all. *)

From Coq Require Import Reals ZArith Lra Lia Psatz Classical.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Permutation.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Directions Response Bounded Dominance Theta Signed Pairs.
Import ListNotations.
Open Scope R_scope.

Definition log_concave (f : Z -> R) : Prop :=
  (forall x, f (x - 1)%Z * f (x + 1)%Z <= f x * f x) /\ (forall x y z, (x <= y <= z)%Z -> 0 < f x -> 0 < f z -> 0 < f y).

(** A count with the noise [f] that moves by [m]; and one that moves from [v] to [v']. *)
Definition Moved (f : Z -> R) (m : Z) : count := Pair f (fun x => f (x - m)%Z).
Definition Between (f : Z -> R) (v v' : Z) : count := Pair (fun x => f (x - v)%Z) (fun x => f (x - v')%Z).

(** Sums under other names of the outputs. *)
Lemma total_renamed {A} (f : A -> R) (h g : A -> A) :
  (forall x, g (h x) = x) -> (forall x, h (g x) = x) -> summable f -> summable (fun x => f (h x)) /\ total (fun x => f (h x)) = total f.
Proof.
  intros Hgh Hhg [b Hb].
  assert (Ih : FinFun.Injective h) by (intros x y E; now rewrite <- (Hgh x), E, Hgh).
  assert (Ig : FinFun.Injective g) by (intros x y E; now rewrite <- (Hhg x), E, Hhg).
  assert (Sh : summable (fun x => f (h x))).
  { exists b; intros l Hl; rewrite <- lsum_map; apply Hb; now apply FinFun.Injective_map_NoDup. }
  split; [exact Sh|]. apply Rle_antisym; apply total_least; intros l Hl.
  - rewrite <- lsum_map; apply total_upper; [now exists b | now apply FinFun.Injective_map_NoDup].
  - rewrite <- (lsum_ext (fun x => f (h (g x))) f) by (intros; now rewrite Hhg).
    rewrite <- (lsum_map (fun x => f (h x)) g). apply total_upper; [exact Sh | now apply FinFun.Injective_map_NoDup].
Qed.

Lemma greatest (l : list Z) : l <> [] -> exists t, In t l /\ forall x, In x l -> (x <= t)%Z.
Proof.
  induction l as [|x l IH]; [now intros []|]. intros _. destruct l as [|y l].
  - exists x; split; [now left|]. intros z [<-|[]]; lia.
  - destruct IH as (t & Ht & Hmax); [discriminate|]. destruct (Z.le_gt_cases x t).
    + exists t; split; [now right|]. intros z [<-|Hz]; auto.
    + exists x; split; [now left|]. intros z [<-|Hz]; [lia|]. specialize (Hmax z Hz); lia.
Qed.

(** The masses of a law are small somewhere on the left. *)
Lemma small_mass f eta b : is_law f -> 0 < eta -> exists lo, (lo <= b)%Z /\ f lo <= eta.
Proof.
  intros Hf Heta; destruct (classic (exists lo, (lo <= b)%Z /\ f lo <= eta)) as [|Hno]; [assumption|exfalso].
  assert (Hall : forall x, (x <= b)%Z -> eta <= f x).
  { intros x Hx; destruct (Rle_lt_dec eta (f x)) as [|Hlt]; [assumption|]. exfalso; apply Hno; exists x; split; [assumption | lra]. }
  destruct (archimed (/ eta)) as [Ha _]. assert (Hpos : 0 < / eta) by now apply Rinv_0_lt_compat.
  assert (Hup : (0 < up (/ eta))%Z) by (apply lt_IZR; lra). set (n := Z.to_nat (up (/ eta))).
  assert (Hn : INR n = IZR (up (/ eta))) by (unfold n; rewrite INR_IZR_INZ, Z2Nat.id by lia; reflexivity).
  assert (H := law_at_most_one f (zlist (b - Z.of_nat n) n) Hf (NoDup_zlist _ _)).
  assert (Hsum : INR n * eta <= lsum f (zlist (b - Z.of_nat n) n)).
  { apply Rle_trans with (lsum (fun _ => eta) (zlist (b - Z.of_nat n) n)).
    - rewrite <- (lsum_ext (fun _ => eta * 1) (fun _ => eta)) by (intros; ring). rewrite lsum_scale. right.
      replace (lsum (fun _ : Z => 1) (zlist (b - Z.of_nat n) n)) with (INR n); [ring|].
      generalize (b - Z.of_nat n)%Z; clear. induction n as [|n IH]; intros lo; [reflexivity|].
      rewrite zlist_S, S_INR; cbn [lsum]. rewrite <- IH; ring.
    - apply lsum_le_in; intros x Hx%in_zlist; apply Hall; lia. }
  assert (Hone : 1 < INR n * eta).
  { rewrite Hn. replace 1 with (/ eta * eta) by (field; lra). apply Rmult_lt_compat_r; lra. }
  lra.
Qed.

Section LogConcave.
  Variable f : Z -> R.
  Hypothesis Hlaw : is_law f.
  Hypothesis Hf : log_concave f.

  Let f_nonneg x : 0 <= f x. Proof. apply Hlaw. Qed.

  (** ** Products of masses *)

  Let ratio_step (n : nat) x : f (x - 1)%Z * f (x + Z.of_nat n)%Z <= f x * f (x + Z.of_nat n - 1)%Z.
  Proof.
    destruct Hf as [Hsq Hgap]. induction n as [|n IH].
    - replace (x + Z.of_nat 0)%Z with x by lia. replace (x + Z.of_nat 0 - 1)%Z with (x - 1)%Z by lia. lra.
    - set (y := (x + Z.of_nat n)%Z) in *. replace (x + Z.of_nat (S n))%Z with (y + 1)%Z by (unfold y; lia). replace (y + 1 - 1)%Z with y by lia.
      assert (P0 : 0 <= f x * f y) by (apply Rmult_le_pos; apply f_nonneg).
      destruct (Rle_lt_or_eq_dec 0 _ (f_nonneg (x - 1))) as [Ha|<-]; [|lra].
      destruct (Rle_lt_or_eq_dec 0 _ (f_nonneg (y + 1))) as [Hb|<-]; [|lra].
      assert (Hy : 0 < f y) by (apply (Hgap (x - 1)%Z y (y + 1)%Z); [unfold y; lia | assumption | assumption]).
      assert (Hy1 : 0 < f (y - 1)%Z) by (apply (Hgap (x - 1)%Z (y - 1)%Z (y + 1)%Z); [unfold y; lia | assumption | assumption]).
      specialize (Hsq y). assert (H0 := f_nonneg x).
      apply Rmult_le_reg_r with (f y * f (y - 1)%Z); [now apply Rmult_lt_0_compat|].
      apply Rle_trans with (f (x - 1)%Z * f y * (f y * f y)).
      + replace (f (x - 1)%Z * f (y + 1)%Z * (f y * f (y - 1)%Z)) with (f (x - 1)%Z * f y * (f (y - 1)%Z * f (y + 1)%Z)) by ring.
        apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | assumption].
      + replace (f x * f y * (f y * f (y - 1)%Z)) with (f x * f (y - 1)%Z * (f y * f y)) by ring.
        apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | assumption].
  Qed.

  (** The quotient of the masses of x and of x - m falls with x. *)
  Lemma quotient_falls (m : nat) x y : (x <= y)%Z -> f (x - Z.of_nat m)%Z * f y <= f x * f (y - Z.of_nat m)%Z.
  Proof.
    intros Hxy; destruct Hf as [_ Hgap]. induction m as [|m IH].
    - rewrite !Z.sub_0_r; lra.
    - set (k := Z.of_nat m) in *. replace (Z.of_nat (S m)) with (k + 1)%Z by lia.
      assert (Hk : (0 <= k)%Z) by lia. rewrite !Z.sub_add_distr.
      assert (P0 : 0 <= f x * f (y - k - 1)%Z) by (apply Rmult_le_pos; apply f_nonneg).
      destruct (Rle_lt_or_eq_dec 0 _ (f_nonneg (x - k - 1))) as [Ha|<-]; [|lra].
      destruct (Rle_lt_or_eq_dec 0 _ (f_nonneg y)) as [Hb|<-]; [|lra].
      assert (H1 : 0 < f (x - k)%Z) by (apply (Hgap (x - k - 1)%Z (x - k)%Z y); [lia | assumption | assumption]).
      assert (H2 : 0 < f (y - k)%Z) by (apply (Hgap (x - k - 1)%Z (y - k)%Z y); [lia | assumption | assumption]).
      assert (Hs := ratio_step (Z.to_nat (y - x)) (x - k)). rewrite Z2Nat.id in Hs by lia.
      replace (x - k + (y - x))%Z with (y - k)%Z in Hs by lia.
      assert (H0 := f_nonneg (y - k - 1)).
      apply Rmult_le_reg_r with (f (x - k)%Z * f (y - k)%Z); [now apply Rmult_lt_0_compat|].
      apply Rle_trans with (f (x - k)%Z * f y * (f (x - k)%Z * f (y - k - 1)%Z)).
      + replace (f (x - k - 1)%Z * f y * (f (x - k)%Z * f (y - k)%Z)) with (f (x - k)%Z * f y * (f (x - k - 1)%Z * f (y - k)%Z)) by ring.
        apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | assumption].
      + replace (f x * f (y - k - 1)%Z * (f (x - k)%Z * f (y - k)%Z)) with (f x * f (y - k)%Z * (f (x - k)%Z * f (y - k - 1)%Z)) by ring.
        apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | assumption].
  Qed.

  (** Of two pairs of integers with one sum the closer ones have the larger product of masses. *)
  Lemma closer u v u' v' : (u + v = u' + v')%Z -> (Z.abs (u' - v') <= Z.abs (u - v))%Z -> f u * f v <= f u' * f v'.
  Proof.
    intros Hs Ha. assert (H : forall a b c d, (a + b = c + d)%Z -> (a <= c <= b)%Z -> f a * f b <= f c * f d).
    { intros a b c d E Hac. assert (Hq := quotient_falls (Z.to_nat (c - a)) c b ltac:(lia)). rewrite Z2Nat.id in Hq by lia.
      replace (c - (c - a))%Z with a in Hq by lia. now replace (b - (c - a))%Z with d in Hq by lia. }
    destruct (Z.le_ge_cases u v) as [Huv|Huv].
    - apply H; lia.
    - rewrite (Rmult_comm (f u)); apply H; lia.
  Qed.

  Lemma Moved_lawful m : lawful (Moved f m).
  Proof. split; [exact Hlaw | now apply moved_is_law]. Qed.

  Lemma Between_lawful v v' : lawful (Between f v v').
  Proof. split; now apply moved_is_law. Qed.

  (** ** Larger shifts *)

  Lemma partial_gap_one c a p q : partial_gap [c] a p q = lsum (fun x => Rmax 0 (p * P1 c x - q * Q1 c x)) (range a).
  Proof.
    rewrite partial_gap_cons; apply lsum_ext; intros x. unfold partial_gap; cbn. rewrite Rplus_0_r, !Rmult_1_r. reflexivity.
  Qed.

  Let difference (m : Z) lo n : lsum (fun x => f (x - (m + 1))%Z - f (x - m)%Z) (zlist lo n) = f (lo - (m + 1))%Z - f (lo + Z.of_nat n - 1 - m)%Z.
  Proof.
    revert lo; induction n as [|n IH]; intros lo.
    - replace (lo + Z.of_nat 0 - 1 - m)%Z with (lo - (m + 1))%Z by lia. change (zlist lo 0) with (@nil Z); cbn; ring.
    - rewrite zlist_S; cbn [lsum]; rewrite IH. replace (lo + 1 - (m + 1))%Z with (lo - m)%Z by lia.
      replace (lo + 1 + Z.of_nat n - 1 - m)%Z with (lo + Z.of_nat (S n) - 1 - m)%Z by lia. ring.
  Qed.

  Lemma one_further (m : nat) : dominates [Moved f (Z.of_nat m + 1)] [Moved f (Z.of_nat m)].
  Proof.
    intros p q Hp Hq; apply advantage_least; intros a. rewrite partial_gap_one; cbn [P1 Q1 Moved].
    set (k := Z.of_nat m). set (S := fun x => p * f x - q * f (x - k)%Z). set (S' := fun x => p * f x - q * f (x - (k + 1))%Z).
    assert (Hc : proper [Moved f (k + 1)]) by (apply one_proper, Moved_lawful).
    assert (Hnon : 0 <= advantage [Moved f (k + 1)] p q).
    { eapply Rle_trans; [apply (partial_gap_nonneg [Moved f (k + 1)] a p q) | now apply partial_at_most]. }
    set (pos := filter (fun x => if Rlt_dec 0 (S x) then true else false) (range a)).
    assert (E : lsum (fun x => Rmax 0 (S x)) (range a) = lsum (fun x => Rmax 0 (S x)) pos).
    { rewrite (lsum_filter_split _ (fun x => if Rlt_dec 0 (S x) then true else false)). fold pos.
      rewrite (lsum_ext_in _ (fun _ => 0) (filter (fun x => negb _) _)); [rewrite lsum_zero; ring|].
      intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; destruct (Rlt_dec 0 (S x)); [discriminate|]. apply Rmax_left; lra. }
    fold (S : Z -> R). change (lsum (fun x => Rmax 0 (S x)) (range a) <= advantage [Moved f (k + 1)] p q). rewrite E.
    destruct pos as [|y0 pos'] eqn:Epos; [cbn; lra|]. rewrite <- Epos in *. clear E.
    destruct (greatest pos) as (t & Ht & Hmax); [rewrite Epos; discriminate|].
    assert (Hin : forall x, In x pos -> In x (range a) /\ 0 < S x).
    { intros x Hx; unfold pos in Hx; apply filter_In in Hx; destruct Hx as [H1 H2]; split; [assumption|]. now destruct (Rlt_dec 0 (S x)). }
    destruct (Hin t Ht) as [Hta Hpos].
    (* All outputs up to [t] count for the first neighbor. *)
    assert (Hbelow : forall x, (x <= t)%Z -> 0 <= S x).
    { intros x Hx; unfold S in *. assert (Hr := quotient_falls m x t Hx); fold k in Hr.
      assert (F1 := f_nonneg x). assert (F2 := f_nonneg t). assert (F3 := f_nonneg (x - k)). assert (F4 := f_nonneg (t - k)).
      assert (Hft : 0 < f t).
      { destruct (Rle_lt_or_eq_dec 0 _ F2) as [|E]; [assumption|]. rewrite <- E in Hpos. assert (0 <= q * f (t - k)%Z) by now apply Rmult_le_pos. lra. }
      apply Rmult_le_reg_r with (f t); [assumption|]. rewrite Rmult_0_l, Rmult_minus_distr_r.
      assert (q * (f (x - k)%Z * f t) <= q * (f x * f (t - k)%Z)) by now apply Rmult_le_compat_l.
      assert (f x * (q * f (t - k)%Z) <= f x * (p * f t)) by (apply Rmult_le_compat_l; lra). lra. }
    apply le_epsilon; intros eta Heta.
    assert (Heq : 0 < eta / (q + 1)) by (apply Rdiv_lt_0_compat; lra).
    destruct (small_mass f (eta / (q + 1)) (- Z.of_nat a - (k + 1)) Hlaw Heq) as (lo0 & Hlo0 & Hsmall).
    set (lo := (lo0 + (k + 1))%Z). set (n := Z.to_nat (t - lo + 1)).
    apply in_range in Hta. assert (En : (lo + Z.of_nat n - 1 = t)%Z) by (unfold n, lo in *; lia).
    apply Rle_trans with (lsum (fun x => Rmax 0 (S x)) (zlist lo n)).
    { apply lsum_incl; [intros; apply Rmax_l | apply NoDup_filter, NoDup_range|]. intros x Hx. destruct (Hin x Hx) as [Hr _]. specialize (Hmax x Hx).
      apply in_range in Hr. apply in_zlist. unfold lo in *; lia. }
    rewrite (lsum_ext_in _ (fun x => S' x + q * (f (x - (k + 1))%Z - f (x - k)%Z))).
    2: { intros x Hx%in_zlist. rewrite Rmax_right by (apply Hbelow; lia). unfold S, S'; ring. }
    rewrite lsum_plus, lsum_scale, difference. replace (lo - (k + 1))%Z with lo0 by (unfold lo; lia).
    assert (Hend := f_nonneg (lo + Z.of_nat n - 1 - k)).
    assert (q * (f lo0 - f (lo + Z.of_nat n - 1 - k)%Z) <= eta).
    { apply Rle_trans with (q * (eta / (q + 1))); [apply Rmult_le_compat_l; lra|].
      apply Rle_trans with ((q + 1) * (eta / (q + 1))); [apply Rmult_le_compat_r; lra | right; field; lra]. }
    assert (lsum S' (zlist lo n) <= advantage [Moved f (k + 1)] p q); [|lra].
    destruct (list_in_range (zlist lo n)) as [b Hb]. eapply Rle_trans; [|now apply (partial_at_most [Moved f (k + 1)] p q) with (a := b)].
    rewrite partial_gap_one; cbn [P1 Q1 Moved]. apply Rle_trans with (lsum (fun x => Rmax 0 (S' x)) (zlist lo n)).
    - apply lsum_le; intros; apply Rmax_r.
    - apply lsum_incl; [intros; apply Rmax_l | apply NoDup_zlist | apply Hb; lia].
  Qed.

  (** A larger shift dominates a smaller one. *)
  Theorem larger_shift_dominates m m' : (0 <= m <= m')%Z -> dominates [Moved f m'] [Moved f m].
  Proof.
    intros Hm. replace m' with (m + Z.of_nat (Z.to_nat (m' - m)))%Z by lia. induction (Z.to_nat (m' - m)) as [|n IH].
    - rewrite Z.add_0_r; apply dominates_itself.
    - apply dominates_trans with (2 := IH). replace (m + Z.of_nat (S n))%Z with (Z.of_nat (Z.to_nat (m + Z.of_nat n)) + 1)%Z by lia.
      replace (m + Z.of_nat n)%Z with (Z.of_nat (Z.to_nat (m + Z.of_nat n))) at 2 by lia. apply one_further.
  Qed.

  (** ** Shifts of fewer counts *)

  Lemma two_proper m n : proper [Moved f m; Moved f n].
  Proof. apply cons_proper; [apply Moved_lawful | apply one_proper, Moved_lawful]. Qed.

  Section Shared.
    Variables a b : Z.
    Hypothesis Hab : (b <= a + 1)%Z.
    Let d := (a - b)%Z.

    (** The outputs of two counts, so exchanged that the laws of both changes are exchanged. *)
    Let exchange (xs : list Z) : list Z := match xs with [x; y] => [(y + d + 1)%Z; (x - d - 1)%Z] | _ => xs end.

    Let exchange_twice xs : exchange (exchange xs) = xs.
    Proof. destruct xs as [|x [|y [|z xs]]]; try reflexivity. cbn. f_equal; [lia | f_equal; lia]. Qed.

    Let both m n := [Moved f m; Moved f n].

    Let both_proper m n : proper (both m n).
    Proof. apply two_proper. Qed.

    (** max(0, s - t) is less in sum if the larger ones are beside each other. *)
    Let paired s t s' t' : s <= s' /\ t <= t' \/ s' <= s /\ t' <= t -> Rmax 0 (s - t) + Rmax 0 (s' - t') <= Rmax 0 (s - t') + Rmax 0 (s' - t).
    Proof. intros H; unfold Rmax; repeat destruct (Rle_dec _ _); lra. Qed.

    Lemma shared_step : dominates (both (a + 1) (b - 1)) (both a b).
    Proof.
      intros p q Hp Hq. set (F := weighted (both a b) p q). set (G := weighted (both (a + 1) (b - 1)) p q).
      assert (SF : summable F) by now apply weighted_summable. assert (SG : summable G) by now apply weighted_summable.
      destruct (total_renamed F exchange exchange exchange_twice exchange_twice SF) as [SF' TF].
      destruct (total_renamed G exchange exchange exchange_twice exchange_twice SG) as [SG' TG].
      enough (H : total (fun xs => F xs + F (exchange xs)) <= total (fun xs => G xs + G (exchange xs))).
      { rewrite !(total_plus outputs_dec), TF, TG in H by (assumption || (intros; apply Rmax_l)). unfold advantage; fold F G; lra. }
      apply total_le; [|now apply summable_plus]. intros xs.
      destruct xs as [|x [|y [|z xs]]]; try (unfold F, G, weighted, P, Q; cbn; rewrite ?Rmult_0_r; lra).
      unfold F, G, weighted, P, Q, both; cbn [exchange product P1 Q1 Moved]. rewrite !Rmult_1_r.
      replace (y + d + 1 - a)%Z with (y - (b - 1))%Z by (unfold d; lia). replace (x - d - 1 - b)%Z with (x - (a + 1))%Z by (unfold d; lia).
      replace (y + d + 1 - (a + 1))%Z with (y - b)%Z by (unfold d; lia). replace (x - d - 1 - (b - 1))%Z with (x - a)%Z by (unfold d; lia).
      rewrite (Rmult_comm (f (y - (b - 1))%Z)), (Rmult_comm (f (y - b)%Z)). apply paired.
      destruct (Z.le_ge_cases (x - y) (d + 1)); [right | left]; split; apply Rmult_le_compat_l; try assumption; apply closer; unfold d in *; lia.
    Qed.
  End Shared.

  Lemma shared (n : nat) a b : (b <= a + 1)%Z -> dominates [Moved f (a + Z.of_nat n); Moved f (b - Z.of_nat n)] [Moved f a; Moved f b].
  Proof.
    intros Hab; induction n as [|n IH].
    - rewrite Z.add_0_r, Z.sub_0_r; apply dominates_itself.
    - apply dominates_trans with (2 := IH). replace (a + Z.of_nat (S n))%Z with (a + Z.of_nat n + 1)%Z by lia.
      replace (b - Z.of_nat (S n))%Z with (b - Z.of_nat n - 1)%Z by lia. apply shared_step; lia.
  Qed.

  (** Of two shifts with a given sum the less equal ones dominate. *)
  Theorem unequal_shifts_dominate a b s t : (a + b = s + t)%Z -> (Z.max a b <= s)%Z -> dominates [Moved f s; Moved f t] [Moved f a; Moved f b].
  Proof.
    intros Hsum Hmax; destruct (Z.le_ge_cases b a) as [Hab|Hab].
    - replace s with (a + Z.of_nat (Z.to_nat (s - a)))%Z by lia. replace t with (b - Z.of_nat (Z.to_nat (s - a)))%Z by lia. apply shared; lia.
    - apply dominates_trans with [Moved f b; Moved f a]; [|apply dominates_permuted; [apply two_proper | constructor]].
      replace s with (b + Z.of_nat (Z.to_nat (s - b)))%Z by lia. replace t with (a - Z.of_nat (Z.to_nat (s - b)))%Z by lia. apply shared; lia.
  Qed.

  (** A count that does not move can be left out. *)
  Lemma without_zero cs : proper cs -> dominates cs (Moved f 0 :: cs).
  Proof. intros H; apply dominates_without; [apply Moved_lawful | assumption|]. intros x; cbn; now rewrite Z.sub_0_r. Qed.

  Lemma Moved_proper vs : proper (map (Moved f) vs).
  Proof. apply Forall_map, Forall_forall; intros; apply Moved_lawful. Qed.

  Definition sum (vs : list Z) : Z := fold_right Z.add 0%Z vs.

  (** The worst of all changes of at most [m] each and [n] times [m] in sum: [n] counts that move by [m]. *)
  Theorem worst_changes (m : Z) (n : nat) vs :
    Forall (fun v => 0 <= v <= m)%Z vs -> (sum vs <= Z.of_nat n * m)%Z -> dominates (repeat (Moved f m) n) (map (Moved f) vs).
  Proof.
    remember (length vs) as k eqn:Hk. revert n vs Hk. induction k as [|k IH]; intros n vs Hk Hall Hsum.
    { destruct vs; [|discriminate]. apply dominates_nil, repeat_proper, Moved_lawful. }
    assert (Hrep : forall n, proper (repeat (Moved f m) n)) by (intros; apply repeat_proper, Moved_lawful).
    destruct vs as [|v [|w vs]]; [discriminate| |].
    - inversion Hall as [|? ? Hv _]; subst. cbn in Hsum. destruct n as [|n]; cbn [repeat map].
      + replace v with 0%Z by lia. apply without_zero, nil_proper.
      + apply dominates_cons; [apply Moved_lawful | apply Moved_lawful | apply Hrep | apply nil_proper | now apply larger_shift_dominates | now apply dominates_nil].
    - inversion Hall as [|? ? Hv Hall']; subst. inversion Hall' as [|? ? Hw Hvs]; subst. cbn [sum fold_right] in Hsum. fold (sum vs) in Hsum.
      cbn [map]. assert (Hrest := Moved_proper vs).
      assert (Hcase : forall s t, (v + w = s + t)%Z -> (Z.max v w <= s)%Z ->
        dominates (Moved f s :: Moved f t :: map (Moved f) vs) (Moved f v :: Moved f w :: map (Moved f) vs)).
      { intros s t H1 H2. apply (dominates_before [Moved f s; Moved f t] [Moved f v; Moved f w]); try apply two_proper; [assumption|].
        now apply unequal_shifts_dominate. }
      destruct (Z.le_gt_cases (v + w) m) as [Hle|Hgt].
      + apply dominates_trans with (2 := Hcase (v + w)%Z 0%Z ltac:(lia) ltac:(lia)).
        apply dominates_trans with (Moved f (v + w) :: map (Moved f) vs).
        * apply (IH n ((v + w)%Z :: vs)); [cbn in *; lia | constructor; [lia | assumption] | cbn [sum fold_right]; fold (sum vs); lia].
        * apply dominates_cons; try apply Moved_lawful; try assumption;
            [apply cons_proper; [apply Moved_lawful | assumption] | apply dominates_itself | now apply without_zero].
      + apply dominates_trans with (2 := Hcase m (v + w - m)%Z ltac:(lia) ltac:(lia)).
        destruct n as [|n]; [cbn in Hsum|].
        { assert (0 <= sum vs)%Z; [|lia]. clear - Hvs. induction Hvs; cbn [sum fold_right]; [lia|]. fold (sum l); lia. }
        cbn [repeat]. apply dominates_cons; try apply Moved_lawful; [apply Hrep | apply cons_proper; [apply Moved_lawful | assumption] | apply dominates_itself|].
        apply (IH n ((v + w - m)%Z :: vs)); [cbn in *; lia | constructor; [lia | assumption] | cbn [sum fold_right]; fold (sum vs); lia].
  Qed.

  (** ** Counts that move up or down *)

  Definition down (m : Z) : count := swapped (Moved f m).

  Lemma down_lawful m : lawful (down m).
  Proof. destruct (Moved_lawful m); now split. Qed.

  Let upwards v v' : dominates [Moved f (v' - v)] [Between f v v'].
  Proof.
    intros p q Hp Hq; unfold advantage.
    set (h := fun xs => match xs with [x] => [(x - v)%Z] | _ => xs end). set (g := fun xs => match xs with [x] => [(x + v)%Z] | _ => xs end).
    destruct (total_renamed (weighted [Moved f (v' - v)] p q) h g) as [_ <-].
    - intros [|x [|y xs]]; try reflexivity. cbn; f_equal; lia.
    - intros [|x [|y xs]]; try reflexivity. cbn; f_equal; lia.
    - apply weighted_summable; try assumption. apply one_proper, Moved_lawful.
    - right; apply total_ext; intros [|x [|y xs]]; try reflexivity; unfold weighted, P, Q; cbn; [|now rewrite !Rmult_0_r].
      now replace (x - v - (v' - v))%Z with (x - v')%Z by lia.
  Qed.

  Lemma up_and_down v v' : dominates [Moved f (Z.max 0 (v' - v)); down (Z.max 0 (v - v'))] [Between f v v'].
  Proof.
    assert (Hone : forall w w', proper [Between f w w']) by (intros; apply one_proper, Between_lawful).
    destruct (Z.le_ge_cases v v').
    - rewrite (Z.max_r 0 (v' - v)) by lia.
      apply dominates_cons; [apply Moved_lawful | apply Between_lawful | apply one_proper, down_lawful | apply nil_proper | apply upwards|].
      apply dominates_nil, one_proper, down_lawful.
    - rewrite (Z.max_r 0 (v - v')) by lia. apply dominates_trans with [down (v - v')].
      + apply dominates_with; [apply Moved_lawful | apply one_proper, down_lawful].
      + apply (dominates_swapped [Moved f (v - v')] [Between f v' v]); [apply one_proper, Moved_lawful | apply Hone | apply upwards].
  Qed.

  Definition ups (moves : list (Z * Z)) : list Z := map (fun vv => Z.max 0 (snd vv - fst vv)) moves.
  Definition downs (moves : list (Z * Z)) : list Z := map (fun vv => Z.max 0 (fst vv - snd vv)) moves.

  Lemma downs_proper vs : proper (map down vs).
  Proof. apply Forall_map, Forall_forall; intros; apply down_lawful. Qed.

  (** Counts that move up by at most [m] each and [n] times [m] in sum, and down by at most [m] each and [k] times [m] in sum. *)
  Theorem worst_moves (m : Z) (n k : nat) moves :
    Forall (fun v => v <= m)%Z (ups moves) -> (sum (ups moves) <= Z.of_nat n * m)%Z ->
    Forall (fun v => v <= m)%Z (downs moves) -> (sum (downs moves) <= Z.of_nat k * m)%Z ->
    dominates (repeat (Moved f m) n ++ repeat (down m) k) (map (fun vv => Between f (fst vv) (snd vv)) moves).
  Proof.
    intros U1 U2 D1 D2. assert (Hnn : forall (g : Z * Z -> Z), Forall (fun v => v <= m)%Z (map (fun vv => Z.max 0 (g vv)) moves) ->
      Forall (fun v => 0 <= v <= m)%Z (map (fun vv => Z.max 0 (g vv)) moves)).
    { intros g H; rewrite Forall_forall in *; intros v Hv; split; [|now apply H]. apply in_map_iff in Hv; destruct Hv as (vv & <- & _); lia. }
    apply dominates_trans with (map (Moved f) (ups moves) ++ map down (downs moves)).
    - apply dominates_app; try apply Moved_proper; try apply downs_proper; try (apply repeat_proper; first [apply Moved_lawful | apply down_lawful]).
      + apply worst_changes; [now apply Hnn | assumption].
      + assert (H := worst_changes m k (downs moves) (Hnn _ D1) D2). apply dominates_swapped in H; [|apply repeat_proper, Moved_lawful | apply Moved_proper].
        rewrite map_map, swapped_repeat in H. exact H.
    - clear U1 U2 D1 D2 Hnn. induction moves as [|[v v'] moves IH]; [apply dominates_itself|]. unfold ups, downs; cbn [map fst snd]. fold (ups moves) (downs moves).
      assert (Hu := Moved_proper (ups moves)). assert (Hd := downs_proper (downs moves)). set (u := Z.max 0 (v' - v)). set (d := Z.max 0 (v - v')).
      assert (Hrest : proper (map (fun vv => Between f (fst vv) (snd vv)) moves)) by (apply Forall_map, Forall_forall; intros; apply Between_lawful).
      assert (Hpair : proper [Moved f u; down d]) by (apply cons_proper; [apply Moved_lawful | apply one_proper, down_lawful]).
      apply dominates_trans with ([Moved f u; down d] ++ map (Moved f) (ups moves) ++ map down (downs moves)).
      + apply dominates_permuted; [now apply proper_app; [|apply proper_app]|]. cbn [app]. constructor. symmetry; apply Permutation_middle.
      + apply (dominates_app [Moved f u; down d] [Between f v v']); try assumption; [apply one_proper, Between_lawful | now apply proper_app | apply up_and_down].
  Qed.

  (** If the noise is even, down is as good as up. *)
  Lemma even_down m : (forall x, f (- x)%Z = f x) -> dominates [Moved f m] [down m].
  Proof.
    intros Heven p q Hp Hq; unfold advantage. set (h := fun xs => match xs with [x] => [(m - x)%Z] | _ => xs end).
    destruct (total_renamed (weighted [Moved f m] p q) h h) as [_ <-].
    - intros [|x [|y xs]]; try reflexivity. cbn; f_equal; lia.
    - intros [|x [|y xs]]; try reflexivity. cbn; f_equal; lia.
    - apply weighted_summable; try assumption. apply one_proper, Moved_lawful.
    - right; apply total_ext; intros [|x [|y xs]]; try reflexivity; unfold weighted, P, Q; cbn; [|now rewrite !Rmult_0_r].
      replace (m - x - m)%Z with (- x)%Z by lia. rewrite Heven.
      rewrite <- (Heven (m - x)%Z). now replace (- (m - x))%Z with (x - m)%Z by lia.
  Qed.

  (** So counts that move down count as ones that move up. *)
  Theorem even_both_ways m n : (forall x, f (- x)%Z = f x) -> dominates (repeat (Moved f m) (n + n)) (repeat (Moved f m) n ++ repeat (down m) n).
  Proof.
    intros Heven; rewrite repeat_app. apply dominates_after; try (apply repeat_proper; first [apply Moved_lawful | apply down_lawful]).
    apply dominates_repeat; [apply Moved_lawful | apply down_lawful | now apply even_down].
  Qed.
End LogConcave.

(** ** The noise of the examples is log-concave *)

Lemma log_concave_positive f : (forall x, 0 < f x) -> (forall x, f (x - 1)%Z * f (x + 1)%Z <= f x * f x) -> log_concave f.
Proof. intros Hpos H; split; [exact H | intros; apply Hpos]. Qed.

Lemma log_concave_scaled f k : 0 < k -> log_concave f -> log_concave (fun x => f x * k).
Proof.
  intros Hk [H1 H2]; split.
  - intros x. replace (f (x - 1)%Z * k * (f (x + 1)%Z * k)) with (f (x - 1)%Z * f (x + 1)%Z * (k * k)) by ring.
    replace (f x * k * (f x * k)) with (f x * f x * (k * k)) by ring. apply Rmult_le_compat_r; [nra | apply H1].
  - intros x y z Hxyz Hx Hz. apply Rmult_lt_0_compat; [|assumption].
    apply (H2 x y z Hxyz); apply Rmult_lt_reg_r with k; lra.
Qed.

Lemma weight_log_concave s : 0 < s -> log_concave (weight s).
Proof.
  intros Hs; apply log_concave_positive; [apply weight_pos|]. intros x; unfold weight; rewrite <- !exp_plus; apply exp_mono.
  rewrite minus_IZR, plus_IZR. assert (H : 0 < / (2 * s)) by (apply Rinv_0_lt_compat; lra). unfold Rdiv, Rsqr. nra.
Qed.

Lemma geometric_log_concave e : 0 < e -> log_concave (geometric e).
Proof.
  intros He; apply log_concave_positive; [apply geometric_pos|]. intros x; unfold geometric; rewrite <- !exp_plus; apply exp_mono.
  assert (H : 2 * Rabs (IZR x) <= Rabs (IZR (x - 1)) + Rabs (IZR (x + 1))).
  { rewrite <- !abs_IZR, <- (mult_IZR 2), <- plus_IZR. apply IZR_le; lia. }
  nra.
Qed.

Theorem gaussian_log_concave s : 0 < s -> log_concave (gaussian s).
Proof. intros Hs; unfold gaussian, Rdiv; apply log_concave_scaled; [now apply Rinv_0_lt_compat, mass_pos | now apply weight_log_concave]. Qed.

Theorem laplace_log_concave e : 0 < e -> log_concave (laplace e).
Proof.
  intros He. assert (Hr := ratio_bounds e He).
  destruct (log_concave_scaled (geometric e) ((1 - exp (- e)) / (1 + exp (- e))) ltac:(apply Rdiv_lt_0_compat; lra) (geometric_log_concave e He)) as [H1 H2].
  unfold geometric in *; unfold laplace; split.
  - intros x; specialize (H1 x); cbn beta in H1. lra.
  - intros x y z Hxyz Hx Hz. specialize (H2 x y z Hxyz); cbn beta in H2. lra.
Qed.

(** Cut off at both ends. *)
Theorem truncated_log_concave w b : (forall x, 0 < w x) -> (0 <= b)%Z -> log_concave w -> log_concave (truncated w b).
Proof.
  intros Hw Hb [H1 _]. assert (Hpos : 0 < lsum w (zlist (- b) (outputs b))) by (apply weights_pos; [assumption | unfold outputs; lia]).
  assert (Hinv := Rinv_0_lt_compat _ Hpos).
  assert (Hin : forall x, 0 < truncated w b x <-> (- b <= x <= b)%Z).
  { intros x; unfold truncated, within. assert (Hs := in_span_spec (- b) (outputs b) x). rewrite in_zlist in Hs. unfold outputs in Hs at 2.
    destruct (in_span (- b) (outputs b) x).
    - split; [intros _; destruct Hs as [Hs _]; specialize (Hs eq_refl); lia | intros _; now apply Rdiv_lt_0_compat].
    - split; [lra | intros Hx; assert (false = true) by (apply Hs; lia); discriminate]. }
  split.
  - intros x. assert (Hnn : forall y, 0 <= truncated w b y) by (intros; apply within_nonneg; [assumption | unfold outputs; lia]).
    destruct (Rle_lt_or_eq_dec 0 _ (Hnn (x - 1)%Z)) as [Ha|<-]; [|assert (H := Rle_0_sqr (truncated w b x)); unfold Rsqr in H; lra].
    destruct (Rle_lt_or_eq_dec 0 _ (Hnn (x + 1)%Z)) as [Hc|<-]; [|assert (H := Rle_0_sqr (truncated w b x)); unfold Rsqr in H; lra].
    assert (Hx : 0 < truncated w b x) by (apply Hin in Ha; apply Hin in Hc; apply Hin; lia).
    unfold truncated, within in *. destruct (in_span _ _ (x - 1)); [|lra]. destruct (in_span _ _ (x + 1)); [|lra]. destruct (in_span _ _ x); [|lra].
    unfold Rdiv. set (k := / _) in *. specialize (H1 x).
    replace (w (x - 1)%Z * k * (w (x + 1)%Z * k)) with (w (x - 1)%Z * w (x + 1)%Z * (k * k)) by ring.
    replace (w x * k * (w x * k)) with (w x * w x * (k * k)) by ring. apply Rmult_le_compat_r; [nra | assumption].
  - intros x y z Hxyz Hx Hz. apply Hin in Hx; apply Hin in Hz; apply Hin; lia.
Qed.
