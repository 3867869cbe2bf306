(** * The bounds of the contour that the checker uses

    The statements of proofs/README.md that bound the nodes of the trapezoid rule and the tails: (D), (F), (G), (I), (J), (L), (M).
    (B) is in Fourier.v and Aliases.v, (C) in Factor.v, (E) in LastNode.v, (H) in Tradeoff.v, (K) in Normal.v and Tail.v, (N) and (O) in
    Outcomes.v; Ends.v puts those of a contour together. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Cells Fourier Tables Theta.
Import ListNotations.
Open Scope R_scope.

(** ** |M(c + i t)| <= M(c) *)

Lemma Cmod_csum {A} (f : A -> C) l : Cmod (csum f l) <= lsum (fun x => Cmod (f x)) l.
Proof.
  induction l as [|x l IH]; [rewrite csum_nil, Cmod_0; cbn; lra|].
  rewrite csum_cons; cbn [lsum]. eapply Rle_trans; [apply Cmod_triangle|]. lra.
Qed.

Lemma Cmod_cis t : Cmod (cis t) = 1.
Proof.
  unfold Cmod, cis; cbn [fst snd]. replace (cos t ^ 2 + sin t ^ 2) with 1; [apply sqrt_1|].
  generalize (sin2_cos2 t); unfold Rsqr; lra.
Qed.

Lemma Cmod_wave N t j k : Cmod (wave N t j k) = exp (t * IZR k).
Proof.
  unfold wave, root; rewrite Cmod_mult, Cmod_cis, Cmod_R, Rmult_1_r. apply Rabs_right; left; apply exp_pos.
Qed.

Lemma partial_transform_bounded N a cm j A :
  lawful (fst cm) ->
  Cmod (partial_transform N a cm j A) <= lsum (fun x => P1 (fst cm) x * exp (a * IZR (- (step (snd cm) * place (snd cm) x)))) (range A).
Proof.
  intros H; unfold partial_transform; eapply Rle_trans; [apply Cmod_csum|]. right; apply lsum_ext; intros x.
  rewrite Cmod_mult, Cmod_wave, Cmod_R, Rabs_right; [reflexivity | apply Rle_ge; now apply P1_nonneg].
Qed.

(** The moment generating function at c + i t is at most any bound of its sums at c. *)
Theorem transform_at_most N a cm j b :
  tame cm ->
  (forall A, lsum (fun x => P1 (fst cm) x * exp (a * IZR (- (step (snd cm) * place (snd cm) x)))) (range A) <= b) ->
  Cmod (transform N a cm j) <= b.
Proof.
  intros Ht Hb; assert (Hl := proj1 Ht). destruct (transform_converges N a cm j Ht) as [H1 H2].
  assert (Hb0 : 0 <= b) by (eapply Rle_trans; [|apply (Hb 0%nat)]; eapply Rle_trans;
    [apply Cmod_ge_0 | apply (partial_transform_bounded N a cm j 0 Hl)]).
  set (z := transform N a cm j) in *.
  assert (Hsq : fst z * fst z + snd z * snd z <= b * b).
  { apply (is_lim_seq_le (fun A => fst (partial_transform N a cm j A) * fst (partial_transform N a cm j A)
                                   + snd (partial_transform N a cm j A) * snd (partial_transform N a cm j A)) (fun _ => b * b)
             (Finite (fst z * fst z + snd z * snd z)) (Finite (b * b))).
    - intros A. assert (H := partial_transform_bounded N a cm j A Hl). specialize (Hb A).
      assert (H0 := Cmod_ge_0 (partial_transform N a cm j A)). set (w := partial_transform N a cm j A) in *.
      assert (E : fst w * fst w + snd w * snd w = Cmod w * Cmod w).
      { unfold Cmod; rewrite sqrt_sqrt; [ring|]. generalize (pow2_ge_0 (fst w)) (pow2_ge_0 (snd w)); lra. }
      rewrite E; apply Rmult_le_compat; lra.
    - apply is_lim_seq_plus'; now apply is_lim_seq_mult'.
    - apply is_lim_seq_const. }
  unfold Cmod. rewrite <- (sqrt_square b) by assumption. apply sqrt_le_1_alt. lra.
Qed.

(** ** (D) The kernel at nodes that are not evaluated *)

Lemma third_of_sine x : 0 <= x -> x <= PI / 2 -> x / 3 <= sin x.
Proof.
  intros H0 H1. assert (HP := PI_4). assert (HP0 := PI_RGT_0).
  assert (H := sin_bound x 0 H0 ltac:(lra)). destruct H as [H _]. cbn in H.
  apply Rle_trans with (x - x * x * x / 6).
  - nra.
  - eapply Rle_trans; [|exact H]. right; unfold sin_approx, sin_term; cbn; field.
Qed.

(** 1 - r exp(i phi) is at least phi / pi in size. *)
Lemma far_from_one r phi : 0 <= r <= 1 -> 0 <= phi <= PI -> (phi / PI) * (phi / PI) <= 1 - 2 * r * cos phi + r * r.
Proof.
  intros Hr Hphi. assert (HP0 := PI_RGT_0). assert (HP3 : 3 <= PI) by (generalize PI2_3_2; lra).
  assert (Hq : 0 <= phi / PI <= 1).
  { split; [apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat]|].
    apply Rmult_le_reg_r with PI; [assumption|]. unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra; lra. }
  destruct (Rle_lt_dec phi (PI / 2)) as [Hs|Hs].
  - assert (H3 := third_of_sine phi ltac:(lra) Hs).
    assert (Hle : phi / PI <= phi / 3) by (apply Rmult_le_compat_l; [lra | apply Rinv_le_contravar; lra]).
    assert (E := sin2_cos2 phi); unfold Rsqr in E.
    assert (0 <= (r - cos phi) * (r - cos phi)) by apply Rle_0_sqr.
    assert ((phi / PI) * (phi / PI) <= sin phi * sin phi) by (apply Rmult_le_compat; lra). lra.
  - assert (Hc : cos phi <= 0) by (apply cos_le_0; lra). nra.
