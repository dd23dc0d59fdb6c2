"""Statements that evaluate a rollup give the numbers of ``evaluate``; tests/engines/test_rollups.py
runs them on other engines.
"""

import shlex
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from tests.analyses.test_ranking_rollups import draw_lists
from tests.analyses.test_rollups import ORDERS, SUMS, THREE, draw_clicks, make_rollup
from tests.interface.command_line import run_command


@pytest.mark.slow
def test_bins_that_are_integers_are_looked_up_by_their_place():
    """They say what others in the same order do, and the setting for that is the caller's again."""
    given = {"predictions": draw_clicks(), "by": ["day", "campaign"], "n_bins": 64}
    made = sqlrank.rollup(["AUC", "LogLoss"], **given)
    moved = made.set_column(made.column_names.index("bin"), "bin", pa.compute.add(made["bin"], 0.5))
    duck = duckdb.connect()
    duck.execute("SET perfect_ht_threshold = 7")
    duck.register("kept", made)
    for by in ([], ["day"], ["campaign"]):
        found = sqlrank.evaluate(["AUC", "LogLoss"], rollup="kept", connection=duck, by=by)
        assert found.to_pylist() == [
            pytest.approx(row, rel=1e-12)
            for row in sqlrank.evaluate(["AUC", "LogLoss"], rollup=moved, by=by).to_pylist()
        ]
    assert duck.execute("SELECT current_setting('perfect_ht_threshold')").fetchone() == (7,)


EVERY = [*SUMS, *ORDERS]


def run_statement(
    duck: duckdb.DuckDBPyConnection, text: str, metrics: list[str]
) -> list[dict[str, Any]]:
    """Return the rows of a statement under the names that evaluate gives its columns."""
    table = duck.sql(text).to_arrow_table()
    orders = {str(sqlrank.parse(name)) for name in ORDERS}
    wide = [
        end
        for name in metrics
        for end in (
            (name, f"{name}.bound_low", f"{name}.bound_high")
            if str(sqlrank.parse(name)) in orders
            else (name,)
        )
    ]
    first = next(
        place for place, name in enumerate(table.column_names) if name not in {"day", "campaign"}
    )
    names = [*table.column_names[:first], *wide, *table.column_names[first + len(wide) :]]
    return table.rename_columns(names).to_pylist()


@pytest.mark.slow
@pytest.mark.parametrize("by", [["campaign"], [], ["day", "campaign"]])
@pytest.mark.parametrize(
    "bins", [{"n_bins": 64, "exact_scores": [0.25, 0.5]}, {}, {"binning": "exact"}]
)
def test_statements_say_what_is_evaluated(by, bins):
    """Of bins that are open, of one score beside those, and of all."""
    duck = duckdb.connect()
    made = sqlrank.rollup(EVERY, predictions=draw_clicks(), by=["day", "campaign"], **bins)
    duck.register("kept", made)
    asked = {"rollup": "kept", "by": by, "where": "day BETWEEN 2 AND 4"}
    expected = sqlrank.evaluate(EVERY, connection=duck, **asked).to_pylist()
    found = run_statement(duck, sqlrank.sql(EVERY, connection=duck, **asked), EVERY)
    assert found == [pytest.approx(row, abs=1e-11, rel=1e-11) for row in expected]
    blind = run_statement(duck, sqlrank.sql(EVERY, **asked), EVERY)
    assert blind == [
        {name: value for name, value in row.items() if name != "num_days"} for row in found
    ]


def test_three_bins_by_hand():
    """As in test_rollups: AUC 0.7375 from 0.6 to 0.875, APS from what PRAUC lends it."""
    duck = duckdb.connect()
    for is_open, expected in (
        (True, (0.7375, 0.6, 0.875, 0.5119047619, 0.3859263176, 0.8125)),
        (False, (0.7375,) * 3 + (0.5119047619,) * 3),
    ):
        duck.register("kept", make_rollup(THREE, is_open))
        (row,) = duck.sql(sqlrank.sql(["AUC", "APS"], rollup="kept")).fetchall()
        assert row == pytest.approx((*expected, 14), abs=1e-10)


def test_rows_that_cannot_be_added_up_are_undefined():
    """Nobody looks at rows before a statement runs: those of two definitions, and those that are
    taken back, are seen by it.
    """
    duck = duckdb.connect()
    one = sqlrank.rollup(
        ["AUC", "LogLoss"], predictions=draw_clicks(), by=["day", "campaign"], n_bins=64
    )
    other = one.set_column(
        one.column_names.index("definition_hash"), "definition_hash", pa.array(["x"] * one.num_rows)
    )
    half = pa.compute.equal(one["day"], 1)
    mixed = pa.concat_tables([one.filter(half), other.filter(pa.compute.invert(half))])
    duck.register("kept", mixed)
    text = sqlrank.sql(["AUC", "LogLoss"], rollup="kept")
    assert duck.sql(text).fetchall() == [(None, None, None, None, 1500)]
    by_day = duck.sql(sqlrank.sql(["AUC", "LogLoss"], rollup="kept", by="day")).fetchall()
    assert all(None not in row for row in by_day)
    with pytest.raises(sqlrank.InputError, match=r"^rollup: rows of different definitions"):
        sqlrank.sql("AUC", rollup="kept", connection=duck)
    given = {"by": "day", "columns": {"weight": "weight"}, "n_bins": 64}
    parts = [
        sqlrank.rollup(
            ["AUC", "LogLoss"], predictions=rows, batch=name, retract=name == "back", **given
        )
        for name, rows in (("first", draw_clicks()), ("back", draw_clicks().slice(0, 100)))
    ]
    duck.register("batches", pa.concat_tables(parts))
    assert duck.sql(sqlrank.sql("AUC", rollup="batches")).fetchall()[0][:3] == (None, None, None)
    left = sqlrank.evaluate("AUC", rollup="batches", connection=duck).to_pylist()[0]
    assert duck.sql(sqlrank.sql("AUC", rollup="batches", connection=duck)).fetchall() == [
        pytest.approx(tuple(left.values()))
    ]


