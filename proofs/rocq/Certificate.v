(** * Certificates that are checked by computing

    A certificate is a composition of groups of equal counts on a lattice, with eps, a claimed delta, and hints: a tilt, a period,
    windows. [certified] and [certified_below] compute with integers only. [certified_is_true] and [certified_below_is_true] say
    that their answer "true" proves delta(eps) <= delta, or delta(eps) > delta. A bad hint makes the answer "false", never a false
    claim true. *)

From Coq Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List Uint63.
From DpAssay Require Import Sums Gaussian HockeyStick Laplace Cells Walk Tables Response Bounded Fixed Rows.
Import ListNotations.

(** ** Data *)

(** How the losses of a discrete Gaussian count are put on a lattice that is too coarse for them: each output split into the two ends of
    its cell, for upper ends; or all losses rounded to the nearest point, seen from either neighbor, for lower ends. *)
Inductive cells := Split | Near | Far.

(** Noise on finitely many integers: discrete Gaussian or discrete Laplace noise from -bound to bound, or one of that many answers. *)
Inductive bounded := GaussWithin | LapWithin | OneOf.

(** The noise of a count: its variance proxy sigma2, or its parameter epsilon, is num / den. Of randomized response, with probability inum / iden
    the output is one that only one neighbor can have; nn is a hint, the norm: tilted masses are in units of its exponential. *)
Inductive noise :=
  | Gauss (num den : Z)
  | Lap (num den nn : Z)
  | Resp (num den inum iden nn : Z)
  | Bounded (kind : bounded) (num den bound : Z)
      (nn : Z)  (* hint: the norm *)
  | Cell (kind : cells) (num den : Z)
      (hn hd : Z)  (* the step of the coarse lattice *)
      (nk : Z)     (* hint: the norm in steps *)
      (xa : Z) (xn : nat). (* hint: the outputs from xa to xa + xn - 1 are in the table *)

(** [copies] counts of a noise, moved by [move] between neighbors. *)
Record group := Terms {
  law : noise; move : Z; copies : nat;
  stride : Z;  (* hint: the loss changes by stride * h when the place of the output changes by one *)
  left : Z;    (* hint: the window of places whose tilted masses are in the table *)
  width : nat;
  reach : nat  (* hint: outputs from -reach to reach are summed one by one for the normalizing sum *)
}.

Definition Group (num den move : Z) : nat -> Z -> Z -> nat -> nat -> group :=
  Terms (Gauss num den) move.
Definition LaplaceGroup (num den move : Z) (copies : nat) (stride nn : Z) (reach : nat) : group :=
  Terms (Lap num den nn) move copies stride 0 (S (Z.to_nat move)) reach.
Definition BoxGroup (num den inum iden : Z) (copies : nat) (stride nn : Z) : group :=
  Terms (Resp num den inum iden nn) 1 copies stride 0 2 0.
Definition TruncatedGroup (num den bound move : Z) (copies : nat) (stride nn left : Z) (width : nat) : group :=
  Terms (Bounded GaussWithin num den bound nn) move copies stride left width 0.
Definition TruncatedLaplaceGroup (num den bound move : Z) (copies : nat) (stride nn left : Z) (width : nat) : group :=
  Terms (Bounded LapWithin num den bound nn) move copies stride left width 0.
Definition AnswersGroup (num den answers : Z) (copies : nat) (stride nn : Z) : group :=
  Terms (Bounded OneOf num den answers nn) 2 copies stride 0 3 0.
Definition ResponseGroup (num den : Z) : nat -> Z -> Z -> group := BoxGroup num den 0 1.

Record certificate := Certificate {
  groups : list group;
  eps_num : Z; eps_den : Z;
  delta_num : Z; delta_den : Z;
  h_num : Z; h_den : Z;     (* the step of the lattice of losses *)
  c_num : Z; c_den : Z;     (* hint: the tilt *)
  period : nat;             (* hint: the period, or the length of the window, in steps of the lattice *)
  lo : Z;                   (* hint: the index of the smallest loss that is at least eps *)
  prec : positive;          (* hint: bits of the fixed-point numbers *)
  squarings : nat           (* hint: squarings in exponentials *)
}.

