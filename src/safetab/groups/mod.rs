//! Population groups: characteristic iterations, the persons in them, and how many one person can belong to.
//!
//! | file | subject |
//! | --- | --- |
//! | [`specification`] | [`Specification`]: the iterations of a person, and a proof of their largest number, the stability |
//! | `read` | reads and checks the four files of a specification |

mod read;
pub mod specification;

pub use read::FILES;
pub use specification::{Iteration, IterationKind, Specification, TabulatedIteration};
