(** * The variance of the discrete Gaussian is nearly s, and a factor nearly that of the Gaussian, if s is large

    The variance is the limit of sums (Jacobi.v) of a function
      with a known integral, from which it is off by at most the factors of the step.
    So, for angles x / n and noise with s n^2, the factor tends to exp(-s x^2 / 2). *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Fourier Tables Theta Signed Jacobi Factor Contour.
Import ListNotations.
Open Scope R_scope.

Section Steps.
  Variable u : R.
  Hypothesis Hu : 0 < u.

  (** Up to a constant the integral of 2 r / (1 + r)^2 over the index, for r = rho n. *)
  Definition area (n : nat) : R := / u * (/ (1 + rho u n) - / (1 + rho u 0)).

  Let th := exp (- (2 * u)).
  Let Hth : 0 < th < 1.
  Proof. split; [apply exp_pos|]. unfold th; rewrite <- exp_0; apply exp_increasing; lra. Qed.

  Let rho_next n : rho u (S n) = th * rho u n.
  Proof.
    unfold rho, qz, th; rewrite <- exp_plus; f_equal. rewrite !plus_IZR, !mult_IZR, <- !INR_IZR_INZ, S_INR. ring.
  Qed.

  Lemma spread_by_area n : th * area n <= spread u n /\ th * spread u n <= area n.
  Proof.
    induction n as [|n [IH1 IH2]]; [unfold area; cbn [spread]; lra|].
    assert (Hr := rho_between u Hu n). assert (Hi := Rinv_0_lt_compat u Hu).
    assert (E : area (S n) = area n + / u * (rho u n * (1 - th) / ((1 + rho u n) * (1 + th * rho u n)))).
    { unfold area; rewrite rho_next. assert (0 < th * rho u n) by (apply Rmult_lt_0_compat; lra). assert (H0 := rho_between u Hu 0).
      field. repeat split; lra. }
    rewrite E; cbn [spread]. set (r := rho u n) in *.
    (* exp(-2 u) is between 1 - 2 u and 1 / (1 + 2 u) *)
    assert (U1 : 1 - th <= 2 * u) by (assert (H := exp_ineq1_le (- (2 * u))); fold th in H; lra).
    assert (U2 : 2 * u * th <= 1 - th).
    { assert (H := exp_ineq1_le (2 * u)). assert (Ht : th * exp (2 * u) = 1) by (unfold th; rewrite <- exp_plus, Rplus_opp_l;
        apply exp_0). nra. }
    assert (Hd : 0 < (1 + r) * (1 + r)) by nra. assert (Htr : 0 < th * r) by nra.
    assert (S1 : th * (/ u * (r * (1 - th) / ((1 + r) * (1 + th * r)))) <= 2 * r / ((1 + r) * (1 + r))).
    { apply Rmult_le_reg_r with (u * ((1 + r) * (1 + r) * (1 + th * r))); [repeat apply Rmult_lt_0_compat; nra|].
      replace (th * (/ u * (r * (1 - th) / ((1 + r) * (1 + th * r)))) * (u * ((1 + r) * (1 + r) * (1 + th * r))))
        with (r * ((1 - th) * (th * (1 + r)))) by (field; lra).
      replace (2 * r / ((1 + r) * (1 + r)) * (u * ((1 + r) * (1 + r) * (1 + th * r)))) with (r * (2 * u * (1 + th * r))) by (field; lra).
      apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat; nra. }
    assert (S2 : th * (2 * r / ((1 + r) * (1 + r))) <= / u * (r * (1 - th) / ((1 + r) * (1 + th * r)))).
    { apply Rmult_le_reg_r with (u * ((1 + r) * (1 + r) * (1 + th * r))); [repeat apply Rmult_lt_0_compat; nra|].
      replace (/ u * (r * (1 - th) / ((1 + r) * (1 + th * r))) * (u * ((1 + r) * (1 + r) * (1 + th * r))))
        with (r * ((1 - th) * (1 + r))) by (field; lra).
      replace (th * (2 * r / ((1 + r) * (1 + r))) * (u * ((1 + r) * (1 + r) * (1 + th * r)))) with (r * ((2 * u * th) * (1
        + th * r))) by (field; lra).
      apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat; nra. }
    lra.
  Qed.

  Lemma area_limit : is_lim_seq area (/ u * (1 - / (1 + exp (- u)))).
  Proof.
    assert (H : is_lim_seq (rho u) 0).
    { apply is_lim_seq_ext with (u := fun n => exp (- u) * th ^ n).
      - intros n; unfold rho, qz, th. rewrite <- exp_times, <- exp_plus; f_equal. rewrite plus_IZR, mult_IZR, <- INR_IZR_INZ; ring.
      - replace (Finite 0) with (Rbar_mult (exp (- u)) 0) by (cbn; f_equal; ring).
        apply is_lim_seq_scal_l, is_lim_seq_geom. rewrite Rabs_right; lra. }
    assert (E : rho u 0 = exp (- u)) by (unfold rho, qz; f_equal; cbn; ring).
    unfold area; rewrite E. apply is_lim_seq_mult'; [apply is_lim_seq_const|]. apply is_lim_seq_minus'; [|apply is_lim_seq_const].
    replace 1 with (/ (1 + 0)) at 1 by field.
    apply is_lim_seq_ext with (u := fun n => 1 / (1 + rho u n)); [intros; unfold Rdiv; ring|].
    replace (/ (1 + 0)) with (1 / (1 + 0)) by field.
    apply is_lim_seq_div'; [apply is_lim_seq_const | apply is_lim_seq_plus'; [apply is_lim_seq_const | exact H] | lra].
  Qed.
