"""Printed statements that make a rollup on every engine, with DuckDB's rows: bins are the same
everywhere, to the last row.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

import sqlrank
from sqlrank.engines.database import Database
from sqlrank.engines.query_sources import fold_column_name
from sqlrank.engines.source_tables import DeclaredColumns, SourceTable
from sqlrank.registry.loader import registry_for
from sqlrank.registry.metric_resolver import resolve_metrics
from sqlrank.rollups.decomposition import PREDICTIONS_ROLE, RollupMetrics, decompose_metrics
from sqlrank.rollups.merge import MergeQuery, RollingWindows
from sqlrank.rollups.rollup_table import RollupTable
from tests.analyses.test_ranking_rollups import draw_lists
from tests.analyses.test_rollups import draw_clicks
from tests.engines.engines import ENGINES, Engine, SQLite
from tests.engines.running import parametrize_engines, run_engine

METRICS = ["AUC", "LogLoss", "Brier", "RMSE", "num_predictions"]
RANKINGS = ["nDCG@5", "AP", "RR(aggregate=gmean)", "num_q"]


def make_lists() -> dict[str, pa.Table]:
    """Return a run, judgments, and queries with a day and a weight."""
    held = draw_lists(weighted=True)
    return {name: held[name] for name in ("run", "qrels", "queries")}


@pytest.fixture(scope="module", params=parametrize_engines(ENGINES))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with run_engine(request.param, {"clicks": draw_clicks(), **make_lists()}) as engine:
        yield engine


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_bins": 64, "exact_scores": [0.25, 0.5, 0.75]},
        {"binning": "exact"},
        {"batch": "back", "retract": True},
        {"n_bins": 64, "unit": "viewer", "n_buckets": 8},
    ],
    ids=["grid", "coarse grid with exact scores", "scores", "batch", "buckets"],
)
def test_rows_are_those_of_duckdb(options, engine):
    made = sqlrank.rollup(METRICS, predictions=draw_clicks(), by=["day", "campaign"], **options)
    # A connection of SQLite is given the digest that a printed statement would have to do without.
    is_known = isinstance(engine, SQLite) and "unit" in options
    place = {"connection": engine.connection} if is_known else {"dialect": engine.dialects[0]}
    # In quotes, since Databend has names in small letters.
    names = {
        name: name if is_known else f'"{name}"'
        for name in ("label", "score", "weight", "day", "campaign", "viewer")
    }
    columns = {name: names[name] for name in ("label", "score", "weight")}
    of_buckets = {"unit": names["viewer"]} if "unit" in options else {}
    given = {
        "predictions": "clicks",
        "by": [names["day"], names["campaign"]],
        "columns": columns,
        **options,
        **of_buckets,
    }
    rows = engine.rows(sqlrank.rollup_sql(METRICS, **given, **place))
    found = sorted((dict(zip(made.column_names, row, strict=True)) for row in rows), key=_get_place)
    for got, expected in zip(found, sorted(made.to_pylist(), key=_get_place), strict=True):
        assert len(got.pop("definition_hash")) == len(expected.pop("definition_hash"))
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-12)


def _get_place(row: dict[str, Any]) -> tuple[int, str, int, float]:
    return int(row["day"]), row["campaign"] or "", int(row.get("bucket", 0)), float(row["bin"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "of_buckets", [{}, {"unit": "query_id", "n_buckets": 4}], ids=["lists", "buckets"]
)
def test_sums_of_lists_are_those_of_duckdb(of_buckets, engine):
    made = sqlrank.rollup(RANKINGS, **make_lists(), by=["day", "country"], **of_buckets)
    columns = {name: f'"{name}"' for name in ("query_id", "doc_id", "score", "relevance", "weight")}
    named = {
        "run": "run",
        "qrels": "qrels",
        "queries": "queries",
        "by": ['queries."day"', 'queries."country"'],
        "columns": columns,
    }
    is_known = isinstance(engine, SQLite) and "unit" in of_buckets
    place = {"connection": engine.connection} if is_known else {"dialect": engine.dialects[0]}
    named |= {"by": ["day", "country"], "columns": None} if is_known else {}
    rows = engine.rows(sqlrank.rollup_sql(RANKINGS, **named, **of_buckets, **place))
    expected = sorted((list(row.values())[:-1] for row in made.to_pylist()), key=_get_group)
    for got, values in zip(
        sorted((list(row)[:-1] for row in rows), key=_get_group), expected, strict=True
    ):
        assert got == pytest.approx(values, rel=1e-9, abs=1e-12)


def _get_group(row: list[Any]) -> tuple[int, str, float]:
    return int(row[0]), row[1] or "", float(row[2])


def test_windows_are_those_of_duckdb(engine):
    """A rollup that is kept on the engine is added up there by window: its sums, and its bins."""
    made = sqlrank.rollup(METRICS, predictions=draw_clicks(), by=["day", "campaign"], n_bins=64)
    engine.load("kept", made)
    library = registry_for(None)
    asked = decompose_metrics(
        resolve_metrics(METRICS, library, None, {}, {PREDICTIONS_ROLE}), library
    )
    here = duckdb.connect()
    here.register("kept", made)
    ours, theirs = (
        _merge_windows(each, asked, made)
        for each in (RollupDatabase("duckdb", lambda text: here.sql(text).fetchall(), "kept", made), RollupDatabase(engine.dialects[0], engine.rows, "kept", made))
    )  # fmt: skip
    for one, other in zip(ours, theirs, strict=True):
        assert len(one) == len(other) >= 8
        for row, expected in zip(other, one, strict=True):
            assert list(row.values()) == pytest.approx(list(expected.values()), rel=1e-9, abs=1e-12)


@pytest.mark.slow
def test_what_batches_leave_is_what_they_leave_on_duckdb(engine):
    """A third of the rows is taken back, and all of day 5, on which nothing is left."""
    gone = pa.array(
        [place % 3 == 0 or day == 5 for place, day in enumerate(draw_clicks()["day"].to_pylist())]
    )
    parts = ((draw_clicks(), "all", False), (draw_clicks().filter(gone), "back", True))
    given = {"by": ["day", "campaign"], "n_bins": 64, "columns": {"weight": "weight"}}
    made = pa.concat_tables(
        [
            sqlrank.rollup(METRICS, predictions=rows, batch=name, retract=is_back, **given)
            for rows, name, is_back in parts
        ]
    )
    engine.load("batches", made)
    library = registry_for(None)
    asked = decompose_metrics(
        resolve_metrics(METRICS, library, None, {}, {PREDICTIONS_ROLE}), library
    )
    here = duckdb.connect()
    here.register("batches", made)
    database = RollupDatabase("duckdb", lambda text: here.sql(text).fetchall(), "batches", made)
    theirs = RollupDatabase(engine.dialects[0], engine.rows, "batches", made)
    one, other = (_merge_windows(each, asked, made)[0] for each in (database, theirs))
    assert [int(row["key_1"]) for row in other] == [int(row["key_1"]) for row in one]
    for row, expected in zip(other, one, strict=True):
        assert list(row.values()) == pytest.approx(list(expected.values()), rel=1e-9, abs=1e-12)


def test_a_batch_is_added_once(engine):
    """Each statement is run twice: of bins, and of one row for all, which sums over no rows have,
    too.
    """
    if type(engine).__name__ in {"ZetaSQL", "Spark"}:
        pytest.skip("keeps no tables here to add to")
    columns = {name: f'"{name}"' for name in ("label", "score", "weight")}
    for table, metrics, by in (("of_bins", "AUC", ['"day"']), ("of_sums", "LogLoss", [])):
        given = {
            "predictions": "clicks",
            "by": by,
            "columns": columns,
            "dialect": engine.dialects[0],
        }
        engine.execute(sqlrank.rollup_sql(metrics, **given, batch="first", create_table=table))
        ((before,),) = engine.rows(f"SELECT COUNT(*) FROM {table}")
        for _ in range(2):
            engine.execute(
                sqlrank.rollup_sql(metrics, **given, batch="back", retract=True, insert=table)
            )
        assert engine.rows(f"SELECT COUNT(*), SUM(num_rows) FROM {table}") == [(2 * before, 0)]


def test_days_are_added_once(engine):
    """Of the days that a table lacks all rows are added, and of those that it has none, however
    often.
    """
    if type(engine).__name__ in {"ZetaSQL", "Spark"}:
        pytest.skip("keeps no tables here to add to")
    columns = {name: f'"{name}"' for name in ("label", "score", "weight")}
    given = {
        "predictions": "clicks",
        "by": ['"day"', '"campaign"'],
        "columns": columns,
        "dialect": engine.dialects[0],
    }
    engine.execute(sqlrank.rollup_sql("AUC", **given, where='"day" < 3', create_table="of_days"))
    for _ in range(2):
        engine.execute(sqlrank.rollup_sql("AUC", **given, insert="of_days"))
        assert engine.rows("SELECT SUM(num_rows) FROM of_days") == [(draw_clicks().num_rows,)]


@pytest.mark.parametrize(
    ("metrics", "by"),
    [
        (["AUC", "APS", "KS", "Gain@0.2", "PRAUC", "LogLoss", "num_predictions"], ["campaign"]),
        (["AUC", "Brier"], []),
        (["RMSE"], ["campaign"]),
    ],
)
def test_printed_statements_ask_it_there(metrics, by, engine):
    """With bins of one score beside open ones, and a campaign that is NULL, by names alone."""
    made = sqlrank.rollup(
        [*metrics],
        predictions=draw_clicks(),
        by=["day", "campaign"],
        n_bins=64,
        exact_scores=[0.25, 0.5],
    )
    dialect = engine.dialects[0]
    table = _load_rollup(engine, "asked" + "abcdefgh"[len(metrics)], made)
    text = sqlrank.sql(metrics, rollup=table, by=by, where="day <> 3", dialect=dialect)
    expected = (
        sqlrank.evaluate(metrics, rollup=made, by=by, where="day <> 3")
        .drop_columns("num_days")
        .to_pylist()
    )
    assert [list(row) for row in engine.rows(text)] == [
        pytest.approx(list(row.values()), rel=1e-9, abs=1e-12) for row in expected
    ]


@pytest.mark.slow
def test_printed_statements_ask_sums_of_lists_there(engine):
    made = sqlrank.rollup(RANKINGS, **draw_lists(), by=["day", "country"])
    dialect = engine.dialects[0]
    table = _load_rollup(engine, "listed", made)
    text = sqlrank.sql(RANKINGS, rollup=table, by="country", dialect=dialect)
    expected = (
        sqlrank.evaluate(RANKINGS, rollup=made, by="country").drop_columns("num_days").to_pylist()
    )
    assert [list(row) for row in engine.rows(text)] == [
        pytest.approx(list(row.values()), rel=1e-9) for row in expected
    ]


def _load_rollup(engine: Engine, name: str, rollup: pa.Table) -> str:
    """Return the table that a rollup was put into, with the names that a statement without quotes
    would give its columns.
    """
    engine.load(name, rollup)
    dialect = engine.dialects[0]
    names = [fold_column_name(column, dialect) for column in rollup.column_names]
    if names == rollup.column_names:
        return name
    columns = ", ".join(
        f'"{theirs}" AS "{ours}"' for theirs, ours in zip(rollup.column_names, names, strict=True)
    )
    engine.execute(f"CREATE TABLE {name}_named AS SELECT {columns} FROM {name}")
    return f"{name}_named"


class RollupDatabase(Database):
    """A database that runs queries over a rollup, whose columns have the names of the rollup."""

    def __init__(
        self,
        dialect: str,
        rows: Callable[[str], list[tuple[Any, ...]]],
        name: str,
        rollup: pa.Table,
    ) -> None:
        super().__init__(dialect)
        self._rows = rows
        self._table = SourceTable(
            name, exp.to_table(name), dict.fromkeys(rollup.column_names, ""), dialect
        )

    # There is one
    def _resolve_source(self, role: str, source: Any, columns: DeclaredColumns) -> SourceTable:  # noqa: ARG002
        return self._table

    def _fetch_arrow(self, text: str) -> pa.Table:
        return _make_table(self._rows(text))

    def _fetch_rows(self, text: str) -> list[tuple[Any, ...]]:
        return self._rows(text)

    # Types are not needed
    def _describe_query(self, query: exp.Query) -> dict[str, str]:  # noqa: ARG002
        return {}


def _make_table(rows: list[tuple[Any, ...]]) -> pa.Table:
    """Return the rows of an engine as a table whose columns nobody knows the names of."""
    columns = [
        pa.array([float(value) if isinstance(value, Decimal) else value for value in column])
        for column in zip(*rows, strict=True)
    ]
    return pa.table(columns, names=[str(place) for place in range(len(columns))])


def _merge_windows(
    database: Database, asked: RollupMetrics, rollup: pa.Table
) -> list[list[dict[str, Any]]]:
    """Return the sums and the bins of windows of three days, by campaign, in the same order
    everywhere.
    """
    held = RollupTable(database.resolve_source("rollup", rollup))
    rows = held.select_rows(database, asked, "day <> 3")
    windows = RollingWindows.ending_at(database, held, rows, 3, None)
    adding = MergeQuery(database, held, rows, ["campaign", "day"], windows)
    return [
        sorted(found.to_pylist(), key=_get_order)
        for found in (adding.merge_aggregates(asked), adding.merged_bins)
    ]


def _get_order(row: dict[str, Any]) -> tuple[str, int, float]:
    return row["key_0"] or "", int(row["key_1"]), float(row.get("bin", 0))
