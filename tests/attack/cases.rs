//! Random compositions of every class, each a function of its class and a number.

use dp_assay::account::{Composition, Counts};
use rug::{Integer, Rational, ops::Pow};

/// Pseudo-random numbers (splitmix64), determined by the seed.
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// The numbers of one case.
    pub fn of(class: &str, number: u64) -> Self {
        let seed = class
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let mut numbers = Numbers(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        numbers.next();
        numbers
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An integer from 0 to below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// An integer from `from` to `to`, both included.
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    /// True with probability 1 / `n`.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A number from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number between two positive numbers, uniform in the logarithm.
    pub fn scale(&mut self, from: f64, to: f64) -> f64 {
        (from.ln() + self.unit() * (to / from).ln()).exp()
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// A fraction close to `value`: a short decimal, or with a denominator coprime to others.
    pub fn fraction(&mut self, value: f64) -> Rational {
        let denominator = match self.below(4) {
            0 => self.pick(&[1, 2, 4, 5, 8, 10, 20]),
            1 => self.pick(&[100, 1000]),
            2 => self.between(2, 13),
            _ => self.pick(&[97, 1001, 1237, 4099]),
        };
        // Enough digits for values close to zero.
        let mut denominator = Integer::from(denominator);
        while value * denominator.to_f64() < 1.0 {
            denominator *= 10;
        }
        Rational::from(((value * denominator.to_f64()).round() as u64, denominator))
    }
}

/// The law of the noise of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    DiscreteGaussian,
    DiscreteLaplace,
    TruncatedLaplace {
        bound: u64,
    },
    TruncatedGaussian {
        bound: u64,
    },
    Staircase {
        period: u64,
        first: u64,
    },
    RandomizedResponse {
        answers: u64,
    },
    Pure,
    /// delta as a numerator and a denominator.
    Approximate {
        delta: (u64, u64),
    },
}

impl Noise {
    /// The name of the law in files.
    pub fn key(self) -> &'static str {
        match self {
            Noise::DiscreteGaussian => "discrete-gaussian",
            Noise::DiscreteLaplace => "discrete-laplace",
            Noise::TruncatedLaplace { .. } => "truncated-laplace",
            Noise::TruncatedGaussian { .. } => "truncated-gaussian",
            Noise::Staircase { .. } => "staircase",
            Noise::RandomizedResponse { .. } => "randomized-response",
            Noise::Pure => "pure",
            Noise::Approximate { .. } => "approximate",
        }
    }

    /// All parameters but the first, each after a colon.
    fn other(self) -> String {
        match self {
            Noise::DiscreteGaussian | Noise::DiscreteLaplace | Noise::Pure => String::new(),
            Noise::TruncatedLaplace { bound } | Noise::TruncatedGaussian { bound } => format!(":{bound}"),
            Noise::Staircase { period, first } => format!(":{period}:{first}"),
            Noise::RandomizedResponse { answers } => format!(":{answers}"),
            Noise::Approximate { delta: (top, bottom) } => format!(":{top}/{bottom}"),
        }
    }

    /// Whether it is as given under each relation, and never counted twice.
    fn is_guarantee(self) -> bool {
        matches!(self, Noise::RandomizedResponse { .. } | Noise::Pure | Noise::Approximate { .. })
    }

    /// Whether some outputs are possible for one neighbor only.
    pub fn has_ends(self) -> bool {
        matches!(self, Noise::TruncatedLaplace { .. } | Noise::TruncatedGaussian { .. } | Noise::Approximate { .. })
    }

    /// Whether a group is no count with a larger shift: it is about one record, or has several ways to share out changes.
    fn is_single(self) -> bool {
        matches!(self, Noise::RandomizedResponse { .. } | Noise::Approximate { .. } | Noise::Staircase { .. })
    }
}

/// Equal counts, in the notation of the command line.
#[derive(Clone, Debug)]
pub struct Part {
    pub noise: Noise,
    pub parameter: Rational,
    pub count: u64,
    pub shift: u64,
}

impl Part {
    fn gaussian(parameter: Rational, count: u64, shift: u64) -> Self {
        Part { noise: Noise::DiscreteGaussian, parameter, count, shift }
    }

    fn laplace(parameter: Rational, count: u64, shift: u64) -> Self {
        Part { noise: Noise::DiscreteLaplace, parameter, count, shift }
    }

    /// The counts for the library.
    pub fn counts(&self) -> Counts {
        Counts::parse(self.noise.key(), &self.text()).unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }

    /// The option for the command line.
    pub fn option(&self) -> [String; 2] {
        [format!("--{}", self.noise.key()), self.text()]
    }

    fn text(&self) -> String {
        format!("{}{}x{}@{}", self.parameter, self.noise.other(), self.count, self.shift)
    }

