#!/usr/bin/env python3
"""A forger of certificates: python3 proofs/forge.py [--count N] [--seed N] [--page]. Standard library only; with --page also node.

It makes false claims of every kind and searches for hints by which check.py, or check.html with --page, would prove them: extreme values of every field, and hill climbing on
how far the claim is from being proven. Every forgery is sealed, as a certificate is. What is false is known without the checker: the truth is in
the enclosure of a certificate of the folder examples, and a claim beside that enclosure is false; of wild compositions, no delta is above 1, no
type II error above 1 minus alpha, no posterior above 1 on average, and none below the prior.
"""

import argparse
import copy
import importlib.util
import json
import math
import random
import sys
import time
from fractions import Fraction
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
FAR = [Fraction(1, 10**9), Fraction(1, 10**6), Fraction(1, 100), Fraction(1), Fraction(1000)]
# No forgery may take longer than this, in microseconds as the checker predicts it: many quick ones find more than few slow ones.
MOST_WORK = 60_000


def load(changes=()):
    """check.py as a module of its own, with pieces of its text replaced: faults that the forger has to find."""
    text = (FOLDER / "check.py").read_text(encoding="utf-8")
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"check.py does not contain this once: {old}")
        text = text.replace(old, new)
    spec = importlib.util.spec_from_loader("planted", loader=None)
    module = importlib.util.module_from_spec(spec)
    exec(compile(text, "check.py", "exec"), module.__dict__)
    module.MOST_WORK = MOST_WORK
    return module


def load_page(folder, changes=(), start=True):
    """The checker of check.html in node. With pieces of its text replaced it is planted.html of this folder."""
    path, text = FOLDER / "check.html", (FOLDER / "check.html").read_text(encoding="utf-8")
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"check.html does not contain this once: {old}")
        text = text.replace(old, new)
    if changes:
        path = Path(folder) / "planted.html"
        path.write_text(text, encoding="utf-8")
    if not start:
        return None
    from page import Page

    return Page(path, MOST_WORK)


