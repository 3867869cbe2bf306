//! The privacy loss and its sums, to be read in this order as one argument.
//!
//! | file | what it is about |
//! | --- | --- |
//! | [`parameter`] | epsilon, delta, rho and sigma2, checked once when they are made |
//! | [`law`] | the law of the noise of one count, and groups of equal counts |
//! | [`sum`] | the sum of the privacy losses of all counts, and the lattice of its values |
//! | [`theta`] | its moment generating function, by both sides of Jacobi's identity |
//! | `question` | the questions that are asked of a sum, and their kernels |
//! | `contour` | the answer by the trapezoid rule on a contour, with every error bounded |
//! | `integrand`, `phase` | the summand at a node, with exact phases |
//! | `bounds` | the error bounds: aliasing, truncation, rounding |
//! | `sieve`, `windows`, `lobes`, `bundles`, `factor_bound`, `survivors` | where on the contour the integrand is provably negligible |
//! | `far_field` | what lies beyond the heights that a sieve can reach, on average |
//! | `plan`, `search` | which nodes are summed, searched in doubles |
//! | `rough` | approximations by a contour in doubles, for searching |
//! | `near`, `cells`, `shared` | many requests to one sum: contours that they share, in sums of two doubles |
//! | [`atoms`] | the second engine: lists of the atoms of the law, for few groups and bounded losses |
//! | `split` | the third engine: a list of coarse losses, and the profile of the finer rest at each |
//! | `smoothed` | the fourth engine: a contour with a little continuous noise, and the losses near the threshold, one by one |
//! | `merged` | fine groups of nearly the same step, taken as one |
//! | `fine` | groups whose sums are all but Gaussian, for the second and the fourth engine |
//! | `gaussian` | the closed form for continuous noise alone |
//! | [`family`] | the largest answer over all pairs of a family of sums, by one contour |
//! | `engine` | the engines, one file each, and the scheduler that chooses among them |
//! | [`evaluator`] | answers about one sum, or the largest over a family |
//! | [`answer`] | what every question returns: a value, how it was certified, whether the width was met |
//! | `limit`, [`stop`] | how a question ends that takes too long, or that nobody waits for any more |
//! | [`second`] | a second enclosure of every answer, by moments and by comparison with continuous noise: it shares no code with the engines |
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
mod integrand;
pub mod law;
pub(crate) mod limit;
mod lobes;
mod merged;
mod near;
pub mod parameter;
mod phase;
mod plan;
mod question;
mod rough;
mod search;
pub mod second;
mod shared;
mod sieve;
pub(crate) mod smoothed;
mod split;
pub mod stop;
pub mod sum;
mod survivors;
pub mod theta;
mod windows;
