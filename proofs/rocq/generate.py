#!/usr/bin/env python3
"""Writes a Rocq file that proves delta(epsilon) <= D for counts with discrete Gaussian noise.

    generate.py NAME --count SIGMA2xCOPIES [--count ...] --epsilon E --delta D > NAME.v

Numbers are decimals or fractions and are taken exactly; every count moves by 1 between neighbors. What this script chooses (tilt, period,
windows) are hints: a bad one makes the file fail to compile, never prove a false claim. So doubles are good enough here.
"""

import argparse
import math
from fractions import Fraction

HEADER = """(** delta({epsilon}) <= {delta} for
{listing}
    Written by generate.py; checked by computing with integers, see Certificate.v. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Certificate Soundness.
Import ListNotations.
"""

BODY = """
Definition {name}_certificate : certificate := Certificate
  (* num den move copies, then step left width reach *)
  [{groups}]%Z
  ({epsilon.numerator}) ({epsilon.denominator})  (* epsilon *)
  ({delta.numerator}) ({delta.denominator})  (* delta *)
  ({h.numerator}) ({h.denominator})  (* step of the lattice of losses *)
  ({c.numerator}) ({c.denominator})  (* tilt *)
  {period} ({lo}) {bits} {squarings}.

Lemma {name}_is_certified : certified {name}_certificate = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem {name}_delta :
  delta ({counts})
        ({epsilon.numerator} / {epsilon.denominator})
  <= {delta.numerator} / {delta.denominator}.
Proof. exact (certified_is_true {name}_certificate {name}_is_certified). Qed.
"""


def common_divisor(a, b):
    return Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator),
                    a.denominator * b.denominator)


def saddle(rho, epsilon):
    """The tilt c > 0 with rho (1 + 2c) = epsilon + 1/c + 1/(c + 1), to three digits after the point."""
    low, high = 1e-3, 1e3
    for _ in range(100):
        c = math.sqrt(low * high)
        if rho * (1 + 2 * c) > epsilon + 1 / c + 1 / (c + 1):
            high = c
        else:
            low = c
    return Fraction(max(1, round(1000 * low)), 1000)


def certificate(name, groups, epsilon, delta, options):
    h = Fraction(0)
    for sigma2, _ in groups:
        h = common_divisor(h, 1 / sigma2)
    rho = sum(copies / (2 * sigma2) for sigma2, copies in groups)
    c = saddle(float(rho), float(epsilon))
    # Aliases are a period away: some deviations of the loss, and many lengths of the tilted gain.
    deviation = math.sqrt(2 * float(rho))
    period = math.ceil(max(options.period * deviation, 20 / float(c)) / float(h))
    lines = []
    for sigma2, copies in groups:
        half = options.window * math.sqrt(float(sigma2))
        left, right = math.floor(-float(c) - half), math.ceil(-float(c) + half)
        step = 1 / sigma2 / h
        reach = math.ceil(8 * math.sqrt(float(sigma2)))
        lines.append(f"Group {sigma2.numerator} {sigma2.denominator} 1 {copies} "
                     f"{step.numerator} ({left}) {right - left + 1} {reach}")
    counts = [f"repeat (Count ({s.numerator} / {s.denominator}) 1) {n}" for s, n in groups]
    listing = "\n".join(f"    {n} counts with sigma2 = {s}" for s, n in groups)
    print(HEADER.format(epsilon=epsilon, delta=delta, listing=listing), end="")
    print(BODY.format(name=name, groups=";\n   ".join(lines), epsilon=epsilon, delta=delta, h=h, c=c,
                      period=period, lo=math.ceil((epsilon - rho) / h), bits=options.bits,
                      squarings=options.squarings, counts="\n         ++ ".join(counts)), end="")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--count", action="append", required=True, metavar="SIGMA2xCOPIES")
    parser.add_argument("--epsilon", type=Fraction, required=True)
    parser.add_argument("--delta", type=Fraction, required=True)
    parser.add_argument("--period", type=float, default=5.0, help="deviations of the loss in a period")
    parser.add_argument("--window", type=float, default=5.5, help="deviations of the noise on each side")
    parser.add_argument("--bits", type=int, default=80)
    parser.add_argument("--squarings", type=int, default=28)
    options = parser.parse_args()
    groups = []
    for count in options.count:
        sigma2, copies = count.split("x")
        groups.append((Fraction(sigma2), int(copies)))
    certificate(options.name, groups, options.epsilon, options.delta, options)


if __name__ == "__main__":
    main()
