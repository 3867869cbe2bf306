"""Runs the program `assay` that is installed with the package, with --json."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from decimal import Decimal
from pathlib import Path
from typing import Any

from ._native import VERSION


def _path() -> str:
    """The program beside this Python; another one only if it has the same version."""
    beside = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    found = shutil.which("assay", path=os.pathsep.join(beside)) or shutil.which("assay")
    if found is None:
        raise RuntimeError("the program assay is not installed: the wheel of dp-assay contains it, a package that was built in place does not")
    printed = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.split()
    if printed[:2] != ["assay", VERSION]:
        raise RuntimeError(f"{found} is {' '.join(printed[:2])}, and this package is of version {VERSION}: install one wheel for both")
    return found


def answer_of(arguments: list[str], accepted: tuple[int, ...] = (0,)) -> Any:
    """The program's answer: numbers are ints and Decimals with all their digits. A refusal raises ValueError with the program's message."""
    child = subprocess.Popen(
        [_path(), *arguments, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    try:
        printed, message = child.communicate()
    except BaseException:  # Ctrl-C ends it, too
        child.terminate()
        child.wait()
        raise
    if child.returncode in accepted:
        return json.loads(printed, parse_float=Decimal)
    # Refusals are JSON, too; an option is named as its argument here.
    try:
        message = json.loads(message or printed)["error"]
    except (ValueError, KeyError, TypeError):
        message = message.strip()
    message = re.sub(r"^--([a-z-]+)(?=[: ])", lambda option: option[1].replace("-", "_"), message)
    if child.returncode in (1, 2):
        raise ValueError(message)
    raise RuntimeError(f"assay ended with status {child.returncode}: {message}")
