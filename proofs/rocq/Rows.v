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

(** Where copy [x] of a row of period [n] begins, if its entries move by [m] when x grows by one. *)
Definition offset (n : nat) (m x : Z) : nat := Z.to_nat ((- (m * x)) mod Z.of_nat n).

(** The sum over j of w_j times the row moved by m (x + j); [dd] is the row twice. *)
Fixpoint mix (n : nat) (m x : Z) (ws : list int) (dd acc : row) : row :=
  match ws with
  | [] => acc
  | w :: rest => mix n m (x + 1) rest dd (add_scaled w acc (skipn (offset n m x) dd))
  end.

(** The same sum in unbounded integers, for one entry. *)
Fixpoint mixed (n : nat) (m x : Z) (ws : list int) (u : row) (i : Z) : Z :=
  match ws with
  | [] => 0
  | w :: rest => to_Z w * entry u (Z.to_nat ((i - m * x) mod Z.of_nat n)) + mixed n m (x + 1) rest u i
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
Lemma entry_of_copy n m x u i :
  length u = n -> (i < n)%nat ->
  nth i (skipn (offset n m x) (u ++ u)) 0%uint63
  = nth (Z.to_nat ((Z.of_nat i - m * x) mod Z.of_nat n)) u 0%uint63.
Proof.
  intros Hlen Hi; rewrite nth_skipn_plus.
  assert (Ho := Z.mod_pos_bound (- (m * x)) (Z.of_nat n) ltac:(lia)).
  unfold offset. rewrite nth_twice by (rewrite Hlen; lia). f_equal. rewrite Hlen.
  apply Nat2Z.inj. rewrite Nat2Z.inj_mod, Nat2Z.inj_add, !Z2Nat.id by (apply Z.mod_pos_bound; lia).
  rewrite Z.add_mod_idemp_l by lia; f_equal; lia.
Qed.

Lemma weight_sum_nonneg ws : 0 <= weight_sum ws.
Proof. induction ws as [|w ws IH]; cbn [weight_sum]; [lia|]. generalize (to_Z_bounded w); lia. Qed.

Lemma mix_length n m x ws dd acc :
  length acc = n -> (length dd = 2 * n)%nat -> (0 < n)%nat -> length (mix n m x ws dd acc) = n.
Proof.
  intros Ha Hd Hn; revert x acc Ha; induction ws as [|w ws IH]; intros x acc Ha; cbn; [assumption|].
  apply IH; rewrite add_scaled_length; [assumption|].
  rewrite skipn_length; unfold offset.
  assert (Ho := Z.mod_pos_bound (- (m * x)) (Z.of_nat n) ltac:(lia)); lia.
Qed.

(** What [mix] computes, if nothing overflows. *)
Theorem mix_entries n m x ws u acc cap i :
  (0 < n)%nat -> length u = n -> length acc = n -> (i < n)%nat ->
  0 <= cap -> (forall j, entry u j <= cap) ->
  entry acc i + weight_sum ws * cap < wB ->
  entry (mix n m x ws (u ++ u) acc) i = entry acc i + mixed n m x ws u (Z.of_nat i).
Proof.
  intros Hn Hu Ha Hi Hcap Hentries; revert x acc Ha.
  induction ws as [|w ws IH]; intros x acc Ha Hsum; cbn [mix mixed weight_sum] in *; [lia|].
  assert (Hlen : (length acc <= length (skipn (offset n m x) (u ++ u)))%nat).
  { rewrite skipn_length, app_length; unfold offset.
    assert (Ho := Z.mod_pos_bound (- (m * x)) (Z.of_nat n) ltac:(lia)); lia. }
  set (e := entry u (Z.to_nat ((Z.of_nat i - m * x) mod Z.of_nat n))).
  assert (He : 0 <= e <= cap) by (split; [apply to_Z_bounded | apply Hentries]).
  assert (Hw := to_Z_bounded w). assert (Hs := weight_sum_nonneg ws).
  assert (Hacc := to_Z_bounded (nth i acc 0%uint63)). fold (entry acc i) in Hacc.
  assert (Hwe : 0 <= to_Z w * e <= to_Z w * cap)
    by (split; [apply Z.mul_nonneg_nonneg | apply Z.mul_le_mono_nonneg_l]; lia).
  assert (Hrest : 0 <= weight_sum ws * cap) by (apply Z.mul_nonneg_nonneg; lia).
  rewrite Z.mul_add_distr_r in Hsum.
  assert (Hnew : entry (add_scaled w acc (skipn (offset n m x) (u ++ u))) i = entry acc i + to_Z w * e).
  { unfold entry at 1; rewrite add_scaled_nth by lia.
    rewrite entry_of_copy by assumption. fold (entry acc i).
    rewrite add_spec, mul_spec. fold (entry acc i).
    change (to_Z (nth (Z.to_nat ((Z.of_nat i - m * x) mod Z.of_nat n)) u 0%uint63)) with e.
    rewrite Z.add_mod_idemp_r by (unfold wB; cbn; lia).
    apply Z.mod_small; lia. }
  rewrite IH.
  - rewrite Hnew; lia.
  - now rewrite add_scaled_length.
  - rewrite Hnew; lia.
Qed.

(** ** Rounding a row up *)

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
