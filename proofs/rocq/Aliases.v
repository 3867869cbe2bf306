(** * The trapezoid rule is the sum of all aliases

    (B) of proofs/README.md as an equation. trapezoid_is_an_upper_bound of Fourier.v has the alias at 0 only; the lower end of a contour
    needs the others too: what (F) bounds is the sum of all the rest. *)

From Coq Require Import Reals ZArith Lra Lia.
From Coquelicot Require Import Coquelicot.
From Coq Require Import List.
From DpAssay Require Import Sums Gaussian HockeyStick Fourier.
Import ListNotations.
Open Scope R_scope.

Section Aliases.
  Variable N : nat.
  Hypothesis HN : (0 < N)%nat.
  Variables (a h eps r : R) (lo : Z).
  Hypothesis Ha : 0 < a.
  Hypothesis Hh : 0 < h.
  Hypothesis Hlo : eps <= r + h * IZR lo.
  Hypothesis Hbelow : r + h * IZR (lo - 1) <= eps.

  Let n := Z.of_nat N.

  (** The alias number [q] of the index [k]. *)
  Definition alias (k q : Z) : R := exp (- (a * IZR n * IZR q)) * gain h eps r (k + n * q).

  Lemma alias_nonneg k q : 0 <= alias k q.
  Proof. apply Rmult_le_pos; [left; apply exp_pos | apply gain_nonneg]. Qed.

  Let term k l : R := gain h eps r l * exp (a * IZR (k - l)) * (if ((k - l) mod n =? 0)%Z then 1 else 0).

  Let term_nonneg k l : 0 <= term k l.
  Proof.
    apply Rmult_le_pos; [apply Rmult_le_pos; [apply gain_nonneg | left; apply exp_pos]|]. destruct (_ =? _)%Z; lra.
  Qed.

  Let term_of_alias k q : term k (k + n * q) = alias k q.
  Proof.
    unfold term, alias. replace (k - (k + n * q))%Z with (- q * n)%Z by lia.
    rewrite Z.mod_mul by lia. rewrite Z.eqb_refl, mult_IZR, opp_IZR.
    replace (a * (- IZR q * IZR n)) with (- (a * IZR n * IZR q)) by ring. ring.
  Qed.

  Let folded_is_limit k : is_lim_seq (fun m => lsum (term k) (zlist lo m)) (folded N a h eps r lo k).
  Proof.
    eapply is_lim_seq_ext; [intros m; apply (partial_fold N HN a h eps r lo k m)|]. unfold folded.
    apply (is_lim_seq_scal_l _ (/ INR N) (lsum _ (seq 0 N))), lim_lsum; intros j _.
    apply (clim_mult (fun _ => wave N a j k) _ _ _ (clim_const _)). now apply kernel_converges.
  Qed.

  (** Some aliases together are at most the fold. *)
  Lemma aliases_below_fold k l : NoDup l -> lsum (alias k) l <= folded N a h eps r lo k.
  Proof.
    intros Hl. set (l' := map (fun q => (k + n * q)%Z) l).
    assert (Hl' : NoDup l') by (apply FinFun.Injective_map_NoDup; [intros x y H; nia | assumption]).
    destruct (list_in_range l') as [A HA]; specialize (HA A (le_n A)).
    apply (is_lim_seq_le_loc (fun _ => lsum (alias k) l) (fun m => lsum (term k) (zlist lo m)) (lsum (alias k) l) (folded N a h eps r lo k)).
    - exists (Z.to_nat (Z.of_nat A + 1 - lo)); intros m Hm.
      rewrite (lsum_ext (alias k) (fun q => term k (k + n * q))) by (intros; now rewrite term_of_alias).
      rewrite <- (lsum_map (term k)). fold l'.
      rewrite (lsum_filter_split (term k) (fun x => (lo <=? x)%Z)).
      rewrite (lsum_ext_in (term k) (fun _ => 0) (filter (fun x => negb _) l')).
      + rewrite lsum_zero, Rplus_0_r. apply lsum_incl; [apply term_nonneg | now apply NoDup_filter|].
        intros x Hx; apply filter_In in Hx; destruct Hx as [Hx Hle%Z.leb_le]. apply HA, in_range in Hx. apply in_zlist; lia.
      + intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]. unfold term. rewrite (gain_below h eps r lo); [ring | assumption..|].
        destruct (Z.leb_spec lo x); [discriminate | lia].
    - apply is_lim_seq_const.
    - apply folded_is_limit.
  Qed.

  (** And the fold is at most every bound of them. *)
  Lemma fold_below_bound k b : (forall A, lsum (alias k) (range A) <= b) -> folded N a h eps r lo k <= b.
  Proof.
    intros Hb. apply (is_lim_seq_le (fun m => lsum (term k) (zlist lo m)) (fun _ => b) (folded N a h eps r lo k) b).
    - intros m. set (keep := fun l => ((k - l) mod n =? 0)%Z).
      rewrite (lsum_filter_split (term k) keep).
      rewrite (lsum_ext_in (term k) (fun _ => 0) (filter (fun x => negb _) _)).
      2: { intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; unfold keep in Hx. unfold term. destruct (_ =? _)%Z;
        [discriminate | ring]. }
      rewrite lsum_zero, Rplus_0_r. set (l := filter keep _).
      assert (Hl : forall x, In x l -> exists q, x = (k + n * q)%Z).
      { intros x Hx; apply filter_In in Hx; destruct Hx as [_ Hx%Z.eqb_eq]. apply Z.mod_divide in Hx; [|lia]. destruct Hx as [q Hq].
        exists (- q)%Z; lia. }
      set (back := fun x => ((x - k) / n)%Z). set (qs := map back l).
      assert (Hback : forall x, In x l -> (k + n * back x)%Z = x).
      { intros x Hx; destruct (Hl x Hx) as [q ->]; unfold back. replace (k + n * q - k)%Z with (q * n)%Z by lia.
        rewrite Z.div_mul by lia; lia. }
      assert (Hqs : NoDup qs).
      { assert (Hnd : NoDup l) by (apply NoDup_filter, NoDup_zlist). unfold qs; clear -Hnd Hback.
        induction Hnd as [|x l Hx _ IH]; cbn; [constructor|]. constructor.
        - intros Hin; apply in_map_iff in Hin; destruct Hin as (y & E & Hy). apply Hx.
          rewrite <- (Hback x), <- E, Hback; [assumption | now right | now left].
        - apply IH; intros; apply Hback; now right. }
      destruct (list_in_range qs) as [A HA]. eapply Rle_trans; [|apply (Hb A)].
      apply Rle_trans with (lsum (alias k) qs); [|apply lsum_incl; auto using alias_nonneg].
      unfold qs; rewrite lsum_map; right; apply lsum_ext_in; intros x Hx. rewrite <- term_of_alias, Hback; auto.
    - apply folded_is_limit.
    - apply is_lim_seq_const.
  Qed.

  Lemma fold_is_limit k : is_lim_seq (fun A => lsum (alias k) (range A)) (folded N a h eps r lo k).
  Proof.
    assert (Hs : summable (alias k)) by (exists (folded N a h eps r lo k); intros; now apply aliases_below_fold).
    assert (H := symmetric_sums_converge (alias k) (alias_nonneg k) Hs).
    replace (folded N a h eps r lo k) with (total (alias k)); [exact H|]. apply Rle_antisym.
    - apply total_least; intros; now apply aliases_below_fold.
    - apply fold_below_bound; intros A; apply total_upper; [assumption | apply NoDup_range].
  Qed.
End Aliases.

Theorem trapezoid_is_the_sum_of_aliases (N : nat) a h eps cms lo :
  (0 < N)%nat -> 0 < a -> 0 < h -> on_lattice h cms -> Forall tame cms ->
  eps <= offset cms + h * IZR lo -> offset cms + h * IZR (lo - 1) <= eps ->
  is_lub (finite_sums (fun kx : Z * list Z =>
            exp (- (a * IZR (Z.of_nat N) * IZR (fst kx))) * P (counts cms) (snd kx)
            * gain h eps (offset cms) (index cms (snd kx) + Z.of_nat N * fst kx)))
         (trapezoid N a h eps cms lo).
Proof.
  intros HN Ha Hh Hl Ht Hlo Hbelow. assert (Hp := on_lattice_proper h cms Hl).
  set (F := fun kx : Z * list Z => _ : R). set (r := offset cms) in *.
  set (fold_at := folded N a h eps r lo). set (al := alias N a h eps r).
  assert (EF : forall q xs, F (q, xs) = P (counts cms) xs * al (index cms xs) q) by (intros; unfold F, al, alias; cbn [fst snd]; ring).
  assert (HF : forall p, 0 <= F p).
  { intros [q xs]; rewrite EF; apply Rmult_le_pos; [now apply P_nonneg | apply alias_nonneg]. }
  assert (Hfold : forall k, 0 <= fold_at k) by (intros k; apply (aliases_below_fold N HN a h eps r lo Ha Hh Hlo Hbelow k []); constructor).
  (* The rule is the limit of the means of the fold over boxes. *)
  assert (Hlim : is_lim_seq (fun A => value cms fold_at A 0) (trapezoid N a h eps cms lo)).
  { eapply is_lim_seq_ext; [intros A; symmetry; apply (value_of_waves N HN a (fun j => kernel N a h eps r lo j) cms A 0)|].
    apply (is_lim_seq_scal_l _ (/ INR N) (lsum _ (seq 0 N))), lim_lsum; intros j _.
    apply (clim_ext (fun B => (cproduct (fun cm => partial_transform N a cm j B) cms * kernel N a h eps r lo j)%C)).
    - intros B; rewrite (wave_0 N HN); ring.
    - apply clim_mult; [now apply cproduct_converges | apply clim_const]. }
  assert (Hbox : forall A, value cms fold_at A 0 = lsum (fun xs => P (counts cms) xs * fold_at (index cms xs)) (box (length cms) A))
    by (intros A; rewrite <- box_sum_is_value; reflexivity).
  split.
  - intros v (l & Hnd & ->).
    set (l1 := filter (fun kx => Nat.eqb (length (snd kx)) (length cms)) l).
    assert (Hl1 : lsum F l = lsum F l1).
    { rewrite (lsum_filter_split F (fun kx => Nat.eqb (length (snd kx)) (length cms))).
      rewrite (lsum_ext_in F (fun _ => 0) (filter (fun x => negb _) l)); [rewrite lsum_zero; unfold l1; ring|].
      intros [q xs] Hx; apply filter_In in Hx; destruct Hx as [_ Hx]; cbn [snd] in Hx. rewrite EF. unfold P.
      rewrite product_wrong_length; [ring|]. unfold counts; rewrite map_length. intros E; now rewrite E, Nat.eqb_refl in Hx. }
    destruct (outputs_in_box (length cms) (map snd l1)) as [A1 HA1].
    { intros xs Hx; apply in_map_iff in Hx; destruct Hx as ([q ys] & <- & Hq). apply filter_In in Hq. now apply Nat.eqb_eq. }
    destruct (list_in_range (map fst l1)) as [A2 HA2]. specialize (HA2 A2 (le_n A2)).
    rewrite Hl1. apply Rle_trans with (value cms fold_at A1 0).
    + rewrite Hbox. apply Rle_trans with (lsum F (list_prod (range A2) (box (length cms) A1))).
      * apply lsum_incl; [assumption | now apply NoDup_filter|]. intros [q xs] Hin; apply in_prod_iff; split.
        -- apply HA2, in_map_iff; now exists (q, xs).
        -- apply HA1, in_map_iff; now exists (q, xs).
      * replace (lsum F (list_prod (range A2) (box (length cms) A1)))
          with (lsum (fun q => lsum (fun xs => F (q, xs)) (box (length cms) A1)) (range A2)).
        2: { generalize (range A2) as la; intros la; induction la as [|q la IH]; cbn [list_prod lsum]; [reflexivity|].
             now rewrite lsum_app, lsum_map, IH. }
        rewrite lsum_swap. apply lsum_le; intros xs.
        rewrite (lsum_ext _ (fun q => P (counts cms) xs * al (index cms xs) q)) by (intros; apply EF). rewrite lsum_scale.
        apply Rmult_le_compat_l; [now apply P_nonneg|].
        apply (aliases_below_fold N HN a h eps r lo Ha Hh Hlo Hbelow), NoDup_range.
    + apply (is_lim_seq_le_loc (fun _ => value cms fold_at A1 0) (fun A => value cms fold_at A 0) (value cms fold_at A1 0) (trapezoid N a h eps cms lo)).
      * exists A1; intros B HB; now apply value_wider.
      * apply is_lim_seq_const.
      * exact Hlim.
  - intros b Hb. apply (is_lim_seq_le (fun A => value cms fold_at A 0) (fun _ => b) (trapezoid N a h eps cms lo) b);
      [|exact Hlim | apply is_lim_seq_const].
    intros A; rewrite Hbox.
    apply (is_lim_seq_le (fun B => lsum (fun xs => P (counts cms) xs * lsum (al (index cms xs)) (range B)) (box (length cms) A)) (fun _ => b)
             (lsum (fun xs => P (counts cms) xs * fold_at (index cms xs)) (box (length cms) A)) b).
    + intros B. rewrite (lsum_ext _ (fun xs => lsum (fun q => F (q, xs)) (range B))).
      2: { intros xs. rewrite <- lsum_scale. apply lsum_ext; intros q; now rewrite EF. }
      rewrite <- lsum_swap.
      replace (lsum (fun q => lsum (fun xs => F (q, xs)) (box (length cms) A)) (range B))
        with (lsum F (list_prod (range B) (box (length cms) A))).
      2: { generalize (range B) as la; intros la; induction la as [|q la IH]; cbn [list_prod lsum]; [reflexivity|].
           now rewrite lsum_app, lsum_map, IH. }
      apply Hb. eexists; split; [|reflexivity].
      assert (Hr := NoDup_range B); revert Hr; generalize (range B) as la; intros la Hr.
      induction Hr as [|q la Hq _ IH]; cbn [list_prod]; [constructor|].
      apply NoDup_append; [apply FinFun.Injective_map_NoDup; [intros u v E; now injection E | apply NoDup_box] | exact IH|].
      intros [u xs] Hin Hin'; apply in_map_iff in Hin; destruct Hin as (ys & E & _); injection E as <- <-.
      apply in_prod_iff in Hin'; tauto.
    + apply lim_lsum; intros xs _. apply (is_lim_seq_scal_l _ (P (counts cms) xs) (fold_at (index cms xs))).
      now apply fold_is_limit.
    + apply is_lim_seq_const.
Qed.
