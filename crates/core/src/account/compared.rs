//! References for an exact epsilon: the figure that was published for the same release, or the smallest standard account.
//!
//! A published figure enters by its conversion, unrounded; the printed digits are shown beside it. It holds for one delta only; at any
//! other nothing was published. Everything else is compared with the smallest epsilon of the usual accounts: pure DP, zCDP at the best
//! order or by Bun & Steinke, and RDP.

use rug::Rational;

use super::{
    composition::Composition,
    conversions::{self, GaussianProfile},
    profile::Account,
};
use crate::{
    error::{Error, Result},
    loss::{infinite::Target, parameter::Delta},
    numeric::{Enclosure, rational},
};

/// A standard account: a way to derive epsilon at delta from the known facts about a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// From rho: rho + 2 sqrt(rho ln(1 / delta)) (Bun & Steinke 2016, Proposition 1.3).
    BunSteinke,
    /// From rho, by the best Renyi order (Canonne, Kamath & Steinke 2020, Corollary 13).
    BestOrder,
    /// From the exact Renyi divergences, by the best order.
    Renyi,
    /// The largest loss, at every delta.
    Pure,
    /// The largest loss that is finite, at every delta that is at least the probability of an infinite one.
    Basic,
}

impl Conversion {
    /// All of them; of two that agree the first is named.
    pub const ALL: [Conversion; 5] =
        [Conversion::Pure, Conversion::Basic, Conversion::BestOrder, Conversion::Renyi, Conversion::BunSteinke];

