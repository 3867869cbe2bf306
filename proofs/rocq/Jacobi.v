(** * Finite products in place of Jacobi's triple product

    The product over k < n of (1 + z q^(2k+1)) (1 + q^(2k+1) / z) is a sum of c n j z^j, and c n j / c n 0 tends to q^(j^2), from below. So
    the sums of q^(j^2) z^j are limits of these products, and an inequality of factors is one of the sums. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Fourier Theta Signed.
Import ListNotations.
Open Scope R_scope.

(** ** Limits of sums with a common bound *)

Lemma range_ends n A :
  (A <= n)%nat -> range n = zlist (- Z.of_nat n) (n - A) ++ range A ++ zlist (Z.of_nat A + 1) (n - A).
Proof.
  intros H. unfold range. replace (2 * n + 1)%nat with ((n - A) + ((2 * A + 1) + (n - A)))%nat by lia.
  rewrite (zlist_app _ (n - A)), (zlist_app _ (2 * A + 1)). f_equal; f_equal; f_equal; lia.
Qed.

(** What lies outside of [range A]. *)
Lemma outside_at_most (f g : Z -> R) n A :
  summable g -> (forall x, Rabs (f x) <= g x) -> (A <= n)%nat ->
  Rabs (lsum f (range n) - lsum f (range A)) <= total g - lsum g (range A).
Proof.
  intros Sg Hg HA. set (ends := zlist (- Z.of_nat n) (n - A) ++ zlist (Z.of_nat A + 1) (n - A)).
  assert (E : forall h : Z -> R, lsum h (range n) = lsum h (range A) + lsum h ends)
    by (intros h; rewrite (range_ends n A HA); unfold ends; rewrite !lsum_app; ring).
  assert (Hup := total_upper g (range n) Sg (NoDup_range n)).
  rewrite E in *. replace (lsum f (range A) + lsum f ends - lsum f (range A)) with (lsum f ends) by ring.
  assert (Hends : Rabs (lsum f ends) <= lsum g ends); [|lra].
  generalize ends as e; intros e; induction e as [|x e IH]; cbn [lsum]; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang|]. specialize (Hg x). lra.
Qed.

Lemma dominated (f : nat -> Z -> R) (l g : Z -> R) (v : nat -> R) :
  summable g -> (forall n x, Rabs (f n x) <= g x) -> (forall x, is_lim_seq (fun n => f n x) (l x)) ->
  (forall n A, (A <= n)%nat -> Rabs (v n - lsum (f n) (range A)) <= total g - lsum g (range A)) ->
  absolutely l /\ is_lim_seq v (sigma l).
Proof.
  intros Sg Hg Hl Hv. assert (Hlg : forall x, Rabs (l x) <= g x).
  { intros x. apply (is_lim_seq_le (fun n => Rabs (f n x)) (fun _ => g x) (Rabs (l x)) (g x)); [intros;
      apply Hg | | apply is_lim_seq_const].
    now apply (is_lim_seq_abs _ (l x)). }
  assert (Ha : absolutely l) by (apply summable_le with (g := g); assumption). split; [exact Ha|].
  assert (Hg0 : forall x, 0 <= g x) by (intros x; eapply Rle_trans; [apply Rabs_pos | apply (Hg 0%nat)]).
  assert (Lg := symmetric_sums_converge g Hg0 Sg). assert (Ll := sigma_is_limit l Ha).
  apply is_lim_seq_spec in Lg, Ll. apply is_lim_seq_spec; intros eps. assert (He := cond_pos eps).
  assert (He4 : 0 < eps / 4) by lra. destruct (Lg (mkposreal _ He4)) as [A1 H1]. destruct (Ll (mkposreal _ He4)) as [A2 H2].
  set (A := Nat.max A1 A2). specialize (H1 A ltac:(lia)). specialize (H2 A ltac:(lia)). cbn in H1, H2.
  assert (H3 : is_lim_seq (fun n => lsum (f n) (range A)) (lsum l (range A))) by (apply lim_lsum; intros; apply Hl).
  apply is_lim_seq_spec in H3. destruct (H3 (mkposreal _ He4)) as [B HB]. cbn in HB.
  exists (Nat.max A B); intros n Hn. specialize (HB n ltac:(lia)). specialize (Hv n A ltac:(lia)).
  assert (Hg1 : total g - lsum g (range A) < eps / 4) by (apply Rabs_def2 in H1; lra).
  apply Rabs_def1; apply Rabs_def2 in H2, HB; apply Rabs_le_between in Hv; lra.
