"""Evaluate over connections to other databases: the numbers, types, messages and metadata of
DuckDB.
"""

import math
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

import sqlrank
from sqlrank import ExecutionError, InputError
from sqlrank.rendering.dialects import get_dialect
from tests.analyses.experiments import UNITS
from tests.engines.engines import ClickHouse, DataFusion, PostgreSQL, Spark, SQLite
from tests.engines.running import parametrize_engines, run_engine
from tests.interface.connections import QRELS, RUN
from tests.tables import build_table

QUERIES = pa.table(
    {
        "Query ID": [f"q{i}" for i in range(9)],
        "weight": [i / 4 for i in range(9)],
        "Größe": [i % 3 for i in range(9)],
    }
)
PREDICTIONS = pa.table(
    {
        "label": [i * 7 % 3 // 2 for i in range(90)],
        "score": [(1 + i * 11 % 17) / 20 for i in range(90)],
        "other": [(1 + i * 7 % 19) / 20 for i in range(90)],
        "weight": [(i % 5) / 2 for i in range(90)],
        "query_id": [i % 7 for i in range(90)],
        "group": [["a", "B", None][i % 3] for i in range(90)],
    }
)
IDS = pa.table(
    {
        "user id": ["1", "2", "3", "42", "1000", "u1", "u2", "user-7", "Zoë", "名"],
        "day": [*range(10)],
    }
)
ROWS = PREDICTIONS.select(["label", "score", "other", "weight"])
TABLES = {
    'the "run"': RUN,
    "Qrels": QRELS,
    "queries": QUERIES,
    "predictions": PREDICTIONS,
    "ids": IDS,
    "rows": ROWS,
    "visits": UNITS,
}
RANKINGS = {"run": 'the "run"', "qrels": "Qrels", "columns": {"query_id": "Query ID"}}


class AdbcSQLite:
    """SQLite through ADBC."""

    dialects = ("sqlite",)

    def __init__(self) -> None:
        from adbc_driver_sqlite import dbapi

        self.connection = dbapi.connect()

    def load(self, name: str, table: pa.Table) -> None:
        with self.connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="replace")

    def close(self) -> None:
        self.connection.close()


class AdbcPostgreSQL(PostgreSQL):
    """PostgreSQL through ADBC, in a transaction."""

    def __init__(self) -> None:
        from adbc_driver_postgresql import dbapi

        super().__init__()
        self.psycopg, self.connection = self.connection, dbapi.connect(self.uri)

    def load(self, name: str, table: pa.Table) -> None:
        with self.connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="replace")
        self.connection.commit()

    def close(self) -> None:
        self.connection.close()
        self.connection = self.psycopg
        super().close()


ENGINES = (SQLite, AdbcSQLite, PostgreSQL, AdbcPostgreSQL, ClickHouse, DataFusion, Spark)


@pytest.fixture(scope="module", params=parametrize_engines(ENGINES))
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    with run_engine(request.param, TABLES) as engine:
        yield engine


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(duckdb.connect()) as connection:
        for name, table in TABLES.items():
            connection.from_arrow(table).create(quote_name(name, "duckdb"))
        yield connection


