"""Runs `assay` and census-bluedown over the same noisy measurements on one core each; writes results/peers-estimate.csv and a table of the
guide.

Called by scripts/compare-peers --bluedown. The state is synthetic (scripts/measure/invented_state.py). `assay measure --files nmf` draws its eleven queries
of P.L. 94-171 for the nation and all levels below, in the layout that both programs read; the constraint files get the bounds of group quarters and
the zero of minors in nursing homes. Both programs compute the best linear estimate of every unit from all queries, with every zero of the
constraint files and the exact total of the state: census-bluedown by its linear passes (scripts/peers/peers_bluedown.py), `assay` by the same two passes
in memory (`cargo bench --bench gls`), and as the whole program. Seconds are processor seconds of one thread. Times are only written if both
programs give the same numbers.

The step of census-bluedown after its upward pass is not compared: a non-linear program for non-negative whole counts, by a commercial solver.
"""

import argparse
import csv
import io
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from peers import machine, number, write
from peers_bluedown import QUERIES
from peers_routes import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "measure"))
from invented_state import BLOCKS, GROUPS, invent, most_blocks  # noqa: E402

RELEASE = ["--release", "pl94-persons-us"]
PRODUCT, STATE = "US_Person_PL_PROD", "006"
GUIDE = ROOT / "docs" / "guide" / "evidence.md"
COLUMNS = ["what", "unit", "census_bluedown", "assay", "ratio", "difference", "note", "blocks", "versions", "machine"]
LEVELS = ["State", "County", "Tract", "Block_Group", "Block"]
# Tracts, and thereby blocks, in a county.
TRACTS = 10
COUNTY = TRACTS * GROUPS * BLOCKS
HHGQ = ["household", "correctional", "juvenile", "nursing", "other-institutional", "college", "military", "other-noninstitutional"]
# Both are exact except for the rounding of doubles. Larger differences would mean different problems: of estimates in standard deviations, and
# of variances relatively; of counts fixed by constraints in persons, to which the root of a rounded variance belongs.
MOST_DIFFERENCE, MOST_OF_FIXED = 1e-6, 1e-4


def stop(message):
    sys.exit(f"scripts/compare-peers --bluedown: {message}")


def on_one_core(command, folder):
    """Runs a command on one core with one thread: its output, and its processor seconds."""
    threads = dict.fromkeys(["RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")
    pin = None
    if hasattr(os, "sched_setaffinity"):
        core = min(os.sched_getaffinity(0))
        pin = lambda: os.sched_setaffinity(0, {core})  # noqa: E731
    command = [str(part) for part in command]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **threads}, stdout=subprocess.PIPE, stderr=said, text=True, preexec_fn=pin
        )
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            stop(f"it failed: {' '.join(command)}\n{said.read()}")
    return out, usage.ru_utime + usage.ru_stime


