#!/usr/bin/env python3
"""Changed certificates: python3 proofs/test_tampering.py. Standard library only.

Certificates of the folder examples are changed at random, in every way that the format and the claim offer, with the hash sealed
again. What a change does to the truth is known by construction: delta increases with each count and shift and decreases with sigma2
and epsilon, so a claim of nine digits about other groups or another delta is false at one of its ends; wider ends are true; a changed
hint leaves the claim as it was.
"""

import copy
import json
import math
import os
import random
import sys
import unittest
from fractions import Fraction
from functools import reduce
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check as checker

EXAMPLES = Path(__file__).resolve().parent / "examples"


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
    if "table" in group:
        return laws(whole, draw)
    name = "sigma2" if "sigma2" in group else "epsilon"
    group[name] = another_number(group[name], draw, PART)
    return sealed(whole), True


def count(whole, draw):
    group = a_group(whole, draw)
    group["count"] = draw.choice([group["count"] - 1, group["count"] + 1, group["count"] * 10, group["count"] // 2])
    return sealed(whole), True


def shift(whole, draw):
    group = a_group(whole, draw)
    # The output 2 is as likely with a shift of 3 as with one of 1.
    group["shift"] += draw.choice([-1, 1] if whole["claim"]["about"] == "posterior" else [-1, 1, 2])
    return sealed(whole), True


def laws(whole, draw):
    """A table with a mass changed by one unit, masses exchanged, a value twice, a mass below zero or none; or another probability of an infinite loss."""
    claim, tables = whole["claim"], whole["claim"].get("laws")
    if not tables or draw.random() < 0.2:
        # A delta of at least that, and more than the ends leave open; or, where the probability is a part of delta that matters, none.
        smaller = [None, "1/1000000000"] * (bool(claim.get("infinite")) and not tables)
        claim["infinite"] = draw.choice(["1/1000", "1/10", "1/3", "1", "-1/9", "", 0, ["1/9"]] + smaller)
        return sealed(whole), True
    rows, way = draw.choice(tables), draw.randrange(9)
    at, other = draw.sample(range(len(rows)), 2)
    mass = Fraction(rows[at][1])
    if way == 0:
        rows[at][1] = str(mass + Fraction(draw.choice([-1, 1]), draw.choice([mass.denominator, 10**9, 10**200])))
    elif way == 1:
        rows[at][1], rows[other][1] = str(Fraction(rows[other][1]) - mass / 3), str(mass + mass / 3)
    elif way == 2:
        rows[at][0] = rows[other][0]
    elif way == 3:
        rows.insert(at, copy.deepcopy(rows[at]))
    elif way == 4:
        rows[at][1], rows[other][1] = f"-{mass}", str(Fraction(rows[other][1]) + 2 * mass)
    elif way == 5:
        rows[at][1], rows[other][1] = "0", str(Fraction(rows[other][1]) + mass)
    elif way == 6:
        rows.pop(at)
    elif way == 7:
        # A shift beyond the table: every loss is infinite.
        next(group for group in claim["paths"][0] if "table" in group)["shift"] = draw.choice([7, 100, 2 * 10**12, 0, -1])
    else:
        claim["laws"] = draw.choice([None, [], [[]], [rows, []], {"0": rows}, [rows] * 101, rows])
    return sealed(whole), True


def direction(whole, draw):
    """A direction: no claim is about one only. A table read backwards, which exchanges both, is the same claim."""
    claim = whole["claim"]
    if claim.get("laws") and draw.random() < 0.5:
        claim["laws"] = [[[-value, mass] for value, mass in reversed(rows)] for rows in claim["laws"]]
        return sealed(whole), False
    claim["direction"] = draw.choice(["add", "remove", "both", 1, False, []])
    return sealed(whole), True


def given(whole, draw):
    """Another delta, epsilon, alpha, prior or output, by more than the ends leave open."""
    at = whole["claim"]["at"]
    name = draw.choice(sorted(name for name in at if name not in ("decimals", "epsilon", "grid") or whole["claim"]["about"] == "delta"))
    if name == "noisy":
        # Every noisy count that is larger makes the record likelier.
        at[name] = draw.choice([[], at[name] * 2, [at[name][0] + draw.choice([-7, -1, 1, 3])]])
    else:
        at[name] = another_number(at[name], draw, PART)
    return sealed(whole), True


def target(whole, draw):
    """Of a calibration: an epsilon so low that the noise is not enough, or so high that the smaller noise is; the one by zCDP for
    another one, or the reverse; another grid, on which the factors are no neighbors."""
    at = whole["claim"]["at"]
    if whole["claim"]["about"] != "scale":
        at[draw.choice(["least", "decimals", "grid", "alpha2"])] = "1"
        return sealed(whole), True
    far, way = Fraction(draw.randrange(1, 10), draw.choice([10, 100])), draw.randrange(4)
    if way == 0:
        at["epsilon"] = "12" if at["epsilon"] == "zcdp" else str(Fraction(at["epsilon"]) + far * draw.choice([-1, 1]))
    elif way == 1:
        at["epsilon"] = draw.choice(["zCDP", "", "rho", None, ["zcdp"]] + ["zcdp"] * 2 * (at["epsilon"] != "zcdp"))
    elif way == 2:
        at["grid"] = draw.choice([other for other in ("factor", "sigma2", "sigma", None, []) if other != at["grid"]])
    else:
        at["decimals"] = draw.choice([other for other in ("0", "5", "7", "12", "13", "6/5", "1000000", 6) if other != at["decimals"]])
    return sealed(whole), True


def ends(whole, draw):
    """An end is moved inwards by more than the width, or outwards. Factors on a grid are no neighbors then."""
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
    return sealed(whole), way < 2 or claim["about"] == "scale"


def swapped(whole, draw):
    """Lower and upper end, or the hints of both, change places; or the claim is about another number."""
    claim = whole["claim"]
    way = draw.randrange(2)
    if way == 0:
        claim["lower"], claim["upper"] = claim["upper"], claim["lower"]
    else:
        claim["about"] = draw.choice([name for name in (*checker.GIVEN, "gamma") if name != claim["about"]])
    return sealed(whole), True


def points(whole, draw):
    """The three lines of a trade-off point, or three orders: moved, swapped, dropped, or there for another claim."""
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
        # Where there are more parts than one, some of them have enough room that only node 0 matters.
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
    if ranges[at] is None:
        # All outcomes of a table are kept.
        ranges[at] = draw.choice([[0, 0], [-3, 3], [], 0])
        return sealed(whole), True
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
    # Hints that name no units are about all units that no other part names: then also about those of the part that is removed.
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
        # A value that may be null or a list of other numbers is a hint.
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


# Changes of hints, which a formula has none of.
HINTED = [evaluated, kept, contour, rule, cover]
CHANGES = [noise, count, shift, laws, direction, given, target, ends, swapped, points, groups, paths, evaluated, kept, contour, rule, cover, proofs, schema, letters, number]


class Tampering(unittest.TestCase):
    def test_examples_are_proven(self):
        names = sorted(path.name for path in EXAMPLES.glob("*.json"))
        self.assertGreaterEqual(len(names), 18)
        for name in names:
            self.assertIsNone(verdict((EXAMPLES / name).read_bytes()), name)
        self.assertIsNone(verdict(sealed(load("parts.json"))))

    def tamper(self, names, times, seed):
        draw = random.Random(seed)
        originals = {name: load(name) for name in names}
        tally = {change.__name__: [0, 0, 0] for change in CHANGES}
        for turn in range(times):
            change, name = CHANGES[turn % len(CHANGES)], names[turn // len(CHANGES) % len(names)]
            if change in HINTED and not any("bits" in hints for hints in originals[name]["proofs"]["upper"]):
                continue
            data, false = change(copy.deepcopy(originals[name]), draw)
            if data == sealed(copy.deepcopy(originals[name])):
                continue
            said = verdict(data)
            self.assertTrue(said or not false, f"{name}, {change.__name__}: proven although false or out of form: {data[:3000]}")
            tally[change.__name__][0 if false else 1 if said else 2] += 1
        return tally

    def test_changed_certificates_are_refused(self):
        many = int(os.environ.get("ASSAY_TAMPER", "11500"))
        tally = {change.__name__: [0, 0, 0] for change in CHANGES}
        # The quick ones mostly.
        quick = ["ten-counts", "laplace", "tradeoff", "calibration", "two-groups", "tradeoff-atoms", "match-zcdp", "posterior", "zcdp", "continuous",
                 "orders", "marginal", "table", "table-mixed", "guarantees"]
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
        self.assertEqual(verdict(checker.canonical(whole)), "sha256 is that of the content: the file is as it was sealed")

    def test_the_statement_that_fails_is_named(self):
        whole = load("ten-counts.json")
        whole["claim"]["paths"][0][0]["count"] += 1
        self.assertRegex(verdict(sealed(whole)), r"^delta\(10\.1248.*\) <= 1e-11: what is proven is <= ")
        whole = load("ten-counts.json")
        whole["claim"]["paths"][0][0]["sigma2"] = "51/10"
        self.assertRegex(verdict(sealed(whole)), r"^delta\(10\.1248.*\) >= 1e-11: what is proven is >= ")
        whole = load("ten-counts.json")
        whole["proofs"]["upper"][0]["evaluated"] = [[0, 3]]
        self.assertEqual(verdict(sealed(whole)), "the upper end: node 4 is evaluated, or its factors are small")
        whole = load("ten-counts.json")
        whole["proofs"]["lower"][0]["evaluated"] = [[0, 3]]
        self.assertEqual(verdict(sealed(whole)), "the lower end: node 4 is evaluated, or its factors are small")
        whole = load("orders.json")
        whole["claim"]["lower"] = whole["claim"]["upper"]
        self.assertRegex(verdict(sealed(whole)), "^the lower end: no order gives less than ")
        whole = load("match-zcdp.json")
        whole["claim"]["upper"] = str(2 * Fraction(whole["claim"]["upper"]) - Fraction(whole["claim"]["lower"]))
        self.assertEqual(verdict(sealed(whole)), "the two factors are neighbors on the grid, above 0")
        whole = load("table.json")
        whole["claim"]["laws"][0][0][1] = "2/1000"
        self.assertEqual(verdict(sealed(whole)), "a mass is reduced")
        whole["claim"]["laws"][0][0][1] = "3/1000"
        self.assertEqual(verdict(sealed(whole)), "the masses of a table add up to 1")
        whole = load("table.json")
        whole["claim"]["paths"][0][0]["shift"] = 7
        self.assertEqual(verdict(sealed(whole)), "the upper end: two neighbors have an output in common")

    def test_a_missing_interval_is_found_and_named(self):
        """The first, the middle and the last node of each range that is evaluated are left out in turn."""
        named = 0
        for name in ("ten-counts", "whole-release", "two-paths", "line"):
            for at, (first, last) in enumerate(load(f"{name}.json")["proofs"]["upper"][0]["evaluated"]):
                for node in {first, (first + last) // 2, last} - {0}:
                    whole = load(f"{name}.json")
                    rest = [[first, node - 1], [node + 1, last]]
                    whole["proofs"]["upper"][0]["evaluated"][at:at + 1] = [pair for pair in rest if pair[0] <= pair[1]]
                    self.assertEqual(verdict(sealed(whole)), f"the upper end: node {node} is evaluated, or its factors are small", name)
                    named += 1
        self.assertGreater(named, 10)

    def test_all_nodes_that_are_left_out_are_small(self):
        """What the sieve and the cut of a certificate say of every node that is not evaluated, by the sums of (A) at each of them."""
        for name in ("ten-counts", "calibration", "tradeoff", "whole-release"):
            whole, p, looked_at = load(f"{name}.json"), 300, 0
            hints = whole["proofs"]["upper"][0]
            scale = Fraction(whole["claim"]["upper"] if whole["claim"]["about"] == "scale" else 1)
            path = checker.Family(whole["claim"], scale).paths[0]
            period = hints["nodes"] * reduce(checker.common, (group.weight for group in path))
            evaluated = {node for first, last in hints["evaluated"] for node in range(first, last + 1)}
            c, norms = Fraction(hints["contour"]), [checker.factor(group, Fraction(0), 0, 1, p)[0] for group in path]
            for node in random.Random(6).sample(range(1, hints["last"] + 1), min(hints["last"], 400)):
                ln_size = 0.0
                for group, norm in zip(path, norms):
                    turns = group.weight / period
                    x, y, error = checker.factor(group, c, node * turns.numerator, turns.denominator, p)
                    ln_size += group.count * (math.log(x * x + y * y + error * error) / 2 - math.log(norm))
                self.assertTrue(node in evaluated or ln_size <= math.log(node) - hints["cut"] + 1e-6, (name, node))
                looked_at += 1
            self.assertGreater(looked_at, 20)


if __name__ == "__main__":
    unittest.main(verbosity=1)
