#!/usr/bin/env python3
"""Checks certificates of `assay prove`: python3 proofs/check.py FILE...

Plain Python (3.9 or newer), its standard library, integers and fractions: no bound is a float. It shares nothing with the program
that wrote a certificate and trusts nothing in it: the claim is what is to be proven, and the hints say where to look. A hint may
be anything. A bad one makes the check fail; none can make it succeed wrongly.

The theorems (A) to (H) are those of proofs/README.md. A number in fixed point is an integer in units of 2^-p. A ball (x, y, r)
stands for a complex number at most r units away from x + i y. Exit status: 0 all is proven, 1 something is not.
"""

import hashlib
import json
import sys
from bisect import bisect_right
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import gcd, isqrt, lcm

MOST_BYTES, MOST_DIGITS, MOST_BITS, MOST_EVALUATED, MOST_LOOKED_AT, MOST_ATOMS = 1 << 20, 400, 4096, 30_000, 100_000_000, 4_000_000

class Refused(Exception):
    """The statement that does not hold."""

def need(holds, statement):
    if not holds:
        raise Refused(statement)

# ------------------------------------------------------------------------- the format: canonical bytes, exact keys, reduced fractions
def read(data):
    """The certificate in the bytes of a file. What JSON allows beyond its canonical form, as a key twice, changes the bytes."""
    need(len(data) <= MOST_BYTES, f"a certificate has at most {MOST_BYTES} bytes")
    try:
        whole = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Refused(f"the file is JSON in UTF-8 ({error})") from None
    fields(whole, "certificate", "claim", "proofs", "sha256")
    need(whole["certificate"] == "assay 2", 'the format is "assay 2"')
    need(data == canonical(whole), "the bytes are canonical: keys in order, no spaces, one line")
    need(whole["sha256"] == seal(whole), "sha256 is that of the content")
    return whole

