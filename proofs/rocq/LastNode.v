(** * The nodes beyond the last one

    (E) of proofs/README.md: the kernel beyond the last node, and the sum over the nodes of a factor whose angle advances by at most a turn
    a node. The values of such a factor add up to at most its integral and half of its variation more: it rises and falls once in a turn. *)

From Coq Require Import Reals ZArith Lra Lia Psatz Machin.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Fourier Contour.
Import ListNotations.
Open Scope R_scope.

(** ** The kernel *)

Lemma PI_at_most : PI <= 3.15.
Proof.
  destruct (PI_2_3_7_ineq 1) as [_ H].
  unfold tg_alt, PI_2_3_7_tg, Ratan_seq in H; cbn [Nat.mul Nat.add sum_f_R0 pow INR] in H. lra.
Qed.

(** 1 / sin(phi)^2 <= 1 / phi^2 + 0.9 up to pi / 2. *)
Lemma sine_at_least x : 0 < x -> x <= PI / 2 -> x * x <= (1 + 0.9 * (x * x)) * (sin x * sin x).
Proof.
  intros H0 H1. assert (HP := PI_at_most). assert (Hx : x <= 1.575) by lra.
  assert (H := sin_bound x 0 ltac:(lra) ltac:(lra)). destruct H as [H _]. cbn in H.
  assert (H2 : x * (1 - x * x / 6) <= sin x).
  { eapply Rle_trans; [|exact H]. right; unfold sin_approx, sin_term; cbn; field. }
  set (w := x * x) in *. assert (Hw : 0 < w <= 2.49) by (unfold w; split; nra).
  assert (H3 : 0 <= x * (1 - w / 6)) by (apply Rmult_le_pos; lra).
  assert (H4 : (x * (1 - w / 6)) * (x * (1 - w / 6)) <= sin x * sin x) by (apply Rmult_le_compat; assumption).
  apply Rle_trans with ((1 + 0.9 * w) * ((x * (1 - w / 6)) * (x * (1 - w / 6)))); [|apply Rmult_le_compat_l; lra].
  replace ((x * (1 - w / 6)) * (x * (1 - w / 6))) with (w * ((1 - w / 6) * (1 - w / 6))) by (unfold w; ring).
  replace 0.9 with (9 / 10) by lra.
  assert (H5 : 1 <= (1 + 9 / 10 * w) * ((1 - w / 6) * (1 - w / 6))).
  { replace ((1 + 9 / 10 * w) * ((1 - w / 6) * (1 - w / 6))) with (1 + w * (17 / 30 - 49 / 180 * w + w * w / 40)) by field.
    assert (0 <= (2.49 - w) * (49 / 180 - (w + 2.49) / 40)) by (apply Rmult_le_pos; lra).
    assert (0 <= w * (17 / 30 - 49 / 180 * w + w * w / 40)) by (apply Rmult_le_pos; lra). lra. }
  nra.
Qed.

Theorem kernel_beyond (N : nat) a h eps r lo j :
  0 < a -> 0 < h -> eps <= r + h * IZR lo -> r + h * IZR (lo - 1) <= eps -> (0 < j)%nat -> (2 * j <= N)%nat ->
  Cmod (kernel N a h eps r lo j) <= exp (- (a * IZR lo)) * h * ((INR N / (2 * PI * INR j))² + 0.9).
