"""CertifiedAccountant, against the real dp-accounting."""

from __future__ import annotations

import importlib
import itertools
import math
import random
import re
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import attr
import pytest

dp_accounting = pytest.importorskip("dp_accounting")
from dp_accounting import dp_event, privacy_accountant  # noqa: E402
from dp_accounting.pld import pld_privacy_accountant  # noqa: E402
from dp_accounting.rdp import rdp_privacy_accountant  # noqa: E402

from dp_assay import (  # noqa: E402
    Approximate,
    BoundedRange,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Pure,
    RandomizedResponse,
    SampledGaussian,
)
from dp_assay.dp_accounting import CertifiedAccountant, DiscreteGaussianDpEvent  # noqa: E402

EVENTS: list[tuple[Any, int]] = [
    (dp_event.GaussianDpEvent(2.0), 10),
    (dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(1.1), 4), 3),
    (dp_event.DiscreteLaplaceDpEvent(0.25, 2), 5),
    (dp_event.LaplaceDpEvent(2.0), 8),
    (dp_event.ComposedDpEvent([dp_event.LaplaceDpEvent(5.0), dp_event.GaussianDpEvent(3.0), dp_event.DiscreteLaplaceDpEvent(0.5, 1)]), 3),
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


@pytest.mark.parametrize("rate,multiplier,steps,delta", [(0.01, 1.0, 1000, 1e-5), (0.2, 4.0, 100, 1e-6), (0.5, 2.0, 10, 1e-3)])
def test_sampled_noise_lies_just_below_the_real_account(rate: float, multiplier: float, steps: int, delta: float) -> None:
    event = dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(multiplier))
    own = CertifiedAccountant().compose(event, steps)
    theirs = pld_privacy_accountant.PLDAccountant(value_discretization_interval=1e-4).compose(event, steps)
    certified = own.epsilon(delta)
    assert certified.met and theirs.get_epsilon(delta) >= certified.lower_float - 1e-9
    assert theirs.get_epsilon(delta) <= certified.upper_float * 1.01
    assert rdp_privacy_accountant.RdpAccountant().compose(event, steps).get_epsilon(delta) > certified.upper_float


def test_several_noises_on_one_sample_are_one() -> None:
    both = dp_event.ComposedDpEvent([dp_event.GaussianDpEvent(3.0), dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(4.0), 2)])
    own = CertifiedAccountant().compose(dp_event.PoissonSampledDpEvent(0.1, both), 20)
    one = SampledGaussian(1 / (Fraction(1, 9) + Fraction(2, 16)), "0.1", 20)
    assert own.composition is not None and own.composition.delta(1) == Composition([one]).delta(1)
    assert CertifiedAccountant().compose(dp_event.PoissonSampledDpEvent(0.0, both)).get_epsilon(1e-6) == 0
    none = dp_event.PoissonSampledDpEvent(0.1, dp_event.GaussianDpEvent(0.0))
    assert CertifiedAccountant().compose(none).get_epsilon(1e-6) == math.inf
    # Beside samples every noise with a symmetric pair is accounted for.
    before = own.compose(dp_event.GaussianDpEvent(5.0)).get_epsilon(1e-6)
    assert before < own.compose(dp_event.DiscreteLaplaceDpEvent(0.5, 1)).get_epsilon(1e-6) < before + 0.5


def test_zcdp_events_are_bounded_by_their_rho() -> None:
    own = CertifiedAccountant().compose(dp_event.ZCDpEvent(rho=0.5), 2)
    theirs = rdp_privacy_accountant.RdpAccountant().compose(dp_event.ZCDpEvent(rho=0.5), 2)
    # Their accountant uses orders from a list; this one uses the best order.
    assert own.get_epsilon(1e-6) <= theirs.get_epsilon(1e-6) <= own.get_epsilon(1e-6) * 1.01
    with_noise = CertifiedAccountant().compose(dp_event.ZCDpEvent(rho=0.5), 2).compose(dp_event.GaussianDpEvent(1.0))
    assert with_noise.get_epsilon(1e-6) > own.get_epsilon(1e-6) and with_noise.get_delta(9) < 1


