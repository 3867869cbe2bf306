#!/usr/bin/env python3
"""A map of estimates with margins, drawn with matplotlib from shapes that you supply.

    assay nmf estimate NMF --release pl94-persons-us --tabulation Tract --variables P1_001N,P2_002N \\
        --share P2_002N/P1_001N --json --out tracts.csv > tracts.json
    python3 examples/map_of_estimates.py tracts.csv tracts.geojson --variable P1_001N --out map.svg
    python3 examples/map_of_estimates.py tracts.json tracts.geojson --share P2_002N/P1_001N --out share.png

The estimates are the CSV of `assay nmf estimate` with --variables or --queries, or for --share its JSON, which has the margins of shares.
The shapes are GeoJSON in degrees, such as the Census Bureau's cartographic boundary files: `ogr2ogr -t_srs EPSG:4326 tracts.geojson
cb_2020_44_tract_500k.shp`. They are joined by GEOID; GEOID20, GEOIDFQ, AFFGEOID (0500000US44001), GISJOIN (G4400010) and others are known,
--key names another property. What is left over on both sides is counted.

A class is an interval of values between two breaks. An area has the color of its class if its margin stays in the class, is hatched if the
margin reaches one other class, and gray if it reaches two or more.
"""

from __future__ import annotations

import argparse
import bisect
import collections
import csv
import dataclasses
import json
import math
import pathlib
import re
import statistics
import sys
from typing import Any

# Properties with the code of an area, in this order; case does not matter.
KEYS = ["GEOID", "GEOID20", "GEOID10", "GEOIDFQ", "GEOIDFQ20", "AFFGEOID", "AFFGEOID20", "GEO_ID", "GISJOIN"]
Ring = list[list[float]]
Shapes = dict[str, list[list[Ring]]]


@dataclasses.dataclass
class Estimate:
    """A value with its interval."""

    value: float
    low: float
    high: float


@dataclasses.dataclass
class Estimates:
    """Estimates by GEOID."""

    by_area: dict[str, Estimate]
    what: str
    confidence: str
    # What a heading says about an insecure seed.
    note: str = ""


class Refused(Exception):
    """Input that cannot be drawn."""


def geoid_of(code: Any) -> str:
    """The GEOID in a code: 44001, 0500000US44001 and G4400010 are one county."""
    if not isinstance(code, str):
        raise Refused(f"the code {code!r} is no text, so a leading zero may be lost: write codes as texts")
    text = code.strip()
    if long := re.fullmatch(r"[0-9]{3}[0-9A-Z]{2,6}US([0-9A-Z]*)", text):
        return long.group(1)
    # NHGIS: a zero after the state and one after the county.
    if nhgis := re.fullmatch(r"G(\d\d)0(?:(\d{3})0(\d*))?", text):
        return "".join(part or "" for part in nhgis.groups())
    return text


def number(text: str | None, where: str) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Refused(f"{where}: {text!r} is no number")
    return value


def read_csv(path: pathlib.Path, variable: str | None) -> Estimates:
    """The estimates of one variable, or of the first."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        columns, rows = list(reader.fieldnames or []), list(reader)

    def column(*names: str) -> str:
        # "estimate (insecure seed 7)" is the column of estimates.
        def is_named(own: str, name: str) -> bool:
            return own == name or own.startswith(f"{name} (") or (name == "moe_" and own.startswith(name))

        found = [own for name in names for own in columns if is_named(own, name)]
        if not found:
            raise Refused(f"{path}: no column {' or '.join(names)}: expected the file of `assay nmf estimate`, without --wide")
        return found[0]

    area, value, margin = column("GEOID", "geoid", "area"), column("estimate"), column("moe_", "margin_95")
    name = column("variable", "query")
    variable = variable or next((row[name] for row in rows), "")
    estimates: dict[str, Estimate] = {}
    for line, row in enumerate(rows, 2):
        if row[name] != variable:
            continue
        where, geoid = f"{path}, line {line}", geoid_of(row[area])
        if geoid in estimates:
            raise Refused(f"{where}: {geoid} has two rows of {variable}: use --tabulation, which puts parts together, and one cell")
        own, half = number(row[value], where), number(row[margin], where)
        estimates[geoid] = Estimate(own, own - half, own + half)
    if not estimates:
        known = ", ".join(sorted({row[name] or "" for row in rows})) or "no rows"
        raise Refused(f"{path}: no estimate of {variable!r}: it has {known}")
    return Estimates(estimates, variable, margin.rpartition("_")[2], value.partition(" (")[2].rstrip(")"))


def read_json(path: pathlib.Path, key: str, what: str) -> list[dict[str, Any]]:
    """The list of objects that a file of JSON has under this key."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))[key]
    except (ValueError, KeyError, TypeError) as error:
        raise Refused(f"{path}: {what} ({error})") from error
    if not isinstance(found, list) or not all(isinstance(own, dict) for own in found):
        raise Refused(f"{path}: {what}")
    return found


