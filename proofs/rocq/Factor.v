(** * The factor of a discrete Gaussian count is small away from whole turns

    (C) of proofs/README.md: |sum over x of exp(-(x - m)^2 / (2 s) + i b x)| <= F_0 exp(-V (1 - cos b)), with the variance V. At m = 0 by
    finite products (Jacobi.v). That no tilt m makes it larger is proven without Poisson's summation: the square of the size is a sum over
    pairs (x, y), and with x + y and x - y it becomes one of products of two sums, of which each is largest at m = 0. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Fourier Tables Theta Signed Jacobi.
Import ListNotations.
Open Scope R_scope.

(** The tilted weights of N_Z(0, s), completed to a square at m, at the angle b: the sum F(b) of (A), part by part. *)
Definition factor_re (s m b : R) (A : nat) : R := lsum (fun x => tilted s (- m) x * cos (b * IZR x)) (range A).
Definition factor_im (s m b : R) (A : nat) : R := lsum (fun x => tilted s (- m) x * sin (b * IZR x)) (range A).

(** The variance of N_Z(0, s). *)
Definition variance (s : R) : R := total (fun x => gaussian s x * (IZR x)²).

Section Factor.
  Variable s : R.
  Hypothesis Hs : 0 < s.

  Let u := / (2 * s).
  Let Hu : 0 < u. Proof. apply Rinv_0_lt_compat; lra. Qed.

  Lemma square_is_weight x : square u x = weight s x.
  Proof. unfold square, weight, u; f_equal; field; lra. Qed.

  Lemma bounded_absolutely t (chi : Z -> R) :
    (forall x, Rabs (chi x) <= 1) -> absolutely (fun x => tilted s t x * chi x).
  Proof.
    intros H; apply summable_le with (2 := tilted_summable s t Hs); intros x.
    rewrite Rabs_mult, (Rabs_right (tilted s t x)) by (apply Rle_ge, tilted_nonneg).
    rewrite <- Rmult_1_r; apply Rmult_le_compat_l; [apply tilted_nonneg | apply H].
  Qed.

  Lemma Rabs_cos x : Rabs (cos x) <= 1.
  Proof. apply Rabs_le, COS_bound. Qed.

  Lemma Rabs_sin x : Rabs (sin x) <= 1.
  Proof. apply Rabs_le, SIN_bound. Qed.

  Lemma tilted_is_weight x : tilted s 0 x = weight s x.
  Proof. unfold tilted, weight; now rewrite Rplus_0_r. Qed.

  (** ** Without a tilt *)

  Definition even_factor (b : R) : R := sigma (fun x => weight s x * cos (b * IZR x)).

  Let limit_of chi :
    summable (fun x => weight s x * Rabs (chi x)) ->
    absolutely (fun x => weight s x * chi x)
    /\ is_lim_seq (fun n => against u n chi / coefficient u n 0) (sigma (fun x => weight s x * chi x)).
  Proof.
    intros H. destruct (against_limit u Hu chi) as [H1 H2].
    - apply summable_le with (2 := H); intros x; rewrite square_is_weight; lra.
    - split.
      + apply (absolutely_ext (fun x => square u x * chi x)); [intros x; now rewrite square_is_weight | assumption].
      + rewrite (sigma_ext (fun x => weight s x * chi x) (fun x => square u x * chi x)) by (intros; now rewrite square_is_weight). exact H2.
  Qed.

  Let bounded_chi chi : (forall x, Rabs (chi x) <= 1) -> summable (fun x => weight s x * Rabs (chi x)).
  Proof.
    intros H; apply summable_le with (2 := weights_summable s Hs); intros x. assert (Hw := weight_pos s x). specialize (H x). nra.
  Qed.

  Let chi_cos b j : cos (b * IZR (j + 1)) + cos (b * IZR (j - 1)) = 2 * cos b * cos (b * IZR j).
  Proof.
    rewrite plus_IZR, minus_IZR, Rmult_plus_distr_l, Rmult_minus_distr_l, Rmult_1_r, cos_plus, cos_minus. ring.
  Qed.

  Let against_cos b n : against u n (fun j => cos (b * IZR j)) = product_at u (2 * cos b) n.
  Proof.
    rewrite (against_product u n _ (2 * cos b)) by (intros; apply chi_cos). rewrite Rmult_0_r, cos_0; ring.
  Qed.

  Let product_cos b n : 0 <= product_at u (2 * cos b) n <= product_at u 2 n * exp (- (spread u n * (1 - cos b))).
  Proof.
    assert (Hb := COS_bound b). induction n as [|n IH]; cbn [product_at spread].
    - rewrite Rmult_0_l, Ropp_0, exp_0; lra.
    - assert (Hr := rho_between u Hu n). set (r := rho u n) in *.
      set (v := 2 * r / ((1 + r) * (1 + r))).
      assert (E : 1 + r * r + r * (2 * cos b) = (1 + r) * (1 + r) * (1 - v * (1 - cos b))) by (unfold v; field; lra).
      assert (H0 : 0 <= 1 + r * r + r * (2 * cos b)) by nra.
      assert (H1 : 1 + r * r + r * (2 * cos b) <= (1 + r) * (1 + r) * exp (- (v * (1 - cos b)))).
      { rewrite E; apply Rmult_le_compat_l; [nra|]. generalize (exp_ineq1_le (- (v * (1 - cos b)))); lra. }
      split; [apply Rmult_le_pos; [apply IH | assumption]|].
      replace (1 + r * r + r * 2) with ((1 + r) * (1 + r)) by ring.
      replace (exp (- ((spread u n + v) * (1 - cos b)))) with (exp (- (spread u n * (1 - cos b))) * exp (- (v * (1 - cos b))))
        by (rewrite <- exp_plus; f_equal; ring).
      replace (product_at u 2 n * ((1 + r) * (1 + r)) * (exp (- (spread u n * (1 - cos b))) * exp (- (v * (1 - cos b)))))
        with ((product_at u 2 n * exp (- (spread u n * (1 - cos b)))) * ((1 + r) * (1 + r) * exp (- (v * (1 - cos b))))) by ring.
      apply Rmult_le_compat; [apply IH | assumption | apply IH | assumption].
  Qed.

  Let ones : is_lim_seq (fun n => product_at u 2 n / coefficient u n 0) (mass s).
  Proof.
    destruct (limit_of (fun _ => 1)) as [_ H]; [apply bounded_chi; intros; rewrite Rabs_R1; lra|].
    replace (mass s) with (sigma (fun x => weight s x * 1)).
    - eapply is_lim_seq_ext; [|exact H]. intros n; cbn beta. rewrite (against_product u n (fun _ => 1) 2) by (intros; ring). f_equal; ring.
    - destruct (sigma_of_nonneg Z.eq_dec (weight s)) as [_ E]; [intros; left; apply weight_pos | now apply weights_summable|].
      unfold mass; rewrite <- E; apply sigma_ext; intros; ring.
  Qed.

  Lemma even_factor_nonneg b : 0 <= even_factor b.
  Proof.
    destruct (limit_of (fun x => cos (b * IZR x))) as [_ H]; [apply bounded_chi; intros; apply Rabs_cos|].
    apply (is_lim_seq_le (fun _ => 0) _ 0 (even_factor b)) with (3 := H); [|apply is_lim_seq_const].
    intros n; cbn beta. rewrite against_cos. apply Rmult_le_pos; [apply product_cos | left; apply Rinv_0_lt_compat, coefficient_0_pos, Hu].
  Qed.

  Lemma squares_summable : summable (fun x => weight s x * (IZR x)²).
  Proof.
    apply summable_le with (g := fun x => 4 * (weight s x * exp (1 * IZR x)) + 4 * (weight s x * exp (- (1) * IZR x))).
    - intros x. set (y := IZR x). assert (Hexp : forall z, 0 <= z -> z² <= 4 * exp z).
      { intros z Hz. assert (H := exp_ineq1_le (z / 2)). assert (E : exp z = exp (z / 2) * exp (z / 2)) by (rewrite <- exp_plus; f_equal;
          lra).
        assert ((1 + z / 2) * (1 + z / 2) <= exp (z / 2) * exp (z / 2)) by (apply Rmult_le_compat; lra). unfold Rsqr; nra. }
      replace (4 * (weight s x * exp (1 * y)) + 4 * (weight s x * exp (- (1) * y))) with (weight s x * (4 * exp (1 * y)
        + 4 * exp (- (1) * y))) by ring.
      apply Rmult_le_compat_l; [left; apply weight_pos|].
      rewrite Rmult_1_l. replace (- (1) * y) with (- y) by ring. assert (P1 := exp_pos y). assert (P2 := exp_pos (- y)).
      destruct (Rle_lt_dec 0 y) as [Hy|Hy].
      + specialize (Hexp y Hy). lra.
      + specialize (Hexp (- y) ltac:(lra)). rewrite <- Rsqr_neg in Hexp. lra.
    - apply summable_plus; (apply summable_scale; [lra | now apply tilted_weights_summable]).
  Qed.

  Lemma second_moment : total (fun x => weight s x * (IZR x)²) = variance s * mass s.
  Proof.
    assert (Hm := mass_pos s Hs). unfold variance. rewrite Rmult_comm, <- total_scale.
    - apply total_ext; intros x; unfold gaussian; field; lra.
    - lra.
    - apply summable_le with (g := fun x => / mass s * (weight s x * (IZR x)²)); [intros x; unfold gaussian, Rdiv; lra|].
      apply summable_scale; [left; now apply Rinv_0_lt_compat | apply squares_summable].
  Qed.

  Lemma spread_limit : is_lim_seq (spread u) (variance s).
  Proof.
    assert (Hm := mass_pos s Hs).
    destruct (limit_of (fun x => (IZR x)²)) as [_ H].
    { apply summable_le with (2 := squares_summable); intros x; rewrite Rabs_right by (apply Rle_ge, Rle_0_sqr); lra. }
    assert (E : sigma (fun x => weight s x * (IZR x)²) = variance s * mass s).
    { assert (H0 : forall x, 0 <= weight s x * (IZR x)²) by (intros x; apply Rmult_le_pos; [left; apply weight_pos | apply Rle_0_sqr]).
      destruct (sigma_of_nonneg Z.eq_dec _ H0 squares_summable) as [_ ->]. apply second_moment. }
    rewrite E in H. replace (variance s) with (variance s * mass s / mass s) by (field; lra).
    apply is_lim_seq_ext
      with (u := fun n => (against u n (fun j => (IZR j)²) / coefficient u n 0) / (product_at u 2 n / coefficient u n 0)).
    - intros n. rewrite (against_squares u Hu n). assert (Hc := coefficient_0_pos u Hu n).
      assert (Hp : 0 < product_at u 2 n).
      { clear -Hu. induction n as [|n IH]; cbn [product_at]; [lra|]. assert (Hr := rho_between u Hu n). apply Rmult_lt_0_compat;
          [assumption | nra]. }
      field; lra.
    - apply is_lim_seq_div'; [exact H | exact ones | lra].
  Qed.

  (** (C) without a tilt. *)
  Lemma even_factor_is_small b : even_factor b <= mass s * exp (- (variance s * (1 - cos b))).
  Proof.
    destruct (limit_of (fun x => cos (b * IZR x))) as [_ H]; [apply bounded_chi; intros; apply Rabs_cos|].
    apply (is_lim_seq_le _ (fun n => product_at u 2 n / coefficient u n 0 * exp (- (spread u n * (1 - cos b))))
             (even_factor b) (mass s * exp (- (variance s * (1 - cos b))))) with (2 := H).
    - intros n; cbn beta. rewrite against_cos. destruct (product_cos b n) as [_ H1]. assert (Hc := coefficient_0_pos u Hu n).
      unfold Rdiv. apply Rmult_le_compat_r with (r := / coefficient u n 0) in H1; [lra | left; now apply Rinv_0_lt_compat].
    - apply is_lim_seq_mult'; [exact ones|].
      apply (is_lim_seq_continuous exp); [apply derivable_continuous_pt, derivable_pt_exp|].
      apply (is_lim_seq_opp _ (variance s * (1 - cos b))). apply is_lim_seq_mult'; [apply spread_limit | apply is_lim_seq_const].
  Qed.

  (** From below, for angles up to a quarter of a turn. *)
  Let product_from_below b n :
    1 - cos b <= 1 -> product_at u 2 n * exp (- (spread u n * ((1 - cos b) + 2 * (1 - cos b)²))) <= product_at u (2 * cos b) n.
  Proof.
    intros Hc. assert (Hb := COS_bound b). set (c := 1 - cos b) in *. induction n as [|n IH]; cbn [product_at spread].
    - rewrite Rmult_0_l, Ropp_0, exp_0; lra.
    - assert (Hr := rho_between u Hu n). set (r := rho u n) in *. set (v := 2 * r / ((1 + r) * (1 + r))).
      assert (Hv : 0 <= v <= 1 / 2).
      { split; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; nra]|].
        apply Rmult_le_reg_r with ((1 + r) * (1 + r)); [nra|]. unfold v, Rdiv at 1; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by nra.
        assert (H := Rle_0_sqr (1 - r)); unfold Rsqr in H; lra. }
      assert (E : 1 + r * r + r * (2 * cos b) = (1 + r) * (1 + r) * (1 - v * c)) by (unfold v, c; field; lra).
      assert (Hx : 0 <= v * c <= 1 / 2) by (split; nra).
      assert (H1 : exp (- (v * (c + 2 * c²))) <= 1 - v * c).
      { apply Rle_trans with (exp (- (v * c + 2 * (v * c)²))).
        - apply exp_mono. unfold Rsqr. assert (0 <= v * (c * c)) by (apply Rmult_le_pos; [lra | apply Rle_0_sqr]). nra.
        - set (x := v * c) in *. rewrite exp_Ropp. assert (H := exp_ineq1_le (x + 2 * x²)). unfold Rsqr in *.
          assert (0 <= x * x) by nra.
          apply Rmult_le_reg_r with (exp (x + 2 * (x * x))); [apply exp_pos|]. rewrite Rinv_l by (apply Rgt_not_eq, exp_pos).
          apply Rle_trans with ((1 - x) * (1 + (x + 2 * (x * x)))); [nra | apply Rmult_le_compat_l; lra]. }
      replace (1 + r * r + r * 2) with ((1 + r) * (1 + r)) by ring. rewrite E.
      replace (exp (- ((spread u n + v) * (c + 2 * c²)))) with (exp (- (spread u n * (c + 2 * c²))) * exp (- (v * (c + 2 * c²))))
        by (rewrite <- exp_plus; f_equal; ring).
      replace (product_at u 2 n * ((1 + r) * (1 + r)) * (exp (- (spread u n * (c + 2 * c²))) * exp (- (v * (c + 2 * c²)))))
        with ((product_at u 2 n * exp (- (spread u n * (c + 2 * c²)))) * ((1 + r) * (1 + r) * exp (- (v * (c + 2 * c²))))) by ring.
      assert (Hp : 0 <= product_at u 2 n) by (rewrite <- (Rmult_1_r 2), <- cos_0; apply product_cos).
      apply Rmult_le_compat; [apply Rmult_le_pos; [assumption | left; apply exp_pos] | apply Rmult_le_pos; [nra | left;
        apply exp_pos] | assumption|].
      apply Rmult_le_compat_l; [nra | assumption].
  Qed.

  Lemma even_factor_from_below b :
    1 - cos b <= 1 -> mass s * exp (- (variance s * ((1 - cos b) + 2 * (1 - cos b)²))) <= even_factor b.
  Proof.
    intros Hc. destruct (limit_of (fun x => cos (b * IZR x))) as [_ H]; [apply bounded_chi; intros; apply Rabs_cos|].
    set (w := (1 - cos b) + 2 * (1 - cos b)²).
    apply (is_lim_seq_le (fun n => product_at u 2 n / coefficient u n 0 * exp (- (spread u n * w))) _
             (mass s * exp (- (variance s * w))) (even_factor b)) with (3 := H).
    - intros n; cbn beta. rewrite against_cos. assert (H1 := product_from_below b n Hc). fold w in H1.
      assert (Hk := coefficient_0_pos u Hu n).
      unfold Rdiv. apply Rmult_le_compat_r with (r := / coefficient u n 0) in H1; [lra | left; now apply Rinv_0_lt_compat].
    - apply is_lim_seq_mult'; [exact ones|].
      apply (is_lim_seq_continuous exp); [apply derivable_continuous_pt, derivable_pt_exp|].
      apply (is_lim_seq_opp _ (variance s * w)). apply is_lim_seq_mult'; [apply spread_limit | apply is_lim_seq_const].
  Qed.

  (** ** Alternating sums *)

  Definition alternating (m : R) : R := sigma (fun x => tilted s (- m) x * cos (PI * IZR x)).

  Let chi_alternating m j :
    cos (PI * IZR (j + 1)) * exp (m / s * IZR (j + 1)) + cos (PI * IZR (j - 1)) * exp (m / s * IZR (j - 1))
    = - (exp (m / s) + exp (- (m / s))) * (cos (PI * IZR j) * exp (m / s * IZR j)).
  Proof.
    rewrite plus_IZR, minus_IZR, !Rmult_plus_distr_l, !Rmult_minus_distr_l, !Rmult_1_r, cos_plus, cos_minus, cos_PI, sin_PI.
    unfold Rminus; rewrite !exp_plus. ring.
  Qed.

  Let product_alternating m n :
    -1 / 2 <= m <= 1 / 2 -> 0 <= product_at u (- (exp (m / s) + exp (- (m / s)))) n <= product_at u (- 2) n.
  Proof.
    intros Hm; induction n as [|n IH]; cbn [product_at]; [lra|].
    assert (Hr := rho_between u Hu n). set (y := exp (m / s)). set (y' := exp (- (m / s))).
    assert (Hy : 0 < y) by apply exp_pos. assert (Hy' : 0 < y') by apply exp_pos.
    assert (Eyy : y * y' = 1) by (unfold y, y'; rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
    assert (H2 : 2 <= y + y').
    { assert (H := Rle_0_sqr (y - y')). unfold Rsqr in H. apply Rnot_lt_le; intros Hlt.
      assert ((y + y') * (y + y') < 2 * 2) by (apply Rmult_le_0_lt_compat; lra). lra. }
    (* rho n is at most exp(-1 / (2 s)), so that neither rho y nor rho / y is above 1. *)
    assert (Hle : rho u n <= exp (- / (2 * s))).
    { unfold rho, qz; apply exp_mono. fold u. apply Ropp_le_contravar. rewrite <- (Rmult_1_r u) at 1.
      apply Rmult_le_compat_l; [lra | apply IZR_le; lia]. }
    assert (Hi := Rinv_0_lt_compat s Hs).
    assert (H3 : exp (- / (2 * s)) * y <= 1).
    { unfold y; rewrite <- exp_plus, <- exp_0; apply exp_mono. replace (- / (2 * s) + m / s) with ((m - 1 / 2) * / s) by (field; lra).
      nra. }
    assert (H4 : exp (- / (2 * s)) * y' <= 1).
    { unfold y'; rewrite <- exp_plus, <- exp_0; apply exp_mono. replace (- / (2 * s) + - (m / s)) with ((- m - 1 / 2) * / s) by (field;
        lra). nra. }
    set (r := rho u n) in *.
    assert (H5 : r * y <= 1) by nra. assert (H6 : r * y' <= 1) by nra.
    assert (E : 1 + r * r + r * - (y + y') = (1 - r * y) * (1 - r * y')).
    { transitivity (1 + r * r * (y * y') - r * (y + y')); [rewrite Eyy; ring | ring]. }
    assert (H7 : 0 <= 1 + r * r + r * - (y + y')) by (rewrite E; apply Rmult_le_pos; lra).
    split; [apply Rmult_le_pos; [apply IH | assumption]|].
    apply Rmult_le_compat; [apply IH | assumption | apply IH | nra].
  Qed.

  Let exp_summable m : summable (fun x => weight s x * Rabs (cos (PI * IZR x) * exp (m / s * IZR x))).
  Proof.
    apply summable_le with (g := fun x => weight s x * exp (m / s * IZR x)); [|now apply tilted_weights_summable].
    intros x; apply Rmult_le_compat_l; [left; apply weight_pos|]. rewrite Rabs_mult, (Rabs_right (exp _)) by (left; apply exp_pos).
    assert (H := Rabs_cos (PI * IZR x)). assert (H0 := exp_pos (m / s * IZR x)). nra.
  Qed.

  Let alternating_as m :
    alternating m = exp (- (m² / (2 * s))) * sigma (fun x => weight s x * (cos (PI * IZR x) * exp (m / s * IZR x))).
  Proof.
    destruct (limit_of _ (exp_summable m)) as [Ha _]. destruct (sigma_scale Z.eq_dec (exp (- (m² / (2 * s)))) _ Ha) as [_ <-].
    unfold alternating; apply sigma_ext; intros x. unfold tilted, weight.
    replace (exp (- (IZR x + - m)² / (2 * s))) with (exp (- (m² / (2 * s))) * (exp (- (IZR x)² / (2 * s)) * exp (m / s * IZR x))).
    - ring.
    - rewrite <- !exp_plus; f_equal; unfold Rsqr; field; lra.
  Qed.

  Lemma alternating_near m : -1 / 2 <= m <= 1 / 2 -> 0 <= alternating m <= alternating 0.
  Proof.
    intros Hm. rewrite !alternating_as. rewrite Rsqr_0. replace (- (0 / (2 * s))) with 0 by (field; lra). rewrite exp_0, Rmult_1_l.
    destruct (limit_of _ (exp_summable m)) as [_ L]. destruct (limit_of _ (exp_summable 0)) as [_ L0].
    assert (He := exp_pos (- (m² / (2 * s)))).
    assert (He1 : exp (- (m² / (2 * s))) <= 1).
    { apply Rle_trans with (exp 0); [apply exp_mono | rewrite exp_0; lra]. assert (0 <= m² / (2 * s)); [|lra].
      apply Rmult_le_pos; [apply Rle_0_sqr | left; apply Rinv_0_lt_compat; lra]. }
    set (S := sigma (fun x => weight s x * (cos (PI * IZR x) * exp (m / s * IZR x)))) in *.
    set (S0 := sigma (fun x => weight s x * (cos (PI * IZR x) * exp (0 / s * IZR x)))) in *.
    assert (Hchi : forall t n, against u n (fun x => cos (PI * IZR x) * exp (t / s * IZR x)) = product_at u (- (exp (t / s)
      + exp (- (t / s)))) n).
    { intros t n. rewrite (against_product u n _ (- (exp (t / s) + exp (- (t / s))))) by (intros; apply chi_alternating).
      rewrite !Rmult_0_r, cos_0, exp_0; ring. }
    assert (H0 : 0 <= S).
    { apply (is_lim_seq_le (fun _ => 0) _ 0 S) with (3 := L); [|apply is_lim_seq_const].
      intros n; cbn beta. rewrite Hchi. apply Rmult_le_pos; [now apply product_alternating | left;
        apply Rinv_0_lt_compat, coefficient_0_pos, Hu]. }
    assert (H1 : S <= S0).
    { apply (is_lim_seq_le _ _ S S0) with (2 := L) (3 := L0). intros n; cbn beta. rewrite !Hchi.
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, coefficient_0_pos, Hu|].
      replace (exp (0 / s) + exp (- (0 / s))) with 2.
      - now apply product_alternating.
      - replace (0 / s) with 0 by (field; lra). rewrite Ropp_0, exp_0; ring. }
    split; [apply Rmult_le_pos; lra|]. nra.
  Qed.
End Factor.

(** A sum over all integers, moved or reflected. *)
Lemma total_reindexed (f : Z -> R) (phi psi : Z -> Z) :
  (forall x, psi (phi x) = x) -> (forall x, phi (psi x) = x) -> summable f -> total (fun x => f (phi x)) = total f.
Proof.
  intros H1 H2 Sf.
  assert (I1 : FinFun.Injective phi) by (intros x y E; now rewrite <- (H1 x), E, H1).
  assert (I2 : FinFun.Injective psi) by (intros x y E; now rewrite <- (H2 x), E, H2).
  apply Rle_antisym; apply total_least; intros l Hl.
  - rewrite <- (lsum_map f phi). apply total_upper; [assumption | now apply FinFun.Injective_map_NoDup].
  - rewrite (lsum_ext f (fun x => f (phi (psi x)))) by (intros; now rewrite H2).
    rewrite <- (lsum_map (fun x => f (phi x)) psi). apply total_upper; [|now apply FinFun.Injective_map_NoDup].
    destruct Sf as [b Hb]; exists b; intros l' Hl'. rewrite <- (lsum_map f phi). now apply Hb, FinFun.Injective_map_NoDup.
Qed.

Lemma sigma_reindexed (f : Z -> R) (phi psi : Z -> Z) :
  (forall x, psi (phi x) = x) -> (forall x, phi (psi x) = x) -> absolutely f -> sigma (fun x => f (phi x)) = sigma f.
Proof.
  intros H1 H2 Hf. destruct (positive_summable f Hf) as [F1 F2]. unfold sigma.
  rewrite (total_reindexed (fun x => positive (f x)) phi psi), (total_reindexed (fun x => positive (- f x)) phi psi); auto.
Qed.

Lemma alternating_moved s m : 0 < s -> alternating s (m + 1) = - alternating s m.
Proof.
  intros Hs. assert (H := bounded_absolutely s Hs (- m) (fun x => cos (PI * IZR x)) (fun x => Rabs_cos _)).
  unfold alternating. destruct (sigma_opp _ H) as [Ho <-].
  rewrite <- (sigma_reindexed (fun x => - (tilted s (- m) x * cos (PI * IZR x))) (fun x => x - 1)%Z (fun x => x + 1)%Z); [|intros;
    lia..|exact Ho].
  apply sigma_ext; intros x. unfold tilted; rewrite minus_IZR.
  replace (PI * (IZR x - 1)) with (PI * IZR x - PI) by ring. rewrite cos_minus, cos_PI, sin_PI.
  replace (IZR x + - (m + 1)) with (IZR x - 1 + - m) by ring. ring.
Qed.

Theorem alternating_at_most s m : 0 < s -> Rabs (alternating s m) <= alternating s 0.
Proof.
  intros Hs. set (k := (up (m - 1 / 2))%Z). assert (Hk := archimed (m - 1 / 2)). fold k in Hk.
  assert (Hnat : forall (n : nat) t, Rabs (alternating s (t + INR n)) = Rabs (alternating s t)).
  { induction n as [|n IH]; intros t; [now rewrite Rplus_0_r|].
    rewrite S_INR, <- Rplus_assoc, alternating_moved, Rabs_Ropp by assumption. apply IH. }
  assert (Hn : Rabs (alternating s m) = Rabs (alternating s (m - IZR k))).
  { destruct (Z.le_ge_cases 0 k) as [H|H].
    - rewrite <- (Hnat (Z.to_nat k) (m - IZR k)). do 2 f_equal. rewrite INR_IZR_INZ, Z2Nat.id by assumption. ring.
    - rewrite <- (Hnat (Z.to_nat (- k)) m). do 2 f_equal. rewrite INR_IZR_INZ, Z2Nat.id, opp_IZR by lia. ring. }
  rewrite Hn. destruct (alternating_near s Hs (m - IZR k)) as [H0 H1]; [lra|]. now rewrite Rabs_right by lra.
Qed.

(** A sum of odd terms. *)
Lemma odd_sum s b : 0 < s -> sigma (fun x => tilted s 0 x * sin (b * IZR x)) = 0.
Proof.
  intros Hs. assert (H := bounded_absolutely s Hs 0 (fun x => sin (b * IZR x)) (fun x => Rabs_sin _)).
  set (f := fun x => tilted s 0 x * sin (b * IZR x)) in *. assert (E : sigma f = - sigma f); [|lra].
  destruct (sigma_opp f H) as [Ho <-]. rewrite <- (sigma_reindexed (fun x => - f x) Z.opp Z.opp); [|intros; lia..|exact Ho].
  apply sigma_ext; intros x; unfold f. rewrite opp_IZR. replace (b * - IZR x) with (- (b * IZR x)) by ring. rewrite sin_neg.
  replace (tilted s 0 (- x)) with (tilted s 0 x); [ring|]. unfold tilted; f_equal. rewrite opp_IZR; unfold Rsqr; field; lra.
Qed.

(** ** With a tilt *)

Section Tilt.
  Variables s b : R.
  Hypothesis Hs : 0 < s.
  Let s2 := s / 2.
  Let Hs2 : 0 < s2. Proof. unfold s2; lra. Qed.
  Let Hs4 : 0 < 2 * s. Proof. lra. Qed.

  Let A := sigma (fun q => tilted s2 0 q * cos (b * (2 * IZR q))).
  Let B := sigma (fun q => tilted s2 (1 / 2) q * cos (b * (2 * IZR q + 1))).

  Let absolutely_A : absolutely (fun q => tilted s2 0 q * cos (b * (2 * IZR q))).
  Proof. apply (bounded_absolutely s2 Hs2); intros; apply Rabs_cos. Qed.
  Let absolutely_B : absolutely (fun q => tilted s2 (1 / 2) q * cos (b * (2 * IZR q + 1))).
  Proof. apply (bounded_absolutely s2 Hs2); intros; apply Rabs_cos. Qed.

  Let theta_sigma r t : 0 < r -> absolutely (tilted r t) /\ sigma (tilted r t) = theta r t.
  Proof. intros Hr; apply (sigma_of_nonneg Z.eq_dec); [apply tilted_nonneg | now apply tilted_summable]. Qed.

  Definition part_re (m : R) : R := sigma (fun x => tilted s (- m) x * cos (b * IZR x)).
  Definition part_im (m : R) : R := sigma (fun x => tilted s (- m) x * sin (b * IZR x)).

  (** The square of the size, by the sums and differences of pairs. *)
  Lemma size_by_parity m : part_re m * part_re m + part_im m * part_im m = theta s2 (- m) * A + theta s2 (1 / 2 - m) * B.
  Proof.
    set (c := fun x => tilted s (- m) x * cos (b * IZR x)). set (d := fun x => tilted s (- m) x * sin (b * IZR x)).
    assert (Hc : absolutely c) by (apply bounded_absolutely; [assumption | intros; apply Rabs_cos]).
    assert (Hd : absolutely d) by (apply bounded_absolutely; [assumption | intros; apply Rabs_sin]).
    destruct (sigma_product c c Hc Hc) as [Hcc Ecc]. destruct (sigma_product d d Hd Hd) as [Hdd Edd].
    destruct (sigma_plus pair_dec _ _ Hcc Hdd) as [Hsum Esum].
    unfold part_re, part_im; fold c d. rewrite <- Ecc, <- Edd, <- Esum.
    destruct (sigma_by_parity _ Hsum) as (He & Ho & ->).
    destruct (theta_sigma s2 (- m) Hs2) as [T1 E1]. destruct (theta_sigma s2 (1 / 2 - m) Hs2) as [T2 E2].
    destruct (sigma_product _ _ T1 absolutely_A) as [_ P1]. destruct (sigma_product _ _ T2 absolutely_B) as [_ P2].
    rewrite <- E1, <- E2. unfold A, B. rewrite <- P1, <- P2. f_equal; apply sigma_ext; intros [p q]; unfold even_pair, odd_pair;
      cbn [fst snd];
      unfold c, d.
    - transitivity (tilted s (- m) (p + q) * tilted s (- m) (p - q) * cos (b * IZR (p + q) - b * IZR (p - q))); [rewrite cos_minus; ring|].
      replace (b * IZR (p + q) - b * IZR (p - q)) with (b * (2 * IZR q)) by (rewrite plus_IZR, minus_IZR; ring).
      rewrite <- (Rmult_assoc (tilted s2 (- m) p)); f_equal. unfold tilted, s2; rewrite <- !exp_plus; f_equal.
      rewrite plus_IZR, minus_IZR; unfold Rsqr; field; lra.
    - transitivity (tilted s (- m) (p + q + 1) * tilted s (- m) (p - q) * cos (b * IZR (p + q + 1) - b * IZR (p - q)));
        [rewrite cos_minus; ring|].
      replace (b * IZR (p + q + 1) - b * IZR (p - q)) with (b * (2 * IZR q + 1)) by (rewrite !plus_IZR, minus_IZR; ring).
      rewrite <- (Rmult_assoc (tilted s2 (1 / 2 - m) p)); f_equal. unfold tilted, s2; rewrite <- !exp_plus; f_equal.
      rewrite !plus_IZR, minus_IZR; unfold Rsqr; field; lra.
  Qed.

  (** The sums of even and of odd integers, as sums of all. *)
  Let A_plus_B : even_factor (2 * s) b = A + B.
  Proof.
    unfold even_factor. assert (H : absolutely (fun x => weight (2 * s) x * cos (b * IZR x))).
    { apply (absolutely_ext (fun x => tilted (2 * s) 0 x * cos (b * IZR x))); [intros; now rewrite tilted_is_weight|].
      apply bounded_absolutely; [assumption | intros; apply Rabs_cos]. }
    destruct (sigma_even_odd _ H) as (_ & _ & ->). unfold A, B. f_equal; apply sigma_ext; intros q.
    - rewrite mult_IZR. f_equal. unfold weight, tilted, s2; f_equal. rewrite mult_IZR; unfold Rsqr; field; lra.
    - rewrite plus_IZR, mult_IZR. f_equal. unfold weight, tilted, s2; f_equal. rewrite plus_IZR, mult_IZR; unfold Rsqr; field; lra.
  Qed.

  Let A_minus_B : even_factor (2 * s) (b + PI) = A - B.
  Proof.
    unfold even_factor. assert (H : absolutely (fun x => weight (2 * s) x * cos ((b + PI) * IZR x))).
    { apply (absolutely_ext (fun x => tilted (2 * s) 0 x * cos ((b + PI) * IZR x))); [intros; now rewrite tilted_is_weight|].
      apply bounded_absolutely; [assumption | intros; apply Rabs_cos]. }
    destruct (sigma_even_odd _ H) as (_ & _ & ->). destruct (sigma_opp _ absolutely_B) as [_ EB].
    unfold A, B, Rminus. rewrite <- EB. f_equal; apply sigma_ext; intros q.
    - f_equal.
      + unfold weight, tilted, s2; f_equal. rewrite mult_IZR; unfold Rsqr; field; lra.
      + rewrite mult_IZR. replace ((b + PI) * (2 * IZR q)) with (b * (2 * IZR q) + 2 * PI * IZR q) by ring.
        rewrite cos_plus. assert (T := cis_turns q). unfold cis in T. injection T as T1 T2. rewrite T1, T2; ring.
    - replace (weight (2 * s) (2 * q + 1)) with (tilted s2 (1 / 2) q).
      + rewrite plus_IZR, mult_IZR. replace ((b + PI) * (2 * IZR q + 1)) with (b * (2 * IZR q + 1) + PI + 2 * PI * IZR q) by ring.
        rewrite (cos_plus (b * (2 * IZR q + 1) + PI)). assert (T := cis_turns q). unfold cis in T. injection T as T1 T2.
        rewrite T1, T2, neg_cos; ring.
      + unfold weight, tilted, s2; f_equal. rewrite plus_IZR, mult_IZR; unfold Rsqr; field; lra.
  Qed.

  Let E_plus_O m : theta (2 * s) (- (2 * m)) = theta s2 (- m) + theta s2 (1 / 2 - m).
  Proof.
    destruct (theta_sigma (2 * s) (- (2 * m)) Hs4) as [T0 <-]. destruct (theta_sigma s2 (- m) Hs2) as [_ <-].
    destruct (theta_sigma s2 (1 / 2 - m) Hs2) as [_ <-].
    destruct (sigma_even_odd _ T0) as (_ & _ & ->). f_equal; apply sigma_ext; intros q; unfold tilted, s2; f_equal;
      rewrite ?plus_IZR, mult_IZR; unfold Rsqr; field; lra.
  Qed.

  Let E_minus_O m : alternating (2 * s) (2 * m) = theta s2 (- m) - theta s2 (1 / 2 - m).
  Proof.
    unfold alternating. assert (H := bounded_absolutely (2 * s) Hs4 (- (2 * m)) (fun x => cos (PI * IZR x)) (fun x => Rabs_cos _)).
    destruct (sigma_even_odd _ H) as (_ & _ & ->). destruct (theta_sigma s2 (- m) Hs2) as [_ <-].
    destruct (theta_sigma s2 (1 / 2 - m) Hs2) as [T2 <-]. destruct (sigma_opp _ T2) as [_ EO]. unfold Rminus at 1; rewrite <- EO.
    f_equal; apply sigma_ext; intros q; assert (T := cis_turns q); unfold cis in T; injection T as T1 T2'.
    - rewrite mult_IZR. replace (PI * (2 * IZR q)) with (2 * PI * IZR q) by ring. rewrite T1, Rmult_1_r.
      unfold tilted, s2; f_equal. rewrite mult_IZR; unfold Rsqr; field; lra.
    - rewrite plus_IZR, mult_IZR. replace (PI * (2 * IZR q + 1)) with (2 * PI * IZR q + PI) by ring. rewrite neg_cos, T1.
      replace (tilted s2 (1 / 2 - m) q) with (tilted (2 * s) (- (2 * m)) (2 * q + 1)); [ring|].
      unfold tilted, s2; f_equal. rewrite plus_IZR, mult_IZR; unfold Rsqr; field; lra.
  Qed.

  Lemma size_without_tilt m : part_re m * part_re m + part_im m * part_im m <= even_factor s b * even_factor s b.
  Proof.
    assert (E0 : even_factor s b = part_re 0).
    { unfold even_factor, part_re. apply sigma_ext; intros x. rewrite Ropp_0; now rewrite tilted_is_weight. }
    assert (I0 : part_im 0 = 0).
    { unfold part_im. rewrite Ropp_0. now apply odd_sum. }
    assert (S0 := size_by_parity 0). rewrite I0, Rmult_0_l, Rplus_0_r in S0. rewrite E0, S0, size_by_parity.
    assert (Hp : 0 <= A + B) by (rewrite <- A_plus_B; now apply even_factor_nonneg).
    assert (Hn : 0 <= A - B) by (rewrite <- A_minus_B; now apply even_factor_nonneg).
    assert (H1 : theta s2 (- m) + theta s2 (1 / 2 - m) <= theta s2 (- 0) + theta s2 (1 / 2 - 0)).
    { rewrite <- !E_plus_O. rewrite Rmult_0_r, Ropp_0. now apply theta_at_most. }
    assert (H2 : theta s2 (- m) - theta s2 (1 / 2 - m) <= theta s2 (- 0) - theta s2 (1 / 2 - 0)).
    { rewrite <- !E_minus_O. rewrite Rmult_0_r. eapply Rle_trans; [apply Rle_abs | now apply alternating_at_most]. }
    nra.
  Qed.
End Tilt.

(** (C): the size of a factor, at every tilt. *)
Theorem factor_is_small s m b re im :
  0 < s -> is_lim_seq (factor_re s m b) (Finite re) -> is_lim_seq (factor_im s m b) (Finite im) ->
  sqrt (re² + im²) / mass s <= exp (- (variance s * (1 - cos b))).
Proof.
  intros Hs Hre Him. assert (Hm := mass_pos s Hs).
  apply sigma_is in Hre; [|apply bounded_absolutely; [assumption | intros; apply Rabs_cos]].
  apply sigma_is in Him; [|apply bounded_absolutely; [assumption | intros; apply Rabs_sin]].
  change (re = part_re s b m) in Hre. change (im = part_im s b m) in Him.
  assert (H := size_without_tilt s b Hs m). rewrite <- Hre, <- Him in H.
  assert (H0 := even_factor_nonneg s Hs b). assert (H1 := even_factor_is_small s Hs b).
  apply Rmult_le_reg_r with (mass s); [assumption|]. unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  apply Rle_trans with (even_factor s b); [|lra].
  rewrite <- (sqrt_square (even_factor s b)) by assumption. apply sqrt_le_1_alt. exact H.
Qed.
