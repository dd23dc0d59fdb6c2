"""Batches of a rollup: retractions as sums and counts below zero, and the remaining rows."""

import re
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import sqlrank
from tests.analyses.test_rollups import ORDERS, SUMS, draw_clicks, load_sqlite
from tests.interface.command_line import invoke_command, run_command
from tests.lanes import select_few
from tests.tables import build_table

BY = ["day", "campaign"]
WEIGHT = {"weight": "weight"}


def make_batch(
    rows: pa.Table, batch: str, *, metrics: Any = "AUC", retract: bool = False, **options: Any
) -> pa.Table:
    """Return the rollup of rows, as a batch."""
    return sqlrank.rollup(
        metrics, predictions=rows, by=BY, batch=batch, retract=retract, columns=WEIGHT, **options
    )


@pytest.mark.slow
@pytest.mark.parametrize("bins", select_few([{"binning": "exact"}, {}, {"n_bins": 16}], 1))
def test_what_is_left_is_a_rollup_of_the_others(bins):
    """A third of the rows is taken back, all of day 5 among them; weights are such as no double has
    exactly.
    """
    rows = draw_clicks().set_column(4, "weight", pc.divide(draw_clicks()["weight"], 10.0))
    gone = pa.array((np.arange(rows.num_rows) % 3 == 0) | (rows["day"].to_numpy() == 5))
    metrics = [*SUMS, *ORDERS]
    whole, back = (
        make_batch(rows, "all", metrics=metrics, **bins),
        make_batch(rows.filter(gone), "back", metrics=metrics, retract=True, **bins),
    )
    assert set(whole["definition_hash"].to_pylist()) == set(back["definition_hash"].to_pylist())
    others = rows.filter(pc.invert(gone))
    rollup, alone = (
        pa.concat_tables([whole, back]),
        make_batch(others, "others", metrics=metrics, **bins),
    )
    for by in ([], ["day"], BY):
        left = sqlrank.evaluate(metrics, rollup=rollup, by=by).to_pylist()
        direct = sqlrank.evaluate(metrics, predictions=others, columns=WEIGHT, by=by).to_pylist()
        kept = sqlrank.evaluate(metrics, rollup=alone, by=by).to_pylist()
        assert len(left) == len(direct) == len(kept)
        for got, one, expected in zip(left, kept, direct, strict=True):
            # A bin that holds one score now is as wide as it was, so that bounds may be further
            # apart, and are those of the others or beyond.
            values = [name for name in got if not name.endswith((".bound_low", ".bound_high"))]
            assert {name: got[name] for name in values} == pytest.approx(
                {name: one[name] for name in values}, abs=1e-11, rel=1e-11
            )
            assert {name: got[name] for name in SUMS} == pytest.approx(
                {name: expected[name] for name in SUMS}, abs=1e-11, rel=1e-11
            )
            for name in ORDERS:
                assert (
                    got[f"{name}.bound_low"] - 1e-11
                    <= expected[name]
                    <= got[f"{name}.bound_high"] + 1e-11
                ), name
    assert sqlrank.evaluate("AUC", rollup=rollup)["num_days"].to_pylist() == [4]


@pytest.mark.slow
def test_thirty_labels_turn_and_twenty_five_rows_are_deleted():
    """The bounds contain the AUC of the rows before and after the retraction."""
    before = draw_clicks()
    turned = np.arange(before.num_rows) < 30
    deleted = (np.arange(before.num_rows) >= 30) & (np.arange(before.num_rows) < 55)
    label = np.where(turned, 1 - before["label"].to_numpy(), before["label"].to_numpy())
    after = before.set_column(before.column_names.index("label"), "label", pa.array(label))
    parts = [
        make_batch(before, "first"),
        make_batch(before.filter(pa.array(turned | deleted)), "back", retract=True),
        make_batch(after.filter(pa.array(turned)), "again"),
    ]
    after = after.filter(pa.array(~deleted))
    for rollup, rows in ((parts[0], before), (pa.concat_tables(parts), after)):
        (row,) = sqlrank.evaluate("AUC", rollup=rollup).to_pylist()
        (exact,) = sqlrank.evaluate("AUC", predictions=rows, columns=WEIGHT)["AUC"].to_pylist()
        assert row["AUC.bound_low"] <= exact <= row["AUC.bound_high"]
        assert row["AUC.bound_high"] - row["AUC.bound_low"] < 0.06
        assert row["num_rows"] == rows.num_rows
    assert (
        abs(exact - sqlrank.evaluate("AUC", predictions=before, columns=WEIGHT)["AUC"][0].as_py())
        > 0.003
    )


