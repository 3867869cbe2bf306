"""Counts in Series and data frames of polars, which has no metadata."""

from __future__ import annotations

from typing import Any

from ._counts import Column, Table, beyond, loaded, missing, of_array, of_items, refused, same_class


def adopt(counts: Any) -> Column | Table | None:
    """The object of polars as counts; None for anything else."""
    polars = loaded("polars")
    if polars is None or not hasattr(polars, "DataFrame"):
        return None
    if isinstance(counts, polars.LazyFrame):
        # Noise in a lazy plan would be drawn again at every .collect(), and spend the budget each time.
        raise TypeError("a LazyFrame has no counts yet, and each .collect() would draw other noise: collect it once, before noise is added")
    if isinstance(counts, polars.Expr):
        raise TypeError("an expression has no counts yet: give a Series or a DataFrame")
    if isinstance(counts, polars.DataFrame):
        return Frame(counts)
    return Series(counts) if isinstance(counts, polars.Series) else None


class Series:
    """A Series, which becomes Int64."""

    def __init__(self, counts: Any) -> None:
        self.counts = counts

    def integers(self) -> Any:
        import polars

        own, dtype = self.counts, self.counts.dtype
        if own.null_count():
            raise missing(own.null_count(), len(own), own.is_null().arg_max() or 0)
        if dtype == polars.Object:
            return of_items(own.to_list())
        if not dtype.is_integer():
            raise refused(f"of dtype {dtype}", "where all are whole, .cast(polars.Int64) makes them so" if dtype.is_numeric() else "")
        try:
            wide = own.cast(polars.Int64, strict=True)
        except polars.exceptions.InvalidOperationError:
            raise beyond() from None
        return of_array(wide.to_numpy())

    def rebuilt(self, noisy: Any) -> Any:
        import polars

        return same_class(self.counts, polars.Series(self.counts.name, noisy, dtype=polars.Int64), [])

    def keys(self) -> list[Any]:
        return []

    def metadata(self) -> list[str]:
        return []


class Frame:
    """A data frame."""

    def __init__(self, counts: Any) -> None:
        self.counts = counts

    def labels(self) -> list[Any]:
        return list(self.counts.columns)

    def column(self, position: int) -> Column:
        return Series(self.counts.to_series(position))

    def keys(self, noisy: set[int]) -> list[Any]:
        return [self.counts.to_series(position).to_list() for position in range(self.counts.width) if position not in noisy]

    def rebuilt(self, noisy: dict[int, Any]) -> Any:
        import polars

        names = self.counts.columns
        columns = [polars.Series(names[position], column, dtype=polars.Int64) for position, column in noisy.items()]
        return same_class(self.counts, self.counts.with_columns(columns), [])

    def metadata(self) -> list[str]:
        return []
