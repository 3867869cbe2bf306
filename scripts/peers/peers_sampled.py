"""Runs `assay` and other accountants on Poisson-sampled Gaussian noise (DP-SGD); writes results/peers-sampled.csv, and a table of docs/guide/evidence.md.

Called by scripts/compare-peers --sampled. Each answer is computed in a process of its own. Seconds are those of the computation, without
starting Python and importing the library; for `assay` they are those of the whole process. Peak memory is that of the process, including
interpreter and libraries; for `assay` it cannot be measured below that of the bare Python that starts it, about 11 MiB.

A value claims to be an upper bound, a lower bound, or only an estimate. The claim is compared with the certified enclosure of `assay` in the
same run.
"""

import argparse
import csv
import importlib
import importlib.util
import io
import json
import math
import os
import subprocess
import sys
import time
import types
import warnings
from fractions import Fraction
from importlib import metadata
from pathlib import Path

from peers import holds, machine, number, peak_mib, relative_error, run_assay
from peers_routes import ESTIMATE, LOWER, ROOT, UPPER

import resource

sys.path.insert(0, str(ROOT / "scripts" / "measure"))
from processes import with_table  # noqa: E402

# (rate, sigma2, steps), the deltas of epsilons, the epsilons of deltas.
WORKS = [
    (("0.01", "1", 1000), ["1e-5", "1e-10"], ["1.5", "3"]),
    (("0.001", "0.64", 10000), ["1e-6"], ["1"]),
    (("0.2", "16", 100), ["1e-6"], ["2"]),
    (("0.5", "4", 10), ["1e-5"], ["4"]),
    (("0.004", "1.21", 20000), ["1e-6"], ["3"]),
]
COLUMNS = [
    "rate", "sigma2", "steps", "quantity", "at", "library", "version", "route", "claims", "value", "certified_lower", "certified_upper",
    "relative_error", "holds", "seconds", "peak_mib", "note", "machine",
]  # fmt: skip


def event(rate, sigma2):
    from dp_accounting import dp_event

    return dp_event.PoissonSampledDpEvent(float(rate), dp_event.GaussianDpEvent(math.sqrt(float(sigma2))))


def dp_accounting_pld(work, quantity, at):
    from dp_accounting.pld.pld_privacy_accountant import PLDAccountant

    (rate, sigma2, steps) = work
    accountant = PLDAccountant().compose(event(rate, sigma2), steps)
    return [(UPPER, accountant.get_epsilon(at) if quantity == "epsilon" else accountant.get_delta(at))]


def dp_accounting_rdp(work, quantity, at):
    from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant

    (rate, sigma2, steps) = work
    accountant = RdpAccountant().compose(event(rate, sigma2), steps)
    return [(UPPER, accountant.get_epsilon(at) if quantity == "epsilon" else accountant.get_delta(at))]


def prv(work, quantity, at):
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    (rate, sigma2, steps) = work
    mechanism = PoissonSubsampledGaussianMechanism(sampling_probability=float(rate), noise_multiplier=math.sqrt(float(sigma2)))
    error = at * 1e-3 if quantity == "epsilon" else 1e-12
    accountant = PRVAccountant(prvs=[mechanism], max_self_compositions=[steps], eps_error=0.01, delta_error=error)
    if quantity == "epsilon":
        lower, estimate, upper = accountant.compute_epsilon(at, [steps])
    else:
        lower, estimate, upper = accountant.compute_delta(at, [steps])
    return [(UPPER, upper), (LOWER, lower), (ESTIMATE, estimate)]


def pld_accounting(work, quantity, at):
    from dp_accounting.pld import privacy_loss_distribution
    from PLD_accounting import subsample_pld

    (rate, sigma2, steps) = work
    base = privacy_loss_distribution.from_gaussian_mechanism(math.sqrt(float(sigma2)), value_discretization_interval=1e-4)
    total = subsample_pld(pld=base, sampling_probability=float(rate)).self_compose(steps)
    return [(UPPER, total.get_epsilon_for_delta(at) if quantity == "epsilon" else total.get_delta_for_epsilon(at))]


