(** * Neighbors of the examples

    What the theorems of DataSets.v and Claims.v say of mechanisms with numbers. In the first ones each record is a list of counts, at most ten of which it raises by
    one: the State level of the 2020 Census as Su, Su & Wang (2025) analyze it, with any number of counts. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Permutation.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Private Response Bounded Dominance Pairs LogConcave DataSets Queries Tradeoff Claims.
From DpAssay Require OneCount State TradeoffPoint.
Import ListNotations.
Open Scope R_scope.

Lemma only_table {record} (R : table record -> list count -> Prop) t cs : R t cs -> each record R [t] cs.
Proof. intros H; rewrite <- (app_nil_r cs); constructor; [exact H | constructor]. Qed.

(** Records of any kind that raise at most ten counts by at most one. *)
Definition State_noise : Z -> R := gaussian (50000 / 10001).

Lemma State_noise_is_law : is_law State_noise.
Proof. apply gaussian_is_law; lra. Qed.

Lemma State_noise_log_concave : log_concave State_noise.
Proof. apply gaussian_log_concave; lra. Qed.

Lemma state_counts_private : private (repeat (Count (50000 / 10001) 1) 10) 10.1254175 1e-11.
Proof. exact (upper_end_is_private _ _ _ _ State.epsilon_is_between). Qed.

(** For every data set and every record that raises at most ten of its counts by at most one. *)
Theorem state_of_all_data_sets record size moves :
  let t := Table record size (additive State_noise) moves 10 1 in
  keeps record t -> private_for_all record (add_remove record 1) [t] 10.1254175 1e-11.
Proof.
  intros t Hk; apply account_is_private with (repeat (Count (50000 / 10001) 1) 10); [|exact state_counts_private].
  apply only_table; exists State_noise; split; [|reflexivity].
  split; [reflexivity | split; [exact State_noise_is_law | split; [exact State_noise_log_concave | exact Hk]]].
Qed.

(** For every data set and every two records that raise at most five counts by at most one, if one takes the place of the other. *)
Theorem state_of_replaced_records record size moves :
  let t := Table record size (additive State_noise) moves 5 1 in
  keeps record t -> private_for_all record (replaced record 1) [t] 10.1254175 1e-11.
Proof.
  intros t Hk; apply account_replaced_is_private with (repeat (Moved State_noise 1) 5 ++ repeat (down State_noise 1) 5).
  - apply only_table; exists State_noise; split; [|reflexivity].
    split; [reflexivity | split; [exact State_noise_is_law | split; [exact State_noise_log_concave | exact Hk]]].
  - apply dominated_is_private with (repeat (Moved State_noise 1) (5 + 5)); [| | |exact state_counts_private].
    + apply repeat_proper, Moved_lawful, State_noise_is_law.
    + apply proper_app; apply repeat_proper; [apply Moved_lawful | apply down_lawful]; exact State_noise_is_law.
    + apply even_both_ways; [exact State_noise_is_law | exact (gaussian_even (50000 / 10001))].
Qed.

(** ** Any number of counts, of which each record raises those in its list, the first ten at most *)

Definition raises (r : list nat) (i : nat) : Z := if in_dec Nat.eq_dec i (firstn 10 r) then 1 else 0.
Definition State_table (n : nat) : table (list nat) := Table (list nat) n (additive State_noise) raises 10 1.

Lemma State_table_keeps n : keeps (list nat) (State_table n).
Proof.
  split; [apply Z.le_0_1|]. intros r; split.
  - intros i; cbn [moves shift State_table]; unfold raises; destruct (in_dec _ _ _); lia.
  - apply Nat.le_trans with (length (firstn 10 r)); [|apply firstn_le_length].
    apply NoDup_incl_length; [apply NoDup_filter, seq_NoDup|]. intros i Hi; apply filter_In in Hi; destruct Hi as [_ Hi].
    cbn [moves State_table] in Hi; unfold raises in Hi. destruct (in_dec Nat.eq_dec i (firstn 10 r)) as [|]; [assumption | discriminate].
Qed.

(** If there are ten counts, no smaller epsilon is enough for all data sets: some records raise ten. *)
Theorem state_epsilon_for_all n :
  (10 <= n)%nat -> smallest_epsilon_for_all (list nat) (add_remove (list nat) 1) [State_table n] 1e-11 10.125415 10.1254175.
Proof.
  intros Hn; apply account_is_smallest with (r := seq 0 10) (cs := repeat (Count (50000 / 10001) 1) 10).
  - constructor; [|constructor]. split; [exact Hn|]. intros i Hi; cbn [moves shift most State_table] in *; unfold raises.
    destruct (in_dec Nat.eq_dec i (firstn 10 (seq 0 10))) as [|Hout]; [reflexivity|]. exfalso; apply Hout.
    change (firstn 10 (seq 0 10)) with (seq 0 10). apply in_seq; lia.
  - apply only_table; exists State_noise; split; [|reflexivity].
    split; [reflexivity | split; [exact State_noise_is_law | split; [exact State_noise_log_concave | apply State_table_keeps]]].
  - exact State.epsilon_is_between.
Qed.

(** ** Groups: discrete Laplace noise, and K records *)

Lemma laplace_ratio e m : 0 < e -> (0 <= m)%Z -> ratio_at_most (e * IZR m) (Moved (laplace e) m).
Proof.
  intros He Hm x; cbn [P1 Q1 Moved]; unfold laplace. set (k := (1 - exp (- e)) / (1 + exp (- e))).
  assert (Hk : 0 < k) by (assert (Hr := ratio_bounds e He); unfold k; apply Rdiv_lt_0_compat; lra).
  assert (Hm' := IZR_le _ _ Hm).
  assert (H1 : Rabs (IZR (x - m)) <= Rabs (IZR x) + IZR m) by (rewrite <- !abs_IZR, <- plus_IZR; apply IZR_le; lia).
  assert (H2 : Rabs (IZR x) <= Rabs (IZR (x - m)) + IZR m) by (rewrite <- !abs_IZR, <- plus_IZR; apply IZR_le; lia).
  assert (Hstep : forall a b, e * b <= e * a + e * IZR m -> k * exp (- (e * a)) <= exp (e * IZR m) * (k * exp (- (e * b)))).
  { intros a b Hab. replace (exp (e * IZR m) * (k * exp (- (e * b)))) with (k * exp (e * IZR m + - (e * b))) by (rewrite exp_plus; ring).
    apply Rmult_le_compat_l; [lra|]. apply exp_mono; lra. }
  split; apply Hstep; nra.
Qed.

(** Every group of at most [K] records, each of which raises at most [n] counts by at most [m]. *)
Theorem laplace_groups record size moves e (K n : nat) (m : Z) :
  0 < e -> let t := Table record size (additive (laplace e)) moves n m in
  keeps record t -> private_for_all record (add_remove record K) [t] (INR n * (e * (IZR (Z.of_nat K * m)))) 0.
Proof.
  intros He t Hk. assert (Hm : (0 <= Z.of_nat K * m)%Z) by (destruct Hk as [Hk _]; cbn [shift t] in Hk; nia).
  apply account_is_private with (repeat (Moved (laplace e) (Z.of_nat K * m)) n).
  - apply only_table; exists (laplace e); split; [|reflexivity].
    split; [reflexivity | split; [now apply laplace_is_law | split; [now apply laplace_log_concave | exact Hk]]].
  - assert (Hp := pure_is_private (repeat (Moved (laplace e) (Z.of_nat K * m)) n) (e * IZR (Z.of_nat K * m))).
    rewrite repeat_length in Hp; apply Hp.
    + now apply repeat_proper, Moved_lawful, laplace_is_law.
    + apply Forall_forall; intros c Hc; apply repeat_spec in Hc; subst; now apply laplace_ratio.
Qed.

(** ** Other noise: randomized response about the parity of a count, one choice at a time *)

Definition parity (e : R) (v : Z) : Z -> R := response e (v mod 2).
Definition Parity_table (e : R) : table bool := Table bool 1 (parity e) (fun r _ => if r then 1 else 0)%Z 1 1.

Lemma Parity_lawful e : lawful_table bool (Parity_table e).
Proof.
  intros v; cbn; unfold parity. destruct (Response_lawful e) as [H0 H1]. assert (H := Z.mod_pos_bound v 2 ltac:(lia)).
  assert (E : (v mod 2 = 0 \/ v mod 2 = 1)%Z) by lia. destruct E as [-> | ->]; assumption.
Qed.

Lemma response_ratio e v v' : 0 <= e -> (v = 0 \/ v = 1)%Z -> (v' = 0 \/ v' = 1)%Z -> ratio_at_most e (Pair (response e v) (response e v')).
Proof.
  intros He Hv Hv' x; cbn [P1 Q1]. assert (H1 : 1 <= exp e) by (rewrite <- exp_0; now apply exp_mono).
  assert (Hr : forall u w, (u = 0 \/ u = 1)%Z -> (w = 0 \/ w = 1)%Z -> response e u x <= exp e * response e w x); [|split; now apply Hr].
  intros u w Hu Hw. destruct (in_dec Z.eq_dec x [0; 1]%Z) as [Hx|Hx].
  - assert (Hinv : 0 < / (exp e + 1)) by (apply Rinv_0_lt_compat; lra).
    assert (Hb : forall y, (y = 0 \/ y = 1)%Z -> / (exp e + 1) <= response e y x <= exp e * / (exp e + 1)).
    { intros y Hy; unfold response, Rdiv. destruct (Z.eqb_spec x y); [nra|]. destruct (Z.eqb_spec x (1 - y)); [nra|]. cbn [In] in Hx; lia. }
    destruct (Hb u Hu), (Hb w Hw). apply Rle_trans with (exp e * / (exp e + 1)); [assumption|]. apply Rmult_le_compat_l; lra.
  - rewrite !response_outside by assumption; lra.
