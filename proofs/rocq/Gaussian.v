(** * The discrete Gaussian on the integers *)

From Coq Require Import Reals ZArith List Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From DpAssay Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Lemma exp_mono x y : x <= y -> exp x <= exp y.
Proof. intros [H | -> ]; [left; now apply exp_increasing | right; reflexivity]. Qed.

Lemma exp_times x (n : nat) : exp (INR n * x) = exp x ^ n.
Proof.
  induction n as [|n IH]; [rewrite Rmult_0_l; apply exp_0|].
  rewrite S_INR, Rmult_plus_distr_r, exp_plus, IH, Rmult_1_l; cbn; ring.
Qed.

(** The weight of [x] for the variance proxy [s]: exp(-x^2 / (2 s)). *)
Definition weight (s : R) (x : Z) : R := exp (- (IZR x)² / (2 * s)).

(** The normalising sum over all integers. *)
Definition mass (s : R) : R := total (weight s).

(** The discrete Gaussian N_Z(0, s): the probability of [x]. *)
Definition gaussian (s : R) (x : Z) : R := weight s x / mass s.

Lemma weight_pos s x : 0 < weight s x.
Proof. apply exp_pos. Qed.

Lemma weight_even s x : weight s (- x) = weight s x.
Proof. unfold weight; rewrite opp_IZR; f_equal; unfold Rsqr; lra. Qed.

(** ** The sums converge, tilted by any exponential too *)

Lemma exp_neg_abs_summable : summable (fun x : Z => exp (- Rabs (IZR x))).
Proof.
  set (f := fun x : Z => exp (- Rabs (IZR x))).
  assert (Hr : 0 <= exp (-1) < 1).
  { split; [left; apply exp_pos|]. rewrite <- exp_0; apply exp_increasing; lra. }
  exists (f 0%Z / (1 - exp (-1)) + f 0%Z / (1 - exp (-1))); intros l Hl.
  rewrite (lsum_filter_split f (fun x => (0 <=? x)%Z)); apply Rplus_le_compat.
  - apply geometric_tail_right; auto.
    + intros x; left; apply exp_pos.
    + intros x Hx; unfold f; rewrite plus_IZR.
      apply IZR_le in Hx; rewrite !Rabs_right by lra.
      rewrite <- exp_plus; right; f_equal; lra.
    + now apply NoDup_filter.
    + intros x Hx; apply filter_In in Hx; lia.
  - apply geometric_tail_left; auto.
    + intros x; left; apply exp_pos.
    + intros x Hx; unfold f; rewrite minus_IZR.
      apply IZR_le in Hx; rewrite !Rabs_left1 by lra.
      rewrite <- exp_plus; right; f_equal; lra.
    + now apply NoDup_filter.
    + intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx].
      destruct (Z.leb_spec 0 x); [discriminate | lia].
Qed.

Theorem tilted_weights_summable s b :
  0 < s -> summable (fun x => weight s x * exp (b * IZR x)).
Proof.
  intros Hs.
  set (w := Rabs b + 1).
  apply summable_le with (g := fun x => exp (s * w² / 2) * exp (- Rabs (IZR x))).
  2: { apply summable_scale; [left; apply exp_pos | apply exp_neg_abs_summable]. }
  intros x; unfold weight; rewrite <- !exp_plus.
  apply exp_mono. set (y := IZR x).
  assert (Hb : b * y <= Rabs b * Rabs y) by (rewrite <- Rabs_mult; apply Rle_abs).
  assert (Hsq : y² = (Rabs y)²) by apply Rsqr_abs.
  assert (Hy := Rabs_pos y).
  rewrite Hsq; set (z := Rabs y) in *.
  assert (H : 0 <= (z - s * w)² / (2 * s)).
  { apply Rmult_le_pos; [apply Rle_0_sqr | left; apply Rinv_0_lt_compat; lra]. }
  replace ((z - s * w)² / (2 * s)) with (z² / (2 * s) - w * z + s * w² / 2) in H
    by (unfold Rsqr; field; lra).
  replace (- z² / (2 * s)) with (- (z² / (2 * s))) by (field; lra).
  unfold w in *; lra.
Qed.

Theorem weights_summable s : 0 < s -> summable (weight s).
Proof.
  intros Hs; apply summable_le with (g := fun x => weight s x * exp (0 * IZR x)).
  - intros x; rewrite Rmult_0_l, exp_0; lra.
  - now apply tilted_weights_summable.
Qed.

