"""The Census Bureau's noisy measurement files: checked against their release, and estimates with margins from them.

estimate() computes as `assay nmf estimate` does; check() runs `assay nmf check` of the program, which the wheel contains. The guide's chapter
on noisy measurements explains the options.

    >>> from dp_assay import nmf
    >>> towns = nmf.estimate("data/examples/nmf", "pl94-persons-us", tabulation=["State", "County"])    # doctest: +SKIP
    >>> pandas.DataFrame(towns)                                                                         # doctest: +SKIP
"""

from __future__ import annotations

import csv
import json
import operator
import os
import tempfile
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from ._native import Enclosure, Release, estimate_nmf
from ._program import answer_of

__all__ = ["Estimates", "check", "estimate"]

_Path = str | os.PathLike[str]
_Names = str | Iterable[str]


class Estimates(dict[str, Any]):
    """Estimates by column, as pandas.DataFrame, polars.DataFrame and pyarrow.table accept them: lists of texts, arrays of int64 and float64.

    The columns are those of the program's file: level, geocode, geoid and part, or area; query and cell, and the label of the cell in a
    column for each attribute; estimate, variance, std_dev and margin_95 (1.96 standard deviations), or count and
    margin_95_of_unbiased_estimate, as a whole count has no known margin. Least squares is computed in doubles: these numbers are not enclosures.
    A heading such as "estimate (insecure seed 7)" says that the noise can be subtracted. `about` is the program's answer: states, missing and
    unused input, and in a rehearsal the errors.
    """

    def __init__(self, columns: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        super().__init__(columns)
        self.about = dict(about)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Estimates, (dict(self), self.about))

    def records(self) -> list[dict[str, Any]]:
        """The rows, each a dict by column."""
        columns = [column if isinstance(column, list) else column.tolist() for column in self.values()]
        return [dict(zip(self, row)) for row in zip(*columns)]


def check(folder: _Path, release: str | _Path | Release, *, delta: Any = "1e-10", fit: bool = False, digits: int = 8) -> dict[str, Any]:
    """Checks a folder of noisy measurement files against its release, and returns the program's answer as a dict.

    Every row is read. fit: the fit by level and query, not by level alone. `epsilon` is an Enclosure: the exact epsilon at delta of the published counts, on the worst block paths that occur.
    ValueError for files that do not fit the release, with file, row and geocode.
    """
    with tempfile.TemporaryDirectory(prefix="dp-assay-") as scratch:
        options = ["--release", _release(release, scratch), "--delta", str(_exact(delta)), "--digits", str(digits), *(["--fit"] if fit else [])]
        # Status 1 means that the files can be read and violate a rule; the answer has the details.
        answer: dict[str, Any] = answer_of(["nmf", "check", os.fspath(folder), *options], accepted=(0, 1))
    ends = answer["epsilon"]
    answer["epsilon"] = Enclosure(ends["lower"], ends["upper"])
    return answer


