"""A Chromium with the page proofs/check.html, opened from disk, and the checkers that are compared."""

import base64
import json
import sys
import time
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

ROOT = Path(__file__).parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "proofs"))

import check  # noqa: E402
import page as javascript  # noqa: E402

PAGE = ROOT / "proofs" / "check.html"


def browser(width=1000, height=900, dark=False):
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    # A container has no user namespaces for the sandbox, and a small /dev/shm.
    flags = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"]
    for flag in [*flags, "--no-first-run", "--disable-background-networking", "--disable-component-update"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
    if dark:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    # As on a plane.
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
    return driver


class Opened:
    """The page as its user sees it."""

    def __init__(self, driver, page=PAGE):
        self.driver = driver
        driver.get(Path(page).resolve().as_uri())

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def choose(self, *paths):
        self.one("#files").send_keys("\n".join(str(Path(path).resolve()) for path in paths))

    def drop(self, name, data):
        """Drops a file with these bytes on the page."""
        script = """const [name, data] = arguments, files = new DataTransfer();
            files.items.add(new File([Uint8Array.from(atob(data), one => one.charCodeAt(0))], name));
            document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }))"""
        self.driver.execute_script(script, name, base64.b64encode(data).decode())

    def answers(self, number, seconds=60):
        """The answers, newest first, as soon as there are this many and nothing runs."""
        end = time.time() + seconds
        while len(self.all("article")) < number or self.one("#running").is_displayed():
            assert time.time() < end, f"{len(self.all('article'))} of {number} answers"
            time.sleep(0.02)
        return [article.text for article in self.all("article")]

    def problem(self, seconds=60):
        """What the page refuses, as soon as it says so."""
        end = time.time() + seconds
        while not self.one("#problem").text:
            assert time.time() < end, "no problem was said"
            time.sleep(0.02)
        return self.one("#problem").text

    def run(self, expression, *given):
        return self.driver.execute_script(f"return {expression}", *given)


class InBrowser(javascript.Page):
    """The checker in the page itself, where there is no node."""

    def __init__(self, driver, page=PAGE, most_work=None):
        self.opened, self.most_work = Opened(driver, page), most_work

    def answer(self, data):
        script = """JSON.stringify(checkCertificate(Uint8Array.from(atob(arguments[0]), one => one.charCodeAt(0)), { bounds: true, mostWork: arguments[1] ?? undefined }))"""
        answer = json.loads(self.opened.run(script, base64.b64encode(data).decode(), self.most_work))
        if answer.get("fault"):
            raise RuntimeError(answer["reason"])
        return answer

    def seconds(self):
        """Of the processor that renders the page."""
        self.opened.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        found = self.opened.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(one["value"] for one in found if one["name"] == "TaskDuration")

    def close(self):
        pass


@pytest.fixture(scope="session")
def driver():
    driver = browser()
    yield driver
    driver.quit()


@pytest.fixture
def opened(driver):
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get_log("performance")
    yield Opened(driver)
    watched(driver)


def watched(driver):
    """There were no errors, and no requests but for the page itself."""
    complaints = driver.get_log("browser")
    assert not complaints, complaints
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
            params = message["params"]
            address = params.get("request", params)["url"]
            assert address.startswith(("file:///", "blob:", "data:", "about:")), address


@pytest.fixture(params=["node", "browser"])
def checker(request):
    """Makes a checker in JavaScript: of the page as it is, or of another one."""
    if request.param == "node":
        if not javascript.has_node():
            pytest.skip("no node 18 or newer")
        make = javascript.Page
    else:
        driver = request.getfixturevalue("driver")
        make = lambda *given, **more: InBrowser(driver, *given, **more)
    made = []

    def new(*given, **more):
        made.append(make(*given, **more))
        return made[-1]

    yield new
    for one in made:
        one.close()
