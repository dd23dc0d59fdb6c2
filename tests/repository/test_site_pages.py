"""Pages of the site in a browser: copied commands, links between pages, the version, both color
schemes, and a narrow window.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sqlrank
from tests.interface.browser import open_page, serve_folder, start_browser
from tests.repository.test_docs import BLOCK, PAGES

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]

KINDS = [
    "index.html", "start.html", "start/search.html", "confidence.html", "metrics.html",
    "metrics/ranking/index.html", "metrics/ranking/ndcg.html", "metrics/curves/roc.html",
    "cli/evaluate.html", "api/evaluate.html", "sql/relations.html",
    "files/sql/settings/names.toml.html", "gallery.html", "demo.html", "troubleshooting.html",
    "engines.html",
]  # fmt: skip
"""A page of each kind."""

COPIED = """
return [...document.querySelectorAll(".highlight code")].map(code => {
  code.setAttribute("data-md-copying", "")
  const text = code.innerText
  code.removeAttribute("data-md-copying")
  return text.trim()
})
"""
"""The text that the theme copies of each block of code."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with start_browser(tmp_path_factory.mktemp("downloads")) as started:
        yield started


@pytest.fixture(scope="module")
def address(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the site as it is published: in the folder of a version, beside the list of
    versions.
    """
    root = tmp_path_factory.mktemp("published")
    (root / "latest").symlink_to(site)
    (root / "versions.json").write_text(
        json.dumps([{"version": "latest", "title": "latest", "aliases": []}])
    )
    with serve_folder(root) as server:
        yield f"{server}/latest"


def test_a_click_copies_the_command_without_prompt_and_output(address, browser):
    page = open_page(browser, f"{address}/start/search.html")
    page.execute_script("document.querySelector('.highlight').scrollIntoView({block: 'center'})")
    page.find_element("css selector", ".highlight button[data-md-type='copy']").click()
    page.execute_script(
        "const area = document.createElement('textarea'); area.id = 'pasted';"
        " document.body.prepend(area); area.focus()"
    )
    area = page.find_element("id", "pasted")
    area.send_keys("\ue009v")  # control and v
    command = BLOCK.findall(PAGES["docs/start/search.md"])[0][0]
    assert area.get_attribute("value").strip() == command
    assert command.startswith("sqlrank evaluate nDCG@10")


def test_blocks_are_copied_as_their_commands_alone(address, browser):
    n_commands = 0
    for name, text in PAGES.items():
        commands = [command for command, _ in BLOCK.findall(text)]
        sessions = re.findall(r"^```python\n(>>> .*?)^```", text, re.DOTALL | re.MULTILINE)
        if not commands and not sessions:
            continue
        place = (
            "index.html"
            if name == "README.md"
            else name.removeprefix("docs/").replace(".md", ".html")
        )
        copied = [
            drop_blank_lines(block)
            for block in open_page(browser, f"{address}/{place}").execute_script(COPIED)
        ]
        assert [command for command in commands if command.strip() not in copied] == [], name
        n_commands += len(commands)
        for session in sessions:
            lines = [line[4:] for line in session.splitlines() if line.startswith((">>> ", "... "))]
            assert drop_blank_lines("\n".join(lines)) in copied, name
    assert n_commands > 50


def drop_blank_lines(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.strip())


def test_pages_lead_on_and_back_and_name_the_version(address, site, browser):
    for name in KINDS:
        page = open_page(browser, f"{address}/{name}")
        links = [
            link.get_attribute("href")
            for link in page.find_elements("css selector", "a.md-footer__link")
        ]
        assert len(links) == 2 - (name == "index.html"), name
        assert all((site / link.removeprefix(f"{address}/")).is_file() for link in links)
        assert f"sqlrank {sqlrank.__version__}" in page.find_element(
            "css selector", ".md-copyright"
        ).get_attribute("textContent")
        assert (
            page.find_element("css selector", ".md-version__current")
            .get_attribute("textContent")
            .strip()
            == "latest"
        )
        assert page.find_elements("css selector", "a.md-source") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone_and_print_nothing_on_the_console(address, browser, scheme):
    browser.get_log("browser")  # of the tests before
    for name in KINDS:
        page = open_page(browser, f"{address}/{name}", 375, scheme)
        assert (
            page.execute_script("return document.body.dataset.mdColorScheme")
            == {"light": "default", "dark": "slate"}[scheme]
        )
        assert page.execute_script("return document.scrollingElement.scrollWidth") <= 375, name
        assert page.execute_script("return window.said") == [], name
        assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == [], (
            name
        )
        assert read_contrast(page) >= 4.5, name


def read_contrast(page: Any) -> float:
    """Return the contrast of text and ground of a page, by WCAG."""
    colors = page.execute_script(
        "return [getComputedStyle(document.querySelector('.md-typeset')).color,"
        " getComputedStyle(document.body).backgroundColor]"
    )
    light = sorted(
        _luminance([float(part) for part in re.findall(r"[\d.]+", color)]) for color in colors
    )
    return (light[1] + 0.05) / (light[0] + 0.05)


def _luminance(color: list[float]) -> float:
    """Return the relative luminance of red, green and blue from 0 to 255."""
    linear = [
        part / 255 / 12.92 if part <= 10.31 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in color[:3]
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_tables_of_metrics_are_filtered_by_words(address, browser):
    page = open_page(browser, f"{address}/metrics.html")
    list_names = (
        "return [...document.querySelectorAll('tr:has(td > span[hidden])')]"
        ".filter(row => row.offsetParent).map(row => row.querySelector('code').textContent)"
    )
    assert len(page.execute_script(list_names)) > 200
    box = page.find_element("css selector", ".metric-filter input")
    box.send_keys("MRR")
    assert page.execute_script(list_names) == ["RR"]
    assert page.find_element("css selector", ".metric-filter [role=status]").text == "1 found"
    box.clear()
    box.send_keys("clusters num_")
    names = page.execute_script(list_names)
    assert names
    assert all(name.startswith("num_") for name in names)
