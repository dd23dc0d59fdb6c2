"""A report in a browser, as its readers open it: headless Chromium, driven by selenium."""

import base64
import subprocess
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.charts.export import save_chart, svg_panels
from tests.interface.browser import open_page, start_browser
from tests.interface.charts import RESULTS
from tests.interface.command_line import TREC
from tests.interface.test_cluster_reports import classify, link_records
from tests.interface.test_reports import report_many_queries
from tests.interface.test_rollup_reports import make_rollup
from website.npm_packages import build_packages

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

CLICKS = TREC.parent / "open_bandit" / "impressions.parquet"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with reports of rankings and predictions from real collections."""
    made = tmp_path_factory.mktemp("reports")
    runs = {"full": TREC / "results.test", "cut": TREC / "results.trunc"}
    sqlrank.report(run=runs, qrels=TREC / "qrels.rel_level").save(made / "rankings.html")
    columns = {"label": "click", "score": ["score_logistic", "score_boosting"]}
    sqlrank.report(predictions=CLICKS, columns=columns, by=["campaign", "policy"]).save(
        made / "predictions.html"
    )
    effects = sqlrank.experiment(
        "Mean(click)", data=CLICKS, unit="impression_id", variant="policy", control="random"
    )
    sqlrank.report(experiment=effects).save(made / "experiment.html")
    sqlrank.report(["AUC", "LogLoss"], rollup=make_rollup(), by="group", tolerance=0.1).save(
        made / "rollup.html"
    )
    sqlrank.report(inputs={"records": link_records()}, system="system").save(made / "clusters.html")
    sqlrank.report(inputs={"classified": classify()}, system="system", unit="ticket").save(
        made / "classes.html"
    )
    sqlrank.report(**rank_with_long_names()).save(made / "names.html")
    return made


def rank_with_long_names() -> dict[str, Any]:
    """Return three runs whose names have forty letters, of which later ones rank better, and the
    countries of queries.
    """
    names = [f"candidate_reranker_distilled_week_4{place}_full" for place in range(3)]
    grades = {
        f"q{query}": {f"d{doc}": (query + doc) % 4 for doc in range(8)} for query in range(30)
    }
    runs = {
        name: {
            query: {doc: grade * place + int(doc[1:]) % 5 for doc, grade in documents.items()}
            for query, documents in grades.items()
        }
        for place, name in enumerate(names)
    }
    queries = [{"query_id": query, "country": f"land {query[1:2]}"} for query in grades]
    return {
        "metrics": ["nDCG@5", "MRR"],
        "run": runs,
        "qrels": grades,
        "queries": pa.Table.from_pylist(queries),
        "by": "country",
    }


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Any]:
    with start_browser(folder) as started:
        yield started


@pytest.fixture(params=["rankings", "predictions"])
def page(request: pytest.FixtureRequest, browser: Any, folder: Path) -> Any:
    """Return a browser with one of the pages open, wide and light."""
    return open_page(browser, folder / f"{request.param}.html")


@pytest.fixture
def rankings(browser: Any, folder: Path) -> Any:
    page = open_page(browser, folder / "rankings.html")
    page.execute_script("for (const fold of document.querySelectorAll('.fold')) fold.open = true")
    return page


def read_column(page: Any, table: str, place: int) -> list[str]:
    """Return the texts of a column of a table, of the rows that are seen."""
    rows = f"[...document.getElementById('{table}').tBodies[0].rows].filter(row => !row.hidden)"
    return page.execute_script(f"return {rows}.map(row => row.cells[{place}].textContent.trim())")


def press(page: Any, selector: str) -> None:
    page.execute_script(
        "document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector
    )
    page.find_element("css selector", selector).click()


def test_nothing_is_printed_on_the_console_and_it_opens_at_once(page):
    assert page.get_log("browser") == []
    assert page.execute_script("return window.said") == []
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert (
        page.execute_script(
            "return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
        )
        < 2000
    )


@pytest.fixture(scope="module")
def axe() -> str:
    try:
        return (build_packages() / "axe.min.js").read_text("utf-8")
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"npm cannot fetch axe-core: {error}")


@pytest.mark.parametrize(
    "name", ["rankings", "predictions", "experiment", "rollup", "clusters", "classes"]
)
def test_axe_finds_no_violation(browser, folder, axe, name):
    run = (
        "axe.run(document, {resultTypes: ['violations']}).then(arguments[0], error =>"
        " arguments[0]({error: String(error)}))"
    )
    for width, scheme in product((1400, 375), ("light", "dark")):
        page = open_page(browser, folder / f"{name}.html", width, scheme)
        # Rules also hold for what is folded at first. The page forbids other scripts, so the
        # protocol of the browser runs this one.
        page.execute_script(
            "for (const fold of document.querySelectorAll('details')) fold.open = true"
        )
        page.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
        found = page.execute_async_script(run)
        assert len(found["passes"]) > 20
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]] == []


@pytest.mark.parametrize("name", ["experiment", "rollup", "clusters", "classes"])
def test_other_reports_open_at_every_width_and_print(browser, folder, name):
    wide = (
        "return [...document.querySelectorAll('table, svg')].filter(n =>"
        " n.getBoundingClientRect().right > innerWidth).map(n => n.id)"
    )
    for width, scheme in ((1400, "light"), (900, "dark"), (375, "light")):
        page = open_page(browser, folder / f"{name}.html", width, scheme)
        assert page.get_log("browser") == []
        assert page.execute_script("return window.said") == []
        assert (
            page.execute_script(
                "const d = document.documentElement; return d.scrollWidth - d.clientWidth"
            )
            == 0
        )
        assert (
            len(page.find_elements("css selector", "figure:has(svg)"))
            == len(page.find_elements("css selector", "figure"))
            >= 1
        )
        assert page.execute_script(
            "return [...document.querySelectorAll('.verdicts li')].every(n => n.textContent.trim())"
        )
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 688, "height": 1000, "deviceScaleFactor": 1, "mobile": False},
    )
    assert page.execute_script(wide) == []
    # A header that holds the box of a button would not be repeated on the next page.
    headers = (
        "return [...new Set([...document.querySelectorAll('thead, thead button')].map(n =>"
        " getComputedStyle(n).display))].sort()"
    )
    assert page.execute_script(headers) == ["contents", "table-header-group"]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    levels = page.execute_script(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].map(n => Number(n.tagName[1]))"
    )
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_a_report_of_100_000_queries_opens_at_once_with_its_charts(browser, tmp_path):
    path = report_many_queries().save(tmp_path / "large.html")
    assert path.stat().st_size < 5_000_000
    page = open_page(browser, path)
    assert (
        page.execute_script(
            "return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
        )
        < 2000
    )
    assert (
        len(page.find_elements("css selector", "figure:has(svg)"))
        == len(page.find_elements("css selector", "figure"))
        == 6
    )
    # 1,000 rows of comparisons within shops: 50 are shown, and a filter finds one of the others.
    assert len(read_column(page, "comparison-group-0-rows", 0)) == 1000
    rest = "return document.querySelectorAll('#comparison-group-0-rows .rest').length"
    assert page.execute_script(rest) == 950
    page.find_element("css selector", "[data-filter='comparison-group-0-rows']").send_keys(
        "P@1 shop 499"
    )
    assert read_column(page, "comparison-group-0-rows", 0) == ["shop 499"]
    assert page.execute_script(rest) == 0
    assert (
        page.find_element("css selector", "[data-shown='comparison-group-0-rows']").text
        == "1 of 1 found in 1000 rows"
    )


def test_all_charts_are_drawn(page):
    size = (
        "svg => { const box = svg.getBoundingClientRect(); return [box.width, box.height,"
        " svg.querySelectorAll('path').length] }"
    )
    drawn = page.execute_script(f"return [...document.querySelectorAll('figure svg')].map({size})")
    assert (
        len(drawn)
        >= len(page.find_elements("css selector", "figure:has(svg)"))
        == len(page.find_elements("css selector", "figure"))
        >= 4
    )
    assert all(width > 200 and height > 50 and paths > 1 for width, height, paths in drawn)
    assert (
        page.execute_script("return document.querySelectorAll('#summary-chart svg title').length")
        >= 10
    )
    broken = (
        "return [...document.querySelectorAll('[clip-path]')].filter(n =>"
        " !document.querySelector(n.getAttribute('clip-path').slice(4, -1))).length"
    )
    assert page.execute_script(broken) == 0


def test_a_click_sorts_up_and_another_down(rankings):
    head = "#summary-table-rows th:nth-child(3)"
    values = sorted(map(float, read_column(rankings, "summary-table-rows", 2)))
    press(rankings, f"{head} button")
    assert list(map(float, read_column(rankings, "summary-table-rows", 2))) == values
    assert rankings.find_element("css selector", head).get_attribute("aria-sort") == "ascending"
    press(rankings, f"{head} button")
    assert list(map(float, read_column(rankings, "summary-table-rows", 2))) == values[::-1]
    press(rankings, "#summary-table-rows th:nth-child(2) button")
    names = read_column(rankings, "summary-table-rows", 1)
    assert names == sorted(names, key=str.lower)
    assert rankings.find_element("css selector", head).get_attribute("aria-sort") is None


def test_keys_sort_filter_and_unfold(rankings):
    from selenium.webdriver.common.keys import Keys

    button = rankings.find_element("css selector", "#summary-table-rows th:nth-child(3) button")
    button.send_keys(Keys.ENTER)
    values = list(map(float, read_column(rankings, "summary-table-rows", 2)))
    assert values == sorted(values)
    summary = rankings.find_element("css selector", "details.sql summary")
    summary.send_keys(Keys.SPACE)
    assert rankings.find_element("css selector", "details.sql").get_attribute("open") is not None


def test_typing_filters_and_says_how_many_are_left(rankings):
    box = rankings.find_element("css selector", "[data-filter='summary-table-rows']")
    box.send_keys("FULL ndcg")
    assert read_column(rankings, "summary-table-rows", 1) == ["nDCG@10"]
    assert (
        rankings.find_element("css selector", "[data-shown='summary-table-rows']").text
        == "1 of 1 found in 10 rows"
    )
    box.clear()
    box.send_keys("x")
    assert read_column(rankings, "summary-table-rows", 1) == []


def test_a_slider_moves_the_confusion_matrix(browser, folder):
    page = open_page(browser, folder / "predictions.html")
    move = """const slider = document.querySelector('.thresholds input'); slider.value = arguments[0];
        slider.dispatchEvent(new Event('input', {bubbles: true}));
        return [...document.querySelectorAll('.thresholds [data-part]')].map(n => n.textContent)"""
    # At the least score all of the 40,000 predictions are positive, of which 207 are right.
    assert page.execute_script(move, 0) == [
        "207", "0", "39,793", "0", "0.0052", "1.0000", "0.0000", "0.0103", "0.0052",
    ]  # fmt: skip
    last = page.execute_script(move, 1000)
    assert int(last[0].replace(",", "")) + int(last[1].replace(",", "")) == 207


def test_a_button_copies_the_statement(rankings):
    from selenium.webdriver.support.ui import WebDriverWait

    origin = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    rankings.execute_cdp_cmd("Browser.grantPermissions", origin)
    press(rankings, "section[aria-labelledby='summary-table'] .sql summary")
    press(rankings, "[data-copy='summary-table-sql']")
    said = rankings.find_element("css selector", "#said")
    WebDriverWait(rankings, 10).until(lambda _: said.get_attribute("textContent") == "Copied")
    text = rankings.execute_async_script(
        "const done = arguments[0]; navigator.clipboard.readText().then(done, e => done(String(e)))"
    )
    assert text == rankings.execute_script(
        "return document.getElementById('summary-table-sql').textContent"
    )
    assert text.startswith("-- sqlrank ")


def test_a_table_is_saved_as_csv(rankings, folder):
    from selenium.webdriver.support.ui import WebDriverWait

    rankings.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
    )
    press(rankings, "[data-csv='summary-table-rows']")
    target = folder / "summary-table-rows.csv"
    WebDriverWait(rankings, 10).until(lambda _: target.is_file())
    lines = target.read_text("utf-8").splitlines()
    assert (lines[0], len(lines)) == ("system,metric,value,interval", 11)
    assert lines[1].startswith("full,nDCG@10,0.")


def test_a_chart_is_saved_as_svg(rankings, folder):
    from selenium.webdriver.support.ui import WebDriverWait

    rankings.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
    )
    press(rankings, "[data-save='summary-chart']")
    target = folder / "summary-chart.svg"
    WebDriverWait(rankings, 10).until(lambda _: target.is_file())
    assert target.read_text("utf-8").startswith("<svg ")
    assert 'xmlns="http://www.w3.org/2000/svg"' in target.read_text("utf-8")


@pytest.mark.parametrize("name", ["rankings", "predictions", "classes", "names"])
def test_a_narrow_page_does_not_scroll_sideways(browser, folder, name):
    page = open_page(browser, folder / f"{name}.html", 375)
    wide, seen, whole = page.execute_script(
        "const d = document.documentElement; return [d.scrollWidth, d.clientWidth, innerWidth]"
    )
    assert (wide, whole) == (seen, 375)
    # The smallest text of charts, in pixels of the screen.
    sizes = page.execute_script(
        """return [...document.querySelectorAll('.chart svg text')].filter(n => n.textContent).map(n =>
        parseFloat(getComputedStyle(n).fontSize) * n.ownerSVGElement.getBoundingClientRect().width / n.ownerSVGElement.getAttribute('width'))"""
    )
    assert len(sizes) > 20
    # Beside long names a chart is drawn smaller by up to 15 %.
    assert min(sizes) >= (9.3 if name == "names" else 10.9)
    wider = page.execute_script(
        """return [...document.querySelectorAll('.chart')].filter(
        chart => chart.scrollWidth > chart.clientWidth + 1).map(chart => chart.closest('figure').id)"""
    )
    # Facets across, of the second column of groups, stand side by side on each page.
    assert set(wider) <= {"group-0-chart"} if name == "predictions" else wider == []


CLIPPED = """
    return [...document.querySelectorAll('svg')].flatMap(picture => {
        const view = picture.getBoundingClientRect();
        const isOutside = box => box.width && (box.left < view.left - 1 || box.top < view.top - 1
            || box.right > view.right + 1 || box.bottom > view.bottom + 1);
        return [...picture.querySelectorAll('text')]
            .filter(text => view.width && isOutside(text.getBoundingClientRect()))
            .map(text => text.textContent);
    })"""
"""Texts of charts that reach out of their picture, and are cut there."""


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a chart of each kind, and of each as the panels of a report."""
    made = tmp_path_factory.mktemp("charts")
    for kind, build in RESULTS.items():
        chart = sqlrank.chart(build(), kind)
        save_chart(chart, made / f"{kind}.svg")
        panels = "".join(svg_panels(chart)[0])
        (made / f"{kind}-panels.html").write_text(f"<!DOCTYPE html>{panels}", "utf-8")
    return made


