"""Counts in Series, Index, arrays and data frames of pandas, and in their subclasses."""

from __future__ import annotations

import copy
from typing import Any

from ._counts import Column, Table, loaded, missing, of_array, of_items, refused, same_class


def adopt(counts: Any, keep: bool) -> Column | Table | None:
    """The object of pandas as counts; None for anything else."""
    pandas = loaded("pandas")
    if pandas is None or not hasattr(pandas, "DataFrame"):
        return None
    if isinstance(counts, pandas.DataFrame):
        return Frame(counts, keep)
    if isinstance(counts, pandas.Series):
        return Series(counts, keep)
    if isinstance(counts, pandas.Index):
        return Index(counts)
    if isinstance(counts, pandas.api.extensions.ExtensionArray):
        return Extension(counts)
    return None


def _integers(counts: Any) -> Any:
    """Counts of a Series, an Index or an array."""
    import pandas

    dtype = counts.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        raise refused("that are categorical", "a category is no count; .astype('int64') makes counts of whole numbers")
    absent = pandas.isna(counts)
    number = int(absent.sum())
    if number:
        raise missing(number, len(counts), int(absent.argmax()))
    if pandas.api.types.is_object_dtype(dtype):
        return of_items(list(counts))
    if not pandas.api.types.is_integer_dtype(dtype):
        whole = pandas.api.types.is_float_dtype(dtype)
        raise refused(f"of dtype {dtype}", "where all are whole, .astype('int64') makes them so" if whole else "")
    if isinstance(dtype, pandas.api.extensions.ExtensionDtype) and not hasattr(dtype, "numpy_dtype") and not isinstance(dtype, pandas.SparseDtype):
        # A unit, or other properties of another library's type, would be lost.
        raise refused(f"of dtype {dtype}, a type with a meaning of its own", "give plain integers")
    wide = "uint64" if pandas.api.types.is_unsigned_integer_dtype(dtype) else "int64"
    return of_array(pandas.array(counts).to_numpy(dtype=wide))


def _noisy(like: Any, noisy: Any) -> Any:
    """int64 in the style of the dtype: numpy's, nullable or Arrow's. Sparse counts become dense: noise is rarely zero."""
    import pandas

    dtype = like.dtype
    arrow = getattr(pandas, "ArrowDtype", None)
    if arrow is not None and isinstance(dtype, arrow):
        import pyarrow

        return pandas.array(noisy, dtype=arrow(pyarrow.int64()))
    return pandas.array(noisy, dtype="Int64") if isinstance(dtype, _nullable()) else noisy


def _nullable() -> tuple[type, ...]:
    import pandas

    return tuple(getattr(pandas, f"{sign}Int{bits}Dtype") for sign in ("", "U") for bits in (8, 16, 32, 64))


def _keys(where: str, keys: Any) -> list[str]:
    return [f"{where} {', '.join(repr(key) for key in keys)}"] if keys else []


def _own_fields(counts: Any) -> list[str]:
    """The fields that a subclass copies from object to object, by pandas' interface for subclasses."""
    return [name for name in getattr(counts, "_metadata", []) if name != "_name" and name != "name"]


def _carry(counts: Any, made: Any, labels: list[Any], keep: bool) -> Any:
    """The metadata that is kept, and fields of a subclass that only name one of its columns, such as that of the geometry."""
    for name in _own_fields(counts):
        value = getattr(counts, name, None)
        names_column = isinstance(value, str) and value in labels
        if keep or names_column:
            object.__setattr__(made, name, copy.deepcopy(value))
    made.attrs = copy.deepcopy(counts.attrs) if keep else {}
    return made


def _index_keys(index: Any) -> list[Any]:
    """The columns of keys of an index; none if it only numbers the rows."""
    import pandas

    if isinstance(index, pandas.RangeIndex):
        return []
    return [index.get_level_values(level) for level in range(index.nlevels)]


def _used(labels: Any) -> Any:
    """An index without the categories and levels that no row has: the same labels in the same order."""
    import pandas

    if isinstance(labels, pandas.MultiIndex):
        labels = labels.remove_unused_levels()
        for number, level in enumerate(labels.levels):
            if isinstance(level, pandas.CategoricalIndex):
                labels = labels.set_levels(level.remove_unused_categories(), level=number)
        return labels
    return labels.remove_unused_categories() if isinstance(labels, pandas.CategoricalIndex) else labels


