//! Sheets about a release in the forms of others, from its file alone: the points of NIST SP 800-226, and an entry of the public Deployments
//! Registry.
//!
//! | file | content |
//! | --- | --- |
//! | `figures` | the certified numbers of a sheet |
//! | `blocks` | open points, and numbers as text |
//! | `open` | the points that no release file answers |
//! | `nist` | the sheet of NIST SP 800-226, as a document in sections |
//! | `algorithms` | its sections on mechanisms, composition, utility and bias |
//! | `registry` | an entry of the registry |
//! | `yaml` | YAML that every reader reads in one way |

mod algorithms;
mod blocks;
mod figures;
mod nist;
mod open;
mod registry;
mod yaml;

pub use figures::{Figures, Request, margins};
pub use nist::document;
pub use open::Point;
pub use registry::entry;
