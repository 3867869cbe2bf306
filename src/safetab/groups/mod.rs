//! Population groups: characteristic iterations, who belongs to them, and how many one person can belong to.
//!
//! | file | what it is about |
//! | --- | --- |
//! | [`specification`] | [`Specification`]: the iterations of a person, and the proof of their greatest number, the stability |
//! | `read` | the four files of a specification, read and checked |

mod read;
pub mod specification;

pub use read::FILES;
pub use specification::{Iteration, IterationKind, Specification, TabulatedIteration};