def opacus_accountants():
    """The accountants of Opacus without torch, which they need only for the name of the class that they are attached to."""
    spec = importlib.util.find_spec("opacus")
    package, optimizers = types.ModuleType("opacus"), types.ModuleType("opacus.optimizers")
    package.__path__, optimizers.DPOptimizer = list(spec.submodule_search_locations), object
    sys.modules.setdefault("opacus", package)
    sys.modules.setdefault("opacus.optimizers", optimizers)
    return importlib.import_module("opacus.accountants")


def opacus(name):
    def epsilon(work, quantity, at):
        if quantity != "epsilon":
            raise NotImplementedError("the accountant has no delta for an epsilon")
        (rate, sigma2, steps) = work
        accountant = getattr(opacus_accountants(), name)()
        accountant.history = [(math.sqrt(float(sigma2)), float(rate), steps)]
        return [(UPPER, accountant.get_epsilon(delta=at))]

    return epsilon


ROUTES = {
    ("dp-accounting", "PLD, discretization as by default"): dp_accounting_pld,
    ("dp-accounting", "Renyi differential privacy"): dp_accounting_rdp,
    ("PLD_accounting", "sampled from dp-accounting's PLD"): pld_accounting,
    ("prv-accountant", "eps_error = 0.01"): prv,
    ("opacus", "PRVAccountant"): opacus("PRVAccountant"),
    ("opacus", "RDPAccountant"): opacus("RDPAccountant"),
}
MODULES = {
    "dp-accounting": ["dp_accounting.pld.pld_privacy_accountant", "dp_accounting.rdp.rdp_privacy_accountant"],
    "PLD_accounting": ["dp_accounting.pld.privacy_loss_distribution", "PLD_accounting"],
    "prv-accountant": ["prv_accountant"],
    "opacus": ["scipy.signal", "scipy.special"],
}


