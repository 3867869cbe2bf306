//! Replication: published values as data, recomputed and judged; published tables and figures drawn again; the report.
//! Only the command line calls this module. Read it in this order; a file uses those above it, never one below:
//!
//! | file | content |
//! | --- | --- |
//! | [`verdict`] | the result of a recomputation ([`verdict::Computed`]), and the verdict on the printed value ([`verdict::Verdict`]) |
//! | `bundled` | TOML files that are compiled into the program, with line numbers in errors; the papers |
//! | **methods of the papers** | used by nothing else in the library |
//! | [`closed_forms`] | the sum of n copies in closed form: Su, Su & Wang, (A.5), and Theorem A.8 as printed |
//! | [`residual`] | the sum of n copies replaced by a Gaussian density, and its error: Theorem A.11, Appendix C |
//! | [`boole`] | tail probabilities by Boole's rule with an error budget: Section A.6 |
//! | [`gibbs`] | the Gibbs sampler of Kazan & Reiter, Section 3.2: its limit, and a seeded run |
//! | **claims** | for each subject a table of its claims (`claims`): names, inputs, computations |
//! | [`claims`] | reading a claim by such a table |
//! | [`account_claims`], `known`, `accounts` | the privacy account of a release or of counts: epsilon and its conversions, the gain over zCDP, the matching noise |
//! | [`formula`] | closed forms: an expression of exact numbers |
//! | [`block_paths`] | block paths and pairs of them: the largest delta |
//! | [`risk`] | Kazan & Reiter (2023): settings, claims, and the curves of their figures |
//! | [`safetab`] | both papers on SafeTab: settings, Renyi divergences, levels, claims |
//! | [`spines`] | Cumings-Menon et al. (2024): statements about spines, checked on small trees |
//! | [`su_su_wang_2025`] | Su, Su & Wang (2025): the rule on their sum, the error budget, the statements of the appendices |
//! | [`registry`] | the kinds of claims beside those about an account, each with its table |
//! | **results** | |
//! | [`printed`] | the forms of printed numbers, and the set of numbers that each stands for |
//! | `stated`, `unit` | the numbers that a printed text stands for, and how it is to be read |
//! | `published_value`, `fit`, `own_inputs`, `published_csv`, `published_file`, [`published`] | the rows of `data/published/*.toml` and of files of the same form: each printed value, its place, its unit, its recomputation |
//! | [`verify`] | every row recomputed and judged |
//! | [`faults`] | distinct faults, which several rows can show |
//! | [`certified`] | rows as certificates that another program checks |
//! | [`pipeline`] | Section A.6 of Su, Su & Wang carried out by Boole's rule, beside the contour |
//! | [`figures`] | tables and figures drawn again, one file per paper |
//! | [`report`] | `results/REPORT.md` |

pub mod account_claims;
mod accounts;
pub mod block_paths;
pub mod boole;
mod bundled;
pub(crate) use self::bundled::read as bundled_toml;
pub mod certified;
pub mod claims;
pub mod closed_forms;
pub mod faults;
pub mod figures;
mod fit;
pub mod formula;
pub mod gibbs;
mod known;
mod own_inputs;
pub mod pipeline;
pub mod printed;
pub mod published;
mod published_csv;
pub(crate) mod published_file;
mod published_value;
pub mod registry;
pub mod report;
pub mod residual;
pub mod risk;
pub mod safetab;
pub mod spines;
mod stated;
pub mod su_su_wang_2025;
mod unit;
pub mod verdict;
pub mod verify;
