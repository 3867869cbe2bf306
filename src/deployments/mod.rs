//! Published privacy parameters of real deployments: each printed figure is compared with the one that follows from the printed facts, and
//! all deployments are put on one scale.
//!
//! | file | content |
//! | --- | --- |
//! | [`origin`] | who printed the figures, for whom they hold, and the snapshot of the registry |
//! | [`verdict`] | agrees, differs, contradicts itself, the entry contradicts itself, disproved, not enough said |
//! | [`scale`] | epsilon at a common delta, and the chance of a right decision at prior 1/2 |
//! | [`mod@file`] | deployments as data, `data/deployments/*.toml` |
//! | [`bundled`] | those that come with the program |
//! | [`judge`] | a deployment judged |
//! | [`proof`] | certificates of figures |
//! | [`registry`] | entries of the public Deployments Registry, judged from their YAML |
//! | [`view`] | a judged deployment or entry as it is shown |
//! | [`figure`] | all on one scale, drawn |
//! | [`yardstick`] | the place of an epsilon among those of one unit |
//! | `epsilons` | the certified epsilons that it reads, in `data/deployments/epsilons.csv` |

pub mod bundled;
mod epsilons;
pub mod figure;
pub mod file;
pub mod judge;
pub mod origin;
pub mod proof;
pub mod registry;
pub mod scale;
pub mod verdict;
pub mod view;
pub mod yardstick;

pub use self::{
    bundled::find,
    file::{Deployment, Headline},
    judge::Judged,
    origin::{Group, PrintedBy, Snapshot},
    scale::OnScale,
    verdict::Verdict,
    view::View,
    yardstick::Yardstick,
};
