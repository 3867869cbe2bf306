(** * Infinite losses: outputs that only one neighbor can have

    A count may have outputs that are impossible under the other neighbor. Given that no output is one of these, it is another count, whose losses
    are finite. With K the probability that all losses of a composition are finite,

        delta(eps) = 1 - K (1 - delta0(eps)),

    where delta0 is the profile of the counts with finite losses: (O) of proofs/README.md, for lists of counts. Certificates are about delta0. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Directions Private Walk Tables Response Bounded Theta Outcomes.
From DpAssay Require Import Fixed Certificate Laws BoundedTables AnyLaw Soundness Below.
Import ListNotations.
Open Scope R_scope.

Opaque exp_up exp_down.

(** ** Lists of counts *)

(** [c] has an infinite loss with probability [i], else it is [c0]. *)
Definition beside (i : R) (c c0 : count) : Prop :=
  exists common, infinite_beside i common (P1 c) (Q1 c) (P1 c0) (Q1 c0).

(** [kept]: the probability that all losses are finite. *)
Inductive besides : R -> list count -> list count -> Prop :=
  | no_count : besides 1 [] []
  | one_more i c c0 kept cs cs0 : beside i c c0 -> besides kept cs cs0 -> besides ((1 - i) * kept) (c :: cs) (c0 :: cs0).

Lemma beside_lawful i c c0 : beside i c c0 -> lawful c /\ lawful c0.
Proof. intros [common [_ H1 H2 H3 H4 _ _ _]]; repeat split; first [apply H1 | apply H2 | apply H3 | apply H4]. Qed.

Lemma besides_proper kept cs cs0 : besides kept cs cs0 -> proper cs /\ proper cs0.
Proof.
  intros H; induction H as [|i c c0 kept cs cs0 Hc _ [IH IH0]]; [split; constructor|].
  destruct (beside_lawful _ _ _ Hc). split; constructor; assumption.
Qed.

Lemma besides_kept kept cs cs0 : besides kept cs cs0 -> 0 <= kept <= 1.
Proof.
  intros H; induction H as [|i c c0 kept cs cs0 [common [Hi _ _ _ _ _ _ _]] _ IH]; [lra|].
  split; [apply Rmult_le_pos; lra|]. apply Rle_trans with (1 * 1); [apply Rmult_le_compat; lra | lra].
Qed.

Lemma besides_app kept kept' cs cs0 cs' cs0' :
  besides kept cs cs0 -> besides kept' cs' cs0' -> besides (kept * kept') (cs ++ cs') (cs0 ++ cs0').
Proof.
  intros H H'; induction H as [|i c c0 kept cs cs0 Hc _ IH]; cbn [app]; [now rewrite Rmult_1_l|].
  rewrite Rmult_assoc; now constructor.
Qed.

Lemma besides_repeat i c c0 n : beside i c c0 -> besides ((1 - i) ^ n) (repeat c n) (repeat c0 n).
Proof. intros H; induction n as [|n IH]; cbn [repeat pow]; now constructor. Qed.

(** A count whose losses are finite. *)
Lemma beside_itself c : lawful c -> beside 0 c c.
Proof.
  intros [HP HQ]; exists (fun _ => true); constructor; try assumption; try discriminate; try lra.
  intros x _; split; ring.
Qed.

Lemma P_distribution cs : proper cs -> distribution (P cs).
Proof.
  intros H; split; [intros; now apply P_nonneg | split; [|now apply P_sums_to_one]].
  exists 1; intros; now apply P_at_most_one.
Qed.

