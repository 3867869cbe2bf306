(** * Certificates that are checked by computing

    A certificate is a composition of groups of equal counts on a lattice, with eps, a claimed delta, and hints: a tilt, a number
    of nodes, windows. [certified] computes with integers only. [certified_is_true] says that its answer "true" proves the claim.
    A bad hint makes the answer "false", never a false claim true. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Uint63.
From DpAssay Require Import Sums Gaussian HockeyStick Walk Fixed Rows.
Import ListNotations.

(** ** Data *)

(** [copies] counts of variance proxy num / den, moved by [move] between neighbors. *)
Record group := Group {
  num : Z; den : Z; move : Z; copies : nat;
  step : Z;    (* hint: the loss changes by step * h when the output changes by one *)
  left : Z;    (* hint: the window of outputs whose tilted weights are summed one by one *)
  width : nat;
  reach : nat  (* hint: outputs from -reach to reach bound the normalising sum from below *)
}.

Record certificate := Certificate {
  groups : list group;
  eps_num : Z; eps_den : Z;
  delta_num : Z; delta_den : Z;
  h_num : Z; h_den : Z;     (* the step of the lattice of losses *)
  c_num : Z; c_den : Z;     (* hint: the tilt *)
  period : nat;             (* hint: the period, in steps of the lattice *)
  lo : Z;                   (* hint: the index of the smallest loss that is at least eps *)
  prec : positive;          (* hint: bits of the fixed-point numbers *)
  squarings : nat           (* hint: squarings in exponentials *)
}.

Definition count_of (g : group) : count := Count (IZR (num g) / IZR (den g)) (move g).

Definition stepped (gs : list group) : steps :=
  flat_map (fun g => repeat (count_of g, step g) (copies g)) gs.

Definition composition (gs : list group) : list count :=
  flat_map (fun g => repeat (count_of g) (copies g)) gs.

(** ** The computation *)

Open Scope Z_scope.

(** Rows and weights are in units of 2^-30. No entry of a row and no sum of weights is above 2. *)
Definition whole : Z := 2 ^ 30.
Definition top : Z := 2 ^ 31.

Definition zsum (l : list Z) : Z := fold_right Z.add 0 l.

(** Numbers that fit into rows. *)
Definition fits (z : Z) : bool := (0 <=? z) && (z <=? top).
Definition to_row (l : list Z) : row := map of_Z l.

Section Compute.
  Variable k : certificate.

  (** *** The tilted law of one count *)

  Definition tilted_up (g : group) (x : Z) : Z :=
    exp_up (prec k) (squarings k)
      ((x * c_den k + c_num k * move g) ^ 2 * den g) (2 * num g * c_den k ^ 2).

  Definition mass_down (g : group) : Z :=
    zsum (map (fun x => exp_down (prec k) (squarings k) (x * x * den g) (2 * num g)) (range (reach g))).

  Definition law_up (g : group) (z : Z) : list Z :=
    map (fun x => quotient_up (tilted_up g x * whole) z) (zlist (left g) (width g)).

  (** The ratios of neighboring weights at the ends of the window: exp(- ratio / (2 num c_den)). *)
  Definition right_end (g : group) : Z := left g + Z.of_nat (width g).
  Definition right_ratio (g : group) : Z :=
    (2 * (right_end g * c_den k + c_num k * move g) + c_den k) * den g.
  Definition left_ratio (g : group) : Z :=
    (c_den k - 2 * ((left g - 1) * c_den k + c_num k * move g)) * den g.

  Definition ratio_up (g : group) (ratio : Z) : Z :=
    exp_up (prec k) (squarings k) ratio (2 * num g * c_den k).

  Definition tail_up (g : group) (z : Z) : Z :=
    let one := two_to (prec k) in
    quotient_up (tilted_up g (right_end g) * one * whole) ((one - ratio_up g (right_ratio g)) * z)
    + quotient_up (tilted_up g (left g - 1) * one * whole) ((one - ratio_up g (left_ratio g)) * z).

  Definition group_is_sound (g : group) (z : Z) : bool :=
    (0 <? num g) && (0 <? den g) && (0 <? z)
    && (move g * den g * h_den k =? step g * h_num k * num g)
    && (0 <=? right_ratio g) && (0 <=? left_ratio g)
    && (ratio_up g (right_ratio g) <? two_to (prec k))
    && (ratio_up g (left_ratio g) <? two_to (prec k))
    && forallb fits (law_up g z) && fits (tail_up g z)
    && (zsum (law_up g z) + tail_up g z <=? top).

  (** *** Rows *)

  Definition row_fits (u : row) : bool := forallb (fun v => to_Z v <=? top) u.

  Definition next (g : group) (ws : list int) (tail : int) (u : row) : row :=
    shifted_up 30 (mix (period k) (step g) (left g) ws (u ++ u) (repeat (tail * largest u)%uint63 (period k))).

  Fixpoint walk_copies (g : group) (ws : list int) (tail : int) (copies : nat) (u : row) : option row :=
    match copies with
    | O => Some u
    | S copies' =>
      match walk_copies g ws tail copies' u with
      | None => None
      | Some v => let w := next g ws tail v in if row_fits w then Some w else None
      end
    end.

  Definition walk_group (g : group) (u : row) : option row :=
    let z := mass_down g in
    if group_is_sound g z then walk_copies g (to_row (law_up g z)) (of_Z (tail_up g z)) (copies g) u else None.

  Fixpoint walk (gs : list group) (u : row) : option row :=
    match gs with
    | [] => Some u
    | g :: rest => match walk rest u with None => None | Some v => walk_group g v end
    end.

  (** *** The first row: the gain, tilted *)

  (** 2 rho / h, an integer. *)
  Definition rho_steps : Z := zsum (map (fun g => Z.of_nat (copies g) * (move g * step g)) (groups k)).

  (** The loss of index [lo] less eps, times 2 h_den eps_den. *)
  Definition excess : Z := h_num k * (rho_steps + 2 * lo k) * eps_den k - 2 * h_den k * eps_num k.

  Fixpoint first_row (n : nat) (fall keep alias e f : Z) : list Z :=
    match n with
    | O => []
    | S n' =>
      (scale_up (prec k) (scale_up (prec k) (e * (two_to (prec k) - f)) * whole) + alias)
      :: first_row n' fall keep alias (scale_up (prec k) (e * fall)) (scale_down (prec k) (f * keep))
    end.

  Definition first : list Z :=
    let p := prec k in let r := squarings k in
    let fall := exp_up p r (c_num k * h_num k) (c_den k * h_den k) in
    let keep := exp_down p r (h_num k) (h_den k) in
    let alias := scale_up p (exp_up p r (c_num k * h_num k * Z.of_nat (period k)) (c_den k * h_den k) * whole) in
    first_row (period k) fall keep alias (two_to p) (exp_down p r excess (2 * h_den k * eps_den k)).

  (** *** The end *)

  (** exp(-last_num / last_den) = exp(c^2 rho - c h lo). *)
  Definition last_num : Z := c_num k * h_num k * (2 * c_den k * lo k - c_num k * rho_steps).
  Definition last_den : Z := 2 * c_den k ^ 2 * h_den k.

  Definition positive_data : bool :=
    (0 <? h_num k) && (0 <? h_den k) && (0 <? c_num k) && (0 <? c_den k)
    && (0 <? eps_den k) && (0 <? delta_den k) && (0 <? Z.of_nat (period k)).

  Definition lo_is_first : bool :=
    (0 <=? excess) && (excess <=? 2 * h_num k * eps_den k).

  Definition certified : bool :=
    positive_data && lo_is_first && forallb fits first
    && match exp_up_signed (prec k) (squarings k) last_num last_den, walk (groups k) (to_row first) with
       | Some factor, Some u =>
         factor * entry u (Z.to_nat ((0 - lo k) mod Z.of_nat (period k))) * delta_den k
         <=? delta_num k * two_to (prec k) * whole
       | _, _ => false
       end.
End Compute.
