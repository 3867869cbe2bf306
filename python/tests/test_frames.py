"""Noise on lists, arrays, Series, data frames and tables: the accepted objects, and the type of the result."""

from __future__ import annotations

import array
import copy
import decimal
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pandas
import polars
import pytest

from dp_assay import DiscreteGaussian, DiscreteLaplace, Gaussian, MetadataWarning, OrderWarning, add_noise

NONE = DiscreteLaplace(100)  # zero but with probability 1e-43
WIDE = DiscreteGaussian(10**6)
arrow = pytest.importorskip("pyarrow")


class OwnSeries(pandas.Series):
    """A subclass that does not define its constructor."""


class OwnFrame(pandas.DataFrame):
    """A subclass that carries a field."""

    _metadata = ["true_total"]

    @property
    def _constructor(self) -> Callable[..., Any]:
        return OwnFrame


class Unmakeable(pandas.Series):
    def __init__(self, data: Any, unit: str) -> None:
        super().__init__(data)

    @property
    def _constructor(self) -> Callable[..., Any]:
        return pandas.Series


def rows(made: Any) -> list[Any]:
    """The values, as a list."""
    return list(made.to_pylist() if hasattr(made, "to_pylist") else made.tolist() if hasattr(made, "tolist") else made)


# Objects with the counts 4 and 5, and a description of the result.
TAKEN: list[tuple[Any, str]] = [
    ([4, 5], ""),
    ((4, 5), ""),
    ([numpy.int8(4), 5], ""),
    (numpy.array([4, 5]), "int64"),
    (numpy.array([4, 5], dtype="uint16"), "int64"),
    (numpy.array([4, 5], dtype=">i4"), "int64"),
    (numpy.array([4, numpy.uint8(5)], dtype=object), "int64"),
    (numpy.array([4, 0, 5])[::2], "int64"),
    (numpy.ma.array([4, 5]), "int64"),
    (numpy.ma.array([4, 5], mask=[False, False]), "int64"),
    (pandas.Series([4, 5], index=["a", "b"], name="count"), "int64"),
    (pandas.Series([4, 5], dtype="uint8"), "int64"),
    (pandas.Series([4, 5], dtype="Int8"), "Int64"),
    (pandas.Series([4, 5], dtype="UInt64"), "Int64"),
    (pandas.Series([4, 5], dtype="int32[pyarrow]"), "int64[pyarrow]"),
    (pandas.Series([4, 5], dtype=pandas.SparseDtype("int64", 4)), "int64"),
    (pandas.Series([4, numpy.int64(5)], dtype=object), "int64"),
    (pandas.Series([4, 5], index=pandas.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", None]), name=7), "int64"),
    (OwnSeries([4, 5], index=["a", "b"], name="count"), "int64"),
    (pandas.Index([4, 5], name="count"), "int64"),
    (pandas.RangeIndex(4, 6, name="count"), "int64"),
    (pandas.array([4, 5], dtype="Int16"), "Int64"),
    (pandas.Series([4, 5]).array, "int64"),
    (polars.Series("count", [4, 5], dtype=polars.UInt8), "Int64"),
    (polars.Series("count", [4, 5], dtype=polars.Int128), "Int64"),
    (polars.Series("count", [4, 5], dtype=polars.Object), "Int64"),
    (polars.concat([polars.Series("count", [4]), polars.Series("count", [5])], rechunk=False), "Int64"),
    (arrow.array([4, 5], arrow.uint8()), "int64"),
    (arrow.chunked_array([[4], [5]], arrow.int32()), "int64"),
]


@pytest.mark.parametrize(("counts", "dtype"), TAKEN, ids=lambda value: f"{type(value).__name__} {getattr(value, 'dtype', getattr(value, 'type', value))}")
def test_the_result_has_the_type_of_the_input(counts: Any, dtype: str) -> None:
    before = copy.deepcopy(counts)
    noisy = add_noise(counts, NONE)
    # The names of these classes state the width of their integers, so the class changes.
    wide = {pandas.RangeIndex: pandas.Index, arrow.UInt8Array: arrow.Int64Array}
    taken = wide.get(type(counts), type(counts))
    assert type(noisy) is taken and rows(noisy) == [4, 5] and noisy is not counts
    assert not dtype or str(getattr(noisy, "dtype", getattr(noisy, "type", None))) == dtype
    for kept in ("name", "names"):
        assert getattr(noisy, kept, None) == getattr(counts, kept, None)
    if isinstance(counts, pandas.Series):
        assert noisy.index.equals(counts.index) and noisy.index.names == counts.index.names
    # The result has noise, and the input is unchanged.
    other = rows(add_noise(counts, WIDE))
    assert other != [4, 5] and all(isinstance(count, (int, numpy.integer)) for count in other)
    assert rows(counts) == rows(before) == [4, 5]


REFUSED: list[tuple[Any, type[Exception], str]] = [
    ([1.5], TypeError, "of type float .the first at position 0"),
    ([True], TypeError, "of type bool"),
    ([1, "2"], TypeError, "of type str .the first at position 1"),
    ([1, decimal.Decimal(2)], TypeError, "of type Decimal"),
    ([1, numpy.bool_(True)], TypeError, "of type bool"),
    ([1, numpy.ma.array(5, mask=True)], TypeError, "of type MaskedArray"),
    ([[1, 2]], ValueError, "expected one dimension"),
    ([numpy.array([1])], ValueError, "expected one dimension"),
    ([2**70], ValueError, "more than 64 bits"),
    ([1, None], ValueError, "1 of 2 counts is missing, the first at position 1"),
    ([float("nan"), None], ValueError, "2 of 2 counts are missing"),
    ([1, numpy.ma.masked], ValueError, "1 of 2 counts is missing"),
    ([1, pandas.NA], ValueError, "missing"),
    (numpy.array([2**64 - 1], dtype="uint64"), ValueError, "more than 64 bits"),
    (numpy.zeros(3), TypeError, "dtype float64, which are floats.*astype"),
    (numpy.array(["1"]), TypeError, "which are texts"),
    (numpy.array([True]), TypeError, "which are truth values"),
    (numpy.array([(1, 2)], dtype=[("a", int), ("b", int)]), TypeError, "one of its fields"),
    (numpy.array([1, "x"], dtype=object), TypeError, "of type str .the first at position 1"),
    (numpy.array([1, None], dtype=object), ValueError, "1 of 2 counts is missing"),
    (numpy.zeros((2, 2), dtype=int), ValueError, "2 dimensions"),
    (numpy.array(5), ValueError, "0 dimensions"),
    (numpy.ma.array([10**6, 5], mask=[True, False]), ValueError, "1 of 2 counts is masked, the first at position 0"),
    (numpy.ma.array([1, 2, 3], mask=True), ValueError, "3 of 3 counts are masked"),
    (numpy.ma.array([[1, 2], [3, 4]], mask=[[0, 0], [1, 0]]), ValueError, "1 of 4 counts is masked"),
    (numpy.ma.array([1.0, 2.0], mask=[0, 0]), TypeError, "floats"),
    (numpy.arange(3).view(type("Metres", (numpy.ndarray,), {})), TypeError, "of type Metres, an array with a meaning of its own"),
    (5, ValueError, "a single number"),
    ("12", TypeError, "counts of type str"),
    (b"12", TypeError, "counts of type bytes"),
    ({1, 2}, TypeError, "counts of type set"),
    ({"a": 1}, TypeError, "counts of type dict"),
    (iter([1, 2]), TypeError, "counts of type list_iterator"),
    (range(3), TypeError, "counts of type range"),
    (array.array("q", [1]), TypeError, "counts of type array"),
    (None, TypeError, "counts of type NoneType"),
    (pandas.Series([1, None]), ValueError, "1 of 2 counts is missing, the first at position 1"),
    (pandas.Series([1, None], dtype="Int64"), ValueError, "missing"),
    (pandas.Series([1, None], dtype="int64[pyarrow]"), ValueError, "missing"),
    (pandas.Series([1, None], dtype=object), ValueError, "missing"),
    (pandas.Series([1.0, 2.0]), TypeError, "dtype float64.*astype"),
    (pandas.Series([True]), TypeError, "dtype bool"),
    (pandas.Series(["a", "b"]), TypeError, "counts of"),
    (pandas.Series([1, 2], dtype="category"), TypeError, "categorical"),
    (pandas.Series(pandas.to_datetime(["2020-04-01"])), TypeError, "datetime64"),
    (pandas.Series(pandas.to_timedelta([1], unit="s")), TypeError, "timedelta64"),
    (pandas.Series([2**64 - 1], dtype="uint64"), ValueError, "more than 64 bits"),
    (pandas.Series([2**64 - 1], dtype="UInt64"), ValueError, "more than 64 bits"),
    (pandas.Series([2**64 - 1], dtype="uint64[pyarrow]"), ValueError, "more than 64 bits"),
    (pandas.MultiIndex.from_tuples([(1, 2)]), TypeError, "get_level_values"),
    (pandas.Categorical([1, 2]), TypeError, "categorical"),
    (pandas.Series([1, 2]).groupby([0, 1]), TypeError, "of type SeriesGroupBy"),
    (Unmakeable([1, 2], "persons"), TypeError, "a Unmakeable cannot be made of a Series: give the Series itself"),
    (polars.Series([1, None]), ValueError, "1 of 2 counts is missing, the first at position 1"),
    (polars.Series(["a"]), TypeError, "dtype String"),
    (polars.Series([1.0]), TypeError, "dtype Float64.*cast"),
    (polars.Series([True]), TypeError, "dtype Boolean"),
    (polars.Series(["a"], dtype=polars.Categorical), TypeError, "dtype Categorical"),
    (polars.Series([2**63], dtype=polars.Int128), ValueError, "more than 64 bits"),
    (polars.Series([2**64 - 1], dtype=polars.UInt64), ValueError, "more than 64 bits"),
    (polars.LazyFrame({"a": [1]}), TypeError, "collect it once"),
    (polars.col("a"), TypeError, "expression"),
    (arrow.array([1, None]), ValueError, "1 of 2 counts is missing, the first at position 1"),
    (arrow.array(["a"]), TypeError, "of type string"),
    (arrow.array([1.0]), TypeError, "of type double.*cast"),
    (arrow.array([1, 1]).dictionary_encode(), TypeError, "of type dictionary"),
    (arrow.array([2**64 - 1], arrow.uint64()), ValueError, "more than 64 bits"),
    (arrow.chunked_array([[1], [None]], arrow.int64()), ValueError, "1 of 2 counts is missing, the first at position 1"),
]


@pytest.mark.parametrize(("counts", "error", "says"), REFUSED, ids=lambda value: type(value).__name__)
def test_other_values_than_counts_are_refused(counts: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        add_noise(counts, WIDE)


def test_empty_inputs_and_invalid_noise() -> None:
    assert add_noise([], NONE) == [] and add_noise((), NONE) == () and len(add_noise(pandas.Series([], dtype="int64"), NONE)) == 0
    assert add_noise(polars.Series([], dtype=polars.Int8), NONE).to_list() == []
    with pytest.raises(TypeError, match="expected DiscreteGaussian"):
        add_noise([1], 5)
    with pytest.raises(TypeError, match="accounted for and not drawn"):
        add_noise([1], Gaussian(5))
    with pytest.raises(TypeError, match="data frame"):
        add_noise([1], {"count": WIDE})


def tables() -> list[Any]:
    columns = {"block": ["x", "y", "z"] * 50, "persons": [100] * 150, "homes": [100] * 150}
    return [
        pandas.DataFrame(columns, index=pandas.Index(range(7, 157), name="row")),
        OwnFrame(columns),
        polars.DataFrame(columns),
        arrow.table(columns),
        arrow.RecordBatch.from_pydict(columns),
    ]


def column(table: Any, name: Any) -> list[Any]:
    return rows(table[name])


@pytest.mark.parametrize("table", tables(), ids=lambda table: type(table).__name__)
def test_columns_of_tables_have_noise_of_their_own(table: Any) -> None:
    names = ["block", "persons", "homes"]
    noisy = add_noise(table, {"persons": WIDE, "homes": WIDE}, insecure_seed=1)
    assert type(noisy) is type(table) and list(getattr(noisy, "column_names", getattr(noisy, "columns", None))) == names
    if isinstance(table, pandas.DataFrame):
        assert noisy.index.equals(table.index) and noisy.index.name == table.index.name
    assert column(noisy, "block") == column(table, "block") and set(column(table, "persons")) == {100}
    assert column(noisy, "persons") != column(noisy, "homes") and column(noisy, "persons") != column(table, "persons")
    assert column(add_noise(table, {"persons": WIDE}), "persons") != column(noisy, "persons")
    assert column(add_noise(table, {"persons": WIDE}), "homes") == [100] * 150
    for noise, error, says in (
        ({"people": WIDE}, ValueError, "no column 'people': the data frame has block, persons, homes"),
        ({"block": WIDE}, TypeError, "column 'block': counts of"),
        ({"persons": 5}, TypeError, "column 'persons': noise of type int"),
        ({}, ValueError, "no column is named"),
        (WIDE, TypeError, "expected a dict from column to noise"),
    ):
        with pytest.raises(error, match=says):
            add_noise(table, noise)


def test_every_column_is_checked_before_noise_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    from dp_assay import _frames

    drawn: list[object] = []
    monkeypatch.setattr(_frames, "law_of", lambda law: drawn.append(law) or Watched())

    class Watched:
        def noisy(self, counts: Any, insecure_seed: int | None = None) -> Any:
            raise AssertionError("drawn")

    with pytest.raises(ValueError, match="column 'b': 1 of 2 counts is missing"):
        add_noise(pandas.DataFrame({"a": [1, 2], "b": [1, None]}), {"a": WIDE, "b": WIDE})
    assert len(drawn) == 2


def test_names_of_columns_may_be_anything() -> None:
    crosstab = pandas.crosstab(pandas.Series(list("aab"), name="letter"), pandas.Series([1, 2, 2], name="size"))
    noisy = add_noise(crosstab, {1: NONE, 2: NONE})
    assert noisy.equals(crosstab.astype("int64")) and noisy.columns.name == "size" and noisy.index.name == "letter"
    assert (add_noise(crosstab, {numpy.int64(2): WIDE})[1] == crosstab[1]).all()
    levels = pandas.DataFrame([[1, 2, 3]], columns=pandas.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")], names=["p", "q"]))
    noisy = add_noise(levels, {("a", "y"): WIDE}, insecure_seed=1)
    assert noisy.columns.equals(levels.columns) and noisy.columns.names == ["p", "q"]
    assert noisy.iloc[0].tolist()[::2] == [1, 3] and noisy.iloc[0, 1] != 2
    with pytest.raises(ValueError, match=r"no column 'a', which is one part of the names of 2: expected a whole name, as \('a', 'x'\)"):
        add_noise(levels, {"a": WIDE})
    bins = pandas.DataFrame({"a": [1]}).rename(columns={"a": pandas.Interval(0, 5)})
    assert add_noise(bins, {pandas.Interval(0, 5): NONE}).equals(bins)
    odd = pandas.DataFrame([[1, 2]], columns=pandas.Index([float("nan"), None], dtype=object))
    assert add_noise(odd, {None: NONE}).shape == (1, 2)
    many = pandas.DataFrame([[0] * 30])
    with pytest.raises(ValueError, match=r"0, 1, 2.*19, \.\.\."):
        add_noise(many, {"a": WIDE})


def test_columns_of_one_name_are_refused_and_others_are_not() -> None:
    twice = pandas.DataFrame([[1, 2, 3]], columns=["a", "a", "b"])
    table = arrow.Table.from_arrays([arrow.array([1]), arrow.array([2]), arrow.array([3])], names=["a", "a", "b"])
    for frame in (twice, table):
        with pytest.raises(ValueError, match="2 columns are named 'a'"):
            add_noise(frame, {"a": WIDE})
    assert add_noise(twice, {"b": NONE}).equals(twice) and add_noise(table, {"b": NONE}).equals(table)
    strict = pandas.DataFrame({"a": [1]}).set_flags(allows_duplicate_labels=False)
    assert not add_noise(strict, {"a": NONE}).flags.allows_duplicate_labels


def silent(counts: Any, noise: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return add_noise(counts, noise)


def test_metadata_is_left_out_unless_it_is_to_be_kept() -> None:
    frame = pandas.DataFrame({"count": [1, 2]})
    frame.attrs = {"true_total": 3, "of": {"deep": [3]}}
    assert silent(frame, {"count": NONE}).attrs == {} and frame.attrs["true_total"] == 3
    with pytest.warns(MetadataWarning, match="copied without noise: DataFrame.attrs 'true_total', 'of'$") as said:
        kept = add_noise(frame, {"count": NONE}, keep_metadata=True)
    assert kept.attrs == frame.attrs and kept.attrs["of"] is not frame.attrs["of"]
    assert said[0].filename == __file__
    series = frame["count"]
    series.attrs = {"true_total": 3}
    assert silent(series, NONE).attrs == {}
    with pytest.warns(MetadataWarning, match="Series.attrs 'true_total'$"):
        assert add_noise(series, NONE, keep_metadata=True).attrs == series.attrs
    own = OwnFrame({"count": [1, 2]})
    own.true_total = 3
    assert getattr(silent(own, {"count": NONE}), "true_total", None) is None
    with pytest.warns(MetadataWarning, match="fields of OwnFrame 'true_total'$"):
        assert add_noise(own, {"count": NONE}, keep_metadata=True).true_total == 3


def test_metadata_of_arrow_is_left_out_unless_it_is_to_be_kept() -> None:
    fields = [arrow.field("count", arrow.int32(), metadata={"sum": "3"}), arrow.field("name", arrow.string(), metadata={"why": "x"})]
    schema = arrow.schema(fields, metadata={"PANDAS_ATTRS": '{"true_total": 3}'})
    table = arrow.table({"count": [1, 2], "name": ["a", "b"]}, schema=schema)
    for each in (table, table.to_batches()[0]):
        noisy = silent(each, {"count": NONE})
        assert not noisy.schema.metadata and all(not field.metadata for field in noisy.schema)
        assert noisy.schema.field("count").type == arrow.int64() and noisy.column(0).to_pylist() == [1, 2]
        says = r"copied without noise: the schema 'PANDAS_ATTRS'; the field 'count' 'sum'; the field 'name' 'why'$"
        with pytest.warns(MetadataWarning, match=says):
            kept = add_noise(each, {"count": NONE}, keep_metadata=True)
        assert kept.schema.metadata == schema.metadata and kept.schema.field("count").metadata == {b"sum": b"3"}
    inner = arrow.struct([arrow.field("x", arrow.int64(), metadata={"sum": "3"})])
    nested = arrow.table({"count": [1], "record": arrow.array([{"x": 1}], inner)})
    with pytest.raises(ValueError, match="column 'record' has metadata in the fields of its type"):
        add_noise(nested, {"count": NONE})
    with pytest.warns(MetadataWarning, match="the type of the column 'record'"):
        assert add_noise(nested, {"count": NONE}, keep_metadata=True).schema.field("record").type.field(0).metadata


def test_geometries_keep_their_class_and_place() -> None:
    geopandas = pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    points = [shapely.Point(0, 0), shapely.Point(1, 1)]
    for name in ("geometry", "where"):
        frame = geopandas.GeoDataFrame({"count": [1, 2], name: points}, geometry=name, crs="EPSG:4326", index=["a", "b"])
        frame.attrs = {"true_total": 3}
        noisy = silent(frame, {"count": NONE})
        assert type(noisy) is geopandas.GeoDataFrame and noisy.geometry.name == name and noisy.crs == frame.crs
        assert noisy["count"].tolist() == [1, 2] and noisy.index.tolist() == ["a", "b"] and noisy.attrs == {}
        assert noisy.geometry.equals(frame.geometry)
        with pytest.raises(TypeError, match=f"column '{name}': counts of dtype geometry"):
            add_noise(frame, {name: NONE})
    with pytest.raises(TypeError, match="dtype geometry"):
        add_noise(frame.geometry, NONE)


def test_other_libraries_are_refused_with_the_accepted_types() -> None:
    for name, make in (("xarray", lambda module: module.DataArray([1, 2])), ("dask.dataframe", lambda module: module.from_pandas(pandas.DataFrame({"a": [1]})))):
        module = pytest.importorskip(name)
        with pytest.raises(TypeError, match="expected a list of ints, a numpy array"):
            add_noise(make(module), NONE)


KEYS, SORTED = ["b", "c", "a"], [50, 5, 3]
# Counts whose rows are in the order of the counts, and not of their keys.
IN_ORDER: list[tuple[Any, Any]] = [
    (pandas.Series(["b"] * 50 + ["c"] * 5 + ["a"] * 3).value_counts(), NONE),
    (pandas.Series(["b"] * 50 + ["c"] * 5 + ["a"] * 3).value_counts(ascending=True), NONE),
    (pandas.Series(SORTED, index=pandas.CategoricalIndex(KEYS)), NONE),
    (pandas.Series(SORTED, index=[2, "c", 1.5]), NONE),
    (pandas.Series([50, 5], index=["b", "a"]), NONE),
    (pandas.Series(SORTED, index=["c", "b", "a"]), NONE),  # falling with the keys
    (pandas.DataFrame({"g": list("xxxyyy"), "k": list("bbaaab")}).groupby("g")["k"].value_counts(), NONE),
    (pandas.Series([50, 5, 5], index=pandas.MultiIndex.from_tuples([("b", 1), ("b", 3), ("b", 2)])), NONE),
    (pandas.Series(["b"] * 50 + ["c"] * 5 + ["a"] * 3).value_counts().reset_index(name="n"), {"n": NONE}),
    (pandas.DataFrame({"key": list("bbbcca")}).groupby("key").size().sort_values(), NONE),
    (pandas.crosstab(pandas.Series(list("bbbcca")), pandas.Series(["n"] * 6)).sort_values("n"), {"n": NONE}),
    (pandas.DataFrame({"key": list("bbbcca"), "n": 1}).pivot_table(index="key", values="n", aggfunc="sum").nlargest(3, "n"), {"n": NONE}),
    (polars.DataFrame({"key": KEYS, "n": SORTED}), {"n": NONE}),
    (polars.Series("key", ["b"] * 50 + ["c"] * 5 + ["a"] * 3).value_counts(sort=True), {"count": NONE}),
    (arrow.table({"key": KEYS, "n": SORTED}), {"n": NONE}),
]


@pytest.mark.parametrize(("counts", "noise"), IN_ORDER)
def test_the_order_of_true_counts_is_refused(counts: Any, noise: Any) -> None:
    with pytest.raises(ValueError, match="in the order of the true counts, which the noisy ones keep"):
        add_noise(counts, noise)
    with pytest.warns(OrderWarning, match="in the order of the true counts, which the noisy ones keep"):
        add_noise(counts, noise, keep_order=True)


@pytest.mark.parametrize(
    ("counts", "noise"),
    [
        (pandas.Series(["b"] * 50 + ["c"] * 5 + ["a"] * 3).value_counts().sort_index(), NONE),
        (pandas.Series(["b"] * 50 + ["c"] * 5 + ["a"] * 3).value_counts().reindex(["a", "b", "c", "d"], fill_value=0), NONE),
        (pandas.Series(SORTED, index=["a", "b", "c"]), NONE),
        (pandas.Series(SORTED), NONE),  # numbered rows are no keys
        # One order of keys in every group, as of a code book.
        (pandas.Series([5, 4, 9, 3], index=pandas.MultiIndex.from_tuples([("x", "m"), ("x", "f"), ("y", "m"), ("y", "f")])), NONE),
        (pandas.Series([4, 4, 4], index=KEYS), NONE),
        (pandas.crosstab(pandas.Series(KEYS * 2 + ["b"]), pandas.Series(["x"] * 7)), {"x": NONE}),
        (pandas.DataFrame({"n": SORTED, "m": [1, 2, 3]}), {"n": NONE, "m": NONE}),
        (polars.DataFrame({"key": ["a", "b", "c"], "n": SORTED}), {"n": NONE}),
        (polars.Series(SORTED), NONE),
        (SORTED, NONE),
        (numpy.array(SORTED), NONE),
    ],
)
def test_rows_in_the_order_of_their_keys_are_none(counts: Any, noise: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        add_noise(counts, noise)


def test_categories_and_levels_without_rows_are_left_out() -> None:
    kind = pandas.CategoricalDtype(["a", "b", "secret"])
    frame = pandas.DataFrame({"key": pandas.Series(["a", "b"], dtype=kind), "n": [4, 5]})
    noisy = add_noise(frame, {"n": NONE})
    assert list(noisy["key"].cat.categories) == ["a", "b"] and list(noisy["key"]) == ["a", "b"]
    assert list(frame["key"].cat.categories) == ["a", "b", "secret"]
    with pytest.warns(MetadataWarning, match="1 unused categories of the column 'key'"):
        assert "secret" in add_noise(frame, {"n": NONE}, keep_metadata=True)["key"].cat.categories
    series = frame.set_index("key")["n"]
    assert list(add_noise(series, NONE).index.categories) == ["a", "b"]
    assert list(add_noise(frame.set_index("key"), {"n": NONE}).index.categories) == ["a", "b"]
    full = pandas.Series([1, 4, 5], index=pandas.MultiIndex.from_tuples([("secret", 1), ("a", 2), ("b", 3)]))
    shown = add_noise(full[full > 3], NONE)
    assert "secret" not in shown.index.levels[0] and list(shown.index) == [("a", 2), ("b", 3)]
    with pytest.warns(MetadataWarning, match="unused categories of the index"):
        add_noise(full[full > 3], NONE, keep_metadata=True)
    table = arrow.table({"key": arrow.DictionaryArray.from_arrays([0, 1], ["a", "b", "secret"]), "n": [4, 5]})
    noisy = add_noise(table, {"n": NONE})
    assert noisy.schema.field("key").type == table.schema.field("key").type and noisy.column("key").to_pylist() == ["a", "b"]
    assert "secret" not in noisy.column("key").chunk(0).dictionary.to_pylist()