    /// The name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Conversion::BunSteinke => "zCDP (Bun-Steinke)",
            Conversion::BestOrder => "zCDP (best order)",
            Conversion::Renyi => "RDP",
            Conversion::Pure => "pure DP",
            Conversion::Basic => "basic composition",
        }
    }

    /// The name in files and on the command line.
    pub fn key(self) -> &'static str {
        match self {
            Conversion::BunSteinke => "zcdp",
            Conversion::BestOrder => "best-order",
            Conversion::Renyi => "rdp",
            Conversion::Pure => "pure",
            Conversion::Basic => "basic",
        }
    }

    /// The conversion with this key.
    pub fn of_key(key: &str) -> Option<Self> {
        Conversion::ALL.into_iter().find(|conversion| conversion.key() == key)
    }

    /// The formula or description shown after its name.
    pub fn formula(self) -> &'static str {
        match self {
            Conversion::BunSteinke => "rho + 2 sqrt(rho ln(1/delta))",
            Conversion::BestOrder => {
                "from rho, by the best of all Renyi orders, each converted alone (Canonne, Kamath & Steinke)"
            }
            Conversion::Renyi => "from the exact Renyi divergences, by the best of all orders, each converted alone",
            Conversion::Pure => "the largest loss, at every delta",
            Conversion::Basic => {
                "the largest loss that is finite, at every delta that is at least the probability of an infinite one"
            }
        }
    }

    /// The epsilon that it gives at delta, with a width of about 10^-digits by formula and 10^-13 by the best order; `None` where it is
    /// infinite. Where some losses are infinite, delta less their probability is left for the others.
    pub fn epsilon(self, account: &impl Account, delta: &Delta, digits: u32) -> Result<Option<Enclosure>> {
        let enclosed = |epsilon: Option<Rational>| epsilon.map(|epsilon| Enclosure::rational(&epsilon, PURE_BITS));
        if self == Conversion::Pure {
            return Ok(enclosed(pure_epsilon(account)?));
        }
        if self == Conversion::Basic {
            let Some(infinite) = account.infinite_loss() else { return Ok(None) };
            infinite.target(delta, digits)?;
            return Ok(enclosed(largest_finite_loss(account)?));
        }
        let of = |delta: &Delta| self.epsilon_of_finite(account, delta, digits);
        let Some(infinite) = account.infinite_loss() else { return of(delta).map(Some) };
        match infinite.target(delta, digits)? {
            Target::At(delta) => of(&delta).map(Some),
            Target::Between { least, most } => Ok(Some(of(&most)?.hull(&of(&least)?))),
            Target::Zero => Ok(None),
        }
    }

    /// The epsilon at delta of losses that are all finite, by one of the conversions of rho.
    fn epsilon_of_finite(self, account: &impl Account, delta: &Delta, digits: u32) -> Result<Enclosure> {
        // A bound may be negative at a large delta; then epsilon is 0.
        let least_zero = |epsilon: Enclosure| epsilon.clamp(0.0, f64::INFINITY);
        Ok(match self {
            Conversion::BunSteinke | Conversion::Pure | Conversion::Basic => {
                conversions::zcdp_epsilon(&account.rho(), delta, digits)
            }
            Conversion::BestOrder => least_zero(conversions::zcdp_epsilon_best_order(&account.rho(), delta)?),
            Conversion::Renyi => least_zero(conversions::renyi_epsilon_of_worst(&account.extremes()?, delta)?.epsilon),
        })
    }

    /// delta at epsilon by the same conversion, in doubles, for charts. For pure DP it is that of randomized response, all of whose losses
    /// are at the ends.
    pub fn delta_approx(self, account: &impl Account, epsilon: f64) -> Result<f64> {
        let finite = self.delta_approx_of_finite(account, epsilon)?;
        Ok(account.infinite_loss().map_or(finite, |infinite| libm::exp(infinite.ln_approx(libm::log(finite)))))
    }

    fn delta_approx_of_finite(self, account: &impl Account, epsilon: f64) -> Result<f64> {
        let rho = account.rho().to_f64();
        Ok(match self {
            Conversion::BunSteinke if epsilon <= rho => 1.0,
            Conversion::BunSteinke => libm::exp(-(epsilon - rho).powi(2) / (4.0 * rho)),
            Conversion::BestOrder => conversions::best_order_delta_approx(rho, None, epsilon),
            Conversion::Renyi => {
                let all = account.extremes()?;
                let of = |one| conversions::best_order_delta_approx(rho, Some(one), epsilon);
                all.iter().map(of).fold(0.0, f64::max)
            }
            Conversion::Pure | Conversion::Basic => {
                let most = largest_finite_loss(account)?.map_or(f64::INFINITY, |most| most.to_f64());
                if most.is_infinite() {
                    return Ok(1.0);
                }
                // (e^E - e^eps) / (e^E + 1), without an exponential that overflows.
                ((1.0 - libm::exp(epsilon - most)) / (1.0 + libm::exp(-most))).max(0.0)
            }
        })
    }
}

const PURE_BITS: u32 = 192;

/// The largest loss, exactly; `None` if losses are unbounded.
pub fn pure_epsilon(account: &impl Account) -> Result<Option<Rational>> {
    let each: Option<Vec<Rational>> = account.extremes()?.iter().map(|one| one.pure_epsilon()).collect();
    Ok(each.and_then(|each| each.into_iter().max()))
}

/// The largest loss that is finite, exactly; `None` if losses are unbounded.
fn largest_finite_loss(account: &impl Account) -> Result<Option<Rational>> {
    let each: Option<Vec<Rational>> = account.extremes()?.iter().map(|one| one.largest_finite_loss()).collect();
    Ok(each.and_then(|each| each.into_iter().max()))
}

/// A printed epsilon of a mechanism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedFigure {
    /// The printed text.
    pub printed: String,
    /// The same as a number.
    pub value: Rational,
    /// The delta beside it; none for pure DP, which holds at every delta.
    pub delta: Option<Delta>,
    /// How it was computed.
    pub by: Conversion,
    /// Where and by whom it was printed.
    pub source: String,
}

impl PrintedFigure {
    /// Whether it holds at this delta.
    pub fn is_at(&self, delta: &Delta) -> bool {
        self.delta.as_ref().is_none_or(|own| own == delta)
    }

