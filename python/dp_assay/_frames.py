"""Noise on lists, arrays, Series, data frames and tables. numpy, pandas, polars and pyarrow are not imported for it: if such an object exists, they are already imported."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from . import _arrays, _arrow, _pandas, _polars
from ._counts import Column, MetadataWarning, Table, law_of
from ._native import verified_rows
from ._order import check_order


def add_noise(counts: Any, noise: Any, *, keep_metadata: bool = False, keep_order: bool = False, insecure_seed: int | None = None) -> Any:
    """Counts with fresh exact noise, of the same type as the argument; nothing is changed in place.

    counts: a list or tuple of ints; a one-dimensional numpy array; a Series, Index or array of pandas, a Series of polars, an Array or
    ChunkedArray of pyarrow; a DataFrame of pandas or polars, a Table or RecordBatch of pyarrow. For a subclass, such as GeoDataFrame, the
    result has the same class, index and names. noise: a DiscreteGaussian, DiscreteLaplace, TruncatedGaussian, TruncatedLaplace, Staircase, NoiseTable or RandomizedResponse; for a table a dict from the name of a
    column to its noise. Integers become 64-bit ones; those of pandas stay nullable or Arrow's if they were.

    Every count is checked before noise is drawn. TypeError for counts that are not integers; ValueError for missing and masked counts, names
    that no column or more than one column has, counts or sums that exceed 64 bits, and rows in the order of their true counts, as those of value_counts() are: the noisy rows
    would show that order. keep_order=True is for an order that does not come from the counts; an OrderWarning then says so.

    Metadata (DataFrame.attrs, the fields of a subclass, that of an Arrow schema and its fields) may hold true counts and is left out, and so
    are categories and levels of an index that no row has: they name keys that were removed. keep_metadata=True copies all of these, and a
    MetadataWarning lists them. insecure_seed is for tests: anyone who knows it can subtract the noise.
    """
    found = _adopted(counts, keep_metadata)
    if isinstance(noise, Mapping):
        if not hasattr(found, "labels"):
            raise TypeError("a dict of noise is for a data frame: give one noise for one list of counts")
        noisy = _noisy_table(found, noise, keep_order, insecure_seed)
    elif hasattr(found, "labels"):
        raise TypeError("noise for a data frame: expected a dict from column to noise, as in {'count': DiscreteGaussian(5)}")
    else:
        law, own = law_of(noise), found.integers()
        check_order("the rows are", own, found.keys(), keep_order)
        noisy = found.rebuilt(law.noisy(own, insecure_seed=insecure_seed))
    copied = found.metadata() if keep_metadata else []
    if copied:
        warnings.warn(f"copied without noise: {'; '.join(copied)}", MetadataWarning, stacklevel=2)
    return noisy


def _adopted(counts: Any, keep: bool) -> Any:
    """The counts, through the interface of their library."""
    found: Column | Table | None = _arrays.adopt(counts) or _pandas.adopt(counts, keep) or _polars.adopt(counts) or _arrow.adopt(counts, keep)
    if found is not None:
        return found
    if isinstance(counts, int):
        raise ValueError("a single number: expected a list of counts, as in [5]")
    raise TypeError(
        f"counts of type {type(counts).__name__}: expected a list of ints, a numpy array, or a Series or data frame of pandas, polars or pyarrow"
    )


def _noisy_table(table: Table, noise: Mapping[Any, Any], keep_order: bool, insecure_seed: int | None) -> Any:
    if not noise:
        raise ValueError("no column is named: without noise the table would be published as it is")
    labels, drawn = table.labels(), {}
    for name, law in noise.items():
        position = _position(labels, name)
        try:
            drawn[position] = (name, law_of(law), table.column(position).integers())
        except (TypeError, ValueError) as error:
            raise type(error)(f"column {name!r}: {error}") from None
    keys = table.keys(set(drawn))
    for name, _, counts in drawn.values():
        check_order(f"column {name!r}: the rows are", counts, keys, keep_order)
    noisy = {}
    for number, (position, (name, law, counts)) in enumerate(drawn.items()):
        # Each column has a seed of its own, or two columns would have the same noise.
        seed = None if insecure_seed is None else insecure_seed + number
        try:
            noisy[position] = law.noisy(counts, insecure_seed=seed)
        except ValueError as error:
            raise ValueError(f"column {name!r}: {error}") from None
    return table.rebuilt(noisy)


def _position(labels: list[Any], name: Any) -> int:
    """The position of the only column of this name."""
    found = [position for position, label in enumerate(labels) if _equal(label, name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(f"{len(found)} columns are named {name!r}: their noise would be drawn from one budget; give them different names")
    inside = [label for label in labels if isinstance(label, tuple) and any(_equal(part, name) for part in label)]
    if inside:
        raise ValueError(f"no column {name!r}, which is one part of the names of {len(inside)}: expected a whole name, as {inside[0]!r}")
    shown = ", ".join(repr(label) if not isinstance(label, str) else label for label in labels[:20])
    raise ValueError(f"no column {name!r}: the data frame has {shown}{', ...' if len(labels) > 20 else ''}")


def _equal(label: Any, name: Any) -> bool:
    if label is name:
        return True
    try:
        return bool(label == name)
    except (TypeError, ValueError):  # a missing value is equal to nothing
        return False


def verify(papers: str | Iterable[str] = (), *, frame: str = "pandas") -> Any:
    """Published values recomputed, a row each: paper, id, place, printed, computed, verdict, note, erratum.

    papers: the keys of bundled papers, or paths of TOML or CSV files of the same form; all papers if none is named. frame: "pandas", "polars", or "none" for a list of dicts. In a
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