def write_constraints(files, counts):
    """Rewrites the constraint files of every level: for each unit the bounds of its group quarters, a facility in each block that has
    people in one, and the zero of minors in nursing homes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    facilities = {}
    with counts.open() as lines:
        for row in csv.DictReader(lines):
            of_block = facilities.setdefault(row["block"], [1] + [0] * (len(HHGQ) - 1))
            of_block[HHGQ.index(row["hhgq"])] = 1
    (of_blocks,) = files.glob("Block.parquet/Constraint/*/*.parquet")
    # An uninhabited block has homes.
    empty = [1] + [0] * (len(HHGQ) - 1)
    by_code = {code: facilities.get(code[15:26] + code[27:], empty) for code in pq.read_table(of_blocks)["geocode"].to_pylist()}
    for path in files.glob("*.parquet/Constraint/**/*.parquet"):
        table = pq.read_table(path)
        rows = [row for row in table.to_pylist() if row["query_name"] == "total_con"]
        codes = dict.fromkeys(table["geocode"].to_pylist())
        width = max(map(len, codes))
        sums = {code: [0] * len(HHGQ) for code in codes}
        for block, own in by_code.items():
            sums[block[:width]] = [a + b for a, b in zip(sums[block[:width]], own)]
        stars = dict.fromkeys(["votingage", "hispanic", "cenrace"], "*")
        for code, own in sums.items():
            of_types = {"geocode": code, "hhgq": "detailed", **stars, "query_shape": [len(HHGQ), 1, 1, 1], "variance": 0.0}
            rows += [
                {**of_types, "query_name": "hhgq_total_lb_con", "sign": ">=", "value": [0, *own[1:]]},
                # A block has fifty homes.
                {**of_types, "query_name": "hhgq_total_ub_con", "sign": "<=", "value": [99_999 * 50 * own[0], *(99_999 * many for many in own[1:])]},
                {**of_types, "query_name": "nurse_nva_0_con", "sign": "=", "hhgq": "gqNursingTotal", "votingage": "nonvoting",
                 "query_shape": [1, 1, 1, 1], "value": [0]},
            ]  # fmt: skip
        pq.write_table(pa.Table.from_pylist(rows, schema=table.schema.set(8, pa.field("value", pa.list_(pa.int64())))), path)


def at_most(value):
    """Two digits, rounded up."""
    if value == 0:
        return "0"
    place = math.floor(math.log10(value)) - 1
    return f"{math.ceil(value / 10.0**place) / 10:.1f}e{place + 1}"


class Differences:
    """The differences between the estimates of both."""

    def __init__(self):
        self.counts, self.fixed, self.estimates, self.variances, self.of_fixed = 0, 0, 0.0, 0.0, 0.0

    def add(self, np, own, other):
        (estimates, variances), (their_estimates, their_variances) = own, other
        free = variances > 0
        apart = np.abs(their_estimates - estimates)
        self.counts += free.size
        self.fixed += int(free.size - free.sum())
        self.estimates = max(self.estimates, (apart[free] / np.sqrt(variances[free])).max(initial=0))
        self.variances = max(self.variances, np.abs(their_variances[free] / variances[free] - 1).max(initial=0))
        # Counts that constraints fix: here their variance is 0.
        self.of_fixed = max(self.of_fixed, apart[~free].max(initial=0), np.sqrt(np.abs(their_variances[~free])).max(initial=0))


def compared(ours, theirs):
    """Compares every count of QUERIES of every unit with the other program's."""
    import numpy as np
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(ours)
    (estimate,) = [name for name in table.column_names if name.startswith("estimate")]
    differences = Differences()
    with np.load(theirs) as known:
        for level in LEVELS:
            codes = known[f"{level}/geocode"]
            order = np.argsort(codes)
            for query in QUERIES:
                rows = table.filter((pc.field("level") == level) & (pc.field("query") == query))
                their = known[f"{level}/{query}"][order]
                # Both by geocode, then by cell.
                units = rows["geocode"].to_numpy().reshape(-1, their.shape[2])
                if (units[:, 0] != codes[order]).any() or (units != units[:, :1]).any():
                    # census-bluedown omits units without counts of their own.
                    kept = np.isin(units[:, 0], codes)
                else:
                    kept = np.ones(len(units), bool)
                own = [rows[name].to_numpy().reshape(units.shape)[kept] for name in (estimate, "variance")]
                if (units[kept, 0] != codes[order]).any():
                    stop(f"the units of {level} of both are not the same")
                differences.add(np, own, (their[:, 0], their[:, 1]))
    return differences