def test_zcdp_events_beside_samples_are_no_worse_than_basic_composition() -> None:
    zcdp = dp_event.ZCDpEvent(rho=0.1)
    run = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.0)), 1000)
    for both in ([zcdp, run], [run, zcdp]):
        own = CertifiedAccountant().compose(dp_event.ComposedDpEvent(both))
        halves = [CertifiedAccountant().compose(one).get_epsilon(5e-6) for one in both]
        epsilon = own.get_epsilon(1e-5)
        assert max(halves) < epsilon <= sum(halves) < 3.91
        theirs = pld_privacy_accountant.PLDAccountant(value_discretization_interval=1e-3).compose(run)
        assert epsilon > theirs.get_epsilon(1e-5)
        # The same in delta, where the rho of noise without samples says nothing.
        assert 1e-5 < own.get_delta(sum(halves)) < 1e-4
    # A count whose noise is known beside rho: no worse than the rho of both, which is the better bound here.
    counts = CertifiedAccountant().compose(dp_event.GaussianDpEvent(1.0)).compose(zcdp)
    assert counts.get_epsilon(1e-5) <= CertifiedAccountant().compose(dp_event.ZCDpEvent(rho=0.6)).get_epsilon(1e-5)


def test_a_sample_of_all_records_is_none() -> None:
    own = CertifiedAccountant().compose(dp_event.PoissonSampledDpEvent(1, dp_event.LaplaceDpEvent(2.0)), 3)
    assert own.get_epsilon(1e-5) == CertifiedAccountant().compose(dp_event.LaplaceDpEvent(2.0), 3).get_epsilon(1e-5)


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
        (dp_event.PoissonSampledDpEvent(0.1, dp_event.LaplaceDpEvent(1.0)), "PoissonSampledDpEvent of LaplaceDpEvent is not supported"),
        (dp_event.PoissonSampledDpEvent(1.5, dp_event.GaussianDpEvent(1.0)), "expected a probability"),
        (dp_event.SampledWithReplacementDpEvent(100, 5, dp_event.GaussianDpEvent(1.0)), "only Poisson samples of Gaussian noise"),
        (dp_event.LaplaceDpEvent(1e9), "a scale from 1e-3 to 1e6"),
        (dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0, 2.0], [0.5, 0.25, 0.25]), "with several sensitivities above zero is not supported"),
        (dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0], [0.5, 0.25]), "sampling_probs add up to 0.75: expected 1"),
        (dp_event.MixtureOfGaussiansDpEvent(1.0, [1.0], [0.5, 0.5]), "expected as many of each"),
        (dp_event.RepeatAndSelectDpEvent(dp_event.GaussianDpEvent(1.0), 2, 1), "the number of repetitions is random"),
        (dp_event.SingleEpochTreeAggregationDpEvent(1.0, 8), "REPLACE_SPECIAL, here ADD_OR_REMOVE_ONE: a record that is added moves"),
        (dp_event.SampledWithoutReplacementDpEvent(100, 5, dp_event.GaussianDpEvent(1.0)), "for which no account is proven here"),
        (dp_event.TruncatedSubsampledGaussianDpEvent(9, 0.5, 5, 1.0), "takes the place of another one"),
        (dp_event.RandomizedResponseDpEvent(0.5, 4), "REPLACE_ONE, here ADD_OR_REMOVE_ONE"),
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
    replaced = CertifiedAccountant(privacy_accountant.NeighboringRelation.REPLACE_ONE)
    noise = (dp_event.GaussianDpEvent(1.0), dp_event.LaplaceDpEvent(1.0), dp_event.DiscreteLaplaceDpEvent(1.0, 1), DiscreteGaussianDpEvent(5))
    for event in (*noise, dp_event.MixtureOfGaussiansDpEvent(1.0, [1.0], [1.0])):
        with pytest.raises(privacy_accountant.UnsupportedEventError, match="REPLACE_ONE: an event does not say"):
            replaced.compose(event)
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


REPLACE_ONE = privacy_accountant.NeighboringRelation.REPLACE_ONE


@pytest.mark.parametrize("p,answers,count", [(0.25, 2, 1), (0.5, 4, 3), (0.9, 10, 2)])
def test_randomized_response_is_that_of_its_outputs(p: float, answers: int, count: int) -> None:
    own = CertifiedAccountant(REPLACE_ONE).compose(dp_event.RandomizedResponseDpEvent(p, answers), count)
    # All outputs of `count` responses with their probabilities under two true answers.
    single = [(1 - p + p / answers, p / answers), (p / answers, 1 - p + p / answers)] + [(p / answers, p / answers)] * (answers - 2)
    outputs = [(1.0, 1.0)]
    for _ in range(count):
        outputs = [(a * c, b * d) for a, b in outputs for c, d in single]
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        true = sum(max(a - math.exp(epsilon) * b, 0.0) for a, b in outputs)
        found = own.delta(epsilon)
        assert found.lower_float - 1e-12 <= true <= found.upper_float + 1e-12 and found.upper_float - found.lower_float < 1e-11
        theirs = pld_privacy_accountant.PLDAccountant(REPLACE_ONE)
        for _ in range(count):
            theirs.compose(dp_event.RandomizedResponseDpEvent(p, answers))
        assert theirs.get_delta(epsilon) >= found.lower_float - 1e-9
    largest = count * math.log(1 + answers * (1 - p) / p)
    assert own.get_epsilon(0) == pytest.approx(largest, rel=1e-14) and own.get_epsilon(0) >= largest * (1 - 1e-15)
    assert own.epsilon(0.01).met and own.get_delta(math.inf) == 0
    by_class = RandomizedResponse(repr(math.log(1 + answers * (1 - p) / p)), answers, count)
    assert own.epsilon(0.01).midpoint_float == pytest.approx(by_class.epsilon(0.01).midpoint_float, rel=1e-12)


