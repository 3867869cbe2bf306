"""Every view of the page, in a browser."""

import csv
import io
import json
import shlex
import struct
import subprocess
import time
from pathlib import Path
from urllib.parse import urlencode
from xml.etree import ElementTree

import axe_playwright_python
import pytest
from selenium.webdriver.support.ui import Select

from conftest import ASSAY, EXAMPLES, PLACES, Page, Server, assay, browser, watched

RELEASE = "su-su-wang-2025"
OWN_TABLE = "columns?" + urlencode({
    "column": ['["sex","2",true,false]', '["year of birth","120",true,false]'], "area": ["nation", "region"],
    "asked": ['["nation",[],"discrete-gaussian","share","1"]', '["region",["sex","year of birth"],"discrete-laplace","own","1/10"]'],
}, doseq=True)
VIEWS = ["risk", "risk?target=advantage", "risk?target=errors", "accuracy?margin=State%3D3", "private", "learned", "spared", "town?search=44", "allocate?budget=State%3D2", OWN_TABLE, "safetab", "safetab?how=plan"]


def ends(value):
    return [float(value["lower"]), float(value["upper"])]


def test_how_private(page):
    page.open("#private")
    for delta in ["1e-10", "5e-7"]:
        page.type('[name="delta"]', delta)
        answer = assay("epsilon", "--release", RELEASE, "--delta", delta)
        for line in [*answer["levels"], {"name": "all composed", **answer}]:
            cells = page.row(line["name"])
            assert [float(cells[2]), float(cells[3])] == ends(line["epsilon"]), line["name"]
        assert f"{answer['epsilon']['upper']:.6g}" in page.said()[0] and f"delta = {delta}" in page.said()[0]
        assert f"delta = {delta}" in page.one("figure[data-chart=profile] svg").get_attribute("outerHTML")
    assert len(page.all("figure svg[role=img] title")) == 2
    assert any("Delta = 5e-7" in one.text for one in page.all("aside li"))


def test_a_slider_asks_at_every_step_and_rests_with_all_digits(page):
    page.open("#private")
    said = set()
    for place in range(10, 18):
        page.drag("delta", place, final=False)
        page.settled()
        said.add(page.said()[0])
    assert "6 digits while the slider moves" in page.one("#state").text
    assert len(said) == 8
    # Faster than the answers: the last one is shown.
    for place in range(18, 30):
        delta = page.drag("delta", place, final=False)
    page.settled()
    assert f"delta = {delta}" in page.said()[0]
    delta = page.drag("delta", 40)
    page.settled()
    assert "12 digits" in page.one("#state").text
    answer = assay("epsilon", "--release", RELEASE, "--delta", delta)
    assert [float(cell) for cell in page.row("all composed")[2:4]] == ends(answer["epsilon"])
    assert f"delta={delta}" in page.driver.current_url
    # By keyboard: Tab reaches the slider, and an arrow key is a step.
    slider = page.one('[name="delta-slider"]')
    slider.send_keys("\ue014")
    page.settled()
    assert slider.get_attribute("aria-valuetext") != delta
    assert f"delta = {slider.get_attribute('aria-valuetext')}" in page.said()[0]


def test_the_page_opens_with_risk(page):
    page.open("")
    assert page.one("#view-title").text == "Which risk is acceptable?"
    answer = assay("calibrate", "--release", RELEASE, "--posterior", "0.6", "--prior", "1/2", "--scale-all")
    assert f"scaled by {answer['factor']} (" in page.said()[0] and "right at most 60 times in 100" in page.said()[0]
    Select(page.one('[name="target"]')).select_by_value("advantage")
    page.settled()
    answer = assay("calibrate", "--release", RELEASE, "--advantage", "0.1", "--scale-all")
    assert f"scaled by {answer['factor']} (" in page.said()[0]
    page.type('[name="advantage"]', "2")
    assert "advantage" in page.problem() and page.said() == []


def test_accuracy_first(page, tmp_path):
    page.open("#accuracy")
    page.type('[name="margin-State"]', "3")
    page.settled()
    (tmp_path / "accuracy.toml").write_bytes(page.download("save"))
    answer = assay("allocate", "accuracy.toml", "--accuracy", "--delta", "1e-10", folder=tmp_path)
    assert f"{answer['epsilon']['upper']:.2f}" in page.said()[0]
    margins = [query["margin_95"] for query in answer["queries"] if query["name"].startswith("State / ")]
    assert margins and max(margins) <= 3 and "margin=State%3D3" in page.driver.current_url


