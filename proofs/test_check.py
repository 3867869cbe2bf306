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
from decimal import Decimal, getcontext, localcontext
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
            x = Fraction(draw.randrange(-(10**6), 10**6), draw.randrange(62, 10**4))
            lower, upper = checker.exp_ends(x, 80)
            with localcontext() as context:
                # The ends are closer than fifty digits.
                context.prec = 120
                self.assertTrue(decimal(lower) <= decimal(x).exp() <= decimal(upper), x)
            self.assertLess((upper - lower) / lower, Fraction(1, 10**20))
        with self.assertRaises(checker.Refused):
            checker.exp_ends(Fraction(1 << 14), 80)

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
            self.assertTrue(sigma2 < 1 or decimal(checker.least_variance(sigma2)) >= variance * Decimal("0.999999"), text)


class Theorems(unittest.TestCase):
    """(A), (C), (E), (G) and (H) against sums by definition."""

    GROUPS = [{"law": "discrete-gaussian", "sigma2": s, "shift": k, "count": 1} for s in ("1/9", "3/4", "5") for k in (1, 3)]
    LAPLACE = [{"law": "discrete-laplace", "epsilon": e, "shift": k, "count": 1} for e in ("1/2", "2") for k in (1, 4)]

    def test_factors_are_those_of_the_law(self):
        p, c = 100, Fraction(7, 5)
        for value in self.GROUPS:
            group = checker.Group(value, Fraction(1))
            norm = decimal(checker.factor(group, Fraction(0), 0, 1, p)[0]) / 2**p
            for turns in (Fraction(-2, 5), Fraction(1, 7)):
                ball = checker.factor(group, c, turns.numerator, turns.denominator, p)
                # E[exp(s L)] with the angle of weight t at these turns, without exp(i t offset) and the size on the axis.
                total, mass = [Decimal(0), Decimal(0)], Decimal(0)
                for x in range(-130, 131):
                    weight = (-Decimal(x * x) / (2 * decimal(group.parameter))).exp()
                    loss = group.offset + x * group.weight
                    mass += weight
                    angle = 2 * PI * decimal((loss - group.offset) / group.weight * turns % 1)
                    for part, phase in ((0, angle), (1, angle - PI / 2)):
                        total[part] += weight * decimal(c * loss - group.offset * (c + c * c)).exp() * cosine(phase)
                for part in (0, 1):
                    self.assertLess(abs(decimal(ball[part]) / 2**p / norm - total[part] / mass), Decimal(10) ** -24, (value, turns))
                bound = (-decimal(checker.least_variance(group.parameter)) * (1 - cosine(2 * PI * decimal(turns)))).exp()
                self.assertLessEqual((total[0] ** 2 + total[1] ** 2).sqrt() / mass, bound * (1 + Decimal(10) ** -20), (value, turns))

    def losses(self, value):
        """Each loss of one count with its mass under P and under Q, by definition, and what the masses add up to."""
        group, parameter = checker.Group(value, Fraction(1)), decimal(checker.Group(value, Fraction(1)).parameter)
        size = (lambda x: (-Decimal(x * x) / (2 * parameter)).exp()) if group.gaussian else (lambda x: (-abs(x) * parameter).exp())
        reach, merged = 60 if group.gaussian else 300, {}
        whole = sum(size(x) for x in range(-400, 401))
        for x in range(-reach, reach + 1):
            p, q = size(x) / whole, size(x + group.shift) / whole
            known = merged.get(round((p / q).ln(), 30), (0, 0))
            merged[round((p / q).ln(), 30)] = known[0] + p, known[1] + q
        return [(loss, p, q) for loss, (p, q) in merged.items()]

    def test_atoms_are_sums_by_definition(self):
        for first in self.GROUPS + self.LAPLACE:
            for second in (self.LAPLACE[1], self.GROUPS[5]):
                if (first["law"], first.get("sigma2")) >= (second["law"], second.get("sigma2")):
                    continue
                claim = {"paths": [[first, dict(second, count=2)]], "pairs": False}
                family = checker.Family(claim)
                kept = [[-60 - 9, 60] if "sigma2" in group else [-group["shift"] * group["count"], 0] for group in claim["paths"][0]]
                atoms = checker.Atoms(family, {"bits": 150, "kept": kept, "units": None}, family.units)
                narrow = [[max(low, -4), min(high, 4)] for low, high in kept]
                narrow = checker.Atoms(family, {"bits": 150, "kept": narrow, "units": None}, family.units)
                one, two = self.losses(first), self.losses(second)
                pairs = {}
                for l, p, q in two:
                    for m, a, b in two:
                        key = round(l + m, 30)
                        known = pairs.get(key, (Decimal(0), Decimal(0)))
                        pairs[key] = known[0] + p * a, known[1] + q * b
                for epsilon in (Fraction(1, 3), Fraction(21, 10)):
                    e = decimal(epsilon)
                    truth = sum(max(Decimal(0), p * a - e.exp() * q * b) for l, p, q in one for m, (a, b) in pairs.items() if l + m > e)
                    for bounds, width in ((atoms.bounds((0,), epsilon), Decimal(10) ** -30), (narrow.bounds((0,), epsilon), 9)):
                        lower, upper = map(decimal, bounds)
                        self.assertTrue(lower - Decimal(10) ** -45 <= truth <= upper + Decimal(10) ** -45, (first, second, epsilon))
                        self.assertLessEqual(upper - lower, width)

    def test_three_lines_enclose_a_point_of_the_tradeoff_function(self):
        """Of two Gaussians of one count: type II errors of the likelihood ratio tests, randomized between them."""
        with localcontext() as context:
            # Where lines meet the ends are closer than fifty digits.
            context.prec = 100
            self.check_points()

    def check_points(self):
        value = dict(self.GROUPS[4], count=1)
        losses = sorted(self.losses(value), reverse=True)
        family = checker.Family({"paths": [[value]], "pairs": False})
        atoms = checker.Atoms(family, {"bits": 200, "kept": [[-120, 110]], "units": None}, family.units)
        above = type("Bounds", (), {"at": lambda self, epsilon: atoms.bounds((0,), epsilon)})()
        for alpha in (Fraction(1, 100), Fraction(1, 5), Fraction(7, 10)):
            one, two = Decimal(0), Decimal(1)
            for loss, p, q in losses:
                part = min(Decimal(1), (decimal(alpha) - one) / q)
                one, two = one + part * q, two - part * p
                if part < 1:
                    break
            for wide in (Fraction(1, 10**3), Fraction(1, 10**9)):
                # Lines meet at a loss, which a discrete Gaussian of one count has at half of its weight and at multiples further on.
                center = Fraction(round((loss - decimal(family.paths[0][0].offset)) * 5), 5) + family.paths[0][0].offset
                lower, upper = checker.tradeoff(alpha, [center - wide, center, center + wide], above, above)
                self.assertTrue(decimal(lower) <= two <= decimal(upper), (alpha, wide))
                self.assertLess(upper - lower, 2 * wide)
            for points in ([center, center + 1, center + 2], [center - 2, center - 1, center], [center, center, center], [center + 1, center, center - 1]):
                with self.assertRaises(checker.Refused):
                    checker.tradeoff(alpha, points, above, above)

    def test_what_lies_beyond_is_bounded(self):
        contour = type("Contour", (), {})()
        group = checker.Group({"law": "discrete-gaussian", "sigma2": "50", "shift": 1, "count": 3}, Fraction(1))
        contour.period, contour.cut = Fraction(40), 30
        for last in (30, 700, 5000):
            contour.last = last
            bound = min(Fraction(1, last), checker.Sieve(contour, [group], 1, [0]).beyond(0))
            turns = group.weight / contour.period
            total = 0
            for j in range(last + 1, last + 30_000):
                size = (-3 * decimal(checker.least_variance(Fraction(50))) * (1 - cosine(2 * PI * decimal(j * turns % 1)))).exp() if j % 9 == 0 else 0
                total += Decimal(9) * size / j**2
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
    """An example; parts.json is the one of two paths with its upper end proven in two parts."""
    if name != "parts.json":
        return json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    whole = load("two-paths.json")
    first = whole["proofs"]["upper"][0]
    last = dict(copy.deepcopy(first), units=None, sieve=[[]])
    first["units"] = [[0, 0], [1, 1]]
    whole["proofs"]["upper"].append(last)
    sealed(whole)
    return whole


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
    """Another delta, epsilon or alpha, or one end of the epsilon of a calibration, moved by more than its noise leaves open."""
    at = whole["claim"]["at"]
    name = draw.choice(["delta"] if whole["claim"]["about"] == "scale" else sorted(at))
    at[name] = another_number(at[name], draw, PART)
    return sealed(whole), True


