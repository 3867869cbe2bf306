"""Audits programs of public libraries by their outputs, and prints a table in Markdown. See scripts/measure/audit-black-boxes."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

# Name in words, environment, program, claim, and the law of the program where it is known. Slow programs make fewer runs.
ROWS = [
    ("OpenDP 0.16.0, Laplace noise on a count", "libraries", "opendp-laplace", "1:0", "discrete-laplace:1", 1),
    ("the same, scale 0.8", "libraries", "opendp-laplace-scale", "1:0", "discrete-laplace:1.25", 1),
    ("OpenDP 0.16.0, Gaussian noise of sigma 2", "libraries", "opendp-gaussian", "0.52:0.05", "gaussian:4", 1),
    ("the same, variance 2", "libraries", "opendp-gaussian-variance", "0.52:0.05", "gaussian:2", 1),
    ("diffprivlib 0.6.6, Laplace noise on a sum", "libraries", "diffprivlib-laplace", "1:0", "laplace:1", 1),
    ("the same, sensitivity 1/2", "libraries", "diffprivlib-laplace-sensitivity", "1:0", "laplace:0.5", 1),
    ("diffprivlib 0.6.6, randomized response", "libraries", "diffprivlib-binary", "1:0", "randomized-response:1", 1),
    ("the same, epsilon 1.2", "libraries", "diffprivlib-binary-epsilon", "1:0", "randomized-response:1.2", 1),
    ("diffprivlib 0.6.6, LinearRegression as released", "libraries", "diffprivlib-regression", "1:0", None, 5),
    ("Opacus 1.3.0, a step of DP-SGD", "opacus", "opacus-step", "1.57:0.05", "gaussian:1", 5),
    ("the same, noise multiplier 0.7", "opacus", "opacus-step-noise", "1.57:0.05", "gaussian:0.49", 5),
    ("SmartNoise Core 0.1.0, analytic Gaussian as released", "smartnoise-0.1.0", "smartnoise-sum", "3:0.001", None, 10),
    ("SmartNoise Core 0.1.1, which fixed it", "smartnoise-0.1.1", "smartnoise-sum", "3:0.001", None, 10),
]


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--assay", required=True, help="the program")
    options.add_argument("--environments", required=True, type=pathlib.Path, help="the folder of environments")
    options.add_argument("--runs", type=int, default=100_000, help="the number of runs of the fast programs")
    options = options.parse_args()
    outputs = pathlib.Path(__file__).with_name("black_box_outputs.py")
    print("| program | runs of each | claim | epsilon at least | exact | claim |")
    print("| --- | --- | --- | --- | --- | --- |")
    for words, environment, program, claim, law, slower in ROWS:
        folder = options.environments / environment
        if not (folder / "complete").exists():
            print(f"left out: {words}", file=sys.stderr)
            continue
        count = options.runs // slower
        with tempfile.TemporaryDirectory() as own:
            subprocess.run([folder / "bin" / "python", outputs, program, str(count), own], check=True, stdout=subprocess.DEVNULL)
            command = [options.assay, "audit", "--with", f"{own}/with.txt", "--without", f"{own}/without.txt", "--claim", claim, "--json"]
            done = subprocess.run(command + (["--law", law] if law else []), capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr)
        answer = json.loads(done.stdout)
        declared = answer["events"][0]["declared"]
        exact = f"{declared['upper']:.3f}" if declared else "-"
        epsilon, delta = claim.split(":")
        verdict = "**refuted**" if answer["refuted"] else "not refuted"
        print(f"| {words} | {count} | ({epsilon}, {delta}) | {answer['epsilon_lower']:.3f} | {exact} | {verdict} |", flush=True)


if __name__ == "__main__":
    main()
