//! How private is a mechanism of your own? Three counts and seven, with different noise: `cargo run --example account`.

use dp_assay::{account::Composition, numeric::rational::parse};

fn main() -> dp_assay::Result<()> {
    // sigma2 = 2.5 on three counts and 40/3 on seven; one person changes each of the seven by 2.
    let mechanism = Composition::new(["2.5x3".parse()?, "40/3x7@2".parse()?])?;
    let epsilon = mechanism.epsilon(&parse("1e-9")?, 12)?.value;
    // Both ends as decimals, rounded outward: what is printed is proven.
    if let (Some(lower), Some(upper)) = epsilon.decimals() {
        println!("at delta = 1e-9, epsilon is at least {lower} and at most {upper}");
    }
    let delta = mechanism.delta(&parse("4")?, 20)?.value;
    if let (Some(lower), Some(upper)) = delta.decimals() {
        println!("at epsilon = 4, delta is at least {lower} and at most {upper}");
    }
    Ok(())
}