    /// Whether the printed digits are those of a number: within one unit of the last digit; a fraction within a relative 10^-6.
    pub fn agrees(&self, value: &Enclosure) -> bool {
        let near =
            |end: Option<Rational>| end.is_some_and(|end| Rational::from(&end - &self.value).abs() <= self.unit());
        near(value.lower_rational()) && near(value.upper_rational())
    }

    /// Whether it is proven to be smaller than an epsilon, also for the rounding of its last digit: the data are less private than it says.
    pub fn is_below(&self, epsilon: &Enclosure) -> bool {
        epsilon.lower_rational().is_some_and(|least| least - self.unit() > self.value)
    }

    /// Whether it is proven to be larger: the data are more private than it says.
    pub fn is_above(&self, epsilon: &Enclosure) -> bool {
        epsilon.upper_rational().is_some_and(|most| most < self.value)
    }

    /// One unit of the last printed digit.
    fn unit(&self) -> Rational {
        match self.printed.contains('/') {
            true => Rational::from(&self.value / 1_000_000_u32),
            false => rational::unit_of_last_digit(&self.printed),
        }
    }
}

/// A reference for an exact epsilon.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The account.
    pub by: Conversion,
    /// Its epsilon, not rounded.
    pub epsilon: Enclosure,
    /// The published figure, if that is the reference.
    pub published: Option<PrintedFigure>,
}

/// The choice of the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Against {
    /// The published figure if there is one, else the smallest standard account.
    #[default]
    Usual,
    /// The published figure; an error if nothing was published.
    Published,
    /// One account, even if a figure was published.
    By(Conversion),
}

/// If two accounts differ by less than this share, a hundredth of a percent, the simpler one is named: noise of bounded loss is compared
/// with pure DP.
const AS_GOOD: f64 = 1e-4;

impl Compared {
    /// The smallest standard account.
    pub fn smallest(account: &impl Account, delta: &Delta, digits: u32) -> Result<Compared> {
        let mut best: Option<Compared> = None;
        for by in Conversion::ALL {
            if by == Conversion::Renyi && !renyi_may_be_smaller(account, delta)? {
                continue;
            }
            let Some(epsilon) = by.epsilon(account, delta, digits)? else { continue };
            let is_better = best.as_ref().is_none_or(|best| {
                let most = epsilon.upper().to_f64() * (1.0 + AS_GOOD);
                most < best.epsilon.lower().to_f64()
            });
            if is_better {
                best = Some(Compared { by, epsilon, published: None });
            }
        }
        best.ok_or(Error::Unbounded { what: "the epsilon of every standard account" })
    }

    /// The requested reference. `figures` are those that were published for this account, at any delta. An error if `against` requires a
    /// published figure and there is none at delta, or an account whose epsilon is infinite.
    pub fn of_account(
        account: &impl Account,
        figures: &[PrintedFigure],
        against: Against,
        delta: &Delta,
        digits: u32,
    ) -> Result<Compared> {
        let figure = figures.iter().find(|figure| figure.is_at(delta));
        match (against, figure) {
            (Against::Usual, None) => Compared::smallest(account, delta, digits),
            (Against::Usual | Against::Published, Some(figure)) => {
                let found = Compared::of_account(account, &[], Against::By(figure.by), delta, digits)?;
                Ok(Compared { published: Some(figure.clone()), ..found })
            }
            (Against::Published, None) => Err(nothing_published(figures, delta)),
            (Against::By(by), _) => {
                let epsilon = by.epsilon(account, delta, digits)?.ok_or_else(|| {
                    let why = "has no finite epsilon here, because the loss of Gaussian noise is unbounded";
                    Error::unsuitable(format!("{:?} {why}", by.key()))
                })?;
                // A figure by the same conversion is still shown beside it.
                let published = figure.filter(|figure| figure.by == by).cloned();
                Ok(Compared { by, epsilon, published })
            }
        }
    }

    /// The name of the account, and the printed figure.
    pub fn name(&self) -> String {
        match &self.published {
            None => self.by.name().to_string(),
            Some(figure) => format!("{}, published as {}", self.by.name(), figure.printed),
        }
    }

