(** * A point of the trade-off function, by computing

    Bounds of delta at three eps, from six certificates, and bounds of the exponentials are rational numbers. The conditions of
    Tradeoff.v between them are checked in rational arithmetic. *)

From Coq Require Import Reals ZArith QArith Qreals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Fixed Certificate Laws Soundness Below Infinite Fine Tradeoff.
Import ListNotations.

Opaque exp_up exp_down.

Notation rational := QArith_base.Q.

(** A lower and an upper bound. *)
Definition between (b : rational * rational) (x : R) : Prop := (Q2R (fst b) <= x <= Q2R (snd b))%R.

(** ** The conditions *)

Open Scope Q_scope.

(** Is the point enclosed? [dx], [dy], [dz] are bounds of delta at eps x < y < z, [ex], [ey], [ez] those of e^eps. *)
Definition point_ok (alpha a b : rational) (dx dy dz ex ey ez : rational * rational) : bool :=
  let near := fst ey - snd ex in     (* at most e^y - e^x *)
  let far := snd ey - fst ex in      (* at least this *)
  let near' := fst ez - snd ey in
  let far' := snd ez - fst ey in
  let left := snd dx - fst dy in     (* at least delta(x) - delta(y) *)
  let right := fst dy - snd dz in    (* at most delta(y) - delta(z) *)
  let height := 1 - fst dy - fst ey * alpha in
  let holds p q := Qle_bool p q in
  holds 0 alpha && negb (holds near 0) && negb (holds near' 0)
  && holds (alpha * far) (fst dx - snd dy)
  && holds (snd dy - fst dz) (alpha * near')
  && holds a (1 - snd dy - snd ey * alpha)
  && holds (height + far' * (left / near - alpha)) b
  && holds 0 right && holds (height + far * (alpha - right / far')) b.

Close Scope Q_scope.
Open Scope R_scope.

Lemma Qle_bool_R p q : Qle_bool p q = true -> Q2R p <= Q2R q.
Proof. intros H; apply Qle_Rle, Qle_bool_iff, H. Qed.

Lemma not_Qle_bool_R p : negb (Qle_bool p 0) = true -> 0 < Q2R p.
Proof.
  intros H; apply Bool.negb_true_iff in H. replace 0 with (Q2R 0) by (unfold Q2R; cbn; lra).
  apply Qlt_Rlt, Qnot_le_lt; intros Hle; apply Qle_bool_iff in Hle; congruence.
Qed.

Lemma Q2R_one : Q2R 1 = 1. Proof. unfold Q2R; cbn; lra. Qed.
Lemma Q2R_zero : Q2R 0 = 0. Proof. unfold Q2R; cbn; lra. Qed.

Lemma positive_not_zero q : 0 < Q2R q -> ~ (q == 0)%Q.
Proof. intros H E; apply Qeq_eqR in E; rewrite Q2R_zero in E; lra. Qed.

Theorem point_is_between cs alpha a b dx dy dz ex ey ez x y z :
  proper cs -> point_ok alpha a b dx dy dz ex ey ez = true ->
  between dx (delta cs x) -> between dy (delta cs y) -> between dz (delta cs z) ->
  between ex (exp x) -> between ey (exp y) -> between ez (exp z) ->
  tradeoff_is_between cs (Q2R alpha) (Q2R a) (Q2R b).
Proof.
  destruct dx as [dxl dxu], dy as [dyl dyu], dz as [dzl dzu], ex as [exl exu], ey as [eyl eyu], ez as [ezl ezu].
  unfold point_ok, between; cbn [fst snd]. rewrite !Bool.andb_true_iff.
  intros Hp ((((((((H0 & H1) & H2) & H3) & H4) & H5) & H6) & H7) & H8) Dx Dy Dz Ex Ey Ez.
  apply Qle_bool_R in H0, H3, H4, H5, H6, H7, H8. apply not_Qle_bool_R in H1, H2.
  assert (N1 := positive_not_zero _ H1).
  assert (F : 0 < Q2R (ezu - eyl)).
  { rewrite Q2R_minus in *; lra. }
  assert (N2 := positive_not_zero _ F).
  rewrite ?Q2R_plus, ?Q2R_mult, ?Q2R_minus, ?Q2R_div, ?Q2R_plus, ?Q2R_mult, ?Q2R_minus, ?Q2R_one, ?Q2R_zero in * by assumption.
  set (al := Q2R alpha) in *.
  assert (Hyal : Q2R eyl * al <= exp y * al <= Q2R eyu * al) by (split; apply Rmult_le_compat_r; lra).
  split.
  - intros T HT HT1. assert (H := type2_at_least cs Hp T y al HT HT1). lra.
  - set (above := Q2R b - (1 - delta cs y - exp y * al)).
    destruct (some_test cs Hp x y z al above) as (T & HT & H1' & H2').
    + lra.
    + eapply Rle_trans; [|eapply Rle_trans; [exact H3|]; lra]. apply Rmult_le_compat_l; lra.
    + eapply Rle_trans; [|eapply Rle_trans; [exact H4|]]; [lra|]. apply Rmult_le_compat_l; lra.
    + assert (L : (delta cs x - delta cs y) / (exp y - exp x) <= (Q2R dxu - Q2R dyl) / (Q2R eyl - Q2R exu)).
      { apply Rmult_le_compat; [| left; apply Rinv_0_lt_compat; lra | lra | apply Rinv_le_contravar; lra].
        assert (0 <= al * (Q2R eyu - Q2R exl)) by (apply Rmult_le_pos; lra). lra. }
      assert (L0 : al <= (delta cs x - delta cs y) / (exp y - exp x)).
      { apply le_div_iff; [lra|]. eapply Rle_trans; [|eapply Rle_trans; [exact H3|]; lra].
        apply Rmult_le_compat_l; lra. }
      unfold above. eapply Rle_trans; [apply Rmult_le_compat_r with (r2 := Q2R ezu - Q2R eyl); [lra|lra]|].
      eapply Rle_trans; [apply Rmult_le_compat_l; [lra|]; apply Rplus_le_compat_r with (1 := L)|].
      lra.
    + assert (R0 : 0 <= (Q2R dyl - Q2R dzu) / (Q2R ezu - Q2R eyl)).
      { apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]. }
      assert (L : (Q2R dyl - Q2R dzu) / (Q2R ezu - Q2R eyl) <= (delta cs y - delta cs z) / (exp z - exp y)).
      { apply Rmult_le_compat; [lra | left; apply Rinv_0_lt_compat; lra | lra | apply Rinv_le_contravar; lra]. }
      assert (L1 : (delta cs y - delta cs z) / (exp z - exp y) <= al).
      { apply div_le_iff; [lra|]. eapply Rle_trans; [|eapply Rle_trans; [exact H4|]]; [lra|].
        apply Rmult_le_compat_l; lra. }
      unfold above. eapply Rle_trans; [apply Rmult_le_compat_r with (r2 := Q2R eyu - Q2R exl); [lra|lra]|].
      eapply Rle_trans; [apply Rmult_le_compat_l with (r2 := al - (Q2R dyl - Q2R dzu) / (Q2R ezu - Q2R eyl)); lra|].
      lra.
    + exists T; split; [assumption | split; [assumption|]]. unfold above in H2'; lra.
Qed.

(** ** Bounds from certificates *)

(** What shows both ends of delta at one eps: two certificates; with infinite losses they are about the finite ones, and delta of all is above bn / bd
    and at most an / ad; on a coarse lattice a certificate and a test, which shows that delta is above bn / bd. *)
Inductive ends_at :=
  | Ends (a b : certificate) (before : nat) (moves : list Z)
  | InfiniteEnds (a b : certificate) (before : nat) (moves : list Z) (bn bd an ad : Z)
  | FineEnds (a one other : certificate) (before : nat) (moves : list Z) (bn bd : Z).

Definition above (e : ends_at) : certificate := match e with Ends a _ _ _ | InfiniteEnds a _ _ _ _ _ _ _ | FineEnds a _ _ _ _ _ _ => a end.
Definition below (e : ends_at) : certificate := match e with Ends _ b _ _ | InfiniteEnds _ b _ _ _ _ _ _ | FineEnds _ b _ _ _ _ _ => b end.

Definition same_eps (a b : certificate) : bool := (eps_num a =? eps_num b)%Z && (eps_den a =? eps_den b)%Z.

Definition ends_ok (e : ends_at) : bool :=
  match e with
  | Ends a b before moves => certified a && certified_below b before moves && same_eps a b
  | InfiniteEnds a b before moves bn bd an ad =>
    certified_infinite a an ad && certified_below_infinite b before moves bn bd && (0 <? ad)%Z && (0 <? bd)%Z && same_eps a b
  | FineEnds a one other before moves bn bd =>
    certified a && test_proves one other before moves (eps_num a) (eps_den a) bn bd && (0 <? bd)%Z
  end.

Definition quotient (num den : Z) : rational := num # Z.to_pos den.

Definition deltas (e : ends_at) : rational * rational :=
  match e with
  | Ends a b _ _ => (quotient (delta_num b) (delta_den b), quotient (delta_num a) (delta_den a))
  | InfiniteEnds _ _ _ _ bn bd an ad => (quotient bn bd, quotient an ad)
  | FineEnds a _ _ _ _ bn bd => (quotient bn bd, quotient (delta_num a) (delta_den a))
  end.

(** Bounds of e^eps; nothing if that of e^-eps is zero. *)
Definition exps (e : ends_at) : option (rational * rational) :=
  let k := above e in
  match exp_up_signed (prec k) (squarings k) (- eps_num k) (eps_den k) with
  | Some v =>
    Some (quotient (exp_down_signed (prec k) (squarings k) (- eps_num k) (eps_den k)) (two_to (prec k)), quotient v (two_to (prec k)))
  | None => None
  end.

Definition point_certified (alpha a b : rational) (x y z : ends_at) : bool :=
  ends_ok x && ends_ok y && ends_ok z
  && match exps x, exps y, exps z with
     | Some ex, Some ey, Some ez => point_ok alpha a b (deltas x) (deltas y) (deltas z) ex ey ez
     | _, _, _ => false
     end.

Lemma quotient_R num den : (0 < den)%Z -> Q2R (quotient num den) = IZR num / IZR den.
Proof. intros H; unfold Q2R, quotient; cbn [Qnum Qden]; now rewrite Z2Pos.id. Qed.

Section Ends.
  Variables (e : ends_at) (cs : list count).
  Hypothesis Hok : ends_ok e = true.
  Hypothesis Ha : composition (groups (above e)) = cs.
  Hypothesis Hb : composition (groups (below e)) = cs.
  Let eps := claimed_eps (above e).

  Let same a b : same_eps a b = true -> claimed_eps b = claimed_eps a.
  Proof. unfold same_eps, claimed_eps; rewrite Bool.andb_true_iff, !Z.eqb_eq. now intros [-> ->]. Qed.

  Let facts : positive_data (above e) = true /\ proper cs /\ between (deltas e) (delta cs eps).
  Proof.
    generalize Hok Ha Hb; unfold ends_ok, eps, between.
    destruct e as [a b before moves|a b before moves bn bd an ad|a one other before moves bn bd]; cbn [above below deltas fst snd];
      rewrite !Bool.andb_true_iff, ?Z.ltb_lt.
    - intros [[H1 H2] He%same] Ea Eb. assert (D1 := certified_positive _ H1). split; [assumption|].
      destruct (positive_numbers _ D1) as (_ & _ & _ & _ & _ & P1 & _).
      destruct (positive_numbers _ (certified_below_positive _ _ _ H2)) as (_ & _ & _ & _ & _ & P2 & _).
      apply certified_is_true in H1; apply certified_below_is_true in H2. rewrite Ea in H1; rewrite Eb, He in H2.
      split; [tauto|]. rewrite !quotient_R by assumption. unfold claimed_delta in *; split; [left|]; tauto.
    - intros [[[[H1 H2] P1] P2] He%same] Ea Eb. split; [now apply certified_infinite_positive in H1|].
      apply certified_infinite_is_true in H1; apply certified_below_infinite_is_true in H2. rewrite Ea in H1; rewrite Eb, He in H2.
      split; [tauto|]. rewrite !quotient_R by assumption. split; [left|]; tauto.
    - intros [[H1 H2] P2] Ea Eb. assert (D1 := certified_positive _ H1). split; [assumption|].
      destruct (positive_numbers _ D1) as (_ & _ & _ & _ & _ & P1 & _).
      apply certified_is_true in H1; apply test_proves_is_true in H2. rewrite Ea in H1; rewrite Eb in H2.
      split; [tauto|]. rewrite !quotient_R by assumption. unfold claimed_delta, claimed_eps in *; split; [left|]; tauto.
  Qed.

  Lemma ends_proper : proper cs.
  Proof. apply facts. Qed.

  Lemma deltas_between : between (deltas e) (delta cs eps).
  Proof. apply facts. Qed.

  Lemma exps_between b : exps e = Some b -> between b (exp eps).
  Proof.
    destruct facts as (H1 & _).
    destruct (positive_numbers _ H1) as (_ & _ & _ & _ & D & _).
    unfold exps; destruct (exp_up_signed _ _ _ _) as [v|] eqn:E; [|discriminate]; intros [= <-].
    assert (Hu := IZR_two_to_pos (prec (above e))); assert (Hz := two_to_pos (prec (above e))).
    assert (Ee : eps = - (IZR (- eps_num (above e)) / IZR (eps_den (above e)))).
    { unfold eps, claimed_eps; rewrite opp_IZR; apply IZR_lt in D; field; lra. }
    unfold between; cbn [fst snd]; rewrite !quotient_R, Ee by assumption. split.
    - apply div_le_iff; [assumption|]. now apply exp_down_signed_bound.
    - apply le_div_iff; [assumption|]. now apply (exp_up_signed_bound _ _ _ _ _ D E).
  Qed.
End Ends.

(** ** The claim of a file that `assay prove --rocq` writes *)

Theorem tradeoff_point alpha a b x y z cs alpha' a' b' :
  point_certified alpha a b x y z = true ->
  map (fun e => composition (groups (above e))) [x; y; z] = [cs; cs; cs] ->
  map (fun e => composition (groups (below e))) [x; y; z] = [cs; cs; cs] ->
  Q2R alpha = alpha' -> Q2R a = a' -> Q2R b = b' ->
  tradeoff_is_between cs alpha' a' b'.
Proof.
  unfold point_certified; rewrite !Bool.andb_true_iff. intros [[[Hx Hy] Hz] H] [= Ax Ay Az] [= Bx By Bz] <- <- <-.
  destruct (exps x) as [ex|] eqn:Ex; [|discriminate].
  destruct (exps y) as [ey|] eqn:Ey; [|discriminate].
  destruct (exps z) as [ez|] eqn:Ez; [|discriminate].
  apply (point_is_between cs _ _ _ _ _ _ _ _ _ _ _ _ (ends_proper x cs Hx Ax Bx) H
           (deltas_between x cs Hx Ax Bx) (deltas_between y cs Hy Ay By) (deltas_between z cs Hz Az Bz)
           (exps_between x cs Hx Ax Bx ex Ex) (exps_between y cs Hy Ay By ey Ey) (exps_between z cs Hz Az Bz ez Ez)).
Qed.
