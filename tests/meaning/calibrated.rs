//! Promises that `calibrate` keeps with the noise that it finds.

use rug::Rational;

use crate::{
    truth,
    world::{Noise, Part, World, exp},
};

/// A promise.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// epsilon <= 3/2 at delta = 1/20.
    Epsilon,
    /// The advantage is at most 2/5.
    Advantage,
    /// Every test with type I error 1/10 has a type II error of 3/5 or more.
    Beta,
}

impl Target {
    pub const ALL: [Target; 3] = [Target::Epsilon, Target::Advantage, Target::Beta];

    /// Its options.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Target::Epsilon => &["--epsilon", "3/2", "--delta", "1/20"],
            Target::Advantage => &["--advantage", "2/5"],
            Target::Beta => &["--alpha", "1/10", "--beta", "3/5"],
        }
    }
}

/// The mechanism of a world with a question mark in place of its epsilon; `None` for worlds that are not calibrated.
pub fn sought(world: &World) -> Option<String> {
    let [part] = &world.parts[..] else { return None };
    let size = format!("x{}", part.count);
    match &part.noise {
        Noise::Laplace(_) => Some(format!("?{size}@{}", part.shift)),
        Noise::Truncated(_, bound) => Some(format!("?:{bound}{size}@{}", part.shift)),
        Noise::Pure(_) => Some(format!("?{size}")),
        Noise::Response(_, kinds) => Some(format!("?:{kinds}{size}")),
        _ => None,
    }
}

/// The world with another epsilon.
pub fn with(world: &World, epsilon: &Rational) -> Option<World> {
    let [part] = &world.parts[..] else { return None };
    let epsilon = epsilon.clone();
    let noise = match &part.noise {
        Noise::Laplace(_) => Noise::Laplace(epsilon),
        Noise::Truncated(_, bound) => Noise::Truncated(epsilon, *bound),
        Noise::Pure(_) => Noise::Pure(epsilon),
        Noise::Response(_, kinds) => Noise::Response(epsilon, *kinds),
        _ => return None,
    };
    Some(World { parts: vec![Part { noise, ..part.clone() }], ..world.clone() })
}

/// Whether the world keeps a promise with another epsilon; `None` for worlds that are not calibrated.
pub fn keeps(world: &World, target: Target, epsilon: &Rational) -> Option<bool> {
    let truth = with(world, epsilon)?.truth();
    let number = |above: u32, below: u32| Rational::from((above, below));
    Some(match target {
        Target::Epsilon => {
            let x = exp(&number(3, 2)).0;
            truth.worst(|pairs| truth::delta(pairs, &x)) <= number(1, 20)
        }
        Target::Advantage => (truth::correct(&truth.up, &number(1, 2)) - number(1, 2)) * 2u32 <= number(2, 5),
        Target::Beta => truth.beta(&number(1, 10)) >= number(3, 5),
    })
}
