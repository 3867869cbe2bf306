(** * Circular sums in machine integers

    A row is a list of N primitive 63-bit integers, the values of a function of period N. The one operation here is the sum of
    shifted and weighted copies of a row. No product or sum reaches 2^63: this is proven from bounds of the weights and entries. *)

From Coq Require Import ZArith Lia List Uint63.
Import ListNotations.
Open Scope Z_scope.

Definition row := list int.

Definition entry (u : row) (i : nat) : Z := to_Z (nth i u 0%uint63).

(** The sum of the weights. *)
Fixpoint weight_sum (ws : list int) : Z :=
  match ws with [] => 0 | w :: rest => to_Z w + weight_sum rest end.

(** acc + w d, entry by entry, as long as [acc]. *)
Fixpoint add_scaled (w : int) (acc d : row) : row :=
  match acc, d with
  | a :: acc', v :: d' => (a + w * v)%uint63 :: add_scaled w acc' d'
  | _, _ => []
  end.

(** The sum over j of w_j times a part of [dd] that begins at [off (x + j)]. *)
Fixpoint mix (off : Z -> nat) (x : Z) (ws : list int) (dd acc : row) : row :=
  match ws with
  | [] => acc
  | w :: rest => mix off (x + 1) rest dd (if (w =? 0)%uint63 then acc else add_scaled w acc (skipn (off x) dd))
  end.

(** The same sum in unbounded integers, for one entry. *)
Fixpoint mixed (off : Z -> nat) (x : Z) (ws : list int) (dd : row) (i : nat) : Z :=
  match ws with
  | [] => 0
  | w :: rest => to_Z w * entry dd (off x + i) + mixed off (x + 1) rest dd i
  end.

Lemma add_scaled_length w acc d : (length acc <= length d)%nat -> length (add_scaled w acc d) = length acc.
Proof.
  revert d; induction acc as [|a acc IH]; intros [|v d] H; cbn in *; try lia. now rewrite IH by lia.
Qed.

Lemma add_scaled_nth w acc d i :
  (length acc <= length d)%nat -> (i < length acc)%nat ->
  nth i (add_scaled w acc d) 0%uint63 = (nth i acc 0 + w * nth i d 0)%uint63.
Proof.
  revert d i; induction acc as [|a acc IH]; intros [|v d] i H Hi; cbn in *; try lia.
  destruct i as [|i]; [reflexivity|]. apply IH; lia.
Qed.

Lemma nth_skipn_plus {A} (l : list A) o i d : nth i (skipn o l) d = nth (o + i) l d.
Proof.
  revert l; induction o as [|o IH]; intros l; [reflexivity|].
  destruct l as [|x l]; [now destruct i | apply IH].
Qed.

Lemma weight_sum_nonneg ws : 0 <= weight_sum ws.
Proof. induction ws as [|w ws IH]; cbn [weight_sum]; [lia|]. generalize (to_Z_bounded w); lia. Qed.

