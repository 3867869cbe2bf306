"""Exact samples into numpy: their law, and the arrays that are refused."""

from __future__ import annotations

import numpy
import pytest

from dp_assay import (
    DiscreteGaussian,
    DiscreteLaplace,
    IntegerNoise,
    NoiseTable,
    RandomizedResponse,
    Staircase,
    TruncatedGaussian,
    TruncatedLaplace,
    add_noise,
)


@pytest.mark.parametrize(
    "noise",
    [
        DiscreteGaussian("2.5"),
        DiscreteLaplace("3/4"),
        DiscreteGaussian(10**8),
        TruncatedGaussian(10**6, 40),
        TruncatedLaplace("1/2", 3),
        Staircase(1, 4, 2),
        NoiseTable([(-3, "2/5"), (0, "1/5"), (3, "2/5")]),
    ],
)
def test_samples_have_the_law(noise: IntegerNoise) -> None:
    n = 400_000
    sample = noise.sample(n, insecure_seed=1)
    assert sample.dtype == numpy.int64 and sample.shape == (n,) and sample.flags.c_contiguous
    variance = noise.variance().midpoint_float
    assert abs(sample.mean()) < 5 * (variance / n) ** 0.5
    # The variance of X^2 is at most 5 variance^2 for both laws.
    assert abs(sample.var() / variance - 1) < 5 * (5 / n) ** 0.5
    for q in ("1/100", "1/4", "9/10"):
        at = noise.quantile(q)
        share, p = (sample <= at).mean(), noise.cdf(at).midpoint_float
        assert abs(share - p) <= 5 * (p * (1 - p) / n) ** 0.5


def test_bounded_noise_ends_at_its_bound() -> None:
    noise = TruncatedLaplace("1/10", 4)
    assert set(noise.sample(2000)) == set(range(-4, 5)) and noise.quantile("0.99") == 4
    assert 0 in noise.mass(5) and 1 in noise.cdf(4) and noise.method == "inversion of a table"
    rows = NoiseTable([(-1, "1/4"), (0, "1/2"), (7, "1/4")])
    assert set(rows.sample(500)) == {-1, 0, 7} and rows.quantile("1/4") == -1
    assert "27/4" not in str(rows.mass(0)) and rows.variance().midpoint_float == pytest.approx(10.25)


def test_randomized_response_replaces_answers() -> None:
    response = RandomizedResponse("1/2", 3)
    truth = numpy.arange(3000, dtype="int64") % 3
    given = add_noise(truth, response)
    assert set(given) == {0, 1, 2} and 0.2 < (given == truth).mean() < 0.6
    assert set(response.sample(500)) == {0, 1, 2}
    with pytest.raises(ValueError, match="answers are the numbers from 0 to 2"):
        response.noisy(numpy.array([0, 3], dtype="int64"))
    with pytest.raises(ValueError, match="adds no noise to counts"):
        response.mass(0)


def test_masses_add_up() -> None:
    noise = DiscreteLaplace("1/2")
    total = sum((noise.mass(x) for x in range(-30, 31)), start=noise.mass(0) * 0)
    assert total.overlaps(noise.cdf(30) - noise.cdf(-31))
    assert 1 in noise.cdf(3) + noise.survival(4)


def test_calls_differ_and_seeds_repeat() -> None:
    noise = DiscreteGaussian(1000)
    assert (noise.sample(50) != noise.sample(50)).any()
    for length in (0, 1, 1000, 70_000, 5_000_000):
        out = numpy.zeros(length, dtype="int64")
        noise.fill(out, insecure_seed=7)
        assert (out == noise.sample(length, insecure_seed=7)).all()
    # The beginning of a long array is that of a longer one.
    assert (noise.sample(5_000_000, insecure_seed=7)[:65536] == noise.sample(65536, insecure_seed=7)).all()


def test_arrays_in_place_are_checked() -> None:
    noise = DiscreteGaussian(5)
    base = numpy.zeros((10, 10), dtype="int64")
    noise.fill(base[3])
    assert base[3].any() and not base[:3].any() and not base[4:].any()
    noise.fill(base.ravel())
    read_only = numpy.zeros(10, dtype="int64")
    read_only.flags.writeable = False
    for wrong, error in (
        (base[:, 0], ValueError),
        (base, TypeError),
        (numpy.zeros(10), TypeError),
        (numpy.zeros(10, dtype="int32"), TypeError),
        (numpy.zeros(10, dtype=">i8"), TypeError),
        (numpy.array(5), TypeError),
        (read_only, ValueError),
        ([1, 2, 3], TypeError),
    ):
        with pytest.raises(error):
            noise.fill(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="an array of dtype float64 and 2 dimensions: expected int64 and one dimension"):
        noise.fill(numpy.zeros((2, 2)))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="dtype int32 and 1 dimensions"):
        noise.noisy(numpy.zeros(3, dtype="int32"))  # type: ignore[arg-type]
    for n in (2.5, "3", None):
        with pytest.raises(TypeError):
            noise.sample(n)  # type: ignore[arg-type]
    for n in (2**40, 2**62):
        with pytest.raises((MemoryError, ValueError)):
            noise.sample(n)


def test_noise_is_added_to_any_strides_and_overflow_changes_nothing() -> None:
    noise = DiscreteLaplace(100)  # zero but with probability 1e-43
    counts = numpy.arange(20, dtype="int64")
    assert (noise.noisy(counts[::-2]) == counts[::-2]).all()
    edge = numpy.full(200, 2**63 - 1, dtype="int64")
    with pytest.raises(ValueError, match="64-bit"):
        DiscreteGaussian(5).noisy(edge)
    assert (edge == 2**63 - 1).all()


def test_expected_errors_are_those_of_samples() -> None:
    noise = DiscreteGaussian(9)
    found = noise.errors([0, 3, 3])
    assert (found["margin_95"], found["cut_margin_95"]) == (6, None) and noise.errors(0)["cut_margin_95"] == 5
    sample = noise.sample(600_000, insecure_seed=3).reshape(3, -1)
    truth = numpy.array([[0], [3], [3]])
    cut = numpy.maximum(0, truth + sample) - truth
    for key, value in (
        ("mean_squared_error", (sample**2).mean()),
        ("cut_mean_squared_error", (cut**2).mean()),
        ("cut_mean_absolute_error", abs(cut).mean()),
        ("cut_bias", cut.mean()),
    ):
        assert abs(found[key].midpoint_float / value - 1) < 0.02, key
    for wrong in ([-1], [], [1.5], [[1]]):
        with pytest.raises((ValueError, TypeError)):
            noise.errors(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="discrete Gaussian"):
        DiscreteLaplace(1).errors(3)
    with pytest.raises(ValueError, match="1e8"):
        DiscreteGaussian(10**9).errors(3)
