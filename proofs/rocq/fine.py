#!/usr/bin/env python3
"""Writes the hints of a file like PersonsPath.v: a smallest epsilon of discrete Gaussian counts whose losses are on no coarse lattice.

    proofs/rocq/fine.py CERTIFICATE.json STEP [--path N] [--decimals D] > FILE.v

CERTIFICATE.json has the counts and the delta: one of the certificates of `assay prove` about an epsilon. STEP is the coarse lattice, as a
fraction. The numbers that this computes are hints, and the ends are the best that these hints prove: it computes with the integers of
Certificate.v. Nothing here is trusted: with bad hints the file does not compile. Needs numpy.
"""
import argparse, json, math, sys
from fractions import Fraction as F
import numpy as np

WHOLE, TOP, SMALL = 1 << 30, 1 << 31, 16
PREC, SQUARINGS, SPACING = 64, 22, 64   # bits, squarings, and the spacing of the nearly sharp test


def exp_up(num, den, r=SQUARINGS):
    d = den << r
    v = (1 << PREC) * d // (d + num) + 1
    for _ in range(r):
        v = (v * v >> PREC) + 1
    return v


def exp_down(num, den, r=SQUARINGS):
    d = den << r
    v = (1 << PREC) * max(0, d - num) // d
    for _ in range(r):
        v = v * v >> PREC
    return v


def exp_up_signed(num, den):
    return exp_up(num, den) if num >= 0 else (1 << 2 * PREC) // exp_down(-num, den) + 1


def exp_down_signed(num, den):
    return exp_down(num, den) if num >= 0 else (1 << 2 * PREC) // exp_up(-num, den)


ONE = 1 << PREC