@pytest.mark.slow
def test_rankings():
    held = draw_lists(weighted=True)
    metrics = ["nDCG@5", "AP(aggregate=gmean)", "RR(aggregate=max)", "num_q"]
    duck = duckdb.connect()
    duck.register("kept", sqlrank.rollup(metrics, **held, by=["day", "country"]))
    for by in ([], ["country"]):
        expected = sqlrank.evaluate(metrics, rollup="kept", connection=duck, by=by).to_pylist()
        found = duck.sql(sqlrank.sql(metrics, rollup="kept", connection=duck, by=by)).fetchall()
        assert found == [pytest.approx(tuple(row.values()), rel=1e-12) for row in expected]
    blind = sqlrank.sql(["AP", "AP(aggregate=wmean)"], rollup="kept")
    assert (
        "\n-- Means of lists are those without weights. aggregate=wmean has the weighted ones"
        in blind
    )
    (row,) = sqlrank.evaluate(
        ["AP(aggregate=mean)", "AP(aggregate=wmean)"], rollup="kept", connection=duck
    ).to_pylist()
    assert duck.execute(blind).fetchone() == pytest.approx(
        [*list(row.values())[:2], row["num_rows"]], rel=1e-12
    )


@pytest.mark.slow
def test_results_are_stored():
    duck = duckdb.connect()
    duck.register("kept", sqlrank.rollup("AUC", predictions=draw_clicks(), by="day"))
    duck.execute(sqlrank.sql("AUC", rollup="kept", by="day", create_table="daily"))
    asked = {"rollup": "kept", "by": "day", "where": "day > 3"}
    for statement in sqlrank.sql("AUC", **asked, insert="daily", overwrite_by="day").split(";\n"):
        duck.execute(statement)
    assert duck.sql("SELECT COUNT(*), SUM(num_rows) FROM daily").fetchall() == [(5, 1500)]
    text = run_command(
        "sql AUC --rollup ads.daily_rollup --by day --dialect snowflake --create-view ads.auc"
    )
    assert "\nCREATE OR REPLACE VIEW ads.auc AS\n" in text
    (command,) = [
        line.removeprefix("-- made by: ")
        for line in text.splitlines()
        if line.startswith("-- made by: ")
    ]
    assert run_command(*shlex.split(command)[1:]) == text


@pytest.mark.slow
def test_rows_without_weights_are_counted(tmp_path):
    """They are those of weight 1, by fewer sums; of a metric of one's own, too, which weighs by a
    case.
    """
    own = tmp_path / "metrics" / "doubtful.sql"
    own.parent.mkdir()
    own.write_text(
        "-- Doubtful: weight below a half, and twice that above it.\nSELECT\n  group_id,\n "
        " SUM(CASE WHEN score > 0.5 THEN 2 ELSE weight END)\n  + SUM(CASE WHEN label = 1 THEN 0"
        " ELSE weight END) / NULLIF(SUM(weight * weight), 0) AS doubtful\nFROM predictions\nGROUP"
        " BY group_id\n"
    )
    metrics = [*SUMS, "AUC", "Doubtful"]
    rows = draw_clicks().drop_columns(["weight"])
    ones = rows.append_column("weight", pa.array([1.0] * rows.num_rows))
    for options in (
        {"unit": "viewer", "n_buckets": 3},
        {"binning": "exact"},
        {"exact_scores": [0.25]},
    ):
        given_ = {"by": ["day", "campaign"], "sql_dir": tmp_path, **options}
        plain, weighted = (
            sqlrank.rollup(metrics, predictions=each, **given_) for each in (rows, ones)
        )
        assert plain.schema.equals(weighted.schema)
        assert set(plain["definition_hash"].to_pylist()).isdisjoint(
            weighted["definition_hash"].to_pylist()
        )
        plain, weighted = (each.drop_columns(["definition_hash"]) for each in (plain, weighted))
        assert plain.to_pylist() == [pytest.approx(row, rel=1e-13) for row in weighted.to_pylist()]
    empty = sqlrank.rollup(
        ["Brier", "num_predictions"], predictions=rows, where="day > 9", by="day", check="off"
    )
    assert empty.num_rows == 0
    text = sqlrank.rollup_sql(
        ["AUC", "LogLoss", "CalibrationRatio"], predictions="clicks", by="day"
    )
    statement = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    assert " weight" not in statement.replace("sum_weight", "")


def test_by_may_be_none():
    """As of rows it is no grouping."""
    rollup = sqlrank.rollup("AUC", predictions=draw_clicks(), by="day")
    assert sqlrank.evaluate("AUC", rollup=rollup, by=None).equals(
        sqlrank.evaluate("AUC", rollup=rollup)
    )
