"""Measuring and estimating on a spine, as the program does it."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import program, same

from dp_assay import Enclosure, Release, nmf, topdown

pytestmark = pytest.mark.skipif(program() is None, reason="the package was built in place, without the program")

QUERIES = (("total", "1/4"), ("age * some", "1/4"), ("detailed", "1/2"))
RELEASE = """name = "two attributes"
title = "t"
source = "made up for a test"
neighbors = "bounded"
rho = "2"
[[attribute]]
name = "age"
values = ["child", "adult"]
[[attribute]]
name = "race"
size = 3
[[recode]]
name = "some"
attribute = "race"
groups = [["0"], ["1", "2"]]
""" + "".join(
    f'[[level]]\nname = "{level}"\nproportion = "1/6"\n' + "".join(f'[[level.query]]\nname = "{name}"\nproportion = "{share}"\n' for name, share in QUERIES)
    for level in ("US", "State", "County", "Tract", "Group", "Block")
)
COUNTS = "block,age,race,count\n440010301001001,adult,0,7\n440010301001000,child,2,5\n440010301001000,adult,2,1\n"


def assay_in(folder: Path, *arguments: str) -> None:
    path = program()
    assert path is not None
    subprocess.run([path, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a spine of five blocks, counts and a release."""
    (tmp_path / "release.toml").write_text(RELEASE)
    (tmp_path / "plan.toml").write_text('settings = "redistricting-units"\nrelease = "release.toml"\n')
    blocks = ("440010301001000", "440010301001001", "440010301002000", "440030301001000", "440030302001000")
    (tmp_path / "blocks.csv").write_text("block\n" + "\n".join(blocks) + "\n")
    (tmp_path / "counts.csv").write_text(COUNTS)
    assay_in(tmp_path, "spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "spine")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tables(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.csv"))}


def events(log: Path) -> list[str]:
    return [json.loads(line)["event"] for line in log.read_text().splitlines()]


def test_a_measurement_is_the_program_s(place: Path) -> None:
    own = topdown.measure("spine", "counts.csv", "release.toml", "own", insecure_seed=7)
    assay_in(place, "measure", "--spine", "spine", "--counts", "counts.csv", "--release", "release.toml", "--out", "its", "--insecure-seed", "7")
    assert tables(place / "own") == tables(place / "its") and len(tables(place / "own")) > 10
    manifest, its = (json.loads((place / name / "measurements.json").read_text(), parse_float=Decimal) for name in ("own", "its"))
    for file in (manifest, its):
        assert file["provenance"].pop("command_line")
    assert manifest == its and own["provenance"]["command_line"][0] == "dp_assay.topdown.measure"
    epsilon = own["epsilon"]
    assert isinstance(epsilon, Enclosure) and epsilon.met and same(epsilon, its["privacy"]["epsilon"])
    assert own["noisy_counts"] == sum(file["counts"] * file["units"] for file in own["files"]) and own["rho"] == 2
    assert own["insecure_seed"] == 7 and own["confidential"]["records"] == 13
    # A seed protects nobody: nothing is logged beside the counts.
    assert not (place / "counts.csv.draws").exists()
    # The hash of the true counts is nowhere.
    assert own["provenance"]["inputs"][0] == {"name": "counts.csv", "sha256": None, "confidential": True}


def test_a_second_draw_is_refused_until_its_budget_is_counted(place: Path) -> None:
    first = topdown.measure("spine", "counts.csv", Release("release.toml"), "first")
    assert (first["draw"], first["earlier_draws"]) == (1, 0) and "insecure_seed" not in first
    assert (place / "counts.csv.draws").exists() and not (place / "first.key").exists() and events(place / "first.log") == ["intent", "released"]
    with pytest.raises(ValueError, match="(?s)^out: .*drawn from before, once in all.*unfinished=\"discard\" counts"):
        topdown.measure("spine", "counts.csv", "release.toml", "second")
    with pytest.raises(ValueError, match="never overwritten"):
        topdown.measure("spine", "counts.csv", "release.toml", "first", unfinished="discard")
    second = topdown.measure("spine", "counts.csv", "release.toml", "second", unfinished="discard")
    assert second["earlier_draws"] == 1 and second["all_draws"]["rho"] == 4
    assert tables(place / "first") != tables(place / "second"), "noise of the operating system differs"


def test_an_interrupted_draw_is_repeated_bit_by_bit(place: Path) -> None:
    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    call = "from dp_assay import topdown\ntopdown.measure('spine', 'counts.csv', 'release.toml', 'out', insecure_seed=7)"
    ended = subprocess.run([sys.executable, "-B", "-c", call], cwd=place, capture_output=True, text=True, preexec_fn=limited)
    assert ended.returncode == 1 and "ValueError: out: " in ended.stderr, ended.stderr
    assert (place / "out.key").exists() and not (place / "out").exists()
    with pytest.raises(ValueError, match="draw 1 was begun"):
        topdown.measure("spine", "counts.csv", "release.toml", "out", insecure_seed=7)
    (place / "counts.csv").write_text(COUNTS.replace(",7\n", ",8\n"))
    with pytest.raises(ValueError, match="the same noise on other counts"):
        topdown.measure("spine", "counts.csv", "release.toml", "out", insecure_seed=7, unfinished="resume")
    (place / "counts.csv").write_text(COUNTS)
    # The program resumes what Python began, and the other way round.
    resumed = topdown.measure("spine", "counts.csv", "release.toml", "out", insecure_seed=7, unfinished="resume")
    assert resumed["draw"] == 1 and events(place / "out.log") == ["intent", "resumed", "released"] and not (place / "out.key").exists()
    topdown.measure("spine", "counts.csv", "release.toml", "whole", insecure_seed=7)
    assert tables(place / "out") == tables(place / "whole")


