"""The verdict that a report begins with, the metrics by system, and rounded numbers."""

import re
from typing import Any

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.reports.blocks import format_cell
from sqlrank.reports.verdict_sentences import pair_verdict
from tests.interface.test_reports import QRELS, RUNS, Page, report_rankings


@pytest.fixture(scope="module")
def report_page() -> Any:
    return report_rankings()


@pytest.fixture(scope="module")
def page(report_page: Any) -> Page:
    return Page(report_page.html)


@pytest.mark.slow
def test_a_report_begins_with_the_verdict_and_warnings(page):
    summary = page.text.partition("Metrics by system")[0]
    assert "new and old do not differ significantly on 2 metrics: RR and P@1." in summary
    assert "Only 3 queries are compared" in summary


@pytest.mark.slow
def test_metrics_by_system_have_the_best_in_bold(page, report_page):
    rows = page.rows("pivot")
    assert page.tables["pivot-rows"][0] == ["metric", "old", "new", "better"]
    assert [(row[0], row[3]) for row in rows] == [("RR", "higher"), ("P@1", "higher")]
    assert rows[0][2].startswith("0.8333 (")
    assert [
        text.split(" ")[0] for text in re.findall(r"<strong><bdi>([^<]*)", report_page.html)
    ] == ["0.8333", "0.6667"]


RR_LABELS = {
    ("better", "new beats old on 2 of 2 metrics: AP and RR."): {"system is better": ["AP", "RR"]},
    (
        "worse",
        "new is worse than old on 1 of 2 metrics: AP. The difference in RR is not significant.",
    ): {"baseline is better": ["AP"], "not significant": ["RR"]},
    (
        "mixed",
        "new beats old on 1 of 2 metrics: AP. new is worse than old on 1 of 2 metrics: RR.",
    ): {"system is better": ["AP"], "baseline is better": ["RR"]},
    ("even", "new and old do not differ significantly on 1 metric: AP."): {
        "not significant": ["AP"]
    },
    (
        "differs",
        "KS differs significantly between old and new: neither higher nor lower is better.",
    ): {"differs, none is better": ["KS"]},
}


@pytest.mark.parametrize("expected", RR_LABELS)
def test_a_pair_of_systems_has_one_sentence_with_its_state(expected):
    labeled_metrics = [
        (label, metric) for label, metrics in RR_LABELS[expected].items() for metric in metrics
    ]
    verdict = pair_verdict("new", "old", labeled_metrics)
    assert (verdict.state, verdict.text) == expected


@pytest.mark.slow
def test_one_named_run_is_reported_without_a_comparison():
    page = Page(sqlrank.report("RR", run={"bm25": RUNS["old"]}, qrels=QRELS).html)
    assert page.rows("summary-table") == [["bm25", "RR", "0.6111", "0.0943 to 0.9595"]]
    assert page.tables["pivot-rows"] == [
        ["metric", "bm25", "better"],
        ["RR", "0.6111 (0.0943 to 0.9595)", "higher"],
    ]
    assert "comparison" not in page.ids


@pytest.mark.slow
def test_numbers_are_rounded_where_threads_differ(report_page):
    assert format_cell("difference", 4.8e-18).text == "0.0000"
    assert format_cell("difference", 3.4e-05).text == "+0.000034"
    assert format_cell("difference", -4.2e-07).text == "-4.2e-07"
    assert [
        value
        for value in re.findall(r'data-value="([^"]*)"', report_page.html)
        if len(value.strip("-0.")) > 12
    ] == []


@pytest.mark.slow
def test_the_heading_names_what_is_compared(report_page):
    assert "<title>new against old: RR and P@1</title>" in report_page.html
    assert '<h1 id="top"><bdi>new against old: RR and P@1</bdi></h1>' in report_page.html
    head = re.search(r"<header>(.*?)</header>", report_page.html, re.DOTALL)
    assert head is not None
    text = re.sub(r"<[^>]+>", "", head[1])
    assert text.split("\n")[2] == f"3 queries · today · sqlrank {sqlrank.__version__}"


@pytest.mark.slow
def test_the_verdict_has_the_sizes_of_differences():
    queries = [f"q{number}" for number in range(30)]
    runs = {
        "old": {query: {"a": 1.0, "b": 2.0} for query in queries},
        "new": {query: {"a": 1.0, "b": 0.0 if query != "q0" else 2.0} for query in queries},
    }
    html = sqlrank.report("RR", run=runs, qrels={query: {"a": 1} for query in queries}).html
    # One of 30 queries gains nothing, the others 0.5: t is 2.0452 of 29 degrees of freedom.
    assert (
        "<strong>new beats old on 1 of 1 metric:</strong> RR 0.5000\xa0→\xa00.9833 (+0.4833, 95%"
        " interval 0.4492 to 0.5174)." in html
    )


@pytest.mark.slow
def test_metrics_that_differ_within_groups_are_named_and_sorted_below_regressions():
    rows = range(400)
    table = {
        "label": [int(row % 4 == 0) for row in rows],
        "country": ["fr" if row % 8 < 4 else "de" for row in rows],
        "old": [0.25 + row % 4 / 1000 for row in rows],
        "new": [0.5 + row % 4 / 1000 for row in rows],
    }
    html = sqlrank.report(
        ["AUC", "CalibrationRatio"],
        predictions=pa.table(table),
        columns={"score": ["old", "new"]},
        by="country",
    ).html
    assert (
        "CalibrationRatio differs significantly in 2 of 2 comparisons within groups, and neither"
        " higher nor lower is better. The largest difference: CalibrationRatio of new in country=de,"
        in html
    )
    section = html[html.index('id="comparison-group-0"') :]
    assert section.index("CalibrationRatio") < section.index("AUC")


@pytest.mark.slow
def test_the_better_of_two_systems_without_a_baseline_is_compared_with_the_worse():
    """The letters of their names would make the better one, a_new, the baseline."""
    rows = [
        {"system": system, "query_id": f"q{number}", "doc_id": doc, "score": score}
        for system, top in (("a_new", 3.0), ("b_old", 0.0))
        for number in range(30)
        for doc, score in (("a", top if number else 0.0), ("b", 2.0))
    ]
    qrels = {f"q{number}": {"a": 1} for number in range(30)}
    report = sqlrank.report("RR", run=pa.Table.from_pylist(rows), qrels=qrels, system="system")
    assert report.title == "a_new against b_old: RR"
    assert "<strong>a_new beats b_old on 1 of 1 metric:</strong>" in report.html
    page = Page(report.html)
    assert page.tables["pivot-rows"][0] == ["metric", "b_old", "a_new", "better"]
    assert page.tables["comparison-table-rows"][1][:4] == ["RR", "0.5000", "0.9833", "+0.4833"]


@pytest.mark.slow
def test_each_of_several_systems_without_an_order_beats_the_worse_one():
    rows = [
        {"system": system, "query_id": f"q{number}", "doc_id": doc, "score": score}
        for system, place in (("a", 3), ("b", 2), ("c", 1))
        for number in range(30)
        for doc, score in (("d", place + (number == 0) + 0.5), ("e", 2), ("f", 3), ("g", 1))
    ]
    qrels = {f"q{number}": {"d": 1} for number in range(30)}
    report = sqlrank.report("RR", run=pa.Table.from_pylist(rows), qrels=qrels, system="system")
    claims = re.findall("<strong>(.*?) on 1 of 1 metric:</strong> (.*?),", report.html)
    assert [(claim, text.partition("(")[2]) for claim, text in claims] == [
        ("a beats b", "+0.4833"),
        ("a beats c", "+0.6611"),
        ("b beats c", "+0.1778"),
    ]