Lemma mass_pos s : 0 < s -> 0 < mass s.
Proof.
  intros Hs; apply Rlt_le_trans with (lsum (weight s) [0%Z]).
  - cbn; generalize (weight_pos s 0); lra.
  - apply total_upper; [now apply weights_summable | repeat constructor; auto].
Qed.

(** ** It is a probability law *)

Lemma gaussian_pos s x : 0 < s -> 0 < gaussian s x.
Proof. intros Hs; apply Rdiv_lt_0_compat; [apply weight_pos | now apply mass_pos]. Qed.

Lemma gaussian_even s x : gaussian s (- x) = gaussian s x.
Proof. unfold gaussian; now rewrite weight_even. Qed.

Lemma gaussian_sums s l : lsum (gaussian s) l = lsum (weight s) l / mass s.
Proof. unfold gaussian, Rdiv; apply lsum_scale_r. Qed.

Lemma gaussian_summable s : 0 < s -> summable (gaussian s).
Proof.
  intros Hs; exists 1; intros l Hl; rewrite gaussian_sums.
  assert (Hm := mass_pos s Hs).
  apply Rmult_le_reg_r with (mass s); [assumption|].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
  apply total_upper; [now apply weights_summable | assumption].
Qed.

Theorem gaussian_sums_to_one s : 0 < s -> total (gaussian s) = 1.
Proof.
  intros Hs; assert (Hm := mass_pos s Hs).
  apply Rle_antisym.
  - apply total_least; intros l Hl; rewrite gaussian_sums.
    apply Rmult_le_reg_r with (mass s); [assumption|].
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
    apply total_upper; [now apply weights_summable | assumption].
  - apply Rmult_le_reg_r with (mass s); [assumption|]; rewrite Rmult_1_l.
    apply total_least; intros l Hl.
    apply Rmult_le_reg_r with (/ mass s); [now apply Rinv_0_lt_compat|].
    rewrite Rmult_assoc, Rinv_r, Rmult_1_r by lra.
    change (lsum (weight s) l * / mass s) with (lsum (weight s) l / mass s).
    rewrite <- gaussian_sums.
    apply total_upper; [now apply gaussian_summable | assumption].
Qed.

Lemma tilted_gaussian_summable s b :
  0 < s -> summable (fun x => gaussian s x * exp (b * IZR x)).
Proof.
  intros Hs; apply summable_le with (g := fun x => / mass s * (weight s x * exp (b * IZR x))).
  - intros x; unfold gaussian, Rdiv; lra.
  - apply summable_scale; [left; apply Rinv_0_lt_compat, mass_pos, Hs|].
    now apply tilted_weights_summable.
Qed.

(** ** Probability laws on the integers *)

Definition is_law (f : Z -> R) : Prop := (forall x, 0 <= f x) /\ summable f /\ total f = 1.

Lemma law_at_most_one f l : is_law f -> NoDup l -> lsum f l <= 1.
Proof. intros (_ & Hs & <-) Hl; now apply total_upper. Qed.

Theorem gaussian_is_law s : 0 < s -> is_law (gaussian s).
Proof.
  intros H; split; [intros x; left; now apply gaussian_pos|].
  split; [now apply gaussian_summable | now apply gaussian_sums_to_one].
Qed.

(** A law that is moved is a law. *)
Lemma moved_is_law f m : is_law f -> is_law (fun x => f (x - m)%Z).
Proof.
  intros (Hf & Hs & Ht).
  assert (Hmap : forall g k l, lsum (fun x => g (x - k)%Z) l = lsum g (map (fun x => (x - k)%Z) l))
    by (intros; symmetry; apply lsum_map).
  assert (Hnd : forall k l, NoDup l -> NoDup (map (fun x => (x - k)%Z) l))
    by (intros; apply FinFun.Injective_map_NoDup; [intros x y; lia | assumption]).
  assert (Hs' : summable (fun x => f (x - m)%Z)).
  { exists 1; intros l Hl; rewrite Hmap; apply law_at_most_one; [split; auto | auto]. }
  split; [auto | split; [exact Hs'|]].
  apply Rle_antisym.
  - apply total_least; intros l Hl; rewrite Hmap; apply law_at_most_one; [split; auto | auto].
  - rewrite <- Ht; apply total_least; intros l Hl.
    rewrite (lsum_ext f (fun x => (fun y => f (y - m)%Z) (x - (- m))%Z)) by (intros; f_equal; lia).
    rewrite (Hmap (fun y => f (y - m)%Z)). apply total_upper; auto.
Qed.
