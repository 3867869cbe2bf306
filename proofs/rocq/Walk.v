(** * Bounds that walk from count to count

    The transform of section Fourier is one way to add up the aliases. Another needs no complex number: let U be a function of
    period N with g(k) e^(-a k) <= U(k) for every index k. Adding a count turns U into its mean under the tilted law of the count,
    and the inequality stays true. Here stand the inequalities between real numbers; Certificate.v computes with them. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick.
Import ListNotations.
Open Scope R_scope.

(** The weight tilted and completed to a square: exp(-(x + t)^2 / (2 s)), where t = c shift. *)
Definition tilted (s t : R) (x : Z) : R := exp (- (IZR x + t)² / (2 * s)).

Lemma tilted_nonneg s t x : 0 <= tilted s t x.
Proof. left; apply exp_pos. Qed.

(** ** Tails of the tilted weights *)

Lemma tilted_falls_right s t r b x :
  0 < s -> exp (- (2 * (IZR b + t) + 1) / (2 * s)) <= r -> (b <= x)%Z ->
  tilted s t (x + 1) <= r * tilted s t x.
Proof.
  intros Hs Hr Hx; apply IZR_le in Hx.
  apply Rle_trans with (exp (- (2 * (IZR b + t) + 1) / (2 * s)) * tilted s t x).
  2: { apply Rmult_le_compat_r; [apply tilted_nonneg | assumption]. }
  unfold tilted; rewrite <- exp_plus; apply exp_mono. rewrite plus_IZR.
  apply Rmult_le_reg_r with (2 * s); [lra|].
  unfold Rdiv; rewrite Rmult_plus_distr_r, !Rmult_assoc, Rinv_l by lra. unfold Rsqr; nra.
Qed.

Lemma tilted_falls_left s t r b x :
  0 < s -> exp (- (1 - 2 * (IZR b + t)) / (2 * s)) <= r -> (x <= b)%Z ->
  tilted s t (x - 1) <= r * tilted s t x.
Proof.
  intros Hs Hr Hx; apply IZR_le in Hx.
  apply Rle_trans with (exp (- (1 - 2 * (IZR b + t)) / (2 * s)) * tilted s t x).
  2: { apply Rmult_le_compat_r; [apply tilted_nonneg | assumption]. }
  unfold tilted; rewrite <- exp_plus; apply exp_mono. rewrite minus_IZR.
  apply Rmult_le_reg_r with (2 * s); [lra|].
  unfold Rdiv; rewrite Rmult_plus_distr_r, !Rmult_assoc, Rinv_l by lra. unfold Rsqr; nra.
Qed.

(** All weights outside of the window [left, left + n) together. *)
Lemma tilted_tails s t r1 r2 left n l :
  0 < s -> r1 < 1 -> r2 < 1 ->
  exp (- (2 * (IZR (left + Z.of_nat n) + t) + 1) / (2 * s)) <= r1 ->
  exp (- (1 - 2 * (IZR (left - 1) + t)) / (2 * s)) <= r2 ->
  NoDup l -> (forall x, In x l -> ~ In x (zlist left n)) ->
  lsum (tilted s t) l
  <= tilted s t (left + Z.of_nat n) / (1 - r1) + tilted s t (left - 1) / (1 - r2).
Proof.
  intros Hs Hr1 Hr2 E1 E2 Hl Hout.
  rewrite (lsum_filter_split _ (fun x => (left <=? x)%Z)); apply Rplus_le_compat.
  - apply geometric_tail_right; try apply tilted_nonneg.
    + split; [|assumption]. eapply Rle_trans; [left; apply exp_pos | exact E1].
    + intros x Hx; now apply (tilted_falls_right s t r1 (left + Z.of_nat n)).
    + now apply NoDup_filter.
    + intros x Hx; apply filter_In in Hx; destruct Hx as [Hx Hle%Z.leb_le].
      specialize (Hout x Hx); rewrite in_zlist in Hout; lia.
  - apply geometric_tail_left; try apply tilted_nonneg.
    + split; [|assumption]. eapply Rle_trans; [left; apply exp_pos | exact E2].
    + intros x Hx; now apply (tilted_falls_left s t r2 (left - 1)).
    + now apply NoDup_filter.
    + intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx].
      destruct (Z.leb_spec left x); [discriminate | lia].
Qed.

(** ** One count *)

