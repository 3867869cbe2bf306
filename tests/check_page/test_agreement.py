"""proofs/check.html and proofs/check.py say the same of every certificate: those that are kept, changed ones and forged ones."""

import base64
import copy
import csv
import json
import os
import random
import time
import unittest

import pytest

import check
import forge
import test_forger
import test_tampering
from conftest import ROOT, InBrowser, Opened, javascript

CERTIFICATES = ROOT / "results" / "certificates"
EXAMPLES = sorted((ROOT / "proofs" / "examples").glob("*.json")) + sorted((ROOT / "proofs" / "old").glob("*.json"))
SECONDS = {row["certificate"]: float(row["seconds"]) for row in csv.DictReader((CERTIFICATES / "times.csv").open(encoding="utf-8"))}
QUICK = sorted(path for path in CERTIFICATES.glob("*.json") if SECONDS.get(path.stem, 0) < 0.3)
SLOW = sorted(path for path in CERTIFICATES.glob("*.json") if path not in QUICK)
SMALL = ["ten-counts", "laplace", "tradeoff", "calibration", "two-groups", "tradeoff-atoms", "match-zcdp", "posterior", "zcdp", "continuous", "orders", "marginal",
         "table", "table-mixed", "guarantees"]


def said_by_page(driver, path):
    """The answer of the page, as check.py --json has it."""
    script = "JSON.stringify(checkCertificate(Uint8Array.from(atob(arguments[0]), one => one.charCodeAt(0))))"
    driver.set_script_timeout(900)
    return {"file": str(path), **json.loads(Opened(driver).run(script, base64.b64encode(path.read_bytes()).decode()))}


def same_answers(driver, paths):
    for path in paths:
        answer = said_by_page(driver, path)
        assert answer["verdict"] == "proven", (path, answer["reason"])
        assert answer == json.loads(json.dumps(check.one(str(path), True))), path


def test_quick_certificates_are_proven_with_the_same_numbers(driver):
    assert len(QUICK) > 110
    same_answers(driver, [*EXAMPLES, *QUICK])


def said_by_worker(driver, path):
    """The same from the page's own worker, however long it takes."""
    opened = Opened(driver)
    start = """window.found = null;
        const worker = new Worker(workerAddress());
        worker.onmessage = ({ data }) => { if (data.answer) window.found = JSON.stringify(data.answer); };
        worker.postMessage(Uint8Array.from(atob(arguments[0]), one => one.charCodeAt(0)))"""
    driver.execute_script(start, base64.b64encode(path.read_bytes()).decode())
    while not (found := opened.run("window.found")):
        time.sleep(0.2)
    answer = json.loads(found)
    more = ("units", "onAPath", "noises", "alone", "how")
    return {"file": str(path), **{key: value for key, value in answer.items() if key not in more}}


@pytest.mark.slow
@pytest.mark.parametrize("path", SLOW, ids=lambda path: path.stem)
def test_slow_certificates_are_proven_with_the_same_numbers(driver, path):
    began = time.time()
    answer = said_by_worker(driver, path)
    seconds = time.time() - began
    assert answer["verdict"] == "proven", answer["reason"]
    assert answer == json.loads(json.dumps(check.one(str(path), True)))
    print(f"{path.stem}: {seconds:.1f} s in the browser; check.py {SECONDS[path.stem]} s")


# ------------------------------------------------------------------------------------------------------------------------------ changed ones
FORM = ("the file is JSON", "no number has more", "the bytes are canonical", "the keys are exactly")


def statement(reason):
    """What does not hold, without the bound that was found."""
    return reason and reason.split(": what is proven is ")[0]