Qed.

Theorem dominated_sums (f : nat -> Z -> R) (l g : Z -> R) :
  summable g -> (forall n x, Rabs (f n x) <= g x) -> (forall x, is_lim_seq (fun n => f n x) (l x)) ->
  absolutely l /\ is_lim_seq (fun n => lsum (f n) (range n)) (sigma l).
Proof. intros Sg Hg Hl. apply (dominated f l g); try assumption. intros n A HA; now apply outside_at_most. Qed.

Theorem dominated_sigmas (f : nat -> Z -> R) (l g : Z -> R) :
  summable g -> (forall n x, Rabs (f n x) <= g x) -> (forall x, is_lim_seq (fun n => f n x) (l x)) ->
  absolutely l /\ is_lim_seq (fun n => sigma (f n)) (sigma l).
Proof.
  intros Sg Hg Hl. apply (dominated f l g); try assumption. intros n A _.
  assert (Ha : absolutely (f n)) by (apply summable_le with (g := g); auto).
  apply (is_lim_seq_le_loc (fun B => Rabs (lsum (f n) (range B) - lsum (f n) (range A))) (fun _ => total g - lsum g (range A))
           (Rabs (sigma (f n) - lsum (f n) (range A))) (total g - lsum g (range A))).
  - exists A; intros B HB; now apply outside_at_most.
  - apply (is_lim_seq_abs _ (sigma (f n) - lsum (f n) (range A))). apply is_lim_seq_minus';
      [now apply sigma_is_limit | apply is_lim_seq_const].
  - apply is_lim_seq_const.
Qed.

