(** * Poisson's summation for the discrete Gaussian

    The second form of (A) of proofs/README.md, without integrals. The sum over x is one over the multiples of N = 2 n + 1 in a lattice
    finer by N, and so, by the roots of unity, the mean of N factors of noise that is larger by N^2. For large N each of them is nearly
    exp(-s x^2 / 2) (Variance.v). The constant follows from applying the formula twice. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Fourier Tables Theta Signed Jacobi Factor Variance.
Import ListNotations.
Open Scope R_scope.

(** ** Sums over multiples, and sums of sums *)

Lemma total_multiples (f : Z -> R) N :
  (0 < N)%Z -> (forall x, 0 <= f x) -> summable f -> (forall x, (x mod N <> 0)%Z -> f x = 0) -> total f = total (fun x => f (N * x)%Z).
Proof.
  intros HN Hf Sf Hz. assert (I : FinFun.Injective (fun x => N * x)%Z) by (intros x y H; nia).
  assert (S1 : summable (fun x => f (N * x)%Z)).
  { destruct Sf as [b Hb]; exists b; intros l Hl. rewrite <- (lsum_map f (fun x => N * x)%Z). now apply Hb, FinFun.Injective_map_NoDup. }
  apply Rle_antisym; apply total_least; intros l Hl.
  - rewrite (lsum_filter_split f (fun x => (x mod N =? 0)%Z)).
    rewrite (lsum_ext_in f (fun _ => 0) (filter (fun x => negb _) l)).
    2: { intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]. apply Hz. destruct (Z.eqb_spec (x mod N) 0);
      [discriminate | assumption]. }
    rewrite lsum_zero, Rplus_0_r. set (l' := filter _ l).
    assert (Hl' : forall x, In x l' -> (N * (x / N))%Z = x).
    { intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx%Z.eqb_eq]. rewrite (Z.div_mod x N) at 2 by lia. lia. }
    rewrite (lsum_ext_in f (fun x => f (N * (x / N))%Z)) by (intros x Hx; now rewrite Hl').
    rewrite <- (lsum_map (fun x => f (N * x)%Z) (fun x => x / N)%Z). apply total_upper; [assumption|].
    assert (Hnd : NoDup l') by now apply NoDup_filter. clear -Hnd Hl'. induction Hnd as [|x l2 Hx _ IH]; cbn; constructor.
    + intros Hin; apply in_map_iff in Hin; destruct Hin as (y & E & Hy). apply Hx.
      rewrite <- (Hl' x), <- E, Hl'; [assumption | now right | now left].
    + apply IH; intros; apply Hl'; now right.
  - rewrite <- (lsum_map f (fun x => N * x)%Z). apply total_upper; [assumption | now apply FinFun.Injective_map_NoDup].
Qed.

Lemma sigma_multiples (f : Z -> R) N :
  (0 < N)%Z -> absolutely f -> (forall x, (x mod N <> 0)%Z -> f x = 0) -> sigma f = sigma (fun x => f (N * x)%Z).
Proof.
  intros HN Hf Hz. destruct (positive_summable f Hf) as [F1 F2]. unfold sigma.
  assert (Z0 : positive 0 = 0) by (unfold positive; apply Rmax_left; lra).
  rewrite (total_multiples (fun x => positive (f x)) N), (total_multiples (fun x => positive (- f x)) N); auto using positive_nonneg.
  - intros x Hx. rewrite Hz, Ropp_0 by assumption. exact Z0.
  - intros x Hx. rewrite Hz by assumption. exact Z0.
Qed.

Lemma sigma_of_sums {B} (f : B -> Z -> R) (l : list B) :
  (forall k, absolutely (f k)) ->
  absolutely (fun x => lsum (fun k => f k x) l) /\ sigma (fun x => lsum (fun k => f k x) l) = lsum (fun k => sigma (f k)) l.
Proof.
  intros H; induction l as [|k l [IH1 IH2]]; cbn [lsum].
  - destruct (sigma_of_nonneg Z.eq_dec (fun _ => 0)) as [H1 H2]; [intros; lra | exists 0; intros; rewrite lsum_zero; lra|].
    split; [exact H1|]. rewrite H2. apply Rle_antisym.
    + apply total_least; intros; rewrite lsum_zero; lra.
    + apply total_nonneg; exists 0; intros; rewrite lsum_zero; lra.
  - destruct (sigma_plus Z.eq_dec _ _ (H k) IH1) as [H1 H2]. split; [exact H1|]. now rewrite H2, IH2.
Qed.

(** ** The sum as a mean of factors *)

Section Periods.
  Variable s : R.
  Hypothesis Hs : 0 < s.

  Lemma moved_factor r i beta :
    0 < r -> sigma (fun y => tilted r (- IZR i) y * cos (beta * IZR y)) = cos (IZR i * beta) * even_factor r beta.
  Proof.
    intros Hr. assert (H := bounded_absolutely r Hr (- IZR i) (fun y => cos (beta * IZR y)) (fun y => Rabs_cos _)).
    rewrite <- (sigma_reindexed _ (fun y => y + i)%Z (fun y => y - i)%Z); [|intros; lia..|exact H]. cbv beta.
    assert (Hc := bounded_absolutely r Hr 0 (fun y => cos (beta * IZR y)) (fun y => Rabs_cos _)).
    assert (Hn := bounded_absolutely r Hr 0 (fun y => sin (beta * IZR y)) (fun y => Rabs_sin _)).
    destruct (sigma_scale Z.eq_dec (cos (IZR i * beta)) _ Hc) as [C1 C2].
    destruct (sigma_scale Z.eq_dec (sin (IZR i * beta)) _ Hn) as [N1 N2].
    destruct (sigma_minus Z.eq_dec _ _ C1 N1) as [_ M]. rewrite C2, N2, odd_sum, Rmult_0_r, Rminus_0_r in M by assumption.
    unfold even_factor. transitivity (cos (IZR i * beta) * sigma (fun x => tilted r 0 x * cos (beta * IZR x))).
    - rewrite <- M. apply sigma_ext; intros y. rewrite plus_IZR.
      replace (beta * (IZR y + IZR i)) with (IZR i * beta + beta * IZR y) by ring. rewrite cos_plus.
      replace (tilted r (- IZR i) (y + i)) with (tilted r 0 y); [ring|]. unfold tilted; do 4 f_equal. rewrite plus_IZR; ring.
    - f_equal; apply sigma_ext; intros x; now rewrite tilted_is_weight.
  Qed.

  Lemma roots_around n y :
    csum (fun k => root (2 * n + 1) (y * k)) (range n)
    = if (y mod Z.of_nat (2 * n + 1) =? 0)%Z then RtoC (INR (2 * n + 1)) else 0%C.
  Proof.
    set (N := (2 * n + 1)%nat). assert (HN : (0 < N)%nat) by (unfold N; lia).
    transitivity (root N (- y * Z.of_nat n) * csum (fun j => root N (y * Z.of_nat j)) (seq 0 N))%C.
    - rewrite <- csum_scale. unfold range, zlist, csum; fold N. rewrite !lsum_map. apply C_eq; cbn [fst snd]; apply lsum_ext; intros j;
        rewrite <- root_plus by assumption; do 2 f_equal; lia.
    - rewrite roots_orthogonal by assumption. destruct (Z.eqb_spec (y mod Z.of_nat N) 0) as [H|H]; [|ring].
      replace (- y * Z.of_nat n)%Z with (Z.of_nat N * (- (y / Z.of_nat N) * Z.of_nat n))%Z.
      + rewrite root_turns by assumption. ring.
      + rewrite (Z.div_mod y (Z.of_nat N)) at 2 by lia. rewrite H. ring.
  Qed.

  Lemma INR_odd n : INR (2 * n + 1) = odd n.
  Proof. unfold odd. rewrite plus_INR, mult_INR; cbn; ring. Qed.

  Lemma cosines_around n b y :
    lsum (fun k => cos ((b + 2 * PI * IZR k) * / odd n * IZR y)) (range n)
    = cos (b * / odd n * IZR y) * (if (y mod Z.of_nat (2 * n + 1) =? 0)%Z then odd n else 0).
  Proof.
    assert (Ho := odd_pos n). assert (H := roots_around n y). assert (H1 := f_equal fst H). assert (H2 := f_equal snd H).
    unfold csum in H1, H2.
    set (c := b * / odd n * IZR y).
    transitivity (cos c * lsum (fun k => cos (2 * PI * (IZR (y * k) / INR (2 * n + 1)))) (range n)
                  - sin c * lsum (fun k => sin (2 * PI * (IZR (y * k) / INR (2 * n + 1)))) (range n)).
    - rewrite <- !lsum_scale, <- lsum_minus. apply lsum_ext; intros k. rewrite <- cos_plus. f_equal.
      unfold c; rewrite INR_odd, mult_IZR. field; lra.
    - unfold root, cis in H1, H2; cbn [fst snd] in H1, H2. rewrite H1, H2.
      destruct (_ =? _)%Z; cbn [fst snd RtoC]; rewrite ?INR_odd; ring.
  Qed.

  Theorem mean_of_factors n i b :
    sigma (fun x => tilted s (- (IZR i / odd n)) x * cos (b * IZR x))
    = / odd n * lsum (fun k => cos (IZR i / odd n * (b + 2 * PI * IZR k)) * even_factor (grown s n) ((b
      + 2 * PI * IZR k) * / odd n)) (range n).
  Proof.
    assert (Ho := odd_pos n). assert (Hg := grown_pos s Hs n).
    set (S := grown s n) in *. set (N := Z.of_nat (2 * n + 1)).
    assert (EN : IZR N = odd n) by (unfold N; now rewrite <- INR_IZR_INZ, INR_odd).
    set (f := fun k y => tilted S (- IZR i) y * cos ((b + 2 * PI * IZR k) * / odd n * IZR y)).
    assert (Hf : forall k, absolutely (f k)) by (intros k; apply bounded_absolutely; [assumption | intros; apply Rabs_cos]).
    destruct (sigma_of_sums f (range n) Hf) as [H1 H2].
    rewrite (lsum_ext _ (fun k => sigma (f k))).
    2: { intros k. unfold f. rewrite moved_factor by assumption. do 2 f_equal. field; lra. }
    rewrite <- H2. rewrite (sigma_multiples (fun x => lsum (fun k => f k x) (range n)) N); [|unfold N; lia|exact H1|].
    - destruct (sigma_scale Z.eq_dec (/ odd n) (fun x => lsum (fun k => f k (N * x)%Z) (range n))) as [_ <-].
      { destruct H1 as [c Hc]; exists c; intros l Hl.
        rewrite <- (lsum_map (fun x => Rabs (lsum (fun k => f k x) (range n))) (fun x => N * x)%Z).
        apply Hc, FinFun.Injective_map_NoDup; [intros x y E; unfold N in E; nia | assumption]. }
      apply sigma_ext; intros x. unfold f. rewrite lsum_scale, cosines_around. fold N.
      rewrite (Z.mul_comm N x), Z.mod_mul by (unfold N; lia). rewrite Z.eqb_refl, mult_IZR, EN.
      replace (b * / odd n * (IZR x * odd n)) with (b * IZR x) by (field; lra).
      replace (tilted S (- IZR i) (x * N)) with (tilted s (- (IZR i / odd n)) x); [field; lra|].
      unfold tilted, S, grown; f_equal. rewrite mult_IZR, EN. unfold Rsqr; field; lra.
    - intros y Hy. unfold f. rewrite lsum_scale, cosines_around. fold N. destruct (Z.eqb_spec (y mod N) 0); [contradiction | ring].
  Qed.

  (** ** The limit *)

  Definition images (m b : R) : R := sigma (fun k => exp (- (s * (b + 2 * PI * IZR k)² / 2)) * cos (m * (b + 2 * PI * IZR k))).

  (** The multiple of 1 / odd n next to m. *)
  Let near (m : R) (n : nat) : R := IZR (up (m * odd n)) / odd n.

  Let near_close m n : Rabs (near m n - m) <= / odd n.
  Proof.
    assert (Ho := odd_pos n). destruct (archimed (m * odd n)) as [H1 H2]. unfold near.
    replace (IZR (up (m * odd n)) / odd n - m) with ((IZR (up (m * odd n)) - m * odd n) * / odd n) by (field; lra).
    assert (Hi : 0 < / odd n) by (apply Rinv_0_lt_compat; lra).
    rewrite Rabs_right; [|apply Rle_ge, Rmult_le_pos; lra]. rewrite <- (Rmult_1_l (/ odd n)) at 2. apply Rmult_le_compat_r; lra.
  Qed.

  Let near_limit m : is_lim_seq (near m) m.
  Proof.
    apply is_lim_seq_le_le with (u := fun n => m - / odd n) (w := fun n => m + / odd n).
    - intros n; assert (H := near_close m n). apply Rabs_le_between in H. lra.
    - replace (Finite m) with (Finite (m - 0)) by (f_equal; ring). apply is_lim_seq_minus'; [apply is_lim_seq_const | apply odd_limit].
    - replace (Finite m) with (Finite (m + 0)) by (f_equal; ring). apply is_lim_seq_plus'; [apply is_lim_seq_const | apply odd_limit].
  Qed.

  Let images_sum m b n : R :=
    lsum (fun k => relative_factor s n (b + 2 * PI * IZR k) * cos (near m n * (b + 2 * PI * IZR k))) (range n).

  Let kappa := exp (- (2 * / s)) * s / 18.
  Let kappa_pos : 0 < kappa.
  Proof. unfold kappa. apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; [apply exp_pos | assumption] | lra]. Qed.

  Lemma images_absolutely m b : - PI <= b <= PI ->
    absolutely (fun k => exp (- (s * (b + 2 * PI * IZR k)² / 2)) * cos (m * (b + 2 * PI * IZR k)))
    /\ is_lim_seq (images_sum m b) (images m b).
  Proof.
    intros Hb. assert (HP := PI_RGT_0).
    set (f := fun n k => if (Z.abs k <=? Z.of_nat n)%Z
                         then relative_factor s n (b + 2 * PI * IZR k) * cos (near m n * (b + 2 * PI * IZR k)) else 0).
    destruct (dominated_sums f (fun k => exp (- (s * (b + 2 * PI * IZR k)² / 2)) * cos (m * (b + 2 * PI * IZR k)))
                (fun k => exp (- (kappa * (b + 2 * PI * IZR k)²)))) as [H1 H2].
    - set (r := / (8 * PI² * kappa)). assert (Hk : 0 < 8 * PI² * kappa) by (apply Rmult_lt_0_compat; [unfold Rsqr; nra | assumption]).
      assert (Hr : 0 < r) by (apply Rinv_0_lt_compat; assumption).
      apply summable_le with (2 := tilted_summable r (b / (2 * PI)) Hr). intros k; right. unfold tilted, r; f_equal. unfold Rsqr; field.
      lra.
    - intros n k. unfold f. destruct (Z.leb_spec (Z.abs k) (Z.of_nat n)) as [Hk|Hk]; [|rewrite Rabs_R0; left; apply exp_pos].
      assert (Hx : Rabs (b + 2 * PI * IZR k) <= PI * odd n).
      { assert (Hk' : - INR n <= IZR k <= INR n) by (rewrite INR_IZR_INZ; split; [rewrite <- opp_IZR|]; apply IZR_le; lia).
        unfold odd; apply Rabs_le; nra. }
      destruct (relative_factor_bounded s Hs n _ Hx) as [B0 B1]. fold kappa in B1.
      rewrite Rabs_mult, (Rabs_right (relative_factor _ _ _)) by lra. assert (Hc := Rabs_cos (near m n * (b + 2 * PI * IZR k))).
      assert (H0 := Rabs_pos (cos (near m n * (b + 2 * PI * IZR k)))). nra.
    - intros k. apply is_lim_seq_ext_loc with (u := fun n => relative_factor s n (b + 2 * PI * IZR k) * cos (near m n * (b
        + 2 * PI * IZR k))).
      + exists (Z.abs_nat k); intros n Hn. unfold f. destruct (Z.leb_spec (Z.abs k) (Z.of_nat n)); [reflexivity | lia].
      + apply is_lim_seq_mult'; [now apply relative_factor_limit|].
        apply (is_lim_seq_continuous cos); [apply continuity_cos|]. apply is_lim_seq_mult'; [apply near_limit | apply is_lim_seq_const].
    - split; [exact H1|]. eapply is_lim_seq_ext; [|exact H2]. intros n; cbv beta. unfold images_sum. apply lsum_ext_in;
        intros k Hk%in_range.
      unfold f. destruct (Z.leb_spec (Z.abs k) (Z.of_nat n)); [reflexivity | lia].
  Qed.

  Let sums_limit m b : is_lim_seq (fun n => sigma (fun x => tilted s (- near m n) x * cos (b * IZR x))) (sigma (fun x => tilted s (- m) x * cos (b * IZR x))).
  Proof.
    assert (Hi := Rinv_0_lt_compat s Hs).
    apply (dominated_sigmas (fun n x => tilted s (- near m n) x * cos (b * IZR x)) _ (fun x => exp (/ s) * tilted (2 * s) (- m) x)).
    - apply summable_scale; [left; apply exp_pos | apply tilted_summable; lra].
    - intros n x. rewrite Rabs_mult, (Rabs_right (tilted _ _ _)) by (apply Rle_ge, tilted_nonneg).
      apply Rle_trans with (tilted s (- near m n) x * 1); [apply Rmult_le_compat_l; [apply tilted_nonneg | apply Rabs_cos]|].
      rewrite Rmult_1_r.
      unfold tilted; rewrite <- exp_plus; apply exp_mono. assert (H := near_close m n). assert (Ho := odd_pos n).
      assert (H1 : Rabs (near m n - m) <= 1). { eapply Rle_trans; [exact H|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
      apply Rabs_le_between in H1. set (t := near m n) in *.
      apply Rmult_le_reg_r with (2 * s * 2); [lra|].
      replace (- (IZR x + - t)² / (2 * s) * (2 * s * 2)) with (- (2 * (IZR x - t)²)) by (unfold Rsqr; field; lra).
      replace ((/ s + - (IZR x + - m)² / (2 * (2 * s))) * (2 * s * 2)) with (4 - (IZR x - m)²) by (unfold Rsqr; field; lra).
      assert (Hd : (t - m)² <= 1) by (unfold Rsqr; nra). assert (Ha := Rle_0_sqr ((IZR x - t) - (t - m))). unfold Rsqr in *. lra.
    - intros x. apply is_lim_seq_mult'; [|apply is_lim_seq_const]. unfold tilted.
      apply (is_lim_seq_continuous exp); [apply derivable_continuous_pt, derivable_pt_exp|].
      apply is_lim_seq_div'; [|apply is_lim_seq_const | lra]. unfold Rsqr.
      apply (is_lim_seq_opp _ ((IZR x + - m) * (IZR x + - m))).
      assert (L : is_lim_seq (fun n => IZR x + - near m n) (IZR x + - m)).
      { apply is_lim_seq_plus'; [apply is_lim_seq_const | apply (is_lim_seq_opp _ m), near_limit]. }
      now apply is_lim_seq_mult'.
  Qed.

  Let by_factors m b n :
    sigma (fun x => tilted s (- near m n) x * cos (b * IZR x)) = mass (grown s n) / odd n * images_sum m b n.
  Proof.
    unfold near. rewrite mean_of_factors. unfold images_sum. assert (Hm := mass_pos _ (grown_pos s Hs n)). assert (Ho := odd_pos n).
    rewrite <- !lsum_scale. apply lsum_ext; intros k. unfold relative_factor, near. field; lra.
  Qed.

  Lemma images_0_pos : 0 < images 0 0.
  Proof.
    destruct (images_absolutely 0 0) as [Ha _]; [generalize PI_RGT_0; lra|]. unfold images.
    set (f := fun k => exp (- (s * (0 + 2 * PI * IZR k)² / 2)) * cos (0 * (0 + 2 * PI * IZR k))) in *.
    assert (Hf : forall k, 0 <= f k) by (intros k; unfold f; rewrite Rmult_0_l, cos_0, Rmult_1_r; left; apply exp_pos).
    assert (Sf : summable f) by (apply summable_le with (2 := Ha); intros; apply Rle_abs).
    destruct (sigma_of_nonneg Z.eq_dec f Hf Sf) as [_ ->]. apply Rlt_le_trans with (lsum f [0%Z]).
    - cbn; unfold f. rewrite Rmult_0_l, cos_0. assert (H := exp_pos (- (s * (0 + 2 * PI * 0)² / 2))). lra.
    - apply total_upper; [assumption | repeat constructor; auto].
  Qed.

  (** The constant, so far. *)
  Definition constant : R := mass s / images 0 0.

  Lemma constant_limit : is_lim_seq (fun n => mass (grown s n) / odd n) constant.
  Proof.
    assert (HP := PI_RGT_0). assert (Hb : - PI <= 0 <= PI) by lra. destruct (images_absolutely 0 0 Hb) as [_ L].
    assert (H0 := images_0_pos).
    assert (S0 := sums_limit 0 0).
    replace (sigma (fun x => tilted s (- 0) x * cos (0 * IZR x))) with (mass s) in S0.
    2: { destruct (sigma_of_nonneg Z.eq_dec (weight s)) as [_ E]; [intros; left; apply weight_pos | now apply weights_summable|].
         unfold mass; rewrite <- E; apply sigma_ext; intros x. rewrite Ropp_0, tilted_is_weight, Rmult_0_l, cos_0; ring. }
    assert (Q : is_lim_seq (fun n => sigma (fun x => tilted s (- near 0 n) x * cos (0 * IZR x)) / images_sum 0 0 n) constant)
      by (apply is_lim_seq_div'; [exact S0 | exact L | lra]).
    (* The sums are above 0 from some n on. *)
    apply is_lim_seq_ext_loc with (2 := Q).
    apply is_lim_seq_spec in L. destruct (L (mkposreal _ H0)) as [M HM]. cbn in HM. exists M; intros n Hn. specialize (HM n Hn).
    apply Rabs_def2 in HM. rewrite by_factors. assert (Ho := odd_pos n). field. lra.
  Qed.

  Theorem by_images m b : - PI <= b <= PI -> sigma (fun x => tilted s (- m) x * cos (b * IZR x)) = constant * images m b.
  Proof.
    intros Hb. destruct (images_absolutely m b Hb) as [_ L]. assert (C := constant_limit).
    assert (P := is_lim_seq_mult' _ _ _ _ C L). assert (S := sums_limit m b).
    apply (is_lim_seq_ext _ (fun n => mass (grown s n) / odd n * images_sum m b n)) in S; [|intros; apply by_factors].
    apply is_lim_seq_unique in P, S. rewrite P in S. now injection S.
  Qed.
End Periods.