def target(whole, draw):
    """Of a calibration: an epsilon so low that the noise is not enough, or so high that the smaller noise is, or both out of order."""
    at = whole["claim"]["at"]
    if whole["claim"]["about"] != "scale":
        at[draw.choice(["least", "most", "alpha2"])] = "1"
        return sealed(whole), True
    least, most, far = Fraction(at["least"]), Fraction(at["most"]), Fraction(draw.randrange(1, 10), draw.choice([10, 100]))
    way = draw.randrange(3)
    if way == 0:
        at["least"] = str(least - far)
    elif way == 1:
        at["most"] = str(most + far)
    else:
        at["least"], at["most"] = str(most + far), str(least - far)
    return sealed(whole), True


def ends(whole, draw):
    """An end is moved inwards by more than the width, or outwards."""
    claim = whole["claim"]
    lower, upper = Fraction(claim["lower"]), Fraction(claim["upper"])
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
    claim["lower"], claim["upper"] = str(max(lower, Fraction(0))), str(max(upper, Fraction(0)))
    return sealed(whole), way < 2


def swapped(whole, draw):
    """Lower and upper end, or the hints of both, change places; or the claim is about another number."""
    claim = whole["claim"]
    way = draw.randrange(2)
    if way == 0:
        claim["lower"], claim["upper"] = claim["upper"], claim["lower"]
    else:
        claim["about"] = draw.choice([name for name in ("epsilon", "delta", "beta", "scale", "gamma") if name != claim["about"]])
    return sealed(whole), True