def read_shares(path: pathlib.Path, share: str) -> Estimates:
    """The shares of an answer in JSON, with Fieller's interval, or where there is none the whole line."""
    expected = f"give `assay nmf estimate` the option --share {share}, and keep its answer by --json"
    part, _, whole = share.partition("/")
    found = [own for own in read_json(path, "shares", expected) if (own.get("first"), own.get("second")) == (part, whole)]
    estimates: dict[str, Estimate] = {}
    confidence = ""
    for own in found:
        name = next((key for key in own if key.startswith("fieller_")), None)
        if name is None or "share" not in own or "within" not in own:
            raise Refused(f"{path}: {expected}")
        low, high = own[name] or (-math.inf, math.inf)
        confidence = name.rpartition("_")[2]
        if own["share"] is not None:
            estimates[geoid_of(own["within"])] = Estimate(own["share"], low, high)
    if not estimates:
        raise Refused(f"{path}: no share {share}: {expected}")
    seed = json.loads(path.read_text(encoding="utf-8")).get("insecure_seed")
    return Estimates(estimates, share, confidence, "" if seed is None else f"insecure seed {seed}")


def read_shapes(path: pathlib.Path, key: str | None) -> Shapes:
    """The polygons of each GEOID."""
    features = read_json(path, "features", "no GeoJSON with features")
    properties = {name.upper(): name for feature in features for name in feature.get("properties") or {}}
    found = key or next((properties[name] for name in KEYS if name in properties), None)
    if found is None:
        known = ", ".join(properties.values()) or "none"
        raise Refused(f"{path}: none of the properties {', '.join(KEYS)}: name yours by --key; it has {known}")
    shapes: dict[str, list[list[Ring]]] = collections.defaultdict(list)
    for at, feature in enumerate(features, 1):
        where = f"{path}, feature {at}"
        if (feature.get("properties") or {}).get(found) is None:
            raise Refused(f"{where}: no property {found}")
        shapes[geoid_of(feature["properties"][found])] += polygons_of(feature.get("geometry"), where)
    return dict(shapes)


def polygons_of(geometry: Any, where: str) -> list[list[Ring]]:
    """The polygons of a geometry, each a list of rings; a missing geometry has none."""
    if geometry is None:
        return []
    try:
        kind, polygons = geometry["type"], geometry.get("coordinates")
        if kind not in ("Polygon", "MultiPolygon"):
            raise Refused(f"{where}: a {kind}: expected polygons")
        polygons = [polygons] if kind == "Polygon" else polygons
        rings = [[[float(x), float(y)] for x, y, *_ in ring] for polygon in polygons for ring in polygon]
        counts = [len(polygon) for polygon in polygons]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Refused(f"{where}: no polygon of GeoJSON ({error})") from error
    if any(len(ring) < 4 for ring in rings):
        raise Refused(f"{where}: a ring of fewer than four points")
    if not all(abs(x) <= 180 and abs(y) <= 90 for ring in rings for x, y in ring):
        raise Refused(f"{where}: coordinates are not in degrees: convert by `ogr2ogr -t_srs EPSG:4326`")
    following = iter(rings)
    return [[next(following) for _ in range(count)] for count in counts]


