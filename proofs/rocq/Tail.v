(** * The tail of the normal law

    The rest of (K) of proofs/README.md: the profile of continuous noise grows with the shift, and the series of the tail.
    That the density has
    the integral 1 follows from Poisson.v: its sums over a lattice are masses of the discrete Gaussian. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian Fourier Theta Signed Jacobi Factor Variance Poisson Images Normal.
Import ListNotations.
Open Scope R_scope.

Lemma density_derive z : is_derive density z (- z * density z).
Proof. unfold density. auto_derive; [trivial|]. unfold Rsqr, Rdiv, Rminus. field. apply Rgt_not_eq, sqrt_lt_R0. generalize PI_RGT_0; lra.
Qed.

Lemma density_continuous z : continuous density z.
Proof. apply (ex_derive_continuous density); eexists; apply density_derive. Qed.

Lemma density_integrable a b : ex_RInt density a b.
Proof. apply (ex_RInt_continuous density); intros; apply density_continuous. Qed.

Lemma density_at_most_one z : density z <= 1.
Proof.
  unfold density. assert (HP := PI_between). assert (H1 : 1 <= sqrt (2 * PI)) by (rewrite <- sqrt_1 at 1; apply sqrt_le_1_alt; lra).
  apply Rmult_le_reg_r with (sqrt (2 * PI)); [lra|]. unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
  apply Rle_trans with 1; [|assumption]. apply Rle_trans with (exp 0); [apply exp_mono | rewrite exp_0; lra].
  assert (H := Rle_0_sqr z). lra.
Qed.

Section Tail.
  Variable tail : R -> R.
  Hypothesis Htail : forall z, is_RInt_gen density (at_point z) (Rbar_locally p_infty) (tail z).

  Lemma tail_by_integral z : tail z = tail 0 - RInt density 0 z.
  Proof.
    assert (H1 : is_RInt_gen density (at_point 0) (at_point z) (RInt density 0 z)).
    { apply is_RInt_gen_at_point. apply (RInt_correct density), density_integrable. }
    assert (H := is_RInt_gen_Chasles density z _ _ H1 (Htail z)).
    assert (U1 := is_RInt_gen_unique (V := R_CompleteNormedModule) density _ H).
    assert (U2 := is_RInt_gen_unique (V := R_CompleteNormedModule) density _ (Htail 0)). rewrite U2 in U1.
    change (tail 0 = RInt density 0 z + tail z) in U1. lra.
  Qed.

  Lemma tail_derive z : is_derive tail z (- density z).
  Proof.
    apply (is_derive_ext (fun z => minus (tail 0) (RInt density 0 z))); [intros t; symmetry; apply tail_by_integral|].
    replace (- density z) with (minus 0 (density z)) by (unfold minus, plus, opp; cbn; ring).
    apply (is_derive_minus (fun _ => tail 0)); [apply (is_derive_const (tail 0))|].
    apply (is_derive_RInt density (fun z => RInt density 0 z) 0 z).
    - apply filter_forall; intros y. apply (RInt_correct density), density_integrable.
    - apply density_continuous.
  Qed.

  (** ** The profile grows with the shift *)

  Lemma profile_derive eps m : 0 < m ->
    is_derive (fun m => tail (eps / m - m / 2) - exp eps * tail (eps / m + m / 2)) m (density (eps / m - m / 2)).
  Proof.
    intros Hm. assert (Hsame : exp eps * density (eps / m + m / 2) = density (eps / m - m / 2)).
    { unfold density. transitivity (exp (eps + - (eps / m + m / 2)² / 2) / sqrt (2 * PI)); [rewrite exp_plus; unfold Rdiv; ring|].
      do 2 f_equal. unfold Rsqr; field; lra. }
    assert (D1 : is_derive (fun m => eps / m - m / 2) m (- eps / m² - 1 / 2)) by (auto_derive; [lra | unfold Rsqr; field; lra]).
    assert (D2 : is_derive (fun m => eps / m + m / 2) m (- eps / m² + 1 / 2)) by (auto_derive; [lra | unfold Rsqr; field; lra]).
    assert (T1 := is_derive_comp tail _ m _ _ (tail_derive (eps / m - m / 2)) D1).
    assert (T2 := is_derive_comp tail _ m _ _ (tail_derive (eps / m + m / 2)) D2).
    assert (T3 := is_derive_scal _ m (exp eps) _ T2).
    assert (T := is_derive_minus _ _ m _ _ T1 T3).
    replace (density (eps / m - m / 2)) with
      (minus (scal (- eps / m² - 1 / 2) (- density (eps / m - m / 2))) (exp eps * (scal (- eps / m² + 1 / 2) (- density (eps / m
        + m / 2))))).
    - exact T.
    - change ((- eps / m² - 1 / 2) * - density (eps / m - m / 2) - exp eps * ((- eps / m² + 1 / 2) * - density (eps / m + m / 2))
              = density (eps / m - m / 2)). rewrite <- Hsame. generalize (- eps / m²) as q; intros q. field.
  Qed.

  Theorem profile_grows_with_the_shift m m' eps :
    0 < m <= m' -> tail (eps / m - m / 2) - exp eps * tail (eps / m + m / 2)
      <= tail (eps / m' - m' / 2) - exp eps * tail (eps / m' + m' / 2).
  Proof.
    intros [Hm [Hlt| <-]]; [|lra]. left.
    apply (incr_function_le (fun m => tail (eps / m - m / 2) - exp eps * tail (eps / m + m / 2)) m m' (fun m => density (eps / m - m / 2))).
    - intros x Hx _; apply profile_derive. cbn in Hx; lra.
    - intros x _ _; apply density_pos.
    - cbn; lra.
    - assumption.
    - cbn; lra.
  Qed.

  (** ** Half of the mass *)

  Let f z := exp (- z² / 2).

  Let f_falls x y : 0 <= x <= y -> f y <= f x.
  Proof. intros H; unfold f; apply exp_mono. unfold Rsqr. nra. Qed.

  Let f_is_density z : f z = sqrt (2 * PI) * density z.
  Proof. unfold f, density. field. apply Rgt_not_eq, sqrt_lt_R0; generalize PI_RGT_0; lra. Qed.

  Let f_integrable a b : ex_RInt f a b.
  Proof.
    apply (ex_RInt_ext (fun z => scal (sqrt (2 * PI)) (density z))); [intros; symmetry; apply f_is_density|].
    apply (ex_RInt_scal density), density_integrable.
  Qed.

  (** The integral, between its two sums. *)
  Let integral_between step n : 0 < step ->
    step * lsum (fun k => f (INR (S k) * step)) (seq 0 n) <= RInt f 0 (INR n * step)
      <= step + step * lsum (fun k => f (INR (S k) * step)) (seq 0 n).
  Proof.
    intros Hstep. assert (Hf1 : f 0 = 1) by (unfold f; rewrite Rsqr_0; replace (- 0 / 2) with 0 by field; apply exp_0).
    enough (step * lsum (fun k => f (INR (S k) * step)) (seq 0 n) <= RInt f 0 (INR n * step)
            <= step + step * lsum (fun k => f (INR (S k) * step)) (seq 0 n) - step * f (INR n * step)).
    { assert (0 < f (INR n * step)) by apply exp_pos. nra. }
    induction n as [|n IH].
    - cbn [seq lsum INR]. rewrite !Rmult_0_l, RInt_point, Hf1. change (@zero R_CompleteNormedModule) with 0. lra.
    - rewrite seq_S, lsum_app; cbn [lsum Nat.add]. set (L := lsum _ (seq 0 n)) in *.
      assert (E : INR (S n) * step = INR n * step + step) by (rewrite S_INR; ring). set (p := INR n * step) in *.
      assert (Hp : 0 <= p) by (unfold p; apply Rmult_le_pos; [apply pos_INR | lra]).
      rewrite E, <- (RInt_Chasles f 0 p (p + step)) by apply f_integrable. change plus with Rplus.
      assert (B1 : RInt (fun _ => f (p + step)) p (p + step) <= RInt f p (p + step)).
      { apply RInt_le; [lra | apply ex_RInt_const | apply f_integrable|]. intros x Hx; apply f_falls; lra. }
      assert (B2 : RInt f p (p + step) <= RInt (fun _ => f p) p (p + step)).
      { apply RInt_le; [lra | apply f_integrable | apply ex_RInt_const|]. intros x Hx; apply f_falls; lra. }
      rewrite RInt_const in B1, B2. change (scal (p + step - p) (f (p + step))) with ((p + step - p) * f (p + step)) in B1.
      change (scal (p + step - p) (f p)) with ((p + step - p) * f p) in B2. replace (p + step - p) with step in * by ring. lra.
  Qed.

  Let weights_of_range r A : lsum (weight r) (range A) = 1 + 2 * lsum (fun k => weight r (Z.of_nat (S k))) (seq 0 A).
  Proof.
    induction A as [|A IH].
    - unfold range; cbn [Nat.mul Nat.add]. rewrite zlist_S. change (zlist _ 0) with (@nil Z). cbn. unfold weight. rewrite Rsqr_0, Ropp_0.
      unfold Rdiv; rewrite Rmult_0_l, exp_0; ring.
    - rewrite seq_S, lsum_app; cbn [lsum Nat.add].
      assert (E : lsum (weight r) (range (S A)) = lsum (weight r) (range A) + 2 * weight r (Z.of_nat (S A))).
      { rewrite (range_ends (S A) A) by lia. replace (S A - A)%nat with 1%nat by lia. rewrite !lsum_app, !(zlist_S _ 0).
        change (zlist _ 0) with (@nil Z). cbn [lsum]. rewrite weight_even. replace (Z.of_nat A + 1)%Z with (Z.of_nat (S A)) by lia. ring. }
      rewrite E, IH. ring.
  Qed.

  Let integral_to_infinity : forall e : posreal, exists M, forall b, M < b -> Rabs (RInt density 0 b - tail 0) < e.
  Proof.
    intros e. destruct (Htail 0 (ball (tail 0) e)) as [Q U HQ [M HU] H]; [now exists e|].
    exists M; intros b Hb. destruct (H 0 b HQ (HU b Hb)) as (y & Hy & HB). cbn [fst snd] in Hy.
    rewrite (is_RInt_unique density 0 b y Hy). exact HB.
  Qed.

  Theorem tail_at_0 : tail 0 = 1 / 2.
  Proof.
    assert (HP := PI_RGT_0). set (c := sqrt (2 * PI)). assert (Hc : 0 < c) by (apply sqrt_lt_R0; lra).
    (* For each odd number n, the masses with sigma2 = n^2. *)
    assert (Hn : forall n, (mass (grown 1 n) / odd n - / odd n) / 2 <= c * tail 0 <= (mass (grown 1 n) / odd n - / odd n) / 2 + / odd n).
    { intros n. assert (Ho := odd_pos n). assert (Hi : 0 < / odd n) by (apply Rinv_0_lt_compat; lra). assert (Hg := grown_pos 1 Rlt_0_1 n).
      assert (Hw : forall k, weight (grown 1 n) (Z.of_nat (S k)) = f (INR (S k) * / odd n)).
      { intros k; unfold weight, f, grown; f_equal. rewrite <- INR_IZR_INZ. unfold Rsqr; field; lra. }
      assert (L1 : is_lim_seq (fun A => RInt f 0 (INR A * / odd n)) (c * tail 0)).
      { apply is_lim_seq_ext with (u := fun A => c * RInt density 0 (INR A * / odd n)).
        - intros A. rewrite <- (is_RInt_unique f 0 (INR A * / odd n) (c * RInt density 0 (INR A * / odd n))); [reflexivity|].
          apply (is_RInt_ext (V := R_NormedModule) (fun z => scal c (density z))); [intros; symmetry; apply f_is_density|].
          apply (is_RInt_scal density), (RInt_correct density), density_integrable.
        - apply is_lim_seq_mult'; [apply is_lim_seq_const|]. apply is_lim_seq_spec; intros e.
          destruct (integral_to_infinity e) as [M HM]. exists (S (Z.to_nat (up (M * odd n)))). intros A HA. apply HM.
          apply le_INR in HA. rewrite S_INR, INR_IZR_INZ in HA.
          assert (Hz : IZR (up (M * odd n)) <= IZR (Z.of_nat (Z.to_nat (up (M * odd n))))) by (apply IZR_le; lia).
          destruct (archimed (M * odd n)) as [H1 _]. apply Rmult_lt_reg_r with (odd n); [lra|]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
      assert (L2 := symmetric_sums_converge (weight (grown 1 n)) (fun x => Rlt_le _ _ (weight_pos _ x)) (weights_summable _ Hg)).
      fold (mass (grown 1 n)) in L2.
      assert (L3 : is_lim_seq (fun A => / odd n * ((lsum (weight (grown 1 n)) (range A) - 1) / 2)) (/ odd n * ((mass (grown 1 n) - 1) / 2))).
      { apply is_lim_seq_mult'; [apply is_lim_seq_const|]. apply is_lim_seq_div'; [|apply is_lim_seq_const | lra].
        apply is_lim_seq_minus'; [exact L2 | apply is_lim_seq_const]. }
      assert (E : forall A, (lsum (weight (grown 1 n)) (range A) - 1) / 2 = lsum (fun k => f (INR (S k) * / odd n)) (seq 0 A)).
      { intros A. rewrite weights_of_range, (lsum_ext _ (fun k => f (INR (S k) * / odd n))) by (intros; apply Hw). field. }
      replace ((mass (grown 1 n) / odd n - / odd n) / 2) with (/ odd n * ((mass (grown 1 n) - 1) / 2)) by (field; lra).
      split.
      - apply (is_lim_seq_le _ _ _ (c * tail 0)) with (2 := L3) (3 := L1). intros A; rewrite E. now apply integral_between.
      - rewrite Rplus_comm. apply (is_lim_seq_le (fun A => RInt f 0 (INR A * / odd n)) (fun A => / odd n
          + / odd n * ((lsum (weight (grown 1 n)) (range A) - 1) / 2))
          (c * tail 0) (/ odd n + / odd n * ((mass (grown 1 n) - 1) / 2))) with (2 := L1).
        + intros A; rewrite E. now apply integral_between.
        + apply is_lim_seq_plus'; [apply is_lim_seq_const | exact L3]. }
    assert (C := constant_limit 1 Rlt_0_1). rewrite constant_is, Rmult_1_r in C by lra. fold c in C. assert (O := odd_limit).
    assert (L0 : is_lim_seq (fun n => (mass (grown 1 n) / odd n - / odd n) / 2) (c / 2)).
    { replace (c / 2) with ((c - 0) / 2) by field. apply is_lim_seq_div'; [now apply is_lim_seq_minus' | apply is_lim_seq_const | lra]. }
    assert (H1 : c / 2 <= c * tail 0) by (apply (is_lim_seq_le _ (fun _ => c * tail 0) (c / 2) (c * tail 0)) with (2 := L0);
      [apply Hn | apply is_lim_seq_const]).
    assert (H2 : c * tail 0 <= c / 2 + 0).
    { apply (is_lim_seq_le (fun _ => c * tail 0) (fun n => (mass (grown 1 n) / odd n - / odd n) / 2 + / odd n) (c * tail 0) (c / 2 + 0)).
      - apply Hn.
      - apply is_lim_seq_const.
      - now apply is_lim_seq_plus'. }
    apply Rmult_eq_reg_l with c; lra.
  Qed.

  (** ** The series *)

  (** 1 3 5 ... (2 k + 1). *)
  Fixpoint odd_product (k : nat) : R := match k with O => 1 | S k' => odd_product k' * INR (2 * k + 1) end.

  Lemma odd_product_large k : INR (fact (S k)) <= odd_product k.
  Proof.
    induction k as [|k IH]; [cbn; lra|]. change (fact (S (S k))) with (S (S k) * fact (S k))%nat. rewrite mult_INR, Rmult_comm.
    cbn [odd_product]. apply Rmult_le_compat; [apply pos_INR | apply pos_INR | assumption | apply le_INR; lia].
  Qed.

  Lemma odd_product_pos k : 0 < odd_product k.
  Proof. eapply Rlt_le_trans; [|apply odd_product_large]. apply lt_0_INR, lt_O_fact. Qed.

  Definition series_part (n : nat) (z : R) : R := lsum (fun k => z ^ (2 * k + 1) / odd_product k) (seq 0 n).

  (** What is left out, as a function of z. *)
  Definition left_out (n : nat) (z : R) : R := match n with O => 1 | S n' => z ^ (2 * n) / odd_product n' end.

  Lemma series_derive n z : is_derive (series_part n) z (1 - left_out n z + z * series_part n z).
  Proof.
    induction n as [|n IH].
    - unfold series_part; cbn [seq lsum left_out]. replace (1 - 1 + z * 0) with 0 by ring.
      apply (is_derive_const (V := R_NormedModule) 0 z).
    - apply (is_derive_ext (fun z => plus (series_part n z) (z ^ (2 * n + 1) / odd_product n))).
      { intros t. unfold series_part. rewrite seq_S, lsum_app; cbn [lsum Nat.add]. unfold plus; cbn. ring. }
      assert (Hp := odd_product_pos n).
      assert (D : is_derive (fun z => z ^ (2 * n + 1) / odd_product n) z (INR (2 * n + 1) * z ^ (2 * n) / odd_product n)).
      { rewrite (Nat.add_1_r (2 * n)). auto_derive; [trivial|]. unfold Rdiv; rewrite Rmult_1_l. reflexivity. }
      assert (T := is_derive_plus _ _ z _ _ IH D).
      replace (1 - left_out (S n) z + z * series_part (S n) z) with (plus (1 - left_out n z + z * series_part n z) (INR (2 * n
        + 1) * z ^ (2 * n) / odd_product n)); [exact T|].
      unfold series_part at 2. rewrite seq_S, lsum_app; cbn [lsum Nat.add]. fold (series_part n z). change plus with Rplus.
      assert (E : INR (2 * n + 1) * z ^ (2 * n) / odd_product n = left_out n z).
      { destruct n as [|n]; [cbn; field|]. cbn [left_out odd_product]. assert (H := odd_product_pos n).
        assert (0 < INR (2 * S n + 1)) by (apply lt_0_INR; lia). field; lra. }
      rewrite E. cbn [left_out]. replace (2 * S n)%nat with (S (2 * n + 1)) by lia. cbn [pow].
      match goal with |- ?x = ?y => change (@eq R x y) end. field; lra.
  Qed.

  Theorem normal_tail_by_series z :
    0 <= z -> is_lim_seq (fun n => 1 / 2 - density z * series_part n z) (tail z).
  Proof.
    intros Hz.
    assert (Hleft : forall n t, 0 <= t -> 0 <= left_out n t).
    { intros [|n] t Ht; cbn [left_out]; [lra|]. apply Rmult_le_pos; [now apply pow_le | left; apply Rinv_0_lt_compat, odd_product_pos]. }
    (* density z * series_part n z is the integral of density less what is left out *)
    assert (Hint : forall n, is_RInt (fun t => density t * (1 - left_out n t)) 0 z (density z * series_part n z)).
    { intros n. replace (density z * series_part n z) with (minus (density z * series_part n z) (density 0 * series_part n 0)).
      - apply (is_RInt_derive (fun t => density t * series_part n t)).
        + intros t _. assert (T := is_derive_mult _ _ t _ _ (density_derive t) (series_derive n t) Rmult_comm).
          replace (density t * (1 - left_out n t)) with
            (plus (mult (- t * density t) (series_part n t)) (mult (density t) (1 - left_out n t + t * series_part n t))); [exact T|].
          unfold plus, mult; cbn. ring.
        + intros t _. apply (continuous_mult density); [apply density_continuous|].
          apply (ex_derive_continuous (fun t => 1 - left_out n t)). destruct n as [|n]; cbn [left_out]; auto_derive; trivial.
      - assert (E0 : series_part n 0 = 0).
        { unfold series_part. transitivity (lsum (fun _ : nat => 0) (seq 0 n)); [|apply lsum_zero]. apply lsum_ext; intros k.
          rewrite pow_i by lia. unfold Rdiv; ring. }
        rewrite E0. unfold minus, plus, opp; cbn. ring. }
    assert (Hrest : forall n, 0 <= RInt density 0 z - density z * series_part n z <= z * left_out n z).
    { intros n. rewrite <- (is_RInt_unique _ 0 z _ (Hint n)).
      assert (Hd : is_RInt (fun t => minus (density t) (density t * (1 - left_out n t))) 0 z
                     (minus (RInt density 0 z) (RInt (fun t => density t * (1 - left_out n t)) 0 z))).
      { apply (is_RInt_minus density); [apply (RInt_correct density), density_integrable|].
        apply (RInt_correct (fun t => density t * (1 - left_out n t))). eexists; apply Hint. }
      change (minus ?x ?y) with (x - y) in Hd. rewrite <- (is_RInt_unique _ 0 z _ Hd).
      assert (Hpoint : forall t, 0 <= t <= z -> 0 <= density t - density t * (1 - left_out n t) <= left_out n z).
      { intros t Ht. assert (H0 := density_pos t). assert (H1 := density_at_most_one t). assert (H2 := Hleft n t (proj1 Ht)).
        assert (H3 : left_out n t <= left_out n z).
        { destruct n as [|n]; cbn [left_out]; [lra|]. apply Rmult_le_compat_r; [left;
            apply Rinv_0_lt_compat, odd_product_pos | now apply pow_incr]. }
        nra. }
      split.
      - apply RInt_ge_0; [assumption | eexists; exact Hd | intros t Ht; apply Hpoint; lra].
      - apply Rle_trans with (RInt (fun _ => left_out n z) 0 z).
        + apply RInt_le; [assumption | eexists; exact Hd | apply ex_RInt_const | intros t Ht; apply Hpoint; lra].
        + rewrite RInt_const. change (scal (z - 0) (left_out n z)) with ((z - 0) * left_out n z). lra. }
    assert (Hvanish : is_lim_seq (fun n => z * left_out n z) 0).
    { replace (Finite 0) with (Finite (z * 0)) by (f_equal; ring). apply is_lim_seq_mult'; [apply is_lim_seq_const|].
      apply is_lim_seq_le_le with (u := fun _ => 0) (w := fun n => (z²) ^ n / INR (fact n)).
      - intros n; split; [now apply Hleft|]. destruct n as [|n]; cbn [left_out]; [cbn; lra|].
        replace (z ^ (2 * S n)) with ((z²) ^ S n) by (rewrite pow_mult; f_equal; unfold Rsqr; ring).
        apply Rmult_le_compat_l; [apply pow_le, Rle_0_sqr|]. apply Rinv_le_contravar; [apply lt_0_INR, lt_O_fact | apply odd_product_large].
      - apply is_lim_seq_const.
      - apply is_lim_seq_Reals, cv_speed_pow_fact. }
    rewrite tail_by_integral, tail_at_0.
    apply is_lim_seq_minus'; [apply is_lim_seq_const|].
    apply is_lim_seq_le_le with (u := fun n => RInt density 0 z - z * left_out n z) (w := fun _ => RInt density 0 z).
    - intros n; specialize (Hrest n); lra.
    - replace (Finite (RInt density 0 z)) with (Finite (RInt density 0 z - 0)) by (f_equal; ring). apply is_lim_seq_minus';
        [apply is_lim_seq_const | exact Hvanish].
    - apply is_lim_seq_const.
  Qed.
End Tail.