def test_randomized_response_without_an_answer_or_without_noise() -> None:
    accountant = lambda: CertifiedAccountant(REPLACE_ONE)  # noqa: E731
    for nothing in (dp_event.RandomizedResponseDpEvent(1.0, 5), dp_event.RandomizedResponseDpEvent(0.3, 1)):
        assert accountant().compose(nothing).get_epsilon(1e-6) == 0
    assert accountant().compose(dp_event.RandomizedResponseDpEvent(0.0, 5)).get_epsilon(1e-6) == math.inf
    for p, answers in ((-0.1, 2), (1.1, 2), (math.nan, 2), (0.5, 0), (0.5, 2.5), (0.5, True), ("x", 2)):
        assert not accountant().supports(dp_event.RandomizedResponseDpEvent(p, answers)), (p, answers)


def _guarantee() -> Any:
    """dp-accounting's EpsilonDeltaDpEvent, which not every version has: the real one where it is there, else a stand-in."""
    if hasattr(dp_event, "EpsilonDeltaDpEvent"):
        return dp_event.EpsilonDeltaDpEvent
    fields = {"epsilon": attr.ib(type=float), "delta": attr.ib(type=float)}
    return attr.make_class("EpsilonDeltaDpEvent", fields, bases=(dp_event.DpEvent,), frozen=True, slots=True)


def test_guarantees_are_composed_by_the_best_bound_for_all_mechanisms() -> None:
    guarantee = _guarantee()
    own = CertifiedAccountant().compose(guarantee(0.5, 1e-6), 3).compose(guarantee(0.25, 0.0))
    expected = Composition([Approximate("0.5", "1e-6", 3), Pure("0.25")])
    assert own.composition is not None and own.composition == expected
    assert own.epsilon(1e-4) == expected.epsilon(1e-4)
    mass = 1 - (1 - 1e-6) ** 3
    assert own.get_delta(math.inf) == pytest.approx(mass, rel=1e-9) and own.get_delta(5) == pytest.approx(mass, rel=1e-9)
    # No epsilon is finite at a delta below the probability of an infinite loss.
    assert own.get_epsilon(1e-6) == own.get_epsilon(0) == math.inf and own.get_epsilon(1e-5) <= 1.75
    with pytest.raises(ValueError, match="no epsilon is finite"):
        own.epsilon(1e-6)
    # With a zCDP event the other outputs are accounted for by their rho.
    own.compose(dp_event.ZCDpEvent(rho=0.5))
    assert own.get_epsilon(1e-6) == math.inf and own.get_epsilon(1e-5) > CertifiedAccountant().compose(dp_event.ZCDpEvent(rho=0.5)).get_epsilon(1e-5)
    assert own.get_delta(50.0) == pytest.approx(mass, rel=1e-9)
    with pytest.raises(ValueError, match="infinite loss"):
        own.epsilon(1e-6)
    assert CertifiedAccountant(REPLACE_ONE).compose(guarantee(1.0, 0.0)).get_epsilon(0) == 1
    assert CertifiedAccountant().compose(guarantee(0.0, 0.0)).get_epsilon(0) == 0
    for none in (guarantee(math.inf, 0.1), guarantee(1.0, 1.0)):
        assert CertifiedAccountant().compose(none).get_epsilon(1e-6) == math.inf
    for wrong in (guarantee(-1.0, 0.0), guarantee(1.0, -0.1), guarantee(1.0, 1.5), guarantee(math.nan, 0.0), guarantee("x", 0.0)):
        assert not CertifiedAccountant().supports(wrong), wrong
    other = attr.make_class("EpsilonDeltaDpEvent", ["epsilon"], bases=(dp_event.DpEvent,))
    assert not CertifiedAccountant().supports(other(2.0))


