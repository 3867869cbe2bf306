#!/usr/bin/env python3
"""Checks certificates of `assay prove`: python3 proofs/check.py FILE...

Plain Python (3.9 or newer), its standard library, integers and fractions: no bound is a float. It shares nothing with the program
that wrote a certificate and trusts nothing in it: the claim is what is to be proven, and the hints say where to look. A hint may
be anything. A bad one makes the check fail; none can make it succeed wrongly.

The theorems (A) to (F) are those of proofs/README.md. A number in fixed point is an integer in units of 2^-p. A ball (x, y, r)
stands for a complex number at most r units away from x + i y. Exit status: 0 all is proven, 1 something is not.
"""

import hashlib
import json
import sys
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import gcd, isqrt, lcm

MOST_BYTES, MOST_DIGITS, MOST_EVALUATED, MOST_LOOKED_AT, MOST_BITS = 1 << 20, 400, 30_000, 100_000_000, 4096

class Refused(Exception):
    """The statement that does not hold."""

def need(holds, statement):
    if not holds:
        raise Refused(statement)


# ------------------------------------------------------------------------- the format: canonical bytes, exact keys, reduced fractions
def read(data):
    """The certificate in the bytes of a file."""

    def unique(pairs):
        need(len({key for key, _ in pairs}) == len(pairs), "no key appears twice")
        return dict(pairs)

    def refuse(text):
        raise Refused(f"numbers are integers, or fractions in quotes, not {text[:40]}")

    need(len(data) <= MOST_BYTES, f"a certificate has at most {MOST_BYTES} bytes")
    try:
        whole = json.loads(data.decode("utf-8"), object_pairs_hook=unique, parse_float=refuse, parse_constant=refuse,
                           parse_int=lambda text: int(text) if len(text) < MOST_DIGITS else refuse(text))
    except (ValueError, RecursionError) as error:
        raise Refused(f"the file is JSON in UTF-8 ({error})") from None
    fields(whole, "certificate", "claim", "proofs", "sha256")
    need(whole["certificate"] == "assay 1", 'the format is "assay 1"')
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

def fraction(text, name):
    """An exact number >= 0: "a" or "a/b", reduced, without signs or leading zeros."""
    need(type(text) is str and text.isascii() and len(text) <= 2 * MOST_DIGITS, f"{name} is a fraction in quotes")
    above, slash, below = text.partition("/")
    need(above.isdigit() and (below.isdigit() and int(below) > 0 if slash else True), f"{name} is a fraction in quotes")
    value = Fraction(int(above), int(below) if slash else 1)
    need(str(value) == text, f"{name} is reduced")
    return value

def listed(value, name, most):
    need(isinstance(value, list) and len(value) <= most, f"{name} is a list of at most {most}")
    return value

class Group:
    """`count` counts with noise N_Z(0, sigma2), or discrete Laplace noise of a parameter, each moved by `shift`."""

    def __init__(self, value):
        self.gaussian = isinstance(value, dict) and value.get("law") == "discrete-gaussian"
        name = "sigma2" if self.gaussian else "epsilon"
        fields(value, "count", "law", "shift", name)
        need(self.gaussian or value["law"] == "discrete-laplace", "a law is discrete-gaussian or discrete-laplace")
        self.parameter = fraction(value[name], name)
        need(Fraction(1, 10**4) <= self.parameter <= 10**18, f"{name} is from 10^-4 to 10^18")
        self.count = whole_number(value["count"], 1, 10**12, "count")
        self.shift = whole_number(value["shift"], 1, 10**6 if self.gaussian else 1000, "shift")
        # The losses of one count lie on an offset plus the multiples of its weight.
        self.weight = self.shift / self.parameter if self.gaussian else 2 * self.parameter
        self.rho = self.count * self.shift**2 / (2 * self.parameter) if self.gaussian else Fraction(0)
        self.offset = self.rho if self.gaussian else self.count * self.shift * self.parameter
        self.order = (not self.gaussian, self.parameter, self.shift)