def quote_name(name: str, dialect: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(get_dialect(dialect).sqlglot_name)


def evaluate(connection: Any, dialect: str, metrics: Any, **call: Any) -> pa.Table:
    """Evaluate with the names of tables in the quotes of a dialect."""
    names = {
        role: quote_name(call[role], dialect)
        for role in ("run", "qrels", "queries", "predictions")
        if call.get(role) in TABLES
    }
    return sqlrank.evaluate(metrics, **(call | names), connection=connection)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metrics", "call"),
    [
        (
            ["nDCG@3", "AP"],
            {**RANKINGS, "system": "select", "test": "randomization", "replicates": 999},
        ),
        (["AP"], {**RANKINGS, "system": "select", "queries": "queries", "by": [[], ["Größe"]]}),
        (
            ["Brier", "AUC"],
            {
                "predictions": "predictions",
                "columns": {"score": ["score", "other"]},
                "level": "query",
                "test": "wilcoxon",
            },
        ),
        (
            ["AUC", "Brier", "APS"],
            {"predictions": "rows", "columns": {"score": ["score", "other"]}},
        ),
        (
            ["AUC", "Brier"],
            {
                "predictions": "predictions",
                "columns": {"score": ["score", "other"]},
                "unit": "query_id",
            },
        ),
    ],
)
def test_comparisons(metrics, call, engine, duck):
    found = []
    for connection, dialect in ((duck, "duckdb"), (engine.connection, engine.dialects[0])):
        names = {
            role: quote_name(call[role], dialect)
            for role in ("run", "qrels", "queries", "predictions")
            if call.get(role) in TABLES
        }
        found.append(sqlrank.compare(metrics, **(call | names), connection=connection))
    expected, got = found
    assert got.schema.remove_metadata() == expected.schema.remove_metadata()
    assert got.num_rows == expected.num_rows > 0
    for row, values in zip(got.to_pylist(), expected.to_pylist(), strict=True):
        assert row == {
            name: pytest.approx(value, rel=1e-9, abs=1e-9) if isinstance(value, float) else value
            for name, value in values.items()
        }


@pytest.mark.parametrize(
    "call",
    [
        {
            "key": "user id",
            "salt": "checkout",
            "shares": {"train": 0.8, "validation": 0.1, "test": 0.1},
        },
        {"key": "user id", "salt": "checkout", "folds": 10},
        {"key": "user id", "salt": "checkout", "shares": {"a": 0.3, "b": 0.7}, "exact": True},
        {"time": "day", "shares": {"a": 0.3, "b": 0.7}},
        {"time": "day", "time_bounds": [3, 6], "expanding": True},
        {"key": "user id", "time": "day", "leave_last": 1},
    ],
)
def test_splits(call, engine):
    if engine.__class__ is AdbcSQLite and "salt" in call:
        with pytest.raises(
            ExecutionError, match="no such function: MD5"
        ):  # ADBC cannot give SQLite one
            sqlrank.split("ids", connection=engine.connection, **call)
        return
    expected = sqlrank.split(IDS, **call)
    got = sqlrank.split(quote_name("ids", engine.dialects[0]), connection=engine.connection, **call)
    assert got.column_names == expected.column_names
    rows = [tuple(row.values()) for row in got.to_pylist()]
    assert sorted(rows, key=str) == sorted(
        (tuple(row.values()) for row in expected.to_pylist()), key=str
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"covariates": {"spend": "pre", "ctr": "Ratio(pre, views)"}, "where": "unit_id > 1"},
        {
            "lift_scale": "linear",
            "interval": "sequential",
            "expected_shares": {"A": 0.5, "B": 0.25, "C": 0.25},
        },
    ],
)
def test_experiments(options, engine):
    asked = {
        "metrics": {"spend": "Mean(spend)", "ctr": "Ratio(clicks, views)"},
        "control": "A",
        **options,
    }
    expected = sqlrank.experiment(data=UNITS, correction="none", **asked)
    got = sqlrank.experiment(
        data="visits", connection=engine.connection, correction="none", **asked
    )
    assert got.schema.remove_metadata() == expected.schema.remove_metadata()
    assert got.to_pylist() == [
        pytest.approx(row, rel=1e-9, abs=1e-12) for row in expected.to_pylist()
    ]


def assert_same(engine: Any, duck: duckdb.DuckDBPyConnection, metrics: Any, **call: Any) -> None:
    expected, got = (
        evaluate(duck, "duckdb", metrics, **call),
        evaluate(engine.connection, engine.dialects[0], metrics, **call),
    )
    assert got.schema.remove_metadata() == expected.schema.remove_metadata()
    assert got.schema.metadata.keys() == expected.schema.metadata.keys()
    assert got.schema.metadata[b"sqlrank.sql"].startswith(b"-- sqlrank")
    assert got.num_rows == expected.num_rows > 0
    for row, values in zip(got.to_pylist(), expected.to_pylist(), strict=True):
        for name, value in values.items():
            assert row[name] == (
                pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value
            ), name


