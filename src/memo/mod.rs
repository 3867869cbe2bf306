//! A memo that an auditor signs: a statement in words, its numbers, their certificates and how to check them, the assumptions, and
//! the SHA-256 of all files. One [`Document`](crate::document::Document) gives the page and the Markdown.
//!
//! | file | content |
//! | --- | --- |
//! | `folder` | the memo as a folder of files, and its request |
//! | `number` | a certified number with its certificate, or the reason why there is none |
//! | `sentence` | the sentences of a Statement, which certificates bear or which say that they have none |
//! | `decisions` | decisions at a prior, posteriors of events, and tests |
//! | `draft` | the sections that all memos have |
//! | `of_release`, `of_ledger`, `of_published` | the statements and the numbers of each kind of memo |

mod decisions;
mod draft;
mod folder;
mod number;
mod of_ledger;
mod of_published;
mod of_release;
mod sentence;

pub use folder::{File, Memo, Request, check_folder};
pub use of_ledger::of_ledger;
pub use of_published::of_published;
pub use of_release::of_release;

pub use crate::io::date::Date;
