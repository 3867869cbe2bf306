#!/usr/bin/env python3
"""Tests of check.py: python3 proofs/test_check.py. Standard library only.

Arithmetic against decimals of 60 digits, theorems against sums, and certificates that were changed: at random, in every way that
the format and the claim offer, with the hash sealed again. What a change does to the truth is known by construction: delta
increases with each count and shift and decreases with sigma2 and epsilon, so a claim of nine digits about other groups or another
delta is false at one of its ends; wider ends are true; a changed hint leaves the claim as it was.
"""

import copy
import json
import os
import random
import sys
import unittest
from decimal import Decimal, getcontext
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check as checker

getcontext().prec = 50
EXAMPLES = Path(__file__).resolve().parent / "examples"
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def decimal(x):
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)


def cosine(x):
    total, term, k = Decimal(0), Decimal(1), 0
    while abs(term) > Decimal(10) ** -48:
        total += term
        k += 2
        term *= -x * x / (k * (k - 1))
    return total


class Arithmetic(unittest.TestCase):
    def test_pi_and_exp_are_within_their_units(self):
        draw = random.Random(1)
        for p in (32, 64, 130):
            self.assertLessEqual(abs(Decimal(checker.pi(p)) / 2**p - PI) * 2**p, 1)
            for _ in range(25):
                u, v = -draw.randrange(1 << (p + draw.randrange(-20, 7))), draw.randrange(-4 << p, 4 << p)
                x, y = checker.exp(u, v, p)
                size, angle = (Decimal(u) / 2**p).exp(), Decimal(v) / 2**p
                self.assertLessEqual(abs(Decimal(x) / 2**p - size * cosine(angle)) * 2**p, 2, (u, v, p))
                self.assertLessEqual(abs(Decimal(y) / 2**p - size * cosine(angle - PI / 2)) * 2**p, 2, (u, v, p))

    def test_ends_of_exp_enclose_it_closely(self):
        draw = random.Random(2)
        for _ in range(200):
            x = Fraction(draw.randrange(-(10**6), 10**6), draw.randrange(1, 10**4))
            lower, upper = checker.exp_ends(x, 80)
            self.assertTrue(decimal(lower) <= decimal(x).exp() <= decimal(upper), x)
            self.assertLess((upper - lower) / lower, Fraction(1, 10**20))

    def test_balls_hold_products_powers_and_quotients(self):
        draw, p = random.Random(3), 64
        point = lambda: (Fraction(draw.randrange(-9, 9), 7), Fraction(draw.randrange(1, 9), 5))
        # The exact number is anywhere in the ball.
        ball = lambda z: (int(z[0] * 2**p) + draw.randrange(-50, 50), int(z[1] * 2**p) + draw.randrange(-50, 50), 72)
        times = lambda z, w: (z[0] * w[0] - z[1] * w[1], z[0] * w[1] + z[1] * w[0])

        def holds(a, z):
            return (Fraction(a[0]) - z[0] * 2**p) ** 2 + (Fraction(a[1]) - z[1] * 2**p) ** 2 <= a[2] ** 2

        for _ in range(300):
            z, w = point(), point()
            a, b = ball(z), ball(w)
            self.assertTrue(holds(a, z) and holds(checker.mul(a, b, p), times(z, w)))
            square = z[0] ** 2 + z[1] ** 2
            self.assertTrue(holds(checker.reciprocal(a, p), (z[0] / square, -z[1] / square)))
            n, exact = draw.randrange(1, 9), (Fraction(1), Fraction(0))
            for _ in range(n):
                exact = times(exact, z)
            self.assertTrue(holds(checker.power(a, n, p), exact))

    def test_cosines_and_variances_are_bounds(self):
        table = checker.one_minus_cosines()
        for k in range(0, checker.STEPS // 2 + 1, 37):
            value, truth = Decimal(table[k]) / 2**checker.FINE, 1 - cosine(2 * PI * k / checker.STEPS)
            self.assertTrue(value <= truth <= value + Decimal("2e-9"), k)
        for text in ("1/20", "1/3", "9/10", "1", "11/10", "5", "40"):
            sigma2 = Fraction(text)
            weights = {x: (-Decimal(x * x) / (2 * decimal(sigma2))).exp() for x in range(-150, 151)}
            variance = sum(x * x * w for x, w in weights.items()) / sum(weights.values())
            self.assertTrue(decimal(checker.least_variance(sigma2)) <= variance, text)


class Theorems(unittest.TestCase):
    """(A), (C) and (E) against sums by definition."""

    GROUPS = [{"law": "discrete-gaussian", "sigma2": s, "shift": k, "count": 1} for s in ("1/9", "3/4", "5") for k in (1, 3)]
    GROUPS += [{"law": "discrete-laplace", "epsilon": e, "shift": k, "count": 1} for e in ("1/2", "2") for k in (1, 4)]

    def test_factors_are_those_of_the_law(self):
        p, c = 100, Fraction(7, 5)
        for value in self.GROUPS:
            group = checker.Group(value)
            norm = decimal(checker.factor(group, Fraction(0), 0, 1, p)[0]) / 2**p
            for turns in (Fraction(-2, 5), Fraction(1, 7)):
                ball = checker.factor(group, c, turns.numerator, turns.denominator, p)
                # E[exp(s L)] with the angle of weight t at these turns, without exp(i t offset) and the size on the axis.
                parameter, total = decimal(group.parameter), [Decimal(0), Decimal(0)]
                mass = Decimal(0)
                for x in range(-130, 131):
                    if group.gaussian:
                        ln, loss = -Decimal(x * x) / (2 * parameter), group.shift**2 / (2 * group.parameter) + x * group.weight
                        size = group.rho * (c + c * c)
                    else:
                        ln, loss = -abs(x) * parameter, group.parameter * (abs(x - group.shift) - abs(x))
                        size = c * group.offset
                    weight = ln.exp()
                    mass += weight
                    angle = 2 * PI * decimal((loss - group.offset) / group.weight * turns % 1)
                    for part, phase in ((0, angle), (1, angle - PI / 2)):
                        total[part] += weight * (decimal(c * loss - size)).exp() * cosine(phase)
                for part in (0, 1):
                    self.assertLess(abs(decimal(ball[part]) / 2**p / norm - total[part] / mass), Decimal(10) ** -24, (value, turns))
                if group.gaussian:
                    bound = (-decimal(checker.least_variance(group.parameter)) * (1 - cosine(2 * PI * decimal(turns)))).exp()
                    self.assertLessEqual((total[0] ** 2 + total[1] ** 2).sqrt() / mass, bound * (1 + Decimal(10) ** -20), (value, turns))

    def test_what_lies_beyond_is_bounded(self):
        claim, hints = type("Claim", (), {})(), type("Hints", (), {})()
        claim.multiplicity = 1
        claim.paths = [[checker.Group({"law": "discrete-gaussian", "sigma2": "50", "shift": 1, "count": 3})]]
        hints.period, hints.cut, hints.sieve = Fraction(40), 30, [[0]]
        for last in (30, 700, 5000):
            hints.last = last
            bound = checker.Sieve(claim, hints, 0).beyond(0)
            turns = claim.paths[0][0].weight / hints.period
            total = 0
            for j in range(last + 1, last + 30_000):
                size = (-3 * decimal(checker.least_variance(Fraction(50))) * (1 - cosine(2 * PI * decimal(j * turns % 1)))).exp() if j % 9 == 0 else 0
                total += Decimal(9) * size / j**2
            total *= 2 * decimal(hints.period) / (2 * PI) ** 2
            self.assertLess(total, decimal(bound), last)
            self.assertLess(decimal(bound), 30 * total, last)

    def test_windows_hold_every_node_near_a_whole_turn(self):
        draw = random.Random(4)
        for _ in range(40):
            sieve = checker.Sieve.__new__(checker.Sieve)
            sieve.looked_at = 0
            turns = [Fraction(draw.randrange(1, 90), draw.randrange(100, 900)) for _ in range(draw.randrange(1, 3))]
            sieve.order = [(a.numerator, a.denominator, draw.randrange(10, 1500)) for a in turns]
            inside = {j for first, last in sieve.windows(0, 1, 2000) for j in range(first, last + 1)}
            for j in range(1, 2001):
                near = all(abs(j * a - round(j * a)) <= Fraction(reach, checker.STEPS) for a, (_, _, reach) in zip(turns, sieve.order))
                self.assertEqual(near, j in inside, (turns, j))


def load(name):
    return json.loads((EXAMPLES / name).read_text(encoding="utf-8"))


def sealed(whole):
    whole["sha256"] = checker.seal(whole)
    return checker.canonical(whole)


def verdict(data):
    """The statement that does not hold; None if all is proven."""
    try:
        checker.check(data)
    except checker.Refused as refused:
        return str(refused)
    return None


# ----------------------------------------------------------------------------------------------------------------- changes
# Each takes a certificate and a source of random numbers and returns the bytes, and whether they have to be refused.


def another_number(text, draw, least=Fraction(0)):
    """A fraction with one digit changed, reduced; it differs, and by at least this part."""
    while True:
        at = draw.choice([i for i, letter in enumerate(text) if letter.isdigit()])
        changed = text[:at] + draw.choice("0123456789") + text[at + 1:]
        above, _, below = changed.partition("/")
        if int(above) and (not below or int(below)) and abs(Fraction(changed) / Fraction(text) - 1) > least:
            return str(Fraction(changed))


# More than what the ends of the examples leave open, and less than any digit that matters.
PART = Fraction(1, 100)


def a_group(whole, draw):
    """Of the first path, which decides: a change of another one may leave the worst as it is."""
    return draw.choice(whole["claim"]["paths"][0])


def noise(whole, draw):
    group = a_group(whole, draw)
    name = "sigma2" if "sigma2" in group else "epsilon"
    group[name] = another_number(group[name], draw, PART)
    return sealed(whole), True


def count(whole, draw):
    group = a_group(whole, draw)
    group["count"] = draw.choice([group["count"] - 1, group["count"] + 1, group["count"] * 10, group["count"] // 2])
    return sealed(whole), True


def shift(whole, draw):
    group = a_group(whole, draw)
    group["shift"] += draw.choice([-1, 1, 2])
    return sealed(whole), True


def given(whole, draw):
    claim = whole["claim"]
    name = "delta" if isinstance(claim["epsilon"], dict) else "epsilon"
    claim[name] = another_number(claim[name], draw, PART)
    return sealed(whole), True


def ends(whole, draw):
    """An end is moved inwards by more than the width, or outwards."""
    claim = whole["claim"]
    both = claim["epsilon"] if isinstance(claim["epsilon"], dict) else claim["delta"]
    lower, upper = Fraction(both["lower"]), Fraction(both["upper"])
    far = (upper - lower) * draw.choice([Fraction(21, 20), 2, 17, 1000])
    way = draw.randrange(4)
    if way == 0:
        # Both below the truth, or both above.
        lower, upper = lower - 2 * far, upper - far
    elif way == 1:
        lower, upper = lower + far, upper + 2 * far
    elif way == 2:
        upper += far
    else:
        lower = max(lower - far, Fraction(1, 10**400))
    both["lower"], both["upper"] = str(max(lower, Fraction(0))), str(max(upper, Fraction(0)))
    return sealed(whole), way < 2


def groups(whole, draw):
    """A group is dropped, there twice, or out of order."""
    path = whole["claim"]["paths"][0]
    way = draw.randrange(3)
    if way == 0:
        path.pop(draw.randrange(len(path)))
    elif way == 1 or len(path) == 1:
        path.insert(0, copy.deepcopy(draw.choice(path)))
    else:
        path.reverse()
    return sealed(whole), True


def paths(whole, draw):
    """A path is there twice, dropped, or has a count more; pairs become single or the reverse."""
    claim = whole["claim"]
    way = draw.randrange(3)
    if way == 0:
        claim["paths"].append(copy.deepcopy(claim["paths"][0]))
    elif way == 1:
        claim["pairs"] = not claim["pairs"]
    else:
        claim["paths"][0][0]["count"] += 1
    return sealed(whole), True


def hints_of(whole, draw):
    return draw.choice([hints for hints in whole["proofs"].values() if hints])


def evaluated(whole, draw):
    """A range is dropped or cut, or a gap is made. Without the first nodes nothing is proven."""
    hints = hints_of(whole, draw)
    ranges = hints["evaluated"]
    way, at = draw.randrange(4), draw.randrange(len(ranges))
    if way == 0:
        ranges.pop(at)
        return sealed(whole), at == 0
    if way == 1:
        first, last = ranges[0]
        hole = draw.randrange(min(3, last) + 1)
        ranges[0:1] = [pair for pair in ([first, hole - 1], [hole + 1, last]) if pair[0] <= pair[1]]
        return sealed(whole), True
    if way == 2:
        ranges[at][draw.randrange(2)] += draw.choice([-1, 1])
    else:
        ranges.append(copy.deepcopy(ranges[at]))
        return sealed(whole), True
    return sealed(whole), False


def contour(whole, draw):
    hints = hints_of(whole, draw)
    hints["contour"] = another_number(hints["contour"], draw)
    return sealed(whole), False


def rule(whole, draw):
    """Another number of nodes, period, last node, cut or precision."""
    hints = hints_of(whole, draw)
    name = draw.choice(["nodes", "last", "cut", "bits", "period"])
    if type(hints[name]) is int:
        hints[name] = max(0, hints[name] + draw.choice([-40, -2, -1, 1, 2, hints[name], -(hints[name] // 2)]))
    elif hints[name] is not None:
        hints[name] = another_number(hints[name], draw)
    else:
        hints[name] = draw.choice([1, "1", "40"])
        return sealed(whole), True
    return sealed(whole), False


def cover(whole, draw):
    """Other groups in the sieve or beyond it, another unit."""
    hints = hints_of(whole, draw)
    way = draw.randrange(3)
    if way == 0:
        hints["sieve"][0] = [draw.randrange(len(whole["claim"]["paths"][0])) for _ in range(draw.randrange(3))]
    elif way == 1 and hints["far"] is not None:
        hints["far"][0] = draw.choice([None, 0])
    else:
        hints["unit"] = draw.choice([None, [0], [0, 0], [1], [0, 1]])
    return sealed(whole), False


def proofs(whole, draw):
    """The hints are swapped or one is taken away."""
    both = whole["proofs"]
    way = draw.randrange(2)
    if way == 0:
        both["lower"], both["upper"] = both["upper"], both["lower"]
        return sealed(whole), False
    both[draw.choice(["lower", "upper"])] = None
    return sealed(whole), True


def nodes_of(value, found):
    """All objects and lists, with the key or number at which a value stands in it."""
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            found.append((value, key))
            nodes_of(value[key], found)
    return found


def schema(whole, draw):
    """A key too many or too few, or a value of another type, anywhere."""
    holder, key = draw.choice(nodes_of({"certificate": whole["certificate"], "claim": whole["claim"], "proofs": whole["proofs"]}, []))
    holder = whole if key in ("certificate", "claim", "proofs") and "claim" in holder else holder
    way = draw.randrange(3)
    if way == 0 and isinstance(holder, dict):
        holder["more"] = 1
    elif way == 1 and isinstance(holder, dict):
        del holder[key]
    else:
        old = holder[key]
        new = draw.choice([None, True, "", "x", -1, [], {}, "01", "1/0", "2/4", "-1", "+1", "1e-9", "٣", 10**30])
        if type(new) is type(old) and new == old or key == "subject" and isinstance(new, str):
            new = {}
        holder[key] = new
        # What may be null or a list of other numbers is a hint.
        return sealed(whole), not (key in ("far", "unit", "sieve") or isinstance(holder, list) or new == [] and old == [])
    return sealed(whole), True


def letters(whole, draw):
    """The bytes: one is changed, dropped or added, or the object is written in another way. The seal is that of the content where the
    bytes can still be read."""
    data = bytearray(sealed(whole))
    way = draw.randrange(7)
    at = draw.randrange(len(data))
    if way == 0:
        data[at] = draw.choice([byte for byte in range(256) if byte != data[at]])
    elif way == 1:
        del data[at]
    elif way == 2:
        data.insert(at, draw.randrange(256))
    elif way == 3:
        data = json.dumps(dict(reversed(whole.items())), separators=(",", ":")).encode() + b"\n"
    elif way == 4:
        data = json.dumps(whole, sort_keys=True).encode() + b"\n"
    elif way == 5:
        data = data[:-1] if draw.randrange(2) else data + b"\n"
    else:
        data = data.replace(b'"bits":', b'"bits":64,"bits":', 1) if draw.randrange(2) else data.replace(b'"count":', b'"count":1e0,"count":', 1)
    return bytes(data), True


def number(whole, draw):
    """A whole number anywhere becomes a float or gets a digit; in the claim that is false."""
    holder, key = draw.choice([(h, k) for h, k in nodes_of({"claim": whole["claim"], "proofs": whole["proofs"]}, []) if type(h[k]) is int])
    if draw.randrange(2):
        holder[key] = float(holder[key])
        return sealed(whole), True
    holder[key] = int(str(holder[key]) + draw.choice("0123456789"))
    return sealed(whole), "law" in holder


CHANGES = [noise, count, shift, given, ends, groups, paths, evaluated, contour, rule, cover, proofs, schema, letters, number]


class Tampering(unittest.TestCase):
    def test_examples_are_proven(self):
        names = sorted(path.name for path in EXAMPLES.glob("*.json"))
        self.assertGreaterEqual(len(names), 5)
        for name in names:
            self.assertIsNone(verdict((EXAMPLES / name).read_bytes()), name)

    def tamper(self, names, times, seed):
        draw = random.Random(seed)
        originals = {name: load(name) for name in names}
        tally = {change.__name__: [0, 0, 0] for change in CHANGES}
        for turn in range(times):
            change, name = CHANGES[turn % len(CHANGES)], names[turn // len(CHANGES) % len(names)]
            data, false = change(copy.deepcopy(originals[name]), draw)
            if data == sealed(copy.deepcopy(originals[name])):
                continue
            said = verdict(data)
            self.assertTrue(said or not false, f"{name}, {change.__name__}: proven although false or out of form: {data[:3000]}")
            tally[change.__name__][0 if false else 1 if said else 2] += 1
        return tally

    def test_changed_certificates_are_refused(self):
        many = int(os.environ.get("ASSAY_TAMPER", "10500"))
        tally = {change.__name__: [0, 0, 0] for change in CHANGES}
        # The quick ones mostly.
        for names, times in ((["ten-counts", "laplace"], many), (["two-paths"], 600), (["line", "whole-release"], 300)):
            for name, row in self.tamper([f"{name}.json" for name in names], times, times).items():
                tally[name] = [a + b for a, b in zip(tally[name], row)]
        false, open_refused, open_proven = (sum(row[i] for row in tally.values()) for i in range(3))
        print(f"\n{false + open_refused + open_proven} changed certificates, sealed again")
        for name, row in tally.items():
            print(f"  {name:10} {row[0]:6} false or out of form, all refused; of others {row[1]:6} refused, {row[2]:6} proven, and true")
        self.assertGreaterEqual(false + open_refused + open_proven, min(many * 9 // 10, 10_000))
        self.assertGreater(open_proven, 0)
        self.assertTrue(all(sum(row) for row in tally.values()))

    def test_a_broken_seal_is_named(self):
        whole = load("ten-counts.json")
        sealed(whole)
        whole["sha256"] = "0" * 64
        self.assertEqual(verdict(checker.canonical(whole)), "sha256 is that of the content")

    def test_the_statement_that_fails_is_named(self):
        whole = load("ten-counts.json")
        whole["claim"]["paths"][0][0]["count"] += 1
        self.assertRegex(verdict(sealed(whole)), r"^delta\(10\.1248.*\) <= 1e-11: what the hints prove is <= ")
        whole = load("ten-counts.json")
        whole["claim"]["paths"][0][0]["sigma2"] = "51/10"
        self.assertRegex(verdict(sealed(whole)), r"^delta\(10\.1248.*\) >= 1e-11: what the hints prove is >= ")
        whole = load("ten-counts.json")
        whole["proofs"]["upper"]["evaluated"] = [[0, 3]]
        self.assertEqual(verdict(sealed(whole)), "node 4 is evaluated, or its factors are small")


if __name__ == "__main__":
    unittest.main(verbosity=1)
