"""check.html behind the functions of check.py that a forger calls: its script runs in node, by check.mjs. Standard library only."""

import base64
import json
import os
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import check

FOLDER = Path(__file__).resolve().parent


def has_node():
    """Whether there is a node that is new enough for the script: 18, or newer."""
    node = shutil.which("node")
    said = subprocess.run([node, "--version"], capture_output=True, text=True).stdout if node else ""
    return said.startswith("v") and int(said[1:].split(".")[0]) >= 18


class Page:
    """The checker of a page. Only the bytes to be checked come from check.py: their canonical form and seal."""

    Refused, canonical, seal = check.Refused, staticmethod(check.canonical), staticmethod(check.seal)

    def __init__(self, page=FOLDER / "check.html", most_work=None):
        limit = [] if most_work is None else ["--most-work", str(most_work)]
        command = ["node", str(FOLDER / "check.mjs"), "--lines", "--page", str(page), *limit]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self):
        """Of the processor, so far; on systems that have no /proc none."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def answer(self, data):
        self.process.stdin.write(base64.b64encode(data).decode() + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if answer.get("fault"):
            raise RuntimeError(answer["reason"])
        return answer

    def Work(self):
        return None

    def read(self, data):
        """A certificate whose statements all have bounds, whether these suffice or not."""
        answer = self.answer(data)
        if "bounds" not in answer:
            raise self.Refused(answer["reason"])
        return {"certificate": None, "claim": None, "proofs": answer["bounds"]}

    def statements(self, _certificate, _claim, bounds, _work):
        number = lambda pair: Fraction(*(int(part, 16) for part in pair))
        for one in bounds:
            yield one["words"], number(one["bound"]), one["sign"], number(one["end"]), ""

    def check(self, data):
        answer = self.answer(data)
        if answer["verdict"] != "proven":
            raise self.Refused(answer["reason"])
        return answer["statements"]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