def test_what_an_adversary_learns(page):
    page.open("#learned")
    assert "right at most 91.2 % of the time" in page.said()[0]
    prior = page.drag("prior", 12)
    page.settled()
    answer = assay("risk", "bound", "--release", RELEASE, "--prior", prior, "--delta", "1e-10")
    for line in [*answer["levels"], {"name": "all composed", **answer}]:
        cells = page.row(line["name"])
        assert abs(float(cells[1]) - line["correct_decision_upper"]["upper"]) < 1e-5
        assert float(cells[6]) >= line["posterior_events"]["upper"] - 1e-12
        assert float(cells[3]) >= 100 * line["correct_decision_upper"]["upper"] - 1e-9
    page.type('[name="prior"]', "2")
    assert "prior" in page.problem()
    # No earlier answer stays below an error, and none is called certified.
    assert page.said() == [] and page.one("#state").text == "" and not page.all("#answer .downloads")
    assert page.one('[name="prior"]').get_attribute("aria-invalid") == "true"
    assert page.one('[name="prior-slider"]').get_attribute("value") != "0", "the slider stays where it was"
    page.type('[name="prior"]', "1/864")
    assert page.one('[name="prior"]').get_attribute("aria-invalid") is None and "Certified" in page.one("#state").text
    assert page.problem() == "" and "with a prior of 1/864" in page.said()[1]


def test_how_much_noise_could_be_spared(page):
    page.open("#spared")
    for level in assay("calibrate", "--release", RELEASE, "--delta", "1e-10")["levels"]:
        cells = page.row(level["name"])
        assert float(cells[2]) == float(level["calibrated_sigma2"])
        assert abs(float(cells[3].removesuffix(" %")) + level["reduction_percent"]) < 1e-3
    factor = assay("calibrate", "--release", RELEASE, "--delta", "1e-10", "--scale-all")
    assert f"{factor['reduction_percent']} % of all noise" in " ".join(page.said())


def test_crossings_are_red(page):
    page.open("#spared")
    answer = assay("calibrate", "--release", RELEASE, "--delta", "1e-10", "--crossings")
    less = [level["name"] for level in answer["levels"] for part in level["curve"] if part["calibrated_is"] == "less private"]
    red = page.driver.execute_script("return [...document.querySelectorAll('tr.red')].map(row => [row.cells[0].textContent, row.cells[1].textContent])")
    assert red == [[name, "less private"] for name in less]


def test_one_person_and_one_count(page):
    page.open("#learned")
    Select(page.one('[name="one-count"]')).select_by_visible_text("State: each of ten")
    page.settled()
    answer = assay("risk", "single", "--release", RELEASE, "--level", "State", "--query", "each of ten", "--prior", "1/2")
    assert float(page.row("probability of a correct decision")[1]) == pytest.approx(answer["correct_decision"]["upper"], abs=1e-11)
    assert "State, each of ten" in page.said()[3] and "place=State" in page.driver.current_url


def test_my_town(page):
    page.open("#town")
    Select(page.one('[name="one-count"]')).select_by_visible_text("County: each of ten")
    page.settled()
    page.drag("count", 5)
    page.settled()
    county = assay("calibrate", "--release", RELEASE, "--level", "County", "--delta", "1e-10")["levels"][0]
    sigma2 = [str(county["sigma2"]), str(county["calibrated_sigma2"])]
    answer = assay("errors", "--discrete-gaussian", sigma2[0], "--discrete-gaussian", sigma2[1], "--count", "7")
    before, after = (noise["margin_95"] for noise in answer["noise"])
    cells = page.row("County, each of ten (10 of them)")
    assert [int(cells[2]), int(cells[4])] == [before, after]
    assert f"Instead of 7, a number between {7 - before} and {7 + before}" in page.said()[0]