    /// The probabilities of the largest loss and of its negative under P, and that loss, of a mechanism that has these alone beside zero.
    fn ends(&self, answers: u64) -> [f64; 3] {
        let loss = self.parameter.to_f64() * self.shift as f64;
        let rare = 1.0 / (loss.exp() + answers as f64 - 1.0);
        [1.0 - rare * (answers as f64 - 1.0), rare, loss]
    }

    pub fn variance(&self) -> f64 {
        let shift = self.shift as f64;
        let parameter = self.parameter.to_f64();
        self.count as f64
            * match self.noise {
                Noise::DiscreteGaussian | Noise::TruncatedGaussian { .. } => shift * shift / parameter,
                // The variance of the loss is at most the largest loss squared, and about 2 epsilon mu for a long shift.
                Noise::DiscreteLaplace | Noise::TruncatedLaplace { .. } => {
                    (shift * parameter).powi(2).min(2.0 * shift * parameter)
                }
                Noise::Staircase { period, .. } => (self.shift.div_ceil(period) as f64 * parameter).powi(2),
                Noise::Pure | Noise::Approximate { .. } => Part::variance_of(self.ends(2)),
                Noise::RandomizedResponse { answers } => Part::variance_of(self.ends(answers)),
            }
    }

    fn variance_of([likely, rare, loss]: [f64; 3]) -> f64 {
        loss * loss * (likely + rare - (likely - rare).powi(2))
    }

    pub fn mean(&self) -> f64 {
        let shift = self.shift as f64;
        let parameter = self.parameter.to_f64();
        self.count as f64
            * match self.noise {
                Noise::DiscreteGaussian | Noise::TruncatedGaussian { .. } => shift * shift / parameter / 2.0,
                Noise::DiscreteLaplace | Noise::TruncatedLaplace { .. } => {
                    (shift * parameter).powi(2).min(2.0 * shift * parameter) / 2.0
                }
                Noise::Staircase { period, .. } => (self.shift.div_ceil(period) as f64 * parameter).powi(2) / 2.0,
                Noise::Pure | Noise::Approximate { .. } => Part::mean_of(self.ends(2)),
                Noise::RandomizedResponse { answers } => Part::mean_of(self.ends(answers)),
            }
    }

    fn mean_of([likely, rare, loss]: [f64; 3]) -> f64 {
        loss * (likely - rare)
    }
}

/// The classes of compositions.
pub const CLASSES: [&str; 14] = [
    "tiny",
    "one group",
    "near-commensurate",
    "lattice",
    "bounded",
    "mixed",
    "thousands",
    "large sigma2",
    "small sigma2",
    "shifts",
    "three groups",
    COARSE_AND_FINE,
    NEARLY_EQUAL,
    EDGES,
];

/// Few large losses beside many small ones.
pub const COARSE_AND_FINE: &str = "coarse and fine";

/// Fine groups with nearly the same step, or a small multiple of it.
pub const NEARLY_EQUAL: &str = "nearly equal";

/// Parameters of 17 to 40 digits, denominators whose product is above 10^30, single losses beside fine noise, and losses of 10^9 nats: at
/// the limits of integers, exponents and enumerations.
pub const EDGES: &str = "edges";

/// Truncated noise, randomized response and guarantees, beside each other and beside unbounded noise. It is no part of [`CLASSES`]: the golden file of
/// the engines has no row of it.
pub const BOUNDED_LAWS: &str = "bounded laws";

/// A composition for requests.
#[derive(Clone, Debug)]
pub struct Case {
    /// The published counts, without the group size and the neighbor relation.
    pub written: Vec<Part>,
    /// The group size.
    pub group: u64,
    /// Whether a record is changed instead of added.
    pub bounded: bool,
}

impl Case {
    /// The case of a class from these numbers.
    pub fn new(class: &str, numbers: &mut Numbers) -> Self {
        let written = written(class, numbers);
        let single = class == "thousands" || written.iter().any(|part| part.noise.is_single());
        let room = if single { 1 } else { numbers.pick(&[1, 1, 1, 2, 3]) };
        Case { written, group: room, bounded: numbers.one_in(4) }
    }

    /// The counts that one record, or one group of people, changes.
    pub fn parts(&self) -> Vec<Part> {
        let twice = if self.bounded { 2 } else { 1 };
        let grouped = |part: &Part| Part {
            noise: part.noise,
            parameter: part.parameter.clone(),
            count: if part.noise.is_guarantee() { part.count } else { part.count * twice },
            shift: part.shift * self.group,
        };
        self.written.iter().map(grouped).collect()
    }

    /// The composition for the library, by its own rules for groups and relations.
    pub fn composition(&self) -> dp_assay::Result<Composition> {
        let composition = Composition::new(self.written.iter().map(Part::counts))?.for_groups_of(self.group)?;
        if self.bounded { composition.for_changed_records() } else { Ok(composition) }
    }

