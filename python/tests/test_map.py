"""The example that draws a map of estimates from shapes of GeoJSON: what is joined, what is hatched, and what is refused."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, program

pytest.importorskip("matplotlib")
SCRIPT = ROOT / "examples" / "map_of_estimates.py"
NMF = ROOT / "data" / "examples" / "nmf"
SHAPES = NMF / "tracts.geojson"
SHARE = "P2_002N/P1_001N"


def module() -> Any:
    """The example, as a module."""
    specification = importlib.util.spec_from_file_location("map_of_estimates", SCRIPT)
    assert specification is not None and specification.loader is not None
    loaded = importlib.util.module_from_spec(specification)
    sys.modules["map_of_estimates"] = loaded
    specification.loader.exec_module(loaded)
    return loaded


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def estimated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """tracts.csv and tracts.json, as the program writes them."""
    path = program()
    if path is None:
        pytest.skip("the package was built in place, without the program")
    folder = tmp_path_factory.mktemp("estimates")
    options = ["--tabulation", "County", "Tract", "--variables", "P1_001N,P2_002N", "--share", SHARE, "--json"]
    command = [path, "nmf", "estimate", NMF, "--release", "pl94-persons-us", *options, "--out", folder / "tracts.csv"]
    (folder / "tracts.json").write_text(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return folder


def test_estimates_and_shares_are_drawn(estimated: Path, tmp_path: Path) -> None:
    out = tmp_path / "map.svg"
    done = run(estimated / "tracts.json", SHAPES, "--share", SHARE, "--breaks", "0.08,0.12,0.16", "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == [
        "7 areas joined; estimates without a shape: 0; shapes without an estimate: 1 (44003990000)",
        "3 estimates of other levels, whose codes have another length, are left out",
    ]
    assert "1 areas in the color of their class, 3 hatched, 3 gray" in done.stdout
    picture = out.read_text()
    assert all(text in picture for text in ("0.08 to 0.12", "0.16 and above", "reaches another class: 3", "no estimate: 1", "insecure seed 2020"))
    done = run(estimated / "tracts.csv", SHAPES, "--variable", "P2_002N", "--classes", "3", "--out", tmp_path / "map.png")
    assert done.returncode == 0 and (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG"), done.stderr
    # The same bytes again.
    again = tmp_path / "again.svg"
    run(estimated / "tracts.json", SHAPES, "--share", SHARE, "--breaks", "0.08,0.12,0.16", "--out", again)
    assert again.read_text() == picture


def test_codes_of_every_form_are_one_area(tmp_path: Path) -> None:
    script = module()
    for code in ("44003000100", "1400000US44003000100", "1400000us44003000100".upper(), "G4400030000100", " 44003000100 "):
        assert script.geoid_of(code) == "44003000100", code
    assert [script.geoid_of(code) for code in ("G44", "G440", "G4400010", "0500000US44001", "310M700US14460", "01")] == [
        "G44", "44", "44001", "44001", "14460", "01",
    ]  # fmt: skip
    with pytest.raises(script.Refused, match="a leading zero may be lost"):
        script.geoid_of(9001)
    shapes = json.loads(SHAPES.read_text())
    plain = script.read_shapes(SHAPES, None)
    for name, before in (("GEOID20", ""), ("AFFGEOID", "1400000US"), ("geoidfq", "1400000US"), ("own", "1400000US")):
        for feature in shapes["features"]:
            feature["properties"] = {name: before + feature["properties"].popitem()[1].rpartition("US")[2]}
        (tmp_path / "shapes.geojson").write_text(json.dumps(shapes))
        assert script.read_shapes(tmp_path / "shapes.geojson", "own" if name == "own" else None) == plain


def test_the_number_of_classes_that_a_margin_reaches() -> None:
    script = module()
    breaks = [10.0, 20.0, 30.0]
    for value, half, expected in ((5, 4, (0, 1)), (5, 5, (0, 2)), (15, 1, (1, 1)), (15, 6, (1, 3)), (99, 60, (3, 1)), (25, 100, (2, 4)), (20, 0, (2, 1))):
        assert script.reached(script.Estimate(value, value - half, value + half), breaks) == expected, (value, half)
    assert script.breaks_of([1, 2, 3, 4, 5, 6, 7, 8], 4) == [2.8, 4.5, 6.2] and script.breaks_of([3], 5) == [] and script.breaks_of([2, 2, 2], 5) == [2]


def test_what_cannot_be_drawn_is_refused_with_the_reason(tmp_path: Path) -> None:
    heading = "GEOID,NAME,variable,label,estimate,moe_95,level\n"
    table, shapes, out = tmp_path / "estimates.csv", tmp_path / "shapes.geojson", tmp_path / "map.svg"

    def feature(geometry: Any, **properties: Any) -> str:
        return json.dumps({"features": [{"type": "Feature", "properties": properties, "geometry": geometry}]})

    def square(size: float, *more: Any) -> Any:
        return {"type": "Polygon", "coordinates": [[[0, 0], [size, 0], [size, size], [0, 0], *more]]}

    row, good = "01,Alabama,P1_001N,Total:,5,1,State\n", feature(square(1), GEOID="01")
    for rows, text, options, says in (
        ("", good, [], "no estimate of ''"),
        (row + row, good, [], "line 3: 01 has two rows of P1_001N: use --tabulation"),
        (row.replace(",5,", ",five,"), good, [], "line 2: 'five' is no number"),
        (row.replace(",5,", ",nan,"), good, [], "'nan' is no number"),
        ("01,Alabama,P1_001N\n", good, [], "line 2: None is no number"),
        (row, good, ["--variable", "P9"], "no estimate of 'P9': it has P1_001N"),
        (row, "{}", [], "no GeoJSON with features"),
        (row, "no JSON", [], "no GeoJSON with features"),
        (row, feature(square(1), NAME="Alabama"), [], "name yours by --key; it has NAME"),
        (row, feature(square(1), GEOID=1), [], "the code 1 is no text"),
        (row, feature(square(1), GEOID="02"), [], "no code is in both files"),
        (row, feature(square(1000), GEOID="01"), [], "coordinates are not in degrees"),
        (row, feature({"type": "Point", "coordinates": [0, 0]}, GEOID="01"), [], "feature 1: a Point: expected polygons"),
        (row, feature(None, GEOID="01"), [], "no shape has a polygon"),
        (row, good, ["--classes", "0"], "--classes: expected 1 to 9"),
        (row, good, ["--breaks", "1,x"], "--breaks: 'x' is no number"),
        (row, good, ["--share", "A/B"], "estimates.csv: give `assay nmf estimate` the option --share A/B"),
        (row, feature(square(1, [0]), GEOID="01"), [], "feature 1: no polygon of GeoJSON"),
        (row, feature({"type": "Polygon", "coordinates": [[[0, 0]]]}, GEOID="01"), [], "a ring of fewer than four points"),
        (row, feature({"type": "Polygon"}, GEOID="01"), [], "no polygon of GeoJSON"),
        (row, feature(5, GEOID="01"), [], "no polygon of GeoJSON"),
        (row, feature(square(math.nan), GEOID="01"), [], "coordinates are not in degrees"),
        (row, '{"features": [5]}', [], "no GeoJSON with features"),
        (row, good, ["--out", tmp_path / "map.gif"], "expected .svg, .png or .pdf"),
    ):
        table.write_text(heading + rows)
        shapes.write_text(text)
        done = run(table, shapes, "--out", out, *options)
        assert done.returncode == 1 and says in done.stderr and "Traceback" not in done.stderr, (says, done.stderr)
    table.write_text("GEOID,x\n")
    assert "no column estimate" in run(table, shapes, "--out", out).stderr
    table.write_text(heading + row)
    shapes.write_text(good)
    assert run(table, shapes, "--out", out).returncode == 0 and out.exists()
