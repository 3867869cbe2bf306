"""Counts in lists, tuples and numpy arrays. numpy is imported when it is used."""

from __future__ import annotations

from typing import Any

from ._counts import Column, loaded, missing, of_array, of_items


def adopt(counts: Any) -> Column | None:
    """The list or array as counts; None for anything else."""
    if isinstance(counts, (list, tuple)):
        return Items(counts)
    numpy = loaded("numpy")
    if numpy is None or not isinstance(counts, numpy.ndarray):
        return None
    masked = loaded("numpy.ma")
    if masked is not None and isinstance(counts, masked.MaskedArray):
        return Masked(counts)
    return Array(counts)


class Items:
    """A list or tuple of ints."""

    def __init__(self, counts: list[Any] | tuple[Any, ...]) -> None:
        self.counts = counts

    def integers(self) -> Any:
        return of_items(self.counts)

    def rebuilt(self, noisy: Any) -> Any:
        return noisy.tolist() if isinstance(self.counts, list) else tuple(noisy.tolist())

    def keys(self) -> list[Any]:
        return []

    def metadata(self) -> list[str]:
        return []


class Array:
    """A numpy array; an array that is mapped from a file becomes a plain one."""

    def __init__(self, counts: Any) -> None:
        self.counts = counts

    def integers(self) -> Any:
        import numpy

        kind = type(self.counts)
        if kind is not numpy.ndarray and not issubclass(kind, (numpy.memmap, numpy.matrix, numpy.recarray)):
            # A unit, or other properties of the subclass, would be lost.
            raise TypeError(f"counts of type {kind.__name__}, an array with a meaning of its own: give numpy.asarray(counts)")
        return of_array(numpy.asarray(self.counts))

    def rebuilt(self, noisy: Any) -> Any:
        return noisy

    def keys(self) -> list[Any]:
        return []

    def metadata(self) -> list[str]:
        return []


class Masked:
    """A masked array. Masked values were withheld: they get no noise and are not published."""

    def __init__(self, counts: Any) -> None:
        self.counts = counts

    def integers(self) -> Any:
        import numpy

        mask = numpy.ma.getmaskarray(self.counts)
        if mask.dtype.kind == "b" and mask.any():
            where = int(mask.ravel().argmax())
            raise missing(int(mask.sum()), mask.size, where, "masked")
        return of_array(numpy.ma.getdata(self.counts))

    def rebuilt(self, noisy: Any) -> Any:
        import numpy

        return numpy.ma.array(noisy)

    def keys(self) -> list[Any]:
        return []

    def metadata(self) -> list[str]:
        return []
