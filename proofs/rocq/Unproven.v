(** * Theorems of proofs/README.md that are stated here, and not proven

    Each is a proposition with a name, so that its statement is precise. Nothing else uses them. README.md lists them, and [check]
    compares the lists. *)

From Coq Require Import Reals ZArith.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Fourier Tables.
Open Scope R_scope.

(** The tilted weights of N_Z(0, s), completed to a square at m, at the angle b: the sum F(b) of (A), part by part. *)
Definition factor_re (s m b : R) (A : nat) : R := lsum (fun x => tilted s (- m) x * cos (b * IZR x)) (range A).
Definition factor_im (s m b : R) (A : nat) : R := lsum (fun x => tilted s (- m) x * sin (b * IZR x)) (range A).

(** The same by images. *)
Definition image_re (s m b : R) (A : nat) : R :=
  sqrt (2 * PI * s) * lsum (fun k => exp (- (s * (b - 2 * PI * IZR k)²) / 2) * cos (m * (b - 2 * PI * IZR k))) (range A).

(** (A), second form, by Poisson's summation. *)
Definition factor_by_images : Prop :=
  forall s m b, 0 < s -> Lim_seq (factor_re s m b) = Lim_seq (image_re s m b).

(** (B) as an equation: the trapezoid rule is the sum of all aliases, where trapezoid_is_an_upper_bound has the one at 0. *)
Definition trapezoid_is_the_sum_of_aliases : Prop :=
  forall (N : nat) a h eps cms lo,
    (0 < N)%nat -> 0 < a -> 0 < h -> on_lattice h cms -> Forall tame cms ->
    eps <= offset cms + h * IZR lo -> offset cms + h * IZR (lo - 1) <= eps ->
    is_lub (finite_sums (fun kx : Z * list Z =>
              exp (- (a * IZR (Z.of_nat N) * IZR (fst kx))) * P (counts cms) (snd kx)
              * gain h eps (offset cms) (index cms (snd kx) + Z.of_nat N * fst kx)))
           (trapezoid N a h eps cms lo).

(** The variance of N_Z(0, s). *)
Definition variance (s : R) : R := total (fun x => gaussian s x * (IZR x)²).

(** (C): the size of a factor, at every tilt. *)
Definition factor_is_small : Prop :=
  forall s m b re im, 0 < s -> is_lim_seq (factor_re s m b) (Finite re) -> is_lim_seq (factor_im s m b) (Finite im) ->
    sqrt (re² + im²) / mass s <= exp (- (variance s * (1 - cos b))).

(** (C): the variance from below. *)
Definition variance_at_least : Prop :=
  forall s, 1 / 10 <= s -> s * (1 - 80 * s * exp (- (19.7 * s))) <= variance s.

(** (E): the kernel beyond the last node, by the sharper bound of the sine. *)
Definition kernel_beyond : Prop :=
  forall (N : nat) a h eps r lo j,
    0 < a -> 0 < h -> eps <= r + h * IZR lo -> r + h * IZR (lo - 1) <= eps -> (0 < j)%nat -> (2 * j <= N)%nat ->
    Cmod (kernel N a h eps r lo j) <= exp (- (a * IZR lo)) * h * ((INR N / (2 * PI * INR j))² + 0.9).

(** (E): the sum over the nodes beyond the last one, of a factor whose angle advances by [turn] turns a node. *)
Definition factors_beyond : Prop :=
  forall v turn mean (J n : nat), 0 <= v -> 0 < turn <= 1 -> (0 < J)%nat ->
    is_RInt (fun t => exp (- v * (1 - cos (2 * PI * t)))) 0 1 mean ->
    lsum (fun j => exp (- v * (1 - cos (2 * PI * turn * INR j))) / (INR j)²) (seq (S J) n)
    <= (1 + mean / turn) * (2 / (INR J)² + turn / INR J).

(** (K): the profile of continuous noise with the tail [tail] of N(0, 1). *)
Definition density (z : R) : R := exp (- z² / 2) / sqrt (2 * PI).
Definition continuous_profile : Prop :=
  forall m eps d tail, 0 < m ->
    (forall z, is_RInt_gen density (at_point z) (Rbar_locally p_infty) (tail z)) ->
    is_RInt_gen (fun x => Rmax 0 (density x - exp eps * density (x - m))) (Rbar_locally m_infty) (Rbar_locally p_infty) d ->
    d = tail (eps / m - m / 2) - exp eps * tail (eps / m + m / 2).

(** (L): the function whose maximum three points bound is concave. *)
Definition order_function_is_concave : Prop :=
  forall x rho s1 s2 w, 0 <= rho -> 0 < s1 -> 0 < s2 -> 0 <= w <= 1 ->
    let f s := s * (x - rho * (1 + s)) + s * ln (1 + 1 / s) + ln (1 + s) in
    w * f s1 + (1 - w) * f s2 <= f (w * s1 + (1 - w) * s2).
