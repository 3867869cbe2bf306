"""Noise on lists, arrays, Series and data frames, and tables as data frames. numpy, pandas and polars are imported when they are used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._native import IntegerNoise, verified_rows


def add_noise(counts: Any, noise: Any, *, insecure_seed: int | None = None) -> Any:
    """Counts with fresh exact noise, of the same kind as what was given; nothing is changed in place.

    counts: a list of ints, a one-dimensional integer array, a pandas or polars Series of integers, or a data frame. noise: a
    DiscreteGaussian or DiscreteLaplace; for a data frame a dict from column to noise. Integers become int64.

    TypeError for columns that are no integers; ValueError for missing values, and for sums that leave 64 bits. insecure_seed is for
    tests: whoever knows it can subtract the noise.
    """
    library = type(counts).__module__.partition(".")[0]
    if hasattr(counts, "columns") and library in ("pandas", "polars"):
        return _noisy_frame(counts, noise, library, insecure_seed)
    if isinstance(noise, Mapping):
        raise TypeError("a dict of noise is for a data frame: give one noise for one list of counts")
    if not isinstance(noise, IntegerNoise):
        raise TypeError(f"noise of type {type(noise).__name__}: expected a DiscreteGaussian or a DiscreteLaplace")
    noisy = noise.noisy(_integers(counts), insecure_seed=insecure_seed)
    if library == "pandas":
        return type(counts)(noisy, index=counts.index, name=counts.name)
    if library == "polars":
        return type(counts)(counts.name, noisy)
    return noisy.tolist() if isinstance(counts, list) else noisy


def _noisy_frame(frame: Any, noise: Any, library: str, insecure_seed: int | None) -> Any:
    if not isinstance(noise, Mapping):
        raise TypeError("noise for a data frame: expected a dict from column to noise, as in {'count': DiscreteGaussian(5)}")
    columns = {}
    for number, (name, law) in enumerate(noise.items()):
        if name not in frame.columns:
            known = ", ".join(str(column) for column in frame.columns)
            raise ValueError(f"no column {name!r}: the data frame has {known}")
        # Each column has a seed of its own, or two columns would have the same noise.
        seed = None if insecure_seed is None else insecure_seed + number
        try:
            columns[name] = add_noise(frame[name], law, insecure_seed=seed)
        except (TypeError, ValueError) as error:
            raise type(error)(f"column {name!r}: {error}") from None
    if library == "pandas":
        return frame.assign(**columns)
    return frame.with_columns(*columns.values())


def _integers(counts: Any) -> Any:
    """An int64 array of counts, or what is wrong with them."""
    import numpy

    missing = getattr(counts, "null_count", None) or getattr(counts, "isna", None)
    if callable(missing):
        found = missing()
        number = int(found.sum()) if hasattr(found, "sum") else int(found)
        if number:
            raise ValueError(f"{number} missing counts: expected integers throughout")
    array = numpy.asarray(counts)
    if array.size == 0 and isinstance(counts, list):
        array = array.astype("int64")
    if array.dtype.kind == "O":
        items = array.ravel().tolist()
        if any(isinstance(item, bool) or not isinstance(item, int) for item in items):
            raise TypeError("counts of mixed types: expected integers")
        try:
            array = numpy.array(items, dtype="int64")
        except OverflowError:
            raise ValueError("a count beyond 64 bits: expected counts from -2^63 to 2^63 - 1") from None
    if array.dtype.kind not in "iu":
        raise TypeError(f"counts of dtype {array.dtype}: expected integers")
    if array.ndim != 1:
        raise ValueError(f"counts of {array.ndim} dimensions: expected one; use .ravel() and reshape the answer")
    if array.dtype.kind == "u" and array.size and int(array.max()) > 2**63 - 1:
        raise ValueError("a count beyond 64 bits: expected counts up to 2^63 - 1")
    return array.astype("int64", copy=False)


def verify(papers: str | Iterable[str] = (), *, frame: str = "pandas") -> Any:
    """Published values recomputed, a row each: paper, id, place, printed, computed, verdict, note, erratum.

    papers: the keys of bundled papers, or paths of TOML files of the same form; all papers if none is named. frame: "pandas", "polars", or "none" for a list of dicts. In a
    polars frame computed values are texts. Takes some seconds for one paper and longer for all.
    """
    rows = verified_rows([papers] if isinstance(papers, str) else list(papers))
    if frame == "none":
        return rows
    if frame == "pandas":
        import pandas

        return pandas.DataFrame(rows)
    if frame == "polars":
        import polars

        texts = [{key: None if value is None else str(value) for key, value in row.items()} for row in rows]
        return polars.DataFrame(texts, infer_schema_length=None)
    raise ValueError(f'frame = {frame!r}: expected "pandas", "polars" or "none"')
