//! Two statements about delta as a theorem.

use rug::Rational;

use super::{end::End, fine::FineEnds, number::Number};
use crate::numeric::rational;

/// The meaning of two statements about delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    /// The smallest epsilon at a delta.
    Epsilon,
    /// delta at an epsilon.
    Delta,
    /// Noise that is enough for an epsilon at a delta, and less noise that is not.
    Scale,
}

impl Statement {
    /// In words, about delta at this epsilon between these ends.
    pub(super) fn about_delta(self, numbers: [&Rational; 3]) -> String {
        let [epsilon, lower, upper] = numbers.map(rational::display);
        match self {
            Statement::Scale => {
                format!("delta({epsilon}) <= {upper} with this noise, and not with the next smaller")
            }
            Statement::Epsilon | Statement::Delta => format!("{lower} < delta({epsilon}) <= {upper}"),
        }
    }

    /// Two certificates, their computations and the theorem.
    pub(super) fn text(self, above: &End, below: &End) -> String {
        let counts = above.walk.counts_text(5);
        let number = |value: &Rational| Number::new(value).to_string();
        let equal = |many: usize| vec!["eq_refl"; many].join(" ");
        let (epsilon, delta) = (number(&above.epsilon), number(&above.delta));
        let holes = |many: usize| vec!["_"; many].join(" ");
        // With infinite losses the computations have the theorem's delta, which is not that of the certificates.
        let [of_epsilon, of_delta, of_scale] =
            if above.is_infinite() { [(8, 7), (10, 6), (8, 5)] } else { [(6, 8), (6, 6), (6, 6)] };
        let theorem = match self {
            Statement::Epsilon => format!(
                "Theorem epsilon_is_between :\n  smallest_epsilon\n    ({counts})\n    {delta} {} {epsilon}.\n\
                 Proof. exact (epsilon_is_between above below {} above_holds below_holds {}). Qed.\n",
                number(&below.epsilon),
                holes(of_epsilon.0),
                equal(of_epsilon.1),
            ),
            Statement::Delta => format!(
                "Theorem delta_is_between :\n  {}\n  < delta\n    ({counts})\n    {epsilon}\n  <= {delta}.\n\
                 Proof. exact (delta_is_between above below {} above_holds below_holds {}). Qed.\n",
                number(&below.delta),
                holes(of_delta.0),
                equal(of_delta.1),
            ),
            Statement::Scale => format!(
                "Theorem noise_is_enough :\n  private\n    ({counts})\n    {epsilon} {delta}\n  /\\ ~ private\n    ({})\n    {epsilon} {delta}.\n\
                 Proof. exact (noise_is_enough above below {} above_holds below_holds {}). Qed.\n",
                below.walk.counts_text(5),
                holes(of_scale.0),
                equal(of_scale.1),
            ),
        };
        format!(
            "{}{}{}{}Open Scope R_scope.\n\n{theorem}",
            above.definition("above"),
            below.definition("below"),
            above.lemma("above"),
            below.lemma("below"),
        )
    }

    /// The same on a coarser lattice: a certificate, a test, their computations and the theorem.
    pub(super) fn fine_text(self, ends: &FineEnds) -> String {
        let [epsilon, lower, upper] = [&ends.epsilon, &ends.lower, &ends.upper].map(Number::new);
        let [counts, less] = ends.counts_text();
        let (holes, equal) = (" _".repeat(10), " eq_refl".repeat(6));
        let theorem = match self {
            Statement::Scale => format!(
                "Theorem noise_is_enough :\n  private\n    ({counts})\n    {epsilon} {upper}\n  /\\ ~ private\n    ({less})\n    {epsilon} {upper}.\n\
                 Proof. exact (noise_is_enough above one other{holes} above_holds test_holds{equal}). Qed.\n",
            ),
            Statement::Epsilon | Statement::Delta => format!(
                "Theorem delta_is_between :\n  {lower}\n  < delta\n    ({counts})\n    {epsilon}\n  <= {upper}.\n\
                 Proof. exact (delta_is_between above one other{holes} above_holds test_holds{equal}). Qed.\n",
            ),
        };
        format!("{}{}Open Scope R_scope.\n\n{theorem}", ends.definitions(""), ends.lemmas())
    }
}
