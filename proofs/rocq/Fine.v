(** * Compositions whose losses are on no lattice, or on one too fine

    Upper ends: the walk adds up the split counts of Cells.v. Lower ends: the output's losses, each rounded to the nearest point of a
    coarse lattice, add up to an index, and a test of the index is one of the outputs: delta(eps) is at least the probability that it
    rejects under P, less e^eps times that under Q. One walk bounds the first from below, another the second from above. The test is
    near a threshold test: it rejects an index k with the probability 1 - exp(- spacing (k - threshold)), for a large spacing. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Uint63.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Directions Private Cells Walk Tables Fixed Rows.
From DpAssay Require Import Certificate Laws CellTables AnyLaw Soundness Below.
Import ListNotations.

Opaque exp_up exp_down exp_down_signed exp_up_signed.

(** ** The computation *)

Open Scope bool_scope.
Open Scope Z_scope.

(** The same counts, seen from either neighbor. *)
Definition faces (g g' : group) : bool :=
  match law g, law g' with
  | Cell Near num den hn hd _ _ _, Cell Far num' den' hn' hd' _ _ _ =>
    (num =? num') && (den =? den') && (hn =? hn') && (hd =? hd') && (move g =? move g') && Nat.eqb (copies g) (copies g')
  | _, _ => false
  end.

Fixpoint all_face (gs gs' : list group) : bool :=
  match gs, gs' with
  | [], [] => true
  | g :: rest, g' :: rest' => faces g g' && all_face rest rest'
  | _, _ => false
  end.

(** delta(eps) > dn / dd by the test of [one] and [other]. *)
Definition test_proves (one other : certificate) (before : nat) (ds : list Z) (eps_n eps_d dn dd : Z) : bool :=
  sums_above one before ds && sums_at_most other && all_face (groups one) (groups other)
  && (h_num one =? h_num other) && (h_den one =? h_den other) && (eps_num one =? eps_num other) && (eps_den one =? eps_den other)
  && (0 <? eps_d) && (0 <? dd) && (0 <=? delta_num other)
  && match exp_up_signed (prec one) (squarings one) (- eps_n) eps_d with
     | Some x => dn * two_to (prec one) * delta_den one * delta_den other
                 <=? (delta_num one * two_to (prec one) * delta_den other - x * delta_num other * delta_den one) * dd
     | None => false
     end.

(** ** It is true *)

Open Scope R_scope.

Definition opposite (cm cm' : count * reading) : Prop :=
  (forall x, P1 (fst cm') x = Q1 (fst cm) x)
  /\ (forall x, (step (snd cm') * place (snd cm') x = step (snd cm) * place (snd cm) x)%Z).

Lemma opposite_P cms cms' xs : Forall2 opposite cms cms' -> P (counts cms') xs = Q (counts cms) xs.
Proof.
  intros H; unfold P, Q, counts; revert xs; induction H as [|cm cm' cms cms' [H1 _] _ IH]; intros [|x xs]; cbn [map product]; try reflexivity.
  now rewrite H1, IH.
Qed.

Lemma opposite_index cms cms' xs : Forall2 opposite cms cms' -> index cms' xs = index cms xs.
Proof.
  intros H; revert xs; induction H as [|[c v] [c' v'] cms cms' [_ H2] _ IH]; intros [|x xs]; cbn [index]; try reflexivity.
  specialize (H2 x); cbn [snd] in H2. now rewrite H2, IH.
Qed.

Lemma Forall2_repeat {A B} (R : A -> B -> Prop) a b n : R a b -> Forall2 R (repeat a n) (repeat b n).
Proof. intros H; induction n; cbn; constructor; assumption. Qed.

Lemma faces_facts g g' :
  faces g g' = true ->
  carrier_of g = count_of g /\ copies g = copies g' /\ base_steps g = 0%Z /\ base_steps g' = 0%Z
  /\ forall k k', opposite (term_of k g) (term_of k' g').
Proof.
  unfold faces, term_of, carrier_of, count_of, noisy, reading_of, base_steps.
  destruct (law g) as [| | | |[ | | ] num den hn hd nk xa xn]; try discriminate.
  destruct (law g') as [| | | |[ | | ] num' den' hn' hd' nk' xa' xn']; try discriminate.
  rewrite !Bool.andb_true_iff, !Z.eqb_eq, Nat.eqb_eq. intros [[[[[<- <-] <-] <-] Hm] Hc].
  repeat split; try assumption; cbn [P1 Q1 fst snd Count step place cell_place]; now rewrite ?Hm.
Qed.

Lemma all_face_facts gs gs' k k' :
  all_face gs gs' = true ->
  carriers gs = composition gs
  /\ Forall2 opposite (stepped k gs) (stepped k' gs')
  /\ zsum (map (fun g => Z.of_nat (copies g) * base_steps g)%Z gs) = 0%Z
  /\ zsum (map (fun g => Z.of_nat (copies g) * base_steps g)%Z gs') = 0%Z.
Proof.
  revert gs'; induction gs as [|g gs IH]; intros [|g' gs']; cbn [all_face]; try discriminate.
  - intros _; repeat split; constructor.
  - intros H; apply andb_prop in H; destruct H as [Hg Hgs]. destruct (IH _ Hgs) as (H1 & H2 & H3 & H4).
    destruct (faces_facts g g' Hg) as (F1 & F2 & F3 & F4 & F5).
    split; [|split; [|split]].
    + cbn [carriers composition flat_map]; fold (carriers gs) (composition gs). now rewrite H1, F1.
    + cbn [stepped flat_map]; fold (stepped k gs) (stepped k' gs'). rewrite <- F2.
      apply Forall2_app; [apply Forall2_repeat, F5 | exact H2].
    + cbn [map]; change (zsum (?x :: ?l)) with (x + zsum l)%Z. rewrite H3, F3; lia.
    + cbn [map]; change (zsum (?x :: ?l)) with (x + zsum l)%Z. rewrite H4, F4; lia.
Qed.

Theorem test_proves_is_true one other before ds eps_n eps_d dn dd :
  test_proves one other before ds eps_n eps_d dn dd = true ->
  proper (composition (groups one)) /\ IZR dn / IZR dd < delta (composition (groups one)) (IZR eps_n / IZR eps_d).
Proof.
  unfold test_proves; rewrite !Bool.andb_true_iff, !Z.eqb_eq, !Z.ltb_lt, Z.leb_le.
  intros ((((((((((Hone & Hother) & Hface) & E1) & E2) & E3) & E4) & Hed) & Hdd) & Hn) & Hx).
  destruct (exp_up_signed _ _ _ _) as [x|] eqn:EX; [|discriminate]. apply Z.leb_le in Hx.
  assert (Hd1 := sums_above_positive _ _ _ Hone). assert (Hd2 := sums_at_most_positive _ Hother).
  destruct (sums_above_is_true one before ds Hone) as [Hok1 [A Hvalue1]]. specialize (Hvalue1 A (le_n A)).
  destruct (sums_at_most_is_true other Hother) as [Hok2 Hvalue2]. specialize (Hvalue2 A).
  destruct (all_face_facts _ _ one other Hface) as (Hc & Hopp & Z1 & Z2).
  assert (Hproper : proper (composition (groups one))) by now apply (composition_proper one).
  split; [assumption|].
  assert (O1 : offset (stepped one (groups one)) = 0) by (rewrite (stepped_offset one Hd1) by assumption; rewrite Z1; unfold Rdiv; ring).
  assert (O2 : offset (stepped other (groups other)) = 0) by (rewrite (stepped_offset other Hd2) by assumption; rewrite Z2; unfold Rdiv; ring).
  rewrite O1 in Hvalue1; rewrite O2 in Hvalue2.
  replace (spacing other) with (spacing one) in Hvalue2 by (unfold spacing; now rewrite E1, E2).
  replace (epsilon other) with (epsilon one) in Hvalue2 by (unfold epsilon; now rewrite E3, E4).
  set (g := gain (spacing one) (epsilon one) 0) in *.
  rewrite <- box_sum_is_value in Hvalue1, Hvalue2.
  assert (Hlen : length (stepped other (groups other)) = length (stepped one (groups one))) by (symmetry; clear -Hopp; induction Hopp; cbn; congruence).
  rewrite Hlen in Hvalue2. set (n := length (stepped one (groups one))) in *.
  rewrite (lsum_ext _ (fun xs => Q (counts (stepped one (groups one))) xs * g (0 + index (stepped one (groups one)) xs)%Z)) in Hvalue2
    by (intros xs; now rewrite (opposite_P _ _ xs Hopp), (opposite_index _ _ xs Hopp)).
  rewrite counts_of_steps, Hc in Hvalue1, Hvalue2.
  assert (Htest := test_bounds_delta (composition (groups one)) (IZR eps_n / IZR eps_d)
    (fun xs => g (0 + index (stepped one (groups one)) xs)%Z) (box n A) Hproper (NoDup_box n A)
    ltac:(intros; split; [apply gain_nonneg | apply gain_at_most_one])).
  eapply Rlt_le_trans; [|exact Htest]. clear Htest.
  set (p := lsum _ (box n A)) in *. set (q := lsum (fun xs => Q _ xs * _) (box n A)) in *.
  assert (HX : above (prec one) (exp (IZR eps_n / IZR eps_d)) x).
  { replace (IZR eps_n / IZR eps_d) with (- (IZR (- eps_n) / IZR eps_d)) by (rewrite opp_IZR; apply IZR_lt in Hed; field; lra).
    now apply (exp_up_signed_bound _ _ _ _ _ Hed EX). }
  unfold above in HX. set (X := exp _) in *. assert (H0 : 0 < X) by apply exp_pos.
  assert (Hu := IZR_two_to_pos (prec one)). set (u := IZR (two_to (prec one))) in *.
  destruct (positive_numbers one Hd1) as (_ & _ & _ & _ & _ & P1%IZR_lt & _).
  destruct (positive_numbers other Hd2) as (_ & _ & _ & _ & _ & P2%IZR_lt & _).
  unfold claimed_delta in *. apply IZR_lt in Hdd. apply IZR_le in Hn.
  apply IZR_le in Hx; rewrite !mult_IZR, minus_IZR, !mult_IZR in Hx; fold u in Hx.
  set (a1 := IZR (delta_num one)) in *. set (b1 := IZR (delta_den one)) in *.
  set (a2 := IZR (delta_num other)) in *. set (b2 := IZR (delta_den other)) in *.
  assert (Hq : X * q <= IZR x / u * (a2 / b2)).
  { apply Rle_trans with (X * (a2 / b2)); [apply Rmult_le_compat_l; lra|]. apply Rmult_le_compat_r.
    - apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat].
    - now apply le_div_iff. }
  apply Rle_lt_trans with (a1 / b1 - IZR x / u * (a2 / b2)); [|lra].
  apply div_le_iff; [assumption|].
  replace ((a1 / b1 - IZR x / u * (a2 / b2)) * IZR dd) with ((a1 * u * b2 - IZR x * a2 * b1) * IZR dd / (u * b1 * b2)) by (field; lra).
  apply le_div_iff; [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption|]. lra.
Qed.

(** ** The claims of files *)

(** delta at an eps: both ends. *)
Theorem delta_is_between above one other before ds cs eps_n eps_d dn dd eps b d :
  certified above = true -> test_proves one other before ds eps_n eps_d dn dd = true ->
  composition (groups above) = cs -> composition (groups one) = cs ->
  claimed_eps above = eps -> IZR eps_n / IZR eps_d = eps -> claimed_delta above = d -> IZR dn / IZR dd = b ->
  b < delta cs eps <= d.
Proof.
  intros Ha Hb <- E <- Ee <- <-. apply certified_is_true in Ha; apply test_proves_is_true in Hb. rewrite E, Ee in Hb. tauto.
Qed.

(** Noise that is enough for an eps at a delta, and other noise that is not. *)
Theorem noise_is_enough above one other before ds cs cs' eps_n eps_d dn dd eps d :
  certified above = true -> test_proves one other before ds eps_n eps_d dn dd = true ->
  composition (groups above) = cs -> composition (groups one) = cs' ->
  claimed_eps above = eps -> IZR eps_n / IZR eps_d = eps -> claimed_delta above = d -> IZR dn / IZR dd = d ->
  private cs eps d /\ ~ private cs' eps d.
Proof.
  intros Ha Hb <- <- <- Ee <- Ed. apply certified_is_true in Ha; apply test_proves_is_true in Hb. rewrite Ee, Ed in Hb.
  destruct Ha as [Pa Da], Hb as [Pb Db]. split.
  - apply delta_means_private; [assumption | apply composition_symmetric | assumption].
  - now apply not_private.
Qed.

Theorem epsilon_is_between above one other before ds cs eps_n eps_d dn dd d a b :
  certified above = true -> test_proves one other before ds eps_n eps_d dn dd = true ->
  composition (groups above) = cs -> composition (groups one) = cs ->
  IZR eps_n / IZR eps_d = a -> claimed_eps above = b -> claimed_delta above = d -> IZR dn / IZR dd = d ->
  (0 <=? eps_n)%Z = true -> (0 <? eps_d)%Z = true -> (0 <=? eps_num above)%Z = true ->
  smallest_epsilon cs d a b.
Proof.
  intros Ha Hb <- E <- <- <- Ed H0 Hd H1.
  apply (claimed_eps_nonneg _ (certified_positive _ Ha)) in H1.
  apply certified_is_true in Ha; apply test_proves_is_true in Hb. rewrite E, Ed in Hb.
  apply Z.leb_le, IZR_le in H0; apply Z.ltb_lt, IZR_lt in Hd.
  assert (0 <= IZR eps_n / IZR eps_d) by (apply Rmult_le_pos; [assumption | left; now apply Rinv_0_lt_compat]).
  apply smallest_epsilon_is_between; try tauto. apply composition_symmetric.
Qed.
