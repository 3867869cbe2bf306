(** * Continuous noise

    (K) of proofs/README.md: the profile of a count with noise N(0, 1) that moves by m, by the tail of N(0, 1). Tail.v
    has the series of the tail. *)

From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From DpAssay Require Import Sums Gaussian.
Open Scope R_scope.

Definition density (z : R) : R := exp (- z² / 2) / sqrt (2 * PI).

Lemma density_pos z : 0 < density z.
Proof. apply Rdiv_lt_0_compat; [apply exp_pos | apply sqrt_lt_R0; generalize PI_RGT_0; lra]. Qed.

Lemma density_even z : density (- z) = density z.
Proof. unfold density; now rewrite <- Rsqr_neg. Qed.

(** An integral to the right, reflected. *)
Lemma reflected (g : R -> R) c z l :
  is_RInt_gen g (at_point (c - z)) (Rbar_locally p_infty) l -> is_RInt_gen (fun x => g (c - x)) (Rbar_locally m_infty) (at_point z) l.
Proof.
  intros H P HP. destruct (H P HP) as [Q U HQ [M HU] HPQ].
  exists (fun a => a < c - M) (fun b => b = z); [exists (c - M); auto | reflexivity|].
  intros a b Ha ->. cbn [fst snd]. destruct (HPQ (c - z) (c - a)) as (y & Hy & HPy); [exact HQ | apply HU; lra|]. cbn [fst snd] in Hy.
  exists y; split; [|exact HPy].
  assert (H1 : is_RInt (fun x => scal (-1) (g (-1 * x + c))) z a y).
  { apply (is_RInt_comp_lin g (-1) c z a y). replace (-1 * z + c) with (c - z) by ring. replace (-1 * a + c) with (c - a) by ring.
    exact Hy. }
  apply is_RInt_swap in H1. apply (is_RInt_opp (V := R_NormedModule)) in H1.
  rewrite opp_opp in H1.
  apply (is_RInt_ext (V := R_NormedModule) (fun x => opp (scal (-1) (g (-1 * x + c))))); [|exact H1].
  intros x _. change (- (-1 * g (-1 * x + c)) = g (c - x)). replace (-1 * x + c) with (c - x) by ring. ring.
Qed.

Theorem continuous_profile m eps d tail :
  0 < m ->
  (forall z, is_RInt_gen density (at_point z) (Rbar_locally p_infty) (tail z)) ->
  is_RInt_gen (fun x => Rmax 0 (density x - exp eps * density (x - m))) (Rbar_locally m_infty) (Rbar_locally p_infty) d ->
  d = tail (eps / m - m / 2) - exp eps * tail (eps / m + m / 2).
Proof.
  intros Hm Htail Hd. set (F := fun x => Rmax 0 (density x - exp eps * density (x - m))) in *. set (z := m / 2 - eps / m).
  assert (Hs : 0 < / sqrt (2 * PI)) by (apply Rinv_0_lt_compat, sqrt_lt_R0; generalize PI_RGT_0; lra).
  (* The exponent of the likelihood ratio changes its sign at z. *)
  assert (E : forall x, eps + - (x - m)² / 2 = - x² / 2 + m * (x - z)) by (intros x; unfold z, Rsqr; field; lra).
  assert (Eexp : forall x, exp eps * density (x - m) = exp (- x² / 2 + m * (x - z)) / sqrt (2 * PI)).
  { intros x; unfold density. rewrite <- E, exp_plus. unfold Rdiv; ring. }
  assert (Hleft : forall x, x < z -> F x = density x - exp eps * density (m - x)).
  { intros x Hx; unfold F. replace (m - x) with (- (x - m)) by ring. rewrite density_even. apply Rmax_right. rewrite Eexp.
    unfold density, Rdiv.
    rewrite <- Rmult_minus_distr_r. apply Rmult_le_pos; [|lra].
    assert (exp (- x² / 2 + m * (x - z)) <= exp (- x² / 2)); [apply exp_mono; nra | unfold Rdiv in *; lra]. }
  assert (Hright : forall x, z < x -> F x = 0).
  { intros x Hx; unfold F. apply Rmax_left. rewrite Eexp. unfold density, Rdiv.
    rewrite <- Rmult_minus_distr_r. assert (exp (- x² / 2) <= exp (- x² / 2 + m * (x - z))) by (apply exp_mono; nra). unfold Rdiv in *;
      nra. }
  assert (H1 : is_RInt_gen density (Rbar_locally m_infty) (at_point z) (tail (- z))).
  { apply (is_RInt_gen_ext (fun x => density (0 - x))).
    - apply filter_forall; intros ab x _. rewrite Rminus_0_l; apply density_even.
    - apply reflected. rewrite Rminus_0_l. apply Htail. }
  assert (H2 : is_RInt_gen (fun x => density (m - x)) (Rbar_locally m_infty) (at_point z) (tail (m - z))) by apply reflected, Htail.
  assert (H3 : is_RInt_gen F (Rbar_locally m_infty) (at_point z) (tail (- z) - exp eps * tail (m - z))).
  { apply (is_RInt_gen_ext (fun x => minus (density x) (scal (exp eps) (density (m - x))))).
    - exists (fun a => a < z) (fun b => b = z); [exists z; auto | reflexivity|]. intros a b Ha -> x Hx; cbn [fst snd] in Hx.
      rewrite Rmin_left, Rmax_right in Hx by lra. rewrite Hleft by lra. reflexivity.
    - apply (is_RInt_gen_minus density); [exact H1|]. now apply (is_RInt_gen_scal (fun x => density (m - x))). }
  assert (H4 : is_RInt_gen F (at_point z) (Rbar_locally p_infty) 0).
  { intros P HP. exists (fun a => a = z) (fun b => z < b); [reflexivity | exists z; auto|]. intros a b -> Hb; cbn [fst snd].
    exists 0; split; [|now apply locally_singleton]. apply (is_RInt_ext (V := R_NormedModule) (fun _ => 0)).
    - intros x Hx. rewrite Rmin_left in Hx by lra. symmetry; apply Hright; lra.
    - assert (Hc := is_RInt_const (V := R_NormedModule) z b 0). change (is_RInt (fun _ => 0) z b ((b - z) * 0)) in Hc.
      now rewrite Rmult_0_r in Hc. }
  assert (H5 := is_RInt_gen_Chasles F z _ _ H3 H4).
  assert (U1 := is_RInt_gen_unique (V := R_CompleteNormedModule) F d Hd).
  assert (U2 := is_RInt_gen_unique (V := R_CompleteNormedModule) F _ H5). rewrite U1 in U2. rewrite U2. unfold plus; cbn.
  replace (- z) with (eps / m - m / 2) by (unfold z; ring).
  replace (m - z) with (eps / m + m / 2) by (unfold z; field; lra). ring.
Qed.
