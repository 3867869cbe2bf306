"""The package itself: types, documentation, start-up, charts, and the contents of a wheel."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from conftest import ROOT, program

import dp_assay
from dp_assay import _native, nmf, topdown
from dp_assay import program as program_module
from dp_assay import risk as risk_module

CONFIG = ROOT / "python" / "pyproject.toml"

# Names that exist for the type checker only.
NOT_AT_RUN_TIME = r"""
dp_assay\.dp_accounting\.CertifiedAccountant
dp_assay\.(dp_accounting|_events)\.DiscreteGaussianDpEvent.*
dp_assay\._opacus_engine.*
dp_assay\.opacus\.CertifiedPrivacyEngine.*
"""


def test_the_stubs_are_those_of_the_module(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    allowed = tmp_path / "allowed.txt"
    allowed.write_text(NOT_AT_RUN_TIME.strip() + "\n")
    command = [sys.executable, "-m", "mypy.stubtest", "dp_assay", "--mypy-config-file", str(CONFIG), "--allowlist", str(allowed)]
    done = subprocess.run([*command, "--ignore-unused-allowlist"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_type_checker_reads_the_package(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    good = tmp_path / "good.py"
    good.write_text(
        "from dp_assay import DiscreteGaussian, Enclosure\n"
        "answer: Enclosure = DiscreteGaussian('5', count=10).epsilon('1e-11')\n"
        "text: str = answer.shown(6)\n"
        "from typing import Any\n"
        "from dp_assay import Composition, Release, allocate, nmf\n"
        "level = DiscreteGaussian('5')\n"
        "thrice: Composition = 3 * level\n"
        "both: DiscreteGaussian | int = sum([level, level])\n"
        "release: Release = Release.from_toml(Release('su-su-wang-2025', 'State').to_toml())\n"
        "found: dict[str, Any] = allocate([{'name': 'a', 'most_margin': 5}], 3, '1e-9', neighbors='bounded')\n"
        "rows: list[dict[str, Any]] = nmf.estimate('folder', release, areas={'a': ['440030001001001']}).records()\n"
        "from dp_assay import topdown\n"
        "drawn: dict[str, Any] = topdown.measure('spine', 'counts.csv', release, 'out', epsilon='1/2', unfinished='resume')\n"
        "from dp_assay import program\n"
        "certified: dict[str, Any] = program.prove(level, delta='1e-9', out='certificate.json')\n"
        "written: dict[str, Any] = topdown.estimate('spine', 'out', 'release.toml', 'estimates', queries=['total'])\n"
    )
    bad = tmp_path / "bad.py"
    bad.write_text("from dp_assay import DiscreteGaussian\nx: float = DiscreteGaussian('5').epsilon('1e-11')\n")
    run = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(CONFIG)]
    for what in ([str(good)], ["-p", "dp_assay"]):
        taken = subprocess.run([*run, *what], cwd=tmp_path, capture_output=True, text=True)
        assert taken.returncode == 0, taken.stdout
    refused = subprocess.run([*run, str(bad)], cwd=tmp_path, capture_output=True, text=True)
    assert refused.returncode == 1 and 'has type "Enclosure"' in refused.stdout


def test_everything_public_is_documented() -> None:
    classes = [getattr(_native, name) for name in _native.__all__ if inspect.isclass(getattr(_native, name))]
    assert len(classes) == 25
    for kind in classes:
        assert kind.__doc__, kind
        for name, member in vars(kind).items():
            assert name.startswith("_") or member.__doc__, f"{kind.__name__}.{name}"
    for module in (dp_assay, risk_module, nmf, topdown, program_module):
        assert module.__doc__ and all(getattr(module, name).__doc__ for name in module.__all__)


def test_importing_is_light() -> None:
    seen = "import sys, dp_assay; print(*sorted(set(sys.modules) & {'numpy', 'pandas', 'polars', 'matplotlib', 'scipy'}))"
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True, cwd=os.sep)
    assert done.stdout.strip() == "", "imported only when they are used"


def test_charts_are_drawn(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    account = dp_assay.DiscreteGaussian(5, 10)
    axes = account.plot(points=20)
    line = axes.lines[0].get_ydata()
    assert len(line) == 20 and line[0] == account.profile([0], digits=8)[1][0] and axes.get_yscale() == "log"
    assert "natural logarithm" in axes.get_xlabel() and "probability" in axes.get_ylabel() and "add-remove neighbors" in axes.get_title()
    compared = account.plot("compare", points=20).lines
    assert [each.get_label() for each in compared] == ["exact", "zCDP (Bun-Steinke)"]
    assert all(exact <= bound for exact, bound in zip(compared[0].get_ydata(), compared[1].get_ydata()))
    tradeoff = account.plot("tradeoff", points=5).lines[0].get_ydata()
    assert tradeoff[0] == 1 and tradeoff[-1] == 0
    release = dp_assay.Release("su-su-wang-2025")
    bars = release.plot("noise")
    assert len(bars.patches) == 8
    bars.figure.savefig(tmp_path / "noise.png")
    assert (tmp_path / "noise.png").stat().st_size > 5000
    with pytest.raises(ValueError, match="expected one of"):
        account.plot("bars")  # type: ignore[arg-type]
    for kind in ("profile", "tradeoff"):
        with pytest.raises(ValueError, match="expected 2 or more"):
            account.plot(kind, points=1)
    with pytest.raises(ValueError, match="no sigma2"):
        dp_assay.DiscreteLaplace(1).plot("noise")


def test_charts_of_other_noise_and_options() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    # An infinite loss is marked, and the profile ends there.
    guarantee = dp_assay.Approximate(1, "1e-6", 3)
    curve, mark = guarantee.plot(points=20).lines
    mass = guarantee.infinite_loss_mass
    assert mass is not None and curve.get_ydata()[-1] == pytest.approx(mass.upper_float) == mark.get_ydata()[0]
    # rho of noise on samples ignores the samples.
    sampled = dp_assay.dp_sgd(1, "0.01", 100).plot("compare", points=5).lines
    assert [each.get_label() for each in sampled] == ["exact"]
    labels = dp_assay.Release("su-su-wang-2025").plot("noise").get_xticklabels()
    assert {label.get_horizontalalignment() for label in labels} == {"right"}
    account, before = dp_assay.DiscreteGaussian(5, 10), pyplot.get_fignums()
    for kind, options in (("noise", {"points": 5}), ("profile", {"foo": 1}), ("tradeoff", {"to": 3}), ("noise", {"foo": 1})):
        with pytest.raises(TypeError, match="no (such )?option"):
            account.plot(kind, **options)  # type: ignore[arg-type]
    for to in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="an epsilon above 0"):
            account.plot(to=to)
    assert pyplot.get_fignums() == before
    pyplot.close("all")


def test_the_version_is_the_program_s() -> None:
    path = program()
    if path is None:
        pytest.skip("the package was built in place, without the program")
    printed = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    assert printed.split()[:2] == ["assay", dp_assay.__version__] and metadata.version("dp-assay") == dp_assay.__version__
    refused = subprocess.run([path, "epsilon", "--discrete-gaussian", "5", "--delta", "2"], capture_output=True, text=True)
    assert refused.returncode == 2 and "--delta" in refused.stderr


def test_licences_and_sources_are_named() -> None:
    if program() is None:
        pytest.skip("the package was built in place")
    assert "LGPL-3.0-or-later" in metadata.metadata("dp-assay")["License-Expression"]
    files = {Path(str(file)).name: file for file in metadata.files("dp-assay") or []}
    read = {name: Path(str(files[name].locate())).read_text() for name in ("NOTICE", "LGPL-3.0.md", "GPL-3.0.md", "THIRD-PARTY.txt")}
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in read["LGPL-3.0.md"].upper() and "version 3" in read["GPL-3.0.md"].lower()
    assert "GMP 6.3.0" in read["NOTICE"] and "MPFR 4.2.2" in read["NOTICE"]
    locked = (ROOT / "Cargo.lock").read_text()
    crate = re.search(r'name = "gmp-mpfr-sys"\nversion = "(.*)"\n.*\nchecksum = "(.*)"', locked)
    assert crate and f"gmp-mpfr-sys {crate[1]}" in read["NOTICE"] and crate[2] in read["NOTICE"]
    for name in ("pyo3", "rug", "clap", "rayon"):
        assert re.search(rf"^{name} [0-9.]+: ", read["THIRD-PARTY.txt"], re.MULTILINE), name
    assert {"LICENSE-MIT", "LICENSE-APACHE"} <= set(files)
    assert all((Path(dp_assay.__file__).parent / name).exists() for name in ("py.typed", "_native.pyi"))


def test_the_wheel_is_small() -> None:
    wheels = sorted((ROOT / "target" / "wheels").glob("dp_assay-*.whl"), key=os.path.getmtime)
    if not wheels:
        pytest.skip("no wheel in target/wheels")
    assert wheels[-1].stat().st_size < 60e6 and "abi3" in wheels[-1].name
    names = zipfile.ZipFile(wheels[-1]).namelist()
    assert any(name.endswith(".data/scripts/assay") for name in names) and not any("tests" in name for name in names)
