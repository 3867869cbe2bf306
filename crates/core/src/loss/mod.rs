//! The privacy loss of a composition: its moment generating function, its profile and its tails, enclosed by several engines. Read the
//! files in this order, as one argument.
//!
//! | file | subject |
//! | --- | --- |
//! | [`parameter`] | epsilon, delta, rho and sigma2, checked once when they are made |
//! | [`law`] | the law of the noise of one count, and groups of equal counts |
//! | [`sum`] | the sum of the privacy losses of all counts, and the lattice of its values |
//! | [`theta`] | its moment generating function, by both sides of Jacobi's identity (in the room of the laws) |
//! | `question` | the functionals of a sum that can be requested, and their kernels |
//! | `contour` | the answer by the trapezoid rule on a contour, with every error bounded |
//! | `integrand` | the summand at a node, with exact phases |
//! | `bounds` | the error bounds: aliasing, truncation, rounding |
//! | `sieve`, `windows`, `lobes`, `bundles`, `factor_bound`, `survivors` | where on the contour the integrand is provably negligible |
//! | `far_field` | bounds on average beyond the heights that a sieve can reach |
//! | `plan`, `search` | the nodes that are summed, searched in doubles |
//! | `rough` | approximations by a contour in doubles, for searches |
//! | `near`, `cells`, `shared` | many requests to one sum: contours that they share, in sums of two doubles |
//! | [`atoms`] | enumeration: all losses with their masses, for few groups and bounded losses |
//! | `split` | conditioning: the losses of the coarse groups, and the profile of the remaining ones at each |
//! | `smoothed` | Gaussian smoothing: a contour with a little continuous noise, and the losses near the threshold |
//! | `merged` | common-step reduction: fine groups of nearly the same step, taken as one |
//! | `open` | open contours: many copies of losses that have no common lattice, with a bound on average beyond all heights that are swept |
//! | `fine` | groups whose sums are nearly Gaussian, for enumeration and for smoothing |
//! | `sampled` | Poisson sampling: pairs that are not symmetric, by a contour of their own |
//! | `uniform` | continuous Laplace noise and bounded range: a closed form, and a contour |
//! | `gaussian` | the closed form for continuous noise alone |
//! | [`family`] | the largest answer over all pairs of a family of sums, by one contour |
//! | `upper` | an upper bound on a profile of which no sum is known |
//! | `engine` | the engines, one file each, and the scheduler that chooses among them |
//! | [`infinite`] | outcomes that only one of two neighbors can have, beside the losses that are finite |
//! | [`evaluator`] | answers about one sum, or the largest over a family |
//! | [`answer`] | the result of every request: a value, how it was certified, whether the requested precision was reached |
//! | `memo` | what is remembered between requests: values by key, for all threads, within limits |
//! | `limit`, [`stop`] | limits of effort and cancellation of requests |
//! | [`second`] | a second enclosure of every answer, by moments and by comparison with continuous noise: it shares only `numeric` with the engines |
//! | [`convolve`] | exact convolution in fixed point: the independent path that tests compare with |

pub mod answer;
pub mod atoms;
mod bounds;
mod bundles;
mod cells;
mod contour;
pub mod convolve;
pub(crate) mod engine;
pub mod evaluator;
mod factor_bound;
pub mod family;
mod far_field;
mod fine;
pub(crate) mod gaussian;
pub mod infinite;
mod integrand;
pub use crate::law;
pub(crate) mod limit;
mod lobes;
#[cfg(test)]
mod measured;
mod memo;
mod merged;
mod near;
mod open;
pub use crate::law::parameter;
mod plan;
mod question;
mod rough;
pub(crate) mod sampled;
mod search;
pub mod second;
mod shared;
mod sieve;
pub(crate) mod smoothed;
mod split;
pub mod stop;
pub mod sum;
mod survivors;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod timed;
pub use crate::law::theta;
pub(crate) mod uniform;
pub mod upper;
mod windows;