def test_a_random_sensitivity_of_one_size_is_a_poisson_sample() -> None:
    mixture = dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0, 4.0], [0.75, 0.25])
    own = CertifiedAccountant().compose(mixture, 10)
    assert own.composition is not None and own.composition.counts == SampledGaussian("1/4", "1/4", 10).counts
    theirs = pld_privacy_accountant.PLDAccountant(value_discretization_interval=1e-4).compose(mixture, 10)
    assert own.epsilon(1e-3).lower_float - 1e-9 <= theirs.get_epsilon(1e-3) <= own.get_epsilon(1e-3) * 1.01
    certain = CertifiedAccountant().compose(dp_event.MixtureOfGaussiansDpEvent(2.0, [4.0], [1.0]), 3)
    assert certain.composition is not None and certain.composition.counts == Gaussian("1/4", 3).counts
    # Floats that add up to one only nearly: the larger probability to be in the sample.
    nearly = CertifiedAccountant().compose(dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0], [1 - 0.07, 0.07]))
    assert nearly.get_epsilon(1e-3) >= CertifiedAccountant().compose(dp_event.PoissonSampledDpEvent(0.07, dp_event.GaussianDpEvent(2.0))).get_epsilon(1e-3)
    for never in (dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0], [1.0]), dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0, 3.0], [1.0, 0.0])):
        assert CertifiedAccountant().compose(never).get_epsilon(1e-6) == 0
    assert CertifiedAccountant().compose(dp_event.MixtureOfGaussiansDpEvent(0.0, [0.0, 1.0], [0.5, 0.5])).get_epsilon(1e-6) == math.inf


def _exponential() -> Any:
    """dp-accounting's ExponentialMechanismDpEvent, which not every version has: the real one where it is there, else a stand-in."""
    if hasattr(dp_event, "ExponentialMechanismDpEvent"):
        return dp_event.ExponentialMechanismDpEvent
    return attr.make_class("ExponentialMechanismDpEvent", {"epsilon": attr.ib(type=float)}, bases=(dp_event.DpEvent,), frozen=True, slots=True)


def test_exponential_mechanisms_have_a_bounded_range() -> None:
    exponential = _exponential()
    for relation in (privacy_accountant.NeighboringRelation.ADD_OR_REMOVE_ONE, REPLACE_ONE):
        own = CertifiedAccountant(relation).compose(exponential(0.5), 4)
        assert own.composition is not None and own.composition == Composition([BoundedRange("1/2", 4)])
        # Above zCDP's rho of the range for a few, and below the worst of all pure mechanisms.
        assert own.get_epsilon(1e-6) < Pure("1/2", 4).epsilon("1e-6").upper_float and own.get_epsilon(0) == 2
        assert own.get_delta(math.inf) == 0
    one = CertifiedAccountant().compose(exponential(1.0))
    assert one.get_delta(0.25) == pytest.approx((1 - math.exp(-0.375)) ** 2 / (1 - math.exp(-1)), rel=1e-12)
    assert CertifiedAccountant().compose(exponential(0.0)).get_epsilon(1e-6) == 0
    assert CertifiedAccountant().compose(exponential(math.inf)).get_epsilon(1e-6) == math.inf
    for wrong in (exponential(-1.0), exponential(math.nan), exponential("x"), exponential(1e9)):
        assert not CertifiedAccountant().supports(wrong), wrong
    both = CertifiedAccountant().compose(exponential(0.5)).compose(dp_event.LaplaceDpEvent(3.0), 2).compose(dp_event.GaussianDpEvent(4.0))
    expected = Composition([BoundedRange("1/2"), Laplace(3, 2), Gaussian(16)])
    assert both.epsilon(1e-6) == expected.epsilon("1e-6")


def _flip() -> Any:
    """dp-accounting's PermuteAndFlipDpEvent, which 0.6.0 does not have: the real one where it is there, else a stand-in."""
    if hasattr(dp_event, "PermuteAndFlipDpEvent"):
        return dp_event.PermuteAndFlipDpEvent
    return attr.make_class("PermuteAndFlipDpEvent", {"epsilon": attr.ib(type=float)}, bases=(dp_event.DpEvent,), frozen=True, slots=True)


def test_permute_and_flip_is_a_pure_guarantee() -> None:
    flip = _flip()
    own = CertifiedAccountant().compose(flip(0.5), 4)
    assert own.composition is not None and own.composition == Composition([Pure("1/2", 4)])
    # Above their reading, which takes it for Laplace noise.
    assert own.get_epsilon(1e-6) > CertifiedAccountant().compose(dp_event.LaplaceDpEvent(2.0), 4).get_epsilon(1e-6)
    assert CertifiedAccountant().compose(flip(0.0)).get_epsilon(0) == 0
    assert CertifiedAccountant().compose(flip(math.inf)).get_epsilon(1e-6) == math.inf
    for wrong in (flip(-1.0), flip(math.nan), flip("x")):
        assert not CertifiedAccountant().supports(wrong), wrong