Section Mix.
  Variables (n : nat) (off : Z -> nat) (dd : row).
  Hypothesis Hoff : forall x, (off x + n <= length dd)%nat.

  Lemma mix_length x ws acc : length acc = n -> length (mix off x ws dd acc) = n.
  Proof.
    revert x acc; induction ws as [|w ws IH]; intros x acc Ha; cbn; [assumption|].
    apply IH; destruct (w =? 0)%uint63; [assumption|]. rewrite add_scaled_length; [assumption|].
    rewrite skipn_length; specialize (Hoff x); lia.
  Qed.

  (** What [mix] computes, if nothing overflows. *)
  Theorem mix_entries x ws acc cap i :
    length acc = n -> (i < n)%nat -> 0 <= cap -> (forall j, entry dd j <= cap) ->
    entry acc i + weight_sum ws * cap < wB ->
    entry (mix off x ws dd acc) i = entry acc i + mixed off x ws dd i.
  Proof.
    intros Ha Hi Hcap Hentries; revert x acc Ha.
    induction ws as [|w ws IH]; intros x acc Ha Hsum; cbn [mix mixed weight_sum] in *; [lia|].
    destruct (w =? 0)%uint63 eqn:E0.
    { apply eqb_spec in E0; subst w; change (to_Z 0) with 0 in *. rewrite IH; [lia | assumption | lia]. }
    assert (Hlen : (length acc <= length (skipn (off x) dd))%nat).
    { rewrite skipn_length; specialize (Hoff x); lia. }
    set (e := entry dd (off x + i)).
    assert (He : 0 <= e <= cap) by (split; [apply to_Z_bounded | apply Hentries]).
    assert (Hw := to_Z_bounded w). assert (Hs := weight_sum_nonneg ws).
    assert (Hacc := to_Z_bounded (nth i acc 0%uint63)). fold (entry acc i) in Hacc.
    assert (Hwe : 0 <= to_Z w * e <= to_Z w * cap)
      by (split; [apply Z.mul_nonneg_nonneg | apply Z.mul_le_mono_nonneg_l]; lia).
    assert (Hrest : 0 <= weight_sum ws * cap) by (apply Z.mul_nonneg_nonneg; lia).
    rewrite Z.mul_add_distr_r in Hsum.
    assert (Hnew : entry (add_scaled w acc (skipn (off x) dd)) i = entry acc i + to_Z w * e).
    { unfold entry at 1; rewrite add_scaled_nth, nth_skipn_plus by lia.
      rewrite add_spec, mul_spec. fold (entry acc i) (entry dd (off x + i)); fold e.
      rewrite Z.add_mod_idemp_r by (unfold wB; cbn; lia).
      apply Z.mod_small; lia. }
    rewrite IH.
    - rewrite Hnew; lia.
    - now rewrite add_scaled_length.
    - rewrite Hnew; lia.
  Qed.
End Mix.

(** ** A circle: the row twice *)

(** Where copy [x] of a row of period [n] begins, if its entries move by [m] when x grows by one. *)
Definition turn (n : nat) (m x : Z) : nat := Z.to_nat ((- (m * x)) mod Z.of_nat n).

Lemma turn_lt n m x : (0 < n)%nat -> (turn n m x < n)%nat.
Proof. intros Hn; unfold turn; generalize (Z.mod_pos_bound (- (m * x)) (Z.of_nat n) ltac:(lia)); lia. Qed.

Lemma nth_twice {A} (u : list A) k d :
  (k < 2 * length u)%nat -> nth k (u ++ u) d = nth (k mod length u) u d.
Proof.
  intros Hk; destruct (Nat.lt_ge_cases k (length u)) as [H|H].
  - now rewrite app_nth1, Nat.mod_small by assumption.
  - rewrite app_nth2 by assumption; f_equal.
    replace k with ((k - length u) + 1 * length u)%nat at 2 by lia.
    rewrite Nat.mod_add by lia; symmetry; apply Nat.mod_small; lia.
Qed.

(** An entry of a copy is the entry of the row at the index moved back. *)
Lemma entry_of_turn n m x u i :
  length u = n -> (i < n)%nat ->
  entry (u ++ u) (turn n m x + i) = entry u (Z.to_nat ((Z.of_nat i - m * x) mod Z.of_nat n)).
Proof.
  intros Hlen Hi; assert (Ho := turn_lt n m x ltac:(lia)).
  unfold entry; rewrite nth_twice by lia. do 2 f_equal. rewrite Hlen; unfold turn.
  apply Nat2Z.inj. rewrite Nat2Z.inj_mod, Nat2Z.inj_add, !Z2Nat.id by (apply Z.mod_pos_bound; lia).
  rewrite Z.add_mod_idemp_l by lia; f_equal; lia.
Qed.

Lemma twice_entries u cap : 0 <= cap -> (forall j, entry u j <= cap) -> forall j, entry (u ++ u) j <= cap.
Proof.
  intros Hcap H j; unfold entry in *; destruct (Nat.lt_ge_cases j (length u)) as [Hj|Hj].
  - now rewrite app_nth1.
  - rewrite app_nth2 by assumption; apply H.
Qed.

(** ** A window: zeros on both sides of the row *)