Definition CellGroup (kind : cells) (num den move : Z) (copies : nat) (hn hd nk xa : Z) (xn : nat) (left : Z) (width reach : nat) : group :=
  Terms (Cell kind num den hn hd nk xa xn) move copies 1 left width reach.

Definition noisy (l : noise) (m : Z) : count :=
  match l with
  | Gauss num den => Count (IZR num / IZR den) m
  | Lap num den _ => Laplace (IZR num / IZR den) m
  | Resp num den 0 _ _ => Response (IZR num / IZR den)
  | Resp num den inum iden _ => Box (IZR num / IZR den) (IZR inum / IZR iden)
  | Bounded GaussWithin num den b _ => TruncatedGaussian (IZR num / IZR den) b m
  | Bounded LapWithin num den b _ => TruncatedLaplace (IZR num / IZR den) b m
  | Bounded OneOf num den n _ => Answers (IZR num / IZR den) (Z.to_nat n)
  | Cell _ num den _ _ _ _ _ => Count (IZR num / IZR den) m
  end.

Definition count_of (g : group) : count := noisy (law g) (move g).

(** The lower end of the cell of output x, and the point of the lattice nearest to - loss. *)
Definition lower_cell (num den m hn hd x : Z) : Z := ((m * (2 * x - m) * den * hd) / (2 * num * hn))%Z.
Definition nearest (num den m hn hd x : Z) : Z := ((m * (2 * x - m) * den * hd + num * hn) / (2 * num * hn))%Z.

(** The place of an output of a count with cells; of a split count the outputs are 2 x and 2 x + 1. *)
Definition cell_place (kind : cells) (num den m hn hd y : Z) : Z :=
  match kind with
  | Split => part_cell (lower_cell num den m hn hd) y
  | _ => nearest num den m hn hd y
  end.

(** Of bounded noise: the outputs that both neighbors can have, the weight exp(- energy_num / energy_den) of one, and its place. *)
Section Common.
  Variables (kind : bounded) (num den bound m : Z).

  Definition first_common : Z := match kind with OneOf => 0 | _ => m - bound end.
  Definition commons : nat := match kind with OneOf => Z.to_nat bound | _ => overlap bound m end.
  Definition common_outputs : list Z := zlist first_common commons.

  Definition energy_num (x : Z) : Z :=
    match kind with GaussWithin => x * x * den | LapWithin => Z.abs x * num | OneOf => if x =? 0 then 0 else num end.
  Definition energy_den : Z := match kind with GaussWithin => 2 * num | _ => den end.

  Definition common_place (x : Z) : Z :=
    match kind with GaussWithin => x | LapWithin => clamp m x | OneOf => answer_place x end.

  (** The weights of both neighbors. *)
  Definition own_weight : Z -> R :=
    match kind with
    | GaussWithin => weight (IZR num / IZR den)
    | LapWithin => geometric (IZR num / IZR den)
    | OneOf => answer (IZR num / IZR den) 0
    end.
  Definition other_weight : Z -> R :=
    match kind with
    | GaussWithin => fun x => weight (IZR num / IZR den) (x - m)
    | LapWithin => fun x => geometric (IZR num / IZR den) (x - m)
    | OneOf => answer (IZR num / IZR den) 1
    end.

  Definition common_count : count := common_part own_weight other_weight first_common commons.
End Common.

(** The count whose law the walk adds up: of one with infinite losses its law given that the loss is finite. *)
Definition carrier_of (g : group) : count :=
  match law g with
  | Cell Split num den hn hd _ _ _ =>
    SplitCount (IZR num / IZR den) (IZR hn / IZR hd) (move g) (lower_cell num den (move g) hn hd)
  | Cell Far num den _ _ _ _ _ => Pair (fun x => gaussian (IZR num / IZR den) (x - move g)) (gaussian (IZR num / IZR den))
  | Resp num den _ _ _ => Response (IZR num / IZR den)
  | Bounded kind num den b _ => common_count kind num den b (move g)
  | _ => count_of g
  end.

