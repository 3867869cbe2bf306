//! An estimation from a folder of noisy measurement files: a request, and its run from beginning to end.
//!
//! | file | content |
//! | --- | --- |
//! | [`request`] | the inputs of an [`Estimation`](request::Estimation) and its output, and what it requests of a survey |
//! | [`run`] | the run: at once, in parts, or from the parts |
//! | [`estimated`] | what was estimated: errors of a rehearsal, fit and notes, as JSON |
//! | [`published`] | published counts beside the estimates |
//! | [`notes`] | sentences on missing files and unused input |

pub mod estimated;
pub mod notes;
pub mod published;
pub mod request;
pub mod run;