Section Products.
  Variable u : R.
  Hypothesis Hu : 0 < u.

  (** Powers of q = exp(-u). *)
  Definition qz (k : Z) : R := exp (- (u * IZR k)).
  Definition rho (n : nat) : R := qz (2 * Z.of_nat n + 1).

  Lemma qz_plus j k : qz (j + k) = qz j * qz k.
  Proof. unfold qz; rewrite plus_IZR, <- exp_plus; f_equal; ring. Qed.

  Lemma qz_pos k : 0 < qz k.
  Proof. apply exp_pos. Qed.

  Lemma qz_0 : qz 0 = 1.
  Proof. unfold qz; rewrite Rmult_0_r, Ropp_0; apply exp_0. Qed.

  Lemma qz_below k : (0 < k)%Z -> qz k < 1.
  Proof. intros Hk; unfold qz; rewrite <- exp_0; apply exp_increasing. apply IZR_lt in Hk; nra. Qed.

  Lemma rho_between n : 0 < rho n < 1.
  Proof. split; [apply qz_pos | apply qz_below; lia]. Qed.

  (** The coefficients of the product over k < n of (1 + z rho k) (1 + rho k / z). *)
  Fixpoint coefficient (n : nat) (j : Z) : R :=
    match n with
    | O => if (j =? 0)%Z then 1 else 0
    | S n' => (1 + rho n' * rho n') * coefficient n' j + rho n' * (coefficient n' (j - 1) + coefficient n' (j + 1))
    end.

  Lemma coefficient_nonneg n j : 0 <= coefficient n j.
  Proof.
    revert j; induction n as [|n IH]; intros j; cbn [coefficient]; [destruct (j =? 0)%Z; lra|].
    assert (H := rho_between n). assert (H0 := IH j). assert (H1 := IH (j - 1)%Z). assert (H2 := IH (j + 1)%Z). nra.
  Qed.

  Lemma coefficient_far n j : (Z.of_nat n < Z.abs j)%Z -> coefficient n j = 0.
  Proof.
    revert j; induction n as [|n IH]; intros j Hj; cbn [coefficient].
    - destruct (Z.eqb_spec j 0); [subst; cbn in Hj; lia | reflexivity].
    - rewrite !IH by lia; ring.
  Qed.

  Lemma coefficient_even n j : coefficient n (- j) = coefficient n j.
  Proof.
    revert j; induction n as [|n IH]; intros j; cbn [coefficient].
    - destruct (Z.eqb_spec (- j) 0), (Z.eqb_spec j 0); lia || reflexivity.
    - rewrite IH. replace (- j - 1)%Z with (- (j + 1))%Z by lia. replace (- j + 1)%Z with (- (j - 1))%Z by lia. rewrite !IH; ring.
  Qed.

  Lemma coefficient_0_pos n : 0 < coefficient n 0.
  Proof.
    induction n as [|n IH]; cbn [coefficient]; [cbn; lra|]. assert (H := rho_between n).
    assert (H1 := coefficient_nonneg n (0 - 1)). assert (H2 := coefficient_nonneg n (0 + 1)). nra.
  Qed.

  (** Neighboring coefficients. *)
  Lemma coefficient_ratio n j :
    (1 - qz 2 * qz (2 * j) * qz (2 * Z.of_nat n)) * coefficient n (j + 1)
    = qz 1 * (qz (2 * j) - qz (2 * Z.of_nat n)) * coefficient n j.
  Proof.
    revert j; induction n as [|n IH]; intros j.
    - cbn [coefficient]. change (2 * Z.of_nat 0)%Z with 0%Z. rewrite qz_0.
      destruct (Z.eqb_spec (j + 1) 0) as [E1|E1], (Z.eqb_spec j 0) as [E2|E2]; try lia.
      + replace j with (-1)%Z by lia. rewrite Rmult_1_r, <- qz_plus. change (2 + 2 * -1)%Z with 0%Z. rewrite qz_0; ring.
      + subst j. change (2 * 0)%Z with 0%Z. rewrite qz_0; ring.
      + ring.
    - cbn [coefficient]. assert (R0 := IH j). assert (Rm := IH (j - 1)%Z). assert (Rp := IH (j + 1)%Z). clear IH.
      replace (2 * Z.of_nat (S n))%Z with (1 + 1 + 2 * Z.of_nat n)%Z by lia.
      replace (2 * (j + 1))%Z with (1 + 1 + 2 * j)%Z in Rp by lia. replace (2 * (j - 1))%Z with (-1 + -1 + 2 * j)%Z in Rm by lia.
      unfold rho. replace (j + 1 - 1)%Z with j by lia. replace (j - 1 + 1)%Z with j in Rm by lia.
      replace (j + 1 + 1)%Z with (j + 2)%Z in * by lia. change 2%Z with (1 + 1)%Z in Rm at 1, R0 at 1, Rp at 1.
      change 2%Z with (1 + 1)%Z at 1.
      assert (Hinv : qz (-1) * qz 1 = 1) by (rewrite <- qz_plus; apply qz_0).
      rewrite !qz_plus in *. set (X := qz (2 * j)) in *. set (Y := qz (2 * Z.of_nat n)) in *. set (q := qz 1) in *.
      set (qi := qz (-1)) in *.
      set (c0 := coefficient n j) in *. set (c1 := coefficient n (j + 1)) in *. set (c2 := coefficient n (j + 2)) in *.
      set (cm := coefficient n (j - 1)) in *.
      assert (Rm' : q * (1 - X * Y) * c0 = (X - q * q * Y) * cm).
      { replace (q * (1 - X * Y) * c0) with (q * ((1 - (qi * q) * (qi * q) * X * Y) * c0)) by (rewrite Hinv; ring).
        transitivity (q * (q * (qi * qi * X - Y) * cm)); [rewrite <- Rm; ring|].
        transitivity (((qi * q) * (qi * q) * X - q * q * Y) * cm); [ring | rewrite Hinv; ring]. }
      apply Rminus_diag_uniq.
      transitivity (q * Y * ((1 - q * q * (q * q * X) * Y) * c2 - q * (q * q * X - Y) * c1)
                    + q * q * Y * (q * (1 - X * Y) * c0 - (X - q * q * Y) * cm)
                    + (1 + q * q * q * q * Y * Y) * ((1 - q * q * X * Y) * c1 - q * (X - Y) * c0)); [ring|].
      rewrite R0, Rp, Rm'. ring.
  Qed.

  (** exp(-u j^2), the limit. *)
  Definition square (j : Z) : R := exp (- (u * (IZR j)²)).

  Lemma square_next j : square (j + 1) = square j * (qz 1 * qz (2 * j)).
  Proof.
    unfold square, qz; rewrite <- !exp_plus; f_equal. rewrite plus_IZR, mult_IZR; unfold Rsqr; ring.
  Qed.

  Lemma square_even j : square (- j) = square j.
  Proof. unfold square; rewrite opp_IZR; do 2 f_equal; unfold Rsqr; ring. Qed.

  Definition relative (n : nat) (j : Z) : R := coefficient n j / coefficient n 0.

  Lemma relative_even n j : relative n (- j) = relative n j.
  Proof. unfold relative; now rewrite coefficient_even. Qed.

  Let away n (i : nat) : 0 < 1 - qz 2 * qz (2 * Z.of_nat i) * qz (2 * Z.of_nat n).
  Proof.
    rewrite <- !qz_plus. assert (H := qz_below (2 + 2 * Z.of_nat i + 2 * Z.of_nat n) ltac:(lia)). lra.
  Qed.

  Lemma relative_next n (i : nat) :
    relative n (Z.of_nat (S i)) = relative n (Z.of_nat i)
      * (qz 1 * (qz (2 * Z.of_nat i) - qz (2 * Z.of_nat n)) / (1 - qz 2 * qz (2 * Z.of_nat i) * qz (2 * Z.of_nat n))).
  Proof.
    assert (H := coefficient_ratio n (Z.of_nat i)). assert (Hd := away n i). assert (H0 := coefficient_0_pos n).
    replace (Z.of_nat (S i)) with (Z.of_nat i + 1)%Z by lia. unfold relative.
    set (D := 1 - _ * _ * _) in *. apply Rmult_eq_reg_l with (D * coefficient n 0); [|nra].
    transitivity (D * coefficient n (Z.of_nat i + 1)); [field; lra|]. rewrite H. field; lra.
  Qed.

  Lemma relative_at_most n j : 0 <= relative n j <= square j.
  Proof.
    assert (H0 := coefficient_0_pos n). assert (Hn : forall j, 0 <= relative n j).
    { intros k; apply Rmult_le_pos; [apply coefficient_nonneg | left; now apply Rinv_0_lt_compat]. }
    split; [apply Hn|].
    assert (Hnat : forall i : nat, relative n (Z.of_nat i) <= square (Z.of_nat i)).
    { induction i as [|i IH].
      - unfold relative, square; cbn [Z.of_nat]. rewrite Rsqr_0, Rmult_0_r, Ropp_0, exp_0. right; field; lra.
      - rewrite relative_next. replace (Z.of_nat (S i)) with (Z.of_nat i + 1)%Z by lia. rewrite square_next.
        assert (Hd := away n i). specialize (Hn (Z.of_nat i)). set (X := qz (2 * Z.of_nat i)) in *. set (Y := qz (2 * Z.of_nat n)) in *.
        assert (HX : 0 < X <= 1).
        { split; [apply qz_pos|]. destruct i; [right; apply qz_0 | left; apply qz_below; lia]. }
        assert (HY : 0 < Y) by apply qz_pos. assert (Hq : 0 < qz 1 < 1) by (split; [apply qz_pos | apply qz_below; lia]).
        assert (E2 : qz 2 = qz 1 * qz 1) by (rewrite <- qz_plus; reflexivity).
        assert (Hr : qz 1 * (X - Y) / (1 - qz 2 * X * Y) <= qz 1 * X).
        { apply Rmult_le_reg_r with (1 - qz 2 * X * Y); [assumption|].
          unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_assoc by lra. apply Rmult_le_compat_l; [lra|].
          rewrite E2. assert (qz 1 * X <= 1) by nra. assert (0 <= qz 1 * X) by nra.
          assert (Hsq : (qz 1 * X) * (qz 1 * X) <= 1) by nra.
          assert (Y * ((qz 1 * X) * (qz 1 * X)) <= Y * 1) by (apply Rmult_le_compat_l; lra).
          replace (X * (1 - qz 1 * qz 1 * X * Y)) with (X - Y * ((qz 1 * X) * (qz 1 * X))) by ring. lra. }
        assert (0 <= qz 1 * X) by nra.
        apply Rle_trans with (relative n (Z.of_nat i) * (qz 1 * X)); [now apply Rmult_le_compat_l | now apply Rmult_le_compat_r]. }
    destruct (Z.le_ge_cases 0 j) as [Hj|Hj].
    - rewrite <- (Z2Nat.id j Hj); apply Hnat.
    - rewrite <- relative_even, <- square_even, <- (Z2Nat.id (- j)) by lia; apply Hnat.
  Qed.

  Lemma relative_limit j : is_lim_seq (fun n => relative n j) (square j).
  Proof.
    assert (HY : is_lim_seq (fun n => qz (2 * Z.of_nat n)) 0).
    { apply is_lim_seq_ext with (u := fun n => exp (- (2 * u)) ^ n).
      - intros n; rewrite <- exp_times; unfold qz; f_equal. rewrite mult_IZR, <- INR_IZR_INZ; ring.
      - apply is_lim_seq_geom. rewrite Rabs_right by (left; apply exp_pos). rewrite <- exp_0; apply exp_increasing; lra. }
    assert (Hnat : forall i : nat, is_lim_seq (fun n => relative n (Z.of_nat i)) (square (Z.of_nat i))).
    { induction i as [|i IH].
      - apply is_lim_seq_ext with (u := fun _ => 1).
        + intros n; unfold relative; cbn [Z.of_nat]. assert (H := coefficient_0_pos n). field; lra.
        + unfold square; cbn [Z.of_nat]. rewrite Rsqr_0, Rmult_0_r, Ropp_0, exp_0. apply is_lim_seq_const.
      - eapply is_lim_seq_ext; [intros n; symmetry; apply relative_next|].
        replace (Z.of_nat (S i)) with (Z.of_nat i + 1)%Z by lia. rewrite square_next. apply is_lim_seq_mult'; [exact IH|].
        set (X := qz (2 * Z.of_nat i)).
        replace (qz 1 * X) with (qz 1 * (X - 0) / (1 - qz 2 * X * 0)) by (field; lra).
        apply is_lim_seq_div'; [| |lra].
        + apply is_lim_seq_mult'; [apply is_lim_seq_const | apply is_lim_seq_minus'; [apply is_lim_seq_const | exact HY]].
        + apply is_lim_seq_minus'; [apply is_lim_seq_const|].
          apply is_lim_seq_mult'; [apply is_lim_seq_const | exact HY]. }
    destruct (Z.le_ge_cases 0 j) as [Hj|Hj].
    - rewrite <- (Z2Nat.id j Hj); apply Hnat.
    - eapply is_lim_seq_ext; [intros n; apply relative_even|]. rewrite <- square_even, <- (Z2Nat.id (- j)) by lia; apply Hnat.
  Qed.

  (** ** Sums with the coefficients *)

  Definition against (n : nat) (chi : Z -> R) : R := lsum (fun j => coefficient n j * chi j) (range n).

  Lemma against_wider n A chi : (n <= A)%nat -> lsum (fun j => coefficient n j * chi j) (range A) = against n chi.
  Proof.
    intros HA. unfold against.
    assert (Hz : forall l, (forall x, In x l -> (Z.of_nat n < Z.abs x)%Z) -> lsum (fun j => coefficient n j * chi j) l = 0).
    { intros l Hl; rewrite <- (lsum_zero l); apply lsum_ext_in; intros x Hx; rewrite coefficient_far by now apply Hl. ring. }
    rewrite (range_ends A n HA), !lsum_app, (Hz (zlist (- Z.of_nat A) (A - n))), (Hz (zlist (Z.of_nat n + 1) (A - n))); [ring | |];
      intros x Hx; apply in_zlist in Hx; lia.
  Qed.

  Lemma shifted_sum (f : Z -> R) A :
    f (Z.of_nat A) = 0 -> f (- Z.of_nat A - 1)%Z = 0 -> lsum (fun j => f (j - 1)%Z) (range A) = lsum f (range A).
  Proof.
    intros H1 H2. rewrite <- (lsum_map f (fun j => (j - 1)%Z)).
    replace (map (fun j => (j - 1)%Z) (range A)) with ((- Z.of_nat A - 1)%Z :: zlist (- Z.of_nat A) (2 * A)).
    - unfold range; rewrite zlist_app, lsum_app. rewrite (zlist_S _ 0). change (zlist _ 0) with (@nil Z). cbn [lsum].
      replace (- Z.of_nat A + Z.of_nat (2 * A))%Z with (Z.of_nat A) by lia. rewrite H1, H2; ring.
    - unfold range, zlist. rewrite map_map, Nat.add_1_r. cbn [seq map]. f_equal; [lia|].
      rewrite <- seq_shift, map_map. apply map_ext; intros; lia.
  Qed.

  Lemma against_step n chi :
    against (S n) chi = (1 + rho n * rho n) * against n chi
      + rho n * (against n (fun j => chi (j + 1)%Z) + against n (fun j => chi (j - 1)%Z)).
  Proof.
    set (A := S n). rewrite <- !(against_wider n A) by (unfold A; lia). unfold against. fold A.
    rewrite <- !lsum_scale, <- lsum_plus, <- lsum_scale, <- lsum_plus.
    assert (E1 : lsum (fun j => coefficient n (j - 1) * chi j) (range A) = lsum (fun j => coefficient n j * chi (j + 1)%Z) (range A)).
    { rewrite <- (shifted_sum (fun j => coefficient n j * chi (j + 1)%Z) A).
      - apply lsum_ext; intros j; do 2 f_equal; lia.
      - rewrite coefficient_far by (unfold A; lia); ring.
      - rewrite coefficient_far by (unfold A; lia); ring. }
    assert (E2 : lsum (fun j => coefficient n j * chi (j - 1)%Z) (range A) = lsum (fun j => coefficient n (j + 1) * chi j) (range A)).
    { rewrite <- (shifted_sum (fun j => coefficient n (j + 1) * chi j) A).
      - apply lsum_ext; intros j; do 2 f_equal; lia.
      - rewrite coefficient_far by (unfold A; lia); ring.
      - rewrite coefficient_far by (unfold A; lia); ring. }
    transitivity (lsum (fun j => (1 + rho n * rho n) * (coefficient n j * chi j)) (range A)
                  + rho n * (lsum (fun j => coefficient n (j - 1) * chi j) (range A) + lsum (fun j => coefficient n (j
                      + 1) * chi j) (range A))).
    - rewrite <- lsum_plus, <- lsum_scale, <- lsum_plus. apply lsum_ext; intros j. unfold A; cbn [coefficient]; ring.
    - rewrite E1, <- E2. rewrite <- lsum_plus, <- lsum_scale, <- lsum_plus. apply lsum_ext; intros j; ring.
  Qed.

  Fixpoint product_at (kappa : R) (n : nat) : R :=
    match n with
    | O => 1
    | S n' => product_at kappa n' * (1 + rho n' * rho n' + rho n' * kappa)
    end.

  Lemma against_product n chi kappa :
    (forall j, chi (j + 1)%Z + chi (j - 1)%Z = kappa * chi j) -> against n chi = chi 0%Z * product_at kappa n.
  Proof.
    intros Hchi; induction n as [|n IH].
    - unfold against, range; cbn [Nat.mul Nat.add]. rewrite zlist_S. change (zlist _ 0) with (@nil Z). cbn; ring.
    - rewrite against_step. cbn [product_at].
      replace (against n (fun j => chi (j + 1)%Z) + against n (fun j => chi (j - 1)%Z)) with (kappa * against n chi).
      + rewrite IH; ring.
      + unfold against; rewrite <- lsum_scale, <- lsum_plus; apply lsum_ext; intros j. specialize (Hchi j). nra.
  Qed.

  (** The mean of j^2 of the law with these coefficients: a sum of the variances of the factors. *)
  Fixpoint spread (n : nat) : R :=
    match n with O => 0 | S n' => spread n' + 2 * rho n' / ((1 + rho n') * (1 + rho n')) end.

  Lemma against_squares n : against n (fun j => (IZR j)²) = spread n * product_at 2 n.
  Proof.
    induction n as [|n IH].
    - unfold against, range; cbn [Nat.mul Nat.add]. rewrite zlist_S. change (zlist _ 0) with (@nil Z). cbn; unfold Rsqr; ring.
    - rewrite against_step. assert (H := rho_between n).
      replace (against n (fun j => (IZR (j + 1))²) + against n (fun j => (IZR (j - 1))²))
        with (2 * against n (fun j => (IZR j)²) + 2 * against n (fun _ => 1)).
      + rewrite (against_product n (fun _ => 1) 2) by (intros; ring). rewrite IH. cbn [spread product_at]. field. lra.
      + unfold against; rewrite <- !lsum_scale, <- !lsum_plus; apply lsum_ext; intros j.
        rewrite plus_IZR, minus_IZR; unfold Rsqr; ring.
  Qed.

  (** Sums with [chi] are limits of the products. *)
  Theorem against_limit chi :
    summable (fun j => square j * Rabs (chi j)) ->
    absolutely (fun j => square j * chi j)
    /\ is_lim_seq (fun n => against n chi / coefficient n 0) (sigma (fun j => square j * chi j)).
  Proof.
    intros H. destruct (dominated_sums (fun n j => relative n j * chi j) (fun j => square j * chi j) (fun j => square j * Rabs (chi j)) H) as [H1 H2].
    - intros n j; destruct (relative_at_most n j) as [R0 R1]. rewrite Rabs_mult, (Rabs_right (relative n j)) by lra.
      apply Rmult_le_compat_r; [apply Rabs_pos | assumption].
    - intros j. apply is_lim_seq_mult'; [apply relative_limit | apply is_lim_seq_const].
    - split; [exact H1|]. eapply is_lim_seq_ext; [|exact H2]. intros n; cbn beta. unfold against, Rdiv.
      rewrite <- lsum_scale_r. apply lsum_ext; intros j; unfold relative, Rdiv; ring.
  Qed.
End Products.
