(** * The imaginary part of a factor by images

    From the real part (Images.v) at m and at m + 1: the factor at m + 1 is exp(i b) times that at m, and so is each image. *)

From Coq Require Import Reals ZArith Lra Lia.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian Fourier Tables Theta Signed Factor Poisson Images.
Open Scope R_scope.

(** The imaginary part of the sum F(b) of (A) by images. *)
Definition image_im (s m b : R) (A : nat) : R :=
  sqrt (2 * PI * s) * lsum (fun k => exp (- (s * (b - 2 * PI * IZR k)²) / 2) * sin (m * (b - 2 * PI * IZR k))) (range A).

Section Imaginary.
  Variables s b : R.
  Hypothesis Hs : 0 < s.

  Let y (k : Z) : R := b - 2 * PI * IZR k.
  Let e (k : Z) : R := exp (- (s * (y k)²) / 2).

  Lemma image_absolutely (chi : Z -> R) : (forall k, Rabs (chi k) <= 1) -> absolutely (fun k => e k * chi k).
  Proof.
    intros H. assert (HP := PI_RGT_0). set (r := dual s). assert (Hr := dual_pos s Hs).
    apply summable_le with (2 := tilted_summable r (- b / (2 * PI)) Hr). intros k.
    assert (E : tilted r (- b / (2 * PI)) k = e k).
    { unfold tilted, r, dual, e, y; f_equal. unfold Rsqr; field; lra. }
    rewrite E, Rabs_mult, (Rabs_right (e k)) by (left; apply exp_pos). rewrite <- (Rmult_1_r (e k)) at 2.
    apply Rmult_le_compat_l; [left; apply exp_pos | apply H].
  Qed.

  Let FR m := sigma (fun x => tilted s (- m) x * cos (b * IZR x)).
  Let FI m := sigma (fun x => tilted s (- m) x * sin (b * IZR x)).
  Let GR m := sigma (fun k => e k * cos (m * y k)).
  Let GI m := sigma (fun k => e k * sin (m * y k)).

  Let AR m : absolutely (fun x => tilted s (- m) x * cos (b * IZR x)) := bounded_absolutely s Hs (- m) _ (fun x => Rabs_cos _).
  Let AI m : absolutely (fun x => tilted s (- m) x * sin (b * IZR x)) := bounded_absolutely s Hs (- m) _ (fun x => Rabs_sin _).
  Let BR m : absolutely (fun k => e k * cos (m * y k)) := image_absolutely _ (fun x => Rabs_cos _).
  Let BI m : absolutely (fun k => e k * sin (m * y k)) := image_absolutely _ (fun x => Rabs_sin _).

  Let real_parts m : FR m = sqrt (2 * PI * s) * GR m.
  Proof.
    assert (H := factor_by_images s m b Hs).
    assert (L1 : is_lim_seq (factor_re s m b) (FR m)) by (apply sigma_is_limit, AR).
    assert (L2 : is_lim_seq (image_re s m b) (sqrt (2 * PI * s) * GR m)).
    { apply (is_lim_seq_scal_l _ (sqrt (2 * PI * s)) (GR m)). apply sigma_is_limit, BR. }
    apply is_lim_seq_unique in L1, L2. rewrite L1, L2 in H. now injection H.
  Qed.

  Let turned (u v : R) (f g : Z -> R) : absolutely f -> absolutely g -> sigma (fun x => u * f x - v * g x) = u * sigma f - v * sigma g.
  Proof.
    intros Hf Hg. destruct (sigma_scale Z.eq_dec u f Hf) as [U1 <-]. destruct (sigma_scale Z.eq_dec v g Hg) as [V1 <-].
    now apply (sigma_minus Z.eq_dec).
  Qed.

  Let next_factor m : FR (m + 1) = cos b * FR m - sin b * FI m.
  Proof.
    unfold FR at 1. rewrite <- (sigma_reindexed (fun x => tilted s (- (m + 1)) x * cos (b * IZR x)) (fun x => x + 1)%Z (fun x => x - 1)%Z);
      [|intros; lia..|apply AR].
    unfold FR, FI. rewrite <- (turned _ _ _ _ (AR m) (AI m)). apply sigma_ext; intros x. rewrite plus_IZR.
    replace (b * (IZR x + 1)) with (b * IZR x + b) by ring. rewrite cos_plus.
    replace (tilted s (- (m + 1)) (x + 1)) with (tilted s (- m) x); [ring|]. unfold tilted; do 4 f_equal. rewrite plus_IZR; ring.
  Qed.

  Let next_images m : GR (m + 1) = cos b * GR m - sin b * GI m.
  Proof.
    unfold GR, GI. rewrite <- (turned _ _ _ _ (BR m) (BI m)). apply sigma_ext; intros k.
    replace ((m + 1) * y k) with (m * y k + y k) by ring. rewrite cos_plus. unfold y at 2 4.
    assert (T := cis_turns k). unfold cis in T. injection T as T1 T2. rewrite cos_minus, sin_minus, T1, T2. ring.
  Qed.

  Lemma imaginary_parts m : FI m = sqrt (2 * PI * s) * GI m.
  Proof.
    destruct (Req_dec (sin b) 0) as [H0|H0].
    - destruct (sin_eq_0_0 b H0) as [j Hj].
      assert (E1 : FI m = 0).
      { transitivity (sigma (fun _ : Z => 0)).
        - apply sigma_ext; intros x. rewrite (sin_eq_0_1 (b * IZR x)); [ring|]. exists (j * x)%Z. rewrite Hj, mult_IZR; ring.
        - unfold sigma. rewrite (total_ext (fun _ : Z => positive (- 0)) (fun _ => positive 0)) by (intros; now rewrite Ropp_0). ring. }
      assert (E2 : GI m = - GI m).
      { unfold GI at 1. rewrite <- (sigma_reindexed (fun k => e k * sin (m * y k)) (fun k => j - k)%Z (fun k => j - k)%Z); [|intros; lia..|apply BI].
        destruct (sigma_opp _ (BI m)) as [_ E]. unfold GI; rewrite <- E. apply sigma_ext; intros k.
        assert (Ey : y (j - k) = - y k) by (unfold y; rewrite minus_IZR, Hj; ring).
        unfold e. rewrite Ey, <- Rsqr_neg. replace (m * - y k) with (- (m * y k)) by ring. rewrite sin_neg; ring. }
      rewrite E1. replace (GI m) with 0 by lra. ring.
    - assert (H1 := next_factor m). assert (H2 := next_images m). rewrite !real_parts, H2 in H1.
      apply Rmult_eq_reg_l with (sin b); [|assumption]. lra.
  Qed.
End Imaginary.

Theorem factor_im_by_images s m b : 0 < s -> Lim_seq (factor_im s m b) = Lim_seq (image_im s m b).
Proof.
  intros Hs. assert (H := imaginary_parts s b Hs m).
  assert (L1 : is_lim_seq (factor_im s m b) (sigma (fun x => tilted s (- m) x * sin (b * IZR x)))).
  { apply sigma_is_limit, bounded_absolutely; [assumption | intros; apply Rabs_sin]. }
  rewrite H in L1.
  assert (L2 : is_lim_seq (image_im s m b)
                 (sqrt (2 * PI * s) * sigma (fun k => exp (- (s * (b - 2 * PI * IZR k)²) / 2) * sin (m * (b - 2 * PI * IZR k))))).
  { apply (is_lim_seq_scal_l _ (sqrt (2 * PI * s)) (sigma _)). apply sigma_is_limit, image_absolutely; [assumption | intros; apply Rabs_sin]. }
  apply is_lim_seq_unique in L1, L2. now rewrite L1, L2.
Qed.
