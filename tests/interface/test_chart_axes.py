"""Axis labels of difficult charts: equal values, few cut-offs, long names."""

import re
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

import sqlrank
from sqlrank.charts.export import save_chart, svg_panels
from sqlrank.charts.theme import choose_ticks
from tests.interface.charts import RESULTS
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

SHIFTED = {"label": [0.0] * 12, "old": [1.0] * 12, "new": [1.5, 0.8, 1.3] * 4, "arm": [*"abc"] * 4}
SPENT = {
    "unit_id": [*range(24)],
    "variant": [*"AB"] * 12,
    "spend": [1.0, 0.9, 1.2, 1.7, 0.8, 0.8] * 4,
}


def compare_shifted(**options):
    return sqlrank.compare("MAE", predictions=SHIFTED, columns={"score": ["old", "new"]}, **options)


DIFFERENCES = {
    "systems": compare_shifted,
    "groups": lambda: compare_shifted(by="arm"),
    "lifts": lambda: sqlrank.experiment("Mean(spend)", data=SPENT, control="A"),
    "drift": RESULTS["drift"],
    "queries": RESULTS["differences"],
    "etas": RESULTS["etasweep"],
}
"""A result for each kind of chart that has an axis of differences."""


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


@pytest.mark.slow
@pytest.mark.parametrize("name", DIFFERENCES)
def test_an_axis_of_differences_labels_0(name):
    panels, _ = svg_panels(sqlrank.chart(DIFFERENCES[name]()))
    for panel in panels:
        axes = re.findall(r'role-axis-label".*?</g>', panel, re.DOTALL)
        shown = [
            text
            for axis in axes
            for opacity, text in re.findall(r'<text [^>]*opacity="(\d)"[^>]*>([^<]*)<', axis)
            if opacity == "1"
        ]
        assert any(re.fullmatch(r"\+?0(\.0+)?%?", text) for text in shown), shown


def test_ticks_around_0_include_it_and_both_ends():
    for low, high in product([-9e7, -40, -3, -0.11, -0.03, -1e-9], [2e-9, 0.07, 0.26, 7, 46, 9e7]):
        ticks, _ = choose_ticks([low, high])
        assert 0 in ticks
        margin = (high - low) * 1e-8
        assert ticks[0] <= low + margin < high - margin <= ticks[-1]