    /// A sentence about a published figure, which mentions if its digits are not those of its conversion.
    pub fn about_published(&self) -> Option<String> {
        let figure = self.published.as_ref()?;
        let at = figure.delta.as_ref().map_or_else(String::new, |delta| format!(" at delta = {delta}"));
        let differs = match figure.agrees(&self.epsilon) {
            true => String::new(),
            false => format!(" The conversion gives {}, unlike the printed figure.", self.epsilon.shown(7)),
        };
        Some(format!("{} was published as {}{at}: {}.{differs}", self.by.name(), figure.printed, figure.source))
    }
}

/// Whether the exact divergences may give less than rho does, by doubles. With fine noise only they do not, and they take much longer.
fn renyi_may_be_smaller(account: &impl Account, delta: &Delta) -> Result<bool> {
    let rho = account.rho().to_f64();
    let delta = &match account.infinite_loss().map(|infinite| infinite.target(delta, 12)).transpose()? {
        None => delta.clone(),
        Some(Target::At(delta) | Target::Between { least: delta, .. }) => delta,
        Some(Target::Zero) => return Ok(false),
    };
    let by_rho = conversions::best_order_epsilon_approx(rho, None, delta);
    let exact = |one: &Composition| conversions::best_order_epsilon_approx(rho, Some(one), delta);
    let by_renyi = account.extremes()?.iter().map(exact).fold(f64::NEG_INFINITY, f64::max);
    // NaN is no reason to skip it.
    Ok(by_renyi.is_nan() || by_renyi < by_rho * (1.0 - AS_GOOD))
}

fn nothing_published(figures: &[PrintedFigure], delta: &Delta) -> Error {
    let at = figures.iter().filter_map(|figure| figure.delta.as_ref()).map(ToString::to_string).collect::<Vec<_>>();
    Error::missing(match at.is_empty() {
        true => "no epsilon was published for this account: match zcdp, best-order or pure".to_string(),
        false => format!(
            "no epsilon was published at delta = {delta}, but at delta = {}: use that delta, or match zcdp, best-order or pure",
            at.join(", ")
        ),
    })
}

/// One of the accounts in a table.
#[derive(Clone, Debug)]
pub struct Accountant {
    /// Its name.
    pub name: &'static str,
    /// Its epsilon at delta; `None` where it is infinite.
    pub epsilon: Option<Enclosure>,
    /// Whether it is an upper bound for this mechanism.
    pub is_bound: bool,
    /// How it is computed.
    pub note: String,
}

/// Noise that is Gaussian on every count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaussianNoise {
    /// Continuous on every count: its profile is that of [`GaussianProfile`].
    Continuous,
    /// Discrete on some counts: the profile of continuous noise of the same rho is close, and no bound.
    Discrete,
}

/// Which Gaussian noise an account has; `None` where a count has noise of another law, or is on a Poisson sample.
pub fn gaussian_noise(account: &impl Account) -> Result<Option<GaussianNoise>> {
    let laws = |one: &Composition| -> Option<GaussianNoise> {
        let mut all = one.counts().iter().map(|counts| &counts.law);
        match all.clone().all(|law| law.sigma2().is_some() && !law.is_sampled()) {
            false => None,
            true if all.any(|law| law.discrete_sigma2().is_some()) => Some(GaussianNoise::Discrete),
            true => Some(GaussianNoise::Continuous),
        }
    };
    let each: Option<Vec<GaussianNoise>> = account.extremes()?.iter().map(laws).collect();
    Ok(each.map(|each| match each.contains(&GaussianNoise::Discrete) {
        true => GaussianNoise::Discrete,
        false => GaussianNoise::Continuous,
    }))
}