Lemma Q_distribution cs : proper cs -> distribution (Q cs).
Proof.
  intros H. set (cs' := map (fun c => Pair (Q1 c) (P1 c)) cs).
  assert (H' : proper cs') by (apply Forall_map; eapply Forall_impl; [|exact H]; intros c [HP HQ]; split; assumption).
  assert (E : forall xs, P cs' xs = Q cs xs).
  { unfold cs', P, Q. clear. induction cs as [|c cs IH]; intros [|x xs]; cbn [map product]; try reflexivity. now rewrite IH. }
  destruct (P_distribution cs' H') as (H1 & H2 & H3). split; [|split].
  - intros xs; rewrite <- E; apply H1.
  - apply summable_le with (2 := H2); intros xs; rewrite E; lra.
  - rewrite <- H3; apply total_ext; intros xs; symmetry; apply E.
Qed.

(** The laws of all outputs. *)
Lemma besides_all kept cs cs0 :
  besides kept cs cs0 -> exists common, infinite_beside (1 - kept) common (P cs) (Q cs) (P cs0) (Q cs0).
Proof.
  intros H; assert (Hp := besides_proper _ _ _ H); assert (Hk := besides_kept _ _ _ H).
  assert (G : exists common : list Z -> bool,
    (forall xs, common xs = false -> P cs0 xs = 0 /\ Q cs0 xs = 0)
    /\ (forall xs, common xs = true -> P cs xs = kept * P cs0 xs /\ Q cs xs = kept * Q cs0 xs)
    /\ (forall xs, common xs = false -> P cs xs = 0 \/ Q cs xs = 0)).
  { clear Hp Hk; induction H as [|i c c0 kept cs cs0 [f [_ _ _ _ _ F1 F2 F3]] _ (com & C1 & C2 & C3)].
    - exists (fun xs => match xs with [] => true | _ => false end).
      split; [|split]; intros [|x xs] E; try discriminate; cbn; try (split; ring); split || left; reflexivity.
    - exists (fun xs => match xs with [] => false | x :: xs' => andb (f x) (com xs') end).
      split; [|split]; intros [|x xs] E; try discriminate; unfold P, Q in *; cbn [product].
      + split; reflexivity.
      + apply Bool.andb_false_iff in E; destruct E as [E|E].
        * destruct (F1 x E) as [-> ->]; split; ring.
        * destruct (C1 xs E) as [-> ->]; split; ring.
      + apply Bool.andb_true_iff in E; destruct E as [E1 E2]. destruct (F2 x E1) as [-> ->], (C2 xs E2) as [-> ->]. split; ring.
      + left; reflexivity.
      + apply Bool.andb_false_iff in E; destruct E as [E|E].
        * destruct (F3 x E) as [-> | ->]; [left | right]; ring.
        * destruct (C3 xs E) as [-> | ->]; [left | right]; ring. }
  destruct G as (common & C1 & C2 & C3); exists common. replace kept with (1 - (1 - kept)) in C2 by ring.
  constructor; try assumption; try lra; first [now apply P_distribution | now apply Q_distribution].
Qed.

Theorem delta_with_infinite_losses kept cs cs0 eps :
  besides kept cs cs0 -> delta cs eps = 1 - kept * (1 - delta cs0 eps).
Proof.
  intros H; destruct (besides_all _ _ _ H) as [common Hc]. rewrite !delta_is_profile.
  rewrite (infinite_losses (list_eq_dec Z.eq_dec) _ _ _ _ _ _ eps Hc). ring.
Qed.

(** ** A guarantee with a delta *)

Theorem box_beside e d : 0 <= d <= 1 -> beside d (Box e d) (Response e).
Proof.
  intros Hd; destruct (Box_lawful e d Hd) as [B1 B2]; destruct (Response_lawful e) as [R1 R2].
  exists (fun x => andb (0 <=? x) (x <=? 1))%Z; constructor; try assumption; cbn [P1 Q1 Box Response];
    intros x Hx; try apply Bool.andb_false_iff in Hx; try apply Bool.andb_true_iff in Hx.
  - rewrite !response_outside by (auto; cbn [In]; lia). now split.
  - destruct (Z.eqb_spec x (-1)); [lia|]. destruct (Z.eqb_spec x 2); [lia|]. now split.
  - destruct (Z.eqb_spec x (-1)) as [->|]; [right|left].
    + destruct (Z.eqb_spec (-1) 2); [lia|]. rewrite response_outside; [ring | auto | cbn [In]; lia].
    + rewrite response_outside; [ring | auto | cbn [In]; lia].
Qed.

(** Its delta at its epsilon is d. *)
Theorem box_has_its_delta e d : 0 < e -> 0 <= d <= 1 -> delta [Box e d] e = d.
Proof.
  intros He Hd. assert (H : besides ((1 - d) * 1) [Box e d] [Response e]) by (constructor; [now apply box_beside | constructor]).
  rewrite (delta_with_infinite_losses _ _ _ e H). enough (E : delta [Response e] e = 0) by (rewrite E; ring).
  assert (Hp := Response_lawful e). assert (Hx := exp_pos e). assert (H1 : 1 < exp e) by (rewrite <- exp_0; now apply exp_increasing).
  apply Rle_antisym.
  - apply total_least; intros l _. rewrite (lsum_ext _ (fun _ => 0)); [rewrite lsum_zero; lra|].
    intros [|x [|y xs]]; unfold gap, P, Q; cbn [product]; try (apply Rmax_left; lra).
    apply Rmax_left. revert x; apply answers; cbn [P1 Q1 Response].
    + right. cbn. field; lra.
    + unfold response; cbn. apply Rmult_le_reg_r with (exp e + 1); [lra|].
      replace ((1 / (exp e + 1) * 1 - exp e * (exp e / (exp e + 1) * 1)) * (exp e + 1)) with (1 - exp e * exp e) by (field; lra). nra.
    + intros x Hx'; rewrite !response_outside by auto. lra.
  - apply total_upper with (l := []); [apply gap_summable; constructor; [exact Hp | constructor] | constructor].
Qed.

Corollary box_is_private e d : 0 < e -> 0 <= d <= 1 -> private [Box e d] e d.
Proof.
  intros He Hd; apply delta_means_private.
  - constructor; [now apply Box_lawful | constructor].
  - exists [fun x => (1 - x)%Z]; constructor; [apply Box_mirrored | constructor].
  - rewrite box_has_its_delta by assumption; lra.
Qed.

(** ** The computation *)

Open Scope bool_scope.
Open Scope Z_scope.

(** The probability of an infinite loss of a count, in units of 2^-bits. *)
Definition infinite_up (k : certificate) (g : group) : Z :=
  match law g with
  | Resp _ _ inum iden _ => if inum =? 0 then 0 else quotient_up (inum * two_to (prec k)) iden
  | Bounded kind num den b _ => lost_up k kind num den b (move g)
  | _ => 0
  end.
Definition infinite_down (k : certificate) (g : group) : Z :=
  match law g with
  | Resp _ _ inum iden _ => quotient_down (inum * two_to (prec k)) iden
  | Bounded kind num den b _ => lost_down k kind num den b (move g)
  | _ => 0
  end.

(** The probability K that all losses of [n] more counts are finite, if [f] is that of one. *)
Fixpoint times_up (k : certificate) (f : Z) (n : nat) (all : Z) : Z :=
  match n with O => all | S n' => scale_up (prec k) (f * times_up k f n' all) end.
Fixpoint times_down (k : certificate) (f : Z) (n : nat) (all : Z) : Z :=
  match n with O => all | S n' => scale_down (prec k) (f * times_down k f n' all) end.

