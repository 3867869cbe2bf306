"""Runs `assay` and other accountants on the same tasks; writes results/peers.csv and results/peers.svg.

Called by scripts/compare-peers. A task is one mechanism by one route of one library, in a separate process with a
timeout; each delta is computed from scratch. Seconds are those of the computation, without starting Python and importing
the library; for `assay` they are those of the whole process. Peak memory is that of the process, including interpreter and
libraries; for `assay` it cannot be measured below that of the bare Python that starts it, about 11 MiB.

A value claims to be an upper bound, a lower bound, or only an estimate. The claim is compared with the certified
enclosure of `assay` in the same run; no other library claims to bound the rounding errors of its doubles. If a library
has no discrete noise, its continuous noise is run and the row says so: that is another mechanism, and its own certified
value is given beside it.
"""

import argparse
import csv
import importlib
import io
import json
import math
import os
import platform
import resource
import signal
import subprocess
import sys
import time
import warnings
from fractions import Fraction
from importlib import metadata
from pathlib import Path

from peers_plot import svg
from peers_routes import ESTIMATE, LOWER, MODULES, ROOT, ROUTES, SAMPLES, UPPER, WORKS
from peers_routes import opendp_samples, processor_seconds

# ---- a task in a separate process ----------------------------------------------------------------------------------


def peak_mib(who):
    # Linux counts KiB, macOS bytes.
    return resource.getrusage(who).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)