def points(whole, draw):
    """The three lines of a trade-off point: moved, swapped, dropped, or there for another claim."""
    proofs, way = whole["proofs"], draw.randrange(4)
    if proofs["points"] is None:
        proofs["points"] = draw.choice([[], ["1", "2", "3"], ["0"]])
        return sealed(whole), True
    old = proofs["points"]
    if way == 0:
        at, far = draw.randrange(3), Fraction(draw.randrange(1, 10), 10 ** draw.randrange(1, 9)) * draw.choice([-1, 1])
        old[at] = str(Fraction(old[at]) + far)
        return sealed(whole), False
    proofs["points"] = [old[::-1], old[:2], [old[1]] * 3][way - 1]
    return sealed(whole), True


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


def hints_of(whole, draw, kind="contour"):
    """Hints of one kind; of the other one if there are none."""
    every = [hints for end in ("lower", "upper") for hints in whole["proofs"][end]]
    return draw.choice([hints for hints in every if kind in hints] or every)


def evaluated(whole, draw):
    """A range is dropped or cut, or a gap is made. Without the first nodes nothing is proven."""
    hints = hints_of(whole, draw)
    if "kept" in hints:
        return kept(whole, draw)
    ranges = hints["evaluated"]
    way, at = draw.randrange(4), draw.randrange(len(ranges))
    if way == 0:
        ranges.pop(at)
        return sealed(whole), at == 0
    if way == 1:
        first, last = ranges[0]
        hole = draw.randrange(min(3, last) + 1)
        ranges[0:1] = [pair for pair in ([first, hole - 1], [hole + 1, last]) if pair[0] <= pair[1]]
        # Where there are more parts than one, some of them have so much room that only node 0 matters.
        return sealed(whole), hole == 0 or len(whole["proofs"]["upper"]) == 1
    if way == 2:
        ranges[at][draw.randrange(2)] += draw.choice([-1, 1])
    else:
        ranges.append(copy.deepcopy(ranges[at]))
        return sealed(whole), True
    return sealed(whole), False