class Claim:
    """What is to be proven, of the worst of all units: a path alone, or a pair of paths composed."""

    def __init__(self, value):
        fields(value, "delta", "epsilon", "neighbors", "pairs", "paths", "subject")
        need(value["neighbors"] in ("add-remove", "bounded"), "neighbors is add-remove or bounded")
        need(type(value["pairs"]) is bool, "pairs is true or false")
        need(type(value["subject"]) is str and value["subject"].isprintable(), "subject is a line of text")
        self.paths = [[Group(group) for group in listed(path, "a path", 500)] for path in listed(value["paths"], "paths", 500)]
        need(self.paths and all(self.paths), "there are paths, and every path has groups")
        orders = [[group.order for group in path] for path in self.paths]
        need(all(a < b for order in orders for a, b in zip(order, order[1:])), "groups are in order, each once")
        keys = {tuple((group.order, group.count) for group in path) for path in self.paths}
        need(len(keys) == len(self.paths), "every path is there once")
        self.about, given = ("epsilon", "delta") if isinstance(value["epsilon"], dict) else ("delta", "epsilon")
        ends, self.at = value[self.about], fraction(value[given], given)
        fields(ends, "lower", "upper")
        self.lower, self.upper = fraction(ends["lower"], "the lower end"), fraction(ends["upper"], "the upper end")
        need(self.lower <= self.upper, "the lower end is at most the upper end")
        need(self.about == "delta" or 0 < self.at < 1, "the given delta is above 0 and below 1")
        need(max(self.at, self.upper) <= 10**6, "epsilon is at most 10^6")
        count = range(len(self.paths))
        self.units = [(p, q) for p in count for q in count[p:]] if value["pairs"] else [(p,) for p in count]
        self.multiplicity = 2 if value["pairs"] else 1
        # The greatest common divisor of all weights: the losses of a unit lie on its offset plus step Z.
        weights = [group.weight for path in self.paths for group in path]
        self.step = Fraction(gcd(*(w.numerator for w in weights)), lcm(*(w.denominator for w in weights)))

    def groups(self, unit):
        return [group for path in unit for group in self.paths[path]]

class Hints:
    """Where to look. Nothing here is believed."""

    def __init__(self, value, claim):
        fields(value, "bits", "contour", "cut", "evaluated", "far", "last", "nodes", "period", "sieve", "unit")
        self.bits = whole_number(value["bits"], 32, MOST_BITS, "bits")
        self.cut = whole_number(value["cut"], 1, 10**6, "cut")
        self.contour = fraction(value["contour"], "contour")
        need(self.contour > 0, "the contour is right of 0")
        self.lattice = value["period"] is None
        if self.lattice:
            self.divisor = whole_number(value["nodes"], 3, 10**18, "nodes")
            need(self.divisor % 2 == 1, "the number of nodes is odd")
            need(value["last"] is None and value["far"] is None, "a lattice ends with its period")
            self.last, self.period = self.divisor // 2, self.divisor * claim.step
        else:
            need(value["nodes"] is None, "a line has no number of nodes")
            self.last, self.period = whole_number(value["last"], 1, 10**18, "last"), fraction(value["period"], "period")
            need(self.period > 0, "the period is above 0")
            self.divisor = self.period
        self.evaluated = []
        for pair in listed(value["evaluated"], "evaluated", MOST_EVALUATED):
            need(len(listed(pair, "a range", 2)) == 2, "a range has two ends")
            first = whole_number(pair[0], self.evaluated[-1] + 1 if self.evaluated else 0, self.last, "the first node of a range")
            last = whole_number(pair[1], first, self.last, "the last node of a range")
            need(len(self.evaluated) + last - first < MOST_EVALUATED, f"at most {MOST_EVALUATED} nodes are evaluated")
            self.evaluated.extend(range(first, last + 1))
        need(self.evaluated and self.evaluated[0] == 0, "node 0 is evaluated")
        for name in ("sieve",) if self.lattice else ("sieve", "far"):
            need(len(listed(value[name], name, 500)) == len(claim.paths), f"{name} is about every path")
        self.sieve = [[whole_number(number, 0, len(path) - 1, "a group") for number in listed(order, "a sieve", 8)]
                      for order, path in zip(value["sieve"], claim.paths)]
        self.far = None if self.lattice else [None if number is None else whole_number(number, 0, len(path) - 1, "a group")
                                              for number, path in zip(value["far"], claim.paths)]
        self.units = claim.units
        if value["unit"] is not None:
            unit = tuple(whole_number(path, 0, len(claim.paths) - 1, "a path") for path in listed(value["unit"], "unit", 2))
            need(unit in claim.units, "unit is a path, or a pair of paths in order")
            self.units = [unit]