SPECIAL = privacy_accountant.NeighboringRelation.REPLACE_SPECIAL


@pytest.mark.parametrize("steps,nodes", [(1, 1), (2, 2), (7, 3), (8, 4), ([8, 100, 3], 7)])
def test_a_tree_is_one_gaussian_sum_over_the_nodes_of_a_leaf(steps: Any, nodes: int) -> None:
    event = dp_event.SingleEpochTreeAggregationDpEvent(4.0, steps)
    own = CertifiedAccountant(SPECIAL).compose(event, 2)
    assert own.composition is not None and own.composition == Composition([Gaussian(Fraction(16, nodes), 2)])
    theirs = rdp_privacy_accountant.RdpAccountant(neighboring_relation=SPECIAL).compose(event, 2)
    assert theirs.get_epsilon(1e-6) * 0.8 < own.get_epsilon(1e-6) < theirs.get_epsilon(1e-6)


def test_trees_without_privacy_and_trees_that_are_none() -> None:
    tree = dp_event.SingleEpochTreeAggregationDpEvent
    assert CertifiedAccountant(SPECIAL).compose(tree(0.0, 4)).get_epsilon(1e-6) == math.inf
    assert CertifiedAccountant(SPECIAL).compose(tree(math.inf, 4)).get_epsilon(1e-6) == 0
    for wrong in (tree(1.0, 0), tree(1.0, []), tree(1.0, -1), tree(1.0, 2.5), tree(-1.0, 4), tree(1.0, [3, "x"])):
        assert not CertifiedAccountant(SPECIAL).supports(wrong), wrong
    assert not CertifiedAccountant(REPLACE_ONE).supports(tree(1.0, 4))


def test_conditions_of_samples_are_said() -> None:
    sampled = dp_event.PoissonSampledDpEvent(0.1, dp_event.GaussianDpEvent(1.0))
    assert CertifiedAccountant().conditions == CertifiedAccountant().compose(dp_event.GaussianDpEvent(1.0)).conditions == []
    [condition] = CertifiedAccountant().compose(sampled).conditions
    assert "fresh and secret Poisson samples" in condition and "no bound for shuffled or fixed-size batches" in condition


def test_many_different_phases_are_composed_in_linear_time() -> None:
    def seconds(phases: int) -> float:
        own, begun = CertifiedAccountant(), time.process_time()
        for phase in range(phases):
            own.compose(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.0 + phase / 1000)))
        return time.process_time() - begun

    # Twelve times the phases: 144 times the seconds if each new phase looked at all earlier ones.
    assert seconds(300) < 40 * max(seconds(25), 0.05)


def _jax_privacy() -> dict[str, Any]:
    """The events of jax_privacy, as its functions make them; those of the library itself where it is installed."""
    gaussian = dp_event.GaussianDpEvent(1.0)
    single = {
        "dpsgd": dp_event.PoissonSampledDpEvent(0.01, gaussian),
        "zcdp": dp_event.PoissonSampledDpEvent(0.01, dp_event.ZCDpEvent(0.5)),
        "bandmf": dp_event.PoissonSampledDpEvent(0.04, gaussian),
        "fixed": dp_event.SampledWithoutReplacementDpEvent(1000, 10, gaussian),
        "truncated": dp_event.TruncatedSubsampledGaussianDpEvent(1000, 0.01, 20, 1.0),
    }
    events = {name: dp_event.SelfComposedDpEvent(event, 25 if name == "bandmf" else 100) for name, event in single.items()}
    for module in ("jax_privacy.accounting", "jax_privacy.experimental.accounting"):
        try:
            accounting: Any = importlib.import_module(module)
        except ImportError:
            continue
        if hasattr(accounting, "dpsgd_event"):
            events["dpsgd"] = accounting.dpsgd_event(1.0, 100, sampling_prob=0.01)
            events["bandmf"] = accounting.amplified_bandmf_event(1.0, 100, num_bands=4, sampling_prob=0.04)
            events["fixed"] = accounting.fixed_dpsgd_event(1.0, 100, dataset_size=1000, batch_size=10)
            events["truncated"] = accounting.truncated_dpsgd_event(1.0, 100, sampling_prob=0.01, num_examples=1000, truncated_batch_size=20)
    return events


def test_events_of_jax_privacy() -> None:
    events = _jax_privacy()
    for name, run in (("dpsgd", SampledGaussian(1, "0.01", 100)), ("bandmf", SampledGaussian(1, "0.04", 25))):
        own = CertifiedAccountant().compose(events[name])
        assert own.composition == Composition([run]) and own.get_epsilon(1e-5) == run.epsilon("1e-5").upper_float
    for name, why in (("zcdp", "PoissonSampledDpEvent of ZCDpEvent"), ("fixed", "batches of a fixed size"), ("truncated", "added to a full batch")):
        with pytest.raises(privacy_accountant.UnsupportedEventError, match=why):
            CertifiedAccountant().compose(events[name])