def estimate(
    folder: _Path,
    release: str | _Path | Release,
    *,
    queries: _Names = "total",
    recodes: _Path | Mapping[str, Mapping[str, Iterable[Iterable[str]]]] | None = None,
    level: _Names = (),
    tabulation: _Names = (),
    areas: _Path | Mapping[str, Iterable[str] | Mapping[str, Any]] | None = None,
    area_totals: _Path | Mapping[str, int] | None = None,
    states: str | int | Iterable[str | int] = (),
    constraints: Literal["all", "state-totals", "none"] = "all",
    state_totals: _Path | Mapping[str, int] | None = None,
    truth: _Path | None = None,
    whole: _Names | None = None,
    incomplete: bool = False,
    despite_misfit: bool = False,
    work: _Path | None = None,
) -> Estimates:
    """The best linear unbiased estimates from all noisy measurement files together, with variances and margins of 95 %.

    release: a bundled release with attributes, a file, or a Release. queries: marginals such as "votingage * hispanic", "total", or
    "all". recodes: groups of your own for them, a dict from the name of each to its attribute with lists of its values,
    {"origin": {"hispanic": [["hispanic"], ["not-hispanic"]]}}, or a TOML file of tables [[recode]] with name, attribute and groups. The
    estimated areas are the units of a level or of several (all but the last if nothing is named); tabulation units by tabulation ("State", "County", "Tract", "Block"); or
    areas, a dict from the name of each to the GEOIDs of its blocks (as texts: they begin with zeros), or the file of such a table. A dict
    from block to weight in place of the blocks gives the area that part of each, from 0 to 1: no margin has the error of weights.
    area_totals: exact totals of areas, a dict from the name to the count, or a file. states: only these, by their two digits, without the
    counts of the nation. constraints: those that hold exactly. state_totals: published totals, a dict from state to count, or a file. truth:
    in a rehearsal, a file of true counts. whole: non-negative whole counts, in passes by these queries (an empty list for the usual ones).
    incomplete: estimate although files are missing. despite_misfit: estimate although the noisy counts do not fit each other. work: a folder
    for the result of each state, so that an interrupted call is continued by the next one with the same arguments; another job in that
    folder is refused.

    ValueError if the input is refused. Estimates are correlated: never add their variances; request the sum as an area.
    """
    with tempfile.TemporaryDirectory(prefix="dp-assay-") as scratch:
        out = Path(scratch, "estimates.csv")
        blocks = None if isinstance(areas, (str, os.PathLike)) or areas is None else _weighted(areas)
        totals = None if isinstance(state_totals, (str, os.PathLike)) or state_totals is None else _totals(state_totals)
        of_areas = None if isinstance(area_totals, (str, os.PathLike)) or area_totals is None else _area_totals(area_totals)
        of_recodes = None if isinstance(recodes, (str, os.PathLike)) or recodes is None else _recodes(recodes)
        about = estimate_nmf(
            folder,
            release,
            out,
            queries=_texts(queries, "queries"),
            recodes=recodes if of_recodes is None else _put(Path(scratch, "recodes.toml"), of_recodes),  # type: ignore[arg-type]
            level=_texts(level, "level"),
            tabulation=_texts(tabulation, "tabulation"),
            areas=areas if blocks is None else _written(scratch, "areas", *blocks),  # type: ignore[arg-type]
            area_totals=area_totals if of_areas is None else _written(scratch, "area_totals", ("area", "total"), of_areas),  # type: ignore[arg-type]
            states=[_number(_state(state)) for state in ([states] if isinstance(states, (str, int)) else states)],
            constraints=constraints,
            state_totals=state_totals if totals is None else _written(scratch, "state_totals", ("state", "total"), totals),  # type: ignore[arg-type]
            truth=truth,
            whole=None if whole is None else _texts(whole, "whole"),
            incomplete=incomplete,
            despite_misfit=despite_misfit,
            work_folder=work,
        )
        # Temporary files that are removed when this returns.
        about.pop("out", None)
        about.get("provenance", {}).pop("command_line", None)
        return Estimates(_columns(out), about)


def _exact(number: Any) -> Any:
    """A number for the program: a float is the shortest decimal that prints it."""
    return Fraction(number.numerator, number.denominator) if hasattr(number, "numerator") and not isinstance(number, int) else number


def _release(release: str | _Path | Release, scratch: str) -> str:
    if not isinstance(release, Release):
        return os.fspath(release)
    return _put(Path(scratch, "release.toml"), release.to_toml())