def piece(library, name, work):
    """Runs a task; prints a JSON line for each answer on the original standard output."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print
    warnings.simplefilter("ignore")
    for module in MODULES[library]:
        importlib.import_module(module)

    def say(**answer):
        print(json.dumps({**answer, "mib": peak_mib(resource.RUSAGE_SELF)}), file=answers, flush=True)

    if work in SAMPLES:
        began = time.monotonic(), processor_seconds()
        value = opendp_samples(*SAMPLES[work])
        say(values=[("exact", value)], wall=time.monotonic() - began[0], cpu=processor_seconds() - began[1])
        return
    _, noise, groups, asked = WORKS[work]
    _, function, _ = ROUTES[library, name]
    groups = groups()
    for index, _ in enumerate(asked):
        # Each delta is computed from scratch, so that the seconds are those of one computation.
        began = time.monotonic(), processor_seconds()
        try:
            values = next(function(noise, groups, asked[index : index + 1]))
            failure = None
        except Exception as error:  # any exception of a library is its answer
            values, failure = [], f"{type(error).__name__}: {error}".splitlines()[0]
        say(
            values=[(claim, float(value)) for claim, value in values],
            failure=failure,
            wall=time.monotonic() - began[0],
            cpu=processor_seconds() - began[1],
        )


def run_piece(library, name, work, timeout):
    """The JSON lines of a task, and its error."""
    command = [sys.executable, __file__, "--piece", library, name, work]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    failure = None
    try:
        out, err = process.communicate(timeout=timeout)
        if process.returncode != 0:
            said = err.strip().splitlines()
            failure = said[-1] if said else f"ended by {process.returncode}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, _ = process.communicate()
        failure = f"no answer within {timeout} s"
    # The end of the process may truncate the last line.
    return [json.loads(line) for line in out.splitlines() if line.endswith("}")], failure


def run_assay(assay, arguments, timeout):
    """The output of a call of `assay`, with wall and processor seconds and peak memory of the process."""
    program = (
        "import json, resource, subprocess, sys, time\n"
        "began = time.monotonic()\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)\n"
        "wall = time.monotonic() - began\n"
        "usage = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([done.stdout, done.stderr, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss]))\n"
    )
    if "--count" in arguments:
        program = program.replace("stdout=subprocess.PIPE", "stdout=subprocess.DEVNULL")
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", program, assay, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, f"no answer within {timeout} s", {}
    out, err, wall, cpu, peak = json.loads(out)
    used = {"wall": wall, "cpu": cpu, "mib": peak / (1024 if sys.platform == "linux" else 1024**2)}
    return out, err.strip() or None, used


# ---- the comparison ------------------------------------------------------------------------------------------------

COLUMNS = [
    "work", "quantity", "at", "library", "version", "route", "mechanism", "claims", "value",
    "certified_lower", "certified_upper", "relative_error", "holds", "own_lower", "own_upper", "holds_for_own",
    "seconds", "cpu_seconds", "peak_mib", "note", "machine",
]  # fmt: skip


def machine():
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{os.cpu_count()} cores, {name}, Python {platform.python_version()}"


def number(value, digits=6):
    return "" if value is None else f"{float(value):.{digits}g}"


def holds(claim, value, enclosure):
    """Whether a claimed bound is valid: it is not if the whole enclosure is on the wrong side of it."""
    if claim == ESTIMATE or enclosure is None or math.isnan(value):
        return ""
    lower, upper = enclosure
    if math.isinf(value):
        return "yes" if (value > 0) == (claim == UPPER) else "no"
    value = Fraction(value)
    if claim == UPPER:
        return "yes" if value >= upper else "no" if value < lower else "undecided"
    return "yes" if value <= lower else "no" if value > upper else "undecided"


def relative_error(value, enclosure):
    if enclosure is None or not math.isfinite(value):
        return ""
    middle = sum(enclosure) / 2
    return f"{float((Fraction(value) - middle) / middle):.2e}"


class Comparison:
    def __init__(self, assay, timeout):
        self.assay, self.timeout, self.rows, self.machine = assay, timeout, [], machine()
        # The program's name, its version, and its commit.
        said = subprocess.run([assay, "--version"], capture_output=True, text=True, check=True).stdout
        self.own_version = said.split()[1]
        self.certified = {}

    def add(self, **cells):
        cells["machine"] = self.machine
        self.rows.append([cells.get(column, "") for column in COLUMNS])
        shown = [cells.get(key, "") for key in ("work", "at", "library", "route", "claims", "value", "seconds", "note")]
        print("  ".join(str(cell) for cell in shown if cell != ""), file=sys.stderr, flush=True)

    def certify(self, work, law, at):
        """The certified enclosure of a task for one law of noise."""
        key = (work, law, at)
        if key not in self.certified:
            quantity, _, groups, _ = WORKS[work]
            counts = [f"{parameter}x{count}" for parameter, count in groups()]
            arguments = ["epsilon", "--delta", at] if quantity == "epsilon" else ["tradeoff", "--alpha", at]
            arguments += [part for count in counts for part in (f"--{law}", count)] + ["--json"]
            out, failure, used = run_assay(self.assay, arguments, self.timeout)
            enclosure = None
            if out:
                answer = json.loads(out, parse_float=Fraction, parse_int=Fraction)
                if quantity == "epsilon":
                    enclosure = (answer["epsilon"]["lower"], answer["epsilon"]["upper"])
                else:
                    enclosure = (answer["beta_lower"][0], answer["beta_upper"][0])
            self.certified[key] = enclosure, failure, used
        return self.certified[key]

    def own(self, work):
        """The rows of `assay` itself."""
        quantity, noise, _, asked = WORKS[work]
        for at in asked:
            enclosure, failure, used = self.certify(work, f"discrete-{noise}", at)
            claim = UPPER if quantity == "epsilon" else LOWER
            value = enclosure and enclosure[1 if claim == UPPER else 0]
            self.add(
                work=work, quantity=quantity, at=at, library="dp-assay", version=self.own_version,
                route="certified enclosure, 12 digits", mechanism=f"discrete {noise.title()}", claims="enclosure",
                value=number(value, 15), certified_lower=enclosure and number(enclosure[0], 15),
                certified_upper=enclosure and number(enclosure[1], 15),
                relative_error=relative_error(float(value), enclosure) if enclosure else "",
                holds="yes" if enclosure else "",
                seconds=number(used.get("wall"), 3), cpu_seconds=number(used.get("cpu"), 3),
                peak_mib=number(used.get("mib"), 3), note=failure or "",
            )  # fmt: skip

    def peer(self, library, name, work):
        quantity, noise, _, asked = WORKS[work]
        _, _, other = ROUTES[library, name]
        other = other if noise == "gaussian" else None
        lines, failure = run_piece(library, name, work, self.timeout)
        for index, at in enumerate(asked):
            line = lines[index] if index < len(lines) else {}
            enclosure = self.certify(work, f"discrete-{noise}", at)[0]
            own = self.certify(work, "gaussian", at)[0] if other else None
            common = {
                "work": work, "quantity": quantity, "at": at, "library": library, "version": metadata.version(library),
                "route": name, "mechanism": other or f"discrete {noise.title()}",
                "certified_lower": enclosure and number(enclosure[0], 15),
                "certified_upper": enclosure and number(enclosure[1], 15),
                "own_lower": own and number(own[0], 15), "own_upper": own and number(own[1], 15),
                "seconds": number(line.get("wall"), 3), "cpu_seconds": number(line.get("cpu"), 3),
                "peak_mib": number(line.get("mib"), 3),
            }  # fmt: skip
            if not line.get("values"):
                self.add(**common, note=line.get("failure") or failure or "no answer")
            for claim, value in line.get("values", []):
                note = "no discrete Gaussian here: another mechanism" if other else ""
                if math.isinf(value):
                    note = "no finite answer"
                self.add(
                    **common, claims=claim, value=number(value, 15), relative_error=relative_error(value, enclosure),
                    holds=holds(claim, value, enclosure), holds_for_own=holds(claim, value, own), note=note,
                )  # fmt: skip

    def samples(self, work):
        noise, scale = SAMPLES[work]
        law = {"gaussian": f"{int(scale) ** 2}", "laplace": f"1/{scale}"}[noise]
        count = 2**23
        arguments = ["sample", f"--discrete-{noise}", law, "--count", str(count)]
        _, failure, used = run_assay(self.assay, arguments, self.timeout)
        common = {"work": work, "quantity": "ns a sample", "mechanism": f"discrete {noise.title()}", "claims": "exact"}
        value = used and number(used["cpu"] / count * 1e9, 3)
        self.add(
            **common, library="dp-assay", version=self.own_version, route="assay sample, as text",
            value=value, seconds=number(used.get("wall"), 3), cpu_seconds=number(used.get("cpu"), 3),
            peak_mib=number(used.get("mib"), 3), note=failure or f"{count} samples, start and printing included",
        )  # fmt: skip
        lines, failure = run_piece("opendp", "", work, self.timeout)
        line = lines[0] if lines else {}
        self.add(
            **common, library="opendp", version=metadata.version("opendp"), route="one call for a vector",
            value=number(line["values"][0][1], 3) if line else "", seconds=number(line.get("wall"), 3),
            cpu_seconds=number(line.get("cpu"), 3), peak_mib=number(line.get("mib"), 3),
            note=failure or f"{2**17} samples, the list's conversion included",
        )  # fmt: skip


def write(path, text):
    """Writes a temporary file and renames it, so that it is complete or missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text)
    part.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", help="the program to compare with")
    parser.add_argument("--out", type=Path, help="the folder to write into (default results)")
    parser.add_argument("--timeout", type=int, default=60, help="seconds for a task (default 60)")
    parser.add_argument("--only", default="", help="only tasks whose name contains this text")
    parser.add_argument("--piece", nargs=3, metavar=("LIBRARY", "ROUTE", "WORK"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.piece:
        return piece(*arguments.piece)
    if not arguments.assay:
        parser.error("--assay is needed: scripts/compare-peers gives it")
    if arguments.only and not arguments.out:
        parser.error("--only needs --out: a part would replace the whole comparison in results")
    out = arguments.out or ROOT / "results"
    comparison = Comparison(arguments.assay, arguments.timeout)
    began = time.monotonic()
    for work in (work for work in WORKS if arguments.only in work):
        comparison.own(work)
        for (library, name), (quantity, _, _) in ROUTES.items():
            if quantity == WORKS[work][0]:
                comparison.peer(library, name, work)
    for work in (work for work in SAMPLES if arguments.only in work):
        comparison.samples(work)
    if not comparison.rows:
        parser.error(f"--only {arguments.only}: no work of that name; there are {', '.join([*WORKS, *SAMPLES])}")
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(comparison.rows)
    write(out / "peers.csv", text.getvalue())
    write(out / "peers.svg", svg([dict(zip(COLUMNS, row)) for row in comparison.rows]))
    took = time.monotonic() - began
    print(f"{len(comparison.rows)} rows in {took:.0f} s: {out}/peers.csv", file=sys.stderr)


if __name__ == "__main__":
    main()
