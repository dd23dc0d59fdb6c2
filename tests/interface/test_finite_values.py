"""No result is NaN or infinite: undefined values are NULL, for files of users as for those of the
package.
"""

import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import chdb.session
import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from sqlrank.errors import InputError
from sqlrank.registry.loader import load_registry
from tests.lanes import select_few
from tests.tables import build_table
from website.sections import group_by_section

RUN = build_table(query_id="p q q", doc_id="a a b", score="1.0 2.0 1.0")
QRELS = build_table(query_id="p q q", doc_id="a a b", relevance="1 1 1")
MINE = (
    "-- mine: a number.\n{}SELECT\n  list_id,\n  {} AS mine\nFROM relevant_documents\nGROUP BY"
    " list_id\n"
)
ODD = {
    "a quotient": ("-- Nonzero: SUM(rank - rank).\n", "SUM(rank) / SUM(rank - rank)"),
    "no number": ("-- Nonzero: SUM(rank - rank).\n", "SUM(rank - rank) / SUM(rank - rank)"),
    "overflow": ("", "SUM(EXP(700 * rank))"),
    "of the second list": ("-- Nonzero: COUNT(*) - 2.\n", "SUM(rank) / (COUNT(*) - 2)"),
}


def write_files(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize("name", select_few(ODD, 1))
def test_a_metric_of_a_users_own(name, tmp_path):
    """The list of two documents is undefined, as is one without relevant documents, and the mean of
    too large numbers.
    """
    write_files(tmp_path, {"metrics/mine.sql": MINE.format(*ODD[name])})
    call: dict[str, Any] = {"run": RUN, "qrels": QRELS, "sql_dir": tmp_path, "if_undefined": "null"}
    rows = {
        row["query_id"]: row["mine"]
        for row in sqlrank.evaluate("mine", per_query=True, **call).to_pylist()
    }
    assert rows["q"] is None
    assert sqlrank.evaluate("mine", **call).to_pylist() == [{"mine": None}]
    skipped = sqlrank.evaluate("mine", **{**call, "if_undefined": "skip"}).to_pylist()
    assert skipped == [{"mine": rows["p"]}]
    assert (rows["p"] is None) == (name in {"a quotient", "no number"})


def test_a_gain_of_a_users_own(tmp_path):
    write_files(
        tmp_path,
        {
            "functions/gain/huge.sql": (
                "-- Huge.\nCREATE MACRO gain(relevance) AS EXP(1000 * relevance)\n"
            )
        },
    )
    call: dict[str, Any] = {"run": RUN, "qrels": QRELS, "sql_dir": tmp_path, "if_undefined": "null"}
    assert sqlrank.evaluate(["nDCG(gain=huge)", "CG(gain=huge)", "nDCG"], **call).to_pylist() == [
        {"nDCG(gain=huge)": None, "CG(gain=huge)": None, "nDCG": 1.0}
    ]


def test_an_aggregate_of_a_users_own(tmp_path):
    write_files(
        tmp_path,
        {
            "functions/aggregate/huge.sql": (
                "-- Huge.\nCREATE MACRO aggregate(value, weight) AS EXP(1000 * SUM(value))\n"
            )
        },
    )
    assert sqlrank.evaluate(
        "RR", run=RUN, qrels=QRELS, sql_dir=tmp_path, aggregate="huge"
    ).to_pylist() == [{"RR": None}]


@pytest.mark.parametrize(
    ("file", "about"),
    [
        ("curves/mine.sql", "a curve"),
        ("metrics/web/mine.sql", "one row per group and prediction"),
        ("metrics/mine_curve.sql", "one row per group and prediction"),
    ],
)
def test_a_curve_of_a_users_own(tmp_path, file, about):
    curve = (
        f"-- mine: {about}.\nSELECT\n  group_id,\n  ROW_NUMBER() OVER (PARTITION BY group_id ORDER"
        " BY score) AS point,\n  EXP(1000 * label) AS high\nFROM predictions\n"
    )
    write_files(tmp_path, {file: curve})
    got = sqlrank.evaluate(
        "mine", predictions=build_table(label="0 1", score="0.1 0.2"), sql_dir=tmp_path
    ).to_pylist()
    assert got == [{"point": 1, "high": 1.0}, {"point": 2, "high": None}]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "value", ["SQRT(-SUM(rank))", "SUM(rank) / SUM(rank - rank)", "SUM(LN(rank - rank))"]
)
def test_the_printed_statement_on_engines_that_give_no_error(value, tmp_path):
    declared = "-- Nonzero: SUM(rank - rank).\n" if "/" in value else ""
    write_files(tmp_path, {"metrics/mine.sql": MINE.format(declared, value)})
    text = sqlrank.sql(
        "mine",
        run="run",
        qrels="qrels",
        dialect="clickhouse",
        sql_dir=tmp_path,
        if_undefined="skip",
    )
    with closing(chdb.session.Session()) as session:
        for name, table in (("run", RUN), ("qrels", QRELS)):
            rows = ", ".join(str(tuple(row.values())) for row in table.to_pylist())
            last = table.column_names[2]
            session.query(
                f"CREATE TABLE {name} (query_id String, doc_id String, {last} Float64)"
                " ENGINE=Memory"
            )
            session.query(f"INSERT INTO {name} VALUES {rows}")
        assert str(session.query(text, "CSV")).strip() == "\\N"
    text = sqlrank.sql(
        "mine", run="run", qrels="qrels", dialect="sqlite", sql_dir=tmp_path, if_undefined="skip"
    )
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE run (query_id, doc_id, score)")
        connection.execute("CREATE TABLE qrels (query_id, doc_id, relevance)")
        for name, table in (("run", RUN), ("qrels", QRELS)):
            connection.executemany(
                f"INSERT INTO {name} VALUES (?, ?, ?)",
                [tuple(row.values()) for row in table.to_pylist()],
            )
        assert connection.execute(text).fetchall() == [(None,)]