Definition kept_up (k : certificate) (gs : list group) : Z :=
  fold_right (fun g all => if finite g then all else times_up k (two_to (prec k) - infinite_down k g) (copies g) all) (two_to (prec k)) gs.
Definition kept_down (k : certificate) (gs : list group) : Z :=
  fold_right (fun g all => if finite g then all else times_down k (Z.max 0 (two_to (prec k) - infinite_up k g)) (copies g) all) (two_to (prec k)) gs.

(** K (1 - delta0) and 1 - dn / dd, over a common denominator. *)
Definition shown (k : certificate) (kept dd : Z) : Z := kept * (delta_den k - delta_num k) * dd.
Definition needed (k : certificate) (dn dd : Z) : Z := (dd - dn) * two_to (prec k) * delta_den k.

(** delta(eps) <= dn / dd: the certificate shows delta0. *)
Definition certified_infinite (k : certificate) (dn dd : Z) : bool :=
  forallb whole_outputs (groups k) && sums_at_most k && (0 <? dd) && (delta_num k <=? delta_den k)
  && (needed k dn dd <=? shown k (kept_down k (groups k)) dd).

(** delta(eps) > dn / dd. *)
Definition certified_below_infinite (k : certificate) (before : nat) (ds : list Z) (dn dd : Z) : bool :=
  forallb whole_outputs (groups k) && sums_above k before ds && (0 <? dd) && (delta_num k <=? delta_den k)
  && (shown k (kept_up k (groups k)) dd <? needed k dn dd).

(** ** It is true *)

Open Scope R_scope.