@pytest.mark.parametrize("width", [1400, 375])
def test_no_text_of_a_chart_is_clipped(browser, folder, charts, width):
    num_texts = 0
    assets = (TREC.parents[2] / "docs" / "assets").rglob("*.svg")
    for path in sorted([*folder.glob("*.html"), *charts.iterdir(), *assets]):
        page = open_page(browser, path, width)
        assert page.execute_script(CLIPPED) == [], path.name
        num_texts += page.execute_script("return document.querySelectorAll('svg text').length")
    assert num_texts > 300


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast_in_light_and_dark(browser, folder, scheme):
    page = open_page(browser, folder / "rankings.html", scheme=scheme)
    style = "getComputedStyle(document.querySelector(arguments[0]))"
    paper = page.execute_script(f"return {style}.backgroundColor", "body")
    assert compute_contrast(page.execute_script(f"return {style}.color", "body"), paper) > 7
    assert (
        compute_contrast(
            page.execute_script(f"return {style}.fill", "#summary-chart svg text"), paper
        )
        > 7
    )
    assert page.execute_script(f"return {style}.fill", "#summary-chart svg > rect") == paper
    for quiet in (
        "summary",
        ".note",
        ".mark",
        ".self",
        ".tools",
        "nav a",
        ".grade.unknown",
        ".shade1",
        ".shade2",
        ".shade3",
    ):
        if page.find_elements("css selector", quiet):
            own = page.execute_script(f"return {style}.backgroundColor", quiet)
            assert (
                compute_contrast(
                    page.execute_script(f"return {style}.color", quiet),
                    paper if own == "rgba(0, 0, 0, 0)" else own,
                )
                > 4.5
            ), quiet


