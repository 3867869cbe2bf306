"""The view of the user's own columns, and the exports of every view, in a browser."""

import json
import re
import shlex
import subprocess
from urllib.parse import unquote

import pytest
from selenium.webdriver.support.ui import Select

from conftest import ASSAY, assay, watched

# Values of a table that must never leave the page: they occur nowhere else.
SECRET = "Zyxwv"
RECORDS = [f"{SECRET}{at},{'fm'[at % 2]}{SECRET},{SECRET}\n{at % 7},{at * 1.5}" for at in range(200)]
TABLE = '\ufeffname,sex,"region\nof birth",income\r\n' + "".join(
    "{0},{1},\"{2}\",{3}\r\n".format(*re.match(r"(.*?),(.*?),((?:.|\n)*),(.*)", record).groups()) for record in RECORDS)


def ends(value):
    return [float(value["lower"]), float(value["upper"])]


def drop(page, name, content):
    """Drops a file on its place."""
    script = """const [name, content] = arguments;
        const data = new DataTransfer();
        data.items.add(new File([content], name));
        document.querySelector('[name="table-file"]').parentElement.dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer: data }));"""
    page.driver.execute_script(script, name, content)


def fields(page, name):
    return [one.get_attribute("value") for one in page.all(f'[name="{name}"]')]


def source(notebook):
    """The text of the only cell of a notebook."""
    [cell] = json.loads(notebook)["cells"]
    return cell["source"]


def bodies(driver):
    """The bodies and addresses of all requests since the last look."""
    found = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            request = message["params"]["request"]
            assert request["url"].startswith(("http://127.0.0.1:", "blob:http://127.0.0.1:", "data:", "about:")), request["url"]
            found.append(request["url"] + request.get("postData", ""))
    return found


def test_only_names_and_sizes_leave_the_page(page, tmp_path):
    page.open("#columns", settled=False)
    page.when('[name="table-file"]')
    assert "Choose a CSV file" in page.one("#message").text
    (tmp_path / "people.csv").write_text(TABLE, newline="")
    page.one('[name="table-file"]').send_keys(str(tmp_path / "people.csv"))
    page.until(10, lambda _: len(page.all('[name="column"]')) == 4)
    assert fields(page, "column") == ["name", "sex", "region of birth", "income"] and fields(page, "size") == ["200", "2", "7", "200"]
    assert [box.is_selected() for box in page.all('[name="use"]')] == [False, True, True, False]
    assert [one.text.split(":")[0] for one in page.all(".why")] == ["Left out"] * 2 and "200 distinct values in 200 records" in page.one(".why").text
    page.click('[name="ask-each"]')
    page.click('[name="ask-pairs"]')
    page.settled()
    assert "an epsilon of" in page.said()[0] and [row[1] for row in page.rows()[:3]] == ["2", "7", "14"]
    # Counted sizes are exported by nothing: no file, no command, no link.
    assert "public" in page.one(".withheld").text and not page.all("[data-download], [data-copy], a.restore")
    assert "column=" not in page.driver.current_url
    page.type('[aria-label="Column 3"] [name="size"]', "9")
    assert page.all(".withheld"), "one size is still counted"
    page.click('[name="sure"]')
    page.settled()
    assert page.rows()[2][1] == "18" and not page.all(".withheld")
    sent = bodies(page.driver)
    asked = [one for one in sent if "api/columns" in one]
    assert any("region of birth" in one for one in asked), "bodies are seen"
    assert not [one for one in sent if SECRET in one or SECRET in unquote(one) or "income" in one]
    assert SECRET not in unquote(page.driver.current_url) and "income" not in page.driver.current_url

    # All three forms have the number of the page.
    shown = [float(cell) for cell in [row for row in page.rows() if row[0] == "composition"][0][2:4]]
    line = page.one("pre code").text
    name = next(word for word in shlex.split(line) if word.startswith("--release=")).removeprefix("--release=")
    toml = page.download("columns.toml").decode()
    (tmp_path / name).write_text(toml)
    assert SECRET not in toml and "size = 9" in toml and toml == page.driver.execute_script("return document.querySelector('[data-export=release]').textContent")
    assert ends(assay("epsilon", "--release", name, "--delta", "1e-10", folder=tmp_path)["epsilon"]) == shown
    for script in [page.download("columns.txt"), page.download("columns.alone.txt")]:
        answer = subprocess.run(["sh", "-c", f'assay() {{ "{ASSAY}" "$@"; }}; {script.decode()}'], cwd=tmp_path, capture_output=True, check=True)
        assert ends(json.loads(answer.stdout)["epsilon"]) == shown
    cell = source(page.download("columns.ipynb"))
    assert cell.startswith("from dp_assay import Release\n") and toml in cell and cell.endswith('release.epsilon("1e-10", digits=12)')
    compile(cell, "cell", "exec")

    # The link restores it, with the used columns alone; and the release opens in the other views.
    rows, link = page.rows(), page.one("a.restore").get_attribute("href")
    page.open(link.split("/")[-1])
    assert page.rows() == rows and fields(page, "column") == ["sex", "region of birth"]
    page.click('[name="elsewhere"]')
    page.until(10, lambda driver: "#private" in driver.current_url)
    page.settled()
    assert "my-table.toml" in page.one("#subject-name").text and [float(cell) for cell in page.row("composition")[2:4]] == shown


