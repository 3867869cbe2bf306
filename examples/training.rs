//! The privacy of a training run with DP-SGD, and the noise that it needs: `cargo run --example training`.
//!
//! Every step draws a new Poisson sample that is kept secret; shuffled batches and batches of a fixed size have other privacy losses.

use dp_assay::{numeric::rational::display, prelude::*};

fn main() -> dp_assay::Result<()> {
    // 60,000 records, batches of 600 on average, 20 epochs: 2,000 steps with rate 1/100, clipping norm 1 and noise multiplier 1.1.
    let (rate, steps) = ("600/60000", 2000);
    let run = Composition::new([Counts::sampled_gaussian(rate, "1.21", steps)?])?;
    println!("epsilon = {} at delta = 1e-5", run.epsilon("1e-5", 10)?.value.shown(10));

    // The least variance with three decimals for epsilon <= 2 at delta = 1e-5; the next smaller one is proven not to keep it.
    let promise = Promise::Epsilon { delta: "1e-5".parse()?, epsilon: "2".parse()? };
    let least = calibrate(&run, &promise, Grid::sigma2(3))?;
    let sigma2 = Rational::from((121, 100)) * &least.factor;
    println!(
        "sigma2 = {} keeps epsilon <= 2: a noise multiplier of about {:.4}",
        display(&sigma2),
        sigma2.to_f64().sqrt()
    );

    // Two phases, and the number of classes published with Laplace noise of scale 10 before training.
    let phases = [Counts::sampled_gaussian(rate, "2.25", 1000)?, Counts::sampled_gaussian(rate, "1.21", 1000)?];
    let all = Composition::new(phases.into_iter().chain([Counts::laplace("10", 1, 1)?]))?;
    println!("two phases and a count: epsilon = {}", all.epsilon("1e-5", 8)?.value.shown(8));
    Ok(())
}
