#!/usr/bin/env python3
"""Checks certificates of `assay prove`: python3 -I check.py FILE... (--help lists the options)

Plain Python (3.9 or newer), integers and fractions: no bound is a float. It shares nothing with the program that wrote a certificate and trusts
nothing in it: the claim is what is to be proven, the hints say where to look. A bad hint makes the check fail; none makes it succeed wrongly.

The theorems (A) to (P) are those of proofs/README.md, which also has a table of the precondition of every bound and of the limits of work. A number
in fixed point is an integer in units of 2^-p. A ball (x, y, r) stands for a complex number at most r units away from x + i y.
Exit status: 0 everything is proven, 1 something is refused or cannot be read, 2 wrong arguments, or Python without -I.
"""

import sys
if __name__ == "__main__" and not sys.flags.isolated:  # nothing but what is built in may be imported before this
    sys.stderr.write("check.py: runs with -I only: python3 -I check.py ... Without it Python may run a file of this folder in place of its own.\n")
    sys.exit(2)

import argparse, hashlib, json, os, random, re, signal, stat, time
from bisect import bisect_left, bisect_right
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import accumulate, combinations_with_replacement, groupby, product
from math import comb, gcd, isqrt, lcm, log

class Refused(Exception): pass
def need(holds, statement, value=None):  # the value, or the statement that does not hold
    if not holds: raise Refused(statement)
    return value
# ====================================================================================== limits of work: a stated one for every law, and for all
MOST_BYTES, MOST_DIGITS, MOST_BITS, MOST_EVALUATED = 1 << 20, 400, 4096, 30_000
MOST_ATOMS, MOST_REACH, MOST_LOOKED_AT, MOST_SIZE, MOST_COVER = 2_000_000, 10**6, 40_000_000, 10_000, 300_000
MOST_WORK, MOST_BALLS, MOST_WALKED, MOST_ROWS, MOST_WHOLE = 400 * 10**6, 10**9, 10**8, 5000, 1024
class Work:
    """Microseconds of one core of 2020 that a check takes, predicted from the certificate alone: whether it is begun, never what it proves."""
    planned = done = looked_at = walked = cover = sieves = 0
    def __init__(self, report=None): self.report = report
    def plan(self, cost):
        self.planned += cost
        need(self.planned <= MOST_WORK, f"a check takes less than {MOST_WORK // 10**6} s of one core; for this one more is predicted")
    def did(self, cost):
        self.done += cost
        if self.report: self.report(self)
def size(x): return x.numerator.bit_length() + x.denominator.bit_length()
def mul_cost(p): return 0.7 + (p / 600) ** 1.9
def exp_cost(p): return 10 + p / 16 + 500 * (p / 1024) ** 2.4
def ends_cost(x, p): return 5 + exp_cost(p + 40 + 1.5 * min(abs(x), 1 << 14)) / 2  # of exp_ends
def fraction_cost(size): return 2 + size / 100 + (size / 1000) ** 2 * 10
def long_cost(size): return 1.5e6 * (size / 1e6) ** 1.585 + size / 100  # a product of two numbers of this size in bytes
# =================================================================================== the format: canonical bytes, exact keys, reduced fractions
def read(data):
    """The certificate in the bytes of a file. What JSON allows beyond its canonical form, as a key twice, changes the bytes."""
    need(len(data) <= MOST_BYTES, f"a certificate has at most {MOST_BYTES} bytes")
    need(not re.search(rb"[0-9]{%d}" % (2 * MOST_DIGITS + 1), data), f"no number has more than {2 * MOST_DIGITS} digits")
    try: whole = json.loads(data.decode("utf-8")); same = data == canonical(whole)
    except (ValueError, RecursionError) as error: raise Refused(f"the file is JSON in UTF-8 ({error})") from None
    version = whole.get("certificate") if isinstance(whole, dict) else None
    need(version in ("assay 3", "assay 4"), 'the format is "assay 4" or "assay 3"')
    fields(whole, "certificate", "claim", "proofs", "sha256", *["source"] * (version == "assay 4"))
    need(same, "the bytes are canonical: keys in order, no spaces, one line")
    need(whole["sha256"] == seal(whole), "sha256 is that of the content: the file is as it was sealed")
    if version == "assay 4": labels(whole["source"])
    return whole
def labels(source):
    """What a certificate says of its origin. Nothing of it is proven; it only has to be a line of text."""
    fields(source, "commit", "program", "release_sha256", "version")
    for name, form, null in (("commit", ".{1,99}", 1), ("program", ".{1,99}", 0), ("release_sha256", "[0-9a-f]{64}", 1), ("version", ".{1,99}", 0)):
        is_line = type(source[name]) is str and source[name].isprintable() and re.fullmatch(form, source[name])
        need(is_line or null and source[name] is None, f"{name} is a line of text of the form {form}{' or null' * null}")