def test_columns_without_a_file(page):
    page.open("#columns", settled=False)
    page.when('[name="ask-total"]').click()
    page.settled()
    page.click('[name="add-column"]')
    page.type('[name="column"]', "age")
    assert "name of a column" not in page.problem() and "the size" in page.problem()
    page.type('[name="size"]', "116")
    page.click('[name="add-area"]')
    page.settled()
    page.type('[aria-label="Level 2"] [name="area"]', "region")
    page.all('[name="ask-each"]')[1].click()
    page.settled()
    assert [row[:2] for row in page.rows()[:2]] == [["nation: total", "1"], ["region: age", "116"]]
    # Another law, and noise that is given itself.
    row = page.all(".query")[1]
    Select(row.find_element("name", "law")).select_by_value("discrete-laplace")
    Select(row.find_element("name", "by")).select_by_value("own")
    page.settled()
    assert Select(row.find_element("name", "by")).first_selected_option.text == "epsilon"
    page.type('[aria-label="region: age"] [name="amount"]', "1/10")
    Select(page.one('[name="relation"]')).select_by_value("bounded")
    page.settled()
    answer = assay("epsilon", "--discrete-gaussian", "1", "--discrete-laplace", "0.1", "--neighbors", "bounded", "--delta", "1e-10")
    assert [float(cell) for cell in page.row("all composed")[2:4]] == ends(answer["epsilon"])
    page.type('[name="spend"]', "0")
    assert page.problem().startswith("the budget rho") and page.said() == []
    page.type('[name="spend"]', "1")
    # The renamed column is renamed in the queries, and its queries go with it.
    page.type('[name="column"]', "age in years")
    assert page.rows()[1][0] == "region: age in years"
    page.click('[name="remove-column"]')
    page.settled()
    assert [one.text for one in page.all(".query .name")] == ["nation: total"]
    # The link to the answer changes nothing but the focus.
    page.driver.execute_script("document.querySelector('.skip').click()")
    page.until(5, lambda driver: "#columns?" in driver.current_url and driver.execute_script("return document.activeElement.id") == "answer")
    assert [one.text for one in page.all(".query .name")] == ["nation: total"] and fields(page, "area") == ["nation", "region"]


def test_files_that_are_wrong_and_large(page):
    page.open("#columns", settled=False)
    page.when('[name="table-file"]')
    for name, content, said in [
        ("ragged.csv", "a;b\r\n1;2\r\n\"x\ny\";3;4\r\n", "ragged.csv, line 3: it has 3 fields, and the first line has 2"),
        ("empty.csv", "", "empty.csv is empty"),
        ("open.csv", 'a,b\n1,"2\n3,4\n', "open.csv, line 2: a quotation mark"),
        ("sheet.csv", "PK\x03\x04\0\0", "sheet.csv, line 1: this is no text in UTF-8"),
    ]:
        drop(page, name, content)
        page.until(10, lambda _: said in page.problem())
        assert not page.all('[name="column"]')
    drop(page, "list.csv", "name,size\nsex,2\nage,116\ncode,5000\n")
    page.until(10, lambda _: fields(page, "column") == ["sex", "age", "code"])
    assert page.problem() == "" and [box.is_selected() for box in page.all('[name="use"]')] == [True, True, False]
    assert not page.all('[name="sure"]'), "sizes of a code book are not counted in data"
    # A hundred megabytes: the page answers meanwhile, and the reading can be cancelled.
    page.driver.execute_script("""const piece = 'identifier,2,3,4,5\\n'.repeat(1 << 16);
        const data = new DataTransfer();
        data.items.add(new File(['a,b,c,d,e\\n', ...Array(90).fill(piece)], 'large.csv'));
        window.gaps = [];
        let last = performance.now();
        window.clock = setInterval(() => { const now = performance.now(); window.gaps.push(now - last); last = now; }, 10);
        document.querySelector('[name="table-file"]').parentElement.dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer: data }));""")
    page.until(10, lambda _: float(page.one("progress").get_attribute("value")) > 0.1)
    page.one('[name="cancel"]').click()
    page.until(10, lambda _: "reading was cancelled" in page.problem())
    gaps = page.driver.execute_script("clearInterval(window.clock); return window.gaps")
    assert len(gaps) > 3 and max(gaps) < 1500, gaps
    assert not page.one(".reading").is_displayed() and fields(page, "column") == ["sex", "age", "code"]


def test_a_view_is_copied_and_saved_in_three_forms(page, tmp_path):
    page.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    page.open("#private?level=State&level=US&group=2&delta=1e-9")
    shown = [float(cell) for cell in page.row("all composed")[2:4]]
    (tmp_path / "su-su-wang-2025-part.toml").write_bytes(page.download("epsilon.toml"))
    reads = page.driver.execute_script("return document.querySelector('[data-export=release] ~ pre').textContent")
    for line in [page.one("pre code").text, page.download("epsilon.txt").decode(), reads]:
        answer = subprocess.run([ASSAY, *shlex.split(line)[1:]], cwd=tmp_path, capture_output=True, check=True)
        assert ends(json.loads(answer.stdout)["epsilon"]) == shown, line
    assert "group=2" in source(page.download("epsilon.ipynb"))
    page.click('[data-copy="command"]')
    page.until(5, lambda _: page.one('[data-copy="command"]').text == "Copied")
    read = "const done = arguments[0]; navigator.clipboard.readText().then(done, error => done(String(error)))"
    assert page.driver.execute_async_script(read) == page.one("pre code").text
