"""The sessions of the guide's chapter and of the README, run unchanged; and the tables that a script writes."""

from __future__ import annotations

import csv
import doctest
import re
from pathlib import Path

import pytest
from conftest import ROOT

CHAPTER = ROOT / "docs" / "guide" / "python.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("path", [CHAPTER, ROOT / "README.md", ROOT / "python" / "DESCRIPTION.md"], ids=lambda path: path.name)
def test_sessions_say_what_is_written(path: Path) -> None:
    pytest.importorskip("dp_accounting")
    pytest.importorskip("pandas")
    blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(), re.DOTALL | re.MULTILINE)
    sessions = [block for block in blocks if ">>>" in block]
    assert sessions, "no session to run"
    test = doctest.DocTestParser().get_doctest("\n".join(sessions), {}, path.name, str(path), 0)
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test)
    assert result.attempted >= 3 and result.failed == 0


def test_tables_are_what_was_measured() -> None:
    rows = list(csv.DictReader((ROOT / "results" / "python.csv").open()))
    text = CHAPTER.read_text()
    for name in ("same question", "speed"):
        table = text.split(f"<!-- table: {name} -->")[1].split("<!-- end of table -->")[0]
        wanted = [row for row in rows if row["table"] == name]
        assert len(wanted) >= 5 and table.count("\n|") == len(wanted) + 2
        for row in wanted:
            assert row["what"] in table and row["shown"] in table, row["what"]
