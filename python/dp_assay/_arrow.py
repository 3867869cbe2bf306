"""Counts in arrays and tables of pyarrow. The metadata of a schema and of its fields is dropped unless requested."""

from __future__ import annotations

from typing import Any

from ._counts import Column, Table, beyond, loaded, missing, of_array, refused


def adopt(counts: Any, keep: bool) -> Column | Table | None:
    """The object of pyarrow as counts; None for anything else."""
    pyarrow = loaded("pyarrow")
    if pyarrow is None or not hasattr(pyarrow, "Table"):
        return None
    if isinstance(counts, (pyarrow.Table, pyarrow.RecordBatch)):
        return Tabular(counts, keep)
    return Array(counts) if isinstance(counts, (pyarrow.Array, pyarrow.ChunkedArray)) else None


class Array:
    """An Array or ChunkedArray, which becomes int64."""

    def __init__(self, counts: Any) -> None:
        self.counts = counts

    def integers(self) -> Any:
        import pyarrow

        own = self.counts
        if not pyarrow.types.is_integer(own.type):
            raise refused(f"of type {own.type}", "where all are whole, .cast('int64') makes them so" if pyarrow.types.is_floating(own.type) else "")
        if own.null_count:
            raise missing(own.null_count, len(own), own.is_null().index(True).as_py())
        try:
            wide = own.cast(pyarrow.int64(), safe=True)
        except pyarrow.ArrowInvalid:
            raise beyond() from None
        return of_array(wide.to_numpy() if isinstance(wide, pyarrow.ChunkedArray) else wide.to_numpy(zero_copy_only=False))

    def rebuilt(self, noisy: Any) -> Any:
        import pyarrow

        array = pyarrow.array(noisy, pyarrow.int64())
        return pyarrow.chunked_array([array]) if isinstance(self.counts, pyarrow.ChunkedArray) else array

    def keys(self) -> list[Any]:
        return []

    def metadata(self) -> list[str]:
        return []


class Tabular:
    """A Table or RecordBatch."""

    def __init__(self, counts: Any, keep: bool) -> None:
        self.counts, self.keep = counts, keep

    def labels(self) -> list[Any]:
        return list(self.counts.schema.names)

    def column(self, position: int) -> Column:
        return Array(self.counts.column(position))

    def keys(self, noisy: set[int]) -> list[Any]:
        return [self.counts.column(position).to_pylist() for position in range(self.counts.num_columns) if position not in noisy]

    def rebuilt(self, noisy: dict[int, Any]) -> Any:
        import pyarrow

        own = self.counts
        arrays, fields = [], []
        for position, field in enumerate(own.schema):
            column = own.column(position)
            if position in noisy:
                column, field = Array(column).rebuilt(noisy[position]), field.with_type(pyarrow.int64())
            elif not self.keep and _inner_metadata(field.type):
                raise ValueError(
                    f"column {field.name!r} has metadata in the fields of its type {field.type}: give the table without it, or keep_metadata=True"
                )
            elif not self.keep and pyarrow.types.is_dictionary(field.type):
                column = _used(column)
            arrays.append(column)
            fields.append(field if self.keep else field.remove_metadata())
        schema = pyarrow.schema(fields, metadata=own.schema.metadata if self.keep else None)
        return type(own).from_arrays(arrays, schema=schema)

    def metadata(self) -> list[str]:
        schema = self.counts.schema
        all_keys = [("the schema", schema.metadata), *((f"the field {field.name!r}", field.metadata) for field in schema)]
        inner = [f"the type of the column {field.name!r}" for field in schema if _inner_metadata(field.type)]
        said = [f"{where} {', '.join(repr(key.decode(errors='replace')) for key in keys)}" for where, keys in all_keys if keys]
        return said + inner + [f"the dictionary of the column {field.name!r}" for field in schema if str(field.type).startswith("dictionary")]


def _used(column: Any) -> Any:
    """A dictionary column whose dictionary has the values of its rows alone."""
    return column.cast(column.type.value_type).dictionary_encode().cast(column.type)


def _inner_metadata(kind: Any) -> bool:
    """Whether a type of lists or records has metadata somewhere in it."""
    fields = [kind.field(number) for number in range(kind.num_fields)] if hasattr(kind, "field") else []
    return any(field.metadata or _inner_metadata(field.type) for field in fields)
