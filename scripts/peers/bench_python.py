"""The measurements of scripts/peers/bench-python: the same computation by several libraries, and the speed of the package. Writes
results/python.csv and the tables of docs/guide/python.md. Seconds are processor seconds of all threads unless a row says otherwise,
because they depend less on other work of the machine."""

import csv
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from importlib import metadata

import numpy
from peers_routes import ROOT, autodp_renyi, exact, opendp_curve, pld, prv

import dp_assay
from dp_assay import DiscreteGaussian, DiscreteLaplace, Release

CHAPTER = ROOT / "docs" / "guide" / "python.md"
DELTA = "1e-9"
GROUPS = [(exact("5"), 10)]


def processor():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def timed(question, runs=1):
    """The result, and the least processor seconds of several runs."""
    seconds = []
    for _ in range(runs):
        began = processor()
        answer = question()
        seconds.append(processor() - began)
    return answer, min(seconds)


def dp_accounting():
    return pld("gaussian", GROUPS, dots=True).get_epsilon_for_delta(float(DELTA))


def route(function):
    return lambda: next(function("gaussian", GROUPS, [DELTA]))[0][1]


def same_question():
    """Rows of the table: library, call, result and claim, seconds."""
    own, cpu = timed(lambda: DiscreteGaussian(5, 10).epsilon(DELTA), 20)
    yield f"dp-assay {dp_assay.__version__}", "`DiscreteGaussian(5, 10).epsilon(1e-9)`", own.shown(12), "proven, both ends", cpu
    for package, asked, claim, question in (
        ("dp-accounting", "`from_discrete_gaussian_mechanism`, `self_compose(10)`, interval 1e-4", "upper bound", dp_accounting),
        ("opendp", "`make_gaussian` on integers, zCDP to approximate DP", "upper bound", route(opendp_curve)),
        ("autodp", "`DiscreteGaussianMechanism`, Renyi", "upper bound", route(autodp_renyi)),
        ("prv-accountant", "`GaussianMechanism`, which is continuous, eps_error 0.01", "upper bound for continuous noise", route(prv(0.01))),
    ):
        question()  # imports and warms up
        value, cpu = timed(question, 3)
        over = f"{value:.8g} ({100 * (value / own.midpoint_float - 1):+.3f} %)"
        yield f"{package} {metadata.version(package)}", asked, over, claim, cpu


def per_call(question, n=100):
    times = []
    for _ in range(n):
        began = time.perf_counter()
        question()
        times.append((time.perf_counter() - began) * 1e6)
    return statistics.median(times)


def import_milliseconds():
    """The import time of the package without the start of the interpreter: the least of ten processes."""
    code = "import time, fractions, decimal; t = time.perf_counter(); import dp_assay; print((time.perf_counter() - t) * 1e3)"
    return min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(10))


def from_rust(call, *thread):
    """The microseconds of each call from Rust, by name, on the only thread of a process or on a second one."""
    printed = subprocess.run([call, *thread], capture_output=True, text=True, check=True).stdout
    return {name: float(took) for name, took in map(str.split, printed.splitlines())}


def speed(call):
    """Rows of the table: task, time, target. The time of a call is the least of seven medians of a hundred calls, alternately from Rust
    and from Python, to reduce the effect of other work of the machine on both."""
    counts, bounded, release = DiscreteGaussian(5, 10), DiscreteLaplace(1), Release("su-su-wang-2025")
    questions = {
        "nothing": ("delta(5) of a count that loses at most 1 (nothing to compute)", lambda: bounded.delta(5)),
        "mass": ("P[X = 3] of sigma2 = 5", lambda: counts.mass(3)),
        "delta": ("delta(10) of ten counts", lambda: counts.delta(10)),
        "epsilon": ("epsilon at 1e-9 of ten counts", lambda: counts.epsilon("1e-9")),
        "release": ("delta(30) of the 80 counts", lambda: release.delta(30)),
    }
    from_python = lambda: {name: per_call(question) for name, (_, question) in questions.items()}
    rounds = [(from_python(), from_rust(call, "thread"), from_rust(call)) for _ in range(7)]
    for name, (what, _) in questions.items():
        python, rust, alone = (min(times[name] for times in column) for column in zip(*rounds))
        places = 1 if python < 10 else 0
        shown = f"{python:.{places}f} us, from Rust {rust:.{places}f} us on a thread beside the main one, {alone:.{places}f} us on the only thread"
        yield f"{what}, one call", shown, "at most 20 us more than from Rust"
    epsilons = numpy.linspace(0, 30, 1000)
    for what, digits in (("profile of 1000 points of the 80 counts, 12 digits", 12), ("the same, 6 digits", 6)):
        # New accounts, because later requests reuse contours of earlier ones.
        fresh = [Release("su-su-wang-2025") for _ in range(5)]
        _, cpu = timed(lambda: fresh.pop().profile(epsilons, digits=digits), 5)
        yield what, f"{cpu * 1e3:.0f} ms of processor time", "50 ms"
    array = numpy.zeros(10**8, dtype="int64")
    _, cpu = timed(lambda: counts.fill(array), 3)
    yield "10^8 samples into an array, in place", f"{cpu:.2f} s of processor time", "1 s"
    del array
    _, cpu = timed(lambda: counts.sample(10**8), 3)
    yield "10^8 samples into a new array, whose memory the system clears", f"{cpu:.2f} s of processor time", "1 s"
    yield "import dp_assay", f"{import_milliseconds():.0f} ms", "50 ms"
    _, cpu = timed(dp_accounting, 3)
    _, own_cpu = timed(lambda: counts.epsilon(DELTA), 20)
    shown = f"{own_cpu * 1e3:.1f} ms; dp-accounting {cpu * 1e3:.0f} ms"
    yield "epsilon at 1e-9 of ten counts, beside dp-accounting", shown, "processor time"


def table(heading, rows):
    return "\n".join(["| " + " | ".join(row) + " |" for row in [heading, ["---"] * len(heading), *rows]])


def main(call):
    machine = f"{platform.machine()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}"
    same = [(*row[:4], f"{row[4] * 1e3:.1f} ms") for row in same_question()]
    fast = list(speed(call))
    with (ROOT / "results" / "python.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["table", "what", "how", "shown", "claim", "machine"])
        writer.writerows(["same question", library, asked, value, f"{claim}; {took}", machine] for library, asked, value, claim, took in same)
        writer.writerows(["speed", what, "", took, aim, machine] for what, took, aim in fast)
    text = CHAPTER.read_text()
    for name, heading, rows in (
        ("same question", ["library", "asked by", "epsilon", "what it claims to be", "processor time"], same),
        ("speed", ["what", "took", "aim"], fast),
    ):
        before, rest = text.split(f"<!-- table: {name} -->\n")
        _, after = rest.split("<!-- end of table -->", 1)
        text = f"{before}<!-- table: {name} -->\n{table(heading, rows)}\n<!-- end of table -->{after}"
    CHAPTER.write_text(text)
    print(f"results/python.csv and {CHAPTER.relative_to(ROOT)} are written")


if __name__ == "__main__":
    main(sys.argv[1])
