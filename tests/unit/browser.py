"""A page in a browser, as its readers open it: headless Chromium, driven by selenium."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LISTENING = "window.said = []; window.addEventListener('error', e => said.push(e.message)); window.addEventListener('securitypolicyviolation', e => said.push(e.violatedDirective));"


@contextmanager
def start_browser(downloads: Path) -> Iterator[Any]:
    """Start a browser that saves files in a folder and keeps what pages report; skip the test if there is no browser."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no browser: apt-get install chromium chromium-driver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,900"):
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
    return browser
