"""A page in a browser, as its readers open it: headless Chromium, driven by selenium, and a server
of files.
"""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

LISTENING = (
    "window.said = []; window.addEventListener('error', e => said.push(e.message));"
    " window.addEventListener('securitypolicyviolation', e => said.push(e.violatedDirective));"
)

LOADING_SECONDS = 60


@contextmanager
def start_browser(downloads: Path) -> Iterator[Any]:
    """Start a browser that saves files in a folder and keeps what pages report; skip the test if
    there is no browser.
    """
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no browser: apt-get install chromium chromium-driver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1200,900",
    ):
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(driver))
    started.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": LISTENING})
    try:
        yield started
    finally:
        started.quit()


def open_page(browser: Any, page: Path | str, width: int = 1200, scheme: str = "light") -> Any:
    """Open a file or an address in a window of a width, light or dark."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    asked = [{"name": name, "value": value} for name, value in features.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": asked})
    browser.get(page if isinstance(page, str) else page.as_uri())
    # On a busy machine the driver returns before the page is there.
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(browser, LOADING_SECONDS).until(
        lambda _: browser.execute_script(
            "return document.readyState === 'complete' && performance.getEntriesByType('navigation')"
            "[0].loadEventEnd > 0"
        )
    )
    return browser


@contextmanager
def serve_folder(folder: Path, headers: Mapping[str, str] | None = None) -> Iterator[str]:
    """Serve the files of a folder with these headers; yield the address."""

    class Handler(SimpleHTTPRequestHandler):
        def end_headers(self) -> None:
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            super().end_headers()

        def log_message(self, *_: object) -> None:
            """Write no line per request."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