def canonical(value): return (json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n").encode("utf-8", "replace")
def seal(whole): return hashlib.sha256(canonical({key: value for key, value in whole.items() if key != "sha256"})).hexdigest()
def fields(value, *keys): need(isinstance(value, dict) and set(value) == set(keys), f"the keys are exactly {', '.join(keys)}")
def whole_number(value, least, most, name):
    return need(type(value) is int and least <= value <= most, f"{name} is a whole number from {least} to {most}", value)
def fraction(text, name, sign=""):
    """An exact number >= 0: "a" or "a/b", reduced, without leading zeros, and only after a sign that is allowed."""
    form = type(text) is str and len(text) <= 2 * MOST_DIGITS and re.fullmatch(f"({sign})?[0-9]+(/0*[1-9][0-9]*)?", text)
    need(form, f"{name} is a fraction in quotes")
    return need(str(Fraction(text)) == text, f"{name} is reduced", Fraction(text))
def listed(value, name, most): return need(isinstance(value, list) and len(value) <= most, f"{name} is a list of at most {most}", value)
def span(value, least, most):
    need(len(listed(value, "a range", 2)) == 2, "a range has two ends")
    return whole_number(value[0], least, most, "a range's first end"), whole_number(value[1], value[0], most, "a range's last end")
def table_of(rows):
    """A table of noise: its values with their masses, which are whole numbers over one that is returned as well."""
    need(all(len(listed(row, "a row", 2)) == 2 for row in rows), "a row has a value and a mass")
    rows = [(whole_number(x, -(10**12), 10**12, "a value"), fraction(mass, "a mass")) for x, mass in rows]
    need(all(a[0] < b[0] for a, b in zip(rows, rows[1:])) and all(row[1] > 0 for row in rows), "values are in order, each once, with masses above 0")
    wholes = [mass.denominator for _, mass in rows]
    need(all(whole.bit_length() <= MOST_WHOLE for whole in accumulate(wholes, lcm)), f"masses have a denominator of at most {MOST_WHOLE} bits")
    whole = lcm(*wholes)
    rows = [(x, mass.numerator * (whole // mass.denominator)) for x, mass in rows]
    return need(sum(mass for _, mass in rows) == whole, "the masses of a table add up to 1", (rows, whole))
# ========================================================================================================== arithmetic and theorems
class Group:
    """`count` counts, each moved by `shift`, with noise N_Z(0, scale sigma2), N(0, scale sigma2), discrete Laplace of epsilon / scale, or a table."""
    LAWS = ["discrete-gaussian", "gaussian", "discrete-laplace", "table"]
    def __init__(self, value, scale, tables=()):
        law = value.get("law") if isinstance(value, dict) else None
        self.gaussian, self.continuous, laplace, tabled = (law == name for name in self.LAWS)  # of the integers, of the line, two-sided geometric
        name = "epsilon" if laplace else "table" if tabled else "sigma2"
        fields(value, "count", "law", "shift", name)
        need(law in self.LAWS, f"a law is {', '.join(self.LAWS)}")
        self.table = tables[whole_number(value[name], 0, len(tables) - 1, name)] if tabled else None
        self.parameter = Fraction(value[name]) if tabled else fraction(value[name], name) * (1 / scale if laplace else scale)
        need(tabled or Fraction(1, 10**4) <= self.parameter <= 10**18, f"{name} is from 10^-4 to 10^18")
        self.count = whole_number(value["count"], 1, 1000 if tabled else 10**12, "count")
        self.shift = whole_number(value["shift"], 1, 2 * 10**12 if tabled else 1000 if laplace else 10**6, "shift")
        # The losses of one count with noise on the integers lie on an offset plus the multiples of its weight; of a table on no lattice.
        self.weight = 2 * self.parameter if laplace else Fraction(0) if tabled else self.shift / self.parameter
        self.offset = self.count * self.shift * (self.parameter if laplace else self.weight / 2)
        self.rho = self.count * (self.shift * self.parameter) ** 2 / 2 if laplace else self.offset
        self.order = (self.LAWS.index(law), self.parameter, self.shift)
        self.text = f"{law} {value[name]} {self.shift} {self.count}"  # a key; no author chooses numbers for keys, as their hashes can collide
        self.variance = int(self.count * least_variance(self.parameter) * (1 << 32)) if self.gaussian else 0  # at most that of all, times 2^32
class Family:
    """The units of a claim, with all its noise times a factor: each path alone, or all pairs of paths composed."""
    def __init__(self, claim, scale=Fraction(1), work=None):
        need(scale > 0, "a factor is above 0")
        self.work, pairs, laws, infinite = work or Work(), claim["pairs"], claim.get("laws"), claim.get("infinite")
        self.infinite = Fraction(0) if infinite is None else fraction(infinite, "infinite")  # (O)
        need(laws != [] and (infinite is None or 0 < self.infinite < 1), "laws are tables, infinite is between 0 and 1, or they are null")
        rows = sum(len(listed(rows, "a table", MOST_ROWS)) for rows in listed([] if laws is None else laws, "laws", 100))
        tables = [table_of(rows) for rows in need(rows <= MOST_ROWS, f"tables have at most {MOST_ROWS} rows", laws) or []]
        paths = [[Group(group, scale, tables) for group in listed(path, "a path", 500)] for path in listed(claim["paths"], "paths", 500)]
        known = {group.text: group for path in paths for group in path}  # equal groups become one object
        self.paths = [[known[group.text] for group in path] for path in paths]
        need(self.paths and all(self.paths), "there are paths, and every path has groups")
        need(all(a.order < b.order for path in self.paths for a, b in zip(path, path[1:])), "groups are in order, each once")
        need(len({*map(tuple, self.paths)}) == len(paths) and type(pairs) is bool, "every path is there once, and pairs is true or false")
        rows = sum(max(len(group.table[0]), group.count) for path in self.paths for group in path if group.table)
        need(rows <= MOST_ROWS and not (pairs and (laws or infinite)), f"on all paths tables have {MOST_ROWS} rows or counts, pairs none")
        need(all(sum(size(group.weight) for group in path) <= MOST_SIZE for path in self.paths), f"a path's parameters have at most {MOST_SIZE} bits")
        self.units = list(combinations_with_replacement(range(len(paths)), 2 if pairs else 1))
        self.offsets = [sum(group.offset for group in path) for path in self.paths]
        self.rho = max(sum(group.rho for group in path) for path in self.paths) * (2 if pairs else 1)  # of pairs that of the worst path with itself
    def groups(self, unit): return [group for path in unit for group in self.paths[path]]
    def offset(self, unit): return sum(self.offsets[path] for path in unit)
    def step(self, paths): return reduce(common, {group.text: group.weight for group in self.groups(paths)}.values())  # of all their losses
def common(a, b):
    """The greatest common divisor of two reduced fractions above 0. Of the weights of a unit it is the step of its losses, on offset + step Z."""
    step = Fraction(gcd(a.numerator, b.numerator), lcm(a.denominator, b.denominator))
    return need(size(step) <= 2 * MOST_SIZE, f"the step of a lattice has at most {2 * MOST_SIZE} bits", step)
@lru_cache(maxsize=None)
def pi(p):
    """|pi(p) - pi 2^p| <= 1.01 (README, "pi"), by Machin's formula pi = 16 atan(1/5) - 4 atan(1/239)."""
    need(0 < p < 1 << 16, "pi has fewer than 2^16 bits")
    atan = lambda n: sum((-1) ** k * ((1 << (p + 32)) // ((2 * k + 1) * n ** (2 * k + 1))) for k in range((p + 32) // 4 + 1))
    return (16 * atan(5) - 4 * atan(239)) >> 32
def exp(u, v, p):
    """exp(u + i v) for u <= 0, in units of 2^-p; off by at most 2 (README, "exp"): of (u + i v) / 2^k by a series in k + 16 more bits, squared."""
    need(u <= 0 and p >= 32 and abs(v) <= 4 << p, "exponents are at most 0, angles at most 4, and 32 bits at least")
    if 10 * u < -7 * (p + 2) << p: return 0, 0
    k = max(0, (abs(u) + abs(v)).bit_length() - p + 10)
    q, a, b = p + k + 16, u << 16, v << 16
    one, x, y = 1 << q, 1 << q, 0
    for n in range(q // 10 + 2, 0, -1): x, y = one + ((a * x - b * y) >> q) // n, ((a * y + b * x) >> q) // n
    for _ in range(k): x, y = (x * x - y * y) >> q, (x * y) >> (q - 1)
    return x >> (k + 16), y >> (k + 16)
fixed = lambda x, p: (x.numerator << p) // x.denominator  # a fraction, rounded down
def turn(above, below, p):
    """The angle of above / below turns, below > 0, reduced to half a turn; off by at most 2."""
    need(below > 0, "a part of a turn has a denominator above 0")
    return (above - (2 * above + below) // (2 * below) * below) * pi(p + 8) // (below << 7)
def mul(a, b, p):
    """The product of balls: |a b - a0 b0| <= |a| rb + |b| ra + ra rb, and rounding both parts adds less than 2."""
    (x, y, r), (s, t, e) = a, b
    return (x * s - y * t) >> p, (x * t + y * s) >> p, (((abs(x) + abs(y) + r) * e + (abs(s) + abs(t)) * r) >> p) + 3
def power(a, n, one, times, p):
    """a^n by squaring, of balls by small, or of lists of masses by convolve."""
    need(n >= 1, "a power is at least 1")
    for bit in bin(n)[2:]: one = times(times(one, one, p), a, p) if bit == "1" else times(one, one, p)
    return one
def small(a, b, p):
    """The product of balls around numbers of size 1 at most. While its radius is below 1, its parts are below 2: powers do not grow."""
    one = mul(a, b, p)
    return need(one[2] < 1 << p, "the bits suffice for a power", one)
def reciprocal(a, p):
    """1 / a: |1/a - 1/a0| <= r / (|a| (|a| - r)), where 0 is not in the ball, and the roundings add less than 3."""
    (x, y, r), square = a, a[0] ** 2 + a[1] ** 2
    least = isqrt(square)
    need(least > r, "the bits suffice for a quotient")
    return (x << 2 * p) // square, (-y << 2 * p) // square, (r << 2 * p) // (least * (least - r)) + 3
def exp_ends(x, p):
    """Both ends of exp(x) for a fraction x, above 0 and relatively close: as many more bits as exp(-|x|) has zeros, for 3 / 2 > 1 / ln 2."""
    need(abs(x) < 1 << 14 and p >= 0, "exponents are within 2^14")
    value = exp(fixed(-abs(x), q := p + 40 + int(abs(x) * 3 / 2)), 0, q)[0]
    lower, upper = Fraction(value - 3, 1 << q), Fraction(value + 3, 1 << q)
    return need(lower > 0, "the bits suffice for an exponential") or ((1 / upper, 1 / lower) if x > 0 else (lower, upper))
def exp_less_one(x):
    """A lower bound above 0 of exp(x) - 1 for x > 0: exp's own less 1 may be negative, but exp(x) - 1 >= x; far out exp(x) >= 2^(x / 0.694)."""
    need(x > 0, "exp(x) - 1 is above 0 where x is")
    return Fraction(2 ** int(min(x, 10**4) * 1000 / 694) - 1) if x > 99 else max(x, exp_ends(x, 64)[0] - 1)
def exp_most(x):
    """An upper bound of exp(x), x < 2^14; far out exp(x) = 2^(x / ln 2) is at most 2^(x / 0.69314) for x > 0, 2^(x / 0.69315) for x < 0."""
    if abs(need(x < 1 << 14, "exponents are within 2^14", x)) <= 99: return exp_ends(x, 64)[1]
    return Fraction(2) ** -(-max(x, Fraction(-(10**5))) * 10**5 // (69314 if x > 0 else 69315))  # below exp(x) <= exp(-10^5)
def ln_ends(x):
    """Both ends of ln(x) for x >= 1: with z = x exp(-y), for every y, 1 - 1 / z <= ln(z) <= z - 1. Close ones, as y is close to ln(x)."""
    need(x >= 1, "a logarithm is of a number of at least 1")
    lower, upper = exp_ends(y := Fraction(log(x.numerator) - log(x.denominator)), 128)
    return max(y + 1 - upper / x, Fraction(0)), y - 1 + x / lower
def reach_of(sigma2, p):
    """The images on each side of the nearest one that a factor sums: the least k with 4.9 sigma2 (2 k + 1)^2 >= 0.694 (p + 3)."""
    return next(k for k in range(1 << 14) if 49 * sigma2 * (2 * k + 1) ** 2 >= Fraction(694, 100) * (p + 3))
def factor(group, contour, above, below, p):
    """(A) F(b) of one count but for a constant factor, at b = 2 pi above / below, |b| <= pi, by the sum over images (README, "factor")."""
    sigma2, m, square = group.parameter, contour * group.shift, pi(p + 32) ** 2 >> (p + 32)
    need(group.gaussian and sigma2 >= Fraction(1, 20) and below > 0, "a factor is of a discrete Gaussian, sigma2 >= 1/20")
    reach, nearest = reach_of(sigma2, p), (2 * above + below) // (2 * below)
    parts = [above - k * below for k in range(nearest - reach, nearest + reach + 1)]
    sizes = [-2 * sigma2.numerator * part * part * square // (sigma2.denominator * below * below << 32) for part in parts]
    terms = [exp(size, turn(m.numerator * part, m.denominator * below, p), p) for part, size in zip(parts, sizes)]
    return sum(x for x, _ in terms), sum(y for _, y in terms), 6 * len(terms) + 1
# ----------------------------------------- (C) nodes left out: |F(b)| <= exp(-V (1 - cos b)) for a discrete Gaussian of variance V
STEPS, FINE, SAMPLE = 4096, 30, 2000  # parts of a turn, bits of a cosine, windows that a prediction looks at
@lru_cache(maxsize=None)
def one_minus_cosines():
    """1 - cos at k of STEPS parts of a turn, up to half a turn, in units of 2^-FINE: not too large, for exp is off by less than 4."""
    values = [(1 << 40) - exp(0, turn(k, STEPS, 40), 40)[0] - 4 for k in range(STEPS // 2 + 1)]
    return [max(0, value) >> (40 - FINE) for value in values]
def least_variance(sigma2):
    """(C) At most the variance of N_Z(0, sigma2), from the sum over images."""
    need(sigma2 > 0, "sigma2 is above 0")
    lost = 80 * sigma2 * exp_ends(Fraction(-197, 10) * min(sigma2, 4), 64)[1]
    return sigma2 * (1 - lost) if sigma2 >= Fraction(1, 10) and lost < 1 else Fraction(0)
class Sieve:
    """Which nodes are proven small: by some groups, each counted a number of times."""
    def __init__(self, contour, groups, times, order):
        self.contour, self.cut, self.order, self.windows_seen, self.nodes_seen = contour, contour.cut << (32 + FINE), [], 0, 0
        turns = ((group.weight / contour.period % 1).as_integer_ratio() for group in groups)  # by which the angle of a group advances at each node
        self.groups = [(above, below, times * group.variance) for (above, below), group in zip(turns, groups)]
        for number in order:
            above, below, weight = self.groups[number]
            reach = bisect_left(one_minus_cosines(), -(-self.cut // weight)) if weight else STEPS
            # 1 - cos increases up to half a turn: from this part of a turn on the factor is small, if the table says so.
            need(2 * reach < STEPS and above > 0 and weight * one_minus_cosines()[reach] >= self.cut, f"group {number} of a sieve is small by itself")
            self.order.append((above, below, reach))
    def turns(self, level, first, last):  # the first and the last whole turn near to a node of [first, last]: node j makes j above / below turns
        above, below, reach = self.order[level]
        return -((reach * below - first * above * STEPS) // (below * STEPS)), (last * above * STEPS + reach * below) // (below * STEPS)
    def window(self, level, n):  # the nodes within reach / STEPS of the whole turn n
        above, below, reach = self.order[level]
        return -((reach - n * STEPS) * below // (STEPS * above)), (n * STEPS + reach) * below // (STEPS * above)
    def windows(self, level, first, last):
        """The ranges of nodes in [first, last] at which every group of the order from this level on is within its reach of a whole turn."""
        is_last = level == len(self.order)
        low, high = (first, last) if is_last else self.turns(level, first, last)
        self.windows_seen, self.nodes_seen = self.windows_seen + (high - low + 1) * (not is_last), self.nodes_seen + (high - low + 1) * is_last
        if self.windows_seen + self.nodes_seen > self.most: raise Refused(f"at most {MOST_WALKED} windows and nodes are looked at in all")
        if is_last: yield first, last
        for start, end in (self.window(level, n) for n in (() if is_last else range(low, high + 1))):
            if max(start, first) <= min(end, last): yield from self.windows(level + 1, max(start, first), min(end, last))
    def cost(self): return self.windows_seen * 1.6 + self.nodes_seen * (1 + 0.25 * len(self.groups))
    def plan(self, last, work):
        """About how many windows and nodes a walk looks at, from windows of the first level drawn at random. The walks count for themselves."""
        low, high = self.turns(0, 1, last) if self.order else (1, last)
        work.sieves, every, tried, draw, self.most = work.sieves + 1, max(1, high - low + 1), 1, random.Random(last), 10 * SAMPLE
        try:
            for tried in range(1, min(every, SAMPLE, 64 * SAMPLE // work.sieves + 1) + 1) if self.order else ():
                start, end = self.window(0, draw.randrange(low, low + every))
                for _ in self.windows(1, max(start, 1), min(end, last)) if max(start, 1) <= min(end, last) else (): pass
        except Refused: pass  # as many as a prediction needs
        self.windows_seen, self.nodes_seen = self.windows_seen * every // tried + every, self.nodes_seen * every // tried + last * (not self.order)
        work.looked_at += self.windows_seen + self.nodes_seen
        need(work.looked_at <= MOST_LOOKED_AT, f"at most {MOST_LOOKED_AT} windows and nodes are looked at; more are predicted")
        work.plan(self.cost())
    def check(self):
        """Every node j from 1 to the last one is evaluated, or |product of the factors| <= j exp(-cut); ln j >= 0.693 (bits of j - 1)."""
        table, allowed, done, work = one_minus_cosines(), (693 << (32 + FINE)) // 1000, 0, self.contour.work
        self.most, self.windows_seen, self.nodes_seen = MOST_WALKED - work.walked, 0, 0
        for many, (first, last) in enumerate(self.windows(0, 1, self.contour.last)):
            if many % 1024 == 0: done = work.did(self.cost() - done) or self.cost()
            for node in range(first, last + 1):
                total = allowed * (node.bit_length() - 1)
                for above, below, weight in self.groups:
                    if total >= self.cut: break
                    part = node * above * STEPS // below % STEPS  # rounded towards a whole turn, where 1 - cos is less
                    total += weight * table[part if 2 * part < STEPS else STEPS - 1 - part]
                if total < self.cut and not self.contour.evaluates(node): raise Refused(f"node {node} is evaluated, or its factors are small")
        work.walked += self.windows_seen + self.nodes_seen
    def beyond(self, number):
        """(E) At most the sum over j > last of b_j / j^2: b_j falls up to half a turn, so that a sum at left ends is at least its mean."""
        last, (above, below, weight) = self.contour.last, self.groups[number]
        parts = (exp(-(weight * value << 64) >> (32 + FINE), 0, 64)[0] + 3 for value in one_minus_cosines()[:-1])
        mean, a = min(Fraction(1), Fraction(2 * sum(parts), STEPS << 64)), Fraction(above, below)
        return (1 + mean / a) * (Fraction(2, last**2) + a / last)
class Contour:
    """(B), (D), (F) Bounds for delta of some units by the trapezoid rule. Where to look is said by hints, of which nothing is believed."""
    def __init__(self, family, hints, units, epsilons=()):
        fields(hints, "bits", "contour", "cut", "evaluated", "last", "nodes", "sieve", "units")
        self.family, self.work, self.p = family, family.work, whole_number(hints["bits"], 32, MOST_BITS, "bits")
        self.cut, self.c = whole_number(hints["cut"], 1, 10**6, "cut"), fraction(hints["contour"], "contour")
        need(Fraction(1, 10**30) <= self.c <= 10**30, "the contour is right of 0, from 10^-30 to 10^30")
        self.used = sorted({path for unit in units for path in unit})
        every = {group for path in self.used for group in family.paths[path]}
        need(all(one.gaussian and one.parameter > Fraction(1, 20) for one in every), "a contour is about Gaussian noise, sigma2 > 1/20")
        self.step, self.nodes = family.step(self.used), whole_number(hints["nodes"], 3, 10**60, "nodes")
        need(self.nodes % 2 == 1, "the number of nodes is odd")
        self.period, self.last = self.nodes * self.step, whole_number(hints["last"], 1, self.nodes // 2, "last")
        self.ranges = [span(pair, 0, self.last) for pair in listed(hints["evaluated"], "evaluated", MOST_EVALUATED)]
        in_order = self.ranges and self.ranges[0][0] == 0 and all(a[1] < b[0] for a, b in zip(self.ranges, self.ranges[1:]))
        many, self.firsts = sum(b + 1 - a for a, b in self.ranges), [a for a, _ in self.ranges]
        need(in_order and many <= MOST_EVALUATED, f"evaluated are at most {MOST_EVALUATED} nodes, in order from 0")
        need(many * len(self.used) * (self.p + 500) <= MOST_BALLS, f"nodes times paths times (bits + 500) are at most {MOST_BALLS}")
        self.plan(many, every, units, epsilons)
        covers = [(family.groups(units[0]), 1)] if len(units) == 1 else [(family.paths[path], len(units[0])) for path in self.used]  # (D)
        need(len(listed(hints["sieve"], "sieve", 500)) == len(covers), "sieve is about the unit, or about every path")
        self.work.cover, self.sieves = self.work.cover + sum(len(groups) for groups, _ in covers), []
        need(self.work.cover <= MOST_COVER, f"all sieves are about at most {MOST_COVER} groups")
        for (groups, times), order in zip(covers, hints["sieve"]):
            order = [whole_number(number, 0, len(groups) - 1, "a group") for number in listed(order, "a sieve", 8)]
            self.work.plan(13_000 * len(order) * (self.last < self.nodes // 2))  # beyond the last node
            self.sieves.append((Sieve(self, groups, times, order), order))
            self.sieves[-1][0].plan(self.last, self.work)
    def plan(self, many, groups, units, epsilons):
        """What evaluating takes: exponentials for each group and each offset at each node, products for each unit."""
        self.offsets, p = {unit: self.family.offset(unit) for unit in units}, self.p
        self.units = sorted(units, key=lambda unit: (self.offsets[unit], unit))  # those of one lattice come one after the other
        one, times, c = exp_cost(p), mul_cost(p), float(self.c)
        terms = sum((2 * reach_of(group.parameter, p) + 1) * one + 2 * group.count.bit_length() * times for group in groups)
        self.first = many * (terms + 2 * one + 6 * times + sum(len(self.family.paths[path]) for path in self.used) * times)
        lattices, starts = (len(list(groupby(self.units, key))) for key in (self.offsets.get, lambda unit: (self.offsets[unit], unit[0])))
        exponents = sum(ends_cost(float(rho) * (c + c * c) - c * float(epsilon), p) for rho in self.offsets.values() for epsilon in epsilons)
        others = 20 * fraction_cost(size(self.step) + max(map(size, self.offsets.values()))) + 200
        products = lattices * (one + 4 * times) + (starts + len(units) * len(units[0])) * times
        self.then = len(epsilons) * (many * products + len(units) * others) + exponents
        self.work.plan(self.first + self.then)
    def prove(self):
        """The nodes that are left out are small, and the factors of all others."""
        self.evaluated, self.tail, p = [node for first, last in self.ranges for node in range(first, last + 1)], Fraction(0), self.p
        for sieve, order in self.sieves:
            sieve.check()
            if self.last < self.nodes // 2:
                far = min([Fraction(1, self.last), *map(sieve.beyond, order)])  # (E) 2 pi^2 > 19
                self.tail = max(self.tail, far * self.period / 19 + self.step)
        paths, self.factors = {path: self.family.paths[path] for path in self.used}, {path: [] for path in self.used}
        turns = {group: group.weight / self.period for groups in paths.values() for group in groups}
        ones = {group: reciprocal(factor(group, Fraction(0), 0, 1, p), p) for group in turns}  # a factor is 1 at most, without its constant
        for node in self.evaluated:
            counts = {group: small(factor(group, self.c, node * a.numerator, a.denominator, p), ones[group], p) for group, a in turns.items()}
            powers = {group: power(one, group.count, (1 << p, 0, 0), small, p) for group, one in counts.items()}
            for path, groups in paths.items(): self.factors[path].append(reduce(lambda a, b: mul(a, b, p), map(powers.get, groups)))
            self.work.did(self.first / len(self.evaluated))
        self.kernels = [self.kernel(node) for node in self.evaluated]
        self.phases, self.terms = lru_cache(maxsize=1)(self.phases), lru_cache(maxsize=1)(self.terms)
        return self
    def evaluates(self, node): return node <= self.ranges[bisect_right(self.firsts, node) - 1][1]
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
    def terms(self, path, *lattice): return [mul(a, b, self.p) for a, b in zip(self.phases(*lattice), self.factors[path])]
    def bounds(self, unit, epsilon, _side):
        """Both ends of delta(epsilon) for one unit, in both directions the same; the lower one may be negative."""
        p, c, h, rho = self.p, self.c, self.step, self.offsets[unit]
        start = rho + ((epsilon - rho) // h + 1) * h  # the first loss above epsilon
        row = self.terms(unit[0], start, rho, epsilon)
        row = [mul(a, b, p) for a, b in zip(row, self.factors[unit[1]])] if len(unit) == 2 else row
        total, error = sum(x for x, _, _ in row), sum(r for _, _, r in row)
        scales = exp_ends(rho * (c + c * c) - c * start, p)
        ends = [scale * size / self.nodes / (1 << p) for scale in scales for size in (total - error, total + error)]
        around = self.period / 2 * (1 + Fraction(694, 1000) * self.last.bit_length())  # (D) ln last < 0.694 bits
        left_out = scales[1] * (around / exp_less_one(Fraction(self.cut)) + self.tail)
        return min(ends) - left_out - self.alias(epsilon, rho), max(ends) + left_out
    def alias(self, epsilon, rho):
        """(F) What the rule adds, at a point x >= 0 on each side of c. Any will do: near the stationary point, and where `exp_less_one` is close."""
        (left, right), near = (Fraction(int((epsilon + side * self.period - rho) / (2 * rho) * 1024), 1024) for side in (-1, 1)), 1 / self.period
        points = (max(Fraction(0), min(left, self.c - min(near, self.c / 2))), self.c + min(max(right - self.c, near), 10**4 * near))
        need(0 <= points[0] < self.c < points[1], "one point on each side of the contour")
        return sum(exp_most(rho * (x + x * x) - epsilon * x) / exp_less_one(self.period * abs(x - self.c)) for x in points)
def convolve(a, b, p):
    """The sums of a_i b_j over i + j = k, rounded down: digits of a product of two long numbers, for masses add up to one at most."""
    width = p // 4 + 1
    long = [int.from_bytes(b"".join(mass.to_bytes(width, "little") for mass in masses), "little") for masses in (a, b)]
    digits = (long[0] * long[1]).to_bytes(width * (len(a) + len(b)), "little")
    return [int.from_bytes(digits[at:at + width], "little") >> p for at in range(0, width * (len(a) + len(b) - 1), width)]
class Atoms:
    """(G) P[L > eps] and Q[L > eps] of one unit with few outcomes, from lower bounds for the masses of all outcomes that are kept."""
    def __init__(self, family, hints, units, epsilons=()):
        fields(hints, "bits", "kept", "units")
        need(len(units) == 1, "atoms are about one unit")
        self.p, self.family, self.work, self.units = whole_number(hints["bits"], 32, MOST_BITS, "bits"), family, family.work, units
        groups, self.step, kept, p = family.groups(units[0]), family.step(units[0]), listed(hints["kept"], "kept", 1000), self.p
        need(len(kept) == len(groups) and not any(group.continuous for group in groups), "atoms are about all groups, with noise on the integers")
        halves, self.plans, self.products = [[1, 0, 0], [1, 0, 0]], [], 0  # of both halves: the number of sums, their divisor, their range
        self.error, self.ways, self.common = Fraction(0), 1, [1 << p] * 2  # (N)
        if any(group.table for group in groups): self.step, self.ways = Fraction(self.step or 1, 1 << 96), 2
        for group, pair in zip(groups, kept): (self.plan_table if group.table else self.plan)(group, pair, halves, p)
        self.sizes = [one[0] for one in halves]
        self.work.plan(self.ways * len(epsilons) * (sum(self.sizes) * (5 + mul_cost(p)) + ends_cost(max(map(float, epsilons), default=0), p)))
    def take(self, products):  # and say what they cost
        self.products, cost = self.products + products, products * (1 + 2 * mul_cost(self.p))
        few = self.products * (self.p + 400) <= MOST_ATOMS * 1000 and self.products <= MOST_ATOMS
        return need(few, f"there are at most {MOST_ATOMS} atoms of 600 bits", cost)
    def plan(self, group, pair, halves, p):
        """The exponentials within reach, their convolutions, and the products with what is there."""
        (first, last), at, steps = span(pair, -MOST_REACH, MOST_REACH), halves[0][0] > halves[1][0], int(group.weight / self.step)
        wide = last - first + 1
        cost = self.take(halves[at][0] * wide) + wide
        measure, reach = gcd(halves[at][1], steps), halves[at][2] + (wide - 1) * steps
        need(reach.bit_length() <= 1000, "losses of atoms are at most 2^1000 steps apart")
        within = isqrt(int(group.parameter * Fraction(139, 100) * p)) + 1 if group.gaussian else group.shift
        need(within * group.count <= MOST_REACH, f"the noise of a list of atoms reaches at most {MOST_REACH}")
        entries = (1 + group.gaussian) * within * group.count + 1
        cost += within * (exp_cost(p) / 2 + fraction_cost(size(group.parameter))) + entries * 3 + 0.7 * long_cost(entries * (p // 4 + 1))
        halves[at] = [min(halves[at][0] * wide, reach // measure + 1), measure, reach]
        self.plans.append((group, first, last, at, cost))
        self.work.plan(cost)
    def plan_table(self, group, pair, halves, p):
        """(N) The losses of one count, rounded towards 0, with their masses; half of the counts are for each half. c of k losses of m sizes have at
        most as many sums as there are choices with repetition, and as there are points of m whole numbers at most c from 0."""
        (rows, whole), half, up = group.table, group.count // 2, lambda a, b, p: -(-a * b >> p)
        need(pair is None, "all outcomes of a table are kept")
        self.work.plan(len(rows) * (250 + 12 * fraction_cost(2 * whole.bit_length() + size(self.step)) + ends_cost(0, 128)))
        both = merged([(x + group.shift, mass, 0) for x, mass in rows] + [(x, 0, mass) for x, mass in rows])
        ratios = merged((Fraction(a, b), a, b) for _, a, b in both if a and b)
        need(ratios, "two neighbors have an output in common")
        logs = [[end / self.step for end in ln_ends(max(ratio, 1 / ratio))] for ratio, _, _ in ratios]
        self.error += group.count * self.step * max(most - int(least) for least, most in logs)
        need(self.error <= 1 and max(most for _, most in logs) < 1 << 900, "losses of a table are known, and at most 2^900 steps")
        powers = [power(-((-sum(one[which] for one in ratios) << p) // whole), group.count, 1 << p, up, p) for which in (1, 2)]  # of what is common
        self.common = [up(common, power, p) for common, power in zip(self.common, powers)]
        one = [(int(least) * (1 if ratio > 1 else -1), (a << p) // whole, (b << p) // whole) for (ratio, a, b), (least, _) in zip(ratios, logs)]
        k, m, least = len(logs), len([*groupby(sorted(int(least) for least, _ in logs))]), halves[0][0] > halves[1][0]
        sums = lambda c: min(comb(c + k - 1, c), sum(comb(m, j) * comb(c, j) << j for j in range(min(m, c) + 1)))
        for counts, at in ((group.count - half, least), (half, 1 - least)):
            cost = sum(self.take(k * sums(c)) for c in range(counts)) + self.take(halves[at][0] * sums(counts))
            halves[at][0] *= sums(counts)
            self.plans.append((one, counts, None, at, cost))
            self.work.plan(cost)
    def prove(self):
        """The masses of all sums of both halves."""
        self.halves = [[(0, 1 << self.p, 1 << self.p)]] * 2  # each sum of losses, in order, with its masses under P and Q
        for group, first, last, at, cost in self.plans:
            self.halves[at] = self.times(self.halves[at], self.masses(group, first, last))
            self.work.did(cost)
        return self
    def masses(self, group, first, last):
        """(G) The loss of each kept outcome x of the sum of a group's noise, in steps, and lower bounds for its masses under P, and under Q: those of
        -count shift - x under P by symmetry. A weight is off by at most 4. (N) Or all sums of the losses of `first` counts."""
        if last is None: return reduce(self.times, [group] * first, [(0, 1 << self.p, 1 << self.p)])
        p, n, weights, steps = self.p, group.count, [], int(group.weight / self.step)
        if group.gaussian:
            start = -isqrt(int(group.parameter * Fraction(139, 100) * p)) - 1
            weights = [exp(fixed(-(x * x) / (2 * group.parameter), p), 0, p)[0] for x in range(start, 1)]
            weights += weights[-2::-1]
            norm = sum(weights) + 4 * len(weights) + 3 + int(4 * group.parameter / -start)
        else:
            start = -group.shift
            weights = [exp(fixed(x * group.parameter, p), 0, p)[0] for x in range(start, 1)]
            q = weights[-2] + 4
            need(q <= 1 << p, "the bits suffice for a discrete Laplace")
            weights[1:-1] = [(weight * ((1 << p) - q)) >> p for weight in weights[1:-1]]
            norm = (1 << p) + q
        total, least = power([(max(0, weight - 4) << p) // norm for weight in weights], n, [1 << p], convolve, p), n * start
        mass = lambda x: total[x - least] if 0 <= x - least < len(total) else 0
        return [(steps * x, mass(x), mass(-group.count * group.shift - x)) for x in range(first, last + 1)]
    def times(self, half, masses):
        """All sums of a loss of the half and one of a group, in order."""
        return merged((a + x, p * more_p >> self.p, q * more_q >> self.p) for (a, p, q), (x, more_p, more_q) in product(half, masses))
    def bounds(self, unit, epsilon, side):
        """Both ends of delta(epsilon) = P[L > eps] - exp(eps) Q[L > eps]: what is not kept weighs what is missing to one. (N) With tables of side -1
        those of Q[L < -eps] - exp(eps) P[L < -eps], and of side 0 the larger ones of both."""
        (one, other), whole, growth, ends = self.halves, 1 << 2 * self.p, exp_ends(epsilon, self.p), []
        losses = [atom[0] for atom in other]
        for side in [side] if side and self.ways == 2 else (1, -1)[:self.ways]:
            least, sums = (side * epsilon - self.family.offset(unit)) // self.step, []
            for which in (1, 2):
                from_here = [0, *accumulate(atom[which] for atom in reversed(other))]  # its masses from each loss on
                kept = sum(atom[which] * from_here[len(losses) - bisect_right(losses, least - atom[0])] for atom in one)
                every = sum(atom[which] for atom in one) * from_here[-1]
                sums.append((kept if side == 1 else every - kept, whole - every, whole - (self.common[which - 1] << self.p)))
            (p, p_left, p_lost), (q, q_left, q_lost) = sums[::side]
            ends.append(((p + p_lost - growth[1] * (q + q_left - q_lost)) / whole, (p + p_left - growth[0] * q) / whole + 2 * self.error))
        return [max(end) for end in zip(*ends)]
def merged(atoms):
    """Atoms of a loss and its masses under P and under Q, in order, those of one loss as one."""
    equal = ([*same] for _, same in groupby(sorted(atoms), lambda atom: atom[0]))
    return [(same[0][0], sum(p for _, p, _ in same), sum(q for _, _, q in same)) for same in equal]
def normal_tail(z):
    """(K) Both ends of P[N(0, 1) > z], by sums rounded down and up. With 0.73 > log2(e) / 2 they have bits for exp(-z^2 / 2)."""
    if z < 0: return [1 - end for end in reversed(normal_tail(-z))]
    need(z < 100, "tails of continuous noise begin within 100 standard deviations")
    p, k = 192 + int(Fraction(73, 100) * z * z), 1
    square, low, high, sums = fixed(z * z, p), fixed(z, p), fixed(z, p) + 1, [fixed(z, p), fixed(z, p) + 1]
    while high > 1 or 2 * z * z > k + 2:
        k, low, high = k + 2, (low * square >> p) // (k + 2), ((high * (square + 1) >> p) + 1) // (k + 2) + 1
        sums = [sums[0] + low, sums[1] + high]
    roots = [Fraction(isqrt(2 * (pi(p) + off) << p) + up, 1 << p) for up, off in ((1, 2), (0, -2))]
    least, most = (size * total / root / (1 << p) for size, total, root in zip(exp_ends(-z * z / 2, p), (sums[0], sums[1] + high), roots))
    return [max(Fraction(0), Fraction(1, 2) - most), Fraction(1, 2) - least]
class Normal:
    """(K) Bounds for delta of continuous Gaussian counts. It increases with rho: of several units the one with the largest rho decides."""
    def __init__(self, family, hints, units, epsilons=()):
        fields(hints, "units")
        self.family, self.work, worst = family, family.work, max(units, key=family.offset)
        used = {path for unit in units for path in unit}
        need(all(group.continuous for path in used for group in family.paths[path]), "only continuous Gaussian noise has a formula")
        self.units, mu = [worst], float(2 * family.offset(worst)) ** 0.5
        far = [min(100, abs(float(epsilon) / mu + side * mu / 2)) for epsilon in epsilons for side in (-1, -1, 1, 1)]
        self.then = sum(2000 + 8e6 * (z / 99) ** 5 for z in far) + sum(ends_cost(float(epsilon), 512) for epsilon in epsilons)
        self.work.plan(self.then)
        self.prove = lambda: self
    def bounds(self, unit, epsilon, _side):
        root, growth = isqrt(int(2 * self.family.offset(unit) * 4**256)), exp_ends(epsilon, 512)
        need(root > 0, "rho is above 0")
        tails = [[normal_tail(epsilon / mu + side * mu / 2) for side in (-1, 1)] for mu in (Fraction(root, 2**256), Fraction(root + 1, 2**256))]
        return [first[end] - growth[1 - end] * second[1 - end] for end, (first, second) in enumerate(tails)]
class Bounds:
    """Bounds for delta of the worst of all units, or of some, at points: epsilons with a side, 1 for P first, -1 for Q first, 0 for the larger."""
    def __init__(self, family, proofs, name, *points):
        self.parts, self.name, self.points, self.infinite, left = [], name, points, family.infinite, dict.fromkeys(family.units)
        for hints in listed(proofs[name], name, 2000):
            units = hints.get("units") if isinstance(hints, dict) else 0
            units = list(left) if units is None else [tuple(whole_number(path, 0, len(family.paths) - 1, "a path") for path in
                                                            listed(unit, "a unit", 2)) for unit in listed(units, "units", 10**5)]
            need(units and len({*units}) == len(units) and left.keys() >= {*units}, "units are paths, or pairs of paths in order, each once")
            engine = Normal if set(hints) == {"units"} else Atoms if "kept" in hints else Contour
            self.parts.append(self.named(engine, family, hints, units, [epsilon for epsilon, _ in points]))
            for unit in units: del left[unit]
        need(self.parts and (name == "lower" or not left), f"the {name} end has hints, an upper end for all units")
        self.many = len(family.units) - len(left)
    def named(self, function, *arguments):
        try: return function(*arguments)
        except Refused as statement: raise Refused(f"the {self.name} end: {statement}") from None
    def prove(self):
        """For each epsilon the largest lower bound, and the largest upper one: as a difference of probabilities delta is at most 1."""
        best = [[None, None] for _ in self.points]
        while self.parts:
            part = self.named(self.parts.pop(0).prove)  # one at a time in memory
            for unit in part.units:
                for ends, point in zip(best, self.points):
                    ends[:] = (new if old is None else max(old, new) for old, new in zip(ends, self.named(part.bounds, unit, *point)))
                part.work.did(getattr(part, "then", 0) / len(part.units))
        return [[min(self.infinite + (1 - self.infinite) * end, Fraction(1)) for end in ends] for ends in best]
def highest(points):
    """(H) Both ends of the maximum of a concave function, from both ends of three points and of its values there."""
    (x1, x2, lower_x, upper_x), (y1, y2, lower, upper), (z1, z2, lower_z, upper_z) = points
    need(x2 < y1 and y2 < z1 and max(upper_x, upper_z) <= lower, "points are in order, and the middle one is proven to be the highest")
    return lower, upper + max((upper - lower_x) / (y1 - x2) * (z2 - y1), (upper - lower_z) / (z1 - y2) * (y2 - x1))
def tradeoff(alpha, points, above, below):
    """(H) Both ends of the largest 1 - delta(eps) - exp(eps) alpha over all eps, by upper and lower bounds of delta(|eps|) at three of them."""
    def height(epsilon, most, least):
        ends, sizes = [1 - most, 1 - least], exp_ends(epsilon, 512)
        heights = [end - size * alpha if epsilon >= 0 else size * (end - alpha) for end in ends for size in sizes]
        return *sizes, min(heights), max(heights)
    return highest(map(height, points, above, below))
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
    """(L) Both ends of the least epsilon by an order 1 + s: the upper one at one s, and the lower one as claimed if every s gives no less."""
    need(all(s > 0 for s in points), "an order is above one")
    logs, (least, most) = lambda s: [s * a + b for a, b in zip(ln_ends(1 + 1 / s), ln_ends(1 + s))], ln_ends(1 / delta)
    heights = [(s, s, *(s * (lower - family.rho * (1 + s)) + end for end in logs(s))) for s in points]
    need(lower == 0 or highest(heights)[1] <= least, f"the lower end: no order gives less than {shown(lower)}")
    return lower, family.rho * (1 + points[1]) + (most - logs(points[1])[0]) / points[1]
def marginal(family, hints, prior):
    """(M) Both ends of the posterior probability of a record that is in the data, on average: of outputs that are not kept it is from 0 to 1."""
    need(len(hints) == 1 and isinstance(hints[0], dict) and "kept" in hints[0], "atoms of the one unit are hints")
    atoms, offset = Atoms(family, hints[0], family.units), family.offset(family.units[0])
    need(atoms.sizes[0] * atoms.sizes[1] <= 10**5, "there are at most 10^5 losses")
    far = float(offset + sum(max(-first, last) * group.weight for group, first, last, _, _ in atoms.plans))
    family.work.plan(atoms.sizes[0] * atoms.sizes[1] * (30 + 3 * ends_cost(far, 64) + 6 * fraction_cost(size(prior) + 3 * min(far, 1 << 14))))
    masses = [(a + b, p * q) for (a, p, _), (b, q, _) in product(*atoms.prove().halves)]
    shares = [[1 - 1 / (1 + prior / (1 - prior) * growth) for growth in exp_ends(offset + steps * atoms.step, 64)] for steps, _ in masses]
    sums = [sum((fixed(both[up], 128) + up) * mass for both, (_, mass) in zip(shares, masses)) for up in (0, 1)]
    left = (1 << 2 * atoms.p) - sum(mass for _, mass in masses)
    return [Fraction(total + up * (left << 128), 1 << 2 * atoms.p + 128) for up, total in enumerate(sums)]
# =============================================================================================================== claims, arguments and output
GIVEN = {"beta": "alpha", "decision": "prior", "delta": "epsilon", "epsilon": "delta", "events": "prior probability", "marginal": "prior",
         "orders": "delta", "outputs": "prior probability", "posterior": "noisy prior", "scale": "decimals delta epsilon grid", "zcdp": "delta"}
NAMES = {"beta": "type II error (trade-off function)", "decision": "probability of a correct decision", "orders": "zCDP epsilon (best order)",
         "outputs": "posterior probability that outputs exceed at most with this probability", "events": "posterior probability after an event",
         "marginal": "posterior probability (mean over outputs)", "posterior": "posterior probability", "zcdp": "zCDP epsilon (Bun-Steinke)"}
CHANCES = "alpha", "delta", "prior", "probability"
SIDES = {None: (0, "", ""), "with": (1, "presence", "absence"), "without": (-1, "absence", "presence")}  # P is the law of presence, or of absence
DIRECTED = {"beta": "type II error of tests of {1} against {0}", "decision": "probability of a correct decision by a prior of {0}",
            "delta": " of {0} against {1}", "epsilon": " of {0} against {1}", "events": "posterior probability of {0} after an event",
            "outputs": "posterior probability of {0} that outputs exceed at most with this probability"}
def of_tests(family, proofs, about, at, points, side):
    """(H) Both ends of the trade-off function, of a side P(not S) where Q(S) <= alpha. (P) Or of a posterior after events, by that of the other."""
    turned = side if about == "events" else -side  # the side of lines with a negative epsilon
    upper, lower = (Bounds(family, proofs, end, *((abs(x), turned if x < 0 else -turned) for x in points)) for end in ("upper", "lower"))
    need(about == "events" or not side or lower.many == 1, "the lower hints are about one unit, whose best test is meant")
    alpha, above = at["alpha"] if about == "beta" else 1 - at["probability"], [most for _, most in upper.prove()]
    least, most = tradeoff(alpha, points, above, [least for least, _ in lower.prove()])
    if about == "beta": return least, min(most, 1 - alpha)  # a rule that looks at nothing attains 1 - alpha
    p, q = at["prior"] * at["probability"], 1 - at["prior"]
    return (lower.many == 1) * p / (p + q * min(most, at["probability"])), p / (p + q * max(least, 0))  # 0 where no unit need attain the other
def of_outputs(at, epsilon, delta):
    """(P) The posterior at an l that losses exceed at most with the probability: P[L > l] <= delta(eps) / (1 - exp(eps - l)) for l > eps."""
    need(delta < at["probability"], "delta at the point of outputs is below the probability")
    odds = at["prior"] / (1 - at["prior"]) * exp_ends(epsilon, 512)[1] / (1 - delta / at["probability"])
    return odds / (1 + odds)
def statements(version, claim, proofs, work):
    """What has to hold, one after the other: in words, the bound that is proven for it, its sign, the end that is claimed, and what follows."""
    fields(claim, *"about at lower neighbors pairs paths subject upper".split(), *["direction", "infinite", "laws"] * (version == "assay 4"))
    fields(proofs, "lower", "points", "upper")
    about, at, family, more = claim["about"], claim["at"], Family(claim, work=work), claim.get("infinite") or claim.get("laws")
    need(about in list(GIVEN), f"a claim is about {', '.join(GIVEN)}")
    need(not more or about in DIRECTED, f"with tables or infinite losses a claim is about {', '.join(DIRECTED)}")
    need(claim.get("direction") in [*SIDES], "direction is with, without or null")
    side, *sides = SIDES[claim.get("direction")]
    need(not side or about in DIRECTED and claim["neighbors"] == "add-remove", f"only {', '.join(DIRECTED)} of add-remove have a direction")
    need(side or about != "events" or not claim.get("laws"), "with tables a posterior of events has a direction")
    need(claim["neighbors"] in ("add-remove", "bounded") and type(claim["subject"]) is str, "neighbors is add-remove or bounded, and subject a text")
    fields(at, *GIVEN[about].split())
    in_words = lambda name, x: name in ("grid", "noisy") or (about, name, x) == ("scale", "epsilon", "zcdp")
    at = {name: x if in_words(name, x) else fraction(x, name) for name, x in at.items()}
    lower, upper, *given = [fraction(claim[end], f"the {end} end") for end in ("lower", "upper")] + [x for x in at.values() if type(x) is Fraction]
    need(lower <= upper and max(upper, *given) <= 10**6, "ends are in order, and no number is above 10^6")
    need(all(0 < at.get(name, Fraction(1, 2)) < 1 for name in CHANCES), f"{', '.join(CHANCES)} are between 0 and 1")
    points = proofs["points"] and [fraction(point, "a point", "-") for point in listed(proofs["points"], "points", 3)]
    many = {"beta": 3, "events": 3, "orders": 3, "outputs": 1}.get(about, 0)
    need(len(points or ()) == many and (many or points is None), "three points are those of a trade-off function or of orders, one of outputs")
    need(about not in ("orders", "posterior", "zcdp") or proofs["lower"] == proofs["upper"] == [], "what is a formula needs no hints")
    need(about != "marginal" or proofs["lower"] == [], "both ends of a marginal have the hints of the upper one")
    conditions = ", ".join(f"{name} = {shown(x) if type(x) is Fraction else x}" for name, x in sorted(at.items()))
    name = DIRECTED[about].format(*sides) if side else NAMES.get(about, "")
    need(max(map(abs, points or [0])) < 1 << 14, "points are within 2^14")
    if about in NAMES and about not in ("decision", "outputs"):
        formulas = {"zcdp": lambda: zcdp(family, at["delta"]),
                    "marginal": lambda: marginal(family, listed(proofs["upper"], "upper", 1), at["prior"]),
                    "orders": lambda: orders(family, at["delta"], points, lower), "posterior": lambda: posterior(family, at["noisy"], at["prior"])}
        words, bounds = f"{name} at {conditions}", formulas.get(about, lambda: of_tests(family, proofs, about, at, points, side))()
        power = [f", so power {sign} {shown(1 - end)}" * (about == "beta" and side != 0) for sign, end in (("<=", lower), (">=", upper))]
        return (yield from ((words, bounds[0], ">=", lower, power[0]), (words, bounds[1], "<=", upper, power[1])))
    # delta(epsilon) decreases, and epsilon(delta) is the least one with delta(epsilon) <= delta: an end is about the delta of one epsilon.
    ends = [(1, at["epsilon"], end) if about == "delta" else (1, end, at.get("delta")) for end in (upper, lower)]
    if about == "scale":
        need(at["grid"] in ("factor", "sigma2") and at["decimals"] in range(13), "a grid is of factor or sigma2, with 0 to 12 decimals")
        sigma2 = min((group.parameter for path in family.paths for group in path if group.gaussian or group.continuous), default=0)
        numbers = [end * 10 ** int(at["decimals"]) * (sigma2 if at["grid"] == "sigma2" else 1) for end in (lower, upper)]
        need(numbers[1] - numbers[0] == 1 == numbers[0].denominator and lower > 0, "the two factors are neighbors on the grid, above 0")
        least, most = zcdp(family, at["delta"]) if at["epsilon"] == "zcdp" else (at["epsilon"], at["epsilon"])
        ends = [(upper, least, at["delta"]), (lower, most, at["delta"])]
    if about == "outputs": ends = need(lower == 0 <= points[0], "outputs have a point and a lower end of 0", [(1, points[0], upper)] * 2)
    blind = other = 0
    if about == "decision":
        # (P) The largest p P(S) + (1 - p) Q(not S) is max(p, 1 - p) + min(p, 1 - p) delta(|ln((1 - p) / p)|), with P first if p <= 1/2.
        blind, other = max(at["prior"], 1 - at["prior"]), min(at["prior"], 1 - at["prior"])
        side = side if at["prior"] == other else -side
        ends = [(1, epsilon, end) for epsilon, end in zip(ln_ends(blind / other), (upper, lower))]
    need(lower > blind or proofs["lower"] == [], "a lower end of 0, or that a blind guess attains, needs no hints")
    strict = about == "scale" or about == "epsilon" and more  # (O) where delta does not decrease any more, equality proves nothing
    names, target = ["upper", "lower"][:1 + (lower > blind)], at.get("epsilon") == "zcdp"  # all is planned before anything is computed
    plans = [Bounds(Family(claim, Fraction(scale), work), proofs, which, (epsilon, side)) for which, (scale, epsilon, _) in zip(names, ends)]
    for enough, bounds, (scale, epsilon, end) in zip((True, False), plans, ends):
        bound, at_epsilon = bounds.prove()[0][enough], "the " + NAMES["zcdp"] if target else shown(epsilon)
        words, sign, follows = f"delta({at_epsilon}){name}", "<=" if enough else ">" if strict else ">=", ""
        if about == "scale": words, follows = f"noise times {shown(scale)}: {words}", f", so it is {'' if enough else 'not '}enough"
        if about == "epsilon": follows = f", so epsilon{name} {'<=' if enough else '>='} {at_epsilon} at delta = {shown(end)}"
        if about == "outputs": words, bound = f"{name} at {conditions}", of_outputs(at, epsilon, bound)
        if about == "decision": words, bound = f"{name} at {conditions}", blind + other * min(1, bound)
        yield words, bound, sign, end, follows
def check(data, report=None, found=None):
    """A line for everything that the certificate in these bytes proves. Refused says which statement does not hold."""
    whole, proven = read(data), []
    if found is not None: found.update(whole)
    for words, bound, sign, end, follows in statements(whole["certificate"], whole["claim"], whole["proofs"], Work(report)):
        proven.append(f"{words} {sign} {shown(end)}{follows}")
        found_bound = f"{words} {sign} {shown(end)}: what is proven is {sign} {shown(bound, ROUND_CEILING if sign == '<=' else ROUND_FLOOR)}"
        need({"<=": bound <= end, ">": bound > end, ">=": bound >= end}[sign], found_bound)
    return proven
def shown(x, rounding=None):
    """A number with all its digits: a decimal where that has at most 60, else the fraction. Or rounded up or down to 18, never to the nearest."""
    context = Context(18 if rounding else 60, rounding or ROUND_FLOOR, MIN_EMIN, MAX_EMAX, traps=[] if rounding else [Inexact])
    try: value = context.normalize(context.divide(Decimal(Fraction(x).numerator), Decimal(Fraction(x).denominator)))
    except Inexact: return str(x)
    return f"{value:f}" if -6 < value.adjusted() < 18 or not value else str(value).lower()
def described(claim):
    laws = {"discrete-gaussian": "discrete Gaussian", "gaussian": "continuous Gaussian", "discrete-laplace": "discrete Laplace", "table": "tabulated"}
    seen, many, of = {}, len(claim["paths"]), lambda counts: " to ".join(map(str, sorted({min(counts), max(counts)})))
    masses = [", ".join(f"{shown(Fraction(mass))} of {x}" for x, mass in rows) for rows in claim.get("laws") or ()]
    for group in (group for path in claim["paths"] for group in path):
        name = next(name for name in ("sigma2", "epsilon", "table") if name in group)
        value = f"masses {masses[group[name]]}" if name == "table" else f"{name} = {shown(Fraction(group[name]))}"
        seen.setdefault(f"moved by {group['shift']}, {laws[group['law']]} noise with {value}", []).append(group["count"])
    pairs = f"{many * (many + 1) // 2} pairs of {many} paths" if claim["pairs"] else f"{many} paths"
    units = f"the worst of {pairs}" if claim["pairs"] or many > 1 else "one path"
    yield f"of {units}; counts on a path: {of([sum(group['count'] for group in path) for path in claim['paths']])}"
    yield from (f"  {of(counts)} {'' if many == 1 else f'on {len(counts)} of the paths '}{noise}" for noise, counts in seen.items())
    if claim.get("infinite"): yield f"  and with probability {shown(Fraction(claim['infinite']))} an output that only one of two neighbors can have"
# ================================================================ the sentences of a memo's Statement that its certificates bear, with their numbers
LEAST, DP = "At delta = {delta}, the least epsilon for which ", "(epsilon, delta)-differentially private "
RELEASES = LEAST + '{known} of {total} releases about "{name}" composed are ' + DP + "under {relation} neighbors "
WORDS = ("In words: take two data sets that are neighbors, and any set of outputs. If its probability under one of them is p, then under the other "
         "it is at most p times exp({upper}), plus {delta}.")
KNOWS = "An adversary who knows everything else"; DECIDES = KNOWS + " and decides, from all that is published, {question}, with "
CONSIDERS = KNOWS + ", considers {question}, and has a prior probability of {prior} for {answer}, has a posterior probability "
SENTENCES = [
    *(["epsilon", of + end] for of in (LEAST + "everything described in the inputs is " + DP, RELEASES) for end in (
        "is at least {lower} and at most {upper}.", "is at most {upper}.")),
    ["epsilon", "At delta = {delta}, epsilon = {upper} is enough: between neighbors the probabilities of no set of outputs differ by more than "
                "delta."],
    ["epsilon", WORDS + " In this account no epsilon below {lower} is enough."], ["epsilon", WORDS],
    ["delta", DECIDES + "even odds beforehand, is right with a probability of at most {most}: at most {hundred} times in 100."],
    ["delta", "Some rule of decision is right with a probability of at least {least}."],
    ["decision", DECIDES + "a prior probability of {prior} for {answer}, is right with a probability of at most {upper}."],
    ["decision", "With a prior probability of {prior} for {side}, some rule of decision is right with a probability of at least {lower}."],
    ["events", CONSIDERS + "of at most {upper} for it after every event that then has at least probability {probability}."],
    ["outputs", CONSIDERS + "above {upper} for it with a probability of at most {probability} where that answer is the truth."],
    ["events", "After some event that has at least probability {probability} with {answer}, its posterior probability from a prior of {prior} is at "
               "least {lower}."],
    ["beta", "No test that finds {answer} wrongly with a probability of at most {alpha} finds it rightly with a probability above {power}."],
    ["beta", "Some test that finds {side} wrongly with a probability of at most {alpha} finds it rightly with a probability of at least {some}."]]
ASKED = {"add-remove": ("whether a given record is in the data",
                        "whether a given set of up to {} records is in the data, all or none"),
         "bounded": ("which of two records is in the data", "which of two sets of up to {} records is in the data")}
ANSWERS = {"presence": "with", "absence": "without", "either answer": None}; FROM_ABOVE = ", an upper bound ["  # of which a lower end says nothing
HOLES = {"known": "[0-9]+", "total": "[0-9]+", "name": '[^"]+', "relation": "add-remove|bounded", "answer": "presence|absence|either answer",
         "side": "presence|absence", "": "[0-9]+(?:[.][0-9]+)?(?:e-?[0-9]{1,3})?(?:/[1-9][0-9]*)?"}  # and a number
OPEN = re.compile('Without a certificate: [^\n]+|The ledger says: "[^"]*"')  # words of a memo that claim no proof
WHOLE = {"epsilon-all", "delta-at-epsilon-0", "decision", "test", "test-of-absence", *("posterior-of-" + x for x in ("events", "absence", "outputs"))}
def tail(subject, claim, path):
    """The end of the subject of a memo's certificate: the numbers of its counts, one for each noise, and the name of its file. Others have none."""
    if not re.search(r": [0-9][^:]* counts[^:]* \[[a-z0-9-]+[.]json\]\Z", subject): return ""
    sums = [sum(group["count"] for group in path) for path in claim["paths"]]
    single = " + ".join(str(group["count"]) for group in claim["paths"][0])
    many = f"{min(sums)} to {max(sums)} counts on each of {len(sums)} paths{', in pairs' * claim['pairs']}"
    return f": {many if sums[1:] or claim['pairs'] else f'{single} counts'}{FROM_ABOVE[:-2] * (FROM_ABOVE in subject)} [{os.path.basename(path)}]"
def is_whole(one, given, others):
    """Whether a claim is about everything, or about all releases of a population, as its subject says; or its file, in memos of the first format."""
    subject, file = one["labels"]["subject"], os.path.basename(one["file"]).removesuffix(".json")
    end = tail(subject, one, one["file"])
    if not end and one["format"] != "assay 3": return False  # of `assay prove`: a memo of this format names its files
    many = "{known} of {total} releases" if end else "all"
    if "name" in given: return subject.endswith(f"), {{name}}: {many} composed".format_map(given) + end)
    is_level = any(subject.startswith(f"{other['labels']['subject']}, ") for other in others)
    return file in WHOLE and (subject.endswith((f", all composed{end}", f", all{end}")) if end else not is_level)
def bears(line, one, others):
    """Whether a proven claim bears a sentence: it is about everything, and of the direction that is meant, and the sentence says no more."""
    lower, upper, at, labels = Fraction(one["lower"]), Fraction(one["upper"]), one["at"], one["labels"]
    right = lambda advantage: (1 + advantage) / 2  # of the best decision at even odds, by delta at epsilon = 0
    holds = {"lower": lambda x: x <= lower, "upper": lambda x: x >= upper, "most": lambda x: x >= right(upper), "power": lambda x: x >= 1 - lower,
             "hundred": lambda x: x / 100 >= right(upper), "least": lambda x: x <= right(lower), "some": lambda x: x <= 1 - upper}
    hole = lambda name: f"(?P<{name[1]}>{HOLES.get(name[1], HOLES[''])})"
    group = re.search(r", groups of ([0-9]+)(, released [0-9]+ times)?(, all( composed)?)?(: [^:]*)?\Z", labels["subject"])
    asked = ASKED[labels["neighbors"]][bool(group)].format(group and group[1])  # by the adversary: of the relation, and of the group's size
    for form in (form.replace("{question}", asked) for about, form in SENTENCES if about == one["about"] and at.get("epsilon", "0") == "0"):
        given = (re.fullmatch(re.sub(r"\\{(\w+)\\}", hole, re.escape(form)), line) or re.match("", "")).groupdict()
        numbers = [holds[name](Fraction(x)) if name in holds else Fraction(x) == Fraction(at[name]) for name, x in given.items() if name not in HOLES]
        meant = (ANSWERS[given.get("answer", given.get("side", "either answer"))], given.get("relation", labels["neighbors"]))
        is_meant = meant == (one.get("direction"), labels["neighbors"]) and is_whole(one, given, others)
        if numbers and all(numbers) and is_meant and not (FROM_ABOVE in labels["subject"] and given.keys() & {"lower", "least", "some"}): return True
    return False
def statement(data, answers):
    """A memo's Statement, a sentence a line: each is borne by a certificate that was proven here, or says that it has none."""
    need(len(data) <= MOST_BYTES and data.endswith(b"\n"), "a Statement is lines of text")
    proven = [one for one in answers if one["verdict"] == "proven" and "about" in one]
    for line in data.decode("utf-8").split("\n")[:-1]:
        by = [one["file"] for one in proven if bears(line, one, proven)]
        need(by or OPEN.fullmatch(line), f"a certificate that was proven bears this sentence, or it says that it has none: {line}")
        yield f"by {by[0]}: {line}" if by else f"by none: {line}"
# ================================================================================================== a folder of a memo: as it was when it was signed
SUMS, MEMO, SAID = "SHA256SUMS", ("memo.html", "memo.md"), "statement.txt"
def entries(below=""):
    """Everything in the current folder and below, and what it is. Nothing is opened, and no link is followed."""
    with os.scandir(below or ".") as found: names = sorted(entry.name for entry in found)
    for name in (below + name for name in names):
        mode = os.lstat(name).st_mode
        junction = getattr(os.path, "isjunction", lambda name: False)(name)
        folder = stat.S_ISDIR(mode) and not junction
        yield name, "a folder" if folder else "a file" if stat.S_ISREG(mode) else "a link" if stat.S_ISLNK(mode) or junction else "no file"
        if folder: yield from entries(name + "/")
def hashed(name):
    """The SHA-256 of a file, and as much of it as a certificate may have: what is proven is what was compared."""
    with open(name, "rb") as file:
        digest = hashlib.sha256(start := file.read(MOST_BYTES + 1))
        while part := file.read(MOST_BYTES): digest.update(part)
    return digest.hexdigest(), start
def compared(signed):
    """Each file of the current folder with what is wrong with it, or None, and its start, if its SHA256SUMS is the one of the signed hash."""
    there = dict(entries())
    need(there.get(SUMS) == "a file", f"{SUMS} is a file of this folder")
    digest, text = hashed(SUMS)
    need(digest == signed, f"the SHA-256 of {SUMS} is the signed one: it is {digest}")
    need(re.fullmatch(rb"([0-9a-f]{64}  [^\n\r\0/][^\n\r\0]*\n)+", text), f"every line of {SUMS} is a hash and a name")
    listed = {line[66:]: line[:64] for line in text.decode("utf-8").split("\n")[:-1]}
    need(len(listed) == text.count(b"\n"), f"{SUMS} lists every name once")
    inner = {name[:at] for name in listed for at in range(len(name)) if name[at] == "/"}
    yield SUMS, None, b""
    for name in sorted(there.keys() | listed.keys()):
        kind = there.get(name)
        if kind == "a folder" and name in inner or kind == "a file" and name in {SUMS, *MEMO} - {*listed}: continue
        digest, start = hashed(name) if kind == "a file" and name in listed else (None, b"")
        if kind is None: reason = f"it is in this folder, as {SUMS} says"
        elif kind != "a file": reason = f"it is {kind}: of a signed folder there are only files, in its own folders"
        else: reason = f"its SHA-256 is that in {SUMS}: it was changed" if digest else f"it is a file that {SUMS} lists: it was added"
        yield name, reason if digest is None or digest != listed[name] else None, start
def memo(signed, quiet):
    """What is wrong in the current folder, or that nothing is; and all of its certificates that are as they were signed."""
    held, failed = {}, False
    try:
        for count, (name, reason, start) in enumerate(compared(signed)):
            if reason: yield result(name, reason)
            elif name.startswith("certificates/") or name == SAID: held[name] = start
            failed = failed or bool(reason)
    except Refused as statement: return (yield result(SUMS, str(statement)))
    except (OSError, ValueError, RecursionError) as error: return (yield result(SUMS, f"{type(error).__name__}: {error}", verdict="unreadable"))
    if not failed:
        yield result(SUMS, statements=[
            f"it is the one that was signed, {count} files are as it lists them, and none was added, removed or renamed",
            f"not compared: memo.html and memo.md, because the hash is in them; what was signed is the paper: its Statement is that of {SAID}"])
    yield from each(sorted(held), quiet, held)
# =========================================================================================================================== the program
def printed(text): return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)  # a name or a label fakes no line
def result(file, reason=None, statements=(), verdict=None, **more):
    """The answer for a file: what is proven, or the reason why it is not."""
    return {"file": file, "verdict": verdict or ("refused" if reason else "proven"), "reason": reason, "statements": [*statements], **more}
def one(path, quiet, data=None, answers=()):
    """The answer for a certificate, or for the Statement that certificates bear: `answers` are theirs. `data` if the file was read already."""
    found, began, last = {}, time.monotonic(), [-8]
    def report(work):  # a line on standard error every ten seconds, from the third second on
        if (seconds := time.monotonic() - began) > last[0] + 10 and not quiet:
            last[0], part = seconds, min(99, int(100 * work.done / max(work.planned, 1)))
            print(f"{printed(path)}: {seconds:.0f} s, about {part} % of the predicted work", file=sys.stderr, flush=True)
    try:
        if data is None:
            with open(path, "rb") as file: data = file.read(MOST_BYTES + 1)
        if is_statement(path): return result(path, statements=statement(data, answers))
        proven, claim = check(data, report, found), found["claim"]
        end = tail(claim["subject"], claim, path)
        need(claim["subject"].endswith(end), f"its subject ends with its counts and the name of the file, {end[2:]}: it was not renamed")
    except (Refused, UnicodeDecodeError) as refused: return result(path, str(refused))
    except OSError as error: return result(path, str(error), verdict="unreadable")
    except Exception as error: return result(path, f"an error of this checker, please report it: {type(error).__name__}: {error}")
    known = {key: claim[key] for key in "about at direction infinite laws lower upper pairs paths".split() if claim.get(key) is not None}
    labels = {"subject": claim["subject"], "neighbors": claim["neighbors"], **found.get("source", {})}
    return result(path, statements=proven, format=found["certificate"], **known, described=list(described(claim)), labels=labels)
def is_statement(path): return os.path.basename(path) == SAID
def each(paths, quiet, held):
    """An answer for each certificate, then for the Statement."""
    answers = []
    for path in sorted(paths, key=is_statement):
        answers.append(one(path, quiet, held.get(path), answers))
        yield answers[-1]
class Arguments(argparse.ArgumentParser):
    def error(self, message): super().error(printed(message))
def main(arguments):
    parser = Arguments(prog="check.py", description="Proves certificates of `assay prove` again.",
                       epilog="exit status: 0 everything is proven, 1 something is refused or cannot be read, 2 wrong arguments")
    parser.add_argument("files", nargs="*", metavar="FILE", help="a certificate, or statement.txt of a memo, which certificates bear")
    parser.add_argument("--signed", metavar="HASH", help="the current folder, of a memo: compares its SHA256SUMS with this hash, from the signed "
                        "paper, and every file with SHA256SUMS, names every file that was added, and proves all certificates")
    for name, text in (("--json", "one JSON object for each file, one a line"), ("--quiet", "no progress on standard error")):
        parser.add_argument(name, action="store_true", help=text)
    options, failed = parser.parse_args(arguments), 0
    signed = options.signed and re.sub(r"\s", "", options.signed).lower()
    if bool(options.files) == (signed is not None): parser.error("give certificates (FILE), or --signed HASH for all of a memo's folder")
    if signed is not None and not re.fullmatch("[0-9a-f]{64}", signed): parser.error("a HASH has 64 digits, 0 to 9 and a to f")
    for answer in each(options.files, options.quiet, {}) if signed is None else memo(signed, options.quiet):
        failed = max(failed, status := ("proven", "refused", "unreadable").index(answer["verdict"]))
        lines = [f"{answer['file']}: proven", *answer["statements"], *answer.get("described", ())]
        lines += ["labels, of which nothing is proven:"] * ("labels" in answer)
        lines += [f"  {name}: {text}" for name, text in answer.get("labels", {}).items() if text is not None]
        if answer["reason"]: lines = [f"{answer['file']}: REFUSED", f"{'cannot be read' if status > 1 else 'does not hold'}: {answer['reason']}"]
        print(json.dumps(answer) if options.json else "\n  ".join(map(printed, lines)), flush=True)
    return min(failed, 1)

if __name__ == "__main__":
    for name in {"SIGINT", "SIGPIPE"}.intersection(dir(signal)): signal.signal(getattr(signal, name), signal.SIG_DFL)  # a reader may leave
    for stream in (sys.stdout, sys.stderr): stream.reconfigure(errors="backslashreplace")  # names of files and labels in any alphabet
    sys.exit(main(sys.argv[1:]))