def versions(checkout):
    if checkout is None:
        return ""
    found = subprocess.run(["git", "-C", checkout, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
    top = subprocess.run(["git", "-C", checkout, "rev-parse", "--show-toplevel"], capture_output=True, text=True)
    own = found.returncode == 0 and Path(top.stdout.strip()).resolve() == checkout.resolve()
    commit = found.stdout.strip() if own else "of an unknown commit"
    return ", ".join([f"census-bluedown {commit}", *(f"{name} {metadata.version(name)}" for name in ["numpy", "pandas"])])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--gls", required=True, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--checkout", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--blocks", type=int, default=3960, help="number of blocks of the state (default 3960)")
    parser.add_argument("--out", type=Path, help="the folder to write into (default results, and the guide's table)")
    asked = parser.parse_args()
    if not 2 * COUNTY <= asked.blocks <= most_blocks(TRACTS):
        parser.error(f"--blocks: expected {2 * COUNTY}, two counties, to {most_blocks(TRACTS):,}")
    if asked.checkout is None and asked.out is None:
        stop("skipped: there is no census-bluedown to compare with, so that results keep what they have; --out FOLDER writes the times of assay alone")
    if asked.checkout and not (asked.checkout / "census_bluedown" / "main_passes.py").is_file():
        parser.error(f"{asked.checkout} is no checkout of census-bluedown: it has no census_bluedown/main_passes.py")
    assay, gls = asked.assay.resolve(), asked.gls.resolve()
    folder = Path(tempfile.mkdtemp(prefix="assay-peers-"))
    try:
        rows, sentence = measure(assay, gls, asked.checkout and asked.checkout.resolve(), asked.blocks, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    own = subprocess.run([assay, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    known = "; ".join(part for part in (versions(asked.checkout), f"dp-assay {own}") if part)
    common = {"blocks": asked.blocks, "versions": known, "machine": machine()}
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows({**row, **common} for row in rows)
    write((asked.out or ROOT / "results") / "peers-estimate.csv", text.getvalue())
    if asked.out is None:
        write_guide(rows, sentence)


def measure(assay, gls, checkout, blocks, folder):
    """The rows of the table, and a sentence about the agreement of both."""
    total = invent(folder, blocks, TRACTS, HHGQ[1:])
    for arguments in (
        ["spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", "spine"],
        ["measure", "--spine", "spine", "--counts", "counts.csv", *RELEASE, "--files", "nmf", "--out", PRODUCT, "--insecure-seed", "7"],
    ):
        subprocess.run([assay, *arguments], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    files = folder / PRODUCT
    write_constraints(files, folder / "counts.csv")
    print(f"{blocks:,} blocks, {total:,} people", file=sys.stderr, flush=True)

    out, _ = on_one_core([gls, files, total], folder)
    ours = json.loads(out)
    estimate = [assay, "nmf", "estimate", PRODUCT, *RELEASE, "--state-totals", "totals.csv", "--level"]
    _, whole = on_one_core([*estimate, "Block", "--out", "totals-of-blocks.csv"], folder)
    print(f"assay: {ours}, {whole:.2f} s as a process", file=sys.stderr, flush=True)
    each = 1e6 / blocks
    rows = [
        ["upwards: every unit from its own counts and those below it", ours["up"]],
        ["downwards: final estimates of all 2016 cells of every block, with variances", ours["down_with_cells"]],
        ["up and down", ours["up"] + ours["down_with_cells"]],
        ["the total of every block, from files to a file", whole * each],
    ]
    if checkout is None:
        note = "skipped: there is no census-bluedown"
        return [{"what": what, "unit": "microseconds a block", "assay": number(own, 3), "note": note} for what, own in rows], None

    here = Path(__file__).resolve().parent
    command = [sys.executable, here / "peers_bluedown.py", checkout, files, STATE, total, folder / "theirs.npz"]
    out, _ = on_one_core(command, folder)
    theirs = json.loads(out.splitlines()[-1])
    print(f"census-bluedown: {theirs}", file=sys.stderr, flush=True)
    subprocess.run(
        [*estimate, *LEVELS, "--queries", *QUERIES, "--format", "parquet", "--out", "ours.parquet"],
        cwd=folder, stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    apart = compared(folder / "ours.parquet", folder / "theirs.npz")
    if not (max(apart.estimates, apart.variances) <= MOST_DIFFERENCE and apart.of_fixed <= MOST_OF_FIXED):
        stop(f"the numbers of both are not the same, so that times say nothing: {vars(apart)}")
    up, down = theirs["up"] * each, theirs["down"] * each
    others = [up, down, up + down, up + down + theirs["reading"] * each]
    rows = [
        {
            "what": what, "unit": "microseconds a block", "census_bluedown": f"{other:.0f}", "assay": number(own, 3),
            "ratio": number(other / own, 3),
        }
        for (what, own), other in zip(rows, others, strict=True)
    ]  # fmt: skip
    rows[-1]["note"] = "census-bluedown: its reading and all of the above, writing left out"
    checks = [
        ("largest difference of two estimates", "standard deviations", apart.estimates),
        ("largest relative difference of two variances", "1", apart.variances),
        ("largest difference or standard deviation of a count that constraints fix", "persons", apart.of_fixed),
    ]
    note = f"{apart.counts} counts, {apart.fixed} of them fixed by constraints"
    rows += [{"what": what, "unit": unit, "difference": at_most(value), "note": note} for what, unit, value in checks]
    sentence = (
        f"{blocks:,} blocks in {-(-blocks // COUNTY)} counties. The {apart.counts:,} estimates of both ({', '.join(f'`{name}`' for name in QUERIES)}, of the state and "
        f"everything below) differ by at most {at_most(apart.estimates)} standard deviations, their variances by {at_most(apart.variances)} of "
        f"themselves.\n{apart.fixed:,} of them are fixed by constraints, and differ by at most {at_most(apart.of_fixed)} persons."
    )
    return rows, sentence


def write_guide(rows, sentence):
    """The table of the guide: times in microseconds per block."""
    lines = ["| microseconds of one core a block | census-bluedown | assay | ratio |", "| --- | --- | --- | --- |"]
    for row in rows:
        if "ratio" in row:
            lines.append(f"| {row['what']} | {float(row['census_bluedown']):.0f} | {row['assay']} | {float(row['ratio']):.0f} |")
    before, rest = GUIDE.read_text().split("<!-- table: census-bluedown -->\n")
    _, after = rest.split("<!-- end of table -->", 1)
    table = "\n".join([*lines, "", sentence])
    write(GUIDE, f"{before}<!-- table: census-bluedown -->\n{table}\n<!-- end of table -->{after}")


if __name__ == "__main__":
    main()
