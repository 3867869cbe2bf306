#!/usr/bin/env python3
"""Checks certificates of `assay prove`: python3 proofs/check.py FILE...

Plain Python (3.9 or newer), integers and fractions: no bound is a float. It shares nothing with the program that wrote a certificate and trusts
nothing in it: the claim is what is to be proven, the hints say where to look. A bad hint makes the check fail; none makes it succeed wrongly.

The theorems (A) to (M) are those of proofs/README.md. A number in fixed point is an integer in units of 2^-p. A ball (x, y, r)
stands for a complex number at most r units away from x + i y. Exit status: 0 all is proven, 1 something is not.
"""

import hashlib, json, signal, sys
from bisect import bisect_right
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import accumulate, combinations_with_replacement, product
from math import gcd, isqrt, lcm, log
from re import fullmatch
MOST_BYTES, MOST_DIGITS, MOST_BITS, MOST_EVALUATED, MOST_LOOKED_AT, MOST_ATOMS = 1 << 20, 400, 4096, 30_000, 100_000_000, 4_000_000

class Refused(Exception): pass  # the statement that does not hold
def need(holds, statement):
    if not holds: raise Refused(statement)

# ------------------------------------------------------------------------- the format: canonical bytes, exact keys, reduced fractions
def read(data):
    """The certificate in the bytes of a file. What JSON allows beyond its canonical form, as a key twice, changes the bytes."""
    need(len(data) <= MOST_BYTES, f"a certificate has at most {MOST_BYTES} bytes")
    try:
        whole = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Refused(f"the file is JSON in UTF-8 ({error})") from None
    fields(whole, "certificate", "claim", "proofs", "sha256")
    need(whole["certificate"] == "assay 3", 'the format is "assay 3"')
    need(data == canonical(whole), "the bytes are canonical: keys in order, no spaces, one line")
    need(whole["sha256"] == seal(whole), "sha256 is that of the content: the file is as it was sealed")
    return whole
