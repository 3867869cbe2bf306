"""OpenDP's integer measurements, by their scale.

OpenDP's make_gaussian on integers draws N_Z(0, scale^2), and its make_laplace on integers noise of mass proportional to exp(-|x| / scale),
each with the exact value of the double `scale`. So a float is taken at its exact binary value here, unlike everywhere else in this
package. OpenDP itself is only needed by check().
"""

from __future__ import annotations

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


def check(measurement: Any, account: DiscreteGaussian | DiscreteLaplace) -> None:
    """ValueError unless the privacy map of an OpenDP measurement agrees with the account, for one count changed by 1.

    A Gaussian measurement maps 1 to rho = 1 / (2 scale^2), a Laplace one to epsilon = 1 / scale, rounded up to a double.
    """
    spent = Fraction(measurement.map(d_in=1))
    exact = account.parameter if isinstance(account, DiscreteLaplace) else 1 / (2 * account.sigma2)
    if not exact <= spent <= exact * (1 + Fraction(1, 2**48)):
        raise ValueError(f"the measurement spends {float(spent)} and the account {float(exact)}: expected the same scale")
