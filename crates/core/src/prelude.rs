//! The names that most programs need: `use dp_assay::prelude::*;`.
//!
//! ```
//! # use dp_assay_core as dp_assay;
//! use dp_assay::prelude::*;
//!
//! // 1,000 steps of DP-SGD with noise multiplier 1 on Poisson samples of a hundredth, and ten counts with Laplace noise.
//! let training = Counts::sampled_gaussian("0.01", "1", 1000)?;
//! let mechanism = Composition::new([training, Counts::laplace("100", 10, 1)?])?;
//! assert!(mechanism.epsilon("1e-5", 6)?.met);
//! # Ok::<(), dp_assay::Error>(())
//! ```

pub use crate::{
    account::{
        Account, Answer, Composition, Counts, Delta, Epsilon, Rho, Sigma2,
        promise::{Grid, Promise, calibrate},
    },
    numeric::Enclosure,
    release::Release,
};
pub use rug::Rational;