def test_a_training_accountant_of_jax_privacy_takes_it() -> None:
    analysis = pytest.importorskip("jax_privacy.accounting.analysis")
    accountants = pytest.importorskip("jax_privacy.accounting.accountants")

    class Certified(accountants.DpAccountantConfig):  # type: ignore[misc]
        def create_accountant(self) -> Any:
            return CertifiedAccountant()

    training = analysis.DpsgdTrainingAccountant(dp_accountant_config=Certified())
    params = analysis.DpParams(noise_multipliers=1.0, batch_size=10, num_samples=1000, delta=1e-5)
    assert training.compute_epsilon(100, params) == SampledGaussian(1, "0.01", 100).epsilon("1e-5").upper_float


def test_events_of_tensorflow_privacy() -> None:
    """As compute_dp_sgd_privacy_lib and the queries of TensorFlow Privacy make them."""
    epochs, rate, count = 5.0, 0.01, 500
    run = dp_event.SelfComposedDpEvent(count=count, event=dp_event.PoissonSampledDpEvent(sampling_probability=rate, event=dp_event.GaussianDpEvent(1.1)))
    own = CertifiedAccountant().compose(run)
    assert own.composition == Composition([SampledGaussian("1.21", "0.01", math.ceil(epochs / rate))])
    # A query with adaptive clipping: a sum and a quantile with noise of their own, on one sample.
    both = dp_event.ComposedDpEvent(events=[dp_event.GaussianDpEvent(1.2), dp_event.GaussianDpEvent(5.0)])
    adaptive = CertifiedAccountant().compose(dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(rate, both), count))
    one = SampledGaussian(1 / (1 / Fraction("1.2") ** 2 + Fraction(1, 25)), "0.01", count)
    assert adaptive.composition == Composition([one])
    # Users with several examples: a mixture of several sensitivities, which is not proven here.
    users = dp_event.MixtureOfGaussiansDpEvent(1.1, range(3), [0.9801, 0.0198, 0.0001])
    for event, why in ((users, "several sensitivities"), (dp_event.UnsupportedDpEvent(), "its mechanism is unknown")):
        with pytest.raises(privacy_accountant.UnsupportedEventError, match=why):
            CertifiedAccountant().compose(event)


def test_tensorflow_privacy_itself_reports_no_less() -> None:
    lib = pytest.importorskip("tensorflow_privacy.privacy.analysis.compute_dp_sgd_privacy_lib")
    theirs = lib._compute_dp_sgd_example_privacy(5.0, 1.1, 1e-5, used_microbatching=False, poisson_subsampling_probability=0.01)
    assert theirs >= SampledGaussian("1.21", "0.01", 500).epsilon("1e-5").lower_float