def canonical(value):
    return (json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n").encode("utf-8", "replace")
def seal(whole):
    return hashlib.sha256(canonical({key: value for key, value in whole.items() if key != "sha256"})).hexdigest()
def fields(value, *keys):
    need(isinstance(value, dict) and set(value) == set(keys), f"the keys are exactly {', '.join(keys)}")
def whole_number(value, least, most, name):
    need(type(value) is int and least <= value <= most, f"{name} is a whole number from {least} to {most}")
    return value
def fraction(text, name, sign=""):
    """An exact number >= 0: "a" or "a/b", reduced, without leading zeros, and only after a sign that is allowed."""
    form = type(text) is str and len(text) <= 2 * MOST_DIGITS and fullmatch(f"({sign})?[0-9]+(/0*[1-9][0-9]*)?", text)
    need(form, f"{name} is a fraction in quotes")
    need(str(Fraction(text)) == text, f"{name} is reduced")
    return Fraction(text)
def listed(value, name, most):
    need(isinstance(value, list) and len(value) <= most, f"{name} is a list of at most {most}")
    return value
def span(value, least, most):
    need(len(listed(value, "a range", 2)) == 2, "a range has two ends")
    return whole_number(value[0], least, most, "a range's first end"), whole_number(value[1], value[0], most, "a range's last end")

class Group:
    """`count` counts, each moved by `shift`, with noise N_Z(0, scale sigma2), N(0, scale sigma2) or discrete Laplace of parameter epsilon / scale."""
    LAWS = ["discrete-gaussian", "gaussian", "discrete-laplace"]
    def __init__(self, value, scale):
        law = value.get("law") if isinstance(value, dict) else None
        self.gaussian, self.continuous, laplace = (law == name for name in self.LAWS)  # of the integers, of the line, two-sided geometric
        name = "epsilon" if laplace else "sigma2"
        fields(value, "count", "law", "shift", name)
        need(law in self.LAWS, f"a law is {', '.join(self.LAWS)}")
        self.parameter = fraction(value[name], name) * (1 / scale if laplace else scale)
        need(Fraction(1, 10**4) <= self.parameter <= 10**18, f"{name} is from 10^-4 to 10^18")
        self.count = whole_number(value["count"], 1, 10**12, "count")
        self.shift = whole_number(value["shift"], 1, 1000 if laplace else 10**6, "shift")
        # The losses of one count with noise on the integers lie on an offset plus the multiples of its weight.
        self.weight = 2 * self.parameter if laplace else self.shift / self.parameter
        self.offset = self.count * self.shift * (self.parameter if laplace else self.weight / 2)
        self.rho = self.count * (self.shift * self.parameter) ** 2 / 2 if laplace else self.offset
        self.order = (self.LAWS.index(law), self.parameter, self.shift)

class Family:
    """The units of a claim, with all its noise times a factor: each path alone, or all pairs of paths composed."""
    def __init__(self, claim, scale=Fraction(1)):
        paths = [[Group(group, scale) for group in listed(path, "a path", 500)] for path in listed(claim["paths"], "paths", 500)]
        known = {(group.order, group.count): group for path in paths for group in path}  # equal groups become one object
        self.paths = [[known[group.order, group.count] for group in path] for path in paths]
        need(self.paths and all(self.paths), "there are paths, and every path has groups")
        need(all(a.order < b.order for path in self.paths for a, b in zip(path, path[1:])), "groups are in order, each once")
        need(len({*map(tuple, self.paths)}) == len(paths) and type(claim["pairs"]) is bool, "every path is there once, and pairs is true or false")
        self.units = list(combinations_with_replacement(range(len(paths)), 2 if claim["pairs"] else 1))
        self.groups = {unit: [group for path in unit for group in self.paths[path]] for unit in self.units}
        self.rho = max(sum(group.rho for group in groups) for groups in self.groups.values())
def step_of(groups):
    """The greatest common divisor of all weights: the losses of a unit of these groups lie on its offset plus step Z."""
    weights = [group.weight for group in groups]
    return Fraction(gcd(*(w.numerator for w in weights)), lcm(*(w.denominator for w in weights)))

# --------------------------------------------------------------------------------------------------------- arithmetic in fixed point
@lru_cache(maxsize=None)
def pi(p):
    """|pi(p) - pi 2^p| <= 1.01. Machin: pi = 16 atan(1/5) - 4 atan(1/239). A term is too small by less than 1 unit of 2^-(p + 32), and so
    is what is left out, alternating and below 5^-(p/2 + 16): with p/4 + 9 terms together below 20 (p/4 + 10) 2^-32 < 0.01."""
    atan = lambda n: sum((-1) ** k * ((1 << (p + 32)) // ((2 * k + 1) * n ** (2 * k + 1))) for k in range((p + 32) // 4 + 1))
    return (16 * atan(5) - 4 * atan(239)) >> 32
def exp(u, v, p):
    """exp(u + i v) for u <= 0, all in units of 2^-p; off by at most 2. Below 2^-(p+1) zero will do: u < -0.7 (p + 2) < -(p + 1) ln 2. Else
    w = (u + i v) / 2^k is exact with k + 16 more bits, and |w| <= 2^-10, so that n terms of the series leave out at most 2^(1 - 10 n). In Horner's
    scheme a step adds less than 3 units and divides what was by 2^10: below 4 in all. A squaring doubles the error and adds 3 units, as |exp| <= 1:
    after k at most 2^k (6 + 3) (1 + 2^-10) < 2^(k + 4) units of 2^-(p + k + 16), which is 2^-12 of one; rounding down adds sqrt(2)."""
    if 10 * u < -7 * (p + 2) << p: return 0, 0
    k = max(0, (abs(u) + abs(v)).bit_length() - p + 10)
    q, a, b = p + k + 16, u << 16, v << 16
    one, x, y = 1 << q, 1 << q, 0
    for n in range(q // 10 + 2, 0, -1):
        x, y = one + ((a * x - b * y) >> q) // n, ((a * y + b * x) >> q) // n
    for _ in range(k): x, y = (x * x - y * y) >> q, (x * y) >> (q - 1)
    return x >> (k + 16), y >> (k + 16)
fixed = lambda x, p: (x.numerator << p) // x.denominator  # a fraction, rounded down
def turn(above, below, p):
    """The angle of above / below turns, reduced to half a turn; off by at most 2."""
    return (above - (2 * above + below) // (2 * below) * below) * pi(p + 8) // (below << 7)
def mul(a, b, p):
    """The product of balls: |a b - a0 b0| <= |a0| rb + |b0| ra + ra rb, and rounding both parts adds less than 2."""
    (x, y, r), (s, t, e) = a, b
    return (x * s - y * t) >> p, (x * t + y * s) >> p, (((abs(x) + abs(y) + r) * e + (abs(s) + abs(t)) * r) >> p) + 3
def power(a, n, one, times, p):
    """a^n by squaring, of balls by mul, or of lists of masses by convolve."""
    for bit in bin(n)[2:]:
        one = times(one, one, p)
        one = times(one, a, p) if bit == "1" else one
    return one
def reciprocal(a, p):
    """1 / a: |1/a - 1/a0| <= r / (|a0| (|a0| - r)), and the roundings add less than 3."""
    (x, y, r), square = a, a[0] ** 2 + a[1] ** 2
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
def ln_ends(x):
    """Both ends of ln(x) for x >= 1: with z = x exp(-y), whatever y is, 1 - 1 / z <= ln(z) <= z - 1. Close ones, as y is close to ln(x)."""
    y = Fraction(log(x.numerator) - log(x.denominator))
    lower, upper = exp_ends(y, 128)
    return max(y + 1 - upper / x, Fraction(0)), y - 1 + x / lower
def factor(group, contour, above, below, p):
    """(A) F(b) of one count but for a constant factor, at b = 2 pi above / below; the same at contour 0 and b = 0 is what to divide it by.
    With m = contour shift it is the sum over k of exp(-sigma2 (b - 2 pi k)^2 / 2 + i m (b - 2 pi k)), |b| <= pi. A term is off by at most 6, its
    exponents by at most 2 each. Left out is less than 1 unit: the first term on each side is below 2^-(p + 3), by 19.6 < 2 pi^2 and
    ln 2 < 0.694, and each next one is less than half of the one before, as sigma2 >= 1/20."""
    sigma2, m, reach, square = group.parameter, contour * group.shift, 0, pi(p + 32) ** 2 >> (p + 32)
    while 49 * sigma2 * (2 * reach + 1) ** 2 < Fraction(694, 100) * (p + 3): reach += 1
    nearest = (2 * above + below) // (2 * below)
    parts = [above - k * below for k in range(nearest - reach, nearest + reach + 1)]
    sizes = [-2 * sigma2.numerator * part * part * square // (sigma2.denominator * below * below << 32) for part in parts]
    terms = [exp(size, turn(m.numerator * part, m.denominator * below, p), p) for part, size in zip(parts, sizes)]
    return sum(x for x, _ in terms), sum(y for _, y in terms), 6 * len(terms) + 1

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
        self.contour, self.looked_at, self.cut, self.order = contour, 0, contour.cut << (32 + FINE), []
        # From node to node the angle of a group advances by this part of a turn: weight / (2 pi) times 2 pi / period.
        self.groups = [(*(group.weight / contour.period).as_integer_ratio(),
                        int(times * group.count * least_variance(group.parameter) * (1 << 32))) for group in groups]
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
        if not above: yield first, last
    def check(self, evaluated):
        """Every node j from 1 to the last one is evaluated, or |product of the factors| <= j exp(-cut); ln j >= 0.693 (bits of j - 1)."""
        table, allowed = one_minus_cosines(), (693 << (32 + FINE)) // 1000
        for first, last in self.windows(0, 1, self.contour.last):
            for node in range(first, last + 1):
                total = allowed * (node.bit_length() - 1)
                for above, below, weight in self.groups:
                    if total >= self.cut: break
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

class Contour:
    """(B), (D), (F) Bounds for delta of some units by the trapezoid rule. Where to look is said by hints, of which nothing is believed."""
    def __init__(self, family, hints, units):
        fields(hints, "bits", "contour", "cut", "evaluated", "last", "nodes", "sieve", "units")
        self.family, self.p = family, whole_number(hints["bits"], 32, MOST_BITS, "bits")
        self.cut, self.c = whole_number(hints["cut"], 1, 10**6, "cut"), fraction(hints["contour"], "contour")
        groups = [group for unit in units for group in family.groups[unit]]
        need(all(one.gaussian and one.parameter > Fraction(1, 20) for one in groups), "a contour is about Gaussian noise, sigma2 > 1/20")
        self.step, self.nodes = step_of(groups), whole_number(hints["nodes"], 3, 10**60, "nodes")
        need(self.nodes % 2 == 1 and self.c > 0, "the number of nodes is odd, and the contour is right of 0")
        self.period, self.last = self.nodes * self.step, whole_number(hints["last"], 1, self.nodes // 2, "last")
        ranges = [span(pair, 0, self.last) for pair in listed(hints["evaluated"], "evaluated", MOST_EVALUATED)]
        in_order = ranges and ranges[0][0] == 0 and all(a[1] < b[0] for a, b in zip(ranges, ranges[1:]))
        need(in_order and sum(b + 1 - a for a, b in ranges) <= MOST_EVALUATED, f"evaluated are at most {MOST_EVALUATED} nodes, in order from 0")
        self.evaluated = [node for first, last in ranges for node in range(first, last + 1)]
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
        products, constants = [self.products(used, self.c, node) for node in self.evaluated], self.products(used, Fraction(0), 0)
        self.factors = {path: [mul(row[at], reciprocal(constants[at], self.p), self.p) for row in products] for at, path in enumerate(used)}
        self.kernels = [self.kernel(node) for node in self.evaluated]
        # Pairs (p, q) come one after the other for each p, and most of them on one lattice.
        self.phases = lru_cache(maxsize=16)(self.phases)
        self.terms = lru_cache(maxsize=1)(lambda path, *lattice: [mul(a, b, self.p) for a, b in zip(self.phases(*lattice), self.factors[path])])
    def products(self, paths, contour, node):
        """(A) For each path the product of the factors of all its counts at a node. Equal groups of several paths are computed once."""
        factors = {}
        for group in {group for path in paths for group in self.family.paths[path]}:
            turns = group.weight / self.period
            one = factor(group, contour, node * turns.numerator, turns.denominator, self.p)
            factors[group] = power(one, group.count, (1 << self.p, 0, 0), mul, self.p)
        return [reduce(lambda a, b: mul(a, b, self.p), map(factors.get, self.family.paths[path])) for path in paths]
    def kernel(self, node):
        """(B) 1 / (1 - E) and 1 / (1 - exp(-h) E) with E = exp(-s h)."""
        p, h, angle = self.p, self.step, turn(-node, self.nodes, self.p)
        return [reciprocal(((1 << p) - x, -y, 6), p) for x, y in (exp(fixed(-size * h, p), angle, p) for size in (self.c, self.c + 1))]
    def phases(self, start, rho, epsilon):
        """Of each node, and its conjugate: the kernel and the phase for losses on rho + step Z, of which `start` is the first above epsilon."""
        p, row = self.p, []
        weight, advance = exp(fixed(epsilon - start, p), 0, p) + (3,), (rho - start) / self.period
        for node, (first, second) in zip(self.evaluated, self.kernels):
            (x, y, r), (s, t, e) = first, mul(weight, second, p)
            x, y, r = mul((x - s, y - t, r + e), exp(0, turn(node * advance.numerator, advance.denominator, p), p) + (4,), p)
            row.append((2 * x, 2 * y, 2 * r) if node else (x, y, r))
        return row
    def bounds(self, unit, epsilon):
        """Both ends of delta(epsilon) for one unit; the lower one may be negative."""
        p, c, h, rho = self.p, self.c, self.step, sum(group.offset for group in self.family.groups[unit])
        start = rho + ((epsilon - rho) // h + 1) * h  # the first loss above epsilon
        row = self.terms(unit[0], start, rho, epsilon)
        row = [mul(a, b, p) for a, b in zip(row, self.factors[unit[1]])] if len(unit) == 2 else row
        total, error = sum(x for x, _, _ in row), sum(r for _, _, r in row)
        scales = exp_ends(rho * (c + c * c) - c * start, p)
        ends = [scale * size / self.nodes / (1 << p) for scale in scales for size in (total - error, total + error)]
        # (D) With factors of at most j exp(-cut), the kernel leaves j exp(-cut) times period / (2 j^2) of each node and its conjugate;
        # and the sum of 1 / j up to the last node is at most 1 + ln last < 1 + 0.694 bits.
        around = self.period / 2 * (1 + Fraction(694, 1000) * self.last.bit_length())
        left_out = scales[1] * (exp_ends(Fraction(-min(self.cut, 10**4)), 64)[1] * around + self.tail)
        return min(ends) - left_out - self.alias(epsilon, rho), max(ends) + left_out
    def alias(self, epsilon, rho):
        """(F) What the rule adds: for each side of c at most M(x) exp(-x epsilon) / (exp(period |x - c|) - 1) at a point x of it."""
        # Any x will do: near the stationary point of the exponent, but neither left of 0 nor at c.
        left, right = (Fraction(int((epsilon + side * self.period - rho) / (2 * rho) * 1024), 1024) for side in (-1, 1))
        points = (max(Fraction(0), min(left, self.c - min(1 / self.period, self.c / 2))), max(right, self.c + 1 / self.period))
        size = lambda x: exp_ends(rho * (x + x * x) - epsilon * x, 64)[1] / (exp_ends(min(self.period * abs(x - self.c), 10**4), 64)[0] - 1)
        return sum(map(size, points))
def convolve(a, b, p):
    """The sums of a_i b_j over i + j = k, rounded down: digits of a product of two long numbers, for masses add up to one at most."""
    size = p // 4 + 1
    long = [int.from_bytes(b"".join(mass.to_bytes(size, "little") for mass in masses), "little") for masses in (a, b)]
    digits = (long[0] * long[1]).to_bytes(size * (len(a) + len(b)), "little")
    return [int.from_bytes(digits[at:at + size], "little") >> p for at in range(0, size * (len(a) + len(b) - 1), size)]

class Atoms:
    """(G) P[L > eps] and Q[L > eps] of one unit with few outcomes, from lower bounds for the masses of all outcomes that are kept."""
    def __init__(self, family, value, units):
        fields(value, "bits", "kept", "units")
        self.p, self.family, groups = whole_number(value["bits"], 32, MOST_BITS, "bits"), family, family.groups[units[0]]
        need(len(units) == 1 and len(listed(value["kept"], "kept", 1000)) == len(groups), "atoms are about all groups of one unit")
        need(not any(group.continuous for group in groups), "atoms are about noise on the integers")
        # Each half has all sums of the losses of its groups, in steps, with their masses under P and under Q.
        self.halves, self.step = [{0: (1 << self.p, 1 << self.p)}] * 2, step_of(groups)
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
        total, least = power([(max(0, weight - 4) << p) // norm for weight in weights], n, [1 << p], convolve, p), n * start
        mass = lambda x: total[x - least] if 0 <= x - least < len(total) else 0
        return [(x, mass(x), mass(-group.count * group.shift - x)) for x in range(first, last + 1)]
    def times(self, half, steps, masses):
        """All sums of a loss of the half and one of a group."""
        sums = {}
        for (loss, (under_p, under_q)), (x, more_p, more_q) in product(half.items(), masses):
            known_p, known_q = sums.get(loss + steps * x, (0, 0))
            sums[loss + steps * x] = known_p + (under_p * more_p >> self.p), known_q + (under_q * more_q >> self.p)
        return sums
    def bounds(self, unit, epsilon):
        """Both ends of delta(epsilon) = P[L > eps] - exp(eps) Q[L > eps]: what is not kept weighs what is missing to one."""
        (one, other), ends, whole = self.halves, [], 1 << 2 * self.p
        losses, least = sorted(other), (epsilon - sum(group.offset for group in self.family.groups[unit])) // self.step
        for which in (0, 1):
            from_here = [0, *accumulate(other[loss][which] for loss in reversed(losses))]  # its masses from each loss on
            kept = sum(mass[which] * from_here[len(losses) - bisect_right(losses, least - loss)] for loss, mass in one.items())
            ends.append((kept, kept + whole - sum(mass[which] for mass in one.values()) * from_here[-1]))
        (p_lower, p_upper), (q_lower, q_upper), growth = *ends, exp_ends(epsilon, self.p)
        return (p_lower - growth[1] * q_upper) / whole, (p_upper - growth[0] * q_lower) / whole
def normal_tail(z):
    """Both ends of P[N(0, 1) > z], for z >= 0 1/2 - phi(z) S(z) with S(z) = sum over k of z^(2k+1) / (2k+1)!!. One sum is rounded down and one up;
    once the terms fall to a half at least, what is left out is at most the last one. With 0.73 > log2(e) / 2 it has bits for exp(-z^2 / 2)."""
    if z < 0: return [1 - end for end in reversed(normal_tail(-z))]
    need(z < 100, "tails of continuous noise begin within 100 standard deviations")
    p, k = 192 + int(Fraction(73, 100) * z * z), 1
    square, low, high = fixed(z * z, p), fixed(z, p), fixed(z, p) + 1
    sums = [low, high]
    while high > 1 or 2 * z * z > k + 2:
        k, low, high = k + 2, (low * square >> p) // (k + 2), ((high * (square + 1) >> p) + 1) // (k + 2) + 1
        sums = [sums[0] + low, sums[1] + high]
    roots = [Fraction(isqrt(2 * (pi(p) + off) << p) + up, 1 << p) for up, off in ((1, 2), (0, -2))]
    least, most = (size * total / root / (1 << p) for size, total, root in zip(exp_ends(-z * z / 2, p), (sums[0], sums[1] + high), roots))
    return [max(Fraction(0), Fraction(1, 2) - most), Fraction(1, 2) - least]

class Normal:
    """(K) Bounds for delta of continuous Gaussian counts: the loss is N(mu^2 / 2, mu^2) with mu^2 = 2 rho, and delta increases with mu."""
    def __init__(self, family, hints, units):
        self.family = family
        need(all(group.continuous for unit in units for group in family.groups[unit]), "only continuous Gaussian noise has a formula")
    def bounds(self, unit, epsilon):
        root, growth = isqrt(int(2 * sum(group.rho for group in self.family.groups[unit]) * 4**256)), exp_ends(epsilon, 512)
        tails = [[normal_tail(epsilon / mu + side * mu / 2) for side in (-1, 1)] for mu in (Fraction(root, 2**256), Fraction(root + 1, 2**256))]
        return [first[end] - growth[1 - end] * second[1 - end] for end, (first, second) in enumerate(tails)]

class Bounds:
    """Bounds for delta of the worst of all units, or of some, by hints for one part of them after the other."""
    def __init__(self, family, proofs, name):
        self.parts, left = [], family.units
        for hints in listed(proofs, name, 2000):
            units = hints.get("units") if isinstance(hints, dict) else 0
            units = left if units is None else [tuple(whole_number(path, 0, len(family.paths) - 1, "a path") for path in
                                                      listed(unit, "a unit", 2)) for unit in listed(units, "units", 10**5)]
            need(units and all(unit in left for unit in units), "units are paths, or pairs of paths in order, each once")
            engine = Normal if set(hints) == {"units"} else Atoms if "kept" in hints else Contour
            try:
                self.parts.append((engine(family, hints, units), units))
            except Refused as statement:
                raise Refused(f"the {name} end: {statement}") from None
            left = [unit for unit in left if unit not in units]
        need(self.parts and (name == "lower" or not left), f"the {name} end has hints, an upper end for all units")
    def at(self, epsilon):
        both = [part.bounds(unit, epsilon) for part, units in self.parts for unit in units]
        return max(lower for lower, _ in both), max(upper for _, upper in both)
def highest(points):
    """(H) Both ends of the maximum of a concave function, from both ends of three points and of its values there."""
    (x1, x2, lower_x, upper_x), (y1, y2, lower, upper), (z1, z2, lower_z, upper_z) = points
    need(x2 < y1 and y2 < z1 and max(upper_x, upper_z) <= lower, "points are in order, and the middle one is proven to be the highest")
    return lower, upper + max((upper - lower_x) / (y1 - x2) * (z2 - y1), (upper - lower_z) / (z1 - y2) * (y2 - x1))
def tradeoff(alpha, points, above, below):
    """(H) Both ends of the largest 1 - delta(eps) - exp(eps) alpha over all eps, a concave function of exp(eps), from three of them."""
    def height(epsilon):
        ends, sizes = [1 - above.at(abs(epsilon))[1], 1 - below.at(abs(epsilon))[0]], exp_ends(epsilon, 512)
        heights = [end - size * alpha if epsilon >= 0 else size * (end - alpha) for end in ends for size in sizes]
        return *sizes, min(heights), max(heights)
    return highest(map(height, points))
def zcdp(family, delta):
    """(I) Both ends of rho + 2 sqrt(rho ln(1 / delta)) for the largest rho of a unit."""
    return [family.rho + 2 * Fraction(isqrt(int(family.rho * end * 4**128)) + up, 2**128) for up, end in enumerate(ln_ends(1 / delta))]
def posterior(family, noisy, prior):
    """(J) Both ends of the posterior probability of the record for an output: prior odds times exp of its loss are posterior odds."""
    one_path = family.units == [(0,)] and all(group.gaussian for group in family.paths[0])
    need(one_path and len(listed(noisy, "noisy", 500)) == len(family.paths[0]), "one path of Gaussian noise has a noisy sum for each group")
    sums = zip(family.paths[0], (whole_number(x, -(10**12), 10**12, "a noisy sum") for x in noisy))
    return [prior * odds / (prior * odds + 1 - prior) for odds in exp_ends(sum(one.weight * x - one.offset for one, x in sums), 128)]
def orders(family, delta, points, lower):
    """(L) Both ends of the least epsilon by an order 1 + s: the upper one at one s, and the lower one as claimed if all s are proven to give no
    less: s (lower - rho (1 + s)) + s ln(1 + 1 / s) + ln(1 + s), which is concave, is nowhere above ln(1 / delta)."""
    need(all(s > 0 for s in points), "an order is above one")
    logs, (least, most) = lambda s: [s * a + b for a, b in zip(ln_ends(1 + 1 / s), ln_ends(1 + s))], ln_ends(1 / delta)
    heights = [(s, s, *(s * (lower - family.rho * (1 + s)) + end for end in logs(s))) for s in points]
    need(lower == 0 or highest(heights)[1] <= least, f"the lower end: no order gives less than {shown(lower)}")
    return lower, family.rho * (1 + points[1]) + (most - logs(points[1])[0]) / points[1]
def marginal(family, hints, prior):
    """(M) Both ends of the posterior probability of a record that is in the data, on average: of outputs that are not kept it is from 0 to 1."""
    need(len(hints) == 1 and isinstance(hints[0], dict) and "kept" in hints[0], "atoms of the one unit are hints")
    atoms, offset = Atoms(family, hints[0], family.units), sum(group.offset for group in family.groups[family.units[0]])
    need(len(atoms.halves[0]) * len(atoms.halves[1]) <= 10**5, "there are at most 10^5 losses")
    masses = [(a + b, p * q) for (a, (p, _)), (b, (q, _)) in product(*(half.items() for half in atoms.halves))]
    shares = [[1 - 1 / (1 + prior / (1 - prior) * growth) for growth in exp_ends(offset + steps * atoms.step, 64)] for steps, _ in masses]
    sums = [sum((fixed(both[up], 128) + up) * mass for both, (_, mass) in zip(shares, masses)) for up in (0, 1)]
    left = (1 << 2 * atoms.p) - sum(mass for _, mass in masses)
    return [Fraction(total + up * (left << 128), 1 << 2 * atoms.p + 128) for up, total in enumerate(sums)]
GIVEN = {"beta": "alpha", "delta": "epsilon", "epsilon": "delta", "marginal": "prior", "orders": "delta",
         "posterior": "noisy prior", "scale": "decimals delta epsilon grid", "zcdp": "delta"}
def statements(claim, proofs):
    """What has to hold, one after the other: in words, the bound that is proven for it, its sign, and the end that is claimed."""
    fields(claim, "about", "at", "lower", "neighbors", "pairs", "paths", "subject", "upper")
    fields(proofs, "lower", "points", "upper")
    about, at, family = claim["about"], claim["at"], Family(claim)
    need(about in list(GIVEN), f"a claim is about {', '.join(GIVEN)}")
    labels = claim["neighbors"] in ("add-remove", "bounded") and type(claim["subject"]) is str and claim["subject"].isprintable()
    need(labels, "neighbors is add-remove or bounded, and subject a line of text")
    fields(at, *GIVEN[about].split())
    in_words = lambda name, x: name in ("grid", "noisy") or (about, name, x) == ("scale", "epsilon", "zcdp")
    at = {name: x if in_words(name, x) else fraction(x, name) for name, x in at.items()}
    lower, upper, *given = [fraction(claim[end], f"the {end} end") for end in ("lower", "upper")] + [x for x in at.values() if type(x) is Fraction]
    need(lower <= upper and max(upper, *given) <= 10**6, "ends are in order, and no number is above 10^6")
    need(all(0 < at.get(name, Fraction(1, 2)) < 1 for name in ("alpha", "delta", "prior")), "alpha, delta and a prior are above 0 and below 1")
    points = proofs["points"] and [fraction(point, "a point", "-") for point in listed(proofs["points"], "points", 3)]
    has_points = bool(points) and len(points) == 3 if about in ("beta", "orders") else points is None
    need(has_points, "three points are those of a trade-off function or of orders, and of no other claim")
    need(about not in ("orders", "posterior", "zcdp") or proofs["lower"] == proofs["upper"] == [], "what is a formula needs no hints")
    need(about != "marginal" or proofs["lower"] == [], "both ends of a marginal have the hints of the upper one")
    formulas = {"beta": lambda: tradeoff(at["alpha"], points, *(Bounds(family, proofs[end], end) for end in ("upper", "lower"))),
                "marginal": lambda: marginal(family, listed(proofs["upper"], "upper", 1), at["prior"]), "zcdp": lambda: zcdp(family, at["delta"]),
                "orders": lambda: orders(family, at["delta"], points, lower), "posterior": lambda: posterior(family, at["noisy"], at["prior"])}
    if about in formulas:
        words, bounds = f"{about}({', '.join(map(shown, given))})", formulas[about]()
        yield from ((words, bounds[0], ">=", lower), (words, bounds[1], "<=", upper))
        return
    # delta(epsilon) decreases, and epsilon(delta) is the least one with delta(epsilon) <= delta: an end is about the delta of one epsilon.
    ends = [(1, at["epsilon"], upper), (1, at["epsilon"], lower)] if about == "delta" else [(1, upper, at["delta"]), (1, lower, at["delta"])]
    if about == "scale":
        need(at["grid"] in ("factor", "sigma2") and at["decimals"] in range(13), "a grid is of factor or sigma2, with 0 to 12 decimals")
        sigma2 = min((group.parameter for path in family.paths for group in path if group.gaussian or group.continuous), default=0)
        numbers = [end * 10 ** int(at["decimals"]) * (sigma2 if at["grid"] == "sigma2" else 1) for end in (lower, upper)]
        need(numbers[1] - numbers[0] == 1 == numbers[0].denominator and lower > 0, "the two factors are neighbors on the grid, above 0")
        least, most = zcdp(family, at["delta"]) if at["epsilon"] == "zcdp" else (at["epsilon"], at["epsilon"])
        ends = [(upper, least, at["delta"]), (lower, most, at["delta"])]
    for end, (scale, epsilon, delta) in zip(("upper", "lower"), ends):
        if end == "lower" and lower == 0:
            need(proofs["lower"] == [], "a lower end of 0 needs no hints")
            return
        bound = Bounds(Family(claim, Fraction(scale)), proofs[end], end).at(epsilon)[end == "upper"]
        where = f"noise times {shown(scale)}: " if about == "scale" else ""
        yield f"{where}delta({shown(epsilon)})", bound, "<=" if end == "upper" else ">" if where else ">=", delta
def check(data):
    """A line for everything that the certificate in these bytes proves. Refused says which statement does not hold."""
    whole, proven = read(data), []
    for words, bound, sign, end in statements(whole["claim"], whole["proofs"]):
        proven.append(f"{words} {sign} {shown(end)}")
        need({"<=": bound <= end, ">": bound > end, ">=": bound >= end}[sign], f"{proven[-1]}: what is proven is {sign} {shown(bound)}")
    return proven
shown = lambda value: f"{Decimal(value.numerator) / Decimal(value.denominator):.18g}"
def main(paths):
    failed = 0
    for path in paths:
        try:
            with open(path, "rb") as file: said = "\n  ".join([f"{path}: proven", *check(file.read(MOST_BYTES + 1))])
        except (Refused, OSError) as error:
            said, failed = f"{path}: REFUSED\n  {'does not hold' if isinstance(error, Refused) else 'cannot be read'}: {error}", 1
        print(said, flush=True)
    return failed

if __name__ == "__main__":
    for name in {"SIGINT", "SIGPIPE"}.intersection(dir(signal)):  # who reads no further, or stops it, needs no traceback
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else __doc__)
