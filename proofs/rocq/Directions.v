(** * Both directions, and smaller epsilons

    Neighbors are neighbors both ways: the profile of (Q, P) is that of (P, Q). And delta falls as epsilon grows. *)

From Coq Require Import Reals ZArith Lra Lia.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick.
Import ListNotations.
Open Scope R_scope.

(** The profile with the two neighbors in exchanged roles. *)
Definition delta_exchanged (cs : list count) (eps : R) : R :=
  total (fun xs => Rmax 0 (Q cs xs - exp eps * P cs xs)).

(** A map of outputs that exchanges the two laws of a count, and is its own inverse. *)
Definition mirrored (c : count) (s : Z -> Z) : Prop :=
  (forall x, s (s x) = x) /\ (forall x, P1 c (s x) = Q1 c x).

Definition symmetric (cs : list count) : Prop := exists ss, Forall2 mirrored cs ss.

(** Even noise: outputs mirrored at half of the shift. *)
Lemma even_noise_mirrored f m :
  (forall x, f (- x)%Z = f x) -> mirrored (Pair f (fun x => f (x - m)%Z)) (fun x => (m - x)%Z).
Proof.
  intros H; split; cbn [P1 Q1]; intros x; [lia|]. rewrite <- H; f_equal; lia.
Qed.

Lemma Count_mirrored s m : mirrored (Count s m) (fun x => (m - x)%Z).
Proof. apply even_noise_mirrored, gaussian_even. Qed.

Fixpoint mirror (ss : list (Z -> Z)) (xs : list Z) : list Z :=
  match ss, xs with
  | s :: ss', x :: xs' => s x :: mirror ss' xs'
  | _, _ => xs
  end.

Section Mirror.
  Variables (cs : list count) (ss : list (Z -> Z)).
  Hypothesis Hss : Forall2 mirrored cs ss.

  Lemma mirror_twice xs : mirror ss (mirror ss xs) = xs.
  Proof.
    revert xs; induction Hss as [|c s cs' ss' [Hs _] Hall IH]; intros [|x xs]; cbn [mirror]; try reflexivity.
    now rewrite (IH Hall), Hs.
  Qed.

  Lemma P_of_mirror xs : P cs (mirror ss xs) = Q cs xs.
  Proof.
    unfold P, Q; revert xs; induction Hss as [|c s cs' ss' [_ Hs] Hall IH]; intros [|x xs]; cbn [mirror product]; try reflexivity.
    now rewrite (IH Hall), Hs.
  Qed.

  Lemma Q_of_mirror xs : Q cs (mirror ss xs) = P cs xs.
  Proof. now rewrite <- P_of_mirror, mirror_twice. Qed.

  Lemma exchanged_gap_is_mirrored eps xs :
    Rmax 0 (Q cs xs - exp eps * P cs xs) = gap cs eps (mirror ss xs).
  Proof. unfold gap; now rewrite P_of_mirror, Q_of_mirror. Qed.

  Lemma mirror_injective : FinFun.Injective (mirror ss).
  Proof. intros xs ys Hxy; now rewrite <- (mirror_twice xs), Hxy, mirror_twice. Qed.

  Lemma exchanged_sums eps l :
    lsum (fun xs => Rmax 0 (Q cs xs - exp eps * P cs xs)) l = lsum (gap cs eps) (map (mirror ss) l).
  Proof. rewrite lsum_map; apply lsum_ext; intros; apply exchanged_gap_is_mirrored. Qed.
End Mirror.

Lemma exchanged_gap_summable cs eps :
  proper cs -> symmetric cs -> summable (fun xs => Rmax 0 (Q cs xs - exp eps * P cs xs)).
Proof.
  intros H [ss Hss]; destruct (gap_summable cs eps H) as [b Hb]; exists b; intros l Hl.
  rewrite (exchanged_sums cs ss) by assumption.
  apply Hb, FinFun.Injective_map_NoDup; [now apply (mirror_injective cs) | assumption].
Qed.

Theorem delta_is_symmetric cs eps : proper cs -> symmetric cs -> delta_exchanged cs eps = delta cs eps.
Proof.
  intros H Hsym; assert (Hs := exchanged_gap_summable cs eps H Hsym). destruct Hsym as [ss Hss].
  assert (Hinj := mirror_injective cs ss Hss).
  apply Rle_antisym; apply total_least; intros l Hl.
  - rewrite (exchanged_sums cs ss) by assumption.
    apply total_upper; [now apply gap_summable | now apply FinFun.Injective_map_NoDup].
  - apply Rle_trans with (lsum (fun xs => Rmax 0 (Q cs xs - exp eps * P cs xs)) (map (mirror ss) l)).
    + right; rewrite (exchanged_sums cs ss), map_map by assumption; f_equal. rewrite <- (map_id l) at 1.
      apply map_ext; intros xs; symmetry; now apply (mirror_twice cs).
    + apply total_upper; [assumption | now apply FinFun.Injective_map_NoDup].
Qed.

Theorem delta_decreases cs eps eps' : proper cs -> eps <= eps' -> delta cs eps' <= delta cs eps.
Proof.
  intros H He; apply total_least; intros l Hl.
  apply Rle_trans with (lsum (gap cs eps) l); [|apply total_upper; [now apply gap_summable | assumption]].
  apply lsum_le; intros xs; apply Rle_max_compat_l.
  apply Rplus_le_compat_l, Ropp_le_contravar, Rmult_le_compat_r; [now apply Q_nonneg | now apply exp_mono].
Qed.