Section True.
  Variable k : certificate.
  Hypothesis Hdata : positive_data k = true.
  Let Hh2 : (0 < h_den k)%Z. Proof. apply (positive_numbers k Hdata). Qed.
  Let one := IZR (two_to (prec k)).
  Let Hp : 0 < one. Proof. apply two_to_pos_R. Qed.

  (** The probability of an infinite loss. *)
  Definition infinite_loss (g : group) : R :=
    match law g with
    | Resp _ _ inum iden _ => IZR inum / IZR iden
    | Bounded kind num den b _ => lost_share kind num den b (move g)
    | _ => 0
    end.

  Lemma term_beside g :
    lattice_ok k g = true -> whole_outputs g = true -> beside (infinite_loss g) (count_of g) (carrier_of g).
  Proof.
    intros Hok Hw; assert (Hl := count_lawful k Hh2 g Hok). revert Hok Hw Hl.
    unfold lattice_ok, whole_outputs, infinite_loss, count_of, carrier_of, count_of, noisy.
    destruct (law g) as [num den|num den nn|num den inum iden nn|kind num den b nn|]; try discriminate; intros Hok _ Hl;
      try now apply beside_itself.
    - rewrite !Bool.andb_true_iff, Z.leb_le, !Z.ltb_lt in Hok. destruct Hok as [[[[[[_ Hi] Hj] _] _] _] _].
      assert (H0 := IZR_le _ _ Hi). assert (H1 := IZR_lt _ _ Hj).
      assert (Hd : 0 <= IZR inum / IZR iden <= 1).
      { split; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra] | apply div_le_iff; lra]. }
      destruct inum; [| now apply box_beside | now apply box_beside].
      unfold Rdiv at 1; rewrite Rmult_0_l; now apply beside_itself.
    - rewrite !Bool.andb_true_iff in Hok. destruct Hok as [_ Hok].
      destruct kind; cbn [lost_share]; [| | now apply beside_itself];
        (rewrite !Bool.andb_true_iff, Z.leb_le, Z.ltb_lt in Hok; destruct Hok as [[H1 H2] _]).
      + apply truncated_beside; [apply weight_pos | apply weight_even | split; assumption].
      + apply truncated_beside; [apply geometric_pos | apply geometric_even | split; assumption].
  Qed.

  Lemma finite_has_none g : finite g = true -> infinite_loss g = 0.
  Proof.
    unfold finite, infinite_loss; destruct (law g) as [| |num den inum iden nn|[ | | ] num den b nn|]; try reflexivity; try discriminate.
    intros H%Z.eqb_eq; rewrite H; unfold Rdiv; apply Rmult_0_l.
  Qed.

  Lemma infinite_bounds g :
    lattice_ok k g = true ->
    above (prec k) (infinite_loss g) (infinite_up k g) /\ below (prec k) (infinite_loss g) (infinite_down k g).
  Proof.
    assert (H0 : above (prec k) 0 0 /\ below (prec k) 0 0) by (unfold above, below; lra).
    unfold lattice_ok, infinite_loss, infinite_up, infinite_down.
    destruct (law g) as [num den|num den nn|num den inum iden nn|kind num den b nn|]; intros Hok; try exact H0.
    - rewrite !Bool.andb_true_iff, Z.leb_le, !Z.ltb_lt in Hok. destruct Hok as [[[[[[_ Hi] Hj] _] _] _] _].
      assert (Hd : 0 < IZR iden) by (apply IZR_lt; lia).
      assert (E : IZR inum / IZR iden * IZR (two_to (prec k)) = IZR (inum * two_to (prec k)) / IZR iden)
        by (rewrite mult_IZR; field; lra).
      unfold above, below; split.
      + destruct (Z.eqb_spec inum 0) as [->|]; [unfold Rdiv; rewrite !Rmult_0_l; lra|]. rewrite E; apply quotient_up_bound; lia.
      + rewrite E; apply quotient_down_bound; lia.
    - rewrite !Bool.andb_true_iff, !Z.ltb_lt in Hok. destruct Hok as [[Hn Hd] Hok].
      assert (Hm : kind <> OneOf -> (0 < move g <= 2 * b)%Z).
      { destruct kind; intros Hk; try (now contradiction Hk); rewrite !Bool.andb_true_iff, Z.leb_le, Z.ltb_lt in Hok; tauto. }
      split; [now apply lost_up_bound | now apply lost_down_bound].
  Qed.

  (** K, and its bounds. *)
  Definition kept (gs : list group) : R := fold_right (fun g all => (1 - infinite_loss g) ^ copies g * all) 1 gs.

  Lemma composition_besides gs :
    Forall (fun g => lattice_ok k g = true) gs -> forallb whole_outputs gs = true -> besides (kept gs) (composition gs) (carriers gs).
  Proof.
    intros H; induction H as [|g gs Hg _ IH]; cbn [forallb kept fold_right]; [constructor|].
    intros Hw; apply andb_prop in Hw; destruct Hw as [Hw Hws]. fold (kept gs).
    cbn [composition carriers flat_map]; fold (composition gs) (carriers gs).
    apply besides_app; [|now apply IH]. apply besides_repeat. now apply term_beside.
  Qed.

  Lemma times_up_bound x f n y all :
    0 <= x -> 0 <= y -> above (prec k) x f -> above (prec k) y all -> above (prec k) (x ^ n * y) (times_up k f n all).
  Proof.
    intros Hx Hy Hf Hall; induction n as [|n IH]; cbn [times_up pow]; [now rewrite Rmult_1_l|].
    rewrite Rmult_assoc. apply above_mult; try assumption. apply Rmult_le_pos; [now apply pow_le | assumption].
  Qed.

  Lemma times_down_bound x f n y all :
    (0 <= f)%Z -> (0 <= all)%Z -> below (prec k) x f -> below (prec k) y all ->
    below (prec k) (x ^ n * y) (times_down k f n all) /\ (0 <= times_down k f n all)%Z.
  Proof.
    intros Hf0 Ha0 Hf Hall; induction n as [|n [IH IH0]]; cbn [times_down pow]; [rewrite Rmult_1_l; now split|].
    rewrite Rmult_assoc. split; [now apply below_mult|]. apply scale_down_nonneg; nia.
  Qed.

  Lemma kept_bounds gs :
    Forall (fun g => lattice_ok k g = true) gs -> forallb whole_outputs gs = true ->
    0 <= kept gs /\ above (prec k) (kept gs) (kept_up k gs) /\ below (prec k) (kept gs) (kept_down k gs) /\ (0 <= kept_down k gs)%Z.
  Proof.
    intros H; induction H as [|g gs Hg _ IH]; cbn [forallb kept kept_up kept_down fold_right].
    - intros _; unfold above, below. repeat split; try lra. generalize (two_to_pos (prec k)); lia.
    - fold (kept gs) (kept_up k gs) (kept_down k gs).
      intros Hw; apply andb_prop in Hw; destruct Hw as [Hw Hws]. destruct (IH Hws) as (H0 & H1 & H2 & H3).
      destruct (term_beside g Hg Hw) as [common [Hi _ _ _ _ _ _ _]]. destruct (infinite_bounds g Hg) as [Hup Hdown].
      destruct (finite g) eqn:Ef.
      + rewrite (finite_has_none g Ef), Rminus_0_r, pow1, Rmult_1_l. repeat split; assumption.
      + unfold above, below in Hup, Hdown.
        assert (Hk : 0 <= (1 - infinite_loss g) ^ copies g) by (apply pow_le; lra).
        split; [now apply Rmult_le_pos|]. split.
        * apply times_up_bound; try assumption; [lra|]. unfold above; rewrite minus_IZR; fold one. fold one in Hdown. lra.
        * apply times_down_bound; try assumption; [lia|]. unfold below.
          apply Z.max_case_strong; intros Hm; [fold one; apply Rmult_le_pos; lra|].
          rewrite minus_IZR; fold one. fold one in Hup. lra.
  Qed.

  Lemma whole_outputs_aligned gs : forallb whole_outputs gs = true -> forallb aligned gs = true.
  Proof.
    rewrite !forallb_forall; intros H g Hg; specialize (H g Hg). revert H; unfold whole_outputs, aligned.
    now destruct (law g).
  Qed.

  (** 1 - dn / dd and K (1 - delta0), by the numbers of the computation. *)
  Lemma shown_and_needed all dn dd :
    (0 < dd)%Z ->
    exists scale, 0 < scale /\ (1 - IZR dn / IZR dd) * scale = IZR (needed k dn dd)
      /\ IZR all * (1 - claimed_delta k) * (scale / one) = IZR (shown k all dd).
  Proof.
    intros Hdd; destruct (positive_numbers k Hdata) as (_ & _ & _ & _ & _ & H6%IZR_lt & _). apply IZR_lt in Hdd.
    exists (one * IZR (delta_den k) * IZR dd). split; [repeat apply Rmult_lt_0_compat; assumption|].
    unfold needed, shown, claimed_delta. rewrite !mult_IZR, !minus_IZR; fold one. split; field; lra.
  Qed.

  Lemma claimed_delta_at_most_one : (delta_num k <= delta_den k)%Z -> claimed_delta k <= 1.
  Proof.
    destruct (positive_numbers k Hdata) as (_ & _ & _ & _ & _ & H6%IZR_lt & _). intros H%IZR_le.
    unfold claimed_delta; apply div_le_iff; lra.
  Qed.
