(** * Fixed-point bounds of exp(-y)

    Integers v stand for v / 2^p. Only two facts on the exponential are used: 1 - z <= exp(-z) <= 1 / (1 + z) and
    exp(-2 z) = exp(-z)^2. With z = y / 2^r the relative error of the bounds is about y^2 / 2^(r + 1), before rounding. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From DpAssay Require Import Gaussian.
Open Scope R_scope.

(** [two_to p] is 2^p. *)
Definition two_to (p : positive) : Z := (2 ^ Zpos p)%Z.

Lemma two_to_pos p : (0 < two_to p)%Z.
Proof. apply Z.pow_pos_nonneg; lia. Qed.

Lemma two_to_pos_R p : 0 < IZR (two_to p).
Proof. apply IZR_lt, two_to_pos. Qed.

(** [v] is an upper, or a lower, bound of [x] in units of 2^-p. *)
Definition above (p : positive) (x : R) (v : Z) : Prop := x * IZR (two_to p) <= IZR v.
Definition below (p : positive) (x : R) (v : Z) : Prop := IZR v <= x * IZR (two_to p).

(** ** Rounded quotients *)

Definition quotient_up (a b : Z) : Z := (a / b + 1)%Z.
Definition quotient_down (a b : Z) : Z := (a / b)%Z.

Lemma quotient_up_bound a b : (0 < b)%Z -> IZR a / IZR b <= IZR (quotient_up a b).
Proof.
  intros Hb; assert (H : (a < b * quotient_up a b)%Z).
  { unfold quotient_up; generalize (Z.mul_succ_div_gt a b Hb); lia. }
  apply IZR_lt in H; rewrite mult_IZR in H; apply IZR_lt in Hb.
  apply Rmult_le_reg_r with (IZR b); [assumption|].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
Qed.

Lemma quotient_down_bound a b : (0 < b)%Z -> IZR (quotient_down a b) <= IZR a / IZR b.
Proof.
  intros Hb; assert (H := Z.mul_div_le a b Hb).
  apply IZR_le in H; rewrite mult_IZR in H; apply IZR_lt in Hb.
  apply Rmult_le_reg_r with (IZR b); [assumption|].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; unfold quotient_down; lra.
Qed.

(** Division by 2^p, by a shift. *)
Definition scale_up (p : positive) (a : Z) : Z := (Z.shiftr a (Zpos p) + 1)%Z.
Definition scale_down (p : positive) (a : Z) : Z := Z.shiftr a (Zpos p).

Lemma scale_up_bound p a : IZR a / IZR (two_to p) <= IZR (scale_up p a).
Proof.
  unfold scale_up; rewrite Z.shiftr_div_pow2 by lia. apply (quotient_up_bound a (two_to p)), two_to_pos.
Qed.

Lemma scale_down_bound p a : IZR (scale_down p a) <= IZR a / IZR (two_to p).
Proof.
  unfold scale_down; rewrite Z.shiftr_div_pow2 by lia. apply (quotient_down_bound a (two_to p)), two_to_pos.
Qed.

(** Products of bounds. *)
Lemma above_mult p x y v w :
  0 <= x -> 0 <= y -> above p x v -> above p y w -> above p (x * y) (scale_up p (v * w)).
Proof.
  unfold above; intros Hx Hy Hv Hw; assert (Hu := two_to_pos_R p); set (u := IZR (two_to p)) in *.
  eapply Rle_trans; [|apply scale_up_bound]. fold u; rewrite mult_IZR.
  apply Rmult_le_reg_r with u; [assumption|].
  unfold Rdiv; rewrite (Rmult_assoc _ (/ u) u), Rinv_l, Rmult_1_r by lra.
  replace (x * y * u * u) with ((x * u) * (y * u)) by ring.
  apply Rmult_le_compat; try assumption; apply Rmult_le_pos; lra.
Qed.

Lemma below_mult p x y v w :
  (0 <= v)%Z -> (0 <= w)%Z -> below p x v -> below p y w -> below p (x * y) (scale_down p (v * w)).
Proof.
  unfold below; intros Hv0 Hw0 Hv Hw; assert (Hu := two_to_pos_R p); set (u := IZR (two_to p)) in *.
  eapply Rle_trans; [apply scale_down_bound|]. fold u; rewrite mult_IZR.
  apply Rmult_le_reg_r with u; [assumption|].
  unfold Rdiv; rewrite (Rmult_assoc _ (/ u) u), Rinv_l, Rmult_1_r by lra.
  replace (x * y * u * u) with ((x * u) * (y * u)) by ring.
  apply IZR_le in Hv0, Hw0; apply Rmult_le_compat; assumption.
Qed.

Lemma scale_down_nonneg p a : (0 <= a)%Z -> (0 <= scale_down p a)%Z.
Proof. intros H; unfold scale_down; now apply Z.shiftr_nonneg. Qed.

(** ** The exponential *)

Fixpoint square_up (p : positive) (r : nat) (v : Z) : Z :=
  match r with O => v | S r' => square_up p r' (scale_up p (v * v)) end.

Fixpoint square_down (p : positive) (r : nat) (v : Z) : Z :=
  match r with O => v | S r' => square_down p r' (scale_down p (v * v)) end.

(** Bounds of exp(- num / den) with [r] squarings. *)
Definition exp_up (p : positive) (r : nat) (num den : Z) : Z :=
  let d := (den * 2 ^ Z.of_nat r)%Z in
  square_up p r (quotient_up (two_to p * d) (d + num)).

Definition exp_down (p : positive) (r : nat) (num den : Z) : Z :=
  let d := (den * 2 ^ Z.of_nat r)%Z in
  square_down p r (quotient_down (two_to p * Z.max 0 (d - num)) d).

Lemma square_up_bound p r z v :
  above p (exp (- z)) v -> above p (exp (- (z * 2 ^ r))) (square_up p r v).
Proof.
  revert z v; induction r as [|r IH]; intros z v H; cbn [square_up pow].
  - now rewrite Rmult_1_r.
  - replace (z * (2 * 2 ^ r)) with ((z + z) * 2 ^ r) by ring.
    apply IH; rewrite Ropp_plus_distr, exp_plus.
    apply above_mult; try assumption; left; apply exp_pos.
Qed.

Lemma square_down_bound p r z v :
  (0 <= v)%Z -> below p (exp (- z)) v ->
  below p (exp (- (z * 2 ^ r))) (square_down p r v) /\ (0 <= square_down p r v)%Z.
Proof.
  revert z v; induction r as [|r IH]; intros z v Hv H; cbn [square_down pow].
  - now rewrite Rmult_1_r.
  - replace (z * (2 * 2 ^ r)) with ((z + z) * 2 ^ r) by ring.
    apply IH.
    + apply scale_down_nonneg; nia.
    + rewrite Ropp_plus_distr, exp_plus. now apply below_mult.
Qed.

Lemma pow2_IZR r : IZR (2 ^ Z.of_nat r) = 2 ^ r.
Proof. now rewrite <- pow_IZR. Qed.

Theorem exp_up_bound p r num den :
  (0 <= num)%Z -> (0 < den)%Z -> above p (exp (- (IZR num / IZR den))) (exp_up p r num den).
Proof.
  intros Hn Hd; unfold exp_up; set (d := (den * 2 ^ Z.of_nat r)%Z).
  assert (Hp : (0 < 2 ^ Z.of_nat r)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (Hd' : (0 < d)%Z) by (unfold d; nia).
  assert (E : IZR num / IZR den = IZR num / IZR d * 2 ^ r).
  { unfold d; rewrite mult_IZR, <- pow2_IZR. apply IZR_lt in Hp, Hd. field; lra. }
  rewrite E; apply square_up_bound; unfold above.
  eapply Rle_trans; [|apply quotient_up_bound; lia].
  apply IZR_lt in Hd'; apply IZR_le in Hn; rewrite mult_IZR, plus_IZR.
  assert (Hu := two_to_pos_R p).
  assert (Hz : 0 <= IZR num / IZR d) by (apply Rmult_le_pos; [assumption | left; now apply Rinv_0_lt_compat]).
  rewrite exp_Ropp.
  assert (Hone := exp_ineq1_le (IZR num / IZR d)).
  replace (IZR (two_to p) * IZR d / (IZR d + IZR num)) with (/ (1 + IZR num / IZR d) * IZR (two_to p)).
  - apply Rmult_le_compat_r; [lra|]. apply Rinv_le_contravar; lra.
  - field; split; lra.
Qed.

Theorem exp_down_bound p r num den :
  (0 <= num)%Z -> (0 < den)%Z ->
  below p (exp (- (IZR num / IZR den))) (exp_down p r num den) /\ (0 <= exp_down p r num den)%Z.
Proof.
  intros Hn Hd; unfold exp_down; set (d := (den * 2 ^ Z.of_nat r)%Z).
  assert (Hp : (0 < 2 ^ Z.of_nat r)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (Hd' : (0 < d)%Z) by (unfold d; nia).
  assert (E : IZR num / IZR den = IZR num / IZR d * 2 ^ r).
  { unfold d; rewrite mult_IZR, <- pow2_IZR. apply IZR_lt in Hp, Hd. field; lra. }
  assert (Hu := two_to_pos p).
  rewrite E; apply square_down_bound.
  - apply Z.div_pos; [apply Z.mul_nonneg_nonneg|]; lia.
  - unfold below; eapply Rle_trans; [apply quotient_down_bound; lia|].
    rewrite mult_IZR. apply IZR_lt in Hu, Hd'.
    replace (IZR (two_to p) * IZR (Z.max 0 (d - num)) / IZR d)
      with (IZR (Z.max 0 (d - num)) / IZR d * IZR (two_to p)) by (field; lra).
    apply Rmult_le_compat_r; [lra|].
    apply Z.max_case_strong; intros Hm.
    + unfold Rdiv; rewrite Rmult_0_l; left; apply exp_pos.
    + rewrite minus_IZR. replace ((IZR d - IZR num) / IZR d) with (1 + - (IZR num / IZR d)) by (field; lra).
      apply exp_ineq1_le.
Qed.

(** The same for an exponent of any sign: exp(y) = 1 / exp(-y). There is none where that of exp(-y) is zero. *)
Definition exp_up_signed (p : positive) (r : nat) (num den : Z) : option Z :=
  if (0 <=? num)%Z then Some (exp_up p r num den)
  else let v := exp_down p r (- num) den in
       if (0 <? v)%Z then Some (quotient_up (two_to p * two_to p) v) else None.

Theorem exp_up_signed_bound p r num den v :
  (0 < den)%Z -> exp_up_signed p r num den = Some v -> above p (exp (- (IZR num / IZR den))) v.
Proof.
  intros Hd; unfold exp_up_signed.
  destruct (Z.leb_spec 0 num) as [Hn|Hn]; [intros [= <-]; now apply exp_up_bound|].
  destruct (Z.ltb_spec 0 (exp_down p r (- num) den)) as [Hv|]; [|discriminate]; intros [= <-].
  destruct (exp_down_bound p r (- num) den ltac:(lia) Hd) as [Hb _]; unfold above, below in *.
  set (w := exp_down p r (- num) den) in *.
  assert (Hw := IZR_lt _ _ Hv); assert (Hu := two_to_pos_R p); set (u := IZR (two_to p)) in *.
  eapply Rle_trans; [|now apply quotient_up_bound]. rewrite mult_IZR; fold u.
  replace (- (IZR num / IZR den)) with (- - (IZR (- num) / IZR den))
    by (rewrite opp_IZR; apply IZR_lt in Hd; field; lra).
  rewrite exp_Ropp. set (e := exp (- (IZR (- num) / IZR den))) in *.
  assert (He : 0 < e) by apply exp_pos.
  apply Rmult_le_reg_r with (e * IZR w); [now apply Rmult_lt_0_compat|].
  replace (/ e * u * (e * IZR w)) with (u * IZR w) by (field; lra).
  replace (u * u / IZR w * (e * IZR w)) with (u * (e * u)) by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.

Definition exp_down_signed (p : positive) (r : nat) (num den : Z) : Z :=
  if (0 <=? num)%Z then exp_down p r num den
  else quotient_down (two_to p * two_to p) (exp_up p r (- num) den).

Theorem exp_down_signed_bound p r num den :
  (0 < den)%Z ->
  below p (exp (- (IZR num / IZR den))) (exp_down_signed p r num den) /\ (0 <= exp_down_signed p r num den)%Z.
Proof.
  intros Hd; unfold exp_down_signed.
  destruct (Z.leb_spec 0 num) as [Hn|Hn]; [now apply exp_down_bound|].
  assert (Hb := exp_up_bound p r (- num) den ltac:(lia) Hd); unfold above, below in *.
  set (w := exp_up p r (- num) den) in *.
  assert (Hu := two_to_pos_R p); set (u := IZR (two_to p)) in *.
  set (e := exp (- (IZR (- num) / IZR den))) in *.
  assert (He : 0 < e) by apply exp_pos.
  assert (Hw' : 0 < IZR w) by (apply Rlt_le_trans with (e * u); [now apply Rmult_lt_0_compat | assumption]).
  assert (Hw := lt_IZR _ _ Hw'). split.
  - eapply Rle_trans; [now apply quotient_down_bound|]. rewrite mult_IZR; fold u.
    replace (- (IZR num / IZR den)) with (- - (IZR (- num) / IZR den))
      by (rewrite opp_IZR; apply IZR_lt in Hd; field; lra).
    rewrite exp_Ropp; fold e.
    apply Rmult_le_reg_r with (e * IZR w); [now apply Rmult_lt_0_compat|].
    replace (/ e * u * (e * IZR w)) with (u * IZR w) by (field; lra).
    replace (u * u / IZR w * (e * IZR w)) with (u * (e * u)) by (field; lra).
    apply Rmult_le_compat_l; lra.
  - apply Z.div_pos; [|assumption]. generalize (two_to_pos p); nia.
Qed.