Definition zeros (n : nat) : row := repeat 0%uint63 n.
Definition padded (n : nat) (u : row) : row := zeros n ++ u ++ zeros n.

(** The same for a window that moves down by [d]; copies that lie outside of it are all zeros. *)
Definition slide (n : nat) (d m x : Z) : nat :=
  Z.to_nat (Z.max 0 (Z.min (2 * Z.of_nat n) (Z.of_nat n - d - m * x))).

Lemma entry_zeros n i : entry (zeros n) i = 0.
Proof.
  unfold entry, zeros; destruct (Nat.lt_ge_cases i n) as [H|H].
  - replace (nth i (repeat 0%uint63 n) 0%uint63) with 0%uint63; [reflexivity|].
    revert i H; induction n as [|n IH]; intros [|i] H; cbn; try lia; [reflexivity | apply IH; lia].
  - rewrite nth_overflow by (rewrite repeat_length; lia); reflexivity.
Qed.

Lemma entry_app_left u v i : (i < length u)%nat -> entry (u ++ v) i = entry u i.
Proof. intros H; unfold entry; now rewrite app_nth1. Qed.

Lemma entry_app_right u v i : (length u <= i)%nat -> entry (u ++ v) i = entry v (i - length u).
Proof. intros H; unfold entry; now rewrite app_nth2. Qed.

Lemma entry_beyond u i : (length u <= i)%nat -> entry u i = 0.
Proof. intros H; unfold entry; rewrite nth_overflow by assumption; reflexivity. Qed.

(** The entry of a row that begins at index [start], at index [k]; zero outside of it. *)
Definition cell (u : row) (start k : Z) : Z :=
  if start <=? k then entry u (Z.to_nat (k - start)) else 0.

Lemma entry_padded n u i :
  length u = n -> entry (padded n u) i = cell u 0 (Z.of_nat i - Z.of_nat n).
Proof.
  intros Hu; unfold padded, cell. assert (Hz : length (zeros n) = n) by apply repeat_length.
  destruct (Z.leb_spec 0 (Z.of_nat i - Z.of_nat n)) as [H|H].
  - rewrite entry_app_right, Hz by lia. replace (Z.to_nat (Z.of_nat i - Z.of_nat n - 0)) with (i - n)%nat by lia.
    destruct (Nat.lt_ge_cases (i - n) n) as [H'|H'].
    + apply entry_app_left; lia.
    + rewrite entry_app_right, entry_zeros by lia. symmetry; apply entry_beyond; lia.
  - rewrite entry_app_left, entry_zeros by lia; reflexivity.
Qed.

Lemma padded_entries n u cap : length u = n -> 0 <= cap -> (forall j, entry u j <= cap) ->
  forall j, entry (padded n u) j <= cap.
Proof. intros Hu Hcap H j; rewrite entry_padded by assumption; unfold cell; destruct (_ <=? _); auto. Qed.

Lemma entry_of_slide n d m x u i :
  length u = n -> (i < n)%nat ->
  entry (padded n u) (slide n d m x + i) = cell u 0 (Z.of_nat i - d - m * x).
Proof.
  intros Hu Hi; rewrite entry_padded by assumption; unfold slide.
  set (o := Z.of_nat n - d - m * x).
  destruct (Z.lt_ge_cases o 0) as [H0|H0]; [|destruct (Z.lt_ge_cases (2 * Z.of_nat n) o) as [H1|H1]].
  - unfold cell. destruct (Z.leb_spec 0 (Z.of_nat i - d - m * x)); [lia|].
    destruct (Z.leb_spec 0 (Z.of_nat (Z.to_nat (Z.max 0 (Z.min (2 * Z.of_nat n) o)) + i) - Z.of_nat n)); [lia | reflexivity].
  - unfold cell. destruct (Z.leb_spec 0 (Z.of_nat i - d - m * x)); [|lia].
    rewrite (entry_beyond u (Z.to_nat (Z.of_nat i - d - m * x - 0))) by lia.
    destruct (Z.leb_spec 0 (Z.of_nat (Z.to_nat (Z.max 0 (Z.min (2 * Z.of_nat n) o)) + i) - Z.of_nat n)); [|reflexivity].
    apply entry_beyond; lia.
  - f_equal; lia.
