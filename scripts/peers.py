"""Runs `assay` and the accountants of others on the same work; writes results/peers.csv and results/peers.svg.

Called by scripts/compare-peers. A piece of work is one mechanism by one route of one library, in a process of its own
with a timeout; each delta is asked anew. Seconds are those of the computation, without starting Python and importing
the library; for `assay` they are those of the whole process. Peak memory is that of the process, interpreter and
libraries included; of `assay` no less can be seen than the bare Python that starts it takes, about 11 MiB.

A value claims to be an upper bound, a lower bound, or only an estimate. The claim is held against the certified
enclosure that `assay` gives in the same run; none of the others claims to have bounded the rounding of its doubles.
Where a library has no discrete noise, its continuous noise is run and the row says so: that is another mechanism, and
its own certified value stands beside it.
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
import tomllib
import warnings
from fractions import Fraction
from importlib import metadata
from pathlib import Path

from peers_plot import svg

ROOT = Path(__file__).resolve().parent.parent

# ---- the work ------------------------------------------------------------------------------------------------------


def exact(text):
    """A decimal or a fraction of decimals, exactly."""
    numerator, _, denominator = str(text).partition("/")
    return Fraction(numerator) / Fraction(denominator or "1")


def release(name):
    """The counts of a release as (sigma2, count): every level, none bypassed."""
    text = tomllib.loads((ROOT / "data" / "releases" / f"{name}.toml").read_text())
    total, groups = exact(text["rho"]), {}
    for level in text["level"]:
        rho = exact(level["rho"]) if "rho" in level else total * exact(level["proportion"])
        for query in level["query"]:
            own = exact(query["rho"]) if "rho" in query else rho * exact(query["proportion"])
            count = query.get("times", 1) * query.get("cells", 1) * (2 if text["neighbors"] == "bounded" else 1)
            sigma2 = exact(text["sigma2_times_rho"]) / own
            groups[sigma2] = groups.get(sigma2, 0) + count
    return sorted(groups.items())


def gaussians(*groups):
    return [(exact(sigma2), count) for sigma2, count in groups]


SWEEP = ["1e-5", "1e-10", "1e-15", "1e-20", "1e-25"]

# name: (what is asked, noise, groups of (sigma2 or epsilon, count), at which deltas or alphas)
WORKS = {
    "10 counts, sigma2 = 5": ("epsilon", "gaussian", lambda: gaussians(("5", 10)), SWEEP),
    "10 counts, sigma2 = 5000/73": ("epsilon", "gaussian", lambda: gaussians(("5000/73", 10)), ["1e-10"]),
    "10 counts, sigma2 = 456.62": ("epsilon", "gaussian", lambda: gaussians(("456.62", 10)), ["1e-10"]),
    "63 counts, sigma2 = 31.5": ("epsilon", "gaussian", lambda: gaussians(("31.5", 63)), ["1e-10"]),
    "1890 counts, sigma2 = 945": ("epsilon", "gaussian", lambda: gaussians(("945", 1890)), ["1e-10"]),
    "su-su-wang-2025, 80 counts": ("epsilon", "gaussian", lambda: release("su-su-wang-2025"), ["1e-10", "1e-25"]),
    "pl94-persons-us, 130 counts": ("epsilon", "gaussian", lambda: release("pl94-persons-us"), ["1e-10", "1e-25"]),
    "63 counts, discrete Laplace, epsilon = 1/10": ("epsilon", "laplace", lambda: gaussians(("1/10", 63)), ["1e-10"]),
    "su-su-wang-2025, trade-off": ("type II error", "gaussian", lambda: release("su-su-wang-2025"), ["1/100"]),
}

SAMPLES = {
    "sampling, discrete Gaussian, sigma2 = 4": ("gaussian", "2"),
    "sampling, discrete Gaussian, sigma2 = 441": ("gaussian", "21"),
    "sampling, discrete Gaussian, sigma2 = 1e6": ("gaussian", "1000"),
    "sampling, discrete Laplace, epsilon = 1/21": ("laplace", "21"),
}

# ---- the routes ----------------------------------------------------------------------------------------------------
# Each is a generator: it builds what it needs, then yields for each delta or alpha a list of (claim, value).

UPPER, LOWER, ESTIMATE = "upper bound", "lower bound", "estimate"


def pld(noise, groups, interval=1e-4, pessimistic=True, dots=False, tail=1e-15):
    """The composed privacy loss distribution of dp-accounting."""
    from dp_accounting.pld import privacy_loss_distribution as distributions

    options = {
        "value_discretization_interval": interval,
        "pessimistic_estimate": pessimistic,
        "use_connect_dots": dots,
    }
    whole = None
    for parameter, count in groups:
        if noise == "gaussian":
            one = distributions.from_discrete_gaussian_mechanism(math.sqrt(parameter), **options)
        else:
            one = distributions.from_discrete_laplace_mechanism(float(parameter), **options)
        part = one.self_compose(count, tail_mass_truncation=tail)
        whole = part if whole is None else whole.compose(part, tail_mass_truncation=tail)
    return whole


def dp_accounting(claim, **options):
    def route(noise, groups, asked):
        whole = pld(noise, groups, **options)
        for delta in asked:
            yield [(claim, whole.get_epsilon_for_delta(float(delta)))]

    return route


def dp_accounting_far(noise, groups, asked):
    """With the mass that may be cut off a thousand times smaller than delta."""
    for delta in asked:
        whole = pld(noise, groups, dots=True, tail=float(delta) * 1e-3)
        yield [(UPPER, whole.get_epsilon_for_delta(float(delta)))]


def prv(eps_error):
    def route(noise, groups, asked):
        from prv_accountant import GaussianMechanism, PRVAccountant, PureDPMechanism

        kinds = {"gaussian": lambda sigma2: GaussianMechanism(math.sqrt(sigma2)), "laplace": PureDPMechanism}
        for delta in map(float, asked):
            accountant = PRVAccountant(
                prvs=[kinds[noise](float(parameter)) for parameter, _ in groups],
                max_self_compositions=[count for _, count in groups],
                eps_error=eps_error,
                delta_error=delta * 1e-3,
            )
            lower, estimate, upper = accountant.compute_epsilon(delta, [count for _, count in groups])
            yield [(UPPER, upper), (LOWER, lower), (ESTIMATE, estimate)]

    return route


def autodp_renyi(noise, groups, asked):
    from autodp.mechanism_zoo import DiscreteGaussianMechanism, RandresponseMechanism
    from autodp.transformer_zoo import Composition

    def one(parameter):
        if noise == "gaussian":
            return DiscreteGaussianMechanism(math.sqrt(parameter))
        return RandresponseMechanism(1 / (1 + math.exp(-parameter)))

    whole = Composition()([one(parameter) for parameter, _ in groups], [count for _, count in groups])
    for delta in asked:
        yield [(UPPER, whole.get_approxDP(float(delta)))]


def autodp_fourier(noise, groups, asked):
    from autodp.mechanism_zoo import GaussianMechanism, RandresponseMechanism
    from autodp.transformer_zoo import ComposeAFA

    def one(parameter):
        if noise == "gaussian":
            return GaussianMechanism(math.sqrt(parameter), phi_off=False, RDP_off=True, approxDP_off=True)
        return RandresponseMechanism(1 / (1 + math.exp(-parameter)), RDP_off=True, phi_off=False)

    whole = ComposeAFA()([one(parameter) for parameter, _ in groups], [count for _, count in groups])
    for delta in map(float, asked):
        # Its own search for epsilon stays below zero with this SciPy, which obeys bounds that earlier ones ignored; so
        # its delta(epsilon) is bisected, up to the zCDP epsilon.
        rho = sum(count / (2 * p) if noise == "gaussian" else count * p * p / 2 for p, count in groups)
        low, high = 0.0, float(rho) + 2 * math.sqrt(float(rho) * -math.log(delta))
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if whole.get_approx_delta(middle) > delta else (low, middle)
        yield [(ESTIMATE, high)]


def opendp_curve(noise, groups, asked):
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    atoms = dp.vector_domain(dp.atom_domain(T=int))
    parts = []
    for parameter, count in groups:
        if noise == "gaussian":
            one = dp.m.make_gaussian(atoms, dp.l2_distance(T=float), scale=math.sqrt(parameter))
        else:
            one = dp.c.make_pureDP_to_zCDP(dp.m.make_laplace(atoms, dp.l1_distance(T=int), scale=float(1 / parameter)))
        parts += [one] * count
    whole = dp.c.make_zCDP_to_approxDP(dp.c.make_composition(parts))
    curve = whole.map(1.0 if noise == "gaussian" else 1)
    for delta in asked:
        yield [(UPPER, curve.epsilon(float(delta)))]


def riskcal_epsilon(noise, groups, asked):
    if noise != "gaussian":
        raise NotImplementedError("its accountant has Gaussian steps only")
    from riskcal.accountants import CTDAccountant

    accountant = CTDAccountant()
    for parameter, count in groups:
        for _ in range(count):
            accountant.step(noise_multiplier=math.sqrt(parameter), sample_rate=1.0)
    for delta in asked:
        yield [(UPPER, accountant.get_epsilon(delta=float(delta)))]


def riskcal_tradeoff(interval):
    def route(noise, groups, asked):
        from riskcal.analysis import get_beta_from_pld

        whole = pld(noise, groups, interval=interval, dots=True)
        for alpha in asked:
            yield [(LOWER, float(get_beta_from_pld(whole, alpha=float(exact(alpha)))))]

    return route


def opendp_samples(noise, scale):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    atoms = dp.vector_domain(dp.atom_domain(T=int))
    if noise == "gaussian":
        measurement = dp.m.make_gaussian(atoms, dp.l2_distance(T=float), scale=float(scale))
    else:
        measurement = dp.m.make_laplace(atoms, dp.l1_distance(T=int), scale=float(scale))
    counts = [0] * 2**17
    began = processor_seconds()
    measurement(counts)
    return (processor_seconds() - began) / len(counts) * 1e9


# (library, route): (asked, function, another mechanism that is run instead of discrete Gaussian noise)
OTHER = "continuous Gaussian"
ROUTES = {
    ("dp-accounting", "PLD, privacy buckets, interval 1e-4"): ("epsilon", dp_accounting(UPPER), None),
    ("dp-accounting", "PLD, optimistic, interval 1e-4"): ("epsilon", dp_accounting(LOWER, pessimistic=False), None),
    ("dp-accounting", "PLD, connect the dots, interval 1e-4"): ("epsilon", dp_accounting(UPPER, dots=True), None),
    ("dp-accounting", "PLD, connect the dots, interval 1e-5"): (
        "epsilon",
        dp_accounting(UPPER, dots=True, interval=1e-5),
        None,
    ),
    ("dp-accounting", "PLD, connect the dots, tail of delta/1000"): ("epsilon", dp_accounting_far, None),
    ("prv-accountant", "eps_error = 0.01"): ("epsilon", prv(0.01), OTHER),
    ("prv-accountant", "eps_error = 0.001"): ("epsilon", prv(0.001), OTHER),
    ("autodp", "Renyi differential privacy"): ("epsilon", autodp_renyi, None),
    ("autodp", "analytical Fourier accountant, delta bisected"): ("epsilon", autodp_fourier, OTHER),
    ("opendp", "zCDP"): ("epsilon", opendp_curve, None),
    ("riskcal", "CTDAccountant"): ("epsilon", riskcal_epsilon, OTHER),
    ("riskcal", "trade-off of dp-accounting's PLD, interval 1e-4"): ("type II error", riskcal_tradeoff(1e-4), None),
    ("riskcal", "trade-off of dp-accounting's PLD, interval 1e-5"): ("type II error", riskcal_tradeoff(1e-5), None),
}

# What is imported before the clock starts.
MODULES = {
    "dp-accounting": ["dp_accounting.pld.privacy_loss_distribution"],
    "prv-accountant": ["prv_accountant"],
    "autodp": ["autodp.mechanism_zoo", "autodp.transformer_zoo"],
    "opendp": ["opendp.prelude"],
    "riskcal": ["riskcal.accountants", "riskcal.analysis"],
}

# ---- a piece of work in a process of its own -----------------------------------------------------------------------


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak_mib(who):
    # Linux counts KiB, macOS bytes.
    return resource.getrusage(who).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)


def piece(library, name, work):
    """Runs a piece of work; a JSON line for each answer, on what was standard output."""
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
        # Each delta is asked anew, so that the seconds are those of one question.
        began = time.monotonic(), processor_seconds()
        try:
            values = next(function(noise, groups, asked[index : index + 1]))
            failure = None
        except Exception as error:  # whatever a library raises is its answer
            values, failure = [], f"{type(error).__name__}: {error}".splitlines()[0]
        say(
            values=[(claim, float(value)) for claim, value in values],
            failure=failure,
            wall=time.monotonic() - began[0],
            cpu=processor_seconds() - began[1],
        )


def run_piece(library, name, work, timeout):
    """The JSON lines of a piece of work, and what went wrong."""
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
    # The last line may be cut short by the end of the process.
    return [json.loads(line) for line in out.splitlines() if line.endswith("}")], failure


def run_assay(assay, arguments, timeout):
    """What a call of `assay` prints, with wall and processor seconds and peak memory of the process."""
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
    """Whether a claimed bound is one: it is not if the whole enclosure lies on the wrong side of it."""
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
        self.own_version = subprocess.run([assay, "--version"], capture_output=True, text=True, check=True).stdout
        self.certified = {}

    def add(self, **cells):
        cells["machine"] = self.machine
        self.rows.append([cells.get(column, "") for column in COLUMNS])
        shown = [cells.get(key, "") for key in ("work", "at", "library", "route", "claims", "value", "seconds", "note")]
        print("  ".join(str(cell) for cell in shown if cell != ""), file=sys.stderr, flush=True)

    def certify(self, work, law, at):
        """The certified enclosure of a piece of work for one law of noise."""
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
                work=work, quantity=quantity, at=at, library="dp-assay", version=self.own_version.split()[-1],
                route="certified enclosure, 12 digits", mechanism=f"discrete {noise.title()}", claims="enclosure",
                value=number(value, 15), certified_lower=enclosure and number(enclosure[0], 15),
                certified_upper=enclosure and number(enclosure[1], 15),
                relative_error=relative_error(float(value), enclosure) if enclosure else "", holds="yes",
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
            **common, library="dp-assay", version=self.own_version.split()[-1], route="assay sample, as text",
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
    """A file beside, then renamed: whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text)
    part.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", help="the program to compare with")
    parser.add_argument("--out", type=Path, default=ROOT / "results", help="the folder to write into")
    parser.add_argument("--timeout", type=int, default=60, help="seconds for a piece of work (default 60)")
    parser.add_argument("--only", default="", help="only the work whose name holds this text")
    parser.add_argument("--piece", nargs=3, metavar=("LIBRARY", "ROUTE", "WORK"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.piece:
        return piece(*arguments.piece)
    if not arguments.assay:
        parser.error("--assay is needed: scripts/compare-peers gives it")
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
    write(arguments.out / "peers.csv", text.getvalue())
    write(arguments.out / "peers.svg", svg([dict(zip(COLUMNS, row)) for row in comparison.rows]))
    took = time.monotonic() - began
    print(f"{len(comparison.rows)} rows in {took:.0f} s: {arguments.out}/peers.csv", file=sys.stderr)


if __name__ == "__main__":
    main()
