#!/usr/bin/env python3
"""Claims of one direction, decisions, posteriors of events and of outputs: python3 proofs/test_claims.py. Standard library only; check.html is tested where there is a node.

Their truth is computed by definition, in fractions, from all outcomes of the examples with tables: the best tests are those of the likelihood ratio (Neyman
and Pearson). Then claims are changed to another direction, prior, threshold or probability, and their ends are moved inwards, and sealed again: all are refused.
"""

import copy
import json
import math
import os
import sys
import unittest
from fractions import Fraction
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check as checker
import page

EXAMPLES = Path(__file__).resolve().parent / "examples"
# Of every kind one with a table that is not symmetric, whose directions differ, and those of noise that is the same in both.
TABLES = ("decision-presence", "decision-absence", "decision-both", "events-presence", "events-absence", "power-presence", "power-absence", "delta-presence",
          "delta-absence")
# Bounds from above alone, by the delta of one epsilon.
OUTPUTS = ("outputs-presence", "outputs-absence", "outputs-both", "outputs-gaussian", "outputs-continuous")
SYMMETRIC = ("decision-gaussian", "events-gaussian", "events-continuous", "power-gaussian")


def load(name):
    return json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))


def sealed(whole):
    whole["sha256"] = checker.seal(whole)
    return checker.canonical(whole)


def laws(claim):
    """The outcomes of a claim with tables, as pairs of their masses with the record and without it."""
    masses = [(Fraction(1), Fraction(1))]
    for group in claim["paths"][0]:
        rows = {value: Fraction(mass) for value, mass in claim["laws"][group["table"]]}
        values = {*rows, *(value + group["shift"] for value in rows)}
        one = [(rows.get(value - group["shift"], Fraction(0)), rows.get(value, Fraction(0))) for value in values]
        for _ in range(group["count"]):
            masses = [(p * a, q * b) for (p, q), (a, b) in product(masses, one)]
    return masses


def least_type_two(outcomes, alpha):
    """The least P(not S) of randomized S with Q(S) <= alpha: the outcomes by falling likelihood ratio, the last one in part."""
    missed = Fraction(1)
    for p, q in sorted(outcomes, key=lambda one: (one[1] == 0, one[0] / one[1] if one[1] else 0), reverse=True):
        share = min(Fraction(1), alpha / q) if q else Fraction(1)
        missed, alpha = missed - share * p, alpha - share * q
    return missed


def truth(claim):
    """Of one direction, or the larger of both, by definition."""
    at, outcomes = {name: Fraction(value) for name, value in claim["at"].items()}, laws(claim)
    turned = [(q, p) for p, q in outcomes]

    def of(outcomes):
        if claim["about"] == "decision":
            return sum(max(at["prior"] * p, (1 - at["prior"]) * q) for p, q in outcomes)
        if claim["about"] == "events":
            d = at["probability"]
            least = least_type_two([(q, p) for p, q in outcomes], 1 - d)
            return at["prior"] * d / (at["prior"] * d + (1 - at["prior"]) * least)
        if claim["about"] == "beta":
            return least_type_two(outcomes, at["alpha"])
        return sum(max(0, p - Fraction(math.exp(at["epsilon"])) * q) for p, q in outcomes)

    if claim["direction"] is None:
        return max(of(outcomes), of(turned))
    return of(outcomes if claim["direction"] == "with" else turned)


def exceeding(claim, posterior):
    """The largest probability of outputs whose posterior is above this one, where what it is about is true, by definition."""
    prior, outcomes = Fraction(claim["at"]["prior"]), laws(claim)
    above = lambda p, q: prior * p > posterior * (prior * p + (1 - prior) * q)
    ways = {"with": [outcomes], "without": [[(q, p) for p, q in outcomes]]}
    return max(sum(p for p, q in way if above(p, q)) for way in ways.get(claim["direction"], [*ways["with"], *ways["without"]]))