def test_a_place_is_found(driver, folder, tmp_path):
    (tmp_path / "entities.csv").write_text(PLACES)
    server = Server("--spine", str(tmp_path))
    try:
        page = Page(driver, server, folder).open("#town")
        page.type('[name="search"]', "4400008")
        assert page.rows()[-1] == ["Place", "8", "4400008", "4", "2.5e0", "3.1"]
        assert "search=4400008" in driver.current_url
        assert "a variance of 2.5e0" in page.said()[-1] and len(page.all("figure[data-chart=entities] polygon")) == 2
        assert csv_rows(page.download("places.csv"))[0]["margin_95_approx"] == "3.1"
        page.type('[name="search"]', "\ue003")
        assert all("4400008" not in row for row in page.rows())
        watched(driver)
    finally:
        server.end()


def csv_rows(content):
    return list(csv.DictReader(io.StringIO(content.decode())))


def as_printed(command, folder, *format):
    """The output of a command line of the page."""
    words = [word for word in shlex.split(command) if word != "--json"]
    done = subprocess.run([ASSAY, *words[1:], *format], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_downloaded_as_its_command_prints_it(driver, full_server, folder, tmp_path, view):
    page = Page(driver, full_server, folder).open(f"#{view}")
    if view.startswith("accuracy"):
        (tmp_path / "accuracy.toml").write_bytes(page.download("save"))
    if view.startswith("allocate"):
        command = page.one("pre code").text
        name = next(word for word in shlex.split(command) if word.startswith("--release=")).removeprefix("--release=")
        (tmp_path / name).write_bytes(page.download("save"))
    if view == OWN_TABLE:
        (tmp_path / "my-table.toml").write_bytes(page.download("columns.toml"))
    commands = [one.text for one in page.all("pre code")]
    names = [one.get_attribute("data-download") for one in page.all("[data-download]")]
    answers = [name.removesuffix(".json") for name in names if name.endswith(".json")]
    # The rows of a folder of places do not come from a command.
    asked = [name for name in answers if name != "places"]
    assert len(asked) == len(commands) and asked
    # What releases of one deployment give together takes longer than a slider moves.
    left_out = {"provenance", "together"}
    if view.startswith("allocate"):
        left_out |= {"posterior_exceeded", "posterior_exceeded_by", "posterior_exceeded_is_least"}

    def kept(value):
        if isinstance(value, dict):
            # The posterior of outputs goes with the one that is exceeded; those by rho and by pure DP stay.
            outputs = {"posterior_upper"} if view.startswith("allocate") and "posterior_exceeded" in value else set()
            return {key: kept(one) for key, one in value.items() if key not in left_out | outputs}
        return [kept(one) for one in value] if isinstance(value, list) else value

    for name, command in zip(asked, commands):
        printed = json.loads(as_printed(command, tmp_path, "--json"))
        assert json.loads(page.download(f"{name}.json")) == kept(printed), command
        rows = csv_rows(page.download(f"{name}.csv"))
        assert rows, name
        # With --crossings the command prints other records.
        if "--crossings" not in command:
            expected = csv_rows(as_printed(command, tmp_path, "--format", "csv").encode())
            dropped = [column for column in expected[0] if column.startswith(("posterior_exceeded", "posterior_upper")) and view.startswith("allocate")]
            assert rows == [{key: cell for key, cell in row.items() if key not in dropped} for row in expected], command
    drawings = [name.removesuffix(".svg") for name in names if name.endswith(".svg")]
    assert drawings and len(drawings) == len(page.all("figure svg"))
    for name in drawings:
        root = ElementTree.fromstring(page.download(f"{name}.svg"))
        assert root.tag == "{http://www.w3.org/2000/svg}svg" and len(list(root.iter())) > 10, name
        png = page.download(f"{name}.png")
        width, height = struct.unpack(">II", png[16:24])
        assert png[:8] == b"\x89PNG\r\n\x1a\n" and len(png) > 2000
        assert width == 2 * int(root.get("width")) and height == 2 * int(root.get("height"))
    watched(driver)


def test_a_budget_is_dragged_saved_and_read_by_the_commands(page, tmp_path):
    page.open("#allocate")
    page.drag("budget-State", 17)
    page.settled()
    weight = page.one('[name="budget-State"]').get_attribute("value")
    assert f"State%3D{weight}" in page.driver.current_url and float(weight) > 1
    (tmp_path / "saved.toml").write_bytes(page.download("save"))
    answer = assay("epsilon", "--release", "saved.toml", "--delta", "1e-10", folder=tmp_path)
    for level in answer["levels"]:
        assert float(page.row(level["name"])[3]) == pytest.approx(level["epsilon"]["upper"], rel=1e-5)
    assert f"an epsilon of {answer['epsilon']['upper']:.6g} at" in page.said()[0]
    error = float(page.said()[2].split(" is ")[1].split(";")[0])
    page.click('[name="optimum"]')
    for _ in range(200):
        if "can be met" in page.one("#message").text:
            break
        time.sleep(0.05)
    page.settled()
    best = float(page.said()[2].split(" is ")[1].split(";")[0])
    assert best < error / 2 and "allocated" in page.one("#subject-name").text
    assert f"an epsilon of {answer['epsilon']['upper']:.4g}" in page.said()[0]
    # "Before" is the opened release in every view, and Reset returns to it.
    before = float(page.said()[2].split("before it was ")[1].split(" ")[0])
    assert before > best and f'"Before" is {RELEASE}' in page.said()[3] and "opened=" in page.driver.current_url
    page.click('#views a[href="#town"]')
    page.settled()
    assert f"In {RELEASE}, the release that was opened, the margin of error of this count is" in page.said()[2]
    page.click('#views a[href="#allocate"]')
    page.settled()
    page.click('[name="reset"]')
    page.settled()
    assert page.one("#subject-name").text == RELEASE and "(+0.00 %)" in page.said()[2]
    assert float(page.said()[2].split(" is ")[1].split(";")[0]) == pytest.approx(before)


def test_safetab(page, tmp_path):
    page.open("#safetab")
    rho = page.drag("rho", 10)
    page.settled()
    answer = assay("tune", "--rho", rho)
    assert [int(page.row(name)[2]) for name in ["stage 1, a total", "stage 2, a cell"]] == [answer["moe_stage1"], answer["moe_stage2"]]
    Select(page.one('[name="how"]')).select_by_value("moe")
    page.settled()
    moe = page.drag("moe", 6)
    page.settled()
    assert int(page.row("stage 2, a cell")[2]) == assay("tune", "--moe", moe)["moe_stage2"]
    Select(page.one('[name="how"]')).select_by_value("plan")
    assert "Choose or drop a plan" in page.one("#message").text
    plan = 'title = "t"\n[[level]]\nname = "Nation"\nrho = "0.5"\n[[level]]\nname = "County"\nmoe = 11\n'
    page.type_into('[name="text"]', plan.replace("0.5", "x"))
    assert "plan.toml, line 4" in page.problem()
    page.type_into('[name="text"]', plan)
    assert page.problem() == ""
    (tmp_path / "plan.toml").write_bytes(page.download("save"))
    total = assay("tune", "--plan", "plan.toml", "--digits", "6", folder=tmp_path)["total"]
    assert f"{total['epsilon']['upper']:.6g}" in page.said()[0]
    Select(page.one('[name="how"]')).select_by_value("config")
    assert "--spec DIR" in page.one("#message").text


def test_safetab_reads_and_writes_a_configuration(driver, folder, tmp_path):
    examples = EXAMPLES / "safetab"
    server = Server("--spec", str(examples))
    try:
        page = Page(driver, server, folder).open("#safetab?how=config", settled=False)
        page.when('[name="safetab-file"]').send_keys(str(examples / "config.json"))
        time.sleep(0.3)
        page.settled(120)
        page.type('[name="set"]', "USA,1=0.5")
        page.settled(120)
        (tmp_path / "config.json").write_bytes(page.download("save"))
        answer = assay("tune", "--config", "config.json", "--spec", str(examples), folder=tmp_path)
        assert f"{answer['epsilon']['upper']:.6g}" in page.said()[0]
        original = assay("tune", "--config", str(examples / "config.json"), "--spec", str(examples))
        assert original["epsilon"] != answer["epsilon"]
        watched(driver)
    finally:
        server.end()


def test_other_subjects(page):
    page.open("#private")
    page.one("#subject summary").click()
    level = page.one('[name="level"][value="US"]')
    level.click()
    page.settled()
    assert "US" not in [row[0] for row in page.rows()] and "level=State" in page.driver.current_url
    page.one('[name="add-counts"]').click()
    page.settled()
    page.type('[name="count-parameter"]', "40/3")
    page.type('[name="count-count"]', "7")
    page.type('[name="count-shift"]', "2")
    others = [word for name in ["State", "County", "PEPG", "Tract Subset Group", "Tract Subset", "Optimized Block Group", "Block"]
              for word in ["--level", name]]
    answer = assay("epsilon", "--release", RELEASE, *others, "--discrete-gaussian", "40/3x7@2", "--delta", "1e-10")
    assert [float(cell) for cell in page.row("all composed")[2:4]] == ends(answer["epsilon"])
    Select(page.one('[name="release"]')).select_by_value("")
    page.settled()
    Select(page.one('[name="neighbors"]')).select_by_value("bounded")
    page.settled()
    answer = assay("epsilon", "--discrete-gaussian", "40/3x7@2", "--neighbors", "bounded", "--delta", "1e-10")
    assert [float(cell) for cell in page.row("composition")[2:4]] == ends(answer["epsilon"])
    page.type('[name="count-parameter"]', "five")
    assert "five" in page.problem() and page.said() == []
    assert page.one('[name="count-parameter"]').get_attribute("aria-invalid") == "true"


def test_errors_are_in_words_of_the_program(page):
    page.open("#town")
    for text, said in [("-5", "is not a count"), ("0.5", "is not a count"), ("many", "is not a count")]:
        page.type('[name="count"]', text)
        assert said in page.problem() and "invalid" not in page.problem() and "<COUNT>" not in page.problem(), page.problem()
    page.type('[name="count"]', "1e9")
    assert page.problem() == "" and "Instead of 1000000000" in page.said()[0]
    cells = [row[1] for row in page.rows() if row[0].startswith("Block,")]
    assert cells and all(len(cell) <= 8 for cell in cells)


OWN = 'name = "own"\ntitle = "<i>Mine</i>"\nsource = "a test"\nneighbors = "add-remove"\n[[level]]\nname = "only"\n[[level.query]]\nname = "q"\nsigma2 = "5"\n'


def drop(page, name, text):
    script = """const [name, text] = arguments;
        const data = new DataTransfer();
        data.items.add(new File([text], name));
        document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));"""
    page.driver.execute_script(script, name, text)
    time.sleep(0.2)
    page.settled()


def test_a_dropped_file_is_looked_at_and_a_wrong_one_is_shown_with_its_line(page, tmp_path):
    page.open("#private")
    page.one("#subject summary").click()
    drop(page, "own.toml", OWN.replace('"5"', '"-5"'))
    assert "own.toml, line 9" in page.problem()
    assert page.said(), "the answer before stays"
    drop(page, "own.toml", OWN)
    assert page.problem() == "" and page.one("#title").text == "<i>Mine</i>"
    (tmp_path / "own.toml").write_text(OWN)
    answer = assay("epsilon", "--release", "own.toml", "--delta", "1e-10", folder=tmp_path)
    assert [float(cell) for cell in page.row("composition")[2:4]] == ends(answer["epsilon"])
    # The same for a chosen file.
    file = tmp_path / "chosen.toml"
    file.write_text(OWN.replace('"5"', '"7"'))
    page.one('[name="file"]').send_keys(str(file))
    time.sleep(0.3)
    page.settled()
    assert "chosen.toml" in page.one("#subject-name").text


@pytest.mark.parametrize("fragment", [
    "#private?release=pl94-units-us&delta=2e-7",
    "#learned?release=su-su-wang-2025&level=State&level=Block&prior=1%2F10",
    "#town?release=su-su-wang-2025&place=US&query=each+of+ten&count=20",
    "#allocate?release=su-su-wang-2025&budget=State%3D1.5&budget=Block%3D0.5&keep=no",
    "#safetab?release=su-su-wang-2025&how=moe&moe=20&codes=3",
    "#spared?release=su-su-wang-2025&counts=discrete-gaussian%3A5x10&delta=1e-11&neighbors=bounded&group=2",
    "#town?release=su-su-wang-2025&search=4400008",
    "#safetab?release=su-su-wang-2025&how=plan&delta=1e-9",
])
def test_links_restore_the_view(driver, full_server, folder, fragment):
    page = Page(driver, full_server, folder).open(fragment)
    rows, said = page.rows(), page.said()
    link = page.one("a.restore").get_attribute("href")
    assert dict(part.split("=", 1) for part in link.split("?")[1].split("&") if "level" not in part and "budget" not in part).items() >= {
        tuple(part.split("=", 1)) for part in fragment.split("?")[1].split("&") if "level" not in part and "budget" not in part}
    page.driver.get("about:blank")
    page.driver.get(link)
    page.settled()
    assert (page.rows(), page.said()) == (rows, said) and rows


def test_a_link_does_not_run_what_it_says(page):
    page.open("#private?release=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&delta=1e-10")
    assert "<img src=x" in page.problem()
    assert not page.all("#problem img, main img")


def test_downloads(page, folder):
    page.open("#private")
    text = page.download("epsilon.csv").decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    answer = assay("epsilon", "--release", RELEASE, "--delta", "1e-10")
    assert [row["name"] for row in rows] == [*(level["name"] for level in answer["levels"]), "all composed"]
    assert [float(rows[-1]["epsilon_lower"]), float(rows[-1]["epsilon_upper"])] == ends(answer["epsilon"])
    assert json.loads(page.download("epsilon.json")) == answer
    for name in ["profile", "tradeoff"]:
        root = ElementTree.fromstring(page.download(f"{name}.svg"))
        assert root.tag == "{http://www.w3.org/2000/svg}svg" and len(list(root.iter())) > 20
        png = page.download(f"{name}.png")
        assert png[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", png[16:24])
        assert width == 2 * int(root.get("width")) and height == 2 * int(root.get("height")) and len(png) > 5000


def opened_config(page):
    """The configuration of the examples, chosen on the page, with one budget changed."""
    page.when('[name="safetab-file"]').send_keys(str(EXAMPLES / "safetab/config.json"))
    time.sleep(0.3)
    page.settled(120)
    page.type('[name="set"]', "USA,1=0.5")
    assert page.problem() == "" and len(page.rows()) > 3


def wrong_number(page):
    page.type('[name="delta"]', "2")
    assert "delta" in page.problem()


def wrong_plan(page):
    page.type_into('[name="text"]', "title = 3\n")
    assert "line 1" in page.problem()


def wrong_config(page):
    page.type_into('[name="text"]', "{")
    assert page.problem()


def opened_subject(page):
    page.one("#subject summary").click()


def own_counts(page):
    opened_subject(page)
    page.one('[name="add-counts"]').click()
    page.settled()


def own_table(page):
    """Columns of a file, of which one is left out, and sizes that are not yet confirmed."""
    records = "".join(f"{at},{at % 2}\n" for at in range(200))
    (page.folder / "own.csv").write_text(f"id,sex\n{records}")
    page.one('[name="table-file"]').send_keys(str(page.folder / "own.csv"))
    page.when('[name="ask-each"]').click()
    page.settled()
    (page.folder / "own.csv").unlink()


def unfolded(page):
    for summary in page.all(".elsewhere summary"):
        page.driver.execute_script("arguments[0].click()", summary)


def optimum(page):
    page.click('[name="optimum"]')
    page.until(30, lambda _: "can be met" in page.one("#message").text)
    page.settled()


def dragged(page):
    page.drag("delta", 30, final=False)
    page.settled()


def nothing(page):
    """The initial state."""


# Every state of a view: its link, and the actions there.
STATES = [
    *((view, nothing) for view in VIEWS),
    *((view, opened_subject) for view in VIEWS if not view.startswith(("safetab", "columns"))),
    ("columns", own_table),
    (OWN_TABLE, unfolded),
    *((view, wrong_number) for view in ["private", "learned", "spared", "town", "allocate", "safetab"]),
    ("private", own_counts),
    ("private?release=pl94-persons-us", dragged),
    ("private?release=nowhere", nothing),
    ("spared?delta=1e-10&release=ddhca-us", nothing),
    ("town?search=nowhere", nothing),
    ("allocate?release=", nothing),
    ("allocate?release=pl94-units-us&budget=State%3D2&keep=no", nothing),
    ("allocate", optimum),
    ("safetab?how=moe&moe=20", nothing),
    ("safetab?how=plan", wrong_plan),
    ("safetab?how=config", nothing),
    ("safetab?how=config", wrong_config),
    ("safetab?how=config", opened_config),
]


def settled_or_message(page):
    """An answer, a problem, or a note about missing input."""
    page.until(120, lambda driver: driver.execute_script(
        """const busy = document.querySelector('#view').hasAttribute('aria-busy');
        const shown = document.querySelector('#answer .downloads') || !document.querySelector('#problem').hidden;
        return !busy && (shown || document.querySelector('#message').textContent)"""))


# Only colours and widths differ between looks, so that all rules of accessibility are tried once. A sheet of A4 is 680 pixels wide between its margins.
LOOKS = {
    "light": (1200, {}),
    "dark": (1200, {"runOnly": ["color-contrast"]}),
    "print": (680, {"runOnly": ["color-contrast"]}),
    "narrow": (360, None),
}


def put_on(driver, look):
    """The look is that of style sheets alone: no answer is computed again."""
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if look == "dark" else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print" if look == "print" else "", "features": scheme})
    size = {"width": LOOKS[look][0], "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    # Two frames later the page has its new style and layout.
    driver.execute_async_script("const [done] = arguments; requestAnimationFrame(() => requestAnimationFrame(() => done()));")
    assert driver.execute_script("return innerWidth") == LOOKS[look][0]
    media = ["(prefers-color-scheme: dark)", "print"]
    assert driver.execute_script("return arguments[0].map(media => matchMedia(media).matches)", media) == [look == "dark", look == "print"]


def violations(driver, rules):
    """What axe finds: the rule, and the first elements that break it."""
    found = driver.execute_async_script(
        "const [rules, done] = arguments; axe.run(rules).then(done, error => done({ violations: [{ id: String(error) }] }));", rules)
    return [(rule["id"], [node["html"] for node in rule.get("nodes", [])][:3]) for rule in found["violations"]]


# Two halves, for two browsers.
@pytest.mark.parametrize("half", [0, 1])
def test_contrast_labels_and_width(folder, full_server, half):
    driver = browser(folder)
    page = Page(driver, full_server, folder)
    script = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
    try:
        for view, act in STATES[half::2]:
            put_on(driver, "light")
            page.open(f"#{view}", settled=False)
            settled_or_message(page)
            act(page)
            # The driver injects the script into the page, independently of its policy.
            driver.execute_script(script)
            for look, (_, rules) in LOOKS.items():
                put_on(driver, look)
                state = (view, act.__name__, look)
                if look == "print" and view in VIEWS and act is nothing:
                    shown = {name: page.one(name).is_displayed() for name in ["nav", "#controls", ".downloads", ".said", "table", "figure svg"]}
                    assert [name for name, is_shown in shown.items() if is_shown] == [".said", "table", "figure svg"], (state, shown)
                if rules is not None:
                    found = violations(driver, rules)
                    assert not found, (state, found)
                wide = driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
                assert wide[0] <= wide[1], (state, wide)
        watched(driver)
    finally:
        driver.quit()


def test_the_keyboard_reaches_everything(page):
    page.open("#private")
    reached = set()
    page.driver.execute_script("document.body.focus()")
    body = page.one("body")
    for _ in range(60):
        page.driver.switch_to.active_element.send_keys("\ue004")
        name = page.driver.execute_script("""const one = document.activeElement;
            const shown = one.matches(':focus-visible') && getComputedStyle(one).outlineStyle !== 'none';
            return [one.className, one.name, one.textContent.slice(0, 40), one.tagName, shown]""")
        assert name[3] == "BODY" or name[4], name
        reached.add(" ".join(str(part) for part in name))
    for part in ["skip", "delta-slider", "What does an adversary learn?", "epsilon: CSV", "restore", "SUMMARY"]:
        assert any(part in one for one in reached), (part, reached)
    assert body


def test_when_the_program_ends_the_page_says_so(driver, folder):
    server = Server()
    page = Page(driver, server, folder).open("#private")
    server.end()
    page.drag("delta", 3)
    for _ in range(100):
        if page.problem():
            break
        time.sleep(0.05)
    assert "does not answer" in page.problem()
    driver.get_log("browser")


@pytest.mark.pictures
def test_pictures(folder, server):
    """The pictures of the guide: inspected by a person, and kept small."""
    out = Path(__file__).parents[2] / "docs/pictures"
    out.mkdir(exist_ok=True)
    driver = browser(folder, width=1200, height=900)
    try:
        for name, fragment in [("private", "#private"), ("allocate", "#allocate?budget=State%3D1.5&budget=Block%3D2")]:
            Page(driver, server, folder).open(fragment)
            driver.save_screenshot(str(out / f"explore-{name}.png"))
    finally:
        driver.quit()