Proof.
  intros Ha Hh Hlo Hbelow Hj HjN. assert (HN : (0 < N)%nat) by lia.
  assert (HN' := lt_0_INR N HN). assert (Hj' := lt_0_INR j Hj). assert (HP := PI_RGT_0). assert (HP1 := PI_at_most).
  set (phi := 2 * PI * (INR j / INR N)).
  assert (Hq : 0 < INR j / INR N <= 1 / 2).
  { split; [now apply Rdiv_lt_0_compat|]. apply Rmult_le_reg_r with (INR N); [assumption|].
    unfold Rdiv at 1; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. apply le_INR in HjN; rewrite mult_INR in HjN; cbn in HjN; lra. }
  assert (Hphi : 0 < phi <= PI) by (unfold phi; split; nra).
  replace (INR N / (2 * PI * INR j)) with (/ phi) by (unfold phi; field; repeat split; lra).
  (* The distance: sin(phi) up to pi / 2, and 1 beyond. *)
  assert (Hd : exists d, 0 < d /\ / (d * d) <= (/ phi)² + 0.9
               /\ forall t, d <= Cmod (1 - wave N t j (-1))%C).
  { destruct (Rle_lt_dec phi (PI / 2)) as [Hs|Hs].
    - exists (sin phi). assert (Hsin : 0 < sin phi) by (apply sin_gt_0; lra). split; [assumption|]. split.
      + assert (H := sine_at_least phi ltac:(lra) Hs). unfold Rsqr. replace 0.9 with (9 / 10) in * by lra.
        apply Rmult_le_reg_r with ((phi * phi) * (sin phi * sin phi)); [apply Rmult_lt_0_compat; apply Rmult_lt_0_compat; lra|].
        replace (/ (sin phi * sin phi) * ((phi * phi) * (sin phi * sin phi))) with (phi * phi) by (field; lra).
        replace ((/ phi * / phi + 9 / 10) * ((phi * phi) * (sin phi * sin phi))) with ((1
          + 9 / 10 * (phi * phi)) * (sin phi * sin phi)) by (field; lra).
        exact H.
      + intros t. rewrite series_distance by assumption. fold phi. set (e := exp (- t)).
        rewrite <- (sqrt_square (sin phi)) by lra. apply sqrt_le_1_alt.
        assert (E := sin2_cos2 phi); unfold Rsqr in E. assert (H := Rle_0_sqr (e - cos phi)). unfold Rsqr in H. lra.
    - exists 1. split; [lra|]. split.
      + rewrite Rmult_1_l, Rinv_1. assert (Hi : / PI <= / phi) by (apply Rinv_le_contravar; lra).
        assert (Hi0 : 0.317 <= / PI).
        { apply Rmult_le_reg_r with PI; [assumption|]. rewrite Rinv_l by lra. lra. }
        unfold Rsqr. assert (0.317 * 0.317 <= / phi * / phi) by (apply Rmult_le_compat; lra). lra.
      + intros t. rewrite series_distance by assumption. fold phi. set (e := exp (- t)). assert (He : 0 < e) by apply exp_pos.
        rewrite <- sqrt_1 at 1. apply sqrt_le_1_alt. assert (Hc : cos phi <= 0) by (apply cos_le_0; lra). nra. }
  destruct Hd as (d & Hd & Hinv & Hfar).
  apply Rle_trans with (exp (- (a * IZR lo)) * h * / (d * d)).
  - now apply kernel_by_distance.
  - apply Rmult_le_compat_l; [|assumption]. apply Rmult_le_pos; [left; apply exp_pos | lra].
Qed.

(** ** The values of a periodic function at equal distances *)

