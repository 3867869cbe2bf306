//! Elementary functions of sums of two doubles, with proven errors.
//!
//! E is [`Twofold::ERROR`], the bound on the relative error of a sum or product. Constants are split into parts with few bits, so that
//! their products with small integers are exact; the last part of each has a relative error of at most 2^-53.

use super::pair::Twofold;

/// The range of arguments for which exp neither overflows nor loses digits to underflow.
pub(super) const EXP_RANGE: (f64, f64) = (-600.0, 700.0);

/// Upper bound on the relative error of [`exp`] and of [`exp_m1_near_zero`].
pub(super) const EXP_ERROR: f64 = 10.0 * Twofold::ERROR;

/// Larger angles are not reduced.
pub(super) const MOST_ANGLE: f64 = 2e7;

/// Upper bound on the absolute error of [`sin_cos`].
pub(super) const SIN_COS_ERROR: f64 = 8.0 * Twofold::ERROR;

/// The range of arguments of [`exp_m1_near_zero`].
pub(super) const NEAR_ZERO: f64 = 0.347;

/// ln 2 in parts of 42, 42 and 53 bits: products of the first two with an integer below 2^11 are exact. The error is below 2^-139.
const LN_2: [f64; 3] = [0.6931471805598903, 5.49792301870721e-14, 1.1612227229362532e-26];

/// pi / 2 in parts of 29, 29, 29 and 53 bits: products of the first three with an integer below 2^24 are exact. The error is below 2^-140.
const HALF_PI: [f64; 4] = [1.570796325802803, 9.920935774287987e-10, 2.2517417706346578e-18, 3.5215598651832e-27];

/// 1/2!, ..., 1/6!, each with a relative error of at most 2^-106.
const INVERSE_FACTORIALS: [Twofold; 5] = [
    Twofold { hi: 0.5, lo: 0.0 },
    Twofold { hi: 0.16666666666666666, lo: 9.25185853854297e-18 },
    Twofold { hi: 0.041666666666666664, lo: 2.3129646346357427e-18 },
    Twofold { hi: 0.008333333333333333, lo: 1.1564823173178714e-19 },
    Twofold { hi: 0.001388888888888889, lo: -5.300543954373577e-20 },
];

/// -1/3!, 1/5!, ..., -1/15!, with the same bound.
const SINE: [Twofold; 7] = [
    Twofold { hi: -0.16666666666666666, lo: -9.25185853854297e-18 },
    Twofold { hi: 0.008333333333333333, lo: 1.1564823173178714e-19 },
    Twofold { hi: -0.0001984126984126984, lo: -1.7209558293420705e-22 },
    Twofold { hi: 2.7557319223985893e-6, lo: -1.858393274046472e-22 },
    Twofold { hi: -2.505210838544172e-8, lo: 1.448814070935912e-24 },
    Twofold { hi: 1.6059043836821613e-10, lo: 1.2585294588752098e-26 },
    Twofold { hi: -7.647163731819816e-13, lo: -7.03872877733453e-30 },
];

/// exp(x) - 1 for |x| <= [`NEAR_ZERO`], with a relative error below [`EXP_ERROR`] (plus 2^-1060 for a result below 2^-1000).
///
/// y = x / 64 is exact and |y| <= 0.0055. In the series e = y + y^2 P(y), P = 1/2! + y/3! + ..., the terms from 1/7! on are summed in
/// doubles: they are 0.0055^5 / 7! < 2^-49 of P, with a relative error of 2^-50. The truncation error beyond 1/12! is below 2^-115. Each
/// step of Horner's rule multiplies earlier errors by y, so the relative error of P is below 1.02 E. That of y^2 P, which is below 0.003
/// |y|, is below 3.1 E. With the last sum the relative error of e is below 1.1 E.
///
/// Six times e is replaced by (1 + e)^2 - 1 = 2 e + e^2. A relative error r of e becomes an error of 2 r e (1 + e), which relative to
/// e (2 + e) is at most r exp(t / 2) with 1 + e = exp(t); the roundings add at most 1.1 E, for |e| < 0.2. The sum of all t / 2 is below
/// x / 2 < 0.174. So the relative error of the result is below exp(0.174) (1.1 + 6.6) E < 10 E.
pub(super) fn exp_m1_near_zero(x: Twofold) -> Twofold {
    const SIXTY_FOURTH: f64 = 1.0 / 64.0;
    let y = Twofold { hi: x.hi * SIXTY_FOURTH, lo: x.lo * SIXTY_FOURTH };
    let in_doubles =
        [1.0 / 479_001_600.0, 1.0 / 39_916_800.0, 1.0 / 3_628_800.0, 1.0 / 362_880.0, 1.0 / 40_320.0, 1.0 / 5_040.0];
    let rest = in_doubles.into_iter().fold(0.0, |sum, coefficient| sum * y.hi + coefficient);
    let series =
        INVERSE_FACTORIALS.iter().rev().fold(Twofold::double(rest), |sum, coefficient| sum.mul(y).add(*coefficient));
    let mut e = y.add(series.mul(y).mul(y));
    for _ in 0..6 {
        e = Twofold { hi: 2.0 * e.hi, lo: 2.0 * e.lo }.add(e.mul(e));
    }
    e
}