def joined(estimates: Estimates, shapes: Shapes) -> list[str]:
    """The areas that have both, and a sentence for what is left over."""
    lengths = {len(geoid) for geoid in shapes}
    wanted = [geoid for geoid in estimates.by_area if len(geoid) in lengths]
    both = [geoid for geoid in wanted if geoid in shapes]
    without_shape = [geoid for geoid in wanted if geoid not in shapes]
    without_estimate = [geoid for geoid in shapes if geoid not in estimates.by_area]
    empty = [geoid for geoid in both if not shapes[geoid]]

    def named(codes: list[str]) -> str:
        shown = ", ".join(codes[:5]) + (", ..." if len(codes) > 5 else "")
        return f"{len(codes)}{f' ({shown})' if codes else ''}"

    left = f"estimates without a shape: {named(without_shape)}; shapes without an estimate: {named(without_estimate)}"
    print(f"{len(both)} areas joined; {left}")
    if others := len(estimates.by_area) - len(wanted):
        print(f"{others} estimates of other levels, whose codes have another length, are left out")
    if empty:
        print(f"shapes without a polygon: {named(empty)}")
    if not both:
        raise Refused("no code is in both files")
    if not any(shapes.values()):
        raise Refused("no shape has a polygon")
    return both


def breaks_of(values: list[float], classes: int) -> list[float]:
    """The inner breaks of classes with equally many areas, rounded to two digits; equal ones once."""
    quantiles = statistics.quantiles(values, n=classes, method="inclusive") if len(values) > 1 else []
    return sorted({float(f"{own:.2g}") for own in quantiles})


def reached(estimate: Estimate, breaks: list[float]) -> tuple[int, int]:
    """The class of an estimate, and the number of classes that its interval reaches."""
    low, high = (bisect.bisect_right(breaks, end) for end in (estimate.low, estimate.high))
    return bisect.bisect_right(breaks, estimate.value), high - low + 1


def outline(polygons: list[list[Ring]], west: bool) -> Any:
    """One path of all rings; outer ones turn left, holes right, whatever the file has. Across the date line all is put into the west."""
    from matplotlib.path import Path

    rings = []
    for polygon in polygons:
        for at, ring in enumerate(polygon):
            points = [(x - 360 if west and x > 0 else x, y) for x, y in ring]
            turn = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(points, points[1:] + points[:1]))
            rings.append(Path(points if (turn > 0) == (at == 0) else points[::-1], closed=True))
    return Path.make_compound_path(*rings)


