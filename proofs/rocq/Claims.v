(** * What may be said: posteriors, decisions, tests and losses

    A number is followed by a sentence, and not every sentence follows from every number. Here P is the law of the outputs with a record (or group) and Q
    that without it. A test T gives each output a probability from 0 to 1: that of an event of whatever is computed from the outputs, with or without
    chance. So what holds for all tests holds after all processing. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Permutation.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Directions Private Response Bounded Tradeoff Dominance Theta Signed Pairs LogConcave DataSets.
Import ListNotations.
Open Scope R_scope.

(** The posterior of a record that is there with probability [prior], after an event of probability [u] with it and [v] without it. *)
Definition posterior (prior u v : R) : R := prior * u / (prior * u + (1 - prior) * v).

(** The probability of an event of the outputs with the law [p]. *)
Definition chance (p : list Z -> R) (T : list Z -> R) : R := total (fun xs => p xs * T xs).

Lemma chance_nonneg p T : (forall xs, 0 <= p xs) -> is_test T -> summable p -> 0 <= chance p T.
Proof.
  intros Hp HT Hs. apply Rle_trans with (lsum (fun xs => p xs * T xs) []); [cbn; lra|].
  apply total_upper; [now apply rejected_summable | constructor].
Qed.

(** An event of random processing: the sum over its members is a chance, of the test that is the probability of the event given the outputs. *)
Theorem processing_is_a_test {B} (p : list Z -> R) (map : list Z -> B -> R) (members : list B) :
  (forall xs, 0 <= p xs) -> summable p -> (forall xs y, 0 <= map xs y) -> (forall xs, lsum (map xs) members <= 1) ->
  is_test (fun xs => lsum (map xs) members)
  /\ lsum (fun y => total (fun xs => p xs * map xs y)) members = chance p (fun xs => lsum (map xs) members).
Proof.
  intros Hp Hs Hm H1; split; [intros xs; split; [now apply lsum_nonneg | apply H1]|]. unfold chance.
  assert (Hone : forall xs y, In y members -> map xs y <= 1).
  { intros xs y Hy; eapply Rle_trans; [|apply (H1 xs)]. destruct (in_split y members Hy) as (l1 & l2 & ->).
    rewrite lsum_app; cbn [lsum]. assert (G1 := lsum_nonneg (map xs) l1 (Hm xs)). assert (G2 := lsum_nonneg (map xs) l2 (Hm xs)). lra. }
  clear H1. induction members as [|y l IH]; cbn [lsum].
  - apply Rle_antisym; [|apply total_least; intros l _; rewrite (lsum_ext _ (fun _ => 0)); [rewrite lsum_zero; lra | intros; ring]].
    apply Rle_trans with (lsum (fun xs => p xs * 0) []); [cbn; lra|]. apply total_upper; [|constructor].
    apply summable_le with (2 := Hs); intros xs; specialize (Hp xs); lra.
  - assert (Hsum : forall u : list Z -> R, (exists b, forall xs, u xs <= b) -> summable (fun xs => p xs * u xs)).
    { intros u [b Hb]. apply summable_le with (fun xs => Rmax 0 b * p xs).
      - intros xs; rewrite Rmult_comm. apply Rmult_le_compat_r; [apply Hp|]. eapply Rle_trans; [apply Hb | apply Rmax_r].
      - apply summable_scale; [apply Rmax_l | assumption]. }
    rewrite IH by (intros; apply Hone; now right).
    rewrite <- (total_plus outputs_dec).
    + apply total_ext; intros xs; ring.
    + intros xs; now apply Rmult_le_pos.
    + intros xs; apply Rmult_le_pos; [apply Hp | now apply lsum_nonneg].
    + apply Hsum; exists 1; intros; apply Hone; now left.
    + apply Hsum; exists (INR (length l)); intros xs.
      assert (Hl : forall y', In y' l -> map xs y' <= 1) by (intros; apply Hone; now right). clear - Hl.
      induction l as [|z l IH]; [cbn; lra|]. cbn [lsum]. change (length (z :: l)) with (S (length l)); rewrite S_INR.
      assert (map xs z <= 1) by (apply Hl; now left). assert (lsum (map xs) l <= INR (length l)) by (apply IH; intros; apply Hl; now right). lra.
Qed.

Lemma power_swapped cs T : power (map swapped cs) T = type1 cs T.
Proof. apply total_ext; intros xs; now rewrite P_swapped. Qed.

Lemma type1_swapped cs T : type1 (map swapped cs) T = power cs T.
Proof. apply total_ext; intros xs; now rewrite Q_swapped. Qed.

Section Pair.
  Variable cs : list count.
  Hypothesis H : proper cs.

  Lemma power_nonneg T : is_test T -> 0 <= power cs T.
  Proof. intros HT; apply chance_nonneg; [intros; now apply P_nonneg | assumption | exists 1; intros; now apply P_at_most_one]. Qed.

  Lemma type1_nonneg T : is_test T -> 0 <= type1 cs T.
  Proof. intros HT; apply chance_nonneg; [intros; now apply Q_nonneg | assumption | exists 1; intros; now apply Q_at_most_one]. Qed.

  (** What is private is so for all tests. *)
  Theorem private_tests eps d T :
    private cs eps d -> is_test T -> power cs T <= exp eps * type1 cs T + d /\ type1 cs T <= exp eps * power cs T + d.
  Proof.
    intros Hd HT; apply private_is_two_deltas in Hd; [|assumption]; destruct Hd as [D1 D2]. split.
    - assert (G := power_at_most cs H T eps HT); lra.
    - assert (G := power_at_most (map swapped cs) (swapped_proper cs H) T eps HT). rewrite power_swapped, type1_swapped in G. lra.
  Qed.
End Pair.

(** ** Posteriors of events *)

(** If [u] is at least [d] and v / u at least a / d. *)
Lemma posterior_at_most prior u v d a :
  0 < prior < 1 -> 0 < d <= u -> 0 <= a -> u * a <= d * v -> posterior prior u v <= posterior prior d a.
Proof.
  intros Hp Hd Ha Hv; unfold posterior. assert (H0 : 0 <= v) by nra.
  assert (P1 : 0 < prior * u) by (apply Rmult_lt_0_compat; lra). assert (P2 : 0 < prior * d) by (apply Rmult_lt_0_compat; lra).
  assert (P3 : 0 <= (1 - prior) * v) by (apply Rmult_le_pos; lra). assert (P4 : 0 <= (1 - prior) * a) by (apply Rmult_le_pos; lra).
  apply Rmult_le_reg_r with (prior * u + (1 - prior) * v); [lra|]. unfold Rdiv at 1; rewrite Rmult_assoc, Rinv_l by lra.
  apply Rmult_le_reg_r with (prior * d + (1 - prior) * a); [lra|].
  replace (prior * d / (prior * d + (1 - prior) * a) * (prior * u + (1 - prior) * v) * (prior * d + (1 - prior) * a))
    with (prior * d * (prior * u + (1 - prior) * v)) by (field; lra).
  assert (prior * (1 - prior) * (u * a) <= prior * (1 - prior) * (d * v)) by (apply Rmult_le_compat_l; [nra | assumption]). nra.
Qed.

(** [a] is a bound of the probability without the record of all tests that have at least [d] with it: then no event that has at least the
    probability [d] if the record is there lifts the posterior above that of [d] and [a]. *)
Theorem posterior_of_events cs prior d a T :
  proper cs -> 0 < prior < 1 -> 0 < d -> 0 <= a ->
  (forall S, is_test S -> d <= power cs S -> a <= type1 cs S) ->
  is_test T -> d <= power cs T -> posterior prior (power cs T) (type1 cs T) <= posterior prior d a.
Proof.
  intros H Hp Hd Ha Hleast HT HdT; set (u := power cs T) in *. set (v := type1 cs T).
  apply posterior_at_most; try assumption; [lra|].
  (* The test that rejects as T does, but only with the probability d / u. *)
  set (k := d / u). assert (Hk : 0 < k <= 1).
  { unfold k; split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_le_reg_r with u; [lra|]. unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra. }
  assert (HS : is_test (fun xs => k * T xs)) by (intros xs; destruct (HT xs); split; nra).
  assert (Scale : forall f : list Z -> R, (forall xs, 0 <= f xs) -> summable f -> total (fun xs => f xs * (k * T xs)) = k * total (fun xs => f xs * T xs)).
  { intros f Hf Sf. rewrite <- total_scale; [apply total_ext; intros; ring | lra | now apply rejected_summable]. }
  assert (G := Hleast _ HS). unfold power, type1 in G.
  rewrite !Scale in G; try (intros; first [now apply P_nonneg | now apply Q_nonneg]); try (exists 1; intros; first [now apply P_at_most_one | now apply Q_at_most_one]).
  fold (power cs T) (type1 cs T) in G; fold u v in G.
  assert (Eu : k * u = d) by (unfold k; field; lra). specialize (G ltac:(lra)).
  apply Rmult_le_compat_l with (r := u) in G; [|lra]. rewrite <- Rmult_assoc, (Rmult_comm u k), Eu in G. exact G.
Qed.

(** One value of delta gives such a bound. *)
Theorem posterior_of_private_events cs eps delta prior d T :
  proper cs -> private cs eps delta -> 0 < prior < 1 -> 0 < d -> delta <= d -> is_test T -> d <= power cs T ->
  posterior prior (power cs T) (type1 cs T) <= posterior prior d ((d - delta) / exp eps).
Proof.
  intros H Hpriv Hp Hd Hdelta HT HdT; assert (He := exp_pos eps). apply posterior_of_events; try assumption.
  - apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat].
  - intros S HS HdS. destruct (private_tests cs H eps delta S Hpriv HS) as [G _].
    apply Rmult_le_reg_r with (exp eps); [assumption|]. unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(** ** Decisions *)

Lemma advantage_scale cs k p q : proper cs -> 0 <= k -> 0 <= p -> 0 <= q -> advantage cs (k * p) (k * q) = k * advantage cs p q.
Proof.
  intros H Hk Hp Hq; unfold advantage. rewrite <- total_scale by (assumption || now apply weighted_summable).
  apply total_ext; intros xs; unfold weighted. rewrite <- (Rmult_0_r k) at 1. rewrite <- RmaxRmult by assumption. f_equal; ring.
Qed.

(** The probability of the right answer, with or without the record: a decision for the record is a test. *)
Definition correct (cs : list count) (prior : R) (T : list Z -> R) : R := prior * power cs T + (1 - prior) * (1 - type1 cs T).

Definition best_correct (cs : list count) (prior : R) : R := 1 - prior + prior * delta cs (ln ((1 - prior) / prior)).

Section Decision.
  Variables (cs : list count) (prior : R).
  Hypothesis H : proper cs.
  Hypothesis Hp : 0 < prior < 1.

  Let odds : exp (ln ((1 - prior) / prior)) = (1 - prior) / prior.
  Proof. apply exp_ln, Rdiv_lt_0_compat; lra. Qed.

  (** No rule is right more often, and some rule is as often. *)
  Theorem best_decision :
    (forall T, is_test T -> correct cs prior T <= best_correct cs prior) /\ exists T, is_test T /\ correct cs prior T = best_correct cs prior.
  Proof.
    unfold correct, best_correct; split.
    - intros T HT. assert (G := power_at_most cs H T (ln ((1 - prior) / prior)) HT). rewrite odds in G.
      apply Rmult_le_compat_l with (r := prior) in G; [|lra].
      replace (prior * (delta cs (ln ((1 - prior) / prior)) + (1 - prior) / prior * type1 cs T))
        with (prior * delta cs (ln ((1 - prior) / prior)) + (1 - prior) * type1 cs T) in G by (field; lra). lra.
    - exists (ratio_test cs (ln ((1 - prior) / prior))); split; [apply ratio_test_is_test|].
      rewrite (power_of_ratio_test cs H), odds. field; lra.
  Qed.

  (** The same by the other direction: the one to take if the record is likely to be there. *)
  Theorem best_decision_by_other_direction : best_correct cs prior = prior + (1 - prior) * delta (map swapped cs) (ln (prior / (1 - prior))).
  Proof.
    assert (odds' : exp (ln (prior / (1 - prior))) = prior / (1 - prior)) by (apply exp_ln, Rdiv_lt_0_compat; lra).
    unfold best_correct; rewrite !delta_is_advantage, odds, odds'.
    assert (R1 : 0 <= (1 - prior) / prior) by (left; apply Rdiv_lt_0_compat; lra). assert (R2 : 0 <= prior / (1 - prior)) by (left; apply Rdiv_lt_0_compat; lra).
    rewrite <- !advantage_scale by (assumption || lra || now apply swapped_proper). rewrite !Rmult_1_r.
    replace (prior * ((1 - prior) / prior)) with (1 - prior) by (field; lra). replace ((1 - prior) * (prior / (1 - prior))) with prior by (field; lra).
    rewrite advantage_swapped by (assumption || lra). lra.
  Qed.
End Decision.

(** ** Tests in both directions *)

(** Each direction has its own bound; the larger delta gives a bound from below of both. *)
Theorem type2_of_both_directions cs eps d T :
  proper cs -> private cs eps d -> is_test T ->
  1 - d - exp eps * type1 cs T <= type2 cs T /\ 1 - d - exp eps * type1 (map swapped cs) T <= type2 (map swapped cs) T.
Proof.
  intros H Hd HT; unfold type2. destruct (private_tests cs H eps d T Hd HT) as [G1 G2]. rewrite power_swapped, type1_swapped. lra.
Qed.

(** ** Losses of outputs *)

(** The probability, with the record, of outputs whose loss is above [l]; of outputs whose posterior is above [t]. *)
Definition tail (cs : list count) (l : R) : R := total (fun xs => if Rlt_dec (exp l * Q cs xs) (P cs xs) then P cs xs else 0).
Definition outputs_above (cs : list count) (prior t : R) : R :=
  total (fun xs => if Rlt_dec t (posterior prior (P cs xs) (Q cs xs)) then P cs xs else 0).

(** From a profile only this follows, with a smaller loss. *)
Theorem tail_by_profile cs l l' : proper cs -> l' < l -> tail cs l <= delta cs l' / (1 - exp (l' - l)).
Proof.
  intros H Hl. assert (He : 0 < 1 - exp (l' - l)) by (assert (exp (l' - l) < exp 0) by (apply exp_increasing; lra); rewrite exp_0 in *; lra).
  apply Rmult_le_reg_r with (1 - exp (l' - l)); [assumption|]. unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  assert (Hinv : 0 < / (1 - exp (l' - l))) by now apply Rinv_0_lt_compat.
  apply Rmult_le_reg_r with (/ (1 - exp (l' - l))); [assumption|]. rewrite Rmult_assoc, Rinv_r, Rmult_1_r by lra.
  apply total_least; intros xs Hxs. apply Rle_trans with (lsum (gap cs l') xs * / (1 - exp (l' - l))).
  - rewrite <- lsum_scale_r; apply lsum_le; intros x. assert (HP := P_nonneg cs x H). assert (HQ := Q_nonneg cs x H).
    destruct (Rlt_dec _ _) as [Hx|Hx]; [|apply Rmult_le_pos; [apply gap_nonneg | lra]].
    apply Rmult_le_reg_r with (1 - exp (l' - l)); [assumption|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    unfold gap; eapply Rle_trans; [|apply Rmax_r]. assert (E : exp l' = exp (l' - l) * exp l) by (rewrite <- exp_plus; f_equal; ring).
    rewrite E. assert (exp (l' - l) * (exp l * Q cs x) <= exp (l' - l) * P cs x) by (apply Rmult_le_compat_l; [left; apply exp_pos | lra]). lra.
  - apply Rmult_le_compat_r; [lra|]. apply total_upper; [now apply gap_summable | assumption].
Qed.

(** A pure guarantee is about each output. *)
Theorem pure_bounds_outputs cs e xs : proper cs -> private cs e 0 -> P cs xs <= exp e * Q cs xs.
Proof.
  intros H Hd; apply private_means_delta in Hd; [|assumption].
  assert (G := total_upper (gap cs e) [xs] (gap_summable cs e H) ltac:(repeat constructor; auto)). fold (delta cs e) in G. cbn [lsum] in G.
  assert (M := Rmax_r 0 (P cs xs - exp e * Q cs xs)). unfold gap in G. lra.
Qed.

(** ** The trade-off function of a list that dominates *)

Section Dominated.
  Variables bs cs : list count.
  Hypothesis Hbs : proper bs.
  Hypothesis Hcs : proper cs.
  Hypothesis Hdom : dominates bs cs.

  Let summable_parts ds T : proper ds -> is_test T -> summable (fun xs => P ds xs * T xs) /\ summable (fun xs => Q ds xs * T xs).
  Proof.
    intros H HT; split; apply rejected_summable; try assumption;
      try (intros; first [now apply P_nonneg | now apply Q_nonneg]); exists 1; intros; first [now apply P_at_most_one | now apply Q_at_most_one].
  Qed.

  Let nonneg_parts ds T xs : proper ds -> is_test T -> 0 <= P ds xs * T xs /\ 0 <= Q ds xs * T xs.
  Proof. intros H HT; destruct (HT xs); split; apply Rmult_le_pos; try assumption; [now apply P_nonneg | now apply Q_nonneg]. Qed.

  (** A test weighs at most the advantage, and one test attains it. *)
  Lemma test_at_most_advantage ds p q T :
    proper ds -> 0 <= p -> 0 <= q -> is_test T -> p * power ds T - q * type1 ds T <= advantage ds p q.
  Proof.
    intros H Hp Hq HT; destruct (summable_parts ds T H HT) as [S1 S2].
    assert (E : total (fun xs => p * (P ds xs * T xs)) <= total (fun xs => weighted ds p q xs + q * (Q ds xs * T xs))).
    { apply total_le.
      - intros xs; destruct (HT xs); unfold weighted. generalize (Rmax_l 0 (p * P ds xs - q * Q ds xs)) (Rmax_r 0 (p * P ds xs - q * Q ds xs)); intros; nra.
      - apply summable_plus; [now apply weighted_summable | now apply summable_scale]. }
    rewrite (total_plus outputs_dec) in E; [|intros; apply Rmax_l | intros xs; apply Rmult_le_pos; [assumption | now apply nonneg_parts]
      | now apply weighted_summable | now apply summable_scale].
    rewrite !total_scale in E by assumption. unfold power, type1, advantage. lra.
  Qed.

  Lemma test_of_advantage ds p q : proper ds -> 0 <= p -> 0 <= q -> exists T, is_test T /\ advantage ds p q = p * power ds T - q * type1 ds T.
  Proof.
    intros H Hp Hq. set (T := fun xs => if Rlt_dec (q * Q ds xs) (p * P ds xs) then 1 else 0).
    assert (HT : is_test T) by (intros xs; unfold T; destruct (Rlt_dec _ _); lra). exists T; split; [exact HT|].
    destruct (summable_parts ds T H HT) as [S1 S2].
    assert (E : total (fun xs => weighted ds p q xs + q * (Q ds xs * T xs)) = total (fun xs => p * (P ds xs * T xs))).
    { apply total_ext; intros xs; unfold weighted, T, Rmax. destruct (Rle_dec _ _), (Rlt_dec _ _); lra. }
    rewrite (total_plus outputs_dec) in E; [|intros; apply Rmax_l | intros xs; apply Rmult_le_pos; [assumption | now apply nonneg_parts]
      | now apply weighted_summable | now apply summable_scale].
    rewrite !total_scale in E by assumption. unfold power, type1, advantage. lra.
  Qed.

  Let constant_test k : 0 <= k <= 1 -> is_test (fun _ => k).
  Proof. intros Hk xs; exact Hk. Qed.

  (** If every test of the list that dominates, with a power of at least [d], has at least [a] false alarms, so has every test of the other list. *)
  Theorem tests_of_dominated d a :
    0 < d < 1 -> (forall S, is_test S -> d <= power bs S -> a <= type1 bs S) -> forall T, is_test T -> d <= power cs T -> a <= type1 cs T.
  Proof.
    intros Hd Hall T HT HdT. destruct (Rle_lt_dec a 0) as [Ha|Ha]; [apply Rle_trans with 0; [assumption | now apply type1_nonneg]|].
    (* The slopes from (d, a) to the tests with less power: a line through (d, a) lies below all tests. *)
    set (slopes := fun s => exists S, is_test S /\ power bs S < d /\ s * (d - power bs S) = a - type1 bs S).
    assert (Hmix : forall S R, is_test S -> is_test R -> power bs S < d -> d < power bs R ->
      (a - type1 bs S) * (power bs R - d) <= (type1 bs R - a) * (d - power bs S)).
    { intros S R HS HR HlS HlR. set (w := (power bs R - d) / (power bs R - power bs S)).
      assert (Hden : 0 < power bs R - power bs S) by lra. assert (Ew : w * (power bs R - power bs S) = power bs R - d) by (unfold w; field; lra).
      assert (Hw : 0 <= w <= 1) by (split; nra). assert (Hm := mixture_is_test w S R Hw HS HR).
      assert (Ep : power bs (mixture w S R) = w * power bs S + (1 - w) * power bs R).
      { apply (mixture_sums w S R Hw HS HR); [intros; now apply P_nonneg | exists 1; intros; now apply P_at_most_one]. }
      assert (Et : type1 bs (mixture w S R) = w * type1 bs S + (1 - w) * type1 bs R).
      { apply (mixture_sums w S R Hw HS HR); [intros; now apply Q_nonneg | exists 1; intros; now apply Q_at_most_one]. }
      assert (G := Hall _ Hm ltac:(rewrite Ep; nra)). rewrite Et in G.
      apply Rmult_le_compat_r with (r := power bs R - power bs S) in G; [|lra].
      replace ((w * type1 bs S + (1 - w) * type1 bs R) * (power bs R - power bs S))
        with (w * (power bs R - power bs S) * type1 bs S + (power bs R - power bs S - w * (power bs R - power bs S)) * type1 bs R) in G by ring.
      rewrite Ew in G. lra. }
    assert (Hone : power bs (fun _ => 1) = 1).
    { transitivity (total (P bs)); [apply total_ext; intros; apply Rmult_1_r | now apply P_sums_to_one]. }
    assert (Hzero : forall ds, proper ds -> power ds (fun _ => 0) = 0 /\ type1 ds (fun _ => 0) = 0).
    { intros ds H; assert (G1 := power_nonneg ds H (fun _ => 0) (constant_test 0 ltac:(lra))). assert (G2 := type1_nonneg ds H (fun _ => 0) (constant_test 0 ltac:(lra))).
      split; (apply Rle_antisym; [|assumption]); apply total_least; intros l _; (rewrite (lsum_ext _ (fun _ => 0)); [rewrite lsum_zero; lra | intros; apply Rmult_0_r]). }
    destruct (Hzero bs Hbs) as [Z1 Z2].
    assert (Tone := constant_test 1 ltac:(lra)). assert (Tzero := constant_test 0 ltac:(lra)).
    destruct (completeness slopes) as [s [Hup Hleast]].
    { exists ((type1 bs (fun _ => 1) - a) / (1 - d)). intros s (S & HS & HlS & Es). apply Rmult_le_reg_r with ((1 - d) * (d - power bs S)).
      - apply Rmult_lt_0_compat; lra.
      - assert (G := Hmix S (fun _ => 1) HS Tone HlS ltac:(lra)). rewrite Hone, <- Es in G.
        replace ((type1 bs (fun _ => 1) - a) / (1 - d) * ((1 - d) * (d - power bs S))) with ((type1 bs (fun _ => 1) - a) * (d - power bs S)) by (field; lra). lra. }
    { exists (a / d), (fun _ => 0). rewrite Z1, Z2. split; [exact Tzero | split; [lra | field; lra]]. }
    assert (Hs : 0 <= s).
    { apply Rle_trans with (a / d); [left; apply Rdiv_lt_0_compat; lra|].
      apply Hup. exists (fun _ => 0). rewrite Z1, Z2. split; [exact Tzero | split; [lra | field; lra]]. }
    assert (Hline : forall S, is_test S -> s * power bs S - type1 bs S <= s * d - a).
    { intros S HS. destruct (Rtotal_order (power bs S) d) as [Hl|[He|Hg]].
      - assert (G : (a - type1 bs S) / (d - power bs S) <= s) by (apply Hup; exists S; split; [exact HS | split; [exact Hl | field; lra]]).
        apply Rmult_le_compat_r with (r := d - power bs S) in G; [|lra].
        replace ((a - type1 bs S) / (d - power bs S) * (d - power bs S)) with (a - type1 bs S) in G by (field; lra). lra.
      - assert (G := Hall S HS ltac:(lra)). rewrite He. lra.
      - assert (G : s <= (type1 bs S - a) / (power bs S - d)).
        { apply Hleast. intros s' (S' & HS' & HlS' & Es'). apply Rmult_le_reg_r with ((power bs S - d) * (d - power bs S')).
          - apply Rmult_lt_0_compat; lra.
          - assert (G := Hmix S' S HS' HS HlS' Hg). rewrite <- Es' in G.
            replace ((type1 bs S - a) / (power bs S - d) * ((power bs S - d) * (d - power bs S'))) with ((type1 bs S - a) * (d - power bs S')) by (field; lra). lra. }
        apply Rmult_le_compat_r with (r := power bs S - d) in G; [|lra].
        replace ((type1 bs S - a) / (power bs S - d) * (power bs S - d)) with (type1 bs S - a) in G by (field; lra). lra. }
    destruct (test_of_advantage bs s 1 Hbs Hs ltac:(lra)) as (S & HS & ES). assert (G1 := Hline S HS).
    assert (G2 := test_at_most_advantage cs s 1 T Hcs Hs ltac:(lra) HT). assert (G3 := Hdom s 1 Hs ltac:(lra)).
    assert (s * d <= s * power cs T) by now apply Rmult_le_compat_l. lra.
  Qed.

  Lemma complement ds T : proper ds -> is_test T ->
    is_test (fun xs => 1 - T xs) /\ power ds (fun xs => 1 - T xs) = 1 - power ds T /\ type1 ds (fun xs => 1 - T xs) = 1 - type1 ds T.
  Proof.
    intros H HT. assert (HC : is_test (fun xs => 1 - T xs)) by (intros xs; destruct (HT xs); lra). split; [exact HC|].
    destruct (summable_parts ds T H HT) as [S1 S2]. destruct (summable_parts ds _ H HC) as [S3 S4]. unfold power, type1. split.
    - assert (Sum : total (fun xs => P ds xs * T xs + P ds xs * (1 - T xs)) = 1)
        by (transitivity (total (P ds)); [apply total_ext; intros; ring | now apply P_sums_to_one]).
      rewrite (total_plus outputs_dec) in Sum; try assumption;
        [lra | intros x; exact (proj1 (nonneg_parts ds T x H HT)) | intros x; exact (proj1 (nonneg_parts ds _ x H HC))].
    - assert (Sum : total (fun xs => Q ds xs * T xs + Q ds xs * (1 - T xs)) = 1)
        by (transitivity (total (Q ds)); [apply total_ext; intros; ring | now apply Q_sums_to_one]).
      rewrite (total_plus outputs_dec) in Sum; try assumption;
        [lra | intros x; exact (proj2 (nonneg_parts ds T x H HT)) | intros x; exact (proj2 (nonneg_parts ds _ x H HC))].
  Qed.
End Dominated.

(** So a lower end of the trade-off function is one for all that it dominates. *)
Theorem tradeoff_of_dominated bs cs alpha b :
  proper bs -> proper cs -> dominates bs cs -> 0 < alpha < 1 ->
  (forall S, is_test S -> type1 bs S <= alpha -> b <= type2 bs S) -> forall T, is_test T -> type1 cs T <= alpha -> b <= type2 cs T.
Proof.
  intros Hbs Hcs Hdom Ha Hall T HT HaT; unfold type2 in *.
  destruct (complement cs T Hcs HT) as (HC & EP & EQ).
  assert (G : b <= type1 (map swapped cs) (fun xs => 1 - T xs)); [|rewrite type1_swapped in G; lra].
  apply (tests_of_dominated (map swapped bs) (map swapped cs) (swapped_proper _ Hbs) (swapped_proper _ Hcs) (dominates_swapped _ _ Hbs Hcs Hdom) (1 - alpha));
    [lra | | exact HC | rewrite power_swapped; lra].
  intros S HS HdS. rewrite power_swapped in HdS. rewrite type1_swapped. destruct (complement bs S Hbs HS) as (HCS & EPS & EQS).
  assert (G := Hall _ HCS ltac:(lra)). lra.
Qed.

(** So no output lifts the posterior above that of e^e. *)
Theorem pure_bounds_posteriors cs e prior : proper cs -> private cs e 0 -> 0 < prior < 1 -> outputs_above cs prior (posterior prior (exp e) 1) <= 0.
Proof.
  intros H Hd Hp; apply total_least; intros l _. apply Rle_trans with (lsum (fun _ => 0) l); [|rewrite lsum_zero; lra].
  apply lsum_le; intros xs. assert (He := exp_pos e). assert (HP := P_nonneg cs xs H). assert (HQ := Q_nonneg cs xs H).
  assert (Hb := pure_bounds_outputs cs e xs H Hd). destruct (Rlt_dec _ _) as [Hlt|]; [|lra].
  destruct (Rle_lt_or_eq_dec 0 _ HP) as [Hpos|Hz]; [exfalso|lra]. apply (Rlt_irrefl (posterior prior (exp e) 1)). eapply Rlt_le_trans; [exact Hlt|].
  unfold posterior. set (p := P cs xs) in *. set (q := Q cs xs) in *. set (E := exp e) in *.
  assert (P1 : 0 < prior * p) by (apply Rmult_lt_0_compat; lra). assert (P2 : 0 < prior * E) by (apply Rmult_lt_0_compat; lra).
  assert (P3 : 0 <= (1 - prior) * q) by (apply Rmult_le_pos; lra).
  apply Rmult_le_reg_r with ((prior * p + (1 - prior) * q) * (prior * E + (1 - prior) * 1)); [apply Rmult_lt_0_compat; lra|].
  replace (prior * p / (prior * p + (1 - prior) * q) * ((prior * p + (1 - prior) * q) * (prior * E + (1 - prior) * 1)))
    with (prior * p * (prior * E + (1 - prior) * 1)) by (field; lra).
  replace (prior * E / (prior * E + (1 - prior) * 1) * ((prior * p + (1 - prior) * q) * (prior * E + (1 - prior) * 1)))
    with (prior * E * (prior * p + (1 - prior) * q)) by (field; lra).
  assert (prior * (1 - prior) * p <= prior * (1 - prior) * (E * q)) by (apply Rmult_le_compat_l; [nra | assumption]). lra.
Qed.

(** ** Claims about all data sets *)

Section DataSets.
  Variables (record : Type) (M : list (table record)) (related : data_set record -> data_set record -> Prop) (eps d : R).
  Hypothesis HM : Forall (lawful_table record) M.
  Hypothesis Hpriv : private_for_all record related M eps d.

  Lemma private_is_of_cells D D' : related D D' -> private (cells record M D D') eps d.
  Proof.
    intros HD E p q Hp Hq. apply (Hpriv D D' HD E p q).
    - exact (same_events _ _ E p (output_is_P record M D D') Hp).
    - exact (same_events _ _ E q (output_is_Q record M D D') Hq).
  Qed.

  Lemma chance_is_power D D' T : chance (output record M D) T = power (cells record M D D') T.
  Proof. apply total_ext; intros xs; now rewrite output_is_P. Qed.

  Lemma chance_is_type1 D D' T : chance (output record M D') T = type1 (cells record M D D') T.
  Proof. apply total_ext; intros xs; now rewrite output_is_Q. Qed.

  (** No event of at least the probability [least], whatever is computed from the outputs, lifts the belief in the data set [D] above this; where
      [related] has both orders, the record may be there in either one. *)
  Theorem posterior_of_all_data_sets prior least D D' T :
    related D D' -> 0 < prior < 1 -> 0 < least -> d <= least -> is_test T -> least <= chance (output record M D) T ->
    posterior prior (chance (output record M D) T) (chance (output record M D') T) <= posterior prior least ((least - d) / exp eps).
  Proof.
    intros HD Hp Hl Hdl HT HlT. rewrite (chance_is_type1 D D'), (chance_is_power D D') in *.
    apply posterior_of_private_events; try assumption; [now apply cells_proper | now apply private_is_of_cells].
  Qed.

  (** Power and type II error, with false alarms under [D']. *)
  Theorem power_of_all_data_sets D D' T :
    related D D' -> is_test T -> chance (output record M D) T <= d + exp eps * chance (output record M D') T.
  Proof.
    intros HD HT; rewrite (chance_is_type1 D D'), (chance_is_power D D').
    destruct (private_tests _ (cells_proper record M D D' HM) eps d T (private_is_of_cells D D' HD) HT). lra.
  Qed.
End DataSets.

(** *** By the counts that are accounted for, direction by direction *)

Section Covered.
  Variable record : Type.

  (** The list dominates what two data sets of the relation publish: the first one, here that with the record, in the place of P. *)
  Definition covered (cs : list count) (M : list (table record)) (related : data_set record -> data_set record -> Prop) : Prop :=
    proper cs /\ Forall (lawful_table record) M /\ forall D D', related D D' -> dominates cs (cells record M D D').

  Lemma cells_permuted M A A' B B' : Permutation A A' -> Permutation B B' -> cells record M A B = cells record M A' B'.
  Proof.
    intros HA HB; unfold cells. induction M as [|t M IH]; cbn; [reflexivity|]. f_equal; [|exact IH].
    apply map_ext; intros i; unfold cell. now rewrite (value_permuted record t A A'), (value_permuted record t B B').
  Qed.

  Lemma cells_exchanged M A B : cells record M A B = map swapped (cells record M B A).
  Proof. unfold cells. induction M as [|t M IH]; cbn; [reflexivity|]. rewrite map_app, map_map, <- IH. reflexivity. Qed.

  (** Records that are added. *)
  Lemma account_covers_added K M cs : each record (account record K) M cs -> covered cs M (added record K).
  Proof.
    intros Hcs. assert (HM := account_lawful record K M cs Hcs).
    split; [now apply (each_proper record K M)|]. split; [exact HM|]. intros D D' (rs & Hl & Hperm).
    rewrite (cells_permuted M D D D' (rs ++ D) (Permutation_refl D) Hperm).
    apply (each_dominates record (account record K) M cs D (rs ++ D) HM ltac:(intros; now apply (account_dominates record K)) Hcs).
  Qed.

  (** And removed: the first data set has them. *)
  Lemma account_covers_removed K M cs : each record (account record K) M cs -> covered (map swapped cs) M (fun D D' => added record K D' D).
  Proof.
    intros Hcs. destruct (account_covers_added K M cs Hcs) as (Hp & HM & Hdom). split; [now apply swapped_proper|]. split; [exact HM|].
    intros D D' H. rewrite cells_exchanged. apply dominates_swapped; [exact Hp | now apply cells_proper | now apply Hdom].
  Qed.

  (** With even noise one list is for both. *)
  Definition even_table (t : table record) : Prop := forall x, law record t 0 (- x) = law record t 0 x.

  Lemma account_covers_both K M cs : Forall even_table M -> each record (account record K) M cs -> covered cs M (add_remove record K).
  Proof.
    intros He Hcs. destruct (account_covers_added K M cs Hcs) as (Hp & HM & Hdom). split; [exact Hp | split; [exact HM|]].
    destruct (account_covers_removed K M cs Hcs) as (_ & _ & Hdom'). intros D D' [Hadd|Hadd]; [now apply Hdom|].
    apply dominates_trans with (2 := Hdom' D D' Hadd). clear Hdom Hdom' Hadd HM.
    induction Hcs as [|t cs M ds Ht Hds IH]; [apply dominates_itself|]. inversion He as [|? ? Het He']; subst.
    assert (Hcs' : proper cs) by now apply (account_proper record K t). assert (Hds' : proper ds) by now apply (each_proper record K M).
    rewrite map_app. apply dominates_app; try assumption; try (now apply swapped_proper); [|now apply IH].
    destruct Ht as (f & (E & Hf & _) & ->). rewrite swapped_repeat. fold (down f (Z.of_nat K * shift record t)).
    apply dominates_repeat; [now apply Moved_lawful | now apply down_lawful | apply even_down; [exact Hf|]].
    intros x; specialize (Het x). rewrite E in Het. unfold additive in Het. now rewrite !Z.sub_0_r in Het.
  Qed.

  Lemma account_covers_replaced K M cs : each record (account_replaced record K) M cs -> covered cs M (replaced record K).
  Proof.
    intros Hcs. assert (HM := account_replaced_lawful record K M cs Hcs).
    assert (Hr : forall t ds, account_replaced record K t ds -> proper ds).
    { intros t ds (f & (_ & Hf & _) & ->). apply proper_app; apply repeat_proper; [now apply Moved_lawful | now apply down_lawful]. }
    split; [induction Hcs as [|t cs M ds Ht _ IH]; [apply nil_proper | apply proper_app; [now apply (Hr t) | apply IH; now inversion HM]]|].
    split; [exact HM|]. intros D D' (E & rs & ss & Hlen & Hl & HD & HD'). rewrite (cells_permuted M D (rs ++ E) D' (ss ++ E) HD HD').
    apply (each_dominates record (account_replaced record K) M cs (rs ++ E) (ss ++ E) HM); [|exact Hcs].
    intros t ds _ Ht; apply (account_replaced_dominates record K); [assumption | lia | assumption].
  Qed.

  Variables (cs : list count) (M : list (table record)) (related : data_set record -> data_set record -> Prop).
  Hypothesis Hcov : covered cs M related.

  (** Right decisions between two data sets. *)
  Theorem decision_of_all_data_sets prior D D' T :
    related D D' -> 0 < prior < 1 -> is_test T ->
    prior * chance (output record M D) T + (1 - prior) * (1 - chance (output record M D') T) <= best_correct cs prior.
  Proof.
    intros HD Hp HT. destruct Hcov as (Hcs & HM & Hdom). assert (Hcells := cells_proper record M D D' HM).
    destruct (best_decision (cells record M D D') prior Hcells Hp) as [Hbest _]. specialize (Hbest T HT). unfold correct in Hbest.
    rewrite (chance_is_type1 record M D D'), (chance_is_power record M D D'). eapply Rle_trans; [exact Hbest|].
    unfold best_correct. assert (Hd := dominates_delta _ _ (ln ((1 - prior) / prior)) (Hdom D D' HD)). nra.
  Qed.

  (** A lower end of the trade-off function. *)
  Theorem tradeoff_of_all_data_sets alpha b D D' T :
    related D D' -> 0 < alpha < 1 -> (forall S, is_test S -> type1 cs S <= alpha -> b <= type2 cs S) ->
    is_test T -> chance (output record M D') T <= alpha -> b <= 1 - chance (output record M D) T.
  Proof.
    intros HD Ha Hall HT HaT. destruct Hcov as (Hcs & HM & Hdom).
    rewrite (chance_is_type1 record M D D') in HaT; rewrite (chance_is_power record M D D').
    exact (tradeoff_of_dominated cs (cells record M D D') alpha b Hcs (cells_proper record M D D' HM) (Hdom D D' HD) Ha Hall T HT HaT).
  Qed.

  (** The posterior of events, by the least probability without the record of tests of the counts that are accounted for. *)
  Theorem posterior_by_tests prior d a D D' T :
    related D D' -> 0 < prior < 1 -> 0 < d < 1 -> 0 <= a -> (forall S, is_test S -> d <= power cs S -> a <= type1 cs S) ->
    is_test T -> d <= chance (output record M D) T ->
    posterior prior (chance (output record M D) T) (chance (output record M D') T) <= posterior prior d a.
  Proof.
    intros HD Hp Hd Ha Hall HT HdT. destruct Hcov as (Hcs & HM & Hdom). assert (Hcells := cells_proper record M D D' HM).
    rewrite (chance_is_type1 record M D D'), (chance_is_power record M D D') in *.
    apply posterior_of_events; try assumption; [lra|].
    exact (tests_of_dominated cs (cells record M D D') Hcs Hcells (Hdom D D' HD) d a Hd Hall).
  Qed.
End Covered.

(** *** Posteriors of outputs: all choices *)

(** A number for the probabilities of an output under both laws that grows in proportion to them. *)
Section InProportion.
  Variable phi : R -> R -> R.
  Hypothesis phi_bounds : forall p q, 0 <= p -> 0 <= q -> 0 <= phi p q <= p.
  Hypothesis phi_scale : forall k p q, 0 <= k -> 0 <= p -> 0 <= q -> phi (p * k) (q * k) = k * phi p q.

  Let part (cs : list count) (a : nat) (p q : R) : R := lsum (fun xs => phi (p * P cs xs) (q * Q cs xs)) (box (length cs) a).
  Definition in_sum (cs : list count) (p q : R) : R := total (fun xs => phi (p * P cs xs) (q * Q cs xs)).

  Let phi_zero : phi 0 0 = 0. Proof. destruct (phi_bounds 0 0); lra. Qed.

  Let term_nonneg cs p q xs : proper cs -> 0 <= p -> 0 <= q -> 0 <= phi (p * P cs xs) (q * Q cs xs).
  Proof. intros; apply phi_bounds; [now apply P_weight | now apply Q_weight]. Qed.

  Let term_summable cs p q : proper cs -> 0 <= p -> 0 <= q -> summable (fun xs => phi (p * P cs xs) (q * Q cs xs)).
  Proof.
    intros H Hp Hq. apply summable_le with (fun xs => p * P cs xs).
    - intros xs; apply phi_bounds; [now apply P_weight | now apply Q_weight].
    - apply summable_scale; [assumption|]. exists 1; intros; now apply P_at_most_one.
  Qed.

  Let wrong_length cs p q xs : length xs <> length cs -> phi (p * P cs xs) (q * Q cs xs) = 0.
  Proof. intros H; unfold P, Q; rewrite !product_wrong_length, !Rmult_0_r by assumption. exact phi_zero. Qed.

  Let part_cons c cs a p q : part (c :: cs) a p q = lsum (fun x => part cs a (p * P1 c x) (q * Q1 c x)) (range a).
  Proof.
    unfold part; cbn [length]; rewrite lsum_box_cons; apply lsum_ext; intros x; apply lsum_ext; intros xs.
    unfold P, Q; cbn [product]; now rewrite <- !Rmult_assoc.
  Qed.

  Let part_at_most cs a p q : proper cs -> 0 <= p -> 0 <= q -> part cs a p q <= in_sum cs p q.
  Proof. intros; apply total_upper; [now apply term_summable | apply NoDup_box]. Qed.

  Let part_wider cs a b p q : proper cs -> 0 <= p -> 0 <= q -> (a <= b)%nat -> part cs a p q <= part cs b p q.
  Proof. intros; apply lsum_incl; [intros; now apply term_nonneg | apply NoDup_box | now apply box_incl]. Qed.

  Let least cs p q d : proper cs -> 0 <= p -> 0 <= q -> (forall a, part cs a p q <= d) -> in_sum cs p q <= d.
  Proof.
    intros H Hp Hq Hd; apply total_least; apply (box_bound (length cs)); [intros; now apply term_nonneg | intros; now apply wrong_length | exact Hd].
  Qed.

  Let part_tends cs p q : proper cs -> 0 <= p -> 0 <= q -> is_lim_seq (fun a => part cs a p q) (in_sum cs p q).
  Proof.
    intros H Hp Hq. assert (Hup : forall a, part cs a p q <= part cs (S a) p q) by (intros; apply part_wider; try assumption; lia).
    destruct (ex_finite_lim_seq_incr _ (in_sum cs p q) Hup (fun a => part_at_most cs a p q H Hp Hq)) as [v Hv].
    replace (in_sum cs p q) with v; [exact Hv|]. apply Rle_antisym.
    - apply (is_lim_seq_le (fun a => part cs a p q) (fun _ => in_sum cs p q) v (in_sum cs p q)); [intros; now apply part_at_most | exact Hv | apply is_lim_seq_const].
    - apply least; try assumption. intros a; now apply (is_lim_seq_incr_compare (fun a => part cs a p q) v).
  Qed.

  (** Counts that do not move add nothing. *)
  Let without_unmoved c cs p q :
    lawful c -> proper cs -> (forall x, P1 c x = Q1 c x) -> 0 <= p -> 0 <= q -> in_sum (c :: cs) p q <= in_sum cs p q.
  Proof.
    intros Hc Hcs E Hp Hq; apply least; try assumption; [now apply cons_proper|]. intros a; rewrite part_cons.
    rewrite (lsum_ext _ (fun x => P1 c x * part cs a p q)).
    - assert (0 <= part cs a p q) by (apply lsum_nonneg; intros; now apply term_nonneg).
      rewrite lsum_scale_r. apply Rle_trans with (1 * part cs a p q); [|rewrite Rmult_1_l; now apply part_at_most].
      apply Rmult_le_compat_r; [assumption | apply law_at_most_one; [apply Hc | apply NoDup_range]].
    - intros x; rewrite <- E; unfold part; rewrite <- lsum_scale; apply lsum_ext; intros xs.
      assert (Hx := P1_nonneg c x Hc). rewrite <- phi_scale; [f_equal; ring | assumption | now apply P_weight | now apply Q_weight].
  Qed.

  Let same_first c cs cs' p q :
    lawful c -> proper cs -> proper cs' -> (forall p q, 0 <= p -> 0 <= q -> in_sum cs p q <= in_sum cs' p q) -> 0 <= p -> 0 <= q ->
    in_sum (c :: cs) p q <= in_sum (c :: cs') p q.
  Proof.
    intros Hc Hcs Hcs' H Hp Hq; apply least; try assumption; [now apply cons_proper|]. intros a; rewrite part_cons.
    assert (H1 : forall x, 0 <= p * P1 c x) by (intros; apply Rmult_le_pos; [assumption | apply Hc]).
    assert (H2 : forall x, 0 <= q * Q1 c x) by (intros; apply Rmult_le_pos; [assumption | apply Hc]).
    apply Rle_trans with (lsum (fun x => in_sum cs' (p * P1 c x) (q * Q1 c x)) (range a)).
    - apply lsum_le; intros x. eapply Rle_trans; [now apply part_at_most | now apply H].
    - apply (is_lim_seq_le (fun b => lsum (fun x => part cs' b (p * P1 c x) (q * Q1 c x)) (range a)) (fun _ => in_sum (c :: cs') p q)
        (lsum (fun x => in_sum cs' (p * P1 c x) (q * Q1 c x)) (range a)) (in_sum (c :: cs') p q)).
      + intros b. set (n := Nat.max a b). apply Rle_trans with (part (c :: cs') n p q); [|apply part_at_most; [now apply cons_proper| |]; assumption].
        rewrite part_cons. apply Rle_trans with (lsum (fun x => part cs' n (p * P1 c x) (q * Q1 c x)) (range a)).
        * apply lsum_le; intros; apply part_wider; auto; lia.
        * apply lsum_incl; [intros; apply lsum_nonneg; intros; apply term_nonneg; auto | apply NoDup_range | apply range_incl; lia].
      + generalize (range a); intros l; induction l as [|x l IH]; cbn [lsum]; [apply is_lim_seq_const|]. apply is_lim_seq_plus'; [now apply part_tends | exact IH].
      + apply is_lim_seq_const.
  Qed.

  (** So only those that are kept count, if all others do not move. *)
  Lemma in_sum_of_moved {A} (g : A -> count) (keep : A -> bool) is rest rest' p q :
    (forall i, lawful (g i)) -> (forall i, keep i = false -> forall x, P1 (g i) x = Q1 (g i) x) -> proper rest -> proper rest' ->
    (forall p q, 0 <= p -> 0 <= q -> in_sum rest p q <= in_sum rest' p q) -> 0 <= p -> 0 <= q ->
    in_sum (map g is ++ rest) p q <= in_sum (map g (filter keep is) ++ rest') p q.
  Proof.
    intros Hg Hkeep Hr Hr' H. assert (Hall : forall l, proper (map g l)) by (intros; apply Forall_map, Forall_forall; intros; apply Hg).
    revert p q; induction is as [|i is IH]; intros p q Hp Hq; [now apply H|]. cbn [map filter app].
    destruct (keep i) eqn:E; cbn [map app].
    - apply same_first; try assumption; [apply Hg | now apply proper_app | now apply proper_app].
    - eapply Rle_trans; [apply without_unmoved; try assumption; [apply Hg | now apply proper_app | now apply Hkeep] | now apply IH].
  Qed.
End InProportion.

(** The probability of outputs whose posterior is above [t], for two laws. *)
Definition above (p q : list Z -> R) (prior t : R) : R := total (fun xs => if Rlt_dec t (posterior prior (p xs) (q xs)) then p xs else 0).

Section AllChoices.
  Variables (record : Type) (M : list (table record)) (K : nat) (prior t d : R).
  Hypothesis Hprior : 0 < prior < 1.
  Hypothesis HM : Forall (lawful_table record) M.
  Hypothesis Hk : Forall (keeps record) M.

  Let phi (p q : R) : R := if Rlt_dec t (posterior prior p q) then p else 0.

  Let phi_bounds p q : 0 <= p -> 0 <= q -> 0 <= phi p q <= p.
  Proof. intros Hp Hq; unfold phi; destruct (Rlt_dec _ _); lra. Qed.

  Let phi_scale k p q : 0 <= k -> 0 <= p -> 0 <= q -> phi (p * k) (q * k) = k * phi p q.
  Proof.
    intros Hk' Hp Hq. destruct (Req_dec k 0) as [->|Hk0].
    { unfold phi. rewrite !Rmult_0_r, Rmult_0_l. destruct (Rlt_dec _ _); reflexivity. }
    assert (E : posterior prior (p * k) (q * k) = posterior prior p q).
    { unfold posterior. destruct (Req_dec p 0) as [->|Hp0]; [unfold Rdiv; rewrite ?Rmult_0_l, ?Rmult_0_r, ?Rmult_0_l; ring|].
      assert (0 < prior * p) by (apply Rmult_lt_0_compat; lra). assert (0 <= (1 - prior) * q) by (apply Rmult_le_pos; lra).
      replace (prior * (p * k) + (1 - prior) * (q * k)) with ((prior * p + (1 - prior) * q) * k) by ring. field. lra. }
    unfold phi; rewrite E. destruct (Rlt_dec _ _); ring.
  Qed.

  Let above_is_in_sum cs : outputs_above cs prior t = in_sum phi cs 1 1.
  Proof. apply total_ext; intros xs; unfold phi; now rewrite !Rmult_1_l. Qed.

  Lemma outputs_of_choices (R : table record -> list count -> Prop) D D' :
    (forall cs, each record R M cs -> outputs_above cs prior t <= d) ->
    (forall s, In s M -> R s (map (cell record s D D') (filter (changed record s D D') (places record s)))) ->
    above (output record M D) (output record M D') prior t <= d.
  Proof.
    intros Hd HR. set (chosen := fun s => map (cell record s D D') (filter (changed record s D D') (places record s))).
    apply Rle_trans with (outputs_above (flat_map chosen M) prior t).
    - apply Rle_trans with (outputs_above (cells record M D D') prior t).
      + right; apply total_ext; intros xs; now rewrite output_is_P, output_is_Q.
      + rewrite !above_is_in_sum. assert (H : forall p q, 0 <= p -> 0 <= q -> in_sum phi (cells record M D D') p q <= in_sum phi (flat_map chosen M) p q); [|apply H; lra].
        clear - HM phi_bounds phi_scale. induction HM as [|s M' Hs HM' IH]; [intros; apply Rle_refl|]. cbn [cells flat_map]. fold (cells record M' D D').
        intros p q Hp Hq; apply in_sum_of_moved; try assumption.
        * intros i; split; apply Hs.
        * intros i E x. unfold changed in E; rewrite Bool.negb_false_iff, Z.eqb_eq in E. unfold cell; cbn; now rewrite E.
        * now apply cells_proper.
        * clear - HM'. induction HM' as [|s M' Hs _ IH]; [apply nil_proper|]. cbn; apply proper_app; [|exact IH].
          apply Forall_map, Forall_forall; intros; split; apply Hs.
        * now apply IH.
    - apply Hd. clear - HR. induction M as [|s M' IH]; [constructor|]. cbn; constructor; [apply HR; now left | apply IH; intros; apply HR; now right].
  Qed.

  (** If but for the probability [d] no choice of the counts that change lifts a posterior above [t], no record does, when it is there or when it is not. *)
  Theorem outputs_of_all_data_sets :
    (forall cs, each record (choice_added record K) M cs -> outputs_above cs prior t <= d) ->
    (forall cs, each record (choice_removed record K) M cs -> outputs_above cs prior t <= d) ->
    forall D D', add_remove record K D D' -> above (output record M D) (output record M D') prior t <= d.
  Proof.
    intros H1 H2. rewrite Forall_forall in Hk.
    assert (Hsame : forall A A' B B', Permutation A A' -> Permutation B B' -> above (output record M A') (output record M B') prior t <= d ->
      above (output record M A) (output record M B) prior t <= d).
    { intros A A' B B' HA HB H. eapply Rle_trans; [|exact H]. right; apply total_ext; intros xs.
      now rewrite (output_permuted record M A A' xs HA), (output_permuted record M B B' xs HB). }
    intros D D' [(rs & Hl & Hperm)|(rs & Hl & Hperm)].
    - apply (Hsame D D D' (rs ++ D)); [reflexivity | assumption|]. apply (outputs_of_choices (choice_added record K)); [exact H1|].
      intros s Hs; now apply choice_of_added; [apply Hk|].
    - apply (Hsame D (rs ++ D') D' D'); [assumption | reflexivity|]. apply (outputs_of_choices (choice_removed record K)); [exact H2|].
      intros s Hs; now apply choice_of_removed; [apply Hk|].
  Qed.
End AllChoices.

(** ** What does not follow: small examples *)

Lemma total_support {A} (dec : forall x y : A, {x = y} + {x <> y}) (f : A -> R) s :
  (forall x, 0 <= f x) -> (forall x, ~ In x s -> f x = 0) -> NoDup s -> total f = lsum f s.
Proof.
  intros Hf Hout Hs. assert (Hle : forall l, NoDup l -> lsum f l <= lsum f s).
  { intros l Hl. set (inside := fun x => if in_dec dec x s then true else false). rewrite (lsum_filter_split f inside).
    rewrite (lsum_ext_in f (fun _ => 0) (filter (fun x => negb (inside x)) l)), lsum_zero, Rplus_0_r.
    - apply lsum_incl; [assumption | now apply NoDup_filter|]. intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold inside in Hx.
      now destruct (in_dec dec x s).
    - intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold inside in Hx. apply Hout. now destruct (in_dec dec x s). }
  apply Rle_antisym; [now apply total_least|]. apply total_upper; [now exists (lsum f s) | assumption].
Qed.

(** Four outputs, 0 to 3, with given probabilities. *)
Definition four (a b c d : R) (x : Z) : R := if (x =? 0)%Z then a else if (x =? 1)%Z then b else if (x =? 2)%Z then c else if (x =? 3)%Z then d else 0.
Definition Four (a b c d a' b' c' d' : R) : count := Pair (four a b c d) (four a' b' c' d').

Lemma four_outside a b c d x : ~ In x [0; 1; 2; 3]%Z -> four a b c d x = 0.
Proof.
  intros Hx; cbn [In] in Hx; unfold four.
  destruct (Z.eqb_spec x 0); [lia|]. destruct (Z.eqb_spec x 1); [lia|]. destruct (Z.eqb_spec x 2); [lia|]. destruct (Z.eqb_spec x 3); [lia | reflexivity].
Qed.

Lemma four_is_law a b c d : 0 <= a -> 0 <= b -> 0 <= c -> 0 <= d -> a + b + c + d = 1 -> is_law (four a b c d).
Proof.
  intros Ha Hb Hc Hd H1. apply finite_law with [0; 1; 2; 3]%Z; [| apply four_outside | repeat constructor; cbn [In]; lia | cbn; lra].
  intros x; unfold four. repeat (destruct (_ =? _)%Z; [assumption|]). lra.
Qed.

Definition singles : list (list Z) := [[0]; [1]; [2]; [3]]%Z.

(** A sum over the outputs of one such count. *)
Lemma sum_of_four (u : R -> R -> R) (T : list Z -> R) a b c d a' b' c' d' :
  let cs := [Four a b c d a' b' c' d'] in
  (forall xs, 0 <= u (P cs xs) (Q cs xs) * T xs) -> u 0 0 = 0 ->
  total (fun xs => u (P cs xs) (Q cs xs) * T xs) = u a a' * T [0%Z] + (u b b' * T [1%Z] + (u c c' * T [2%Z] + u d d' * T [3%Z])).
Proof.
  intros cs Hu H0. rewrite (total_support outputs_dec _ singles).
  - unfold cs, singles, P, Q; cbn. rewrite !Rmult_1_r, Rplus_0_r. reflexivity.
  - exact Hu.
  - intros xs Hxs. assert (E : P cs xs = 0 /\ Q cs xs = 0); [|destruct E as [-> ->]; rewrite H0; ring].
    destruct xs as [|x [|y xs]]; unfold P, Q, cs; cbn [product P1 Q1 Four]; try (split; [reflexivity || ring | reflexivity || ring]).
    rewrite !four_outside; [split; ring | |]; intros Hx; apply Hxs; cbn [In singles] in *; intuition (subst; auto).
  - repeat constructor; cbn [In]; intuition discriminate.
Qed.

Lemma power_of_four T a b c d a' b' c' d' :
  0 <= a -> 0 <= b -> 0 <= c -> 0 <= d -> is_test T ->
  power [Four a b c d a' b' c' d'] T = a * T [0%Z] + (b * T [1%Z] + (c * T [2%Z] + d * T [3%Z])).
Proof.
  intros Ha Hb Hc Hd HT; apply (sum_of_four (fun p _ => p)); [|reflexivity]. intros xs; apply Rmult_le_pos; [|apply HT].
  destruct xs as [|x [|y xs]]; unfold P; cbn [product P1 Four]; try lra. rewrite Rmult_1_r; unfold four. repeat (destruct (_ =? _)%Z; [assumption|]). lra.
Qed.

Lemma type1_of_four T a b c d a' b' c' d' :
  0 <= a' -> 0 <= b' -> 0 <= c' -> 0 <= d' -> is_test T ->
  type1 [Four a b c d a' b' c' d'] T = a' * T [0%Z] + (b' * T [1%Z] + (c' * T [2%Z] + d' * T [3%Z])).
Proof.
  intros Ha Hb Hc Hd HT; apply (sum_of_four (fun _ q => q)); [|reflexivity]. intros xs; apply Rmult_le_pos; [|apply HT].
  destruct xs as [|x [|y xs]]; unfold Q; cbn [product Q1 Four]; try lra. rewrite Rmult_1_r; unfold four. repeat (destruct (_ =? _)%Z; [assumption|]). lra.
Qed.

Lemma delta_of_four eps a b c d a' b' c' d' :
  delta [Four a b c d a' b' c' d'] eps
  = Rmax 0 (a - exp eps * a') + (Rmax 0 (b - exp eps * b') + (Rmax 0 (c - exp eps * c') + Rmax 0 (d - exp eps * d'))).
Proof.
  unfold delta, gap. rewrite (total_ext _ (fun xs => Rmax 0 (P [Four a b c d a' b' c' d'] xs - exp eps * Q [Four a b c d a' b' c' d'] xs) * 1))
    by (intros; ring).
  rewrite (sum_of_four (fun p q => Rmax 0 (p - exp eps * q)) (fun _ => 1)).
  - now rewrite !Rmult_1_r.
  - intros xs; rewrite Rmult_1_r; apply Rmax_l.
  - apply Rmax_left; lra.
Qed.

(** *** (epsilon, delta) says nothing of the probability of losses above epsilon *)

(** However small delta is: with probability a half or more an output has a loss above epsilon, and a posterior above that of e^epsilon. *)
Theorem guarantee_does_not_bound_losses eps d :
  0 <= eps -> 0 < d -> exists c, lawful c /\ private [c] eps d /\ 1 / 2 <= tail [c] eps /\ 1 / 2 <= outputs_above [c] (1 / 2) (exp eps / (1 + exp eps)).
Proof.
  intros He Hd. set (E := exp eps). assert (HE : 1 <= E) by (unfold E; rewrite <- exp_0; now apply exp_mono).
  set (E' := E + d). set (a := E' / (1 + E')). set (b := 1 / (1 + E')). assert (HE' : 1 < E') by (unfold E'; lra).
  assert (Hb : 0 < b) by (apply Rdiv_lt_0_compat; lra). assert (Ea : a = E' * b) by (unfold a, b; field; lra).
  assert (Ha0 : 0 < a) by (rewrite Ea; apply Rmult_lt_0_compat; lra).
  assert (E1 : a + b = 1) by (unfold a, b; field; lra).
  set (c := Four a b 0 0 b a 0 0). exists c.
  assert (Hc : lawful c) by (split; apply four_is_law; lra). assert (Hp : proper [c]) by now apply one_proper.
  assert (Hbb : b <= E' * b) by nra. assert (Hhalf : 1 / 2 <= a) by lra.
  assert (Hdb : E' * b = E * b + d * b) by (unfold E'; ring). assert (Hdb0 : 0 < d * b) by now apply Rmult_lt_0_compat.
  assert (Hdb1 : d * b <= d) by nra. assert (Ha : E * b < a) by lra. assert (HEa : a <= E * a) by nra.
  assert (Hgap : Rmax 0 (a - E * b) <= d) by (apply Rmax_lub; lra).
  assert (Hno : Rmax 0 (b - E * a) = 0) by (apply Rmax_left; lra). assert (H00 : Rmax 0 (0 - E * 0) = 0) by (apply Rmax_left; lra).
  assert (SP : forall u : R -> R -> Prop, forall dec : forall p q, {u p q} + {~ u p q}, summable (fun xs => if dec (P [c] xs) (Q [c] xs) then P [c] xs else 0)).
  { intros u dec; exists 1; intros l Hl. eapply Rle_trans; [|apply (P_at_most_one [c] l Hp Hl)]. apply lsum_le; intros xs.
    assert (H0 := P_nonneg [c] xs Hp). destruct (dec _ _); lra. }
  split; [exact Hc | split; [|split]].
  - apply private_is_two_deltas; [assumption|]. replace (map swapped [c]) with [Four b a 0 0 a b 0 0] by reflexivity. unfold c.
    rewrite !delta_of_four. fold E. rewrite Hno, H00. split; lra.
  - assert (S := SP (fun p q => E * q < p) (fun p q => Rlt_dec (E * q) p)).
    eapply Rle_trans; [|apply (total_upper _ [[0%Z]] S); repeat constructor; auto]. unfold c; cbn. rewrite Rplus_0_r, !Rmult_1_r.
    destruct (Rlt_dec (E * b) a); lra.
  - assert (S := SP (fun p q => E / (1 + E) < posterior (1 / 2) p q) (fun p q => Rlt_dec (E / (1 + E)) (posterior (1 / 2) p q))).
    eapply Rle_trans; [|apply (total_upper _ [[0%Z]] S); repeat constructor; auto]. unfold c; cbn. rewrite Rplus_0_r, !Rmult_1_r.
    destruct (Rlt_dec (E / (1 + E)) (posterior (1 / 2) a b)) as [|Hn]; [lra|]. exfalso; apply Hn. unfold posterior.
    apply Rmult_lt_reg_r with (1 + E); [lra|]. unfold Rdiv at 1; rewrite Rmult_assoc, Rinv_l by lra.
    apply Rmult_lt_reg_r with (1 / 2 * a + (1 - 1 / 2) * b); [lra|].
    replace (1 / 2 * a / (1 / 2 * a + (1 - 1 / 2) * b) * (1 + E) * (1 / 2 * a + (1 - 1 / 2) * b)) with (1 / 2 * a * (1 + E)) by (field; lra). lra.
Qed.

(** *** More counts are less private, and may have fewer outputs with a large loss *)

(** One answer of a coin with 3/5 and 2/5 against 2/5 and 3/5, or two answers. *)
Definition biased : count := Four (3 / 5) (2 / 5) 0 0 (2 / 5) (3 / 5) 0 0.

Lemma biased_lawful : lawful biased.
Proof. split; apply four_is_law; lra. Qed.

Definition pairs : list (list Z) := [[0; 0]; [0; 1]; [1; 0]; [1; 1]]%Z.

Lemma sum_of_one (u : R -> R -> R) :
  (forall p q, 0 <= p -> 0 <= q -> 0 <= u p q) -> u 0 0 = 0 -> total (fun xs => u (P [biased] xs) (Q [biased] xs)) = u (3 / 5) (2 / 5) + u (2 / 5) (3 / 5).
Proof.
  intros Hu H0. assert (Hp : proper [biased]) by apply one_proper, biased_lawful.
  rewrite (total_ext _ (fun xs => u (P [biased] xs) (Q [biased] xs) * 1)) by (intros; ring). unfold biased.
  rewrite (sum_of_four u (fun _ => 1)); [rewrite H0; ring | | exact H0].
  intros xs; rewrite Rmult_1_r; apply Hu; [now apply P_nonneg | now apply Q_nonneg].
Qed.

Lemma sum_of_two (u : R -> R -> R) :
  (forall p q, 0 <= p -> 0 <= q -> 0 <= u p q) -> u 0 0 = 0 ->
  total (fun xs => u (P [biased; biased] xs) (Q [biased; biased] xs)) = u (9 / 25) (4 / 25) + (u (6 / 25) (6 / 25) + (u (6 / 25) (6 / 25) + u (4 / 25) (9 / 25))).
Proof.
  intros Hu H0. assert (Hp : proper [biased; biased]) by (apply cons_proper; [|apply one_proper]; apply biased_lawful).
  rewrite (total_support outputs_dec _ pairs).
  - unfold pairs, P, Q; cbn. rewrite Rplus_0_r, !Rmult_1_r.
    replace (3 / 5 * (3 / 5)) with (9 / 25) by lra. replace (2 / 5 * (2 / 5)) with (4 / 25) by lra.
    replace (3 / 5 * (2 / 5)) with (6 / 25) by lra. replace (2 / 5 * (3 / 5)) with (6 / 25) by lra. reflexivity.
  - intros xs; apply Hu; [now apply P_nonneg | now apply Q_nonneg].
  - intros xs Hxs. assert (E : P [biased; biased] xs = 0 /\ Q [biased; biased] xs = 0); [|destruct E as [-> ->]; exact H0].
    destruct xs as [|x [|y [|z xs]]]; unfold P, Q; cbn [product P1 Q1 biased Four]; try (split; ring).
    assert (Hz : forall a b x, x <> 0%Z -> x <> 1%Z -> four a b 0 0 x = 0).
    { intros a b v H1 H2; unfold four. destruct (Z.eqb_spec v 0); [lia|]. destruct (Z.eqb_spec v 1); [lia|]. destruct (v =? 2)%Z, (v =? 3)%Z; reflexivity. }
    destruct (in_dec Z.eq_dec x [0; 1]%Z) as [Hx|Hx].
    + destruct (in_dec Z.eq_dec y [0; 1]%Z) as [Hy|Hy].
      * exfalso; apply Hxs. destruct Hx as [<-|[<-|[]]], Hy as [<-|[<-|[]]]; cbn [In pairs]; tauto.
      * cbn [In] in Hy. rewrite !(Hz _ _ y) by lia. split; ring.
    + cbn [In] in Hx. rewrite !(Hz _ _ x) by lia. split; ring.
  - repeat constructor; cbn [In]; intuition discriminate.
Qed.

Theorem more_counts_may_have_a_smaller_tail :
  dominates [biased; biased] [biased]
  /\ tail [biased] 0 = 3 / 5 /\ tail [biased; biased] 0 = 9 / 25
  /\ outputs_above [biased] (1 / 2) (1 / 2) = 3 / 5 /\ outputs_above [biased; biased] (1 / 2) (1 / 2) = 9 / 25.
Proof.
  assert (Hpost : forall p q, 0 < p + q -> (1 / 2 < posterior (1 / 2) p q <-> q < p)).
  { intros p q Hpq; unfold posterior. set (den := 1 / 2 * p + (1 - 1 / 2) * q). assert (Hden : 0 < den) by (unfold den; lra).
    assert (E : 1 / 2 * p / den * den = 1 / 2 * p) by (field; lra). split; intros Hlt.
    - apply Rmult_lt_compat_r with (r := den) in Hlt; [|assumption]. rewrite E in Hlt. unfold den in Hlt; lra.
    - apply Rmult_lt_reg_r with den; [assumption|]. rewrite E. unfold den; lra. }
  split; [apply dominates_with; [apply biased_lawful | apply one_proper, biased_lawful]|].
  unfold tail, outputs_above. repeat split.
  - rewrite (sum_of_one (fun p q => if Rlt_dec (exp 0 * q) p then p else 0)).
    + rewrite exp_0; destruct (Rlt_dec _ _), (Rlt_dec _ _); lra.
    + intros p q Hp _; destruct (Rlt_dec _ _); lra.
    + destruct (Rlt_dec _ _); reflexivity.
  - rewrite (sum_of_two (fun p q => if Rlt_dec (exp 0 * q) p then p else 0)).
    + rewrite exp_0; destruct (Rlt_dec (1 * (4 / 25)) _), (Rlt_dec (1 * (6 / 25)) _), (Rlt_dec (1 * (9 / 25)) _); lra.
    + intros p q Hp _; destruct (Rlt_dec _ _); lra.
    + destruct (Rlt_dec _ _); reflexivity.
  - rewrite (sum_of_one (fun p q => if Rlt_dec (1 / 2) (posterior (1 / 2) p q) then p else 0)).
    + assert (A := Hpost (3 / 5) (2 / 5) ltac:(lra)). assert (B := Hpost (2 / 5) (3 / 5) ltac:(lra)). destruct (Rlt_dec _ _), (Rlt_dec _ _); lra.
    + intros p q Hp _; destruct (Rlt_dec _ _); lra.
    + destruct (Rlt_dec _ _); reflexivity.
  - rewrite (sum_of_two (fun p q => if Rlt_dec (1 / 2) (posterior (1 / 2) p q) then p else 0)).
    + assert (A := Hpost (9 / 25) (4 / 25) ltac:(lra)). assert (B := Hpost (4 / 25) (9 / 25) ltac:(lra)). assert (C := Hpost (6 / 25) (6 / 25) ltac:(lra)).
      destruct (Rlt_dec _ (posterior _ (9 / 25) _)), (Rlt_dec _ (posterior _ (6 / 25) _)), (Rlt_dec _ (posterior _ (4 / 25) _)); lra.
    + intros p q Hp _; destruct (Rlt_dec _ _); lra.
    + destruct (Rlt_dec _ _); reflexivity.
Qed.

(** *** A bound of outputs is none of events *)

(** A count with noise -1, 0, 1 of the masses 1/4, 1/2, 1/4, with the record (second half of the outputs) and without. *)
Definition hand : count := Four 0 (1 / 4) (1 / 2) (1 / 4) (1 / 4) (1 / 2) (1 / 4) 0.

Lemma hand_proper : proper [hand].
Proof. apply one_proper; split; apply four_is_law; lra. Qed.

Definition last_two (xs : list Z) : R := match xs with [2%Z] | [3%Z] => 1 | _ => 0 end.
Definition last_and_a_tenth (xs : list Z) : R := match xs with [2%Z] => 1 / 10 | [3%Z] => 1 | _ => 0 end.

Ltac small_test := intros [|x [|? ?]]; cbn; try lra; destruct x as [|[[?|?|]|[?|?|]|]|]; cbn; lra.

Lemma last_two_is_test : is_test last_two.
Proof. small_test. Qed.

Lemma last_and_a_tenth_is_test : is_test last_and_a_tenth.
Proof. small_test. Qed.

(** But for a probability of 0.3 no output lifts the belief from 1/2 above 2/3. The event of the last two outputs has the probability 3/4 and lifts it to
    3/4: a posterior of outputs is one of the outputs themselves, seen in full, and not of what is computed from them. *)
Theorem outputs_do_not_bound_events :
  outputs_above [hand] (1 / 2) (2 / 3) <= 3 / 10
  /\ is_test last_two /\ 3 / 10 < power [hand] last_two /\ 2 / 3 < posterior (1 / 2) (power [hand] last_two) (type1 [hand] last_two).
Proof.
  assert (Ht := last_two_is_test). split; [|split; [exact Ht|]].
  - unfold outputs_above.
    rewrite (total_ext _ (fun xs => (if Rlt_dec (2 / 3) (posterior (1 / 2) (P [hand] xs) (Q [hand] xs)) then P [hand] xs else 0) * 1)) by (intros; ring).
    unfold hand; rewrite (sum_of_four (fun p q => if Rlt_dec (2 / 3) (posterior (1 / 2) p q) then p else 0) (fun _ => 1)).
    + assert (A : posterior (1 / 2) (1 / 4) (1 / 2) = 1 / 3) by (unfold posterior; field).
      assert (B : posterior (1 / 2) (1 / 2) (1 / 4) = 2 / 3) by (unfold posterior; field).
      rewrite A, B. destruct (Rlt_dec _ _), (Rlt_dec _ (1 / 3)), (Rlt_dec _ (2 / 3)), (Rlt_dec _ _); lra.
    + intros xs; rewrite Rmult_1_r. assert (H0 := P_nonneg [hand] xs hand_proper). unfold hand in H0. destruct (Rlt_dec _ _); lra.
    + destruct (Rlt_dec _ _); reflexivity.
  - unfold hand; rewrite power_of_four, type1_of_four by (assumption || lra). cbn [last_two]. unfold posterior. split; [lra|].
    replace (1 / 2 * (0 * 0 + (1 / 4 * 0 + (1 / 2 * 1 + 1 / 4 * 1))) / (1 / 2 * (0 * 0 + (1 / 4 * 0 + (1 / 2 * 1 + 1 / 4 * 1)))
      + (1 - 1 / 2) * (1 / 4 * 0 + (1 / 2 * 0 + (1 / 4 * 1 + 0 * 1))))) with (3 / 4) by field. lra.
Qed.

(** Of events the bound is 12/13, and one attains it: the last output, and the one before every tenth time. *)
Theorem hand_events :
  (forall T, is_test T -> 3 / 10 <= power [hand] T -> posterior (1 / 2) (power [hand] T) (type1 [hand] T) <= 12 / 13)
  /\ is_test last_and_a_tenth /\ 3 / 10 <= power [hand] last_and_a_tenth
  /\ posterior (1 / 2) (power [hand] last_and_a_tenth) (type1 [hand] last_and_a_tenth) = 12 / 13.
Proof.
  assert (Ht := last_and_a_tenth_is_test). split; [|split; [exact Ht|]].
  - intros T HT Hd. replace (12 / 13) with (posterior (1 / 2) (3 / 10) (1 / 40)) by (unfold posterior; field).
    apply posterior_of_events; try assumption; try lra; [apply hand_proper|].
    intros S HS HdS. unfold hand in *; rewrite power_of_four in HdS by (assumption || lra); rewrite type1_of_four by (assumption || lra).
    destruct (HS [0%Z]), (HS [1%Z]), (HS [2%Z]), (HS [3%Z]). lra.
  - unfold hand; rewrite power_of_four, type1_of_four by (assumption || lra). cbn [last_and_a_tenth]. split; [lra|]. unfold posterior; field.
Qed.

(** Half of the time the record is there: the best rule is right three times in four. *)
Example hand_decision : best_correct [hand] (1 / 2) = 3 / 4.
Proof.
  unfold best_correct, hand. rewrite delta_of_four. replace ((1 - 1 / 2) / (1 / 2)) with 1 by field. rewrite ln_1, exp_0.
  rewrite (Rmax_left 0 (0 - 1 * (1 / 4))), (Rmax_left 0 (1 / 4 - 1 * (1 / 2))), (Rmax_right 0 (1 / 2 - 1 * (1 / 4))), (Rmax_right 0 (1 / 4 - 1 * 0)) by lra. lra.
Qed.

(** *** The hull of both directions is a bound from below *)

(** With the record 0 or 1, without it always 1. *)
Definition lopsided : count := Four (3 / 4) (1 / 4) 0 0 0 1 0 0.

(** At false alarms of 1/8 every test misses in 7/32 of all cases at least, in either direction. What the larger delta of both directions says, for any
    epsilon, is never more than 1/8. *)
Theorem hull_is_below_both_directions :
  (forall T, is_test T -> type1 [lopsided] T <= 1 / 8 -> 7 / 32 <= type2 [lopsided] T)
  /\ (forall T, is_test T -> type1 (map swapped [lopsided]) T <= 1 / 8 -> 7 / 32 <= type2 (map swapped [lopsided]) T)
  /\ forall eps, 1 - Rmax (delta [lopsided] eps) (delta (map swapped [lopsided]) eps) - exp eps * (1 / 8) <= 1 / 8.
Proof.
  replace (map swapped [lopsided]) with [Four 0 1 0 0 (3 / 4) (1 / 4) 0 0] by reflexivity. unfold lopsided, type2. split; [|split].
  - intros T HT; rewrite power_of_four, type1_of_four by (assumption || lra). destruct (HT [0%Z]), (HT [1%Z]). lra.
  - intros T HT; rewrite power_of_four, type1_of_four by (assumption || lra). destruct (HT [0%Z]), (HT [1%Z]). lra.
  - intros eps; rewrite !delta_of_four. assert (He := exp_pos eps). set (E := exp eps) in *.
    set (D1 := Rmax 0 (3 / 4 - E * 0) + _). set (D2 := Rmax 0 (0 - E * (3 / 4)) + _).
    assert (H1 : 3 / 4 <= D1).
    { unfold D1. generalize (Rmax_r 0 (3 / 4 - E * 0)) (Rmax_l 0 (1 / 4 - E * 1)) (Rmax_l 0 (0 - E * 0)); lra. }
    assert (H2 : 1 - E * (1 / 4) <= D2).
    { unfold D2. generalize (Rmax_l 0 (0 - E * (3 / 4))) (Rmax_r 0 (1 - E * (1 / 4))) (Rmax_l 0 (0 - E * 0)); lra. }
    assert (M1 := Rmax_l D1 D2). assert (M2 := Rmax_r D1 D2). destruct (Rle_dec E 1); lra.
Qed.

(** *** A guarantee is an upper end *)

(** What has the guarantee may reveal nothing at all: no epsilon, delta or posterior is disproved, and none exists, by a guarantee alone. *)
Theorem guarantee_is_no_lower_end e d :
  0 <= e -> 0 <= d -> exists c, lawful c /\ guaranteed c e d /\ forall eps, 0 <= eps -> delta [c] eps = 0.
Proof.
  intros He Hd; set (c := Four (1 / 2) (1 / 2) 0 0 (1 / 2) (1 / 2) 0 0). exists c.
  assert (Hc : lawful c) by (split; apply four_is_law; lra).
  assert (Hdelta : forall eps, 0 <= eps -> delta [c] eps = 0).
  { intros eps Heps; unfold c; rewrite delta_of_four. assert (1 <= exp eps) by (rewrite <- exp_0; now apply exp_mono). rewrite !Rmax_left by lra. lra. }
  split; [exact Hc | split; [|exact Hdelta]]. apply private_is_guaranteed; [exact Hc|]. apply private_is_two_deltas; [now apply one_proper|].
  replace (map swapped [c]) with [c] by reflexivity. rewrite Hdelta by assumption. now split.
Qed.

(** What a guarantee gives: a posterior of events, for each mechanism that has it. *)
Theorem guarantee_bounds_events c e d prior least T :
  lawful c -> private [c] e d -> 0 < prior < 1 -> 0 < least -> d <= least -> is_test T -> least <= power [c] T ->
  posterior prior (power [c] T) (type1 [c] T) <= posterior prior least ((least - d) / exp e).
Proof. intros Hc Hd Hp Hl Hdl HT HlT; apply posterior_of_private_events; try assumption. now apply one_proper. Qed.
