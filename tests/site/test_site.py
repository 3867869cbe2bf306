"""The site of scripts/site, served on loopback, in a browser: SITE names its folder."""

import json
import os
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import axe_playwright_python
import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

SITE = Path(os.environ["SITE"])
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html") if "api" not in path.relative_to(SITE).parts and path.name != "404.html")
GUIDE = Path(__file__).parents[2] / "docs" / "guide"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


def browser(width=1280, dark=False):
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking", "--disable-component-update"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    # A machine that is busy takes long.
    driver.set_script_timeout(300)
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    return driver


@pytest.fixture(params=[(1280, False), (1280, True), (360, False)], ids=["light", "dark", "phone"])
def driver(request, address):
    one = browser(*request.param)
    yield one
    complaints = one.get_log("browser")
    assert not complaints, complaints
    for entry in one.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
            params = message["params"]
            asked = params.get("request", params)["url"]
            assert asked.startswith((address, "data:", "blob:", "about:", "chrome:")), asked
    one.quit()


def until(condition, seconds=60):
    end = time.time() + seconds
    while not (found := condition()):
        assert time.time() < end, "it does not come"
        time.sleep(0.05)
    return found


def test_every_page_fits_and_loads_only_from_its_host(driver, address):
    assert len(PAGES) > 25
    for page in PAGES:
        driver.get(address + page)
        until(lambda: driver.execute_script("return document.readyState") == "complete")
        wide = driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], (page, wide)


def test_words_have_contrast_and_names(driver, address):
    """Rules of what the pages are; the landmarks around are those of the theme."""
    axe = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    for page in ("index.html", "docs/guide/certificates.html", "proofs/index.html"):
        driver.get(address + page)
        time.sleep(0.3)
        driver.execute_script(axe)
        script = "const done = arguments[0]; axe.run('article', { runOnly: ['color-contrast', 'image-alt', 'link-name', 'label', 'table-fake-caption'] }).then(done, error => done({ violations: [{ id: String(error) }] }));"
        found = [(rule["id"], [node["html"] for node in rule.get("nodes", [])][:3]) for rule in driver.execute_async_script(script)["violations"]]
        assert not found, (page, found)


def test_the_search_finds_theorems(driver, address):
    driver.get(address + "index.html")
    driver.execute_script("document.querySelector('#__search').checked = true; document.querySelector('#__search').dispatchEvent(new Event('change'))")
    field = driver.find_element("css selector", "input.md-search__input")
    until(lambda: field.is_displayed())
    driver.execute_script("arguments[0].focus()", field)
    field.send_keys("trapezoid rule")
    links = until(lambda: [one.get_attribute("href") for one in driver.find_elements("css selector", "a.md-search-result__link")])
    assert any("/proofs/index.html" in link for link in links), links


def test_the_guide_and_the_checker_are_reached(driver, address):
    driver.get(address + "docs/guide/index.html")
    links = set(driver.execute_script("return [...document.querySelectorAll('nav a')].map(link => link.href.split('#')[0])"))
    for chapter in GUIDE.glob("*.md"):
        name = "index" if chapter.stem == "README" else chapter.stem
        assert f"{address}docs/guide/{name}.html" in links, chapter
    assert f"{address}proofs/check.html" in links and f"{address}results/REPORT.html" in links
    driver.get(address + "proofs/check.html")
    assert driver.execute_script("return typeof checkCertificate") == "function"
