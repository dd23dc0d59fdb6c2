"""Charts of calibration: the curve with intervals, and the density of the scores on the same
axis.
"""

import pyarrow as pa
import pytest

import sqlrank
from tests.interface.charts import (
    CLICKS,
    evaluate_clicks,
    iterate_parts,
    list_marks,
    list_rows,
    read_caption,
)
from tests.interface.test_charts import draw_spec


def test_calibration_has_the_diagonal_intervals_and_the_density_below():
    found = draw_spec(evaluate_clicks("Calibration(bins=2)"))
    assert list_marks(found) == ["line", "rule", "line", "area"]
    above, below = found["vconcat"]
    assert above["layer"][2]["encoding"]["y"]["title"] == "mean observed (probability)"
    assert (
        above["layer"][2]["encoding"]["x"]["scale"]
        == below["encoding"]["x"]["scale"]
        == {"domain": [0, 1], "nice": False}
    )
    # Wilson's intervals of 1 of 4 and 3 of 4, by hand.
    rows = [
        tuple(round(value, 4) for value in row)
        for row in list_rows(found, "x", "y", "weight", "low", "high")
        if row[2]
    ]
    assert rows == [(0.2625, 0.25, 4, 0.0456, 0.6994), (0.75, 0.75, 4, 0.3006, 0.9544)]
    # Half of the rows between .01875 and .50625, half from there to .99375.
    assert [
        tuple(round(value, 5) for value in row) for row in list_rows(found, "edge", "density")
    ] == [(0.01875, 1.02564), (0.50625, 1.02564), (0.99375, 1.02564)]
    assert read_caption(found) == (
        "Above the dashed line: more positives than predicted. Below: fewer. "
        "2 bins of equal width. Bins without predictions have no point. "
        "Vertical lines: 95% confidence intervals (Wilson). Area: density of the scores."
    )


def test_weighted_calibration_has_no_intervals():
    weighted = CLICKS.append_column("weight", pa.array([0.5] * 8))
    found = draw_spec(sqlrank.evaluate("Calibration(bins=2)", predictions=weighted))
    assert list_marks(found) == ["line", "line", "area"]
    assert "Wilson" not in read_caption(found)


def test_calibration_of_small_probabilities_fills_the_chart():
    small = pa.table({"label": [0] * 90 + [1] * 10, "score": [0.01] * 50 + [0.02] * 50})
    found = draw_spec(
        sqlrank.evaluate("Calibration(binning=equal_mass, bins=2)", predictions=small)
    )
    domains = [part["domain"] for part in iterate_parts(found, "scale") if "domain" in part]
    assert domains == [[0, pytest.approx(1.05 * 0.3304, abs=1e-3)]] * 5
    assert "2 bins of equal weight" in read_caption(found)


def test_calibration_by_two_columns_is_a_chart_for_each_of_the_second():
    found = draw_spec(evaluate_clicks("Calibration", by=["country", "device"]))
    assert [item["title"] for item in found["concat"]] == ["device=a", "device=b"]
