"""Noise on lists, Series and data frames."""

from __future__ import annotations

import numpy
import pandas
import polars
import pytest

from dp_assay import DiscreteGaussian, DiscreteLaplace, add_noise

NONE = DiscreteLaplace(100)  # zero but with probability 1e-43


def test_what_goes_in_comes_out_with_its_name_and_index() -> None:
    assert add_noise([1, 2, 3], NONE) == [1, 2, 3] and add_noise([], NONE) == []
    series = pandas.Series([4, 5], index=["a", "b"], name="count")
    noisy = add_noise(series, NONE)
    assert isinstance(noisy, pandas.Series) and noisy.equals(series) and noisy.name == "count" and noisy is not series
    other = add_noise(polars.Series("count", [4, 5], dtype=polars.UInt8), NONE)
    assert isinstance(other, polars.Series) and other.to_list() == [4, 5] and other.name == "count"
    assert add_noise(numpy.array([7, 8], dtype="uint16"), NONE).dtype == numpy.int64
    assert add_noise(pandas.Series([1, 2], dtype="Int64"), NONE).tolist() == [1, 2]


def test_columns_of_data_frames_have_noise_of_their_own() -> None:
    table = {"block": ["x", "y", "z"] * 50, "persons": [100] * 150, "homes": [100] * 150}
    wide = DiscreteGaussian(1000)
    for frame in (pandas.DataFrame(table), polars.DataFrame(table)):
        noisy = add_noise(frame, {"persons": wide, "homes": wide}, insecure_seed=1)
        assert type(noisy) is type(frame) and list(noisy.columns) == list(frame.columns)
        assert list(noisy["block"]) == table["block"] and list(frame["persons"]) == table["persons"]
        first, second = numpy.asarray(noisy["persons"]), numpy.asarray(noisy["homes"])
        assert (first != second).any() and (first != 100).any()
        assert (numpy.asarray(add_noise(frame, {"persons": wide})["persons"]) != first).any()
        with pytest.raises(ValueError, match="no column 'people'"):
            add_noise(frame, {"people": wide})
        with pytest.raises(TypeError, match="column 'block'"):
            add_noise(frame, {"block": wide})
        with pytest.raises(TypeError, match="dict"):
            add_noise(frame, wide)


def test_what_is_not_whole_is_refused() -> None:
    noise = DiscreteGaussian(5)
    for wrong, error in (
        ([1.5], TypeError),
        ([True], TypeError),
        (["1"], TypeError),
        ([1, "2"], TypeError),
        ([[1, 2]], ValueError),
        ([2**70], ValueError),
        (numpy.array([2**64 - 1], dtype="uint64"), ValueError),
        (numpy.zeros(3), TypeError),
        (pandas.Series([1, None]), ValueError),
        (pandas.Series([1, None], dtype="Int64"), ValueError),
        (pandas.Series([1.0, 2.0]), TypeError),
        (polars.Series([1, None]), ValueError),
        (polars.Series(["a"]), TypeError),
        (5, ValueError),
    ):
        with pytest.raises(error):
            add_noise(wrong, noise)
    with pytest.raises(TypeError, match="expected a DiscreteGaussian"):
        add_noise([1], 5)
    with pytest.raises(TypeError, match="data frame"):
        add_noise([1], {"count": noise})