    /// The options for the command line.
    pub fn options(&self) -> Vec<String> {
        let mut all: Vec<String> = self.written.iter().flat_map(Part::option).collect();
        if self.group > 1 {
            all.extend(["--group".to_string(), self.group.to_string()]);
        }
        if self.bounded {
            all.extend(["--neighbors".to_string(), "bounded".to_string()]);
        }
        all
    }

    /// The approximate mean of the loss.
    pub fn mean(&self) -> f64 {
        self.parts().iter().map(Part::mean).sum()
    }

    /// The approximate standard deviation of the loss.
    pub fn deviation(&self) -> f64 {
        self.parts().iter().map(Part::variance).sum::<f64>().sqrt()
    }
}

fn written(class: &str, numbers: &mut Numbers) -> Vec<Part> {
    match class {
        "tiny" => (0..numbers.between(1, 2)).map(|_| gaussian(numbers, (0.05, 20.0), (1, 3), (1, 2))).collect(),
        "one group" => vec![gaussian(numbers, (0.05, 2000.0), (1, 300), (1, 2))],
        "near-commensurate" => {
            let first = gaussian(numbers, (0.05, 10.0), (1, 3), (1, 1));
            let mut second = first.clone();
            let tenth = Rational::from(Integer::from(10).pow(numbers.between(2, 9) as u32)).recip();
            second.parameter *= (tenth + 1_u32) * numbers.pick(&[1, 1, 2, 3]);
            second.count = numbers.between(1, 4);
            vec![first, second]
        }
        "lattice" | "thousands" => {
            let many = class == "thousands";
            let common = if many { numbers.pick(&[3_u64, 4, 6]) } else { numbers.pick(&[6, 12, 20, 24, 30, 60]) };
            let groups = if many { numbers.between(10, 25) } else { numbers.between(2, 8) };
            (0..groups)
                .map(|_| {
                    // mu / sigma2 = k / common.
                    let (k, shift) = (numbers.between(1, common / 2), numbers.between(1, 2));
                    let count = if many { numbers.between(50, 200) } else { numbers.between(1, 10) };
                    let wide = if many { 12 } else { 1 };
                    Part::gaussian(Rational::from((common * shift * wide, k)), count, shift)
                })
                .collect()
        }
        "bounded" => (0..numbers.between(1, 3)).map(|_| laplace(numbers)).collect(),
        "mixed" => {
            let mut all = vec![gaussian(numbers, (0.1, 30.0), (1, 5), (1, 2)), laplace(numbers)];
            if numbers.one_in(3) {
                all.push(gaussian(numbers, (0.5, 5.0), (1, 1), (1, 1)));
            }
            all
        }
        "large sigma2" => {
            let shift = numbers.scale(1.0, 600.0) as u64;
            let sigma2 = numbers.scale(1e3, 1e6).max((shift * shift) as f64 / 20.0);
            let count = if sigma2 < 1e4 { numbers.between(1, 10) } else { 1 };
            vec![Part::gaussian(numbers.fraction(sigma2), count, shift)]
        }
        "small sigma2" => (0..numbers.between(1, 2)).map(|_| gaussian(numbers, (0.004, 0.1), (1, 4), (1, 1))).collect(),
        "shifts" => (0..numbers.between(1, 2)).map(|_| gaussian(numbers, (1.0, 300.0), (1, 4), (2, 20))).collect(),
        "three groups" => (0..3).map(|_| gaussian(numbers, (0.2, 6.0), (1, 3), (1, 1))).collect(),
        COARSE_AND_FINE => {
            let coarse = match numbers.one_in(2) {
                true => gaussian(numbers, (0.01, 0.2), (1, 4), (1, 2)),
                false => {
                    let epsilon = numbers.scale(1.0, 8.0);
                    Part::laplace(numbers.fraction(epsilon), numbers.between(1, 5), numbers.between(1, 2))
                }
            };
            vec![coarse, gaussian(numbers, (500.0, 50_000.0), (1, 3), (1, 2))]
        }
        NEARLY_EQUAL => {
            let first = gaussian(numbers, (120.0, 400.0), (1, 2), (1, 2));
            let mut second = first.clone();
            let tenth = Rational::from(Integer::from(10).pow(numbers.between(4, 12) as u32)).recip();
            second.parameter *= (tenth + 1_u32) * numbers.pick(&[1, 1, 1, 2]);
            second.shift = numbers.between(1, 2);
            let mut all = vec![first, second];
            if numbers.one_in(3) {
                all.push(gaussian(numbers, (0.1, 2.0), (1, 2), (1, 1)));
            }
            all
        }
        EDGES => edges(numbers),
        BOUNDED_LAWS => bounded_laws(numbers),
        other => unreachable!("no class {other}"),
    }
}