class Cells:
    """The table of a group of counts, as Certificate.v computes it."""

    def __init__(self, kind, sigma2, move, copies, step, tilt, spacing):
        self.kind, self.num, self.den, self.m, self.copies = kind, sigma2.numerator, sigma2.denominator, move, copies
        self.hn, self.hd = step.numerator, step.denominator
        self.tilt, self.spacing = tilt, spacing
        self.mean = move if kind == "Far" else 0
        sigma = math.sqrt(sigma2)
        effective = float(tilt * spacing / step)
        centre = self.mean - effective * move
        half = 6.2 * sigma + 1
        self.xa = math.floor(centre - half)
        self.xn = math.ceil(centre + half) - self.xa + 1
        self.reach = math.ceil(6.2 * sigma + 1)
        xs = range(self.xa, self.xa + self.xn)
        quotient = 2 * self.num * self.hn
        tops = [self.m * (2 * x - self.m) * self.den * self.hd for x in xs]
        half_step = 0 if kind == "Split" else self.num * self.hn
        self.places = [(t + half_step) // quotient for t in tops]
        a = tilt * spacing
        self.unit = tilt * tilt * spacing / 2
        least = min(F((x - self.mean) ** 2) / (2 * sigma2) + a * y for x, y in zip(xs, self.places))
        self.nk = math.ceil(-least / self.unit)
        self.mass_down = sum(exp_down(x * x * self.den, 2 * self.num) for x in range(-self.reach, self.reach + 1))
        fall = exp_up((2 * (self.reach + 1) + 1) * self.den, 2 * self.num)
        self.mass_up = sum(exp_up(x * x * self.den, 2 * self.num) for x in range(-self.reach, self.reach + 1)) + 2 * (
            exp_up((self.reach + 1) ** 2 * self.den, 2 * self.num) * ONE // (ONE - fall) + 1)
        self.exponent_den = 2 * self.num * tilt.denominator ** 2 * spacing.denominator
        self.xs, self.tops, self.quotient = list(xs), tops, quotient
        atoms = self.atoms_down() if kind == "Near" else self.atoms_up()
        self.left = min(y for y, _ in atoms)
        self.width = max(y for y, _ in atoms) - self.left + 1
        self.table = np.zeros(self.width, dtype=np.int64)
        for y, v in atoms:
            self.table[y - self.left] += v
        self.tail = 0 if kind == "Near" else self.end(self.xa + self.xn, self.xa + self.xn + 1) + self.end(self.xa - 1, self.xa - 2)
        assert self.table.sum() + self.tail <= TOP

    def free(self, x):
        t, s = self.tilt, self.spacing
        return (x - self.mean) ** 2 * self.den * (t.denominator ** 2 * s.denominator) + self.num * (t.numerator ** 2 * s.numerator * self.nk)

    def exponent(self, x, y):
        t, s = self.tilt, self.spacing
        return self.free(x) + 2 * self.num * (t.denominator * t.numerator * s.numerator * y)

    def envelope(self, x):
        t, s = self.tilt, self.spacing
        return self.free(x) * self.hn + t.denominator * t.numerator * s.numerator * (
            self.m * (2 * x - self.m) * self.den * self.hd - 2 * self.num * self.hn)

    def end(self, x, following):
        den = self.exponent_den * self.hn
        ratio = exp_up(self.envelope(following) - self.envelope(x), den)
        assert self.envelope(x) >= 0 and self.envelope(following) >= self.envelope(x) and ratio < ONE
        return exp_up(self.envelope(x), den) * ONE * WHOLE // ((ONE - ratio) * self.mass_down) + 1

    def atoms_up(self):
        keep_up, keep_down = exp_up(self.hn, self.hd, SMALL), exp_down(self.hn, self.hd, SMALL)
        t, s, z = self.tilt, self.spacing, self.mass_down
        fall = exp_up(t.numerator * s.numerator, t.denominator * s.denominator)
        atoms = []
        for x, top, y in zip(self.xs, self.tops, self.places):
            v = exp_up(self.exponent(x, y), self.exponent_den)
            if self.kind != "Split":
                atoms.append((y, v * WHOLE // z + 1))
                continue
            gap = self.hn * (self.quotient - top % self.quotient)
            d = (ONE - keep_up) * z
            atoms.append((y, v * (ONE - exp_down(gap, self.hd * self.quotient, SMALL)) * WHOLE // d + 1))
            atoms.append((y + 1, ((v * fall >> PREC) + 1) * (exp_up(gap, self.hd * self.quotient, SMALL) - keep_down) * WHOLE // d + 1))
        return atoms

    def atoms_down(self):
        return [(y, exp_down_signed(self.exponent(x, y), self.exponent_den) * WHOLE // self.mass_up) for x, y in zip(self.xs, self.places)]

    def line(self):
        return (f"CellGroup {self.kind} {self.num} {self.den} {self.m} {self.copies} {self.hn} {self.hd} ({self.nk}) ({self.xa}) "
                f"{self.xn} ({self.left}) {self.width} {self.reach}")


class Side:
    """One certificate: groups, a tilt, a period."""

    def __init__(self, kind, groups, step, tilt, spacing, period):
        self.groups = [Cells(kind, s, m, n, step, tilt, spacing) for s, m, n in groups]
        self.tilt, self.spacing, self.period = tilt, spacing, period

    def lo(self, eps):
        return math.ceil(eps / self.spacing)

    def last(self, lo):
        """exp(-last) times the entry at the index 0 is the answer."""
        norm = sum(g.copies * g.nk for g in self.groups)
        c, h = self.tilt, self.spacing
        return c.numerator * h.numerator * (2 * c.denominator * lo - c.numerator * norm), 2 * c.denominator ** 2 * h.denominator

    def upper(self, eps):
        c, h, n = self.tilt, self.spacing, self.period
        lo = self.lo(eps)
        a = (c.numerator * h.numerator, c.denominator * h.denominator)
        fall, keep = exp_up(*a), exp_down(h.numerator, h.denominator)
        alias = (exp_up(a[0] * n, a[1]) * WHOLE >> PREC) + 1
        excess = h.numerator * 2 * lo * eps.denominator - 2 * h.denominator * eps.numerator
        e, f, row = ONE, exp_down(excess, 2 * h.denominator * eps.denominator), []
        for _ in range(n):
            row.append((((e * (ONE - f) >> PREC) + 1) * WHOLE >> PREC) + 1 + alias)
            e, f = (e * fall >> PREC) + 1, f * keep >> PREC
        u = np.array(row, dtype=np.int64)
        for g in reversed(self.groups):
            nonzero = np.nonzero(g.table)[0]
            for _ in range(g.copies):
                acc = np.full(n, g.tail * int(u.max()), dtype=np.int64)
                twice = np.concatenate([u, u])
                for j in nonzero:
                    o = (-(g.left + int(j))) % n
                    acc += g.table[j] * twice[o:o + n]
                u = (acc >> 30) + 1
                assert u.max() <= TOP
        x = exp_up_signed(*self.last(lo))
        return F(x * int(u[(-lo) % n]), ONE * WHOLE)

    def lower(self, eps):
        c, h, n = self.tilt, self.spacing, self.period
        lo = self.lo(eps)
        a = (c.numerator * h.numerator, c.denominator * h.denominator)
        fall, keep = exp_down(*a), exp_up(h.numerator, h.denominator)
        excess = h.numerator * 2 * lo * eps.denominator - 2 * h.denominator * eps.numerator
        before = n // 2
        e, f, row = ONE, exp_up(excess, 2 * h.denominator * eps.denominator), [0] * before
        for _ in range(n - before):
            row.append((e * max(0, ONE - f) >> PREC) * WHOLE >> PREC)
            e, f = e * fall >> PREC, (f * keep >> PREC) + 1
        u, start, moves = np.array(row, dtype=np.int64), lo - before, []
        total = sum(g.copies * g.drift for g in self.groups)
        for g in reversed(self.groups):
            d = round(g.drift + (lo - total) * g.copies * g.drift / total / g.copies)
            moves.insert(0, d)
            nonzero = np.nonzero(g.table)[0]
            for _ in range(g.copies):
                padded = np.concatenate([np.zeros(n, dtype=np.int64), u, np.zeros(n, dtype=np.int64)])
                acc = np.zeros(n, dtype=np.int64)
                for j in nonzero:
                    o = max(0, min(2 * n, n - d - (g.left + int(j))))
                    acc += g.table[j] * padded[o:o + n]
                u, start = acc >> 30, start - d
        x = exp_down_signed(*self.last(lo))
        entry = int(u[-start]) if 0 <= -start < n else 0
        return F(x * entry, ONE * WHOLE), before, moves

    def text(self, name, eps, delta, ends=None):
        c, h = self.tilt, self.spacing
        lines = ";\n   ".join(g.line() for g in self.groups)
        return f"""Definition {name} : certificate := Certificate
  [{lines}]%Z
  ({ends or f"{eps.numerator}) ({eps.denominator}"}) (* epsilon *)
  ({delta.numerator}) ({delta.denominator}) (* delta *)
  ({h.numerator}) ({h.denominator}) (* step of the lattice of losses *)
  ({c.numerator}) ({c.denominator}) (* tilt *)
  {self.period} ({self.lo(eps)}) {PREC} {SQUARINGS} (* period, first index, bits, squarings *).
"""


def rounded(value, digits, up):
    """A decimal fraction of some significant digits, on the given side."""
    exponent = math.floor(math.log10(value)) - digits + 1
    scaled = value / F(10) ** exponent
    whole = math.ceil(scaled) if up else math.floor(scaled)
    return F(whole) * F(10) ** exponent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("certificate")
    parser.add_argument("step", type=F)
    parser.add_argument("--path", type=int, default=0)
    parser.add_argument("--decimals", type=int, default=4)
    arguments = parser.parse_args()
    claim = json.load(open(arguments.certificate))["claim"]
    groups = [(F(g["sigma2"]), g["shift"], g["count"]) for g in claim["paths"][arguments.path]]
    delta, step = F(claim["at"]["delta"]), arguments.step
    rho = float(sum(n * m * m / (2 * s) for s, m, n in groups))
    guess = float(F(claim["upper"]))
    tilt = F(round(1024 * ((guess - rho) / (2 * rho) + 0.05)), 1024)
    circle = math.ceil(34 / (float(tilt) * float(step)))
    window = math.ceil(10 * math.sqrt(2 * rho) / float(step))
    unit = F(1, 10 ** arguments.decimals)

    above = Side("Split", groups, step, tilt, step, circle)
    low, high = 0, math.ceil(guess / unit) + 10 ** arguments.decimals // 20
    while above.upper(high * unit) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if above.upper(middle * unit) <= delta:
            high = middle
        else:
            low = middle
    b = high * unit
    print(f"upper {float(b)}", file=sys.stderr)

    spacing = F(SPACING)
    one = Side("Near", groups, step, tilt * step / spacing, spacing, window)
    other = Side("Far", groups, step, (tilt + 1) * step / spacing, spacing, circle)
    for g in one.groups:
        r = float(F(g.m ** 2 * g.den, 2 * g.num))
        g.drift = r * (1 + 2 * float(tilt)) / float(step)
    best = None
    centre = math.floor(b / step)
    for lo in range(centre - 2, centre + 4):
        at = spacing * (2 * lo - 1) / 2
        p, before, moves = one.lower(at)
        q = other.upper(at)
        p, q = rounded(p * (1 - F(1, 10 ** 9)), 9, False), rounded(q, 9, True)
        a = math.log((float(p) - float(delta)) / float(q)) if p > delta else 0
        print(f"threshold {lo}: {a}", file=sys.stderr)
        if best is None or a > best[0]:
            best = a, at, p, q, before, moves
    a, at, p, q, before, moves = best
    a = math.floor(a / float(unit)) * unit
    while p - F(exp_up_signed(-a.numerator, a.denominator), ONE) * q < delta:
        a -= unit
    print(f"lower {float(a)}", file=sys.stderr)

    # As Rocq reads a decimal: its digits over a power of ten, not reduced.
    ten = 10 ** arguments.decimals
    written = lambda v: f"{int(v * ten)}) ({ten}"
    decimal = lambda v: f"{int(v * ten) // ten}.{int(v * ten) % ten:0{arguments.decimals}d}"
    counts = "\n     ++ ".join(f"repeat (Count ({s.numerator} / {s.denominator}) {m}) {n}" for s, m, n in groups)
    print(f"""(** {claim["subject"]}

    Written by proofs/rocq/fine.py. Checked by computing with integers, see Certificate.v and Fine.v of proofs/rocq. *)

From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Certificate Private Fine.
Import ListNotations.

(* CellGroup: kind num den move copies, then the step of the lattice, norm, first output, outputs, left, width, reach. *)
{above.text("above", b, delta, written(b))}
(* The test of the lower end: at least this probability under P, at most that one under Q. *)
{one.text("one", at, p)}
{other.text("other", at, q)}
Lemma above_holds : certified above = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma test_holds :
  test_proves one other {before} [{"; ".join(map(str, moves))}]%Z ({written(a)}) ({delta.numerator}) ({delta.denominator}) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Open Scope R_scope.

Theorem epsilon_is_between :
  smallest_epsilon
    ({counts})
    {"1e-%d" % round(-math.log10(delta))} {decimal(a)} {decimal(b)}.
Proof. exact (epsilon_is_between above one other _ _ _ _ _ _ _ _ _ _ above_holds test_holds eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl). Qed.""")


if __name__ == "__main__":
    main()
