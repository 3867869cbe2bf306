"""OpenDP's measurements by their scale, against the real OpenDP."""

from __future__ import annotations

from fractions import Fraction

import pytest

dp = pytest.importorskip("opendp.prelude")

from dp_assay import opendp  # noqa: E402


@pytest.fixture(autouse=True)
def contrib() -> None:
    dp.enable_features("contrib")


def test_measurements_spend_what_the_account_says() -> None:
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    for scale in (1.5, 0.1, 17.0):
        gaussian, laplace = opendp.gaussian(scale, 10), opendp.laplace(scale)
        opendp.check(dp.m.make_gaussian(*space, scale=scale), gaussian)
        opendp.check(dp.m.make_laplace(*space, scale=scale), laplace)
        # The double itself, not its shortest decimal.
        assert gaussian.sigma2 == Fraction(scale) ** 2 and laplace.parameter == 1 / Fraction(scale)
        with pytest.raises(ValueError, match="same scale"):
            opendp.check(dp.m.make_gaussian(*space, scale=scale * 1.001), gaussian)


def test_the_exact_epsilon_is_below_what_opendp_s_conversion_gives() -> None:
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    converted = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=2.0))
    for delta in (1e-6, 1e-9):
        theirs, own = converted.map(d_in=1).epsilon(delta=delta), opendp.gaussian(2.0).epsilon(delta)
        assert own.upper_float < theirs < 2 * own.upper_float


def test_bad_scales_are_refused() -> None:
    for scale in (0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="above 0"):
            opendp.gaussian(scale)
    for scale in ("2", True, None):
        with pytest.raises(TypeError):
            opendp.laplace(scale)