Section Spaced.
  Variables (f f' : R -> R) (mean rise : R).
  Hypothesis Hdiff : forall x, is_derive f x (f' x).
  Hypothesis Hcont : forall x, continuous f' x.
  Hypothesis Hperiod : forall x, f (x + 1) = f x.
  Hypothesis Hperiod' : forall x, f' (x + 1) = f' x.
  Hypothesis Hbounds : forall x, 0 <= f x <= 1.
  Hypothesis Hmean : is_RInt f 0 1 mean.
  Hypothesis Hrise : is_RInt (fun x => Rabs (f' x)) 0 1 rise.

  Let f_continuous x : continuous f x.
  Proof. apply (ex_derive_continuous f); eexists; apply Hdiff. Qed.

  Let abs_continuous x : continuous (fun y => Rabs (f' y)) x.
  Proof. apply (continuous_comp f' Rabs); [apply Hcont | apply continuous_Rabs]. Qed.

  Let integrable (g : R -> R) : (forall x, continuous g x) -> forall a b, ex_RInt g a b.
  Proof. intros H a b; apply (ex_RInt_continuous g); intros; apply H. Qed.

  (** The integral over any whole number of turns. *)
  Let turns (g : R -> R) (m : R) : (forall x, continuous g x) -> (forall x, g (x + 1) = g x) -> is_RInt g 0 1 m ->
    forall (k : nat) x, RInt g x (x + INR k) = INR k * m.
  Proof.
    intros Hg Hper Hm. assert (Hex := integrable g Hg).
    assert (Hone : forall x, RInt g x (x + 1) = m).
    { intros x. rewrite <- (is_RInt_unique g 0 1 m Hm).
      assert (E : RInt g 1 (x + 1) = RInt g 0 x).
      { transitivity (RInt g (1 * 0 + 1) (1 * x + 1)); [f_equal; ring|].
        rewrite <- (RInt_comp_lin g 1 1 0 x (Hex _ _)). apply RInt_ext; intros y _.
        change (1 * g (1 * y + 1) = g y). now rewrite Rmult_1_l, Rmult_1_l, Hper. }
      rewrite <- (RInt_Chasles g x 1 (x + 1)) by apply Hex. rewrite E, <- (RInt_Chasles g 0 x 1) by apply Hex. apply Rplus_comm. }
    induction k as [|k IH]; intros x.
    - cbn [INR]. rewrite Rplus_0_r, RInt_point, Rmult_0_l. reflexivity.
    - rewrite S_INR, <- Rplus_assoc, <- (RInt_Chasles g x (x + INR k) (x + INR k + 1)) by apply Hex. rewrite IH, Hone.
      change (INR k * m + m = (INR k + 1) * m). ring.
  Qed.

  (** Half of the sum of two values, times their distance, is at most the integral and half of the variation. *)
  Let two_values x y : x <= y ->
    (y - x) * (f x + f y) <= 2 * RInt f x y + (y - x) * RInt (fun z => Rabs (f' z)) x y.
  Proof.
    intros Hxy. assert (Hf := integrable f f_continuous). assert (Ha := integrable _ abs_continuous).
    assert (Hvar : forall p q, p <= q -> Rabs (f q - f p) <= RInt (fun z => Rabs (f' z)) p q).
    { intros p q Hpq. rewrite <- (is_RInt_unique f' p q (f q - f p)).
      - apply (abs_RInt_le f' p q Hpq). now apply integrable.
      - apply (is_RInt_derive f f' p q); intros; [apply Hdiff | apply Hcont]. }
    set (V := RInt (fun z => Rabs (f' z)) x y).
    assert (Hpoint : forall z, x <= z <= y -> f x + f y - V <= 2 * f z).
    { intros z Hz. assert (H1 := Hvar x z ltac:(lra)). assert (H2 := Hvar z y ltac:(lra)).
      assert (E : V = RInt (fun z => Rabs (f' z)) x z + RInt (fun z => Rabs (f' z)) z y) by (unfold V;
        rewrite <- (RInt_Chasles _ x z y) by apply Ha; reflexivity).
      apply Rabs_le_between in H1, H2. lra. }
    assert (H : RInt (fun _ => f x + f y - V) x y <= RInt (fun z => 2 * f z) x y).
    { apply RInt_le; [assumption | apply ex_RInt_const | |].
      - apply (ex_RInt_scal f x y 2), Hf.
      - intros z Hz; apply Hpoint; lra. }
    rewrite RInt_const in H. change (scal (y - x) (f x + f y - V)) with ((y - x) * (f x + f y - V)) in H.
    assert (E : RInt (fun z => 2 * f z) x y = 2 * RInt f x y) by (apply (RInt_scal f x y 2), Hf).
    rewrite E in H. lra.
  Qed.

  Let values_add_up x step n : 0 < step ->
    step * lsum (fun i => f (x + INR i * step)) (seq 0 (S n))
    <= step + RInt f x (x + INR n * step) + step / 2 * RInt (fun z => Rabs (f' z)) x (x + INR n * step).
  Proof.
    intros Hstep. assert (Hf := integrable f f_continuous). assert (Ha := integrable _ abs_continuous).
    assert (Hhalf : forall k, step * (lsum (fun i => f (x + INR i * step)) (seq 0 (S k)) - f x / 2 - f (x + INR k * step) / 2)
      <= RInt f x (x + INR k * step) + step / 2 * RInt (fun z => Rabs (f' z)) x (x + INR k * step)).
    { induction k as [|k IH].
      - cbn [seq lsum INR]. replace (x + 0 * step) with x by ring. rewrite !RInt_point. change (@zero R_CompleteNormedModule) with 0. lra.
      - rewrite seq_S, lsum_app; cbn [lsum Nat.add].
        assert (E : x + INR (S k) * step = x + INR k * step + step) by (rewrite S_INR; ring). rewrite E.
        set (p := x + INR k * step) in *. assert (H := two_values p (p + step) ltac:(lra)).
        replace (p + step - p) with step in H by ring.
        rewrite <- (RInt_Chasles f x p (p + step)), <- (RInt_Chasles (fun z => Rabs (f' z)) x p (p + step)) by (apply Hf || apply Ha).
        change plus with Rplus. set (L := lsum _ (seq 0 (S k))) in *. nra. }
    specialize (Hhalf n). assert (B1 := Hbounds x). assert (B2 := Hbounds (x + INR n * step)). nra.
  Qed.

  Lemma spaced_values x step n : 0 < step -> rise <= 2 ->
    lsum (fun i => f (x + INR i * step)) (seq 0 n) <= (1 + mean / step) * (2 + step * INR n).
  Proof.
    intros Hstep Hr. assert (Hf := integrable f f_continuous). assert (Ha := integrable _ abs_continuous).
    assert (Hm0 : 0 <= mean).
    { rewrite <- (is_RInt_unique f 0 1 mean Hmean). apply RInt_ge_0; [lra | apply Hf | intros; apply Hbounds]. }
    assert (Hq : 0 <= mean / step) by (apply Rmult_le_pos; [assumption | left; now apply Rinv_0_lt_compat]).
    destruct n as [|n]; [cbn [seq lsum INR]; nra|].
    assert (H := values_add_up x step n Hstep).
    set (k := Z.to_nat (up (INR n * step))). assert (Hup := archimed (INR n * step)). assert (Hn := pos_INR n).
    assert (Hk : INR k = IZR (up (INR n * step))).
    { unfold k; rewrite INR_IZR_INZ, Z2Nat.id; [reflexivity|]. apply le_IZR. assert (0 <= INR n * step) by nra. lra. }
    assert (Hlonger : forall g : R -> R, (forall z, continuous g z) -> (forall z, 0 <= g z) -> RInt g x (x + INR n * step)
      <= RInt g x (x + INR k)).
    { intros g Hg Hg0. assert (Hex := integrable g Hg). rewrite <- (RInt_Chasles g x (x + INR n * step) (x + INR k)) by apply Hex.
      assert (0 <= RInt g (x + INR n * step) (x + INR k)) by (apply RInt_ge_0; [lra | apply Hex | intros; apply Hg0]).
      change plus with Rplus. lra. }
    assert (H1 := Hlonger f f_continuous (fun z => proj1 (Hbounds z))). rewrite (turns f mean f_continuous Hperiod Hmean) in H1.
    assert (H2 := Hlonger (fun z => Rabs (f' z)) abs_continuous (fun z => Rabs_pos _)).
    rewrite (turns (fun z => Rabs (f' z)) rise abs_continuous (fun z => f_equal Rabs (Hperiod' z)) Hrise) in H2.
    assert (Hk1 : 0 <= INR k <= INR n * step + 1) by (split; [apply pos_INR | lra]).
    set (L := lsum _ (seq 0 (S n))) in *.
    assert (H3 : step * L <= step + INR k * mean + step * INR k).
    { eapply Rle_trans; [exact H|]. assert (step / 2 * RInt (fun z => Rabs (f' z)) x (x + INR n * step) <= step / 2 * (INR k * 2)).
      { apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [exact H2|]. apply Rmult_le_compat_l; lra. } lra. }
    apply Rmult_le_reg_l with step; [assumption|]. eapply Rle_trans; [exact H3|].
    replace (step * ((1 + mean / step) * (2 + step * INR (S n)))) with ((step + mean) * (2 + step * INR n + step)) by (rewrite S_INR;
      field; lra).
    nra.
  Qed.
End Spaced.

(** Sums with weights that fall: by the partial sums. *)
Lemma sums_by_parts (b c w : nat -> R) m n :
  (forall k, (k <= n)%nat -> lsum b (seq m k) <= lsum c (seq m k)) -> (forall i, 0 <= w i) -> (forall i, (m <= i)%nat -> w (S i) <= w i) ->
  lsum (fun i => b i * w i) (seq m n) <= lsum (fun i => c i * w i) (seq m n).
Proof.
  intros H Hw Hfall.
  assert (E : forall g k, lsum (fun i => g i * w i) (seq m (S k))
                = lsum g (seq m (S k)) * w (m + k)%nat + lsum (fun i => lsum g (seq m (S i)) * (w (m + i)%nat - w (m
                  + S i)%nat)) (seq 0 k)).
  { intros g; induction k as [|k IH]; [cbn; rewrite Nat.add_0_r; ring|].
    rewrite (seq_S (S k) m), !lsum_app, IH. rewrite (seq_S k 0), lsum_app; cbn [lsum Nat.add].
    rewrite (seq_S k m), lsum_app; cbn [lsum]. ring. }
  destruct n as [|n]; [cbn; lra|]. rewrite !E. apply Rplus_le_compat.
  - apply Rmult_le_compat_r; [apply Hw | apply H; lia].
  - apply lsum_le_in; intros i Hi%in_seq. apply Rmult_le_compat_r; [|apply H; lia].
    replace (m + S i)%nat with (S (m + i)) by lia. specialize (Hfall (m + i)%nat ltac:(lia)). lra.
Qed.

Lemma inverse_squares_at_most J n : (0 < J)%nat -> lsum (fun j => / (INR j)²) (seq (S J) n) <= / INR J.
Proof.
  intros HJ. assert (H : forall k, lsum (fun j => / (INR j)²) (seq (S J) k) <= / INR J - / INR (J + k)).
  { induction k as [|k IH]; [rewrite Nat.add_0_r; cbn; lra|]. rewrite seq_S, lsum_app; cbn [lsum].
    assert (H1 : 0 < INR (J + k)) by (apply lt_0_INR; lia).
    replace (S J + k)%nat with (S (J + k)) by lia. replace (J + S k)%nat with (S (J + k)) by lia. rewrite !S_INR.
    set (t := INR (J + k)) in *.
    assert (/ (t + 1)² <= / t - / (t + 1)); [|lra].
    replace (/ t - / (t + 1)) with (/ (t * (t + 1))) by (field; lra). apply Rinv_le_contravar; unfold Rsqr; nra. }
  specialize (H n). assert (0 < / INR (J + n)) by (apply Rinv_0_lt_compat, lt_0_INR; lia). lra.
Qed.

(** ** The factor of the sieve *)

Section Beyond.
  Variable v : R.
  Hypothesis Hv : 0 <= v.

  Let f t := exp (- v * (1 - cos (2 * PI * t))).
  Let f' t := - v * (2 * PI * sin (2 * PI * t)) * f t.

  Let derivative t : is_derive f t (f' t).
  Proof. unfold f', f. auto_derive; [trivial | unfold Rminus; ring]. Qed.

  Let derivative_continuous t : continuous f' t.
  Proof. apply (ex_derive_continuous f'). unfold f', f. auto_derive; trivial. Qed.

  Let one_turn t : cos (2 * PI * (t + 1)) = cos (2 * PI * t) /\ sin (2 * PI * (t + 1)) = sin (2 * PI * t).
  Proof.
    replace (2 * PI * (t + 1)) with (2 * PI * t + 2 * 1 * PI) by ring. change 1 with (INR 1). split; [apply cos_period | apply sin_period].
  Qed.

  Let period t : f (t + 1) = f t.
  Proof. unfold f; now rewrite (proj1 (one_turn t)). Qed.

  Let period' t : f' (t + 1) = f' t.
  Proof. unfold f'; now rewrite (proj2 (one_turn t)), period. Qed.

  Let between t : 0 <= f t <= 1.
  Proof.
    unfold f; split; [left; apply exp_pos|]. apply Rle_trans with (exp 0); [apply exp_mono | rewrite exp_0; lra].
    assert (H := COS_bound (2 * PI * t)). assert (0 <= v * (1 - cos (2 * PI * t))) by (apply Rmult_le_pos; lra). lra.
  Qed.

  (** It falls for half of a turn and rises for the other half. *)
  Let variation : is_RInt (fun t => Rabs (f' t)) 0 1 (2 * (f 0 - f (1 / 2))).
  Proof.
    assert (HP := PI_RGT_0).
    assert (Hpart : forall a b, is_RInt f' a b (f b - f a))
      by (intros a b; apply (is_RInt_derive f f' a b); intros; [apply derivative | apply derivative_continuous]).
    replace (2 * (f 0 - f (1 / 2))) with (plus (opp (f (1 / 2) - f 0)) (f 1 - f (1 / 2))).
    2: { replace (f 1) with (f 0) by (rewrite <- (period 0); f_equal; ring). unfold plus, opp; cbn; ring. }
    apply (is_RInt_Chasles (V := R_NormedModule) (fun t => Rabs (f' t)) 0 (1 / 2) 1).
    - apply (is_RInt_ext (V := R_NormedModule) (fun t => opp (f' t))); [|apply (is_RInt_opp (V := R_NormedModule) f'), Hpart].
      intros t; rewrite Rmin_left, Rmax_right by lra; intros Ht. unfold opp; cbn. symmetry; apply Rabs_left1.
      assert (0 <= sin (2 * PI * t)) by (apply sin_ge_0; nra). assert (Hb := between t). unfold f'.
      assert (0 <= v * (2 * PI * sin (2 * PI * t)) * f t).
      { apply Rmult_le_pos; [apply Rmult_le_pos; [assumption | apply Rmult_le_pos; lra] | lra]. } lra.
    - apply (is_RInt_ext (V := R_NormedModule) f'); [|apply Hpart].
      intros t; rewrite Rmin_left, Rmax_right by lra; intros Ht. symmetry; apply Rabs_right, Rle_ge.
      assert (sin (2 * PI * t) <= 0) by (apply sin_le_0; nra). assert (Hb := between t). unfold f'.
      assert (0 <= v * (2 * PI * - sin (2 * PI * t)) * f t).
      { apply Rmult_le_pos; [apply Rmult_le_pos; [assumption | apply Rmult_le_pos; lra] | lra]. } lra.
  Qed.

  Theorem factors_beyond_last turn mean (J n : nat) :
    0 < turn -> (0 < J)%nat -> is_RInt f 0 1 mean ->
    lsum (fun j => f (turn * INR j) / (INR j)²) (seq (S J) n) <= (1 + mean / turn) * (2 / (INR J)² + turn / INR J).
  Proof.
    intros Ht HJ Hmean. assert (HJ' := lt_0_INR J HJ).
    assert (Hm0 : 0 <= mean).
    { rewrite <- (is_RInt_unique f 0 1 mean Hmean). apply RInt_ge_0; [lra | eexists; exact Hmean | intros; apply between]. }
    set (C := 1 + mean / turn).
    assert (HC : 0 <= C) by (unfold C; assert (0 <= mean / turn) by (apply Rmult_le_pos; [assumption | left;
      now apply Rinv_0_lt_compat]); lra).
    set (w := fun j : nat => / (INR (Init.Nat.max 1 j))²).
    assert (Hw : forall j, (1 <= j)%nat -> w j = / (INR j)²) by (intros j Hj; unfold w; now rewrite Nat.max_r by lia).
    set (c := fun j => if Nat.eqb j (S J) then C * (2 + turn) else C * turn).
    assert (Hc : forall k, lsum c (seq (S J) (S k)) = C * (2 + turn * INR (S k))).
    { induction k as [|k IH].
      - cbn [seq lsum INR]. unfold c; rewrite Nat.eqb_refl. ring.
      - rewrite seq_S, lsum_app, IH; cbn [lsum]. unfold c. destruct (Nat.eqb_spec (S J + S k) (S J)); [lia|]. rewrite (S_INR (S k)). ring. }
    rewrite (lsum_ext_in _ (fun j => f (turn * INR j) * w j)) by (intros j Hj%in_seq; rewrite Hw by lia; reflexivity).
    apply Rle_trans with (lsum (fun j => c j * w j) (seq (S J) n)).
    - apply sums_by_parts.
      + intros [|k] _; [cbn; lra|]. rewrite Hc.
        assert (H := spaced_values f f' mean (2 * (f 0 - f (1 / 2))) derivative derivative_continuous period period' between Hmean variation
                       (turn * INR (S J)) turn (S k) Ht ltac:(generalize (between 0) (between (1 / 2)); lra)).
        fold C in H. eapply Rle_trans; [right | exact H].
        replace (seq (S J) (S k)) with (map (fun i => (S J + i)%nat) (seq 0 (S k))).
        * rewrite lsum_map. apply lsum_ext; intros i. f_equal. rewrite plus_INR; ring.
        * assert (Hseq : forall p d e, map (fun i => (d + i)%nat) (seq e p) = seq (d + e) p).
          { induction p as [|p IH]; intros d e; cbn [seq map]; [reflexivity|]. rewrite IH, Nat.add_succ_r; reflexivity. }
          now rewrite Hseq, Nat.add_0_r.
      + intros j; unfold w; left; apply Rinv_0_lt_compat, Rlt_0_sqr, Rgt_not_eq, lt_0_INR; lia.
      + intros j Hj. rewrite !Hw by lia. assert (0 < INR j) by (apply lt_0_INR; lia). rewrite S_INR.
        apply Rinv_le_contravar; unfold Rsqr; nra.
    - destruct n as [|n].
      + cbn [seq lsum]. apply Rmult_le_pos; [assumption|]. apply Rplus_le_le_0_compat; apply Rmult_le_pos; try lra; left;
          apply Rinv_0_lt_compat; [apply Rlt_0_sqr |]; lra.
      + apply Rle_trans with (C * (2 * / (INR J)²) + C * turn * lsum (fun j => / (INR j)²) (seq (S J) (S n))).
        * rewrite <- lsum_scale. cbn [seq lsum]. unfold c at 1; rewrite Nat.eqb_refl.
          assert (Hfirst : w (S J) <= / (INR J)²).
          { rewrite Hw by lia. rewrite S_INR. apply Rinv_le_contravar; unfold Rsqr; nra. }
          assert (E : lsum (fun j => c j * w j) (seq (S (S J)) n) = lsum (fun j => C * turn * / (INR j)²) (seq (S (S J)) n)).
          { apply lsum_ext_in; intros j Hj%in_seq. rewrite Hw by lia. unfold c. destruct (Nat.eqb_spec j (S J)); [lia | reflexivity]. }
          rewrite E, <- (Hw (S J)) by lia.
          assert (C * (2 * w (S J)) <= C * (2 * / (INR J)²)) by (apply Rmult_le_compat_l; lra). lra.
        * assert (H := inverse_squares_at_most J (S n) HJ).
          assert (C * turn * lsum (fun j => / (INR j)²) (seq (S J) (S n)) <= C * turn * / INR J)
            by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | assumption]).
          replace (C * (2 / (INR J)² + turn / INR J)) with (C * (2 * / (INR J)²) + C * turn * / INR J) by (unfold Rdiv; ring). lra.
  Qed.
End Beyond.

(** (E): the sum over the nodes beyond the last one, of a factor whose angle advances by [turn] turns a node. *)
Theorem factors_beyond v turn mean (J n : nat) :
  0 <= v -> 0 < turn <= 1 -> (0 < J)%nat ->
  is_RInt (fun t => exp (- v * (1 - cos (2 * PI * t)))) 0 1 mean ->
  lsum (fun j => exp (- v * (1 - cos (2 * PI * turn * INR j))) / (INR j)²) (seq (S J) n)
  <= (1 + mean / turn) * (2 / (INR J)² + turn / INR J).
Proof.
  intros Hv Ht HJ Hmean. eapply Rle_trans; [right | apply (factors_beyond_last v Hv turn mean J n ltac:(lra) HJ Hmean)].
  apply lsum_ext; intros j. do 5 f_equal. ring.
Qed.
