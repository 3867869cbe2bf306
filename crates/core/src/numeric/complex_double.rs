//! Elementary functions of complex doubles, the same bits on every machine: num-complex takes its own from the C library of the machine.

use num_complex::Complex64;

/// The modulus, to within a unit in its last place.
pub fn modulus(z: Complex64) -> f64 {
    libm::hypot(z.re, z.im)
}

/// An upper bound on the modulus, closer than 1e-11 of it where it is above 1e-140, without a call of `hypot`.
pub fn modulus_upper(z: Complex64) -> f64 {
    let square = z.norm_sqr();
    // Two squares, a sum and a root are each rounded once; a square of at least 1e-280 has lost nothing by underflow that matters.
    if square >= 1e-280 { square.sqrt() * (1.0 + 1e-12) } else { (z.re.abs() + z.im.abs()) * (1.0 + 1e-12) }
}

/// The principal logarithm, approximately.
pub fn ln(z: Complex64) -> Complex64 {
    Complex64::new(libm::log(modulus(z)), libm::atan2(z.im, z.re))
}

/// e^(i angle), approximately.
pub fn cis(angle: f64) -> Complex64 {
    let (sin, cos) = libm::sincos(angle);
    Complex64::new(cos, sin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_agree_with_those_of_the_c_library() {
        for (re, im) in [(1.0, 0.0), (-2.5, 1e-3), (3e-200, -4e-200), (0.7, 12.0), (-1e150, -1e150)] {
            let z = Complex64::new(re, im);
            assert!((modulus(z) / z.norm() - 1.0).abs() < 4.0 * f64::EPSILON, "{z}");
            assert!(modulus_upper(z) >= z.norm() && modulus_upper(z) <= 1.5 * z.norm(), "{z}");
            assert!((ln(z) - z.ln()).norm() < 4.0 * f64::EPSILON * (1.0 + z.ln().norm()), "{z}");
        }
        for angle in [0.0, 1.0, -3.0, 1e5] {
            assert!((cis(angle) - Complex64::cis(angle)).norm() < 4.0 * f64::EPSILON, "{angle}");
        }
    }
}