def test_what_cannot_overflow_is_printed_without_a_guard():
    """Metrics that take scores of any size are guarded, and no others of the package."""
    files = [*load_registry().metrics.values(), *load_registry().curves.values()]
    guarded = {file.display_name for file in files if load_registry().may_be_infinite(file, [file])}
    regression = {file.display_name for file in group_by_section()["regression"]}
    assert guarded == {
        *regression,
        "MASE",
        "PinballLoss",
        "CRPS",
        "IntervalWidth",
        "IntervalScore",
        "pApSurrogate",
        "pApGradient",
        "Mean",
        "Sum",
        "Quantile",
    }
    assert "e308" not in sqlrank.sql(["nDCG@10", "AP"], run="r", qrels="q")
    assert "e308" not in sqlrank.sql(["AUC", "LogLoss"], predictions="p")
    assert "CASE WHEN ABS(mse) <= 1.7976931348623157e308 THEN" in sqlrank.sql(
        "MSE", predictions="p"
    )


def test_measured_columns_of_any_size() -> None:
    metrics = ["Mean(x)", "Sum(x)", "Quantile(x, 0.5)"]
    table = build_table(x="1e308 1e308 -1e308")
    (row,) = sqlrank.evaluate(metrics, predictions=table, confidence=0.9).to_pylist()
    assert (row["Mean(x)"], row["Sum(x)"], row["Mean(x).se"]) == (None, None, None)
    assert row["Quantile(x, 0.5)"] == 1e308


def test_ids_that_are_no_number() -> None:
    """NaN is an id of no row: some tools write it for what is NULL."""
    nan = float("nan")
    tables = {
        "run": {"query_id": [1.0, nan], "doc_id": [1.0, 2.0], "score": [2.0, 1.0]},
        "qrels": {"query_id": [1.0, 1.0], "doc_id": [1.0, nan], "relevance": [1, 1]},
    }
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("RR", **{role: pa.table(rows) for role, rows in tables.items()})
    problems = [line for line in str(caught.value).split("\n") if not line.startswith(" ")]
    assert problems == [
        "run (Table): 1 row: query_id is NaN. Give the row one, or leave it out",
        "qrels (Table): 1 row: doc_id is NaN. Give the row one, or leave it out",
    ]
    clicks = build_table(label="1 0 1", score="0.5 0.4 0.3", query_id=[1.0, nan, nan])
    with pytest.raises(InputError, match="2 rows: query_id is NaN"):
        sqlrank.evaluate("GAUC", predictions=clicks)