def canonical(value):
    return (json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n").encode("utf-8", "replace")

def seal(whole):
    """SHA-256 of the canonical bytes without the key sha256."""
    return hashlib.sha256(canonical({key: value for key, value in whole.items() if key != "sha256"})).hexdigest()

def fields(value, *keys):
    need(isinstance(value, dict) and set(value) == set(keys), f"the keys are exactly {', '.join(keys)}")

def whole_number(value, least, most, name):
    need(type(value) is int and least <= value <= most, f"{name} is a whole number from {least} to {most}")
    return value

def fraction(text, name, sign=""):
    """An exact number >= 0: "a" or "a/b", reduced, without leading zeros, and only after a sign that is allowed."""
    need(type(text) is str and text.isascii() and len(text) <= 2 * MOST_DIGITS, f"{name} is a fraction in quotes")
    above, slash, below = text.removeprefix(sign).partition("/")
    need(above.isdigit() and (below.isdigit() and int(below) > 0 if slash else True), f"{name} is a fraction in quotes")
    value = Fraction(int(above), int(below) if slash else 1) * (-1 if sign and text.startswith(sign) else 1)
    need(str(value) == text, f"{name} is reduced")
    return value

def listed(value, name, most):
    need(isinstance(value, list) and len(value) <= most, f"{name} is a list of at most {most}")
    return value

def span(value, least, most):
    need(len(listed(value, "a range", 2)) == 2, "a range has two ends")
    return whole_number(value[0], least, most, "a range's first end"), whole_number(value[1], value[0], most, "a range's last end")

class Group:
    """`count` counts, each moved by `shift`, with noise N_Z(0, scale sigma2) or discrete Laplace noise of parameter epsilon / scale."""
    def __init__(self, value, scale):
        self.gaussian = isinstance(value, dict) and value.get("law") == "discrete-gaussian"
        name = "sigma2" if self.gaussian else "epsilon"
        fields(value, "count", "law", "shift", name)
        need(self.gaussian or value["law"] == "discrete-laplace", "a law is discrete-gaussian or discrete-laplace")
        self.parameter = fraction(value[name], name) * (scale if self.gaussian else 1 / scale)
        need(Fraction(1, 10**4) <= self.parameter <= 10**18, f"{name} is from 10^-4 to 10^18")
        self.count = whole_number(value["count"], 1, 10**12, "count")
        self.shift = whole_number(value["shift"], 1, 10**6 if self.gaussian else 1000, "shift")
        # The losses of one count lie on an offset plus the multiples of its weight.
        self.weight = self.shift / self.parameter if self.gaussian else 2 * self.parameter
        self.offset = self.count * self.shift * (self.weight / 2 if self.gaussian else self.parameter)
        self.order = (not self.gaussian, self.parameter, self.shift)

class Family:
    """The units of a claim, with all its noise times a factor: each path alone, or all pairs of paths composed."""
    def __init__(self, claim, scale=Fraction(1)):
        self.paths = [[Group(group, scale) for group in listed(path, "a path", 500)] for path in listed(claim["paths"], "paths", 500)]
        need(self.paths and all(self.paths), "there are paths, and every path has groups")
        need(all(a.order < b.order for path in self.paths for a, b in zip(path, path[1:])), "groups are in order, each once")
        keys = {tuple((group.order, group.count) for group in path) for path in self.paths}
        need(len(keys) == len(self.paths) and type(claim["pairs"]) is bool, "every path is there once, and pairs is true or false")
        count = range(len(self.paths))
        self.units = [(p, q) for p in count for q in count[p:]] if claim["pairs"] else [(p,) for p in count]
        self.groups = {unit: [group for path in unit for group in self.paths[path]] for unit in self.units}

def step_of(groups):
    """The greatest common divisor of all weights: the losses of a unit of these groups lie on its offset plus step Z."""
    weights = [group.weight for group in groups]
    return Fraction(gcd(*(w.numerator for w in weights)), lcm(*(w.denominator for w in weights)))

# --------------------------------------------------------------------------------------------------------- arithmetic in fixed point
@lru_cache(maxsize=None)
def pi(p):
    """|pi(p) - pi 2^p| <= 1.01. Machin: pi = 16 atan(1/5) - 4 atan(1/239). A term is too small by less than 1 unit of 2^-(p + 32), and so
    is what is left out, alternating and below 5^-(p/2 + 16): with p/4 + 9 terms together below 20 (p/4 + 10) 2^-32 < 0.01."""
    def atan(n):
        return sum((-1) ** k * ((1 << (p + 32)) // ((2 * k + 1) * n ** (2 * k + 1))) for k in range((p + 32) // 4 + 1))
    return (16 * atan(5) - 4 * atan(239)) >> 32

def exp(u, v, p):
    """exp(u + i v) for u <= 0, all in units of 2^-p; off by at most 2 of them.

    Below 2^-(p+1) zero will do: u < -0.7 (p + 2) < -(p + 1) ln 2. Else w = (u + i v) / 2^k is exact with k + 16 more bits, and
    |w| <= 2^-10, so that n terms of the series leave out at most 2^(1 - 10 n). In Horner's scheme a step adds less than 3 units
    and divides what was by 2^10: below 4 in all. A squaring doubles the error and adds 3 units, as |exp| <= 1: after k of them it
    is at most 2^k (6 + 3) (1 + 2^-10) < 2^(k + 4) units of 2^-(p + k + 16), which is 2^-12 of one; rounding down adds sqrt(2)."""
    if 10 * u < -7 * (p + 2) << p:
        return 0, 0
    k = max(0, (abs(u) + abs(v)).bit_length() - p + 10)
    q, a, b = p + k + 16, u << 16, v << 16
    one, x, y = 1 << q, 1 << q, 0
    for n in range(q // 10 + 2, 0, -1):
        x, y = one + ((a * x - b * y) >> q) // n, ((a * y + b * x) >> q) // n
    for _ in range(k):
        x, y = (x * x - y * y) >> q, (x * y) >> (q - 1)
    return x >> (k + 16), y >> (k + 16)

def fixed(x, p):
    """A fraction, rounded down."""
    return (x.numerator << p) // x.denominator

def centered(above, below):
    """above / below less a whole number, from -1/2 to 1/2: the new numerator."""
    above %= below
    return above - below if 2 * above > below else above

def turn(above, below, p):
    """The angle of above / below turns, reduced to half a turn; off by at most 2."""
    return centered(above, below) * pi(p + 8) // (below << 7)

def mul(a, b, p):
    """The product of balls: |a b - a0 b0| <= |a0| rb + |b0| ra + ra rb, and rounding both parts adds less than 2."""
    (x, y, r), (s, t, e) = a, b
    return (x * s - y * t) >> p, (x * t + y * s) >> p, (((abs(x) + abs(y) + r) * e + (abs(s) + abs(t)) * r) >> p) + 3

def power(a, n, p):
    result = (1 << p, 0, 0)
    while n:
        result = mul(result, a, p) if n & 1 else result
        n >>= 1
        a = mul(a, a, p) if n else a
    return result

def reciprocal(a, p):
    """1 / a: |1/a - 1/a0| <= r / (|a0| (|a0| - r)), and the roundings add less than 3."""
    x, y, r = a
    square = x * x + y * y
    least = isqrt(square)
    need(least > r, "the bits suffice for a quotient")
    return (x << 2 * p) // square, (-y << 2 * p) // square, (r << 2 * p) // (least * (least - r)) + 3

def exp_ends(x, p):
    """Both ends of exp(x) for a fraction x, relatively close: as many more bits as exp(-|x|) has zeros, for 3 / 2 > 1 / ln 2."""
    need(abs(x) < 1 << 14, "exponents are within 2^14")
    q = p + 40 + int(abs(x) * 3 / 2)
    value, _ = exp(fixed(-abs(x), q), 0, q)
    lower, upper = Fraction(value - 3, 1 << q), Fraction(value + 3, 1 << q)
    return (1 / upper, 1 / lower) if x > 0 else (lower, upper)

# -------------------------------------------------------------------------------------------------------- (A) the factor of one count
def factor(group, contour, above, below, p):
    """F(b) but for a constant factor, at b = 2 pi above / below; the same at contour 0 and b = 0 is what it has to be divided by.

    With m = contour shift it is the sum over k of exp(-sigma2 (b - 2 pi k)^2 / 2 + i m (b - 2 pi k)), |b| <= pi. A term is off by at
    most 6, its exponents by at most 2 each. Left out is less than 1 unit: the first term on each side is below 2^-(p + 3), by
    19.6 < 2 pi^2 and ln 2 < 0.694, and each next one is less than half of the one before, as sigma2 >= 1/20."""
    sigma2, m, above, x, y, terms = group.parameter, contour * group.shift, centered(above, below), 0, 0, 0
    reach, square = 0, pi(p + 32) ** 2 >> (p + 32)
    while 49 * sigma2 * (2 * reach + 1) ** 2 < Fraction(694, 100) * (p + 3):
        reach += 1
    for k in range(-reach, reach + 1):
        part = above - k * below
        size = -2 * sigma2.numerator * part * part * square // (sigma2.denominator * below * below << 32)
        a, b = exp(size, turn(m.numerator * part, m.denominator * below, p), p)
        x, y, terms = x + a, y + b, terms + 1
    return x, y, 6 * terms + 1

# ----------------------------------------- (C) nodes left out: |F(b)| <= exp(-V (1 - cos b)) for a discrete Gaussian of variance V
STEPS, FINE = 4096, 30
@lru_cache(maxsize=None)
def one_minus_cosines():
    """1 - cos at k of STEPS parts of a turn, up to half a turn, in units of 2^-FINE: not too large, for exp is off by less than 4."""
    values = [(1 << 40) - exp(0, turn(k, STEPS, 40), 40)[0] - 4 for k in range(STEPS // 2 + 1)]
    return [max(0, value) >> (40 - FINE) for value in values]

def least_variance(sigma2):
    """At most the variance of N_Z(0, sigma2). From the images, V = sigma2 - 4 pi^2 sigma2^2 sum k^2 q^(k^2) / sum q^(k^2) with
    q = exp(-2 pi^2 sigma2); for sigma2 >= 1/10 the quotient is at most 2.023 q, and 4 pi^2 2.023 < 80, 2 pi^2 > 19.7."""
    lost = 80 * sigma2 * exp_ends(Fraction(-197, 10) * min(sigma2, 4), 64)[1]
    return sigma2 * (1 - lost) if sigma2 >= Fraction(1, 10) and lost < 1 else Fraction(0)

class Sieve:
    """Which nodes are proven small: of some groups, each so many times."""
    def __init__(self, contour, groups, times, order):
        self.contour, self.looked_at, self.order, self.groups = contour, 0, [], []
        for group in groups:
            # From node to node the angle of a group advances by this part of a turn: weight / (2 pi) times 2 pi / period.
            turns = group.weight / contour.period
            weight = int(times * group.count * least_variance(group.parameter) * (1 << 32))
            self.groups.append((turns.numerator, turns.denominator, weight))
        self.cut = contour.cut << (32 + FINE)
        for number in order:
            above, below, weight = self.groups[number]
            reach = next((k for k, value in enumerate(one_minus_cosines()) if weight * value >= self.cut), STEPS)
            need(2 * reach < STEPS, f"group {number} of a sieve is small by itself somewhere")
            self.order.append((above, below, reach))

    def windows(self, level, first, last):
        """The ranges of nodes in [first, last] at which every group of the order is within its reach of a whole turn. Node j makes
        j above / below turns: it is within reach / STEPS of the whole number n for start <= j <= end."""
        above, below, reach = self.order[level] if level < len(self.order) else (0, 1, 0)
        low, high = -((reach * below - first * above * STEPS) // (below * STEPS)), (last * above * STEPS + reach * below) // (below * STEPS)
        self.looked_at += high - low + 1 if above else last - first + 1
        need(self.looked_at < MOST_LOOKED_AT, f"fewer than {MOST_LOOKED_AT} windows and nodes are looked at")
        for n in range(low, high + 1) if above else ():
            start, end = -((reach - n * STEPS) * below // (STEPS * above)), (n * STEPS + reach) * below // (STEPS * above)
            if max(start, first) <= min(end, last):
                yield from self.windows(level + 1, max(start, first), min(end, last))
        if not above:
            yield first, last

    def check(self, evaluated):
        """Every node j from 1 to the last one is evaluated, or |product of the factors| <= j exp(-cut); ln j >= 0.693 (bits of j - 1)."""
        table, allowed = one_minus_cosines(), (693 << (32 + FINE)) // 1000
        for first, last in self.windows(0, 1, self.contour.last):
            for node in range(first, last + 1):
                total = allowed * (node.bit_length() - 1)
                for above, below, weight in self.groups:
                    # The part of a turn is rounded towards a whole turn, where 1 - cos is less.
                    part = node * above * STEPS // below % STEPS
                    total += weight * table[part if 2 * part < STEPS else STEPS - 1 - part]
                need(total >= self.cut or node in evaluated, f"node {node} is evaluated, or its factors are small")

    def beyond(self, number):
        """(E) At most the sum over j > last of b_j / j^2, b_j the factor of a group that makes a <= 1 turns a node. In a turn it rises
        and falls once, so that its values add up to at most 1 + mean / a; the turn around `last` and those that follow. The factor
        falls up to half a turn, so that a sum at left ends is at least the mean."""
        last, (above, below, weight) = self.contour.last, self.groups[number]
        parts = (exp(-(weight * value << 64) >> (32 + FINE), 0, 64)[0] + 3 for value in one_minus_cosines()[:-1])
        mean, a = min(Fraction(1), Fraction(2 * sum(parts), STEPS << 64)), Fraction(above, below)
        return (1 + mean / a) * (Fraction(2, last**2) + a / last) if a <= 1 else Fraction(1)

# --------------------------------------------------------------------------------- (B), (D), (F) the trapezoid rule and its bounds
class Contour:
    """Bounds for delta of some units at any epsilon. Where to look is said by hints, of which nothing is believed."""
    def __init__(self, family, hints, units):
        fields(hints, "bits", "contour", "cut", "evaluated", "last", "nodes", "sieve", "units")
        self.family, self.p = family, whole_number(hints["bits"], 32, MOST_BITS, "bits")
        self.cut, self.c = whole_number(hints["cut"], 1, 10**6, "cut"), fraction(hints["contour"], "contour")
        groups = [group for unit in units for group in family.groups[unit]]
        need(all(one.gaussian and one.parameter > Fraction(1, 20) for one in groups), "a contour is about Gaussian noise, sigma2 > 1/20")
        self.step, self.nodes = step_of(groups), whole_number(hints["nodes"], 3, 10**60, "nodes")
        need(self.nodes % 2 == 1 and self.c > 0, "the number of nodes is odd, and the contour is right of 0")
        self.period, self.evaluated = self.nodes * self.step, []
        self.last = whole_number(hints["last"], 1, self.nodes // 2, "last")
        for pair in listed(hints["evaluated"], "evaluated", MOST_EVALUATED):
            first, last = span(pair, self.evaluated[-1] + 1 if self.evaluated else 0, self.last)
            need(len(self.evaluated) + last - first < MOST_EVALUATED, f"at most {MOST_EVALUATED} nodes are evaluated")
            self.evaluated.extend(range(first, last + 1))
        need(self.evaluated and self.evaluated[0] == 0, "node 0 is evaluated")
        used, evaluated, self.tail = sorted({path for unit in units for path in unit}), set(self.evaluated), Fraction(0)
        # One unit is looked at itself; of many the pairs (p, p), because |F_p F_q| <= max(|F_p|^2, |F_q|^2).
        covers = [(groups, 1)] if len(units) == 1 else [(family.paths[path], len(units[0])) for path in used]
        need(len(listed(hints["sieve"], "sieve", 500)) == len(covers), "sieve is about the unit, or about every path")
        for (groups, times), order in zip(covers, hints["sieve"]):
            order = [whole_number(number, 0, len(groups) - 1, "a group") for number in listed(order, "a sieve", 8)]
            sieve = Sieve(self, groups, times, order)
            sieve.check(evaluated)
            if self.last < self.nodes // 2:
                # (D) The kernel beyond: period / (2 pi^2 j^2) with 2 pi^2 > 19, and less than 0.9 step for all nodes together.
                far = min([Fraction(1, self.last), *map(sieve.beyond, order)])
                self.tail = max(self.tail, far * self.period / 19 + self.step)
        self.factors = {path: [self.product(family.paths[path], self.c, node) for node in self.evaluated] for path in used}
        self.constants = {path: reciprocal(self.product(family.paths[path], Fraction(0), 0), self.p) for path in used}
        self.kernels = [self.kernel(node) for node in self.evaluated]

    def product(self, groups, contour, node):
        """(A) The product of the factors of all counts at a node."""
        result = (1 << self.p, 0, 0)
        for group in groups:
            turns = group.weight / self.period
            one = factor(group, contour, node * turns.numerator, turns.denominator, self.p)
            result = mul(result, power(one, group.count, self.p), self.p)
        return result

    def kernel(self, node):
        """(B) 1 / (1 - E) and 1 / (1 - exp(-h) E) with E = exp(-s h)."""
        p, h, angle = self.p, self.step, turn(-node, self.nodes, self.p)
        return [reciprocal(((1 << p) - x, -y, 6), p) for x, y in (exp(fixed(-size * h, p), angle, p) for size in (self.c, self.c + 1))]

    def bounds(self, unit, epsilon):
        """Both ends of delta(epsilon) for one unit; the lower one may be negative."""
        p, c, h, rho = self.p, self.c, self.step, sum(group.offset for group in self.family.groups[unit])
        # The first loss above epsilon.
        start = rho + ((epsilon - rho) // h + 1) * h
        weight, advance = exp(fixed(epsilon - start, p), 0, p) + (3,), (rho - start) / self.period
        total, error = 0, 0
        for index, node in enumerate(self.evaluated):
            (x, y, r), (s, t, e) = self.kernels[index][0], mul(weight, self.kernels[index][1], p)
            value = mul((x - s, y - t, r + e), exp(0, turn(node * advance.numerator, advance.denominator, p), p) + (4,), p)
            for path in unit:
                value = mul(mul(value, self.factors[path][index], p), self.constants[path], p)
            # The nodes j and -j are conjugates.
            total, error = total + value[0] * (2 if node else 1), error + value[2] * (2 if node else 1)
        scales = exp_ends(rho * (c + c * c) - c * start, p)
        ends = [scale * size / self.nodes / (1 << p) for scale in scales for size in (total - error, total + error)]
        # (D) With factors of at most j exp(-cut), the kernel leaves j exp(-cut) times period / (2 j^2) of each node and its conjugate;
        # and the sum of 1 / j up to the last node is at most 1 + ln last < 1 + 0.694 bits.
        around = self.period / 2 * (1 + Fraction(694, 1000) * self.last.bit_length())
        left_out = scales[1] * (exp_ends(Fraction(-min(self.cut, 10**4)), 64)[1] * around + self.tail)
        return min(ends) - left_out - self.alias(epsilon, rho), max(ends) + left_out

    def alias(self, epsilon, rho):
        """(F) What the rule adds: for each side of c at most M(x) exp(-x epsilon) / (exp(period |x - c|) - 1) at a point x of it."""
        c, period, total = self.c, self.period, Fraction(0)
        for side in (-1, 1):
            # Any x will do: near the stationary point of the exponent, but neither left of 0 nor at c.
            x = Fraction(int((epsilon + side * period - rho) / (2 * rho) * 1024), 1024)
            x = max(Fraction(0), min(x, c - min(1 / period, c / 2))) if side < 0 else max(x, c + 1 / period)
            total += exp_ends(rho * (x + x * x) - epsilon * x, 64)[1] / (exp_ends(min(period * abs(x - c), 10**4), 64)[0] - 1)
        return total

# ------------------------------------------------------------------------ (G) sums by definition, where few groups have few outcomes
def convolve(a, b, p):
    """The sums of a_i b_j over i + j = k, rounded down: digits of a product of two long numbers, for masses add up to one at most."""
    size = p // 4 + 1
    long = [int.from_bytes(b"".join(mass.to_bytes(size, "little") for mass in masses), "little") for masses in (a, b)]
    digits = (long[0] * long[1]).to_bytes(size * (len(a) + len(b)), "little")
    return [int.from_bytes(digits[at:at + size], "little") >> p for at in range(0, size * (len(a) + len(b) - 1), size)]

class Atoms:
    """P[L > eps] and Q[L > eps] of one unit, from lower bounds for the masses of all outcomes that are kept."""
    def __init__(self, family, value, units):
        fields(value, "bits", "kept", "units")
        self.p, self.family, groups = whole_number(value["bits"], 32, MOST_BITS, "bits"), family, family.groups[units[0]]
        # Each half has all sums of the losses of its groups, in steps, with their masses under P and under Q.
        self.halves, self.step = [{0: (1 << self.p, 1 << self.p)}] * 2, step_of(groups)
        need(len(units) == 1 and len(listed(value["kept"], "kept", 1000)) == len(groups), "atoms are about all groups of one unit")
        for group, pair in zip(groups, value["kept"]):
            first, last = span(pair, -(10**6), 10**6)
            one, other = sorted(self.halves, key=len)
            need(len(one) * (last - first + 1) <= MOST_ATOMS, f"there are at most {MOST_ATOMS} atoms")
            self.halves = [self.times(one, int(group.weight / self.step), self.masses(group, first, last)), other]

    def masses(self, group, first, last):
        """Each kept outcome x of the sum of a group's noise, and lower bounds for its masses under P, and under Q, which are those of
        -count shift - x under P by symmetry. A weight is off by at most 4. Beyond the reach of a Gaussian, where the next one is
        below 2^-p, the ratio of neighbors is at most r = exp(-reach / (2 sigma2)), and 1 / (1 - r) <= 1 + 2 sigma2 / reach."""
        p, n, weights = self.p, group.count, []
        if group.gaussian:
            start = -isqrt(int(group.parameter * Fraction(139, 100) * p)) - 1
            need(start * n > -(10**6), "the noise of a list of atoms reaches less than 10^6")
            weights = [exp(fixed(-(x * x) / (2 * group.parameter), p), 0, p)[0] for x in range(start, 1)]
            weights += weights[-2::-1]
            norm = sum(weights) + 4 * len(weights) + 3 + int(4 * group.parameter / -start)
        else:
            start = -group.shift
            weights = [exp(fixed(x * group.parameter, p), 0, p)[0] for x in range(start, 1)]
            q = weights[-2] + 4
            weights[1:-1] = [(weight * ((1 << p) - q)) >> p for weight in weights[1:-1]]
            norm = (1 << p) + q
        one, total, first_of_total = [(max(0, weight - 4) << p) // norm for weight in weights], [1 << p], 0
        while n:
            if n & 1:
                total, first_of_total = convolve(total, one, p), first_of_total + start
            one, start, n = convolve(one, one, p) if n > 1 else one, 2 * start, n >> 1
        mass = lambda x: total[x - first_of_total] if 0 <= x - first_of_total < len(total) else 0
        return [(x, mass(x), mass(-group.count * group.shift - x)) for x in range(first, last + 1)]

    def times(self, half, steps, masses):
        """All sums of a loss of the half and one of a group."""
        sums = {}
        for loss, (under_p, under_q) in half.items():
            for x, more_p, more_q in masses:
                known_p, known_q = sums.get(loss + steps * x, (0, 0))
                sums[loss + steps * x] = known_p + (under_p * more_p >> self.p), known_q + (under_q * more_q >> self.p)
        return sums

    def bounds(self, unit, epsilon):
        """Both ends of delta(epsilon) = P[L > eps] - exp(eps) Q[L > eps]: what is not kept weighs what is missing to one."""
        (one, other), offset = self.halves, sum(group.offset for group in self.family.groups[unit])
        losses, least = sorted(other), (epsilon - offset) // self.step
        ends, whole = [], 1 << 2 * self.p
        for which in (0, 1):
            # The masses of the other half from each of its losses on.
            from_here = [0, *accumulate(other[loss][which] for loss in reversed(losses))]
            kept = sum(mass[which] * from_here[len(losses) - bisect_right(losses, least - loss)] for loss, mass in one.items())
            ends.append((kept, kept + whole - sum(mass[which] for mass in one.values()) * from_here[-1]))
        (p_lower, p_upper), (q_lower, q_upper), growth = *ends, exp_ends(epsilon, self.p)
        return (p_lower - growth[1] * q_upper) / whole, (p_upper - growth[0] * q_lower) / whole

# ------------------------------------------------------------------------------------------------------------------------ the claim
class Bounds:
    """Bounds for delta of the worst of all units, or of some, by hints for one part of them after the other."""
    def __init__(self, family, proofs, name):
        self.parts, left = [], family.units
        for hints in listed(proofs, name, 2000):
            units = hints.get("units") if isinstance(hints, dict) else 0
            units = left if units is None else [tuple(whole_number(path, 0, len(family.paths) - 1, "a path") for path in
                                                      listed(unit, "a unit", 2)) for unit in listed(units, "units", 10**5)]
            need(units and all(unit in left for unit in units), "units are paths, or pairs of paths in order, each once")
            self.parts.append(((Atoms if "kept" in hints else Contour)(family, hints, units), units))
            left = [unit for unit in left if unit not in units]
        need(self.parts and (name == "lower" or not left), f"the {name} end has hints, an upper end for all units")

    def at(self, epsilon):
        both = [part.bounds(unit, epsilon) for part, units in self.parts for unit in units]
        return max(lower for lower, _ in both), max(upper for _, upper in both)

def tradeoff(alpha, points, above, below):
    """(H) Both ends of the largest 1 - delta(eps) - exp(eps) alpha over all eps, a concave function of exp(eps), from three of them."""
    def height(epsilon):
        ends, sizes = [1 - above.at(abs(epsilon))[1], 1 - below.at(abs(epsilon))[0]], exp_ends(epsilon, 512)
        heights = [end - size * alpha if epsilon >= 0 else size * (end - alpha) for end in ends for size in sizes]
        return *sizes, min(heights), max(heights)

    (x1, x2, lower_x, upper_x), (y1, y2, lower, upper), (z1, z2, lower_z, upper_z) = map(height, points)
    need(x2 < y1 and y2 < z1 and max(upper_x, upper_z) <= lower, "points are in order, and the middle one is proven to be the highest")
    left, right = (upper - lower_x) / (y1 - x2), (upper - lower_z) / (z1 - y2)
    return lower, upper + max(left * (z2 - y1), right * (y2 - x1))

GIVEN = {"delta": ["epsilon"], "epsilon": ["delta"], "beta": ["alpha"], "scale": ["delta", "least", "most"]}

def check(data):
    """A line for everything that the certificate in these bytes proves. Refused says which statement does not hold."""
    whole = read(data)
    claim, proofs, proven = whole["claim"], whole["proofs"], []
    fields(claim, "about", "at", "lower", "neighbors", "pairs", "paths", "subject", "upper")
    fields(proofs, "lower", "points", "upper")
    about, at, subject = claim["about"], claim["at"], claim["subject"]
    need(about in list(GIVEN), f"a claim is about {', '.join(GIVEN)}")
    labels = claim["neighbors"] in ("add-remove", "bounded") and type(subject) is str and subject.isprintable()
    need(labels, "neighbors is add-remove or bounded, and subject a line of text")
    fields(at, *GIVEN[about])
    at = {name: fraction(text, name) for name, text in at.items()}
    lower, upper = (fraction(claim[end], f"the {end} end") for end in ("lower", "upper"))
    need(lower <= upper <= 10**6 and max(at.values()) <= 10**6, "ends are in order, and no number is above 10^6")
    need(0 < at.get("delta", at.get("alpha", Fraction(1, 2))) < 1, "a given delta or alpha is above 0 and below 1")

    def prove(statement, bound, sign, end):
        holds = bound <= end if sign == "<=" else bound >= end and (bound, sign) != (end, ">")
        need(holds, f"{statement} {sign} {shown(end)}: what the hints prove is {sign} {shown(bound)}")
        proven.append(f"{statement} {sign} {shown(end)}")

    if about == "beta":
        points = [fraction(point, "a point", "-") for point in listed(proofs["points"], "points", 3)]
        need(len(points) == 3, "there are three points")
        above, below = (Bounds(Family(claim), proofs[end], end) for end in ("upper", "lower"))
        for bound, sign, end in zip(tradeoff(at["alpha"], points, above, below), (">=", "<="), (lower, upper)):
            prove(f"beta({shown(at['alpha'])})", bound, sign, end)
        return proven
    need(proofs["points"] is None, "points are those of a trade-off function")
    need(about != "scale" or 0 < lower < upper and at["least"] <= at["most"], "factors and targets are in order")
    # delta(epsilon) decreases, and epsilon(delta) is the least one with delta(epsilon) <= delta: an end is about the delta of one epsilon.
    statements = {"delta": ((1, at.get("epsilon"), upper), (1, at.get("epsilon"), lower)),
                  "epsilon": ((1, upper, at.get("delta")), (1, lower, at.get("delta"))),
                  "scale": ((upper, at.get("least"), at.get("delta")), (lower, at.get("most"), at.get("delta")))}[about]
    for end, which, sign, (scale, epsilon, delta) in zip(("upper", "lower"), (1, 0), ("<=", ">" if about == "scale" else ">="), statements):
        if end == "lower" and lower == 0:
            need(proofs["lower"] == [], "a lower end of 0 needs no hints")
            continue
        where = f"noise times {shown(scale)}: " if about == "scale" else ""
        prove(f"{where}delta({shown(epsilon)})", Bounds(Family(claim, Fraction(scale)), proofs[end], end).at(epsilon)[which], sign, delta)
    return proven

def shown(value):
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.18g}"

def main(paths):
    failed = not paths
    for path in paths:
        try:
            with open(path, "rb") as file:
                proven = check(file.read(MOST_BYTES + 1))
            print("\n  ".join([f"{path}: proven", *proven]), flush=True)
        except (Refused, FileNotFoundError, IsADirectoryError, PermissionError) as error:
            failed = True
            print(f"{path}: REFUSED\n  does not hold: {error}", flush=True)
    return int(failed)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else __doc__)
