"""Notes on intervals and tests of samples that are too small: where they apply, and that their
figures are those of docs/coverage.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from benchmarks.studies.interval_coverage import (
    LEAST,
    ROOT,
    find_listed_cell,
    list_metrics,
    read_listed_cells,
    read_table,
    split_sources,
)
from benchmarks.studies.samples import DESIGNS
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric_info import load_small_samples
from sqlrank.result_metadata import read_left_out
from tests.interface.advice import read_notes
from tests.lanes import select_few

RNG = np.random.default_rng(4)


def draw_numbers(rows: int) -> pa.Table:
    label = RNG.uniform(5, 12, rows)
    return pa.table(
        {
            "label": label,
            "score": label + RNG.normal(size=rows),
            "unit": np.arange(rows) % 10,
            "group": np.arange(rows) // 10,
        }
    )


def draw_labels(positives: int, rows: int) -> pa.Table:
    label, rng = (
        np.arange(rows) < positives,
        np.random.default_rng(1),
    )  # one of its own: the order of tests draws no perfect score
    scores = {
        name: np.clip(0.4 * label + rng.uniform(0, 0.5, rows), 0, 1) for name in ("score", "other")
    }
    return pa.table(
        {
            "label": label.astype(float),
            **scores,
            "unit": np.arange(rows) % 10,
            "row": np.arange(rows),
        }
    )


def test_notes_have_the_figures_of_the_page():
    listed = {(each.kind, each.design, each.coverage): each.metrics for each in read_listed_cells()}
    names = {file.display_name for file in load_registry().metrics.values()}
    for row in load_small_samples("intervals"):
        without_settings = {
            name.partition("(")[0] for name in listed[row.data, row.sample, float(row.covers)]
        }
        assert {*row.metrics} <= without_settings & names, row
    compared = {
        (data, sample): (metrics.split(", "), differ)
        for data, sample, metrics, differ, _ in read_table("Comparisons and gates")
    }
    for row in load_small_samples("comparisons"):
        assert compared[row.data, row.sample] == ([*row.metrics], f"{row.differ} %")
    assert len(compared) == len(load_small_samples("comparisons"))


TOO_SMALL = [each for each in read_listed_cells() if 0 < each.coverage < LEAST]
QUICK = {
    ("class_scores", "3 rows of a class"),
    ("class_scores", "50 rows, lognormal weights"),
    ("clicks", "300 sessions, one of ten clicks"),
    ("judged", "20 labels of 300 rows, noise 0.01"),
    ("numbers", "50 rows, lognormal weights"),
}


@pytest.mark.parametrize(
    "listed",
    select_few(TOO_SMALL, [each for each in TOO_SMALL if (each.kind, each.design) in QUICK]),
    ids=lambda listed: f"{listed.kind}, {listed.design}",
)
def test_a_note_for_each_sample_that_is_too_small(listed):
    """All intervals that the page lists as true in less than 92 % have a note on samples drawn as
    those of its row.
    """
    design = next(each for each in DESIGNS if (each.kind, each.name) == listed[:2])
    metrics = [name for name in list_metrics(design) if find_listed_cell(design, name) == listed]
    named, inputs = split_sources(design.draw_samples(3, 6))
    options = {"by": "sample", "confidence": 0.95, **design.options}
    result = sqlrank.evaluate(metrics, **named, inputs=inputs, **options)
    notes = [
        note
        for note in read_left_out(result.schema.metadata)
        if "% of such samples" in str(note) and "intervals of" in str(note)
    ]
    assert {name for note in notes for name in note.metrics} == {*metrics}


@pytest.mark.parametrize(
    ("rows", "options", "expected"),
    [
        (
            10,
            {},
            [
                (
                    "10 units or fewer: 95 % intervals of MSE, R2 cover the true value in about 82 % of"
                    " such samples"
                )
            ],
        ),
        (
            11,
            {},
            [
                (
                    "20 units or fewer: 95 % intervals of MSE cover the true value in about 88 % of such"
                    " samples"
                )
            ],
        ),
        (21, {}, []),
        (400, {}, []),
        (
            30,
            {"by": "group"},
            [
                (
                    "10 units or fewer: 95 % intervals of MSE, R2 cover the true value in about 82 % of"
                    " such samples (3 of 3 groups)"
                )
            ],
        ),
        (400, {"unit": "unit"}, []),
        (10, {"interval": "t"}, []),
    ],
)
def test_few_units(rows, options, expected):
    assert (
        read_notes(
            sqlrank.evaluate(
                ["MSE", "R2", "MAE"], predictions=draw_numbers(rows), confidence=0.95, **options
            )
        )
        == expected
    )


def test_few_units_of_users():
    result = sqlrank.evaluate(
        ["MSLE", "MAE"], predictions=draw_numbers(400), confidence=0.95, unit="unit"
    )
    assert read_notes(result) == [
        (
            "10 units or fewer: 95 % intervals of MSLE cover the true value in about 91 % of such"
            " samples"
        )
    ]
    assert read_notes(sqlrank.evaluate(["MSLE"], predictions=draw_numbers(9))) == []


def test_few_positives():
    """The class that fewer rows have counts, and an area near 1."""
    for positives, rows in ((8, 300), (292, 300)):
        (note,) = read_notes(
            sqlrank.evaluate("AUC", predictions=draw_labels(positives, rows), confidence=0.95)
        )
        assert (
            note
            == "20 rows of the smaller class or fewer: 95 % intervals of AUC from 0.9 on cover the"
            " true value in about 84 % of such samples"
        )
    table = draw_labels(8, 300)
    (note,) = read_notes(
        sqlrank.evaluate(
            ["AUC", "KS"], predictions=table, confidence=0.95, interval="bootstrap", unit="row"
        )
    )
    assert note.startswith(
        "10 rows of the smaller class or fewer: 95 % bootstrap intervals of AUC cover the true"
        " value in about"
    )
    assert (
        read_notes(
            sqlrank.evaluate(
                ["AUC", "LogLoss"], predictions=draw_labels(2000, 5000), confidence=0.95
            )
        )
        == []
    )
    worse = table.set_column(1, "score", pa.array(RNG.uniform(size=300)))
    assert read_notes(sqlrank.evaluate("AUC", predictions=worse, confidence=0.95)) == []


def test_few_units_of_comparisons():
    two: dict[str, Any] = {
        "predictions": draw_labels(100, 400),
        "columns": {"score": ["score", "other"]},
    }
    expected = [
        "10 units or fewer: tests of APS find a difference of equal systems (p < 0.05) in up to 8 %"
    ]
    assert read_notes(sqlrank.compare(["APS", "LogLoss"], unit="unit", **two)) == expected
    assert (
        read_notes(sqlrank.gate(["APS", "LogLoss"], unit="unit", tolerance=0.1, min_units=5, **two))
        == expected
    )
    assert read_notes(sqlrank.compare(["APS", "LogLoss"], **two)) == []


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_few_units_of_lifts(scale):
    """A note has the figure of the page, for the units of the smaller arm."""
    page = (ROOT / "docs" / "experiments.md").read_text("utf-8")
    rows = [row for row in load_small_samples("lifts") if row.interval == scale]
    for row in rows:
        assert f"{row.covers} %" in page
        for units, more, is_small in (
            (row.most, 30, True),
            (row.most + 1, 30, False),
            (row.most, 2 * row.most, row.size == "arm_units"),
        ):
            data = pa.table(
                {
                    "unit_id": np.arange(units + more),
                    "variant": ["A"] * units + ["B"] * more,
                    "x": 2.0 + np.arange(units + more) % 7,
                }
            )
            result = sqlrank.experiment("Mean(x)", data=data, control="A", lift_scale=scale)
            note = row.describe(("the lift of Mean(x) in B",))
            notes = result.schema.metadata.get(b"sqlrank.notes", b"").decode()
            assert (note in notes) is is_small
