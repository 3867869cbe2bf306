"""OpenDP's measurements by their scale, against the real OpenDP where it is installed, and against stand-ins of its measurements."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from dp_assay import opendp

try:
    import opendp.prelude as dp
except ImportError:
    dp = None

real = pytest.mark.skipif(dp is None, reason="OpenDP is not installed")


@pytest.fixture(autouse=True)
def contrib() -> None:
    if dp is not None:
        dp.enable_features("contrib", "idealized-numerics")


@dataclass
class Measurement:
    """The attributes of a measurement that check() reads, with the names of OpenDP 0.16."""

    carrier: str = "i32"
    measure: str = "ZeroConcentratedDivergence"
    spends: Any = 0.125
    domain: str | None = None
    distance: str | None = None

    @property
    def input_domain(self) -> str:
        return self.domain or f"AtomDomain(T={self.carrier})"

    @property
    def input_carrier_type(self) -> str:
        return self.carrier

    @property
    def input_distance_type(self) -> str:
        return self.distance or self.carrier.removeprefix("Vec<").removesuffix(">")

    @property
    def input_metric(self) -> str:
        return f"AbsoluteDistance({self.input_distance_type})"

    @property
    def output_measure(self) -> str:
        return self.measure

    def map(self, d_in: int) -> Any:
        assert d_in == 1
        return self.spends


def test_only_measurements_of_integers_are_accepted() -> None:
    gaussian, laplace = opendp.gaussian(2.0), opendp.laplace(2.0)
    for carrier in ("i32", "i64", "u8", "Vec<i32>", "Vec<i128>"):
        opendp.check(Measurement(carrier), gaussian)
        opendp.check(Measurement(carrier, "MaxDivergence", 0.5), laplace)
    # Distances in floats between vectors of integers: the noise is that of the integers.
    opendp.check(Measurement("Vec<i32>", distance="f64"), gaussian)
    for floats in (Measurement("f64"), Measurement("Vec<f32>"), Measurement(domain="AtomDomain(T=f64)")):
        with pytest.raises(ValueError, match="about floats"):
            opendp.check(floats, gaussian)
    for other in ("bool", "String", "LazyFrame"):
        with pytest.raises(ValueError, match="expected integers"):
            opendp.check(Measurement(other, distance="u32"), gaussian)


def test_a_measurement_of_another_privacy_measure_is_refused_by_name() -> None:
    for measure in ("SmoothedMaxDivergence", "Approximate(ZeroConcentratedDivergence)", "MaxDivergence"):
        with pytest.raises(ValueError, match="not one that was converted"):
            opendp.check(Measurement(measure=measure, spends=object()), opendp.gaussian(2.0))
    with pytest.raises(ValueError, match="a DiscreteLaplace about MaxDivergence"):
        opendp.check(Measurement(), opendp.laplace(2.0))


@real
def test_real_measurements_of_floats_and_converted_ones_are_refused() -> None:
    floats = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    vectors = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
    for measurement in (dp.m.make_gaussian(*floats, scale=0.5), dp.m.make_gaussian(*vectors, scale=0.5)):
        with pytest.raises(ValueError, match="about floats"):
            opendp.check(measurement, opendp.gaussian(0.5))
    with pytest.raises(ValueError, match="about floats"):
        opendp.check(dp.m.make_laplace(*floats, scale=0.5), opendp.laplace(0.5))
    integers = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    converted = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*integers, scale=0.5))
    with pytest.raises(ValueError, match="make_zCDP_to_approxDP"):
        opendp.check(converted, opendp.gaussian(0.5))
    vector = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    opendp.check(dp.m.make_laplace(*vector, scale=0.5), opendp.laplace(0.5, 7))
    for distances in (int, float):
        vector = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=distances)
        opendp.check(dp.m.make_gaussian(*vector, scale=0.5), opendp.gaussian(0.5, 7))


@real
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


@real
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