# --------------------------------------------------------------------------------------------------------- arithmetic in fixed point
@lru_cache(maxsize=None)
def pi(p):
    """|pi(p) - pi 2^p| <= 1. Machin: pi = 16 atan(1/5) - 4 atan(1/239). Each power and each quotient is too small by less than 2
    units of 2^-(p + 32), and there are fewer than p + 32 of them: together below 40 (p + 32) 2^-32 < 1."""
    def atan(n):
        power_of_n, total, k = (1 << (p + 32)) // n, 0, 0
        while power_of_n:
            total += (-power_of_n if k % 2 else power_of_n) // (2 * k + 1)
            power_of_n, k = power_of_n // (n * n), k + 1
        return total
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
    one = x = 1 << q
    y = 0
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
    """Both ends of exp(x) for a fraction x, relatively close: exp(-|x| / 2^k), squared k times, outward."""
    need(abs(x) < 1 << 24, "exponents are within 2^24")
    k, q = int(abs(x)).bit_length(), p + 40
    value, _ = exp(fixed(-abs(x) / (1 << k), q), 0, q)
    lower, upper, scale = value - 3, value + 3, -q
    for _ in range(k):
        lower, upper, scale = lower * lower, upper * upper, 2 * scale
        cut = upper.bit_length() - q
        lower, upper, scale = lower >> cut, -(-upper >> cut), scale + cut
    unit = Fraction(2) ** scale
    return (1 / (upper * unit), 1 / (lower * unit)) if x > 0 else (lower * unit, upper * unit)


# -------------------------------------------------------------------------------------------------------- (A) the factor of one count
def factor(group, contour, above, below, p):
    """F(b) at b = 2 pi above / below; the same at contour 0 and b = 0 is what it has to be divided by.

    With m = contour shift it is the sum over x of exp(-(x - m)^2 / (2 sigma2) + i b x); or, but for a constant factor, by
    Poisson's summation, the sum over k of exp(-sigma2 (b - 2 pi k)^2 / 2 + i m (b - 2 pi k)), |b| <= pi. A term is off by at most
    6, its exponents by at most 2 each. Left out is less than 1 unit: the first term on each side is below 2^-(p + 3), by
    19.6 < 2 pi^2 and ln 2 < 0.694, and each next one is less than half of the one before."""
    sigma2, m, above, x, y, terms = group.parameter, contour * group.shift, centered(above, below), 0, 0, 0
    if not group.gaussian:
        # The losses are epsilon (shift - 2 k), k = 0 ... shift, with masses 1, (1 - q) q^k, q^shift over 1 + q, q = exp(-epsilon).
        middle = (1 << p) - exp(fixed(-sigma2, p), 0, p)[0]
        for k in range(group.shift + 1):
            a, b = exp(fixed(-sigma2 * k * (2 * contour + 1), p), turn(-above * k, below, p), p)
            a, b = (a * middle >> p, b * middle >> p) if 0 < k < group.shift else (a, b)
            x, y, terms = x + a, y + b, terms + 2
    elif 6 * sigma2 < 1:
        # Beyond the reach the ratio of neighbors is below exp(-1 / (2 sigma2)) < exp(-3).
        reach = isqrt(int(sigma2 * Fraction(1388, 1000) * (p + 3))) + 1
        for k in range((m - reach).__ceil__(), (m + reach).__floor__() + 1):
            a, b = exp(fixed(-((k - m) ** 2) / (2 * sigma2), p), turn(above * k, below, p), p)
            x, y, terms = x + a, y + b, terms + 1
    else:
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

