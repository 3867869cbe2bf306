"""OpenDP's integer measurements, by their scale.

OpenDP's make_gaussian on integers draws N_Z(0, scale^2), and its make_laplace on integers noise of mass proportional to exp(-|x| / scale),
each with the exact value of the double `scale`. So a float has its exact binary value here, unlike everywhere else in this
package. Only check() needs OpenDP itself.

This is no account of its measurements on floats: their noise is rounded to the grid of doubles and meant to be continuous, and the exact
epsilon of discrete noise of the same scale is smaller. check() refuses them.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from ._native import DiscreteGaussian, DiscreteLaplace

__all__ = ["check", "gaussian", "laplace"]


def _scale(scale: Any) -> Fraction:
    if isinstance(scale, bool) or not isinstance(scale, (int, float, Fraction)):
        raise TypeError(f"a scale of type {type(scale).__name__}: expected a float, int or Fraction")
    try:
        exact = Fraction(scale)
    except (ValueError, OverflowError):
        raise ValueError(f"scale = {scale}: expected a finite number above 0") from None
    if exact <= 0:
        raise ValueError(f"scale = {scale}: expected a finite number above 0")
    return exact


def gaussian(scale: Any, count: int = 1, shift: int = 1, **options: Any) -> DiscreteGaussian:
    """The account of make_gaussian(atom_domain(T=int), ..., scale) on `count` counts, each changed by `shift`."""
    return DiscreteGaussian(_scale(scale) ** 2, count, shift, **options)


def laplace(scale: Any, count: int = 1, shift: int = 1, **options: Any) -> DiscreteLaplace:
    """The account of make_laplace(atom_domain(T=int), ..., scale) on `count` counts, each changed by `shift`."""
    return DiscreteLaplace(1 / _scale(scale), count, shift, **options)


_INTEGERS = frozenset({"i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "ibig", "ubig"})
_MEASURES = {DiscreteGaussian: "ZeroConcentratedDivergence", DiscreteLaplace: "MaxDivergence"}


def _require_integers(measurement: Any) -> None:
    """ValueError unless a measurement reads integers and draws discrete noise: by its domain and carrier type.

    The noise follows the type of the data. That of the distances, which may be floats beside integers (`l2_distance(T=float)`), says nothing of it.
    """
    seen = {"input_domain": str(measurement.input_domain), "carrier type": str(measurement.input_carrier_type)}
    for what, text in seen.items():
        words = set(re.findall(r"[A-Za-z][A-Za-z0-9]*", text))
        if words & {"f32", "f64", "float"}:
            raise ValueError(
                f"the measurement is about floats ({what} {text}): its noise is meant to be continuous, and its epsilon is larger than that of the "
                "discrete noise accounted for here; make it of integers, as on atom_domain(T=int), or account for it with Gaussian"
            )
    if not set(re.findall(r"[A-Za-z][A-Za-z0-9]*", seen["carrier type"])) & _INTEGERS:
        raise ValueError(f"the measurement is about {seen['carrier type']}: expected integers, as of atom_domain(T=int)")


def check(measurement: Any, account: DiscreteGaussian | DiscreteLaplace) -> None:
    """ValueError unless an OpenDP measurement is the one that the account is about, for one count changed by 1.

    It must be about integers: domain and carrier type are checked, and a measurement of floats is refused; distances may be floats. A Gaussian
    measurement maps 1 to rho = 1 / (2 scale^2), a Laplace one to epsilon = 1 / scale, rounded up to a double. One that was converted to another privacy measure, as by
    make_zCDP_to_approxDP, has no such number: check the measurement from before the conversion.
    """
    _require_integers(measurement)
    kind = DiscreteLaplace if isinstance(account, DiscreteLaplace) else DiscreteGaussian
    measure, expected = re.split(r"[^A-Za-z]", str(measurement.output_measure))[0], _MEASURES[kind]
    if measure != expected:
        raise ValueError(
            f"the measurement is about {measurement.output_measure}, and a {kind.__name__} about {expected}: give the measurement itself, and not one "
            "that was converted, as by make_zCDP_to_approxDP"
        )
    spent = Fraction(measurement.map(d_in=1))
    exact = account.parameter if isinstance(account, DiscreteLaplace) else 1 / (2 * account.sigma2)
    if not exact <= spent <= exact * (1 + Fraction(1, 2**48)):
        raise ValueError(f"the measurement spends {float(spent)} and the account {float(exact)}: expected the same scale")
