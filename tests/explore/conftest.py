"""A server of `assay explore`, and a Chromium for its page."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

ASSAY = os.environ["ASSAY"]


def assay(*args, folder=None):
    """The program's answer with --json, without its provenance."""
    done = subprocess.run([ASSAY, *args, "--json"], cwd=folder, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    answer.pop("provenance")
    return answer


class Server:
    def __init__(self, *args, folder=None):
        command = [ASSAY, "explore", "--no-open", *args]
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.address

    def memory(self):
        """Peak memory so far in megabytes."""
        with open(f"/proc/{self.process.pid}/status") as file:
            line = next(line for line in file if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024

    def end(self):
        self.process.terminate()
        self.process.wait()


def browser(downloads, width=1200, height=1000):
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    # A container has no user namespaces for the sandbox, and a small /dev/shm.
    flags = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"]
    for flag in [*flags, "--no-first-run", "--disable-background-networking", "--disable-component-update"]:
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads), "download.prompt_for_download": False})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    return driver


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = Server(folder=tmp_path_factory.mktemp("served"))
    yield server
    server.end()


EXAMPLES = Path(__file__).parents[2] / "data/examples"
PLACES = "kind,entity,geoid,blocks,variance_approx,margin_95_approx\nPlace,7,4400007,4,1.5e0,2.4\nPlace,8,4400008,4,2.5e0,3.1\n"


@pytest.fixture(scope="session")
def full_server(tmp_path_factory):
    """A server with a plan, a specification and places."""
    folder = tmp_path_factory.mktemp("full")
    (folder / "entities.csv").write_text(PLACES)
    server = Server("--plan", str(EXAMPLES / "safetab-plan.toml"), "--spec", str(EXAMPLES / "safetab"), "--spine", str(folder), folder=folder)
    yield server
    server.end()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="session")
def driver(folder):
    driver = browser(folder)
    yield driver
    driver.quit()


class Page:
    """The page as seen by its user."""

    def __init__(self, driver, server, folder):
        self.driver, self.server, self.folder = driver, server, folder

    def open(self, fragment="", settled=True):
        self.driver.get("about:blank")
        self.driver.get(self.server.address + fragment)
        if settled:
            self.settled()
        return self

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def when(self, selector):
        """The same as soon as it exists."""
        return self.until(20, lambda driver: driver.find_element("css selector", selector))

    def until(self, seconds, condition):
        """The value of the condition for the driver, as soon as it is true."""
        return WebDriverWait(self.driver, seconds, poll_frequency=0.02).until(condition)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def settled(self, seconds=30):
        """Waits until all requests are answered."""
        script = """const shown = document.querySelector('#answer .downloads') || !document.querySelector('#problem').hidden;
            return shown && !document.querySelector('#view').hasAttribute('aria-busy')"""
        end = time.time() + seconds
        while not self.driver.execute_script(script):
            assert time.time() < end, "no answer"
            time.sleep(0.02)

    def said(self):
        return [one.text for one in self.all(".said p")]

    def problem(self):
        return self.one("#problem").text

    def rows(self):
        """The cells of all tables, row by row."""
        script = """return [...document.querySelectorAll('#answer tbody tr')].map(
            row => [...row.cells].map(cell => cell.textContent))"""
        return self.driver.execute_script(script)

    def row(self, name, at=0):
        return [row for row in self.rows() if row[0] == name][at]

    def drag(self, name, place, final=True):
        """Moves a slider like a mouse: an event for each step, and one on release."""
        script = """const [name, place, final] = arguments;
            const slider = document.querySelector(`[name="${name}-slider"]`);
            slider.value = place;
            slider.dispatchEvent(new Event('input', { bubbles: true }));
            if (final) slider.dispatchEvent(new Event('change', { bubbles: true }));
            return slider.getAttribute('aria-valuetext');"""
        return self.driver.execute_script(script, name, place, final)

    def type(self, selector, text):
        field = self.one(selector)
        self.driver.execute_script("arguments[0].select()", field)
        field.send_keys(text, "\n")
        self.settled()

    def type_into(self, selector, text):
        """Enters text into a field of several lines, and leaves the field."""
        script = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change', { bubbles: true }))"
        self.driver.execute_script(script, self.one(selector), text)
        self.settled()

    def click(self, selector):
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", self.one(selector))
        self.one(selector).click()

    def download(self, name):
        """Clicks a download, and returns the file."""
        before = set(self.folder.iterdir())
        self.click(f'[data-download="{name}"], button[name="{name}"]')
        for _ in range(500):
            new = [file for file in set(self.folder.iterdir()) - before if not file.name.endswith((".crdownload", ".tmp")) and not file.name.startswith(".")]
            if new and new[0].stat().st_size:
                content = new[0].read_bytes()
                new[0].unlink()
                return content
            time.sleep(0.02)
        raise AssertionError(f"no download {name}")


@pytest.fixture
def page(driver, server, folder):
    driver.get_log("browser")
    driver.get_log("performance")
    yield Page(driver, server, folder)
    watched(driver)


def watched(driver):
    """There were no errors, and no requests to other hosts."""
    complaints = [entry for entry in driver.get_log("browser") if "status of 400" not in entry["message"]]
    assert not complaints, complaints
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
            params = message["params"]
            address = params.get("request", params)["url"]
            assert address.startswith(("http://127.0.0.1:", "blob:http://127.0.0.1:", "data:", "about:")), address
