"""A real browser and a real server, where both are present; a page that notes errors and foreign requests."""

import shutil
import threading
import time
from contextlib import contextmanager
from importlib.resources import files
from urllib.parse import urlsplit

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
START_SECONDS = 30


def skip_where_absent():
    for name in ("starlette", "uvicorn", "playwright"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed", allow_module_level=True)


@contextmanager
def serving(given=()):
    """A server in a thread of this process; yields the address that it would open."""
    from wakesleep.serve import server

    ready = server.prepare(list(given), 0)
    thread = threading.Thread(target=ready.run, daemon=True)
    thread.start()
    yield ready.address


@contextmanager
def browsing():
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


class Watched:
    """A page of the browser with what went wrong in it."""

    def __init__(self, browser, width=1400, scheme="light", motion="reduce"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion=motion
        )
        self.page = context.new_page()
        self.page.set_default_timeout(60_000)
        self.errors, self.hosts = [], set()
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda r: self.hosts.add(urlsplit(r.url).netloc))

    def open(self, address):
        for _ in range(START_SECONDS * 10):
            try:
                self.page.goto(address)
                return self.page
            except Exception:  # the server has not started yet
                time.sleep(0.1)
        raise AssertionError("the server did not start")

    def check(self, address):
        """No error in the console, and no request to another host."""
        assert self.errors == []
        assert self.hosts - {""} == {urlsplit(address).netloc}
        self.page.context.close()


def until_said(page, text):
    """Waits until the status line says a text; a refusal that says another ends the wait at once."""
    status = page.locator("#status")
    page.locator("#status", has_text=text).or_(page.locator("#status.refusal")).first.wait_for()
    assert text in status.inner_text()


def serious(page):
    """The serious violations that axe-core finds on a page, as it names them."""
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [(v["id"], [n["target"] for n in v["nodes"]][:3]) for v in found if v["impact"] in ("serious", "critical")]
