(** * The discrete Laplace law on the integers: two-sided geometric noise *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick.
Import ListNotations.
Open Scope R_scope.

(** The probability of [x] is (1 - q) / (1 + q) q^|x|, with q = e^(-e). *)
Definition laplace (e : R) (x : Z) : R :=
  (1 - exp (- e)) / (1 + exp (- e)) * exp (- (e * Rabs (IZR x))).

(** One published count: its noise is discrete Laplace of parameter [e], and the neighbor moves the true value by [shift]. *)
Definition Laplace (e : R) (shift : Z) : count := Pair (laplace e) (fun x => laplace e (x - shift)%Z).

Lemma laplace_even e x : laplace e (- x) = laplace e x.
Proof. unfold laplace; now rewrite opp_IZR, Rabs_Ropp. Qed.

(** ** Geometric sums *)

Lemma sum_to_the_right e lo n :
  (1 - exp (- e)) * lsum (fun x => exp (- (e * IZR x))) (zlist lo n)
  = exp (- (e * IZR lo)) - exp (- (e * IZR (lo + Z.of_nat n))).
Proof.
  revert lo; induction n as [|n IH]; intros lo.
  - change (zlist lo 0) with (@nil Z); cbn [lsum]; rewrite Z.add_0_r; ring.
  - rewrite zlist_S; cbn [lsum]; rewrite Rmult_plus_distr_l, IH.
    replace (lo + Z.of_nat (S n))%Z with (lo + 1 + Z.of_nat n)%Z by lia.
    replace (exp (- (e * IZR (lo + 1)))) with (exp (- e) * exp (- (e * IZR lo)))
      by (rewrite <- exp_plus, plus_IZR; f_equal; ring).
    ring.
Qed.

Lemma sum_to_the_left e lo n :
  (1 - exp (- e)) * lsum (fun x => exp (e * IZR x)) (zlist lo n)
  = exp (e * IZR (lo + Z.of_nat n - 1)) - exp (e * IZR (lo - 1)).
Proof.
  revert lo; induction n as [|n IH]; intros lo.
  - change (zlist lo 0) with (@nil Z); cbn [lsum Z.of_nat]; rewrite Z.add_0_r; ring.
  - rewrite zlist_S; cbn [lsum]; rewrite Rmult_plus_distr_l, IH.
    replace (lo + Z.of_nat (S n) - 1)%Z with (lo + 1 + Z.of_nat n - 1)%Z by lia.
    replace (lo + 1 - 1)%Z with lo by lia.
    replace (exp (e * IZR (lo - 1))) with (exp (- e) * exp (e * IZR lo))
      by (rewrite <- exp_plus, minus_IZR; f_equal; ring).
    ring.
Qed.

Section Law.
  Variable e : R.
  Hypothesis He : 0 < e.
  Let q := exp (- e).

  Lemma ratio_bounds : 0 < q < 1.
  Proof.
    split; [apply exp_pos|]. unfold q; rewrite <- exp_0; apply exp_increasing; lra.
  Qed.

  Lemma laplace_pos x : 0 < laplace e x.
  Proof.
    assert (Hq := ratio_bounds); unfold laplace; fold q.
    apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra | apply exp_pos].
  Qed.

  Lemma laplace_right x : (0 <= x)%Z -> laplace e x = (1 - q) / (1 + q) * exp (- (e * IZR x)).
  Proof. intros Hx; unfold laplace; rewrite Rabs_right; [reflexivity | apply Rle_ge; now apply IZR_le]. Qed.

  Lemma laplace_left x : (x <= 0)%Z -> laplace e x = (1 - q) / (1 + q) * exp (e * IZR x).
  Proof.
    intros Hx; unfold laplace; rewrite Rabs_left1 by (now apply IZR_le).
    f_equal; f_equal; ring.
  Qed.

  (** The mass of all integers from [lo] on, and of a finite part of them. *)
  Lemma tail_at_most lo l :
    (0 <= lo)%Z -> NoDup l -> (forall x, In x l -> (lo <= x)%Z) ->
    lsum (laplace e) l <= exp (- (e * IZR lo)) / (1 + q).
  Proof.
    intros Hlo Hnd Hl; assert (Hq := ratio_bounds).
    replace (exp (- (e * IZR lo)) / (1 + q)) with (laplace e lo / (1 - q))
      by (rewrite laplace_right by assumption; field; lra).
    apply geometric_tail_right; try assumption; [lra | intros; left; apply laplace_pos |].
    intros x Hx; rewrite !laplace_right by lia.
    replace (exp (- (e * IZR (x + 1)))) with (q * exp (- (e * IZR x)))
      by (unfold q; rewrite <- exp_plus, plus_IZR; f_equal; ring).
    right; ring.
  Qed.

  Lemma left_tail_at_most hi l :
    (hi <= 0)%Z -> NoDup l -> (forall x, In x l -> (x <= hi)%Z) ->
    lsum (laplace e) l <= exp (e * IZR hi) / (1 + q).
  Proof.
    intros Hhi Hnd Hl; assert (Hq := ratio_bounds).
    replace (exp (e * IZR hi) / (1 + q)) with (laplace e hi / (1 - q))
      by (rewrite laplace_left by assumption; field; lra).
    apply geometric_tail_left; try assumption; [lra | intros; left; apply laplace_pos |].
    intros x Hx; rewrite !laplace_left by lia.
    replace (exp (e * IZR (x - 1))) with (q * exp (e * IZR x))
      by (unfold q; rewrite <- exp_plus, minus_IZR; f_equal; ring).
    right; ring.
  Qed.

  Lemma right_sum lo n :
    (0 <= lo)%Z ->
    lsum (laplace e) (zlist lo n) = (exp (- (e * IZR lo)) - exp (- (e * IZR (lo + Z.of_nat n)))) / (1 + q).
  Proof.
    intros Hlo; assert (Hq := ratio_bounds).
    rewrite <- sum_to_the_right; fold q.
    rewrite (lsum_ext_in _ (fun x => (1 - q) / (1 + q) * exp (- (e * IZR x)))).
    - rewrite lsum_scale; field; lra.
    - intros x Hx%in_zlist; apply laplace_right; lia.
  Qed.

  Lemma left_sum n :
    lsum (laplace e) (zlist (- Z.of_nat n) (S n)) = (1 - exp (- (e * INR (S n)))) / (1 + q).
  Proof.
    assert (Hq := ratio_bounds).
    rewrite (lsum_ext_in _ (fun x => (1 - q) / (1 + q) * exp (e * IZR x))).
    - rewrite lsum_scale.
      assert (H := sum_to_the_left e (- Z.of_nat n) (S n)); fold q in H.
      replace (- Z.of_nat n + Z.of_nat (S n) - 1)%Z with 0%Z in H by lia.
      replace (- Z.of_nat n - 1)%Z with (- Z.of_nat (S n))%Z in H by lia.
      rewrite Rmult_0_r, exp_0, opp_IZR, <- INR_IZR_INZ in H.
      replace (- (e * INR (S n))) with (e * - INR (S n)) by ring. rewrite <- H; field; lra.
    - intros x Hx%in_zlist; apply laplace_left; lia.
  Qed.

  Lemma laplace_at_most_one l : NoDup l -> lsum (laplace e) l <= 1.
  Proof.
    intros Hl; assert (Hq := ratio_bounds).
    rewrite (lsum_filter_split _ (fun x => (0 <=? x)%Z)).
    apply Rle_trans with (exp (- (e * IZR 0)) / (1 + q) + exp (e * IZR (-1)) / (1 + q)).
    - apply Rplus_le_compat.
      + apply tail_at_most; [lia | now apply NoDup_filter|].
        intros x Hx; apply filter_In in Hx; lia.
      + apply left_tail_at_most; [lia | now apply NoDup_filter|].
        intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]. destruct (Z.leb_spec 0 x); [discriminate | lia].
    - rewrite Rmult_0_r, Ropp_0, exp_0. replace (exp (e * -1)) with q by (unfold q; f_equal; ring).
      right; field; lra.
  Qed.

  Theorem laplace_is_law : is_law (laplace e).
  Proof.
    assert (Hq := ratio_bounds).
    assert (Hs : summable (laplace e)) by (exists 1; apply laplace_at_most_one).
    split; [intros x; left; apply laplace_pos | split; [exact Hs|]].
    apply Rle_antisym; [apply total_least, laplace_at_most_one|].
    apply (is_lim_seq_le (fun n => 1 - 2 * q ^ n) (fun _ => total (laplace e)) 1 (total (laplace e))).
    - intros n. apply Rle_trans with (lsum (laplace e) (zlist (- Z.of_nat n) (S n) ++ zlist 1 n)).
      + rewrite lsum_app, left_sum, right_sum by lia.
        replace (exp (- (e * INR (S n)))) with (q ^ S n)
          by (unfold q; rewrite <- exp_times; f_equal; ring).
        replace (exp (- (e * IZR (1 + Z.of_nat n)))) with (q ^ S n)
          by (unfold q; rewrite <- exp_times, S_INR, plus_IZR, <- INR_IZR_INZ; f_equal; ring).
        replace (exp (- (e * 1))) with q by (unfold q; f_equal; ring).
        assert (Hn : 0 < q ^ n) by (apply pow_lt; lra). cbn [pow].
        apply Rmult_le_reg_r with (1 + q); [lra|].
        replace (((1 - q * q ^ n) / (1 + q) + (q - q * q ^ n) / (1 + q)) * (1 + q))
          with (1 + q - 2 * (q * q ^ n)) by (field; lra). nra.
      + apply total_upper; [assumption|]. apply NoDup_append; try apply NoDup_zlist.
        intros x; rewrite !in_zlist; lia.
    - replace (Finite 1) with (Finite (1 - 2 * 0)) by (f_equal; ring).
      apply is_lim_seq_minus'; [apply is_lim_seq_const|].
      apply is_lim_seq_mult'; [apply is_lim_seq_const|].
      apply is_lim_seq_geom; rewrite Rabs_right; lra.
    - apply is_lim_seq_const.
  Qed.

  Lemma Laplace_lawful m : lawful (Laplace e m).
  Proof. split; [|apply moved_is_law]; apply laplace_is_law. Qed.
End Law.

(** ** Its losses *)

(** The loss of an output depends on its place between the two true values. *)
Definition clamp (m x : Z) : Z := Z.max 0 (Z.min m x).

(** The loss is e (m - 2 place). *)
Definition Laplace_reading (e : R) (m st : Z) (nm : R) : reading := Reading st (clamp m) (e * IZR m) nm.

Lemma Laplace_reads h e m st nm :
  (0 < m)%Z -> 2 * e = IZR st * h -> reads h (Laplace e m) (Laplace_reading e m st nm).
Proof.
  intros Hm Hst x; cbn [P1 Q1 Laplace step place base Laplace_reading]; unfold laplace.
  rewrite (Rmult_assoc _ (exp _) (exp _)), <- exp_plus; f_equal; f_equal.
  rewrite mult_IZR. replace (h * (IZR st * IZR (clamp m x))) with (2 * e * IZR (clamp m x)) by (rewrite Hst; ring).
  assert (E : Rabs (IZR (x - m)) = Rabs (IZR x) + IZR m - 2 * IZR (clamp m x)); [|rewrite E; ring].
  unfold clamp; rewrite <- !abs_IZR, <- (mult_IZR 2), <- plus_IZR, <- minus_IZR; f_equal; lia.
Qed.