/// Every accountant but the exact one, at delta.
pub fn accountants(account: &impl Account, delta: &Delta, digits: u32) -> Result<Vec<Accountant>> {
    let least_zero = |epsilon: Enclosure| epsilon.clamp(0.0, f64::INFINITY);
    let order = |order: f64| format!("best order alpha = {order:.4}");
    let row = |by: Conversion, epsilon, note: String| Accountant { name: by.name(), epsilon, is_bound: true, note };
    let least_delta = match account.infinite_loss().map(|infinite| infinite.target(delta, digits)).transpose()? {
        None => delta.clone(),
        Some(Target::At(delta) | Target::Between { least: delta, .. }) => delta,
        Some(Target::Zero) => return without_delta(account, delta, digits),
    };
    let (given, delta) = (delta, &least_delta);
    let renyi = conversions::renyi_epsilon_of_worst(&account.extremes()?, delta)?;
    let optimal = conversions::zcdp_epsilon_optimal(&account.rho(), delta)?;
    let pure = Conversion::Pure.epsilon(account, delta, digits)?;
    let of_pure = match (pure.is_some(), account.infinite_loss().is_some()) {
        (true, _) => "the largest loss, at delta = 0",
        (false, false) => "the loss of Gaussian noise is unbounded",
        (false, true) => "some outputs have an infinite loss",
    };
    let by_formula = Conversion::BunSteinke;
    let basic = Conversion::Basic.epsilon(account, given, digits)?;
    let basic = basic.map(|epsilon| row(Conversion::Basic, Some(epsilon), BASIC.to_string()));
    let gdp = |noise: GaussianNoise| -> Result<Accountant> {
        let (is_bound, note) = match noise {
            GaussianNoise::Continuous => (true, "the law of continuous noise: the same profile"),
            GaussianNoise::Discrete => (false, "continuous noise of the same rho: an approximation for integers"),
        };
        let epsilon = Some(GaussianProfile::new(account.rho()).epsilon(delta, digits)?);
        Ok(Accountant { name: "GDP", epsilon, is_bound, note: note.to_string() })
    };
    let gdp = gaussian_noise(account)?.map(gdp).transpose()?;
    Ok([
        row(Conversion::Renyi, Some(least_zero(renyi.epsilon)), order(renyi.order)),
        row(Conversion::BestOrder, Some(least_zero(optimal.epsilon)), order(optimal.order)),
        row(by_formula, Some(by_formula.epsilon_of_finite(account, delta, digits)?), by_formula.formula().to_string()),
    ]
    .into_iter()
    .chain(gdp)
    .chain([row(Conversion::Pure, pure, of_pure.to_string())])
    .chain(basic)
    .collect())
}

const BASIC: &str = "the largest finite loss, with the probability of an infinite one";

