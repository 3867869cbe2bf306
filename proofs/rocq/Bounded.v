(** * Noise on finitely many integers

    Truncated noise, and randomized response with any number of answers: on an interval of integers the probabilities are in proportion to
    weights. A count that moves takes the interval of its outputs with it, so that outputs at its ends are possible for one neighbor only.
    Given that both neighbors can have the output, the weights are the same on the common interval. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Directions Walk Response Outcomes.
Import ListNotations.
Open Scope R_scope.

(** The integers from [a] to [a + n - 1]. *)
Definition in_span (a : Z) (n : nat) (x : Z) : bool := ((a <=? x) && (x <? a + Z.of_nat n))%Z%bool.

(** There the probabilities are in proportion to the weights [w]. *)
Definition within (w : Z -> R) (a : Z) (n : nat) (x : Z) : R := if in_span a n x then w x / lsum w (zlist a n) else 0.

(** Noise from -b to b. *)
Definition outputs (b : Z) : nat := Z.to_nat (2 * b + 1).
Definition truncated (w : Z -> R) (b : Z) : Z -> R := within w (- b) (outputs b).

(** The weight of [x] in discrete Laplace noise. *)
Definition geometric (e : R) (x : Z) : R := exp (- (e * Rabs (IZR x))).

Definition Truncated (w : Z -> R) (b shift : Z) : count := Pair (truncated w b) (fun x => truncated w b (x - shift)).
Definition TruncatedGaussian (s : R) : Z -> Z -> count := Truncated (weight s).
Definition TruncatedLaplace (e : R) : Z -> Z -> count := Truncated (geometric e).

(** Randomized response with [n] answers: the true one has the weight 1, each of the others e^-e. *)
Definition answer (e : R) (truth x : Z) : R := if (x =? truth)%Z then 1 else exp (- e).
Definition Answers (e : R) (n : nat) : count := Pair (within (answer e 0) 0 n) (within (answer e 1) 0 n).

(** ** They are laws *)

Lemma in_span_spec a n x : in_span a n x = true <-> In x (zlist a n).
Proof. unfold in_span; rewrite in_zlist, Bool.andb_true_iff; lia. Qed.

Lemma outside_span a n x : ~ In x (zlist a n) -> in_span a n x = false.
Proof. rewrite <- in_span_spec; now destruct (in_span a n x). Qed.

Section Law.
  Variables (w : Z -> R) (a : Z) (n : nat).
  Hypothesis Hw : forall x, 0 < w x.
  Hypothesis Hn : (0 < n)%nat.

  Lemma weights_pos : 0 < lsum w (zlist a n).
  Proof.
    destruct n as [|n']; [lia|]. rewrite zlist_S; cbn [lsum].
    assert (0 <= lsum w (zlist (a + 1) n')) by (apply lsum_nonneg; intros; left; apply Hw). specialize (Hw a); lra.
  Qed.

  Lemma within_nonneg x : 0 <= within w a n x.
  Proof.
    unfold within; destruct (in_span a n x); [|lra]. left; apply Rdiv_lt_0_compat; [apply Hw | apply weights_pos].
  Qed.

  Lemma within_is_law : is_law (within w a n).
  Proof.
    apply finite_law with (zlist a n).
    - apply within_nonneg.
    - intros x Hx; unfold within; now rewrite (outside_span _ _ _ Hx).
    - apply NoDup_zlist.
    - rewrite (lsum_ext_in _ (fun x => w x * / lsum w (zlist a n))).
      + rewrite lsum_scale_r; apply Rinv_r. generalize weights_pos; lra.
      + intros x Hx; unfold within. apply in_span_spec in Hx; now rewrite Hx.
  Qed.
End Law.

Lemma geometric_pos e x : 0 < geometric e x.
Proof. apply exp_pos. Qed.

Lemma geometric_even e x : geometric e (- x) = geometric e x.
Proof. unfold geometric; now rewrite opp_IZR, Rabs_Ropp. Qed.

Lemma answer_pos e truth x : 0 < answer e truth x.
Proof. unfold answer; destruct (x =? truth)%Z; [lra | apply exp_pos]. Qed.

Lemma Truncated_lawful w b m : (forall x, 0 < w x) -> (0 <= b)%Z -> lawful (Truncated w b m).
Proof.
  intros Hw Hb; assert (H : is_law (truncated w b)) by (apply within_is_law; [assumption | unfold outputs; lia]).
  split; [exact H | now apply moved_is_law].
Qed.

Lemma Answers_lawful e n : (0 < n)%nat -> lawful (Answers e n).
Proof. intros Hn; split; apply within_is_law; try assumption; apply answer_pos. Qed.

(** ** Exchanged neighbors *)

(** A sum over an interval from the other end. *)
Lemma lsum_turned (f : Z -> R) (c a : Z) n :
  (forall x, 0 <= f x) -> lsum (fun x => f (c - x)%Z) (zlist a n) = lsum f (zlist (c - a - Z.of_nat n + 1) n).
Proof.
  intros Hf; rewrite <- (lsum_map f (fun x => (c - x)%Z)).
  assert (Hnd : NoDup (map (fun x => (c - x)%Z) (zlist a n))).
  { apply FinFun.Injective_map_NoDup; [intros x y; lia | apply NoDup_zlist]. }
  apply Rle_antisym; (apply lsum_incl; [assumption | |]).
  - exact Hnd.
  - intros y Hy; apply in_map_iff in Hy; destruct Hy as (x & <- & Hx). rewrite in_zlist in *; lia.
  - apply NoDup_zlist.
  - intros y Hy; apply in_map_iff; exists (c - y)%Z; rewrite in_zlist in *; lia.
Qed.

Lemma truncated_even w b x : (forall x, w (- x)%Z = w x) -> truncated w b (- x) = truncated w b x.
Proof.
  intros He; unfold truncated, within.
  replace (in_span (- b) (outputs b) (- x)) with (in_span (- b) (outputs b) x); [now rewrite He|].
  apply Bool.eq_true_iff_eq; rewrite !in_span_spec, !in_zlist; unfold outputs; lia.
Qed.

Lemma Truncated_mirrored w b m : (forall x, w (- x)%Z = w x) -> mirrored (Truncated w b m) (fun x => (m - x)%Z).
Proof. intros He; apply even_noise_mirrored; intros; now apply truncated_even. Qed.

(** The first two answers exchanged. *)
Definition exchange (x : Z) : Z := if (x =? 0)%Z then 1%Z else if (x =? 1)%Z then 0%Z else x.

Lemma exchange_twice x : exchange (exchange x) = x.
Proof. unfold exchange. destruct (Z.eqb_spec x 0); [subst; reflexivity|]. destruct (Z.eqb_spec x 1); [subst; reflexivity|].
  destruct (Z.eqb_spec x 0); [lia|]. destruct (Z.eqb_spec x 1); lia. Qed.

Lemma answer_exchanged e x : answer e 0 (exchange x) = answer e 1 x.
Proof.
  unfold answer, exchange. destruct (Z.eqb_spec x 0) as [->|]; [reflexivity|]. destruct (Z.eqb_spec x 1) as [->|]; [reflexivity|].
  destruct (Z.eqb_spec x 0); [lia | reflexivity].
Qed.

Lemma answers_sum e n : (2 <= n)%nat -> lsum (answer e 0) (zlist 0 n) = lsum (answer e 1) (zlist 0 n).
Proof.
  intros Hn; destruct n as [|[|n]]; try lia. rewrite !zlist_S; cbn [lsum]. change (0 + 1 + 1)%Z with 2%Z.
  rewrite (lsum_ext_in (answer e 0) (answer e 1) (zlist 2 n)); [unfold answer; cbn; ring|].
  intros x Hx%in_zlist; unfold answer. destruct (Z.eqb_spec x 0); [lia|]. destruct (Z.eqb_spec x 1); [lia | reflexivity].
Qed.

(** One answer says nothing. *)
Lemma Answers_mirrored e n : exists s, mirrored (Answers e n) s.
Proof.
  destruct (le_lt_dec 2 n) as [Hn|Hn].
  - exists exchange; split; [apply exchange_twice|]. intros x; cbn [P1 Q1 Answers]; unfold within.
    rewrite answer_exchanged, answers_sum by assumption.
    replace (in_span 0 n (exchange x)) with (in_span 0 n x); [reflexivity|].
    apply Bool.eq_true_iff_eq; rewrite !in_span_spec, !in_zlist; unfold exchange.
    destruct (Z.eqb_spec x 0); [|destruct (Z.eqb_spec x 1)]; lia.
  - exists (fun x => x); split; [reflexivity|]. intros x; cbn [P1 Q1 Answers]; unfold within.
    destruct (in_span 0 n x) eqn:Hx; [|reflexivity]. apply in_span_spec, in_zlist in Hx.
    assert (n = 1%nat) as -> by lia. assert (x = 0%Z) as -> by lia. change (zlist 0 1) with [0%Z]; cbn.
    assert (H := exp_pos (- e)). field; lra.
Qed.

(** ** Given that both neighbors can have the output *)

(** The outputs from [a] on, with the weights of either neighbor. *)
Definition common_part (w w' : Z -> R) (a : Z) (n : nat) : count := Pair (within w a n) (within w' a n).

(** The share of the weights of [p] that is outside. *)
Lemma common_beside (p q w w' : Z -> R) aP nP aQ nQ a n :
  (forall x, 0 < w x) -> (forall x, 0 < w' x) -> (0 < n)%nat ->
  (forall x, p x = within w aP nP x) -> (forall x, q x = within w' aQ nQ x) -> is_law p -> is_law q ->
  (forall x, in_span a n x = (in_span aP nP x && in_span aQ nQ x)%bool) ->
  lsum w' (zlist aQ nQ) = lsum w (zlist aP nP) -> lsum w' (zlist a n) = lsum w (zlist a n) ->
  infinite_beside (1 - lsum w (zlist a n) / lsum w (zlist aP nP)) (in_span a n) p q (within w a n) (within w' a n).
Proof.
  intros Hw Hw' Hn Hp Hq Lp Lq Hspan Efull Ecommon.
  assert (H0 := weights_pos w a n Hw Hn). set (part := lsum w (zlist a n)) in *.
  assert (Hle : part <= lsum w (zlist aP nP)).
  { apply lsum_incl; [intros; left; apply Hw | apply NoDup_zlist|]. intros x Hx; apply in_span_spec in Hx.
    rewrite Hspan in Hx; apply andb_prop in Hx. apply in_span_spec; tauto. }
  set (full := lsum w (zlist aP nP)) in *.
  constructor; try assumption; try now apply within_is_law.
  - assert (0 < part / full) by (apply Rdiv_lt_0_compat; lra).
    assert (part / full <= 1) by (apply Rmult_le_reg_r with full; [lra | unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra]). lra.
  - intros x Hx; unfold within; now rewrite Hx.
  - intros x Hx; rewrite Hp, Hq; unfold within; rewrite Hx, Ecommon, Efull; fold part full.
    rewrite Hspan in Hx; apply andb_prop in Hx; destruct Hx as [-> ->]. split; field; lra.
  - intros x Hx; rewrite Hp, Hq; unfold within. rewrite Hspan in Hx; apply Bool.andb_false_iff in Hx.
    destruct Hx as [-> | ->]; auto.
Qed.

(** Of truncated noise on a count that moves by [m]: the outputs from m - b to b. *)
Definition overlap (b m : Z) : nat := Z.to_nat (2 * b - m + 1).

Lemma overlap_sums (w : Z -> R) b m :
  (forall x, 0 < w x) -> (forall x, w (- x)%Z = w x) -> (m <= 2 * b)%Z ->
  lsum (fun x => w (x - m)%Z) (zlist (m - b) (overlap b m)) = lsum w (zlist (m - b) (overlap b m)).
Proof.
  intros Hw He Hm. rewrite (lsum_ext _ (fun x => w (m - x)%Z)).
  - rewrite lsum_turned by (intros; left; apply Hw). f_equal; f_equal; unfold overlap; lia.
  - intros x; rewrite <- (He (x - m)%Z); f_equal; lia.
Qed.

Lemma full_sums (w : Z -> R) b m :
  (forall x, 0 < w x) -> (forall x, w (- x)%Z = w x) -> (0 <= b)%Z ->
  lsum (fun x => w (x - m)%Z) (zlist (m - b) (outputs b)) = lsum w (zlist (- b) (outputs b)).
Proof.
  intros Hw He Hb. rewrite (lsum_ext _ (fun x => w (m - x)%Z)).
  - rewrite lsum_turned by (intros; left; apply Hw). f_equal; f_equal; unfold outputs; lia.
  - intros x; rewrite <- (He (x - m)%Z); f_equal; lia.
Qed.

(** The share of the first [m] outputs, which the other neighbor cannot have. *)
Definition lost (w : Z -> R) (b m : Z) : R := lsum w (zlist (- b) (Z.to_nat m)) / lsum w (zlist (- b) (outputs b)).

Theorem truncated_beside w b m :
  (forall x, 0 < w x) -> (forall x, w (- x)%Z = w x) -> (0 < m <= 2 * b)%Z ->
  exists common, infinite_beside (lost w b m) common (P1 (Truncated w b m)) (Q1 (Truncated w b m))
    (within w (m - b) (overlap b m)) (within (fun x => w (x - m)%Z) (m - b) (overlap b m)).
Proof.
  intros Hw He Hm. destruct (Truncated_lawful w b m Hw ltac:(lia)) as [L1 L2].
  exists (in_span (m - b) (overlap b m)).
  assert (H0 : 0 < lsum w (zlist (- b) (outputs b))) by (apply weights_pos; [assumption | unfold outputs; lia]).
  replace (lost w b m) with (1 - lsum w (zlist (m - b) (overlap b m)) / lsum w (zlist (- b) (outputs b))).
  2: { assert (E : lsum w (zlist (- b) (outputs b)) = lsum w (zlist (- b) (Z.to_nat m)) + lsum w (zlist (m - b) (overlap b m))).
       { rewrite <- lsum_app. replace (m - b)%Z with (- b + Z.of_nat (Z.to_nat m))%Z by lia. rewrite <- zlist_app.
         do 2 f_equal. unfold outputs, overlap; lia. }
       unfold lost. rewrite E in *. field; lra. }
  apply common_beside with (aQ := (m - b)%Z) (nQ := outputs b); try assumption.
  - intros; apply Hw.
  - unfold overlap; lia.
  - reflexivity.
  - intros x; cbn [Q1 Truncated]; unfold truncated, within. rewrite (full_sums w b m) by (assumption || lia).
    replace (in_span (- b) (outputs b) (x - m)) with (in_span (m - b) (outputs b) x); [reflexivity|].
    apply Bool.eq_true_iff_eq; rewrite !in_span_spec, !in_zlist; lia.
  - intros x; apply Bool.eq_true_iff_eq; rewrite Bool.andb_true_iff, !in_span_spec, !in_zlist; unfold overlap, outputs; lia.
  - apply full_sums; assumption || lia.
  - apply overlap_sums; assumption || lia.
Qed.

(** ** Losses *)

Lemma common_part_reads h w w' a n v :
  lsum w' (zlist a n) = lsum w (zlist a n) ->
  (forall x, In x (zlist a n) -> w' x = w x * exp (- (base v - h * IZR (step v * place v x)))) ->
  reads h (common_part w w' a n) v.
Proof.
  intros E H x; cbn [P1 Q1 common_part]; unfold within. destruct (in_span a n x) eqn:Hx; [|ring].
  apply in_span_spec in Hx; rewrite E, (H x Hx); unfold Rdiv; ring.
Qed.

Lemma weight_loss h s m st x :
  0 < s -> IZR m = IZR st * h * s ->
  weight s (x - m) = weight s x * exp (- (IZR m ^ 2 / (2 * s) - h * IZR (st * x))).
Proof.
  intros Hs Hm; assert (H := Count_reads h s m st 0 Hs Hm x); cbn [P1 Q1 Count base step place] in H; unfold gaussian in H.
  assert (Hp := mass_pos s Hs). apply Rmult_eq_reg_r with (/ mass s); [|apply Rinv_neq_0_compat; lra].
  unfold Rdiv at 1 2 in H; rewrite H; ring.
Qed.

Lemma geometric_loss h e m st x :
  0 < e -> (0 < m)%Z -> 2 * e = IZR st * h ->
  geometric e (x - m) = geometric e x * exp (- (e * IZR m - h * IZR (st * clamp m x))).
Proof.
  intros He Hm Hst; assert (H := Laplace_reads h e m st 0 Hm Hst x); cbn [P1 Q1 Laplace base step place Laplace_reading] in H; unfold laplace in H.
  assert (Hq := ratio_bounds e He). set (r := (1 - exp (- e)) / (1 + exp (- e))) in *.
  assert (Hr : 0 < r) by (apply Rdiv_lt_0_compat; lra). unfold geometric.
  apply Rmult_eq_reg_l with r; [rewrite H; ring | lra].
Qed.

(** The place of an answer: the true one, one that neither has, and the other neighbor's. *)
Definition answer_place (x : Z) : Z := if (x =? 0)%Z then 0%Z else if (x =? 1)%Z then 2%Z else 1%Z.

Lemma answer_loss h e st x :
  e = IZR st * h -> answer e 1 x = answer e 0 x * exp (- (e - h * IZR (st * answer_place x))).
Proof.
  intros Hst; unfold answer, answer_place. rewrite mult_IZR.
  replace (h * (IZR st * IZR (if (x =? 0)%Z then 0 else if (x =? 1)%Z then 2 else 1)%Z))
    with (e * IZR (if (x =? 0)%Z then 0 else if (x =? 1)%Z then 2 else 1)%Z) by (rewrite Hst; ring).
  destruct (Z.eqb_spec x 0) as [->|].
  - cbn. rewrite Rmult_0_r, Rminus_0_r; ring.
  - destruct (Z.eqb_spec x 1); rewrite <- ?exp_plus, ?Rmult_1_l.
    + replace (- e + - (e - e * 2)) with 0 by ring. now rewrite exp_0.
    + f_equal; ring.
Qed.
