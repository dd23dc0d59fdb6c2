"""Charts of rollups over days: lines with bands of certain bounds."""

import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from tests.interface.charts import (
    CLICKS,
    detect_drift,
    iterate_parts,
    list_marks,
    list_rows,
    read_caption,
)
from tests.interface.command_line import run_command


def make_rollup() -> pa.Table:
    """Return the rollup of two days, written as texts, with bins so coarse that scores share
    them.
    """
    return sqlrank.rollup(["AUC", "LogLoss"], predictions=CLICKS, by=["day", "country"], n_bins=4)


def draw_spec(**options: Any) -> dict[str, Any]:
    """Return the chart of AUC from the rollup."""
    return sqlrank.chart(sqlrank.evaluate("AUC", rollup=make_rollup(), **options)).to_dict()


@pytest.mark.slow
def test_a_line_with_the_band_of_what_is_certain():
    result = sqlrank.evaluate("AUC", rollup=make_rollup(), window_days=2)
    found = draw_spec(window_days=2)
    assert list_marks(found) == ["area", "line"]
    expected = [
        (
            f"{row['day']}T00:00:00", row["AUC"], row["AUC.bound_low"], row["AUC.bound_high"],
            row["num_days"], row["num_rows"],
        )
        for row in result.to_pylist()
    ]  # fmt: skip
    assert list_rows(found, "x", "y", "low", "high", "count_0", "count_1") == expected
    assert expected[1][2] < expected[1][3]
    titles = [item["title"] for item in found["layer"][1]["encoding"]["tooltip"]]
    assert titles == ["day (2026)", "AUC", "bound_low", "bound_high", "num_days", "num_rows"]
    assert (
        read_caption(found)
        == "Bands: bounds over all orders of rows within score bins. Each point: the 2 days up"
        " to it."
    )


@pytest.mark.slow
def test_days_and_groups_of_a_rollup_are_drawn_as_they_are():
    assert list_marks(draw_spec(by=["day", "country"])) == ["area", "line"]
    assert (
        read_caption(draw_spec(by="day"))
        == "Bands: bounds over all orders of rows within score bins."
    )
    assert list_marks(draw_spec(by="country")) == ["rule", "rule", "point", "text"]
    sums = sqlrank.chart(sqlrank.evaluate("LogLoss", rollup=make_rollup(), window_days=1)).to_dict()
    assert (list_marks(sums), read_caption(sums)) == (["line"], "Each point: one day.")


@pytest.mark.slow
def test_intervals_are_drawn_before_bounds():
    made = sqlrank.rollup(
        "AUC",
        predictions=CLICKS,
        by="day",
        binning="exact",
        unit="CAST(100 * score AS INT)",
        n_buckets=8,
    )
    result = sqlrank.evaluate("AUC", rollup=made, window_days=2, confidence=0.9)
    found = sqlrank.chart(result).to_dict()
    (row,) = (row for row in result.to_pylist() if row["AUC.ci_low"] is not None)
    assert (row["AUC.ci_low"], row["AUC.ci_high"], row["AUC.n_buckets"]) in list_rows(
        found, "low", "high", "n_buckets"
    )
    assert (
        read_caption(found) == "Bands: 90% confidence intervals. Each point: the 2 days up to it."
    )


def test_the_command_draws_a_rollup(tmp_path):
    pq.write_table(make_rollup(), tmp_path / "rollup.parquet")
    run_command(
        f"chart AUC --rollup {tmp_path}/rollup.parquet --window-days 2 --by country -o "
        f"{tmp_path}/auc.json"
    )
    found = json.loads((tmp_path / "auc.json").read_text("utf-8"))
    assert [colour for _, colour in list_rows(found, "x", "colour")] == ["DE", "DE", "FR", "FR"]


def test_drift_is_a_row_per_group_on_the_band_of_its_tolerance():
    result = detect_drift(tolerance={"AUC": 0.1, "Brier": "10%"})
    found = sqlrank.chart(result).to_dict()
    assert list_marks(found) == ["bar", "rule", "rule", "point"] * 3
    # By hand: DE has a Brier score of 0.265 on the first day, and one class a day. FR has 0.21625.
    margins = {"AUC": [0.1, 0.1], "Brier": [0.0265, 0.021625], "PSI": [None, None]}
    drawn = list_rows(found, "name", "difference", "from", "to", "verdict")
    for metric, margin in margins.items():
        rows = {row["country"]: row for row in result.to_pylist() if row["metric"] == metric}
        for country, width in zip(("DE", "FR"), margin, strict=True):
            row = rows[country]
            ends = (None, None) if width is None else (-width, width)
            state = row["verdict"] or "without tolerance"
            assert (country, row["difference"], *map(pytest.approx, ends), state) in drawn
    assert {row[-1] for row in drawn} == {"pass", "fail", "inconclusive", "without tolerance"}
    assert found["title"]["text"] == "Changes of Brier, AUC and PSI"
    assert "Lines: bounds. Grey bands: tolerated changes." in read_caption(found)
    assert read_caption(found).endswith("A row without a point: a period has no value.")
    titles = {encoding["x"].get("title") for encoding in iterate_parts(found, "encoding")}
    assert titles == {None, "change of AUC", "change of Brier", "change of PSI"}


def test_only_a_distance_has_a_band_on_one_side_of_zero():
    days = pa.table({"day": [1, 1, 2, 2], "label": [0, 0, 0, 1], "score": [0.5, 0.5, 0.5, 0.75]})
    tolerance = {"BaseRate": 0.1, "PSI": 0.2}
    rollup = sqlrank.rollup(["AUC", "BaseRate"], predictions=days, by="day")
    result = sqlrank.drift(
        "BaseRate", rollup=rollup, reference="day = 1", current="day = 2", tolerance=tolerance
    )
    drawn = list_rows(
        sqlrank.chart(result).to_dict(), "value_reference", "difference", "from", "to"
    )
    assert (0.0, 0.5, -0.1, 0.1) in drawn
    assert {row[2:] for row in drawn} == {(-0.1, 0.1), (0.0, 0.2)}  # the other is PSI


def test_drift_without_tolerances_has_no_bands_in_its_caption():
    found = sqlrank.chart(detect_drift()).to_dict()
    assert "Grey bands" not in read_caption(found)
    assert {verdict for (verdict,) in list_rows(found, "verdict")} == {"without tolerance"}
