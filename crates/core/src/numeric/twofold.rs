//! Sums of two doubles: numbers, their functions, and balls around them.

pub(crate) mod ball;
mod functions;
mod pair;

pub(crate) use ball::{ComplexTwofold, TwofoldBall};
pub(crate) use pair::Twofold;