def test_the_table_of_the_guide_has_every_event() -> None:
    """Every event of the installed version has a row in the guide, which says rightly whether it is supported."""
    guide = Path(__file__).parents[2] / "docs/guide/python.md"
    if not guide.exists():
        pytest.skip("the guide is not beside the package")
    rows = [line.split("|")[1:3] for line in guide.read_text(encoding="utf-8").splitlines() if re.match(r"\| `\w+DpEvent", line)]
    refused = {name for names, text in rows for name in re.findall(r"`(\w+DpEvent)`", names) if text.strip().startswith("not supported")}
    listed = {name for names, _ in rows for name in re.findall(r"`(\w+DpEvent)`", names)}
    events = {name for name, kind in vars(dp_event).items() if isinstance(kind, type) and issubclass(kind, dp_event.DpEvent)} - {"DpEvent"}
    assert events <= listed, events - listed
    gaussian = dp_event.GaussianDpEvent(1.0)
    made = {
        "NoOpDpEvent": dp_event.NoOpDpEvent(),
        "NonPrivateDpEvent": dp_event.NonPrivateDpEvent(),
        "UnsupportedDpEvent": dp_event.UnsupportedDpEvent(),
        "RandomizedResponseDpEvent": dp_event.RandomizedResponseDpEvent(0.5, 3),
        "GaussianDpEvent": gaussian,
        "LaplaceDpEvent": dp_event.LaplaceDpEvent(1.0),
        "DiscreteLaplaceDpEvent": dp_event.DiscreteLaplaceDpEvent(1.0, 1),
        "DiscreteGaussianDpEvent": _their_event()(2.0, 1.0, 1),
        "EpsilonDeltaDpEvent": _guarantee()(1.0, 1e-6),
        "ExponentialMechanismDpEvent": _exponential()(1.0),
        "PermuteAndFlipDpEvent": _flip()(1.0),
        "SelfComposedDpEvent": dp_event.SelfComposedDpEvent(gaussian, 2),
        "ComposedDpEvent": dp_event.ComposedDpEvent([gaussian]),
        "PoissonSampledDpEvent": dp_event.PoissonSampledDpEvent(0.1, gaussian),
        "SampledWithReplacementDpEvent": dp_event.SampledWithReplacementDpEvent(9, 2, gaussian),
        "SampledWithoutReplacementDpEvent": dp_event.SampledWithoutReplacementDpEvent(9, 2, gaussian),
        "SingleEpochTreeAggregationDpEvent": dp_event.SingleEpochTreeAggregationDpEvent(1.0, 8),
        "RepeatAndSelectDpEvent": dp_event.RepeatAndSelectDpEvent(gaussian, 2, 1),
        "MixtureOfGaussiansDpEvent": dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0], [0.5, 0.5]),
        "ZCDpEvent": dp_event.ZCDpEvent(rho=1.0, xi=0.0),
        "TruncatedSubsampledGaussianDpEvent": dp_event.TruncatedSubsampledGaussianDpEvent(9, 0.5, 5, 1.0),
    }
    for name, event in made.items():
        relations = list(privacy_accountant.NeighboringRelation)
        is_supported = any(CertifiedAccountant(relation).supports(event) for relation in relations)
        # Of some events only a part is supported, so that they are in both kinds of rows.
        partly = {"PoissonSampledDpEvent", "MixtureOfGaussiansDpEvent", "ZCDpEvent"}
        assert is_supported != (name in refused) or name in partly, name
    assert events <= set(made), events - set(made)


def _every_event() -> list[Any]:
    """An event of each class that is supported under some relation."""
    gaussian = dp_event.GaussianDpEvent(2.0)
    return [
        gaussian,
        dp_event.LaplaceDpEvent(10.0),
        dp_event.DiscreteLaplaceDpEvent(0.1, 1),
        DiscreteGaussianDpEvent(5, count=10),
        _their_event()(2.5, 3, 1),
        dp_event.RandomizedResponseDpEvent(0.5, 3),
        _guarantee()(1.0, 0.0),
        _guarantee()(1.0, 1e-6),
        _exponential()(0.5),
        _flip()(0.5),
        dp_event.PoissonSampledDpEvent(0.01, gaussian),
        dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0], [0.75, 0.25]),
        dp_event.ZCDpEvent(rho=0.1),
        dp_event.NonPrivateDpEvent(),
        dp_event.NoOpDpEvent(),
    ]


def _state(own: CertifiedAccountant) -> Any:
    return own.composition, own._rho, own._not_private


def _equals_sequence(tree: Any, leaves: list[tuple[Any, int]], relation: Any) -> bool:
    """Whether a tree is supported; it has to be the same as its leaves one after the other, or be refused as they are."""
    one_by_one, whole = CertifiedAccountant(relation), CertifiedAccountant(relation)
    try:
        for event, count in leaves:
            one_by_one.compose(event, count)
    except privacy_accountant.UnsupportedEventError as refused:
        assert not whole.supports(tree)
        with pytest.raises(privacy_accountant.UnsupportedEventError) as error:
            whole.compose(tree)
        # For the same reason, and nothing of the tree was composed.
        assert str(refused).partition("Error: ")[2] == str(error.value).partition("Error: ")[2]
        assert _state(whole) == _state(CertifiedAccountant(relation))
        return False
    assert whole.supports(tree)
    assert _state(whole.compose(tree)) == _state(one_by_one)
    return True


