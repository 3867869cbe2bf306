#!/usr/bin/env python3
"""Attacks on the folder of a memo: python3 proofs/test_folder.py. Standard library only.

Every file is changed, added, removed, renamed and replaced by a link, hashes are written again, and modules planted: check.py --signed finds all of it.
ASSAY_MEMO is the folder of a memo; without it one of the same form is made of kept certificates.
"""

import contextlib
import hashlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import check as checker

MEMO = ("memo.html", "memo.md")
EXAMPLES = ("zcdp.json", "two-paths.json")
FAKE = "x.json: proven\n  delta(0.2) <= 1e-11\n\u202e\u2028.json"


def sealed(folder):
    """Writes SHA256SUMS as the program does, and returns its hash."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names if name not in (*MEMO, "SHA256SUMS")]
    (folder / "SHA256SUMS").write_bytes("".join(lines).encode())
    return hashlib.sha256((folder / "SHA256SUMS").read_bytes()).hexdigest()


def put(folder):
    if given := os.environ.get("ASSAY_MEMO"):
        shutil.copytree(given, folder)
        return hashlib.sha256((folder / "SHA256SUMS").read_bytes()).hexdigest()
    for inner in ("certificates", "inputs"):
        (folder / inner).mkdir(parents=True)
    for name in EXAMPLES:
        shutil.copy(HERE / "examples" / name, folder / "certificates" / name)
    for name in ("check.py", "check.html"):
        shutil.copy(HERE / name, folder / name)
    (folder / "inputs" / "own.toml").write_text("name = 'own'\n")
    (folder / "statement.txt").write_text("Without a certificate: nothing is said.\n")
    for name in MEMO:
        (folder / name).write_text("a memo\n")
    return sealed(folder)


def run(folder, *arguments, isolated=True):
    command = [sys.executable, *["-I"] * isolated, "-B", "check.py", "--quiet", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


PROVEN = {}  # what check.check says of bytes, and what it finds in them: most folders have the same certificates, and each is proven once


def proven_once(data, report=None, found=None, check=checker.check):
    if data not in PROVEN:
        whole = {}
        try:
            PROVEN[data] = check(data, report, whole), None, whole
        except checker.Refused as refused:
            PROVEN[data] = None, refused, whole
    lines, refused, whole = PROVEN[data]
    if found is not None:
        found.update(whole)
    if refused:
        raise refused
    return [*lines]


def here(folder, *arguments):
    """The same as run() in this process, which has read check.py already: its status and what it prints."""
    before, out = os.getcwd(), io.StringIO()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), unittest.mock.patch.object(checker, "check", proven_once):
            return checker.main(["--quiet", *arguments]), out.getvalue()
    finally:
        os.chdir(before)


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name) / "memo"
        self.hash = put(self.folder)
        self.other = Path(holder.name) / "other"
        self.other.write_text("other")
        names = (path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file())
        self.listed = sorted(name for name in names if name not in (*MEMO, "SHA256SUMS"))

    def found(self, signed=None):
        """The names of what compared() finds wrong in the folder: nothing that it finds is proven."""
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            return [name for name, reason, _ in checker.compared(signed or self.hash) if reason]
        except checker.Refused:
            return ["SHA256SUMS"]
        finally:
            os.chdir(before)

    def test_an_unchanged_folder_is_proven_by_one_command(self):
        said = run(self.folder, "--signed", self.hash)
        self.assertEqual((said.returncode, said.stderr), (0, ""), said.stdout)
        count = sum(name.startswith("certificates/") for name in self.listed)
        self.assertGreater(count, 0)
        self.assertEqual(said.stdout.count(": proven\n"), count + 2)
        lines = [json.loads(line) for line in run(self.folder, "--json", "--signed", self.hash.upper()).stdout.splitlines()]
        self.assertEqual({answer["verdict"] for answer in lines}, {"proven"})
        for wrong in ([], ["--signed", "12"], ["--signed", ""], ["--signed", self.hash, "check.py"]):
            self.assertEqual(run(self.folder, *wrong).returncode, 2, wrong)

    def test_a_thousand_changes_of_bytes_are_found(self):
        draw = random.Random(1)
        names = [*self.listed, "SHA256SUMS"]
        for turn in range(1000):
            path = self.folder / names[turn % len(names)]
            before = path.read_bytes()
            at, kind = draw.randrange(len(before)), draw.randrange(4)
            changed = [before[:at] + bytes([before[at] ^ 1 << draw.randrange(8)]) + before[at + 1:], before[:at], before + b"\n",
                       before[:at] + b" " + before[at:]][kind]
            path.write_bytes(changed)
            self.assertEqual(self.found(), [names[turn % len(names)]], (turn, kind, at))
            path.write_bytes(before)
        self.assertEqual(self.found(), [])

    def test_what_is_added_removed_renamed_or_linked_is_found(self):
        for name in [*self.listed, "SHA256SUMS"]:
            path, aside = self.folder / name, self.other.with_name("aside")
            for link in (None, aside, self.other, path.with_name("renamed")):
                target = path.with_name("renamed") if link and link.name == "renamed" else aside
                path.rename(target)
                if link in (aside, self.other):
                    path.symlink_to(link)
                self.assertIn(name, self.found(), (name, link))
                if link in (aside, self.other):
                    path.unlink()
                target.rename(path)
        added = ["argparse.py", "x.json", "inputs/more.csv", "certificates/0.json", "certificates/.hidden", "SHA256SUMS.old", "new/", "new/x", "certificates/new/x.json"]
        for name in added:
            path = self.folder / name
            new = path.parent if not path.parent.exists() else None
            path.mkdir() if name.endswith("/") else (path.parent.mkdir(exist_ok=True), path.write_text("x"))
            self.assertIn(name.rstrip("/"), self.found())
            self.assertEqual(here(self.folder, "--signed", self.hash)[0], 1, name)
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            if new:
                new.rmdir()
        for name in MEMO:  # not compared, but no link either
            (self.folder / name).rename(self.other.with_name(name))
            (self.folder / name).symlink_to(self.other.with_name(name))
            self.assertEqual(self.found(), [name])
            (self.folder / name).unlink()
        os.mkfifo(self.folder / "pipe")  # not opened: it would wait for ever
        self.assertEqual(run(self.folder, "--signed", self.hash).returncode, 1)

    def test_names_of_other_forms_are_found(self):
        """In SHA256SUMS, signed as it is: nothing outside of the folder, nothing twice, no other form of a line, and the memo is compared where it is listed."""
        sums = self.folder / "SHA256SUMS"
        whole, first = sums.read_bytes(), self.listed[0]
        line = f"{hashlib.sha256((self.folder / first).read_bytes()).hexdigest()}  {first}\n".encode()
        self.assertIn(line, whole)
        zero = b"0" * 64
        for text, wrong in (
            (whole.replace(b"\n", b"\r\n"), ["SHA256SUMS"]), (whole[:-1], ["SHA256SUMS"]), (whole + line, ["SHA256SUMS"]), (whole + b"\n", ["SHA256SUMS"]),
            (whole + line.replace(line[:64], zero), ["SHA256SUMS"]), (line.replace(line[:64], zero) + whole, ["SHA256SUMS"]), (b"\xef\xbb\xbf" + whole, ["SHA256SUMS"]),
            (whole.replace(line, line.upper()), ["SHA256SUMS"]), (whole.replace(b"  ", b" *"), ["SHA256SUMS"]), (b"", ["SHA256SUMS"]), (whole + zero + b"  a\0b\n", ["SHA256SUMS"]),
            (whole + zero + b"  " + os.fsencode(self.other) + b"\n", ["SHA256SUMS"]), (whole + zero + b"  ../other\n", ["../other"]), (whole + zero + b"  ./x\n", ["./x"]),
            (whole + zero + b"  certificates/../../other\n", ["certificates/../../other"]), (whole + zero + b"  memo.md\n", ["memo.md"]),
            (whole + zero + b"  inputs//own\n", ["inputs//own"]), (whole + zero + "  c\u0327\u202e.json\n".encode(), ["c\u0327\u202e.json"]),
        ):
            sums.write_bytes(text)
            self.assertEqual(self.found(hashlib.sha256(text).hexdigest()), wrong, text[-80:])
            status, said = here(self.folder, "--signed", hashlib.sha256(text).hexdigest())
            self.assertEqual(status, 1, text[-80:])
            self.assertNotIn("none was added", said)
            self.assertTrue(all(one.isprintable() for one in said.splitlines()), said)
        sums.write_bytes(whole[:-1] + b"\xff\n")
        self.assertEqual(run(self.folder, "--signed", hashlib.sha256(sums.read_bytes()).hexdigest()).returncode, 1)
        sums.write_bytes(whole)
        # Beside the listed files: other cases, other forms of one letter, hidden ones, empty ones, and one of 3 GiB without content.
        for name in (first.upper(), "\u00e9.json", "e\u0301.json", ".DS_Store", "certificates/.x", "empty", "MEMO.md", "Statement.txt", "\u202egpj.md", b"\xff.json"):
            path = Path(os.fsdecode(os.fsencode(self.folder) + b"/" + (name if isinstance(name, bytes) else name.encode())))
            with contextlib.suppress(OSError):  # a file system that has no such name
                new = path.parent if not path.parent.exists() else None
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(b"")
                self.assertNotEqual(self.found(), [], name)
                self.assertEqual(here(self.folder, "--signed", self.hash)[0], 1, name)
                path.unlink()
                if new:
                    new.rmdir()
        huge = self.folder / "huge"
        with open(huge, "wb") as file:
            file.truncate(3 << 30)
        self.assertEqual(self.found(), ["huge"])
        huge.unlink()
        self.assertEqual(self.found(), [])

    def test_hashes_written_again_are_found(self):
        for name in self.listed:
            path = self.folder / name
            before = path.read_bytes()
            path.write_bytes(before + b" ")
            self.assertNotEqual(sealed(self.folder), self.hash)
            said = self.found()
            self.assertEqual(said, ["SHA256SUMS"], name)
            path.write_bytes(before)
            self.assertEqual(sealed(self.folder), self.hash)

    def statements(self, folder, certificates, texts):
        """For each text of a statement whether it is proven beside the certificates, by check.py and by the page, which say the same: one process each."""
        for at, text in enumerate(texts):
            (folder / f"said-{at}").mkdir()
            (folder / f"said-{at}" / "statement.txt").write_text(text)
        names = [*certificates, *(f"said-{at}/statement.txt" for at in range(len(texts)))]
        status, said = here(folder, *names)
        if shutil.which("node"):
            page = subprocess.run(["node", str(HERE / "check.mjs"), *names], cwd=folder, capture_output=True, text=True)
            self.assertEqual((page.returncode, page.stdout), (status, said))
        verdicts = [f"\nsaid-{at}/statement.txt: proven\n" in said for at in range(len(texts))]
        for at, proven in enumerate(verdicts):
            self.assertNotEqual(proven, f"\nsaid-{at}/statement.txt: REFUSED\n" in said)
            shutil.rmtree(folder / f"said-{at}")
        return verdicts

    def test_a_sentence_that_no_certificate_bears_is_refused(self):
        certificates = sorted(name for name in self.listed if name.startswith("certificates/"))
        path = self.folder / "statement.txt"
        whole = path.read_text()
        texts = [whole + wrong if wrong else "" for wrong in (
            "At delta = 1e-9 epsilon is 0.1.\n", "", "x", " Without a certificate: x\n", 'The ledger says: "a" and "b"\n', "\n", "Without a certificate: \n",
            "Some rule of decision is right with a probability of at least 1.\n", "Without a certificate: a\nSmall.\n")]
        lines, borne = whole.splitlines(), 0
        for at, line in enumerate(lines):
            if line.startswith(("Without a certificate: ", "The ledger says: ")):
                continue
            borne += 1
            other_line = lambda changed: "\n".join([*lines[:at], changed, *lines[at + 1 :], ""])
            # Every number, a little better than it is proven to be: an upper end smaller, a lower one larger, another delta.
            for one, other in (("presence", "absence"), ("absence", "presence"), ("either answer", "presence")):
                # With symmetric noise the statement says both with the same number.
                if one in line and line.replace(one, other) not in lines:
                    texts.append(other_line(line.replace(one, other)))
            numbers = r"(at most|exp\(|delta = |plus|above|prior probability of|a prior of|at least probability) ?"
            for found in re.finditer(r"(at least|below) ([0-9.]+[0-9])|" + numbers + r"([0-9.]+[0-9](?:e-[0-9]+)?|[0-9]e-[0-9]+)", line):
                group = 2 if found[1] else 4
                better = Fraction(found[group]) * (1 + Fraction(1, 10**6) * (1 if found[1] else -1))
                if line[found.end(group) :].startswith(" times in 100"):  # rounded up to a tenth
                    better = Fraction(found[group]) - Fraction(1, 10)
                texts.append(other_line(line[: found.start(group)] + f"{better.numerator}/{better.denominator}" + line[found.end(group) :]))
        self.assertTrue(borne >= 4 or "ASSAY_MEMO" not in os.environ)
        self.assertGreaterEqual(len(texts), 9 + 2 * borne)
        verdicts = self.statements(self.folder, certificates, [whole, *texts])
        self.assertEqual([text for text, proven in zip([whole, *texts], verdicts) if proven], [whole])
        # The same under a signature, as a command of its own.
        for text, status in ((whole, 0), (texts[0], 1), (texts[-1], 1)):
            path.write_text(text)
            self.assertEqual(run(self.folder, "--signed", sealed(self.folder)).returncode, status, text)
            self.assertEqual(run(self.folder, "statement.txt", *certificates).returncode, status, text)

    def test_the_checkers_know_the_same_sentences(self):
        page = (HERE / "check.html").read_text(encoding="utf-8")
        listed = page.partition("const SENTENCES = [")[2].partition("\n];")[0]
        names = dict(re.findall(r'([A-Z]+) = "((?:[^"\\\\])*)"', page.partition("const LEAST")[2].partition("const SENTENCES")[0].join(["LEAST", ""])))
        names["RELEASES"] = re.search(r"const RELEASES = `([^`]*)`", page)[1]
        names["RELEASES"] = re.sub(r"\$\{([A-Z]+)\}", lambda name: names[name[1]], names["RELEASES"])
        forms = re.findall(r"\[\"([a-z]+)\", (?:`([^`]*)`|\"([^\"]*)\"|(WORDS))\],", listed)
        found = [[about, re.sub(r"\$\{([A-Z]+)\}", lambda name: names[name[1]], quoted) or plain or names[word]] for about, quoted, plain, word in forms]
        self.assertEqual(found, checker.SENTENCES)

    def test_planted_modules_do_not_run(self):
        certificates = sorted(name for name in self.listed if name.startswith("certificates/"))
        self.assertEqual(run(self.folder, *certificates).returncode, 0)
        modules = ("argparse", "os", "json", "re", "hashlib", "posix", "fractions", "typing")
        for form in ("{}.py", "{}.pyc", "{}.cpython-311-x86_64-linux-gnu.so", "{}/__init__.py"):
            names = [form.format(module) for module in modules]
            for path in (self.folder / name for name in names):
                path.parent.mkdir(exist_ok=True)
                path.write_text("print('planted'); import sys; sys.exit(0)\n")
            said = run(self.folder, *certificates, isolated=False)
            self.assertEqual((said.returncode, said.stdout), (2, ""), form)
            self.assertIn("python3 -I check.py", said.stderr)
            self.assertNotIn("planted", said.stderr)
            said = run(self.folder, "--signed", self.hash)
            self.assertEqual(said.returncode, 1, form)
            self.assertNotIn("planted\n", said.stdout + said.stderr)
            for name in names:
                self.assertIn(f"{name}: REFUSED", said.stdout)
                (self.folder / name).unlink()
                if "/" in name:
                    (self.folder / name).parent.rmdir()

    def test_it_runs_in_isolated_mode_only(self):
        now = self.folder.parent / "now"
        now.mkdir()
        (now / "argparse.py").write_text("print('planted')\n")
        for isolated, path, status in (([], "", 2), ([], ":", 2), ([], str(now), 2), (["-E", "-s"], "", 2), (["-I"], str(now), 1)):
            command = [sys.executable, *isolated, "-B", str(self.folder / "check.py"), "x"]
            said = subprocess.run(command, cwd=now, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
            self.assertEqual((said.returncode, "planted" in said.stdout), (status, False), path)

    def test_a_renamed_certificate_is_refused(self):
        """Subjects as a memo writes them: another name, or other counts, and no sentence about everything under the name of everything."""
        def put(name, subject, example="ten-counts", old=False):
            whole = json.loads((HERE / "examples" / f"{example}.json").read_text())
            whole["claim"]["subject"] = subject
            if old:
                whole["certificate"] = "assay 3"
                del whole["source"]
                for key in ("direction", "infinite", "laws"):
                    del whole["claim"][key]
            whole["sha256"] = checker.seal(whole)
            (self.other.with_name("claims")).mkdir(exist_ok=True)
            path = self.other.with_name("claims") / name
            path.write_bytes(checker.canonical(whole))
            return path

        def verdicts(*paths):
            said = [here(self.folder, "--json", *map(str, paths))[1]]
            if shutil.which("node"):
                said.append(subprocess.run(["node", str(HERE / "check.mjs"), "--json", *map(str, paths)], capture_output=True, text=True).stdout)
            for lines in said:
                yield [(answer["verdict"], answer["reason"]) for answer in map(json.loads, lines.splitlines())]

        for name, subject, verdict in (
            ("epsilon-2-state.json", "r, State: 10 counts [epsilon-2-state.json]", "proven"),
            ("epsilon-all.json", "r, State: 10 counts [epsilon-2-state.json]", "refused"),
            ("epsilon-2-state.json", "r, State: 20 counts [epsilon-2-state.json]", "refused"),
            ("epsilon-2-state.json", "r, State: 5 + 5 counts [epsilon-2-state.json]", "refused"),
            ("other.json", "r, State", "proven"),
        ):
            for answers in verdicts(put(name, subject)):
                self.assertEqual(answers[0][0], verdict, (name, subject))
                self.assertEqual("it was not renamed" in (answers[0][1] or ""), verdict == "refused", answers)
        epsilon = "At delta = 1e-11, the least epsilon for which everything described in the inputs is (epsilon, delta)-differentially private is at most 11.\n"
        both = epsilon.replace("is at most", "is at least 10 and at most")
        several = 'At delta = 1e-11, the least epsilon for which {} releases about "p" composed are (epsilon, delta)-differentially private under add-remove ' \
                  "neighbors is at least 10 and at most 11.\n"
        ledger = "ledger l (SHA-256 0), p: 2 of 3 releases composed: 10 counts [p-all.json]"
        for name, subject, sentence, verdict in (
            ("epsilon-all.json", "r, all: 10 counts [epsilon-all.json]", epsilon, "proven"),
            ("epsilon-all.json", "r, all composed: 10 counts [epsilon-all.json]", epsilon, "proven"),
            ("epsilon-all.json", "r, all: 10 counts [epsilon-all.json]", both, "proven"),
            # Where the mechanism may be more private, the lower end says nothing about it.
            ("epsilon-all.json", "r, all: 10 counts, an upper bound [epsilon-all.json]", epsilon, "proven"),
            ("epsilon-all.json", "r, all: 10 counts, an upper bound [epsilon-all.json]", both, "refused"),
            ("epsilon-all.json", "r, State: 10 counts [epsilon-all.json]", epsilon, "refused"),
            ("epsilon-3-all.json", "r, all: 10 counts [epsilon-3-all.json]", epsilon, "refused"),
            # Of a level or of everything, by `assay prove`: a memo of this format names its files.
            ("epsilon-all.json", "r, State", epsilon, "refused"),
            ("epsilon-all.json", "r", epsilon, "refused"),
            ("epsilon-all.json", "r, all: 10 counts [epsilon-all.json]\n", epsilon, "refused"),
            ("p-all.json", ledger, several.format("2 of 3"), "proven"),
            ("p-all.json", ledger, several.format("3 of 3"), "refused"),
            ("p-all.json", "ledger l (SHA-256 0), p: r: 10 counts [p-all.json]", several.format("2 of 3"), "refused"),
        ):
            path, statement = put(name, subject), self.other.with_name("claims") / "statement.txt"
            statement.write_text(sentence)
            for answers in verdicts(path, statement):
                self.assertEqual([one for one, _ in answers], ["proven", verdict], (name, subject, answers))
        # Of a memo of the first format, whose subjects named no files.
        statement.write_text(epsilon)
        for answers in verdicts(put("epsilon-all.json", "r", old=True), statement):
            self.assertEqual([one for one, _ in answers], ["proven", "proven"], answers)
        # There the certificate of a level under the name of everything, beside one of everything.
        level = put("epsilon-all.json", "r, State", old=True)
        everything = put("delta-at-epsilon-0.json", "r", "laplace", old=True)
        for answers in verdicts(level, everything, statement):
            self.assertEqual([one for one, _ in answers], ["proven", "proven", "refused"], answers)

    def test_a_question_is_that_of_the_claim(self):
        """Whether a record is there or which of two it is, of one record or of a group: as the relation and the subject of the certificate say."""
        sentence = "An adversary who knows everything else and decides, from all that is published, {}, with a prior probability of 1/10 for either answer, is right with a probability of at most 1.\n"
        one, group = "whether a given record is in the data", "whether a given set of up to {} records is in the data, all or none"
        changed, changes = "which of two records is in the data", "which of two sets of up to {} records is in the data"
        for neighbors, subject, asked in (
            ("add-remove", "r, all: 10 counts [decision.json]", one), ("add-remove", "r, groups of 2, all: 10 counts [decision.json]", group.format(2)),
            ("bounded", "r, all: 10 counts [decision.json]", changed), ("bounded", "r, groups of 3, released 2 times, all: 10 counts [decision.json]", changes.format(3)),
        ):
            whole = json.loads((HERE / "examples" / "decision-gaussian.json").read_text())
            whole["claim"].update(neighbors=neighbors, subject=subject)
            whole["sha256"] = checker.seal(whole)
            self.other.with_name("decision.json").write_bytes(checker.canonical(whole))
            questions = [one, changed, *(form.format(many) for form in (group, changes) for many in (2, 3, 30)), "whether", "which of two values a record has"]
            verdicts = self.statements(self.other.parent, ["decision.json"], [sentence.format(question) for question in questions])
            self.assertEqual([question for question, proven in zip(questions, verdicts) if proven], [asked], subject)

    def test_a_name_fakes_no_line(self):
        certificate = sorted(name for name in self.listed if name.startswith("certificates/"))[0]
        shutil.copy(self.folder / certificate, self.folder / "certificates" / FAKE)
        for arguments in ([f"certificates/{FAKE}"], ["certificates/gone\n: proven"], ["--signed", self.hash], [f"--{FAKE}"]):
            said = run(self.folder, *arguments)
            for line in (said.stdout + said.stderr).splitlines():
                self.assertTrue(line.isprintable(), line)
                self.assertFalse(line.startswith((": proven", "  delta(0.2)")), line)
        if shutil.which("node"):
            for name in (f"certificates/{FAKE}", "gone\n  delta(0.2)"):
                said = subprocess.run(["node", str(HERE / "check.mjs"), name], cwd=self.folder, capture_output=True, text=True)
                self.assertFalse([line for line in said.stdout.splitlines() if not line.isprintable() or line.startswith("  delta(0.2)")])


if __name__ == "__main__":
    unittest.main(verbosity=1)