Qed.

(** The size of 1 - exp(-t) root(-j), of which the geometric series are the inverses. *)
Lemma series_distance N t j :
  (0 < N)%nat ->
  Cmod (1 - wave N t j (-1))%C = sqrt (1 - 2 * exp (- t) * cos (2 * PI * (INR j / INR N)) + exp (- t) * exp (- t)).
Proof.
  intros HN. assert (HN' := lt_0_INR N HN). unfold Cmod. f_equal.
  unfold wave, root; set (psi := 2 * PI * (IZR (-1 * Z.of_nat j) / INR N)).
  assert (Ep : psi = - (2 * PI * (INR j / INR N))) by (unfold psi; rewrite mult_IZR, <- INR_IZR_INZ; field; lra).
  assert (Ec : cos psi = cos (2 * PI * (INR j / INR N))) by (now rewrite Ep, cos_neg).
  assert (E2 := sin2_cos2 psi); unfold Rsqr in E2. set (r := exp (- t)).
  replace (exp (t * -1)) with r by (unfold r; f_equal; ring).
  cbn. rewrite <- Ec. assert (E3 : sin psi * sin psi = 1 - cos psi * cos psi) by lra.
  set (c := cos psi) in *. set (sn := sin psi) in *.
  replace ((1 + - (r * c - 0 * sn)) * ((1 + - (r * c - 0 * sn)) * 1) + (0 + - (r * sn + 0 * c)) * ((0 + - (r * sn + 0 * c)) * 1))
    with (1 - 2 * r * c + r * r * (c * c) + r * r * (sn * sn)) by ring.
  rewrite E3; ring.
Qed.

(** It is at least 2 m / N, where m is j or N - j. *)
Lemma series_far N t j m :
  (0 < N)%nat -> 0 <= t -> (2 * m <= N)%nat -> cos (2 * PI * (INR j / INR N)) = cos (2 * PI * (INR m / INR N)) ->
  2 * INR m / INR N <= Cmod (1 - wave N t j (-1))%C.
Proof.
  intros HN Ht Hm Hcos. assert (HN' := lt_0_INR N HN). assert (HP0 := PI_RGT_0).
  set (r := exp (- t)). assert (Hr : 0 <= r <= 1).
  { split; [left; apply exp_pos | unfold r; rewrite <- exp_0; apply exp_mono; lra]. }
  set (phi := 2 * PI * (INR m / INR N)).
  assert (Hq : 0 <= INR m / INR N <= 1 / 2).
  { split; [apply Rmult_le_pos; [apply pos_INR | left; now apply Rinv_0_lt_compat]|].
    apply Rmult_le_reg_r with (INR N); [assumption|]. unfold Rdiv at 1; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply le_INR in Hm; rewrite mult_INR in Hm; cbn in Hm; lra. }
  assert (Hphi : 0 <= phi <= PI) by (unfold phi; split; nra).
  assert (H := far_from_one r phi Hr Hphi).
  assert (E : phi / PI = 2 * INR m / INR N) by (unfold phi; field; lra). rewrite E in H.
  rewrite series_distance by assumption. rewrite <- (sqrt_square (2 * INR m / INR N)) by (apply Rmult_le_pos; [generalize (pos_INR m);
    lra | left; now apply Rinv_0_lt_compat]).
  apply sqrt_le_1_alt. eapply Rle_trans; [exact H|]. right; rewrite Hcos; reflexivity.
Qed.

(** The kernel is two geometric series, so that it is small if 1 - exp(-s h) is far from 0. *)
Lemma kernel_by_distance N a h eps r lo j d :
  0 < a -> 0 < h -> eps <= r + h * IZR lo -> r + h * IZR (lo - 1) <= eps ->
  (0 < N)%nat -> 0 < d -> d <= Cmod (1 - wave N a j (-1))%C -> d <= Cmod (1 - wave N (a + h) j (-1))%C ->
  Cmod (kernel N a h eps r lo j) <= exp (- (a * IZR lo)) * h * / (d * d).
Proof.
  intros Ha Hh Hlo Hbelow HN Hd D1 D2.
  set (y := r + h * IZR lo - eps). assert (Hy : 0 <= y <= h) by (unfold y; rewrite minus_IZR in Hbelow; lra).
  assert (Z1 := wave_not_1 N a j Ha). assert (Z2 := wave_not_1 N (a + h) j ltac:(lra)).
  set (E := wave N a j (-1)) in *. assert (E2 : wave N (a + h) j (-1) = (RtoC (exp (- h)) * E)%C).
  { unfold E, wave. replace ((a + h) * -1) with (- h + a * -1) by ring. rewrite exp_plus, RtoC_mult; ring. }
  rewrite E2 in D2, Z2. set (W := wave N a j (- lo)).
  assert (EW : wave N (a + h) j (- lo) = (RtoC (exp (- (h * IZR lo))) * W)%C).
  { unfold W, wave. replace ((a + h) * IZR (- lo)) with (- (h * IZR lo) + a * IZR (- lo)) by (rewrite opp_IZR; ring).
    rewrite exp_plus, RtoC_mult; ring. }
  assert (Eker : kernel N a h eps r lo j
    = (W * ((RtoC (1 - exp (- y)) + RtoC (exp (- y) - exp (- h)) * E) / ((1 - E) * (1 - RtoC (exp (- h)) * E))))%C).
  { unfold kernel, series; fold E W; rewrite E2, EW.
    replace (RtoC (exp (eps - r)) * (RtoC (exp (- (h * IZR lo))) * W / (1 - RtoC (exp (- h)) * E)))%C
      with (RtoC (exp (- y)) * W / (1 - RtoC (exp (- h)) * E))%C.
    2: { replace (exp (- y)) with (exp (eps - r) * exp (- (h * IZR lo))) by (rewrite <- exp_plus; f_equal; unfold y; ring).
         rewrite RtoC_mult; unfold Cdiv; ring. }
    rewrite !RtoC_minus. field. split; [exact Z2 | exact Z1]. }
  rewrite Eker, Cmod_mult, Cmod_div by (now apply Cmult_neq_0). rewrite Cmod_mult.
  assert (HW : Cmod W = exp (- (a * IZR lo))) by (unfold W; rewrite Cmod_wave; f_equal; rewrite opp_IZR; ring).
  rewrite HW, Rmult_assoc. apply Rmult_le_compat_l; [left; apply exp_pos|].
  assert (HE : Cmod E <= 1) by (unfold E; rewrite Cmod_wave, <- exp_0; apply exp_mono; lra).
  assert (Hey : exp (- y) <= 1) by (rewrite <- exp_0; apply exp_mono; lra).
  assert (Hyh : exp (- h) <= exp (- y)) by (apply exp_mono; lra).
  assert (Hh1 : 1 - exp (- h) <= h) by (generalize (exp_ineq1_le (- h)); lra).
  assert (Hnum : Cmod (RtoC (1 - exp (- y)) + RtoC (exp (- y) - exp (- h)) * E)%C <= h).
  { eapply Rle_trans; [apply Cmod_triangle|]. rewrite Cmod_mult, !Cmod_R, !Rabs_right by lra.
    assert (H0 := Cmod_ge_0 E). nra. }
  set (d1 := Cmod (1 - E)%C) in *. set (d2 := Cmod (1 - RtoC (exp (- h)) * E)%C) in *.
  unfold Rdiv at 1. apply Rmult_le_compat; [apply Cmod_ge_0 | left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra | assumption|].
  apply Rinv_le_contravar; [now apply Rmult_lt_0_compat | apply Rmult_le_compat; lra].
Qed.

(** |K(s_j)| <= exp(-c l0) h (N / (2 j))^2, for nodes j up to N / 2 and their conjugates. *)
Theorem kernel_at_most N a h eps r lo j m :
  (0 < N)%nat -> 0 < a -> 0 < h -> eps <= r + h * IZR lo -> r + h * IZR (lo - 1) <= eps ->
  (0 < m)%nat -> (2 * m <= N)%nat -> cos (2 * PI * (INR j / INR N)) = cos (2 * PI * (INR m / INR N)) ->
  Cmod (kernel N a h eps r lo j) <= exp (- (a * IZR lo)) * h * ((INR N / (2 * INR m)) * (INR N / (2 * INR m))).
Proof.
  intros HN Ha Hh Hlo Hbelow Hm Hm2 Hcos.
  assert (HN' := lt_0_INR N HN). assert (Hm' := lt_0_INR m Hm).
  assert (D1 := series_far N a j m HN ltac:(lra) Hm2 Hcos). assert (D2 := series_far N (a + h) j m HN ltac:(lra) Hm2 Hcos).
  assert (Hq : 0 < 2 * INR m / INR N) by (apply Rdiv_lt_0_compat; lra).
  replace (INR N / (2 * INR m) * (INR N / (2 * INR m))) with (/ ((2 * INR m / INR N) * (2 * INR m / INR N))) by (field; lra).
  now apply kernel_by_distance.
Qed.

(** 1 + 1 / 2 + ... + 1 / J <= 1 + ln J. *)
Lemma harmonic_at_most J : (0 < J)%nat -> lsum (fun j => / INR j) (seq 1 J) <= 1 + ln (INR J).
Proof.
  intros HJ; induction J as [|J IH]; [lia|]. destruct J as [|J]; [cbn; rewrite ln_1; lra|].
  rewrite seq_S, lsum_app; cbn [lsum]. specialize (IH ltac:(lia)). set (k := S J) in *.
  assert (Hk : 0 < INR k) by (apply lt_0_INR; lia).
  assert (Hk1 : INR (1 + k) = INR k + 1) by (rewrite Nat.add_1_l, S_INR; reflexivity). rewrite Hk1.
  replace (INR (S k)) with (INR k + 1) by (rewrite S_INR; reflexivity).
  assert (Hd : / (INR k + 1) <= ln (INR k + 1) - ln (INR k)); [|lra].
  rewrite <- ln_div by lra.
  assert (H := exp_ineq1_le (- ln ((INR k + 1) / INR k))). rewrite exp_Ropp, exp_ln in H by (apply Rdiv_lt_0_compat; lra).
  replace (/ ((INR k + 1) / INR k)) with (1 - / (INR k + 1)) in H by (field; lra). lra.
Qed.

(** All nodes up to J that are not evaluated, with their conjugates, in the mean over N nodes. *)
Theorem nodes_not_evaluated (N J : nat) (h S q e : R) (M K : nat -> C) (B : list nat) :
  (0 < N)%nat -> (0 < J)%nat -> 0 <= S -> 0 <= q -> 0 <= e -> 0 <= h -> NoDup B -> (forall j, In j B -> (1 <= j <= J)%nat) ->
  (forall j, In j B -> Cmod (M j) <= S * INR j * q) ->
  (forall j, In j B -> Cmod (K j) <= e * h * ((INR N / (2 * INR j)) * (INR N / (2 * INR j)))) ->
  2 / INR N * lsum (fun j => Cmod (M j * K j)%C) B <= S * e * q * (INR N * h / 2) * (1 + ln (INR J)).
Proof.
  intros HN HJ HS Hq He Hh HB Hin HM HK. assert (HN' := lt_0_INR N HN).
  apply Rle_trans with (2 / INR N * (S * e * q * h * (INR N * INR N / 4) * lsum (fun j => / INR j) (seq 1 J))).
  - apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra|].
    apply Rle_trans with (lsum (fun j => S * e * q * h * (INR N * INR N / 4) * / INR j) B).
    + apply lsum_le_in; intros j Hj; rewrite Cmod_mult. specialize (Hin j Hj).
      assert (Hj0 : 0 < INR j) by (apply lt_0_INR; lia).
      apply Rle_trans with ((S * INR j * q) * (e * h * ((INR N / (2 * INR j)) * (INR N / (2 * INR j))))).
      * apply Rmult_le_compat; auto using Cmod_ge_0.
      * right; field; lra.
    + rewrite lsum_scale. apply Rmult_le_compat_l; [repeat apply Rmult_le_pos; lra|].
      apply Rle_trans with (lsum (fun j => / INR (Init.Nat.max 1 j)) B).
      * right; apply lsum_ext_in; intros j Hj; specialize (Hin j Hj). now rewrite Nat.max_r by lia.
      * apply Rle_trans with (lsum (fun j => / INR (Init.Nat.max 1 j)) (seq 1 J)).
        -- apply lsum_incl; [intros j; left; apply Rinv_0_lt_compat, lt_0_INR; lia | assumption|].
           intros j Hj; apply in_seq; specialize (Hin j Hj); lia.
        -- right; apply lsum_ext_in; intros j Hj%in_seq. now rewrite Nat.max_r by lia.
  - replace (2 / INR N * (S * e * q * h * (INR N * INR N / 4) * lsum (fun j => / INR j) (seq 1 J)))
      with (S * e * q * (INR N * h / 2) * lsum (fun j => / INR j) (seq 1 J)) by (field; lra).
    apply Rmult_le_compat_l; [repeat apply Rmult_le_pos; lra | now apply harmonic_at_most].
Qed.

(** ** (F) and (L): tails by Chernoff's bound *)

(** The aliases on one side of the contour, by the moment at one point: d is the distance of the two. *)
Theorem aliases_at_most (period c x d moment : R) (v : nat -> R) n :
  0 < period -> 0 < d -> c = x + d -> 0 <= moment ->
  (forall k, 0 <= v k <= exp (x * (INR (S k) * period)) * moment) ->
  lsum (fun k => exp (- (c * (INR (S k) * period))) * v k) (seq 0 n) <= moment / (exp (period * d) - 1).
Proof.
  intros Hp Hd -> Hm Hv. set (q := exp (- (period * d))).
  assert (H0 : 0 < period * d) by now apply Rmult_lt_0_compat.
  assert (Hq : 0 < q < 1) by (split; [apply exp_pos | unfold q; rewrite <- exp_0; apply exp_increasing; lra]).
  apply Rle_trans with (lsum (fun k => moment * (q * q ^ k)) (seq 0 n)).
  - apply lsum_le; intros k. destruct (Hv k) as [H1 H2].
    apply Rle_trans with (exp (- ((x + d) * (INR (S k) * period))) * (exp (x * (INR (S k) * period)) * moment)).
    + apply Rmult_le_compat_l; [left; apply exp_pos | assumption].
    + right. change (q * q ^ k) with (q ^ S k). unfold q; rewrite <- exp_times, <- Rmult_assoc, <- exp_plus, Rmult_comm.
      f_equal; f_equal; ring.
  - eapply Rle_trans; [apply (geometric_tail _ q n)|].
    + lra.
    + intros i; apply Rmult_le_pos; [assumption|]. apply Rmult_le_pos; [lra | apply pow_le; lra].
    + intros i; cbn [pow]; right; ring.
    + cbn [pow]. right. unfold q; rewrite exp_Ropp.
      assert (1 < exp (period * d)) by (rewrite <- exp_0; apply exp_increasing; lra). field; lra.
Qed.

Lemma ln_at_most w : 0 < w -> ln w <= w - 1.
Proof. intros Hw. assert (H := exp_ineq1_le (ln w)). rewrite exp_ln in H; lra. Qed.

Lemma gain_at_most_power u s : 0 < s -> Rmax 0 (1 - exp (- u)) <= exp (s * u + s * ln (s / (1 + s)) - ln (1 + s)).
Proof.
  intros Hs; apply Rmax_lub; [left; apply exp_pos|]. set (z := exp (- u)). assert (Hz : 0 < z) by apply exp_pos.
  destruct (Rle_lt_dec 1 z) as [H1|H1]; [apply Rle_trans with 0; [lra | left; apply exp_pos]|].
  replace (s * u) with (- (s * ln z)) by (unfold z; rewrite ln_exp; ring).
  rewrite <- (exp_ln (1 - z)) by lra. apply exp_mono.
  assert (A1 := ln_at_most ((1 - z) * (1 + s)) ltac:(apply Rmult_lt_0_compat; lra)).
  assert (A2 := ln_at_most (z * ((1 + s) / s)) ltac:(apply Rmult_lt_0_compat; [lra | apply Rdiv_lt_0_compat; lra])).
  rewrite ln_mult in A1, A2 by (try apply Rdiv_lt_0_compat; lra).
  replace (ln (s / (1 + s))) with (- ln ((1 + s) / s)).
  2: { rewrite <- ln_Rinv by (apply Rdiv_lt_0_compat; lra). f_equal; field; lra. }
  assert (E : z * ((1 + s) / s) * s = z * (1 + s)) by (field; lra). nra.
Qed.

Definition gaussian_counts (gs : list (R * Z)) : list count := map (fun g => Count (fst g) (snd g)) gs.
Definition rho_of (gs : list (R * Z)) : R := fold_right (fun g acc => IZR (snd g) ^ 2 / (2 * fst g) + acc) 0 gs.

Lemma moments_at_most gs y A :
  Forall (fun g => 0 < fst g) gs ->
  0 <= lsum (product (moment y) (gaussian_counts gs)) (box (length (gaussian_counts gs)) A) <= exp ((y + y²) * rho_of gs).
Proof.
  intros H; rewrite product_sums. induction H as [|g gs Hg _ [IH0 IH1]]; cbn [gaussian_counts map fold_right rho_of].
  - rewrite Rmult_0_r, exp_0; lra.
  - fold (gaussian_counts gs) (rho_of gs) in *. rewrite Rmult_plus_distr_l, exp_plus.
    assert (H0 : 0 <= lsum (moment y (Count (fst g) (snd g))) (range A)).
    { apply lsum_nonneg; intros x; unfold moment; apply Rmult_le_pos; [left; now apply gaussian_pos | left; apply exp_pos]. }
    assert (H1 := Count_moment_at_most (fst g) (snd g) y (range A) Hg (NoDup_range A)).
    split; [now apply Rmult_le_pos | now apply Rmult_le_compat].
Qed.

Lemma moment_is_tilted gs y xs :
  Forall (fun g => 0 < fst g) gs -> length xs = length gs ->
  exists l, Q (gaussian_counts gs) xs = P (gaussian_counts gs) xs * exp (- l)
            /\ product (moment y) (gaussian_counts gs) xs = P (gaussian_counts gs) xs * exp (y * l).
Proof.
  intros H; revert xs; induction H as [|g gs Hg _ IH]; intros [|x xs] Hlen; try discriminate.
  - exists 0; unfold P, Q; cbn. rewrite Ropp_0, Rmult_0_r, exp_0; lra.
  - destruct (IH xs ltac:(now injection Hlen)) as (l & HQ & HM).
    exists (- gained (fst g) (snd g) x + l). unfold P, Q in *; cbn [gaussian_counts map product]; fold (gaussian_counts gs).
    rewrite HQ, HM, (Count_loss (fst g) (snd g) Hg x). split.
    + rewrite Ropp_plus_distr, Ropp_involutive, exp_plus; ring.
    + unfold moment. rewrite (Count_loss (fst g) (snd g) Hg x).
      assert (HP : 0 < P1 (Count (fst g) (snd g)) x) by (now apply gaussian_pos).
      replace (P1 (Count (fst g) (snd g)) x / (P1 (Count (fst g) (snd g)) x * exp (gained (fst g) (snd g) x)))
        with (exp (- gained (fst g) (snd g) x)) by (rewrite exp_Ropp; field; split; [apply Rgt_not_eq, exp_pos | lra]).
      rewrite ln_exp, Rmult_plus_distr_l, exp_plus; ring.
Qed.

(** The profile by the order 1 + s, for all s > 0. *)
Theorem profile_by_order gs eps s :
  Forall (fun g => 0 < fst g) gs -> 0 < s ->
  delta (gaussian_counts gs) eps <= exp ((s + s²) * rho_of gs - s * eps + s * ln (s / (1 + s)) - ln (1 + s)).
Proof.
  intros H Hs. assert (Hp : proper (gaussian_counts gs)).
  { apply Forall_map; eapply Forall_impl; [|exact H]; intros g Hg; now apply Count_lawful. }
  apply total_least; intros l Hl; revert l Hl. apply (box_bound (length (gaussian_counts gs))).
  - intros; apply gap_nonneg.
  - intros xs Hxs; unfold gap, P, Q. rewrite !product_wrong_length by assumption. rewrite Rmult_0_r, Rminus_0_r; apply Rmax_left; lra.
  - intros A. set (k := exp (- s * eps + s * ln (s / (1 + s)) - ln (1 + s))).
    apply Rle_trans with (lsum (fun xs => k * product (moment s) (gaussian_counts gs) xs) (box (length (gaussian_counts gs)) A)).
    + apply lsum_le_in; intros xs Hxs; apply in_box in Hxs; destruct Hxs as [Hlen _].
      destruct (moment_is_tilted gs s xs H) as (v & HQ & HM); [unfold gaussian_counts in Hlen; now rewrite map_length in Hlen|].
      rewrite HM; unfold gap; rewrite HQ. assert (HP := P_nonneg (gaussian_counts gs) xs Hp). set (p := P (gaussian_counts gs) xs) in *.
      replace (p - exp eps * (p * exp (- v))) with (p * (1 - exp (- (v - eps)))) by (replace (- (v - eps)) with (eps + - v) by ring;
        rewrite exp_plus; ring).
      rewrite <- (Rmult_0_r p) at 1. rewrite RmaxRmult by assumption.
      replace (k * (p * exp (s * v))) with (p * exp (s * (v - eps) + s * ln (s / (1 + s)) - ln (1 + s))).
      * apply Rmult_le_compat_l; [assumption | now apply gain_at_most_power].
      * unfold k. replace (s * (v - eps) + s * ln (s / (1 + s)) - ln (1 + s))
          with ((- s * eps + s * ln (s / (1 + s)) - ln (1 + s)) + s * v) by ring. rewrite exp_plus; ring.
    + rewrite lsum_scale. apply Rle_trans with (k * exp ((s + s²) * rho_of gs)).
      * apply Rmult_le_compat_l; [left; apply exp_pos | now apply moments_at_most].
      * unfold k; rewrite <- exp_plus; right; f_equal; ring.
Qed.

(** (L): discrete Gaussian counts are (e(s), d)-DP, in the conversion of Canonne, Kamath & Steinke. *)
Theorem best_order gs d s :
  Forall (fun g => 0 < fst g) gs -> 0 < s -> 0 < d ->
  delta (gaussian_counts gs) (rho_of gs * (1 + s) + (ln (/ d) - ln (1 + s)) / s - ln (1 + / s)) <= d.
Proof.
  intros H Hs Hd; eapply Rle_trans; [now apply (profile_by_order gs _ s)|].
  rewrite <- (exp_ln d) at 2 by assumption. apply exp_mono.
  rewrite ln_Rinv by assumption.
  replace (ln (1 + / s)) with (- ln (s / (1 + s))).
  2: { rewrite <- ln_Rinv by (apply Rdiv_lt_0_compat; lra). f_equal; field; lra. }
  right; unfold Rsqr; field; lra.
Qed.

(** The concavity behind three points: h of (L) is below each of its tangents. *)
(** s ln(1 + 1 / s) + ln(1 + s) is below each of its tangents. *)
Lemma order_below_tangent s t :
  0 < s -> 0 < t -> s * ln (1 + 1 / s) + ln (1 + s) <= s * ln (1 + 1 / t) + ln (1 + t).
Proof.
  intros Hs Ht.
  assert (Is : 0 < 1 / s) by (apply Rdiv_lt_0_compat; lra). assert (It : 0 < 1 / t) by (apply Rdiv_lt_0_compat; lra).
  assert (A1 := ln_at_most ((1 + 1 / s) / (1 + 1 / t)) ltac:(apply Rdiv_lt_0_compat; lra)).
  assert (A2 := ln_at_most ((1 + s) / (1 + t)) ltac:(apply Rdiv_lt_0_compat; lra)).
  rewrite ln_div in A1, A2 by lra.
  assert (E : s * ((1 + 1 / s) / (1 + 1 / t) - 1) + ((1 + s) / (1 + t) - 1) = 0) by (field; lra).
  nra.
Qed.

Theorem order_function_is_concave x rho s1 s2 w :
  0 <= rho -> 0 < s1 -> 0 < s2 -> 0 <= w <= 1 ->
  let f s := s * (x - rho * (1 + s)) + s * ln (1 + 1 / s) + ln (1 + s) in
  w * f s1 + (1 - w) * f s2 <= f (w * s1 + (1 - w) * s2).
Proof.
  intros Hr H1 H2 Hw f. set (t := w * s1 + (1 - w) * s2).
  assert (Ht : 0 < t) by (unfold t; destruct (Rle_lt_dec w (1 / 2)); nra).
  assert (T1 := order_below_tangent s1 t H1 Ht). assert (T2 := order_below_tangent s2 t H2 Ht).
  set (u1 := s1 * ln (1 + 1 / s1) + ln (1 + s1)) in *. set (u2 := s2 * ln (1 + 1 / s2) + ln (1 + s2)) in *.
  assert (Hsum : w * u1 + (1 - w) * u2 <= t * ln (1 + 1 / t) + ln (1 + t)).
  { apply Rle_trans with (w * (s1 * ln (1 + 1 / t) + ln (1 + t)) + (1 - w) * (s2 * ln (1 + 1 / t) + ln (1 + t))).
    - apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
    - right; unfold t at 5; ring. }
  assert (Hq : w * (s1 * (x - rho * (1 + s1))) + (1 - w) * (s2 * (x - rho * (1 + s2))) <= t * (x - rho * (1 + t))).
  { assert (E : t * (x - rho * (1 + t)) - (w * (s1 * (x - rho * (1 + s1))) + (1 - w) * (s2 * (x - rho * (1 + s2))))
                = rho * (w * (1 - w)) * ((s1 - s2) * (s1 - s2))) by (unfold t; ring).
    assert (0 <= rho * (w * (1 - w)) * ((s1 - s2) * (s1 - s2))).
    { apply Rmult_le_pos; [apply Rmult_le_pos; [assumption | nra] | apply Rle_0_sqr]. } lra. }
  unfold f. unfold u1, u2 in Hsum. lra.
Qed.

(** ** (G) and (M): kept outcomes *)

(** The mean of w between 0 and 1 from lower bounds of the probabilities of some outcomes: no other bound of the tails. *)
Theorem kept_outcomes (f w p : list Z -> R) (K : list (list Z)) :
  (forall x, 0 <= f x) -> summable f -> total f = 1 -> (forall x, 0 <= w x <= 1) -> NoDup K -> (forall x, p x <= f x) ->
  lsum (fun x => p x * w x) K <= total (fun x => f x * w x) <= lsum (fun x => p x * w x) K + (1 - lsum p K).
Proof.
  intros Hf Sf Hone Hw HK Hp.
  assert (Hfw : forall x, 0 <= f x * w x <= f x) by (intros x; specialize (Hf x); specialize (Hw x); split; nra).
  assert (Sfw : summable (fun x => f x * w x)) by (apply summable_le with (g := f); [apply Hfw | assumption]).
  split.
  - apply Rle_trans with (lsum (fun x => f x * w x) K); [|now apply (total_upper (fun x => f x * w x))].
    apply lsum_le; intros x; apply Rmult_le_compat_r; [apply Hw | apply Hp].
  - apply total_least; intros l Hl.
    set (inside := fun x => if in_dec (list_eq_dec Z.eq_dec) x K then true else false).
    rewrite (lsum_filter_split _ inside). set (out := filter (fun x => negb (inside x)) l).
    assert (Hout : forall x, In x out -> ~ In x K).
    { intros x Hx; unfold out in Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold inside in Hx.
      destruct (in_dec _ x K); [discriminate | assumption]. }
    assert (H1 : lsum (fun x => f x * w x) (filter inside l) <= lsum (fun x => f x * w x) K).
    { apply lsum_incl; [apply Hfw | now apply NoDup_filter|]. intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx].
      unfold inside in Hx; destruct (in_dec _ x K); [assumption | discriminate]. }
    assert (H2 : lsum (fun x => f x * w x) out <= lsum f out) by (apply lsum_le; apply Hfw).
    assert (H3 : lsum f K + lsum f out <= 1).
    { rewrite <- lsum_app, <- Hone. apply total_upper; [assumption|]. apply NoDup_append; [assumption | now apply NoDup_filter|].
      intros x Hx Hx'; now apply (Hout x). }
    assert (H4 : lsum (fun x => f x * (1 - w x)) K >= lsum (fun x => p x * (1 - w x)) K).
    { apply Rle_ge, lsum_le; intros x; apply Rmult_le_compat_r; [specialize (Hw x); lra | apply Hp]. }
    assert (E : forall g : list Z -> R, lsum (fun x => g x * (1 - w x)) K = lsum g K - lsum (fun x => g x * w x) K).
    { intros g; rewrite <- lsum_minus; apply lsum_ext; intros; ring. }
    rewrite !E in H4. lra.
Qed.

(** ** (I) Logarithms, and (J) the posterior *)

Theorem logarithm_between x y :
  0 < x -> let z := x * exp (- y) in y + 1 - / z <= ln x <= y + z - 1.
Proof.
  intros Hx z. assert (Hz : 0 < z) by (apply Rmult_lt_0_compat; [assumption | apply exp_pos]).
  assert (E : ln z = ln x - y) by (unfold z; rewrite ln_mult, ln_exp by (assumption || apply exp_pos); ring).
  assert (H1 := exp_ineq1_le (ln z)). assert (H2 := exp_ineq1_le (- ln z)). rewrite exp_Ropp, exp_ln in H2 by assumption.
  rewrite exp_ln in H1 by assumption. lra.
Qed.

Theorem posterior_by_loss prior p q l :
  0 < prior < 1 -> 0 < q -> p = q * exp l ->
  prior * p / (prior * p + (1 - prior) * q) = prior / (1 - prior) * exp l / (1 + prior / (1 - prior) * exp l).
Proof.
  intros Hp Hq ->. assert (He := exp_pos l). field.
  assert (0 < prior * exp l) by (apply Rmult_lt_0_compat; lra). assert (0 < prior * (q * exp l)) by (apply Rmult_lt_0_compat;
    [lra | now apply Rmult_lt_0_compat]).
  assert (0 < (1 - prior) * q) by (apply Rmult_lt_0_compat; lra). repeat split; nra.
Qed.
