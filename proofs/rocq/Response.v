(** * Randomized response, and any mechanism with a guarantee

    Of all mechanisms that are e-DP two answers of randomized response are the worst pair, and of those that are (e, d)-DP the same beside an
    output that tells, with probability d, which neighbor it is (Kairouz, Oh & Viswanath 2015). Outputs are answers 0 and 1; -1 and 2 tell. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Directions Walk.
Import ListNotations.
Open Scope R_scope.

(** The true one of two answers has probability e^e / (e^e + 1). *)
Definition response (e : R) (truth x : Z) : R :=
  if (x =? truth)%Z then exp e / (exp e + 1) else if (x =? 1 - truth)%Z then 1 / (exp e + 1) else 0.

(** Randomized response: one neighbor has the answer 0, the other one the answer 1. *)
Definition Response (e : R) : count := Pair (response e 0) (response e 1).

(** With probability [d] an output that only one neighbor can have, -1 or 2; else randomized response. *)
Definition Box (e d : R) : count :=
  Pair (fun x => if (x =? -1)%Z then d else (1 - d) * response e 0 x)
       (fun x => if (x =? 2)%Z then d else (1 - d) * response e 1 x).

(** ** Both are laws *)

(** Sums over a function that is zero outside of a finite set. *)
Lemma lsum_support (f : Z -> R) l s :
  (forall x, 0 <= f x) -> (forall x, ~ In x s -> f x = 0) -> NoDup l -> lsum f l <= lsum f s.
Proof.
  intros Hf Hout Hl. set (inside := fun x => if in_dec Z.eq_dec x s then true else false).
  rewrite (lsum_filter_split f inside).
  rewrite (lsum_ext_in f (fun _ => 0) (filter (fun x => negb (inside x)) l)).
  2: { intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; apply Hout; unfold inside in Hx.
       destruct (in_dec _ _ _); [discriminate | assumption]. }
  rewrite lsum_zero, Rplus_0_r. apply lsum_incl; [assumption | now apply NoDup_filter|].
  intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold inside in Hx.
  destruct (in_dec _ _ _); [assumption | discriminate].
Qed.

Lemma finite_law f s :
  (forall x, 0 <= f x) -> (forall x, ~ In x s -> f x = 0) -> NoDup s -> lsum f s = 1 -> is_law f.
Proof.
  intros Hf Hout Hs H1. assert (Hle : forall l, NoDup l -> lsum f l <= 1).
  { intros l Hl; rewrite <- H1; now apply lsum_support. }
  assert (S : summable f) by (exists 1; exact Hle).
  split; [assumption | split; [exact S|]]. apply Rle_antisym; [apply total_least; exact Hle|].
  rewrite <- H1. now apply total_upper.
Qed.

Lemma response_nonneg e truth x : 0 <= response e truth x.
Proof.
  unfold response. assert (H := exp_pos e).
  destruct (x =? truth)%Z; [|destruct (x =? 1 - truth)%Z; [|lra]]; left; apply Rdiv_lt_0_compat; lra.
Qed.

Lemma response_outside e truth x : (truth = 0 \/ truth = 1)%Z -> ~ In x [0; 1]%Z -> response e truth x = 0.
Proof.
  intros Ht Hx; unfold response. destruct (Z.eqb_spec x truth) as [->|]; [exfalso; apply Hx; cbn [In]; lia|].
  destruct (Z.eqb_spec x (1 - truth)) as [->|]; [exfalso; apply Hx; cbn [In]; lia | reflexivity].
Qed.

Lemma response_is_law e truth : (truth = 0 \/ truth = 1)%Z -> is_law (response e truth).
Proof.
  intros Ht; assert (H := exp_pos e). apply finite_law with [0; 1]%Z.
  - apply response_nonneg.
  - intros x; now apply response_outside.
  - repeat constructor; cbn [In]; lia.
  - destruct Ht as [-> | ->]; cbn; field; lra.
Qed.

Lemma Response_lawful e : lawful (Response e).
Proof. split; apply response_is_law; auto. Qed.

Lemma Box_lawful e d : 0 <= d <= 1 -> lawful (Box e d).
Proof.
  intros Hd; assert (H := exp_pos e). split; apply finite_law with [-1; 0; 1; 2]%Z; cbn [P1 Q1 Box];
    try (repeat constructor; cbn [In]; lia); intros; try (cbn; field; lra).
  - destruct (x =? -1)%Z; [lra | apply Rmult_le_pos; [lra | apply response_nonneg]].
  - destruct (Z.eqb_spec x (-1)) as [->|]; [exfalso; cbn [In] in *; lia|].
    rewrite response_outside; [ring | auto | cbn [In] in *; lia].
  - destruct (x =? 2)%Z; [lra | apply Rmult_le_pos; [lra | apply response_nonneg]].
  - destruct (Z.eqb_spec x 2) as [->|]; [exfalso; cbn [In] in *; lia|].
    rewrite response_outside; [ring | auto | cbn [In] in *; lia].
Qed.

(** ** Exchanged neighbors: the answers exchanged *)

Lemma response_exchanged e x : response e 0 (1 - x) = response e 1 x.
Proof.
  unfold response. replace (1 - x =? 0)%Z with (x =? 1)%Z by (apply Bool.eq_true_iff_eq; rewrite !Z.eqb_eq; lia).
  replace (1 - x =? 1 - 0)%Z with (x =? 1 - 1)%Z by (apply Bool.eq_true_iff_eq; rewrite !Z.eqb_eq; lia). reflexivity.
Qed.

Lemma Response_mirrored e : mirrored (Response e) (fun x => (1 - x)%Z).
Proof. split; intros x; [lia | apply response_exchanged]. Qed.

Lemma Box_mirrored e d : mirrored (Box e d) (fun x => (1 - x)%Z).
Proof.
  split; intros x; [lia|]. cbn [P1 Q1 Box]. rewrite response_exchanged.
  now replace (1 - x =? -1)%Z with (x =? 2)%Z by (apply Bool.eq_true_iff_eq; rewrite !Z.eqb_eq; lia).
Qed.

(** ** The loss of an answer is e or -e *)

Lemma answers (P : Z -> Prop) : P 0%Z -> P 1%Z -> (forall x, ~ In x [0; 1]%Z -> P x) -> forall x, P x.
Proof. intros H0 H1 H x. destruct (in_dec Z.eq_dec x [0; 1]%Z) as [[<-|[<-|[]]]|]; auto. Qed.

(** In steps of 2 e. *)
Definition Response_reading (e : R) (st : Z) (nm : R) : reading := Reading st (fun x => x) e nm.

Lemma Response_reads h e st nm : 2 * e = IZR st * h -> reads h (Response e) (Response_reading e st nm).
Proof.
  intros Hst; assert (H := exp_pos e). unfold reads. apply answers; cbn [P1 Q1 Response step place base Response_reading].
  - replace (e - h * IZR (st * 0)) with e by (rewrite Z.mul_0_r; ring). rewrite exp_Ropp; cbn; field; lra.
  - replace (e - h * IZR (st * 1)) with (- e).
    + rewrite Ropp_involutive; cbn; field; lra.
    + rewrite Z.mul_1_r. replace (h * IZR st) with (2 * e) by (rewrite Hst; ring). ring.
  - intros x Hx; rewrite !response_outside by auto; ring.
Qed.

(** ** Its table *)

Section Table.
  Variables (c h e nm : R) (st : Z).
  Hypothesis Hst : 2 * e = IZR st * h.
  Let cm := (Response e, Response_reading e st nm).
  Let f x := tilted_law c h cm x.

  (** The tilted masses of the answers. *)
  Definition response_mass (y : Z) : R := exp (- (e * (1 + 2 * c) * IZR y + nm)) / (1 + exp (- e)).

  Lemma Response_tilted x : In x [0; 1]%Z -> f x = response_mass x.
  Proof.
    intros Hx; assert (H := exp_pos e). unfold f, tilted_law, cm; cbn [fst snd P1 Response step place norm Response_reading]; unfold response_mass.
    replace (exp (- (e * (1 + 2 * c) * IZR x + nm))) with (exp (- (e * IZR x)) * exp (- (c * h * IZR (st * x))) * exp (- nm)).
    2: { rewrite <- !exp_plus; f_equal. rewrite mult_IZR. replace (c * h * (IZR st * IZR x)) with (c * (IZR st * h) * IZR x) by ring.
         rewrite <- Hst; ring. }
    replace (response e 0 x) with (exp (- (e * IZR x)) / (1 + exp (- e))).
    - unfold Rdiv; ring.
    - destruct Hx as [<-|[<-|[]]]; cbn; rewrite ?Rmult_0_r, ?Rmult_1_r, ?Ropp_0, ?exp_0, !exp_Ropp; field; lra.
  Qed.

  Lemma Response_tilted_outside x : ~ In x [0; 1]%Z -> f x = 0.
  Proof.
    intros Hx; unfold f, tilted_law, cm; cbn [fst P1 Response]. rewrite response_outside by auto. ring.
  Qed.

  Let f_nonneg x : 0 <= f x.
  Proof. apply tilted_law_nonneg, Response_lawful. Qed.

  Lemma Response_table_above (hat : Z -> R) :
    (forall y, (0 <= y <= 1)%Z -> response_mass y <= hat y) -> table_above c h cm 0 2 hat 0.
  Proof.
    intros Hhat A u top Hu; cbn [snd cm place Response_reading]; rewrite Rmult_0_l, Rplus_0_r.
    apply Rle_trans with (lsum (fun x => f x * u x) [0; 1]%Z).
    - apply lsum_support; [| |apply NoDup_range].
      + intros x; apply Rmult_le_pos; [apply f_nonneg | apply Hu].
      + intros x Hx; fold (f x); rewrite Response_tilted_outside by assumption; ring.
    - change (zlist 0 2) with [0; 1]%Z. apply lsum_le_in; intros x Hx.
      rewrite Response_tilted by assumption. apply Rmult_le_compat_r; [apply Hu | apply Hhat].
      destruct Hx as [<-|[<-|[]]]; lia.
  Qed.

  Lemma Response_table_below (low : Z -> R) :
    (forall y, (0 <= y <= 1)%Z -> low y <= response_mass y) -> table_below c h cm 0 2 low.
  Proof.
    intros Hlow. destruct (list_in_range [0; 1]%Z) as [A0 HA].
    exists A0; intros A u HA0 Hu; cbn [snd cm place Response_reading]. change (zlist 0 2) with [0; 1]%Z.
    apply Rle_trans with (lsum (fun x => f x * u x) [0; 1]%Z).
    - apply lsum_le_in; intros x Hx. rewrite Response_tilted by assumption.
      apply Rmult_le_compat_r; [apply Hu | apply Hlow]. destruct Hx as [<-|[<-|[]]]; lia.
    - apply lsum_incl; [| repeat constructor; cbn [In]; lia | now apply HA].
      intros x; apply Rmult_le_pos; [apply f_nonneg | apply Hu].
  Qed.
End Table.