Section Step.
  Variables (c h : R) (g : Z -> R).
  Let a := c * h.

  (** The value at [k], tilted, in units of exp(c^2 rho). *)
  Definition walked (cms : steps) (A : nat) (k : Z) : R :=
    value cms g A k * exp (- (a * IZR k)) * exp (- (c² * rho (counts cms))).

  Lemma walked_nil A k : walked [] A k = g k * exp (- (a * IZR k)).
  Proof. unfold walked; cbn; rewrite Rmult_0_r, Ropp_0, exp_0; lra. Qed.

  Lemma walked_cons ct m rest A k :
    0 < sigma2 ct -> IZR (shift ct) = IZR m * h * sigma2 ct ->
    walked ((ct, m) :: rest) A k
    = lsum (fun x => tilted (sigma2 ct) (c * IZR (shift ct)) x / mass (sigma2 ct) * walked rest A (k - m * x))
           (range A).
  Proof.
    intros Hs Hm; unfold walked; cbn [value].
    rewrite <- !lsum_scale_r; apply lsum_ext; intros x.
    change (rho (counts ((ct, m) :: rest))) with (IZR (shift ct) ^ 2 / (2 * sigma2 ct) + rho (counts rest)).
    unfold P1, gaussian, weight, tilted.
    replace (exp (- (IZR x + c * IZR (shift ct))² / (2 * sigma2 ct)))
      with (exp (- (IZR x)² / (2 * sigma2 ct)) * (exp (- (a * IZR k)) * (exp (a * IZR (k - m * x))
            * exp (- (c² * (IZR (shift ct) ^ 2 / (2 * sigma2 ct))))))).
    2: { rewrite <- !exp_plus; f_equal. unfold a; rewrite Hm, minus_IZR, mult_IZR; unfold Rsqr; field; lra. }
    rewrite Rmult_plus_distr_l, Ropp_plus_distr, exp_plus.
    assert (E : exp (a * IZR (k - m * x)) * exp (- (a * IZR (k - m * x))) = 1)
      by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
    set (w := exp (- (IZR x)² / (2 * sigma2 ct))); set (v := value rest g A (k - m * x)).
    set (e1 := exp (a * IZR (k - m * x))) in *; set (e2 := exp (- (a * IZR (k - m * x)))) in *.
    set (e3 := exp (- (a * IZR k))); set (e4 := exp (- (c² * (IZR (shift ct) ^ 2 / (2 * sigma2 ct))))).
    set (e5 := exp (- (c² * rho (counts rest)))).
    unfold Rdiv; transitivity (w * / mass (sigma2 ct) * v * e3 * (e4 * e5) * (e1 * e2)); [rewrite E|]; ring.
  Qed.

  (** If [u] bounds the walk so far, its mean under any upper bounds of the tilted law bounds the walk with one more count. *)
  Theorem walk_step ct m rest left n (hat : Z -> R) tau (u : Z -> R) top :
    0 < sigma2 ct -> IZR (shift ct) = IZR m * h * sigma2 ct ->
    (forall A k, walked rest A k <= u k) -> (forall k, 0 <= u k <= top) ->
    (forall x, In x (zlist left n) -> tilted (sigma2 ct) (c * IZR (shift ct)) x / mass (sigma2 ct) <= hat x) ->
    (forall l, NoDup l -> (forall x, In x l -> ~ In x (zlist left n)) ->
               lsum (fun x => tilted (sigma2 ct) (c * IZR (shift ct)) x / mass (sigma2 ct)) l <= tau) ->
    forall A k, walked ((ct, m) :: rest) A k
                <= lsum (fun x => hat x * u (k - m * x)%Z) (zlist left n) + tau * top.
  Proof.
    intros Hs Hm Hu Hpos Hhat Htau A k; rewrite walked_cons by assumption.
    set (q := fun x => tilted (sigma2 ct) (c * IZR (shift ct)) x / mass (sigma2 ct)) in *.
    assert (Hq : forall x, 0 <= q x).
    { intros x; apply Rmult_le_pos; [apply tilted_nonneg | left; now apply Rinv_0_lt_compat, mass_pos]. }
    set (inside := fun x => if in_dec Z.eq_dec x (zlist left n) then true else false).
    apply Rle_trans with (lsum (fun x => q x * u (k - m * x)%Z) (range A)).
    { apply lsum_le; intros x; now apply Rmult_le_compat_l. }
    rewrite (lsum_filter_split _ inside); apply Rplus_le_compat.
    - apply Rle_trans with (lsum (fun x => q x * u (k - m * x)%Z) (zlist left n)).
      + apply lsum_incl.
        * intros x; apply Rmult_le_pos; [apply Hq | apply Hpos].
        * apply NoDup_filter, NoDup_range.
        * intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold inside in Hx.
          destruct (in_dec _ _ _); [assumption | discriminate].
      + apply lsum_le_in; intros x Hx; apply Rmult_le_compat_r; [apply Hpos | now apply Hhat].
    - apply Rle_trans with (lsum q (filter (fun x => negb (inside x)) (range A)) * top).
      + rewrite <- lsum_scale_r; apply lsum_le; intros x; apply Rmult_le_compat_l; [apply Hq | apply Hpos].
      + apply Rmult_le_compat_r; [destruct (Hpos k); lra|].
        apply Htau; [apply NoDup_filter, NoDup_range|].
        intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold inside in Hx.
        destruct (in_dec _ _ _); [discriminate | assumption].
  Qed.
End Step.

(** ** The end of the walk *)

Theorem delta_at_most_walked c h eps cms b :
  on_lattice h cms ->
  (forall A, walked c h (gain h eps (counts cms)) cms A 0 <= b) ->
  delta (counts cms) eps <= exp (c² * rho (counts cms)) * b.
Proof.
  intros H Hb; apply (delta_at_most h); [assumption|]; intros A.
  specialize (Hb A); unfold walked in Hb.
  rewrite Rmult_0_r, Ropp_0, exp_0, Rmult_1_r in Hb.
  set (v := value _ _ _ _) in *; set (r := c² * rho (counts cms)) in *.
  replace v with (exp r * (v * exp (- r))).
  - apply Rmult_le_compat_l; [left; apply exp_pos | assumption].
  - rewrite (Rmult_comm v), <- Rmult_assoc, <- exp_plus, Rplus_opp_r, exp_0; ring.
Qed.