def kept(whole, draw):
    """Outcomes of atoms: a range is shifted, cut, emptied or dropped. The half of the outcomes around 0 cannot be missing."""
    hints = hints_of(whole, draw, "kept")
    if "contour" in hints:
        return contour(whole, draw)
    ranges, way = hints["kept"], draw.randrange(5)
    at = draw.randrange(len(ranges))
    first, last = ranges[at]
    if way == 0:
        ranges.pop(at)
    elif way == 1:
        ranges[at] = [first, first + (last - first) // 3]
    elif way == 2:
        ranges[at] = [last, first]
        return sealed(whole), first != last
    elif way == 3:
        ranges[at][draw.randrange(2)] += draw.choice([-9, -1, 1, 9])
        return sealed(whole), False
    else:
        hints["bits"] = draw.choice([32, 48, hints["bits"] - 16, hints["bits"] + 7])
        return sealed(whole), False
    return sealed(whole), True


def contour(whole, draw):
    hints = hints_of(whole, draw)
    if "kept" in hints:
        return kept(whole, draw)
    hints["contour"] = another_number(hints["contour"], draw)
    return sealed(whole), False


def rule(whole, draw):
    """Another number of nodes, last node, cut or precision."""
    hints = hints_of(whole, draw)
    name = draw.choice(["nodes", "last", "cut", "bits"] if "contour" in hints else ["bits"])
    hints[name] = max(0, hints[name] + draw.choice([-40, -2, -1, 1, 2, hints[name], -(hints[name] // 2)]))
    return sealed(whole), False


def cover(whole, draw):
    """Other groups in the sieve, another unit, or hints for no unit, or for some twice."""
    hints = hints_of(whole, draw)
    way = draw.randrange(3)
    if way == 0 and "sieve" in hints:
        hints["sieve"][0] = [draw.randrange(len(whole["claim"]["paths"][0])) for _ in range(draw.randrange(3))]
    elif way == 1:
        end = draw.choice(["lower", "upper"])
        whole["proofs"][end].append(copy.deepcopy(hints))
        hints = whole["proofs"][end][-1]
        hints["units"] = draw.choice([None, [], hints["units"] or [[0]]])
        # A unit of the lower end beside the one that is there may be true.
        return sealed(whole), end == "upper"
    else:
        hints["units"] = draw.choice([None, [[0]], [[0, 0]], [[1]], [[0, 1]], [[1, 0]], [], [[True]]])
    return sealed(whole), False


def proofs(whole, draw):
    """The hints are swapped or some are taken away."""
    both = whole["proofs"]
    way = draw.randrange(2)
    if way == 0:
        both["lower"], both["upper"] = both["upper"], both["lower"]
        return sealed(whole), False
    end = draw.choice(["lower", "upper"])
    # What hints are about that name no units are those that are left: then also those of the part that is taken away.
    both[end] = draw.choice([None, [], both[end][1:]])
    return sealed(whole), not both[end]


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
        return sealed(whole), not (key in ("units", "sieve") or isinstance(holder, list) or new == [] and old == [])
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


CHANGES = [noise, count, shift, given, target, ends, swapped, points, groups, paths, evaluated, kept, contour, rule, cover, proofs, schema, letters, number]


class Tampering(unittest.TestCase):
    def test_examples_are_proven(self):
        names = sorted(path.name for path in EXAMPLES.glob("*.json"))
        self.assertGreaterEqual(len(names), 9)
        for name in names:
            self.assertIsNone(verdict((EXAMPLES / name).read_bytes()), name)
        self.assertIsNone(verdict(sealed(load("parts.json"))))

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
        quick = ["ten-counts", "laplace", "tradeoff", "calibration", "two-groups", "tradeoff-atoms"]
        for names, times in ((quick, many), (["two-paths", "parts"], 900), (["line", "whole-release"], 300)):
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
        whole["proofs"]["upper"][0]["evaluated"] = [[0, 3]]
        self.assertEqual(verdict(sealed(whole)), "node 4 is evaluated, or its factors are small")


if __name__ == "__main__":
    unittest.main(verbosity=1)