@lru_cache(maxsize=10_000)
def least_variance(sigma2):
    """At most the variance of N_Z(0, sigma2). From the images, V = sigma2 - 4 pi^2 sigma2^2 sum k^2 q^(k^2) / sum q^(k^2) with
    q = exp(-2 pi^2 sigma2), and 8.1 pi^2 sigma2 q < 10^-6 for sigma2 >= 1. Below, with e = exp(-1 / (2 sigma2)) < 0.61, V is at
    least (2 e + 8 e^4) / (1 + 2 e + 2.2 e^4), as e^4 + e^9 + ... <= e^4 / (1 - e^5) < 1.1 e^4."""
    if sigma2 >= 1:
        return sigma2 * Fraction(999_999, 1_000_000)
    (lower, upper), (lower4, upper4) = exp_ends(-1 / (2 * sigma2), 64), exp_ends(-2 / sigma2, 64)
    return (2 * lower + 8 * lower4) / (1 + 2 * upper + Fraction(22, 10) * upper4)

class Sieve:
    """Which nodes are proven small: of p alone, or of the pair (p, p). For |F_p F_q| <= max(|F_p|^2, |F_q|^2) that is enough."""

    def __init__(self, claim, hints, path):
        self.hints, self.looked_at, self.order, self.groups = hints, 0, [], []
        for group in claim.paths[path]:
            # From node to node the angle of a group advances by this part of a turn: weight / (2 pi) times 2 pi / period.
            turns, count = group.weight / hints.period, claim.multiplicity * group.count
            weight = int(count * least_variance(group.parameter) * (1 << 32)) if group.gaussian else 0
            self.groups.append((turns.numerator, turns.denominator, weight))
        self.cut = hints.cut << (32 + FINE)
        for number in hints.sieve[path]:
            above, below, weight = self.groups[number]
            reach = next((k for k, value in enumerate(one_minus_cosines()) if weight * value >= self.cut), STEPS)
            need(2 * reach < STEPS, f"group {number} of path {path} is small by itself somewhere")
            self.order.append((above, below, reach))

    def look(self, more):
        self.looked_at += more
        need(self.looked_at < MOST_LOOKED_AT, f"fewer than {MOST_LOOKED_AT} windows and nodes are looked at")

    def windows(self, level, first, last):
        """The ranges of nodes in [first, last] at which every group of the order is within its reach of a whole turn. Node j makes
        j above / below turns: it is within reach / STEPS of the whole number n for start <= j <= end."""
        if level == len(self.order):
            yield first, last
            return
        above, below, reach = self.order[level]
        n = -((reach * below - first * above * STEPS) // (below * STEPS))
        while True:
            self.look(1)
            start, end = -((reach - n * STEPS) * below // (STEPS * above)), (n * STEPS + reach) * below // (STEPS * above)
            if start > last:
                return
            if max(start, first) <= min(end, last):
                yield from self.windows(level + 1, max(start, first), min(end, last))
            n += 1

    def check(self, evaluated):
        """Every node j from 1 to the last one is evaluated, or |product of the factors| <= j exp(-cut); ln j >= 0.693 (bits of j - 1)."""
        table, allowed = one_minus_cosines(), (693 << (32 + FINE)) // 1000
        for first, last in self.windows(0, 1, self.hints.last):
            self.look(last - first)
            for node in range(first, last + 1):
                total = allowed * (node.bit_length() - 1)
                for above, below, weight in self.groups:
                    # The part of a turn is rounded towards a whole turn, where 1 - cos is less.
                    part = node * above * STEPS // below % STEPS
                    total += weight * table[part if 2 * part < STEPS else STEPS - 1 - part]
                need(total >= self.cut or node in evaluated, f"node {node} is evaluated, or its factors are small")

    def mean(self, number):
        """At most the mean of a group's factor over a turn: it falls up to half a turn, so the sum at left ends is too large."""
        weight = self.groups[number][2]
        parts = (exp(-(weight * value << 64) >> (32 + FINE), 0, 64)[0] + 3 for value in one_minus_cosines()[:-1])
        return min(Fraction(1), Fraction(2 * sum(parts), STEPS << 64))

    def beyond(self, number):
        """(E) At most the sum over j > last of b_j (2 / period) (period / (2 pi j))^2, b_j the factor of a group that makes a <= 1
        turns a node. In a turn it rises and falls once, so that its values add up to at most 1 + mean / a; the turn around `last`
        and those that follow give (1 + mean / a) (2 / last^2 + a / last). And 2 pi^2 > 19."""
        last, bound = self.hints.last, Fraction(1, self.hints.last)
        if number is not None and self.groups[number][0] <= self.groups[number][1]:
            a = Fraction(*self.groups[number][:2])
            bound = min(bound, (1 + self.mean(number) / a) * (Fraction(2, last**2) + a / last))
        return self.hints.period / 19 * bound


# ------------------------------------------------------------------------- (B), (D), (F) bounds for delta at one value of epsilon
class Proof:
    """The trapezoid rule for all units of some hints."""

    def __init__(self, claim, hints, epsilon):
        self.claim, self.hints, self.epsilon, self.p = claim, hints, epsilon, hints.bits
        used, evaluated = sorted({path for unit in hints.units for path in unit}), set(hints.evaluated)
        sieves = [(path, Sieve(claim, hints, path)) for path in used]
        for _, sieve in sieves:
            sieve.check(evaluated)
        self.tail = 0 if hints.lattice else max(sieve.beyond(hints.far[path]) for path, sieve in sieves)
        self.kernels = [self.kernel(node) for node in hints.evaluated]
        self.factors = {path: [self.product(claim.paths[path], hints.contour, node) for node in hints.evaluated] for path in used}
        self.constants = {path: reciprocal(self.product(claim.paths[path], Fraction(0), 0), self.p) for path in used}

    def product(self, groups, contour, node):
        """(A) The product of the factors of all counts at a node."""
        result = (1 << self.p, 0, 0)
        for group in groups:
            turns = group.weight / self.hints.period
            one = factor(group, contour, node * turns.numerator, turns.denominator, self.p)
            result = mul(result, power(one, group.count, self.p), self.p)
        return result

    def kernel(self, node):
        """(B) On a lattice 1 / (1 - E) and 1 / (1 - exp(-h) E) with E = exp(-s h); on the line 1 / (s (s + 1)) alone."""
        p, c, h = self.p, self.hints.contour, self.claim.step
        if self.hints.lattice:
            angle = turn(-node, self.hints.divisor, p)
            points = [exp(fixed(-size, p), angle, p) for size in (c * h, (c + 1) * h)]
            return [reciprocal(((1 << p) - x, -y, 6), p) for x, y in points]
        heights = 2 * node / self.hints.period
        # Off by 1 for each part, and by what is wrong in pi, at most 2^-32, times 2 node / period.
        slack = 3 + int(heights / (1 << 32))
        s, t = ((fixed(real, p), int(heights * pi(p + 32)) >> 32, slack) for real in (c, c + 1))
        return [reciprocal(mul(s, t, p), p)]

    def bounds(self, unit):
        """Both ends of delta(epsilon) for one unit; the lower one may be negative."""
        hints, p, epsilon, h = self.hints, self.p, self.epsilon, self.claim.step
        rho, offset = (sum(getattr(group, name) for group in self.claim.groups(unit)) for name in ("rho", "offset"))
        # On a lattice the first loss above epsilon.
        start = offset + (int((epsilon - offset) // h) + 1) * h if hints.lattice else epsilon
        weight, advance = exp(fixed(epsilon - start, p), 0, p) + (3,), (offset - start) / hints.period
        total, error = 0, 0
        for index, node in enumerate(hints.evaluated):
            value = self.kernels[index][0]
            if hints.lattice:
                (x, y, r), (s, t, e) = value, mul(weight, self.kernels[index][1], p)
                value = (x - s, y - t, r + e)
            value = mul(value, exp(0, turn(node * advance.numerator, advance.denominator, p), p) + (4,), p)
            for path in unit:
                value = mul(mul(value, self.factors[path][index], p), self.constants[path], p)
            # The nodes j and -j are conjugates.
            total, error = total + value[0] * (2 if node else 1), error + value[2] * (2 if node else 1)
        c = hints.contour
        scales = exp_ends(rho * (c + c * c) + (offset - rho) * c - c * start, p)
        ends = [scale * size / hints.divisor / (1 << p) for scale in scales for size in (total - error, total + error)]
        # (D) With factors of at most j exp(-cut), the kernel leaves j exp(-cut) times period / (2 j^2) of each node and its conjugate, or
        # on the line period / (2 pi^2 j^2); and the sum of 1 / j up to the last node is at most 1 + ln last < 1 + 0.694 bits.
        around = hints.period / (2 if hints.lattice else 19) * (1 + Fraction(694, 1000) * hints.last.bit_length())
        left_out = scales[1] * (exp_ends(Fraction(-hints.cut), 64)[1] * around + self.tail)
        return min(ends) - left_out - self.alias(unit, rho, offset - rho), max(ends) + left_out

    def alias(self, unit, rho, bounded):
        """(F) What the rule adds: for each side of c at most M(x) exp(-x epsilon) / (exp(period |x - c|) - 1) at a point x of it."""
        c, period, total = self.hints.contour, self.hints.period, Fraction(0)
        laplace = [group for group in self.claim.groups(unit) if not group.gaussian]
        for side in (-1, 1):
            # Any x will do: near the stationary point of the exponent, but neither left of 0 nor at c.
            x = (self.epsilon + side * period - rho) / (2 * rho) if rho else (c + 2000 / period if side > 0 else Fraction(0))
            x = Fraction(int(x * 1024), 1024)
            x = max(Fraction(0), min(x, c - min(1 / period, c / 2))) if side < 0 else max(x, c + 1 / period)
            size = exp_ends(rho * (x + x * x) + (bounded - self.epsilon) * x, 64)[1]
            if laplace and x:
                above, below = self.product(laplace, x, 0), self.product(laplace, Fraction(0), 0)
                size *= Fraction(above[0] + above[2], below[0] - below[2])
            total += size / (exp_ends(period * abs(x - c), 64)[0] - 1)
        return total


# ------------------------------------------------------------------------------------------------------------------------ the claim
def check(data):
    """A line for everything that the certificate in these bytes proves. Refused says which statement does not hold."""
    whole = read(data)
    claim, proven, known = Claim(whole["claim"]), [], {}
    fields(whole["proofs"], "lower", "upper")

    def prove(end, value, which, sign, holds):
        """delta(epsilon) is at most, or at least, a number: the claim itself, or what makes it an end of epsilon, for
        delta(epsilon) decreases and epsilon(delta) is the least epsilon >= 0 with delta(epsilon) <= delta."""
        epsilon, target = (value, claim.at) if claim.about == "epsilon" else (claim.at, value)
        hints, key = Hints(whole["proofs"][end], claim), (canonical(whole["proofs"][end]), epsilon)
        need(end == "lower" or hints.units == claim.units, "an upper end is about all units")
        if key not in known:
            known[key] = list(map(Proof(claim, hints, epsilon).bounds, hints.units))
        bound, statement = max(both[which] for both in known[key]), f"delta({shown(epsilon)}) {sign} {shown(target)}"
        need(holds(bound, target), f"{statement}: what the hints prove is {sign} {shown(bound)}")
        proven.append(statement + (f" for the worst of {len(claim.units)} units" if len(claim.units) > 1 else ""))

    prove("upper", claim.upper, 1, "<=", lambda bound, target: bound <= target)
    if claim.lower > 0:
        prove("lower", claim.lower, 0, ">=", lambda bound, target: bound >= target)
    else:
        need(whole["proofs"]["lower"] is None, "a lower end of 0 needs no hints")
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
