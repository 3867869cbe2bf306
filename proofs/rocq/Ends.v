(** * The two ends of a contour

    What a contour proves of delta: the upper end, from the nodes that are evaluated and bounds for all others, and the lower end, which
    subtracts the aliases. Here (B), (C) and (F) of proofs/README.md are about the same sums. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Cells Fourier Aliases Tables Theta Signed Jacobi Factor Contour.
Import ListNotations.
Open Scope R_scope.

(** (C) for the transform of a count at a node: with c = a / h and the shift m = st h s the first factor is exp(c^2 m^2 / (2 s)). *)
Theorem transform_is_small N a s m st ba nm j :
  (0 < N)%nat -> 0 < s ->
  Cmod (transform N a (Count s m, Reading st (fun x => x) ba nm) j)
  <= exp ((a * IZR st)² * s / 2) * exp (- (variance s * (1 - cos (2 * PI * (IZR st * INR j / INR N))))).
Proof.
  intros HN Hs. assert (HN' := lt_0_INR N HN). assert (Hm := mass_pos s Hs). set (cm := (Count s m, Reading st (fun x => x) ba nm)).
  set (b := - (2 * PI * (IZR st * INR j / INR N))). set (t := - (a * IZR st * s)). set (e := exp ((a * IZR st)² * s / 2)).
  assert (He : 0 < e) by apply exp_pos.
  assert (Hterm : forall x, gaussian s x * exp (a * IZR (- (st * x))) = e / mass s * tilted s (- t) x).
  { intros x. unfold gaussian, weight, tilted, e, t.
    replace (exp ((a * IZR st)² * s / 2) / mass s * exp (- (IZR x + - - (a * IZR st * s))² / (2 * s)))
      with (exp ((a * IZR st)² * s / 2 + - (IZR x + - - (a * IZR st * s))² / (2 * s)) / mass s) by (rewrite exp_plus; unfold Rdiv; ring).
    replace (exp (- (IZR x)² / (2 * s)) / mass s * exp (a * IZR (- (st * x)))) with (exp (- (IZR x)² / (2 * s)
      + a * IZR (- (st * x))) / mass s)
      by (rewrite exp_plus; unfold Rdiv; ring).
    do 2 f_equal. rewrite opp_IZR, mult_IZR. unfold Rsqr; field; lra. }
  assert (Hangle : forall x, 2 * PI * (IZR (- (st * x) * Z.of_nat j) / INR N) = b * IZR x).
  { intros x. unfold b. rewrite mult_IZR, opp_IZR, mult_IZR, <- INR_IZR_INZ. field; lra. }
  assert (Hre : forall A, fst (partial_transform N a cm j A) = e / mass s * factor_re s t b A).
  { intros A. unfold partial_transform, factor_re, csum; cbn [fst]. rewrite <- lsum_scale. apply lsum_ext; intros x.
    transitivity (gaussian s x * exp (a * IZR (- (st * x))) * cos (2 * PI * (IZR (- (st * x) * Z.of_nat j) / INR N))); [cbn; ring|].
    rewrite Hterm, Hangle; ring. }
  assert (Him : forall A, snd (partial_transform N a cm j A) = e / mass s * factor_im s t b A).
  { intros A. unfold partial_transform, factor_im, csum; cbn [snd]. rewrite <- lsum_scale. apply lsum_ext; intros x.
    transitivity (gaussian s x * exp (a * IZR (- (st * x))) * sin (2 * PI * (IZR (- (st * x) * Z.of_nat j) / INR N))); [cbn; ring|].
    rewrite Hterm, Hangle; ring. }
  assert (Hcm : tame cm) by (now apply Count_tame).
  destruct (transform_converges N a cm j Hcm) as [L1 L2]. set (z := transform N a cm j) in *.
  assert (Hq : e / mass s <> 0) by (apply Rgt_not_eq; now apply Rdiv_lt_0_compat).
  assert (R1 : is_lim_seq (factor_re s t b) (fst z * mass s / e)).
  { apply is_lim_seq_ext with (u := fun A => fst (partial_transform N a cm j A) * (mass s / e)).
    - intros A; rewrite Hre. field; lra.
    - replace (fst z * mass s / e) with (fst z * (mass s / e)) by (field; lra). apply is_lim_seq_mult';
        [exact L1 | apply is_lim_seq_const]. }
  assert (R2 : is_lim_seq (factor_im s t b) (snd z * mass s / e)).
  { apply is_lim_seq_ext with (u := fun A => snd (partial_transform N a cm j A) * (mass s / e)).
    - intros A; rewrite Him. field; lra.
    - replace (snd z * mass s / e) with (snd z * (mass s / e)) by (field; lra). apply is_lim_seq_mult';
        [exact L2 | apply is_lim_seq_const]. }
  assert (H := factor_is_small s t b _ _ Hs R1 R2).
  replace ((fst z * mass s / e)² + (snd z * mass s / e)²) with ((mass s / e)² * (fst z ^ 2 + snd z ^ 2)) in H by (unfold Rsqr; field; lra).
  assert (Hme : 0 < mass s / e) by (now apply Rdiv_lt_0_compat).
  rewrite sqrt_mult, sqrt_Rsqr in H; [|lra | apply Rle_0_sqr | generalize (pow2_ge_0 (fst z)) (pow2_ge_0 (snd z)); lra].
  fold (Cmod z) in H. replace (mass s / e * Cmod z / mass s) with (Cmod z / e) in H by (field; lra).
  unfold b in H; rewrite cos_neg in H. apply Rmult_le_compat_l with (r := e) in H; [|lra].
  replace (e * (Cmod z / e)) with (Cmod z) in H by (field; lra). exact H.
Qed.

Lemma gaussian_product_pos gs xs :
  Forall (fun g => 0 < fst g) gs -> length xs = length gs -> 0 < P (gaussian_counts gs) xs.
Proof.
  intros H; revert xs; induction H as [|g gs Hg _ IH]; intros [|x xs] E; try discriminate; unfold P in *; cbn; [lra|].
  apply Rmult_lt_0_compat; [now apply gaussian_pos | apply IH; now injection E].
Qed.

Section Ends.
  Variables (N : nat) (a h eps : R) (cms : steps) (lo : Z).
  Hypothesis HN : (0 < N)%nat.
  Hypothesis Ha : 0 < a.
  Hypothesis Hh : 0 < h.
  Hypothesis Hl : on_lattice h cms.
  Hypothesis Ht : Forall tame cms.
  Hypothesis Hlo : eps <= offset cms + h * IZR lo.
  Hypothesis Hbelow : offset cms + h * IZR (lo - 1) <= eps.

  (** What the rule sums at a node. *)
  Definition at_node (j : nat) : C := (cproduct (fun cm => transform N a cm j) cms * kernel N a h eps (offset cms) lo j)%C.

  (** The upper end: the nodes that are evaluated, and a bound for each of the others. *)
  Theorem upper_end (evaluated : nat -> bool) (bound : nat -> R) :
    (forall j, (j < N)%nat -> evaluated j = false -> Cmod (at_node j) <= bound j) ->
    delta (counts cms) eps <= / INR N * (lsum (fun j => fst (at_node j)) (filter evaluated (seq 0 N))
                                         + lsum bound (filter (fun j => negb (evaluated j)) (seq 0 N))).
  Proof.
    intros Hb. eapply Rle_trans; [apply (trapezoid_is_an_upper_bound N HN a h eps cms lo); assumption|].
    unfold trapezoid. apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat, lt_0_INR, HN|].
    rewrite (lsum_filter_split _ evaluated). apply Rplus_le_compat_l, lsum_le_in; intros j Hj.
    apply filter_In in Hj; destruct Hj as [Hj%in_seq He]. eapply Rle_trans; [|apply (Hb j); [lia | now destruct (evaluated j)]].
    eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply Rmax_l | apply Rmax_Cmod].
  Qed.

  (** What the rule sums of an alias and an output. *)
  Definition alias_term (kx : Z * list Z) : R :=
    exp (- (a * IZR (Z.of_nat N) * IZR (fst kx))) * P (counts cms) (snd kx)
    * gain h eps (offset cms) (index cms (snd kx) + Z.of_nat N * fst kx).

  Let alias_term_nonneg kx : 0 <= alias_term kx.
  Proof.
    apply Rmult_le_pos; [|apply gain_nonneg]. apply Rmult_le_pos; [left; apply exp_pos | apply P_nonneg, (on_lattice_proper h), Hl].
  Qed.

  (** Without the alias at 0, which is delta. *)
  Theorem rule_without_aliases A :
    (forall l, NoDup l -> (forall kx, In kx l -> fst kx <> 0%Z) -> lsum alias_term l <= A) ->
    trapezoid N a h eps cms lo <= delta (counts cms) eps + A.
  Proof.
    intros HA. assert (Hp := on_lattice_proper h cms Hl).
    destruct (trapezoid_is_the_sum_of_aliases N a h eps cms lo HN Ha Hh Hl Ht Hlo Hbelow) as [_ Hleast]. apply Hleast.
    intros v (l & Hnd & ->). fold alias_term. rewrite (lsum_filter_split _ (fun kx => (fst kx =? 0)%Z)).
    apply Rplus_le_compat.
    - set (l0 := filter _ l).
      assert (H0 : forall kx, In kx l0 -> fst kx = 0%Z) by (intros kx Hk; apply filter_In in Hk; now apply Z.eqb_eq).
      apply Rle_trans with (lsum (gap (counts cms) eps) (map snd l0)).
      + rewrite lsum_map. apply lsum_le_in; intros [k xs] Hk. specialize (H0 _ Hk); cbn [fst] in H0; subst k. unfold alias_term;
          cbn [fst snd].
        rewrite Rmult_0_r, Ropp_0, exp_0, Rmult_1_l, Z.mul_0_r, Z.add_0_r.
        destruct (Nat.eq_dec (length xs) (length cms)) as [E|E]; [rewrite (gap_by_loss h) by assumption; lra|].
        unfold P; rewrite product_wrong_length, Rmult_0_l by (unfold counts; now rewrite map_length). apply gap_nonneg.
      + apply total_upper; [now apply gap_summable|]. assert (Hnd0 : NoDup l0) by now apply NoDup_filter. clear -Hnd0 H0.
        induction Hnd0 as [|[k xs] l0 Hx _ IH]; cbn [map snd]; constructor.
        * intros Hin; apply in_map_iff in Hin; destruct Hin as ([k' ys] & E & Hy); cbn [snd] in E; subst ys. apply Hx.
          assert (E1 := H0 _ (or_introl eq_refl)). assert (E2 := H0 _ (or_intror Hy)). cbn [fst] in E1, E2; now subst.
        * apply IH; intros; apply H0; now right.
    - apply HA; [now apply NoDup_filter|]. intros kx Hk; apply filter_In in Hk; destruct Hk as [_ Hk].
      intros E; rewrite E in Hk; discriminate.
  Qed.

  (** ** Discrete Gaussian counts *)

  Variable gs : list (R * Z).
  Hypothesis Hgs : Forall (fun g => 0 < fst g) gs.
  Hypothesis Hcounts : counts cms = gaussian_counts gs.

  (** The mean of the gain of an alias, at most by the moment of one order. *)
  Lemma mean_of_alias x k l :
    0 <= x -> NoDup l ->
    lsum (fun xs => P (counts cms) xs * gain h eps (offset cms) (index cms xs + Z.of_nat N * k)) l
    <= exp (x * (h * INR N * IZR k)) * (exp ((x + x²) * rho_of gs) * exp (- (x * eps))).
  Proof.
    intros Hx Hnd. assert (Hp := on_lattice_proper h cms Hl). revert l Hnd.
    assert (Hlen : length cms = length gs).
    { assert (E := f_equal (@length count) Hcounts). unfold counts, gaussian_counts in E. now rewrite !map_length in E. }
    apply (box_bound (length cms)).
    - intros xs; apply Rmult_le_pos; [now apply P_nonneg | apply gain_nonneg].
    - intros xs Hxs; unfold P; rewrite product_wrong_length; [ring|]. unfold counts; now rewrite map_length.
    - intros A. set (q := exp (x * (h * INR N * IZR k)) * exp (- (x * eps))).
      apply Rle_trans with (lsum (fun xs => q * product (moment x) (gaussian_counts gs) xs) (box (length (gaussian_counts gs)) A)).
      + replace (length (gaussian_counts gs)) with (length cms) by (unfold gaussian_counts; now rewrite map_length).
        apply lsum_le_in; intros xs Hxs; apply in_box in Hxs; destruct Hxs as [Hxl _].
        assert (Hgl : length xs = length gs) by lia. assert (Hpos := gaussian_product_pos gs xs Hgs Hgl).
        destruct (moment_is_tilted gs x xs Hgs Hgl) as (v & HQ & HM). rewrite HM.
        assert (Hloss := loss_is_affine h cms xs Hl Hxl). rewrite Hcounts in Hloss |- *. rewrite HQ in Hloss.
        apply Rmult_eq_reg_l in Hloss; [|lra]. apply exp_inv in Hloss.
        set (p := P (gaussian_counts gs) xs) in *. replace (q * (p * exp (x * v))) with (p * (q * exp (x * v))) by ring.
        apply Rmult_le_compat_l; [lra|]. unfold gain.
        set (w := offset cms + h * IZR (index cms xs + Z.of_nat N * k) - eps).
        replace (eps - (offset cms + h * IZR (index cms xs + Z.of_nat N * k))) with (- w) by (unfold w; ring).
        assert (Eq : q * exp (x * v) = exp (x * w)).
        { unfold q; rewrite <- !exp_plus; f_equal. unfold w. rewrite plus_IZR, mult_IZR, <- INR_IZR_INZ.
          assert (Ev : v = offset cms + h * IZR (index cms xs)) by lra. rewrite Ev; ring. }
        rewrite Eq. apply Rmax_lub; [left; apply exp_pos|].
        destruct (Rle_lt_dec 0 w) as [Hw|Hw].
        * apply Rle_trans with 1; [generalize (exp_pos (- w)); lra|]. rewrite <- exp_0. apply exp_mono. now apply Rmult_le_pos.
        * assert (exp 0 <= exp (- w)) by (apply exp_mono; lra). rewrite exp_0 in *. generalize (exp_pos (x * w)); lra.
      + rewrite lsum_scale. assert (Hmom := moments_at_most gs x A Hgs). unfold q.
        replace (exp (x * (h * INR N * IZR k)) * (exp ((x + x²) * rho_of gs) * exp (- (x * eps))))
          with (exp (x * (h * INR N * IZR k)) * exp (- (x * eps)) * exp ((x + x²) * rho_of gs)) by ring.
        apply Rmult_le_compat_l; [apply Rmult_le_pos; left; apply exp_pos | apply Hmom].
  Qed.

  (** The lower end, with (F): the aliases on each side of the contour c = a / h, by a point x on that side and one y beyond. *)
  Theorem lower_end x y :
    0 <= x -> x < a / h < y ->
    trapezoid N a h eps cms lo
    - exp ((x + x²) * rho_of gs) * exp (- (x * eps)) / (exp (h * INR N * (a / h - x)) - 1)
    - exp ((y + y²) * rho_of gs) * exp (- (y * eps)) / (exp (h * INR N * (y - a / h)) - 1)
    <= delta (counts cms) eps.
  Proof.
    intros Hx Hc. assert (HN' := lt_0_INR N HN). set (period := h * INR N). assert (Hper : 0 < period) by (now apply Rmult_lt_0_compat).
    set (c := a / h) in *. assert (Ec : a * INR N = c * period) by (unfold c, period; field; lra).
    set (Mx := exp ((x + x²) * rho_of gs) * exp (- (x * eps))). set (My := exp ((y + y²) * rho_of gs) * exp (- (y * eps))).
    assert (HMx : 0 <= Mx) by (apply Rmult_le_pos; left; apply exp_pos). assert (HMy : 0 <= My) by (apply Rmult_le_pos; left;
      apply exp_pos).
    enough (trapezoid N a h eps cms lo
      <= delta (counts cms) eps + (Mx / (exp (period * (c - x)) - 1) + My / (exp (period * (y - c)) - 1))) by lra.
    apply rule_without_aliases. intros l Hnd Hk.
    (* All of them are among those of -K, ..., -1 and 1, ..., K, and of the outputs in a list. *)
    set (outs := nodup (list_eq_dec Z.eq_dec) (map snd l)). assert (Houts : NoDup outs) by apply NoDup_nodup.
    destruct (list_in_range (map fst l)) as [K HK]. specialize (HK K (le_n K)).
    set (up := map (fun k => Z.of_nat (S k)) (seq 0 K)). set (down := map (fun k => (- Z.of_nat (S k))%Z) (seq 0 K)).
    apply Rle_trans with (lsum alias_term (list_prod (up ++ down) outs)).
    - apply lsum_incl; [apply alias_term_nonneg | assumption|]. intros [k xs] Hin. apply in_prod_iff; split.
      + assert (Hk0 := Hk _ Hin); cbn [fst] in Hk0. assert (Hr : In k (range K)) by (apply HK, in_map_iff; now exists (k, xs)).
        apply in_range in Hr. apply in_or_app. destruct (Z.lt_total 0 k) as [H|[H|H]]; [left | lia | right]; apply in_map_iff.
        * exists (Z.to_nat (k - 1)); split; [lia | apply in_seq; lia].
        * exists (Z.to_nat (- k - 1)); split; [lia | apply in_seq; lia].
      + apply nodup_In, in_map_iff; now exists (k, xs).
    - assert (Eprod : forall ks, lsum alias_term (list_prod ks outs)
        = lsum (fun k => exp (- (c * period * IZR k)) * lsum (fun xs => P (counts cms) xs * gain h eps (offset cms) (index cms xs
          + Z.of_nat N * k)) outs) ks).
      { induction ks as [|k ks IH]; cbn [list_prod lsum]; [reflexivity|]. rewrite lsum_app, lsum_map, IH. f_equal.
        rewrite <- lsum_scale. apply lsum_ext; intros xs. unfold alias_term; cbn [fst snd]. rewrite <- INR_IZR_INZ, Ec. ring. }
      rewrite Eprod, lsum_app. unfold up, down. rewrite !lsum_map. apply Rplus_le_compat.
      + eapply Rle_trans; [right | apply (aliases_at_most period c x (c - x) Mx
          (fun k => lsum (fun xs => P (counts cms) xs * gain h eps (offset cms) (index cms xs + Z.of_nat N * Z.of_nat (S k))) outs) K)].
        * apply lsum_ext; intros k. do 2 f_equal. rewrite <- INR_IZR_INZ; ring.
        * assumption.
        * lra.
        * ring.
        * assumption.
        * intros k; split.
          -- apply lsum_nonneg; intros xs; apply Rmult_le_pos; [apply P_nonneg, (on_lattice_proper h), Hl | apply gain_nonneg].
          -- eapply Rle_trans; [apply (mean_of_alias x); assumption|]. right. fold Mx period. rewrite <- INR_IZR_INZ. f_equal; f_equal;
               ring.
      + eapply Rle_trans; [right | apply (aliases_at_most period (- c) (- y) (y - c) My
          (fun k => lsum (fun xs => P (counts cms) xs * gain h eps (offset cms) (index cms xs + Z.of_nat N * - Z.of_nat (S k))) outs) K)].
        * apply lsum_ext; intros k. do 2 f_equal. rewrite opp_IZR, <- INR_IZR_INZ; ring.
        * assumption.
        * lra.
        * ring.
        * assumption.
        * intros k; split.
          -- apply lsum_nonneg; intros xs; apply Rmult_le_pos; [apply P_nonneg, (on_lattice_proper h), Hl | apply gain_nonneg].
          -- eapply Rle_trans; [apply (mean_of_alias y); [lra | assumption]|]. right. fold My period. rewrite opp_IZR, <- INR_IZR_INZ.
             f_equal; f_equal; ring.
  Qed.
End Ends.