def compute_contrast(one: str, other: str) -> float:
    """Return the ratio of the luminances of two colours, as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in colour[4:-1].split(",")]
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lights = sorted([luminance(one), luminance(other)])
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def test_it_prints_on_a4(page):
    found = page.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    data = base64.b64decode(found["data"])
    assert data.startswith(b"%PDF")
    # A4 is 595 by 842 points.
    assert b"/MediaBox [0 0 594.95996 841.91998]" in data or b"/MediaBox [0 0 595" in data
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 688, "height": 1000, "deviceScaleFactor": 1, "mobile": False},
    )
    # What is wider than the paper without its margins would be cut.
    wide = (
        "return [...document.querySelectorAll('table, svg')].filter(n =>"
        " n.getBoundingClientRect().right > innerWidth).map(n => n.id)"
    )
    assert page.execute_script(wide) == []
    # Text for screen readers below the last line would make a blank page.
    hidden = (
        "return [...document.querySelectorAll('.hidden')].map(n => getComputedStyle(n).display)"
    )
    assert set(page.execute_script(hidden)) == {"none"}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_frame_in_a_notebook_keeps_its_style_and_its_script_to_itself(browser, folder):
    found = sqlrank.report(
        "Brier", predictions=CLICKS, columns={"label": "click", "score": "score_logistic"}
    )
    around = folder / "notebook.html"
    around.write_text(
        f"<!DOCTYPE html><title>notebook</title><p id='mine'>mine</p>{found._repr_html_()}", "utf-8"
    )
    page = open_page(browser, around)
    before = page.execute_script(
        "return getComputedStyle(document.getElementById('mine')).fontFamily"
    )
    assert "system-ui" not in before
    page.switch_to.frame(0)
    assert page.find_element("css selector", "h1").text == "Brier"
    press(page, "#pivot-rows th:nth-child(2) button")
    assert (
        page.find_element("css selector", "#pivot-rows th:nth-child(2)").get_attribute("aria-sort")
        == "ascending"
    )
    assert (
        page.execute_script("try { return parent.document.title } catch (e) { return e.name }")
        == "SecurityError"
    )
    page.switch_to.default_content()


def test_every_control_has_a_name_and_headings_are_in_order(page):
    names = (
        "return [...document.querySelectorAll('button, a, input, summary, [role=group]')].map(n =>"
        " (n.getAttribute('aria-label') || n.labels?.[0]?.textContent || n.textContent ||"
        " '').trim())"
    )
    assert all(page.execute_script(names))
    levels = page.execute_script(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].map(n => Number(n.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert (
        page.execute_script(
            "return document.querySelectorAll('svg:not([role=img][aria-label])').length"
        )
        == 0
    )
    assert page.execute_script("return document.documentElement.lang") == "en"