Qed.

Lemma slide_in n d m x u : length u = n -> (slide n d m x + n <= length (padded n u))%nat.
Proof.
  intros Hu; unfold padded, zeros; rewrite !app_length, !repeat_length, Hu; unfold slide; lia.
Qed.

(** ** Rounding a row up, or down *)

(** Division of all entries by 2^[s], rounded down. *)
Definition shifted_down (s : int) (u : row) : row := map (fun v => (v >> s)%uint63) u.

Lemma shifted_down_entry s u i :
  (i < length u)%nat -> entry (shifted_down s u) i = entry u i / 2 ^ to_Z s.
Proof.
  intros Hi; unfold entry, shifted_down.
  rewrite (nth_indep _ 0%uint63 (0 >> s)%uint63) by (now rewrite map_length).
  rewrite (map_nth (fun v => (v >> s)%uint63)). apply lsr_spec.
Qed.

(** Division of all entries by 2^[s], rounded up. *)
Definition shifted_up (s : int) (u : row) : row := map (fun v => ((v >> s) + 1)%uint63) u.

Lemma shifted_up_entry s u i :
  (i < length u)%nat -> 0 < to_Z s -> 
  entry (shifted_up s u) i = entry u i / 2 ^ to_Z s + 1.
Proof.
  intros Hi Hs; unfold entry, shifted_up.
  rewrite (nth_indep _ 0%uint63 ((0 >> s) + 1)%uint63) by (now rewrite map_length).
  rewrite (map_nth (fun v => ((v >> s) + 1)%uint63)).
  rewrite add_spec, lsr_spec, to_Z_1.
  assert (Hv := to_Z_bounded (nth i u 0%uint63)); set (v := to_Z (nth i u 0%uint63)) in *.
  assert (H2 : 2 ^ 1 <= 2 ^ to_Z s) by (apply Z.pow_le_mono_r; lia).
  assert (Hq : v / 2 ^ to_Z s <= v / 2) by (apply Z.div_le_compat_l; lia).
  assert (H0 : 0 <= v / 2 ^ to_Z s) by (apply Z.div_pos; lia).
  assert (Hh : v / 2 < wB / 2) by (apply Z.div_lt_upper_bound; [lia|]; apply Hv).
  apply Z.mod_small; split; [lia|].
  assert (wB / 2 + 1 < wB) by reflexivity. lia.
Qed.

(** ** The largest entry *)

Definition largest (u : row) : int := fold_left (fun m v => if (m <? v)%uint63 then v else m) u 0%uint63.

Lemma largest_from u m :
  to_Z m <= to_Z (fold_left (fun m v => if (m <? v)%uint63 then v else m) u m)
  /\ forall i, (i < length u)%nat ->
       to_Z (nth i u 0%uint63) <= to_Z (fold_left (fun m v => if (m <? v)%uint63 then v else m) u m).
Proof.
  revert m; induction u as [|v u IH]; intros m; cbn [fold_left]; [split; [lia|]; cbn; lia|].
  destruct (IH (if (m <? v)%uint63 then v else m)) as [H1 H2].
  assert (Hm : to_Z m <= to_Z (if (m <? v)%uint63 then v else m)
               /\ to_Z v <= to_Z (if (m <? v)%uint63 then v else m)).
  { destruct (m <? v)%uint63 eqn:E; [apply ltb_spec in E; lia|].
    assert (~ to_Z m < to_Z v) by (rewrite <- ltb_spec; now rewrite E). lia. }
  split; [lia|]. intros [|i] Hi; cbn [nth length] in *; [lia | apply H2; lia].
Qed.

Lemma largest_bound u i : entry u i <= to_Z (largest u).
Proof.
  destruct (largest_from u 0%uint63) as [H1 H2]; unfold entry, largest in *.
  destruct (Nat.lt_ge_cases i (length u)) as [H|H]; [auto|].
  rewrite nth_overflow by assumption; assumption.
Qed.