def _put(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def _texts(names: _Names, what: str) -> list[str]:
    """One name or several, as texts; a leading dash is refused, as in the options of the program."""
    every = [names] if isinstance(names, str) else list(names)
    for name in every:
        if not isinstance(name, str):
            raise TypeError(f"{what}: a name of type {type(name).__name__}: expected texts")
        if name.startswith("-") or not name.strip():
            raise ValueError(f"{what}: {name!r} is no name")
    return every


def _state(state: str | int) -> str:
    if isinstance(state, bool) or not isinstance(state, (str, int)):
        raise TypeError(f"a state of type {type(state).__name__}: expected its two digits, as \"09\" or 9")
    return f"{state:02}" if isinstance(state, int) else state


def _number(state: str) -> int:
    if len(state) > 2 or not (state.isascii() and state.isdigit()):
        raise ValueError(f"states: {state!r} is no state: expected its two digits, as \"44\"")
    return int(state)


def _mapping(given: Any, what: str) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} of type {type(given).__name__}: expected a dict, or the path of a file")
    return given


def _weighted(areas: Mapping[str, Iterable[str] | Mapping[str, Any]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The heading and the rows of a file of areas; with weights if any area has them."""
    rows = []
    for name, blocks in _mapping(areas, "areas").items():
        own = [blocks] if isinstance(blocks, str) else list(blocks)
        if not own or not str(name).strip():
            raise ValueError(f"area {name!r}: expected a name and one block or more")
        for block in own:
            if not isinstance(block, str):
                # A number has lost its leading zeros.
                raise TypeError(f"area {name!r}: a block of type {type(block).__name__}: expected a text of 15 digits")
            weight = blocks[block] if isinstance(blocks, Mapping) else 1
            if isinstance(weight, bool) or weight is None:
                raise TypeError(f"area {name!r}: a weight of type {type(weight).__name__}: expected a number from 0 to 1")
            rows.append((str(name), block, str(weight)))
    if not rows:
        raise ValueError("areas: no block is named")
    if any(isinstance(blocks, Mapping) for blocks in areas.values()):
        return ("area", "block", "weight"), list(rows)
    return ("area", "block"), [row[:2] for row in rows]


def _recodes(recodes: Mapping[str, Mapping[str, Iterable[Iterable[str]]]]) -> str:
    """The text of a file of recodes: texts of JSON are texts of TOML."""
    tables = []
    for name, of_attribute in _mapping(recodes, "recodes").items():
        if not isinstance(of_attribute, Mapping) or len(of_attribute) != 1:
            raise TypeError(f"recode {name!r}: expected a dict with one attribute, from its name to lists of its values")
        [(attribute, groups)] = of_attribute.items()
        lists = [[group] if isinstance(group, str) else list(group) for group in groups]
        for value in (value for group in lists for value in group):
            if not isinstance(value, str):
                raise TypeError(f"recode {name!r}: a value of type {type(value).__name__}: expected texts")
        fields = [("name", str(name)), ("attribute", str(attribute)), ("groups", lists)]
        tables.append("[[recode]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields))
    return "".join(tables)


def _area_totals(totals: Mapping[str, int]) -> list[tuple[str, ...]]:
    return [(str(area), str(operator.index(total))) for area, total in _mapping(totals, "area_totals").items()]


def _totals(totals: Mapping[str, int]) -> list[tuple[str, ...]]:
    return [(_state(state), str(operator.index(total))) for state, total in _mapping(totals, "state_totals").items()]


def _written(scratch: str, name: str, heading: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    path = Path(scratch, f"{name}.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([heading, *rows])
    return str(path)


# The columns of numbers; all others are texts, also those of digits, which may have leading zeros.
_INTEGERS = ("cell", "count")
_FLOATS = ("estimate", "variance", "std_dev", "margin_95", "margin_95_of_unbiased_estimate", "truth")


def _columns(path: Path) -> dict[str, Any]:
    import numpy

    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        heading = next(rows)
        columns: list[Any] = [list(column) for column in zip(*rows)] or [[] for _ in heading]
    for number, name in enumerate(heading):
        # "estimate (insecure seed 7)" is a column of estimates.
        kind = name.partition(" ")[0]
        if kind in _INTEGERS:
            columns[number] = numpy.array(columns[number], dtype="int64")
        elif kind in _FLOATS:
            columns[number] = numpy.array([float(value) if value else numpy.nan for value in columns[number]], dtype="float64")
    return dict(zip(heading, columns))