End True.

Theorem certified_infinite_is_true k dn dd :
  certified_infinite k dn dd = true ->
  proper (composition (groups k)) /\ delta (composition (groups k)) (claimed_eps k) <= IZR dn / IZR dd.
Proof.
  unfold certified_infinite; rewrite !Bool.andb_true_iff, Z.ltb_lt, !Z.leb_le. intros [[[[Hw Hsum] Hdd] Hone] Hk].
  assert (Hdata := sums_at_most_positive k Hsum). destruct (sums_at_most_is_true k Hsum) as [Hok Hvalue].
  split; [now apply (composition_proper k)|].
  rewrite (delta_with_infinite_losses _ _ _ _ (composition_besides k Hdata _ Hok Hw)).
  destruct (kept_bounds k Hdata _ Hok Hw) as (H0 & _ & Hkept & _). unfold below in Hkept.
  destruct (shown_and_needed k Hdata (kept_down k (groups k)) dn dd Hdd) as (scale & Hs & E1 & E2).
  assert (H1 := claimed_delta_at_most_one k Hdata Hone).
  assert (Hd : delta (carriers (groups k)) (claimed_eps k) <= claimed_delta k).
  { rewrite <- (counts_of_steps k). apply (delta_at_most (spacing k)); [|exact Hvalue].
    apply (stepped_on_lattice k Hdata); [assumption | now apply whole_outputs_aligned]. }
  apply IZR_le in Hk. rewrite <- E1, <- E2 in Hk. assert (Hone' := two_to_pos_R (prec k)). set (one := IZR (two_to (prec k))) in *.
  set (K := kept (groups k)) in *. set (lower := IZR (kept_down k (groups k))) in *.
  assert (lower / one <= K) by now apply div_le_iff.
  assert (G1 : 1 - IZR dn / IZR dd <= lower / one * (1 - claimed_delta k)).
  { apply Rmult_le_reg_r with scale; [assumption|]. eapply Rle_trans; [exact Hk|]. right; field; lra. }
  assert (G2 : lower / one * (1 - claimed_delta k) <= K * (1 - claimed_delta k)) by (apply Rmult_le_compat_r; lra).
  assert (G3 : K * (1 - claimed_delta k) <= K * (1 - delta (carriers (groups k)) (claimed_eps k))) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

Theorem certified_below_infinite_is_true k before ds dn dd :
  certified_below_infinite k before ds dn dd = true ->
  proper (composition (groups k)) /\ IZR dn / IZR dd < delta (composition (groups k)) (claimed_eps k).
Proof.
  unfold certified_below_infinite; rewrite !Bool.andb_true_iff, !Z.ltb_lt, Z.leb_le. intros [[[[Hw Hsum] Hdd] Hone] Hk].
  assert (Hdata := sums_above_positive k _ _ Hsum). destruct (sums_above_is_true k _ _ Hsum) as [Hok [A0 Hvalue]].
  split; [now apply (composition_proper k)|].
  rewrite (delta_with_infinite_losses _ _ _ _ (composition_besides k Hdata _ Hok Hw)).
  destruct (kept_bounds k Hdata _ Hok Hw) as (H0 & Hkept & _). unfold above in Hkept.
  destruct (shown_and_needed k Hdata (kept_up k (groups k)) dn dd Hdd) as (scale & Hs & E1 & E2).
  assert (H1 := claimed_delta_at_most_one k Hdata Hone).
  assert (Hd : claimed_delta k < delta (carriers (groups k)) (claimed_eps k)).
  { eapply Rlt_le_trans; [apply (Hvalue A0 (le_n A0))|]. rewrite <- (counts_of_steps k). apply (delta_at_least (spacing k)).
    apply (stepped_on_lattice k Hdata); [assumption | now apply whole_outputs_aligned]. }
  apply IZR_lt in Hk. rewrite <- E1, <- E2 in Hk. assert (Hone' := two_to_pos_R (prec k)). set (one := IZR (two_to (prec k))) in *.
  set (K := kept (groups k)) in *. set (upper := IZR (kept_up k (groups k))) in *.
  assert (Hupper : K <= upper / one) by now apply le_div_iff.
  assert (G1 : upper / one * (1 - claimed_delta k) < 1 - IZR dn / IZR dd).
  { apply Rmult_lt_reg_r with scale; [assumption|]. eapply Rle_lt_trans; [|exact Hk]. right; field; lra. }
  assert (G2 : K * (1 - delta (carriers (groups k)) (claimed_eps k)) <= K * (1 - claimed_delta k)) by (apply Rmult_le_compat_l; lra).
  assert (G3 : K * (1 - claimed_delta k) <= upper / one * (1 - claimed_delta k)) by (apply Rmult_le_compat_r; lra).
  lra.
Qed.

Lemma certified_infinite_positive k dn dd : certified_infinite k dn dd = true -> positive_data k = true.
Proof. unfold certified_infinite; rewrite !Bool.andb_true_iff; intros [[[[_ H] _] _] _]; now apply sums_at_most_positive in H. Qed.

Lemma certified_below_infinite_positive k before ds dn dd : certified_below_infinite k before ds dn dd = true -> positive_data k = true.
Proof. unfold certified_below_infinite; rewrite !Bool.andb_true_iff; intros [[[[_ H] _] _] _]; now apply sums_above_positive in H. Qed.

(** ** The claims of files that `assay prove --rocq` writes *)

Theorem delta_is_between above below before ds cs eps b_n b_d d_n d_d b d :
  certified_infinite above d_n d_d = true -> certified_below_infinite below before ds b_n b_d = true ->
  composition (groups above) = cs -> composition (groups below) = cs ->
  claimed_eps above = eps -> claimed_eps below = eps -> IZR d_n / IZR d_d = d -> IZR b_n / IZR b_d = b ->
  b < delta cs eps <= d.
Proof.
  intros Ha Hb <- E <- Ee <- <-. apply certified_infinite_is_true in Ha; apply certified_below_infinite_is_true in Hb.
  rewrite E, Ee in Hb; tauto.
Qed.

Theorem epsilon_is_between above below before ds cs d_n d_d d a b :
  certified_infinite above d_n d_d = true -> certified_below_infinite below before ds d_n d_d = true ->
  composition (groups above) = cs -> composition (groups below) = cs ->
  claimed_eps below = a -> claimed_eps above = b -> IZR d_n / IZR d_d = d ->
  (0 <=? eps_num below)%Z = true -> (0 <=? eps_num above)%Z = true ->
  smallest_epsilon cs d a b.
Proof.
  intros Ha Hb <- E <- <- <- H0 H1.
  assert (Hdb := certified_below_infinite_positive _ _ _ _ _ Hb). assert (Hda := certified_infinite_positive _ _ _ Ha).
  apply (claimed_eps_nonneg _ Hdb) in H0. apply (claimed_eps_nonneg _ Hda) in H1.
  apply certified_infinite_is_true in Ha; apply certified_below_infinite_is_true in Hb. rewrite E in Hb.
  apply smallest_epsilon_is_between; try tauto. apply composition_symmetric.
Qed.

(** Some noise is enough for eps and d; other noise is not. *)
Theorem noise_is_enough above below before ds cs cs' eps d_n d_d d :
  certified_infinite above d_n d_d = true -> certified_below_infinite below before ds d_n d_d = true ->
  composition (groups above) = cs -> composition (groups below) = cs' ->
  claimed_eps above = eps -> claimed_eps below = eps -> IZR d_n / IZR d_d = d ->
  private cs eps d /\ ~ private cs' eps d.
Proof.
  intros Ha Hb <- <- Ee <- <-. apply certified_infinite_is_true in Ha; apply certified_below_infinite_is_true in Hb.
  rewrite Ee in Ha. destruct Ha as [Pa Da], Hb as [Pb Db]. split.
  - apply delta_means_private; [assumption | apply composition_symmetric | assumption].
  - intros H. apply (private_means_delta _ _ _ Pb) in H. lra.
Qed.
