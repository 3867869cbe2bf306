//! The privacy of a release, level by level and as a whole: `cargo run --example levels [RELEASE] [DELTA]`.

use dp_assay::{
    account::{Account, Delta, conversions::zcdp_epsilon},
    release::Release,
};

fn main() -> dp_assay::Result<()> {
    let mut words = std::env::args().skip(1);
    let release = Release::find(&words.next().unwrap_or_else(|| "su-su-wang-2025".to_string()))?;
    let delta: Delta = words.next().unwrap_or_else(|| "1e-11".to_string()).parse()?;
    let mut parts: Vec<(&str, Vec<&str>)> =
        release.levels.iter().map(|level| (&*level.name, vec![&*level.name])).collect();
    parts.push(("all composed", Vec::new()));
    println!("{}\n{:<24}{:>18}{:>24}", release.title, "", "exact epsilon", "zCDP (Bun-Steinke)");
    for (name, levels) in parts {
        // An empty list of levels stands for all of them; None for the release's own neighbor relation.
        let composition = release.composition(&levels, None)?;
        let exact = composition.epsilon(&delta, 10)?.value;
        let published = zcdp_epsilon(composition.rho(), &delta, 10);
        // As many digits as both ends of the interval share.
        println!("{name:<24}{:>18}{:>24}", exact.shown(10), published.shown(6));
    }
    Ok(())
}