def call_rankings(metrics: Any, **call: Any) -> tuple[Any, dict[str, Any]]:
    return metrics, RANKINGS | call


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("metrics", "call"),
    [
        call_rankings(
            ["nDCG@3", "AP", "RR", "ERR", "RBP", "bpref", "num_unjudged", "num_q"], by="select"
        ),
        call_rankings(["nDCG@3", "P@5"], per_query=True),
        call_rankings(["P@1..3", "nDCG@1..3"]),
        call_rankings(["AP", "R@3"], queries="queries", by="Größe"),
        call_rankings(["AP"], queries="judged_and_retrieved", ties="rank", check="full"),
        call_rankings(["AP"], check="off"),
        (["AUC", "LogLoss", "KS", "ECE", "PRAUC"], {"predictions": "predictions", "by": "group"}),
        (
            ["AUC", "Accuracy"],
            {
                "predictions": "predictions",
                "columns": {"score": ["score", "other"], "weight": "1 / score"},
            },
        ),
        (
            ["GAUC", "PnDCG@7"],
            {"predictions": "predictions", "check": "off", "plan": {"score_order": "window"}},
        ),
        (["APS"], {"predictions": "predictions", "by": ["group"], "per_query": True}),
        ("ROC", {"predictions": "predictions"}),
        ("Calibration", {"predictions": "predictions", "by": "group"}),
    ],
    ids=str,
)
def test_the_numbers_of_duckdb(engine, duck, metrics, call):
    assert_same(engine, duck, metrics, **call)


def break_value(table: pa.Table, name: str, row: int, value: Any) -> pa.Table:
    """Return a table with another value in one place."""
    values = table[name].to_pylist()
    values[row] = value
    return table.set_column(
        table.schema.get_field_index(name), name, pa.array(values, table.schema.field(name).type)
    )


BROKEN = {
    "broken_null": break_value(RUN, "Query ID", 3, None),
    "broken_nan": break_value(RUN, "score", 3, math.nan),
    "broken_twice": pa.concat_tables([RUN, RUN.slice(0, 1)]),
    "broken_relevance": break_value(
        break_value(
            QRELS.cast(QRELS.schema.set(2, pa.field("relevance", pa.float64()))),
            "relevance",
            3,
            math.inf,
        ),
        "relevance",
        4,
        None,
    ),
    "broken_weight": break_value(QUERIES, "weight", 3, -1.0),
    "broken_label": break_value(PREDICTIONS, "label", 3, 2),
    "broken_probability": break_value(PREDICTIONS, "score", 3, 1.5),
    "broken_empty": RUN.slice(0, 0),
    "elsewhere": RUN.set_column(0, "Query ID", pa.array(["x"] * 48)),
    "texts": PREDICTIONS.set_column(0, "label", pa.array(["yes"] * 90)),
}
REFUSED = [
    call_rankings("AP", run="broken_null"),
    call_rankings("AP", run="broken_nan"),
    call_rankings("AP", run="broken_twice"),
    call_rankings("AP", run="broken_twice", by="select"),
    call_rankings("AP", qrels="broken_relevance"),
    call_rankings("AP", queries="broken_weight"),
    call_rankings("AP", run="broken_empty"),
    call_rankings("AP", run="elsewhere"),
    call_rankings("AP", ties="error"),
    call_rankings("AP", queries="strict"),
    call_rankings("AP", columns={"query_id": "Query ID", "score": "skore"}),
    call_rankings("AP", columns={}),
    call_rankings("AP", by=["selekt"]),
    call_rankings("AP", by=["relevance"]),
    call_rankings("ERR(max_grade=1)"),
    ("AUC", {"predictions": "broken_label"}),
    ("LogLoss", {"predictions": "broken_probability"}),
    ("AUC", {"predictions": "texts"}),
    ("AUC", {"predictions": "predictions", "columns": {"weight": "2 / propensity"}}),
    ("AUC", {"predictions": "predictions", "by": "label"}),
]


