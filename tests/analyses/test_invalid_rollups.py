"""Rollups with impossible sums or repeated rows: an error with column, value and group, or NULL
where the rows are not read.
"""

import re
from math import inf, nan
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from tests.analyses.test_rollups import THREE, load_sqlite, make_rollup
from tests.tables import build_table

CLICKS = build_table(
    day="1 1 1 2 2 2",
    campaign="a a b a b b",
    label="1 0 1 1 0 0",
    score="0.75 0.25 0.5 0.75 0.5 0.25",
)
METRICS = ["AUC", "LogLoss", "BaseRate"]


def change_value(name: str, value: Any, batch: str | None = None) -> pa.Table:
    """Return a rollup of three bins with one value changed in the second row."""
    rollup = make_rollup(THREE)
    rollup = rollup if batch is None else rollup.append_column("batch", pa.array([batch] * 3))
    values = rollup[name].to_pylist()
    values[1] = value
    return rollup.set_column(
        rollup.column_names.index(name), name, pa.array(values, rollup.schema.field(name).type)
    )


IMPOSSIBLE = [
    ("negatives", -5.0, "has rows with -5 in negatives, which cannot be negative. Rebuild these days, or leave them out by where= (day = 2026-01-01)"),
    ("positives", -0.5, "has rows with -0.5 in positives, which cannot be negative"),
    ("positives", nan, "has rows with nan in positives, which is no number that can be added up"),
    ("positives", inf, "has rows with inf in positives, which is no number that can be added up"),
    ("negatives", -inf, "has rows with -inf in negatives, which is no number that can be added up"),
    ("negatives", None, "has rows with NULL in negatives, which is no number that can be added up"),
    ("num_rows", nan, "has rows with nan in num_rows, which is no number that can be added up"),
    ("num_rows", 0.0, "has rows with -1 in bin, whose num_rows is 0 while its weights are not"),
    ("bin", nan, "has rows with nan in bin, which is no number that can be added up"),
    ("bin", inf, "has rows with inf in bin, which is no number that can be added up"),
    ("score_min", 9.0, "has rows with 9 in score_min, which is above score_max"),
    ("definition_hash", None, "has rows without a definition_hash, so that it is unknown if they can be added up"),
    ("definition_hash", "", "has rows without a definition_hash"),
]  # fmt: skip


@pytest.mark.parametrize("batch", [None, "first"])
@pytest.mark.parametrize(("name", "value", "message"), IMPOSSIBLE)
def test_impossible_sums_are_refused_with_and_without_batches(name, value, message, batch):
    with pytest.raises(sqlrank.InputError, match=re.escape(message)):
        sqlrank.evaluate("AUC", rollup=change_value(name, value, batch))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, value, _ in IMPOSSIBLE if (name, value) != ("num_rows", nan)],
)
def test_impossible_sums_are_undefined_in_statements(name, value):
    duck = duckdb.connect()
    duck.register("kept", change_value(name, value))
    (row,) = duck.sql(sqlrank.sql("AUC", rollup="kept")).fetchall()
    assert row[:3] == (None, None, None)
    duck.register("sound", make_rollup(THREE))
    assert duck.sql(sqlrank.sql("AUC", rollup="sound")).fetchall()[0][0] == pytest.approx(0.7375)


def test_sums_of_metrics_are_looked_at_where_they_are_read():
    rollup = sqlrank.rollup(METRICS, predictions=CLICKS, by=["day", "campaign"])
    loss, weight = (
        next(name for name in rollup.column_names if name.startswith(start))
        for start in ("sum_log_likelihood", "sum_weight_a1")
    )

    def with_value(name, value):
        values = rollup[name].to_pylist()
        return rollup.set_column(
            rollup.column_names.index(name), name, pa.array([value, *values[1:]], pa.float64())
        )

    for name, value, message in (
        (loss, nan, "nan in"),
        (loss, inf, "inf in"),
        (weight, -1.0, "-1 in"),
        (weight, nan, "nan in"),
    ):
        with pytest.raises(
            sqlrank.InputError, match=f"has rows with {message} {name}, .*day = 1, campaign = a"
        ):
            sqlrank.evaluate("LogLoss", rollup=with_value(name, value))
    assert sqlrank.evaluate("LogLoss", rollup=with_value("positives", -1.0)).num_rows == 1
    with pytest.raises(sqlrank.InputError, match="has rows with -1 in positives"):
        sqlrank.drift(
            "LogLoss", rollup=with_value("positives", -1.0), reference="day = 1", current="day = 2"
        )