def piece(library, route, work, quantity, at):
    """One answer of a library, as JSON on standard output."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print
    warnings.simplefilter("ignore")
    for module in MODULES[library]:
        importlib.import_module(module)
    rate, sigma2, steps = work.split(":")
    began = time.monotonic()
    try:
        values = ROUTES[library, route]((rate, sigma2, int(steps)), quantity, float(at))
        failure = None
    except Exception as error:  # any exception of a library is its answer
        values, failure = [], f"{type(error).__name__}: {error}".splitlines()[0]
    wall = time.monotonic() - began
    values = [(claim, float(value)) for claim, value in values]
    print(json.dumps({"values": values, "failure": failure, "wall": wall, "mib": peak_mib(resource.RUSAGE_SELF)}), file=answers)


class Comparison:
    def __init__(self, assay, timeout):
        self.assay, self.timeout, self.rows, self.machine = assay, timeout, [], machine()
        self.own_version = subprocess.run([assay, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]

    def add(self, work, **cells):
        cells.update(zip(("rate", "sigma2", "steps"), work), machine=self.machine)
        self.rows.append([cells.get(column, "") for column in COLUMNS])
        print("  ".join(str(cell) for cell in self.rows[-1][:-1] if cell != ""), file=sys.stderr, flush=True)

    def own(self, work, quantity, at):
        rate, sigma2, steps = work
        given = {"epsilon": "--delta", "delta": "--epsilon"}[quantity]
        out, failure, used = run_assay(self.assay, [quantity, given, at, "--sampled", f"{rate}:gaussian:{sigma2}x{steps}", "--json"], self.timeout)
        if not out:
            self.add(work, quantity=quantity, at=at, library="dp-assay", version=self.own_version, note=failure)
            return None
        answer = json.loads(out, parse_float=Fraction, parse_int=Fraction)[quantity]
        enclosure = (answer["lower"], answer["upper"])
        self.add(
            work, quantity=quantity, at=at, library="dp-assay", version=self.own_version, route="certified enclosure, 12 digits",
            claims="enclosure", value=number(enclosure[1], 15), certified_lower=number(enclosure[0], 15), certified_upper=number(enclosure[1], 15),
            relative_error=relative_error(enclosure[1], enclosure), holds="yes", seconds=number(used["wall"], 3), peak_mib=number(used["mib"], 3),
        )  # fmt: skip
        return enclosure

    def other(self, library, route, work, quantity, at, enclosure):
        command = [sys.executable, __file__, "--piece", library, route, ":".join(map(str, work)), quantity, at]
        common = {"quantity": quantity, "at": at, "library": library, "version": metadata.version(library), "route": route}
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            self.add(work, **common, note=f"no answer within {self.timeout} s")
            return
        if done.returncode != 0:
            self.add(work, **common, note=(done.stderr.strip().splitlines() or [f"ended by {done.returncode}"])[-1])
            return
        answer = json.loads(done.stdout)
        used = {"seconds": number(answer["wall"], 3), "peak_mib": number(answer["mib"], 3)}
        if answer["failure"]:
            self.add(work, **common, **used, note=answer["failure"])
        for claim, value in answer["values"]:
            self.add(
                work, **common, **used, claims=claim, value=number(value, 12), relative_error=relative_error(value, enclosure),
                holds=holds(claim, value, enclosure), certified_lower=enclosure and number(enclosure[0], 15),
                certified_upper=enclosure and number(enclosure[1], 15),
            )  # fmt: skip


HEADINGS = ["", "claims", "error at 1e-5", "error at 1e-10", "true in all requests", "seconds", "MiB"]


def summary(rows):
    """A row for each route and claim: the errors of both epsilons of the first work, and whether every claim of the route holds."""
    first = {"rate": "0.01", "sigma2": "1", "steps": 1000, "quantity": "epsilon"}
    table = []
    for library, route, claims in dict.fromkeys((row["library"], row["route"], row["claims"]) for row in rows if row["claims"]):
        own = [row for row in rows if (row["library"], row["route"], row["claims"]) == (library, route, claims)]
        at = {row["at"]: row for row in own if all(row[key] == value for key, value in first.items())}
        error = [(at[delta]["relative_error"] or "no finite answer") if delta in at else "no answer" for delta in ("1e-5", "1e-10")]
        false = sum(row["holds"] == "no" for row in own)
        claimed = "estimate" if claims == ESTIMATE else "yes" if false == 0 else f"no: {false} of {len(own)} are false"
        used = at.get("1e-5", own[0])
        table.append([f"{library} {used['version']}, {route}", claims, *error, claimed, used["seconds"], used["peak_mib"]])
    return table


def main():
    if sys.argv[1:2] == ["--piece"]:
        piece(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", required=True, help="the program")
    parser.add_argument("--out", type=Path, default=ROOT / "results", help="the folder of the results")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for each answer")
    arguments = parser.parse_args()
    comparison = Comparison(arguments.assay, arguments.timeout)
    for work, deltas, epsilons in WORKS:
        for quantity, at in [("epsilon", at) for at in deltas] + [("delta", at) for at in epsilons]:
            enclosure = comparison.own(work, quantity, at)
            for library, route in ROUTES:
                comparison.other(library, route, work, quantity, at, enclosure)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(comparison.rows)
    (arguments.out / "peers-sampled.csv").write_text(text.getvalue())
    if arguments.out == ROOT / "results":
        page = ROOT / "docs" / "guide" / "evidence.md"
        rows = [dict(zip(COLUMNS, row)) for row in comparison.rows]
        page.write_text(with_table(page.read_text(), "peers-sampled", HEADINGS, summary(rows)))


if __name__ == "__main__":
    main()