fn bounded_laws(numbers: &mut Numbers) -> Vec<Part> {
    let mut all: Vec<Part> = (0..numbers.between(1, 3)).map(|_| bounded_law(numbers)).collect();
    if numbers.one_in(4) {
        all.push(gaussian(numbers, (0.5, 20.0), (1, 3), (1, 2)));
    }
    if numbers.one_in(4) {
        let epsilon = numbers.scale(0.1, 2.0);
        all.push(Part::laplace(numbers.fraction(epsilon), numbers.between(1, 4), numbers.between(1, 3)));
    }
    all
}

fn bounded_law(numbers: &mut Numbers) -> Part {
    let law = numbers.below(6);
    let scale = if law == 1 { numbers.scale(0.3, 20.0) } else { numbers.scale(0.1, 3.0) };
    let (parameter, count) = (numbers.fraction(scale), numbers.between(1, 4));
    let shift = if law < 3 || law == 5 { numbers.between(1, 4) } else { 1 };
    // Groups of up to three people move both ends by less than twice the bound.
    let least = (3 * shift).div_ceil(2) + 1;
    let room = if numbers.one_in(3) { 20 } else { 4 };
    let bound = numbers.between(least, least + room);
    let noise = match law {
        0 => Noise::TruncatedLaplace { bound },
        1 => Noise::TruncatedGaussian { bound },
        2 => Noise::Pure,
        5 => {
            let period = numbers.between(1, 6);
            Noise::Staircase { period, first: numbers.between(1, period) }
        }
        3 => Noise::RandomizedResponse { answers: numbers.pick(&[2, 2, 3, 5, 100, 1_000_000]) },
        _ => Noise::Approximate { delta: numbers.pick(&[(1, 7), (1, 100), (1, 1_000_000), (3, 10_000_000_000)]) },
    };
    Part { noise, parameter, count, shift }
}

/// A fraction close to `value` with `digits` decimals, all of them nonzero.
fn long_decimal(numbers: &mut Numbers, value: f64, digits: u32) -> Rational {
    let mut scale = Integer::from(10).pow(digits);
    let mut top = Integer::from(Rational::from_f64(value).unwrap_or_default().numer() * &scale)
        / Rational::from_f64(value).unwrap_or_default().denom();
    while top < 1_000_000 {
        top = top * 1000 + numbers.between(1, 999);
        scale *= 1000;
    }
    Rational::from((top * 1000 + (2 * numbers.between(0, 499) + 1), scale * 1000))
}

fn edges(numbers: &mut Numbers) -> Vec<Part> {
    let digits = numbers.between(17, 40) as u32;
    let single = |numbers: &mut Numbers, most: f64| {
        let sigma2 = numbers.scale(0.0006, most);
        Part::gaussian(long_decimal(numbers, sigma2, digits), 1, 1)
    };
    let laplace = |numbers: &mut Numbers| {
        let epsilon = numbers.scale(0.1, 3.0);
        Part::laplace(long_decimal(numbers, epsilon, digits), numbers.between(1, 2), numbers.between(1, 2))
    };
    match numbers.below(6) {
        // One enumerated loss under every tilt.
        0 => (0..numbers.between(1, 3)).map(|_| single(numbers, 0.005)).collect(),
        1 => (0..numbers.between(1, 3)).map(|_| laplace(numbers)).collect(),
        2 => vec![single(numbers, 0.02), laplace(numbers)],
        // Steps of 10^-30 by coprime denominators.
        3 => (0..3)
            .map(|_| {
                let sigma2 = numbers.scale(0.02, 2.0);
                let denominator = 10_000_000_019 + 2 * numbers.below(1_000_000_000);
                Part::gaussian(Rational::from(((sigma2 * denominator as f64) as u64, denominator)), 1, 1)
            })
            .collect(),
        4 => {
            let fine = numbers.scale(5.0, 60.0);
            vec![single(numbers, 0.02), Part::gaussian(long_decimal(numbers, fine, digits), 1, 1)]
        }
        _ => vec![single(numbers, 0.05), laplace(numbers), laplace(numbers)],
    }
}

fn gaussian(numbers: &mut Numbers, sigma2: (f64, f64), counts: (u64, u64), shifts: (u64, u64)) -> Part {
    let value = numbers.scale(sigma2.0, sigma2.1);
    let parameter = numbers.fraction(value);
    let count = numbers.scale(counts.0 as f64, counts.1 as f64 + 0.99) as u64;
    Part::gaussian(parameter, count, numbers.between(shifts.0, shifts.1))
}

fn laplace(numbers: &mut Numbers) -> Part {
    let value = numbers.scale(0.02, 3.0);
    let parameter = numbers.fraction(value);
    let count = numbers.scale(1.0, 30.99) as u64;
    Part::laplace(parameter, count, numbers.scale(1.0, 9.99) as u64)
}