/// exp(x) for x in [`EXP_RANGE`], with a relative error below [`EXP_ERROR`].
///
/// x = k ln 2 + r with |k| <= 1011 and |r| <= 0.3467. Each of the three differences that lead to r is below 0.347 and has the relative
/// error E; the last part of ln 2 adds 1011 (2^-139 + 2^-139). Together the error of r is below 1.1 E. Then exp(r) = 1 + e; the error 10 E
/// |e| of e is less than 4.2 E of 1 + e, and the sum adds E. The total is below 7 E. The power of two is exact.
pub(super) fn exp(x: Twofold) -> Twofold {
    let k = (x.hi * std::f64::consts::LOG2_E).round();
    let r = reduced(x, k, &LN_2);
    let value = Twofold::double(1.0).add(exp_m1_near_zero(r));
    let power = f64::from_bits(((k as i64 + 1023) as u64) << 52);
    Twofold { hi: value.hi * power, lo: value.lo * power }
}

/// (sin x, cos x) for |x| <= [`MOST_ANGLE`], each with an absolute error below [`SIN_COS_ERROR`]; the sine of an angle below pi / 4 has a
/// relative error below 2 E.
///
/// x = k pi / 2 + r with |k| < 2^24 and |r| < 0.7854. The error of r is below 3.5 E for the four differences plus 2^24 (2^-140 + 2^-140)
/// for the last part of pi / 2; it is zero for k = 0. With z = r^2 < 0.617 the series sin r = r + r z S(z) has its first seven coefficients
/// as sums of two doubles. The other terms are z^7 / 17! < 2^-53 of S, with a relative error of 2^-50; the truncation error beyond 1/27! is
/// below 2^-110. The relative error of S is below 1.1 E, and that of r z S, at most 0.103 |r|, below 4.2 E. With the last sum the relative
/// error of sin r is below 1.6 E; sin r is at least 0.9 |r|.
///
/// w = 1 - sin^2 r >= 0.499 has an error of E (sin^2 r + w) by its roundings. One Newton step from a double gives its root with a relative
/// error of E / 4: the relative error of the double is 2^-53, its square is neglected, and the step is rounded with a relative error of
/// 2^-52. So the roundings of cos r contribute less than 2 E, and the error of the sine contributes at most |tan r| <= 1.001 times itself,
/// 1.2 E + 3.6 E.
pub(super) fn sin_cos(x: Twofold) -> (Twofold, Twofold) {
    let k = (x.hi * std::f64::consts::FRAC_2_PI).round();
    let r = if k == 0.0 { x } else { reduced(x, k, &HALF_PI) };
    let z = r.mul(r);
    let in_doubles = [
        -1.0 / 10_888_869_450_418_352_160_768_000_000.0,
        1.0 / 15_511_210_043_330_985_984_000_000.0,
        -1.0 / 25_852_016_738_884_976_640_000.0,
        1.0 / 51_090_942_171_709_440_000.0,
        -1.0 / 121_645_100_408_832_000.0,
        1.0 / 355_687_428_096_000.0,
    ];
    let rest = in_doubles.into_iter().fold(0.0, |sum, coefficient| sum * z.hi + coefficient);
    let series = SINE.iter().rev().fold(Twofold::double(rest), |sum, coefficient| sum.mul(z).add(*coefficient));
    let sin = r.add(r.mul(z).mul(series));
    let cos = root(Twofold::double(1.0).add(sin.mul(sin).neg()));
    match (k as i64).rem_euclid(4) {
        0 => (sin, cos),
        1 => (cos, sin.neg()),
        2 => (sin.neg(), cos.neg()),
        _ => (cos.neg(), sin),
    }
}

/// x minus k times a constant in parts, all but the last of which have exact products with k.
fn reduced(x: Twofold, k: f64, parts: &[f64]) -> Twofold {
    parts.iter().fold(x, |rest, part| rest.add(Twofold::double(-k * part)))
}

/// The square root of a number in [1/4, 4], with a relative error of at most E / 4: see [`sin_cos`].
fn root(x: Twofold) -> Twofold {
    let near = x.hi.sqrt();
    let rest = x.add(Twofold::double(near).mul(Twofold::double(near)).neg());
    Twofold::double(near).add(Twofold::double(rest.hi / (2.0 * near)))
}

#[cfg(test)]
mod tests {
    use rug::{Float, float::Constant};

