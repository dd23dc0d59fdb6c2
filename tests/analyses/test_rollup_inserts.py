"""Inserts into a rollup that has some of the days: an error with alternatives, also for two inserts
at the same time.
"""

import re
import threading
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.rollups.rollup import insert_rollup
from tests.analyses.test_invalid_rollups import CLICKS
from tests.interface.command_line import invoke_command, run_command

TIMES = 20


def count_rows(duck: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    return duck.sql("SELECT COUNT(*), SUM(num_rows) FROM ads").fetchall()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("by", "group", "anew"),
    [
        (["day", "campaign"], "day = 1, campaign = a", "overwrite_by='day' replaces them"),
        (["campaign"], "campaign = a", "overwrite_by='campaign' replaces them"),
        ([], "all rows", "delete those first"),
    ],
)
def test_rows_of_days_and_slices_that_are_there_are_refused(by, group, anew):
    duck = duckdb.connect()
    options = {"by": by, "connection": duck, "insert": "ads"}
    sqlrank.rollup("AUC", predictions=CLICKS, **options)
    held = count_rows(duck)
    message = (
        f"insert: ads has rows of {group} already, which would count twice. Nothing was added:"
        f" {anew}, and a name in batch=, given from the first insert on, lets others be added to"
        " them"
    )
    with pytest.raises(sqlrank.InputError, match=re.escape(message)):
        sqlrank.rollup("AUC", predictions=CLICKS, **options)
    assert count_rows(duck) == held
    if by:
        sqlrank.rollup("AUC", predictions=CLICKS, **options, overwrite_by=by[0])
        assert count_rows(duck) == held


@pytest.mark.slow
def test_other_days_and_slices_are_added():
    """A day that is NULL is a day like others; buckets are of the same rows as those before."""
    duck = duckdb.connect()
    clicks = pa.concat_tables(
        [CLICKS, CLICKS.slice(0, 2).set_column(0, "day", pa.array([None, None], pa.int64()))]
    )
    options = {
        "predictions": clicks,
        "by": ["day", "campaign"],
        "connection": duck,
        "insert": "ads",
        "unit": "label",
        "n_buckets": 2,
    }
    for where in (
        "day = 1 AND campaign = 'a'",
        "day = 1 AND campaign = 'b'",
        "day = 2",
        "day IS NULL",
    ):
        sqlrank.rollup("AUC", where=where, **options)
    assert count_rows(duck)[0][1] == 8
    for where, group in (
        ("day IS NULL", "day = None, campaign = a"),
        ("day = 2 AND campaign = 'b'", "day = 2, campaign = b"),
    ):
        with pytest.raises(sqlrank.InputError, match=f"ads has rows of {group} already"):
            sqlrank.rollup("AUC", where=where, **options)


@pytest.mark.slow
def test_the_command_refuses_them(tmp_path):
    pq.write_table(CLICKS, tmp_path / "clicks.parquet")
    asked = (
        "rollup", "AUC", "--predictions", tmp_path / "clicks.parquet", "--by", "day", "--db",
        tmp_path / "ads.duckdb", "--insert", "ads",
    )  # fmt: skip
    assert invoke_command(*asked).exit_code == 0
    again = invoke_command(*asked)
    assert (again.exit_code, again.stdout) == (2, "")
    assert (
        "ads has rows of day = 1 already, which would count twice. Nothing was added:"
        " --overwrite-by day replaces them" in again.stderr
    )
    assert invoke_command(*asked, "--overwrite-by", "day").exit_code == 0
    shown = run_command(f"evaluate AUC --rollup ads --db {tmp_path}/ads.duckdb --format csv")
    assert shown.rstrip().endswith(",2,6")


@pytest.mark.parametrize("by", [["day", "campaign"], []])
def test_a_printed_statement_adds_only_days_and_slices_that_are_not_there(by):
    duck = duckdb.connect()
    duck.register(
        "clicks",
        pa.concat_tables(
            [CLICKS, CLICKS.slice(0, 1).set_column(0, "day", pa.array([None], pa.int64()))]
        ),
    )
    given = {"predictions": "clicks", "by": by}
    duck.execute(
        sqlrank.rollup_sql("AUC", **given, where="day = 1" if by else None, create_table="ads")
    )
    for _ in range(2):
        duck.execute(sqlrank.rollup_sql("AUC", **given, insert="ads"))
        assert count_rows(duck)[0][1] == 7
    made = sqlrank.rollup("AUC", **given, connection=duck)
    assert sorted(map(str, duck.sql("FROM ads").to_arrow_table().to_pylist())) == sorted(
        map(str, made.to_pylist())
    )


@pytest.mark.slow
@pytest.mark.parametrize("batch", [None, "first"])
@pytest.mark.parametrize("kind", ["cursors", "connections"])
def test_of_two_at_the_same_time_one_is_refused(kind, batch, tmp_path):
    rows = sqlrank.rollup("AUC", predictions=CLICKS, by="day", batch=batch)
    path = str(tmp_path / "ads.duckdb")
    duck = duckdb.connect(path)
    for _ in range(TIMES):
        duck.execute("DROP TABLE IF EXISTS ads")
        insert_rollup(rows.slice(0, 0), duck, "ads", None)
        places = [duck.cursor() if kind == "cursors" else duckdb.connect(path) for _ in range(2)]
        barrier = threading.Barrier(2)
        said = []

        def add(place, barrier=barrier, said=said):
            barrier.wait()
            try:
                insert_rollup(rows, place, "ads", None)
            except sqlrank.SqlrankError as error:
                said.append(str(error))

        threads = [threading.Thread(target=add, args=(place,)) for place in places]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(said) == 1
        assert (
            "has rows of the batch 'first' already" if batch else "has rows of day = 1 already"
        ) in said[0]
        assert count_rows(duck) == [(rows.num_rows, 6.0)]


def test_transactions_of_the_callers_do_not_both_add_a_batch():
    """DuckDB lets two transactions add rows that neither sees of the other; here the second is
    refused, whichever ends first.
    """
    rows = sqlrank.rollup("AUC", predictions=CLICKS, by="day", batch="first")
    for is_committed in (False, True):
        duck = duckdb.connect()
        insert_rollup(rows.slice(0, 0), duck, "ads", None)
        one, other = duck.cursor(), duck.cursor()
        for each in (one, other):
            each.begin()
            each.execute("SELECT COUNT(*) FROM ads").fetchall()
        insert_rollup(rows, one, "ads", None)
        if is_committed:
            one.commit()
        with pytest.raises(
            sqlrank.ExecutionError,
            match=(
                r"^insert: nothing was added to ads: rows were added to it by a transaction that is"
                r" not committed"
            ),
        ):
            insert_rollup(rows, other, "ads", None)
        other.rollback()
        if not is_committed:
            one.commit()
        assert count_rows(duck) == [(rows.num_rows, 6.0)]
        with pytest.raises(sqlrank.InputError, match="has rows of the batch 'first' already"):
            insert_rollup(rows, other, "ads", None)
