#!/usr/bin/env python3
"""Tests of statement.py without Rocq, on answers that Rocq 8.16 gave (answers/): python3 proofs/rocq/test_statement.py. Standard library only."""

import random
import re
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import statement  # noqa: E402

ANSWERS = sorted((HERE / "answers").glob("*.txt"))
SENTENCES = {
    "State": "of 10 counts with discrete Gaussian noise of sigma2 = 50000/10001, moved by 1: at delta = 1e-11 the smallest epsilon is between 10.125415 and "
    "10.1254175, over all events and both directions of neighbors",
    "BoxesDelta": "of 5 counts with discrete Laplace noise of epsilon = 1/10, moved by 1, and of 5 randomized responses with epsilon = 3/10, and of 10 pairs "
    "that dominate every mechanism with epsilon = 1/2 and delta = 1/10000000: delta at epsilon = 3.0 is above 0.0902462 and at most 0.0902464, over all events",
    "Truncated": "of 5 counts with discrete Laplace noise of epsilon = 1/2, truncated to -40 to 40, moved by 1, and of 5 counts with discrete Gaussian noise "
    "of sigma2 = 20, truncated to -30 to 30, moved by 1, and of 5 randomized responses of 4 answers with epsilon = 1/2: at delta = 1e-6 the smallest epsilon "
    "is between 6.2771732 and 6.27719, over all events and both directions of neighbors",
    "Calibration": "of 10 counts with discrete Gaussian noise of sigma2 = 51/10, moved by 1: no event distinguishes the neighbors by more than epsilon = 10.0 "
    "and delta = 1e-11; of 10 counts with discrete Gaussian noise of sigma2 = 509/100, moved by 1: some event does",
    "BoxesPoint": "of 10 pairs that dominate every mechanism with epsilon = 1/2 and delta = 1/100000: no test with a type I error of at most 0.05 has a type II "
    "error below 0.53234, and some test has one of at most 0.532364",
}


def parts(path):
    text = path.read_text(encoding="ascii")
    return path.stem, text.partition("\n")[0].partition(".")[2], text


def said(module, theorem, answer):
    """The sentence, or None for a refusal."""
    try:
        return statement.sentence(statement.read(module, theorem, answer))
    except statement.Refused:
        return None


class Statements(unittest.TestCase):
    def test_answers_of_rocq_are_read_whole(self):
        self.assertGreaterEqual(len(ANSWERS), 19)
        for path in ANSWERS:
            module, theorem, answer = parts(path)
            claim = statement.read(module, theorem, answer)
            source = (HERE / f"{module}.v").read_text(encoding="ascii")
            written = re.search(rf"^Theorem {theorem} :\n(.*?)\.\nProof", source, re.S | re.M).group(1)
            self.assertEqual("  " + statement.claim_text(claim), written, module)
            if module in SENTENCES:
                self.assertEqual(statement.sentence(claim), SENTENCES[module])
        self.assertLessEqual(set(SENTENCES), {path.stem for path in ANSWERS})
        worst = statement.sentence(statement.read(*parts(HERE / "answers" / "UnitsPairs.txt")))
        self.assertTrue(worst.startswith("of the worst of 36 compositions, listed below: at delta = 1e-10"), worst)

    def test_what_is_not_a_whole_claim_is_refused(self):
        module, theorem, answer = parts(HERE / "answers" / "State.txt")
        for old, new in (
            ("10001) 1)", "10001) (5 / 5))"), ("10001) 1)", "10001) (-1))"), ("10001) 1)", "10001) 0)"), ("10001) 1)", "10001) 1%Z)"), ("(50000 / 10001)", "50000"),
            ("(50000 / 10001)", "(50000 / 0)"), ("(50000 / 10001)", "(50000 / 10001 / 1)"), ("(50000 / 10001)", "(- (50000) / 10001)"), ("1) 10)", "1) (20 / 2))"),
            ("1) 10)", "1) 10 ++ [])"), ("1) 10)", "1) n)"), ("Count", "X.Count"), ("Count", "count"), ("smallest_epsilon", "State.smallest_epsilon"),
            ("smallest_epsilon", "False -> smallest_epsilon"), ("smallest_epsilon", "forall n : nat, smallest_epsilon"), ("smallest_epsilon", "~ smallest_epsilon"),
            (" 1e-11", ""), (" 1e-11", " 1e-11 1"), (" 1e-11", " delta"), (" 1e-11", " 1e+11"), (" 1e-11", " 1e-011"), ("10.1254175", "10.1254175 \\/ True"),
            ("10.1254175", "..."), ("10.1254175", "10.1254175\n\nState.other : True"), ("10.1254175", "10,1254175"), ("10.1254175", "\u0661"), ("10.1254175", "10.1254175 (* *)"),
            ("State.epsilon", "Stat.epsilon"), ("State.epsilon", "DpAssay.State.epsilon"), ("\n     : ", "\n: "),
        ):
            self.assertIn(old, answer)
            self.assertIsNone(said(module, theorem, answer.replace(old, new, 1)), (old, new))
        self.assertIsNone(said(module, "other", answer))
        self.assertIsNone(said("", theorem, answer))
        two = parts(HERE / "answers" / "Calibration.txt")
        self.assertIsNone(said(*two[:2], two[2].replace("1e-11", "1e-10", 1)))

    def test_no_word_is_dropped(self):
        draw = random.Random("words")
        read, answers = 0, [parts(path) for path in ANSWERS if path.stem not in ("UnitsPairs", "PersonsPath")]
        for turn in range(6_000):
            module, theorem, answer = draw.choice(answers)
            head, colon, rest = answer.partition("\n     : ")
            words = statement.tokens(rest)
            at = draw.randrange(len(words))
            other = draw.choice([draw.choice(words), "(", ")", "1", "0", "-1", "1.5", "2e-3", "/", "++", ";", "delta", "Laplace", "x", "%", "~"])
            changed = draw.choice([words[:at] + words[at + 1 :], words[:at] + [other] + words[at:], words[:at] + [other] + words[at + 1 :]])
            try:
                claim = statement.read(module, theorem, head + colon + " ".join(changed))
            except statement.Refused:
                continue
            self.assertEqual(statement.tokens(statement.claim_text(claim)), changed)
            # Every number of the claim is in its sentence, but for those of the listed compositions.
            if claim[0] != "worst_epsilon":
                numbers = sorted(set(re.findall(r"[0-9][0-9.e-]*", " ".join(changed))) - {"1"})
                in_words = re.findall(r"[0-9](?:[0-9.]*(?:e-?[0-9]+)?)", statement.sentence(claim))
                self.assertLessEqual(set(numbers), {number.rstrip(".") for number in in_words}, changed)
            read += 1
        self.assertGreater(read, 100)

    def test_a_refusal_ends_with_another_status_and_writes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            answer, confirm = Path(folder) / "answer.txt", Path(folder) / "Confirm.v"
            answer.write_text("State.epsilon_is_between\n     : True\n")
            self.assertEqual(statement.main(["State", "epsilon_is_between", str(answer), str(confirm)]), 1)
            self.assertFalse(confirm.exists())
            self.assertEqual(statement.main([]), 2)


if __name__ == "__main__":
    unittest.main()
