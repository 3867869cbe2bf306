//! The privacy of a composition: three counts and seven, with different noise. `cargo run --example account`.

use dp_assay::account::{Account, Composition};

fn main() -> dp_assay::Result<()> {
    // sigma2 = 2.5 on three counts and 40/3 on seven; one person changes each of the seven by 2.
    let mechanism = Composition::new(["2.5x3".parse()?, "40/3x7@2".parse()?])?;
    // Enclosures print both ends rounded outward, so the printed interval is proven.
    let epsilon = mechanism.epsilon("1e-9", 12)?;
    println!("at delta = 1e-9, epsilon lies in {}", epsilon.value);
    let delta = mechanism.delta("4", 20)?;
    println!("at epsilon = 4, delta lies in {}, certified by {}", delta.value, delta.proof);
    Ok(())
}