    use super::*;

    const BITS: u32 = 400;

    fn exact(x: Twofold) -> Float {
        Float::with_val(BITS, x.hi) + x.lo
    }

    /// Numbers of all sizes up to `most`, with both parts, and the hardest ones: close to multiples of `period`.
    fn numbers(most: f64, period: &Float) -> Vec<Twofold> {
        let mut found = vec![Twofold::default(), Twofold::double(most), Twofold::double(-most)];
        let mut state = 7_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / 2f64.powi(53)
        };
        for _ in 0..20_000 {
            let value =
                Float::with_val(BITS, most * uniform() * 10f64.powf(-12.0 * uniform())) * (1.0 + uniform() * 1e-17);
            found.push(Twofold::nearest(&value));
            found.push(Twofold::nearest(&value).neg());
            let multiple = (value / period).round() * period;
            found.push(Twofold::nearest(&Float::with_val(BITS, &multiple * (1.0 + 1e-20 * uniform()))));
        }
        found.retain(|x| x.hi.abs() <= most);
        found
    }

    fn off(got: Twofold, truth: &Float) -> f64 {
        Float::with_val(BITS, exact(got) - truth).abs().to_f64()
    }

    #[test]
    fn parts_of_constants_are_exact_and_complete() {
        let sum = |parts: &[f64]| parts.iter().fold(Float::new(BITS), |sum, part| sum + *part);
        let ln_2 = Float::with_val(BITS, Constant::Log2);
        let half_pi = Float::with_val(BITS, Constant::Pi) / 2;
        assert!(Float::with_val(BITS, sum(&LN_2) - &ln_2).abs().to_f64() < 2f64.powi(-139));
        assert!(Float::with_val(BITS, sum(&HALF_PI) - &half_pi).abs().to_f64() < 2f64.powi(-140));
        let bits = |part: &f64| 53 - (part.to_bits() | 1 << 52).trailing_zeros();
        assert!(LN_2[..2].iter().all(|part| bits(part) <= 42) && HALF_PI[..3].iter().all(|part| bits(part) <= 29));
        let mut factorial = Float::with_val(BITS, 1);
        for n in 2..=15_u32 {
            factorial *= n;
            let truth = Float::with_val(BITS, factorial.recip_ref());
            let near = |got: Twofold, truth: &Float| off(got, truth) <= truth.to_f64().abs() * 2f64.powi(-106);
            assert!(n > 6 || near(INVERSE_FACTORIALS[n as usize - 2], &truth), "{n}");
            let sign = if n % 4 == 3 { -1 } else { 1 };
            assert!(n % 2 == 0 || near(SINE[(n as usize - 3) / 2], &(truth * sign)), "{n}");
        }
    }

    #[test]
    fn exp_is_within_its_error_bound() {
        let mut worst = 0.0_f64;
        for x in numbers(700.0, &Float::with_val(BITS, Constant::Log2)) {
            if x.hi < EXP_RANGE.0 {
                continue;
            }
            let truth = exact(x).exp();
            worst = worst.max(Float::with_val(BITS, exact(exp(x)) / &truth - 1).abs().to_f64());
        }
        assert!(worst <= EXP_ERROR && worst > EXP_ERROR / 1000.0, "{worst:e}");
        let mut worst = 0.0_f64;
        for x in numbers(NEAR_ZERO, &Float::with_val(BITS, 0.01)) {
            let truth = exact(x).exp_m1();
            if !truth.is_zero() {
                worst = worst.max(Float::with_val(BITS, exact(exp_m1_near_zero(x)) / &truth - 1).abs().to_f64());
            }
        }
        assert!(worst <= EXP_ERROR && worst > EXP_ERROR / 1000.0, "{worst:e}");
    }

    #[test]
    fn sin_and_cos_are_within_their_error_bounds() {
        let half_pi = Float::with_val(BITS, Constant::Pi) / 2;
        let (mut worst, mut relative) = (0.0_f64, 0.0_f64);
        for x in [1.0, 100.0, MOST_ANGLE].into_iter().flat_map(|most| numbers(most, &half_pi)) {
            let (sin, cos) = sin_cos(x);
            let (true_sin, true_cos) = exact(x).sin_cos(Float::new(BITS));
            worst = worst.max(off(sin, &true_sin)).max(off(cos, &true_cos));
            if x.hi.abs() < 0.785 && x.hi != 0.0 {
                relative = relative.max(off(sin, &true_sin) / true_sin.to_f64().abs());
            }
        }
        assert!(worst <= SIN_COS_ERROR && worst > SIN_COS_ERROR / 1000.0, "{worst:e}");
        assert!(relative <= 2.0 * Twofold::ERROR && relative > Twofold::ERROR / 1000.0, "{relative:e}");
    }
}
