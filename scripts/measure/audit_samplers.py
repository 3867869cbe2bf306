"""Draws from several samplers, tests each with `assay audit`, and prints a table in Markdown. See scripts/measure/audit-samplers."""

import argparse
import json
import subprocess

import numpy
import opendp.prelude as dp
from diffprivlib.mechanisms import GaussianDiscrete, Geometric

SIGMA2, EPSILON = 5, 0.5
GAUSSIAN, LAPLACE = f"discrete-gaussian:{SIGMA2}", f"discrete-laplace:{EPSILON}"


def assay_sampler(program, option, parameter):
    def draw(count):
        command = [program, "sample", option, str(parameter), "--count", str(count)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [int(line) for line in text.split()]

    return draw


def opendp_sampler(make, metric, scale):
    dp.enable_features("contrib")
    measurement = make(dp.vector_domain(dp.atom_domain(T=int)), metric, scale)
    return lambda count: measurement([0] * count)


def diffprivlib_gaussian():
    mechanism = GaussianDiscrete(epsilon=1, delta=1e-5, sensitivity=1)
    # Its constructor computes the scale from epsilon and delta; the audit is of its sampler at the scale of the others.
    mechanism._scale = SIGMA2**0.5
    return lambda count: [mechanism.randomise(0) for _ in range(count)]


def diffprivlib_geometric():
    mechanism = Geometric(epsilon=EPSILON, sensitivity=1)
    return lambda count: [mechanism.randomise(0) for _ in range(count)]


def rounded_gaussian(count):
    return numpy.rint(numpy.random.default_rng().normal(0, SIGMA2**0.5, count)).astype(int).tolist()


def rounded_laplace(count):
    return numpy.rint(numpy.random.default_rng().laplace(0, 1 / EPSILON, count)).astype(int).tolist()


def audit(program, draws, law):
    text = "".join(f"{draw}\n" for draw in draws)
    command = [program, "audit", "--draws", "-", "--law", law, "--json"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--assay", required=True, help="the program")
    options.add_argument("--draws", type=int, default=1_000_000, help="the number of draws of each sampler")
    options = options.parse_args()
    program, many = options.assay, options.draws
    # The samplers in plain Python are slow.
    few = max(1, many // 10)
    samplers = [
        ("assay sample, discrete Gaussian", assay_sampler(program, "--discrete-gaussian", SIGMA2), GAUSSIAN, many),
        ("assay sample, discrete Laplace", assay_sampler(program, "--discrete-laplace", EPSILON), LAPLACE, many),
        (
            "OpenDP, make_gaussian on integers",
            opendp_sampler(dp.m.make_gaussian, dp.l2_distance(T=int), SIGMA2**0.5),
            GAUSSIAN,
            many,
        ),
        (
            "OpenDP, make_laplace on integers",
            opendp_sampler(dp.m.make_laplace, dp.l1_distance(T=int), 1 / EPSILON),
            LAPLACE,
            many,
        ),
        ("diffprivlib, GaussianDiscrete", diffprivlib_gaussian(), GAUSSIAN, few),
        ("diffprivlib, Geometric", diffprivlib_geometric(), LAPLACE, few),
        ("numpy, rounded Gaussian", rounded_gaussian, GAUSSIAN, many),
        ("numpy, rounded Laplace", rounded_laplace, LAPLACE, many),
    ]
    print("| sampler | draws | verdict | parameter, in percent of the declared | least corrected p |")
    print("| --- | --- | --- | --- | --- |")
    for name, draw, law, count in samplers:
        draws = draw(count)
        answer = audit(program, draws, law)
        least = min(answer["tests"], key=lambda test: test["corrected_p_value"])
        factor = answer["parameter_factor"]
        ends = f"{100 * factor['lower']:.2f} to {100 * factor['upper']:.2f}" if factor else "-"
        shown = f"{least['corrected_p_value']:.1e} ({least['test']})" if least["corrected_p_value"] < 1 else "1"
        print(f"| {name} | {len(draws)} | {answer['verdict']} | {ends} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
