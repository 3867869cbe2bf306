"""Training runs in the words of DP-SGD."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from dp_assay import Composition, SampledGaussian, dp_sgd


def test_a_run_is_its_steps_by_variance_and_rate() -> None:
    run = SampledGaussian("1.21", "0.01", 300)
    for own in (
        dp_sgd(1.1, sample_rate=0.01, steps=300),
        dp_sgd(1.1, batch_size=600, records=60_000, epochs=3),
        SampledGaussian.from_noise_multiplier("11/10", sample_rate="1/100", epochs=3),
    ):
        assert own.epsilon(1e-5) == run.epsilon(1e-5)


def test_schedules_are_compositions_of_their_phases() -> None:
    phases = Composition([SampledGaussian(4, "0.02", 100), SampledGaussian(1, "0.01", 1000)])
    assert dp_sgd([2, 1], sample_rate=[0.02, 0.01], steps=[100, 1000]).epsilon(1e-5) == phases.epsilon(1e-5)
    own = dp_sgd(numpy.array([2.0, 1.0]), sample_rate=numpy.array([0.02, 0.01]), steps=numpy.array([100, 1000]))
    assert own.epsilon(1e-5) == phases.epsilon(1e-5)
    # One number is that of all phases.
    same = dp_sgd([1.5, 1.5], sample_rate=0.01, steps=[10, 20])
    assert same.epsilon(1e-5) == dp_sgd(1.5, sample_rate=0.01, steps=30).epsilon(1e-5)


@pytest.mark.parametrize(
    "given,message",
    [
        ({"sample_rate": 0, "steps": 3}, "sample rate = 0"),
        ({"sample_rate": 1.5, "steps": 3}, "sample rate = 1.5"),
        ({"batch_size": 61, "records": 60, "steps": 3}, "at most the 60 records"),
        ({"batch_size": 6, "steps": 3}, "number of records"),
        ({"sample_rate": 0.1, "batch_size": 6, "records": 60, "steps": 3}, "needs a sample rate, or"),
        ({"sample_rate": 0.1}, "steps, or its epochs"),
        ({"sample_rate": 0.1, "steps": 3, "epochs": 1}, "steps, or its epochs"),
        ({"sample_rate": 0.1, "steps": 10**10}, "1000000000"),
        ({"sample_rate": [0.1, 0.2], "steps": [1, 2, 3]}, "2 of sample_rate, 3 of steps"),
        ({"sample_rate": [], "steps": 3}, "there is none"),
    ],
)
def test_what_is_no_run_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dp_sgd(1, **given)
    with pytest.raises(ValueError, match="noise multiplier = 0"):
        dp_sgd(0, sample_rate=0.1, steps=3)