# Faults of a checker, each a few characters, and the examples to begin with: what the forger has to find if it is good for anything.
PLANTED = {
    "exp(x) - 1 from the lower end of exp alone, on any contour": (["ten-counts", "two-groups"], [
        ("max(x, exp_ends(x, 64)[0] - 1)", "exp_ends(x, 64)[0] - 1"),
        ("need(Fraction(1, 10**30) <= self.c <= 10**30", "need(0 < self.c"),
    ]),
    "no alias is subtracted": (["ten-counts"], [
        ("- left_out - self.alias(epsilon, rho), max", "- left_out, max"),
    ]),
    "nodes left out weigh nothing": (["ten-counts"], [
        ("left_out = scales[1] * (around", "left_out = 0 * (around"),
    ]),
    "nodes left out are not looked at": (["ten-counts"], [
        ("if total < self.cut and not self.contour.evaluates(node)", "if False and not self.contour.evaluates(node)"),
    ]),
    "nodes beyond the last one weigh nothing": (["ten-counts"], [
        ("self.tail = max(self.tail, far * self.period / 19 + self.step)", "self.tail = Fraction(0)"),
    ]),
    "outcomes that are not kept weigh nothing": (["laplace", "tradeoff-atoms"], [
        ("whole - every, whole -", "0, whole -"),
    ]),
    "the middle one of three points need not be the highest": (["tradeoff-atoms", "orders"], [
        ("y2 < z1 and max(upper_x, upper_z) <= lower", "y2 < z1"),
    ]),
    "outputs that are not kept have no posterior": (["marginal"], [
        ("total + up * (left << 128)", "total"),
    ]),
    "an upper end is about the units that have hints": (["two-paths"], [
        ('name == "lower" or not left', "True"),
    ]),
    "a table has one direction": (["table"], [
        ("for side in [side] if side and self.ways == 2 else (1, -1)[:self.ways]:", "for side in (1,):"),
    ]),
    "infinite losses weigh nothing": (["guarantees"], [
        ("self.infinite + (1 - self.infinite) * end", "end"),
    ]),
    "the two factors are anywhere on the grid": (["calibration", "match-zcdp"], [
        ("numbers[1] - numbers[0] == 1 == numbers[0].denominator", "numbers[1] > numbers[0]"),
    ]),
}
# The same faults in check.html.
PLANTED_IN_PAGE = {
    "exp(x) - 1 from the lower end of exp alone, on any contour": (["ten-counts", "two-groups"], [
        ("greatest(x, expEnds(x, 64)[0].minus(ONE))", "expEnds(x, 64)[0].minus(ONE)"),
        ("need(new Fraction(1n, 10n ** 30n).atMost(this.c) &&", "need(this.c.above > 0n &&"),
    ]),
    "no alias is subtracted": (["ten-counts"], [
        (".minus(leftOut).minus(this.aliases(epsilon, rho))", ".minus(leftOut)"),
    ]),
    "nodes left out weigh nothing": (["ten-counts"], [
        ("const leftOut = scales[1]", "const leftOut = ZERO"),
    ]),
    "nodes left out are not looked at": (["ten-counts"], [
        ("if (total < cut && !this.contour.evaluates(node))", "if (false)"),
    ]),
    "nodes beyond the last one weigh nothing": (["ten-counts"], [
        ("this.tail = greatest(this.tail, far", "greatest(this.tail, far"),
    ]),
    "outcomes that are not kept weigh nothing": (["laplace", "tradeoff-atoms"], [
        ("mass + whole - total(first)", "mass"),
        ("opposite + whole - total(second) - alone(second)", "opposite"),
    ]),
    "the middle one of three points need not be the highest": (["tradeoff-atoms", "orders"], [
        ("y2.isBelow(z1) && highX.atMost(low) && highZ.atMost(low)", "y2.isBelow(z1)"),
    ]),
    "outputs that are not kept have no posterior": (["marginal"], [
        ("total + (up ? left << 128n : 0n)", "total"),
    ]),
    "an upper end is about the units that have hints": (["two-paths"], [
        ('(name === "lower" || left.size === 0)', "true"),
    ]),
    "a table has one direction": (["table"], [
        ("if (!this.tabled || side === 1) return removed();", "return removed();"),
    ]),
    "infinite losses weigh nothing": (["guarantees"], [
        ("least(ONE, this.infinite.plus(ONE.minus(this.infinite).times(end))).reduced()", "end.reduced()"),
    ]),
    "the two factors are anywhere on the grid": (["calibration", "match-zcdp"], [
        ("numbers[1].minus(numbers[0]).compare(ONE) === 0 && numbers[0].below === 1n", "numbers[0].isBelow(numbers[1])"),
    ]),
}


# ------------------------------------------------------------------------------------------------------------------------------ false claims
def text(value):
    """A fraction as the format has it; None if it is too long."""
    value = Fraction(value)
    return str(value) if value >= 0 and len(str(value)) < 700 else None


def false_claims(whole):
    """Of a certificate that is proven: each end moved beyond the other one, by a little or by much; the other end is left trivial."""
    claim, about = whole["claim"], whole["claim"]["about"]
    lower, upper = Fraction(claim["lower"]), Fraction(claim["upper"])
    for far in FAR:
        for end in ("upper", "lower"):
            forged = copy.deepcopy(whole)
            if about == "scale":
                # Neighbors on the grid, further down or up.
                moved = (upper - lower) * max(1, int(far * 1000)) * (-1 if end == "upper" else 1)
                low, high = lower + moved, upper + moved
            elif end == "upper":
                low, high = 0, lower / (1 + far)
                forged["proofs"]["lower"] = []
            else:
                low = upper * (1 + far)
                high = low if about == "epsilon" else 10**6
                # A claim without a lower end has no hints for one: those of the upper end are as good a start.
                if about in ("epsilon", "delta", "beta"):
                    forged["proofs"]["lower"] = forged["proofs"]["lower"] or copy.deepcopy(forged["proofs"]["upper"])
            if low < 0 or max(low, high) > 10**6 or text(low) is None or text(high) is None:
                continue
            forged["claim"].update(lower=text(low), upper=text(high))
            yield f"{about} {end}", forged
    if about == "scale":
        # Both ends are true, but they are no neighbors on the grid.
        for far in FAR:
            forged = copy.deepcopy(whole)
            forged["claim"].update(lower=text(max(lower - (upper - lower) * int(far * 1000 + 1), lower / 2)), upper=text(upper + (upper - lower) * int(far * 1000)))
            yield "scale grid", forged
    if about == "epsilon":
        # delta decreases: at the upper end of epsilon it is at most the given one, at the lower end at least that.
        delta = Fraction(claim["at"]["delta"])
        for far in FAR:
            for end, epsilon, low, high in (("upper", claim["lower"], 0, delta / (1 + far)), ("lower", claim["upper"], delta * (1 + far), 10**6)):
                forged = copy.deepcopy(whole)
                forged["claim"].update(about="delta", at={"epsilon": epsilon}, lower=text(low), upper=text(high))
                if end == "upper":
                    forged["proofs"]["lower"] = []
                elif forged["proofs"]["lower"]:
                    forged["proofs"]["upper"], forged["proofs"]["lower"] = forged["proofs"]["upper"], forged["proofs"]["lower"]
                yield f"delta {end}", forged