def test_estimates_are_the_program_s(place: Path) -> None:
    topdown.measure("spine", "counts.csv", "release.toml", "noisy", insecure_seed=7)
    own = topdown.estimate("spine", "noisy", "release.toml", "own", queries="all", level=["US", "State"], truth="counts.csv")
    arguments = ["--spine", "spine", "--measurements", "noisy", "--release", "release.toml", "--out", "its"]
    assay_in(place, "estimate", *arguments, "--queries", "all", "--level", "US", "State", "--truth", "counts.csv")
    assert tables(place / "own") == tables(place / "its") and set(tables(place / "own")) == {"counts.csv", "estimates.csv", "totals.csv"}
    assert [level["name"] for level in own["levels"]][:2] == ["US", "State"] and own["insecure_seed"] == 7
    variance = own["levels"][0]["variance_of_total"]
    assert 0 < variance["lower"] <= variance["upper"] and {row["level"] for row in own["errors"]} == {"US", "State"}
    (place / "areas.csv").write_text("area,block\nboth,440010301001000\nboth,440010301002000\n")
    areas = topdown.estimate("spine", "noisy", Release("release.toml"), "areas", areas="areas.csv")
    assert "errors" not in areas and (place / "areas" / "areas.csv").read_text().count("both") == 1
    plain = topdown.estimate("spine", "noisy", "release.toml", "plain")
    assert set(tables(place / "plain")) == {"counts.csv", "totals.csv"} and plain["records"] == own["records"]


def test_noisy_counts_in_the_bureau_s_layout(place: Path) -> None:
    drawn = topdown.measure("spine", "counts.csv", "release.toml", "nmf", files="nmf", insecure_seed=7)
    assert all(file["file"].endswith("DPQuery") for file in drawn["files"]) and (place / "nmf" / "nmf.json").exists()
    found = nmf.estimate("nmf", "release.toml", level="County", work="work")
    assert found.about["insecure_seed"] == 7 and (place / "work" / "job.json").exists()
    assert nmf.estimate("nmf", "release.toml", level="County", work="work").records() == found.records()
    with pytest.raises(ValueError, match="^work: .*another job.*by levels"):
        nmf.estimate("nmf", "release.toml", level="State", work="work")


def test_errors_name_the_argument(place: Path) -> None:
    given: dict[str, Any] = {"spine": "spine", "counts": "counts.csv", "release": "release.toml", "out": "out", "insecure_seed": 1}
    (place / "open.csv").write_text('block,age,race,count\n"440010301001001,adult,0,7\n\n')
    for change, error, says in (
        ({"spine": "nosuch"}, ValueError, "^spine: nosuch"),
        ({"release": "nosuch"}, ValueError, "^release: "),
        ({"release": 5}, TypeError, "release of type int"),
        ({"counts": "nosuch.csv"}, ValueError, "^counts: nosuch.csv"),
        ({"counts": "open.csv"}, ValueError, "^counts: .* by multiline=True"),
        ({"column": "people"}, ValueError, "^counts: .*people"),
        ({"epsilon": 1}, ValueError, "^release, epsilon: "),
        ({"files": "xml"}, ValueError, 'files = "xml": possible values are "csv", "nmf"'),
        ({"unfinished": "x"}, ValueError, "possible values"),
        ({"unfinished": "resume"}, ValueError, "^out: .*nothing to resume"),
        ({"delta": 2}, ValueError, "delta"),
        ({"digits": 0}, ValueError, "digits"),
        ({"out": "spine"}, ValueError, "^out: "),
    ):
        with pytest.raises(error, match=says):
            topdown.measure(**{**given, **change})
    assert not (place / "out.log").exists(), "nothing was drawn"
    topdown.measure(**{**given, "out": "noisy"})
    for change, says in (
        ({"measurements": "nosuch"}, "^measurements: nosuch"),
        ({"level": "Moon"}, '^level: unknown level "Moon"'),
        ({"truth": "nosuch.csv"}, "^truth: nosuch.csv"),
        ({"epsilon": 1}, "^release, epsilon: "),
        ({"level": "State", "areas": "x"}, "give one of them"),
    ):
        with pytest.raises(ValueError, match=says):
            topdown.estimate(**{"spine": "spine", "measurements": "noisy", "release": "release.toml", "out": "out", **change})


def test_a_log_that_cannot_be_written_is_a_warning(place: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    inside = place / "inside"
    inside.mkdir()
    (inside / "counts.csv").write_text(COUNTS)
    inside.chmod(0o500)
    try:
        with pytest.warns(UserWarning, match="cannot be written"):
            topdown.measure("spine", inside / "counts.csv", "release.toml", "out")
    finally:
        inside.chmod(0o700)