@pytest.mark.slow
def test_nothing_is_left_of_sums_that_cancel():
    """0.1 + 0.2 + 0.3 less each of them leaves 8e-17, of which no share can be taken: the bin is
    empty, and the ratio undefined.
    """
    rows = build_table(
        day="1 1 1 1",
        campaign="a a a a",
        label="1 1 1 0",
        score="0.5 0.5 0.5 0.5",
        weight="0.1 0.2 0.3 1.0",
    )
    parts = [make_batch(rows, "all", metrics=["AUC", "CalibrationRatio"])]
    parts += [
        make_batch(
            rows.slice(place, 1), f"back {place}", metrics=["AUC", "CalibrationRatio"], retract=True
        )
        for place in range(3)
    ]
    assert sum(pa.concat_tables(parts)["positives"].to_pylist()) != 0
    (row,) = sqlrank.evaluate(
        ["AUC", "CalibrationRatio"], rollup=pa.concat_tables(parts)
    ).to_pylist()
    assert row == {
        "AUC": None,
        "AUC.bound_low": None,
        "AUC.bound_high": None,
        "CalibrationRatio": None,
        "num_days": 1,
        "num_rows": 1,
    }
    parts.append(
        make_batch(rows.slice(3, 1), "back 3", metrics=["AUC", "CalibrationRatio"], retract=True)
    )
    with pytest.raises(
        sqlrank.InputError, match="has no rows to add up, since all of them have been subtracted"
    ):
        sqlrank.evaluate("AUC", rollup=pa.concat_tables(parts))


def test_rows_of_a_negative_batch_by_hand():
    """Sums and counts are below zero; the least and the greatest score stay what they are, and
    nothing is shown as -0.
    """
    rows = build_table(day="1 1", campaign="a a", label="1 0", score="0.75 0.25", weight="2.0 3.0")
    low, high = (
        make_batch(rows, "back", metrics=["AUC", "Brier"], retract=True)
        .drop_columns(["definition_hash"])
        .to_pylist()
    )
    squares = next(name for name in low if name.startswith("sum_") and low[name] == -3 * 0.25**2)
    weights = next(name for name in low if name.startswith("sum_") and name != squares)
    shared = {"day": 1, "campaign": "a", "num_rows": -1, "batch": "back"}
    assert low == {
        **shared,
        "bin": 939,
        "positives": 0,
        "negatives": -3,
        "score_min": 0.25,
        "score_max": 0.25,
        squares: -0.1875,
        weights: -3,
    }
    assert high == {
        **shared,
        "bin": 1005,
        "positives": -2,
        "negatives": 0,
        "score_min": 0.75,
        "score_max": 0.75,
        squares: -0.125,
        weights: -2,
    }
    assert str(low["positives"]) == "0.0"