/// The same where outputs of infinite loss use up delta: by rho and by moments no epsilon is finite.
fn without_delta(account: &impl Account, delta: &Delta, digits: u32) -> Result<Vec<Accountant>> {
    const NOTHING_LEFT: &str = "delta is the probability of infinite losses: nothing is left for the others";
    let row = |by: Conversion, epsilon, note: &str| Accountant {
        name: by.name(),
        epsilon,
        is_bound: true,
        note: note.to_string(),
    };
    let infinite =
        [Conversion::Renyi, Conversion::BestOrder, Conversion::BunSteinke].map(|by| row(by, None, NOTHING_LEFT));
    let basic =
        Conversion::Basic.epsilon(account, delta, digits)?.map(|epsilon| row(Conversion::Basic, Some(epsilon), BASIC));
    let pure = row(Conversion::Pure, None, "some outputs have an infinite loss");
    Ok(infinite.into_iter().chain([pure]).chain(basic).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Counts;

    fn delta(text: &str) -> Delta {
        text.parse().unwrap()
    }

    #[test]
    fn the_smallest_account_is_named_and_is_a_bound() {
        let laplace = |text: &str| Counts::parse_discrete_laplace(text).unwrap();
        let cases = [
            (vec!["5x10".parse().unwrap()], Conversion::BestOrder),
            (vec!["0.2x3".parse().unwrap()], Conversion::Renyi),
            (vec![laplace("0.5x3@2")], Conversion::Pure),
            // A thousand small losses: pure DP adds them up, the moments do not.
            (vec![laplace("0.01x1000")], Conversion::Renyi),
        ];
        for (counts, by) in cases {
            let composition = Composition::new(counts).unwrap();
            let delta = delta("1e-8");
            let smallest = Compared::smallest(&composition, &delta, 12).unwrap();
            assert_eq!(smallest.by, by, "{composition:?}");
            let exact = composition.epsilon(&delta, 12).unwrap().value;
            assert!(exact.lower() <= smallest.epsilon.upper());
            for other in accountants(&composition, &delta, 12).unwrap().into_iter().filter(|row| row.is_bound) {
                let Some(epsilon) = other.epsilon else { continue };
                assert!(exact.lower() <= epsilon.upper(), "{}", other.name);
                let within = epsilon.upper().to_f64() * (1.0 + 1.1 * AS_GOOD);
                assert!(within >= smallest.epsilon.lower().to_f64(), "{}", other.name);
            }
        }
    }

    #[test]
    fn a_figure_is_compared_at_its_delta_alone() {
        let composition = Composition::new(["5x10".parse().unwrap()]).unwrap();
        let figure = PrintedFigure {
            printed: "9.44".to_string(),
            value: rational::parse("9.44").unwrap(),
            delta: Some(delta("1e-8")),
            by: Conversion::BunSteinke,
            source: "a test".to_string(),
        };
        let all = [figure.clone()];
        let of = |against, at: &str| Compared::of_account(&composition, &all, against, &delta(at), 12);
        let found = of(Against::Usual, "1e-8").unwrap();
        assert_eq!((found.by, found.published.as_ref()), (Conversion::BunSteinke, Some(&figure)));
        // 1 + 2 sqrt(ln 1e8) = 9.5839..., which is not the printed figure.
        assert!(found.about_published().unwrap().contains("gives 9.583864, unlike"), "{:?}", found.about_published());
        assert!(PrintedFigure { value: rational::parse("9.58").unwrap(), ..figure.clone() }.agrees(&found.epsilon));
        let other = of(Against::Usual, "1e-9").unwrap();
        assert!(other.published.is_none() && other.by == Conversion::BestOrder);
        assert!(of(Against::Published, "1e-9").unwrap_err().to_string().contains("but at delta = 1e-8"));
        assert!(Compared::of_account(&composition, &[], Against::Published, &delta("1e-8"), 12).is_err());
        assert!(of(Against::By(Conversion::BestOrder), "1e-8").unwrap().published.is_none());
        assert!(of(Against::By(Conversion::Pure), "1e-8").unwrap_err().to_string().contains("unbounded"));
    }

    #[test]
    fn drawn_deltas_are_those_of_the_conversions() {
        let gaussian = Composition::new(["2x4".parse().unwrap()]).unwrap();
        let laplace = Composition::new([Counts::parse_discrete_laplace("0.5x3").unwrap()]).unwrap();
        for (composition, conversions) in [
            (&gaussian, &[Conversion::BunSteinke, Conversion::BestOrder, Conversion::Renyi][..]),
            (&laplace, &[Conversion::BunSteinke, Conversion::BestOrder, Conversion::Renyi][..]),
        ] {
            for by in conversions {
                let epsilon = by.epsilon(composition, &delta("1e-6"), 12).unwrap().unwrap().approximate();
                let drawn = by.delta_approx(composition, epsilon).unwrap();
                assert!((drawn.ln() / 1e-6_f64.ln() - 1.0).abs() < 0.01, "{by:?}: {drawn}");
            }
        }
        assert!(Conversion::Pure.delta_approx(&laplace, 1.4).unwrap() > 0.0);
        assert_eq!(Conversion::Pure.delta_approx(&laplace, 1.5).unwrap(), 0.0);
        assert_eq!(Conversion::Pure.delta_approx(&gaussian, 1.5).unwrap(), 1.0);
    }
}