def compare(checker, names, times, seed):
    """Verdicts of both for changed certificates: how many both prove or refuse, how many only one proves, and refusals by the same statement."""
    draw, originals = random.Random(seed), {name: test_tampering.load(name) for name in names}
    tally = {"both refuse": 0, "both prove": 0, "only check.py proves": 0, "only check.html proves": 0, "the same statement": 0, "a statement on form": 0}
    for turn in range(times):
        change, name = test_tampering.CHANGES[turn % len(test_tampering.CHANGES)], names[turn // len(test_tampering.CHANGES) % len(names)]
        if change in test_tampering.HINTED and not any("bits" in hints for hints in originals[name]["proofs"]["upper"]):
            continue
        data, false = change(copy.deepcopy(originals[name]), draw)
        if data == test_tampering.sealed(copy.deepcopy(originals[name])):
            continue
        first, second = test_tampering.verdict(data), None
        try:
            checker.check(data)
        except checker.Refused as refused:
            second = str(refused)
        assert second or not false, f"{name}, {change.__name__}: proven although false or out of form: {data[:3000]}"
        tally["both refuse" if first and second else "only check.html proves" if first else "only check.py proves" if second else "both prove"] += 1
        if first and second:
            tally["the same statement"] += statement(first) == statement(second)
            tally["a statement on form"] += statement(first) != statement(second) and (first.startswith(FORM) or second.startswith(FORM))
    return tally


def agree(checker, many):
    tally = compare(checker, [f"{name}.json" for name in SMALL], many, 7 * many)
    for names, times in ((["two-paths.json", "parts.json"], many // 10), (["line.json", "whole-release.json"], many // 20)):
        for key, number in compare(checker, names, times, times).items():
            tally[key] += number
    print(f"\n{sum(list(tally.values())[:4])} changed certificates: {tally}")
    # A claim that only one proves is true: its hints are just good enough for the one, and not for the other one's rounding.
    assert tally["only check.py proves"] + tally["only check.html proves"] <= many // 200
    assert tally["both prove"] > many // 20 and tally["the same statement"] + tally["a statement on form"] >= tally["both refuse"] * 0.99


def test_changed_certificates_are_refused_by_both(driver):
    agree(InBrowser(driver), 700)


@pytest.mark.slow
def test_many_changed_certificates_are_refused_by_both(checker):
    agree(checker(), 11_500)


# ------------------------------------------------------------------------------------------------------------------------------- forged ones
def forged(checker, many, seed):
    forger = forge.Forger(checker, seed, test_forger.SMALL).run(many, tries=40)
    assert [(kind, said, json.dumps(whole)) for kind, said, whole in forger.found] == []
    bounded = sum(row[1] for row in forger.tally.values())
    assert bounded > many // 5
    print(f"\n{forger.forged} forged certificates, sealed; {bounded} with bounds for every statement; none proven")


def test_no_forgery_is_proven(driver):
    forged(InBrowser(driver, most_work=forge.MOST_WORK), 600, 1)


@pytest.mark.slow
def test_no_forgery_of_many_is_proven(checker):
    forged(checker(most_work=forge.MOST_WORK), 20_000, 2)


@pytest.mark.parametrize("name", forge.PLANTED_IN_PAGE)
def test_planted_faults_are_found(driver, tmp_path, name):
    """A forger that finds nothing is worth something if it finds faults that are there."""
    bases, changes = forge.PLANTED_IN_PAGE[name]
    if javascript.has_node():
        checker = forge.load_page(tmp_path, changes)
    else:
        forge.load_page(tmp_path, changes, start=False)
        checker = InBrowser(driver, tmp_path / "planted.html", forge.MOST_WORK)
    forger = forge.Forger(checker, 5, bases, wild=0.1).run(6000, tries=60, until_found=True)
    checker.close()
    print(f"\n{name}: found after {forger.forged} forgeries")
    assert forger.found, f"not found in {forger.forged} forgeries"


# ---------------------------------------------------------------------------------------------------------------------- what would take long
def test_limits_of_work(checker):
    """The certificates with which test_forger.py tries the limits of check.py: refused within five seconds of the processor here too."""
    one, longest = checker(), [0.0]

    class Timed:
        Refused, canonical, seal = check.Refused, staticmethod(check.canonical), staticmethod(check.seal)

        @staticmethod
        def check(data):
            began = one.seconds()
            try:
                return one.check(data)
            finally:
                longest[0] = max(longest[0], one.seconds() - began)

    before = test_forger.checker
    test_forger.checker = Timed
    try:
        result = unittest.TextTestRunner(stream=open(os.devnull, "w")).run(unittest.defaultTestLoader.loadTestsFromTestCase(test_forger.Work))
    finally:
        test_forger.checker = before
    assert result.wasSuccessful() and result.testsRun >= 5, [text for _, text in result.failures + result.errors]
    assert 0 < longest[0] < 5


def test_missing_nodes_are_named_alike(checker):
    one, named = checker(), 0
    for name in ("ten-counts", "whole-release", "two-paths", "line"):
        for at, (first, last) in enumerate(test_tampering.load(f"{name}.json")["proofs"]["upper"][0]["evaluated"]):
            for node in {first, (first + last) // 2, last} - {0}:
                whole = test_tampering.load(f"{name}.json")
                rest = [[first, node - 1], [node + 1, last]]
                whole["proofs"]["upper"][0]["evaluated"][at:at + 1] = [pair for pair in rest if pair[0] <= pair[1]]
                with pytest.raises(check.Refused, match=f"^the upper end: node {node} is evaluated, or its factors are small$"):
                    one.check(test_tampering.sealed(whole))
                named += 1
    assert named > 10