@pytest.mark.slow
def test_a_batch_is_added_once():
    duck = duckdb.connect()
    given = {"connection": duck, "insert": "ads"}
    make_batch(draw_clicks(), "first", **given)
    held = duck.sql("SELECT COUNT(*) FROM ads").fetchall()
    with pytest.raises(
        sqlrank.InputError,
        match=(
            r"^insert: ads has rows of the batch 'first' already, which would count twice. Nothing"
            r" was added"
        ),
    ):
        make_batch(draw_clicks().slice(0, 9), "first", retract=True, **given)
    with pytest.raises(
        sqlrank.InputError,
        match=r"^insert: ads has batches. Name that of these rows, such as batch='2026-03-05'",
    ):
        sqlrank.rollup("AUC", predictions=draw_clicks(), by=BY, columns=WEIGHT, **given)
    assert duck.sql("SELECT COUNT(*) FROM ads").fetchall() == held
    make_batch(draw_clicks(), "first", where="day = 2", overwrite_by="day", **given)
    assert duck.sql("SELECT COUNT(*) FROM ads").fetchall() == held
    make_batch(
        draw_clicks(), "back", where="day = 2", batch_where="score > 0.5", retract=True, **given
    )
    left = sum(row["day"] == 2 and row["score"] <= 0.5 for row in draw_clicks().to_pylist())
    assert sqlrank.evaluate("AUC", rollup="ads", connection=duck, where="day = 2")[
        "num_rows"
    ].to_pylist() == [left]


@pytest.mark.slow
def test_more_than_there_was_is_refused_by_the_name_of_the_group():
    """Taken back twice, or of the wrong label: counts or weights of a bin are below zero. The batch
    may be left out.
    """
    rows = build_table(day="1 1", campaign="a a", label="1 0", score="0.75 0.25", weight="1.0 1.0")
    first, back = make_batch(rows, "first"), make_batch(rows.slice(0, 1), "back", retract=True)
    twice = pa.concat_tables(
        [first, back, make_batch(rows.slice(0, 1), "back again", retract=True)]
    )
    assert sqlrank.evaluate("AUC", rollup=twice, where="batch <> 'back again'")[
        "num_rows"
    ].to_pylist() == [1]


def test_a_batch_that_is_there_twice_is_refused(tmp_path):
    """Files are not kept from being copied. What was taken back twice leaves no count below zero
    here.
    """
    rows = build_table(
        day="1 1 1", campaign="a a a", label="1 1 0", score="0.75 0.75 0.25", weight="1.0 1.0 1.0"
    )
    pq.write_table(make_batch(rows, "first"), tmp_path / "first.parquet")
    for name in ("back", "copy of back"):
        pq.write_table(
            make_batch(rows.slice(0, 1), "back", retract=True), tmp_path / f"{name}.parquet"
        )
    message = (
        "has the batch 'back' twice for day = 1, campaign = a, bin = 1005.0, which would count"
        " twice. Delete those rows and add them once"
    )
    with pytest.raises(sqlrank.InputError, match=re.escape(message)):
        sqlrank.evaluate("AUC", rollup=str(tmp_path))
    assert sqlrank.evaluate("AUC", rollup=str(tmp_path), where="batch = 'first'")[
        "num_rows"
    ].to_pylist() == [3]


@pytest.mark.slow
def test_windows_drift_and_another_engine_see_what_is_left():
    gone = pa.array(np.arange(draw_clicks().num_rows) % 4 == 0)
    metrics = ["AUC", "Brier"]
    rollup = pa.concat_tables(
        [
            make_batch(draw_clicks(), "all", metrics=metrics),
            make_batch(draw_clicks().filter(gone), "back", metrics=metrics, retract=True),
        ]
    )
    alone = make_batch(
        draw_clicks().filter(pc.invert(gone)), "others", metrics=metrics, binning="grid"
    )
    for ask in (
        lambda kept, **options: sqlrank.evaluate(metrics, rollup=kept, window_days=2, **options),
        lambda kept, **options: sqlrank.evaluate(metrics, rollup=kept, by="campaign", **options),
        lambda kept, **options: sqlrank.drift(
            "Brier", rollup=kept, reference="day < 3", current="day >= 3", **options
        ),
    ):
        keep = (
            ["AUC", "Brier", "num_days", "num_rows"]
            if "Brier" in ask(rollup).column_names
            else ["metric", "value_current", "difference", "num_rows_current"]
        )
        expected = ask(alone).select(keep).to_pylist()
        assert ask(rollup).select(keep).to_pylist() == [
            pytest.approx(row, abs=1e-11) for row in expected
        ]
        found = ask("s", connection=load_sqlite(rollup), dialect="sqlite").select(keep).to_pylist()
        assert found == [pytest.approx(row, abs=1e-11) for row in expected]