(** The losses of the carrier are on the lattice. *)
Definition aligned (g : group) : bool :=
  match law g with Cell Near _ _ _ _ _ _ _ | Cell Far _ _ _ _ _ _ _ => false | _ => true end.

(** All losses are finite. *)
Definition finite (g : group) : bool :=
  match law g with
  | Resp _ _ inum _ _ => (inum =? 0)%Z
  | Bounded OneOf _ _ _ _ => true
  | Bounded _ _ _ _ _ => false
  | _ => true
  end.

Definition exact (g : group) : bool := (aligned g && finite g)%bool.

Definition composition (gs : list group) : list count :=
  flat_map (fun g => repeat (count_of g) (copies g)) gs.

Definition carriers (gs : list group) : list count :=
  flat_map (fun g => repeat (carrier_of g) (copies g)) gs.

(** ** The computation *)

Open Scope bool_scope.
Open Scope Z_scope.

(** Rows and tables are in units of 2^-30. No entry of a row and no sum of a table is above 2. *)
Definition whole : Z := 2 ^ 30.
Definition top : Z := 2 ^ 31.

(** The fraction of half a step of the lattice in which norms are hinted. *)
Definition norm_unit : Z := 2 ^ 20.

Definition zsum (l : list Z) : Z := fold_right Z.add 0 l.

(** Numbers that fit into rows. *)
Definition fits (z : Z) : bool := (0 <=? z) && (z <=? top).
Definition to_row (l : list Z) : row := map of_Z l.

