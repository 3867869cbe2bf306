//! The privacy of mechanisms of several kinds together: `cargo run --example account`.

use dp_assay::{numeric::rational::parse, prelude::*};

fn main() -> dp_assay::Result<()> {
    // sigma2 = 2.5 on three counts and 40/3 on seven; one person changes each of the seven by 2.
    let mechanism =
        Composition::new([Counts::discrete_gaussian("2.5", 3, 1)?, Counts::discrete_gaussian("40/3", 7, 2)?])?;
    // Enclosures print both ends rounded outward, so the printed interval is proven.
    let epsilon = mechanism.epsilon("1e-9", 12)?;
    println!("at delta = 1e-9, epsilon lies in {}", epsilon.value);
    let delta = mechanism.delta("4", 20)?;
    println!("at epsilon = 4, delta lies in {}, certified by {}", delta.value, delta.proof);

    // Beside them: two numbers with Laplace noise, an answer of randomized response, and a program of which only a guarantee is known.
    let mixed = mechanism.compose(&Composition::new([
        Counts::laplace("4", 2, 1)?,
        Counts::randomized_response("1/2", 5, 1)?,
        Counts::approximate("1/10", "1e-10", 1)?,
    ])?)?;
    println!("all together have an epsilon of at most {:.6}", mixed.epsilon("1e-9", 8)?.value.upper());

    // The privacy profile, and how often a test of whether a person is in the data misses them, at a false alarm rate of 5 %.
    for point in mixed.curve(&["1", "4", "16"], 6)? {
        println!("epsilon = {}: delta = {}", *point.epsilon, point.delta.value.shown(4));
    }
    println!("missed with probability {} at least", mixed.tradeoff(&parse("0.05")?, 6)?.value.shown(4));
    Ok(())
}