@pytest.mark.parametrize("relation", [privacy_accountant.NeighboringRelation.ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_every_pair_of_events_in_a_tree_is_that_of_its_parts(relation: Any) -> None:
    pairs = list(itertools.product(_every_event(), repeat=2))
    supported = [_equals_sequence(dp_event.ComposedDpEvent([one, dp_event.SelfComposedDpEvent(other, 3)]), [(one, 1), (other, 3)], relation) for one, other in pairs]
    assert 0 < sum(supported) < len(pairs)


def test_random_trees_of_events_are_those_of_their_leaves() -> None:
    chance, events = random.Random(7), _every_event()

    def tree(depth: int, count: int) -> tuple[Any, list[tuple[Any, int]]]:
        if depth == 0 or chance.random() < 0.2:
            event = chance.choice(events)
            return event, [(event, count)]
        if chance.random() < 0.3:
            times = chance.randint(1, 4)
            inner, leaves = tree(depth - 1, count * times)
            return dp_event.SelfComposedDpEvent(inner, times), leaves
        parts = [tree(depth - 1, count) for _ in range(chance.randint(1, 3))]
        return dp_event.ComposedDpEvent([part for part, _ in parts]), [leaf for _, leaves in parts for leaf in leaves]

    relation = privacy_accountant.NeighboringRelation.ADD_OR_REMOVE_ONE
    supported = [_equals_sequence(*tree(3, 1), relation) for _ in range(200)]
    assert 0 < sum(supported) < len(supported)


def test_no_event_of_a_tree_is_left_out() -> None:
    run = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.0)), 1000)
    for beside in (dp_event.LaplaceDpEvent(10.0), dp_event.DiscreteLaplaceDpEvent(0.1, 1), DiscreteGaussianDpEvent(5, count=10)):
        for order in ([beside, run], [run, beside]):
            own = CertifiedAccountant()
            assert own.supports(dp_event.ComposedDpEvent(order))
            own.compose(dp_event.ComposedDpEvent(order))
            alone = CertifiedAccountant().compose(run)
            assert own.get_epsilon(1e-5) > alone.get_epsilon(1e-5)
            if not isinstance(beside, DiscreteGaussianDpEvent):
                theirs = pld_privacy_accountant.PLDAccountant(value_discretization_interval=1e-3).compose(beside).compose(run)
                assert own.get_epsilon(1e-5) <= theirs.get_epsilon(1e-5) <= own.get_epsilon(1e-5) + 0.02


@pytest.mark.parametrize("count", [0, -1, -5, 1.5, True, "2"])
def test_counts_in_trees_are_positive_whole_numbers(count: Any) -> None:
    gaussian = dp_event.GaussianDpEvent(1.0)
    zcdp = dp_event.ZCDpEvent(rho=1.0)
    bad = [
        dp_event.SelfComposedDpEvent(gaussian, count),
        dp_event.ComposedDpEvent([zcdp, dp_event.SelfComposedDpEvent(zcdp, count)]),
        dp_event.PoissonSampledDpEvent(0.1, dp_event.SelfComposedDpEvent(gaussian, count)),
        DiscreteGaussianDpEvent(5, count=count),
    ]
    for event in bad:
        own = CertifiedAccountant().compose(gaussian)
        assert not own.supports(event)
        with pytest.raises(privacy_accountant.UnsupportedEventError, match="count = "):
            own.compose(event)
        assert own.composition == Gaussian(1)


def test_a_count_below_one_of_an_event_is_refused() -> None:
    own = CertifiedAccountant().compose(dp_event.GaussianDpEvent(1.0))
    with pytest.raises(privacy_accountant.UnsupportedEventError, match="count = -1"):
        own.compose(dp_event.GaussianDpEvent(1.0), -1)
    with pytest.raises(ValueError, match="must be positive"):
        own.compose(dp_event.GaussianDpEvent(1.0), 0)
    assert own.composition == Gaussian(1)


def test_negative_noise_is_refused_and_infinite_noise_shows_nothing() -> None:
    sampled = lambda event: dp_event.PoissonSampledDpEvent(0.1, event)  # noqa: E731
    negative = [dp_event.GaussianDpEvent(-2.0), dp_event.LaplaceDpEvent(-2.0), dp_event.DiscreteLaplaceDpEvent(-1.0, 1), DiscreteGaussianDpEvent(-1)]
    negative += [sampled(dp_event.GaussianDpEvent(-2.0)), sampled(dp_event.GaussianDpEvent(-math.inf)), dp_event.GaussianDpEvent(-math.inf)]
    negative += [dp_event.MixtureOfGaussiansDpEvent(-1.0, [0.0, 1.0], [0.5, 0.5]), dp_event.ZCDpEvent(rho=-1.0)]
    for event in negative:
        assert not CertifiedAccountant().supports(event), event
    infinite = [dp_event.GaussianDpEvent(math.inf), dp_event.LaplaceDpEvent(math.inf), DiscreteGaussianDpEvent(math.inf)]
    infinite += [sampled(dp_event.GaussianDpEvent(math.inf)), dp_event.MixtureOfGaussiansDpEvent(math.inf, [0.0, 1.0], [0.5, 0.5])]
    for event in infinite:
        assert CertifiedAccountant().compose(event).get_epsilon(1e-6) == 0, event
    for event in (dp_event.DiscreteLaplaceDpEvent(math.inf, 1), dp_event.ZCDpEvent(rho=math.inf)):
        assert CertifiedAccountant().compose(event).get_epsilon(1e-6) == math.inf, event
