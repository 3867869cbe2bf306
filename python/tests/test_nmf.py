"""Noisy measurement files: checked, and estimates from them, as the program's own."""

from __future__ import annotations

import csv
import pickle
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pandas
import polars
import pytest
from conftest import ROOT, program

from dp_assay import Release, _program, nmf

FOLDER = ROOT / "data" / "examples" / "nmf"
US = "pl94-persons-us"

pytestmark = pytest.mark.skipif(program() is None, reason="the package was built in place, without the program")


def values(estimates: nmf.Estimates) -> Any:
    """The estimates, without the note on the seed in their heading."""
    return next(column for name, column in estimates.items() if name.startswith("estimate"))


def test_a_check_is_the_program_s(assay: Callable[..., Any]) -> None:
    found = nmf.check(FOLDER, US, delta=1e-9, digits=6)
    printed = assay("nmf", "check", str(FOLDER), "--release", US, "--delta", "1e-9", "--digits", "6")
    assert found["epsilon"].lower <= found["epsilon"].upper and found["release"] == US
    assert (found["epsilon"].lower_decimal, found["epsilon"].upper_decimal) == pytest.approx(tuple(printed["epsilon"].values()))
    assert [level["units"] for level in found["levels"]] == [level["units"] for level in printed["levels"]]
    with pytest.raises(ValueError, match="nosuch"):
        nmf.check(FOLDER / "nosuch", US)
    with pytest.raises(ValueError, match="delta"):
        nmf.check(FOLDER, US, delta=2)


def test_estimates_are_those_of_the_program_s_file(tmp_path: Path) -> None:
    path = program()
    assert path is not None
    arguments = ["--queries", "votingage * hispanic", "total", "--level", "County", "Tract", "--state-totals", FOLDER / "state-totals.csv"]
    subprocess.run([path, "nmf", "estimate", FOLDER, "--release", US, "--out", tmp_path / "e.csv", *arguments], check=True, capture_output=True)
    rows = list(csv.reader((tmp_path / "e.csv").open()))
    found = nmf.estimate(
        FOLDER, US, queries=["votingage * hispanic", "total"], level=["County", "Tract"], state_totals={"09": 895, 44: 2624}
    )
    assert list(found) == rows[0] and len(found.records()) == len(rows) - 1 == found.about["rows"]
    for position, column in enumerate(found.values()):
        own = [row[position] for row in rows[1:]]
        assert column == own if isinstance(column, list) else (column == numpy.array(own, dtype=column.dtype)).all()
    assert found["geoid"][0] == "09001" and found["cell"].dtype == numpy.int64 and values(found).dtype == numpy.float64
    assert found.about["states"] == ["09", "44"] and "out" not in found.about
    frame = pandas.DataFrame(found)
    assert list(frame.columns) == rows[0] and polars.DataFrame(found).height == len(frame)
    assert pytest.importorskip("pyarrow").table(found).num_rows == len(frame)
    again = pickle.loads(pickle.dumps(found))
    assert again.records() == found.records() and again.about == found.about


def test_areas_states_constraints_and_releases_of_one_s_own() -> None:
    blocks = ["440030001001001", "440030001001002"]
    with (FOLDER / "towns.csv").open() as file:
        towns: dict[str, list[str]] = {}
        for row in csv.DictReader(file):
            towns.setdefault(row["area"], []).append(row["block"])
    by_dict, by_file = nmf.estimate(FOLDER, US, areas=towns), nmf.estimate(FOLDER, US, areas=FOLDER / "towns.csv")
    assert by_dict.records() == by_file.records() and set(by_dict["area"]) == set(towns)
    odd = nmf.estimate(FOLDER, Release(US), areas={'Å, "new"': blocks, "one": blocks[0]})
    assert odd["area"] == ['Å, "new"', "one"]
    alone = nmf.estimate(FOLDER, US, states=[44], tabulation="State")
    assert alone["area"] == ["44"] and nmf.estimate(FOLDER, US, states="44", tabulation="State").records() == alone.records()
    free, bound = (nmf.estimate(FOLDER, US, tabulation="County", constraints=which) for which in ("none", "all"))  # type: ignore[arg-type]
    assert (free["variance"] > 0).all() and (free["variance"] >= bound["variance"] - 1e-9).all()
    whole = nmf.estimate(FOLDER, US, level="State", queries="votingage", whole=[])
    count = next(column for name, column in whole.items() if name.startswith("count"))
    assert count.dtype == numpy.int64 and (count > 0).all()
    estimates = nmf.estimate(FOLDER, US, level="State", queries="votingage")
    by_cell = {(row["geocode"], row["cell"]): row["margin_95"] for row in estimates.records()}
    for row in whole.records():
        assert row["margin_95_of_unbiased_estimate"] == pytest.approx(by_cell[row["geocode"], row["cell"]], rel=1e-9)
    rehearsed = nmf.estimate(FOLDER, US, truth=FOLDER / "counts.csv", level="Tract")
    assert rehearsed.about["errors"]