def assert_finite(rows: list[dict[str, Any]]) -> int:
    wrong = [
        (name, value)
        for row in rows
        for name, value in row.items()
        if isinstance(value, float) and not math.isfinite(value)
    ]
    assert wrong == []
    return sum(isinstance(value, float) for row in rows for value in row.values())


def name_metrics(section: str) -> list[str]:
    examples = {"k": "3", "fraction": "0.3", "max_fpr": "0.4", "recall": "0.5", "precision": "0.5"}
    files = group_by_section()[section]
    return [
        (
            f"{file.display_name}@{examples[file.cutoff_parameter.name]}"
            if file.cutoff_parameter and file.cutoff_parameter.default is None
            else file.display_name
        )
        for file in files
    ]


@pytest.mark.slow
@pytest.mark.parametrize("small", select_few([1e-90, 0.0, 1.0], 1))
@pytest.mark.parametrize("large", select_few([1e90, 1.0], 1))
def test_rankings_of_extreme_grades(small, large):
    rng = np.random.default_rng(1)
    n = 60
    relevance = rng.choice([small, large, 1.0, -large, -small], n)
    run = pa.table(
        {
            "query_id": np.arange(n) % 6,
            "doc_id": np.arange(n),
            "score": rng.choice([np.inf, -np.inf, 0, 1e308], n),
        }
    )
    qrels = pa.table({"query_id": np.arange(n) % 6, "doc_id": np.arange(n), "relevance": relevance})
    queries = pa.table({"query_id": np.arange(6), "weight": rng.choice([small, large], 6)})
    metrics = [
        f"{name}(max_grade=1000)" if name in {"ERR", "PFound"} else name
        for name in name_metrics("ranking")
    ]
    metrics += [
        "DCG(gain=exp2)", "nDCG(gain=exp2)", "CG(gain=exp2)", "nDCG(gain={1: 1e90})",
        "F(beta=10000)@3",
    ]  # fmt: skip
    metrics += ["Utility(rel_ret=1e90, nonrel_missed=-1e90, collection=1e90)"]
    for arguments in ({}, {"queries": queries, "aggregate": "wmean"}, {"per_query": True}):
        assert (
            assert_finite(sqlrank.evaluate(metrics, run=run, qrels=qrels, **arguments).to_pylist())
            > len(metrics) / 2
        )


@pytest.mark.slow
@pytest.mark.parametrize("weight", select_few([1e90, 1e-90, 1.0], 1))
@pytest.mark.parametrize("arguments", [{}, {"level": "query"}], ids=str)
def test_predictions_of_extreme_weights(weight, arguments):
    rng = np.random.default_rng(2)
    n = 80
    table = pa.table(
        {
            "label": rng.integers(0, 2, n),
            "score": rng.choice([0.0, 1.0, 5e-324, 0.5, 1 - 1e-16], n),
            "weight": rng.choice([weight, 0.0, 1e-90, 1.0], n),
            "query_id": rng.integers(0, 4, n),
            "doc_id": np.arange(n),
        }
    )
    metrics = [
        *name_metrics("classification"),
        "FBeta(beta=10000)",
        "MCC(threshold_from=best, criterion=mcc)",
        "PRAUC(interpolation=davis_goadrich)",
    ]
    assert assert_finite(sqlrank.evaluate(metrics, predictions=table, **arguments).to_pylist()) > 20
    assert (
        assert_finite(
            sqlrank.evaluate(name_metrics("pairs"), predictions=table, **arguments).to_pylist()
        )
        > 5
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", select_few([1e308, 1e-320, 1e-160, 1e160], 1))
def test_regression_of_any_size(size):
    rng = np.random.default_rng(3)
    label, score = (
        rng.choice([0.0, 1.0, size, size * (1 + 1e-15)], 40),
        rng.choice([1.0, size, 3.0], 40),
    )
    metrics = name_metrics("regression")
    for sign in (1, -1):
        chosen = [
            name
            for name in metrics
            if sign > 0 or name not in {"PoissonDeviance", "TweedieDeviance", "MSLE", "RMSLE"}
        ]
        table = pa.table(
            {"label": sign * label, "score": sign * score, "query_id": np.arange(40) % 3}
        )
        for arguments in ({}, {"level": "query"}, {"level": "query", "aggregate": "sum"}):
            assert_finite(sqlrank.evaluate(chosen, predictions=table, **arguments).to_pylist())