def _unused(where: str, labels: Any) -> list[str]:
    """The categories or levels that no row has, in words without their names."""
    import pandas

    if isinstance(labels, pandas.MultiIndex):
        number = sum(len(level) - len(labels.get_level_values(at).unique().dropna()) for at, level in enumerate(labels.levels))
        number += sum(len(level.categories) - len(level) for level in labels.levels if isinstance(level, pandas.CategoricalIndex))
    else:
        dtype = labels.dtype
        number = len(dtype.categories) - labels.nunique() if isinstance(dtype, pandas.CategoricalDtype) else 0
    return [f"{number} unused categories of {where}"] if number > 0 else []


def _said(counts: Any, labels: list[Any]) -> list[str]:
    kind = type(counts).__name__
    fields = [(name, getattr(counts, name, None)) for name in _own_fields(counts)]
    own = [name for name, value in fields if value is not None and not (isinstance(value, str) and value in labels)]
    return _keys(f"{kind}.attrs", counts.attrs) + _keys(f"fields of {kind}", own)


class Series:
    """A Series: the result has the same class, index and name."""

    def __init__(self, counts: Any, keep: bool) -> None:
        self.counts, self.keep = counts, keep

    def integers(self) -> Any:
        return _integers(self.counts)

    def rebuilt(self, noisy: Any) -> Any:
        import pandas

        own = self.counts
        plain = pandas.Series(_noisy(own, noisy), index=own.index if self.keep else _used(own.index), name=own.name)
        return _carry(own, same_class(own, plain, [own._constructor]), [], self.keep)

    def keys(self) -> list[Any]:
        return _index_keys(self.counts.index)

    def metadata(self) -> list[str]:
        return _said(self.counts, []) + _unused("the index", self.counts.index)


class Index:
    """An Index: the result has its name."""

    def __init__(self, counts: Any) -> None:
        self.counts = counts

    def integers(self) -> Any:
        import pandas

        if isinstance(self.counts, pandas.MultiIndex):
            raise refused("in a MultiIndex", "give one of its levels: .get_level_values(...)")
        return _integers(self.counts)

    def rebuilt(self, noisy: Any) -> Any:
        import pandas

        return pandas.Index(_noisy(self.counts, noisy), name=self.counts.name)

    def keys(self) -> list[Any]:
        return []

    def metadata(self) -> list[str]:
        return []


class Extension:
    """An array of pandas, such as `.array` of a Series."""

    def __init__(self, counts: Any) -> None:
        self.counts = counts

    def integers(self) -> Any:
        return _integers(self.counts)

    def rebuilt(self, noisy: Any) -> Any:
        import pandas

        return pandas.Series(_noisy(self.counts, noisy)).array

    def keys(self) -> list[Any]:
        return []

    def metadata(self) -> list[str]:
        return []


class Frame:
    """A data frame, or one of a subclass such as GeoDataFrame: columns are replaced by position, so that names may be anything."""

    def __init__(self, counts: Any, keep: bool) -> None:
        self.counts, self.keep = counts, keep

    def labels(self) -> list[Any]:
        return list(self.counts.columns)

    def column(self, position: int) -> Column:
        import pandas

        # A column of a subclass may be of a subclass, too: here only its numbers are used.
        return Series(pandas.Series(self.counts.iloc[:, position]), keep=False)

    def rebuilt(self, noisy: dict[int, Any]) -> Any:
        import pandas

        own = self.counts
        plain = pandas.DataFrame(own, copy=True)
        plain.attrs = {}
        for position, column in noisy.items():
            plain.isetitem(position, _noisy(own.iloc[:, position], column))
        if not self.keep:
            plain.index, plain.columns = _used(plain.index), _used(plain.columns)
            for position in self._categorical():
                plain.isetitem(position, plain.iloc[:, position].cat.remove_unused_categories())
        made = same_class(own, plain, [own._constructor])
        if made.shape != own.shape or not made.columns.equals(plain.columns) or not made.index.equals(plain.index):
            raise TypeError(f"a {type(own).__name__} cannot be made of a DataFrame: give the DataFrame itself")
        made.flags.allows_duplicate_labels = own.flags.allows_duplicate_labels
        return _carry(own, made, self.labels(), self.keep)

    def _categorical(self) -> list[int]:
        import pandas

        return [position for position, dtype in enumerate(self.counts.dtypes) if isinstance(dtype, pandas.CategoricalDtype)]

    def keys(self, noisy: set[int]) -> list[Any]:
        others = [position for position in range(self.counts.shape[1]) if position not in noisy]
        return _index_keys(self.counts.index) + [self.counts.iloc[:, position] for position in others]

    def metadata(self) -> list[str]:
        own, labels = self.counts, self.labels()
        unused = _unused("the index", own.index) + _unused("the columns", own.columns)
        for position in self._categorical():
            unused += _unused(f"the column {labels[position]!r}", own.iloc[:, position])
        return _said(own, labels) + unused
