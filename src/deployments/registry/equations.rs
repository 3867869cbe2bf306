//! The equations between the figures of an entry, as data: what each compares, and what an entry must state before one of them can accuse it.
//!
//! An entry contradicts itself only by a whole calculation: every input of the claim stands in the entry. Where an input is a part of what is meant, a
//! rounded value, or a guess, the same difference is a remark with its reason, and accuses nothing.

use super::super::verdict::Verdict;

/// Something that an equation takes from the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// The name of the variant.
    Variant,
    /// A figure or parameter that the rule has read.
    Figure,
    /// That the text and the field speak of the same quantity, the whole.
    SameQuantity,
    /// That a list has every part of its whole.
    EveryPart,
    /// That the difference is larger than the rounding of the printed inputs can make it.
    BeyondRounding,
    /// That the noise is that of Laplace.
    Laplace,
    /// That the noise is Gaussian.
    Gaussian,
}

impl Input {
    /// The reason why nothing follows where it is missing.
    fn unknown(self) -> &'static str {
        match self {
            Input::Variant => "the entry has no variant",
            Input::Figure => "the entry has no such figure",
            Input::SameQuantity => "the text does not say that its figure is that of the whole",
            Input::EveryPart => "the entry does not say that these are all parts",
            Input::BeyondRounding => "the printed inputs may be rounded",
            Input::Laplace => "the entry does not say there that the noise is Laplace noise",
            Input::Gaussian => "the entry does not say that the noise is Gaussian",
        }
    }
}

/// An equation, and the inputs without which it accuses nothing.
pub(super) struct Equation {
    /// The rule whose findings it makes.
    pub(super) rule: &'static str,
    /// What it needs.
    pub(super) needs: &'static [Input],
}

/// Pure differential privacy has no delta.
pub(super) const VARIANT: Equation = Equation { rule: "variant", needs: &[Input::Variant, Input::Figure] };
/// A parameter is the figure that the texts give for it.
pub(super) const FIELD: Equation = Equation { rule: "field", needs: &[Input::Figure, Input::SameQuantity] };
/// A whole is the sum of its parts.
pub(super) const TOTAL: Equation =
    Equation { rule: "total", needs: &[Input::Figure, Input::EveryPart, Input::BeyondRounding] };
/// A printed calculation has its printed result.
pub(super) const CALCULATION: Equation =
    Equation { rule: "calculation", needs: &[Input::Figure, Input::BeyondRounding] };
/// epsilon = sensitivity / scale.
pub(super) const NOISE: Equation =
    Equation { rule: "noise", needs: &[Input::Figure, Input::Laplace, Input::BeyondRounding] };
/// mu = sqrt(2 rho).
pub(super) const MU: Equation =
    Equation { rule: "mu", needs: &[Input::Figure, Input::Gaussian, Input::BeyondRounding] };

#[cfg(test)]
pub(super) const ALL: [&Equation; 6] = [&VARIANT, &FIELD, &TOTAL, &CALCULATION, &NOISE, &MU];

impl Equation {
    /// The verdict where it holds or not, and the words with the reason where it does not and nothing follows. `given` are the inputs that the entry states.
    pub(super) fn judged(&self, holds: bool, given: &[Input], words: String) -> (Verdict, String) {
        let missing = self.needs.iter().find(|need| !given.contains(need));
        match (holds, missing) {
            (true, _) => (Verdict::Agrees, words),
            (false, None) => (Verdict::ContradictsItself, words),
            (false, Some(missing)) => (Verdict::NotEnoughSaid, format!("{words}; no fault: {}", missing.unknown())),
        }
    }
}

/// Words by which a text says that what follows are the parts of a whole.
const DIVIDED: [&str; 9] =
    ["of which", "split", "allocated", "divided", "composed", "consists of", "sum of", "made up of", "distributed"];
/// Words by which a text says that a figure is that of the whole.
const WHOLE: [&str; 5] = ["total", "overall", "global", "whole", "altogether"];

/// Whether a text says that it divides a whole.
pub(super) fn divides(text: &str) -> bool {
    has_one(text, &DIVIDED)
}

/// Whether a text says that it speaks of the whole.
pub(super) fn is_of_whole(text: &str) -> bool {
    has_one(text, &WHOLE)
}

fn has_one(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word))
}

/// Whether texts about the noise name this law and no other.
pub(super) fn is_only<'t>(law: &str, texts: impl Iterator<Item = &'t str>) -> bool {
    const LAWS: [&str; 6] = ["gaussian", "laplace", "geometric", "exponential", "randomized response", "noisy max"];
    let said = texts.map(str::to_lowercase).collect::<Vec<_>>().join("\n");
    said.contains(law) && LAWS.iter().all(|other| *other == law || !said.contains(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each equation accuses with all of its inputs, and with any one of them missing it says why it does not.
    #[test]
    fn an_equation_accuses_only_with_every_input() {
        for equation in ALL {
            let judged = |given: &[Input], holds| equation.judged(holds, given, "a = b".to_string());
            assert_eq!(judged(equation.needs, false).0, Verdict::ContradictsItself, "{}", equation.rule);
            for missing in equation.needs {
                let given: Vec<Input> = equation.needs.iter().copied().filter(|need| need != missing).collect();
                let (verdict, words) = judged(&given, false);
                assert_eq!(verdict, Verdict::NotEnoughSaid, "{} without {missing:?}", equation.rule);
                assert!(words.starts_with("a = b; no fault: ") && words.ends_with(missing.unknown()), "{words}");
                assert_eq!(judged(&given, true), (Verdict::Agrees, "a = b".to_string()));
            }
        }
    }

    #[test]
    fn the_law_of_the_noise_is_known_only_where_no_other_is_named() {
        assert!(is_only("gaussian", ["Gaussian noise"].into_iter()));
        assert!(!is_only("gaussian", ["mu of Gaussian noise", "Laplace, report noisy max"].into_iter()));
        assert!(!is_only("laplace", ["noise"].into_iter()));
        assert!(divides("It is allocated across levels") && !divides("Two levels"));
        assert!(is_of_whole("Total epsilon") && !is_of_whole("The pair is"));
    }
}
