(** * Guarantees: every mechanism with one is a function of a box

    Two laws are (e, d)-indistinguishable if for every event P(E) <= exp(e) Q(E) + d, and the same with P and Q exchanged. Any two such laws are those of
    an output of [Box e d], processed further without the data (Kairouz, Oh & Viswanath 2015; Murtagh & Vadhan 2016, Lemma 3.2). So in any list of
    counts one that has the guarantee can be replaced by the box, and delta does not fall: a theorem about boxes is one about all mechanisms,
    also where each is chosen after the outputs of those before it were seen. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Directions Private Response Theta Signed.
Import ListNotations.
Open Scope R_scope.

(** ** Further processing *)

(** [c] is [b], whose outputs are from -1 to 2, processed by a random map: it sends an output z to x with the probability [map z x]. *)
Record processed (b c : count) (map : Z -> Z -> R) : Prop := {
  map_nonneg : forall z x, 0 <= map z x;
  map_at_most_one : forall z l, NoDup l -> lsum (map z) l <= 1;
  same_P : forall x, P1 c x = lsum (fun z => P1 b z * map z x) [-1; 0; 1; 2]%Z;
  same_Q : forall x, Q1 c x = lsum (fun z => Q1 b z * map z x) [-1; 0; 1; 2]%Z
}.

(** The gap of outputs from -a to a, for weights of both neighbors. *)
Definition partial_gap (cs : list count) (a : nat) (p q : R) : R :=
  lsum (fun xs => Rmax 0 (p * P cs xs - q * Q cs xs)) (box (length cs) a).

(** [bs] has as many counts as [cs], and is at most as private. *)
Definition covers (bs cs : list count) : Prop :=
  length bs = length cs
  /\ forall a p q, 0 <= p -> 0 <= q -> partial_gap cs a p q <= partial_gap bs (Nat.max a 2) p q.

Lemma partial_gap_cons c cs a p q :
  partial_gap (c :: cs) a p q = lsum (fun x => partial_gap cs a (p * P1 c x) (q * Q1 c x)) (range a).
Proof.
  unfold partial_gap; cbn [length]; rewrite lsum_box_cons; apply lsum_ext; intros x; apply lsum_ext; intros xs.
  unfold P, Q; cbn [product]; now rewrite <- !Rmult_assoc.
Qed.

Lemma partial_gap_nonneg cs a p q : 0 <= partial_gap cs a p q.
Proof. apply lsum_nonneg; intros xs; apply Rmax_l. Qed.

(** The gap of a mixture is at most the mixture of gaps. *)
Lemma gap_of_mixture cs a (p q w : Z -> R) l :
  (forall z, 0 <= w z) ->
  partial_gap cs a (lsum (fun z => p z * w z) l) (lsum (fun z => q z * w z) l) <= lsum (fun z => w z * partial_gap cs a (p z) (q z)) l.
Proof.
  intros Hw; unfold partial_gap.
  rewrite (lsum_ext (fun z => w z * lsum _ _) (fun z => lsum (fun xs => w z * Rmax 0 (p z * P cs xs - q z * Q cs xs)) (box (length cs) a)) l)
    by (intros; now rewrite lsum_scale).
  rewrite lsum_swap; apply lsum_le; intros xs; apply Rmax_lub.
  - apply lsum_nonneg; intros z; apply Rmult_le_pos; [apply Hw | apply Rmax_l].
  - rewrite <- !lsum_scale_r, <- lsum_minus; apply lsum_le; intros z.
    apply Rle_trans with (w z * (p z * P cs xs - q z * Q cs xs)); [right; ring|].
    apply Rmult_le_compat_l; [apply Hw | apply Rmax_r].
Qed.

Lemma covers_nil : covers [] [].
Proof. split; [reflexivity|]; intros a p q _ _; unfold partial_gap; cbn. lra. Qed.

Lemma partial_gap_wider cs a b p q : (a <= b)%nat -> partial_gap cs a p q <= partial_gap cs b p q.
Proof.
  revert p q; induction cs as [|c cs IH]; intros p q Hab; [unfold partial_gap; cbn; lra|].
  rewrite !partial_gap_cons. apply Rle_trans with (lsum (fun x => partial_gap cs b (p * P1 c x) (q * Q1 c x)) (range a)).
  - apply lsum_le; intros x; now apply IH.
  - apply lsum_incl; [intros; apply partial_gap_nonneg | apply NoDup_range | now apply range_incl].
Qed.

(** The same count before both. *)
Lemma covers_same c bs cs : lawful c -> covers bs cs -> covers (c :: bs) (c :: cs).
Proof.
  intros [HP HQ] [Hl H]; split; [cbn; congruence|]. intros a p q Hp Hq; rewrite !partial_gap_cons.
  apply Rle_trans with (lsum (fun x => partial_gap bs (Nat.max a 2) (p * P1 c x) (q * Q1 c x)) (range a)).
  - apply lsum_le; intros x; apply H; apply Rmult_le_pos; try assumption; [apply HP | apply HQ].
  - apply lsum_incl; [intros; apply partial_gap_nonneg | apply NoDup_range | apply range_incl; lia].
Qed.

(** Before [cs] a count, and before [bs] the one of which it is a function. *)
Lemma covers_processed b c map bs cs : lawful c -> processed b c map -> covers bs cs -> covers (b :: bs) (c :: cs).
Proof.
  intros [HP HQ] [M0 M1 EP EQ] [Hl H]; split; [cbn; congruence|]. intros a p q Hp Hq; rewrite !partial_gap_cons.
  set (m := Nat.max a 2).
  apply Rle_trans with (lsum (fun x => lsum (fun z => map z x * partial_gap bs m (p * P1 b z) (q * Q1 b z)) [-1; 0; 1; 2]%Z) (range a)).
  - apply lsum_le; intros x. eapply Rle_trans; [apply H; apply Rmult_le_pos; try assumption; [apply HP | apply HQ]|]. fold m.
    rewrite EP, EQ, <- !lsum_scale.
    rewrite (lsum_ext (fun z => p * (P1 b z * map z x)) (fun z => p * P1 b z * map z x)) by (intros; ring).
    rewrite (lsum_ext (fun z => q * (Q1 b z * map z x)) (fun z => q * Q1 b z * map z x)) by (intros; ring).
    apply gap_of_mixture; intros z; apply M0.
  - rewrite lsum_swap. apply Rle_trans with (lsum (fun z => partial_gap bs m (p * P1 b z) (q * Q1 b z)) [-1; 0; 1; 2]%Z).
    + apply lsum_le; intros z. rewrite lsum_scale_r.
      apply Rle_trans with (1 * partial_gap bs m (p * P1 b z) (q * Q1 b z)); [|lra].
      apply Rmult_le_compat_r; [apply partial_gap_nonneg | apply M1, NoDup_range].
    + apply lsum_incl; [intros; apply partial_gap_nonneg | repeat constructor; cbn [In]; lia|].
      intros z Hz; apply in_range; cbn [In] in Hz; lia.
Qed.

Theorem covers_delta bs cs eps : proper bs -> covers bs cs -> delta cs eps <= delta bs eps.
Proof.
  intros Hp [Hl H]; apply total_least; intros l Hnd; revert l Hnd; apply (box_bound (length cs)).
  - intros; apply gap_nonneg.
  - intros xs Hxs; unfold gap, P, Q; rewrite !product_wrong_length by assumption. rewrite Rmult_0_r, Rminus_0_r; apply Rmax_left; lra.
  - intros a. assert (E : forall ds m, lsum (gap ds eps) (box (length ds) m) = partial_gap ds m 1 (exp eps)).
    { intros ds m; unfold partial_gap; apply lsum_ext; intros xs; unfold gap; now rewrite Rmult_1_l. }
    rewrite E. eapply Rle_trans; [apply H; [lra | left; apply exp_pos]|]. rewrite <- E.
    apply total_upper; [now apply gap_summable | apply NoDup_box].
Qed.

(** ** Two indistinguishable laws, taken apart *)

(** A function with a sum. *)
Definition has_total (f : Z -> R) (t : R) : Prop := (forall x, 0 <= f x) /\ summable f /\ total f = t.

Lemma law_has_total f : is_law f -> has_total f 1.
Proof. intros (H1 & H2 & H3); now split. Qed.

Lemma has_total_ext f g t : (forall x, f x = g x) -> has_total f t -> has_total g t.
Proof.
  intros E (H1 & [b Hb] & H3); split; [|split].
  - intros x; rewrite <- E; apply H1.
  - exists b; intros l Hl; rewrite <- (lsum_ext f g) by assumption; now apply Hb.
  - rewrite <- H3; symmetry; now apply total_ext.
Qed.

Lemma has_total_plus f g a b : has_total f a -> has_total g b -> has_total (fun x => f x + g x) (a + b).
Proof.
  intros (F1 & F2 & <-) (G1 & G2 & <-); split; [|split].
  - intros x; specialize (F1 x); specialize (G1 x); lra.
  - now apply summable_plus.
  - apply (total_plus Z.eq_dec); assumption.
Qed.

Lemma has_total_scale c f a : 0 <= c -> has_total f a -> has_total (fun x => c * f x) (c * a).
Proof.
  intros Hc (F1 & F2 & <-); split; [|split].
  - intros x; apply Rmult_le_pos; auto.
  - now apply summable_scale.
  - now apply total_scale.
Qed.

Lemma has_total_minus f g a b : (forall x, g x <= f x) -> has_total f a -> has_total g b -> has_total (fun x => f x - g x) (a - b).
Proof.
  intros Hle (F1 & F2 & <-) (G1 & G2 & <-). assert (H0 : forall x, 0 <= f x - g x) by (intros x; specialize (Hle x); lra).
  assert (S : summable (fun x => f x - g x)) by (apply summable_le with f; [intros x; specialize (G1 x); lra | assumption]).
  split; [exact H0 | split; [exact S|]].
  rewrite (total_ext f (fun x => (f x - g x) + g x)) by (intros; ring).
  rewrite (total_plus Z.eq_dec) by assumption. ring.
Qed.

Lemma has_total_at_most f t l : has_total f t -> NoDup l -> lsum f l <= t.
Proof. intros (_ & H & <-); now apply total_upper. Qed.

(** The guarantee, for finite events. *)
Definition guaranteed (c : count) (e d : R) : Prop :=
  (forall l, NoDup l -> lsum (P1 c) l <= exp e * lsum (Q1 c) l + d) /\ (forall l, NoDup l -> lsum (Q1 c) l <= exp e * lsum (P1 c) l + d).

Section Apart.
  Variables (p q : Z -> R) (E d : R).
  Hypothesis HE : 1 < E.
  Hypothesis Hd : 0 <= d < 1.
  Hypothesis Hp : is_law p.
  Hypothesis Hq : is_law q.
  Hypothesis Hpq : forall l, NoDup l -> lsum p l <= E * lsum q l + d.
  Hypothesis Hqp : forall l, NoDup l -> lsum q l <= E * lsum p l + d.

  (** The part of [f] that is at most E [g] has a sum of at least 1 - d. *)
  Let kept (f g : Z -> R) (x : Z) : R := Rmin (f x) (E * g x).

  Let kept_total f g :
    is_law f -> is_law g -> (forall l, NoDup l -> lsum f l <= E * lsum g l + d) -> exists t, has_total (kept f g) t /\ 1 - d <= t <= 1.
  Proof.
    intros Hf Hg H. destruct Hf as (F1 & F2 & F3), Hg as (G1 & _ & _).
    assert (K1 : forall x, 0 <= kept f g x) by (intros x; apply Rmin_glb; [apply F1 | apply Rmult_le_pos; [lra | apply G1]]).
    assert (K2 : summable (kept f g)) by (apply summable_le with f; [intros; apply Rmin_l | assumption]).
    exists (total (kept f g)); split; [split; [exact K1 | split; [exact K2 | reflexivity]]|].
    assert (M : has_total (fun x => f x - kept f g x) (1 - total (kept f g))).
    { apply has_total_minus; [intros; apply Rmin_l | now repeat split | now repeat split]. }
    assert (L : total (fun x => f x - kept f g x) <= d).
    { apply total_least; intros l Hl.
      set (pos := fun x => if Rle_dec (E * g x) (f x) then true else false).
      rewrite (lsum_filter_split _ pos), (lsum_ext_in _ (fun _ => 0) (filter (fun x => negb (pos x)) l)), lsum_zero, Rplus_0_r.
      2: { intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold pos in Hx. unfold kept.
           destruct (Rle_dec (E * g x) (f x)); [discriminate|]. rewrite Rmin_left; lra. }
      rewrite (lsum_ext_in _ (fun x => f x - E * g x) (filter pos l)).
      2: { intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold pos in Hx. unfold kept.
           destruct (Rle_dec (E * g x) (f x)); [|discriminate]. rewrite Rmin_right; lra. }
      rewrite lsum_minus, lsum_scale. specialize (H (filter pos l) (NoDup_filter _ Hl)). lra. }
    destruct M as (M1 & M2 & M3). rewrite M3 in L. split; [lra|].
    rewrite <- F3; apply total_le; [intros; apply Rmin_l | assumption].
  Qed.

  (** [f] moved towards g / E until its sum is [t]. *)
  Let moved (f g : Z -> R) (theta : R) (x : Z) : R := (1 - theta) * f x + theta * (g x / E).

  Let move f g tf tg :
    has_total f tf -> has_total g tg -> 0 < tg <= tf -> (forall x, g x <= E * f x) ->
    exists h, has_total h tg /\ (forall x, g x / E <= h x <= f x).
  Proof.
    intros Hf Hg Ht Hle. set (theta := (tf - tg) / (tf - tg / E)).
    assert (HgE : tg / E < tg) by (apply Rmult_lt_reg_r with E; [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; nra).
    assert (Hden : 0 < tf - tg / E) by lra.
    assert (Hth : 0 <= theta <= 1).
    { split; [apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat]|].
      apply Rmult_le_reg_r with (tf - tg / E); [assumption|]. unfold theta, Rdiv at 1; rewrite Rmult_assoc, Rinv_l by lra. lra. }
    exists (moved f g theta); split.
    - assert (Et : (1 - theta) * tf + theta * (/ E * tg) = tg).
      { assert (Eth : theta * (tf - tg / E) = tf - tg) by (unfold theta; unfold Rdiv at 1; rewrite Rmult_assoc, Rinv_l by lra; ring).
        replace ((1 - theta) * tf + theta * (/ E * tg)) with (tf - theta * (tf - tg / E)) by (unfold Rdiv; ring). rewrite Eth; ring. }
      enough (G : has_total (moved f g theta) ((1 - theta) * tf + theta * (/ E * tg))) by now rewrite Et in G.
      apply has_total_plus; [apply has_total_scale; [lra | assumption]|]. apply has_total_scale; [lra|].
      apply (has_total_ext (fun x => / E * g x)); [intros; unfold Rdiv; ring|].
      apply has_total_scale; [left; apply Rinv_0_lt_compat; lra | assumption].
    - intros x; unfold moved. assert (Hx : g x / E <= f x).
      { apply Rmult_le_reg_r with E; [lra|]. unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra. specialize (Hle x); lra. }
      split; nra.
  Qed.

  (** Parts of both laws with the sum 1 - d, of which neither is more than E times the other. *)
  Lemma common_parts :
    exists p' q', has_total p' (1 - d) /\ has_total q' (1 - d)
      /\ (forall x, p' x <= p x /\ q' x <= q x) /\ (forall x, p' x <= E * q' x /\ q' x <= E * p' x).
  Proof.
    destruct (kept_total p q Hp Hq Hpq) as (tp & Tp & Hp1). destruct (kept_total q p Hq Hp Hqp) as (tq & Tq & Hq1).
    assert (P0 : forall x, 0 <= p x) by apply Hp. assert (Q0 : forall x, 0 <= q x) by apply Hq.
    assert (square : forall y, 0 <= y -> y <= E * (E * y)) by (intros y Hy; assert (1 <= E * E) by nra; nra).
    assert (R1 : forall x, kept p q x <= E * kept q p x).
    { intros x; specialize (P0 x); specialize (Q0 x). unfold kept, Rmin.
      assert (H1 := square (p x) P0). assert (H2 := square (q x) Q0).
      destruct (Rle_dec _ _), (Rle_dec _ _); try lra; nra. }
    assert (R2 : forall x, kept q p x <= E * kept p q x).
    { intros x; specialize (P0 x); specialize (Q0 x). unfold kept, Rmin.
      assert (H1 := square (p x) P0). assert (H2 := square (q x) Q0).
      destruct (Rle_dec _ _), (Rle_dec _ _); try lra; nra. }
    (* Both with the smaller of both sums. *)
    assert (S : exists t u v, 1 - d <= t <= 1 /\ has_total u t /\ has_total v t
      /\ (forall x, u x <= kept p q x /\ v x <= kept q p x) /\ (forall x, u x <= E * v x /\ v x <= E * u x)).
    { destruct (Rle_dec tq tp) as [Hle|Hle].
      - destruct (move _ _ tp tq Tp Tq ltac:(lra) R2) as (h & Hh & Hb). exists tq, h, (kept q p).
        repeat split; try assumption; try lra; try apply Hh; try apply Tq; try (apply Hb); intros.
        + eapply Rle_trans; [apply Hb | apply R1].
        + destruct (Hb x) as [H _]. apply Rmult_le_compat_l with (r := E) in H; [|lra].
          replace (E * (kept q p x / E)) with (kept q p x) in H by (field; lra). exact H.
      - destruct (move _ _ tq tp Tq Tp ltac:(lra) R1) as (h & Hh & Hb). exists tp, (kept p q), h.
        repeat split; try assumption; try lra; try apply Hh; try apply Tp; try (apply Hb); intros.
        + destruct (Hb x) as [H _]. apply Rmult_le_compat_l with (r := E) in H; [|lra].
          replace (E * (kept p q x / E)) with (kept p q x) in H by (field; lra). exact H.
        + eapply Rle_trans; [apply Hb | apply R2]. }
    destruct S as (t & u & v & Ht & Hu & Hv & Hle & Hr). set (s := (1 - d) / t).
    assert (Hs : 0 < s <= 1).
    { split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_le_reg_r with t; [lra|]. unfold s, Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
    exists (fun x => s * u x), (fun x => s * v x).
    assert (Et : s * t = 1 - d) by (unfold s; field; lra).
    split; [rewrite <- Et; apply has_total_scale; [lra | assumption]|].
    split; [rewrite <- Et; apply has_total_scale; [lra | assumption]|]. split.
    - intros x; destruct (Hle x) as [H1 H2]. assert (U0 := proj1 Hu x). assert (V0 := proj1 Hv x).
      assert (kept p q x <= p x) by apply Rmin_l. assert (kept q p x <= q x) by apply Rmin_l. split; nra.
    - intros x; destruct (Hr x) as [H1 H2]. split; nra.
  Qed.
End Apart.

(** ** A guarantee is a box, processed *)

Lemma has_total_zero f x : has_total f 0 -> f x = 0.
Proof.
  intros H; assert (H1 := has_total_at_most f 0 [x] H ltac:(repeat constructor; intros [])). cbn in H1.
  assert (H0 := proj1 H x). lra.
Qed.

(** The map: an output that tells gives what one law alone has, an answer gives a mixture of the common parts. *)
Definition guarantee_map (A U V B : Z -> R) (z x : Z) : R :=
  if (z =? -1)%Z then A x else if (z =? 0)%Z then U x else if (z =? 1)%Z then V x else if (z =? 2)%Z then B x else 0.

Theorem guarantee_is_processed c e d :
  lawful c -> 0 < e -> 0 <= d < 1 -> guaranteed c e d -> exists map, processed (Box e d) c map.
Proof.
  intros [Hp Hq] He Hd [Hpq Hqp]. set (E := exp e). assert (HE : 1 < E) by (unfold E; rewrite <- exp_0; now apply exp_increasing).
  destruct (common_parts (P1 c) (Q1 c) E d HE Hd Hp Hq Hpq Hqp) as (p' & q' & Tp & Tq & Hle & Hr).
  set (s := / ((E - 1) * (1 - d))). assert (Hs : 0 < s) by (apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra).
  set (U := fun x => s * (E * p' x - q' x)). set (V := fun x => s * (E * q' x - p' x)).
  assert (TU : has_total U 1).
  { replace 1 with (s * (E * (1 - d) - (1 - d))) by (unfold s; field; lra).
    apply has_total_scale; [lra|]. apply has_total_minus; [intros; apply Hr | now apply has_total_scale; [lra|] | assumption]. }
  assert (TV : has_total V 1).
  { replace 1 with (s * (E * (1 - d) - (1 - d))) by (unfold s; field; lra).
    apply has_total_scale; [lra|]. apply has_total_minus; [intros; apply Hr | now apply has_total_scale; [lra|] | assumption]. }
  (* What is left of a law, in units of d. *)
  assert (Left : forall f f', is_law f -> has_total f' (1 - d) -> (forall x, f' x <= f x) ->
    exists A, has_total A 1 /\ forall x, f x = d * A x + f' x).
  { intros f f' Hf Hf' Hb. assert (T : has_total (fun x => f x - f' x) (1 - (1 - d))) by (apply has_total_minus; [assumption | now apply law_has_total | assumption]).
    destruct (Rle_lt_or_eq_dec 0 d (proj1 Hd)) as [Hpos|<-].
    - exists (fun x => / d * (f x - f' x)); split; [|intros; field; lra].
      replace 1 with (/ d * (1 - (1 - d))) by (field; lra). apply has_total_scale; [left; now apply Rinv_0_lt_compat | assumption].
    - exists f; split; [now apply law_has_total|]. intros x. replace (1 - (1 - 0)) with 0 in T by ring.
      assert (H := has_total_zero _ x T); cbn beta in H. lra. }
  destruct (Left (P1 c) p' Hp Tp ltac:(intros; apply Hle)) as (A & TA & EA).
  destruct (Left (Q1 c) q' Hq Tq ltac:(intros; apply Hle)) as (B & TB & EB).
  exists (guarantee_map A U V B). constructor.
  - intros z x; unfold guarantee_map. destruct (z =? -1)%Z; [apply TA|]. destruct (z =? 0)%Z; [apply TU|].
    destruct (z =? 1)%Z; [apply TV|]. destruct (z =? 2)%Z; [apply TB | lra].
  - intros z l Hl; unfold guarantee_map. destruct (z =? -1)%Z; [now apply (has_total_at_most A)|].
    destruct (z =? 0)%Z; [now apply (has_total_at_most U)|]. destruct (z =? 1)%Z; [now apply (has_total_at_most V)|].
    destruct (z =? 2)%Z; [now apply (has_total_at_most B)|]. rewrite lsum_zero; lra.
  - intros x; rewrite EA. cbn [lsum P1 Box]; unfold guarantee_map, response; fold E; cbn [Z.eqb Z.sub Z.add Z.opp Pos.eqb]. cbn.
    unfold U, V, s. field; lra.
  - intros x; rewrite EB. cbn [lsum Q1 Box]; unfold guarantee_map, response; fold E; cbn.
    unfold U, V, s. field; lra.
Qed.

(** ** Counts and mechanisms in any number *)

(** A guarantee with d = 0 has no outputs that tell. *)
Lemma pure_is_processed c e : lawful c -> 0 < e -> guaranteed c e 0 -> exists map, processed (Response e) c map.
Proof.
  intros Hc He Hg; destruct (guarantee_is_processed c e 0 Hc He ltac:(lra) Hg) as [map [H1 H2 H3 H4]].
  exists map; constructor; try assumption.
  - intros x; rewrite H3; apply lsum_ext; intros z; cbn [P1 Box Response]. destruct (Z.eqb_spec z (-1)) as [->|]; [unfold response; cbn|]; ring.
  - intros x; rewrite H4; apply lsum_ext; intros z; cbn [Q1 Box Response]. destruct (Z.eqb_spec z 2) as [->|]; [unfold response; cbn|]; ring.
Qed.

(** The counts, and what is accounted for in their place: themselves, or the pair of a guarantee that they have. *)
Definition stands_for (b c : count) : Prop :=
  b = c \/ exists e, 0 < e /\ ((guaranteed c e 0 /\ b = Response e) \/ exists d, 0 <= d < 1 /\ guaranteed c e d /\ b = Box e d).

Lemma stands_for_processed b c : lawful c -> stands_for b c -> b = c \/ exists map, processed b c map.
Proof.
  intros Hc [->|(e & He & [[Hg ->]|(d & Hd & Hg & ->)])]; [now left | right; now apply pure_is_processed | right; now apply guarantee_is_processed].
Qed.

Lemma stands_for_covers bs cs : proper cs -> Forall2 stands_for bs cs -> covers bs cs.
Proof.
  intros Hp H; induction H as [|b c bs cs Hb _ IH]; [apply covers_nil|]. inversion Hp; subst.
  destruct (stands_for_processed b c) as [->|[map Hmap]]; try assumption; [now apply covers_same; [|apply IH]|].
  now apply (covers_processed _ _ map); [| |apply IH].
Qed.

Lemma stands_for_proper bs cs : proper cs -> Forall2 stands_for bs cs -> proper bs.
Proof.
  intros Hp H; induction H as [|b c bs cs Hb _ IH]; [constructor|]. inversion Hp; subst.
  constructor; [|now apply IH].
  destruct Hb as [->|(e & He & [[Hg ->]|(d & Hd & Hg & ->)])]; [assumption | apply Response_lawful | apply Box_lawful; lra].
Qed.

(** Both neighbors exchanged. *)
Definition swapped (c : count) : count := Pair (Q1 c) (P1 c).

Lemma P_swapped cs xs : P (map swapped cs) xs = Q cs xs.
Proof. unfold P, Q; revert xs; induction cs as [|c cs IH]; intros [|x xs]; cbn [map product]; try reflexivity. now rewrite IH. Qed.

Lemma Q_swapped cs xs : Q (map swapped cs) xs = P cs xs.
Proof. unfold P, Q; revert xs; induction cs as [|c cs IH]; intros [|x xs]; cbn [map product]; try reflexivity. now rewrite IH. Qed.

Lemma swapped_proper cs : proper cs -> proper (map swapped cs).
Proof. intros H; apply Forall_map; eapply Forall_impl; [|exact H]. intros c [HP HQ]; now split. Qed.

Lemma processed_swapped b c f : processed b c f -> processed (swapped b) (swapped c) f.
Proof. intros [H1 H2 H3 H4]; now constructor. Qed.

Lemma stands_for_covers_swapped bs cs : proper cs -> Forall2 stands_for bs cs -> covers (map swapped bs) (map swapped cs).
Proof.
  intros Hp H; induction H as [|b c bs cs Hb _ IH]; [apply covers_nil|]. inversion Hp as [|? ? [HP HQ] Hcs]; subst. cbn [map].
  destruct (stands_for_processed b c) as [->|[f Hf]]; try assumption; [now split | apply covers_same; [now split | now apply IH]|].
  apply (covers_processed _ _ f); [now split | now apply processed_swapped | now apply IH].
Qed.

(** What is proven of boxes and counts is true of all mechanisms with these guarantees in place of the boxes. *)
Theorem guarantees_compose bs cs eps d :
  proper cs -> symmetric bs -> Forall2 stands_for bs cs -> private bs eps d -> private cs eps d.
Proof.
  intros Hp Hsym H Hd. assert (Hb := stands_for_proper bs cs Hp H).
  apply private_means_delta in Hd; [|assumption].
  assert (D1 : delta cs eps <= d) by (eapply Rle_trans; [apply (covers_delta bs) | exact Hd]; [assumption | now apply stands_for_covers]).
  assert (D2 : delta (map swapped cs) eps <= d).
  { eapply Rle_trans; [apply (covers_delta (map swapped bs)); [now apply swapped_proper | now apply stands_for_covers_swapped]|].
    rewrite <- (delta_is_symmetric bs eps Hb Hsym) in Hd. eapply Rle_trans; [|exact Hd]. right.
    unfold delta, delta_exchanged; apply total_ext; intros xs. unfold gap; now rewrite P_swapped, Q_swapped. }
  assert (Hev : forall f g : list Z -> R, (forall xs, f xs = g xs) -> forall E v, is_lub (events f E) v -> is_lub (events g E) v).
  { intros f g Hfg E v [L1 L2]; split.
    - intros x (l & Hl & HE & ->); apply L1; exists l; split; [assumption | split; [assumption|]]. symmetry; now apply lsum_ext.
    - intros x Hx; apply L2; intros y (l & Hl & HE & ->). apply Hx; exists l; split; [assumption | split; [assumption|]]. now apply lsum_ext. }
  intros E p q Ep Eq; split.
  - assert (G := delta_is_enough cs eps E p q Hp Ep Eq); lra.
  - assert (G := delta_is_enough (map swapped cs) eps E q p (swapped_proper cs Hp)
      (Hev _ _ (fun xs => eq_sym (P_swapped cs xs)) E q Eq) (Hev _ _ (fun xs => eq_sym (Q_swapped cs xs)) E p Ep)). lra.
Qed.

(** A mechanism that is (e, d)-DP has the guarantee. *)
Lemma private_is_guaranteed c e d : lawful c -> private [c] e d -> guaranteed c e d.
Proof.
  intros Hc H. assert (Hone : proper [c]) by (constructor; [exact Hc | constructor]).
  assert (S : forall law : count -> Z -> R, forall l, lsum (product law [c]) (map (fun x => [x]) l) = lsum (law c) l).
  { intros law l; rewrite lsum_map; apply lsum_ext; intros x; cbn; ring. }
  assert (N : forall l, NoDup l -> NoDup (map (fun x : Z => [x]) l)).
  { intros l Hl; apply FinFun.Injective_map_NoDup; [intros x y E; now injection E | assumption]. }
  split; intros l Hl; destruct (H (fun x => In x (map (fun x => [x]) l)) (lsum (P [c]) (map (fun x => [x]) l)) (lsum (Q [c]) (map (fun x => [x]) l))) as [H1 H2];
    try (apply finite_event; [intros x; first [apply P_nonneg | apply Q_nonneg]; exact Hone | now apply N]);
    unfold P, Q in *; rewrite !S in *; assumption.
Qed.

(** ** Mechanisms that are chosen after outputs were seen *)

(** One count, and for each of its outputs what is asked next. *)
Inductive adaptive := Done | Then (c : count) (next : Z -> adaptive).

(** The law of all outputs of one neighbor. *)
Fixpoint path_law (law : count -> Z -> R) (m : adaptive) (xs : list Z) : R :=
  match m, xs with
  | Done, [] => 1
  | Then c next, x :: xs' => law c x * path_law law (next x) xs'
  | _, _ => 0
  end.

(** Whatever the outputs are, the counts are those that the list stands for, in this order. *)
Inductive allowed : list count -> adaptive -> Prop :=
  | allowed_done : allowed [] Done
  | allowed_then b bs c next : lawful c -> stands_for b c -> (forall x, allowed bs (next x)) -> allowed (b :: bs) (Then c next).

Definition path_gap (n : nat) (m : adaptive) (a : nat) (p q : R) : R :=
  lsum (fun xs => Rmax 0 (p * path_law P1 m xs - q * path_law Q1 m xs)) (box n a).

Lemma path_gap_then n c next a p q :
  path_gap (S n) (Then c next) a p q = lsum (fun x => path_gap n (next x) a (p * P1 c x) (q * Q1 c x)) (range a).
Proof.
  unfold path_gap; rewrite lsum_box_cons; apply lsum_ext; intros x; apply lsum_ext; intros xs. cbn [path_law].
  now rewrite <- !Rmult_assoc.
Qed.

(** The same, for either order of the neighbors. *)
Definition replaces (b c : count) : Prop := b = c \/ exists map, processed b c map.

Inductive follows : list count -> adaptive -> Prop :=
  | follows_done : follows [] Done
  | follows_then b bs c next : lawful b -> lawful c -> replaces b c -> (forall x, follows bs (next x)) -> follows (b :: bs) (Then c next).

Lemma allowed_follows bs m : allowed bs m -> follows bs m.
Proof.
  intros H; induction H as [|b bs c next Hc Hb _ IH]; constructor; try assumption.
  - assert (Hp : proper [b]) by (apply (stands_for_proper [b] [c]); repeat (constructor; try assumption)). now inversion Hp.
  - now apply stands_for_processed.
Qed.

Fixpoint swapped_paths (m : adaptive) : adaptive :=
  match m with Done => Done | Then c next => Then (swapped c) (fun x => swapped_paths (next x)) end.

Lemma follows_swapped bs m : follows bs m -> follows (map swapped bs) (swapped_paths m).
Proof.
  intros H; induction H as [|b bs c next [B1 B2] [C1 C2] Hr _ IH]; cbn [map swapped_paths]; constructor; try (now split); try assumption.
  destruct Hr as [->|[f Hf]]; [now left | right; exists f; now apply processed_swapped].
Qed.

Lemma follows_wrong_length law bs m xs : follows bs m -> length xs <> length bs -> path_law law m xs = 0.
Proof.
  intros H; revert xs; induction H as [|b bs c next _ _ _ _ IH]; intros [|x xs] Hl; cbn in *; try reflexivity; [lia|].
  rewrite IH by lia; ring.
Qed.

Lemma swapped_path_law m xs : path_law P1 (swapped_paths m) xs = path_law Q1 m xs /\ path_law Q1 (swapped_paths m) xs = path_law P1 m xs.
Proof.
  revert xs; induction m as [|c next IH]; intros [|x xs]; cbn [path_law swapped_paths]; try (split; reflexivity).
  destruct (IH x xs) as [-> ->]; split; reflexivity.
Qed.

Lemma follows_proper bs m : follows bs m -> proper bs.
Proof. intros H; induction H as [|b bs c next Hb _ _ _ IH]; constructor; [assumption | exact (IH 0%Z)]. Qed.

Lemma gap_at_most bs m a p q :
  follows bs m -> 0 <= p -> 0 <= q -> path_gap (length bs) m a p q <= partial_gap bs (Nat.max a 2) p q.
Proof.
  intros H; revert p q; induction H as [|b bs c next Hb Hc Hr _ IH]; intros p q Hp Hq.
  { unfold path_gap, partial_gap; cbn; lra. }
  cbn [length]; rewrite path_gap_then. apply Rle_trans with (partial_gap (c :: bs) (Nat.max a 2) p q).
  - rewrite partial_gap_cons. apply Rle_trans with (lsum (fun x => partial_gap bs (Nat.max a 2) (p * P1 c x) (q * Q1 c x)) (range a)).
    + apply lsum_le; intros x; apply IH; apply Rmult_le_pos; try assumption; apply Hc.
    + apply lsum_incl; [intros; apply partial_gap_nonneg | apply NoDup_range | apply range_incl; lia].
  - destruct Hr as [->|[f Hf]]; [lra|].
    assert (Hcov : covers (b :: bs) (c :: bs)).
    { apply (covers_processed b c f); try assumption. split; [reflexivity|]. intros; apply partial_gap_wider; lia. }
    eapply Rle_trans; [now apply Hcov|]. apply partial_gap_wider; lia.
Qed.

(** No finite event distinguishes the neighbors better than delta of the list allows. *)
Lemma path_events bs m eps l :
  follows bs m -> NoDup l -> lsum (path_law P1 m) l <= exp eps * lsum (path_law Q1 m) l + delta bs eps.
Proof.
  intros H Hl. set (g := fun xs => Rmax 0 (1 * path_law P1 m xs - exp eps * path_law Q1 m xs)).
  assert (G : lsum g l <= delta bs eps).
  { revert l Hl; apply (box_bound (length bs)); unfold g.
    - intros; apply Rmax_l.
    - intros xs Hxs; rewrite !(follows_wrong_length _ bs) by assumption. apply Rmax_left; lra.
    - intros a. eapply Rle_trans; [apply (gap_at_most bs m a 1 (exp eps) H); [lra | left; apply exp_pos]|].
      unfold partial_gap; rewrite (lsum_ext _ (gap bs eps)) by (intros xs; unfold gap; now rewrite Rmult_1_l).
      apply total_upper; [apply gap_summable; now apply (follows_proper bs m) | apply NoDup_box]. }
  apply Rle_trans with (exp eps * lsum (path_law Q1 m) l + lsum g l); [|lra].
  rewrite <- lsum_scale, <- lsum_plus; apply lsum_le; intros xs; unfold g.
  generalize (Rmax_r 0 (1 * path_law P1 m xs - exp eps * path_law Q1 m xs)); lra.
Qed.

(** [private], for any two laws of outputs. *)
Definition indistinguishable (p q : list Z -> R) (eps d : R) : Prop :=
  forall E a b, is_lub (events p E) a -> is_lub (events q E) b -> a <= exp eps * b + d /\ b <= exp eps * a + d.

(** The same with mechanisms that are chosen after earlier outputs were seen. *)
Theorem adaptive_guarantees_compose bs m eps d :
  symmetric bs -> allowed bs m -> private bs eps d -> indistinguishable (path_law P1 m) (path_law Q1 m) eps d.
Proof.
  intros Hsym Hm Hd. apply allowed_follows in Hm. assert (Hb := follows_proper bs m Hm).
  apply private_means_delta in Hd; [|assumption].
  assert (Hs : delta (map swapped bs) eps <= d).
  { rewrite <- (delta_is_symmetric bs eps Hb Hsym) in Hd. eapply Rle_trans; [|exact Hd]. right.
    unfold delta, delta_exchanged; apply total_ext; intros xs. unfold gap; now rewrite P_swapped, Q_swapped. }
  assert (Hexp := exp_pos eps). intros E a b Ha Hb'; split.
  - apply Ha; intros v (l & Hl & HE & ->). assert (H := path_events bs m eps l Hm Hl).
    assert (lsum (path_law Q1 m) l <= b) by (apply Hb'; exists l; auto).
    assert (exp eps * lsum (path_law Q1 m) l <= exp eps * b) by (apply Rmult_le_compat_l; lra). lra.
  - apply Hb'; intros v (l & Hl & HE & ->). assert (H := path_events _ _ eps l (follows_swapped _ _ Hm) Hl).
    rewrite (lsum_ext (path_law P1 (swapped_paths m)) (path_law Q1 m)), (lsum_ext (path_law Q1 (swapped_paths m)) (path_law P1 m)) in H
      by (intros xs; apply swapped_path_law).
    assert (lsum (path_law P1 m) l <= a) by (apply Ha; exists l; auto).
    assert (exp eps * lsum (path_law P1 m) l <= exp eps * a) by (apply Rmult_le_compat_l; lra). lra.
Qed.