Section Compute.
  Variable k : certificate.

  Let p := prec k.
  Let r := squarings k.
  Let one := two_to p.

  (** *** The table of a discrete Gaussian *)

  Section Gauss.
    Variables (num den m : Z) (a : Z) (w : nat) (b : nat). (* the window from [a] on, and the reach [b] *)

    Definition tilted_up (x : Z) : Z := exp_up p r ((x * c_den k + c_num k * m) ^ 2 * den) (2 * num * c_den k ^ 2).
    Definition tilted_down (x : Z) : Z := exp_down p r ((x * c_den k + c_num k * m) ^ 2 * den) (2 * num * c_den k ^ 2).

    Definition mass_down : Z := zsum (map (fun x => exp_down p r (x * x * den) (2 * num)) (range b)).

    (** The ratio of neighboring weights beyond the reach, and the weights there. *)
    Definition fall_up : Z := exp_up p r ((2 * (Z.of_nat b + 1) + 1) * den) (2 * num).
    Definition mass_up : Z :=
      zsum (map (fun x => exp_up p r (x * x * den) (2 * num)) (range b))
      + 2 * quotient_up (exp_up p r ((Z.of_nat b + 1) ^ 2 * den) (2 * num) * one) (one - fall_up).

    (** The ratios of neighboring weights at the ends of the window: exp(- ratio / (2 num c_den)). *)
    Definition right_end : Z := a + Z.of_nat w.
    Definition right_ratio : Z := (2 * (right_end * c_den k + c_num k * m) + c_den k) * den.
    Definition left_ratio : Z := (c_den k - 2 * ((a - 1) * c_den k + c_num k * m)) * den.
    Definition ratio_up (ratio : Z) : Z := exp_up p r ratio (2 * num * c_den k).

    Definition gauss_up (z x : Z) : Z := quotient_up (tilted_up x * whole) z.
    Definition gauss_down (z x : Z) : Z := quotient_down (tilted_down x * whole) z.

    Definition tail_up (z : Z) : Z :=
      quotient_up (tilted_up right_end * one * whole) ((one - ratio_up right_ratio) * z)
      + quotient_up (tilted_up (a - 1) * one * whole) ((one - ratio_up left_ratio) * z).

    Definition gauss_table_up : option (list Z * Z) :=
      let z := mass_down in
      if (0 <? z) && (0 <=? right_ratio) && (0 <=? left_ratio)
         && (ratio_up right_ratio <? one) && (ratio_up left_ratio <? one)
      then Some (map (gauss_up z) (zlist a w), tail_up z) else None.

    Definition gauss_table_down : option (list Z) :=
      if fall_up <? one then let z := mass_up in Some (map (gauss_down z) (zlist a w)) else None.
  End Gauss.

  (** *** The tables of cells *)

  Section Cells.
    Variables (kind : cells) (num den m hn hd nk xa : Z) (xn b : nat).

    (** The mean of the noise. *)
    Definition mean : Z := match kind with Far => m | _ => 0 end.

    (** exp(- exponent_num / exponent_den) is the tilted weight of output x at the place y. *)
    Definition exponent_den : Z := 2 * num * c_den k ^ 2 * h_den k.
    Definition exponent_free (x : Z) : Z :=
      (x - mean) ^ 2 * den * (c_den k ^ 2 * h_den k) + num * (c_num k ^ 2 * h_num k * nk).
    Definition exponent_num (x y : Z) : Z := exponent_free x + 2 * num * (c_den k * c_num k * h_num k * y).

    (** The same for an envelope, with a place that is not rounded, one step lower. *)
    Definition envelope_den : Z := exponent_den * hn.
    Definition envelope_num (x : Z) : Z :=
      exponent_free x * hn + c_den k * c_num k * h_num k * (m * (2 * x - m) * den * hd - 2 * num * hn).

    Definition small : nat := 16.

    (** Output x: its place or places, and bounds of its tilted masses there. *)
    Definition split_atoms_up (z fall keep_up keep_down : Z) (x : Z) : list (Z * Z) :=
      let top_num := m * (2 * x - m) * den * hd in
      let q := 2 * num * hn in
      let y := lower_cell num den m hn hd x in
      let gap := hn * (q - top_num mod q) in
      let v := exp_up p r (exponent_num x y) exponent_den in
      let d := (one - keep_up) * z in
      [(y, quotient_up (v * (one - exp_down p small gap (hd * q)) * whole) d);
       (y + 1, quotient_up (scale_up p (v * fall) * (exp_up p small gap (hd * q) - keep_down) * whole) d)].

    Definition near_atoms_up (z x : Z) : list (Z * Z) :=
      let y := nearest num den m hn hd x in
      [(y, quotient_up (exp_up p r (exponent_num x y) exponent_den * whole) z)].

    Definition near_atoms_down (z x : Z) : list (Z * Z) :=
      let y := nearest num den m hn hd x in
      [(y, quotient_down (exp_down_signed p r (exponent_num x y) exponent_den * whole) z)].

    (** The exponents are not negative. *)
    Definition fine_place (x : Z) : Z := match kind with Split => lower_cell num den m hn hd x | _ => nearest num den m hn hd x end.
    Definition exponents_fine : bool := forallb (fun x => 0 <=? exponent_num x (fine_place x)) (zlist xa xn).

    Definition at_place (atoms : list (Z * Z)) (y : Z) : Z := zsum (map snd (filter (fun pv => fst pv =? y) atoms)).
    Definition in_window (a : Z) (w : nat) (atoms : list (Z * Z)) : bool :=
      forallb (fun pv => (a <=? fst pv) && (fst pv <? a + Z.of_nat w)) atoms.

    (** The envelope beyond an end of the window of outputs: its first value and its ratio. *)
    Definition end_up (z x next : Z) : Z :=
      quotient_up (exp_up p r (envelope_num x) envelope_den * one * whole)
                  ((one - exp_up p r (envelope_num next - envelope_num x) envelope_den) * z).
    Definition end_fine (x next : Z) : bool :=
      (0 <=? envelope_num x) && (0 <=? envelope_num next - envelope_num x)
      && (exp_up p r (envelope_num next - envelope_num x) envelope_den <? one).

    Definition cell_table_up (a : Z) (w : nat) : option (list Z * Z) :=
      let z := mass_down num den b in
      let right := xa + Z.of_nat xn in
      let keep_up := exp_up p small hn hd in
      let keep_down := exp_down p small hn hd in
      let fall := exp_up p r (c_num k * h_num k) (c_den k * h_den k) in
      let atoms := match kind with
                   | Split => flat_map (split_atoms_up z fall keep_up keep_down) (zlist xa xn)
                   | _ => flat_map (near_atoms_up z) (zlist xa xn)
                   end in
      if (0 <? z) && (keep_up <? one) && exponents_fine && in_window a w atoms
         && end_fine right (right + 1) && end_fine (xa - 1) (xa - 2)
      then Some (map (at_place atoms) (zlist a w), end_up z right (right + 1) + end_up z (xa - 1) (xa - 2)) else None.

    Definition cell_table_down (a : Z) (w : nat) : option (list Z) :=
      match kind with
      | Split => None
      | _ =>
        if fall_up num den b <? one
        then let z := mass_up num den b in
             let atoms := flat_map (near_atoms_down z) (zlist xa xn) in
             if in_window a w atoms then Some (map (at_place atoms) (zlist a w)) else None
        else None
      end.
  End Cells.

  (** *** The table of discrete Laplace noise *)

  Section Lap.
    Variables (num den m : Z) (b : nat) (nn : Z).

    (** exp(- norm_num / norm_den) is one over the unit of the masses. *)
    Definition norm_num : Z := c_num k ^ 2 * h_num k * nn.
    Definition norm_den : Z := c_den k ^ 2 * h_den k * (2 * norm_unit).

    Definition geometric_up (y : Z) : Z := exp_up p r (num * (c_den k + 2 * c_num k) * y) (den * c_den k).
    Definition geometric_down (y : Z) : Z := exp_down p r (num * (c_den k + 2 * c_num k) * y) (den * c_den k).
    Definition ends (y inside : Z) : Z := if y =? 0 then one else if y =? m then one else inside.

    Definition lap_up (unit q_down y : Z) : Z :=
      quotient_up (geometric_up y * unit * ends y (one - q_down) * whole) ((one + q_down) * one * one).
    (** Only outputs up to [b] beyond either true value are counted. *)
    Definition lap_down (unit q_up beyond y : Z) : Z :=
      quotient_down (geometric_down y * unit * ends y (one - q_up) * (one - beyond) * whole) ((one + q_up) * one * one * one).

    Definition lap_table_up : option (list Z * Z) :=
      let q := exp_down p r num den in
      match exp_up_signed p r norm_num norm_den with
      | Some unit => Some (map (lap_up unit q) (zlist 0 (S (Z.to_nat m))), 0)
      | None => None
      end.

    Definition lap_table_down : option (list Z) :=
      let q := exp_up p r num den in
      let beyond := exp_up p r (num * Z.of_nat (S b)) den in
      let unit := exp_down_signed p r norm_num norm_den in
      if (q <=? one) && (beyond <=? one) then Some (map (lap_down unit q beyond) (zlist 0 (S (Z.to_nat m)))) else None.
  End Lap.

  (** *** The table of randomized response *)

  Section Resp.
    Variables (num den nn : Z).

    (** exp(- exponent) / (1 + e^-epsilon) is the tilted mass of answer y. *)
    Definition response_num (y : Z) : Z :=
      num * (c_den k + 2 * c_num k) * y * (c_den k * h_den k * (2 * norm_unit)) + den * (c_num k ^ 2 * h_num k * nn).
    Definition response_den : Z := den * c_den k ^ 2 * h_den k * (2 * norm_unit).

    Definition resp_table_up : option (list Z * Z) :=
      let q := exp_down p r num den in
      match exp_up_signed p r (response_num 0) response_den, exp_up_signed p r (response_num 1) response_den with
      | Some v0, Some v1 => Some ([quotient_up (v0 * whole) (one + q); quotient_up (v1 * whole) (one + q)], 0)
      | _, _ => None
      end.

    Definition resp_table_down : option (list Z) :=
      let q := exp_up p r num den in
      let down y := quotient_down (exp_down_signed p r (response_num y) response_den * whole) (one + q) in
      Some [down 0; down 1].
  End Resp.

  (** *** The table of bounded noise: all outputs are listed *)

  Section Bounded.
    Variables (kind : bounded) (num den bound nn m st : Z).
    Let xs := common_outputs kind bound m.

    (** exp(- exponent) is the tilted weight of output x. *)
    Definition bounded_num (x : Z) : Z :=
      energy_num kind num den x * (c_den k ^ 2 * h_den k * (2 * norm_unit))
      + energy_den kind num den * (c_num k * h_num k * (st * common_place kind m x) * (c_den k * (2 * norm_unit)) + c_num k ^ 2 * h_num k * nn).
    Definition bounded_den : Z := energy_den kind num den * (c_den k ^ 2 * h_den k * (2 * norm_unit)).

    (** Sums of weights. *)
    Definition weights_up (l : list Z) : Z := zsum (map (fun x => exp_up p r (energy_num kind num den x) (energy_den kind num den)) l).
    Definition weights_down (l : list Z) : Z := zsum (map (fun x => exp_down p r (energy_num kind num den x) (energy_den kind num den)) l).

    Fixpoint bounded_atoms_up (z : Z) (l : list Z) : option (list (Z * Z)) :=
      match l with
      | [] => Some []
      | x :: l' =>
        match exp_up_signed p r (bounded_num x) bounded_den, bounded_atoms_up z l' with
        | Some v, Some atoms => Some ((common_place kind m x, quotient_up (v * whole) z) :: atoms)
        | _, _ => None
        end
      end.

    Definition bounded_atoms_down (z x : Z) : list (Z * Z) :=
      [(common_place kind m x, quotient_down (exp_down_signed p r (bounded_num x) bounded_den * whole) z)].

    Definition bounded_table_up (a : Z) (w : nat) : option (list Z * Z) :=
      let z := weights_down xs in
      match bounded_atoms_up z xs with
      | Some atoms => if (0 <? z) && in_window a w atoms then Some (map (at_place atoms) (zlist a w), 0) else None
      | None => None
      end.

    Definition bounded_table_down (a : Z) (w : nat) : option (list Z) :=
      let atoms := flat_map (bounded_atoms_down (weights_up xs)) xs in
      if in_window a w atoms then Some (map (at_place atoms) (zlist a w)) else None.

    (** The probability of an output that the other neighbor cannot have, in units of 2^-bits. *)
    Definition lost_up : Z :=
      match kind with
      | OneOf => 0
      | _ => let z := weights_down (zlist (- bound) (outputs bound)) in
             if 0 <? z then quotient_up (weights_up (zlist (- bound) (Z.to_nat m)) * one) z else one
      end.
    Definition lost_down : Z :=
      match kind with
      | OneOf => 0
      | _ => quotient_down (weights_down (zlist (- bound) (Z.to_nat m)) * one) (weights_up (zlist (- bound) (outputs bound)))
      end.
  End Bounded.

  (** *** Any law *)

  (** The losses of a count are on the lattice. *)
  Definition lattice_ok (g : group) : bool :=
    match law g with
    | Gauss num den => (0 <? num) && (0 <? den) && (move g * den * h_den k =? stride g * h_num k * num)
    | Lap num den _ =>
      (0 <? num) && (0 <? den) && (0 <? move g) && (left g =? 0) && (Nat.eqb (width g) (S (Z.to_nat (move g))))
      && (2 * num * h_den k =? stride g * h_num k * den)
    | Resp num den inum iden _ =>
      (0 <? num) && (0 <? den) && (0 <=? inum) && (inum <? iden) && (move g =? 1) && (left g =? 0) && (Nat.eqb (width g) 2)
      && (2 * num * h_den k =? stride g * h_num k * den)
    | Bounded kind num den b _ =>
      (0 <? num) && (0 <? den)
      && match kind with
         | GaussWithin => (0 <? move g) && (move g <=? 2 * b) && (move g * den * h_den k =? stride g * h_num k * num)
         | LapWithin => (0 <? move g) && (move g <=? 2 * b) && (2 * num * h_den k =? stride g * h_num k * den)
         | OneOf => (move g =? 2) && (2 <=? b) && (num * h_den k =? stride g * h_num k * den)
         end
    | Cell kind num den hn hd nk xa xn =>
      (0 <? num) && (0 <? den) && (0 <? hn) && (0 <? hd) && (stride g =? 1)
      && match kind with Split => hn * h_den k =? h_num k * hd | _ => true end
    end.

  (** Upper bounds of the tilted masses at the places of the window, and of all others together. *)
  Definition table_up (g : group) : option (list Z * Z) :=
    match law g with
    | Gauss num den => gauss_table_up num den (move g) (left g) (width g) (reach g)
    | Lap num den nn => lap_table_up num den (move g) nn
    | Resp num den _ _ nn => resp_table_up num den nn
    | Bounded kind num den b nn => bounded_table_up kind num den b nn (move g) (stride g) (left g) (width g)
    | Cell kind num den hn hd nk xa xn => cell_table_up kind num den (move g) hn hd nk xa xn (reach g) (left g) (width g)
    end.

  (** Lower bounds. *)
  Definition table_down (g : group) : option (list Z) :=
    match law g with
    | Gauss num den => gauss_table_down num den (move g) (left g) (width g) (reach g)
    | Lap num den nn => lap_table_down num den (move g) (reach g) nn
    | Resp num den _ _ nn => resp_table_down num den nn
    | Bounded kind num den b nn => bounded_table_down kind num den b nn (move g) (stride g) (left g) (width g)
    | Cell kind num den hn hd nk xa xn => cell_table_down kind num den (move g) hn hd nk xa xn (reach g) (left g) (width g)
    end.

  (** *** Rows on a circle, rounded up *)

  Definition row_fits (u : row) : bool := forallb (fun v => to_Z v <=? top) u.

  Definition next (g : group) (ws : list int) (tail : int) (u : row) : row :=
    shifted_up 30 (mix (turn (period k) (stride g)) (left g) ws (u ++ u) (repeat (tail * largest u)%uint63 (period k))).

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
    if lattice_ok g then
      match table_up g with
      | Some (l, t) =>
        if forallb fits l && fits t && (zsum l + t <=? top) then walk_copies g (to_row l) (of_Z t) (copies g) u else None
      | None => None
      end
    else None.

  Fixpoint walk (gs : list group) (u : row) : option row :=
    match gs with
    | [] => Some u
    | g :: rest => match walk rest u with None => None | Some v => walk_group g v end
    end.

  (** *** Rows in a window that moves down by [d] with each count, rounded down *)

  Definition next_down (g : group) (d : Z) (ws : list int) (u : row) : row :=
    shifted_down 30 (mix (slide (period k) d (stride g)) (left g) ws (padded (period k) u) (zeros (period k))).

  Fixpoint walk_copies_down (g : group) (d : Z) (ws : list int) (copies : nat) (u : row) : option row :=
    match copies with
    | O => Some u
    | S copies' =>
      match walk_copies_down g d ws copies' u with
      | None => None
      | Some v => let w := next_down g d ws v in if row_fits w then Some w else None
      end
    end.

  Definition walk_group_down (g : group) (d : Z) (u : row) : option row :=
    if lattice_ok g then
      match table_down g with
      | Some l => if forallb fits l && (zsum l <=? top) then walk_copies_down g d (to_row l) (copies g) u else None
      | None => None
      end
    else None.

  (** The row, and the index where it begins. *)
  Fixpoint walk_down (gs : list group) (ds : list Z) (start : Z) (u : row) : option (row * Z) :=
    match gs, ds with
    | [], [] => Some (u, start)
    | g :: rest, d :: ds' =>
      match walk_down rest ds' start u with
      | None => None
      | Some (v, at_) =>
        match walk_group_down g d v with None => None | Some w => Some (w, at_ - Z.of_nat (copies g) * d) end
      end
    | _, _ => None
    end.

  (** *** The first row: the gain, tilted *)

  (** Twice the loss of index 0 in steps of the lattice; for Gaussian counts 2 rho / h. *)
  Definition base_steps (g : group) : Z := match law g with Cell _ _ _ _ _ _ _ _ => 0 | _ => move g * stride g end.
  Definition offset_steps : Z := zsum (map (fun g => Z.of_nat (copies g) * base_steps g) (groups k)).

  (** The norms, over the square of the tilt and the unit. *)
  Definition own_norm_steps (g : group) : Z :=
    match law g with
    | Gauss _ _ => norm_unit * (move g * stride g)
    | Lap _ _ nn | Resp _ _ _ _ nn | Bounded _ _ _ _ nn => nn
    | Cell _ _ _ _ _ nk _ _ => norm_unit * nk
    end.
  Definition norm_steps : Z := zsum (map (fun g => Z.of_nat (copies g) * own_norm_steps g) (groups k)).

  (** The loss of index [lo] less eps, times 2 h_den eps_den. *)
  Definition excess : Z := h_num k * (offset_steps + 2 * lo k) * eps_den k - 2 * h_den k * eps_num k.

  Fixpoint first_row (n : nat) (fall keep alias e f : Z) : list Z :=
    match n with
    | O => []
    | S n' =>
      (scale_up p (scale_up p (e * (one - f)) * whole) + alias)
      :: first_row n' fall keep alias (scale_up p (e * fall)) (scale_down p (f * keep))
    end.

  Definition first : list Z :=
    let fall := exp_up p r (c_num k * h_num k) (c_den k * h_den k) in
    let keep := exp_down p r (h_num k) (h_den k) in
    let alias := scale_up p (exp_up p r (c_num k * h_num k * Z.of_nat (period k)) (c_den k * h_den k) * whole) in
    first_row (period k) fall keep alias one (exp_down p r excess (2 * h_den k * eps_den k)).

  Fixpoint first_row_down (n : nat) (fall keep e f : Z) : list Z :=
    match n with
    | O => []
    | S n' =>
      scale_down p (scale_down p (e * Z.max 0 (one - f)) * whole)
      :: first_row_down n' fall keep (scale_down p (e * fall)) (scale_up p (f * keep))
    end.

  (** The row begins [before] steps before [lo]. *)
  Definition first_down (before : nat) : list Z :=
    let fall := exp_down p r (c_num k * h_num k) (c_den k * h_den k) in
    let keep := exp_up p r (h_num k) (h_den k) in
    repeat 0 before
    ++ first_row_down (period k - before) fall keep one (exp_up p r excess (2 * h_den k * eps_den k)).

  (** *** The end *)

  (** exp(-last_num / last_den) = exp(norms - c h lo). *)
  Definition last_num : Z := c_num k * h_num k * (2 * c_den k * lo k * norm_unit - c_num k * norm_steps).
  Definition last_den : Z := 2 * c_den k ^ 2 * h_den k * norm_unit.

  Definition positive_data : bool :=
    (0 <? h_num k) && (0 <? h_den k) && (0 <? c_num k) && (0 <? c_den k)
    && (0 <? eps_den k) && (0 <? delta_den k) && (0 <? Z.of_nat (period k)).

  Definition lo_is_first : bool :=
    (0 <=? excess) && (excess <=? 2 * h_num k * eps_den k).

  (** An upper bound of the mean gain of the carriers' index. *)
  Definition sums_at_most : bool :=
    positive_data && lo_is_first && forallb fits first
    && match exp_up_signed p r last_num last_den, walk (groups k) (to_row first) with
       | Some factor, Some u =>
         factor * entry u (Z.to_nat ((0 - lo k) mod Z.of_nat (period k))) * delta_den k
         <=? delta_num k * one * whole
       | _, _ => false
       end.

  (** The hints of the lower end: the steps before [lo] where the first row begins, and by how much each group's counts move it. *)
  Definition sums_above (before : nat) (moves : list Z) : bool :=
    positive_data && lo_is_first && Nat.leb before (period k) && forallb fits (first_down before)
    && match walk_down (groups k) moves (lo k - Z.of_nat before) (to_row (first_down before)) with
       | Some (u, start) =>
         delta_num k * one * whole
         <? exp_down_signed p r last_num last_den * cell u start 0 * delta_den k
       | None => false
       end.

  Definition certified : bool := forallb exact (groups k) && sums_at_most.

  Definition whole_outputs (g : group) : bool := match law g with Cell _ _ _ _ _ _ _ _ => false | _ => true end.
  Definition plain (g : group) : bool := whole_outputs g && finite g.
  Definition certified_below (before : nat) (moves : list Z) : bool :=
    forallb plain (groups k) && sums_above before moves.
End Compute.