def wild(draw):
    """A claim that is false of any composition, with hints to begin with."""
    law = draw.choice(["discrete-gaussian", "discrete-gaussian", "gaussian", "discrete-laplace"])
    digits = lambda: Fraction(draw.randrange(1, 10**draw.randrange(2, 30)), 10**draw.randrange(1, 25))
    extreme = [Fraction(1, 20) + Fraction(1, 10**30), Fraction(1, 10**4), Fraction(10**18), Fraction(1, 3), Fraction(7, 2) + Fraction(1, 10**30)]
    groups = []
    for _ in range(draw.randrange(1, 4)):
        parameter = draw.choice([Fraction(5), Fraction(draw.randrange(1, 400), draw.randrange(1, 40)), draw.choice(extreme), digits()])
        count, shift = draw.choice([1, 1, 2, 3, 10, 10, 10**12]), draw.choice([1, 1, 1, 2, 7, 1000])
        if law == "discrete-gaussian" and draw.random() < 0.8:
            # A privacy loss that is small enough to be computed.
            parameter = max(parameter, Fraction(1, 20) + Fraction(1, 10**9), Fraction(count * shift * shift, 40))
        groups.append({"count": count, "law": law, "shift": shift, "epsilon" if law == "discrete-laplace" else "sigma2": str(parameter)})
    laws = ["discrete-gaussian", "gaussian", "discrete-laplace"]
    order = lambda group: (laws.index(group["law"]), Fraction(group.get("sigma2", group.get("epsilon"))), group["shift"])
    groups = sorted({order(group): group for group in groups}.values(), key=order)
    far = draw.choice(FAR)
    about, at, low, high = draw.choice([
        ("delta", {"epsilon": draw.choice(["0", "1", "1/1000000", "50"])}, 1 + far, 10**6),
        ("beta", {"alpha": "1/4"}, Fraction(3, 4) + far, 10**6),
        ("beta", {"alpha": "1/4"}, 0, 0),
        ("epsilon", {"delta": "1/" + "1" + "0" * 300}, 0, 0),
        # Where odds fall below 2 / 9 of those of the prior, less than 2 / 9 of the other law is left, so that most of this one exceeds them.
        ("outputs", {"prior": "1/3", "probability": "1/4"}, 0, Fraction(1, 10) / (1 + far)),
        ("marginal", {"prior": "1/3"}, 1 + far, 10**6),
        ("marginal", {"prior": "1/3"}, 0, Fraction(1, 3) / (1 + far)),
    ])
    pairs = draw.random() < 0.2
    tables, finite = [], law in ("discrete-gaussian", "discrete-laplace") and about in ("delta", "epsilon") and draw.random() < 0.3
    if finite:
        # A table beside the noise, and what only one of two neighbors can have.
        values = sorted(draw.sample(range(-9, 10), draw.randrange(2, 6)))
        weights = [draw.choice([1, 1, 2, 7, 10**9, 10**60]) for _ in values]
        tables, pairs = [[[value, str(Fraction(weight, sum(weights)))] for value, weight in zip(values, weights)]], False
        groups = draw.choice([[], groups]) + [{"count": draw.choice([1, 2, 5, 20]), "law": "table", "shift": draw.choice([1, 1, 2, 5]), "table": 0}]
    kinds = len(groups) * (2 if pairs else 1)
    contour = {"bits": 64, "contour": "1", "cut": 30, "evaluated": [[0, 1]], "last": 1, "nodes": 3, "sieve": [[]], "units": None}
    atoms = {"bits": 64, "kept": [[-20, 20]] * kinds, "units": None}
    fitting = {"discrete-gaussian": [contour, contour, atoms], "gaussian": [{"units": None}], "discrete-laplace": [atoms]}[law]
    if finite:
        atoms["kept"][-1], fitting = None, [atoms]
    hints = draw.choice(fitting) if about != "marginal" else atoms
    both = {"lower": [copy.deepcopy(hints)] if low and about != "marginal" or about == "beta" else [], "upper": [copy.deepcopy(hints)],
            "points": {"beta": ["1", "2", "3"], "outputs": ["1"]}.get(about)}
    claim = {"about": about, "at": at, "lower": text(low), "neighbors": "add-remove", "pairs": pairs, "paths": [groups], "subject": "forged", "upper": text(high)}
    if not finite:
        return f"{about} wild", {"certificate": "assay 3", "claim": claim, "proofs": both, "sha256": ""}
    claim.update(direction=None, infinite=draw.choice([None, "1/2", "1/1" + "0" * 99, f"{10**60 - 1}/{10**60}"]), laws=tables)
    source = {"commit": None, "program": "assay", "release_sha256": None, "version": "0"}
    return f"{about} wild, tables", {"certificate": "assay 4", "claim": claim, "proofs": both, "sha256": "", "source": source}


