//! The least noise that keeps a promise, with proof, and samples of exactly that noise: `cargo run --example calibrate`.

use dp_assay::{
    noise::{Sampler, Streams},
    numeric::rational::display,
    prelude::*,
};

fn main() -> dp_assay::Result<()> {
    // The promise: epsilon <= 4 at delta = 1e-9 for ten counts, each of which one person changes by one.
    let promise = Promise::Epsilon { delta: "1e-9".parse()?, epsilon: "4".parse()? };
    let sigma2 = Rational::from(5);
    let counts = Composition::new([Counts::discrete_gaussian(&sigma2, 10, 1)?])?;
    // The least sigma2 with two decimals that keeps it, and the next smaller one, which is proven not to keep it.
    let least = calibrate(&counts, &promise, Grid::sigma2(2))?;
    let calibrated = &sigma2 * least.factor;
    println!("sigma2 = {} keeps the promise", display(&calibrated));
    if let Some(before) = least.before {
        println!("sigma2 = {} does not", display(&(sigma2 * before)));
    }

    // Exact noise from ChaCha20, keyed by the operating system.
    let sampler = Sampler::discrete_gaussian(calibrated)?;
    let mut counts = [12, 0, 341, 7, 0, 58, 3, 1, 90, 25];
    Streams::from_system()?.add_noise(&sampler, &mut counts)?;
    println!("{counts:?}");
    Ok(())
}