@pytest.mark.parametrize(
    ("metric", "value", "meaning"),
    [
        ("LogLoss", 5.0, "never above 0"),
        ("Brier", -5.0, "never below 0"),
        ("MAE", -5.0, "never below 0"),
    ],
)
def test_sums_of_terms_of_one_sign_have_that_sign(metric, value, meaning):
    """Refuse logarithms of probabilities above 0, and squares and distances below 0; a bias may be
    either.
    """
    rollup = sqlrank.rollup([metric, "Bias"], predictions=CLICKS, by="day")
    name, bias = (
        name
        for name in rollup.column_names
        if name.startswith("sum_") and name != "sum_weight_a1a30430"
    )
    wrong = rollup.set_column(
        rollup.column_names.index(name), name, pa.array([value, rollup[name][1].as_py()])
    )
    message = (
        f"has rows with {value:g} in {name}, which is a sum of values that are {meaning}. Rebuild"
        " these days"
    )
    with pytest.raises(sqlrank.InputError, match=re.escape(message)):
        sqlrank.evaluate(metric, rollup=wrong)
    either = wrong.set_column(rollup.column_names.index(bias), bias, pa.array([value, -value]))
    assert sqlrank.evaluate("Bias", rollup=either)["Bias"].to_pylist() == [0.0]


def test_texts_in_columns_of_sums_are_named():
    rollup = make_rollup(THREE)
    texts = rollup.set_column(2, "positives", pa.array(["2", "1", "one"]))
    message = (
        "rollup: positives of Table is VARCHAR, not a number. Cast it in a view, CAST(positives AS"
        " DOUBLE), or rebuild the rollup"
    )
    with pytest.raises(sqlrank.InputError, match=re.escape(message)):
        sqlrank.evaluate("AUC", rollup=texts)
    sqlite = load_sqlite(rollup)
    sqlite.execute("UPDATE s SET positives = 'one' WHERE bin = -2")
    with pytest.raises(
        sqlrank.InputError,
        match=r"rollup: positives of s is VARCHAR, not a number. Cast it in a view",
    ):
        sqlrank.evaluate("AUC", rollup="s", connection=sqlite, dialect="sqlite")


def test_more_values_than_lists_are_refused():
    lists = build_table(day="1 1", query_id="1 2", doc_id="x x", score="1.0 1.0", label="1 0")
    rollup = sqlrank.rollup("RR", predictions=lists, by="day")
    name = next(name for name in rollup.column_names if name.startswith("count_"))
    more = rollup.set_column(rollup.column_names.index(name), name, pa.array([3.0]))
    with pytest.raises(
        sqlrank.InputError,
        match=f"has rows with 3 in {name}, which counts some of num_rows: it is no less than 0",
    ):
        sqlrank.evaluate("RR", rollup=more)


# The least and the greatest after a batch was taken back


def make_lists(query: int, days: tuple[int, ...] = (1,)) -> pa.Table:
    """Return the list of a query on some days, whose reciprocal rank is one over its number."""
    return pa.table(
        {
            "day": [day for day in days for _ in range(query)],
            "query_id": [query] * query * len(days),
            "doc_id": list("xyz")[:query] * len(days),
            "score": [float(-place) for place in range(query)] * len(days),
            "label": [int(place == query - 1) for place in range(query)] * len(days),
        }
    )


