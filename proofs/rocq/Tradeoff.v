(** * Points of the trade-off function

    A test rejects an output with a probability. Its type I error is that of rejecting an output of Q, its type II error that of not
    rejecting one of P. Of all tests with a type I error of at most alpha, how small can the type II error be? One value of delta gives
    a lower bound. Three give an upper bound: a mixture of two likelihood ratio tests attains it. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick.
Import ListNotations.
Open Scope R_scope.

(** ** Sums of sums *)

Lemma total_ext {A} (f g : A -> R) : (forall x, f x = g x) -> summable f -> total f = total g.
Proof.
  intros H Hf; assert (Hg : summable g) by (apply summable_le with (2 := Hf); intros; rewrite H; lra).
  apply Rle_antisym; apply total_least; intros l Hl.
  - rewrite (lsum_ext f g) by assumption; now apply total_upper.
  - rewrite (lsum_ext g f) by (intros; now rewrite H); now apply total_upper.
Qed.

Lemma total_scale {A} (f : A -> R) c : 0 <= c -> summable f -> total (fun x => c * f x) = c * total f.
Proof.
  intros Hc Hf; apply Rle_antisym.
  - apply total_least; intros l Hl; rewrite lsum_scale. apply Rmult_le_compat_l; [assumption | now apply total_upper].
  - destruct (Req_dec c 0) as [->|Hc0].
    + rewrite Rmult_0_l. apply Rle_trans with (lsum (fun x => 0 * f x) []); [cbn; lra|].
      apply total_upper; [apply summable_scale; [lra | assumption] | constructor].
    + apply Rmult_le_reg_l with (/ c); [apply Rinv_0_lt_compat; lra|].
      rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by assumption. apply total_least; intros l Hl.
      apply Rmult_le_reg_l with c; [lra|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, <- lsum_scale by assumption.
      apply total_upper; [now apply summable_scale | assumption].
Qed.

Lemma total_plus {A} (f g : A -> R) :
  (forall x y : A, {x = y} + {x <> y}) -> (forall x, 0 <= f x) -> (forall x, 0 <= g x) -> summable f -> summable g ->
  total (fun x => f x + g x) = total f + total g.
Proof.
  intros dec Hf0 Hg0 Hf Hg; assert (Hfg := summable_plus f g Hf Hg). apply Rle_antisym.
  - apply total_least; intros l Hl; rewrite lsum_plus; apply Rplus_le_compat; now apply total_upper.
  - enough (H : total f <= total (fun x => f x + g x) - total g) by lra.
    apply total_least; intros l Hl. enough (H : total g <= total (fun x => f x + g x) - lsum f l) by lra.
    apply total_least; intros l' Hl'. enough (H : lsum f l + lsum g l' <= total (fun x => f x + g x)) by lra.
    set (u := nodup dec (l ++ l')).
    apply Rle_trans with (lsum (fun x => f x + g x) u); [|apply total_upper; [assumption | apply NoDup_nodup]].
    rewrite lsum_plus; apply Rplus_le_compat; apply lsum_incl; try assumption;
      intros x Hx; apply nodup_In, in_or_app; auto.
Qed.

(** ** Tests *)

(** The probability of rejecting each output. *)
Definition is_test (T : list Z -> R) : Prop := forall xs, 0 <= T xs <= 1.

(** The probability of rejecting an output of P. *)
Definition power (cs : list count) (T : list Z -> R) : R := total (fun xs => P cs xs * T xs).
Definition type1 (cs : list count) (T : list Z -> R) : R := total (fun xs => Q cs xs * T xs).
Definition type2 (cs : list count) (T : list Z -> R) : R := 1 - power cs T.

(** The trade-off function at [alpha] is in [a, b]: no test with a type I error of at most alpha has a type II error below a, and some
    test has one of at most b. *)
Definition tradeoff_is_between (cs : list count) (alpha a b : R) : Prop :=
  (forall T, is_test T -> type1 cs T <= alpha -> a <= type2 cs T)
  /\ exists T, is_test T /\ type1 cs T <= alpha /\ type2 cs T <= b.

Section Tests.
  Variable cs : list count.
  Hypothesis H : proper cs.

  Lemma outputs_dec : forall xs ys : list Z, {xs = ys} + {xs <> ys}.
  Proof. apply list_eq_dec, Z.eq_dec. Qed.

  Lemma rejected_nonneg f T xs : (forall x : list Z, 0 <= f x) -> is_test T -> 0 <= f xs * T xs.
  Proof. intros Hf HT; apply Rmult_le_pos; [apply Hf | apply HT]. Qed.

  Lemma rejected_summable f T :
    (forall x : list Z, 0 <= f x) -> summable f -> is_test T -> summable (fun xs => f xs * T xs).
  Proof.
    intros Hf Hs HT; apply summable_le with (2 := Hs); intros x.
    rewrite <- (Rmult_1_r (f x)) at 2; apply Rmult_le_compat_l; [apply Hf | apply HT].
  Qed.

  Let HP xs : 0 <= P cs xs. Proof. now apply P_nonneg. Qed.
  Let HQ xs : 0 <= Q cs xs. Proof. now apply Q_nonneg. Qed.
  Let SP : summable (P cs). Proof. exists 1; intros; now apply P_at_most_one. Qed.
  Let SQ : summable (Q cs). Proof. exists 1; intros; now apply Q_at_most_one. Qed.

  (** delta bounds the power of every test. *)
  Theorem power_at_most T eps : is_test T -> power cs T <= delta cs eps + exp eps * type1 cs T.
  Proof.
    intros HT; apply total_least; intros l Hl.
    apply Rle_trans with (lsum (gap cs eps) l + exp eps * lsum (fun xs => Q cs xs * T xs) l).
    - rewrite <- lsum_scale, <- lsum_plus; apply lsum_le; intros xs. destruct (HT xs) as [T0 T1].
      unfold gap. set (d := P cs xs - exp eps * Q cs xs).
      replace (P cs xs * T xs) with (d * T xs + exp eps * (Q cs xs * T xs)) by (unfold d; ring).
      apply Rplus_le_compat_r. generalize (Rmax_l 0 d) (Rmax_r 0 d); intros; nra.
    - apply Rplus_le_compat; [apply total_upper; [now apply gap_summable | assumption]|].
      apply Rmult_le_compat_l; [left; apply exp_pos|].
      apply total_upper; [now apply rejected_summable | assumption].
  Qed.

  (** The likelihood ratio test at eps attains this. *)
  Definition ratio_test (eps : R) (xs : list Z) : R := if Rlt_dec (exp eps * Q cs xs) (P cs xs) then 1 else 0.

  Lemma ratio_test_is_test eps : is_test (ratio_test eps).
  Proof. intros xs; unfold ratio_test; destruct (Rlt_dec _ _); lra. Qed.

  Lemma power_of_ratio_test eps :
    power cs (ratio_test eps) = delta cs eps + exp eps * type1 cs (ratio_test eps).
  Proof.
    assert (HT := ratio_test_is_test eps). assert (He := exp_pos eps).
    unfold power, delta, type1. rewrite <- total_scale; [|lra | now apply rejected_summable].
    rewrite <- total_plus.
    - apply total_ext; [|now apply rejected_summable].
      intros xs; unfold ratio_test, gap; destruct (Rlt_dec _ _).
      + rewrite Rmax_right by lra; ring.
      + rewrite Rmax_left by lra; ring.
    - apply outputs_dec.
    - intros; apply gap_nonneg.
    - intros xs; apply Rmult_le_pos; [lra | now apply rejected_nonneg].
    - now apply gap_summable.
    - apply summable_scale; [lra | now apply rejected_summable].
  Qed.

  (** Mixtures of two tests. *)
  Definition mixture (w : R) (S T : list Z -> R) (xs : list Z) : R := w * S xs + (1 - w) * T xs.

  Section Mixture.
    Variables (w : R) (S T : list Z -> R).
    Hypothesis Hw : 0 <= w <= 1.
    Hypothesis HS : is_test S.
    Hypothesis HT : is_test T.

    Lemma mixture_is_test : is_test (mixture w S T).
    Proof. intros xs; unfold mixture; destruct (HS xs), (HT xs). split; nra. Qed.

    Lemma mixture_sums f :
      (forall xs : list Z, 0 <= f xs) -> summable f ->
      total (fun xs => f xs * mixture w S T xs) = w * total (fun xs => f xs * S xs) + (1 - w) * total (fun xs => f xs * T xs).
    Proof.
      intros Hf Hs.
      rewrite <- (total_scale (fun xs => f xs * S xs)), <- (total_scale (fun xs => f xs * T xs));
        try lra; try (now apply rejected_summable).
      rewrite <- total_plus.
      - apply total_ext; [intros xs; unfold mixture; ring | apply rejected_summable; auto using mixture_is_test].
      - apply outputs_dec.
      - intros xs; apply Rmult_le_pos; [lra | now apply rejected_nonneg].
      - intros xs; apply Rmult_le_pos; [lra | now apply rejected_nonneg].
      - apply summable_scale; [lra | now apply rejected_summable].
      - apply summable_scale; [lra | now apply rejected_summable].
    Qed.
  End Mixture.

  (** Two numbers around alpha have a mean that is alpha. *)
  Lemma weight_for a b alpha : b <= alpha <= a -> exists w, 0 <= w <= 1 /\ w * a + (1 - w) * b = alpha.
  Proof.
    intros Hab; destruct (Req_dec a b) as [->|Hne]; [exists 1; lra|].
    exists ((alpha - b) / (a - b)). assert (Hd : 0 < a - b) by lra.
    assert (E : (alpha - b) / (a - b) * (a - b) = alpha - b) by (field; lra).
    set (w := (alpha - b) / (a - b)) in *. split; [split; nra | lra].
  Qed.

  (** ** The lower end *)

  Theorem type2_at_least T eps alpha :
    is_test T -> type1 cs T <= alpha -> 1 - delta cs eps - exp eps * alpha <= type2 cs T.
  Proof.
    intros HT Ha; unfold type2. assert (Hp := power_at_most T eps HT).
    assert (exp eps * type1 cs T <= exp eps * alpha) by (apply Rmult_le_compat_l; [left; apply exp_pos | assumption]). lra.
  Qed.

  (** ** The upper end *)

  (** The height 1 - delta - e^eps alpha is at [y] not below those at [x] and [z]. *)
  Theorem some_test x y z alpha above :
    exp x < exp y < exp z ->
    alpha * (exp y - exp x) <= delta cs x - delta cs y ->
    delta cs y - delta cs z <= alpha * (exp z - exp y) ->
    (exp z - exp y) * ((delta cs x - delta cs y) / (exp y - exp x) - alpha) <= above ->
    (exp y - exp x) * (alpha - (delta cs y - delta cs z) / (exp z - exp y)) <= above ->
    exists T, is_test T /\ type1 cs T <= alpha /\ type2 cs T <= 1 - delta cs y - exp y * alpha + above.
  Proof.
    intros [Hxy Hyz] Hleft Hright Habove1 Habove2.
    set (X := exp x) in *; set (Y := exp y) in *; set (Z0 := exp z) in *.
    set (dx := delta cs x) in *; set (dy := delta cs y) in *; set (dz := delta cs z) in *.
    assert (Px := power_of_ratio_test x); assert (Py := power_of_ratio_test y); assert (Pz := power_of_ratio_test z).
    assert (Tx := ratio_test_is_test x); assert (Ty := ratio_test_is_test y); assert (Tz := ratio_test_is_test z).
    set (Sx := ratio_test x) in *; set (Sy := ratio_test y) in *; set (Sz := ratio_test z) in *.
    assert (Lyx := power_at_most Sy x Ty); assert (Lyz := power_at_most Sy z Ty).
    assert (Lxy := power_at_most Sx y Tx); assert (Lzy := power_at_most Sz y Tz).
    fold X Y Z0 dx dy dz in Px, Py, Pz, Lyx, Lyz, Lxy, Lzy.
    set (ax := type1 cs Sx) in *; set (ay := type1 cs Sy) in *; set (az := type1 cs Sz) in *.
    set (px := power cs Sx) in *; set (py := power cs Sy) in *; set (pz := power cs Sz) in *.
    assert (A1 : ay <= (dx - dy) / (Y - X)).
    { apply Rmult_le_reg_r with (Y - X); [lra|]. unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (A2 : (dy - dz) / (Z0 - Y) <= ay).
    { apply Rmult_le_reg_r with (Z0 - Y); [lra|]. unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra. lra. }
    destruct (Rle_lt_dec alpha ay) as [Hay|Hay].
    - assert (Haz : az <= alpha) by (apply Rmult_le_reg_r with (Z0 - Y); lra).
      destruct (weight_for ay az alpha (conj Haz Hay)) as (w & Hw & E).
      exists (mixture w Sy Sz). split; [now apply mixture_is_test|].
      unfold type1, type2, power; rewrite !mixture_sums by assumption.
      change (total (fun xs => Q cs xs * Sy xs)) with ay; change (total (fun xs => Q cs xs * Sz xs)) with az.
      change (total (fun xs => P cs xs * Sy xs)) with py; change (total (fun xs => P cs xs * Sz xs)) with pz.
      split; [lra|].
      assert (F : (Z0 - Y) * (ay - alpha) <= above).
      { eapply Rle_trans; [|exact Habove1]. apply Rmult_le_compat_l; lra. }
      assert (Hpz : dy - (Z0 - Y) * (ay - az) + Y * az <= pz) by lra.
      assert (Hpz' : (1 - w) * (dy - (Z0 - Y) * (ay - az) + Y * az) <= (1 - w) * pz) by (apply Rmult_le_compat_l; lra).
      assert (G : w * py + (1 - w) * (dy - (Z0 - Y) * (ay - az) + Y * az) = dy + Y * alpha - (Z0 - Y) * (ay - alpha)).
      { rewrite Py, <- E; ring. }
      lra.
    - assert (Hax : alpha <= ax) by (apply Rmult_le_reg_r with (Y - X); lra).
      destruct (weight_for ax ay alpha (conj (Rlt_le _ _ Hay) Hax)) as (w & Hw & E).
      exists (mixture w Sx Sy). split; [now apply mixture_is_test|].
      unfold type1, type2, power; rewrite !mixture_sums by assumption.
      change (total (fun xs => Q cs xs * Sx xs)) with ax; change (total (fun xs => Q cs xs * Sy xs)) with ay.
      change (total (fun xs => P cs xs * Sx xs)) with px; change (total (fun xs => P cs xs * Sy xs)) with py.
      split; [lra|].
      assert (F : (Y - X) * (alpha - ay) <= above).
      { eapply Rle_trans; [|exact Habove2]. apply Rmult_le_compat_l; lra. }
      assert (Hpx : dy + (Y - X) * (ay - ax) + Y * ax <= px) by lra.
      assert (Hpx' : w * (dy + (Y - X) * (ay - ax) + Y * ax) <= w * px) by (apply Rmult_le_compat_l; lra).
      assert (G : w * (dy + (Y - X) * (ay - ax) + Y * ax) + (1 - w) * py = dy + Y * alpha - (Y - X) * (alpha - ay)).
      { rewrite Py, <- E; ring. }
      lra.
  Qed.
End Tests.
