"""CertifiedAccountant, against the real dp-accounting."""

from __future__ import annotations

import math
from typing import Any

import attr
import pytest

dp_accounting = pytest.importorskip("dp_accounting")
from dp_accounting import dp_event, privacy_accountant  # noqa: E402
from dp_accounting.pld import pld_privacy_accountant  # noqa: E402
from dp_accounting.rdp import rdp_privacy_accountant  # noqa: E402

from dp_assay import Composition, DiscreteGaussian, DiscreteLaplace, Gaussian  # noqa: E402
from dp_assay.dp_accounting import CertifiedAccountant, DiscreteGaussianDpEvent  # noqa: E402

EVENTS: list[tuple[Any, int]] = [
    (dp_event.GaussianDpEvent(2.0), 10),
    (dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(1.1), 4), 3),
    (dp_event.DiscreteLaplaceDpEvent(0.25, 2), 5),
    (dp_event.ComposedDpEvent([dp_event.GaussianDpEvent(3.0), dp_event.DiscreteLaplaceDpEvent(0.5, 1), dp_event.NoOpDpEvent()]), 2),
]


@pytest.mark.parametrize("event,count", EVENTS)
@pytest.mark.parametrize("delta", [1e-3, 1e-7])
def test_it_is_a_privacy_accountant_below_the_real_ones(event: Any, count: int, delta: float) -> None:
    own = CertifiedAccountant().compose(event, count)
    assert isinstance(own, privacy_accountant.PrivacyAccountant) and own.supports(event)
    theirs = pld_privacy_accountant.PLDAccountant(value_discretization_interval=1e-4).compose(event, count)
    certified = own.epsilon(delta)
    assert certified.upper_float == own.get_epsilon(delta)
    # Their result is an upper bound up to the rounding of doubles, and close to the true value.
    assert theirs.get_epsilon(delta) >= certified.lower_float - 1e-9
    assert theirs.get_epsilon(delta) <= certified.upper_float * 1.001 + 1e-3
    at = own.get_epsilon(delta)
    assert abs(own.get_delta(at) / delta - 1) < 1e-6 and theirs.get_delta(at) >= own.delta(at).lower_float * (1 - 1e-9)
    assert own.ledger == theirs.ledger


def test_it_uses_the_same_account_as_the_classes() -> None:
    own = CertifiedAccountant(digits=10)
    own.compose(dp_event.GaussianDpEvent(1.5), 2).compose(DiscreteGaussianDpEvent(5, 2, 10)).compose(dp_event.DiscreteLaplaceDpEvent(0.1, 3))
    parts = [Gaussian("2.25", 2), DiscreteGaussian(5, 10, 2), DiscreteLaplace("1/10", 1, 3)]
    expected = Composition(parts)
    assert own.composition is not None and own.composition.counts == expected.counts
    assert own.epsilon(1e-6) == expected.epsilon(1e-6, digits=10) and own.delta(3.5) == expected.delta("3.5", digits=10)
    # The renyi accountant of dp-accounting takes the discrete Gaussian as zCDP of the same rho; exact is below.
    rdp = rdp_privacy_accountant.RdpAccountant().compose(dp_event.ZCDpEvent(rho=4.0))
    assert CertifiedAccountant().compose(DiscreteGaussianDpEvent(5, 2, 10)).get_epsilon(1e-9) < rdp.get_epsilon(1e-9)


def test_zcdp_events_are_bounded_by_their_rho() -> None:
    own = CertifiedAccountant().compose(dp_event.ZCDpEvent(rho=0.5), 2)
    theirs = rdp_privacy_accountant.RdpAccountant().compose(dp_event.ZCDpEvent(rho=0.5), 2)
    # Their accountant uses orders from a list; this one uses the best order.
    assert own.get_epsilon(1e-6) <= theirs.get_epsilon(1e-6) <= own.get_epsilon(1e-6) * 1.01
    with_noise = CertifiedAccountant().compose(dp_event.ZCDpEvent(rho=0.5), 2).compose(dp_event.GaussianDpEvent(1.0))
    assert with_noise.get_epsilon(1e-6) > own.get_epsilon(1e-6) and with_noise.get_delta(9) < 1


def test_compositions_without_privacy_and_without_events() -> None:
    nothing = CertifiedAccountant()
    assert nothing.get_epsilon(1e-6) == 0 and nothing.get_delta(0) == 0 and nothing.composition is None
    for event in (dp_event.NonPrivateDpEvent(), dp_event.GaussianDpEvent(0.0), dp_event.DiscreteLaplaceDpEvent(0.0, 1)):
        own = CertifiedAccountant().compose(event)
        assert own.get_epsilon(1e-6) == math.inf and own.get_delta(3) == 1
        assert pld_privacy_accountant.PLDAccountant().compose(event).get_epsilon(1e-6) == math.inf
    laplace = CertifiedAccountant().compose(dp_event.DiscreteLaplaceDpEvent(0.25, 2), 3)
    assert laplace.get_epsilon(0) == 1.5 and laplace.get_epsilon(1) == 0 and laplace.get_delta(math.inf) == 0
    assert CertifiedAccountant().compose(dp_event.GaussianDpEvent(1.0)).get_epsilon(0) == math.inf


