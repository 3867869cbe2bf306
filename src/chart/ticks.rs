//! The ticks of an axis. A logarithmic axis is drawn as the logarithm on a linear axis, so this file chooses all ticks.

use super::figure::{Axis, Scale, power_of_ten};

impl Axis {
    /// The coordinate of a value on the linear axis.
    pub(super) fn place(&self, value: f64) -> f64 {
        match &self.scale {
            Scale::Linear | Scale::Whole => value,
            Scale::Log => libm::log10(value),
            Scale::Names(_) => -value,
        }
    }

    /// The coordinates of both ends, the lower one first.
    pub(super) fn ends(&self) -> (f64, f64) {
        let (a, b) = (self.place(self.from), self.place(self.to));
        (a.min(b), a.max(b))
    }

    /// The ticks: their coordinates, as from [`Axis::place`], and their labels. Their number is small enough that
    /// labels of the given widths leave a third of the length free, but at least that of the sparsest choice.
    pub(super) fn ticks(&self, length: u32, width: impl Fn(&str) -> u32) -> Vec<(f64, String)> {
        let fits = |ticks: &Vec<(f64, String)>| {
            let wide: u32 = ticks.iter().map(|(_, label)| width(label)).sum();
            3 * wide <= 2 * length
        };
        let choices = [6.0, 4.0, 3.0].map(|most| self.ticks_of(most));
        let [first, ..] = &choices;
        let chosen = choices.iter().find(|ticks| fits(ticks)).or(choices.last()).unwrap_or(first);
        chosen.clone()
    }

    /// About `most` ticks, or slightly more.
    fn ticks_of(&self, most: f64) -> Vec<(f64, String)> {
        let (from, to) = self.ends();
        match &self.scale {
            Scale::Names(names) => names.iter().enumerate().map(|(k, name)| (-(k as f64), name.clone())).collect(),
            Scale::Linear | Scale::Whole => {
                let step = round_step((to - from) / most);
                let step = if matches!(self.scale, Scale::Whole) { step.max(1.0) } else { step };
                let decimals = (-(libm::log10(step) + 1e-9).floor()).max(0.0) as usize;
                let first = (from / step - 1e-9).ceil() as i64;
                (first..)
                    .map(|k| k as f64 * step)
                    .take_while(|tick| *tick <= to + 1e-9 * step)
                    .map(|tick| (tick, format!("{tick:.decimals$}")))
                    .collect()
            }
            Scale::Log if to - from < 2.6 => {
                // Few decades: the ones, twos and fives, or the ones and threes if those are too many. If they are too
                // few to read a value, equally spaced round numbers.
                let digits: &[f64] = if most > 5.0 { &[1.0, 2.0, 5.0] } else { &[1.0, 3.0] };
                let decades = (from.floor() as i32)..=(to.ceil() as i32);
                let all = decades.flat_map(|d| digits.iter().map(move |digit| digit * 10f64.powi(d)));
                let inside = |tick: &f64| (from - 1e-9..=to + 1e-9).contains(&libm::log10(*tick));
                let mut ticks: Vec<f64> = all.filter(inside).collect();
                if ticks.len() < 3 {
                    let (low, high) = (libm::pow(10f64, from), libm::pow(10f64, to));
                    let step = round_step((high - low) / most);
                    let first = (low / step - 1e-9).ceil() as i64;
                    let even = (first..).map(|k| k as f64 * step).take_while(|tick| *tick <= high + 1e-9 * step);
                    ticks = even.filter(|tick| *tick > 0.0).collect();
                }
                ticks.into_iter().map(|tick| (libm::log10(tick), plain(tick))).collect()
            }
            Scale::Log => {
                let most = most + 1.0;
                let stride = [1, 2, 3, 5, 10, 20, 50].into_iter().find(|s| (to - from) / f64::from(*s) <= most);
                let stride = stride.unwrap_or(100);
                let decades = ((from - 1e-9).ceil() as i32)..=((to + 1e-9).floor() as i32);
                decades.filter(|d| d % stride == 0).map(|d| (f64::from(d), power_of_ten(d))).collect()
            }
        }
    }
}

/// A short decimal.
fn plain(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// 1, 2 or 5 times a power of ten, not much below `step`.
fn round_step(step: f64) -> f64 {
    let power = libm::pow(10f64, libm::log10(step).floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= step * 0.8).unwrap_or(10.0);
    digit * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_and_inside() {
        for axis in [
            Axis::linear("", 0.0, 30.0),
            Axis::linear("", 0.13, 0.171),
            Axis::log("", 1e-15, 1.0),
            Axis::log("", 3.0, 40.0),
            Axis::log("", 3.2, 5.0),
            Axis::log("", 150.0, 600.0),
            Axis::log("", 1e-100, 1e-5),
        ] {
            let ticks = axis.ticks(10_000, |label| 20 * label.len() as u32);
            assert!((3..=9).contains(&ticks.len()), "{axis:?} {ticks:?}");
            let (from, to) = axis.ends();
            assert!(ticks.iter().all(|(tick, _)| (from - 1e-6..=to + 1e-6).contains(tick)));
            let narrow = axis.ticks(300, |label| 20 * label.len() as u32);
            assert!((2..=ticks.len()).contains(&narrow.len()), "{axis:?} {narrow:?}");
        }
    }
}
