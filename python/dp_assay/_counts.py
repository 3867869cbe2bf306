"""Counts as 64-bit integers, or their errors, before any noise is drawn."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ._native import Account, IntegerNoise


class MetadataWarning(UserWarning):
    """Metadata of the counts was copied to the noisy ones because of keep_metadata=True: it has no noise."""


class Column(Protocol):
    """A list, array, Series or column of counts."""

    def integers(self) -> Any:
        """The counts as an int64 array; TypeError or ValueError states their error."""
        ...

    def keys(self) -> list[Any]:
        """The columns of keys of the counts, none if they have only places."""
        ...

    def rebuilt(self, noisy: Any) -> Any:
        """Noisy counts, an int64 array, as an object of the same type."""
        ...

    def metadata(self) -> list[str]:
        """The metadata that keep_metadata copies, in words: its place and the keys, never the values."""
        ...


class Table(Protocol):
    """A data frame or table."""

    def labels(self) -> list[Any]:
        """The names of its columns, which need neither be texts nor differ."""
        ...

    def column(self, position: int) -> Column:
        """One of its columns."""
        ...

    def keys(self, noisy: set[int]) -> list[Any]:
        """The columns of keys of its rows: the index if it has names of its own, and the columns without noise."""
        ...

    def rebuilt(self, noisy: dict[int, Any]) -> Any:
        """An object of the same type with these columns, int64 arrays, in place of its own."""
        ...

    def metadata(self) -> list[str]:
        """The metadata that keep_metadata copies, in words."""
        ...


def loaded(name: str) -> Any:
    """A module that is already imported. No object of another module can exist, so nothing is imported to look up its classes."""
    return sys.modules.get(name)


def refused(kind: str, hint: str = "") -> TypeError:
    """The error of counts that are not integers."""
    return TypeError(f"counts {kind}: expected integers{'; ' + hint if hint else ''}")


def missing(number: int, of: int, first: int, word: str = "missing") -> ValueError:
    """The error of missing counts."""
    what = f"1 of {of} counts is {word}" if number == 1 else f"{number} of {of} counts are {word}"
    return ValueError(f"{what}, the first at position {first} (from 0): noise is added to integers alone; fill or drop them before")


def beyond() -> ValueError:
    """The error of counts outside of int64."""
    return ValueError("a count of more than 64 bits: expected counts from -2^63 to 2^63 - 1")


_DRAWN = "DiscreteGaussian, DiscreteLaplace, TruncatedGaussian, TruncatedLaplace, Staircase, NoiseTable or RandomizedResponse"


def law_of(noise: Any) -> IntegerNoise:
    """The noise, if it can be drawn."""
    if isinstance(noise, IntegerNoise):
        return noise
    if isinstance(noise, Account):
        raise TypeError(f"noise of type {type(noise).__name__}, which is accounted for and not drawn: expected {_DRAWN}")
    raise TypeError(f"noise of type {type(noise).__name__}: expected {_DRAWN}")


def of_items(items: Sequence[Any]) -> Any:
    """Counts given one by one: Python's integers, numpy's, and other types that declare to be integers."""
    import numpy

    if not set(map(type, items)) <= {int}:
        _check_items(items)
        items = [operator.index(item) for item in items]
    try:
        return numpy.array(items, dtype="int64")
    except OverflowError:
        raise beyond() from None


def _check_items(items: Sequence[Any]) -> None:
    import numpy

    absent = [position for position, item in enumerate(items) if _is_missing(item)]
    if absent:
        raise missing(len(absent), len(items), absent[0])
    for position, item in enumerate(items):
        where = f"of type {type(item).__name__} (the first at position {position}, from 0)"
        if getattr(item, "ndim", 0) or isinstance(item, (list, tuple)):
            raise ValueError(f"counts {where}: expected one dimension")
        # An array of zero dimensions may be masked, and its index is no integer then.
        if isinstance(item, (bool, numpy.bool_, numpy.ndarray)) or not hasattr(type(item), "__index__"):
            raise refused(where)


def _is_missing(item: Any) -> bool:
    if item is None:
        return True
    masked, pandas = loaded("numpy.ma"), loaded("pandas")
    if masked is not None and item is masked.masked:
        return True
    if pandas is not None and (item is pandas.NA or item is pandas.NaT):
        return True
    return isinstance(item, float) and item != item


# The kinds of numpy's types, in words.
_KINDS = {"b": "truth values", "f": "floats", "c": "complex numbers", "U": "texts", "S": "bytes", "M": "dates", "m": "durations", "V": "records"}
_WHOLE = "where all are whole, .astype('int64') makes them so"


def of_array(array: Any) -> Any:
    """Counts of a plain numpy array."""
    if array.ndim != 1:
        raise ValueError(f"counts of {array.ndim} dimensions: expected one; use .ravel() and reshape the answer")
    if array.dtype.kind == "O":
        return of_items(array.tolist())
    if array.dtype.kind not in "iu":
        kind = _KINDS.get(array.dtype.kind, "no numbers")
        hint = {"f": _WHOLE, "V": "give one of its fields"}.get(array.dtype.kind, "")
        raise refused(f"of dtype {array.dtype}, which are {kind}", hint)
    if array.dtype.kind == "u" and array.size and int(array.max()) > 2**63 - 1:
        raise beyond()
    return array.astype("int64", copy=False)


def same_class(original: Any, plain: Any, makers: Sequence[Callable[[Any], Any]]) -> Any:
    """An object of a library as one of the original's subclass, or TypeError if the subclass cannot be made of it."""
    kind = type(original)
    if type(plain) is kind:
        return plain
    why: Exception | None = None
    every: list[Callable[[Any], Any]] = [*makers, kind]
    for make in every:
        try:
            made = make(plain)
        except Exception as error:  # the constructor of a subclass may raise anything
            why = error
        else:
            if type(made) is kind and len(made) == len(plain):
                return made
    raise TypeError(f"a {kind.__name__} cannot be made of a {type(plain).__name__}: give the {type(plain).__name__} itself") from why
