"""Axis labels of difficult charts: equal values, few cut-offs, long names."""

import re
from pathlib import Path

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.charts.export import save_chart
from tests.tables import build_table

pytest.importorskip("vl_convert", reason="needs sqlrank[charts]")
EQUAL = build_table(
    label="0 1 0 1",
    score="0.5 0.5 0.5 0.5",
    day="2026-01-01 2026-01-01 2026-01-02 2026-01-02",
    g="a b a b",
    h="x x y y",
)
RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}}


def draw_chart(result: pa.Table, folder: Path) -> tuple[list[str], str]:
    """Return the texts of a chart, and its SVG."""
    save_chart(sqlrank.chart(result), folder / "chart.svg")
    svg = (folder / "chart.svg").read_text("utf-8")
    return re.findall(r"<text [^>]*>([^<]*)</text>", svg), svg


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "by", "expected"),
    [
        ("Brier", "day=CAST(day AS DATE)", "0.25"),
        ("Brier", ["g", "h"], "0.23"),
        ("Threshold", None, "0.50"),
    ],
)
def test_an_axis_of_equal_values_writes_these_and_no_rounded_one(metric, by, expected, tmp_path):
    texts, _ = draw_chart(sqlrank.evaluate(metric, predictions=EQUAL, by=by), tmp_path)
    assert expected in texts


@pytest.mark.slow
def test_few_cut_offs_are_integers(tmp_path):
    texts, _ = draw_chart(
        sqlrank.evaluate("nDCG@1..3", run=RUN, qrels={"q1": {"a": 1, "c": 1}}), tmp_path
    )
    assert [text for text in texts if re.fullmatch(r"\d(\.5)?", text)] == ["1", "2", "3"]


@pytest.mark.slow
def test_a_title_is_above_or_left_of_long_names(tmp_path):
    names = {"g": ["x" * 300] * 2 + ["y"] * 2, "h": "a a b b"}
    table = build_table(label="0 1 0 1", score="0.1 0.4 0.1 0.4", **names)
    _, svg = draw_chart(sqlrank.evaluate("AUC", predictions=table, by="g"), tmp_path)
    assert re.search(r'<text text-anchor="end" transform="translate\(-5,-[\d.]+\)[^>]*>g<', svg)
    _, svg = draw_chart(sqlrank.evaluate("AUC", predictions=table, by=["h", "g"]), tmp_path)
    title = re.search(
        r'<text text-anchor="middle" transform="translate\(-([\d.]+),[\d.]+\) rotate\(-90\)', svg
    )
    assert title is not None
    assert float(title[1]) > 300


@pytest.mark.slow
def test_long_names_of_rows_and_long_titles_have_two_lines(tmp_path):
    name = "a treatment with a name of forty letters"
    table = build_table(label="0 1 0 1", predicted="0 1 1 1", group=[name] * 2 + ["y"] * 2)
    found = sqlrank.evaluate("MulticlassBalancedAccuracy", inputs={"classified": table}, by="group")
    texts, svg = draw_chart(found, tmp_path)
    lines = re.findall(r"<tspan[^>]*>([^<]+)", svg)
    assert [text for text in lines if text in name] == [
        "a treatment with a name",
        "of forty letters",
    ]
    assert {"MulticlassBalancedAccuracy", "(0 to 1, higher is better)"} <= {*lines}
    assert "y" in texts
