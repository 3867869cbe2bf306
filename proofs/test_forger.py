#!/usr/bin/env python3
"""Forged certificates: python3 proofs/test_forger.py. Standard library only.

A thousand forgeries of small certificates, none of which is proven; faults that are planted into the checker, which the same forger finds; and
certificates that would take very long, which are refused at once. scripts/tests/forge makes many more forgeries.
"""

import json
import os
import sys
import time
import unittest
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check as checker
import forge

SMALL = ["ten-counts", "laplace", "marginal", "orders", "posterior", "zcdp", "calibration", "two-groups", "tradeoff-atoms", "continuous", "table", "table-mixed", "guarantees"]


class Forgeries(unittest.TestCase):
    def test_none_is_proven(self):
        many = int(os.environ.get("ASSAY_FORGE", "1200"))
        forger = forge.Forger(forge.load(), 1, SMALL).run(many, tries=40)
        self.assertEqual([(kind, said, json.dumps(whole)) for kind, said, whole in forger.found], [])
        bounded = sum(row[1] for row in forger.tally.values())
        # Most of them get as far as a bound that is held against the claim: the search does not only break the form.
        self.assertGreater(bounded, many // 5)
        print(f"\n{forger.forged} forged certificates, sealed; {bounded} with bounds for every statement; none proven")

    def test_the_minimal_forgery_of_the_contour_is_refused(self):
        """Three nodes on a contour of 10^-60, where exp(period c) - 1 was taken for negative: once this proved an epsilon of 50 for one of 10.1."""
        whole = json.loads((forge.FOLDER / "examples" / "ten-counts.json").read_text(encoding="utf-8"))
        hints = {"bits": 512, "cut": 1, "evaluated": [[0, 1]], "last": 1, "nodes": 3, "sieve": [[]], "units": None}
        whole["claim"].update(lower="50", upper="60")
        for power in (60, 30, 29, 20, 12, 3):
            whole["proofs"]["lower"] = [dict(hints, contour=f"1/{10**power}")]
            far, said = forge.verdict(checker, whole)
            self.assertGreater(far, 0, said)

    def test_planted_faults_are_found(self):
        for name, (bases, changes) in forge.PLANTED.items():
            forger = forge.Forger(forge.load(changes), 3, bases, wild=0.1).run(6000, tries=60, until_found=True)
            self.assertTrue(forger.found, f"not found in {forger.forged} forgeries: {name}")
            print(f"  found after {forger.forged:5} forgeries: {name}")


class Work(unittest.TestCase):
    """What would take very long is refused before it begins, within five seconds of the processor's time."""

    def refused_quickly(self, whole, part=""):
        whole["sha256"] = checker.seal(whole)
        data, began = checker.canonical(whole), time.process_time()
        with self.assertRaises(checker.Refused, msg=part or data[:500]) as refusal:
            checker.check(data)
        self.assertLess(time.process_time() - began, 5, json.dumps(whole)[:500])
        self.assertIn(part, str(refusal.exception))

    def claim(self, groups, hints, about="delta", at=None, lower="0", paths=None, upper="1000000"):
        claim = {"about": about, "at": at or {"epsilon": "1"}, "lower": lower, "neighbors": "add-remove", "pairs": False, "paths": paths or [groups], "subject": "", "upper": upper}
        return {"certificate": "assay 3", "claim": claim, "proofs": {"lower": [], "points": None, "upper": hints}}

    def test_each_law_has_a_limit(self):
        gaussian = lambda **more: {"count": 10, "law": "discrete-gaussian", "shift": 1, "sigma2": "5", **more}
        laplace = lambda **more: {"count": 10, "epsilon": "1/3", "law": "discrete-laplace", "shift": 1, **more}
        contour = lambda **more: {"bits": 64, "contour": "1", "cut": 30, "evaluated": [[0, 1]], "last": 1, "nodes": 3, "sieve": [[]], "units": None, **more}
        atoms = lambda **more: {"bits": 64, "kept": [[-20, 20]], "units": None, **more}
        fine = 10**12 + 39
        for whole in (
            self.claim([laplace(count=10**12)], [atoms()]),
            self.claim([laplace(count=1000, shift=1000)], [atoms(bits=4096)]),
            self.claim([gaussian(count=10**12)], [atoms()]),
            self.claim([gaussian(sigma2="100000000000000")], [atoms()]),
            self.claim([gaussian(sigma2="1000000", count=500)], [atoms(bits=4096, kept=[[-10**6, 10**6]])]),
            self.claim([gaussian()], [atoms(kept=[[-10**6, 10**6]], bits=4096)]),
            self.claim([gaussian()], [contour(evaluated=[[0, 29999]], nodes=10**5 + 1, last=30000, bits=4096)]),
            self.claim([gaussian()], [contour(nodes=10**60 - 1, last=10**59)]),
            self.claim([gaussian()], [contour(nodes=10**60 - 1, last=10**59, sieve=[[0]])]),
            self.claim([gaussian(), gaussian(sigma2=f"{5 * fine}/{fine - 1}")][::1], [contour(nodes=10**12 + 1, last=10**11, sieve=[[0, 1]])]),
            self.claim([gaussian(sigma2=f"1{k}/3") for k in range(10, 90)], [contour(bits=4096, evaluated=[[0, 9999]], nodes=10**5 + 1, last=10**4)]),
            self.claim([gaussian()], [contour(contour="1/" + "1" + "0" * 300)]),
            self.claim([gaussian()], [contour(contour="1" + "0" * 300)]),
            self.claim([gaussian(sigma2=f"{10**390 + 2 * k + 1}/{10**389}") for k in range(40)], [contour()]),
            self.claim(None, [dict(contour(), units=[[k]]) for k in range(300)], paths=[[gaussian(count=k + 1)] for k in range(300)], upper="1/2"),
        ):
            self.refused_quickly(whole)

    def test_numbers_of_one_hash_cost_no_more(self):
        """Python's hash of an integer or a fraction is its remainder by 2^61 - 1: an author can choose numbers that all have the same."""
        prime = 2**61 - 1
        laplace = [{"count": 1, "epsilon": text, "law": "discrete-laplace", "shift": 1} for text in ("1/10000", str(Fraction(prime, 10000)))]
        whole = self.claim(laplace, [{"bits": 64, "kept": [[-1, 0], [-200000, 200000]], "units": None}])
        whole["sha256"] = checker.seal(whole)
        began = time.process_time()
        self.assertEqual(checker.check(checker.canonical(whole)), ["delta(1) <= 1000000"])
        self.assertLess(time.process_time() - began, 5)
        counts = lambda sigma2, many: [[{"count": k + 1, "law": "discrete-gaussian", "shift": 1, "sigma2": sigma2}] for k in range(many)]
        contour = {"bits": 64, "contour": "1", "cut": 30, "evaluated": [[0, 1]], "last": 1, "nodes": 3, "sieve": [[]] * 450, "units": None}
        whole = self.claim(None, [contour], paths=counts(str(Fraction(10**18, 2 * prime)), 450))
        whole["claim"]["pairs"] = True
        self.refused_quickly(whole, "more is predicted")

    def test_exponents_far_out_cost_no_more(self):
        """Aliases of a contour at exponents of ten thousand: one such exponential takes a tenth of a second."""
        gaussian = [{"count": 10**9, "law": "discrete-gaussian", "shift": 1, "sigma2": "5000000"}]
        whole = self.claim(gaussian, [{"bits": 64, "contour": "9", "cut": 1, "evaluated": [[0, 1]], "last": 1, "nodes": 3, "sieve": [[]], "units": None}],
                           "beta", {"alpha": "1/4"})
        whole["proofs"].update(lower=whole["proofs"]["upper"], points=["1", "2", "3"])
        self.refused_quickly(whole)

    def test_points_and_formulas_have_limits(self):
        gaussian = {"count": 10, "law": "gaussian", "shift": 1, "sigma2": "5"}
        huge = str(10**700 + 1)
        for about, at, points in (("orders", {"delta": "1/10"}, ["1", "2", huge]), ("beta", {"alpha": "1/10"}, ["1", "2", huge]), ("beta", {"alpha": "1/10"}, ["-" + huge, "0", "1"])):
            whole = self.claim([gaussian], [{"units": None}], about, at)
            whole["proofs"].update(points=points, lower=[{"units": None}])
            if about == "orders":
                whole["proofs"].update(lower=[], upper=[])
                whole["claim"]["lower"] = "1000"
            self.refused_quickly(whole)
        # Tails of continuous noise beyond a hundred standard deviations.
        self.refused_quickly(self.claim([dict(gaussian, sigma2="10000000")], [{"units": None}], at={"epsilon": "1000"}), "100 standard deviations")

    def test_tables_have_limits(self):
        def tabled(rows, count=1, shift=1, many=1, **more):
            groups = [{"count": count, "law": "table", "shift": shift + k, "table": 0} for k in range(many)]
            whole = self.claim(groups, [{"bits": 64, "kept": [None] * many, "units": None}])
            whole.update(certificate="assay 4", source={"commit": None, "program": "assay", "release_sha256": None, "version": "0"})
            whole["claim"].update(direction=None, infinite=None, laws=[rows], **more)
            return whole

        even = lambda n: [[k, f"{2 * k + 1}/{n * n}" if (2 * k + 1) % n else str(Fraction(2 * k + 1, n * n))] for k in range(n)]
        rows = lambda n: [[value, str(Fraction(mass))] for value, mass in even(n)]
        for whole, part in (
            (tabled(rows(101), count=9), "atoms of 600 bits"),
            (tabled(rows(31), count=1000), "atoms of 600 bits"),
            (tabled(rows(11), count=1001), "count is a whole number"),
            (tabled(rows(2), count=1000, many=6), "5000 rows or counts"),
            (tabled(rows(3), shift=2 * 10**12, many=2), "shift is a whole number"),
            (tabled(rows(5000), many=2), "5000 rows or counts"),
            (tabled(rows(3)[:2] + [[5001 + k, "0"] for k in range(5000)]), "a table is a list"),
            (tabled(rows(5000), count=3), "atoms of 600 bits"),
            (tabled([[0, f"1/{2**1100}"], [1, str(1 - Fraction(1, 2**1100))]]), "1024 bits"),
            (tabled(rows(3), pairs=True), "pairs none"),
            (tabled([[0, "1/2"], [1, "1/2"]], shift=2), "an output in common"),
        ):
            self.refused_quickly(whole, part)
        # Denominators that have no common factor, and together no bound.
        primes = [n for n in range(10**6, 10**6 + 2000) if all(n % k for k in range(2, 1100))]
        masses = [[k, f"1/{prime**60}"] for k, prime in enumerate(primes)]
        self.refused_quickly(tabled(masses), "1024 bits")

    def test_reserved_fields_and_versions(self):
        whole = json.loads((forge.FOLDER / "examples" / "ten-counts.json").read_text(encoding="utf-8"))
        whole["certificate"] = "assay 4"
        whole["source"] = {"commit": None, "program": "assay", "release_sha256": "0" * 64, "version": "0.2.0"}
        whole["claim"].update(direction=None, infinite=None, laws=None)
        whole["sha256"] = checker.seal(whole)
        self.assertEqual(len(checker.check(checker.canonical(whole))), 2)
        for change in (
            lambda: whole["claim"].update(direction="remove"), lambda: whole["claim"].update(infinite="1/10"), lambda: whole["claim"].update(laws=[]),
            lambda: whole["claim"].update(infinite="0"), lambda: whole["claim"].update(infinite="1"), lambda: whole["claim"].update(laws={}),
            lambda: whole["claim"].pop("laws"), lambda: whole["source"].update(commit=""), lambda: whole["source"].update(release_sha256="0" * 63),
            lambda: whole["source"].update(version=None), lambda: whole["source"].pop("program"), lambda: whole.update(certificate="assay 3"),
            lambda: whole.update(certificate="assay 5"), lambda: whole.pop("source"),
        ):
            kept = json.dumps(whole)
            change()
            self.refused_quickly(whole)
            whole = json.loads(kept)


if __name__ == "__main__":
    unittest.main(verbosity=1)
