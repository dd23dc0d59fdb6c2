"""Rolling windows of a rollup equal an evaluation of their days, also if days are missing."""

from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.rollups import evaluate_rollup
from tests.analyses.test_rollups import THREE, draw_clicks, make_rollup
from tests.interface.command_line import run_command
from tests.tables import read_columns

METRICS = ["AUC", "APS", "LogLoss", "CalibrationRatio"]


def make_daily_rollup(**options: Any) -> pa.Table:
    """Return the rollup of five days but the third, of two campaigns, one of them NULL."""
    return sqlrank.rollup(
        METRICS, predictions=draw_clicks(), by=["day", "campaign"], where="day <> 3", **options
    )


def are_equal(found: dict[str, Any], expected: dict[str, Any], but: tuple[str, ...] = ()) -> bool:
    """Return True if two rows have the same numbers in all columns but some."""
    one, other = (
        {name: value for name, value in row.items() if name not in but} for row in (found, expected)
    )
    return one == pytest.approx(other, abs=1e-11, rel=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("window_days", [2, 3, 90])
@pytest.mark.parametrize("by", [["campaign"], []])
def test_a_window_is_what_its_days_give(by, window_days):
    """Also directly, of the rows themselves, for the metrics that are sums; the truth of the others
    is within their bounds.
    """
    rows = sqlrank.evaluate(
        METRICS, rollup=make_daily_rollup(), window_days=window_days, by=by
    ).to_pylist()
    assert [row["day"] for row in rows] == [1, 2, 4, 5] * (1 + len(by))
    for row in rows:
        where = f"day BETWEEN {row['day'] - window_days + 1} AND {row['day']} AND day <> 3"
        whose = (
            [
                (
                    "campaign"
                    f" {'IS NULL' if row['campaign'] is None else chr(61) + repr(row['campaign'])}"
                )
            ]
            if by
            else []
        )
        chosen = " AND ".join([where, *whose])
        (merged,) = sqlrank.evaluate(METRICS, rollup=make_daily_rollup(), where=chosen).to_pylist()
        assert are_equal(row, merged, ("day", *by))
        (direct,) = sqlrank.evaluate(
            METRICS, predictions=draw_clicks(), columns={"weight": "weight"}, where=chosen
        ).to_pylist()
        for name in ("LogLoss", "CalibrationRatio"):
            assert row[name] == pytest.approx(direct[name], abs=1e-11)
        for name in ("AUC", "APS"):
            assert (
                row[f"{name}.bound_low"] - 1e-12
                <= direct[name]
                <= row[f"{name}.bound_high"] + 1e-12
            )


def test_days_says_which_are_missing():
    """The third day is not there, and the first two have nothing before them."""
    rows = sqlrank.evaluate("LogLoss", rollup=make_daily_rollup(), window_days=3).to_pylist()
    assert [(row["day"], row["num_days"]) for row in rows] == [(1, 1), (2, 2), (4, 2), (5, 2)]


@pytest.mark.slow
def test_one_day_is_the_day():
    rolled = sqlrank.evaluate(
        METRICS, rollup=make_daily_rollup(), window_days=1, by=["campaign", "day"]
    )
    daily = sqlrank.evaluate(METRICS, rollup=make_daily_rollup(), by=["campaign", "day"])
    assert rolled.column_names == daily.column_names
    assert rolled.schema.types == daily.schema.types
    for one, other in zip(rolled.to_pylist(), daily.to_pylist(), strict=True):
        assert are_equal(one, other)


def test_by_hand():
    """Days (9, 1) high and (1, 9) low have an AUC of 0.5 each and 0.9 together; one of (5, 5) at
    the top makes it 62 / 84.
    """
    bins = read_columns(
        day="1 2 3", bin="2.0 1.0 3.0", positives="9.0 1.0 5.0", negatives="1.0 9.0 5.0"
    )
    rest = {
        "score_min": bins["bin"],
        "score_max": bins["bin"],
        "num_rows": [10.0] * 3,
        "definition_hash": ["0"] * 3,
    }
    rows = sqlrank.evaluate("AUC", rollup=pa.table({**bins, **rest}), window_days=2).to_pylist()
    third = (1 * 9 / 2 + 5 * (9 + 5 / 2)) / (6 * 14)
    assert [row["AUC"] for row in rows] == pytest.approx([0.5, 0.9, third], abs=1e-14)


@pytest.mark.slow
def test_ends_are_chosen():
    """A condition on window ends does not shorten windows: the day before the first end counts."""
    every = sqlrank.evaluate(
        METRICS, rollup=make_daily_rollup(), window_days=2, by="campaign"
    ).to_pylist()
    some = sqlrank.evaluate(
        METRICS,
        rollup=make_daily_rollup(),
        window_days=2,
        by="campaign",
        window_ends="day IN (2, 5)",
    ).to_pylist()
    expected = [row for row in every if row["day"] in {2, 5}]
    assert len(some) == len(expected) == 4
    assert all(are_equal(one, other) for one, other in zip(some, expected, strict=True))


@pytest.mark.slow
def test_windows_are_evaluated_some_at_a_time(monkeypatch):
    whole = sqlrank.evaluate(
        METRICS, rollup=make_daily_rollup(), window_days=3, by="campaign"
    ).to_pylist()
    monkeypatch.setattr(evaluate_rollup, "MAX_BINS_PER_CHUNK", 1)
    parts = sqlrank.evaluate(
        METRICS, rollup=make_daily_rollup(), window_days=3, by="campaign"
    ).to_pylist()
    assert all(are_equal(one, other) for one, other in zip(parts, whole, strict=True))


@pytest.mark.parametrize(
    "days",
    [
        [date(2026, 2, 28), date(2026, 3, 1), date(2026, 3, 3)],
        # A time without a zone is what is tested
        [datetime(2026, 2, 28), datetime(2026, 3, 1), datetime(2026, 3, 3)],  # noqa: DTZ001
        ["2026-02-28", "2026-03-01", "2026-03-03"],
        [20260228, 20260301, 20260303],
    ],
    ids=["dates", "times", "texts", "integers"],
)
def test_days_of_any_type(days):
    rollup = make_rollup(THREE).set_column(0, "day", pa.array(days[::-1]))
    found = sqlrank.evaluate("AUC", rollup=rollup, window_days=2)
    assert found.schema.field("day").type == rollup.schema.field("day").type
    assert [(row["day"], row["num_days"]) for row in found.to_pylist()] == list(
        zip(days, [1, 2, 1], strict=True)
    )


def test_the_command(tmp_path):
    run_command(
        "rollup",
        "AUC",
        "--predictions",
        *_store_rollup(tmp_path),
        "--by",
        "day",
        "-o",
        tmp_path / "rollup.parquet",
    )
    options = ["--window-days", 2, "--window-ends", "day > 3", "--format", "csv"]
    lines = run_command(
        "evaluate", "AUC", "--rollup", tmp_path / "rollup.parquet", *options
    ).splitlines()
    assert lines[0] == "day,AUC,AUC.bound_low,AUC.bound_high,num_days,num_rows"
    assert [line.partition(",")[0] for line in lines[1:]] == ["4", "5"]


def _store_rollup(folder: Any) -> list[Any]:
    pq.write_table(draw_clicks(), folder / "clicks.parquet")
    return [folder / "clicks.parquet"]
