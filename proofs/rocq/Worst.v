(** * The worst of several compositions

    A release of several block paths is as private as the worst of its units: the smallest epsilon that is enough for each composition of
    a list. A certificate for each shows that some epsilon is enough; a test of one shows that a smaller one is not. *)

From Coq Require Import Reals ZArith Lra List Bool.
From DpAssay Require Import HockeyStick Directions Private Certificate Laws Soundness Below Fine.
Import ListNotations.

Open Scope R_scope.

Definition worst_epsilon (css : list (list count)) (d a b : R) : Prop :=
  exists e, a <= e <= b /\ 0 <= e /\ (forall cs, In cs css -> private cs e d)
    /\ forall e', 0 <= e' -> (forall cs, In cs css -> private cs e' d) -> e <= e'.

(** A list with at least one composition, each with a smallest epsilon of at most b. *)
Lemma worst_exists css d b :
  css <> [] -> (forall cs, In cs css -> smallest_epsilon cs d 0 b) -> worst_epsilon css d 0 b.
Proof.
  intros H Hall; induction css as [|cs rest IH]; [now contradict H|].
  destruct (Hall cs (or_introl eq_refl)) as (e & [_ Heb] & He & Hp & Hleast).
  destruct rest as [|next rest].
  - exists e; split; [lra|split; [assumption|split]].
    + intros cs' [<-|[]]; assumption.
    + intros e' He' Hp'; apply Hleast; [assumption | apply Hp'; now left].
  - destruct IH as (f & [_ Hfb] & Hf & Hq & Hleast'); [discriminate | intros cs' Hcs'; apply Hall; now right|].
    exists (Rmax e f). assert (H0 : 0 <= Rmax e f) by now apply Rle_trans with e; [|apply Rmax_l].
    split; [split; [assumption | now apply Rmax_lub]|split; [assumption|split]].
    + intros cs' [<-|Hin].
      * apply private_wider with e; [assumption | apply Rmax_l].
      * apply private_wider with f; [now apply Hq | apply Rmax_r].
    + intros e' He' Hp'; apply Rmax_lub.
      * apply Hleast; [assumption | apply Hp'; now left].
      * apply Hleast'; [assumption | intros cs' Hcs'; apply Hp'; now right].
Qed.

(** ** The claims of files *)

Lemma all_equal {A} (f : A -> R) v l k : map f l = repeat v (length l) -> In k l -> f k = v.
Proof. intros H Hk; apply (repeat_spec (length l)); rewrite <- H; now apply in_map. Qed.

Theorem worst_epsilon_is_between above one other before ds cs css eps_n eps_d dn dd d a b :
  forallb certified above = true -> test_proves one other before ds eps_n eps_d dn dd = true ->
  map (fun k => composition (groups k)) above = css -> composition (groups one) = cs -> In cs css ->
  IZR eps_n / IZR eps_d = a ->
  map claimed_eps above = repeat b (length above) -> map claimed_delta above = repeat d (length above) -> IZR dn / IZR dd = d ->
  (0 <=? eps_n)%Z = true -> (0 <? eps_d)%Z = true -> forallb (fun k => (0 <=? eps_num k)%Z) above = true ->
  worst_epsilon css d a b.
Proof.
  intros Ha Hb <- <- Hin <- Heps Hdelta Ed H0 Hd H1.
  rewrite forallb_forall in Ha, H1.
  apply test_proves_is_true in Hb; rewrite Ed in Hb; destruct Hb as [Hproper Hb].
  apply Z.leb_le, IZR_le in H0; apply Z.ltb_lt, IZR_lt in Hd.
  assert (Hpositive : 0 <= IZR eps_n / IZR eps_d) by (apply Rmult_le_pos; [assumption | left; now apply Rinv_0_lt_compat]).
  set (a := IZR eps_n / IZR eps_d) in *. set (cs := composition (groups one)) in *.
  destruct (worst_exists (map (fun k => composition (groups k)) above) d b) as (e & [_ Heb] & He & Hp & Hleast).
  - intros Hempty; rewrite Hempty in Hin; destruct Hin.
  - intros cs' (k & <- & Hk)%in_map_iff. assert (Eb := all_equal claimed_eps b above k Heps Hk); assert (Ek := all_equal claimed_delta d above k Hdelta Hk).
    assert (Hc := Ha k Hk). assert (Hn := claimed_eps_nonneg _ (certified_positive _ Hc) (H1 k Hk)).
    apply certified_is_true in Hc; rewrite Eb, Ek in *; destruct Hc as [Hcp Hc].
    apply smallest_epsilon_is_between; try tauto. apply composition_symmetric.
  - exists e; split; [split; [|assumption]|tauto].
    destruct (Rle_lt_dec a e) as [Hae|Hea]; [assumption|exfalso].
    assert (Hprivate : private cs a d) by (apply private_wider with e; [now apply Hp | lra]).
    apply private_means_delta in Hprivate; [lra | assumption].
Qed.
