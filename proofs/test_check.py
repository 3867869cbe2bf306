#!/usr/bin/env python3
"""Tests of check.py: python3 proofs/test_check.py. Standard library only.

Arithmetic against decimals of 50 digits, and theorems against sums by definition. Certificates that were changed: test_tampering.py.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))
import check as checker

getcontext().prec = 50
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
        for wrong in (Fraction(1 << 14), Fraction(-(1 << 14))):
            with self.assertRaises(checker.Refused):
                checker.exp_ends(wrong, 80)

    def test_exp_less_one_is_a_lower_bound_above_zero(self):
        """The precondition of the alias: also where exp(x) is 1 in all bits that the checker has."""
        for x in [Fraction(1, 10**k) for k in range(0, 400, 7)] + [Fraction(k, 7) for k in range(1, 800, 13)]:
            lower = checker.exp_less_one(x)
            with localcontext() as context:
                context.prec = 900
                truth = decimal(x).exp() - 1
            self.assertTrue(0 < decimal(lower) <= truth, x)
            self.assertGreater(decimal(lower), truth * (Decimal("0.99") if x < 99 else Decimal("0.4")), x)
        # Far out only the size counts.
        self.assertGreater(checker.exp_less_one(Fraction(10**7)), 10**4000)
        for wrong in (Fraction(0), Fraction(-1)):
            with self.assertRaises(checker.Refused):
                checker.exp_less_one(wrong)

    def test_exp_most_is_an_upper_bound_however_small(self):
        for x in [Fraction(k, 7) for k in range(-9000, 9000, 113)] + [Fraction(-(10**k)) for k in range(3, 30, 4)] + [Fraction(16383)]:
            most = checker.exp_most(x)
            with localcontext() as context:
                context.prec = 60
                least = decimal(max(x, Fraction(-(10**5)))).exp()
                self.assertTrue(decimal(x).exp() <= decimal(most) <= 3 * least, x)
        with self.assertRaises(checker.Refused):
            checker.exp_most(Fraction(1 << 14))

    def test_the_alias_is_small_on_long_periods(self):
        """Of few nodes on a long period, where the stationary point is so far out that its bounds are no good."""
        for sigma2, shift, count in (("1", 5, 5), ("1", 10, 10), ("1/10", 100, 1), ("1/5", 20, 1)):
            claim = {"paths": [[{"law": "discrete-gaussian", "sigma2": sigma2, "shift": shift, "count": count}]], "pairs": False}
            family = checker.Family(claim)
            contour = checker.Contour.__new__(checker.Contour)
            contour.c, contour.period = 1 / family.rho, Fraction(int(30 * family.rho) + 1)
            alias = contour.alias(Fraction(0), family.rho)
            self.assertTrue(0 < alias < Fraction(1, 10**12), (sigma2, shift, count, float(alias)))

    def test_preconditions_are_checked(self):
        """What a bound needs, broken: refused, by every function that has a precondition."""
        gaussian = checker.Group({"law": "discrete-gaussian", "sigma2": "1/30", "shift": 1, "count": 1}, Fraction(1))
        for function, arguments in (
            (checker.exp, (1, 0, 64)), (checker.exp, (0, 5 << 64, 64)), (checker.exp, (0, 0, 31)), (checker.turn, (1, 0, 64)), (checker.turn, (1, -1, 64)),
            (checker.pi, (0,)), (checker.pi, (1 << 16,)), (checker.power, ((1, 0, 0), 0, (1, 0, 0), checker.mul, 64)),
            (checker.small, ((1 << 64, 0, 1 << 64), (1 << 64, 0, 0), 64)), (checker.reciprocal, ((0, 0, 0), 64)), (checker.reciprocal, ((5, 0, 6), 64)),
            (checker.ln_ends, (Fraction(1, 2),)), (checker.factor, (gaussian, Fraction(1), 0, 1, 64)), (checker.least_variance, (Fraction(0),)),
            (checker.normal_tail, (Fraction(100),)), (checker.normal_tail, (Fraction(-100),)),
        ):
            with self.assertRaises(checker.Refused, msg=(function, arguments)):
                function(*arguments)

    def test_ends_of_ln_enclose_it_closely(self):
        draw = random.Random(5)
        for x in [1 + Fraction(1, 10**30), Fraction(10) ** 390] + [Fraction(draw.randrange(10**6 + 1, 10**12), 10**6) for _ in range(100)]:
            lower, upper = checker.ln_ends(x)
            with localcontext() as context:
                context.prec = 120
                self.assertTrue(0 <= decimal(lower) <= decimal(x).ln() <= decimal(upper), x)
            self.assertLess(upper - lower, Fraction(1, 10**24))

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
            self.assertTrue(holds(checker.power(a, n, (1 << p, 0, 0), checker.mul, p), exact))

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
    """(A), (C), (E), (G) to (O) against sums and formulas by definition."""

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
                atoms = checker.Atoms(family, {"bits": 150, "kept": kept, "units": None}, family.units).prove()
                narrow = [[max(low, -4), min(high, 4)] for low, high in kept]
                narrow = checker.Atoms(family, {"bits": 150, "kept": narrow, "units": None}, family.units).prove()
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
                    for bounds, width in ((atoms.bounds((0,), epsilon, 0), Decimal(10) ** -30), (narrow.bounds((0,), epsilon, 0), 9)):
                        lower, upper = map(decimal, bounds)
                        self.assertTrue(lower - Decimal(10) ** -45 <= truth <= upper + Decimal(10) ** -45, (first, second, epsilon))
                        self.assertLessEqual(upper - lower, width)

    @staticmethod
    def outcomes(table, shift):
        """Of a count with noise of a table that is moved, or not: the masses of each output."""
        return [(decimal(table.get(x - shift, 0)), decimal(table.get(x, 0))) for x in sorted({*table, *(value + shift for value in table)})]

    def test_tables_are_sums_by_definition_in_both_directions(self):
        draw = random.Random(7)
        for _ in range(12):
            tables, groups, pair = [], [], [(Decimal(1), Decimal(1))]
            for number in range(draw.randrange(1, 3)):
                values, shift, count = sorted(draw.sample(range(-2, 4), draw.randrange(3, 6))), draw.choice([1, 1, 2]), draw.randrange(1, 3)
                weights = [draw.randrange(1, 9) for _ in values]
                table = {value: Fraction(weight, sum(weights)) for value, weight in zip(values, weights)}
                if shift not in {a - b for a in values for b in values}:
                    shift = values[1] - values[0]
                tables.append([[value, str(mass)] for value, mass in table.items()])
                groups.append({"count": count, "law": "table", "shift": shift, "table": number})
                for _ in range(count):
                    one = self.outcomes(table, shift)
                    pair = [(p * a, q * b) for p, q in pair for a, b in one if p * a + q * b > 0]
            kept = [None] * len(groups)
            if draw.random() < 0.6:
                # One count on an exact lattice beside them.
                groups.insert(0, dict(self.LAPLACE[0]))
                kept.insert(0, [-1, 0])
                one = self.losses(groups[0])
                pair = [(p * a, q * b) for p, q in pair for _, a, b in one]
            infinite = draw.choice([None, "1/1000", "2/5"])
            family = checker.Family({"paths": [groups], "pairs": False, "laws": tables, "infinite": infinite})
            for epsilon in (Fraction(0), Fraction(1, 3), Fraction(2)):
                growth, alone = decimal(epsilon).exp(), decimal(Fraction(infinite or 0))
                truth = max(sum(max(Decimal(0), p - growth * q) for p, q in way) for way in (pair, [(q, p) for p, q in pair]))
                truth = alone + (1 - alone) * truth
                hints = [{"bits": 160, "kept": kept, "units": None}]
                (lower, upper), = checker.Bounds(family, {"upper": hints}, "upper", (epsilon, 0)).prove()
                self.assertTrue(decimal(lower) - Decimal(10) ** -40 <= truth <= decimal(upper) + Decimal(10) ** -40, (tables, groups, epsilon))
                self.assertLess(upper - lower, Fraction(1, 10**24))

    def test_errors_of_losses_are_in_the_upper_end(self):
        """With losses that are known to a tenth only, the ends still hold the truth."""
        table = {-1: Fraction(1, 5), 0: Fraction(1, 2), 1: Fraction(3, 10)}
        claim = {"paths": [[{"count": 2, "law": "table", "shift": 1, "table": 0}]], "pairs": False, "laws": [[[x, str(mass)] for x, mass in table.items()]]}
        family, pair = checker.Family(claim), self.outcomes(table, 1)
        pair = [(p * a, q * b) for p, q in pair for a, b in pair]
        kept, wide = checker.ln_ends, Fraction(1, 20)
        try:
            checker.ln_ends = lambda x: (max(Fraction(0), kept(x)[0] - wide), kept(x)[1] + wide)
            atoms = checker.Atoms(family, {"bits": 100, "kept": [None], "units": None}, family.units).prove()
        finally:
            checker.ln_ends = kept
        for k in range(0, 40):
            growth = decimal(Fraction(k, 20)).exp()
            truth = max(sum(max(Decimal(0), p - growth * q) for p, q in way) for way in (pair, [(q, p) for p, q in pair]))
            lower, upper = map(decimal, atoms.bounds((0,), Fraction(k, 20), 0))
            self.assertTrue(lower <= truth <= upper and upper - lower > Decimal("0.2"), k)

    def test_equality_beyond_the_largest_loss_proves_no_epsilon(self):
        """delta is the probability of an infinite loss from epsilon = 1 on: that is the least epsilon, and 3 is not."""
        claim = {"about": "epsilon", "at": {"delta": "1/1024"}, "direction": None, "infinite": "1/1024", "laws": None, "lower": "3", "upper": "4",
                 "neighbors": "add-remove", "pairs": False, "paths": [[dict(self.LAPLACE[0], epsilon="1")]], "subject": ""}
        proofs = {end: [{"bits": 64, "kept": [[-1, 0]], "units": None}] for end in ("lower", "upper")} | {"points": None}
        ends = {sign: (bound, end) for _, bound, sign, end, _ in checker.statements("assay 4", claim, proofs, checker.Work())}
        self.assertEqual(set(ends), {"<=", ">"})
        self.assertLessEqual(*ends[">"])

    def test_a_table_has_masses_that_add_up_to_one(self):
        self.assertEqual(checker.table_of([[-1, "1/6"], [0, "1/2"], [4, "1/3"]]), ([(-1, 1), (0, 3), (4, 2)], 6))
        for wrong in ([[0, "1/2"], [1, "1/3"]], [[0, "1"], [1, "0"]], [[0, "1/2"], [0, "1/2"]], [[1, "1/2"], [0, "1/2"]], [[0, "3/2"], [1, "-1/2"]], [], [[0]], [[0, 1]],
                      [["0", "1"]], [[0.0, "1"]], [[True, "1"]], [[10**12 + 1, "1"]], {"0": "1"}, None, "", [[0, "2/2"]], [[0, "1"], 0]):
            with self.assertRaises(checker.Refused, msg=wrong):
                checker.Family({"paths": [[self.LAPLACE[0]]], "pairs": False, "laws": [wrong]})

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
        atoms = checker.Atoms(family, {"bits": 200, "kept": [[-120, 110]], "units": None}, family.units).prove()
        ends = lambda points: [[atoms.bounds((0,), abs(point), 0)[end] for point in points] for end in (1, 0)]
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
                points = [center - wide, center, center + wide]
                lower, upper = checker.tradeoff(alpha, points, *ends(points))
                self.assertTrue(decimal(lower) <= two <= decimal(upper), (alpha, wide))
                self.assertLess(upper - lower, 2 * wide)
            for points in ([center, center + 1, center + 2], [center - 2, center - 1, center], [center, center, center], [center + 1, center, center - 1]):
                with self.assertRaises(checker.Refused):
                    checker.tradeoff(alpha, points, *ends(points))

    def test_zcdp_is_of_the_largest_rho(self):
        low = dict(self.GROUPS[4], count=3)
        family = checker.Family({"paths": [[low, dict(self.LAPLACE[1], count=2)], [low]], "pairs": True})
        # Twice the first path: 3 / (2 5) for the Gaussian counts, 2 (4 / 2)^2 / 2 for the others.
        rho = Decimal(2) * (Decimal("0.3") + 4)
        for delta in (Fraction(1, 10**11), Fraction(1, 3), 1 - Fraction(1, 10**20)):
            lower, upper = map(decimal, checker.zcdp(family, delta))
            truth = rho + 2 * (rho * -decimal(delta).ln()).sqrt()
            self.assertTrue(lower - Decimal(10) ** -45 <= truth <= upper + Decimal(10) ** -45, delta)
            self.assertLess(upper - lower, Decimal(10) ** -10)

    def test_a_posterior_is_that_of_bayes(self):
        """Two counts with noise of one law and one of another; their masses at the outputs of both worlds, by definition."""
        values = [dict(self.GROUPS[2], count=2), dict(self.GROUPS[5], count=1)]
        family = checker.Family({"paths": [values], "pairs": False})
        for outputs, prior in ((((1, -3), (4,)), Fraction(1, 864)), (((0, 0), (0,)), Fraction(1, 2)), (((7, 9), (-2,)), Fraction(9, 10))):
            worlds = [Decimal(1), Decimal(1)]
            for value, ys in zip(values, outputs):
                for y in ys:
                    for world, mean in enumerate((0, value["shift"])):
                        worlds[world] *= (-Decimal((y - mean) ** 2) / (2 * decimal(Fraction(value["sigma2"])))).exp()
            p = decimal(prior)
            truth = p * worlds[1] / (p * worlds[1] + (1 - p) * worlds[0])
            lower, upper = map(decimal, checker.posterior(family, [sum(ys) for ys in outputs], prior))
            self.assertTrue(lower - Decimal(10) ** -45 <= truth <= upper + Decimal(10) ** -45, (outputs, prior))
            self.assertLess(upper - lower, Decimal(10) ** -30)

    def test_normal_tails_are_integrals(self):
        """Against the continued fraction of Mills' ratio, and P[N > -z] = 1 - P[N > z]."""
        for z in (Fraction(9, 4), Fraction(5), Fraction(157, 10), Fraction(60)):
            ratio, x = Decimal(0), decimal(z)
            for k in range(4000, 0, -1):
                ratio = k / (x + ratio)
            truth = (-x * x / 2).exp() / (2 * PI).sqrt() / (x + ratio)
            lower, upper = checker.normal_tail(z)
            self.assertTrue(abs(decimal(lower) / truth - 1) < Decimal(10) ** -40 and abs(decimal(upper) / truth - 1) < Decimal(10) ** -40, z)
            self.assertTrue(0 < upper - lower < lower / 10**40, z)
            self.assertEqual([1 - end for end in reversed(checker.normal_tail(z))], checker.normal_tail(-z))
        steps, width = 4000, decimal(Fraction(3, 2)) / 4000
        density = lambda k: (-(k * width) ** 2 / 2).exp() * (1 if k in (0, steps) else 4 if k % 2 else 2)
        below = sum(map(density, range(steps + 1))) * width / 3 / (2 * PI).sqrt()
        lower, upper = checker.normal_tail(Fraction(3, 2))
        self.assertLess(abs(decimal(lower) - (Decimal("0.5") - below)), Decimal(10) ** -14)
        self.assertTrue(0 < upper - lower < Fraction(1, 10**45))

    def test_continuous_noise_is_its_formula(self):
        """delta(eps) = E[(1 - exp(eps - L))_+] for L of N(rho, 2 rho), by Simpson's rule."""
        for sigma2, count, epsilon in ((Fraction(5), 10, Fraction(2)), (Fraction(1, 3), 1, Fraction(0)), (Fraction(40), 3, Fraction(1, 2))):
            value = {"law": "gaussian", "sigma2": str(sigma2), "shift": 1, "count": count}
            family = checker.Family({"paths": [[value]], "pairs": False})
            rho = decimal(count / (2 * sigma2))
            root, steps = (2 * rho).sqrt(), 4000
            # From the loss eps up to 12 standard deviations above the mean.
            start = (decimal(epsilon) - rho) / root
            width = (12 - start) / steps

            def height(k):
                z = start + k * width
                return (1 - (decimal(epsilon) - rho - root * z).exp()) * (-z * z / 2).exp() * (1 if k in (0, steps) else 4 if k % 2 else 2)

            truth = sum(map(height, range(steps + 1))) * width / 3 / (2 * PI).sqrt()
            lower, upper = checker.Normal(family, {"units": None}, family.units).bounds((0,), epsilon, 0)
            self.assertLess(abs(decimal(lower) - truth), Decimal(10) ** -11, value)
            self.assertTrue(0 < upper - lower < Fraction(1, 10**40), value)
        for law in ("discrete-gaussian", "gaussian"):
            mixed = [{"law": name, "sigma2": "5", "shift": 1, "count": 1} for name in ("discrete-gaussian", law)]
            family = checker.Family({"paths": [mixed[law == "discrete-gaussian":]], "pairs": False})
            with self.assertRaises(checker.Refused):
                checker.Normal(family, {"units": None}, family.units)

    def test_no_order_does_better(self):
        """Both ends against the formula of Canonne, Kamath & Steinke at many orders."""
        family = checker.Family({"paths": [[dict(self.GROUPS[4], count=10)]], "pairs": False})
        rho, delta = decimal(family.rho), Fraction(1, 10**10)
        at = lambda s: rho * (1 + s) + (-decimal(delta).ln() - (1 + s).ln()) / s - (1 + 1 / s).ln()
        best = min((Decimal(k) / 1000 for k in range(1, 20_000)), key=at)
        s = Fraction(best)
        points = [s - Fraction(1, 100), s, s + Fraction(1, 100)]
        claimed = Fraction(at(best) - Decimal("0.001"))
        lower, upper = checker.orders(family, delta, points, claimed)
        self.assertEqual(lower, claimed)
        self.assertTrue(at(best) <= decimal(upper) + Decimal(10) ** -30 and decimal(upper) - at(best) < Decimal(10) ** -15)
        for wrong, around in ((Fraction(at(best)) + Fraction(1, 10**6), points), (claimed, points[::-1]), (claimed, [s, s + 1, s + 2]), (claimed, [-s, s, 2 * s])):
            with self.assertRaises(checker.Refused):
                checker.orders(family, delta, around, wrong)

    def test_marginals_are_averages_over_outputs(self):
        value = dict(self.GROUPS[2], count=2)
        family, losses = checker.Family({"paths": [[value]], "pairs": False}), self.losses(dict(value, count=1))
        for prior in (Fraction(1, 2), Fraction(1, 864)):
            odds, truth = decimal(prior / (1 - prior)), Decimal(0)
            for l, p, q in losses:
                for m, a, b in losses:
                    truth += p * a * odds * (l + m).exp() / (1 + odds * (l + m).exp())
            for kept, width in (([-40, 40], Decimal(10) ** -20), ([-2, 2], Decimal(1))):
                bounds = checker.marginal(family, [{"bits": 160, "kept": [kept], "units": None}], prior)
                lower, upper = map(decimal, bounds)
                self.assertTrue(lower - Decimal(10) ** -40 <= truth <= upper + Decimal(10) ** -40, (prior, kept))
                self.assertLess(upper - lower, width)

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
            sieve.windows_seen, sieve.nodes_seen, sieve.most = 0, 0, 10**6
            turns = [Fraction(draw.randrange(1, 90), draw.randrange(100, 900)) for _ in range(draw.randrange(1, 3))]
            sieve.order = [(a.numerator, a.denominator, draw.randrange(10, 1500)) for a in turns]
            inside = {j for first, last in sieve.windows(0, 1, 2000) for j in range(first, last + 1)}
            for j in range(1, 2001):
                near = all(abs(j * a - round(j * a)) <= Fraction(reach, checker.STEPS) for a, (_, _, reach) in zip(turns, sieve.order))
                self.assertEqual(near, j in inside, (turns, j))


