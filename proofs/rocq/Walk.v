(** * Bounds that walk from count to count

    The transform of section Fourier is one way to add up the aliases. Another needs no complex number: let U be a function of
    period N with g(k) e^(-a k) <= U(k) for every index k. Adding a count turns U into its mean under the tilted law of the count,
    and the inequality stays true. For the lower end U is zero outside of a window, and what is left out is positive. Of a law the
    walk needs a table of upper, or of lower, bounds of its tilted masses. Here stand the inequalities between real numbers;
    Certificate.v computes with them. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick.
Import ListNotations.
Open Scope R_scope.

Definition norms (cms : steps) : R := fold_right (fun cm acc => norm (snd cm) + acc) 0 cms.

Section Walk.
  Variables (c h : R).
  Let a := c * h.

  (** ** One count *)

  (** P1(x) e^(c (loss - base)), in units of exp(norm). *)
  Definition tilted_law (cm : count * reading) (x : Z) : R :=
    P1 (fst cm) x * exp (- (a * IZR (step (snd cm) * place (snd cm) x))) * exp (- norm (snd cm)).

  Lemma tilted_law_nonneg cm x : lawful (fst cm) -> 0 <= tilted_law cm x.
  Proof.
    intros H; apply Rmult_le_pos; [apply Rmult_le_pos|]; [now apply P1_nonneg | left; apply exp_pos | left; apply exp_pos].
  Qed.

  (** A table of upper bounds of the tilted masses at the places from [left] on, and [tau] for all other places together. *)
  Definition table_above (cm : count * reading) (left : Z) (n : nat) (hat : Z -> R) (tau : R) : Prop :=
    forall A u top, (forall y, 0 <= u y <= top) ->
      lsum (fun x => tilted_law cm x * u (place (snd cm) x)) (range A)
      <= lsum (fun y => hat y * u y) (zlist left n) + tau * top.

  (** A table of lower bounds. *)
  Definition table_below (cm : count * reading) (left : Z) (n : nat) (low : Z -> R) : Prop :=
    exists A0, forall A u, (A0 <= A)%nat -> (forall y, 0 <= u y) ->
      lsum (fun y => low y * u y) (zlist left n)
      <= lsum (fun x => tilted_law cm x * u (place (snd cm) x)) (range A).

  (** ** Adding a count *)

  Section Step.
    Variable g : Z -> R.

    (** The value at [k], tilted, in units of the exponentials of the norms. *)
    Definition walked (cms : steps) (A : nat) (k : Z) : R :=
      value cms g A k * exp (- (a * IZR k)) * exp (- norms cms).

    Lemma walked_nil A k : walked [] A k = g k * exp (- (a * IZR k)).
    Proof. unfold walked; cbn; rewrite Ropp_0, exp_0; lra. Qed.

    Lemma walked_cons cm rest A k :
      walked (cm :: rest) A k
      = lsum (fun x => tilted_law cm x * walked rest A (k - step (snd cm) * place (snd cm) x)) (range A).
    Proof.
      destruct cm as [ct v]; unfold walked, tilted_law; cbn [value fst snd].
      rewrite <- !lsum_scale_r; apply lsum_ext; intros x.
      change (norms ((ct, v) :: rest)) with (norm v + norms rest).
      set (s := (step v * place v x)%Z).
      replace (exp (- (a * IZR k))) with (exp (- (a * IZR s)) * exp (- (a * IZR (k - s))))
        by (rewrite <- exp_plus, minus_IZR; f_equal; ring).
      rewrite Ropp_plus_distr, exp_plus; ring.
    Qed.

    (** If [u] bounds the walk so far, its mean under the table bounds the walk with one more count. *)
    Theorem walk_step cm rest left n (hat : Z -> R) tau (u : Z -> R) top :
      lawful (fst cm) ->
      (forall A k, walked rest A k <= u k) -> (forall k, 0 <= u k <= top) ->
      table_above cm left n hat tau ->
      forall A k, walked (cm :: rest) A k
                  <= lsum (fun y => hat y * u (k - step (snd cm) * y)%Z) (zlist left n) + tau * top.
    Proof.
      intros Hl Hu Hpos Ht A k; rewrite walked_cons.
      eapply Rle_trans; [|apply (Ht A (fun y => u (k - step (snd cm) * y)%Z)); intros; apply Hpos].
      apply lsum_le; intros x; apply Rmult_le_compat_l; [now apply tilted_law_nonneg | apply Hu].
    Qed.

    Theorem walk_step_below cm rest left n (low : Z -> R) (u : Z -> R) :
      lawful (fst cm) ->
      (exists A0, forall A k, (A0 <= A)%nat -> u k <= walked rest A k) -> (forall k, 0 <= u k) ->
      table_below cm left n low ->
      exists A0, forall A k, (A0 <= A)%nat ->
        lsum (fun y => low y * u (k - step (snd cm) * y)%Z) (zlist left n) <= walked (cm :: rest) A k.
    Proof.
      intros Hl [A0 Hu] Hpos [A1 Ht]; exists (Nat.max A0 A1); intros A k HA; rewrite walked_cons.
      eapply Rle_trans.
      { apply (Ht A (fun y => u (k - step (snd cm) * y)%Z)); [lia | intros; apply Hpos]. }
      apply lsum_le; intros x; apply Rmult_le_compat_l; [now apply tilted_law_nonneg | apply Hu; lia].
    Qed.
  End Step.

  (** ** The end of the walk *)

  Lemma value_is_walked g cms A : value cms g A 0 = exp (norms cms) * walked g cms A 0.
  Proof.
    unfold walked; rewrite Rmult_0_r, Ropp_0, exp_0, Rmult_1_r.
    rewrite (Rmult_comm (value _ _ _ _)), <- Rmult_assoc, <- exp_plus, Rplus_opp_r, exp_0; ring.
  Qed.

  Lemma value_at_most_walked g cms A b : walked g cms A 0 <= b -> value cms g A 0 <= exp (norms cms) * b.
  Proof. intros H; rewrite value_is_walked; apply Rmult_le_compat_l; [left; apply exp_pos | assumption]. Qed.

  Lemma value_at_least_walked g cms A b : b <= walked g cms A 0 -> exp (norms cms) * b <= value cms g A 0.
  Proof. intros H; rewrite value_is_walked; apply Rmult_le_compat_l; [left; apply exp_pos | assumption]. Qed.
End Walk.
