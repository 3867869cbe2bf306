"""The check of margins, scripts/measure/coverage: its statistics, and the table that it wrote into the guide."""

from __future__ import annotations

import csv
import importlib.machinery
import importlib.util
import sys
from typing import Any

import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def coverage() -> Any:
    """The script, as a module."""
    path = ROOT / "scripts" / "measure" / "coverage"
    sys.path.insert(0, str(path.parent))
    loader = importlib.machinery.SourceFileLoader("coverage_of_margins", str(path))
    specification = importlib.util.spec_from_loader(loader.name, loader)
    assert specification is not None
    loaded = importlib.util.module_from_spec(specification)
    loader.exec_module(loaded)
    sys.path.remove(str(path.parent))
    return loaded


def test_the_intervals_are_those_of_clopper_and_pearson(coverage: Any) -> None:
    # 1 - 0.025^(1/10) for no case of ten, and the published interval for five of ten.
    assert coverage.exact_interval(0, 10, 0.05) == pytest.approx((0, 1 - 0.025**0.1), abs=1e-9)
    assert coverage.exact_interval(10, 10, 0.05) == pytest.approx((0.025**0.1, 1), abs=1e-9)
    assert coverage.exact_interval(5, 10, 0.05) == pytest.approx((0.187086, 0.812914), abs=1e-6)
    assert sum(coverage.at_most(count, 7, 0.3) - coverage.at_most(count - 1, 7, 0.3) for count in range(1, 8)) == pytest.approx(1 - 0.7**7)


def test_margins_that_are_ten_percent_too_narrow_are_found(coverage: Any) -> None:
    from statistics import NormalDist

    normal, outside = NormalDist(), coverage.FALSE_ALARM / 95
    for confidence in (0.95, 0.9):
        z = normal.inv_cdf((1 + confidence) / 2)
        for keep, fits in ((1.0, True), (0.9, False)):
            # 2,000 errors at the quantiles of the normal law.
            errors = [normal.inv_cdf((at + 0.5) / 2000) for at in range(2000)]
            cases = [coverage.Case("margin", "", confidence, abs(error) <= keep * z) for error in errors]
            assert coverage.checked(cases, outside)[1] == fits, (confidence, keep)
    wide = [coverage.Case("rank", "", 0.95, True, True)] * 2000
    assert coverage.checked(wide, outside)[1] and not coverage.checked([coverage.Case("rank", "", 0.95, True)] * 2000, outside)[1]


def test_the_table_of_the_guide_is_that_of_the_results(coverage: Any) -> None:
    rows = list(csv.reader((ROOT / "results" / "coverage.csv").open()))
    assert rows[0][:6] == coverage.HEADINGS and all(int(row[6]) >= 2000 for row in rows[1:])
    own = [[*row[:4], int(row[4]), row[5]] for row in rows[1:] if not row[0].startswith("error / std_dev")]
    text = (ROOT / "docs" / "guide" / "noisy-estimates.md").read_text()
    assert coverage.with_table(text, "coverage", coverage.HEADINGS, coverage.summary(own)) == text
    assert len(rows) - 1 == 95 and "all 95 comparisons" in text
