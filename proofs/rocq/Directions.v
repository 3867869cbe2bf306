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

(** Outputs mirrored at half of the shifts. *)
Fixpoint mirror (cs : list count) (xs : list Z) : list Z :=
  match cs, xs with
  | c :: cs', x :: xs' => (shift c - x)%Z :: mirror cs' xs'
  | _, _ => xs
  end.

Lemma mirror_twice cs xs : mirror cs (mirror cs xs) = xs.
Proof.
  revert xs; induction cs as [|c cs IH]; intros [|x xs]; cbn [mirror]; try reflexivity.
  rewrite IH; f_equal; lia.
Qed.

Lemma P_of_mirror cs xs : P cs (mirror cs xs) = Q cs xs.
Proof.
  unfold P, Q; revert xs; induction cs as [|c cs IH]; intros [|x xs]; cbn [mirror product]; try reflexivity.
  rewrite IH; f_equal. unfold P1, Q1; rewrite <- gaussian_even; f_equal; lia.
Qed.

Lemma Q_of_mirror cs xs : Q cs (mirror cs xs) = P cs xs.
Proof. now rewrite <- P_of_mirror, mirror_twice. Qed.

Lemma exchanged_gap_is_mirrored cs eps xs :
  Rmax 0 (Q cs xs - exp eps * P cs xs) = gap cs eps (mirror cs xs).
Proof. unfold gap; now rewrite P_of_mirror, Q_of_mirror. Qed.

Lemma mirror_injective cs : FinFun.Injective (mirror cs).
Proof. intros xs ys Hxy; now rewrite <- (mirror_twice cs xs), Hxy, mirror_twice. Qed.

Lemma exchanged_sums cs eps l :
  lsum (fun xs => Rmax 0 (Q cs xs - exp eps * P cs xs)) l = lsum (gap cs eps) (map (mirror cs) l).
Proof. rewrite lsum_map; apply lsum_ext; intros; apply exchanged_gap_is_mirrored. Qed.

Lemma exchanged_gap_summable cs eps :
  proper cs -> summable (fun xs => Rmax 0 (Q cs xs - exp eps * P cs xs)).
Proof.
  intros H; destruct (gap_summable cs eps H) as [b Hb]; exists b; intros l Hl.
  rewrite exchanged_sums; apply Hb, FinFun.Injective_map_NoDup; [apply mirror_injective | assumption].
Qed.

Theorem delta_is_symmetric cs eps : proper cs -> delta_exchanged cs eps = delta cs eps.
Proof.
  intros H; assert (Hinj := mirror_injective cs).
  apply Rle_antisym; apply total_least; intros l Hl.
  - rewrite exchanged_sums; apply total_upper; [now apply gap_summable | now apply FinFun.Injective_map_NoDup].
  - apply Rle_trans with (lsum (fun xs => Rmax 0 (Q cs xs - exp eps * P cs xs)) (map (mirror cs) l)).
    + right; rewrite exchanged_sums, map_map; f_equal. rewrite <- (map_id l) at 1.
      apply map_ext; intros xs; symmetry; apply mirror_twice.
    + apply total_upper; [now apply exchanged_gap_summable | now apply FinFun.Injective_map_NoDup].
Qed.

Theorem delta_decreases cs eps eps' : proper cs -> eps <= eps' -> delta cs eps' <= delta cs eps.
Proof.
  intros H He; apply total_least; intros l Hl.
  apply Rle_trans with (lsum (gap cs eps) l); [|apply total_upper; [now apply gap_summable | assumption]].
  apply lsum_le; intros xs; apply Rle_max_compat_l.
  apply Rplus_le_compat_l, Ropp_le_contravar, Rmult_le_compat_r; [now apply Q_nonneg | now apply exp_mono].
Qed.
