"""Reports of rollups: verdicts on drift, metrics over days, missing days, and refusals."""

import re
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from tests.interface.command_line import run_command

GROUP = "<b>x</b>'s"


def make_rollup(days: int = 12) -> pa.Table:
    """Return a rollup of two groups over days without the third, of which one reverses its scores
    from day 9.
    """
    rows = [
        {
            "day": date(2026, 3, day),
            "group": group,
            "label": label,
            "score": 1.0 - score if day >= 9 and group == GROUP else score,
        }
        for day in range(1, days + 1)
        if day != 3
        for group in (GROUP, "b")
        for label, score in ((1, 0.75), (0, 0.25), (1, 0.5), (0, 0.5))
    ]
    return sqlrank.rollup(
        ["AUC", "LogLoss"], predictions=pa.Table.from_pylist(rows), by=["day", "group"]
    )


@pytest.fixture(scope="module")
def html() -> str:
    tolerance = {"AUC": 0.1, "PSI": 0.25}
    found = sqlrank.report(
        ["AUC", "LogLoss"],
        rollup=make_rollup(),
        by="group",
        reference="day < '2026-03-09'",
        current="day >= '2026-03-09'",
        tolerance=tolerance,
    )
    return str(found.html)


def read_verdicts(html: str) -> list[tuple[str, str]]:
    """Return the states and texts of the first sentences, without their emphasis."""
    found = re.findall(r'<li class="(\w+)[^"]*">.*?<bdi>(.*?)</bdi>', html)
    return [(state, re.sub("</?strong>", "", text)) for state, text in found]


@pytest.mark.slow
def test_a_report_of_a_rollup_begins_with_the_verdicts_on_drift(html):
    assert read_verdicts(html) == [
        (
            "worse",
            (
                "1 of 4 values moved by more than the tolerance: AUC of"
                " group=&lt;b&gt;x&lt;/b&gt;&#39;s from 0.8750 to 0.1250 (-0.7500)."
            ),
        ),
        ("pass", "3 of 4 values are within the tolerance."),
        ("warning", "1 day has no rows between 2026-03-01 and 2026-03-12."),
    ]
    titles = re.findall(r'<h2 id="[\w-]+">(.*?)</h2>', html)
    assert titles == ["Summary", "Metrics over days", "Drift", "Inputs and settings"]
    assert GROUP not in html


@pytest.mark.slow
def test_metrics_over_days_are_drawn_and_named(html):
    figures = dict(
        re.findall(r'<figure class="block" id="([\w-]+)">(.*?)</figure>', html, re.DOTALL)
    )
    assert {name: text.count("<svg ") for name, text in figures.items()} == {
        "summary-chart": 2,
        "days-chart": 2,
        "drift-chart": 3,
    }
    assert "Grey bands: tolerated changes. ▲ fail, ● pass." in figures["drift-chart"]
    assert "Bands: bounds over all orders of rows within score bins." in figures["days-chart"]
    assert (
        len(re.findall("<tr", html[html.index('id="days-table-rows"') : html.index('id="drift"')]))
        == 1 + 2 * 11
    )
    assert "rollup: Table has no column bucket, which confidence= needs" in html


@pytest.mark.slow
def test_the_last_window_is_compared_with_the_days_before_by_default(tmp_path):
    pq.write_table(make_rollup(), tmp_path / "kept.parquet")
    run_command(f"report AUC --rollup {tmp_path}/kept.parquet --window-days 4 -o {tmp_path}/a.html")
    html = (tmp_path / "a.html").read_text("utf-8")
    assert (
        "Reference: day &lt; &#39;2026-03-09&#39;. Current: day &gt;= &#39;2026-03-09&#39;." in html
    )
    assert [text[:21] for _, text in read_verdicts(html)] == [
        "Largest change: AUC f",
        "Without a tolerance, ",
        "1 day has no rows bet",
    ]
    assert "Metrics over windows of 4 days" in html
    few = sqlrank.report("AUC", rollup=make_rollup(days=2)).html
    assert (
        "Drift needs more than 7 days, or a reference: name one with reference= or --reference."
        in few
    )
    assert read_verdicts(few) == [
        ("even", "No change is judged, because two periods are not compared.")
    ]
