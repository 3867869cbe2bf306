(** * A factor by images, and the variance from below

    The constant of Poisson.v is sqrt(2 pi s), so that (A) of proofs/README.md holds in its second form.
    From it follows the lower bound of the
    variance in (C): a little less noise has a mass that is known from both forms. *)

From Coq Require Import Reals ZArith Lra Lia Psatz Machin.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Fourier Tables Theta Signed Jacobi Factor Variance Poisson.
Import ListNotations.
Open Scope R_scope.

(** ** The constant *)

Lemma mass_increases s s' : 0 < s -> s <= s' -> mass s <= mass s'.
Proof.
  intros Hs Hle. apply total_le; [|apply weights_summable; lra]. intros x; unfold weight; apply exp_mono. assert (H := Rle_0_sqr (IZR x)).
  unfold Rdiv; rewrite !Ropp_mult_distr_l_reverse. apply Ropp_le_contravar, Rmult_le_compat_l; [assumption|]. apply Rinv_le_contravar; lra.
Qed.

Lemma constant_pos s : 0 < s -> 0 < constant s.
Proof. intros Hs; apply Rdiv_lt_0_compat; [now apply mass_pos | now apply images_0_pos]. Qed.

(** Noise of s' with odd n is more than noise of s with the odd number below odd n sqrt(s' / s). *)
Lemma constant_grows s s' : 0 < s -> 0 < s' -> sqrt (s' / s) * constant s <= constant s'.
Proof.
  intros Hs Hs'. set (rt := sqrt (s' / s)). assert (Hrt : 0 < rt) by (apply sqrt_lt_R0; now apply Rdiv_lt_0_compat).
  assert (Ert : rt * rt * s = s') by (unfold rt; rewrite sqrt_sqrt by (left; now apply Rdiv_lt_0_compat); field; lra).
  set (p := fun n => Z.to_nat (up ((rt * odd n - 1) / 2) - 1)).
  assert (Hp : forall n, 1 <= rt * odd n -> rt * odd n - 2 <= odd (p n) <= rt * odd n).
  { intros n Hn. destruct (archimed ((rt * odd n - 1) / 2)) as [H1 H2].
    assert (Hup : (0 < up ((rt * odd n - 1) / 2))%Z) by (apply lt_IZR; lra).
    assert (E : odd (p n) = 2 * (IZR (up ((rt * odd n - 1) / 2)) - 1) + 1).
    { unfold p; set (v := up _) in *. unfold odd. rewrite INR_IZR_INZ, Z2Nat.id, minus_IZR by lia. reflexivity. }
    rewrite E; lra. }
  assert (Hlarge : forall c, exists M, forall n, (M <= n)%nat -> c <= rt * odd n).
  { intros c. exists (Z.to_nat (up (c / rt))). intros n Hn. apply le_INR in Hn. rewrite INR_IZR_INZ in Hn.
    assert (Hz : IZR (up (c / rt)) <= IZR (Z.of_nat (Z.to_nat (up (c / rt))))) by (apply IZR_le; lia).
    destruct (archimed (c / rt)) as [H1 _]. assert (Ho : INR n <= odd n) by (unfold odd; generalize (pos_INR n); lra).
    replace c with (rt * (c / rt)) by (field; lra). apply Rmult_le_compat_l; lra. }
  assert (Hlim : is_lim_seq (fun n => odd (p n) * / odd n) rt).
  { apply is_lim_seq_le_le_loc with (u := fun n => rt - 2 * / odd n) (w := fun _ => rt).
    - destruct (Hlarge 1) as [M HM]. exists M; intros n Hn. specialize (Hp n (HM n Hn)). assert (Ho := odd_pos n).
      assert (Hi : 0 < / odd n) by (apply Rinv_0_lt_compat; lra).
      replace (rt - 2 * / odd n) with ((rt * odd n - 2) * / odd n) by (field; lra).
      split; [apply Rmult_le_compat_r; lra|].
      apply Rle_trans with (rt * odd n * / odd n); [apply Rmult_le_compat_r; lra | right; field; lra].
    - replace (Finite rt) with (Finite (rt - 2 * 0)) by (f_equal; ring).
      apply is_lim_seq_minus'; [apply is_lim_seq_const | apply is_lim_seq_mult'; [apply is_lim_seq_const | apply odd_limit]].
    - apply is_lim_seq_const. }
  assert (Hsub : is_lim_seq (fun n => mass (grown s (p n)) / odd (p n)) (constant s)).
  { apply (is_lim_seq_subseq (fun n => mass (grown s n) / odd n) (constant s) p); [|now apply constant_limit].
    intros Q [K HK]. destruct (Hlarge (2 * INR K + 3)) as [M HM]. exists M; intros n Hn. specialize (HM n Hn). apply HK.
    assert (HKpos := pos_INR K). assert (H := Hp n ltac:(lra)). unfold odd at 2 in H. apply INR_le. lra. }
  rewrite Rmult_comm.
  apply (is_lim_seq_le_loc (fun n => mass (grown s (p n)) / odd (p n) * (odd (p n) * / odd n)) (fun n => mass (grown s' n) / odd n)
           (constant s * rt) (constant s')).
  - destruct (Hlarge 1) as [M HM]. exists M; intros n Hn. specialize (Hp n (HM n Hn)). assert (Ho := odd_pos n).
    assert (Ho' := odd_pos (p n)).
    replace (mass (grown s (p n)) / odd (p n) * (odd (p n) * / odd n)) with (mass (grown s (p n)) / odd n) by (field; lra).
    unfold Rdiv; apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
    apply mass_increases; [now apply grown_pos|]. unfold grown. rewrite <- Ert. unfold Rsqr.
    assert (odd (p n) * odd (p n) <= (rt * odd n) * (rt * odd n)) by (apply Rmult_le_compat; lra). nra.
  - now apply is_lim_seq_mult'.
  - now apply constant_limit.
Qed.

Lemma constant_scales s s' : 0 < s -> 0 < s' -> constant s' = sqrt (s' / s) * constant s.
Proof.
  intros Hs Hs'. apply Rle_antisym; [|now apply constant_grows]. assert (H := constant_grows s' s Hs' Hs).
  assert (Hr : 0 < s' / s) by (now apply Rdiv_lt_0_compat).
  assert (Hrt : 0 < sqrt (s' / s)) by (now apply sqrt_lt_R0).
  replace (s / s') with (/ (s' / s)) in H by (field; lra). rewrite sqrt_inv in H.
  apply Rmult_le_compat_l with (r := sqrt (s' / s)) in H; [|lra]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l in H by lra. exact H.
Qed.

(** The noise of the images. *)
Definition dual (s : R) : R := / (4 * PI² * s).

Lemma dual_pos s : 0 < s -> 0 < dual s.
Proof. intros Hs; apply Rinv_0_lt_compat. assert (HP := PI_RGT_0). apply Rmult_lt_0_compat; [unfold Rsqr; nra | assumption]. Qed.

Lemma images_are_dual s : 0 < s -> images s 0 0 = mass (dual s).
Proof.
  intros Hs. assert (Hd := dual_pos s Hs). assert (HP := PI_RGT_0).
  destruct (sigma_of_nonneg Z.eq_dec (weight (dual s))) as [_ E]; [intros; left; apply weight_pos | now apply weights_summable|].
  unfold mass; rewrite <- E. unfold images; apply sigma_ext; intros k. rewrite Rmult_0_l, cos_0, Rmult_1_r.
  unfold weight, dual; f_equal. unfold Rsqr; field. lra.
Qed.

Theorem constant_is s : 0 < s -> constant s = sqrt (2 * PI * s).
Proof.
  intros Hs. assert (Hd := dual_pos s Hs). assert (HP := PI_RGT_0). assert (Hc := constant_pos s Hs).
  assert (Hdd : dual (dual s) = s) by (unfold dual, Rsqr; field; lra).
  assert (E1 : constant s * constant (dual s) = 1).
  { unfold constant. rewrite !images_are_dual, Hdd by assumption. assert (M1 := mass_pos s Hs). assert (M2 := mass_pos _ Hd). field; lra. }
  rewrite (constant_scales s (dual s)) in E1 by assumption.
  assert (E2 : sqrt (dual s / s) = / (2 * PI * s)).
  { assert (Hq : 0 < 2 * PI * s) by (apply Rmult_lt_0_compat; lra).
    replace (dual s / s) with (/ (2 * PI * s) * / (2 * PI * s)) by (unfold dual, Rsqr; field; lra). apply sqrt_square.
    left; now apply Rinv_0_lt_compat. }
  rewrite E2 in E1. rewrite <- (sqrt_square (constant s)) by lra. f_equal.
  assert (E3 : constant s * constant s * / (2 * PI * s) = 1) by lra.
  apply (f_equal (fun z => z * (2 * PI * s))) in E3. rewrite Rmult_assoc, Rinv_l in E3 by (apply Rgt_not_eq; nra). lra.
Qed.

(** ** (A), second form *)

(** The sum F(b) of (A) by images; [factor_re] of Factor.v is the real part of its first form. *)
Definition image_re (s m b : R) (A : nat) : R :=
  sqrt (2 * PI * s) * lsum (fun k => exp (- (s * (b - 2 * PI * IZR k)²) / 2) * cos (m * (b - 2 * PI * IZR k))) (range A).

Theorem factor_by_images s m b : 0 < s -> Lim_seq (factor_re s m b) = Lim_seq (image_re s m b).
Proof.
  intros Hs. assert (HP := PI_RGT_0). set (j := up (b / (2 * PI) - 1 / 2)). set (b0 := b - 2 * PI * IZR j).
  assert (Hb0 : - PI <= b0 <= PI).
  { destruct (archimed (b / (2 * PI) - 1 / 2)) as [H1 H2]. fold j in H1, H2.
    replace b0 with (2 * PI * (b / (2 * PI) - IZR j)) by (unfold b0; field; lra). split; nra. }
  set (term := fun k => exp (- (s * (b - 2 * PI * IZR k)²) / 2) * cos (m * (b - 2 * PI * IZR k))).
  set (near := fun k => exp (- (s * (b0 + 2 * PI * IZR k)² / 2)) * cos (m * (b0 + 2 * PI * IZR k))).
  assert (Enear : forall k, term (j - k)%Z = near k).
  { intros k; unfold term, near, b0. rewrite minus_IZR.
    replace (b - 2 * PI * (IZR j - IZR k)) with (b - 2 * PI * IZR j + 2 * PI * IZR k) by ring.
    f_equal; f_equal; field. }
  destruct (images_absolutely s Hs m b0 Hb0) as [Habs _]. fold near in Habs.
  assert (Hterm : absolutely term).
  { destruct Habs as [c Hc]; exists c; intros l Hl. eapply Rle_trans; [right | apply (Hc (map (fun k => j - k)%Z l))].
    - rewrite lsum_map. apply lsum_ext; intros k. rewrite <- Enear. do 2 f_equal; lia.
    - apply FinFun.Injective_map_NoDup; [intros x y; lia | assumption]. }
  assert (E : sigma term = images s m b0).
  { rewrite <- (sigma_reindexed term (fun k => j - k)%Z (fun k => j - k)%Z); [|intros; lia..|exact Hterm].
    unfold images; fold near. apply sigma_ext, Enear. }
  assert (Hcos : absolutely (fun x => tilted s (- m) x * cos (b * IZR x))) by (apply bounded_absolutely; [assumption | intros;
    apply Rabs_cos]).
  assert (Hre : is_lim_seq (factor_re s m b) (sqrt (2 * PI * s) * sigma term)).
  { rewrite E, <- constant_is, <- by_images by assumption.
    rewrite (sigma_ext (fun x => tilted s (- m) x * cos (b0 * IZR x)) (fun x => tilted s (- m) x * cos (b * IZR x)));
      [now apply sigma_is_limit|].
    intros x; f_equal. unfold b0. replace ((b - 2 * PI * IZR j) * IZR x) with (b * IZR x - 2 * PI * IZR (j * x)) by (rewrite mult_IZR;
      ring).
    assert (T := cis_turns (j * x)). unfold cis in T. injection T as T1 T2. rewrite cos_minus, T1, T2; ring. }
  assert (Him : is_lim_seq (image_re s m b) (sqrt (2 * PI * s) * sigma term)).
  { unfold image_re; fold term. apply (is_lim_seq_scal_l _ (sqrt (2 * PI * s)) (sigma term)). now apply sigma_is_limit. }
  apply is_lim_seq_unique in Hre, Him. now rewrite Hre, Him.
Qed.

(** ** (C), the variance from below *)

Lemma mass_by_images s : 0 < s -> mass s = sqrt (2 * PI * s) * mass (dual s).
Proof.
  intros Hs. rewrite <- constant_is, <- images_are_dual by assumption. unfold constant. assert (H := images_0_pos s Hs). field; lra.
Qed.

Lemma PI_between : 3.1415 <= PI <= 3.1416.
Proof.
  destruct (PI_2_3_7_ineq 2) as [H1 H2].
  unfold tg_alt, PI_2_3_7_tg, Ratan_seq in H1, H2; cbn [Nat.mul Nat.add sum_f_R0 pow INR] in H1, H2. lra.
Qed.

(** exp(-5.91) *)
Lemma exp_at_most : 4 * exp (- 5.91) <= 0.0127.
Proof.
  assert (H : 1.046171 <= exp (5.91 / 128)) by (generalize (exp_ineq1_le (5.91 / 128)); lra).
  assert (Hsq : forall a x, a <= exp x -> forall b, 0 <= a -> b <= a * a -> b <= exp (2 * x)).
  { intros a x Hx b Ha Hb. replace (2 * x) with (x + x) by ring. rewrite exp_plus.
    assert (a * a <= exp x * exp x) by (apply Rmult_le_compat; lra). lra. }
  assert (H1 := Hsq _ _ H 1.09447 ltac:(lra) ltac:(lra)). assert (H2 := Hsq _ _ H1 1.19786 ltac:(lra) ltac:(lra)).
  assert (H3 := Hsq _ _ H2 1.43486 ltac:(lra) ltac:(lra)). assert (H4 := Hsq _ _ H3 2.0588 ltac:(lra) ltac:(lra)).
  assert (H5 := Hsq _ _ H4 4.2386 ltac:(lra) ltac:(lra)). assert (H6 := Hsq _ _ H5 17.96 ltac:(lra) ltac:(lra)).
  assert (H7 := Hsq _ _ H6 322 ltac:(lra) ltac:(lra)).
  replace (2 * (2 * (2 * (2 * (2 * (2 * (2 * (5.91 / 128)))))))) with 5.91 in H7 by lra.
  replace (exp (- 5.91)) with (/ exp 5.91) by (rewrite <- exp_Ropp; f_equal; lra).
  apply Rmult_le_reg_r with (exp 5.91); [apply exp_pos|]. rewrite Rmult_assoc, Rinv_l by (apply Rgt_not_eq, exp_pos). lra.
Qed.

(** The sum of k^2 exp(-a k^2), mostly that of its two largest terms. *)
Lemma squares_of_images a : 1.97 <= a ->
  summable (fun k => (IZR k)² * exp (- (a * (IZR k)²))) /\ total (fun k => (IZR k)² * exp (- (a * (IZR k)²)))
    <= 2 * exp (- a) / (1 - 0.0127).
Proof.
  intros Ha. set (f := fun k => (IZR k)² * exp (- (a * (IZR k)²))).
  assert (Hf : forall k, 0 <= f k) by (intros k; apply Rmult_le_pos; [apply Rle_0_sqr | left; apply exp_pos]).
  assert (Heven : forall k, f (- k)%Z = f k) by (intros k; unfold f; rewrite opp_IZR, <- Rsqr_neg; reflexivity).
  assert (Hstep : forall k, (1 <= k)%Z -> f (k + 1)%Z <= 0.0127 * f k).
  { intros k Hk. apply IZR_le in Hk. unfold f. rewrite plus_IZR. set (x := IZR k) in *.
    replace (- (a * (x + 1)²)) with (- (a * x²) + - (a * (2 * x + 1))) by (unfold Rsqr; ring). rewrite exp_plus.
    assert (H1 : exp (- (a * (2 * x + 1))) <= exp (- 5.91)) by (apply exp_mono; nra). assert (H2 := exp_at_most).
    assert (H3 := exp_pos (- (a * x²))). assert (H4 : (x + 1)² <= 4 * x²) by (unfold Rsqr; nra).
    assert (H5 := exp_pos (- (a * (2 * x + 1)))).
    assert (H6 : (x + 1)² * exp (- (a * (2 * x + 1))) <= 4 * x² * exp (- 5.91)).
    { apply Rmult_le_compat; [apply Rle_0_sqr | lra | assumption | assumption]. }
    replace ((x + 1)² * (exp (- (a * x²)) * exp (- (a * (2 * x + 1))))) with (exp (- (a * x²)) * ((x + 1)² * exp (- (a * (2 * x
      + 1))))) by ring.
    replace (0.0127 * (x² * exp (- (a * x²)))) with (exp (- (a * x²)) * (x² * 0.0127)) by ring.
    apply Rmult_le_compat_l; [lra|]. assert (H7 := Rle_0_sqr x). nra. }
  assert (F1 : f 1%Z = exp (- a)) by (unfold f, Rsqr; rewrite !Rmult_1_l, Rmult_1_r; reflexivity).
  assert (Hall : forall l, NoDup l -> lsum f l <= 2 * exp (- a) / (1 - 0.0127)).
  { intros l Hl. rewrite (lsum_filter_split f (fun k => (1 <=? k)%Z)). set (r := filter (fun k => negb _) l).
    rewrite (lsum_filter_split f (fun k => (k <=? -1)%Z) r).
    assert (A1 : lsum f (filter (fun k => (1 <=? k)%Z) l) <= f 1%Z / (1 - 0.0127)).
    { apply geometric_tail_right; try assumption; [lra | now apply NoDup_filter|]. intros k Hk; apply filter_In in Hk; lia. }
    assert (A2 : lsum f (filter (fun k => (k <=? -1)%Z) r) <= f (-1)%Z / (1 - 0.0127)).
    { apply geometric_tail_left; try assumption; [lra | | now apply NoDup_filter, NoDup_filter|].
      - intros k Hk. rewrite <- (Heven (k - 1)%Z), <- (Heven k). replace (- (k - 1))%Z with (- k + 1)%Z by lia. apply Hstep; lia.
      - intros k Hk; apply filter_In in Hk; lia. }
    rewrite (lsum_ext_in f (fun _ => 0) (filter (fun k => negb _) r)).
    - rewrite lsum_zero. assert (F2 : f (-1)%Z = exp (- a)) by (rewrite <- F1; apply (Heven 1%Z)). rewrite F2 in A2. rewrite F1 in A1.
      replace (2 * exp (- a) / (1 - 0.0127)) with (exp (- a) / (1 - 0.0127) + exp (- a) / (1 - 0.0127)) by (unfold Rdiv; ring). lra.
    - intros k Hk; apply filter_In in Hk; destruct Hk as [Hk1 Hk2]. unfold r in Hk1; apply filter_In in Hk1; destruct Hk1 as [_ Hk1].
      replace k with 0%Z by lia. unfold f; rewrite Rsqr_0; ring. }
  split; [now exists (2 * exp (- a) / (1 - 0.0127)) | now apply total_least].
Qed.

Theorem variance_at_least s : 1 / 10 <= s -> s * (1 - 80 * s * exp (- (19.7 * s))) <= variance s.
Proof.
  intros Hs1. assert (Hs : 0 < s) by lra. assert (HP := PI_between). assert (HP2 : 9.8689 <= PI² <= 9.8697) by (unfold Rsqr; split; nra).
  enough (Hd : forall d, 0 < d <= 1 / 1000 -> s / (1 + d) - 80 * (s * s) * exp (- (19.7 * s)) <= variance s).
  { apply le_epsilon; intros eta Heta. set (d := Rmin (eta / s) (1 / 1000)).
    assert (Hd0 : 0 < d <= 1 / 1000) by (unfold d; split; [apply Rmin_pos; [now apply Rdiv_lt_0_compat | lra] | apply Rmin_r]).
    specialize (Hd d Hd0). assert (H1 : s - s / (1 + d) <= eta).
    { replace (s - s / (1 + d)) with (s * d * / (1 + d)) by (field; lra).
      assert (Hsd : s * d <= eta).
      { apply Rle_trans with (s * (eta / s)); [apply Rmult_le_compat_l; [lra | apply Rmin_l] | right; field; lra]. }
      assert (Hi : / (1 + d) <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
      assert (0 < / (1 + d)) by (apply Rinv_0_lt_compat; lra). assert (0 <= s * d) by nra. nra. }
    lra. }
  intros d Hd. set (s' := s / (1 + d)). assert (Hs' : 0 < s') by (apply Rdiv_lt_0_compat; lra).
  set (rt := sqrt (1 + d)). assert (Hrt : 1 <= rt) by (apply Rle_trans with (sqrt 1); [rewrite sqrt_1; lra | apply sqrt_le_1_alt; lra]).
  assert (Ert : rt * rt = 1 + d) by (apply sqrt_sqrt; lra).
  assert (M := mass_pos s Hs). assert (HD := dual_pos s Hs). assert (MD := mass_pos _ HD).
  (* A little less noise: the mass falls by at most the second moment times the change of 1 / (2 s). *)
  assert (H1 : mass s <= mass s' + d / (2 * s) * (variance s * mass s)).
  { assert (Sq := squares_summable s Hs). assert (Hc : 0 <= d / (2 * s)) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
    rewrite <- second_moment, <- total_scale by assumption. unfold mass at 2. rewrite <- (total_plus Z.eq_dec).
    - apply total_le; [|apply summable_plus; [now apply weights_summable | now apply summable_scale]]. intros x.
      replace (weight s' x) with (weight s x * exp (- (d / (2 * s) * (IZR x)²))).
      + assert (H := exp_ineq1_le (- (d / (2 * s) * (IZR x)²))). assert (Hw := weight_pos s x). nra.
      + unfold weight, s'; rewrite <- exp_plus; f_equal. unfold Rsqr; field; lra.
    - intros; left; apply weight_pos.
    - intros x; apply Rmult_le_pos; [assumption | apply Rmult_le_pos; [left; apply weight_pos | apply Rle_0_sqr]].
    - now apply weights_summable.
    - now apply summable_scale. }
  (* The same masses by images. *)
  set (A := 2 * PI² * s). set (a := A / (1 + d)).
  assert (HA : 0 < A) by (unfold A; apply Rmult_lt_0_compat; lra).
  assert (Ha : 19.7 * s <= a).
  { unfold a. apply Rmult_le_reg_r with (1 + d); [lra|]. replace (A / (1 + d) * (1 + d)) with A by (field; lra).
    assert (H19 : 19.7 * (1 + d) <= 2 * PI²) by lra. apply Rmult_le_compat_r with (r := s) in H19; [unfold A; lra | lra]. }
  destruct (squares_of_images a ltac:(lra)) as [Sk Tk]. set (K := total _) in *.
  assert (H2 : mass (dual s') <= mass (dual s) + d * A * K).
  { unfold mass at 2, K. rewrite <- total_scale, <- (total_plus Z.eq_dec).
    - apply total_le; [|apply summable_plus; [now apply weights_summable | apply summable_scale; [apply Rmult_le_pos;
        lra | assumption]]]. intros k.
      assert (E0 : weight (dual s) k = exp (- (A * (IZR k)²))) by (unfold weight, dual, A; f_equal; unfold Rsqr; field; lra).
      assert (E1 : weight (dual s') k = exp (- (a * (IZR k)²))) by (unfold weight, dual, s', a, A; f_equal; unfold Rsqr; field; lra).
      rewrite E0, E1. set (y := (A - a) * (IZR k)²). assert (Hk := Rle_0_sqr (IZR k)).
      replace (exp (- (A * (IZR k)²))) with (exp (- (a * (IZR k)²)) * exp (- y)) by (rewrite <- exp_plus; f_equal; unfold y; ring).
      assert (H := exp_ineq1_le (- y)). assert (He := exp_pos (- (a * (IZR k)²))).
      assert (Hy : y <= d * A * (IZR k)²).
      { unfold y. apply Rmult_le_compat_r; [assumption|]. unfold a. replace (A - A / (1 + d)) with (d * A * / (1 + d)) by (field; lra).
        assert (/ (1 + d) <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra). assert (0 <= d * A) by nra. nra. }
      nra.
    - intros; left; apply weight_pos.
    - intros k; apply Rmult_le_pos; [apply Rmult_le_pos; lra | apply Rmult_le_pos; [apply Rle_0_sqr | left; apply exp_pos]].
    - now apply weights_summable.
    - apply summable_scale; [apply Rmult_le_pos; lra | assumption].
    - apply Rmult_le_pos; lra.
    - assumption. }
  assert (Es' : mass s' * rt = sqrt (2 * PI * s) * mass (dual s')).
  { rewrite (mass_by_images s') by assumption. unfold s', rt.
    replace (2 * PI * s) with (2 * PI * (s / (1 + d)) * (1 + d)) by (field; lra).
    rewrite (sqrt_mult (2 * PI * (s / (1 + d))) (1 + d)); [ring | | lra].
    apply Rmult_le_pos; [lra | left; exact Hs']. }
  assert (Es := mass_by_images s Hs). set (q := sqrt (2 * PI * s)) in *.
  assert (Hq : 0 < q) by (apply sqrt_lt_R0; apply Rmult_lt_0_compat; lra). set (T := mass (dual s)) in *. set (T' := mass (dual s')) in *.
  set (V := variance s) in *.
  (* T (1 - d V / (2 s)) rt <= T' <= T + d A K *)
  assert (H3 : T * (1 - d / (2 * s) * V) * rt <= T + d * A * K).
  { eapply Rle_trans; [|exact H2]. apply Rmult_le_reg_l with q; [assumption|]. rewrite <- Es'.
    replace (q * (T * (1 - d / (2 * s) * V) * rt)) with (q * T * (1 - d / (2 * s) * V) * rt) by ring. rewrite <- Es.
    apply Rmult_le_compat_r; lra. }
  assert (HT : 1 <= T).
  { apply Rle_trans with (lsum (weight (dual s)) [0%Z]); [|apply total_upper; [now apply weights_summable | repeat constructor; auto]].
    cbn; unfold weight. rewrite Rsqr_0, Ropp_0. unfold Rdiv; rewrite Rmult_0_l, exp_0; lra. }
  assert (HK0 : 0 <= K) by (apply total_nonneg; assumption).
  assert (Hw : 0 < d / (2 * s)) by (apply Rdiv_lt_0_compat; lra).
  (* rt - 1 >= d / (2 rt) *)
  assert (Hrt1 : d <= (rt - 1) * (2 * rt)) by nra.
  assert (H4 : d * (T / (2 * rt)) - d * A * K <= T * (d / (2 * s) * V) * rt).
  { assert (d * (T / (2 * rt)) <= T * (rt - 1)); [|lra].
    apply Rmult_le_reg_r with (2 * rt); [lra|]. replace (d * (T / (2 * rt)) * (2 * rt)) with (T * d) by (field; lra). nra. }
  assert (H5 : s * (T / rt) - 2 * s * A * K <= T * V * rt).
  { apply Rmult_le_reg_l with (d / (2 * s)); [assumption|].
    replace (d / (2 * s) * (s * (T / rt) - 2 * s * A * K)) with (d * (T / (2 * rt)) - d * A * K) by (field; lra).
    replace (d / (2 * s) * (T * V * rt)) with (T * (d / (2 * s) * V) * rt) by ring. exact H4. }
  assert (H6 : s / (1 + d) - 2 * s * A * K <= V).
  { apply Rmult_le_reg_r with (T * rt); [nra|].
    replace ((s / (1 + d) - 2 * s * A * K) * (T * rt)) with (s * (T / rt) - 2 * s * A * K * (T * rt)) by (rewrite <- Ert; field; lra).
    assert (HsK : 0 <= 2 * s * A * K) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | assumption]).
    assert (HTr : 1 <= T * rt) by nra. assert (2 * s * A * K * 1 <= 2 * s * A * K * (T * rt)) by (apply Rmult_le_compat_l; assumption).
    lra. }
  assert (H7 : 2 * s * A * K <= 80 * (s * s) * exp (- (19.7 * s))).
  { assert (He : exp (- a) <= exp (- (19.7 * s))) by (apply exp_mono; lra). assert (He0 := exp_pos (- a)).
    assert (HK : K <= 20258 / 10000 * exp (- (19.7 * s))).
    { eapply Rle_trans; [exact Tk|]. apply Rle_trans with (2 * exp (- a) * (/ (1 - 0.0127))); [right; reflexivity|].
      assert (/ (1 - 0.0127) <= 1.0129) by (apply Rmult_le_reg_r with (1 - 0.0127); [lra|]; rewrite Rinv_l by lra; lra). nra. }
    apply Rle_trans with (2 * s * A * (20258 / 10000 * exp (- (19.7 * s)))); [apply Rmult_le_compat_l; [apply Rmult_le_pos;
      lra | assumption]|].
    unfold A. replace (2 * s * (2 * PI² * s) * (20258 / 10000 * exp (- (19.7 * s))))
      with ((4 * 20258 / 10000 * PI²) * ((s * s) * exp (- (19.7 * s)))) by (field; lra).
    rewrite (Rmult_assoc 80). apply Rmult_le_compat_r; [apply Rmult_le_pos; [nra | left; apply exp_pos] | lra]. }
  unfold s'. lra.
Qed.