@pytest.mark.parametrize(
    "event,says",
    [
        (dp_event.PoissonSampledDpEvent(0.1, dp_event.GaussianDpEvent(1.0)), "PoissonSampledDpEvent is not supported"),
        (dp_event.LaplaceDpEvent(1.0), "LaplaceDpEvent is not supported"),
        (dp_event.ZCDpEvent(rho=1.0, xi=0.5), "xi = 0"),
        (dp_event.UnsupportedDpEvent(), "UnsupportedDpEvent is not supported"),
        (dp_event.GaussianDpEvent(float("nan")), "nan"),
        (dp_event.DiscreteLaplaceDpEvent(0.1, -1), ""),
    ],
)
def test_an_unsupported_event_is_named(event: Any, says: str) -> None:
    composed = dp_event.ComposedDpEvent([dp_event.GaussianDpEvent(1.0), event])
    own = CertifiedAccountant()
    assert not own.supports(composed)
    with pytest.raises(privacy_accountant.UnsupportedEventError) as refused:
        own.compose(composed)
    assert says in str(refused.value) and type(event).__name__ in str(refused.value)
    # The event was not composed.
    assert own.composition is None and own.get_epsilon(1e-6) == 0


def test_bad_targets_and_relations_are_refused() -> None:
    own = CertifiedAccountant().compose(dp_event.GaussianDpEvent(1.0))
    for delta in (-1e-9, 1.5, math.nan):
        with pytest.raises(ValueError):
            own.get_epsilon(delta)
    for epsilon in (-1.0, math.nan):
        with pytest.raises(ValueError):
            own.get_delta(epsilon)
    with pytest.raises(ValueError, match="REPLACE_ONE"):
        CertifiedAccountant(privacy_accountant.NeighboringRelation.REPLACE_ONE)
    with pytest.raises(TypeError):
        own.compose("an event")


def test_calibration_of_dp_accounting_takes_it() -> None:
    from dp_accounting import mechanism_calibration

    multiplier = mechanism_calibration.calibrate_dp_mechanism(
        CertifiedAccountant, lambda noise: dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(noise), 10), 3.0, 1e-6, tol=1e-3
    )
    assert Gaussian(repr(multiplier * multiplier), 10).epsilon("1e-6") <= 3


def _their_event() -> Any:
    """The class of dp-accounting's development sources, which 0.6.0 does not have: the real one where it is there, else a stand-in."""
    if hasattr(dp_event, "DiscreteGaussianDpEvent"):
        return dp_event.DiscreteGaussianDpEvent
    fields = {"sigma": attr.ib(type=float), "sensitivity": attr.ib(type=float, default=1.0), "dimension": attr.ib(type=int, default=None)}
    return attr.make_class("DiscreteGaussianDpEvent", fields, bases=(dp_event.DpEvent,), frozen=True, slots=True)


def test_their_own_discrete_gaussian_is_accepted_by_its_name_and_fields() -> None:
    theirs = _their_event()
    exact = CertifiedAccountant().compose(theirs(2.5, 3, 1), 4)
    assert exact.composition is not None and exact.composition.counts == DiscreteGaussian("6.25", 4, 3).counts
    # Integers change by whole numbers.
    assert CertifiedAccountant().compose(theirs(2.5, 3.7, 1)).composition.counts == DiscreteGaussian("6.25", 1, 3).counts
    assert CertifiedAccountant().compose(theirs(2.5, 0.7, 1)).get_epsilon(1e-6) == 0
    for dimension in (None, 5):
        # The event does not state which values change by how much: the result holds for all cases.
        unknown = CertifiedAccountant().compose(theirs(2.5, 3, dimension), 4)
        by_rho = CertifiedAccountant().compose(dp_event.ZCDpEvent(rho=9 / 12.5), 4)
        assert unknown.composition is None and unknown.get_epsilon(1e-6) == by_rho.get_epsilon(1e-6) > exact.get_epsilon(1e-6)
    for wrong in (theirs(-1.0), theirs(1.0, -1.0), theirs(1.0, 1.0, 0), theirs(1.0, 1.0, 1.5), theirs(math.nan), theirs("x")):
        assert not CertifiedAccountant().supports(wrong)
    assert math.isinf(CertifiedAccountant().compose(theirs(0.0)).get_epsilon(1e-6))
    other = attr.make_class("DiscreteGaussianDpEvent", ["sigma"], bases=(dp_event.DpEvent,))
    assert not CertifiedAccountant().supports(other(2.0))
