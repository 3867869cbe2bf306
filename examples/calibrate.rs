//! The least noise that keeps a promise, proven, and noise of exactly that law: `cargo run --example calibrate`.

use dp_assay::{
    account::{Composition, Counts},
    noise::{Sampler, Streams},
    numeric::rational::{display, parse},
};

fn main() -> dp_assay::Result<()> {
    // The promise: epsilon <= 4 at delta = 1e-9 for ten counts, each of which one person changes by one.
    let (epsilon, delta) = (parse("4")?, parse("1e-9")?);
    let keeps = |sigma2: &rug::Rational| -> dp_assay::Result<bool> {
        let counts = Composition::new([Counts::discrete_gaussian(sigma2.clone(), 10, 1)?])?;
        // The upper end of the interval decides: what is accepted is proven.
        Ok(counts.delta(&epsilon, 12)?.value.upper().to_rational().is_some_and(|most| most <= delta))
    };
    // Bisection over hundredths.
    let (mut fails, mut holds) = (1_u32, 100_000_u32);
    while holds - fails > 1 {
        let middle = (fails + holds) / 2;
        if keeps(&rug::Rational::from((middle, 100)))? { holds = middle } else { fails = middle }
    }
    let sigma2 = rug::Rational::from((holds, 100));
    println!("sigma2 = {} keeps the promise", display(&sigma2));

    // Exact noise from ChaCha20, keyed by the operating system.
    let sampler = Sampler::discrete_gaussian(sigma2)?;
    let mut counts = [12, 0, 341, 7, 0, 58, 3, 1, 90, 25];
    Streams::from_system()?.add_noise(&sampler, &mut counts)?;
    println!("{counts:?}");
    Ok(())
}
