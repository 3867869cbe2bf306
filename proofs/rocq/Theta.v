(** * The moments of the discrete Gaussian are at most those of the Gaussian

    sum over x of exp(-(x + t)^2 / (2 s)) is largest at t = 0. The usual proof is Poisson's summation; this one has only products of
    sums. With T(t) for that sum, and a(t) for the one with s / 2, the substitution x + y, x - y gives
    T(t) T(u) = a((t + u) / 2) a((t - u) / 2) + a((t + u + 1) / 2) a((t - u + 1) / 2).
    From it and the inequality of Cauchy and Schwarz follows T(t)^4 <= T(2 t) T(0)^3. As T is bounded, T(t) > T(0) is impossible. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Cells Tables.
Import ListNotations.
Open Scope R_scope.

(** ** Products and rearrangements of sums *)

Lemma lsum_list_prod {A B} (f : A -> R) (g : B -> R) la lb :
  lsum (fun p => f (fst p) * g (snd p)) (list_prod la lb) = lsum f la * lsum g lb.
Proof.
  induction la as [|a la IH]; cbn [list_prod lsum]; [lra|].
  rewrite lsum_app, IH, lsum_map; cbn [fst snd]. rewrite lsum_scale; ring.
Qed.

Lemma NoDup_list_prod {A B} (la : list A) (lb : list B) : NoDup la -> NoDup lb -> NoDup (list_prod la lb).
Proof.
  intros Ha Hb; induction Ha as [|a la Hna _ IH]; cbn; [constructor|].
  apply NoDup_append; [apply FinFun.Injective_map_NoDup; [intros u v E; now injection E | assumption] | assumption|].
  intros [u v] Hin Hin'; apply in_map_iff in Hin; destruct Hin as (w & E & _); injection E as <- <-.
  apply in_prod_iff in Hin'; tauto.
Qed.

Lemma total_nonneg {A} (f : A -> R) : summable f -> 0 <= total f.
Proof. intros H; apply (total_upper f [] H); constructor. Qed.

Section Products.
  Context {A B : Type}.
  Hypothesis decA : forall x y : A, {x = y} + {x <> y}.
  Hypothesis decB : forall x y : B, {x = y} + {x <> y}.
  Variables (f : A -> R) (g : B -> R).
  Hypothesis Hf : forall x, 0 <= f x.
  Hypothesis Hg : forall x, 0 <= g x.
  Hypothesis Sf : summable f.
  Hypothesis Sg : summable g.
  Let F (p : A * B) : R := f (fst p) * g (snd p).

  Let F_at_most l : NoDup l -> lsum F l <= total f * total g.
  Proof.
    intros Hl. set (xs := nodup decA (map fst l)). set (ys := nodup decB (map snd l)).
    apply Rle_trans with (lsum F (list_prod xs ys)).
    - apply lsum_incl; [intros; now apply Rmult_le_pos | assumption|].
      intros [x y] Hin; apply in_prod_iff; split; apply nodup_In, in_map_iff; now exists (x, y).
    - unfold F; rewrite (lsum_list_prod f g).
      apply Rmult_le_compat; try (now apply lsum_nonneg); (apply total_upper; [assumption | apply NoDup_nodup]).
  Qed.

  Lemma product_summable : summable F.
  Proof. exists (total f * total g); exact F_at_most. Qed.

  Theorem total_product : total F = total f * total g.
  Proof.
    apply Rle_antisym; [now apply total_least|]. assert (SF := product_summable). assert (H0 := total_nonneg F SF).
    assert (Hone : forall lb, NoDup lb -> total f * lsum g lb <= total F).
    { intros lb Hlb. destruct (Rle_lt_or_eq_dec 0 (lsum g lb) (lsum_nonneg g lb Hg)) as [Hpos|<-]; [|lra].
      apply Rmult_le_reg_r with (/ lsum g lb); [now apply Rinv_0_lt_compat|].
      rewrite Rmult_assoc, Rinv_r, Rmult_1_r by lra. apply total_least; intros la Hla.
      apply Rmult_le_reg_r with (lsum g lb); [assumption|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
      rewrite <- lsum_list_prod. apply (total_upper F); [assumption | now apply NoDup_list_prod]. }
    destruct (Rle_lt_or_eq_dec 0 (total f) (total_nonneg f Sf)) as [Hpos|<-]; [|lra].
    rewrite Rmult_comm. apply Rmult_le_reg_r with (/ total f); [now apply Rinv_0_lt_compat|].
    rewrite Rmult_assoc, Rinv_r, Rmult_1_r by lra. apply total_least; intros lb Hlb.
    apply Rmult_le_reg_r with (total f); [assumption|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    rewrite Rmult_comm; now apply Hone.
  Qed.
End Products.

(** Pairs with an even sum, and with an odd one. *)
Definition even_pair (p : Z * Z) : Z * Z := (fst p + snd p, fst p - snd p)%Z.
Definition odd_pair (p : Z * Z) : Z * Z := (fst p + snd p + 1, fst p - snd p)%Z.

Lemma lsum_of_map {A B} (F : B -> R) (phi : A -> B) l : lsum F (map phi l) = lsum (fun x => F (phi x)) l.
Proof. apply lsum_map. Qed.

Theorem total_by_parity (F : Z * Z -> R) :
  (forall p, 0 <= F p) -> summable F -> total F = total (fun p => F (even_pair p)) + total (fun p => F (odd_pair p)).
Proof.
  intros HF SF.
  assert (I0 : FinFun.Injective even_pair) by (intros [a b] [c d] E; injection E as E1 E2; f_equal; lia).
  assert (I1 : FinFun.Injective odd_pair) by (intros [a b] [c d] E; injection E as E1 E2; f_equal; lia).
  assert (S0 : summable (fun p => F (even_pair p))).
  { destruct SF as [b Hb]; exists b; intros l Hl. rewrite <- (lsum_of_map F even_pair l). now apply Hb, FinFun.Injective_map_NoDup. }
  assert (S1 : summable (fun p => F (odd_pair p))).
  { destruct SF as [b Hb]; exists b; intros l Hl. rewrite <- (lsum_of_map F odd_pair l). now apply Hb, FinFun.Injective_map_NoDup. }
  apply Rle_antisym.
  - apply total_least; intros l Hl. rewrite (lsum_filter_split F (fun p => Z.even (fst p + snd p))).
    assert (Hmap : forall (phi psi : Z * Z -> Z * Z) l', NoDup l' -> (forall p, In p l' -> phi (psi p) = p) ->
      summable (fun p => F (phi p)) -> lsum F l' <= total (fun p => F (phi p))).
    { intros phi psi l' Hl' Hinv S. apply Rle_trans with (lsum (fun p => F (phi p)) (map psi l')).
      - right; rewrite (lsum_of_map (fun p => F (phi p)) psi l'); apply lsum_ext_in; intros p Hp; now rewrite Hinv.
      - apply total_upper; [assumption|].
        clear -Hl' Hinv. induction Hl' as [|p l' Hp _ IH]; cbn; [constructor|]. constructor.
        + intros Hin; apply in_map_iff in Hin; destruct Hin as (q & E & Hq). apply Hp.
          rewrite <- (Hinv p) by (now left). rewrite <- E, Hinv by (now right). assumption.
        + apply IH; intros; apply Hinv; now right. }
    apply Rplus_le_compat.
    + apply Hmap with (psi := fun p => ((fst p + snd p) / 2, (fst p - snd p) / 2)%Z); try assumption; [now apply NoDup_filter|].
      intros [x y] Hp; apply filter_In in Hp; destruct Hp as [_ He]; cbn [fst snd] in He.
      apply Z.even_spec in He; destruct He as [k Hk]. unfold even_pair; cbn [fst snd].
      replace (x - y)%Z with (2 * (x - k))%Z by lia. rewrite Hk, !(Z.mul_comm 2), !Z.div_mul by lia. f_equal; lia.
    + apply Hmap with (psi := fun p => ((fst p + snd p - 1) / 2, (fst p - snd p - 1) / 2)%Z); try assumption; [now apply NoDup_filter|].
      intros [x y] Hp; apply filter_In in Hp; destruct Hp as [_ He]; cbn [fst snd] in He.
      rewrite Z.negb_even in He. apply Z.odd_spec in He; destruct He as [k Hk]. unfold odd_pair; cbn [fst snd].
      replace (x + y - 1)%Z with (k * 2)%Z by lia. replace (x - y - 1)%Z with ((x - k - 1) * 2)%Z by lia.
      rewrite !Z.div_mul by lia. f_equal; lia.
  - assert (Hboth : forall l0 l1, NoDup l0 -> NoDup l1 -> lsum (fun p => F (even_pair p)) l0 + lsum (fun p => F (odd_pair p)) l1 <= total F).
    { intros l0 l1 H0 H1. rewrite <- (lsum_of_map F even_pair l0), <- (lsum_of_map F odd_pair l1), <- lsum_app. apply total_upper; [assumption|].
      apply NoDup_append; try (now apply FinFun.Injective_map_NoDup).
      intros p Hin0 Hin1; apply in_map_iff in Hin0, Hin1.
      destruct Hin0 as ([a b] & E0 & _); destruct Hin1 as ([c d] & E1 & _). rewrite <- E1 in E0; injection E0 as; lia. }
    assert (total (fun p => F (even_pair p)) <= total F - total (fun p => F (odd_pair p))); [|lra].
    apply total_least; intros l0 H0.
    assert (total (fun p => F (odd_pair p)) <= total F - lsum (fun p => F (even_pair p)) l0); [|lra].
    apply total_least; intros l1 H1. specialize (Hboth l0 l1 H0 H1); lra.
Qed.

(** ** The sum as a function of t *)

Lemma tilted_summable s t : 0 < s -> summable (tilted s t).
Proof.
  intros Hs. apply summable_le with (g := fun x => exp (- (t² / (2 * s))) * (weight s x * exp (- (t / s) * IZR x))).
  - intros x; right. unfold tilted, weight; rewrite <- !exp_plus; f_equal. unfold Rsqr; field; lra.
  - apply summable_scale; [left; apply exp_pos | now apply tilted_weights_summable].
Qed.

Definition theta (s t : R) : R := total (tilted s t).

Lemma theta_pos s t : 0 < s -> 0 < theta s t.
Proof.
  intros Hs; apply Rlt_le_trans with (lsum (tilted s t) [0%Z]).
  - cbn; unfold tilted. generalize (exp_pos (- (0 + t)² / (2 * s))); lra.
  - apply total_upper; [now apply tilted_summable | repeat constructor; auto].
Qed.

Lemma total_ext {A} (f g : A -> R) : (forall x, f x = g x) -> total f = total g.
Proof.
  intros H; unfold total; f_equal; apply Lub_Rbar_eqset; intros v; split; intros (l & Hl & ->); exists l; (split; [assumption|]);
    apply lsum_ext; intros; now rewrite H.
Qed.

Theorem theta_product s t u :
  0 < s -> theta s t * theta s u
           = theta (s / 2) ((t + u) / 2) * theta (s / 2) ((t - u) / 2)
             + theta (s / 2) ((t + u) / 2 + 1 / 2) * theta (s / 2) ((t - u) / 2 + 1 / 2).
Proof.
  intros Hs; assert (Hs2 : 0 < s / 2) by lra. unfold theta.
  rewrite <- !(total_product Z.eq_dec Z.eq_dec) by (intros; first [apply tilted_nonneg | now apply tilted_summable]).
  rewrite total_by_parity.
  2: { intros; apply Rmult_le_pos; apply tilted_nonneg. }
  2: { apply (product_summable Z.eq_dec Z.eq_dec); intros; first [apply tilted_nonneg | now apply tilted_summable]. }
  f_equal; apply total_ext; intros [p q]; unfold tilted, even_pair, odd_pair; cbn [fst snd]; rewrite <- !exp_plus; f_equal;
    rewrite ?plus_IZR, ?minus_IZR; unfold Rsqr; field; lra.
Qed.

(** Four times the logarithm at t is at most that at 2 t. *)
Lemma theta_doubles s t : 0 < s -> (theta s t) ^ 4 <= theta s (2 * t) * (theta s 0) ^ 3.
Proof.
  intros Hs. assert (H1 := theta_product s t t Hs). assert (H2 := theta_product s (2 * t) 0 Hs). assert (H3 := theta_product s 0 0 Hs).
  replace ((t + t) / 2) with t in H1 by field. replace ((t - t) / 2) with 0 in H1 by field.
  replace ((2 * t + 0) / 2) with t in H2 by field. replace ((2 * t - 0) / 2) with t in H2 by field.
  replace ((0 + 0) / 2) with 0 in H3 by field. replace ((0 - 0) / 2) with 0 in H3 by field.
  rewrite Rplus_0_l in H1, H3.
  set (T := theta s t) in *. set (T2 := theta s (2 * t)) in *. set (T0 := theta s 0) in *.
  set (a := theta (s / 2) t) in *. set (b := theta (s / 2) (t + 1 / 2)) in *.
  set (c := theta (s / 2) 0) in *. set (d := theta (s / 2) (1 / 2)) in *.
  replace (T ^ 4) with ((T * T) * (T * T)) by ring. replace (T2 * T0 ^ 3) with ((T2 * T0) * (T0 * T0)) by ring.
  rewrite H1, H2, H3. assert (0 <= (a * d - b * c) * (a * d - b * c)) by apply Rle_0_sqr. nra.
Qed.

(** Bounded: the sum has period one, and on a period it is below a sum that does not depend on t. *)
Lemma theta_bounded s : 0 < s -> exists b, forall t, theta s t <= b.
Proof.
  intros Hs. set (g := fun x => weight s x * exp (/ s * IZR x) + weight s x * exp (- / s * IZR x)).
  assert (Sg : summable g) by (apply summable_plus; now apply tilted_weights_summable).
  exists (total g); intros t. set (n := Int_part t). set (f := frac_part t).
  assert (Hf : 0 <= f < 1) by (destruct (base_fp t); split; [apply Rge_le|]; assumption).
  assert (Ht : t = IZR n + f) by (unfold f, frac_part, n; ring).
  apply total_least; intros l Hl.
  apply Rle_trans with (lsum g (map (fun x => (x + n)%Z) l)).
  - rewrite lsum_map; apply lsum_le; intros x. set (y := (x + n)%Z).
    assert (Hy : 0 < weight s y) by apply weight_pos.
    assert (E : tilted s t x <= weight s y * exp (/ s * Rabs (IZR y))).
    { unfold tilted, weight; rewrite <- exp_plus; apply exp_mono.
      replace (IZR x + t) with (IZR y + f) by (unfold y; rewrite plus_IZR, Ht; ring).
      apply Rmult_le_reg_r with (2 * s); [lra|].
      replace (- (IZR y + f)² / (2 * s) * (2 * s)) with (- (IZR y + f)²) by (field; lra).
      replace ((- (IZR y)² / (2 * s) + / s * Rabs (IZR y)) * (2 * s)) with (- (IZR y)² + 2 * Rabs (IZR y)) by (field; lra).
      assert (H1 := Rabs_pos (IZR y)). assert (H2 := Rle_abs (- IZR y)). rewrite Rabs_Ropp in H2. unfold Rsqr; nra. }
    eapply Rle_trans; [exact E|]. unfold g.
    assert (P1 : 0 < weight s y * exp (/ s * IZR y)) by (apply Rmult_lt_0_compat; [assumption | apply exp_pos]).
    assert (P2 : 0 < weight s y * exp (- / s * IZR y)) by (apply Rmult_lt_0_compat; [assumption | apply exp_pos]).
    destruct (Rcase_abs (IZR y)) as [H|H].
    + rewrite Rabs_left by assumption. replace (/ s * - IZR y) with (- / s * IZR y) by ring. lra.
    + rewrite Rabs_right by assumption. lra.
  - apply total_upper; [assumption|]. apply FinFun.Injective_map_NoDup; [intros u v; lia | assumption].
Qed.

Lemma theta_powers s t n : 0 < s -> (theta s t / theta s 0) ^ (4 ^ n) <= theta s (2 ^ n * t) / theta s 0.
Proof.
  intros Hs; assert (H0 := theta_pos s 0 Hs). revert t; induction n as [|n IH]; intros t.
  - cbn; rewrite Rmult_1_l; lra.
  - rewrite Nat.pow_succ_r', Nat.mul_comm, pow_mult.
    assert (Hn : 0 <= (theta s t / theta s 0) ^ (4 ^ n)).
    { apply pow_le, Rmult_le_pos; [left; now apply theta_pos | left; now apply Rinv_0_lt_compat]. }
    apply Rle_trans with ((theta s (2 ^ n * t) / theta s 0) ^ 4); [apply pow_incr; split; [assumption | apply IH]|].
    assert (H := theta_doubles s (2 ^ n * t) Hs). replace (2 * (2 ^ n * t)) with (2 ^ S n * t) in H by (cbn; ring).
    apply Rmult_le_reg_r with (theta s 0 ^ 4); [now apply pow_lt|].
    replace ((theta s (2 ^ n * t) / theta s 0) ^ 4 * theta s 0 ^ 4) with (theta s (2 ^ n * t) ^ 4) by (field; lra).
    replace (theta s (2 ^ S n * t) / theta s 0 * theta s 0 ^ 4) with (theta s (2 ^ S n * t) * theta s 0 ^ 3) by (field; lra).
    exact H.
Qed.

Theorem theta_at_most s t : 0 < s -> theta s t <= theta s 0.
Proof.
  intros Hs; assert (H0 := theta_pos s 0 Hs). destruct (Rle_lt_dec (theta s t) (theta s 0)) as [|Hlt]; [assumption|exfalso].
  destruct (theta_bounded s Hs) as [b Hb]. set (r := theta s t / theta s 0).
  assert (Hr : 1 < r) by (apply Rmult_lt_reg_r with (theta s 0); [assumption | unfold r; field_simplify; lra]).
  destruct (Pow_x_infinity r) with (b := b / theta s 0 + 1) as [n Hn]; [rewrite Rabs_right; lra|].
  assert (Hle : (n <= 4 ^ n)%nat) by (apply Nat.lt_le_incl, Nat.pow_gt_lin_r; lia).
  specialize (Hn (4 ^ n)%nat Hle). rewrite Rabs_right in Hn by (apply Rle_ge, pow_le; lra).
  assert (H := theta_powers s t n Hs). fold r in H.
  assert (theta s (2 ^ n * t) / theta s 0 <= b / theta s 0)
    by (apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | apply Hb]). lra.
Qed.

(** ** The moment generating function of the loss, at real points *)

(** exp(y loss) of a count, as a law that need not add up to one: the loss is ln (P1 / Q1). *)
Definition moment (y : R) (c : count) (x : Z) : R := P1 c x * exp (y * ln (P1 c x / Q1 c x)).

Lemma Count_moment s m y x :
  0 < s -> moment y (Count s m) x = exp ((y + y²) * (IZR m ^ 2 / (2 * s))) * (tilted s (y * IZR m) x / mass s).
Proof.
  intros Hs; unfold moment. assert (HP := gaussian_pos s x Hs). cbn [P1 Q1 Count].
  assert (E : gaussian s (x - m) = gaussian s x * exp (gained s m x)) by exact (Count_loss s m Hs x).
  rewrite E. replace (gaussian s x / (gaussian s x * exp (gained s m x))) with (exp (- gained s m x)).
  2: { rewrite exp_Ropp; field; split; [apply Rgt_not_eq, exp_pos | lra]. }
  rewrite ln_exp. unfold gaussian, weight, tilted, gained.
  replace (exp (- (IZR x)² / (2 * s)) / mass s * exp (y * - (IZR m * (2 * IZR x - IZR m) / (2 * s))))
    with (exp (- (IZR x)² / (2 * s) + y * - (IZR m * (2 * IZR x - IZR m) / (2 * s))) / mass s)
    by (rewrite exp_plus; unfold Rdiv; ring).
  unfold Rdiv at 1; unfold Rdiv at 4; rewrite <- Rmult_assoc, <- exp_plus. f_equal; f_equal. unfold Rsqr; field; lra.
Qed.

(** E[exp(y loss)] <= exp(rho (y + y^2)): the discrete Gaussian count is rho-zCDP, with rho = shift^2 / (2 sigma2). *)
Theorem Count_moment_at_most s m y l :
  0 < s -> NoDup l -> lsum (moment y (Count s m)) l <= exp ((y + y²) * (IZR m ^ 2 / (2 * s))).
Proof.
  intros Hs Hl; rewrite (lsum_ext _ _ l (fun x => Count_moment s m y x Hs)), lsum_scale.
  rewrite <- Rmult_1_r; apply Rmult_le_compat_l; [left; apply exp_pos|].
  assert (Hm := mass_pos s Hs). unfold Rdiv; rewrite lsum_scale_r.
  apply Rmult_le_reg_r with (mass s); [assumption|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
  apply Rle_trans with (theta s (y * IZR m)); [apply total_upper; [now apply tilted_summable | assumption]|].
  eapply Rle_trans; [now apply theta_at_most|]. right; unfold theta, mass; apply total_ext; intros x; unfold tilted, weight.
  now rewrite Rplus_0_r.
Qed.