@pytest.fixture(scope="module")
def broken_engine(engine: Any, duck: duckdb.DuckDBPyConnection) -> Any:
    for name, table in BROKEN.items():
        engine.load(name, table)
        duck.from_arrow(table).create(name)
    yield engine
    for name in BROKEN:
        duck.execute(f"DROP TABLE {name}")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("metrics", "call"), REFUSED, ids=str)
def test_the_messages_of_duckdb(broken_engine, duck, metrics, call):
    expected, got = (
        re.sub(
            r"\bCAST\((\w+) AS [\w ]+\)", r"\1", find_refusal(connection, dialect, metrics, **call)
        )  # where division truncates
        for connection, dialect in (
            (duck, "duckdb"),
            (broken_engine.connection, broken_engine.dialects[0]),
        )
    )
    if isinstance(broken_engine, (SQLite, AdbcSQLite)) and call.get("run") == "broken_nan":
        # SQLite has no NaN
        expected = (
            "run (broken_nan): 1 row: score is NULL, or a text that is no number. Give it a number,"
            " leave the row out, or give nulls='drop'"
        )
    if broken_engine.dialects[0] in {"postgres", "datafusion"}:
        expected = expected.replace("AS DOUBLE)", "AS DOUBLE PRECISION)")
    if broken_engine.dialects[0] == "clickhouse":
        expected = expected.replace(
            "NULLIF(score, CAST('nan' AS DOUBLE))",
            "nullIf(score, CAST('nan' AS Nullable(Float64)))",
        )
    assert got == expected


def find_refusal(connection: Any, dialect: str, metrics: Any, **call: Any) -> str:
    """Return an error's message without its examples, which may be any rows, and the text that
    shows more.
    """
    with pytest.raises(sqlrank.SqlrankError) as raised:
        evaluate(connection, dialect, metrics, **call)
    text = re.sub(r"\n    see more: .*|: [^:\n]*(?=\n    see more)|\n {4}.*", "", str(raised.value))
    return (
        re.sub(r"such as \('.*?\)", "such as", text)
        .replace(quote_name('the "run"', dialect), "run")
        .replace(quote_name("Qrels", dialect), "Qrels")
    )


def test_a_name_is_tried_as_written_and_then_in_quotes(engine):
    """But for ADBC on PostgreSQL, which takes nothing after a failure in a transaction."""
    call = {"columns": {"query_id": "Query ID"}, "connection": engine.connection}
    expected = sqlrank.evaluate(
        "AP",
        run=quote_name('the "run"', engine.dialects[0]),
        qrels=quote_name("Qrels", engine.dialects[0]),
        **call,
    )
    if isinstance(engine, AdbcPostgreSQL):
        with pytest.raises(
            InputError, match=r'^qrels: cannot read Qrels: .*relation "qrels" does not exist'
        ):
            sqlrank.evaluate("AP", run=quote_name('the "run"', "postgres"), qrels="Qrels", **call)
        engine.connection.rollback()
    else:
        assert (
            sqlrank.evaluate(
                "AP", run=quote_name('the "run"', engine.dialects[0]), qrels="Qrels", **call
            )
            == expected
        )


def test_scores_in_single_precision(engine, duck):
    """Single precision ties 0.5 + 1e-9 with 0.5, and makes 1e40 infinite."""
    scores = build_table(query_id="q q q", doc_id="a b c", score=[0.5 + 1e-9, 0.5, 1e40])
    for name, table in {
        "close": scores,
        "truth": build_table(query_id="q", doc_id="a", relevance="1"),
    }.items():
        engine.load(name, table)
        duck.from_arrow(table).create(name)
    for connection, has_float32 in (
        (duck, True),
        (engine.connection, get_dialect(engine.dialects[0]).supports_float32),
    ):
        for score_type, place in {
            "float64": 1 / 2,
            **({"float32": 1 / 3} if has_float32 else {}),
        }.items():
            result = sqlrank.evaluate(
                "RR", run="close", qrels="truth", connection=connection, score_type=score_type
            )
            assert result.to_pylist() == [{"RR": place}]
    duck.execute("DROP TABLE close; DROP TABLE truth")