def draw(estimates: Estimates, shapes: Shapes, breaks: list[float], out: pathlib.Path, title: str | None) -> collections.Counter[str]:
    """Draws the map, and counts the areas of each kind."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams.update({"svg.hashsalt": "map", "svg.fonttype": "none", "hatch.linewidth": 0.7})
    from matplotlib import pyplot
    from matplotlib.patches import Patch, PathPatch

    longitudes = [x for polygons in shapes.values() for polygon in polygons for ring in polygon for x, _ in ring]
    latitudes = [y for polygons in shapes.values() for polygon in polygons for ring in polygon for _, y in ring]
    west = max(longitudes) - min(longitudes) > 180
    # Light enough for dark hatches.
    colors = [matplotlib.colormaps["YlGnBu"](0.08 + 0.54 * at / max(1, len(breaks))) for at in range(len(breaks) + 1)]
    figure, axes = pyplot.subplots(figsize=(8, 6), layout="constrained")
    kinds: collections.Counter[str] = collections.Counter()
    for geoid, polygons in shapes.items():
        style: dict[str, Any] = {"facecolor": "white", "linestyle": ":"}
        kind = "no estimate"
        if geoid in estimates.by_area:
            own, classes = reached(estimates.by_area[geoid], breaks)
            kind = ["certain", "hatched", "gray"][min(classes, 3) - 1]
            style = {"facecolor": "0.75" if kind == "gray" else colors[own], "hatch": "////" if kind == "hatched" else None}
        kinds[kind] += 1
        if polygons:
            axes.add_patch(PathPatch(outline(polygons, west), edgecolor="0.25", linewidth=0.6, **style))
    axes.autoscale_view()
    axes.set_aspect(1 / max(0.1, math.cos(math.radians((min(latitudes) + max(latitudes)) / 2))))
    axes.set_axis_off()
    axes.set_title(title or f"{estimates.what}, estimates with margins of {estimates.confidence} %", fontsize="medium")

    def shown(value: float) -> str:
        return f"{value:,.12g}"

    if breaks:
        between = [f"{shown(a)} to {shown(b)}" for a, b in zip(breaks, breaks[1:])]
        labels = [f"below {shown(breaks[0])}", *between, f"{shown(breaks[-1])} and above"]
    else:
        labels = ["all areas"]
    legend = [Patch(facecolor=color, edgecolor="0.25", label=label) for color, label in zip(colors, labels)]
    legend.append(Patch(facecolor="white", edgecolor="0.25", hatch="////", label=f"the margin reaches another class: {kinds['hatched']}"))
    legend.append(Patch(facecolor="0.75", edgecolor="0.25", label=f"it reaches two or more: {kinds['gray']}"))
    if kinds["no estimate"]:
        legend.append(Patch(facecolor="white", edgecolor="0.25", linestyle=":", label=f"no estimate: {kinds['no estimate']}"))
    figure.legend(handles=legend, loc="outside right center", fontsize="small", frameon=False)
    if estimates.note:
        figure.supxlabel(f"estimates: {estimates.note}", fontsize="small", color="firebrick")
    figure.savefig(out, dpi=150, bbox_inches="tight", metadata={"Date": None} if out.suffix == ".svg" else None)
    pyplot.close(figure)
    return kinds


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("estimates", type=pathlib.Path, help="CSV, or with --share JSON, of `assay nmf estimate`")
    arguments.add_argument("shapes", type=pathlib.Path, help="GeoJSON")
    arguments.add_argument("--out", type=pathlib.Path, required=True, help="the picture, .svg, .png or .pdf")
    what = arguments.add_mutually_exclusive_group()
    what.add_argument("--variable", help="the variable or query (default: the first)")
    what.add_argument("--share", metavar="PART/WHOLE")
    arguments.add_argument("--key", help="the property of the shapes that has the code")
    arguments.add_argument("--classes", type=int, default=5, help="the number of classes, with equally many areas each (default: 5)")
    arguments.add_argument("--breaks", help="the breaks between classes instead, as 0.1,0.2,0.4")
    arguments.add_argument("--title")
    asked = arguments.parse_args()
    try:
        if not 1 <= asked.classes <= 9:
            raise Refused("--classes: expected 1 to 9")
        if asked.out.suffix not in (".svg", ".png", ".pdf"):
            raise Refused(f"--out {asked.out}: expected .svg, .png or .pdf")
        estimates = read_shares(asked.estimates, asked.share) if asked.share else read_csv(asked.estimates, asked.variable)
        shapes = read_shapes(asked.shapes, asked.key)
        both = joined(estimates, shapes)
        breaks = sorted({number(own, "--breaks") for own in asked.breaks.split(",")}) if asked.breaks else None
        breaks = breaks if breaks is not None else breaks_of([estimates.by_area[geoid].value for geoid in both], asked.classes)
        kinds = draw(estimates, shapes, breaks, asked.out, asked.title)
    except (Refused, OSError, ValueError, csv.Error) as error:
        sys.exit(f"map_of_estimates: {error}")
    print(f"{asked.out}: {kinds['certain']} areas in the color of their class, {kinds['hatched']} hatched, {kinds['gray']} gray")


if __name__ == "__main__":
    main()