# --------------------------------------------------------------------------------------------------------------------------- searched hints
def number(draw, old):
    """Another fraction above 0: an extreme one, or one nearby."""
    if draw.random() < 0.4:
        return Fraction(10) ** draw.choice([-60, -40, -31, -30, -29, -25, -20, -12, -6, -3, -1, 0, 1, 2, 4, 10, 30, 40])
    factor = 1 + Fraction(draw.choice([1, 9, 99, 999, 10**6]), draw.choice([1, 10, 1000, 10**6]))
    value = old * factor if draw.random() < 0.5 else old / factor
    return value if len(str(value)) < 300 else Fraction(round(value * 1024) + 1, 1024)


def whole_number(draw, old, extremes):
    way = draw.random()
    if way < 0.4:
        return draw.choice(extremes)
    if way < 0.7:
        return old + draw.choice([-2, -1, 1, 2, 10, -10])
    return old * draw.choice([2, 3, 10]) if way < 0.85 else old // draw.choice([2, 3, 10])


def contour(draw, hints, groups):
    if draw.random() < 0.1:
        # The smallest rule, on an extreme contour: few fields have to be right together for it.
        nodes, tiny = draw.choice([3, 3, 5, 31]), Fraction(10) ** draw.choice([-60, -40, -30, -30, -29, -28, -20, -3, 0, 30])
        hints.update(nodes=nodes, last=nodes // 2, evaluated=[[0, nodes // 2]], sieve=[[] for _ in hints["sieve"]], bits=draw.choice([64, 256, 512]), contour=str(tiny))
        return
    field = draw.choice(["contour", "contour", "nodes", "last", "cut", "evaluated", "evaluated", "sieve", "bits"])
    if field == "contour":
        hints[field] = str(number(draw, Fraction(hints[field])))
    elif field == "nodes":
        hints[field] = abs(whole_number(draw, hints[field], [3, 5, 7, 31, 101, 1001, 10**6 + 1, 10**20 + 1, 10**60 - 1])) // 2 * 2 + 1
        hints["last"] = draw.choice([hints["last"], hints[field] // 2, 1])
    elif field == "last":
        hints[field] = whole_number(draw, hints[field], [1, 2, hints["nodes"] // 2, hints["nodes"] // 2 - 1])
    elif field == "cut":
        hints[field] = whole_number(draw, hints[field], [1, 2, 20, 60, 400, 10**4, 10**4 + 1, 10**6])
    elif field == "bits":
        hints[field] = whole_number(draw, hints[field], [32, 33, 40, 64, 80, 96, 128, 256, 512])
    elif field == "evaluated":
        last = hints["last"]
        hints[field] = draw.choice([[[0, 0]], [[0, 1]], [[0, min(last, 60)]], [[0, 0], [last, last]], hints[field][:-1] or [[0, 0]], [[0, min(last, hints[field][-1][1] + 1)]]])
    else:
        hints[field] = [[draw.randrange(groups) for _ in range(draw.randrange(4))] for _ in hints[field]]
    hints["last"] = max(1, hints["last"]) if isinstance(hints["last"], int) else 1


def atoms(draw, hints):
    if draw.random() < 0.3:
        hints["bits"] = whole_number(draw, hints["bits"], [32, 33, 36, 40, 48, 64, 100, 160, 256])
        return
    at = draw.randrange(len(hints["kept"]))
    first, last = hints["kept"][at] or [-1, 0]  # null of a table
    hints["kept"][at] = draw.choice([[0, 0], [first, first], [last, last], [-10**6, -10**6], [10**6, 10**6], [first + 1, last], [first, last - 1], [first - 1, last],
                                     [first, last + 1], [first // 2, last], [first, last // 2], [first * 2, last], [first, last * 2], [last, first], [0, last], [first, 0],
                                     *[None] * 9 * (hints["kept"][at] is None)])


def mutate(draw, whole):
    """Other hints for the same claim."""
    claim, proofs = whole["claim"], whole["proofs"]
    groups = max(len(path) for path in claim["paths"])
    places = [hints for end in ("lower", "upper") for hints in proofs[end] if isinstance(hints, dict)]
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        if proofs["points"] and draw.random() < 0.2:
            # All three moved, or drawn from a few numbers.
            far = Fraction(draw.choice([-1, 1]) * draw.choice([1, 3, 10, 100]), draw.choice([1, 10, 1000]))
            moved = [Fraction(point) + far for point in proofs["points"]]
            proofs["points"] = [str(point) for point in draw.choice([moved, moved, sorted(draw.sample(range(-9, 10), len(moved))), draw.sample(range(-3, 4), len(moved))])]
        elif proofs["points"] and (not places or draw.random() < 0.5):
            at = draw.randrange(len(proofs["points"]))
            old = Fraction(proofs["points"][at])
            far = Fraction(draw.choice([1, 3, 10**6]), 10**draw.choice([0, 1, 3, 6, 12, 30, 100])) * draw.choice([-1, 1])
            proofs["points"][at] = str(draw.choice([old + far, old + far, old + far, -old, Fraction(0), far, old * 2, old / 2, Fraction(draw.choice(proofs["points"]))]))
        elif not places:
            # A formula has no hints: some that it does not expect.
            proofs[draw.choice(["lower", "upper"])] = draw.choice([[], [{"units": None}], [{"bits": 64, "kept": [[0, 0]], "units": None}]])
        else:
            hints, way = draw.choice(places), draw.random()
            if way < 0.03:
                number = len(claim["paths"])
                some = [[p, q] for p in range(number) for q in range(p, number)] if claim["pairs"] else [[p] for p in range(number)]
                hints["units"] = draw.choice([None, some, draw.sample(some, draw.randrange(1, len(some) + 1))])
                if "sieve" in hints:
                    hints["sieve"] = [[] for _ in range(1 if hints["units"] and len(hints["units"]) == 1 else number)]
            elif way < 0.05:
                end = draw.choice(["lower", "upper"])
                proofs[end] = draw.choice([copy.deepcopy(proofs["upper"]), copy.deepcopy(proofs["lower"]), proofs[end] + [copy.deepcopy(hints)]])
            elif "contour" in hints:
                contour(draw, hints, groups)
            elif "kept" in hints:
                atoms(draw, hints)


# ------------------------------------------------------------------------------------------------------------------------------- the verdict
def gap(bound, sign, end):
    """How far a statement is from being proven, as a logarithm; 0 if it is."""
    if {"<=": bound <= end, ">": bound > end, ">=": bound >= end}[sign]:
        return 0.0
    log = lambda x: math.log(x.numerator) - math.log(x.denominator)
    far = abs(bound - end)
    # Without a sign the ratio says nothing: how far it is below 0 does.
    return max(1e-300, abs(log(bound) - log(end))) if bound > 0 and end > 0 else 1000 + max(0.0, 500 + log(far)) if far else 1e-300


STRUCTURE = 1e6


def verdict(checker, whole):
    """How far a forgery is from being proven, and the statement that it fails by; 0 only if check itself says that all is proven."""
    whole["sha256"] = checker.seal(whole)
    data, total, said = checker.canonical(whole), 0.0, ""
    try:
        read = checker.read(data)
        for words, bound, sign, end, _ in checker.statements(read["certificate"], read["claim"], read["proofs"], checker.Work()):
            total += gap(bound, sign, end)
            said = f"{words} {sign}"
    except checker.Refused as statement:
        return STRUCTURE, str(statement)
    if total == 0:
        checker.check(data)
    return total, said


class Forger:
    """False claims, one after the other, each attacked by a climb of some hundred forgeries."""

    def __init__(self, checker, seed, bases=None, wild=0.4):
        self.checker, self.draw = checker, random.Random(seed)
        examples = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((FOLDER / "examples").glob("*.json")) if bases is None or path.stem in bases]
        self.claims = [forged for whole in examples for forged in false_claims(whole)]
        self.tally, self.at, self.forged, self.found, self.wild = {}, 0, 0, [], wild
        self.draw.shuffle(self.claims)

    def next_claim(self):
        if not self.claims or self.draw.random() < self.wild:
            return wild(self.draw)
        self.at += 1
        return self.claims[self.at % len(self.claims)]

    def climb(self, tries):
        """Hints for one claim that come closer and closer to proving it. A forgery that is proven, or ends in anything but a refusal, is kept."""
        kind, start = self.next_claim()
        best, closest = copy.deepcopy(start), None
        row = self.tally.setdefault(kind, [0, 0, math.inf])
        for turn in range(tries):
            whole = copy.deepcopy(best if self.draw.random() < 0.85 else start)
            if turn:
                mutate(self.draw, whole)
            try:
                far, said = verdict(self.checker, whole)
            except Exception as error:  # a fault of the checker: it refuses, or it proves
                far, said = 0.0, f"{type(error).__name__}: {error}"
            self.forged += 1
            row[0] += 1
            if far < STRUCTURE:
                row[1] += 1
                row[2] = min(row[2], far)
            if far == 0:
                self.found.append((kind, said, whole))
                return
            if closest is None or far <= closest:
                best, closest = whole, far

    def run(self, count, tries=150, until_found=False, report=None):
        began = said = time.monotonic()
        while self.forged < count and not (until_found and self.found):
            self.climb(min(tries, count - self.forged))
            if report and time.monotonic() - said > 30:
                said = time.monotonic()
                report(f"{self.forged} forgeries in {said - began:.0f} s, {len(self.found)} found")
        return self


def main():
    parser = argparse.ArgumentParser(description="Forges certificates, and sees them refused. Exit status 1 if one is proven.")
    parser.add_argument("--count", type=int, default=100_000, help="forgeries [default: 100000]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", action="store_true", help="by check.html in node, in place of check.py")
    options = parser.parse_args()
    checker = load_page(None) if options.page else load()
    forger = Forger(checker, options.seed).run(options.count, report=lambda line: print(line, file=sys.stderr, flush=True))
    print(f"{forger.forged} forged certificates, sealed; {len(forger.found)} proven or not refused in good order\n")
    print("| false claim | forgeries | with bounds for every statement | closest: distance of the logarithms |\n| --- | ---: | ---: | ---: |")
    for kind, (forged, bounded, closest) in sorted(forger.tally.items()):
        print(f"| {kind} | {forged:,} | {bounded:,} | {closest:.1e} |")
    for kind, said, whole in forger.found:
        print(f"\n{kind}: {said}\n{json.dumps(whole, sort_keys=True)}")
    return 1 if forger.found else 0


if __name__ == "__main__":
    sys.exit(main())
