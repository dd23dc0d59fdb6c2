"""Pages of the site run SQL in headless Chromium: their statements give their numbers, and nothing
comes from another host.
"""

import logging
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.interface.browser import serve_folder, start_browser
from website import examples, npm_packages, sections

FILES = [file for of in sections.group_by_section().values() for file in of]
POLICY = "default-src 'self' blob: data: 'unsafe-inline' 'unsafe-eval'"
"""What pages and their workers may load: files of the site."""

DONE = "return ['done', 'failed'].includes(document.querySelector('.sql-output')?.dataset.state)"
OUTPUT = "return document.querySelector('.sql-output').innerText"

RUN_PAGES = """
const [places, done] = [arguments[0], arguments[arguments.length - 1]];
const { run, addTable } = await import(new URL("assets/run.mjs", document.baseURI));
const added = new Set(), found = {};
for (const place of places) {
  const page = new DOMParser().parseFromString(await (await fetch(place)).text(), "text/html");
  const target = page.querySelector(".sql-run");
  for (const name of target.dataset.names.split(" ").filter((name) => !added.has(name))) {
    await addTable(name, `${name}.csv`, await (await fetch(`tables/${name}.csv`)).text());
    added.add(name);
  }
  const shown = target.previousElementSibling.querySelector("code").textContent;
  try {
    found[place] = { shown, ...(await run(page.querySelector(".duckdb-statement code").textContent)) };
  } catch (error) {
    found[place] = { shown, error: String(error) };
  }
}
done(found);
"""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    if not (site / npm_packages.PLACE).exists():
        pytest.skip("npm cannot fetch DuckDB-WASM")
    with serve_folder(site, {"Content-Security-Policy": POLICY}) as server:
        yield server


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with start_browser(tmp_path_factory.mktemp("downloads")) as started:
        started.set_script_timeout(300)
        yield started


def wait_for_output(browser: Any) -> str:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 120).until(lambda found: found.execute_script(DONE))
    return str(browser.execute_script(OUTPUT))


def assert_nothing_refused(browser: Any) -> None:
    """Assert that the browser refused no file of another host, and found all others but the list of
    versions.
    """
    said = [
        entry["message"]
        for entry in browser.get_log("browser")
        if "versions.json" not in entry["message"]
    ]
    assert [
        text for text in said if re.search("Content Security Policy|Failed to load", text)
    ] == []


def parse_printed(shown: str, columns: Sequence[str]) -> list[list[str]]:
    """Return the rows of cells that a command printed, without notes and the command; values of all
    rows stand in a line below.
    """
    table = re.sub(r"^\$ (?:.*\\\n)*.*\n", "", shown)
    table = re.sub(r"(?m)^note: .*\n?(?:(?<=.{50}\n)  \S.*\n?)*", "", table)  # as they are wrapped
    table, _, shared = table.partition("\nIn every row: ")
    blocks = table.strip("\n").split("\n\n")
    lines = [[re.split(r" {2,}", line.strip()) for line in block.splitlines()] for block in blocks]
    if len(blocks) == 1:
        rows = lines[0][1:]
    elif all({*header} <= {*columns} for header, *_ in lines):  # columns in several parts
        header, *cells = ([*chain(*parts)] for parts in zip(*lines, strict=True))
        by_name = [dict(zip(header, row, strict=True)) for row in cells]
        rows = [[row[name] for name in columns if name in row] for row in by_name]
    else:  # of a table that is too wide: a line per column
        rows = [re.findall(r"(?m)^\S+ +(.*)$", record) for record in blocks]
    shared, _, empty = " ".join(shared.split()).rstrip(".").partition(". Empty: ")
    pairs = re.findall(r"([\w.]+) = (.*?)(?=, [\w.]+ = |$)", shared)
    pairs += [(name, "NULL") for name in empty.split(", ") if name]
    for place, value in sorted((columns.index(name), value) for name, value in pairs):
        for row in rows:
            row.insert(place, value)
    return rows


def is_shown_as(value: str | None, cell: str) -> bool:
    """Return True if a cell of a page shows a value, a number rounded as the page does."""
    if value is None or not re.fullmatch(r"-?[\d,]+(\.\d+)?", cell):
        return cell == ("NULL" if value is None else value)
    digits = len(cell.partition(".")[2])
    return abs(float(cell.replace(",", "")) - float(value)) <= 0.5 * 10**-digits + 1e-9


