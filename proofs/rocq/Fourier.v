(** * The trapezoid rule on a lattice is an upper bound

    For losses rho + h k with integers k, a tilt a = c h > 0 and N nodes, the rule

        T = (1/N) sum over j < N of M(s_j) kappa(s_j) / h,    s_j = c + 2 pi i j / (h N),

    is at least delta(eps). Written with the index k instead of the loss, exp(s_j (loss - rho)) = exp(a k) root(j k), where
    root(e) = exp(2 pi i e / N). The argument is finite (the roots of unity add up to zero or to N), up to two limits at the end. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick.
Import ListNotations.
Open Scope R_scope.

(** ** Complex sums and limits, part by part *)

Definition csum {A} (f : A -> C) (l : list A) : C :=
  (lsum (fun x => fst (f x)) l, lsum (fun x => snd (f x)) l).

Definition clim (u : nat -> C) (l : C) : Prop :=
  is_lim_seq (fun n => fst (u n)) (fst l) /\ is_lim_seq (fun n => snd (u n)) (snd l).

Lemma C_eq (u v : C) : fst u = fst v -> snd u = snd v -> u = v.
Proof. destruct u, v; cbn; intros; subst; reflexivity. Qed.

Lemma csum_ext {A} (f g : A -> C) l : (forall x, f x = g x) -> csum f l = csum g l.
Proof. intros H; apply C_eq; cbn; apply lsum_ext; intros; now rewrite H. Qed.

Lemma csum_ext_in {A} (f g : A -> C) l : (forall x, In x l -> f x = g x) -> csum f l = csum g l.
Proof. intros H; apply C_eq; cbn; apply lsum_ext_in; intros; now rewrite H. Qed.

Lemma csum_cons {A} (f : A -> C) x l : csum f (x :: l) = (f x + csum f l)%C.
Proof. reflexivity. Qed.

Lemma csum_nil {A} (f : A -> C) : csum f [] = 0%C.
Proof. reflexivity. Qed.

Lemma csum_app {A} (f : A -> C) l1 l2 : csum f (l1 ++ l2) = (csum f l1 + csum f l2)%C.
Proof. apply C_eq; cbn; apply lsum_app. Qed.

Lemma csum_scale {A} c (f : A -> C) l : csum (fun x => (c * f x)%C) l = (c * csum f l)%C.
Proof.
  induction l as [|x l IH]; [rewrite !csum_nil; ring|]. rewrite !csum_cons, IH; ring.
Qed.

Lemma csum_minus {A} (f g : A -> C) l :
  csum (fun x => (f x - g x)%C) l = (csum f l - csum g l)%C.
Proof. induction l as [|x l IH]; [rewrite !csum_nil; ring|]. rewrite !csum_cons, IH; ring. Qed.

Lemma clim_const c : clim (fun _ => c) c.
Proof. split; apply is_lim_seq_const. Qed.

Lemma clim_ext u v l : (forall n, u n = v n) -> clim u l -> clim v l.
Proof.
  intros H [H1 H2]; split; [eapply is_lim_seq_ext; [|exact H1] | eapply is_lim_seq_ext; [|exact H2]];
    intros n; cbn; now rewrite H.
Qed.

Lemma clim_mult u v l m : clim u l -> clim v m -> clim (fun n => (u n * v n)%C) (l * m)%C.
Proof.
  intros [Hu1 Hu2] [Hv1 Hv2]; split; cbn.
  - apply is_lim_seq_minus'; now apply is_lim_seq_mult'.
  - apply is_lim_seq_plus'; now apply is_lim_seq_mult'.
Qed.

Lemma clim_minus u v l m : clim u l -> clim v m -> clim (fun n => (u n - v n)%C) (l - m)%C.
Proof. intros [Hu1 Hu2] [Hv1 Hv2]; split; cbn; now apply is_lim_seq_minus'. Qed.

Lemma lim_lsum {A} (u : nat -> A -> R) (v : A -> R) l :
  (forall x, In x l -> is_lim_seq (fun n => u n x) (v x)) ->
  is_lim_seq (fun n => lsum (u n) l) (lsum v l).
Proof.
  induction l as [|x l IH]; cbn; intros H; [apply is_lim_seq_const|].
  apply is_lim_seq_plus'; [apply H; now left | apply IH; intros; apply H; now right].
Qed.

(** ** Roots of unity *)

Definition cis (t : R) : C := (cos t, sin t).

Lemma cis_plus s t : cis (s + t) = (cis s * cis t)%C.
Proof. apply C_eq; cbn; [rewrite cos_plus | rewrite sin_plus]; ring. Qed.

Lemma cis_0 : cis 0 = 1%C.
Proof. apply C_eq; cbn; [apply cos_0 | apply sin_0]. Qed.

Lemma cis_turns (n : Z) : cis (2 * PI * IZR n) = 1%C.
Proof.
  assert (Hnat : forall k : nat, cis (2 * PI * INR k) = 1%C).
  { intros k; apply C_eq; cbn.
    - replace (2 * PI * INR k) with (0 + 2 * INR k * PI) by ring. rewrite cos_period; apply cos_0.
    - replace (2 * PI * INR k) with (0 + 2 * INR k * PI) by ring. rewrite sin_period; apply sin_0. }
  destruct (Z.le_ge_cases 0 n) as [H|H].
  - rewrite <- (Z2Nat.id n H), <- INR_IZR_INZ; apply Hnat.
  - specialize (Hnat (Z.to_nat (- n))).
    rewrite INR_IZR_INZ, Z2Nat.id, opp_IZR in Hnat by lia.
    replace (2 * PI * - IZR n) with (- (2 * PI * IZR n)) in Hnat by ring.
    unfold cis in *; rewrite cos_neg, sin_neg in Hnat; injection Hnat as H1 H2.
    apply C_eq; cbn; lra.
Qed.

(** exp(2 pi i e / N). *)
Definition root (N : nat) (e : Z) : C := cis (2 * PI * (IZR e / INR N)).

Section Roots.
  Variable N : nat.
  Hypothesis HN : (0 < N)%nat.

  Let N_pos : 0 < INR N.
  Proof. apply lt_0_INR, HN. Qed.

  Lemma root_plus e f : root N (e + f) = (root N e * root N f)%C.
  Proof. unfold root; rewrite <- cis_plus, plus_IZR; f_equal; field; lra. Qed.

  Lemma root_0 : root N 0 = 1%C.
  Proof. unfold root; rewrite <- cis_0; f_equal; field; lra. Qed.

  Lemma root_turns q : root N (Z.of_nat N * q) = 1%C.
  Proof.
    unfold root; rewrite <- (cis_turns q); f_equal.
    rewrite mult_IZR, <- INR_IZR_INZ; field; lra.
  Qed.

  Lemma root_not_1 e : (e mod Z.of_nat N <> 0)%Z -> root N e <> 1%C.
  Proof.
    intros He Heq.
    assert (Hr := Z.mod_pos_bound e (Z.of_nat N) ltac:(lia)).
    rewrite (Z.div_mod e (Z.of_nat N)), root_plus, root_turns, Cmult_1_l in Heq by lia.
    set (r := (e mod Z.of_nat N)%Z) in *.
    apply (f_equal fst) in Heq; cbn in Heq.
    replace (2 * PI * (IZR r / INR N)) with (2 * (PI * (IZR r / INR N))) in Heq by ring.
    rewrite cos_2a_sin in Heq.
    set (t := PI * (IZR r / INR N)) in *.
    assert (Hq : 0 < IZR r / INR N < 1).
    { split.
      - apply Rdiv_lt_0_compat; [apply IZR_lt; lia | lra].
      - apply Rmult_lt_reg_r with (INR N); [lra|].
        unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
        rewrite INR_IZR_INZ; apply IZR_lt; lia. }
    assert (Hpi := PI_RGT_0).
    assert (Hs : 0 < sin t) by (apply sin_gt_0; unfold t; nra).
    nra.
  Qed.

  Lemma root_telescope e n :
    ((root N e - 1) * csum (fun j => root N (e * Z.of_nat j)) (seq 0 n) = root N (e * Z.of_nat n) - 1)%C.
  Proof.
    induction n as [|n IH].
    - cbn [seq]; rewrite csum_nil, Z.mul_0_r, root_0; ring.
    - rewrite seq_S, csum_app, csum_cons, csum_nil, Cplus_0_r, Cmult_plus_distr_l, IH.
      replace (e * Z.of_nat (S n))%Z with (e + e * Z.of_nat n)%Z by lia.
      cbn [Nat.add]; rewrite root_plus; ring.
  Qed.

  (** The mean of the e-th powers of all roots is one if N divides e, and zero if not. *)
  Theorem roots_orthogonal e :
    csum (fun j => root N (e * Z.of_nat j)) (seq 0 N)
    = if (e mod Z.of_nat N =? 0)%Z then RtoC (INR N) else 0%C.
  Proof.
    destruct (Z.eqb_spec (e mod Z.of_nat N) 0) as [H|H].
    - assert (He : e = (Z.of_nat N * (e / Z.of_nat N))%Z)
        by (rewrite (Z.div_mod e (Z.of_nat N)) at 1; lia).
      rewrite (csum_ext _ (fun _ => 1%C)).
      + clear; generalize 0%nat as k; induction N as [|n IH]; intros k; [reflexivity|].
        cbn [seq]; rewrite csum_cons, IH, S_INR. apply C_eq; cbn; ring.
      + intros j; rewrite He, <- Z.mul_assoc; apply root_turns.
    - assert (Hz : (root N e - 1)%C <> 0%C).
      { intros E; apply (root_not_1 e H). replace (root N e) with (root N e - 1 + 1)%C by ring.
        rewrite E; ring. }
      assert (T := root_telescope e N).
      rewrite (Z.mul_comm e), root_turns in T. replace (RtoC 1 - RtoC 1)%C with (RtoC 0) in T by ring.
      set (S := csum _ _) in *.
      replace S with (/ (root N e - 1) * ((root N e - 1) * S))%C by (field; exact Hz).
      rewrite T; ring.
  Qed.

  Lemma mean_of_roots e :
    / INR N * lsum (fun j => fst (root N (e * Z.of_nat j))) (seq 0 N)
    = if (e mod Z.of_nat N =? 0)%Z then 1 else 0.
  Proof.
    assert (H := f_equal fst (roots_orthogonal e)). unfold csum in H; cbn [fst] in H; rewrite H.
    destruct (_ =? _)%Z; cbn; field; lra.
  Qed.
End Roots.

(** ** Waves on the integers and their geometric series *)

Section Trapezoid.
  Variable N : nat.
  Hypothesis HN : (0 < N)%nat.

  Let N_pos : 0 < INR N.
  Proof. apply lt_0_INR, HN. Qed.

  (** exp(t k) root(j k): the exponential of the index [k] with tilt [t] at node [j]. *)
  Definition wave (t : R) (j : nat) (k : Z) : C :=
    (RtoC (exp (t * IZR k)) * root N (k * Z.of_nat j))%C.

  Lemma wave_plus t j k l : wave t j (k + l) = (wave t j k * wave t j l)%C.
  Proof.
    unfold wave; rewrite plus_IZR, Rmult_plus_distr_l, exp_plus, RtoC_mult, Z.mul_add_distr_r.
    rewrite root_plus by assumption; ring.
  Qed.

  Lemma wave_0 t j : wave t j 0 = RtoC 1.
  Proof. unfold wave; rewrite Rmult_0_r, exp_0, Z.mul_0_l, root_0 by assumption; ring. Qed.

  Lemma fst_wave t j k : fst (wave t j k) = exp (t * IZR k) * fst (root N (k * Z.of_nat j)).
  Proof. unfold wave; cbn; ring. Qed.

  Lemma snd_wave t j k : snd (wave t j k) = exp (t * IZR k) * snd (root N (k * Z.of_nat j)).
  Proof. unfold wave; cbn; ring. Qed.

  Lemma root_parts e : Rabs (fst (root N e)) <= 1 /\ Rabs (snd (root N e)) <= 1.
  Proof. cbn; split; apply Rabs_le; [apply COS_bound | apply SIN_bound]. Qed.

  Lemma wave_vanishes t j lo : 0 < t -> clim (fun n => wave t j (- (lo + Z.of_nat n))) (RtoC 0).
  Proof.
    intros Ht.
    assert (Hgeom : is_lim_seq (fun n => exp (t * IZR (- (lo + Z.of_nat n)))) 0).
    { apply is_lim_seq_ext with (u := fun n => exp (- t * IZR lo) * exp (- t) ^ n).
      - intros n; rewrite <- exp_times, <- exp_plus; f_equal.
        rewrite opp_IZR, plus_IZR, <- INR_IZR_INZ; ring.
      - replace (Finite 0) with (Rbar_mult (exp (- t * IZR lo)) 0) by (cbn; f_equal; ring).
        apply is_lim_seq_scal_l, is_lim_seq_geom.
        rewrite Rabs_right by (left; apply exp_pos).
        rewrite <- exp_0; apply exp_increasing; lra. }
    assert (Hneg : is_lim_seq (fun n => - exp (t * IZR (- (lo + Z.of_nat n)))) 0).
    { replace (Finite 0) with (Rbar_opp 0) by (cbn; f_equal; ring). now apply -> is_lim_seq_opp. }
    split; cbn [fst snd RtoC].
    - apply is_lim_seq_le_le with (2 := Hneg) (3 := Hgeom); intros n; rewrite fst_wave.
      destruct (root_parts (- (lo + Z.of_nat n) * Z.of_nat j)) as [H%Rabs_le_between _].
      generalize (exp_pos (t * IZR (- (lo + Z.of_nat n)))); nra.
    - apply is_lim_seq_le_le with (2 := Hneg) (3 := Hgeom); intros n; rewrite snd_wave.
      destruct (root_parts (- (lo + Z.of_nat n) * Z.of_nat j)) as [_ H%Rabs_le_between].
      generalize (exp_pos (t * IZR (- (lo + Z.of_nat n)))); nra.
  Qed.

  Lemma wave_not_1 t j : 0 < t -> (1 - wave t j (-1))%C <> RtoC 0.
  Proof.
    intros Ht E; apply (f_equal fst) in E.
    change (fst (1 - wave t j (-1))%C) with (1 - fst (wave t j (-1))) in E.
    rewrite fst_wave in E; cbn [fst RtoC] in E.
    destruct (root_parts (-1 * Z.of_nat j)) as [H%Rabs_le_between _].
    assert (exp (t * -1) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
    generalize (exp_pos (t * -1)); nra.
  Qed.

  Lemma wave_telescope t j lo n :
    ((1 - wave t j (-1)) * csum (fun l => wave t j (- l)) (zlist lo n)
     = wave t j (- lo) - wave t j (- (lo + Z.of_nat n)))%C.
  Proof.
    revert lo; induction n as [|n IH]; intros lo.
    - change (zlist lo 0) with (@nil Z); rewrite csum_nil, Z.add_0_r; ring.
    - rewrite zlist_S, csum_cons, Cmult_plus_distr_l, IH.
      replace (- (lo + Z.of_nat (S n)))%Z with (- (lo + 1 + Z.of_nat n))%Z by lia.
      replace (- (lo + 1))%Z with (-1 + - lo)%Z by lia.
      rewrite wave_plus; ring.
  Qed.

  (** sum over l >= lo of exp(-t l) root(-j l). *)
  Definition series (t : R) (lo : Z) (j : nat) : C := (wave t j (- lo) / (1 - wave t j (-1)))%C.

  Lemma series_converges t lo j :
    0 < t -> clim (fun n => csum (fun l => wave t j (- l)) (zlist lo n)) (series t lo j).
  Proof.
    intros Ht; assert (Hz := wave_not_1 t j Ht).
    apply clim_ext with (u := fun n =>
      (/ (1 - wave t j (-1)) * (wave t j (- lo) - wave t j (- (lo + Z.of_nat n))))%C).
    - intros n; rewrite <- wave_telescope; field; exact Hz.
    - replace (series t lo j) with (/ (1 - wave t j (-1)) * (wave t j (- lo) - RtoC 0))%C
        by (unfold series; field; exact Hz).
      apply clim_mult; [apply clim_const|]. apply clim_minus; [apply clim_const | now apply wave_vanishes].
  Qed.

  (** ** The kernel *)

  Section Kernel.
    Variables (a h eps r : R) (lo : Z).
    Hypothesis Ha : 0 < a.
    Hypothesis Hh : 0 < h.

    (** [lo] is the index of the smallest loss that is at least eps. *)
    Hypothesis Hlo : eps <= r + h * IZR lo.
    Hypothesis Hbelow : r + h * IZR (lo - 1) <= eps.

    Let g := gain h eps r.

    (** The sum over l >= lo of (1 - e^(eps - loss)) e^(-a l) root(-j l): two geometric series. *)
    Definition kernel (j : nat) : C :=
      (series a lo j - RtoC (exp (eps - r)) * series (a + h) lo j)%C.

    Definition partial_kernel (j n : nat) : C :=
      csum (fun l => (RtoC (g l) * wave a j (- l))%C) (zlist lo n).

    Theorem kernel_converges j : clim (partial_kernel j) (kernel j).
    Proof.
      apply clim_ext with (u := fun n =>
        (csum (fun l => wave a j (- l)) (zlist lo n)
         - RtoC (exp (eps - r)) * csum (fun l => wave (a + h) j (- l)) (zlist lo n))%C).
      - intros n; rewrite <- csum_scale, <- csum_minus; apply csum_ext_in; intros l Hl%in_zlist; unfold g.
        rewrite (gain_above h eps r lo) by (assumption || lia). unfold wave.
        replace ((a + h) * IZR (- l)) with (a * IZR (- l) + - h * IZR l) by (rewrite opp_IZR; ring).
        rewrite exp_plus, RtoC_minus, !RtoC_mult; ring.
      - apply clim_minus; [now apply series_converges|].
        apply clim_mult; [apply clim_const | apply series_converges; lra].
    Qed.

    (** What the nodes make of the kernel, at the index [k]: the gain at [k], and its aliases at k + N Z, tilted. *)
    Definition folded (k : Z) : R :=
      / INR N * lsum (fun j => fst (wave a j k * kernel j)%C) (seq 0 N).

    Lemma partial_fold k n :
      / INR N * lsum (fun j => fst (wave a j k * partial_kernel j n)%C) (seq 0 N)
      = lsum (fun l => g l * exp (a * IZR (k - l))
                       * (if ((k - l) mod Z.of_nat N =? 0)%Z then 1 else 0)) (zlist lo n).
    Proof.
      rewrite (lsum_ext _ (fun j => lsum (fun l => g l * exp (a * IZR (k - l))
                                            * fst (root N ((k - l) * Z.of_nat j))) (zlist lo n))).
      - rewrite lsum_swap, <- lsum_scale; apply lsum_ext; intros l.
        rewrite lsum_scale, <- mean_of_roots by assumption; ring.
      - intros j; unfold partial_kernel; rewrite <- csum_scale; unfold csum; cbn [fst].
        apply lsum_ext; intros l.
        replace (wave a j k * (RtoC (g l) * wave a j (- l)))%C
          with (RtoC (g l) * wave a j (k - l))%C
          by (unfold Z.sub; rewrite wave_plus; ring).
        transitivity (g l * fst (wave a j (k - l))); [cbn; ring | rewrite fst_wave; ring].
    Qed.

    (** No alias is negative, so the fold is at least the gain. *)
    Theorem folded_dominates k : g k <= folded k.
    Proof.
      set (f := fun l => g l * exp (a * IZR (k - l))
                         * (if ((k - l) mod Z.of_nat N =? 0)%Z then 1 else 0)).
      assert (Hf : forall l, 0 <= f l).
      { intros l; apply Rmult_le_pos; [apply Rmult_le_pos|].
        - apply gain_nonneg.
        - left; apply exp_pos.
        - destruct (_ =? _)%Z; lra. }
      apply (is_lim_seq_le_loc (fun _ => g k)
               (fun n => / INR N * lsum (fun j => fst (wave a j k * partial_kernel j n)%C) (seq 0 N))
               (g k) (folded k)).
      - exists (S (Z.to_nat (k - lo))); intros n Hn; rewrite partial_fold; fold f.
        destruct (Z.lt_ge_cases k lo) as [Hk|Hk].
        + unfold g; rewrite (gain_below h eps r lo) by assumption; now apply lsum_nonneg.
        + apply Rle_trans with (lsum f [k]).
          * right; cbn; unfold f; rewrite Z.sub_diag, Zmod_0_l; cbn. rewrite Rmult_0_r, exp_0; ring.
          * apply lsum_incl; [assumption | repeat constructor; auto|].
            intros l [<-|[]]; apply in_zlist; lia.
      - apply is_lim_seq_const.
      - replace (Finite (folded k))
          with (Rbar_mult (/ INR N) (lsum (fun j => fst (wave a j k * kernel j)%C) (seq 0 N)))
          by reflexivity.
        apply is_lim_seq_scal_l, lim_lsum; intros j _.
        apply (clim_mult (fun _ => wave a j k) _ _ _ (clim_const _) (kernel_converges j)).
    Qed.
  End Kernel.

  (** ** The transforms of the counts *)

  (** The transform of one count at node [j], over outputs from -A to A. *)
  Definition partial_transform (a : R) (cm : count * reading) (j A : nat) : C :=
    csum (fun x => (RtoC (P1 (fst cm) x) * wave a j (- (step (snd cm) * place (snd cm) x)))%C) (range A).

  (** The same over all outputs: the moment generating function of the count's loss at s_j, but for its offset. *)
  Definition transform (a : R) (cm : count * reading) (j : nat) : C :=
    (real (Lim_seq (fun A => fst (partial_transform a cm j A))),
     real (Lim_seq (fun A => snd (partial_transform a cm j A)))).

  Lemma limit_exists (u : Z -> R) :
    summable (fun x => Rabs (u x)) ->
    is_lim_seq (fun A => lsum u (range A)) (real (Lim_seq (fun A => lsum u (range A)))).
  Proof.
    intros H; destruct (symmetric_sums_converge_absolutely u H) as [v Hv].
    now rewrite (is_lim_seq_unique _ _ Hv).
  Qed.

  (** The tilted laws of a count can be summed. *)
  Definition tame (cm : count * reading) : Prop :=
    lawful (fst cm) /\ forall b, summable (fun x => P1 (fst cm) x * exp (b * IZR (place (snd cm) x))).

  Lemma Count_tame s m st ba nm : 0 < s -> tame (Count s m, Reading st (fun x => x) ba nm).
  Proof. intros H; split; [now apply Count_lawful | intros b; now apply tilted_gaussian_summable]. Qed.

  Theorem transform_converges a cm j :
    tame cm -> clim (partial_transform a cm j) (transform a cm j).
  Proof.
    intros [Hs Hb].
    assert (Hdom : forall part : C -> R,
      (forall t k, part (RtoC (P1 (fst cm) k) * wave a j t)%C
                   = P1 (fst cm) k * (exp (a * IZR t) * part (root N (t * Z.of_nat j)))) ->
      (forall e, Rabs (part (root N e)) <= 1) ->
      summable (fun x => Rabs (part (RtoC (P1 (fst cm) x) * wave a j (- (step (snd cm) * place (snd cm) x)))%C))).
    { intros part Hpart Hone.
      apply summable_le with (g := fun x => P1 (fst cm) x * exp (- (a * IZR (step (snd cm))) * IZR (place (snd cm) x))).
      2: apply Hb.
      intros x; rewrite Hpart, !Rabs_mult.
      rewrite (Rabs_right (P1 _ _)) by (apply Rle_ge; now apply P1_nonneg).
      apply Rmult_le_compat_l; [now apply P1_nonneg|].
      rewrite (Rabs_right (exp _)) by (left; apply exp_pos).
      replace (a * IZR (- (step (snd cm) * place (snd cm) x))) with (- (a * IZR (step (snd cm))) * IZR (place (snd cm) x))
        by (rewrite opp_IZR, mult_IZR; ring).
      rewrite <- Rmult_1_r; apply Rmult_le_compat_l; [left; apply exp_pos | apply Hone]. }
    split; cbn [fst snd transform]; apply limit_exists, Hdom.
    - intros t k; rewrite <- fst_wave; cbn; ring.
    - intros e; apply root_parts.
    - intros t k; rewrite <- snd_wave; cbn; ring.
    - intros e; apply root_parts.
  Qed.

  Definition cproduct (f : count * reading -> C) (cms : steps) : C :=
    fold_right (fun cm acc => (f cm * acc)%C) (RtoC 1) cms.

  Lemma cproduct_converges a cms j :
    Forall tame cms ->
    clim (fun A => cproduct (fun cm => partial_transform a cm j A) cms)
         (cproduct (fun cm => transform a cm j) cms).
  Proof.
    intros H; induction cms as [|cm cms IH]; [apply clim_const|].
    inversion H; subst; cbn [cproduct fold_right].
    apply clim_mult; [now apply transform_converges | now apply IH].
  Qed.

  (** The transform of a sum of independent indices is the product of the transforms. *)
  Lemma value_of_waves a (K : nat -> C) cms A k :
    value cms (fun i => / INR N * lsum (fun j => fst (wave a j i * K j)%C) (seq 0 N)) A k
    = / INR N * lsum (fun j => fst (wave a j k * (cproduct (fun cm => partial_transform a cm j A) cms * K j))%C)
                     (seq 0 N).
  Proof.
    revert k; induction cms as [|[c m] cms IH]; intros k.
    - cbn [value cproduct fold_right]; f_equal; apply lsum_ext; intros j; f_equal; ring.
    - cbn [value].
      rewrite (lsum_ext _ (fun x => / INR N * lsum (fun j => fst (wave a j k * ((RtoC (P1 c x) * wave a j (- (step m * place m x)))
          * (cproduct (fun cm => partial_transform a cm j A) cms * K j)))%C) (seq 0 N))).
      + rewrite lsum_scale, lsum_swap; f_equal; apply lsum_ext; intros j.
        change (cproduct ?f ((c, m) :: cms)) with (f (c, m) * cproduct f cms)%C; cbv beta.
        set (T := (cproduct _ cms * K j)%C).
        replace (wave a j k * (partial_transform a (c, m) j A * cproduct
           (fun cm => partial_transform a cm j A) cms * K j))%C
          with ((wave a j k * T) * partial_transform a (c, m) j A)%C by (unfold T; ring).
        unfold partial_transform; rewrite <- csum_scale; unfold csum; cbn [fst snd].
        apply lsum_ext; intros x; f_equal; ring.
      + intros x; rewrite IH.
        rewrite <- Rmult_assoc, (Rmult_comm (P1 c x)), Rmult_assoc, <- lsum_scale; f_equal.
        apply lsum_ext; intros j; unfold Z.sub; rewrite wave_plus.
        set (T := (cproduct _ cms * K j)%C).
        transitivity (fst (RtoC (P1 c x) * (wave a j k * wave a j (- (step m * place m x)) * T))%C); [|f_equal; ring].
        set (W := (wave a j k * wave a j (- (step m * place m x)) * T)%C). cbn; ring.
  Qed.

  (** ** The theorem *)

  (** The trapezoid rule with [N] nodes on the line Re s = a / h. *)
  Definition trapezoid (a h eps : R) (cms : steps) (lo : Z) : R :=
    / INR N * lsum (fun j => fst (cproduct (fun cm => transform a cm j) cms
                                  * kernel a h eps (offset cms) lo j)%C) (seq 0 N).

  Theorem trapezoid_is_an_upper_bound a h eps cms lo :
    0 < a -> 0 < h -> on_lattice h cms -> Forall tame cms ->
    eps <= offset cms + h * IZR lo -> offset cms + h * IZR (lo - 1) <= eps ->
    delta (counts cms) eps <= trapezoid a h eps cms lo.
  Proof.
    intros Ha Hh Hl Ht Hlo Hbelow; assert (Hp := on_lattice_proper h cms Hl).
    apply (delta_at_most h); [assumption|]; intros A.
    apply (is_lim_seq_le_loc (fun _ => value cms (gain h eps (offset cms)) A 0)
      (fun B => / INR N * lsum (fun j => fst (wave a j 0 * (cproduct (fun cm => partial_transform a cm j B) cms
                                              * kernel a h eps (offset cms) lo j))%C) (seq 0 N))
      (value cms (gain h eps (offset cms)) A 0) (trapezoid a h eps cms lo)).
    - exists A; intros B HB; rewrite <- value_of_waves.
      apply Rle_trans with (value cms (gain h eps (offset cms)) B 0).
      + apply value_wider; auto using gain_nonneg.
      + apply value_le; [assumption|]; intros k; now apply folded_dominates.
    - apply is_lim_seq_const.
    - apply (is_lim_seq_scal_l _ (/ INR N) (lsum _ (seq 0 N))), lim_lsum; intros j _.
      apply (clim_ext (fun B => (cproduct (fun cm => partial_transform a cm j B) cms
                                 * kernel a h eps (offset cms) lo j)%C)).
      + intros B; rewrite wave_0; ring.
      + apply clim_mult; [now apply cproduct_converges | apply clim_const].
  Qed.
End Trapezoid.
