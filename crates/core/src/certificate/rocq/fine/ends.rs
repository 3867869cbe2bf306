//! Both ends of delta at an epsilon, of one composition on a coarser lattice; and noise that is enough, beside noise that is not.

use rug::Rational;

use super::{
    super::number::{Number, unprovable},
    cells::Counts,
    parts::{Test, above, counts, counts_text, few, precision},
    plan::{About, Plan},
    side::Side,
};
use crate::{
    certificate::ends::{round_down, round_up},
    error::Result,
    law::Group,
};

/// The largest relative distance of the ends.
const FAR: f64 = 0.02;

/// delta at an epsilon: at most `upper`, by a walk of split counts; above `lower`, by a test.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct FineEnds {
    pub(in super::super) epsilon: Rational,
    pub(in super::super) lower: Rational,
    pub(in super::super) upper: Rational,
    /// The counts of the walk, and those of the test: in a calibration not the same.
    counts: [Vec<Counts>; 2],
    above: Side,
    test: Test,
}

impl FineEnds {
    /// Ends of this number of digits. `about`: delta, approximately; `files`: as many such ends as one file has.
    pub(in super::super) fn new(
        path: &[&Group],
        [epsilon, about]: [&Rational; 2],
        digits: u32,
        files: u32,
    ) -> Result<FineEnds> {
        let counts = counts(path)?;
        let plan = Plan::new(&counts, epsilon.to_f64(), About::Delta, files)?;
        let side = above(&counts, &plan, precision(about))?;
        let test = test(&counts, &plan, epsilon, about)?;
        let shown = test.shows_delta(epsilon).ok_or_else(few)?;
        let (lower, upper) = (round_down(&shown, digits), round_up(&side.upper(epsilon).ok_or_else(few)?, digits));
        if lower <= 0 || upper >= 1 || Rational::from(&upper - &lower).to_f64() > FAR * upper.to_f64() {
            return Err(few());
        }
        Ok(FineEnds { epsilon: epsilon.clone(), lower, upper, counts: [counts.clone(), counts], above: side, test })
    }

    /// The noise of `enough` is, for an epsilon at a delta, and that of `less` is not.
    pub(in super::super) fn of_scale(
        [enough, less]: [&[&Group]; 2],
        epsilon: &Rational,
        delta: &Rational,
    ) -> Result<FineEnds> {
        let (enough, less) = (counts(enough)?, counts(less)?);
        let side = above(&enough, &Plan::new(&enough, epsilon.to_f64(), About::Delta, 1)?, precision(delta))?;
        let test = test(&less, &Plan::new(&less, epsilon.to_f64(), About::Delta, 1)?, epsilon, delta)?;
        let is_enough = side.upper(epsilon).is_some_and(|bound| bound <= *delta);
        if !is_enough || test.shows_delta(epsilon).is_none_or(|shown| shown < *delta) {
            return Err(unprovable("need a larger step between the two factors: 30 bits do not separate these"));
        }
        let (lower, upper) = (delta.clone(), delta.clone());
        Ok(FineEnds { epsilon: epsilon.clone(), lower, upper, counts: [enough, less], above: side, test })
    }

    /// The certificates; their names have this prefix.
    pub(in super::super) fn definitions(&self, prefix: &str) -> String {
        let [epsilon, delta] = [&self.epsilon, &self.upper].map(Number::new);
        let fields = [epsilon.fields(), delta.fields()];
        let above =
            self.above.definition(&format!("{prefix}above"), &self.epsilon, fields.each_ref().map(String::as_str));
        format!("{above}{}", self.test.definitions(prefix))
    }

    /// The hints of the test.
    pub(in super::super) fn hints(&self) -> String {
        self.test.hints()
    }

    /// Both computations.
    pub(in super::super) fn lemmas(&self) -> String {
        format!(
            "Lemma above_holds : certified above = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n\n{}",
            self.test.lemma([&self.epsilon, &self.lower])
        )
    }

    /// The counts of the walk, and those of the test.
    pub(in super::super) fn counts_text(&self) -> [String; 2] {
        self.counts.each_ref().map(|counts| counts_text(counts))
    }
}

/// The test that shows the largest delta.
fn test(counts: &[Counts], plan: &Plan, epsilon: &Rational, delta: &Rational) -> Result<Test> {
    let exp = libm::exp(epsilon.to_f64());
    Test::best(counts, plan, precision(delta), epsilon, |test| test.p.to_f64() - exp * test.q.to_f64())
}
