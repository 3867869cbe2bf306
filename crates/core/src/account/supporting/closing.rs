//! The distances at which lines next to the highest one are placed, round by round.

use rug::Float;

use super::top::Top;

/// How three lines close in on the highest one. Distances are in units of the scale: a line at distance x is lower by x^2 times the height.
pub(super) struct Closing {
    digits: u32,
    pub(super) away: Float,
    /// The distance at which the bounds between three lines meet.
    enough: Float,
    /// The distance of the round before.
    before: Option<Float>,
    /// Estimate: the vertex of a parabola through lines at distance x is off by this times x^2.
    skew: Float,
    most_digits: f64,
}

impl Closing {
    pub(super) fn new(top: &Top, digits: u32) -> Self {
        let enough = Float::with_val(64, -f64::from(digits) / 2.0).exp10() / 2_u32;
        let away = Float::with_val(64, top.distance / top.scale).max(&enough);
        Closing { digits, away, enough, before: None, skew: Float::with_val(64, 4), most_digits: f64::INFINITY }
    }

    fn is_last(&self) -> bool {
        self.away == self.enough
    }

    /// Bounds from the last lines are extrapolated to the lines of the round before. Two more lines lie at the geometric mean of both distances, of
    /// this ratio, and errors of heights grow by its root.
    pub(super) fn ratio(&self) -> f64 {
        let before = self.before.as_ref().filter(|_| self.is_last());
        before.map_or(1.0, |before| Float::with_val(64, before / &self.away).to_f64())
    }

    /// The digits of heights that placing the next lines requires.
    pub(super) fn wanted(&self, top: &Top) -> u32 {
        let digits = f64::from(self.digits);
        let closer = Float::with_val(64, self.away.square_ref()) * &self.skew;
        let needed = -Float::with_val(64, &self.away * closer.max(&self.enough)).log10().to_f64();
        let wanted = if self.is_last() { digits + libm::log10(self.ratio().sqrt()) } else { needed.min(digits) };
        ((wanted + 1.0).min(self.most_digits) + top.lost).ceil() as u32
    }

    /// The next distance, for a vertex that is off by this number of distances, with heights of this noise; false where none is closer.
    pub(super) fn next(&mut self, off: &Float, noise: Float, met: bool) -> bool {
        if self.is_last() && *off <= 0.5 {
            return false;
        }
        if let Some(before) = self.before.take() {
            self.skew = self.skew.clone().max(&(Float::with_val(64, off * &self.away) / before.square()));
        }
        // The distance that the vertex may be off, inside the three lines or outside.
        let reach = off.clone().max(&Float::with_val(64, 1)) * &self.away;
        let closer = Float::with_val(64, reach.square_ref()) * &self.skew * 4_u32;
        // Lines closer than the precision of their heights cannot be distinguished.
        let least = if met { self.enough.clone() } else { noise.sqrt().max(&self.enough) };
        if !met && least >= self.away {
            return false;
        }
        if !met {
            self.most_digits = f64::from(self.digits).min(-2.0 * least.clone().log10().to_f64());
        }
        let next = closer.min(&Float::with_val(64, &self.away / 4_u32)).max(&least);
        self.before = Some(std::mem::replace(&mut self.away, next));
        true
    }
}
