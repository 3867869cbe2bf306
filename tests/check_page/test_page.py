"""The page proofs/check.html as its user sees it: from disk, without a network."""

import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

import axe_playwright_python
import pytest

import check
from conftest import PAGE, ROOT, Opened, browser, watched

EXAMPLES = ROOT / "proofs" / "examples"


def changed(name, change):
    whole = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    change(whole)
    whole["sha256"] = check.seal(whole)
    return check.canonical(whole)


def test_it_says_in_words_what_is_proven(opened):
    path = EXAMPLES / "two-paths.json"
    opened.choose(path)
    (text,) = opened.answers(1)
    for part in ("Proven: two-paths.json", "At delta = 0.000001, epsilon is from 7.287028 to 7.28703.", "delta(7.28703) <= 0.000001, so epsilon <= 7.28703", "Of the worst of 3 pairs of 2 paths",
                 "counts on a path: 1 to 3", "discrete Gaussian", "sigma2 = 8/3", "Labels, of which nothing is proven", "neighbors\nbounded", "subject\ntwo-paths: two levels", "the trapezoid rule",
                 hashlib.sha256(path.read_bytes()).hexdigest(), "s in this browser"):
        assert part in text, (part, text)
    rows = opened.run("[...document.querySelectorAll('article tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    assert ["1", "1 of 2", "1", "discrete Gaussian", "sigma2 = 2"] in rows and len(rows) == 4
    assert "two-paths.json: Proven." in opened.one("#status").text


def test_each_kind_of_claim_has_its_sentence(opened):
    paths = sorted(EXAMPLES.glob("*.json"))
    opened.choose(*paths)
    said = "\n".join(opened.answers(len(paths)))
    assert "Not proven" not in said
    for part in ("At epsilon = 2, delta is from 0.24385973 to 0.24385975.", "At a type I error of 0.25, the trade-off function (of several units or directions their convex hull) is from 0.33379289 to 0.33379291: no test has a type II error below 0.33379289.",
                 "All noise times 1.0189296 is enough for epsilon = 10 at delta = 1e-11; times 1.0189294, the next smaller one on the grid, it is not.",
                 "enough for the epsilon of zCDP (Bun-Steinke) of the unscaled noise at delta", "The epsilon of zCDP (Bun-Steinke) at delta = 0.00001 is from 7.7865797229 to 7.786579723.",
                 "by the best order at delta = 1e-10 is from 17.143550743 to 17.143550744.", "With a prior probability of 0.5 and the noisy sums 2, the posterior probability",
                 "With a prior probability of 0.1, the posterior probability of a record in the data, averaged", "discrete Laplace", "continuous Gaussian", "epsilon = ", "outcomes enumerated",
                 "the formula of continuous Gaussian noise (K)", "three points (H)", "a formula (J)"):
        assert part in said, part


def test_a_statement_is_compared_with_the_certificates(opened):
    sentence = "At delta = 1e-11, the least epsilon for which everything described in the inputs is (epsilon, delta)-differentially private is at most {}."
    data = changed("ten-counts.json", lambda whole: whole["claim"].update(subject="r, all: 10 counts [epsilon-all.json]"))
    upper = check.shown(check.Fraction(json.loads(data)["claim"]["upper"]))
    statement = f"{sentence.format(upper)}\nWithout a certificate: <b>more\u202e</b>.\n"
    opened.drop("statement.txt", statement.encode())
    assert "Not proven: refused: statement.txt" in opened.answers(1)[0]
    opened.drop("epsilon-all.json", data)
    assert "Proven: epsilon-all.json" in opened.answers(2)[0]
    opened.drop("statement.txt", statement.encode())
    text = opened.answers(3)[0]
    for part in ("Proven: statement.txt", f"by epsilon-all.json: {sentence.format(upper)}", "by none: Without a certificate: <b>more\\u{202e}</b>."):
        assert part in text, (part, text)
    opened.drop("statement.txt", sentence.format("0.1").encode() + b"\n")
    text = opened.answers(4)[0]
    assert "Not proven: refused: statement.txt" in text and "bears this sentence" in text and "Nothing is proven by this file." in text
    # Of certificates that are chosen later the earlier ones are no part.
    opened.drop("other.json", (EXAMPLES / "zcdp.json").read_bytes())
    opened.answers(5)
    opened.drop("statement.txt", statement.encode())
    assert "Not proven: refused: statement.txt" in opened.answers(6)[0]


def memo(folder, sentence):
    """A folder as a memo writes it, and the hash of its SHA256SUMS."""
    for inner in ("certificates", "inputs"):
        (folder / inner).mkdir(parents=True)
    data = changed("ten-counts.json", lambda whole: whole["claim"].update(subject="r, all: 10 counts [epsilon-all.json]"))
    (folder / "certificates" / "epsilon-all.json").write_bytes(data)
    (folder / "inputs" / "own.toml").write_text("name = 'own'\n")
    (folder / "statement.txt").write_text(sentence)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (folder / "SHA256SUMS").write_text("".join(lines))
    (folder / "memo.md").write_text("# memo\n")
    return hashlib.sha256((folder / "SHA256SUMS").read_bytes()).hexdigest()


def chosen(opened, folder, signed=""):
    opened.one("#hash").clear()
    opened.one("#hash").send_keys(signed)
    opened.one("#folder").send_keys(str(folder))


SENTENCE = "At delta = 1e-11, the least epsilon for which everything described in the inputs is (epsilon, delta)-differentially private is at most 11.\n"


def test_a_folder_is_compared_with_the_signed_hash(opened, tmp_path):
    signed = memo(tmp_path / "memo", SENTENCE)
    chosen(opened, tmp_path / "memo", f" {signed[:32].upper()} {signed[32:]}")
    statement, certificate, folder = opened.answers(3)
    assert "Folder: as it was signed" in folder and "3 files are as SHA256SUMS lists them" in folder and "none was added" in folder, folder
    assert "Proven: certificates/epsilon-all.json" in certificate and "Proven: statement.txt" in statement
    assert "by certificates/epsilon-all.json: At delta" in statement
    # Without the hash it says what is not found; another hash is refused, and then nothing of the folder is proven.
    chosen(opened, tmp_path / "memo")
    assert "as its SHA256SUMS says" in opened.answers(6)[2] and "No hash from the signed paper was given" in opened.answers(6)[2]
    chosen(opened, tmp_path / "memo", "0" * 64)
    assert f"the SHA-256 of SHA256SUMS is the signed one: it is {signed}" in opened.answers(7)[0]
    chosen(opened, tmp_path / "memo", "0" * 63)
    assert "64 digits" in opened.problem() and len(opened.all("article")) == 7


def test_every_change_of_a_folder_is_named_as_check_py_names_it(opened, tmp_path):
    changes = {
        "inputs/own.toml": (lambda path: path.write_text("name = 'other'\n"), "its SHA-256 is that in SHA256SUMS: it was changed"),
        "inputs/more\n.toml": (lambda path: path.write_text("x"), "it is a file that SHA256SUMS lists: it was added"),
        "statement.txt": (lambda path: path.unlink(), "it is in this folder, as SHA256SUMS says"),
        "certificates/epsilon-all.json": (lambda path: path.rename(path.with_name("other.json")), "it is in this folder, as SHA256SUMS says"),
        "more/memo.md": (lambda path: (path.parent.mkdir(), path.write_text("x")), "it is a file that SHA256SUMS lists: it was added"),
    }
    articles = 0
    for number, (name, (change, reason)) in enumerate(changes.items()):
        folder = tmp_path / str(number)
        signed = memo(folder, SENTENCE)
        change(folder / name)
        chosen(opened, folder, signed)
        # The folder, and the certificate and the Statement where they are as they were signed.
        articles += 1 + sum((folder / kept).exists() for kept in ("certificates/epsilon-all.json", "statement.txt"))
        texts = "\n".join(opened.answers(articles))
        shown = name.replace("\n", "\\u{a}")
        assert "Folder: not as it was signed" in texts and f"{shown}: {reason}" in texts, (name, texts)
        said = subprocess.run([sys.executable, "-I", "-B", str(ROOT / "proofs" / "check.py"), "--quiet", "--json", "--signed", signed], cwd=folder, capture_output=True, text=True)
        answers = map(json.loads, said.stdout.splitlines())
        assert reason in [answer["reason"] for answer in answers if answer["file"] == name], said.stdout


def test_a_statement_of_a_folder_needs_its_own_certificates(opened, tmp_path):
    signed = memo(tmp_path / "first", SENTENCE)
    chosen(opened, tmp_path / "first", signed)
    assert "Proven: statement.txt" in opened.answers(3)[0]
    signed = memo(tmp_path / "second", SENTENCE)
    (tmp_path / "second" / "certificates" / "epsilon-all.json").unlink()
    chosen(opened, tmp_path / "second", signed)
    statement, folder, *_ = opened.answers(5)
    assert "Not proven: refused: statement.txt" in statement and "certificates/epsilon-all.json: it is in this folder" in folder
    # A file that is dropped after a folder is no part of it.
    opened.drop("statement.txt", SENTENCE.encode())
    assert "Not proven: refused: statement.txt" in opened.answers(6)[0]


def test_a_dropped_folder_is_read_with_its_folders(opened):
    """As a browser hands it over, in parts; one that hands over no folder from disk says what to do."""
    script = """const done = arguments[0], file = name => ({ name, isDirectory: false, file: found => found(new File(["x"], name)) });
        const folder = (name, ...parts) => ({ name, isDirectory: true, createReader: () => ({ readEntries: found => found(parts.shift() ?? []) }) });
        const whole = folder("memo", [file("a"), folder("inner", [file("b")], [folder("empty")])], [file("c")]);
        dropped(whole).then(all => done(all.map(([name, file]) => [name, file?.size ?? null])), error => done(String(error)))"""
    found = opened.driver.execute_async_script(script)
    assert found == [["a", 1], ["inner", None], ["inner/b", 1], ["inner/empty", None], ["c", 1]], found
    listed = "listedIn(new TextEncoder().encode(`${sha256(new TextEncoder().encode('x'))}  inner/b\\n`), null)"
    there = "new Map([['inner', { kind: 'a folder' }], ['inner/b', { kind: 'a file', hash: sha256(new TextEncoder().encode('x')) }], ['inner/empty', { kind: 'a folder' }]])"
    compared = opened.run(f"comparedFolder({listed}, {there})")
    assert compared == [["inner/b", None], ["inner/empty", "it is a folder: of a signed folder there are only files, in its own folders"]]
    opened.run("""drop({ files: [], items: [{ webkitGetAsEntry: () => ({ name: "memo", isDirectory: true, createReader: () => ({ readEntries: (found, fails) => fails(new Error("no")) }) }) }] })""")
    end = time.time() + 10
    while "choose the folder with the button" not in opened.one("#problem").text:
        assert time.time() < end
        time.sleep(0.02)


def test_a_false_or_damaged_file_is_refused_with_the_statement(opened):
    for number, (name, data, part) in enumerate((
        ("more.json", changed("ten-counts.json", lambda whole: whole["claim"]["paths"][0][0].update(count=11)), "This does not hold: delta(10.124830935) <= 1e-11: what is proven is <= 1.0658"),
        ("digit.json", (EXAMPLES / "zcdp.json").read_bytes().replace(b'"count":', b'"count":1', 1), "sha256 is that of the content: the file is as it was sealed"),
        ("node.json", changed("ten-counts.json", lambda whole: whole["proofs"]["upper"][0].update(evaluated=[[0, 3]])), "the upper end: node 4 is evaluated, or its factors are small"),
        ("empty.json", b"", "the file is JSON in UTF-8"), ("binary", bytes(range(256)), "the file is JSON in UTF-8"), ("object", b"{}\n", 'the format is "assay 4" or "assay 3"'),
        ("deep", b"[" * 500_000, "nested too deeply"), ("large", b"1" * (1 << 21), "a certificate has at most 1048576 bytes"),
    ), start=1):
        opened.drop(name, data)
        text = opened.answers(number)[0]
        assert f"Not proven: refused: {name}" in text and part in text and "Nothing is proven by this file." in text, text
    # Nothing to read is said too.
    opened.run("dispatchEvent(new DragEvent('drop', { dataTransfer: new DataTransfer(), cancelable: true }))")
    assert opened.one("#problem").text == "No file was dropped."


def test_a_label_is_text_and_fakes_nothing(opened):
    subject = "<img src=x onerror=alert(1)>\n Proven: everything \u202e gnihtyreve"
    opened.drop("<b>name\u202e.json", changed("ten-counts.json", lambda whole: whole["claim"].update(subject=subject)))
    (text,) = opened.answers(1)
    assert "subject\n<img src=x onerror=alert(1)>\\u{a} Proven: everything \\u{202e} gnihtyreve" in text and "\u202e" not in text
    assert "Proven: <b>name\\u{202e}.json" in text and not opened.all("article img, article b")


def test_the_page_stays_alive_and_stops(opened):
    opened.choose(ROOT / "results" / "certificates" / "dhc-units-us.json", EXAMPLES / "zcdp.json")
    end = time.time() + 60
    while opened.run("document.querySelector('#part').value") == 0:
        assert time.time() < end
        time.sleep(0.05)
    said = opened.one("#doing").text
    assert "Checking dhc-units-us.json: " in said and " % of the predicted work; 1 more to check" in said
    # The page answers at once while the worker computes.
    began = time.time()
    assert opened.run("1 + 1") == 2 and time.time() - began < 5
    opened.one("#stop").click()
    newest, stopped = opened.answers(2)
    assert "Not proven: stopped: dhc-units-us.json" in stopped and "Nothing is proven" in stopped
    assert "Proven: zcdp.json" in newest
    assert not opened.one("#running").is_displayed()


def test_the_answer_is_saved_as_check_py_prints_it(opened, tmp_path):
    opened.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    opened.choose(EXAMPLES / "laplace.json")
    opened.answers(1)
    opened.one("article button").click()
    file, end = tmp_path / "laplace-checked.json", time.time() + 20
    while not (file.exists() and file.stat().st_size):
        assert time.time() < end
        time.sleep(0.05)
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(json.dumps({**check.one(str(EXAMPLES / "laplace.json"), True), "file": "laplace.json"}))


def test_it_loads_nothing_and_says_so_to_the_browser(opened):
    text = PAGE.read_text(encoding="utf-8")
    assert "default-src 'none'" in text and "http:" not in text and "https:" not in text and "import(" not in text and "fetch(" not in text
    # The policy holds: a request is refused by the browser before it is made.
    refused = "const done = arguments[0]; fetch('https://example.org').then(() => done('made'), () => done('refused'))"
    assert opened.driver.execute_async_script(refused) == "refused"
    complaints = opened.driver.get_log("browser")
    assert complaints and all("Content Security Policy" in one["message"] for one in complaints)
    opened.driver.get_log("performance")


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_it_is_accessible_and_fits(look):
    driver = browser(width=360 if look == "phone" else 1000, dark=look == "dark")
    try:
        opened = Opened(driver)
        # By keyboard: the field for files is the first stop.
        opened.one("body").send_keys("\ue004")
        assert driver.switch_to.active_element.get_attribute("id") == "files"
        axe = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
        for number, act in enumerate((lambda: None, lambda: opened.choose(EXAMPLES / "whole-release.json"), lambda: opened.choose(EXAMPLES / "two-paths.json"), lambda: opened.drop("no.json", b"{}"))):
            act()
            opened.answers(number)
            driver.execute_script(axe)
            found = driver.execute_async_script("const done = arguments[0]; axe.run().then(done, error => done({ violations: [{ id: String(error) }] }));")
            assert not [(rule["id"], [node["html"] for node in rule.get("nodes", [])][:3]) for rule in found["violations"]], number
            wide = driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
            assert wide[0] <= wide[1]
        watched(driver)
    finally:
        driver.quit()