Qed.

Lemma Parity_keeps e : keeps bool (Parity_table e).
Proof. split; [apply Z.le_0_1|]. intros r; split; [intros i; cbn; destruct r; lia | destruct r; cbn; lia]. Qed.

Lemma parity_choices e low high cs :
  0 <= e -> each bool (choice bool (fun t => 1 * most bool t)%nat low high) [Parity_table e] cs -> proper cs /\ private cs e 0.
Proof.
  intros He Hcs; inversion Hcs as [|t cs' M ds [Hlen Hall] Hds]; subst. inversion Hds; subst. rewrite app_nil_r. clear Hcs Hds.
  assert (Hm : forall v, (v mod 2 = 0 \/ v mod 2 = 1)%Z) by (intros v; assert (H := Z.mod_pos_bound v 2 ltac:(lia)); lia).
  assert (Hp : proper cs').
  { apply Forall_forall; intros c Hc. rewrite Forall_forall in Hall; destruct (Hall c Hc) as (v & v' & _ & _ & _ & ->). split; apply Parity_lawful. }
  split; [exact Hp|]. assert (Hpriv := pure_is_private cs' e Hp).
  assert (Hr : Forall (ratio_at_most e) cs').
  { eapply Forall_impl; [|exact Hall]. intros c (v & v' & _ & _ & _ & ->). now apply response_ratio. }
  apply private_wider with (1 := Hpriv Hr). cbn in Hlen. apply le_INR in Hlen. cbn in Hlen. nra.
Qed.

Theorem parity_of_all_data_sets e : 0 <= e -> private_for_all bool (add_remove bool 1) [Parity_table e] e 0.
Proof.
  intros He; apply choices_are_private; [constructor; [apply Parity_lawful | constructor] | constructor; [apply Parity_keeps | constructor] |].
  intros cs Hcs; now apply (parity_choices e) in Hcs.
Qed.

(** And no answer lifts the belief in a record, or in its absence, above that of e^e. *)
Theorem parity_posteriors_of_all_data_sets e prior D D' :
  0 <= e -> 0 < prior < 1 -> add_remove bool 1 D D' ->
  above (output bool [Parity_table e] D) (output bool [Parity_table e] D') prior (posterior prior (exp e) 1) <= 0.
Proof.
  intros He Hp. apply (outputs_of_all_data_sets bool [Parity_table e] 1); try assumption.
  - constructor; [apply Parity_lawful | constructor].
  - constructor; [apply Parity_keeps | constructor].
  - intros cs Hcs; apply (parity_choices e) in Hcs; [|assumption]. destruct Hcs; now apply pure_bounds_posteriors.
  - intros cs Hcs; apply (parity_choices e) in Hcs; [|assumption]. destruct Hcs; now apply pure_bounds_posteriors.
Qed.

(** ** Claims with these numbers *)

(** For every data set and every record that raises at most ten counts by at most one, there or not: no event of a probability of at least one in a
    million, whatever is computed from the counts, lifts a belief above this. *)
Theorem state_posterior_of_all_data_sets record size moves prior D D' T :
  let t := Table record size (additive State_noise) moves 10 1 in
  keeps record t -> add_remove record 1 D D' -> 0 < prior < 1 -> is_test T -> 1e-6 <= chance (output record [t] D) T ->
  posterior prior (chance (output record [t] D) T) (chance (output record [t] D') T) <= posterior prior 1e-6 ((1e-6 - 1e-11) / exp 10.1254175).
Proof.
  intros t Hk HD Hp HT HlT.
  apply (posterior_of_all_data_sets record [t] (add_remove record 1) 10.1254175 1e-11); try assumption; try lra.
  - constructor; [|constructor]. apply (additive_lawful record t State_noise).
    split; [reflexivity | split; [exact State_noise_is_law | split; [exact State_noise_log_concave | exact Hk]]].
  - now apply state_of_all_data_sets.
Qed.

(** And every test of such a record with false alarms of at most [alpha] finds it with at most this probability. *)
Theorem state_power_of_all_data_sets record size moves alpha D D' T :
  let t := Table record size (additive State_noise) moves 10 1 in
  keeps record t -> add_remove record 1 D D' -> is_test T -> chance (output record [t] D') T <= alpha ->
  chance (output record [t] D) T <= 1e-11 + exp 10.1254175 * alpha.
Proof.
  intros t Hk HD HT Ha. eapply Rle_trans.
  - apply (power_of_all_data_sets record [t] (add_remove record 1) 10.1254175 1e-11); try eassumption; [|now apply state_of_all_data_sets].
    constructor; [|constructor]. apply (additive_lawful record t State_noise).
    split; [reflexivity | split; [exact State_noise_is_law | split; [exact State_noise_log_concave | exact Hk]]].
  - apply Rplus_le_compat_l, Rmult_le_compat_l; [left; apply exp_pos | assumption].
Qed.

Lemma State_covers record size moves n :
  let t := Table record size (additive State_noise) moves n 1 in
  keeps record t -> covered record (repeat (Count (50000 / 10001) 1) n) [t] (add_remove record 1).
Proof.
  intros t Hk; apply account_covers_both.
  - constructor; [|constructor]. intros x; cbn [law t]. unfold additive; rewrite !Z.sub_0_r. apply gaussian_even.
  - apply only_table; exists State_noise; split; [|reflexivity].
    split; [reflexivity | split; [exact State_noise_is_law | split; [exact State_noise_log_concave | exact Hk]]].
Qed.

(** No test with false alarms of at most 0.05 misses such a record in less than 59 of 100 cases. *)
Theorem state_tradeoff_of_all_data_sets record size moves D D' T :
  let t := Table record size (additive State_noise) moves 10 1 in
  keeps record t -> add_remove record 1 D D' -> is_test T -> chance (output record [t] D') T <= 0.05 -> 0.591311 <= 1 - chance (output record [t] D) T.
Proof.
  intros t Hk HD HT HaT. apply (tradeoff_of_all_data_sets record _ [t] _ (State_covers record size moves 10 Hk) 0.05 0.591311 D D'); try assumption; [lra|].
  exact (proj1 TradeoffPoint.tradeoff_point_is_between).
Qed.

(** No event that has at least the probability 0.41 lifts a belief of 1/2 above 41/46, whatever is computed from the counts. *)
Theorem state_events_of_all_data_sets record size moves D D' T :
  let t := Table record size (additive State_noise) moves 10 1 in
  keeps record t -> add_remove record 1 D D' -> is_test T -> 0.41 <= chance (output record [t] D) T ->
  posterior (1 / 2) (chance (output record [t] D) T) (chance (output record [t] D') T) <= 41 / 46.
Proof.
  intros t Hk HD HT HdT. replace (41 / 46) with (posterior (1 / 2) 0.41 0.05) by (unfold posterior; lra).
  apply (posterior_by_tests record _ [t] _ (State_covers record size moves 10 Hk)); try assumption; try lra.
  intros S HS HdS. destruct (Rle_lt_dec 0.05 (type1 (repeat (Count (50000 / 10001) 1) 10) S)) as [|Hlt]; [assumption|].
  assert (G := proj1 TradeoffPoint.tradeoff_point_is_between S HS (Rlt_le _ _ Hlt)). unfold type2 in G. lra.
Qed.

(** One count, and a record that is there once in e + 1 cases: no rule is right more often than this. *)
Theorem one_count_decision record size moves r D T :
  let t := Table record size (additive State_noise) moves 1 1 in let prior := / (exp 1 + 1) in
  keeps record t -> is_test T ->
  prior * chance (output record [t] (r :: D)) T + (1 - prior) * (1 - chance (output record [t] D) T) <= 1 - prior + prior * 0.00336853.
Proof.
  intros t prior Hk HT. assert (He := exp_pos 1). assert (Hinv : 0 < / (exp 1 + 1)) by (apply Rinv_0_lt_compat; lra).
  assert (Hp : 0 < prior < 1).
  { split; [assumption|]. apply Rmult_lt_reg_r with (exp 1 + 1); [lra|]. unfold prior; rewrite Rinv_l by lra; lra. }
  assert (Hodds : ln ((1 - prior) / prior) = 1.0).
  { replace ((1 - prior) / prior) with (exp 1) by (unfold prior; field; lra). rewrite ln_exp; lra. }
  eapply Rle_trans; [apply (decision_of_all_data_sets record _ [t] _ (State_covers record size moves 1 Hk) prior (r :: D) D T); try assumption|].
  - right; apply one_record.
  - unfold best_correct; rewrite Hodds. apply Rplus_le_compat_l, Rmult_le_compat_l; [lra|]. exact (proj2 OneCount.delta_is_between).
Qed.

(** ** Adaptive queries: ten counts, each chosen after all earlier answers *)

Section Chosen.
  Variable record : Type.
  Variable choose : list Z -> record -> bool.

  Definition chosen (seen : list Z) : table record := Table record 1 (additive State_noise) (fun r _ => if choose seen r then 1 else 0)%Z 1 1.

  Lemma chosen_keeps seen : keeps record (chosen seen).
  Proof.
    split; [apply Z.le_0_1|]. intros r; split; [intros i; cbn; destruct (choose seen r); lia|].
    unfold touched, places; cbn. destruct (choose seen r); cbn; lia.
  Qed.

  (** How many records there are of the kind that is asked for. *)
  Definition how_many (seen : list Z) (D : data_set record) : Z := value record (chosen seen) D 0.

  Fixpoint counting (n : nat) (seen : list Z) : query record :=
    match n with
    | O => Stop record
    | S n' => Ask record (fun D => additive State_noise (how_many seen D)) (fun x => counting n' (x :: seen))
    end.

  Lemma how_many_moves seen D D' : add_remove record 1 D D' -> (Z.abs (how_many seen D' - how_many seen D) <= 1)%Z.
  Proof.
    assert (H : forall A B, added record 1 A B -> (0 <= how_many seen B - how_many seen A <= 1)%Z).
    { intros A B (rs & Hl & Hperm). unfold how_many. rewrite (value_permuted record (chosen seen) B (rs ++ A) 0 Hperm), value_app.
      assert (Hv := value_bounds record (chosen seen) (chosen_keeps seen) rs 0). cbn [shift chosen] in Hv. lia. }
    intros [Hadd|Hadd]; apply H in Hadd; lia.
  Qed.

  Theorem ten_chosen_counts D D' :
    add_remove record 1 D D' -> indistinguishable (answers record D (counting 10 [])) (answers record D' (counting 10 [])) 10.1254175 1e-11.
  Proof.
    apply queries_of_all_data_sets with (bs := repeat (Count (50000 / 10001) 1) 10); [|exact state_counts_private].
    assert (H : forall n seen, accounted record (add_remove record 1) (repeat (Moved State_noise 1) n) (counting n seen)); [|exact (H 10%nat [])].
    induction n as [|n IH]; intros seen; cbn [repeat counting]; constructor.
    - apply Moved_lawful, State_noise_is_law.
    - intros A; apply moved_is_law, State_noise_is_law.
    - intros A B HAB. apply count_is_accounted; [exact State_noise_is_law | exact State_noise_log_concave | | now apply how_many_moves].
      exact (gaussian_even (50000 / 10001)).
    - intros x; apply IH.
  Qed.
End Chosen.

(** ** Cell keys: the table of docs/guide/cell-keys.md *)

Definition masses (l : list (Z * R)) (x : Z) : R := lsum (fun yp => if (x =? fst yp)%Z then snd yp else 0) l.

(** No 1 is published; from 3 on the noise is -1, 0, 1. *)
Definition row (v : Z) : list (Z * R) :=
  if (v <=? 0)%Z then [(0%Z, 1)]
  else if (v =? 1)%Z then [(0%Z, 1 / 2); (2%Z, 1 / 2)]
  else if (v =? 2)%Z then [(0%Z, 1 / 6); (2%Z, 1 / 2); (3%Z, 1 / 3)]
  else [((v - 1)%Z, 1 / 4); (v, 1 / 2); ((v + 1)%Z, 1 / 4)].

Definition Keys_table (n : nat) : table nat := Table nat n (fun v => masses (row v)) (fun r i => if (r =? i)%nat then 1 else 0)%Z 1 1.

Lemma masses_nonneg l x : Forall (fun yp => 0 <= snd yp) l -> 0 <= masses l x.
Proof.
  unfold masses; induction 1 as [|yp l Hy _ IH]; cbn [lsum]; [lra|]. destruct (x =? fst yp)%Z; lra.
Qed.

Lemma masses_law l : Forall (fun yp => 0 <= snd yp) l -> NoDup (map fst l) -> lsum snd l = 1 -> is_law (masses l).
Proof.
  intros H0 Hnd H1; apply finite_law with (map fst l); [intros; now apply masses_nonneg | | exact Hnd | ].
  - intros x Hx; unfold masses; rewrite (lsum_ext_in _ (fun _ => 0)); [apply lsum_zero|].
    intros yp Hy; destruct (Z.eqb_spec x (fst yp)) as [->|]; [exfalso; apply Hx, in_map, Hy | reflexivity].
  - rewrite <- H1. clear H0 H1. unfold masses. rewrite lsum_map, lsum_swap. apply lsum_ext_in; intros yp Hy.
    assert (H : forall k : list (Z * R), NoDup (map fst k) -> lsum (fun z => if (fst z =? fst yp)%Z then snd yp else 0) k = if in_dec Z.eq_dec (fst yp) (map fst k) then snd yp else 0).
    { induction k as [|z k IH]; intros Hk; [reflexivity|]. cbn [map] in Hk; inversion Hk as [|? ? Hz Hk']; subst. cbn [lsum map]. rewrite IH by assumption.
      destruct (Z.eqb_spec (fst z) (fst yp)) as [E|E].
      - rewrite E in *. destruct (in_dec Z.eq_dec (fst yp) (map fst k)); [contradiction|]. destruct (in_dec _ _ _) as [|Hn]; [lra | exfalso; apply Hn; now left].
      - destruct (in_dec Z.eq_dec (fst yp) (map fst k)) as [Hi|Hi], (in_dec Z.eq_dec (fst yp) (fst z :: map fst k)) as [Hj|Hj]; try lra; exfalso.
        + apply Hj; now right.
        + destruct Hj as [Hj|Hj]; contradiction. }
    rewrite H by assumption. destruct (in_dec _ _ _) as [|Hn]; [reflexivity | exfalso; apply Hn, in_map, Hy].
Qed.

Lemma row_law v : is_law (masses (row v)).
Proof.
  unfold row; destruct (v <=? 0)%Z; [|destruct (v =? 1)%Z; [|destruct (v =? 2)%Z]]; apply masses_law;
    try (repeat (apply Forall_cons; [cbn; lra|]); apply Forall_nil); try (cbn; lra); cbn [map fst]; repeat constructor; cbn [In]; lia.
Qed.

(** Laws with a common part of at least 1 - d: no event distinguishes them by more than d. *)
Lemma common_part f g s d :
  is_law f -> is_law g -> NoDup s -> 1 - d <= lsum (fun x => Rmin (f x) (g x)) s -> private [Pair f g] 0 d.
Proof.
  intros Hf Hg Hs Hd.
  assert (H : forall f g, is_law f -> is_law g -> 1 - d <= lsum (fun x => Rmin (f x) (g x)) s -> delta [Pair f g] 0 <= d).
  { clear f g Hf Hg Hd; intros f g Hf Hg Hd. rewrite delta_is_advantage, exp_0. apply advantage_least; intros a. rewrite partial_gap_one; cbn [P1 Q1].
    set (l := nodup Z.eq_dec (range a ++ s)). assert (Hl : NoDup l) by apply NoDup_nodup.
    apply Rle_trans with (lsum (fun x => f x - Rmin (f x) (g x)) l).
    - apply Rle_trans with (lsum (fun x => Rmax 0 (1 * f x - 1 * g x)) l).
      + apply lsum_incl; [intros; apply Rmax_l | apply NoDup_range|]. intros x Hx; apply nodup_In, in_or_app; now left.
      + apply lsum_le; intros x. unfold Rmax, Rmin; destruct (Rle_dec _ _), (Rle_dec _ _); lra.
    - rewrite lsum_minus. assert (H1 := law_at_most_one f l Hf Hl).
      assert (H2 : lsum (fun x => Rmin (f x) (g x)) s <= lsum (fun x => Rmin (f x) (g x)) l); [|lra].
      apply lsum_incl; [intros; apply Rmin_glb; [apply Hf | apply Hg] | exact Hs|]. intros x Hx; apply nodup_In, in_or_app; now right. }
  apply private_is_two_deltas; [apply one_proper; now split|]. split; [now apply H|].
  apply (H g f Hg Hf). rewrite (lsum_ext _ (fun x => Rmin (f x) (g x))) by (intros; apply Rmin_comm). exact Hd.
Qed.

Lemma neighboring_rows v : (0 <= v)%Z -> private [Pair (masses (row v)) (masses (row (v + 1)))] 0 (1 / 2).
Proof.
  intros Hv. assert (Hcase : (v = 0 \/ v = 1 \/ v = 2 \/ 3 <= v)%Z) by lia.
  destruct Hcase as [-> | [-> | [-> | H3]]].
  - apply common_part with [0%Z]; try apply row_law; [repeat constructor; auto|]. cbn. unfold Rmin; destruct (Rle_dec _ _); lra.
  - apply common_part with [2%Z]; try apply row_law; [repeat constructor; auto|]. cbn. unfold Rmin; destruct (Rle_dec _ _); lra.
  - apply common_part with [2; 3]%Z; try apply row_law; [repeat constructor; cbn [In]; lia|]. cbn. unfold Rmin; destruct (Rle_dec _ _), (Rle_dec _ _); lra.
  - apply common_part with [v; v + 1]%Z; try apply row_law; [repeat constructor; cbn [In]; lia|].
    assert (Hrow : forall w, (3 <= w)%Z -> row w = [((w - 1)%Z, 1 / 4); (w, 1 / 2); ((w + 1)%Z, 1 / 4)]).
    { intros w Hw; unfold row. destruct (Z.leb_spec w 0); [lia|]. destruct (Z.eqb_spec w 1); [lia|]. destruct (Z.eqb_spec w 2); [lia | reflexivity]. }
    rewrite !Hrow by lia. unfold masses; cbn [lsum fst snd].
    repeat match goal with |- context [(?x =? ?y)%Z] => destruct (Z.eqb_spec x y); try lia end. unfold Rmin; destruct (Rle_dec _ _), (Rle_dec _ _); lra.
Qed.

(** Whatever the counts are, a record more or less changes the probability of no event by more than a half. *)
Theorem cell_keys_of_all_data_sets n : private_for_all nat (add_remove nat 1) [Keys_table n] 0 (1 / 2).
Proof.
  apply choices_are_private.
  - constructor; [|constructor]. intros v; apply row_law.
  - constructor; [|constructor]. split; [apply Z.le_0_1|]. intros r; split; [intros i; cbn [moves shift Keys_table]; destruct (r =? i)%nat; lia|].
    apply (NoDup_incl_length (l' := [r])); [apply NoDup_filter, seq_NoDup|]. intros i Hi; apply filter_In in Hi; destruct Hi as [_ Hi].
    cbn [moves Keys_table] in Hi. destruct (Nat.eqb_spec r i) as [->|]; [now left | discriminate].
  - intros cs Hcs; inversion Hcs as [|t cs' M ds [Hlen Hall] Hds]; subst. inversion Hds; subst. rewrite app_nil_r. clear Hcs Hds.
    cbn [most Keys_table Nat.mul Nat.add] in Hlen. destruct cs' as [|c [|c' cs']]; [ | | cbn in Hlen; lia].
    + intros E p q Hp Hq. assert (p = q) by (apply (is_lub_u (events (P []) E)); [exact Hp | exact (same_events _ _ E q (fun xs => eq_refl) Hq)]).
      rewrite exp_0; lra.
    + inversion Hall as [|? ? (v & v' & Hv & Hv' & Hd & ->) _]; subst. cbn [law shift Keys_table] in *.
      assert (E : (v' = v \/ v' = v + 1)%Z) by lia. destruct E as [-> | ->]; [|now apply neighboring_rows].
      apply private_wider with 0; [|lra].
      intros E p q Hp Hq. assert (p = q) by (apply (is_lub_u (events (P [Pair (masses (row v)) (masses (row v))]) E)); [exact Hp | exact Hq]).
      rewrite exp_0; lra.
Qed.