@pytest.mark.slow
def test_a_printed_statement_adds_a_batch_once():
    """Run twice it adds nothing more; with overwrite_by= the days are written anew, however
    often.
    """
    duck = duckdb.connect()
    duck.register("clicks", draw_clicks())
    given = {"predictions": "clicks", "by": BY, "columns": WEIGHT}
    duck.execute(sqlrank.rollup_sql("AUC", **given, batch="first", create_table="ads"))
    for _ in range(2):
        duck.execute(
            sqlrank.rollup_sql(
                "AUC", **given, batch="back", retract=True, batch_where="day = 2", insert="ads"
            )
        )
        assert len(duck.sql("SELECT DISTINCT batch FROM ads").fetchall()) == 2
        assert duck.sql("SELECT SUM(num_rows) FROM ads WHERE day = 2").fetchall() == [(0.0,)]
    duck.execute(
        sqlrank.rollup_sql("LogLoss", predictions="clicks", by=[], batch="one", create_table="sums")
    )
    for _ in range(2):
        duck.execute(
            sqlrank.rollup_sql("LogLoss", predictions="clicks", by=[], batch="two", insert="sums")
        )
    assert duck.sql("SELECT batch FROM sums ORDER BY batch").fetchall() == [("one",), ("two",)]
    script = sqlrank.rollup_sql(
        "AUC", **given, batch="anew", insert="ads", overwrite_by="day", dialect="snowflake"
    )
    assert "'anew' AS batch" in script
    assert "= 'anew'" not in script


def test_the_definition_is_not_of_the_batch():
    plain = sqlrank.rollup("AUC", predictions=draw_clicks(), by=BY, where="score > 0.1")[
        "definition_hash"
    ][0]
    for options in (
        {"batch": "a"},
        {"batch": "b", "retract": True},
        {"batch": "c", "batch_where": "score < 0.5 -- and no more"},
    ):
        found = sqlrank.rollup(
            "AUC", predictions=draw_clicks(), by=BY, where="score > 0.1", **options
        )
        assert set(found["definition_hash"].to_pylist()) == {plain.as_py()}
        assert found["batch"].to_pylist() == [options["batch"]] * found.num_rows
    assert 0 < found.num_rows < sqlrank.rollup("AUC", predictions=draw_clicks(), by=BY).num_rows


def test_a_model_of_dbt_has_the_batch_of_its_rows():
    model = sqlrank.rollup_model(
        "AUC", "ads", predictions="clicks", by="day", begin="2026-01-01", batch="daily"
    )
    assert "'daily' AS batch" in model.sql
    assert [column["name"] for column in model.schema["models"][0]["columns"]][-2:] == [
        "definition_hash",
        "batch",
    ]


@pytest.mark.slow
def test_the_command(tmp_path):
    path = str(tmp_path / "ads.duckdb")
    with duckdb.connect(path) as duck:
        duck.register("c", draw_clicks())
        duck.execute("CREATE TABLE clicks AS SELECT * FROM c")
    asked = [
        "rollup", "AUC", "--predictions", "clicks", "--by", "day", "--db", path, "--insert",
        "ads",
    ]  # fmt: skip
    assert invoke_command(*asked, "--batch", "first").exit_code == 0
    assert (
        invoke_command(
            *asked, "--batch", "back", "--retract", "--batch-where", "score > 0.5"
        ).exit_code
        == 0
    )
    again = invoke_command(*asked, "--batch", "back", "--retract", "--batch-where", "score > 0.5")
    assert (again.exit_code, "has rows of the batch 'back' already" in again.stderr) == (2, True)
    shown = run_command(f"evaluate AUC --rollup ads --db {path} --format csv")
    assert shown.rstrip().endswith(
        f",5,{sum(score <= 0.5 for score in draw_clicks()['score'].to_pylist())}"
    )