def differences(found: dict[str, Any]) -> dict[str, Any]:
    """Return pages whose statement gives other numbers than they show, or fails."""

    def is_equal(rows: Sequence[Sequence[str | None]], printed: Sequence[Sequence[str]]) -> bool:
        return len(rows) == len(printed) and all(
            len(row) == len(cells) and all(map(is_shown_as, row, cells))
            for row, cells in zip(rows, printed, strict=True)
        )

    return {
        place: result
        for place, result in found.items()
        if "error" in result
        or not is_equal(result["rows"], parse_printed(result["shown"], result["columns"]))
    }


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_the_statement_of_each_page_gives_its_numbers(browser, address):
    places = [
        sections.locate_metric_page(file).replace(".md", ".html")
        for file in FILES
        if "duckdb" in examples.list_warehouses(file)
    ]
    assert len(places) > 250
    browser.get(f"{address}/try.html")
    found = browser.execute_async_script(
        f"(async () => {{{RUN_PAGES}}}).apply(null, arguments)", places
    )
    assert len(found) == len(places)
    assert differences(found) == {}
    assert (
        differences(
            {
                "a": {
                    "columns": ["auc"],
                    "rows": [["0.75"]],
                    "shown": "$ sqlrank evaluate\nAUC\n0.7501",
                }
            }
        )
        != {}
    )
    assert_nothing_refused(browser)


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_a_reader_edits_and_runs_the_statement_of_a_metric(browser, address):
    browser.get(f"{address}/metrics/classification/auc.html")
    assert "duckdb.wasm" not in str(
        browser.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    )
    browser.find_element("css selector", ".sql-run button").click()
    assert float(wait_for_output(browser).split()[1]) == pytest.approx(0.9)
    for statement, expected in (
        ("SELECT COUNT(*) AS n, NULL AS missing FROM predictions;", "n\tmissing\n8\tNULL"),
        ("SELECT 1 FROM nowhere", "nowhere"),
    ):
        editor = browser.find_element("css selector", ".sql-run textarea")
        editor.clear()
        editor.send_keys(statement)
        browser.find_element("css selector", ".sql-run button").click()
        assert expected in wait_for_output(browser)


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_a_reader_runs_samples_and_functions_on_files(browser, address, tmp_path):
    browser.get(f"{address}/try.html")
    for number, expected in enumerate(("0.3015", "men\t0.5961\t0.0341", "how-to\t33\t0.718")):
        browser.execute_script("document.querySelector('.sql-output').dataset.state = ''")
        browser.find_elements("css selector", ".sql-samples button")[number].click()
        assert expected in wait_for_output(browser)
    rows = [
        (
            r'{"id": 1, "x": 1, "retrieved": ["a\"b\\", "c, d"], "relevant": ["c, d"], "m": {"a": 1},'
            r' "e": ""}'
        )
    ]
    rows += [
        "",
        (
            '{"id": 9007199254740991, "x": 2.5, "retrieved": ["NULL", "é\'"], "relevant": [],'
            ' "late": null}'
        ),
    ]
    (tmp_path / "my answers.jsonl").write_text("\n".join(rows), "utf-8")
    (tmp_path / "wrong.jsonl").write_text('{"id": 1}\n{"id": \n', "utf-8")
    chooser = browser.find_element("css selector", ".sql-drop input")
    for name, expected in (
        ("my answers.jsonl", "9007199254740991\t2.5\t['NULL', 'é\\'']\t[]\tNULL\tNULL\tNULL"),
        ("wrong.jsonl", "wrong.jsonl, line 2: "),
    ):
        chooser.send_keys(str(tmp_path / name))
        assert expected in wait_for_output(browser)
    editor = browser.find_element("css selector", ".sql-try textarea")
    editor.clear()
    editor.send_keys(
        "SELECT id, sqlrank.ndcg_at(retrieved, relevant, 10) AS ndcg FROM my_answers ORDER BY id"
    )
    browser.find_element("css selector", ".sql-try > .md-button").click()
    assert "1\t0.63092" in wait_for_output(browser)
    assert_nothing_refused(browser)


def test_a_site_without_npm_has_no_buttons(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(npm_packages, "BUILT", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with caplog.at_level(logging.INFO, "mkdocs.website"):
        assert npm_packages.engine_files.__wrapped__() == {}
    assert "pages have no button to run their SQL, because npm failed: npm is not" in caplog.text


def test_a_package_of_another_checksum_ends_the_build(monkeypatch, tmp_path):
    for path in npm_packages.PACKAGES.glob("*.json"):
        text = path.read_text("utf-8").replace("sha512-", "sha512-AAAA")
        (tmp_path / path.name).write_text(text, "utf-8")
    monkeypatch.setattr(npm_packages, "PACKAGES", tmp_path)
    monkeypatch.setattr(npm_packages, "BUILT", tmp_path / "built")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        npm_packages.engine_files.__wrapped__()
    assert "EINTEGRITY" in caught.value.stderr