@pytest.mark.slow
def test_extremes_of_rankings_are_refused_where_rows_were_taken_back():
    """Lists with RR 1 and 0.5, of which the first is taken back on day 1: the mean is 0.5, and the
    greatest is not known to be.
    """
    both = pa.concat_tables([make_lists(1, (1, 2)), make_lists(2, (1, 2))])
    duck = duckdb.connect()
    given = {"by": "day", "connection": duck, "insert": "lists"}
    sqlrank.rollup("RR", predictions=both, batch="first", **given)
    sqlrank.rollup("RR", predictions=make_lists(1), batch="back", retract=True, **given)
    asked = {"rollup": "lists", "connection": duck}
    assert sqlrank.evaluate("RR", by="day", **asked)["RR"].to_pylist() == [0.5, 0.75]
    message = (
        r"rollup: RR\(aggregate=max\) of lists are undefined: minimum and maximum cannot be"
        r" retracted, and rows of day = 1 were"
    )
    for ask in (sqlrank.evaluate, sqlrank.sql):
        with pytest.raises(sqlrank.InputError, match=message):
            ask(["RR", "RR(aggregate=max)"], **asked)
    with pytest.raises(sqlrank.InputError, match=r"RR\(aggregate=min\) of lists are undefined"):
        sqlrank.evaluate("RR(aggregate=min)", by="day", **asked)
    assert sqlrank.evaluate("RR(aggregate=max)", where="day = 2", **asked)[
        "RR(aggregate=max)"
    ].to_pylist() == [1.0]
    # In a statement that is but named values are NULL where rows were taken back.
    rows = duck.sql(sqlrank.sql("RR(aggregate=max)", rollup="lists", by="day")).fetchall()
    assert [row[:2] for row in rows] == [(1, None), (2, 1.0)]
    # Of a day that was taken back as a whole nothing is left, and the others are as they were.
    sqlrank.rollup("RR", predictions=make_lists(2), batch="back too", retract=True, **given)
    assert sqlrank.evaluate("RR(aggregate=max)", by="day", **asked).select(
        ["day", "RR(aggregate=max)"]
    ).to_pylist() == [{"day": 2, "RR(aggregate=max)": 1.0}]


# Files with rows of one day


@pytest.mark.slow
def test_files_with_rows_of_the_same_day_are_refused(tmp_path):
    """A day that is in two files counts twice; slices of a day may be in files of their own."""
    for day in (1, 2):
        for campaign in "ab":
            made = sqlrank.rollup(
                METRICS,
                predictions=CLICKS,
                by=["day", "campaign"],
                where=f"day = {day} AND campaign = '{campaign}'",
            )
            pq.write_table(made, tmp_path / f"{day}{campaign}.parquet")
    apart = sqlrank.evaluate("BaseRate", rollup=str(tmp_path)).to_pylist()
    assert apart == [{"BaseRate": 0.5, "num_days": 2, "num_rows": 6}]
    assert (
        sqlrank.evaluate("BaseRate", rollup=str(tmp_path / "[12][ab].parquet")).to_pylist() == apart
    )
    pq.write_table(pq.read_table(tmp_path / "2b.parquet"), tmp_path / "copy.parquet")
    message = (
        "have rows of day = 2, campaign = b, which would count twice. Leave one of them out, or"
        " give the rows of each a name of their own by batch="
    )
    files = sorted(tmp_path.glob("*.parquet"))
    assert sqlrank.evaluate("BaseRate", rollup=files[:-1]).to_pylist() == apart
    for rollup in (
        str(tmp_path),
        str(tmp_path / "*.parquet"),
        files,
        [pq.read_table(file) for file in files],
        [tmp_path / "[12]*", files[-1]],
    ):
        with pytest.raises(sqlrank.InputError, match=re.escape(message)):
            sqlrank.evaluate("BaseRate", rollup=rollup, by="campaign")
    assert sqlrank.evaluate("BaseRate", rollup=str(tmp_path), where="day = 1")[
        "num_rows"
    ].to_pylist() == [3]


def test_files_of_a_rollup_without_days_are_distinguished_by_its_groups(tmp_path):
    for name, by, asked in (("groups", "campaign", "campaign = a"), ("whole", [], "all rows")):
        folder = tmp_path / name
        folder.mkdir()
        for place in range(2):
            pq.write_table(
                sqlrank.rollup("BaseRate", predictions=CLICKS, by=by), folder / f"{place}.parquet"
            )
        with pytest.raises(
            sqlrank.InputError,
            match=f"several files of .* have rows of {asked}, which would count twice",
        ):
            sqlrank.evaluate("BaseRate", rollup=str(folder))
