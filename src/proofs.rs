#![doc = include_str!("proofs.md")]
//!
//! # Statements, functions and tests
//!
//! | statement | function | test |
//! | --- | --- | --- |
//! | the profile is one contour integral, with both terms (section 1 above; Su, Su & Wang, Lemma A.9) | [`hockey_stick`](crate::loss::evaluator::SumEvaluator::hockey_stick) | `tests/enclosures.rs`, `tests/allocations.rs`: convolution, enumeration, Theorems A.7 and A.8 |
//! | the trapezoid rule adds only non-negative terms, each bounded | `loss::contour` | the same, at three precisions |
//! | factors are small outside windows (Fact A.14, Lemma A.4) | `loss::sieve` | its unit tests: no height above the target is lost |
//! | both sides of Jacobi's identity are one function | [`loss::theta`](crate::loss::theta) | `noise`: masses, tails and moments across the switch |
//! | outputs that only one neighbor can have add their probability: delta = 1 - s + s delta', f(alpha) = s f'(alpha / s) | [`infinite`](crate::loss::infinite) | `tests/laws.rs`: all outputs of up to nine counts |
//! | a symmetric pair is a mixture of randomized responses, and larger losses are less private in every composition | [`Responses`](crate::law::Responses) | `tests/laws.rs`: tables against all outputs, against truncated noise, and by conditioning |
//! | losses of one direction, rounded up with their probabilities kept, are less private in every composition, and have a rho | [`Outcomes`](crate::law::Outcomes) | `tests/pairs.rs`: all outcomes in both directions |
//! | a pair of rows whose best tests are nowhere worse makes another needless, and the hull of all bounds every choice (Blackwell 1953) | [`PerturbationTable`](crate::law::PerturbationTable) | `tests/pairs.rs`: all choices of rows, enumerated |
//! | a key is new or known, and the worst number of new ones counts | [`UnknownKey`](crate::law::UnknownKey) | `tests/pairs.rs`: all numbers of new keys, by conditioning |
//! | the profile of Poisson-sampled Gaussian noise is a contour integral of moments, each an integral along a shifted line | [`delta_of_directions`](crate::account::Account::delta_of_directions), `loss::sampled` | `tests/sampled.rs`: integrals of one and two steps, convolutions rounded both ways |
//! | a sum of losses that are uniform once they are tilted (continuous Laplace noise, bounded range) has a profile in closed form, by residues; for many counts by a contour | [`delta`](crate::account::Account::delta), `loss::uniform` | `tests/uniform.rs`: closed forms of one count, recursions by Simpson's rule, integrals |
//! | the pair of two responses dominates every mechanism with a guarantee (Kairouz, Oh & Viswanath 2015; Murtagh & Vadhan 2016) | [`Law::Approximate`](crate::law::Law::Approximate) | `tests/laws.rs`: all outputs; randomized response attains it |
//! | an epsilon is proven from both sides | [`Composition::epsilon`](crate::account::Account::epsilon) | `tests/enclosures.rs`: inversion, monotonicity |
//! | the trade-off function is piecewise linear between certified knots (Section A.7) | [`tradeoff`](crate::account::Account::tradeoff) | `tests/tradeoff.rs`: duality, convexity, symmetry |
//! | rho-zCDP implies epsilon by the best order, and no order does better (Canonne, Kamath & Steinke, Corollary 13) | [`zcdp_epsilon_optimal`](crate::account::conversions::zcdp_epsilon_optimal) | `account::conversions` |
//! | rho-zCDP implies a total variation distance of at most the t with t ln((1 + t) / (1 - t)) = rho (section 13 above) | [`zcdp_total_variation`](crate::account::conversions::zcdp_total_variation) | `tests/compared.rs`: sums of up to three counts by enumeration, pairs of probabilities on a grid |
//! | the RDP of the worst of many block paths is that of a path paired with itself | [`renyi_epsilon_of_worst`](crate::account::conversions::renyi_epsilon_of_worst), `extremes` of [`Account`](crate::account::Account) | `account::conversions`: every pair alone |
//! | all pairs of block paths share one contour | [`FamilyEvaluator`](crate::loss::evaluator::FamilyEvaluator) | `loss::evaluator`, `replication::block_paths`: every pair alone |
//! | every combination of the mixes of Gaussian releases is close to continuous noise of the same rho (section 5 above) | [`Ledger::composed`](crate::account::ledger::Ledger::composed) | `account::ledger`: every combination composed |
//! | with the same sum beside every pair they still do | [`WorstPath::pairs_beside`](crate::account::paths::WorstPath::pairs_beside) | `tests/beside_pairs.rs`: every pair composed alone |
//! | one count, and the sum of n copies, in closed form (Theorems A.7 and A.8, (A.5), (A.6)) | [`closed_forms`](crate::replication::closed_forms) | `replication::closed_forms`: the contour, convolution |
//! | the sum of copies is close to a density, with a bound on the difference (Theorem A.11, Appendix C, (A.8)) | [`Residual`](crate::replication::residual::Residual) | `replication::residual`: the leading image |
//! | off-center sums, bias, characteristic functions (Lemma A.4, Propositions A.5 and A.6, (A.3)) | [`shifted_gaussian`](crate::noise::shifted_gaussian) | `noise::shifted_gaussian`: by definition, the triple product |
//! | Boole's rule and its error budget (Section A.6, Appendix D) | [`Boole`](crate::replication::boole::Boole) | `replication::boole`, `replication::pipeline`: enumeration, the contour |
//! | the trade-off function that zCDP implies | [`zcdp_tradeoff`](crate::account::conversions::zcdp_tradeoff) | `account::conversions`: no line of a grid exceeds it |
//! | expected errors of counts, clamped at zero or not | [`ClampedErrors`](crate::noise::published_error::ClampedErrors) | `noise::published_error`: enumeration |
//! | noise on a grid is private enough, and the next value below is not | [`least_on_grid`](crate::account::calibrate::least_on_grid) | `account::calibrate` |
//! | one curve is below another at every delta of a range: convex in exp(epsilon) against concave in the logarithm | [`account::crossing`](crate::account::crossing) | its unit tests: points that the proof did not choose |
//! | no allocation has less weighted error: data processing and weak duality | [`least_possible`](crate::account::allocate::least_possible) | `account::allocate`: exchanges of noise between queries |
//! | a sample has exactly the law: random digits decide only where a proven bound does | [`noise::inversion`](crate::noise::inversion), [`noise::rejection`](crate::noise::rejection) | their unit tests: all words of reduced size; `tests/samplers.rs` |
//! | under a seed the samples do not depend on threads or platform | [`noise::Streams`](crate::noise::Streams) | `noise::bulk`, `noise::streams` (RFC 8439), `tests/samplers.rs` |
//! | the largest probability of a correct decision is a point of the profile | [`most_correct`](crate::risk::bound::most_correct) | `tests/risk.rs`: against one count's own decisions |
//! | all outputs of two levels are summed, and a bound on the others is added (Kazan & Reiter, Section 4.3) | [`correct_decision`](crate::risk::hierarchical::Hierarchy::correct_decision) | `tests/risk.rs`: enumeration |
//! | the marginal posterior is Mellin's integral of the logistic function | [`marginal`](crate::risk::single::Attack::marginal) | `tests/risk.rs`: sums over outputs |
//! | no record has more iterations than the stability by which noise is scaled | [`safetab::groups`](crate::safetab::groups) | `tests/safetab_input`: all sets of codes of random specifications |
//! | off-spine distances are true minima; every path of a spine sums to exactly one; Theorem 2 | [`spine::osed`](crate::spine::osed), [`spine::bypass`](crate::spine::bypass) | `tests/spine.rs`: all coefficients tried, path by path, dense matrices |
//! | noise by a unit's share spends the budget on every path (Cumings-Menon et al., Theorems 1 and 3) | [`MeasurementPlan`](crate::topdown::measure::MeasurementPlan) | `tests/measure.rs`: every change of a record, count by count |
//! | the two-pass estimate is least squares, and its variances are (3.4), for the totals of trees | [`topdown::estimate`](crate::topdown::estimate), [`topdown::variance`](crate::topdown::variance) | `tests/estimate.rs`: dense matrices in exact fractions; `tests/rhode_island.rs` |
//! | what counts determine, and the variances of totals with recodes, follow from the messages of a tree over spaces of functions | [`topdown::determined`](crate::topdown::determined) | `tests/designs.rs`: ranks, estimates and variances of random designs, dense and in exact fractions |
//! | the same by sectors, for all Kronecker products with recodes, zeros and exact totals, and for sums over any leaves | [`topdown::gls`](crate::topdown::gls) | `src/topdown/gls/exact_tests.rs`: dense matrices in exact fractions; `coverage_tests.rs`; `tests/nmf.rs` |
//! | a margin of error covers 95 % and the next smaller does not; no smaller budget has it | [`margin`](crate::safetab::cell_noise::CellNoise::margin), [`least_budget`](crate::safetab::tuning::least_budget) | `safetab::tuning`: sums of masses, round trips |
//! | suppression and its bias are sums over the masses (2024 paper, Section 5.3.2) | [`Suppression`](crate::safetab::suppression::Suppression) | `safetab::suppression`: enumeration |
//! | a mechanism with a pure guarantee is post-processing of randomized response, so totals only are the worst mix | [`person_epsilons`](crate::safetab::tuning::epsilons::person_epsilons) | `safetab::tuning::epsilons`: every mix |
//! | stage 1 chooses and stage 2 counts with one noise; the worst mix of groups (2024 paper, Algorithms 1 and 2) | `safetab::tabulate::guarantees` | `safetab::tabulate`: mixes one by one; `tests/tabulate.rs`: brute force without noise |
//!
//! # Assumptions
//!
//! - MPFR rounds as it documents: its basic operations and elementary functions are correctly rounded.
//! - The machine's doubles follow IEEE 754, and the standard library's `exp`, `exp_m1` and `ln_1p` of doubles err by
//!   less than 10^-12 relative. They bound radii and windows, never a reported midpoint.
//! - The noise that was added is the noise that was declared: independent draws of exactly N_Z(0, sigma2). For noise drawn
//!   by [`noise`](crate::noise) this is proven, provided that the words of ChaCha20, keyed by the operating system, are as good as
//!   random digits.
//! - Neighbors are as the release states, and a record changes the counts as it declares: sensitivities are taken from the release, not
//!   derived, except for SafeTab's, which follow from its specification files.
//! - Epsilon is about the drawn noisy counts. Post-processing neither costs nor adds privacy. Invariants,
//!   that is counts published without noise, are not part of it.
//! - An adversary may know everything except the one record: epsilon already allows for this.
