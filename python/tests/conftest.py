"""Shared by the tests: the program `assay` of the same installation, and numbers that are compared with it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Callable

import pytest

ROOT = Path(__file__).parents[2]


def program() -> Path | None:
    """The program that the wheel installed beside python. A package that was built in place has none."""
    found = shutil.which("assay", path=str(Path(sys.executable).parent))
    return Path(found) if found else None


@pytest.fixture(scope="session")
def assay() -> Callable[..., Any]:
    """Runs the program with --json and returns its output, with all digits."""
    path = program()
    if path is None:
        pytest.skip("the package was built in place, without the program")

    def run(*arguments: str) -> Any:
        done = subprocess.run([path, *arguments, "--json"], capture_output=True, text=True, check=True, cwd=ROOT)
        return json.loads(done.stdout, parse_float=Decimal, parse_int=Decimal)

    return run


def same(enclosure: Any, printed: dict[str, Decimal]) -> bool:
    """Whether the program's printed enclosure is this one: its ends are the same numbers, rounded outward."""
    lower, upper = Fraction(printed["lower"]), Fraction(printed["upper"])
    width = upper - lower
    inside = lower <= enclosure.lower and enclosure.upper <= upper
    # Rounding outward adds at most a few parts in a hundred to the width that is shown, and 1e-24 to a point.
    return inside and width <= Fraction(3, 2) * (enclosure.upper - enclosure.lower) + abs(upper) * Fraction(1, 10**24)