class Output(unittest.TestCase):
    def test_numbers_are_exact_or_rounded_outward(self):
        for text, said in (("1/10000000000", "1e-10"), ("5", "5"), ("0", "0"), ("1/3", "1/3"), ("50000/10001", "50000/10001"), ("1/4", "0.25"), ("1000", "1000"),
                           ("10123456789012345678/1000000000", "10123456789.012345678"), ("-3/2", "-1.5"), ("1" + "0" * 30, "1e+30")):
            self.assertEqual(checker.shown(Fraction(text)), said)
        draw = random.Random(9)
        for _ in range(300):
            x = Fraction(draw.randrange(-(10**40), 10**40), draw.randrange(1, 10**60))
            down, up = (Fraction(checker.shown(x, rounding)) for rounding in (checker.ROUND_FLOOR, checker.ROUND_CEILING))
            self.assertTrue(down <= x <= up and up - down <= abs(x) / 10**17, x)
        # An end of more than 18 digits is printed with all of them: rounded to nearest it would be false.
        self.assertEqual(checker.shown(Fraction("10124830934480989213/1000000000000000000")), "10.124830934480989213")

    def run_checker(self, *arguments):
        # Quiet: on a busy machine a quick check may take long enough for a line of progress.
        return subprocess.run([sys.executable, "-I", "-B", str(FOLDER / "check.py"), "--quiet", *map(str, arguments)], capture_output=True, text=True)

    def test_it_says_what_is_proven_and_about_what(self):
        example = FOLDER / "examples" / "two-paths.json"
        said = self.run_checker(example)
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        for part in ("proven", "so epsilon <= 7.28703 at delta = ", "of the worst of 3 pairs of 2 paths", "counts on a path: 1 to 3", "moved by 1, discrete Gaussian noise",
                     "sigma2 = 8/3", "labels, of which nothing is proven:", "neighbors: bounded", "subject: two-paths"):
            self.assertIn(part, said.stdout)
        answer = json.loads(self.run_checker("--json", example).stdout)
        self.assertEqual((answer["verdict"], answer["about"], answer["pairs"], len(answer["paths"])), ("proven", "epsilon", True, 2))
        self.assertEqual(answer["labels"]["neighbors"], "bounded")
        said = self.run_checker(FOLDER / "examples" / "orders.json").stdout
        self.assertIn("zCDP epsilon (best order) at delta = 1e-10 >= 17.1435", said)

    def test_a_label_that_says_more_than_the_groups_is_seen_as_one(self):
        """The certificate of ten counts, relabelled as a whole release, still says that it is about ten counts."""
        whole = json.loads((FOLDER / "examples" / "ten-counts.json").read_text(encoding="utf-8"))
        whole["claim"]["subject"] = "pl94-persons-us: everything"
        whole["sha256"] = checker.seal(whole)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "relabelled.json"
            path.write_bytes(checker.canonical(whole))
            said = self.run_checker(path).stdout
        proven, _, labels = said.partition("labels, of which nothing is proven:")
        self.assertIn("of one path; counts on a path: 10", proven)
        self.assertNotIn("pl94", proven.replace(str(path), ""))
        self.assertIn("pl94-persons-us: everything", labels)

    def test_exit_statuses(self):
        example = FOLDER / "examples" / "zcdp.json"
        self.assertEqual(self.run_checker("--help").returncode, 0)
        for wrong in ((), ("--nonsense", example)):
            said = self.run_checker(*wrong)
            self.assertTrue(said.returncode == 2 and said.stdout == "" and "usage" in said.stderr)
        with tempfile.TemporaryDirectory() as folder:
            broken = Path(folder) / "broken.json"
            broken.write_text("{}")
            deep = Path(folder) / "deep.json"
            deep.write_text("[" * 200_000)
            missing = Path(folder) / "missing.json"
            for path, part in ((broken, "does not hold"), (deep, "JSON"), (missing, "cannot be read"), (Path(folder), "cannot be read")):
                said = self.run_checker(path, example)
                self.assertEqual((said.returncode, said.stderr), (1, ""))
                self.assertIn(part, said.stdout)
                # The next file is checked all the same.
                self.assertIn("zcdp.json: proven", said.stdout)
        if Path("/dev/zero").exists():
            self.assertEqual(self.run_checker("/dev/zero").returncode, 1)

    def test_it_keeps_its_length(self):
        lines = (FOLDER / "check.py").read_text(encoding="utf-8").splitlines()
        marks = [at for at, line in enumerate(lines) if line.startswith("# =====")]
        named = {lines[at].strip("# =").split(":")[0].split(",")[0]: at for at in marks}
        self.assertLessEqual(named["claims"] - named["arithmetic and theorems"], 500)
        self.assertLessEqual(named["the sentences of a memo's Statement that its certificates bear"], 700)
        self.assertLessEqual(len(lines), 880)  # 700 of certificates, 70 of the Statement that they bear, and 110 of folders and the start
        self.assertLessEqual(max(map(len, lines)), 150)


class Program(unittest.TestCase):
    def test_a_reader_who_leaves_ends_it_quietly(self):
        folder = FOLDER
        reader, writer = os.pipe()
        os.close(reader)
        command = [sys.executable, "-I", "-B", str(folder / "check.py"), str(folder / "examples" / "zcdp.json")]
        ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        self.assertEqual(ended.stderr, b"")


if __name__ == "__main__":
    unittest.main(verbosity=1)