End Steps.

(** The variance over s, between two functions of s that tend to 1. *)
Definition ratio (s : R) : R := 2 * exp (- / (2 * s)) / (1 + exp (- / (2 * s))).

Lemma variance_near s : 0 < s -> exp (- / s) * ratio s <= variance s / s /\ exp (- / s) * (variance s / s) <= ratio s.
Proof.
  intros Hs. set (u := / (2 * s)). assert (Hu : 0 < u) by (apply Rinv_0_lt_compat; lra).
  assert (Hl := spread_limit s Hs). fold u in Hl. assert (Ha := area_limit u Hu).
  assert (Ee : exp (- / s) = exp (- (2 * u))) by (f_equal; unfold u; field; lra).
  assert (E : / u * (1 - / (1 + exp (- u))) = ratio s * s).
  { unfold ratio; fold u. assert (He := exp_pos (- u)). replace (/ u) with (2 * s) by (unfold u; field; lra). field; lra. }
  rewrite E in Ha. rewrite Ee. set (th := exp (- (2 * u))) in *.
  assert (H1 : th * (ratio s * s) <= variance s).
  { apply (is_lim_seq_le (fun n => th * area u n) (spread u) (th * (ratio s * s)) (variance s)); [intros;
      now apply spread_by_area | | exact Hl].
    apply is_lim_seq_mult'; [apply is_lim_seq_const | exact Ha]. }
  assert (H2 : th * variance s <= ratio s * s).
  { apply (is_lim_seq_le (fun n => th * spread u n) (area u) (th * variance s) (ratio s * s)); [intros;
      now apply spread_by_area | | exact Ha].
    apply is_lim_seq_mult'; [apply is_lim_seq_const | exact Hl]. }
  assert (Hi := Rinv_0_lt_compat s Hs).
  split; (apply Rmult_le_reg_r with s; [assumption|]); unfold Rdiv.
  - rewrite Rmult_assoc, (Rmult_assoc (variance s)), Rinv_l, Rmult_1_r by lra. exact H1.
  - rewrite !Rmult_assoc, Rinv_l, Rmult_1_r by lra. exact H2.
Qed.

Lemma variance_crude s : 0 < s -> exp (- (2 * / s)) * s <= variance s.
Proof.
  intros Hs. destruct (variance_near s Hs) as [H _]. assert (Hi := Rinv_0_lt_compat s Hs).
  set (e := exp (- / (2 * s))) in *. assert (He : 0 < e) by apply exp_pos.
  assert (He1 : e <= 1) by (unfold e; rewrite <- exp_0; apply exp_mono; assert (0 < / (2 * s)) by (apply Rinv_0_lt_compat; lra); lra).
  assert (Hr : e <= ratio s).
  { unfold ratio; fold e. apply Rmult_le_reg_r with (1 + e); [lra|]. unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. nra. }
  assert (H2 : exp (- (2 * / s)) <= exp (- / s) * ratio s).
  { apply Rle_trans with (exp (- / s) * e); [|apply Rmult_le_compat_l; [left; apply exp_pos | assumption]].
    unfold e; rewrite <- exp_plus; apply exp_mono. replace (/ (2 * s)) with (/ s / 2) by (field; lra). lra. }
  assert (H3 : exp (- (2 * / s)) <= variance s / s) by lra.
  apply Rmult_le_compat_r with (r := s) in H3; [|lra]. unfold Rdiv in H3; rewrite Rmult_assoc, Rinv_l, Rmult_1_r in H3 by lra. exact H3.
Qed.

(** ** Noise that grows with the square of n, and angles that fall with n *)

(** The odd numbers. *)
Definition odd (n : nat) : R := 2 * INR n + 1.

Lemma odd_pos n : 1 <= odd n.
Proof. unfold odd; generalize (pos_INR n); lra. Qed.

Lemma odd_limit : is_lim_seq (fun n => / odd n) 0.
Proof.
  assert (H : is_lim_seq odd p_infty).
  { unfold odd. apply is_lim_seq_plus with (l1 := p_infty) (l2 := 1); [|apply is_lim_seq_const | reflexivity].
    replace p_infty with (Rbar_mult 2 p_infty). { apply is_lim_seq_scal_l, is_lim_seq_INR. }
    cbn. destruct (Rle_dec 0 2) as [H|H]; [|lra]. destruct (Rle_lt_or_eq_dec 0 2 H); [reflexivity | lra]. }
  apply (is_lim_seq_inv odd p_infty); [exact H | discriminate].
Qed.

Section Large.
  Variable s : R.
  Hypothesis Hs : 0 < s.
  Definition grown (n : nat) : R := s * (odd n)².

  Lemma grown_pos n : 0 < grown n.
  Proof. apply Rmult_lt_0_compat; [assumption|]. assert (H := odd_pos n). unfold Rsqr; nra. Qed.

  Let vanishing c : is_lim_seq (fun n => exp (- (c * / grown n))) 1.
  Proof.
    rewrite <- exp_0. apply (is_lim_seq_continuous exp); [apply derivable_continuous_pt, derivable_pt_exp|].
    replace 0 with (- (c * / s * (0 * 0))) by ring.
    apply is_lim_seq_ext with (u := fun n => - (c * / s * (/ odd n * / odd n))).
    - intros n; unfold grown, Rsqr. assert (H := odd_pos n). field; lra.
    - apply (is_lim_seq_opp _ (c * / s * (0 * 0))). apply is_lim_seq_mult'; [apply is_lim_seq_const | apply is_lim_seq_mult';
        apply odd_limit].
  Qed.

  Lemma grown_variance : is_lim_seq (fun n => variance (grown n) / grown n) 1.
  Proof.
    assert (R1 : is_lim_seq (fun n => ratio (grown n)) 1).
    { assert (V := vanishing (/ 2)). unfold ratio.
      apply is_lim_seq_ext with (u := fun n => 2 * exp (- (/ 2 * / grown n)) / (1 + exp (- (/ 2 * / grown n)))).
      - intros n; assert (H := grown_pos n). replace (/ (2 * grown n)) with (/ 2 * / grown n) by (field; lra). reflexivity.
      - replace (Finite 1) with (Finite (2 * 1 / (1 + 1))) by (f_equal; field).
        apply is_lim_seq_div'; [apply is_lim_seq_mult'; [apply is_lim_seq_const | exact V] | apply is_lim_seq_plus';
          [apply is_lim_seq_const | exact V] | lra]. }
    assert (V1 := vanishing 1).
    apply is_lim_seq_le_le
      with (u := fun n => exp (- (1 * / grown n)) * ratio (grown n)) (w := fun n => ratio (grown n) / exp (- (1 * / grown n))).
    - intros n; destruct (variance_near (grown n) (grown_pos n)) as [H1 H2]. rewrite Rmult_1_l. split; [exact H1|].
      assert (He := exp_pos (- / grown n)). apply Rmult_le_reg_l with (exp (- / grown n)); [assumption|].
      replace (exp (- / grown n) * (ratio (grown n) / exp (- / grown n))) with (ratio (grown n)) by (field; lra). exact H2.
    - replace (Finite 1) with (Finite (1 * 1)) by (f_equal; ring). now apply is_lim_seq_mult'.
    - replace (Finite 1) with (Finite (1 / 1)) by (f_equal; field). apply is_lim_seq_div'; [assumption..|lra].
  Qed.

  Let angle x : is_lim_seq (fun n => (odd n)² * (1 - cos (x * / odd n))) (x² / 2).
  Proof.
    apply is_lim_seq_le_le_loc with (u := fun n => x² / 2 - x² * x² / 24 * (/ odd n * / odd n)) (w := fun _ => x² / 2).
    - assert (H0 : is_lim_seq (fun n => x * / odd n) 0).
      { replace (Finite 0) with (Finite (x * 0)) by (f_equal; ring). apply is_lim_seq_mult'; [apply is_lim_seq_const | apply odd_limit]. }
      apply is_lim_seq_spec in H0. destruct (H0 (mkposreal 1 Rlt_0_1)) as [M HM]. exists M; intros n Hn. specialize (HM n Hn). cbn in HM.
      rewrite Rminus_0_r in HM. apply Rabs_def2 in HM. assert (HP : 3 <= PI) by (generalize PI2_3_2; lra).
      assert (Ho := odd_pos n). set (y := x * / odd n) in *. assert (Ex : x = y * odd n) by (unfold y; field; lra).
      destruct (cos_bound y 0 ltac:(lra) ltac:(lra)) as [C1 C2].
      assert (E1 : cos_approx y (2 * 0 + 1) = 1 - y² / 2) by (unfold cos_approx, cos_term; cbn; unfold Rsqr; field).
      assert (E2 : cos_approx y (2 * (0 + 1)) = 1 - y² / 2 + y² * y² / 24) by (unfold cos_approx, cos_term; cbn; unfold Rsqr; field).
      rewrite E1 in C1. rewrite E2 in C2. assert (Hsq : 0 < (odd n)²) by (unfold Rsqr; nra).
      split.
      + replace (x² / 2 - x² * x² / 24 * (/ odd n * / odd n)) with ((odd n)² * (y² / 2 - y² * y² / 24)) by (rewrite Ex; unfold Rsqr;
          field; lra).
        apply Rmult_le_compat_l; lra.
      + replace (x² / 2) with ((odd n)² * (y² / 2)) by (rewrite Ex; unfold Rsqr; field). apply Rmult_le_compat_l; lra.
    - replace (Finite (x² / 2)) with (Finite (x² / 2 - x² * x² / 24 * (0 * 0))) by (f_equal; ring).
      apply is_lim_seq_minus'; [apply is_lim_seq_const|]. apply is_lim_seq_mult'; [apply is_lim_seq_const | apply is_lim_seq_mult';
        apply odd_limit].
    - apply is_lim_seq_const.
  Qed.

  (** The factor at the angle x / odd n, over its value at 0. *)
  Definition relative_factor (n : nat) (x : R) : R := even_factor (grown n) (x * / odd n) / mass (grown n).

  Theorem relative_factor_limit x : is_lim_seq (fun n => relative_factor n x) (exp (- (s * x² / 2))).
  Proof.
    assert (Hsmall : is_lim_seq (fun n => 1 - cos (x * / odd n)) 0).
    { apply is_lim_seq_ext with (u := fun n => ((odd n)² * (1 - cos (x * / odd n))) * (/ odd n * / odd n)).
      - intros n; assert (Ho := odd_pos n); unfold Rsqr; field; lra.
      - replace (Finite 0) with (Finite (x² / 2 * (0 * 0))) by (f_equal; ring). apply is_lim_seq_mult';
          [apply angle | apply is_lim_seq_mult'; apply odd_limit]. }
    assert (Hexp : is_lim_seq (fun n => variance (grown n) * (1 - cos (x * / odd n))) (s * x² / 2)).
    { apply is_lim_seq_ext with (u := fun n => variance (grown n) / grown n * (s * ((odd n)² * (1 - cos (x * / odd n))))).
      - intros n; assert (Ho := odd_pos n). unfold grown at 2, Rsqr. field. lra.
      - replace (Finite (s * x² / 2)) with (Finite (1 * (s * (x² / 2)))) by (f_equal; field).
        apply is_lim_seq_mult'; [apply grown_variance | apply is_lim_seq_mult'; [apply is_lim_seq_const | apply angle]]. }
    assert (Hcont : forall w (l : R), is_lim_seq w l -> is_lim_seq (fun n => exp (- w n)) (exp (- l))).
    { intros w l Hw. apply (is_lim_seq_continuous exp);
        [apply derivable_continuous_pt, derivable_pt_exp | now apply (is_lim_seq_opp _ l)]. }
    apply is_lim_seq_le_le_loc with
      (u := fun n => exp (- (variance (grown n) * ((1 - cos (x * / odd n)) + 2 * (1 - cos (x * / odd n))²))))
      (w := fun n => exp (- (variance (grown n) * (1 - cos (x * / odd n))))).
    - apply is_lim_seq_spec in Hsmall. destruct (Hsmall (mkposreal 1 Rlt_0_1)) as [M HM]. exists M; intros n Hn. specialize (HM n Hn).
      cbn in HM.
      rewrite Rminus_0_r in HM. apply Rabs_def2 in HM. assert (Hm := mass_pos (grown n) (grown_pos n)). unfold relative_factor.
      assert (E : even_factor (grown n) (x * / odd n) / mass (grown n) * mass (grown n) = even_factor (grown n) (x * / odd n)) by (field;
        lra).
      split; (apply Rmult_le_reg_r with (mass (grown n)); [assumption|]); rewrite E, (Rmult_comm (exp _) (mass _)).
      + apply even_factor_from_below; [apply grown_pos | lra].
      + apply even_factor_is_small, grown_pos.
    - apply Hcont.
      apply is_lim_seq_ext with (u := fun n => variance (grown n) * (1 - cos (x * / odd n)) * (1 + 2 * (1 - cos (x * / odd n))));
        [intros; unfold Rsqr; ring|].
      replace (s * x² / 2) with (s * x² / 2 * (1 + 2 * 0)) by ring.
      apply is_lim_seq_mult'; [exact Hexp|]. apply is_lim_seq_plus'; [apply is_lim_seq_const | apply is_lim_seq_mult';
        [apply is_lim_seq_const | exact Hsmall]].
    - now apply Hcont.
  Qed.

  (** A bound for all n, if the angle is at most half of a turn. *)
  Lemma relative_factor_bounded n x :
    Rabs x <= PI * odd n -> 0 <= relative_factor n x <= exp (- (exp (- (2 * / s)) * s / 18 * x²)).
  Proof.
    intros Hx. assert (Hm := mass_pos (grown n) (grown_pos n)). assert (Ho := odd_pos n). assert (HP := PI_RGT_0).
    split; [apply Rmult_le_pos; [apply even_factor_nonneg, grown_pos | left; now apply Rinv_0_lt_compat]|].
    apply Rle_trans with (exp (- (variance (grown n) * (1 - cos (x * / odd n))))).
    - apply Rmult_le_reg_r with (mass (grown n)); [assumption|]. unfold relative_factor, Rdiv;
        rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
      rewrite (Rmult_comm (exp _) (mass _)). apply even_factor_is_small, grown_pos.
    - apply exp_mono, Ropp_le_contravar. set (y := x * / odd n). assert (Ex : x = y * odd n) by (unfold y; field; lra).
      assert (Hy : Rabs y <= PI).
      { unfold y; rewrite Rabs_mult, (Rabs_right (/ odd n)) by (left; apply Rinv_0_lt_compat; lra).
        apply Rmult_le_reg_r with (odd n); [lra|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. exact Hx. }
      assert (Hc : y² / 18 <= 1 - cos y).
      { assert (H := third_of_sine (Rabs y / 2) ltac:(generalize (Rabs_pos y); lra) ltac:(lra)).
        assert (E : cos y = 1 - 2 * sin (Rabs y / 2) * sin (Rabs y / 2)).
        { rewrite <- cos_2a_sin. replace (2 * (Rabs y / 2)) with (Rabs y) by field. unfold Rabs; destruct (Rcase_abs y);
            [now rewrite cos_neg | reflexivity]. }
        rewrite E, Rsqr_abs; unfold Rsqr. assert (H0 := Rabs_pos y).
        assert ((Rabs y / 2 / 3) * (Rabs y / 2 / 3) <= sin (Rabs y / 2) * sin (Rabs y / 2)) by (apply Rmult_le_compat; lra). lra. }
      assert (Hv : exp (- (2 * / s)) * grown n <= variance (grown n)).
      { eapply Rle_trans; [|apply variance_crude, grown_pos]. apply Rmult_le_compat_r; [left; apply grown_pos|].
        apply exp_mono, Ropp_le_contravar.
        apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [assumption|]. unfold grown, Rsqr. assert (1 <= odd n * odd n) by nra.
        nra. }
      apply Rle_trans with (exp (- (2 * / s)) * grown n * (y² / 18)).
      + right. rewrite Ex. unfold grown, Rsqr; field.
      + apply Rmult_le_compat; [apply Rmult_le_pos; [left; apply exp_pos | left; apply grown_pos] | | assumption | assumption].
        assert (H0 := Rle_0_sqr y); lra.
  Qed.
End Large.