def test_weights_exact_totals_of_areas_and_recodes(tmp_path: Path) -> None:
    first, second = "440030001001001", "440030001001002"
    both = nmf.estimate(FOLDER, US, areas={"all": [first, second], "parts": {first: 0.5, second: Fraction(1, 2)}})
    assert values(both)[1] == pytest.approx(values(both)[0] / 2) and both["variance"][1] == pytest.approx(both["variance"][0] / 4)
    assert both.about["weights"] == {"blocks_below_one": 0, "blocks_above_one": 2, "in_margins": False}
    fixed = nmf.estimate(FOLDER, US, areas={"all": [first, second], "one": first}, area_totals={"all": 300})
    assert values(fixed)[0] == pytest.approx(300) and fixed["variance"][0] == 0 < fixed["variance"][1]
    recodes = tmp_path / "recodes.toml"
    recodes.write_text('[[recode]]\nname = "origin"\nattribute = "hispanic"\ngroups = [["hispanic"], ["not-hispanic"]]\n')
    own = nmf.estimate(FOLDER, US, level="State", queries="origin", recodes=recodes)
    assert own["origin"][:2] == ["hispanic", "not-hispanic"]
    given = nmf.estimate(FOLDER, US, level="State", queries="origin", recodes={"origin": {"hispanic": ["hispanic", ["not-hispanic"]]}})
    assert given["origin"] == own["origin"] and values(given) == pytest.approx(values(own), rel=1e-12)


def test_errors_state_the_reason() -> None:
    for options, error, says in (
        ({"level": "Moon"}, ValueError, "^level: unknown level \"Moon\""),
        ({"queries": "nosuch"}, ValueError, "nosuch"),
        ({"queries": 5}, TypeError, "not iterable"),
        ({"queries": [5]}, TypeError, "queries: a name of type int"),
        ({"level": "--out"}, ValueError, "is no name"),
        ({"level": " "}, ValueError, "is no name"),
        ({"constraints": "x"}, ValueError, "possible values"),
        ({"states": ["99"]}, ValueError, "99"),
        ({"states": [4.5]}, TypeError, "a state of type float"),
        ({"areas": {"a": [440030001001001]}}, TypeError, "a block of type int: expected a text"),
        ({"areas": {"a": []}}, ValueError, "area 'a': expected a name and one block or more"),
        ({"areas": {" ": ["440030001001001"]}}, ValueError, "expected a name"),
        ({"areas": {}}, ValueError, "no block is named"),
        ({"areas": [1]}, TypeError, "areas of type list: expected a dict"),
        ({"areas": {"a": ["44"]}}, ValueError, "44"),
        ({"areas": {"a": {"440030001001001": 1.5}}}, ValueError, "areas.csv, line 2, column 3"),
        ({"areas": {"a": {"440030001001001": None}}}, TypeError, "a weight of type NoneType"),
        ({"areas": {"a": ["440030001001001"]}, "area_totals": {"b": 5}}, ValueError, "^area_totals"),
        ({"areas": {"a": ["440030001001001"]}, "area_totals": {"a": 5.5}}, TypeError, "float"),
        ({"area_totals": {"a": 5}}, ValueError, "^area_totals"),
        ({"recodes": "nosuch.toml", "queries": "x"}, ValueError, "^recodes: nosuch.toml"),
        ({"recodes": {"x": {"hispanic": [["yes"]]}}, "queries": "x"}, ValueError, "^recodes: .*recodes.toml.*yes"),
        ({"recodes": {"x": ["hispanic"]}, "queries": "x"}, TypeError, "recode 'x': expected a dict with one attribute"),
        ({"recodes": {"x": {"hispanic": [[1]]}}, "queries": "x"}, TypeError, "recode 'x': a value of type int"),
        ({"recodes": {}, "queries": "x"}, ValueError, "^recodes"),
        ({"state_totals": {"44": 1.5}}, TypeError, "float"),
        ({"truth": "nosuch.csv"}, ValueError, "nosuch.csv"),
    ):
        with pytest.raises(error, match=says):
            nmf.estimate(FOLDER, US, **options)  # type: ignore[arg-type]


def test_a_program_of_another_version_is_not_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "assay"
    other.write_text("#!/bin/sh\necho assay 0.0.1\n")
    other.chmod(0o755)
    monkeypatch.setattr(_program.shutil, "which", lambda name, path=None: str(other))
    with pytest.raises(RuntimeError, match="is assay 0.0.1, and this package is of version"):
        nmf.check(FOLDER, US)
    monkeypatch.setattr(_program.shutil, "which", lambda name, path=None: None)
    with pytest.raises(RuntimeError, match="is not installed"):
        nmf.check(FOLDER, US)