class Claims(unittest.TestCase):
    def setUp(self):
        self.checkers = [checker]
        if page.has_node():
            self.checkers.append(page.Page())
            self.addCleanup(self.checkers[-1].close)

    def assert_refused(self, whole, change, is_false=True):
        """By both checkers; false claims are left in the folder ASSAY_FORGED for the program itself."""
        data = sealed(whole)
        for one in self.checkers:
            with self.assertRaises(checker.Refused, msg=(change, type(one).__name__)):
                one.check(data)
        if is_false and (folder := os.environ.get("ASSAY_FORGED")):
            (Path(folder) / f"forged-{len(os.listdir(folder))}.json").write_bytes(data)

    def test_a_posterior_of_several_units_is_bounded_from_above_alone(self):
        """The largest delta is that of one unit at one line and of another at the next: no unit need have the function of all."""
        whole = load("events-paths")
        claim, proofs = whole["claim"], whole["proofs"]
        self.assertTrue(claim["lower"] == "0" and len(proofs["lower"]) > 1 and len(claim["paths"]) > 1)
        said = [one.check(sealed(whole)) for one in self.checkers]
        self.assertTrue(all(lines == said[0] for lines in said))
        for lower in ("1/1000000", claim["upper"]):
            changed = copy.deepcopy(whole)
            changed["claim"]["lower"] = lower
            self.assert_refused(changed, lower, is_false=False)
        # Nor do the lines about one of these units prove that the middle one is the highest.
        for hints in proofs["lower"]:
            changed = copy.deepcopy(whole)
            changed["proofs"]["lower"] = [hints]
            self.assert_refused(changed, hints["units"], is_false=False)

    def test_examples_are_proven_and_true(self):
        for name in (*TABLES, *SYMMETRIC):
            data = (EXAMPLES / f"{name}.json").read_bytes()
            said = [one.check(data) for one in self.checkers]
            self.assertTrue(all(lines == said[0] for lines in said), name)
        for name in TABLES:
            claim = load(name)["claim"]
            lower, upper, value = Fraction(claim["lower"]), Fraction(claim["upper"]), truth(claim)
            # A delta is compared in doubles, whose exponential is not exact.
            room = Fraction(1, 10**12) if claim["about"] == "delta" else 0
            self.assertTrue(lower - room <= value <= upper + room, (name, float(value)))

    def test_both_directions_differ(self):
        for kind in ("decision", "events", "power", "delta"):
            one, other = (load(f"{kind}-{direction}")["claim"] for direction in ("presence", "absence"))
            self.assertEqual(one["at"], other["at"])
            self.assertTrue(Fraction(one["upper"]) < Fraction(other["lower"]) or Fraction(other["upper"]) < Fraction(one["lower"]), kind)

    def test_another_direction_is_refused(self):
        for name in TABLES:
            whole = load(name)
            if whole["claim"]["direction"]:
                whole["claim"]["direction"] = {"with": "without", "without": "with"}[whole["claim"]["direction"]]
                self.assert_refused(whole, name)
            for wrong in ("", "both", "With", 1, True, [], ["with"], {}):
                changed = load(name)
                changed["claim"]["direction"] = wrong
                self.assert_refused(changed, (name, wrong))
            changed = load(name)
            changed["claim"]["neighbors"] = "bounded"
            if changed["claim"]["direction"]:
                self.assert_refused(changed, name)
        # The larger of both is not the smaller of both, and a posterior of both directions is about no one test.
        for kind, smaller in (("decision", min), ("delta", min)):
            both = [load(f"{kind}-{direction}") for direction in ("presence", "absence")]
            whole = smaller(both, key=lambda whole: Fraction(whole["claim"]["upper"]))
            whole["claim"]["direction"] = None
            self.assert_refused(whole, kind)
        whole = load("events-presence")
        whole["claim"]["direction"] = None
        self.assert_refused(whole, "events of both")
        for name in ("zcdp", "calibration", "orders", "marginal", "posterior"):
            whole = load(name)
            whole["claim"]["direction"] = "with"
            self.assert_refused(whole, name)

    def test_another_prior_threshold_or_probability_is_refused(self):
        for name in (*TABLES, *SYMMETRIC):
            for key, text in load(name)["claim"]["at"].items():
                for factor in (Fraction(99, 100), Fraction(101, 100), 1 + Fraction(1, 10**5), Fraction(1, 2)):
                    whole = load(name)
                    whole["claim"]["at"][key] = str(Fraction(text) * factor)
                    self.assert_refused(whole, (name, key, factor))
                for wrong in ("0", "1", "-1/2", "3/2", 0, None, "0.5", "2/4"):
                    whole = load(name)
                    whole["claim"]["at"][key] = wrong
                    if (key, wrong) not in (("epsilon", "0"), ("epsilon", "1"), ("epsilon", "3/2")):
                        self.assert_refused(whole, (name, key, wrong), wrong not in ("0.5", "2/4"))

    def test_ends_that_are_rounded_inwards_are_refused(self):
        for name in (*TABLES, *SYMMETRIC):
            claim = load(name)["claim"]
            lower, upper = Fraction(claim["lower"]), Fraction(claim["upper"])
            width = upper - lower
            for ends in ((lower + width, upper + width), (lower - width, upper - width), (lower, lower), (upper, upper), (upper, lower)):
                whole = load(name)
                whole["claim"]["lower"], whole["claim"]["upper"] = map(str, ends)
                self.assert_refused(whole, (name, ends))

    def test_outputs_exceed_a_posterior_as_rarely_as_claimed(self):
        for name in OUTPUTS:
            said = [one.check((EXAMPLES / f"{name}.json").read_bytes()) for one in self.checkers]
            self.assertTrue(all(lines == said[0] and len(lines) == 1 for lines in said), name)
        for name in OUTPUTS[:3]:
            claim = load(name)["claim"]
            self.assertLessEqual(exceeding(claim, Fraction(claim["upper"])), Fraction(claim["at"]["probability"]), name)
        # Both directions are the larger one of them, which differ.
        ends = [Fraction(load(name)["claim"]["upper"]) for name in OUTPUTS[:3]]
        self.assertTrue(ends[0] != ends[1] and ends[2] >= max(ends[:2]), ends)

    def test_forged_posteriors_of_outputs_are_refused(self):
        for name in OUTPUTS:
            claim = load(name)["claim"]
            at, upper = claim["at"], Fraction(claim["upper"])
            # A threshold, a prior and a probability: whatever is out of what delta proves is refused. Some of these claims may be true all the same.
            for key, value in (("upper", upper - Fraction(1, 10**6)), ("upper", upper / 2), ("upper", Fraction(at["prior"])), ("upper", Fraction(0)),
                               ("lower", upper), ("lower", Fraction(1, 10**9)), ("prior", Fraction(at["prior"]) * Fraction(101, 100)),
                               ("prior", Fraction(1, 2)), ("probability", Fraction(at["probability"]) * Fraction(99, 100)),
                               ("probability", Fraction(at["probability"]) / 100)):
                whole = load(name)
                (whole["claim"] if key in ("upper", "lower") else whole["claim"]["at"])[key] = str(value)
                is_false = key == "upper" and name in OUTPUTS[:3] and exceeding(whole["claim"], value) > Fraction(at["probability"])
                self.assert_refused(whole, (name, key, value), is_false)
            # An epsilon at which delta proves less, or nothing; the hints of its delta stay.
            point = Fraction(load(name)["proofs"]["points"][0])
            for points in ([point / 2], [point * 2], [point + 1], [-point], [Fraction(0)], [Fraction(1 << 14)], [], [point] * 3, None):
                whole = load(name)
                whole["proofs"]["points"] = points and [str(point) for point in points]
                self.assert_refused(whole, (name, points), False)
            whole = load(name)
            whole["proofs"]["lower"] = whole["proofs"]["upper"]
            self.assert_refused(whole, (name, "lower hints"), False)
            whole = load(name)
            whole["claim"].update(about="events")
            self.assert_refused(whole, (name, "events"), False)
        # The direction with the larger bound, called by the other's name or by both, is true; the smaller one is not proven.
        smaller, larger = sorted(OUTPUTS[:2], key=lambda name: Fraction(load(name)["claim"]["upper"]))
        for direction in (load(larger)["claim"]["direction"], None):
            whole = load(smaller)
            whole["claim"]["direction"] = direction
            self.assert_refused(whole, (smaller, direction), exceeding(whole["claim"], Fraction(whole["claim"]["upper"])) > Fraction(2, 10))

    def test_hints_about_several_units_or_none_are_refused(self):
        for name in ("events-gaussian", "power-gaussian", "power-presence"):
            whole = load(name)
            first = whole["claim"]["paths"][0]
            more = copy.deepcopy(first)
            more[0]["count"] -= 1
            whole["claim"]["paths"] = [first, more]
            self.assert_refused(whole, name, False)
            for key in ("lower", "upper"):
                whole = load(name)
                whole["proofs"][key] = []
                self.assert_refused(whole, (name, key), False)
        whole = load("decision-gaussian")
        whole["claim"]["lower"] = str(max(Fraction(whole["claim"]["at"]["prior"]), 1 - Fraction(whole["claim"]["at"]["prior"])))
        self.assert_refused(whole, "a lower end without need of hints", False)
        whole["proofs"]["lower"] = []
        for one in self.checkers:
            self.assertEqual(len(one.check(sealed(whole))), 1)


if __name__ == "__main__":
    unittest.main(verbosity=1)
